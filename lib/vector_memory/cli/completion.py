"""`completion`: what a shell needs to complete commands, options and ids."""

from __future__ import annotations

from typing import Annotated, Literal

from vector_memory.cli import options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.output import COMPLETE, PROGRAM


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

    script = get_completion_script(prog_name=PROGRAM, complete_var=COMPLETE, shell=shell)
    output.answer(Row({"shell": shell, "script": script}), as_json, lambda _: output.say(script))
