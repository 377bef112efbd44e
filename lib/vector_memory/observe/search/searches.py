"""From a tool call to the searches in it: which patterns are looked for, where, in files named how.

The client's own tools (Grep, Glob) and the programs that agents search with in a shell. What looks like a
search and is none gives nothing: a filter of another program's output, a condition (`grep -q`), a search
that deletes what it finds. Nothing is run, and nothing on the disk is looked at.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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


def searches(tool: str, given: Mapping[str, Any]) -> SearchCall | None:
    """Return the searches of a tool call, None where it is none.

    Args:
        tool: the tool's name.
        given: what it is given.
    """
    if tool in ("Grep", "Glob"):
        return _of_client(tool, given)
    command = given.get("command")
    return _of_line(command) if tool == "Bash" and isinstance(command, str) else None


def _of_client(tool: str, given: Mapping[str, Any]) -> SearchCall | None:
    """Return the search of the client's own Grep or Glob."""
    pattern, path = _text(given, "pattern"), _text(given, "path")
    if not pattern:
        return None
    paths = (path,) if path else ()
    if tool == "Grep":
        return SearchCall((Search(tool, (pattern,), paths=paths),))
    return SearchCall((Search(tool, names=(pattern,), paths=paths),))


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


# -- a shell's line -------------------------------------------------------------------------------

_WORDS = {
    name: frozenset(words.split())
    for name, _, words in (
        line.partition(": ") for line in tables.lines("search_words", os.path.dirname(__file__))
    )
}
_ALIASES = {"egrep": "grep", "fgrep": "grep", "zgrep": "grep", "fdfind": "fd"}
_TO_A_FILE = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_NOWHERE = ("/dev/null", "/dev/stderr", "/dev/stdout")


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def _known(line: str) -> list[Command]:
    """Return the commands of a line, with what the line itself gives its variables, where that is one value."""
    commands = parse(line)
    given = assigned(line) if "=" in line and "$" in line else {}
    values = {name: of[0].text for name, of in given.items() if len(of) == 1 and of[0].plain}

    def filled(word: ShellWord) -> ShellWord:
        if word.plain or not values:
            return word
        text = _VARIABLE.sub(lambda match: values.get(match[1] or match[2], match[0]), word.text)
        return ShellWord(text, not any(sign in text for sign in "$`"), word.glob)

    return [replace(command, words=tuple(map(filled, command.words))) for command in commands]


def _of_line(line: str) -> SearchCall | None:
    commands = _known(line)
    here: list[Search] = []
    alone = True
    head: Command | None = None
    for place, command in enumerate(commands):
        if not command.piped:
            head = command
        search = None if _changes(command, commands[place + 1 :]) else _search(command, head)
        if search is not None:
            here.append(search)
        elif not (_shortens(command) or _filters(command, here)):
            alone = False
        alone = alone and not _writes(command)
    return SearchCall(tuple(dict.fromkeys(here)), alone) if here else None


def _writes(command: Command) -> bool:
    """Whether output goes to a file."""
    return any(
        redirect.sign in _TO_A_FILE and redirect.target.text not in _NOWHERE
        for redirect in command.redirects
    )


def _shortens(command: Command) -> bool:
    follows = any(word.text in ("-f", "-F", "--follow") for word in command.arguments)
    return command.name in _WORDS["shortening"] and not (command.name == "tail" and follows)


def _filters(command: Command, here: Sequence[Search]) -> bool:
    """Whether a command takes lines out of a search before it."""
    return bool(here) and command.piped and _program(command) in CONTENTS


def _changes(command: Command, rest: Iterable[Command]) -> bool:
    """Whether a search for files does something to them."""
    if _program(command) not in _WORDS["listing"]:
        return False
    if command.name == "find" and any(
        word.text in ("-delete", "-fprint", "-fls", "-fprintf") for word in command.arguments
    ):
        return True
    for other in rest:
        if not other.piped and "find" not in other.via:
            break
        if {"xargs", "find"} & set(other.via) and other.name not in _WORDS["reading"]:
            return True
    return any(
        words and posixpath.basename(words[0].text) not in _WORDS["reading"]
        for words in _executed(command)
    )


