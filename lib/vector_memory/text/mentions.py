"""What a text names exactly: files, identifiers, packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vector_memory.text import analysis, tables
from vector_memory.text.words import codes_in

MAX_CHARS = 4_000
MOST = 24
LONGEST_QUOTED = 80


@dataclass(frozen=True)
class Mentions:
    """What a text names, as it is written, each once and in order."""

    files: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


_ENDINGS = "|".join(tables.lines("file_endings"))
_LONG = re.compile(r"\S{200,}")
"""Data rather than words, on which the patterns below would take long."""
_FILE = re.compile(
    rf"(?<![\w@])(?:~?/|\.{{1,2}}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.(?:{_ENDINGS})\b(?![\w(])"
    r"|(?<![\w@/])(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?"
    r"|(?<![\w/.])(?:[\w.@+-]+/){2,}[\w.@+-]*\w"
    r"|(?<![\w/])\.(?:env|gitignore|gitattributes|dockerignore|npmrc|nvmrc|editorconfig|eslintrc|prettierrc"
    r"|bashrc|zshrc|python-version|pre-commit-config)(?:\.\w+)?\b"
    r"|\b(?:Makefile|Dockerfile|Justfile|justfile|Procfile|Gemfile|Rakefile|Vagrantfile|Jenkinsfile"
    r"|Caddyfile|CMakeLists|LICENSE|CODEOWNERS)\b"
)
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?:"
    r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+(?:\(\))?"  # dotted, scoped
    r"|[A-Za-z_$][\w$]*\(\)"  # called
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+"  # snake, screaming
    r"|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+"  # camel
    r"|(?:[A-Z][a-z0-9]+){2,}[A-Z]?|[A-Z]{2,}(?:[A-Z][a-z0-9]+)+"  # pascal
    r"|--[a-z][a-z0-9]*(?:-[a-z0-9]+)*"  # an option
    r"|[a-z0-9]+(?:-[a-z0-9]+){2,}"  # kebab
    r"|[A-Z]\d{3,}|[A-Z]{2,}-\d+|#\d{2,}"  # codes, tickets
    r")(?![\w-])"
)
_PACKAGE = re.compile(
    r"(?<![\w/])@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*"
    r"|\b(?:pip3? install|uv (?:add|pip install)|poetry add|npm (?:i|install)|pnpm add|yarn add"
    r"|cargo add|go get|gem install|brew install|apt(?:-get)? install)\s+(?:-[\w-]+\s+)*([\w@/.\[\]-]+)"
    r"|(?m:^\s*(?:import|from)\s+([a-zA-Z_][\w.]*))"
    r"|\b([a-zA-Z][\w.-]*)==\d[\w.]*"
)
_ABBREVIATED = frozenset({"e.g", "i.e", "etc", "vs"})


def mentions(text: str) -> Mentions:
    """Return what a text names."""
    text = _LONG.sub(" ", text[:MAX_CHARS])
    files = _distinct(_files(text))
    names = (*_plain_quoted(text), *_IDENTIFIER.findall(text))
    identifiers = _distinct(name for name in names if name not in files)
    return Mentions(files, identifiers, _distinct(_packages(text)))


def exact_terms(text: str) -> tuple[str, ...]:
    """Return the terms that stand for whole identifiers that a text names, in any style of writing, and for whole
    paths and their last parts."""
    mentioned = mentions(text)
    names: list[str] = []
    for name in (*mentioned.identifiers, *mentioned.files, *mentioned.packages):
        names += [name, name.rpartition("/")[2]] if "/" in name else [name]
    return tuple(dict.fromkeys(term for name in names for term in _whole_terms(name)))


def _whole_terms(name: str) -> list[str]:
    """Return a name's whole term and its form without separators, out of its analysed terms."""
    terms = analysis.analyse(name)
    squashed = re.sub(r"[\W_]+", "", name).lower()
    return [*terms[:1], *(term for term in terms if term == squashed)]


def files(text: str) -> tuple[str, ...]:
    """Return the files that a text names, as it writes them, each once and in order."""
    return _distinct(_files(_LONG.sub(" ", text[:MAX_CHARS])))


def _files(text: str) -> Iterator[str]:
    if "." not in text and "/" not in text and "file" not in text:
        return
    for match in _FILE.finditer(text):
        word = match[0].rstrip("./")
        if word and not _is_number(word) and word.lower() not in _ABBREVIATED:
            yield word


def _is_number(word: str) -> bool:
    """Whether a word that looks like a file is a number, a date or a row of them: "10.5", "24/7/365". `0007_split.sql` and
    `2024-11-03.md` are files: they have an ending, and more than digits before it."""
    stem = word.rpartition("/")[2].rpartition(".")[0]
    return word[0].isdecimal() and all(sign.isdecimal() or sign == "." for sign in stem)


def _plain_quoted(text: str) -> Iterator[str]:
    """Yield what stands alone between back quotes: one word of code."""
    for code in map(str.strip, codes_in(text)):
        if 1 < len(code) <= LONGEST_QUOTED and " " not in code:
            yield code


def _packages(text: str) -> Iterator[str]:
    for match in _PACKAGE.finditer(text):
        yield next((group for group in match.groups() if group), match[0])


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))[:MOST]
