"""What a shell command runs: every simple command in it, with its words, as a shell would read them.

A grammar for Bash reads the line (tree-sitter, which goes on after what it cannot read); here its tree is
walked: quotes and escapes are taken off, `cd` is followed, programs that only run another one (`sudo`,
`env`, `timeout`, `xargs`, `find -exec`, `bash -c`) are looked through. Nothing is ever run or expanded.
"""

from __future__ import annotations

import codecs
import os
import posixpath
import re
import string
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from vector_memory.text import tables

MOST_BYTES = 65_536
"""Of a longer command only the beginning is read: the rest is most likely a file's content."""
MOST_COMMANDS = 200
"""The walk ends with one more, by which readers see that there is more."""
DEEPEST = 40
"""Levels of the tree that are walked: nobody nests commands deeper."""
DEEPEST_SCRIPT = 4
MOST_FILLED = 64
"""Words behind `:::` that are put in the place of a `{}`: more than anybody looks at."""
MOST_PLACES = 8
"""Words with a `{}` that are filled so, and of one word such places."""

WRITING = frozenset({">", ">>", "&>", ">|", "&>>"})
"""Redirections that write a file."""
FILE_SEARCHES = frozenset({"find", "gfind", "fd", "fdfind"})
EXECUTING = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
"""Options behind which stands the command that a search for files runs for what it finds: via `find`, whichever it is."""
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_ESCAPED = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_ANSI = frozenset("abfnrtv\\'\"xuUN\n")
"""What a backslash stands before within `$'…'`."""
_ESCAPED_IN_QUOTES = frozenset('$`"\\')
_EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution",
     "arithmetic_expansion"}
)  # fmt: skip
_SCRIPTS = frozenset({"command_substitution", "process_substitution"})
_VIA_SUBSTITUTION = ("$()",)
_HOLDING_SCRIPTS = frozenset(
    {"declaration_command", "unset_command", "test_command", "string", "concatenation",
     "variable_assignment", "word", "heredoc_body"}
)  # fmt: skip
"""What is no command and may hold some."""


class Runner(NamedTuple):
    """A program that runs another one, as the head of the table `runners.txt` says."""

    where: str
    how: str
    between: int
    takes: str


def _runners() -> dict[str, Runner]:
    rows = (line.split("\t") for line in tables.lines("runners", os.path.dirname(__file__)))
    return {
        program: Runner(where, how, int(between), takes)
        for programs, where, how, between, takes in rows
        for program in programs.split(",")
    }


RUNNERS = _runners()


class ShellWord(NamedTuple):
    """One word as the program is given it. `plain` is False where the shell would put something else in
    its place (a variable, another command's output), `glob` says that it is a pattern of file names."""

    text: str
    plain: bool = True
    glob: bool = False


class Redirect(NamedTuple):
    """Where output goes or input comes from: `>`, `>>`, `2>`, `<` and their like, and a file."""

    sign: str
    target: ShellWord


@dataclass(frozen=True)
class Command:
    """One simple command.

    Attributes:
        words: the program and its arguments; never empty.
        folder: the folder that it runs in, as `cd` before it says; "" where nothing does.
        via: what runs it: `sudo`, `xargs`, `find`, `bash`, `$()`, …, the outermost first.
        piped: whether its input is another command's output.
        is_lost: whether its exit code is lost: in a pipe, before `;` or `||`.
        is_otherwise: whether it runs only where what stands before its `||` failed.
        redirects: its redirections.
        text: how it stands in the line.
        given: what it reads from a here-document, "" without one.
    """

    words: tuple[ShellWord, ...]
    folder: str = ""
    via: tuple[str, ...] = ()
    piped: bool = False
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    given: str = ""
    is_lost: bool = False
    is_otherwise: bool = False

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return posixpath.basename(self.words[0].text)

    @property
    def arguments(self) -> tuple[ShellWord, ...]:
        """The words after the program."""
        return self.words[1:]


def parse(command: str) -> list[Command]:
    """Return the simple commands of a command line, in their order, each followed by those that it runs.

    Never fails: what cannot be read is left out.
    """
    return list(_commands(command, 0))


