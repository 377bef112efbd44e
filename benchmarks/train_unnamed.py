"""The model of passwords that no name tells: fit it, and say what it finds with each writer left out.

MADE are files of JSON lines, each by one writer: `text`, and `secret`, what of it is a password that somebody made up,
"" for none. Everything else in them that might be one is none, and so is all of ordinary texts and of transcripts, but
for what redaction finds by a name or a form. Each writer is left out once; what is taken wrongly of ordinary text
stands on the half that nothing is learned from. With `--write` the weights fitted on all writers go to
`redact/unnamed_weights.json`, with these figures and the data's digest.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import options, show
from ordinary_text import LEARNED, UNSEEN, ordinary
from replay import read_lines
from train_ideas import Floats, fitted
from train_rules import matrix

from vector_memory.redact import pairs, places, random_values, shapes, unnamed
from vector_memory.redact.automaton import Meter, ascii_of

OF_FEATURE = 2.0
"""What a weight of 1 costs beside the log-likelihood (L2)."""
OF_TRANSCRIPTS = 20.0
"""Megabytes of transcripts that are read: they are what is captured."""
BEFORE = 20
"""Characters before a value of ordinary text that make it another one: the rest is repeated in transcripts."""
ORDINARY_COUNTS = 0.5
"""What a value of ordinary text weighs in the fit."""
LEAST, OF_SECRET, LEAST_SOURCES = 3, 3, 2
"""How often a feature must be there, one of a secret counting threefold, and in how many sources."""
MOST = 1_500
"""Features that are kept."""
ODDS = (-1.0, -0.75, -0.5, 0.0)
"""Sums from which a value might count as a password."""
TAKEN = -0.5
LOST = 0.05
"""The share of passwords that may be lost by looking at a value's form alone first, which is quick."""
DIGITS = 2


class Value(NamedTuple):
    """Something that might be a password.

    Attributes:
        source: who wrote the text, or its kind.
        known: its features; `form`: the names of those that are of the value itself.
    """

    source: str
    known: dict[str, float]
    form: frozenset[str]
    is_secret: bool


def _value(source: str, text: str, start: int, end: int, is_secret: bool) -> Value:
    known = unnamed.features(text, start, end)
    return Value(source, known, frozenset(unnamed.form(text[start:end])), is_secret)


def made_up(path: Path) -> Iterator[Value]:
    """Yield the values of a writer's texts."""
    for row in read_lines(path):
        text, secret = row["text"], row.get("secret") or ""
        first = text.find(secret) if secret else -1
        for start, end in unnamed.candidates(text, ascii_of(text)):
            value = text[start:end]
            # A sign at an end may belong to the sentence.
            is_it = first >= 0 and abs(start - first) <= 1 and abs(end - first - len(secret)) <= 1
            if is_it or not (secret and value in secret):
                yield _value(path.stem, text, start, end, is_it)


def of_ordinary(megabytes: float, transcripts: str, half: int) -> Iterator[Value]:
    """Yield the values of ordinary texts that nothing else finds."""
    seen: set[str] = set()
    for kind, texts in ordinary(megabytes, transcripts, half, OF_TRANSCRIPTS).items():
        for text in texts:
            plain, meter = ascii_of(text), Meter(2**30)
            finders = (
                pairs.find_pairs,
                places.find_places,
                shapes.find_shapes,
                random_values.find_randoms,
            )
            found = [span for find in finders for span in find(text, plain, meter)]
            for start, end in unnamed.candidates(text, plain):
                said = text[max(0, start - BEFORE) : end]
                is_found = any(span.start < end and start < span.end for span in found)
                if not is_found and said not in seen:
                    seen.add(said)
                    yield _value(kind, text, start, end, False)


def names_of(values: Sequence[Value]) -> list[str]:
    """Return the features that are frequent enough, in order."""
    counts: dict[str, int] = defaultdict(int)
    sources: dict[str, set[str]] = defaultdict(set)
    for value in values:
        for name in value.known:
            counts[name] += OF_SECRET if value.is_secret else 1
            sources[name].add(value.source)
    return sorted(
        name for name, n in counts.items() if n >= LEAST and len(sources[name]) >= LEAST_SOURCES
    )


