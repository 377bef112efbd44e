"""What a language model adds to the topics of a session that is over, where one is set: whether another topic begins
where the signs are in doubt, and a summary in its words. Rules have done both before, and do it alone where the
day's calls are used up."""

from __future__ import annotations

from dataclasses import replace

from vector_memory import redact
from vector_memory.index.topics import shifts, spans
from vector_memory.index.topics.turns import TopicTurn
from vector_memory.model import TOPIC, Scope, digest_of
from vector_memory.service.base import model_help
from vector_memory.service.base.context import Context
from vector_memory.service.capture import session_topics
from vector_memory.service.capture.session_topics import SessionContents
from vector_memory.service.memory import trust_marks

DOUBT = 0.5
"""How near to nothing a score is that the model is asked about."""
MOST_SHIFTS, MOST_TOPICS = 6, 8
"""About how many the model is asked in a session."""
TURN_CHARS, SUMMARY_CHARS = 700, 320
_SHIFT = (
    "Below are the end of a conversation and the prompt that followed. Does the prompt begin another topic?"
    " Answer yes or no."
)
_WORDS = (
    "Below is a part of a developer's session. Say in one or two plain sentences what was decided, found out or left"
    " open. Use only what stands there."
)


def refine(ctx: Context, session: str) -> int:
    """Let the model look at a session that is over; return of how many topics it has worded the summary."""
    if not ctx.settings.generation_backend:
        return 0
    decided = [
        _decide(ctx, session_contents) for session_contents in session_topics.read(ctx, session)
    ]
    told = (
        session_topics.derive(ctx, [session]) if any(decided) else session_topics.read(ctx, session)
    )
    count = sum(_word(ctx, session_contents) for session_contents in told)
    if count:
        ctx.notify()
    return count


def _decide(ctx: Context, one: SessionContents) -> int:
    """Ask where another topic begins in doubt; return how many answers there were. None is asked for twice."""
    sort = session_topics.SHIFTS + one.session
    known, answers = ctx.state.records(sort), 0
    turns = one.told
    found = shifts.scores(turns)
    doubtful = [at for at, score in enumerate(found) if at and abs(score) < DOUBT]
    for at in doubtful[:MOST_SHIFTS]:
        key = turns[at].first.key
        if key in known or ctx.stopping.is_set():
            continue
        text = f"{_end(turns[at - 1])}\n\nPrompt: {turns[at].prompt[:TURN_CHARS]}"
        said = model_help.answer(ctx, _SHIFT, text).casefold()[:3]
        if said in ("yes", "no", "no.", "no,"):
            ctx.state.put_record(sort, key, {"begins": said == "yes"})
            answers += 1
    return answers


def _end(turn: TopicTurn) -> str:
    return f"{turn.prompt[:TURN_CHARS]}\n{turn.answer[-TURN_CHARS:]}"


def _word(ctx: Context, one: SessionContents) -> int:
    """Word the summaries of a session's topics that have none in the model's words yet."""
    scope = Scope(sessions=(one.session,), kinds=(TOPIC,), projects=(one.project,))
    # A topic's first part begins with the same turn, so that both have its key.
    stored = {
        memory.extra.get("key"): memory
        for memory in one.shelf.journal.iter_memories(scope)
        if memory.extra.get("level") == spans.TOPIC
    }
    done = 0
    for span in one.tree[:MOST_TOPICS]:
        memory = stored.get(span.key)
        if memory is None or memory.extra.get(session_topics.WORDED) or ctx.stopping.is_set():
            continue
        talk = "\n".join(
            f"{turn.prompt[:TURN_CHARS]}\n{turn.answer[-TURN_CHARS:]}" for turn in span.members
        )
        said = model_help.worded(ctx, _WORDS, f"{memory.text}\n{talk}", SUMMARY_CHARS)
        if not said:
            continue
        with session_topics.ONE_AT_A_TIME:
            now = one.shelf.journal.by_ids([memory.id]).get(memory.id)
            if now is None or now.text != memory.text:
                # It was purged, or is another topic by now.
                continue
            lines = session_topics.clip_lines(
                [memory.title, said, *memory.text.split("\n")[1:]], session_topics.TEXT_CHARS
            )
            mark = {session_topics.WORDED: digest_of(memory.text)}
            new = trust_marks.settled(
                replace(now, text=redact.clean(lines).text, extra={**now.extra, **mark})
            )
            one.shelf.journal.update(new)
        done += 1
    return done
