"""Stand-ins for what imports leave out, and the things themselves beside them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vector_memory.system import standins


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "left_out_here.py").write_text("class Thing:\n    said = 'real'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "left_out_here"
    standins.forget("left_out_here")


def test_a_stand_in_can_be_named_and_not_used(package: str) -> None:
    with standins.standing_in((package,), "is left out."):
        __import__(package)
    with pytest.raises(RuntimeError, match=r"Thing is left out\."):
        sys.modules[package].Thing()
    assert standins.real(package).Thing().said == "real"


def test_the_thing_itself_is_found_while_others_import_stand_ins(package: str) -> None:
    """It waits for them."""
    stands, ends, found = threading.Event(), threading.Event(), []

    def stand_in() -> None:
        with standins.standing_in((package,), "is left out."):
            __import__(package)
            stands.set()
            assert ends.wait(30)

    threads = [
        threading.Thread(target=stand_in),
        threading.Thread(target=lambda: found.append(standins.real(package).Thing().said)),
    ]
    threads[0].start()
    assert stands.wait(30)
    threads[1].start()
    threads[1].join(0.2)
    ends.set()
    for thread in threads:
        thread.join(30)
    assert found == ["real"]
