"""A simulated year: is anything lost or doubled, what is derived, and is what was said still found at its end?

Sessions are the published transcripts under new ids, at new times. A process of its own lives the days, with the
one clock that everything asks: it captures the day's sessions, asks some questions, and does at night what jobs are
due. It is killed at moments drawn at random and begun again, nights are slept through, and the clock jumps. At the
end each passage that a transcript holds must be there once.

The whole of it (`--days 365 --sessions 2000`) takes hours; `--days 60 --sessions 120 --kills 20` says within
minutes whether anything is lost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show
from lifecycle import freeze
from questions import SHARES, Asked, Examination
from replay import House, figures, read_lines, source_path, unpacked

from vector_memory import redact
from vector_memory.index.fixes.fix_drafts import TAG
from vector_memory.index.reader import read_new, transcripts_below
from vector_memory.index.units import Unit
from vector_memory.index.worth import Verdict
from vector_memory.journal.journal import Journal
from vector_memory.model import DERIVED, LIVING, OF_TALK, PASSAGE, Origin, Scope, Status, Tier
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.capture import find_ideas
from vector_memory.service.capture.read_session import read
from vector_memory.service.capture.reading_process import ReadingProcess
from vector_memory.service.jobs import runner

START = datetime(2025, 9, 1, 9, tzinfo=timezone.utc)
NIGHT = timedelta(hours=21)
"""From the beginning of a day's work to when jobs are done."""
KILLED_AFTER_S = (3.0, 30.0)
"""When a process is killed: while it starts, or in the midst of something."""
OLD_S = 86_400.0
MOST_STEPS = 2_000
AT_ONCE = 500
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


@dataclass(frozen=True)
class Day:
    """A day that is lived: its number, what the clock says when it begins, and its transcripts."""

    number: int
    at: str
    files: list[str]


def days_of(root: str, sources: Sequence[str], given: Any) -> list[Day]:
    """Write the year's transcripts below a folder, and return its days."""
    chance = random.Random(given.seed)
    per_day = Counter(chance.randrange(given.days) for _ in range(given.sessions))
    made: list[Day] = []
    number = asleep = 0
    for day in range(given.days):
        if asleep:
            # The machine sleeps; what was to be done then is done by nobody.
            asleep -= 1
            per_day[min(day + 1, given.days - 1)] += per_day[day]
            continue
        asleep = chance.randrange(2, 12) if chance.random() < given.sleeps else 0
        jump = chance.choice((-2, -1, 3)) if chance.random() < given.jumps else 0
        at = START + timedelta(days=day)
        files = []
        for _ in range(per_day[day]):
            files.append(_copied(sources[number % len(sources)], root, number, at))
            number += 1
        made.append(Day(day, (at + timedelta(days=jump)).isoformat(), files))
    return made


def _copied(source: str, root: str, number: int, at: datetime) -> str:
    """Write a transcript under new ids, as if it had been held on a day."""
    words = Path(source).read_text("utf-8", "replace")

    def renamed(found: re.Match[str]) -> str:
        digits = hashlib.blake2b(f"{number} {found[0]}".encode(), digest_size=16).hexdigest()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    words = _ID.sub(renamed, words)
    times = _TIME.findall(words)
    first = _moment(min(times)) if times else at
    words = _TIME.sub(lambda found: _written(_moment(found[0]) - first + at), words)
    path = os.path.join(root, "transcripts", f"{number:05}.jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(words, "utf-8")
    stamp = time.time() - OLD_S
    os.utime(path, (stamp, stamp))
    return path


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text[:19] + "+00:00")


