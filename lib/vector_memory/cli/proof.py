"""`proof`: signed proofs over the audit log, and looking at one without a daemon."""

from __future__ import annotations

import json
from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import BadInputError

MOST_BYTES = 1 << 20

app = options.group("Prove by a signature what the audit log held.", no_args_is_help=True)


@app.command("make")
def make(
    entry: Annotated[int, options.value("N", "That this entry is in it.", "--entry")] = 0,
    as_json: options.Json = False,
) -> None:
    """Sign the audit log as it is now, and keep the proof."""
    said = {"entry": entry, **asking.passphrase()}
    answer = asking.ask("prove", asking.said(asking.everywhere(), said))

    def tell(answer: Row) -> None:
        output.say(f"Written to {answer.text('file')}")
        output.say(f"Signed by {answer.text('fingerprint')}")

    output.answer(answer, as_json, tell)


@app.command("verify")
def verify(
    file: Annotated[str, options.argument("FILE", "A proof.")],
    offline: Annotated[
        bool, options.switch("Only look at the file, not at this log.", "--offline")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Check a proof, and whether this installation's log still continues it. Exit 1 where it does not."""
    from vector_memory.trust import attestation
    from vector_memory.trust.keys import PublicKey

    try:
        with open(asking.path_of(file), "rb") as opened:
            told = json.loads(opened.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(
            f"{file} cannot be read: {error}.", "Give a file of `proof make`."
        ) from error
    is_entry = isinstance(told, dict) and "entry" in told
    statement = (
        attestation.inclusion_of(told).statement if is_entry else attestation.statement_of(told)
    )
    found: dict[str, object] = {
        "size": statement.size,
        "at": statement.at,
        "key": statement.key,
        "fingerprint": PublicKey.read(statement.key).fingerprint,
    }
    if not offline:
        said: asking.Said = {"statement": statement.__dict__}
        found |= asking.ask("check_proof", asking.said(asking.everywhere(), said)).fields
    output.answer(Row(found), as_json, _tell)
    return 0 if offline or found.get("holds") else 1


def _tell(answer: Row) -> None:
    output.say(
        f"Signed on {answer.text('at')} by {answer.text('fingerprint')}: {answer.text('size')} entries."
    )
    if answer.text("why"):
        whose = (
            "This installation's key. " if answer.flag("is_own") else "Another installation's key. "
        )
        output.say(whose + answer.text("why"))
