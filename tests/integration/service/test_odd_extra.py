"""What was noted with a memory may be of anybody's making, as in an import: what has another form tells nothing, and
stops nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, exported, hook_question

from vector_memory.service.capture.find_ideas import _box_states
from vector_memory.service.inject import session_start

RULE = "We always run the tests with just check before a push."
NOTE = "The lock file is in the root."


def imported(house: ServiceHouse, app: Path, text: str, kind: str, extra: dict[str, Any]) -> None:
    """Store a memory by an export of ours that says so of it."""
    door(house.ctx, "remember", {"text": "We use pnpm in this repo.", "kind": kind, "cwd": str(app)})  # fmt: skip
    (line,) = exported(house.ctx, {"all_projects": True})
    path = app / "x.jsonl"
    path.write_text(json.dumps({**line, "id": "ab" * 16, "text": text, "extra": extra}) + "\n")
    door(house.ctx, "import", {"path": str(path), "cwd": str(app)})


def test_a_start_tells_what_was_said_at_no_time(house: ServiceHouse, app: Path) -> None:
    sources = [{"session": f"s{number}", "at": "unknown"} for number in range(4)]
    imported(house, app, RULE, "preference", {"sources": sources})
    assert RULE in session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))


@pytest.mark.parametrize("other", [5, {"/x.md": 1}, [3, "/x.md"]])
def test_notes_are_imported_beside_it(house: ServiceHouse, app: Path, other: object) -> None:
    imported(house, app, NOTE, "note", {"also_in": other})
    path = app / "n.md"
    path.write_text(f"# Notes\n\n- {NOTE}\n- The other thing is in the attic.\n")
    asked = {"paths": [str(path)], "base": str(app), "cwd": str(app)}
    assert door(house.ctx, "import_notes", asked)["stored"] == 1


@pytest.mark.parametrize("box", [5, {"TODO.md": []}, {"TODO.md": 5}, {"TODO.md": ["x"]}, {"TODO.md": ["x", 1]}, None])  # fmt: skip
def test_a_box_of_another_form_is_in_no_list(house: ServiceHouse, app: Path, box: object) -> None:
    imported(house, app, NOTE, "todo", {"box": box})
    (memory,) = [one for shelf in house.ctx.all_shelves() for one in shelf.journal.after(0, 9) if one.text == NOTE]  # fmt: skip
    assert _box_states(memory) == {}
