"""Projects that are easily taken for one another, for tests and benchmarks of who is told what."""

from __future__ import annotations

import os
from pathlib import Path

REMOTES = {
    "remote": "https://git.example/team/app.git",
    "remote-other-host": "https://git.example.org/team/app.git",
    "remote-other-team": "git@git.example:teams/app.git",
    "remote-prefix": "https://git.example/team/app2",
    "remote-case": "https://git.example/team/App",
}
PLAIN = (
    "app", "app2", "app-2", "app 2", "app.git", "App", "APP", "ap", "application", "one/app", "two/app",
    "one", "\u0430pp", "app\u200b", "app'--", "app%", "app_", "a*", ".app",
)  # fmt: skip
NESTED = ("app/packages/app", "app/vendor/app2")
MARKED = ("marked", "marked/inner", "marked2")


def build(root: Path, count: int) -> list[Path]:
    """Make the folders of `count` projects, each a project of its own, and return them."""
    made = [_plain(root / name) for name in PLAIN]
    made += [_repository(root / name) for name in NESTED]
    made += [_repository(root / name, remote) for name, remote in REMOTES.items()]
    made += [_marked(root / name) for name in MARKED]
    made += [_plain(root / f"project{number}") for number in range(count)]
    return made[:count]


def worktree(of: Path, folder: Path) -> Path:
    """Make a worktree of a repository in a folder, as git does: both are one project."""
    own = of / ".git" / "worktrees" / folder.name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    folder.mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {own}\n")
    return folder


def _plain(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _repository(folder: Path, remote: str = "") -> Path:
    git = _plain(folder) / ".git"
    git.mkdir()
    section = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (git / "config").write_text(f"[core]\n\tbare = false\n{section}")
    return folder


def _marked(folder: Path) -> Path:
    os.makedirs(folder / ".memory" / "db")
    return folder
