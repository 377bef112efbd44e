"""Print what an embedding backend costs: loading, memory, a short prompt, texts in bulk.

    python benchmarks/embedding.py MODELS_FOLDER [--backend minilm] [--threads 2]

Each call measures one backend in a fresh process; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from vector_memory.config import Settings
from vector_memory.embed import registry

QUERY = "why did the journal's recovery fail after the crash on machine {}?"
DOCUMENT = (
    "Note {}: the migration failed because the disk of the staging database was full, so the "
    "journal could not be copied aside; we moved the snapshots to another volume, set a limit of "
    "twenty snapshots, and added a check of the free space before each migration starts. The same "
    "must be done for production before the release, see `scripts/check_space.py`, which also "
    "warns when fewer than two gigabytes are left."
)
QUERIES = 200
DOCUMENTS = 200


def rss_mb() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def elapsed_ms(start: float) -> float:
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models_folder")
    parser.add_argument("--backend", default="minilm")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    settings = replace(
        Settings(), embedding_backend=options.backend, embedding_threads=options.threads
    )

    before_mb, start = rss_mb(), time.perf_counter()
    registry.create(settings, options.models_folder).close()
    first_ms, start = elapsed_ms(start), time.perf_counter()
    embedder = registry.create(settings, options.models_folder)
    load_ms = elapsed_ms(start)
    times_ms = []
    for number in range(QUERIES):
        start = time.perf_counter()
        embedder.embed_query(QUERY.format(number))
        times_ms.append(elapsed_ms(start))
    queries_mb, start = rss_mb(), time.perf_counter()
    embedder.embed_documents([DOCUMENT.format(number) for number in range(DOCUMENTS)])
    per_s = DOCUMENTS / (time.perf_counter() - start)

    print(f"{embedder.model}, {options.threads} threads")
    print(f"load {first_ms:.0f} ms with imports, {load_ms:.0f} ms without")
    print(f"short query p50 {statistics.median(times_ms):.2f} ms, p95 {p95(times_ms):.2f} ms")
    print(f"documents {per_s:.0f} a second ({len(DOCUMENT)} characters each)")
    print(f"memory {queries_mb - before_mb:.0f} MB after queries, {rss_mb():.0f} MB in all")


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main()
