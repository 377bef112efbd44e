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
from vector_memory.retrieve.newer import Newer, ShelvedMemory, newer_of
from vector_memory.retrieve.query import KIND_NAMES, Query
from vector_memory.text import analysis
from vector_memory.text.words import numbers_in

DEEPER = 2
"""How many times more memories than asked for are loaded and weighed by their factors: with 3 times as many no more
answers are found, and a recall takes a sixth longer."""
LEAST_LOADED = 24
MOST_KNOWN = 48
"""How many memories are passed over that the asker has before him already: to read more takes longer than a prompt
may, and where nearly all is of the session itself, the rest says little."""
AT_A_STRETCH = 50
"""How many hits are made without a pause: half of what a hook's answer takes."""
NEARLY = 0.75
"""The share of an older hit's score from which on a newer one that contradicts it is put before it."""
ASKED_FOR = 0.9
"""The least relevance of a memory of the time and kind, where nothing else was asked for."""
OWN_PROJECT = 0.1
"""What a memory of the project that the question comes from gains over a global one."""
OTHERS_WEIGHT = 0.9
"""By what the score of a memory is multiplied that another member of a team shared."""

if TYPE_CHECKING:
    from vector_memory.retrieve import fusion

Scoring = Literal["bounded", "sum"]
BeginEmbedding = Callable[[Query], BegunVector]
"""What begins to make a query's vector."""
Load = Callable[[Sequence["_FusedCandidate"]], "list[tuple[_FusedCandidate, Memory]]"]
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
class _FusedCandidate:
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
    candidate: _FusedCandidate
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
        known: whether the asker has a memory before him already: it is no hit and takes no place from others, but
            hits that it contradicts say so.
        pause: is called now and then while many hits are made, and lets others come first.

    Returns:
        At most k hits, best first. `score` orders the hits of this question alone; `relevance`
        (0 … 1) compares between questions; `breakdown` says what both are made of, rounded to four
        digits; `shelf` is a place in `shelves`.
    """
    allowed = _scope_filter(query.scope, allowed)
    best, load = _best_candidates(query, shelves, candidates, embed)
    # More than are shown: some do not hold any more, repeat others, or fall behind by their
    # factors.
    count = max(LEAST_LOADED, DEEPER * k)

    def fits(memory: Memory) -> bool:
        return _is_in_scope(memory, query, now) and (allowed is None or allowed(memory))

    loaded = _load_timely(best, query, load, count, fits, known)
    # Before links are followed: what is not served must not bring others.
    weighed = _each_once(_weigh(*pair, query, now, scoring) for pair in loaded)
    weighed, against = _with_links(weighed, shelves, fits, query.text)
    weighed = [item for item in weighed if not known(item.memory)]
    weighed = _reordered(weighed, query.text)
    weighed, is_widened = _of_period(weighed, query, least)
    weighed = _kinds_first(weighed, query)
    # Analysing a text takes longer than all else here, so only what may be shown is analysed.
    paced = _with_pauses(weighed, pause)
    judged = (_with_fit(_hit(item, query, against), query, least) for item in paced)
    best_hits = list(islice(_without_repetitions(judged), k))
    hits = _with_rivals(_with_newer(best_hits, weighed, shelves))
    return Answer(hits, query, is_widened, least, [item.memory for item in weighed])


def _scope_filter(
    scope: Scope, allowed: Callable[[Memory], bool] | None
) -> Callable[[Memory], bool] | None:
    """Return what says which memories may come: the index does not know all that limits a scope."""
    if not (scope.is_by_state or scope.levels):
        return allowed
    return lambda memory: scope.holds(memory) and (allowed is None or allowed(memory))


def _best_candidates(
    query: Query,
    shelves: Sequence[CandidateSource],
    candidates: int,
    embed: BeginEmbedding | None,
) -> tuple[Iterator[_FusedCandidate], Load]:
    """Return what the shelves propose, best first, and what reads it."""
    # Begun first, since it takes longest: words are searched for meanwhile.
    wait_for_vector = embed(query) if embed is not None else lambda: query.vector
    by_words = pools.begin(query, shelves, candidates)
    vector = wait_for_vector()
    load = partial(_load, shelves=shelves)
    if vector is not None or "numpy" in sys.modules:
        from vector_memory.retrieve import fusion

        query = replace(query, vector=vector)
        # Where words take longer than the vector, as in a large store, the nearest are there by then.
        near = pools.nearest(query, shelves, candidates)
        gathered = pools.gather(query, shelves, candidates, pools.read(by_words), near)
        fused = fusion.fuse(query, gathered, shelves)
        return _listed_first(_ranked_candidates(fused), query), load
    # The daemon is just starting: there are words alone, and importing numpy takes longer than the rest of the
    # answer.
    return _word_candidates(pools.read(by_words)), load


def _with_pauses(items: Sequence[_Weighed], pause: Callable[[], object]) -> Iterator[_Weighed]:
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
    hit_items = [ShelvedMemory(hit.shelf, hit.memory) for hit in hits]
    best = [ShelvedMemory(item.candidate.shelf, item.memory) for item in weighed[:LEAST_LOADED]]
    newer = newer_of(hit_items, best, shelves)
    return [replace(hit, newer=newer.get(hit.memory.id)) for hit in hits]


def _with_rivals(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits; one that contradicts a fitting hit fits as well: who is told the one must see the other."""
    fitting = {hit.memory.id for hit in hits if hit.fits}
    return [
        replace(hit, fits=hit.fits or any(other.id in fitting for other in hit.against))
        if hit.against
        else hit
        for hit in hits
    ]


