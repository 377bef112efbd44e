"""`completion`: what a shell needs to complete commands, options and ids."""

from __future__ import annotations

from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.output import COMPLETE, PROGRAM


def completion(call: Invocation, shell: str) -> None:
    """Print what makes a shell complete commands, options and ids."""
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name=PROGRAM, complete_var=COMPLETE, shell=shell)
    call.say(Row({"shell": shell, "script": script}), script)
