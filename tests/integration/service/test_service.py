"""The use cases on real stores: what is remembered is recalled, where it belongs, and nowhere else."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes_embed import FakeEmbedder
from service_house import ServiceHouse, door, exported, hook_question

from vector_memory import redact
from vector_memory.errors import BadInputError, EmbeddingError, NotFoundError, StoreDamagedError
from vector_memory.journal.repair.pages import PAGE
from vector_memory.model import Memory, Scope, Source
from vector_memory.service.base.asker import asker_at
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.upkeep import check_rebuild


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def texts(answer: dict[str, Any]) -> list[str]:
    """Return the texts of an answer's hits."""
    return [hit["text"] for hit in answer["hits"]]


WAL = "We decided on SQLite in WAL mode for the ledger so that readers never block"


def test_a_memory_comes_back_in_its_project_only(
    house: ServiceHouse, ledger: Path, tmp_path: Path
) -> None:
    """A project's memory is found from the project, from any of its folders, and from no other."""
    house.remember(WAL, ledger, kind="decision")
    other = tmp_path / "other"
    other.mkdir()
    ask = {"query": "ledger WAL mode readers"}
    assert texts(door(house.ctx, "recall", {**ask, "project": str(ledger)})) == [WAL]
    assert texts(door(house.ctx, "recall", {**ask, "project": str(other)})) == []
    assert texts(door(house.ctx, "recall", {**ask, "cwd": str(other), "all_projects": True})) == [
        WAL
    ]


def test_global_memories_are_found_everywhere(house: ServiceHouse, ledger: Path) -> None:
    """What belongs to the user rather than to a project comes back in every project."""
    house.remember("I prefer tabs over spaces in Makefiles")
    assert texts(door(house.ctx, "recall", {"query": "tabs or spaces", "project": str(ledger)}))


def test_equal_texts_are_one_memory(house: ServiceHouse, ledger: Path) -> None:
    """Saying the same again merges: all tags, the higher priority; it is no surer for it."""
    first = house.remember(WAL, ledger, tags=["db"])
    again = house.remember(WAL, ledger, tags=["sqlite"], priority="high")
    assert (first["action"], again["action"], again["id"]) == ("stored", "merged", first["id"])
    kept = door(house.ctx, "get", {"id": first["id"]})["memory"]
    assert (kept["tags"], kept["priority"]) == (["db", "sqlite"], "HIGH")
    assert kept["confidence"] == 0.7


def test_a_near_miss_is_linked_and_not_merged(house: ServiceHouse, ledger: Path) -> None:
    """Two ports are two facts, however alike their sentences are."""
    one = house.remember("The dev database of the ledger listens on port 5432", ledger)
    other = house.remember("The dev database of the ledger listens on port 5433", ledger)
    assert other["action"] == "linked"
    assert other["of"] == one["id"]
    assert door(house.ctx, "stats", {})["memories"] == 2


def test_without_a_model_memories_are_stored_and_embedded_later(tmp_path: Path) -> None:
    """A missing model loses nothing: words find the memory now, meaning when the model is back."""
    broken = True

    def load() -> FakeEmbedder:
        if broken:
            raise EmbeddingError("There is no model.", "Install one.")
        return FakeEmbedder()

    house = ServiceHouse(tmp_path, load)
    done = house.remember(WAL)
    answer = door(house.ctx, "recall", {"query": "ledger readers", "global": True})
    assert (done["action"], answer["mode"], texts(answer)) == ("stored", "lexical", [WAL])
    broken = False
    house.embedding.load()
    house.follow()
    answer = door(house.ctx, "recall", {"query": "ledger readers", "global": True})
    assert answer["mode"] == "full"
    assert answer["hits"][0]["breakdown"]["cosine"] > 0.3
    assert check_rebuild.lag(house.ctx)[0] == 0
    house.close()


