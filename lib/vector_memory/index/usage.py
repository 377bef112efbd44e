"""What a session took of its models: tokens by day and model, read from its transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields

from vector_memory.index.codex import is_rollout, without_copies
from vector_memory.index.transcript import TranscriptEntry, read_entries
from vector_memory.system.json_in import Record
from vector_memory.text.words import is_made_of

LONGEST_NAME = 80
_NO_MODEL = "<synthetic>"


@dataclass
class Usage:
    """Tokens: read anew, written by the model, put into the cache for five minutes and for an hour, read from
    there; and how many answers that were."""

    input: int = 0
    output: int = 0
    cache_5m: int = 0
    cache_1h: int = 0
    cached: int = 0
    answers: int = 0

    def add(self, other: Usage) -> None:
        """Add what another one took."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_5m + self.cache_1h + self.cached


Key = tuple[str, str]
"""A day (`2026-05-03`, UTC) and a model's name."""


def usage_of(path: str) -> dict[Key, Usage]:
    """Return what a transcript's models took, by day and model; subagents in the same file count too. What a
    rollout copied from another one counts there alone.

    Raises:
        OSError: the file cannot be read.
    """
    answers: dict[str, tuple[Key, Usage]] = {}
    usages: dict[Key, Usage] = defaultdict(Usage)
    model, common = "", Record()
    for entry in without_copies(read_entries(path, final=True), common):
        if is_rollout(entry.data) or entry.data.text("type") in ("turn_context", "event_msg"):
            payload = entry.data.part("payload")
            model = _valid_name(payload.text("model")) or model or _valid_name(common.text("model"))
            usages[_usage_key(entry, model)].add(_usage_of_rollout(payload))
        elif entry.data.text("type") == "assistant":
            message = entry.data.part("message")
            name = message.text("model")
            if _valid_name(name) and name != _NO_MODEL and message.part("usage"):
                # An answer stands in several lines, each with what it had taken by then.
                id = message.text("id") or f"{entry.line}:{entry.part}"
                answers[id] = _usage_key(entry, name), _usage_of_message(message.part("usage"))
    for key, usage in answers.values():
        usages[key].add(usage)
    return {key: usage for key, usage in usages.items() if usage.tokens}


def total(usages: Iterable[Usage]) -> Usage:
    """Return what several took together."""
    whole = Usage()
    for usage in usages:
        whole.add(usage)
    return whole


def _valid_name(name: str) -> str:
    return name if is_made_of(name, "_.:/@[]-", LONGEST_NAME) else ""


def _usage_key(entry: TranscriptEntry, model: str) -> Key:
    at = entry.written_at
    return (f"{at:%Y-%m-%d}" if at else ""), model or "unknown"


def _usage_of_message(usage: Record) -> Usage:
    creation = usage.part("cache_creation")
    for_hour = creation.number("ephemeral_1h_input_tokens")
    written = usage.number("cache_creation_input_tokens")
    return Usage(
        usage.number("input_tokens"),
        usage.number("output_tokens"),
        max(0, written - for_hour),
        for_hour,
        usage.number("cache_read_input_tokens"),
        1,
    )


def _usage_of_rollout(payload: Record) -> Usage:
    last = payload.part("info").part("last_token_usage")
    if payload.text("type") != "token_count" or not last:
        return Usage()
    cached = last.number("cached_input_tokens")
    return Usage(
        max(0, last.number("input_tokens") - cached),
        last.number("output_tokens"),
        cached=cached,
        answers=1,
    )
