"""`share publish`: what goes out is looked at first, then sealed and signed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.model import Progress, Scope
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.service.sharing import contents, pull, team
from vector_memory.service.sharing.contents import PublishedMemory
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


def _with_progress(
    memories: Iterable[PublishedMemory], progress: Progress
) -> Iterator[PublishedMemory]:
    """Yield memories, and report progress."""
    for count, shared in enumerate(memories, 1):
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
    project_place = messages.place_of(ctx, request)
    kinds = messages.known_kinds(ctx, request.kinds, ctx.shelves_of(project_place), Scope())
    if private := [kind for kind in kinds if kind in contents.NEVER]:
        raise BadInputError(
            f"{private[0]} is never shared.", "It is talk as it was, or made of it."
        )
    project = team.shared_project(ctx, project_place)
    share = team.require_share(ctx, project)
    team.require_sole(ctx, project, share.team)
    # What lies at the project's own repository since before that was refused can be taken back.
    if project_place is not None and not request.only_known:
        require_apart(project.root, share.url)
    # Kinds and tags belong together: naming either replaces both.
    if kinds or request.tags:
        share = replace(share, kinds=kinds, tags=request.tags)
    own_entry, readers = contracts.keyring(ctx).current, team.valid_members(project, share)
    memories = list(_with_progress(contents.published_memories(ctx, project, share), progress))
    shareable = [shared for shared in memories if shared.law in ("", team.law_of_all(readers))]
    kept_back = len(memories) - len(shareable)
    if request.only_known:
        known = share.published.contents
        shareable = [shared for shared in shareable if known.get(shared.id) == shared.digest]
    team.require_listed(readers, [own_entry.public] if own_entry else [])
    digest = _digest(shareable, readers)
    if request.dry_run:
        return _answer(share, shareable, readers, digest, kept_back)
    if request.reviewed not in ("", digest):
        raise BadInputError(
            "What would be published, or for whom, has changed since it was shown.",
            "Nothing was published: look at it again.",
        )
    key = pull.own_key(ctx, request.passphrase)
    with team.sharing:
        # Another terminal may have published meanwhile.
        share_before = team.require_share(ctx, project)
        share = replace(share_before, kinds=share.kinds, tags=share.tags)
        place = pull.open_place(ctx, project, share, request.access)
        published, size = _write_bundle(ctx, share, place, key, readers, shareable)
        share = team.save(ctx, project, replace(share, published=published))
        left = pull.take_back_left(ctx, project, share.left, request.access)
        team.save(ctx, project, replace(share, left=tuple(left)))
    detail = {"action": "publish", "project": project.id, "seq": published.seq}
    ctx.state.audit("share", request.actor, [], detail)
    answer = _answer(share_before, shareable, readers, digest, kept_back)
    left_urls = {former_place.url: why for former_place, why in left.items()} or None
    return replace(answer, seq=published.seq, bytes=size, left=left_urls)


def _digest(memories: Sequence[PublishedMemory], readers: Sequence[Member]) -> str:
    """Return a digest of what is published and for whom."""
    digests = [shared.digest for shared in memories] + [reader.key.id for reader in readers]
    return bundles.digest("\n".join(digests).encode("ascii"))[:32]


def _answer(
    share: TeamShare,
    memories: Sequence[PublishedMemory],
    readers: Sequence[Member],
    digest: str,
    kept_back: int,
) -> PublishAnswer:
    """Return what would be published."""
    digests = share.published.contents
    new_memories = [shared for shared in memories if digests.get(shared.id) != shared.digest]
    return PublishAnswer(
        seq=share.published.seq,
        memories=len(memories),
        bytes=0,
        new=len(new_memories),
        gone=len(digests.keys() - {shared.id for shared in memories}),
        redactions=sum(shared.redactions for shared in memories),
        kept_back=kept_back,
        readers=[reader.name for reader in readers],
        digest=digest,
        fresh=[
            SharedView(shared.id, shared.kind, shared.text[:SHOWN_CHARS])
            for shared in new_memories[:MOST_SHOWN]
        ],
    )


def _write_bundle(
    ctx: Context,
    share: TeamShare,
    place: SharedPlace,
    key: PrivateKey,
    readers: Sequence[Member],
    memories: Sequence[PublishedMemory],
) -> tuple[Published, int]:
    """Write the next bundle, and return what is published now and the bundle's size; the same as before, and 0,
    where nothing has changed."""
    before, own_id = share.published, key.public.id
    stored_numbers = pull.numbers(place, own_id)
    ids = tuple(sorted(reader.key.id for reader in readers))
    current_digests = {shared.id: shared.digest for shared in memories}
    # A new key has published nothing yet: `stored_numbers` is empty, and all is published.
    is_there = stored_numbers[-1:] == [before.seq] and _lies_there(place, own_id, before)
    if is_there and before.contents == current_digests and before.readers == ids:
        return before, 0
    only_adds = all(current_digests.get(id) == digest for id, digest in before.contents.items())
    continues = is_there and only_adds and before.readers == ids
    seq = max([before.seq, *stored_numbers]) + 1
    continues = continues and seq == before.seq + 1 and seq - before.base < MOST_STEPS
    position = BundlePosition(
        share.team,
        seq,
        before.base if continues else seq,
        before.digest if continues else "",
        ctx.now().isoformat(timespec="seconds"),
    )
    lines = [shared.line for shared in memories if not (continues and shared.id in before.contents)]
    raw = bundles.seal(key, [reader.key for reader in readers], position, b"\n".join(lines))
    place.write(pull.name_of(own_id, seq), raw)
    for number in () if continues else stored_numbers:
        # What was taken back, or sealed for somebody who has left, does not lie there any longer.
        place.remove(pull.name_of(own_id, number))
    for entry in contracts.keyring(ctx).entries():
        # What an older key of ours signed is in this bundle, too.
        if entry.public != key.public:
            for number in pull.numbers(place, entry.public.id):
                place.remove(pull.name_of(entry.public.id, number))
    place.finish()
    return Published(seq, position.base, bundles.digest(raw), ids, current_digests), len(raw)


def _lies_there(place: SharedPlace, key: str, last: Published) -> bool:
    """Whether what was published last lies at the place as it was written, from its first bundle to its newest."""
    expected = last.digest
    try:
        for seq in range(last.seq, last.base - 1, -1):
            bundle = bundles.read(place.read(pull.name_of(key, seq), bundles.MOST_FILE))
            if bundle.digest != expected:
                return False
            expected = bundle.position.previous
    except VectorMemoryError:
        return False
    return True
