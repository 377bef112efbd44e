"""`completion`: what a shell needs to complete commands, options and ids."""

from __future__ import annotations

from typing import Annotated, Literal

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import VectorMemoryError

OFFERED = 500
"""Of the newest memories so many are looked through for an id."""
TIMEOUT_S = 2.0
"""Who has pressed a key does not wait for longer."""
TEXT_CHARS = 60


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], options.argument("SHELL", "bash, zsh or fish.")
    ],
    as_json: options.Json = False,
) -> None:
    """Print what makes a shell complete commands, options and ids.

    bash, in ~/.bashrc: eval "$(vector-memory completion bash)"

    zsh, in ~/.zshrc after compinit: eval "$(vector-memory completion zsh)"

    fish, in ~/.config/fish/config.fish: vector-memory completion fish | source
    """
    from typer._completion_shared import get_completion_script

    from vector_memory.cli.main import COMPLETE, PROGRAM

    script = get_completion_script(prog_name=PROGRAM, complete_var=COMPLETE, shell=shell)
    output.answer(Row({"shell": shell, "script": script}), as_json, lambda _: output.say(script))


def memory_ids(incomplete: str) -> list[tuple[str, str]]:
    """Return (beginning of an id, text) of the newest memories whose id begins so; nothing where no daemon
    runs: pressing a key starts none."""
    daemon = asking.daemon()
    try:
        if daemon.running() is None:
            return []
        asked = {**asking.everywhere(), "k": OFFERED}
        answer = Row(daemon.ask("list", asked, TIMEOUT_S, start=False))
    except (VectorMemoryError, OSError):
        return []
    return [
        (
            memory.text("id")[: max(output.ID_CHARS, len(incomplete))],
            memory.line("text", TEXT_CHARS),
        )
        for memory in answer.rows("memories")
        if memory.text("id").startswith(incomplete)
    ]
