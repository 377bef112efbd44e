"""The answer to a prompt without a daemon: by words, read-only, from the right stores alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.client import cold
from vector_memory.system.paths import Home

WAL = "The ledger keeps its bookkeeping in SQLite, in WAL mode"
PROMPT = "which WAL mode does the ledger bookkeeping use?"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def ask(home: str, folder: Path, session: str = "s1") -> list[str]:
    """Return the texts that a prompt gets."""
    found = cold.notes(Home(home), PROMPT, str(folder), session, time.monotonic() + 5)
    return [note.text for note in found]


def test_words_find_a_memory_in_its_project_alone(tmp_path: Path, ledger: Path) -> None:
    """With the daemon gone a prompt still gets its memory; another project does not."""
    house = ServiceHouse(tmp_path)
    house.remember(WAL, ledger)
    house.close()
    assert ask(house.ctx.home.root, ledger) == [WAL]
    assert ask(house.ctx.home.root, tmp_path / "other") == []


def test_what_was_shown_is_not_shown_again(tmp_path: Path, ledger: Path) -> None:
    """The state knows what a session has seen."""
    house = ServiceHouse(tmp_path)
    done = house.remember(WAL, ledger)
    house.ctx.state.add_shown("s1", [done["id"]], house.time)
    house.close()
    assert ask(house.ctx.home.root, ledger) == []
    assert ask(house.ctx.home.root, ledger, "s2") == [WAL]


def test_a_project_s_own_store_is_read_if_it_is_trusted(tmp_path: Path, ledger: Path) -> None:
    """After `init` the memory lies in the project; a data home that did not make it stays silent."""
    house = ServiceHouse(tmp_path)
    house.remember(WAL, ledger)
    door(house.ctx, "init", {"dir": str(ledger)})
    house.close()
    stranger = ServiceHouse(tmp_path / "stranger")
    stranger.close()
    assert ask(house.ctx.home.root, ledger) == [WAL]
    assert ask(stranger.ctx.home.root, ledger) == []


def test_no_store_is_no_answer_and_no_file(tmp_path: Path, ledger: Path) -> None:
    """Without any journal there is nothing to say, and nothing is created."""
    home = tmp_path / "empty"
    home.mkdir()
    assert ask(str(home), ledger) == []
    assert list(home.rglob("*")) == []
