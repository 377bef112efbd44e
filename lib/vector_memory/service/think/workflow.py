"""`skill_discovery` and `workflow_author`: steps that trails have proven, and steps read from a description, or
from what a session did, as a procedure, a command or a skill. By rules; nothing but a procedure is ever stored, and that one on request."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import PROCEDURE as PROCEDURE_KIND
from vector_memory.observe.learning import trails, world
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.outcomes import Task, is_check
from vector_memory.observe.learning.tasks import EDIT
from vector_memory.observe.learning.trails import Trail
from vector_memory.service.base import messages, offered_commands
from vector_memory.service.base.context import Context
from vector_memory.service.edit import remember
from vector_memory.service.think import ledger
from vector_memory.text.harmless import visible
from vector_memory.text.words import codes_in

STEP_TEXTS = {EDIT: "Change the files."}
PROCEDURE, COMMAND, SKILL = "procedure", "command", "skill"
FORMATS = (PROCEDURE, COMMAND, SKILL)
MOST_NAME, MOST_DESCRIPTION = 64, 200
"""Characters of a skill's name, and of what its description says at most."""


class DiscoveryRequest(ledger.WorkRequest):
    """Skills are looked for in a project's tasks since a time, each of at least so many (`least`) that were done."""

    least: int = messages.number(trails.LEAST_WON, trails.LEAST_WON, 100)


def discover(ctx: Context, request: DiscoveryRequest) -> ledger.Answer:
    """Return the steps that tasks of a kind took and were done, often enough in several sessions.

    Raises:
        BadInputError: no project is asked about.

    Returns:
        The `skills`, the strongest first, each with its `name`, its `steps` as they are called here, how many of the
        tasks that took them were done (`won`), in how many `sessions`, of which `kind` they are, and the `path` and
        `text` of the file; nothing was written.
    """
    asker = ledger.project_of(ctx, request)
    tasks = ledger.tasks_of(asker, request.since)
    # As of the newest task: steps do not work less for a time in which nobody worked.
    proven = trails.find(tasks, tasks[-1].ended_at) if tasks else []
    skills: dict[str, dict[str, object]] = {}
    for trail in proven:
        is_safe = offered_commands.are_harmless(trail.commands, asker.place.root)
        if is_safe and trail.won >= request.least:
            skill = _skill_view(trail)
            # Steps of all changes and of one kind of them are one file.
            skills.setdefault(str(skill["path"]), skill)
    summary = f"{len(skills)} skills in {len(tasks)} tasks. Save what you want under its path: nothing was written."
    nothing_proven = f"{NOT_ENOUGH}: no steps were done {request.least} times in {trails.LEAST_SESSIONS} sessions, in {len(tasks)} tasks."
    shown = list(skills.values())[: request.k]
    return ledger.answer(ctx, summary if skills else nothing_proven, skills=shown)


def _skill_view(trail: Trail) -> dict[str, object]:
    won, kind_name = rate(trail.won, trail.n), trails.NAMES.get(trail.kind, trail.kind)
    evidence = f"Done in {won.told} of the tasks that took these steps, {trail.sessions} sessions."
    lines = [STEP_TEXTS.get(step) or f"Run `{step}`." for step in trail.steps]
    description = f"Use for {kind_name} here: {' → '.join(trail.steps)}."
    name = " ".join(ledger.job_of(command) for command in trail.commands)
    file = skill_file(name, description, lines, SKILL, evidence)
    facts = {"steps": trail.steps, "won": won, "sessions": trail.sessions, "kind": trail.kind}
    return {"name": file.name, **facts, "path": file.path, "text": file.text}


class SkillFile(NamedTuple):
    """A file that could be saved: its name, its path below the project's folder, and its text."""

    name: str
    path: str
    text: str


def name_of(words: str) -> str:
    """Return words as a skill's name: small letters, digits and hyphens."""
    signs = (sign if sign.isascii() and sign.isalnum() else " " for sign in words.lower())
    return "-".join("".join(signs).split())[:MOST_NAME].strip("-") or "steps"


def skill_file(
    name: str, description: str, steps: Sequence[str], kind: str, evidence: str = ""
) -> SkillFile:
    """Return steps as a file.

    Args:
        kind: COMMAND or SKILL.
        evidence: what the steps stand on, "" for somebody's word.
    """
    file_name, short = name_of(name), _flat(description)[:MOST_DESCRIPTION]
    # What JSON quotes, YAML reads, whatever stands in it.
    head = [f"description: {json.dumps(short, ensure_ascii=False)}"]
    path = f".claude/commands/{file_name}.md"
    if kind == SKILL:
        head, path = [f"name: {file_name}", *head], f".claude/skills/{file_name}/SKILL.md"
    lines = [f"{number}. {_flat(step)}" for number, step in enumerate(steps, 1)]
    closing = ["", _flat(evidence)] if evidence else []
    stop_rule = "Stop at the first step that fails, and say which one it was."
    text = "\n".join(["---", *head, "---", "", *lines, "", stop_rule, *closing]) + "\n"
    return SkillFile(file_name, path, text)


