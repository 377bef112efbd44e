"""The factors beside similarity: recency, priority, usage, confidence; and the relevance that decides
whether to speak at all.

They multiply the fused score within a bound. Taken literally, a sum of 0.4 similarity + 0.2 recency
+ 0.2 priority + 0.2 usage throws away a quarter to a half of the recall.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from datetime import datetime

from vector_memory import aging
from vector_memory.model import Memory, Priority

BOUND = 0.1
"""How much the factors together may raise a score."""
SUM = {"similarity": 0.4, "recency": 0.2, "priority": 0.2, "usage": 0.2}
"""The weights of the literal sum, which is a setting."""
LEAST_PRIORITY_SUMMED = 0.25
"""What LOW counts in the literal sum, where a quarter separates each priority from the next."""
HALF_LIFE_DAYS = 30.0
PRIORITIES = {Priority.CORE: 1.0, Priority.HIGH: 0.75, Priority.NORMAL: 0.5, Priority.LOW: 0.0}
USES_FOR_FULL = 20
USE_BOUND = 0.005
"""How much use alone may raise a score: it decides between hits that are nearly equal, and what is shown
often is not shown more often for it."""

COSINE_WEIGHT, WORDS_WEIGHT, OFFSET = 14.0, 2.0, -6.7
"""The logistic model of relevance, fitted by `benchmarks/abstention.py`."""
BLIND_COSINE_WEIGHT, BLIND_WORDS_WEIGHT, BLIND_OFFSET = 2.0, 18.0, -4.5
"""The same for a question in a language that the embedding model does not know: any two texts of it are near
each other, and what tells is the pieces of words that they share."""
FITS = 0.1
"""The relevance among few memories below which a hit is no answer to who asks, however near it stands among
the rest. Of 240 questions over real transcripts one in thirty has its answer below it alone."""
FEW_MEMORIES, MANY_MEMORIES = 100, 10_000
PER_TENFOLD = 0.65
"""By how much the log-odds of the least relevance rise with ten times the memories, from a few to many:
among more of them something near is found for everything. Fitted by `benchmarks/abstention.py`, alone
and among transcripts."""
FEW_TERMS = 4
"""Terms of a question below which its words alone say little."""


def recency(created_at: datetime, now: datetime) -> float:
    """Return 1 for now and the future, halved with every `HALF_LIFE_DAYS`, towards 0."""
    # A clock may have been put back: nothing is newer than now.
    days = max(0.0, (now - created_at).total_seconds() / 86_400)
    return float(0.5 ** (days / HALF_LIFE_DAYS))


def usage(uses: int) -> float:
    """Return 0 for a memory never used, growing with the logarithm up to 1 at `USES_FOR_FULL`."""
    return min(1.0, math.log1p(uses) / math.log1p(USES_FOR_FULL))


def factors(memory: Memory, now: datetime) -> dict[str, float]:
    """Return what counts beside similarity.

    Returns:
        `recency`, `priority`, `usage` and `confidence`, 0 … 1 each, higher is better.
    """
    return {
        "recency": recency(memory.created_at, now),
        "priority": PRIORITIES[memory.priority],
        "usage": usage(memory.uses),
        "confidence": min(1.0, max(0.0, aging.confidence(memory, now))),
    }


def multiplier(values: dict[str, float], latest: bool = False) -> float:
    """Return what a score is multiplied by: 1 … 1 + BOUND.

    Args:
        values: the factors, 0 … 1 each.
        latest: the question asks for what holds now; then recency weighs as much as all together.
    """
    mean = sum(value for name, value in values.items() if name != "usage") / len(values)
    bounded = BOUND * (0.5 * (mean + values["recency"]) if latest else mean)
    return 1.0 + bounded + USE_BOUND * values["usage"]


def literal_score(similarity: float, values: dict[str, float]) -> float:
    """Return the literal sum of similarity, recency, priority and usage, 0 … 1; see adr/0006."""
    priority = max(values["priority"], LEAST_PRIORITY_SUMMED)
    all_values = {"similarity": similarity, **values, "priority": priority}
    return sum(weight * all_values[name] for name, weight in SUM.items())


def relevance(
    cosine: float | None,
    question_terms: Collection[str],
    memory_terms: Collection[str],
    is_blind: bool = False,
) -> float:
    """Return how surely a memory is what a question needs, 0 … 1, comparable between questions.

    Args:
        cosine: the similarity of the vectors; None where there is none.
        question_terms: analysed, as `memory_terms` are.
        is_blind: the model does not know the question's language.
    """
    words = coverage(question_terms, memory_terms)
    if cosine is None:
        # Words alone must make up for the missing vector: it takes most of them, and several.
        return words**3 * min(1.0, len(set(question_terms)) / FEW_TERMS)
    odds = COSINE_WEIGHT * cosine + WORDS_WEIGHT * words + OFFSET
    if is_blind:
        odds = BLIND_COSINE_WEIGHT * cosine + BLIND_WORDS_WEIGHT * words + BLIND_OFFSET
    return 1.0 / (1.0 + math.exp(-odds))


def falling(relevances: Iterable[float]) -> list[float]:
    """Return relevances in the order of their hits, made never to rise: hits that stand before surer ones share one
    mean with them. The order knows more than the relevance does, so both together say more than it alone.

    Source: M. Ayer et al., "An Empirical Distribution Function for Sampling with Incomplete Information", 1955 (pool
    adjacent violators).
    """
    pools: list[tuple[float, int]] = []
    for mean, count in ((relevance, 1) for relevance in relevances):
        while pools and pools[-1][0] < mean:
            previous_mean, other_count = pools.pop()
            total = mean * count + previous_mean * other_count
            count += other_count
            mean = total / count
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


def coverage(question_terms: Collection[str], memory_terms: Collection[str]) -> float:
    """Return the share of the question's distinct terms that a memory holds, 0 … 1."""
    terms = set(question_terms)
    if not terms:
        return 0.0
    return len(terms.intersection(memory_terms)) / len(terms)


def least_relevance(threshold: float, memories: int) -> float:
    """Return the relevance from which on to speak.

    Args:
        threshold: it among few memories, 0 … 1.
        memories: how many could have been found.

    Returns:
        `threshold` itself up to a hundred memories, more up to ten thousand; 0 … 1.
    """
    # Their odds are infinite: 0 and 1 hold as they are, however many memories there are.
    if not 0.0 < threshold < 1.0:
        return threshold
    size = min(MANY_MEMORIES, max(FEW_MEMORIES, memories)) / FEW_MEMORIES
    odds = math.log(threshold / (1.0 - threshold)) + PER_TENFOLD * math.log10(size)
    return 1.0 / (1.0 + math.exp(-odds))
