"""The index follows the journal: embed what is new, apply it in batches, keep the vectors."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vector_memory import redact
from vector_memory.errors import EmbeddingError, UnsafeTextError
from vector_memory.model import IndexRow, Memory, Status, Tier
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.shelf import Shelf, project_roots

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Change = tuple[Memory, str, bytes]
"""A changed memory, its analysed text, and its text's hash, as the journal gives them."""

log = logging.getLogger(__name__)

BATCH = 512
"""Texts that are put into the index at once."""
STEP = 128
"""Texts that are embedded at once: whoever waits sees how far it is."""
MOST_FAILURES = 16
"""How often in a row a model may fail that answers questions all the same: of a step's texts one in ten may be such that it
refuses. Each failure may take as long as a server is waited for."""
BACKLOG_BATCH = 16_384
"""Rows that a backlog's words are indexed by: each batch costs a commit, which syncs a dozen files and reads all that no
index covers yet."""
FAR_BEHIND = 20_000
"""Rows that the journal's own full text answers for while many are being stored, without being slow."""


def follow_once(shelf: Shelf, embedding: Embedding, filling: bool = False) -> int:
    """Bring the index forward by one batch and return how many rows that was (0: it is level).

    Args:
        filling: many texts are just being stored. The index stays behind then, since the processors are
            needed, and most rows would be written twice, first without their vectors.
    """
    index = shelf.index
    if index is None or not index.lexical_ready:
        return 0
    if filling and shelf.journal.last_seq() - index.reached() < FAR_BEHIND:
        return 0
    with shelf.following:
        changes = shelf.journal.changes(index.reached(), BACKLOG_BATCH)
        if changes:
            # With a backlog, words come first: they are indexed in seconds, vectors in minutes.
            backlog = len(changes) >= BATCH
            apply_changes(shelf, embedding, changes, changes[-1][0].seq, embed=not backlog)
            return len(changes)
        # A model that fails now is tried again by itself (`Keeper`); what waits for its vectors goes on then.
        waits = shelf.recheck_vectors and embedding.state != "failed"
        return _embed_missing(shelf, embedding) if waits else 0


def apply_changes(
    shelf: Shelf,
    embedding: Embedding,
    changes: Sequence[Change],
    reached: int,
    embed: bool = True,
    again: bool = False,
) -> int:
    """Put changed memories into the index, with vectors where a model can be had; return how many have one. Without
    `embed` only cached vectors are used, the others are left for later; `again` where these are tried now."""
    assert shelf.index is not None
    # Superseded memories stay in the index: who asks in the old words is given the successor.
    shelf.embedded_ahead = 0
    indexed = [change for change in changes if _is_indexed(change[0])]
    gone_ids = [memory.id for memory, _, _ in changes if not _is_indexed(memory)]
    vectors = vectors_for(shelf, embedding, indexed, embed, counted=True, again=again)
    rows = [IndexRow(memory, lexical, vectors.get(key)) for memory, lexical, key in indexed]
    shelf.index.apply(rows, gone_ids, reached)
    embedded = [row.memory.seq for row in rows if row.vector is not None]
    shelf.embedded_ahead = 0
    if embedded:
        shelf.journal.set_model(embedded, embedding.model)
    if len(embedded) < len(rows):
        shelf.recheck_vectors = True
    return len(embedded)


def _is_indexed(memory: Memory) -> bool:
    return memory.status is not Status.FORGOTTEN and memory.tier is not Tier.COLD


def vectors_for(
    shelf: Shelf,
    embedding: Embedding,
    changes: Sequence[Change],
    embed: bool = True,
    counted: bool = False,
    again: bool = False,
) -> dict[bytes, NDArray[np.float32]]:
    """Return the vectors by text hash: from the cache, the rest embedded now and cached.

    What cannot be embedded now is missing from the result; it is tried again later, but for what the model refuses:
    for such a text no other waits. What is `counted` goes into the index next; what is tried `again` waits for its vector.
    """
    if not embedding.model or not changes:
        return {}
    vectors = shelf.journal.get_vectors(list({key for _, _, key in changes}), embedding.model)
    if not embed:
        return vectors
    missing = [
        change for change in changes if change[2] not in vectors and change[2] not in shelf.refused
    ]
    texts = _texts(shelf, embedding, missing)
    missing_keys = list(texts)
    batches = deque(
        missing_keys[start : start + STEP] for start in range(0, len(missing_keys), STEP)
    )
    failures = 0
    while batches:
        batch = batches.popleft()
        try:
            batch_vectors = embedding.documents([texts[key] for key in batch])
        except EmbeddingError as error:
            failures += 1
            if embedding.state == "failed" or failures >= MOST_FAILURES:
                waiting_count = len(batch) + sum(map(len, batches))
                log.warning("%d memories wait for their vectors: %s", waiting_count, error)
                break
            if len(batch) == 1 and again:
                _note_refusal(shelf, batch[0], error)
            elif len(batch) > 1:
                # Behind the others, so that these have their vectors soon.
                middle = len(batch) // 2
                batches.extend((batch[:middle], batch[middle:]))
            continue
        failures = 0
        shelf.journal.put_vectors(embedding.model, batch, batch_vectors)
        vectors.update(zip(batch, batch_vectors, strict=True))
        shelf.embedded_ahead += len(batch) if counted else 0
    return vectors


def _texts(shelf: Shelf, embedding: Embedding, changes: Sequence[Change]) -> dict[bytes, str]:
    """Return what may be embedded of memories, by its hash: a server is told nothing that is restricted, and the rest as
    the rules of its project let it be shown now."""
    if not embedding.is_served:
        return {key: memory.embedded for memory, _, key in changes}
    roots, texts = project_roots([shelf]), dict[bytes, str]()
    for memory, _, key in changes:
        shelf.withheld.add(key)
        if not embedding.may_embed(memory):
            continue
        with (
            contextlib.suppress(UnsafeTextError),
            redact.for_project((roots.get(memory.project, ""),)),
        ):
            texts[key] = redact.clean(memory.embedded).text
            shelf.withheld.discard(key)
    return texts


def _note_refusal(shelf: Shelf, key: bytes, error: EmbeddingError) -> None:
    """Note that a model failed at one text alone: twice, and it has none for it. The first time it may have been busy."""
    if key not in shelf.doubted:
        shelf.doubted.add(key)
        return
    shelf.refused.add(key)
    log.warning("the embedding model has no vector for a memory: %s", error)


def _embed_missing(shelf: Shelf, embedding: Embedding) -> int:
    """Embed a batch of rows that have no vector of this model yet; 0 when none is left."""
    if not embedding.model:
        return 0
    assert shelf.index is not None
    unembedded = shelf.journal.without_model(embedding.model, BATCH + len(shelf.unembedded))
    rows = [row for row in unembedded if row[2] not in shelf.unembedded][:BATCH]
    if not rows:
        shelf.recheck_vectors = False
        return 0
    noted_before = len(shelf.doubted) + len(shelf.unembedded)
    embedded = apply_changes(shelf, embedding, rows, shelf.index.reached(), again=True)
    if not embedded:
        # Where no vector came of it, the next change sets the flag again.
        has_new_refusals = len(shelf.doubted) + len(shelf.unembedded) > noted_before
        has_more = len(unembedded) > BATCH or any(row[2] not in shelf.unembedded for row in rows)
        shelf.recheck_vectors = embedding.state == "failed" or (has_new_refusals and has_more)
    return embedded
