"""What comes unasked: is it worth reading? Real prompts are lived through in the order of time, each with
the memory of what its project had said until then, and what the hook shows is compared with labels.

A project's sessions that have no labelled prompt are backfilled when they end; the others are captured
turn by turn, as hooks do it, with the transcript cut there. A note has the label of the candidates of its
session whose words it has, 2 if one of them is a 2; what nobody labelled counts 0. Goals: of the notes shown 25 % a 2 (it would have helped)
and 65 % at least a 1 (on topic), at most 2 % misleading; a 2 at 45 % of the prompts that have one; at most
half of the prompts at which it spoke in vain, which is told in two ways: uncalled for, where no candidate
is a 2, and with nothing on topic, where no note is a 1.

Whether notes were used, as the product itself judges, is compared with the labels: of the notes that were
shown, and of all labelled candidates, as if each had been shown. With `--own HOME` nothing is replayed: the
judgements of an installation are counted.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from common import show
from replay import (
    House,
    Share,
    data_key,
    known_of,
    labelled_options,
    read_lines,
    split_rows,
    unpacked,
)
from timeline import Happening, Label, Prompt, Session, happenings, sessions_of

from vector_memory.index.noise import plain_prompt
from vector_memory.index.reader import read_exchanges
from vector_memory.journal.state import State
from vector_memory.journal.use_labels import BY
from vector_memory.model import Memory
from vector_memory.retrieve import gate
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.session_memory import last_turn
from vector_memory.service.base.shown_notes import PROMPT, ShownNote
from vector_memory.service.inject.prompt_recall import (
    CONTEXT_CHARS,
    MAX_PROMPT_CHARS,
    session_before,
)
from vector_memory.service.learning.note_uses import TURNS, Talk
from vector_memory.system import json_in
from vector_memory.system.paths import Home
from vector_memory.text import fence, prompts
from vector_memory.text.traces import is_used

SAME_WORDS, CONTAINED = 0.6, 0.8
"""The share of the shorter one's words that a note and a labelled candidate have in common, and of a
candidate's words from which it stands in a note."""
_ID = re.compile(r"^- \d{4}-\d\d-\d\d · .*?\b([0-9a-f]{8})\b")
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Asked:
    """What is wanted of a run: with which transcripts, linked to which installed home, whether with all
    candidates, whether a session's start is answered too (what it shows, no prompt shows again), and with which
    weights of the gate, by project: a file of `gate.py`, "" for the shipped ones."""

    data: str
    home: str
    with_candidates: bool = False
    with_starts: bool = True
    weights: str = ""


@dataclass
class Shown:
    """A note as it was shown, and its label; None where nobody labelled it."""

    text: str
    id: str = ""
    session: str = ""
    kind: str = ""
    label: int | None = None
    used: bool | None = None


@dataclass
class Answer:
    """What a labelled prompt was given: by its own hook, and by the start of its session just before.

    Attributes:
        has_best: whether a candidate of it is labelled 2.
        tokens: of what its hook printed.
        as_if_shown: of each labelled candidate of another session its label, and whether it would count as used.
    """

    id: str
    project: str
    session: str
    prompt: str
    has_best: bool
    tokens: int
    notes: list[Shown]
    at_start: list[Shown] = field(default_factory=list)
    start_tokens: int = 0
    candidates: list[dict[str, Any]] = field(default_factory=list)
    as_if_shown: list[tuple[int, bool]] = field(default_factory=list)

    @property
    def labels(self) -> list[int]:
        """The labels of its hook's notes, 0 for none."""
        return [note.label or 0 for note in self.notes]


def _counts(test: Callable[[int], bool]) -> Share[Answer]:
    return Share(lambda one: sum(map(test, one.labels)), lambda one: len(one.notes))


