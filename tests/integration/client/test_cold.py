"""The answer to a prompt without a daemon: by words, read-only, from the right stores alone."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.client import cold, privacy
from vector_memory.config import Settings
from vector_memory.journal import readonly
from vector_memory.model import QUIET, WORLD
from vector_memory.service.base.asker import asker_in
from vector_memory.service.learning import counted_records
from vector_memory.system.paths import Home
from vector_memory.text import fence

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


def test_the_settings_hold(tmp_path: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was switched off, and a project that was left out, stay so; broken settings loosen nothing."""
    config = tmp_path / "config.json"
    link = tmp_path / "way"
    link.symlink_to(ledger.parent)

    def may(settings: object, folder: Path = ledger) -> bool:
        config.write_text(settings if isinstance(settings, str) else json.dumps(settings))
        return privacy.may_speak(str(config), str(folder), "recall_on_prompt")

    assert privacy.may_speak(str(tmp_path / "none"), str(ledger), "recall_on_prompt")
    assert (
        may({}) and may({"recall_on_start": False}) and may({"excluded_projects": [f"{ledger}s"]})
    )
    assert not may({"recall_on_prompt": False})
    for folder in (ledger, ledger / "sub", link / ledger.name):
        assert not may({"excluded_projects": [str(ledger)]}, folder), folder
        assert not may({"excluded_projects": [f"{link}/{ledger.name}/"]}, folder), folder
    worktree = tmp_path / "tree"
    (ledger / ".git" / "worktrees" / "tree").mkdir(parents=True, exist_ok=True)
    (ledger / ".git" / "worktrees" / "tree" / "commondir").write_text("../..")
    (ledger / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{worktree}/.git\n")
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {ledger}/.git/worktrees/tree\n")
    assert not may({"excluded_projects": [str(ledger)]}, worktree), (
        "another tree of the same project"
    )
    for broken in ("{", "[]", "\0"):
        assert not may(broken)
    monkeypatch.setenv("VECTOR_MEMORY_RECALL_ON_PROMPT", "false")
    assert not may({})
    monkeypatch.setenv("VECTOR_MEMORY_RECALL_ON_PROMPT", "true")
    monkeypatch.setenv("VECTOR_MEMORY_EXCLUDED_PROJECTS", f"/nowhere{os.pathsep}{ledger}")
    assert not may({})


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"prompt_memories": 0}, 0), ({"prompt_memories": 1}, 1), ({"prompt_memories": 20}, 3),
        ({"prompt_tokens": 50}, 0), ({"prompt_tokens": 130}, 1), ({"prompt_tokens": 2000}, 3),
        ({"session_tokens": 300}, 0), ({"threshold": 1}, 0), ({"prompt_tokens": "much"}, 3),
        ({"prompt_tokens": float("nan")}, 3),
    ],
)  # fmt: skip
def test_the_limits_hold(
    tmp_path: Path, ledger: Path, settings: dict[str, object], most: int
) -> None:
    """A prompt gets no more without a daemon than the user allows; what is no number limits nothing."""
    house = ServiceHouse(tmp_path)
    for place in ("Berlin", "Rome", "Oslo", "Paris"):
        house.remember(f"{WAL}, on the server of {place} that {place.lower()}.sh sets up", ledger)
    house.close()
    Path(house.ctx.home.config).write_text(json.dumps(settings))
    told = cold.notes(house.ctx.home, PROMPT + " and why", str(ledger), "s", time.monotonic() + 5)
    assert len(told) == most
    limit = settings.get("prompt_tokens")
    assert not told or fence.tokens(fence.fence(told)) <= (limit if isinstance(limit, int) else 480)


def test_the_defaults_of_limits_are_those_of_the_settings() -> None:
    """They stand twice, since a hook cannot import what checks settings."""
    assert {name: getattr(Settings(), name) for name in privacy.NUMBERS} == privacy.NUMBERS


def test_quiet_and_expired_memories_stay_so(tmp_path: Path, ledger: Path) -> None:
    """As with a daemon; and a session is not told what it has just said itself."""
    house = ServiceHouse(tmp_path)
    assert set(readonly.QUIET) == QUIET
    asker = asker_in(house.ctx, house.ctx.place(str(ledger)))
    counted_records.keep(house.ctx, asker, counted_records.CountedRecord(WORLD, "ledger", WAL))
    id = house.remember(WAL, ledger)["id"]
    house.close()
    assert ask(house.ctx.home.root, ledger) == [WAL]
    with sqlite3.connect(os.path.join(house.ctx.home.global_store, "journal.db")) as journal:
        journal.execute("UPDATE memories SET expires_at = 1 WHERE id = ?", (id,))
    assert ask(house.ctx.home.root, ledger) == []
