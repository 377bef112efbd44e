"""Purge on real stores: a marker comes in by every way, and no byte of it stays."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from talk import transcript

from vector_memory.daemon import verbs
from vector_memory.errors import BadInputError, NotFoundError, StoreDamagedError
from vector_memory.journal.job_rows import JobRow
from vector_memory.model import PASSAGE, SUMMARY, TOPIC, Scope, Status
from vector_memory.service.base import privacy
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import session_summary
from vector_memory.service.inject import session_start
from vector_memory.service.purge import other_copies, selection
from vector_memory.service.purge import purge as purging
from vector_memory.service.purge.byte_search import Needles
from vector_memory.store.index import Index

MARKER = "Quetzalwort"
"""A word that nothing else has."""
LEDGER = [
    ("Which journal mode does the ledger use?", "WAL, since readers never block the writer." * 4),
    (f"Please note that the customer is {MARKER} Limited of Oslo, from now on.",
     f"Noted. We'll use the {MARKER} price list for every invoice of the ledger. " * 4),
    ("How large may a batch of postings be?", "Five hundred rows, measured on the old server." * 6),
]  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    """The service with real stores, archives and daily notes."""
    made = ServiceHouse(tmp_path)
    (tmp_path / "diary").mkdir()
    made.ctx.settings = replace(
        made.ctx.settings, archive=True, daily_notes=str(tmp_path / "diary")
    )
    yield made
    made.close()


def purge(house: ServiceHouse, **request: Any) -> dict[str, Any]:
    """Purge as the command does."""
    return door(house.ctx, "purge", request)


def holding(folder: Path, words: str = MARKER) -> list[str]:
    """Return the files below a folder that hold words, searched in another way than the product's."""
    needles = [words, words.lower(), words.upper()]
    raw = [form.encode(name) for form in needles for name in ("utf-8", "utf-16-le", "utf-16-be")]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            data += gzip.decompress(data) if path.suffix == ".gz" else b""
            if any(one in data for one in raw):
                found.append(str(path))
    return found


def texts(house: ServiceHouse, *statuses: Status) -> list[str]:
    """Return the texts of all memories of these statuses."""
    return [
        str(one.text)
        for shelf in house.ctx.all_shelves()
        for one in shelf.journal.iter_memories(Scope(), statuses=statuses or (Status.ACTIVE,))
    ]


def tell(house: ServiceHouse, folder: Path, session: str = "s1") -> Path:
    """Let a session be captured and end, with its topics, summary, archive and note."""
    folder.mkdir(exist_ok=True)
    path = transcript(folder, LEDGER, session)
    captured_of(house.ctx, str(path), str(folder), final=True)
    house.follow()
    session_summary.finish(house.ctx, session)
    house.follow()
    return path


def plant(house: ServiceHouse, folder: Path) -> Path:
    """Bring the marker in by every way there is; return the folder of the project."""
    project, own = folder / "ledger", folder / "own"
    tell(house, project)
    own.mkdir()
    house.remember("The ledger of this project has its own store.", own)
    door(house.ctx, "init", {"dir": str(own)})
    house.follow()
    house.remember(f"{MARKER} is in the project's store.", own)
    house.remember(f"The old name of the client is {MARKER}.", tags=["name"])
    house.remember("A memory that has it in a tag alone.", tags=[MARKER.lower()])
    first = house.remember(f"Invoices go to {MARKER} by mail.")["id"]
    door(house.ctx, "edit", {"id": first, "text": "Invoices go to the client by mail."})
    second = house.remember(f"{MARKER} pays within ten days.")["id"]
    house.remember("The client pays within thirty days.", supersedes=second)
    lines = folder / "in.jsonl"
    lines.write_text(json.dumps({"text": f"Import speaks of {MARKER}.", "id": MARKER}) + "\n")
    door(house.ctx, "import", {"path": str(lines), "global": True})
    note = folder / "NOTES.md"
    note.write_text(
        f"# Clients\n\n- {MARKER} wants its reports on Mondays.\n- Another line here.\n"
    )
    request = {"paths": [str(note)], "cwd": str(folder), "global": True}
    door(house.ctx, "import_notes", request)
    house.follow()
    session_start.save_snapshot(
        house.ctx, hook_question(house.ctx, "s", str(project)), str(project)
    )
    home = house.ctx.home
    Path(home.logs, "daemon.log").write_text(f"an error told of {MARKER}\nand went on\n")
    aside = Path(home.global_store, "lance.damaged-20260101T000000")
    aside.mkdir()
    (aside / "data.lance").write_text(MARKER)
    return project


