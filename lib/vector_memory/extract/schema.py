"""What a model's answer has to look like, and nothing else is taken from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from vector_memory.model import INTENTS

MIN_CHARS, MAX_CHARS = 20, 350
MIN_QUOTE_CHARS, MAX_QUOTE_CHARS = 8, 600
MOST_IDEAS = 8
MOST_ANSWER_CHARS = 20_000
MOST_TRIES = 20
MOST_TOLD_CHARS = 300


@dataclass(frozen=True)
class Extracted:
    """One idea that a model found: one sentence, what it is (one of `model.INTENTS`), how sure the model
    is (0 to 1), and the words of the text that it comes from."""

    text: str
    intent: str
    confidence: float
    quote: str


def parse(answer: str) -> list[Extracted]:
    """Return the ideas of an answer. Prose and fences around its JSON object are passed over; inside
    it everything has to be right.

    Raises:
        ValueError: there is no such object, or it is not as it should be; it says what is wrong.
    """
    from pydantic import ValidationError

    if len(answer) > MOST_ANSWER_CHARS:
        raise ValueError(f"It is longer than {MOST_ANSWER_CHARS} characters.")
    data = _ideas_object(answer)
    try:
        ideas = _answer_model().model_validate(data).ideas
    except ValidationError as error:
        raise ValueError(_error_text(error)) from error
    return [Extracted(idea.text, idea.intent, idea.confidence, idea.quote) for idea in ideas]


def json_schema() -> dict[str, object]:
    """Return the JSON schema of an answer, for backends that hold a model to one. Lengths are left
    out: grammars made of them are large, and servers refuse some."""
    idea = {
        "text": {"type": "string"},
        "intent": {"type": "string", "enum": list(INTENTS)},
        "confidence": {"type": "number"},
        "quote": {"type": "string"},
    }
    return _closed_object({"ideas": {"type": "array", "items": _closed_object(idea)}})


def _closed_object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _ideas_object(answer: str) -> dict[str, object]:
    """Return the last JSON object with ideas in an answer: models think aloud before it."""
    objects = [candidate for candidate in _json_objects(answer) if "ideas" in candidate]
    if not objects:
        raise ValueError('There is no JSON object with "ideas" in it.')
    return objects[-1]


def _json_objects(answer: str) -> Iterator[dict[str, object]]:
    """Yield the JSON objects in an answer; only so many beginnings are tried, each to its end."""
    start = answer.find("{")
    for _ in range(MOST_TRIES):
        if start < 0:
            return
        try:
            value, end = json.JSONDecoder().raw_decode(answer, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = answer.find("{", end)


@cache
def _answer_model() -> Any:
    """Return the model of an answer. pydantic is imported with the first one."""
    from typing import Literal

    from pydantic import ConfigDict, Field, create_model

    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)
    idea_fields: Any = {
        "text": (str, Field(min_length=MIN_CHARS, max_length=MAX_CHARS)),
        "intent": (Literal[INTENTS], ...),
        "confidence": (float, Field(ge=0, le=1)),
        "quote": (str, Field(min_length=MIN_QUOTE_CHARS, max_length=MAX_QUOTE_CHARS)),
    }
    idea: Any = create_model("Idea", __config__=strict, **idea_fields)
    ideas: Any = (list[idea], Field(max_length=MOST_IDEAS))
    return create_model("Answer", __config__=strict, ideas=ideas)


def _error_text(error: Any) -> str:
    """Return what is wrong, for the model: places and reasons, never what it wrote."""
    problems = [
        f"{_field_path(problem['loc'])}: {problem['msg']}"
        for problem in error.errors(include_input=False)
    ]
    return "; ".join(problems)[:MOST_TOLD_CHARS]


def _field_path(parts: tuple[int | str, ...]) -> str:
    names = {"ideas", *(field.name for field in fields(Extracted))}
    return ".".join(str(part) if part in names or isinstance(part, int) else "?" for part in parts)
