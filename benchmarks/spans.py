"""Does a session fall into the topics that people see in it? Cut labelled transcripts into topics and
count where the cuts differ, beside two plain answers: no cut at all, and one at every prompt.

DATA is a folder with the transcripts that `labels.json` speaks of. WindowDiff and Pk are errors, 0 is
perfect; `P` and `R` are the precision and the recall of the cuts themselves.

The weights were tuned on all of these sessions, so "each file held out" is the honest figure: every
file is cut by weights that were fitted to the other files only.

Sources: WindowDiff: L. Pevzner, M. Hearst, "A Critique and Improvement of an Evaluation Metric for Text
Segmentation", Computational Linguistics 28(1), 2002. Pk: D. Beeferman, A. Berger, J. Lafferty, Machine
Learning 34, 1999.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import labelled
import numpy as np
from common import options, show

from vector_memory.index.exchanges import exchanges
from vector_memory.index.memories import to_drafts
from vector_memory.index.topics import shifts
from vector_memory.index.topics.spans import boundaries
from vector_memory.index.topics.turns import Passage, TopicTurn, turns_of
from vector_memory.index.transcript import read_entries

RIDGE = 3.0
STEPS = 100


@dataclass(frozen=True)
class Session:
    """A transcript's turns with the labelled lines in them: which line each labelled turn stands in,
    and which of those begin a topic (the first one always does)."""

    name: str
    turns: list[TopicTurn]
    lines: list[int]
    wanted: list[bool]

    def places(self) -> list[int]:
        """Return for each turn the first labelled line in it, -1 for none."""
        return [
            next((i for i, line in enumerate(self.lines) if first <= line <= last), -1)
            for first, last in ((one.first.line_start, one.first.line_end) for one in self.turns)
        ]

    def cuts(self, scores: Sequence[float]) -> list[bool]:
        """Return at which labelled lines these scores cut."""
        cut = [False] * len(self.lines)
        places = self.places()
        for place in boundaries(scores):
            if places[place] > 0:
                cut[places[place]] = True
        return cut


def sessions(data: str) -> list[Session]:
    """Return the labelled sessions."""
    told, labels = labelled.load(data)
    by_file: dict[str, list[int]] = {}
    for number in labels["turns"]:
        by_file.setdefault(told[number].file, []).append(number)
    begin = set(labels["boundaries"])
    return [
        Session(
            name,
            turns_of(_passages(os.path.join(data, name))),
            [told[number].line for number in numbers],
            [place > 0 and number in begin for place, number in enumerate(numbers)],
        )
        for name, numbers in by_file.items()
    ]


def _passages(path: str) -> Iterator[Passage]:
    told = [one for one in exchanges(read_entries(path, final=True)) if not one.is_subagent]
    drafts = [draft for one in told if one.is_worth_keeping for draft in to_drafts(one, path)]
    for one in drafts:
        yield Passage(one.turn, one.external_id.rpartition(":")[0], one.text, one.title, one.path,
                      one.line_start, one.line_end, one.created_at, one.files)  # fmt: skip


# -- figures --------------------------------------------------------------------------------------


def window(wanted: Sequence[bool]) -> int:
    """Return the width that both measures use: half of the mean length of a wanted topic."""
    return max(1, round(len(wanted) / (sum(wanted) + 1) / 2))


def window_diff(wanted: Sequence[bool], cut: Sequence[bool]) -> tuple[int, int]:
    """Return in how many windows the number of cuts differs, and how many windows there are."""
    k = window(wanted)
    starts = range(1, len(wanted) - k + 1)
    return sum(sum(wanted[i : i + k]) != sum(cut[i : i + k]) for i in starts), len(starts)


def p_k(wanted: Sequence[bool], cut: Sequence[bool]) -> tuple[int, int]:
    """Return for how many pairs of turns it is wrong whether they are in one topic, and of how many."""
    k = window(wanted)
    starts = range(1, len(wanted) - k + 1)
    return sum(any(wanted[i : i + k]) != any(cut[i : i + k]) for i in starts), len(starts)


def row(name: str, pairs: Sequence[tuple[Sequence[bool], Sequence[bool]]]) -> dict[str, Any]:
    """Return the figures of a method over sessions, every window counting the same."""

    def share(measure: Callable[..., tuple[int, int]]) -> str:
        wrong, of = np.sum([measure(*pair) for pair in pairs], axis=0)
        return f"{wrong / max(1, of):.3f}"

    hit = sum(w and c for wanted, cut in pairs for w, c in zip(wanted, cut, strict=True))
    made, there = sum(sum(cut) for _, cut in pairs), sum(sum(wanted) for wanted, _ in pairs)
    return {
        "method": name,
        "WindowDiff": share(window_diff),
        "Pk": share(p_k),
        "P": f"{hit / made:.2f}" if made else "",
        "R": f"{hit / there:.2f}" if there else "",
        "cuts": f"{made} for {there}",
    }


# -- methods --------------------------------------------------------------------------------------


def none(session: Session) -> list[bool]:
    """No cut."""
    return [False] * len(session.lines)


def every_prompt(session: Session) -> list[bool]:
    """A cut at every prompt."""
    return session.cuts([1.0] * len(session.turns))


def product(session: Session) -> list[bool]:
    """What the product does."""
    return session.cuts(shifts.scores(session.turns))


def held_out(session: Session, all_sessions: Sequence[Session]) -> list[bool]:
    """What it does with weights that were fitted to the other sessions."""
    weights, bias = fitted([one for one in all_sessions if one is not session])
    found = [
        float("inf") if place == 0
        else bias + sum(weights[n] * v for n, v in shifts.signs(session.turns, place).items())
        for place in range(len(session.turns))
    ]  # fmt: skip
    return session.cuts(found)


def fitted(some: Sequence[Session]) -> tuple[Mapping[str, float], float]:
    """Return weights and bias by ridge logistic regression over the prompts of these sessions."""
    signs, wanted = [], []
    for one in some:
        places = one.places()
        for place in range(1, len(one.turns)):
            if places[place] > 0:
                signs.append(shifts.signs(one.turns, place))
                wanted.append(one.wanted[places[place]])
    raw = np.array([list(each.values()) for each in signs])
    mean, spread = raw.mean(0), raw.std(0) + 1e-9
    x, y = np.c_[(raw - mean) / spread, np.ones(len(raw))], np.array(wanted, float)
    penalty = np.diag([RIDGE] * raw.shape[1] + [1e-6])
    w = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ w))
        slope = x.T @ (p - y) + penalty @ w
        w -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty, slope)
    weights = w[:-1] / spread
    return dict(zip(signs[0], weights, strict=True)), float(w[-1] - weights @ mean)


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("--files", action="store_true", help="show each file too")
    asked = parser.parse_args()
    known = sessions(asked.data)
    methods: dict[str, Callable[[Session], list[bool]]] = {
        "no cut": none,
        "every prompt": every_prompt,
        "topics": product,
        "topics, each file held out": lambda one: held_out(one, known),
    }
    rows = [row(name, [(one.wanted, cut(one)) for one in known]) for name, cut in methods.items()]
    halves = (
        ("even files", sorted(known, key=_name)[::2]),
        ("odd files", sorted(known, key=_name)[1::2]),
    )
    rows += [
        row(f"topics, {half}", [(one.wanted, product(one)) for one in some])
        for half, some in halves
    ]
    if asked.files:
        rows += [
            row(f"{one.name[-44:]}: {name}", [(one.wanted, cut(one))])
            for one in known
            for name, cut in list(methods.items())[:3]
        ]
    show(f"Topics of {len(known)} sessions", rows, asked.json)


def _name(session: Session) -> str:
    return session.name


if __name__ == "__main__":
    main()
