"""What do a hypothetical answer (`hyde`) and a second look (`rerank`) bring, with a model of yours?

DATA is a JSON file of LoCoMo conversations, asked as `locomo.py` does, with neither, with each and with
both. The model is what `VECTOR_MEMORY_GENERATION_BACKEND` and `VECTOR_MEMORY_GENERATION_MODEL` name;
without one it says so and ends.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from common import bench, options, show
from locomo import ask, lines_of, load, questions_of
from quality import measures

from vector_memory import config
from vector_memory.errors import VectorMemoryError
from vector_memory.generate import registry

CALLS = 100_000
TOKENS = 100_000_000


def answers(settings: config.Settings) -> bool:
    """Whether there is a model that writes something."""
    try:
        return bool(registry.create(settings).complete("Say yes.", 8, 60.0).strip())
    except VectorMemoryError as error:
        sys.stdout.write(f"No model here: {error}\n")
        return False


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("--questions", type=int, default=100, help="how many are asked")
    given = parser.parse_args()
    settings = config.load(os.devnull + ".none")
    if not settings.generation_backend:
        sys.stdout.write(
            "No model here: set VECTOR_MEMORY_GENERATION_BACKEND to ollama or client.\n"
        )
        return
    if not answers(settings):
        return
    conversations = json.loads(Path(given.data).read_text(encoding="utf-8"))
    asked = questions_of(conversations, apart=False)
    asked = asked[:: max(1, len(asked) // given.questions)]
    rows: list[dict[str, Any]] = []
    for hyde in (False, True):
        for rerank in (False, True):
            os.environ["VECTOR_MEMORY_HYDE"] = str(hyde)
            os.environ["VECTOR_MEMORY_RERANK"] = str(rerank)
            os.environ["VECTOR_MEMORY_GENERATION_DAILY_CALLS"] = str(CALLS)
            os.environ["VECTOR_MEMORY_GENERATION_DAILY_TOKENS"] = str(TOKENS)
            with bench(given.home) as made:
                made.daemon.start()
                rankings = ask(made, asked, load(made, lines_of(conversations), apart=False))
            rows.append({"hyde": hyde, "rerank": rerank, **measures(rankings, asked)})
    show(f"{len(asked)} questions, {settings.generation_backend}", rows, given.json)


if __name__ == "__main__":
    main()
