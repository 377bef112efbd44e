"""Every example of the README, as it stands there: the client's commands, and those of the command line."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.harness import bundle
from e2e.harness.client import Client
from e2e.harness.install import Installation

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAM = "vector-memory"
ADDRESS = "https://git.example/vector-memory.git"
ASKS = ("forget", "purge", "uninstall")
"""What asks before it removes something: without a terminal it says that, and removes nothing."""
WAIT_S = 90.0
STAYS = ("serve", "dashboard")
"""What goes on until it is told to end."""
ALSO_BY_TESTS = ("./bootstrap.sh", "./bootstrap.sh test")
"""Run by `test_setup.py` and by continuous integration."""


def blocks() -> Iterator[str]:
    """Yield the lines of code of the README, without what explains them."""
    for line in README.splitlines():
        if line.startswith("    ") and not line.lstrip().startswith(
            ("<", "- ", "We keep", "Recalled")
        ):
            yield re.split(r"\s+#\s", line.strip())[0]


def inline() -> Iterator[str]:
    """Yield the commands within sentences."""
    for code in re.findall(r"`([^`]+)`", README):
        if code.startswith((f"{PROGRAM} ", "config ")) and "NAME" not in code:
            yield code if code.startswith(PROGRAM) else f"{PROGRAM} {code}"


COMMANDS = [code for code in (*blocks(), *inline()) if code.startswith(PROGRAM)]


def test_nothing_in_it_is_left_out() -> None:
    """Each line of code is one of these, or is run elsewhere."""
    others = [code for code in blocks() if code not in COMMANDS]
    left = [code for code in others if not code.startswith("claude plugin ")]
    assert sorted(left) == sorted(ALSO_BY_TESTS)
    assert len(COMMANDS) > 30


@pytest.fixture(scope="module")
def home(shared_product: Installation) -> Installation:
    """A user with two memories, notes, and a folder of decision records."""
    root = shared_product.root
    (root / "docs" / "adr").mkdir(parents=True)
    (root / "docs" / "adr" / "0001-store.md").write_text("# Store\n\nWe keep it in SQLite.\n")
    (root / "NOTES.md").write_text("# Deploy\n\nDeploys go through the staging branch.\n")
    (root / "notes.jsonl").write_text('{"text": "The gate opens at seven.", "tags": ["gate"]}\n')
    (root / "home" / ".claude" / "projects").mkdir(parents=True)
    shared_product.cli("remember", "Jane Doe keeps the keys of the gate.")
    return shared_product


@pytest.fixture(scope="module")
def memory(home: Installation) -> str:
    """The id of a memory."""
    stored = home.ask("remember", "Deploys go through the staging branch", "--kind", "decision")
    return str(stored["id"])


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_the_command_line_does_what_is_written(
    home: Installation, memory: str, command: str
) -> None:
    """Exit 0, or 1 where it asks and there is nobody to answer; never wrong usage, never a bug."""
    words = [memory if word == "ID" else word for word in shlex.split(command)[1:]]
    words = [word.replace("~", str(home.root / "home")) for word in words]
    words = [str(home.root) if word == "/path" else word for word in words]
    verb = words[0]
    if verb in STAYS:
        words.append("--help")
    done = home.cli(*words, check=False)
    if verb in ASKS and "--yes" not in words:
        assert done.returncode == 1, done.stdout + done.stderr
        assert "no terminal to ask on" in done.stderr
    elif verb == "doctor":
        # The test's home has no client on its PATH.
        assert done.returncode in (0, 1)
        assert "stores" in done.stdout
    else:
        assert done.returncode == 0, done.stdout + done.stderr


def test_one_line_installs_it_without_a_clone(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """From an address of a git repository, which git itself leads to a `file://` one; taken out, it is gone, and
    the daemon ends."""
    (line,) = [code for code in blocks() if "ADDRESS" in code]
    repository = as_repository(installed.plugin, tmp_path / "the repository")
    (client.home / ".gitconfig").write_text(
        f'[url "{repository.as_uri()}"]\n\tinsteadOf = {ADDRESS}\n'
    )
    for command in line.replace("ADDRESS", ADDRESS).split(" && "):
        done = client.command(*shlex.split(command)[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    client.session("What is next?", cwd=tmp_path / "ledger")
    assert installed.pid() is not None
    done = client.command("plugin", "uninstall", "vector-memory@vector-memory", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    log = installed.home / "logs" / "daemon.log"
    # Nobody asks the daemon meanwhile: it would go on for whoever asks.
    wait_for(lambda: "the plugin was uninstalled" in log.read_text(), "the daemon's end")


def wait_for(true: Callable[[], bool], what: str) -> None:
    """Wait until something is so, or fail after a generous while."""
    until = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.2)


def as_repository(plugin: Path, folder: Path) -> Path:
    """Return a bare repository with what users get."""
    tree = bundle.copy(folder / "tree")
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_CONFIG_NOSYSTEM": "1"}
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        **identity,
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@a",
    }
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", *words], cwd=tree, env=environ, check=True)
    bare = folder / "vector-memory.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(bare)], env=environ, check=True)
    return bare


def test_a_folder_is_a_marketplace(client: Client, installed: Installation, tmp_path: Path) -> None:
    """The lines for a clone, from a folder with a space in its name."""
    lines = [code for code in blocks() if code.startswith("claude plugin") and "&&" not in code]
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line.replace("$PWD", str(installed.plugin)))[1:]
        done = client.command(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    settings = json.loads((client.config / "settings.json").read_text())
    assert settings["enabledPlugins"] == {"vector-memory@vector-memory": True}
