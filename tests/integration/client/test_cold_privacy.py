"""Without a daemon nobody can apply the user's rules and settings: what is older than they are stays out."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import pytest

from vector_memory.client import cold, fallback, offline, privacy
from vector_memory.journal.journal import Journal
from vector_memory.model import Memory
from vector_memory.redact import clean
from vector_memory.service.base.context import new_id, utc_now
from vector_memory.system.paths import Home

LATER_S, NEWER_S = 600, -3_600
"""How much later than now a memory is of, and the age of what is newer than that."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A data home whose global store holds one memory, of a moment from now: files that are put there now are older."""
    made = Home(str(tmp_path / "data")).make()
    journal = Journal.open(made.global_store)
    said_at = utc_now() + timedelta(seconds=LATER_S)
    journal.add([Memory(new_id(), clean("The nightjar ledger uses WAL mode").text, said_at)])
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
    written(user, "# Style\n- be brief\n", NEWER_S)
    assert found(home, tmp_path) == 1
    written(user, "# Privacy\n- nightjar\n", NEWER_S)
    assert found(home, tmp_path) == 0
    written(user, "# Privacy\n- nightjar\n", 3_600)
    assert found(home, tmp_path) == 1
    for heading in ("# Конфиденциальность", "# Never remember"):
        written(own, f"{heading}\n- nightjar\n", NEWER_S)
        assert found(home, tmp_path) == 0
    assert privacy.rules_since(str(tmp_path)) > time.time()


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        ({"redact_personal": ["email"]}, False),
        ({"redact_personl": ["email"]}, False),
        ({"personal": ["email"]}, False),
        ({"Private_data": ["email"]}, False),
        ({"redact_personal": []}, True),
        ({"excluded_projects": ["/x"], "capture": True, "capture_without": ["fix"]}, True),
        ({"facade": "off"}, True),
        ("{", False),
    ],
)
def test_words_that_are_older_than_the_settings_stay_out(
    home: Home, tmp_path: Path, settings: object, is_told: bool
) -> None:
    """Where `config.json` has personal data taken out, what was stored before it was written may hold some: neither
    prompts nor `recall` tell it; what was stored since they do."""
    file = Path(home.config)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    request = {"query": "which WAL mode has the ledger", "k": 5, "cwd": str(tmp_path)}
    for age_s, told in ((NEWER_S, is_told), (3_600, is_told or settings != "{")):
        written(file, text, age_s)
        assert found(home, tmp_path) == told
        assert len(offline.recall(home, request, "none")["hits"]) == told  # type: ignore[arg-type]


def test_what_the_environment_adds_was_not_in_force_before(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows under which environment a memory was stored."""
    monkeypatch.setenv("VECTOR_MEMORY_REDACT_PERSONAL", "email")
    assert found(home, tmp_path) == 0


def start(home: Home, folder: Path, words: str = "again") -> bytes:
    """Return what a session's start prints without a daemon; with the same words it would be the same start."""
    stdin = json.dumps({"session_id": "s", "prompt": words}).encode()
    return fallback.start_from_files(home, os.fsencode(folder), stdin, "")


def test_a_start_prepared_under_other_settings_is_not_shown(home: Home, tmp_path: Path) -> None:
    """Whatever was changed, the daemon made the snapshot under what was in force then."""
    note = {"id": "x", "head": "h", "text": "The nightjar ledger", "foreign": False}
    written(Path(home.snapshot(str(tmp_path))), json.dumps({"notes": [note]}), -LATER_S)
    assert b"nightjar" in start(home, tmp_path, "first")
    written(Path(home.config), '{"start_tokens": 50}', 3_600)
    assert b"nightjar" in start(home, tmp_path, "older")
    written(Path(home.config), '{"start_tokens": 50}', NEWER_S)
    assert start(home, tmp_path, "newer") == b""
    written(Path(home.config), '{"session_tokens": 5000}', 3_600)
    assert start(home, tmp_path, "capped") == b"", "what it was given in all a daemon alone counts"


@pytest.mark.parametrize("way", ["move", "copy", "link"])
@pytest.mark.parametrize("rules", [False, True], ids=["settings", "rules"])
def test_what_was_written_long_ago_holds_since_it_was_put_there(
    tmp_path: Path, scratch_home: Path, way: str, rules: bool
) -> None:
    """A backup, or a file of elsewhere that a link leads to."""
    home = Home(str(tmp_path / "data")).make()
    target, old = Path(home.config), tmp_path / "old"
    if rules:
        target = scratch_home / ".claude" / "CLAUDE.md"
        target.parent.mkdir(parents=True, exist_ok=True)
    written(
        old, "# Privacy\n- nightjar\n" if rules else '{"redact_personal": ["email"]}', 7 * 86_400
    )
    seen_at = old.stat().st_ctime
    # The clocks of files are coarse.
    while Path(tempfile.mkstemp(dir=tmp_path)[1]).stat().st_ctime == seen_at:
        pass
    if way == "move":
        shutil.move(old, target)
    elif way == "copy":
        shutil.copy2(old, target)
    else:
        target.symlink_to(old)
    since = privacy.rules_since() if rules else privacy.Settings(home.config).redaction_since()
    assert since == target.lstat().st_ctime > seen_at
