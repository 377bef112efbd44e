"""Backup and restore: one file that holds everything, refused unless it is whole and ours."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import (
    BadInputError,
    NotFoundError,
    StoreDamagedError,
    StoreFullError,
    VectorMemoryError,
)
from vector_memory.journal import audit, audit_files, audit_log
from vector_memory.model import Scope
from vector_memory.service.base.context import Context
from vector_memory.service.purge import byte_search
from vector_memory.service.upkeep import backup_file, restore
from vector_memory.system.paths import Home
from vector_memory.system.unpacking import Unpacked


def quiet(done: int, total: int, doing: str) -> None:
    """Take no notice of progress."""


def backup(ctx: Context, path: Path | None = None, **more: Any) -> Path:
    request = {"path": str(path) if path else None, **more}
    return Path(door(ctx, "backup", request)["file"])


def store(house: ServiceHouse, text: str, project: Path | None = None) -> None:
    """Remember a text; the index does not follow."""
    target = {"project": str(project)} if project else {"global": True}
    door(house.ctx, "remember", {"text": text, **target})


def restored(house: ServiceHouse, path: Path) -> ServiceHouse:
    """Restore a backup as two daemons do it, one after the other."""
    restore.restore(house.ctx.home, str(path), house.ctx.state.trusted_folders(), quiet)
    house.close()
    done = restore.finish(house.ctx.home)
    assert done is not None
    again = ServiceHouse(Path(house.ctx.home.root).parent)
    for folder in done.trusted:
        again.ctx.state.trust(folder)
    return again


def texts(house: ServiceHouse) -> set[str]:
    return {
        str(one.text)
        for shelf in house.ctx.all_shelves()
        for one in shelf.journal.iter_memories(Scope())
    }


def test_what_was_is_there_again(house: ServiceHouse, tmp_path: Path) -> None:
    """Memories, state, settings and archives come back; what came later is set aside; the index
    finds the old and not the new."""
    project = tmp_path / "ledger"
    project.mkdir()
    door(house.ctx, "init", {"dir": str(project)})
    house.remember("Deploys go through staging")
    house.remember("The ledger is kept in SQLite", project)
    house.ctx.state.set_cursor("/t/1.jsonl", {"at": 7})
    Path(house.ctx.home.config).write_text('{"threshold": 0.3}')
    archive = Path(house.ctx.home.archives, "ledger", "2026-05-03-s1.md")
    archive.parent.mkdir(parents=True)
    archive.write_text("# a session\n")
    written = backup(house.ctx, tmp_path / "one.tar.gz")
    assert written.stat().st_mode & 0o777 == 0o600
    house.remember("Deploys go through main now, said much later")
    archive.write_text("# changed\n")
    Path(house.ctx.home.config).write_text("{}")
    again = restored(house, written)
    assert texts(again) == {"Deploys go through staging", "The ledger is kept in SQLite"}
    assert again.ctx.state.cursor("/t/1.jsonl") == {"at": 7}
    assert archive.read_text() == "# a session\n"
    assert json.loads(Path(again.ctx.home.config).read_text()) == {"threshold": 0.3}
    assert again.follow() == 2
    shelf = again.ctx.global_shelf()
    assert shelf.index is not None
    assert [len(shelf.index.begin_matching(["deploi"], Scope(), 9)()), shelf.index.rows()] == [1, 1]
    assert again.remember("A new one after the restore")["action"] == "stored"
    assert len(list(Path(again.ctx.home.global_store).glob("journal.db.replaced-*"))) == 1
    assert not list(Path(again.ctx.home.root).rglob("*.staged"))
    again.close()


def test_the_audit_log_comes_back_whole(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries that moved to files are in the backup, too; those that move later are set aside with the state
    whose chain they belong to."""
    monkeypatch.setattr(audit, "MOST_ROWS", 20)
    monkeypatch.setattr(audit, "ROWS_KEPT", 5)
    monkeypatch.setattr(audit_log, "LOOK_AFTER", 1)

    def act(count: int) -> None:
        for number in range(count):
            house.ctx.state.audit("forget", "user", [], {"n": number})
        house.ctx.state.rotate_audit()

    act(30)
    made = backup(house.ctx, tmp_path / "b.tar.gz")
    known = len(house.ctx.state.audit_entries(1_000))
    act(40)
    assert len(house.ctx.state.audit_files()) == 2
    again = restored(house, made)
    assert again.ctx.state.audit_break(whole=True) == ""
    # What came after the state was copied is known by the file alone that was made.
    assert len(again.ctx.state.audit_entries(1_000)) == known - 1
    assert len(again.ctx.state.audit_files()) == 1
    again.close()


