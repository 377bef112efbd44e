"""`multimodal_input`: what a diagram, a picture or a recording shows, as a memory that names its file.

Diagrams that are text are read here. What stands in a picture or a recording, the caller says: no model that sees
or hears is part of this. Whatever stands in a file is its author's word and binds nobody.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from vector_memory.errors import BadInputError
from vector_memory.index.diagrams import forms
from vector_memory.index.diagrams.diagram import Diagram
from vector_memory.model import Memory, Origin, Scope
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.edit.remember import RememberRequest, remember
from vector_memory.service.think import ledger
from vector_memory.system.files import open_plain, readable_error, with_real_folder

DIAGRAM, IMAGE, AUDIO = "diagram", "image", "audio"
KINDS = {
    **dict.fromkeys(forms.ENDINGS, DIAGRAM),
    **dict.fromkeys(
        (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif", ".pdf"), IMAGE
    ),
    **dict.fromkeys((".mp3", ".wav", ".m4a", ".ogg", ".opus", ".flac", ".aac", ".webm", ".mp4", ".mov"), AUDIO),
}  # fmt: skip
"""What a file is by its ending."""
MOST_DIAGRAM_BYTES, MOST_BYTES = 2_000_000, 2_000_000_000
CHUNK_BYTES = 1 << 20
MOST_CHARS = 8_000
ENDS = ("from", "to", "label")
"""What is told of an arrow of a diagram."""
REFERENCE, DIGEST = "reference", "sha256:"
"""The tags of a memory that stands for a file, and of the file as it was then."""


class InputRequest(ledger.WorkRequest):
    """A file whose content is to be remembered as text.

    Attributes:
        path: the file.
        kind: `diagram`, `image` or `audio`; by the file's ending where it is not said.
        text: what it shows or says, in the caller's words; needed for pictures and recordings.
        dry_run: only read and show.
        session: the session that asks.
    """

    path: str = messages.text(4_096)
    kind: str = messages.one_of((DIAGRAM, IMAGE, AUDIO))
    text: str = messages.maybe_text(MOST_CHARS)
    id: str = messages.word()


class ReadFile(NamedTuple):
    """A file that was read, with its name as it is remembered; its bytes only where it may be a diagram."""

    name: str
    ending: str
    size: int
    sha256: str
    raw: bytes


def remember_file(ctx: Context, request: InputRequest) -> ledger.Answer:
    """Read a file, and remember what it shows unless only asked to look.

    Raises:
        BadInputError: it is too large, of a form that nobody here reads, or no diagram of its form; or a picture or
            recording comes without a text.
        OSError: the file cannot be read.

    Returns:
        Its `kind`, its `form` (a diagram's language, or the file's ending), `path`, `sha256` and `bytes`; the `text`
        that is remembered of it, or would be; a diagram's `parts` and `arrows`; the `earlier` memory of the same file
        ("" for none), and whether it was `changed` since; what became of it (`action`) and the `memory`.
    """
    file = _read_file(ctx, request)
    kind = _kind(file, request)
    diagrams = [] if request.text else _diagrams(file)
    path, digest = privacy.word(file.name), DIGEST + file.sha256
    earlier = _earlier_memory(ctx, request, path)
    is_changed = earlier is not None and digest not in earlier.tags
    draft = RememberRequest(
        **request.as_asked(),
        text=_text(kind, file.name, request.text, diagrams),
        id=request.id,
        title=f"{kind} {path}",
        kind="fact",
        tags=(REFERENCE, kind, digest),
        files=(path,),
        supersedes=earlier.id if earlier else "",
        session=request.session,
        # Who made the file says it; of a picture, who looked at it.
        origin=Origin.ASSISTANT if request.text else Origin.TOOL,
    )
    summary, action, memory = "It would be remembered; nothing was stored.", "", None
    if not request.dry_run and earlier and not is_changed and not request.text:
        summary, action = "It is remembered as it is.", "unchanged"
    elif not request.dry_run:
        memory = remember(ctx, draft)
        summary, action = f"It was {memory.action}.", memory.action
    nodes = [pair for diagram in diagrams for pair in diagram.nodes.items()]
    edges = [edge for diagram in diagrams for edge in diagram.edges]
    return ledger.answer(
        ctx,
        summary,
        kind=kind,
        form=forms.ENDINGS.get(file.ending, file.ending.lstrip(".")),
        path=path,
        sha256=file.sha256,
        bytes=file.size,
        text=draft.text,
        parts=[{"id": privacy.word(id), "label": privacy.word(label)} for id, label in nodes],
        arrows=[dict(zip(ENDS, map(privacy.word, edge), strict=True)) for edge in edges],
        dry_run=request.dry_run,
        earlier=earlier.id if earlier else "",
        changed=is_changed,
        action=action,
        memory=memory,
    )


def _kind(file: ReadFile, request: InputRequest) -> str:
    """Return what a file is; of what is no diagram, its words have to come with it."""
    kind = request.kind or KINDS.get(file.ending, "")
    if not kind or (kind != DIAGRAM and not request.text):
        raise BadInputError(
            f"What {file.name} shows has to come with it: no model here sees or hears.",
            "Give a text that says it, and where the file's ending does not tell it, kind image or audio.",
        )
    return kind


def _text(kind: str, name: str, words: str, diagrams: Sequence[Diagram]) -> str:
    body = words or "\n\n".join(diagram.text for diagram in diagrams)
    if len(body) > MOST_CHARS:
        body = body[: body.rfind("\n", 0, MOST_CHARS) + 1 or MOST_CHARS] + "…"
    return privacy.word(f"{kind.capitalize()} {name}\n{body}")


def _read_file(ctx: Context, request: InputRequest) -> ReadFile:
    path = with_real_folder(os.path.join(request.base, os.path.expanduser(request.path)))
    ending = os.path.splitext(path)[1].lower()
    is_text = ending in forms.ENDINGS
    most_bytes = MOST_DIAGRAM_BYTES if is_text else MOST_BYTES
    digest, raw, size = hashlib.sha256(), b"", 0
    try:
        with open_plain(path) as file:
            while chunk := file.read(CHUNK_BYTES):
                size += len(chunk)
                if size > most_bytes:
                    raise BadInputError(
                        f"{path} is larger than {most_bytes:,} bytes.", "Give a part of it."
                    )
                digest.update(chunk)
                raw += chunk if is_text else b""
    except OSError as error:
        raise readable_error(path, error) from error
    place = messages.place_of(ctx, request)
    root = place.root.rstrip("/") + "/" if place is not None and place.root else ""
    return ReadFile(path.removeprefix(root), ending, size, digest.hexdigest(), raw)


def _diagrams(file: ReadFile) -> list[Diagram]:
    form = forms.ENDINGS.get(file.ending)
    if form is None:
        raise BadInputError(
            f"{file.ending or 'That'} is no form of diagram that is read here.",
            f"Forms: {', '.join(forms.ENDINGS)}. Or give a text that says what it shows.",
        )
    try:
        parsed = forms.read(file.raw.decode("utf-8", "replace"), form)
    except ValueError as error:
        raise BadInputError(f"{file.name} is no {form}: {error}.", "Look at the file.") from None
    if not (diagrams := [diagram for diagram in parsed if not diagram.is_empty]):
        raise BadInputError(
            f"{file.name} shows nothing that can be read.", "Give a text that says what it shows."
        )
    return diagrams


def _earlier_memory(ctx: Context, request: InputRequest, path: str) -> Memory | None:
    """Return what was remembered of the same file last."""
    asker = messages.asker_of(ctx, request)
    scope = Scope(projects=asker.scope.projects, tags=(REFERENCE,))
    references = (shelf.journal.iter_memories(scope, newest_first=True) for shelf in asker.shelves)
    return next((memory for memory in chain(*references) if path in memory.files), None)
