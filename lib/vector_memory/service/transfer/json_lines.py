"""In and out: import of JSON lines, export of everything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from vector_memory import redact
from vector_memory.aging import EVERY, HALF_LIFE, of_ageing
from vector_memory.errors import BadInputError, UnsafeTextError, VectorMemoryError
from vector_memory.index.entities import entities_extra
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import (
    COLLECTIONS,
    IS_FOREIGN,
    JURISDICTIONS,
    LIVING,
    CleanText,
    Link,
    Memory,
    Origin,
    Priority,
    Progress,
    Scope,
    Sensitivity,
    Source,
    Status,
    Temporal,
    is_hex,
    strictest,
    unique,
)
from vector_memory.service.base import messages, privacy, request_fields
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf, project_roots
from vector_memory.service.edit.inherited_levels import keep_level
from vector_memory.service.memory import merging, proposals, trust_marks
from vector_memory.service.memory.ageing_wishes import AgeingWishes, apply_wishes, due_at, is_over
from vector_memory.service.memory.views import BriefView, brief
from vector_memory.service.transfer import round_trip
from vector_memory.service.transfer.round_trip import ImportRestoration
from vector_memory.system import json_in
from vector_memory.system.files import bounded_lines, open_found, with_real_folder
from vector_memory.system.json_in import Record
from vector_memory.text import days

BATCH = 500
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_ERRORS = 100
MOST_LINES = 1 << 53
BATCH_BYTES = 4 * 1024 * 1024
OURS = ("project", "project_id", "origin", "global")
"""Fields that count only in a file of the user's own."""


class IncomingRequest(messages.Request):
    """Take in what a file says.

    Attributes:
        foreign: somebody else wrote it: it informs and binds nobody.
        wait: until all can be found by meaning.
    """

    foreign: bool = messages.flag()
    wait: bool = messages.flag(default=True)


class ImportRequest(IncomingRequest):
    """Store the memories of a file of JSON lines, or what a knowledge graph says.

    Attributes:
        verbatim: keep texts that are there already, too.
    """

    path: str = messages.text(4_096)
    verbatim: bool = messages.flag()


class LineError(messages.Answer):
    """A line that was not taken, and why."""

    line: int
    error: str


@dataclass
class ImportCounts:
    """What an import did so far with what it read.

    Attributes:
        merged: texts that were there already.
        proposed: what waits for the user, as an agent brought it.
        left_out: what was forgotten here, or whose place another took.
        redactions: values that were taken out.
        unbound: what the user's own file says to bind, and binds nobody since it looks like instructions to the model;
            `unbound_first` the first hundred of it.
    """

    read: int = 0
    stored: int = 0
    merged: int = 0
    proposed: int = 0
    left_out: int = 0
    redactions: int = 0
    seconds: float = 0.0
    unbound: int = 0
    unbound_first: list[BriefView] | None = messages.spare()

    def tell_unbound(self, ctx: Context, unbound: Sequence[Memory]) -> None:
        """Tell what was stored with less weight than its file says, and that it waits for the user."""
        for project in {memory.project for memory in unbound}:
            proposals.note(ctx, project)
        self.unbound = len(unbound)
        self.unbound_first = [brief(BriefView, memory) for memory in unbound[:MAX_ERRORS]] or None


