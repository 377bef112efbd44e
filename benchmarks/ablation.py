"""What does each part of the ranking bring, and which weights are best?

DATA is a JSON file of LoCoMo conversations. They are imported as `locomo.py` does, once as one project
and once as a project each; then the candidates of every question are gathered from the stores that
the daemon has left, and weighed in many ways. Printed is what is lost when a feature's weight is 0.

`--tune` searches better weights by coordinate ascent, and prints what they bring to conversations
that they were not tuned on, one held out at a time: what counts is that figure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import Bench, bench, options, show
from locomo import lines_of, load, questions_of
from quality import Baselines, Question, Text, measures

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import GLOBAL_PROJECT, Scope
from vector_memory.retrieve import candidates, fusion
from vector_memory.retrieve.fusion import WEIGHTS, Features
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.lookup import query_of
from vector_memory.store.index import Index

STEPS = (0.2, 0.1, 0.05)
BETTER = 0.0004
Weights = Mapping[str, float]


@dataclass(frozen=True)
class Asked:
    """A question with the features of its candidates, their ids, and their factors."""

    question: Question
    conversation: str
    features: Features
    ids: list[str]
    scale: float


def opened(made: Bench) -> tuple[Context, Shelf]:
    """Open the store that a stopped daemon has left."""
    embedder = registry.create(Settings(), made.home.models)
    embedding = Embedding(lambda: embedder, lambda: embedder)
    embedding.load()
    shelf = Shelf(made.home.global_store, Journal.open(made.home.global_store))
    index = Index.open(made.home.global_store, embedder.model, embedder.dim)
    index.load_lance()
    shelf.attach(index)
    state = State.open(made.home.state_db)
    return Context(made.home, Settings(), state, embedding, lambda folder: shelf), shelf


def gathered(
    ctx: Context, shelf: Shelf, questions: Sequence[Question], folders: dict[str, str]
) -> list[Asked]:
    """Return every question with the features of its candidates."""
    made = []
    external = {memory.seq: memory.external_id for memory in shelf.journal.iter_memories(Scope())}
    for one in questions:
        place = ctx.place(folders[one.project])
        scope = Scope(projects=(place.id, GLOBAL_PROJECT))
        query = query_of(ctx, one.text, scope, [shelf], place)
        found = candidates.begin(query, [shelf], ctx.settings.candidates)
        query = replace(query, vector=ctx.embedding.of_query(query)())
        pools = candidates.gather(
            query,
            [shelf],
            ctx.settings.candidates,
            candidates.read(found),
            candidates.nearest(query, [shelf], ctx.settings.candidates),
        )
        features = fusion.features_of(query, pools, [shelf])
        ids = [external[int(seq)] for seq in features.seqs]
        conversation = next(iter(one.answers)).split("/")[0]
        made.append(Asked(one, conversation, features, ids, fusion.scale_of(query)))
    return made


def ranked(asked: Asked, weights: Weights) -> list[str]:
    """Return the ids of the ten best under some weights."""
    return [asked.ids[place] for place in fusion.weigh(asked.features, 1.0, weights).best(10)]


def figures(every: Sequence[Asked], weights: Weights) -> dict[str, float]:
    """Return the measures of some weights."""
    return measures([ranked(one, weights) for one in every], [one.question for one in every])


def objective(every: Sequence[Asked], weights: Weights) -> float:
    """Return the mean of three measures: early, late and graded."""
    found = figures(every, weights)
    return (found["R@5"] + found["R@10"] + found["nDCG@10"]) / 300


def ascended(every: Sequence[Asked], start: Weights) -> dict[str, float]:
    """Return better weights: one at a time is moved up or down while that helps."""
    weights, best = dict(start), objective(every, start)
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for name in weights:
                for change in (step, -step):
                    tried = {**weights, name: round(weights[name] + change, 3)}
                    reached = objective(every, tried)
                    if reached > best + BETTER:
                        weights, best, moved = tried, reached, True
    return weights


def baselines(
    made: Bench, conversations: list[dict[str, Any]], apart: bool
) -> list[dict[str, Any]]:
    """Return the figures of plain methods on the same questions."""
    lines = lines_of(conversations)
    texts = [Text(one["id"], one["text"], one["conversation"] if apart else "") for one in lines]
    methods = Baselines(texts, registry.create(Settings(), made.home.models))
    rows = methods.rows(questions_of(conversations, apart))
    methods.close()
    return [{"layout": "apart" if apart else "together", **row} for row in rows]


def leave_out(every: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return a row for all features and one for each that is left out."""
    rows = [{"without": "nothing", **figures(every, WEIGHTS)}]
    rows += [{"without": name, **figures(every, {**WEIGHTS, name: 0.0})} for name in WEIGHTS]
    groups = {
        "the neighbours' words": ("before", "before2", "after"),
        "all vectors": ("dense", "pooled"),
        "all words": ("own", "before", "before2", "after"),
    }
    for label, names in groups.items():
        rows.append({"without": label, **figures(every, {**WEIGHTS, **dict.fromkeys(names, 0.0)})})
    return rows


def held_out(every: Sequence[Asked], start: Weights) -> list[dict[str, Any]]:
    """Return, for each conversation, what weights tuned on the others bring to it."""
    rows = []
    rankings: list[list[str]] = []
    questions: list[Question] = []
    for name in sorted({one.conversation for one in every}):
        weights = ascended([one for one in every if one.conversation != name], start)
        inside = [one for one in every if one.conversation == name]
        rankings += [ranked(one, weights) for one in inside]
        questions += [one.question for one in inside]
        rows.append({"held out": name, **figures(inside, weights), "weights": weights})
    rows.append({"held out": "all", **measures(rankings, questions)})
    return rows


def main() -> None:
    """Measure, or tune."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("--tune", action="store_true", help="search better weights")
    asked = parser.parse_args()
    conversations = json.loads(Path(asked.data).read_text(encoding="utf-8"))
    every: list[Asked] = []
    plain: list[dict[str, Any]] = []
    for apart in (False, True):
        with bench(asked.home) as made:
            made.daemon.start()
            folders = load(made, lines_of(conversations), apart)
            made.daemon.stop()
            ctx, shelf = opened(made)
            every += gathered(ctx, shelf, questions_of(conversations, apart), folders)
            plain += baselines(made, conversations, apart)
            ctx.close()
            shelf.close()
    show("Plain methods", plain, asked.json)
    show("What is lost without a feature", leave_out(every), asked.json)
    if asked.tune:
        show("Tuned on the other conversations", held_out(every, WEIGHTS), asked.json)
        weights = ascended(every, WEIGHTS)
        show("Tuned on all", [{**figures(every, weights), "weights": weights}], asked.json)


if __name__ == "__main__":
    sys.exit(main())
