"""Addresses of places to share at: a folder's, a git repository's or a bucket's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.sharing.places import Folder, SharedPlace


def path_of(url: str) -> str:
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
    split = urlsplit(url)
    if split.scheme == "s3" and split.netloc:
        from vector_memory.service.sharing.bucket import Bucket

        return Bucket(split.netloc, split.path.strip("/"), access)
    path = path_of(url)
    if split.scheme != "file" or split.netloc not in ("", "localhost") or path in ("", "/"):
        raise BadInputError(
            f"{url!r} is no place to share at.", "Give file:///a/folder or s3://bucket/prefix."
        )
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Make it, or mount what it is on.")
    is_bare = os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(
        os.path.join(path, "objects")
    )
    if is_bare or os.path.exists(os.path.join(path, ".git")):
        from vector_memory.service.sharing.repository import Repository

        return Repository(path, copies if is_bare else "")
    return Folder(path)
