"""`multimodal_input`: what a diagram, a picture or a recording shows, as a memory that names its file.

Diagrams that are text are read here. What stands in a picture or a recording, the caller says: no model that sees
or hears is part of this. Whatever stands in a file is its author's word and binds nobody.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.index.diagrams import forms
from vector_memory.index.diagrams.diagram import Diagram
from vector_memory.model import Memory, Origin, Scope
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.edit.remember import RememberAnswer, RememberRequest, remember
from vector_memory.service.memory.views import BriefView
from vector_memory.system.files import explained, open_plain, with_real_folder

DIAGRAM, IMAGE, AUDIO = "diagram", "image", "audio"
IMAGES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif", ".pdf"}
)
SOUNDS = frozenset(
    {".mp3", ".wav", ".m4a", ".ogg", ".opus", ".flac", ".aac", ".webm", ".mp4", ".mov"}
)
MOST_DIAGRAM_BYTES, MOST_BYTES = 2_000_000, 2_000_000_000
CHUNK_BYTES = 1 << 20
MOST_CHARS = 8_000
REFERENCE, DIGEST = "reference", "sha256:"
"""The tags of a memory that stands for a file, and of the file as it was then."""


@dataclass(frozen=True, kw_only=True)
class InputRequest(messages.Request):
    """A file whose content is to be remembered as text.

    Attributes:
        path: the file.
        kind: `diagram`, `image` or `audio`; by the file's ending where it is not said.
        text: what it shows or says, in the caller's words; needed for pictures and recordings.
        dry_run: only read and show.
        session: the session that asks.
    """

    path: str = messages.text(4_096)
    kind: str = messages.word()
    text: str = messages.maybe_text(MOST_CHARS)
    dry_run: bool = messages.flag(default=True)
    session: str = messages.word()
    id: str = messages.word()


@dataclass(frozen=True)
class Part:
    """A node of a diagram."""

    id: str
    label: str


@dataclass(frozen=True)
class Arrow:
    """What leads from one node to another, with what is written at it."""

    start: str = messages.called("from")
    end: str = messages.called("to")
    label: str = ""


@dataclass(frozen=True)
class InputAnswer:
    """What a file shows, and what was stored of it.

    Attributes:
        form: the diagram's language, or the file's ending.
        sha256: of the file's bytes; `bytes` is how many.
        text: what is remembered of it, or would be.
        earlier: the memory of the same file as it was before, "" for none; `changed` is whether the file is another
            now.
        memory: what was stored, None with `dry_run`.
    """

    kind: str
    form: str
    path: str
    sha256: str
    bytes: int
    text: str
    parts: list[Part]
    arrows: list[Arrow]
    dry_run: bool
    earlier: str = ""
    changed: bool = False
    action: str = ""
    memory: BriefView | None = messages.spare()


@dataclass
class _File:
    """A file that was read: its bytes only where it is a diagram."""

    path: str
    named: str
    size: int
    sha256: str
    ending: str
    raw: bytes = b""
    diagrams: list[Diagram] = field(default_factory=list)


def take_in(ctx: Context, request: InputRequest) -> InputAnswer:
    """Read a file, and remember what it shows unless only asked to look.

    Raises:
        BadInputError: it is too large, of a form that nobody here reads, or no diagram of its form; or a picture or
            recording comes without a text.
        OSError: the file cannot be read.

    Returns:
        What the file shows, and the memory that was made of it.
    """
    file = _opened(ctx, request)
    kind = request.kind or _kind_of(file.ending)
    if kind not in (DIAGRAM, IMAGE, AUDIO):
        raise BadInputError(
            f"Nobody here reads {file.ending or 'a file without an ending'!r}.",
            "Give kind image or audio, with a text that says what it shows.",
        )
    if kind == DIAGRAM and not request.text:
        file.diagrams = _diagrams(file)
    elif not request.text:
        raise BadInputError(
            f"What the {kind} shows has to come with it: no model here sees or hears.",
            "Give a text that says it.",
        )
    text = redact.clean(_text(request, kind, file)).text
    earlier = _earlier(ctx, request, file)
    answer = InputAnswer(
        kind=kind,
        form=forms.ENDINGS.get(file.ending, file.ending.lstrip(".")),
        path=redact.clean(file.named).text,
        sha256=file.sha256,
        bytes=file.size,
        text=text,
        parts=[_part(id, label) for one in file.diagrams for id, label in one.nodes.items()],
        arrows=[Arrow(*map(_clean, edge)) for one in file.diagrams for edge in one.edges],
        dry_run=request.dry_run,
        earlier=earlier.id if earlier else "",
        changed=earlier is not None and DIGEST + file.sha256 not in earlier.tags,
    )
    return answer if request.dry_run else _stored(ctx, request, answer)


def _opened(ctx: Context, request: InputRequest) -> _File:
    path = with_real_folder(os.path.join(request.base, os.path.expanduser(request.path)))
    ending = os.path.splitext(path)[1].lower()
    is_text = ending in forms.ENDINGS
    most, digest, raw, size = (
        (MOST_DIAGRAM_BYTES if is_text else MOST_BYTES),
        hashlib.sha256(),
        b"",
        0,
    )
    try:
        with open_plain(path) as opened:
            while chunk := opened.read(CHUNK_BYTES):
                size += len(chunk)
                if size > most:
                    raise BadInputError(
                        f"{path} is larger than {most:,} bytes.", "Give a part of it."
                    )
                digest.update(chunk)
                raw += chunk if is_text else b""
    except OSError as error:
        raise explained(path, error) from error
    place = messages.place_of(ctx, request)
    root = place.root if place is not None else ""
    inside = bool(root) and path.startswith(root.rstrip("/") + "/")
    named = os.path.relpath(path, root) if inside else path
    return _File(path, named, size, digest.hexdigest(), ending, raw)


def _kind_of(ending: str) -> str:
    if ending in forms.ENDINGS:
        return DIAGRAM
    return IMAGE if ending in IMAGES else AUDIO if ending in SOUNDS else ""


def _diagrams(file: _File) -> list[Diagram]:
    form = forms.ENDINGS.get(file.ending)
    if form is None:
        raise BadInputError(
            f"{file.ending or 'That'} is no form of diagram that is read here.",
            f"Forms: {', '.join(forms.ENDINGS)}. Or give a text that says what it shows.",
        )
    try:
        found = [
            one for one in forms.read(file.raw.decode("utf-8", "replace"), form) if not one.is_empty
        ]
    except ValueError as error:
        raise BadInputError(f"{file.named} is no {form}: {error}.", "Look at the file.") from None
    if not found:
        raise BadInputError(
            f"{file.named} shows nothing that can be read.", "Give a text that says what it shows."
        )
    return found


def _text(request: InputRequest, kind: str, file: _File) -> str:
    body = request.text or "\n\n".join(one.text for one in file.diagrams)
    if len(body) > MOST_CHARS:
        body = body[: body.rfind("\n", 0, MOST_CHARS) + 1 or MOST_CHARS] + "…"
    return f"{kind.capitalize()} {file.named}\n{body}"


def _clean(words: str) -> str:
    return str(redact.clean(words).text)


def _part(id: str, label: str) -> Part:
    return Part(_clean(id), _clean(label))


def _earlier(ctx: Context, request: InputRequest, file: _File) -> Memory | None:
    """Return what was remembered of the same file last."""
    asker = messages.asker_of(ctx, request)
    scope = (
        replace(asker.scope, tags=(REFERENCE,))
        if asker.scope.projects
        else Scope(tags=(REFERENCE,))
    )
    name = redact.clean(file.named).text
    found = (
        one
        for shelf in asker.shelves
        for one in shelf.journal.iter_memories(scope, newest_first=True)
    )
    return next((one for one in found if name in one.files), None)


def _stored(ctx: Context, request: InputRequest, answer: InputAnswer) -> InputAnswer:
    if answer.earlier and not answer.changed and not request.text:
        return replace(answer, action="unchanged")
    done: RememberAnswer = remember(
        ctx,
        RememberRequest(
            actor=request.actor,
            said=request.said,
            project=request.project,
            cwd=request.cwd,
            is_global=request.is_global,
            text=answer.text,
            id=request.id,
            title=f"{answer.kind} {answer.path}",
            kind="fact",
            tags=(REFERENCE, answer.kind, DIGEST + answer.sha256),
            files=(answer.path,),
            supersedes=answer.earlier,
            session=request.session,
            # Who made the file says it; of a picture, who looked at it.
            origin=Origin.ASSISTANT if request.text else Origin.TOOL,
        ),
    )
    return replace(answer, action=done.action, memory=done)
