"""Import of JSON lines: what a line says of how a memory ages and who may see it counts, or the line is refused by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, exported
from talk import transcript

from vector_memory.model import Scope, Status

IBEX = "The ibex vault combination hides behind the painting."
HONOURED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"sensitivity": "restricted"}, {"sensitivity": "restricted"}),
    ({"sensitivity": "Confidential", "jurisdiction": "EU"}, {"sensitivity": "confidential", "jurisdiction": "EU"}),
    ({"due": "2026-12-24"}, {"temporal": "deadline", "due_on": "2026-12-24"}),
    ({"expires": "2026-12-24T00:00:00+00:00"}, {"expires_at": "2026-12-24T00:00:00+00:00"}),
    ({"expires_at": "2026-12-24T00:00:00+00:00"}, {"expires_at": "2026-12-24T00:00:00+00:00"}),
    (
        {"valid_from": "2026-05-01T00:00:00+00:00", "valid_until": "2026-12-24T00:00:00+00:00"},
        {"valid_from": "2026-05-01T00:00:00+00:00", "valid_until": "2026-12-24T00:00:00+00:00"},
    ),
    ({"every": "weekly"}, {"temporal": "periodic", "every": "weekly"}),
    ({"half_life_days": 14}, {"temporal": "decaying", "half_life_days": 14}),
    ({"temporal": "decaying"}, {"temporal": "decaying"}),
    ({"temporal": "periodic", "extra": {"every": "monthly"}}, {"temporal": "periodic", "every": "monthly"}),
]  # fmt: skip
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"sensitivity": "top secret"}, "sensitivity"),
    ({"sensitivity": ["restricted"]}, "sensitivity"),
    ({"jurisdiction": "Mars"}, "jurisdiction"),
    ({"due": "when it rains"}, "due"),
    ({"expires": "2020-01-01"}, "2020-01-01"),
    ({"valid_until": "never mind"}, "valid_until"),
    ({"every": "full moon"}, "every"),
    ({"half_life_days": "long"}, "half_life_days"),
    ({"temporal": "sometimes"}, "temporal"),
]


def brought(house: ServiceHouse, folder: Path, *lines: dict[str, Any], **more: Any) -> Any:
    path = folder / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return door(house.ctx, "import", {"path": str(path), "global": True, "cwd": "/", **more})


def stored(house: ServiceHouse) -> list[dict[str, Any]]:
    memories: list[dict[str, Any]] = door(house.ctx, "list", {"global": True})["memories"]
    return memories


@pytest.mark.parametrize(("said", "expected"), HONOURED)
def test_what_a_line_says_counts(
    house: ServiceHouse, tmp_path: Path, said: dict[str, Any], expected: dict[str, Any]
) -> None:  # fmt: skip
    done = brought(house, tmp_path, {"text": IBEX, **said})
    assert (done["stored"], done["errors"]) == (1, [])
    (memory,) = stored(house)
    assert {name: memory[name] for name in expected} == expected


@pytest.mark.parametrize(("said", "named"), REFUSED)
def test_what_does_not_count_is_refused_by_name(
    house: ServiceHouse, tmp_path: Path, said: dict[str, Any], named: str
) -> None:
    done = brought(house, tmp_path, {"text": IBEX, **said}, {"text": "The gnu token is rotated."})
    assert (done["stored"], done["skipped"]) == (1, 1)
    assert named in done["errors"][0]["error"]


def test_a_line_of_an_export_without_its_project_keeps_its_level_and_its_end(
    house: ServiceHouse, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    house.remember(IBEX, other, sensitivity="restricted", expires="2027-01-05", half_life_days=9)
    (line,) = exported(house.ctx, {"project": str(other)})
    plain = json.loads(json.dumps(line, default=str))
    lost = {name: value for name, value in plain.items() if not name.startswith("project")}
    brought(house, tmp_path, lost)
    (memory,) = stored(house)
    assert (memory["sensitivity"], memory["half_life_days"]) == ("restricted", 9)
    assert memory["expires_at"] == plain["expires_at"].replace(" ", "T")


def test_no_line_makes_what_is_there_less_sensitive(house: ServiceHouse, tmp_path: Path) -> None:
    """A repeated text takes over the stricter level, and a date where it has none; of others' lines a level counts, but none makes it public."""
    brought(house, tmp_path, {"text": IBEX, "sensitivity": "confidential"})
    brought(house, tmp_path, {"text": IBEX, "sensitivity": "public", "due": "2026-12-24"})
    (memory,) = stored(house)
    assert (memory["sensitivity"], memory["due_on"]) == ("confidential", "2026-12-24")
    brought(house, tmp_path, {"text": IBEX, "sensitivity": "restricted", "every": "weekly"})
    (memory,) = stored(house)
    assert (memory["sensitivity"], memory["due_on"]) == ("restricted", "2026-12-24")
    brought(
        house,
        tmp_path,
        {"text": "A yak.", "sensitivity": "restricted", "every": "moon"},
        foreign=True,
    )
    assert house.ctx.global_shelf().journal.count(Scope(levels=("restricted",))) == 2
    for more in ({"foreign": True}, {"actor": "agent"}):
        brought(house, tmp_path, {"text": f"A gnu: {more}", "sensitivity": "public"}, **more)
    assert house.ctx.global_shelf().journal.count(Scope(levels=("public",))) == 0


