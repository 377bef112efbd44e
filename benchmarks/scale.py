"""What does a question cost among ten thousand, a hundred thousand and a million memories?

Memories go straight into the journal and its vector cache: embedding a million texts would take hours.
Their vectors are synthetic but not noise, since among noise everything is equally far and no text
model makes it: each is a real vector (of generated notes and of `--texts`, one a line) moved by random
steps with the covariance of the real ones. How near the nearest are is printed beside the figures.

Measured at the daemon's socket: whole recalls with every part of the pipeline, and prompts as hooks
send them; then, on the stores that the daemon has left, recall@200 of the vector search against
comparing all vectors exactly, and the plain methods: words alone, vectors alone, LanceDB's hybrid.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

# As it is, before the index loads it with stand-ins for what it never uses: its synchronous side uses more.
import lancedb
import numpy as np
from common import Bench, bench, options, percentile, sentence, show, text
from numpy.typing import NDArray

from vector_memory import projects, redact
from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal, text_hash
from vector_memory.model import Memory, Project, Scope, Source
from vector_memory.store.index import Index
from vector_memory.text import analysis

SEEDS = 2_000
SPREAD = 0.9
CHUNK = 4_000
SESSION = 12
SMALL_PROJECT = 2_000
QUESTIONS = 300
JUDGED = 60
HYBRID_QUESTIONS = 20
K = 200


class Vectors:
    """Makes vectors that lie as those of real texts do."""

    def __init__(self, real: NDArray[np.float32]) -> None:
        self._real = real
        self._rng = np.random.default_rng(11)
        values, axes = np.linalg.eigh(np.cov((real - real.mean(axis=0)).T))
        self._step = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32).T

    def some(self, count: int) -> NDArray[np.float32]:
        """Return (count, dim) vectors."""
        near = self._real[self._rng.integers(0, len(self._real), count)]
        noise = self._rng.standard_normal((count, self._real.shape[1]), dtype=np.float32)
        made = near + SPREAD * (noise @ self._step)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def memories(start: int, count: int, small: str, chance: random.Random) -> Iterator[Memory]:
    """Yield memories in sessions of a dozen turns: the first of a small project, the others of ten
    large ones."""
    now = datetime.now(timezone.utc)
    for number in range(start, start + count):
        project = small if number < SMALL_PROJECT else f"large-{number // SESSION % 10:012x}"
        yield Memory(
            f"{number:032x}",
            redact.clean(text(number, chance)).text,
            now - timedelta(minutes=number),
            project=project,
            source=Source(session=f"session-{number // SESSION}", turn=number % SESSION),
        )


def fill(made: Bench, rows: int, vectors: Vectors, model: str) -> float:
    """Write the memories; return the seconds it took."""
    started = time.perf_counter()
    place = projects.locate(made.project)
    chance = random.Random(5)
    journal = Journal.open(made.home.global_store)
    journal.put_project(Project(place.id, place.name, place.root))
    for start in range(0, rows, CHUNK):
        some = list(memories(start, min(CHUNK, rows - start), place.id, chance))
        journal.add(some)
        journal.put_vectors(model, [text_hash(one.text) for one in some], vectors.some(len(some)))
    journal.close()
    return time.perf_counter() - started


def milliseconds(work: Callable[[int], Any], count: int) -> list[float]:
    """Return how long each of so many calls took."""
    found = []
    for number in range(count):
        started = time.perf_counter()
        work(number)
        found.append((time.perf_counter() - started) * 1000)
    return found


def times(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Return a row of a method's milliseconds."""
    return {
        "asked": name,
        "p50 ms": round(percentile(values, 0.5), 1),
        "p95 ms": round(percentile(values, 0.95), 1),
        "p99 ms": round(percentile(values, 0.99), 1),
    }


def questions() -> list[str]:
    """Return questions in the words of the memories."""
    chance = random.Random(17)
    return [f"Why is it that {sentence(chance).lower()[:-1]}?" for _ in range(QUESTIONS)]


def asked(made: Bench, rows: int) -> list[dict[str, Any]]:
    """Measure at the socket."""
    words = questions()
    ask = made.daemon.ask
    every = {"all_projects": True, "k": 10}
    own = {"project": made.project, "k": 10}
    found = [
        times("recall in all", milliseconds(lambda i: ask("recall", {"query": words[i], **every}), QUESTIONS)),
        times("recall in a small project", milliseconds(lambda i: ask("recall", {"query": words[i], **own}), QUESTIONS)),
    ]  # fmt: skip
    status = made.daemon.ask("status", {})
    disk = sum(
        path.stat().st_size for path in Path(made.home.global_store).rglob("*") if path.is_file()
    )
    found[0] |= {"rss MB": round(status["rss_mb"]), "disk GB": round(disk / 1e9, 2)}
    return [{"memories": rows, **row} for row in found]


