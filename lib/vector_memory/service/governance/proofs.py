"""`guardrail_proof`: signed roots over the audit log, and proofs that an entry is in it and that it only grew.

A proof shows that nobody without this installation's key changed the log after it was signed. It does not show
that the log is complete, and nothing against the machine's own user.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.journal.audit import Row
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.system.json_in import Record
from vector_memory.trust import canonical, merkle
from vector_memory.trust.keys import PublicKey

SORT, PURPOSE = "proof", "audit log"
FORMAT = "vector-memory audit proof 1"
ACTIONS = ("prove", "list", "verify", "include", "continue")


@dataclass(frozen=True, kw_only=True)
class ProofRequest(messages.Request):
    """`prove` signs the log as it is; `verify` holds a proof against the log; `include` shows that an entry is
    in a proven log; `continue` that the log still begins as it was proven.

    Attributes:
        id: the proof, "" for the newest.
        proof: a proof as JSON, from wherever it was kept, for `verify`.
        number: the entry, for `include`.
    """

    action: str = messages.word(default="list")
    id: str = messages.word()
    proof: str = messages.maybe_text(1_000_000)
    number: int = messages.number(0, 0, 1 << 60)


@dataclass(frozen=True)
class Proof:
    """A root over the first entries of the log, signed.

    Attributes:
        size: how many entries it covers; first, last: their numbers.
        root, signature: in hexadecimal.
        key: the public key that signed it; at: when.
    """

    id: str
    size: int
    first: int
    last: int
    root: str
    at: str
    key: str
    signature: str
    format: str = FORMAT

    @property
    def signed(self) -> bytes:
        """What the signature stands for."""
        kept = ("format", "size", "first", "last", "root", "at", "key")
        return canonical.written({name: getattr(self, name) for name in kept})


@dataclass(frozen=True)
class ProofAnswer:
    """The proofs; for the other actions whether it holds, and why not, with the path of hashes that shows it."""

    proofs: list[Proof]
    holds: bool | None = messages.spare()
    problem: str | None = messages.spare()
    entry: dict[str, object] | None = messages.spare()
    index: int | None = messages.spare()
    path: list[str] | None = messages.spare()


def proof(ctx: Context, request: ProofRequest) -> ProofAnswer:
    """Prove the audit log, or hold it against a proof.

    Returns:
        The proof in question, newest first for `list`, and whether it holds.

    Raises:
        BadInputError: there is no such action, the log is empty, or what was given is no proof.
        NotFoundError: there is no such proof or entry.
    """
    if request.action == "list":
        return ProofAnswer(_kept(ctx))
    if request.action == "prove":
        return ProofAnswer([_prove(ctx, request.actor)])
    if request.action not in ACTIONS:
        raise BadInputError("There is no such action.", f"Actions: {', '.join(ACTIONS)}.")
    found = _read(request.proof) if request.proof else _find(ctx, request.id)
    rows = ctx.state.audit_rows()
    if request.action == "include":
        return _include(found, rows, request.number)
    problem = _problem(ctx, found, rows)
    if request.action == "verify" or problem:
        return ProofAnswer([found], not problem, problem)
    leaves = [leaf(row) for row in rows]
    path = merkle.consistency(leaves, found.size)
    holds = merkle.is_consistent(
        found.size, len(leaves), bytes.fromhex(found.root), merkle.root(leaves), path
    )
    return ProofAnswer([found], holds, path=[step.hex() for step in path])


def leaf(row: Row) -> bytes:
    """Return the hash of an entry as it stands in the tree, 32 bytes."""
    return merkle.leaf(canonical.written(_plain(row)))


def _plain(row: Row) -> dict[str, object]:
    # Microseconds since 1970 are beyond what every reader of JSON keeps exactly: as a text they are.
    return {
        "number": row.number, "at": str(row.at), "action": row.action, "actor": row.actor,
        "ids": row.ids, "detail": row.detail, "previous": row.previous.hex(), "digest": row.digest.hex(),
    }  # fmt: skip


def _prove(ctx: Context, actor: str) -> Proof:
    rows = ctx.state.audit_rows()
    if not rows:
        raise BadInputError("The audit log is empty.", "There is nothing to prove yet.")
    if problem := ctx.state.audit_break(whole=True):
        raise BadInputError(f"The audit log is damaged: {problem}", "See `vector-memory doctor`.")
    ring = contracts.keyring(ctx)
    key = ring.open(ring.ensure(ctx.now()).public.id)
    root = merkle.root([leaf(row) for row in rows]).hex()
    at = ctx.now().isoformat(timespec="seconds")
    draft = Proof("", len(rows), rows[0].number, rows[-1].number, root, at, key.public.word, "")
    signature = key.sign(PURPOSE, draft.signed).hex()
    made = replace(draft, id=root[:16], signature=signature)
    ctx.state.put_record(SORT, made.id, messages.to_json(made))
    ctx.state.audit("proof", actor, [], {"root": made.id, "size": made.size})
    return made


def _include(found: Proof, rows: list[Row], number: int) -> ProofAnswer:
    at = next((n for n, row in enumerate(rows) if row.number == number), None)
    if at is None or at >= found.size:
        raise NotFoundError(
            f"The proof covers no entry {number}.", f"It covers {found.first} to {found.last}."
        )
    leaves = [leaf(row) for row in rows[: found.size]]
    path = merkle.inclusion(leaves, at)
    holds = merkle.is_included(leaves[at], at, found.size, path, bytes.fromhex(found.root))
    steps = [step.hex() for step in path]
    return ProofAnswer([found], holds, entry=_plain(rows[at]), index=at, path=steps)


def _problem(ctx: Context, found: Proof, rows: list[Row]) -> str:
    """Return why a proof does not hold, "" where it does."""
    try:
        key = PublicKey.read(found.key)
        signed = key.has_signed(bytes.fromhex(found.signature), PURPOSE, found.signed)
    except (BadInputError, ValueError):
        signed = False
    if not signed:
        return "The signature is not that of the key over these figures."
    if found.key not in {one.word for one in contracts.keyring(ctx).entries()}:
        return "The key is none of this installation's: only the signature was checked."
    if len(rows) < found.size:
        return f"The log has {len(rows)} entries, and {found.size} were signed."
    if merkle.root([leaf(row) for row in rows[: found.size]]).hex() != found.root:
        return "The log was changed after it was signed."
    return ""


def _kept(ctx: Context) -> list[Proof]:
    kept = [_proof(record) for record in ctx.state.records(SORT).values()]
    return sorted(kept, key=lambda one: (one.at, one.size), reverse=True)


def _find(ctx: Context, id: str) -> Proof:
    kept = [one for one in _kept(ctx) if one.id.startswith(id)]
    if not kept:
        raise NotFoundError("There is no such proof.", "Make one: action prove.")
    return kept[0]


def _read(text: str) -> Proof:
    try:
        found = _proof(Record(json.loads(text)))
        bytes.fromhex(found.root)
    except (ValueError, TypeError):
        raise BadInputError("That is no proof.", "Give the JSON that `prove` answered.") from None
    if found.format != FORMAT or found.size < 1:
        raise BadInputError("That is no proof.", "Give the JSON that `prove` answered.")
    return found


def _proof(record: Record) -> Proof:
    text, number = record.text, record.number
    return Proof(
        text("id"), number("size"), number("first"), number("last"), text("root"), text("at"),
        text("key"), text("signature"), text("format") or FORMAT,
    )  # fmt: skip
