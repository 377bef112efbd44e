"""Steps as a file that the client reads: a skill or a command, shown for review and never written here. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vector_memory.text.harmless import visible

PROCEDURE, COMMAND, SKILL = "procedure", "command", "skill"
FORMATS = (PROCEDURE, COMMAND, SKILL)
MOST_NAME, MOST_DESCRIPTION = 64, 200
"""Characters of a skill's name, and of what its description says at most."""
_UNFIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class SkillFile:
    """A file that could be saved, below the project's folder, and its text."""

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
    named, said = name_of(name), _flat(description)[:MOST_DESCRIPTION]
    head = [f"description: {_quoted(said)}"]
    path = f".claude/commands/{named}.md"
    if kind == SKILL:
        head, path = [f"name: {named}", *head], f".claude/skills/{named}/SKILL.md"
    lines = [f"{number}. {_flat(step)}" for number, step in enumerate(steps, 1)]
    close = ["", _flat(evidence)] if evidence else []
    rest = "Stop at the first step that fails, and say which one it was."
    return SkillFile(path, "\n".join(["---", *head, "---", "", *lines, "", rest, *close]) + "\n")


def _flat(text: str) -> str:
    return " ".join(visible(text).split())


def _quoted(text: str) -> str:
    """Return a text as YAML writes one that may hold anything."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
