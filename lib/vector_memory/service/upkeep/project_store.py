"""Projects with a store of their own: `init` makes one, trust decides whether one is opened."""

from __future__ import annotations

import os
from typing import Any

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError, StoreFullError
from vector_memory.journal.repair import transfer
from vector_memory.model import Scope
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.transfer import note_files
from vector_memory.system import tampering
from vector_memory.system.files import open_own


def init(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Make `.memory/` in a folder and move its project's memories there.

    `.memory/.gitignore` holds `*`, so that no memory is committed by mistake.
    """
    folder = _folder(request, "dir")
    before = ctx.place(folder)
    marker = os.path.join(folder, projects.MARKER)
    store = os.path.join(folder, projects.STORE_IN_MARKER)
    tampering.require_intact(store)
    if os.path.lexists(marker) and not ctx.state.trusted(store):
        raise BadInputError(
            f"{marker} is there already and was not made by this installation.",
            "Look into it, then `vector-memory trust DIR`, or remove it.",
        )
    try:
        make_marker(store)
    except OSError as error:
        raise StoreFullError(
            f"{marker} cannot be made: {error.strerror or error}.", "Check the folder's rights."
        ) from error
    ctx.state.trust(store)
    ctx.forget_places()
    place = ctx.place(folder)
    shelf = ctx.shelf_of(place)
    ctx.know_project(shelf, place)
    moved = _move(ctx, before, place)
    ctx.state.audit(
        "init", request_fields.actor_of(request), [], {"project": place.id, "moved": moved}
    )
    ctx.notify()
    found = note_files.common_files(folder)
    return {"project": place.name, "store": store, "moved": moved, "found": found}


def make_marker(store: str) -> None:
    """Make a project's store, its marker closed to others, and what keeps git from taking it.

    Raises:
        OSError: it cannot be made.
    """
    marker = os.path.dirname(store)
    os.makedirs(store, mode=0o700, exist_ok=True)
    os.chmod(marker, 0o700)
    path = os.path.join(marker, ".gitignore")
    with os.fdopen(open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(b"*\n")


def _move(ctx: Context, before: projects.Place, place: projects.Place) -> int:
    """Move what the global store holds of the project; the project's id may have changed, if the
    marker stands below the repository's top: then nothing is taken from the whole repository."""
    if before.id != place.id:
        return 0
    shared, own = ctx.global_shelf(), ctx.shelf_of(place)
    if shared is own:
        return 0
    return transfer.move(shared.journal, Scope(projects=(place.id,)), own.journal)


def trust(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Trust a `.memory/` that this installation did not make, or stop trusting it."""
    if request.get("trusted", True):
        request_fields.require_user(request, "trusts a store that came from elsewhere")
    folder = _folder(request, "dir")
    place = ctx.place(folder)
    if not place.store:
        raise NotFoundError(f"There is no .memory/ at or above {folder}.", "`init` makes one.")
    trusted = bool(request.get("trusted", True))
    if trusted:
        tampering.require_intact(place.store)
        ctx.state.trust(place.store)
    else:
        ctx.state.untrust(place.store)
    ctx.forget_places()
    action, detail = "trust" if trusted else "untrust", {"store": place.store}
    ctx.state.audit(action, request_fields.actor_of(request), [], detail)
    return {"project": place.name, "store": place.store, "trusted": trusted}


def _folder(request: request_fields.Request, name: str) -> str:
    folder = os.path.join(
        str(request.get("cwd") or "/"), request_fields.text_of(request, name, 4_096)
    )
    folder = os.path.realpath(os.path.expanduser(folder))
    if not os.path.isdir(folder):
        raise NotFoundError(f"There is no folder {folder}.", "Give the path of a project.")
    return folder