def test_only_what_was_set_aside_counts_as_that(house: ServiceHouse) -> None:
    """A folder whose name ends otherwise is somebody's own."""
    store = Path(house.ctx.home.global_store)
    names = ("lance.damaged-20260101T000000", "lance.replaced-20260101T000000123456")
    others = (
        "lance.damaged-notes-Tuesday1",
        "lance.damaged-20260101T000000-kept",
        ".damaged-20260101T000000",
    )
    for name in (*names, *others):
        (store / name).mkdir()
    found = other_copies.set_aside(house.ctx.home, [str(store)])
    assert [os.path.basename(path) for path in found] == list(names)


def test_nothing_of_the_words_stays_in_any_file(house: ServiceHouse, tmp_path: Path) -> None:
    """Whatever way they came in, a byte search of the data home and of the project's store finds none."""
    plant(house, tmp_path)
    home, diary = Path(house.ctx.home.root), tmp_path / "diary"
    for planted in (home, tmp_path / "own" / ".memory", diary):
        assert holding(planted)
    seen = purge(house, text=MARKER.upper(), dry_run=True)
    assert seen["purged"] == 0
    assert seen["left"]
    done = purge(house, text=MARKER.upper())
    assert done["purged"] >= 8
    assert (done["left"], done["errors"]) == ([], [])
    assert done["searched"]["files"] > 10
    assert holding(home) == holding(tmp_path / "own" / ".memory") == holding(diary) == []
    assert not any(MARKER.lower() in text.lower() for text in texts(house, *Status))
    assert any("readers never block" in text for text in texts(house))
    assert done["sources"] == [str(tmp_path / "NOTES.md"), str(tmp_path / "ledger" / "s1.jsonl")]
    log = Path(house.ctx.home.logs, "daemon.log").read_text()
    assert log == f"an error told of {'*' * len(MARKER)}\nand went on\n"
    house.follow()
    assert holding(home) == []
    assert not house.ctx.state.audit_break()


def test_the_vectors_go_too(house: ServiceHouse) -> None:
    """Neither cache nor matrix keeps the vector of a purged text; those of others stay."""
    gone = house.remember(f"{MARKER} is the name of the client.")["id"]
    kept = house.remember("Postings are written in batches of five hundred.")["id"]
    shelf = house.ctx.global_shelf()
    assert shelf.index is not None
    memories = shelf.journal.by_ids([gone, kept])
    with shelf.journal.connections.reading() as connection:
        raw = dict(connection.execute("SELECT hash, vector FROM vectors").fetchall())
    assert len(raw) == 2
    purge(house, ids=[gone])
    with shelf.journal.connections.reading() as connection:
        left = dict(connection.execute("SELECT hash, vector FROM vectors").fetchall())
    (gone_vector,) = (raw[key] for key in raw if key not in left)
    assert len(left) == 1
    assert holding_bytes(Path(shelf.folder), gone_vector) == []
    assert shelf.between(Scope(), 0, 1e9, 9) == [memories[kept].seq]
    assert shelf.index.rows() == 1
    assert shelf.index.check(True) == []


def holding_bytes(folder: Path, raw: bytes) -> list[str]:
    return [str(one) for one in folder.rglob("*") if one.is_file() and raw in one.read_bytes()]


