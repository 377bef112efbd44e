"""What the daemon counts of itself, and what the quiet hours do to the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vector_memory.config import Settings
from vector_memory.daemon import app as houses
from vector_memory.daemon import verbs
from vector_memory.daemon.app import App
from vector_memory.errors import UnsafeTextError
from vector_memory.journal import audit
from vector_memory.service.purge import purge as purging
from vector_memory.system.paths import Home


@pytest.fixture
def house(tmp_path: Path) -> Iterator[App]:
    """A daemon's parts, without its threads."""
    made = App(Home(str(tmp_path / "data")).make(), Settings(), lambda: 0.0)
    yield made
    made.close(0.1)


def test_an_answer_that_comes_too_late_is_counted(
    house: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook has helped itself by then; a session's start has more time."""
    house._events = SimpleNamespace(answer=lambda event, body, started, message: b"{}")  # type: ignore[assignment]
    assert house.hook("Stop", b"") == b"{}"
    assert "answers_too_late" not in house.health().counters
    monkeypatch.setattr(houses, "HOOK_WAITS_S", -1.0)
    house.hook("SessionStart", b"")
    house.hook("Stop", b"")
    assert house.health().counters["answers_too_late"] == 1


def test_a_text_that_is_refused_is_counted(house: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever dictated it is told, and `doctor` knows."""

    def refused(ctx: object, request: object) -> Any:
        raise UnsafeTextError("No.", "")

    monkeypatch.setitem(verbs.SIMPLE, "remember", refused)
    with pytest.raises(UnsafeTextError):
        house.ask("remember", {}, None)  # type: ignore[arg-type]
    assert house.health().counters["texts_dropped"] == 1


def test_a_log_that_cannot_be_rotated_is_an_error_and_stays(
    house: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quiet hours go on."""
    monkeypatch.setattr(audit, "MOST_ROWS", 2)
    for _ in range(4):
        house.ctx.state.audit("store", "hook", [], {})
    Path(house.home.root, "audit").write_text("in the way")
    house._keeper._tidy_state()
    assert house.health().errors[-1].where == "audit"
    assert len(house.ctx.state.audit_entries(9)) == 4


def test_who_asked_for_a_purge_may_go_away(house: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was begun is finished all the same."""

    def gone(*_: object) -> None:
        raise BrokenPipeError

    done: list[str] = []

    def purge(ctx: object, request: object, progress: Any) -> dict[str, Any]:
        progress(0, 1, "removing")
        done.append("purged")
        return {}

    monkeypatch.setattr(purging, "purge", purge)
    house.ask("purge", {}, SimpleNamespace(progress=gone))  # type: ignore[arg-type]
    assert done == ["purged"]
