"""What runs something else, looked through: `docker exec`, `npx`, `poetry run`, `ansible -a`, an alias, a script of
package.json. The table `runners.txt` beside this file says of most programs what they run."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.acts import Act
from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.commands.words import WORDS
from vector_memory.text import shell, tables
from vector_memory.text.shell import ShellWord

DEEPEST = 4
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"})
_CONTAINER_TAKES = (
    "-u -w -e -n -c --user --workdir --env --env-file --namespace --container --context --index -f --file -p"
    " --project-name -H --profile --volume --mount -v --publish --name --network --net --entrypoint -h --hostname"
    " -l --label -m --memory --cpus --platform --add-host --volumes-from --link --restart --pull --gpus --shm-size"
    " --cap-add --tmpfs --dns"
)
_RUNNER_TAKES = "--with --python -p --package --project --directory -e -f -n --env-file -a --app --name --group -t"


class Runner(NamedTuple):
    """A line of the table: where it runs something, how that is found, and how many words stand between."""

    where: str
    how: str
    between: int


def _read() -> dict[str, Runner]:
    """Return how each program of the table runs another one."""
    runners: dict[str, Runner] = {}
    for entry in tables.lines("runners", os.path.dirname(__file__)):
        programs, where, how, between = entry.split("\t")
        runners.update(dict.fromkeys(programs.split(","), Runner(where, how, int(between))))
    return runners


RUNNERS = _read()


def through(
    act: Act, around: CommandSurroundings, aliases: Mapping[str, str], depth: int = 0
) -> Iterator[Act]:
    """Yield an act, or the acts that it runs in its place."""
    inner = _inner(act, around, aliases) if depth < DEEPEST else None
    if inner is None:
        yield act
        return
    words, elsewhere = inner
    left = {name: script for name, script in aliases.items() if name != act.name}
    acts = [
        run for one in act.become(words, elsewhere) for run in through(one, around, left, depth + 1)
    ]
    # What it runs may hold no command at all: then it stands for itself.
    yield from acts or [act]


def _inner(
    act: Act, around: CommandSurroundings, aliases: Mapping[str, str]
) -> tuple[Sequence[ShellWord], bool] | None:
    """Return the words that an act runs, and whether elsewhere; None where it runs nothing else."""
    if act.name in aliases:
        return _script(" ".join((aliases[act.name], *act.args))), False
    if script := _hidden(act) or _of_package(act, around):
        return _script(script), False
    if act.name in _CONTAINERS:
        words = _in_container(act)
        return (words, True) if words else None
    if act.name.startswith("python") or act.name in ("py", "php"):
        return _interpreted(act)
    return _by_table(act)


def _script(script: str) -> tuple[ShellWord, ...]:
    return ShellWord("sh"), ShellWord("-c"), ShellWord(script)


def _by_table(act: Act) -> tuple[Sequence[ShellWord], bool] | None:
    """Return what the table says that an act runs."""
    runner = RUNNERS.get(act.name)
    if act.name == "pdsh":
        return _script(" ".join(act.texts("-w -l -x -s -t -u -n --"))), True
    if runner is None:
        return None
    there, words = runner.where == "there", act.words
    if runner.how.startswith("--") or runner.how.startswith("-") and len(runner.how) > 1:
        script = act.value(*runner.how.split(","))
        if act.name == "ansible" and act.value("-m", "--module-name").rpartition(".")[2] not in ("", "shell", "command", "raw"):  # fmt: skip
            script = ""
        return (_script(script), there) if script else None
    if runner.how.startswith("="):
        script = _after_mark(act, runner)
        return (_script(script), there) if script else None
    place = -1
    if runner.how != "-":
        place = _first_operand(act)
        if place < 0:
            return None
        if act.args[place] not in runner.how.split(","):
            is_local = act.args[place] in WORDS["local-tool"]
            return (words[place:], False) if is_local else None
    if act.name == "npm":
        words = tuple(word for word in words if word.text != "--")
    inner = _after_options(words[place + 1 :], _RUNNER_TAKES, runner.between)
    return (inner, there) if inner else None


def _first_operand(act: Act) -> int:
    return next((place for place, text in enumerate(act.args) if not text.startswith("-")), -1)


def _after_mark(act: Act, runner: Runner) -> str:
    """Return all that stands behind the word after which a command is sent."""
    folded = [text.lower() for text in act.args]
    if runner.how[1:] not in folded:
        return ""
    rest = list(act.args[folded.index(runner.how[1:]) + 1 :])
    if act.name == "tmux":
        rest = rest[2:] if rest[:1] == ["-t"] else rest
        rest = [text for text in rest if text not in ("Enter", "C-m")]
    return " ".join(text for text in rest[runner.between :] if text != "--")


def _hidden(act: Act) -> str:
    """Return the script that an act runs without its being readable, "" without one."""
    if act.name not in shell.SHELLS or act.feeding is None:
        return "" if act.name.isalnum() else hidden.decoded(act.program)
    decoder = act.feeding
    text = "".join(decoder.fed()).strip()
    return hidden.decode(text, " ".join((decoder.name, *decoder.args))) if text else ""


def _of_package(act: Act, around: CommandSurroundings) -> str:
    """Return what `npm run NAME` runs, as package.json says, "" without one."""
    words = act.texts("--prefix -C --cwd --filter -w --workspace")
    if act.name not in WORDS["package-manager"] or not words or act.elsewhere:
        return ""
    name = words[1] if words[0] in ("run", "run-script") and len(words) > 1 else words[0]
    folder = act.value("--prefix", "-C", "--cwd") or "."
    path = around.path(posixpath.join(folder, "package.json"), act.folder)
    try:
        package = json.loads(around.text_of(path) or "{}")
        script = package["scripts"][name]
    except (ValueError, KeyError, TypeError):
        return ""
    return script if isinstance(script, str) else ""


def _in_container(act: Act) -> Sequence[ShellWord]:
    """Return the words after `exec … CONTAINER`."""
    verbs = act.texts(
        "-f --file -p --project-name -n --namespace --context -H --env-file --profile"
    )
    verbs = verbs[1:] if verbs[:1] == ["compose"] else verbs
    if verbs[:1] not in (["exec"], ["run"]):
        return ()
    rest = act.words[act.args.index(verbs[0]) + 1 :]
    if act.name in ("kubectl", "oc"):
        ends = [place for place, word in enumerate(rest) if word.text == "--"]
        return rest[ends[0] + 1 :] if ends and verbs[0] == "exec" else ()
    inner = _after_options(rest, _CONTAINER_TAKES, 1)
    # What is deleted in a container that ends with the command is nobody's.
    kept = act.has("-v", "--volume", "--mount", "--volumes-from") or "compose" in (*act.args, act.name[7:])  # fmt: skip
    if verbs[0] == "exec" or kept or inner and inner[0].text in WORDS["remote-client"]:
        return inner
    return ()


def _after_options(words: Sequence[ShellWord], takes: str, between: int) -> Sequence[ShellWord]:
    """Return the words after options, assignments and `between` words that are no part of the command."""
    left, taking = list(words), takes.split()
    while left:
        text = left[0].text
        if text == "--":
            left.pop(0)
            if between <= 0:
                break
        elif text.startswith("-") and len(text) > 1:
            left = left[2:] if text in taking else left[1:]
        elif text.partition("=")[0].isidentifier() and "=" in text:
            left.pop(0)
        elif between:
            left.pop(0)
            between -= 1
        else:
            break
    return left


def _interpreted(act: Act) -> tuple[Sequence[ShellWord], bool] | None:
    """Return what a script that is known by its name is: `python manage.py`, `php artisan`, `-m alembic`."""
    if "-m" in act.args:
        place = act.args.index("-m") + 1
        return (act.words[place:], False) if act.words[place:] else None
    place = _first_operand(act)
    known = place >= 0 and posixpath.basename(act.args[place]) in ("manage.py", "artisan")
    return (act.words[place:], False) if known else None
