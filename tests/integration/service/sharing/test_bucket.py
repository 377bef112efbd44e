"""A bucket as a place to share at, by the real client, against a server on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import s3_server

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.sharing.places import Bucket, place_at

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}


@pytest.fixture
def server() -> Iterator[s3_server.S3Server]:
    with s3_server.running() as running:
        yield running


def test_files_in_a_bucket(server: s3_server.S3Server) -> None:
    place = place_at("s3://team/ledger", "", {**KEYS, "AWS_ENDPOINT_URL": server.url})
    assert isinstance(place, Bucket)
    assert place.names("v1/members") == []
    with pytest.raises(NotFoundError):
        place.read("v1/team.json", 100)
    for id in ("aa", "bb"):
        place.write(f"v1/members/{id}/0000000001.bundle", b"content of " + id.encode())
    assert place.names("v1/members") == ["aa", "bb"]
    assert place.names("v1/members/aa") == ["0000000001.bundle"]
    assert place.read("v1/members/bb/0000000001.bundle", 100) == b"content of bb"
    assert place.read("v1/members/bb/0000000001.bundle", 4) == b"conte"
    with pytest.raises(BadInputError, match="there already"):
        place.write("v1/members/aa/0000000001.bundle", b"other")
    place.remove("v1/members/aa/0000000001.bundle")
    place.remove("v1/members/aa/0000000001.bundle")
    assert place.names("v1/members/aa") == []
    assert set(server.objects) >= {"team/ledger/v1/members/bb/0000000001.bundle"}


def test_a_bucket_that_does_not_answer_is_told() -> None:
    place = place_at("s3://team", "", {**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    with pytest.raises(BadInputError, match="AWS_ENDPOINT_URL"):
        place.read("v1/team.json", 100)
