"""Reading a whole LanceDB table and saying what is wrong with it.

LanceDB keeps no checksums of its data and counts rows without reading them, so a health check
reads every row and compares it with the checksum that was stored beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vector_memory.errors import StoreDamagedError
from vector_memory.store import table as form

if TYPE_CHECKING:
    from vector_memory.store.lance import LanceIndex


def problems(index: LanceIndex, read_data: bool) -> list[str]:
    """Return what is wrong, one sentence each; [] when all is well.

    Args:
        index: the table.
        read_data: read every file, then every row, and compare them with their checksums.
    """
    try:
        missing = [
            f"The index of column {column!r} is missing."
            for column, rows in index.unindexed().items()
            if rows < 0
        ]
        # Where files differ the table is set aside anyway, and its rows say no more.
        return missing + (_file_problems(index) or _data_problems(index) if read_data else [])
    except StoreDamagedError as error:
        return [error.message]


def _file_problems(index: LanceIndex) -> list[str]:
    """Compare every file with what was synced: manifests and indexes have no checksums within."""
    wrong = index.differing_files()
    if not wrong:
        return []
    return [f"{len(wrong)} files differ from what was written, among them {wrong[0]}."]


def _data_problems(index: LanceIndex) -> list[str]:
    ids: set[str] = set()
    marks, rows, wrong = 0, 0, 0
    for batch in index.scan():
        for row in _rows(batch):
            rows += 1
            marks += row["id"] == form.REACHED_ID
            wrong += row["id"] != form.REACHED_ID and not _sound(row)
            ids.add(row["id"])
    sentences = []
    if wrong:
        sentences.append(f"{wrong} of {rows} rows differ from their checksums.")
    if len(ids) < rows:
        sentences.append(f"{rows - len(ids)} rows stand there twice.")
    if index.reached() and not marks:
        sentences.append("The mark of what is reached is missing.")
    return sentences


def _rows(batch: Any) -> list[dict[str, Any]]:
    """Return a record batch's rows; the vector as an array, which is quicker than a list."""
    plain = batch.drop_columns(["vector"]).to_pylist()
    dim = batch.schema.field("vector").type.list_size
    vectors = batch["vector"]
    if vectors.null_count:
        # Without it the missing vectors would shift all that come behind them.
        vectors = vectors.fill_null([0.0] * dim)
    flat = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, dim)
    for row, vector in zip(plain, flat, strict=True):
        row["vector"] = vector
    return list(plain)


def _sound(row: dict[str, Any]) -> bool:
    vector = row.pop("vector")
    expected = row.pop("checksum")
    values = [row[name] for name in form.CHECKED]
    return bool(expected == form.checksum(values, form.vector_bytes(vector)))
