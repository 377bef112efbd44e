"""A whole search: candidates, fusion, factors, duplicates, hits."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal

from vector_memory.model import NOTE, BegunVector, Link, Memory, Relation, Scope
from vector_memory.retrieve import candidates as pools
from vector_memory.retrieve import expansion, factors, period, precedence, repetitions
from vector_memory.retrieve.candidates import CandidateSource
from vector_memory.retrieve.newer import Newer, Weighed, newer_of
from vector_memory.retrieve.query import KIND_NAMES, Query
from vector_memory.text import analysis
from vector_memory.text.words import numbers_in

DEEPER = 2
"""How many times more memories than asked for are loaded and weighed by their factors: with 3 times as many no more
answers are found, and a recall takes a sixth longer."""
LEAST_LOADED = 24
MOST_KNOWN = 48
"""How many that who asks knows are passed over: to read more takes longer than a prompt may, and where nearly all is
of the session itself, the rest says little."""
AT_A_STRETCH = 50
"""How many hits are made without a pause: half of what a hook's answer takes."""
NEARLY = 0.75
"""The share of an older hit's score from which a newer one that contradicts it goes before it."""
ASKED_FOR = 0.9
"""How relevant a memory is at least that is of the time and kind that are all that was asked for."""
OWN_PROJECT = 0.1
"""What a memory of the project that the question comes from gains over a global one."""
OTHERS_WEIGHT = 0.9
"""By what the score of a memory is multiplied that another member of a team shared."""

if TYPE_CHECKING:
    from vector_memory.retrieve import fusion

Scoring = Literal["bounded", "sum"]
BeginEmbedding = Callable[[Query], BegunVector]
"""What begins to make a query's vector."""
Load = Callable[[Sequence["_Found"]], "list[tuple[_Found, Memory]]"]
"""Reads the memories of candidates; what has changed since is left out."""
_Against = dict[str, tuple[Memory, ...]]
"""By the ids of memories, those among the hits that contradict them."""


@dataclass(frozen=True)
class Hit:
    """A memory with its score (orders the hits of one question), its relevance (how likely it answers,
    0 … 1, comparable between questions), and what both are made of."""

    memory: Memory
    score: float
    relevance: float
    breakdown: dict[str, float]
    shelf: int
    terms: frozenset[str]
    against: tuple[Memory, ...] = ()
    """The hits beside it that it contradicts."""
    fits: bool = True
    """Whether it is relevant enough to be an answer, or of the time and kind that were asked for."""
    newer: Newer | None = None
    """What a later session said that is like it, of what was found with it."""


@dataclass(frozen=True)
class Answer:
    """What a search found: hits, best first.

    Attributes:
        query: what they answer.
        is_widened: nothing of the time fits that the question is limited to, so the hits are of any.
        least: the relevance from which on a memory fits, 0 … 1.
        weighed: all memories that were weighed, hits and others, best first.
    """

    hits: list[Hit]
    query: Query
    is_widened: bool = False
    least: float = 0.0
    weighed: Sequence[Memory] = ()

    @property
    def period(self) -> period.Period | None:
        """The time that the question is limited to, None where it is not."""
        return period.period_of(self.query)

    @property
    def is_listing(self) -> bool:
        """Whether everything of a kind was asked for, so that each hit counts by itself."""
        return self.query.asks_for_all and bool(self.query.kinds)

    @property
    def note(self) -> str:
        """A sentence that says that nothing of the period fits, and whether something of another time does; ""
        where something of it fits."""
        if not self.is_widened:
            return ""
        does_another = any(hit.fits for hit in self.hits)
        return f"Nothing fits in {self.period}" + (
            "; these are of other times." if does_another else "."
        )


@dataclass(frozen=True)
class _Found:
    """One candidate after fusion: where it is, its fused score, what that is made of, and whether its date and
    its kind are known to be asked about."""

    shelf: int
    seq: int
    fused: float
    cosine: float | None
    bm25: float
    parts: dict[str, float]
    is_timely: bool = False
    is_of_kind: bool = False


@dataclass(frozen=True)
class _Weighed:
    found: _Found
    memory: Memory
    score: float
    values: dict[str, float]
    behind: _Weighed | None = None
    """The hit whose link brought it."""


