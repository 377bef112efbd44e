"""Import of notes in Markdown: shown first, then stored; a second import brings only what changed.

A note that reads differently now supersedes what it said before, rather than overwriting it: earlier
sessions went by the old words, and `history` can tell what was so until when. A note that is gone
from its file stays, unless pruning is asked for: it may have been moved to where we do not look.

The client's own memory of a project is read the same way, as somebody else's notes, when it has changed.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from vector_memory import redact
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.index.notes import markdown_export
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import PROPOSED, Memory, Progress, Status, ignore_progress, unique
from vector_memory.service.base import messages
from vector_memory.service.base.client_memory import path_beside
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import agent_rights, proposals, tombstones
from vector_memory.service.transfer import import_plan, json_lines, note_files
from vector_memory.service.transfer.import_plan import ImportStep, NotePlanner
from vector_memory.service.transfer.json_lines import ImportCounts, IncomingRequest
from vector_memory.service.transfer.round_trip import ImportRestoration
from vector_memory.system.files import with_real_folder
from vector_memory.system.json_in import Record

Show = Callable[[dict[str, object]], None]


class NotesRequest(IncomingRequest):
    """Store the notes of files and of those in folders (`paths`).

    Attributes:
        dry_run: only show what would be done.
        prune: forget the notes that are gone from their files.
        come_across: nobody named these files: one that cannot be read keeps none of the others.
    """

    paths: tuple[str, ...] = messages.words()
    dry_run: bool = messages.flag()
    prune: bool = messages.flag()
    come_across: bool = messages.flag()


@dataclass
class NotesAnswer(ImportCounts):
    """What an import of notes did so far, or would do.

    Attributes:
        files: in which so many notes were `read`.
        updated: notes that read differently now.
        gone: notes that are in no file now; `forgotten` those of them that were forgotten.
    """

    files: int = 0
    updated: int = 0
    unchanged: int = 0
    gone: int = 0
    forgotten: int = 0
    errors: list[messages.FileError] = field(default_factory=list)

    def failed(self, file: str, error: str) -> None:
        """Note a file that could not be taken."""
        if len(self.errors) < json_lines.MAX_ERRORS:
            self.errors.append(messages.FileError(file, error))


def import_notes(
    ctx: Context, request: NotesRequest, show: Show, progress: Progress
) -> NotesAnswer:
    """Import files of notes and the notes in folders; with `dry_run` only show what would be done.

    Args:
        show: is given every step that is not without effect, in a dry run.
        progress: is told of each file.

    Raises:
        NotFoundError, BadInputError: a file that was named cannot be read; nothing was stored.

    Returns:
        Counts of what was stored, merged and left out, and why.
    """
    started = time.monotonic()
    notes_import = _NotesImport(ctx, request)
    steps = notes_import.plan(progress)
    counts = notes_import.counts
    by_action = Counter(step.action for step in steps)
    counts.gone = by_action.pop(import_plan.GONE, 0)
    counts.read = sum(by_action.values())
    counts.unchanged, counts.left_out = by_action[import_plan.SAME], by_action[import_plan.LEFT_OUT]
    if not request.dry_run:
        notes_import.carry_out(steps)
    for step in steps if request.dry_run else ():
        if step.action != import_plan.SAME:
            show(step.view())
    return replace(counts, seconds=round(time.monotonic() - started, 3))


class ExportRead(NamedTuple):
    """An export of ours that was read: its items, and the lines in it that are none, with why, each by its number."""

    path: str
    modified_s: float
    items: list[tuple[int, Record]]
    unread: list[tuple[int, str]]


class _NotesImport:
    """One import: what it counts, and what an export of ours brings back beside its words."""

    def __init__(self, ctx: Context, request: NotesRequest) -> None:
        self._ctx = ctx
        self._request = request
        self.counts = NotesAnswer()
        self._restoration = ImportRestoration()
        self._exports: list[ExportRead] = []
        self._notes: list[import_plan.NoteRead] = []

    def plan(self, progress: Progress) -> list[ImportStep]:
        """Read all files and return what is to be done with what they say."""
        request, ctx = self._request, self._ctx
        paths = [os.path.join(request.base, path) for path in request.paths]
        if not paths:
            raise BadInputError("Import what?", "Name files or folders.")
        files = note_files.find(paths)
        named_paths = set() if request.come_across else set(map(with_real_folder, paths))
        for number, path in enumerate(files):
            progress(number, len(files), "reading")
            self._read(path, path in named_paths)
        place = messages.place_of(ctx, request)
        shelf = ctx.shelf_of(place)
        if place and self._notes and not request.dry_run:
            ctx.know_project(shelf, place)
        records = {name for file in self._notes for name in file.records()}
        project, flags = place.id if place else "", (request.foreign, request.is_agent)
        planners = (NotePlanner(shelf, project, file, records, *flags) for file in self._notes)
        steps = [step for planner in planners for step in planner.steps()]
        folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
        found_files = {str(redact.clean(path).text) for path in files if folders}
        steps += import_plan.of_missing_files(shelf, project, folders, found_files)
        steps = import_plan.reassign_gone(import_plan.without_moved(steps))
        purged = tombstones.purged_ids(ctx, [step.memory for step in steps])
        steps = [
            replace(step, action=import_plan.LEFT_OUT)
            if _brings_back_purged(step, purged)
            else step
            for step in steps
        ]
        return steps + self._export_steps()

    def _read(self, path: str, is_named: bool) -> None:
        """Read a file to where it belongs; one that was only come across may fail without harm."""
        try:
            # It names what is stored of it, and a name can hold a secret, too.
            name = redact.clean(path).text
            if note_files.begins_with(path, markdown_export.HEAD):
                self._take_export(path, name, note_files.lines(path))
            elif markdown_export.is_export((file := note_files.read(path)).text):
                self._take_export(path, name, file.text.split("\n"))
            else:
                self._notes.append(import_plan.read(file._replace(path=name)))
                self.counts.redactions += self._notes[-1].redactions
            self.counts.files += 1
        except VectorMemoryError as error:
            if is_named:
                raise
            self.counts.failed(path, str(error))

    def _take_export(self, path: str, name: str, raw_lines: Iterable[str]) -> None:
        # What we wrote into a vault is read back only when the user has named it.
        if not self._request.come_across:
            lines = list(raw_lines)
            items, unread = markdown_export.parse(lines), markdown_export.unread_lines(lines)
            modified_s = note_files.modified_s(path)
            self._exports.append(ExportRead(name, modified_s, list(items), list(unread)))

    def _export_steps(self) -> list[ImportStep]:
        """Return what is to be done with all exports: of two that changed the same memory, what the newer one says."""
        newest_first = sorted(self._exports, key=lambda export: -export.modified_s)
        steps = [step for export in newest_first for step in self._steps_of_export(export)]
        steps, conflicts = import_plan.without_conflicts(steps)
        for path, line in (step.position for step in conflicts):
            why = "Another note says otherwise of this memory, and is taken: give both the same words."
            self.counts.failed(path, f"line {line}: {why}")
        return steps

    def _steps_of_export(self, export: ExportRead) -> list[ImportStep]:
        ctx, answer, path = self._ctx, json_lines.ImportAnswer(), export.path
        steps = import_plan.steps_of(
            ctx, self._request, export.items, answer, self._restoration, path
        )
        self.counts.redactions += answer.redactions
        errors = [*export.unread, *((error.line, error.error) for error in answer.errors)]
        for line, why in sorted(errors):
            self.counts.failed(export.path, f"line {line}: {why}")
        return steps

    def carry_out(self, steps: list[ImportStep]) -> None:
        """Do what is to be done, store by store."""
        ctx, counts, actor = self._ctx, self.counts, self._request.actor
        for shelf in {id(step.shelf): step.shelf for step in steps}.values():
            shelf_steps = [step for step in steps if step.shelf is shelf]
            self._store(shelf, shelf_steps)
            self._hand_over(shelf, shelf_steps)
            if self._request.prune:
                counts.forgotten += _forget(ctx, shelf, shelf_steps, actor)
        self._restoration.finish()
        counts.tell_unbound(ctx, self._restoration.unbound)
        ctx.count("redactions", counts.redactions)
        detail = {"stored": counts.stored, "updated": counts.updated, "forgotten": counts.forgotten}
        ctx.state.audit("import", actor, [], detail)
        ctx.notify()

    def _store(self, shelf: Shelf, steps: list[ImportStep]) -> None:
        """Write what is new and what has changed."""
        new_memories = [(shelf, step.memory) for step in steps if step.action == import_plan.NEW]
        json_lines.store(new_memories, self.counts, False, self._restoration)
        self._note_twins(shelf, steps)
        for step in steps:
            if step.action == PROPOSED:
                self._propose(shelf, step.memory)
            if step.old is None:
                continue
            # Another step of this import may have changed it.
            old = shelf.journal.get(step.old.id)
            if step.action == import_plan.CHANGED:
                shelf.journal.add([step.memory])
                self._restoration.unbound += filter(proposals.is_unbound, [step.memory])
                now = self._ctx.now()
                shelf.journal.supersede(step.old.id, step.memory.id, now, "its file changed")
                self.counts.updated += 1
            elif step.action == import_plan.UPDATED:
                shelf.journal.update(import_plan.renewed(old, step.memory), old)
                self.counts.updated += 1
            elif step.action == import_plan.MERGED:
                tags = unique((*old.tags, *step.memory.tags))
                with_file = import_plan.with_other_file(old, step.memory)
                shelf.journal.update(replace(with_file, tags=tags), old)
                self._restoration.existing_ids[step.memory.id] = step.old.id
                self.counts.merged += 1
            elif step.action == import_plan.SAME and old.status is Status.ACTIVE:
                _follow_lines(shelf, step, old)

    def _note_twins(self, shelf: Shelf, steps: list[ImportStep]) -> None:
        """Have each note that was stored know of the others of this import that say the same."""
        for step in steps:
            twin_id = self._restoration.existing_ids.get(step.memory.id)
            if step.action == import_plan.NEW and not step.memory_id and twin_id:
                stored = shelf.journal.get(twin_id)
                with_file = import_plan.with_other_file(stored, step.memory)
                if with_file is not stored and stored.status is Status.ACTIVE:
                    shelf.journal.update(with_file, stored)

    def _propose(self, shelf: Shelf, memory: Memory) -> None:
        """Let what an agent would have bind wait for the user."""
        try:
            proposals.store_proposal(self._ctx, shelf, memory)
            self.counts.proposed += 1
        except VectorMemoryError as error:
            self.counts.failed(memory.source.path, str(error))

    def _hand_over(self, shelf: Shelf, steps: list[ImportStep]) -> None:
        """Let decision records give way to those that took their place; the user's own where the user imports them."""
        decisions: dict[str, Memory] = {}
        for step in steps:
            stored = _active_record(shelf, step)
            earlier = decisions.get(step.record)
            if stored and (earlier is None or earlier.kind != "decision"):
                decisions[step.record] = stored
        for step in steps:
            old, new = _active_record(shelf, step), decisions.get(step.successor)
            is_kept = old and step.memory.is_foreign and agent_rights.is_the_users(old)
            if step.successor and old and new and old.id != new.id and not is_kept:
                why = "its file names a successor"
                try:
                    shelf.journal.supersede(old.id, new.id, new.created_at, why)
                    self.counts.updated += step.action == import_plan.SAME
                except VectorMemoryError as error:
                    self.counts.failed(step.memory.source.path, str(error))


