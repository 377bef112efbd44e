"""The table of what programs destroy: each line is well-formed and can be reached, and conditions mean what its
head says."""

from __future__ import annotations

from pathlib import Path

import pytest

from vector_memory.observe.commands import command_line, judge, rules
from vector_memory.observe.commands.findings import (
    CATEGORIES,
    HIGH,
    LOW,
    CallSite,
    Finding,
)
from vector_memory.observe.commands.words import WORDS
from vector_memory.text import tables
from vector_memory.text.shell import RUNNERS, Runner

EVERY = [(name, one) for name, known in rules.RULES.items() for one in known]


def found(command: str) -> list[Finding]:
    """Return what the table alone says of a line."""
    line = command_line.read(command, CallSite())
    return [one for act in line.acts for one in rules.judge(act, line)]


@pytest.mark.parametrize(("name", "rule"), EVERY)
def test_a_line_is_well_formed(name: str, rule: rules.CommandRule) -> None:
    """Its expression compiles, its category is one, and what is found comes with a sentence."""
    assert name == name.lower().strip()
    assert rule.category in CATEGORIES
    of_secrets = not {"secret", "read", "piped", "changes"}.isdisjoint(rule.conditions.split())
    assert rule.severity in (HIGH, LOW, "-") or rule.severity == "=" and of_secrets
    assert rule.why.endswith(".") == (rule.severity != "-")
    line = command_line.read("x y", CallSite())
    assert rule.fits(line.acts[0], line, "") in (True, False)


@pytest.mark.parametrize("name", sorted(rules.RULES))
def test_no_line_stands_behind_one_that_always_fits(name: str) -> None:
    """The first line of a category that fits holds: after one without conditions nothing would be read."""
    ended: set[str] = set()
    for one in rules.RULES[name]:
        assert one.category not in ended, one
        if one.pattern == "-" and one.conditions == "-":
            ended.add(one.category)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git -C api checkout -f main -- src", [("discard", LOW)]),
        ("git checkout -b x -- .", []),
        ("git restore --staged .", []),
        ("git restore --staged --worktree .", [("discard", HIGH)]),
        ("git clean -fdx node_modules", []),
        ("git clean -fdX", [("discard", LOW)]),
        ("git reset --hard HEAD", [("discard", HIGH)]),
        ("git push -h -f", []),
        ("kubectl -n prod delete pod web --all", [("infrastructure", HIGH)]),
        ("kubectl delete pod/web", [("infrastructure", LOW)]),
        ("kubectl delete ns x --dry-run=none", [("infrastructure", HIGH)]),
        ("docker rm x", [("infrastructure", LOW)]),
        ("docker rm $X", [("infrastructure", HIGH)]),
        ("curl -X DELETE http://localhost/a", [("infrastructure", LOW)]),
        ("gcloud config configurations delete x", [("infrastructure", LOW)]),
        ("dropdb shop", [("data", HIGH)]),
        ("dropdb shop_test", [("data", LOW)]),
        ("dropdb -h", []),
        ("chown -R me /", [("permissions", HIGH)]),
        ("chown -R me build", []),
        ("chmod 777 x", [("permissions", HIGH)]),
        ("chmod -R u+rX x", []),
        ("mkfs.ext4 disk.img", []),
        ("mkfs.ext4 /dev/sdb1", [("delete", HIGH)]),
        ("op read op://a/b | psql", []),
        ("systemctl stop nginx", [("infrastructure", LOW)]),
        ("systemctl reboot", [("processes", HIGH)]),
    ],
)
def test_conditions_are_kept(command: str, expected: list[tuple[str, str]]) -> None:
    """Options that must or must not be given, what is made again, what nobody knows."""
    assert [(one.category, one.severity) for one in found(command)] == expected


def test_a_target_stands_without_options() -> None:
    """Findings of one target are told once, whatever the options were; none is without one."""
    assert [one.target for one in found("git push -f origin main; git commit --amend")] == [
        "origin main",
        "git commit",
    ]


