"""Who moves to another place leaves nothing at the one before, or is told that something stays there."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from service_house import door
from sharing_machines import DECISION, OTHER, Machine, meet

from vector_memory.errors import BadInputError
from vector_memory.trust import attestation


def bundles(place: Path) -> list[str]:
    return sorted(path.name for path in place.rglob("*.bundle"))


def left(ann: Machine, place: Path, other: Path) -> Path:
    """Move to another place while the one before cannot be reached; return where that lies meanwhile."""
    away = place.with_name("away")
    place.rename(away)
    ann.ask("init", to=other.as_uri(), leave=True)
    return away


@pytest.fixture
def other(place: Path) -> Path:
    folder = place.with_name("other")
    folder.mkdir()
    return folder


@pytest.fixture
def shared(machines: list[Machine], place: Path) -> tuple[Machine, Machine]:
    """ann, and ben who has what she published."""
    ann, ben = machines[:2]
    meet([ann, ben], place)
    ann.remember(DECISION)
    ann.publish()
    ben.pull()
    assert ben.shared() == [DECISION]
    return ann, ben


@pytest.mark.parametrize("is_bare", [False, True], ids=["folder", "repository"])
def test_what_was_published_is_taken_back_at_the_place_before(
    machines: list[Machine], tmp_path: Path, is_bare: bool
) -> None:
    ann, ben = machines[:2]
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        if is_bare:
            subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    meet([ann, ben], first)
    ann.remember(DECISION)
    ann.publish()
    ben.pull()
    done = ann.ask("init", to=second.as_uri())
    assert done["taken_back"] == f"file://{first}" and "left" not in done
    ben.pull()
    assert ben.shared() == []
    ben.ask("init", to=second.as_uri())
    assert ann.publish()["memories"] == 1
    ben.pull()
    assert ben.shared() == [DECISION]


def test_what_another_key_of_ones_own_signed_goes_too(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    ann, _ = shared
    door(ann.house.ctx, "identity", {"action": "rotate"})
    ann.ask("init", to=other.as_uri())
    assert bundles(place) == []


def test_a_place_that_cannot_be_reached_is_left_only_when_that_is_said(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    """Then what lies there is told until it is taken back, and a purge of it is not called done."""
    ann, ben = shared
    key = json.loads((ann.project / ".memory-team.json").read_text())
    away = place.with_name("away")
    place.rename(away)
    with pytest.raises(BadInputError, match="would stay there") as refused:
        ann.ask("init", to=other.as_uri())
    assert "--leave" in refused.value.hint and list(other.iterdir()) == []
    assert ann.ask("status")["url"] == f"file://{place}"
    done = ann.ask("init", to=other.as_uri(), leave=True)
    assert list(done["left"]) == [f"file://{place}"] and "taken_back" not in done
    assert json.loads((ann.project / ".memory-team.json").read_text()) == key
    assert list(ann.publish()["left"]) == ann.ask("status")["left"] == [f"file://{place}"]
    new = ann.remember(OTHER)
    assert ann.publish()["memories"] == 2
    # What never lay there is purged as ever.
    assert "still_shared" not in door(ann.house.ctx, "purge", {"ids": [new], "certificate": True})
    (gone,) = [
        one["id"]
        for one in door(ann.house.ctx, "list", {"project": str(ann.project)})["memories"]
        if one["text"] == DECISION
    ]
    done = door(ann.house.ctx, "purge", {"ids": [gone], "certificate": True})
    assert str(place) in done["still_shared"][str(ann.project)] and done["taken_back"] == []
    assert len(bundles(other)) == 1
    entry = attestation.inclusion_of(json.loads(Path(done["certificate"]).read_text())).entry
    assert json.loads(entry["detail"])["still_shared"] == 1
    away.rename(place)
    assert "left" not in ann.publish() and "left" not in ann.ask("status")
    assert bundles(place) == []
    ben.pull()
    assert ben.shared() == []


def test_a_purge_takes_back_where_something_was_left(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    ann, _ = shared
    away = left(ann, place, other)
    away.rename(place)
    done = door(ann.house.ctx, "purge", {"text": "advisory locks", "certificate": True})
    assert done["taken_back"] == [str(ann.project)] and "still_shared" not in done
    assert bundles(place) == []


def test_a_purge_without_a_proof_says_what_is_still_published(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    """At the place, and at one that was left; it takes nothing back, and a record that is damaged does not stop it."""
    ann, _ = shared
    away = left(ann, place, other)
    second, private = ann.remember(OTHER), ann.remember("We decided to wait for the audit.")
    ann.publish(kind=["conclusion"])
    away.rename(place)
    assert "still_shared" not in door(ann.house.ctx, "purge", {"ids": [second]})
    before = bundles(place)
    done = door(ann.house.ctx, "purge", {"text": "advisory locks"})
    assert "share publish" in done["still_shared"][str(ann.project)] and done["purged"]
    assert bundles(place) == before
    ann.publish()
    assert bundles(place) == []
    (record,) = Path(ann.house.ctx.home.sharing).glob("ledger-*.json")
    record.write_text("{")
    assert door(ann.house.ctx, "purge", {"ids": [private]})["still_shared"]


def test_ones_own_revocation_reaches_what_was_left(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    ann, _ = shared
    away = left(ann, place, other)
    assert list(ann.ask("revoke", key="ann")["left"]) == [f"file://{place}"]
    ann.ask("invite", name="ann")
    away.rename(place)
    assert "left" not in ann.ask("revoke", key="ann")
    assert bundles(place) == []


def test_who_comes_back_publishes_there_again(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    ann, ben = shared
    away = left(ann, place, other)
    away.rename(place)
    ann.ask("init", to=place.as_uri())
    assert "left" not in ann.ask("status") and bundles(place) == []
    ann.publish()
    assert bundles(place) == ["0000000002.bundle"] and bundles(other) == []
    ben.pull()
    assert ben.shared() == [DECISION]


def test_no_other_project_begins_where_something_was_left(
    machines: list[Machine], shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    """What is taken back there would be its own."""
    ann, _ = shared
    away = left(ann, place, other)
    away.rename(place)
    asked = {"global": True, "to": place.as_uri()}
    with pytest.raises(BadInputError, match="shared at the same place"):
        door(ann.house.ctx, "share_init", asked)
    ann.publish()
    assert door(ann.house.ctx, "share_init", asked)["url"] == place.as_uri()


def test_a_place_that_was_moved_keeps_what_lies_there(
    shared: tuple[Machine, Machine], place: Path, other: Path
) -> None:
    """The team is the same, so what was published there counts: it is not published anew."""
    ann, ben = shared
    other.rmdir()
    shutil.move(place, other)
    for machine in (ann, ben):
        machine.ask("init", to=other.as_uri(), leave=True)
    assert ann.publish()["bytes"] == 0 and bundles(other) == ["0000000001.bundle"]
    ben.pull()
    assert ben.shared() == [DECISION]


def _git(*words: str) -> None:
    named = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run(["git", *named, *words], check=True, capture_output=True)


def test_neither_the_projects_remotes_nor_its_clones_are_places(
    machines: list[Machine], tmp_path: Path
) -> None:
    """However a remote is written; a repository of its own is one, also below the project."""
    ann, origin, fork = machines[0], tmp_path / "origin.git", tmp_path / "fork.git"
    for bare in (origin, fork):
        _git("init", "-q", "--bare", str(bare))
    at = ["-C", str(ann.project)]
    _git("init", "-q", str(ann.project))
    _git(*at, "commit", "-q", "--allow-empty", "-m", "one")
    _git(*at, "remote", "add", "origin", origin.as_uri())
    _git(*at, "remote", "add", "fork", str(fork.relative_to(tmp_path)).join(["../../", ""]))
    _git(*at, "push", "-q", "origin", "HEAD")
    clone, tree, alone = tmp_path / "clone", tmp_path / "tree", ann.project / "memories"
    _git("clone", "-q", str(origin), str(clone))
    _git(*at, "worktree", "add", "-q", str(tree))
    _git("init", "-q", str(alone))
    for there in (origin, fork, clone, tree, ann.project, ann.project / ".git"):
        with pytest.raises(BadInputError, match="the project's own"):
            ann.ask("init", to=there.as_uri())
    # Of the project's name, beside it, and nothing of it.
    namesake = ann.project.with_name("ledger.git")
    _git("init", "-q", "--bare", str(namesake))
    for there in (namesake, alone, ann.project / "team"):
        there.mkdir(exist_ok=True)
        assert ann.ask("init", to=there.as_uri())["url"] == there.as_uri()


def test_a_project_that_was_shared_at_its_own_repository_publishes_no_more_there(
    machines: list[Machine], tmp_path: Path, other: Path
) -> None:
    """What was published before goes: by a purge, and when it moves."""
    ann, origin = machines[0], tmp_path / "origin.git"
    _git("init", "-q", "--bare", str(origin))
    _git("init", "-q", str(ann.project))
    ann.ask("init", to=origin.as_uri(), name="ann")
    ids = [ann.remember(text) for text in (DECISION, OTHER)]
    ann.publish()

    def lying() -> str:
        words = ["git", "-C", str(origin), "ls-tree", "-r", "--name-only", "HEAD"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    _git("-C", str(ann.project), "remote", "add", "origin", str(origin)[: -len(".git")])
    before = lying()
    with pytest.raises(BadInputError, match="the project's own") as refused:
        ann.publish()
    assert "share init --to" in refused.value.hint and lying() == before
    done = door(ann.house.ctx, "purge", {"ids": ids[:1], "certificate": True})
    assert done["taken_back"] == [str(ann.project)] and "0000000002.bundle" in lying()
    ann.ask("init", to=other.as_uri())
    assert ".bundle" not in lying()
    ann.publish()
    assert len(bundles(other)) == 1


def test_a_new_place_that_takes_nothing_leaves_the_old_one_as_it_is(
    machines: list[Machine], tmp_path: Path
) -> None:
    """What was published stays until there is another place for it."""
    ann, ben = machines[:2]
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    meet([ann, ben], first)
    ann.remember(DECISION)
    ann.publish()
    hook = second / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(BadInputError):
        ann.ask("init", to=second.as_uri())
    ben.pull()
    assert ben.shared() == [DECISION]
    hook.unlink()
    ann.ask("init", to=second.as_uri())
    ben.pull()
    assert ben.shared() == []
