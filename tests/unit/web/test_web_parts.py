"""The gateway's parts: fields, cursors, tokens, and how often one may come."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory import tokens
from vector_memory.arguments import NUMBER, SHARE, TEXT, WORDS, YES, Argument, checked
from vector_memory.errors import BadInputError, StoreDamagedError
from vector_memory.tokens import MOST_CODES, Codes, Token
from vector_memory.web import access, openapi, operations
from vector_memory.web.app import CONFIRM_S
from vector_memory.web.routes import GET, ROUTES, from_query

MESSAGES = next(each for route in ROUTES for each in route.fields if each.name == "messages")
SHAPE = (
    Argument("query", TEXT, "", True, high=10),
    Argument("limit", NUMBER, low=1, high=5),
    Argument("share", SHARE, low=0, high=1),
    Argument("yes", YES),
    Argument("kind", choices=("a", "b")),
    Argument("words", WORDS, high=2),
    replace(MESSAGES, required=False),
)
TOKEN = Token("1", "one", ("read",), "", "", "", False, "", tokens.digest_of("vm_1_x"))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"query": ""},
        {"query": " "},
        {"query": None},
        {"query": "x" * 11},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 6},
        {"query": "x", "limit": True},
        {"query": "x", "limit": 1.5},
        {"query": "x", "share": 1.1},
        {"query": "x", "yes": 1},
        {"query": "x", "kind": "c"},
        {"query": "x", "words": "w"},
        {"query": "x", "words": ["a", "b", "c"]},
        {"query": "x", "words": [1]},
        {"query": "x", "messages": [{"id": "1", "role": "nobody", "text": ""}]},
        {"query": "x", "messages": [{"role": "user", "text": ""}]},
        {"query": "x", "messages": ["text"]},
        {"query": "x", "other": 1},
        [],
        "x",
    ],
)
def test_what_is_not_of_the_shape_is_refused(wrong: Any) -> None:
    with pytest.raises(BadInputError):
        checked(SHAPE, wrong)


def test_a_query_is_read_by_the_same_shape() -> None:
    pairs = [("query", "x"), ("limit", "3"), ("yes", "true"), ("words", "a"), ("words", "b")]
    assert from_query(SHAPE, pairs) == {"query": "x", "limit": 3, "yes": True, "words": ["a", "b"]}
    for wrong in ([("query", "x"), ("query", "y")], [("query", "x"), ("limit", "x")],
                  [("query", "x"), ("yes", "1")], [("query", "x"), ("limit", "9" * 5_000)]):  # fmt: skip
        with pytest.raises(BadInputError):
            from_query(SHAPE, wrong)


@given(st.text())
def test_a_cursor_that_was_made_up_is_refused(text: str) -> None:
    try:
        cursor = operations.cursor_of(text)
    except BadInputError:
        return
    assert cursor.skip >= 0


def test_a_cursor_comes_back_as_it_went() -> None:
    cursor = operations.ListCursor("2026-11-22T20:10:36.428333+00:00", 2, 17)
    assert operations.cursor_of(cursor.to_text()) == cursor


def test_the_document_says_what_is_routed() -> None:
    """Every address with its fields, and nothing else but health."""
    document = openapi.document("http://127.0.0.1:1")
    routed = {path for route in ROUTES for path in (route.path, *route.aliases)}
    assert set(document["paths"]) == routed | {"/healthz"}
    operations = [
        one["operationId"] for path in document["paths"].values() for one in path.values()
    ]
    assert len(operations) == len(set(operations))
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        if route.method == GET:
            named = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
        else:
            named = set(
                operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
            )
        assert named == {field.name for field in route.fields}


def test_a_token_is_known_by_its_hash_until_it_ends() -> None:
    now = datetime.now(timezone.utc)
    assert tokens.match([TOKEN], "vm_1_x") is TOKEN
    assert tokens.match([TOKEN], "vm_1_y") is None
    assert tokens.match([TOKEN], "") is None
    later = replace(TOKEN, until=(now + timedelta(minutes=1)).isoformat())
    earlier = replace(TOKEN, until=(now - timedelta(minutes=1)).isoformat())
    assert tokens.match([later], "vm_1_x") is later
    assert tokens.match([earlier], "vm_1_x") is None
    made = {tokens.make()[0] for _ in range(50)}
    assert len(made) == 50


def test_admin_is_every_right() -> None:
    admin = replace(TOKEN, rights=("admin",))
    assert all(admin.may(right) for right in tokens.RIGHTS)
    assert admin.is_the_users
    assert not TOKEN.may("write")
    assert not TOKEN.is_the_users


def test_a_file_of_tokens_that_is_not_in_order_is_not_used(tmp_path: Path) -> None:
    path = str(tmp_path / "tokens.json")
    assert tokens.load(path) == []
    tokens.save(path, [TOKEN])
    assert tokens.load(path) == [TOKEN]
    assert os.stat(path).st_mode & 0o777 == 0o600
    link = str(tmp_path / "link.json")
    os.symlink(path, link)
    for broken in ("{", '{"tokens": [{}]}', "[]", "7"):
        other = tmp_path / "broken.json"
        other.write_text(broken)
        other.chmod(0o600)
        for bad in (str(other), link):
            with pytest.raises(StoreDamagedError):
                tokens.load(bad)


WIDENED = [
    {"ceiling": "secret"}, {"rights": ["read", "look"]}, {"jurisdictions": ["MARS"]}, {"only_kinds": ["fact"]},
    {"not_before": "2027-01-01"},
]  # fmt: skip


@pytest.mark.parametrize("said", WIDENED, ids=str)
def test_a_token_of_another_version_is_never_wider_than_it_was(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    """What is not understood may have limited it: it lets nobody in, says why, and stays in the file as it is."""
    path = tmp_path / "tokens.json"
    written = {**asdict(TOKEN), "rights": ["read"], **said}
    written.pop("unknown")
    path.write_text(json.dumps({"tokens": [written]}))
    path.chmod(0o600)
    (token,) = tokens.load(str(path))
    assert tokens.match([token], "vm_1_x") is None and "another version" in token.problem
    tokens.save(str(path), [token, TOKEN])
    assert tokens.load(str(path)) == [TOKEN, token] or tokens.load(str(path)) == [token, TOKEN]
    assert json.dumps(said)[1:-1] in path.read_text()


def test_the_first_versions_do_not_see_a_token_with_a_ceiling(tmp_path: Path) -> None:
    """They read the fields that they know of each in `tokens`: a ceiling would be lost there."""
    path = tmp_path / "tokens.json"
    limited = replace(TOKEN, id="2", ceiling="internal")
    tokens.save(str(path), [limited, TOKEN, replace(TOKEN, id="3", jurisdictions=("EU",))])
    assert [one["id"] for one in json.loads(path.read_text())["tokens"]] == [TOKEN.id]
    assert {one.id for one in tokens.load(str(path))} == {"1", "2", "3"}


def test_every_changed_field_of_a_token_is_refused(tmp_path: Path) -> None:
    """A character of what a program brings, or of what is kept of it, for another: nobody is let in."""
    presented, id, digest = tokens.make()
    token = replace(TOKEN, id=id, digest=digest)
    assert tokens.match([token], presented) is token
    for at in range(len(presented)):
        for other in "0az~":
            changed = presented[:at] + other + presented[at + 1 :]
            assert changed == presented or tokens.match([token], changed) is None
        assert tokens.match([token], presented[:at]) is None
    for at in range(len(digest)):
        kept = replace(token, digest=digest[:at] + "g" + digest[at + 1 :])
        assert tokens.match([kept], presented) is None


def test_calls_are_counted_and_come_back_with_time() -> None:
    now = [0.0]
    buckets = access.Buckets(lambda: now[0])
    assert all(buckets.seconds_early("a") == 0.0 for _ in range(access.BURST))
    assert 0.0 < buckets.seconds_early("a") <= 1.0 / access.RATE_PER_S
    assert buckets.seconds_early("b") == 0.0
    now[0] = 1.0
    assert all(buckets.seconds_early("a") == 0.0 for _ in range(int(access.RATE_PER_S)))
    assert buckets.seconds_early("a") > 0.0


def test_what_was_shown_is_confirmed_once_by_who_was_shown_it() -> None:
    now = [0.0]
    shown = Codes(lambda: now[0], CONFIRM_S)
    word = shown.make(["a"], TOKEN.id)
    assert shown.redeem(word, "2") is None
    assert shown.redeem(word, TOKEN.id) == ["a"]
    assert shown.redeem(word, TOKEN.id) is None
    late = shown.make(["b"], TOKEN.id)
    now[0] = CONFIRM_S
    assert shown.redeem(late, TOKEN.id) is None
    first, *_ = [shown.make(["c"], TOKEN.id) for _ in range(MOST_CODES + 1)]
    assert shown.redeem(first, TOKEN.id) is None


def test_an_etag_does_not_change_by_use() -> None:
    memory = {"memory": {"id": "1", "text": "a", "uses": 1, "confidence": 0.5}}
    used = {"memory": {"id": "1", "text": "a", "uses": 2, "confidence": 0.6}}
    other = {"memory": {"id": "1", "text": "b", "uses": 1, "confidence": 0.5}}
    assert operations.etag_of(memory) == operations.etag_of(used) != operations.etag_of(other)
