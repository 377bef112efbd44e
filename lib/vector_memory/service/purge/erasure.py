"""What a purge does beyond this machine: teams that were given what goes are told by a new bundle without it, and a signed
proof says what was done, by ids and counts, without a word of what went."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.errors import VectorMemoryError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.purge.selection import PurgeRequest, PurgeSelection
from vector_memory.service.sharing import team
from vector_memory.service.sharing.team import SharedProject

ACTION = "purge"
"""The entry of the audit log that a certificate is about."""


def shared_with(ctx: Context, chosen: PurgeSelection) -> list[SharedProject]:
    """Return where something that goes was published, or may have been: what is noted of it cannot be read."""
    going = set(chosen.ids)
    roots = [
        project.root
        for part in chosen.parts
        for project in part.shelf.journal.projects()
        if project.root and project.id in {memory.project for memory in part.memories}
    ]
    corners = [team.shared_project(ctx, ctx.place(root)) for root in dict.fromkeys(roots)]
    corners.append(team.shared_project(ctx, None))
    concerned = []
    for corner in corners:
        try:
            share = team.share_of(ctx, corner)
        except VectorMemoryError:
            concerned.append(corner)
            continue
        lying = [share.published.contents, *(left.contents for left in share.left)] if share else []
        if not all(map(going.isdisjoint, lying)):
            concerned.append(corner)
    return concerned


def take_back(
    ctx: Context, request: PurgeRequest, corners: list[SharedProject], gone: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Publish there what was published before without what is gone: nothing new goes out. Without a certificate it is
    only told.

    Args:
        gone: the ids of what is gone, which may lie at a place that was left before.

    Returns:
        The folders for which that was done, and those for which it was not, with why.
    """
    from vector_memory.service.sharing import publish

    if not request.certificate:
        waits = "What was published of it lies there still; `vector-memory share publish` takes it back."
        return [], {corner.root: waits for corner in corners}
    taken, failed = [], {}
    for corner in corners:
        where = {"project": corner.root, "cwd": corner.root} if corner.place else {"global": True}
        keys = {"access": request.access, "passphrase": request.passphrase, "actor": request.actor}
        asked = messages.read(publish.PublishRequest, {**where, **keys, "only_known": True})
        try:
            told = publish.publish(ctx, asked, lambda *_: None).left or {}
            left = team.require_share(ctx, corner).left
            why = [told[one.url] for one in left if not set(gone).isdisjoint(one.contents)]
        except VectorMemoryError as error:
            why = [str(error)]
        if why:
            failed[corner.root] = (
                f"{' '.join(why)} `vector-memory share publish` takes it back there."
            )
        else:
            taken.append(corner.root)
    return taken, failed


def certificate(ctx: Context, request: PurgeRequest) -> str:
    """Return the file of a signed proof that the log has the entry of this purge.

    Raises:
        BadInputError: the key needs a passphrase.
    """
    from vector_memory.service.upkeep import proofs

    ctx.state.flush()
    entries = [row for row in ctx.state.audit_rows() if row.action == ACTION]
    asked = proofs.ProveRequest(
        entry=entries[-1].number, passphrase=request.passphrase, actor=request.actor
    )
    return proofs.prove(ctx, asked).file
