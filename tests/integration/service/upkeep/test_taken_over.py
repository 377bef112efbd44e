"""What another project takes over stays what the user made of it: under its id, forgotten or edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import git, repository
from service_house import ServiceHouse, captured_of, door
from talk import transcript

from vector_memory.model import BINDING, PASSAGE, SUMMARY, TOPIC, Scope, Status
from vector_memory.service.capture import find_ideas, session_summary

MORE = (
    "Noted. "
    + "The ledger keeps its pages in one file, and each page has a checksum of its own. " * 6
)
WORDS = ("structlog", "IBAN")
TALK = [
    ("We use structlog for logging in this service, never the logging module.", MORE),
    ("The importer must always skip rows without an IBAN.", MORE),
    ("All exports must always use semicolons as separators.", MORE),
]


def stored(house: ServiceHouse, folder: Path) -> dict[str, tuple[str, str, str]]:
    """Return what is stored of a folder's project by ids, of every status."""
    place = house.ctx.place(str(folder))
    shelf = house.ctx.shelf_of(place)
    found = shelf.journal.iter_memories(Scope(projects=(place.id,)), statuses=tuple(Status))
    return {one.id: (one.kind, one.text, str(one.status)) for one in found}


def finish(house: ServiceHouse) -> None:
    """Do what happens after a session, as often as it is due."""
    while find_ideas.find_all(house.ctx):
        pass
    session_summary.finish(house.ctx, "s1")


@pytest.mark.parametrize("how", ["adopt", "trust", "remote"])
def test_what_is_taken_over_is_made_no_second_time(
    house: ServiceHouse, tmp_path: Path, how: str
) -> None:
    """By `adopt`, by `trust` of a store that was moved, and of what its own folder was before a remote was added."""
    before = repository(tmp_path / "before")
    if how == "trust":
        door(house.ctx, "init", {"dir": str(before)})
    path = str(transcript(before, TALK).rename(tmp_path / "s1.jsonl"))
    captured_of(house.ctx, path, final=True)
    session_summary.finish(house.ctx, "s1")
    ideas = stored(house, before).items()
    of = {
        word: next(id for id, (kind, text, _) in ideas if kind in BINDING and word in text)
        for word in WORDS
    }
    door(house.ctx, "forget", {"ids": [of["structlog"]], "apply": True, "yes": True})
    door(house.ctx, "edit", {"id": of["IBAN"], "text": "Rows without an IBAN are reported."})
    finish(house)
    known = stored(house, before)
    assert known[of["structlog"]][2] == "forgotten"
    after = before
    if how == "remote":
        git(before, "remote", "add", "origin", "https://example.org/acme/shop.git")
    else:
        after = before.rename(tmp_path / "after")
        house.ctx.forget_places()
    if how == "trust":
        door(house.ctx, "trust", {"dir": str(after)})
    else:
        door(house.ctx, "adopt", {"dir": str(after), "old": str(before)})
    finish(house)
    assert stored(house, after) == known
    assert {kind for kind, _, _ in known.values()} >= {PASSAGE, SUMMARY, TOPIC}
