"""Mining: what a language model finds in a session beside the rules, where the user switched it on.

It reads the passages that are stored, so it sees nothing that was not redacted, and goes on from the
stretch of a turn that it has reached. A turn is done with when another one has come, or when the session is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.extract.chunks import chunks
from vector_memory.extract.extractor import extract
from vector_memory.extract.schema import Extracted
from vector_memory.index.voices import USER, voices
from vector_memory.model import (
    BY_MODEL,
    CONTEXT,
    PASSAGE,
    RULES,
    Memory,
    Origin,
    Scope,
    Sensitivity,
    digest_of,
    strictest,
)
from vector_memory.service.base import model_help, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_roots
from vector_memory.service.memory import placement
from vector_memory.service.memory.exchange_versions import memory_id, under_known_ids
from vector_memory.service.memory.passages import number_of
from vector_memory.system.json_in import Record
from vector_memory.text import harmless

LEAST_CHARS = 80
MOST_CHUNKS = 20
"""No single text takes the whole day's allowance."""
TAG = "model"
MOST_CONFIDENT = 0.6
"""What a model found is trusted no more than what the assistant said plainly."""
BUDGET_S = 900.0
"""How long one call of `mine` may take: other work of the model waits behind it. What it does not come to is read with
the next turn, or behind that work where the session is over."""
BEGUN = "begun"
"""In a cursor: of the turn after the last that was read, how many stretches were, by project."""
LEAST_TURN_CHARS = 200
"""A turn that says less is not worth a call: the rules have read it."""


def is_wanted(ctx: Context) -> bool:
    """Return whether the user wants a model to look for ideas, and has one."""
    return ctx.settings.extraction and bool(ctx.settings.generation_backend)


def mine(ctx: Context, sessions: Iterable[str], final: bool) -> bool:
    """Let the model read what is new in some sessions; return whether it came to their end.

    It ends at its budget or with the daemon, at the end of a stretch, and goes on there another time.

    Raises:
        GenerationError, BadInputError: the model could not be asked. It goes on there another time, too.
    """
    if not is_wanted(ctx):
        return True
    deadline = time.monotonic() + BUDGET_S

    def may_go_on() -> bool:
        return time.monotonic() < deadline and not ctx.stopping.is_set()

    for session in sessions:
        for shelf in ctx.opened_shelves():
            _mine_session(ctx, shelf, session, final, may_go_on)
        if not may_go_on():
            ctx.count("minings_cut_short")
            return False
    return True


def _mine_session(
    ctx: Context, shelf: Shelf, session: str, final: bool, may_go_on: Callable[[], bool]
) -> None:
    memories = list(shelf.journal.iter_memories(Scope(sessions=(session,))))
    cursor_name = f"mined:{shelf.journal.store_id}:{session}"
    reached = ctx.state.cursor(cursor_name) or Record()
    last_turn, begun = reached.number("turn"), reached.part(BEGUN)
    turns = sorted({memory.source.turn for memory in memories if memory.kind == PASSAGE})
    ready = [turn for turn in turns if turn > last_turn and (final or turn < turns[-1])]
    roots = project_roots([shelf])
    for turn in ready:
        for project in dict.fromkeys(memory.project for memory in memories):
            of_turn = [
                memory
                for memory in memories
                if (memory.source.turn, memory.project) == (turn, project)
            ]
            with privacy.for_folder(ctx, roots.get(project, "")):
                read = _mine_turn(ctx, shelf, of_turn, begun.number(project))
                while may_go_on() and next(read, None) is not None:
                    begun[project] = begun.number(project) + 1
                    ctx.state.set_cursor(cursor_name, {"turn": last_turn, BEGUN: begun})
            if not may_go_on():
                return
        last_turn, begun = turn, Record()
        ctx.state.set_cursor(cursor_name, {"turn": turn})


