"""Projects with a store of their own: `init` makes one, trust decides whether one is opened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError, StoreFullError
from vector_memory.journal.repair import transfer
from vector_memory.journal.scopes import parts
from vector_memory.model import GLOBAL_PROJECT, Scope, Status
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import moved_projects
from vector_memory.service.transfer import note_files
from vector_memory.system import tampering
from vector_memory.system.files import open_own


class InitRequest(messages.Request):
    """Make a folder a project with a store of its own."""

    dir: str = messages.text(4_096)


class InitAnswer(messages.Answer):
    """A project's new store.

    Attributes:
        moved: how many memories moved there.
        found: files of notes that could be imported.
    """

    project: str
    store: str
    moved: int
    found: list[str]


def init(ctx: Context, request: InitRequest) -> InitAnswer:
    """Make `.memory/` in a folder, for a worktree in its main checkout, and move its project's memories there.

    `.memory/.gitignore` holds `*`, so that no memory is committed by mistake.

    Raises:
        BadInputError: a `.memory/` that came from elsewhere is there.
        NotFoundError: there is no such folder.
        StoreFullError: it cannot be written.
    """
    requested = _folder(request, request.dir)
    folder, place_before = projects.shared_folder(requested), ctx.place(requested)
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
    place = ctx.place(requested)
    shelf = ctx.shelf_of(place)
    ctx.know_project(shelf, place)
    moved = _move(ctx, place_before, place)
    ctx.state.audit("init", request.actor, [], {"project": place.id, "moved": moved})
    ctx.notify()
    return InitAnswer(place.name, store, moved, found=note_files.common_files(folder))


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


def _move(ctx: Context, place_before: projects.Place, place: projects.Place) -> int:
    """Move what the global store holds of the project. If the marker stands below the repository's top, the project
    has a new id: then nothing is moved, since it belongs to the whole repository."""
    if place_before.id != place.id:
        return 0
    global_shelf, project_shelf = ctx.global_shelf(), ctx.shelf_of(place)
    if global_shelf is project_shelf:
        return 0
    return transfer.move(global_shelf.journal, Scope(projects=(place.id,)), project_shelf.journal)


class TrustRequest(messages.Request):
    """Trust the `.memory/` at or above a folder, or no longer."""

    dir: str = messages.text(4_096)
    trusted: bool = messages.flag(default=True)


class TrustAnswer(messages.Answer):
    """Whether a project's store is trusted now.

    Attributes:
        memories: how many it holds.
        adopted: how many of them came from another path, and belong to this project from now on.
    """

    project: str
    store: str
    trusted: bool
    memories: int = 0
    adopted: int = 0


def trust(ctx: Context, request: TrustRequest) -> TrustAnswer:
    """Trust a `.memory/` that this installation did not make, or stop trusting it.

    Raises:
        BadInputError: an agent would have it trusted.
        NotFoundError: there is none.

    Returns:
        The folder, and whether it is trusted now.
    """
    if request.trusted:
        request.require_user("trusts a store that came from elsewhere")
    folder = _folder(request, request.dir)
    place = ctx.place(folder)
    if not place.store:
        raise NotFoundError(f"There is no .memory/ at or above {folder}.", "`init` makes one.")
    if request.trusted:
        tampering.require_intact(place.store)
        ctx.state.trust(place.store)
    else:
        ctx.state.untrust(place.store)
    ctx.forget_places()
    action = "trust" if request.trusted else "untrust"
    ctx.state.audit(action, request.actor, [], {"store": place.store})
    if not request.trusted:
        return TrustAnswer(place.name, place.store, False)
    shelf = ctx.shelf_of(place)
    adopted = _adopt(ctx, shelf, ctx.place(folder)) if shelf is not ctx.global_shelf() else 0
    return TrustAnswer(place.name, place.store, True, shelf.journal.count(), adopted)


class AdoptRequest(messages.Request):
    """Have the memories of a project whose folder was `old` belong to that of the folder `dir`."""

    dir: str = messages.text(4_096)
    old: str = messages.text(4_096)


class AdoptAnswer(messages.Answer):
    """A project, and how many memories it took over.

    Attributes:
        unopened: why stores of its own cannot be opened, by their folders: what they hold came along with them.
    """

    project: str
    adopted: int
    unopened: dict[str, str] | None = messages.spare()


def adopt(ctx: Context, request: AdoptRequest) -> AdoptAnswer:
    """Take over the memories of a project whose folder was renamed or moved, or of one that this folder was.

    Raises:
        BadInputError: an agent would have it done, or another folder is still there.
        NotFoundError: there is no such folder, or nothing is known of a project at the other one.

    Returns:
        The project that took them over, and how many.
    """
    request.require_user("takes over another project's memories")
    folder = _folder(request, request.dir)
    old_folder = os.path.realpath(os.path.expanduser(os.path.join(request.base, request.old)))
    # Its remote may be new: "git remote add" comes right before.
    ctx.forget_places()
    place, global_shelf = ctx.place(folder), ctx.global_shelf()
    is_here = old_folder in (folder, place.root)
    if os.path.lexists(old_folder) and not is_here:
        raise BadInputError(
            f"{old_folder} is still there.", "Its memories are for who works in it."
        )
    if is_here:
        ids_by_shelf = moved_projects.before(ctx, place)
    else:
        rows = global_shelf.journal.projects()
        ids_by_shelf = {
            global_shelf: [
                project.id
                for project in rows
                if project.root == old_folder and project.id != place.id
            ]
        }
    if not any(ids_by_shelf.values()):
        raise NotFoundError(
            f"There is no memory of {'another' if is_here else 'a'} project at {old_folder}.",
            "Give its whole old path.",
        )
    adopted = sum(take_over(shelf, place, ids) for shelf, ids in ids_by_shelf.items())
    ctx.know_project(global_shelf, place)
    _move(ctx, place, place)
    ctx.state.audit("adopt", request.actor, [], {"project": place.id, "adopted": adopted})
    ctx.changed()
    unopened = {store: str(error) for store, error in ctx.unopened(place).items()}
    return AdoptAnswer(place.name, adopted, unopened or None)


def _adopt(ctx: Context, shelf: Shelf, place: projects.Place) -> int:
    """Assign what a project's own store holds to the project's id here, and return how many memories that concerns:
    without a remote the id is made of the path, and the store was at another path."""
    counts = shelf.journal.count_by("project", Scope())
    other_ids = tuple(id for id in counts if id not in (place.id, GLOBAL_PROJECT))
    adopted = take_over(shelf, place, other_ids)
    if adopted:
        ctx.know_project(shelf, place)
        ctx.notify()
    return adopted


def take_over(shelf: Shelf, place: projects.Place, others: Iterable[str]) -> int:
    """Assign what a store holds of other projects to one project.

    Returns:
        How many active memories that concerns.
    """
    ids = tuple(others)
    if not ids or not shelf.journal.writable:
        return 0
    # What is forgotten or edited meanwhile waits.
    with shelf.storing:
        memories = list(shelf.journal.iter_memories(Scope(projects=ids), statuses=tuple(Status)))
        moved = [replace(memory, project=place.id) for memory in memories]
        read = {memory.id: memory for memory in memories}
        for batch in parts(moved):
            shelf.journal.write([], batch, [], read)
    return sum(memory.status is Status.ACTIVE for memory in moved)


def _folder(request: messages.Request, path: str) -> str:
    folder = os.path.realpath(os.path.expanduser(os.path.join(request.base, path)))
    if not os.path.isdir(folder):
        raise NotFoundError(f"There is no folder {folder}.", "Give the path of a project.")
    return folder
