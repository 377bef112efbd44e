"""What programs destroy by their verbs, options and operands, from the table `rules.txt` beside this file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from vector_memory.observe.commands import credentials, files, findings, processes
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CREDENTIALS, DATA, HIGH, INFRASTRUCTURE, LOW
from vector_memory.observe.commands.simple_command import MOST_WHAT, Act
from vector_memory.observe.commands.words import GLOBAL_OPTIONS, entries
from vector_memory.text.shell import ShellWord, after_options

_DRY = ("--dry-run", "--dryrun", "--help", "--what-if", "--check", "--preview", "--pretend")
_TESTS = frozenset({"test", "tests", "testing", "tmp", "temp", "scratch", "ci"})
_JOINTS = str.maketrans("_./-", "    ")
_ENVIRONMENTS = ("RAILS_ENV", "RACK_ENV", "NODE_ENV", "MIX_ENV", "APP_ENV", "DJANGO_ENV", "ENV")
_CHANGES_SECRETS = ("delete", "remove", "set", "create", "-o")
_GIT_TAKES = "-C -c --git-dir --work-tree --namespace --exec-path --config-env"
_LAST = frozenset({"cp", "install", "ln", "mv", "rsync"})
"""Programs whose last word says what is written."""
_SECOND = frozenset({"chmod", "chown", "chgrp", "sed", "gsed", "zip"})
"""Programs whose first word says how, not what."""


@dataclass(frozen=True)
class CommandRule:
    """A line of the table: what one of its programs has to be given to destroy something.

    Attributes:
        severity: HIGH, LOW, or "-" where what it describes does no harm.
        pattern: a regular expression over the words that are no options; with "/" before it over all words, with
            "<" over what the program reads, too; with "?" over the words that the shell fills in.
        conditions: apart by spaces, as the table's head says.
        why: the sentence of what is found.
    """

    category: str
    severity: str
    pattern: str
    conditions: str
    why: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Its expression. Those of programs that nobody calls are never made."""
        text = self.pattern[1:] if self.pattern[:1] in ("/", "<", "?", "-") else self.pattern
        return re.compile(text, re.I | re.S)

    @cached_property
    def is_of_verb(self) -> bool:
        """Whether its expression begins with the program's verb, before which options of the program may stand."""
        looks_ahead = self.pattern.startswith(("/^(?=", "/^(?!"))
        return self.pattern.startswith(("^", "/^")) and not looks_ahead

    def fits(self, act: Act, line: CommandLine, takes: str) -> bool:
        """Whether a command does what the rule describes. `takes`: its options that take a word."""
        mark = self.pattern[:1]
        takes = f"{takes} {GLOBAL_OPTIONS}" if self.is_of_verb else takes
        arguments = after_options(act.words, takes) if self.is_of_verb else act.words
        words = [word.text for word in arguments] if mark == "/" else act.texts(takes)
        if mark == "?":
            words = [word.text for word in act.words if not word.plain]
        text = "\n".join((" ".join(words), *(act.inputs() if mark == "<" else ())))
        return bool(self.compiled.search(text)) and all(
            _condition_holds(condition, act, line, takes)
            for condition in self.conditions.split()
            if condition != "-"
        )


def _condition_holds(condition: str, act: Act, line: CommandLine, takes: str) -> bool:
    """Whether a condition of the table holds."""
    if condition in _CONDITIONS:
        return _CONDITIONS[condition](act, line, takes)
    return act.has(*condition.lstrip("!").split(",")) != condition.startswith("!")


def _changed_words(act: Act, takes: str) -> list[ShellWord]:
    """Return the words that say what is changed."""
    words = act.operands(takes)
    if act.name == "dd":
        return [word._replace(text=word.text[3:]) for word in words if word.text.startswith("of=")]
    return words[-1:] if act.name in _LAST else words[1:] if act.name in _SECOND else words


def _kept_words(act: Act, line: CommandLine, takes: str) -> list[ShellWord]:
    """Return the words that name what is not made again."""
    site, words = line.site, _changed_words(act, takes)
    return [word for word in words if not files.is_made_again(act.path(word, site), site)]


def _written_secrets(act: Act, line: CommandLine) -> list[credentials.Secret]:
    """Return the credentials that an act writes."""
    paths = [path for _, path in credentials.secrets(act, line)]
    return [
        (grave, path) for path in paths if (grave := credentials.write_severity(path, line.site))
    ]


