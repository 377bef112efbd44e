"""Opening, making, renaming and deleting a LanceDB table of memories."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Coroutine
from concurrent.futures import Future
from datetime import datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from vector_memory.errors import StoreDamagedError
from vector_memory.store import table as form
from vector_memory.store.durable import WriteGuard
from vector_memory.store.failures import translated
from vector_memory.store.lightimport import load_lancedb
from vector_memory.store.loop import LoopThread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
log = logging.getLogger(__name__)

INDEX_CACHE_BYTES = 384 << 20
"""Enough for the words of some 400,000 memories; of more, what is asked for stays."""
WARM_ROWS = 200_000
"""Rows up to which the words are read ahead."""
METADATA_CACHE_BYTES = 32 << 20
NEW, OLD = "-new", "-old"
"""What a table is called while it is written anew, and the one before it for the moment in between."""
ROWS_AT_ONCE = 16_384
DAMAGED = "lance.damaged-"


class LanceTable:
    """One table's files, its connection, and what it has reached. One writer.

    Args:
        store: the store's folder.
        model: the embedding model and its version.
        dim: the vectors' dimension.

    Attributes:
        handle: LanceDB's asynchronous table.
        reached: the sequence number up to which the table is complete.
        damage: why the table was last set aside, "" if it never was.
    """

    def __init__(self, store: str, model: str, dim: int) -> None:
        self.store = store
        self.dim = dim
        self.folder = os.path.join(store, "lance")
        self.name = f"memories_{form.slug(model, dim)}"
        self.path = os.path.join(self.folder, f"{self.name}.lance")
        self.handle: Any = None
        self.reached = 0
        self.damage = ""
        self.guard = WriteGuard(self.path, os.path.join(self.folder, f"{self.name}.writing"))
        self._connection: Any = None
        self._loop = LoopThread("lancedb")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for one of the handle's coroutines and return its result."""
        return self._loop.run(work)

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin one of the handle's coroutines without waiting for it."""
        return self._loop.start(work)

    def open(self) -> None:
        """Open the table, or make an empty one; one that cannot be read is set aside first.

        Raises:
            StoreFullError: the folder cannot be written.
            StoreDamagedError: something else is where the folder should be.
        """
        with translated("opening", self.path):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if self.guard.lost_power():
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
        self._close_handle()
        shutil.rmtree(self.path, ignore_errors=True)
        self.guard.forget()
        self._start()

    def rewrite(self, kept: NDArray[np.int64]) -> None:
        """Copy the rows of these sequence numbers into a new table and put it in the place of the old one. A process that dies in
        between leaves the old table, or none: the journal has everything."""
        new = os.path.join(self.folder, f"{self.name}{NEW}.lance")
        old = os.path.join(self.folder, f"{self.name}{OLD}.lance")
        self._delete_others()
        self.run(self._copy_rows(kept))
        handle, connection = self.handle, self._connection
        os.rename(self.path, old)
        os.rename(new, self.path)
        # What LanceDB keeps in memory of files it keeps by their paths: these are other files.
        self._connection = None
        self.__dict__.pop("_session", None)
        self._start()
        for gone in (handle, connection):
            gone.close()
        self._delete_others()
        self.discard_damaged()

    async def _copy_rows(self, kept: NDArray[np.int64]) -> None:
        """Write rows, and the mark, into a new table beside this one, with its indexes."""
        import numpy as np
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
            staying = np.isin(batch["seq"].to_numpy(), kept) | ~np.asarray(batch["kind"].is_valid())
            waiting.append(batch.filter(pa.array(staying)))
            # There is a batch for each file, and each `add` makes one.
            if sum(one.num_rows for one in waiting) >= ROWS_AT_ONCE:
                await write()
        if waiting:
            await write()
        for column, config in form.index_configs().items():
            await table.create_index(column, config=config)
        table.close()

    def _delete_others(self) -> None:
        """Delete what is in the folder besides this table: those of other models, and what an interrupted
        rewriting left."""
        own = {os.path.basename(self.path), os.path.basename(self.guard.mark)}
        for name in os.listdir(self.folder):
            if name not in own:
                path = os.path.join(self.folder, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)

    def discard_damaged(self) -> None:
        """Delete what was set aside earlier: it holds the words of memories."""
        for name in os.listdir(self.store):
            if name.startswith(DAMAGED):
                shutil.rmtree(os.path.join(self.store, name), ignore_errors=True)

    async def missing_rows(self) -> dict[str, int]:
        """Return column → how many rows its index lacks, -1 where the index itself is missing."""
        found = {}
        for column in form.index_configs():
            stats = await self.handle.index_stats(f"{column}_idx")
            found[column] = -1 if stats is None else int(stats.num_unindexed_rows)
        return found

    async def warm(self) -> None:
        """Read what searches need most, so that the next one does not wait for it. The words of a
        large table are read when they are asked for: reading all takes a gigabyte for a million
        memories, and what does not fit into the cache fails, which is no damage."""
        if await self.handle.count_rows() > WARM_ROWS:
            return
        for column in ("lexical", "project"):
            try:
                await self.handle.prewarm_index(f"{column}_idx")
            except RuntimeError as error:
                log.info("%s is not kept in memory: %s", column, str(error)[:200])

    async def fragments(self) -> int:
        """Return of how many pieces the table's data consists."""
        return int((await self.handle.stats())["fragment_stats"]["num_fragments"])

    def close(self) -> None:
        """Release files, memory and the thread."""
        self._close_handle()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._loop.close()

    def _start(self) -> None:
        """Open the table or make it, and learn what it has reached."""
        load_lancedb()
        with translated("opening", self.path):
            self.guard.trust()
            self.run(self._connect())

    async def _connect(self) -> None:
        import lancedb

        if self._connection is None:
            self._connection = await lancedb.connect_async(self.folder, session=self._session)
        columns = form.schema(self.dim)
        if os.path.isdir(self.path):
            self.handle = await self._connection.open_table(self.name)
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
        self.discard_damaged()
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%f")
        aside = os.path.join(self.store, DAMAGED + stamp)
        with translated("setting it aside", self.path):
            os.makedirs(aside, mode=0o700)
            with contextlib.suppress(FileNotFoundError):
                os.rename(self.path, os.path.join(aside, os.path.basename(self.path)))
        self.guard.forget()
        self.reached = 0
        self.damage = reason

    @cached_property
    def _session(self) -> Any:
        """What bounds LanceDB's caches: its defaults are 6 GB and 1 GB."""
        import lancedb

        return lancedb.Session(
            index_cache_size_bytes=INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=METADATA_CACHE_BYTES,
        )

    def _close_handle(self) -> None:
        if self.handle is not None:
            self.handle.close()
            self.handle = None
