"""`share init`, `invite`, `status` and `revoke`: with whom a project's memories are shared, and where."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable
from dataclasses import replace

from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError
from vector_memory.model import JURISDICTIONS, Memory
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.sharing import contents, pull, team
from vector_memory.service.sharing.places import require_apart
from vector_memory.service.sharing.pull import ShareRequest
from vector_memory.service.sharing.team import LeftPlace, Member, SharedProject, TeamShare
from vector_memory.trust.keys import KeyEntry, PublicKey


class ShareInitAnswer(messages.Answer):
    """A project that is shared now: where, as which team, and where the list of members stands.

    Attributes:
        taken_back: the place of before, where nothing of one's own lies any more.
        left: places at which it still lies, with why it could not be taken back.
    """

    url: str
    team: str
    members: str
    key: str
    fingerprint: str
    taken_back: str | None = messages.spare()
    left: dict[str, str] | None = messages.spare()


class InviteRequest(ShareRequest):
    """Tell this installation's key, or take somebody's key into the list of members, with the law that this one's
    copies lie under."""

    key: str = messages.word()
    name: str = messages.word()
    jurisdiction: str = messages.one_of(JURISDICTIONS)


class ShareInitRequest(InviteRequest):
    """Share a project at a place.

    Attributes:
        name: what the list of members calls this user.
        jurisdiction: under whose law this installation's copies lie.
        leave: move although what was published cannot be taken back where it lies.
    """

    to: str = messages.text(2_000)
    leave: bool = messages.flag()


class InviteAnswer(messages.Answer):
    """A key: what others need of it, and what to compare.

    Attributes:
        members: the list of members that it stands in now, None where it stands in none.
    """

    key: str
    fingerprint: str
    name: str
    members: str | None = messages.spare()


class MemberView(messages.Answer):
    """A member: the newest bundle that was taken, and how many memories are here of it; of oneself, the newest that was
    published, and how many memories are in it.

    Attributes:
        state: `own`, `member`, `revoked`.
    """

    key: str
    name: str
    fingerprint: str
    state: str
    seq: int
    memories: int
    jurisdiction: str


class StatusAnswer(messages.Answer):
    """How a project is shared: where, which kinds and tags, what was published last, and the members; and at which
    places of before something of one's own still lies."""

    url: str
    team: str
    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    published: int
    memories: int
    members: list[MemberView]
    left: list[str] | None = messages.spare()


class RevokeRequest(ShareRequest):
    """Give up a member's key, by its id, its word or the member's name; one's own takes back what was shared."""

    key: str = messages.text(200)


class RevokeAnswer(messages.Answer):
    """A key that counts no more, and how many of its memories went; one's own: where it still lies, and why."""

    key: str
    name: str
    removed: int
    left: dict[str, str] | None = messages.spare()


class RejectRequest(messages.Request):
    """Memories that others shared, by their ids or how these begin: they are not wanted here."""

    ids: tuple[str, ...] = messages.words()


class RejectAnswer(messages.Answer):
    """How many memories of others went from here."""

    rejected: int


def init(ctx: Context, request: ShareInitRequest) -> ShareInitAnswer:
    """Begin to share a project at a place, or at another one: what was published at the one before is taken back.

    Raises:
        BadInputError: an agent asks; it is no place to share at, or another project's; the place of before cannot be
            reached.
        NotFoundError: there is no such place; or the list of members is missing, though others are known.

    Returns:
        How sharing stands now.
    """
    request.require_user("decides where memories are shared")
    project = team.shared_project(ctx, messages.place_of(ctx, request))
    place = pull.place_of(ctx, project, request.to, request.access)
    if project.place:
        require_apart(project.root, request.to)
    own_entry = contracts.keyring(ctx).ensure(ctx.now(), request.passphrase)
    with team.sharing:
        place.refresh()
        existing_team = pull.team_at(place)
        name = existing_team or os.urandom(16).hex()
        team.require_sole(ctx, project, name)
        share_before = team.share_of(ctx, project) or TeamShare(request.to, name)
        team.require_known(project, share_before, _own_public_keys(ctx))
        if not existing_team:
            # Before the first write to the new place the old one is reached, and only after it something is taken back
            # there. Two bare repositories share our one copy, so each `refresh` fetches it anew.
            _require_reached(ctx, project, share_before, request)
            place.refresh()
            place.write(pull.TEAM, json.dumps({"team": name}).encode())
            place.finish()
        share, left = _move(ctx, project, share_before, request)
        place.refresh()
        if name != share_before.team:
            # What was published for another team can be read by nobody there; what was seen or published before is void.
            pull.take_back(ctx, place)
            published = team.Published(seq=share.published.seq)
            share = replace(share, team=name, seen={}, published=published)
        team.save(ctx, project, share)
    if project.place:
        ctx.know_project(ctx.shelf_of(project.place), project.place)
    path = _admit(ctx, project, own_entry, request.name, request.jurisdiction)
    ctx.state.audit("share", request.actor, [], {"action": "init", "project": project.id})
    is_taken_back = share_before.url not in (request.to, *left) and share_before.published.digest
    taken_back = share_before.url if is_taken_back else None
    key = own_entry.word, own_entry.public.fingerprint
    return ShareInitAnswer(request.to, name, path, *key, taken_back, left or None)


