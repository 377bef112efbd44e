"""What a failing command printed: its line, and the signature that knows it again."""

from __future__ import annotations

import pytest

from vector_memory.index.fixes.errors import error_line, signature


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 127\n/bin/bash: line 1: pytest: command not found", "pytest: command not found"),
        ("Exit code 1\n=== test session starts ===\nE   ValueError: bad\n1 failed", "ValueError: bad"),
        ("Rebasing (1/2)\rRebasing (2/2)\rerror: could not apply fb89", "could not apply fb89"),
        ("\x1b[31m┃ ✖ Formatter would have printed this\x1b[0m\nFound 1 error.", "✖ Formatter would have printed this"),
        ("Found 3 errors.", "Found 3 errors."),
        ("src/a.ts(2,1): error TS2322: Type 'x' is wrong.", "TS2322: Type 'x' is wrong."),
    ],
)  # fmt: skip
def test_the_line_that_says_it(output: str, line: str) -> None:
    """Frames, colours, progress and counts are left out where something better stands there."""
    assert error_line(output) == line


def test_the_signature_is_the_same_elsewhere() -> None:
    """Another folder, line and command line around it: the same error."""
    here = "Exit code 1\n/home/ana/app/src/db.py:88: in run\nE   KeyError: 'ledger' at 0x7f1c"
    there = "Exit code 1\n/Users/ben/app/src/db.py:7: in run\nE   KeyError: 'ledger' at 0x11aa"
    assert signature(here, "pytest -q") == signature(there, "cd x && uv run pytest | tail")


def test_vague_errors_belong_to_their_command() -> None:
    """ "Failed" of one command is not "failed" of another."""
    assert signature("Error: failed", "make test") != signature("Error: failed", "npm run build")
    said = "bash: line 1: uvx: command not found"
    assert signature(said, "uvx ruff") == signature(said, "cd a && uvx black .")


def test_different_errors_differ() -> None:
    """The message tells errors of one kind apart."""
    one, other = "TypeError: a is not callable", "TypeError: b has no length"
    assert signature(one, "pytest") != signature(other, "pytest")
    assert signature(one, "pytest").isalpha()
