"""permission-review: which trusted folders are gone or were not used for long, and which exclusions name nothing
any more, and which programs, keys and contracts should not act here any longer. It changes nothing:
`vector-memory untrust FOLDER`, `token revoke ID` and the tool `nhi_lifecycle` do."""

from __future__ import annotations

import os

from vector_memory.service.base.context import Context
from vector_memory.service.governance import agents
from vector_memory.service.jobs.step import JobRun, Step

UNUSED_DAYS, MOST_NAMED = 90, 5


def step(ctx: Context, run: JobRun) -> Step:
    """Look at every folder that is trusted or excluded.

    Returns:
        What it did, and where the next step begins.
    """
    trusted = ctx.state.trusted_folders()
    missing = [folder for folder in trusted if not os.path.isdir(folder)]
    since = run.now.timestamp() - UNUSED_DAYS * 86_400
    unused = [
        folder for folder in trusted if folder not in missing and _last_write_s(folder) < since
    ]
    excluded = [
        folder
        for folder in ctx.settings.excluded_projects
        if not os.path.isdir(os.path.expanduser(folder))
    ]
    advised = agents.actors(ctx, agents.ActorsRequest(action="review")).actors
    report = {
        "trusted": len(trusted), "missing": missing, "unused": unused, "excluded_missing": excluded,
        "actors": [{"sort": actor.sort, "name": actor.name, "advice": actor.advice} for actor in advised],
    }  # fmt: skip
    stale = len(missing) + len(unused)
    message = f"{stale} of {len(trusted)} trusted folders are gone or unused for {UNUSED_DAYS} days"
    message += ": `vector-memory untrust FOLDER`." if stale else "."
    message = message if trusted else "No folder is trusted."
    actor_names = [f"{actor.sort} {actor.name}" for actor in advised[:MOST_NAMED]]
    ellipsis = ", …" if len(advised) > MOST_NAMED else ""
    message += f" Look at: {', '.join(actor_names)}{ellipsis}." if actor_names else ""
    return Step(report, message=message)


def _last_write_s(store: str) -> float:
    """Return when a store was written last, in seconds since 1970."""
    paths = [os.path.join(store, name) for name in ("journal.db", "journal.db-wal")]
    return max((os.path.getmtime(path) for path in paths if os.path.exists(path)), default=0.0)
