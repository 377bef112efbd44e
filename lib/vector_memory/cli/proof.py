"""`proof`: signed proofs over the audit log, and looking at one without a daemon."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError

MOST_BYTES = 1 << 20
SHOWN_CHARS = 300
"""Of a field of an entry; --json has the whole."""


def show_made(answer: Row) -> None:
    """Print where a proof is, and by which key."""
    output.say(f"Written to {answer.text('file')}")
    output.say(f"Signed by {answer.text('fingerprint')}")


def verify(call: Invocation, file: str, offline: bool) -> int:
    """Print whether a proof is right, and this installation's log still continues it; return 1 where not.

    Raises:
        BadInputError: it cannot be read.
    """
    from vector_memory.trust import attestation
    from vector_memory.trust.keys import PublicKey

    try:
        with open(asking.path_of(file), "rb") as opened:
            proof = json.loads(opened.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(
            f"{file} cannot be read: {error}.", "Give a file of `proof make`."
        ) from error
    verified = attestation.proof_of(proof)
    statement = verified if isinstance(verified, attestation.LogStatement) else verified.statement
    checked: dict[str, object] = {
        "size": statement.size,
        "at": statement.at,
        "key": statement.key,
        "fingerprint": PublicKey.read(statement.key).fingerprint,
    }
    if isinstance(verified, attestation.Inclusion):
        checked["entry"] = verified.entry
    if isinstance(verified, attestation.Continuation):
        earlier = verified.earlier
        fingerprint = PublicKey.read(earlier.key).fingerprint
        checked |= {"since": earlier.size, "since_at": earlier.at, "since_fingerprint": fingerprint}
    if not offline:
        checked |= call.ask(statement=statement.__dict__)
    call.show(Row(checked), _show)
    return 0 if offline or checked.get("holds") else 1


def _show(answer: Row) -> None:
    output.say(
        f"Signed on {answer.text('at')} by {answer.text('fingerprint')}: {answer.text('size')} entries."
    )
    if entry := answer.row("entry"):
        output.say(f"Entry {_in_words(entry)}")
    if answer.text("since"):
        output.say(
            f"They begin with the {answer.text('since')} that {answer.text('since_fingerprint')} signed on "
            f"{answer.text('since_at')}: none of these was changed or left out."
        )
    if answer.text("why"):
        owner = (
            "This installation's key. " if answer.flag("is_own") else "Another installation's key. "
        )
        output.say(owner + answer.text("why"))


def _in_words(entry: Row) -> str:
    """Return what an entry of a log says. Whoever made the file may have put anything into it."""
    at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=entry.count("at"))
    number, action, actor, ids, detail = (
        output.one_line(entry.text(name), SHOWN_CHARS)
        for name in ("number", "action", "actor", "ids", "detail")
    )
    when = at.isoformat(" ", "seconds")
    return f"{number} is among them: {action} by {actor} at {when}, of {ids}, {detail}"
