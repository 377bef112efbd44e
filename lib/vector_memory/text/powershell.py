"""What a line of PowerShell runs, in the terms of `shell.py`: `Remove-Item -Recurse bin, obj` is `rm -r bin obj`.

Its words only: a backslash is no escape and a backtick is, commas part words, parameters may be shortened. What its
own language computes (properties, operators, functions, what a variable holds but for a text) is not known.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vector_memory.text import shell, tables
from vector_memory.text.shell import MOST_BYTES, MOST_COMMANDS, Command, Redirect, ShellWord

DEEPEST = 40
_TOKEN = re.compile(
    r"""(?P<gap>(?:[ \t\r]|`\r?\n|<\#.*?(?:\#>|\Z)|\#[^\n]*)+)
    |(?P<end>\n|;|&&?|\|\|)
    |(?P<pipe>\|)
    |(?P<redirect>[\d*]?>>?(?:&\d)?)
    |(?P<open>[@$]?\(|@?\{)
    |(?P<close>[)}])
    |(?P<comma>,)
    |(?P<word>(?:@'\n.*?(?:\n'@|\Z)|@"\n.*?(?:\n"@|\Z)|'(?:[^']|'')*(?:'|\Z)|"(?:`.|""|[^"`])*(?:"|\Z)
        |\$?\{\w*\}|\$\{\w+:\w+\}|`.|[^\s'"`|;&,(){}>])+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_NAMES = tables.groups("powershell", os.path.dirname(__file__))
_SWITCHES, _PATHS, _VALUED = (_NAMES.pop(name) for name in ("switch", "path", "valued"))
_PROGRAMS = {name: program for program, names in _NAMES.items() for name in names}
_UNKNOWN = ShellWord("$_", plain=False)
"""Stands for what a part in brackets gives."""
_OF_CMD = {"del", "erase", "rd", "rmdir"}
"""Names that cmd.exe has, too, whose switches are such as `/s`: for all others that is a path."""


@dataclass
class _Statement:
    """What was read of a command, and of those around it."""

    words: list[ShellWord] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    via: tuple[str, ...] = ()
    piped: bool = False
    is_called: bool = False
    is_otherwise: bool = False
    is_in_text: bool = False
    start: int = -1

    def add(self, token: str) -> None:
        """Add a word; `$x=git` begins with three, as `$x = git` does."""
        name, sign, value = token.partition("=")
        assigns = not self.words and name[:1] == "$" and name[1:].replace(":", "").isidentifier()
        for part in filter(None, (name, sign, value)) if assigns else (token,):
            self.words.append(_read_word(part))
            self.raw.append(part)


@dataclass
class Script:
    """The commands of a script, and what it gives its variables, by their names."""

    commands: list[Command] = field(default_factory=list)
    values: dict[str, tuple[ShellWord, ...]] = field(default_factory=dict)
    folder: str = ""


def parse(command: str) -> Script:
    """Return what a line of PowerShell runs. Never fails: what cannot be read is left out."""
    text, script = command[:MOST_BYTES], Script()
    enclosing: list[_Statement] = []
    current, sign, place, texts_entered = _Statement(), "", 0, 0
    while (match := _TOKEN.match(text, place)) and len(script.commands) <= MOST_COMMANDS:
        kind, token, place = match.lastgroup, match[0], match.end()
        if kind in ("end", "pipe", "close"):
            _finish_statement(current, command[current.start : match.start()], script)
            current = _Statement(
                via=current.via,
                piped=kind == "pipe",
                is_called=token == "&",
                is_otherwise=token == "||",
            )
            if kind == "close" and enclosing:
                current = enclosing.pop()
                if current.is_in_text:
                    # The text goes on where the part that is computed ends.
                    place = match.start()
                    text = f'{text[:place]}"{text[place + 1 :]}'
        elif kind == "open" and len(enclosing) < DEEPEST:
            if "(" in token:
                current.words.append(_UNKNOWN)
                current.raw.append(token)
            enclosing.append(current)
            current = _Statement(via=(*current.via, "$()"))
        elif kind == "redirect":
            sign = token if "&" not in token else ""
        elif kind == "word":
            current.start = match.start() if current.start < 0 else current.start
            if current.is_in_text:
                current.is_in_text = False
            elif sign:
                current.redirects.append(Redirect(sign, _read_word(token)))
                sign = ""
            else:
                current.add(token)
            inner_start = _computed_part_start(token)
            if inner_start and len(enclosing) < DEEPEST and texts_entered < MOST_COMMANDS:
                current.is_in_text, texts_entered, place = (
                    True,
                    texts_entered + 1,
                    match.start() + inner_start,
                )
                enclosing.append(current)
                current = _Statement(via=(*current.via, "$()"))
    for statement in (current, *enclosing):
        _finish_statement(statement, command[statement.start : MOST_BYTES], script)
    return script


def _computed_part_start(token: str) -> int:
    """Return where the first part that runs begins in the text of a word, as of `"a $(b)"`; 0 where there is none."""
    quote, place = "", 0
    while place < len(token) and token[0] != "@":
        sign = token[place]
        if sign == "`" and quote != "'":
            place += 1
        elif sign in ("'", '"') and quote in ("", sign):
            quote = "" if quote else sign
        elif quote == '"' and token.startswith("$(", place):
            return place + 2
        place += 1
    return 0


