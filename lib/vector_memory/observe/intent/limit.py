"""What a limit is that a user sets: its kind, and what it is about."""

from __future__ import annotations

from typing import NamedTuple

ONLY, NOT, KEEP, DEPENDENCIES, NO_COMMIT, NO_PUSH, NO_REQUEST, NO_NEW, READ_ONLY, API, NO_RUN = (
    "only", "not", "keep", "no-dependencies", "no-commit", "no-push", "no-pull-request", "no-new-files",
    "read-only", "api", "no-run",
)  # fmt: skip
NO_READ, NO_DATABASE, NO_KIND, SELECT, NO_NETWORK, NO_COMMENTS, NO_SWITCH = (
    "no-reading", "no-database", "no-kind", "select-only", "no-network", "no-comments", "no-other-branch",
)  # fmt: skip
EVERYTHING = "*"


class Limit(NamedTuple):
    """A limit: its kind, what it is about (paths, names, commands), and how it was said."""

    kind: str
    targets: tuple[str, ...]
    said: str