def _brings_back_purged(step: ImportStep, purged_ids: set[str]) -> bool:
    """Whether a step would bring back what was purged."""
    return step.memory.id in purged_ids and step.action in import_plan.BRINGING


def _follow_lines(shelf: Shelf, step: ImportStep, old: Memory) -> None:
    """Update a source's lines when something was written above an unchanged note."""
    if step.memory.external_id == old.external_id != "" and step.memory.source.line_start:
        shelf.journal.update(replace(old, source=step.memory.source), old)


def _active_record(shelf: Shelf, step: ImportStep) -> Memory | None:
    """Return the active memory that a step's note is now, None where it belongs to no decision record."""
    if not step.record or step.action == import_plan.LEFT_OUT:
        return None
    stored = shelf.journal.find_by_external_id(step.memory.external_id, step.memory.project)
    return stored or shelf.journal.find_by_hash(text_key(step.memory.text), step.memory.project)


def _forget(ctx: Context, shelf: Shelf, steps: list[ImportStep], actor: str) -> int:
    """Forget what is gone from its file. Unlike what a user forgets, it may be imported again when it stands there
    again: so the tombstone loses the file's id."""
    gone_memories = [
        step.old for step in steps if step.action == import_plan.GONE and step.old is not None
    ]
    if not gone_memories:
        return 0
    for memory in gone_memories:
        # As it is now: what was changed since the plan was made goes as well.
        shelf.journal.update(replace(shelf.journal.get(memory.id), external_id=""))
    ids = [memory.id for memory in gone_memories]
    shelf.journal.forget(ids)
    ctx.later(shelf.journal.scrub)
    ctx.changed()
    ctx.state.audit("forget", actor, ids, {})
    return len(ids)


log = logging.getLogger(__name__)


def index_client_memory(ctx: Context, transcript: str, folder: str) -> None:
    """Take what the client's memory of a project says into the project's memories, where it has
    changed since it was last read."""
    path = path_beside(transcript)
    try:
        file_stat = os.stat(path)
    except OSError:
        return
    stamp = {"mtime_ns": file_stat.st_mtime_ns, "size": file_stat.st_size}
    cursor = f"client:{path}"
    if ctx.state.cursor(cursor) == stamp:
        return
    try:
        # Nobody asked for it, and what a model noted may come from anywhere.
        request = NotesRequest(
            paths=(path,), project=folder, cwd=folder, foreign=True, actor="hook"
        )
        import_notes(ctx, request, lambda step: None, ignore_progress)
    except VectorMemoryError as error:
        # A link, a pipe, a page that is too long: the client has it, memory does without.
        ctx.count("client_memory_skipped")
        log.info("the client's memory is left out: %s", error)
    ctx.state.set_cursor(cursor, stamp)
