"""What somebody asks in a prompt not to remember: "off the record: …", "don't save this", "das bleibt unter uns"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.text import tables

INSTEAD = "[redacted:private]"
"""What stands in its place, as for what was marked as private."""
_ENDS = ".!?。！？\n"
_SIGNS = " \t\n,.:;!?()*_-–—、，：。！？~"
_PHRASES = {title: "|".join(row) for title, row in tables.sections("unstored_phrases").items()}
_ASKS = re.compile(
    # At the beginning of a clause, and with nothing behind it that is done with "this" besides.
    rf"(?:^|[.!?:;,(–—。！？、，：])[ *_]*(?:(?:{_PHRASES['opens']}),? ?)*(?:{_PHRASES['asks']})"
    rf"(?: (?:{_PHRASES['ends']}))*(?=[ *_]*(?:[.!?:;,)–—。！？、，：]|- |$))",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = "```"


def without_unstored(prompt: str) -> str:
    """Return a prompt without what is asked in it not to be remembered: from the sentence that asks on to the end of
    its paragraph, and what its colon introduces; where nothing follows, what the paragraph says before. A sentence
    that is a paragraph takes the one that it points at: the one before, else the one after."""
    if not _ASKS.search(prompt):
        return prompt
    paragraphs = re.split(r"(\n[ \t]*\n\s*)", prompt)
    for place in range(0, len(paragraphs), 2):
        for gone, start in _unstored(paragraphs, place):
            kept = paragraphs[gone][:start].rstrip()
            paragraphs[gone] = f"{kept}\n\n{INSTEAD}" if kept else INSTEAD
    return "".join(paragraphs)


def _unstored(paragraphs: list[str], place: int) -> Iterator[tuple[int, int]]:
    """Yield which paragraphs go, each with the place from which on it does."""
    words = paragraphs[place]
    asked = None if _CODE in words else _ASKS.search(words)
    if asked is None:
        return
    begins = asked.start() + (asked[0][:1] in _SIGNS)
    start = max(words.rfind(sign, 0, begins) for sign in _ENDS) + 1
    start += len(words[start:]) - len(words[start:].lstrip())
    before, after = words[:start].strip(_SIGNS), words[asked.end() :]
    introduces = after.rstrip(" *_").endswith((":", "："))
    is_alone = not words[start:begins].strip(_SIGNS) and not after.strip(_SIGNS)
    yield place, start if after.strip(_SIGNS) or introduces else 0
    if introduces or (is_alone and not before):
        other = place + 2 if introduces or not place else place - 2
        if 0 <= other < len(paragraphs) and INSTEAD not in paragraphs[other]:
            yield other, 0
