"""`agent_marketplace`: packs of procedures and learnings in folders or repositories, signed, looked at before they are installed, and
foreign until the user vouches for them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import IS_FOREIGN, Memory, Scope
from vector_memory.projects import Place
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import each_of
from vector_memory.service.sharing import contents
from vector_memory.service.transfer import json_lines
from vector_memory.system import git, json_in
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import read_text
from vector_memory.system.json_in import Record
from vector_memory.text.words import is_made_of, is_slug
from vector_memory.trust import canonical
from vector_memory.trust.keys import PublicKey

MANIFEST, MEMORIES = "pack.json", "memories.jsonl"
FORMAT, PURPOSE = "vector-memory pack 1", "pack"
COLLECTIONS = ("procedures", "learnings")
MOST, MOST_BYTES, MOST_SHOWN = 1_000, 4_000_000, 100
_SCHEMES = ("http://", "https://", "ssh://", "git://", "file://")
LONGEST_NAME, LONGEST_HOST = 40, 255


class PackRequest(messages.Request):
    """`publish` a project's procedures and learnings into a folder, `show` a pack, `install` it, or `certify` what
    was installed from it as one's own word.

    Attributes:
        path: the pack's folder, or the address of a git repository at whose top it lies; name: what a new one is called.
    """

    action: str = messages.one_of(("show", "publish", "install", "certify"), "show")
    path: str = messages.text(4_096)
    name: str = messages.word()


class PackAnswer(messages.Answer):
    """A pack: by whom, whether its signature holds, what is in it, and how many were installed or certified."""

    name: str
    key: str
    fingerprint: str
    signed: bool
    texts: list[str]
    count: int
    installed: int | None = messages.spare()
    certified: int | None = messages.spare()


def pack(ctx: Context, request: PackRequest) -> PackAnswer:
    """Publish, show, install or certify a pack.

    Returns:
        The pack, with its texts, so many at most.

    Raises:
        BadInputError: there is no pack, or it was changed after it was signed; or an agent asks
            for what only the user does.
        NotFoundError: there is nothing to publish.
    """
    if request.action != "show":
        request.require_user(f"{request.action}s packs")
    with _folder_of(ctx, request) as folder:
        if request.action == "publish":
            return _publish(ctx, request, folder)
        view = _read(folder)
        if request.action == "install":
            import_request = json_lines.ImportRequest(
                path=os.path.join(folder, MEMORIES), foreign=True, wait=False, actor=request.actor,
                project=request.project, cwd=request.cwd,
            )  # fmt: skip
            result = json_lines.import_file(ctx, import_request, lambda *_: None)
            return replace(view, installed=result.stored)
    if request.action == "certify":
        return replace(view, certified=_certify(ctx, request, view.name))
    return view


@contextlib.contextmanager
def _folder_of(ctx: Context, request: PackRequest) -> Iterator[str]:
    """Yield the folder that a request names, or a temporary clone of the repository.

    Raises:
        BadInputError: an agent would have something fetched, or git cannot.
    """
    account, has_path, _ = request.path.partition(":")
    user, _, host = account.partition("@")
    is_at_host = has_path and all(is_made_of(name, "_.-", LONGEST_HOST) for name in (user, host))
    is_fetched = request.path.startswith(_SCHEMES) or is_at_host
    if not is_fetched or request.action == "publish":
        yield os.path.abspath(os.path.join(request.base, os.path.expanduser(request.path)))
        return
    request.require_user("has packs fetched")
    with tempfile.TemporaryDirectory(dir=ctx.home.run) as copy:
        git.run("/", "clone", "--quiet", "--depth", "1", "--", request.path, copy)
        yield copy


def _publish(ctx: Context, request: PackRequest, folder: str) -> PackAnswer:
    if not is_slug(request.name, "-", LONGEST_NAME):
        raise BadInputError("A pack's name is of a-z, 0-9 and hyphens.", "Give name.")
    place = messages.place_of(ctx, request)
    if place is None:
        raise BadInputError("A pack is made of a project.", "Give project.")
    if os.path.exists(folder) and os.listdir(folder):
        raise BadInputError(f"{folder} is not empty.", "Give a folder that is.")
    scope = Scope(projects=(place.id,), collections=COLLECTIONS)
    candidates = each_of(
        ctx.shelves_of(place), lambda journal: journal.iter_memories(scope, limit=MOST)
    )
    published = [memory for memory in candidates if contents.may_be_published(memory, ctx.now())]
    if not published:
        raise NotFoundError(
            "There is nothing to publish.", f"Packs hold {' and '.join(COLLECTIONS)}."
        )
    lines = b"".join(_line(memory, request.name, place) for memory in published)
    manifest: dict[str, object] = {
        "format": FORMAT, "name": request.name, "count": len(published),
        "made_at": ctx.now().isoformat(timespec="seconds"),
        "files": {MEMORIES: hashlib.sha256(lines).hexdigest()},
    }  # fmt: skip
    key = contracts.signer(ctx)
    manifest["key"] = key.public.word
    signature = key.sign(PURPOSE, canonical.canonical_bytes(manifest)).hex()
    os.makedirs(folder, exist_ok=True)
    write_durably(os.path.join(folder, MEMORIES), lines)
    signed_manifest = {**manifest, "signature": signature}
    write_durably(os.path.join(folder, MANIFEST), json.dumps(signed_manifest, indent=1).encode())
    ctx.state.audit(
        "pack", request.actor, [memory.id for memory in published], {"name": request.name}
    )
    return _read(folder)


def _line(memory: Memory, name: str, place: Place) -> bytes:
    def clean(words: str) -> str:
        # Rules may have become stricter since it was stored.
        return str(redact.clean(contents.portable(words, place)).text)

    fields = {
        "text": clean(memory.text), "title": clean(memory.title), "kind": memory.kind,
        "collection": memory.collection, "tags": [*map(clean, memory.tags), _tag(name)],
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def _tag(name: str) -> str:
    return f"pack-{name}"


def _read(folder: str) -> PackAnswer:
    """Return the pack of a folder.

    Raises:
        BadInputError: there is none, or it was changed after it was signed.
    """
    try:
        manifest = Record(
            json_in.load(read_text(os.path.join(folder, MANIFEST), MOST_BYTES).encode())
        )
        lines = read_text(os.path.join(folder, MEMORIES), MOST_BYTES + 1).encode()
        key = PublicKey.read(manifest.text("key"))
        body = {name: value for name, value in manifest.items() if name != "signature"}
        is_signed = key.has_signed(
            bytes.fromhex(manifest.text("signature")), PURPOSE, canonical.canonical_bytes(body)
        )
        is_unchanged = hashlib.sha256(lines).hexdigest() == manifest.part("files").text(MEMORIES)
        texts = [Record(json_in.load(line)).text("text") for line in lines.splitlines()]
    except (OSError, ValueError, TypeError, BadInputError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        raise BadInputError(
            f"{folder} holds no pack: {reason}.", f"A pack has {MANIFEST} and {MEMORIES}."
        ) from None
    if not (is_signed and is_unchanged and manifest.text("format") == FORMAT):
        raise BadInputError(
            f"The pack in {folder} was changed after it was signed.",
            "Take it from its author anew.",
        )
    cleaned = [str(redact.clean(text).text) for text in texts[:MOST_SHOWN]]
    return PackAnswer(manifest.text("name"), key.word, key.fingerprint, True, cleaned, len(texts))


def _certify(ctx: Context, request: PackRequest, name: str) -> int:
    asker = messages.asker_of(ctx, request)
    certified_count = 0
    for shelf in asker.shelves:
        scope = replace(asker.scope, tags=(_tag(name),))
        for memory in list(shelf.journal.iter_memories(scope, limit=MOST)):
            if memory.extra.get(IS_FOREIGN) and not memory.is_suspicious:
                extra = {key: value for key, value in memory.extra.items() if key != IS_FOREIGN}
                shelf.journal.update(replace(memory, extra=extra, updated_at=ctx.now()), memory)
                certified_count += 1
    ctx.changed()
    ctx.state.audit("pack", request.actor, [], {"name": name, "certified": certified_count})
    return certified_count
