"""No project is ever told what belongs to another, however alike both are and whatever is asked."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neighbourhood
import pytest
from service_house import ServiceHouse, captured_of, door, exported, exported_notes, hook_question
from talk import transcript

from vector_memory import redact
from vector_memory.client import cold
from vector_memory.index.fixes.errors import signature
from vector_memory.model import Memory
from vector_memory.service.capture import session_summary, session_topics
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.tools import failure_advice

COUNT = 32
OWN_STORES = ("ap", "APP")
ERROR = "ValueError: the ledger has no such page"
TEXT = "The ledger keeps its pages in SQLite, in WAL mode, since readers must not wait"
TALK = [
    (f"Let's keep the pages of the ledger in SQLite for now, part {n}.", f"The ledger pages are kept in SQLite, part {n}. " * 8)
    for n in range(3)
]  # fmt: skip
QUESTIONS = (
    "Where does the ledger keep its pages?",
    "what did we decide about SQLite?",
    "ledger.py WAL mode",
)


class Town:
    """Projects with the same memories, each with a word of its own in every text."""

    def __init__(self, folder: Path) -> None:
        self.house = ServiceHouse(folder)
        self.folders = neighbourhood.build(folder / "projects", COUNT)
        self.words = {str(one): f"zq{number}qz" for number, one in enumerate(self.folders)}
        for one in self.folders:
            if one.name in OWN_STORES:
                door(self.house.ctx, "init", {"dir": str(one)})
        for one in self.folders:
            self._fill(one, self.words[str(one)])
        self.house.follow()
        for session in ("s1", "talk"):
            session_topics.derive(self.house.ctx, [session])
            session_summary.finish(self.house.ctx, session)
        self.house.follow()

    def _fill(self, folder: Path, word: str) -> None:
        """Import a conversation, remember, link, fail and mend, and talk, in a session of the same name."""
        ctx = self.house.ctx
        rows = [
            {"text": f"{TEXT}, said {n} {word}", "session": "s1", "seq": n, "id": f"line{n}",
             "speaker": "Ada", "kind": "decision" if n else "question"}
            for n in range(3)
        ]  # fmt: skip
        path = folder.parent / f"{word}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        request = {"path": str(path), "project": str(folder), "cwd": "/"}
        assert door(ctx, "import", request)["stored"] == 3
        asked = {"project": str(folder), "tags": ["ledger"], "priority": "HIGH"}
        first = door(ctx, "remember", {"text": f"{TEXT} {word}", **asked})["id"]
        text = f"Backups of the ledger run at night {word}"
        other = door(ctx, "remember", {"text": text, "project": str(folder)})["id"]
        door(
            ctx,
            "link",
            {"id": first, "other": other, "from": first, "to": other, "relation": "relates_to"},
        )
        place = ctx.place(str(folder))
        fix = Memory(
            id=redact.clean(f"{word:f>32}").text[:32], text=redact.clean(f"ERROR {ERROR}. FIX {word}").text,
            title=redact.clean(ERROR).text, created_at=self.house.time, project=place.id, kind="solution",
            collection="episodes", tags=("fix", f"sig:{signature(ERROR, 'make')}"),
            extra={"signature": signature(ERROR, "make"), "entities": [f"concept:{word}", "file:ledger.py"]},
        )  # fmt: skip
        ctx.shelf_of(place).journal.add([fix])
        said = [(f"{prompt} {word}", f"{answer} {word}") for prompt, answer in TALK]
        talk = Path(transcript(folder, said, "talk"))
        # Another exchange in another project, though the session is called the same.
        talk.write_text(talk.read_text().replace('"talk-', f'"{word}-'))
        captured_of(ctx, str(talk), str(folder), final=True)

    def assert_own(self, folder: Path, told: Any, least: bool = True) -> None:
        """Fail where what was told has another project's word, or none of its own."""
        words = set(
            re.findall(r"zq\d+qz", told if isinstance(told, str) else json.dumps(told, default=str))
        )
        assert words <= {self.words[str(folder)]}, folder
        assert words or not least, folder


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """The projects, filled once."""
    made = Town(tmp_path_factory.mktemp("town"))
    yield made
    made.house.close()


