"""What the user wants kept out: rules of privacy, those that are not followed, and folders that are left out."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, ok, warn

MOST_PROBLEMS = 10


def check(case: Case) -> Iterator[CheckResult]:
    """Yield the files with rules, each rule that is not followed, and folders that protect nothing."""
    settings = case.settings()
    for folder in settings.excluded_projects if settings else ():
        if not os.path.isdir(os.path.expanduser(folder)):
            hint = f"`vector-memory config remove excluded_projects {folder}`, and add where it is now."
            yield warn(f"A folder that is left out is not there: {folder}", hint)
    if case.status is None:
        yield ok("The daemon reads your rules; none runs")
        return
    if not (report := case.health.row("privacy")):
        return
    problems, files = report.texts("problems"), report.rows("files")
    for problem in problems[:MOST_PROBLEMS]:
        yield warn(f"A rule is not followed: {problem}", "`vector-memory privacy` shows all.")
    if files:
        sources = ", ".join(f"{file.text('rules')} in {file.text('path')}" for file in files)
        yield ok(f"Rules of your own: {sources}")
    elif not problems:
        yield ok("No rules of your own")
