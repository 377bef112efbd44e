"""From a tool call to what it would destroy.

A shell command is read by a grammar and judged command by command (`command_line.py`): what stands in quotes, in
a comment, in a here-document that is only written or behind `--dry-run` destroys nothing. Nothing is run or
looked up, but whether a file is there and which scripts package.json has (`CommandSurroundings`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vector_memory.observe.commands import (
    command_line,
    credentials,
    databases,
    files,
    redirects,
    remote_code,
    rules,
    scripts,
)
from vector_memory.observe.commands.acts import MOST_WHAT, Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    GUARDED,
    HIGH,
    INFRASTRUCTURE,
    LOW,
    OVERWRITE,
    PROCESSES,
    CommandSurroundings,
    Finding,
)
from vector_memory.observe.commands.words import WORDS

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
MOST_FINDINGS = 12
"""Of one call: a longer list tells nobody more."""
MOST_ACTS = 200

Judge = Callable[[Act, CommandLine], Iterator[Finding]]
_JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("rm", "rimraf", "unlink", "rmdir", "srm", "grm"), files.remove),
    **dict.fromkeys(("remove-item", "ri", "rd", "del", "erase"), files.powershell),
    **dict.fromkeys(("find", "fd", "fdfind", "gfind"), files.find),
}
_ALWAYS: tuple[Judge, ...] = (
    rules.judge,
    credentials.judge,
    databases.sql_client,
    databases.stated,
    redirects.judge,
    remote_code.judge,
)
_BOMB = re.compile(r"(\S{1,20})\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1(?:\s|;|$)")


def of_call(
    tool: str,
    given: Mapping[str, Any],
    around: CommandSurroundings,
    line: CommandLine | None = None,
) -> list[Finding]:
    """Return what a tool call would destroy, the gravest first; [] for most.

    Args:
        tool: the tool's name.
        given: what it is given.
        around: where it is called.
        line: its command as `command_line.read` made it ready, where somebody did so already.
    """
    if tool in SHELL_TOOLS:
        return _distinct(of_command(str(given.get("command") or ""), around, line))
    if tool in WRITERS:
        return _distinct(list(_of_edit(tool, given, around)))
    if tool == "Read":
        return _distinct(list(_of_reading(given, around)))
    return _distinct(list(_of_stranger(tool, given))) if tool.startswith("mcp__") else []


def of_command(
    command: str, around: CommandSurroundings, line: CommandLine | None = None
) -> list[Finding]:
    """Return what a command line would destroy."""
    line = line or command_line.read(command, around)
    found = []
    if "()" in command and (bomb := _BOMB.search(command[:4_096])):
        why = "It starts itself until the machine stands still."
        found.append(Finding(PROCESSES, HIGH, bomb[0], why, "fork bomb"))
    for act in line.acts[:MOST_ACTS]:
        found += _of_act(act, line)
    return found


def _of_act(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.args[-1:] in (("--version",), ("--help",)):
        return
    if act.name in _JUDGES:
        yield from _JUDGES[act.name](act, line)
    for judge in _ALWAYS:
        yield from judge(act, line)
    for script in filter(None, scripts.scripts_of(act)):
        yield from scripts.judge(act, script, line)
        for command in list(scripts.commands_in(script))[: scripts.MOST_COMMANDS]:
            inner = command_line.read(command, line.around)
            for one in inner.acts:
                if not scripts.is_language(one):
                    yield from _of_act(one, inner)


def _distinct(found: Sequence[Finding]) -> list[Finding]:
    """Return findings once for each category and target, the gravest first."""
    kept: dict[tuple[str, str], Finding] = {}
    for one in sorted(found, key=lambda one: one.severity != HIGH):
        kept.setdefault((one.category, one.target), one)
    return list(kept.values())[:MOST_FINDINGS]


# -- tools of the client ---------------------------------------------------------------------------

_TELLING = re.compile(
    r"(?:echo|printf|curl|wget|cat)\b[^\n]*(?:\$\{\{\s*secrets\.|\$\{?\w*(?:SECRET|TOKEN|PASSWORD)\w*)",
    re.IGNORECASE,
)


def path_of(given: Mapping[str, Any], around: CommandSurroundings) -> str:
    """Return the absolute path of the file that a tool is given, "" without one."""
    named = given.get("file_path") or given.get("notebook_path") or given.get("path")
    return around.path(named) if isinstance(named, str) and named else ""


def new_text(given: Mapping[str, Any]) -> str:
    """Return what a writing tool puts into a file."""
    edits = given.get("edits")
    parts = [given.get("content"), given.get("new_string"), given.get("new_source")]
    if isinstance(edits, list):
        parts += [edit.get("new_string") for edit in edits if isinstance(edit, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _of_edit(tool: str, given: Mapping[str, Any], around: CommandSurroundings) -> Iterator[Finding]:
    path = path_of(given, around)
    if not path:
        return
    name, inner = posixpath.basename(path), around.within(path)
    what = f"{tool} {inner if inner is not None else path}"
    if severity := credentials.changed(path, around):
        yield Finding(CREDENTIALS, severity, what, "It changes credentials.", path)
    elif inner is None:
        if not files.is_made_again(path, around):
            yield from redirects.outside(path, what, around.home)
    elif inner.startswith(".git/"):
        yield Finding(GUARDED, HIGH, what, "It changes git's own files.", path)
    elif name in WORDS["lock-file"]:
        yield Finding(GUARDED, LOW, what, "A package manager writes this file.", path)
    elif redirects.is_pipeline(inner) and _TELLING.search(new_text(given)):
        why = "The pipeline would print or send its secrets."
        yield Finding(CREDENTIALS, HIGH, what, why, path)
    is_emptied = tool == "Write" and not str(given.get("content") or "").strip()
    if is_emptied and inner and around.exists(path) and name not in WORDS["empty-by-right"]:
        yield Finding(OVERWRITE, HIGH, what, "It empties a file.", path)


def _of_reading(given: Mapping[str, Any], around: CommandSurroundings) -> Iterator[Finding]:
    path = path_of(given, around)
    if severity := credentials.sensitivity(path, around):
        yield Finding(CREDENTIALS, severity, f"Read {path}", "It shows credentials.", path)


# -- tools of others -------------------------------------------------------------------------------

_VERB = re.compile(
    r"(?:^|_)(delete|drop|destroy|purge|truncate|terminate|wipe|uninstall)(?:_|$|[A-Z])|^(?:delete|drop|destroy|purge|terminate)[A-Z]"
)
_OWN = re.compile(r"^mcp__(?:plugin_)?vector[-_]memory")
_QUERIES = ("sql", "query", "statement", "queries", "script")


def _of_stranger(tool: str, given: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a tool of an MCP server by its name, and by the SQL that it is given."""
    if _OWN.match(tool):
        return
    server, _, verb = tool.removeprefix("mcp__").rpartition("__")
    for name in _QUERIES:
        if isinstance(given.get(name), str):
            yield from databases.in_sql(f"{server}: {given[name]}"[:MOST_WHAT], given[name])
    if _VERB.search(verb):
        words = (f"{key}={value}" for key, value in given.items() if isinstance(value, (str, int)))
        told = ", ".join(words)
        what, why = f"{server}: {verb}({told})", f"A tool of {server} deletes something."
        yield Finding(INFRASTRUCTURE, HIGH, what[:MOST_WHAT], why, told[:MOST_WHAT] or verb)
