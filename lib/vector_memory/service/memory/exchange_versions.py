"""Which of two readings of one exchange is kept, and what changes in the store for it.

An exchange is read again and again: it grows, a fork holds a part of it, a file was rewritten. What
says more is kept, whichever came first, so that the end is the same in whatever order files are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from vector_memory.journal.journal import Journal
from vector_memory.model import (
    BRANCH,
    EDITED,
    LOOKUP,
    PULL,
    TOOK_AWAY,
    WROTE,
    Memory,
    Status,
    strictest,
    unique,
)
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.passages import number_of


class Changes(NamedTuple):
    """What is to be written for an exchange: new passages, changed ones, and the ids of passages that
    the exchange has no longer."""

    added: list[Memory]
    changed: list[Memory]
    dropped: list[str]


NOTHING = Changes([], [], [])


def exchange_of(external_id: str) -> str:
    """Return the name of the exchange that a passage belongs to."""
    return external_id.rpartition(":")[0]


def memory_id(external_id: str, project: str) -> str:
    """Return the id of a captured memory: the same exchange always has the same, so that indexing
    it again, in whatever copy of the transcript, adds nothing."""
    words = f"{project}\0{external_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(words, digest_size=16).hexdigest()


def under_known_ids(journal: Journal, captured: Iterable[Memory]) -> list[Memory]:
    """Return captured memories under the ids by which their project has them, of whatever status: a project that took
    over another's memories keeps their ids. What was forgotten there, or edited, stays so."""
    memories = list(captured)
    stored = journal.by_ids([memory.id for memory in memories])
    return [
        memory if memory.id in stored else replace(memory, id=_known_id(journal, memory))
        for memory in memories
    ]


def _known_id(journal: Journal, memory: Memory) -> str:
    if not memory.external_id:
        return memory.id
    imported = journal.find_imported(memory.external_id, memory.project)
    return next(
        (candidate.id for candidate in imported if candidate.external_id == memory.external_id),
        memory.id,
    )


def compare(captured: Sequence[Memory], stored: Sequence[Memory]) -> Changes:
    """Return what makes the stored passages of an exchange those that were read.

    Args:
        captured: the passages that were read.
        stored: those in the store, of every status.
    """
    if not stored:
        return Changes(list(captured), [], [])
    if any(memory.status is not Status.ACTIVE or memory.extra.get(EDITED) for memory in stored):
        # The user took something out of it: that must not come back in another passage.
        return compare_each(captured, stored)
    if not _says_more(captured, stored):
        return NOTHING
    external_ids = {memory.external_id for memory in captured}
    added, changed, _ = compare_each(captured, stored, _differs)
    return Changes(
        added, changed, [memory.id for memory in stored if memory.external_id not in external_ids]
    )


def _differs(new: Memory, old: Memory) -> bool:
    names = (BRANCH, PULL, LOOKUP, WROTE, TOOK_AWAY)
    return new.text != old.text or any(new.extra.get(name) != old.extra.get(name) for name in names)


def _has_grown(new: Memory, old: Memory) -> bool:
    if old.status is not Status.ACTIVE or old.extra.get(EDITED) or new.text == old.text:
        return False
    return new.source.path == old.source.path or len(new.text) > len(old.text)


def compare_each(
    captured: Sequence[Memory],
    stored: Sequence[Memory],
    replaces: Callable[[Memory, Memory], bool] = _has_grown,
) -> Changes:
    """Return what is new and what changes, each memory by itself: none is dropped."""
    stored_by_id = {memory.external_id: memory for memory in stored}
    added = [memory for memory in captured if memory.external_id not in stored_by_id]
    pairs = [
        (memory, stored_by_id[memory.external_id])
        for memory in captured
        if memory.external_id in stored_by_id
    ]
    return Changes(added, [over(*pair) for pair in pairs if replaces(*pair)], [])


def over(new: Memory, old: Memory) -> Memory:
    """Return a memory as it takes the place of the one stored; what the user may have set stays."""
    extra = {name: value for name, value in old.extra.items() if name != LOOKUP}
    return replace(
        old,
        text=new.text,
        title=new.title,
        created_at=new.created_at,
        kind=new.kind,
        origin=new.origin,
        tags=unique((*new.tags, *old.tags)),
        files=new.files,
        source=new.source,
        sensitivity=strictest(old.sensitivity, new.sensitivity),
        jurisdiction=old.jurisdiction or new.jurisdiction,
        # The marks belong to the words: those of the old ones go with them.
        extra={**trust_marks.unmarked(extra), **new.extra},
    )


def _says_more(captured: Sequence[Memory], stored: Sequence[Memory]) -> bool:
    """Whether what was read is more than a beginning of what is stored. A copy in another file that
    went another way must also be longer."""
    read_words, stored_words = _joined_words(captured), _joined_words(stored)
    read_source, stored_source = captured[0].source, stored[0].source
    is_same_file = read_source.path == stored_source.path
    if read_words == stored_words or (
        stored_words.startswith(read_words)
        and not (is_same_file and read_source.line_end >= stored_source.line_end)
    ):
        # Where the same file was read as far and says less, the last answer that a hook handed over came
        # before its prompt was read, and was taken for an answer to the prompt before.
        return False
    return is_same_file or len(read_words) > len(stored_words)


def _joined_words(passages: Sequence[Memory]) -> str:
    """Return what passages say together, wherever they were cut."""
    ordered = sorted(passages, key=number_of)
    return "".join("".join(memory.text.split()) for memory in ordered)
