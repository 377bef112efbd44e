"""What a LanceDB table of memories looks like: columns, indexes, rows, and filters.

Everything here imports pyarrow and LanceDB inside the functions: they are loaded when nobody
waits for them (see `lightimport`).
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vector_memory.marks import marks_of
from vector_memory.model import IndexRow, Scope
from vector_memory.store.columns import Batch, microseconds, storable, words_of
from vector_memory.text.analysis import PIECE_MARK, is_piece

if TYPE_CHECKING:
    from vector_memory.model import Vectors

REACHED_ID = "//reached"
"""The id of the row whose `seq` is the sequence number that the table has reached. It is written
by the same commit as the batch, has no words, no vector and no attributes, and so is never found."""

NUMBERS = ("seq", "created_at", "turn", "size", "marks")
WORDS = ("project", "kind", "collection", "session", "speaker", "tags", "lexical")
CHECKED = ("id", *NUMBERS, *WORDS)
"""The columns that a row's checksum covers, in its order; the vector comes after them."""
MOST_TERMS = 255
_TAG_EDGE = "\x1f"


def slug(model: str, dim: int) -> str:
    """Return a model's name as it can stand in a file's name; different models differ.

    Returns:
        At most 40 of a-z, 0-9 and `-`, then 8 hexadecimal characters, such as
        `all-minilm-l6-v2-53aa5117-9c0ffee1`.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
    # Two names may come down to the same letters, and tables must not be shared.
    digest = hashlib.blake2b(f"{model}\n{dim}".encode(), digest_size=4).hexdigest()
    return f"{plain}-{digest}" if plain else digest


def schema(dim: int) -> Any:
    """Return the table's Arrow schema for vectors of this dimension.

    Returns:
        `id`, the columns of `NUMBERS` and `WORDS`, `checksum` (int64), `embedded`, and `vector`
        (dim float16, null where there is none).
    """
    import pyarrow as pa

    small = {"size": pa.uint8(), "marks": pa.uint8()}
    numbers = [pa.field(name, small.get(name, pa.int64())) for name in NUMBERS[1:]]
    words = [pa.field(name, pa.string()) for name in WORDS]
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("seq", pa.int64(), nullable=False),
            *numbers,
            *words,
            pa.field("checksum", pa.int64()),
            pa.field("embedded", pa.bool_()),
            pa.field("vector", pa.list_(pa.float16(), dim)),
        ]
    )


def index_configs() -> dict[str, Any]:
    """Return column → configuration of the indexes that every table has.

    Tags have none: LanceDB's expressions cannot ask for a list's element, so they are one string
    between separators, which is searched where somebody filters by tag.
    """
    from lancedb.index import FTS, Bitmap, BTree

    return {
        "id": BTree(),
        "seq": BTree(),
        "created_at": BTree(),
        "project": Bitmap(),
        "kind": Bitmap(),
        "collection": Bitmap(),
        "session": Bitmap(),
        "lexical": FTS(
            with_position=False,
            base_tokenizer="whitespace",
            max_token_length=1024,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        ),
    }


def batch(rows: Sequence[IndexRow]) -> Batch:
    """Return n rows as the columns in memory take them, (n,) each, in the order of `rows`."""

    def column(name: str) -> list[Any]:
        return [_VALUES[name](row) for row in rows]

    return Batch(
        np.array(column("seq"), np.int64),
        np.array(column("created_at"), np.int64),
        np.array(column("turn"), np.int64),
        np.array(column("size"), np.uint8),
        np.array(column("marks"), np.uint8),
        {name: words_of(column(name)) for name in ("project", "session", "speaker", "kind")},
    )


def size_of(lexical: str) -> int:
    """Return how many distinct terms an analysed text has, at most `MOST_TERMS`; pieces of words are none."""
    terms = set(lexical.split(" "))
    # Hardly any text has pieces, and looking for one in the whole is quicker than asking each term.
    pieces = sum(map(is_piece, terms)) if PIECE_MARK in lexical else 0
    return min(MOST_TERMS, len(terms) - pieces)


def arrow_table(rows: Sequence[IndexRow], reached: int, dim: int) -> Any:
    """Return rows, and the mark of what is reached, as an Arrow table.

    Args:
        rows: n rows.
        reached: the sequence number that the table will have reached with them.
        dim: the vectors' dimension; a vector of another one counts as none.

    Returns:
        n + 1 rows in the form of `schema(dim)`, in the order of `rows`; the last is the mark.
    """
    import pyarrow as pa

    vectors = half_vectors(rows, dim)
    columns = {name: [value(row) for row in rows] for name, value in _VALUES.items()}
    checked = zip(*(columns[name] for name in CHECKED), strict=True)
    sums = [
        checksum(values, vector_bytes(vector))
        for values, vector in zip(checked, vectors, strict=True)
    ]
    mark = {"id": REACHED_ID, "seq": reached}
    form = schema(dim)
    arrays = [pa.array([*columns[name], mark.get(name)], form.field(name).type) for name in CHECKED]
    arrays.append(pa.array([*sums, None], pa.int64()))
    arrays.append(pa.array([*(bool(vector.any()) for vector in vectors), None], pa.bool_()))
    arrays.append(_vector_array(vectors, dim))
    return pa.table(arrays, schema=form)


def dictionary(words: Any) -> tuple[list[str], NDArray[np.int32]]:
    """Return an Arrow array of n strings without its repetitions.

    Returns:
        The distinct strings, and (n,) int32: each row's place among them.
    """
    encoded = words.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def vector_bytes(vector: NDArray[np.float16]) -> bytes:
    """Return what a checksum covers of a stored vector, (dim,) float16: its bytes, none of an absent
    one."""
    return vector.tobytes() if vector.any() else b""


def half_vectors(rows: Sequence[IndexRow], dim: int) -> NDArray[np.float16]:
    """Return (n, dim) float16 in the order of `rows`; rows without a usable vector are all zeros."""
    # Half the size, for an error of about 1e-5 in a cosine.
    halves = np.zeros((len(rows), dim), np.float16)
    places, vectors = usable([row.vector for row in rows], dim)
    halves[places] = vectors
    return halves


def usable(vectors: Sequence[Any], dim: int) -> tuple[NDArray[np.int64], Vectors]:
    """Return those of n vectors, None among them, that have the right dimension and a direction.

    Returns:
        Their places, (m,) int64 ascending, and (m, dim) float32 in that order.
    """
    fitting = [
        place
        for place, vector in enumerate(vectors)
        if vector is not None and vector.shape == (dim,)
    ]
    stacked = np.array([vectors[place] for place in fitting], np.float32).reshape(-1, dim)
    has_direction = np.isfinite(stacked).all(axis=1) & stacked.any(axis=1)
    return np.array(fitting, np.int64)[has_direction], stacked[has_direction]


def checksum(values: Sequence[Any], vector: bytes) -> int:
    """Return a row's checksum, a signed 64-bit number.

    Args:
        values: the row's values of `CHECKED`, in that order.
        vector: what `vector_bytes` gives for its vector.
    """
    # repr keeps types and None apart, which joining their texts would not.
    digest = hashlib.blake2b(repr(tuple(values)).encode(), digest_size=8)
    digest.update(vector)
    return int(struct.unpack("<q", digest.digest())[0])


def joined_tags(tags: Sequence[str]) -> str:
    """Return tags as one string in which each stands between separators."""
    if not tags:
        return ""
    # A tag with a separator in it would count as two.
    plain = (tag.replace(_TAG_EDGE, " ") for tag in tags)
    return storable(_TAG_EDGE + _TAG_EDGE.join(plain) + _TAG_EDGE)


_VALUES: dict[str, Callable[[IndexRow], Any]] = {
    "id": lambda row: storable(row.memory.id),
    "seq": lambda row: row.memory.seq,
    "created_at": lambda row: microseconds(row.memory.created_at),
    "turn": lambda row: row.memory.source.turn,
    "size": lambda row: size_of(row.lexical),
    "marks": lambda row: int(marks_of(row.memory)),
    "project": lambda row: storable(row.memory.project),
    "kind": lambda row: storable(row.memory.kind),
    "collection": lambda row: storable(row.memory.collection),
    "session": lambda row: storable(row.memory.source.session),
    "speaker": lambda row: storable(row.memory.source.speaker),
    "tags": lambda row: joined_tags((*row.memory.tags, *row.memory.entities)),
    "lexical": lambda row: storable(row.lexical),
}
"""What stands in the columns of `CHECKED`."""


def expression(scope: Scope) -> Any:
    """Return the LanceDB expression of a scope, None where nothing is limited.

    This is the one place that makes filters. Values only ever become literals, so that no text
    can change what a filter means.
    """
    from lancedb.expr import col, lit

    parts = []
    for column, values in (
        ("project", scope.projects),
        ("kind", scope.kinds),
        ("session", scope.sessions),
        ("collection", scope.collections),
    ):
        if values:
            parts.append(col(column).isin([lit(storable(value)) for value in values]))
    if scope.without:
        parts.append(~col("collection").isin([lit(storable(name)) for name in scope.without]))
    # Entities stand among the tags: their kind before the colon keeps them apart.
    parts += [
        reduce(or_, (col("tags").contains(joined_tags([word])) for word in words))
        for words in (scope.tags, scope.entities)
        if words
    ]
    if scope.since is not None:
        parts.append(col("created_at") >= lit(microseconds(scope.since)))
    if scope.until is not None:
        parts.append(col("created_at") < lit(microseconds(scope.until)))
    return reduce(and_, parts) if parts else None


def _vector_array(vectors: NDArray[np.float16], dim: int) -> Any:
    """Return the vectors and one null for the mark as an Arrow array; zeros become null."""
    import pyarrow as pa

    flat = np.zeros((len(vectors) + 1, dim), np.float16)
    flat[:-1] = vectors
    absent = ~flat.any(axis=1)
    return pa.FixedSizeListArray.from_arrays(
        pa.array(flat.ravel()), type=pa.list_(pa.float16(), dim), mask=pa.array(absent)
    )
