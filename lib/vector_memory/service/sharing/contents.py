"""What of the memories is published, and how a memory is written in a bundle and read out of one."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from typing import Any

from vector_memory import aging, model, redact, standing
from vector_memory.aging import EVERY, HALF_LIFE, VERIFIED, Every
from vector_memory.errors import UnsafeTextError
from vector_memory.journal.rows import text_hash
from vector_memory.model import Memory, Origin, Scope, Sensitivity, Temporal
from vector_memory.projects import Place
from vector_memory.service.base import privacy
from vector_memory.service.base.context import Context
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.ageing_wishes import MOST_DAYS
from vector_memory.service.sharing.team import Member, SharedProject, TeamShare
from vector_memory.system import json_in
from vector_memory.system.json_in import Record
from vector_memory.trust import canonical

KINDS = (
    model.DECISION, model.CONCLUSION, model.PROBLEM, model.CAUSE, model.SOLUTION, model.FACT, model.PROCEDURE,
    "fix", "learning", "rule", "note",
)  # fmt: skip
"""What is offered where no kinds were chosen: what was found out. Neither talk nor what is one person's."""
NEVER = model.OF_TALK
"""Talk as it was, and what is made of it: never shared, whatever is asked."""
MOST_MEMORIES = 200_000
MOST_TEXT, MOST_TITLE, MOST_WORDS = 100_000, 1_000, 50
SHAREABLE_LEVELS = (Sensitivity.PUBLIC, Sensitivity.INTERNAL)
"""How sensitive what is shared may be."""
TIMES = ("valid_from", "valid_until", "expires_at")
VERDICTS = ("refuted", "outdated")
"""The verdicts on a memory that are shared."""
DOUBTED = 0.2
"""The confidence of a shared memory with such a verdict."""
AROUND_PATHS = (*" \t\n\"'`=:,;|&<>()[]{}", "\\n", "\\t")
LONGEST_PATH = 400


@dataclass(frozen=True)
class PublishedMemory:
    """A memory as it is published.

    Attributes:
        line: it as canonical JSON.
        redactions: how many values the second redaction took out.
        law: the jurisdiction that it is kept under, "" for none.
    """

    id: str
    kind: str
    text: str
    line: bytes
    redactions: int
    law: str

    @property
    def digest(self) -> str:
        """What tells it from itself as it was before."""
        return hashlib.sha256(self.line).hexdigest()[:24]


def published_memories(
    ctx: Context, project: SharedProject, share: TeamShare
) -> Iterator[PublishedMemory]:
    """Yield what is published of a project, the oldest first: active memories of this user's own of the kinds
    and tags that were chosen. What others wrote, what waits for the user, and what is confidential stays."""
    shelf = ctx.shelf_of(project.place)
    kinds = tuple(kind for kind in share.kinds or KINDS if kind not in NEVER)
    tags = (*share.tags, *shelf.journal.tags_named(share.tags)) if share.tags else ()
    scope = Scope((project.id,), kinds, model.unique(tags), without=tuple(model.QUIET))
    with redact.for_project(project.place.folders if project.place else ()):
        for memory in shelf.journal.iter_memories(scope):
            if (
                may_be_published(memory, ctx.now())
                and (line := _published(memory, project)) is not None
            ):
                yield line


def may_be_published(memory: Memory, now: datetime) -> bool:
    """Whether a memory may be published at all; what is over or outdated is not."""
    is_own = not (memory.is_foreign or memory.is_suspicious or memory.is_held or memory.author)
    is_over = any(end is not None and end <= now for end in (memory.expires_at, memory.valid_until))
    return (
        is_own
        and not is_over
        and memory.kind not in NEVER
        and memory.sensitivity in SHAREABLE_LEVELS
    )


