"""What is remembered, as notes in the user's vault: one for each project, in a folder of ours, made anew when it has
changed. What the user edits there becomes an edit of the memory by `import`, after a preview; until then the note
is left as it is."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Iterator

from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.index.notes import daily_note, markdown_export
from vector_memory.model import IN_NOTES, OF_TALK, Memory, Progress, Scope
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import session_summary
from vector_memory.service.memory.lookup import is_open
from vector_memory.service.transfer import export_markdown, import_plan, note_files, round_trip
from vector_memory.service.transfer.json_lines import ImportAnswer, IncomingRequest, export_line
from vector_memory.service.transfer.round_trip import ImportRestoration
from vector_memory.service.transfer.vault import vault_root

log = logging.getLogger(__name__)

FOLDER = "Memory"
"""Below the vault: the folder of our notes, and the name of the one that leads to all of them."""
MOST_BYTES = 1_500_000
"""Of one note, so that it can be read back: the newest memories stand in it."""
_NO_NAME = re.compile(r"[^\w .()-]+")
_WRITTEN = re.compile(r"^<!-- written ([0-9a-f]{32}) -->\n", re.MULTILINE)
_FRONT = "---\ntags: [vector-memory]\nproject: {}\n---\n"


class ToVaultRequest(messages.Request):
    """Write what is remembered into the vault."""


class VaultExportAnswer(messages.Answer):
    """What was written.

    Attributes:
        folder: where, "" where no vault is set.
        notes: how many stand there, `written` those that are new or had changed, with so many memories in all.
        edited: paths of notes with words of the user's that are not read back yet: they are as they were.
        failed: paths of notes that could not be written.
    """

    folder: str
    notes: int = 0
    written: int = 0
    memories: int = 0
    edited: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def is_in_use(ctx: Context) -> bool:
    """Whether the user has had the notes written once: from then on they follow what is remembered."""
    root = vault_root(ctx)
    return bool(root) and os.path.isfile(os.path.join(root, FOLDER, f"{FOLDER}.md"))


def export(ctx: Context, request: ToVaultRequest, _: Progress) -> VaultExportAnswer:
    """Write the notes because the user asks for it.

    Raises:
        BadInputError: no vault is set, or it is no folder.

    Returns:
        What was written, and which notes wait to be read back.
    """
    answer = write(ctx)
    ctx.state.audit("export", request.actor, [], {"exported": answer.memories})
    return answer


def write(ctx: Context) -> VaultExportAnswer:
    """Write the notes of all projects into the vault; of one about which nothing is known any more our section goes.

    Raises:
        BadInputError: no vault is set, or it is no folder.

    Returns:
        What was written, and which notes wait to be read back.
    """
    root = vault_root(ctx)
    if not os.path.isdir(root):
        raise BadInputError(
            f"The vault {root} is no folder." if root else "No vault is set.",
            "Set it with `vector-memory config set vault DIR`.",
        )
    folder = os.path.join(root, FOLDER)
    os.makedirs(folder, exist_ok=True)
    names: dict[str, int] = {}
    edited: list[str] = []
    results: dict[str, bool | None] = {}
    for name, project, body, count in _all_notes(ctx, folder):
        names |= {name: count} if count else {}
        path = os.path.join(folder, f"{name}.md")
        if _has_edits(ctx, path):
            edited.append(path)
        else:
            results[path] = _put_section(folder, name, project, body)
    lines = [markdown_export.note_entry(*pair) for pair in sorted(names.items())]
    _put_section(folder, FOLDER, "", "\n".join(lines))
    failed = tuple(path for path, has_changed in results.items() if has_changed is None)
    written = sum(map(bool, results.values()))
    return VaultExportAnswer(
        folder, len(names), written, sum(names.values()), tuple(edited), failed
    )


def _all_notes(ctx: Context, folder: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield each project's note under a unique name, then the notes in the folder for which there are no memories."""
    used_names = {FOLDER.casefold()}
    for name, project, body, count in _notes(ctx):
        while name.casefold() in used_names:
            name += " (2)"
        used_names.add(name.casefold())
        yield name, project, body, count
    for file in sorted(os.listdir(folder)):
        name, ending = os.path.splitext(file)
        if ending == ".md" and name.casefold() not in used_names:
            yield name, "", "", 0


