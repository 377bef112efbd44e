"""Fusion, factors, duplicates and rendering: pure, so tested without a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vector_memory.model import (
    IS_FOREIGN,
    Around,
    Candidate,
    CleanText,
    Link,
    Mark,
    Memory,
    Origin,
    Priority,
    Relation,
    Scope,
    Source,
)
from vector_memory.retrieve import factors, fusion, query, render, topics
from vector_memory.retrieve.candidates import begin, gather, nearest, read
from vector_memory.retrieve.search import Hit, search
from vector_memory.text import fence

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)


def memory(seq: int, text: str, **more: object) -> Memory:
    """Return a stored memory."""
    return Memory(f"{seq:032x}", CleanText(text), NOW, seq=seq, **more)  # type: ignore[arg-type]


class Shelf:
    """A shelf that proposes what it is told to."""

    def __init__(
        self,
        memories: Sequence[Memory],
        lexical: Sequence[tuple[int, float]] = (),
        dense: Sequence[tuple[int, float]] = (),
    ) -> None:
        self.memories = {one.seq: one for one in memories}
        self.lexical = [Candidate(*one) for one in lexical]
        self.dense = [Candidate(*one) for one in dense]
        self.links: list[Link] = []

    def begin_matching(
        self, terms: Sequence[str], scope: Scope, k: int
    ) -> Callable[[], list[Candidate]]:
        return lambda: self.lexical[:k]

    def nearest(self, vector: object, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        return self.dense[:k]

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        return None

    def vectors(self, seqs: object) -> None:
        return None

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        return []

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        return []

    def load(self, seqs: Sequence[int]) -> dict[int, Memory]:
        return {seq: self.memories[seq] for seq in seqs if seq in self.memories}

    def linked(self, ids: Sequence[str]) -> list[tuple[Link, Memory]]:
        ends = [(link, end) for link in self.links for end in (link.from_id, link.to_id)]
        known = {one.id: one for one in self.memories.values()}
        return [(link, known[end]) for link, end in ends if end not in ids]


class Conversation(Shelf):
    """A shelf whose memories are the turns of one session, in the order of their numbers; speakers
    are coded by their place in `people`."""

    people = ("Ana", "Ben")

    def around(self, seqs: Sequence[int], spread: Sequence[int]) -> Around | None:
        near = {one + step for one in spread for step in (-1, 1, 2)} & set(self.memories)
        own = np.array(sorted({*seqs, *near}), np.int64)

        def there(step: int) -> NDArray[np.int64]:
            return np.array([x + step if x + step in self.memories else 0 for x in own], np.int64)

        turns = [self.memories[int(x)] for x in own]
        return Around(
            own,
            there(-1),
            there(-2),
            there(1),
            np.zeros(len(own), np.int32),
            np.array([self.people.index(one.source.speaker) for one in turns], np.int32),
            np.zeros(len(own), np.int32),
            np.array([one.created_at.timestamp() / 86_400 for one in turns]),
            np.array([len(one.text.split()) for one in turns], np.uint8),
            np.array([Mark.QUESTION * one.text.endswith("?") for one in turns], np.uint8),
        )

    def codes(self, column: str, words: Iterable[str]) -> list[int]:
        known = self.people if column == "speaker" else ()
        return [known.index(word) for word in words if word in known]

    def between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        days = {seq: one.created_at.timestamp() / 86_400 for seq, one in self.memories.items()}
        return [seq for seq, day in days.items() if start <= day < end][:k]


VECTOR = np.array([1.0], np.float32)


def ask(text: str, shelves: Sequence[Shelf], k: int = 5) -> list[Hit]:
    """Search shelves for a text."""
    return search(query.analyse(text, Scope(), VECTOR), shelves, k, NOW).hits


def test_what_both_retrievers_propose_comes_first() -> None:
    """Agreement of words and meaning beats either alone."""
    texts = [memory(1, "alpha"), memory(2, "beta"), memory(3, "gamma")]
    shelf = Shelf(texts, lexical=[(1, 9.0), (2, 8.0)], dense=[(3, 0.8), (2, 0.79), (1, 0.1)])
    assert ask("anything else", [shelf])[0].memory.seq == 2


@given(
    st.lists(st.tuples(st.integers(1, 30), st.floats(0, 300)), max_size=20),
    st.lists(st.tuples(st.integers(1, 30), st.floats(-1, 1)), max_size=20),
)
def test_fused_scores_stay_between_0_and_1(
    lexical: list[tuple[int, float]], dense: list[tuple[int, float]]
) -> None:
    """Scores of any scale fuse into 0 … 1, and their parts add up."""
    shelf = Shelf([], list(dict(lexical).items()), list(dict(dense).items()))
    asked = query.analyse("words", Scope(), VECTOR)
    found = read(begin(asked, [shelf], 200))
    fused = fusion.fuse(
        asked, gather(asked, [shelf], 200, found, nearest(asked, [shelf], 200)), [shelf]
    )
    assert ((fused.score >= 0) & (fused.score <= 1 + 1e-9)).all()
    assert np.allclose(sum(fused.parts.values()), fused.score)
    ordered = fused.score[fused.best(100)]
    assert (np.diff(ordered) <= 1e-12).all()


def turn(seq: int, speaker: str, text: str, days_ago: float = 0) -> Memory:
    """Return a turn of a conversation."""
    at = NOW - timedelta(days=days_ago)
    return Memory(
        f"{seq:032x}", CleanText(text), at, seq=seq, source=Source("s", speaker=speaker, turn=seq)
    )


def found(shelf: Shelf, text: str, **more: object) -> list[int]:
    """Return the sequence numbers that a question brings, best first."""
    asked = query.analyse(text, Scope(), VECTOR, **more)  # type: ignore[arg-type]
    return [hit.memory.seq for hit in search(asked, [shelf], 5, NOW).hits]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    """The turn that answers shares no word with what is asked, but stands after the one that does."""
    turns = [
        turn(1, "Ana", "Which database did we take?"),
        turn(2, "Ben", "The one with triggers."),
    ]
    turns += [turn(seq, "Ana", f"Something else {seq}.") for seq in range(3, 9)]
    shelf = Conversation(turns, lexical=[(1, 9.0), (5, 2.0)])
    assert found(shelf, "which database")[:2] == [1, 2]


def test_whose_words_are_asked_for_comes_first() -> None:
    """A named speaker's own words go before another's that match a little better."""
    turns = [turn(1, "Ana", "I bought a violin."), turn(5, "Ben", "I bought a violin.")]
    shelf = Conversation(turns, lexical=[(1, 5.2), (5, 5.0)])
    everybody = {"ana": "Ana", "ben": "Ben"}

    def people(words: Iterable[str]) -> list[str]:
        return [everybody[word] for word in words if word in everybody]

    assert found(shelf, "who bought a violin?")[0] == 1
    assert found(shelf, "what did Ben buy, a violin?", find_speakers=people)[0] == 5


def test_the_time_asked_about_counts_and_brings_what_no_word_finds() -> None:
    """A memory of that time comes first; one that shares no word with the question comes too."""
    turns = [turn(1, "Ana", "The deploy failed.", 40), turn(5, "Ana", "The deploy failed.", 8)]
    turns.append(turn(9, "Ben", "Lunch was late.", 9))
    shelf = Conversation(turns, lexical=[(1, 5.1), (5, 5.0)])
    assert found(shelf, "why did the deploy fail?")[0] == 1
    asked = found(shelf, "why did the deploy fail last week?", now=NOW)
    assert asked[0] == 5 and 9 in asked


def test_a_pointing_candidate_without_vector_is_not_lost() -> None:
    """Missing vectors count as far, not as an error."""
    shelf = Shelf([memory(1, "alpha"), memory(2, "beta")], lexical=[(1, 9.0)], dense=[(2, 0.4)])
    assert {hit.memory.seq for hit in ask("alpha", [shelf])} == {1, 2}


def test_latest_asks_for_what_holds_now() -> None:
    """With equal words the newer wins, and more clearly so when the question asks for now."""
    old, new = turn(1, "Ana", "We use port 1.", 400), turn(5, "Ana", "We use port 2.", 1)
    old_values, new_values = factors.factors(old, NOW), factors.factors(new, NOW)
    usual = factors.multiplier(new_values) - factors.multiplier(old_values)
    latest = factors.multiplier(new_values, True) - factors.multiplier(old_values, True)
    assert 0 < usual < latest <= factors.BOUND


def test_the_literal_sum_is_a_setting() -> None:
    """0.4, 0.2, 0.2, 0.2, as the four factors say."""
    values = {"recency": 1.0, "priority": 0.5, "usage": 0.0, "confidence": 0.9}
    assert factors.literal_score(0.5, values) == pytest.approx(0.4 * 0.5 + 0.2 + 0.1)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.sampled_from(list(Priority)))
def test_factors_only_move_a_score_within_their_bound(
    days: int, uses: int, priority: Priority
) -> None:
    """However old, important or used a memory is, the multiplier stays within 1 … 1.1."""
    values = {
        **factors.factors(memory(1, "x"), NOW + timedelta(days=days)),
        "usage": factors.usage(uses),
        "priority": factors.PRIORITIES[priority],
    }
    assert 1.0 <= factors.multiplier(values) <= 1.0 + factors.BOUND + 1e-9


def test_recency_halves() -> None:
    """A half-life ago counts half; the future counts as now."""
    past = NOW - timedelta(days=factors.HALF_LIFE_DAYS)
    assert factors.recency(past, NOW) == pytest.approx(0.5)
    assert factors.recency(NOW + timedelta(days=1), NOW) == 1.0


def test_relevance_compares_between_questions() -> None:
    """The same matter in other words is relevant; a shared common word is not; without a vector it
    takes most of several words."""
    same = factors.relevance(0.62, ["databas", "journal"], ["sqlite", "wal", "databas"])
    other = factors.relevance(0.12, ["databas", "journal", "mode"], ["journal", "of", "travel"])
    assert same > 0.5 > 0.3 > other
    assert factors.relevance(None, ["a", "b", "c", "d"], ["a", "b", "c", "d"]) == 1.0
    assert factors.relevance(None, ["fail"], ["fail", "backup"]) < 0.3


@pytest.mark.parametrize(
    ("text", "knows_english_only", "is_blind"),
    [
        ("Ekmek nasıl pişirilir?", True, True),
        ("빵을 어떻게 굽나요?", True, True),
        ("빵을 어떻게 굽나요?", False, False),
        ("Why do we keep sessions in Redis?", True, False),
    ],
)
def test_a_vector_of_an_unknown_language_is_not_trusted(
    text: str, knows_english_only: bool, is_blind: bool
) -> None:
    """Two texts of one are near each other whatever they say: words must agree, or nothing fits."""
    asked = query.analyse(text, Scope(), only_english=knows_english_only)
    assert asked.is_blind == is_blind
    near = factors.relevance(0.8, asked.terms, ["unlike"], asked.is_blind)
    assert (near < factors.FITS) == is_blind
    assert factors.relevance(0.6, asked.terms, asked.terms, asked.is_blind) > 0.9


@given(st.floats(-1, 1), st.integers(0, 5), st.integers(1, 5), st.booleans())
def test_relevance_rises_with_meaning_and_words(
    cosine: float, shared: int, more: int, is_blind: bool
) -> None:
    """It is a probability, and no further agreement lowers it."""
    asked = [f"w{i}" for i in range(10)]
    low = factors.relevance(cosine, asked, asked[:shared], is_blind)
    high = factors.relevance(min(1.0, cosine + 0.1), asked, asked[: shared + more], is_blind)
    assert 0.0 <= low <= high <= 1.0


def test_stale_entries_of_an_index_vanish() -> None:
    """What the journal no longer knows under its number is no hit."""
    shelf = Shelf([memory(2, "beta")], lexical=[(1, 9.0), (2, 1.0)])
    assert [hit.memory.seq for hit in ask("beta", [shelf])] == [2]


def test_expired_memories_are_not_shown() -> None:
    """A memory past its end, or no longer valid, is silent."""
    gone = memory(1, "beta", expires_at=NOW - timedelta(seconds=1))
    void = memory(2, "beta", valid_until=NOW - timedelta(days=1))
    kept = memory(3, "beta", valid_until=NOW + timedelta(days=1))
    shelf = Shelf([gone, void, kept], lexical=[(1, 3.0), (2, 2.0), (3, 1.0)])
    assert [hit.memory.seq for hit in ask("beta", [shelf])] == [3]


def test_near_duplicates_collapse() -> None:
    """Of two texts that say the same, the better stands for both."""
    words = "the ledger uses sqlite in wal mode because readers must not block"
    shelf = Shelf(
        [memory(1, words), memory(2, words + " ever"), memory(3, "pnpm builds the frontend")],
        lexical=[(1, 3.0), (2, 2.9), (3, 1.0)],
    )
    assert [hit.memory.seq for hit in ask("ledger", [shelf])] == [1, 3]


def test_a_long_search_pauses() -> None:
    """Whoever waits for less comes between."""
    words = [f"the {word} ledger {number}" for number, word in enumerate(["red", "blue"] * 60)]
    memories = [memory(number, text) for number, text in enumerate(words, 1)]
    shelf = Shelf(memories, lexical=[(one.seq, 3.0 - one.seq / 100) for one in memories])
    pauses: list[str] = []
    asked = query.analyse("ledger", Scope(), VECTOR)
    hits = search(asked, [shelf], 100, NOW, pause=lambda: pauses.append("now")).hits
    assert (len(hits), len(pauses)) == (100, 2)


class Copied(Shelf):
    """A shelf of which those are copies whose score is the same."""

    def nearest(self, vector: object, scope: Scope, k: int, copies: int = 1) -> list[Candidate]:
        each = {one.score: one for one in self.dense}
        return [*(each.values() if copies > 1 else self.dense)][:k]

    def vectors(self, seqs: Any) -> Any:
        scores = dict(self.dense)
        return np.stack([VECTOR * scores[int(seq)] for seq in seqs]).astype(np.float32)


def test_copies_of_one_text_take_no_place_from_others() -> None:
    """Neither among what is loaded, nor among what each search may propose."""
    copies = [memory(seq, "The queue holds ten jobs.") for seq in range(1, 121)]
    other = memory(121, "The importer has a queue of its own.")
    scores = [(one.seq, 0.9) for one in copies] + [(other.seq, 0.7)]
    shelf = Copied([*copies, other], scores, scores)
    asked = query.analyse("queue", Scope(), VECTOR)
    found = [hit.memory.text for hit in search(asked, [shelf], 2, NOW, candidates=50).hits]
    assert found == [copies[0].text, other.text]


def test_what_is_known_takes_no_place_and_still_contradicts() -> None:
    """Forty texts of the session that asks stand before another one, and one of them says otherwise."""
    own = [memory(seq, f"the queue holds job {seq}") for seq in range(2, 42)]
    other = memory(1, "the queue holds no job")
    shelf = Shelf([*own, other], lexical=[(one.seq, 9.0) for one in own] + [(1, 1.0)])
    shelf.links = [Link(own[0].id, other.id, Relation.CONTRADICTS)]
    asked = query.analyse("queue", Scope(), VECTOR)
    (hit,) = search(asked, [shelf], 5, NOW, known=lambda one: one.seq > 1).hits
    assert (hit.memory, hit.against) == (other, (own[0],))
    assert len(search(asked, [shelf], 5, NOW).hits) == 5


def test_the_own_project_comes_first_on_a_tie() -> None:
    """With equal scores, the memory of the project that asks is before the global one."""
    shared, own = memory(1, "tabs not spaces"), memory(1, "spaces, not tabs", project="p-1")
    shelves = [Shelf([shared], lexical=[(1, 1.0)]), Shelf([own], lexical=[(1, 1.0)])]
    asked = query.analyse("tabs", Scope(), None, own_project="p-1")
    assert search(asked, shelves, 2, NOW).hits[0].memory.project == "p-1"


def test_links_bring_what_belongs_to_a_hit() -> None:
    """An answer comes with its question though no word of it matches, behind what brought it; what a
    link only replaces does not come."""
    shelf = Shelf([memory(seq, f"text {seq}") for seq in range(1, 5)], lexical=[(1, 9.0)])
    shelf.links = [
        Link(f"{2:032x}", f"{1:032x}", Relation.ANSWERS),
        Link(f"{1:032x}", f"{3:032x}", Relation.RELATES_TO, 0.5),
        Link(f"{1:032x}", f"{4:032x}", Relation.SUPERSEDES),
    ]
    found = ask("text", [shelf])
    assert [hit.memory.seq for hit in found] == [1, 2, 3]
    assert found[0].score > found[1].score > found[2].score
    assert 0 < found[1].relevance <= found[0].relevance


def test_a_link_out_of_scope_brings_nothing() -> None:
    """What another project holds stays there, whatever links to it."""
    own, foreign = memory(1, "alpha", project="p"), memory(2, "beta", project="q")
    shelf = Shelf([own, foreign], lexical=[(1, 9.0)])
    shelf.links = [Link(own.id, foreign.id, Relation.BUILDS_ON)]
    asked = query.analyse("alpha", Scope(projects=("p",)), VECTOR)
    assert [hit.memory.seq for hit in search(asked, [shelf], 5, NOW).hits] == [1]


def test_a_successor_stands_once_with_the_better_score() -> None:
    """The shelf gives a superseded memory's successor for its number: it is one hit, not two."""
    new = memory(2, "the port is 5433 now")
    shelf = Shelf([], lexical=[(1, 9.0), (2, 3.0)])
    shelf.memories = {1: new, 2: new}
    (hit,) = ask("port", [shelf])
    assert hit.memory.seq == 2
    assert hit.breakdown["bm25"] == 9.0


