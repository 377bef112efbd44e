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
from vector_memory.service.sharing.team import Corner, Left, Member, TeamShare
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
    corner = team.corner_of(ctx, messages.place_of(ctx, request))
    place = pull.place_of(ctx, corner, request.to, request.access)
    if corner.place:
        require_apart(corner.root, request.to)
    own = contracts.keyring(ctx).ensure(ctx.now(), request.passphrase)
    with team.sharing:
        place.refresh()
        there = pull.team_at(place)
        name = there or os.urandom(16).hex()
        team.require_sole(ctx, corner, name)
        before = team.share_of(ctx, corner) or TeamShare(request.to, name)
        team.require_known(corner, before, _own(ctx))
        if not there:
            # Nothing is written there before it is known that the old place is reached, and nothing taken back from that
            # one before the new one took something: our copy of two bare repositories is one, and is asked for anew.
            _require_reached(ctx, corner, before, request)
            place.refresh()
            place.write(pull.TEAM, json.dumps({"team": name}).encode())
            place.finish()
        share, left = _moved(ctx, corner, before, request)
        place.refresh()
        if name != before.team:
            # What was published for another team lies there for nobody; nothing that was seen or published counts.
            pull.take_back(ctx, place)
            published = team.Published(seq=share.published.seq)
            share = replace(share, team=name, seen={}, published=published)
        team.save(ctx, corner, share)
    if corner.place:
        ctx.know_project(ctx.shelf_of(corner.place), corner.place)
    path = _admit(ctx, corner, own, request.name, request.jurisdiction)
    ctx.state.audit("share", request.actor, [], {"action": "init", "project": corner.id})
    is_taken_back = before.url not in (request.to, *left) and before.published.digest
    told = before.url if is_taken_back else None
    key = own.word, own.public.fingerprint
    return ShareInitAnswer(request.to, name, path, *key, told, left or None)


def _require_reached(
    ctx: Context, corner: Corner, share: TeamShare, request: ShareInitRequest
) -> None:
    """Make sure that what was published at the place of before can be taken back, or is to be left.

    Raises:
        BadInputError: it cannot, and it was not asked to leave it.
    """
    if share.url == request.to or not share.published.digest or request.leave:
        return
    try:
        pull.opened(ctx, corner, share, request.access)
    except VectorMemoryError as error:
        raise _would_stay(share.url, str(error)) from None


def _would_stay(url: str, why: str) -> BadInputError:
    return BadInputError(
        f"What you published at {url} would stay there: {why}",
        "Mount what is missing; with --leave it stays until a `share publish` reaches it.",
    )


def _moved(
    ctx: Context, corner: Corner, share: TeamShare, request: ShareInitRequest
) -> tuple[TeamShare, dict[str, str]]:
    """Return a project as it is shared at the place that was asked for, and the places where what was published
    before could not be taken back, with why.

    Raises:
        BadInputError: the place of before is one, and it was not asked to leave it.
    """
    left = [one for one in share.left if one.url != request.to]
    if share.url != request.to and share.published.digest:
        left.append(Left(share.url, share.team, tuple(share.published.contents)))
    still = pull.still_left(ctx, corner, left, request.access)
    why = {one.url: reason for one, reason in still.items()}
    if share.url in why and not request.leave:
        raise _would_stay(share.url, why[share.url])
    return replace(share, url=request.to, left=tuple(still)), why


def _own(ctx: Context) -> list[PublicKey]:
    """Return this installation's keys, the older ones, too."""
    return [entry.public for entry in contracts.keyring(ctx).entries()]


