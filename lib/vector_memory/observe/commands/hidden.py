"""Commands that stand in a line in a way that nobody can read: encoded, and decoded when it runs."""

from __future__ import annotations

import base64
from collections.abc import Collection
from contextlib import suppress

from vector_memory.text import shell

_BASE64 = ("-d", "-D", "--decode")
_DECODERS = {"base64": _BASE64, "gbase64": _BASE64, "openssl": ("-d",), "xxd": ("-r",)}


def decode(text: str, program: str, words: Collection[str]) -> str:
    """Return what a program makes of a text, given these words, "" where it decodes nothing that is a script."""
    joined = "".join(text.split())
    if joined and any(option in words for option in _DECODERS.get(program, ())):
        with suppress(ValueError):
            is_hex = program == "xxd"
            return (bytes.fromhex(joined) if is_hex else base64.b64decode(joined + "==")).decode()
    return ""


def decoded_script(word: str) -> str:
    """Return the script that a word such as `$(echo … | base64 -d)` becomes, "" for any other word."""
    output = ""
    for command in shell.parse(word):
        words = [argument.text for argument in command.arguments]
        if script := decode(
            command.given or (output if command.piped else ""), command.name, words
        ):
            return script
        output = words[-1] if words else ""
    return ""
