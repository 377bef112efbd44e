"""The rules of privacy as their writer sees them: where each stands, how it was understood, what it would take
out, and which are not followed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from vector_memory.projects import Place
from vector_memory.redact import levels, policy
from vector_memory.redact.rules import Rules, UserRule
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_roots


class PrivacyRequest(messages.Request):
    """Which rules of privacy count for a project?

    Attributes:
        text: what would be left of it, None to ask of none.
    """

    text: str | None = messages.or_none(messages.text())


class RuleView(messages.Answer):
    """A rule, where it stands, and how it was understood.

    Attributes:
        whose: `project`, or `user` for one that counts everywhere.
        problem: why it is not followed, "" where it is.
    """

    path: str
    line: int
    item: str
    whose: str
    meaning: str
    example: str
    problem: str


class LevelView(messages.Answer):
    """A rule of sensitivity or jurisdiction: what is `named`, words or a pattern of paths, has a level or is under a
    law (`mark`)."""

    path: str
    mark: str
    named: str


class PrivacyAnswer(messages.Answer):
    """Rules, what is sensitive or under a law by others of them (`levels`), what could not be understood in their
    files, and what of a person is taken out everywhere."""

    rules: list[RuleView]
    levels: list[LevelView]
    problems: list[str]
    personal: Sequence[str]


class TriedAnswer(PrivacyAnswer):
    """Rules, and what would be stored of a text under them, None for nothing."""

    text: str | None


def show(ctx: Context, request: PrivacyRequest) -> PrivacyAnswer:
    """Return every rule that counts for a project, and what is left of a text under them."""
    place = messages.place_of(ctx, request)
    files = policy.files(place.folders if place else ())
    by_file = [(file, policy.rules_of(*file)) for file in files]
    named = [
        LevelView(file.path, rule.mark, rule.path or rule.words)
        for file in files
        for rule in levels.rules_of(*file)
    ]
    views = [_view(rule, file) for file, rules in by_file for rule in rules.rules]
    problems = [problem for _, rules in by_file for problem in rules.problems]
    personal = ctx.settings.redact_personal
    if request.text is None:
        return PrivacyAnswer(views, named, problems, personal)
    return TriedAnswer(views, named, problems, personal, privacy.word_or(request.text, None))


def _view(rule: UserRule, file: policy.File) -> RuleView:
    return RuleView(
        path=file.path,
        line=rule.line,
        item=rule.item,
        whose="project" if file.root else "user",
        meaning=rule.meaning,
        example=rule.example,
        problem=rule.over,
    )


def report(ctx: Context) -> dict[str, object]:
    """Return which files have rules, how many, and which of them cannot be used."""
    roots = sorted({"", *project_roots(ctx.opened_shelves()).values()})
    files = dict.fromkeys(file for root in roots for file in policy.files((root,)))
    by_path: dict[str, Rules] = {file.path: policy.rules_of(*file) for file in files}
    return {
        "files": [
            {"path": path, "rules": len({rule.line for rule in rules.rules})}
            for path, rules in by_path.items()
            if rules
        ],
        "problems": [problem for rules in by_path.values() for problem in rules.problems],
    }


def notice(ctx: Context, place: Place) -> str:
    """Return what a session is told at its start of rules that are not followed, once for each change of
    their file; "" for nothing."""
    new_problems = []
    for file in policy.files(place.folders):
        problems = policy.rules_of(*file).problems
        name, state = f"privacy:{file.path}", {"problems": sorted(problems)}
        if problems and ctx.state.cursor(name) != state:
            ctx.state.set_cursor(name, state)
            new_problems.append(f"{len(problems)} in {os.path.basename(file.path)}")
    if not new_problems:
        return ""
    return f"Lines about privacy that are not followed: {', '.join(new_problems)} (`vector-memory privacy`)."
