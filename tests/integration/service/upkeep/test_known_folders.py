"""A folder whose remote is added, changed or removed stays the project that it was; another folder in its place is
another one; a worktree that is gone is still of its repository."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repositories import git, repository
from service_house import ServiceHouse, door, hook_question
from talk import transcript

from vector_memory.errors import BadInputError
from vector_memory.service.base.known_folders import KnownFolders
from vector_memory.service.inject import session_start

RULE = "Invoices are numbered by year."
ACME, OTHER = "https://example.org/acme/shop.git", "git@example.net:acme/till.git"


def told(house: ServiceHouse, folder: Path) -> str:
    """Return what a new session is told in a folder."""
    house.ctx.forget_places()
    return session_start.on_start(house.ctx, hook_question(house.ctx, f"in {folder}", str(folder)))


def listed(house: ServiceHouse, folder: Path) -> list[str]:
    """Return the texts of a folder's memories."""
    house.ctx.forget_places()
    return [one["text"] for one in door(house.ctx, "list", {"project": str(folder)})["memories"]]


CHANGES: dict[str, Callable[[Path], None]] = {
    "added": lambda it: git(it, "remote", "add", "origin", ACME),
    "changed": lambda it: git(it, "remote", "set-url", "origin", OTHER),
    "removed": lambda it: git(it, "remote", "remove", "origin"),
    "renamed": lambda it: git(it, "remote", "rename", "origin", "upstream"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_own", [False, True])
def test_a_changed_remote_takes_memories_along(
    house: ServiceHouse, tmp_path: Path, change: str, is_own: bool
) -> None:
    """In the main checkout, a worktree and a clone of the new remote, told once; also from a store of its own."""
    shop = repository(tmp_path / "shop", "" if change == "added" else ACME)
    git(shop, "worktree", "add", "-b", "wt", "../tree")
    house.remember(RULE, shop)
    if is_own:
        door(house.ctx, "init", {"dir": str(shop)})
    CHANGES[change](shop)
    first = told(house, shop)
    assert RULE in first
    assert "its memories (1) came along" in first
    again = told(house, tmp_path / "tree")
    assert RULE in again
    assert "came along" not in again
    if change in ("added", "changed") and not is_own:
        clone = repository(tmp_path / "clone", ACME if change == "added" else OTHER)
        assert listed(house, clone) == [RULE]
        assert listed(house, shop) == [RULE]


def test_a_folder_may_become_a_repository(house: ServiceHouse, tmp_path: Path) -> None:
    """With its remote at once, as an agent makes it."""
    shop = tmp_path / "shop"
    shop.mkdir()
    house.remember(RULE, shop)
    repository(shop, ACME)
    assert RULE in told(house, shop)


@pytest.mark.parametrize("remote", ["", ACME])
def test_another_repository_in_the_same_place_takes_nothing_along(
    house: ServiceHouse, tmp_path: Path, remote: str
) -> None:
    """The user is told, and may take it along."""
    shop = repository(tmp_path / "shop", remote)
    house.remember(RULE, shop)
    shutil.rmtree(shop / ".git")
    repository(shop, OTHER)
    said = told(house, shop)
    assert RULE not in said
    assert f"vector-memory adopt {shop}" in said
    asked = {"dir": str(shop), "old": str(shop)}
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "adopt", {**asked, "actor": "agent"})
    assert door(house.ctx, "adopt", asked)["adopted"] == 1
    assert listed(house, shop) == [RULE]


def test_nothing_is_taken_when_something_was_stored_there_since(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """The folder is the new repository from then on."""
    shop = repository(tmp_path / "shop", ACME)
    house.remember(RULE, shop)
    shutil.rmtree(shop / ".git")
    repository(shop, OTHER)
    house.ctx.forget_places()
    house.remember("Stock is counted on Mondays.", shop)
    assert listed(house, shop) == ["Stock is counted on Mondays."]


def test_what_two_clones_have_in_common_stays(house: ServiceHouse, tmp_path: Path) -> None:
    """Who leaves a starter takes nothing of the other's along, and goes on apart; the other loses nothing."""
    shop, till = (repository(tmp_path / name, ACME) for name in ("shop", "till"))
    house.remember(RULE, shop)
    house.remember("Stock is counted on Mondays.", till)
    CHANGES["changed"](shop)
    assert f"vector-memory adopt {shop}" in told(house, shop)
    assert listed(house, shop) == []
    assert len(listed(house, till)) == 2
    # A folder that is only elsewhere now still has what is its own.
    till.rename(tmp_path / "moved")
    assert listed(house, shop) == []
    assert len(listed(house, tmp_path / "moved")) == 2


def test_the_last_clone_that_changes_takes_all_along(house: ServiceHouse, tmp_path: Path) -> None:
    """As when a project moves to another host."""
    shop, till = (repository(tmp_path / name, ACME) for name in ("shop", "till"))
    house.remember(RULE, shop)
    house.remember("Stock is counted on Mondays.", till)
    for one in (shop, till):
        CHANGES["changed"](one)
        listed(house, one)
    assert len(listed(house, till)) == len(listed(house, shop)) == 2


def test_a_remote_set_to_anothers_takes_nothing_of_it_away(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """What was told while a repository called itself another project's is not its own afterwards, whether the other
    folder is known by itself or by what was stored before folders were."""
    bank = repository(tmp_path / "bank", ACME)
    bad = repository(tmp_path / "bad", "https://example.org/bad/bad")
    house.remember("The bank's word is swordfish.", bank)
    house.remember("A bad one's note.", bad)
    house.ctx.state.put_record("folders", str(bank), None)
    house.ctx.folders = KnownFolders(house.ctx.state)
    CHANGES["changed"](bad)
    git(bad, "remote", "set-url", "origin", ACME)
    house.ctx.forget_places()
    house.remember("A second note.", bad)
    git(bad, "remote", "set-url", "origin", "https://example.org/bad/worse")
    assert "The bank's word is swordfish." not in listed(house, bad)
    assert "The bank's word is swordfish." in listed(house, bank)


def test_what_was_stored_before_folders_were_remembered_comes_along(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """By the path that a project was stored with."""
    shop = repository(tmp_path / "shop")
    house.remember(RULE, shop)
    house.ctx.state.put_record("folders", str(shop), None)
    house.ctx.folders = KnownFolders(house.ctx.state)
    CHANGES["added"](shop)
    assert listed(house, shop) == [RULE]


def test_a_worktree_that_is_gone_is_still_of_its_repository(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """So is a clone that is gone; a folder that another project's lay in is not."""
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-b", "wt", "../tree")
    house.remember(RULE, tmp_path / "tree")
    git(shop, "worktree", "remove", "--force", "../tree")
    clone = repository(tmp_path / "clone", OTHER)
    house.remember("Stock is counted on Mondays.", clone)
    its_id = house.ctx.place(str(clone)).id
    shutil.rmtree(clone)
    house.ctx.forget_places()
    assert house.ctx.place(str(tmp_path / "tree" / "deep")).root == str(shop)
    assert house.ctx.place(str(clone)).id == its_id
    assert house.ctx.place(str(tmp_path / "never")).root == str(tmp_path / "never")


def test_a_backfill_tells_of_folders_that_are_gone(house: ServiceHouse, tmp_path: Path) -> None:
    """Unless it is known which project they were; and `adopt` takes what it found along."""
    shop = repository(tmp_path / "shop")
    for name in ("tree", "other"):
        git(shop, "worktree", "add", "-b", name, f"../{name}")
    house.remember(RULE, tmp_path / "tree")
    paths = []
    for name in ("tree", "other", "shop"):
        said = [("Stock is always counted on Mondays.", "Noted.")]
        paths.append(transcript(tmp_path / name, said, name).rename(tmp_path / f"{name}.jsonl"))
    for name in ("tree", "other"):
        git(shop, "worktree", "remove", "--force", f"../{name}")
    house.ctx.forget_places()
    done = door(house.ctx, "backfill", {"paths": list(map(str, paths))})
    assert done["gone"] == [str(tmp_path / "other")]
    assert len(listed(house, shop)) == 3
    door(house.ctx, "adopt", {"dir": str(shop), "old": str(tmp_path / "other")})
    assert len(listed(house, shop)) == 4
    assert "gone" not in door(house.ctx, "backfill", {"paths": list(map(str, paths))})


def test_a_folder_that_moved_is_still_found_by_its_old_path(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """What its old transcripts say belongs to it once its memories were taken along."""
    shop, new = repository(tmp_path / "shop"), tmp_path / "new"
    house.remember(RULE, shop)
    shop.rename(new)
    house.ctx.forget_places()
    door(house.ctx, "adopt", {"dir": str(new), "old": str(shop)})
    house.ctx.forget_places()
    assert house.ctx.place(str(shop)).root == str(new)


@pytest.mark.parametrize("layout", ["main", "worktree", "bare"])
def test_a_store_of_its_own_is_one_for_all_worktrees(
    house: ServiceHouse, tmp_path: Path, layout: str
) -> None:
    """Whichever of them it is made in, and where the repository has no checkout of its own."""
    shop, tree = repository(tmp_path / "shop"), tmp_path / "tree"
    if layout == "bare":
        git(tmp_path, "clone", "--bare", str(shop), "x/.bare")
        shop = tmp_path / "x" / "main"
        git(tmp_path / "x" / ".bare", "worktree", "add", "../main", "main")
    git(shop, "worktree", "add", "-b", "wt", str(tree))
    house.remember(RULE, shop)
    made = door(house.ctx, "init", {"dir": str(shop if layout == "main" else tree)})
    assert made["moved"] == 1
    assert not (tree / ".memory").exists()
    house.ctx.forget_places()
    for folder in (shop, tree):
        assert house.ctx.place(str(folder)).store == made["store"]
        assert RULE in told(house, folder)
        assert listed(house, folder) == [RULE]
    house.remember("Stock is counted on Mondays.", tree)
    assert house.ctx.global_shelf().journal.count() == 0
