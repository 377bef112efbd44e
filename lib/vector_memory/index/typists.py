"""Who wrote a prompt: the user at the keyboard, or a program that started or told the session.

The client's own fields say so first. Where they leave it open, a prompt in the form of a program's
counts as one: it is remembered as it is, and binds nobody.
"""

from __future__ import annotations

import os
import re

from vector_memory.system.json_in import Record
from vector_memory.text import tables

HEADLESS = "sdk"
"""How the entry point of a session begins that a program started, or the user with `-p`."""
MOST_TYPED_CHARS = 300
"""Of what a headless session is asked, so much in one paragraph may be a user's at the command line."""

_TYPED_ORIGINS = frozenset({"human", "person", "composer", "voice-call", "remote", "suggestion"})
_SYSTEM_SOURCE = "system"
_SCAFFOLD = re.compile(r"<([A-Za-z][\w:-]{0,60})(?:\s[^<>]{0,400})?>(?=.*</\1\s*>)", re.DOTALL)
_BLOCK = re.compile(r"^<([A-Za-z][\w:-]{0,60})>[ \t]*\n(?=.*^</\1>)", re.DOTALL | re.MULTILINE)
"""A block with marks on lines of their own."""
_ROLE = tables.patterns("roles", os.path.dirname(__file__))["role"]


def is_typed(data: Record, prompt: str) -> bool:
    """Whether the user typed a prompt.

    Args:
        data: the transcript's line, or what it has attached.
        prompt: its words, without what the client put into them.
    """
    kind = data.part("origin").get("kind")
    if kind is not None and str(kind) not in _TYPED_ORIGINS:
        return False
    if data.get("promptSource") == _SYSTEM_SOURCE or data.get("planContent") or data.get("isMeta"):
        return False
    if _SCAFFOLD.match(prompt):
        return False
    is_long = (
        len(prompt) > MOST_TYPED_CHARS
        or not all(map(str.strip, prompt.split("\n")[1:-1]))
        or _BLOCK.search(prompt) is not None
    )
    is_headless = str(data.get("entrypoint") or "").startswith(HEADLESS)
    has_role = _ROLE.match(" ".join(prompt[:MOST_TYPED_CHARS].split())) is not None
    return not (is_long and (is_headless or has_role))