def _admit(ctx: Context, corner: Corner, own: KeyEntry, name: str, law: str) -> str:
    """Put this installation's key into the list of members, in the place of its older ones, and return the
    list's path."""
    listed = team.members(corner)
    older = [entry.public for entry in contracts.keyring(ctx).entries() if entry != own]
    called_before = next((member.name for member in listed if member.key in older), "")
    listed = [member for member in listed if member.key not in older]
    own_member = next((member for member in listed if member.key == own.public), None)
    law = law or (own_member.law if own_member else "")
    if (
        own_member is not None
        and (name or own_member.name, law) == (own_member.name, own_member.law)
        and not called_before
    ):
        return os.path.join(corner.root, team.FILE)
    called = team.name_of(name or called_before or (own_member.name if own_member else _login()))
    return team.write_members(
        corner, [*team.without(listed, own.public), Member(called, own.public, law)]
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
    corner = team.corner_of(ctx, messages.place_of(ctx, request))
    share = team.share_of(ctx, corner)
    own = contracts.keyring(ctx).ensure(ctx.now(), request.passphrase)
    if not request.key or request.key == own.word:
        if share and not request.key:
            team.require_known(corner, share, _own(ctx))
        path = _admit(ctx, corner, own, request.name, request.jurisdiction) if share else None
        name = next((m.name for m in team.members(corner) if m.key == own.public), "")
        return InviteAnswer(own.word, own.public.fingerprint, name or _login(), path)
    share = share or team.require_share(ctx, corner)
    name = team.name_of(request.name or "member")
    member = Member(name, PublicKey.read(request.key), request.jurisdiction)
    listed = team.without(team.members(corner), member.key)
    path = team.write_members(corner, [*listed, member])
    revoked = tuple(word for word in share.revoked if word != member.key.word)
    team.save(ctx, corner, replace(share, revoked=revoked))
    ctx.state.audit("share", request.actor, [], {"action": "invite", "key": member.key.id})
    return InviteAnswer(member.key.word, member.key.fingerprint, member.name, path)


def status(ctx: Context, request: ShareRequest) -> StatusAnswer:
    """Return how a project is shared.

    Raises:
        NotFoundError: it is not.
    """
    corner = team.corner_of(ctx, messages.place_of(ctx, request))
    share = team.require_share(ctx, corner)
    own, published = contracts.keyring(ctx).current, share.published
    views = []
    for member in team.members(corner):
        seen = share.seen.get(member.key.id)
        is_own = own is not None and own.public == member.key
        state = "own" if is_own else "revoked" if member.key.word in share.revoked else "member"
        numbers = (seen.seq, seen.memories) if seen else (0, 0)
        if is_own:
            numbers = (published.seq, len(published.contents))
        about = (member.key.word, member.name, member.key.fingerprint, state)
        views.append(MemberView(*about, *numbers, member.law))
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
    corner = team.corner_of(ctx, messages.place_of(ctx, request))
    share, listed = team.require_share(ctx, corner), team.members(corner)
    name = request.key
    named = [member for member in listed if name in (member.name, member.key.id, member.key.word)]
    if len(named) != 1:
        raise NotFoundError(
            f"{len(named) or 'No'} members are called {name[:60]!r}.",
            "`share status` shows their keys.",
        )
    member, own = named[0], contracts.keyring(ctx).current
    left: dict[Left, str] = {}
    if own is not None and member.key == own.public:
        pull.take_back(ctx, pull.opened(ctx, corner, share, request.access))
        left = pull.still_left(ctx, corner, share.left, request.access)
        # Numbers go on: others refuse an older one.
        published = team.Published(seq=share.published.seq)
        share = replace(share, published=published, left=tuple(left))
    else:
        share = replace(share, revoked=(*share.revoked, member.key.word))
    seen = {id: last for id, last in share.seen.items() if id != member.key.id}
    team.save(ctx, corner, replace(share, seen=seen))
    team.write_members(corner, team.without(listed, member.key))
    removed = pull.drop(ctx, corner, {member.key.word})
    ctx.state.audit("share", request.actor, [], {"action": "revoke", "key": member.key.id})
    told = {one.url: why for one, why in left.items()} or None
    return RevokeAnswer(member.key.word, member.name, removed, told)


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
    if own := [memory for _, memory in pairs if not memory.author]:
        raise BadInputError(f"{own[0].id[:12]} is your own.", "`vector-memory forget` removes it.")
    ids = [memory.id for _, memory in pairs]
    refuse(ctx, [memory for _, memory in pairs])
    for shelf, memory in pairs:
        shelf.journal.write((), (), [memory.id])
    ctx.notify()
    ctx.state.audit("share", request.actor, ids, {"action": "reject"})
    return RejectAnswer(len(ids))


def refuse(ctx: Context, memories: Iterable[Memory], damaged: Iterable[str] = ()) -> None:
    """Note of memories that others shared that no pull is to bring them again, under whatever key, before they go.

    Args:
        damaged: ids of those that cannot be read, or are gone.
    """
    at, before = ctx.now().isoformat(timespec="seconds"), ctx.state.records(pull.REJECTED).keys()
    # Of one that was noted and is gone already, its words' hash stays.
    for id in set(damaged) - before:
        ctx.state.put_record(pull.REJECTED, id, {"at": at})
    for memory in memories:
        words = contents.hash_of_words(memory)
        ctx.state.put_record(pull.REJECTED, memory.id, {"at": at, pull.WORDS: words})
        if memory.id not in before:
            _note_gone(ctx, memory)


def _note_gone(ctx: Context, memory: Memory) -> None:
    """Note that one memory less of its author is here."""
    with team.sharing:
        corner, id = Corner(None, "", memory.project), PublicKey.read(memory.author["key"]).id
        share = team.share_of(ctx, corner)
        if share and id in share.seen:
            left = replace(share.seen[id], memories=max(0, share.seen[id].memories - 1))
            team.save(ctx, corner, replace(share, seen={**share.seen, id: left}))
