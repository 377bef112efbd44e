"""What the benchmarks of quality share: measures of a ranking, and the plain methods that the
pipeline is compared with, over the same texts, in the same run."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import ROOT  # noqa: F401 - puts the library on the path

from vector_memory.model import Embedder
from vector_memory.text import analysis

DEPTH = 10


@dataclass(frozen=True)
class Question:
    """A question, the ids of the texts that answer it, and which texts it is asked of ("" for all)."""

    text: str
    answers: frozenset[str]
    project: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Text:
    """A text to be found."""

    id: str
    text: str
    project: str = ""


def measures(rankings: Sequence[Sequence[str]], questions: Sequence[Question]) -> dict[str, float]:
    """Return the means over questions, in percent: the share of a question's answers among the first
    5 and 10, whether any is among the first 10, and the discounted cumulative gain (binary).

    Source: K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002.
    """
    pairs = list(zip(rankings, questions, strict=True))
    return {
        "R@5": _mean(_recall(ids, one.answers, 5) for ids, one in pairs),
        "R@10": _mean(_recall(ids, one.answers, 10) for ids, one in pairs),
        "hit@10": _mean(float(bool(one.answers & set(ids[:10]))) for ids, one in pairs),
        "nDCG@10": _mean(_ndcg(ids[:10], one.answers) for ids, one in pairs),
    }


def _mean(values: Any) -> float:
    every = list(values)
    return round(100 * sum(every) / len(every), 1) if every else 0.0


def _recall(ids: Sequence[str], answers: frozenset[str], k: int) -> float:
    return len(answers & set(ids[:k])) / len(answers)


def _ndcg(ids: Sequence[str], answers: frozenset[str]) -> float:
    gained = sum(1 / math.log2(rank + 2) for rank, one in enumerate(ids) if one in answers)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(len(ids) or 1, len(answers))))


class Baselines:
    """BM25 alone, vectors alone, and LanceDB's own hybrid search, over the same texts."""

    def __init__(self, texts: Sequence[Text], embedder: Embedder) -> None:
        self._texts = texts
        self._embedder = embedder
        self._vectors = embedder.embed_documents([one.text for one in texts])
        self._folder = tempfile.TemporaryDirectory(prefix="vector-memory-baseline-")
        self._table = self._make_table()

    def methods(self) -> dict[str, Callable[[Question], list[str]]]:
        """Return what there is to compare with, by name."""
        return {
            "BM25 alone": self._bm25,
            "vectors alone": self._dense,
            "LanceDB hybrid (RRF)": self._hybrid,
        }

    def rows(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Return a row of figures for each method."""
        return [
            {"method": name, **measures([rank(one) for one in questions], questions)}
            for name, rank in self.methods().items()
        ]

    def close(self) -> None:
        """Remove the scratch table."""
        self._folder.cleanup()

    def _make_table(self) -> Any:
        import lancedb
        import pyarrow as pa

        rows = [
            {
                "id": one.id,
                "project": one.project,
                "text": one.text,
                "lexical": analysis.lexical(one.text),
                "vector": vector,
            }
            for one, vector in zip(self._texts, self._vectors, strict=True)
        ]
        dim = self._vectors.shape[1]
        schema = pa.schema(
            [
                *(pa.field(name, pa.string()) for name in ("id", "project", "text", "lexical")),
                pa.field("vector", pa.list_(pa.float32(), dim)),
            ]
        )
        table = lancedb.connect(self._folder.name).create_table("texts", rows, schema=schema)
        # The text with LanceDB's own defaults for English; the analysed form as this project has it.
        table.create_fts_index("text", with_position=False)
        table.create_fts_index(
            "lexical", base_tokenizer="whitespace", stem=False, remove_stop_words=False,
            lower_case=False, ascii_folding=False, with_position=False,
        )  # fmt: skip
        return table

    def _limited(self, query: Any, question: Question) -> list[str]:
        if question.project:
            # The project's name is the benchmark's own, no user's text.
            query = query.where(f"project = '{question.project}'", prefilter=True)
        return [row["id"] for row in query.limit(DEPTH).to_list()]

    def _bm25(self, question: Question) -> list[str]:
        words = " ".join(analysis.query_terms(question.text))
        query = self._table.search(words, query_type="fts", fts_columns="lexical")
        return self._limited(query.select(["id", "_score"]), question)

    def _dense(self, question: Question) -> list[str]:
        scores = self._vectors @ self._embedder.embed_query(question.text)
        if question.project:
            inside = np.array([one.project == question.project for one in self._texts])
            scores = np.where(inside, scores, -2.0)
        return [self._texts[int(place)].id for place in np.argsort(-scores)[:DEPTH]]

    def _hybrid(self, question: Question) -> list[str]:
        query = self._table.search(query_type="hybrid", fts_columns="text")
        query = query.vector(self._embedder.embed_query(question.text)).text(question.text)
        return self._limited(query.distance_type("cosine"), question)
