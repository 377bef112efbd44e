"""The frames between client and daemon."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory import wire


@given(st.binary(max_size=500))
def test_a_request_survives_the_way(body: bytes) -> None:
    """What is encoded is parsed as it was."""
    line, _, rest = wire.encode_request("hook.Stop", body, "1.2.3").partition(b"\n")
    assert wire.parse_request_header(line) == ("hook.Stop", len(body), "1.2.3")
    assert rest == body


@pytest.mark.parametrize(
    "line",
    [b"", b"GET / HTTP/1.1", b"VM1 ask x 1.0", b"VM2 ask 3 1.0", b"VM1 ask 99999999999 1.0",
     b"VM1 ask -1 1.0", b"VM1 \xff 1 1.0"],
)  # fmt: skip
def test_foreign_and_oversized_requests_are_refused(line: bytes) -> None:
    """Other protocols, negative and huge lengths are refused before anything is read."""
    with pytest.raises(wire.WireError):
        wire.parse_request_header(line)


@given(st.binary(max_size=100))
def test_garbage_is_no_reply(line: bytes) -> None:
    """Any bytes either parse as a reply or are refused; nothing else happens."""
    try:
        status, length = wire.parse_reply_header(line)
    except wire.WireError:
        return
    assert len(status) == 1
    assert length >= 0


def test_versions_compare_by_number() -> None:
    """1.10 is newer than 1.9, and junk is older than anything."""
    assert wire.version_tuple("1.10.0") > wire.version_tuple("1.9.3")
    assert wire.version_tuple("junk") < wire.version_tuple("0.0.1")
