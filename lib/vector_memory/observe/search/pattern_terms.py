"""From a search's patterns to what they look for: names that are exact, and words.

A regular expression is taken apart without being run: alternatives apart, groups multiplied out, anchors
and classes dropped, what stands between wildcards kept as pieces. Of the pieces some say what is looked
for (`parse_line`, `errors.py`), some say something together (`retry`, `backoff`), and most say nothing
(`def`, `TODO`, `*.py`): who looks for those gets silence.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from vector_memory.observe.commands.command_line import expand_braces
from vector_memory.observe.search.searches import Search
from vector_memory.text import analysis, tables
from vector_memory.text.words import is_made_of, words_in

MOST_ALTERNATIVES = 16
LONGEST_PATTERN = 500
LONGEST_ENDING = 6
LEAST_NAME = 4
"""Letters that a name or a piece of a file's name needs at least."""
LEAST_DULL_NAME = 7
"""The same of a name all of whose parts stand in every project: `load_config`."""
BREAK = "\0"
"""Stands in an alternative where anything may stand."""


@dataclass(frozen=True)
class Alternative:
    """One thing that would do, to be found as a whole.

    Attributes:
        names: identifiers and files' names, in lower case, each as one that joins words: `CacheManager` and
            `cache_manager` are two things.
        words: stems of plain words that say something.
        files: pieces of files' names, in lower case.
        word: the one plain word that is all that is looked for, as it is written; "" where it is not that.
        terms: the analysed terms of all of these, telling parts of names included: what an index is asked for.
    """

    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    word: str = ""
    terms: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return bool(self.names or self.words or self.files)


@dataclass(frozen=True)
class SearchTerms:
    """What a call looks for. `places` are the folders and files that it looks in, as they were written; `around`
    are the stems of all that its patterns say, plain words included; `sought` says how many things would do."""

    alternatives: tuple[Alternative, ...]
    places: tuple[str, ...] = ()
    around: frozenset[str] = frozenset()
    sought: int = 1

    def __bool__(self) -> bool:
        return bool(self.alternatives)


def sought(searches: Sequence[Search]) -> SearchTerms:
    """Return what searches look for; it is false where they say nothing that a memory could know."""
    distinct = dict.fromkeys(
        alternative
        for search in searches
        for alternative in _alternatives_of(search)
        if alternative
    )
    wanted = tuple(distinct)[:MOST_ALTERNATIVES]
    places = dict.fromkeys(place for search in searches for place in _places_of(search))
    patterns = " ".join(pattern for search in searches for pattern in search.patterns)
    return SearchTerms(
        wanted,
        tuple(place for place in places if place not in ("", ".", "./")),
        frozenset(analysis.analyse(patterns))
        - {term for alternative in wanted for term in alternative.terms},
        len(wanted),
    )


def _alternatives_of(search: Search) -> Iterator[Alternative]:
    for pattern in search.patterns:
        text = pattern[:LONGEST_PATTERN]
        yield from map(_text_alternative, text.split("\n") if search.fixed else alternatives(text))
    for name in search.names:
        text = name[:LONGEST_PATTERN]
        yield from map(_name_alternative, _glob_texts(text) if search.globs else alternatives(text))


def _places_of(search: Search) -> Iterator[str]:
    """Yield where a search looks: a glob in the folder before its first wildcard."""
    heads = [_WILD.split(name, maxsplit=1)[0] for name in search.names if search.globs]
    folders = [posixpath.dirname(head) for head in heads] or [""]
    for path, folder in product(search.paths or ("",), folders):
        yield posixpath.join(search.folder, path, *([folder] if folder else ()))


# -- contents -------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[\w$@#:./-]*\w\(?|\x00")
_SELF_PREFIXES = tuple(
    name + sign for name in ("self", "this", "cls", "super") for sign in ("::", ".", ":")
)
_DEFINES = frozenset({"def", "class", "function", "func", "fn", "interface", "struct", "enum", "trait", "impl",
                      "module", "type", "macro", "const", "let", "var"})  # fmt: skip
_COMPOUND = re.compile(
    r"[^\W_]+(?:[_.:/-]+[^\W_]+)+|[a-z0-9]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Za-z]+\d{2,}\w*|\d+[A-Za-z]{2,}\w*"
)
_COMMON = tables.words("common_words")
_COMMON_STEMS = frozenset(map(analysis.stem, _COMMON)) | _COMMON
_COMMON_NAMES = tables.words("common_names")
EVERYWHERE = tables.words("common_files")
"""Files that are in every project, without their endings."""