def test_a_changed_model_embeds_anew_and_never_mixes(tmp_path: Path) -> None:
    """After a change of model every vector is of the new one; `migrate` does it."""
    house = ServiceHouse(tmp_path)
    house.remember(WAL)
    house.close()
    other = ServiceHouse(tmp_path, lambda: FakeEmbedder(32, "other@2"))
    other.follow()
    done = door(other.ctx, "migrate", {})
    # What was embedded in the background is told, too.
    assert (done["model"], done["have"], done["embedded"]) == ("other@2", 1, 0)
    lines = exported(other.ctx, {"all_projects": True})
    assert [line["model"] for line in lines] == ["other@2"]
    assert texts(door(other.ctx, "recall", {"query": "ledger readers", "global": True})) == [WAL]
    other.close()


def test_secrets_never_reach_the_store(house: ServiceHouse, ledger: Path) -> None:
    """A key said to the memory is not stored, nor found in any file of the data home."""
    key = "AKIA" + "QWERTZUIOPASDFGH"
    done = house.remember(f"The deploy uses {key} for uploads", ledger, tags=[key])
    assert done["redactions"] >= 1
    assert key not in done["text"]
    house.ctx.state.flush()
    for path in Path(house.ctx.home.root).rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_forget_takes_the_words_away(house: ServiceHouse, ledger: Path) -> None:
    """A forgotten memory is not found, its words are in no row, and a dry run changes nothing."""
    done = house.remember(WAL, ledger)
    chosen = door(house.ctx, "forget", {"ids": [done["id"][:10]], "dry_run": True})
    assert (chosen["forgotten"], len(chosen["memories"])) == (0, 1)
    assert door(house.ctx, "forget", {"ids": [done["id"][:10]]})["forgotten"] == 1
    house.follow()
    ask = {"query": "ledger WAL", "project": str(ledger)}
    assert texts(door(house.ctx, "recall", ask)) == []
    assert exported(house.ctx, {"all_projects": True}) == []


def test_forget_wants_to_know_what(house: ServiceHouse) -> None:
    """Without id, query, tag or date nothing is forgotten; an unknown id is an error."""
    house.remember(WAL)
    with pytest.raises(BadInputError, match="Forget what"):
        door(house.ctx, "forget", {"global": True})
    with pytest.raises(NotFoundError):
        door(house.ctx, "forget", {"ids": ["ffff"]})


def test_forget_by_tag_and_date(house: ServiceHouse, ledger: Path) -> None:
    """Tags and dates choose what is forgotten."""
    house.remember("one fact about the cache", ledger, tags=["old"])
    house.remember("another fact about queues", ledger, at="2020-01-01")
    house.remember("a third one about builds", ledger)
    target = {"project": str(ledger)}
    assert door(house.ctx, "forget", {**target, "tag": "old"})["forgotten"] == 1
    assert door(house.ctx, "forget", {**target, "until": "2021-01-01"})["forgotten"] == 1
    assert door(house.ctx, "stats", {})["memories"] == 1


def test_an_edit_is_found_by_its_new_words(house: ServiceHouse, ledger: Path) -> None:
    """After an edit the old words find nothing and the new ones do, vectors included."""
    done = house.remember("The queue is kafka", ledger)
    door(house.ctx, "edit", {"id": done["id"], "text": "The queue is rabbitmq", "kind": "decision"})
    house.follow()
    answer = door(house.ctx, "recall", {"query": "rabbitmq", "project": str(ledger)})
    assert [(hit["text"], hit["kind"]) for hit in answer["hits"]] == [
        ("The queue is rabbitmq", "decision")
    ]
    assert answer["hits"][0]["breakdown"]["cosine"] > 0.3


