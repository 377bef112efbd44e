"""`rebuild`, `check` and `migrate`: the search index against the journal."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation


def show_rebuilt(answer: Row) -> None:
    """Print what an index was built of."""
    rows, seconds = answer.count("rows"), answer.number("seconds")
    output.say(f"The search index was built anew: {output.memories(rows)} in {seconds:.1f} s.")
    output.unopened(answer)
    for path in answer.texts("strays"):
        output.note(f"{path} is not ours and was left alone.")


def check(call: Invocation) -> int:
    """Print what is wrong in the stores; return 1 where something is."""
    columns, fine = output.fields("store problem=what fix"), "Everything is as it should be."
    answer = call.ask()
    call.show(answer, lambda answer: output.listing(answer.rows("problems"), columns, fine))
    return 0 if answer.flag("ok", not answer.count("problems")) else 1


def show_migrated(answer: Row) -> None:
    """Print how many memories have vectors of which model now."""
    output.say(f"{output.memories(answer.count('embedded'))} embedded by {answer.text('model')}")
