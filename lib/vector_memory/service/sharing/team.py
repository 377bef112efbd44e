"""Who is in a team, and what this installation knows of its own sharing.

The members' public keys stand in the project's repository, so that whoever may change it decides who they are;
the place, what was seen there and who was revoked here stand in the data home, where no repository gets to.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError, StoreFullError, VectorMemoryError
from vector_memory.model import GLOBAL_PROJECT, JURISDICTIONS
from vector_memory.service.base import privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_roots
from vector_memory.system import private
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import open_regular, read_text, readable_error
from vector_memory.text.words import is_made_of
from vector_memory.trust.keys import PublicKey

FILE = ".memory-team.json"
MOST_BYTES = 1 << 20
MOST_RECORD = 256 << 20
MOST_MEMBERS = 200
sharing = threading.RLock()
"""Held by whatever changes how something is shared, so that no number is given twice."""
LONGEST_NAME = 40


@dataclass(frozen=True)
class Member:
    """Somebody, by the name that the list of members has, and under whose law that one's copies lie ("" where the
    list does not say it)."""

    name: str
    key: PublicKey
    law: str = ""


@dataclass(frozen=True)
class TakenBundle:
    """The newest bundle of a member that was taken: its number and hash, how many memories it left, and what the list of
    members called its author."""

    seq: int
    digest: str
    memories: int
    name: str = ""


@dataclass(frozen=True)
class Published:
    """What was published last.

    Attributes:
        base: with which bundle it begins.
        digest: the newest bundle's hash.
        readers: the ids of the keys that it was sealed for.
        contents: hashes of the memories in it, by their ids.
    """

    seq: int = 0
    base: int = 0
    digest: str = ""
    readers: tuple[str, ...] = ()
    contents: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LeftPlace:
    """A place that was shared at before, and from which nothing could be taken back: the ids of the memories that lie
    there."""

    url: str
    team: str
    contents: tuple[str, ...]


@dataclass(frozen=True)
class TeamShare:
    """How a project is shared from here.

    Attributes:
        url: the place.
        team: the random name that tells this team from all others.
        kinds: which kinds of memories are published; `tags` which tags they must have, all where there are none.
        seen: the newest bundle of each member, by the key's id.
        revoked: keys that were revoked here, whatever the list of members says.
        left: places of before at which something of this user's own lies.
    """

    url: str
    team: str
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    published: Published = Published()
    seen: dict[str, TakenBundle] = field(default_factory=dict)
    revoked: tuple[str, ...] = ()
    left: tuple[LeftPlace, ...] = ()


@dataclass(frozen=True)
class SharedProject:
    """What is shared together: a project, or the memories that belong to the user alone.

    Attributes:
        place: the project, None for the user's own memories.
        root: the folder of the list of members.
        id: the project's id.
    """

    place: projects.Place | None
    root: str
    id: str


def shared_project(ctx: Context, place: projects.Place | None) -> SharedProject:
    """Return the project of a place, or the user's own memories, as it is shared."""
    if place is None:
        return SharedProject(None, ctx.home.sharing, GLOBAL_PROJECT)
    return SharedProject(place, place.root, place.id)


def name_of(typed: str) -> str:
    """Return a member's name as it may be shown.

    Raises:
        BadInputError: it is none.
    """
    name = privacy.word(typed.strip())
    if not (name[:1].isalnum() and is_made_of(name, "_ .@'+-", LONGEST_NAME)):
        raise BadInputError(
            "A member's name is at most 40 letters, digits, spaces and . @ ' + -.", "Give --name."
        )
    return name