def test_a_second_import_of_an_export_leaves_what_was_loosened_since(
    house: ServiceHouse, tmp_path: Path
) -> None:
    id = house.remember(IBEX, None, **{"global": True, "sensitivity": "restricted"})["id"]
    line = json.loads(json.dumps(exported(house.ctx, {"global": True})[0], default=str))
    door(house.ctx, "edit", {"id": id, "sensitivity": "internal"})
    brought(house, tmp_path, line)
    (memory,) = stored(house)
    assert "sensitivity" not in memory


@pytest.mark.parametrize("more", [{"foreign": True}, {"actor": "agent"}])
def test_what_others_wrote_makes_nothing_of_the_users_own_more_sensitive(
    house: ServiceHouse, tmp_path: Path, more: dict[str, Any]
) -> None:
    """Else a file hid the user's rules by repeating them; what others wrote before it does."""
    asked = {"global": False, "project": str(tmp_path), "cwd": str(tmp_path), **more}
    id = house.remember(IBEX, tmp_path)["id"]
    line = {"text": IBEX, "sensitivity": "restricted", "jurisdiction": "EU"}
    assert brought(house, tmp_path, line, **asked)["merged"] == 1
    memory = door(house.ctx, "get", {"id": id})["memory"]
    assert "sensitivity" not in memory and "jurisdiction" not in memory
    yak = "The yak grazes beside the vault."
    for level in ("internal", "restricted"):
        brought(house, tmp_path, {"text": yak, "sensitivity": level}, **asked)
    (hidden,) = house.ctx.global_shelf().journal.iter_memories(Scope(levels=("restricted",)))
    assert hidden.text == yak


DUE = {"text": "Jane renews the licence of the scanner.", "due": "2026-05-20", "kind": "todo"}


def test_a_second_import_leaves_a_date_that_was_moved_since(
    house: ServiceHouse, tmp_path: Path
) -> None:
    brought(house, tmp_path, DUE)
    (memory,) = stored(house)
    door(house.ctx, "edit", {"id": memory["id"], "due": "2026-06-30"})
    assert brought(house, tmp_path, DUE)["merged"] == 1
    (memory,) = stored(house)
    assert memory["due_on"] == "2026-06-30"


def test_what_was_due_is_taken_though_it_is_over(house: ServiceHouse, tmp_path: Path) -> None:
    """Once, however often the file is read; and what has no date does not end by it."""
    house.pass_time(days=60)
    house.remember(IBEX, None, **{"global": True})
    lines = [DUE, {"text": IBEX, "temporal": "deadline", "valid_until": "2020-01-01"}]
    journal = house.ctx.global_shelf().journal
    for n in range(3):
        done = brought(house, tmp_path, *lines)
        assert (done["stored"], done["merged"], done["skipped"]) == (n == 0, 1 + (n > 0), 0)
        if n == 1:
            # As the job does it.
            for memory in journal.outdated(house.time, 5):
                journal.update(replace(memory, status=Status.SUPERSEDED))
    over = list(journal.iter_memories(Scope(), statuses=(Status.SUPERSEDED,)))
    assert [(one.text, str(one.valid_until)[:10]) for one in over] == [(DUE["text"], "2026-05-21")]
    assert [one.text for one in journal.iter_memories(Scope())] == [IBEX]


def test_what_a_line_makes_restricted_is_told_by_no_passage(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Of what was there already, as with an edit; what holds none of its words stays."""
    talk = [
        ("Where does the ibex hide?", f"We decided: {IBEX} {IBEX[:-1]}, said Jane."),
        ("Which cache is off?", "The root cause of the delay was the old cache."),
    ]
    captured_of(house.ctx, str(transcript(tmp_path, talk)), final=True)
    house.remember(IBEX, tmp_path, verbatim=True)
    line = {"text": IBEX, "sensitivity": "restricted"}
    asked = {"global": False, "project": str(tmp_path), "cwd": str(tmp_path)}
    done = brought(house, tmp_path, line, **asked)
    assert done["merged"] == 1 and done["raised"]
    left = list(house.ctx.global_shelf().journal.iter_memories(Scope().up_to("internal")))
    assert left and not any("ibex vault" in one.text for one in left)
    assert "raised" not in brought(house, tmp_path, line, **asked)
