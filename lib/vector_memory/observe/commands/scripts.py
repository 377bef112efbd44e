"""What a script of another language in a command line would do: `python -c`, `node -e`, a here-document."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands import credentials, databases, files
from vector_memory.observe.commands.acts import Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CREDENTIALS, DATA, DELETE, HIGH, LOW, Finding
from vector_memory.observe.commands.remote_code import is_local
from vector_memory.observe.commands.rules import RULES
from vector_memory.observe.commands.words import WORDS, is_name_made_again
from vector_memory.text.shell import ShellWord

MOST_SCRIPT = 65_536
MOST_COMMANDS = 4
_CONSOLES = {
    "rails": ("runner", "console"),
    "manage.py": ("shell", "shell_plus"),
    "artisan": ("tinker",),
    "flask": ("shell",),
}
"""Programs that run a script of another language, and their words for it."""
_LANGUAGES = ("python", "node", "ruby", "perl", "php", "deno", "bun")
_CALL = re.compile(
    r"""([\w.:]*\w)(?:\s*[(\[]\s*|\s+(?=["'%]))(\[)?\s*[rbf]?(?:"([^"\n]{1,300})"|'([^'\n]{1,300})')?"""
    r"""((?(2)(?:\s*,\s*["'][^"'\n]*["']){0,20}))"""
)
"""A call, and the text or the list of texts that it is given first."""
_NAME = re.compile(r"[\w.:]*\w")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_PRINTS = re.compile(r"print|console\.log|puts\b|echo|stdout|requests\.|fetch\(|urlopen")


def is_language(act: Act) -> bool:
    """Whether an act is an interpreter of another language than the shell's."""
    return act.name.rstrip("0123456789.") in _LANGUAGES


def scripts_of(act: Act) -> Iterator[str]:
    """Yield the scripts of another language that an act is given."""
    if is_language(act) or act.args[:1] and act.args[0] in _CONSOLES.get(act.name, ()):
        code = act.value("-c", "-e", "-E", "--eval", "-r", "--command", "--execute", "-ne", "-pe")
        yield next(iter(act.args[1:2]), "") if act.args[:1] == ("runner",) else code
        yield from act.fed()


def judge(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield what a script would do by its own means."""
    script = script[:MOST_SCRIPT]
    if "tempfile" not in script and "mkdtemp" not in script:
        yield from _deleted(act, script, line)
    yield from _shown(act, script, line)
    unquoted = _QUOTED.sub('""', script)
    for rule in RULES["*script"]:
        match = rule.compiled.search(unquoted if rule.conditions == "unquoted" else script)
        target = match[match.lastindex or 0].strip() if match else ""
        if match and not is_local(target) and not (rule.category == DATA and ":memory:" in script):
            yield act.found(rule.category, rule.severity, rule.why, target)
    yield from databases.executed(act, script)


def commands_in(script: str) -> Iterator[str]:
    """Yield the shell commands that a script has run."""
    for name, _, text, other, more in _CALL.findall(script[:MOST_SCRIPT]):
        if name in WORDS["shell-caller"] and (text or other):
            yield " ".join([text or other, *(part[1:-1] for part in _QUOTED.findall(more))])


def _is_one_of(name: str, group: str) -> bool:
    name = name.lstrip(".:")
    return name in WORDS[group] or name.replace(":", ".").rpartition(".")[2] in WORDS[group]


def _deleted(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a script deletes."""
    calls = [(name, text or other) for name, _, text, other, _ in _CALL.findall(script)]
    for name, text in calls:
        is_tree = _is_one_of(name, "tree-remover")
        if is_tree and not text:
            why = "It deletes a folder that the script works out."
            yield act.found(DELETE, LOW, why, act.name)
        elif is_tree or text and _is_one_of(name, "file-remover"):
            lost = files.loss(ShellWord(text), act, line, is_tree)
            if lost:
                yield act.found(DELETE, *lost)
    lists = [text for name, text in calls if _is_one_of(name, "file-lister")]
    if lists and any(_is_one_of(name, "file-remover") for name in _NAME.findall(script)):
        folders = [text for name, text in calls if text and _is_one_of(name, "path-maker")]
        yield from _swept(act, "".join(folders[:1]), lists[0], line)


def _swept(act: Act, folder: str, pattern: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a script deletes one by one, as many as it comes across."""
    path = line.around.path(posixpath.join(folder, pattern or "."), act.folder)
    place = path.partition("*")[0]
    place = path if place == path else posixpath.dirname(place)
    swept = posixpath.basename(path)
    if files.is_made_again(place, line.around) or "*" in swept and is_name_made_again(swept):
        return
    severity = HIGH if folder or pattern else LOW
    yield act.found(DELETE, severity, "It deletes every file that it comes across.", path)


def _shown(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials a script shows."""
    if _PRINTS.search(script) and "dotenv" not in script:
        for quoted in _QUOTED.findall(script):
            path = line.around.path(quoted[1:-1], act.folder) if " " not in quoted else ""
            severity = credentials.sensitivity(path, line.around) if len(quoted) < 200 else ""
            if severity:
                why = "It shows credentials."
                yield act.found(CREDENTIALS, severity, why, path)