def _commands(script: str, depth: int) -> Iterator[Command]:
    for command in _walk(script).commands:
        yield from _unwrapped(command, depth)


_LINE_RUNNERS = frozenset({"ssh", "watch", "parallel", "flock"})
_local = threading.local()
_AS_LETTERS = bytes(byte if byte < 0x80 else ord("x") for byte in range(0x100))
"""The grammar's scanner asks C what kind of character one is, which is undefined beyond ASCII: a rocket in a
line has ended the process. To the shell all of those are parts of words; places and sizes stay, and what
words say is taken from the line itself."""


def _walk(script: str) -> _CommandWalk:
    """Return what is in a script. A parser belongs to one thread, and so does the last script: the facade
    and the observer read the same line, one for its commands and one for its variables, too."""
    source = script.encode("utf-8", "replace")[:MOST_BYTES]
    last_walk: _CommandWalk | None = getattr(_local, "last", None)
    if last_walk is not None and last_walk.source == source:
        return last_walk
    parser = getattr(_local, "parser", None)
    if parser is None:
        import tree_sitter
        import tree_sitter_bash

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
        _local.parser = parser
    _local.last = walk = _CommandWalk(source)
    walk.visit(parser.parse(source.translate(_AS_LETTERS)).root_node, _Place())
    return walk


class _Place(NamedTuple):
    """Where in a line a node stands: as `Command` says, and how deep."""

    via: tuple[str, ...] = ()
    piped: bool = False
    is_lost: bool = False
    is_otherwise: bool = False
    depth: int = 0


