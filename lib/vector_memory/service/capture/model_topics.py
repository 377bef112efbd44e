"""What a language model adds to the topics of a session that is over, where one is set: whether another topic begins
where the signs are in doubt, and a summary in its words. Rules have done both before, and do it alone where the
day's calls are used up."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from vector_memory import redact
from vector_memory.index.topics import shifts, spans
from vector_memory.index.topics.turns import TopicTurn
from vector_memory.model import TOPIC, Scope, digest_of
from vector_memory.service.base import model_help, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_roots
from vector_memory.service.capture import session_topics
from vector_memory.service.capture.session_topics import SessionContents
from vector_memory.service.memory import trust_marks
from vector_memory.text.harmless import without_marked

DOUBT = 0.5
"""How near to nothing a score is that the model is asked about."""
MOST_SHIFTS, MOST_TOPICS = 6, 8
"""About how many the model is asked in a session."""
TURN_CHARS, SUMMARY_CHARS = 700, 320
_SHIFT = (
    "Below are the end of a conversation and the prompt that followed. Does the prompt begin another topic?"
    " Answer yes or no."
)
_WORDING = (
    "Below is a part of a developer's session. Say in one or two plain sentences what was decided, found out or left"
    " open. Use only what stands there."
)


def refine(ctx: Context, session: str) -> int:
    """Let the model look at a session that is over; return of how many topics it has worded the summary.

    Raises:
        GenerationError, BadInputError: the model could not be asked. What it has said until then is kept, and it is not
            asked for it again, nor for what of it could not be taken.
    """
    if not ctx.settings.generation_backend:
        return 0
    for part in session_topics.read(ctx, session):
        with _rules_of(ctx, part):
            _decide_shifts(ctx, part)
    # Also by what it said another time, before it could not be asked for the rest.
    is_decided = bool(ctx.state.records(session_topics.SHIFTS + session))
    parts = (
        session_topics.derive(ctx, [session]) if is_decided else session_topics.read(ctx, session)
    )
    count = 0
    for part in parts:
        with _rules_of(ctx, part):
            count += _word_summaries(ctx, part)
    return count


def _rules_of(ctx: Context, contents: SessionContents) -> contextlib.AbstractContextManager[None]:
    """Let what the model is told in this block keep to the project's rules."""
    root = project_roots([contents.shelf]).get(contents.project, "")
    return privacy.for_folder(ctx, root)


def _decide_shifts(ctx: Context, contents: SessionContents) -> None:
    """Ask where another topic begins in doubt. No answer is asked for twice."""
    record_kind = session_topics.SHIFTS + contents.session
    answered = ctx.state.records(record_kind)
    turns = contents.topic_turns
    scores = shifts.scores(turns)
    doubtful = [index for index, score in enumerate(scores) if index and abs(score) < DOUBT]
    for index in doubtful[:MOST_SHIFTS]:
        key = turns[index].first.key
        if key in answered or ctx.stopping.is_set():
            continue
        text = f"{_end_of(turns[index - 1])}\n\nPrompt: {_start_of(turns[index])}"
        reply = model_help.answer(ctx, _SHIFT, text).casefold()[:3]
        decided = reply == "yes" if reply in ("yes", "no", "no.", "no,") else None
        ctx.state.put_record(record_kind, key, {"begins": decided})


def _end_of(turn: TopicTurn) -> str:
    return f"{_start_of(turn)}\n{without_marked(turn.answer)[-TURN_CHARS:]}"


def _start_of(turn: TopicTurn) -> str:
    return without_marked(turn.prompt)[:TURN_CHARS]


def _word_summaries(ctx: Context, contents: SessionContents) -> int:
    """Word the summaries of a session's topics that have none in the model's words yet."""
    scope = Scope(sessions=(contents.session,), kinds=(TOPIC,), projects=(contents.project,))
    # A topic's first part begins with the same turn, so that both have its key.
    stored = {
        memory.extra.get("key"): memory
        for memory in contents.shelf.journal.iter_memories(scope)
        if memory.extra.get("level") == spans.TOPIC
    }
    count = 0
    for span in contents.tree[:MOST_TOPICS]:
        memory = stored.get(span.key)
        if memory is None or memory.extra.get(session_topics.WORDED) or ctx.stopping.is_set():
            continue
        if not model_help.may_be_told([memory]):
            continue
        talk = "\n".join(map(_end_of, span.members))
        wording = model_help.reword(
            ctx, _WORDING, f"{memory.text}\n{talk}", SUMMARY_CHARS, [memory]
        )
        with session_topics.ONE_AT_A_TIME:
            current = contents.shelf.journal.by_ids([memory.id]).get(memory.id)
            if current is None or current.text != memory.text:
                # It was purged, or is another topic by now.
                continue
            # Also where its words could not be taken: it would find the same ones for the same topic.
            mark = {session_topics.WORDED: digest_of(memory.text)}
            asked = replace(current, extra={**current.extra, **mark})
            if wording:
                lines = [memory.title, wording, *memory.text.split("\n")[1:]]
                text = session_topics.clip_lines(lines, session_topics.TEXT_CHARS)
                asked = trust_marks.with_trust_marks(replace(asked, text=redact.clean(text).text))
            contents.shelf.journal.update(asked, current)
        ctx.notify()
        count += bool(wording)
    return count
