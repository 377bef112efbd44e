"""The client's own memory of a project: read, so that it is found and never said twice; never written.

The client keeps it beside a project's transcripts and loads it at every start itself.
"""

from __future__ import annotations

import logging
import os
import re
from functools import lru_cache

from vector_memory.system import files
from vector_memory.text.words import clauses_in

log = logging.getLogger(__name__)

LOADED_BYTES = 25_000
LOADED_LINES = 200
"""What of its memory the client loads: the rest the model has not seen."""
MAX_CHARS = 200_000
MIN_CHARS = 8

_MARK = re.compile(r"^\s*(?:[#>]+|[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?")
_MARKUP = str.maketrans("", "", "*_`~")
_EDGES = " \t.,;:!?-–—\"'()[]"


def path_beside(transcript: str) -> str:
    """Return where the client keeps its memory of the project of a transcript, "" for none."""
    folder = os.path.dirname(transcript)
    return os.path.join(folder, "memory", "MEMORY.md") if folder else ""


def known_to_client(transcript: str) -> frozenset[str]:
    """Return the sentences that the client itself has told the model, normalised."""
    path = path_beside(transcript)
    try:
        status = os.stat(path)
    except OSError:
        return frozenset()
    return _lines_of(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _lines_of(path: str, mtime_ns: int, size: int) -> frozenset[str]:
    try:
        with files.open_plain(files.with_real_folder(path)) as file:
            text = file.read(LOADED_BYTES).decode("utf-8", "replace")
    except OSError:
        return frozenset()
    return frozenset(lines_known("\n".join(text.splitlines()[:LOADED_LINES])))


def repeats(text: str, client_sentences: frozenset[str]) -> bool:
    """Whether the client has told the model all that a text says."""
    if not client_sentences:
        return False
    if normalised(text) in client_sentences:
        return True
    sentences = lines_known(text)
    return bool(sentences) and sentences <= client_sentences


def lines_known(text: str) -> set[str]:
    """Return the sentences of a text in the form of `normalised`; whole lines too, where they hold
    several. What is too short to tell anything is left out."""
    sentences: set[str] = set()
    for line in text[:MAX_CHARS].splitlines():
        bare = _MARK.sub("", line)
        for piece in (bare, *clauses_in(bare)):
            sentence = normalised(piece)
            if len(sentence) >= MIN_CHARS:
                sentences.add(sentence)
    return sentences


def normalised(sentence: str) -> str:
    """Return a sentence without markup, case, breaks and closing marks, to be compared."""
    return " ".join(_MARK.sub("", sentence).translate(_MARKUP).casefold().split()).strip(_EDGES)
