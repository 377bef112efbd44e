"""What is learned from sessions, on real transcripts: `python benchmarks/learning.py TRANSCRIPTS [--repositories] [--show]`.

TRANSCRIPTS is a folder of transcripts; `outcomes.json` says of some of the tasks in the public ones, by the
name of the prompt that begins them, what kind a person took them for and whether they were done (null
where nobody can tell). It prints how many tasks were found, how many of the labelled ones are told apart,
classified and judged as the person did, and how long it takes.

Then the sessions are gone through in the order of time: what each is told at its start by what those before it have
taught alone. A project is the folder that a session ran in, with
`--repositories` the folder below TRANSCRIPTS that it lies in. The projects are split in two by their names: what
was tuned was tuned on the first half. A line is borne out when what it says came again, in this session or
later: the trouble was met or its job run, the steps' commands went well. `--show` prints every line.

Without the folder, only sessions of our own with known outcomes are judged.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from common import ROOT  # noqa: F401 - puts the library on the path

from vector_memory.index.reader import read_exchanges, session_and_folder, transcripts_below
from vector_memory.observe.learning import outcomes, tasks, trails, trouble
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.trails import Trail
from vector_memory.observe.learning.trouble import Habit
from vector_memory.service.learning import guidance
from vector_memory.service.learning.observed_calls import cleaner, harvest

LABELS = Path(__file__).with_name("outcomes.json")
BIG_BYTES = 10_000_000


@dataclass(frozen=True)
class Session:
    """A session as it is gone through: when it began, and its tasks."""

    at: datetime
    tasks: list[Task]


def learned(path: str, known: set[str]) -> Session | None:
    """Return a transcript as a session, without the turns that are `known` from another; None without any."""
    read = harvest(read_exchanges(path, final=True), cleaner())
    turns = [turn for turn in read if not turn.order and turn.key not in known]
    known.update(turn.key for turn in turns)
    return Session(turns[0].started_at, outcomes.of_turns(turns, path)) if turns else None


def judge(found: dict[str, Task], show: bool) -> None:
    """Print how the tasks compare with the labels."""
    labels: dict[str, Any] = json.loads(LABELS.read_text())
    mine = {key: found[key] for key in labels if key in found}
    print(f"labelled {len(labels)}, found as tasks {len(mine)}")
    kinds = [(found[key].kind, kind) for key, (kind, _) in labels.items() if key in mine and kind]
    dones = [
        (found[key].done, done)
        for key, (_, done) in labels.items()
        if key in mine and done is not None
    ]
    right = sum(one == other for one, other in kinds)
    print(f"kind as labelled: {right} of {len(kinds)} ({right / max(1, len(kinds)):.2f})")
    told = [(one, other) for one, other in dones if one is not None]
    right = sum(one == other for one, other in told)
    print(f"done or not as labelled: {right} of {len(told)} ({right / max(1, len(told)):.2f}), "
          f"not told {len(dones) - len(told)}")  # fmt: skip
    undone = [one for one, other in told if not other]
    print(f"of {len(undone)} that were not done {sum(not one for one in undone)} are known as such")
    sure = [(found[key].done, done) for key, (_, done) in labels.items()
            if key in mine and done is not None and found[key].sure]  # fmt: skip
    right = sum(one == other for one, other in sure)
    print(f"where it is sure: {right} of {len(sure)} ({right / max(1, len(sure)):.2f})")
    for key, (kind, done) in labels.items() if show else ():
        one = found.get(key)
        if one and (one.kind != (kind or one.kind) or (done is not None and one.done != done)):
            print(
                f"  {key[:8]} labelled {kind} {done}, taken for {one.kind} {one.done} ({one.sure})"
            )


def replay(project: str, sessions: list[Session], show: bool) -> Counter[str]:
    """Go through the sessions of a project in the order of time; return how many starts there were with three
    tasks of a kind before, at how many anything was said, and how many lines were borne out."""
    counts: Counter[str] = Counter()
    ordered = sorted(sessions, key=lambda one: one.at)
    for session in ordered:
        before = [one for other in ordered for one in other.tasks if one.ended_at < session.at]
        before.sort(key=lambda one: one.at)
        if max(Counter(one.kind for one in before).values(), default=0) < 3:
            continue
        drawn, habits = trails.find(before, session.at), trouble.recurring(before)
        lines = guidance.start_lines(habits, drawn, session.at)
        later = [one for other in ordered for one in other.tasks if one.ended_at >= session.at]
        counts.update(starts=1, told=bool(lines), lines=len(lines))
        for line in lines:
            right = _is_borne_out(line, habits, drawn, later)
            counts["borne out"] += right
            counts["trouble"] += any(habit.line == line for habit in habits)
            counts["met again"] += any(
                habit.line == line and habit.sign == one.sign
                for habit in habits
                for task in later
                for one in task.trouble
            )
            if show:
                print(f"  {project[-24:]} {session.at:%Y-%m-%d} {'+' if right else '-'} {line}")
        if show and not lines:
            print(f"  {project[-24:]} {session.at:%Y-%m-%d} .")
    return counts


def _is_borne_out(line: str, habits: list[Habit], drawn: list[Trail], later: list[Task]) -> bool:
    """Whether what a line says came again in these tasks."""
    for habit in habits:
        if habit.line == line:
            return any(habit.job in task.jobs for task in later)
    for trail in drawn:
        if trail.text == line:
            called = [set(said.split()) for task in later for said in task.commands.values()]
            return all(any(set(one.split()) <= said for said in called) for one in trail.commands)
    return False


def half(project: str) -> str:
    """Return in which half a project is, by its name."""
    return "tuned on" if zlib.crc32(project.encode()) % 2 else "left out"


def timed(paths: list[str], most: int) -> None:
    """Print how long a session of about `most` bytes takes, made of copies of the largest one."""
    largest = max(paths, key=lambda path: Path(path).stat().st_size)
    raw = Path(largest).read_bytes().rstrip(b"\n") + b"\n"
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.jsonl"
        big.write_bytes(raw * max(1, most // len(raw)))
        started = time.process_time()
        session = learned(str(big), set())
        made = session.tasks if session else []
        took = time.process_time() - started
        print(
            f"a session of {big.stat().st_size / 1e6:.1f} MB, {len(made)} tasks: {took:.2f} s of processor time"
        )
    known = (made * 400)[:400]
    started = time.process_time()
    trails.find(known, datetime.now(timezone.utc))
    trouble.recurring(known)
    print(f"trails and trouble of 400 tasks: {(time.process_time() - started) * 1000:.0f} ms")


def scripted(show: bool) -> None:
    """Judge sessions of our own: each says what became of it."""
    at = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)
    right, all_of_them = Counter[str](), 0
    for prompt, kind, steps, following, done in SCRIPTS:
        made = [
            tasks.TaskCall(what, job, job, ok, at=at + timedelta(seconds=n))
            for n, (what, job, ok) in enumerate(steps)
        ]
        turn = tasks.TaskTurn("k", prompt, at, at + timedelta(minutes=1), tuple(made))
        task = outcomes.task_of([turn], following)
        all_of_them += 1
        right["kind"] += task.kind == kind
        right["done"] += task.done == done
        if show and (task.kind, task.done) != (kind, done):
            print(f"  {prompt!r}: {kind} {done}, taken for {task.kind} {task.done}")
    print(f"scripted: {all_of_them}; kind {right['kind']}, done {right['done']} as written")


_EDIT, _TEST, _FAIL = ("edit", "a.py", True), ("run", "pytest", True), ("run", "pytest", False)
_READ, _LINT = ("read", "", True), ("run", "just lint", False)
SCRIPTS: list[tuple[str, str, list[tuple[str, str, bool]], str, bool | None]] = [
    ("Fix the login", "fix", [_READ, _FAIL, _EDIT, _TEST], "", True),
    ("Fix the login", "fix", [_READ, _EDIT, _FAIL], "", False),
    ("Fix the login", "fix", [_EDIT, _TEST], "no, it still shows the old page", False),
    ("Fix the login", "fix", [_EDIT, _FAIL], "great, that one is expected to fail. thanks", True),
    ("Fix the login", "fix", [_READ], "", None),
    ("Add a dark mode to the settings page", "feature", [_EDIT], "Next, add a logo.", True),
    ("Add a dark mode to the settings page", "feature", [_EDIT, _TEST, _LINT], "", False),
    ("Could you make the list sortable?", "feature", [_EDIT, _TEST], "", True),
    ("Why is the cache cold after a start?", "question", [_READ], "", True),
    ("How do I run only one test?", "question", [_READ], "that's wrong, there is no such option", False),
    ("Rename the class Foo to Bar", "refactor", [_EDIT, _TEST], "", True),
    ("Please move the helpers to a module of their own", "refactor", [_EDIT, _FAIL], "", False),
    ("Write tests for the importer", "test", [("edit", "tests/test_a.py", True), _TEST], "", True),
    ("Update the README with the new options", "docs", [("edit", "README.md", True)], "lgtm", True),
    ("Set up ruff and a pre-commit hook", "setup", [_EDIT, ("run", "npm install", True)], "", True),
    ("Review my last commit", "review", [_READ], "", True),
    ("Commit and push this", "release", [("run", "git commit", True), ("run", "git push", False)], "", False),
    ("The build is broken since the upgrade, please look into it", "fix", [_EDIT, _TEST], "", True),
    ("It crashes when the file is empty", "fix", [_EDIT], "it still crashes", False),
    ("Extract the parser into its own package", "refactor", [_EDIT, _TEST], "you forgot the imports", False),
]  # fmt: skip


def main() -> None:
    """Print what is found, how well, how often it would be told, and how long it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcripts", type=Path, nargs="?")
    parser.add_argument("--repositories", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    scripted(given.show)
    if given.transcripts is None:
        return
    given.transcripts = given.transcripts.resolve()
    paths = transcripts_below(str(given.transcripts))
    started = time.process_time()
    projects: dict[str, list[Session]] = defaultdict(list)
    found: dict[str, Task] = {}
    known: set[str] = set()
    for path in paths:
        session = learned(path, known)
        if session:
            below = Path(path).relative_to(given.transcripts).parts[0]
            projects[below if given.repositories else session_and_folder(path)[1] or path].append(
                session
            )
            found.update((one.key, one) for one in session.tasks)
    took = time.process_time() - started
    size = sum(Path(path).stat().st_size for path in paths) / 1e6
    print(
        f"{len(paths)} transcripts, {size:.1f} MB, {len(projects)} projects: {len(found)} tasks in {took:.2f} s of processor time"
    )
    print("kinds:", dict(Counter(one.kind for one in found.values()).most_common()))
    print("done:", dict(Counter(str(one.done) for one in found.values()).most_common()))
    judge(found, given.show)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for project, sessions in sorted(projects.items()):
        counts[half(project)].update(replay(project, sessions, given.show))
    for name, one in sorted(counts.items()):
        print(f"{name}: of {one['starts']} starts {one['told']} were told anything; "
              f"of {one['lines']} lines {one['borne out']} were borne out; "
              f"of {one['trouble']} troubles {one['met again']} were met again")  # fmt: skip
    timed(paths, BIG_BYTES)


if __name__ == "__main__":
    main()
