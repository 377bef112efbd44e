"""What an observer finds, and what it has to know of the place where a tool is called."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from vector_memory.observe.commands.words import WORDS

HIGH, LOW = "high", "low"

CATEGORIES = {
    "force-push": "overwrites or deletes what others have pulled",
    "history": "rewrites or deletes commits",
    "discard": "throws away work that is not committed",
    "delete": "deletes files",
    "overwrite": "empties or replaces files",
    "data": "deletes data of a database",
    "infrastructure": "deletes what runs elsewhere or was published",
    "credentials": "shows or changes credentials",
    "permissions": "opens or changes permissions widely",
    "remote-code": "runs code unread, from the network or hidden",
    "processes": "ends processes widely, or the machine",
    "outside": "changes files outside the project",
    "guarded": "changes files that tools keep",
    "limit": "breaks a limit that the user set",
    "contract": "breaks a contract that the user made",
    "scope-drift": "changes what nobody spoke of",
    "target-drift": "has long done nothing of what was asked",
}
"""What may be found, and what each does, in words."""
(
    FORCE_PUSH, HISTORY, DISCARD, DELETE, OVERWRITE, DATA, INFRASTRUCTURE, CREDENTIALS, PERMISSIONS,
    REMOTE_CODE, PROCESSES, OUTSIDE, GUARDED, LIMIT, CONTRACT, SCOPE_DRIFT, TARGET_DRIFT,
) = CATEGORIES  # fmt: skip
SCRATCH = tuple(WORDS["scratch"])


class Finding(NamedTuple):
    """Something that a tool call would do.

    Attributes:
        category: one of `CATEGORIES`.
        severity: HIGH, or LOW for what is easily undone or may well be meant.
        words: those of the call, as they stand: whoever keeps them redacts them.
        why: what is bad about it, in one sentence of ours that may quote a name.
        target: what it would be done to; findings of one category and target are one to the user.
    """

    category: str
    severity: str
    words: str
    why: str
    target: str = ""


@dataclass(frozen=True)
class CallSite:
    """Where a tool is called.

    Attributes:
        root: the project's folder; cwd: where the session is; home: the user's home. Absolute.
        exists: whether there is a file at an absolute path.
        made_paths: absolute ones that the session itself made: to delete them takes nothing away.
        alias: another path of `root`, through a link, by which tools may name it.
        text_of: what a file at an absolute path holds, "" if it cannot be read.
    """

    root: str = "/project"
    cwd: str = "/project"
    home: str = "/home/user"
    exists: Callable[[str], bool] = lambda path: False
    made_paths: Collection[str] = ()
    alias: str = ""
    text_of: Callable[[str], str] = lambda path: ""

    def path(self, text: str, folder: str = "") -> str:
        """Return the absolute path that a word names, "" if that cannot be told."""
        if text.startswith("~"):
            name, _, tail = text[1:].partition("/")
            return posixpath.normpath(posixpath.join(self.home, tail)) if not name else ""
        if folder.startswith("~"):
            folder = self.path(folder)
        path = posixpath.normpath(posixpath.join(self.cwd, folder, text))
        if self.alias and (path == self.alias or path.startswith(self.alias + "/")):
            path = self.root + path[len(self.alias) :]
        return "/" + path.lstrip("/") if path.startswith("/") else ""

    def within(self, path: str) -> str | None:
        """Return a path relative to the project, None outside it."""
        if path == self.root:
            return "."
        return path[len(self.root) + 1 :] if path.startswith(self.root + "/") else None

    def is_scratch(self, path: str) -> bool:
        """Whether a path lies in a place for files that nobody keeps."""
        if self.within(path) is not None and not self._is_temporary:
            return False
        return path.startswith(SCRATCH)

    @property
    def _is_temporary(self) -> bool:
        """Whether the project itself lies in a folder that a program made for a moment: `/tmp/tmpa1b2c3d4`."""
        place = next((folder for folder in SCRATCH if self.root.startswith(folder)), "")
        name = self.root[len(place) :].partition("/")[0]
        return bool(place) and name.startswith("tmp")

    def was_made(self, path: str) -> bool:
        """Whether the session itself made this, or a folder that it lies in."""
        return any(
            path == made_path or path.startswith(made_path + "/") for made_path in self.made_paths
        )
