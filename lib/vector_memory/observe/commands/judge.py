"""From a tool call to what it would destroy.

A shell command is read by a grammar and judged command by command (`command_line.py`): what stands in quotes, in
a comment, in a here-document that is only written or behind `--dry-run` destroys nothing. Nothing is run or
looked up, but whether a file is there and which scripts package.json has (`CallSite`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vector_memory.observe.commands import (
    command_line,
    credentials,
    databases,
    files,
    findings,
    other_servers,
    remote_code,
    rules,
    scripts,
    writes,
)
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import HIGH, Finding
from vector_memory.observe.commands.findings import CallSite as Surroundings
from vector_memory.observe.commands.simple_command import MOST_WHAT, Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.analysis import parts_of

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
MOST_FINDINGS = 12
"""Of one call: a longer list tells nobody more."""

_JUDGES = (files, rules, credentials, databases, writes, remote_code)
_BOMB = re.compile(r"(\S{1,20})\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1(?:\s|;|$)")


def of_call(
    tool: str, arguments: Mapping[str, Any], site: Surroundings, line: CommandLine | None = None
) -> list[Finding]:
    """Return what a tool call would destroy, the gravest first; [] for most.

    Args:
        tool: the tool's name.
        arguments: what it is given.
        site: where it is called.
        line: its command as `command_line.read` made it ready, where somebody did so already.
    """
    return _distinct(list(_of_call(tool, arguments, site, line)))


def _of_call(
    tool: str, arguments: Mapping[str, Any], site: Surroundings, line: CommandLine | None
) -> Iterator[Finding]:
    path = path_of(arguments, site)
    if tool in SHELL_TOOLS:
        command = str(arguments.get("command") or "")
        line = line or command_line.of_tool(tool, command, site)
        yield from of_command(command, site, line)
    elif tool.startswith("mcp__"):
        yield from _of_foreign_tool(tool, arguments)
        for own_tool, own_arguments in other_servers.as_own(tool, arguments, site):
            yield from _of_call(own_tool, own_arguments, site, None)
    elif tool == "Read" and (severity := credentials.sensitivity(path, site)):
        why = "It shows credentials."
        yield Finding(findings.CREDENTIALS, severity, f"Read {path}", why, path)
    elif tool in WRITERS and path:
        inner, text = site.within(path), new_text(arguments)
        is_emptied = tool == "Write" and not text.strip() and site.exists(path)
        if lost := writes.loss(path, site, text, _only_adds(arguments), is_emptied):
            yield Finding(lost[0], lost[1], f"{tool} {inner or path}", lost[2], path)


def of_command(command: str, site: Surroundings, line: CommandLine | None = None) -> list[Finding]:
    """Return what a command line would destroy."""
    line = line or command_line.read(command, site)
    results = []
    if "()" in command and (bomb := _BOMB.search(command[:4_096])):
        why = "It starts itself until the machine stands still."
        results.append(Finding(findings.PROCESSES, HIGH, bomb[0], why, "fork bomb"))
    for act in line.acts:
        results += _of_act(act, line)
    for act, severity in line.unread:
        words = " | ".join(each.excerpt for each in (*reversed(act.sources), act))[:MOST_WHAT]
        why = "It hides what it runs: there is more of it than is read."
        results.append(Finding(findings.REMOTE_CODE, severity, words, why, words))
    return results


def _of_act(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.args[-1:] in (("--version",), ("--help",)):
        return
    for module in _JUDGES:
        yield from module.judge(act, line)
    for script in filter(None, scripts.scripts_of(act)):
        yield from scripts.judge(act, script, line)
        for command in list(scripts.commands_in(script))[: scripts.MOST_COMMANDS]:
            inner = command_line.read(command, line.site)
            for inner_act in inner.acts:
                if not scripts.is_language(inner_act):
                    yield from _of_act(inner_act, inner)


def _distinct(results: Sequence[Finding]) -> list[Finding]:
    """Return findings once for each category and target, the gravest first: what is sent is more than shown."""
    by_target: dict[tuple[str, str], Finding] = {}
    for finding in sorted(
        results, key=lambda finding: (finding.severity != HIGH, finding.why.startswith("It shows"))
    ):
        by_target.setdefault((finding.category, finding.target), finding)
    return list(by_target.values())[:MOST_FINDINGS]


# -- tools of the client ---------------------------------------------------------------------------


def path_of(arguments: Mapping[str, Any], site: Surroundings) -> str:
    """Return the absolute path of the file that a tool is given, "" without one."""
    path = arguments.get("file_path") or arguments.get("notebook_path") or arguments.get("path")
    return site.path(path) if isinstance(path, str) and path else ""


def new_text(arguments: Mapping[str, Any]) -> str:
    """Return what a writing tool puts into a file."""
    edits = arguments.get("edits")
    parts = [arguments.get("content"), arguments.get("new_string"), arguments.get("new_source")]
    if isinstance(edits, list):
        parts += [edit.get("new_string") for edit in edits if isinstance(edit, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _only_adds(arguments: Mapping[str, Any]) -> bool:
    """Whether an edit leaves every line that it replaces."""
    edits = arguments["edits"] if isinstance(arguments.get("edits"), list) else [arguments]
    pairs = [(edit.get("old_string"), edit.get("new_string")) for edit in edits if isinstance(edit, Mapping)]  # fmt: skip
    return bool(pairs) and all(
        isinstance(old, str)
        and isinstance(new, str)
        and set(old.splitlines()) <= {*new.splitlines()}
        for old, new in pairs
    )


# -- tools of others -------------------------------------------------------------------------------

_QUERIES = ("sql", "query", "statement", "queries", "script")


def _of_foreign_tool(tool: str, arguments: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a tool of an MCP server by its name, and by the SQL that it is given."""
    if tool.replace("_", "-").startswith(other_servers.OWN):
        return
    server, _, verb = tool.removeprefix("mcp__").rpartition("__")
    for name in _QUERIES:
        if isinstance(arguments.get(name), str):
            yield from databases.in_sql(f"{server}: {arguments[name]}"[:MOST_WHAT], arguments[name])
    if not WORDS["deleting-verb"].isdisjoint(parts_of(verb)):
        pairs = (
            f"{key}={value}" for key, value in arguments.items() if isinstance(value, (str, int))
        )
        listed = ", ".join(pairs)
        excerpt, why = f"{server}: {verb}({listed})", f"A tool of {server} deletes something."
        yield Finding(
            findings.INFRASTRUCTURE, HIGH, excerpt[:MOST_WHAT], why, listed[:MOST_WHAT] or verb
        )
