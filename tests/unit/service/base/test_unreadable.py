"""Transcripts that took too long to read are left alone for a while."""

from __future__ import annotations

from pathlib import Path

from vector_memory.service.base.unreadable import AGAIN_S, MOST, Hopeless


def test_a_file_is_left_alone_while_it_is_what_it_was(tmp_path: Path) -> None:
    """Until it has grown, was cut or is gone, or an hour has passed."""
    now = [0.0]
    hopeless = Hopeless(lambda: now[0])
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 100)
    assert not hopeless.holds(str(path))
    for change in (b"x" * 150, b"x" * 99):
        path.write_bytes(b"x" * 100)
        hopeless.add(str(path))
        path.write_bytes(b"x" * 149 if len(change) > 100 else b"x" * 100)
        assert hopeless.holds(str(path))
        path.write_bytes(change)
        assert not hopeless.holds(str(path))
    path.write_bytes(b"x")
    hopeless.add(str(path))
    now[0] += AGAIN_S
    assert not hopeless.holds(str(path))
    hopeless.add(str(path))
    path.unlink()
    assert not hopeless.holds(str(path))
    hopeless.add(str(path))
    assert not hopeless.holds(str(path))


def test_only_so_many_are_remembered(tmp_path: Path) -> None:
    """The oldest is tried again."""
    hopeless = Hopeless()
    paths = [tmp_path / str(number) for number in range(MOST + 1)]
    for path in paths:
        path.write_bytes(b"x")
        hopeless.add(str(path))
    assert not hopeless.holds(str(paths[0]))
    assert hopeless.holds(str(paths[-1]))
