"""A text in pieces that a small model can read with care."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from vector_memory.text.fence import tokens

SIZE_TOKENS = 500
OVERLAP_TOKENS = 100
PIECE_CHARS = 300
"""A piece without an end of a sentence, such as a log, is cut here: well below the overlap."""

_PIECE = re.compile(r"\S(?:.*?(?:[.!?](?=\s)|\n|\Z))", re.DOTALL)


def chunks(
    text: str, size_tokens: int = SIZE_TOKENS, overlap_tokens: int = OVERLAP_TOKENS
) -> list[str]:
    """Return the text in stretches of whole sentences that overlap, in their order.

    Args:
        size_tokens: tokens at most, as `fence.tokens` estimates them; a single piece of
            `PIECE_CHARS` may be longer.
        overlap_tokens: about what a stretch repeats of the one before.
    """
    pieces = list(_pieces(text))
    sizes = [tokens(piece) for piece in pieces]
    stretches: list[str] = []
    first = 0
    while first < len(pieces):
        end = _stretch_end(sizes, first, size_tokens)
        stretches.append("".join(pieces[first:end]).strip())
        if end == len(pieces):
            break
        first = max(first + 1, _next_start(sizes, end, overlap_tokens))
    return stretches


def _pieces(text: str) -> Iterator[str]:
    """Yield sentences and lines with the white space behind them, long ones in parts."""
    ends = [piece.end() for piece in _PIECE.finditer(text)]
    for start, end in zip([0, *ends], ends, strict=False):
        for place in range(start, end, PIECE_CHARS):
            yield text[place : min(end, place + PIECE_CHARS)]


def _stretch_end(sizes: list[int], first: int, budget: int) -> int:
    """Return the place behind the last piece that fits; at least one does."""
    fitting = sum(1 for total in accumulate(sizes[first : first + budget]) if total <= budget)
    return first + max(1, fitting)


def _next_start(sizes: list[int], end: int, overlap: int) -> int:
    """Return where the next stretch starts, to repeat about so many tokens."""
    total, first = 0, end
    while first > 0 and total + sizes[first - 1] <= overlap:
        first -= 1
        total += sizes[first]
    return first
