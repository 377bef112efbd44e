"""What a tool call changes and what it looks at: the view that drift is told from."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vector_memory.observe.commands import command_line, databases, judge
from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import CommandSurroundings

EDIT, NEW, GONE, FOLDER, INSTALL, COMMIT, PUSH, REQUEST, DATABASE, NETWORK, BRANCH = (
    "edit", "new", "delete", "folder", "install", "commit", "push", "pull-request", "database", "network", "branch",
)  # fmt: skip
MOVED = "moved"
"""What a file that is gone is by another name."""
MOST_TEXT = 4_000
MOST_NAMED = 60
FILE_KINDS = frozenset({EDIT, NEW, GONE})


class FileChange(NamedTuple):
    """Something that a call changes: a file (absolute path), or by a command (`what` it is about).
    `before` and `after` are the words that an edit replaces, where the call tells them."""

    kind: str
    path: str = ""
    what: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class CallView:
    """One call: what it changes, which paths (absolute) it names, its words, its command."""

    changes: tuple[FileChange, ...] = ()
    named: tuple[str, ...] = ()
    text: str = ""
    command: str = ""


def of_call(
    tool: str,
    given: Mapping[str, Any],
    around: CommandSurroundings,
    line: CommandLine | None = None,
) -> CallView:
    """Return what a call changes and names.

    Args:
        line: its command as `lines.read` made it ready, where somebody did so already.
    """
    if tool in judge.SHELL_TOOLS:
        command = str(given.get("command") or "")
        line = line or command_line.read(command, around)
        acts = line.acts[: judge.MOST_ACTS]
        changes = tuple(one for act in acts for one in _of_act(act, around))
        named = dict.fromkeys(path for act in acts for path in _named(act, around))
        words = f"{command[:MOST_TEXT]} {given.get('description') or ''}"
        return CallView(changes, tuple(named)[:MOST_NAMED], words, command[:MOST_TEXT])
    path = judge.path_of(given, around)
    text = " ".join(str(value)[:MOST_TEXT] for value in given.values() if isinstance(value, str))
    text += " " + judge.new_text(given)[:MOST_TEXT]
    if tool in judge.WRITERS and path:
        before = str(given.get("old_string") or "")[:MOST_TEXT]
        is_new = tool == "Write" and not around.exists(path)
        after = judge.new_text(given)[:MOST_TEXT]
        return CallView(
            (FileChange(NEW if is_new else EDIT, path, "", before, after),), (path,), text
        )
    return CallView((), (path,) if path else (), text)


def _named(act: Act, around: CommandSurroundings) -> Iterator[str]:
    for one in act.words:
        text = one.text
        if (
            one.plain
            and 1 < len(text) < 200
            and not text.startswith("-")
            and " " not in text
            and ("/" in text or "." in text)
        ):
            path = around.path(text.rstrip("/"), act.folder)
            if path and around.within(path) not in (None, "."):
                yield path


# -- shell -----------------------------------------------------------------------------------------

_INSTALLS: dict[str, tuple[str, ...]] = {
    "pip": ("install",), "pip3": ("install",), "uv": ("add",), "poetry": ("add",), "pdm": ("add",), "pipenv": ("install",),
    "npm": ("install", "i", "add"), "pnpm": ("add", "install", "i"), "yarn": ("add",), "bun": ("add", "install"), "cargo": ("add", "install"),
    "go": ("get", "install"), "gem": ("install",), "bundle": ("add",), "composer": ("require",), "apt": ("install",),
    "apt-get": ("install",), "brew": ("install",), "dnf": ("install",), "yum": ("install",), "apk": ("add",), "conda": ("install",),
    "dotnet": ("add",), "mix": (), "pipx": ("install",), "hatch": (), "deno": ("add", "install"), "rye": ("add",),
}  # fmt: skip
_FETCHERS = frozenset({"curl", "wget", "http", "https", "xh", "aria2c"})
_LOCAL = re.compile(r"//(?:localhost|127\.|\[::1\]|0\.0\.0\.0)")
_INSTALL_TAKES = "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --group -G --registry --version --python -E --source"


def _of_act(act: Act, around: CommandSurroundings) -> Iterator[FileChange]:
    yield from _written(act, around)
    name = act.name
    if name == "git":
        yield from _of_git(act, around)
    elif name == "gh" and act.texts()[:2] == ["pr", "create"]:
        yield FileChange(REQUEST, what="pull request")
    elif name in ("rm", "unlink", "rmdir", "shred", "rimraf") and not act.elsewhere:
        yield from (FileChange(GONE, path) for path in _paths(act.operands(), act, around))
    elif name in ("mv", "cp", "install", "ln") and len(act.operands()) >= 2:
        paths = list(_paths(act.operands(), act, around))
        if name == "mv":
            yield from (FileChange(GONE, path, MOVED) for path in paths[:-1])
        yield from (FileChange(NEW, path) for path in paths[-1:])
    elif name == "mkdir":
        yield from (FileChange(FOLDER, path) for path in _paths(act.operands("-m"), act, around))
    elif name in ("touch", "truncate"):
        yield from (
            FileChange(NEW, path) for path in _paths(act.operands("-s -d -r -t"), act, around)
        )
    elif name in ("sed", "gsed", "perl") and any(
        re.match(r"^-\w*i|^--in-place", one) for one in act.args
    ):
        words = act.operands("-e -f --expression")
        files = words if act.has("-e", "--expression") else words[1:]
        yield from (FileChange(EDIT, path) for path in _paths(files, act, around))
    elif name in _INSTALLS:
        yield from _installed(act)
    if name in databases.PROGRAMS:
        yield FileChange(DATABASE, what=name, after="\n".join(databases.scripts(act)))
    elif name in _FETCHERS and not _LOCAL.search(" ".join(act.args)):
        yield FileChange(NETWORK, what=name)


def _installed(act: Act) -> Iterator[FileChange]:
    words = act.texts(_INSTALL_TAKES)
    if words[:1] == ["add"] and act.name == "dotnet":
        words = ["add", *words[2:]]
    if not words or words[0] not in _INSTALLS[act.name]:
        return
    for one in words[1:]:
        if not one.startswith((".", "/", "~")) and not one.endswith((".whl", ".txt", ".toml")):
            yield FileChange(INSTALL, what=one)


def _of_git(act: Act, around: CommandSurroundings) -> Iterator[FileChange]:
    words = act.texts("-C -c -m -F --author --date")
    verb = words[0] if words else ""
    if act.has("--dry-run"):
        return
    if verb == "switch" or (verb == "checkout" and _is_branch(act, words, around)):
        yield FileChange(BRANCH, what=" ".join(words[1:]) or verb)
    elif verb in ("fetch", "pull", "clone"):
        yield FileChange(NETWORK, what=f"git {verb}")
    elif verb == "commit":
        yield FileChange(COMMIT, what="commit")
    elif verb == "push":
        yield FileChange(PUSH, what=" ".join(words[1:]))
    elif verb in ("rm", "mv") and not act.has("--cached"):
        paths = list(_paths(act.operands("-C -c")[1:], act, around))
        what = MOVED if verb == "mv" else ""
        yield from (
            FileChange(GONE, path, what) for path in (paths if verb == "rm" else paths[:-1])
        )
        yield from (FileChange(NEW, path) for path in (() if verb == "rm" else paths[-1:]))


def _is_branch(act: Act, words: Sequence[str], around: CommandSurroundings) -> bool:
    """Whether `git checkout` is given a branch, and no file."""
    if "--" in act.args or len(words) != 2:
        return act.has("-b", "-B", "--orphan")
    return not around.exists(around.path(words[1], act.folder)) and words[1] != "."


def _written(act: Act, around: CommandSurroundings) -> Iterator[FileChange]:
    targets = [
        word for sign, word in act.command.redirects if sign in (">", ">>", "&>", ">|", "&>>")
    ]
    if act.name == "tee":
        targets += act.operands()
    for path in _paths(targets, act, around):
        if not path.startswith("/dev/"):
            yield FileChange(EDIT if around.exists(path) else NEW, path)


def _paths(words: Sequence[Any], act: Act, around: CommandSurroundings) -> Iterator[str]:
    for one in words:
        if one.plain and one.text and not act.elsewhere:
            path = around.path(one.text.rstrip("/*") or one.text, act.folder)
            if path and posixpath.basename(path) != "-":
                yield path
