"""`init`, `trust` and `untrust`: a project's store of its own."""

from __future__ import annotations

import os
import shlex
import sys

import typer

from vector_memory.cli import asking, import_files, import_notes, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.setup import wiring
from vector_memory.system.files import beginning

GRAPH_VARIABLE = "MEMORY_FILE_PATH"
"""By this the MCP memory server is told where its knowledge graph is."""
BEGINNING_BYTES = 4_096
GRAPH_MARKS = (b'"entityType"', b'"entities"', b'"relationType"')


def init(call: Invocation, dir: str) -> None:
    """Give a project a store of its own, and offer the notes and graphs that are found for import."""
    answer = Row({**call.ask(), "graphs": graphs(dir)})
    call.show(answer, lambda answer: _show(call, answer, dir))


def show_trust(answer: Row, dir: str) -> None:
    """Print whether a project's `.memory/` is opened from now on."""
    if not answer.flag("trusted"):
        output.say(f"{dir} is not trusted.")
        return
    output.say(f"{dir} is trusted: {answer.count('memories'):,} memories.")
    if adopted := answer.count("adopted"):
        output.say(f"{adopted:,} came from another path; they are this project's now.")


def show_adopted(answer: Row) -> None:
    """Print how many memories a project took over, and which store of its own is not opened."""
    output.say(
        f"{output.memories(answer.count('adopted'))} taken over by {answer.text('project')}."
    )
    output.unopened(answer)


def _show(call: Invocation, answer: Row, folder: str) -> None:
    """Tell of the new store; name what was found and how to import it, and ask, where there is a terminal."""
    output.say(f"{answer.text('store')}: {output.memories(answer.count('moved'))} moved")
    request = {**asking.target(folder), "wait": True}
    if notes := answer.texts("found"):
        names = ", ".join(os.path.relpath(path, folder) for path in notes)
        output.say(f"Notes of this project: {names}")
        if _offer_import("Import them with", folder, notes, "Look at them now?"):
            import_notes.run(call, notes, request)
    for path in answer.texts("graphs"):
        output.say(f"The MCP memory server's knowledge graph: {output.plain(path)}")
        if _offer_import("Import it with", folder, [path], "Import it now?"):
            import_files.import_lines(call, path, request)


def _offer_import(label: str, folder: str, paths: list[str], question: str) -> bool:
    """Print how files are imported, and ask whether to do it now, where there is a terminal."""
    command = ["vector-memory", "import", "--project", folder, *paths]
    output.say(f"{label}: {output.plain(shlex.join(command))}")
    return sys.stdin.isatty() and typer.confirm(question, default=False, err=True)


def graphs(folder: str) -> list[str]:
    """Return the knowledge graphs that there are: those of the memory servers that the project's `.mcp.json`
    or the client's own settings start, and `memory.json` in the folder."""
    user = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    paths = [os.path.join(folder, name) for name in ("memory.json", "memory.jsonl")]
    for path in (os.path.join(folder, ".mcp.json"), os.path.join(user, ".claude.json")):
        try:
            settings = Row(wiring.load(path))
        except ValueError:
            continue
        for servers in (
            settings.row("mcpServers"),
            settings.row("projects").row(folder).row("mcpServers"),
        ):
            configured = [servers.row(name).row("env").text(GRAPH_VARIABLE) for name in servers]
            paths += [
                os.path.join(folder, os.path.expanduser(named_path))
                for named_path in configured
                if named_path
            ]
    begins = {path: beginning(path, BEGINNING_BYTES) for path in paths}
    return [path for path, text in begins.items() if any(mark in text for mark in GRAPH_MARKS)]
