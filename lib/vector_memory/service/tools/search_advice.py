"""What memory knows of what is searched for, at the moment of the search.

It speaks only where a memory names what is looked for, once for a memory and a search in a session, in
few tokens, and never breaks a search: whatever goes wrong here, the search runs as if nobody had looked.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial

from vector_memory import model
from vector_memory.model import PASSAGE, Memory
from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.intent import changes
from vector_memory.observe.search import names_match as names
from vector_memory.observe.search.names_match import MemoryNames
from vector_memory.observe.search.pattern_terms import Alternative, SearchTerms, sought
from vector_memory.observe.search.searches import SearchCall, searches
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import ShownTexts
from vector_memory.service.base import client_memory, context_block, delivery
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_tally import SEARCH
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.memory import lookup
from vector_memory.service.tools import file_changes
from vector_memory.service.tools.edited_files import edits_of
from vector_memory.service.tools.tool_call import NOTHING, ToolAnswer, ToolCall
from vector_memory.text import analysis, fence, mentions
from vector_memory.text.harmless import is_marked

log = logging.getLogger(__name__)

TITLE = "Known of what is searched for:"
SERVED = (
    "Not searched: this is known of it, and the files named are unchanged since. "
    "Search again, the same way, for the real result."
)
SEARCH_MARK = "search:"
"""What stands before a search's digest among what a session was shown."""
MOST_CANDIDATES = 40
MOST_BY_PARTS = 12
"""Memories that are looked at where none has a name as it stands: `journal.load_it` has `load_it`."""
MOST_NAMING = 25
"""So many of them name what the project is about."""
MOST_ROWS = 4_000
"""A word that more memories of a store hold is no name: to rank them takes longer than a search may wait."""
MOST_WEIGHED = 8
"""Memories whose files are looked up."""
LONGEST_TURN = timedelta(hours=6)
MOST_FILES = 3
"""Files that a note names in its head."""
LONGEST_FILE = 80
"""Characters of a file's path, and of several together."""
LEAST_CONFIDENCE = 0.25
TALK = (PASSAGE, model.TODO, model.FACT)
"""Kinds that say nothing of a name by themselves."""
WORTH = {
    model.DECISION: 3.0, model.SOLUTION: 3.0, model.CONCLUSION: 3.0, "note": 3.0, "fix": 3.0, model.PROCEDURE: 3.0,
    model.PREFERENCE: 2.5, model.PROBLEM: 2.5, model.CAUSE: 2.5, model.FACT: 1.5, model.CONTEXT: 1.5, PASSAGE: 1.0,
    model.TODO: 0.5,
}  # fmt: skip
"""What a memory of a kind is worth here: where something is or why it is so, before mere talk. Kinds that
are not named, questions among them, never come."""
ASSERTING = frozenset(WORTH) - set(TALK)
WEIGHTY = (model.DECISION, "note", "fix")
"""Kinds that speak however often a name is spoken of."""
ANSWERING = ASSERTING - {model.PROBLEM, model.PREFERENCE, model.CONTEXT}
"""Kinds of memories that may stand in a search's place."""
_CLAUSE_END = re.compile(r"(?<=[.!?;:])\s+")
_saying = threading.Lock()
"""Held from looking at what was shown to noting what is: searches of one message come at once."""


@dataclass(frozen=True)
class NamedMemory:
    """A memory that names what is looked for: what it names, what it tells, its files, the likeliest first, and
    what became of them."""

    memory: Memory
    shelf: Shelf
    held: MemoryNames
    told: names.TellingPiece
    named: tuple[str, ...] = ()
    score: float = 0.0
    files: file_changes.FileStates = file_changes.FileStates()


def before(ctx: Context, call: ToolCall) -> ToolAnswer:
    """Return what is said to a search that is about to run: context beside it or, in the mode for that
    and where memory surely has it, an answer in its place."""
    serves = ctx.settings.facade == "serve"
    if ctx.settings.facade == "off":
        return NOTHING
    try:
        if serves:
            _note_edits(ctx, call)
        return _said(ctx, call, serves)
    except Exception as error:
        log.warning("a search got no memory: %r", error)
        ctx.count("facade_failed")
        return NOTHING


def _said(ctx: Context, call: ToolCall, may_serve: bool) -> ToolAnswer:
    looked = searches(call.tool, call.input)
    if looked is None:
        return NOTHING
    wanted = sought(looked.searches)
    if not wanted or _is_elsewhere(wanted, call):
        return NOTHING
    wanted = replace(wanted, alternatives=_exact(wanted), places=_within(wanted, call))
    ctx.count("facade_searches")
    found = find(ctx, call, wanted)
    if not found:
        return NOTHING
    with _saying:
        return _present(ctx, call, looked, wanted, found, may_serve)


