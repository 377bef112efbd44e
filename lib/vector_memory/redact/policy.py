"""Which rules are in force: the user's, read from the CLAUDE.md of the client's configurations, and those that
a project's own CLAUDE.md adds for it. Files are read when a text is cleaned, and again when they have changed.

A configuration is a folder such as `~/.claude`. The user's default one always counts; a session's own, and the
one that a transcript lies in, are added: to name another folder loosens nothing."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from vector_memory.redact import personal
from vector_memory.redact.reading_rules import parse
from vector_memory.redact.rules import Rules
from vector_memory.system.files import read_text
from vector_memory.system.private import is_of_project

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
"""What of a file is read; rules stand where people find them."""
LOOK_S = 1.0
"""How long a file is taken as unchanged before its time is looked at again."""


@dataclass(frozen=True)
class Policy:
    """What is kept out beside secrets: kinds of personal data, and the rules of each file."""

    personal: tuple[str, ...] = personal.DEFAULT
    rules: tuple[Rules, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of personal data that are kept out, those of the rules' categories among them."""
        of_rules = [kind for rules in self.rules for kind in rules.personal]
        return (*self.personal, *of_rules)


class File(NamedTuple):
    """A file that may hold rules, and the folder of whoever shipped it: "" for the user's own."""

    path: str
    root: str


_kinds: tuple[str, ...] = personal.DEFAULT
_folders: ContextVar[tuple[str, ...]] = ContextVar("folders", default=())
_configurations: ContextVar[tuple[str, ...]] = ContextVar("configurations", default=())
_looked: dict[str, tuple[float, tuple[int, int]]] = {}


def configure(kinds: tuple[str, ...]) -> None:
    """Set the kinds of personal data that are always kept out.

    Raises:
        ValueError: there is no such kind.
    """
    global _kinds
    unknown = sorted(set(kinds) - set(personal.KINDS))
    if unknown:
        raise ValueError(f"unknown kind of personal data: {unknown[0]}")
    _kinds = tuple(kinds)


@contextlib.contextmanager
def for_project(
    folders: tuple[str, ...], configurations: Sequence[str] | None = None
) -> Iterator[None]:
    """Let what is cleaned in this block keep to the rules of a project's folders too (`Place.folders`), and to those
    of some configurations beside the default one; by default those that count already."""
    if configurations is None:
        configurations = _configurations.get()
    paths = (folder for folder in configurations if os.path.isabs(folder) and "\0" not in folder)
    project = _folders.set(folders)
    token = _configurations.set(tuple(dict.fromkeys(paths)))
    try:
        yield
    finally:
        _folders.reset(project)
        _configurations.reset(token)


def configurations() -> tuple[str, ...]:
    """Return the configurations that count here beside the default one."""
    return _configurations.get()


def configuration_of(transcript: str) -> tuple[str, ...]:
    """Return the configuration that a transcript lies in, as the client lays them out: its folder
    `projects` holds them."""
    parent, folder = os.path.split(os.path.dirname(transcript))
    while folder:
        if folder == "projects":
            return (parent,)
        parent, folder = os.path.split(parent)
    return ()


def active() -> Policy:
    """Return what is in force here and now."""
    each_file = (rules_of(*file) for file in files(_folders.get()))
    return Policy(_kinds, tuple(rules for rules in each_file if rules or rules.problems))


def files(folders: tuple[str, ...] = ()) -> list[File]:
    """Return where rules may stand: the user's files, then those of a project's folders."""
    default = os.path.join(os.path.expanduser("~"), ".claude")
    own_folders = [os.environ.get("CLAUDE_CONFIG_DIR") or default, default]
    owners = {os.path.join(folder, FILE): "" for folder in own_folders if os.path.isabs(folder)}
    for folder in _configurations.get():
        owners.setdefault(os.path.join(folder, FILE), _owner(folder, folders))
    for folder in filter(None, folders):
        owners.setdefault(os.path.join(folder, FILE), folder)
        owners.setdefault(os.path.join(folder, ".claude", FILE), folder)
    return [File(*folder) for folder in owners.items()]


@lru_cache(maxsize=256)
def _owner(configuration: str, folders: tuple[str, ...]) -> str:
    """Return who shipped a configuration that a session named: "" for the user, else a folder. What lies in
    a project is the project's, whatever names it."""
    for folder in filter(None, folders):
        if is_of_project(configuration, folder):
            return folder
    real = os.path.realpath(configuration)
    try:
        is_own = not hasattr(os, "geteuid") or os.stat(real).st_uid == os.geteuid()
    except OSError:
        return real
    return "" if is_own else real


def active_files() -> list[File]:
    """Return where rules may stand that are in force here and now."""
    return files(_folders.get())


def stamp_of(path: str) -> tuple[int, int]:
    """Return a file's time in nanoseconds and its size, looked at again after a second; (0, -1) where there is
    none."""
    now = time.monotonic()
    entry = _looked.get(path)
    if entry is None or now - entry[0] > LOOK_S:
        if len(_looked) > 4_096:
            _looked.clear()
        entry = _looked[path] = (now, _stamp(path))
    return entry[1]


def rules_of(path: str, root: str = "") -> Rules:
    """Return the rules of a file; none where there is none.

    Args:
        root: of a file that is not the user's own, the folder of whoever shipped it: a link that leads out
            of it is not followed. The user's own file may be a link to anywhere.
    """
    return _parsed(path, root, stamp_of(path))


def given_up() -> list[list[str]]:
    """Return the rules in force here that are not followed any more, for another process: the file, whose
    it is, the line, and why."""
    return [
        [*file, str(rule.line), rule.over]
        for file in files(_folders.get())
        for rule in rules_of(*file).rules
        if rule.over
    ]


def give_up(over: Sequence[Sequence[str]]) -> None:
    """Stop following rules of which another process found that they cannot be."""
    for path, root, line, why in over:
        rules_of(path, root).drop(int(line), why)


def forget_files() -> None:
    """Look at every file anew."""
    _looked.clear()
    _owner.cache_clear()


def _stamp(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return (0, -1)
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=256)
def _parsed(path: str, root: str, stamp: tuple[int, int]) -> Rules:
    if stamp[1] < 0:
        return Rules()
    try:
        text = read_text(path, MOST_BYTES, root)
    except OSError as error:
        reason = error.strerror or str(error)
        return Rules(problems=(f"{path} cannot be read: {reason}",), path=path)
    return parse(text, path, binding=not root)
