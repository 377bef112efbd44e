"""Saving what can be read of a damaged journal into a new one.

Every memory has a checksum, and its text a hash, so that what is read from the pages is known to be
what was written, whatever has become of the trees above them.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from vector_memory.errors import VectorMemoryError
from vector_memory.journal import rows as form
from vector_memory.journal import vectors, writes
from vector_memory.journal.connection import create_file, open_writer
from vector_memory.journal.opening import Migration, migrate
from vector_memory.journal.repair import swap
from vector_memory.journal.repair.pages import Pages
from vector_memory.journal.schema import MIGRATIONS
from vector_memory.model import Relation, Status, Tier, is_hex
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import delete_file
from vector_memory.system.json_in import Record

log = logging.getLogger(__name__)

MOST_NAMED = 1_000
_HASH_BYTES = 16
_RELATIONS = frozenset(str(relation) for relation in Relation)
_STATUSES = frozenset(str(status) for status in Status)
_TIERS = frozenset(str(tier) for tier in Tier)
_ADDED = 1
"""Columns of memories that rows written before they were added do not have."""


@dataclass
class Salvaged:
    """What became of a damaged journal.

    Attributes:
        kept: memories that were saved.
        doubtful: those of them of which only the text is known to be right.
        lost: ids of memories that were not, as far as they are known.
        why: what was wrong.
        at: when, ISO.
        aside: the folder that the damaged file was put into.
    """

    why: str
    kept: int = 0
    doubtful: int = 0
    lost: list[str] = field(default_factory=list)
    at: str = ""
    aside: str = ""


@dataclass
class _SmallTables:
    """The small tables of a journal, and which memories there should be."""

    sources: dict[int, tuple[str, str]] = field(default_factory=dict)
    models: dict[int, str] = field(default_factory=dict)
    usage: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    links: list[tuple[Any, ...]] = field(default_factory=list)
    projects: list[tuple[Any, ...]] = field(default_factory=list)
    meta: Record = field(default_factory=Record)
    seqs: set[int] = field(default_factory=set)
    """The sequence numbers that some index knows."""
    ids: dict[int, str] = field(default_factory=dict)
    """Sequence number → what may be the id of its memory."""


def prepare(path: str, why: str) -> Salvaged | None:
    """Write what can be read of a journal beside it, for `swap.finish`; None for a file in which
    nothing of a journal is to be found, and that never was one in use.

    Nobody may write to the journal meanwhile.

    Returns:
        What was saved; nothing is put in place yet.

    Raises:
        OSError, sqlite3.Error: it cannot be written.
    """
    pages = Pages(path)
    if not pages.ours and not swap.was_in_use(os.path.dirname(path)):
        return None
    with empty_beside(path, MIGRATIONS) as connection:
        salvaged = _save(connection, pages, why)
    if not (salvaged.kept or swap.was_in_use(os.path.dirname(path))):
        os.unlink(swap.part(path))
        return None
    swap.make_ready(path)
    return salvaged


@contextmanager
def empty_beside(path: str, migrations: Sequence[Migration]) -> Iterator[sqlite3.Connection]:
    """Give an empty database beside another one, for `swap.make_ready` when it is filled."""
    part = swap.part(path)
    # An earlier attempt that was interrupted: it may be anything.
    for leftover in (part, *(part + suffix for suffix in swap.SIDE_FILES)):
        delete_file(leftover)
    create_file(part)
    with closing(open_writer(part, "NORMAL")) as connection:
        migrate(connection, migrations, part)
        yield connection
        # One file without side files, so that one rename puts it in its place.
        connection.execute("PRAGMA journal_mode = DELETE")


def report(saved: Salvaged, aside: str) -> Salvaged:
    """Leave beside the file that was set aside what could be saved of it; return that."""
    saved.aside = os.path.dirname(aside)
    facts = {**asdict(saved), "lost": saved.lost[:MOST_NAMED], "lost_count": len(saved.lost)}
    write_durably(os.path.join(saved.aside, swap.REPORT), json.dumps(facts).encode())
    log.error(
        "%s: %d memories saved, %d known to be lost; %s",
        saved.why,
        saved.kept,
        len(saved.lost),
        aside,
    )
    return saved


def _save(connection: sqlite3.Connection, pages: Pages, why: str) -> Salvaged:
    """Copy all that is readable into an empty journal."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
    small = _SmallTables()
    for number, values in pages.rows(with_guesses=True):
        if len(values) < len(columns) - _ADDED:
            _sort_in(small, number, values)
    connection.execute("BEGIN IMMEDIATE")
    _insert(connection, "models", [(number, name) for number, name in small.models.items()])
    _insert(connection, "sources", [(number, *source) for number, source in small.sources.items()])
    saved_seqs, doubtful = _save_memories(connection, pages, columns, small)
    _save_rest(connection, small, saved_seqs)
    connection.execute("COMMIT")
    lost_seqs = sorted(small.seqs - set(saved_seqs.values()))
    lost = [small.ids.get(seq) or f"#{seq}" for seq in lost_seqs]
    return Salvaged(why, len(saved_seqs), doubtful, lost, form.utc_now().isoformat())


