"""When the agent searched, what did memory say to it, and was that of use?
`python benchmarks/facade.py TRANSCRIPTS...`

TRANSCRIPTS are folders of real transcripts, of the session itself, of its subagents and of Codex. The projects'
sessions are lived through in the order of time: at the beginning of each one the store holds what had been
written until then in all others, topics and summaries included. All working trees of a project, which is the
first folder below TRANSCRIPTS, count as one. Every search of the session is asked about.

Whether a note was of use is a label of somebody who read it with what the session did next in view: 2 where it
tells what the session needed for its search or went on to find out, 1 where it is about the same thing, 0 where
it is not. `--write FILE` writes what was said, with what came before and after, as JSON lines whose `label` is
null where nobody has given one; `--labels FILE` reads such lines back. A label holds for the note of its
session whose words it has, in whichever search that came. Beside it stands how often something that the note
names came up next: a file, an identifier or a telling phrase (`text/traces.py`), which neither the search nor
anything before it in the session had, and which the session said afterwards, in a call or a text. That misses
what needs no names, and counts what the search alone would have brought. Rules are tuned on the projects of one half, by their names; the other is held out.
Goals: said at 10 % of searches, 65 % of notes a 2, at most 10 % a 0.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from common import options, percentile, show
from relevance import SAME_WORDS, notes_of
from replay import moment, read_lines

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.index.codex import translate
from vector_memory.index.reader import session_and_folder, transcripts_below
from vector_memory.index.transcript import read_entries
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import Embedder
from vector_memory.observe.search import names_match
from vector_memory.observe.search.pattern_terms import SearchTerms, sought
from vector_memory.observe.search.searches import searches
from vector_memory.service.base import privacy
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import deferred, find_ideas, store_session
from vector_memory.service.tools import search_advice
from vector_memory.service.tools.tool_call import ToolCall
from vector_memory.system.json_in import Record
from vector_memory.system.paths import Home
from vector_memory.text.traces import SessionPiece, signs

SHOWN_BEFORE, SHOWN_AFTER = 3, 14
"""Pieces of the session that whoever labels sees around a search."""
PIECE_CHARS = 400
FOLLOWING = 60
"""Pieces after a search in which something may come up."""
SHALLOW = 3
"""A folder of fewer parts stands in too many texts to be replaced in them."""
HALVES = ("tuned", "held out")
_WORD = re.compile(r"\w{3,}")


@dataclass
class Piece:
    """A piece of a session: a text or a tool call, at its time; `agent` is the subagent whose it is."""

    at: datetime
    agent: str
    words: str
    is_said: bool
    turn: int
    tool: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    cwd: str = ""

    @cached_property
    def heard(self) -> SessionPiece:
        """It as `traces` reads it."""
        return SessionPiece(self.words, self.is_said)


@dataclass
class Session:
    """A transcript of a project: its session, its folder, and where it is to lie as the sessions go on."""

    id: str
    project: str
    folder: str
    path: str
    lines: list[tuple[datetime, str]]
    pieces: list[Piece]
    written: int = 0

    @property
    def began(self) -> datetime:
        return self.lines[0][0]


@dataclass
class Said:
    """A note that a search was told, and what whoever labels it has to see."""

    half: str
    project: str
    session: str
    agent: str
    search: dict[str, Any]
    note: str
    used: bool
    used_first: bool
    before: list[str]
    after: list[str]
    label: int | None = None


@dataclass
class Asked:
    """A search: whether it names anything, the kinds of the memories that have a name of it, what was said to it, and how
    long that took."""

    half: str
    is_telling: bool
    naming: frozenset[str]
    milliseconds: float
    said: list[Said]


def half_of(project: str) -> str:
    """Return which half a project belongs to."""
    return HALVES[crc32(project.encode()) % 2]


# -- reading --------------------------------------------------------------------------------------


def sessions_below(folders: Sequence[str], root: str) -> list[Session]:
    """Return the transcripts below folders in the order of time, each call once, as if all working trees of a
    project were one folder below a root."""
    seen: set[str] = set()
    found = []
    for folder in folders:
        for path in sorted(transcripts_below(folder)):
            project = os.path.relpath(path, folder).split(os.sep)[0]
            session = _session(path, project, os.path.join(root, "projects", project), seen)
            if session.lines:
                number = len(found)
                session.path = os.path.join(
                    root, "transcripts", str(number), os.path.basename(path)
                )
                found.append(session)
    return sorted(found, key=lambda one: one.began)


def _session(path: str, project: str, folder: str, seen: set[str]) -> Session:
    identity, real_folder = session_and_folder(path)
    is_agents = os.path.basename(path).startswith("agent-")
    made = Session(identity or path, project, folder, path, [], [])
    entries = list(translate(read_entries(path, final=True)))
    # A file may begin with lines that have no time.
    times = filter(None, (_time(entry.data) for entry in entries))
    at = next(times, datetime.min.replace(tzinfo=timezone.utc))
    moved = real_folder if real_folder.strip("/").count("/") + 1 >= SHALLOW else ""
    turn = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        raw = [_moved(line.rstrip("\n"), moved, folder) for line in file]
    numbers: dict[int, datetime] = {}
    for entry in entries:
        data, agent = _unwrapped(entry.data)
        at = max(at, _time(entry.data) or at)
        numbers[entry.line] = at
        message = data.part("message")
        role, content = message.text("role"), message.get("content")
        blocks = (
            [Record(type="text", text=content)]
            if isinstance(content, str)
            else message.parts("content")
        )
        agent = agent or (Path(path).stem if is_agents else "")
        for block in blocks:
            kind = block.text("type")
            turn += role == "user" and kind == "text" and not agent
            if kind == "tool_use":
                if block.text("id") in seen:
                    continue
                seen.add(block.text("id"))
            piece = _piece(block, role)
            if piece is not None:
                given = json.loads(_moved(json.dumps(block.part("input")), moved, folder))
                cwd = _moved(entry.data.text("cwd") or real_folder, moved, folder)
                cwd = cwd if cwd.startswith(folder) else folder
                words, tool = piece, block.text("name")
                made.pieces.append(
                    Piece(at, agent, _moved(words, moved, folder), role == "assistant", turn, tool, given, cwd)
                )  # fmt: skip
    began = next(iter(numbers.values()), None)
    for number, line in enumerate(raw, start=1):
        began = numbers.get(number, began)
        if began is not None:
            made.lines.append((began, line))
    return made


def _unwrapped(data: Record) -> tuple[Record, str]:
    """Return the line of a subagent that stands in a line about its progress, and its name."""
    inner = data.part("data")
    if data.text("type") == "progress" and inner.text("type") == "agent_progress":
        return inner.part("message"), inner.text("agentId")
    return data, ""


def _time(data: Record) -> datetime | None:
    try:
        return moment(data.text("timestamp"))
    except ValueError:
        return None


def _moved(text: str, folder: str, to: str) -> str:
    return text.replace(folder, to) if folder else text


def _piece(block: Record, role: str) -> str | None:
    """Return the words of a block: what was said, called or answered."""
    kind = block.text("type")
    if kind in ("text", "thinking"):
        return block.text(kind)
    if kind == "tool_use":
        return f"{block.text('name')} {json.dumps(block.part('input'), ensure_ascii=False)}"
    if kind == "tool_result" and role == "user":
        content = block.get("content")
        if isinstance(content, str):
            return content
        return "\n".join(one.text("text") for one in block.parts("content"))
    return None


# -- the store ------------------------------------------------------------------------------------


class Store:
    """A scratch data home with the journal alone: the facade needs no vectors, but what decides which sentences
    are ideas does."""

    def __init__(self, root: str, models: str) -> None:
        home = Home(os.path.join(root, "data")).make()
        self.time = datetime.now(timezone.utc)

        def load() -> Embedder:
            return registry.create(Settings(), models)

        embedding = Embedding(load, load)
        if not (models and embedding.load()):
            # Without a model they are told by their words: as long as one is waited for, none are.
            embedding.give_up()
        self.ctx = Context(
            home, Settings(), State.open(home.state_db), embedding,
            lambda path: Shelf(path, Journal.open(path, self._now)), now=self._now,
        )  # fmt: skip

    def _now(self) -> datetime:
        return self.time

    def grow(self, session: Session, until: datetime) -> None:
        """Capture what a session had written by a time."""
        end = session.written
        while end < len(session.lines) and session.lines[end][0] <= until:
            end += 1
        if end == session.written:
            return
        os.makedirs(os.path.dirname(session.path), exist_ok=True)
        with open(session.path, "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for _, line in session.lines[session.written : end])
        os.utime(session.path, (until.timestamp(), session.lines[end - 1][0].timestamp()))
        session.written = end
        is_over = end == len(session.lines)
        with privacy.for_folder(self.ctx, session.folder):
            read = store_session.read_turn(self.ctx, session.path, is_over)
            tasks = (deferred.TOPICS, deferred.SUMMARY) if is_over else ()
            store_session.store(self.ctx, [read], session.folder, tasks)
            find_ideas.find_all(self.ctx)
        while deferred.finish_some(self.ctx):
            pass

    def ask(self, session: Session, piece: Piece) -> tuple[list[str], float]:
        """Return the notes that a search is told, and the milliseconds that it took."""
        self.time = piece.at
        asked = ToolCall(
            **vars(asker_at(self.ctx, session.folder)),
            session=session.id,
            folder=session.folder,
            cwd=piece.cwd,
            tool=piece.tool,
            input=piece.given,
            agent=piece.agent,
            prompt=str(piece.turn),
        )
        with privacy.for_folder(self.ctx, session.folder):
            started = time.perf_counter()
            said = search_advice.before(self.ctx, asked)
        milliseconds = (time.perf_counter() - started) * 1000
        if failed := self.ctx.state.counters().get("facade_failed"):
            sys.exit(f"{failed} searches failed: the figures would be wrong")
        return notes_of(said.context), milliseconds

    def naming(self, session: Session, wanted: SearchTerms) -> frozenset[str]:
        """Return the kinds of the project's memories that have a name that is looked for."""
        by_name = [each for each in wanted.alternatives if each.names or each.files or each.word]
        asker = asker_at(self.ctx, session.folder)
        scope = replace(asker.scope, kinds=tuple(search_advice.WORTH))
        kinds: set[str] = set()
        for memory in (
            one for shelf in asker.shelves for one in shelf.journal.iter_memories(scope)
        ):
            if names_match.may_fit(wanted, "\n".join((memory.title, memory.text, *memory.files))):
                held = names_match.naming(memory.title, memory.text, memory.files)
                kinds |= {memory.kind for each in by_name if names_match.fits(each, held)}
        return frozenset(kinds)