def test_a_purged_exchange_is_not_captured_again(house: ServiceHouse, tmp_path: Path) -> None:
    """Neither by a backfill of the same transcript, nor from a fork; the others come back unchanged."""
    path = tell(house, tmp_path / "ledger")
    before = set(texts(house))
    done = purge(house, text=MARKER)
    assert str(path) in done["sources"]
    house.ctx.state.set_cursors({os.path.realpath(path): {}})
    fork = tmp_path / "ledger" / "fork.jsonl"
    fork.write_text(path.read_text())
    door(house.ctx, "backfill", {"paths": [str(tmp_path / "ledger")]})
    house.follow()
    assert holding(Path(house.ctx.home.root)) == []
    assert {text for text in before if MARKER not in text} <= set(texts(house))


def test_a_session_goes_whole(house: ServiceHouse, tmp_path: Path) -> None:
    """Its passages, ideas, topics, summary, archive and section of the diary go; what the user wrote
    into the diary stays, another session too; nothing of it is read again."""
    path = tell(house, tmp_path / "ledger")
    tell(house, tmp_path / "other", "s2")
    (note,) = (tmp_path / "diary").glob("*.md")
    note.write_text("My own words.\n\n" + note.read_text())
    done = purge(house, session="s1")
    assert done["sessions"] == ["s1"]
    assert done["archives"] == 1
    left = [
        one for shelf in house.ctx.all_shelves() for one in shelf.journal.iter_memories(Scope())
    ]
    assert {one.source.session for one in left} == {"s2"}
    assert "session s1" not in note.read_text()
    assert "My own words." in note.read_text()
    assert "session s2" in note.read_text()
    house.ctx.state.set_cursors({os.path.realpath(path): {}})
    captured_of(house.ctx, str(path), str(path.parent), final=True)
    assert house.ctx.global_shelf().journal.count(Scope(sessions=("s1",))) == 0
    with pytest.raises(NotFoundError):
        purge(house, session="s1")


def test_a_session_that_goes_on_is_captured_again(house: ServiceHouse, tmp_path: Path) -> None:
    """What is said after the purge is new."""
    tell(house, tmp_path / "ledger")
    purge(house, session="s1")
    house.pass_time(hours=1)
    folder = tmp_path / "ledger"
    more = [("And what is the retention of the ledger?", "Ten years, by the law of the land." * 5)]
    later = transcript(folder, more, "s1x", after_hours=30)
    later.write_text(later.read_text().replace('"s1x"', '"s1"'))
    captured_of(house.ctx, str(later), str(folder), final=True)
    assert any("Ten years" in text for text in texts(house))


def test_a_project_goes_whole(house: ServiceHouse, tmp_path: Path) -> None:
    """With its name and folder; global memories and other projects stay."""
    project = plant(house, tmp_path)
    house.remember("Of another project.", tmp_path)
    place = house.ctx.place(str(project))
    done = purge(house, dir="ledger", cwd=str(tmp_path))
    assert done["purged"] > 3
    shelf = house.ctx.global_shelf()
    assert shelf.journal.count(Scope(projects=(place.id,))) == 0
    assert place.id not in {one.id for one in shelf.journal.projects()}
    assert "Of another project." in texts(house)
    assert done["left"] == []
    with pytest.raises(NotFoundError):
        purge(house, dir=str(tmp_path / "nothing"))


