"""`init`: give a project a store of its own."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Annotated

import typer

from vector_memory.cli import asking, import_notes, importing, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.checks import hooks
from vector_memory.errors import NotFoundError, VectorMemoryError
from vector_memory.system.files import open_plain, with_real_folder

GRAPH_VARIABLE = "MEMORY_FILE_PATH"
"""By this the MCP memory server is told where its knowledge graph is."""
BEGINNING_BYTES = 4_096
GRAPH_MARKS = (b'"entityType"', b'"entities"', b'"relationType"')


def init(
    folder: Annotated[str, options.argument("DIR", "The project's folder.")] = ".",
    as_json: options.Json = False,
) -> None:
    """Give a project a store of its own, `.memory/`, and move its memories there.

    Notes that it finds (MEMORY.md, NOTES.md, ADR-*.md, docs/adr/*.md, .claude/*.md) are offered for
    import, and so is the knowledge graph of the MCP memory server, where the client's settings or the
    project's name one; with --json they are listed under "found" and "graphs".
    """
    place = existing(folder)
    answer = asking.ask("init", asking.target(), timeout_s=600.0, dir=place)
    answer = Row({**answer.fields, "graphs": graphs(place)})
    output.answer(answer, as_json, lambda answer: _show(answer, place))


def _show(answer: Row, folder: str) -> None:
    """Tell of the new store; name the notes that were found and how to import them, and ask, where there
    is a terminal."""
    output.say(f"{answer.text('store')}: {answer.count('moved')} memories moved")
    if notes := answer.texts("found"):
        _offer_notes(notes, folder)
    for path in answer.texts("graphs"):
        _offer_graph(path, folder)


def _offer_notes(notes: list[str], folder: str) -> None:
    output.say(
        f"Notes of this project: {', '.join(os.path.relpath(path, folder) for path in notes)}"
    )
    command = ["vector-memory", "import", "--project", folder, *notes]
    output.say(f"Import them with: {output.plain(shlex.join(command))}")
    if sys.stdin.isatty() and typer.confirm("Look at them now?", default=False, err=True):
        where = {**asking.target(folder), "wait": True}
        import_notes.run(notes, where, import_notes.ImportChoice())


def _offer_graph(path: str, folder: str) -> None:
    output.say(f"The MCP memory server's knowledge graph: {output.plain(path)}")
    command = ["vector-memory", "import", "--project", folder, path]
    output.say(f"Import it with: {output.plain(shlex.join(command))}")
    if sys.stdin.isatty() and typer.confirm("Import it now?", default=False, err=True):
        importing.import_lines(path, {**asking.target(folder), "wait": True}, False, False)


def graphs(folder: str) -> list[str]:
    """Return the knowledge graphs that there are: those of the memory servers that the project's `.mcp.json`
    or the client's own settings start, and `memory.json` in the folder."""
    user = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    named = [os.path.join(folder, name) for name in ("memory.json", "memory.jsonl")]
    for path in (os.path.join(folder, ".mcp.json"), os.path.join(user, ".claude.json")):
        try:
            settings = Row(hooks.load(path))
        except ValueError:
            continue
        for servers in (
            settings.row("mcpServers"),
            settings.row("projects").row(folder).row("mcpServers"),
        ):
            given = [servers.row(name).row("env").text(GRAPH_VARIABLE) for name in servers.fields]
            named += [os.path.join(folder, os.path.expanduser(one)) for one in given if one]
    return [path for path in dict.fromkeys(named) if _is_graph(path)]


def _is_graph(path: str) -> bool:
    try:
        with open_plain(with_real_folder(path)) as file:
            beginning = file.read(BEGINNING_BYTES)
    except (OSError, VectorMemoryError):
        return False
    return any(mark in beginning for mark in GRAPH_MARKS)


def existing(folder: str) -> str:
    """Return a folder's absolute path.

    Raises:
        NotFoundError: it is none.
    """
    path = asking.path_of(folder)
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Name a project's folder.")
    return path
