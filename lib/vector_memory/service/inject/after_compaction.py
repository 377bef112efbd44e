"""What a session is told of itself again after a compaction: its latest topic with its files, what was decided
and left open, and the topics before."""

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
    project may have a session of the same name: an import names its sessions as it likes."""
    if not question.session:
        return []
    names = question.names
    room = int(ctx.settings.start_tokens * SHARE) - render.FENCE_TOKENS
    scope = replace(question.scope, sessions=(question.session,))
    own_notes: list[fence.Note] = []
    for memory, budget in _memories_with_tokens(question.shelves, scope):
        if memory.is_held:
            continue
        if any(memory.text[:SAME_CHARS] in note.text for note in own_notes):
            continue
        note = render.note(memory, names[memory.project], budget)
        if note.tokens <= room:
            own_notes.append(note)
            room -= note.tokens
    return own_notes


def _memories_with_tokens(shelves: Sequence[Shelf], scope: Scope) -> Iterator[tuple[Memory, int]]:
    """Yield memories of a session with the tokens that each may take."""
    topic_scope, idea_scope = replace(scope, kinds=(TOPIC,)), replace(scope, kinds=KINDS)
    topics = each_of(shelves, lambda journal: journal.iter_memories(topic_scope))
    topics.sort(key=lambda topic: (topic.created_at, topic.extra.get("level", 1)), reverse=True)
    yield from ((_with_files(memory), CURRENT_TOKENS) for memory in topics[:1])
    ideas = newest_of(shelves, lambda journal: journal.iter_memories(idea_scope))
    topic_names = tuple(memory.title.casefold() for memory in topics if memory.title)
    for idea in ideas:
        # A request that a topic is named after is told with that topic.
        if not idea.extra.get("done") and not idea.text.casefold().endswith(topic_names):
            yield idea, NOTE_TOKENS
    yield from ((memory, NOTE_TOKENS) for memory in topics[1:])


def _with_files(memory: Memory) -> Memory:
    """Return a topic with the names of the files it is at."""
    if not memory.files:
        return memory
    files = ", ".join(os.path.basename(file) for file in memory.files[:MOST_FILES])
    text = redact.clean(f"{memory.text}\nFiles in work: {files}").text
    return replace(memory, text=text)
