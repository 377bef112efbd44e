"""`share pull`: take over what other members published, after looking at everything that could be wrong; and what all of
sharing begins with: the request, this installation's keys, and the place."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import Memory, Progress, Scope, is_hex, strictest
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.sharing import contents, team
from vector_memory.service.sharing.places import ROOT, VARIABLES, SharedPlace, place_at
from vector_memory.service.sharing.team import (
    LeftPlace,
    Member,
    SharedProject,
    TakenBundle,
    TeamShare,
)
from vector_memory.system.json_in import Record
from vector_memory.trust import bundles
from vector_memory.trust.bundles import Bundle, RefusedBundleError
from vector_memory.trust.keys import PrivateKey, PublicKey

TEAM = f"{ROOT}/team.json"
MOST_TEAM = 4_096
ENDING = ".bundle"
BATCH = 500
MOST_REFUSED = 100
REJECTED = "rejected"
"""The small records of what others shared and the user does not want, by the ids that it had here."""
WORDS = "words"
"""In these: the memory's `contents.hash_of_words`, since under another key it has another id."""


# -- what all of sharing begins with --


def _access(request: Mapping[str, object], name: str) -> dict[str, str]:
    """Read the AWS variables of the terminal that asks; no others are taken."""

    variables = Record(request).part(name)
    return {variable: str(variables[variable]) for variable in VARIABLES if variables.get(variable)}


class ShareRequest(messages.Request):
    """What concerns the sharing of a project.

    Attributes:
        access: the AWS variables of who asks.
        passphrase: that of this installation's key, "" for none.
    """

    access: dict[str, str] = messages.read_by(_access, None)
    passphrase: str = messages.word()


def own_key(ctx: Context, passphrase: str) -> PrivateKey:
    """Return the key that signs now, opened.

    Raises:
        NotFoundError: there is none yet.
        BadInputError: it needs a passphrase.
    """
    current = contracts.keyring(ctx).current
    if current is None:
        raise NotFoundError(
            "This installation has no key.", "`vector-memory share invite` makes one."
        )
    return contracts.keyring(ctx).open(current.public.id, passphrase)


def own_keys(ctx: Context, passphrase: str) -> list[PrivateKey]:
    """Return the key that signs now, then the older keys that it replaced, as far as the passphrase opens them: what was
    sealed for those can still be read."""
    keys = [own_key(ctx, passphrase)]
    for entry in contracts.keyring(ctx).entries():
        if entry.retired_at and not entry.revoked_at:
            with contextlib.suppress(VectorMemoryError):
                keys.append(contracts.keyring(ctx).open(entry.public.id, passphrase))
    return keys


def place_of(ctx: Context, project: SharedProject, url: str, access: dict[str, str]) -> SharedPlace:
    """Return the place where a project is shared."""
    copies = os.path.join(ctx.home.sharing, f"{project.id or 'global'}.git-copy")
    return place_at(url, copies, access or {})


def team_at(place: SharedPlace) -> str:
    """Return the random name of the team that shares at a place, "" where none does.

    Raises:
        BadInputError: what stands there is no team's name.
    """
    try:
        name = str(json.loads(place.read(TEAM, MOST_TEAM))["team"])
    except NotFoundError:
        return ""
    except (ValueError, KeyError, TypeError):
        name = ""
    if not is_hex(name, 32):
        raise BadInputError("The place holds no team that this version knows.", "Use another one.")
    return name


def open_place(
    ctx: Context, project: SharedProject, share: TeamShare, access: dict[str, str]
) -> SharedPlace:
    """Return the place where a project is shared, up to date.

    Raises:
        BadInputError: it cannot be reached, or is not the team's: a folder whose drive is missing is empty.
    """
    place = place_of(ctx, project, share.url, access)
    place.refresh()
    if team_at(place) != share.team:
        raise BadInputError(
            f"{share.url} does not hold {TEAM} of this team: nothing was read or written.",
            "Mount what is missing; `vector-memory share init` begins anew there.",
        )
    return place


