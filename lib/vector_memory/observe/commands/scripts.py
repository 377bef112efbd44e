"""What a script of another language in a command line would do: `python -c`, `node -e`, a here-document."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from vector_memory.observe.commands import credentials, databases, files
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CREDENTIALS, DATA, DELETE, HIGH, LOW, Finding
from vector_memory.observe.commands.remote_code import is_local
from vector_memory.observe.commands.rules import RULES
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.shell import ShellWord
from vector_memory.text.words import is_made_of, runs_in

MOST_SCRIPT = 16_384
MOST_COMMANDS = 4
_LANGUAGES = ("python", "node", "ruby", "perl", "php", "deno", "bun")
_CALL = re.compile(
    r"""(?<![\w.:])([\w.:]{1,80})(?:\s*[(\[]\s*|\s+(?=["'%]))(\[)?\s*[rbf]?(?:"([^"\n]{1,300})"|'([^'\n]{1,300})')?"""
    r"""((?(2)(?:\s*,\s*["'][^"'\n]*["']){0,20}))"""
)
"""A call, and the text or the list of texts that it is given first."""
_CODE_OPTIONS = ("--eval", "--command", "--execute")
_PERL_LISTS = re.compile(r"<([^<>\s]*[*?][^<>\s]*)>|\bfind(?:depth)?\b.*,\s*[\"'(]([\w./~-]+)[\"')]", re.S)  # fmt: skip
_READ = ("stdin", "<>", "$<", "argf")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_PRINTS = ("print", "console.log", "puts", "echo", "stdout", "requests.", "fetch(", "urlopen")


def is_language(act: Act) -> bool:
    """Whether an act is an interpreter of another language than the shell's."""
    return act.name.rstrip("0123456789.") in _LANGUAGES


def scripts_of(act: Act) -> Iterator[str]:
    """Yield the scripts of another language that an act is given."""
    if is_language(act) or f"{act.name}={' '.join(act.args[:1])}" in WORDS["console"]:
        pairs = zip(act.args, act.args[1:], strict=False)
        codes = [code for option, code in pairs if _takes_code(option) and code[:1] != "-"]
        code = "\n".join(codes) or act.value(*_CODE_OPTIONS)
        yield next(iter(act.args[1:2]), "") if act.args[:1] == ("runner",) else code
        yield from act.inputs()


def _takes_code(option: str) -> bool:
    """Whether behind an option a script stands: `-c`, `-nle`."""
    is_short = option[:1] == "-" and is_made_of(option[1:], "_.", len(option))
    return option in _CODE_OPTIONS or (is_short and option.endswith(("c", "e", "E", "r")))


def judge(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield what a script would do by its own means."""
    script = script[:MOST_SCRIPT]
    if "tempfile" not in script and "mkdtemp" not in script:
        yield from _judge_deletion(act, script, line)
    yield from _judge_display(act, script, line)
    unquoted = _QUOTED.sub('""', script)
    for rule in RULES["*script"]:
        match = rule.compiled.search(unquoted if rule.conditions == "unquoted" else script)
        target = match[match.lastindex or 0].strip() if match else ""
        if match and not is_local(target) and not (rule.category == DATA and ":memory:" in script):
            yield act.finding(rule.category, rule.severity, rule.why, target)
    yield from databases.executed(act, script)


def commands_in(script: str) -> Iterator[str]:
    """Yield the shell commands that a script has run."""
    for name, _, text, other, more in _CALL.findall(script[:MOST_SCRIPT]):
        if name in WORDS["shell-caller"] and (text or other):
            yield " ".join([text or other, *(part[1:-1] for part in _QUOTED.findall(more))])


def _is_one_of(name: str, group: str) -> bool:
    name = name.lstrip(".:")
    return name in WORDS[group] or name.replace(":", ".").rpartition(".")[2] in WORDS[group]


def _judge_deletion(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a script deletes."""
    if act.name == "perl":
        # What it lists in its own way, as other languages say it.
        script = _PERL_LISTS.sub(lambda match: f'{match[0]} glob("{match[1] or match[2] + "/*"}")', script)  # fmt: skip
    calls = [(name, text or other) for name, _, text, other, _ in _CALL.findall(script)]
    for name, text in calls:
        is_tree = _is_one_of(name, "tree-remover")
        if is_tree and not text:
            yield act.finding(
                DELETE, LOW, "It deletes a folder that the script works out.", act.name
            )
            continue
        is_file = bool(text) and _is_one_of(name, "file-remover")
        if (is_tree or is_file) and (lost := files.loss(ShellWord(text), act, line, is_tree)):
            yield act.finding(DELETE, *lost)
    # PHP names what it calls in quotes; elsewhere that is talk.
    called = runs_in(script if act.name == "php" else _QUOTED.sub("", script), "_.:")
    if not any(_is_one_of(name, "file-remover") for name in called):
        return
    yield from files.judge(_as_rm(act, script), line)
    if lists := [text for name, text in calls if _is_one_of(name, "file-lister")]:
        folder = next((text for name, text in calls if text and _is_one_of(name, "path-maker")), "")
        swept = ShellWord(posixpath.join(folder, lists[0] or "*"), glob=True)
        if lost := files.loss(swept, act, line, True):
            severity = HIGH if folder or lists[0] else LOW
            yield act.finding(
                DELETE, severity, "It deletes every file that it comes across.", lost[2]
            )


def _as_rm(act: Act, script: str) -> Act:
    """Return a script that deletes what it is given, or what it reads, as the `rm` that does the same."""
    script = script.lower()
    is_given = "argv" in script
    words = act.operands()[1:] if is_given else []
    reads = act.feeding is not None and (act.has("-n", "-p") or _has_any(script, _READ))
    is_listed = reads or (act.is_listed and is_given)
    via = ("xargs",) if is_listed else ()
    return replace(act, name="rm", words=tuple(words), command=replace(act.command, via=via))


def _has_any(script: str, marks: Iterable[str]) -> bool:
    return any(mark in script for mark in marks)


def _judge_display(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials a script shows."""
    if _has_any(script, _PRINTS) and "dotenv" not in script:
        for quoted in _QUOTED.findall(script):
            path = line.site.path(quoted[1:-1], act.folder) if " " not in quoted else ""
            if len(quoted) < 200 and (severity := credentials.sensitivity(path, line.site)):
                why = "It shows credentials."
                yield act.finding(CREDENTIALS, severity, why, path)