def _written(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


# -- the days, in a process that may end at any moment ----------------------------------------------


def keep_vectors(path: str) -> None:
    """Embed each text once, in whatever process: the same transcripts come again and again under new ids. No
    prompt waits here, so that none of it is left to a process of low priority."""
    kept = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    kept.execute("PRAGMA journal_mode=WAL")
    kept.execute("PRAGMA synchronous=OFF")
    kept.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
    lock = threading.Lock()

    def documents(self: Embedding, texts: Sequence[str]) -> np.ndarray:
        named = {
            text: hashlib.blake2b(f"{self.model} {text}".encode(), digest_size=16).digest()
            for text in texts
        }
        with lock:
            found = {text: _row(kept, key) for text, key in named.items()}
            lacking = [text for text, vector in found.items() if vector is None]
            assert self._embedder is not None
            vectors = self._embedder.embed_documents(lacking)
            for text, vector in zip(lacking, vectors, strict=True):
                found[text] = vector.tobytes()
                kept.execute(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)", (named[text], found[text])
                )
        rows = b"".join(found[text] or b"" for text in texts)
        return np.frombuffer(rows, np.float32).reshape(-1, self.dim)

    Embedding.documents = documents  # type: ignore[method-assign]


def judge_once() -> None:
    """Redact and judge each text once in a process: it comes again and again, and says the same each time."""
    redact.clean = lru_cache(maxsize=1 << 17)(redact.clean)
    whole = find_ideas.verdicts

    @lru_cache(maxsize=1 << 14)
    def known(units: tuple[Unit, ...], vectors: bytes) -> list[Verdict]:
        return whole(
            units, np.frombuffer(vectors, np.float32).reshape(len(units), -1) if vectors else None
        )

    def verdicts(units: Sequence[Unit], vectors: np.ndarray | None) -> list[Verdict]:
        return known(tuple(units), b"" if vectors is None else vectors.tobytes())

    find_ideas.verdicts = verdicts  # type: ignore[assignment]


def read_here() -> None:
    """Read transcripts in this process: on a busy machine one of low priority would hardly get its turn."""
    ReadingProcess.read_all = lambda self, asks: ((ask, read(ask)) for ask in asks)  # type: ignore[method-assign]


def _row(kept: sqlite3.Connection, key: bytes) -> bytes | None:
    row = kept.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def live(root: str, linked: str, vectors: str) -> None:
    """Live the days that are left."""
    keep_vectors(vectors)
    judge_once()
    read_here()
    days = [Day(**day) for day in json.loads(Path(root, "days.json").read_text())]
    asked = json.loads(Path(root, "asked.json").read_text())
    done = days_done(root)
    house = House(root, linked)
    try:
        for place, day in enumerate(days[done:], done):
            house.now = datetime.fromisoformat(day.at)
            if day.files:
                house.ask("backfill", paths=day.files, wait=False)
            for question in random.Random(day.number).sample(asked, min(2, len(asked))):
                house.ask("recall", query=question, all_projects=True)
            house.settle()
            house.now += NIGHT
            for _ in range(MOST_STEPS):
                if not runner.advance(house.ctx):
                    break
            house.settle()
            _note(Path(root, "lived"), str(place + 1))
    finally:
        house.close()


def _note(path: Path, words: str) -> None:
    aside = path.with_suffix(".new")
    aside.write_text(words)
    os.replace(aside, path)


def lived(root: str, linked: str, vectors: str, given: Any) -> int:
    """Have the days lived by processes that are killed at moments drawn at random, all over the year; return how
    many were."""
    chance = random.Random(given.seed)
    total = len(json.loads(Path(root, "days.json").read_text()))
    kills = sorted(chance.choices(range(total), k=given.kills), reverse=True)
    killed = 0
    until = time.monotonic() + 60 * given.minutes
    while days_done(root) < total and time.monotonic() < until:
        process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--live", root, "--home", linked]
            + ["--vectors", vectors],
            env={**os.environ, "HOME": root},
        )
        while process.poll() is None and time.monotonic() < until:
            if kills and days_done(root) >= kills[-1]:
                kills.pop()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(chance.uniform(*KILLED_AFTER_S))
                break
            time.sleep(0.2)
        if process.returncode:
            raise SystemExit(f"a day failed: {process.returncode}")
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    return killed


def days_done(root: str) -> int:
    """Return how many days were lived to their end."""
    at = Path(root, "lived")
    return int(at.read_text()) if at.exists() else 0


