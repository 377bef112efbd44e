"""Contracts that limit what agents do: which acts and memory verbs, how sensitive a memory, until when.

A contract is made from another one only narrower, so that along a chain of delegation rights only shrink. It is
signed by this installation: one that was changed on the disk counts for nothing, and neither does what was made
from it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from vector_memory import daemon_verbs
from vector_memory.errors import BadInputError
from vector_memory.model import Sensitivity, levels_up_to
from vector_memory.observe.commands.findings import CATEGORIES
from vector_memory.service.base.context import Context
from vector_memory.system.json_in import Record
from vector_memory.trust import canonical
from vector_memory.trust.keys import Keyring, PrivateKey, PublicKey

SORT, LIFTS = "contract", "lift"
MEMORY_ACTS = ("store", "recall", "change", "forget", "share")
VERBS = {act: daemon_verbs.named(act) for act in MEMORY_ACTS}
"""What may be done with memories, and the verbs that do it; a verb may do several of them. One that does none neither
shows a memory nor stores one."""
OF_WHOLES = frozenset({
    "causal_debug", "flow_debug", "formal_verify", "lessons", "skill_discovery", "stigmergy", "temporal_planner", "time_travel",
    "workflow_author", "world_model", "wrapup",
})  # fmt: skip
"""Verbs that tell what was said and done in whole sessions, or of every row of a store: how sensitive that is, no ceiling can check."""
ACTS = (*CATEGORIES, *VERBS)
"""What a contract may permit or prohibit: what the observer can find, and what is done with memories."""
CEILINGS = tuple(map(str, Sensitivity))
DEEPEST = 8
PURPOSE = "contract"


@dataclass(frozen=True)
class ContractTerms:
    """What a contract says.

    Attributes:
        parent: the id of the contract that it narrows, "" for none.
        subject: whom it limits: a session's id or a subagent's type, "" for every agent. Requests about memories
            come without a subject: only contracts for every agent limit those.
        permitted: acts that are allowed, none for all that are not prohibited.
        rules: sentences for people and models; nothing checks them.
        ceiling: the most sensitive memories that may be given to an agent.
        projects: folders in which it holds, none for all.
        not_after: until when, in ISO form, "" for ever.
    """

    id: str
    name: str
    parent: str = ""
    subject: str = ""
    permitted: tuple[str, ...] = ()
    prohibited: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    ceiling: str = CEILINGS[-1]
    projects: tuple[str, ...] = ()
    not_after: str = ""


@dataclass(frozen=True)
class Contract(ContractTerms):
    """What holds for agents.

    Attributes:
        key: the public key that signed it; signature: in hexadecimal.
    """

    made_at: str = ""
    key: str = ""
    signature: str = ""

    @property
    def signed(self) -> bytes:
        """What its signature stands for: all of it but the signature."""
        return canonical.canonical_bytes(
            {name: value for name, value in asdict(self).items() if name != "signature"}
        )

    @property
    def is_sound(self) -> bool:
        """Whether it is as it was signed."""
        try:
            return PublicKey.read(self.key).has_signed(
                bytes.fromhex(self.signature), PURPOSE, self.signed
            )
        except (BadInputError, ValueError):
            return False

    def forbids(self, act: str) -> bool:
        """Whether it does not allow an act, one of `ACTS`."""
        return act in self.prohibited or bool(self.permitted and act not in self.permitted)


def read(record: Record) -> Contract:
    """Return a contract out of its stored form; what is missing is empty."""
    values: dict[str, Any] = {
        field.name: tuple(record.words(field.name))
        if field.default == ()
        else record.text(field.name)
        for field in fields(Contract)
    }
    return Contract(**values)


def widening(child: Contract, parent: Contract) -> str:
    """Return in what a contract allows more than the one that it is made from, "" for nothing."""
    if parent.permitted and not (child.permitted and set(child.permitted) <= set(parent.permitted)):
        return "it permits acts that its parent does not"
    if not set(child.prohibited) >= set(parent.prohibited):
        return "it does not prohibit all that its parent prohibits"
    if CEILINGS.index(child.ceiling) > CEILINGS.index(parent.ceiling):
        return "its ceiling is above its parent's"
    if parent.not_after and (not child.not_after or child.not_after > parent.not_after):
        return "it lasts longer than its parent"
    if parent.projects and not (child.projects and set(child.projects) <= set(parent.projects)):
        return "it holds in projects in which its parent does not"
    return ""


def chain(contract: Contract, contracts: dict[str, Contract]) -> list[Contract]:
    """Return a contract and those that it was made from, itself first; [] where one of them is missing, was
    changed, or is narrower than what was made from it."""
    line = [contract]
    while line[-1].parent:
        parent = contracts.get(line[-1].parent)
        if parent is None or len(line) >= DEEPEST or widening(line[-1], parent):
            return []
        line.append(parent)
    return line if all(part.is_sound for part in line) else []


def stored_contracts(ctx: Context) -> dict[str, Contract]:
    """Return all contracts of this installation by their ids, whether they hold or not."""
    return {id: read(record) for id, record in ctx.state.records(SORT).items()}


def in_force(ctx: Context, folder: str, subject: Iterable[str] = ()) -> list[Contract]:
    """Return the contracts that hold now for who works in a folder.

    Args:
        folder: the project's, "" for none.
        subject: a session's id and a subagent's type, as far as they are known.
    """
    if not (contracts := stored_contracts(ctx)):
        return []
    own = set(own_keys(ctx))
    now, whom = ctx.now().isoformat(), {"", *subject}
    return [
        contract
        for contract in contracts.values()
        if contract.subject in whom
        and (not contract.not_after or contract.not_after > now)
        and (not contract.projects or _is_within(folder, contract.projects))
        and (links := chain(contract, contracts))
        and all(part.key in own for part in links)
    ]


def own_keys(ctx: Context) -> list[str]:
    """Return the public keys of this installation that were not revoked."""
    return [entry.word for entry in keyring(ctx).entries() if not entry.revoked_at]


def keyring(ctx: Context) -> Keyring:
    """Return this installation's keys."""
    return Keyring(ctx.home.keys)