def _require_reached(
    ctx: Context, project: SharedProject, share: TeamShare, request: ShareInitRequest
) -> None:
    """Make sure that what was published at the place of before can be taken back, or is to be left.

    Raises:
        BadInputError: it cannot, and it was not asked to leave it.
    """
    if share.url == request.to or not share.published.digest or request.leave:
        return
    try:
        pull.open_place(ctx, project, share, request.access)
    except VectorMemoryError as error:
        raise _would_stay(share.url, str(error)) from None


def _would_stay(url: str, why: str) -> BadInputError:
    return BadInputError(
        f"What you published at {url} would stay there: {why}",
        "Mount what is missing; with --leave it stays until a `share publish` reaches it.",
    )


def _move(
    ctx: Context, project: SharedProject, share: TeamShare, request: ShareInitRequest
) -> tuple[TeamShare, dict[str, str]]:
    """Return a project as it is shared at the place that was asked for, and the places where what was published
    before could not be taken back, with why.

    Raises:
        BadInputError: the place of before is one, and it was not asked to leave it.
    """
    left = [former_place for former_place in share.left if former_place.url != request.to]
    if share.url != request.to and share.published.digest:
        left.append(LeftPlace(share.url, share.team, tuple(share.published.contents)))
    still_left = pull.take_back_left(ctx, project, left, request.access)
    reasons = {former_place.url: reason for former_place, reason in still_left.items()}
    if share.url in reasons and not request.leave:
        raise _would_stay(share.url, reasons[share.url])
    return replace(share, url=request.to, left=tuple(still_left)), reasons


def _own_public_keys(ctx: Context) -> list[PublicKey]:
    """Return this installation's keys, the older ones, too."""
    return [entry.public for entry in contracts.keyring(ctx).entries()]


def _admit(ctx: Context, project: SharedProject, own_entry: KeyEntry, name: str, law: str) -> str:
    """Put this installation's key into the list of members, in the place of its older ones, and return the
    list's path."""
    listed_members = team.members(project)
    older = [entry.public for entry in contracts.keyring(ctx).entries() if entry != own_entry]
    former_name = next((member.name for member in listed_members if member.key in older), "")
    listed_members = [member for member in listed_members if member.key not in older]
    own_member = next((member for member in listed_members if member.key == own_entry.public), None)
    law = law or (own_member.law if own_member else "")
    if (
        own_member is not None
        and (name or own_member.name, law) == (own_member.name, own_member.law)
        and not former_name
    ):
        return os.path.join(project.root, team.FILE)
    member_name = team.name_of(name or former_name or (own_member.name if own_member else _login()))
    return team.write_members(
        project,
        [
            *team.without_key(listed_members, own_entry.public),
            Member(member_name, own_entry.public, law),
        ],
    )


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "me"


def invite(ctx: Context, request: InviteRequest) -> InviteAnswer:
    """Return this installation's key, which others need, and enter it into the project's list of members if
    the project is shared; or enter somebody else's.

    Raises:
        BadInputError: an agent asks; it is no key, or has no name.
        NotFoundError: the list of members is missing, though others are known.
    """
    request.require_user("decides who is in a team")
    project = team.shared_project(ctx, messages.place_of(ctx, request))
    share = team.share_of(ctx, project)
    entry = contracts.keyring(ctx).ensure(ctx.now(), request.passphrase)
    if not request.key or request.key == entry.word:
        if share and not request.key:
            team.require_known(project, share, _own_public_keys(ctx))
        path = _admit(ctx, project, entry, request.name, request.jurisdiction) if share else None
        name = next(
            (member.name for member in team.members(project) if member.key == entry.public), ""
        )
        return InviteAnswer(entry.word, entry.public.fingerprint, name or _login(), path)
    share = share or team.require_share(ctx, project)
    name = team.name_of(request.name or "member")
    member = Member(name, PublicKey.read(request.key), request.jurisdiction)
    listed_members = team.without_key(team.members(project), member.key)
    path = team.write_members(project, [*listed_members, member])
    revoked = tuple(word for word in share.revoked if word != member.key.word)
    team.save(ctx, project, replace(share, revoked=revoked))
    ctx.state.audit("share", request.actor, [], {"action": "invite", "key": member.key.id})
    return InviteAnswer(member.key.word, member.key.fingerprint, member.name, path)


