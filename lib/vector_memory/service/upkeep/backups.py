"""`backup`: every journal, the state with its audit log, the settings and the archives in one file, each as it was at one
moment while writing goes on."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.journal import schema, state_schema
from vector_memory.journal.failures import full_disk
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.upkeep import backup_file
from vector_memory.system import paths
from vector_memory.system.durable_files import stamp, sync_file

ENDING = ".tar.gz"


class BackupRequest(messages.Request):
    """Write a backup.

    Attributes:
        path: the file, or the folder that it goes to, which is made if its name has no ending; the usual
            folder where none is named.
        with_vectors: put the vectors in, too.
    """

    path: str = messages.word()
    with_vectors: bool = messages.flag()


class BackupAnswer(messages.Answer):
    """A backup, and how much is in it.

    Attributes:
        left_out: why stores could not be opened, by their folders.
    """

    file: str
    bytes: int
    memories: int
    stores: int
    left_out: dict[str, str]
    seconds: float


def backup(ctx: Context, request: BackupRequest, progress: Progress) -> BackupAnswer:
    """Write a backup, read it again, and only then put it where it was asked for.

    The index is not in it, and vectors only with `with_vectors`: both are made again from the rest.

    Raises:
        BadInputError: there is a file of that name.
        StoreFullError: it cannot be written; nothing is left of it.

    Returns:
        The file, its size in bytes, and what is in it.
    """
    started = time.monotonic()
    target = _target(ctx, request.path)
    folder = os.path.dirname(target)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(
            dir=folder, prefix=".backup-", ignore_cleanup_errors=True
        )
    except OSError as error:
        raise BadInputError(f"{folder}: {error.strerror}.", "Choose another folder.") from error
    with temporary as work, full_disk(target):
        shelves = ctx.all_shelves()
        files, stores = _copies(ctx, shelves, work, request.with_vectors, progress)
        manifest = _write(ctx, os.path.join(work, "backup"), stores, files)
        progress(len(shelves) + 1, len(shelves) + 2, "verifying")
        backup_file.read(os.path.join(work, "backup"))
        _publish(os.path.join(work, "backup"), target)
    memories = sum(store["memories"] for store in manifest["stores"])
    ctx.state.audit("backup", request.actor, [], {"file": target, "memories": memories})
    return BackupAnswer(
        file=target,
        bytes=os.path.getsize(target),
        memories=memories,
        stores=len(stores),
        left_out={folder: error.message for folder, error in ctx.unopened().items()},
        seconds=round(time.monotonic() - started, 3),
    )


def _publish(path: str, target: str) -> None:
    """Give a file its name. A link fails where another has appeared meanwhile, a rename would replace
    it; but not every disk knows links."""
    try:
        os.link(path, target)
    except FileExistsError:
        raise
    except OSError:
        os.rename(path, target)
    sync_file(os.path.dirname(target))


def _target(ctx: Context, requested: str) -> str:
    name = f"{backup_file.PROGRAM}-{stamp()}{ENDING}"
    if not requested:
        return os.path.join(ctx.home.backups, name)
    path = os.path.abspath(os.path.expanduser(requested))
    if os.path.isdir(path):
        return os.path.join(path, name)
    if os.path.lexists(path):
        raise BadInputError(f"{path} is there already.", "Choose another name, or a folder.")
    # `backup ~/Backups` means a folder, whether it is there yet or not.
    is_folder = requested.endswith(os.sep) or "." not in os.path.basename(path).lstrip(".")
    return os.path.join(path, name) if is_folder else path


def _copies(
    ctx: Context, shelves: list[Shelf], work: str, with_vectors: bool, progress: Progress
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Copy everything; return name → path, and the manifest's entries for the stores."""
    # The state comes first: it may know of less than the journals have, and what was read from a
    # transcript is not stored twice; the other way round it would not be read again.
    files = _state(ctx, work)
    stores = []
    for number, shelf in enumerate(shelves):
        progress(number, len(shelves) + 2, "copying")
        name = f"stores/{number}/journal.db"
        files[name] = os.path.join(work, f"store-{number}")
        shelf.journal.backup_to(files[name], without_vectors=not with_vectors)
        is_global = shelf.folder == ctx.home.global_store
        stores.append(
            {
                "name": name,
                "folder": "" if is_global else shelf.folder,
                "store_id": shelf.journal.store_id,
                "memories": shelf.journal.count(),
            }
        )
    if os.path.exists(ctx.home.config):
        files[backup_file.CONFIG] = shutil.copy(ctx.home.config, os.path.join(work, "config"))
    for number, name in enumerate(sorted(glob.glob("*/*", root_dir=ctx.home.archives))):
        path = os.path.join(ctx.home.archives, name)
        # Links lead elsewhere, and we make no folders there.
        if os.path.islink(os.path.dirname(path)) or not os.path.isfile(path):
            continue
        files[backup_file.ARCHIVES + name] = shutil.copy(
            path, os.path.join(work, f"archive-{number}")
        )
    return files, stores


def _state(ctx: Context, work: str) -> dict[str, str]:
    """Copy the state and the older entries of its audit log, which move to files of their own now and then:
    both as they were at one moment."""
    path = os.path.join(work, "state")
    while True:
        audit_files = ctx.state.audit_files()
        ctx.state.backup_to(path)
        if ctx.state.audit_files() == audit_files:
            break
        os.unlink(path)
    files = {backup_file.STATE: path}
    for number, audit_file in enumerate(audit_files):
        name = f"{backup_file.AUDIT}{os.path.basename(audit_file)}"
        files[name] = shutil.copy(audit_file, os.path.join(work, f"audit-{number}"))
    return files


def _write(
    ctx: Context, path: str, stores: list[dict[str, Any]], files: dict[str, str]
) -> backup_file.Manifest:
    manifest = {
        "version": paths.version(),
        "made_at": ctx.now().isoformat(),
        "schema": {"journal": schema.SCHEMA_VERSION, "state": len(state_schema.MIGRATIONS)},
        "stores": stores,
    }
    return backup_file.write(path, manifest, files)