def test_a_lost_home_comes_back(house: ServiceHouse, tmp_path: Path) -> None:
    """On another machine, into an empty home; a project that is not there is left out and told."""
    gone = tmp_path / "gone"
    gone.mkdir()
    door(house.ctx, "init", {"dir": str(gone)})
    store(house, "Deploys go through staging")
    store(house, "Of the project that is gone", gone)
    written = backup(house.ctx, tmp_path / "one.tar.gz")
    gone.rename(tmp_path / "elsewhere")
    home = Home(str(tmp_path / "new")).make()
    told = restore.restore(home, str(written), [], quiet)
    assert [bool(store.left_out) for store in told.stores] == [False, True]
    assert told.memories == 1
    restore.finish(home)
    raw = sqlite3.connect(os.path.join(home.global_store, "journal.db"))
    assert raw.execute("SELECT text FROM memories").fetchall() == [("Deploys go through staging",)]
    raw.close()


def test_vectors_are_left_out_unless_wanted(house: ServiceHouse, tmp_path: Path) -> None:
    """Without them every memory counts as not embedded, so that it is embedded again."""
    for n in range(5):
        house.remember(f"Fact {n} stands on its own legs")
    plain = backup(house.ctx, tmp_path / "plain.tar.gz")
    whole = backup(house.ctx, tmp_path / "whole.tar.gz", with_vectors=True)
    assert vectors_in(plain, tmp_path) == (0, 5)
    assert vectors_in(whole, tmp_path)[0] == 5
    model = house.embedding.model
    again = restored(house, plain)
    assert again.follow() == 5
    shelf = again.ctx.global_shelf()
    assert shelf.journal.count_without_model(model) == 0
    again.close()


def vectors_in(path: Path, tmp_path: Path) -> tuple[int, int]:
    """Return how many vectors and how many memories without a model a backup's journal holds."""
    with tarfile.open(path) as tar:
        content = tar.extractfile("stores/0/journal.db")
        assert content is not None
        copy = tmp_path / "copy.db"
        copy.write_bytes(content.read())
    raw = sqlite3.connect(copy)
    found = raw.execute("SELECT (SELECT count(*) FROM vectors), sum(model = 0) FROM memories")
    row = found.fetchone()
    raw.close()
    return int(row[0]), int(row[1])


def test_writing_goes_on_meanwhile(house: ServiceHouse, tmp_path: Path) -> None:
    """A backup shows one moment: of memories stored one after the other it has a beginning."""
    stop = threading.Event()
    shelf = house.ctx.global_shelf()
    store(house, "Number 0 was first")

    def write() -> None:
        first = next(iter(shelf.journal.iter_memories(Scope())))
        n = 0
        while not stop.is_set():
            n += 1
            shelf.journal.add([replace(first, id=f"{n:032x}")])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        files = [backup(house.ctx, tmp_path / f"{n}.tar.gz") for n in range(3)]
    finally:
        stop.set()
        writer.join()
    for path in files:
        with tarfile.open(path) as tar:
            content = tar.extractfile("stores/0/journal.db")
            assert content is not None
            copy = tmp_path / "copy.db"
            copy.write_bytes(content.read())
        raw = sqlite3.connect(copy)
        count, highest = raw.execute("SELECT count(*), max(seq) FROM memories").fetchone()
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        raw.close()
        assert count == highest


def test_a_name_that_is_taken_is_refused(house: ServiceHouse, tmp_path: Path) -> None:
    """Nothing is overwritten; a folder gets a file with the time in its name."""
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(BadInputError, match="already"):
        backup(house.ctx, taken)
    assert taken.read_text() == "mine"
    (tmp_path / "folder").mkdir()
    assert backup(house.ctx, tmp_path / "folder").parent == tmp_path / "folder"
    assert str(backup(house.ctx)).startswith(house.ctx.home.backups)


