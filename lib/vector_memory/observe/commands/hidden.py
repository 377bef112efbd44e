"""Commands that stand in a line in a way that nobody can read: encoded, and decoded when it runs."""

from __future__ import annotations

import base64
import re
from contextlib import suppress

_DECODES = re.compile(r"^(?:g?base64\s.*(?:-d|-D|--decode)|openssl\s+(?:enc\s.*-(?:base64|a)\b.*-d|base64\s.*-d)|xxd\s.*-r)")  # fmt: skip
_IN_WORD = re.compile(
    r"""\b(?:echo|printf)\s+(?:-n\s+)?(?:'%s'\s+)?["']?(?P<text>[A-Za-z0-9+/=]{8,})["']?\s*\|\s*(?P<how>[^|)`]{4,60})"""
    r"""|(?P<how2>(?:g?base64|openssl|xxd)\s[^|)`]{2,40}?)\s*<<<\s*["']?(?P<text2>[A-Za-z0-9+/=]{8,})"""
)


def is_decoding(command: str) -> bool:
    """Whether a command, its words apart by spaces, decodes what it is given."""
    return bool(_DECODES.match(command.strip() + " "))


def decode(text: str, command: str) -> str:
    """Return what a command makes of a text, "" where it decodes nothing that is a script."""
    joined = "".join(text.split())
    with suppress(ValueError):
        if is_decoding(command):
            is_hex = command.lstrip().startswith("xxd")
            return (bytes.fromhex(joined) if is_hex else base64.b64decode(joined + "==")).decode()
    return ""


def decoded(word: str) -> str:
    """Return the script that a word such as `$(echo … | base64 -d)` becomes, "" for any other word."""
    found = _IN_WORD.search(word[:20_000]) if "$(" in word or "`" in word else None
    if found is None:
        return ""
    return decode(found["text"] or found["text2"], found["how"] or found["how2"])
