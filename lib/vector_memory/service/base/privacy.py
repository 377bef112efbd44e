"""Whose rules of privacy apply: those of the project that a request is about, and all of them once more
to what is shown."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any, TypeVar

from vector_memory import redact
from vector_memory.errors import BadInputError, UnsafeTextError
from vector_memory.redact import policy
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.system.json_in import Record
from vector_memory.text import tables

T = TypeVar("T")

_FIELDS = tables.sets("answer_fields", os.path.dirname(__file__))
AS_THEY_ARE = _FIELDS["as they are"]
"""Fields of an answer that hold ids, times, places and words of ours: who asks goes on with them. All else may be
anybody's words."""
BY_NAME = _FIELDS["by name"]
"""Fields whose own fields are called by anybody's words."""
DROPPED = "[redacted:unsafe]"
CONFIGURATIONS = "configurations"
"""The small records that tell under which configurations a transcript's session ran."""


def _begin(ctx: Context) -> None:
    """Put the settings in force, and look at the files of rules anew: a rule holds from the next request
    on, not a second later."""
    policy.configure(ctx.settings.redact_personal)
    policy.forget_files()


def for_folder(
    ctx: Context, folder: str, configurations: Sequence[str] | None = None
) -> contextlib.AbstractContextManager[None]:
    """Redact in this block by the settings, by the rules of a folder's project, and by those of the client's
    configurations that a session ran under; by default by those that count already.

    Returns:
        A block for `with`.
    """
    _begin(ctx)
    return redact.for_project(ctx.place(folder).folders if folder else (), configurations)


def note_configurations(ctx: Context, transcript: str) -> None:
    """Remember under which of the client's configurations a session runs whose transcript lies in none of them:
    whatever reads it later keeps to their rules, too."""
    configurations = set(policy.configurations())
    if configurations - set(ran_under(ctx, transcript, ())):
        ctx.state.put_record(CONFIGURATIONS, transcript, {"folders": sorted(configurations)})


def ran_under(
    ctx: Context, transcript: str, counting: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the client's configurations whose rules hold for a transcript.

    Args:
        counting: those that count already, by default those of this request.
    """
    noted_folders = ctx.state.records(CONFIGURATIONS).get(transcript, Record()).words("folders")
    in_force = policy.configurations() if counting is None else counting
    return (*in_force, *policy.configuration_of(transcript), *noted_folders)


def for_request(ctx: Context, sent: request_fields.Sent) -> contextlib.AbstractContextManager[None]:
    """Redact in this block by the settings, and by the rules of the project that a request is about.

    Returns:
        A block for `with`.
    """
    _begin(ctx)
    try:
        place = request_fields.place_of(ctx, sent)
    except BadInputError:
        # The use case that answers the request reports it.
        place = None
    folder = sent.get("configuration")
    folders = [folder] if isinstance(folder, str) else []
    return redact.for_project(place.folders if place else (), folders)


def word(text: str) -> str:
    """Return a short text, such as a kind or a session's name, without secrets."""
    return redact.clean(text).text


def word_or(text: str, otherwise: T) -> str | T:
    """Return a text without secrets, or something else where it cannot be made safe."""
    try:
        return word(text)
    except UnsafeTextError:
        return otherwise


def line(text: str, chars: int) -> str:
    """Return a text in one line, without secrets, of so many characters at most."""
    return " ".join(word(text).split())[:chars]


def redacted_again(answer: Any) -> Any:
    """Return an answer with its words redacted once more: what was stored under weaker rules must not be
    shown under these."""
    safe_texts: dict[tuple[str, int], str] = {}

    def safe(text: str) -> str:
        # The same text stands in an answer many times: a project's name, a transcript's path.
        key = (text, redact.values_known())
        if text and key not in safe_texts:
            safe_texts[key] = word_or(text, DROPPED)
        return safe_texts.get(key, text)

    def safe_part(value: Any, field: str) -> Any:
        if isinstance(value, dict):
            return {
                safe(name) if field in BY_NAME or not name.isidentifier() else name: safe_part(
                    inner, name
                )
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [safe_part(element, field) for element in value]
        return safe(value) if isinstance(value, str) and field not in AS_THEY_ARE else value

    return safe_part(answer, "")