def test_a_backup_that_cannot_be_written_leaves_nothing(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is told, and no part of a file stays."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_file, "sync_descriptor", full)
    (tmp_path / "to").mkdir()
    with pytest.raises(StoreFullError) as caught:
        backup(house.ctx, tmp_path / "to")
    assert caught.value.hint
    assert list((tmp_path / "to").iterdir()) == []


def test_a_copy_that_is_damaged_at_once_does_not_count(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written is read again before it has its name."""
    true = backup_file.write

    def spoiled(path: str, *rest: Any) -> Any:
        done = true(path, *rest)
        content = bytearray(Path(path).read_bytes())
        content[len(content) // 2] ^= 255
        Path(path).write_bytes(content)
        return done

    monkeypatch.setattr(backup_file, "write", spoiled)
    (tmp_path / "to").mkdir()
    with pytest.raises(StoreDamagedError):
        backup(house.ctx, tmp_path / "to")
    assert list((tmp_path / "to").iterdir()) == []


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return a copy of a backup whose parts were changed by hand."""
    with tarfile.open(path) as tar:
        parts = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]
    change(parts)
    target = path.with_name("changed.tar.gz")
    with tarfile.open(target, "w:gz") as tar:
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target


def manifest(parts: dict[str, bytes], **changes: Any) -> None:
    parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), **changes}).encode()


def escaping(parts: dict[str, bytes]) -> None:
    """Name a part so that it would be written outside, digest and all."""
    told = json.loads(parts["manifest.json"])
    told["files"]["archives/../../evil"] = told["files"]["state.db"]
    parts["archives/../../evil"] = parts["state.db"]
    manifest(parts, files=told["files"])


def foreign_store(parts: dict[str, bytes]) -> None:
    told = json.loads(parts["manifest.json"])
    told["stores"][0]["name"] = "/etc/journal.db"
    manifest(parts, stores=told["stores"])


def newer(parts: dict[str, bytes]) -> None:
    manifest(parts, schema={"journal": 99, "state": 1})


CHANGES: dict[str, tuple[Callable[[dict[str, bytes]], None], type[VectorMemoryError]]] = {
    "another program's": (lambda parts: manifest(parts, program="tar"), BadInputError),
    "a newer format": (lambda parts: manifest(parts, format=99), StoreDamagedError),
    "a newer schema": (newer, StoreDamagedError),
    "no manifest": (lambda parts: parts.pop("manifest.json") and None, BadInputError),
    "a part too many": (lambda parts: parts.update({"more": b"x"}), BadInputError),
    "a part too few": (lambda parts: parts.pop("state.db") and None, StoreDamagedError),
    "another content": (
        lambda parts: parts.update({"state.db": bytes(len(parts["state.db"]))}),
        StoreDamagedError,
    ),
    "another size": (lambda parts: parts.update({"state.db": b"x"}), BadInputError),
    "a way out": (escaping, BadInputError),
    "a store elsewhere": (foreign_store, BadInputError),
    "a list": (lambda parts: parts.update({"manifest.json": b"[]"}), BadInputError),
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_what_is_not_a_whole_backup_of_ours_is_refused(
    house: ServiceHouse, tmp_path: Path, name: str
) -> None:
    """Whatever is wrong is told before anything is touched."""
    store(house, "Deploys go through staging")
    change, error = CHANGES[name]
    path = rewritten(backup(house.ctx, tmp_path / "one.tar.gz"), change)
    before = everything(house)
    for dry in (True, False):
        with pytest.raises(error) as caught:
            if dry:
                restore.preview(house.ctx.home, str(path))
            else:
                restore.restore(house.ctx.home, str(path), [], quiet)
        assert caught.value.hint
    assert everything(house) == before
    assert not (tmp_path / "evil").exists()


def everything(house: ServiceHouse) -> set[str]:
    return {str(path) for path in Path(house.ctx.home.root).rglob("*")}


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.99])
def test_a_file_cut_short_is_refused(house: ServiceHouse, tmp_path: Path, share: float) -> None:
    """At whatever length; an empty file, too."""
    store(house, "Deploys go through staging")
    path = backup(house.ctx, tmp_path / "one.tar.gz")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises((StoreDamagedError, BadInputError)):
        restore.restore(house.ctx.home, str(path), [], quiet)


