"""`identity`: the keys by which this installation signs, and is sealed for."""

from __future__ import annotations

import json
from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import BadInputError

Text = Annotated[str, options.argument("TEXT", "What is signed; - reads stdin.")]
Key = Annotated[str, options.argument("KEY", "A key.")]

app = options.group("The keys of this installation.", no_args_is_help=True)
COLUMNS: dict[str, output.Cell] = {
    "id": lambda key: key.text("id"),
    "state": lambda key: key.text("state"),
    "made": lambda key: key.text("made_at")[:10],
    "fingerprint": lambda key: key.text("fingerprint"),
}


def _ask(action: str, **more: object) -> Row:
    said = {"action": action, **asking.passphrase(), **more}
    return asking.ask("identity", asking.said(asking.everywhere(), said))


def _show(answer: Row) -> None:
    if keys := answer.rows("keys"):
        output.listing(keys, COLUMNS)
    else:
        output.say("There is no key yet: `vector-memory share invite` makes one.")


@app.command("list")
def list_keys(as_json: options.Json = False) -> None:
    """List the keys, the newest first."""
    output.answer(_ask("list"), as_json, _show)


@app.command("rotate")
def rotate(as_json: options.Json = False) -> None:
    """Make a new key in the place of the present one. Then `share invite` enters it, and `share publish`."""
    output.answer(_ask("rotate"), as_json, _show)


@app.command("revoke")
def revoke(key: Key, as_json: options.Json = False) -> None:
    """Give a key up by its id, and remove its private half."""
    output.answer(_ask("revoke", key=key), as_json, _show)


@app.command("sign")
def sign(
    text: Text,
    twice: Annotated[
        bool,
        options.switch(
            "A second time by ML-DSA-65, which is held to withstand quantum computers; print both as JSON.",
            "--twice",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Sign a text, and print the signature."""
    answer = _ask("sign", text=asking.text_of(text), twice=twice)
    both = {name: answer.fields.get(name) for name in ("signature", "second")}
    told = json.dumps(both) if twice else answer.text("signature")
    output.answer(answer, as_json, lambda _: output.say(told))


@app.command("verify")
def verify(
    key: Key,
    signature: Annotated[str, options.argument("SIGNATURE", "What `sign` printed; - reads stdin.")],
    text: Text,
    as_json: options.Json = False,
) -> int:
    """Tell whether a key has signed a text. Exit 1 where it has not."""
    said = {"signature": asking.text_of(signature)}
    if said["signature"].startswith("{"):
        try:
            both = json.loads(said["signature"])
            said = {"signature": str(both["signature"]), "second": json.dumps(both["second"])}
        except (ValueError, KeyError) as error:
            raise BadInputError(
                "That is no pair of signatures.", "Give what `identity sign --twice` printed."
            ) from error
    answer = _ask("verify", key=key, text=asking.text_of(text), **said)
    is_valid = answer.flag("is_valid")
    words = "The signature is right." if is_valid else "The signature is not that key's."
    output.answer(answer, as_json, lambda _: output.say(words))
    return 0 if is_valid else 1