def test_hits_are_grouped_by_topic() -> None:
    """The same exchange, the same title or mostly the same words are one topic; others their own."""
    first = Source("s", turn=3)
    texts = [
        memory(1, "the ledger retries webhooks with backoff", source=first, title="Webhooks"),
        memory(2, "pnpm builds the frontend"),
        memory(3, "and it gives up after five", source=first),
        memory(4, "pnpm builds the frontend in docker"),
    ]
    hits = ask("x", [Shelf(texts, lexical=[(seq, 9.0 - seq) for seq in range(1, 5)])])
    found = topics.topics(hits)
    grouped = [[hits[place].memory.seq for place in one.places] for one in found]
    assert grouped == [[1, 3], [2, 4]]
    assert found[0].name == "Webhooks"
    assert "pnpm" in found[1].name


def hits_of(texts: Sequence[str]) -> list[Hit]:
    """Return hits as a search gives them."""
    return [
        Hit(
            memory(n, text, source=Source("s", "/t/x.jsonl", 3, 9, n)),
            1.0 / n,
            0.9,
            {},
            0,
            frozenset(),
        )
        for n, text in enumerate(texts, 1)
    ]


@given(st.lists(st.text(min_size=1, max_size=3_000), min_size=1, max_size=8), st.integers(150, 800))
def test_a_block_never_exceeds_its_budget(texts: list[str], budget: int) -> None:
    """Whatever is found, what is injected fits in the tokens allowed."""
    notes = render.notes(hits_of(texts), budget, lambda project: "ledger", ["word"])
    if notes:
        assert fence.tokens(fence.fence(notes)) <= budget * 1.1


