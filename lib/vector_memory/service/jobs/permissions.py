"""permission-review: which trusted folders are gone or were not used for long, and which exclusions name nothing
any more. It changes nothing: `vector-memory untrust FOLDER` does. memory-gateway: whether the gateway, by
which others would come in, is well."""

from __future__ import annotations

import os

from vector_memory.journal.job_rows import WAITS
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import Step, Turn

UNUSED_DAYS = 90


def step(ctx: Context, turn: Turn) -> Step:
    """Look at every folder that is trusted or excluded."""
    trusted = ctx.state.trusted_folders()
    missing = [folder for folder in trusted if not os.path.isdir(folder)]
    since = turn.now.timestamp() - UNUSED_DAYS * 86_400
    unused = [folder for folder in trusted if folder not in missing and _written(folder) < since]
    excluded = [
        folder
        for folder in ctx.settings.excluded_projects
        if not os.path.isdir(os.path.expanduser(folder))
    ]
    report = {
        "trusted": len(trusted), "missing": missing, "unused": unused, "excluded_missing": excluded,
    }  # fmt: skip
    stale = len(missing) + len(unused)
    told = f"{stale} of {len(trusted)} trusted folders are gone or unused for {UNUSED_DAYS} days"
    hint = ": `vector-memory untrust FOLDER`" if stale else ""
    return Step(report, message=f"{told}{hint}. There are no identities or peers yet.")


def _written(store: str) -> float:
    """Return when a store was written last, in seconds since 1970."""
    paths = [os.path.join(store, name) for name in ("journal.db", "journal.db-wal")]
    return max((os.path.getmtime(path) for path in paths if os.path.exists(path)), default=0.0)


def gateway(ctx: Context, turn: Turn) -> Step:
    """Tell how the gateway is: this version has none."""
    return Step(
        {"running": False}, message="No gateway runs: this version has none.", outcome=WAITS
    )
