"""What does a prompt, and a recall, cost where most of what is stored are copies?

Sessions that are resumed, forked or held again bring their passages with them. Two stores of one size: in the one
every memory says something else, in the other each stands so many times, under other ids and sessions. Both are asked
the same by turns, in one process; it is processor time that counts, so that a busy machine tells the same.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

from common import options, show, text
from replay import House
from scale import Vectors, memories, questions

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal, text_hash
from vector_memory.model import PASSAGE, Memory, Project
from vector_memory.projects import locate
from vector_memory.system.paths import Home

SEEDS = 300


def stored(rows: int, copies: int, project: str) -> Iterator[Memory]:
    """Yield so many memories of a project, each `copies` times in sessions of its own."""
    chance = random.Random(5)
    said = list(memories(0, -(-rows // copies), project, chance))
    for number in range(rows):
        copy, place = divmod(number, len(said))
        one = said[place]
        session = replace(one.source, session=f"{one.source.session} {copy}", path=f"/t/{copy}")
        yield replace(one, id=f"{number:032x}", project=project, kind=PASSAGE, source=session)


def fill(root: str, folder: str, rows: int, copies: int, vectors: Vectors, model: str) -> None:
    """Write a store's journal, and its vectors into the cache."""
    os.makedirs(folder)
    place = locate(folder)
    home = Home(os.path.join(root, "home"))
    os.makedirs(home.global_store)
    journal = Journal.open(home.global_store)
    journal.put_project(Project(place.id, place.name, place.root))
    every = list(stored(rows, copies, place.id))
    for start in range(0, rows, 2_000):
        journal.add(every[start : start + 2_000])
    texts = list({text_hash(one.text): None for one in every})
    journal.put_vectors(model, texts, vectors.some(len(texts)))
    journal.close()


def asked(houses: dict[str, House], folders: dict[str, str], words: Sequence[str]) -> list[Any]:
    """Ask every house the same by turns; return a row for each way of asking, in milliseconds of a processor."""
    times: dict[tuple[str, str], list[float]] = {}
    for number, question in enumerate(words):
        for name, house in houses.items():
            folder, session = folders[name], f"s{number}"
            ways: dict[str, Callable[[], object]] = {
                "prompt": partial(
                    house.hook, "UserPromptSubmit", folder, prompt=question, session_id=session
                ),
                "recall": partial(house.ask, "recall", query=question, project=folder, k=10),
            }
            for way, ask in ways.items():
                started = time.process_time()
                ask()
                times.setdefault((way, name), []).append(1_000 * (time.process_time() - started))
    first = next(iter(houses))
    return [
        {
            "asked": way, "store": name, "CPU ms": round(median(spent), 1),
            "times": round(median(spent) / median(times[way, first]), 2),
        }
        for (way, name), spent in sorted(times.items())
    ]  # fmt: skip


def main() -> None:
    """Measure both stores."""
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("--copies", type=int, default=32)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    embedder = registry.create(Settings(), Home(given.home).models)
    chance = random.Random(3)
    real = embedder.embed_documents([text(number, chance) for number in range(SEEDS)])
    model = embedder.model
    embedder.close()
    with tempfile.TemporaryDirectory(prefix="vector-memory-copies-") as scratch:
        houses, folders = {}, {}
        for name, copies in (("each once", 1), (f"each {given.copies} times", given.copies)):
            root = os.path.join(scratch, str(copies))
            folders[name] = os.path.join(root, "work")
            fill(root, folders[name], given.rows, copies, Vectors(real), model)
            houses[name] = House(root, given.home)
            houses[name].settle()
        words = questions()[: given.questions + 10]
        asked(houses, folders, words[:10])
        rows = asked(houses, folders, words[10:])
        for house in houses.values():
            house.close()
    show(f"{given.rows:,} memories, with and without copies", rows, given.json)


if __name__ == "__main__":
    main()
