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
        within: globs and types that the files must have.
        folder: where the program runs, relative to the session's folder; "" for there.
    """

    program: str
    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    fixed: bool = False
    globs: bool = True
    paths: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
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
    if tool == "Grep":
        return _of_grep_tool(given)
    if tool == "Glob":
        return _of_glob_tool(given)
    command = given.get("command")
    return _of_line(command) if tool == "Bash" and isinstance(command, str) else None


def _of_grep_tool(given: Mapping[str, Any]) -> SearchCall | None:
    pattern = _text(given, "pattern")
    if not pattern:
        return None
    within = tuple(one for one in (_text(given, "glob"), _text(given, "type")) if one)
    path = _text(given, "path")
    return SearchCall((Search("Grep", (pattern,), paths=(path,) if path else (), within=within),))


def _of_glob_tool(given: Mapping[str, Any]) -> SearchCall | None:
    pattern, path = _text(given, "pattern"), _text(given, "path")
    if not pattern:
        return None
    return SearchCall((Search("Glob", names=(pattern,), paths=(path,) if path else ()),))


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

    def known(word: ShellWord) -> ShellWord:
        if word.plain or not values:
            return word
        text = _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[0]), word.text)
        return ShellWord(text, not any(sign in text for sign in "$`"), word.glob)

    return [replace(one, words=tuple(map(known, one.words))) for one in commands]


def _of_line(line: str) -> SearchCall | None:
    commands = _known(line)
    found: list[Search] = []
    alone = True
    head: Command | None = None
    for place, command in enumerate(commands):
        if not command.piped:
            head = command
        one = None if _changes(command, commands[place + 1 :]) else _search(command, head)
        if one is not None:
            found.append(one)
        elif not (_shortens(command) or _filters(command, found)):
            alone = False
        alone = alone and not _writes(command)
    return SearchCall(tuple(dict.fromkeys(found)), alone) if found else None


def _writes(command: Command) -> bool:
    """Whether output goes to a file."""
    return any(
        one.sign in _TO_A_FILE and one.target.text not in _NOWHERE for one in command.redirects
    )


def _shortens(command: Command) -> bool:
    follows = any(one.text in ("-f", "-F", "--follow") for one in command.arguments)
    return command.name in _WORDS["shortening"] and not (command.name == "tail" and follows)


def _filters(command: Command, found: Sequence[Search]) -> bool:
    """Whether a command takes lines out of a search before it."""
    return bool(found) and command.piped and _program(command) in CONTENTS


def _changes(command: Command, rest: Iterable[Command]) -> bool:
    """Whether a search for files does something to them."""
    if _program(command) not in _WORDS["listing"]:
        return False
    if command.name == "find" and any(
        one.text in ("-delete", "-fprint", "-fls", "-fprintf") for one in command.arguments
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
        verb = _git_verb(command)
        return f"git {verb[0].text}" if verb else "git"
    return command.name


def _git_verb(command: Command) -> tuple[ShellWord, ...]:
    """Return git's words from its verb on."""
    words = command.arguments
    place = 0
    while place < len(words) and words[place].text.startswith("-"):
        takes = words[place].text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        place += 2 if takes else 1
    return words[place:]


def _git_folder(command: Command) -> str:
    words = [one.text for one in command.arguments]
    verb = len(words) - len(_git_verb(command))
    folder = command.folder
    for place, word in enumerate(words[: max(0, verb - 1)]):
        if word == "-C":
            folder = posixpath.normpath(posixpath.join(folder, words[place + 1]))
    return folder


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
        globs = [one.text for one in _git_verb(command)[1:] if one.plain and "*" in one.text]
        return Search(program, names=tuple(globs), folder=_git_folder(command)) if globs else None
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
    """Sort a program's words; `takes` are the options that have a value."""
    read = _Read([], [])
    place = 0
    while place < len(words):
        word = words[place]
        text = word.text
        place += 1
        if text == "--":
            read.others += words[place:]
            break
        if not text.startswith("-") or text == "-":
            read.others.append(word)
            continue
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if equals:
                read.options.append((name, ShellWord(value, word.plain)))
            elif name in takes and place < len(words):
                read.options.append((name, words[place]))
                place += 1
            else:
                read.options.append((name, None))
            continue
        place += _short_options(word, words[place:], takes, read)
    return read


def _short_options(
    word: ShellWord, rest: Sequence[ShellWord], takes: frozenset[str], read: _Read
) -> int:
    """Take apart letters in a row, such as `-rne PATTERN` or `-A3`; return how many words they took."""
    letters = word.text[1:]
    if letters.isdigit():
        return 0
    for place, letter in enumerate(letters):
        name = "-" + letter
        if name not in takes:
            read.options.append((name, None))
        elif place + 1 < len(letters):
            read.options.append(
                (name, ShellWord(letters[place + 1 :].removeprefix("="), word.plain))
            )
            return 0
        elif rest:
            read.options.append((name, rest[0]))
            return 1
    return 0


def _of_contents(program: str, command: Command, head: Command | None) -> Search | None:
    words = _git_verb(command)[1:] if program == "git grep" else command.arguments
    read = _read(words, _WORDS.get(_ALIASES.get(program, program), frozenset()))
    if read.has(_WORDS["asks"] - {"-L"} if program == "rg" else _WORDS["asks"]):
        return None
    if program in ("ag", "ack") and (named := read.values(["-g"])):
        return _named(Search(program, globs=False, folder=command.folder), named, read.others)
    if program == "rg" and read.has(["--files"]):
        globs = [one for one in read.values(_WORDS["within"]) if not one.text.startswith("!")]
        return _named(Search(program, folder=command.folder), globs, read.others)
    patterns = read.values(["-e", "--regexp", "--match"])
    others = list(read.others)
    if not patterns and not read.has(["-f", "--file"]) and others:
        patterns = [others.pop(0)]
    made = Search(
        program,
        tuple(one.text for one in patterns if _is_known(one)),
        fixed=program == "fgrep" or read.has(_WORDS["fixed"]),
        paths=tuple(
            one.text for one in others if one.plain and one.text != "{}" and not _is_glob(one)
        ),
        within=(
            *(one.text for one in read.values(_WORDS["within"]) if not one.text.startswith("!")),
            *(one.text for one in others if _is_glob(one)),
        ),
        folder=_git_folder(command) if program == "git grep" else command.folder,
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
    known = tuple(one.text for one in names if one.plain and one.text)
    where = tuple(one.text for one in paths if one.plain and not one.glob)
    return replace(made, names=known, paths=where) if known else None


def _fed(made: Search, command: Command, head: Command | None, read: _Read) -> Search | None:
    """Return a search in files, or in the names of files that another command lists; None where another
    program's output is filtered."""
    if {"xargs", "find"} & set(command.via) or (made.within and not command.piped):
        return made
    if command.redirects and (
        files := [one.target.text for one in command.redirects if one.sign == "<"]
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
        if program == "rg" and not any(one.text == "--files" for one in head.arguments):
            return None
        return replace(made, patterns=(), names=made.patterns, globs=False, folder=head.folder)
    if program in _WORDS["showing"]:
        files = [one.text for one in head.arguments if one.plain and "." in one.text[1:]]
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
        paths=tuple(one.text for one in read.others[1:] if one.plain),
        within=tuple(one.text for one in read.values(["-e", "--extension"])),
        folder=command.folder,
    )


def _of_ls(command: Command) -> Search | None:
    names = tuple(one.text for one in command.arguments if one.glob)
    return Search("ls", names=names, folder=command.folder) if names else None
