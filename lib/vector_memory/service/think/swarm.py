"""`micro_swarm`: what several answers to one question agree on. It starts no agents: the caller brings them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.lifecycle import dedup
from vector_memory.lifecycle.dedup import Outcome
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.text import wording

LEAST, MOST = 2, 50
MOST_CHARS = 4_000
ADVISING = (("should",), ("you", "should"), ("i", "would"))
"""How advice begins, after "we", in the words of `wording`."""
QUORUM = 2 / 3
"""The share of all weight that an answer must have more of: with it, a third of the voters may be wrong.

Source: L. Lamport, R. Shostak, M. Pease, "The Byzantine Generals Problem", ACM TOPLAS 4, 1982.
"""


class SwarmRequest(messages.Request):
    """Answers to a question, and how much each weighs, as numbers above zero in the same order (1 each by
    default)."""

    question: str = messages.text(2_000)
    answers: list[str] = messages.read_by(lambda sent, name: sent.get(name))
    weights: list[str] = messages.read_by(lambda sent, name: sent.get(name) or [], None)


def swarm(ctx: Context, request: SwarmRequest) -> ledger.Answer:
    """Return the opinions of several answers, by the rules that tell duplicates and contradictions apart.

    Raises:
        BadInputError: there are too few or too many, or a weight is none.

    Returns:
        Whether one opinion has more than two thirds of the weight (`agreed`), and how many wrong voters of equal
        weight that survives (`tolerates`); the `opinions`, the heaviest first, each with the answers that say it (`voters`,
        from 1) and their `weight` together; and pairs of voters that contradict
        each other, with the words by which they differ (`conflicts`).
    """
    texts = [str(redact.clean(text).text) for text in _texts(request.answers)]
    weights = _weights(request.weights, len(texts))
    groups, conflicts = _group_answers(ctx, texts)
    weighed = [(sum(weights[voter] for voter in group), group) for group in groups]
    weighed.sort(key=lambda pair: (-pair[0], pair[1]))
    opinions = [
        {"text": texts[group[0]], "voters": [n + 1 for n in group], "weight": round(weight, 3)}
        for weight, group in weighed
    ]
    (top_weight, voters), tolerates = weighed[0], (len(texts) - 1) // 3
    share = top_weight / sum(weights)
    agreed = share > QUORUM
    summary = f"{share:.0%} of the weight, {len(voters)} of {len(texts)} answers, say the same"
    summary += "." if agreed else ": no agreement, which takes more than two thirds."
    if agreed and not tolerates:
        summary += " Of fewer than four answers one wrong voter decides."
    tolerates = tolerates if agreed else 0
    return ledger.answer(
        ctx, summary, agreed=agreed, tolerates=tolerates, opinions=opinions, conflicts=conflicts
    )


def _group_answers(ctx: Context, texts: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Return which of the answers say the same, and which pairs contradict each other."""
    vectors = [ctx.embedding.query(text) for text in texts]
    groups: list[list[int]] = []
    conflicts = []
    for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
        group = None
        for other in range(number):
            other_vector = vectors[other]
            cosine = (
                float(vector @ other_vector)
                if vector is not None and other_vector is not None
                else None
            )
            verdict = dedup.compare(text, texts[other], cosine)
            is_same = wording.same_readings(_advice(text), _advice(texts[other]))
            if verdict.outcome is Outcome.SAME or is_same:
                group = group or next(voters for voters in groups if other in voters)
            elif verdict.outcome in (Outcome.CONTRADICTS, Outcome.SUPERSEDES):
                conflicts.append(f"{other + 1} and {number + 1}: {verdict.reason}")
        if group is None:
            groups.append(group := [])
        group.append(number)
    return groups, conflicts


def _advice(text: str) -> tuple[frozenset[wording.Reading], ...]:
    """Return the wordings of an answer: what answers a question is as much advice where it is put as an order."""
    return tuple(
        readings
        | {
            ("must", *reading[len(opening) :])
            for reading in readings
            for opening in ADVISING
            if reading[: len(opening)] == opening
        }
        for readings in wording.assertion(text)
    )


def _texts(sent: object) -> list[str]:
    answers = sent if isinstance(sent, list) else []
    texts = [text for text in answers if isinstance(text, str) and text.strip()]
    if not LEAST <= len(texts) <= MOST or any(len(text) > MOST_CHARS for text in texts):
        raise BadInputError(
            f"Between {LEAST} and {MOST} answers are needed, of {MOST_CHARS:,} characters at most.",
            "Bring the answers that other agents or runs gave.",
        )
    return texts


def _weights(sent: Iterable[str], count: int) -> list[float]:
    try:
        weights = [float(weight) for weight in sent] or [1.0] * count
    except (TypeError, ValueError):
        weights = []
    if len(weights) != count or not all(0 < weight < 1e6 for weight in weights):
        raise BadInputError(
            "There must be one weight above 0 for each answer.", "Or leave them out."
        )
    return weights
