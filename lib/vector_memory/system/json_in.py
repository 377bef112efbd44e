"""JSON from outside, read so that it takes memory in proportion. Standard library only, Python 3.9."""

import hashlib
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SMALL_BYTES = 256 * 1024
_SESSION = re.compile(
    r"[\w.:-]{0,16}|(?:[a-z]{1,12}|\d{1,8})(?:[-_.](?:[a-z]{1,12}|\d{1,8})){1,7}|session-[0-9a-f]{24}"
    r"|(?:\w{1,12}-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    re.ASCII,
)
MOST_VALUES = 200_000
"""About how many values one text of JSON may hold: each takes fifty bytes or more once it is parsed, and
two in a text, so that megabytes of empty lists would become gigabytes."""


def is_crowded(raw: bytes) -> bool:
    """Whether a text of JSON would become far larger than it is: it holds more values than talk ever
    does. Marks within its strings count too."""
    if len(raw) < SMALL_BYTES:
        return False
    return sum(raw.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES


def load(raw: bytes) -> "Any":
    """Return what a text of JSON says.

    Raises:
        ValueError: it is no JSON, nested too deep, or crowded.
    """
    if is_crowded(raw):
        raise ValueError("it holds more than %d values" % MOST_VALUES)
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def storable_json(value: "Any") -> "Any":
    """Return JSON values with strings that names of files, databases and UTF-8 can hold: halves of
    surrogate pairs become U+FFFD, NUL goes.

    Raises:
        ValueError: they are nested too deep: fewer levels than `load` takes.
    """
    try:
        return _whole(value)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _whole(value: "Any") -> "Any":
    if isinstance(value, str):
        if value.isascii() and "\0" not in value:
            return value
        plain = value.replace("\0", "")
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(member) for member in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(member) for name, member in value.items()}
    return value


def session_id(value: "Any") -> str:
    """Return a session's id as it is kept. Clients' ids are UUIDs, and a short word hides nothing; of
    anything else, in which somebody may have put a secret, only a digest is kept."""
    if not isinstance(value, str) or not value or _SESSION.fullmatch(value):
        return value if isinstance(value, str) else ""
    return "session-" + hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:24]


class Record(dict[str, object]):
    """A JSON object of somebody else's, whose fields are asked for as what they should be."""

    def text(self, name: str) -> str:
        """Return the text in a field, "" where there is none."""
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return the whole number in a field, 0 where there is none."""
        value = self.get(name)
        return value if isinstance(value, int) else 0

    def numbers(self, name: str) -> "list[float]":
        """Return the numbers in a field's list."""
        return [member for member in self._list(name) if isinstance(member, (int, float))]

    def words(self, name: str) -> "list[str]":
        """Return the texts in a field's list."""
        return [member for member in self._list(name) if isinstance(member, str)]

    def part(self, name: str) -> "Record":
        """Return the object in a field, an empty one where there is none."""
        value = self.get(name)
        return Record(value) if isinstance(value, dict) else Record()

    def parts(self, name: str) -> "list[Record]":
        """Return the objects in a field's list."""
        return [Record(member) for member in self._list(name) if isinstance(member, dict)]

    def _list(self, name: str) -> "list[object]":
        value = self.get(name)
        return value if isinstance(value, list) else []
