"""`flow_debug` and `causal_debug`: a session's steps as a graph: what followed what, what failed, and what mended it; and what
came before a failure, what mended it, and how tasks ended that took a step and that did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import CAUSE
from vector_memory.observe.learning.figures import NOT_ENOUGH
from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT, OTHER, READ
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.capture import step_log
from vector_memory.service.capture.step_log import PROMPT, LoggedStep
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.think import ledger

# -- a session's steps as a graph (`flow_debug`) --


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
    steps = steps_of(ctx, request, request.session)
    shown_steps = [step for step in steps if request.turn in (0, step.turn)]
    if not shown_steps:
        raise NotFoundError(f"There is no turn {request.turn}.", f"It has {steps[-1].turn} turns.")
    nodes, edges = graph(shown_steps)
    shown_nodes = nodes[: request.k]
    ids = {node.id for node in shown_nodes}
    shown_edges = [edge for edge in edges if {edge.from_id, edge.to_id} <= ids]
    failed, turns = sum(node.failed for node in nodes), len({step.turn for step in shown_steps})
    cut_note = (
        f", the first {len(shown_nodes)} of {len(nodes)} nodes"
        if len(nodes) > len(shown_nodes)
        else ""
    )
    where = f"turn {request.turn}" if request.turn else f"{turns} turns"
    summary = f"{len(shown_steps)} steps in {where}, {failed} failed{cut_note}."
    return ledger.answer(
        ctx,
        summary,
        mermaid=mermaid(shown_nodes, shown_edges),
        nodes=shown_nodes,
        edges=shown_edges,
    )


def steps_of(ctx: Context, request: messages.Request, session: str) -> list[LoggedStep]:
    """Return the steps of a session, named by its id or how that begins: of any project for the user, for an agent what
    was done in those that it asks about.

    Raises:
        BadInputError: several sessions begin so.
        NotFoundError: nothing is known of them.
    """
    asker = messages.asker_of(
        ctx, request if request.is_agent else replace(request, all_projects=True)
    )
    projects = asker.scope.projects
    ids = messages.named_sessions(asker.shelves, (session,), projects)
    if len(ids) > 1:
        raise BadInputError(f"{session[:60]!r} names {len(ids)} sessions.", "Give more of its id.")
    if steps := step_log.of_session(ctx, ids[0], projects):
        return steps
    raise NotFoundError(
        f"The steps of session {session[:60]!r} are not known: no transcript and no log of it is there.",
        "`vector-memory topics --all-projects` shows sessions.",
    )


def graph(steps: Sequence[LoggedStep]) -> tuple[list[FlowNode], list[FlowEdge]]:
    """Return steps as nodes, and edges between them. A step that failed and later in its turn went well has an edge
    `mended` from the one to the other."""
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
            failed_node = failing.pop(key)
            if failed_node is not node:
                edges.append(FlowEdge(failed_node.id, node.id, "mended"))
    return nodes, edges


def mermaid(nodes: Sequence[FlowNode], edges: Sequence[FlowEdge]) -> str:
    """Return a graph as a Mermaid flowchart, with a box for each turn."""
    lines = ["flowchart TD"]
    for turn, in_turn in groupby(nodes, key=lambda node: node.turn):
        lines.append(f'subgraph t{turn}["turn {turn}"]')
        for node in in_turn:
            times = f" x{node.n}" if node.n > 1 else ""
            failures = f" ({node.failed} failed)" if node.failed else ""
            text = (
                " ".join(node.label.translate(_UNFIT).split())[:MOST_LABEL].strip()
                + times
                + failures
            )
            shape = f'(["{text}"])' if node.what == PROMPT else f'["{text}"]'
            lines.append(f"{node.id}{shape}" + (":::failed" if node.failed else ""))
        lines.append("end")
    for edge in edges:
        arrow = f"-.->|{edge.why}|" if edge.why else "-->"
        lines.append(f"{edge.from_id} {arrow} {edge.to_id}")
    return "\n".join([*lines, "classDef failed stroke:#c00,stroke-width:2px"])


# -- a failure (`causal_debug`) --


ANALYSES = "causal_analysis"
BEFORE, MOST_CASES, MOST_ENDS, MOST_BEFORE = 5, 10, 5, 8
ALIKE = 0.7
"""The share of an error's telling words that must stand in a known one, or the other way round."""
FailureCase = tuple[Task, Trouble]


class CauseRequest(ledger.WorkRequest):
    """A failure is to be explained.

    Attributes:
        error: its line; or `session`, whose failures are meant.
        step: a command line: how did tasks end that ran it, and those that did not?
        dry_run: without, what was found is kept as a memory of the project.
    """

    error: str = messages.maybe_text(4_000)
    step: str = messages.maybe_text(300)


