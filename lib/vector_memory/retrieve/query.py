"""What is asked, taken apart once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vector_memory.model import Scope
from vector_memory.text import analysis, failures, intents, mentions, times
from vector_memory.text.words import letters_in, numbers_in

if TYPE_CHECKING:
    from vector_memory.model import Vector

MAX_TERMS = 40
MAX_PIECES = 80
LONG = 400
"""Characters from which on a text may be a pasted error rather than a question."""
ROLES = frozenset({"user", "assistant", "system", "tool", "human", "task"})
"""Speakers that are no people."""
DAY_S = 86_400.0
FAR_PAST, FAR_FUTURE = -1e9, 1e9


@dataclass(frozen=True)
class Query:
    """A question: its words, its vector (of `embedded`, (dim,) float32, L2-normalised; None while there is no model),
    and what it asks for.

    `own_project` is the project it is asked from; `speakers` whose words are asked for; `spans` the
    times that it names, in days since 1970, (start, end); `periods` those of them to which it is limited;
    `asks_when` whether the answer is a time;
    `kinds` the kinds of memories asked for; `role` whether the user's or the assistant's words are
    (`user`, `assistant` or ""); `exact` the terms of identifiers, files and numbers that it
    names, of these `numbers`; `pieces` are searched for beside the terms, in case that its language is not English;
    `asks` whether it asks for something rather than states it; `asks_for_all` whether it says nothing but a time, a kind or both, so that everything of that is meant;
    `is_blind` whether its vector says little, since the model does not know its language.
    """

    text: str
    terms: tuple[str, ...]
    scope: Scope
    vector: Vector | None = None
    own_project: str = ""
    speakers: tuple[str, ...] = ()
    spans: tuple[tuple[float, float], ...] = ()
    asks_when: bool = False
    kinds: tuple[str, ...] = ()
    role: str = ""
    latest: bool = False
    exact: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    embedded: str = ""
    periods: tuple[tuple[float, float], ...] = ()
    pieces: tuple[str, ...] = ()
    asks: bool = False
    asks_for_all: bool = False
    is_blind: bool = False


def analyse(
    text: str,
    scope: Scope,
    vector: Vector | None = None,
    own_project: str = "",
    now: datetime | None = None,
    find_speakers: Callable[[Iterable[str]], Iterable[str]] = lambda words: (),
    find_session: Callable[[int], tuple[float, float] | None] = lambda sessions_back: None,
    only_english: bool = False,
) -> Query:
    """Return the query of a question's text.

    Args:
        now: the time in the user's time zone, by which "last week" is understood; None looks for
            no times.
        find_speakers: which of these lower-case words are names of speakers; it returns the names.
        find_session: when the session so many before this one was, in days since 1970.
        only_english: the embedding model knows no other language.

    Returns:
        The query. `terms` are at most `MAX_TERMS`, what is named exactly first; `embedded` is the
        text to embed, in the first person where a speaker is named; `spans` are in days since 1970.
    """
    failure = failures.failure(text) if len(text) >= LONG or "\n" in text or ":" in text else None
    # Paths and addresses differ from run to run, and would be most of what is searched for.
    if failure is not None:
        text = essence(text, failure)
    speakers = tuple(name for name in find_speakers(_words(text)) if name.lower() not in ROLES)
    embedded = in_first_person(text, speakers)
    asked_times = times.asked_times(text, now)
    spans, periods = (tuple(map(_days, part)) for part in (asked_times.spans, asked_times.periods))
    sessions_back = asked_times.sessions_back
    if sessions_back and (session := find_session(sessions_back)):
        spans, periods = (*spans, session), (*periods, session) if asked_times.asks else periods
    intent = intents.intent(text)
    numbers = _numbers(text, asked_times.spans)
    exact = tuple(dict.fromkeys((*mentions.exact_terms(text), *numbers)))
    pieces = tuple(analysis.pieces_of(text)[:MAX_PIECES])
    return Query(
        text=text,
        # More than are kept, since the speakers' names go out of them.
        terms=_terms(analysis.query_terms(text, 4 * MAX_TERMS), exact, speakers),
        scope=scope,
        vector=vector,
        own_project=own_project,
        speakers=speakers,
        spans=spans,
        asks_when=asked_times.asks_when,
        kinds=intent.kinds,
        role=intent.speaker,
        latest=intent.latest,
        exact=exact,
        numbers=numbers,
        embedded=embedded,
        periods=periods,
        pieces=pieces,
        asks=asked_times.asks,
        asks_for_all=_asks_for_all(text, asked_times.spans, intent.kinds),
        is_blind=only_english and analysis.is_foreign(text),
    )


def _asks_for_all(text: str, spans: Sequence[times.TimeSpan], kinds: Sequence[str]) -> bool:
    """Whether a question names a time, a kind or both, and says nothing else: "what did we do last week?",
    "which decisions in May?"."""
    for span in spans:
        text = text.replace(span.words, " ")
    terms = set(analysis.analyse(text))
    if not kinds:
        return bool(spans) and terms <= _DOINGS
    return terms <= (KIND_NAMES | _DOINGS if spans else KIND_NAMES)


KIND_NAMES = frozenset(
    analysis.analyse(
        "decision decide decided conclusion settled agreed problem issue bug trouble question open unanswered "
        "pending todo left remaining outstanding unfinished task item preference prefer convention lesson "
        "learned learn list show tell team we made make find found all everything"
    )
)
"""Words that name a kind of memory, or ask to be given it."""
_DOINGS = frozenset(
    analysis.analyse("happened work worked doing done changed change fix fixed finished")
)
"""What people do all the time: with a time, it asks for everything of it."""


def essence(text: str, failure: failures.Failure) -> str:
    """Return what a prompt with a pasted error asks, in three lines: the beginning of the first line, the
    error without what differs from run to run, and the innermost frames."""
    head = text[:LONG].split("\n", 1)[0]
    return "\n".join([head, f"{failure.kind}: {failure.message}", " ".join(failure.frames)])


def in_first_person(text: str, speakers: Iterable[str]) -> str:
    """Return a question about somebody as they would say it: "What did Ana buy?" becomes "What did
    I buy?". What people say of themselves has "I" in it; their name stands in what others say to
    them, and an embedding of it finds that."""
    for name in speakers:
        # The whole name first: its first word alone would leave the rest behind.
        for form in dict.fromkeys((name, name.split()[0])):
            text = re.sub(rf"\b{re.escape(form)}['\u2019]s\b", "my", text, flags=re.IGNORECASE)
            text = re.sub(rf"\b{re.escape(form)}\b", "I", text, flags=re.IGNORECASE)
    return text


def _terms(terms: Iterable[str], exact: Iterable[str], speakers: Iterable[str]) -> tuple[str, ...]:
    """Return a question's terms, what it names exactly first; without the speakers' names, which
    stand in nearly every turn of a conversation."""
    speaker_terms = {term for name in speakers for term in analysis.analyse(name)}
    all_terms = dict.fromkeys((*exact, *terms))
    kept_terms = [term for term in all_terms if term not in speaker_terms]
    # A question of nothing but a name is asked by that name.
    remaining = kept_terms or list(all_terms)
    words = [term for term in remaining if not analysis.is_piece(term)]
    pieces = [term for term in remaining if analysis.is_piece(term)]
    return (*words[:MAX_TERMS], *pieces[:MAX_PIECES])


def _numbers(text: str, spans: Sequence[times.TimeSpan]) -> tuple[str, ...]:
    """Return the numbers of a short question but for those of times, which are compared as times, and for single
    digits, of which there are many everywhere."""
    if len(text) >= LONG:
        return ()
    for span in spans:
        text = text.replace(span.words, " ")
    return tuple(dict.fromkeys(number for number in numbers_in(text) if len(number) > 1))


def _words(text: str) -> Iterable[str]:
    return dict.fromkeys(map(str.lower, letters_in(text)))


def _days(span: times.TimeSpan) -> tuple[float, float]:
    start = span.start.timestamp() / DAY_S if span.start else FAR_PAST
    end = span.end.timestamp() / DAY_S if span.end else FAR_FUTURE
    return start, end
