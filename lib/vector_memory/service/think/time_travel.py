"""`time_travel` and `semantic_diff`: a session step by step, memory as it was at a moment, a recall done again, and how
two windows of time or two moments differ."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Memory, Status
from vector_memory.observe.learning.figures import compare, median_of, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.retrieve.search import Hit
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.capture import archives, step_log
from vector_memory.service.memory import lookup
from vector_memory.service.think import ledger
from vector_memory.service.think.debugging import steps_of
from vector_memory.text import dates

ACTIONS = ("list", "record", "show", "compare", "memory", "replay")
REPLAYED = ("scoring", "candidates", "query_tokens")
"""Settings that a recall can be done again with."""
_HELD_STATUSES = (Status.ACTIVE, Status.SUPERSEDED)


class PastRequest(ledger.WorkRequest):
    """The past is looked at.

    Attributes:
        session: whose steps are meant, from the step numbered `step` on; `other` for `compare`.
        at: the moment for `memory`, and for a recall as it would have been then.
        query: what is recalled, `without` the ids that are left out, `settings` as `name=value`.
    """

    action: str = messages.one_of(ACTIONS, "list")
    other: str = messages.word()
    step: int = messages.number(1, 1, 1_000_000)
    at: datetime | None = messages.moment()
    query: str = messages.maybe_text(8_000)
    without: tuple[str, ...] = messages.words()
    settings: tuple[str, ...] = messages.words()


def time_travel(ctx: Context, request: PastRequest) -> ledger.Answer:
    """Return what is asked of the past.

    Raises:
        BadInputError: the action is unknown, or lacks what it needs.
        NotFoundError: nothing is known of the session.

    Returns:
        The `sessions` whose steps are logged, newest first, each with its day; the `steps` of one from the one that
        was asked for on; `counts` of what memory held by kind, or of what two sessions did; the `memories` that held
        then or that a recall finds, newest or best first; and what a recall finds in another place or not at all, or
        what only one of two sessions ran (`changed`), in words.
    """
    return _ACTS[request.action](ctx, request)


def held_at(memory: Memory, at: datetime) -> bool:
    """Whether a memory was stored and held at a moment, as far as it is known now."""
    is_valid = memory.status is Status.ACTIVE or (memory.valid_until and memory.valid_until > at)
    return bool(is_valid) and (memory.stored_at or memory.created_at) <= at


def _list_logs(ctx: Context, request: PastRequest) -> ledger.Answer:
    place, ending = ledger.project_of(ctx, request).place, archives.STEPS
    folder = os.path.join(ctx.home.archives, place.id)
    names = sorted(os.listdir(folder), reverse=True) if os.path.isdir(folder) else []
    logs = [f"{name[:10]} {name[11 : -len(ending)]}" for name in names if name.endswith(ending)]
    hint = ": `show` with the id of one reads them" if logs else ", which is done when one ends"
    summary = f"The steps of {len(logs)} sessions are logged{hint}."
    return ledger.answer(ctx, summary, sessions=logs[: request.k])


def _record(ctx: Context, request: PastRequest) -> ledger.Answer:
    steps = steps_of(ctx, request, request.session)
    if not (transcripts := step_log.transcripts_of(ctx, request.session)):
        raise NotFoundError(
            "The transcript of that session is gone.", "Its log, if any, stays as it is."
        )
    summary = f"{len(steps)} steps would be logged."
    if not request.dry_run:
        written = sum(step_log.write(ctx, transcript) for transcript in transcripts)
        summary = f"{written} steps are logged."
        summary = summary if written else "Nothing was logged: the setting `archive` is off."
    return ledger.answer(ctx, summary, dry_run=request.dry_run)


def _show(ctx: Context, request: PastRequest) -> ledger.Answer:
    steps = steps_of(ctx, request, request.session)
    shown_steps = [step for step in steps if step.number >= request.step][: request.k]
    summary = f"Of {len(steps)} steps those from {request.step} on, {len(shown_steps)} of them."
    return ledger.answer(ctx, summary, steps=shown_steps)


def _compare(ctx: Context, request: PastRequest) -> ledger.Answer:
    """Return how two sessions differ in what they did."""
    step_lists = [steps_of(ctx, request, session) for session in (request.session, request.other)]
    jobs = [Counter(step.job for step in steps if step.job) for steps in step_lists]
    counts = {
        name: {
            **Counter(step.what for step in steps),
            "failed": sum(step.ok is False for step in steps),
            "jobs": dict(job_counts),
        }
        for name, steps, job_counts in zip(("first", "second"), step_lists, jobs, strict=True)
    }
    changed = [f"only the first ran `{job}`" for job in sorted(jobs[0].keys() - jobs[1])]
    changed += [f"only the second ran `{job}`" for job in sorted(jobs[1].keys() - jobs[0])]
    summary = f"{len(step_lists[0])} and {len(step_lists[1])} steps, {len(jobs[0].keys() & jobs[1])} jobs in both."
    return ledger.answer(ctx, summary, counts=counts, changed=changed[: 4 * request.k])


def memories_at(ctx: Context, request: messages.Request, at: datetime) -> Iterator[Memory]:
    """Yield the memories that held at a moment, as far as it is known now, newest first of each store."""
    asker = messages.asker_of(ctx, request)
    scope = asker.scope.without_records
    for shelf in asker.shelves:
        for memory in shelf.journal.iter_memories(
            scope, newest_first=True, statuses=_HELD_STATUSES
        ):
            if held_at(memory, at) and not (request.is_agent and memory.is_held):
                yield memory


def _memory_at(ctx: Context, request: PastRequest) -> ledger.Answer:
    if (at := request.at) is None:
        raise BadInputError("at is missing.", "Such as 2026-05-03, or `last week`.")
    memories = list(memories_at(ctx, request, at))
    ctx.state.flush()
    forgotten_count = sum(
        len(entry.ids)
        for action in ("forget", "purge")
        for entry in ctx.state.audit_entries(10_000, at, action)
    )
    summary = f"{len(memories)} memories were stored and held at {at:%Y-%m-%d %H:%M} UTC"
    lost_note = (
        f"; {forgotten_count} were forgotten since, in all projects, and nobody knows their words."
    )
    counts = dict(Counter(memory.kind for memory in memories).most_common())
    views = [ledger.in_brief(memory) for memory in memories[: request.k]]
    return ledger.answer(
        ctx, summary + (lost_note if forgotten_count else "."), counts=counts, memories=views
    )


def _replay(ctx: Context, request: PastRequest) -> ledger.Answer:
    """Recall as things are now, and again under the changes that are asked for; tell the difference."""
    if not request.query:
        raise BadInputError("query is missing.", "Say what to recall.")
    if not (request.without or request.settings or request.at):
        raise BadInputError("Nothing would differ.", "Give `without`, `settings` or `at`.")
    asker = messages.asker_of(ctx, request)
    changed_ctx, at = copy.copy(ctx), request.at
    changed_ctx.settings = ledger.with_settings(ctx.settings, request.settings, REPLAYED)

    def is_visible(memory: Memory) -> bool:
        return not (request.is_agent and memory.is_held)

    def may_return(memory: Memory) -> bool:
        is_left_out = any(memory.id.startswith(prefix) for prefix in request.without)
        return is_visible(memory) and not is_left_out and (at is None or held_at(memory, at))

    hits_now = lookup.answer(
        ctx, request.query, asker, request.k, allowed=is_visible, cold=True
    ).hits
    hits_then = lookup.answer(
        changed_ctx, request.query, asker, request.k, allowed=may_return, cold=True
    ).hits
    changes = _differences(hits_now, hits_then)
    views = [ledger.in_brief(hit.memory) for hit in hits_then]
    summary = f"{len(changes)} memories are found in another place, or by one of the two alone."
    summary = summary if changes else "The same is found."
    return ledger.answer(ctx, summary, memories=views, changed=changes)


def _differences(hits_now: Sequence[Hit], hits_then: Sequence[Hit]) -> list[str]:
    ranks = [{hit.memory.id: n for n, hit in enumerate(hits, 1)} for hits in (hits_now, hits_then)]
    texts = {
        hit.memory.id: hit.memory.text.split("\n", 1)[0][:100] for hit in (*hits_now, *hits_then)
    }
    changes = []
    for id, text in texts.items():
        rank_now, rank_then = (ranks_of.get(id) for ranks_of in ranks)
        if rank_now != rank_then:
            changes.append(
                f"{id[:12]}: {rank_now or 'not found'} → {rank_then or 'not found'}: {text}"
            )
    return changes


_ACTS: dict[str, Callable[[Context, PastRequest], ledger.Answer]] = {
    "list": _list_logs, "record": _record, "show": _show, "compare": _compare,
    "memory": _memory_at, "replay": _replay,
}  # fmt: skip


MOST_JOBS = 12


class DiffRequest(ledger.WorkRequest):
    """Two windows, or two moments, are to be compared.

    Attributes:
        at: where the first ends and the second begins: a date, or the id of the session that begins the second.
        since, until: where the first begins, and the second ends: as much before as after by default.
        kind: tasks of one kind alone.
    """

    what: str = messages.one_of(("behaviour", "memory"), "behaviour")
    at: str = messages.text(200)


def difference(ctx: Context, request: DiffRequest) -> ledger.Answer:
    """Return how two windows of tasks, or two moments of memory, differ.

    Raises:
        BadInputError: there is no such difference, or the windows are none.
        NotFoundError: the moment is neither a date nor a session that did anything.

    Returns:
        Of behaviour the `first` and the `second` window, and how many were `done` in each; of memory what is `new`,
        what is `gone`, and the `kinds` of both.
    """
    tasks = ledger.tasks_of(messages.asker_of(ctx, request))
    at, until = _parse_moment(ctx, request.at, tasks), request.until or ctx.now()
    since = request.since or at - (until - at)
    if not since < at < until:
        raise BadInputError(
            "The windows are empty.", "`since` must lie before `at`, and `until` after it."
        )
    if request.what == "memory":
        return _memory_since(ctx, request, at, until)
    chosen = [task for task in tasks if request.kind in ("", task.kind)]
    tasks_before = [task for task in chosen if since <= task.ended_at < at]
    tasks_after = [task for task in chosen if at <= task.ended_at < until]
    done_rates = compare(
        ledger.done_of(tasks_before), ledger.done_of(tasks_after), ("before", "since then")
    )
    summary = f"{len(tasks_before)} tasks before {at:%Y-%m-%d %H:%M}, {len(tasks_after)} since: {done_rates.verdict}."
    first, second = _window(tasks_before, since, at), _window(tasks_after, at, until)
    return ledger.answer(ctx, summary, first=first, second=second, done=done_rates)


def _parse_moment(ctx: Context, word: str, tasks: Sequence[Task]) -> datetime:
    starts = [
        task.ended_at - timedelta(minutes=task.minutes) for task in tasks if task.session == word
    ]
    if starts:
        return min(starts)
    try:
        return dates.parse(word, ctx.now())
    except (ValueError, OverflowError):
        raise NotFoundError(
            f"{word[:60]!r} is neither a date nor a session that did anything here.",
            f"Such as {dates.EXAMPLES}. For a git revision give its date: `git log -1 --format=%cI REV`.",
        ) from None


def _window(tasks: Sequence[Task], since: datetime, until: datetime) -> dict[str, object]:
    """Return what the tasks of a window were: of which kinds, how they ended, how long they took, what failed again
    right after it had failed, and in what share of them a job was run."""
    jobs = Counter(job for task in tasks for job in set(task.jobs))
    return {
        "since": since,
        "until": until,
        "tasks": len(tasks),
        "kinds": dict(Counter(task.kind for task in tasks).most_common()),
        "done": ledger.done_of(tasks),
        "minutes": median_of([task.minutes for task in tasks]),
        "retries": sum(task.retries for task in tasks),
        "jobs": {job: rate(n, len(tasks)) for job, n in jobs.most_common(MOST_JOBS)},
    }


def _memory_since(
    ctx: Context, request: DiffRequest, at: datetime, until: datetime
) -> ledger.Answer:
    memories_before = {memory.id: memory for memory in memories_at(ctx, request, at)}
    memories_after = {memory.id: memory for memory in memories_at(ctx, request, until)}
    new = [memory for id, memory in memories_after.items() if id not in memories_before]
    gone = [memory for id, memory in memories_before.items() if id not in memories_after]
    sides = {"new": new, "gone": gone}
    kinds = {name: Counter(memory.kind for memory in side) for name, side in sides.items()}
    summary = f"{len(new)} memories are new since {at:%Y-%m-%d %H:%M}, {len(gone)} gave way."
    brief = {name: list(map(ledger.in_brief, side[: request.k])) for name, side in sides.items()}
    return ledger.answer(ctx, summary, **brief, kinds=kinds)