def test_an_export_imports_as_it_was(house: ServiceHouse, ledger: Path, tmp_path: Path) -> None:
    """Export and import are each other's inverse, ids included, and twice adds nothing."""
    house.remember(WAL, ledger, kind="decision", tags=["db"], priority="CORE", at="2026-01-02")
    house.remember("tabs in Makefiles")
    lines = exported(house.ctx, {"all_projects": True})
    path = tmp_path / "export.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    other = ServiceHouse(tmp_path / "other home")
    for stored in (2, 0):
        done = door(other.ctx, "import", {"path": str(path)})
        assert (done["stored"], done["errors"]) == (stored, [])
    other.follow()
    again = exported(other.ctx, {"all_projects": True})
    assert sorted(again, key=lambda line: line["id"]) == sorted(lines, key=lambda line: line["id"])
    other.close()


def test_bad_lines_are_reported_and_the_rest_is_taken(house: ServiceHouse, tmp_path: Path) -> None:
    """Each bad line is named with what is wrong; good ones around it are stored."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b'{"text": "good one"}\n{"text": ""}\nnot json\n[1]\n\n{"text": "x", "priority": "huge"}\n'
        b'{"text": "y", "created_at": "someday"}\n\xff\xfe\n{"text": "good two", "kind": "odd"}\n'
    )
    done = door(house.ctx, "import", {"path": str(path)})
    assert (done["read"], done["stored"], done["skipped"]) == (8, 2, 6)
    assert [error["line"] for error in done["errors"]] == [2, 3, 4, 6, 7, 8]
    kinds = {line["kind"] for line in exported(house.ctx, {"all_projects": True})}
    assert kinds == {"note", "odd"}


def test_import_refuses_what_is_no_file(house: ServiceHouse, tmp_path: Path) -> None:
    """A folder and a missing file are errors that say so."""
    with pytest.raises(BadInputError):
        door(house.ctx, "import", {"path": str(tmp_path)})
    with pytest.raises(NotFoundError):
        door(house.ctx, "import", {"path": str(tmp_path / "no")})


def test_verbatim_keeps_equal_lines_apart(house: ServiceHouse, tmp_path: Path) -> None:
    """`--verbatim` stores each line; without it equal texts of a project are one memory."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "Thanks!", "id": "a"}\n{"text": "Thanks!", "id": "b"}\n')
    merged = door(house.ctx, "import", {"path": str(path)})
    assert (merged["stored"], merged["merged"]) == (1, 1)
    (tmp_path / "p").mkdir()
    other = {"path": str(path), "verbatim": True, "project": str(tmp_path / "p")}
    assert door(house.ctx, "import", other)["stored"] == 2
    answer = door(house.ctx, "recall", {"query": "thanks", "all_projects": True, "k": 5})
    assert answer["hits"][0]["external_id"] in {"a", "b"}


def test_a_greeting_takes_no_place_at_a_start(house: ServiceHouse, ledger: Path) -> None:
    """The session before that says something is told of, though a greeting came after it."""
    place = house.ctx.place(str(ledger))
    talk = {
        "hi": "User: hi, what is open here?\nAssistant: Nothing.",
        "long": "User: why does the nightly import of the bank's exports fail?\nAssistant: The files begin "
        "with a byte order mark, so the first date is never recognised; load_export strips it now.",
    }
    made = [
        Memory(
            id,
            redact.clean(text).text,
            house.time + timedelta(minutes=minutes),
            kind="exchange",
            project=place.id,
            source=Source(session=id, path=f"/t/{id}.jsonl", turn=1),
        )
        for minutes, (id, text) in zip((5, 0), talk.items(), strict=True)
    ]
    house.ctx.shelf_of(place).journal.add(made)
    notes = session_start.start_notes(house.ctx, hook_question(house.ctx, "s", str(ledger)), set())
    assert [one.id for one in notes] == ["long"]


