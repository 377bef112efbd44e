"""`predictive_preload`: which memories a session like this one will want, by what like sessions used; and how
often that was right. It is told to whoever asks, and never put before the model by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import LEAST, NOT_ENOUGH, Rate, rate


@dataclass(frozen=True, kw_only=True)
class PreloadRequest(messages.Request):
    """What is about to be done, in words; `k` memories at most."""

    prompt: str = messages.text(4_000)
    k: int = messages.number(5, 1, 20)


def preload(ctx: Context, request: PreloadRequest) -> ledger.Answer:
    """Return the memories that like sessions used. Nothing is counted as used, and nothing is shown unasked.

    Returns:
        The `memories`, the likeliest first; how many `sessions` have used anything that they were shown; and of what
        each used, how much would have been foretold from all the others (`hits`).
    """
    asker = messages.asker_of(ctx, request)
    tasks = ledger.tasks_of(asker)
    here = {one.session for one in tasks}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for label in ctx.state.use_labels():
        if label.used and label.session in here:
            used[label.session].add(label.memory)
    hits = _hits(tasks, used, request.k)
    if len(used) < LEAST:
        told = f"{NOT_ENOUGH}: {len(used)} sessions used what they were shown, {LEAST} are needed."
        return ledger.answer(ctx, told, memories=[], sessions=len(used), hits=hits)
    ids = foretold(ledger.like(tasks, request.prompt), used)[: request.k]
    kept = ledger.shown(asker, ids)
    told = (
        f"{len(kept)} memories by like sessions; that foretold {hits.told} of what sessions used."
    )
    return ledger.answer(ctx, told, memories=kept, sessions=len(used), hits=hits)


def foretold(like: Sequence[tuple[float, Task]], used: Mapping[str, set[str]]) -> list[str]:
    """Return the ids of what like tasks' sessions used, the likeliest first."""
    alike: dict[str, float] = {}
    for score, task in like:
        alike.setdefault(task.session, score)
    weights: defaultdict[str, float] = defaultdict(float)
    for session, score in alike.items():
        for id in used.get(session, ()):
            weights[id] += score
    return sorted(weights, key=lambda id: (-weights[id], id))


def _hits(tasks: Sequence[Task], used: Mapping[str, set[str]], k: int) -> Rate:
    """Return how many used memories each session's first task would have foretold from the other sessions."""
    good = total = 0
    for session, mine in used.items():
        first = next(one for one in tasks if one.session == session)
        others = [one for one in tasks if one.session != session]
        found = foretold(ledger.like(others, " ".join(first.terms)), used)[:k]
        good, total = good + len(mine & set(found)), total + len(mine)
    return rate(good, total)
