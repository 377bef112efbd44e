"""What a request may say, checked once: targets, dates, words. Bad input gets a clear error."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any, TypeVar

from vector_memory import projects
from vector_memory.errors import BadInputError
from vector_memory.index import entities
from vector_memory.model import is_hex, unique
from vector_memory.redact.normalise import normalise
from vector_memory.service.base.context import Context
from vector_memory.text import dates, days

Sent = dict[str, Any]
"""A request as a client sent it."""
W = TypeVar("W", bound=str)

MOST_WORDS = 10_000
MOST_WORD_CHARS = 4_096
MOST_DATE_CHARS = 100


MCP = "mcp"
"""Who asks through the MCP server: the model, never the user."""
AGENTS = ("agent", MCP)
ACTORS = ("user", "hook", "job", *AGENTS)
SAID = "said"
"""In a request, as the daemon completes it: what the user said in this turn to the agent that asks."""


def actor_of(sent: Sent, name: str) -> str:
    """Return who asks, for the audit log: the user unless it is said otherwise."""
    actor = sent.get(name)
    return actor if isinstance(actor, str) and actor in ACTORS else ACTORS[0]


def text_of(sent: Sent, name: str, limit: int = 1_000_000) -> str:
    """Return a text that must be there and not be empty."""
    return require_text(sent.get(name), name, limit)


def chosen(word: str, choices: Iterable[W], name: str) -> W:
    """Return the choice that a word names: that which is spelled so, or else one in another case or number.

    Args:
        name: what the word was given as.

    Raises:
        BadInputError: it names none.
    """
    stripped = word.strip()
    matches = [choice for choice in choices if _stem(choice) == _stem(stripped)]
    if not matches:
        raise BadInputError(
            f"{name} cannot be {word[:40]!r}.", f"It can be: {', '.join(map(str, choices))}."
        )
    return min(matches, key=lambda choice: choice != stripped)


def _stem(word: str) -> str:
    return word.casefold().replace("_", "-").removesuffix("s")


def require_text(value: object, name: str, limit: int = 1_000_000) -> str:
    """Return a value that must be a text and not be empty.

    Raises:
        BadInputError: it is none, or is longer than the limit.
    """
    if not isinstance(value, str) or not value.strip():
        raise BadInputError(f"{name} is empty.", "Say what it should be.")
    if len(value) > limit:
        raise BadInputError(f"{name} is longer than {limit:,} characters.", "Split it.")
    return value


def new_id_of(sent: Sent, name: str) -> str:
    """Return the id that a new memory is to have, "" where the client leaves it to the daemon.

    Raises:
        BadInputError: it is none.
    """
    id = sent.get(name) or ""
    if id and not (isinstance(id, str) and is_hex(id, 32)):
        raise BadInputError(f"{name} must be 32 hexadecimal digits.", "Or leave it out.")
    return str(id)


def number_of(sent: Sent, name: str, default: int, low: int, high: int) -> int:
    """Return a whole number within bounds."""
    value = sent.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadInputError(f"{name} must be a whole number from {low} to {high}.")
    return value


def seconds_of(sent: Sent, name: str, default: float, most: float) -> float:
    """Return a time in seconds from 0 to `most`."""
    value = sent.get(name)
    if value is None:
        return default
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= most:
        raise BadInputError(f"{name} must be a number of seconds from 0 to {most:.0f}.")
    return float(value)


def words_of(sent: Sent, name: str) -> tuple[str, ...]:
    """Return a word or a list of words, each once."""
    value = sent.get(name)
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(word, str) for word in values):
        raise BadInputError(f"{name} must be a word or a list of words.")
    if len(values) > MOST_WORDS or any(len(word) > MOST_WORD_CHARS for word in values):
        raise BadInputError(
            f"{name} may hold {MOST_WORDS:,} words of {MOST_WORD_CHARS:,} characters.", "Split it."
        )
    return unique(word.strip() for word in values if word.strip())


def stored_words_of(sent: Sent, name: str) -> tuple[str, ...]:
    """Return a list of words in the one form that everything stored has: an accent may come as a sign of its own."""
    return unique(map(normalise, words_of(sent, name)))


def is_agent(sent: Sent) -> bool:
    """Whether an agent asks, by a tool or a command: it is given nothing that is held back, and what it says
    binds nobody."""
    return sent.get("actor") in AGENTS


def time_of(sent: Sent, name: str, now: datetime | None = None) -> datetime | None:
    """Return a date, in ISO form or in words, as aware UTC; one without a zone is the user's local time.

    Args:
        now: from when `tomorrow` is meant, in the user's zone; this moment, in this machine's, by default.
    """
    value = sent.get(name)
    if value is None or value == "":
        return None
    try:
        zone = days.zone_of(now) if now else None
        return dates.parse(str(value)[:MOST_DATE_CHARS], now or datetime.now(timezone.utc), zone)
    except (ValueError, OverflowError):
        raise BadInputError(
            f"{name} is no date: {str(value)[:40]!r}.",
            f"Examples: {dates.EXAMPLES}.",
        ) from None


def time_to_come(sent: Sent, name: str) -> datetime | None:
    """Return a date as `time_of` does, but the one to come where words may mean one that is over: "friday", "3d"."""
    at, now = time_of(sent, name), datetime.now().astimezone()
    if at is None or at > now:
        return at
    words = str(sent[name])
    distance = dates.ahead(words)
    if distance and distance[1]:
        # Hours are no clock's: it may be put forward or back within them.
        return now.astimezone(timezone.utc) + distance[0]
    next_day = dates.coming_day(words, now)
    return days.shown_at(next_day, now).astimezone(timezone.utc) if next_day is not None else at


def entities_of(sent: Sent, name: str) -> tuple[str, ...]:
    """Return the forms of the entities asked for: `psql` is `technology:postgresql`."""
    return unique(form for word in stored_words_of(sent, name) for form in entities.parse(word))


def place_of(ctx: Context, sent: Sent) -> projects.Place | None:
    """Return the project that a request is about: the one named, else that of its folder; None for
    `--global`."""
    if sent.get("global"):
        return None
    folder = sent.get("project") or sent.get("cwd")
    if not folder:
        return None
    if not isinstance(folder, str) or "\0" in folder:
        raise BadInputError("project must be a folder's path.")
    base = str(sent.get("cwd") or "/")
    return ctx.place(os.path.join(base, os.path.expanduser(folder)))
