"""What of single statements is kept, and as what, with the weights that come with the program?

They were fitted on `statements_unseen.json`, too: this shows what they do, and `train_ideas.py` what they are worth
on a set, or a source of transcripts, left out. With `--vectors` the sentences are embedded as a daemon with a model
does it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.index.ideas import intent_of
from vector_memory.index.units import Unit, units
from vector_memory.index.worth import verdicts
from vector_memory.model import Embedder
from vector_memory.system.paths import Home

SAME = {"context": "fact"}
"""What the statements call otherwise."""


def kept_of(text: str, who: str, embedder: Embedder | None) -> list[tuple[Unit, str, float]]:
    """Return the sentences of a text that are kept, with what each is meant as and its worth."""
    said = units([f"{who.capitalize()}: {text}"])
    vectors = embedder.embed_documents([one.text for one in said]) if embedder and said else None
    judged = verdicts(said, None if vectors is None else np.asarray(vectors, np.float32))
    pairs = zip(said, judged, strict=True)
    return [(unit, intent_of(unit, it), it.worth) for unit, it in pairs if it.is_kept]


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("--vectors", action="store_true", help="embed the sentences, too")
    asked = parser.parse_args()
    models = Home(asked.home).models
    embedder = registry.create(Settings(), models) if asked.vectors else None
    path = Path(__file__).resolve().parent / "statements_unseen.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for name, who in sorted({(one["set"], one["who"]) for one in said}):
        tally: Counter[str] = Counter()
        for one in (it for it in said if (it["set"], it["who"]) == (name, who)):
            best = max(kept_of(one["text"], who, embedder), key=lambda it: it[2], default=None)
            tally["marked"] += bool(one["intent"])
            tally["kept"] += best is not None
            if best is not None and one["intent"]:
                tally["rightly"] += 1
                tally["intent"] += best[1] == SAME.get(one["intent"], one["intent"])
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
    show("Single statements", rows, asked.json)


if __name__ == "__main__":
    main()
