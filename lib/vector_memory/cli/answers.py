"""An answer of the daemon as the command line reads it: field by field, each as what it is printed as.

The classes that the service makes answers of come with all that makes them; importing those would take
longer than asking. What is missing, or of another version of the daemon, reads as empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from vector_memory.cli import output


class Row(dict[str, object]):
    """One JSON object; what is none is one without fields."""

    def __init__(self, fields: object = None) -> None:
        super().__init__(fields if isinstance(fields, Mapping) else {})

    def text(self, name: str, default: str = "") -> str:
        """Return a field as text, `default` where it is empty."""
        value = self.get(name)
        return default if value in (None, "") else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a yes or no."""
        return bool(self.get(name, default))

    def number(self, name: str) -> float:
        """Return a number, 0 where there is none."""
        value = self.get(name)
        return float(value) if isinstance(value, (int, float)) else 0.0

    def count(self, name: str) -> int:
        """Return a whole number, 0 where there is none; of a list how long it is."""
        value = self.get(name)
        return len(value) if isinstance(value, (list, dict)) else int(self.number(name))

    def counts(self, name: str) -> dict[str, int]:
        """Return whole numbers by their names."""
        inner = self.row(name)
        return {key: inner.count(key) for key in inner}

    def texts(self, name: str) -> list[str]:
        """Return a list's members as texts; of an object its values."""
        value = self.get(name)
        members = list(value.values()) if isinstance(value, dict) else value
        return [str(member) for member in members] if isinstance(members, list) else []

    def row(self, name: str) -> Row:
        """Return an object, without fields where there is none."""
        return Row(self.get(name))

    def rows(self, name: str) -> list[Row]:
        """Return the objects of a list."""
        value = self.get(name)
        return [Row(member) for member in value] if isinstance(value, list) else []

    @property
    def id(self) -> str:
        """Its id as a table shows it."""
        return self.text("id")[: output.ID_CHARS]

    def day(self, name: str = "created_at") -> str:
        """Return the day of a time, in this machine's zone, "" where there is none."""
        return output.day(self.text(name))

    def line(self, name: str = "text", most: int = output.CELL_CHARS) -> str:
        """Return a text on one line of at most `most` characters."""
        return output.one_line(self.text(name), most)


def for_models(answer: Row) -> Row:
    """Return an answer of which a model may read each memory: nothing in it looks like a tag, and what others wrote has
    no links and says by `whose` that it is theirs."""
    # People need nothing of it.
    from vector_memory.mcp.model_answers import is_others, say

    def cleaned(value: object, foreign: bool) -> object:
        if isinstance(value, str):
            return say(value, foreign)
        if isinstance(value, list):
            return [cleaned(member, foreign) for member in value]
        return cleaned_fields(value, foreign) if isinstance(value, dict) else value

    def cleaned_fields(fields: Mapping[str, object], foreign: bool = False) -> dict[str, object]:
        is_theirs = is_others(fields)
        parts = {name: cleaned(value, foreign or is_theirs) for name, value in fields.items()}
        return {**parts, "whose": fields.get("origin")} if is_theirs else parts

    return Row(cleaned_fields(answer))