_OF_SECRETS: dict[str, Callable[[Act, CommandLine], list[credentials.Secret]]] = {
    "secret": credentials.secrets,
    "read": credentials.read,
    "piped": credentials.piped,
    "changes": _written_secrets,
    "folder": lambda act, line: [(LOW, path) for path in credentials.folders(act, line)],
}
"""Conditions that hold where there are such credentials; each of them is a target."""
_CONDITIONS: dict[str, Callable[[Act, CommandLine, str], bool]] = {
    "kept": lambda act, line, takes: not _changed_words(act, takes) or bool(_kept_words(act, line, takes)),
    "each": lambda act, line, takes: bool(_kept_words(act, line, takes)),
    "there": lambda act, line, takes: any(line.site.exists(act.path(word, line.site)) for word in _changed_words(act, takes)),
    "unnamed": lambda act, line, takes: act.is_listed or not all(word.plain for word in act.words),
    "broad": lambda act, line, takes: processes.is_broad(act, takes),
    "searched": lambda act, line, takes: processes.is_searched(act),
    "aloud": lambda act, line, takes: not act.command.redirects,
    "shown": lambda act, line, takes: not credentials.is_quiet(act, line),
    "echoed": lambda act, line, takes: any(other.name in ("echo", "printf") for other in line.acts),
    **{name: lambda act, line, takes, of=of: bool(of(act, line)) for name, of in _OF_SECRETS.items()},  # type: ignore[misc]
}  # fmt: skip


def _read_table() -> tuple[dict[str, list[CommandRule]], dict[str, str]]:
    """Return each program's rules, in the table's order, and its options that take a word."""
    rules: dict[str, list[CommandRule]] = defaultdict(list)
    takes: dict[str, str] = {}
    for name, (category, *columns) in entries("rules"):
        if category == "takes":
            takes[name] = columns[0]
        else:
            rules[name].append(CommandRule(category, *columns))
    return dict(rules), takes


RULES, _TAKES = _read_table()


def is_for_tests(text: str) -> bool:
    """Whether a name is one of a database for tests."""
    return not _TESTS.isdisjoint(text.lower().translate(_JOINTS).split())


def judge(act: Act, line: CommandLine) -> Iterator[findings.Finding]:
    """Yield what the table says of a command: at most one finding of each category, but of things that are named."""
    if act.name == "git":
        act = _git_verb(act, line)
        if act.has("-h"):
            return
    program_rules = RULES.get(act.name) or RULES.get(act.name.partition(".")[0]) or []
    if not program_rules or act.value("--dry-run") != "none" and act.has(*_DRY):
        return
    takes, decided = _TAKES.get(act.name, ""), set()
    for rule in program_rules:
        if rule.category in decided or not rule.fits(act, line, takes):
            continue
        decided.add(rule.category)
        severity = _severity(rule, act, line)
        for grave, target in _targets(rule, act, line, takes) if severity != "-" else ():
            yield act.finding(
                rule.category, severity if severity != "=" else grave, rule.why, target
            )


def _targets(rule: CommandRule, act: Act, line: CommandLine, takes: str) -> list[tuple[str, str]]:
    """Return how grave each target is, and its name."""
    conditions = rule.conditions.split()
    if secrets_of := next(
        (_OF_SECRETS[condition] for condition in conditions if condition in _OF_SECRETS), None
    ):
        return secrets_of(act, line)
    if "each" in conditions:
        paths = [act.path(word, line.site) or word.text for word in _kept_words(act, line, takes)]
        return [(rule.severity, path) for path in paths]
    words = " ".join(act.texts())
    target = f"{act.name} {words}".strip() if rule.category in (DATA, CREDENTIALS) else words
    return [(rule.severity, (target or act.name)[:MOST_WHAT])]


def _severity(rule: CommandRule, act: Act, line: CommandLine) -> str:
    """Return how grave a rule's finding is here, "-" for what does no harm."""
    if rule.category in (INFRASTRUCTURE, DATA) and line.has_made(act):
        return "-"
    if rule.category == DATA and rule.severity == HIGH and _touches_tests(act, line):
        return LOW
    changes = any(change in text.lower() for change in _CHANGES_SECRETS for text in act.args)
    is_told = rule.category == CREDENTIALS and rule.pattern != "-" and rule.severity != "="
    return "-" if is_told and not changes and credentials.is_consumed(act, line) else rule.severity


def _touches_tests(act: Act, line: CommandLine) -> bool:
    environments = {value.text for name in _ENVIRONMENTS for value in line.values.get(name, ())}
    operands = [text for text in act.args if not text.startswith(("--", "/"))]
    is_test_option = not {"-etest", "--env=test", "--env=testing"}.isdisjoint(act.args)
    return "test" in environments or is_test_option or any(is_for_tests(text) for text in operands)


def _git_verb(act: Act, line: CommandLine) -> Act:
    """Return `git -C folder push …` as a program `git push` in that folder."""
    words = list(after_options(act.words, _GIT_TAKES))
    options = [word.text for word in act.words[: len(act.words) - len(words)]]
    named_folder = dict(zip(options, options[1:], strict=False)).get("-C", "")
    folder = line.site.path(named_folder, act.folder) if named_folder else act.folder
    verb = words[0].text if words else ""
    return Act(act.command, f"git {verb}", tuple(words[1:]), folder or act.folder, act.elsewhere)
