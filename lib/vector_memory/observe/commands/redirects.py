"""Which files a redirection, `tee` or an edit would empty or replace, and what lies outside the project."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from vector_memory.observe.commands.acts import WRITING, Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.files import is_made_again
from vector_memory.observe.commands.findings import (
    DELETE,
    GUARDED,
    HIGH,
    LOW,
    OUTSIDE,
    OVERWRITE,
    Finding,
)
from vector_memory.observe.commands.words import WORDS

_DISKS = tuple(f"/dev/{one}" for one in ("sd", "nvme", "hd", "vd", "xvd", "disk", "rdisk", "mmcblk", "mapper/", "md", "loop", "dm-"))  # fmt: skip
_PIPELINES = tuple(WORDS["pipeline"])
_PRECIOUS = tuple(WORDS["precious-ending"])
_MACHINE = tuple(WORDS["machine-folder"])


def is_pipeline(inner: str) -> bool:
    """Whether a path relative to the project is one of what builds and deploys it."""
    return inner.startswith(_PIPELINES)


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a redirection empties, and which outside the project it changes."""
    if act.elsewhere:
        return
    targets = [(sign, word) for sign, word in act.command.redirects if sign in WRITING]
    if act.name == "tee":
        targets += [(">>" if act.has("-a", "--append") else ">", word) for word in act.operands()]
    for sign, word in targets:
        path = line.around.path(word.text, act.folder) if word.plain and word.text else ""
        for found in _overwritten(act, line, ">>" in sign, path):
            told = found.what if word.text in found.what else f"{found.what} {sign} {word.text}"
            yield found._replace(what=told)


def _overwritten(act: Act, line: CommandLine, appending: bool, path: str) -> Iterator[Finding]:
    around, name = line.around, posixpath.basename(path)
    inner = around.within(path)
    if path.startswith(_DISKS):
        yield act.found(DELETE, HIGH, "It writes over a whole disk.", path)
    elif not path or path.startswith("/dev/") or is_made_again(path, around):
        return
    elif inner is None:
        yield from outside(path, act.what, around.home, LOW if appending else "")
    elif inner.startswith(".git/"):
        yield act.found(GUARDED, HIGH, "It changes git's own files.", path)
    elif appending:
        return
    elif _empties(act):
        is_file = around.exists(path) or "." in name
        if is_file and not name.startswith(".git") and name not in WORDS["empty-by-right"]:
            yield act.found(OVERWRITE, HIGH, "It empties a file.", path)
    elif path.endswith(_PRECIOUS):
        yield act.found(OVERWRITE, HIGH, "It writes over a database or git's settings.", path)
    elif is_pipeline(inner) and (around.exists(path) or act.name in ("echo", "printf")):
        yield act.found(OVERWRITE, HIGH, "It replaces what builds and deploys the project.", path)


def _empties(act: Act) -> bool:
    if act.command.given or act.feeding is not None:
        return False
    if act.name in ("echo", "printf"):
        return bool(act.args) and not any(act.texts())
    return act.name in (":", "true") or act.name == "cat" and act.args == ("/dev/null",)


def outside(path: str, what: str, home: str, severity: str = "") -> Iterator[Finding]:
    """Yield that a file outside the project is changed."""
    name = posixpath.basename(path)
    if path.startswith(home + "/.claude/") and not name.startswith("settings"):
        # The client's own plans and notes.
        return
    settings = "/.claude/" in path and name in ("settings.json", "settings.local.json")
    grave = settings or name in WORDS["shell-file"] or path.startswith(_MACHINE)
    why = "It changes a file outside the project."
    yield Finding(OUTSIDE, severity or (HIGH if grave else LOW), what, why, path)
