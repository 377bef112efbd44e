"""What a tool of another MCP server does, in the terms of the client's own: a command that is run, a file that is written.
Its name has to say just that, and the names of its arguments what with."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.commands.rules import RULES
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.analysis import parts_of

OWN = ("mcp--vector-memory", "mcp--plugin-vector-memory")
_PROGRAMS = dict(pair.split("=") for pair in sorted(WORDS["tool-program"]))
_POWERSHELLS = frozenset({"cmd", "powershell", "pwsh"})
_REFS = ("remote", "branch", "branchname")
_ARGUMENTS = frozenset(_REFS).union(
    *(names for kind, names in WORDS.items() if kind.endswith("-argument"))
)
MOST_NAMED = 60
MOST_NAME = 40
"""Characters of an argument's name: a longer one is none of those."""


def as_own(
    tool: str, arguments: Mapping[str, Any], site: CallSite
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tools of the client that do the same, each with what it is given; none where it only looks or tries."""
    if not tool.startswith("mcp__") or tool.replace("_", "-").startswith(OWN):
        return
    server, _, name = tool.removeprefix("mcp__").rpartition("__")
    parts, servers = parts_of(name), parts_of(server)
    names = {*parts, *servers}
    is_git = len(parts) == 2 and parts[0] == "git" and parts[1] in WORDS["git-tool"]
    is_shell = _does_only("shell-tool", "shell-tool-around", parts, servers)
    is_shell = is_shell and not WORDS["shell-name"].isdisjoint(names)
    is_file = _does_only("file-tool", "file-tool-around", parts, servers)
    is_file = is_file and not WORDS["file-noun"].isdisjoint(parts)
    # Who writes a script runs none; who writes to a terminal does.
    is_shell = is_shell and not {"write", "script"}.issubset(parts)
    if not (is_git or is_shell or is_file):
        return
    by_name = _by_name(arguments)
    trials = (by_name[name] for name in by_name if name in WORDS["trial-argument"])
    # A shell tries nothing: it runs what it is given, whatever else that says.
    if not is_shell and any(value in (True, "true") for value in trials):
        return
    if is_git:
        yield "Bash", {"command": _git_command(parts, arguments, by_name)}
    elif is_shell:
        yield from _shell_calls(names, by_name)
    elif WORDS["elsewhere-argument"].isdisjoint(by_name):
        is_vault = not WORDS["vault-name"].isdisjoint(names)
        yield from _file_calls({*parts}, is_vault, arguments, by_name, site)


def _by_name(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are known, by their names in small letters."""
    named = (
        ("".join(parts_of(key)), value) for key, value in arguments.items() if len(key) <= MOST_NAME
    )
    return {name: value for name, value in named if name in _ARGUMENTS}


def _does_only(kind: str, filler_kind: str, parts: Sequence[str], servers: Sequence[str]) -> bool:
    """Whether a tool's name says what it does, and nothing else: `create_breakpoint_in_file` makes no file."""
    known_parts = {*WORDS[kind], *WORDS[filler_kind], *servers}
    return known_parts.issuperset(parts) and not WORDS[kind].isdisjoint(parts)


def _git_command(
    parts: Sequence[str], arguments: Mapping[str, Any], by_name: Mapping[str, Any]
) -> str:
    """Return the command line of a tool that is named after a command of git."""
    flags = [name for name, value in arguments.items() if value is True and len(name) <= MOST_NAME]
    options = [
        f"--{'-'.join(parts_of(flag))}" for flag in (*_texts("mode-argument", by_name), *flags)
    ]
    judged = {
        option
        for rule in RULES.get(" ".join(parts), ())
        for condition in rule.conditions.split()
        for option in condition.lstrip("!").split(",")
    }
    # Of many flags those come first that a rule asks for.
    options.sort(key=lambda option: option not in judged)
    refs = [by_name[name] for name in _REFS if by_name.get(name)]
    texts = (text for text in refs if isinstance(text, str))
    return shlex.join((*parts, *options[:MOST_NAMED], *texts))


def _shell_calls(
    names: set[str], by_name: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the command lines that a tool may run, in its folder, elsewhere where a machine or a container is named."""
    is_machine = not WORDS["machine-name"].isdisjoint(names)
    # Of several machines one stands for all, as each would be given the same.
    machine = next(filter(None, _texts("machine-argument", by_name)), "host" * is_machine)
    folder = "".join(f"cd {shlex.quote(path)}\n" for path in _texts("folder-argument", by_name))
    shells = {*names, *_texts("shell-argument", by_name)}
    tool = "Bash" if machine or _POWERSHELLS.isdisjoint(shells) else "PowerShell"
    # Of several such arguments each is a line of its own: one that is no command may hide no other.
    for text in _texts("command-argument", by_name):
        command = " ".join((text, *_texts("rest-argument", by_name)))
        if machine:
            command = f"ssh {shlex.quote(machine)} {shlex.quote(command)}"
        yield tool, {"command": folder + command}


def _is_here(path: str, is_vault: bool, site: CallSite) -> bool:
    """Whether a path names a file here. A bare name that is not there, or any relative path that is not there of a
    vault, may name one of the server's own."""
    top = posixpath.normpath(path).partition("/")[0]
    if top in ("", "~", ".."):
        return True
    places = [path] if is_vault else [path, top]
    return any(site.exists(site.path(place)) for place in places)


def _file_calls(
    parts: set[str],
    is_vault: bool,
    arguments: Mapping[str, Any],
    by_name: Mapping[str, Any],
    site: CallSite,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a tool does to files: those that it is given by name, and those in lists of what is to be done."""
    program = next((_PROGRAMS[part] for part in sorted(parts) if part in _PROGRAMS), "")
    if not WORDS["folder-noun"].isdisjoint(parts):
        program = {"rm": "rm -r", "": "mkdir"}.get(program, program)
    lists = [
        by_name[name]
        for name in sorted(WORDS["list-argument"])
        if isinstance(by_name.get(name), list)
    ]
    items = [item for listed in lists for item in listed[:MOST_NAMED] if isinstance(item, Mapping)]
    entries = [(arguments, by_name), *((item, _by_name(item)) for item in items[:MOST_NAMED])]
    for item, item_by_name in entries:
        ends = _texts("target-argument", item_by_name)
        paths = _texts("path-argument", item_by_name)
        if program in ("cp", "mv"):
            paths = (_texts("source-argument", item_by_name) or paths) if ends else []
        paths = [path for path in paths if _is_here(path, is_vault, site)]
        if program and paths:
            ends = ends if program in ("cp", "mv") else []
            yield "Bash", {"command": f"{program} {shlex.join((*paths, *ends))}"}
        elif not program:
            tool = "Write" if isinstance(item.get("content"), str) else "Edit"
            yield from ((tool, {**item, "file_path": path}) for path in paths)


def _texts(kind: str, by_name: Mapping[str, Any]) -> list[str]:
    """Return the texts of the arguments whose names say that they are such, in lists, too."""
    all_texts: list[str] = []
    for value in (by_name[name] for name in by_name if name in WORDS[kind]):
        items = value[:MOST_NAMED] if isinstance(value, list) else [value]
        texts = [item for item in items if isinstance(item, str)]
        if kind in ("command-argument", "rest-argument") and texts and isinstance(value, list):
            # It is one command word by word, or one in each place.
            texts = ["\n".join(texts) if " " in texts[0] else shlex.join(texts)]
        all_texts += texts
    return all_texts[:MOST_NAMED]