def test_a_note_that_would_be_halved_gives_its_place_to_a_shorter_one() -> None:
    """But for the best, of which a part says more than nothing."""
    long, short = (
        "The import of the bank's exports fails at night. " * 60,
        "The import runs at six.",
    )
    notes = render.notes(hits_of([long, long, short]), 400, lambda project: "ledger")
    assert [note.id[-1] for note in notes] == ["1", "3"]
    assert notes[1].text == short


def test_a_note_says_when_what_and_where() -> None:
    """The first line carries date, kind, project, id and the source lines."""
    line = render.head(hits_of(["text"])[0].memory, "ledger")
    assert line == "2026-05-03 · note · ledger · user · 00000000 x.jsonl:3-9"


def test_a_note_spends_no_tokens_on_what_says_nothing() -> None:
    """A session's id is cut, a title that the text has already is left out, a long one is cut."""
    (hit,) = hits_of(["The import fails for exports of the bank."])
    name = "/t/6ad06860-bfc7-4417-a829-0477aaeb301a.jsonl"
    source = replace(hit.memory.source, path=name)
    memory = replace(hit.memory, source=source, title="the import fails for exports of the bank…")
    head = render.note(memory, "ledger", 200).head
    assert "00000000 6ad06860….jsonl:3-9" in head
    assert "fails" not in head
    other = replace(memory, title="why do the nightly jobs of the ledger take " + "so " * 40)
    assert 20 < len(render.note(other, "ledger", 200).head.rpartition(" · ")[2]) <= 61