class _CommandWalk:
    """Collects the commands of a tree."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: list[Command] = []
        self.values: dict[str, list[ShellWord]] = {}
        self.folder = ""
        self._last_index = -1

    def visit(self, node: Any, place: _Place) -> None:
        """Walk a node that holds commands."""
        if place.depth > DEEPEST or len(self.commands) > MOST_COMMANDS:
            return
        kind, place = node.type, place._replace(depth=place.depth + 1)
        if kind == "command":
            self._visit_command(node, place)
        elif kind == "redirected_statement":
            self._visit_redirected(node, place)
        elif kind in _HOLDING_SCRIPTS:
            self._assign(node)
            self._visit_inner_scripts(node, place.depth)
        elif kind in ("subshell", *_SCRIPTS):
            folder_before = self.folder
            self._visit_children(
                node, place._replace(via=_VIA_SUBSTITUTION if kind in _SCRIPTS else place.via)
            )
            self.folder = folder_before
        else:
            self._assign(node)
            self._visit_children(node, place)

    def _assign(self, node: Any) -> None:
        """Note what a variable is given, by an assignment or a `for`."""
        if node.type in ("variable_assignment", "for_statement"):
            name = node.child_by_field_name("name") or node.child_by_field_name("variable")
            values = [self._word(value) for value in node.children_by_field_name("value")]
            self.values.setdefault(self._text(name), []).extend(
                values or [ShellWord("")] * (node.type == "variable_assignment")
            )

    def _visit_children(self, node: Any, place: _Place) -> None:
        """Walk the commands within a node. The exit code of all but the last is lost, but before `&&`."""
        children = node.named_children
        for number, child in enumerate(children):
            piped = place.piped or (node.type == "pipeline" and number > 0)
            following = child.next_sibling
            is_last = child == children[-1] or (following is not None and following.type == "&&")
            before = child.prev_sibling
            is_otherwise = place.is_otherwise or (before is not None and before.type == "||")
            is_lost = place.is_lost or not is_last
            self.visit(
                child, place._replace(piped=piped, is_lost=is_lost, is_otherwise=is_otherwise)
            )

    def _visit_redirected(self, node: Any, place: _Place) -> None:
        self._last_index = -1
        body, first_index = node.child_by_field_name("body"), len(self.commands)
        if body is not None:
            self.visit(body, place)
        last_index = self._last_index
        if (
            body is not None
            and body.type in ("while_statement", "for_statement")
            and last_index >= 0
        ):
            # A loop's input is read where it begins: `while read x; do …; done < list`.
            last_index = first_index
        redirects, heredoc = [], ""
        for child in node.children_by_field_name("redirect"):
            if child.type == "file_redirect":
                redirects += self._read_redirects(child)
            elif child.type == "heredoc_redirect":
                heredoc += self._read_heredoc(child, place)
            self._visit_inner_scripts(child, place.depth)
        if body is None:
            if redirects:
                # A redirection alone makes or empties the file.
                self._add((ShellWord(":"),), place, redirects=tuple(redirects))
        elif last_index >= 0:
            # Of several commands it is the last that a here-document or a file goes to, or all in braces.
            command = self.commands[last_index]
            self.commands[last_index] = replace(
                command, redirects=(*command.redirects, *redirects), given=command.given + heredoc
            )

    def _read_redirects(self, node: Any) -> list[Redirect]:
        sign = next((child.type for child in node.children if not child.is_named), ">")
        target, stream = map(node.child_by_field_name, ("destination", "descriptor"))
        sign = self._text(stream) + sign if stream is not None else sign
        return [Redirect(sign, self._word(target))] if target is not None else []

    def _read_heredoc(self, node: Any, place: _Place) -> str:
        text = ""
        for child in node.named_children:
            if child.type == "heredoc_body":
                text += self._text(child)
            elif child.type not in ("heredoc_start", "heredoc_end"):
                # What follows the mark on its line: a pipe, `&&`, another redirection.
                self.visit(child, place._replace(piped=child.type == "pipeline"))
        return text

    def _visit_command(self, node: Any, place: _Place) -> None:
        words: list[ShellWord] = []
        redirects: list[Redirect] = []
        here_string = ""
        for child in node.named_children:
            if child.type == "variable_assignment":
                continue
            if child.type == "file_redirect":
                redirects += self._read_redirects(child)
            elif child.type == "herestring_redirect":
                here_string += "\n".join(
                    self._word(named_child).text for named_child in child.named_children
                )
            elif child.type == "command_name":
                words.append(self._word(child.named_children[0] if child.named_children else child))
            else:
                words.append(self._word(child))
        if words:
            self._add(tuple(words), place, tuple(redirects), self._text(node), here_string)
            self._follow_cd(words)
        own_index = self._last_index
        self._visit_inner_scripts(node, place.depth)
        self._last_index = own_index

    def _add(
        self,
        words: tuple[ShellWord, ...],
        place: _Place,
        redirects: tuple[Redirect, ...] = (),
        text: str = "",
        heredoc: str = "",
    ) -> None:
        via, piped, is_lost, is_otherwise, _ = place
        self._last_index = len(self.commands)
        fields = (words, self.folder, via, piped, redirects, text, heredoc, is_lost, is_otherwise)
        self.commands.append(Command(*fields))

    def _follow_cd(self, words: Sequence[ShellWord]) -> None:
        if words[0].text not in ("cd", "pushd") or len(words) < 2:
            return
        target = next((word for word in words[1:] if not word.text.startswith("-")), None)
        if target is None or not target.plain:
            return
        self.folder = posixpath.normpath(posixpath.join(self.folder, target.text))

    def _visit_inner_scripts(self, node: Any, depth: int) -> None:
        """Visit the commands whose output stands within words."""
        if depth > DEEPEST:
            return
        for child in node.named_children:
            if child.type in _SCRIPTS:
                self.visit(child, _Place(_VIA_SUBSTITUTION, is_lost=True, depth=depth))
            else:
                self._assign(child)
                self._visit_inner_scripts(child, depth + 1)

    def _text(self, node: Any) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _word(self, node: Any, depth: int = 0) -> ShellWord:
        """Return a word as the program is given it."""
        kind, raw = node.type, self._text(node)
        if depth > DEEPEST:
            return ShellWord(raw, plain=False)
        if kind == "raw_string":
            return ShellWord(raw[1:-1])
        if kind == "ansi_c_string":
            return ShellWord(_decode_ansi(raw[2:-1]))
        if kind in ("string", "translated_string"):
            return self._quoted_word(node, raw)
        if kind == "concatenation":
            parts = [self._word(named_child, depth + 1) for named_child in node.named_children]
            text = self._join_parts(node, parts)
            return ShellWord(
                text, all(part.plain for part in parts), any(part.glob for part in parts)
            )
        if kind in _EXPANSIONS:
            return ShellWord(raw, plain=False)
        bare = raw.replace("\\\n", "")
        return ShellWord(_ESCAPED.sub(r"\1", bare), glob=_is_glob(_ESCAPED.sub("x", bare)))

    def _join_parts(self, node: Any, parts: Sequence[ShellWord]) -> str:
        """Join the parts of a word with what stands between them and is no part, such as braces."""
        text, position = "", node.start_byte
        for child, part in zip(node.named_children, parts, strict=True):
            text += self.source[position : child.start_byte].decode("utf-8", "replace") + part.text
            position = child.end_byte
        return text + self.source[position : node.end_byte].decode("utf-8", "replace")

    def _quoted_word(self, node: Any, raw: str) -> ShellWord:
        inner = raw[raw.find('"') + 1 : -1] if raw.endswith('"') else raw
        plain = not any(named_child.type in _EXPANSIONS for named_child in node.named_children)
        return ShellWord(_ESCAPED.sub(_bare_in_quotes, inner.replace("\\\n", "")), plain)


def _is_glob(text: str) -> bool:
    return "*" in text or "?" in text or "]" in text.partition("[")[2][1:]


def _bare_in_quotes(escape: re.Match[str]) -> str:
    return escape[1] if escape[1] in _ESCAPED_IN_QUOTES else escape[0]


def _decode_ansi(raw: str) -> str:
    escaped = _ESCAPED.sub(_known_escape, raw)
    try:
        return codecs.decode(escaped.encode("latin-1", "backslashreplace"), "unicode_escape")
    except UnicodeDecodeError:
        return raw


def _known_escape(escape: re.Match[str]) -> str:
    # The codec warns of octal numbers over a byte and of what is no escape: the shell takes the lower eight bits
    # of the one and keeps the backslash of the other.
    if escape[1] in _ANSI:
        return escape[0]
    is_octal = escape[1][0] in string.octdigits
    return f"\\{int(escape[1], 8) & 0xFF:03o}" if is_octal else "\\" + escape[0]


# -- programs that run others ---------------------------------------------------------------------


def _unwrapped(command: Command, depth: int) -> Iterator[Command]:
    """Yield a command, or what it runs in its place where it does nothing else."""
    if depth > DEEPEST_SCRIPT:
        return
    name = command.name
    if name in SHELLS or name == "eval":
        script = _script(command)
        if script is not None:
            yield from _script_commands(command, script, depth)
            return
    if name in RUNNERS and RUNNERS[name].where == "framed":
        inner = _framed_command(command)
        if inner is not None:
            yield from _unwrapped(inner, depth + 1)
            return
        if name == "ssh" and command.given:
            # The other side's shell reads what it is sent.
            yield from _script_commands(command, command.given, depth)
            return
    yield command
    if name in FILE_SEARCHES:
        for words in _executed_commands(command.arguments):
            inner = replace(command, words=words, via=(*command.via, "find"), redirects=())
            yield from _unwrapped(inner, depth + 1)


def _script_commands(command: Command, script: str, depth: int) -> Iterator[Command]:
    """Yield the commands of a script that a command runs."""
    if depth >= DEEPEST_SCRIPT:
        return
    for inner in _commands(script, depth + 1):
        folder = posixpath.join(command.folder, inner.folder) if inner.folder else command.folder
        via, is_lost = (*command.via, command.name, *inner.via), command.is_lost or inner.is_lost
        is_otherwise = command.is_otherwise or inner.is_otherwise
        yield replace(inner, folder=folder, via=via, is_lost=is_lost, is_otherwise=is_otherwise)


def _script(command: Command) -> str | None:
    """Return the script that a shell is given with `-c`, on stdin or to `eval`; None without one."""
    if command.name == "eval":
        return " ".join(argument.text for argument in command.arguments)
    words = command.arguments
    for place, word in enumerate(words):
        if word.text.startswith("-") and not word.text.startswith("--") and "c" in word.text:
            return words[place + 1].text if place + 1 < len(words) else None
        if not word.text.startswith(("-", "+")):
            return None
    return command.given or None


def _framed_command(command: Command) -> Command | None:
    """Return the command that stands within another one, None for none."""
    name, runner = command.name, RUNNERS[command.name]
    words = after_options(command.arguments, runner.takes, runner.between)
    if not words or words[0].text == ":::":
        return None
    options = {word.text for word in command.arguments[: len(command.arguments) - len(words)]}
    is_filled = name == "parallel" and any(word.text == ":::" for word in words)
    words = _with_fillers(words) if is_filled else words
    if name == "parallel" and not options.isdisjoint(("--dry-run", "--dryrun")):
        # It says what it would run.
        return replace(command, words=(ShellWord("echo"), *words))
    if name in _LINE_RUNNERS and " " in words[0].text:
        script = " ".join(word.text for word in words)
        inner = _walk(script).commands if name == "parallel" else []
        is_simple = len(inner) == 1 and not inner[0].redirects
        # A script of several commands is left to the other side's shell.
        words = (
            inner[0].words if is_simple else (ShellWord("sh"), ShellWord("-c"), ShellWord(script))
        )
    piped = command.piped or name == "xargs" or (name == "parallel" and not is_filled)
    return replace(command, words=tuple(words), via=(*command.via, name), piped=piped)


def _with_fillers(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return the words of a command of `parallel` with those behind its `:::`, in the place of `{}` or at their end."""
    end = [word.text for word in words].index(":::")
    fillers = [word for word in words[end:] if not word.text.startswith(":::")]
    texts = ",".join(word.text for word in fillers[:MOST_FILLED])
    filler = f"{{{texts}}}" if len(fillers) > 1 else texts
    places = [place for place, word in enumerate(words[:end]) if "{}" in word.text]
    filled = list(words[:end])
    for place in places[:MOST_PLACES]:
        text = filled[place].text.replace("{}", filler, MOST_PLACES)
        filled[place] = filled[place]._replace(text=text)
    return filled if places else [*filled, *fillers]


