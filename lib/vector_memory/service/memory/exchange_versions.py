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
from vector_memory.model import BRANCH, LOOKUP, PULL, TOOK_AWAY, WROTE, Memory, Status, unique
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.passages import number_of


class Changes(NamedTuple):
    """What is to be written for an exchange: new passages, changed ones, and the ids of passages that
    the exchange has no longer."""

    added: list[Memory]
    changed: list[Memory]
    dropped: list[str]


EDITED = "edited"
"""What a memory's `extra` says where the user wrote its text: no reading replaces that."""
NOTHING = Changes([], [], [])


def exchange_of(external_id: str) -> str:
    """Return the name of the exchange that a passage belongs to."""
    return external_id.rpartition(":")[0]


def memory_id(external_id: str, project: str) -> str:
    """Return the id of a captured memory: the same exchange always has the same, so that indexing
    it again, in whatever copy of the transcript, adds nothing."""
    words = f"{project}\0{external_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(words, digest_size=16).hexdigest()


def under_known_ids(journal: Journal, made: Iterable[Memory]) -> list[Memory]:
    """Return captured memories under the ids by which their project has them, of whatever status: one that took
    another's memories over has them under ids of the other. What was forgotten there, or edited, stays so."""
    new = list(made)
    known = journal.by_ids([memory.id for memory in new])
    return [
        memory if memory.id in known else replace(memory, id=_known_id(journal, memory))
        for memory in new
    ]


def _known_id(journal: Journal, memory: Memory) -> str:
    if not memory.external_id:
        return memory.id
    found = journal.find_imported(memory.external_id, memory.project)
    return next((one.id for one in found if one.external_id == memory.external_id), memory.id)


def compare(made: Sequence[Memory], stored: Sequence[Memory]) -> Changes:
    """Return what makes the stored passages of an exchange those that were read.

    Args:
        made: the passages that were read.
        stored: those in the store, of every status.
    """
    if not stored:
        return Changes(list(made), [], [])
    if any(memory.status is not Status.ACTIVE or memory.extra.get(EDITED) for memory in stored):
        # The user took something out of it: that must not come back in another passage.
        return each(made, stored)
    if not _says_more(made, stored):
        return NOTHING
    kept = {memory.external_id for memory in made}
    added, changed, _ = each(made, stored, _differs)
    return Changes(
        added, changed, [memory.id for memory in stored if memory.external_id not in kept]
    )


def _differs(new: Memory, old: Memory) -> bool:
    where = (BRANCH, PULL, LOOKUP, WROTE, TOOK_AWAY)
    return new.text != old.text or any(new.extra.get(n) != old.extra.get(n) for n in where)


def _has_grown(new: Memory, old: Memory) -> bool:
    if old.status is not Status.ACTIVE or old.extra.get(EDITED) or new.text == old.text:
        return False
    return new.source.path == old.source.path or len(new.text) > len(old.text)


def each(
    made: Sequence[Memory],
    stored: Sequence[Memory],
    replaces: Callable[[Memory, Memory], bool] = _has_grown,
) -> Changes:
    """Return what is new and what changes, memory by memory, where they do not make up a whole."""
    old = {memory.external_id: memory for memory in stored}
    added = [memory for memory in made if memory.external_id not in old]
    pairs = [(memory, old[memory.external_id]) for memory in made if memory.external_id in old]
    return Changes(added, [over(*pair) for pair in pairs if replaces(*pair)], [])


def over(new: Memory, old: Memory) -> Memory:
    """Return a memory as it takes the place of the one stored; what the user may have set stays."""
    kept = {name: value for name, value in old.extra.items() if name != LOOKUP}
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
        # The marks belong to the words: those of the old ones go with them.
        extra={**trust_marks.unmarked(kept), **new.extra},
    )


def _says_more(made: Sequence[Memory], stored: Sequence[Memory]) -> bool:
    """Whether what was read is more than a beginning of what is stored. A copy in another file that
    went another way must also be longer."""
    new, old = _words(made), _words(stored)
    now, then = made[0].source, stored[0].source
    same_file = now.path == then.path
    if new == old or (old.startswith(new) and not (same_file and now.line_end >= then.line_end)):
        # Where the same file was read as far and says less, the last words that a hook was told came
        # before the prompt that they answer, and were taken for an answer to the one before.
        return False
    return same_file or len(new) > len(old)


def _words(passages: Sequence[Memory]) -> str:
    """Return what passages say together, wherever they were cut."""
    ordered = sorted(passages, key=number_of)
    return "".join("".join(memory.text.split()) for memory in ordered)
