"""What a tool of another MCP server does, in the terms of the client's own: a command that is run, a file that is written.
The verbs in its name and the names of its arguments say it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from vector_memory.observe.commands.words import WORDS
from vector_memory.text.analysis import parts_of

OWN = ("mcp--vector-memory", "mcp--plugin-vector-memory")
_PROGRAMS = dict(one.split("=") for one in sorted(WORDS["tool-program"]))
_FOLDERS = frozenset({"project", "remote", "repo", "repository", "root", "working"})
"""How the names of arguments begin that are paths of no file to be written here."""
_POWERSHELLS = frozenset({"cmd", "powershell", "pwsh"})
MOST_NAMED = 60


def verbs_of(tool: str) -> list[str]:
    """Return the words by which another server's tool says what it changes or runs, [] for one that only looks."""
    is_other = tool.startswith("mcp__") and not tool.replace("_", "-").startswith(OWN)
    verbs = parts_of(tool.rpartition("__")[2]) if is_other else []
    looks = not WORDS["looking-tool"].isdisjoint(verbs[: 1 + (verbs[:1] == ["git"])])
    return [] if looks and "and" not in verbs else verbs


def as_own(tool: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tools of the client that do the same, each with what it is given."""
    verbs, machines = verbs_of(tool), _named("machine-argument", given)
    paths = [] if machines else _named("path-argument", given)
    program = next((_PROGRAMS[verb] for verb in verbs if verb in _PROGRAMS), "")
    command = " ".join(_named("command-argument", given))
    if verbs[:1] == ["git"]:
        modes = [str(given.get("mode", "")), *(name for name in given if given[name] is True)]
        yield "Bash", {"command": " ".join((*verbs, *(f"--{mode}" for mode in modes if mode)))}
    elif command and not WORDS["running-tool"].isdisjoint(verbs):
        for machine in machines:
            command = f"ssh {shlex.quote(machine)} {shlex.quote(command)}"
        folder = "".join(f"cd {shlex.quote(one)}\n" for one in _named("folder-argument", given))
        is_bash = _POWERSHELLS.isdisjoint(_named("shell-argument", given))
        yield "Bash" if is_bash else "PowerShell", {"command": folder + command}
    elif program and paths:
        yield "Bash", {"command": f"{program} {shlex.join(paths)}"}
    elif not WORDS["writing-tool"].isdisjoint(verbs):
        own = "Write" if isinstance(given.get("content"), str) else "Edit"
        yield from ((own, {**given, "file_path": path}) for path in paths)


def _named(kind: str, given: Mapping[str, Any]) -> list[str]:
    """Return the texts of the arguments whose names say that they are such, also of those within lists."""
    found: list[str] = []
    for name, value in given.items():
        parts = parts_of(name)
        is_one = not WORDS[kind].isdisjoint((*parts[-1:], "".join(parts)))
        items = value if isinstance(value, list) else [value]
        texts = [item for item in items if isinstance(item, str)]
        if kind == "command-argument" and texts and isinstance(value, list):
            # It is one command word by word, or one in each place.
            texts = ["\n".join(texts) if " " in texts[0] else shlex.join(texts)]
        found += texts if is_one and _FOLDERS.isdisjoint(parts[:1]) else []
        inner = (item for item in items if isinstance(item, Mapping))
        found += [text for item in inner for text in _named(kind, item)]
    return found[:MOST_NAMED]
