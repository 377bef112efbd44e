"""Coming back to a project that lay for weeks: is the first task told what helps, and nothing where nothing does?

All published transcripts are backfilled at their times. Each task of FILE, as a developer would type it, is the
first prompt of a new session in its project, `rest_days` after the project's newest memory, and goes through the
real hook. Its candidates were labelled by reading, as those of `relevance.py` are: 2 would help with the task, 1 is
on topic, 0 is noise, -1 misleads. A line of FILE is a JSON object with `id`, `project`, `folder`, `prompt`,
`rest_days` and `candidates` (each `text`, `session`, `kind`, `label`); without these, all is written down to be
labelled (`--features`). With `--transcripts` these are backfilled in the place of the published ones, such as those
of invented projects; a task with `first_in_session` false comes as a session's second prompt.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from common import show
from questions import filled
from relevance import SHARES, Answer, features_of, label_of, noted, save
from replay import House, data_key, known_of, labelled_options, read_lines, split_rows, unpacked

from vector_memory.retrieve import gate
from vector_memory.service.base.asker import ProjectAsker, asker_at
from vector_memory.service.inject.prompt_recall import session_before
from vector_memory.text import fence

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
FOLDERS = ("transcripts", "entireio__external-agents", "entireio__skills")
WRITTEN = 12
"""How many of the best candidates are written down."""


def answers(house: House, tasks: Sequence[dict[str, Any]]) -> Iterator[Answer]:
    """Put each task to its project when it has lain for as long as the task says, and yield what it was given."""
    for task in tasks:
        label = {"candidates": [], "beyond_8": [], **task}
        session = f"returning-{task['id']}"
        asker = asker_at(house.ctx, task["folder"])
        newest = session_before(asker, session) if asker else None
        if asker is None or newest is None:
            raise SystemExit(f"{task['id']}: nothing is known of {task['folder']}")
        house.now = EPOCH + timedelta(days=newest[1] + task["rest_days"])
        known = list(_candidates(house, asker, session, label))
        fields = {"session_id": session, "prompt": task["prompt"], "line": 0}
        path = os.path.join(house.ctx.home.root, session + ".jsonl")
        if not is_first(task):
            _talk_before(house, task["folder"], session, path)
        told = house.hook("UserPromptSubmit", task["folder"], transcript_path=path, **fields)
        yield Answer(
            id=task["id"],
            project=task["project"],
            session=session,
            prompt=task["prompt"],
            has_best=any(one["label"] == 2 for one in label["candidates"]),
            tokens=fence.tokens(told) if told else 0,
            notes=noted(house, told, label),
            candidates=known,
        )


def is_first(task: dict[str, Any]) -> bool:
    """Whether a task is the first prompt of its session."""
    return bool(task.get("first_in_session", True))


def _talk_before(house: House, folder: str, session: str, path: str) -> None:
    """Have a session say something that needs no memory."""
    stamp = house.now.isoformat()
    said = {
        "sessionId": session,
        "cwd": folder,
        "timestamp": stamp,
        "type": "user",
        "uuid": f"{session}-0",
    }
    content = {"role": "user", "content": "git status"}
    Path(path).write_text(json.dumps({**said, "message": content}) + "\n", encoding="utf-8")
    fields = {"session_id": session, "transcript_path": path}
    house.hook("UserPromptSubmit", folder, prompt="git status", **fields)
    house.hook("Stop", folder, last_assistant_message="Nothing to commit.", **fields)
    house.settle()


def _candidates(
    house: House, asker: ProjectAsker, session: str, label: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    moment = gate.Moment(house.now, is_first(label), session_before(asker, session))
    for hit in house.candidates(label["prompt"], asker, session)[:WRITTEN]:
        yield {
            **known_of(hit, house.now),
            "label": label_of(hit.memory, label),
            "gate": gate.features(hit, moment),
        }


def main() -> None:
    """Measure once."""
    parser = labelled_options(__doc__ or "")
    parser.add_argument("file", help="the tasks, as JSON lines")
    parser.add_argument("--transcripts", nargs="*", default=FOLDERS, help="folders of transcripts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vector-memory-eval-") as scratch:
        folder = asked.keep or scratch
        data = unpacked(asked.eval, folder)
        kept = os.path.join(folder, f"returning-{data_key(asked.eval)}")
        if not os.path.exists(os.path.join(kept, "filled")):
            filled(kept, data, asked.home, asked.transcripts).close()
        # What is told counts as shown: the kept memory stays as it is.
        root = os.path.join(scratch, "house")
        shutil.copytree(kept, root, symlinks=True)
        house = filled(root, data, asked.home, asked.transcripts)
        try:
            given = list(answers(house, read_lines(Path(asked.file))))
        finally:
            house.close()
    if asked.features:
        save(Path(asked.features), map(features_of, given))
    shares = {name: share for name, share in SHARES.items() if name != "with the start %"}
    show("Coming back", split_rows(given, lambda one: one.project, shares), asked.json)
    for title, helps in (("Where something helps", True), ("Where nothing does", False)):
        some = [one for one in given if one.has_best is helps]
        row = {"tasks": len(some), "told something": sum(bool(one.notes) for one in some)}
        show(title, [{**row, "told a 2": sum(2 in one.labels for one in some)}], asked.json)


if __name__ == "__main__":
    main()
