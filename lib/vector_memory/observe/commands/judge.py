"""From a tool call to what it would destroy.

A shell command is read by a grammar and judged command by command (`lines.py`): what stands in quotes, in
a comment, in a here-document that is only written or behind `--dry-run` destroys nothing. Nothing is run or
looked up, but whether a file is there (`Surroundings.exists`).
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
    rules,
    system,
)
from vector_memory.observe.commands.command_line import MOST_WHAT, Act, CommandLine
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    GUARDED,
    HIGH,
    INFRASTRUCTURE,
    LOW,
    OVERWRITE,
    CommandSurroundings,
    Finding,
)
from vector_memory.text.shell import SHELLS

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
MOST_FINDINGS = 12
"""Of one call: a longer list tells nobody more."""
MOST_ACTS = 200

Judge = Callable[[Act, CommandLine], Iterator[Finding]]
_JUDGES: dict[str, tuple[Judge, ...]] = {
    **dict.fromkeys(("rm", "rimraf", "unlink", "rmdir", "srm", "grm"), (files.remove,)),
    **dict.fromkeys(("remove-item", "ri", "rd", "del", "erase"), (files.powershell,)),
    **dict.fromkeys(("find", "fd", "fdfind", "gfind"), (files.find,)),
    **dict.fromkeys(("shred", "wipe"), (files.shred,)),
    "truncate": (files.truncate,),
    "rsync": (files.rsync,),
    "mv": (files.move,),
    **dict.fromkeys(("cp", "install", "ln"), (files.emptied,)),
    **dict.fromkeys(databases.SQL_CLIENTS, (databases.sql_client,)),
    **dict.fromkeys(databases.MONGO_CLIENTS, (databases.mongo,)),
    **dict.fromkeys(databases.REDIS_CLIENTS, (databases.redis,)),
    "dd": (system.disks,),
}
_ALWAYS: tuple[Judge, ...] = (
    rules.judge,
    credentials.touched,
    credentials.shown,
    databases.stated,
    system.redirected,
    system.remote_code,
    system.processes,
)
_CONSOLES = {
    "rails": (("runner",), ("console",)),
    "manage.py": (("shell",), ("shell_plus",)),
    "artisan": (("tinker",),),
    "flask": (("shell",),),
}
"""Programs that run a script of another language, and their words for it."""
_SCRIPTED = re.compile(r"^(?:python[\d.]*|node|ruby|perl|php|deno|bun)$")


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
        line: its command as `lines.read` made it ready, where somebody did so already.
    """
    if tool in SHELL_TOOLS:
        found = of_command(str(given.get("command") or ""), around, line)
    elif tool in WRITERS:
        found = list(_of_edit(tool, given, around))
    elif tool == "Read":
        found = list(_of_reading(given, around))
    elif tool.startswith("mcp__"):
        found = list(_of_stranger(tool, given))
    else:
        return []
    return _distinct(found)


def of_command(
    command: str, around: CommandSurroundings, line: CommandLine | None = None
) -> list[Finding]:
    """Return what a command line would destroy."""
    line = line or command_line.read(command, around)
    found = list(system.bomb(command))
    for act in line.acts[:MOST_ACTS]:
        found += _of_act(act, line)
    return found


def _of_act(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.args[-1:] in (("--version",), ("--help",)):
        return
    for judge in (*_JUDGES.get(act.name, ()), *_ALWAYS):
        yield from judge(act, line)
    if _SCRIPTED.match(act.name) or act.name in _CONSOLES and act.args[:1] in _CONSOLES[act.name]:
        yield from _of_script(act, line)


def _of_script(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Judge a script of another language that stands in the line."""
    code = act.value("-c", "-e", "--eval", "-r", "--command", "--execute")
    if act.args[:1] == ("runner",):
        code = next(iter(act.args[1:2]), "")
    for script in [code, *databases.fed(act)]:
        if not script or act.name in SHELLS:
            continue
        yield from files.scripted(act, script, line)
        yield from credentials.scripted(act, script, line)
        yield from databases.scripted(act, script)
        yield from system.scripted(act, script)
        for command in files.shell_in(script)[:4]:
            inner = command_line.read(command, line.around)
            for one in inner.acts:
                if not _SCRIPTED.match(one.name):
                    yield from _of_act(one, inner)


def _distinct(found: Sequence[Finding]) -> list[Finding]:
    """Return findings once for each category and target, the gravest first."""
    ordered = sorted(found, key=lambda one: one.severity != HIGH)
    kept: dict[tuple[str, str], Finding] = {}
    for one in ordered:
        kept.setdefault((one.category, one.target), one)
    return list(kept.values())[:MOST_FINDINGS]


# -- tools of the client ---------------------------------------------------------------------------

_PIPELINES = (
    ".github/workflows/",
    ".circleci/",
    ".gitlab-ci",
    "Jenkinsfile",
    "azure-pipelines",
    "bitbucket-pipelines",
)
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
        parts += [one.get("new_string") for one in edits if isinstance(one, dict)]
    return "\n".join(one for one in parts if isinstance(one, str))


def _of_edit(tool: str, given: Mapping[str, Any], around: CommandSurroundings) -> Iterator[Finding]:
    path = path_of(given, around)
    if not path:
        return
    name, inner = posixpath.basename(path), around.within(path)
    what = f"{tool} {inner if inner is not None else path}"
    sensitive = credentials.sensitivity(path, around)
    if sensitive:
        yield Finding(CREDENTIALS, sensitive, what, "It changes credentials.", path)
    elif inner is None:
        if not files.is_made_again(path, around) and not path.startswith(
            ("/tmp/", "/private/tmp/")
        ):
            yield from system.outside(path, what, around.home)
    elif inner.startswith(".git/"):
        yield Finding(GUARDED, HIGH, what, "It changes git's own files.", path)
    elif name in files.PLAIN_FILES:
        yield Finding(GUARDED, LOW, what, "A package manager writes this file.", path)
    elif inner.startswith(_PIPELINES) and _TELLING.search(new_text(given)):
        yield Finding(
            CREDENTIALS, HIGH, what, "The pipeline would print or send its secrets.", path
        )
    if (
        tool == "Write"
        and not str(given.get("content") or "").strip()
        and inner
        and around.exists(path)
    ) and name not in ("__init__.py", "py.typed", ".gitkeep"):
        yield Finding(OVERWRITE, HIGH, what, "It empties a file.", path)


def _of_reading(given: Mapping[str, Any], around: CommandSurroundings) -> Iterator[Finding]:
    path = path_of(given, around)
    sensitive = credentials.sensitivity(path, around)
    if sensitive:
        yield Finding(CREDENTIALS, sensitive, f"Read {path}", "It shows credentials.", path)


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
        told = ", ".join(
            f"{key}={value}" for key, value in given.items() if isinstance(value, (str, int))
        )
        yield Finding(
            INFRASTRUCTURE,
            HIGH,
            f"{server}: {verb}({told})"[:MOST_WHAT],
            f"A tool of {server} deletes something.",
            told[:MOST_WHAT] or verb,
        )
