"""`world_model`: what is to be expected of a command, a port or a version, what then came of it, and what is
known."""

from __future__ import annotations

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.fixes.command_names import command_name
from vector_memory.observe.learning import things
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.things import COMMAND, FAILS, OK, Sighting, Thing
from vector_memory.service.base import messages
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.service.think import ledger
from vector_memory.text import suspicion

STATES = {COMMAND: (OK, FAILS), things.PORT: (things.UP, things.DOWN)}


class WorldRequest(ledger.WorkRequest):
    """Something is to be predicted, was observed, or is to be listed.

    Attributes:
        thing: a command line, or `port:5432`, or `version:node`.
        state: what was observed: `ok` or `fails`, `up` or `down`, or a version.
    """

    action: str = messages.one_of(("predict", "observe", "list"), "list")
    thing: str = messages.maybe_text(300)
    state: str = messages.maybe_text(60)


def world_model(ctx: Context, request: WorldRequest) -> ledger.Answer:
    """Predict, note or list the state of what work depends on.

    Raises:
        BadInputError: the action or the state is unknown, or the thing is missing.

    Returns:
        How often it was `good`: went well (a command) or was up (a port), of the times it was seen; the state that
        is `expected`, "" where none can be relied on; how many `seconds` a command takes, the median of its good
        runs, 0 where that is not known; whether what was observed is a `surprise`; or the `things`, those that are
        not as usual first, then those seen most often.
    """
    asker = ledger.project_of(ctx, request)
    if request.action == "list":
        listed = learned_records.things_of(asker)
        listed.sort(key=lambda thing: (thing.surprise, thing.seen, thing.last), reverse=True)
        odd = sum(thing.surprise for thing in listed)
        summary = f"{len(listed)} things, {odd} not as usual."
        summary = summary if listed else f"{NOT_ENOUGH}: nothing was seen here yet."
        return ledger.answer(ctx, summary, things=listed[: request.k])
    key = _named(request.thing)
    seen = [
        sighting for sighting in ledger.sightings_of(asker) if (sighting.kind, sighting.name) == key
    ]
    thing = next(iter(things.of(seen)), None)
    if request.action == "observe":
        return _observed(ctx, asker, request, key, thing.usual if thing else "")
    if thing is None:
        summary = f"{NOT_ENOUGH}: {_called(*key)} was never seen here."
        return ledger.answer(ctx, summary, expected="")
    return _prediction(ctx, thing)


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


def _called(kind: str, name: str) -> str:
    return f"`{name}`" if kind == COMMAND else f"{kind} {name}"


def _prediction(ctx: Context, thing: Thing) -> ledger.Answer:
    if thing.kind == things.VERSION:
        summary = f"{thing.text}, seen {thing.seen} times."
        return ledger.answer(ctx, summary, expected=thing.state)
    good = rate(thing.good, thing.seen)
    word = "was up" if thing.kind == things.PORT else "went well"
    times = "last time" if thing.same == 1 else f"last {thing.same} times"
    summary = f"{_called(thing.kind, thing.name)} {word} {good.told}; the {times}: {thing.state}"
    if not thing.usual:
        summary += ". Nothing can be relied on"
    elif thing.usual != thing.state:
        summary += f". It used to be {thing.usual}"
    summary += f". Last seen {thing.last[:10]}."
    return ledger.answer(ctx, summary, good=good, expected=thing.usual, seconds=thing.seconds)


def _observed(
    ctx: Context, asker: ProjectAsker, request: WorldRequest, key: tuple[str, str], usual: str
) -> ledger.Answer:
    (kind, name), state = key, str(redact.clean(request.state).text)
    allowed = STATES.get(kind, (state,))
    if not state or state not in allowed or suspicion.quoted(f"{name} {state}"):
        states = ", ".join(filter(None, allowed)) or "its number"
        raise BadInputError(f"{state[:40]!r} is no state of a {kind}.", f"States: {states}.")
    at = ctx.now().isoformat()
    expected = f"as expected ({usual})" if usual else "nothing was expected"
    surprise = bool(usual) and usual != state
    expected = f"a surprise, it used to be {usual}" if surprise else expected
    summary = f"{_called(kind, name)} is {state}: {expected}."
    if not request.dry_run:
        seen = Sighting(kind, name, state, "", "", at)
        ledger.report(ctx, asker, seen=seen)
        ctx.audit("observe", request.actor, [], kind=kind)
    return ledger.answer(ctx, summary, expected=usual, surprise=surprise, dry_run=request.dry_run)