def _text_alternative(text: str) -> Alternative:
    """Return what an alternative names: what it defines or calls counts as a name, however plain."""
    written: list[str] = []
    words: list[str] = []
    previous = ""
    for token in _TOKEN.findall(text):
        bare = token.rstrip("(").strip("._/:\\@#+-$")
        bare = bare.removeprefix(next(filter(bare.startswith, _SELF_PREFIXES), ""))
        if _is_name(bare) or ((token[-1] == "(" or previous in _DEFINES) and _is_telling(bare)):
            written.append(bare)
        elif squashed(bare) not in _COMMON_NAMES:
            words += _telling_words(bare)
        previous = bare.lower()
    # In `group.id=audit-tail` the value is meant.
    written = [name for name in written if not _is_dull(name)] or written
    if not written and (word := _lone_word(text)):
        return Alternative(words=(analysis.stem(word),), word=word, terms=_telling_terms([word]))
    names = tuple(dict.fromkeys(name.lower() for name in written))
    distinct = tuple(dict.fromkeys(word for word in words if word not in names))
    return Alternative(names, distinct, terms=(*_telling_terms(written), *distinct))


def _lone_word(text: str) -> str:
    """Return the word, or the option, that is all of a text, in lower case; "" where it says nothing."""
    match = _LONE.fullmatch(text.replace(BREAK, " "))
    word = match[2].lower() if match else ""
    says = match and (match[1] or not {word, analysis.stem(word)} & _COMMON_STEMS)
    return word if says and word not in analysis.STOP_WORDS | _COMMON_NAMES else ""


_LONE = re.compile(r"\s*(--)?([^\W\d_](?:[\w-]*[^\W_])?(?<=\w{3}))\s*")


