"""What a line made itself, or nobody keeps, is nobody's loss; what it moved there is."""

from __future__ import annotations

import pytest

from vector_memory.observe.commands import judge
from vector_memory.observe.commands.findings import HIGH, CallSite

SITE = CallSite("/home/dev/shop", "/home/dev/shop", "/home/dev", exists=lambda path: True)


def is_grave(command: str) -> bool:
    """Whether a command is told as high."""
    flags = judge.of_call("Bash", {"command": command}, SITE)
    return any(flag.severity == HIGH for flag in flags)


@pytest.mark.parametrize(
    "command",
    [
        "mv services /tmp/x1 && rm -rf /tmp/x1",
        "mv src/ /tmp/; rm -rf /tmp/src",
        "T=$(mktemp -d) && mv data/* $T && rm -rf $T",
        "T=$(mktemp -d); T=.; cd $T; rm -rf src",
        "cd /tmp/w && git branch -D feature",
        "cd /tmp/w && git stash drop",
        "cd /tmp/w && git reset --hard HEAD~3",
        "cd /tmp/w && git worktree remove --force ../x",
        "cd /tmp/w && git --git-dir=/home/dev/shop/.git reset --hard",
        "cd /tmp/w; GIT_DIR=/home/dev/shop/.git git reset --hard",
        "git clone https://example.org/y.git /tmp/y && git reset --hard v2",
        "git branch -D x",
        "rm -rf /var/lib/postgresql",
    ],
)
def test_what_is_somebodys_is_a_loss_wherever_it_was_moved(command: str) -> None:
    assert is_grave(command)


@pytest.mark.parametrize(
    "command",
    [
        "mv build /tmp/x && rm -rf /tmp/x",
        "mv /tmp/a /tmp/b; rm -rf /tmp/b",
        "T=$(mktemp -d); cd $T; rm -rf services",
        "cd $(mktemp -d) && git init && git reset --hard",
        "git clone https://example.org/x /tmp/x && cd /tmp/x && git reset --hard HEAD~2",
        "git -C /tmp/w checkout -- src/",
        "git worktree add ../x -b tmp && (cd ../x; make) && git worktree remove --force ../x",
        "git checkout -b x && git merge y && git checkout main && git branch -D x",
        "rm -rf ~/.npm/_cacache",
        "apt-get install -y jq && rm -rf /var/lib/apt/lists/*",
    ],
)
def test_what_the_line_made_or_nobody_keeps_is_no_loss(command: str) -> None:
    assert not is_grave(command)


@pytest.mark.parametrize(
    "command",
    [
        "git submodule foreach 'git reset --hard'",
        "nix develop -c rm -rf src",
        "nix-shell --run 'rm -rf src'",
        "screen -dm rm -rf src",
        "hyperfine 'rm -rf src'",
        "heroku run 'rails db:drop'",
        "kubectl run tmp --image=postgres --rm -it -- psql -c 'DROP TABLE users'",
    ],
)
def test_what_runs_a_command_is_looked_through(command: str) -> None:
    assert is_grave(command)