def _read_word(raw: str) -> ShellWord:
    """Return a word as the program is given it, with slashes in the place of backslashes where it is not quoted."""
    if raw[:1] == "'" == raw[-1:] and len(raw) > 1:
        return ShellWord(raw[1:-1].replace("''", "'"))
    if raw[:1] == "@" and raw[1:2] in ("'", '"'):
        return ShellWord(raw[3:-3])
    first, *escaped = raw.split("`")
    parts = (part[:1] + part[1:].replace('"', "") for part in escaped)
    text, plain = first.replace('"', "") + "".join(parts), "$" not in first
    if not plain:
        text = text.replace("$env:", "$").replace("${env:", "${")
    word = ShellWord(text, plain, "*" in text or "?" in text)
    return word if '"' in raw else _as_path(word)


def _as_path(word: ShellWord) -> ShellWord:
    """Return a word as a path of another system: its root is that of a drive."""
    text = word.text.replace("\\", "/")
    is_whole = text[:1].isalpha() and text[1:3] == ":/"
    return word._replace(text=f"/{text}" if is_whole else text)


def _finish_statement(statement: _Statement, text: str, script: Script) -> None:
    """Add the command that a statement is; note what it gives a variable."""
    words, raw = statement.words, statement.raw
    if len(words) > 1 and raw[0][:1] == "$" and raw[1] in ("=", "in"):
        if len(words) > 2 and raw[2][:1] in "'\"":
            script.values[raw[0][1:]] = tuple(words[2:])
        words, raw = ([], []) if raw[1] == "in" else (words[2:], raw[2:])
    is_expression = raw and raw[0][:1] in "$@('\"-" and not statement.is_called
    if is_expression or not words:
        # What is computed and put into a file is written by nobody.
        words = [ShellWord("echo"), *words] if statement.redirects else []
    translation = _translate(words, raw) if words else None
    if translation is None:
        return
    command_words, redirects = translation
    via = (*statement.via, "xargs") if statement.piped and _is_fed(command_words) else statement.via
    all_redirects = (*statement.redirects, *redirects)
    command = Command(
        tuple(command_words),
        script.folder,
        via,
        statement.piped,
        all_redirects,
        text.strip(),
        is_otherwise=statement.is_otherwise,
    )
    if command.name == "cd" and len(command_words) > 1 and command_words[1].plain:
        script.folder = posixpath.normpath(posixpath.join(script.folder, command_words[1].text))
    script.commands += shell.looked_through(command)


def _is_fed(words: Sequence[ShellWord]) -> bool:
    """Whether a command that deletes names nothing itself: what comes through the pipe is meant."""
    return words[0].text == "rm" and all(word.text.startswith("-") for word in words[1:])


def _translate(
    words: Sequence[ShellWord], raw: Sequence[str]
) -> tuple[list[ShellWord], list[Redirect]] | None:
    """Return the words of a command, and what it writes, as another shell has them; None for one that is only tried."""
    name = words[0].text.lower().removesuffix(".exe")
    if any(len(word.text) > 3 and "-whatif".startswith(word.text.lower()) for word in words[1:]):
        return None
    if name.startswith("remove-az"):
        return [*map(ShellWord, ("az", name[9:], "delete")), *words[1:]], []
    program = _PROGRAMS.get(name)
    if program is None:
        return list(words), []
    arguments = list(words[1:])
    if name in _OF_CMD:
        pairs = zip(arguments, raw[1:], strict=True)
        arguments = [word for word, raw_word in pairs if not _is_cmd_switch(raw_word)]
        arguments += [ShellWord("-recurse")] * ("/s" in map(str.lower, raw))
    options, operands, values = _parameters(arguments)
    if program in (">", ">>"):
        sign = ">>" if "append" in options else program
        target, content = operands[:1], [*operands[1:], *values.get("value", ())]
        return [ShellWord("echo"), *content], [Redirect(sign, _as_path(path)) for path in target]
    operands = [*operands, *values.get("destination", ()), *values.get("newname", ())]
    options_of = {"rm": "-r" * ("recurse" in options), "truncate": "-s 0", "mkfs": "/dev/disk"}
    option_words = options_of.get(program, "").split() + [
        option for option in options if option[:1] == "-"
    ]
    translated = [ShellWord(program), *map(ShellWord, option_words), *map(_as_path, operands)]
    if program == "find":
        translated += [
            word for value in values.get("filter", []) for word in (ShellWord("-name"), value)
        ]
        translated += map(ShellWord, () if "recurse" in options else ("-maxdepth", "1"))
    return translated, []


def _is_cmd_switch(raw: str) -> bool:
    return len(raw) == 2 and raw[0] == "/" and raw[1].isalpha()


def _parameters(
    words: Sequence[ShellWord],
) -> tuple[list[str], list[ShellWord], dict[str, list[ShellWord]]]:
    """Return the switches, the operands, and the values of other parameters. What is no parameter that is known stays
    an option as it is."""
    options: list[str] = []
    operands: list[ShellWord] = []
    values: dict[str, list[ShellWord]] = {}
    remaining: Iterator[ShellWord] = iter(words)
    for word in remaining:
        name, _, value = word.text.lower().partition(":")
        is_parameter = name.startswith("-") and len(name) > 1
        if not is_parameter:
            operands.append(word)
        elif switch := _full_name(name, _SWITCHES):
            options.append(switch)
        elif _full_name(name, _PATHS):
            operands += [word._replace(text=value)] if value else []
        elif parameter := _full_name(name, _VALUED):
            argument = word._replace(text=value) if value else next(remaining, None)
            values.setdefault(parameter, []).extend([argument] if argument else [])
        else:
            options.append(name)
    return options, operands, values


def _full_name(name: str, parameters: Sequence[str]) -> str:
    return next((parameter for parameter in parameters if parameter.startswith(name[1:])), "")