def status(ctx: Context, request: ShareRequest) -> StatusAnswer:
    """Return how a project is shared.

    Raises:
        NotFoundError: it is not.
    """
    project = team.shared_project(ctx, messages.place_of(ctx, request))
    share = team.require_share(ctx, project)
    own_entry, published = contracts.keyring(ctx).current, share.published
    views = []
    for member in team.members(project):
        bundle = share.seen.get(member.key.id)
        is_own = own_entry is not None and own_entry.public == member.key
        state = "own" if is_own else "revoked" if member.key.word in share.revoked else "member"
        numbers = (bundle.seq, bundle.memories) if bundle else (0, 0)
        if is_own:
            numbers = (published.seq, len(published.contents))
        identity = (member.key.word, member.name, member.key.fingerprint, state)
        views.append(MemberView(*identity, *numbers, member.law))
    return StatusAnswer(
        share.url,
        share.team,
        share.kinds or contents.KINDS,
        share.tags,
        published.seq,
        len(published.contents),
        views,
        [left.url for left in share.left] or None,
    )


def revoke(ctx: Context, request: RevokeRequest) -> RevokeAnswer:
    """Give up a member's key: what it shared goes from here at once, and what is published from now on is
    sealed without it. One's own: what was published is removed from the place.

    Raises:
        BadInputError: an agent asks.
        NotFoundError: no member has that key.
    """
    request.require_user("decides who is in a team")
    project = team.shared_project(ctx, messages.place_of(ctx, request))
    share, listed_members = team.require_share(ctx, project), team.members(project)
    name = request.key
    matches = [
        member for member in listed_members if name in (member.name, member.key.id, member.key.word)
    ]
    if len(matches) != 1:
        raise NotFoundError(
            f"{len(matches) or 'No'} members are called {name[:60]!r}.",
            "`share status` shows their keys.",
        )
    member, own_entry = matches[0], contracts.keyring(ctx).current
    left: dict[LeftPlace, str] = {}
    if own_entry is not None and member.key == own_entry.public:
        pull.take_back(ctx, pull.open_place(ctx, project, share, request.access))
        left = pull.take_back_left(ctx, project, share.left, request.access)
        # Numbers go on: others refuse an older one.
        published = team.Published(seq=share.published.seq)
        share = replace(share, published=published, left=tuple(left))
    else:
        share = replace(share, revoked=(*share.revoked, member.key.word))
    seen = {id: bundle for id, bundle in share.seen.items() if id != member.key.id}
    team.save(ctx, project, replace(share, seen=seen))
    team.write_members(project, team.without_key(listed_members, member.key))
    removed = pull.remove_shared(ctx, project, {member.key.word})
    ctx.state.audit("share", request.actor, [], {"action": "revoke", "key": member.key.id})
    left_urls = {former_place.url: why for former_place, why in left.items()} or None
    return RevokeAnswer(member.key.word, member.name, removed, left_urls)


def reject(ctx: Context, request: RejectRequest) -> RejectAnswer:
    """Remove memories that others shared from here; as they are now, no pull brings them again, whoever shares them.

    Returns:
        How many went.

    Raises:
        BadInputError: an agent asks, or one of them is this user's own.
        NotFoundError: there is none of an id.
    """
    request.require_user("decides what is kept of what others shared")
    pairs = [lookup(ctx, id, shared=True) for id in request.ids]
    if own_memories := [memory for _, memory in pairs if not memory.author]:
        raise BadInputError(
            f"{own_memories[0].id[:12]} is your own.", "`vector-memory forget` removes it."
        )
    ids = [memory.id for _, memory in pairs]
    note_rejected(ctx, [memory for _, memory in pairs])
    for shelf, memory in pairs:
        shelf.journal.write((), (), [memory.id])
    ctx.notify()
    ctx.state.audit("share", request.actor, ids, {"action": "reject"})
    return RejectAnswer(len(ids))


def note_rejected(ctx: Context, memories: Iterable[Memory], damaged: Iterable[str] = ()) -> None:
    """Note that no pull is to bring these memories of others again, under whatever key, before they are removed.

    Args:
        damaged: ids of those that cannot be read, or are gone.
    """
    noted_at, noted_ids = (
        ctx.now().isoformat(timespec="seconds"),
        ctx.state.records(pull.REJECTED).keys(),
    )
    # One that was noted before keeps its record, with the hash of its words.
    for id in set(damaged) - noted_ids:
        ctx.state.put_record(pull.REJECTED, id, {"at": noted_at})
    for memory in memories:
        words = contents.hash_of_words(memory)
        ctx.state.put_record(pull.REJECTED, memory.id, {"at": noted_at, pull.WORDS: words})
        if memory.id not in noted_ids:
            _note_removed(ctx, memory)


def _note_removed(ctx: Context, memory: Memory) -> None:
    """Count one memory less of its author."""
    with team.sharing:
        project, id = (
            SharedProject(None, "", memory.project),
            PublicKey.read(memory.author["key"]).id,
        )
        share = team.share_of(ctx, project)
        if share and id in share.seen:
            bundle = replace(share.seen[id], memories=max(0, share.seen[id].memories - 1))
            team.save(ctx, project, replace(share, seen={**share.seen, id: bundle}))