def _mine_turn(ctx: Context, shelf: Shelf, memories: Sequence[Memory], begun: int) -> Iterator[int]:
    """Let the model read a turn from a stretch on; yield for each how many ideas were stored."""
    if any(memory.sensitivity is Sensitivity.RESTRICTED for memory in memories):
        # Nothing is learned from an exchange of which a word is restricted.
        return
    passages = sorted(
        (
            memory
            for memory in memories
            if memory.kind == PASSAGE and model_help.may_be_told([memory])
        ),
        key=number_of,
    )
    # What tools printed and the user pasted is no idea of theirs.
    text = harmless.without_marked("\n".join(passage.text for passage in passages))
    if len(text) < LEAST_TURN_CHARS:
        return
    known_texts = [memory.text for memory in memories if memory.kind != PASSAGE]
    for ideas in extract_ideas(ctx, text, known_texts, begun):
        if len(shelf.journal.by_ids([passage.id for passage in passages])) < len(passages):
            # They were purged while the model read them.
            return
        yield sum(_is_stored(ctx, shelf, idea, passages) for idea in ideas)


def _is_stored(ctx: Context, shelf: Shelf, idea: Extracted, passages: Sequence[Memory]) -> bool:
    """Store a found idea; whether anything of it is new."""
    try:
        (draft,) = under_known_ids(shelf.journal, [_draft(idea, passages)])
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return False
    if not ctx.settings.captures(draft.kind):
        return False
    placed = placement.place(ctx, shelf, draft, placement.vector_of(ctx, draft))
    if placed.action == "unchanged":
        return False
    tied_ids = [tie.other.id for tie in placed.ties]
    ctx.audit("store", "job", [placed.memory.id, *tied_ids], did=placed.action)
    return True


def _may_bind(idea: Extracted, passages: Sequence[Memory]) -> bool:
    """Whether a found idea may be what the model says it is: what binds later sessions is taken from
    words of the user alone, not from what a tool or the assistant said."""
    if idea.intent not in RULES:
        return True
    quote = " ".join(idea.quote.split())
    user_voices = (
        voice for passage in passages for voice in voices(passage.text) if voice.who == USER
    )
    return any(quote in " ".join(voice.text.split()) for voice in user_voices)


def _draft(idea: Extracted, passages: Sequence[Memory]) -> Memory:
    """Return a found idea as a memory of the passage that it quotes."""
    passage = next((passage for passage in passages if idea.quote in passage.text), passages[0])
    cleaned = redact.clean(idea.text)
    external_id = f"{BY_MODEL}{digest_of(cleaned.text.lower(), size=12)}"
    return Memory(
        id=memory_id(external_id, passage.project),
        text=cleaned.text,
        title=redact.clean(passage.title).text,
        created_at=passage.created_at,
        kind=idea.intent if _may_bind(idea, passages) else CONTEXT,
        project=passage.project,
        confidence=min(MOST_CONFIDENT, idea.confidence),
        # Whoever it quotes, the wording is a model's: it never counts as the user's own.
        origin=Origin.ASSISTANT,
        tags=(TAG,),
        files=passage.files,
        sensitivity=strictest(*(passage.sensitivity for passage in passages)),
        jurisdiction=passage.jurisdiction,
        source=passage.source,
        external_id=external_id,
    )


def extract_ideas(
    ctx: Context, text: str, known_texts: Sequence[str], begun: int = 0
) -> Iterator[list[Extracted]]:
    """Yield for each stretch of a text the ideas that the model finds in it beside those that are known; nothing where it
    is off. Takes minutes: for background threads.

    Args:
        text: what was said; it is redacted before the model sees it.
        known_texts: the texts that rules found in it.
        begun: how many stretches were read before.

    Raises:
        GenerationError, BadInputError: the model fails, failed a moment ago, or was asked often enough today.
    """
    if not is_wanted(ctx):
        return
    try:
        clean = redact.clean(text).text
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return
    known_texts = list(known_texts)
    for chunk in chunks(clean)[begun:MOST_CHUNKS]:
        ideas = _ideas(ctx, chunk, known_texts) if len(chunk) >= LEAST_CHARS else []
        known_texts += [idea.text for idea in ideas]
        ctx.count("ideas_extracted", len(ideas))
        yield ideas


def _ideas(ctx: Context, chunk: str, known_texts: Sequence[str]) -> list[Extracted]:
    def ask(prompt: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        # The gate answers yes or no; what follows has a schema.
        model = ctx.settings.generation_gate_model if schema is None else ""
        return model_help.ask_at_leisure(ctx, prompt, max_tokens, schema, model)

    extraction = extract(chunk, known_texts, ask, gate=ctx.settings.extraction_gate)
    if extraction.garbage:
        ctx.generation.count("garbage", ctx.local_now().date(), extraction.garbage)
    return extraction.ideas
