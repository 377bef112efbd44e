"""Import of notes and knowledge graphs, and Markdown exports, on real stores."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from service_house import Listener, ServiceHouse, door, exported_notes, holding

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Relation, Scope
from vector_memory.service.transfer import (
    knowledge_graph,
    note_files,
)

NOTES = """---
tags: [ops]
---
# Notes

## Deploy

We use:

- Postgres 14 in production
- Redis for the queue

## Rules

- Never commit secrets.
- [ ] write the runbook
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A project's folder, with notes."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "NOTES.md").write_text(NOTES)
    return folder


def brought(
    house: ServiceHouse, *paths: Path, project: Path | None = None, **more: Any
) -> dict[str, Any]:
    """Import files and return the answer."""
    target = {"project": str(project)} if project else {"global": True}
    request = {"paths": [str(path) for path in paths], **target, **more}
    return door(house.ctx, "import_notes", request)


def stored(house: ServiceHouse) -> list[dict[str, Any]]:
    """Return all that is stored and active."""
    return holding(house.ctx, {"all_projects": True})


def texts(house: ServiceHouse) -> set[str]:
    """Return the texts of all that is stored and active."""
    return {one["text"] for one in stored(house)}


def test_notes_are_found_with_their_headings(house: ServiceHouse, ledger: Path) -> None:
    """Kind, tags, title, origin and source are there, and a search finds them."""
    done = brought(house, ledger / "NOTES.md", project=ledger)
    assert (done["files"], done["stored"], done["errors"]) == (1, 4, [])
    house.follow()
    hits = door(house.ctx, "recall", {"query": "which Postgres", "project": str(ledger)})["hits"]
    hit = hits[0]
    assert hit["text"] == "We use: Postgres 14 in production"
    assert (hit["kind"], hit["title"], hit["origin"]) == ("decision", "Deploy", "import")
    assert hit["tags"] == ["notes", "ops", "deploy"]
    assert hit["source"]["path"] == str(ledger / "NOTES.md")
    assert hit["source"]["line_start"] == NOTES.split("\n").index("- Postgres 14 in production") + 1


@pytest.mark.parametrize("data", [b"\x00text", bytes(range(1, 256)) * 9, "Привет".encode("cp1251")])
def test_what_is_no_text_is_refused_by_name(house: ServiceHouse, ledger: Path, data: bytes) -> None:
    path = ledger / "x.md"
    path.write_bytes(data)
    with pytest.raises(BadInputError, match=r"x\.md is no text"):
        brought(house, path, project=ledger)
    done = brought(house, ledger, project=ledger)
    assert [error["file"] for error in done["errors"]] == [str(path)]
    path.write_bytes("The till opens at neun – fünf".encode("latin-1", "replace"))
    assert brought(house, path, project=ledger)["stored"] == 1


def test_a_preview_stores_nothing(house: ServiceHouse, ledger: Path) -> None:
    """It shows every note with what would become of it."""
    listener = Listener()
    request = {"paths": [str(ledger)], "project": str(ledger), "dry_run": True}
    done = door(house.ctx, "import_notes", request, listener)
    assert (done["stored"], stored(house)) == (0, [])
    assert [(one["action"], one["kind"], one["priority"]) for one in listener.items] == [
        ("new", "decision", "NORMAL"),
        ("new", "decision", "NORMAL"),
        ("new", "preference", "CORE"),
        ("new", "todo", "NORMAL"),
    ]
    assert listener.items[3]["done"] is False


def test_a_preview_is_in_the_order_of_the_file(house: ServiceHouse, ledger: Path) -> None:
    """Whatever is done with each note; what is gone comes last."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    text = NOTES.replace("Postgres 14", "Postgres 16").replace("- Redis for the queue\n", "")
    path.write_text(text.replace("## Rules", "- Vault\n\n## House rules"))
    listener = Listener()
    request = {"paths": ["NOTES.md"], "cwd": str(ledger), "dry_run": True}
    door(house.ctx, "import_notes", request, listener)
    assert [one["action"] for one in listener.items] == [
        "changed",
        "new",
        "updated",
        "updated",
        "gone",
    ]


def test_an_unchanged_file_adds_nothing(house: ServiceHouse, ledger: Path) -> None:
    """However often, reordered or not; lines follow."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    before = stored(house)
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["updated"], done["merged"], done["unchanged"]) == (0, 0, 0, 4)
    assert stored(house) == before
    path.write_text(NOTES.replace("## Deploy", "\n\n## Deploy"))
    assert brought(house, path, project=ledger)["unchanged"] == 4
    moved = {one["id"]: one["source"]["lines"][0] for one in stored(house)}
    assert all(moved[one["id"]] == one["source"]["lines"][0] + 2 for one in before)


