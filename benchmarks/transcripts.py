"""Does a later session find what an earlier one said? Index real transcripts, ask questions, count
how often the answer stands in the first five and ten memories.

DATA is a folder with transcripts, QUESTIONS a JSON list of {"question", "answer"}: an exact phrase
that the recalled text must contain.
"""

from __future__ import annotations

import json
import time
from typing import Any

from common import Bench, bench, options, show

SHORT = 350


def hits_at(answers: list[list[str]], wanted: list[str], k: int, length: int | None = None) -> str:
    """Return how many answers stand in the first k texts, each cut to `length` characters."""
    found = sum(
        any(answer in text[:length] for text in texts[:k])
        for texts, answer in zip(answers, wanted, strict=True)
    )
    return f"{found}/{len(wanted)}"


def measure(made: Bench, data: str, questions: list[dict[str, Any]]) -> dict[str, Any]:
    """Index, ask, and return the figures."""
    made.settle()
    started = time.perf_counter()
    done = dict(made.daemon.stream("backfill", {"paths": [data]}, 3_600))["answer"]
    seconds = time.perf_counter() - started
    answers = []
    for one in questions:
        request = {"query": one["question"], "k": 10, "all_projects": True}
        answers.append([hit["text"] for hit in made.daemon.ask("recall", request)["hits"]])
    wanted = [one["answer"] for one in questions]
    return {
        "files": done["files"],
        "memories": done["stored"],
        "seconds": round(seconds, 1),
        "hits@5": hits_at(answers, wanted, 5),
        "hits@10": hits_at(answers, wanted, 10),
        f"@5 in {SHORT} characters": hits_at(answers, wanted, 5, SHORT),
    }


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("questions")
    asked = parser.parse_args()
    with open(asked.questions, encoding="utf-8") as file:
        questions = json.load(file)
    with bench(asked.home) as made:
        show("Questions over transcripts", [measure(made, asked.data, questions)], asked.json)


if __name__ == "__main__":
    main()
