"""The answer to `recall` where no daemon can run, such as in a data home that can only be read: by
words alone, straight from the journals."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from vector_memory import projects, standing
from vector_memory.client import cold
from vector_memory.system.paths import Home
from vector_memory.text import analysis

TERMS = 24
PATIENCE_S = 5.0
LIMITS = ("ceiling", "jurisdictions")
"""Of a request: what only a daemon can keep to."""


def recall(home: Home, request: Mapping[str, object], why: str) -> dict[str, object]:
    """Return hits by words, best first, as `recall` does. Filters other than the project are ignored. Memories older
    than the newest rule of privacy are left out, and under a ceiling or a law there are no hits.

    Args:
        request: what the daemon would have been asked: `query`, `k`, `offset`, `project`, `global`, `cwd`.
        why: why no daemon can run.
    """
    terms = analysis.query_terms(str(request["query"]), TERMS)
    folder = str(request.get("project") or request.get("cwd") or os.sep)
    place = None if request.get("global") else projects.locate(folder)
    start = int(str(request.get("offset") or 0))
    end, deadline = start + int(str(request["k"])), time.monotonic() + PATIENCE_S
    is_limited = any(map(request.get, LIMITS))
    rows = [] if is_limited else cold.search(home, terms, place, end + 1, deadline)
    note = f"{why} Found by words only, without filters."
    hits = [_hit(row) for row in rows[start:end]]
    return {"hits": hits, "mode": "offline", "more": len(rows) > end, "note": note}


def _hit(row: dict[str, Any]) -> dict[str, object]:
    extra, origin = cold.stored_marks(row), str(row["origin"])
    return {
        "id": row["id"],
        "text": row["text"],
        "kind": row["kind"],
        "origin": origin,
        "foreign": standing.is_suspicious(extra) or standing.is_foreign(origin, extra),
        "state": standing.state_label(extra),
        "score": row["bm25"],
        "breakdown": {"bm25": row["bm25"]},
        "created_at": cold.moment(row).isoformat(),
        "project": row["project"].rpartition("-")[0],
        "project_id": row["project"],
        "source": {
            "path": row["path"],
            "session": row["session"],
            "line_start": row["line_start"],
            "line_end": row["line_end"],
        },
    }
