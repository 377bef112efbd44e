"""What importing a file of notes would do, step by step; nothing is written here. Notes
that are an export of ours come back by their ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache

from vector_memory import redact
from vector_memory.errors import VectorMemoryError
from vector_memory.index.entities import entities_extra
from vector_memory.index.notes import notes, reimport
from vector_memory.index.notes.markdown import with_plain_ends
from vector_memory.index.notes.notes import NoteDraft
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import (
    IS_FOREIGN,
    PROPOSED,
    Memory,
    Origin,
    Source,
    Status,
    strictest,
    unique,
)
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, proposals, trust_marks
from vector_memory.service.transfer import note_files
from vector_memory.service.transfer.json_lines import (
    ImportAnswer,
    IncomingRequest,
    shelf_and_memory,
)
from vector_memory.service.transfer.note_files import NoteFile
from vector_memory.service.transfer.round_trip import ImportRestoration
from vector_memory.standing import DONE, DOUBT
from vector_memory.system.json_in import Record

NEW, MERGED, CHANGED, UPDATED = "new", "merged", "changed", "updated"
SAME, GONE, LEFT_OUT = "unchanged", "gone", "left out"
STORING = (NEW, MERGED, CHANGED, UPDATED)
BRINGING = (*STORING, PROPOSED)
"""What brings something, at once or when the user agrees."""


ALSO_IN = "also_in"
"""In `extra`: the other files in which a note's words were found."""
PREVIEW_FIELDS = ("kind", "priority", "tags", "title", "text", "created_at")
"""What a preview shows of a note, by the names of `Memory`."""


@dataclass(frozen=True)
class ImportStep:
    """One memory and what is to be done with it. `old` is the stored one concerned. `record` and
    `successor` name decision records, "" where it belongs to none.

    Attributes:
        position: of an item of an export, its file and line.
        memory_id: of such an item, the id of the memory whose words it has, or is to change; "" where it has words that
            the memory had before.
        is_behind: of such an item, that the memory was changed since the export.
    """

    action: str
    shelf: Shelf
    memory: Memory
    old: Memory | None = None
    record: str = ""
    successor: str = ""
    position: tuple[str, int] = ("", 0)
    memory_id: str = ""
    is_behind: bool = False

    def view(self) -> dict[str, object]:
        """Return the step as a preview shows it: its `action`, `PREVIEW_FIELDS`, where the note stands (`file`, its first and
        last of `lines`); where it has a box, whether that is ticked (`done`), the stored memory concerned (`of`),
        that another note of the import took its place (`superseded`), and that it would bind nobody, though the file
        says so (`unbound`)."""
        source, is_ticked = self.memory.source, self.memory.extra.get(DONE)
        is_unbound = self.action in (NEW, CHANGED) and proposals.is_unbound(self.memory)
        return {
            "action": self.action,
            **{name: getattr(self.memory, name) for name in PREVIEW_FIELDS},
            "file": source.path,
            "lines": (source.line_start, source.line_end),
            **({} if is_ticked is None else {"done": is_ticked}),
            **({"of": self.old.id} if self.old else {}),
            **({"superseded": True} if self.successor else {}),
            **({"unbound": True} if is_unbound else {}),
        }


@dataclass(frozen=True)
class NoteRead:
    """A file that was read: the drafts of its notes, and how many secrets were left out of them."""

    file: NoteFile
    drafts: list[NoteDraft]
    redactions: int

    def records(self) -> set[str]:
        """Return the names of the decision records in it."""
        return {
            record_name(self.file.path, draft.record.number)
            for draft in self.drafts
            if draft.record.number
        }


def read(file: NoteFile) -> NoteRead:
    """Return the drafts of a file's notes, without secrets.

    Raises:
        UnsafeTextError: the text could not be checked for secrets.
    """
    cleaned = redact.clean(file.text)
    drafts = notes.to_drafts(
        cleaned.text,
        file.path,
        file.modified_at,
        _unchanged_lines(file.text, cleaned.text),
        lambda text: redact.clean(text).text,
    )
    return NoteRead(file, drafts, cleaned.redactions)


def record_name(path: str, number: str) -> str:
    """Return what a decision record is called among those of its folder."""
    return f"{os.path.dirname(path)}\0{number}"


def _unchanged_lines(text: str, cleaned: str) -> int | None:
    """Return up to which line two texts have the same lines, None if their numbers do not differ: a
    secret may have been several lines long."""
    before, after = with_plain_ends(text).split("\n"), cleaned.split("\n")
    return None if len(before) == len(after) else len(os.path.commonprefix([before, after]))