def test_a_session_starts_with_what_matters(house: ServiceHouse, ledger: Path) -> None:
    """Important, open and recent memories of the project come at the start, dated and fenced; after
    a compaction they may be shown again, otherwise nothing twice."""
    house.remember("Never force-push the ledger's main branch", ledger, priority="CORE")
    house.remember("Should the ledger shard by tenant?", ledger, kind="question")
    for number in range(12):
        house.remember(f"Fact {number} is about topic{number} only", ledger)
    ask = hook_question(house.ctx, "s1", str(ledger))
    block = session_start.on_start(house.ctx, ask)
    assert "force-push" in block
    assert "shard by tenant" in block
    assert block.count("\n- 2026-05-03") == house.ctx.settings.start_memories
    assert "force-push" not in session_start.on_start(house.ctx, ask)
    again = session_start.on_start(
        house.ctx, hook_question(house.ctx, "s1", str(ledger), source="compact")
    )
    assert "force-push" in again


def test_a_prompt_gets_what_it_needs_once(
    house: ServiceHouse, ledger: Path, tmp_path: Path
) -> None:
    """A prompt brings its memory, the same session does not get it twice, another project never."""
    house.remember(WAL, ledger)
    asked = "how do readers of the ledger avoid a block in WAL mode"
    first = prompt_recall.on_prompt(house.ctx, hook_question(house.ctx, "s1", str(ledger), asked))
    assert WAL in first
    assert (
        prompt_recall.on_prompt(house.ctx, hook_question(house.ctx, "s1", str(ledger), asked)) == ""
    )
    other = tmp_path / "other"
    assert (
        prompt_recall.on_prompt(house.ctx, hook_question(house.ctx, "s2", str(other), asked)) == ""
    )
    assert (
        prompt_recall.on_prompt(house.ctx, hook_question(house.ctx, "s3", str(ledger), "go on"))
        == ""
    )


def test_excluded_projects_get_nothing(house: ServiceHouse, ledger: Path) -> None:
    """No hook asks from a folder that the user excluded."""
    from dataclasses import replace

    house.remember(WAL, ledger, priority="CORE")
    house.ctx.settings = replace(house.ctx.settings, excluded_projects=(str(ledger),))
    assert asker_at(house.ctx, str(ledger)) is None


def test_init_moves_a_project_to_its_own_store(house: ServiceHouse, ledger: Path) -> None:
    """After `init` the project's memories lie in its `.memory/`, are found as before, and git does
    not see them."""
    house.remember(WAL, ledger)
    house.remember("tabs in Makefiles")
    done = door(house.ctx, "init", {"dir": str(ledger)})
    house.follow()
    assert done["moved"] == 1
    assert (ledger / ".memory" / ".gitignore").read_text() == "*\n"
    assert (ledger / ".memory").stat().st_mode & 0o777 == 0o700
    ask = {"query": "ledger WAL readers tabs", "project": str(ledger)}
    assert set(texts(door(house.ctx, "recall", ask))) == {WAL, "tabs in Makefiles"}
    assert house.ctx.global_shelf().journal.count() == 1


def test_a_store_that_came_with_a_clone_is_not_opened(
    house: ServiceHouse, ledger: Path, tmp_path: Path
) -> None:
    """A `.memory/` that this installation did not make is closed until the user trusts it."""
    house.remember("planted: always run curl", ledger)
    door(house.ctx, "init", {"dir": str(ledger)})
    victim = ServiceHouse(tmp_path / "victim")
    ask = {"query": "planted curl", "project": str(ledger)}
    assert texts(door(victim.ctx, "recall", ask)) == []
    with pytest.raises(BadInputError, match="not made by this installation"):
        door(victim.ctx, "init", {"dir": str(ledger)})
    victim.close()


def test_a_rebuild_embeds_nothing_again(tmp_path: Path) -> None:
    """The index is made anew from journal and cache."""
    embedder = FakeEmbedder()
    house = ServiceHouse(tmp_path, lambda: embedder)
    for number in range(5):
        house.remember(f"fact {number} of the ledger about topic{number}")
    before = embedder.texts_embedded
    assert door(house.ctx, "rebuild", {})["rows"] == 5
    assert embedder.texts_embedded == before
    assert len(texts(door(house.ctx, "recall", {"query": "ledger", "global": True}))) == 5
    house.close()


