"""What the benchmarks share: a scratch data home, many plausible memories, and honest figures.

Run them with the runtime's Python, on an idle machine:

    DATA_HOME/runtime/venv/bin/python benchmarks/hook_latency.py [--home DATA_HOME]

DATA_HOME is one that `./bootstrap.sh` made; its runtime and model are linked, nothing in it changes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lib"))

import numpy as np

from vector_memory import projects, redact
from vector_memory.client.link import DaemonClient
from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal, text_hash
from vector_memory.model import Memory, Project
from vector_memory.setup import app
from vector_memory.setup.site import SetupSite
from vector_memory.system import paths
from vector_memory.system.paths import Home

WORDS = [
    "cache",
    "parser",
    "ledger",
    "queue",
    "worker",
    "socket",
    "index",
    "schema",
    "migration",
    "token",
    "session",
    "retry",
    "timeout",
    "buffer",
    "client",
    "server",
    "router",
    "handler",
    "config",
    "deploy",
    "staging",
    "release",
    "branch",
    "commit",
    "rebase",
    "lint",
    "format",
    "compile",
    "runtime",
    "bundle",
    "module",
    "package",
    "import",
    "export",
    "adapter",
    "driver",
    "gateway",
    "proxy",
    "header",
    "cookie",
    "login",
    "logout",
    "password-reset",
    "signup",
    "invoice",
    "payment",
    "refund",
    "webhook",
    "cron",
    "scheduler",
    "report",
    "export",
    "dashboard",
    "chart",
    "table",
    "column",
    "row",
    "key",
    "constraint",
    "trigger",
    "view",
    "cursor",
    "batch",
    "stream",
    "chunk",
    "offset",
    "partition",
    "replica",
    "leader",
    "follower",
    "quorum",
    "snapshot",
    "backup",
    "restore",
    "archive",
    "cleanup",
    "metric",
    "trace",
    "span",
    "log",
    "alert",
    "pager",
    "test",
    "fixture",
    "mock",
    "stub",
    "assertion",
    "coverage",
    "flake",
    "snapshot",
    "regression",
    "benchmark",
    "profile",
    "hotspot",
    "allocation",
    "thread",
    "lock",
    "mutex",
    "deadlock",
    "race",
    "channel",
    "future",
    "promise",
    "callback",
    "event",
    "listener",
    "observer",
    "factory",
    "builder",
    "visitor",
    "iterator",
    "generator",
    "decorator",
    "closure",
    "lambda",
    "macro",
    "template",
    "widget",
    "layout",
    "theme",
    "font",
    "icon",
    "button",
    "modal",
    "dialog",
    "form",
    "field",
    "validation",
    "error",
    "warning",
    "exception",
    "stack",
    "frame",
    "pointer",
    "reference",
    "borrow",
    "lifetime",
    "trait",
    "interface",
    "protocol",
    "message",
    "packet",
    "frame",
    "checksum",
    "hash",
    "salt",
    "signature",
    "certificate",
    "key",
    "rotation",
    "secret",
    "vault",
    "policy",
    "role",
    "permission",
    "tenant",
    "region",
    "zone",
    "cluster",
    "node",
    "pod",
    "container",
    "image",
    "registry",
    "volume",
    "network",
    "subnet",
    "route",
    "firewall",
    "tunnel",
    "mirror",
    "fallback",
    "throttle",
    "quota",
    "limit",
    "burst",
    "backoff",
    "jitter",
]
VERBS = [
    "uses",
    "fails",
    "rejects",
    "caches",
    "reads",
    "writes",
    "drops",
    "retries",
    "skips",
    "renames",
    "moves",
    "splits",
    "merges",
    "wraps",
    "blocks",
    "delays",
    "locks",
    "opens",
    "closes",
    "parses",
    "loads",
    "stores",
    "checks",
    "signs",
    "sends",
    "receives",
    "limits",
]
TIDY_S = 45
ENDINGS = (".py", ".ts", ".rs", ".go", ".sql", ".yaml")


def options(description: str) -> argparse.ArgumentParser:
    """Return the options that every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    told = "a data home that was set up"
    parser.add_argument("--home", type=os.path.abspath, default=paths.data_home(), help=told)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return {
        "commit": commit or "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def show(title: str, rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Print the figures, with the machine that they come from."""
    if as_json:
        sys.stdout.write(json.dumps({"title": title, "machine": machine(), "rows": rows}) + "\n")
        return
    about = machine()
    sys.stdout.write(f"{title} · " + " · ".join(f"{k} {v}" for k, v in about.items()) + "\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *[[str(row.get(name, "")) for name in names] for row in rows]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write(text.rstrip() + "\n")


def sentence(chance: random.Random) -> str:
    """Return one plausible sentence; common words are common, as in any text."""
    noun = [WORDS[min(int(chance.paretovariate(0.6)) - 1, len(WORDS) - 1)] for _ in range(4)]
    return (
        f"The {noun[0]} {chance.choice(WORDS)} {chance.choice(VERBS)} the {chance.choice(WORDS)} of "
        f"{noun[2]} {chance.choice(WORDS)} when {noun[3]} {chance.choice(WORDS)} "
        f"{chance.choice(VERBS)} the {chance.choice(WORDS)} at {chance.randrange(9000)}."
    )


def text(number: int, chance: random.Random) -> str:
    """Return a text of about 400 characters, a file's name in it, that no other number has."""
    file = f"src/{chance.choice(WORDS)}/{chance.choice(WORDS)}_{number}{chance.choice(ENDINGS)}"
    return f"Note {number}: " + " ".join(sentence(chance) for _ in range(3)) + f" See {file}."


class Bench:
    """A scratch data home with the code of this checkout, and its daemon."""

    def __init__(self, linked: str) -> None:
        if not os.path.exists(Home(linked).runtime_python):
            sys.exit(f"{linked} was not set up: run ./bootstrap.sh, or name another with --home")
        self.root = tempfile.mkdtemp(prefix="vector-memory-bench-")
        self.home = Home(os.path.join(self.root, "home"))
        os.makedirs(self.home.root)
        for name in ("runtime", "models"):
            os.symlink(os.path.abspath(os.path.join(linked, name)), self.home.path(name))
        self.home.make()
        app.install(SetupSite(str(ROOT), self.home))
        self.daemon = DaemonClient(self.home)
        self.project = os.path.join(self.root, "ledger")
        os.mkdir(self.project)
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.root, "VECTOR_MEMORY_HOME": self.home.root,
        }  # fmt: skip
        # The daemon inherits it: nothing that runs here may reach the real home.
        os.environ.update(HOME=self.root, VECTOR_MEMORY_HOME=self.home.root)

    def fill(self, count: int, targets: int = 200) -> list[str]:
        """Put memories straight into the journal and its vector cache, half of them in the asking
        project, and return prompts that some of them answer. Those have their real vectors, the
        others random ones: embedding a hundred thousand texts would take half an hour."""
        chance, rng = random.Random(7), np.random.default_rng(7)
        embedder = registry.create(Settings(), self.home.models)
        place = projects.locate(self.project)
        journal = Journal.open(self.home.global_store)
        journal.put_project(Project(place.id, place.name, place.root))
        prompts: list[str] = []
        for start in range(0, count, 2_000):
            size = min(2_000, count - start)
            memories = [self._memory(start + i, place.id, chance) for i in range(size)]
            journal.add(memories)
            vectors = rng.standard_normal((size, embedder.dim)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            for i in range(0, size, 2):
                if len(prompts) < targets and chance.random() < 2.5 * targets / count:
                    vectors[i] = embedder.embed_documents([memories[i].text])[0]
                    words = memories[i].text.split(": ", 1)[1].split(" when ")[0]
                    prompts.append(f"Why is it that {words.lower()}?")
            journal.put_vectors(embedder.model, [text_hash(one.text) for one in memories], vectors)
        journal.close()
        embedder.close()
        return prompts

    @staticmethod
    def _memory(number: int, project: str, chance: random.Random) -> Memory:
        at = datetime.now(timezone.utc) - timedelta(minutes=number)
        other = f"other-{number % 20:012x}"
        return Memory(
            f"{number:032x}",
            redact.clean(text(number, chance)).text,
            at,
            project=project if number % 2 == 0 else other,
        )

    def settle(self, timeout_s: float = 1_800) -> None:
        """Start the daemon and wait until everything is indexed and tidied up."""
        self.daemon.start()
        while self.daemon.ask("status", {})["state"] != "full":
            time.sleep(0.05)
        for _, _ in self.daemon.stream("wait", {"timeout_s": timeout_s}, timeout_s):
            pass
        # Quiet for a while: the keeper optimises, for minutes where there is much, and drops replaced files when it
        # comes by again.
        time.sleep(TIDY_S)
        while self.daemon.ask("status", {})["busy"]:
            time.sleep(TIDY_S)

    def hook(self, stem: str, **fields: Any) -> tuple[float, bytes]:
        """Run one hook as a whole process; return its milliseconds and what it printed."""
        event = "".join(part.capitalize() for part in stem.split("_"))
        message = {"hook_event_name": event, "cwd": self.project, **fields}
        script = os.path.join(self.home.app_current, "hooks", "run")
        return timed(["sh", script, stem], json.dumps(message).encode(), self.environment)

    def bare(self) -> float:
        """Return the milliseconds of the same interpreter doing nothing."""
        return timed([self.home.hook_python, "-I", "-S", "-c", "pass"], b"", self.environment)[0]

    def close(self) -> None:
        """Stop the daemon and remove everything."""
        self.daemon.stop()
        shutil.rmtree(self.root, ignore_errors=True)


def timed(command: Sequence[str], stdin: bytes, environment: dict[str, str]) -> tuple[float, bytes]:
    """Return the milliseconds from before a process to after it, and what it printed."""
    started = time.perf_counter()
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment, check=True)
    return (time.perf_counter() - started) * 1000, done.stdout


@contextlib.contextmanager
def bench(linked: str) -> Iterator[Bench]:
    """A `Bench` for one block."""
    made = Bench(linked)
    try:
        yield made
    finally:
        made.close()
