"""`flow_debug`: a session's steps as a graph: what followed what, what failed, and what mended it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.observe.learning.tasks import EDIT, OTHER, READ
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.capture import step_log
from vector_memory.service.capture.step_log import PROMPT, LoggedStep
from vector_memory.service.think import ledger

MOST_LABEL = 60
_UNFIT = str.maketrans(dict.fromkeys((*'"<>{}[]|#;`', *map(chr, range(32))), " "))


class FlowRequest(messages.Request):
    """A session's steps are to be drawn, of one turn (from 1) or of all; at most `k` nodes."""

    session: str = messages.text(200)
    turn: int = messages.number(0, 0, 10_000)
    k: int = messages.number(60, 2, 400)


@dataclass
class FlowNode:
    """A step, or several in a row of the same sort: `n` of them, `failed` so many of them."""

    id: str
    turn: int
    what: str
    label: str
    n: int
    failed: int
    error: str = ""


class FlowEdge(messages.Answer):
    """What came after what; `why` is `mended` where a failure was ended by it, else ""."""

    from_id: str
    to_id: str
    why: str = ""


def flow(ctx: Context, request: FlowRequest) -> ledger.Answer:
    """Return a session's steps as a graph without cycles: repetitions in a row are one node.

    Raises:
        NotFoundError: nothing is known of the session's steps, or of the turn's.

    Returns:
        The `nodes` in order, the `edges`, and the same as a `mermaid` flowchart.
    """
    steps = steps_of(ctx, request.session)
    mine = [step for step in steps if request.turn in (0, step.turn)]
    if not mine:
        raise NotFoundError(f"There is no turn {request.turn}.", f"It has {steps[-1].turn} turns.")
    nodes, edges = graph(mine)
    kept = nodes[: request.k]
    ids = {node.id for node in kept}
    drawn = [edge for edge in edges if {edge.from_id, edge.to_id} <= ids]
    failed, turns = sum(node.failed for node in nodes), len({step.turn for step in mine})
    left = f", the first {len(kept)} of {len(nodes)} nodes" if len(nodes) > len(kept) else ""
    where = f"turn {request.turn}" if request.turn else f"{turns} turns"
    summary = f"{len(mine)} steps in {where}, {failed} failed{left}."
    return ledger.answer(ctx, summary, mermaid=mermaid(kept, drawn), nodes=kept, edges=drawn)


def steps_of(ctx: Context, session: str) -> list[LoggedStep]:
    """Return the steps of a session, named by its id or how that begins.

    Raises:
        BadInputError: several sessions begin so.
        NotFoundError: nothing is known of them.
    """
    ids = messages.named_sessions(ctx.all_shelves(), (session,))
    if len(ids) > 1:
        raise BadInputError(f"{session[:60]!r} names {len(ids)} sessions.", "Give more of its id.")
    if steps := step_log.of_session(ctx, ids[0]):
        return steps
    raise NotFoundError(
        f"The steps of session {session[:60]!r} are not known: no transcript and no log of it is there.",
        "`vector-memory topics --all-projects` shows sessions.",
    )


def graph(steps: Sequence[LoggedStep]) -> tuple[list[FlowNode], list[FlowEdge]]:
    """Return steps as nodes, and edges between them. What failed and went well later in its turn is mended
    there."""
    nodes: list[FlowNode] = []
    edges: list[FlowEdge] = []
    failing: dict[tuple[int, str], FlowNode] = {}
    # Lists of todos and the like lead nowhere.
    for step in (step for step in steps if step.what != OTHER):
        is_named = step.what not in (READ, EDIT)
        label = (is_named and (step.job or step.said.split("\n", 1)[0])) or step.what
        last = nodes[-1] if nodes else None
        if last and (last.what, last.label, last.turn) == (step.what, label, step.turn):
            last.n += 1
        else:
            nodes.append(FlowNode(f"n{len(nodes) + 1}", step.turn, step.what, label, 1, 0))
            if last:
                edges.append(FlowEdge(last.id, nodes[-1].id))
        node, key = nodes[-1], (step.turn, label)
        if step.ok is False:
            node.failed, node.error = node.failed + 1, step.error or node.error
            failing[key] = node
        elif step.ok and key in failing:
            broken = failing.pop(key)
            if broken is not node:
                edges.append(FlowEdge(broken.id, node.id, "mended"))
    return nodes, edges


def mermaid(nodes: Sequence[FlowNode], edges: Sequence[FlowEdge]) -> str:
    """Return a graph as a Mermaid flowchart, with a box for each turn."""
    lines, turn = ["flowchart TD"], 0
    for node in nodes:
        if node.turn != turn:
            lines += ["end"] if turn else []
            turn = node.turn
            lines.append(f'subgraph t{turn}["turn {turn}"]')
        times = f" x{node.n}" if node.n > 1 else ""
        bad = f" ({node.failed} failed)" if node.failed else ""
        text = " ".join(node.label.translate(_UNFIT).split())[:MOST_LABEL].strip() + times + bad
        shape = f'(["{text}"])' if node.what == PROMPT else f'["{text}"]'
        lines.append(f"{node.id}{shape}" + (":::failed" if node.failed else ""))
    lines += ["end"] if turn else []
    for edge in edges:
        arrow = f"-.->|{edge.why}|" if edge.why else "-->"
        lines.append(f"{edge.from_id} {arrow} {edge.to_id}")
    return "\n".join([*lines, "classDef failed stroke:#c00,stroke-width:2px"])