SHARES: dict[str, Share[Answer]] = {
    "spoke %": Share(lambda one: bool(one.notes), lambda one: 1),
    "notes": Share(lambda one: len(one.notes), lambda one: 1, percent=False, digits=1),
    "2 %": _counts(lambda label: label == 2),
    "≥ 1 %": _counts(lambda label: label >= 1),
    "misleading %": _counts(lambda label: label < 0),
    "unlabelled %": Share(
        lambda one: sum(note.label is None for note in one.notes), lambda one: len(one.notes)
    ),
    "coverage %": Share(lambda one: one.has_best and 2 in one.labels, lambda one: one.has_best),
    "with the start %": Share(
        lambda one: one.has_best and any(note.label == 2 for note in (*one.notes, *one.at_start)),
        lambda one: one.has_best,
    ),
    "uncalled for %": Share(
        lambda one: bool(one.notes) and not one.has_best, lambda one: bool(one.notes)
    ),
    "nothing on topic %": Share(
        lambda one: bool(one.notes) and max(one.labels) < 1, lambda one: bool(one.notes)
    ),
    "tokens": Share(lambda one: one.tokens, lambda one: 1, percent=False),
}


def _pairs(one: Answer) -> list[tuple[int, bool]]:
    return [(note.label or 0, note.used) for note in one.notes if note.used is not None]


def _agreement(pairs: Callable[[Answer], list[tuple[int, bool]]]) -> dict[str, Share[Answer]]:
    """Return how well what was used agrees with labels."""

    def share(
        test: Callable[[int, bool], bool], among: Callable[[int, bool], bool]
    ) -> Share[Answer]:
        return Share(
            lambda one: sum(test(*pair) and among(*pair) for pair in pairs(one)),
            lambda one: sum(among(*pair) for pair in pairs(one)),
        )

    return {
        "used %": share(lambda label, used: used, lambda label, used: True),
        "2 of used %": share(lambda label, used: label == 2, lambda label, used: used),
        "2 of unused %": share(lambda label, used: label == 2, lambda label, used: not used),
        "≥ 1 of used %": share(lambda label, used: label >= 1, lambda label, used: used),
        "≥ 1 of unused %": share(lambda label, used: label >= 1, lambda label, used: not used),
        "used of 2 %": share(lambda label, used: used, lambda label, used: label == 2),
    }


