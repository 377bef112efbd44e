"""The lexical answer to a prompt without a daemon: FTS5, read-only. Python 3.9, standard library."""

import json
from datetime import datetime, timedelta, timezone

from vector_memory import projects, standing
from vector_memory.client import privacy
from vector_memory.client.spool import read_spool
from vector_memory.journal import readonly
from vector_memory.system.paths import Home
from vector_memory.text import analysis, days, fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOTES = 3
NOTE_TOKENS = 110
CANDIDATES = 20
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MIN_TERMS = 2
"""Distinct words that a prompt and a memory must share at least: one common word says little."""
MIN_COVERAGE = 0.4
"""The share of the prompt's words that a memory must hold, whatever lower `threshold` the user set."""


def notes(
    home: Home, prompt: str, folder: str, session: str, deadline: float
) -> "list[fence.Note]":
    """Return what the journal says to a prompt by its words alone, best first, within the settings' limits.

    Args:
        deadline: `time.monotonic()` by which the search must have ended.
    """
    terms = analysis.query_terms(prompt, 24)
    settings = privacy.Settings(home.config)
    # What a session was given in all a daemon alone counts.
    if len(terms) < MIN_TERMS or settings.number("session_tokens"):
        return []
    hidden, least = _shown_ids(home, session), max(MIN_COVERAGE, settings.number("threshold"))
    fit = [
        row
        for row in search(home, terms, projects.locate(folder), CANDIDATES, deadline)
        if row["id"] not in hidden
        # A session mostly still has in its context what it said itself.
        and (not session or row["session"] != session)
        and _fits(row, terms, least)
    ]
    most = int(min(NOTES, settings.number("prompt_memories")))
    return fence.within([_note(row, terms) for row in fit[:most]], settings.number("prompt_tokens"))


def search(
    home: Home, terms: "list[str]", place: "projects.Place | None", most: int, deadline: float
) -> "list[dict[str, Any]]":
    """Return what journals hold of some words: the project's, where there is one, then the user's, the best of each
    first. Memories older than the newest rule of privacy, or than settings that have personal data taken out, are left
    out: nothing here can check them against these.

    Args:
        deadline: `time.monotonic()` by which the search must have ended.
    """
    stores, project_ids = [home.global_store], [""]
    if place:
        project_ids.append(place.id)
    if place and place.store and readonly.trusted(home.state_db, place.store):
        stores.insert(0, place.store)
    rules_since = privacy.rules_since(*place.folders if place else ())
    since = max(rules_since, privacy.Settings(home.config).redaction_since()) * 1e6
    rows = (
        row
        for store in stores
        for row in readonly.search(store, terms, project_ids, most, deadline)
    )
    return [row for row in rows if row["created_at_us"] >= since]


def _fits(row: "dict[str, object]", terms: "list[str]", least: float) -> bool:
    matched = len(row["matched_terms"])  # type: ignore[arg-type]
    return matched >= MIN_TERMS and matched >= least * len(terms)


def _shown_ids(home: Home, session: str) -> "set[str]":
    """Return the ids that this session has seen, in the state or waiting in the spool."""
    shown_ids = readonly.shown_ids(home.state_db, session)
    for _, entry in read_spool(home):
        if entry.get("session") == session and isinstance(entry.get("shown"), list):
            shown_ids.update(entry["shown"])  # type: ignore[arg-type]
    return shown_ids


def _note(row: "dict[str, object]", terms: "list[str]") -> fence.Note:
    at = moment(row)
    name = str(row["project"]).rpartition("-")[0]
    where = str(row["id"])[:8]
    if row["path"]:
        where += " %s:%s" % (fence.short_name(str(row["path"])), row["line_start"])
    origin, kind, extra = str(row["origin"]), str(row["kind"]), stored_marks(row)
    whose = standing.author_label(origin, kind, extra)
    head = fence.head(days.local_time(at).date().isoformat(), kind, name, where, whose)
    state = standing.state_label(extra)
    head += " · " + state if state else ""
    foreign = standing.is_suspicious(extra) or standing.is_foreign(origin, extra)
    note = fence.Note(str(row["id"]), head, str(row["text"]), foreign)
    return fence.fitting(note, NOTE_TOKENS + fence.tokens(head), terms)


def moment(row: "dict[str, object]") -> datetime:
    """Return when a memory was said, exactly: as a fraction the last moment of the calendar is rounded beyond it."""
    return EPOCH + timedelta(microseconds=int(str(row["created_at_us"])))


def stored_marks(row: "dict[str, object]") -> "dict[str, object]":
    """Return what is noted with a memory. What cannot be read counts as a sign that it looks like instructions to the
    model."""
    try:
        extra = json.loads(str(row["extra"]) or "{}")
    except ValueError:
        extra = None
    return extra if isinstance(extra, dict) else {standing.SUSPICION: {"damaged": True}}