LAST_WEEK = NOW - timedelta(days=NOW.weekday() + 5)


def decided(seq: int, text: str, at: datetime, speaker: str = "") -> Memory:
    """Return a memory of some time, which nobody or somebody said."""
    return replace(memory(seq, text), created_at=at, source=Source("s", speaker=speaker))


def answered(shelf: Shelf, text: str, least: float = 0.0) -> tuple[list[int], bool]:
    """Return the sequence numbers that a question brings, and whether its period was left."""
    answer = search(query.analyse(text, Scope(), VECTOR, now=NOW), [shelf], 5, NOW, least=least)
    return [hit.memory.seq for hit in answer.hits], answer.is_widened


def march_and_last_week(*more: Memory) -> Shelf:
    """A shelf on which the decision of March is nearer to any question than that of last week."""
    march = decided(1, "We decided on Redis for the cache", datetime(2026, 3, 3, tzinfo=NOW.tzinfo))
    week = decided(2, "Settled: Postgres holds the queue", LAST_WEEK)
    return Shelf([march, week, *more], [(1, 9.0), (3, 4.0), (2, 1.0)], [(1, 0.8), (2, 0.3)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we decide last week?", [2]),
        ("decisions last week", [2]),
        ("what did we decide in March?", [1]),
        ("what did we decide before April?", [1]),
        ("what have we decided since April?", [2]),
        ("what did we decide between February and 10 March?", [1]),
    ],
)
def test_a_question_is_limited_to_its_period(text: str, expected: list[int]) -> None:
    """What is of another time is left out, however near it is."""
    assert answered(march_and_last_week(), text) == (expected, False)


