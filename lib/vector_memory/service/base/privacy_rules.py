"""The rules of privacy as their writer sees them: where each stands, how it was understood, what it would take
out, and which are not followed."""

from __future__ import annotations

from typing import Any

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.projects import Place
from vector_memory.redact import policy
from vector_memory.redact.rules import Rule, Rules
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.text import fence


def show(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return every rule that counts for a project, and what is left of a text under them."""
    place = request_fields.place_of(ctx, request)
    found = [(file, policy.rules_of(*file)) for file in policy.files(place.root if place else "")]
    answer: dict[str, Any] = {
        "rules": [_told(rule, file) for file, rules in found for rule in rules.rules],
        "problems": [problem for _, rules in found for problem in rules.problems],
        "personal": list(ctx.settings.redact_personal),
    }
    if request.get("text") is not None:
        answer["text"] = _left(request_fields.text_of(request, "text"))
    return answer


def _told(rule: Rule, file: policy.File) -> dict[str, Any]:
    return {
        "path": file.path,
        "line": rule.line,
        "item": rule.item,
        "whose": "project" if file.root else "user",
        "meaning": rule.meaning,
        "example": rule.example,
        "problem": rule.over,
    }


def _left(text: str) -> str | None:
    """Return what would be stored of a text, None for nothing."""
    try:
        return redact.clean(text).text
    except UnsafeTextError:
        return None


def report(ctx: Context) -> dict[str, Any]:
    """Return which files have rules, how many, and which of them cannot be used."""
    roots = {one.root for shelf in ctx.opened_shelves() for one in shelf.journal.projects()}
    files = dict.fromkeys(file for root in ("", *sorted(roots)) for file in policy.files(root))
    found: dict[str, Rules] = {file.path: policy.rules_of(*file) for file in files}
    return {
        "files": [
            {"path": path, "rules": len({rule.line for rule in rules.rules})}
            for path, rules in found.items()
            if rules
        ],
        "problems": [problem for rules in found.values() for problem in rules.problems],
    }


def notice(ctx: Context, place: Place) -> str:
    """Return what a session is told at its start of rules that are not followed, once for each change of
    their file; "" for nothing."""
    told = []
    for file in policy.files(place.root):
        problems = policy.rules_of(*file).problems
        name, state = f"privacy:{file.path}", {"problems": sorted(problems)}
        if problems and ctx.state.cursor(name) != state:
            ctx.state.set_cursor(name, state)
            told.append(f"{len(problems)} in {file.path}")
    if not told:
        return ""
    words = f"Lines about privacy that are not followed: {', '.join(told)}. `vector-memory privacy` shows them."
    return fence.fence([], words, fence.OWN_HEAD)