def _exact(wanted: SearchTerms) -> tuple[Alternative, ...]:
    """Return what is looked for by name; words where nothing is: who looks for both means the names."""
    return (
        tuple(
            alternative
            for alternative in wanted.alternatives
            if alternative.names or alternative.files
        )
        or wanted.alternatives
    )


def listener(call: ToolCall) -> str:
    """Return by which name it is noted what was shown: a subagent sees nothing of what its session saw."""
    return f"{call.session}:{call.agent}" if call.agent else call.session


def _is_elsewhere(wanted: SearchTerms, call: ToolCall) -> bool:
    """Whether a search looks nowhere in the project."""
    roots = {*_roots(call), call.folder, call.cwd, os.path.realpath(call.cwd)}
    places = (os.path.join(call.cwd, os.path.expanduser(place)) for place in wanted.places)
    paths = [os.path.normpath(place) for place in places]
    nested = (os.path.commonpath((path, root)) in (path, root) for path in paths for root in roots)
    return bool(paths) and not any(nested)


def _within(wanted: SearchTerms, call: ToolCall) -> tuple[str, ...]:
    """Return the places that are looked in, without the whole project: that says nothing."""
    whole = {*_roots(call), call.folder}
    return tuple(
        place
        for place in wanted.places
        if os.path.normpath(os.path.join(call.cwd, place)) not in whole
    )


def _roots(call: ToolCall) -> tuple[str, ...]:
    return tuple(dict.fromkeys((os.path.realpath(call.folder), call.place.root)))


# -- what is found --------------------------------------------------------------------------------


def find(ctx: Context, call: ToolCall, wanted: SearchTerms) -> list[NamedMemory]:
    """Return the memories that name what is looked for and may come, the most telling first.

    Words and names find them: no vector is made, whose model would take longer than all else.
    """
    exact = [
        term
        for alternative in wanted.alternatives
        for term in (*alternative.names, *alternative.words, *alternative.files)
    ]
    exact += [analysis.stem(one) for one in exact]
    parts = [term for alternative in wanted.alternatives for term in alternative.terms]
    found = _matching(ctx, call, wanted, exact, MOST_CANDIDATES) or _matching(
        ctx, call, wanted, parts, MOST_BY_PARTS
    )
    complete = partial(_with_files, wanted, (*_roots(call), call.folder))
    return [
        named_memory
        for named_memory in map(complete, _best(ctx, found))
        if named_memory is not None
    ]


def _matching(
    ctx: Context, call: ToolCall, wanted: SearchTerms, terms: Sequence[str], most: int
) -> list[NamedMemory]:
    """Return the memories that say something of what is looked for. What many of them name is what the project is
    about: of that speaks what was decided or noted on purpose, and nothing else."""
    held = [
        (memory, shelf, names.naming(memory.title, memory.text, memory.files))
        for shelf in call.shelves
        for memory in _candidates(ctx, call, shelf, wanted, terms, most)
    ]
    fitting = {one for _, _, named in held for one in names.fitted(wanted, named)}
    rare = replace(
        wanted,
        alternatives=tuple(alternative for alternative in fitting if _is_rare(call, alternative)),
    )
    found = []
    for memory, shelf, named in held:
        title = memory.title if memory.kind in ASSERTING else None
        told = names.told(wanted if memory.kind in WEIGHTY else rare, memory.text, title)
        if told.piece:
            found.append(NamedMemory(memory, shelf, named, told))
    return found


def _is_rare(call: ToolCall, one: Alternative) -> bool:
    """Whether not every other memory of the project names it, or has the one plain word of a file's name."""
    plain = [piece for piece in one.files if not names.is_joined(piece)]
    terms = one.names or [*plain, *map(analysis.stem, plain)]
    scope = replace(call.scope, kinds=tuple(WORTH))
    return all(
        shelf.journal.count_matching(terms, scope, MOST_NAMING) < MOST_NAMING
        for shelf in call.shelves
    )


def _candidates(
    ctx: Context, call: ToolCall, shelf: Shelf, wanted: SearchTerms, terms: Sequence[str], most: int
) -> Iterator[Memory]:
    """Yield a store's memories that may come and have letters of what is looked for."""
    distinct = list(dict.fromkeys(terms))
    rows = shelf.journal.matching(distinct, call.scope, most, most_rows=MOST_ROWS)
    for memory in shelf.journal.by_seqs([row.seq for row in rows]).values():
        texts = (memory.title, memory.text, *memory.files)
        if _may_come(ctx, memory) and not call.sees(memory) and names.may_fit(wanted, texts):
            yield memory