def copied_again(root: str, times: int) -> None:
    """Store what the year's sessions said so many times more, under other ids and sessions, in the same tiers: as if
    each had been resumed, forked or held again as often."""
    journal = Journal.open(os.path.join(root, "home", "global"))
    said = [one for one in journal.iter_memories(Scope()) if one.source.session and one.source.path]
    for number in range(times):
        copies = [
            replace(
                one,
                id=hashlib.blake2b(f"{number} {one.id}".encode(), digest_size=16).hexdigest(),
                external_id=one.external_id and f"{number} {one.external_id}",
                source=replace(one.source, session=f"{number} {one.source.session}"),
                created_at=one.created_at - timedelta(minutes=1 + number),
                seq=0,
                stored_at=None,
            )
            for one in said
        ]
        for start in range(0, len(copies), AT_ONCE):
            journal.add(copies[start : start + AT_ONCE])
        journal.move_to_tiers({one.id: one.tier for one in copies if one.tier is not Tier.HOT})
    journal.close()


# -- what is there at the end -----------------------------------------------------------------------


def held(root: str, days: Sequence[Day]) -> Iterator[tuple[str, Any]]:
    """Yield what the memory holds, and what of it is lost or doubled."""
    wanted = {
        draft.external_id
        for day in days
        for path in day.files
        for draft in read_new(path, None, final=True).drafts
        if draft.kind == PASSAGE
    }
    journal = Journal.open(os.path.join(root, "home", "global"))
    try:
        found = list(journal.iter_memories(Scope(), statuses=LIVING))
        tiers = journal.count_by("tier", Scope(), LIVING)
    finally:
        journal.close()
    names = Counter((one.project, one.external_id) for one in found if one.external_id)
    known = {name for _, name in names}
    yield "sessions", sum(len(day.files) for day in days)
    yield "memories", len(found)
    yield "passages that transcripts hold", len(wanted)
    yield "lost", len(wanted - known)
    yield "doubled", sum(count - 1 for count in names.values())
    summaries = Counter(one.source.session for one in found if one.kind == "summary")
    yield "sessions with two summaries", sum(count > 1 for count in summaries.values())
    ideas = Counter(
        (one.project, str(one.text))
        for one in found
        if one.status is Status.ACTIVE and one.kind not in OF_TALK and TAG not in one.tags
        and one.origin is not Origin.JOB
    )  # fmt: skip
    yield "ideas twice in a project", sum(count - 1 for count in ideas.values())
    yield "tiers", ", ".join(f"{name} {count}" for name, count in tiers.items())
    made = Counter(one.kind for one in found if one.origin is Origin.JOB or one.kind in DERIVED)
    yield "derived", ", ".join(f"{kind} {count}" for kind, count in made.most_common(8))
    size = sum(path.stat().st_size for path in Path(root, "home").rglob("*") if path.is_file())
    yield "data home MB", round(size / 1e6)


def jobs_of(house: House) -> list[dict[str, Any]]:
    """Return how each job's last run went."""
    rows = house.ctx.state.jobs().values()
    return [
        {"job": row.name, "outcome": row.outcome, "failures": row.failures, "s": row.took_s}
        for row in rows
        if row.ended_at
    ]


