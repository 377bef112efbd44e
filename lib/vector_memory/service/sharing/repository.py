"""A git repository as a place to share at: bundles are committed, and pushed where there is a remote."""

from __future__ import annotations

import os
import subprocess

from vector_memory.service.sharing.places import ROOT, Folder
from vector_memory.system import git, private

TRIES = 6
"""How often a push is tried that others are quicker than."""


class Repository(Folder):
    """A working tree of git, or a copy of ours of a bare repository.

    Args:
        path: its top folder, or the bare repository.
        copy: where our copy of a bare one is kept, "" for a working tree.
    """

    def __init__(self, path: str, copy: str) -> None:
        super().__init__(copy or path)
        self._bare = path if copy else ""

    def refresh(self) -> None:
        """Take over what others pushed.

        Raises:
            BadInputError: git cannot: it says why.
        """
        if self._bare and not os.path.isdir(os.path.join(self.root, ".git")):
            private.make_folder(os.path.dirname(self.root))
            git.run("/", "clone", "--no-local", "--", self._bare, self.root)
        if not self._has_remote_branch():
            return
        self._git("fetch", "--quiet", "origin")
        if self._bare:
            # Nothing is kept in our own copy but what is to be pushed at once.
            self._git("reset", "--quiet", "--hard", f"origin/{self._branch}")
        else:
            self._git("merge", "--quiet", "--ff-only", f"origin/{self._branch}")

    def finish(self) -> None:
        """Commit what was written, and push it, after what others pushed meanwhile.

        Raises:
            BadInputError: git cannot: it says why.
        """
        self._git("add", "--all", "--force", "--", ROOT)
        if self._tried("diff", "--cached", "--quiet", "--", ROOT).returncode:
            self._git("commit", "--quiet", "--message", "Share memories", "--", ROOT)
        if not self._tried("remote").stdout.strip():
            return
        for _ in range(TRIES):
            pushed = self._tried("push", "--quiet", "origin", f"HEAD:{self._branch}")
            if not pushed.returncode:
                return
            if self._has_remote_branch():
                self._git("pull", "--quiet", "--rebase", "origin", self._branch)
        raise git.refused("push", pushed.stderr)

    @property
    def _branch(self) -> str:
        return self._git("symbolic-ref", "--short", "HEAD").decode().strip()

    def _has_remote_branch(self) -> bool:
        if b"origin" not in self._tried("remote").stdout.split():
            return False
        return bool(self._git("ls-remote", "--heads", "origin", self._branch).strip())

    def _git(self, *words: str) -> bytes:
        return git.run(self.root, *words)

    def _tried(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return git.tried(self.root, *words)
