"""Faults on purpose: power cuts, damaged files, writes that fail. The tests use them in small numbers,
`benchmarks/faults.py` in large ones."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes_embed import FakeEmbedder
from journal_samples import memory

from vector_memory.journal.journal import Journal
from vector_memory.model import Scope, Status
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.store.index import Index
from vector_memory.system import processes

BLOCK = 4_096
SQLITE = ("journal.db", "journal.db-wal", "journal.db-shm")


# -- a store that is written to ---------------------------------------------------------------------


class Rig:
    """One store with its index, and a model that needs no files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedding = Embedding(FakeEmbedder, FakeEmbedder)
        self.embedding.load()
        self.shelf = Shelf(str(folder), Journal.open(str(folder)))
        self.acknowledged: list[str] = []

    def open_index(self) -> str:
        """Open the index; return why a damaged one was set aside, "" if none was."""
        index = Index.open(str(self.folder), self.embedding.model, self.embedding.dim)
        damage = index.load_lance()
        if index.reached() > self.shelf.journal.given_at_open:
            index.rebuild()
        self.shelf.attach(index)
        return damage

    def store(self, count: int) -> None:
        """Store memories one by one; each is acknowledged when `add` has returned."""
        for _ in range(count):
            n = len(self.acknowledged)
            self.shelf.journal.add(
                [memory(n, f"note token{n} of the ledger " + "more " * (n % 40))]
            )
            self.acknowledged.append(f"m{n:04}")

    def follow(self) -> None:
        """Bring the index level."""
        while follow_once(self.shelf, self.embedding):
            pass

    def close(self) -> None:
        self.shelf.close()


def missing(folder: Path, acknowledged: Sequence[str], other: bool = False) -> list[str]:
    """Open a store as the next daemon does, let the index follow, and return what is wrong: memories
    that are lost or not found, memories that are there twice, and what the checks say.

    Args:
        other: whether the machine has been started again since the store was written.
    """
    with machine_started_again() if other else contextlib.nullcontext():
        rig = Rig(folder)
        try:
            rig.open_index()
            rig.follow()
            return problems(rig.shelf, acknowledged)
        finally:
            rig.close()


def problems(shelf: Shelf, acknowledged: Sequence[str]) -> list[str]:
    """Return what is wrong with a store whose index is level."""
    journal, index = shelf.journal, shelf.index
    assert index is not None
    there = {one.id: one for one in journal.iter_memories(Scope(), statuses=tuple(Status))}
    found = [f"{one} is lost" for one in acknowledged if one not in there]
    if journal.count() != len({one.id for one in there.values()}):
        found.append("memories are there twice")
    living = set(journal.living_seqs())
    if sorted(living) != sorted(index.seqs().tolist()):
        found.append(f"the index has {len(index.seqs())} rows, the journal {len(living)}")
    for id in random.Random(1).sample(list(acknowledged), min(12, len(acknowledged))):
        seqs = {one.seq for one in index.begin_matching([f"token{int(id[1:])}"], Scope(), 5)()}
        if id in there and there[id].seq not in seqs:
            found.append(f"{id} is not found by its words")
    return found + journal.check(read_data=True) + index.check(read_data=True)


# -- power cuts -------------------------------------------------------------------------------------


@contextlib.contextmanager
def machine_started_again() -> Iterator[None]:
    """Let the machine seem to have been started again."""
    true = processes.boot
    processes.boot = lambda: "another run"
    try:
        yield
    finally:
        processes.boot = true


