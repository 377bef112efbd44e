"""How a page gets in."""

from __future__ import annotations

import re
import stat
from dataclasses import replace
from pathlib import Path

from vector_memory import tokens
from vector_memory.system.browsers import write_door
from vector_memory.tokens import CODE_S, Codes, Token
from vector_memory.web.sign_in import MOST_SESSIONS, Visitors


def test_a_code_is_good_once_and_for_a_minute() -> None:
    now = [100.0]
    codes = Codes(lambda: now[0])
    first, second = codes.make(), codes.make()
    assert first != second
    assert codes.redeem(first)
    assert not codes.redeem(first)
    assert not codes.redeem("made-up")
    now[0] += CODE_S + 1
    assert not codes.redeem(second)


def test_pages_and_tokens_with_all_rights_are_let_in(tmp_path: Path) -> None:
    path = str(tmp_path / "tokens.json")
    given: dict[str, str] = {}
    kept = []
    for right in ("admin", "read"):
        given[right], id, digest = tokens.make()
        kept.append(Token(id, right, (right,), "", "", "", False, "", digest))
    for name, less in (
        ("one", {"project": "/one", "project_id": "one"}),
        ("low", {"ceiling": "internal"}),
        ("law", {"jurisdictions": ("EU",)}),
    ):
        given[name], id, digest = tokens.make()
        kept.append(replace(kept[0], id=id, name=name, digest=digest, **less))
    tokens.save(path, kept)
    visitors = Visitors(path)
    bearer = visitors.admit()
    page = visitors.owner_of(bearer)
    assert page is not None
    assert page.is_the_users
    assert bearer not in repr(page)
    assert visitors.owner_of(given["admin"]) is not None
    for name in ("read", "one", "low", "law"):
        assert visitors.owner_of(given[name]) is None
    assert visitors.owner_of("page_" + "0" * 48) is None
    for _ in range(MOST_SESSIONS):
        visitors.admit()
    assert visitors.owner_of(bearer) is None


def test_the_door_is_a_file_of_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "run" / "1.html"
    write_door(str(path), "http://127.0.0.1:1", "a-code")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert re.findall(r'url=([^"]+)', path.read_text()) == ["http://127.0.0.1:1/#code=a-code"]