def take_back(ctx: Context, place: SharedPlace) -> None:
    """Remove from a place all that this installation's keys signed there.

    Raises:
        BadInputError: something of it cannot be removed.
    """
    folders = [f"{ROOT}/members/{entry.public.id}" for entry in contracts.keyring(ctx).entries()]
    for folder in folders:
        for name in place.names(folder):
            place.remove(f"{folder}/{name}")
    place.finish()
    if any(map(place.names, folders)):
        raise BadInputError(
            "What you published there cannot be removed.", "Check the rights of its folders."
        )


def take_back_left(
    ctx: Context, project: SharedProject, left: Sequence[LeftPlace], access: dict[str, str]
) -> dict[LeftPlace, str]:
    """Take back what lies at places that were left, and return those where that cannot be done, with why."""
    reasons = {}
    for former_place in left:
        try:
            take_back(
                ctx,
                open_place(ctx, project, TeamShare(former_place.url, former_place.team), access),
            )
        except VectorMemoryError as error:
            reasons[former_place] = str(error)
    return reasons


# -- what others published --


def name_of(key: str, seq: int) -> str:
    """Return where the bundle of a number lies that a key, given by its id, signed."""
    return f"{ROOT}/members/{key}/{seq:010d}{ENDING}"


def numbers(place: SharedPlace, key: str) -> list[int]:
    """Return the numbers of a key's bundles at a place, ascending."""
    names = place.names(f"{ROOT}/members/{key}")
    stems = [name[: -len(ENDING)] for name in names if name.endswith(ENDING)]
    return sorted(int(stem) for stem in stems if len(stem) == 10 and stem.isdecimal())


class PulledView(messages.Answer):
    """What of a member is here now: the newest bundle's number, and how many memories."""

    key: str
    name: str
    seq: int
    memories: int


class RefusedView(messages.Answer):
    """What was not taken, and why; whether it is a member's, so that what is here of that one is not the newest."""

    what: str
    why: str
    is_members: bool


class PullAnswer(messages.Answer):
    """What others share, and what was refused of it."""

    members: list[PulledView]
    refused: list[RefusedView]


class Source(NamedTuple):
    """What is pulled from: the project, how it is shared, the place, and this installation's keys, the present one and
    those that it took the place of."""

    ctx: Context
    project: SharedProject
    share: TeamShare
    place: SharedPlace
    own: Sequence[PrivateKey]

    def save(self) -> None:
        """Store which bundles were taken."""
        team.save(self.ctx, self.project, self.share)


def pull(ctx: Context, request: ShareRequest, progress: Progress) -> PullAnswer:
    """Take over what other members published since, and remove what they, or their keys, no longer stand for. A
    member whose bundles are not as they should be keeps what was taken before.

    Raises:
        NotFoundError: the project is not shared, or its list of members is missing or another team's: it does not
            name this installation. What was taken stays.
        BadInputError: the place cannot be reached, or is no longer the team's.

    Returns:
        The members with how much they share, and what was refused, and why.
    """
    project = team.shared_project(ctx, messages.place_of(ctx, request))
    team.require_share(ctx, project)
    keys = own_keys(ctx, request.passphrase)
    with team.sharing:
        share = team.require_share(ctx, project)
        place = open_place(ctx, project, share, request.access)
        answer = _pull_members(Source(ctx, project, share, place, keys), progress)
    detail = {"action": "pull", "project": project.id, "refused": len(answer.refused)}
    ctx.state.audit("share", request.actor, [], detail)
    return answer


def _pull_members(source: Source, progress: Progress) -> PullAnswer:
    own_public_keys, seen = {key.public for key in source.own}, source.share.seen
    valid = team.valid_members(source.project, source.share)
    others = [member for member in valid if member.key not in own_public_keys]
    team.require_listed(valid, own_public_keys)
    refused, views = _refused_strangers(source, valid), []
    _remove_former_members(source, others)
    for number, member in enumerate(others):
        progress(number, len(others), f"reading {member.name}")
        try:
            newest = _take_newest(source, member)
        except VectorMemoryError as error:
            name = f"{member.name} ({member.key.id})"
            refused.append(RefusedView(name, str(error), is_members=True))
            newest = seen.get(member.key.id)
        if newest is not None:
            seen[member.key.id] = replace(newest, name=member.name)
            # Member by member: an interrupted pull begins again where it was.
            source.save()
        figures = (newest.seq, newest.memories) if newest else (0, 0)
        views.append(PulledView(member.key.word, member.name, *figures))
    _remove_former_members(source, others)
    # What strangers left there is told, but nothing is missing for it.
    refused.sort(key=lambda refusal: not refusal.is_members)
    return PullAnswer(views, refused[:MOST_REFUSED])


