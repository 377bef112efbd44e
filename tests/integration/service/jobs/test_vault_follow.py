"""vault-follow: a large vault is followed a piece at a time, and only what changed is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.service.jobs import runner, vault_follow
from vector_memory.service.transfer import import_notes, vault

NOTES = 1_100


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path)
    folder = tmp_path / "vault"
    folder.mkdir()
    made.ctx.settings = replace(made.ctx.settings, vault=str(folder))
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def write(folder: Path, n: int, words: str = "is quiet") -> Path:
    path = folder / f"note{n:05}.md"
    path.write_text(f"# Note {n}\n\n- The heron number {n} {words} at night.\n", encoding="utf-8")
    return path


def run(house: ServiceHouse, **more: Any) -> dict[str, Any]:
    return door(house.ctx, "run_job", {"name": "vault-follow", **more})


def test_more_than_a_thousand_notes_are_followed(house: ServiceHouse, folder: Path) -> None:
    """A question is answered meanwhile, the rest is read when nobody waits, and all of it once."""
    for n in range(NOTES):
        write(folder, n)
    dry = run(house, dry_run=True)["report"]
    assert dry["vault"] == {"notes": str(NOTES), "waiting": str(NOTES)}
    runner.due_jobs(house.ctx)
    asked = door(house.ctx, "rag", {"query": "heron", "k": 3, "global": True})
    assert asked["vault"]["notes"] == NOTES
    assert asked["hits"]
    done = run(house)
    assert (done["outcome"], done["report"]["vault"]["waiting"]) == ("ok", "0")
    assert house.ctx.global_shelf().journal.count() == NOTES
    again = run(house)["report"]
    assert (again["stored"], again["updated"]) == (0, 0)


def test_an_obsidian_vault_has_links_and_templates(house: ServiceHouse, folder: Path) -> None:
    """A hit can be opened where it stands; what is in the folder of templates is no note."""
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "templates.json").write_text('{"folder": "My Templates"}')
    (folder / "My Templates").mkdir()
    write(folder / "My Templates", 1, "is a template")
    path = write(folder, 2)
    asked = door(house.ctx, "rag", {"query": "heron", "global": True})
    (hit,) = asked["hits"]
    assert hit["link"] == "obsidian://open?path=" + str(path).replace("/", "%2F")
    assert asked["vault"]["notes"] == 1


def test_what_a_question_leaves_is_read_soon(
    house: ServiceHouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is due at once then, and does a piece at each step."""
    monkeypatch.setattr(vault, "AT_ONCE", 10)
    monkeypatch.setattr(vault, "FOLLOW_S", 0.0)
    monkeypatch.setattr(vault_follow, "STEP_S", 0.0)
    follow = vault.follow
    monkeypatch.setattr(
        vault, "follow", lambda ctx, progress, s=0.0, dry=False: follow(ctx, progress, s, dry)
    )
    for n in range(35):
        write(folder, n)
    runner.due_jobs(house.ctx)
    asked = door(house.ctx, "rag", {"query": "heron", "global": True})
    assert (asked["vault"]["stored"], asked["vault"]["waiting"]) == (10, 25)
    steps = 0
    while runner.advance(house.ctx):
        steps += 1
    assert steps == 3
    assert house.ctx.global_shelf().journal.count() == 35


def test_only_what_changed_is_read(
    house: ServiceHouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by the next daemon."""
    for n in range(5):
        write(folder, n)
    run(house)
    read: list[str] = []
    reader = import_notes._NotesImport
    take = reader._read
    monkeypatch.setattr(
        reader, "_read", lambda self, path, *more: (read.append(path), take(self, path, *more))
    )
    changed = write(folder, 3, "is loud")
    os.utime(changed, (house.time.timestamp() + 60,) * 2)
    assert run(house)["report"]["updated"] == 1
    assert read == [str(changed)]
    (folder / "note00004.md").unlink()
    write(folder, 3, "is loud again")
    run(house)
    with house.ctx.state._connections.reading() as connection:
        assert connection.execute("SELECT count(*) FROM followed").fetchone()[0] == 4


def test_a_note_that_cannot_be_read_keeps_none_of_the_others(
    house: ServiceHouse, folder: Path
) -> None:
    write(folder, 1)
    (folder / "link.md").symlink_to("/nowhere")
    (folder / "huge.md").write_bytes(b"x" * (3 << 20))
    done = run(house)
    assert done["outcome"] == "ok"
    assert house.ctx.global_shelf().journal.count() == 1


def test_a_decision_record_that_names_its_successor(house: ServiceHouse, folder: Path) -> None:
    """One that comes later is read together with those beside it."""
    old = folder / "0001-old.md"
    old.write_text("# 1. Use files\n\nStatus: accepted\n\nWe use files.\n")
    run(house)
    old.write_text("# 1. Use files\n\nStatus: superseded by 0002\n\nWe use files.\n")
    (folder / "0002-new.md").write_text("# 2. Use sockets\n\nStatus: accepted\n\nWe use sockets.\n")
    os.utime(old, ((house.time + timedelta(hours=1)).timestamp(),) * 2)
    assert run(house)["outcome"] == "ok"


def test_the_state_holds_no_name_of_a_note(house: ServiceHouse, folder: Path) -> None:
    """What is purged from memory must not stand there either."""
    (folder / "Xanthippe.md").write_text("# Xanthippe\n\n- She is loud at night.\n")
    run(house)
    house.ctx.state.scrub(whole=True)
    assert b"Xanthippe" not in Path(house.ctx.home.state_db).read_bytes()


def test_no_vault_or_one_that_is_gone(house: ServiceHouse, folder: Path) -> None:
    """A disk that is not there now makes nothing go; it is looked for again."""
    write(folder, 1)
    run(house)
    folder.rename(folder.with_name("elsewhere"))
    done = run(house)
    assert (done["outcome"], "no folder" in done["message"]) == ("waits", True)
    assert house.ctx.global_shelf().journal.count() == 1
    house.ctx.settings = replace(house.ctx.settings, vault="")
    assert "config set vault" in run(house)["message"]
