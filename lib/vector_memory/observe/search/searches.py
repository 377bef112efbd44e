"""From a tool call to the searches in it: which patterns are looked for, where, in files named how.

The client's own tools (Grep, Glob) and the programs that agents search with in a shell. What looks like a
search and is none gives nothing: a filter of another program's output, a condition (`grep -q`), a search
that deletes what it finds. Nothing is run, and nothing on the disk is looked at.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile, zip_longest
from typing import Any

from vector_memory.observe.commands.command_line import substitute
from vector_memory.system.json_in import Record
from vector_memory.text import tables
from vector_memory.text.shell import Command, ShellWord, assigned, parse

CONTENTS = ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "git grep")


@dataclass(frozen=True)
class Search:
    """One search.

    Attributes:
        program: what searches: `grep`, `git grep`, `find`, `Grep`, `Glob`, …
        patterns: what is looked for in files, any of them, as it was written.
        names: what the files that are looked for are called.
        fixed: whether `patterns` are plain text rather than regular expressions.
        globs: whether `names` are globs rather than regular expressions.
        paths: where it looks, "" for none said; relative ones are relative to `folder`.
        folder: where the program runs, relative to the session's folder; "" for there.
    """

    program: str
    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    fixed: bool = False
    globs: bool = True
    paths: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True)
class SearchCall:
    """What a tool call looks for. `alone` says that it does nothing else: what its output is cut or sorted
    by counts as part of the search."""

    searches: tuple[Search, ...]
    alone: bool = True


def searches(tool: str, arguments: Mapping[str, Any]) -> SearchCall | None:
    """Return the searches of a tool call, None where it is none.

    Args:
        tool: the tool's name.
        arguments: what it is given.
    """
    pattern, path, line = map(Record(arguments).text, ("pattern", "path", "command"))
    paths = (path,) if path else ()
    if tool == "Grep" and pattern:
        return SearchCall((Search(tool, (pattern,), paths=paths),))
    if tool == "Glob" and pattern:
        return SearchCall((Search(tool, names=(pattern,), paths=paths),))
    return _searches_of_line(line) if tool == "Bash" else None


# -- a shell's line -------------------------------------------------------------------------------

_WORDS = {
    name: frozenset(words)
    for name, words in tables.groups("search_words", os.path.dirname(__file__)).items()
}
_ALIASES = {"egrep": "grep", "fgrep": "grep", "zgrep": "grep", "fdfind": "fd"}
_TO_A_FILE = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_NOWHERE = ("/dev/null", "/dev/stderr", "/dev/stdout")
MOST_VALUES = 4
"""Values of a variable that are looked at."""
_WILDCARDS = str.maketrans("?[{", "***")


def _searches_of_line(line: str) -> SearchCall | None:
    all_searches: list[Search] = []
    is_alone = True
    head: Command | None = None
    commands = _filled_commands(line)
    pipe_start = 0
    for place, command in enumerate(commands):
        is_run = bool({"xargs", "find"} & set(command.via))
        head = head if command.piped else command
        pipe_start = pipe_start if command.piped or is_run else len(all_searches)
        search = (
            None if _changes_files(command, commands[place + 1 :]) else _search_of(command, head)
        )
        if search is not None and is_run and search.patterns:
            # What those files are called is no more looked for: it says where.
            listed_paths = [path for search in all_searches[pipe_start:] for path in search.paths]
            all_searches[pipe_start:] = [replace(search, paths=search.paths or tuple(listed_paths))]
        elif search is not None:
            all_searches.append(search)
        elif not _trims_output(command, of_search=bool(all_searches)):
            is_alone = False
        is_alone = is_alone and not any(
            redirect.sign in _TO_A_FILE and redirect.target.text not in _NOWHERE
            for redirect in command.redirects
        )
    return SearchCall(tuple(dict.fromkeys(all_searches)), is_alone) if all_searches else None


def _filled_commands(line: str) -> list[Command]:
    """Return the commands of a line with what the line itself gives its variables, each value in turn."""
    values = assigned(line) if "$" in line else {}
    commands = []
    for command in parse(line):
        word_forms = [substitute(word, values, {})[:MOST_VALUES] for word in command.words]
        for turn in range(max(map(len, word_forms))):
            words = tuple(forms[min(turn, len(forms) - 1)] for forms in word_forms)
            commands.append(replace(command, words=words))
    return commands


def _trims_output(command: Command, of_search: bool) -> bool:
    """Whether a command only cuts or sorts a search's output, or takes lines out of it."""
    if of_search and command.piped and _program_of(command)[0] in CONTENTS:
        return True
    follows = any(word.text in ("-f", "-F", "--follow") for word in command.arguments)
    return command.name in _WORDS["shortening"] and not (command.name == "tail" and follows)