def _remove_former_members(source: Source, members: Sequence[Member]) -> None:
    """Remove what former members shared. Where a member has a new key under the same name, what the old key signed stays
    until something of the new one is here; of a former member without a noted name, until something of every member is
    here."""
    seen = source.share.seen
    awaited = {
        member.name for member in members if not seen.get(member.key.id, TakenBundle(0, "", 0)).seq
    }
    awaited |= {""} if awaited else set()
    former = seen.keys() - {member.key.id for member in members}
    removed_ids = {id for id in former if seen[id].name not in awaited}
    if not removed_ids:
        return
    author_words = set(_authors(source.ctx, source.project).values())
    staying = {member.key.id for member in members} | (former - removed_ids)
    remove_shared(
        source.ctx, source.project, {word for word in author_words if _id_of(word) not in staying}
    )
    for id in removed_ids:
        del seen[id]
    source.save()


def _id_of(word: str) -> str:
    """Return the id of an author's key, "" of a row that names none that can be read."""
    try:
        return PublicKey.read(word).id
    except BadInputError:
        return ""


def _refused_strangers(source: Source, valid: Sequence[Member]) -> list[RefusedView]:
    """Return what lies at the place of keys that are no members'."""
    revoked = {PublicKey.read(word).id for word in source.share.revoked}
    stranger_ids = set(source.place.names(f"{ROOT}/members")) - {member.key.id for member in valid}
    reasons = {True: "its key was revoked here", False: "its key is not in the list of members"}
    # What was taken back leaves an empty folder.
    with_bundles = [name for name in sorted(stranger_ids) if numbers(source.place, name)]
    return [RefusedView(name, reasons[name in revoked], is_members=False) for name in with_bundles]


def _take_newest(source: Source, member: Member) -> TakenBundle | None:
    """Return the newest bundle of a member after taking it over, None where there is none. The member is noted in
    `share.seen` before anything is stored: so what an interrupted pull stored is removed, too, when the member leaves.

    Raises:
        RefusedBundleError: something is wrong with it; nothing was taken.
    """
    seen = source.share.seen
    stored_numbers, before = numbers(source.place, member.key.id), seen.get(member.key.id)
    if before and (not stored_numbers or stored_numbers[-1] < before.seq):
        if stored_numbers:
            raise RefusedBundleError(
                f"Its newest bundle is number {stored_numbers[-1]}, and number {before.seq} was here already.",
                "Somebody put an older state there: ask its author to publish again.",
            )
        # Taking everything back is the member's right; it cannot be told from somebody who deleted it.
        if before.memories or not before.seq:
            _keep_only(source, member, [])
        return replace(before, memories=0)
    if not stored_numbers:
        return None
    chain = _chain(source, member, stored_numbers[-1], before)
    newest = chain[-1]
    if before and before.seq == newest.position.seq and before.memories:
        return before
    payloads = []
    for bundle in chain:
        reader = next((key for key in source.own if key.public.id in bundle.readers), source.own[0])
        payloads.append(bundles.unseal(bundle, reader))
    if before is None:
        seen[member.key.id] = TakenBundle(0, "", 0)
        source.save()
    continued = before if chain[0].position.seq > chain[0].position.base else None
    count = _keep_only(source, member, payloads, continued)
    return TakenBundle(newest.position.seq, newest.digest, count)


def _chain(source: Source, member: Member, newest: int, before: TakenBundle | None) -> list[Bundle]:
    """Return the bundles from the base to the newest one, each looked at; from the one on that continues what was taken
    before, where they do: nothing but more is in these.

    Raises:
        RefusedBundleError: one is damaged, forged, of another team, or not the one that followed.
    """
    last_bundle = _read(source, member, newest)
    chain = [last_bundle]
    while chain[0].position.base < chain[0].position.seq:
        oldest = chain[0].position
        taken = (before.seq, before.digest) if before and before.memories else None
        if taken == (oldest.seq - 1, oldest.previous):
            break
        earlier = _read(source, member, oldest.seq - 1)
        if earlier.digest != oldest.previous or earlier.position.base != oldest.base:
            raise RefusedBundleError(
                f"Bundle {oldest.seq} does not continue bundle {oldest.seq - 1}."
            )
        chain.insert(0, earlier)
    for bundle in chain:
        if before and bundle.position.seq == before.seq and bundle.digest != before.digest:
            raise RefusedBundleError(
                f"Bundle {before.seq} is another one than it was.",
                "Somebody put it in its place: ask its author to publish again.",
            )
    return chain


