"""`skill_discovery`: steps that led somewhere again and again, as skills that could be saved; and steps as a file that
the client reads, a skill or a command, which is shown for review and never written here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from vector_memory.observe.learning import trails
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.patterns import PATTERNS
from vector_memory.observe.learning.tasks import EDIT, READ
from vector_memory.service.base import messages, offered_commands
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share
from vector_memory.text.harmless import visible

LEAST_SESSIONS, LONGEST = 2, 5
SAID = {EDIT: "Change the files.", READ: "Read what is concerned."}
PROCEDURE, COMMAND, SKILL = "procedure", "command", "skill"
FORMATS = (PROCEDURE, COMMAND, SKILL)
MOST_NAME, MOST_DESCRIPTION = 64, 200
"""Characters of a skill's name, and of what its description says at most."""
_UNFIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class DiscoveryRequest(messages.Request):
    """Skills are looked for in the tasks since a time, each of at least so many (`least`) that were done."""

    since: datetime | None = messages.moment()
    least: int = messages.number(3, 2, 100)
    k: int = messages.number(5, 1, 50)


@dataclass(frozen=True)
class SkillView:
    """A skill that could be saved.

    Attributes:
        steps: in order: `edit`, `read` or how a command is called here.
        won: in how many tasks that took them it is sure that they were done, of those of which it is known.
        tasks: in how many tasks they were taken that were done, for all that is known; `sessions` in how many.
        kinds: the kinds of those tasks.
    """

    name: str
    steps: list[str]
    won: Share
    tasks: int
    sessions: int
    kinds: list[str]
    path: str
    text: str


def discover(ctx: Context, request: DiscoveryRequest) -> ledger.Answer:
    """Return the steps that tasks took one after the other and were done, often enough in several sessions.

    Returns:
        The `skills`, those with most successes first; nothing was written.
    """
    known = ledger.tasks_of(messages.asker_of(ctx, request), request.since)
    taken: defaultdict[tuple[str, ...], dict[str, Task]] = defaultdict(dict)
    for task in known:
        for steps in _runs(task):
            taken[steps][task.key] = task
    found = [(steps, list(tasks.values())) for steps, tasks in taken.items()]
    found = [one for one in found if _is_enough(one[1], request.least)]
    found.sort(key=lambda one: (-len(one[1]) * len(one[0]), one[0]))
    kept: list[tuple[tuple[str, ...], list[Task]]] = []
    for steps, tasks in found:
        if not any(_within(steps, longer) or _within(longer, steps) for longer, _ in kept):
            kept.append((steps, tasks))
    folder = "" if request.all_projects else ledger.project_of(ctx, request).place.root
    views = [_view(steps, tasks) for steps, tasks in kept]
    safe = [
        view
        for view in views
        if offered_commands.are_harmless([one for one in view.steps if one not in SAID], folder)
    ]
    told = f"{len(safe)} skills in {len(known)} tasks. Save what you want under its path: nothing was written."
    none = f"{NOT_ENOUGH}: no steps were done {request.least} times in {LEAST_SESSIONS} sessions, in {len(known)} tasks."
    return ledger.answer(ctx, told if safe else none, skills=safe[: request.k])


def _is_enough(tasks: Sequence[Task], least: int) -> bool:
    done = [one for one in tasks if one.done]
    return len(done) >= least and len({one.session for one in done}) >= LEAST_SESSIONS


def _runs(task: Task) -> Iterator[tuple[str, ...]]:
    """Yield the runs of steps of a task that hold a command whose like comes again, each once."""
    passing = PATTERNS["of_the_moment"]
    stages = [one for one in task.stages if one in SAID or not passing.fullmatch(one)]
    stages = [one for one in stages if not one.endswith(" -")]
    seen = {
        tuple(stages[start : start + size])
        for size in range(2, LONGEST + 1)
        for start in range(len(stages) - size + 1)
    }
    yield from (one for one in seen if any(step not in SAID for step in one))


def _within(steps: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    size = len(steps)
    return any(longer[start : start + size] == steps for start in range(len(longer) - size + 1))


def _view(steps: tuple[str, ...], tasks: Sequence[Task]) -> SkillView:
    won, done = ledger.done_of(tasks), [one for one in tasks if one.done]
    said = [one if one in SAID else trails.usual(one, done) for one in steps]
    sessions, kinds = len({one.session for one in done}), sorted({one.kind for one in done})
    name = "-".join(one for one in steps if one not in (EDIT, READ))
    lines = [SAID.get(one) or f"Run `{one}`." for one in said]
    evidence = (
        f"Seen in {len(done)} tasks that were done, in {sessions} sessions; sure: {won.told}."
    )
    description = f"Use for {', '.join(kinds)} here: {' → '.join(said)}."
    made = skill_file(name, description, lines, SKILL, evidence)
    return SkillView(name_of(name), said, won, len(done), sessions, kinds, made.path, made.text)


@dataclass(frozen=True)
class SkillFile:
    """A file that could be saved, below the project's folder, and its text."""

    path: str
    text: str


def name_of(words: str) -> str:
    """Return words as a skill's name: small letters, digits and hyphens."""
    return _UNFIT.sub("-", words.lower()).strip("-")[:MOST_NAME].strip("-") or "steps"


def skill_file(
    name: str, description: str, steps: Sequence[str], kind: str, evidence: str = ""
) -> SkillFile:
    """Return steps as a file.

    Args:
        kind: COMMAND or SKILL.
        evidence: what the steps stand on, "" for somebody's word.
    """
    named, said = name_of(name), _flat(description)[:MOST_DESCRIPTION]
    head = [f"description: {_quoted(said)}"]
    path = f".claude/commands/{named}.md"
    if kind == SKILL:
        head, path = [f"name: {named}", *head], f".claude/skills/{named}/SKILL.md"
    lines = [f"{number}. {_flat(step)}" for number, step in enumerate(steps, 1)]
    close = ["", _flat(evidence)] if evidence else []
    rest = "Stop at the first step that fails, and say which one it was."
    return SkillFile(path, "\n".join(["---", *head, "---", "", *lines, "", rest, *close]) + "\n")


def _flat(text: str) -> str:
    return " ".join(visible(text).split())


def _quoted(text: str) -> str:
    """Return a text as YAML writes one that may hold anything."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
