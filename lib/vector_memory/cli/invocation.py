"""A command as somebody typed it: what was given, and how the daemon is asked with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from vector_memory.cli import asking, output, progress
from vector_memory.cli.answers import Row, for_models

MAX_ERRORS_SHOWN = 10
TAKEN = ("stored", "merged", "unchanged", "updated")
PLACES = ("project", "global", "all_projects")
"""What says which memories are meant."""


class Invocation:
    """One call of a verb.

    Args:
        asks: the daemon's verb, and the words behind it, as the head of `verbs.txt` explains them.
        values: what was given, by name; None for what was not.
        sent_names: the names of what goes into the request.

    Attributes:
        asked: the daemon's verb.
        as_json: whether programs read the answer.
        long_s: how long no byte may come where the work may be long, else 0.
    """

    def __init__(self, asks: str, values: Mapping[str, object], sent_names: Iterable[str]) -> None:
        self.values = values
        self.as_json = bool(values.get("as_json"))
        self._sent = sent_names
        self.asked, *words = asks.split() or [""]
        self._words = dict(word.partition("=")[::2] for word in words)
        self.long_s = float(self._words.get("long") or 0.0)

    def where(self) -> asking.Request:
        """Return the part of a request that says which memories are meant.

        Raises:
            BadParameter: two places were named.
        """
        if "nowhere" in self._words:
            return {}
        if "here" not in self._words and not any(place in self.values for place in PLACES):
            return asking.everywhere()
        project, *is_of = [self.values.get(place) for place in PLACES]
        return asking.target(None if project is None else str(project), *map(bool, is_of))

    def request(self) -> asking.Request:
        """Return what is asked: which memories are meant, what was given, and what this verb always says."""
        fixed: asking.Request = {}
        for word, value in self._words.items():
            if word in asking.SECRETS:
                fixed |= asking.SECRETS[word]()
            elif value and word not in ("long", "timeout"):
                fixed[word] = json.loads(value) if value in ("true", "false") else value
        values = {name: self.values[name] for name in self._sent if name not in PLACES}
        return asking.request_fields(self.where(), {**values, **fixed})

    def ask(self, **fields: object) -> Row:
        """Ask the daemon, starting one if none runs; with its progress where that takes long.

        Args:
            fields: fields of the request beside those that were given, or in their place.

        Raises:
            VectorMemoryError: what the daemon reported, or that there is none.
        """
        request = asking.request_fields(self.request(), fields)
        if self.long_s:
            return progress.ask_long(self.asked, request, self.as_json, self.long_s)
        return asking.ask(self.asked, request, float(self._words.get("timeout", asking.TIMEOUT_S)))

    def show(self, answer: Row, show: Callable[[Row], object]) -> None:
        """Print an answer: whole for programs, by `show` for people, and for a model that reads what it ran as every
        memory is put before one."""
        if self.as_json:
            output.document(answer)
        elif asking.is_agents():
            show(for_models(answer))
        else:
            show(answer)

    def say(self, answer: Row, *lines: str) -> None:
        """Print an answer: whole for programs, for people these lines."""
        self.show(answer, lambda _: output.say("\n".join(lines)))

    def report(self, answer: Row, counts: str, shown_errors: Sequence[Row] = ()) -> int:
        """Print what came of reading something in; return 1 if it brought nothing but errors.

        Args:
            counts: the names of the figures that are told.
            shown_errors: the errors that were printed before.
        """
        fresh = [error for error in answer.rows("errors") if error not in shown_errors]
        self.show(answer, lambda answer: _show_counts(answer, counts, fresh))
        return 1 if answer.count("errors") and not any(map(answer.count, TAKEN)) else 0


def _show_counts(answer: Row, counts: str, errors: Sequence[Row]) -> None:
    figures = ", ".join(f"{answer.count(name)} {name}" for name in counts.split())
    output.say(f"{figures} in {answer.number('seconds'):.1f} s")
    for error in errors[:MAX_ERRORS_SHOWN]:
        line = error.text("line")
        place = f"line {line}" if line else error.text("file")
        output.note(f"{place}: {error.text('error')}".lstrip(": "))
    if len(errors) > MAX_ERRORS_SHOWN:
        output.note(f"… and {len(errors) - MAX_ERRORS_SHOWN} more.")