def judged(made: Bench, rows: int, real: NDArray[np.float32], model: str) -> list[dict[str, Any]]:
    """Compare what the daemon has left with exact search and with plain methods."""
    place = projects.locate(made.project)
    journal = Journal.open(made.home.global_store)
    index = Index.open(made.home.global_store, model, real.shape[1])
    index.load_lance()
    asking = real[:: max(1, len(real) // JUDGED)][:JUDGED]
    exact = {
        "recall@200 in all": (Scope(), nearest(journal, model, asking, None)),
        "recall@200 in a small project": (
            Scope(projects=(place.id,)),
            nearest(journal, model, asking, place.id),
        ),
    }
    row: dict[str, Any] = {"memories": rows}
    for name, (scope, best) in exact.items():
        shares = [
            len({one.seq for one in index.nearest(vector, scope, K)} & set(seqs)) / len(seqs)
            for vector, (seqs, _) in zip(asking, best, strict=True)
        ]
        row[name] = round(float(np.mean(shares)), 4)
    similarities = [scores for _, scores in exact["recall@200 in all"][1]]
    row["nearest"] = round(float(np.median([one[0] for one in similarities])), 2)
    row["200th"] = round(float(np.median([one[-1] for one in similarities])), 2)
    words = [analysis.query_terms(one) for one in questions()]
    plain = [
        times("words alone", milliseconds(lambda i: index.begin_matching(words[i], Scope(), K)(), 100)),
        times("vectors alone", milliseconds(lambda i: index.nearest(asking[i % JUDGED], Scope(), K), 100)),
    ]  # fmt: skip
    index.close()
    journal.close()
    plain.append(times("LanceDB hybrid (RRF)", hybrid(made, words, asking)))
    return [row, *({"memories": rows, **one} for one in plain)]


def hybrid(made: Bench, words: list[list[str]], asking: NDArray[np.float32]) -> list[float]:
    """Return the milliseconds of LanceDB's own hybrid search over the same table."""
    folder = Path(made.home.global_store, "lance")
    (name,) = (path.stem for path in folder.glob("*.lance"))
    table: Any = lancedb.connect(folder).open_table(name)

    def ask(number: int) -> None:
        query = table.search(
            query_type="hybrid", fts_columns="lexical", vector_column_name="vector"
        )
        query = query.vector(asking[number % JUDGED]).text(" ".join(words[number]))
        query.distance_type("cosine").select(["seq"]).limit(K).to_arrow()

    return milliseconds(ask, HYBRID_QUESTIONS)


def nearest(
    journal: Journal, model: str, asking: NDArray[np.float32], project: str | None
) -> list[tuple[list[int], NDArray[np.float32]]]:
    """Return for each question the 200 nearest and their similarities, by comparing every vector."""
    best_seqs = np.zeros((len(asking), 0), np.int64)
    best = np.zeros((len(asking), 0), np.float32)
    for seqs, owners, vectors in journal.iter_vectors(model):
        inside = np.array([project in (None, owner) for owner in owners])
        if not inside.any():
            continue
        scores = np.concatenate([best, asking @ vectors[inside].T], axis=1)
        numbers = np.concatenate([best_seqs, np.tile(seqs[inside], (len(asking), 1))], axis=1)
        order = np.argsort(-scores, axis=1)[:, :K]
        best, best_seqs = (np.take_along_axis(x, order, 1) for x in (scores, numbers))
    return [(one.tolist(), scores) for one, scores in zip(best_seqs, best, strict=True)]


def main() -> None:
    """Measure each size."""
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--texts", help="a file of real texts, one a line, to take vectors of")
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for rows in given.rows:
        with bench(given.home) as made:
            embedder = registry.create(Settings(), made.home.models)
            chance = random.Random(3)
            lines = Path(given.texts).read_text("utf-8").splitlines() if given.texts else []
            seeds = [*lines[:SEEDS], *(text(i, chance) for i in range(SEEDS - len(lines[:SEEDS])))]
            real = embedder.embed_documents(seeds)
            model = embedder.model
            embedder.close()
            seconds = fill(made, rows, Vectors(real), model)
            started = time.perf_counter()
            made.settle(6 * 3_600)
            indexed = time.perf_counter() - started
            made.daemon.stop()
            made.daemon.start()
            while made.daemon.ask("status", {})["state"] != "full":
                time.sleep(0.05)
            stages = made.daemon.ask("status", {}).get("stages_s", {})
            rows_found = asked(made, rows)
            rows_found[0] |= {"journal s": round(seconds), "index s": round(indexed), **stages}
            made.daemon.stop()
            # What was measured at the socket took longest to come to: it is told whatever fails after it.
            sys.stderr.write(f"{json.dumps(rows_found)}\n")
            found += [*rows_found, *judged(made, rows, real, model)]
            sys.stderr.write(f"{rows:,} done, load {os.getloadavg()[0]:.1f}\n")
    show("Questions among many memories", found, given.json)


if __name__ == "__main__":
    main()
