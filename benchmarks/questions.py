"""What is asked for: does a later session find what an earlier one said? All published transcripts are
backfilled, 240 questions are asked in other words than the passages have, each at its time, and it is
counted how often the exact answer, or one of its other wordings, stands in the first 1, 5 and 10 memories;
and for 80 prompts without an answer, how often something is relevant enough to be said all the same.

All projects are asked together, as `transcripts.py` does; with `--by-project`, each question is put to
the project that it is about.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from common import show
from replay import (
    House,
    Share,
    data_key,
    figures,
    known_of,
    labelled_options,
    moment,
    read_lines,
    split_rows,
    unpacked,
)

from vector_memory.index.reader import session_and_folder, transcripts_below
from vector_memory.retrieve.factors import least_relevance
from vector_memory.service.base import messages
from vector_memory.service.find.recall import RecallRequest
from vector_memory.service.memory.passages import in_context, turn_reader

DEPTHS = (1, 5, 10)
SINCE = 86_400.0
"""When a transcript was written to last, in seconds since 1970: long over."""


@dataclass(frozen=True)
class Asked:
    """A question as it was answered.

    Attributes:
        source: the workspace that it is about, "" for none.
        place: where the first memory that holds its answer stands, from 1; 0 for nowhere in the first ten.
        is_said: whether something of the first ten is relevant enough to be shown at a prompt.
        is_said_right: whether what holds the answer is.
    """

    id: str
    kind: str
    source: str
    place: int
    is_said: bool
    is_said_right: bool


def _within(depth: int) -> Share[Asked]:
    return Share(lambda one: 1 <= one.place <= depth, lambda one: 1)


SHARES: dict[str, Share[Asked]] = {
    **{f"@{depth} %": _within(depth) for depth in DEPTHS},
    "answer above the floor %": Share(lambda one: one.is_said_right, lambda one: 1),
}
SILENCE: dict[str, Share[Asked]] = {
    "something above the floor %": Share(lambda one: one.is_said, lambda one: 1),
}


class Examination:
    """All questions, put to one memory."""

    def __init__(self, house: House, data: str, by_project: bool) -> None:
        self._house = house
        self._data = data
        self._by_project = by_project

    def ask(self, question: dict[str, Any]) -> Asked:
        """Ask one question at its time, and return how it was answered."""
        self._house.now = _asked_at(question)
        request = self._request(question)
        hits = self._house.ask("recall", **request)["hits"]
        ctx = self._house.ctx
        asker = messages.asker_of(ctx, messages.read(RecallRequest, request))
        size = sum(shelf.size(asker.scope) for shelf in asker.shelves)
        least = least_relevance(ctx.settings.threshold, size)
        said = [hit["breakdown"]["relevance"] >= least for hit in hits]
        right = [holds(hit["text"], question) for hit in hits]
        return Asked(
            question["id"],
            question.get("subtype") or question["type"],
            question.get("workspace", ""),
            right.index(True) + 1 if True in right else 0,
            any(said),
            any(one and other for one, other in zip(said, right, strict=True)),
        )

    def features(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what the ranking knows of the best candidates of a question: `holds_answer` says of what
        `recall` would give back, which is the passage in its context, `holds_itself` of the memory alone."""
        self._house.now = _asked_at(question)
        request = messages.read(RecallRequest, self._request(question))
        asker = messages.asker_of(self._house.ctx, request)
        turns = [turn_reader(shelf) for shelf in asker.shelves]
        return {
            **{name: question.get(name) for name in ("id", "question", "type", "workspace")},
            "candidates": [
                {
                    **known_of(hit, self._house.now),
                    "holds_answer": holds(in_context(turns[hit.shelf], hit.memory).text, question),
                    "holds_itself": holds(hit.memory.text, question),
                }
                for hit in self._house.candidates(question["question"], asker)
            ],
        }

    def _request(self, question: dict[str, Any]) -> dict[str, Any]:
        request: dict[str, Any] = {"query": question["question"], "k": max(DEPTHS)}
        if self._by_project and question["gold"]:
            path = os.path.join(self._data, "transcripts", question["gold"][0]["file"])
            # One transcript names a relative folder; capture takes it as from here, too.
            return {**request, "project": os.path.realpath(session_and_folder(path)[1])}
        return {**request, "all_projects": True}


