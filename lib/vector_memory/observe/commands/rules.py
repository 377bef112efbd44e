"""What programs destroy by their verbs, options and operands, from the table `rules.txt` beside this file."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from vector_memory.observe.commands import files
from vector_memory.observe.commands.acts import MOST_WHAT, Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.credentials import is_consumed
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    DATA,
    HIGH,
    INFRASTRUCTURE,
    LOW,
    Finding,
)
from vector_memory.observe.commands.words import WORDS
from vector_memory.text import tables
from vector_memory.text.shell import ShellWord

_DRY = ("--dry-run", "--dryrun", "--help", "--what-if", "--check", "--preview", "--pretend")
_TESTS = re.compile(r"(?:^|[_./-])(?:tests?|testing|tmp|temp|scratch|ci)(?:$|[_./-])", re.I)
_ENVIRONMENTS = ("RAILS_ENV", "RACK_ENV", "NODE_ENV", "MIX_ENV", "APP_ENV", "DJANGO_ENV", "ENV")
_CHANGES_SECRETS = ("delete", "remove", "set", "create", "-o")
_GIT_TAKES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")
_LAST = frozenset({"cp", "install", "ln", "rsync"})
"""Programs whose last word says what is written."""
_SECOND = frozenset({"chmod", "chown", "chgrp", "sed", "gsed"})
"""Programs whose first word says how, not what."""


@dataclass(frozen=True)
class Rule:
    """A line of the table: what one of its programs has to be given to destroy something.

    Attributes:
        severity: HIGH, LOW, or "-" where what it describes does no harm.
        pattern: a regular expression over the words that are no options; with "/" before it over all words, with
            "<" over the script that the program is given, too.
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
        text = self.pattern[1:] if self.pattern[:1] in ("/", "<", "-") else self.pattern
        return re.compile(text, re.I | re.S)

    @cached_property
    def each(self) -> bool:
        """Whether it is found once for each thing that is named, and not for the command."""
        return "each" in self.conditions.split()

    def fits(self, act: Act, line: CommandLine, takes: str) -> bool:
        """Whether a command does what the rule describes. `takes`: its options that take a word."""
        words = act.args if self.pattern.startswith("/") else act.texts(takes)
        text = " ".join(words)
        if self.pattern.startswith("<"):
            text = "\n".join((text, *act.fed()))
        return bool(self.compiled.search(text)) and all(
            _holds(condition, act, line, takes)
            for condition in self.conditions.split()
            if condition != "-"
        )


def _holds(condition: str, act: Act, line: CommandLine, takes: str) -> bool:
    """Whether a condition of the table holds."""
    if condition in ("kept", "each"):
        named = _named(act, takes)
        return not named or any(_is_kept(word, act, line) for word in named)
    if condition == "there":
        return any(line.around.exists(act.path(word, line.around)) for word in _named(act, takes))
    if condition == "unnamed":
        return act.is_listed or not all(word.plain for word in act.words)
    if condition == "broad":
        return _is_broad(act, takes)
    return act.has(*condition.lstrip("!").split(",")) != condition.startswith("!")


def _named(act: Act, takes: str) -> list[ShellWord]:
    """Return the words that say what is changed."""
    words = act.operands(takes)
    if act.name == "dd":
        return [word._replace(text=word.text[3:]) for word in words if word.text.startswith("of=")]
    return words[-1:] if act.name in _LAST else words[1:] if act.name in _SECOND else words


def _is_kept(word: ShellWord, act: Act, line: CommandLine) -> bool:
    return not files.is_made_again(act.path(word, line.around), line.around)


def _is_broad(act: Act, takes: str) -> bool:
    """Whether processes are ended by a name that others have, too."""
    names = [name.strip("^$ ").lower().removesuffix(".exe") for name in act.texts(takes)]
    names = [name for name in names if not name.removeprefix("sig").isalpha() or name.upper() not in _SIGNALS] or names  # fmt: skip
    if not names:
        return act.has("-u", "-U", "--user")
    return any(name in WORDS["broad-process"] or not re.search(r"\w", name) for name in names)