def _telling_terms(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the terms of names and words without those that stand in every project: reading all that have one of
    those takes most of a query's time."""
    terms = analysis.query_terms(" ".join(texts))
    return tuple(term for term in terms if term not in _COMMON_STEMS and not term.isdigit())


def _is_name(token: str) -> bool:
    """Whether a word is an identifier or a file's name rather than plain language."""
    name = squashed(token)
    is_file_everywhere = _has_ending(token) and token.split(".")[0].lower() in EVERYWHERE
    if name in _COMMON_NAMES or is_file_everywhere or not _COMPOUND.fullmatch(token):
        return False
    return len(name) >= (LEAST_DULL_NAME if _is_dull(token) else LEAST_NAME)


def _is_dull(token: str) -> bool:
    """Whether all parts of a name stand in every project."""
    return not any(map(_is_telling, analysis.parts_of(token)))


def _is_telling(word: str) -> bool:
    low = word.lower()
    return len(low) >= LEAST_NAME and not {low, analysis.stem(low)} & _COMMON_STEMS


def _telling_words(token: str) -> list[str]:
    dull = analysis.STOP_WORDS | _COMMON_NAMES
    words = (word for word in words_in(token) if word not in dull and _is_telling(word))
    return [analysis.stem(word) for word in words if not word.isdigit()]


def squashed(name: str) -> str:
    """Return one form for all styles of a name: `getUserById` is `get_user_by_id`."""
    return "".join(filter(str.isalnum, name)).lower()


# -- regular expressions --------------------------------------------------------------------------

_SIGN = re.compile(
    r"""(?P<letters>\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\])
    |(?P<repeat>(?:[*?+]|\{\d*,?\d*\}|\\\{\d*,?\d*\\\})+)
    |(?P<bar>\\?\|)
    |(?P<flags>\(\?[imsxu-]+\))
    |(?P<open>\((?:\?(?:P?<[A-Za-z_]\w*>|[imsxu-]*:|<?[=!]|[>|]))?)
    |(?P<close>\))
    |(?P<edge>\\[sbB<>n])
    |(?P<gap>\\[dDwWSAzZtrvfhHRpPQE`'0-9]|[\^$])
    |(?P<plain>\\?.)""",
    re.DOTALL | re.VERBOSE,
)


def alternatives(pattern: str) -> list[str]:
    """Return the texts that a regular expression looks for, any of them, each with `BREAK` where anything
    may stand. Both `|` and `\\|` divide: agents use either, whatever the program reads. Never fails."""
    groups = [_Group()]
    for match in _SIGN.finditer(pattern):
        kind, sign, group = match.lastgroup, match[0], groups[-1]
        if kind == "open":
            groups.append(_Group(sign))
        elif kind == "bar":
            group.divide()
        elif kind == "close" and len(groups) > 1:
            groups.pop()
            groups[-1].add([BREAK] if group.sign.endswith("!") else group.close())
        elif kind != "repeat":
            group.add([_sign_text(kind, sign)], is_wide=kind in ("letters", "gap") or sign == ".")
        elif not group.repeat(is_optional=not set(sign).isdisjoint("*?")):
            group.add([sign])
    while len(groups) > 1:
        # It was no group but a call, written as it is.
        unclosed = groups.pop().close()
        groups[-1].add([f"({text}" for text in unclosed])
    return [text for text in groups[0].close() if text.strip(BREAK + " ")]


def _sign_text(kind: str | None, sign: str) -> str:
    """Return the letters that a sign stands for."""
    if kind == "letters" and len(sign) == 4 and sign[1].lower() == sign[2].lower():
        return sign[1].lower()
    texts = {"letters": BREAK, "gap": BREAK, "edge": " ", "flags": ""}
    return texts.get(kind or "", sign[-1])


class _Group:
    """What one group of a regular expression may be, as far as it is read.

    Args:
        sign: with which it began.
    """

    def __init__(self, sign: str = "") -> None:
        self.sign = sign
        self._alternatives: list[str] = []
        self._current = [""]
        self._last_piece = [""]
        self._is_wide = False

    def add(self, texts: list[str], is_wide: bool = False) -> None:
        """Take the next piece: the texts that it can be, and whether it stands for anything once repeated."""
        if len(self._current) * len(self._last_piece) > MOST_ALTERNATIVES:
            self._last_piece = [BREAK]
        self._current = [text + last for text in self._current for last in self._last_piece]
        self._last_piece, self._is_wide = texts, is_wide

    def repeat(self, is_optional: bool) -> bool:
        """Let the last piece be repeated: one letter that may be missing is there or not. Returns False where
        nothing stands before."""
        if self._current == [""] and self._last_piece == [""]:
            return False
        is_letter = all(len(text) == 1 and text not in ". \0" for text in self._last_piece)
        if self._is_wide:
            self._last_piece = [BREAK]
        elif not is_optional:
            self._last_piece = [text + BREAK for text in self._last_piece]
        elif self._last_piece != [" "]:
            self._last_piece = ["", *self._last_piece] if is_letter else [BREAK]
        return True

    def divide(self) -> None:
        """Begin the next alternative."""
        self.add([""])
        self._alternatives += self._current
        self._current = [""]

    def close(self) -> list[str]:
        """Return the texts that it can be, a few."""
        self.divide()
        return list(dict.fromkeys(self._alternatives))[:MOST_ALTERNATIVES]


# -- names of files -------------------------------------------------------------------------------

_WILD = re.compile(r"\*+|\?|\[[^\]]*\]")
_BRACES = str.maketrans("", "", "{}")


def _glob_texts(glob: str) -> list[str]:
    """Return the texts of a glob with its braces multiplied out, with `BREAK` for its wildcards."""
    return [_WILD.sub(BREAK, text.translate(_BRACES)) for text in expand_braces(glob)]


def _name_alternative(text: str) -> Alternative:
    """Return the telling piece of the last part of a path; the parts before it say where."""
    base = text.rsplit("/", 1)[-1].strip("./")
    if BREAK not in base and _has_ending(base):
        telling = [base] if _is_telling_file(base) else []
    else:
        pieces = [piece.strip("._-") for piece in base.split(BREAK)]
        telling = [piece for piece in pieces if _is_telling_file(piece)]
    files = tuple(piece.lower() for piece in telling)
    # What joins words and has no ending may be the name of something else.
    names = tuple(piece.lower() for piece in telling if "." not in piece and _is_name(piece))
    return Alternative(names, files=files, terms=_telling_terms(telling))


def _has_ending(name: str) -> bool:
    stem, _, ending = name.rpartition(".")
    return is_made_of(stem[-1:], "_", 1) and is_made_of(ending, "_", LONGEST_ENDING)


def _is_telling_file(piece: str) -> bool:
    """Whether a piece of a file's name says which file is meant: an ending says nothing."""
    stem = piece.rsplit(".", 1)[0] if _has_ending(piece) else piece
    ending = piece.removeprefix(".")
    is_ending = (
        piece != ending and len(ending) <= 5 and ending.isalnum() and ending == ending.lower()
    )
    if is_ending or stem.lower() in EVERYWHERE or len(stem) < LEAST_NAME:
        return False
    return any(len(part) > 2 and part not in _COMMON_STEMS for part in analysis.parts_of(stem))