def test_a_changed_note_supersedes_the_old_one(house: ServiceHouse, ledger: Path) -> None:
    """History knows both; changing it back is another change."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    path.write_text(NOTES.replace("Postgres 14", "Postgres 16"))
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["updated"], done["gone"]) == (0, 1, 0)
    assert "We use: Postgres 16 in production" in texts(house)
    assert "We use: Postgres 14 in production" not in texts(house)
    (new,) = [one for one in stored(house) if "16" in one["text"]]
    chain = door(house.ctx, "history", {"id": new["id"]})
    assert chain["chain"][0]["reason"] == "its file changed"
    assert "Postgres 14" in json.dumps(chain)
    path.write_text(NOTES)
    assert brought(house, path, project=ledger)["updated"] == 1
    assert "We use: Postgres 14 in production" in texts(house)
    assert brought(house, path, project=ledger)["unchanged"] == 4


def test_a_moved_note_and_a_ticked_box_stay_the_same_memory(
    house: ServiceHouse, ledger: Path
) -> None:
    """Only the title, or whether it is done, is another."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    ids = {one["id"] for one in stored(house)}
    path.write_text(NOTES.replace("## Deploy", "## Hosting").replace("[ ]", "[x]"))
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["updated"], done["gone"]) == (0, 3, 0)
    assert {one["id"] for one in stored(house)} == ids
    assert {one["title"] for one in stored(house)} == {"Hosting", ""}
    shelf = house.ctx.all_shelves()[0]
    todo = next(one for one in stored(house) if one["kind"] == "todo")
    assert shelf.journal.get(todo["id"]).extra["done"] is True


def test_what_is_gone_from_the_file_stays_unless_pruned(house: ServiceHouse, ledger: Path) -> None:
    """Pruned notes come back when they stand there again; forgotten ones do not."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    path.write_text(NOTES.replace("- Redis for the queue\n", ""))
    assert brought(house, path, project=ledger)["gone"] == 1
    assert "We use: Redis for the queue" in texts(house)
    assert brought(house, path, project=ledger, prune=True)["forgotten"] == 1
    assert "We use: Redis for the queue" not in texts(house)
    path.write_text(NOTES)
    assert brought(house, path, project=ledger)["stored"] == 1
    (redis,) = [one for one in stored(house) if "Redis" in one["text"]]
    door(house.ctx, "forget", {"ids": [redis["id"]]})
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["left_out"]) == (0, 1)
    assert "We use: Redis for the queue" not in texts(house)


def test_what_was_in_a_file_that_is_gone_stays_unless_pruned(
    house: ServiceHouse, ledger: Path
) -> None:
    """Where its folder is imported, or one above; other folders' notes are not looked at."""
    below, beside = ledger / "docs" / "old", ledger / "docs-more"
    for folder, text in ((below, "The mill stands idle."), (beside, "The barge sails at six.")):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(f"{text}\n")
    brought(house, ledger, project=ledger)
    (below / "a.md").unlink()
    (beside / "a.md").unlink()
    assert brought(house, ledger / "NOTES.md", project=ledger)["gone"] == 0
    assert brought(house, ledger / "docs", project=ledger)["gone"] == 1
    below.rmdir()
    assert brought(house, ledger / "docs", project=ledger, prune=True)["forgotten"] == 1
    assert "The mill stands idle." not in texts(house)
    assert "The barge sails at six." in texts(house)
    beside.rmdir()
    with pytest.raises(NotFoundError):
        brought(house, beside, project=ledger, prune=True)
    assert brought(house, ledger, project=ledger, prune=True)["forgotten"] == 1