@dataclass
class Cuts:
    """Copies of a folder as the disk would hold it if the power went now, taken just before some of the
    calls that make files durable or rename or remove them.

    What was synced is there. What was not is there, emptied, cut, full of zeros, or gone; so is a name
    whose folder was not synced since it came; and a removed one may be there again. SQLite syncs its
    files by itself, below Python: they are copied as they are, with what a torn write leaves at the end
    of the log.

    Args:
        folder: the store.
        target: where the copies go.
        chance: decides which calls, and what becomes of files.
        share: of how many calls a copy is taken.
        most: how many copies are taken.
    """

    folder: Path
    target: Path
    chance: random.Random
    share: float
    most: int
    acknowledged: Callable[[], Sequence[str]]
    states: list[tuple[Path, list[str]]] = field(default_factory=list)
    _synced: dict[str, bytes] = field(default_factory=dict)
    _listed: dict[str, set[str]] = field(default_factory=dict)
    _before: dict[str, bytes | None] = field(default_factory=dict)
    _inside: bool = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Take copies while the body runs."""
        true = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "unlink")}

        def wrapped(name: str) -> Callable[..., Any]:
            def call(*values: Any, **more: Any) -> Any:
                self.maybe()
                done = true[name](*values, **more)
                if name == "fsync":
                    self._note(values[0])
                elif name != "unlink":
                    self._moved(str(values[0]), str(values[1]))
                return done

            return call

        for name in true:
            setattr(os, name, wrapped(name))
        try:
            yield
        finally:
            for name, call in true.items():
                setattr(os, name, call)

    def maybe(self) -> None:
        """Take a copy, by chance."""
        if self._inside or len(self.states) >= self.most:
            return
        if self.chance.random() < self.share:
            self._inside = True
            try:
                self._take()
            finally:
                self._inside = False

    def _note(self, descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            self._listed[path] = set(os.listdir(path))
            for one in [known for known in self._before if os.path.dirname(known) == path]:
                del self._before[one]
        elif os.path.exists(path):
            self._synced[path] = Path(path).read_bytes()

    def _moved(self, path: str, target: str) -> None:
        """A new name stands for what was synced under the old one, once its folder is synced."""
        self._before[target] = self._synced.pop(target, None)
        content = self._synced.pop(path, None)
        if content is not None:
            self._synced[target] = content

    def _take(self) -> None:
        copy = self.target / f"state-{len(self.states)}"
        acknowledged = list(self.acknowledged())
        for folder, _, names in os.walk(self.folder):
            listed = self._listed.get(folder, set())
            where = copy / os.path.relpath(folder, self.folder)
            where.mkdir(parents=True, exist_ok=True)
            for name in names:
                path = os.path.join(folder, name)
                if name in SQLITE:
                    shutil.copy(path, where / name)
                    continue
                content = self._after(path, name in listed)
                if content is not None:
                    (where / name).write_bytes(content)
            for name in listed - set(names):
                # It was removed, which may not have reached the disk.
                old = self._synced.get(os.path.join(folder, name))
                if old is not None and not name.endswith(".db-shm") and self.chance.random() < 0.5:
                    (where / name).write_bytes(old)
        self._tear(copy)
        self.states.append((copy, acknowledged))

    def _after(self, path: str, listed: bool) -> bytes | None:
        content = Path(path).read_bytes()
        known = self._synced.get(path)
        if path in self._before and self.chance.random() < 0.5:
            return self._before[path]
        if known == content and (listed or self.chance.random() < 0.5):
            return content
        size = len(content)
        fates: list[Callable[[], bytes | None]] = [
            lambda: content,
            lambda: b"",
            lambda: content[: self.chance.randrange(size + 1)],
            lambda: bytes(size),
            lambda: content[: size // 2] + bytes(size - size // 2),
            lambda: known,
        ]
        return self.chance.choice(fates)()

    def _tear(self, copy: Path) -> None:
        log = copy / "journal.db-wal"
        (copy / "journal.db-shm").unlink(missing_ok=True)
        if log.exists() and self.chance.random() < 0.5:
            with log.open("ab") as file:
                file.write(self.chance.randbytes(self.chance.randrange(2 * BLOCK)))


# -- damage -----------------------------------------------------------------------------------------


def zero(path: Path, chance: random.Random) -> None:
    """Fill a block that holds something with zeros."""
    content = bytearray(path.read_bytes())
    start = chance.randrange(max(1, len(content) - BLOCK)) // BLOCK * BLOCK
    while not any(content[start : start + BLOCK]):
        start = chance.randrange(len(content)) // BLOCK * BLOCK
    content[start : start + BLOCK] = bytes(len(content[start : start + BLOCK]))
    path.write_bytes(content)


def cut(path: Path, chance: random.Random) -> None:
    """Cut the end off."""
    os.truncate(path, chance.randrange(path.stat().st_size))


def flip(path: Path, chance: random.Random) -> None:
    """Turn one bit."""
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def delete(path: Path, chance: random.Random) -> None:
    """Delete the file."""
    path.unlink()


def page_of(content: bytes, chance: random.Random) -> int:
    """Return the number of a page that holds something."""
    while True:
        page = chance.randrange(len(content) // BLOCK)
        if any(content[page * BLOCK : (page + 1) * BLOCK]):
            return page


def zero_page(path: Path, chance: random.Random) -> None:
    """Fill a page with zeros."""
    content = bytearray(path.read_bytes())
    page = page_of(content, chance)
    content[page * BLOCK : (page + 1) * BLOCK] = bytes(BLOCK)
    path.write_bytes(content)


def cut_page(path: Path, chance: random.Random) -> None:
    """Cut the file off at a page."""
    os.truncate(path, page_of(path.read_bytes(), chance) * BLOCK)


def delete_page(path: Path, chance: random.Random) -> None:
    """Take a page out."""
    content = path.read_bytes()
    page = page_of(content, chance)
    path.write_bytes(content[: page * BLOCK] + content[(page + 1) * BLOCK :])


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "zero": zero,
    "cut": cut,
    "flip": flip,
    "delete": delete,
}
PAGE_DAMAGES = {"zero": zero_page, "cut": cut_page, "flip": flip, "delete": delete_page}
PARTS: dict[str, Callable[[Path], list[Path]]] = {
    "manifest": lambda store: list(store.glob("lance/*.lance/_versions/*.manifest")),
    "data": lambda store: list(store.glob("lance/*.lance/data/*.lance")),
    "index": lambda store: [p for p in store.glob("lance/*.lance/_indices/*/*") if p.is_file()],
    "matrix": lambda store: [p for p in store.glob("matrix/*/*") if p.stat().st_size],
}


@dataclass
class Outcome:
    """What became of a damaged store: how it was noticed ("" if not), what is wrong after mending,
    what is lost, and how much of that was told."""

    noticed: str
    wrong: list[str]
    lost: int = 0
    told: int = 0
    aside: bool = False
    harmless: bool = False


def outcome(folder: Path, acknowledged: Sequence[str]) -> Outcome:
    """Open a damaged store as the next daemon does, check it with all its data, and mend it."""
    rig = Rig(folder)
    try:
        noticed = "at the start" if rig.shelf.journal.set_aside() else ""
        damage = rig.open_index()
        aside = list(folder.glob("*.damaged-*")) + list(folder.glob("matrix/*.damaged-*"))
        noticed = noticed or ("at the start" if damage or aside else "")
        found = rig.shelf.journal.check(read_data=True)
        if found:
            noticed = noticed or "by the check"
            rig.shelf.mend_journal(found)
        assert rig.shelf.index is not None
        found = rig.shelf.index.check(read_data=True)
        if found:
            noticed = noticed or "by the check"
            rig.shelf.mend_index(found)
        words = len(rig.shelf.matching(["ledger"], Scope(), 10_000))
        rig.follow()
        kept = [one for one in acknowledged if one in rig.shelf.journal.by_ids(list(acknowledged))]
        wrong = problems(rig.shelf, kept)
        if words < len(kept):
            wrong.append(f"{words} of {len(kept)} were found by words while it was being rebuilt")
        told = sum(int(one["lost_count"]) for one in rig.shelf.journal.set_aside())
        aside = list(folder.glob("*.damaged-*")) + list(folder.glob("matrix/*.damaged-*"))
        return Outcome(noticed, wrong, len(acknowledged) - len(kept), told, bool(aside))
    finally:
        rig.close()


# -- writes that fail -------------------------------------------------------------------------------


class Failing:
    """Lets the n-th of some calls fail, once.

    Args:
        error: makes what is raised.
    """

    def __init__(self, n: int, error: Callable[[], Exception]) -> None:
        self.left = n
        self.error = error

    @property
    def fired(self) -> bool:
        """Whether the call that was to fail has come."""
        return self.left <= 0

    def step(self) -> None:
        """Count one call; raise if it is the one."""
        self.left -= 1
        if self.left == 0:
            raise self.error()

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that counts."""

        def counted(*values: Any, **more: Any) -> Any:
            self.step()
            return call(*values, **more)

        return counted
