"""The child process that embeds in bulk. It speaks frames on stdin and stdout (see `pool`)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.errors import VectorMemoryError
from vector_memory.system import children
from vector_memory.system.children import read_frame, write_frame

if TYPE_CHECKING:
    from vector_memory.model import Embedder

VECTORS = b"V"
READY = b"R"
ERROR = b"E"
FRAME_CPU_S = 900.0
"""For one frame; it takes a few seconds, and the first may have to convert a model."""


def main() -> None:
    """Answer frames until stdin ends."""
    requests, answers = children.begin(patient=True)
    embedder = None
    parallel = 1
    try:
        while (request := read_frame(requests)) is not None:
            # The system ends this process if a text never comes to an end.
            children.allow(FRAME_CPU_S)
            message = json.loads(request)
            try:
                if embedder is None:
                    settings = Settings(**message["settings"])
                    parallel = settings.embedding_threads
                    # One thread for each text: two texts side by side take less than two in turn
                    # on two threads each.
                    settings = replace(settings, embedding_threads=1)
                    embedder = registry.create(settings, message["models"])
                    answer = READY + json.dumps([embedder.model, embedder.dim]).encode()
                else:
                    answer = VECTORS + _embed(embedder, message, parallel)
            except VectorMemoryError as error:
                answer = ERROR + json.dumps([error.message, error.hint]).encode()
            write_frame(answers, answer)
            children.allow(0)
    except BrokenPipeError:
        pass
    finally:
        if embedder is not None:
            embedder.close()


def _embed(embedder: Embedder, message: dict[str, Any], parallel: int) -> bytes:
    if "query" in message:
        return embedder.embed_query(message["query"]).tobytes()
    texts = message["documents"]
    if parallel < 2 or len(texts) < 2 * parallel or not getattr(embedder, "thread_safe", False):
        return embedder.embed_documents(texts).tobytes()
    import numpy as np

    vectors = np.empty((len(texts), embedder.dim), np.float32)
    with ThreadPoolExecutor(parallel) as pool:
        # Every n-th text: long ones often stand together, and no thread shall get them all.
        slices = [texts[start::parallel] for start in range(parallel)]
        for start, part in enumerate(pool.map(embedder.embed_documents, slices)):
            vectors[start::parallel] = part
    return vectors.tobytes()
