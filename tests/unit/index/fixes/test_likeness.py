"""Errors that are one but for names."""

from __future__ import annotations

import pytest

from vector_memory.index.fixes.commands import job_of
from vector_memory.index.fixes.errors import signature
from vector_memory.index.fixes.fixes import FixStep
from vector_memory.index.fixes.likeness import is_alike, likeness, needs, particulars

WASM = 'Error: Failed to resolve import "../pkg/app.js" from "{}". Does the file exist?'
QUOTA = "OSError: [Errno 122] Disk quota exceeded: '/home/a/.cache/{}'"
HISTORY = "db.exceptions.BadHistory: Migration {} is applied before its dependency users.0019_org on database 'main'."
LIBRARY = "Error: package load failed for '{}' in dyn.load(x):\n unable to load '{}.so':\n  {}: cannot open shared object file: No such file or directory"
EXTENSION = (
    'could not open extension control file "/usr/share/{}.control": No such file or directory'
)
PANIC = "thread '{}' panicked at {}:14:9:\nthere is no reactor running, must be called from the context of a runtime\nnote: run with `RUST_BACKTRACE=1`"
DEVICE = "    Finished `dev` profile in 0.2s\nError: open /dev/scale{}\n\nCaused by:\n    0: {}\n    1: the till gives up"
TASK = "Execution failed for task ':app:{}'.\n> {}"


def alike(
    learned: tuple[str, str], ran: str, met: tuple[str, str], files: tuple[str, ...] = ()
) -> bool:
    """Return whether a fix, an edit of files or a command, that one error taught is for another one."""
    like = likeness(*learned)
    if like is None:
        return False
    step = FixStep(f"edited {ran}") if files else FixStep(f"ran `{ran}` instead", ran)
    kept = needs(like, learned[1], [step], files)
    said = {"families": [job_of(learned[1])], "particulars": particulars(*learned)}
    return is_alike({**kept, **said}, *met)


@pytest.mark.parametrize(
    ("learned", "ran", "met"),
    [
        # Where it was met.
        ((WASM.format("src/a.ts"), "npm test"), "just wasm && npm test", (WASM.format("web/b.ts"), "npx vitest run web/b.test.ts")),
        # What it was run for.
        ((QUOTA.format("numpy-1.2.whl"), "pip install numpy"), "export CACHE=/big && pip install numpy", (QUOTA.format("torch-2.4.whl"), "pip install torch")),
        (("Error: Unable to locate package ripgrep in any list", "apt-get install ripgrep"), "apt-get update && apt-get install ripgrep", ("Error: Unable to locate package fd-find in any list", "apt-get install fd-find")),
        # What the fix says nothing of; what it names is there.
        ((HISTORY.format("courses.0042_deadline"), "manage migrate"), "psql -c \"update m set name='0019_org'\"", (HISTORY.format("courses.0044_key"), "manage migrate quiz")),
        # The innermost of errors, below lines that end in a colon.
        ((LIBRARY.format("sf", "sf", "libgdal.so.30"), "Rscript map.R"), "apt-get install -y libgdal30", (LIBRARY.format("terra", "terra", "libgdal.so.30"), "Rscript roads.R")),
        (("StandardError: An error has occurred:\n\nPG::NoFile: ERROR:  " + EXTENSION.format("gist"), "rails db:migrate"), "apt-get install contrib",
         ("ActiveRecord::Invalid: PG::NoFile: ERROR:  " + EXTENSION.format("gist"), "rails db:schema:load")),
        # Where a program panicked, and the causes below an error.
        ((PANIC.format("till", "till/src/bus.rs"), "cargo run -p till"), "cargo add zbus -F tokio", (PANIC.format("client", "till/examples/client.rs"), "cargo run --example client")),
        ((DEVICE.format(3, "Permission denied (os error 13)"), "cargo run"), "sudo udevadm trigger && cargo run", (DEVICE.format(5, "Permission denied (os error 13)"), "cargo run -- --info")),
    ],
)  # fmt: skip
def test_names_that_are_nothing_to_a_fix_may_differ(
    learned: tuple[str, str], ran: str, met: tuple[str, str]
) -> None:
    """Places, what a command was given, and what the fix does not name."""
    assert alike(learned, ran, met)


@pytest.mark.parametrize(
    ("learned", "ran", "met"),
    [
        ((WASM.format("src/a.ts"), "npm test"), "just wasm", (WASM.format("src/a.ts").replace("pkg/app.js", "lodash"), "npm test")),
        ((EXTENSION.format("gist"), "psql -f a.sql"), "apt-get install contrib", (EXTENSION.format("postgis"), "psql -f a.sql")),
        ((LIBRARY.format("sf", "sf", "libgdal.so.30"), "Rscript map.R"), "apt-get install -y libgdal30", (LIBRARY.format("sf", "sf", "libproj.so.22"), "Rscript map.R")),
        ((HISTORY.format("courses.0042_deadline"), "manage migrate"), "psql -c \"delete from m where name='0042_deadline'\"", (HISTORY.format("courses.0044_key"), "manage migrate")),
        ((QUOTA.format("numpy-1.2.whl"), "pip install numpy"), "pip install numpy==1.1", (QUOTA.format("torch-2.4.whl"), "pip install torch")),
        (("Unable to find image 'shop:1' locally", "docker run shop:1"), "docker build -t shop:1 . && docker run shop:1", ("Unable to find image 'mail:1' locally", "docker run mail:1")),
        ((QUOTA.format("a.whl"), "pip install -r r.txt"), "export CACHE=/big", (QUOTA.format("b.tgz"), "npm ci")),
        ((DEVICE.format(3, "Permission denied (os error 13)"), "cargo run"), "sudo udevadm trigger", (DEVICE.format(3, "Device or resource busy (os error 16)"), "cargo run")),
        ((TASK.format("connectedTest", "No connected devices!"), "./gradlew connectedTest"), "emulator -avd pixel", (TASK.format("packageRelease", "Keystore file not found"), "./gradlew packageRelease")),
    ],
)  # fmt: skip
def test_what_is_missing_and_what_a_fix_names_must_be_the_same(
    learned: tuple[str, str], ran: str, met: tuple[str, str]
) -> None:
    """Nor is it another program's, or one whose output complains of something else."""
    assert not alike(learned, ran, met)


def test_a_fix_in_a_file_is_for_the_names_of_its_error() -> None:
    """What was written in code is for what the error said of that code."""
    said = "error TS2345: Argument of type '{}' is not assignable to parameter of type 'number'"
    learned = said.format("string"), "npx tsc"
    assert not alike(learned, "a.ts (f(x) → f(1))", (said.format("Invoice"), "npx tsc"), ("a.ts",))
    assert alike(learned, "a.ts (f(x) → f(1))", (said.format("string"), "npx tsc"), ("a.ts",))


def test_an_error_that_says_little_without_its_names_has_no_shape() -> None:
    """It would be like any other."""
    assert likeness("KeyError: 'total'", "python a.py") is None


def test_that_something_went_wrong_while_a_job_ran_is_no_error() -> None:
    """A build's plug-in begins so whatever it was: what stands below tells one error from another."""
    head, command = "> Error occurred while executing migrate\n  {}", "./gradlew :db:migrate"
    learned = (
        head.format("Validate failed: Scripts have failed validation\n  Checksum mismatch"),
        command,
    )
    met = head.format('Found non-empty schema(s) "forecast" but no table of its history'), command
    assert signature(*learned) != signature(*met)
    assert not alike(learned, "V24__total.sql", met, ("V24__total.sql",))
