"""Whether a memory names what a search looks for: the rule by which the facade speaks or is silent."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from vector_memory.observe.search.pattern_terms import EVERYWHERE, Alternative, SearchTerms
from vector_memory.text import analysis, mentions
from vector_memory.text.words import names_in

NEARLY_ALL = 0.75
"""The share of several words that a memory must have."""
FEW_WORDS = 2
"""Of so few words it must have all."""

LEAST_TOLD, LEAST_IN_TALK = 2, 3
"""Plain words that a text must say beyond what was searched for, to tell anything of it."""
LEAST_ALONE = 6
"""The same of talk that does not say where."""
MOST_COUNTED = 10
FEW_FOUND = 2
"""Of many things that are searched for at once a piece must have so many: one of ten says nothing of the search."""
_ANNOUNCES = re.compile(
    r":\s*$|^(?:\w+: )?(?:(?:now|next|let me|let\'s|i(?:\'|\u2019)?(?:m|ll))\b|(?:done|task):)",
    re.IGNORECASE,
)
NEAR = 8
"""Pieces after one that names a file, which may be about that file."""
ENOUGH_TOLD, MOST_TOLD = 8, 0.6
"""Plain words, and their share, of a piece that have to be shown of it."""
_CODE = re.compile(
    r"`[^`\n]*`|\S*[^\w\s.,;:!?()*'\"-]\S*|\w+\([^)]*\)?|\w*_\w*|\w*\.\w\S*|\w+[a-z][A-Z]\w*"
)
"""What is written in code: quoted, called, joined, or with signs that no language has in its words."""
_PIECE = re.compile(r"\n|(?<=[.!?;])\s+|\s[-*•|]\s+")
"""Ends a sentence, an item of a list, a cell of a table."""
_AS_A_NAME = (
    r"""(?i:(?<![\w-])(?:--|[`"'\u2018\u201c])%(word)s(?![\w-])|(?<![\w-])%(word)s[`"'\u2019\u201d](?!\w))"""
    r"""|(?<=[\w,)`] )%(capital)s(?![\w-])"""
    r"""|^\W*(?i:(?:the |an? |our )?%(word)s) [a-z]"""
)
"""How a plain word stands that is a name: quoted or as an option, with a capital within the sentence, or as what the
sentence begins with."""
_DOTTED = re.compile(r"\w+(?:[.:/-]+\w+)+|\w+")
_DOTS = str.maketrans("._-", "   ")


@dataclass(frozen=True)
class MemoryNames:
    """What a memory names: its words, and its files, in lower case, as they are written. What is taken from its
    words is taken when it is asked for."""

    text: str
    files: frozenset[str]

    @cached_property
    def names(self) -> frozenset[str]:
        """Identifiers in lower case: whole, each part of what dots join, what such a name ends with
        (`ledger.post_entry` of `shop.ledger.post_entry`), and files' names without their folders."""
        text = "\n".join((self.text, *self.files)).lower()
        bases = map(posixpath.basename, self.files)
        joined_names = _DOTTED.findall(text)
        name_ends = (
            name[place + 1 :]
            for name in joined_names
            for place, sign in enumerate(name)
            if sign in ".:/"
        )
        return frozenset([*joined_names, *name_ends, *names_in(text), *bases])

    def is_name_here(self, word: str) -> bool:
        """Whether a plain word is the name of something here, by how it stands."""
        if any(sign.isdigit() for sign in word):
            return word in self.names
        form = _AS_A_NAME % {"word": re.escape(word), "capital": re.escape(word.capitalize())}
        return word in self.names and any(
            re.search(form, piece) for piece in _PIECE.split(self.text)
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its analysed words, parts of names included."""
        return frozenset(analysis.analyse(self.text))

    @cached_property
    def plain_words(self) -> frozenset[str]:
        """Those of its analysed words that stand in no name and no code."""
        words = analysis.analyse(_CODE.sub(" ", self.text))
        return frozenset(word for word in words if len(word) > 2 or not word.isascii())


def naming(title: str, text: str, files: Iterable[str] = ()) -> MemoryNames:
    """Return what a memory names."""
    text_with_title = f"{title}\n{text}"
    return MemoryNames(
        text_with_title,
        frozenset(file.lower() for file in (*files, *mentions.files(text_with_title))),
    )


def says_where(file: str) -> bool:
    """Whether a file's name says where something is: every project has a README, and what lies outside of the
    project is not what is searched."""
    if file.startswith(("/", "~")):
        return False
    stem = posixpath.basename(file).split(".")[0] or posixpath.basename(file).strip(".")
    return stem.lower() not in EVERYWHERE and "*" not in file


def _is_inside(path: str) -> bool:
    """Whether a path that a text names is a file of the project, and not a branch or an address."""
    return not path.startswith(("/", "~")) and (is_file(path) or not says_where(path))


@dataclass(frozen=True)
class TellingPiece:
    """What a text says of what is looked for: the piece that says most, the file that stands in it or, at its
    head, shortly before it ("" for none), and how much it says."""

    text: str = ""
    file: str = ""
    weight: float = 0.0


def telling_piece(wanted: SearchTerms, text: str, title: str | None = None) -> TellingPiece:
    """Return what a text says of what is looked for. A list of names or a line of code says nothing that the
    search would not show, but in talk for the file that it stands under.

    Args:
        title: what all of the text is about, its title and its files, where it says something of it; None for talk. Talk has to say more,
            or where that is; what it announces says nothing.
    """
    searched_words = {
        word
        for alternative in wanted.alternatives
        for word in (*alternative.words, *alternative.terms)
    }
    is_about = title is not None and by_name(wanted, naming("", title))
    best, file, pieces_since = TellingPiece(), "", 0
    for piece in _PIECE.split(text):
        pieces_since += 1
        if inner_files := [path for path in mentions.files(piece) if _is_inside(path)]:
            file, pieces_since = next(filter(says_where, inner_files), ""), 0
        if not is_about and not may_fit(wanted, piece):
            continue
        near_file, piece_names = file if pieces_since <= NEAR else "", naming("", piece)
        fitting, plain = fitted(wanted, piece_names), len(piece_names.plain_words - searched_words)
        least = min(FEW_FOUND, wanted.sought / 2)
        if title is not None:
            tells = plain >= LEAST_TOLD and (is_about or len(fitting) >= least)
        elif _ANNOUNCES.search(piece):
            tells = False
        elif near_file:
            tells = plain >= LEAST_IN_TALK or by_name(wanted, piece_names)
        else:
            tells = (
                plain >= LEAST_ALONE
                and sum(bool(alternative.names) for alternative in fitting) >= least
            )
        near = len(piece_names.terms & wanted.around)
        weight = len(fitting) + bool(fitting) + min(plain, MOST_COUNTED) / 4 + min(near, 4) / 2
        if tells and (fitting or is_about) and weight > best.weight:
            best = TellingPiece(piece, near_file, weight)
    return best


def holds_most(shown_text: str, piece: str) -> bool:
    """Whether what is shown of a text has most of what a piece of it says."""
    words = naming("", piece).plain_words
    return len(words & naming("", shown_text).plain_words) >= min(
        ENOUGH_TOLD, MOST_TOLD * len(words)
    )


def may_fit(wanted: SearchTerms, text: str) -> bool:
    """Whether a text may fit, by a look at its letters: to take it apart would take long."""
    letters = text.lower().translate(_DOTS)
    return any(
        alternative.words
        or all(
            part.translate(_DOTS) in letters for part in (*alternative.names, *alternative.files)
        )
        for alternative in wanted.alternatives
    )


def names_all(wanted: SearchTerms, memory_names: MemoryNames) -> bool:
    """Whether a memory names, exactly, all that is looked for, and by name."""
    return all(
        (alternative.names or alternative.files) and fits(alternative, memory_names, wanted.places)
        for alternative in wanted.alternatives
    )


def by_name(wanted: SearchTerms, memory_names: MemoryNames) -> bool:
    """Whether a memory has a name that is looked for, exactly, rather than words or a file's name."""
    return any(
        (alternative.names or alternative.word) and fits(alternative, memory_names)
        for alternative in wanted.alternatives
    )


def names_more(text: str, known: MemoryNames) -> bool:
    """Whether a text names a file or an identifier that a memory does not. One plain word in quotes is neither: it may
    be what something is replaced by."""
    mentioned = mentions.mentions(text)
    codes = (name.strip("-()") for name in mentioned.identifiers)
    identifiers = (name for name in codes if not (name.isalpha() and name[1:].islower()))
    bases = (posixpath.basename(file.rstrip("/")) for file in mentioned.files)
    return any(name.lower() not in known.names for name in (*identifiers, *bases))


def fitted(wanted: SearchTerms, memory_names: MemoryNames) -> list[Alternative]:
    """Return what a memory has of what is looked for."""
    return [
        alternative
        for alternative in wanted.alternatives
        if fits(alternative, memory_names, wanted.places)
    ]


def fits(alternative: Alternative, memory_names: MemoryNames, places: Iterable[str] = ()) -> bool:
    """Whether a memory has what one alternative looks for: every name in it, or nearly all of its words.
    A single plain word is in too many memories: it counts where it stands as a name, or where the memory names the
    file that is searched, too."""
    bases = [posixpath.basename(file) for file in memory_names.files] if alternative.files else []
    if bases and all(
        any(_is_in_name(piece, base) for base in bases) for piece in alternative.files
    ):
        return True
    if alternative.names:
        return all(_has_name(memory_names, name) for name in alternative.names)
    if alternative.word and memory_names.is_name_here(alternative.word):
        return True
    words = alternative.words
    shared = sum(word in memory_names.terms for word in words)
    if len(words) == 1:
        files = filter(is_file, places)
        return shared == 1 and any(
            in_place(file, memory_file) for file in files for memory_file in memory_names.files
        )
    least = len(words) if len(words) <= FEW_WORDS else NEARLY_ALL * len(words)
    return bool(words) and shared >= least


def _has_name(memory_names: MemoryNames, name: str) -> bool:
    """Whether a memory has a name: in a pattern a dot stands for any sign."""
    return name in memory_names.names or any(
        name.replace(".", sign) in memory_names.names for sign in "-_"
    )


def _is_in_name(piece: str, base: str) -> bool:
    """Whether a piece of a file's name says that it may be this file: one plain word is in the names of many. A number
    is one file's where files are numbered (`0007_split.sql`), and not where it is a year (`2024-11-03.md`)."""
    if is_joined(piece):
        return piece in base
    behind = base.lstrip("0123456789")
    is_numbered = behind.lstrip("._-")[:1].isalpha() and base == piece + behind
    return piece == base.split(".")[0] or (piece.isdecimal() and is_numbered)


def is_joined(name: str) -> bool:
    """Whether a name is made of several words, or has an ending."""
    return any(sign in name.strip("._-") for sign in "._-")


def in_place(place: str, file: str) -> bool:
    """Whether a file is, or may be, the one at a place, or below it: both may be written from anywhere, so that
    what is told of their folders has to agree."""
    place_names, file_names = (
        [name for name in path.lower().split("/") if name not in ("", ".", "..")]
        for path in (place, file)
    )
    if not place_names or (len(file_names) == 1 < len(place_names) and not says_where(file)):
        return False
    return any(
        place_names[-shared:] == file_names[end - shared : end]
        for end in range(1, len(file_names) + 1)
        for shared in (min(end, len(place_names)),)
    )


def is_file(place: str) -> bool:
    """Whether a place looks like a file rather than a folder."""
    return "." in posixpath.basename(place).strip(".") and not place.endswith("/")
