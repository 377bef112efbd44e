"""`skill_discovery`: trails that led somewhere again and again, as skills that could be saved; and steps as a file that
the client reads, a skill or a command, which is shown for review and never written here."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.observe.learning import trails
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.tasks import EDIT
from vector_memory.observe.learning.trails import Trail
from vector_memory.service.base import messages, offered_commands
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.text.harmless import visible

SAID = {EDIT: "Change the files."}
PROCEDURE, COMMAND, SKILL = "procedure", "command", "skill"
FORMATS = (PROCEDURE, COMMAND, SKILL)
MOST_NAME, MOST_DESCRIPTION = 64, 200
"""Characters of a skill's name, and of what its description says at most."""
_UNFIT = re.compile(r"[^a-z0-9]+")


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
            made = _view(trail)
            # Steps of all changes and of one kind of them are one file.
            skills.setdefault(str(made["path"]), made)
    summary = f"{len(skills)} skills in {len(tasks)} tasks. Save what you want under its path: nothing was written."
    none = f"{NOT_ENOUGH}: no steps were done {request.least} times in {trails.LEAST_SESSIONS} sessions, in {len(tasks)} tasks."
    shown = list(skills.values())[: request.k]
    return ledger.answer(ctx, summary if skills else none, skills=shown)


def _view(trail: Trail) -> dict[str, object]:
    won, named = rate(trail.won, trail.n), trails.NAMES.get(trail.kind, trail.kind)
    evidence = f"Done in {won.told} of the tasks that took these steps, {trail.sessions} sessions."
    lines = [SAID.get(step) or f"Run `{step}`." for step in trail.steps]
    description = f"Use for {named} here: {' → '.join(trail.steps)}."
    name = " ".join(ledger.job_of(command) for command in trail.commands)
    made = skill_file(name, description, lines, SKILL, evidence)
    facts = {"steps": trail.steps, "won": won, "sessions": trail.sessions, "kind": trail.kind}
    return {"name": made.name, **facts, "path": made.path, "text": made.text}


class SkillFile(NamedTuple):
    """A file that could be saved: its name, its path below the project's folder, and its text."""

    name: str
    path: str
    text: str


def name_of(words: str) -> str:
    """Return words as a skill's name: small letters, digits and hyphens."""
    return _UNFIT.sub("-", words.lower()).strip("-")[:MOST_NAME].strip("-") or "steps"


def skill_file(
    name: str, description: str, steps: Sequence[str], kind: str, evidence: str = ""
) -> SkillFile:
    """Return steps as a file.

    Args:
        kind: COMMAND or SKILL.
        evidence: what the steps stand on, "" for somebody's word.
    """
    named, short = name_of(name), _flat(description)[:MOST_DESCRIPTION]
    # What JSON quotes, YAML reads, whatever stands in it.
    head = [f"description: {json.dumps(short, ensure_ascii=False)}"]
    path = f".claude/commands/{named}.md"
    if kind == SKILL:
        head, path = [f"name: {named}", *head], f".claude/skills/{named}/SKILL.md"
    lines = [f"{number}. {_flat(step)}" for number, step in enumerate(steps, 1)]
    close = ["", _flat(evidence)] if evidence else []
    rest = "Stop at the first step that fails, and say which one it was."
    text = "\n".join(["---", *head, "---", "", *lines, "", rest, *close]) + "\n"
    return SkillFile(named, path, text)


def _flat(text: str) -> str:
    return " ".join(visible(text).split())
