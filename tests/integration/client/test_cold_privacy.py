"""Without a daemon nobody can apply the user's rules: what is older than they are stays out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from vector_memory.client import cold, privacy
from vector_memory.journal.journal import Journal
from vector_memory.model import Memory
from vector_memory.redact import clean
from vector_memory.service.base.context import new_id, utc_now
from vector_memory.system.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A data home whose global store holds one memory."""
    made = Home(str(tmp_path / "data")).make()
    journal = Journal.open(made.global_store)
    journal.add([Memory(new_id(), clean("The nightjar ledger uses WAL mode").text, utc_now())])
    journal.close()
    return made


def found(home: Home, folder: Path) -> int:
    """Return how many notes a prompt gets without a daemon."""
    late = time.monotonic() + 10
    return len(cold.notes(home, "which WAL mode has the ledger", str(folder), "s", late))


def written(path: Path, text: str, age_s: float) -> None:
    """Write a file as if so many seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)


def test_words_that_are_older_than_the_rules_stay_out(
    home: Home, tmp_path: Path, scratch_home: Path
) -> None:
    """Newer rules of the user or of the project silence what was stored before them; older ones, and
    files without any, do not."""
    user, own = scratch_home / ".claude" / "CLAUDE.md", tmp_path / "CLAUDE.md"
    (tmp_path / ".git").mkdir()
    assert found(home, tmp_path) == 1
    written(user, "# Style\n- be brief\n", -60)
    assert found(home, tmp_path) == 1
    written(user, "# Privacy\n- nightjar\n", -60)
    assert found(home, tmp_path) == 0
    written(user, "# Privacy\n- nightjar\n", 3_600)
    assert found(home, tmp_path) == 1
    for heading in ("# Конфиденциальность", "# Never remember"):
        written(own, f"{heading}\n- nightjar\n", -60)
        assert found(home, tmp_path) == 0
    assert privacy.rules_since(str(tmp_path)) > time.time()
