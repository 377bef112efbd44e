"""Losses by what runs a command, by where it runs, and by what is made again."""

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
        "cd /tmp/w && git branch -D feature",
        "cd /tmp/w && git stash drop",
        "cd /tmp/w && git --git-dir=/home/dev/shop/.git reset --hard",
        "git switch -c tmp origin/main; git switch main; git reset --hard origin/main",
        "git add . && git checkout HEAD -- .",
        "gh pr create --head feature --fill && git branch -D feature",
        "mkdir -p src/lib && cd src/lib && git reset --hard HEAD~3",
        "tar czf src.tgz src && cd src && git reset --hard HEAD~1",
        "cd /tmp/x && make; cd - && git reset --hard",
        'T=$(mktemp -d); cd $T; make; cd "$REPO"; rm -rf src',
        "rm -rf /var/lib/postgresql",
    ],
)
def test_what_git_throws_away_is_a_loss_wherever_it_stands(command: str) -> None:
    """What a line made may bear the name of what it throws away, and a folder lie in another's repository."""
    assert is_grave(command)


@pytest.mark.parametrize(
    "command", ["rm -rf ~/.npm/_cacache", "apt-get install -y jq && rm -rf /var/lib/apt/lists/*"]
)
def test_a_cache_is_made_again_whole(command: str) -> None:
    assert not is_grave(command)


@pytest.mark.parametrize(
    "command",
    [
        "git submodule foreach 'git reset --hard'",
        "git submodule foreach --recursive git reset --hard",
        "git submodule foreach sh -c 'git reset --hard'",
        "nix develop -c rm -rf src",
        "nix develop -c bash -c 'rm -rf src'",
        "nix develop --command rm -rf src",
        "nix-shell --run 'rm -rf src'",
        "screen -dm rm -rf src",
        "screen -dmS job rm -rf src",
        "hyperfine 'rm -rf src'",
        "hyperfine -N 'rm -rf src'",
        "heroku run 'rails db:drop'",
        "kubectl run tmp --image=postgres --rm -it -- psql -c 'DROP TABLE users'",
    ],
)
def test_what_runs_a_command_is_looked_through(command: str) -> None:
    assert is_grave(command)


@pytest.mark.parametrize(
    "command", ["git log --grep foreach", "git submodule foreach git pull", "screen -ls"]
)
def test_what_only_looks_so_runs_nothing(command: str) -> None:
    assert not is_grave(command)
