"""The model of what of a user's words binds later sessions: fit it, and say what it is worth on sources left out.

SENTENCES are files of JSON lines: `text`, `source` (a project or a writer), `set` (the sources that are told
together) and `label`, given by a reader: R, it binds later sessions; F, it lasts and binds nobody; M, it is of the
moment. Each source is left out once, with all others of its set where that begins with `own`: one writer made these up. Sources
that state no licence are judged and never fitted on. With `--write` the weights fitted on all the others go to
`data/rule_weights.json`, with these figures and the data's digest.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show
from numpy.typing import NDArray
from replay import read_lines
from train_ideas import JUDGED_ONLY, Floats, fitted

from vector_memory.index import rules

BINDS, LASTS = "R", "F"
OF_WORD, OF_FORM = 8.0, 20.0
"""What a weight of 1 costs beside the log-likelihood (L2): of a word, and of anything else at unit deviation."""
LEAST_SOURCES = 5
"""In how many sources a word must stand: what fewer speak of is their subject."""
OF_ONE_WRITER = "own"
DIGITS = 3
WORDS = ("word ", "first ", "last ")


def names_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the features that the weights shall know, in order: all of form, and the words of enough sources."""
    seen: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in row["features"]:
            seen[name].add(row["source"])
    return sorted(
        name for name, of in seen.items() if not name.startswith(WORDS) or len(of) >= LEAST_SOURCES
    )


def matrix(known: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """Return (features, names), what each row of features has of each by its name."""
    places = {name: place for place, name in enumerate(names)}
    made = np.zeros((len(known), len(names)))
    for number, features in enumerate(known):
        for name, value in features.items():
            if name in places:
                made[number, places[name]] = value
    return made


def fit(x: Floats, y: Floats, names: Sequence[str]) -> Floats:
    """Return the weights of the features as they are."""
    is_word = np.array([name.startswith(WORDS) for name in names])
    is_bias = np.array([name == rules.BIAS for name in names])
    scale = np.where(is_word | is_bias, 1.0, x.std(0) + 1e-6)
    penalty = np.where(is_bias, 1e-3, np.where(is_word, OF_WORD, OF_FORM))
    made: Floats = fitted(x / scale, y, penalty, np.ones(len(y))) / scale
    return made


def figures(
    name: str, labels: NDArray[np.str_], told: NDArray[np.bool_], odds: Floats
) -> dict[str, Any]:
    """Return a row of what would be told: of these sentences how many, and what they are."""
    binds = labels == BINDS
    order = np.argsort(-odds)
    hits = np.cumsum(binds[order])[binds[order]] / (np.flatnonzero(binds[order]) + 1)
    return {
        "sentences": name, "n": len(labels), "binding": int(binds.sum()), "told": int(told.sum()),
        "of these binding": round(float(binds[told].mean()), 2) if told.any() else None,
        "or lasting": round(float((binds | (labels == LASTS))[told].mean()), 2) if told.any() else None,
        "binding found": round(float(told[binds].mean()), 2), "average precision": round(float(hits.mean()), 3),
    }  # fmt: skip


def main() -> None:
    """Judge with each source left out, and fit and write if that is asked for."""
    parser = options(__doc__ or "")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("sentences", type=Path, nargs="+")
    asked = parser.parse_args()
    rows = [row for path in asked.sentences for row in read_lines(path)]
    for row in rows:
        row["features"] = rules.features(row["text"])
    names = names_of(rows)
    x, y = (
        matrix([row["features"] for row in rows], names),
        np.array([row["label"] == BINDS for row in rows], float),
    )
    source, kind = (np.array([row[name] for row in rows]) for name in ("source", "set"))
    may_fit = ~np.isin(source, list(JUDGED_ONLY))
    odds = np.zeros(len(rows))
    for left in np.unique(source):
        out = source == left
        of_writer = (kind == kind[out][0]) & kind[out][0].startswith(OF_ONE_WRITER)
        seen = may_fit & ~out & ~of_writer
        odds[out] = x[out] @ fit(x[seen], y[seen], names)
    labels = np.array([row["label"] for row in rows])
    told = odds >= np.log(rules.LIKELY / (1 - rules.LIKELY))
    made = [figures(one, labels[kind == one], told[kind == one], odds[kind == one]) for one in np.unique(kind)]  # fmt: skip
    made.append(figures("all", labels, told, odds))
    show("Each source left out once", made, asked.json)
    if asked.write:
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in asked.sentences))
        fitted_on = fit(x[may_fit], y[may_fit], names)
        weights = {
            name: round(float(value), DIGITS)
            for name, value in zip(names, fitted_on, strict=True)
            if round(float(value), DIGITS)
        }
        head = {"made by": "benchmarks/train_rules.py", "data": f"sha256:{digest.hexdigest()}", "figures": made}  # fmt: skip
        text = json.dumps({**head, "weights": weights}, ensure_ascii=False, indent=0)
        Path(rules.WEIGHTS_FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
