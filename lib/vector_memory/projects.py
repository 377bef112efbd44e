"""Which project a folder belongs to. Standard library only (the cold path asks, on Python 3.9);
reads a few small files of git's, never runs it.

A project is its `.memory/` marker, else its git common directory (worktrees are one project), else
its folder. Its id comes from the remote `origin` or the real path, never from a base name. A worktree
is where its main checkout is: a marker there is its own.
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

_ORIGIN = '[remote "origin"]'
MOST_NAME_CHARS = 80


def is_excluded(excluded: "Iterable[str]", *folders: str) -> bool:
    """Whether the user wants no memory in one of these folders: one that he excluded is it, or lies above it.
    Folders are the same where the system says so, however they are written."""
    roots = {os.path.realpath(os.path.expanduser(folder)) for folder in excluded if folder}
    if not roots:
        return False
    enclosing = {part for folder in folders if folder for part in _upwards(folder)}
    if enclosing & roots:
        return True
    return not {_folder_number(folder) for folder in enclosing}.isdisjoint(
        {_folder_number(root) for root in roots} - {None}
    )


def _upwards(path: str) -> "list[str]":
    """Return a folder's real path and those of all folders above it."""
    folders = [os.path.realpath(path)]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return folders


def _folder_number(path: str) -> "tuple[int, int] | None":
    """Return what the system knows a folder by, None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


class Place:
    """A folder's project: `id`, `name`, `root` (real path), and `store`, the folder of the store
    that its marker names ("" without a marker). Nothing says that the marker is trusted. `tree` is the
    top of the working tree that the folder is in: in a worktree another one than the root."""

    __slots__ = ("id", "name", "root", "store", "tree")

    def __init__(self, id: str, name: str, root: str, store: str, tree: str = "") -> None:
        self.id = id
        self.name = name
        self.root = root
        self.store = store
        self.tree = tree or root

    @property
    def folders(self) -> "tuple[str, ...]":
        """Where files of the project's own stand that count for whoever works in it: rules of privacy."""
        return tuple(dict.fromkeys((self.root, self.tree)))


def locate(folder: str, home: "str | None" = None) -> Place:
    """Return the project of a folder, which need not exist.

    Args:
        folder: any path.
        home: the user's home folder; a repository or marker right there (dotfiles) does not
            swallow the projects below it.
    """
    folder = os.path.realpath(_encodable(folder))
    home = os.path.realpath(home or os.path.expanduser("~"))
    tree = _find_above(folder, ".git", home)
    git_folder, common_folder = _git_folders(tree) if tree else ("", "")
    main_root = _root_of(common_folder, tree)
    marked = _find_above(folder, MARKER, home, tree)
    if tree and not marked:
        twin = _folder_in_main(folder, tree, git_folder, common_folder)
        marked = twin and _find_above(twin, MARKER, home) or _find_above(tree, MARKER, home)
    root = marked or main_root or folder
    store = os.path.join(marked, STORE_IN_MARKER) if marked else ""
    remote = _origin_address(common_folder, main_root) if common_folder else ""
    inside = _relative_path(marked, tree, main_root) if marked and remote else ""
    name = os.path.basename(root)
    if root == common_folder and name.startswith("."):
        # A repository without a checkout of its own, hidden among its worktrees.
        name = os.path.basename(os.path.dirname(root))
    if remote and not inside:
        # It stands in notes, and a repository may write anything there.
        name = "-".join(os.path.basename(remote).split())[:MOST_NAME_CHARS]
    identity = (remote + ("#" + inside if inside else "")) or root
    name = name or "root"
    return Place(_make_id(name, identity), name, root, store, tree)


def shared_folder(folder: str) -> str:
    """Return where a marker for a folder has to stand so that all worktrees of its repository find it: in a
    worktree the same folder of the main checkout, or the repository itself where it has no checkout; elsewhere,
    and where there is no such folder, the folder as it is."""
    folder = os.path.realpath(folder)
    tree = _find_above(folder, ".git", os.path.realpath(os.path.expanduser("~")))
    twin = _folder_in_main(folder, tree, *_git_folders(tree)) if tree else ""
    return twin if os.path.isdir(twin) else folder


def made_at(root: str) -> "float | None":
    """Return when the repository at a project's root was made, in seconds since 1970; None without one, and where that
    cannot be told. Git writes a repository's description when it makes it, and never again; copies keep its time."""
    git = _git_folders(root)[1] or (root if os.path.isfile(os.path.join(root, "HEAD")) else "")
    try:
        return os.stat(os.path.join(git, "description")).st_mtime if git else None
    except OSError:
        return None


def _encodable(folder: str) -> str:
    """Return a path as one that a system can have: transcripts and imports may hold any characters."""
    folder = folder.replace("\0", "")
    try:
        os.fsencode(folder)
    except UnicodeEncodeError:
        return folder.encode("utf-8", "replace").decode("utf-8")
    return folder


