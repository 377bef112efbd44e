"""What a tool of another MCP server does, in the terms of the client's own: a command that is run, a file that is written.
Its name has to say just that, and the names of its arguments what with."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.analysis import parts_of

OWN = ("mcp--vector-memory", "mcp--plugin-vector-memory")
_PROGRAMS = dict(one.split("=") for one in sorted(WORDS["tool-program"]))
_POWERSHELLS = frozenset({"cmd", "powershell", "pwsh"})
MOST_NAMED = 60
MOST_ARGUMENTS = 200


def as_own(
    tool: str, given: Mapping[str, Any], around: CommandSurroundings
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tools of the client that do the same, each with what it is given; none where it only looks or tries."""
    if not tool.startswith("mcp__") or tool.replace("_", "-").startswith(OWN):
        return
    server, _, name = tool.removeprefix("mcp__").rpartition("__")
    parts, servers = parts_of(name), parts_of(server)
    names = {*parts, *servers}
    is_git = len(parts) == 2 and parts[0] == "git" and parts[1] in WORDS["git-tool"]
    is_shell = _says("shell-tool", "shell-tool-around", parts, servers) and not WORDS[
        "shell-name"
    ].isdisjoint(names)
    is_file = _says("file-tool", "file-tool-around", parts, servers) and not WORDS[
        "file-noun"
    ].isdisjoint(parts)
    if not (is_git or is_shell or is_file):
        return
    told = _by_name(given)
    if any(told[one] in (True, "true") for one in told if one in WORDS["trial-argument"]):
        return
    if is_git:
        yield "Bash", {"command": _git(parts, given, told)}
    elif is_shell:
        yield from _shell(names, told)
    elif WORDS["elsewhere-argument"].isdisjoint(told):
        yield from _files({*parts}, given, told, around)


def _by_name(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by their names in small letters: of a call with thousands the first."""
    return {"".join(parts_of(key)): value for key, value in islice(given.items(), MOST_ARGUMENTS)}


def _says(kind: str, around: str, parts: Sequence[str], servers: Sequence[str]) -> bool:
    """Whether a tool's name says what it does, and nothing else: `create_breakpoint_in_file` makes no file."""
    known = {*WORDS[kind], *WORDS[around], *servers}
    return known.issuperset(parts) and not WORDS[kind].isdisjoint(parts)


def _git(parts: Sequence[str], given: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return the command line of a tool that is named after a command of git."""
    flags = [one for one, value in islice(given.items(), MOST_ARGUMENTS) if value is True]
    options = [f"--{'-'.join(parts_of(one))}" for one in (*_texts("mode-argument", told), *flags)]
    named = [told[one] for one in ("remote", "branch", "branchname") if told.get(one)]
    return shlex.join((*parts, *options, *(one for one in named if isinstance(one, str))))


def _shell(names: set[str], told: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the command line that a tool runs, in its folder, elsewhere where a machine or a container is named."""
    command = " ".join(_texts("command-argument", told))
    if not command:
        return
    command = " ".join((command, *(_texts("rest-argument", told))))
    machines = _texts("machine-argument", told) or (["host"] if "ssh" in names else [])
    for machine in machines:
        command = f"ssh {shlex.quote(machine)} {shlex.quote(command)}"
    folder = "".join(f"cd {shlex.quote(one)}\n" for one in _texts("folder-argument", told))
    shells = {*names, *_texts("shell-argument", told)}
    own = "Bash" if machines or _POWERSHELLS.isdisjoint(shells) else "PowerShell"
    yield own, {"command": folder + command}


def _files(
    parts: set[str],
    given: Mapping[str, Any],
    told: Mapping[str, Any],
    around: CommandSurroundings,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a tool does to files: those that it is given by name, and those in lists of what is to be done."""
    program = next((_PROGRAMS[part] for part in sorted(parts) if part in _PROGRAMS), "")
    if not WORDS["folder-noun"].isdisjoint(parts):
        program = {"rm": "rm -r", "": "mkdir"}.get(program, program)
    lists = [told[one] for one in sorted(WORDS["list-argument"]) if isinstance(told.get(one), list)]
    items = [item for one in lists for item in one[:MOST_NAMED] if isinstance(item, Mapping)]
    each = [(given, told), *((item, _by_name(item)) for item in items[:MOST_NAMED])]
    for one, inner in each:
        ends = _texts("target-argument", inner)
        paths = _texts("path-argument", inner)
        if program in ("cp", "mv"):
            paths = (_texts("source-argument", inner) or paths) if ends else []
        # Beside files of this machine a relative path may name a page of a vault.
        paths = [one for one in paths if posixpath.isabs(one) or around.exists(around.path(one))]
        if program and paths:
            ends = ends if program in ("cp", "mv") else []
            yield "Bash", {"command": f"{program} {shlex.join((*paths, *ends))}"}
        elif not program:
            own = "Write" if isinstance(one.get("content"), str) else "Edit"
            yield from ((own, {**one, "file_path": path}) for path in paths)


def _texts(kind: str, told: Mapping[str, Any]) -> list[str]:
    """Return the texts of the arguments whose names say that they are such, in lists, too."""
    found: list[str] = []
    for value in (told[name] for name in told if name in WORDS[kind]):
        items = value[:MOST_NAMED] if isinstance(value, list) else [value]
        texts = [item for item in items if isinstance(item, str)]
        if kind in ("command-argument", "rest-argument") and texts and isinstance(value, list):
            # It is one command word by word, or one in each place.
            texts = ["\n".join(texts) if " " in texts[0] else shlex.join(texts)]
        found += texts
    return found[:MOST_NAMED]
