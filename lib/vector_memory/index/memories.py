"""From an exchange to drafts of memories: passages that can be found and understood on their own.

A passage is verbatim, without what nobody will look for: narration of the next step, applause, long
pastes. It is small, since a small text says one thing, has one meaning for a vector, and costs few
tokens when it is shown; what stood around it is found by its session and turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, NamedTuple

from vector_memory.index.exchanges import DONE, SAID, Exchange
from vector_memory.index.noise import is_own_command
from vector_memory.index.tools import clip, is_quiet
from vector_memory.language import suspicion
from vector_memory.language.chatter import is_chatter
from vector_memory.language.statements import CODE, HEADING, ITEM, statements
from vector_memory.model import DEFAULT_COLLECTION, DONE_HEAD, PASSAGE

SUBAGENT_TAG = "subagent"
PIECE_CHARS = 480
"""Characters of a passage, about: it is cut where a statement ends before."""
LEAST_CHARS = 90
"""What is shorter joins its neighbour: it says nothing alone, and its vector is like many."""
LONGEST_STATEMENT = 1_500
"""Characters that are kept of one statement: beyond it, it is pasted output or code."""
TITLE_CHARS = 90
LONGEST_PROMPT = 12_000
LONGEST_ANSWER = 60_000

_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKUP = re.compile(r"^\s*(?:[#>]{1,6}|[-•*]|[.…]{2,})\s+|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}")


@dataclass(frozen=True)
class Draft:
    """A memory before it is redacted and placed. `external_id` is the same for the same piece of the
    same exchange, in whichever copy of the transcript. Times are aware UTC."""

    text: str
    title: str
    created_at: datetime
    session: str
    turn: int
    path: str
    line_start: int
    line_end: int
    speaker: str
    files: tuple[str, ...]
    tags: tuple[str, ...]
    external_id: str
    origin: str
    cwd: str
    kind: str = PASSAGE
    collection: str = DEFAULT_COLLECTION
    confidence: float = 0.5
    priority: str = "NORMAL"
    extra: dict[str, Any] = field(default_factory=dict)


def unchanged(text: str) -> str:
    """Return the text: what is done to text that needs no redaction."""
    return text


def to_drafts(
    exchange: Exchange,
    path: str = "",
    fallback_at: datetime | None = None,
    clean: Callable[[str], str] = unchanged,
) -> list[Draft]:
    """Return an exchange's pieces, in order.

    Args:
        exchange: the exchange.
        path: the transcript's path, for the source.
        fallback_at: the time where the transcript tells none.
        clean: redacts a text. It sees whole texts, since a cut could hide a secret's end.

    Raises:
        UnsafeTextError: `clean` could not handle a text.
    """
    if is_own_command(exchange.prompt):
        return []
    prompt = clean(_shortened(exchange.prompt, LONGEST_PROMPT))
    title = title_of(prompt) or title_of(clean(exchange.answer[:2_000]))
    parts = list(_parts(exchange, prompt, clean))
    created_at = exchange.started_at or exchange.ended_at or fallback_at
    drafts = []
    for number, (speaker, text, others) in enumerate(_joined(list(_pieces(parts)))):
        drafts.append(
            Draft(
                text=text,
                title=title,
                created_at=created_at or datetime.now(timezone.utc),
                session=exchange.session,
                turn=exchange.turn,
                path=path,
                line_start=exchange.line_start,
                line_end=exchange.line_end,
                speaker=speaker,
                files=tuple(clean(file) for file in exchange.files),
                tags=(SUBAGENT_TAG,) if exchange.is_subagent else (),
                external_id=f"{exchange.key}:{number}",
                origin=_origin(speaker, exchange.is_subagent),
                cwd=exchange.cwd,
                # The user may say what he likes; what the others said is looked at.
                extra=suspicion.quoted(others),
            )
        )
    return drafts


def _origin(speaker: str, is_subagent: bool) -> str:
    return "user" if speaker == "user" and not is_subagent else "assistant"


def title_of(text: str) -> str:
    """Return a text's first statement that says something, without markup, at most TITLE_CHARS
    characters."""
    first = ""
    for said in statements(text[:4_000]):
        if said.form in (CODE, HEADING) or is_chatter(said.text):
            continue
        if len(_WORD.findall(said.text)) > 1:
            return _bare(said.text)
        first = first or _bare(said.text)
    return first


def _bare(text: str) -> str:
    return clip(_MARKUP.sub("", text), TITLE_CHARS)


class _Part(NamedTuple):
    """What stands together in a passage: who said it, its text, and what glues it to the part
    before."""

    speaker: str
    text: str
    glue: str


def _parts(exchange: Exchange, prompt: str, clean: Callable[[str], str]) -> Iterator[_Part]:
    """Yield what was said and done, in order, statement by statement."""
    if prompt:
        yield from _said("user", "Task: " if exchange.is_subagent else "User: ", prompt)
    done: list[str] = []
    left = LONGEST_ANSWER
    for kind, text, _ in exchange.steps:
        if kind == DONE:
            if not is_quiet(text):
                done.append(clean(text))
            continue
        if done:
            yield _did(done)
            done = []
        if left <= 0:
            continue
        text = clean(_shortened(text, left))
        left -= len(text)
        yield from _said("assistant" if kind == SAID else "user", "", text)
    if done:
        yield _did(done)


def _did(lines: list[str]) -> _Part:
    return _Part("assistant", DONE_HEAD + "; ".join(dict.fromkeys(lines)), "\n")


def _said(speaker: str, head: str, text: str) -> Iterator[_Part]:
    """Yield a text's statements as they stand there. The assistant's chatter is left out, and what
    stands under a heading says so once."""
    if speaker == "assistant":
        head = "Assistant: "
    heading, end = "", 0
    for one in statements(text):
        if one.form == HEADING or (
            speaker == "assistant" and one.form != CODE and is_chatter(one.text)
        ):
            continue
        words = _shortened(text[one.start : one.end].strip("\n"), LONGEST_STATEMENT)
        words = f"- {words}" if one.form == ITEM else words.strip()
        if one.heading and one.heading != heading:
            words = f"{one.heading}:\n{words}"
        same_line = (
            end > 0
            and heading == one.heading
            and one.form != ITEM
            and "\n" not in text[end : one.start]
        )
        heading, end = one.heading, one.end
        yield _Part(speaker, head + words, " " if same_line and not head else "\n")
        head = ""


class _Piece(NamedTuple):
    """A passage: whose it is, its text, and what of it is not the user's."""

    speaker: str
    text: str
    others: str


