"""Does a later session find what an earlier one said? Index real transcripts, ask questions, count
how often the answer stands in the first five and ten memories, beside plain methods over the same
memories.

DATA is a folder with transcripts, QUESTIONS a JSON list of {"question", "answer"}: an exact phrase
that the recalled text must contain. Without QUESTIONS, `probes.json` is asked: questions of our own about
published transcripts, whose answers are named by their places.
"""

from __future__ import annotations

import json
import time
from typing import Any

import labelled
from common import Bench, bench, options, show
from quality import Baselines, Question, Text

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal
from vector_memory.model import Scope

SHORT = 350


def hits_at(answers: list[list[str]], wanted: list[str], k: int, length: int | None = None) -> str:
    """Return how many answers stand in the first k texts, each cut to `length` characters."""
    found = sum(
        any(answer in text[:length] for text in texts[:k])
        for texts, answer in zip(answers, wanted, strict=True)
    )
    return f"{found}/{len(wanted)}"


def row(method: str, answers: list[list[str]], wanted: list[str]) -> dict[str, Any]:
    """Return a method's figures."""
    return {
        "method": method,
        "hits@5": hits_at(answers, wanted, 5),
        "hits@10": hits_at(answers, wanted, 10),
        f"@5 in {SHORT} characters": hits_at(answers, wanted, 5, SHORT),
    }


def measure(made: Bench, data: str, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Index, ask, and return the figures of each method."""
    made.settle()
    started = time.perf_counter()
    done = dict(made.daemon.stream("backfill", {"paths": [data]}, 3_600))["answer"]
    seconds = time.perf_counter() - started
    # Vectors and ideas come after the words.
    made.settle()
    wanted = [one["answer"] for one in questions]
    answers = []
    for one in questions:
        request = {"query": one["question"], "k": 10, "all_projects": True}
        answers.append([hit["text"] for hit in made.daemon.ask("recall", request)["hits"]])
    made.daemon.stop()
    journal = Journal.open(made.home.global_store)
    texts = {memory.id: str(memory.text) for memory in journal.iter_memories(Scope())}
    journal.close()
    baselines = Baselines(
        [Text(*one) for one in texts.items()], registry.create(Settings(), made.home.models)
    )
    rows = [
        row(name, [[texts[id] for id in rank(_asked(one))] for one in questions], wanted)
        for name, rank in baselines.methods().items()
    ]
    baselines.close()
    rows.append(row("vector-memory", answers, wanted))
    rows[-1] |= {"files": done["files"], "memories": done["stored"], "seconds": round(seconds, 1)}
    return rows


def _asked(question: dict[str, Any]) -> Question:
    return Question(question["question"], frozenset())


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("questions", nargs="?", default="", help="our own probes without it")
    asked = parser.parse_args()
    if asked.questions:
        with open(asked.questions, encoding="utf-8") as file:
            questions = json.load(file)
    else:
        questions = labelled.probes(asked.data)
    with bench(asked.home) as made:
        show("Questions over transcripts", measure(made, asked.data, questions), asked.json)


if __name__ == "__main__":
    main()