@dataclass
class ImportAnswer(ImportCounts):
    """What an import did so far with the lines that it read.

    Attributes:
        skipped: lines that could not be taken; `errors` says why of the first hundred.
        undated: those whose date is none, an end of the calendar: they are of this moment.
        raised: the first of what tells the words of a memory that a line made more sensitive, and became so with it.
    """

    skipped: int = 0
    undated: int = 0
    errors: list[LineError] = field(default_factory=list)
    raised: list[BriefView] | None = messages.spare()

    def failed(self, line: int, error: str) -> None:
        """Count a line that could not be taken, and say why of the first hundred."""
        self.skipped += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(LineError(line, error))

    def clean(self, words: str) -> CleanText:
        """Return words without secrets, and count what was taken out.

        Raises:
            UnsafeTextError: the redactor could not handle them.
        """
        cleaned = redact.clean(words)
        self.redactions += cleaned.redactions
        return cleaned.text

    def finish(self, ctx: Context, actor: str, started: float) -> ImportAnswer:
        """Note in the counters and the audit log what was done since a moment of the monotonic clock, and
        return it."""
        ctx.count("redactions", self.redactions)
        ids = [view.id for view in self.raised or ()]
        ctx.state.audit("import", actor, ids, {"stored": self.stored, "merged": self.merged})
        ctx.notify()
        return replace(self, seconds=round(time.monotonic() - started, 3))


def import_file(ctx: Context, request: ImportRequest, progress: Progress) -> ImportAnswer:
    """Store the memories of a file of JSON lines; lines that cannot be taken are reported.

    Everything is durable and searchable by words when this returns.

    Raises:
        NotFoundError, BadInputError: there is no such file or project, or it is no regular one.
    """
    path = regular_file(request.path)
    # Raises if there is no such project.
    messages.place_of(ctx, request)
    started = time.monotonic()
    answer, restoration = ImportAnswer(), ImportRestoration()
    size = os.path.getsize(path)
    batch: list[tuple[Shelf, Memory]] = []
    pending = 0
    # The index waits until all lines are stored: it would take the processor from what makes them
    # searchable by words, the journal.
    with ctx.global_shelf().following:
        for number, offset, line in lines_of(path):
            answer.read += 1
            try:
                shelf, memory = _parse_line(ctx, request, line, answer, restoration)
                if memory.proposed.get("held"):
                    proposals.store_proposal(ctx, shelf, memory)
                    answer.proposed += 1
                else:
                    batch.append((shelf, memory))
            except VectorMemoryError as error:
                answer.failed(number, str(error))
            pending += len(line)
            if len(batch) >= BATCH or pending >= BATCH_BYTES:
                store(batch, answer, request.verbatim, restoration)
                pending = 0
                progress(offset, size, "storing")
        store(batch, answer, request.verbatim, restoration)
        restoration.finish()
    raised: list[BriefView] = []
    for shelf, memory, before in restoration.raised:
        # Outside of the index's lock: capturing takes its own lock first, and then that of the index.
        raised += keep_level(ctx, shelf, memory, before, is_agent=False)
    answer.raised = raised[:MAX_ERRORS] or None
    answer.tell_unbound(ctx, restoration.unbound)
    return answer.finish(ctx, request.actor, started)


def regular_file(path: str) -> str:
    """Return the path of a file to read, its folders resolved.

    Raises:
        NotFoundError, BadInputError: it is not there, or none to read.
    """
    resolved = with_real_folder(path)
    open_found(resolved).close()
    return resolved


