"""Who wrote a prompt: the user at the keyboard, or a program that started or told the session.

The client's own fields say so first. Where they leave it open, a prompt in the form of a program's
counts as one: it is remembered as it is, and binds nobody.
"""

from __future__ import annotations

import re

from vector_memory.system.json_in import Record

HEADLESS = "sdk"
"""How the entry point of a session begins that a program started, or the user with `-p`."""
MOST_TYPED_CHARS = 300
"""Of what a headless session is asked, so much in one paragraph may be a user's at the command line."""

_TYPED_ORIGINS = frozenset({"human", "person", "composer", "voice-call", "remote", "suggestion"})
_SYSTEM_SOURCE = "system"
_SCAFFOLD = re.compile(r"<([A-Za-z][\w:-]{0,60})(?:\s[^<>]{0,400})?>(?=.*</\1\s*>)", re.DOTALL)
_TASK_OPENINGS = ("your task is ", "your role is ", "your job is ", "act as ")
_ROLE_OPENING = re.compile(
    r"(?:you(?: are|['\u2019]re)|du bist|sie sind|tu es|vous êtes|eres|usted es|você é|tu sei|ты|вы)\s+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?P<words>.*?)(?P<end>\n|[.,!](?=\s))")
MOST_OF_TALK = 5
"""Words of a first clause that may be praise or agreement: "You are right about that"."""
_ARTICLES = frozenset((
    "a", "an", "the", "ein", "eine", "der", "die", "das", "un", "une", "le", "la", "el", "una", "um", "uma", "il", "uno",
))  # fmt: skip
_FIRST_PERSON = re.compile(
    r"\b(?:[Ff]rom now on|[Ww]e|[Oo]ur|[Mm]y|I(?! will\b|['\u2019]ll\b)|[Ii]ch|[Ww]ir|[Jj]e|[Nn]ous|[Yy]o|[Ee]u|[Ii]o|[Яя]|[Мм]ы)\b"
)
"""Who speaks of himself."""


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
    lines = prompt.split("\n")
    is_long = (
        len(prompt) > MOST_TYPED_CHARS or not all(map(str.strip, lines[1:-1])) or _has_block(lines)
    )
    is_headless = str(data.get("entrypoint") or "").startswith(HEADLESS)
    return not (is_long and (is_headless or _has_role(prompt.strip()[:MOST_TYPED_CHARS])))


def _has_block(lines: list[str]) -> bool:
    """Whether a block stands among some lines, with its first mark on a line of its own and its last one at the
    beginning of another."""
    opening = {line[1:].rstrip(" \t") for line in lines if line[:1] == "<" and line[1:2].isalpha()}
    return any(line[:2] == "</" and line[2:].partition(">")[0] + ">" in opening for line in lines)


def _has_role(beginning: str) -> bool:
    """Whether a prompt begins by telling a model whom it plays or what its task is, and not as people praise and agree:
    "You're right, …"."""
    if " ".join(beginning.lower().split()).startswith(_TASK_OPENINGS):
        return True
    opening = _ROLE_OPENING.match(beginning)
    return opening is not None and not _is_talk(beginning, opening.end())


def _is_talk(beginning: str, start: int) -> bool:
    clause = _CLAUSE.match(beginning)
    # A name or its mark stands there: "You are Codex, …", "You are **alice**, …".
    first_sign = beginning[start : start + 1]
    is_name = first_sign.isupper() or not first_sign.isalnum()
    if clause is None or is_name or len(clause["words"].split()) > MOST_OF_TALK:
        return False
    has_article = beginning[start:].split(maxsplit=1)[0].lower() in _ARTICLES
    is_praise = clause["end"] == "!" or (clause["end"] == "," and not has_article)
    return is_praise or _FIRST_PERSON.search(beginning, clause.end()) is not None
