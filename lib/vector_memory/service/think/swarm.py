"""`micro_swarm`: what several answers to one question agree on. It starts no agents: the caller brings them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.lifecycle import dedup
from vector_memory.lifecycle.dedup import Outcome
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.text import wording

if TYPE_CHECKING:
    from vector_memory.model import Vector

LEAST, MOST = 2, 50
MOST_CHARS = 4_000
QUORUM = 2 / 3
"""The share of all weight that an answer must have more of: with it, a third of the voters may be wrong.

Source: L. Lamport, R. Shostak, M. Pease, "The Byzantine Generals Problem", ACM TOPLAS 4, 1982.
"""


@dataclass(frozen=True, kw_only=True)
class SwarmRequest(messages.Request):
    """Answers to a question, and how much each weighs, as numbers above zero in the same order (1 each by
    default)."""

    question: str = messages.text(2_000)
    answers: list[str] = messages.read_by(lambda request, name: request.get(name))
    weights: list[str] = messages.read_by(lambda request, name: request.get(name) or [], None)


@dataclass(frozen=True)
class Opinion:
    """Answers that say the same: one of them, which (numbers from 1), and their weight together."""

    text: str
    voters: list[int]
    weight: float


@dataclass(frozen=True)
class SwarmAnswer:
    """What answers come to.

    Attributes:
        agreed: whether one opinion has more than two thirds of the weight.
        tolerates: how many wrong voters of equal weight that verdict survives.
        opinions: the heaviest first.
        conflicts: pairs of voters that contradict each other, with the words by which they differ.
    """

    told: str
    agreed: bool
    tolerates: int
    opinions: list[Opinion]
    conflicts: list[str]


def swarm(ctx: Context, request: SwarmRequest) -> SwarmAnswer:
    """Return the opinions of several answers, by the rules that tell duplicates and contradictions apart.

    Raises:
        BadInputError: there are too few or too many, or a weight is none.
    """
    texts = [str(redact.clean(one).text) for one in _texts(request.answers)]
    weights = _weights(request.weights, len(texts))
    vectors = [ctx.embedding.query(one) for one in texts]
    groups: list[list[int]] = []
    conflicts = []
    for number, text in enumerate(texts):
        same = None
        for other in range(number):
            cosine = _cosine(vectors[number], vectors[other])
            verdict = dedup.compare(text, texts[other], cosine)
            if verdict.outcome is Outcome.SAME or wording.same_assertion(text, texts[other]):
                same = same or next(group for group in groups if other in group)
            elif verdict.outcome in (Outcome.CONTRADICTS, Outcome.SUPERSEDES):
                conflicts.append(f"{other + 1} and {number + 1}: {verdict.reason}")
        if same is None:
            groups.append(same := [])
        same.append(number)
    opinions = [
        Opinion(texts[one[0]], [voter + 1 for voter in one], round(sum(weights[v] for v in one), 3))
        for one in groups
    ]
    opinions.sort(key=lambda one: (-one.weight, one.voters))
    part, tolerates = opinions[0].weight / sum(weights), (len(texts) - 1) // 3
    agreed = part > QUORUM
    told = (
        f"{part:.0%} of the weight, {len(opinions[0].voters)} of {len(texts)} answers, say the same"
    )
    told += "." if agreed else ": no agreement, which takes more than two thirds."
    if agreed and not tolerates:
        told += " Of fewer than four answers one wrong voter decides."
    return SwarmAnswer(told, agreed, tolerates if agreed else 0, opinions, conflicts)


def _texts(given: object) -> list[str]:
    texts = (
        [one for one in given if isinstance(one, str) and one.strip()]
        if isinstance(given, list)
        else []
    )
    if not LEAST <= len(texts) <= MOST or any(len(one) > MOST_CHARS for one in texts):
        raise BadInputError(
            f"Between {LEAST} and {MOST} answers are needed, of {MOST_CHARS:,} characters at most.",
            "Bring the answers that other agents or runs gave.",
        )
    return texts


def _weights(given: object, count: int) -> list[float]:
    if not given:
        return [1.0] * count
    try:
        weights = [float(one) for one in given] if isinstance(given, list) else []
    except (TypeError, ValueError):
        weights = []
    if len(weights) != count or not all(0 < one < 1e6 for one in weights):
        raise BadInputError(
            "There must be one weight above 0 for each answer.", "Or leave them out."
        )
    return weights


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    return float(one @ other) if one is not None and other is not None else None
