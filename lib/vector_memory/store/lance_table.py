"""Opening, making, renaming and deleting a LanceDB table of memories."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vector_memory.errors import StoreDamagedError
from vector_memory.store import table as form
from vector_memory.store.durable import WriteGuard
from vector_memory.store.failures import translated
from vector_memory.store.lightimport import load_lancedb
from vector_memory.system import removal
from vector_memory.system.durable_files import discard, put_aside

T = TypeVar("T")
log = logging.getLogger(__name__)

INDEX_CACHE_BYTES = 96 << 20
"""Enough for the words of some 100,000 memories; of more, what is asked for stays. Four times as much made no recall
faster, neither at 100,000 nor at a million, and took 60 MB more at the first."""
WARM_ROWS = 200_000
"""Rows up to which the words are read ahead."""
METADATA_CACHE_BYTES = 32 << 20
ASIDE = "lance"
TABLES = "memories_"
NEW = "-new"
"""What a table is called while it is written anew."""
ROWS_AT_ONCE = 16_384


class LoopThread:
    """An event loop in a thread of its own, so that LanceDB's asynchronous interface can be called from any thread. Its
    synchronous interface crosses threads six times for each query; this one once. `close()` ends it."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the loop, wait for it, and return its result or raise its error."""
        return self.start(work).result()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin `work` in the loop without waiting for it.

        Returns:
            The future of its result.
        """
        if self._loop.is_closed():
            # Else Python warns of a coroutine that nobody waited for.
            work.close()
            raise RuntimeError("the event loop is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class LanceTable(LoopThread):
    """One table's files, its connection with the loop that it is asked in, and what it has reached. One writer.

    Args:
        store: the store's folder, by its real path.
        model: the embedding model and its version.
        dim: the vectors' dimension.

    Attributes:
        handle: LanceDB's asynchronous table.
        reached: the sequence number up to which the table is complete.
        damage: why the table was last set aside, "" if it never was.
    """

    def __init__(self, store: str, model: str, dim: int) -> None:
        super().__init__("lancedb")
        self.store = store
        self.dim = dim
        self.folder = os.path.join(store, "lance")
        self.name = f"{TABLES}{form.slug(model, dim)}"
        self.path = os.path.join(self.folder, f"{self.name}.lance")
        self.handle: Any = None
        self.reached = 0
        self.damage = ""
        self.guard = WriteGuard(self.path, os.path.join(self.folder, f"{self.name}.writing"))
        self._connection: Any = None

    def ask(self, doing: str, work: Coroutine[Any, Any, T]) -> T:
        """Wait for one of the handle's coroutines and return its result.

        Raises:
            StoreDamagedError: it failed while doing that.
        """
        with translated(doing, self.path):
            return self.run(work)

    def open(self) -> None:
        """Open the table, or make an empty one; one that cannot be read is set aside first.

        Raises:
            StoreFullError: the folder cannot be written.
            StoreDamagedError: something else is where the folder should be.
        """
        with translated("opening", self.path):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if self.guard.lost_power():
            # LanceDB may open it and answer from blocks that were never written.
            self._rename("the machine went down while it was being written")
        try:
            self._start()
        except StoreDamagedError as error:
            self._rename(error.message)
            self._start()

    def set_aside(self, reason: str) -> None:
        """Rename the table out of the way, for `reason`, and make an empty one."""
        self._rename(reason)
        self._start()

    def remake(self) -> None:
        """Delete the table and make an empty one."""
        self._rename("")
        self.discard_damaged()
        self._start()

    def rewrite(self, kept_seqs: NDArray[np.int64]) -> None:
        """Copy some rows into a new table and put it in the place of the old one. A process that dies in
        between leaves the old table, or none: the journal has everything.

        Args:
            kept_seqs: the rows' sequence numbers, (n,) int64.
        """
        new_path = os.path.join(self.folder, f"{self.name}{NEW}.lance")
        # First: tables of other models hold the same words, and take the room that the copy needs.
        self._delete_others()
        self.run(self._copy_rows(kept_seqs))
        handle, connection = self.handle, self._connection
        # The list is of the old files, some of which have the names of new ones.
        self.guard.forget()
        # The mark stands while neither table is in its place.
        with self.guard.writing():
            put_aside(self.path, self.store, ASIDE)
            os.rename(new_path, self.path)
        # LanceDB's caches know files by their paths: these are other files under the same paths.
        self._connection = None
        self._start()
        for resource in (handle, connection):
            resource.close()
        self.discard_damaged()

    async def _copy_rows(self, kept_seqs: NDArray[np.int64]) -> None:
        """Write rows, and the mark, into a new table beside this one, with its indexes."""
        import pyarrow as pa

        columns = form.schema(self.dim)
        table = await self._connection.create_table(
            self.name + NEW, schema=columns, mode="overwrite"
        )
        await table.set_unenforced_primary_key("id")
        waiting: list[Any] = []

        async def write() -> None:
            rows = pa.Table.from_batches(waiting).select(columns.names).cast(columns)
            # The mark has no vector, which LanceDB refuses unless told that null is meant.
            await table.add(rows, on_bad_vectors="null")
            waiting.clear()

        async for batch in await self.handle.query().to_batches(max_batch_length=ROWS_AT_ONCE):
            # The mark's number is that of another row; it alone has no kind.
            staying = np.isin(batch["seq"].to_numpy(), kept_seqs) | ~np.asarray(
                batch["kind"].is_valid()
            )
            waiting.append(batch.filter(pa.array(staying)))
            # There is a batch for each file, and each `add` makes one.
            if sum(part.num_rows for part in waiting) >= ROWS_AT_ONCE:
                await write()
        if waiting:
            await write()
        for column, config in form.index_configs().items():
            await table.create_index(column, config=config)
        table.close()

    def _delete_others(self) -> None:
        """Delete what is in the folder besides this table: those of other models, and what an interrupted
        rewriting left."""
        own_names = {
            os.path.basename(path) for path in (self.path, self.guard.mark, self.guard.list)
        }
        for name in os.listdir(self.folder):
            if name not in own_names and name.lstrip(".").startswith(TABLES):
                removal.remove(os.path.join(self.folder, name))

    def discard_damaged(self) -> None:
        """Delete what was set aside earlier: it holds the words of memories."""
        discard(self.store, ASIDE)

    async def missing_rows(self) -> dict[str, int]:
        """Return how many rows each index lacks: column → rows, -1 where the index itself is missing."""
        missing = {}
        for column in form.index_configs():
            stats = await self.handle.index_stats(f"{column}_idx")
            missing[column] = -1 if stats is None else int(stats.num_unindexed_rows)
        return missing

    async def warm(self) -> None:
        """Read what searches need most, so that the next one does not wait for it. The words of a
        large table are read when they are asked for: reading all takes a gigabyte for a million
        memories, and what does not fit into the cache fails, which is no damage."""
        if await self.handle.count_rows() <= WARM_ROWS:
            await _warm(self.handle)

    async def renew(self) -> None:
        """Open the table anew, with caches that hold nothing but what searches need most.

        LanceDB keeps what it has read of files that were replaced, and those files open, until its caches
        are full. Searches that are going on end on the old handle, which goes with the last of them.
        """
        if await self.handle.count_rows() > WARM_ROWS:
            # Reading a large table anew takes long; what is old gives way to what is new in time.
            return
        connection = await self._new_connection()
        handle = await connection.open_table(self.name)
        await _warm(handle)
        self._connection, self.handle = connection, handle

    async def fragments(self) -> int:
        """Return of how many pieces, each in files of its own, the table's data consists."""
        return int((await self.handle.stats())["fragment_stats"]["num_fragments"])

    def data_files(self) -> int:
        """Return how many files hold rows, those that were replaced and are not deleted yet among them."""
        folder = os.path.join(self.path, "data")
        return len(os.listdir(folder)) if os.path.isdir(folder) else 0

    def close(self) -> None:
        """Release files, memory and the thread."""
        self._close_handle()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        super().close()

    def _start(self) -> None:
        """Open the table or make it, and learn what it has reached."""
        load_lancedb()
        with translated("opening", self.path):
            self.guard.trust()
            self.run(self._connect())

    async def _connect(self) -> None:
        if self._connection is None:
            self._connection = await self._new_connection()
        columns = form.schema(self.dim)
        if os.path.isdir(self.path):
            self.handle = await self._connection.open_table(self.name)
            # LanceDB may keep metadata of its own there.
            if (await self.handle.schema()).remove_metadata() != columns:
                raise ValueError("its columns are those of another version")
        else:
            with self.guard.writing():
                self.handle = await self._connection.create_table(self.name, schema=columns)
                await self.handle.set_unenforced_primary_key("id")
        await self._make_indexes()
        self.reached = await self._read_mark()

    async def _make_indexes(self) -> None:
        """Make the indexes that are missing: all at first, the rest after an interruption."""
        present = {config.name for config in await self.handle.list_indices()}
        missing = {
            column: config
            for column, config in form.index_configs().items()
            if f"{column}_idx" not in present
        }
        if missing:
            with self.guard.writing():
                for column, config in missing.items():
                    await self.handle.create_index(column, config=config)

    async def _read_mark(self) -> int:
        from lancedb.expr import col, lit

        query = self.handle.query().where(col("id") == lit(form.REACHED_ID)).select(["seq"])
        return max((await query.to_arrow())["seq"].to_pylist(), default=0)

    def _rename(self, reason: str) -> None:
        """Set the table aside in the store's folder, in place of what was there before."""
        self._close_handle()
        with translated("setting it aside", self.path):
            put_aside(self.path, self.store, ASIDE)
            self.guard.forget()
        self.reached = 0
        self.damage = reason

    async def _new_connection(self) -> Any:
        """Connect, with bounds for LanceDB's caches: its defaults are 6 GB and 1 GB."""
        import lancedb

        # A daemon that nobody thinks of must not take gigabytes for a cache.
        session = lancedb.Session(
            index_cache_size_bytes=INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=METADATA_CACHE_BYTES,
        )
        return await lancedb.connect_async(self.folder, session=session)

    def _close_handle(self) -> None:
        if self.handle is not None:
            self.handle.close()
            self.handle = None


async def _warm(handle: Any) -> None:
    for column in ("lexical", "project"):
        try:
            await handle.prewarm_index(f"{column}_idx")
        except RuntimeError as error:
            log.info("%s is not kept in memory: %s", column, str(error)[:200])