def _published(memory: Memory, project: SharedProject) -> PublishedMemory | None:
    redactions = 0

    def clean(words: str) -> str:
        nonlocal redactions
        cleaned = redact.clean(portable(words, project.place))
        redactions += cleaned.redactions
        return str(cleaned.text)

    try:
        body = {
            "created_at": memory.created_at.astimezone(timezone.utc).isoformat(),
            "files": [clean(path) for path in _relative(memory.files, project.place)],
            "id": memory.id,
            "jurisdiction": memory.jurisdiction,
            "kind": memory.kind,
            "sensitivity": memory.sensitivity.value,
            "tags": [clean(tag) for tag in memory.tags],
            "text": clean(memory.text),
            "title": clean(memory.title),
            **_standing(memory),
        }
    except UnsafeTextError:
        return None
    line = canonical.canonical_bytes(body)
    return PublishedMemory(
        memory.id, memory.kind, str(body["text"]), line, redactions, memory.jurisdiction
    )


def _standing(memory: Memory) -> dict[str, object]:
    """Return how a memory ages and whether it was found to be wrong, as far as that is not as usual: the line of any other
    memory is the same as in older versions."""
    values: dict[str, object] = {
        name: moment.astimezone(timezone.utc).isoformat()
        for name in TIMES
        if (moment := getattr(memory, name)) is not None
    }
    if memory.temporal is not Temporal.PERMANENT:
        values["temporal"] = memory.temporal.value
    values |= aging.of_ageing(memory.extra)
    if memory.state:
        values["state"] = memory.state
    if aging.found_on(memory):
        # The moment: a day begins elsewhere at another one.
        values[VERIFIED] = {name: memory.extra[VERIFIED][name] for name in ("verdict", "at")}
    return values


def _restored_standing(record: Record, extra: dict[str, object]) -> dict[str, Any]:
    """Return how a shared memory ages, and its confidence, which is low where a verdict was noted, by `Memory`'s fields.

    Raises:
        ValueError, OverflowError: a date or a word is none.
    """
    times = {name: _parse_moment(record.text(name)) for name in TIMES if name in record}
    temporal = Temporal(record.get("temporal", Temporal.PERMANENT))
    return {"temporal": temporal, **times, **({"confidence": DOUBTED} if VERIFIED in extra else {})}


def _parse_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a date has no zone")
    # The last hours of the calendar in another zone are behind its end here.
    return moment.astimezone(timezone.utc)


def _restored_extra(record: Record) -> dict[str, object]:
    """Return what a shared memory keeps in `extra`: its state, more of its ageing, and a verdict on it."""
    extra = standing.noted_state(record.text("state"))
    if record.get(EVERY) in list(Every):
        extra[EVERY] = record[EVERY]
    if 0 <= record.number(HALF_LIFE) <= MOST_DAYS and HALF_LIFE in record:
        extra[HALF_LIFE] = record.number(HALF_LIFE)
    verdict = record.part(VERIFIED)
    if verdict.get("verdict") in VERDICTS:
        extra[VERIFIED] = {"verdict": verdict["verdict"], "at": verdict.text("at")}
    return extra


def _relative(files: tuple[str, ...], place: Place | None) -> list[str]:
    """Return files relative to the project's folder, without those elsewhere: nobody learns this machine's folders."""
    prefixes = [os.path.join(folder, "") for folder in place.folders] if place else []
    relative = [path[len(next(filter(path.startswith, prefixes), "")) :] for path in files]
    return [path for path in relative if not os.path.isabs(path) and not path.startswith("~")]


def portable(words: str, place: Place | None) -> str:
    """Return words with paths relative to the project, else from `~`, so that they tell neither where the project is here
    nor who has it. A folder right below the top, such as `/app` or `/root`, names nobody, and the same words may be a
    route of the web: it stays."""
    for folder in place.folders if place else ():
        words = _rename_folder(words, folder, place.name if place else "", is_project=True)
    home = os.path.expanduser("~")
    for folder in dict.fromkeys((home, os.path.realpath(home))):
        words = _rename_folder(words, folder, "~")
    return words