def test_what_cannot_be_looked_at_is_not_gone(tmp_path: Path) -> None:
    """As in a folder without rights, or with a name that its disk does not take."""
    assert note_files.is_missing(str(tmp_path / "none" / "a.md"))
    assert not note_files.is_missing(str(tmp_path / ("a" * 300)))


def test_a_note_that_moved_to_another_file_is_not_gone(house: ServiceHouse, ledger: Path) -> None:
    """Neither with its file nor out of it."""
    path = ledger / "NOTES.md"
    brought(house, ledger, project=ledger)
    path.rename(ledger / "MORE.md")
    done = brought(house, ledger, project=ledger, prune=True)
    assert (done["stored"], done["gone"], done["forgotten"]) == (0, 0, 0)
    assert "We use: Redis for the queue" in texts(house)
    path.write_text(NOTES)
    (ledger / "MORE.md").write_text("# More\n")
    done = brought(house, ledger, project=ledger, prune=True)
    assert (done["stored"], done["gone"], done["forgotten"]) == (0, 0, 0)


def test_older_words_come_back_after_newer_ones_were_pruned(
    house: ServiceHouse, ledger: Path
) -> None:
    """What superseded them is no more."""
    path = ledger / "NOTES.md"
    for words, more in (("14", {}), ("16", {}), ("", {"prune": True}), ("14", {})):
        line = f"- Postgres {words} in production\n" if words else ""
        path.write_text(NOTES.replace("- Postgres 14 in production\n", line))
        done = brought(house, path, project=ledger, **more)
    assert done["stored"] == 1
    assert "We use: Postgres 14 in production" in texts(house)


def test_what_a_user_changed_stays_changed(house: ServiceHouse, ledger: Path) -> None:
    """An edited or superseded memory is not put back by its file."""
    path = ledger / "NOTES.md"
    brought(house, path, project=ledger)
    by_text = {one["text"]: one["id"] for one in stored(house)}
    door(
        house.ctx,
        "edit",
        {"id": by_text["We use: Redis for the queue"], "text": "The queue is in Redis 7"},
    )
    postgres = by_text["We use: Postgres 14 in production"]
    house.remember("Production is on Postgres 16 since May", ledger, supersedes=postgres)
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["updated"], done["unchanged"]) == (0, 0, 4)
    assert "The queue is in Redis 7" in texts(house)
    assert "We use: Postgres 14 in production" not in texts(house)


def test_what_is_known_from_elsewhere_is_merged(house: ServiceHouse, ledger: Path) -> None:
    """It gets the note's tags once; pruning the file never forgets it."""
    house.remember("Never commit secrets.", ledger, tags=["mine"])
    path = ledger / "NOTES.md"
    done = brought(house, path, project=ledger)
    assert (done["stored"], done["merged"]) == (3, 1)
    done = brought(house, path, project=ledger)
    assert (done["merged"], done["unchanged"]) == (0, 4)
    path.write_text("# Notes\n\nnothing left\n")
    assert brought(house, path, project=ledger, prune=True)["forgotten"] == 3
    assert "Never commit secrets." in texts(house)


def test_secrets_are_left_out_and_lines_stay_true(house: ServiceHouse, ledger: Path) -> None:
    """Over several lines too: a line that is not known is not told."""
    key = "AKIA" + "QWERTZUIOPASDFGH"
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nabcdef\n-----END RSA PRIVATE KEY-----"
    path = ledger / "keys.md"
    path.write_text(f"# Keys\n\nThe deploy uses {key} for it.\n\n{pem}\n\nLast words.\n")
    done = brought(house, path, project=ledger)
    assert done["redactions"] >= 2
    house.ctx.state.flush()
    for file in Path(house.ctx.home.root).rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes()
            assert b"MIIEabc" not in file.read_bytes()
    lines = {one["text"]: one["source"]["lines"] for one in stored(house)}
    assert lines["Last words."] == [0, 0]