def test_other_files_are_refused(house: ServiceHouse, tmp_path: Path) -> None:
    """No file, a folder, a text, a tar of somebody else's."""
    with pytest.raises(NotFoundError):
        restore.preview(house.ctx.home, str(tmp_path / "none"))
    with pytest.raises(BadInputError):
        restore.preview(house.ctx.home, str(tmp_path))
    (tmp_path / "text").write_text("hello")
    with pytest.raises((BadInputError, StoreDamagedError)):
        restore.preview(house.ctx.home, str(tmp_path / "text"))
    (tmp_path / "packed").write_bytes(gzip.compress(b"hello" * 1000))
    with pytest.raises((BadInputError, StoreDamagedError)):
        restore.preview(house.ctx.home, str(tmp_path / "packed"))


def test_a_damaged_database_in_a_whole_backup_is_refused(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Digests that are right do not make a database of junk."""
    import hashlib

    path = backup(house.ctx, tmp_path / "one.tar.gz")

    def junk(parts: dict[str, bytes]) -> None:
        content = bytes(4096 * 8)
        parts["stores/0/journal.db"] = content
        told = json.loads(parts["manifest.json"])
        told["files"]["stores/0/journal.db"] = {
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        manifest(parts, files=told["files"])

    before = everything(house)
    with pytest.raises(StoreDamagedError):
        restore.restore(house.ctx.home, str(rewritten(path, junk)), [], quiet)
    assert everything(house) == before


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6, 7, 8])
def test_an_interrupted_restore_is_finished(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Whichever rename it died at, the next daemon goes on from there."""
    store(house, "Deploys go through staging")
    Path(house.ctx.home.config).write_text("{}")
    path = backup(house.ctx, tmp_path / "one.tar.gz")
    store(house, "Something else, said much later")
    restore.restore(house.ctx.home, str(path), [], quiet)
    house.close()
    true, left = os.rename, [step]

    def dying(*names: Any, **more: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(5, "for a test")
        true(*names, **more)

    monkeypatch.setattr(os, "rename", dying)
    try:
        restore.finish(house.ctx.home)
    except StoreFullError:
        monkeypatch.undo()
        assert restore.finish(house.ctx.home) is not None
    monkeypatch.undo()
    assert restore.finish(house.ctx.home) is None
    again = ServiceHouse(tmp_path)
    assert texts(again) == {"Deploys go through staging"}
    again.close()


def test_a_restore_without_room_changes_nothing(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and neither a plan nor parts stay."""
    store(house, "Deploys go through staging")
    path = backup(house.ctx, tmp_path / "one.tar.gz")
    before = everything(house)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(restore.durable_files, "sync_descriptor", full)
    with pytest.raises(StoreFullError):
        restore.restore(house.ctx.home, str(path), [], quiet)
    assert everything(house) == before
    assert restore.finish(house.ctx.home) is None


def test_a_plan_of_junk_is_dropped(house: ServiceHouse) -> None:
    """It does not keep the daemon from starting."""
    Path(house.ctx.home.restore_plan).write_text("{")
    assert restore.finish(house.ctx.home) is None
    assert not Path(house.ctx.home.restore_plan).exists()


def packed(
    path: Path, manifest: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]]
) -> Path:
    """Write a file that is shaped like a backup."""
    with gzip.open(path, "wb", 9) as out:
        for info, content in [
            (tarfile.TarInfo("manifest.json"), json.dumps(manifest).encode()),
            *members,
        ]:
            info.size = info.size or len(content)
            out.write(info.tobuf(tarfile.PAX_FORMAT))
            out.write(content + b"\0" * (-len(content) % 512))
        out.write(b"\0" * 10_240)
    return path


def bomb(path: Path, size: int, way: str) -> Path:
    """Write a small file that unpacks to so many bytes, in one of the ways that a tar has."""
    zeros = bytes(size)
    digest = hashlib.sha256(zeros).hexdigest()
    part = {"size": size, "sha256": digest}
    manifest: dict[str, Any] = {"format": 2, "program": "vector-memory", "stores": [],
                                "files": {"state.db": part}}  # fmt: skip
    info = tarfile.TarInfo("state.db")
    if way == "honest":
        return packed(path, manifest, [(info, zeros)])
    if way == "a manifest":
        manifest["files"]["state.db"] = {**part, "x": "y" * size}
        return packed(path, manifest, [])
    part["size"] = 9
    if way == "a part that says less":
        return packed(path, manifest, [(info, zeros)])
    if way == "sparse":
        info.type, info.size = tarfile.GNUTYPE_SPARSE, 9
        return packed(path, manifest, [(info, zeros)])
    if way in ("a long name", "a long link", "a header", "a common header"):
        info.type = {"a long name": tarfile.GNUTYPE_LONGNAME, "a long link": tarfile.GNUTYPE_LONGLINK,
                     "a header": tarfile.XHDTYPE, "a common header": tarfile.XGLTYPE}[way]  # fmt: skip
        return packed(path, manifest, [(info, zeros)])
    if way == "before all":
        with gzip.open(path, "wb", 9) as out:
            info.type = tarfile.XHDTYPE
            info.size = size
            out.write(info.tobuf(tarfile.PAX_FORMAT) + zeros)
        return path
    assert way == "behind all"
    part |= {"size": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
    return packed(
        path, manifest, [(tarfile.TarInfo("state.db"), b"x"), (tarfile.TarInfo("more"), zeros)]
    )


BOMBS = ("honest", "a manifest", "a part that says less", "sparse", "a long name", "a long link",
         "a header", "a common header", "before all", "behind all")  # fmt: skip


@pytest.mark.parametrize("way", BOMBS)
def test_a_bomb_is_refused_before_it_is_unpacked(
    house: ServiceHouse, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it hides what it unpacks to: little of it is unpacked, and nothing of it is kept."""
    path = bomb(tmp_path / "bomb.tar.gz", 160 << 20, way)
    assert path.stat().st_size < 1 << 20
    unpacked = 0
    true = Unpacked.read

    def counted(self: Unpacked, size: int = -1) -> bytes:
        nonlocal unpacked
        data = true(self, size)
        unpacked += len(data)
        return data

    monkeypatch.setattr(Unpacked, "read", counted)
    before = set(Path(house.ctx.home.root).rglob("*"))
    for attempt in (restore.preview, lambda *a: restore.restore(*a, [], quiet)):
        with pytest.raises((BadInputError, StoreDamagedError)) as refused:
            attempt(house.ctx.home, str(path))
        assert refused.value.hint
        assert unpacked < 1 << 20
    assert set(Path(house.ctx.home.root).rglob("*")) == before


def test_a_backup_that_fits_no_disk_is_refused(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is compared with the space that there is, before the first byte is written."""
    house.remember("Deploys go through staging")
    path = backup(house.ctx, tmp_path / "b.tar.gz")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(restore.shutil, "disk_usage", lambda _: usage._replace(free=50_000))
    monkeypatch.setattr(restore, "_stage", lambda *_: pytest.fail("something was written"))
    with pytest.raises(StoreFullError, match="takes"):
        restore.restore(house.ctx.home, str(path), [], quiet)


def test_an_emptied_database_is_no_bomb(house: ServiceHouse, tmp_path: Path) -> None:
    """Of which nearly all was forgotten: it packs to little, and comes back all the same."""
    journal = Path(house.ctx.home.global_store, "journal.db")
    house.ctx.global_shelf()
    with sqlite3.connect(journal) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("CREATE TABLE scratch(words TEXT)")
        connection.executemany("INSERT INTO scratch VALUES (?)", [("w" * 100_000,)] * 900)
        connection.commit()
        connection.execute("DROP TABLE scratch")
    path = backup(house.ctx, tmp_path / "b.tar.gz", vectors=True)
    assert path.stat().st_size < 1 << 20
    assert restore.preview(house.ctx.home, str(path)).memories == 0


def test_older_entries_that_unpack_to_much_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the audit log is read into memory: of one that is a bomb no more than may be."""
    path = tmp_path / "audit-202605-000000001-000000002.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * (200 << 20), 6))
    monkeypatch.setattr(audit_files, "MOST_BYTES", 1 << 20)
    with pytest.raises(StoreDamagedError, match="far more"):
        audit_files.read(str(path))
    found = byte_search.search([str(path)], byte_search.Needles(["no such words at all"]))
    assert found.unread == [str(path)]


def test_a_name_without_an_ending_is_a_folder(house: ServiceHouse, tmp_path: Path) -> None:
    """`backup ~/Backups` means a folder, whether it is there yet or not."""
    written = [backup(house.ctx, tmp_path / "Backups") for _ in range(2)]
    assert {path.parent for path in written} == {tmp_path / "Backups"}
    assert len(set(written)) == 2
