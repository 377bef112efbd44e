"""Which of the sentences that a person marked do the rules find, and with which intent? No model at all.

DATA is a folder with the transcripts that `labels.json` speaks of. A sentence counts as found where it
shares most of its words with a marked one of the same turn. Printed are precision and recall of finding
anything, by who speaks, and of each intent; the files are split in two halves, since the rules were
written with the first in view.

Without DATA the statements of `statements_unseen.json` are read, which were written, with their intents,
without the rules in view; the rules were mended by them since.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import labelled
from common import options, show

from vector_memory.model import INTENTS
from vector_memory.text import assertions
from vector_memory.text.statements import statements

LEAST = 0.6
_WORD = re.compile(r"\w+")
Found = tuple[str, str]
"""A sentence and its intent."""


def words(text: str) -> set[str]:
    """Return a text's words."""
    return set(_WORD.findall(text.lower()))


def found_in(turn: labelled.Said) -> list[Found]:
    """Return what the rules find in a turn."""
    speaker = assertions.ASSISTANT if turn.who == labelled.ASSISTANT else assertions.USER
    made = (
        (one.text, assertions.assertion(one, speaker, turn.who == labelled.REPLY))
        for one in statements(turn.text)
    )
    return [(text, one.intent) for text, one in made if one is not None]


def same(one: str, other: str) -> bool:
    """Whether two sentences share most of the shorter one's words."""
    first, second = words(one), words(other)
    shared, least = len(first & second), min(len(first), len(second))
    return shared >= min(3, least) and shared >= LEAST * least


class Tally:
    """Counts of what was found, marked, and both."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self.marked: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()

    def add(self, found: list[Found], marked: list[Found], who: str) -> None:
        """Compare what was found in a turn with what was marked in it."""
        for _, intent in marked:
            self.marked.update([intent, "any", who])
        hit: set[int] = set()
        for text, intent in found:
            self.found.update([intent, "any", who])
            match = next((i for i, (quote, _) in enumerate(marked) if same(text, quote)), None)
            if match is not None:
                hit.add(match)
                self.right.update(["any", who])
                if marked[match][1] == intent:
                    self.right.update([intent])
                    self.hit.update([intent])
        self.hit.update({"any": len(hit), who: len(hit)})

    def row(self, name: str) -> dict[str, Any]:
        """Return the figures of one intent, of a speaker, or of "any"."""
        precision = self.right[name] / max(1, self.found[name])
        recall = self.hit[name] / max(1, self.marked[name])
        both = precision + recall
        return {
            "what": name,
            "found": self.found[name],
            "marked": self.marked[name],
            "precision": round(precision, 2),
            "recall": round(recall, 2),
            "F1": round(2 * precision * recall / both, 2) if both else 0.0,
        }


def of_statements() -> list[dict[str, Any]]:
    """Return what is kept of single statements, and how often with the right intent."""
    path = Path(__file__).resolve().parent / "statements_unseen.json"
    rows = []
    said = json.loads(path.read_text(encoding="utf-8"))
    for name, who in sorted({(one["set"], one["who"]) for one in said}):
        tally: Counter[str] = Counter()
        for one in (it for it in said if (it["set"], it["who"]) == (name, who)):
            made = [assertions.assertion(it, who) for it in statements(one["text"])]
            best = max(filter(None, made), key=lambda it: it.weight, default=None)
            tally["marked"] += bool(one["intent"])
            tally["kept"] += best is not None
            if best is not None and one["intent"]:
                tally["rightly"] += 1
                tally["intent"] += best.intent == one["intent"]
        rows.append(
            {
                "set": name,
                "who": who,
                "marked": tally["marked"],
                "kept": tally["kept"],
                "precision": round(tally["rightly"] / max(1, tally["kept"]), 2),
                "recall": round(tally["rightly"] / max(1, tally["marked"]), 2),
                "intent right": round(tally["intent"] / max(1, tally["rightly"]), 2),
            }
        )
    return rows


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data", nargs="?", default="")
    asked = parser.parse_args()
    if not asked.data:
        show("Single statements by rules alone", of_statements(), asked.json)
        return
    said, labels = labelled.load(asked.data)
    marked: dict[int, list[Found]] = {}
    for one in labels["ideas"]:
        marked.setdefault(one["n"], []).append((one["quote"], one["intent"]))
    files = sorted({said[n].file for n in labels["turns"]})
    for half in (0, 1):
        tally = Tally()
        for n in labels["turns"]:
            if files.index(said[n].file) % 2 == half:
                who = "assistant" if said[n].who == labelled.ASSISTANT else "user"
                tally.add(found_in(said[n]), marked.get(n, []), who)
        rows = [tally.row(name) for name in ("any", "user", "assistant", *INTENTS)]
        show(f"Ideas by rules alone, half {half + 1} of {len(files)} sessions", rows, asked.json)


if __name__ == "__main__":
    main()
