"""Import, backfill, markers and notes stay below the path that was named, and wait for no pipe."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, exported

from vector_memory import projects
from vector_memory.client import cold
from vector_memory.daemon import verbs
from vector_memory.errors import BadInputError, StoreTamperedError, VectorMemoryError
from vector_memory.index import reader
from vector_memory.service.base import client_memory
from vector_memory.service.capture import backfill, read_session, session_summary, store_session
from vector_memory.service.transfer import import_notes
from vector_memory.system.files import RefusedError

SECRET = "what lies outside"


class Unheard:
    """A client that does not listen."""

    def progress(self, done: int, total: int, doing: str) -> None:
        """Say nothing."""


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A folder to import from; beside it lies what nobody named."""
    folder = tmp_path.resolve() / "named"
    folder.mkdir()
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "talk.jsonl").write_bytes(talk(SECRET))
    (outside / "note.md").write_text(SECRET)
    (outside / "lines.jsonl").write_text(json.dumps({"text": SECRET}))
    return folder


def talk(words: str) -> bytes:
    """Return a transcript of one prompt."""
    line = {"type": "user", "uuid": words, "sessionId": words[:8], "cwd": "/x",
            "timestamp": "2026-05-03T10:00:00Z",
            "message": {"role": "user", "content": f"We use {words}."}}  # fmt: skip
    return json.dumps(line).encode() + b"\n"


def lead_out(named: Path) -> None:
    """Put links of every kind into a folder, and things that are no files."""
    outside = named.parent / "outside"
    for name in ("talk.jsonl", "note.md", "lines.jsonl"):
        os.symlink(outside / name, named / name)
        os.symlink(Path("..", "outside", name), named / f"relative-{name}")
    os.symlink(outside, named / "folder")
    os.symlink(named, named / "circle")
    os.symlink("/dev/zero", named / "zero.jsonl")
    for ending in ("jsonl", "md"):
        os.mkfifo(named / f"pipe.{ending}")
        with zipfile.ZipFile(named / f"archive.{ending}", "w") as made:
            made.writestr("inside", SECRET)
        with open(named / f"hole.{ending}", "wb") as file:
            file.truncate(1 << 40)


def told(done: dict[str, Any]) -> set[str]:
    """Return the names of the files that an answer tells of."""
    return {os.path.basename(one["file"]) for one in done["errors"]}


def everything(house: ServiceHouse) -> str:
    """Return all that is stored."""
    return json.dumps(exported(house.ctx, {"all_projects": True}))


def test_a_backfill_stays_below_its_folder(house: ServiceHouse, named: Path) -> None:
    """What leads out is left out and told; what is there is read."""
    (named / "own.jsonl").write_bytes(talk("what lies inside"))
    os.utime(named / "own.jsonl", (1, 1))
    lead_out(named)
    done = door(house.ctx, "backfill", {"paths": [str(named)]})
    stored = everything(house)
    assert ("inside" in stored, SECRET in stored) == (True, False)
    assert done["files"] == 1
    assert told(done) >= {"talk.jsonl", "folder", "circle", "zero.jsonl", "pipe.jsonl",
                          "archive.jsonl", "hole.jsonl"}  # fmt: skip


def test_notes_stay_below_their_folder(house: ServiceHouse, named: Path) -> None:
    """The same for Markdown."""
    (named / "own.md").write_text("what lies inside")
    lead_out(named)
    request = {"paths": [str(named)], "global": True}
    done = door(house.ctx, "import_notes", request)
    stored = everything(house)
    assert ("inside" in stored, SECRET in stored) == (True, False)
    assert told(done) >= {"note.md", "pipe.md", "archive.md", "hole.md"}


@pytest.mark.parametrize(
    "name", ["talk.jsonl", "lines.jsonl", "note.md", "pipe.jsonl", "zero.jsonl", "archive.jsonl",
             "hole.jsonl", "archive.md"]
)  # fmt: skip
def test_what_is_named_itself_is_refused_with_a_reason(
    house: ServiceHouse, named: Path, name: str
) -> None:
    """By import of lines and of notes, and by backfill: an error that says what to do."""
    lead_out(named)
    path = str(named / name)
    asked: dict[str, Any] = {"paths": [path], "path": path, "global": True, "wait": False}
    for take in (
        lambda: verbs.LONG["import"](house.ctx, asked, Unheard()),  # type: ignore[arg-type]
        lambda: door(house.ctx, "import_notes", asked),
        lambda: door(house.ctx, "backfill", asked),
    ):
        with pytest.raises(VectorMemoryError) as caught:
            take()
        assert caught.value.hint
    assert SECRET not in everything(house)