def _flat(text: str) -> str:
    return " ".join(visible(text).split())


LEAST_STEPS, MOST_STEPS = 2, 20
_STEP_JOBS = ("git commit", "git push")
"""Jobs that are steps whatever is given to them; of others without a command line nobody could do the same."""
_FORBIDDING = ("Do not ", "Don't ", "Don\u2019t ", "Never ")
"""How begins what is no step: it holds for all of them."""
_OMISSIONS = frozenset({"fail", "forget", "mind", "miss", "neglect", "omit", "skip"})
"""What is forbidden with one of these is to be done: "do not forget to …"."""
_COUNT_FOLLOWS = (".", "!", "?", ":", ";", ",", "-", "\u2013", "\u2014")
_NAME_SIGNS = frozenset("0123456789_./\x00")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\x00])|\n+")
_JOINT = re.compile(
    r"[,;]?\s+(?:and\s+)?(?:then|afterwards|after\s+that|next|finally|lastly|followed\s+by)\b,?\s*"
    r"|\s*;\s*|\s*(?:->|→)\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:[-*•]\s+|\d+[.)]\s*|(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|finally|lastly|after\s+that"
    r"|afterwards|and|please|to\s+(?:begin|start)\s+with)\b[,:]?\s*)+",
    re.IGNORECASE,
)


class WorkflowRequest(ledger.WorkRequest):
    """Steps are to be written down.

    Attributes:
        text: a description in words, "" to take what `session` did last that was done.
        name: what the steps are called.
    """

    text: str = messages.maybe_text(8_000)
    name: str = messages.maybe_text(100)
    format: str = messages.one_of(FORMATS, PROCEDURE)


def author(ctx: Context, request: WorkflowRequest) -> ledger.Answer:
    """Return the steps of a description or of a session.

    Raises:
        BadInputError: there are no steps to read, or a file is to be written.
        NotFoundError: the session did nothing that is known to be done and that somebody could do again.

    Returns:
        The `name`; the `steps` in order; the whole `text`, with the `path` under which a command or a skill would be
        saved (nothing is written there); and the `id` of the procedure that was stored, or waits for the user.
    """
    is_file = request.format != PROCEDURE
    if is_file and not request.dry_run:
        raise BadInputError(
            "A file is shown and not written: it would bind every later session.",
            "Save what is shown under its path, if you want it.",
        )
    asker = messages.asker_of(ctx, request)
    forbidden: list[str] = []
    if text := str(redact.clean(request.text).text):
        all_steps = steps_of(text)
        forbidden = [f"{step}." for step in all_steps if _is_forbidding(step)]
        name, evidence = "", " ".join(forbidden)
        step_texts = [step for step in all_steps if not _is_forbidding(step)]
    else:
        name, step_texts, evidence = _session_steps(ledger.tasks_of(asker), request.session)
    if len(step_texts) < LEAST_STEPS:
        raise BadInputError(
            "There are no steps in that: a procedure has two at least.",
            'Such as "First run the linter, then commit".',
        )
    name = str(redact.clean(request.name).text) or name or " ".join(step_texts[0].split()[:6])
    known_things = world.things_of(ledger.sightings_of(asker))
    commands = [thing for thing in known_things if thing.kind == world.COMMAND and thing.good]
    commands.sort(key=lambda command: -command.good)
    steps = [_step_view(step, commands) for step in step_texts[:MOST_STEPS]]
    lines = [
        step["text"] + (f" (here: `{step['command']}`)" if step["command"] else "")
        for step in steps
    ]
    numbered = (f"{number}. {line}" for number, line in enumerate(lines, 1))
    body = "\n".join([name, *numbered, *forbidden])
    bare = sum("`" not in line for line in lines)
    count = f"{len(steps)} steps" + (f", {bare} without a command that is known" if bare else "")
    path, id, summary = "", None, f"{count}; nothing was stored."
    if is_file:
        file = skill_file(name, f"{name}: {len(steps)} steps.", lines, request.format, evidence)
        path, body = file.path, file.text
    elif not request.dry_run:
        fields = request.as_asked() | {"kind": PROCEDURE_KIND, "session": request.session}
        fields |= {"collection": "procedures", "title": name, "text": body}
        stored = remember.remember(ctx, remember.RememberRequest(**fields))
        waits = stored.action == "proposed"
        became = "waits for the user: `vector-memory review`" if waits else f"was {stored.action}"
        summary, id = f"{count}; the procedure {became}.", stored.id
    return ledger.answer(
        ctx, summary, name=name, steps=steps, path=path, text=body, dry_run=request.dry_run, id=id
    )


