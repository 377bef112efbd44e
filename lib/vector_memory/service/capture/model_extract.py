"""Ideas that a language model finds in what was said, where the user switched it on.

It is slow, so it runs where nobody waits: behind a turn's end, never on a hook's way. Whatever goes
wrong, the ideas that rules find are there without it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError, GenerationError, UnsafeTextError
from vector_memory.extract.chunks import chunks
from vector_memory.extract.extractor import extract
from vector_memory.extract.schema import Extracted
from vector_memory.service.base import model_help
from vector_memory.service.base.context import Context

log = logging.getLogger(__name__)

TIMEOUT_S = 120.0
"""Nobody waits, and a model without a graphics card takes its time."""
LEAST_CHARS = 80
MOST_CHUNKS = 20
"""No single text takes the whole day's allowance."""


def extracted(ctx: Context, text: str, known: Sequence[str]) -> list[Extracted]:
    """Return the ideas that the model finds in a text beside those that are known; [] where it is off,
    was asked often enough today, or failed a moment ago. Takes minutes: for background threads.

    Args:
        text: what was said; it is redacted before the model sees it.
        known: the texts that rules found in it.
    """
    if not _wanted(ctx) or ctx.generation.rests(ctx.now()):
        return []
    try:
        clean = redact.clean(text).text
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return []
    found: list[Extracted] = []
    try:
        for chunk in chunks(clean)[:MOST_CHUNKS]:
            if len(chunk) >= LEAST_CHARS:
                found += _ideas(ctx, chunk, [*known, *(idea.text for idea in found)])
    except (GenerationError, BadInputError) as error:
        log.warning("ideas are left to the rules: %s", error)
    ctx.count("ideas_extracted", len(found))
    return found


def _wanted(ctx: Context) -> bool:
    return ctx.settings.extraction and bool(ctx.settings.generation_backend)


def _ideas(ctx: Context, chunk: str, known: Sequence[str]) -> list[Extracted]:
    def ask(prompt: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        # The gate answers yes or no; what follows has a schema.
        model = ctx.settings.generation_gate_model if schema is None else ""
        return model_help.asked(ctx, prompt, max_tokens, TIMEOUT_S, schema, model)

    found = extract(chunk, known, ask, gate=ctx.settings.extraction_gate)
    if found.garbage:
        ctx.generation.count("garbage", ctx.local_now().date(), found.garbage)
    return found.ideas