def found_at_once(
    root: str, linked: str, sources: Sequence[str], questions: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return how often answers are found right after the sessions, by a memory of nothing else."""
    os.makedirs(root)
    house = House(root, linked)
    try:
        house.ask("backfill", paths=list(sources), wait=True)
        house.settle()
        return asked(house, "these transcripts once and alone", questions)
    finally:
        house.close()


def found_again(
    root: str, linked: str, now: datetime, questions: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return how often answers are found at the end: with nothing cold, as if all had been said just now; as memory
    is; and with half of it cold, drawn by ids. Each is asked of a copy, since what is asked counts as used."""
    rows = []
    for name, share in (
        ("the whole year, nothing cold", 0.0),
        ("as it is", None),
        ("half cold", 0.5),
    ):
        copy = os.path.join(root, "copies", str(share))
        shutil.copytree(os.path.join(root, "home"), os.path.join(copy, "home"), symlinks=True)
        house = House(copy, linked)
        try:
            house.now = now
            journal = house.ctx.global_shelf().journal
            if share is not None:
                ids = [one.id for one in journal.iter_memories(Scope()) if one.tier is Tier.COLD]
                journal.move_to_tiers(dict.fromkeys(ids, Tier.WARM))
                freeze(journal, share)
                house.ctx.notify()
                house.settle()
            cold = journal.count_by("tier", Scope(), LIVING).get("cold", 0)
            rows.append(asked(house, f"{name} ({cold:,})", questions))
        finally:
            house.close()
    return rows


def asked(house: House, name: str, questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how often answers are found now."""
    examination = Examination(house, "", False)
    now = house.now.isoformat()
    answers: list[Asked] = [examination.ask({**one, "asked_at": now}) for one in questions]
    return figures(name, answers, SHARES)


def chosen(data: str, given: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the transcripts that sessions are made of, and the questions that are about them."""
    questions = [
        one for one in read_lines(Path(given.eval, "labels", "questions.jsonl")) if one["gold"]
    ]
    about = {source_path(data, one["gold"][0]["file"]): one for one in questions}
    # Beside them lies what other benchmarks keep.
    folders = [name for name in sorted(os.listdir(data)) if name == "transcripts" or "__" in name]
    below = [path for name in folders for path in transcripts_below(os.path.join(data, name))]
    small = [path for path in below if os.path.getsize(path) <= 1_000 * given.most_kb]
    # Those that a question is about first: few sessions are asked about, too.
    ordered = sorted(small, key=lambda path: (path not in about, path))[: given.sessions]
    kept = [one for one in questions if source_path(data, one["gold"][0]["file"]) in set(ordered)]
    return ordered, kept


def main() -> None:
    """Live a year, or a part of it."""
    parser = options(__doc__ or "")
    parser.add_argument("--eval", default="", help="the folder of the labelled data")
    parser.add_argument("--keep", default="", help="a folder for what the next run can use again")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--sessions", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=1e6, help="live no longer than this")
    parser.add_argument(
        "--sleeps", type=float, default=0.08, help="the share of days that a sleep follows"
    )
    parser.add_argument(
        "--jumps", type=float, default=0.03, help="the share of days whose clock is wrong"
    )
    parser.add_argument("--most-kb", type=int, default=1_000, help="no larger transcripts")
    parser.add_argument(
        "--copies", type=int, default=0, help="so many more of all, before it is asked"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--live", default="", help=argparse.SUPPRESS)
    parser.add_argument("--vectors", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.live:
        live(given.live, given.home, given.vectors)
        return
    with tempfile.TemporaryDirectory(prefix="vector-memory-year-") as root:
        data = unpacked(given.eval, given.keep or os.path.join(root, "data"))
        sources, questions = chosen(data, given)
        days = days_of(root, sources, given)
        Path(root, "days.json").write_text(json.dumps([vars(day) for day in days]))
        Path(root, "asked.json").write_text(json.dumps([one["question"] for one in questions]))
        began = time.monotonic()
        vectors = os.path.join(given.keep or root, "vectors.db")
        killed = lived(root, given.home, vectors, given)
        days = days[: days_done(root)]
        rows = [("days", days[-1].number + 1), ("of these awake", len(days)), ("killed", killed)]
        rows += [*held(root, days), ("minutes", round((time.monotonic() - began) / 60, 1))]
        show(
            "A simulated year", [{"what": name, "found": value} for name, value in rows], given.json
        )
        keep_vectors(vectors)
        now = datetime.fromisoformat(days[-1].at) + NIGHT
        house = House(root, given.home)
        try:
            show("Jobs, their last runs", jobs_of(house), given.json)
        finally:
            house.close()
        copied_again(root, given.copies)
        if questions:
            alone = os.path.join(root, "alone")
            found = [found_at_once(alone, given.home, sources, questions)]
            found += found_again(root, given.home, now, questions)
            show("Asked of all projects", found, given.json)


if __name__ == "__main__":
    main()
