"""vault-follow: the user's vault is read on, a few seconds at a time, until all that changed is known."""

from __future__ import annotations

import shlex

from vector_memory.errors import BadInputError
from vector_memory.journal.job_rows import WAITS
from vector_memory.model import ignore_progress
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.transfer import vault, vault_export

STEP_S = 2.0


def step(ctx: Context, run: JobRun) -> Step:
    """Read some of the notes that have changed.

    Returns:
        What it did, and where the next step begins.
    """
    if not ctx.settings.vault:
        return Step(message="No vault is set: `vector-memory config set vault DIR`.", outcome=WAITS)
    try:
        view = vault.follow(ctx, ignore_progress, STEP_S, run.dry_run)
    except BadInputError as error:
        # It may be on a disk that is not there now.
        return Step(message=str(error), outcome=WAITS)
    assert view is not None
    counts = {"stored": view.stored or 0, "updated": view.updated or 0}
    waiting = view.waiting or 0
    goes_on = waiting and not run.dry_run
    if not waiting and not run.dry_run and vault_export.is_in_use(ctx):
        export = vault_export.write(ctx)
        counts["written"] = export.written
        if export.edited:
            message = f"Edited: `vector-memory import {shlex.quote(export.folder)}` shows what would change."
            return Step({**counts, "edited": len(export.edited)}, message=message)
    # How many are left stands in the report once, of the last step.
    report = {**counts, "vault": {"notes": str(view.notes), "waiting": str(waiting)}}
    return Step(report, {"waiting": waiting} if goes_on else {})