def test_every_name_of_words_is_looked_for() -> None:
    """In code, or for programs in a table; a table names none that is not there."""
    folder = Path(rules.__file__).parent
    modules = [*folder.glob("*.py"), *(folder.parent / "intent").glob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in modules)
    lines = tables.lines("rules", str(folder))
    named = {
        name[1:] for line in lines for name in line.split("\t")[0].split(",") if name[0] == "*"
    }
    in_code = {name for name in WORDS if f'"{name}"' in code}
    assert set(WORDS) - in_code - named == set()
    assert named - set(WORDS) == {"sql", "script"}


@pytest.mark.parametrize(("program", "runner"), sorted(RUNNERS.items()))
def test_what_runs_another_program_is_looked_through(program: str, runner: Runner) -> None:
    """By each line of the table, in the form that it names."""
    assert runner.where in ("framed", "here", "there")
    between = "x " * runner.between
    forms = {
        "-": f"{program} {between}rm -rf /srv",
        "=": f"{program} {runner.how[1:].split(',')[0]} {between}'rm -rf /srv'",
    }
    option = runner.how.split(",")[0]
    form = forms.get(runner.how) or forms.get(runner.how[0]) or f"{program} {option} {between}rm -rf /srv"  # fmt: skip
    if runner.how.startswith("-") and len(runner.how) > 1:
        form = f"{program} {option} 'rm -rf /srv'"
    if program in ("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"):
        form = f"{program} exec web rm -rf /srv"
    names = [act.name for act in command_line.read(form, CallSite()).acts]
    assert "rm" in names or option == "pnpm", form


_PUBLISHING = """npm --prefix web publish; npm -w @shop/core publish; pnpm -C web publish; pnpm -w publish
cargo +nightly --locked publish; yarn workspace core npm publish"""
_REBUILDING = """yarn workspace core prisma migrate reset; pnpm --filter api exec prisma migrate reset; rake --trace db:drop
uv --directory api run python manage.py flush --no-input; flask --app=shop db downgrade base; kill -9 -1; xhost +; chmod -R o=w app"""
_OTHER = """npm --prefix publish run lint; pnpm --filter publish test; yarn workspace publish run build; kill -1 42
alembic --config downgrade current; npm --prefix web publish --dry-run; truncate -s +10 a.txt"""


@pytest.mark.parametrize(
    ("lines", "severities"), [(_PUBLISHING, [HIGH]), (_REBUILDING, [HIGH]), (_OTHER, [])]
)
def test_options_stand_before_a_verb(lines: str, severities: list[str]) -> None:
    """With what they are given: that is no verb, and hides none. Signs that only look like an option stay."""
    for command in lines.replace("\n", "; ").split("; "):
        assert [one.severity for one in found(command)] == severities, command


