"""From an exchange to drafts of memories: pieces that can be found and understood on their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from vector_memory.index.exchanges import DONE, SAID, Exchange
from vector_memory.index.noise import is_own_command
from vector_memory.index.tools import clip

KIND = "exchange"
SUBAGENT_TAG = "subagent"
PIECE_CHARS = 1_400
"""Characters of a piece, about: it is cut where a paragraph or a sentence ends before."""
TITLE_CHARS = 90
LONGEST_PROMPT = 12_000
LONGEST_ANSWER = 60_000

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=\S)")
_PARAGRAPH = re.compile(r"\n\s*\n")
_TITLE_END = re.compile(r"(?<=[.!?])\s|\n")
_MARKUP = re.compile(r"^\s*(?:[#>]{1,6}|[-•*])\s+|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}")


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
    kind: str = KIND


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
    blocks = list(_blocks(exchange, prompt, clean))
    created_at = exchange.started_at or exchange.ended_at or fallback_at
    drafts = []
    for number, (speaker, text) in enumerate(_pieces(blocks, title)):
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
            )
        )
    return drafts


def _origin(speaker: str, is_subagent: bool) -> str:
    return "user" if speaker == "user" and not is_subagent else "assistant"


def title_of(text: str) -> str:
    """Return a text's first sentence without markup, at most TITLE_CHARS characters."""
    text = text.strip()
    first = next(
        (part for part in _TITLE_END.split(text[:2_000]) if any(map(str.isalnum, part))), ""
    )
    return clip(_MARKUP.sub("", first), TITLE_CHARS)


def _blocks(
    exchange: Exchange, prompt: str, clean: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Return (speaker, text) of what was said and done, in order; what was done together in one."""
    asker = "Task" if exchange.is_subagent else "User"
    if prompt:
        yield "user", f"{asker}: {prompt}"
    done: list[str] = []
    left = LONGEST_ANSWER
    for kind, text in exchange.steps:
        if kind == DONE:
            done.append(clean(text))
            continue
        if done:
            yield "assistant", _did(done)
            done = []
        if left <= 0:
            continue
        text = clean(_shortened(text, left))
        left -= len(text)
        yield ("assistant", f"Assistant: {text}") if kind == SAID else ("user", text)
    if done:
        yield "assistant", _did(done)


def _did(lines: list[str]) -> str:
    return "Done: " + "; ".join(dict.fromkeys(lines))


def _pieces(blocks: list[tuple[str, str]], title: str) -> Iterator[tuple[str, str]]:
    """Return (speaker, text) of pieces: blocks put together and cut to size. Those after the first
    start with the title, so that they can be understood alone."""
    parts = [(speaker, part) for speaker, text in blocks for part in _cut(text, PIECE_CHARS)]
    piece: list[str] = []
    speaker = ""
    size = number = 0
    for who, part in parts:
        if piece and size + len(part) > PIECE_CHARS:
            yield speaker, _headed(piece, title, number)
            piece, size, speaker, number = [], 0, "", number + 1
        piece.append(part)
        size += len(part) + 1
        speaker = speaker if speaker == "user" else who
    if piece:
        yield speaker, _headed(piece, title, number)


def _headed(piece: list[str], title: str, number: int) -> str:
    text = "\n".join(piece)
    return f"[{title}]\n{text}" if number and title else text


def _cut(text: str, size: int) -> Iterator[str]:
    """Cut a text into parts of at most about `size` characters, at the ends of paragraphs, else
    lines, else sentences, else words."""
    for splitter, glue in ((_PARAGRAPH, "\n\n"), (re.compile("\n"), "\n"), (_SENTENCE, " ")):
        if len(text) <= size:
            break
        parts = splitter.split(text)
        if len(parts) > 1:
            for part in _packed(parts, glue, size):
                yield from _cut(part, size)
            return
    while len(text) > size:
        at = max(text.rfind(" ", size // 2, size), size // 2)
        yield text[:at].strip()
        text = text[at:].strip()
    if text.strip():
        yield text.strip()


def _packed(parts: list[str], glue: str, size: int) -> Iterator[str]:
    """Put neighbouring parts together as long as they fit."""
    held = ""
    for part in parts:
        if held and len(held) + len(glue) + len(part) > size:
            yield held
            held = part
        else:
            held = f"{held}{glue}{part}" if held else part
    if held:
        yield held


def _shortened(text: str, size: int) -> str:
    """Return a text of at most `size` characters: where it is longer, its start and its end."""
    if len(text) <= size:
        return text
    return f"{text[: size * 3 // 4]}\n…\n{text[-size // 4 :]}"
