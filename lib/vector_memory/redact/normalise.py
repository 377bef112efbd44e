"""Text in one plain form, so that nothing invisible can hide a secret from the scanners.

Terminal escapes, control, zero-width and bidirectional characters go; look-alike forms of ASCII
(full-width, mathematical, circled letters) become the letters that they look like. What carries
meaning in code and prose stays: superscripts, fractions, arrows, ellipses, emoji, accents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from vector_memory.errors import UnsafeTextError
from vector_memory.text.harmless import ESCAPE_SEQUENCE, INVISIBLE, LINE_ENDS

_ESCAPE_STARTS = frozenset("\x1b\x9b\x9d")
_LINE_ENDS = frozenset(LINE_ENDS)
_CONTROLS = bytes(set(range(32)) - {0x09, 0x0A}) + b"\x7f"
_ASCII = bytes(range(128))
_PIECE = 65_536
_FEW = 8
"""So many characters are changed faster one after the other than by a table."""
_MOST_MARKS = 30
MOST_CHARACTERS = 30_000
"""Different characters of one text at most; the whole of written Chinese has fewer in use."""
_LOOKALIKES = ("<wide>", "<narrow>", "<font>", "<small>", "<circle>", "<noBreak>")


def normalise(text: str) -> str:
    """Return the text in its plain form; a second time changes nothing."""
    raw = text.encode("ascii", "replace")
    controlled = len(raw.translate(None, _CONTROLS)) != len(raw)
    if text.isascii() and not controlled:
        return text
    characters = _beyond_ascii(text)
    if controlled:
        characters |= {chr(char) for char in _CONTROLS if char in raw}
    if characters & _ESCAPE_STARTS:
        text = ESCAPE_SEQUENCE.sub("", text)
    if "\r" in characters:
        text = text.replace("\r\n", "\n")
    text = _changed(text, {char: plain for char in characters if (plain := _plain(char)) != char})
    marks = [char for char in characters if unicodedata.combining(char)]
    return unicodedata.normalize("NFC", _limit_marks(text, marks) if marks else text)


def _beyond_ascii(text: str) -> set[str]:
    """Return the different characters of a text that are not ASCII.

    Raises:
        UnsafeTextError: no text has so many.
    """
    raw = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    beyond = raw.decode("utf-8", "surrogatepass")
    characters: set[str] = set()
    for start in range(0, len(beyond), _PIECE):
        characters.update(beyond[start : start + _PIECE])
        if len(characters) > MOST_CHARACTERS:
            raise UnsafeTextError("What should be text is none, so it was dropped.", "Store words.")
    return characters


def _changed(text: str, changes: dict[str, str]) -> str:
    if len(changes) > _FEW:
        return text.translate({ord(char): plain for char, plain in changes.items()})
    for char, plain in changes.items():
        text = text.replace(char, plain)
    return text


_LATIN = str.maketrans(
    "АВЕКМНОРСТУХаеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονіІЈЅ",
    "ABEKMHOPCTYXaeopcyxijshdqwABEZHIKMNOPTYXoviIJS",
)
_LEADS = {chr(letter).encode()[:1] for letter in _LATIN}
"""With what their UTF-8 begins, and no other place of a text's UTF-8."""


def folded(text: str) -> str:
    """Return the text with Cyrillic and Greek letters as the Latin ones that they look like, each place
    as before: what is looked for in it is found in the text."""
    if text.isascii():
        return text
    raw = text.encode("utf-8", "replace")
    return text.translate(_LATIN) if any(byte in raw for byte in _LEADS) else text


def _limit_marks(text: str, marks: list[str]) -> str:
    """Cut endless runs of combining marks, on which normalising takes quadratic time.

    Source: the Stream-Safe Text Format of Unicode Standard Annex 15.
    """
    any_mark = "[" + "".join(map(re.escape, sorted(marks))) + "]"
    return re.sub(f"({any_mark}{{{_MOST_MARKS}}}){any_mark}+", r"\1", text)


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    """Return what stands for a character: nothing for what cannot be seen, a letter for its
    look-alikes, the character itself for all others."""
    if character in _LINE_ENDS:
        return "\n"
    if INVISIBLE.match(character):
        return ""
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    tag = unicodedata.decomposition(character).partition(" ")[0]
    if tag in _LOOKALIKES or unicodedata.category(character) == "Zs":
        return unicodedata.normalize("NFKC", character)
    return character