def signer(ctx: Context, passphrase: str = "") -> PrivateKey:
    """Return the key that this installation signs with; the first time, it is made."""
    return keyring(ctx).signer(ctx.now(), passphrase)


def forbidden(ctx: Context, contracts: Sequence[Contract], act: str) -> Contract | None:
    """Return the first of these contracts that does not allow an act, and was not lifted for it."""
    broken = next((contract for contract in contracts if contract.forbids(act)), None)
    if broken is None:
        return None
    now = ctx.now().isoformat()
    for lift in ctx.state.records(LIFTS).values():
        is_lifted = lift.text("contract") == broken.id and lift.text("until") > now
        if is_lifted and act in lift.words("acts"):
            return forbidden(
                ctx, [contract for contract in contracts if contract.id != broken.id], act
            )
    return broken


def require_allowed(ctx: Context, verb: str, folder: str) -> None:
    """Make sure that contracts let an agent ask for a verb.

    Raises:
        BadInputError: one does not; it says which, and until when.
    """
    acts = [act for act in daemon_verbs.VERBS[verb].words if act in MEMORY_ACTS]
    if not acts:
        return
    contracts = in_force(ctx, folder)
    if verb in OF_WHOLES and levels_up_to(*(contract.ceiling for contract in contracts)):
        raise BadInputError(
            "That is made of whole sessions or stores, and a contract's ceiling holds here.",
            "Single memories you may ask for (memory_recall); this only the user may.",
        )
    for act in acts:
        if (broken := forbidden(ctx, contracts, act)) is None:
            continue
        until = f" until {broken.not_after[:16]}" if broken.not_after else ""
        raise BadInputError(
            f"The contract {broken.name!r} does not let agents {act} memories{until}.",
            "Only the user changes it: constitutional_contract, action revoke.",
        )


def _is_within(folder: str, roots: Sequence[str]) -> bool:
    return any(folder == root or folder.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