def _executed(command: Command) -> Iterator[tuple[ShellWord, ...]]:
    """Yield what `find -exec` and `fd -x` run."""
    words = command.arguments
    for place, word in enumerate(words[:-1]):
        marks = (
            ("-exec", "-execdir", "-ok", "-okdir")
            if command.name == "find"
            else _WORDS["executing"]
        )
        if command.name in ("find", "fd", "fdfind") and word.text in marks:
            yield words[place + 1 :]


def _program(command: Command) -> str:
    """Return a program's name; `git grep`, `git ls-files` and the like are programs of their own."""
    if command.name == "git":
        _, words = _git(command)
        return f"git {words[0].text}" if words else "git"
    return command.name


def _git(command: Command) -> tuple[str, tuple[ShellWord, ...]]:
    """Return the folder that git works in, and its words from its verb on."""
    folder, words = command.folder, command.arguments
    while words and words[0].text.startswith("-"):
        option = words[0].text
        takes = option in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        if option == "-C" and words[1:]:
            folder = posixpath.normpath(posixpath.join(folder, words[1].text))
        words = words[1 + takes :]
    return folder, words


def _search(command: Command, head: Command | None) -> Search | None:
    """Return the search that a command is, None for none."""
    program = _program(command)
    if program in CONTENTS:
        return _of_contents(program, command, head)
    if command.piped and "xargs" not in command.via:
        return None
    if program == "find":
        return _of_find(command)
    if program in ("fd", "fdfind"):
        return _of_fd(command)
    if program == "ls":
        return _of_ls(command)
    if program == "git ls-files":
        folder, words = _git(command)
        globs = tuple(word.text for word in words[1:] if word.plain and "*" in word.text)
        return Search(program, names=globs, folder=folder) if globs else None
    return None


# -- grep and its kin -----------------------------------------------------------------------------


@dataclass
class _Read:
    """A program's words, sorted: options with their values, and the others."""

    options: list[tuple[str, ShellWord | None]]
    others: list[ShellWord]

    def has(self, names: Iterable[str]) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, names: Iterable[str]) -> list[ShellWord]:
        return [word for name, word in self.options if name in names and word is not None]


def _read(words: Sequence[ShellWord], takes: frozenset[str]) -> _Read:
    """Sort a program's words; `takes` are the options that have a value: `--name=value`, `-A3`, `-rne PATTERN`."""
    read, rest = _Read([], []), list(words)
    while rest:
        word = rest.pop(0)
        if word.text == "--":
            read.others += rest
            break
        if word.text == "-" or not word.text.startswith("-"):
            read.others.append(word)
        elif word.text.startswith("--"):
            name, sign, value = word.text.partition("=")
            given = ShellWord(value, word.plain) if sign else None
            if not sign and name in takes and rest:
                given = rest.pop(0)
            read.options.append((name, given))
        else:
            for end, letter in enumerate(word.text[1:], 2):
                name, glued = f"-{letter}", word.text[end:].removeprefix("=")
                if name not in takes:
                    read.options.append((name, None))
                    continue
                given = rest.pop(0) if rest and not glued else ShellWord(glued, word.plain)
                read.options.append((name, given))
                break
    return read


def _of_contents(program: str, command: Command, head: Command | None) -> Search | None:
    folder, words = command.folder, command.arguments
    if program == "git grep":
        folder, words = _git(command)
        words = words[1:]
    read = _read(words, _WORDS.get(_ALIASES.get(program, program), frozenset()))
    if read.has(_WORDS["asks"] - {"-L"} if program == "rg" else _WORDS["asks"]):
        return None
    if program in ("ag", "ack") and (named := read.values(["-g"])):
        return _named(Search(program, globs=False, folder=command.folder), named, read.others)
    if program == "rg" and read.has(["--files"]):
        globs = [word for word in read.values(_WORDS["within"]) if not word.text.startswith("!")]
        return _named(Search(program, folder=command.folder), globs, read.others)
    patterns = read.values(["-e", "--regexp", "--match"])
    others = list(read.others)
    if not patterns and not read.has(["-f", "--file"]) and others:
        patterns = [others.pop(0)]
    made = Search(
        program,
        tuple(word.text for word in patterns if _is_known(word)),
        fixed=program == "fgrep" or read.has(_WORDS["fixed"]),
        paths=tuple(
            word.text for word in others if word.plain and word.text != "{}" and not _is_glob(word)
        ),
        folder=folder,
    )
    if not made.patterns:
        return None
    return made if others else _fed(made, command, head, read)