def after_options(words: Sequence[ShellWord], takes: str, between: int = 0) -> Sequence[ShellWord]:
    """Return the words after options, assignments and those between that are no part of a command.

    Args:
        takes: options, and other words, that take the next word, apart by spaces.
        between: how many words stand between.
    """
    remaining, taking_options = list(words), takes.split()
    while remaining:
        text = remaining[0].text
        if text == "--" and not between:
            return remaining[1:]
        if text in taking_options or (text.startswith("-") and len(text) > 1):
            remaining = remaining[2:] if text in taking_options else remaining[1:]
        elif "=" in text and text.partition("=")[0].isidentifier():
            remaining = remaining[1:]
        elif between:
            remaining, between = remaining[1:], between - 1
        else:
            break
    return remaining


def run_by(runner: Runner, words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return the words of the command that stands among a runner's arguments, () for none."""
    remaining = after_options(words, runner.takes)
    if runner.how == "-":
        return remaining
    if not remaining or remaining[0].text not in runner.how.split(","):
        return ()
    return after_options(remaining[1:], runner.takes, runner.between)


def _executed_commands(words: Sequence[ShellWord]) -> Iterator[tuple[ShellWord, ...]]:
    """Yield the commands that `find` or `fd` runs for what it finds."""
    executed: list[ShellWord] | None = None
    for word in (*words, ShellWord(";")):
        if word.text in (";", "+"):
            if executed:
                yield tuple(executed)
            executed = None
        elif executed is not None:
            executed.append(word)
        elif word.text in EXECUTING:
            executed = []


# -- for those who look closer ---------------------------------------------------------------------


def assigned(command: str) -> dict[str, tuple[ShellWord, ...]]:
    """Return what a line gives its variables: their values in order, those of a `for` too."""
    return {name: tuple(words) for name, words in _walk(command).values.items()}


def looked_through(command: Command) -> Iterator[Command]:
    """Yield what a command runs in its place, or itself: for one that somebody took out of another."""
    yield from _unwrapped(command, 1)
