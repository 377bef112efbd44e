"""`trust` and `untrust`: whether a `.memory/` that came from elsewhere is opened."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show(answer: Row, dir: str) -> None:
    """Print whether a project's `.memory/` is opened from now on."""
    if not answer.flag("trusted"):
        output.say(f"{dir} is not trusted.")
        return
    output.say(f"{dir} is trusted: {answer.count('memories'):,} memories.")
    if adopted := answer.count("adopted"):
        output.say(f"{adopted:,} came from another path; they are this project's now.")
