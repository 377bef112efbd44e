"""Tasks: what a user asked for and what was done until something else was asked for. Pure: no clock, no I/O.

A turn is a prompt with the calls that came of it; a task is one turn, or several where the later ones
go on with the same ("yes", "still fails", "also do it for the tests").
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from vector_memory.text import prompts, tables
from vector_memory.text.failures import failure

_TABLE = "\n".join(tables.lines("patterns", os.path.dirname(__file__))).replace("\n|", "|")
PATTERNS = {
    name: re.compile(pattern)
    for name, _, pattern in (line.partition(" = ") for line in _TABLE.splitlines())
}
"""The patterns by which learning reads requests, verdicts and outputs, from the table `patterns.txt`."""
READ, EDIT, RUN, OTHER = "read", "edit", "run", "other"
"""What a call does: looks at something, changes a file, runs a command, or anything else."""
SKILL = "skill"
"""The job of a call of a skill."""
NEW_AFTER = timedelta(hours=6)
"""A pause after which the next prompt begins something else, whatever it says."""
MOST_TURNS = 40
SHORT_WORDS = 12
TROUBLE_CHARS, LOOKED_CHARS = 100, 600
"""Characters of a prompt in which a report of trouble is looked for, and the kind of task that it begins."""
HEAD_CHARS, NEAR_CHARS = 30, 160
_KINDS = {name[5:]: words for name, words in PATTERNS.items() if name.startswith("kind_")}
KINDS = tuple(_KINDS)
CHANGING = frozenset({"fix", "test", "docs", "refactor", "setup", "feature"})
"""Kinds that are about changing files."""


class TaskCall(NamedTuple):
    """One call of a tool, or one command of its line.

    Attributes:
        what: READ, EDIT, RUN or OTHER.
        job: of a command, what it does (`pytest`, `npm run build`).
        said: how the command is called here, "" for one that says nothing of the next time; or the file, or the
            skill.
        folder: the one below the session's that the command changes to, "" for none.
        ok: whether it went well; None where that is not known or does not matter.
        error: the line that says what went wrong, and `sign`, by what it is known again.
        end: by what the failure was ended: EDIT, or words for the command that did; "" for nothing.
        seconds: how long it took, 0 where that is not known.
    """

    what: str
    job: str = ""
    said: str = ""
    ok: bool | None = None
    error: str = ""
    sign: str = ""
    end: str = ""
    at: datetime | None = None
    seconds: float = 0.0
    folder: str = ""

    @property
    def line(self) -> str:
        """`said`, with the folder: from another one it would be another command."""
        return f"cd {self.folder} && {self.said}" if self.said and self.folder else self.said


class TaskTurn(NamedTuple):
    """A prompt and what was done for it.

    Attributes:
        key: its name in whichever copy of the transcript.
        model: which one answered.
        order: by what a subagent's prompt is known, "" for the session itself.
        orders: those that it gave, each with the kind of subagent that it went to.
        terms: those of the prompt, as `Task` has them.
        opening: how the prompt begins, as it may be told; "" where it may not.
    """

    key: str
    prompt: str
    started_at: datetime
    ended_at: datetime
    calls: tuple[TaskCall, ...] = ()
    is_interrupted: bool = False
    model: str = ""
    order: str = ""
    orders: tuple[tuple[str, str], ...] = ()
    terms: tuple[str, ...] = ()
    opening: str = ""


def group(turns: Iterable[TaskTurn]) -> list[list[TaskTurn]]:
    """Return the turns of a session as tasks, in order; each has at least one turn."""
    groups: list[list[TaskTurn]] = []
    for turn in turns:
        if not groups or len(groups[-1]) >= MOST_TURNS or _begins_task(turn, groups[-1][-1]):
            groups.append([])
        groups[-1].append(turn)
    return groups


def _begins_task(turn: TaskTurn, previous: TaskTurn) -> bool:
    if turn.started_at - previous.ended_at > NEW_AFTER and turn.prompt:
        return True
    if previous.is_interrupted:
        # Who breaks something off says next how it is to be done, more often than not.
        return bool(PATTERNS["begins"].match(request_of(turn.prompt)))
    return starts_another(turn.prompt)


def asking(turns: Sequence[TaskTurn]) -> TaskTurn:
    """Return the turn whose prompt says what a task is: its first, but none that speaks to the client."""
    speaking = (turn for turn in turns if turn.prompt and not _is_for_client(turn.prompt))
    return next(speaking, turns[0])


def _is_for_client(text: str) -> bool:
    return text.startswith("! ") or bool(PATTERNS["client_command"].match(text))


def starts_another(prompt: str) -> bool:
    """Whether a prompt starts something of its own, rather than going on with what was asked before."""
    text = request_of(prompt)
    if not text or _is_for_client(text):
        return False
    if text.startswith("/"):
        return True
    if prompts.Prompt(text).needs_nothing or complains(prompt):
        return False
    if PATTERNS["begins"].match(text) or len(text.split()) > SHORT_WORDS:
        return True
    return not (PATTERNS["goes_on"].match(text) or prompts.Prompt(text).points_back)


def request_of(prompt: str) -> str:
    """Return what a prompt asks for, without the thanks for what was done before."""
    text = prompt.strip()
    for _ in range(3):
        if not PATTERNS["praise"].match(text):
            break
        praise = PATTERNS["praise_end"].match(text)
        text = text[praise.end() :].strip() if praise else ""
    return text


def praises(prompt: str) -> bool:
    """Whether a prompt says that what was done before is good."""
    return bool(PATTERNS["praise"].match(prompt.strip())) and not complains(prompt)


def complains(prompt: str) -> bool:
    """Whether a prompt says that what was done before is not what it should be. Only how it begins
    counts: what follows may be a task that speaks of something broken."""
    text = prompt.strip()
    if PATTERNS["begins"].match(text):
        return False
    return bool(PATTERNS["complaint"].search(text[:200])) or _is_output(text)


def reports_trouble(prompt: str) -> bool:
    """Whether a prompt begins by saying that something is broken, rather than by asking for anything: what
    was done before was most likely not all right."""
    text = prompt.strip()
    begins = PATTERNS["begins"].match(text)
    return not begins and bool(PATTERNS["trouble"].search(text[:TROUBLE_CHARS]))


def _is_output(text: str) -> bool:
    """Whether a prompt is hardly more than an error that somebody was shown."""
    if "\n" not in text:
        return False
    if PATTERNS["terminal"].match(text):
        return bool(PATTERNS["errorish"].search(text[:20_000]))
    return bool(failure(text[:4_000])) and len(text.split("\n", 1)[0].split()) <= SHORT_WORDS


def kind_of(prompt: str, is_change: bool = False) -> str:
    """Return what kind of task a prompt starts: one of KINDS, "" where its words do not say.

    The verb that it begins with says most; else what says most of the words near its start.

    Args:
        is_change: files were changed for it, so that it was more than a question.
    """
    text = PATTERNS["lead"].sub("", request_of(prompt))[:LOOKED_CHARS]
    text = PATTERNS["paths"].sub(" ", text)
    if not text:
        return ""
    if PATTERNS["asks"].match(text) and "?" in text and not is_change:
        return "question"
    matches = [
        (match.start(), rank, name)
        for rank, (name, words) in enumerate(_KINDS.items())
        if (match := words.search(text)) and not (is_change and name == "question")
    ]
    if not matches:
        return "question" if text.rstrip().endswith("?") and not is_change else ""
    start, _, name = min(matches)
    near_kinds = [(rank, kind) for at, rank, kind in matches if at <= NEAR_CHARS]
    if start > 0 and near_kinds:
        return min(near_kinds)[1]
    # "Add tests for …", "write the docs of …": what is made says more.
    kinds = [(at, kind) for at, _, kind in matches if kind in ("test", "docs") and at <= HEAD_CHARS]
    return min(kinds)[1] if kinds and name in ("feature", "question") else name


def classify(turns: Sequence[TaskTurn]) -> str:
    """Return the kind of a task: from the words it began with, corrected by what was done."""
    prompt = asking(turns).prompt
    kind = kind_of(prompt)
    calls = [call for turn in turns for call in turn.calls]
    edited_files = [
        call.said for call in calls if call.what == EDIT and call.said and call.ok is not False
    ]
    if not edited_files:
        jobs = [call.job for call in calls if call.what == RUN]
        if kind != "review" and not jobs and not PATTERNS["begins"].match(request_of(prompt)):
            return "question"
        return kind or "question"
    if kind in ("", "question", "review", "feature", "release"):
        if all(PATTERNS["doc_file"].search(file) for file in edited_files):
            return "docs"
        if all(PATTERNS["test_file"].search(file) for file in edited_files) and kind != "release":
            return "test"
    if kind in ("", "question", "review"):
        kind = kind_of(prompt, is_change=True)
    return kind or "feature"