def test_what_is_no_transcript_is_said_to_be_none(house: ServiceHouse, named: Path) -> None:
    """Rather than to do nothing, silently."""
    (named / "other.jsonl").write_text('{"text": "x"}\n')
    with pytest.raises(BadInputError, match="no transcript"):
        door(house.ctx, "backfill", {"paths": [str(named / "other.jsonl")]})


def test_a_folder_that_becomes_a_link_is_not_followed(
    house: ServiceHouse, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swapped after its files were found: each is an error, and nothing is read."""
    inside = named / "inside"
    inside.mkdir()
    for name in ("talk.jsonl", "note.md"):
        (inside / name).write_bytes(talk("what lies inside"))
    found = reader.transcripts_below(str(named))
    assert len(found) == 1
    os.rename(inside, named / "gone")
    os.symlink(named.parent / "outside", inside)
    with pytest.raises(RefusedError):
        read_session.read(read_session.ReadRequest(found[0], final=True))
    monkeypatch.setattr(backfill, "transcripts_below", lambda root, refused: found)
    monkeypatch.setattr(store_session, "with_real_folder", lambda path: path)
    done = door(house.ctx, "backfill", {"paths": [str(named)]})
    assert [one["file"] for one in done["errors"]] == found
    assert SECRET not in everything(house)


def test_a_marker_that_is_a_link_is_not_opened(house: ServiceHouse, named: Path) -> None:
    """Neither made, nor trusted, nor, trusted before, followed to where it leads now."""
    project = named / "project"
    project.mkdir()
    door(house.ctx, "init", {"dir": str(project)})
    house.remember("The ledger uses WAL mode always", project)
    own = house.ctx.shelf_of(projects.locate(str(project)))
    assert own is not house.ctx.global_shelf()
    os.rename(project / ".memory", named / "elsewhere")
    os.symlink(named / "elsewhere", project / ".memory")
    house.ctx.forget_places()
    place = projects.locate(str(project))
    assert house.ctx.shelf_of(place) is house.ctx.global_shelf()
    for verb in ("init", "trust"):
        with pytest.raises(StoreTamperedError, match="link"):
            door(house.ctx, verb, {"dir": str(project)})
    prompt = "which WAL mode does the ledger use always?"
    found = cold.notes(house.ctx.home, prompt, str(project), "s", float("inf"))
    assert found == []


def test_pipes_in_the_place_of_small_files_are_not_waited_for(
    house: ServiceHouse, named: Path
) -> None:
    """Git's files, the client's memory and a daily note."""
    os.mkfifo(named / ".git")
    assert projects.locate(str(named)).name == "named"
    (named / "memory").mkdir()
    os.mkfifo(named / "memory" / "MEMORY.md")
    transcript = str(named / "s.jsonl")
    assert client_memory.known_to_client(transcript) == frozenset()
    import_notes.index_client_memory(house.ctx, transcript, str(named))
    os.mkfifo(named / "2026-05-03.md")
    day = datetime(2026, 5, 3, tzinfo=timezone.utc)
    with pytest.raises(OSError, match="no regular file"):
        session_summary.put_section(str(named), f"{day:%Y-%m-%d}.md", "s1", "words")


def test_a_daily_note_stays_in_its_folder(named: Path) -> None:
    """One that leads out is neither read nor replaced."""
    os.symlink(named.parent / "outside" / "note.md", named / "2026-05-03.md")
    day = datetime(2026, 5, 3, tzinfo=timezone.utc)
    with pytest.raises(OSError, match="out of the folder"):
        session_summary.put_section(str(named), f"{day:%Y-%m-%d}.md", "s1", "words")
    assert (named.parent / "outside" / "note.md").read_text() == SECRET


def test_the_client_s_memory_is_no_link(named: Path) -> None:
    """What it leads to is not taken for what the client says."""
    (named / "memory").mkdir()
    os.symlink(named.parent / "outside" / "note.md", named / "memory" / "MEMORY.md")
    assert client_memory.known_to_client(str(named / "s.jsonl")) == frozenset()
