"""What somebody else put into a store's folder. Standard library only, Python 3.9.

A project's files come with a clone or a pull, which may put a link in the place of a folder that git
ignores, whatever was trusted before; an archive may hold hard links, pipes and devices, too. SQLite and
LanceDB open files by their paths. So a store is walked before it is opened, written or thinned out, and
nothing in it is touched while something lies there that leads elsewhere. A folder is read again when it
has changed.
"""

import contextlib
import os
import stat
import time

from vector_memory.errors import StoreTamperedError
from vector_memory.system import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Foreign = tuple[str, str]
    """A path, and what it is: the end of a sentence that begins with the path."""

MARKER, STORE = ".memory", "db"
SIDE_FILES = ("", "-wal", "-shm", "-journal")
MOST_ENTRIES = 100_000
MOST_NAMED = 5
SETTLED_NS = 100_000_000
"""A folder that changed so shortly before it was read may change again without showing it."""
LINKED = "has a second name outside the store (a hard link)"
WALKS = 3
"""LanceDB gives a file its second name for a moment when it commits: then it is looked at again."""
_known: "dict[str, dict[str, _ReadFolder]]" = {}
"""Of each store, its folders as they were read."""


def require_intact(store: str) -> None:
    """Make sure that nothing in a store leads elsewhere, nor the way to it in a project.

    Raises:
        StoreTamperedError: something does.
    """
    foreign = foreign_entries(store)
    if foreign:
        raise refusal(store, foreign)


def refusal(store: str, foreign: "list[Foreign]") -> StoreTamperedError:
    """Return the error that names what was found in a store."""
    path, reason = foreign[0]
    others_count = " (and %d more)" % (len(foreign) - 1) if len(foreign) > 1 else ""
    path = os.fsencode(path).decode("utf-8", "replace")
    return StoreTamperedError(
        "%s %s%s: the store in %s is not opened." % (path, reason, others_count, store),
        "Something else put it there, such as a pull. Look at it and remove it; then the store is opened again.",
    )


def not_trusted(store: str) -> StoreTamperedError:
    """Return the error for a project's store that nobody trusted yet."""
    return StoreTamperedError(
        "%s is not trusted, so its memories are not shown." % os.path.dirname(store),
        "If you know where it comes from: `vector-memory trust %s`." % _project_of(store),
    )


def not_the_trusted(store: str) -> StoreTamperedError:
    """Return the error for another store than the one that was trusted."""
    return StoreTamperedError(
        "%s holds another store than the one that was trusted." % store,
        "Something replaced it, such as a pull. Look at it; `vector-memory trust %s` opens it."
        % _project_of(store),
    )


def _project_of(store: str) -> str:
    return os.path.dirname(os.path.dirname(store))


def journal_file(store: str) -> "tuple[int, ...] | None":
    """Return what tells a store's journal from any other file of its name; None where there is none. The
    number of a file that was removed is given to the next one."""
    try:
        status = os.lstat(os.path.join(store, "journal.db"))
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def foreign_entries(store: str) -> "list[Foreign]":
    """Return what of a store is not ours to open, the first few; [] for a sound store, and for none."""
    try:
        foreign = _foreign_on_way(store)
        for _ in range(0 if foreign else WALKS):
            foreign, linked = _walk(store)
            if not linked:
                break
            foreign += [(path, LINKED) for path in linked]
        return foreign[:MOST_NAMED]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [(store, "cannot be looked at (%s)" % error.strerror)]


def require_plain(path: str) -> None:
    """Make sure that a database and the files that SQLite keeps beside it are files of ours, or not there.

    Raises:
        StoreTamperedError: they are not.
    """
    folder = os.path.dirname(path)
    foreign: "list[Foreign]" = []
    # What is not there, or cannot be reached, is SQLite's to tell.
    with contextlib.suppress(OSError):
        foreign = _foreign_on_way(folder)
    for suffix in SIDE_FILES:
        try:
            status = os.lstat(path + suffix)
        except OSError:
            continue
        reason = _strangeness(status) or (stat.S_ISDIR(status.st_mode) and "is a folder")
        if reason or status.st_nlink > 1:
            foreign.append((path + suffix, reason or LINKED))
    if foreign:
        raise refusal(folder, foreign)


