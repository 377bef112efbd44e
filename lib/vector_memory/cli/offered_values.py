"""What a shell offers where an id, a name or a value is typed: what begins as it was typed so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, get_args, get_type_hints

from vector_memory import config
from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.errors import VectorMemoryError
from vector_memory.system.paths import Home

OFFERED = 500
"""Of the newest so many are looked through for an id."""
TIMEOUT_S = 2.0
"""Who has pressed a key does not wait for longer."""
TEXT_CHARS = 60


Offers = list[tuple[str, str]]


LISTED = {
    "id": ("list", "memories", "id", "text"),
    "held": ("quarantine", "memories", "id", "text"),
    "waiting": ("review", "items", "id", "text"),
    "session": ("topics", "sessions", "session", "started_at"),
    "job": ("jobs", "jobs", "name", "cadence"),
}
"""What the daemon lists, by the types of `verbs.txt`: its verb, the field of its rows, how one is called, and what is
said of it."""


def offered(kind: str, incomplete: str, name: str, is_held: bool) -> list[Any]:
    """Return what begins so of a type of `verbs.txt`.

    Args:
        name: the setting, where its value is typed: what that may be; of a list, what it may hold.
        is_held: what it holds is meant.
    """
    if kind in LISTED:
        return list(_listed(kind, incomplete))
    names: Iterable[str] = config.names()
    if kind == "kind":
        names = ["note", *_choices("capture_without")]
    elif kind == "tool":
        from vector_memory.mcp import registry

        names = registry.BY_NAME
    elif kind == "list_setting":
        names = [
            name
            for name, default in asdict(config.Settings()).items()
            if isinstance(default, tuple)
        ]
    elif kind == "value":
        names = getattr(config.load(Home().config), name, ()) if is_held else _choices(name)
    return [name for name in names if name.startswith(incomplete)]


def _choices(name: str) -> Iterable[str]:
    hint = get_type_hints(config.Settings).get(name)
    if hint is bool:
        return ("true", "false")
    if name == "embedding_backend":
        from vector_memory.embed import registry

        return registry.BACKENDS
    args: tuple[Any, ...] = get_args(hint)
    return filter(None, get_args(args[0]) if args and ... in args else args)


def _listed(kind: str, incomplete: str) -> Offers:
    """Return (how a thing is called, what it is), of those that the daemon lists; nothing where none runs:
    pressing a key starts none."""
    verb, rows, name, description = LISTED[kind]
    daemon = asking.daemon()
    request = asking.everywhere() | ({} if verb == "jobs" else {"k": OFFERED})
    try:
        if daemon.running() is None:
            return []
        answer = Row(daemon.ask(verb, request, TIMEOUT_S, start=False))
    except (VectorMemoryError, OSError):
        return []
    shown_chars = max(output.ID_CHARS, len(incomplete)) if name == "id" else None
    return [
        (row.text(name)[:shown_chars], row.line(description, TEXT_CHARS))
        for row in answer.rows(rows)
        if row.text(name).startswith(incomplete)
    ]
