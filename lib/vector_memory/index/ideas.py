"""From an exchange to ideas: single assertions with their intent, each made self-contained.

Rules find them, without a model: who said a sentence, its turns of phrase, what it stands under. Text of
tools never becomes one. An idea is named by its words, so that what is said again adds nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import NamedTuple

from vector_memory.index.entities import entities
from vector_memory.index.exchanges import NOTE, NOTED, SAID, Exchange
from vector_memory.index.memories import Draft, title_of_exchange, unchanged
from vector_memory.index.noise import is_own_command
from vector_memory.model import (
    DECISION,
    PREFERENCE,
    PROBLEM,
    QUESTION,
    SOLUTION,
    SUBAGENT_TAG,
    TODO,
    Priority,
)
from vector_memory.text import assertions, pastes, priorities
from vector_memory.text.assertions import ASSISTANT, USER, Assertion
from vector_memory.text.chatter import is_chatter, without_applause
from vector_memory.text.statements import CODE, HEADING, ITEM, Statement, capitalised, statements

LONGEST_IDEA = 350
MOST_IDEAS = 40
"""Ideas of one exchange at most: beyond that it is a pasted document."""
OWN_SENTENCES = 3
"""Of a long prompt, so many sentences at its beginning and at its end may be the user's."""
LEAST_LETTERS = 0.72
"""The share of letters and spaces below which a sentence is a log line or code."""
ANSWER_CHARS = 40
"""What an assistant says after a question, at least, for it to be answered."""

OPEN_KINDS = (QUESTION, TODO, PROBLEM)
"""What is open until something is said to it."""

_LEANING = re.compile(
    r"(?:(?:so|and|but|also|then|or|because|which|however|otherwise|instead|therefore)[, ]+)*"
    r"(?:it|this|that|these|those|they|he|she|them|both|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_THIS_FILE = re.compile(
    r"\b(?:this|that|the) (?:file|module|script|component|template|page|class)\b", re.IGNORECASE
)
_BOLD_LEAD = re.compile(r"^\*\*([^*]{2,60})\*\*\s*[-–—:]\s*")
_WORDS = re.compile(r"[^\W_]+")
_CONTINUES = re.compile(r"^(?:and|but|or|because|so)\b[, ]*", re.IGNORECASE)


class Idea(NamedTuple):
    """One assertion. `text` can be understood alone; `quote` is the sentence as it was said."""

    text: str
    quote: str
    assertion: Assertion
    speaker: str
    answered: bool


def to_ideas(
    exchange: Exchange,
    path: str = "",
    fallback_at: datetime | None = None,
    clean: Callable[[str], str] = unchanged,
) -> list[Draft]:
    """Return an exchange's ideas as drafts; arguments and errors as in `memories.to_drafts`."""
    if is_own_command(exchange.prompt):
        return []
    title = title_of_exchange(exchange, clean(exchange.prompt), clean)
    at = exchange.started_at or exchange.ended_at or fallback_at or datetime.now(timezone.utc)
    exchange = replace(exchange, files=tuple(map(clean, exchange.files)))
    found: dict[str, Idea] = {}
    for idea in ideas(exchange, title, clean):
        found.setdefault(_name(idea.text), idea)
    best = sorted(found.items(), key=lambda item: -item[1].assertion.weight)[:MOST_IDEAS]
    return [_draft(exchange, idea, name, title, path, at) for name, idea in best]


def ideas(
    exchange: Exchange, title: str = "", clean: Callable[[str], str] = unchanged
) -> Iterator[Idea]:
    """Yield an exchange's ideas in the order in which they were said."""
    heard = [(USER, exchange.prompt, "")] if exchange.is_users else []
    heard += [
        (ASSISTANT, step.text, "")
        if step.kind == SAID
        else (USER, step.words or step.text.removeprefix(NOTED), _about(step.text, step.words))
        for step in exchange.steps
        if step.kind in (SAID, NOTE)
    ]
    texts = [(speaker, clean(text), clean(about)) for speaker, text, about in heard]
    said = list(_said(texts, title, exchange.files))
    for place, idea in enumerate(said):
        mended = idea.assertion.intent == PROBLEM and any(
            later.assertion.intent == SOLUTION and later.speaker == ASSISTANT
            for later in said[place + 1 :]
        )
        yield idea._replace(answered=True) if mended else idea


def _said(
    texts: Sequence[tuple[str, str, str]], title: str, files: Sequence[str]
) -> Iterator[Idea]:
    """Yield the ideas of texts: who says each, the text, and what it is about."""
    for place, (speaker, text, about) in enumerate(texts):
        answered = any(
            who == ASSISTANT and len(later) >= ANSWER_CHARS for who, later, _ in texts[place + 1 :]
        )
        for idea in _of_text(speaker, text, about, title, files):
            yield idea._replace(answered=answered or idea.answered)


