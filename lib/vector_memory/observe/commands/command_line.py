"""A command line made ready to be judged: its commands with variables, braces and aliases put in, and what runs
others (`runners.py`) looked through."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product

from vector_memory.observe.commands import runners
from vector_memory.observe.commands.findings import HIGH, LOW
from vector_memory.observe.commands.findings import CallSite as Surroundings
from vector_memory.observe.commands.ignored import IgnoredPaths
from vector_memory.observe.commands.simple_command import Act, name_of
from vector_memory.text import powershell, shell
from vector_memory.text.shell import Command, Redirect, ShellWord

MOST_EXPANSIONS = 32
MOST_WORDS = 200
"""Of one command: in a longer one the words that follow are more of the same."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?([-=?+])([^{}]*))?\}|(\w+))")
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
Values = dict[str, tuple[ShellWord, ...]]
"""What a line gives its variables."""
_MAKING = frozenset({"create", "run", "add", "new", "init", "-b", "-c", "--orphan"})
_SCRIPT_OPTIONS = {"cmd": "/c", "powershell": "-command", "pwsh": "-command"}
"""Behind which stands a script that is PowerShell's, or reads like it. Git's shell on Windows needs `//c`."""
_UNKNOWN = ("$", "`", "<(")


@dataclass(frozen=True)
class CommandLine:
    """A whole command line: its acts in order, in its surroundings.

    Attributes:
        values: what it gives its variables.
        unread: acts that run more than was read, and how grave that is: a budget that noise used up is to hide nothing.
    """

    acts: tuple[Act, ...]
    site: Surroundings
    values: Values = field(default_factory=dict)
    unread: tuple[tuple[Act, str], ...] = ()

    @cached_property
    def ignored(self) -> IgnoredPaths:
        """What git ignores of the paths that are asked for."""
        return IgnoredPaths(self.site)

    def has_made(self, act: Act) -> bool:
        """Whether what an act takes away, by its last word, the line itself made before:
        `createdb x; …; dropdb x`."""
        target = "".join(act.texts()[-1:])
        mentions = [other for other in self.before(act) if target and target in other.args]
        return any(other.name.startswith(("create", "mk")) or _MAKING & {*other.args} for other in mentions)  # fmt: skip

    def before(self, act: Act) -> Iterator[Act]:
        """Yield the acts before one, the nearest first."""
        place = next((index for index, other in enumerate(self.acts) if other is act), 0)
        yield from reversed(self.acts[:place])

    def after(self, act: Act) -> tuple[Act, ...]:
        """Return the acts after one, in order."""
        place = next(
            (index for index, other in enumerate(self.acts) if other is act), len(self.acts)
        )
        return self.acts[place + 1 :]

    def readers(self, act: Act) -> list[Act]:
        """Return the acts that read what one prints."""
        return [other for other in self.acts if other.feeding is act]


def of_tool(tool: str, command: str, site: Surroundings) -> CommandLine:
    """Return the command line that a tool is given, ready to be judged: PowerShell has a language of its own."""
    if tool != "PowerShell":
        return read(command, site)
    script = powershell.parse(command)
    return _prepare(script.commands, dict(script.values), site)


def read(command: str, site: Surroundings) -> CommandLine:
    """Return a command line ready to be judged."""
    values = shell.assigned(command) if "=" in command or "for " in command else {}
    commands: list[Command] = []
    for outer in shell.parse(command):
        inner, script_values = _powershell_commands(outer)
        commands += inner
        values = {**script_values, **values} if script_values else values
    return _prepare(commands, values, site)


def _powershell_commands(command: Command) -> tuple[list[Command], Values]:
    """Return what a command runs in PowerShell or cmd.exe, whose words are much the same, and what it gives its variables;
    any other as it is, and a script that is written as for another shell, too."""
    name, arguments = name_of(command.words[0].text), command.arguments
    option = _SCRIPT_OPTIONS.get(name, "")
    options = (word.text.lower().replace("//", "/") for word in arguments)
    matches = (len(flag) > 1 and option.startswith(flag) for flag in options)
    place = next((place for place, is_match in enumerate(matches) if is_match), len(arguments))
    script = " ".join(word.text for word in arguments[place + 1 :]).strip(" -") or command.given
    if not (option and script):
        return [command], {}
    for temporary in ("%TEMP%", "%TMP%", "%temp%", "%tmp%"):
        script = script.replace(temporary, "$env:TEMP")
    parsed = powershell.parse(script)
    via, text, folder = (*command.via, name), command.text, command.folder
    inner = [
        replace(
            script_command,
            via=(*via, *script_command.via),
            text=text,
            folder=posixpath.join(folder, script_command.folder),
        )
        for script_command in parsed.commands
    ] or [replace(command, words=command.words[:1])]
    is_foreign = '\\"' in script or any(map(_is_foreign, inner))
    return ([*inner, command] if is_foreign else inner), parsed.values


def _is_foreign(command: Command) -> bool:
    """Whether PowerShell has no such command: a loop `for i in …`, `for /d %d …`, a redirection alone."""
    words = command.words
    is_loop = command.name.lower() == "for" and len(words) > 1 and words[1].plain
    return is_loop or (len(words) == 1 and command.name == "echo" and bool(command.redirects))


