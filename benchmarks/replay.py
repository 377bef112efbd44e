"""What the benchmarks over labelled transcripts share: the evaluation data, unpacked; the daemon's parts
in this process, with a clock that can be set; what the ranking knows of a candidate; intervals.

The data are a folder with `labels/*.jsonl` and `transcripts/*.tar.gz`. None of them is in the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Generic, TypeVar

from common import ROOT, options

from vector_memory import wire
from vector_memory.config import Settings
from vector_memory.daemon.app import App
from vector_memory.journal.journal import Journal
from vector_memory.retrieve.search import Hit, search
from vector_memory.service.base import embedding
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture.deferred import finish_some
from vector_memory.service.capture.find_ideas import find
from vector_memory.service.capture.link_ideas import weave
from vector_memory.service.memory.lookup import is_open, query_of
from vector_memory.system.paths import Home

CANDIDATES = 50
"""How many of the best are written down for each question."""
TEXT_CHARS = 600
RESAMPLED = 1_000
READY_S = 60.0
SETTLE_S = 1_800.0
UNHURRIED_S = 1.0
"""Quiet enough for the keeper to load everything, and not to tidy up by itself: that is done here."""
One = TypeVar("One")


def labelled_options(description: str, required: bool = True) -> argparse.ArgumentParser:
    """Return the options of a benchmark over labelled transcripts, which it may do without if they are not
    `required`."""
    parser = options(description)
    parser.add_argument(
        "--eval", required=required, default="", help="the folder of the labelled data"
    )
    parser.add_argument("--keep", default="", help="a folder for what the next run can use again")
    parser.add_argument("--features", default="", help="a file for all candidates, as JSON lines")
    return parser


def moment(text: str) -> datetime:
    """Return a time as transcripts and labels write it, aware, in UTC."""
    made = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (made if made.tzinfo else made.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def unpacked(data: str, folder: str) -> str:
    """Unpack the transcripts of the data into a folder, unless they are there, and return it: one folder
    for each source."""
    done = os.path.join(folder, "unpacked")
    if not os.path.exists(done):
        for archive in sorted(Path(data, "transcripts").glob("*.tar.gz")):
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
        Path(done).touch()
    return folder


def source_path(folder: str, name: str) -> str:
    """Return where a transcript lies that a label names: `SOURCE/FILE`, or `OWNER/REPOSITORY@BRANCH/FILE`
    where it was published on a branch of its own."""
    owner, _, rest = name.partition("/")
    repository, at, below = rest.partition("@")
    if at:
        return os.path.join(folder, f"{owner}__{repository}", os.path.basename(below))
    return os.path.join(folder, "transcripts", name)


def data_key(data: str) -> str:
    """Return what tells one state of code and data from another: 16 hexadecimal digits."""
    found = hashlib.sha256()
    own = ("lib", "benchmarks")
    commands = (["rev-parse", *(f"HEAD:{name}" for name in own)], ["diff", "HEAD", "--", *own])
    for command in commands:
        found.update(
            subprocess.run(
                ["git", "-C", str(ROOT), *command], capture_output=True, check=False
            ).stdout
        )
    for path in sorted(Path(data).rglob("*")):
        if path.is_file() and path.suffix in (".gz", ".jsonl"):
            found.update(f"{path.name} {path.stat().st_size}".encode())
    return found.hexdigest()[:16]


class Silent:
    """Takes what a long verb tells on the way, and tells nobody."""

    def progress(self, *_: object) -> None:
        """Take how far it is."""

    def json(self, *_: object) -> None:
        """Take a part of the answer."""


class House:
    """The daemon's parts in this process, on a home of their own: hooks and verbs are answered as over
    the socket, at the time that `now` says. What a daemon does in quiet moments, `settle` does at once."""

    def __init__(self, root: str, linked: str) -> None:
        self.now = datetime.now(timezone.utc)
        home = Home(os.path.join(root, "home"))
        os.makedirs(home.root, exist_ok=True)
        for name in ("runtime", "models"):
            if not os.path.lexists(home.path(name)):
                os.symlink(os.path.join(linked, name), home.path(name))
        # Nothing that runs here may reach the real home, nor the client's folders.
        os.environ.update(
            HOME=root, VECTOR_MEMORY_HOME=home.root, CLAUDE_CONFIG_DIR=os.path.join(root, "client")
        )
        # What is shown must not depend on how busy this machine is.
        embedding.PROMPT_WAIT_S = READY_S
        self.app = App(home.make(), Settings(), lambda: UNHURRIED_S)
        self.ctx = self.app.ctx
        self.ctx.now = self.ctx.local_now = self._clock
        self.ctx.open_shelf = lambda folder: Shelf(folder, Journal.open(folder, self._clock))
        self.ctx.global_shelf().journal.now = self._clock
        self.app.start(time.monotonic())
        until = time.monotonic() + READY_S
        while self.app.state() != "full" and time.monotonic() < until:
            time.sleep(0.02)

    def _clock(self) -> datetime:
        return self.now

    def ask(self, verb: str, **request: Any) -> dict[str, Any]:
        """Return the answer to a verb."""
        return self.app.ask(verb, request, Silent())  # type: ignore[arg-type]

    def hook(self, event: str, folder: str, **fields: Any) -> str:
        """Return the context that a hook prints, "" for none."""
        message = {"hook_event_name": event, "cwd": folder, **fields}
        body = wire.encode_hook(os.fsencode(folder), b"", json.dumps(message).encode())
        printed = self.app.hook(event, body)
        told: str = (
            json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""
        )
        return told

    def settle(self) -> None:
        """Wait until everything is stored and embedded, and do what a quiet moment does after that."""
        while True:
            until = time.monotonic() + SETTLE_S
            self.ask("wait", timeout_s=SETTLE_S)
            while self.app.busy() and time.monotonic() < until:
                time.sleep(0.005)
            shelf = self.ctx.global_shelf()
            if self.app.busy() or not (
                find(self.ctx, shelf) + weave(self.ctx, shelf) + finish_some(self.ctx)
            ):
                return

    def candidates(self, text: str, asker: Asker, session: str = "") -> list[Hit]:
        """Return the best hits of a question, below every threshold too; in a session as its hook finds them."""
        query = query_of(self.ctx, text, asker.scope, asker.shelves, asker.place, session)
        shown = self.ctx.state.shown_ids(session) if session else set()
        return search(
            query,
            asker.shelves,
            CANDIDATES,
            self.now,
            candidates=self.ctx.settings.candidates,
            scoring=self.ctx.settings.scoring,
            embed=self.ctx.embedding.of_prompt if session else self.ctx.embedding.of_query,
            allowed=is_open,
            known=lambda memory: (
                memory.id in shown or bool(session) and memory.source.session == session
            ),
        ).hits

    def close(self) -> None:
        """End the threads and close the stores."""
        self.app.interrupt()
        self.app.close(5.0)


def known_of(hit: Hit, now: datetime) -> dict[str, Any]:
    """Return all that the ranking knows of a candidate, as plain values; `age_s` in seconds."""
    memory = hit.memory
    return {
        "id": memory.id,
        "session": memory.source.session,
        "turn": memory.source.turn,
        "line": memory.source.line_start,
        "speaker": memory.source.speaker,
        "kind": memory.kind,
        "origin": memory.origin.value,
        "priority": memory.priority.value,
        "confidence": memory.confidence,
        "uses": memory.uses,
        "created_at": memory.created_at.isoformat(),
        "age_s": round((now - memory.created_at).total_seconds(), 1),
        "score": round(hit.score, 6),
        "relevance": round(hit.relevance, 6),
        "breakdown": hit.breakdown,
        "newer": hit.newer.memory.id if hit.newer else None,
        "likeness": hit.newer.likeness if hit.newer else 0.0,
        "title": memory.title,
        "files": list(memory.files),
        "text": memory.text[:TEXT_CHARS],
    }


@dataclass(frozen=True)
class Share(Generic[One]):
    """A figure over many cases: the sums of what two functions say of each, one divided by the other.

    Attributes:
        part: what counts of a case.
        whole: what it is a part of.
        percent: whether it is given in percent.
        digits: behind the point.
    """

    part: Callable[[One], float]
    whole: Callable[[One], float]
    percent: bool = True
    digits: int = 0

    def of(self, cases: Sequence[One]) -> str:
        """Return the figure and the interval that 95 of 100 drawings of as many cases lie in."""
        pairs = [(self.part(case), self.whole(case)) for case in cases]
        if not sum(whole for _, whole in pairs):
            return "-"
        chance = random.Random(7)
        drawn = sorted(self._of(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLED))
        low, high = drawn[int(RESAMPLED * 0.025)], drawn[int(RESAMPLED * 0.975)]
        told = [f"{value:.{self.digits}f}" for value in (self._of(pairs), low, high)]
        return f"{told[0]} ({told[1]}–{told[2]})"

    def _of(self, pairs: Sequence[tuple[float, float]]) -> float:
        whole = sum(pair[1] for pair in pairs) or 1.0
        return (100 if self.percent else 1) * sum(pair[0] for pair in pairs) / whole


def figures(name: str, cases: Sequence[One], shares: Mapping[str, Share[One]]) -> dict[str, Any]:
    """Return a row: its name, how many cases, and each figure over them."""
    return {"of": name, "n": len(cases), **{key: share.of(cases) for key, share in shares.items()}}


def split_rows(
    cases: Sequence[One], group_of: Callable[[One], str], shares: Mapping[str, Share[One]]
) -> list[dict[str, Any]]:
    """Return the rows of all cases, of each group alone, and of all without each group."""
    groups = list(dict.fromkeys(map(group_of, cases)))
    rows = [figures("all", cases, shares)]
    rows += [
        figures(group, [case for case in cases if group_of(case) == group], shares)
        for group in groups
    ]
    rows += [
        figures(f"without {group}", [case for case in cases if group_of(case) != group], shares)
        for group in groups
    ]
    return rows