def test_nothing_names_what_a_purged_project_was_read_from(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """No path of a transcript, no folder of archives; and what was said until then is not captured again."""
    path, other = tell(house, tmp_path / "ledger"), tell(house, tmp_path / "other", "s2")
    house.remember("The ledger has a memory that no transcript has.", path.parent)
    state, place = house.ctx.state, house.ctx.place(str(path.parent))
    for folder in (path.parent, other.parent):
        state.follow(str(folder), {str(folder / "t.jsonl"): "1:1"})
    archives = Path(house.ctx.home.archives)
    assert len(list(archives.iterdir())) == 2
    purge(house, dir=str(path.parent))
    assert [one for one in state.cursors() if one.endswith(".jsonl")] == [str(other)]
    assert len(list(archives.iterdir())) == 1
    assert not holding(Path(house.ctx.home.state_db).parent, str(path.parent))
    assert state.unread_files(str(other.parent), {str(other.parent / "t.jsonl"): "1:1"}) == []
    captured_of(house.ctx, str(path), str(path.parent), final=True)
    assert house.ctx.global_shelf().journal.count(Scope(projects=(place.id,))) == 0


def test_by_id_what_it_replaced_and_what_was_drawn_from_it_go_too(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """A passage takes its ideas along, a memory those that gave way to it, whoever holds its text."""
    tell(house, tmp_path / "ledger")
    shelf = house.ctx.global_shelf()
    passage = next(
        one for one in shelf.journal.iter_memories(Scope(kinds=(PASSAGE,))) if MARKER in one.text
    )
    ideas = [
        one
        for one in shelf.journal.iter_memories(Scope())
        if MARKER in one.text and one.kind not in (PASSAGE, TOPIC, SUMMARY)
    ]
    assert ideas
    done = purge(house, ids=[passage.id[:12]])
    assert {one["id"] for one in done["memories"]} >= {passage.id, *(one.id for one in ideas)}
    assert done["left"] == []
    old = house.remember("The ledger speaks of florins.")["id"]
    new = house.remember("The ledger speaks of crowns now.", supersedes=old)["id"]
    done = purge(house, ids=[new])
    assert {one["id"] for one in done["memories"]} == {old, new}


def test_by_words_what_was_replaced_holds_again(house: ServiceHouse) -> None:
    """It does not hold the words, so it stays; what its successor gave way to takes that one's place."""
    old = house.remember("The ledger speaks of florins.")["id"]
    middle = house.remember(f"The ledger speaks of {MARKER} crowns.", supersedes=old)["id"]
    purge(house, text=MARKER)
    shelf = house.ctx.global_shelf()
    assert shelf.journal.get(old).status is Status.ACTIVE
    assert shelf.journal.by_ids([middle]) == {}
    middle = house.remember(f"The ledger speaks of {MARKER} pounds.", supersedes=old)["id"]
    new = house.remember("The ledger speaks of euros.", supersedes=middle)["id"]
    purge(house, text=MARKER)
    assert shelf.journal.get(old).superseded_by == new
    assert shelf.load([shelf.journal.get(old).seq]).popitem()[1].id == new


def test_what_was_forgotten_leaves_nothing(house: ServiceHouse) -> None:
    """Tombstones and what the index still held of the words are gone; a forgotten memory is not
    captured again either."""
    gone = house.remember(f"{MARKER} pays within ten days.")["id"]
    house.remember("Another memory that stays.")
    door(house.ctx, "forget", {"ids": [gone]})
    done = purge(house, forgotten=True)
    assert done["purged"] == 1
    assert holding(Path(house.ctx.home.root)) == []
    assert texts(house, *Status) == ["Another memory that stays."]


def test_a_purged_note_is_not_imported_again(house: ServiceHouse, tmp_path: Path) -> None:
    """Its line in the file is left out, as that of a forgotten one; the others are unchanged."""
    note = tmp_path / "NOTES.md"
    note.write_text(
        f"# Clients\n\n- {MARKER} wants reports on Mondays.\n- The bank wants them daily.\n"
    )
    request = {"paths": [str(note)], "cwd": str(tmp_path), "global": True}
    door(house.ctx, "import_notes", request)
    purge(house, text=MARKER)
    done = door(house.ctx, "import_notes", request)
    assert (done["stored"], done["left_out"], done["unchanged"]) == (0, 1, 1)
    assert holding(Path(house.ctx.home.root)) == []


def test_backups_are_told_and_deleted_when_asked(house: ServiceHouse) -> None:
    """What is in it may be packed, so it is named; with `backups` it goes. A word that nothing holds takes none away."""
    house.remember(f"{MARKER} pays within ten days.")
    folder = Path(house.ctx.home.path("backups"))
    folder.mkdir()
    backup = folder / "vector-memory-1.tar.gz"
    backup.write_bytes(gzip.compress(f"what {MARKER} paid".encode()))
    done = purge(house, text=MARKER)
    assert (done["backups"], done["backups_deleted"], done["left"]) == ([str(backup)], [], [])
    # Nothing else holds the words any more.
    mistyped = purge(house, text=f"{MARKER} mistyped", backups=True)
    assert (mistyped["count"], mistyped["backups_deleted"]) == (0, [])
    done = purge(house, text=MARKER, backups=True)
    assert (done["count"], done["backups"], done["backups_deleted"]) == (0, [], [str(backup)])
    assert not backup.exists()


@pytest.mark.parametrize(
    "request_",
    [{}, {"text": "a"}, {"ids": ["x"], "text": "words"}, {"text": "   "}],
)
def test_what_cannot_be_purged_is_refused(house: ServiceHouse, request_: dict[str, Any]) -> None:
    """Nothing named, two ways at once, words that stand everywhere."""
    with pytest.raises(BadInputError):
        purge(house, **request_)


def test_an_agent_purges_nothing_that_it_may_not_be_given(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Nor is it shown which memories that would be."""
    house.remember(f"{MARKER} pays within ten days.", tmp_path, sensitivity="restricted")
    open_one = house.remember(f"{MARKER} is a client.", tmp_path)["id"]
    for named in ({"text": MARKER}, {"dir": str(tmp_path)}):
        for dry_run in (True, False):
            with pytest.raises(BadInputError, match="what you may not be given"):
                purge(house, **named, dry_run=dry_run, actor="agent", cwd=str(tmp_path))
    # Whether words stand in it would tell, part by part, what it says.
    with pytest.raises(BadInputError, match="what you may not be given"):
        purge(house, text="nowhere to be found", dry_run=True, actor="agent", cwd=str(tmp_path))
    assert purge(house, ids=[open_one], actor="agent")["purged"] == 1
    assert purge(house, text=MARKER)["purged"] == 1


def test_a_preview_keeps_to_a_later_rule(house: ServiceHouse, tmp_path: Path) -> None:
    """What goes is shown as lists show it."""
    house.remember(f"{MARKER} pays within ten days.", tmp_path)
    (tmp_path / "CLAUDE.md").write_text(f"## Privacy\n- {MARKER}\n")
    for verb, more in (
        ("purge", {"dir": str(tmp_path)}),
        ("forget", {"query": "pays within ten days"}),
    ):
        asked = {"project": str(tmp_path), "dry_run": True, **more}
        with privacy.for_request(house.ctx, asked):
            answer = door(house.ctx, verb, asked)
            shown = answer if verb == "purge" else verbs.shown(answer)
        assert (verb in verbs.SHOWN) is (verb == "forget")
        assert len(shown["memories"]) == 1 and MARKER not in str(shown["memories"])


def test_words_that_signs_alone_part_go(house: ServiceHouse) -> None:
    """The full-text index has them one behind the other; the preview shows the memory."""
    house.remember("Customers: Jane, Doe and Partners pay late.")
    house.remember("The bank pays at once.")
    shown = purge(house, text="jane doe", dry_run=True)["memories"]
    assert [one["text"] for one in shown] == ["Customers: Jane, Doe and Partners pay late."]
    done = purge(house, text="jane doe")
    assert (done["purged"], done["left"]) == (1, [])
    assert texts(house) == ["The bank pays at once."]


def test_archives_that_a_restore_replaced_go(house: ServiceHouse) -> None:
    """Texts of sessions, and the logs of their steps."""
    house.remember(f"{MARKER} pays within ten days.")
    aside = Path(house.ctx.home.archives + ".replaced-20260503T101112000000", "archives", "ledger")
    aside.mkdir(parents=True)
    for ending in (".md", ".steps.jsonl"):
        (aside / f"2026-05-03-s1{ending}").write_text(f"{MARKER} pays.")
    done = purge(house, text=MARKER)
    assert (done["errors"], done["left"]) == ([], [])
    assert not aside.exists()


def test_a_topic_is_not_purged_alone(house: ServiceHouse, tmp_path: Path) -> None:
    """It would be made again at once."""
    tell(house, tmp_path / "ledger")
    (topic, *_) = house.ctx.global_shelf().journal.iter_memories(Scope(kinds=(TOPIC, SUMMARY)))
    with pytest.raises(BadInputError, match="made of what was said"):
        purge(house, ids=[topic.id])


def test_a_file_that_still_holds_the_words_is_named(house: ServiceHouse) -> None:
    """What purge may not touch, such as the settings, is told rather than passed over."""
    house.remember(f"{MARKER} pays within ten days.")
    Path(house.ctx.home.config).write_text(json.dumps({"excluded_projects": [f"/x/{MARKER}"]}))
    assert purge(house, text=MARKER)["left"] == [house.ctx.home.config]


def test_an_index_that_cannot_be_written_anew_is_rebuilt(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it starts from the journal, and nothing of the words is in it either."""
    house.remember(f"{MARKER} pays within ten days.")
    house.remember("The bank pays at once.")

    def broken(self: Index, living: object) -> None:
        raise StoreDamagedError("It is broken.", "")

    monkeypatch.setattr(Index, "purge", broken)
    done = purge(house, text=MARKER)
    assert (done["left"], done["errors"]) == ([], [])
    house.follow()
    assert house.ctx.global_shelf().index.rows() == 1  # type: ignore[union-attr]


def test_an_interrupted_purge_is_finished_by_the_next_daemon(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not written anew is noted, and `resume` does it."""
    house.remember(f"{MARKER} pays within ten days.")

    def full(ctx: object, shelf: Shelf, projects: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(purging, "_clean_store", full)
        done = purge(house, text=MARKER)
        assert done["errors"]
        assert holding(Path(house.ctx.home.global_store, "lance"), "quetzalwort")
        assert done["left"]
    assert house.ctx.state.due_keys(purging.TASK) == [house.ctx.home.global_store]
    purging.resume(house.ctx)
    assert house.ctx.state.due_keys(purging.TASK) == []
    assert holding(Path(house.ctx.home.root)) == []


def test_without_a_model_the_index_files_go(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made again from the journal when there is one."""
    house.remember(f"{MARKER} pays within ten days.")
    shelf = house.ctx.global_shelf()
    assert shelf.index is not None
    shelf.index.close()
    shelf.index = None
    monkeypatch.setattr(house.ctx.embedding, "wait", lambda timeout_s: False)
    assert purge(house, text=MARKER)["left"] == []
    assert not os.path.exists(os.path.join(shelf.folder, "lance"))


def test_a_damaged_row_that_holds_the_words_goes(house: ServiceHouse) -> None:
    """It cannot be read as a memory, but it is seen and deleted."""
    house.remember(f"{MARKER} pays within ten days.")
    journal = house.ctx.global_shelf().journal
    with journal.connections.writing() as connection:
        connection.execute("UPDATE memories SET confidence = 0.123")
    done = purge(house, text=MARKER)
    assert (done["count"], done["purged"], done["left"]) == (1, 1, [])


def test_a_needle_is_found_in_every_form() -> None:
    """Any case, UTF-16 and JSON, also over the edge of two blocks; words that are not there are not."""
    needles = Needles(['Grüße "an" alle\\'])
    told = ["GRÜSSE", "x"]
    assert not needles.places(json.dumps(told).encode())
    for form in (
        'xxGrüße "an" alle\\xx'.encode(),
        'xxgrüße "AN" alle\\xx'.encode("utf-16-le"),
        json.dumps({"a": 'Grüße "an" alle\\'}).encode(),
        json.dumps(json.dumps('Grüße "an" alle\\', ensure_ascii=False)).encode(),
    ):
        assert needles.places(form), form


def test_the_words_are_found_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read in blocks, and the words may stand on the edge of two."""
    from vector_memory.service.purge import byte_search

    monkeypatch.setattr(byte_search, "CHUNK_BYTES", 64)
    path = tmp_path / "f"
    for before in range(40, 80):
        path.write_bytes(b"." * before + MARKER.encode() + b"." * 100)
        found = byte_search.search([str(path)], Needles([MARKER]))
        assert found.found == {str(path): [(before, before + len(MARKER))]}
        assert found.bytes == before + len(MARKER) + 100


def test_pieces_are_taken_evenly() -> None:
    """Of many texts some, of a short one none: it would stand anywhere."""
    from vector_memory.service.purge.byte_search import pieces_of

    assert pieces_of(["Yes."]) == []
    many = pieces_of([f"This is the text with the number {n}." for n in range(1_000)], most=10)
    assert len(many) == 10
    assert "number 0" in many[0]
    assert "number 900" in many[-1]


def test_choosing_by_id_names_exchanges_not_words(house: ServiceHouse, tmp_path: Path) -> None:
    """What is kept against capturing it again is a hash of a name."""
    tell(house, tmp_path / "ledger")
    made = selection.choose(house.ctx, selection.PurgeRequest(session="s1"))
    assert made.names
    purge(house, session="s1")
    with house.ctx.state._connections.reading() as connection:
        rows = connection.execute("SELECT name, typeof(name), length(name) FROM purged").fetchall()
    assert {row[1:] for row in rows} == {("blob", 16)}


def test_a_search_that_met_replaced_files_says_nothing_of_damage(house: ServiceHouse) -> None:
    """Right after a purge a failed search sets nothing aside; later it does."""
    house.remember(f"{MARKER} pays within ten days.")
    house.remember("The bank pays at once.")
    shelf = house.ctx.global_shelf()
    assert shelf.index is not None
    purge(house, text=MARKER)
    shelf.damaged(StoreDamagedError("a file is gone", ""))
    assert (shelf.failed, shelf.index.rows()) == ("", 1)
    shelf.index.renewed_at_s -= 60
    shelf.damaged(StoreDamagedError("a file is gone", ""))
    assert shelf.failed
    assert shelf.index.rows() == 0


def test_what_an_interrupted_rewriting_left_is_deleted(house: ServiceHouse) -> None:
    """Half a new table, a table of another model, and its matrix."""
    house.remember(f"{MARKER} pays within ten days.")
    store = Path(house.ctx.home.global_store)
    (table,) = (store / "lance").glob("*.lance")
    for name in (f"{table.stem}-new.lance", f"{table.stem}-old.lance", "memories_other.lance"):
        (store / "lance" / name).mkdir()
        (store / "lance" / name / "0110.lance").write_text(MARKER)
    (store / "matrix" / "other").mkdir(parents=True)
    (store / "matrix" / "other" / "vectors-1.f32").write_text(MARKER)
    purge(house, forgotten=True)
    assert [one.name for one in (store / "lance").glob("*.lance")] == [table.name]
    assert not (store / "matrix" / "other").exists()
    assert house.ctx.global_shelf().index.rows() == 1  # type: ignore[union-attr]


def test_a_word_of_a_jobs_name_is_not_left_behind(house: ServiceHouse) -> None:
    """ "gate" is a part of "memory-gateway", which stands in the state of every home; elsewhere it counts."""
    house.ctx.state.put_jobs([JobRow("memory-gateway")])
    house.remember("The gate at the pond pays within ten days.")
    done = purge(house, text="gate")
    assert (done["count"], done["left"]) == (1, [])
    needles = Needles(["gate"], ["memory-gateway"])
    assert needles.places(b"memory-gateway") == []
    assert needles.places(b"memory-gateway and a Gate") == [(21, 25)]
    assert Needles(["memory-gateway"], ["memory-gateway"]).places(b"memory-gateway")
    assert Needles(["gateway pays"], ["memory-gateway"]).places(b"memory-gateway pays") == [(7, 19)]
