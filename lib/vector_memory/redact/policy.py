"""Which rules are in force: the user's, read from the client's CLAUDE.md, and those that a project's
own CLAUDE.md adds for it. Files are read when a text is cleaned, and again when they have changed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from vector_memory.redact import personal
from vector_memory.redact.rules import Rules, parse

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
"""What of a file is read; rules stand where people find them."""
LOOK_S = 1.0
"""How long a file is taken as unchanged before its time is looked at again."""


@dataclass(frozen=True)
class Policy:
    """What is kept out beside secrets: kinds of personal data, and the rules that users wrote."""

    personal: tuple[str, ...] = personal.DEFAULT
    rules: Rules = Rules()

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of personal data that are kept out, those of the rules' categories among them."""
        return tuple(dict.fromkeys((*self.personal, *self.rules.personal)))


_kinds: tuple[str, ...] = personal.DEFAULT
_project: ContextVar[str] = ContextVar("project", default="")
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
def for_project(root: str) -> Iterator[None]:
    """Let what is cleaned in this block keep to the rules of a project's folder too."""
    token = _project.set(root)
    try:
        yield
    finally:
        _project.reset(token)


def active() -> Policy:
    """Return what is in force here and now."""
    return _policy(_kinds, *(rules_of(path) for path in files(_project.get())))


@lru_cache(maxsize=256)
def _policy(kinds: tuple[str, ...], *found: Rules) -> Policy:
    rules = Rules()
    for one in found:
        rules = rules.plus(one)
    return Policy(kinds, rules)


def files(project: str = "") -> list[str]:
    """Return where rules may stand: the user's file, then those of a project's folder."""
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    own = [os.path.join(config, FILE)]
    if project:
        own += [os.path.join(project, FILE), os.path.join(project, ".claude", FILE)]
    return list(dict.fromkeys(own))


def rules_of(path: str) -> Rules:
    """Return the rules of a file; none where there is none."""
    now = time.monotonic()
    known = _looked.get(path)
    if known is None or now - known[0] > LOOK_S:
        if len(_looked) > 4_096:
            _looked.clear()
        known = _looked[path] = (now, _stamp(path))
    return _parsed(path, known[1])


def forget_files() -> None:
    """Look at every file anew."""
    _looked.clear()


def _stamp(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return (0, -1)
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=256)
def _parsed(path: str, stamp: tuple[int, int]) -> Rules:
    if stamp[1] < 0:
        return Rules()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_BYTES)
    except OSError as error:
        return Rules(problems=(f"{path} cannot be read: {error.strerror}",))
    return parse(text, path)
