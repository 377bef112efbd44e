"""Notes of ours in the user's vault: made anew, never over what the user edited, read back after a preview."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError
from vector_memory.model import Sensitivity
from vector_memory.service.transfer import vault_export


@pytest.fixture
def vault(house: ServiceHouse, tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    house.ctx.settings = replace(house.ctx.settings, vault=str(folder))
    return folder


def write(house: ServiceHouse) -> dict[str, Any]:
    return door(house.ctx, "export_vault", {})


def project(tmp_path: Path, name: str = "app") -> Path:
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    return folder


def texts(house: ServiceHouse) -> set[str]:
    return {one["text"] for one in door(house.ctx, "list", {"all_projects": True})["memories"]}


def test_each_project_gets_a_note(house: ServiceHouse, vault: Path, tmp_path: Path) -> None:
    """With links both ways, and with nothing that is for few eyes or came from others' notes."""
    app = project(tmp_path)
    house.remember("Releases are tagged on Thursdays.", app, kind="decision")
    house.remember("The queue lives in Redis.", app)
    house.remember("The vault of the bank is in Basel.", app, sensitivity=Sensitivity.RESTRICTED)
    house.remember("Salaries rise in April.", app, sensitivity=Sensitivity.CONFIDENTIAL)
    house.remember("Tabs everywhere.")
    (vault / "clipped.md").write_text("# Clipped\n\nSomebody says that tabs are evil.\n")
    door(house.ctx, "rag", {"query": "tabs", "cwd": str(app)})
    answer = write(house)
    assert (answer["notes"], answer["written"], answer["memories"]) == (2, 2, 3)
    note = (vault / "Memory" / "app.md").read_text()
    assert (
        note.startswith("---\ntags: [vector-memory]\nproject: app\n---\n") and "[[Memory]]" in note
    )
    assert "Thursdays" in note and "evil" not in note
    assert "Basel" not in note and "April" not in note
    assert "[[app]]: 2 memories" in (vault / "Memory" / "Memory.md").read_text()
    assert write(house)["written"] == 0


