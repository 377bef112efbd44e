"""Purges that are not done yet: what is noted of each, so that whatever ends this daemon, the next one does the rest.

What goes is noted by ids. The words that files are searched for are noted sealed, and the key lies in a file of its
own that goes when the purge is done: what the database then still keeps of them nobody can read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vector_memory.service.base.context import Context
from vector_memory.service.purge.selection import (
    PurgeRequest,
    PurgeSelection,
    StorePart,
)
from vector_memory.service.sharing import team
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import delete_file, read_text

RECORDS = "purge"
"""The small records of purges that were begun and are not done."""
KEY_BYTES = 32
_ONCE = bytes(12)
"""The nonce: every key is used for one message."""


@dataclass(frozen=True)
class BegunPurge:
    """A purge that is being done: what goes, and the projects whose teams were given something of it.

    Attributes:
        summarized: the sessions concerned that had a summary.
        was_interrupted: a daemon before this one began it.
    """

    id: str
    selection: PurgeSelection
    shared_with: list[team.SharedProject]
    summarized: set[str]
    was_interrupted: bool = False


def note(ctx: Context, request: PurgeRequest, begun: BegunPurge) -> None:
    """Note what was chosen, before anything of it goes."""
    selection = begun.selection
    selection_fields = {
        "form": selection.form,
        "session": selection.session,
        "project": selection.project,
    }
    request_fields = {
        "actor": request.actor,
        "backups": request.backups,
        "certificate": request.certificate,
    }
    ids = {part.shelf.folder: part.ids for part in selection.parts}
    roots = [project.root if project.place else "" for project in begun.shared_with]
    row_fields = {"ids": ids, "sessions": sorted(selection.sessions), "told": roots}
    row_fields |= {
        "summarized": sorted(begun.summarized),
        "words": _seal(ctx, begun.id, selection.pieces),
    }
    ctx.state.put_record(RECORDS, begun.id, {**selection_fields, **request_fields, **row_fields})


def interrupted(ctx: Context) -> Iterator[tuple[PurgeRequest, BegunPurge]]:
    """Yield the purges that another daemon began. Of rows that are gone already only the ids are known."""
    for id, record in ctx.state.records(RECORDS).items():
        parts = []
        for shelf in ctx.every_shelf():
            ids = record.part("ids").words(shelf.folder)
            by_id = shelf.journal.by_ids(ids)
            missing = [row_id for row_id in ids if row_id not in by_id]
            parts.append(StorePart(shelf, list(by_id.values()), missing))
        sessions = set(record.words("sessions"))
        where = record.text("session"), record.text("project")
        pieces = _unseal(ctx, id, record.text("words"))
        selection = PurgeSelection(record.text("form"), parts, sessions, pieces, set(), *where)
        projects = [
            team.shared_project(ctx, ctx.place(root) if root else None)
            for root in record.words("told")
        ]
        request = PurgeRequest(
            actor=record.text("actor"),
            backups=bool(record.get("backups")),
            certificate=bool(record.get("certificate")),
        )
        yield request, BegunPurge(id, selection, projects, set(record.words("summarized")), True)


def clear(ctx: Context, id: str) -> None:
    """Remove what is noted of a purge."""
    ctx.state.put_record(RECORDS, id, None)
    delete_file(_key_path(ctx, id))
    ctx.state.scrub()


def _seal(ctx: Context, id: str, pieces: Sequence[str]) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    key, raw = os.urandom(KEY_BYTES), json.dumps(list(pieces)).encode("ascii")
    write_durably(_key_path(ctx, id), key.hex().encode("ascii"))
    return ChaCha20Poly1305(key).encrypt(_ONCE, raw, None).hex()


def _unseal(ctx: Context, id: str, sealed: str) -> list[str]:
    """Return the words that files are to be searched for, [] where their key is gone."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        key = bytes.fromhex(read_text(_key_path(ctx, id), 2 * KEY_BYTES))
        raw = ChaCha20Poly1305(key).decrypt(_ONCE, bytes.fromhex(sealed), None)
    except (OSError, ValueError, InvalidTag):
        return []
    return [str(piece) for piece in json.loads(raw)]


def _key_path(ctx: Context, id: str) -> str:
    return os.path.join(ctx.home.run, f"purge-{id}.key")
