"""`restore`: put a backup in the place of what is there.

Everything is read, compared and checked before anything is touched. Then the parts stand beside the
files that they are for, a plan names them, and the daemon ends; the next one carries the plan out before
it opens anything, and begins again where it was interrupted. What was there is set aside.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from dataclasses import dataclass
from typing import IO

from vector_memory import projects
from vector_memory.errors import StoreDamagedError, StoreFullError
from vector_memory.journal import schema, state_schema
from vector_memory.journal.repair import swap
from vector_memory.journal.repair.copying import problems_of
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.upkeep import backup_file, project_store
from vector_memory.system import durable_files, removal, tampering
from vector_memory.system.files import delete_file
from vector_memory.system.paths import Home

log = logging.getLogger(__name__)

STAGED = ".staged"
MOST_KEPT = 3
_COPY_BYTES = 1 << 20


class RestoreRequest(messages.Request):
    """Put a backup in place of what is stored; with `dry_run` only tell what that would do."""

    path: str = messages.text(4_096)
    dry_run: bool = messages.flag()


class StoreInBackup(messages.Answer):
    """A store of a backup: where it belongs, and why it cannot be put there, "" if it can."""

    folder: str
    memories: int
    left_out: str


class RestoreAnswer(messages.Answer):
    """What is in a backup.

    Attributes:
        version: of the program that wrote it.
        memories: how many are restored, without those of stores that are left out.
        config: whether the settings are in it.
        archives: how many files of archives are in it.
    """

    made_at: str
    version: str
    memories: int
    stores: list[StoreInBackup]
    config: bool
    archives: int


@dataclass(frozen=True)
class Restored:
    """A backup that was put in place.

    Attributes:
        contents: what was in it, as JSON: the daemon before noted it in a file.
        trusted: folders whose stores were trusted before, and stay so.
        aside: where the files that were replaced are.
    """

    contents: dict[str, object]
    trusted: list[str]
    aside: list[str]


def preview(home: Home, path: str) -> RestoreAnswer:
    """Read a backup through and return what restoring it would do.

    Raises:
        NotFoundError, BadInputError, StoreDamagedError: it cannot be restored.
    """
    return _answer(home, backup_file.read(path))


def restore(home: Home, path: str, trusted: list[str], progress: Progress) -> RestoreAnswer:
    """Make everything ready for `finish`, which the next daemon calls: this one must end.

    Args:
        trusted: folders whose stores are trusted now, and stay so.

    Raises:
        NotFoundError, BadInputError, StoreDamagedError: it cannot be restored.
        StoreFullError: it cannot be written; nothing has changed.
    """
    manifest = backup_file.read(path)
    targets = _targets(home, manifest)
    _require_room(home, targets, manifest)
    staged: dict[str, str] = {}
    read_count = 0

    def keep(name: str, content: IO[bytes]) -> None:
        nonlocal read_count
        progress(read_count, len(manifest["files"]), "reading")
        read_count += 1
        if name in targets:
            staged[targets[name]] = part = targets[name] + STAGED
        elif name.startswith(backup_file.ARCHIVES):
            staged[home.archives] = home.archives + STAGED
            part = staged[home.archives] + name[len("archives") :]
        elif name.startswith(backup_file.AUDIT):
            part = staged[home.audit] + name[len("audit") :]
        else:
            return
        try:
            _stage(part, content)
        except OSError as error:
            raise _unpack_error(error) from error

    try:
        _remove(home.archives + STAGED)
        # The chain of the audit log goes from its files into the state: both are replaced together.
        _remove(home.audit + STAGED)
        staged[home.audit] = home.audit + STAGED
        _make_folder(staged[home.audit])
        # Read again: what is staged is what was compared, and the file may have changed.
        if backup_file.read(path, keep) != manifest:
            raise StoreDamagedError(f"{path} has just changed.", "Try again.")
        for target, part in staged.items():
            _check(home, target, part, path)
        answer = _answer(home, manifest)
        plan = {"parts": staged, "trusted": trusted, "told": messages.to_json(answer)}
        durable_files.write_durably(home.restore_plan, json.dumps(plan).encode())
    except BaseException as error:
        for part in staged.values():
            _remove(part)
        if isinstance(error, OSError):
            raise _unpack_error(error) from error
        raise
    return answer


def _require_room(home: Home, targets: dict[str, str], manifest: backup_file.Manifest) -> None:
    """Make sure that every disk has room for what a backup puts there.

    Raises:
        StoreFullError: one has not.
    """
    needed: dict[int, tuple[int, str]] = {}
    for name, part in manifest["files"].items():
        folder = os.path.dirname(targets.get(name, home.config))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        device = os.stat(folder).st_dev
        needed[device] = (needed.get(device, (0, ""))[0] + part["size"], folder)
    for size, folder in needed.values():
        if size > shutil.disk_usage(folder).free:
            raise StoreFullError(
                f"The backup takes {size:,} bytes on the disk of {folder}, which has less.",
                "Free space on the disk; nothing has changed.",
            )


def _unpack_error(error: OSError) -> StoreFullError:
    return StoreFullError(
        f"The backup cannot be unpacked: {error.strerror or error}.",
        "Free space on the disk; nothing has changed.",
    )


def finish(home: Home) -> Restored | None:
    """Carry out what `restore` has made ready; None where there is nothing. Nothing may be open.

    Raises:
        StoreFullError: something cannot be renamed; it is tried again next time.

    Returns:
        What was restored, and where the former files lie.
    """
    try:
        with open(home.restore_plan, encoding="utf-8") as file:
            plan = dict(json.load(file))
    except FileNotFoundError:
        return None
    except ValueError:
        # `restore` writes a plan whole or not at all, so this one is not its work.
        _remove(home.restore_plan)
        return None
    try:
        aside_paths = [_replace(target, part) for target, part in plan["parts"].items()]
        for name in os.listdir(home.snapshots):
            os.unlink(os.path.join(home.snapshots, name))
        os.unlink(home.restore_plan)
    except OSError as error:
        raise StoreFullError(
            f"The backup cannot be put in place: {error}.",
            "Make the folder writable and try again.",
        ) from error
    log.info("a backup was restored")
    return Restored(plan["told"], plan["trusted"], [path for path in aside_paths if path])


def _targets(home: Home, manifest: backup_file.Manifest) -> dict[str, str]:
    """Return where each part of a backup belongs, without the archives, which go together, and those
    that belong nowhere now."""
    targets = {backup_file.STATE: home.state_db}
    if backup_file.CONFIG in manifest["files"]:
        targets[backup_file.CONFIG] = home.config
    for store in manifest["stores"]:
        if not _obstacle(store["folder"]):
            folder = store["folder"] or home.global_store
            targets[store["name"]] = os.path.join(folder, "journal.db")
    return targets


def _obstacle(folder: str) -> str:
    """Return why a store cannot be put into a folder, "" if it can: a backup may name any."""
    if not folder:
        return ""
    project = os.path.dirname(os.path.dirname(folder))
    if not folder.endswith(os.path.join(os.sep, ".memory", "db")) or folder != os.path.realpath(
        folder
    ):
        return "it is no place for a project's store"
    if not os.path.isdir(project):
        return f"{project} is not there"
    if os.stat(project).st_uid != os.getuid() or not os.access(project, os.W_OK):
        return f"{project} is not yours to write"
    if signs := tampering.foreign_entries(folder):
        return " ".join(signs[0])
    return ""


def _answer(home: Home, manifest: backup_file.Manifest) -> RestoreAnswer:
    """Return what is in a backup.

    Raises:
        StoreDamagedError: a newer version wrote it.
    """
    supported = {"journal": schema.SCHEMA_VERSION, "state": len(state_schema.MIGRATIONS)}
    for part, version in dict(manifest.get("schema") or {}).items():
        if not isinstance(version, int) or version > supported.get(part, 0):
            raise StoreDamagedError(
                f"The backup was written by a newer version ({manifest.get('version')}).",
                "Update the plugin.",
            )
    stores = [
        StoreInBackup(
            folder=store["folder"] or home.global_store,
            memories=int(store.get("memories") or 0),
            left_out=_obstacle(store["folder"]),
        )
        for store in manifest["stores"]
    ]
    archives = sum(name.startswith(backup_file.ARCHIVES) for name in manifest["files"])
    return RestoreAnswer(
        made_at=str(manifest.get("made_at")),
        version=str(manifest.get("version")),
        memories=sum(store.memories for store in stores if not store.left_out),
        stores=stores,
        config=backup_file.CONFIG in manifest["files"],
        archives=archives,
    )


def _stage(part: str, content: IO[bytes]) -> None:
    _make_folder(os.path.dirname(part))
    # Removed first, so that the new file is ours alone, whatever stood there.
    delete_file(part)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while block := content.read(_COPY_BYTES):
            file.write(block)
        file.flush()
        durable_files.sync_descriptor(descriptor)
    durable_files.sync_file(os.path.dirname(part))


def _make_folder(folder: str) -> None:
    if os.path.isdir(folder):
        return
    if os.path.basename(os.path.dirname(folder)) == projects.MARKER:
        project_store.make_marker(folder)
    else:
        os.makedirs(folder, mode=0o700)


def _check(home: Home, target: str, part: str, path: str) -> None:
    """Read a database through.

    Raises:
        StoreDamagedError: it is damaged or newer, though the digests are right.
    """
    if not target.endswith(".db"):
        return
    newest = len(state_schema.MIGRATIONS) if target == home.state_db else schema.SCHEMA_VERSION
    problems = problems_of(part, newest)
    if problems:
        name = os.path.basename(target)
        raise StoreDamagedError(f"{path}: {name}: {problems[0]}", "Restore an older backup.")


def _replace(target: str, part: str) -> str:
    """Put one part in its place; return where the old one is, "" if there was none."""
    if not target.endswith(".db"):
        if not os.path.exists(part):
            return ""
        folder, name = os.path.split(target)
        aside = ""
        if os.path.exists(target):
            aside = durable_files.put_aside(target, folder, name, MOST_KEPT, durable_files.REPLACED)
        os.rename(part, target)
        durable_files.sync_file(folder)
        return aside
    signs = (
        tampering.foreign_entries(os.path.dirname(target)) if target.endswith("journal.db") else []
    )
    if signs:
        log.error("%s is not restored: %s", target, " ".join(signs[0]))
        return ""
    if os.path.exists(part):
        for name in swap.DERIVED:
            # It belongs to the replaced journal, and is made again from the restored one.
            removal.remove(os.path.join(os.path.dirname(target), name))
        os.rename(part, swap.incoming(target))
    return swap.finish(target, durable_files.REPLACED)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        removal.remove(path)
    delete_file(path, OSError)
