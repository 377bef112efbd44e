"""Where a team's bundles lie: a folder, a git repository, or a bucket. Each member writes below a folder of its
own, and nobody trusts the place: what is read there is checked afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError, StoreFullError
from vector_memory.system import git, lending, private, standins
from vector_memory.system.files import RefusedError, delete_file, open_regular, readable_error
from vector_memory.text.words import is_slug

ROOT = "v1"
MOST_NAMES, LONGEST_PART = 10_000, 81


def _is_part(name: str) -> bool:
    return is_slug(name, ".-", LONGEST_PART)


def missing_file(name: str) -> NotFoundError:
    """Return the error for a file that is not there."""
    return NotFoundError(
        f"There is no {name} at the place where it is shared.",
        "Whoever wrote it, or the place, removed it: pull again later.",
    )


class SharedPlace(ABC):
    """A place with folders of files. Names are relative, with `/` between their parts."""

    def refresh(self) -> None:  # noqa: B027
        """Bring what is read up to date. Where each question goes to the place, there is nothing to do."""

    def finish(self) -> None:  # noqa: B027
        """Hand on what was written and removed. Where it is there at once, there is nothing to do."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; [] where there is none."""

    @abstractmethod
    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer.

        Raises:
            NotFoundError: there is none.
        """

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Write a new file, whole or not at all.

        Raises:
            BadInputError: there is one of that name.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


class Folder(SharedPlace):
    """A folder that all members reach, such as one on a network drive or in a synchronised one."""

    def __init__(self, root: str) -> None:
        self.root = root

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder."""
        try:
            entries = os.listdir(self._path(folder))[:MOST_NAMES]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise readable_error(folder, error) from error
        return sorted(filter(_is_part, entries))

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer."""
        try:
            with open_regular(self._path(name), self.root) as file:
                return file.read(most_bytes + 1)
        except FileNotFoundError:
            raise missing_file(name) from None
        except OSError as error:
            raise readable_error(name, error) from error

    def write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        folder = os.path.dirname(path)
        try:
            self._make_folder(folder)
            descriptor, temporary = tempfile.mkstemp(prefix=".part-", dir=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                    # Readers are others: what keeps them out is the seal, not the file's mode.
                    lending.lend(file.fileno(), self.root)
                # A link, unlike a rename, does not take the place of what another one wrote meanwhile.
                os.link(temporary, path)
            finally:
                os.unlink(temporary)
        except FileExistsError:
            raise BadInputError(f"{name} is there already.", "Publish again.") from None
        except RefusedError as error:
            raise readable_error(folder, error) from error
        except OSError as error:
            raise StoreFullError(f"{path} cannot be written: {error.strerror or error}.") from error

    def remove(self, name: str) -> None:
        delete_file(self._path(name), OSError)

    def _make_folder(self, folder: str) -> None:
        """Make a folder and those above it that are missing, for all who reach the shared one."""
        if not os.path.isdir(folder):
            self._make_folder(os.path.dirname(folder))
            lending.make_folder(folder, self.root)
        elif not os.path.join(os.path.realpath(folder), "").startswith(os.path.join(self.root, "")):
            raise RefusedError(folder, "leads out of the shared folder", "Remove the link.")

    def _path(self, name: str) -> str:
        return os.path.join(self.root, *name.split("/"))


TRIES = 6
"""How often a push is tried that fails since others pushed first."""


class Repository(Folder):
    """A working tree of git, or a copy of ours of a bare repository.

    Args:
        path: its top folder, or the bare repository.
        copy: where our copy of a bare one is kept, "" for a working tree.
    """

    def __init__(self, path: str, copy: str) -> None:
        super().__init__(copy or path)
        self._bare = path if copy else ""

    def refresh(self) -> None:
        """Take over what others pushed.

        Raises:
            BadInputError: git cannot: it says why.
        """
        # Our copy of an empty repository may hold commits that could not be pushed, which nobody else would ever read.
        if self._bare and not (self._is_copied() and self._has_remote_branch()):
            shutil.rmtree(self.root, ignore_errors=True)
            private.make_folder(os.path.dirname(self.root))
            git.run("/", "clone", "--no-local", "--", self._bare, self.root)
        if not self._has_remote_branch():
            return
        self._git("fetch", "--quiet", "origin")
        if self._bare:
            # Our own copy holds nothing that has to be kept: what is written there is pushed at once.
            self._git("reset", "--quiet", "--hard", f"origin/{self._branch}")
        else:
            self._git("merge", "--quiet", "--ff-only", f"origin/{self._branch}")

    def finish(self) -> None:
        """Commit what was written, and push it, after what others pushed meanwhile.

        Raises:
            BadInputError: git cannot: it says why.
        """
        self._git("add", "--all", "--force", "--", ROOT)
        if self._tried("diff", "--cached", "--quiet", "--", ROOT).returncode:
            self._git("commit", "--quiet", "--message", "Share memories", "--", ROOT)
        if not self._tried("remote").stdout.strip():
            return
        for _ in range(TRIES):
            push = self._tried("push", "--quiet", "origin", f"HEAD:{self._branch}")
            if not push.returncode:
                return
            if self._has_remote_branch():
                self._git("pull", "--quiet", "--rebase", "origin", self._branch)
        raise git.refused("push", push.stderr)

    def _is_copied(self) -> bool:
        """Whether our copy is there and one of this repository: it was shared at another one before."""
        if not os.path.isdir(os.path.join(self.root, ".git")):
            return False
        origin = self._tried("config", "--get", "remote.origin.url").stdout
        return os.fsdecode(origin).rstrip("\n") == self._bare

    @property
    def _branch(self) -> str:
        return self._git("symbolic-ref", "--short", "HEAD").decode().strip()

    def _has_remote_branch(self) -> bool:
        if b"origin" not in self._tried("remote").stdout.split():
            return False
        return bool(self._git("ls-remote", "--heads", "origin", self._branch).strip())

    def _git(self, *words: str) -> bytes:
        return git.run(self.root, *words)

    def _tried(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return git.try_git(self.root, *words)


ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
VARIABLES = (*ENDPOINTS, *REGIONS, *KEYS)
CONNECT_S, ANSWER_S = 10.0, 60.0


class Bucket(SharedPlace):
    """A prefix of a bucket.

    Args:
        access: the AWS variables, where they differ from this process's own.
    """

    def __init__(self, bucket: str, prefix: str, access: Mapping[str, str]) -> None:
        self._root = "/".join(part for part in (bucket, prefix) if part)
        self._access = {
            **{name: os.environ[name] for name in VARIABLES if name in os.environ},
            **access,
        }
        self._opened: Any = None

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; [] where there is none."""
        fs = standins.real("pyarrow.fs")

        with _explaining(folder):
            selector = fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
            infos = self._files.get_file_info(selector)
        return sorted(info.base_name for info in infos if _is_part(info.base_name))

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer."""
        with _explaining(name), self._files.open_input_stream(f"{self._root}/{name}") as file:
            return bytes(file.read(most_bytes + 1))

    def write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        with _explaining(name):
            if self._is_there(path):
                raise BadInputError(f"{name} is there already.", "Publish again.")
            # The file exists once the stream is closed; a write that is broken off leaves nothing.
            with self._files.open_output_stream(path) as file:
                file.write(content)

    def remove(self, name: str) -> None:
        path = f"{self._root}/{name}"
        with _explaining(name):
            if self._is_there(path):
                self._files.delete_file(path)

    def _is_there(self, path: str) -> bool:
        kind = standins.real("pyarrow.fs").FileType
        return self._files.get_file_info(path).type is not kind.NotFound

    @property
    def _files(self) -> Any:
        if self._opened is None:
            fs = standins.real("pyarrow.fs")

            endpoint = urlsplit(self._first(ENDPOINTS))
            options: dict[str, Any] = {}
            if endpoint.netloc:
                options = {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
            if self._access.get(KEYS[0]):
                options |= {"access_key": self._access[KEYS[0]]}
                options |= {"secret_key": self._access.get(KEYS[1], "")}
                options |= {"session_token": self._access.get(KEYS[2]) or None}
            self._opened = fs.S3FileSystem(
                region=self._first(REGIONS) or "us-east-1",
                connect_timeout=CONNECT_S,
                request_timeout=ANSWER_S,
                **options,
            )
        return self._opened

    def _first(self, names: tuple[str, ...]) -> str:
        return next((self._access[name] for name in names if self._access.get(name)), "")


@contextmanager
def _explaining(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise missing_file(name) from None
    except OSError as error:
        raise BadInputError(
            f"The bucket did not do it: {str(error)[:300]}",
            "Check AWS_ENDPOINT_URL, AWS_REGION and the credentials in this terminal.",
        ) from error


def _path_of(url: str) -> str:
    """Return the path that a `file://` address names."""
    return unquote(urlsplit(url).path)


def place_at(url: str, copies: str, access: Mapping[str, str]) -> SharedPlace:
    """Return the place that an address names.

    Args:
        url: `file:///path` of a folder or git repository, or `s3://bucket/prefix`.
        copies: a folder of ours for a copy of a repository without files.
        access: the AWS variables by which a bucket is reached.

    Raises:
        BadInputError: the address is none of these.
        NotFoundError: there is no such folder.
    """
    parts = urlsplit(url)
    if parts.scheme == "s3" and parts.netloc:
        return Bucket(parts.netloc, parts.path.strip("/"), access)
    path = _path_of(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or path in ("", "/"):
        raise BadInputError(
            f"{url!r} is no place to share at.", "Give file:///a/folder or s3://bucket/prefix."
        )
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Make it, or mount what it is on.")
    if not _is_repository(path):
        return Folder(path)
    return Repository(path, copies if _is_bare(path) else "")


def require_apart(root: str, url: str) -> None:
    """Make sure that a place is neither the project's own folder or repository, nor one that this is fetched from or pushed
    to, nor a clone of such a one.

    Raises:
        BadInputError: it is.
    """
    if urlsplit(url).scheme != "file":
        return
    folder, root = os.path.realpath(_path_of(url)), os.path.realpath(root)
    # A folder that is no repository asks for no git.
    if folder == root or (_is_repository(folder) and _addresses(folder) & _addresses(root)):
        raise BadInputError(
            f"{folder} is the project's own folder or repository, or a clone of it.",
            "`vector-memory share init --to file://…` with a folder in it, such as file://…/team, or another repository.",
        )


def _addresses(folder: str) -> set[str]:
    """Return where a folder is, the repository that it belongs to, and this one's remotes, each in one spelling."""
    places = [folder]
    for words in (("rev-parse", "--git-common-dir"), ("remote", "-v")):
        lines = git.try_git(folder, *words).stdout.decode("utf-8", "replace").splitlines()
        # Of a remote a line says "name<tab>address (push)".
        places += [line.rpartition("\t")[2].partition(" (")[0] for line in lines]
    # Of folders `ledger` and `ledger.git` may be two; of an address they are one.
    return {
        projects.folder_at(place, folder) or projects.address_of(place, folder) for place in places
    }


def _is_repository(path: str) -> bool:
    """Whether a folder is a repository's, or the top of its working tree."""
    return _is_bare(path) or os.path.exists(os.path.join(path, ".git"))


def _is_bare(path: str) -> bool:
    objects = os.path.join(path, "objects")
    return os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(objects)
