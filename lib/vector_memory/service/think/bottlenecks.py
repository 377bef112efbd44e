"""`workflow_optimizer`: which step of the work fails, is repeated or takes longest, and which of two ways went
better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from vector_memory.errors import BadInputError
from vector_memory.observe.learning import figures, things
from vector_memory.observe.learning.figures import NOT_ENOUGH, Middle, Rate, RateComparison
from vector_memory.observe.learning.outcomes import LONGEST_PAUSE_S, Task
from vector_memory.observe.learning.things import Sighting
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger


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
    went_well: Rate
    tasks: int
    seconds: Middle
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
        of_task = not request.kind or sighting.turn[:16] in keys
        lately = request.since is None or datetime.fromisoformat(sighting.at) >= request.since
        if sighting.kind == things.COMMAND and of_task and lately:
            runs[ledger.job_of(sighting.name)].append(sighting)
    steps = [_figures(job, seen, tasks) for job, seen in runs.items()]
    steps.sort(key=lambda step: (-step.total_s, -step.went_well.n, step.step))
    return ledger.answer(
        ctx,
        _summary(steps),
        tasks=len(tasks),
        retries=sum(task.retries for task in tasks),
        steps=steps[: request.k],
        compared=_compared(tasks, request.first, request.second),
    )


def _figures(job: str, seen: Sequence[Sighting], tasks: Sequence[Task]) -> StepFigures:
    good = [sighting for sighting in seen if sighting.state == things.OK]
    # Nobody knows how much of a long call was waiting for a permission.
    total = round(sum(min(sighting.seconds, LONGEST_PAUSE_S) for sighting in seen), 1)
    took = figures.middle([sighting.seconds for sighting in good if sighting.seconds > 0])
    in_tasks = sum(job in task.jobs for task in tasks)
    return StepFigures(job, figures.rate(len(good), len(seen)), in_tasks, took, total)


def _summary(steps: Sequence[StepFigures]) -> str:
    enough = [step for step in steps if step.went_well.is_enough]
    if not enough:
        return f"{NOT_ENOUGH}: no step was run five times."
    worst = min(enough, key=lambda step: step.went_well.k / step.went_well.n)
    longest = max(enough, key=lambda step: step.total_s)
    summary = f"Of steps that were run five times `{longest.step}` took longest: {longest.total_s:g} s in {longest.went_well.n} runs."
    if worst.went_well.k < worst.went_well.n:
        summary += f" `{worst.step}` fails most: it went well {worst.went_well.told}."
    return summary


def _compared(
    tasks: Sequence[Task], first: Sequence[str], second: Sequence[str]
) -> RateComparison | None:
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