def test_they_are_projects_of_their_own(town: Town) -> None:
    """Each has an id that no other has."""
    ids = {town.house.ctx.place(str(one)).id for one in town.folders}
    assert len(ids) == COUNT


def test_recall_within_limits(town: Town) -> None:
    """Of a session, a tag, a kind, an entity."""
    for folder in town.folders:
        asked = {"query": QUESTIONS[0], "project": str(folder), "k": 50, "context": 5}
        for limit in (
            {"session": "s1"},
            {"tag": "ledger"},
            {"kind": "decision"},
            {"entity": "ledger.py"},
        ):
            town.assert_own(folder, door(town.house.ctx, "recall", {**asked, **limit}))


@pytest.mark.parametrize("question", QUESTIONS)
def test_recall_and_prompts(town: Town, question: str) -> None:
    """With neighbours, history and topics; with a daemon and without."""
    ctx = town.house.ctx
    for folder in town.folders:
        asked = {
            "query": question,
            "project": str(folder),
            "k": 50,
            "context": 5,
            "history": True,
            "by_topic": True,
        }
        town.assert_own(folder, door(ctx, "recall", asked))
        told = prompt_recall.on_prompt(
            ctx, hook_question(ctx, f"new-{folder}-{question}", str(folder), question)
        )
        town.assert_own(folder, told, least=False)
        found = cold.notes(ctx.home, question, str(folder), "cold", time.monotonic() + 5)
        town.assert_own(folder, " ".join(one.head + one.text for one in found), least=False)


def test_starts_compactions_and_failures(town: Town) -> None:
    """A session whose name others have is told of itself alone."""
    ctx = town.house.ctx
    for folder in town.folders:
        for source in ("startup", "compact", "clear"):
            town.assert_own(
                folder,
                session_start.on_start(ctx, hook_question(ctx, "talk", str(folder), source=source)),
            )
        ctx.state.clear_shown("f")
        town.assert_own(
            folder,
            failure_advice.on_failure(ctx, hook_question(ctx, "f", str(folder)), ERROR, "make"),
        )
        session_start.save_snapshot(ctx, hook_question(ctx, "s", str(folder)), str(folder))
        town.assert_own(folder, Path(ctx.home.snapshot(str(folder))).read_text())


def test_lists_topics_entities_links_exports(town: Town) -> None:
    """Whatever shows many memories at once."""
    ctx = town.house.ctx
    for folder in town.folders:
        here = {"project": str(folder), "k": 1_000}
        listed = door(ctx, "list", here)
        town.assert_own(folder, listed)
        told = door(ctx, "topics", here)
        assert {one["session"] for one in told["sessions"]} == {"s1", "talk"}
        town.assert_own(folder, told)
        town.assert_own(folder, door(ctx, "entities", here))
        town.assert_own(folder, exported(ctx, here))
        town.assert_own(folder, exported_notes(ctx, here))
        town.assert_own(folder, door(ctx, "forget", {**here, "query": "ledger", "dry_run": True}))
        for one in listed["memories"]:
            town.assert_own(folder, door(ctx, "links", {"id": one["id"]}), least=False)


def test_a_worktree_is_its_repositorys_project(town: Town, tmp_path: Path) -> None:
    """It is told the same; a folder that only looks like one is not."""
    main = next(one for one in town.folders if one.name == "remote")
    tree = neighbourhood.worktree(main, tmp_path / "tree")
    found = door(town.house.ctx, "recall", {"query": QUESTIONS[0], "project": str(tree)})
    town.assert_own(main, found)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "remote").mkdir()
    asked = {"query": QUESTIONS[0], "project": str(tmp_path / "plain" / "remote")}
    assert door(town.house.ctx, "recall", asked)["hits"] == []
