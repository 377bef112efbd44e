"""From a file of notes in Markdown to drafts of memories that can be understood on their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vector_memory.index.notes import adr, kinds
from vector_memory.index.notes.markdown import Block, Document, parse
from vector_memory.index.notes.pieces import clip, texts_of
from vector_memory.model import CONTEXT, DECISION, PREFERENCE, QUESTION, Priority, unique
from vector_memory.text import analysis, tables
from vector_memory.text.priorities import suggest as suggest_priority

TITLE_CHARS = 120
MAX_TAGS = 6
KEY = "md:"
"""What the keys of all drafts begin with."""
ARROW = " › "

_WORD = re.compile(r"[^\W_][\w.+#-]*[\w+#]|\w{2,}")
_INLINE_TAG = re.compile(r"(?<![\w/&#`(])#([^\W\d_][\w/-]{1,39})")
"""A tag as vaults write it; "#12" is a number of something."""
_MEANINGLESS = tables.words("meaningless_titles")


@dataclass(frozen=True)
class NoteDraft:
    """A memory before it is placed. `key` is the same for the same words below the same headings of
    the same file, wherever they stand there; `done` is None where there is no box; `record` is what the
    decision record that it stands in says of itself. Lines count from 1, 0 where they are unknown."""

    key: str
    text: str
    title: str
    kind: str
    priority: Priority
    tags: tuple[str, ...]
    line_start: int
    line_end: int
    created_at: datetime
    done: bool | None = None
    record: adr.DecisionRecord = adr.DecisionRecord()


def to_drafts(
    text: str,
    path: str,
    modified_at: datetime,
    known_lines: int | None = None,
    clean: Callable[[str], str] = str,
) -> list[NoteDraft]:
    """Return a note's drafts, in order, each once.

    Args:
        text: the file's text, redacted as a whole: a cut could hide a secret's end.
        path: the file's real path.
        modified_at: its time, where it names no date.
        known_lines: up to which line the text's lines are the file's own; None for all.
        clean: redacts what was put together from several places of the text.

    Raises:
        UnsafeTextError: `clean` could not handle a text.
    """
    document = parse(text)
    record = adr.record(path, document)
    created_at = adr.date_of(document) or modified_at
    drafts: dict[str, NoteDraft] = {}
    for block in document.blocks:
        if record is not None and adr.is_about_itself(block.text, block.headings):
            continue
        if known_lines is not None and block.line_end > known_lines:
            block = replace(block, line_start=0, line_end=0)
        for draft in _block_drafts(block, path, document, record, created_at, clean):
            drafts.setdefault(draft.key, draft)
    return _with_raised_decision(list(drafts.values()), record)


def _block_drafts(
    block: Block,
    path: str,
    document: Document,
    record: adr.DecisionRecord | None,
    created_at: datetime,
    clean: Callable[[str], str],
) -> Iterator[NoteDraft]:
    headings = _headings(block, document)
    title = _title(headings, record)
    key_prefix = file_prefix(path) + digest(*headings)
    for text in map(clean, texts_of(block)):
        yield NoteDraft(
            key=f"{key_prefix}:{digest(content(text))}",
            text=text,
            title=clean(title),
            kind=_kind(block, record),
            # The nearest heading only: one "Architecture" on top does not make all of a file matter.
            priority=suggest_priority(text, headings[-1] if headings else ""),
            tags=tuple(map(clean, _tags(path, headings, document, block))),
            line_start=block.line_start,
            line_end=block.line_end,
            created_at=created_at,
            done=block.checked,
            record=record or adr.DecisionRecord(),
        )


def file_prefix(path: str) -> str:
    """Return what the keys of all drafts of a file begin with."""
    return f"{KEY}{digest(path)}:"


def digest(*words: str) -> str:
    """Return 16 hexadecimal digits for some words."""
    whole = "\0".join(words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(whole, digest_size=8).hexdigest()


def content(text: str) -> str:
    """Return what counts as the same words: without case and breaks."""
    return " ".join(text.casefold().split())


def _headings(block: Block, document: Document) -> tuple[str, ...]:
    title = document.front.get("title", "")
    return (
        block.headings if not title or block.headings[:1] == (title,) else (title, *block.headings)
    )


def _title(headings: Sequence[str], record: adr.DecisionRecord | None) -> str:
    """Return the path of headings, from its end where it is too long."""
    titles = [heading for heading in headings[:-1] if not _says_nothing(heading)] + list(
        headings[-1:]
    )
    if len(titles) == 1 and _says_nothing(titles[0]):
        titles = []
    while len(titles) > 1 and len(ARROW.join(titles)) > TITLE_CHARS:
        titles.pop(0)
    title = clip(ARROW.join(titles), TITLE_CHARS)
    return f"{title} ({record.doubt})" if record and record.doubt else title


def _says_nothing(heading: str) -> bool:
    """Whether a heading or word stands above notes of any sort; a file's own name does."""
    return content(heading).removesuffix(".md") in _MEANINGLESS


def _tags(path: str, headings: Sequence[str], document: Document, block: Block) -> tuple[str, ...]:
    """Return the file's name, its tags and other names, the tags in the text, and what the headings are about,
    the nearest heading first."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower().replace(" ", "-")
    front_words = f"{document.front.get('tags', '')},{document.front.get('aliases', '')}".split(",")
    tags = [word.strip(" \"'#").lower().replace(" ", "-") for word in front_words]
    tags += [word.lower() for word in _INLINE_TAG.findall(" ".join((*block.context, block.text)))]
    words = [word.lower() for heading in reversed(headings) for word in _WORD.findall(heading)]
    telling_words = [
        word
        for word in words
        if not (_says_nothing(word) or word in analysis.STOP_WORDS or word.isnumeric())
    ]
    return unique(word[:40] for word in (stem, *tags, *telling_words) if len(word) > 1)[:MAX_TAGS]


def _kind(block: Block, record: adr.DecisionRecord | None) -> str:
    if record is None or block.checked is not None:
        return kinds.suggest(block)
    if record.doubt:
        return CONTEXT
    if kinds.of_headings(block.headings) == DECISION:
        return DECISION
    kind = kinds.suggest(block)
    # What a record asks was answered by it, and what it recommends is part of its reasons.
    settled = (PREFERENCE, QUESTION)
    return CONTEXT if kind in settled else kind


def _with_raised_decision(
    drafts: list[NoteDraft], record: adr.DecisionRecord | None
) -> list[NoteDraft]:
    """Raise the first decision of a record that holds: it is about architecture, whatever its words.
    The first only, since what is HIGH is shown at every start."""
    if record is None or record.superseded or record.doubt:
        return drafts
    for position, draft in enumerate(drafts):
        if draft.kind == DECISION:
            if draft.priority == Priority.NORMAL:
                drafts[position] = replace(draft, priority=Priority.HIGH)
            break
    return drafts
