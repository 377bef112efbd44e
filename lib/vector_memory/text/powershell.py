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
        is_given = not self.words and name[:1] == "$" and name[1:].replace(":", "").isidentifier()
        for part in filter(None, (name, sign, value)) if is_given else (token,):
            self.words.append(_word(part))
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
    around: list[_Statement] = []
    now, sign, at, in_text = _Statement(), "", 0, 0
    while (match := _TOKEN.match(text, at)) and len(script.commands) <= MOST_COMMANDS:
        kind, token, at = match.lastgroup, match[0], match.end()
        if kind in ("end", "pipe", "close"):
            _finish(now, command[now.start : match.start()], script)
            now = _Statement(
                via=now.via,
                piped=kind == "pipe",
                is_called=token == "&",
                is_otherwise=token == "||",
            )
            if kind == "close" and around:
                now = around.pop()
                if now.is_in_text:
                    # The text goes on where the part that is computed ends.
                    at = match.start()
                    text = f'{text[:at]}"{text[at + 1 :]}'
        elif kind == "open" and len(around) < DEEPEST:
            if "(" in token:
                now.words.append(_UNKNOWN)
                now.raw.append(token)
            around.append(now)
            now = _Statement(via=(*now.via, "$()"))
        elif kind == "redirect":
            sign = token if "&" not in token else ""
        elif kind == "word":
            now.start = match.start() if now.start < 0 else now.start
            if now.is_in_text:
                now.is_in_text = False
            elif sign:
                now.redirects.append(Redirect(sign, _word(token)))
                sign = ""
            else:
                now.add(token)
            inner = _computed(token)
            if inner and len(around) < DEEPEST and in_text < MOST_COMMANDS:
                now.is_in_text, in_text, at = True, in_text + 1, match.start() + inner
                around.append(now)
                now = _Statement(via=(*now.via, "$()"))
    for statement in (now, *around):
        _finish(statement, command[statement.start : MOST_BYTES], script)
    return script


def _computed(token: str) -> int:
    """Return where the first part that runs begins in the text of a word, as of `"a $(b)"`; 0 where there is none."""
    quote, at = "", 0
    while at < len(token) and token[0] != "@":
        sign = token[at]
        if sign == "`" and quote != "'":
            at += 1
        elif sign in ("'", '"') and quote in ("", sign):
            quote = "" if quote else sign
        elif quote == '"' and token.startswith("$(", at):
            return at + 2
        at += 1
    return 0


def _word(raw: str) -> ShellWord:
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


def _finish(statement: _Statement, text: str, script: Script) -> None:
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
    made = _translated(words, raw) if words else None
    if made is None:
        return
    given, redirects = made
    via = (*statement.via, "xargs") if statement.piped and _is_fed(given) else statement.via
    own = (*statement.redirects, *redirects)
    one = Command(
        tuple(given),
        script.folder,
        via,
        statement.piped,
        own,
        text.strip(),
        is_otherwise=statement.is_otherwise,
    )
    if one.name == "cd" and len(given) > 1 and given[1].plain:
        script.folder = posixpath.normpath(posixpath.join(script.folder, given[1].text))
    script.commands += shell.looked_through(one)


def _is_fed(words: Sequence[ShellWord]) -> bool:
    """Whether a command that deletes names nothing itself: what comes through the pipe is meant."""
    return words[0].text == "rm" and all(word.text.startswith("-") for word in words[1:])


def _translated(
    words: Sequence[ShellWord], raw: Sequence[str]
) -> tuple[list[ShellWord], list[Redirect]] | None:
    """Return the words of a command, and what it writes, as another shell has them; None for one that is only tried."""
    name = words[0].text.lower().removesuffix(".exe")
    if any(len(one.text) > 3 and "-whatif".startswith(one.text.lower()) for one in words[1:]):
        return None
    if name.startswith("remove-az"):
        return [*map(ShellWord, ("az", name[9:], "delete")), *words[1:]], []
    program = _PROGRAMS.get(name)
    if program is None:
        return list(words), []
    rest = list(words[1:])
    if name in _OF_CMD:
        pairs = zip(rest, raw[1:], strict=True)
        rest = [word for word, one in pairs if not _is_cmd_switch(one)]
        rest += [ShellWord("-recurse")] * ("/s" in map(str.lower, raw))
    options, operands, named = _parameters(rest)
    if program in (">", ">>"):
        sign = ">>" if "append" in options else program
        target, said = operands[:1], [*operands[1:], *named.get("value", ())]
        return [ShellWord("echo"), *said], [Redirect(sign, _as_path(one)) for one in target]
    operands = [*operands, *named.get("destination", ()), *named.get("newname", ())]
    known = {"rm": "-r" * ("recurse" in options), "truncate": "-s 0", "mkfs": "/dev/disk"}
    given = known.get(program, "").split() + [one for one in options if one[:1] == "-"]
    made = [ShellWord(program), *map(ShellWord, given), *map(_as_path, operands)]
    if program == "find":
        made += [word for value in named.get("filter", []) for word in (ShellWord("-name"), value)]
        made += map(ShellWord, () if "recurse" in options else ("-maxdepth", "1"))
    return made, []


def _is_cmd_switch(raw: str) -> bool:
    return len(raw) == 2 and raw[0] == "/" and raw[1].isalpha()


def _parameters(
    words: Sequence[ShellWord],
) -> tuple[list[str], list[ShellWord], dict[str, list[ShellWord]]]:
    """Return the switches, the operands, and the values of other parameters. What is no parameter that is known stays
    an option as it is."""
    options: list[str] = []
    operands: list[ShellWord] = []
    named: dict[str, list[ShellWord]] = {}
    rest: Iterator[ShellWord] = iter(words)
    for word in rest:
        name, _, value = word.text.lower().partition(":")
        is_one = name.startswith("-") and len(name) > 1
        if not is_one:
            operands.append(word)
        elif switch := _meant(name, _SWITCHES):
            options.append(switch)
        elif _meant(name, _PATHS):
            operands += [word._replace(text=value)] if value else []
        elif parameter := _meant(name, _VALUED):
            given = word._replace(text=value) if value else next(rest, None)
            named.setdefault(parameter, []).extend([given] if given else [])
        else:
            options.append(name)
    return options, operands, named


def _meant(name: str, parameters: Sequence[str]) -> str:
    return next((one for one in parameters if one.startswith(name[1:])), "")
