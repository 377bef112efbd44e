"""Rules of privacy count wherever in a repository a session is: those of the working tree that it is in, and those of the
main checkout."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from git_repositories import git, repository
from service_house import ServiceHouse, captured_of, door, exported
from talk import transcript

from vector_memory import projects
from vector_memory.client import privacy as cold_privacy
from vector_memory.service.base import privacy

RULES = "# Privacy\n- Zebrafish\n"


def made(tmp_path: Path, layout: str) -> tuple[Path, Path]:
    """Make a repository; return the working tree of a session and the folder that holds the rules."""
    main, tree = repository(tmp_path / "main"), tmp_path / "tree"
    if layout == "separate":
        tree.mkdir()
        git(tree, "init", "--separate-git-dir", str(tmp_path / "tree.git"))
    elif layout == "bare":
        git(tmp_path, "clone", "--bare", str(main), "x/.bare")
        git(tmp_path / "x" / ".bare", "worktree", "add", str(tree), "main")
    else:
        git(main, "worktree", "add", "-b", "wt", str(tree))
    ruling = main if layout == "of the main checkout" else tree
    (ruling / ".claude").mkdir()
    (ruling / ".claude" / "CLAUDE.md").write_text(RULES)
    return tree, ruling


LAYOUTS = ("separate", "bare", "worktree", "of the main checkout", "marked")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rules_of_the_tree_and_of_the_main_checkout_count(
    house: ServiceHouse, tmp_path: Path, layout: str
) -> None:
    """In what is stored of a session, in what is remembered there, in `privacy`, and without a daemon."""
    tree, ruling = made(tmp_path, layout)
    if layout == "marked":
        door(house.ctx, "init", {"dir": str(tree)})
    (tree / "deep").mkdir()
    folder = tree / "deep"
    house.remember("Fixtures are small.", folder)
    said = transcript(folder, [("We always name the fixture Zebrafish.", "Noted.")])
    path = said.rename(tmp_path / "s1.jsonl")
    asked = {"cwd": str(folder), "text": "It is called Zebrafish."}
    with privacy.for_request(house.ctx, asked):
        shown = door(house.ctx, "privacy", asked)
    assert shown["text"] == "It is called [redacted:rule]."
    assert [rule["path"] for rule in shown["rules"]] == [str(ruling / ".claude" / "CLAUDE.md")]
    assert 0 < cold_privacy.rules_since(*projects.locate(str(folder)).folders) <= time.time()
    with privacy.for_request(house.ctx, asked):
        house.remember("A fixture is a Zebrafish.", folder)
    captured_of(house.ctx, str(path), final=True)
    texts = [one["text"] for one in exported(house.ctx, {"all_projects": True})]
    assert any("[redacted:rule]" in text for text in texts)
    assert not any("Zebrafish" in text for text in texts)
