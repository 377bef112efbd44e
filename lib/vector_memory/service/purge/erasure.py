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


def projects_shared_with(ctx: Context, selection: PurgeSelection) -> list[SharedProject]:
    """Return the projects in which something that goes was published, or may have been: where what is noted of the sharing
    cannot be read."""
    ids = set(selection.ids)
    roots = [
        project.root
        for part in selection.parts
        for project in part.shelf.journal.projects()
        if project.root and project.id in {memory.project for memory in part.memories}
    ]
    projects = [team.shared_project(ctx, ctx.place(root)) for root in dict.fromkeys(roots)]
    projects.append(team.shared_project(ctx, None))
    concerned = []
    for project in projects:
        try:
            share = team.share_of(ctx, project)
        except VectorMemoryError:
            concerned.append(project)
            continue
        contents = (
            [share.published.contents, *(left.contents for left in share.left)] if share else []
        )
        if not all(map(ids.isdisjoint, contents)):
            concerned.append(project)
    return concerned


def take_back(
    ctx: Context, request: PurgeRequest, projects: list[SharedProject], removed_ids: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Publish anew, without what is gone, what was published before in these projects: nothing new goes out. Without a
    certificate it is only said how to do that.

    Args:
        removed_ids: the ids of what is gone, which may lie at a place that was left before.

    Returns:
        The folders for which that was done, and those for which it was not, with why.
    """
    from vector_memory.service.sharing import publish

    if not request.certificate:
        waits = "What was published of it lies there still; `vector-memory share publish` takes it back."
        return [], {project.root: waits for project in projects}
    taken_back, failed = [], {}
    for project in projects:
        project_fields = (
            {"project": project.root, "cwd": project.root} if project.place else {"global": True}
        )
        access_fields = {
            "access": request.access,
            "passphrase": request.passphrase,
            "actor": request.actor,
        }
        publish_request = messages.read(
            publish.PublishRequest, {**project_fields, **access_fields, "only_known": True}
        )
        try:
            reasons_by_url = publish.publish(ctx, publish_request, lambda *_: None).left or {}
            left = team.require_share(ctx, project).left
            reasons = [
                reasons_by_url[place.url]
                for place in left
                if not set(removed_ids).isdisjoint(place.contents)
            ]
        except VectorMemoryError as error:
            reasons = [str(error)]
        if reasons:
            failed[project.root] = (
                f"{' '.join(reasons)} `vector-memory share publish` takes it back there."
            )
        else:
            taken_back.append(project.root)
    return taken_back, failed


def certificate(ctx: Context, request: PurgeRequest) -> str:
    """Return the file of a signed proof that the log has the entry of this purge.

    Raises:
        BadInputError: the key needs a passphrase.
    """
    from vector_memory.service.upkeep import proofs

    ctx.state.flush()
    entries = [row for row in ctx.state.audit_rows() if row.action == ACTION]
    prove_request = proofs.ProveRequest(
        entry=entries[-1].number, passphrase=request.passphrase, actor=request.actor
    )
    return proofs.prove(ctx, prove_request).file
