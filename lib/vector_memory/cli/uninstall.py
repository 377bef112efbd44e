"""`uninstall`: take Vector Memory away again; memories only where somebody says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import typer

from vector_memory.cli import asking, job_files, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.setup import data_removal, wiring
from vector_memory.system.durable_files import write_durably
from vector_memory.system.paths import Home

CLIENT_WAIT_S = 120.0


@dataclass
class Uninstalling:
    """What there is to take away.

    Attributes:
        wired: the client's settings files that name our hooks.
        plugins: `vector-memory@MARKETPLACE` as the client's settings enable it.
        timers: files by which the system starts jobs and the dashboard.
        projects: stores in projects, which stay.
    """

    home: Home
    wired: list[str] = field(default_factory=list)
    plugins: list[str] = field(default_factory=list)
    timers: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)


def uninstall(call: Invocation, memories: bool, yes: bool, dry_run: bool) -> None:
    """Take everything away but the memories, which go only where the user says so.

    Raises:
        BadInputError: an agent asks.
        BadParameter: programs ask, and do not say what they mean.
    """
    asking.require_user("uninstalls")
    if call.as_json and not (yes or dry_run):
        raise typer.BadParameter("With --json, say --yes or --dry-run.")
    parts = _find_parts()
    if not call.as_json:
        _show_parts(parts, memories)
    if not dry_run:
        if not yes:
            asking.confirm("Remove all of that?", "removed")
            memories = memories or typer.confirm(
                f"Delete the memories in {parts.home.root} as well, for good?", err=True
            )
        _remove(parts, memories)
    report = data_removal.leftovers(parts.home, memories, dry_run)
    answer = Row({**report, "projects": parts.projects})
    call.show(
        answer,
        lambda answer: _say_what_stays(answer, data_removal.report_lines(parts.home, report)),
    )


def _find_parts() -> Uninstalling:
    parts = Uninstalling(Home())
    for path in wiring.settings_files(os.getcwd()):
        try:
            settings = wiring.load(path)
        except ValueError:
            output.note(f"{path} is no JSON: it stays as it is.")
            continue
        if wiring.wires_hooks(settings, parts.home.root):
            parts.wired.append(path)
        parts.plugins += [name for name in wiring.plugins(settings) if name not in parts.plugins]
    for kind in ("systemd", "launchd"):
        files = [*job_files.timers(kind).files, *job_files.dashboard(kind, 0).files]
        parts.timers += filter(os.path.isfile, files)
    parts.projects = _project_stores(parts.home)
    return parts


def _project_stores(home: Home) -> list[str]:
    """Return the folders of stores in projects; none where nobody can say."""
    if not os.path.exists(home.state_db):
        return []
    try:
        stores = asking.ask("stats", asking.everywhere()).rows("stores")
    except VectorMemoryError as error:
        output.note(f"Which projects have a store of their own cannot be told: {error.message}")
        return []
    return [folder for store in stores if (folder := store.text("folder")) != home.global_store]


def _show_parts(parts: Uninstalling, memories: bool) -> None:
    output.say("To be removed:")
    output.say(f"  the daemon, the runtime and the model in {parts.home.root}")
    if memories:
        output.say(f"  {data_removal.memories_of(parts.home)}")
    for path in parts.wired:
        output.say(f"  our hooks in {path}")
    for path in parts.timers:
        output.say(f"  {path}")
    for name in parts.plugins:
        output.say(f"  the client's plugin {name}")


def _remove(parts: Uninstalling, memories: bool) -> None:
    """Take everything away. The plugin and the hooks go first: a session that begins meanwhile would set all
    of it up again."""
    for name in parts.plugins:
        _uninstall_plugin(name)
    for path in parts.wired:
        _unwire(path, parts.home.root)
    for path in parts.timers:
        job_files.remove(path)
    asking.daemon().stop()
    # What is imported from the runtime must be there until the last word.
    sys.stdout.flush()
    data_removal.remove(parts.home, memories)


def _uninstall_plugin(name: str) -> None:
    why = "`claude` is not on PATH."
    if program := shutil.which("claude"):
        try:
            result = subprocess.run(
                [program, "plugin", "uninstall", name],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=CLIENT_WAIT_S, check=False,
            )  # fmt: skip
            why = "The client did not uninstall it." if result.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            why = f"The client does not run: {error}."
    if why:
        output.note(f"{why} Run: claude plugin uninstall {name}")


def _unwire(path: str, home: str) -> None:
    """Take our hooks out of a file of settings; all else in it stays as it is."""
    real = os.path.realpath(path)
    settings = dict(wiring.load(real))
    settings["hooks"] = wiring.without_ours(settings, home)
    if not settings["hooks"]:
        del settings["hooks"]
    content = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        write_durably(real, content.encode(), keep_mode=True)
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be written: {error.strerror}.", "Take our hooks out of it by hand."
        ) from error


def _say_what_stays(answer: Row, in_home: list[str]) -> None:
    output.say("\n".join(in_home))
    for store in answer.texts("projects"):
        output.say(f"A project's own store stays: {os.path.dirname(store)}")
    output.say(
        "What the client knows of the marketplace stays in its settings (`extraKnownMarketplaces`)."
    )
    output.say("A clone of Vector Memory stays too: delete its folder if you want it gone.")
