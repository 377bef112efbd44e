"""When the agent searched, would memory have had something to say, and was it what it went on to open?
`python benchmarks/facade.py TRANSCRIPTS`

TRANSCRIPTS is a folder with real transcripts, replayed in the order of time in two ways:

- earlier: the store holds what was captured of earlier sessions of all projects;
- own part: it holds the session's own earlier turns, too, as if they had been a session before. Transcripts
  that were published one by one have nothing earlier than that.

Something said counts as relevant where what was shown names a file or an identifier that the session opened
in its next calls of that turn (Read, Edit, Write, a path that it searched, a file in a command; a name that it
searched for next). The strict column leaves out files and names that the search itself had named. The rule was
tuned on the sessions of one half (by a digest of their ids, `tuned`); `held out` is the other half. `--show`
prints what was said.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from common import options, percentile, show

from vector_memory.config import Settings
from vector_memory.index.reader import head_of, transcripts_below
from vector_memory.index.transcript import read_entries
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.observe.search.names_match import naming
from vector_memory.observe.search.pattern_terms import sought
from vector_memory.observe.search.searches import searches
from vector_memory.service.base import privacy
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import store_session
from vector_memory.service.tools import search_advice
from vector_memory.service.tools.tool_call import ToolCall
from vector_memory.system.paths import Home
from vector_memory.text.mentions import files as files_in

NEXT_CALLS = 10
_FILES = ("file_path", "notebook_path", "path")
_MACHINE_LINE = re.compile(r"^- \d{4}-\d\d-\d\d", re.MULTILINE)


@dataclass
class Made:
    """A tool call of a transcript: where it stands, and which of its session's turns it belongs to."""

    line: int
    turn: int
    tool: str
    given: dict[str, Any]
    cwd: str


@dataclass
class Session:
    """A transcript: its session, its folder, its raw lines, its calls, and when it began."""

    path: str
    id: str
    folder: str
    began: str = ""
    lines: list[str] = field(default_factory=list)
    calls: list[Made] = field(default_factory=list)

    @property
    def half(self) -> str:
        digest = hashlib.blake2b(self.id.encode(), digest_size=1).digest()[0]
        return "tuned" if digest % 2 else "held out"


@dataclass
class Asked:
    """A search, what was said to it, how long that took, and whether it was relevant."""

    half: str
    told: str
    milliseconds: float
    relevant: bool
    strict: bool


def sessions_below(folder: str) -> list[Session]:
    """Return the transcripts below a folder in the order of time, subagents' left out, each call once."""
    seen: set[str] = set()
    found = [_session(path, seen) for path in transcripts_below(folder) if "agent-" not in path]
    return sorted((one for one in found if one.folder), key=lambda one: one.began)


def _session(path: str, seen: set[str]) -> Session:
    identity, folder = head_of(path)
    made = Session(path, identity or path, folder)
    with open(path, encoding="utf-8", errors="replace") as file:
        made.lines = file.read().splitlines()
    turn = 0
    for entry in read_entries(path, final=True):
        data = entry.data
        made.began = made.began or str(data.get("timestamp") or "")
        message = data.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if data.get("type") == "user" and _is_prompt(content):
            turn += 1
        for block in content if isinstance(content, list) else ():
            if (
                isinstance(block, dict)
                and block.get("type") == "tool_use"
                and block.get("id") not in seen
            ):
                seen.add(block["id"])
                given = block.get("input")
                made.calls.append(
                    Made(entry.line, turn, str(block.get("name")), given if isinstance(given, dict) else {},
                         str(data.get("cwd") or folder))
                )  # fmt: skip
    return made


def _is_prompt(content: Any) -> bool:
    if isinstance(content, str):
        return True
    return isinstance(content, list) and any(
        isinstance(one, dict) and one.get("type") == "text" for one in content
    )


def opened(calls: list[Made]) -> tuple[set[str], set[str]]:
    """Return the base names of the files, and the names, that calls open or look for."""
    files: set[str] = set()
    names: set[str] = set()
    for call in calls:
        files |= {posixpath.basename(str(call.given[key])) for key in _FILES if call.given.get(key)}
        if call.tool == "Bash":
            files |= {
                posixpath.basename(one) for one in files_in(str(call.given.get("command") or ""))
            }
        looked = searches(call.tool, call.given)
        for one in sought(looked.searches).alternatives if looked else ():
            names |= set(one.names)
            files |= {name for name in one.files if "." in name}
    return {one.lower() for one in files if "." in one.strip(".")}, names