def _with_fit(hit: Hit, query: Query, least: float) -> Hit:
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
    of_kinds = [item for item in weighed if item.memory.kind in rank]
    of_kinds.sort(key=lambda item: item.memory.created_at, reverse=True)
    of_kinds.sort(key=lambda item: rank[item.memory.kind])
    other_items = [item for item in weighed if item.memory.kind not in rank]
    # The scores stay where they are, so that they still fall from hit to hit.
    return [
        replace(item, score=slot.score)
        for item, slot in zip([*of_kinds, *other_items], weighed, strict=True)
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
        return _with_fit(_hit(item, query, {}), query, least).fits

    # Of what fits badly too, what is of that time is nearer to what was asked.
    if not inside or (not any(map(fits, inside)) and any(map(fits, weighed))):
        return weighed, True
    return inside, False


def _ranked_candidates(fused: fusion.Fused) -> Iterator[_FusedCandidate]:
    """Yield the candidates by their fused score, the best first."""
    features = fused.features
    for place in fused.best(len(features.seqs)):
        cosine = float(features.dense[place])
        yield _FusedCandidate(
            int(features.shelf[place]),
            int(features.seqs[place]),
            float(fused.score[place]),
            None if math.isnan(cosine) else cosine,
            float(features.lexical[place]),
            {name: float(values[place]) for name, values in fused.parts.items()},
            bool(features.values["date"][place] == 1.0),
            bool(features.values["kind"][place] == 1.0),
        )


def _listed_first(best: Iterator[_FusedCandidate], query: Query) -> Iterator[_FusedCandidate]:
    """Return candidates with those first of which a question asks for all: nothing else says what to load, and
    a month may hold more than is loaded."""
    if not (query.asks_for_all and query.kinds):
        return best
    return iter(
        sorted(
            best,
            key=lambda candidate: (
                not candidate.is_of_kind or bool(query.spans and not candidate.is_timely)
            ),
        )
    )


def _word_candidates(word_matches: Sequence[pools.WordMatches]) -> Iterator[_FusedCandidate]:
    matches = [
        (shelf, candidate)
        for shelf, by_words in enumerate(word_matches)
        for candidate in by_words.words
    ]
    # The shelves' scores side by side, between 0 and 1 as after fusion.
    top = max((candidate.score for _, candidate in matches), default=0.0) or 1.0
    # By shelf where scores are equal: the project's own store stands first.
    for shelf, (seq, score) in sorted(
        matches, key=lambda match: (-match[1].score, match[0], -match[1].seq)
    ):
        yield _FusedCandidate(shelf, seq, score / top, None, score, {"own": score / top})


def _load_allowed(
    candidates: Iterator[_FusedCandidate],
    load: Load,
    count: int,
    may_come: Callable[[Memory], bool],
    is_known: Callable[[Memory], bool],
) -> list[tuple[_FusedCandidate, Memory]]:
    """Return the first `count` candidates, and one more for each that may not come or is known: whoever plants a
    lot of those must not crowd out the rest, nor what a long session has said itself."""
    kept_pairs: list[tuple[_FusedCandidate, Memory]] = []
    passed_over = 0
    while count and passed_over < MOST_KNOWN and (batch := list(islice(candidates, count))):
        loaded = load(batch)
        coming = [pair for pair in loaded if may_come(pair[1])]
        kept_pairs += coming
        count = len(loaded) - sum(not is_known(memory) for _, memory in coming)
        passed_over += len(coming) + count - len(loaded)
    return kept_pairs


def _load_timely(
    best: Iterator[_FusedCandidate],
    query: Query,
    load: Load,
    count: int,
    fits: Callable[[Memory], bool],
    is_known: Callable[[Memory], bool],
) -> list[tuple[_FusedCandidate, Memory]]:
    """Return the first `count` candidates that fit, with their memories, of copies of one text only the first; where
    some are not of the time that is asked about, as many more that are."""
    said_keys: set[tuple[object, ...]] = set()

    def is_first(memory: Memory) -> bool:
        if not fits(memory):
            return False
        # A session that was resumed, forked or held again brings its passages with it: such copies take no place
        # from others.
        is_timely = period.holds(query, memory)
        key = (memory.text, memory.kind, memory.project, memory.source.speaker, is_timely)
        is_new = key not in said_keys
        said_keys.add(key)
        return is_new

    loaded = _load_allowed(best, load, count, is_first, is_known)
    if not all(period.holds(query, memory) for _, memory in loaded):
        # What is of that time may stand far behind.
        timely = (candidate for candidate in best if candidate.is_timely)
        loaded += _load_allowed(timely, load, count, is_first, is_known)
    return loaded


def _load(
    candidates: Sequence[_FusedCandidate], shelves: Sequence[CandidateSource]
) -> list[tuple[_FusedCandidate, Memory]]:
    loaded = [
        shelf.load([candidate.seq for candidate in candidates if candidate.shelf == place])
        for place, shelf in enumerate(shelves)
    ]
    # What has changed since the index saw it has another number, and is not loaded.
    return [
        (candidate, loaded[candidate.shelf][candidate.seq])
        for candidate in candidates
        if candidate.seq in loaded[candidate.shelf]
    ]


def _is_in_scope(memory: Memory, query: Query, now: datetime) -> bool:
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


def _each_once(items: Iterable[_Weighed]) -> list[_Weighed]:
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
    """Add what is linked to the best, each behind the hit that brought it; return all, and what
    contradicts each."""
    added: list[_Weighed] = []
    links: list[Link] = []
    for place, shelf in enumerate(shelves):
        hits = [item for item in weighed[: expansion.SOURCES] if item.candidate.shelf == place]
        linked = shelf.linked([item.memory.id for item in hits]) if hits else []
        if not linked:
            continue
        links += [link for link, _ in linked if link.relation is Relation.CONTRADICTS]
        by_id = {item.memory.id: item for item in hits}
        scores = [(item.memory.id, item.score) for item in hits]
        for followed in expansion.follow_links(scores, linked):
            source = by_id[followed.source_id]
            if fits(followed.memory):
                share = source.candidate.fused * followed.score / source.score
                parts = {f"linked ({followed.relation})": share}
                # It was not found itself: all of its score comes from the hit that brought it.
                candidate = _FusedCandidate(
                    place, followed.memory.seq, sum(parts.values()), None, 0.0, parts
                )
                added.append(
                    _Weighed(candidate, followed.memory, followed.score, source.values, source)
                )
    weighed = _each_once([*weighed, *added]) if added else weighed
    return _newest_first(weighed, links, question) if links else (weighed, {})


def _newest_first(
    weighed: list[_Weighed], links: Sequence[Link], question: str
) -> tuple[list[_Weighed], _Against]:
    """Put the newer of two that contradict each other right before the older one, where it is nearly as
    good and holds what the older one holds of the question; return all, and what contradicts each."""
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
        for item, other in (ends, ends[::-1]):
            known_rivals = against.get(item.memory.id, ())
            if other.memory not in known_rivals:
                against[item.memory.id] = (*known_rivals, other.memory)
    return sorted(by_id.values(), key=lambda item: -item.score), against


def _reordered(weighed: Sequence[_Weighed], question: str) -> list[_Weighed]:
    """Return hits in the order that the question's own words give to those worded alike."""
    scores = precedence.settled(question, [(item.memory, item.score) for item in weighed])
    moved = [replace(item, score=score) for item, score in zip(weighed, scores, strict=True)]
    return sorted(moved, key=lambda item: -item.score)


def _without_repetitions(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield hits, best first, without those that say again what a better one says."""
    said_texts = repetitions.SaidTexts()
    return (hit for hit in hits if said_texts.add(hit.memory, hit.terms, hit.against))


def _weigh(
    candidate: _FusedCandidate, memory: Memory, query: Query, now: datetime, scoring: Scoring
) -> _Weighed:
    values = factors.factors(memory, now)
    exact = candidate.parts.get("exact", 0.0)
    if exact and query.numbers == query.exact and not _has_number_of(query.numbers, memory.text):
        # Of a date or a version a number is a part: 17 of 2.17.
        candidate = replace(
            candidate, fused=candidate.fused - exact, parts={**candidate.parts, "exact": 0.0}
        )
    # Added, so that it counts the same for a weak hit as for a strong one.
    own_bonus = OWN_PROJECT if query.own_project and memory.project == query.own_project else 0.0
    if scoring == "sum":
        score = factors.literal_score(candidate.fused, values)
    else:
        score = candidate.fused * factors.multiplier(values, query.latest)
    if memory.author:
        # Between two that fit the same, the user's own comes first.
        score *= OTHERS_WEIGHT
    return _Weighed(candidate, memory, score + own_bonus, {**values, "project": own_bonus})


def _has_number_of(numbers: Sequence[str], text: str) -> bool:
    return not set(numbers).isdisjoint(numbers_in(text))


def _hit(item: _Weighed, query: Query, against: _Against) -> Hit:
    candidate, memory = item.candidate, item.memory
    terms = _terms_of(memory)
    relevance = factors.relevance(candidate.cosine, query.terms, terms, query.is_blind)
    if item.behind is not None:
        source = item.behind
        source_terms = _terms_of(source.memory)
        source_relevance = factors.relevance(
            source.candidate.cosine, query.terms, source_terms, query.is_blind
        )
        # An answer may share no word with its question: what brought it vouches for it.
        relevance = max(relevance, source_relevance * item.score / source.score)
    breakdown = {
        **candidate.parts,
        "similarity": candidate.fused,
        "cosine": candidate.cosine or 0.0,
        "bm25": candidate.bm25,
        "words": factors.coverage(query.terms, terms),
        "relevance": relevance,
        **item.values,
    }
    rounded = {name: round(float(value), 4) for name, value in breakdown.items()}
    rivals = against.get(memory.id, ())
    return Hit(memory, float(item.score), float(relevance), rounded, candidate.shelf, terms, rivals)


def _terms_of(memory: Memory) -> frozenset[str]:
    return frozenset(analysis.analyse(memory.title + "\n" + memory.text))
