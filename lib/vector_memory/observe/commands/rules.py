"""What programs destroy by their verbs and options alone, from the table `rules.txt` beside this file."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from vector_memory.observe.commands.command_line import MOST_WHAT, Act, CommandLine
from vector_memory.observe.commands.credentials import is_consumed
from vector_memory.observe.commands.files import is_made_again
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    DATA,
    HIGH,
    INFRASTRUCTURE,
    LOW,
    Finding,
)
from vector_memory.text import tables
from vector_memory.text.shell import ShellWord

_DRY = ("--dry-run", "--dryrun", "--help", "--what-if", "--check", "--preview", "--pretend")
_TESTS = re.compile(r"(?:^|[_./-])(?:tests?|testing|tmp|temp|scratch|ci)(?:$|[_./-])", re.I)
_ENVIRONMENTS = ("RAILS_ENV", "RACK_ENV", "NODE_ENV", "MIX_ENV", "APP_ENV", "DJANGO_ENV", "ENV")
_CHANGES_SECRETS = re.compile(r"delete|remove|set|create|-o")
_GIT_TAKES = {
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """A line of the table: what one of its programs has to be given to destroy something.

    Attributes:
        severity: HIGH, LOW, or "-" where what it describes does no harm.
        pattern: a regular expression over the words that are no options, with "/" before it over all.
        conditions: apart by spaces, as the table's head says.
        why: the sentence of what is found.
    """

    category: str
    severity: str
    pattern: str
    conditions: str
    why: str

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        # The regular expressions of programs that nobody calls are never made.
        return re.compile("" if self.pattern == "-" else self.pattern.removeprefix("/"), re.I)

    @property
    def is_of_line(self) -> bool:
        """Whether it reads all words, options too."""
        return self.pattern.startswith("/")

    def fits(self, act: Act, line: CommandLine, takes: str) -> bool:
        """Whether a command does what the rule describes. `takes`: its options that take a word."""
        words = act.operands(takes)
        text = " ".join(act.args if self.is_of_line else (one.text for one in words))
        if not self._compiled.search(text):
            return False
        for one in self.conditions.split():
            if one == "kept":
                # The first word of `chmod` and its kin says how, not what.
                named = words[1:] if act.name.startswith("ch") else words
                if named and all(_is_made_again(word, act, line) for word in named):
                    return False
            elif one == "unnamed":
                if act.command.via[-1:] != ("xargs",) and all(word.plain for word in act.words):
                    return False
            elif one != "-" and act.has(*one.lstrip("!").split(",")) == one.startswith("!"):
                return False
        return True


def _is_made_again(word: ShellWord, act: Act, line: CommandLine) -> bool:
    return word.plain and is_made_again(line.around.path(word.text, act.folder), line.around)


def _read() -> tuple[dict[str, list[Rule]], dict[str, str]]:
    """Return each program's rules, in the table's order, and its options that take a word."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    takes: dict[str, str] = {}
    for entry in tables.lines("rules", os.path.dirname(__file__)):
        programs, category, *rest = entry.split("\t")
        for name in programs.split(","):
            if category == "takes":
                takes[name] = rest[0]
            else:
                rules[name].append(Rule(category, *rest))
    return dict(rules), takes


RULES, _TAKES = _read()


def programs(category: str) -> frozenset[str]:
    """Return the programs that have a rule of a category."""
    return frozenset(name for name, known in RULES.items() if any(one.category == category for one in known))  # fmt: skip


def is_for_tests(text: str) -> bool:
    """Whether a name is one of a database for tests."""
    return bool(_TESTS.search(text))


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what the table says of a command: at most one finding of each category."""
    if act.name == "git":
        act = _git_verb(act, line)
        if act.has("-h"):
            return
    known = RULES.get(act.name) or RULES.get(act.name.partition(".")[0]) or []
    if act.value("--dry-run") != "none" and act.has(*_DRY):
        return
    takes, decided = _TAKES.get(act.name, ""), set()
    for rule in known:
        if rule.category in decided or not rule.fits(act, line, takes):
            continue
        decided.add(rule.category)
        severity = _severity(rule, act, line)
        if severity != "-":
            words = " ".join(act.texts())
            target = (
                f"{act.name} {words}".strip() if rule.category in (DATA, CREDENTIALS) else words
            )
            yield act.found(rule.category, severity, rule.why, (target or act.name)[:MOST_WHAT])


def _severity(rule: Rule, act: Act, line: CommandLine) -> str:
    """Return how grave a rule's finding is here, "-" for what does no harm."""
    if rule.category in (INFRASTRUCTURE, DATA) and line.made(act):
        return "-"
    if rule.category == DATA and rule.severity == HIGH and _touches_tests(act, line):
        return LOW
    if rule.category == CREDENTIALS and not _CHANGES_SECRETS.search(" ".join(act.args)):
        return "-" if is_consumed(act, line) else rule.severity
    return rule.severity


def _touches_tests(act: Act, line: CommandLine) -> bool:
    environment = next((line.says(one) for one in _ENVIRONMENTS if line.says(one)), "")
    named = [one for one in act.args if not one.startswith(("--", "/"))]
    return (
        environment == "test"
        or any(is_for_tests(one) or one == "-etest" for one in named)
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