def _strangeness(status: os.stat_result) -> str:
    """Return what an entry is, "" for a folder or a regular file of this user's."""
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return "is a link"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "is no regular file"
    if private.user_id() >= 0 and status.st_uid not in (0, private.user_id()):
        return "belongs to another user"
    return ""


def _foreign_on_way(store: str) -> "list[Foreign]":
    """Return the first link, or other thing, on the way to a project's store. Where a data home lies is
    its user's affair."""
    marker, name = os.path.split(store)
    if (os.path.basename(marker), name) != (MARKER, STORE):
        return []
    if os.path.realpath(store) != store:
        return [(_first_link(store), "is a link")]
    for folder in (marker, store):
        status = os.lstat(folder)
        reason = _strangeness(status) or ("" if stat.S_ISDIR(status.st_mode) else "is no folder")
        if reason:
            return [(folder, reason)]
    return []


def _first_link(path: str) -> str:
    prefix = os.sep
    for part in path.split(os.sep):
        prefix = os.path.join(prefix, part)
        if os.path.islink(prefix):
            return prefix
    return path


class _ReadFolder:
    """What a folder held when it was read: the folders in it, what is foreign, and the files with several
    names, by number, how many, and path."""

    __slots__ = ("count", "foreign", "is_settled", "linked", "state", "subfolders")

    def __init__(self, path: str, state: "tuple[int, ...]") -> None:
        self.state = state
        self.is_settled = max(state[1:]) < time.time_ns() - SETTLED_NS
        self.subfolders: "list[str]" = []
        self.foreign: "list[Foreign]" = []
        self.linked: "list[tuple[int, int, str]]" = []
        self.count = 0
        for entry, status in _entries(path):
            self.count += 1
            reason = _strangeness(status)
            if reason:
                self.foreign.append((entry, reason))
            elif stat.S_ISDIR(status.st_mode):
                self.subfolders.append(entry)
            elif status.st_nlink > 1:
                self.linked.append((status.st_ino, status.st_nlink, entry))
            if self.count > MOST_ENTRIES:
                break


def _walk(store: str) -> "tuple[list[Foreign], list[str]]":
    """Walk a store, reading the folders that have changed; return what is foreign, and the files that have
    names elsewhere."""
    known_folders = _known.get(store, {})
    folders: "dict[str, _ReadFolder]" = {}
    foreign: "list[Foreign]" = []
    entries_of_file: "dict[tuple[int, int], list[str]]" = {}
    count, waiting = 0, [store]
    while waiting and len(foreign) < MOST_NAMED:
        path = waiting.pop()
        state, folder = _folder_state(path), known_folders.get(path)
        if folder is None or folder.state != state:
            folder = _ReadFolder(path, state)
        folders[path] = folder
        waiting += folder.subfolders
        foreign += folder.foreign
        for inode, links, entry in folder.linked:
            entries_of_file.setdefault((inode, links), []).append(entry)
        count += folder.count
        if count > MOST_ENTRIES:
            foreign = [(store, "holds more than %d files" % MOST_ENTRIES)]
            break
    _known[store] = {path: folder for path, folder in folders.items() if folder.is_settled}
    return foreign, sorted(
        paths[0] for (_, links), paths in entries_of_file.items() if links > len(paths)
    )


def _entries(folder: str) -> "Iterator[tuple[str, os.stat_result]]":
    # The daemon works on meanwhile: what was listed may be gone.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                yield entry.path, entry.stat(follow_symlinks=False)


def _folder_state(folder: str) -> "tuple[int, ...]":
    """Return what changes when a folder does: which it is, and when it last changed."""
    try:
        status = os.lstat(folder)
    except OSError:
        return (-1, 0, 0)
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns
