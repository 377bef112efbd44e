"""What a session is given back of itself after a compaction: the topic it was at with its files, what
was decided and left open, and the topics before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vector_memory import redact
from vector_memory.model import TOPIC, Memory, Scope
from vector_memory.retrieve import render
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, each_of, newest_of
from vector_memory.text import fence

SHARE = 0.7
"""Of a start's tokens, what a session gets of itself at most; the rest is for what it always gets."""
CURRENT_TOKENS = 120
NOTE_TOKENS = 90
KINDS = ("decision", "preference", "question", "todo")
"""What is told beside the topics, which say themselves what was found."""
MOST_FILES = 8
SAME_CHARS = 60
"""A memory that begins as something that is told already is not told again."""


def notes(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the notes of a session about itself, the most useful first, within their share. Another
    project may have a session of the same name: an import calls its own as it likes."""
    if not question.session:
        return []
    names = question.names
    left = int(ctx.settings.start_tokens * SHARE) - render.FENCE_TOKENS
    own = replace(question.scope, sessions=(question.session,))
    made: list[fence.Note] = []
    for memory, budget in _chosen(question.shelves, own):
        if memory.is_held:
            continue
        if any(memory.text[:SAME_CHARS] in one.text for one in made):
            continue
        note = render.note(memory, names[memory.project], budget)
        if note.tokens <= left:
            made.append(note)
            left -= note.tokens
    return made


def _chosen(shelves: Sequence[Shelf], own: Scope) -> Iterator[tuple[Memory, int]]:
    """Yield memories of a session with the tokens that each may take."""
    topics, ideas = replace(own, kinds=(TOPIC,)), replace(own, kinds=KINDS)
    told = each_of(shelves, lambda journal: journal.iter_memories(topics))
    told.sort(key=lambda one: (one.created_at, one.extra.get("level", 1)), reverse=True)
    yield from ((_with_files(memory), CURRENT_TOKENS) for memory in told[:1])
    said = newest_of(shelves, lambda journal: journal.iter_memories(ideas))
    names = tuple(memory.title.casefold() for memory in told if memory.title)
    for one in said:
        # A request that a topic is named after is told with that topic.
        if not one.extra.get("done") and not one.text.casefold().endswith(names):
            yield one, NOTE_TOKENS
    yield from ((memory, NOTE_TOKENS) for memory in told[1:])


def _with_files(memory: Memory) -> Memory:
    """Return a topic with the names of the files it is at."""
    if not memory.files:
        return memory
    files = ", ".join(os.path.basename(file) for file in memory.files[:MOST_FILES])
    text = redact.clean(f"{memory.text}\nFiles in work: {files}").text
    return replace(memory, text=text)
