"""What a hook leaves for the next daemon is whole or not there; a daemon that died of it is no trap."""

from __future__ import annotations

import errno
import json
import os
import posix
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from service_house import ServiceHouse
from talk import transcript

from vector_memory import config
from vector_memory.client import exchange, fallback, spawn, spool
from vector_memory.client.spool import claim, read_spool, write_spool
from vector_memory.daemon.events import Events
from vector_memory.service.capture import store_session
from vector_memory.system.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A data home."""
    return Home(str(tmp_path / "data")).make()


@pytest.mark.parametrize("accepted", [0, 10])
def test_a_full_disk_leaves_nothing_behind(
    home: Home, accepted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file that is cut nor a temporary one, also where a part was written without an error."""
    room = iter([accepted])
    monkeypatch.setattr(spool.os, "write", lambda fd, data: next(room, 0))
    with pytest.raises(OSError, match="No space left"):
        write_spool(home, "Stop", {"session_id": "s"}, "/")
    assert os.listdir(home.spool) == []


@pytest.mark.parametrize("is_free", [True, False])
def test_an_event_is_kept_though_another_hook_gave_up_the_reserve(
    home: Home, monkeypatch: pytest.MonkeyPatch, is_free: bool
) -> None:
    """And a daemon is started in any case: it may be the one that makes room."""
    write, tries, begun = spool.write_spool, [], []

    def full_at_first(*args: object, **more: object) -> str:
        tries.append(1)
        if len(tries) == 1 or not is_free:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(spool, "write_spool", full_at_first)
    monkeypatch.setattr(spawn, "spawn", lambda *_: begun.append(1))
    monkeypatch.setattr(exchange, "note", lambda *_: None)
    call = SimpleNamespace(home=home.root, event="Stop", project_dir=b"/tmp", configuration=b"", stdin=b'{"session_id": "s"}', lib="")  # fmt: skip
    assert not os.path.exists(home.reserve)
    with nullcontext() if is_free else pytest.raises(OSError, match="No space left"):
        fallback.answer(call)  # type: ignore[arg-type]
    assert [entry["session"] for _, entry in read_spool(home)] == ["s"] * is_free
    assert begun == [1]


def test_where_nothing_can_be_claimed_everybody_answers(home: Home) -> None:
    """Twice is better than not at all."""
    os.rmdir(home.claims) if os.path.isdir(home.claims) else None
    Path(home.claims).write_text("in the way")
    assert claim(home, b"{}")
    assert claim(home, b"{}")


def test_what_failed_before_is_read_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon that had it before may have died of it; the process has a budget. What nobody has begun
    is read here, however long it waited."""
    house = ServiceHouse(tmp_path)
    folder = tmp_path / "app"
    folder.mkdir()
    path = str(transcript(folder, [("Which journal mode?", "WAL, since readers never block.")]))
    read_apart: list[bool] = []
    monkeypatch.setattr(
        store_session,
        "_read",
        lambda ctx, ask, apart: read_apart.append(apart) or store_session.read_session.read(ask),
    )
    for begun in ("", ".1", ".2"):
        name = write_spool(
            house.ctx.home, "Stop", {"session_id": "s1", "transcript_path": path}, "/"
        )
        entry = json.loads(Path(name).read_text())
        Path(name).write_text(json.dumps({**entry, "at": 0.0}))
        os.rename(name, name + begun)
        Events(house.ctx, lambda work: work()).backlog.drain()
        assert read_spool(house.ctx.home) == []
    house.close()
    assert read_apart == [False, True, True]


def test_a_daemon_has_the_settings_of_who_starts_it_and_no_folder_that_goes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps to them for all sessions, as far as any is kept out, and names them; a folder for temporary files is the
    session's own. What is spooled meanwhile is kept by the daemon's word, though `config.json` has a mistake."""
    given = {
        "VECTOR_MEMORY_CAPTURE": "false",
        "VECTOR_MEMORY_EXCLUDED_PROJECTS": "/other",
        "VECTOR_MEMORY_LOG_LEVEL": "debug",
    }
    folders = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), home.root)
    for name, value in {**given, **folders}.items():
        monkeypatch.setenv(name, value)
        # The hook's own view of the environment, as it is when a process begins.
        monkeypatch.setitem(posix.environ, name.encode(), value.encode())
    environment = spawn._environment(home)
    assert given.items() <= environment.items()
    assert folders.keys().isdisjoint(environment)
    assert given.keys() <= set(config.variables())
    Path(home.config).write_text('{"capture": true,}')
    call = exchange.HookEvent("Stop", home.root)
    call.stdin = json.dumps({"session_id": "s", "cwd": "/other/x"}).encode()
    fallback.answer(call)
    ((_, entry),) = read_spool(home)
    assert "kept" not in entry
