"""The command `vector-memory`: the verbs of `verbs.txt`, each made a command when it is asked for."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from vector_memory.cli import boundary, output, verbs
from vector_memory.cli.output import COMPLETE, PROGRAM
from vector_memory.system.paths import version

VERBS = [name for name in verbs.VERBS if " " not in name]
"""What stands first on a command line, in the order of the help."""
ALIASES = {"debug": "doctor"}
"""Other names by which people look for a verb; the help does not list them."""
HELP = {"help_option_names": ["--help", "-h"]}


class Verbs(typer.core.TyperGroup):
    """The verbs as a group that makes one a command only when somebody asks for it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs' names in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb's command, or None when there is none of that name."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in VERBS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = verbs.command_of(cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each verb does, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, verbs.VERBS[name].summary) for name in VERBS])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that was typed; a mistyped one brings the names that look like it."""
        if args and args[0] not in (*VERBS, *ALIASES):
            _suggest(ctx, args[0])
        return super().resolve_command(ctx, args)


def _suggest(ctx: Any, typed: str) -> None:
    from difflib import get_close_matches

    close = get_close_matches(typed, VERBS, n=3)
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    words = sys.argv[1:] if arguments is None else arguments
    return boundary.run(lambda: command()(words, prog_name=PROGRAM, standalone_mode=False), words)


if __name__ == "__main__":
    sys.exit(main())
