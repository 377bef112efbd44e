"""`trust` and `untrust`: whether a `.memory/` that came from elsewhere is opened."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.init import existing

Folder = Annotated[str, options.argument("DIR", "The project's folder.")]


def trust(folder: Folder, as_json: options.Json = False) -> None:
    """Open a project's `.memory/` that came from elsewhere."""
    _set(folder, True, as_json)


def untrust(folder: Folder, as_json: options.Json = False) -> None:
    """Stop opening a project's `.memory/`."""
    _set(folder, False, as_json)


def _set(folder: str, trusted: bool, as_json: bool) -> None:
    path = existing(folder)
    answer = asking.ask("trust", asking.target(), dir=path, trusted=trusted)
    output.answer(answer, as_json, lambda answer: _show(answer, path))


def _show(answer: Row, path: str) -> None:
    if not answer.flag("trusted"):
        output.say(f"{path} is not trusted.")
        return
    output.say(f"{path} is trusted: {answer.count('memories'):,} memories.")
    if adopted := answer.count("adopted"):
        output.say(f"{adopted:,} came from another path; they are this project's now.")
