"""What was remembered in a folder under another name, after its remote changed, is offered to the user and taken along by
`adopt` alone; all working trees of a repository share its store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repositories import git, repository
from service_house import ServiceHouse, door, hook_question
from talk import transcript

from vector_memory.errors import BadInputError, NotFoundError
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


def long_there(house: ServiceHouse, folder: Path) -> None:
    """Have a repository be older than what is remembered."""
    made = house.time.timestamp() - 86_400
    os.utime(folder / ".git" / "description", (made, made))


CHANGES: dict[str, Callable[[Path], None]] = {
    "added": lambda it: git(it, "remote", "add", "origin", ACME),
    "changed": lambda it: git(it, "remote", "set-url", "origin", OTHER),
    "removed": lambda it: git(it, "remote", "remove", "origin"),
    "renamed": lambda it: git(it, "remote", "rename", "origin", "upstream"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_own", [False, True])
def test_what_lies_under_another_name_is_offered_until_it_is_taken(
    house: ServiceHouse, tmp_path: Path, change: str, is_own: bool
) -> None:
    """In the main checkout and a worktree, also once something is stored under the new one; from a store of its own,
    too."""
    shop = repository(tmp_path / "shop", "" if change == "added" else ACME)
    long_there(house, shop)
    git(shop, "worktree", "add", "-b", "wt", "../tree")
    house.remember(RULE, shop)
    if is_own:
        door(house.ctx, "init", {"dir": str(shop)})
    CHANGES[change](shop)
    for folder in (shop, tmp_path / "tree"):
        said = told(house, folder)
        assert RULE not in said
        assert f"vector-memory adopt {shop}" in said
    house.remember("Stock is counted on Mondays.", shop)
    assert f"vector-memory adopt {shop}" in told(house, shop)
    asked = {"dir": str(tmp_path / "tree"), "old": str(shop)}
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "adopt", {**asked, "actor": "agent"})
    assert door(house.ctx, "adopt", asked)["adopted"] == 1
    said = told(house, tmp_path / "tree")
    assert RULE in said
    assert "vector-memory adopt" not in said
    with pytest.raises(NotFoundError):
        door(house.ctx, "adopt", asked)


@pytest.mark.parametrize("remote", ["", ACME])
def test_another_repository_in_the_same_place_is_offered_it_at_first(
    house: ServiceHouse, tmp_path: Path, remote: str
) -> None:
    """The folder is the new repository as soon as something is stored of it."""
    shop = repository(tmp_path / "shop", remote)
    house.remember(RULE, shop)
    shutil.rmtree(shop / ".git")
    repository(shop, OTHER)
    said = told(house, shop)
    assert RULE not in said
    assert f"vector-memory adopt {shop}" in said
    house.remember("Stock is counted on Mondays.", shop)
    assert "vector-memory adopt" not in told(house, shop)
    assert listed(house, shop) == ["Stock is counted on Mondays."]


def test_repositories_below_a_common_store_stay_apart(house: ServiceHouse, tmp_path: Path) -> None:
    """One is offered nothing of another's."""
    top = tmp_path / "code"
    top.mkdir()
    door(house.ctx, "init", {"dir": str(top)})
    house.ctx.forget_places()
    shop, till = (repository(top / name, f"https://example.org/{name}") for name in ("a", "b"))
    long_there(house, shop)
    long_there(house, till)
    house.remember(RULE, shop)
    assert "vector-memory adopt" not in told(house, till)
    assert listed(house, till) == []
    with pytest.raises(NotFoundError):
        door(house.ctx, "adopt", {"dir": str(till), "old": str(top)})
    assert listed(house, shop) == [RULE]


def test_a_backfill_tells_of_folders_that_are_gone(house: ServiceHouse, tmp_path: Path) -> None:
    """`adopt` takes what it found along."""
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-b", "other", "../other")
    paths = []
    for name in ("other", "shop"):
        said = [("Stock is always counted on Mondays.", "Noted.")]
        paths.append(transcript(tmp_path / name, said, name).rename(tmp_path / f"{name}.jsonl"))
    git(shop, "worktree", "remove", "--force", "../other")
    house.ctx.forget_places()
    done = door(house.ctx, "backfill", {"paths": list(map(str, paths))})
    assert done["gone"] == [str(tmp_path / "other")]
    before = len(listed(house, shop))
    door(house.ctx, "adopt", {"dir": str(shop), "old": str(tmp_path / "other")})
    assert len(listed(house, shop)) > before


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
