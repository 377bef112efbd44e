"""The world: commands, ports, versions and files of a project, and in what state they were last seen. Pure.

What usually came of a command is a prediction; what then comes of it, where that is plain, confirms it or
is a surprise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

COMMAND, PORT, VERSION, FILE = "command", "port", "version", "file"
OK, FAILS, UP, DOWN, MISSING, THERE = "ok", "fails", "up", "down", "missing", "there"
MOST_SEEN = 30
LEAST_SEEN, AGREE = 4, 0.9
"""How often something must have been seen before, and in which share the same, to be relied on."""
TOLD_FOR = timedelta(days=14)
"""How long after it was last seen something is still told as it was."""
LOOKED_CHARS = 6_000

_HOST = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])"
_LISTENS = re.compile(
    rf"(?i)\b(?:listening|running|serving|ready|started|available|local|network|server)\b[^\n]{{0,60}}?"
    rf"(?:https?://)?{_HOST}:(\d{{2,5}})\b"
    r"|\b(?:listening|running|serving|started|server)\b[^\n]{0,40}? (?:on|at) (?:port )?:?(\d{2,5})\b(?![.:\d%])"
)
_REFUSED = re.compile(
    r"(?i)(?:ECONNREFUSED|connection refused|failed to connect|could not connect|couldn't connect)[^\n]{0,80}?"
    r"(?:(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1\]?|\S{1,40}):|port )(\d{2,5})\b"
    r"|(?:localhost|127\.0\.0\.1|::1\]?):(\d{2,5})\b[^\n]{0,60}(?:connection refused|refused|no response)"
    r"|\bport (\d{2,5})[^\n]{0,60}(?:failed|refused)"
)
_TAKEN = re.compile(
    r"(?i)(?:EADDRINUSE|address already in use|port)[^\n]{0,60}?(?::{1,3}|port )?\b(\d{2,5})\b[^\n]{0,20}"
    r"(?:already (?:in use|allocated)|is in use|in use)|(?:EADDRINUSE|address already in use)[^\n]{0,40}?:(\d{2,5})\b"
)
_ACCEPTS = re.compile(r"(?i)(?:localhost|127\.0\.0\.1|[\w./]+):(\d{2,5}) - accepting connections")
_VERSION = re.compile(
    r"^\W*(?:([A-Za-z][\w.+-]{1,30}) )?(?:version )?v?(\d+\.\d+(?:\.\d+)?[\w.+-]{0,20})\b"
)
_NO_FILE = re.compile(
    r"(?:No such file or directory: '?|cannot (?:open|access|stat) '?|^(?:\w+: )?)([\w./@-]{2,120}\.\w{1,8})'?: No such file or directory"
    r"|No such file or directory: '([\w./@-]{2,120})'"
)
_ASKS_VERSION = re.compile(r"^([\w./-]+) (?:--version|-[vV]|version)$")
_LOCAL = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]):(\d{2,5})\b")
_LEAST_PORT, _MOST_PORT = 80, 65_535


class Sighting(NamedTuple):
    """Something that was seen in a state. `id` names the call that showed it, so that it counts once;
    `by` is the command that showed it; `at` is aware UTC."""

    kind: str
    name: str
    state: str
    detail: str
    by: str
    id: str
    at: datetime
    seconds: float = 0.0


class Seen(NamedTuple):
    """One earlier sighting of a thing."""

    id: str
    at: datetime
    state: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Thing:
    """A thing and how it was seen, `seen` by time, the newest last."""

    kind: str
    name: str
    state: str
    detail: str = ""
    by: str = ""
    seen: tuple[Seen, ...] = ()

    @property
    def key(self) -> str:
        """By what it is known in its project."""
        return f"{self.kind}:{self.name}"

    @property
    def last_at(self) -> datetime:
        """When it was last seen, aware UTC."""
        return self.seen[-1].at

    @property
    def since(self) -> datetime:
        """Since when it has been in its state."""
        return self.seen[-self.streak].at

    @property
    def streak(self) -> int:
        """How many of the last sightings are of its present state, 1 at least."""
        count = 0
        for one in reversed(self.seen):
            if one.state != self.state:
                break
            count += 1
        return max(1, count)

    @property
    def usual(self) -> str:
        """The state in which it was before its present one so often that it could be relied on, "" for
        none; what it is in now, where that has not changed."""
        return relied_on(self.seen) or relied_on(self.seen[: -self.streak])

    @property
    def is_surprise(self) -> bool:
        """Whether it is not as it used to be."""
        before = self.seen[: -self.streak]
        if self.kind == VERSION:
            return bool(before)
        if self.kind == PORT:
            return self.state == DOWN and bool(before) and before[-1].state == UP
        return self.kind == COMMAND and relied_on(before) not in ("", self.state)

    @property
    def text(self) -> str:
        """It in words, without counts and times: they change with every sighting."""
        if self.kind == COMMAND:
            return (
                f"`{self.name}` fails: {self.detail}"
                if self.state == FAILS
                else f"`{self.name}` passes"
            )
        if self.kind == PORT:
            by = f" (`{self.by}`)" if self.by else ""
            return f"port {self.name} is {self.state}{by}"
        if self.kind == VERSION:
            return f"{self.name} is {self.state}"
        return f"{self.name} is {self.state}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        seen = [[one.id, one.at.isoformat(), one.state, one.seconds] for one in self.seen]
        return {"kind": self.kind, "name": self.name, "state": self.state, "detail": self.detail,
                "by": self.by, "seen": seen}  # fmt: skip

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Thing | None:
        """Return the thing that `to_dict` made, None for anything else."""
        try:
            seen = tuple(
                Seen(str(id), datetime.fromisoformat(at), str(state), float(seconds))
                for id, at, state, seconds in raw["seen"]
            )
            kind, name, state, detail, by = (
                str(raw[name]) for name in ("kind", "name", "state", "detail", "by")
            )
        except (KeyError, TypeError, ValueError):
            return None
        return cls(kind, name, state, detail, by, seen) if seen else None


def relied_on(seen: Sequence[Seen]) -> str:
    """Return the state that earlier sightings agree on, "" where they are too few or differ."""
    if len(seen) < LEAST_SEEN:
        return ""
    states = [one.state for one in seen]
    most = max(sorted(set(states)), key=states.count)
    return most if states.count(most) >= AGREE * len(states) else ""


def with_sighting(known: Thing | None, one: Sighting) -> Thing:
    """Return a thing with another sighting; one that it has already changes nothing."""
    thing = known or Thing(one.kind, one.name, one.state, one.detail, one.by)
    if any(seen.id == one.id for seen in thing.seen):
        return thing
    seen = sorted([*thing.seen, Seen(one.id, one.at, one.state, round(one.seconds, 1))],
                  key=lambda each: (each.at, each.id))[-MOST_SEEN:]  # fmt: skip
    if all(each.id != one.id for each in seen):
        return thing
    if seen[-1].id == one.id:
        return replace(
            thing, state=one.state, detail=one.detail, by=one.by or thing.by, seen=tuple(seen)
        )
    return replace(thing, seen=tuple(seen))


def usual_seconds(thing: Thing) -> float:
    """Return how long a command usually takes, the median of its good runs; 0 where that is not known."""
    took = [one.seconds for one in thing.seen if one.state == OK and one.seconds > 0]
    return round(median(took), 1) if took else 0.0


# -- what a command's output shows --


class Ran(NamedTuple):
    """A command that ran: its line, its job, and whether it went well (None: not known). `counts` says
    whether its outcome is one to be expected again."""

    said: str
    ok: bool | None
    output: str
    counts: bool
    error: str = ""


def look(ran: Ran, id: str, at: datetime, seconds: float = 0.0) -> Iterator[Sighting]:
    """Yield what a command and its output show, each thing once."""
    text = ran.output[:LOOKED_CHARS]
    if ran.counts and ran.ok is not None and ran.said:
        state = OK if ran.ok else FAILS
        yield Sighting(COMMAND, ran.said, state, "" if ran.ok else ran.error, "", id, at, seconds)
    for port, state in (_ports(ran, text) if ran.said else {}).items():
        yield Sighting(PORT, port, state, "", ran.said if state == UP else "", id, at)
    asked = _ASKS_VERSION.match(ran.said)
    if asked and ran.ok and (found := _VERSION.match(text.strip())):
        yield Sighting(VERSION, asked[1].rsplit("/", 1)[-1], found[2], "", ran.said, id, at)
    if ran.ok is False:
        for file in dict.fromkeys(
            filter(None, (one[1] or one[2] for one in _NO_FILE.finditer(text)))
        ):
            yield Sighting(FILE, file, MISSING, "", "", id, at)


def _ports(ran: Ran, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if ":" not in text and "port" not in text.lower():
        pairs: list[tuple[re.Pattern[str], str]] = []
    else:
        pairs = [(_LISTENS, UP), (_ACCEPTS, UP), (_TAKEN, UP), (_REFUSED, DOWN)]
    for pattern, state in pairs:
        if pattern is _LISTENS and ran.ok is False:
            continue
        for match in pattern.finditer(text):
            port = next((group for group in match.groups() if group), "")
            if port and _LEAST_PORT <= int(port) <= _MOST_PORT:
                found[port] = state
    if ran.ok and ran.said.startswith(("curl ", "wget ", "http ")):
        for port in _LOCAL.findall(ran.said):
            found.setdefault(port, UP)
    return found


def refused(error: str) -> list[str]:
    """Return the ports to which an error says that it could not connect."""
    ports = (
        (group for group in one.groups() if group)
        for one in _REFUSED.finditer(error[:LOOKED_CHARS])
    )
    return list(dict.fromkeys(port for some in ports for port in some))


# -- what is told --


def surprise_at(thing: Thing, changed: Sequence[str] = ()) -> str:
    """Return what is told where something that could be relied on fails now, "" for nothing.

    Args:
        thing: as it was known before.
        changed: the files that were changed since it was last seen.
    """
    if thing.kind == PORT:
        if thing.state != UP:
            return ""
        by = f" by `{thing.by}`" if thing.by else ""
        return f"Port {thing.name} was last seen up{by} ({_day(thing.last_at)})."
    if thing.kind != COMMAND or thing.state != OK or relied_on(thing.seen) != OK:
        return ""
    passed = sum(one.state == OK for one in thing.seen)
    told = f"`{thing.name}` passed {passed} of the last {len(thing.seen)} times, last {_minute(thing.last_at)}."
    return told + (f" Changed since: {', '.join(changed)}." if changed else "")


def unresolved(things: Iterable[Thing], now: datetime) -> list[Thing]:
    """Return what is not as it used to be and was seen so lately, the newest first."""
    found = [one for one in things if one.is_surprise and now - one.last_at < TOLD_FOR]
    # A command that works again, or another version, is news once; what is broken stays so.
    fresh = [one for one in found if one.state in (FAILS, DOWN) or one.streak == 1]
    return sorted(fresh, key=lambda one: one.last_at, reverse=True)


def news(thing: Thing) -> str:
    """Return what a start is told of something that is not as it used to be."""
    before = thing.seen[: -thing.streak]
    if thing.kind == VERSION:
        return f"{thing.name} is {thing.state} since {_day(thing.since)}, was {before[-1].state}"
    if thing.kind == PORT:
        by = f" (was up by `{thing.by}`)" if thing.by else ""
        return f"port {thing.name} is down since {_day(thing.since)}{by}"
    usual = relied_on(before)
    count = sum(one.state == usual for one in before)
    if thing.state == FAILS:
        why = f": {thing.detail}" if thing.detail else ""
        return f"`{thing.name}` fails since {_day(thing.since)} (passed {count} of {len(before)} before){why}"
    return (
        f"`{thing.name}` passes since {_day(thing.since)} (failed {count} of {len(before)} before)"
    )


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _minute(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")
