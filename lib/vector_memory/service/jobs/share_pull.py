"""share-pull: takes over what other members of a team published, of every project that is shared from here, and of what
belongs to no project. It publishes nothing: that, the user does. A bucket is reached by the variables that the daemon was started with."""

from __future__ import annotations

import os

from vector_memory.errors import VectorMemoryError
from vector_memory.journal.job_rows import FAILED, WAITS
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_roots
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.sharing import pull, team


def step(ctx: Context, run: JobRun) -> Step:
    """Pull of every project that is shared from here, one after the other.

    Returns:
        How many memories the members share with each, and what could not be reached or was refused.
    """
    roots = project_roots(ctx.all_shelves())
    existing_roots = [root for _, root in sorted(roots.items()) if root and os.path.isdir(root)]
    # "" stands for what belongs to no project.
    shared_roots = [root for root in ("", *existing_roots) if _is_shared(ctx, root)]
    if not shared_roots:
        return Step({"projects": 0}, message="Nothing is shared from here.", outcome=WAITS)
    if run.dry_run:
        return Step(
            {"projects": len(shared_roots)},
            message=f"It would pull for {len(shared_roots)} projects.",
        )
    memories, refused = 0, list[str]()
    for root in shared_roots:
        request = pull.ShareRequest(actor="job", project=root, cwd=root, is_global=not root)
        try:
            answer = pull.pull(ctx, request, lambda *_: None)
        except VectorMemoryError as error:
            refused.append(f"{root or 'global'}: {error}")
            continue
        memories += sum(member.memories for member in answer.members)
        refused += [f"{refusal.what}: {refusal.why}" for refusal in answer.refused]
    report = {"projects": len(shared_roots), "memories": memories, "refused": refused}
    message = (
        f"{memories} memories of others in {len(shared_roots)} projects, {len(refused)} refused."
    )
    return Step(report, message=message, outcome=FAILED if refused and not memories else "ok")


def _is_shared(ctx: Context, root: str) -> bool:
    try:
        project = team.shared_project(ctx, ctx.place(root) if root else None)
        return team.share_of(ctx, project) is not None
    except VectorMemoryError:
        return False