def test_a_projects_own_rules_hold_for_its_note(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """From wherever it is written; another project's note has no part in them."""
    for name in ("app", "other"):
        house.remember(f"Customer Globex pays late, says {name}.", project(tmp_path, name))
    (tmp_path / "app" / "CLAUDE.md").write_text("## Privacy\n- Globex\n")
    write(house)
    assert "Globex" not in (vault / "Memory" / "app.md").read_text()
    assert "Globex" in (vault / "Memory" / "other.md").read_text()


def test_what_is_edited_waits_and_is_read_back(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """A preview says what would change; the memory of before gives way, and words around the section stay."""
    app = project(tmp_path)
    old = house.remember(
        "Releases are tagged on Thursdays.", app, kind="decision", tags=["release"]
    )
    write(house)
    note = vault / "Memory" / "app.md"
    note.write_text(note.read_text().replace("Thursdays", "Mondays") + "\nMy own words.\n")
    house.remember("The queue lives in Redis.", app)
    assert write(house)["edited"] == [str(note)]
    assert "Redis" not in note.read_text()

    ask = {"paths": [str(note)], "cwd": str(app)}
    shown = door(house.ctx, "import_notes", {**ask, "dry_run": True})
    assert shown["stored"] == 0 and "Releases are tagged on Thursdays." in texts(house)
    assert door(house.ctx, "import_notes", ask)["updated"] == 1
    assert "Releases are tagged on Mondays." in texts(house)
    kept = door(house.ctx, "history", {"id": old["id"], "cwd": str(app)})
    assert "Thursdays" in str(kept)
    (now,) = [
        one
        for one in door(house.ctx, "list", {"cwd": str(app)})["memories"]
        if "Mondays" in one["text"]
    ]
    assert (now["kind"], now["tags"]) == ("decision", ["release"])

    assert write(house)["edited"] == []
    words = note.read_text()
    assert "Redis" in words and "Mondays" in words and words.endswith("\nMy own words.\n")
    assert "Thursdays" not in words


def test_words_of_the_users_in_our_section_are_not_written_over(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    house.remember("The queue lives in Redis.", project(tmp_path))
    write(house)
    note = vault / "Memory" / "app.md"
    note.write_text(note.read_text().replace("## note", "## note\nA thought of mine."))
    assert write(house)["edited"] == [str(note)]
    assert "A thought of mine." in note.read_text()


def test_what_goes_from_memory_goes_from_the_note(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """At once with a purge, also where it was the last of its project."""
    gone = house.remember("The queue lives in Redis.", project(tmp_path))
    write(house)
    note = vault / "Memory" / "app.md"
    assert "Redis" in note.read_text()
    door(house.ctx, "purge", {"ids": [gone["id"]]})
    assert "Redis" not in note.read_text()


def test_a_purge_tells_of_notes_that_it_cannot_clean(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """One of which nobody knows where our section ends is left; one whose name is too long was never written."""
    gone = house.remember("The queue lives in Redis.", project(tmp_path))
    house.remember("Tabs everywhere.", project(tmp_path, 254 * "x"))
    assert [Path(one).stem for one in write(house)["failed"]] == [254 * "x"]
    note = vault / "Memory" / "app.md"
    torn = note.read_text().replace("<!-- end of vector-memory session memory -->", "")
    note.write_text(torn)
    told = door(house.ctx, "purge", {"ids": [gone["id"]]})["errors"]
    assert any(str(note) in one for one in told) and any(254 * "x" in one for one in told)
    assert note.read_text() == torn


def test_following_the_vault_keeps_our_notes_and_reads_none_of_them(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """Only once the user has had them written; edits are told of, and change nothing by themselves."""
    app = project(tmp_path)
    house.remember("The queue lives in Redis.", app)
    door(house.ctx, "run_job", {"name": "vault-follow"})
    assert not (vault / "Memory").exists()
    write(house)
    before = texts(house)
    house.remember("Releases are tagged on Thursdays.", app)
    door(house.ctx, "run_job", {"name": "vault-follow"})
    note = vault / "Memory" / "app.md"
    assert "Thursdays" in note.read_text()
    note.write_text(note.read_text().replace("Redis", "Kafka"))
    job = door(house.ctx, "run_job", {"name": "vault-follow"})
    assert "vector-memory import" in job["message"]
    assert texts(house) == before | {"Releases are tagged on Thursdays."}


def test_a_note_with_other_line_ends_is_no_edited_one(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    """Nor is it written anew for them; two projects of one name have two notes."""
    for parent in ("one", "two"):
        (tmp_path / parent).mkdir()
        house.remember(f"The {parent} queue lives in Redis.", project(tmp_path / parent))
    write(house)
    note = vault / "Memory" / "app (2).md"
    note.write_bytes(note.read_bytes().replace(b"\n", b"\r\n"))
    answer = write(house)
    assert (answer["written"], answer["edited"]) == (0, [])
    note.write_bytes(note.read_bytes().replace(b"Redis", b"Kafka"))
    assert write(house)["edited"] == [str(note)]
    assert (
        door(house.ctx, "import_notes", {"paths": [str(note)], "cwd": str(tmp_path)})["updated"]
        == 1
    )


def test_without_a_vault_it_says_what_to_do(house: ServiceHouse, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No vault is set"):
        vault_export.write(house.ctx)
    house.ctx.settings = replace(house.ctx.settings, vault=str(tmp_path / "nowhere"))
    with pytest.raises(BadInputError, match="no folder"):
        vault_export.write(house.ctx)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("· CORE", "· LOW"), ("## decision", "## fact"), ("- 2026", "- 2025"),
        ("## decision\n", "## decision\n\n- Use ruff for linting\n"),
    ],
)  # fmt: skip
def test_what_import_does_not_read_is_named_and_left(
    house: ServiceHouse, vault: Path, tmp_path: Path, old: str, new: str
) -> None:
    """Also beside an edit that is read; once it is undone the note is written again."""
    app = project(tmp_path)
    house.remember("Releases are on Thursdays.", app, kind="decision", priority="CORE")
    write(house)
    note = vault / "Memory" / "app.md"
    first = note.read_text()
    note.write_text(first.replace(old, new, 1))
    edited = note.read_text()
    assert edited != first and write(house)["edited"] == [str(note)]
    done = door(house.ctx, "import_notes", {"paths": [str(note)], "cwd": str(app)})
    (error,) = done["errors"]
    assert (error["file"], done["updated"]) == (str(note), 0)
    wrong = next(at for at, line in enumerate(edited.split("\n"), 1) if line not in first)
    assert error["error"].startswith(f"line {wrong}: ") or old == "## decision"
    note.write_text(edited.replace("Thursdays", "Mondays"))
    done = door(house.ctx, "import_notes", {"paths": [str(note)], "cwd": str(app)})
    assert (len(done["errors"]), done["updated"]) == (1, 1)
    assert write(house)["edited"] == [str(note)]
    note.write_text(first)
    assert write(house)["edited"] == [] and "Mondays" in note.read_text()


def test_a_note_with_other_bullets_is_read(
    house: ServiceHouse, vault: Path, tmp_path: Path
) -> None:
    app = project(tmp_path)
    house.remember("Releases are on Thursdays.", app, kind="decision")
    write(house)
    note = vault / "Memory" / "app.md"
    note.write_text(note.read_text().replace("- 20", "* 20").replace("Thursdays", "Mondays"))
    assert write(house)["edited"] == [str(note)]
    done = door(house.ctx, "import_notes", {"paths": [str(note)], "cwd": str(app)})
    assert (done["updated"], done["errors"]) == (1, [])
    assert write(house)["edited"] == [] and "- 20" in note.read_text()


@pytest.mark.parametrize("is_exported", [False, True], ids=["import alone", "export between"])
def test_of_two_edits_of_one_memory_the_newer_file_counts(
    house: ServiceHouse, vault: Path, tmp_path: Path, is_exported: bool
) -> None:
    """The other one is told each time, and changes nothing, until it says the same or is gone."""
    app = project(tmp_path)
    for text in ("Releases are on Thursdays.", "The queue lives in Redis."):
        house.remember(text, app)
    write(house)
    note = vault / "Memory" / "app.md"
    copy = note.with_name("app.sync-conflict-20261128.md")
    first = note.read_text()
    note.write_text(first.replace("Thursdays", "Mondays"))
    copy.write_text(first.replace("Thursdays", "Fridays"))
    os.utime(copy, (1_000_000_000, 1_000_000_000))
    asked = {"paths": [str(note.parent)], "cwd": str(app)}
    wanted = {"Releases are on Mondays.", "The queue lives in Redis."}
    for number in range(3):
        done = door(house.ctx, "import_notes", asked)
        assert [one["file"] for one in done["errors"]] == [str(copy)], number
        assert done["updated"] == int(number == 0) and done["stored"] == 0
        listed = door(house.ctx, "list", {"all_projects": True})["memories"]
        assert len(listed) == 2 and texts(house) == wanted
        if is_exported:
            assert write(house)["edited"] == [str(copy)] and "Mondays" in note.read_text()
    copy.write_text(first.replace("Thursdays", "Mondays"))
    assert door(house.ctx, "import_notes", asked)["errors"] == []
    copy.unlink()
    note.write_text(note.read_text().replace("Mondays", "Tuesdays"))
    assert door(house.ctx, "import_notes", asked)["updated"] == 1
    assert "Releases are on Tuesdays." in texts(house) and len(texts(house)) == 2


@pytest.mark.parametrize("which", ["copy", "note", "both"])
def test_an_edit_beside_an_older_copy_is_read_once(
    house: ServiceHouse, vault: Path, tmp_path: Path, which: str
) -> None:
    """Whichever of both has it, in both the same words, too."""
    app = project(tmp_path)
    house.remember("Releases are on Thursdays.", app)
    write(house)
    note = vault / "Memory" / "app.md"
    copy = note.with_name("app (conflicted copy).md")
    first = note.read_text()
    copy.write_text(first)
    for path in (note, copy):
        if which in ("both", "note" if path == note else "copy"):
            path.write_text(first.replace("Thursdays", "Mondays"))
    asked = {"paths": [str(note.parent)], "cwd": str(app)}
    for updated in (1, 0):
        done = door(house.ctx, "import_notes", asked)
        assert (done["updated"], done["errors"]) == (updated, [])
        assert [
            one["text"] for one in door(house.ctx, "list", {"all_projects": True})["memories"]
        ] == ["Releases are on Mondays."]
    assert write(house)["edited"] == []
