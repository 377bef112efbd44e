"""What a text is about, by name: files, technologies, concepts of the code, persons, projects.

Each has one canonical form, so that "psql" and "Postgres" or a file by its path and by its name alone
are the same. An entity is written `kind:name`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from vector_memory.text import tables
from vector_memory.text.mentions import mentions
from vector_memory.text.technologies import CANONICAL, canonical, technologies
from vector_memory.text.words import codes_in, is_slug

FILE, TECHNOLOGY, CONCEPT = "file", "technology", "concept"
PERSON, PROJECT = "person", "project"
KINDS = (PROJECT, TECHNOLOGY, CONCEPT, PERSON, FILE)
MOST = 12
"""Entities of one text at most: what names more is a list."""
LONGEST = 80

_REPOSITORY = re.compile(r"\b(?:github|gitlab|bitbucket|codeberg)\.(?:com|org)[/:]([\w.-]+/[\w-]+)")
_PERSON = re.compile(
    r"\b(?:[Aa]sk|[Aa]sked|[Tt]ell|[Tt]old|[Bb]y|[Ww]ith|[Ff]rom|[Cc]c|[Aa]ssigned to|[Rr]eviewed by|[Oo]wned by|"
    r"[Aa]ccording to)\s+([A-Z][a-zà-ÿ]{2,15})(?=\s+(?:said|says|about|for|to|if|whether|in|on|and|who)\b|[,.;:!?]|$)"
    r"|\b([A-Z][a-zà-ÿ]{2,15}) (?:said|says|wants|wanted|asked|prefers|owns|reviewed|decided|suggested)\b"
    r"|(?<![\w/@.])@([a-z][\w-]{2,30})\b(?![/.])"
)
_NO_CONCEPTS = frozenset((
    "e.g", "i.e", "z.b", "d.h", "none", "null", "nil", "true", "false", "undefined", "nan",
))  # fmt: skip
_COMMAND_SIGNS = frozenset("-/.=@$")
"""What stands behind the program of a command line, rather than behind the first of some plain words."""
_SHORT_NAME = re.compile(
    r"(?<![\w./@:#-])(?![0-9a-f]{6,}\b)(?:[a-z]{2,6}\d{1,2}|[a-z]\d{1,2}[a-z])(?![\w/-]|\.\w)"
)
"""A short name with a digit in it: k9s, node3."""
_COMMON_WORDS = tables.words("common_words") | tables.words("stop_words")
_NOT_PERSONS = tables.words("days_and_months") | tables.words("no_persons")


def entities(text: str, files: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the entities that a text names, as `kind:name`, each once.

    Args:
        files: files that the talk was about; a name alone means the one of them that ends with it.
    """
    mentioned = mentions(text)
    names = [
        *(
            f"{PROJECT}:{repository.lower().removesuffix('.git')}"
            for repository in _REPOSITORY.findall(text)
        ),
        *(f"{TECHNOLOGY}:{technology}" for technology in technologies(text)),
        *(f"{TECHNOLOGY}:{canonical(package)}" for package in mentioned.packages),
        *(f"{FILE}:{_path(file, files)}" for file in mentioned.files if _is_file(file, files)),
        *(f"{PERSON}:{person}" for person in _persons(text)),
        *(
            f"{CONCEPT}:{name}"
            for name in (
                *map(_bare, mentioned.identifiers),
                *_programs(text),
                *_SHORT_NAME.findall(text),
            )
            if name.lower() not in CANONICAL and name not in _COMMON_WORDS and _is_concept(name)
        ),
    ]
    return tuple(dict.fromkeys(entity for entity in names if len(entity) <= LONGEST))[:MOST]


def entities_extra(text: str, files: Sequence[str] = ()) -> dict[str, object]:
    """Return what `extra` of a memory says of the entities that its text names, {} for none."""
    names = entities(text, files)
    return {"entities": list(names)} if names else {}


def parse(query: str) -> tuple[str, ...]:
    """Return the forms in which an entity that somebody asks for may be stored: with its kind, or
    with each kind that it could have."""
    kind, _, name = query.partition(":")
    if kind in KINDS and name:
        return (f"{kind}:{canonical(name) if kind == TECHNOLOGY else name}",)
    name = query.strip()
    return tuple(
        dict.fromkeys(
            f"{kind}:{form}"
            for kind in KINDS
            for form in ((canonical(name),) if kind == TECHNOLOGY else (name, name.lower()))
        )
    )


def _is_concept(name: str) -> bool:
    """Whether a name is none without a letter, no abbreviation, no value, nothing quoted and no call that was cut off."""
    low, (_, has_bracket, inside) = name.lower(), name.partition("(")
    is_cut = has_bracket and inside and ")" not in inside
    has_letter = any("a" <= sign <= "z" for sign in low)
    return (
        has_letter
        and not is_cut
        and name[0] not in "\"'"
        and low.removesuffix(".") not in _NO_CONCEPTS
    )


def _bare(identifier: str) -> str:
    return identifier.strip("`().")


def _programs(text: str) -> Iterator[str]:
    """Yield the programs of the command lines that stand between back quotes."""
    for code in codes_in(text):
        program, _, rest = code.removeprefix("$ ").removeprefix("sudo ").partition(" ")
        is_name = program[:1].isalpha() and is_slug(program, "_-", LONGEST) and len(program) > 1
        if is_name and not _COMMAND_SIGNS.isdisjoint(rest):
            yield program


def _is_file(name: str, files: Sequence[str]) -> bool:
    """Whether a word with slashes or a dot is a file rather than words between slashes."""
    is_rooted = name.startswith(("/", "~", "./", "../")) or "." in name.rpartition("/")[2]
    is_path = "/" not in name or is_rooted or any(file.endswith("/" + name) for file in files)
    return is_path and name.lower() not in CANONICAL


def _path(name: str, files: Sequence[str]) -> str:
    """Return a file's path as the talk's tools wrote it, where a part of it was named."""
    bare = name.strip("`'\"()[]").removeprefix("./").removeprefix("@")
    matches = [file for file in files if file == bare or file.endswith("/" + bare)]
    return matches[0] if matches else bare


def _persons(text: str) -> Iterable[str]:
    for groups in _PERSON.findall(text):
        name = next((group for group in groups if group), "").lower()
        if (
            name
            and name not in _NOT_PERSONS
            and name not in CANONICAL
            and not os.path.splitext(name)[1]
        ):
            yield name