def explain_failure(ctx: Context, request: CauseRequest) -> ledger.Answer:
    """Return what came before a failure and what mended it, in all tasks that met it.

    Raises:
        BadInputError: neither an error nor a session was named.

    Returns:
        In how many `tasks` of how many of the same kinds (`of`) it was met; the `cases`, the newest first, each with
        what was done right before it and what ended it ("" for nothing known); what ended it how often
        (`mended_by`), and what stood right before it in these cases (`before`); how tasks ended that took a step and
        that did not (`with_step`), of which nobody chose by lot: a difference is a hint and no proof; and the `id` of
        the memory that was kept.
    """
    if not (request.error or request.session):
        raise BadInputError(
            "There is nothing to explain.", "Give the line of the `error`, or a `session`."
        )
    asker = messages.asker_of(ctx, request)
    all_tasks = ledger.tasks_of(asker)
    cases = _find_cases(all_tasks, request)
    shown_cases = cases[: -MOST_CASES - 1 : -1]
    steps_before = [_steps_before(ctx, asker, task, trouble) for task, trouble in shown_cases]
    endings = (trouble.end for _, trouble in cases if trouble.end)
    ends = Counter("a change of files" if end == EDIT else end for end in endings)
    before = Counter(step for steps in steps_before for step in dict.fromkeys(steps))
    kinds, tasks = {task.kind for task, _ in cases}, len({task.key for task, _ in cases})
    like_tasks, job = (
        [task for task in all_tasks if task.kind in kinds],
        ledger.job_of(request.step),
    )
    names = (f"with {job}", f"without {job}")
    summary = f"{NOT_ENOUGH}: such a failure was never met here."
    if cases:
        ending_note = f"it was ended in {len(ends)} ways" if ends else "nothing is known to end it"
        summary = f"Met in {tasks} of {len(like_tasks)} tasks of the same kinds, last {cases[-1][0].at[:10]}; {ending_note}."
    return ledger.answer(
        ctx,
        summary,
        tasks=tasks,
        of=len(like_tasks),
        cases=[
            {"at": task.at, "session": task.session, "before": steps}
            | {"job": trouble.job, "error": trouble.line, "mended_by": trouble.end}
            for (task, trouble), steps in zip(shown_cases, steps_before, strict=True)
        ],
        mended_by=dict(ends.most_common(MOST_ENDS)),
        before=dict(before.most_common(MOST_BEFORE)),
        with_step=ledger.compare_ways(like_tasks, {job}, set(), names) if request.step else None,
        dry_run=request.dry_run,
        id=_store_analysis(ctx, request, cases, summary) if cases and not request.dry_run else None,
    )


def _find_cases(tasks: Sequence[Task], request: CauseRequest) -> list[FailureCase]:
    """Return the failures that are meant, each with its task, the oldest first."""
    error_terms = terms_of(request.error)

    def is_meant(trouble: Trouble) -> bool:
        terms = terms_of(f"{trouble.job} {trouble.line}")
        shared = len(error_terms & terms)
        # A line without a telling word is like none.
        is_like = shared >= min(2, len(error_terms)) and shared >= ALIKE * min(
            len(error_terms), len(terms)
        )
        return is_like and bool(error_terms) == bool(request.error)

    return [
        (task, trouble)
        for task in tasks
        if request.session in ("", task.session)
        for trouble in task.trouble
        if is_meant(trouble)
    ]


def _steps_before(ctx: Context, asker: messages.Asker, task: Task, trouble: Trouble) -> list[str]:
    """Return the steps right before a failure, as far as they are known."""
    steps = step_log.of_session(ctx, task.session, asker.scope.projects)
    position = next((n for n, step in enumerate(steps) if step.sign == trouble.sign), 0)
    return [step.job or step.what for step in steps[max(0, position - BEFORE) : position]]


def _store_analysis(
    ctx: Context, request: CauseRequest, cases: Sequence[FailureCase], summary: str
) -> str | None:
    task, trouble = cases[-1]
    text = f"`{trouble.job}`: {trouble.line}\n{summary}"
    key = ledger.key_of(trouble.sign or trouble.line)
    extra = {"cases": len(cases)}
    record = CountedRecord(ANALYSES, key, text, kind=CAUSE, session=task.session, extra=extra)
    stored = counted_records.keep(ctx, ledger.project_of(ctx, request), record)
    ctx.audit("analyse", request.actor, [stored.id] if stored else [])
    return stored.id if stored else None