def _prepare(commands: Sequence[Command], values: Values, site: Surroundings) -> CommandLine:
    acts: list[Act] = []
    last: Act | None = None
    expansions: dict[ShellWord, list[ShellWord]] = {}
    aliases: dict[str, str] = {}
    # Each level of runners in runners reads the line's own words once more: only variables make more of them.
    own = runners.Budget(shell.MOST_BYTES * runners.DEEPEST)
    printed, decoded = runners.Budget(), runners.Budget()

    known_values = {
        "HOME": site.home, "PWD": site.cwd, "CLAUDE_PROJECT_DIR": site.root,
        "pwd": site.cwd, "git rev-parse --show-toplevel": site.root,
    }  # fmt: skip

    def expand(word: ShellWord) -> list[ShellWord]:
        if word not in expansions:
            expansions[word] = _expand_word(word, values, known_values)
        return expansions[word]

    for command in commands:
        if own.acts <= 0:
            break
        words = [word for argument in command.arguments[:MOST_WORDS] for word in expand(argument)]
        redirects = tuple(Redirect(sign, expand(target)[0]) for sign, target in command.redirects)
        resolved = replace(command, redirects=redirects) if redirects else command
        program = expand(command.words[0])[0].text
        name, is_elsewhere = name_of(program), "ssh" in command.via
        feeding = last if command.piped else None
        act = Act(resolved, name, tuple(words), command.folder, is_elsewhere, feeding, program)
        if act.name == "alias":
            aliases.update((name, script) for name, sign, script in (text.partition("=") for text in act.args) if sign)  # fmt: skip
        acts += runners.acts_run_by(act, site, aliases, (own, printed, decoded))
        if "$()" not in command.via:
            last = acts[-1]
    # What is not decoded stands in the line for everybody to see.
    kinds = ((own.unread, LOW), (printed.unread, LOW), (decoded.unread, HIGH))
    unread = tuple((act, severity) for act, severity in kinds if act is not None)
    return CommandLine(tuple(acts), site, values, unread)


# -- variables -------------------------------------------------------------------------------------


def _expand_word(
    word: ShellWord, values: Values, known_values: Mapping[str, str]
) -> list[ShellWord]:
    """Return a word with known variables and braces put in: several where they hold several."""
    words = [word]
    for _ in range(4):
        if all(shell_word.plain for shell_word in words):
            break
        words = [
            filled
            for shell_word in words
            for filled in substitute(shell_word, values, known_values)
        ][:MOST_EXPANSIONS]
    return [filled for shell_word in words for filled in _expand_word_braces(shell_word)]


def substitute(word: ShellWord, values: Values, known_values: Mapping[str, str]) -> list[ShellWord]:
    """Return a word with what is known of it put in, once: several where a variable holds several.

    Args:
        values: what the line gives its variables.
        known_values: what is known besides: of variables, and of what scripts print.
    """
    if word.plain:
        return [word]
    text = _SUBSTITUTION.sub(lambda match: _output_of(match, known_values), word.text)
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    words = []
    for combination in product(*(_values_of(name, values, known_values) for name in names)):
        pairs = zip(names, combination, strict=True)
        put = {name: value for name, value in pairs if value is not None}
        filled = _VARIABLE.sub(lambda match, put=put: put.get(match.groups(""), match[0]), text)  # type: ignore[misc]
        glob = word.glob or bool(names) and "*" in filled
        words.append(ShellWord(filled, not any(sign in filled for sign in _UNKNOWN), glob))
    return words or [word]


def _values_of(
    name: tuple[str, ...], values: Values, known_values: Mapping[str, str]
) -> list[str | None]:
    """Return what a variable may hold; None where nobody knows."""
    plain = name[0] or name[3]
    if plain in values:
        return [value.text for value in values[plain]] or [None]
    if plain in known_values:
        return [known_values[plain]]
    if _is_scratch(plain.upper()):
        return ["/tmp/scratch"]
    return [name[2]] if name[1] in ("-", "=") and name[2] else [None]


def _is_scratch(name: str) -> bool:
    """Whether a variable's name in capitals says that a temporary place is in it: `TMPDIR`, `MY_TEMP`."""
    base = name.removesuffix("DIR").removesuffix("_") if name.endswith("DIR") else name
    is_last = base.rpartition("_")[2] in ("TMP", "TEMP")
    return is_last or (name.startswith("TMP_") and name != "TMP_")


def _output_of(match: re.Match[str], known_values: Mapping[str, str]) -> str:
    """Return what a command within a word prints, where that is known; else the word as it stands."""
    script = (match[1] or match[2] or "").strip()
    return (
        "/tmp/scratch/made" if script.startswith("mktemp") else known_values.get(script, match[0])
    )


def _expand_word_braces(word: ShellWord) -> list[ShellWord]:
    """Return the words that braces make: `{dist,build}/x`."""
    is_braced = "{" in word.text and "${" not in word.text
    return [word._replace(text=text) for text in expand_braces(word.text)] if is_braced else [word]


def expand_braces(text: str) -> list[str]:
    """Return the texts that braces stand for, a few: `dist/x` and `build/x` for `{dist,build}/x`."""
    return list(islice(_brace_expansions(text), MOST_EXPANSIONS))


def _brace_expansions(text: str) -> Iterator[str]:
    # One after the other: twenty braces stand for a million texts.
    braces = _BRACES.search(text)
    if braces is None:
        yield text
        return
    for part in braces[1].split(","):
        yield from _brace_expansions(text[: braces.start()] + part + text[braces.end() :])