def _about(text: str, words: str) -> str:
    """Return what the words of a note are about: "User, refusing Bash: npm install"."""
    return text[: -len(words)].rstrip(": ") if words and text.endswith(words) else ""


def _of_text(
    speaker: str, text: str, about: str, title: str, files: Sequence[str]
) -> Iterator[Idea]:
    # What is the user's own in it is read alone: it leans on nothing that he pasted.
    own = [part for part, is_pasted in pastes.parted(text) if not is_pasted]
    parts = map(statements, own if speaker == USER else [text])
    told = [(said, place) for said in parts for place in range(len(said))]
    if speaker == USER and len(text) > pastes.LONG_PROMPT:
        told = told[:OWN_SENTENCES] + told[OWN_SENTENCES:][-OWN_SENTENCES:]
    for said, place in told:
        one = said[place]
        if speaker == USER and _is_noise(one.text):
            continue
        made = assertions.assertion(one, speaker, refusing=bool(about))
        if made is None:
            continue
        alone = _self_contained(said, place, about, title, files)
        # A ticked box is done, and a question may be answered by what follows in the same breath.
        yield Idea(alone, one.text, made, speaker, bool(one.done))


def _is_noise(sentence: str) -> bool:
    """Whether a sentence is more likely a line of a log or code than anybody's words."""
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return letters < LEAST_LETTERS * len(sentence)


def _self_contained(
    said: Sequence[Statement], place: int, about: str, title: str, files: Sequence[str]
) -> str:
    """Return a statement with what it leans on: what was refused, the heading, the sentence before
    where it begins with a pronoun, the file where it says "this file"."""
    one = said[place]
    text = _CONTINUES.sub("", without_applause(one.text)).strip() or one.text
    text = capitalised(text)
    leaning = _LEANING.match(text) is not None
    if len(files) == 1 and _THIS_FILE.search(text) and files[0] not in text:
        text = f"{text.rstrip('.')} ({files[0]})."
    if about:
        return _within(f"{about}: {text}", text)
    if one.form == ITEM and one.heading and one.heading.lower() not in text.lower():
        return _within(f"{one.heading}: {text}", text)
    if leaning:
        before = _before(said, place)
        text = _within(f"{before} {text}", text) if before else text
        if not before and title and title.rstrip("…. ") not in text:
            text = _within(f"[{title}] {text}", text)
    return text[:LONGEST_IDEA]


def _before(said: Sequence[Statement], place: int) -> str:
    for one in reversed(said[max(0, place - 2) : place]):
        if one.form in (HEADING, CODE):
            return ""
        if not is_chatter(one.text) and not one.text.endswith(":"):
            return one.text
    return ""


def _within(longer: str, text: str) -> str:
    return longer if len(longer) <= LONGEST_IDEA else text[:LONGEST_IDEA]


def _name(text: str) -> str:
    """Return what an idea is known by: a hash of its words."""
    words = " ".join(_WORDS.findall(text.lower()))
    return "idea:" + hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _draft(exchange: Exchange, idea: Idea, name: str, title: str, path: str, at: datetime) -> Draft:
    intent = idea.assertion.intent
    extra: dict[str, object] = {"entities": list(entities(idea.text, exchange.files))}
    if idea.answered and intent in OPEN_KINDS:
        extra["done"] = True
    return Draft(
        text=idea.text,
        title=title,
        created_at=at,
        session=exchange.session,
        turn=exchange.turn,
        path=path,
        line_start=exchange.line_start,
        line_end=exchange.line_end,
        speaker=idea.speaker,
        files=exchange.files if intent in (SOLUTION, PROBLEM) else (),
        tags=(SUBAGENT_TAG,) if exchange.is_subagent else (),
        external_id=name,
        origin=idea.speaker,
        cwd=exchange.cwd,
        kind=intent,
        confidence=confidence(idea),
        priority=str(_priority(idea)),
        extra={name: value for name, value in extra.items() if value},
    )


def confidence(idea: Idea) -> float:
    """Return how far to trust an idea, 0.3 … 0.7: the user's more than the assistant's, what is said
    plainly more than what is hedged."""
    level = 0.6 if idea.speaker == USER else 0.5
    level += 0.1 if idea.assertion.firm else 0.0
    return round(level - (0.15 if assertions.hedged(idea.quote) else 0.0), 2)


def _priority(idea: Idea) -> Priority:
    """Return the priority that the words suggest, of what may bind later sessions; of what the
    assistant says, never more than usual: only the user makes something important."""
    binding = idea.assertion.intent in (DECISION, PREFERENCE)
    if idea.speaker != USER or not binding:
        return Priority.NORMAL
    return priorities.suggest(idea.text)