class Replay:
    """One project, lived through."""

    def __init__(self, house: House, project: str, asked: Asked) -> None:
        self._house = house
        self._project = project
        self._asked = asked
        self._waiting: list[Session] = []
        self._started: dict[str, str] = {}
        self._answers: dict[tuple[str, int], Answer] = {}

    def run(self, happened: Sequence[Happening]) -> Iterator[Answer]:
        """Do what happened, in its order, and yield what the labelled prompts were given."""
        for one in happened:
            if one.what == "backfill":
                self._waiting.append(one.session)
                continue
            self._house.now = one.at
            self._read_waiting()
            if one.what == "start" and self._asked.with_starts:
                told = self._hook("SessionStart", one.session, source="startup")
                self._started[one.session.name] = told
            elif one.what == "prompt":
                yield from self._prompt(one.session, one.number)
            elif one.what == "stop":
                self._stop(one.session, one.number)
            elif one.what == "end":
                self._hook("SessionEnd", one.session, reason="other")
                self._house.settle()

    def _hook(self, event: str, session: Session, **fields: Any) -> str:
        return self._house.hook(
            event, session.folder, session_id=session.name, transcript_path=session.path, **fields
        )

    def _read_waiting(self) -> None:
        """Backfill the sessions that have ended since the last happening."""
        if not self._waiting:
            return
        for session in self._waiting:
            _write(session, 0, len(session.lines), last=max(session.times).timestamp())
        paths = [session.path for session in self._waiting]
        self._house.ask("backfill", paths=paths, wait=False)
        self._house.settle()
        self._waiting = []

    def _prompt(self, session: Session, number: int) -> Iterator[Answer]:
        prompt = session.prompts[number]
        _write(session, 0, prompt.line)
        known = self._candidates(session, prompt) if self._asked.with_candidates else []
        # The same words twice within two seconds would count as one event that came twice.
        told = self._hook("UserPromptSubmit", session, prompt=prompt.text, line=prompt.line)
        if prompt.label is None:
            return
        answer = Answer(
            id=prompt.label["id"],
            project=self._project,
            session=session.name,
            prompt=prompt.text,
            has_best=any(one["label"] == 2 for one in prompt.label["candidates"]),
            tokens=fence.tokens(told) if told else 0,
            notes=noted(self._house, told, prompt.label),
            candidates=known,
        )
        if number == 0:
            started = self._started.get(session.name, "")
            answer.at_start = noted(self._house, started, prompt.label)
            answer.start_tokens = fence.tokens(started) if started else 0
        self._answers[session.path, number] = answer
        yield answer

    def _stop(self, session: Session, number: int) -> None:
        later = session.prompts[number + 1 : number + 2]
        end = later[0].line if later else len(session.lines)
        _write(session, 0, end)
        last = session.last_answer(session.prompts[number].line, end)
        self._hook("Stop", session, last_assistant_message=last, line=end)
        self._house.settle()
        answer, prompt = self._answers.get((session.path, number)), session.prompts[number]
        if answer is not None and prompt.label is not None:
            answer.as_if_shown = list(_as_if_shown(session, prompt.at, prompt.label))

    def _candidates(self, session: Session, prompt: Prompt) -> list[dict[str, Any]]:
        """Return what the ranking knows of the best candidates of a prompt."""
        ctx, said = self._house.ctx, prompts.Prompt(plain_prompt(prompt.text))
        text = said.text[:MAX_PROMPT_CHARS]
        asker = asker_at(ctx, session.folder)
        before = last_turn(ctx.running, session.id).words
        if asker is None or prompt.label is None:
            return []
        if before and said.is_about_before:
            text += "\n" + before[-CONTEXT_CHARS:]
        moment = gate.Moment(self._house.now, not before, session_before(asker, session.id))
        return [
            {
                **known_of(hit, self._house.now),
                "label": label_of(hit.memory, prompt.label),
                "gate": gate.features(hit, moment),
            }
            for hit in self._house.candidates(text, asker, session.id)
        ]


def _as_if_shown(session: Session, at: datetime, label: Label) -> Iterator[tuple[int, bool]]:
    """Yield a prompt's labelled candidates of other sessions: the label, and whether it was used."""
    talk = Talk([one for one in read_exchanges(session.path) if not one.is_subagent], "")
    for one in label["candidates"]:
        if one["session"] != session.name:
            before, after, _ = talk.around_note(
                ShownNote(one["id"], one["text"], at, PROMPT), TURNS
            )
            yield one["label"], is_used(one["text"], before, after)


def noted(house: House, told: str, label: Label) -> list[Shown]:
    """Return the notes of what a hook printed, each with its label."""
    journal = house.ctx.global_shelf().journal
    made = []
    for note in notes_of(told):
        found = _ID.match(note)
        memories = journal.find(found.group(1)) if found else []
        if not memories:
            made.append(Shown(note))
            continue
        memory = memories[0]
        value = label_of_parts(label_of(memory, label), *labels_within(note, memory, label))
        made.append(Shown(note, memory.id, memory.source.session, memory.kind, value))
    return made


def labels_within(note: str, memory: Memory, label: Label) -> list[int]:
    """Return the labels of a prompt's candidates that stand in a note: other passages of its memory's exchange
    may have been told with it."""
    said = set(_WORD.findall(note.casefold()))
    return [
        one["label"]
        for one in (*label["candidates"], *label["beyond_8"])
        if json_in.session_id(one["session"]) == memory.source.session
        and (words := set(_WORD.findall(one["text"].casefold())))
        and len(words & said) >= CONTAINED * len(words)
    ]