@pytest.mark.parametrize(
    "text",
    [
        "what did we decide recently?",
        "The release is on 27 April. Write the notes for it, and say what we decided.",
        "2026-04-27 14:22:07 queue: worker died. Why does the queue die?",
        "what did we decide?",
    ],
)
def test_a_time_that_is_only_mentioned_limits_nothing(text: str) -> None:
    """A statement's date, a log's minute and a vague word are no periods."""
    assert answered(march_and_last_week(), text)[0][0] == 1


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("what did we decide about Redis in 2024?", "; these are of other times."),
        ("what did we decide in 2024?", "."),
        ("which decisions in 2024?", "."),
    ],
)
def test_a_period_without_memories_is_left_and_that_is_said(text: str, note: str) -> None:
    """If there is nothing in it, other times come, and the answer says so; what names nothing but the time
    is answered by none of these."""
    shelf = march_and_last_week()
    answer = search(query.analyse(text, Scope(), now=NOW), [shelf], 5, NOW)
    assert [hit.memory.seq for hit in answer.hits] == [1, 2]
    assert answer.period is not None
    assert answer.period.start == datetime(2024, 1, 1, tzinfo=timezone.utc)
    assert answer.note == f"Nothing fits in 2024-01-01 to 2024-12-31{note}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we decide last week?", [5, 4, 3, 2]),
        ("which decisions last week?", [5, 4, 3, 2]),
        ("what are the open questions of last week?", [6]),
        ("what did we decide?", [5, 4, 3, 2, 1]),
        ("which problems were there last week?", []),
        ("what did we decide about the queue last week?", []),
    ],
)
def test_a_kind_and_a_period_bring_that_kind(text: str, expected: list[int]) -> None:
    """The kind that is named stands first, then what is as good as it, the newest first, then a note that says so in
    its words; only those fit, surely, unless a subject is named too."""
    kinds = {2: "conclusion", 3: "conclusion", 4: "decision", 5: "decision", 6: "question"}
    week = [
        replace(decided(seq, f"Word{seq} of the week", LAST_WEEK + timedelta(hours=seq)), kind=kind)
        for seq, kind in kinds.items()
    ]
    march = decided(1, "We decided on Redis for the cache", datetime(2026, 3, 3, tzinfo=NOW.tzinfo))
    shelf = Shelf([march, *week], [(1, 9.0), *((seq, 7.0 - seq) for seq in kinds)])
    asked = query.analyse(text, Scope(), VECTOR, now=NOW)
    hits = search(asked, [shelf], 8, NOW, least=0.5).hits
    assert [hit.memory.seq for hit in hits if hit.fits] == expected
    assert all(hit.relevance >= 0.9 for hit in hits if hit.fits)