def lines_of(path: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield (line number, offset of its end, line) of the lines that are not blank, of a path that
    `regular_file` gave."""
    with open_found(path) as file:
        for number, line in enumerate(bounded_lines(file, MAX_LINE_BYTES + 1), 1):
            if line.strip():
                yield number, file.tell(), line


def _parse_line(
    ctx: Context,
    request: IncomingRequest,
    line: bytes,
    answer: ImportAnswer,
    restoration: ImportRestoration,
) -> tuple[Shelf, Memory]:
    if len(line) > MAX_LINE_BYTES:
        raise BadInputError(f"The line is longer than {MAX_LINE_BYTES:,} bytes.", "Split it.")
    try:
        data = json_in.load(line)
    except UnicodeError as error:
        raise BadInputError("No JSON: its bytes are no text.", "Write it in UTF-8.") from error
    except ValueError as error:
        raise BadInputError(f"No JSON: {error}.", "Write an object a line.") from error
    if not isinstance(data, dict):
        raise BadInputError("The line is no JSON object.", "Write an object a line.")
    return shelf_and_memory(ctx, request, Record(data), answer, restoration)


def shelf_and_memory(
    ctx: Context,
    request: IncomingRequest,
    data: Record,
    answer: ImportAnswer,
    restoration: ImportRestoration,
) -> tuple[Shelf, Memory]:
    """Return the store that a line of an import or export belongs to, and the memory that it describes; its links are
    noted in `restoration`.

    Raises:
        BadInputError: the line cannot be taken.
    """
    is_foreign = request.foreign or request.is_agent
    is_ours = not is_foreign and "project_id" in data
    if is_foreign:
        # Others' lines do not decide where they belong, whose words they are, or whether all projects get them.
        data = Record((name, value) for name, value in data.items() if name not in OURS)
    target = {**data, "cwd": request.cwd}
    if not data.get("project"):
        # A memory of no project stays so, rather than becoming one of the project that imports it.
        is_global = request.is_global or (data.get("project_id") == "" and not request.project)
        target |= {"project": request.project, "global": is_global}
    place = request_fields.place_of(ctx, target)
    shelf = ctx.shelf_of(place)
    if place:
        ctx.know_project(shelf, place)
    with redact.for_project(place.folders if place else ()):
        memory = _memory(ctx, data, place.id if place else "", answer)
        if is_ours:
            memory = _restore(memory, data)
        else:
            extra: dict[str, object] = {IS_FOREIGN: True} if is_foreign else {}
            extra |= entities_extra(memory.text, memory.files)
            memory = _with_standing(ctx, replace(memory, extra=extra), data)
    raw = f"{data.get('title') or ''}\n{data['text']}"
    settled = trust_marks.with_trust_marks(_own_if_harmless(memory, raw), raw)
    restoration.note_links(shelf, settled, data)
    wishes = proposals.reserved_wishes(memory, place is None) if request.is_agent else {}
    if wishes:
        return shelf, proposals.proposed(settled, wishes)
    return shelf, settled if is_foreign else proposals.unbound(memory, settled)


def _own_if_harmless(memory: Memory, raw: str) -> Memory:
    """Return a memory of an export with its origin, unless it is suspicious: a file can say of any text
    that the user said it."""
    if memory.origin is not Origin.USER or memory.suspicion:
        return memory
    imported = replace(memory, origin=Origin.IMPORT)
    return imported if trust_marks.with_trust_marks(imported, raw).is_suspicious else memory


def _memory(ctx: Context, data: Record, project: str, answer: ImportAnswer) -> Memory:
    if "text" not in data:
        raise BadInputError('It has no field "text".', 'Write {"text": "…"}.')
    if not isinstance(data["text"], str):
        raise BadInputError("Its text is no text in quotes.", 'Write {"text": "…"}.')
    try:
        text = answer.clean(request_fields.text_of(data, "text"))
        title = answer.clean(str(data.get("title") or ""))
    except UnsafeTextError as error:
        raise BadInputError(
            "The text could not be checked for secrets, so it was dropped.", "Write it plainly."
        ) from error
    created_at = request_fields.time_of(data, "created_at")
    if created_at and days.is_at_an_end(created_at):
        # The zero time of some languages stands for no date.
        created_at = None
        answer.undated += 1
    return Memory(
        id=new_id(),
        text=text,
        title=title,
        created_at=created_at or ctx.now(),
        kind=privacy.word(_kind(data)) or "note",
        project=project,
        priority=request_fields.chosen(
            str(data.get("priority") or Priority.NORMAL), Priority, "priority"
        ),
        origin=Origin.IMPORT,
        tags=tuple(redact.clean(word).text for word in request_fields.words_of(data, "tags")),
        files=tuple(redact.clean(word).text for word in request_fields.words_of(data, "files")),
        source=Source(
            session=privacy.word(_word(data, "session")),
            turn=request_fields.number_of(data, "seq", 0, 0, 1 << 53),
            speaker=redact.clean(str(data.get("speaker") or "")).text,
        ),
        external_id=redact.clean(str(data.get("id") or "")).text,
    )


class LineStanding(AgeingWishes):
    """The fields of a line, in a file that is no export of ours, that say how a memory ages, who may see it, and whose law
    it is kept under."""

    sensitivity: Sensitivity | None = messages.one_of(Sensitivity, None)
    jurisdiction: str = messages.one_of(JURISDICTIONS)


def _with_standing(ctx: Context, memory: Memory, data: Record) -> Memory:
    """Return a memory with the ageing and the privacy that its line names. Of what others wrote only the privacy counts,
    and it is never public.

    Raises:
        BadInputError: a word is none of its vocabulary, or a date is none or over.
    """
    # A line of an export of ours that has lost its project has these elsewhere.
    extra = data.part("extra")
    exported = {
        EVERY: extra.get(EVERY),
        HALF_LIFE: extra.get(HALF_LIFE),
        "expires": data.get("expires_at"),
    }
    names = PRIVACY_FIELDS if memory.is_foreign else STANDING_FIELDS
    values = {name: exported.get(name) if data.get(name) is None else data[name] for name in names}
    standing = messages.read(LineStanding, values)
    past_deadline = _past_deadline(ctx, standing)
    if past_deadline is not None:
        standing = replace(standing, temporal=None, due="", valid_until="")
    level = standing.sensitivity or Sensitivity.INTERNAL
    if memory.is_foreign:
        level = strictest(level, Sensitivity.INTERNAL)
    aged_memory = apply_wishes(
        ctx, standing, replace(memory, sensitivity=level, jurisdiction=standing.jurisdiction)
    )
    if past_deadline is None:
        return aged_memory
    return replace(aged_memory, temporal=Temporal.DEADLINE, valid_until=past_deadline)


def _past_deadline(ctx: Context, standing: LineStanding) -> datetime | None:
    """Return the end of the deadline that a line names, where it is over already, else None: such a line is kept, though
    a request could not set such a deadline any more.

    Raises:
        BadInputError: its date is none.
    """
    is_deadline = standing.temporal is Temporal.DEADLINE or (standing.due and not standing.temporal)
    if not is_deadline or standing.every:
        return None
    end = due_at(ctx, standing.due or standing.valid_until, bool(standing.due))
    return end if end is not None and end <= ctx.now() else None


PRIVACY_FIELDS = ("sensitivity", "jurisdiction")
STANDING_FIELDS = {each.name for each in fields(LineStanding)} - {
    each.name for each in fields(messages.Request)
}


def _kind(data: Record) -> str:
    if not isinstance(data.get("kind"), (str, type(None))):
        raise BadInputError("Its kind is no text in quotes.", 'Such as "decision".')
    return _word(data, "kind")


def _word(data: Record, name: str) -> str:
    """Return a field as a word that can be stored: half a character would refuse the whole batch."""
    return str(data.get(name) or "").encode("utf-8", "replace").decode("utf-8")


def _restore(memory: Memory, data: Record) -> Memory:
    """Return a memory of one of our own exports with all that it says, its id included."""
    old_id = str(data.get("id") or "")
    source = data.part("source")
    lines = source.get("lines")
    first, last = lines if isinstance(lines, list) and len(lines) == 2 else (0, 0)
    collection = str(data.get("collection"))
    try:
        restored = replace(
            memory,
            # What was foreign there is foreign here; whether it is suspicious is judged anew.
            extra={IS_FOREIGN: True} if data.get(IS_FOREIGN) is True else {},
            id=old_id if is_hex(old_id, 32) else memory.id,
            external_id=redact.clean(str(data.get("external_id") or "")).text,
            origin=Origin(data.get("origin", Origin.IMPORT)),
            confidence=min(1.0, max(0.0, float(str(data.get("confidence", 0.5))))),
            collection=collection if collection in COLLECTIONS else memory.collection,
            sensitivity=Sensitivity(data.get("sensitivity", Sensitivity.INTERNAL)),
            jurisdiction=privacy.word(_word(data, "jurisdiction")),
            source=replace(
                memory.source,
                path=privacy.word(_word(source, "path")),
                line_start=request_fields.number_of({"line": first}, "line", 0, 0, MOST_LINES),
                line_end=request_fields.number_of({"line": last}, "line", 0, 0, MOST_LINES),
            ),
        )
        return round_trip.restored(restored, data)
    except (ValueError, TypeError) as error:
        raise BadInputError(
            f"A field of the export is damaged: {error}.", "Export anew."
        ) from error


def store(
    batch: list[tuple[Shelf, Memory]],
    counts: ImportCounts,
    verbatim: bool,
    restoration: ImportRestoration,
) -> None:
    """Write a batch, one transaction a store; equal texts of one project are merged unless they are
    to be kept verbatim, or an export of ours has them apart. A line whose `id` was imported before
    replaces what it brought then."""
    for shelf in {id(shelf): shelf for shelf, _ in batch}.values():
        memories = [memory for owner, memory in batch if owner is shelf]
        # An export of ours says the ids that its memories had; all others have new ones.
        by_id = shelf.journal.by_ids([memory.id for memory in memories])
        new_memories: dict[str, Memory] = {}
        by_text: dict[tuple[bytes, str], Memory] = {}
        for memory in memories:
            twin = by_id.get(memory.id) or _twin(shelf, memory, by_text, verbatim, restoration)
            if twin is None:
                new_memories[memory.id] = memory
                by_text[text_key(memory.text), memory.project] = memory
                continue
            if twin.id != memory.id:
                restoration.existing_ids[memory.id] = twin.id
            if twin.status is Status.FORGOTTEN:
                counts.left_out += 1
                continue
            counts.merged += 1
            is_ours = restoration.is_from_export(memory)
            if twin.id in new_memories:
                merged = _merge_repeated(twin, memory, is_ours, shelf.journal.now())
                new_memories[twin.id] = by_text[text_key(memory.text), memory.project] = merged
            else:
                # As it is now: who edits it meanwhile must not end the import.
                twin = shelf.journal.get(twin.id)
                merged = _merge_repeated(twin, memory, is_ours, shelf.journal.now())
                stored = shelf.journal.update(merged, twin)
                if stored.sensitivity is not twin.sensitivity and not memory.is_foreign:
                    restoration.raised.append((shelf, stored, twin))
                by_id.update({memory.id: stored} if memory.id in by_id else {})
        if new_memories:
            shelf.journal.add(list(new_memories.values()))
            restoration.note_stored(shelf, list(new_memories.values()))
            restoration.unbound += filter(proposals.is_unbound, new_memories.values())
            counts.stored += len(new_memories)
    batch.clear()


def _merge_repeated(twin: Memory, memory: Memory, is_ours: bool, now: datetime) -> Memory:
    """Return a stored memory with what a line that repeats it adds; it never becomes less sensitive.
    Only the tags count where the line is the same memory, or others wrote it, who could hide the user's own words. No
    date counts of our own exports, which may be older than the memory's last change. A date that the memory has stays:
    the same file may be read again after the user has changed it. A date in the past ends nothing that holds."""
    merged = replace(twin, tags=unique((*twin.tags, *memory.tags)))
    if twin.id == memory.id or (memory.is_foreign and not twin.is_foreign):
        return merged
    merged = replace(
        merged,
        sensitivity=strictest(twin.sensitivity, memory.sensitivity),
        jurisdiction=twin.jurisdiction or memory.jurisdiction,
    )
    has_date, is_past = twin.temporal is not Temporal.PERMANENT, is_over(memory, now)
    if is_ours or has_date or is_past or not (ages := merging.merged_ageing(twin, memory)):
        return merged
    return replace(merged, **ages, extra={**twin.extra, **of_ageing(memory.extra)})


def _twin(
    shelf: Shelf,
    memory: Memory,
    by_text: dict[tuple[bytes, str], Memory],
    verbatim: bool,
    restoration: ImportRestoration,
) -> Memory | None:
    """Return the memory that this one repeats: an import of the same id and text, or, unless it is
    to be kept verbatim, any of the same text that the same export does not have apart."""
    if memory.status is not Status.ACTIVE:
        return None
    is_ours = restoration.is_from_export(memory)
    if memory.external_id:
        imported = shelf.journal.find_by_external_id(memory.external_id, memory.project)
        is_apart = imported is not None and is_ours and restoration.is_from_export(imported)
        if imported is not None and imported.text == memory.text and not is_apart:
            return imported
    if verbatim:
        return None
    key = text_key(memory.text), memory.project
    is_past = is_over(memory, shelf.journal.now())
    twin = by_text.get(key) or shelf.journal.find_by_hash(*key, past=is_past)
    return None if twin is not None and is_ours and restoration.is_from_export(twin) else twin


class ExportRequest(messages.Filter):
    """Write out memories.

    Attributes:
        all_projects: those of all projects; clients say `all` for it, too.
        format: `markdown`, or JSON lines.
    """

    all_projects: bool = messages.read_by(
        lambda sent, name: bool(sent.get(name) or sent.get("all")), False
    )
    format: str = messages.one_of(("jsonl", "markdown"))


def export(ctx: Context, request: ExportRequest) -> Iterator[dict[str, object]]:
    """Yield all memories of a project, of the global scope or of every store, oldest first, in the
    form that `import` takes."""
    asker = messages.asker_of(ctx, request)
    scope = asker.scope.without_records
    roots = project_roots(asker.shelves)
    for shelf in asker.shelves:
        for memory, links in memories_with_links(shelf, scope):
            yield export_line(memory, roots.get(memory.project, ""), links)


def memories_with_links(shelf: Shelf, scope: Scope) -> Iterator[tuple[Memory, list[Link]]]:
    """Yield what an export tells of a store, oldest first, each with the links that lead from it.

    What observers make anew by themselves is left out: elsewhere they make it of what they see there.
    """
    # Superseded memories are exported, too: they are the history of their successors.
    living = shelf.journal.iter_memories(scope, statuses=LIVING)
    return round_trip.with_links(
        shelf, (memory for memory in living if scope.collections or not memory.is_quiet)
    )


LINE_FIELDS = (
    "id", "text", "title", "kind", "tags", "created_at", "files", "priority", "confidence", "origin", "collection",
    "sensitivity", "jurisdiction", "model",
)  # fmt: skip
"""What each line of an export tells of a memory, by the names of `Memory`."""


def export_line(memory: Memory, root: str, links: Sequence[Link]) -> dict[str, object]:
    """Return a memory as one line of an export; `import` takes it: `LINE_FIELDS`, where it was said (`session`, the turn as
    `seq`, `speaker`) or stood (`source`: a file, with its first and last line there), its project's folder (None where
    it has none) and id, its `external_id` (None for none), `round_trip.standing`, and the marks of trust.

    Args:
        root: its project's folder, "" for none.
        links: those that lead from it.
    """
    source = memory.source
    return {
        **round_trip.standing(memory, links),
        **{name: getattr(memory, name) for name in LINE_FIELDS},
        "external_id": memory.external_id or None,
        "session": source.session,
        "seq": source.turn,
        "speaker": source.speaker,
        "project": root or None,
        "project_id": memory.project,
        "source": {"path": source.path, "lines": (source.line_start, source.line_end)},
        **trust_marks.marks_of(memory, trust_marks.TRUST_MARKS),
    }