def search(
    query: Query,
    shelves: Sequence[CandidateSource],
    k: int,
    now: datetime,
    candidates: int = 200,
    scoring: Scoring = "bounded",
    embed: BeginEmbedding | None = None,
    allowed: Callable[[Memory], bool] | None = None,
    least: float = 0.0,
    known: Callable[[Memory], bool] = lambda memory: False,
    pause: Callable[[], object] = lambda: None,
) -> Answer:
    """Search all shelves and weigh what they find together.

    A question that is limited to a period is answered with memories of it. Only if none of them fits the
    question, those of other times are given too.

    Args:
        shelves: the stores asked, the project's own first.
        candidates: how many each retriever of each store may propose.
        scoring: how recency, priority, usage and confidence count; see `factors`.
        embed: begins to make the question's vector, where the query has none yet; words are searched for
            meanwhile.
        allowed: leaves a memory out; what is left out takes no place from others.
        least: the relevance from which on a memory fits its question, 0 … 1.
        known: what who asks has before him: it is no hit and takes no place from others, but what it contradicts
            is told so.
        pause: is called now and then while many hits are made, and lets others come first.

    Returns:
        At most k hits, best first. `score` orders the hits of this question alone; `relevance`
        (0 … 1) compares between questions; `breakdown` says what both are made of, rounded to four
        digits; `shelf` is a place in `shelves`.
    """
    allowed = _within(query.scope, allowed)
    best, load = _best(query, shelves, candidates, embed)
    # More than are shown: some do not hold any more, repeat others, or fall behind by their
    # factors.
    count = max(LEAST_LOADED, DEEPER * k)

    def fits(memory: Memory) -> bool:
        return _fits(memory, query, now) and (allowed is None or allowed(memory))

    loaded = _loaded_of_time(best, query, load, count, fits, known)
    # Before links are followed: what is not served must not bring others.
    weighed = _once(_weigh(one, memory, query, now, scoring) for one, memory in loaded)
    weighed, against = _with_links(weighed, shelves, fits, query.text)
    weighed = [item for item in weighed if not known(item.memory)]
    weighed = _settled(weighed, query.text)
    weighed, is_widened = _of_period(weighed, query, least)
    weighed = _kinds_first(weighed, query)
    # Analysing a text takes longer than all else here, so only what may be shown is analysed.
    every = (_judged(_hit(item, query, against), query, least) for item in _paced(weighed, pause))
    hits = list(islice(_once_said(every), k))
    memories = [item.memory for item in weighed]
    return Answer(
        _with_rivals(_with_newer(hits, weighed, shelves)), query, is_widened, least, memories
    )


def _within(
    scope: Scope, allowed: Callable[[Memory], bool] | None
) -> Callable[[Memory], bool] | None:
    """Return which memories may come: the index does not know all that limits a scope."""
    if not (scope.is_by_state or scope.levels):
        return allowed
    return lambda memory: scope.holds(memory) and (allowed is None or allowed(memory))


def _best(
    query: Query,
    shelves: Sequence[CandidateSource],
    candidates: int,
    embed: BeginEmbedding | None,
) -> tuple[Iterator[_Found], Load]:
    """Return what the shelves propose, best first, and what reads it."""
    # Begun first, since it takes longest: words are searched for meanwhile.
    begun = embed(query) if embed is not None else lambda: query.vector
    by_words = pools.begin(query, shelves, candidates)
    vector = begun()
    load = partial(_load, shelves=shelves)
    if vector is not None or "numpy" in sys.modules:
        from vector_memory.retrieve import fusion

        query = replace(query, vector=vector)
        # Where words take longer than the vector, as in a large store, the nearest are there by then.
        near = pools.nearest(query, shelves, candidates)
        gathered = pools.gather(query, shelves, candidates, pools.read(by_words), near)
        fused = fusion.fuse(query, gathered, shelves)
        return _listed_first(_ranked(fused), query), load
    # The daemon is just starting: there are words alone, and importing numpy takes longer than the rest of the
    # answer.
    return _by_words(pools.read(by_words)), load


def _paced(items: Sequence[_Weighed], pause: Callable[[], object]) -> Iterator[_Weighed]:
    for number, item in enumerate(items, 1):
        if number % AT_A_STRETCH == 0:
            pause()
        yield item