def steps_of(text: str) -> list[str]:
    """Return the steps of a description in the order in which they are to be done."""
    pieces: list[str] = []
    codes = [f"`{code}`" for code in codes_in(text) if code]
    # What stands in code is one word, whatever is in it.
    for place, code in enumerate(codes):
        text = text.replace(code, f"\x00{place}\x00", 1)
    for item in _split_counted(text.strip()):
        for sentence in _SENTENCE.split(item):
            for part in _reorder(_OPENING.sub("", sentence.strip())):
                pieces += _JOINT.split(part)
    tidy = (_OPENING.sub("", piece.strip(" .,;")).strip(" .,;") for piece in pieces)
    # What has no telling word and names nothing, such as "ok" or "do it", is no step, nor is what steps are called.
    telling = [
        piece
        for piece in tidy
        if (terms_of(piece) or not _NAME_SIGNS.isdisjoint(piece)) and not piece.endswith(":")
    ]
    steps = "\n".join(piece[0].upper() + piece[1:] for piece in telling)
    for place, code in enumerate(codes):
        steps = steps.replace(f"\x00{place}\x00", code)
    return steps.splitlines()


def _is_forbidding(step: str) -> bool:
    """Whether a step says what is not to be done."""
    opening = next(filter(step.startswith, _FORBIDDING), "")
    verb = step.removeprefix(opening).split(maxsplit=1)[:1]
    return bool(opening) and _OMISSIONS.isdisjoint(verb)


def _split_counted(text: str) -> list[str]:
    """Return a text cut where it counts its steps on one line: "Deploy: 1) build 2) push", "1. Build. 2. Push."."""
    for mark in (")", "."):
        items, remaining = list[str](), f" {text}"
        while (cut := _cut_at_count(remaining, f" {len(items) + 1}{mark} "))[1]:
            items.append(cut[0])
            remaining = f" {cut[1]}"
        if len(items) >= LEAST_STEPS:
            return [*items, remaining]
    return [text]


def _cut_at_count(text: str, count: str) -> tuple[str, str]:
    """Return what stands before a count of steps and behind it, ("", "") where there is none: "version 1. Then" and
    "(see 1)" count nothing."""
    position, is_first = text.find(count), count[1:-2] == "1"
    while position >= 0:
        before, behind = text[:position].rstrip(), text[position + len(count) - 1 :].strip()
        is_apart = not before or before.endswith(_COUNT_FOLLOWS)
        if not is_first and before.count("(") == before.count(")"):
            # Behind the first one a mark that ends no sentence and closes nothing is a count, wherever it stands.
            is_apart = is_apart or count.endswith(") ") or not behind[:1].isupper()
        if is_apart and behind.strip(" .,;)"):
            return before, behind
        position = text.find(count, position + 1)
    return "", ""


def _reorder(sentence: str) -> tuple[str, ...]:
    """Return what is to be done first and then, of "before you push, test" and "after the build, test"."""
    opening, _, rest = sentence.partition(" ")
    near, comma, far = rest.strip().removeprefix("you ").partition(",")
    if not (comma and near and far.strip()):
        return (sentence,)
    return {"before": (far, near), "after": (near, far)}.get(opening.lower(), (sentence,))


def _session_steps(tasks: Sequence[Task], session: str) -> tuple[str, list[str], str]:
    """Return the name, the steps and the evidence of a session's last task that was done and ran a command. What it
    only read is no step."""
    if not session:
        raise BadInputError("There is nothing to read steps from.", "Give `text` or `session`.")
    for task in reversed([task for task in tasks if task.session == session and task.done]):
        runs = [
            step
            for step in task.steps
            if step in task.commands or is_check(step) or step in _STEP_JOBS
        ]
        if runs:
            chosen = [step for step in task.steps if step in runs or step == EDIT]
            steps = [
                STEP_TEXTS.get(step) or f"Run `{task.commands.get(step) or step}`."
                for step in chosen
            ]
            basis = "a check or the user said so" if task.sure else "nothing spoke against it"
            reason = f"Taken from one task ({task.kind}, {task.at[:10]}), which was done: {basis}."
            return f"{task.kind}: {', '.join(runs)}", steps, reason
    raise NotFoundError(
        f"No task of session {session[:60]!r} is known to be done that ran a command.",
        "Describe the steps with `text` instead.",
    )


def _step_view(step: str, known_commands: Sequence[world.Thing]) -> dict[str, str]:
    """Return a step, the command by which it was done here ("" for none known), and how often that went well."""
    words = set(re.findall(r"[\w.:-]+", step.lower()))
    for command in known_commands if "`" not in step else ():
        # `go build` is not how `go test` is done.
        if set(ledger.job_of(command.name).lower().split()) <= words:
            went_well = rate(command.good, command.seen).told
            return {"text": step, "command": command.name, "went_well": went_well}
    return {"text": step, "command": "", "went_well": ""}
