"""A signed statement of what a log holds: its Merkle root and size. With it, anybody can check offline that an
entry was in the log, and that a later log continues it.

It shows that the log was not changed since by somebody without the key. It does not show that everything was
logged, and nothing against who holds the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.model import is_hex
from vector_memory.trust import canonical, merkle
from vector_memory.trust.keys import PrivateKey, PublicKey

PURPOSE = "log root 1"


class RefusedProofError(VectorMemoryError):
    """A proof does not show what it says."""

    advice = "Ask whoever made it for the file as it was written."


@dataclass(frozen=True)
class LogStatement:
    """What somebody signed of a log.

    Attributes:
        size: how many entries there were; `root` their Merkle root, in hexadecimal.
        last: the number of the newest entry.
        at: when, in ISO form.
        key: whose word it is; `signature` 128 hexadecimal digits.
    """

    size: int
    root: str
    last: int
    at: str
    key: str
    signature: str

    @property
    def message(self) -> bytes:
        """What is signed."""
        fields = {"at": self.at, "key": self.key, "last": self.last, "root": self.root}
        return canonical.canonical_bytes({**fields, "size": self.size})


@dataclass(frozen=True)
class Inclusion:
    """That an entry is number `index` (from 0) of the entries of a statement.

    Attributes:
        entry: it as JSON values.
        path: hashes from the entry up to the root, in hexadecimal.
    """

    entry: dict[str, Any]
    index: int
    path: list[str]
    statement: LogStatement


@dataclass(frozen=True)
class Continuation:
    """That the log of an earlier statement became that of a later one: nothing that it held was changed or left out.

    Attributes:
        path: hashes by which the later root is made of the earlier one, in hexadecimal.
    """

    earlier: LogStatement
    path: list[str]
    statement: LogStatement


def leaf(entry: Mapping[str, Any]) -> bytes:
    """Return the hash of an entry."""
    return merkle.leaf(canonical.canonical_bytes(dict(entry)))


def sign_statement(key: PrivateKey, leaves: Sequence[bytes], last: int, at: str) -> LogStatement:
    """Return a signed statement of a log with these hashes of entries."""
    root = merkle.root(leaves).hex()
    unsigned = LogStatement(len(leaves), root, last, at, key.public.word, "")
    return replace(unsigned, signature=key.sign(PURPOSE, unsigned.message).hex())


def statement_of(document: object) -> LogStatement:
    """Return a statement whose signature was found to be right.

    Raises:
        RefusedProofError: it is none, or somebody changed it.
    """
    try:
        if not isinstance(document, dict):
            raise ValueError("it is no object")
        statement = LogStatement(**document)
        kinds = {"size": int, "last": int}
        if any(type(value) is not kinds.get(name, str) for name, value in document.items()):
            raise ValueError("a field is of another kind")
        if not is_hex(statement.root, 64):
            raise ValueError("its root is no hash")
        signature = bytes.fromhex(statement.signature)
        if signature.hex() != statement.signature:
            raise ValueError("its signature is not written as it should be")
        is_signed = PublicKey.read(statement.key).has_signed(signature, PURPOSE, statement.message)
    except (TypeError, ValueError, BadInputError) as error:
        raise RefusedProofError(f"That is no statement about a log: {error}.") from None
    if not is_signed:
        raise RefusedProofError("The statement was changed, or signed by another key.")
    return statement


def prove_inclusion(
    leaves: Sequence[bytes], entry: Mapping[str, Any], index: int, statement: LogStatement
) -> Inclusion:
    """Return the proof that an entry is in a log.

    Raises:
        ValueError: there is none of that index.
    """
    path = [step.hex() for step in merkle.inclusion(leaves, index)]
    return Inclusion(dict(entry), index, path, statement)


def prove_continuation(
    leaves: Sequence[bytes], earlier: LogStatement, statement: LogStatement
) -> Continuation:
    """Return the proof that a log continues an earlier statement about it.

    Raises:
        RefusedProofError: it does not.
    """
    try:
        path = merkle.consistency(leaves, earlier.size)
    except ValueError:
        path = []
    continuation = Continuation(earlier, [step.hex() for step in path], statement)
    return _checked_continuation(continuation, path)


def proof_of(document: object) -> LogStatement | Inclusion | Continuation:
    """Return a proof that was found to be right: of a root, of an entry, or that one root continues another.

    Raises:
        RefusedProofError: it does not show what it says.
    """
    if not isinstance(document, dict) or "statement" not in document:
        return statement_of(document)
    return inclusion_of(document) if "entry" in document else continuation_of(document)


def inclusion_of(document: object) -> Inclusion:
    """Return a proof about an entry that was found to be right.

    Raises:
        RefusedProofError: it does not show it.
    """
    if not isinstance(document, dict) or set(document) != {"entry", "index", "path", "statement"}:
        raise RefusedProofError("That is no proof about an entry.")
    statement, path = statement_of(document["statement"]), _path(document["path"])
    try:
        if type(document["index"]) is not int:
            raise ValueError("its index is no number")
        top = bytes.fromhex(statement.root)
        is_included = merkle.is_included(
            leaf(document["entry"]), document["index"], statement.size, path, top
        )
    except (TypeError, ValueError) as error:
        raise RefusedProofError(f"That is no proof about an entry: {error}.") from None
    if not is_included:
        raise RefusedProofError("The entry is not in the log that the statement is about.")
    return Inclusion(document["entry"], document["index"], document["path"], statement)


def continuation_of(document: object) -> Continuation:
    """Return a proof that one root continues another that was found to be right.

    Raises:
        RefusedProofError: it does not show it.
    """
    if not isinstance(document, dict) or set(document) != {"earlier", "path", "statement"}:
        raise RefusedProofError("That is no proof that a log goes on.")
    ends = statement_of(document["earlier"]), statement_of(document["statement"])
    return _checked_continuation(
        Continuation(ends[0], document["path"], ends[1]), _path(document["path"])
    )


def _checked_continuation(continuation: Continuation, path: Sequence[bytes]) -> Continuation:
    earlier, later = continuation.earlier, continuation.statement
    roots = bytes.fromhex(earlier.root), bytes.fromhex(later.root)
    if not merkle.is_consistent(earlier.size, later.size, *roots, path):
        raise RefusedProofError("The later log does not continue the earlier one.")
    return continuation


def _path(steps: object) -> list[bytes]:
    try:
        path = [bytes.fromhex(step) for step in steps]  # type: ignore[attr-defined]
        if [step.hex() for step in path] != steps:
            raise ValueError("it is not written as it should be")
    except (TypeError, ValueError) as error:
        raise RefusedProofError(f"Its path is none: {error}.") from None
    return path
