"""`verify`: say that a memory was looked at."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output


def verify(
    memory_id: options.TheMemoryId,
    verdict: Annotated[
        str, options.value("VERDICT", "confirmed, refuted or outdated.")
    ] = "confirmed",
    note: Annotated[str | None, options.value("TEXT", "How it was looked at.")] = None,
    as_json: options.Json = False,
) -> None:
    """Say whether a memory is so. What fades begins anew from now; what is outdated is not recalled."""
    answer = asking.ask("verify", asking.everywhere(), id=memory_id, verdict=verdict, note=note)
    output.answer(
        answer, as_json, lambda answer: output.say(f"{verdict} {answer.row('memory').text('id')}")
    )