def test_a_superseded_decision_gives_way_to_its_successor(
    house: ServiceHouse, ledger: Path
) -> None:
    """When both are imported; alone it is left out, since it does not hold any more."""
    folder = ledger / "docs" / "adr"
    folder.mkdir(parents=True)
    old, new = folder / "0001-queue.md", folder / "0002-kafka.md"
    record = "# {title}\n\nDate: {date}\n\n## Status\n\n{status}\n\n## Decision\n\n{text}\n"
    accepted = record.format(
        title="Queue", date="2024-01-02", status="Accepted", text="Jobs go through RabbitMQ."
    )
    superseded = accepted.replace("Accepted", "Superseded by [2](0002-kafka.md)")
    old.write_text(superseded)
    assert brought(house, old, project=ledger)["left_out"] == 1
    old.write_text(accepted)
    assert brought(house, folder, project=ledger)["stored"] == 1
    old.write_text(superseded)
    new.write_text(
        record.format(
            title="Kafka", date="2025-01-02", status="Accepted", text="Jobs go through Kafka."
        )
    )
    for updated in (1, 0):
        done = brought(house, folder, project=ledger)
        assert (done["updated"], done["errors"]) == (updated, [])
    (kafka,) = stored(house)
    assert (kafka["text"], kafka["kind"], kafka["priority"]) == (
        "Jobs go through Kafka.",
        "decision",
        "HIGH",
    )
    assert kafka["created_at"].startswith("2025-01-02")
    assert "RabbitMQ" in json.dumps(door(house.ctx, "history", {"id": kafka["id"]}))