def test_a_period_in_which_nothing_fits_is_left() -> None:
    """Where something of another time fits a question and nothing of its own does, that is given."""
    shelf = march_and_last_week()
    asked = "why was Redis the cache last week?"
    assert answered(shelf, asked, least=0.5) == ([1, 2], True)
    assert answered(shelf, "anything about llamas last week?", least=0.999) == ([2], False)


def test_what_speaks_of_the_period_belongs_to_it() -> None:
    """A memory of another time that names a day of the period is about it."""
    noted = decided(3, "The freeze is on 20 April 2026", datetime(2026, 2, 1, tzinfo=NOW.tzinfo))
    assert answered(march_and_last_week(noted), "what happens between 10 April and 2 May?") == (
        [3, 2],
        False,
    )


def test_talk_of_people_is_ranked_by_its_time_and_not_left_out() -> None:
    """People tell of a time later: what was said after it may be the answer."""
    told = decided(3, "I moved to Bern in the end", datetime(2026, 4, 2, tzinfo=NOW.tzinfo), "Ana")
    brought, widened = answered(march_and_last_week(told), "where did Ana move in March?")
    assert set(brought) == {1, 3}
    assert not widened


@pytest.mark.parametrize(
    ("more", "whose", "is_others"),
    [
        ({"origin": Origin.IMPORT}, "user's notes", False),
        ({"origin": Origin.IMPORT, "extra": {IS_FOREIGN: True}}, "import", True),
        ({"origin": Origin.TOOL}, "tool", True),
        ({"origin": Origin.USER}, "user", False),
    ],
)
def test_what_the_user_imported_is_not_others_words(
    more: dict[str, Any], whose: str, is_others: bool
) -> None:
    """What nobody vouched for is marked, and its links are none."""
    shown = render.note(memory(1, "Deploys go through main.", **more), "ledger", 200)
    assert f" \u00b7 {whose} \u00b7 " in shown.head
    assert shown.foreign is is_others