def _read(source: Source, member: Member, seq: int) -> Bundle:
    raw = source.place.read(name_of(member.key.id, seq), bundles.MOST_FILE)
    bundle = bundles.read(raw)
    if bundle.key != member.key:
        raise RefusedBundleError(f"Bundle {seq} was signed by another key.")
    if bundle.position.team != source.share.team:
        raise RefusedBundleError(f"Bundle {seq} was made for another team.")
    if bundle.position.seq != seq:
        raise RefusedBundleError(f"Bundle {seq} is number {bundle.position.seq} in truth.")
    return bundle


def _keep_only(
    source: Source, member: Member, payloads: Sequence[bytes], continued: TakenBundle | None = None
) -> int:
    """Store the memories of a member's bundles, without what the user rejected, and remove all others of the member's;
    return how many are here now. Stored ones are not compared: an id stands for its words.

    Args:
        continued: what was taken before, where the bundles only add to it.
    """
    ctx, project = source.ctx, source.project
    shelf = ctx.team_shelf(make=True)
    if shelf is None:
        return 0
    if project.place:
        ctx.know_project(shelf, project.place)

    def records() -> Iterator[tuple[str, Record]]:
        return (pair for raw in payloads for pair in contents.records_in(raw, member, project))

    rejected = ctx.state.records(REJECTED)
    unwanted = {record.text(WORDS) for record in rejected.values()}
    wanted_ids, now = {id for id, _ in records()} - rejected.keys(), ctx.now()
    if continued:
        stored_ids, count = set(shelf.journal.by_ids(list(wanted_ids))), continued.memories
    else:
        stored_ids = {id for id, word in _authors(ctx, project).items() if word == member.key.word}
        count = len(stored_ids & wanted_ids)
        # Removed first, so that what was taken back stays here no longer than it must.
        shelf.journal.write((), (), sorted(stored_ids - wanted_ids))
    missing, own_shelves = wanted_ids - stored_ids, ctx.shelves_of(project.place)

    def new_memories() -> Iterator[Memory]:
        for id, record in records():
            if (
                id in missing
                and (memory := contents.read(record, member, project, now)) is not None
            ):
                missing.remove(id)
                if contents.hash_of_words(memory) not in unwanted:
                    yield _with_stricter_level(memory, own_shelves)

    memories = new_memories()
    while batch := list(islice(memories, BATCH)):
        shelf.journal.write(batch, (), ())
        count += len(batch)
    ctx.notify()
    return count


def _with_stricter_level(memory: Memory, own_shelves: Sequence[Shelf]) -> Memory:
    """Return a shared memory with the sensitivity of this user's own memory of the same words, where that is stricter."""
    key = text_key(memory.text)
    twins = [shelf.journal.find_by_hash(key, memory.project) for shelf in own_shelves]
    levels = [twin.sensitivity for twin in twins if twin is not None]
    return replace(memory, sensitivity=strictest(memory.sensitivity, *levels)) if levels else memory


def remove_shared(ctx: Context, project: SharedProject, words: set[str]) -> int:
    """Remove what these keys shared with a project, and return how many memories that were."""
    shelf = ctx.team_shelf() if words else None
    if shelf is None:
        return 0
    ids = [id for id, word in _authors(ctx, project).items() if word in words]
    shelf.journal.write((), (), ids)
    ctx.notify()
    return len(ids)


def _authors(ctx: Context, project: SharedProject) -> dict[str, str]:
    """Return the authors' keys of a project's shared memories that are here, by the memories' ids."""
    shelf = ctx.team_shelf()
    return shelf.journal.authors(Scope((project.id,))) if shelf else {}