@dataclass
class NotePlanner:
    """Compares a file's drafts with what earlier imports of it stored.

    Attributes:
        shelf: the store that they belong to; `project` the project's id.
        source: the file.
        records: the decision records that are imported together.
        foreign: the user did not ask for it, or somebody else wrote it.
        by_agent: an agent imports them: what would bind is proposed.
    """

    shelf: Shelf
    project: str
    source: NoteRead
    records: set[str]
    foreign: bool = False
    by_agent: bool = False

    def __post_init__(self) -> None:
        self._path = self.source.file.path
        self._drafts = self.source.drafts
        # A memory that waits for the user counts as not stored: the user's own import stores it.
        rows = self.shelf.journal.find_imported(notes.file_prefix(self._path), self.project)
        rows = [row for row in rows if not row.proposed.get("held")]
        self._ids = {row.id for row in rows}
        self._active = {row.external_id: row for row in rows if row.status is Status.ACTIVE}
        self._past = {row.external_id: row for row in rows if row.status is not Status.ACTIVE}
        current_keys = {draft.key for draft in self._drafts}
        # Words whose headings have changed in the file.
        self._displaced = {
            reimport.words_of(key) for key in self._active if key not in current_keys
        }

    def steps(self) -> Iterator[ImportStep]:
        """Yield what is to be done with the notes, in the order of the file, then with what is gone from it."""
        steps = {
            index: self._settled_step(draft)
            for index, draft in enumerate(self._drafts)
            if self._is_settled(draft)
        }
        steps |= self._twin_steps(set(steps))
        indexes = [index for index in range(len(self._drafts)) if index not in steps]
        stored = {key: str(row.text) for key, row in self._active.items()}
        pairs = [(self._drafts[index].key, self._drafts[index].text) for index in indexes]
        plan = reimport.plan(pairs, stored)
        for action, matched in ((SAME, plan.same), (UPDATED, plan.moved), (CHANGED, plan.changed)):
            for position, key in matched.items():
                draft, old = self._drafts[indexes[position]], self._active[key]
                # A box that was ticked, or a record's new status, changes the memory and none of its words.
                is_news = action == SAME and _note_marks(draft) != {
                    name: old.extra[name] for name in (DONE, DOUBT) if name in old.extra
                }
                steps[indexes[position]] = self._step(UPDATED if is_news else action, draft, old)
        for position in plan.new:
            steps[indexes[position]] = self._new_step(self._drafts[indexes[position]])
        for index in sorted(steps):
            yield _permitted_step(steps[index])
        for key in plan.gone:
            yield ImportStep(GONE, self.shelf, self._active[key], self._active[key])

    def _is_settled(self, draft: NoteDraft) -> bool:
        """Whether a draft was stored once and is to stay what has become of it since: forgotten by
        its user, or superseded by something other than a newer state of this file."""
        old = self._past.get(draft.key)
        if old is None or draft.key in self._active:
            return False
        if old.status is Status.FORGOTTEN:
            return True
        successor = self.shelf.journal.successors([old]).get(old.id)
        return successor is not None and successor.id not in self._ids

    def _settled_step(self, draft: NoteDraft) -> ImportStep:
        old = self._past[draft.key]
        action = LEFT_OUT if old.status is Status.FORGOTTEN else SAME
        return ImportStep(action, self.shelf, self._memory(draft), old)

    def _twin_steps(self, settled_indexes: set[int]) -> dict[int, ImportStep]:
        """Return, by position, what is to be done with notes whose text is stored, but not as this
        very note: from another file, or said in a session."""
        steps: dict[int, ImportStep] = {}
        for index, draft in enumerate(self._drafts):
            is_displaced = reimport.words_of(draft.key) in self._displaced
            if index in settled_indexes or is_displaced or draft.key in self._active:
                continue
            twin = self.shelf.journal.find_by_hash(text_key(draft.text), self.project)
            if twin is not None:
                step = self._step(MERGED, draft, twin)
                has_all_tags = set(draft.tags) <= set(twin.tags)
                is_news = with_other_file(twin, step.memory) is not twin
                # What is stored is not proposed again only because one more file says it.
                if has_all_tags and not (is_news and not step.memory.proposed.get("held")):
                    step = replace(step, action=SAME)
                steps[index] = step
        return steps

    def _new_step(self, draft: NoteDraft) -> ImportStep:
        """A decision that has given way is stored only together with what took its place."""
        successor = record_name(self._path, draft.record.successor)
        is_replaced = draft.record.successor and successor in self.records
        return self._step(LEFT_OUT if draft.record.superseded and not is_replaced else NEW, draft)

    def _step(self, action: str, draft: NoteDraft, old: Memory | None = None) -> ImportStep:
        heir = record_name(self._path, draft.record.successor) if draft.record.successor else ""
        return ImportStep(
            action,
            self.shelf,
            self._memory(draft),
            old,
            record=record_name(self._path, draft.record.number) if draft.record.number else "",
            successor=heir if draft.record.superseded and heir in self.records else "",
        )

    def _memory(self, draft: NoteDraft) -> Memory:
        text = redact.clean(draft.text).text
        foreign_mark = {IS_FOREIGN: True} if self.foreign or self.by_agent else {}
        memory = Memory(
            id=new_id(),
            text=text,
            title=redact.clean(draft.title).text,
            created_at=draft.created_at,
            kind=draft.kind,
            project=self.project,
            priority=draft.priority,
            origin=Origin.IMPORT,
            tags=draft.tags,
            source=Source(path=self._path, line_start=draft.line_start, line_end=draft.line_end),
            external_id=draft.key,
            extra={**_note_marks(draft), **foreign_mark, **entities_extra(text)},
        )
        wishes = proposals.reserved_wishes(memory, not self.project) if self.by_agent else {}
        settled = trust_marks.with_trust_marks(memory)
        return proposals.proposed(settled, wishes) if wishes else proposals.unbound(memory, settled)