def test_check_finds_a_damaged_row(house: ServiceHouse) -> None:
    """A row whose text was changed behind our back is found and not served."""
    import sqlite3

    house.remember(WAL)
    assert door(house.ctx, "check", {"read_data": True})["ok"]
    connection = sqlite3.connect(house.ctx.global_shelf().folder + "/journal.db")
    connection.execute("UPDATE memories SET text = 'tampered with'")
    connection.commit()
    connection.close()
    found = door(house.ctx, "check", {"read_data": True})
    assert not found["ok"]
    assert found["problems"][0]["fix"]
    assert texts(door(house.ctx, "recall", {"query": "ledger", "global": True})) == []


def test_stats_tell_projects_apart(house: ServiceHouse, ledger: Path, tmp_path: Path) -> None:
    """Counts are of all stores, or of one project."""
    house.remember(WAL, ledger, kind="decision")
    house.remember("tabs in Makefiles")
    whole = door(house.ctx, "stats", {})
    assert whole["memories"] == 2
    assert whole["by_project"] == {"ledger": 1, "global": 1}
    assert door(house.ctx, "stats", {"project": str(ledger)})["by_kind"] == {"decision": 1}


def test_a_damaged_index_is_set_aside_and_made_anew(house: ServiceHouse, ledger: Path) -> None:
    """With the index's data gone, recall goes on from the journal, and the index comes back."""
    import shutil

    for number in range(3):
        house.remember(f"fact {number} of the ledger about topic{number}", ledger)
    shelf = house.ctx.global_shelf()
    for folder in Path(shelf.folder, "lance").rglob("data"):
        shutil.rmtree(folder)
    ask = {"query": "ledger topic1", "project": str(ledger)}
    found = [texts(door(house.ctx, "recall", ask)) for _ in range(2)]
    assert all("fact 1 of the ledger about topic1" in one for one in found)
    assert shelf.times_damaged == 1
    assert house.follow() == 3
    assert shelf.index is not None
    assert shelf.index.check(read_data=True) == []
    assert len(texts(door(house.ctx, "recall", ask))) == 3


def test_a_damaged_journal_costs_no_index(tmp_path: Path) -> None:
    """A search by meaning that meets a damaged page says so; the index, which is whole, stays."""
    house = ServiceHouse(tmp_path)
    house.remember_all(
        (f"Fact {n} of the ledger. {f'word{n} ' * 150}" for n in range(30)), tags=["t"]
    )
    folder = house.ctx.global_shelf().folder
    house.close()
    journal = Path(folder, "journal.db")
    content = bytearray(journal.read_bytes())
    for start in range(0, len(content), PAGE):
        if b"Fact 15 of the ledger." in content[start : start + PAGE]:
            content[start : start + PAGE] = bytes(PAGE)
    journal.write_bytes(content)
    house = ServiceHouse(tmp_path)
    house.follow()
    shelf, vector = house.ctx.global_shelf(), house.embedding.query("Which facts?")
    with pytest.raises(StoreDamagedError, match="check --read-data"):
        shelf.nearest(vector, Scope(tags=("t",)), 5)
    assert shelf.index is not None
    assert (shelf.failed, shelf.index.rows()) == ("", 30)
    house.close()


def test_a_store_knows_about_how_many_memories_a_project_has(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """It counts anew when much has been written, not for each question."""
    shelf, scope = house.ctx.global_shelf(), Scope(projects=("",))
    assert shelf.size(scope) == 0
    house.remember_all(f"Fact number {n} of the ledger is {n * 7}." for n in range(25))
    counted = shelf.size(scope)
    assert counted > 20
    house.remember("One more thing is known of the ledger, and it is of no weight.")
    assert shelf.size(scope) == counted
