"""What of the user's settings and rules of privacy holds without a daemon, which alone can apply them all: where
in doubt nothing is shown. Standard library only, Python 3.9."""

import json
import os
import re
from functools import lru_cache

from vector_memory import projects
from vector_memory.system import protecting
from vector_memory.system.files import open_regular
from vector_memory.text import tables

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
NUMBERS = {"prompt_memories": 5, "prompt_tokens": 480, "session_tokens": 0, "threshold": 0.3}
"""Settings that limit what is told, with their defaults."""
_PREFIX, _YES = "VECTOR_MEMORY_", ("true", "1", "yes", "on", "t", "y")
_RULES = re.compile(
    rb"privacy|redact|sensitive|confidential|memor(?:y|ies|i[sz]e)|remember|^#[^\n]*(?:never|do not|don't)",
    re.IGNORECASE | re.MULTILINE,
)


class Settings:
    """What `config.json` and the environment say, unchecked.

    Attributes:
        is_readable: whether the file, where there is one, is a JSON object.
        written_at: when it came to say so, in seconds since 1970; 0 without one.
    """

    def __init__(self, path: str) -> None:
        self.is_readable, self.written_at = True, 0.0
        self._stored: dict[str, object] = {}
        try:
            with open(path, encoding="utf-8") as file:
                self.written_at = _came_at(path, file.fileno())
                stored = json.load(file)
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            stored = None
        self.is_readable = isinstance(stored, dict)
        self._stored = stored if isinstance(stored, dict) else {}

    def is_on(self, name: str) -> bool:
        """Whether a setting that is on by default is so."""
        value = os.environ.get(_PREFIX + name.upper()) or str(self._stored.get(name, True))
        return value.lower() in _YES

    def number(self, name: str) -> float:
        """Return what one of `NUMBERS` is set to, its default where that is no number."""
        for value in (os.environ.get(_PREFIX + name.upper()), self._stored.get(name)):
            try:
                number = float(str(value))
            except ValueError:
                continue
            if number >= 0:
                return number
        return NUMBERS[name]

    def excluded_folders(self) -> "list[str]":
        """Return the folders in which the user wants no memory."""
        stored = self._stored.get("excluded_projects") or []
        folders = os.environ.get(_PREFIX + "EXCLUDED_PROJECTS", "").split(os.pathsep)
        folders += map(str, stored) if isinstance(stored, list) else [str(stored)]
        return list(filter(None, folders))

    def redaction_since(self) -> float:
        """Return since when what is stored is surely without the personal data that is to be taken out, in seconds
        since 1970: also where a name is misspelt that speaks of it (`protecting`), by which a daemon takes all of it out.
        What the environment adds may not have been in force at any time."""
        if not self.is_readable or os.environ.get(_PREFIX + "REDACT_PERSONAL"):
            return float("inf")
        others = protecting.SETTINGS - {"redact_personal"}
        is_named = any(
            value and name not in others and protecting.speaks_of_it(name)
            for name, value in self._stored.items()
        )
        return self.written_at if is_named else 0.0


def may_speak(config: str, folder: str, setting: str) -> bool:
    """Whether the settings let a hook speak in a folder: `setting` is not off, and the user excluded neither the
    folder nor its project (`projects.is_excluded`). Settings that cannot be read let nothing through.

    Args:
        config: the path of `config.json`.
        setting: `recall_on_start` or `recall_on_prompt`.
    """
    settings = Settings(config)
    if not (settings.is_readable and settings.is_on(setting)):
        return False
    excluded = settings.excluded_folders()
    if not excluded:
        return True
    current = folder or os.curdir
    return not projects.is_excluded(excluded, projects.locate(current).root, current)


def rules_since(*folders: str) -> float:
    """Return when the newest file that may hold rules came to hold them, in seconds since 1970; 0 for none.

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
                return _came_at(path, file.fileno())
    except OSError:
        pass
    return 0.0


def _came_at(path: str, descriptor: int) -> float:
    """Return since when a path surely leads to what is read there, in seconds since 1970: a copy, a backup or a file of
    elsewhere that a link leads to may have been written long before it was put there, which only `st_ctime` tells."""
    file, entry = os.fstat(descriptor), os.lstat(path)
    return max(file.st_mtime, file.st_ctime, entry.st_ctime)


def _may_hold_rules(content: bytes) -> bool:
    if _RULES.search(content):
        return True
    words = content.decode("utf-8", "replace").lower()
    return any(heading in words for heading in _translated_headings())


@lru_cache(maxsize=1)
def _translated_headings() -> "list[str]":
    return tables.sections("privacy_words")["headings"]