def _with_newer(
    hits: Sequence[Hit], weighed: Sequence[_Weighed], shelves: Sequence[CandidateSource]
) -> list[Hit]:
    """Return hits with what is newer and like them among the best that were found."""
    if "numpy" not in sys.modules:
        return list(hits)
    own = [Weighed(hit.shelf, hit.memory) for hit in hits]
    found = [Weighed(item.found.shelf, item.memory) for item in weighed[:LEAST_LOADED]]
    newer = newer_of(own, found, shelves)
    return [replace(hit, newer=newer.get(hit.memory.id)) for hit in hits]


def _with_rivals(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits of which those fit too that contradict one that fits: who is told the one must see the other."""
    fitting = {hit.memory.id for hit in hits if hit.fits}
    return [
        replace(hit, fits=hit.fits or any(other.id in fitting for other in hit.against))
        if hit.against
        else hit
        for hit in hits
    ]


def _judged(hit: Hit, query: Query, least: float) -> Hit:
    """Return a hit with whether it fits."""
    if query.asks_for_all and (query.periods or query.kinds):
        # "What did we decide last week?" is answered by any decision of it, however little it is like it.
        if not period.holds(query, hit.memory):
            return replace(hit, fits=False)
        # What is remembered without a kind says it in its words: "We decided …".
        is_said = hit.memory.kind == NOTE and bool(KIND_NAMES & hit.terms & set(query.terms))
        if not query.kinds or hit.memory.kind in query.kinds or is_said:
            return replace(hit, relevance=max(hit.relevance, ASKED_FOR))
    return hit if hit.relevance >= least else replace(hit, fits=False)


def _kinds_first(weighed: list[_Weighed], query: Query) -> list[_Weighed]:
    """Return hits with those of the kinds first that a question asks for and says nothing else by which they
    could be ordered: in the order in which it means the kinds, the newest of each first."""
    if not (query.asks_for_all and query.kinds):
        return weighed
    rank = {kind: place for place, kind in enumerate(query.kinds)}
    named = [item for item in weighed if item.memory.kind in rank]
    named.sort(key=lambda item: item.memory.created_at, reverse=True)
    named.sort(key=lambda item: rank[item.memory.kind])
    others = [item for item in weighed if item.memory.kind not in rank]
    # The scores stay where they are, so that they still fall from hit to hit.
    return [
        replace(item, score=place.score)
        for item, place in zip([*named, *others], weighed, strict=True)
    ]


def _of_period(weighed: list[_Weighed], query: Query, least: float) -> tuple[list[_Weighed], bool]:
    """Return what is of the time that a question is limited to; if nothing of it fits, but something else
    does, return all, and True."""
    if not query.periods:
        return weighed, False
    inside = [item for item in weighed if period.holds(query, item.memory)]
    if len(inside) == len(weighed):
        return weighed, False

    def fits(item: _Weighed) -> bool:
        return _judged(_hit(item, query, {}), query, least).fits

    # Of what fits badly too, what is of that time is nearer to what was asked.
    if not inside or (not any(map(fits, inside)) and any(map(fits, weighed))):
        return weighed, True
    return inside, False


def _ranked(fused: fusion.Fused) -> Iterator[_Found]:
    """Yield the candidates by their fused score, the best first."""
    features = fused.features
    for place in fused.best(len(features.seqs)):
        cosine = float(features.dense[place])
        yield _Found(
            int(features.shelf[place]),
            int(features.seqs[place]),
            float(fused.score[place]),
            None if math.isnan(cosine) else cosine,
            float(features.lexical[place]),
            {name: float(values[place]) for name, values in fused.parts.items()},
            bool(features.values["date"][place] == 1.0),
            bool(features.values["kind"][place] == 1.0),
        )


def _listed_first(best: Iterator[_Found], query: Query) -> Iterator[_Found]:
    """Return candidates with those first of which a question asks for all: nothing else says what to load, and
    a month may hold more than is loaded."""
    if not (query.asks_for_all and query.kinds):
        return best
    return iter(
        sorted(best, key=lambda one: not one.is_of_kind or bool(query.spans and not one.is_timely))
    )


def _by_words(read: Sequence[pools.ByWords]) -> Iterator[_Found]:
    found = [(shelf, one) for shelf, by_words in enumerate(read) for one in by_words.words]
    # The shelves' scores side by side, between 0 and 1 as after fusion.
    most = max((candidate.score for _, candidate in found), default=0.0) or 1.0
    # By shelf where scores are equal: the project's own store stands first.
    for shelf, (seq, score) in sorted(found, key=lambda one: (-one[1].score, one[0], -one[1].seq)):
        yield _Found(shelf, seq, score / most, None, score, {"own": score / most})


def _loaded(
    found: Iterator[_Found],
    load: Load,
    count: int,
    may_come: Callable[[Memory], bool],
    known: Callable[[Memory], bool],
) -> list[tuple[_Found, Memory]]:
    """Return the first `count` candidates, and one more for each that may not come or is known: whoever plants a
    lot of those must not crowd out the rest, nor what a long session has said itself."""
    kept: list[tuple[_Found, Memory]] = []
    passed = 0
    while count and passed < MOST_KNOWN and (wanted := list(islice(found, count))):
        loaded = load(wanted)
        coming = [pair for pair in loaded if may_come(pair[1])]
        kept += coming
        count = len(loaded) - sum(not known(memory) for _, memory in coming)
        passed += len(coming) + count - len(loaded)
    return kept


def _loaded_of_time(
    best: Iterator[_Found],
    query: Query,
    load: Load,
    count: int,
    fits: Callable[[Memory], bool],
    known: Callable[[Memory], bool],
) -> list[tuple[_Found, Memory]]:
    """Return the first so many that fit with their memories, of those that say the very same only the first; where
    some are not of the time that is asked about, as many more that are."""
    said: set[tuple[object, ...]] = set()

    def is_first(memory: Memory) -> bool:
        if not fits(memory):
            return False
        # A session that was resumed, forked or held again brings its passages with it: such copies take no place
        # from others.
        is_timely = period.holds(query, memory)
        told = (memory.text, memory.kind, memory.project, memory.source.speaker, is_timely)
        is_new = told not in said
        said.add(told)
        return is_new

    loaded = _loaded(best, load, count, is_first, known)
    if not all(period.holds(query, memory) for _, memory in loaded):
        # What is of that time may stand far behind.
        timely = (one for one in best if one.is_timely)
        loaded += _loaded(timely, load, count, is_first, known)
    return loaded


def _load(
    found: Sequence[_Found], shelves: Sequence[CandidateSource]
) -> list[tuple[_Found, Memory]]:
    loaded = [
        shelf.load([one.seq for one in found if one.shelf == place])
        for place, shelf in enumerate(shelves)
    ]
    # What has changed since the index saw it has another number, and is not loaded.
    return [(one, loaded[one.shelf][one.seq]) for one in found if one.seq in loaded[one.shelf]]


def _fits(memory: Memory, query: Query, now: datetime) -> bool:
    """Whether a memory holds now and is within what was asked for: a successor may be elsewhere."""
    return (
        holds_at(memory, now)
        and (not memory.is_quiet or bool(query.scope.collections))
        and query.scope.holds(memory)
    )


def holds_at(memory: Memory, now: datetime) -> bool:
    """Whether a memory has neither expired nor ceased to hold: no other is served."""
    has_expired = memory.expires_at is not None and memory.expires_at <= now
    return not has_expired and (memory.valid_until is None or memory.valid_until > now)


def _once(items: Iterable[_Weighed]) -> list[_Weighed]:
    """Return each memory once, with its better score, best first: a superseded memory's successor
    may have been found itself."""
    best: dict[str, _Weighed] = {}
    for item in sorted(items, key=lambda item: -item.score):
        best.setdefault(item.memory.id, item)
    return list(best.values())


def _with_links(
    weighed: list[_Weighed],
    shelves: Sequence[CandidateSource],
    fits: Callable[[Memory], bool],
    question: str,
) -> tuple[list[_Weighed], _Against]:
    """Add what is linked to the best, each behind the one that brought it; return with that which
    of all contradict each other."""
    added: list[_Weighed] = []
    links: list[Link] = []
    for place, shelf in enumerate(shelves):
        hits = [item for item in weighed[: expansion.SOURCES] if item.found.shelf == place]
        linked = shelf.linked([item.memory.id for item in hits]) if hits else []
        if not linked:
            continue
        links += [link for link, _ in linked if link.relation is Relation.CONTRADICTS]
        by_id = {item.memory.id: item for item in hits}
        scores = [(item.memory.id, item.score) for item in hits]
        for one in expansion.brought(scores, linked):
            source = by_id[one.source_id]
            if fits(one.memory):
                parts = {f"linked ({one.relation})": source.found.fused * one.score / source.score}
                # It was not found itself: all of its score comes from the hit that brought it.
                found = _Found(place, one.memory.seq, sum(parts.values()), None, 0.0, parts)
                added.append(_Weighed(found, one.memory, one.score, source.values, source))
    weighed = _once([*weighed, *added]) if added else weighed
    return _newest_first(weighed, links, question) if links else (weighed, {})


def _newest_first(
    weighed: list[_Weighed], links: Sequence[Link], question: str
) -> tuple[list[_Weighed], _Against]:
    """Put the newer of two that contradict each other right before the older one, where it is nearly as
    good and holds what the older one holds of the question; return with that what contradicts each."""
    by_id = {item.memory.id: item for item in weighed}
    against: _Against = {}
    for link in links:
        if link.from_id not in by_id or link.to_id not in by_id:
            continue
        ends = by_id[link.from_id], by_id[link.to_id]
        older, newer = sorted(ends, key=lambda item: item.memory.created_at)
        is_as_good = newer.score >= NEARLY * older.score and precedence.holds_as_much(
            question, newer.memory.text, older.memory.text
        )
        if newer.score <= older.score and is_as_good:
            # Just above, by the least that a float can tell: all other hits keep their places.
            lifted = replace(newer, score=math.nextafter(older.score, math.inf))
            by_id[newer.memory.id] = lifted
        for one, other in (ends, ends[::-1]):
            known = against.get(one.memory.id, ())
            if other.memory not in known:
                against[one.memory.id] = (*known, other.memory)
    return sorted(by_id.values(), key=lambda item: -item.score), against


def _settled(weighed: Sequence[_Weighed], question: str) -> list[_Weighed]:
    """Return hits in the order that the question's own words give to those worded alike."""
    scores = precedence.settled(question, [(item.memory, item.score) for item in weighed])
    moved = [replace(item, score=score) for item, score in zip(weighed, scores, strict=True)]
    return sorted(moved, key=lambda item: -item.score)


def _once_said(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield hits, best first, without those that say again what a better one says."""
    said = repetitions.Said()
    return (hit for hit in hits if said.add(hit.memory, hit.terms, hit.against))


def _weigh(one: _Found, memory: Memory, query: Query, now: datetime, scoring: Scoring) -> _Weighed:
    values = factors.factors(memory, now)
    exact = one.parts.get("exact", 0.0)
    if exact and query.numbers == query.exact and not _holds_one(query.numbers, memory.text):
        # Of a date or a version a number is a part: 17 of 2.17.
        one = replace(one, fused=one.fused - exact, parts={**one.parts, "exact": 0.0})
    # Added, so that it counts the same for a weak hit as for a strong one.
    own = OWN_PROJECT if query.own_project and memory.project == query.own_project else 0.0
    if scoring == "sum":
        score = factors.summed(one.fused, values)
    else:
        score = one.fused * factors.multiplier(values, query.latest)
    if memory.author:
        # Between two that fit the same, the user's own comes first.
        score *= OTHERS_WEIGHT
    return _Weighed(one, memory, score + own, {**values, "project": own})


def _holds_one(numbers: Sequence[str], text: str) -> bool:
    return not set(numbers).isdisjoint(numbers_in(text))


def _hit(item: _Weighed, query: Query, against: _Against) -> Hit:
    one, memory = item.found, item.memory
    terms = _terms_of(memory)
    relevance = factors.relevance(one.cosine, query.terms, terms, query.is_blind)
    if item.behind is not None:
        source = item.behind
        held = _terms_of(source.memory)
        own = factors.relevance(source.found.cosine, query.terms, held, query.is_blind)
        # An answer may share no word with its question: what brought it vouches for it.
        relevance = max(relevance, own * item.score / source.score)
    breakdown = {
        **one.parts,
        "similarity": one.fused,
        "cosine": one.cosine or 0.0,
        "bm25": one.bm25,
        "words": factors.coverage(query.terms, terms),
        "relevance": relevance,
        **item.values,
    }
    rounded = {name: round(float(value), 4) for name, value in breakdown.items()}
    beside = against.get(memory.id, ())
    return Hit(memory, float(item.score), float(relevance), rounded, one.shelf, terms, beside)


def _terms_of(memory: Memory) -> frozenset[str]:
    return frozenset(analysis.analyse(memory.title + "\n" + memory.text))
