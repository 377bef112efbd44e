"""Errors and their fixes as drafts: one for each error of an exchange, with what was tried in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from vector_memory.index import tools
from vector_memory.index.exchanges import Exchange
from vector_memory.index.fixes.errors import signature
from vector_memory.index.fixes.fixes import INSTEAD, Episode, episodes, short_command
from vector_memory.index.fixes.likeness import PARTICULARS, SHAPE, likeness, needs, particulars
from vector_memory.index.memories import Draft
from vector_memory.model import EPISODES, SUBAGENT_TAG, unique
from vector_memory.text import suspicion
from vector_memory.text.harmless import TOOL, between_marks

KIND, COLLECTION, TAG = "solution", EPISODES, "fix"
SIGNATURE_TAG = "sig:"
_FIX = ":fix:"
"""Stands between the exchange and the number in a fix's name."""
TEXT_CHARS = 480
LEAST_CHARS = 60
RAN, RAN_CHARS = "ran", 1_000
"""In `extra`: the command lines that the fix would have somebody run, each up to this length."""
MOST_CHANGES = 4

Clean = Callable[[str], str]


def fix_drafts(
    exchange: Exchange,
    path: str = "",
    fallback_at: datetime | None = None,
    clean: Clean = str,
) -> list[Draft]:
    """Return what failed and was mended as drafts, one for each error: where it came again after a
    change, that change is what was tried, and the last one mended it.

    Raises:
        UnsafeTextError: `clean` could not handle a text.
    """
    groups: dict[tuple[str, str], list[Episode]] = {}
    for episode in episodes(exchange, clean):
        sign = signature(clean(episode.failed.output), clean(episode.failed.command))
        groups.setdefault((episode.exchange.key, sign), []).append(episode)
    return [_draft(group, sign, path, fallback_at, clean) for (_, sign), group in groups.items()]


def _draft(
    group: Sequence[Episode], sign: str, path: str, fallback_at: datetime | None, clean: Clean
) -> Draft:
    first, last = group[0], group[-1]
    exchange = last.exchange
    at = last.success.at or exchange.ended_at or fallback_at
    files = unique(clean(file) for file in last.files)
    command = clean(last.failed.command)
    like = likeness(clean(last.failed.output), command)
    shape = needs(like, command, last.steps, files) if like else {}
    return Draft(
        text=_text(last, clean),
        title=between_marks(clean(last.error), TOOL),
        created_at=at or datetime.now(timezone.utc),
        session=exchange.session,
        turn=exchange.turn,
        path=path,
        line_start=first.failed.line,
        line_end=last.success.output_line or last.success.line,
        speaker="assistant",
        files=files,
        tags=(
            TAG,
            SIGNATURE_TAG + sign,
            *([SIGNATURE_TAG + shape[SHAPE]] if shape else ()),
            *((SUBAGENT_TAG,) if exchange.is_subagent else ()),
        ),
        external_id=f"{exchange.key}{_FIX}{first.number}",
        origin="assistant",
        cwd=exchange.cwd,
        kind=KIND,
        collection=COLLECTION,
        extra={
            "signature": sign,
            PARTICULARS: sorted(
                {word for episode in group for word in _particulars(episode, clean)}
            ),
            "command": clean(short_command(last.failed.command)),
            "families": [clean(job) for job in last.families],
            "files": list(files),
            "tried": list(_vain_changes(group, clean)),
            RAN: [
                clean(step.command)[:RAN_CHARS]
                for step in last.steps[-MOST_CHANGES:]
                if step.command
            ],
            **shape,
            **suspicion.mark_of_mixed(clean(last.error), _text(last, clean)),
        },
    )


def exchange_of(external_id: str) -> str:
    """Return the name of the exchange that a fix was drawn from."""
    return external_id.rpartition(_FIX)[0]


def _particulars(episode: Episode, clean: Clean) -> frozenset[str]:
    return particulars(clean(episode.failed.output), clean(episode.failed.command))


def _vain_changes(group: Sequence[Episode], clean: Clean) -> tuple[str, ...]:
    """Return what was done before the error came again."""
    last = set(group[-1].changes)
    lines = unique(line for episode in group[:-1] for line in episode.changes if line not in last)
    return tuple(tools.clip(clean(line), LEAST_CHARS * 2) for line in lines[-MOST_CHANGES:])


def _text(episode: Episode, clean: Clean) -> str:
    """Return an episode as a sentence or two that can be understood alone."""
    head = f"ERROR {between_marks(_sentence(clean(episode.error)), TOOL)} FIX "
    tail = f" (command `{clean(short_command(episode.failed.command))}`)"
    room = TEXT_CHARS - len(head) - len(tail)
    reason = tools.clip(_sentence(clean(episode.reason)), room // 2) if episode.reason else ""
    # What is cut is the end: neither an edit nor the corrected command must be.
    changes = sorted(
        episode.changes[-MOST_CHANGES:],
        key=lambda line: (line.startswith("ran "), not line.endswith(INSTEAD)),
    )
    change_text = tools.clip(clean("; ".join(changes)), max(LEAST_CHARS, room - len(reason) - 2))
    return head + " ".join(part for part in (reason, _sentence(change_text)) if part) + tail


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
