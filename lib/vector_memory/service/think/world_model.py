"""`world_model`: what is to be expected of a command, a port or a version, what then came of it, and what is
known."""

from __future__ import annotations

from dataclasses import dataclass

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes.command_names import command_name
from vector_memory.model import WORLD
from vector_memory.observe.learning import things
from vector_memory.observe.learning.things import COMMAND, FAILS, OK, Sighting, Thing
from vector_memory.service.base import messages
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records, learned_records
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share, share
from vector_memory.text import suspicion

ACTIONS = ("predict", "observe", "list")
STATES = {COMMAND: (OK, FAILS), things.PORT: (things.UP, things.DOWN)}


@dataclass(frozen=True, kw_only=True)
class WorldRequest(messages.Request):
    """Something is to be predicted, was observed, or is to be listed.

    Attributes:
        action: one of `ACTIONS`.
        thing: a command line, or `port:5432`, or `version:node`.
        state: what was observed: `ok` or `fails`, `up` or `down`, or a version.
    """

    action: str = messages.word(default="list")
    thing: str = messages.maybe_text(300)
    state: str = messages.maybe_text(60)
    k: int = messages.number(30, 1, 300)
    dry_run: bool = messages.flag(default=True)


@dataclass(frozen=True)
class WorldAnswer:
    """What is known.

    Attributes:
        told: the answer in words.
        good: how often it went well (a command) or was up (a port) of the times it was seen.
        expected: the state that can be relied on, "" where none can.
        seconds: how long a command takes, the median of its good runs; 0 where that is not known.
        surprise: what was observed is not what was expected.
        things: what is known, the last seen first.
    """

    told: str
    good: Share | None = messages.spare()
    expected: str = ""
    seconds: float = 0.0
    surprise: bool | None = messages.spare()
    things: list[Thing] | None = messages.spare()
    dry_run: bool | None = messages.spare()


def world_model(ctx: Context, request: WorldRequest) -> WorldAnswer:
    """Predict, note or list the state of what work depends on.

    Raises:
        BadInputError: the action or the state is unknown, or the thing is missing.

    Returns:
        What is expected or was seen, with counts.
    """
    asker = ledger.project_of(ctx, request)
    if request.action == "list":
        records = counted_records.of(asker, WORLD, kinds=(learned_records.THING,))
        known = sorted(learned_records.things_of(records), key=lambda one: one.last, reverse=True)
        odd = sum(one.surprise for one in known)
        return WorldAnswer(f"{len(known)} things, {odd} not as usual.", things=known[: request.k])
    ledger.require(request.action, ACTIONS)
    kind, name = _named(request.thing)
    seen = [one for one in ledger.sightings_of(asker) if (one.kind, one.name) == (kind, name)]
    found = next(iter(things.of(seen)), None)
    if request.action == "predict":
        return _prediction(name, found)
    return _observed(ctx, asker, request, (kind, name), found)


def _named(thing: str) -> tuple[str, str]:
    cleaned = redact.clean(thing).text
    kind, _, name = cleaned.partition(":")
    if kind in (things.PORT, things.VERSION) and name:
        return kind, name.strip()
    if not cleaned:
        raise BadInputError("thing is missing.", "A command line, port:NUMBER or version:PROGRAM.")
    name = command_name(cleaned)
    if not name:
        raise BadInputError(
            "Nothing can be expected of that line: it is several commands, or of the moment.",
            "Give one command as it is called here, such as `pytest -q`.",
        )
    return COMMAND, name


def _prediction(name: str, found: Thing | None) -> WorldAnswer:
    if found is None:
        return WorldAnswer(f"{NOT_ENOUGH}: `{name}` was never seen here.")
    good = share(found.good, found.seen)
    if found.kind == things.VERSION:
        return WorldAnswer(f"{found.text}, seen {found.seen} times.", expected=found.state)
    word = "was up" if found.kind == things.PORT else "went well"
    told = f"`{name}` {word} {good.told}; the last {found.same} times: {found.state}"
    if not found.usual:
        told += ". Nothing can be relied on"
    elif found.usual != found.state:
        told += f". It used to be {found.usual}"
    return WorldAnswer(f"{told}. Last seen {found.last[:10]}.", good, found.usual, found.seconds)


def _observed(
    ctx: Context,
    asker: ProjectAsker,
    request: WorldRequest,
    thing: tuple[str, str],
    found: Thing | None,
) -> WorldAnswer:
    kind, name = thing
    state = str(redact.clean(request.state).text)
    allowed = STATES.get(kind, (state,))
    if not state or state not in allowed or suspicion.quoted(f"{name} {state}"):
        raise BadInputError(
            f"{state[:40]!r} is no state of a {kind}.", f"States: {', '.join(filter(None, allowed)) or 'its number'}."
        )  # fmt: skip
    at = ctx.now().isoformat()
    seen = Sighting(kind, name, state, "", "", ledger.key_of(kind, name, state, at), at)
    usual = found.usual if found else ""
    surprise = bool(usual) and usual != state
    expected = f"as expected ({usual})" if usual else "nothing was expected"
    told = f"`{name}` is {state}: " + (
        f"a surprise, it used to be {usual}." if surprise else f"{expected}."
    )
    if not request.dry_run:
        ledger.report(ctx, asker, seen=seen)
        ctx.audit("observe", request.actor, [], kind=kind)
    return WorldAnswer(told, expected=usual, surprise=surprise, dry_run=request.dry_run)