# -- replaying ------------------------------------------------------------------------------------


def replay(folders: Sequence[str], models: str = "") -> Iterator[Asked]:
    """Yield every search of the transcripts below folders with what was said to it."""
    with tempfile.TemporaryDirectory(prefix="vector-memory-facade-") as root:
        sessions = sessions_below(folders, root)
        for session in sessions:
            os.makedirs(os.path.join(session.folder, ".git"), exist_ok=True)
        store = Store(root, models)
        store.ctx.settings = Settings(learn_from_outcomes=False)
        for session in sessions:
            for other in sessions:
                if other is session or other.began > session.began:
                    break
                store.grow(other, session.began)
            for place, piece in enumerate(session.pieces):
                looked = searches(piece.tool, piece.given) if piece.tool else None
                if looked is None:
                    continue
                notes, milliseconds = store.ask(session, piece)
                said = [_said(session, place, note) for note in notes]
                wanted = sought(looked.searches)
                naming = store.naming(session, wanted) if wanted else frozenset()
                yield Asked(half_of(session.project), bool(wanted), naming, milliseconds, said)
        store.ctx.close()


def _said(session: Session, place: int, note: str) -> Said:
    piece = session.pieces[place]
    before, after = session.pieces[: place + 1], session.pieces[place + 1 :]
    fresh = [one for one in signs(note) if not any(each.heard.holds(one) for each in before)]
    heard = [[each.is_said for each in after[:FOLLOWING] if each.heard.holds(one)] for one in fresh]
    used, used_first = any(map(any, heard)), any(by[0] for by in heard if by)
    prompts = [one for one in before if not one.is_said and one.turn and not one.tool]
    around = [*prompts[-1:], *before[-SHOWN_BEFORE - 1 : -1]]
    return Said(
        half_of(session.project), session.project, session.id, piece.agent, piece.given, note, used, used_first,
        [_shown(one) for one in around], [_shown(one) for one in after[:SHOWN_AFTER]],
    )  # fmt: skip