def _is_glob(word: ShellWord) -> bool:
    """Whether a place is a pattern: the shell's, or git's own, which is quoted."""
    return word.glob or "*" in word.text


def _is_known(word: ShellWord) -> bool:
    """Whether a word is what the program gets: the shell puts nothing else in its place."""
    return bool(word.text) and word.plain


def _named(made: Search, names: Sequence[ShellWord], paths: Sequence[ShellWord]) -> Search | None:
    patterns = tuple(word.text for word in names if _is_known(word))
    where = tuple(word.text for word in paths if word.plain and not word.glob)
    return replace(made, names=patterns, paths=where) if patterns else None


def _fed(made: Search, command: Command, head: Command | None, read: _Read) -> Search | None:
    """Return a search in files, or in the names of files that another command lists; None where another
    program's output is filtered."""
    if {"xargs", "find"} & set(command.via) or (
        not command.piped and read.values(_WORDS["within"])
    ):
        return made
    if command.redirects and (
        files := [redirect.target.text for redirect in command.redirects if redirect.sign == "<"]
    ):
        return replace(made, paths=tuple(files))
    if command.given:
        return None
    if command.piped:
        return _filtered(made, head)
    if made.program in ("grep", "egrep", "fgrep", "zgrep"):
        # Without a file it reads what is typed, except where it goes through folders.
        deep = ["-r", "-R", "--recursive", "--dereference-recursive"]
        return made if read.has(deep) else None
    return made


def _filtered(made: Search, head: Command | None) -> Search | None:
    """Return what a filter looks for at a pipe's head: names among files, words in a file that is shown."""
    if head is None:
        return None
    program = _program(head)
    if program in _WORDS["listing"] or program in ("git ls-files", "rg"):
        if program == "rg" and not any(word.text == "--files" for word in head.arguments):
            return None
        return replace(made, patterns=(), names=made.patterns, globs=False, folder=head.folder)
    if program in _WORDS["showing"]:
        files = [word.text for word in head.arguments if word.plain and "." in word.text[1:]]
        return replace(made, paths=tuple(files), folder=head.folder) if files else None
    return None


# -- names of files -------------------------------------------------------------------------------

_FIND_NAMES = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname"}
)
_FIND_REGEX = frozenset({"-regex", "-iregex"})


def _of_find(command: Command) -> Search | None:
    words = command.arguments
    paths = []
    for word in words:
        if word.text.startswith(("-", "(", "!")) or word.text == ")":
            break
        if word.plain:
            paths.append(word.text)
    names: list[str] = []
    regex = False
    for place, word in enumerate(words):
        if word.text == "-prune":
            # What stood before it is what is left out.
            names.clear()
        if word.text not in _FIND_NAMES | _FIND_REGEX or place + 1 == len(words):
            continue
        if not words[place + 1].plain:
            continue
        if not (place and words[place - 1].text in ("!", "-not")):
            names.append(words[place + 1].text)
            regex = regex or word.text in _FIND_REGEX
    if not names:
        return None
    return Search(
        "find", names=tuple(names), globs=not regex, paths=tuple(paths), folder=command.folder
    )


def _of_fd(command: Command) -> Search | None:
    read = _read(command.arguments, _WORDS["fd"])
    if not read.others or not _is_known(read.others[0]):
        return None
    return Search(
        command.name,
        names=(read.others[0].text,),
        globs=read.has(["-g", "--glob"]),
        paths=tuple(word.text for word in read.others[1:] if word.plain),
        folder=command.folder,
    )


def _of_ls(command: Command) -> Search | None:
    names = tuple(word.text for word in command.arguments if word.glob)
    return Search("ls", names=names, folder=command.folder) if names else None