def _rename_folder(words: str, folder: str, new_name: str, is_project: bool = False) -> str:
    """Return words with a folder's path replaced by another name, also where it is written as one word, as Claude Code
    names its folders of transcripts; not where it is only a part of another path."""
    if folder.count(os.sep) < 2:
        return words
    renamed, *parts = words.split(folder)
    for part in parts:
        replacement = new_name
        if (
            _is_in_path(renamed)
            or _continues_name(part)
            or (part[:1] == "." and _continues_name(part[1:]))
        ):
            replacement = folder
        elif is_project and part.startswith(os.sep):
            # `cd …/ && rm -rf build` and `rm -rf …/*` must not come to mean another folder.
            is_name = part[1:].lstrip("._")[:1].isalnum() and not renamed[-1:].isalnum()
            replacement = "" if is_name else "."
            part = part[is_name:]
        renamed += replacement + part
    dashed_folder = "".join(char if char.isascii() and char.isalnum() else "-" for char in folder)
    renamed, *parts = renamed.split(dashed_folder)
    for part in parts:
        is_other = part[:1].isalnum() or renamed[-1:].isalnum() or renamed.endswith("-")
        renamed += (dashed_folder if is_other else new_name) + part
    return renamed


def _continues_name(words: str) -> bool:
    """Whether words go on with a letter of a file's name."""
    return words[:1].isalnum() or words[:1] in tuple("_-")


def _is_in_path(words: str) -> bool:
    """Whether words end with a path, of which what follows is a part: `/mnt`, but neither `-I` nor `vscode://file`."""
    last_word = words[-LONGEST_PATH:]
    for mark in AROUND_PATHS:
        last_word = last_word.rpartition(mark)[2]
    # Whatever sign stands right before it is no path's end, in whatever script: "src/a.py→…".
    is_name = last_word[-1:].isalnum() or last_word[-1:] in tuple("._-~")
    return (
        is_name
        and not last_word.startswith("//")
        and (os.sep in last_word or last_word in ("~", ".", ".."))
    )


def records_in(
    content: bytes, member: Member, project: SharedProject
) -> Iterator[tuple[str, Record]]:
    """Yield the records of a bundle's lines, each with the id that it has here. Lines that cannot be read are left out:
    their author may run another version."""
    for line in islice(io.BytesIO(content), MOST_MEMORIES):
        try:
            value = json_in.storable_json(json_in.load(line))
            if isinstance(value, dict):
                record = Record(value)
                yield _id(record, member, project), record
        except (ValueError, TypeError):
            continue


def read(record: Record, member: Member, project: SharedProject, now: datetime) -> Memory | None:
    """Return what somebody shared as it is stored here, others' words, which inform and do not bind; None where it is
    no memory."""
    raw, id = str(record.get("text") or ""), str(record.get("id") or "")
    if not raw.strip() or not id or len(raw) > MOST_TEXT:
        return None
    try:
        extra = _restored_extra(record)
        memory = Memory(
            id=_id(record, member, project),
            text=redact.clean(raw).text,
            title=redact.clean(str(record.get("title") or "")[:MOST_TITLE]).text,
            # Where the author's clock is fast, nothing becomes newer than now.
            created_at=min(_parse_moment(str(record.get("created_at"))), now),
            kind=privacy.word(str(record.get("kind") or "note"))[:40],
            project=project.id,
            origin=Origin.IMPORT,
            sensitivity=Sensitivity(record.get("sensitivity", Sensitivity.INTERNAL)),
            jurisdiction=privacy.word(str(record.get("jurisdiction") or ""))[:40],
            **_restored_standing(record, extra),
            tags=_words(record, "tags"),
            files=_words(record, "files"),
            external_id=privacy.word(id)[:64],
            extra={
                **extra,
                model.IS_FOREIGN: True,
                model.AUTHOR: {"key": member.key.word, "name": member.name},
            },
        )
        return trust_marks.with_trust_marks(memory, raw)
    except (ValueError, TypeError, OverflowError, UnsafeTextError):
        return None


def _id(record: Record, member: Member, project: SharedProject) -> str:
    """Return the id that a shared memory has here: the same for the same words of the same author."""
    identity = [member.key.word, member.name, project.id, dict(record)]
    # JSON from elsewhere need not have a canonical form.
    text = json.dumps(identity, sort_keys=True).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]


def hash_of_words(memory: Memory) -> str:
    """Return what tells a memory's words from all others in its project, whoever wrote them: 32 hexadecimal digits."""
    return text_hash(f"{memory.project}\n{memory.text}").hex()


def _words(record: Record, name: str) -> tuple[str, ...]:
    return tuple(redact.clean(word[:300]).text for word in record.words(name)[:MOST_WORDS])