def test_only_regular_files_of_a_size_are_read(house: ServiceHouse, tmp_path: Path) -> None:
    """Links, FIFOs, endless files and missing ones are refused; in folders they are passed over."""
    folder = tmp_path / "notes"
    folder.mkdir()
    os.symlink("/etc/passwd", folder / "link.md")
    os.mkfifo(folder / "pipe.md")
    (folder / "long.md").write_bytes(b"x" * (note_files.MAX_BYTES + 1))
    (folder / "CLAUDE.md").write_text("loaded by the client")
    (folder / "latin.md").write_bytes(b"caf\xe9 opens at eight\r\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.markdown").write_text("\ufeffdeep note", encoding="utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "no.md").write_text("not a note")
    for name, error in (("link", "link"), ("pipe", "regular"), ("long", "longer")):
        with pytest.raises(BadInputError, match=error):
            brought(house, folder / f"{name}.md")
    with pytest.raises(NotFoundError):
        brought(house, folder / "none.md")
    done = brought(house, folder)
    assert [Path(one["file"]).name for one in done["errors"]] == ["link.md", "long.md", "pipe.md"]
    assert texts(house) == {"caf\ufffd opens at eight", "deep note"}
    brought(house, folder / "CLAUDE.md")
    assert "loaded by the client" in texts(house)


def test_a_file_named_twice_is_read_once(house: ServiceHouse, ledger: Path) -> None:
    """In whatever way, and in a folder that is named too."""
    (ledger / "sub").mkdir()
    paths = (ledger, ledger / "NOTES.md", ledger / "sub" / ".." / "NOTES.md")
    assert brought(house, *paths, project=ledger)["files"] == 1


def test_too_many_files_are_refused(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever names their home folder did not mean it."""
    monkeypatch.setattr(note_files, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / f"{name}.md").write_text("text of it")
    with pytest.raises(BadInputError, match="more than"):
        brought(house, tmp_path)
    assert stored(house) == []


def test_init_finds_the_usual_files(house: ServiceHouse, ledger: Path) -> None:
    """But not what the client loads itself, nor links."""
    (ledger / "docs" / "adr").mkdir(parents=True)
    (ledger / ".claude").mkdir()
    for name in ("MEMORY.md", "ADR-1.md", "README.md", "docs/adr/0001-x.md", ".claude/api.md"):
        (ledger / name).write_text("text")
    (ledger / ".claude" / "CLAUDE.md").write_text("text")
    os.symlink("/etc/passwd", ledger / ".claude" / "link.md")
    found = door(house.ctx, "init", {"dir": str(ledger)})["found"]
    assert [os.path.relpath(path, ledger) for path in found] == [
        "MEMORY.md",
        "NOTES.md",
        "docs/adr/0001-x.md",
        ".claude/api.md",
        "ADR-1.md",
    ]


class TestMarkdownExport:
    """`export --format markdown`."""

    def written(self, house: ServiceHouse, folder: Path, **request: Any) -> Path:
        """Write an export of everything and return its path."""
        request = request or {"all_projects": True}
        path = folder / "export.md"
        path.write_text("".join(exported_notes(house.ctx, request)))
        return path

    def filled(self, house: ServiceHouse, ledger: Path) -> None:
        """Remember a few things, one of them hard to quote."""
        house.remember(
            "We use WAL\n\n# not a heading\n```\nx", ledger, kind="decision", tags=["db"]
        )
        house.remember("The tests run in a container", ledger, priority="HIGH", at="2026-01-02")
        house.remember("I prefer tabs")

    def test_it_is_grouped_and_dated(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """By project, then by kind."""
        self.filled(house, ledger)
        lines = self.written(house, tmp_path).read_text().split("\n")
        headings = [line for line in lines if line.startswith("#")]
        assert headings == ["# Memories", "## Global", "### note", "## ledger", "### decision",
                            "### note"]  # fmt: skip
        assert "\n\n\n" not in "\n".join(lines)
        assert any(line.startswith("- 2026-01-02 · HIGH <!-- memory ") for line in lines)

    def test_importing_it_back_adds_nothing(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """With whatever target, wherever the projects' stores are."""
        door(house.ctx, "init", {"dir": str(ledger)})
        self.filled(house, ledger)
        before = stored(house)
        done = brought(house, self.written(house, tmp_path), project=tmp_path)
        assert (done["stored"], done["merged"], done["unchanged"]) == (0, 0, 3)
        assert stored(house) == before

    def test_elsewhere_it_brings_everything(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """Ids, dates, kinds and projects included; once."""
        self.filled(house, ledger)
        path = self.written(house, tmp_path)
        other = ServiceHouse(tmp_path / "other home")
        for count in (3, 0):
            assert brought(other, path)["stored"] == count
        other.follow()

        def by_id(one: dict[str, Any]) -> str:
            return str(one["id"])

        assert sorted(stored(other), key=by_id) == sorted(stored(house), key=by_id)
        other.close()

    @pytest.mark.parametrize("data", [b"\x00", bytes(range(128, 256)) * 99])
    def test_one_that_is_no_text_is_refused_before_anything_is_stored(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path, data: bytes
    ) -> None:
        """As any other file of notes."""
        self.filled(house, ledger)
        path = self.written(house, tmp_path)
        path.write_bytes(path.read_bytes() + data)
        other = ServiceHouse(tmp_path / "other home")
        with pytest.raises(BadInputError, match=r"export\.md is no text"):
            brought(other, path)
        assert stored(other) == []
        other.close()

    def test_what_is_done_stays_done(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """A ticked box does not open again elsewhere."""
        (ledger / "TODO.md").write_text("- [x] write docs\n- [ ] fix tests\n")
        brought(house, ledger / "TODO.md", project=ledger)
        path = self.written(house, tmp_path)
        other = ServiceHouse(tmp_path / "other home")
        brought(other, path)
        left = other.ctx.global_shelf().journal.open_items(Scope(), 10)
        assert [memory.text for memory in left] == ["fix tests"]
        other.close()

    def test_what_was_edited_in_it_is_taken_over(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """Once, and again after another edit; what was forgotten stays so."""
        self.filled(house, ledger)
        path = self.written(house, tmp_path)
        text = path.read_text()
        for word, before in (("podman", "a container"), ("docker", "podman")):
            text = text.replace(before, word)
            path.write_text(text)
            for updated in (1, 0):
                assert brought(house, path)["updated"] == updated
        assert "The tests run in docker" in texts(house)
        assert len(stored(house)) == 3
        (tabs,) = [one for one in stored(house) if "tabs" in one["text"]]
        door(house.ctx, "forget", {"ids": [tabs["id"]]})
        assert brought(house, path)["left_out"] == 1
        assert "I prefer tabs" not in texts(house)

    def test_a_damaged_item_is_reported(
        self, house: ServiceHouse, ledger: Path, tmp_path: Path
    ) -> None:
        """The others are taken."""
        self.filled(house, ledger)
        path = self.written(house, tmp_path)
        path.write_text(path.read_text().replace('"origin": "user"', '"origin": "moon"', 1))
        other = ServiceHouse(tmp_path / "other home")
        done = brought(other, path)
        assert (done["stored"], len(done["errors"])) == (2, 1)
        other.close()


ENTITIES = [
    {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes Go"]},
    {"type": "entity", "name": "Ledger", "entityType": "project",
     "observations": ["is written in Go", "has three tables"]},
]  # fmt: skip
RELATION = {"type": "relation", "from": "Anna", "to": "Ledger", "relationType": "works_on"}


class TestKnowledgeGraph:
    """The file of the MCP memory server."""

    def graph(self, folder: Path, *items: Any, whole: bool = False) -> Path:
        """Write a graph as JSON lines or as one object."""
        path = folder / "memory.json"
        if whole:
            relations = [one for one in items if one["type"] == "relation"]
            entities = [one for one in items if one["type"] == "entity"]
            path.write_text(json.dumps({"entities": entities, "relations": relations}, indent=1))
        else:
            path.write_text("".join(json.dumps(item) + "\n" for item in items))
        return path

    def brought(self, house: ServiceHouse, path: Path) -> dict[str, Any]:
        """Import a graph."""
        return door(house.ctx, "import", {"path": str(path), "global": True})

    @pytest.mark.parametrize("whole", [False, True])
    def test_observations_and_relations_are_memories(
        self, house: ServiceHouse, tmp_path: Path, whole: bool
    ) -> None:
        """A relation is linked to what is known of its two ends; again it adds nothing."""
        path = self.graph(tmp_path, *ENTITIES, RELATION, whole=whole)
        assert knowledge_graph.is_graph(str(path))
        assert self.brought(house, path)["stored"] == 4
        again = self.brought(house, path)
        assert (again["stored"], again["merged"], again["errors"]) == (0, 4, [])
        by_text = {one["text"]: one for one in stored(house)}
        assert by_text["Ledger: has three tables"]["tags"] == ["project"]
        journal = house.ctx.global_shelf().journal
        relation = journal.get(by_text["Anna works on Ledger"]["id"])
        assert (relation.kind, relation.extra["entities"]) == ("context", ["Anna", "Ledger"])
        links = journal.links_of([relation.id])
        assert {link.relation for link in links} == {Relation.RELATES_TO}
        assert {link.to_id for link in links} == {
            one["id"] for one in by_text.values() if one["id"] != relation.id
        }

    def test_a_later_import_brings_what_was_added(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """What was forgotten since stays forgotten."""
        self.brought(house, self.graph(tmp_path, *ENTITIES))
        (likes,) = [one for one in stored(house) if one["text"] == "Anna: likes Go"]
        door(house.ctx, "forget", {"ids": [likes["id"]]})
        more = {**ENTITIES[1], "observations": ["is written in Go", "is fast"]}
        done = self.brought(house, self.graph(tmp_path, ENTITIES[0], more, RELATION))
        assert done["stored"] == 2
        assert "Anna: likes Go" not in texts(house)

    def test_bad_lines_are_reported(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And secrets are left out."""
        path = self.graph(tmp_path, ENTITIES[0], {"type": "entity"})
        key = "AKIA" + "QWERTZUIOPASDFGH"
        path.write_text(
            path.read_text()
            + "no json\n"
            + json.dumps({**ENTITIES[1], "observations": [f"uses {key}"]})
        )
        done = self.brought(house, path)
        assert [error["line"] for error in done["errors"]] == [2, 3]
        assert (done["stored"], done["redactions"]) == (2, 1)
        assert not any(key in text for text in texts(house))

    def test_memories_of_ours_are_no_graph(self, tmp_path: Path) -> None:
        """Whatever else their lines say."""
        path = tmp_path / "x.jsonl"
        for text in ('{"text": "x", "type": "entity", "name": "y"}\n', "{broken\n", ""):
            path.write_text(text)
            assert not knowledge_graph.is_graph(str(path))


@pytest.mark.parametrize("together", [True, False], ids=["at once", "one after the other"])
def test_what_another_file_says_too_is_not_pruned_with_one(
    house: ServiceHouse, ledger: Path, together: bool
) -> None:
    """It is the other file's from then on, and goes when it is gone there; or at once, where that file is gone."""
    said = "Login uses OAuth with PKCE."
    one, other, third = (ledger / f"{name}.md" for name in ("one", "other", "third"))
    one.write_text(f"# One\n\n- {said}\n- The fridge is blue.\n")
    other.write_text(f"# Other\n\n- {said}\n- The door is red.\n")
    third.write_text(f"# Third\n\n- {said}\n")
    for path in (ledger,) if together else (one, other, third):
        brought(house, path, project=ledger)
    assert brought(house, other, project=ledger)["updated"] == 0
    one.write_text("# One\n\n- The fridge is blue.\n")
    done = brought(house, one, project=ledger, prune=True)
    assert (done["gone"], done["forgotten"], said in texts(house)) == (0, 0, True)
    done = brought(house, other, project=ledger)
    assert (done["stored"], done["updated"], done["gone"]) == (0, 0, 0)
    third.unlink()
    other.write_text("# Other\n\n- The door is red.\n")
    assert brought(house, other, project=ledger, prune=True)["forgotten"] == 1
    assert said not in texts(house) and "The door is red." in texts(house)


def test_what_is_found_in_one_more_file_is_an_effect_of_an_import(
    house: ServiceHouse, ledger: Path
) -> None:
    """Where a preview calls all of it unchanged, the command ends there, and the file was never noted."""
    one, others = ledger / "one.md", [ledger / "two.md", ledger / "three.md"]
    for path in (one, *others):
        path.write_text("# Books\n\n- The ledger keeps seven years of books.\n")
    brought(house, one, project=ledger)
    assert brought(house, *others, project=ledger, dry_run=True)["unchanged"] == 0
    assert brought(house, *others, project=ledger)["merged"] == 2
    assert brought(house, *others, project=ledger)["unchanged"] == 2
    one.unlink()
    others[1].unlink()
    brought(house, ledger, project=ledger, prune=True)
    assert "The ledger keeps seven years of books." in texts(house)


def test_what_another_file_says_no_more_is_not_handed_over_to_it(
    house: ServiceHouse, ledger: Path
) -> None:
    """Of two others the one that says it still has it, on the line where it stands now."""
    said = "Invoices are numbered by year."
    books = ledger / "books"
    books.mkdir()
    one, two, three = books / "one.md", ledger / "two.md", ledger / "three.md"
    for path in (one, two, three):
        path.write_text(f"# Books\n\n- {said}\n")
        brought(house, path, project=ledger)
    one.unlink()
    two.write_text("# Books\n\n- Nothing of the kind stands here now.\n")
    three.write_text(f"# Books of account\n\nBy hand.\n\n- {said}\n")
    done = brought(house, books, project=ledger, prune=True)
    assert (done["updated"], done["forgotten"]) == (1, 0)
    (note,) = [note for note in stored(house) if note["text"] == said]
    assert note["source"] == {"path": str(three), "lines": [5, 5]}
    three.write_text("# Books\n\n- Nor here.\n")
    assert brought(house, three, project=ledger, prune=True)["forgotten"] == 1


def test_notes_of_one_text_in_one_import_keep_all_tags(house: ServiceHouse, ledger: Path) -> None:
    house.remember("Never commit secrets.", ledger, tags=["mine"])
    for tag in ("tax", "books"):
        (ledger / f"{tag}.md").write_text(f"---\ntags: [{tag}]\n---\n- Never commit secrets.\n")
    brought(house, ledger, project=ledger)
    (note,) = [note for note in stored(house) if note["text"] == "Never commit secrets."]
    assert {"mine", "tax", "books"} <= set(note["tags"])


def test_what_one_file_said_twice_goes_with_both(house: ServiceHouse, ledger: Path) -> None:
    path = ledger / "one.md"
    path.write_text("# One\n\n- The mill stands idle.\n\n# Two\n\n- The mill stands idle.\n")
    for _ in range(2):
        brought(house, path, project=ledger)
    path.write_text("# One\n\n- The barge sails at six.\n")
    assert brought(house, path, project=ledger, prune=True)["forgotten"] == 1
    assert "The mill stands idle." not in texts(house)
