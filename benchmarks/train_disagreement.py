"""The model of what speaks against what: fit it, and say what it is worth on writers that it has not seen.

PAIRS are files of JSON lines, each by a writer of its own: `a`, an older statement, `b`, a newer one, and whether
they `contradicts`. To these come the facts of each list (`--facts`), which all hold: each with the eight nearest ones
before it. Each file and each list is left out once. Pairs of which the rules say that one contradicts or replaces the
other, or that both are of a series, are judged and not fitted on. The threshold is the lowest at which no more than
`MOST_FALSE` of the facts are said to contradict another. With `--write` the weights fitted on all go to
`data/disagreement_weights.json`, with these figures and the data's digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show
from replay import read_lines
from train_ideas import Floats, fitted

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.lifecycle import contradiction, disagreement, signs
from vector_memory.model import Embedder
from vector_memory.service.memory import placement
from vector_memory.system.paths import Home

FACTS = Path(__file__).resolve().parent / "dedup_facts.txt"
NEAREST = 8
COST = 10.0
"""What a weight of 1 costs beside the log-likelihood (L2), for features of unit deviation."""
MOST_FALSE = 0.005


@dataclass(frozen=True)
class Pair:
    """Two statements with what is known of them: whether they contradict each other, what the rules say (infinite if
    they do, minus infinite if they do not, 0 for nothing), the features, and whether the older one is among the few
    near ones of its writer's statements that `remember` asks about."""

    source: str
    newer: str
    contradicts: bool
    ruled: float
    features: Mapping[str, float]
    is_near: bool = False


def of_writer(path: Path, embedder: Embedder) -> list[Pair]:
    """Return the pairs of a file."""
    told = read_lines(path)
    vectors = np.asarray(embedder.embed_documents([one[side] for one in told for side in "ab"]))
    stored = {one["b"]: at for one, at in zip(told, vectors[1::2], strict=True) if not one["contradicts"]}  # fmt: skip
    stored |= {one["a"]: at for one, at in zip(told, vectors[::2], strict=True)}
    others = np.array([*stored.values()])
    found = []
    for one, older, newer in zip(told, vectors[::2], vectors[1::2], strict=True):
        cosine = float(newer @ older)
        nearer = sum(others @ newer > cosine + 1e-6)
        pair = _pair(path.name, one["b"], one["a"], cosine, one["contradicts"])
        is_near = nearer < placement.MOST_ASKED and cosine >= placement.ASKED_COSINE
        found.append(replace(pair, is_near=is_near))
    return found


def of_facts(path: Path, embedder: Embedder) -> list[Pair]:
    """Return each fact of a list with the nearest ones before it."""
    facts = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    vectors = np.asarray(embedder.embed_documents(facts))
    near = vectors @ vectors.T
    return [
        _pair(path.name, facts[place], facts[other], float(near[place, other]), False)
        for place in range(1, len(facts))
        for other in np.argsort(-near[place, :place])[:NEAREST]
    ]


def _pair(source: str, newer: str, older: str, cosine: float, contradicts: bool) -> Pair:
    of_a_series = contradiction.are_of_a_series(newer, older)
    plain = signs.replaces(newer, older, cosine) or (
        not of_a_series and contradiction.contradiction_of(newer, older, cosine)
    )
    ruled = np.inf if plain else -np.inf if of_a_series else 0.0
    found = disagreement.features(newer, older, cosine)
    return Pair(source, newer, contradicts, ruled, found)


def fit(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the weights fitted on the pairs of which no rule tells."""
    told = [pair for pair in pairs if not pair.ruled]
    names = list(told[0].features)
    x = np.array([[pair.features[name] for name in names] for pair in told])
    y = np.array([float(pair.contradicts) for pair in told])
    middle, deviation = x.mean(0), x.std(0) + 0.05
    middle[0], deviation[0] = 0.0, 1.0
    penalty = np.full(len(names), COST)
    penalty[0] = 1e-3
    made = fitted((x - middle) / deviation, y, penalty, np.ones(len(told))) / deviation
    made[0] -= made @ middle
    return dict(zip(names, map(float, made), strict=True))


def sums(pairs: Sequence[Pair], by: Mapping[str, float]) -> Floats:
    """Return what the rules say of each pair, and where they say nothing, what the weights make of it."""
    return np.array([pair.ruled or disagreement.odds(pair.features, by) for pair in pairs])


def row_of(source: str, pairs: Sequence[Pair], found: Floats, least: float) -> dict[str, Any]:
    """Return the figures of a source that the weights have not seen."""
    said = found >= least
    against = np.array([pair.contradicts for pair in pairs])
    plain = np.array([pair.ruled > 0 for pair in pairs])
    falsely = {pair.newer for pair, it in zip(pairs, said & ~against, strict=True) if it}
    return {
        "left out": source, "contradict": int(against.sum()), "seen by rules": int((plain & against).sum()),
        "seen": int((said & against).sum()), "do not": int((~against).sum()),
        "false by rules": int((plain & ~against).sum()), "false": int((said & ~against).sum()),
        "statements of these": len(falsely),
        "seen or asked about": sum(pair.contradicts and (pair.is_near or hit) for pair, hit in zip(pairs, said, strict=True)),
    }  # fmt: skip


def main() -> None:
    """Fit, judge with each source left out, and write if that is asked for."""
    parser = options(__doc__ or "")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--facts", type=Path, nargs="*", default=[FACTS], help="facts, one a line")
    parser.add_argument(
        "--judge", type=Path, nargs="*", default=[], help="pairs only judged, by the weights in use"
    )
    parser.add_argument("pairs", type=Path, nargs="*")
    asked = parser.parse_args()
    embedder = registry.create(Settings(), Home(asked.home).models)
    by, least = disagreement.weights()
    judged = {path.name: of_writer(path, embedder) for path in asked.judge}
    rows = [row_of(name, pairs, sums(pairs, by), least) for name, pairs in judged.items()]
    if rows:
        show("Judged by the weights that come with the program", rows, asked.json)
    if not asked.pairs:
        return
    by_source = {path.name: of_writer(path, embedder) for path in asked.pairs}
    facts = {path.name: of_facts(path, embedder) for path in asked.facts}
    every = [pair for pairs in (*by_source.values(), *facts.values()) for pair in pairs]
    found = {}
    for source, pairs in {**by_source, **facts}.items():
        found[source] = sums(pairs, fit([pair for pair in every if pair.source != source]))
    of_one = [
        max((float(it) for pair, it in zip(pairs, found[source], strict=True) if pair.newer == fact and it < np.inf), default=-9.0)
        for source, pairs in facts.items()
        for fact in {pair.newer for pair in pairs}
    ]  # fmt: skip
    least = round(float(np.quantile(of_one, 1 - MOST_FALSE)), 3)
    rows = [row_of(source, pairs, found[source], least) for source, pairs in {**by_source, **facts}.items()]  # fmt: skip
    show("Each source left out once", rows, asked.json)
    whole = fit(every)
    if asked.write:
        digest = hashlib.sha256(
            b"".join(path.read_bytes() for path in (*asked.pairs, *asked.facts))
        )
        told = {
            "made by": "benchmarks/train_disagreement.py", "data": f"sha256:{digest.hexdigest()}", "figures": rows,
            "least": least, "weights": {name: round(value, 3) for name, value in whole.items()},
        }  # fmt: skip
        text = json.dumps(told, ensure_ascii=False, indent=1)
        Path(disagreement.WEIGHTS_FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
