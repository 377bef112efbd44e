"""Whether a memory names what a search looks for: the rule by which the facade speaks or is silent."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from vector_memory.observe.search.pattern_terms import Alternative, SearchTerms
from vector_memory.text import analysis, mentions, tables

NEARLY_ALL = 0.75
"""The share of several words that a memory must have."""
FEW_WORDS = 2
"""Of so few words it must have all."""

EVERYWHERE = tables.words("common_files")
"""Files that are in every project, without their endings."""

_DOTTED = re.compile(r"\w+(?:[.:/-]+\w+)+|\w+")
_PIECES = re.compile(r"[.:/-]+")


@dataclass(frozen=True)
class MemoryNames:
    """What a memory names.

    Attributes:
        names: identifiers in lower case: whole, and each part of what dots join.
        terms: its analysed words.
        files: its files, in lower case, as they are written.
    """

    names: frozenset[str]
    terms: frozenset[str]
    files: frozenset[str]


def naming(title: str, text: str, files: Iterable[str] = ()) -> MemoryNames:
    """Return what a memory names."""
    said = f"{title}\n{text}"
    named = {one.lower() for one in (*files, *mentions.files(said))}
    names = set()
    for token in _DOTTED.findall("\n".join((said, *files))):
        names.add(token.lower())
        names.update(_PIECES.split(token.lower()))
    return MemoryNames(frozenset(names), frozenset(analysis.analyse(said)), frozenset(named))


def says_where(file: str) -> bool:
    """Whether a file's name says where something is: every project has a README."""
    stem = posixpath.basename(file).split(".")[0] or posixpath.basename(file).strip(".")
    return stem.lower() not in EVERYWHERE and "*" not in file


def may_fit(sought: SearchTerms, texts: Iterable[str]) -> bool:
    """Whether texts may fit, by a look at their letters: to take all of them apart would take long."""
    said = "\n".join(texts).lower()
    return any(
        one.words or all(part in said for part in (*one.names, *one.files))
        for one in sought.alternatives
    )


def names_all(sought: SearchTerms, held: MemoryNames) -> bool:
    """Whether a memory names, exactly, all that is looked for, and by name."""
    return all(
        (one.names or one.files) and fits(one, held, sought.places) for one in sought.alternatives
    )


def fit(sought: SearchTerms, held: MemoryNames) -> float:
    """Return how well a memory fits the best of the alternatives, 0 for not at all: 3 for a name, 2 for a
    file's name, 1 for words; more where it names a place that is looked in."""
    best = max(
        (_worth(one) for one in sought.alternatives if fits(one, held, sought.places)), default=0.0
    )
    return best + 0.5 * (best > 0 and names_place(sought.places, held))


def _worth(alternative: Alternative) -> float:
    return 3.0 if alternative.names else 2.0 if alternative.files else 1.0


def fits(alternative: Alternative, held: MemoryNames, places: Iterable[str] = ()) -> bool:
    """Whether a memory has what one alternative looks for: every name in it, or nearly all of its words.
    A single plain word is in too many memories: it counts where the memory names the file that is
    searched, too."""
    if alternative.files:
        return all(
            any(piece in posixpath.basename(one) for one in held.files)
            for piece in alternative.files
        )
    if alternative.names:
        return all(one in held.names for one in alternative.names)
    words = alternative.words
    shared = sum(one in held.terms for one in words)
    if len(words) == 1:
        return shared == 1 and names_place(filter(is_file, places), held)
    return bool(words) and shared >= (
        len(words) if len(words) <= FEW_WORDS else NEARLY_ALL * len(words)
    )


def names_place(places: Iterable[str], held: MemoryNames) -> bool:
    """Whether a memory names one of the files, or a file in one of the folders."""
    return any(in_place(place, one) for place in places for one in held.files)


def in_place(place: str, file: str) -> bool:
    """Whether a file is, or may be, the one at a place, or below it: both may be written from anywhere."""
    base = posixpath.basename(place.strip("./")).lower()
    if not base:
        return False
    file = file.lower()
    return posixpath.basename(file) == base or f"/{base}/" in f"/{file}"


def is_file(place: str) -> bool:
    """Whether a place looks like a file rather than a folder."""
    return "." in posixpath.basename(place).strip(".") and not place.endswith("/")
