"""The audit log as people read it, and proofs over it: a signed root of all its entries, that of one
entry, and whether the log still continues what was signed."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import datetime
from typing import Any

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.journal.audit import AuditEntry, AuditRow
from vector_memory.journal.failures import full_disk
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import read_text
from vector_memory.system.private import make_folder
from vector_memory.trust import attestation, merkle
from vector_memory.trust.attestation import LogStatement

MOST_ENTRY = 1 << 53
MOST_BYTES = 1 << 20


class ProveRequest(messages.Request):
    """Sign the audit log as it is; with `entry`, a number of an entry, prove that it is in there; with `since`, the
    file of an earlier proof, that the log goes on from that one."""

    entry: int = messages.number(0, 0, MOST_ENTRY)
    since: str = messages.maybe_text(4_096)
    passphrase: str = messages.word()


class ProveAnswer(messages.Answer):
    """A proof, the file that it was written to, and the fingerprint of the key that signed it."""

    file: str
    fingerprint: str
    proof: dict[str, Any]


class CheckProofRequest(messages.Request):
    """Does this installation's log still hold what a statement says?"""

    statement: Any = messages.read_by(lambda sent, name: sent.get(name), None)


class CheckProofAnswer(messages.Answer):
    """What a check of a statement found.

    Attributes:
        is_own: whether the key is one of this installation's.
        holds: whether the log begins with the entries that were signed.
        why: a sentence.
    """

    is_own: bool
    holds: bool
    why: str


def prove(ctx: Context, request: ProveRequest) -> ProveAnswer:
    """Return a proof over the audit log as it is, which is kept in `proofs/`.

    Raises:
        NotFoundError: there is no such entry.
        BadInputError: the key needs a passphrase, or there is no earlier proof to read.
        RefusedProofError: the log does not go on from the earlier proof.
    """
    rows = ctx.state.audit_rows()
    leaves = [attestation.leaf(_entry(row)) for row in rows]
    key = contracts.signer(ctx, request.passphrase)
    at = ctx.now().isoformat(timespec="seconds")
    statement = attestation.sign_statement(key, leaves, rows[-1].number if rows else 0, at)
    proof, name = asdict(statement), f"root-{len(rows):08d}.json"
    if request.entry:
        index = next((at for at, row in enumerate(rows) if row.number == request.entry), -1)
        if index < 0:
            raise NotFoundError(
                f"There is no entry {request.entry}.", "`vector-memory audit` lists."
            )
        inclusion = attestation.prove_inclusion(leaves, _entry(rows[index]), index, statement)
        proof, name = asdict(inclusion), f"entry-{request.entry:08d}.json"
    elif request.since:
        continuation = attestation.prove_continuation(leaves, _earlier(request), statement)
        proof, name = (
            asdict(continuation),
            f"since-{continuation.earlier.size:08d}-{len(rows):08d}.json",
        )
    path = os.path.join(ctx.home.proofs, name)
    with full_disk(path):
        make_folder(ctx.home.proofs)
        write_durably(path, (json.dumps(proof, indent=2) + "\n").encode("utf-8"))
    ctx.state.audit("proof", request.actor, [], {"size": len(rows), "entry": request.entry})
    return ProveAnswer(path, key.public.fingerprint, proof)


def _earlier(request: ProveRequest) -> LogStatement:
    path = os.path.join(request.base, os.path.expanduser(request.since))
    try:
        proof = attestation.proof_of(json.loads(read_text(path, MOST_BYTES)))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(f"{path} holds no proof.", "Give a file of `proof make`.") from error
    return proof if isinstance(proof, LogStatement) else proof.statement


def check(ctx: Context, request: CheckProofRequest) -> CheckProofAnswer:
    """Return whether this installation's log begins with the entries that a statement is about.

    Raises:
        RefusedProofError: the statement was changed.
    """
    statement: LogStatement = attestation.statement_of(request.statement)
    keys = [entry.word for entry in contracts.keyring(ctx).entries()]
    is_own, rows = statement.key in keys, ctx.state.audit_rows()
    if len(rows) < statement.size:
        why = f"The log holds {len(rows)} entries, and {statement.size} were signed."
        return CheckProofAnswer(is_own, False, why)
    leaves = [attestation.leaf(_entry(row)) for row in rows[: statement.size]]
    if merkle.root(leaves).hex() != statement.root:
        why = f"One of the first {statement.size} entries is another one than it was."
        return CheckProofAnswer(is_own, False, why)
    why = f"The first {statement.size} of {len(rows)} entries are as they were signed."
    return CheckProofAnswer(is_own, True, why)


def _entry(row: AuditRow) -> dict[str, Any]:
    """Return an entry as it is hashed: the stored values, without interpreting them."""
    names = ("action", "actor", "at", "detail", "ids", "number")
    return {name: getattr(row, name) for name in names}


class AuditRequest(messages.Request):
    """The last `k` entries of the audit log before the newest `offset`.

    Attributes:
        since: none that is older.
        action: those of one action alone, such as `forget`; `but` all others.
        verify: look at the whole log for changes, its older files too.
    """

    k: int = messages.number(50, 1, 100_000)
    offset: int = messages.number(0, 0, 1_000_000)
    since: datetime | None = messages.moment()
    action: str = messages.word()
    but: str = messages.word()
    verify: bool = messages.flag()


class AuditAnswer(messages.Answer):
    """Entries, the newest first, and what is wrong with the log, "" for nothing; where it has none of the action that
    is asked for, the actions that it has."""

    entries: list[AuditEntry]
    intact: bool
    problem: str
    actions: list[str] | None = messages.spare()


def audit(ctx: Context, request: AuditRequest) -> AuditAnswer:
    """Return the last entries of the audit log."""
    count = request.offset + request.k
    entries = ctx.state.audit_entries(count, request.since, request.action, request.but)
    known_actions = None
    if request.action and not entries:
        actions = {row.action for row in ctx.state.audit_rows()}
        known_actions = sorted(actions) if request.action not in actions else None
    problem = ctx.state.audit_break(whole=request.verify)
    return AuditAnswer(entries[request.offset :], not problem, problem, known_actions)