def _notes(ctx: Context) -> Iterator[tuple[str, str, str, int]]:
    """Yield each project's note: its name, the project's, what stands in it, and of how many memories."""
    scope = Scope(levels=IN_NOTES).without_records
    for shelf in ctx.all_shelves():
        for name, root, project_scope in export_markdown.by_project(shelf, scope):
            # A project's own rules of privacy hold for its note, whoever has it written.
            with privacy.for_folder(ctx, root):
                items = _items(shelf, root, project_scope)
            by_kind: dict[str, list[str]] = {}
            for kind, item in items:
                by_kind.setdefault(kind, []).append(item)
            if items:
                parts = [
                    markdown_export.heading(2, kind) + "\n" + "".join(of_kind)
                    for kind, of_kind in sorted(by_kind.items())
                ]
                file_name = _NO_NAME.sub("_", name).strip(" .") or "_"
                yield file_name, name, "".join(parts).strip(), len(items)


def _items(shelf: Shelf, root: str, project_scope: Scope) -> list[tuple[str, str]]:
    """Return what a project's note says of its memories, the newest first, each with its kind."""
    memories = shelf.journal.iter_memories(project_scope, newest_first=True)
    items: list[tuple[str, str]] = []
    size = 0
    for memory, links in round_trip.with_links(shelf, filter(_is_exported, memories)):
        line = privacy.redacted_again(messages.to_json(export_line(memory, root, links)))
        item = markdown_export.render(line)
        size += len(item.encode())
        if size > MOST_BYTES:
            break
        items.append((memory.kind or "note", item))
    return items


def _is_exported(memory: Memory) -> bool:
    """Whether a memory belongs into the vault: no talk as it was said, nothing that came from others' notes, and
    nothing that is held back."""
    if memory.kind in OF_TALK or daily_note.has_mark(memory.text):
        return False
    return memory.trust > 0 and is_open(memory)


def _put_section(folder: str, name: str, project: str, body: str) -> bool | None:
    """Put our section into a note, and leave the user's text around it; return whether that changed it, None where it
    could not be written."""
    head = f"{markdown_export.HEAD}\n<!-- written {_digest(body)} -->\nUp: [[{FOLDER}]]\n\n"
    section = daily_note.between_marks(markdown_export.SECTION, head + body) if body else ""
    front = _FRONT.format(project) if project else ""
    try:
        return session_summary.put_section(
            folder, f"{name}.md", markdown_export.SECTION, section, fresh=front
        )
    except (OSError, UnicodeError) as error:
        log.warning("a note of the vault is not written: %s", error)
        return None


def _has_edits(ctx: Context, path: str) -> bool:
    """Whether a note holds edits that are not read back, or words of the user's where ours stand."""
    if not os.path.lexists(path):
        return False
    try:
        file = note_files.read(path)
    except VectorMemoryError:
        return True
    body = daily_note.body_of(file.text.replace("\r\n", "\n"), markdown_export.SECTION)
    written = _WRITTEN.search(body)
    if not body:
        return daily_note.is_torn(file.text, markdown_export.SECTION)
    if written and written[1] == _digest(body[written.end() :].partition("\n\n")[2]):
        return False
    answer, restoration = ImportAnswer(), ImportRestoration()
    items = markdown_export.parse(file.text.split("\n"))
    steps = import_plan.steps_of(ctx, IncomingRequest(), items, answer, restoration)
    pending = any(step.action in import_plan.BRINGING for step in steps)
    return pending or bool(answer.errors) or any(markdown_export.unread_lines(body.split("\n")))


def _digest(body: str) -> str:
    return hashlib.blake2b(body.strip().encode("utf-8", "replace"), digest_size=16).hexdigest()
