"""A bucket that speaks S3 as a place to share at, by the client that comes with the index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from vector_memory.errors import BadInputError
from vector_memory.service.sharing.places import PART, SharedPlace, gone
from vector_memory.system import standins

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
        self._access = {**{n: os.environ[n] for n in VARIABLES if n in os.environ}, **access}
        self._opened: Any = None

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; [] where there is none."""
        fs = standins.real("pyarrow.fs")

        with _explaining(folder):
            selector = fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
            infos = self._files.get_file_info(selector)
        return sorted(info.base_name for info in infos if PART.fullmatch(info.base_name))

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file, one byte more than `most_bytes` where it is longer."""
        with _explaining(name), self._files.open_input_stream(f"{self._root}/{name}") as file:
            return bytes(file.read(most_bytes + 1))

    def write(self, name: str, content: bytes) -> None:
        fs = standins.real("pyarrow.fs")

        path = f"{self._root}/{name}"
        with _explaining(name):
            if self._files.get_file_info(path).type is not fs.FileType.NotFound:
                raise BadInputError(f"{name} is there already.", "Publish again.")
            # It is there once it is closed; what is broken off before leaves nothing.
            with self._files.open_output_stream(path) as file:
                file.write(content)

    def remove(self, name: str) -> None:
        fs = standins.real("pyarrow.fs")

        path = f"{self._root}/{name}"
        with _explaining(name):
            if self._files.get_file_info(path).type is not fs.FileType.NotFound:
                self._files.delete_file(path)

    @property
    def _files(self) -> Any:
        if self._opened is None:
            fs = standins.real("pyarrow.fs")

            endpoint = urlsplit(self._first(ENDPOINTS))
            more: dict[str, Any] = {}
            if endpoint.netloc:
                more = {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
            if self._access.get(KEYS[0]):
                more |= {"access_key": self._access[KEYS[0]]}
                more |= {"secret_key": self._access.get(KEYS[1], "")}
                more |= {"session_token": self._access.get(KEYS[2]) or None}
            self._opened = fs.S3FileSystem(
                region=self._first(REGIONS) or "us-east-1",
                connect_timeout=CONNECT_S,
                request_timeout=ANSWER_S,
                **more,
            )
        return self._opened

    def _first(self, names: tuple[str, ...]) -> str:
        return next((self._access[name] for name in names if self._access.get(name)), "")


@contextmanager
def _explaining(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise gone(name) from None
    except OSError as error:
        raise BadInputError(
            f"The bucket did not do it: {str(error)[:300]}",
            "Check AWS_ENDPOINT_URL, AWS_REGION and the credentials in this terminal.",
        ) from error
