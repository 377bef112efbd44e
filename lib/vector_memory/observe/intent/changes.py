"""What a tool call does, in the words that limits are made of: an act, and what it is done to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vector_memory.observe.commands import command_line, databases, judge
from vector_memory.observe.commands.acts import Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.intent import limits
from vector_memory.text import tables

NEW, GONE, FOLDER = limits.CREATE, limits.DELETE, "folder"
FILE_KINDS = frozenset({limits.EDIT, NEW, GONE, limits.MOVE})
MOST_TEXT, MOST_NAMED = 4_000, 60


class FileChange(NamedTuple):
    """Something that a call does: to a file (absolute path), or to `what`: a branch, a package, a command.
    `before` and `after` are the words that an edit replaces, where the call tells them."""

    kind: str
    path: str = ""
    what: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class CallView:
    """One call: what it does, which paths (absolute) it names, its words."""

    changes: tuple[FileChange, ...] = ()
    named: tuple[str, ...] = ()
    text: str = ""


def of_call(
    tool: str,
    given: Mapping[str, Any],
    around: CommandSurroundings,
    line: CommandLine | None = None,
) -> CallView:
    """Return what a call does and names.

    Args:
        line: its command as `command_line.read` made it ready, where somebody did so already.
    """
    if tool in judge.SHELL_TOOLS:
        command = str(given.get("command") or "")
        acts = (line or command_line.read(command, around)).acts[: judge.MOST_ACTS]
        named = tuple(dict.fromkeys(path for act in acts for path in _named(act, around)))
        words = f"{command[:MOST_TEXT]} {given.get('description') or ''}"
        changes = (
            *_of_acts(acts, around),
            *(FileChange(limits.READ, path) for path in named[:MOST_NAMED]),
        )
        return CallView(changes, named[:MOST_NAMED], words)
    path, after = judge.path_of(given, around), judge.new_text(given)[:MOST_TEXT]
    text = " ".join(str(value)[:MOST_TEXT] for value in given.values() if isinstance(value, str))
    named = (path,) if path else ()
    if tool in judge.WRITERS and path:
        kind = NEW if tool == "Write" and not around.exists(path) else limits.EDIT
        before = str(given.get("old_string") or "")[:MOST_TEXT]
        return CallView((FileChange(kind, path, "", before, after),), named, f"{text} {after}")
    deeds = [FileChange(limits.READ, path)] if path else []
    if tool in ("WebFetch", "WebSearch"):
        deeds.append(FileChange(limits.NETWORK, what=str(given.get("url") or tool)))
    return CallView(tuple(deeds), named, f"{text} {after}")


def _named(act: Act, around: CommandSurroundings) -> Iterator[str]:
    for word in act.words:
        is_path = (
            1 < len(word.text) < 200
            and re.match(r"[^\s-]\S*$", word.text)
            and re.search(r"[/.]", word.text)
        )
        path = around.path(word.text.rstrip("/"), act.folder) if word.plain and is_path else ""
        if path and around.within(path) not in (None, "."):
            yield path


# -- shell -----------------------------------------------------------------------------------------

_INSTALLERS = tables.groups("installers")
_INSTALL_TAKES = "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --group -G --registry --version --python -E --source"
_FETCHERS = frozenset({"curl", "wget", "http", "https", "xh", "aria2c"})
_LOCAL = re.compile(r"(?://|\s|^)(?:localhost|127\.|\[::1\]|0\.0\.0\.0)")
_TRIAL = frozenset(["--check", "--diff", "--dry-run", "--list-different", "-l", "--list", "--plan", "--help", "--version", "--noEmit", "--collect-only", "status"])  # fmt: skip


def _of_acts(acts: Sequence[Act], around: CommandSurroundings) -> Iterator[FileChange]:
    branch = ""
    for act in acts:
        targets = [word for sign, word in act.command.redirects if ">" in sign]
        for path in _paths([*targets, *(act.operands() if act.name == "tee" else ())], act, around):
            if not path.startswith("/dev/"):
                yield FileChange(limits.EDIT if around.exists(path) else NEW, path)
        if act.name == "git":
            for change in _of_git(act, around, branch):
                branch = change.what.split()[-1] if change.kind == limits.BRANCH else branch
                yield change
        else:
            yield from _of_program(act, around)
        if _TRIAL.isdisjoint(act.args):
            yield from (FileChange(limits.RUN, what=one) for one in act.command.via)
            yield FileChange(
                limits.RUN, what="\0".join((act.program or act.name, *act.args))[:MOST_TEXT]
            )


def _of_program(act: Act, around: CommandSurroundings) -> Iterator[FileChange]:
    name, words = act.name, act.operands()
    if name == "gh" and act.texts()[:2] in (["pr", "create"], ["pr", "merge"]):
        yield FileChange(
            limits.REQUEST if "create" in act.args else limits.MERGE, what="pull request into main"
        )
    elif name in ("rm", "unlink", "rmdir", "shred", "rimraf"):
        yield from (FileChange(GONE, path) for path in _paths(words, act, around))
    elif name in ("mv", "cp", "install", "ln") and len(words) >= 2:
        paths = list(_paths(words, act, around))
        yield from (FileChange(limits.MOVE, path) for path in paths[:-1] if name == "mv")
        yield from (FileChange(NEW, path) for path in paths[-1:])
    elif name in ("mkdir", "touch", "truncate"):
        kind = FOLDER if name == "mkdir" else NEW
        yield from (
            FileChange(kind, path) for path in _paths(act.operands("-m -s -d -r -t"), act, around)
        )
    elif name in ("sed", "gsed", "perl") and re.search(
        r"(?:^| )(?:-\w*i|--in-place)", " ".join(act.args)
    ):
        files = act.operands("-e -f --expression")[0 if act.has("-e", "--expression") else 1 :]
        yield from (FileChange(limits.EDIT, path) for path in _paths(files, act, around))
    elif name in _INSTALLERS:
        given = act.texts(_INSTALL_TAKES)
        for one in given[1:] if given and given[0] in _INSTALLERS[name] else ():
            if not re.search(r"^[./~]|\.(?:whl|txt|toml)$", one):
                yield FileChange(limits.INSTALL, what=one)
    if name in databases.PROGRAMS:
        yield FileChange(limits.DATABASE, what=name, after="\n".join(databases.scripts(act)))
    elif name in _FETCHERS and not _LOCAL.search(" ".join(act.args)):
        yield FileChange(limits.NETWORK, what=name)


def _of_git(act: Act, around: CommandSurroundings, branch: str) -> Iterator[FileChange]:
    """Yield what git does; `branch` is the one that the line went to before."""
    words = act.texts("-C -c -m -F --author --date") or [""]
    verb, rest = words[0], " ".join(words[1:])
    paths = list(_paths(act.operands("-C -c")[1:], act, around))
    if act.has("--dry-run"):
        return
    if verb in ("switch", "checkout") and (verb == "switch" or _is_branch(act, words, around)):
        yield FileChange(
            limits.BRANCH, what=act.value("-b", "-B", "-c", "-C", "--orphan") or rest or verb
        )
    elif verb in ("checkout", "restore") and not act.has("--staged"):
        yield from (FileChange(limits.EDIT, path) for path in paths)
    elif verb in ("fetch", "pull", "clone"):
        yield FileChange(limits.NETWORK, what=f"git {verb}")
    elif verb in ("commit", "merge"):
        yield FileChange(limits.COMMIT if verb == "commit" else limits.MERGE, what=branch)
    elif verb == "push":
        is_forced = act.has("-f", "--force", "--force-with-lease", "--mirror") or "+" in rest
        yield FileChange(limits.PUSH, what=f"{rest} {branch}" + f" {limits.FORCE}" * is_forced)
    elif verb in ("rm", "mv") and not act.has("--cached"):
        sources = paths if verb == "rm" else paths[:-1]
        yield from (FileChange(GONE if verb == "rm" else limits.MOVE, path) for path in sources)
        yield from (FileChange(NEW, path) for path in paths[len(sources) :])
    if verb in ("rebase", "filter-branch", "filter-repo") or act.has("--amend"):
        yield FileChange(limits.HISTORY, what=f"git {verb}")


def _is_branch(act: Act, words: Sequence[str], around: CommandSurroundings) -> bool:
    """Whether `git checkout` is given a branch, and no file."""
    if "--" in act.args or len(words) != 2:
        return act.has("-b", "-B", "--orphan")
    return not around.exists(around.path(words[1], act.folder)) and words[1] != "."


def _paths(words: Sequence[Any], act: Act, around: CommandSurroundings) -> Iterator[str]:
    for word in words:
        if word.plain and word.text and not act.elsewhere:
            path = around.path(word.text.rstrip("/*") or word.text, act.folder)
            if path and posixpath.basename(path) != "-":
                yield path
