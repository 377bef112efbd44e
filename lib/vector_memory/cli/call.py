"""A command as somebody typed it: what was given, and how the daemon is asked with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from vector_memory.cli import asking, output, progress
from vector_memory.cli.answers import Row

if TYPE_CHECKING:
    from vector_memory.cli.verbs import Verb

PLACES = ("project", "global", "all_projects")
"""What says which memories are meant."""


class Call:
    """One call of a verb.

    Attributes:
        verb: what `verbs.txt` says of it.
        values: what was given, by name; None for what was not.
        as_json: whether programs read the answer.
        asked: the daemon's verb.
        long_s: how long no byte may come where the work may be long, else 0.
    """

    def __init__(self, verb: Verb, values: Mapping[str, object]) -> None:
        self.verb = verb
        self.values = values
        self.as_json = bool(values.get("as_json"))
        self.asked, *words = verb.asks.split() or [""]
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
        more: asking.Request = {}
        for word, value in self._words.items():
            if word in asking.SECRETS:
                more |= asking.SECRETS[word]()
            elif value and word not in ("long", "timeout"):
                more[word] = json.loads(value) if value in ("true", "false") else value
        given = {
            one.name: self.values[one.name]
            for one in self.verb.given
            if not one.is_local and one.name not in (*PLACES, "as_json")
        }
        return asking.said(self.where(), {**given, **more})

    def ask(self, **more: object) -> Row:
        """Ask the daemon, starting one if none runs; with its progress where that takes long.

        Args:
            more: fields of the request beside those that were given, or in their place.

        Raises:
            VectorMemoryError: what the daemon reported, or that there is none.
        """
        request = asking.said(self.request(), more)
        if self.long_s:
            return progress.ask_long(self.asked, request, self.as_json, self.long_s)
        return asking.ask(self.asked, request, float(self._words.get("timeout", asking.TIMEOUT_S)))

    def show(self, answer: Row, show: Callable[[Row], object]) -> None:
        """Print an answer: whole for programs, by `show` for people."""
        output.answer(answer, self.as_json, show)

    def say(self, answer: Row, *lines: str) -> None:
        """Print an answer: whole for programs, for people these lines."""
        output.answer(answer, self.as_json, lambda _: output.say("\n".join(lines)))
