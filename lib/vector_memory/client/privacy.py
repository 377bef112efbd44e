"""What of the user's settings and rules of privacy holds without a daemon, which alone can apply them all: where
in doubt nothing is shown. Standard library only, Python 3.9."""

import json
import os
import re
from functools import lru_cache

from vector_memory import projects
from vector_memory.system.files import open_regular
from vector_memory.text import tables

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
_PREFIX, _YES = "VECTOR_MEMORY_", ("true", "1", "yes", "on", "t", "y")
_RULES = re.compile(
    rb"privacy|redact|sensitive|confidential|memor(?:y|ies|i[sz]e)|remember|^#[^\n]*(?:never|do not|don't)",
    re.IGNORECASE | re.MULTILINE,
)


def may_speak(config: str, folder: str, setting: str) -> bool:
    """Whether the settings let a hook speak in a folder: `setting` is not off, and the user excluded neither the
    folder nor its project (`projects.is_excluded`). Settings that cannot be read let nothing through.

    Args:
        config: the path of `config.json`.
        setting: `recall_on_start` or `recall_on_prompt`.
    """
    try:
        with open(config, encoding="utf-8") as file:
            settings = json.load(file)
    except FileNotFoundError:
        settings = {}
    except (OSError, ValueError):
        return False
    if not isinstance(settings, dict):
        return False
    value = os.environ.get(_PREFIX + setting.upper()) or str(settings.get(setting, True))
    if value.lower() not in _YES:
        return False
    excluded = os.environ.get(_PREFIX + "EXCLUDED_PROJECTS", "").split(os.pathsep)
    stored = settings.get("excluded_projects") or []
    excluded += map(str, stored) if isinstance(stored, list) else [str(stored)]
    if not any(excluded):
        return True
    current = folder or os.curdir
    return not projects.is_excluded(excluded, projects.locate(current).root, current)


def rules_since(*folders: str) -> float:
    """Return when the newest file that may hold rules was written, in seconds since 1970; 0 for none.

    Args:
        folders: the project's, see `projects.Place`.

    What was stored or prepared before that cannot be checked without the daemon. Where the session runs
    under a configuration of its own that may hold rules, nothing can be: others stored it under theirs.
    """
    default = os.path.join(os.path.expanduser("~"), ".claude")
    configured = os.environ.get("CLAUDE_CONFIG_DIR") or default
    if os.path.realpath(configured) != os.path.realpath(default) and _rules_written_at(
        os.path.join(configured, FILE)
    ):
        return float("inf")
    user_rules = _rules_written_at(os.path.join(default, FILE))
    project_rules = (
        _rules_written_at(os.path.join(folder, *path, FILE), folder)
        for folder in filter(None, folders)
        for path in ((), (".claude",))
    )
    return max((user_rules, *project_rules))


def _rules_written_at(path: str, root: str = "") -> float:
    try:
        with open_regular(path, root) as file:
            if _may_hold_rules(file.read(MOST_BYTES)):
                return os.fstat(file.fileno()).st_mtime
    except OSError:
        pass
    return 0.0


def _may_hold_rules(content: bytes) -> bool:
    if _RULES.search(content):
        return True
    words = content.decode("utf-8", "replace").lower()
    return any(heading in words for heading in _translated_headings())


@lru_cache(maxsize=1)
def _translated_headings() -> "list[str]":
    return tables.sections("privacy_words")["headings"]
