"""An event that is wired twice is answered once."""

from __future__ import annotations

from vector_memory.daemon.events import Claims


def test_equal_inputs_within_two_seconds_are_one_event() -> None:
    """The second of two equal inputs gets nothing; after 2 seconds it is a new event."""
    now = [100.0]
    claims = Claims(clock=lambda: now[0])
    assert claims.is_first("UserPromptSubmit", b"{1}")
    assert not claims.is_first("UserPromptSubmit", b"{1}")
    assert claims.is_first("UserPromptSubmit", b"{2}")
    assert claims.is_first("Stop", b"{1}")
    now[0] += 2.5
    assert claims.is_first("UserPromptSubmit", b"{1}")


def test_claims_do_not_grow_for_ever() -> None:
    """Old inputs are dropped when there are many."""
    now = [0.0]
    claims = Claims(clock=lambda: now[0])
    for number in range(10_000):
        now[0] += 1.0
        assert claims.is_first("Stop", b"%d" % number)
    assert len(claims._seen) < 5_000