def _permitted_step(step: ImportStep) -> ImportStep:
    """Return a step limited to what whoever imports may do. These wait for the user: what an agent would have bind, and
    from a file that nobody vouched for what would replace the user's own rule or change whether a decision holds."""
    old, memory = step.old, step.memory
    if step.action not in STORING:
        return step
    if memory.proposed.get("held"):
        return replace(step, action=PROPOSED)
    if old is None or not memory.is_foreign or old.is_foreign:
        return step
    if not agent_rights.is_the_users(old) and old.extra.get(DOUBT) == memory.extra.get(DOUBT):
        return step
    if step.action == CHANGED:
        waiting = proposals.proposed(memory, {}, supersedes=old.id)
        return replace(step, action=PROPOSED, memory=waiting)
    # Its words are the same: where it stands in the file is looked at when the user imports it.
    return replace(step, action=SAME) if step.action == UPDATED else step


def _note_marks(draft: NoteDraft) -> dict[str, object]:
    """Return the marks that a note's memory keeps in `extra`: whether its box is ticked, whether its record is in doubt."""
    done = {} if draft.done is None else {DONE: draft.done}
    return {**done, **({DOUBT: draft.record.doubt} if draft.record.doubt else {})}


def of_missing_files(
    shelf: Shelf, project: str, folders: Sequence[str], found_files: Set[str]
) -> Iterator[ImportStep]:
    """Yield that notes are gone whose file, below one of some folders, is there no more.

    Args:
        folders: their real paths.
        found_files: the files that are there.
    """
    prefixes = tuple(os.path.join(folder, "") for folder in folders)
    for row in shelf.journal.find_imported(notes.KEY, project) if prefixes else ():
        path = row.source.path
        is_notes = row.status is Status.ACTIVE and not row.proposed.get("held")
        is_below = path.startswith(prefixes) and row.external_id.startswith(notes.file_prefix(path))
        if is_notes and is_below and path not in found_files and note_files.is_missing(path):
            yield ImportStep(GONE, shelf, row, row)


def without_moved(steps: Sequence[ImportStep]) -> list[ImportStep]:
    """Return steps without those that call a note gone which stands in another file now."""
    remaining_ids = {step.old.id for step in steps if step.old and step.action != GONE}
    return [step for step in steps if step.action != GONE or step.memory.id not in remaining_ids]


def with_other_file(stored: Memory, memory: Memory) -> Memory:
    """Return a stored note that a note of another file says, too, with that file; unchanged where it is known."""
    path, other_files = memory.source.path, Record(stored.extra).words(ALSO_IN)
    is_of_file = stored.external_id.startswith(notes.file_prefix(path))
    are_notes = all(note.external_id.startswith(notes.KEY) for note in (stored, memory))
    if path in other_files or is_of_file or not are_notes:
        return stored
    return replace(stored, extra={**stored.extra, ALSO_IN: [*other_files, path]})


def reassign_gone(steps: Sequence[ImportStep]) -> list[ImportStep]:
    """Return steps in which a note that is gone from its file belongs to another file that still has it, if there is one."""
    drafts_in = cache(_drafts_in)
    return [_reassign(step, drafts_in) if step.action == GONE else step for step in steps]


def _reassign(
    step: ImportStep, drafts_in: Callable[[str], dict[str, NoteDraft] | None]
) -> ImportStep:
    memory, other_files = step.memory, Record(step.memory.extra).words(ALSO_IN)
    for place, path in enumerate(other_files, 1):
        drafts = drafts_in(path)
        if drafts is None:
            return replace(step, action=SAME)
        if draft := drafts.get(reimport.words_of(memory.external_id)):
            source = Source(path=path, line_start=draft.line_start, line_end=draft.line_end)
            extra = {**memory.extra, ALSO_IN: other_files[place:]}
            moved = replace(memory, external_id=draft.key, source=source, extra=extra)
            return replace(step, action=UPDATED, memory=moved)
    return step


