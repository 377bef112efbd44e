"""permission-review: which trusted folders are gone or were not used for long, and which exclusions name nothing
any more, and which tokens have ended or let nobody in for long. It changes nothing: `vector-memory untrust
FOLDER` and `token revoke ID` do."""

from __future__ import annotations

import os
from datetime import timedelta

from vector_memory import tokens
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import Step, Turn

UNUSED_DAYS = 90
MOST_CALLS = 10_000
"""Calls of programs that are looked at; whoever called before those is idle."""


def step(ctx: Context, turn: Turn) -> Step:
    """Look at every folder that is trusted or excluded.

    Returns:
        What it did, and where the next step begins.
    """
    trusted = ctx.state.trusted_folders()
    missing = [folder for folder in trusted if not os.path.isdir(folder)]
    since = turn.now.timestamp() - UNUSED_DAYS * 86_400
    unused = [folder for folder in trusted if folder not in missing and _written(folder) < since]
    excluded = [
        folder
        for folder in ctx.settings.excluded_projects
        if not os.path.isdir(os.path.expanduser(folder))
    ]
    idle = _idle_tokens(ctx, turn)
    report = {
        "trusted": len(trusted), "missing": missing, "unused": unused, "excluded_missing": excluded,
        "idle_tokens": idle,
    }  # fmt: skip
    stale = len(missing) + len(unused)
    told = f"{stale} of {len(trusted)} trusted folders are gone or unused for {UNUSED_DAYS} days"
    told += ": `vector-memory untrust FOLDER`. " if stale else ". "
    of_tokens = f"Tokens that ended or let nobody in: {', '.join(idle)}: `token revoke`. "
    return Step(report, message=f"{told}{of_tokens if idle else ''}There are no identities yet.")


def _idle_tokens(ctx: Context, turn: Turn) -> list[str]:
    """Return the names of tokens that have ended, or were made and last used before the time that counts."""
    since = turn.now - timedelta(days=UNUSED_DAYS)
    held = tokens.load(ctx.home.tokens)
    calls = ctx.state.audit_entries(MOST_CALLS, since, "http") if held else []
    seen = {entry.actor.removeprefix("http:") for entry in calls}
    return [
        token.name
        for token in held
        if not token.holds(turn.now)
        or (token.name not in seen and token.made_at < since.isoformat(timespec="seconds"))
    ]


def _written(store: str) -> float:
    """Return when a store was written last, in seconds since 1970."""
    paths = [os.path.join(store, name) for name in ("journal.db", "journal.db-wal")]
    return max((os.path.getmtime(path) for path in paths if os.path.exists(path)), default=0.0)