def holds(text: str, question: dict[str, Any]) -> bool:
    """Whether a text holds a question's answer in one of its exact wordings."""
    wordings = (question["answer"], *question.get("alt_answers", ()))
    return any(one and one in text for one in wordings)


def _asked_at(question: dict[str, Any]) -> datetime:
    if question.get("asked_at"):
        return moment(question["asked_at"])
    return datetime(2026, 8, 31, tzinfo=timezone.utc)


def filled(root: str, data: str, linked: str, folders: Sequence[str] = ("transcripts",)) -> House:
    """Return a house whose memory holds all transcripts of some folders of the data; one that was filled before
    is opened."""
    is_new = not os.path.exists(os.path.join(root, "filled"))
    house = House(root, linked)
    if is_new:
        paths = [os.path.join(data, folder) for folder in folders]
        for path in (one for folder in paths for one in transcripts_below(folder)):
            os.utime(path, (SINCE, SINCE))
        house.ask("backfill", paths=paths, wait=True)
        house.settle()
        Path(root, "filled").touch()
    return house


def measure(
    house: House, questions: Sequence[dict[str, Any]], data: str, by_project: bool, features: str
) -> list[Asked]:
    """Ask all questions, and return how they were answered; their candidates go to a file."""
    examination = Examination(house, data, by_project)
    if features:
        with open(features, "w", encoding="utf-8") as file:
            for question in questions:
                known = examination.features(question)
                file.write(json.dumps(known, ensure_ascii=False) + "\n")
    return [examination.ask(question) for question in questions]


def rows_by(
    answers: Sequence[Asked], group_of: Callable[[Asked], str], shares: dict[str, Share[Asked]]
) -> list[dict[str, Any]]:
    """Return a row for each group."""
    groups = dict.fromkeys(map(group_of, answers))
    return [
        figures(name, [one for one in answers if group_of(one) == name], shares) for name in groups
    ]


def main() -> None:
    """Measure once."""
    parser = labelled_options(__doc__ or "")
    parser.add_argument(
        "--by-project", action="store_true", help="ask each question's project alone"
    )
    parser.add_argument(
        "--answers", default="", help="a file for how each was answered, as JSON lines"
    )
    asked = parser.parse_args()
    questions = read_lines(Path(asked.eval, "labels", "questions.jsonl"))
    with tempfile.TemporaryDirectory(prefix="vector-memory-eval-") as scratch:
        data = unpacked(asked.eval, asked.keep or scratch)
        root = os.path.join(scratch, "house")
        kept = os.path.join(asked.keep or scratch, f"questions-{data_key(asked.eval)}")
        if not os.path.exists(os.path.join(kept, "filled")):
            filled(kept, data, asked.home).close()
        # What is asked counts as used: the kept memory stays as it is.
        shutil.copytree(kept, root, symlinks=True)
        house = filled(root, data, asked.home)
        try:
            answers = measure(house, questions, data, asked.by_project, asked.features)
        finally:
            house.close()
    if asked.answers:
        with open(asked.answers, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one)) + "\n" for one in answers)
    real = [one for one in answers if one.source]
    scope = "each project alone" if asked.by_project else "all projects together"
    show(f"Asked for, {scope}", split_rows(real, lambda one: one.source, SHARES), asked.json)
    show("By type", rows_by(real, lambda one: one.kind, SHARES), asked.json)
    nothing = [one for one in answers if not one.source]
    show("Without an answer", rows_by(nothing, lambda one: one.kind, SILENCE), asked.json)


if __name__ == "__main__":
    main()