def _find_above(folder: str, name: str, home: str, top: str = "") -> str:
    """Return the nearest folder at or above `folder`, and no higher than `top`, that holds a `name` of this
    user's, or ""."""
    current = folder
    while True:
        if (current != home or folder == home) and _is_own(os.path.join(current, name)):
            return current
        parent = os.path.dirname(current)
        if current in (parent, top):
            return ""
        current = parent


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


def _git_folders(top: str) -> "tuple[str, str]":
    """Return the git directory of a working tree's top folder, and the one that its worktrees have in common;
    the same twice but in a worktree, "" for what is not there or another user's."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        return git, git
    text = _read(git)
    if not text.startswith("gitdir:"):
        return "", ""
    git_folder = os.path.normpath(os.path.join(top, text[len("gitdir:") :].strip()))
    if not _is_own(git_folder):
        return "", ""
    shared = _read(os.path.join(git_folder, "commondir")).strip()
    common = os.path.realpath(os.path.join(git_folder, shared)) if shared else git_folder
    return (git_folder, common) if _is_own(common) else ("", "")


def _root_of(common: str, top: str) -> str:
    if not common:
        return top
    if os.path.basename(common) == ".git":
        return os.path.dirname(common)
    # A submodule keeps its git directory in its parent's; a bare repository is its own root.
    return top if os.sep + "modules" + os.sep in common else common


def _folder_in_main(folder: str, tree: str, git_folder: str, common: str) -> str:
    """Return what a folder of a worktree is in the repository's main checkout, or the repository itself where it
    has none; "" for a folder of no worktree. Any folder that came from elsewhere can name any repository in its
    `.git`: the repository has to name the worktree too, or to lie in it."""
    root = _root_of(common, tree)
    if not common or root == tree:
        return ""
    named_file = os.path.join(git_folder, _read(os.path.join(git_folder, "gitdir")).strip())
    is_its = os.path.dirname(os.path.realpath(git_folder)) == os.path.join(common, "worktrees")
    is_named = is_its and os.path.realpath(named_file) == os.path.join(tree, ".git")
    if not is_named and not common.startswith(tree + os.sep):
        return ""
    return (
        root
        if root == common
        else os.path.normpath(os.path.join(root, _relative_path(folder, tree)))
    )


def _relative_path(path: str, *tops: str) -> str:
    """Return a path as seen from the first of some folders that it is, or lies below; "" for the folder itself,
    and for none."""
    for top in filter(None, tops):
        if path == top:
            return ""
        if path.startswith(top.rstrip(os.sep) + os.sep):
            return os.path.relpath(path, top)
    return ""


def _origin_address(common: str, root: str) -> str:
    """Return the address of the remote `origin`, the same for every way to write it; "" without one. Another
    remote says where something came from, not what this is: a template, say."""
    section = ""
    for line in map(str.strip, _read(os.path.join(common, "config")).splitlines()):
        name, _, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif section == _ORIGIN and name.strip() == "url" and value.strip():
            url = value.partition(" #")[0].partition(" ;")[0].strip().strip('"')
            return address_of(url, root)
    return ""


def address_of(url: str, root: str) -> str:
    """Return a remote's address without what it may be written with or without. A folder of this machine is
    where it is, as seen from the repository: `../origin.git` is another one elsewhere."""
    _, has_scheme, remainder = url.partition("://")
    path = folder_at(url, root)
    if path:
        path = path[:-4] if path.endswith(".git") else path
        # A neighbour that has no remote is known by its path: whatever was unpacked beside it could name it.
        return path if has_scheme or os.path.isabs(url) else "file:" + path
    address = remainder if has_scheme else url.replace(":", "/", 1)
    user, _, remainder = address.partition("@")
    address = (address if "/" in user else remainder or address).rstrip("/")
    address = address[:-4] if address.endswith(".git") else address
    host, slash, path = address.partition("/")
    return host.lower() + slash + path


def folder_at(url: str, root: str) -> str:
    """Return the real path of a remote that is a folder of this machine, of its working tree where it has one; "" of all
    others."""
    scheme, has_scheme, remainder = url.partition("://")
    before_colon, colon, _ = url.partition(":")
    is_path = not has_scheme and (not colon or "/" in before_colon or len(before_colon) == 1)
    if not is_path and not (scheme.lower() == "file" and remainder.startswith("/")):
        return ""
    path = os.path.realpath(os.path.join(root, _encodable(url if is_path else remainder)))
    path = os.path.dirname(path) if os.path.basename(path) == ".git" else path
    # Git, too, takes `ledger` for `ledger.git` where there is only that.
    return path + ".git" if not os.path.exists(path) and os.path.isdir(path + ".git") else path


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