def _sort_in(small: _SmallTables, number: int, values: list[Any]) -> None:
    """Put a row where its shape says that it belongs."""
    match values:
        case [None, str(name)] if number:
            small.models[number] = name
        case [str(key), value] if key in ("store_id", "last_seq") and not number:
            small.meta[key] = value
        case [str(id), int(seq)] if not number and id not in _STATUSES:
            # Ids and external ids: ours are hexadecimal.
            small.ids[seq] = id if is_hex(id, 32) else small.ids.get(seq) or id
        case [bytes(hash), int(seq)] if not number and len(hash) in (0, _HASH_BYTES):
            small.seqs.add(seq)
        case [int(), int(), int(seq)] if not number:
            small.seqs.add(seq)
        case [None, str(session), str(path)] if number:
            small.sources[number] = (session, path)
        case [None, int(uses), int(at)] if number:
            small.usage[number] = (uses, at, 0, 0, "")
        case [None, int(), int(), int(), int(), str()] if number:
            small.usage[number] = tuple(values[1:])
        case [str(), str(), str(relation), int() | float(), int() | None] if relation in _RELATIONS:
            small.links.append(tuple(values))
        case [str(), str(), str(), str()] if not number:
            small.projects.append(tuple(values))


def _save_memories(
    connection: sqlite3.Connection, pages: Pages, columns: list[str], small: _SmallTables
) -> tuple[dict[str, int], int]:
    """Copy memories and vectors; return the memories' sequence numbers by their ids, and how many
    are doubtful."""
    saved_seqs: dict[str, int] = {}
    doubtful: set[str] = set()
    for number, values in pages.rows(with_guesses=True):
        match values:
            case [bytes(hash), int(model), bytes(vector)] if number and len(hash) == _HASH_BYTES:
                if model in small.models:
                    _insert(connection, "vectors", [(hash, model, vector)])
            case [None, str(id), *_] if _is_row(values, columns) and saved_seqs.get(id, 0) < number:
                # One that was being replaced may stand there twice: the later one counts.
                row = Record(zip(columns, values, strict=False), seq=number)
                row_values = _complete(small, row)
                if row_values is not None:
                    connection.execute("DELETE FROM memories WHERE id = ? OR seq = ?", (id, number))
                    connection.execute(f"INSERT {form.INSERT}", row_values[0])
                    if row.get("tier") in _TIERS:
                        writes.place(connection, id, Tier(row["tier"]))
                    saved_seqs[id] = number
                    (doubtful.discard if row_values[1] else doubtful.add)(id)
    return saved_seqs, len(doubtful)


def _is_row(values: list[Any], columns: list[str]) -> bool:
    return len(columns) - _ADDED <= len(values) <= len(columns)


def _complete(small: _SmallTables, row: Record) -> tuple[form.Row, bool] | None:
    """Return the values of a row to insert, and whether they are what was written: else only the text
    is known to be. None where not even that is.

    What a row holds beside its checksum (hash, terms, whether it is open) is made anew.
    """
    try:
        row["confidence"] = float(str(row["confidence"]))
        numbers = tuple(row[name] for name in form.NUMBERS)
        words = tuple(row[name] for name in form.WORDS)
        source = row["source"] if row["source"] in small.sources else 0
        model = row["model"] if row["model"] in small.models else 0
        source_words = small.sources.get(source, ("", ""))
        models = {model: small.models.get(model, "")}
        beside = b"", model, 0, None, "", 0, 0
        memory = form.to_memory((*numbers, *words, *source_words, *beside), models)
        values = form.to_row(memory, source, model)
        if values[form.ALL.index("checksum")] == row["checksum"]:
            return values, True
        return (values, False) if values[form.ALL.index("hash")] == row["hash"] else None
    except (TypeError, ValueError, OverflowError, VectorMemoryError):
        return None


def _save_rest(connection: sqlite3.Connection, small: _SmallTables, saved: dict[str, int]) -> None:
    seqs = set(saved.values())
    usage = [(seq, *uses) for seq, uses in small.usage.items() if seq in seqs]
    _insert(connection, "usage", usage)
    _insert(connection, "links", [link for link in small.links if {link[0], link[1]} <= set(saved)])
    _insert(connection, "projects", small.projects)
    connection.execute(
        "DELETE FROM sources WHERE id != 0 AND id NOT IN (SELECT source FROM memories)"
    )
    connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM memories)")
    connection.executemany(
        "DELETE FROM vectors WHERE hash = ? AND model = ?", vectors.wrong(connection)
    )
    vectors.forget_missing(connection)
    # The highest number is known twice: what was given once is not given again.
    highest = max([small.meta.number("last_seq"), *seqs, *small.seqs])
    values: list[tuple[str, object]] = [("last_seq", highest)]
    if store_id := small.meta.text("store_id"):
        values.append(("store_id", store_id))
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)


def _insert(connection: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)