def _shown(piece: Piece) -> str:
    who = "says" if piece.is_said else "is given"
    return f"{piece.agent or 'session'} {who}: {piece.words[:PIECE_CHARS]}"


def words_of(note: str) -> str:
    """Return a note's words without its first line."""
    return note.partition("\n")[2]


# -- labels ---------------------------------------------------------------------------------------


def put_labels(asked: Sequence[Asked], labels: Sequence[dict[str, Any]]) -> None:
    """Give every note the label of the note of its session whose words it has."""
    for said in (one for each in asked for one in each.said):
        own = _bag(said.note)
        best = 0.0
        for label in labels:
            other = _bag(label["note"])
            shared = len(own & other)
            near = shared / max(1, len(own | other))
            fits = label["session"] == said.session and shared >= SAME_WORDS * min(
                len(own), len(other)
            )
            if fits and label["label"] is not None and near > best:
                said.label, best = label["label"], near


def _bag(note: str) -> set[str]:
    return set(_WORD.findall(words_of(note).casefold()))


def row(name: str, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the figures of some searches."""
    notes = [one for each in asked for one in each.said]
    labels = [one.label for one in notes]
    times = [one.milliseconds for one in asked] or [0.0]

    def share(part: int, whole: int) -> str:
        return f"{part}/{whole} ({100 * part / max(1, whole):.0f} %)"

    return {
        "projects": name,
        "searches": len(asked),
        "telling": sum(one.is_telling for one in asked),
        "named": sum(bool(one.naming) for one in asked),
        "by ideas": sum(bool(one.naming - set(search_advice.TALK)) for one in asked),
        "said": share(sum(bool(one.said) for one in asked), len(asked)),
        "of use": share(labels.count(2), len(notes)),
        "on topic": share(labels.count(1), len(notes)),
        "noise": share(labels.count(0), len(notes)),
        "unlabelled": labels.count(None),
        "used": share(sum(one.used for one in notes), len(notes)),
        "used first": share(sum(one.used_first for one in notes), len(notes)),
        "p50 ms": round(percentile(times, 0.5), 2),
        "p95 ms": round(percentile(times, 0.95), 2),
    }


def main() -> None:
    """Replay once."""
    parser = options(__doc__ or "")
    parser.add_argument("transcripts", nargs="+")
    parser.add_argument("--labels", nargs="*", default=[], help="files of labelled notes")
    parser.add_argument("--write", default="", help="a file for what was said, to be labelled")
    parser.add_argument(
        "--half", choices=HALVES, default="", help="write the notes of one half alone"
    )
    parser.add_argument(
        "--models", default="", help="the folder of models: ideas are found with vectors"
    )
    given = parser.parse_args()
    asked = list(replay(given.transcripts, given.models))
    put_labels(asked, [one for path in given.labels for one in read_lines(Path(path))])
    if given.write:
        notes = [one for each in asked for one in each.said if given.half in ("", one.half)]
        with open(given.write, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in notes)
    rows = [row(half, [one for one in asked if one.half == half]) for half in HALVES]
    show("Searches that memory answered", [*rows, row("all", asked)], given.json)


if __name__ == "__main__":
    main()
