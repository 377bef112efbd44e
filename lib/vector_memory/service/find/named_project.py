"""A question that names another project of the user's than it is put to: the answer says that something fits there."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from vector_memory.model import Project
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.memory.lookup import answer

LEAST_CHARS = 3
COUNTED = 20
"""So many hits are counted at most."""


def offer(ctx: Context, query: str, asker: Asker, does_fit: bool) -> str:
    """Return a sentence that says how much fits in a project which a question names and is not put to, and how
    to ask there; "" where it names none, or nothing fits there. The memories themselves stay where they are.

    Args:
        does_fit: whether something fits here, too.
    """
    for project, words in projects_in_question(ctx, query, asker):
        # What else limits the question limits what is counted there.
        scope = replace(asker.scope, projects=(project.id,))
        project_asker = Asker(None, scope, cache(ctx.all_shelves))
        # The name says where to look. Among the words it would find what speaks of the project.
        hits = answer(ctx, words, project_asker, COUNTED, cold=True).hits if words else []
        if count := sum(hit.fits for hit in hits):
            fit_text = "1 memory fits" if count == 1 else f"{count} memories fit"
            place_text = "In" if does_fit else "Nothing fits here; in"
            return f"{place_text} the project {project.name} {fit_text}: --project {project.root} asks there."
    return ""


def projects_in_question(ctx: Context, query: str, asker: Asker) -> list[tuple[Project, str]]:
    """Return the projects with a folder, but those that a question is put to, whose whole name stands in it, the
    longest name first, and the question without it."""
    asked_projects = asker.scope.projects or ()
    known_projects = {
        project.id: project for shelf in ctx.all_shelves() for project in shelf.journal.projects()
    }
    matches = []
    for project in sorted(
        known_projects.values(), key=lambda project: (-len(project.name), project.id)
    ):
        if project.id in asked_projects or not project.root or len(project.name) < LEAST_CHARS:
            continue
        name_pattern = rf"(?<![\w-]){re.escape(project.name)}(?:'s)?(?![\w-])"
        remaining = " ".join(re.sub(name_pattern, " ", query, flags=re.IGNORECASE).split())
        if remaining != " ".join(query.split()):
            matches.append((project, remaining))
    return matches
