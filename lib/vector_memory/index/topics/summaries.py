"""A stretch of a session in a few of its own sentences: what was decided, concluded and left open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.tools import clip
from vector_memory.index.topics.turns import TopicTurn, terms_of
from vector_memory.model import QUESTION, unique
from vector_memory.text.chatter import is_chatter, without_applause
from vector_memory.text.harmless import without_marked
from vector_memory.text.statements import CODE, HEADING, statements

DECIDED = ("decision", "preference")
CONCLUDED = ("conclusion", "cause", "solution", "learning", "fix")
OPEN = ("question", "todo")
SENTENCE_CHARS = 150
MOST = 2
"""Sentences of each sort in a summary."""
LEAST_WORDS = 4
LEAD_CHARS = 40
"""What may stand before a name in the sentence that it was taken from."""
READ_CHARS = 6_000
"""Of each turn's answer, so much of its beginning and of its end is read."""

_ASIDES = ("User, refusing", "User's answers")


class SummaryIdea(NamedTuple):
    """Something that was said: in which turn, what sort of thing it is, its words, and whether these are a language
    model's."""

    turn: int
    intent: str
    text: str
    by_model: bool = False


class Summary(NamedTuple):
    """What of a stretch is worth keeping, a few sentences each, in the order they were said."""

    decided: tuple[str, ...] = ()
    concluded: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return it as lines, those without content left out. Where they are cut, what was found goes first."""
        named_sentences = (
            ("Decided", self.decided),
            ("Open", self.left_open),
            ("Concluded", self.concluded),
        )
        return [f"{name}: {' · '.join(texts)}" for name, texts in named_sentences if texts]


def intent_of(sentence: str) -> str:
    """Return the kind that a sentence names itself, "" for none."""
    return QUESTION if sentence.rstrip().endswith("?") else plain_kind(sentence, is_users=False)


def summary_of(turns: Sequence[TopicTurn], ideas: Sequence[SummaryIdea], name: str = "") -> Summary:
    """Return the summary of a stretch. How it ended stands for what was concluded, or left open where that is a
    question, where nothing is known of that.

    Args:
        ideas: what is known to have been said in it.
        name: the stretch's name, which need not be said again.
    """
    last_words = _last_words(turns[-1])
    decided = _texts(ideas, DECIDED, (name,))
    # What was asked or to be done earlier was most likely answered and done on the way.
    late_ideas = [idea for idea in ideas if idea.turn == turns[-1].first.turn]
    return Summary(
        decided,
        _texts(ideas, CONCLUDED, (name, *decided)) or _texts(last_words, CONCLUDED),
        _texts(late_ideas, OPEN, decided) or _texts(last_words, OPEN, decided),
    )


def sentences(text: str) -> Iterator[str]:
    """Yield a text's sentences that say something, without what tools printed or the user pasted."""
    text = without_marked(text)
    if len(text) > 2 * READ_CHARS:
        text = f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
    for statement in statements(text):
        if (
            statement.form in (CODE, HEADING)
            or statement.text.endswith(":")
            or statement.text.startswith(_ASIDES)
        ):
            continue
        sentence = without_applause(statement.text)
        if len(sentence.split()) >= LEAST_WORDS and not is_chatter(sentence):
            yield sentence


def _last_words(turn: TopicTurn) -> list[SummaryIdea]:
    """Return the last sentence of a stretch: a question, or what counts as a conclusion."""
    last_sentences = [*sentences(turn.answer[-1_500:])][-1:]
    return [
        SummaryIdea(turn.first.turn, intent_of(sentence) or "conclusion", sentence)
        for sentence in last_sentences
    ]


def _texts(
    ideas: Sequence[SummaryIdea], intents: Sequence[str], left_out: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the last words of some sorts, each once, without what was said already (`left_out`). A language model's have
    the room that those of the session leave."""
    texts = {
        by_model: unique(
            clip(idea.text, SENTENCE_CHARS)
            for idea in ideas
            if idea.intent in intents and idea.by_model == by_model
        )
        for by_model in (False, True)
    }
    said = _new_texts(texts[False], left_out)[-MOST:]
    found = _new_texts(texts[True], (*left_out, *said))
    return (*said, *found[max(0, len(found) + len(said) - MOST) :])


def _new_texts(texts: Iterable[str], left_out: Sequence[str]) -> list[str]:
    """Return the texts that say more than those that are left out."""
    return [text for text in texts if not any(_says_the_same(text, other) for other in left_out)]


def _says_the_same(text: str, other: str) -> bool:
    """Whether a text says no more than another one says. A name is the beginning of a sentence, whose end may be what
    counts: "We no longer use SQLite: Postgres it is"."""
    words, others = (" ".join(line.casefold().rstrip(" .…!?").split()) for line in (text, other))
    if not others or words in others:
        return bool(others)
    lead, found, rest = words.partition(others)
    says_more = bool(terms_of(rest)) or any(map(str.isdigit, rest))
    return bool(found) and len(lead) <= LEAD_CHARS and not says_more
