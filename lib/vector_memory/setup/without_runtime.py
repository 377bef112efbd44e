"""What the command line does without a runtime, by the standard library alone: `uninstall`, `daemon stop` and `daemon
status` set nothing up first."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence

from vector_memory.client.link import STOPPED, DaemonClient
from vector_memory.errors import VectorMemoryError
from vector_memory.setup import data_removal, wiring
from vector_memory.system.paths import Home

AGAIN = "run `vector-memory uninstall` again after a set-up"
UNSEEN = f"Timers of jobs and of the dashboard, and projects' own stores, are not looked for: {AGAIN} to have them found."


def main(words: Sequence[str]) -> int:
    """Do what one of these commands says, and return the exit code."""
    options = _parser().parse_args(words)
    try:
        return int(options.act(Home(), options))
    except VectorMemoryError as error:
        return _refuse(error.message, error.hint)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vector-memory")
    verbs = parser.add_subparsers(required=True)
    uninstall = verbs.add_parser("uninstall")
    uninstall.set_defaults(act=_uninstall)
    for option in ("--memories", "--yes", "-y", "--dry-run", "--json"):
        uninstall.add_argument(option, action="store_true")
    daemon = verbs.add_parser("daemon").add_subparsers(required=True)
    for name, act in (("stop", _stop), ("status", _status)):
        verb = daemon.add_parser(name)
        verb.set_defaults(act=act)
        verb.add_argument("--json", action="store_true")
    return parser


def _uninstall(home: Home, options: argparse.Namespace) -> int:
    yes = options.yes or options.y
    if os.environ.get("CLAUDECODE"):
        return _refuse(
            "Only the user uninstalls: this command comes from an agent.",
            "Ask the user to run it in a terminal of their own.",
        )
    if options.json and not (yes or options.dry_run):
        sys.stderr.write("With --json, say --yes or --dry-run.\n")
        return 2
    if not options.json:
        _say(f"Nothing is set up in {home.root}.")
        if options.memories:
            _say(f"To be removed: {data_removal.memories_of(home)}")
    if not (yes or options.dry_run):
        if not sys.stdin.isatty():
            return _refuse(
                "Nothing was removed: there is no terminal to ask on.",
                "Look with --dry-run, then say --yes.",
            )
        if not _ask_consent("Remove what is left of it?"):
            _say("Nothing was removed.")
            return 0
    if not options.dry_run:
        DaemonClient(home).stop()
        data_removal.remove(home, options.memories)
    report = data_removal.leftovers(home, options.memories, options.dry_run)
    _show(
        {**report, "projects": []}, [*data_removal.report_lines(home, report), UNSEEN], options.json
    )
    for line in _wired_lines(home):
        sys.stderr.write(f"{line}\n")
    return 0


def _wired_lines(home: Home) -> list[str]:
    """Return in sentences what the client's settings go on naming, and how to take it out."""
    plugins, hook_lines = set(), []
    for path in wiring.settings_files(os.getcwd()):
        try:
            settings = wiring.load(path)
        except ValueError:
            hook_lines.append(f"{path} is no JSON: our hooks may be in it.")
            continue
        plugins.update(wiring.plugins(settings))
        if wiring.wires_hooks(settings, home.root):
            hook_lines.append(f"Our hooks stay in {path}: take them out by hand, or {AGAIN}.")
    plugin_lines = [
        f"The client's plugin stays. Run: claude plugin uninstall {name}"
        for name in sorted(plugins)
    ]
    return plugin_lines + hook_lines


def _stop(home: Home, options: argparse.Namespace) -> int:
    was_running = DaemonClient(home).stop()
    words = "Stopped." if was_running else "No daemon was running."
    _show({**STOPPED, "was_running": was_running}, [words], options.json)
    return 0


def _status(home: Home, options: argparse.Namespace) -> int:
    status = {**STOPPED, **(DaemonClient(home).running() or {})}
    words = f"{status['state']}; nothing is set up in {home.root}"
    _show(status, [words], options.json)
    return 0


def _ask_consent(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _refuse(message: str, hint: str) -> int:
    sys.stderr.write(f"{message}\nWhat to do: {hint}\n")
    return 1


def _show(answer: Mapping[str, object], words: Sequence[str], as_json: bool) -> None:
    _say(json.dumps(answer, ensure_ascii=False) if as_json else "\n".join(words))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
