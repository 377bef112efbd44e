"""What a failing command printed: its line, and the signature that knows it again."""

from __future__ import annotations

import pytest

from vector_memory.index.fixes.errors import error_line, names_in, signature, words_of
from vector_memory.index.fixes.likeness import agree, particulars


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 127\n/bin/bash: line 1: pytest: command not found", "pytest: command not found"),
        ("Exit code 1\n=== test session starts ===\nE   ValueError: bad\n1 failed", "ValueError: bad"),
        ("Rebasing (1/2)\rRebasing (2/2)\rerror: could not apply fb89", "could not apply fb89"),
        ("\x1b[31m┃ ✖ Formatter would have printed this\x1b[0m\nFound 1 error.", "✖ Formatter would have printed this"),
        ("Found 3 errors.", "Found 3 errors."),
        ("src/a.ts(2,1): error TS2322: Type 'x' is wrong.", "TS2322: Type 'x' is wrong."),
        ("--- FAIL: TestPays (0.04s)\n    pay_test.go:58: load: no such lane: \"a1\"\nFAIL\nFAIL\tshop/pay\t0.1s", 'load: no such lane: "a1"'),
        ("08:02:13  Encountered an error:\nRuntime Error\n  Cannot reach the schema \"TEST\"\n  250001: refused", 'Cannot reach the schema "TEST"'),
        ("Link check: [ERROR link failed]\n251: the lane lane-7.test refused", "251: the lane lane-7.test refused"),
        ("2026/05/03 10:11:12 feed: address :8080 in use\nexit status 1", "feed: address :8080 in use"),
        # A code goes with what it stands for, and advice is not what was wrong.
        ("src/Parse.hs:7:1: error: [GHC-87110]\n    Could not load module \u2018Data.Text\u2019.\n  |", "[GHC-87110] Could not load module \u2018Data.Text\u2019."),
        ("go: inconsistent vendoring in /src/shop:\n\ta/pgx@v5: is not marked as explicit\n\n\tTo sync it, run:\n\t\tgo mod vendor", "go: inconsistent vendoring in /src/shop: a/pgx@v5: is not marked as explicit"),
        # That it failed, and what for, is known from the command; the reason stands above, or below as its cause.
        ("To github.test:acme/shop.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.test:acme/shop.git'\nhint: Updates were rejected", "! [rejected] main -> main (fetch first)"),
        ("* What went wrong:\nCould not resolve all files for configuration ':compileClasspath'.\n> Could not find com.acme:money:1.2.\n  Searched in", "Could not find com.acme:money:1.2."),
        ("Could not resolve all files for configuration ':api'.\n> Could not resolve com.acme:money:1.2.\n   > Received status code 401 from server: Unauthorized", "Received status code 401 from server: Unauthorized"),
        ('SyntaxError: Unexpected token, expected ";" (1:7)\n\n> 1 | const err = new Error("boom")', 'SyntaxError: Unexpected token, expected ";" (1)'),
        ("error: expected Vec<u8>, found Vec<T>", "expected Vec<u8>, found Vec<T>"),
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


IN_USE = "Error: listen EADDRINUSE: address already in use "
REJECTED = "To a.test:b.git\n ! [rejected] {ref} ({why})\nerror: failed to push some refs to 'a.test:b.git'"
LINKER = "/usr/bin/ld: cannot find {}\ncollect2: error: ld returned 1 exit status"
MODULE = "Error: Cannot find module '{}'\nRequire stack:\n- /srv/a.js"
LOADING = "An error occurred while loading ./spec/{}/cart_spec.rb.\n"
REFUSED = 'Orm::ConnectionNotEstablished:\n  connection to server at "127.0.0.1", port 5432 failed: Connection refused'
REGISTRY = "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.test/{} - Not found"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (IN_USE + ":::3000", IN_USE + "127.0.0.1:8080"),
        (IN_USE + "0.0.0.0:80", IN_USE + "localhost:5173"),
        ('psql: error: server at "10.0.0.5", port 5432 failed', 'psql: error: server at "10.1.2.3", port 5 failed'),
        ("RuntimeError: dead session 7f3d9a1e of user 4711", "RuntimeError: dead session 1b2c3d4e of user 52"),
        ("FileNotFoundError: No such file or directory: '/home/ana/a/x.yaml'", "FileNotFoundError: No such file or directory: '/srv/x.yaml'"),
        ('fatal: [web1]: UNREACHABLE! => {"msg": "root@10.0.0.11: Permission denied"}', 'fatal: [web7]: UNREACHABLE! => {"msg": "root@10.0.0.17: Permission denied"}'),
        (LOADING.format("models") + REFUSED, "Failures:\n" + REFUSED),
        ("error: cannot evict worker-0 from shop-node-2", "error: cannot evict worker-4 from shop-node-1"),
        ("OSError: cannot write day=2026-05-02/a.csv", "OSError: cannot write day=2026-06-30/a.csv"),
        ("--- FAIL: TestA (0.1s)\n    a_test.go:5: load: no such lane", "--- FAIL: TestB (0.2s)\n    b_test.go:71: load: no such lane"),
        ("error: no space left: /tmp/RtmpK2/tile_81.tif", "error: no space left: /tmp/RtmpQ9/tile_7.tif"),
        ("fatal: unable to access 'https://h.test/a/b.git/': no host", "fatal: unable to access 'https://h.test/c/d.git/': no host"),
        (REJECTED.format(ref="main -> main", why="fetch first"), REJECTED.format(ref="fix/a -> fix/a", why="fetch first")),
    ],
)  # fmt: skip
def test_what_varies_is_one(one: str, other: str) -> None:
    """Addresses, ports, hashes, numbers and folders say nothing of what went wrong."""
    assert signature(one, "npm start") == signature(other, "npm start")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LINKER.format("-lssl"), LINKER.format("-lpq")),
        (MODULE.format("express"), MODULE.format("lodash")),
        (REGISTRY.format("left-padd"), REGISTRY.format("expresss")),
        ("Web::SessionNotCreatedError:\n  Chrome failed to start", "Web::SessionNotCreatedError:\n  driver of version 120 is too old"),
        ("Run stopped:\n  Plan error\n    Column 'a' is missing", "Run stopped:\n  Plan error\n    Column 'b' is missing"),
        ("sh: exited with code 137", "sh: exited with code 1"),
        ("FileNotFoundError: No such file or directory: '/srv/x.yaml'", "FileNotFoundError: No such file or directory: '/srv/y.sql'"),
        (REJECTED.format(ref="main -> main", why="fetch first"), REJECTED.format(ref="main -> main", why="pre-receive hook declined")),
        ("error: cannot match Int -> Bool (given) here", "error: cannot match String -> Float (given) here"),
    ],
)  # fmt: skip
def test_what_is_missing_tells_apart(one: str, other: str) -> None:
    """The same words about something else are another error, and share no name."""
    assert signature(one, "make") != signature(other, "make")
    assert words_of(error_line(one)) != words_of(error_line(other))


