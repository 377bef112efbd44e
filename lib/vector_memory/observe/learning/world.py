"""The world: commands, ports and versions of a project, and in what state they were last seen. Pure.

What usually came of a command is a prediction; what then comes of it, where that is plain, confirms it or
is a surprise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from vector_memory.observe.learning.outcomes import is_check
from vector_memory.observe.learning.tasks import RUN, TaskTurn

COMMAND, PORT, VERSION = "command", "port", "version"
OK, FAILS, UP, DOWN = "ok", "fails", "up", "down"
MOST_SEEN = 30
LEAST_SEEN, AGREE = 4, 0.9
"""How often something must have been seen before, and in which share the same, to be relied on."""


class Sighting(NamedTuple):
    """Something that was seen in a state. `turn` is how the key of the turn begins that showed it, "" for none; `at`
    is aware UTC, as ISO text: what is seen of one thing at one time counts once, however often it is read."""

    kind: str
    name: str
    state: str
    detail: str
    turn: str
    at: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Thing:
    """A thing as it was last seen.

    Attributes:
        text: its state in words; where that is another than usual, since when.
        seen: how often it was seen; `same` so often in a row in this state, since `since`; `good` in all.
        usual: the state that could be relied on before it came to its present one, "" for none.
        last: when it was last seen, and `since`: aware UTC, as ISO text.
        seconds: how long a command usually takes, the median of its good runs; 0 where that is not known.
        surprise: it is in another state than usual.
        id: the name of the record that keeps it.
    """

    kind: str
    name: str
    state: str
    text: str
    seen: int
    same: int
    good: int
    usual: str
    last: str
    since: str
    seconds: float
    surprise: bool
    id: str = ""

    @property
    def key(self) -> str:
        """By what it is known in its project."""
        return f"{self.kind}:{self.name}"

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it will be of use: a command does if it checks something, or comes again."""
        return self.kind != COMMAND or self.seen > 1 or is_check(self.name)


def seen_in(turns: Iterable[TaskTurn]) -> Iterator[Sighting]:
    """Yield how the commands of turns went, where that is known."""
    for turn in turns:
        for call in turn.calls:
            if call.what == RUN and call.said and call.ok is not None:
                state, at = OK if call.ok else FAILS, (call.at or turn.started_at).isoformat()
                yield Sighting(
                    COMMAND, call.said, state, call.error, turn.key[:16], at, call.seconds
                )


def each_once(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return sightings, each once, as it was given last."""
    return list(
        {(sighting.kind, sighting.name, sighting.at): sighting for sighting in sightings}.values()
    )


def things_of(sightings: Iterable[Sighting]) -> list[Thing]:
    """Return the things that were seen, each sighting counted once, the last seen first."""
    by_name: dict[tuple[str, str], list[Sighting]] = {}
    for sighting in sorted(each_once(sightings), key=lambda sighting: sighting.at):
        by_name.setdefault((sighting.kind, sighting.name), []).append(sighting)
    things = [_thing(group[-MOST_SEEN:]) for group in by_name.values()]
    return sorted(things, key=lambda thing: (thing.last, thing.key), reverse=True)


def _thing(sightings: Sequence[Sighting]) -> Thing:
    """Return the thing of these sightings, the newest last."""
    kind, name, state, detail, _, last, _ = sightings[-1]
    same_count = next(
        (count for count, sighting in enumerate(reversed(sightings)) if sighting.state != state),
        len(sightings),
    )
    earlier, since = sightings[: len(sightings) - same_count], sightings[-same_count].at
    usual = relied_on(earlier)
    durations = [
        sighting.seconds for sighting in sightings if sighting.state == OK and sighting.seconds > 0
    ]
    if kind == COMMAND:
        surprise = usual not in ("", state)
        count = sum(sighting.state == usual for sighting in earlier)
        verb, earlier_verb = ("fails", "passed") if state == FAILS else ("passes", "failed")
        text = f"`{name}` {verb}"
        earlier_text = f" ({earlier_verb} {count} of {len(earlier)} before)"
    else:
        surprise = bool(earlier)
        text = f"{'port ' * (kind == PORT)}{name} is {state}"
        earlier_text = f", was {earlier[-1].state}" if earlier else ""
    text += f" since {since[:10]}{earlier_text}" * surprise
    text += f": {detail}" if detail and state == FAILS else ""
    return Thing(
        kind, name, state, text, len(sightings), same_count,
        good=sum(sighting.state in (OK, UP) for sighting in sightings),
        usual=relied_on(sightings) or usual, last=last, since=since,
        seconds=round(median(durations), 1) if durations else 0.0, surprise=surprise,
    )  # fmt: skip


def relied_on(sightings: Sequence[Sighting]) -> str:
    """Return the state that earlier sightings agree on, "" where they are too few or differ."""
    states = [sighting.state for sighting in sightings]
    common_state = max(sorted(set(states)), key=states.count, default="")
    is_enough = len(sightings) >= LEAST_SEEN and states.count(common_state) >= AGREE * len(states)
    return common_state if is_enough else ""