def fit(values: Sequence[Value], writers: Sequence[str]) -> dict[str, float]:
    """Return the weights of the MOST features that tell most."""
    names = names_of(values)
    x, y = (
        matrix([value.known for value in values], names),
        np.array([value.is_secret for value in values], float),
    )
    counts = np.array([1.0 if value.source in writers else ORDINARY_COUNTS for value in values])
    weights = _fit(x, y, counts, names)
    telling = np.argsort(-np.abs(weights) * np.sqrt((x != 0).mean(0)))[:MOST]
    names = [names[place] for place in telling]
    weights = _fit(x[:, telling], y, counts, names)
    return {name: round(float(weight), DIGITS) for name, weight in zip(names, weights, strict=True)}


def _fit(x: Floats, y: Floats, counts: Floats, names: Sequence[str]) -> Floats:
    penalty = np.array([0.01 if name == unnamed.BIAS else OF_FEATURE for name in names])
    return fitted(x, y, penalty, counts)


def odds_of(values: Sequence[Value], weights: dict[str, float]) -> Floats:
    """Return (values,), what the weights of each add up to."""
    return np.array(
        [sum(weights.get(name, 0.0) * n for name, n in value.known.items()) for value in values]
    )


def least_of_form(writers: Sequence[Sequence[Value]], weights: dict[str, float]) -> float:
    """Return the sum of a form's weights that all but LOST of the passwords reach."""
    secret = [value for them in writers for value in them if value.is_secret]
    of_form = [
        value._replace(known={name: n for name, n in value.known.items() if name in value.form})
        for value in secret
    ]
    return round(float(np.quantile(odds_of(of_form, weights), LOST)), DIGITS)


def figures(name: str, values: Sequence[Value], odds: Floats) -> dict[str, object]:
    """Return how many of these there are, how many secret, and at each sum how many are taken rightly and wrongly."""
    secret = np.array([value.is_secret for value in values], bool)
    row: dict[str, object] = {"of": name, "n": len(values), "secret": int(secret.sum())}
    for least in ODDS:
        taken = odds >= least
        row[f"{least:+} right, wrong"] = (
            f"{int((taken & secret).sum())}, {int((taken & ~secret).sum())}"
        )
    return row


def main() -> None:
    """Judge with each writer left out, and fit and write if that is asked for."""
    parser = options(__doc__ or "")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--transcripts", default="", help="a folder of the client's transcripts")
    parser.add_argument(
        "--megabytes", type=float, default=0.4, help="of each kind of ordinary text"
    )
    parser.add_argument("made", type=Path, nargs="+")
    asked = parser.parse_args()
    by_writer = {path.stem: list(made_up(path)) for path in asked.made}
    learned = list(of_ordinary(asked.megabytes, asked.transcripts, LEARNED))
    unseen = list(of_ordinary(asked.megabytes, asked.transcripts, UNSEEN))
    rows = []
    for name, values in by_writer.items():
        others = [value for other, them in by_writer.items() if other != name for value in them]
        rows.append(figures(name, values, odds_of(values, fit([*others, *learned], [*by_writer]))))
    weights = fit([value for them in by_writer.values() for value in them] + learned, [*by_writer])
    rows.append(figures("ordinary text, unseen half", unseen, odds_of(unseen, weights)))
    show("Each writer left out once", rows, asked.json)
    if asked.write:
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in asked.made)).hexdigest()
        head = {
            "made by": "benchmarks/train_unnamed.py", "data": f"sha256:{digest}", "figures": rows,
            "least": TAKEN, "least of form": least_of_form([*by_writer.values()], weights),
        }  # fmt: skip
        kept = {name: weights[name] for name in sorted(weights) if weights[name]}
        text = json.dumps({**head, "weights": kept}, ensure_ascii=False, indent=0)
        unnamed.WEIGHTS_FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