_ENDING = """kill -9 $(pgrep -f node)
pidof node | xargs kill
P=`pgrep python`; kill $P
ps aux | grep '[j]ava' | grep -v grep | awk '{print $2}' | xargs -r kill -9
ps -ef | grep -i node | tr -s ' ' | cut -d' ' -f2 | xargs kill
kill -9 $(ps -eo pid,comm | grep node | awk '{ print $1 }')
kill -TERM $(pgrep -x node); for p in $(pgrep -fl node); do echo $p; kill $p; done
cd web && kill $(pgrep node || true)
pgrep node | while read p; do kill $p; done
[ -d logs ]; kill $(pgrep node)
test -f package.json; kill -9 $(pgrep -f node)
[ -d logs ] && kill $(pgrep node)
if [ -f .env ]; then kill $(pgrep node); fi
if true; then echo hi; fi; pgrep node | xargs kill -9
[ -f .env ] && source .env; ps aux | grep node | grep -v grep | awk '{print $2}' | xargs kill -9
cd web && if [ -f a ]; then npm ci; fi && kill -9 $(pgrep node) && npm start
for i in 1 2 3; do sleep 1 && pgrep node | xargs kill -9; done
while ! curl -s localhost; do [ -n "$PORT" ] && kill -9 $(pgrep node); done
for p in $(ls pids); do [ -d /proc/$p ] || rm pids/$p; done; for p in $(pgrep node); do kill $p; done
for p in $(pgrep node); do sleep 1 && kill $p; done
for p in $(pgrep node); do kill $p && echo $p || echo "$p is left"; done
P=$(pgrep node); [ -n "$P" ] && kill $P
bash -c '[ -n "$P" ] && kill $(pgrep node)'
for p in $(pgrep node); do echo "stopping $p" && kill -9 $p; done
pgrep node | while read p; do echo "stopping $p" && kill -9 $p; done
for p in $(pgrep node); do [ -n "$HOME" ] && kill $p; done
for p in $(pgrep node); do cd $d && ls; kill -9 $p; done
for p in $(pgrep node); do [ "$(readlink /proc/$p/cwd)" = "$PWD" ] && kill $p; done
for p in $(pgrep node); do test -d /proc/$p/x || continue; kill $p; done
kill -HUP $(pgrep python); kill -s USR1 $(pgrep java)
kill 10 $(pgrep node); kill -9 12 $(pgrep node); kill 18 $(pgrep node)
pgrep node | sort -u | xargs kill -9
pgrep node | cat | uniq | tee pids.txt | paste -sd' ' | xargs kill
ps aux | grep -e node | awk '{print $2}' | sort -rn | xargs kill
pgrep --full node | xargs kill; pgrep -d ' ' node | xargs kill; kill $(pgrep -d' ' -f node)"""
_ENDING_ONE = """kill $(pgrep -f 'shop-server --port 3000'); kill -0 $(pgrep node); kill $!; kill %%; pgrep node | wc -l
ps aux | grep node | grep shop-worker | awk '{print $2}' | xargs kill; kill $(cat node.pid)
kill -9 $(lsof -ti:3000); lsof -i :3000 | grep node | awk '{print $2}' | xargs kill; kill $(lsof -t +D .)
kill $(pgrep -P $$ node); kill $(pgrep -n node); pgrep -g 12 -f node | xargs kill; kill $(pgrep -o chrome)
kill $(pgrep -s 5 node); kill $(pgrep -t pts/1 zsh); kill $(pgrep --parent $$ node); kill $(pgrep -x node --newest)
kill $(ps -o pid= --ppid $(pgrep node)); ps --ppid $$ | grep node | awk '{print $1}' | xargs kill; kill $(pidof -s node)
ps -p $(cat a.pid) | grep node | awk '{print $1}' | xargs kill; ps aux | grep -m1 node | awk '{print $2}' | xargs kill
pgrep node | head -1 | xargs kill; jobs -l | grep node | awk '{print $2}' | xargs kill; kill $(grep node dev.pids)
cat dev.pids | grep node | cut -d: -f2 | xargs kill; kill $(grep -oE '[0-9]+' a.pid); kill -WINCH $(pgrep node)
ps aux | grep node | awk '/shop/ {print $2}' | xargs kill; ps aux | grep node | sed 1d | xargs kill; kill -s CONT $(pidof nginx)
kill -18 $(pgrep node); pgrep -d ' ' -f shop-worker | xargs kill; pgrep node | sort | head -1 | xargs kill
kill -s 0 $(pgrep node); kill -s 0 4242; for p in $(pgrep node); do kill -0 $p && echo $p; done
for p in $(pgrep node); do kill -s 0 $p || echo $p is gone; done"""


@pytest.mark.parametrize(("lines", "is_found"), [(_ENDING, True), (_ENDING_ONE, False)])
def test_processes_that_a_search_finds(lines: str, is_found: bool) -> None:
    """Are ended as `pkill` would end them: by a name that others have; not where anything narrows the search."""
    for command in lines.splitlines():
        assert bool(found(command)) == is_found, command


@pytest.mark.parametrize(
    ("command", "is_found"),
    [
        ("Get-Process -Name node | Stop-Process -Force", True),
        ("Get-Process node | Where-Object {$_.Path -like 'shop'} | Stop-Process", False),
        ("Get-Process node | Select-Object -First 1 | Stop-Process", False),
    ],
)
def test_processes_that_get_process_finds(command: str, is_found: bool) -> None:
    """Of PowerShell's pipes, too."""
    assert bool(judge.of_call("PowerShell", {"command": command}, CallSite())) == is_found
