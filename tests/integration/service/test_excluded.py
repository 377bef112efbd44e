"""A folder that the user leaves out is left out, however it is written and wherever in it a session is."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from service_house import ServiceHouse

from vector_memory.service.base import context_block
from vector_memory.service.inject import prompt_recall, session_start


@pytest.fixture
def house(tmp_path: Path) -> ServiceHouse:
    """A data home."""
    return ServiceHouse(tmp_path)


def test_by_every_way_of_writing_it(
    house: ServiceHouse, tmp_path: Path, scratch_home: Path
) -> None:
    """Slashes at the end, links, `~`, dots, a worktree, folders below and the root: hundreds of pairs."""
    repository, other = (
        scratch_home / "code" / "Secret Project",
        scratch_home / "code" / "Secret Project 2",
    )
    for one in (repository, other):
        (one / "src" / "deep").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", one], check=True)
    worktree = tmp_path / "tree"
    (repository / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (repository / ".git" / "worktrees" / "tree" / "commondir").write_text("../..")
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/tree")
    os.symlink(repository, tmp_path / "link")
    os.symlink(scratch_home / "code", tmp_path / "code")
    written = [
        str(repository), f"{repository}/", f"{repository}//.", "~/code/Secret Project", "~/code/Secret Project/",
        str(tmp_path / "link"), f"{tmp_path}/link/", f"{tmp_path}/code/Secret Project", f"{repository}/src/..",
        str(repository.parent), "~", "/", f"{other}/../Secret Project",
    ]  # fmt: skip
    inside = [
        str(repository), f"{repository}/", f"{repository}/src", f"{repository}/src/deep/..", str(tmp_path / "link"),
        f"{tmp_path}/code/Secret Project/src", f"{repository}/not/there", str(worktree), f"{worktree}/sub",
    ]  # fmt: skip
    for setting, folder in product(written, inside):
        house.ctx.settings = replace(house.ctx.settings, excluded_projects=(setting,))
        assert house.ctx.is_excluded(house.ctx.place(folder), folder), (setting, folder)
        ask = context_block.HookQuestion("s", folder, "where is the ledger of the harbour?")
        assert (
            prompt_recall.on_prompt(house.ctx, ask) == "" == session_start.on_start(house.ctx, ask)
        )
    for setting, folder in product(
        written[:9], [str(other), f"{other}/src", str(tmp_path), "/nowhere"]
    ):
        house.ctx.settings = replace(house.ctx.settings, excluded_projects=(setting,))
        assert not house.ctx.is_excluded(house.ctx.place(folder), folder), (setting, folder)


def test_a_part_of_a_repository(house: ServiceHouse, tmp_path: Path) -> None:
    """Sessions in an excluded part get and give nothing, those beside it do."""
    (tmp_path / "repo" / "private" / "x").mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    house.ctx.settings = replace(
        house.ctx.settings, excluded_projects=(f"{tmp_path}/repo/private",)
    )
    for folder, left_out in (
        ("repo/private", True),
        ("repo/private/x", True),
        ("repo", False),
        ("repo/privates", False),
    ):
        place = house.ctx.place(str(tmp_path / folder))
        assert house.ctx.is_excluded(place, str(tmp_path / folder)) is left_out
    # A session that began beside it and went there.
    assert house.ctx.is_excluded(
        house.ctx.place(str(tmp_path / "repo")), str(tmp_path / "repo"), f"{tmp_path}/repo/private"
    )
