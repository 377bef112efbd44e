"""The files by which others start jobs and the dashboard: timers and services of systemd, launchd and cron, and
workflows of n8n. Pure but for `settle`, `write` and `remove`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError
from vector_memory.system.durable_files import write_durably
from vector_memory.system.paths import HOME_VARIABLE, PACKAGE_ROOT, Home

MARK = "Written by `vector-memory "
_JOBS, _SERVICE = "vector-memory-jobs", "vector-memory-dashboard"


class Timers(NamedTuple):
    """Files by their paths, and the commands that put them in force and end that."""

    files: dict[str, str]
    start: str
    stop: str


def program() -> str:
    """Return the command line's program: the installed copy, which stays where it is, if there is one."""
    checkout = os.path.dirname(os.path.dirname(PACKAGE_ROOT))
    tops = (Home().app_current, checkout)
    paths = [os.path.join(top, "bin", "vector-memory") for top in tops]
    return next((path for path in paths if os.path.exists(path)), paths[-1])


def usual_kind() -> str:
    """Return what this machine has: `launchd`, `systemd` or `cron`."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if os.path.isdir("/run/systemd/system") else "cron"


def timers(kind: str) -> Timers:
    """Return the files of a timer that runs all due jobs once a day, when those of the night are due."""
    if kind == "cron":
        return _cron()
    return _launchd(_JOBS) if kind == "launchd" else _systemd(f"{_JOBS}.timer", "service", "timer")


def dashboard(kind: str, port: int) -> Timers:
    """Return the file of a service of this user that keeps the dashboard running.

    Raises:
        BadInputError: cron keeps nothing running.
    """
    if kind == "cron":
        raise BadInputError(
            "This machine has neither systemd nor launchd.",
            "Start `vector-memory dashboard` by hand.",
        )
    return (
        _launchd(_SERVICE, port) if kind == "launchd" else _systemd(_SERVICE, "service", port=port)
    )


def _fill_template(name: str, home: str, started: str, port: int = 0) -> str:
    """Return a file of `timers/` with the data home, the program and the port in it."""
    return _template(name).format(home=home, program=started, port=port)


def _template(name: str) -> str:
    with open(os.path.join(PACKAGE_ROOT, "cli", "timers", name), encoding="utf-8") as file:
        return file.read()


def _systemd(unit: str, *endings: str, port: int = 0) -> Timers:
    """Return the files of a unit, one for each ending."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    replacements = (
        _quote_for_systemd(f"{HOME_VARIABLE}={Home().root}"),
        _quote_for_systemd(program()).replace("$", "$$"),
    )
    names = [f"{unit.partition('.')[0]}.{ending}" for ending in endings]
    paths = {os.path.join(base, "systemd", "user", name): name for name in names}
    start, stop = (f"systemctl --user {verb} --now {unit}" for verb in ("enable", "disable"))
    return Timers(
        {path: _fill_template(name, *replacements, port) for path, name in paths.items()},
        start,
        stop,
    )


def _quote_for_systemd(words: str) -> str:
    """Return an argument as systemd reads it."""
    plain = words.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{plain}"'


def _launchd(label: str, port: int = 0) -> Timers:
    # Not the one for XML, which does the same: it imports all of HTTP, and this module is read for `--help`.
    from html import escape

    path = os.path.expanduser(f"~/Library/LaunchAgents/{label}.plist")
    text = _fill_template(
        f"{label}.plist", escape(Home().root, False), escape(program(), False), port
    )
    start = f"launchctl bootstrap gui/$(id -u) {shlex.quote(path)}"
    return Timers({path: text}, start, f"launchctl bootout gui/$(id -u)/{label}")


def _cron() -> Timers:
    path = Home().cron
    # A crontab takes a percent sign for the end of a line.
    home, started = (shlex.quote(word).replace("%", "\\%") for word in (Home().root, program()))
    start = f"(crontab -l 2>/dev/null; cat {shlex.quote(path)}) | crontab -"
    stop = "crontab -e, and delete the line of `jobs run --due`"
    return Timers({path: _fill_template("jobs.cron", home, started)}, start, stop)


def workflows(jobs: Sequence[Row]) -> str:
    """Return jobs as workflows of n8n, in one JSON array, switched off until somebody has looked at them."""
    flows = [_workflow(job, number) for number, job in enumerate(jobs)]
    return json.dumps(flows, indent=2) + "\n"


def _workflow(job: Row, number: int) -> Any:
    name, cron = job.text("name"), job.text("cron")
    flow = json.loads(_template("workflow.json"))
    # n8n wants 16 characters, and knows a workflow by them when it is imported again.
    flow |= {"id": f"vectorMemory{number:04}", "name": f"Vector Memory: {name}"}
    start, command = flow["nodes"]
    command["name"] = flow["connections"]["When"]["main"][0][0]["node"] = name
    environment = f"{HOME_VARIABLE}={shlex.quote(Home().root)}"
    command["parameters"]["command"] = (
        f"{environment} {shlex.quote(program())} jobs run {name} --json"
    )
    if cron:
        rule = {"interval": [{"field": "cronExpression", "expression": cron}]}
        start |= {"type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2}
        start["parameters"] = {"rule": rule}
    return flow


def settle(
    make: Callable[[str], Timers],
    kinds: Sequence[str],
    kind: str | None,
    removes: bool,
    call: Invocation,
) -> None:
    """Write such files, or take them away, and tell which, and what puts them in force or ends that.

    Args:
        make: returns the files of a kind.
        kinds: those that there may be of.
        kind: that which is asked for; without, what this machine has is written, and what there is removed.

    Raises:
        BadInputError: something else is there, or they cannot be written.
    """
    if removes:
        present = [make(name) for name in ([kind] if kind else kinds)]
        removed = {path: timers.stop for timers in present for path in timers.files if remove(path)}
        then = "; ".join(dict.fromkeys(removed.values()))
        call.show(Row({"removed": list(removed), "then": then}), _show)
        return
    timers = make(kind or usual_kind())
    for path, text in timers.files.items():
        write(path, text)
    call.show(Row({"written": list(timers.files), "then": timers.start}), _show)


def _show(answer: Row) -> None:
    for word in ("written", "removed"):
        for path in answer.texts(word):
            output.say(f"{word.capitalize()}: {path}")
    output.say(
        f"Then: {answer.text('then')}" if answer.text("then") else "Nothing of ours is there."
    )


def write(path: str, text: str) -> None:
    """Write a file (0600), in the place of an older one of ours.

    Raises:
        BadInputError: something else is there, or it cannot be written.
    """
    _require_ours(path)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_durably(path, text.encode())
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}.", "Make its folder writable.") from error


def remove(path: str) -> bool:
    """Delete a file of ours; whether there was one.

    Raises:
        BadInputError: it is not ours.
    """
    _require_ours(path)
    if os.path.lexists(path):
        os.unlink(path)
        return True
    return False


def _require_ours(path: str) -> None:
    if not os.path.lexists(path):
        return
    if os.path.isfile(path) and not os.path.islink(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            if MARK in file.read(4_096):
                return
    raise BadInputError(f"{path} is there, and is not ours.", "Move it away first.")
