"""Connections to one database: a single writer behind a lock, and a pool of readers."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import quote

from vector_memory.errors import StoreFullError
from vector_memory.journal.failures import full_disk, on_error, translated
from vector_memory.journal.repair import swap
from vector_memory.system import tampering

BUSY_MS = 5_000
READER_CACHE_KIB = 4_096
WRITER_CACHE_KIB = 8_192
WAL_LIMIT_BYTES = 16 * 1024 * 1024
IDLE_READERS = 4


def uri(path: str, options: str) -> str:
    """Return the SQLite URI of a file with options such as `mode=ro`."""
    return f"file:{quote(os.fsencode(os.path.abspath(path)))}?{options}"


def create_file(path: str) -> None:
    """Make an empty file that only its owner reads, if there is none; SQLite's own side files
    take over its mode."""
    with full_disk(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))


def open_writer(path: str, synchronous: str) -> sqlite3.Connection:
    """Open for writing, in autocommit mode, with a write-ahead log.

    Args:
        path: the file, which must exist.
        synchronous: `FULL` (a commit is on the disk) or `NORMAL` (a power cut may take the last).

    Returns:
        A connection that any thread may use, one at a time.
    """
    connection = _connect(path, "mode=rw")
    with on_error(connection.close):
        _use_write_ahead_log(connection)
        for pragma in (
            f"synchronous = {synchronous}",
            # macOS: without these a sync ends in the drive's own cache. Nothing elsewhere.
            f"fullfsync = {int(synchronous == 'FULL')}",
            "checkpoint_fullfsync = ON",
            # What is deleted is overwritten: forgotten words must not stay in free pages.
            "secure_delete = ON",
            "foreign_keys = ON",
            f"journal_size_limit = {WAL_LIMIT_BYTES}",
            f"cache_size = -{WRITER_CACHE_KIB}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait by itself here where another process is just
    making the same file."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def open_reader(path: str, setup_statements: Sequence[str] = ()) -> sqlite3.Connection:
    """Open for reading. Works in a folder that cannot be written, too.

    Args:
        setup_statements: statements that make temporary views.

    Returns:
        A connection that refuses to write, for one thread at a time.
    """
    connection = _connect(path, read_options(path))
    with on_error(connection.close):
        connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
        for statement in setup_statements:
            connection.execute(statement)
        # There is one writer, and no statement of a reader may become another.
        connection.execute("PRAGMA query_only = ON")
    return connection


def read_options(path: str) -> str:
    """Return the URI options to read a file that may stand in a folder without write access.

    A cleanly closed WAL database needs side files to be opened, unless it is called immutable.
    """
    writable = os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)
    if not writable and not os.path.exists(path + "-wal"):
        return "mode=ro&immutable=1"
    return "mode=ro"


def _connect(path: str, options: str) -> sqlite3.Connection:
    # SQLite opens by path and would wait for a pipe, write into what a link leads to.
    tampering.require_plain(path)
    return sqlite3.connect(
        uri(path, options),
        uri=True,
        # Another process may hold the lock for a moment: a daemon that is just ending.
        timeout=BUSY_MS / 1000,
        # Transactions begin and end where `writing` says, not where Python guesses.
        isolation_level=None,
        # The pool lends a connection to one thread at a time.
        check_same_thread=False,
        cached_statements=64,
    )


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells a file from any other that takes its name; None where there is none."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all that is done within it or nothing."""
    # The lock is taken now: a transaction that begins by reading may fail when it comes to write.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite rolls back by itself after some errors.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class Connections:
    """The connections to one database file, shared by any number of threads.

    Args:
        path: the file.
        writer: the one connection that writes, or None if the file can only be read.
    """

    def __init__(self, path: str, writer: sqlite3.Connection | None) -> None:
        self.path = path
        self._writer = writer
        self._lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        self._generation = 0
        self._file = _identity(path)
        self._older: Sequence[str] = ()

    def read_as(self, older: Sequence[str]) -> None:
        """Run these statements first on every reader from now on: views that stand for what an earlier
        version of the file lacks."""
        with self._pool_lock:
            self._older = older
            self._drop_readers()

    @property
    def is_in_place(self) -> bool:
        """Whether the file is still the one that was opened."""
        with self._pool_lock:
            return self._closed or self._file == _identity(self.path)

    @property
    def writable(self) -> bool:
        """Whether there is a connection that writes."""
        return self._writer is not None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the writer within one transaction; inside another of this thread's, join it.

        Raises:
            StoreFullError: the disk is full or read-only.
        """
        with self._lock, translated(self.path):
            connection = self._require_writer()
            # The outer one commits: what was joined is durable with it, or not at all.
            if connection.in_transaction:
                yield connection
                return
            with transaction(connection):
                yield connection

    @contextmanager
    def maintaining(self) -> Iterator[sqlite3.Connection]:
        """Give the writer outside a transaction, for what SQLite does not do inside one."""
        with self._lock, translated(self.path):
            yield self._require_writer()

    def writes_paused(self) -> AbstractContextManager[object]:
        """Keep all other threads from writing meanwhile.

        Returns:
            A block for `with`; nothing is lent.
        """
        return self._lock

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a reader to this thread.

        Returns:
            A block for `with` that lends the connection, for reading only.
        """
        with translated(self.path):
            with self._pool_lock:
                generation, pooled = self._generation, self._readers
                connection = pooled.pop() if pooled else open_reader(self.path, self._older)
            try:
                yield connection
            finally:
                with self._pool_lock:
                    is_current = generation == self._generation and not self._closed
                    is_kept = is_current and len(pooled) < IDLE_READERS
                    if is_kept:
                        pooled.append(connection)
                if not is_kept:
                    connection.close()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def number(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Return the one number that a query gives, 0 where that is NULL."""
        return int(self.rows(sql, values)[0][0] or 0)

    def write(self, sql: str, rows: Iterable[Any]) -> None:
        """Run a statement once for each row of values, in one transaction.

        Raises:
            StoreFullError: the disk is full or read-only.
        """
        with self.writing() as connection:
            connection.executemany(sql, rows)

    def replace_file(self, replace: Callable[[], object], synchronous: str) -> None:
        """Close the file, let `replace` put another one in its place, and open that. Who is reading
        the old one reads it to the end. Where it fails, what was to come is taken back (`swap.cancel`).

        Raises:
            StoreFullError: the file can only be read.
        """
        with self._lock, self._pool_lock, translated(self.path):
            try:
                self._require_writer().close()
                self._writer = None
                # Readers that are lent out still have the old file: they are closed when they come
                # back.
                self._drop_readers()
                try:
                    replace()
                finally:
                    # In any case: where the replacing failed, the old file goes on.
                    self._writer = open_writer(self.path, synchronous)
                    self._file = _identity(self.path)
            except BaseException:
                # Writing goes on in the old file: the next start must not replace that.
                swap.cancel(self.path)
                raise

    def close(self) -> None:
        """Close all connections; the last one folds the write-ahead log into the file."""
        with self._pool_lock:
            self._closed = True
            self._drop_readers()
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _drop_readers(self) -> None:
        self._generation += 1
        while self._readers:
            self._readers.pop().close()

    def _require_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            raise StoreFullError(
                f"{self.path} can only be read.", "Make its folder and its files writable."
            )
        return self._writer
