"""The command `vector-memory`: a table of verbs, each imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from vector_memory.cli import boundary, options, output
from vector_memory.cli.output import COMPLETE, PROGRAM
from vector_memory.system.paths import version

HERE = "vector_memory.cli"

VERBS = {
    "remember": "remember:remember",
    "recall": "recall:recall",
    "list": "listing:list_memories",
    "show": "show:show",
    "history": "history:history",
    "entities": "entities:entities",
    "link": "link:link",
    "links": "link:links",
    "edit": "edit:edit",
    "verify": "verify:verify",
    "forget": "forget:forget",
    "quarantine": "quarantine:app",
    "privacy": "privacy:privacy",
    "purge": "purge:purge",
    "topics": "topics:topics",
    "resume": "resume:resume",
    "wrapup": "wrapup:wrapup",
    "lessons": "lessons:lessons",
    "import": "importing:import_files",
    "backfill": "backfill:backfill",
    "export": "export:export",
    "stats": "stats:stats",
    "flags": "flags:flags",
    "init": "init:init",
    "trust": "trust:trust",
    "untrust": "trust:untrust",
    "rebuild": "upkeep:rebuild",
    "check": "upkeep:check",
    "migrate": "upkeep:migrate",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "doctor": "doctor:doctor",
    "uninstall": "uninstall:uninstall",
    "review": "review:review",
    "audit": "audit:audit",
    "jobs": "jobs:app",
    "dashboard": "dashboard:app",
    "serve": "serve:serve",
    "token": "token:app",
    "share": "share:app",
    "proof": "proof:app",
    "identity": "identity:app",
    "feed": "feed:feed",
    "tool": "tool:tool",
    "config": "config:app",
    "daemon": "daemon:app",
    "backend": "backend:app",
    "completion": "completion:completion",
}
"""Each verb's module below this package, and its function or group in there."""
SUMMARIES = os.path.join(os.path.dirname(__file__), "summaries.txt")
"""A line for each verb, made by `scripts/make_cli_docs.py`: asking each for its own takes a tenth of a second."""
ALIASES = {"debug": "doctor"}
"""Other names by which people look for a verb; the help does not list them."""
HELP = {"help_option_names": ["--help", "-h"]}


class Verbs(typer.core.TyperGroup):
    """The verbs as a group that imports one only when somebody asks for it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs' names in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb's command, or None when there is none of that name."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in VERBS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _load(cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each verb does, without importing any."""
        with open(SUMMARIES, encoding="utf-8") as file:
            known = dict(line.rstrip("\n").split("\t") for line in file)
        with formatter.section("Commands"):
            formatter.write_dl([(name, known[name]) for name in VERBS])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that was typed; a mistyped one brings the names that look like it."""
        if args and args[0] not in {**VERBS, **ALIASES}:
            _suggest(ctx, args[0])
        return super().resolve_command(ctx, args)


def _load(name: str) -> Any:
    module, _, attribute = VERBS[name].partition(":")
    verb = getattr(importlib.import_module(f"{HERE}.{module}"), attribute)
    if not isinstance(verb, typer.Typer):
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command(name, cls=options.Verb)(verb)
        verb = group
    command = typer.main.get_command(verb)
    command.name = name
    return command


def _suggest(ctx: Any, typed: str) -> None:
    from difflib import get_close_matches

    close = get_close_matches(typed, list(VERBS), n=3)
    if close and not typed.startswith("-"):
        ctx.fail(f"No such command {typed!r}. Did you mean {' or '.join(close)}?")


def _print_version(asked: bool) -> None:
    if asked:
        output.say(f"{PROGRAM} {version()}")
        raise typer.Exit


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings=HELP,
)


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Long-term memory for Claude Code, on your own machine."""


def command() -> Any:
    """Return the whole command line, for `main` and for the documentation."""
    return typer.main.get_command(app)


def _as_utf8(word: str) -> str:
    # In a C locale Python takes the bytes of UTF-8 for something else.
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        return word


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    words = [_as_utf8(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    return boundary.run(lambda: command()(words, prog_name=PROGRAM, standalone_mode=False), words)


if __name__ == "__main__":
    sys.exit(main())
