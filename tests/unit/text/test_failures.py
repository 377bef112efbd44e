"""Errors in a text: the same failure reads the same on every machine and in every run."""

from __future__ import annotations

import pytest

from vector_memory.text.failures import MESSAGE_CHARS, failure, normalise

PYTHON = """Traceback (most recent call last):
  File "{home}/app/src/ledger/main.py", line {line}, in run
    start()
  File "{home}/app/src/ledger/db.py", line 12, in connect
    raise ConnectionError
psycopg.errors.ConnectionError: no answer from 127.0.0.1:{line} after {line}.5s (pid {line})"""
NODE = """TypeError: Cannot read properties of undefined (reading 'map')
    at renderRows ({home}/p/src/Table.tsx:{line}:17)
    at Object.<anonymous> (file://{home}/p/test/t.js:3:1)"""
RUST = """error[E0382]: borrow of moved value: `queue`
  --> src/worker.rs:{line}:13"""
PANIC = """thread 'main' panicked at {home}/src/main.rs:{line}:5:
index out of bounds"""
GO = """panic: runtime error: invalid memory address
\ngoroutine {line} [running]:\nmain.main()\n\t{home}/prog.go:{line} +0x1d"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: closed at 0x{line}abc
\tat com.acme.Ledger.sum(Ledger.java:{line})"""
NPM = (
    "npm ERR! code ENOENT\nnpm ERR! ENOENT: no such file or directory, open '{home}/p/package.json'"
)
TYPESCRIPT = "{home}/src/app.ts({line},5): error TS2322: Type 'string' is not assignable."
GCC = "{home}/src/list.c:{line}:9: error: 'head' undeclared"
SHELL = "bash: line {line}: uvx: command not found"
PYTEST = "E   AssertionError: assert 3 == 4\n{home}/tests/test_sum.py:{line}: AssertionError"


@pytest.mark.parametrize(
    ("template", "kind", "says", "frames"),
    [
        (PYTHON, "ConnectionError", "no answer from", ("db.py connect", "main.py run")),
        (NODE, "TypeError", "reading 'map'", ("Table.tsx renderRows", "t.js")),
        (RUST, "E0382", "`queue`", ("worker.rs",)),
        (PANIC, "", "index out of bounds", ()),
        (GO, "panic", "invalid memory address", ("prog.go",)),
        (JAVA, "IllegalStateException", "closed", ("Ledger.java sum",)),
        (NPM, "ENOENT", "p/package.json", ()),
        (TYPESCRIPT, "TS2322", "Type 'string'", ("app.ts",)),
        (GCC, "error", "'head' undeclared", ("list.c",)),
        (SHELL, "", "uvx: command not found", ()),
        (PYTEST, "AssertionError", "assert 3 == 4", ("test_sum.py",)),
    ],
)
def test_an_error_reads_the_same_everywhere(
    template: str, kind: str, says: str, frames: tuple[str, ...]
) -> None:
    """Another home, other lines, addresses and amounts: the same failure."""
    here = failure(template.format(home="/home/ana", line=88))
    there = failure(template.format(home="/Users/ben/work/deep", line=7))
    assert here is not None
    assert here.kind == kind
    assert says in here.message
    assert here.frames == frames
    assert (here.kind, here.message, here.frames) == (
        (there.kind, there.message, there.frames) if there else None
    )


@pytest.mark.parametrize(
    "text",
    ["How should errors be handled?", "why is there an error: it fails", "rename the module", ""],
)
def test_a_sentence_about_errors_is_none(text: str) -> None:
    """Talking of errors is no stack trace."""
    assert failure(text) is None


def test_what_changes_is_taken_out() -> None:
    """Times, ids, addresses, colours and folders differ from run to run."""
    first = "\x1b[31m2026-11-03 12:00:01 job 1b4e28ba-2fa1-11d2-883f-0016d3cca427 at 0x7ffe in /tmp/a1/x.log\x1b[0m"
    other = (
        "2026-11-04 09:30:44 job 6fa459ea-ee8a-3ca4-894e-db77e160355e at 0x11aa in /tmp/zz9/x.log"
    )
    assert normalise(first) == normalise(other)


@pytest.mark.parametrize("name", ["refs/heads/main", "src/app/user.py"])
def test_a_name_with_slashes_is_no_folder_of_the_machine(name: str) -> None:
    """It is the same everywhere, and stays whole."""
    assert normalise(f"failed for {name}") == f"failed for {name}"


def test_a_long_paste_comes_down_to_its_message() -> None:
    """Of thousands of characters a few hundred are kept."""
    paste = "INFO all is well\n" * 400 + "ValueError: " + "x y " * 500
    found = failure(paste)
    assert found is not None
    assert found.kind == "ValueError"
    assert len(found.message) <= MESSAGE_CHARS