def _changes_files(command: Command, following: Iterable[Command]) -> bool:
    """Whether a search for files does something to them."""
    texts = [word.text for word in command.arguments]
    if command.name not in _WORDS["listing"] or not _WORDS["changing"].isdisjoint(texts):
        return command.name in _WORDS["listing"]
    # What `find` runs is a command of its own.
    is_fd = command.name in ("fd", "fdfind")
    run_programs = [text for mark, text in pairwise(texts) if is_fd and mark in _WORDS["executing"]]
    for other in following:
        if not other.piped and "find" not in other.via:
            break
        run_programs += [other.name] if {"xargs", "find"} & set(other.via) else []
    return any(posixpath.basename(name) not in _WORDS["reading"] for name in run_programs)


def _program_of(command: Command) -> tuple[str, str, Sequence[ShellWord]]:
    """Return a program's name, the folder that it works in, and its words; `git grep`, `git ls-files` and the like
    are programs of their own."""
    name, folder, words = command.name, command.folder, command.arguments
    while name == "git" and words and words[0].text.startswith("-"):
        takes = words[0].text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        if words[0].text == "-C" and words[1:]:
            folder = posixpath.normpath(posixpath.join(folder, words[1].text))
        words = words[1 + takes :]
    if name == "git" and words:
        return f"git {words[0].text}", folder, words[1:]
    return name, folder, words


def _search_of(command: Command, head: Command | None) -> Search | None:
    """Return the search that a command is, None for none.

    Args:
        head: the command that a pipe begins with; the command itself outside of one.
    """
    program, folder, words = _program_of(command)
    if program in CONTENTS:
        return _contents_search(command, head)
    if command.piped and "xargs" not in command.via:
        return None
    names: list[ShellWord] = []
    paths: Sequence[ShellWord] = ()
    globs = True
    if program == "find":
        names, paths, globs = _find_operands(words)
    elif program in ("fd", "fdfind"):
        arguments = _Arguments(words, _WORDS["fd"])
        names, paths = arguments.operands[:1], arguments.operands[1:]
        globs = arguments.has(["-g", "--glob"])
    elif program in ("ls", "git ls-files"):
        names = [word for word in words if word.glob or (program != "ls" and "*" in word.text)]
    return _file_search(Search(program, globs=globs, folder=folder), names, paths)


def _file_search(
    search: Search, names: Iterable[ShellWord], paths: Iterable[ShellWord]
) -> Search | None:
    """Return a search for files that are called so, None without a name that is known."""
    known_names = tuple(word.text for word in names if word.plain and word.text)
    return replace(search, names=known_names, paths=_places(paths)) if known_names else None


def _places(words: Iterable[ShellWord]) -> tuple[str, ...]:
    """Return where a program looks, as far as it is known: of a glob, the shell's or git's own, the folder before its
    first wildcard."""
    heads = [
        (word.text, word.text.translate(_WILDCARDS).partition("*")[0])
        for word in words
        if word.plain
    ]
    places = (text if text == head else posixpath.dirname(head) for text, head in heads)
    return tuple(place for place in places if place)


def _find_operands(words: Sequence[ShellWord]) -> tuple[list[ShellWord], list[ShellWord], bool]:
    """Return how the files are called that `find` looks for, where, and whether the names are globs."""
    paths = list(takewhile(lambda word: not word.text.startswith(("-", "(", "!", ")")), words))
    names: list[ShellWord] = []
    is_regex = False
    previous = ""
    for word, value in zip_longest(words, words[1:]):
        if word.text == "-prune":
            # What stood before it is what is left out.
            names.clear()
        elif word.text in _WORDS["find"] and value and previous not in ("!", "-not"):
            names.append(value)
            is_regex = is_regex or word.text in ("-regex", "-iregex")
        previous = word.text
    return names, paths, not is_regex


# -- grep and its kin -----------------------------------------------------------------------------


