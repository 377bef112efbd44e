"""Repositories as git makes them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=folder, check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def repository(folder: Path, remote: str = "") -> Path:
    """Make a repository with a commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-b", "main")
    git(folder, "commit", "--allow-empty", "-m", "begin")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder
