"""What of ours the client's settings name. They are read, never written."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Mapping

from vector_memory.system.files import read_text
from vector_memory.system.paths import client_folders

PLUGIN = "vector-memory"
MOST_BYTES = 4_000_000


def settings_files(folder: str) -> list[str]:
    """Return the client's settings files that exist: the user's, and those of a folder's project
    and of the folders above it."""
    roots, above = [client_folders()["claude_dir"]], os.path.abspath(folder)
    while True:
        roots.append(os.path.join(above, ".claude"))
        if os.path.exists(os.path.join(above, ".git")) or os.path.dirname(above) == above:
            break
        above = os.path.dirname(above)
    names = ("settings.json", "settings.local.json")
    paths = [os.path.join(root, name) for root in dict.fromkeys(roots) for name in names]
    return [path for path in paths if os.path.isfile(path)]


def load(path: str) -> Mapping[str, object]:
    """Return a settings file; {} when it is unreadable or no object.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        settings = json.loads(read_text(path, MOST_BYTES).removeprefix("\ufeff"))
    except OSError:
        return {}
    return settings if isinstance(settings, dict) else {}


def plugins(settings: Mapping[str, object]) -> list[str]:
    """Return this plugin's names, each with its marketplace, as settings enable them."""
    enabled = settings.get("enabledPlugins")
    names = enabled.items() if isinstance(enabled, dict) else ()
    return [name for name, value in names if name.split("@")[0] == PLUGIN and value is not False]


def wires_hooks(settings: Mapping[str, object], home: str) -> bool:
    """Whether settings name hooks of ours: the data home's shim, or a plugin's `hooks/run`."""
    return _is_ours(settings.get("hooks") or {}, home)


def wired_events(settings: Mapping[str, object], home: str) -> list[str]:
    """Return the events for which settings name hooks of ours."""
    hooks = settings.get("hooks")
    groups_by_event = hooks.items() if isinstance(hooks, dict) else ()
    return [event for event, groups in groups_by_event if _is_ours(groups, home)]


def missing_programs(settings: Mapping[str, object], home: str) -> list[str]:
    """Return the files that hooks of ours name in settings, and that are not there: such a hook does nothing, and
    says nothing."""
    hooks = settings.get("hooks")
    programs = [
        word
        for groups in (hooks.values() if isinstance(hooks, dict) else ())
        for group in _as_list(groups)
        for hook in _as_list(group.get("hooks") if isinstance(group, dict) else None)
        if isinstance(hook, dict) and _is_ours(hook, home)
        for word in _command_words(hook)
        if word.endswith(("hooks/run", os.path.join("app", "hook")))
    ]
    return [path for path in dict.fromkeys(programs) if _is_gone(path)]


def _is_gone(path: str) -> bool:
    # No file has a NUL or half a character in its name, and asking for one raises.
    with contextlib.suppress(ValueError):
        path = os.path.expanduser(path)
        # Where a variable leads is not known here.
        return os.path.isabs(path) and not os.access(path, os.R_OK)
    return True


def _command_words(hook: Mapping[str, object]) -> list[str]:
    command = str(hook.get("command"))
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return [*words, *map(str, _as_list(hook.get("args")))]


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def without_ours(settings: Mapping[str, object], home: str) -> dict[str, object]:
    """Return the hooks of settings without ours; events that have no others are left out."""
    hooks = settings.get("hooks")
    other_hooks: dict[str, object] = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if not isinstance(groups, list):
            other_hooks[event] = groups
            continue
        other_groups = [
            other_group
            for group in groups
            if (other_group := _without_our_hooks(group, home)) is not None
        ]
        if other_groups:
            other_hooks[event] = other_groups
    return other_hooks


def _without_our_hooks(group: object, home: str) -> object:
    """Return a group with the hooks that are not ours, None where there are none."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    theirs = [hook for hook in group["hooks"] if not _is_ours(hook, home)]
    return {**group, "hooks": theirs} if theirs else None


def _is_ours(hooks: object, home: str) -> bool:
    words = json.dumps(hooks, ensure_ascii=False)
    shim = json.dumps(os.path.join(home, "app", "hook"), ensure_ascii=False)[1:-1]
    return shim in words or (PLUGIN in words and "hooks/run" in words)