class _Arguments:
    """A program's words, sorted: its options, and the others.

    Args:
        takes: the options that have a value: `--name=value`, `-A3`, `-rne PATTERN`.
    """

    def __init__(self, words: Sequence[ShellWord], takes: frozenset[str]) -> None:
        self.operands: list[ShellWord] = []
        self._options: list[tuple[str, ShellWord | None]] = []
        remaining = list(words)
        while remaining:
            word = remaining.pop(0)
            if word.text == "--":
                self.operands += remaining
                break
            if word.text == "-" or not word.text.startswith("-"):
                self.operands.append(word)
            elif word.text.startswith("--"):
                name, sign, value = word.text.partition("=")
                inline_value = ShellWord(value, word.plain) if sign else None
                has_value = not sign and name in takes and remaining
                self._options.append((name, remaining.pop(0) if has_value else inline_value))
            else:
                self._take_letters(word, remaining, takes)

    def _take_letters(
        self, word: ShellWord, remaining: list[ShellWord], takes: frozenset[str]
    ) -> None:
        for end, letter in enumerate(word.text[1:], 2):
            name, glued = f"-{letter}", word.text[end:].removeprefix("=")
            if name in takes:
                value = (
                    remaining.pop(0) if remaining and not glued else ShellWord(glued, word.plain)
                )
                self._options.append((name, value))
                return
            self._options.append((name, None))

    def has(self, names: Iterable[str]) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self._options)

    def values(self, names: Iterable[str]) -> list[ShellWord]:
        """Return the values of these options."""
        return [word for name, word in self._options if name in names and word is not None]


def _contents_search(command: Command, head: Command | None) -> Search | None:
    program, folder, words = _program_of(command)
    arguments = _Arguments(words, _WORDS.get(_ALIASES.get(program, program), frozenset()))
    # `rg -L` follows links, `grep -L` tells what has none.
    if arguments.has(_WORDS["asks"] - {"-L"} if program == "rg" else _WORDS["asks"]):
        return None
    if program in ("ag", "ack") and (names := arguments.values(["-g"])):
        return _file_search(Search(program, globs=False, folder=folder), names, arguments.operands)
    if program == "rg" and arguments.has(["--files"]):
        names = [
            word for word in arguments.values(_WORDS["within"]) if not word.text.startswith("!")
        ]
        return _file_search(Search(program, folder=folder), names, arguments.operands)
    patterns, operands = arguments.values(["-e", "--regexp", "--match"]), arguments.operands
    if not patterns and not arguments.has(["-f", "--file"]):
        patterns, operands = operands[:1], operands[1:]
    search = Search(
        program,
        tuple(word.text for word in patterns if word.plain and word.text),
        fixed=program == "fgrep" or arguments.has(_WORDS["fixed"]),
        paths=_places(operands),
        folder=folder,
    )
    if not search.patterns:
        return None
    return search if operands else _placeless_search(search, command, head, arguments)


def _placeless_search(
    search: Search, command: Command, head: Command | None, arguments: _Arguments
) -> Search | None:
    """Return a search that names no files: in those that it is given, or in the names of files that another command
    lists; None where another program's output is filtered."""
    if {"xargs", "find"} & set(command.via):
        return search
    if files := [redirect.target.text for redirect in command.redirects if redirect.sign == "<"]:
        return replace(search, paths=tuple(files))
    if command.given:
        return None
    if command.piped:
        return _pipe_search(search, head)
    # Without a file grep reads what is typed, except where it goes through folders.
    deep_options = ("-r", "-R", "--recursive", "--dereference-recursive", *_WORDS["within"])
    is_grep = search.program in ("grep", "egrep", "fgrep", "zgrep")
    return search if not is_grep or arguments.has(deep_options) else None


def _pipe_search(search: Search, head: Command | None) -> Search | None:
    """Return what a filter looks for at a pipe's head: names among files, words in a file that is shown."""
    program, folder, words = _program_of(head) if head else ("", "", ())
    lists_files = program in _WORDS["listing"] or program == "git ls-files"
    if lists_files or (program == "rg" and any(word.text == "--files" for word in words)):
        return replace(search, patterns=(), names=search.patterns, globs=False, folder=folder)
    shown_files = tuple(word.text for word in words if word.plain and "." in word.text[1:])
    if program in _WORDS["showing"] and shown_files:
        return replace(search, paths=shown_files, folder=folder)
    return None
