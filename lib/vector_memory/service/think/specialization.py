"""`task_specialization`, `meta_agent` and `workflow_optimizer`: who does which kind of task how well; which agents, models,
skills and procedures do worse than the rest, where chance hardly explains it; and which step of the work fails, is repeated
or takes longest, and which of two ways went better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import median

from vector_memory.errors import BadInputError
from vector_memory.model import PROCEDURE
from vector_memory.observe.learning import figures, tasks, world
from vector_memory.observe.learning.figures import LEAST, NOT_ENOUGH
from vector_memory.observe.learning.outcomes import LONGEST_PAUSE_S, Task
from vector_memory.observe.learning.world import Sighting
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import by_ids
from vector_memory.service.learning import learned_records
from vector_memory.service.think import ledger

SESSION_ITSELF = "main"
"""How the session itself is named among those who did tasks."""
MOST = 60
AGENT, MODEL, SKILL = "agent", "model", "skill"
WORSE, BETTER, ALIKE = "worse", "better", "no difference shown"
ORDER = (WORSE, BETTER, ALIKE, NOT_ENOUGH)
ADVICE = {
    AGENT: "Give such tasks to the session itself or another agent, or say in its description what it misses.",
    MODEL: "Try another model for such tasks.",
    SKILL: "Read what the skill tells to do in the tasks that failed, and mend it.",
    PROCEDURE: "Look through the procedure: it may be out of date (memory_verify, update_memory).",
}


class SpecializationRequest(ledger.WorkRequest):
    """Who does tasks of a kind (each by default) well? `candidates` are parts of names of agents or models."""

    kind: str = messages.one_of(tasks.KINDS)
    candidates: tuple[str, ...] = messages.words()


class Performer(messages.Answer):
    """How one agent (`main` for the session itself) with one model did with the tasks of a kind.

    Attributes:
        seen: how many tasks; `done` is of those of which a check, the user or an interruption says how they ended.
        minutes: the median; `errors` and `retries` are in all.
    """

    kind: str
    agent: str
    model: str
    seen: int
    done: figures.Rate
    minutes: float
    errors: int
    retries: int


def specialization(ctx: Context, request: SpecializationRequest) -> ledger.Answer:
    """Return who did which kind of task how well.

    Raises:
        BadInputError: there is no such kind.

    Returns:
        How many `tasks` were looked at; the `candidates` by kind, the surest first (by the low end of the interval);
        and a sentence of `advice` for each kind.
    """
    asker = messages.asker_of(ctx, request)
    groups: defaultdict[tuple[str, str, str], list[Task]] = defaultdict(list)
    all_tasks = ledger.tasks_of(asker, kind=request.kind, with_subagents=True)
    for task in all_tasks:
        agent, model = task.agent or SESSION_ITSELF, task.model or "unknown"
        names = f"{agent} {model}".casefold()
        if not request.candidates or any(
            candidate.casefold() in names for candidate in request.candidates
        ):
            groups[task.kind, agent, model].append(task)
    performers = [_performer(*key, group) for key, group in groups.items()]
    performers.sort(
        key=lambda performer: (
            performer.kind,
            not performer.done.is_enough,
            -performer.done.low,
            -performer.done.n,
            performer.agent,
        )
    )
    kinds = dict.fromkeys(performer.kind for performer in performers)
    advice = [
        _advice(kind, [performer for performer in performers if performer.kind == kind])
        for kind in kinds
    ]
    summary = f"{len(all_tasks)} tasks, of {ledger.done_of(all_tasks).n} of which it is known for sure how they ended."
    if not any(performer.done.is_enough for performer in performers):
        summary = f"{NOT_ENOUGH}: nobody did {LEAST} tasks of a kind whose end is known. {summary}"
    return ledger.answer(
        ctx, summary, tasks=len(all_tasks), candidates=performers[:MOST], advice=advice
    )


def _performer(kind: str, agent: str, model: str, own_tasks: Sequence[Task]) -> Performer:
    minutes = round(median(task.minutes for task in own_tasks), 1)
    errors, retries = (
        sum(task.errors for task in own_tasks),
        sum(task.retries for task in own_tasks),
    )
    done_rate = ledger.done_of(own_tasks)
    return Performer(kind, agent, model, len(own_tasks), done_rate, minutes, errors, retries)


def _advice(kind: str, performers: Sequence[Performer]) -> str:
    """Return how the surest of a kind compares with all others together."""
    best, *others = performers
    done_count = sum(other.done.k for other in others)
    others_done = figures.rate(done_count, sum(other.done.n for other in others))
    name = f"{best.agent} with {best.model}"
    verdict = figures.compare(best.done, others_done, (name, "the others")).verdict
    return f"{kind}: {name} did {best.done.told}; beside all others: {verdict}."


class MetaRequest(ledger.WorkRequest):
    """Who does worse than the rest, in tasks that ended `since`? Of fewer judged ones than `least` nothing is said."""

    least: int = messages.number(LEAST, LEAST, 1_000)


class PeerComparison(messages.Answer):
    """How one agent, model, skill or procedure did against all others at the same kinds of tasks.

    Attributes:
        sort: `agent`, `model`, `skill` or `procedure`.
        done: of its judged tasks; `others` the same of the others at these kinds.
        expected: how many it would have done as the others do, kind by kind.
        chance: how likely it is to be so far from that, on this side, by chance alone.
        verdict: one of `ORDER`; so strict that of all that are compared together one in twenty answers errs.
        advice: what to do about it, "" for nothing.
    """

    sort: str
    name: str
    kinds: list[str]
    done: figures.Rate
    others: figures.Rate
    expected: float
    chance: float
    verdict: str
    advice: str


def underperformers(ctx: Context, request: MetaRequest) -> ledger.Answer:
    """Return who does worse than the rest at the same kinds of tasks.

    Returns:
        Of how many `tasks` (`judged`: their end is known) it is told, how many could be `compared`, and the
        `standings`, the worst first.
    """
    all_tasks = ledger.tasks_of(messages.asker_of(ctx, request), request.since, with_subagents=True)
    judged = [task for task in all_tasks if task.is_judged]
    groups: defaultdict[tuple[str, str], list[Task]] = defaultdict(list)
    for key, task in (*_tasks_by_mark(judged), *_procedures(ctx, request, all_tasks)):
        groups[key].append(task)
    pairs = {key: (group, _peer_tasks(judged, group)) for key, group in groups.items()}
    compared = sum(min(map(len, pair)) >= request.least for pair in pairs.values())
    standings = [_standing(*key, *pair, request.least, compared) for key, pair in pairs.items()]
    standings.sort(
        key=lambda standing: (
            ORDER.index(standing.verdict),
            standing.chance,
            -standing.done.n,
            standing.name,
        )
    )
    counts = {"tasks": len(all_tasks), "judged": len(judged), "compared": compared}
    return ledger.answer(ctx, _summary(standings), **counts, standings=standings)


def _tasks_by_mark(judged: Sequence[Task]) -> Iterator[tuple[tuple[str, str], Task]]:
    for task in judged:
        marks = (
            (AGENT, task.agent),
            (MODEL, task.model),
            *((SKILL, skill) for skill in task.skills),
        )
        yield from ((mark, task) for mark in marks if mark[1])


def _procedures(
    ctx: Context, request: messages.Request, all_tasks: Sequence[Task]
) -> Iterator[tuple[tuple[str, str], Task]]:
    """Yield the procedures that a session was shown, each with the task that it came into."""
    shown_tasks = list(
        learned_records.tasks_of_shown(ctx, [task for task in all_tasks if not task.agent])
    )
    memories = by_ids(messages.asker_of(ctx, request).shelves, {id for id, _ in shown_tasks})
    for id, task in shown_tasks:
        if id in memories and memories[id].kind == PROCEDURE:
            yield (PROCEDURE, f"{memories[id].title or memories[id].text[:60]} [{id[:8]}]"), task


def _peer_tasks(judged: Sequence[Task], own_tasks: Sequence[Task]) -> list[Task]:
    own_keys, kinds = {task.key for task in own_tasks}, {task.kind for task in own_tasks}
    return [task for task in judged if task.key not in own_keys and task.kind in kinds]


def _standing(
    sort: str,
    name: str,
    own_tasks: Sequence[Task],
    peer_tasks: Sequence[Task],
    least: int,
    compared: int,
) -> PeerComparison:
    kinds = sorted({task.kind for task in own_tasks})
    done_rate, peers_done = ledger.done_of(own_tasks), ledger.done_of(peer_tasks)
    tails = figures.chance_of(
        (
            ledger.done_of(task for task in own_tasks if task.kind == kind),
            ledger.done_of(task for task in peer_tasks if task.kind == kind),
        )
        for kind in kinds
    )
    chance, verdict = min(tails.few, tails.many), NOT_ENOUGH
    if min(len(own_tasks), len(peer_tasks)) >= least:
        # The more are compared, the more seem to differ by chance.
        is_shown = chance <= (1 - figures.SURE) / 2 / max(1, compared)
        verdict = ALIKE if not is_shown else WORSE if tails.few < tails.many else BETTER
    advice = ADVICE[sort] if verdict == WORSE else ""
    return PeerComparison(
        sort, name, kinds, done_rate, peers_done, tails.expected, round(chance, 4), verdict, advice
    )


def _summary(standings: Sequence[PeerComparison]) -> str:
    worse = [standing for standing in standings if standing.verdict == WORSE]
    if worse:
        names = "; ".join(f"{who.sort} {who.name} ({who.done.told})" for who in worse)
        return f"Worse than the rest at the same kinds of tasks: {names}."
    if any(standing.verdict != NOT_ENOUGH for standing in standings):
        return "Nobody does worse than the rest by more than chance explains."
    return f"{NOT_ENOUGH}: too few tasks have an end that is known."


# -- steps (`workflow_optimizer`) --


class OptimizerRequest(ledger.WorkRequest):
    """Steps are looked at, of the tasks of a kind (all by default) since a time.

    Attributes:
        first, second: two ways to compare, each as command lines; none to compare nothing.
    """

    first: tuple[str, ...] = messages.words()
    second: tuple[str, ...] = messages.words()


class StepFigures(messages.Answer):
    """How a step goes.

    Attributes:
        step: the job, such as `go test`.
        went_well: of how many runs whose end is known.
        tasks: in how many tasks it was run.
        seconds: how long a good run takes, from call to answer; `total_s` all that were timed together, ten
            minutes of each at most.
    """

    step: str
    went_well: figures.Rate
    tasks: int
    seconds: figures.Median
    total_s: float


def optimize(ctx: Context, request: OptimizerRequest) -> ledger.Answer:
    """Return how the steps of tasks go, and how two ways compare.

    Raises:
        BadInputError: one of two ways is missing, or names no command.

    Returns:
        Of how many `tasks` it is told, how often a step failed again right after it had failed in them (`retries`),
        their `steps`, those that took longest in all first, and how two ways `compared`.
    """
    asker = messages.asker_of(ctx, request)
    tasks = ledger.tasks_of(asker, request.since, kind=request.kind)
    keys = {task.key[:16] for task in tasks}
    runs: defaultdict[str, list[Sighting]] = defaultdict(list)
    for sighting in ledger.sightings_of(asker):
        is_of_kind = not request.kind or sighting.turn[:16] in keys
        is_recent = request.since is None or datetime.fromisoformat(sighting.at) >= request.since
        if sighting.kind == world.COMMAND and is_of_kind and is_recent:
            runs[ledger.job_of(sighting.name)].append(sighting)
    steps = [_figures(job, sightings, tasks) for job, sightings in runs.items()]
    steps.sort(key=lambda step: (-step.total_s, -step.went_well.n, step.step))
    return ledger.answer(
        ctx,
        _step_summary(steps),
        tasks=len(tasks),
        retries=sum(task.retries for task in tasks),
        steps=steps[: request.k],
        compared=_compare_given_ways(tasks, request.first, request.second),
    )


def _figures(job: str, sightings: Sequence[Sighting], tasks: Sequence[Task]) -> StepFigures:
    good_runs = [sighting for sighting in sightings if sighting.state == world.OK]
    # Nobody knows how much of a long call was waiting for a permission.
    total = round(sum(min(sighting.seconds, LONGEST_PAUSE_S) for sighting in sightings), 1)
    durations = figures.median_of(
        [sighting.seconds for sighting in good_runs if sighting.seconds > 0]
    )
    task_count = sum(job in task.jobs for task in tasks)
    return StepFigures(
        job, figures.rate(len(good_runs), len(sightings)), task_count, durations, total
    )


def _step_summary(steps: Sequence[StepFigures]) -> str:
    judged_steps = [step for step in steps if step.went_well.is_enough]
    if not judged_steps:
        return f"{NOT_ENOUGH}: no step was run five times."
    worst = min(judged_steps, key=lambda step: step.went_well.k / step.went_well.n)
    longest = max(judged_steps, key=lambda step: step.total_s)
    summary = f"Of steps that were run five times `{longest.step}` took longest: {longest.total_s:g} s in {longest.went_well.n} runs."
    if worst.went_well.k < worst.went_well.n:
        summary += f" `{worst.step}` fails most: it went well {worst.went_well.told}."
    return summary


def _compare_given_ways(
    tasks: Sequence[Task], first: Sequence[str], second: Sequence[str]
) -> figures.RateComparison | None:
    """Return how tasks went that took one way and not the other, None where no ways are given."""
    if not first and not second:
        return None
    ways = [{ledger.job_of(line) for line in way} for way in (first, second)]
    if not all(ways) or ways[0] == ways[1]:
        raise BadInputError(
            "Two ways that differ are needed.", "Give `first` and `second` as command lines."
        )
    names = (" + ".join(sorted(ways[0])), " + ".join(sorted(ways[1])))
    return ledger.compare_ways(tasks, ways[0], ways[1], names)