def _drafts_in(path: str) -> dict[str, NoteDraft] | None:
    """Return the drafts of a file by their words, none where it is gone; None where it cannot be looked at."""
    try:
        drafts = read(note_files.read(path)).drafts
    except VectorMemoryError:
        return {} if note_files.is_missing(path) else None
    return {reimport.words_of(draft.key): draft for draft in drafts}


def renewed(old: Memory, memory: Memory) -> Memory:
    """Return a stored note as it stands in the file now, its words unchanged."""
    extra = {**old.extra, **trust_marks.unmarked(memory.extra)}
    if memory.extra.get(DOUBT) != old.extra.get(DOUBT):
        # A record that was accepted, or given up, counts as what it is now.
        old = replace(old, kind=memory.kind, priority=memory.priority)
        extra = {
            name: value for name, value in extra.items() if name in memory.extra or name != DOUBT
        }
    return replace(
        old,
        title=memory.title,
        tags=unique((*old.tags, *memory.tags)),
        source=memory.source,
        external_id=memory.external_id,
        extra=extra,
    )


def steps_of(
    ctx: Context,
    request: IncomingRequest,
    items: Iterable[tuple[int, Record]],
    answer: ImportAnswer,
    restoration: ImportRestoration,
    path: str = "",
) -> list[ImportStep]:
    """Return what is to be done with the memories of a Markdown export of ours at a path, each with its line. What is
    stored under its id stays, unless its text was changed in the file."""
    steps = []
    for line, data in items:
        try:
            shelf, memory = shelf_and_memory(ctx, request, data, answer, restoration)
        except (ValueError, TypeError) as error:
            answer.failed(line, f"A field is damaged: {error}.")
            continue
        except VectorMemoryError as error:
            answer.failed(line, str(error))
            continue
        steps.append(replace(_export_step(ctx, shelf, memory), position=(path, line)))
    return steps


def without_conflicts(steps: Sequence[ImportStep]) -> tuple[list[ImportStep], list[ImportStep]]:
    """Return the steps of exports that are to be done, and those that conflict with another step for the same memory.
    The first step counts; one of an export from before the memory's last change loses to one with its present words."""
    unchanged_ids = {step.memory_id for step in steps if step.action == SAME}
    first_words: dict[str, str] = {}
    remaining, conflicts = list[ImportStep](), list[ImportStep]()
    for step in steps:
        words, is_repeated = notes.content(step.memory.text), step.memory_id in first_words
        if step.action not in (NEW, CHANGED) or not step.memory_id:
            remaining.append(step)
        elif (step.is_behind and step.memory_id in unchanged_ids) or first_words.setdefault(
            step.memory_id, words
        ) != words:
            conflicts.append(step)
        else:
            remaining.append(replace(step, action=SAME, old=None) if is_repeated else step)
    return remaining, conflicts


def _export_step(ctx: Context, shelf: Shelf, memory: Memory) -> ImportStep:
    for owner in dict.fromkeys((shelf, *ctx.all_shelves())):
        old = owner.journal.by_ids([memory.id]).get(memory.id)
        if old is not None:
            return _compare_stored(owner, memory, old)
    if memory.proposed.get("held"):
        return ImportStep(PROPOSED, shelf, memory)
    if memory.status is not Status.ACTIVE:
        return ImportStep(NEW, shelf, memory, memory_id=memory.id)
    twin = shelf.journal.find_by_hash(text_key(memory.text), memory.project)
    return ImportStep(NEW if twin is None else MERGED, shelf, memory, twin, memory_id=memory.id)


def _compare_stored(shelf: Shelf, memory: Memory, old: Memory) -> ImportStep:
    if old.status is Status.FORGOTTEN:
        return ImportStep(LEFT_OUT, shelf, memory, old)
    current = old if old.status is Status.ACTIVE else shelf.journal.successors([old]).get(old.id)
    words = notes.content(memory.text)
    if current is not None and words == notes.content(current.text):
        return ImportStep(SAME, shelf, memory, memory_id=current.id)
    if current is None or words == notes.content(old.text):
        return ImportStep(SAME, shelf, memory)
    # The file may be older than what was said of the memory since.
    level = strictest(memory.sensitivity, current.sensitivity)
    raised = replace(memory, sensitivity=level)
    successor = replace(raised, id=new_id(), external_id=old.external_id, project=old.project)
    return ImportStep(
        CHANGED, shelf, successor, current, memory_id=current.id, is_behind=current is not old
    )