def test_codes_are_no_numbers_of_things() -> None:
    """`node-2` is one of several nodes, `ORA-00942` says what is wrong."""
    one, other = "error: ORA-00942: not allowed", "error: ORA-01031: not allowed"
    assert signature(one, "make") != signature(other, "make")


def test_what_stands_around_counts_where_nothing_says_what_is_wrong() -> None:
    """Else it is chance: where in its file a program was, what it says at its end."""
    names = "! Typesetting error: package `{}` not found.\n{}\nBuild failed: see above."
    one, again, other = (
        particulars(names.format(*said))
        for said in (("units", "l.14 use"), ("units", "l.3 preamble"), ("tables", "l.14 use"))
    )
    assert agree(one, again) and not agree(one, other)
    bare = "{}\nBuild failed: see above."
    assert not agree(*(particulars(bare.format(said)) for said in ("linking cart", "linking mail")))


def test_which_test_met_it_is_chance() -> None:
    """Where a line says what is wrong, the test, its file and its package are none of its words."""
    said = "--- FAIL: Test{0} (1.2s)\n    {1}_test.go:9: worker 3: ERROR: deadlock detected (SQLSTATE {2})\nFAIL\nFAIL\tshop/{1}\t1.3s"
    one, again, other = (
        said.format(*words)
        for words in (
            ("Pays", "pay", "40P01"),
            ("Moves", "purse", "40P01"),
            ("Pays", "pay", "55P03"),
        )
    )
    assert signature(one, "go test ./pay") == signature(again, "go test ./purse")
    assert agree(particulars(one), particulars(again))
    assert not agree(particulars(one), particulars(other))


def test_what_could_not_be_built_tells_apart() -> None:
    """The kind of the error says only that it could not."""
    said = "Ext::BuildError: ERROR: Failed to build native extension.\nchecking for {0}.h... no\nAn error occurred while installing {0}"
    one, again, other = (said.format(name) for name in ("libpq", "libpq", "vips"))
    assert signature(one, "bundle install") == signature(other, "bundle install")
    assert agree(particulars(one), particulars(again))
    assert not agree(particulars(one), particulars(other))


def test_the_line_with_the_place_says_more_than_that_it_failed() -> None:
    """A compiler says what is wrong before somebody says that the build failed."""
    said = "# app\n./run.go:12:3: undefined: start\nFAIL app [build failed]"
    assert error_line(said) == "./run.go:12:3: undefined: start"


def test_a_code_is_no_error_of_its_own() -> None:
    """What stands below it tells errors apart."""
    plan = "Error: [S-7282]\n    Stack failed to execute the build plan.\n    {}"
    compiler, library = plan.format("No compiler found"), plan.format("missing C library icu-74")
    assert signature(compiler, "stack build") == signature(compiler, "stack test")
    assert not agree(particulars(compiler), particulars(library))


def test_which_machine_met_it_is_chance() -> None:
    """Also where it is named again without being the one that speaks."""
    play = 'fatal: [{0}]: FAILED! => {{"msg": "you must install the {1} program"}}\n\nPLAY RECAP ***\n{0} : ok=0 failed=1'
    (one, other, more) = (
        play.format(*words)
        for words in (("web1", "sshpass"), ("db-1.shop.test", "sshpass"), ("web1", "rsync"))
    )
    line = "ansible-playbook site.yml"
    assert signature(one, line) == signature(other, line) != signature(more, line)
    assert agree(particulars(one, line), particulars(other, line))


def test_names_are_what_is_quoted_or_written_as_no_word() -> None:
    """Ordinary words name nothing."""
    assert names_in("cannot find -lssl in 'lib'") == {"-lssl", "lib"}


def test_a_line_that_ends_in_a_colon_goes_on() -> None:
    """What follows says which; hints of a program are no errors."""
    said = (
        "The following paths are ignored by one of your .gitignore files:\ndocs\n"
        "hint: Use -f if you really want to add them."
    )
    assert (
        error_line(said) == "The following paths are ignored by one of your .gitignore files: docs"
    )
