"""The tasks that are kept of sessions, as tools for thinking read them; and what an agent reports itself,
which counts half and proves nothing alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from math import log

from vector_memory import config
from vector_memory.config import Settings
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import commands
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import HEURISTICS, Memory, Scope, digest_of, unique
from vector_memory.observe.learning import outcomes, trails, world
from vector_memory.observe.learning.figures import NOT_ENOUGH, Rate, RateComparison, compare, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import CHANGING, KINDS
from vector_memory.observe.learning.trails import Trail
from vector_memory.observe.learning.world import Sighting
from vector_memory.service.base import messages
from vector_memory.service.base.asker import Asker, ProjectAsker, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import by_ids, each_of
from vector_memory.service.capture import deferred
from vector_memory.service.learning import counted_records, learned_records, lessons
from vector_memory.service.learning.learned_records import SessionLedger
from vector_memory.service.memory.views import BriefView, brief
from vector_memory.text import fence

MOST_RECORDS, BRIEF_TOKENS = 10_000, 80
REPORTS = "reports"
"""The key of the record of what agents reported themselves."""
REPORT = "report:"
"""How the key of a task begins that an agent reported."""
ALIKE = 0.2
"""The share of a description's telling words that a task's must hold to be like it."""

Answer = dict[str, object]
"""What most of these tools answer: `told`, a sentence, and by name what that stands on. What the names hold stands
in the docstring of the function that answers."""


class WorkRequest(messages.Request):
    """What the tools that look at work have in common.

    Attributes:
        kind: of tasks, "" for all.
        session: one that is meant; with what changes something, the one that asks.
        since, until: when tasks ended.
        k: how many of what is found are told.
        dry_run: what would be changed is only told.
    """

    kind: str = messages.one_of(KINDS)
    session: str = messages.word()
    since: datetime | None = messages.moment()
    until: datetime | None = messages.moment()
    k: int = messages.number(10, 1, 500)
    dry_run: bool = messages.flag(default=True)


def answer(ctx: Context, summary: str, **parts: object) -> Answer:
    """Return an answer, without the parts that are None. Where there is not enough evidence, it also says how many
    transcripts are still to be learned from: that is done in the background."""
    if summary.startswith(NOT_ENOUGH) and (due_count := len(ctx.state.due_keys(deferred.LESSONS))):
        summary += f" {due_count} transcripts are still to be learned from, which is done in quiet moments."
    return {"told": summary, **{name: part for name, part in parts.items() if part is not None}}


def records(asker: Asker, kind: str) -> list[Memory]:
    """Return the records of sessions that an asker may see, newest first."""
    scope = Scope(projects=asker.scope.projects, collections=(HEURISTICS,), kinds=(kind,))
    return each_of(asker.shelves, lambda journal: journal.recent(scope, MOST_RECORDS))


def tasks_of(
    asker: Asker,
    since: datetime | None = None,
    kind: str = "",
    with_subagents: bool = False,
) -> list[Task]:
    """Return the tasks that an asker may see, oldest first, each once.

    Args:
        kind: those of one kind alone.
        with_subagents: also what subagents did, each with the kind of subagent as its `agent`.
    """
    tasks: list[Task] = []
    for _, ledger in learned_records.ledgers(asker.shelves, asker.scope.projects):
        tasks += [*ledger.tasks, *(ledger.by_subagents if with_subagents else ())]
    return [
        task
        for task in learned_records.each_once(tasks)
        if (since is None or task.ended_at >= since) and kind in ("", task.kind)
    ]


def sightings_of(asker: Asker) -> list[Sighting]:
    """Return what was seen in the sessions that an asker may see, each once."""
    pairs = learned_records.ledgers(asker.shelves, asker.scope.projects)
    return world.each_once(sighting for _, ledger in pairs for sighting in ledger.seen)


def trail_for(live_trails: Sequence[Trail], kind: str) -> Trail | None:
    """Return the trail to follow for a kind of task, else, where the kind changes files, that of all changes."""
    kinds = (kind, trails.ANY) if kind in CHANGING else (kind,)
    matches = (trail for kind in kinds for trail in live_trails if trail.kind == kind)
    return next(matches, None)


def done_of(tasks: Iterable[Task]) -> Rate:
    """Return how many tasks were done, of those of which it is known for sure whether they were."""
    done, undone = outcomes.evidence(tasks)
    return rate(done, done + undone)


def compare_ways(
    tasks: Iterable[Task], first: set[str], second: set[str], names: tuple[str, str]
) -> RateComparison:
    """Return how tasks that ran all jobs of one way, and none that only the other has, went beside those of the other.
    Who chose which way is not known: a difference is no proof of a cause."""
    task_jobs = [(task, set(task.jobs)) for task in tasks]
    first_tasks = [task for task, ran in task_jobs if first <= ran and not (second - first) & ran]
    second_tasks = [task for task, ran in task_jobs if second <= ran and not (first - second) & ran]
    return compare(done_of(first_tasks), done_of(second_tasks), names)


def similar_tasks(tasks: Sequence[Task], text: str) -> list[tuple[float, Task]]:
    """Return the tasks whose words are like a description's, the likest first, each with how much (0 to 1):
    rare words weigh more."""
    terms = terms_of(text)
    counts = Counter(term for task in tasks for term in set(task.terms))
    weights = {term: log(1 + len(tasks) / (1 + counts[term])) for term in terms}
    total = sum(weights.values())
    shared = [(sum(weights[term] for term in terms & set(task.terms)), task) for task in tasks]
    scored = [
        (weight / total, task) for weight, task in shared if total and weight >= ALIKE * total
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def project_of(ctx: Context, request: messages.Request) -> ProjectAsker:
    """Return the project that a request is about.

    Raises:
        BadInputError: it is about none.
    """
    place = messages.place_of(ctx, request)
    if place is None or request.all_projects:
        raise BadInputError("This is about one project.", "Name its folder with `project`.")
    return asker_in(ctx, place)


def report(
    ctx: Context, asker: ProjectAsker, task: Task | None = None, sighting: Sighting | None = None
) -> bool:
    """Keep what an agent reports, and draw what is learned anew; return whether it was new."""
    with ctx.capturing:
        reports = SessionLedger.of(counted_records.get(asker, HEURISTICS, REPORTS))
        addition = SessionLedger([task] if task else [], [sighting] if sighting else [])
        if not reports.with_more(addition).keep(ctx, asker, REPORTS):
            return False
        lessons.redraw_records(ctx, asker)
    return True


def key_of(*words: str) -> str:
    """Return the name of a report: the same words are the same report."""
    return REPORT + digest_of(*words, size=12)


def as_dict(task: Task) -> dict[str, object]:
    """Return a task as it is shown: when, its kind, how it went and what it took."""
    names = ("at", "kind", "done", "sure", "errors", "retries", "minutes", "steps", "session")
    view = {name: getattr(task, name) for name in names}
    return {**view, "about": task.asked or " ".join(task.terms[:8])}


def job_of(line: str) -> str:
    """Return the job of a command line, as tasks know it; the line itself where it names none."""
    return commands.job_of(line) or line


def with_settings(current: Settings, words: Iterable[str], names: Sequence[str]) -> Settings:
    """Return settings with other values of some, to try something under.

    Args:
        words: each as `NAME=VALUE`; only `names` can be tried.

    Raises:
        BadInputError: it is no such name, or its value is none.
    """
    pairs = (word.partition("=") for word in words)
    values = {name.strip(): value.strip() for name, _, value in pairs}
    if unknown := values.keys() - set(names):
        hint = f"Give NAME=VALUE; names: {', '.join(names)}."
        raise BadInputError(f"{min(unknown)[:60]!r} cannot be tried.", hint)
    validated = config.validate({**asdict(current), **values}) if values else current
    return replace(current, **{name: getattr(validated, name) for name in values})


def brief_views(asker: Asker, ids: Iterable[str]) -> list[BriefView]:
    """Return these memories in brief, each once, without those that are gone or held back."""
    unique_ids = unique(ids)
    stored = by_ids(asker.shelves, unique_ids)
    return [in_brief(stored[id]) for id in unique_ids if id in stored and not stored[id].is_held]


def in_brief(memory: Memory) -> BriefView:
    """Return a memory in brief: the sentences of it that say most."""
    return brief(BriefView, memory, text=fence.cut(memory.text, BRIEF_TOKENS))
