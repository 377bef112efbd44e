"""`identity`: the keys by which this installation signs, and is sealed for."""

from __future__ import annotations

import json

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError

COLUMNS: dict[str, output.Cell] = {
    **output.fields("id state"),
    "made": lambda key: key.text("made_at")[:10],
    **output.fields("fingerprint"),
}
NOTHING = "There is no key yet: `vector-memory share invite` makes one."


def show(answer: Row) -> None:
    """Print the keys, the newest first."""
    output.listing(answer.rows("keys"), COLUMNS, NOTHING)


def show_signature(answer: Row, twice: bool) -> None:
    """Print a signature, or both as JSON."""
    signatures = {name: answer.get(name) for name in ("signature", "second")}
    output.say(json.dumps(signatures) if twice else answer.text("signature"))


def verify(call: Invocation, signature: str) -> int:
    """Print whether a key has signed a text; return 1 where it has not.

    Raises:
        BadInputError: it is no pair of signatures, and looks like one.
    """
    request = {"signature": signature}
    if signature.startswith("{"):
        try:
            signatures = json.loads(signature)
            request = {
                "signature": str(signatures["signature"]),
                "second": json.dumps(signatures["second"]),
            }
        except (ValueError, KeyError) as error:
            raise BadInputError(
                "That is no pair of signatures.", "Give what `identity sign --twice` printed."
            ) from error
    answer = call.ask(**request)
    is_valid = answer.flag("is_valid")
    words = "The signature is right." if is_valid else "The signature is not that key's."
    call.say(answer, words)
    return 0 if is_valid else 1
