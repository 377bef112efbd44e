"""`recall`: the memories that answer a question."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import StoreFullError
from vector_memory.system.paths import Home
from vector_memory.text import tables

PARTS = tables.pairs("score_parts", os.path.dirname(__file__))
"""What the names of a score's parts mean."""
STRONGEST = 3
"""So many reasons are told; all of them with their figures are in --json."""
COLUMNS: dict[str, output.Cell] = {
    "fits": lambda hit: f"{hit.number('relevance'):4.0%}" if "relevance" in hit else "",
    **output.MEMORY,
    "text": lambda hit: output.one_line(output.warning(hit) + hit.text("text")),
}


def recall(call: Invocation, query: str | None, batch: str | None, every: bool, why: bool) -> None:
    """Print the memories that answer a question, or every question of a file.

    Raises:
        BadParameter: there is no question, or there are both.
    """
    asking.require_one(
        "Give either a QUERY or --batch FILE; a QUERY such as --why goes behind --: `recall -- --why`.", query, batch
    )  # fmt: skip
    if batch is not None:
        from vector_memory.cli.batch import answer_lines

        answer_lines(batch, call.request())
        return
    # Programs are told what does not fit, too, and that it does not.
    fitting = not (every or call.as_json)
    call.show(_ask(call, fitting), lambda answer: show(answer, why))


def _ask(call: Invocation, fitting: bool) -> Row:
    try:
        return call.ask(fitting=fitting)
    except StoreFullError as error:
        # No daemon can run here: what can be read is read.
        from vector_memory.client import offline

        return Row(offline.recall(Home(), call.request(), str(error)))


def show(answer: Row, why: bool) -> None:
    """Print hits for people."""
    hits, left_out = answer.rows("hits"), answer.count("left_out")
    note = answer.text("note")
    output.unopened(answer)
    if answer.text("mode") == "offline":
        output.note(note)
        note = ""
    if not hits and left_out:
        nothing = output.plain(note) or "Nothing fits."
        nearest = "the nearest, of other times" if answer.flag("widened") else "the nearest"
        output.say(f"{nothing} --all shows {nearest} ({left_out}).")
    elif not hits:
        output.say("Nothing found.")
    elif note:
        output.say(output.plain(note))
    for topic in answer.rows("topics") or [Row({"ids": [hit.text("id") for hit in hits]})]:
        ids = topic.texts("ids")
        inside = [hit for hit in hits if hit.text("id") in ids]
        if title := topic.text("topic"):
            output.say(f"\n{output.plain(title)}")
        if inside:
            output.listing(inside, COLUMNS)
    for hit in hits:
        _details(hit, why)
    if answer.text("mode") == "lexical":
        output.note("Found by words only: the embedding model is not up.")


def _details(hit: Row, why: bool) -> None:
    """Print what was asked for beside a hit."""
    lines = list(explained(hit.row("breakdown"))) if why else []
    if summary := hit.row("history").text("summary"):
        lines.append(summary)
    for label in ("before", "after"):
        lines += [f"{label}: {output.one_line(text)}" for text in hit.texts(label)]
    if lines:
        output.say(f"\n{hit.id}")
    for line in lines:
        output.say(f"  {output.plain(line)}")


def explained(breakdown: Row) -> Iterator[str]:
    """Yield in sentences what brought a hit: its strongest reasons first, then how well it answers, then what
    raised or lowered it beside that."""
    parts = {name: breakdown.number(name) for name in breakdown if name in PARTS}
    linked = [name for name in breakdown if name.startswith("linked ")]
    strongest = sorted(parts.items(), key=lambda part: -part[1])[:STRONGEST]
    reasons = [PARTS[name] for name, value in strongest if value > 0]
    reasons += ["another hit is linked to it"] if linked else []
    if reasons:
        yield f"Found because {joined_by_and(reasons)}."
    if against := [PARTS[name] for name, value in parts.items() if value < 0]:
        yield f"Lower because {joined_by_and(against)}."
    if "relevance" in breakdown:
        yield _fit(breakdown)
    if "recency" in breakdown:
        yield _weight(breakdown)


def _fit(breakdown: Row) -> str:
    words = f"it holds {breakdown.number('words'):.0%} of the question's words"
    if cosine := breakdown.number("cosine"):
        words = f"its meaning is {cosine:.0%} like the question's, and {words}"
    likely = f"{breakdown.number('relevance'):.0%}"
    return f"Looked at alone, it answers the question with a likelihood of {likely}: {words}."


def _weight(breakdown: Row) -> str:
    age = "new" if breakdown.number("recency") > 0.5 else "older than a month"
    uses = "used before" if breakdown.number("usage") else "not used yet"
    priority = next(
        word for word, least in PRIORITIES.items() if breakdown.number("priority") >= least
    )
    sure = breakdown.number("confidence")
    return f"It is {age}, of {priority} priority, {uses}, and {sure:.0%} sure."


PRIORITIES = {"core": 1.0, "high": 0.75, "normal": 0.5, "low": 0.0}
"""The priorities by the least that they count as, highest first."""


def joined_by_and(reasons: list[str]) -> str:
    """Return reasons as a part of a sentence: `a, b and c`."""
    *first, last = reasons
    return f"{', '.join(first)} and {last}" if first else last