def label_of_parts(*labels: int | None) -> int | None:
    """Return the label of a note of several parts: 2 if a part would have helped, else -1 if one misleads."""
    known = [label for label in labels if label is not None]
    if 2 not in known and -1 in known:
        return -1
    return max(known, default=None)


def notes_of(told: str) -> list[str]:
    """Return the notes in what a hook printed: each from its first line to the next one's."""
    found: list[str] = []
    for line in told.split("\n"):
        if line.startswith("- "):
            found.append(line)
        elif line.startswith("  ") and found:
            found[-1] += "\n" + line
    return found


def label_of(memory: Memory, label: Label) -> int | None:
    """Return the label of a prompt's candidate that a memory is or is a part of: of the same session, and
    with the same words, however it was cut. None where there is none."""
    best: tuple[float, float, int] | None = None
    own = set(_WORD.findall(memory.text.casefold()))
    for one in (*label["candidates"], *label["beyond_8"]):
        words = set(_WORD.findall(one["text"].casefold()))
        its = json_in.session_id(one["session"])
        if its != memory.source.session or not own or not words:
            continue
        shared = len(own & words)
        if shared >= SAME_WORDS * min(len(own), len(words)):
            near = (shared / len(own | words), float(one["kind"] == memory.kind), one["label"])
            best = max(best, near, key=lambda pair: pair[:2]) if best else near
    return best[2] if best else None


def _write(session: Session, start: int, end: int, last: float | None = None) -> None:
    """Write a transcript up to a line; `last` is when it was written to, in seconds since 1970."""
    os.makedirs(os.path.dirname(session.path), exist_ok=True)
    with open(session.path, "w", encoding="utf-8") as file:
        file.write(session.written(start, end))
    if last is not None:
        os.utime(session.path, (last, last))


def live(labels: list[Label], asked: Asked) -> list[Answer]:
    """Live through one project in a scratch home, and return what its prompts were given."""
    if asked.weights:
        left_out = json.loads(Path(asked.weights).read_text(encoding="utf-8"))
        gate.HELPS, gate.ON_TOPIC = left_out[labels[0]["project"]]
    with tempfile.TemporaryDirectory(prefix="vector-memory-replay-") as root:
        sessions = sessions_of(labels, asked.data, root)
        # One repository: its folders are one project, as they were where this was recorded.
        os.makedirs(os.path.join(root, labels[0]["project"], ".git"))
        house = House(root, asked.home)
        try:
            replay = Replay(house, labels[0]["project"], asked)
            answers = list(replay.run(happenings(sessions)))
            _judge(answers, house)
            return answers
        finally:
            house.close()


def _judge(answers: Sequence[Answer], house: House) -> None:
    """Give the notes that were shown what the product found of their use."""
    judged = {(one.session, one.memory): one.used for one in house.ctx.state.use_labels()}
    for answer in answers:
        for note in (*answer.notes, *answer.at_start):
            note.used = judged.get((json_in.session_id(answer.session), note.id))


def measure(labels: list[Label], asked: Asked, jobs: int) -> list[Answer]:
    """Return what all labelled prompts were given, project after project, `jobs` of them at once."""
    projects = list(dict.fromkeys(label["project"] for label in labels))
    groups = [[one for one in labels if one["project"] == name] for name in projects]
    # The largest first: the small ones fill what time is left.
    groups.sort(key=len, reverse=True)
    work = partial(live, asked=asked)
    with ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        return [answer for answers in pool.map(work, groups) for answer in answers]