_SIGNALS = frozenset({"TERM", "KILL", "HUP", "INT", "QUIT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGINT"})  # fmt: skip


def _read() -> tuple[dict[str, list[Rule]], dict[str, str]]:
    """Return each program's rules, in the table's order, and its options that take a word."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    takes: dict[str, str] = {}
    groups: dict[str, str] = {}
    for entry in tables.lines("rules", os.path.dirname(__file__)):
        programs, category, *rest = entry.split("\t")
        if category == "are":
            groups[programs] = rest[0]
            continue
        for name in groups.get(programs, programs).split(","):
            if category == "takes":
                takes[name] = rest[0]
            else:
                rules[name].append(Rule(category, *rest))
    return dict(rules), takes


RULES, _TAKES = _read()


def programs(category: str) -> frozenset[str]:
    """Return the programs that have a rule of a category."""
    return frozenset(name for name, known in RULES.items() if any(rule.category == category for rule in known))  # fmt: skip


def is_for_tests(text: str) -> bool:
    """Whether a name is one of a database for tests."""
    return bool(_TESTS.search(text))


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what the table says of a command: at most one finding of each category, but of things that are named."""
    if act.name == "git":
        act = _git_verb(act, line)
        if act.has("-h"):
            return
    known = RULES.get(act.name) or RULES.get(act.name.partition(".")[0]) or []
    if not known or act.value("--dry-run") != "none" and act.has(*_DRY):
        return
    takes, decided = _TAKES.get(act.name, ""), set()
    for rule in known:
        if rule.category in decided or not rule.fits(act, line, takes):
            continue
        decided.add(rule.category)
        severity = _severity(rule, act, line)
        if severity != "-":
            for target in _targets(rule, act, line, takes):
                yield act.found(rule.category, severity, rule.why, target)


def _targets(rule: Rule, act: Act, line: CommandLine, takes: str) -> list[str]:
    if rule.each:
        kept = [word for word in _named(act, takes) if _is_kept(word, act, line)]
        return [act.path(word, line.around) or word.text for word in kept] or [act.name]
    words = " ".join(act.texts())
    target = f"{act.name} {words}".strip() if rule.category in (DATA, CREDENTIALS) else words
    return [(target or act.name)[:MOST_WHAT]]


def _severity(rule: Rule, act: Act, line: CommandLine) -> str:
    """Return how grave a rule's finding is here, "-" for what does no harm."""
    if rule.category in (INFRASTRUCTURE, DATA) and line.made(act):
        return "-"
    if rule.category == DATA and rule.severity == HIGH and _touches_tests(act, line):
        return LOW
    if rule.category == CREDENTIALS and not any(
        change in text.lower() for change in _CHANGES_SECRETS for text in act.args
    ):
        return "-" if is_consumed(act, line) else rule.severity
    return rule.severity


def _touches_tests(act: Act, line: CommandLine) -> bool:
    environment = next((line.says(name) for name in _ENVIRONMENTS if line.says(name)), "")
    named = [text for text in act.args if not text.startswith(("--", "/"))]
    return (
        environment == "test"
        or any(is_for_tests(text) or text == "-etest" for text in named)
        or not {"--env=test", "--env=testing"}.isdisjoint(act.args)
    )


def _git_verb(act: Act, line: CommandLine) -> Act:
    """Return `git -C folder push …` as a program `git push` in that folder."""
    place, folder = 0, act.folder
    while place < len(act.words) and act.args[place].startswith("-"):
        if act.args[place] == "-C" and place + 1 < len(act.words):
            folder = line.around.path(act.args[place + 1], folder) or folder
        place += 2 if act.args[place] in _GIT_TAKES else 1
    verb = next(iter(act.args[place : place + 1]), "")
    return Act(act.command, f"git {verb}", act.words[place + 1 :], folder, act.elsewhere)