def _pieces(parts: list[_Part]) -> Iterator[_Piece]:
    """Yield passages: parts put together up to the size. A passage that holds words of the user is the
    user's."""
    piece, speaker, others = "", "", ""
    for part in (small for whole in parts for small in _cut(whole)):
        longest = PIECE_CHARS if len(piece) >= LEAST_CHARS else PIECE_CHARS + LEAST_CHARS
        if piece and len(piece) + len(part.text) >= longest:
            yield _Piece(speaker, piece, others)
            piece, speaker, others = "", "", ""
        piece = f"{piece}{part.glue}{part.text}" if piece else part.text
        speaker = speaker if speaker == "user" else part.speaker
        others += "" if part.speaker == "user" else f"{part.glue}{part.text}"
    if piece:
        yield _Piece(speaker, piece, others)


def _joined(pieces: list[_Piece]) -> list[_Piece]:
    """Return passages with a short last one joined to the one before."""
    if len(pieces) > 1 and len(pieces[-1].text) < LEAST_CHARS:
        one, last = pieces[-2:]
        both = _Piece(one.speaker, f"{one.text}\n{last.text}", f"{one.others}\n{last.others}")
        return [*pieces[:-2], both]
    return pieces


def _cut(part: _Part) -> Iterator[_Part]:
    """Cut a long statement at the ends of lines, else of words."""
    text, glue = part.text, part.glue
    while len(text) > PIECE_CHARS:
        at = text.rfind("\n", PIECE_CHARS // 2, PIECE_CHARS)
        at = at if at > 0 else text.rfind(" ", PIECE_CHARS // 2, PIECE_CHARS)
        at = at if at > 0 else PIECE_CHARS
        yield part._replace(text=text[:at].rstrip(), glue=glue)
        text, glue = text[at:].strip(), "\n"
    if text:
        yield part._replace(text=text, glue=glue)


def _shortened(text: str, size: int) -> str:
    """Return a text of at most `size` characters: where it is longer, its start and its end."""
    if len(text) <= size:
        return text
    return f"{text[: size * 3 // 4]}\n…\n{text[-size // 4 :]}"
