"""A copy of the plugin as users get it, in a folder whose name has a space."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PARTS = (
    ".claude-plugin",
    ".mcp.json",
    "plugin.json",
    "bin",
    "bootstrap.sh",
    "commands",
    "hooks",
    "lib",
    "requirements",
    "scripts",
    "settings.snippet.json",
    "skills",
    "LICENSE",
    "README.md",
)


def copy(target: Path) -> Path:
    """Copy what the plugin is made of to `target`, without bytecode, and return it."""
    target.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_symlink() or source.is_file():
            shutil.copy2(source, target / part, follow_symlinks=False)
        elif source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(source, target / part, ignore=ignored, symlinks=True)
    return target


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder: equal when nothing was added or changed."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