def judge(told: str, call: Made, after: list[Made]) -> tuple[bool, bool]:
    """Return whether what was said names what was opened next, and whether it does so without what the
    search itself had named."""
    said = _MACHINE_LINE.split(told, maxsplit=1)[-1]
    held = naming("", said)
    bases = {posixpath.basename(one) for one in held.files}
    files, names = opened(after)
    own_files, own_names = opened([call])
    relevant = bool(bases & files or held.names & (names - own_names))
    return relevant, bool(bases & (files - own_files) or held.names & (names - own_names))


class Store:
    """A scratch data home with the journal alone: the facade needs no vectors."""

    def __init__(self, folder: str) -> None:
        home = Home(os.path.join(folder, "data")).make()
        self.time = datetime.now(timezone.utc)
        self.ctx = Context(
            home, Settings(), State.open(home.state_db), Embedding(_no_model, _no_model),
            lambda path: Shelf(path, Journal.open(path)), now=lambda: self.time,
        )  # fmt: skip

    def keep(self, path: str, folder: str, final: bool) -> None:
        """Capture what is new in a transcript."""
        with privacy.for_folder(self.ctx, folder):
            store_session.index_transcript(self.ctx, path, folder, final)

    def ask(self, session: Session, call: Made) -> tuple[str, float]:
        """Return what is said to a search, and the milliseconds that it took."""
        asked = ToolCall(
            **vars(asker_at(self.ctx, session.folder)),
            session=session.id,
            folder=session.folder,
            cwd=call.cwd,
            tool=call.tool,
            input=call.given,
            prompt=str(call.turn),
        )
        with privacy.for_folder(self.ctx, session.folder):
            started = time.perf_counter()
            said = search_advice.before(self.ctx, asked)
        if failed := self.ctx.state.counters().get("facade_failed"):
            sys.exit(f"{failed} searches failed: the figures would be wrong")
        return said.context, (time.perf_counter() - started) * 1000


def _no_model() -> Any:
    raise RuntimeError("no model is needed here")


def replay(found: list[Session], own_part: bool, shown: bool) -> Iterator[Asked]:
    """Yield every search of the sessions with what was said to it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        for number, session in enumerate(found):
            grown = os.path.join(folder, f"grown-{number}.jsonl")
            written = 0
            for place, call in enumerate(session.calls):
                if searches(call.tool, call.given) is None:
                    continue
                if own_part:
                    with open(grown, "a", encoding="utf-8") as file:
                        for line in session.lines[written : call.line - 1]:
                            file.write(line.replace(session.id, f"before-{session.id}") + "\n")
                    written = max(written, call.line - 1)
                    if written:
                        store.keep(grown, session.folder, final=False)
                told, milliseconds = store.ask(session, call)
                after = [one for one in session.calls[place + 1 :] if one.turn == call.turn][
                    :NEXT_CALLS
                ]
                relevant, strict = judge(told, call, after) if told else (False, False)
                if shown and told:
                    after_words = [json.dumps(one.given)[:120] for one in after]
                    sys.stdout.write(
                        f"== {session.half} {session.path[-60:]} relevant={relevant} strict={strict}\n"
                        f"{json.dumps(call.given)}\n{told}\n" + "\n".join(after_words) + "\n\n"
                    )
                yield Asked(session.half, told, milliseconds, relevant, strict)
            if not own_part:
                store.keep(session.path, session.folder, final=True)
            elif written < len(session.lines):
                with open(grown, "a", encoding="utf-8") as file:
                    for line in session.lines[written:]:
                        file.write(line.replace(session.id, f"before-{session.id}") + "\n")
                store.keep(grown, session.folder, final=True)
        store.ctx.close()


def row(name: str, half: str, asked: list[Asked]) -> dict[str, Any]:
    """Return the figures of some searches."""
    said = [one for one in asked if one.told]
    times = [one.milliseconds for one in asked] or [0.0]
    return {
        "replay": name,
        "sessions": half,
        "searches": len(asked),
        "said": len(said),
        "relevant": f"{sum(one.relevant for one in said)}/{len(said)}",
        "strict": f"{sum(one.strict for one in said)}/{len(said)}",
        "p50 ms": round(percentile(times, 0.5), 2),
        "p95 ms": round(percentile(times, 0.95), 2),
    }


def main() -> None:
    """Replay both ways."""
    parser = options(__doc__ or "")
    parser.add_argument("transcripts")
    parser.add_argument("--show", action="store_true", help="print what was said to which search")
    given = parser.parse_args()
    found = sessions_below(given.transcripts)
    rows = []
    for name, own_part in (("earlier", False), ("own part", True)):
        asked = list(replay(found, own_part, given.show))
        rows += [
            row(name, half, [one for one in asked if one.half == half])
            for half in ("tuned", "held out")
        ]
    show("Searches answered from memory", rows, given.json)


if __name__ == "__main__":
    main()