def starts(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return a row about the starts of sessions, whose notes are labelled for the first prompt alone."""
    first = [one for one in answers if one.start_tokens]
    notes = [note for one in first for note in one.at_start]
    known = [note.label for note in notes if note.label is not None]
    return {
        "starts that spoke": len(first),
        "notes": len(notes),
        "labelled": len(known),
        "2": sum(label == 2 for label in known),
        "1": sum(label == 1 for label in known),
        "misleading": sum(label < 0 for label in known),
        "tokens": round(sum(one.start_tokens for one in first) / max(1, len(first))),
    }


def own_uses(home: str, as_json: bool) -> None:
    """Count what an installation's sessions used of what they were shown; nothing is written there."""
    with tempfile.TemporaryDirectory(prefix="vector-memory-own-") as scratch:
        copy = os.path.join(scratch, "state.db")
        source = sqlite3.connect(f"file:{Home(home).state_db}?mode=ro", uri=True)
        with contextlib.closing(source), contextlib.closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        state = State.open(copy)
        try:
            for by in BY:
                counts = state.use_counts(by, datetime(1970, 1, 1, tzinfo=timezone.utc))
                rows = [{by: name, **asdict(count)} for name, count in counts.items()]
                show(f"Used, by {by}", rows, as_json)
        finally:
            state.close()


def main() -> None:
    """Measure once."""
    parser = labelled_options(__doc__ or "", required=False)
    parser.add_argument("--notes", default="", help="a file for each prompt's notes, as JSON lines")
    parser.add_argument("--project", default="", help="this project of the labels alone")
    parser.add_argument("--no-starts", action="store_true", help="leave sessions' starts out")
    parser.add_argument("--weights", default="", help="what `gate.py --left-out` wrote")
    parser.add_argument("--jobs", type=int, default=2, help="projects at once")
    parser.add_argument("--own", default="", help="a data home: count what was used there")
    asked = parser.parse_args()
    if asked.own:
        own_uses(asked.own, asked.json)
        return
    if not asked.eval:
        parser.error("--eval or --own is needed")
    labels = read_lines(Path(asked.eval, "labels", "relevance.jsonl"))
    labels = [one for one in labels if asked.project in ("", one["project"])]
    with tempfile.TemporaryDirectory(prefix="vector-memory-eval-") as scratch:
        folder = asked.keep or scratch
        starts_too = "" if not asked.no_starts else "-no-starts"
        own = "-left-out" if asked.weights else ""
        name = f"relevance-{data_key(asked.eval)}{asked.project}{starts_too}{own}.jsonl"
        kept = Path(folder, name)
        if asked.keep and kept.exists():
            answers = [_read(one) for one in read_lines(kept)]
        else:
            data = unpacked(asked.eval, folder)
            wanted = bool(asked.features or asked.keep)
            run = Asked(data, asked.home, wanted, not asked.no_starts, asked.weights)
            answers = measure(labels, run, asked.jobs)
            if asked.keep:
                save(kept, map(asdict, answers))
    if asked.features:
        save(Path(asked.features), map(features_of, answers))
    if asked.notes:
        save(Path(asked.notes), map(_told, answers))
    show("Shown unasked", split_rows(answers, lambda one: one.project, SHARES), asked.json)
    show("At the start", [starts(answers)], asked.json)
    for title, pairs in (
        ("Used, of what was shown", _pairs),
        ("Used, as if each candidate had been shown", lambda one: one.as_if_shown),
    ):
        show(title, split_rows(answers, lambda one: one.project, _agreement(pairs)), asked.json)


def features_of(answer: Answer) -> dict[str, Any]:
    """Return a prompt's candidates with what was shown of them, as `gate.py` reads them."""
    told = {name: getattr(answer, name) for name in ("id", "project", "session", "prompt")}
    return {**told, "shown": [note.id for note in answer.notes], "candidates": answer.candidates}


def _told(answer: Answer) -> dict[str, Any]:
    return {**asdict(answer), "candidates": len(answer.candidates)}


def _read(line: dict[str, Any]) -> Answer:
    notes = {name: [Shown(**note) for note in line[name]] for name in ("notes", "at_start")}
    return Answer(**{**line, **notes})


def save(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write objects as JSON lines."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


if __name__ == "__main__":
    main()
