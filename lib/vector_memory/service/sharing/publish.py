"""`share publish`: what goes out is looked at first, then sealed and signed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.model import Progress, Scope
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.service.sharing import contents, pull, team
from vector_memory.service.sharing.contents import Shared
from vector_memory.service.sharing.places import SharedPlace, require_apart
from vector_memory.service.sharing.pull import ShareRequest
from vector_memory.service.sharing.team import Member, Published, TeamShare
from vector_memory.trust import bundles
from vector_memory.trust.bundles import BundlePosition
from vector_memory.trust.keys import PrivateKey

MOST_SHOWN = 200
SHOWN_CHARS = 300
TELL_EVERY = 500
MOST_STEPS = 16
"""After how many bundles that continue one another a whole one is published."""


class PublishRequest(ShareRequest):
    """Publish a project's memories.

    Attributes:
        kinds: which kinds; those of the last time where none are named. `tags` likewise.
        dry_run: only tell what would go.
        reviewed: the `digest` of what somebody looked at: nothing else is published. "" for whatever it is.
        only_known: publish nothing that was not published before: what is gone is taken back.
    """

    kinds: tuple[str, ...] = messages.words("kind")
    tags: tuple[str, ...] = messages.words("tag")
    dry_run: bool = messages.flag()
    reviewed: str = messages.word()
    only_known: bool = messages.flag()


class SharedView(messages.Answer):
    """A memory that is or would be published."""

    id: str
    kind: str
    text: str


class PublishAnswer(messages.Answer):
    """What was published.

    Attributes:
        seq: the bundle's number.
        memories: how many there are in all that this member shares; `bytes` how large the new bundle is.
        fresh: those of them that were not published before, two hundred at most; `new` is their number.
        gone: how many were taken back.
        redactions: values that the second redaction took out.
        kept_back: how many stay, since not all members' copies would lie under their law.
        readers: the names of the members who can read it.
        digest: of what goes to whom, for `reviewed`.
        left: places of before at which something of one's own still lies, with why it could not be taken back.
    """

    seq: int
    memories: int
    bytes: int
    new: int
    gone: int
    redactions: int
    kept_back: int
    readers: list[str]
    digest: str
    fresh: list[SharedView]
    left: dict[str, str] | None = messages.spare()


def _told(chosen: Iterable[Shared], progress: Progress) -> Iterator[Shared]:
    """Yield what is chosen, and tell how far that is."""
    for count, shared in enumerate(chosen, 1):
        yield shared
        if not count % TELL_EVERY:
            progress(count, 0, "looking through memories")


def publish(ctx: Context, request: PublishRequest, progress: Progress) -> PublishAnswer:
    """Publish what was chosen, sealed for the members, or tell what that would be.

    Raises:
        BadInputError: an agent asks; the place cannot be written to, is the project's own repository, or another project's, too;
            a kind is never shared.
        NotFoundError: the project is not shared, or has no other members.

    Returns:
        What was published, or would be, and in how many bytes.
    """
    if not request.dry_run:
        request.require_user("publishes memories")
    project = messages.place_of(ctx, request)
    kinds = messages.known_kinds(ctx, request.kinds, ctx.shelves_of(project), Scope())
    if private := [kind for kind in kinds if kind in contents.NEVER]:
        raise BadInputError(
            f"{private[0]} is never shared.", "It is talk as it was, or made of it."
        )
    corner = team.corner_of(ctx, project)
    share = team.require_share(ctx, corner)
    team.require_sole(ctx, corner, share.team)
    # What lies at the project's own repository since before that was refused can be taken back.
    if project is not None and not request.only_known:
        require_apart(corner.root, share.url)
    # Kinds and tags belong together: who names either says both.
    if kinds or request.tags:
        share = replace(share, kinds=kinds, tags=request.tags)
    mine, readers = contracts.keyring(ctx).current, team.valid(corner, share)
    chosen = list(_told(contents.chosen(ctx, corner, share), progress))
    going = [shared for shared in chosen if shared.law in ("", team.law_of_all(readers))]
    kept_back = len(chosen) - len(going)
    if request.only_known:
        known = share.published.contents
        going = [shared for shared in going if known.get(shared.id) == shared.digest]
    team.require_listed(readers, [mine.public] if mine else [])
    digest = _digest(going, readers)
    if request.dry_run:
        return _answer(share, going, readers, digest, kept_back)
    if request.reviewed not in ("", digest):
        raise BadInputError(
            "What would be published, or for whom, has changed since it was shown.",
            "Nothing was published: look at it again.",
        )
    own = pull.own_key(ctx, request.passphrase)
    with team.sharing:
        # Another terminal may have published meanwhile.
        before = team.require_share(ctx, corner)
        share = replace(before, kinds=share.kinds, tags=share.tags)
        place = pull.opened(ctx, corner, share, request.access)
        published, size = _put(ctx, share, place, own, readers, going)
        share = team.save(ctx, corner, replace(share, published=published))
        left = pull.still_left(ctx, corner, share.left, request.access)
        team.save(ctx, corner, replace(share, left=tuple(left)))
    about = {"action": "publish", "project": corner.id, "seq": published.seq}
    ctx.state.audit("share", request.actor, [], about)
    answer = _answer(before, going, readers, digest, kept_back)
    told = {one.url: why for one, why in left.items()} or None
    return replace(answer, seq=published.seq, bytes=size, left=told)


def _digest(going: Sequence[Shared], readers: Sequence[Member]) -> str:
    """Return what tells what goes to whom from anything else that might."""
    words = [shared.digest for shared in going] + [reader.key.id for reader in readers]
    return bundles.digest("\n".join(words).encode("ascii"))[:32]


def _answer(
    share: TeamShare,
    going: Sequence[Shared],
    readers: Sequence[Member],
    digest: str,
    kept_back: int,
) -> PublishAnswer:
    """Return what would be published."""
    before = share.published.contents
    fresh = [shared for shared in going if before.get(shared.id) != shared.digest]
    return PublishAnswer(
        seq=share.published.seq,
        memories=len(going),
        bytes=0,
        new=len(fresh),
        gone=len(before.keys() - {shared.id for shared in going}),
        redactions=sum(shared.redactions for shared in going),
        kept_back=kept_back,
        readers=[reader.name for reader in readers],
        digest=digest,
        fresh=[
            SharedView(shared.id, shared.kind, shared.text[:SHOWN_CHARS])
            for shared in fresh[:MOST_SHOWN]
        ],
    )


def _put(
    ctx: Context,
    share: TeamShare,
    place: SharedPlace,
    own: PrivateKey,
    readers: Sequence[Member],
    going: Sequence[Shared],
) -> tuple[Published, int]:
    """Write the next bundle, and return what is published now and the bundle's size; the same as before, and 0,
    where nothing has changed."""
    before, me = share.published, own.public.id
    there = pull.numbers(place, me)
    ids = tuple(sorted(reader.key.id for reader in readers))
    now = {shared.id: shared.digest for shared in going}
    # A new key has published nothing yet: `there` is empty, and all is published.
    is_there = there[-1:] == [before.seq] and _lies_there(place, me, before)
    if is_there and before.contents == now and before.readers == ids:
        return before, 0
    is_more = all(now.get(id) == digest for id, digest in before.contents.items())
    goes_on = is_there and is_more and before.readers == ids
    seq = max([before.seq, *there]) + 1
    goes_on = goes_on and seq == before.seq + 1 and seq - before.base < MOST_STEPS
    position = BundlePosition(
        share.team,
        seq,
        before.base if goes_on else seq,
        before.digest if goes_on else "",
        ctx.now().isoformat(timespec="seconds"),
    )
    lines = [shared.line for shared in going if not (goes_on and shared.id in before.contents)]
    raw = bundles.seal(own, [reader.key for reader in readers], position, b"\n".join(lines))
    place.write(pull.name_of(me, seq), raw)
    for number in () if goes_on else there:
        # What was taken back, or sealed for somebody who has left, does not lie there any longer.
        place.remove(pull.name_of(me, number))
    for older in contracts.keyring(ctx).entries():
        # What a key signed that another one took the place of is in this bundle.
        if older.public != own.public:
            for number in pull.numbers(place, older.public.id):
                place.remove(pull.name_of(older.public.id, number))
    place.finish()
    return Published(seq, position.base, bundles.digest(raw), ids, now), len(raw)


def _lies_there(place: SharedPlace, key: str, last: Published) -> bool:
    """Whether what was published last lies at the place as it was written, from its first bundle to its newest."""
    wanted = last.digest
    try:
        for seq in range(last.seq, last.base - 1, -1):
            bundle = bundles.read(place.read(pull.name_of(key, seq), bundles.MOST_FILE))
            if bundle.digest != wanted:
                return False
            wanted = bundle.position.previous
    except VectorMemoryError:
        return False
    return True
