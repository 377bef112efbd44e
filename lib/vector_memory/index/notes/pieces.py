"""A block of a document as texts that are short enough to be memories of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import TextWrapper

from vector_memory.index.notes.markdown import STEPS, Block
from vector_memory.text.words import clauses_in

TEXT_CHARS = 600
CONTEXT_CHARS = 120
CODE_CHARS = 160
"""Characters of code that are kept below a text in any case; there are more where the text is short."""
FENCES = "\n```\n\n…\n```"


def texts_of(block: Block) -> Iterator[str]:
    """Yield a block's text in pieces of at most about TEXT_CHARS, with what it hangs on in front
    and its code behind."""
    lead = "".join(f"{clip(words.rstrip(' :'), CONTEXT_CHARS)}: " for words in block.context[-2:])
    room = TEXT_CHARS - len(lead)
    if block.kind == STEPS:
        head = f"{lead.rstrip()}\n" if lead else ""
        yield from (
            head + part for part in _packed(_cut_long(block.text.split("\n"), room), "\n", room)
        )
        return
    *parts, last = [*_packed(_cut_long(clauses_in(block.text, ".!?;"), room), " ", room)] or [""]
    yield from (lead + part for part in parts)
    code = _fenced_code(block.code, max(CODE_CHARS, room - len(last) - len(FENCES)))
    yield lead + "\n".join(part for part in (last, code) if part)


def _fenced_code(code: str, size: int) -> str:
    """Return code in a fence, whole lines of it up to a size."""
    lines = code.strip("\n").split("\n") if code.strip() else []
    kept_lines: list[str] = []
    for line in lines:
        if kept_lines and len("\n".join([*kept_lines, line])) > size:
            kept_lines.append("…")
            break
        kept_lines.append(clip(line, size))
    return "\n".join(["```", *kept_lines, "```"]) if kept_lines else ""


def _cut_long(parts: Iterable[str], size: int) -> Iterator[str]:
    """Yield parts, those that are longer than a size in pieces of whole words."""
    wrapper = TextWrapper(size, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False)
    for part in parts:
        yield from wrapper.wrap(part)


def _packed(parts: Iterator[str], glue: str, size: int) -> Iterator[str]:
    """Put neighbouring parts together as long as they fit."""
    group: list[str] = []
    length = 0
    for part in parts:
        if group and length + len(glue) + len(part) > size:
            yield glue.join(group)
            group, length = [], 0
        group.append(part)
        length += len(part) + len(glue)
    if group:
        yield glue.join(group)


def clip(text: str, size: int) -> str:
    """Return a text of at most `size` characters, with an ellipsis where it was longer."""
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"