def members(project: SharedProject) -> list[Member]:
    """Return the members that the project's list names, [] where there is none.

    Raises:
        BadInputError: the list is damaged.
    """
    path = os.path.join(project.root, FILE)
    try:
        document = json.loads(read_text(path, MOST_BYTES, project.root))
        listed_members = [
            Member(name_of(entry["name"]), PublicKey.read(entry["key"]), _read_law(entry))
            for entry in document["members"]
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise readable_error(path, error) from error
    except (ValueError, TypeError, KeyError, RecursionError, VectorMemoryError) as error:
        raise BadInputError(f"{path} is no list of members: {error}", "Mend it.") from error
    if len(listed_members) > MOST_MEMBERS or len(
        {member.key.id for member in listed_members}
    ) < len(listed_members):
        raise BadInputError(f"{path} names a key twice, or too many.", "Mend it.")
    return listed_members


def _read_law(entry: dict[str, str]) -> str:
    law = entry.get("jurisdiction", "")
    if law and law not in JURISDICTIONS:
        raise ValueError(f"there is no jurisdiction {law!r}")
    return law


def write_members(project: SharedProject, listed_members: list[Member]) -> str:
    """Write the list of members, and return its path. It is for the user to commit."""
    path = os.path.join(project.root, FILE)
    entries = [
        {"name": member.name, "key": member.key.word}
        | ({"jurisdiction": member.law} if member.law else {})
        for member in listed_members
    ]
    _write(path, json.dumps({"members": entries}, indent=2, ensure_ascii=False) + "\n", 0o644)
    return path


def _write(path: str, text: str, mode: int = 0o600) -> None:
    try:
        private.make_folder(os.path.dirname(path))
        write_durably(path, text.encode("utf-8"), mode)
    except OSError as error:
        raise StoreFullError(f"{path} cannot be written: {error.strerror or error}.") from error


def valid_members(project: SharedProject, share: TeamShare) -> list[Member]:
    """Return the members whose keys were not revoked here."""
    return [member for member in members(project) if member.key.word not in share.revoked]


def require_listed(listed_members: list[Member], own_keys: Iterable[PublicKey]) -> None:
    """Make sure that one of this installation's keys is a member's.

    Raises:
        NotFoundError: none is.
    """
    if {member.key for member in listed_members}.isdisjoint(own_keys):
        raise NotFoundError(
            f"This installation's key is not in the list of members ({FILE}).",
            "Bring the project's newest list here; where the key never stood in it, `vector-memory share invite` enters it.",
        )


def require_known(project: SharedProject, share: TeamShare, own_keys: Sequence[PublicKey]) -> None:
    """Make sure that the list of members is there if others have shared: a new list would name this user alone, and the
    next pull would remove what the others shared.

    Raises:
        NotFoundError: it is missing, or names nobody.
    """
    other_ids = {*share.seen, *share.published.readers} - {key.id for key in own_keys}
    if other_ids and not members(project):
        raise NotFoundError(
            f"The list of members ({FILE}) is missing, though others share here.",
            "Bring the project's newest list here. If there is none left, `vector-memory share invite KEY --name …` "
            "enters the others, then `vector-memory share invite` yourself. To go on alone, without what they "
            f"shared: `vector-memory share invite {own_keys[-1].word}`.",
        )


def share_of(ctx: Context, project: SharedProject) -> TeamShare | None:
    """Return how a project is shared from here, None where it is not.

    Raises:
        BadInputError: what is noted of it cannot be read.
    """
    path = _record_path(ctx, project)
    try:
        with open_regular(path, ctx.home.sharing) as file:
            record = json.loads(file.read(MOST_RECORD))
        published = record.pop("published")
        published["readers"] = tuple(published["readers"])
        seen = {id: TakenBundle(**bundle) for id, bundle in record.pop("seen").items()}
        kinds, tags, revoked = (tuple(record[name]) for name in ("kinds", "tags", "revoked"))
        last_published = Published(**published)
        left = tuple(
            LeftPlace(former_place["url"], former_place["team"], tuple(former_place["contents"]))
            for former_place in record.get("left", ())
        )
        return TeamShare(
            record["url"], record["team"], kinds, tags, last_published, seen, revoked, left
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise readable_error(path, error) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInputError(
            f"{path} is damaged: {error}.", "Move it away, then `vector-memory share init` again."
        ) from error


def require_share(ctx: Context, project: SharedProject) -> TeamShare:
    """Return how a project is shared from here.

    Raises:
        NotFoundError: it is not.
    """
    share = share_of(ctx, project)
    if share is None:
        raise NotFoundError(
            "Nothing is shared from here.",
            "`vector-memory share init --to file:///a/folder` begins.",
        )
    return share


def require_sole(ctx: Context, project: SharedProject, name: str) -> None:
    """Make sure that no other project is shared from here as this team: both would publish under one key, and each would
    take the other's bundles for its own.

    Raises:
        BadInputError: another project is, or what belongs to none.
    """
    for id, root in {**project_roots(ctx.all_shelves()), GLOBAL_PROJECT: ""}.items():
        share = share_of(ctx, SharedProject(None, root, id)) if id != project.id else None
        if share is None or name not in (share.team, *(left.team for left in share.left)):
            continue
        # A record of a project that was moved or renamed since is no other project.
        if id == GLOBAL_PROJECT or (os.path.isdir(root) and ctx.place(root).id == id):
            raise BadInputError(
                f"{root or 'What belongs to no project'} is shared at the same place.",
                "Give each a folder or repository of its own: `vector-memory share init --to …`.",
            )


def save(ctx: Context, project: SharedProject, share: TeamShare) -> TeamShare:
    """Keep how a project is shared, and return it."""
    _write(_record_path(ctx, project), json.dumps(asdict(share)))
    return share


def law_of_all(listed_members: list[Member]) -> str:
    """Return the law under which all copies lie, "" where they lie under several, or one is not known."""
    laws = {member.law for member in listed_members}
    return laws.pop() if len(laws) == 1 else ""


def without_key(listed_members: list[Member], key: PublicKey) -> list[Member]:
    """Return members without one."""
    return [member for member in listed_members if member.key != key]


def _record_path(ctx: Context, project: SharedProject) -> str:
    return os.path.join(ctx.home.sharing, f"{project.id or 'global'}.json")