def _best(ctx: Context, found: Sequence[NamedMemory]) -> list[NamedMemory]:
    weighed = [replace(named_memory, score=_score(ctx, named_memory)) for named_memory in found]
    return sorted(weighed, key=lambda one: (one.score, one.memory.created_at), reverse=True)[
        :MOST_WEIGHED
    ]


def _with_files(wanted: SearchTerms, roots: Sequence[str], one: NamedMemory) -> NamedMemory | None:
    """Return a memory with the files that it names, those that are looked in first; None where it may not
    speak. What was decided or found out about a name may, but for files that are not where is looked; anything
    else has to say where that is."""
    memory = one.memory
    is_talk = memory.kind not in ASSERTING
    files: Sequence[str] = [*mentions.files(memory.text), *memory.files]
    if is_talk:
        files = [one.told.file] if one.told.file else ()
    named = _distinct(files, roots)
    here = [file for file in named if any(names.in_place(place, file) for place in wanted.places)]
    named = here + [file for file in named if file not in here and names.says_where(file)]
    if wanted.places and named and not here:
        return None
    if not names.by_name(wanted, one.held) and (not named or is_marked(memory.text)):
        return None
    return replace(one, named=tuple(named))


def _distinct(files: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Return files, each once and relative where they lie in the project: of two with one base name the
    longer path."""
    best: dict[str, str] = {}
    for file in files:
        file = file.lstrip("@")
        for root in roots:
            file = file.removeprefix(root.rstrip(os.sep) + os.sep)
        base = os.path.basename(file)
        known = best.get(base, "")
        if not known or (len(file) > len(known) and not file.startswith(("/", "~"))):
            best[base] = file
    return list(best.values())


def _may_come(ctx: Context, memory: Memory) -> bool:
    now = ctx.now()
    return (
        memory.kind in WORTH
        and memory.collection not in model.QUIET
        and lookup.is_open(memory)
        and memory.confidence >= LEAST_CONFIDENCE
        and (memory.expires_at is None or memory.expires_at > now)
        and (memory.valid_until is None or memory.valid_until > now)
    )


def _score(ctx: Context, one: NamedMemory) -> float:
    """Return what orders memories: how exactly they name it, what kind they are, whether they name a
    file themselves, whose words they are, and how fresh they are."""
    days = max(0.0, (ctx.now() - one.memory.created_at).total_seconds() / 86_400)
    return float(
        2.0 * one.told.weight
        + WORTH[one.memory.kind]
        + 2.0 * bool(one.held.files)
        + 0.5 * one.memory.trust
        + 0.5 ** (days / 30.0)
    )


# -- what is said ---------------------------------------------------------------------------------


def _present(
    ctx: Context,
    call: ToolCall,
    looked: SearchCall,
    wanted: SearchTerms,
    found: Sequence[NamedMemory],
    may_serve: bool,
) -> ToolAnswer:
    """Return the best of what was found, fenced, and note that it was said."""
    key = listener(call)
    shown = ctx.state.shown(key)
    mark = SEARCH_MARK + _digest(wanted)
    if mark in shown:
        return NOTHING
    fresh = next(_not_told(found, shown), None)
    if fresh is None:
        return NOTHING
    fresh = replace(fresh, files=_files_of(fresh, _roots(call)))
    serves = may_serve and _may_serve(ctx, call, looked, wanted, fresh)
    title = SERVED if serves else TITLE
    note = _note(ctx, fresh, wanted, title)
    known = client_memory.known_to_client(call.transcript)
    told = note and context_block.show(ctx, key, [note], title, known, part=SEARCH)
    if not told:
        return NOTHING
    delivery.add_shown(ctx, key, [mark])
    ctx.count("facade_served" if serves else "facade_spoke")
    ctx.uses.count(fresh.shelf, [fresh.memory.id], ctx.now())
    return ToolAnswer(instead=told) if serves else ToolAnswer(context=told)


def _digest(wanted: SearchTerms) -> str:
    """Return what a search is known by: what it looks for, however it is written."""
    words = sorted(
        repr((alternative.names, alternative.words, alternative.files))
        for alternative in wanted.alternatives
    )
    return hashlib.blake2b("\n".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _not_told(found: Sequence[NamedMemory], shown: set[str]) -> Iterator[NamedMemory]:
    """Yield what the session was not given, neither itself nor in another memory's words."""
    told = ShownTexts()
    ids = list(shown)
    for shelf in (
        {id(named_memory.shelf): named_memory.shelf for named_memory in found}.values()
        if ids
        else ()
    ):
        for memory in shelf.journal.by_ids(ids).values():
            told.take(memory)
    yield from (
        named_memory
        for named_memory in found
        if named_memory.memory.id not in shown and not told.holds(named_memory.memory)
    )


def _note(ctx: Context, one: NamedMemory, wanted: SearchTerms, title: str) -> fence.Note | None:
    """Return what is said of a memory, None where the budget does not hold the most of it."""
    head = _head(one, project_names([one.shelf])[one.memory.project])
    foreign = render.is_others(one.memory)
    room = ctx.settings.facade_tokens - fence.tokens(fence.fence([], title)) - 4
    room -= fence.tokens(fence.FOREIGN) if foreign or is_marked(one.memory.text) else 0
    if room < fence.tokens(head) + render.LEAST_NOTE_TOKENS:
        return None
    whole = fence.Note(one.memory.id, head, one.memory.text, foreign=foreign)
    clauses = _CLAUSE_END.split(one.told.piece.lower())
    note = fence.fitting(whole, room, [*clauses, *_around(wanted)])
    is_told = note.tokens <= room + 4 and names.holds_most(note.text, one.told.piece)
    return note if is_told else None


def _around(wanted: SearchTerms) -> list[str]:
    """Return the words around which a text is cut: names, where they are looked for."""
    exact = [one for part in wanted.alternatives for one in (*part.names, *part.files)]
    return exact or [one for part in wanted.alternatives for one in part.words]


def _head(one: NamedMemory, project: str) -> str:
    """Return a note's first line: what every memory's says, without the transcript that it came from, whose
    name is long, and with its files and what became of them."""
    memory = one.memory
    origin = "" if memory.kind == PASSAGE else memory.origin.value
    if memory.is_suspicious:
        origin = f"{origin} · suspicious".strip(" ·")
    date = memory.created_at.date().isoformat()
    line = fence.head(date, memory.kind, project, memory.id[:8], origin)
    files = [file for file in one.named if file not in (*one.files.changed, *one.files.gone)]
    named = [file[-LONGEST_FILE:] for file in files[:MOST_FILES]]
    while len(", ".join(named)) > LONGEST_FILE:
        named.pop()
    told = [", ".join(named), one.files.words()]
    return " · ".join([line, *filter(None, told)])


def _files_of(one: NamedMemory, roots: Sequence[str]) -> file_changes.FileStates:
    """Return what became of the files that a memory is about, since its turn was over: what the turn itself
    wrote is what the memory speaks of."""
    memory = one.memory
    made = memory.updated_at or memory.created_at
    return file_changes.look(one.named, roots, max(made, _turn_end(one) or made))


def _turn_end(one: NamedMemory) -> datetime | None:
    """Return by when the turn of a memory was over: when the next one began, else when the transcript was
    written last; None where that is not known."""
    source = one.memory.source
    if not source.session or source.turn <= 0:
        return None
    following = one.shelf.journal.of_turn(replace(source, turn=source.turn + 1), one.memory.project)
    if following:
        return min(other.created_at for other in following)
    try:
        written = datetime.fromtimestamp(os.stat(source.path).st_mtime, timezone.utc)
    except OSError:
        return None
    # A copy of an old transcript was written today.
    return min(written, one.memory.created_at + LONGEST_TURN)


# -- in a search's place --------------------------------------------------------------------------


def _may_serve(
    ctx: Context, call: ToolCall, looked: SearchCall, wanted: SearchTerms, best: NamedMemory
) -> bool:
    """Whether a memory may stand in a search's place: it names all that is looked for, says where, its
    files are as they were, and neither a subagent nor an edit waits for the real result."""
    return (
        looked.alone
        and not call.agent
        and bool(call.prompt)
        and best.memory.kind in ANSWERING
        and best.memory.trust > 0
        and not is_marked(best.memory.text)
        and names.names_all(wanted, best.held)
        and bool(best.files.same)
        and not (best.files.changed or best.files.gone)
        and not _is_editing(ctx, call, wanted)
    )


def _is_editing(ctx: Context, call: ToolCall, wanted: SearchTerms) -> bool:
    edits = edits_of(ctx.running, call.session)
    if edits.in_turn(call.prompt):
        return True
    paths = [os.path.join(call.cwd, os.path.expanduser(place)) for place in wanted.places]
    return any(edits.touch(path) for path in paths)


def _note_edits(ctx: Context, call: ToolCall) -> None:
    """Note which files a call is about to change."""
    around = CommandSurroundings(call.folder, call.cwd, os.path.expanduser("~"))
    view = changes.of_call(call.tool, call.input, around)
    files = [change.path for change in view.changes if change.kind in changes.FILE_KINDS]
    if files:
        edits_of(ctx.running, call.session).add(call.prompt, files)
