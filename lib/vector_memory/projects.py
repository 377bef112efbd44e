"""Which project a folder belongs to. Standard library only (the cold path asks, on Python 3.9);
reads a few small files of git's, never runs it.

A project is its `.memory/` marker, else its git common directory (worktrees are one project), else
its folder. Its id comes from the remote or the real path, never from a base name.
"""

import hashlib
import os
import re

from vector_memory.system import files, private, tampering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = tampering.MARKER
STORE_IN_MARKER = os.path.join(MARKER, tampering.STORE)

_REMOTE, _ORIGIN = '[remote "', '[remote "origin"]'


def is_excluded(excluded: "Iterable[str]", *folders: str) -> bool:
    """Whether the user wants no memory in one of these folders: one that he excluded is it, or lies above it.
    Folders are the same where the system says so, however they are written."""
    roots = {os.path.realpath(os.path.expanduser(folder)) for folder in excluded if folder}
    if not roots:
        return False
    here = {part for folder in folders if folder for part in _upwards(folder)}
    if here & roots:
        return True
    return not {_number(one) for one in here}.isdisjoint({_number(root) for root in roots} - {None})


def _upwards(path: str) -> "list[str]":
    """Return a folder's real path and those of all folders above it."""
    folders = [os.path.realpath(path)]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return folders


def _number(path: str) -> "tuple[int, int] | None":
    """Return what the system knows a folder by, None where there is none."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return about.st_dev, about.st_ino


class Place:
    """A folder's project: `id`, `name`, `root` (real path), and `store`, the folder of the store
    that its marker names ("" without a marker). Nothing says that the marker is trusted."""

    __slots__ = ("id", "name", "root", "store")

    def __init__(self, id: str, name: str, root: str, store: str) -> None:
        self.id = id
        self.name = name
        self.root = root
        self.store = store


def locate(folder: str, home: "str | None" = None) -> Place:
    """Return the project of a folder, which need not exist.

    Args:
        folder: any path.
        home: the user's home folder; a repository or marker right there (dotfiles) does not
            swallow the projects below it.
    """
    folder = os.path.realpath(_possible(folder))
    home = os.path.realpath(home or os.path.expanduser("~"))
    marked = _find_above(folder, MARKER, home)
    git_top = _find_above(folder, ".git", home)
    common = _common_dir(git_top) if git_top else ""
    if marked:
        root, store = marked, os.path.join(marked, STORE_IN_MARKER)
    else:
        root, store = _root_of(common, git_top) or folder, ""
    identity, name = _identity(root, common, git_top)
    return Place(_make_id(name, identity), name, root, store)


def _possible(folder: str) -> str:
    """Return a path as one that a system can have: transcripts and imports may hold any characters."""
    folder = folder.replace("\0", "")
    try:
        os.fsencode(folder)
    except UnicodeEncodeError:
        return folder.encode("utf-8", "replace").decode("utf-8")
    return folder


def _find_above(folder: str, name: str, home: str) -> str:
    """Return the nearest folder at or above `folder` that holds a `name` of this user's, or ""."""
    here = folder
    while True:
        if (here != home or folder == home) and _is_own(os.path.join(here, name)):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            return ""
        here = parent


def _is_own(path: str) -> bool:
    """Whether something is there, and this user's, the link and what it leads to. What another puts into
    a shared folder names no project below it; git asks for the same owner."""
    try:
        owners = {os.lstat(path).st_uid}
        if os.path.exists(path):
            owners |= {os.stat(path).st_uid}
    except OSError:
        return False
    return owners == {private.user_id()} or private.user_id() < 0


def _common_dir(top: str) -> str:
    """Return the git common directory of a working tree's top folder."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        return git
    text = _read(git)
    if not text.startswith("gitdir:"):
        return ""
    own = os.path.normpath(os.path.join(top, text[len("gitdir:") :].strip()))
    if not _is_own(own):
        return ""
    shared = _read(os.path.join(own, "commondir")).strip()
    common = os.path.realpath(os.path.join(own, shared)) if shared else own
    return common if _is_own(common) else ""


def _root_of(common: str, top: str) -> str:
    if not common:
        return top
    if os.path.basename(common) == ".git":
        return os.path.dirname(common)
    # A submodule keeps its git directory in its parent's; a bare repository is its own root.
    return top if os.sep + "modules" + os.sep in common else common


def _identity(root: str, common: str, top: str) -> "tuple[str, str]":
    """Return what makes the project itself, and its name for people."""
    name = os.path.basename(root) or "root"
    remote = _remote(common) if common else ""
    if not remote:
        return root, name
    inside = os.path.relpath(root, top) if top and root.startswith(top + os.sep) else ""
    own = inside and inside != "."
    return remote + ("#" + inside if own else ""), (name if own else remote.rsplit("/", 1)[-1])


def _remote(common: str) -> str:
    """Return the origin's address, the same for every way to write it; "" without a remote."""
    section, urls = "", dict[str, str]()
    for line in map(str.strip, _read(os.path.join(common, "config")).splitlines()):
        name, _, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif section.startswith(_REMOTE) and name.strip() == "url" and value.strip():
            urls.setdefault(section, value.split()[0])
    url = urls.get(_ORIGIN) or next(iter(urls.values()), "")
    address = url.partition("://")[2] or url.replace(":", "/", 1)
    user, _, rest = address.partition("@")
    address = (address if "/" in user else rest or address).rstrip("/")
    address = address[:-4] if address.endswith(".git") else address
    host, slash, path = address.partition("/")
    return host.lower() + slash + path


def _make_id(name: str, identity: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:24] or "project"
    digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
    return slug + "-" + digest[:12]


def _read(path: str) -> str:
    try:
        # Links are git's own affair; a pipe in the place of a file would be waited for.
        return files.read_text(path, 65_536)
    except OSError:
        return ""
