"""A newcomer's first hour, as the README tells it: a fresh clone in a folder with a space in its name, the set-up,
the plugin in the real client, a session that decides something and one that needs it, the command line, and
taking it all out again. `python benchmarks/first_hour.py`

VECTOR_MEMORY_TEST_CLIENT names the client's binary; the model is scripted, on loopback. What is committed is
what is cloned. Each row is one step: whether it did what the README says, what share of the hour's work it took,
and what was seen. Seconds are for whoever looks at one machine; they are no figure to compare. The exit code is
1 where a step did not do it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import ROOT, options, show

sys.path.insert(0, str(ROOT / "tests"))

from e2e.harness import story
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client

SET_UP_S, COMMAND_S = 900.0, 120.0
SETTLE_S, TICK_S = 60.0, 0.2
SOURCES = re.compile(r"^(UV_|PIP_|SSL_|HTTPS?_PROXY|NO_PROXY)")
FACT, ASKED = (
    "The build uses just, because make is missing on the boxes.",
    "what does the build use",
)
ABSURD = "how do purple elephants dance"


class Newcomer:
    """Somebody with an empty home and a fresh clone."""

    def __init__(self, folder: Path, api: ScriptedApi) -> None:
        self.clone = folder / "my clones" / "vector-memory"
        self.data = folder / "data home"
        self.project = folder / "ledger"
        self.client = Client(api, folder, self.data)
        self.rows: list[dict[str, Any]] = []
        self.project.mkdir(parents=True)

    def environ(self) -> dict[str, str]:
        """Return all that a command gets from outside."""
        sources = {name: value for name, value in os.environ.items() if SOURCES.match(name)}
        return {**self.client.environment(), "PATH": os.environ["PATH"], **sources}

    def run(self, *words: str, limit_s: float = COMMAND_S) -> subprocess.CompletedProcess[str]:
        """Run a command in the project."""
        return subprocess.run(
            words, cwd=self.project, env=self.environ(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=limit_s, check=False,
        )  # fmt: skip

    def cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command line of the clone."""
        return self.run(str(self.clone / "bin" / "vector-memory"), *words)

    def step(self, name: str, act: Callable[[], str]) -> None:
        """Do one step and note how it went: `act` returns what was seen, or raises AssertionError."""
        began = time.perf_counter()
        try:
            seen, done = act(), True
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            seen, done = f"{error}"[:300], False
        took = time.perf_counter() - began
        self.rows.append({"step": name, "ok": done, "s": round(took, 1), "seen": seen})

    def cloned(self) -> str:
        """Clone what is committed."""
        done = self.run("git", "clone", "-q", str(ROOT), str(self.clone))
        assert done.returncode == 0, done.stderr
        return self.run("git", "-C", str(self.clone), "rev-parse", "--short", "HEAD").stdout.strip()

    def set_up(self) -> str:
        """Run ./bootstrap.sh."""
        done = self.run(str(self.clone / "bootstrap.sh"), limit_s=SET_UP_S)
        assert done.returncode == 0, done.stdout[-300:] + done.stderr[-300:]
        return f"{size_mb(self.data):.0f} MB"

    def install(self) -> str:
        """Switch the plugin on in the client."""
        for words in (
            ("marketplace", "add", str(self.clone)),
            ("install", "vector-memory@vector-memory"),
        ):
            done = self.client.command("plugin", *words, cwd=self.project)
            assert done.returncode == 0, done.stdout + done.stderr
        return "installed"

    def decide(self) -> str:
        """A session decides something; it is remembered when its turn has ended."""
        run = self.client.session(story.PROMPT, cwd=self.project, replies=[story.ANSWER])
        story.assert_unharmed(run)
        until = time.monotonic() + SETTLE_S
        while not self.known(story.FACT):
            assert time.monotonic() < until, "the session was not remembered"
            time.sleep(TICK_S)
        return "remembered"

    def known(self, words: str) -> bool:
        """Whether a memory holds some words."""
        return words in self.cli("list", "--json").stdout

    def need(self) -> str:
        """Another session needs it, in other words."""
        run = self.client.session(story.QUESTION, cwd=self.project)
        story.assert_unharmed(run)
        times = story.mentions(run.main[0])
        assert times == 1, f"told {times} times"
        return "told once"

    def say_and_ask(self) -> str:
        """What was stored is found at once, and what nobody said is not."""
        assert self.cli("remember", FACT).returncode == 0
        found = self.cli("recall", ASKED).stdout
        assert FACT in found, found
        absurd = self.cli("recall", ABSURD).stdout
        assert absurd.startswith("Nothing fits."), absurd
        return "found, and nothing absurd"

    def doctor(self) -> str:
        """Every hop is well."""
        done = self.cli("doctor")
        assert done.returncode == 0, done.stdout
        return f"{sum(line.startswith('ok') for line in done.stdout.splitlines())} hops are well"

    def take_out(self) -> str:
        """Uninstall all of it, with the memories."""
        done = self.client.command(
            "plugin", "uninstall", "vector-memory@vector-memory", cwd=self.project
        )
        assert done.returncode == 0, done.stdout + done.stderr
        done = self.cli("uninstall", "--yes", "--memories")
        assert done.returncode == 0, done.stdout + done.stderr
        left = [path.name for path in self.data.iterdir()] if self.data.exists() else []
        assert not left, f"left: {left}"
        return "nothing is left"


def size_mb(folder: Path) -> float:
    """Return what a folder takes on the disk."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> int:
    """Go through the hour; 1 where a step did not do what the README says."""
    given = options("A newcomer's first hour").parse_args()
    folder = Path(tempfile.mkdtemp(prefix="first hour "))
    try:
        with ScriptedApi() as api:
            user = Newcomer(folder, api)
            user.step("clone", user.cloned)
            user.step("./bootstrap.sh", user.set_up)
            user.step("claude plugin install", user.install)
            user.step("a session decides", user.decide)
            user.step("another one needs it", user.need)
            user.step("remember, then recall", user.say_and_ask)
            user.step("doctor", user.doctor)
            user.step("uninstall", user.take_out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    whole = sum(row["s"] for row in user.rows) or 1.0
    rows = [{**row, "share": f"{row['s'] / whole:.0%}"} for row in user.rows]
    show("The first hour", rows, given.json)
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
