"""Errors that are the same but for names: of what was asked for, of where it was met, of what the fix does not concern.

An error's shape is what it says without its names. A fix says which of them an error must have, too: what is missing,
and whatever the fix itself names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vector_memory.index.fixes import commands
from vector_memory.index.fixes.errors import (
    NAMED,
    PLACED,
    complaints,
    digest,
    digest_letters,
    essence,
    is_absent,
    says_only_failure,
    without_what_varies,
    words_of,
)
from vector_memory.index.fixes.fixes import FixStep
from vector_memory.text.words import letters_in

SHAPE, NAMES, NEEDED, IS_BOUND, PARTICULARS = "shape", "names", "needed", "bound", "particulars"
"""In a fix's `extra`: the shape, digests of the names and of those that are needed, whether it is for its own program
alone, and digests of the words that tell the error from others of the same signature."""
LEAST_WORDS = 3
"""Words besides names without which a shape says nothing."""
_PLACE = re.compile(r"(?i)\b(?:from|in|at|by|on|of)(?: (?:file|host|rule|module|directory))? $")
_LOCATED = re.compile(r"/|\w\.[a-z]")
_NUMBER = re.compile(r"(?<![\w.<-])\d+(?:\.\d+)*(?!\w|\.\w)")
_MENTION = re.compile(r"[^\W\d_]{3,}|\d{3,}")


class Likeness(NamedTuple):
    """What an error says without its names, as 16 letters; its names, and those of them that only say what it was
    run for and where it was met; whether it is that something is missing."""

    shape: str
    names: frozenset[str]
    passing: frozenset[str]
    is_absent: bool


def likeness(error: str, command: str) -> Likeness | None:
    """Return by what an error is recognised where its names differ, None where it says little without them."""
    message, targets = _NUMBER.sub("<n>", essence(error)), _target_names(command)
    names, passing = _names(message, targets)
    words = without_what_varies(NAMED.sub("<name>", message)).lower().split()
    passing |= targets & {word.strip(".,:;") for word in words}
    shape = " ".join("<name>" if word.strip(".,:;") in passing else word for word in words)
    is_empty = says_only_failure(NAMED.sub("", message))
    if is_empty or len(letters_in(re.sub(r"<\w+>", "", shape), 2)) < LEAST_WORDS:
        return None
    return Likeness(digest_letters(shape), names | passing, passing, is_absent(message))


def _names(line: str, targets: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a line: what it is about, and what only says what was run and where that was."""
    names, passing, absent = set[str](), set[str](), is_absent(line)
    for match in NAMED.finditer(line):
        words = {word for word in words_of(match.group()) if "<" not in word}
        is_place = _PLACE.search(line[: match.start()]) and _LOCATED.search(match.group())
        is_passing = (
            is_place and (names or not absent) or any(_is_target(word, targets) for word in words)
        )
        (passing if is_passing else names).update(words)
    return frozenset(names), frozenset(passing)


def particulars(error: str, command: str = "") -> frozenset[str]:
    """Return digests of the words of all that an output complains of, but for what was given in the command line, and
    where it was met; none where an error has a kind of its own."""
    targets, words = _target_names(command), set[str]()
    for line in complaints(error):
        passing = _names(line, targets)[1] | (frozenset() if is_absent(line) else targets)
        words |= words_of(PLACED.sub("", line.strip())) - passing
    # A machine that tells it in one line (`[web1]:`) is counted in another.
    words -= {token[1:-2].lower() for token in error.split() if token[:1] + token[-2:] == "[]:"}
    return frozenset(digest(word) for word in words if letters_in(word))


def agree(words: Collection[str], others: Collection[str]) -> bool:
    """Whether two errors may be one: where each has a word of its own, something else is missing or wrong."""
    return set(words) <= set(others) or set(others) <= set(words)


def needs(
    like: Likeness, failed_line: str, steps: Sequence[FixStep], files: Collection[str]
) -> dict[str, Any]:
    """Return what a fix keeps of its error's likeness, as its `extra` holds it: which names are needed.

    Args:
        failed_line: the command line that failed; what the fix repeats of it, it does not name of itself.
    """
    new_text = " ".join(word for step in steps for word in _new_words(step, failed_line))
    mentioned = set(_MENTION.findall(new_text.lower()))
    needs_all = like.is_absent or bool(files)
    needed = {
        name
        for name in like.names
        if (needs_all and name not in like.passing)
        or not mentioned.isdisjoint(_mention_parts(name))
    }
    return {
        SHAPE: like.shape,
        NEEDED: sorted(map(digest, needed)),
        NAMES: sorted(map(digest, like.names)),
        IS_BOUND: not like.names - like.passing <= needed,
    }


def is_alike(fix: Mapping[str, Any], error: str, command: str) -> bool:
    """Whether what a fix keeps of its error is true of another one, but for names that the fix does not need."""
    like = likeness(error, command)
    if like is None or fix.get(SHAPE) != like.shape:
        return False
    programs = {job.split(" ")[0] for job in fix.get("families", ()) if job}
    if fix.get(IS_BOUND) and commands.job_of(command).split(" ")[0] not in programs:
        return False
    names, needed = set(map(digest, like.names)), set(fix.get(NEEDED, ()))
    mine, theirs = set(fix.get(PARTICULARS, ())), particulars(error, command)
    agrees = like.is_absent and needed or agree(mine - set(fix.get(NAMES, ())), theirs - names)
    return bool(agrees) and needed <= names


def _new_words(step: FixStep, failed_line: str) -> Iterator[str]:
    """Yield the words of what was done, but those that it repeats of the command line that failed."""
    repeated = set(_tokens(failed_line)) if step.command else set()
    yield from (word for word in _tokens(step.command or step.line) if word not in repeated)
    jobs = {part.job for part in commands.parts(failed_line)}
    for part in commands.parts(step.command):
        if part.job not in jobs:
            yield from (part.job, *part.words)


def _tokens(line: str) -> list[str]:
    return [token.strip("'\"`(),;") for token in line.split()]


def _mention_parts(name: str) -> set[str]:
    """Return the parts of a name by which it may be mentioned; the ending of a file is none."""
    return set(_MENTION.findall(re.sub(r"(?<=\w)\.[a-z]{1,5}$", "", name)))


def _target_names(command: str) -> frozenset[str]:
    """Return what a command line is told to do it to: the values of its options, too."""
    words = (
        word for part in commands.parts(command) for word in (*part.job.split()[1:], *part.words)
    )
    values = (
        value for word in words for value in re.split("[=:]", word) if not value.startswith("-")
    )
    return frozenset(
        name
        for value in values
        for name in (value.lower(), *words_of(value))
        if len(name) > 2 and name[0].isalnum()
    )


def _is_target(name: str, targets: Iterable[str]) -> bool:
    """Whether a name is what was given, or a file or version of it (`hmmer-3.4.conda`)."""
    return any(
        name == word or name.startswith((f"{word}-", f"{word}@", f"{word}:")) for word in targets
    )
