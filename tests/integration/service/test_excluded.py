"""A folder that the user leaves out is left out, however it is written and wherever in it a session is."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from service_house import ServiceHouse

from vector_memory import wire
from vector_memory.daemon.events import Events
from vector_memory.service.base.asker import asker_at


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
        assert asker_at(house.ctx, folder) is None, "no hook has a question from there"
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


@pytest.mark.parametrize(
    "event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"]
)
def test_every_hook_is_silent_there(house: ServiceHouse, tmp_path: Path, event: str) -> None:
    """In the project beside it a start and a prompt are told something."""
    events = Events(house.ctx, lambda work: work())
    told = {}
    for name in ("secret", "open"):
        folder = tmp_path / name
        folder.mkdir()
        house.remember("The ledger of the harbour is in src/ledger.py.", folder, priority="CORE")
        message = {
            "session_id": "s", "prompt": "where is the ledger of the harbour?", "cwd": str(folder),
            "tool_name": "Bash", "tool_input": {"command": "grep -rn ledger ."},
            "error": "Exit code 2\nledger: no such file", "hook_event_name": event,
        }  # fmt: skip
        house.ctx.settings = replace(
            house.ctx.settings, excluded_projects=(str(tmp_path / "secret"),), observer="record"
        )
        body = wire.encode_hook(str(folder).encode(), b"", json.dumps(message).encode())
        told[name] = events.answer(event, body)
    assert told["secret"] == b""
    if event in ("SessionStart", "UserPromptSubmit"):
        assert b"src/ledger.py" in told["open"]
