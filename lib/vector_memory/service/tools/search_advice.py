"""What memory knows of what is searched for, at the moment of the search.

It speaks only where a memory names what is looked for, once for a memory and a search in a session, in
few tokens, and never breaks a search: whatever goes wrong here, the search runs as if nobody had looked.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from itertools import compress, islice, product

from vector_memory import model
from vector_memory.index.voices import USER, voices
from vector_memory.model import PASSAGE, Memory, Origin
from vector_memory.observe.search import names_match as names
from vector_memory.observe.search.names_match import MemoryNames
from vector_memory.observe.search.pattern_terms import Alternative, SearchTerms, sought
from vector_memory.observe.search.searches import SearchCall, searches
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import ShownTexts
from vector_memory.retrieve.newer import SAME_THING, ShelvedMemory, newer_of
from vector_memory.retrieve.search import holds_at
from vector_memory.service.base import client_memory, context_block, delivery
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import SEARCH
from vector_memory.service.base.shelf import Shelf, by_ids, project_names
from vector_memory.service.memory import lookup
from vector_memory.service.tools import file_changes, search_answer
from vector_memory.service.tools.tool_call import NOTHING, ToolAnswer, ToolCall
from vector_memory.text import analysis, days, fence, mentions
from vector_memory.text.harmless import is_marked
from vector_memory.text.words import clauses_in, words_in

log = logging.getLogger(__name__)

TITLE = "Known of what is searched for:"
SEARCH_MARK = "search:"
"""What stands before a search's digest among what a session was shown."""
MOST_CANDIDATES, MOST_OF_ONE_WORD = 50, 400
"""Memories that are looked at, and those among which they are looked for where a name has one word of its own, as
`load_it` has: others have that word, too."""
MOST_NAMING = 25
"""What so many memories name is what the project is about: it tells nothing of one search."""
MOST_ROWS = 4_000
"""A word that more memories of a store hold is no name: to rank them takes longer than a search may wait."""
MOST_WEIGHED, MOST_LIKE = 8, 12
"""Memories whose files are looked up, and memories near one among which a newer one is looked for."""
LONGEST_TURN = timedelta(hours=6)
MOST_FILES, LONGEST_FILE = 3, 80
"""Files that a note names in its head, and characters of one and of all of them."""
LEAST_CONFIDENCE = 0.25
TALK = (PASSAGE, model.TODO)
_CHANGE_WORDS = frozenset(
    ("now", "instead", "longer", "anymore", "moved", "renamed", "replaced", "switched", "jetzt", "statt", "stattdessen")
)  # fmt: skip
"""By which a text says that it was otherwise before."""
"""Kinds that say nothing of a name by themselves."""
WORTH = {
    model.DECISION: 3.0, model.SOLUTION: 3.0, model.CONCLUSION: 3.0, "note": 3.0, "fix": 3.0, model.PROCEDURE: 3.0,
    model.PREFERENCE: 2.5, model.PROBLEM: 2.5, model.CAUSE: 2.5, model.FACT: 1.5, model.CONTEXT: 1.5, PASSAGE: 1.0,
    model.TODO: 0.5,
}  # fmt: skip
"""What a memory of a kind is worth here: where something is or why it is so, before mere talk. Kinds that
are not named, questions among them, never come."""
WEIGHTY = (model.DECISION, "note", "fix")
"""Kinds that speak however often a name is spoken of."""
_saying = threading.Lock()
"""Held from looking at what was shown to noting what is: searches of one message come at once."""


@dataclass(frozen=True)
class NamedMemory:
    """A memory that says something of what is looked for: what it names, the piece that says most, whether it
    has a name that is looked for, where it may speak, its files, the likeliest first, and what was said since that may
    have taken its place."""

    memory: Memory
    shelf: Shelf
    memory_names: MemoryNames
    says: names.TellingPiece
    is_named: bool = False
    files: tuple[str, ...] = ()
    since: NamedMemory | None = None


def before(ctx: Context, call: ToolCall) -> ToolAnswer:
    """Return what is said to a search that is about to run: context beside it or, in the mode for that
    and where memory surely has it, an answer in its place."""
    if ctx.settings.facade == "off":
        return NOTHING
    try:
        if ctx.settings.facade == "serve":
            search_answer.note_edits(ctx, call)
        search_call = searches(call.tool, call.input)
        terms = _terms_of_search(call, search_call) if search_call else None
        return _answer(ctx, call, search_call, terms) if search_call and terms else NOTHING
    except Exception as error:
        log.warning("a search got no memory: %r", error)
        ctx.count("facade_failed")
        return NOTHING


def _terms_of_search(call: ToolCall, search_call: SearchCall) -> SearchTerms | None:
    """Return what a search looks for, None where it looks nowhere in the project, or for nothing that a memory could
    know."""
    terms = sought(search_call.searches)
    whole_project = {*_roots(call), call.folder}
    roots = {*whole_project, call.cwd, os.path.realpath(call.cwd)}
    expanded = (os.path.join(call.cwd, os.path.expanduser(place)) for place in terms.places)
    paths = list(map(os.path.normpath, expanded))
    pairs = product(paths, roots)
    if not terms or (paths and not any(os.path.commonpath(pair) in pair for pair in pairs)):
        return None
    # The whole project is no place.
    return replace(
        terms, places=tuple(compress(terms.places, (path not in whole_project for path in paths)))
    )


def _roots(call: ToolCall) -> tuple[str, ...]:
    return tuple(dict.fromkeys((os.path.realpath(call.folder), call.place.root)))


# -- what is found --------------------------------------------------------------------------------


def find(ctx: Context, call: ToolCall, wanted: SearchTerms) -> list[NamedMemory]:
    """Return the memories that say something of what is looked for and may come, the most telling first.

    Words and names find them: no vector is made, whose model would take longer than all else.
    """
    telling = _telling_memories(ctx, call, wanted)
    now, roots = ctx.now(), (*_roots(call), call.folder)
    telling.sort(
        key=lambda candidate: (_score(candidate, now), candidate.memory.created_at), reverse=True
    )
    placed = (_with_files(wanted, roots, candidate) for candidate in telling[:MOST_WEIGHED])
    return [candidate for candidate in placed if candidate is not None]


def _telling_memories(ctx: Context, call: ToolCall, wanted: SearchTerms) -> list[NamedMemory]:
    """Return the memories that say something of what is looked for. What many of them name is what the project is
    about: of that only what was decided or noted on purpose is told."""
    candidates = [
        (memory, shelf, names.naming(memory.title, memory.text, memory.files))
        for shelf in call.shelves
        for memory in _candidates(ctx, call, shelf, wanted)
    ]
    all_names = [memory_names for _, _, memory_names in candidates]
    # Each alternative, a plain word made a name where it is one, with the alternative as it was written.
    as_written = {
        _as_name(ctx, alternative, all_names): alternative for alternative in wanted.alternatives
    }
    # Who looks for names and words means the names.
    by_name = tuple(
        alternative for alternative in as_written if alternative.names or alternative.files
    ) or tuple(as_written)
    wanted = replace(wanted, alternatives=by_name)
    fitting = Counter(
        alternative
        for memory_names in all_names
        for alternative in names.fitted(wanted, memory_names)
    )
    rare_alternatives = tuple(
        alternative
        for alternative, count in fitting.items()
        if (not alternative.names or count < MOST_NAMING) and _is_rare(call, alternative)
    )
    weighty_alternatives = tuple(
        alternative
        for alternative in by_name
        if not as_written[alternative].word or alternative in rare_alternatives
    )
    in_talk = tuple(_for_talk(as_written[alternative]) for alternative in rare_alternatives)
    rare, weighty, of_talk = (
        replace(wanted, alternatives=alternatives)
        for alternatives in (rare_alternatives, weighty_alternatives, in_talk)
    )
    telling = []
    for memory, shelf, memory_names in candidates:
        is_talk = memory.kind in TALK
        terms = weighty if memory.kind in WEIGHTY else of_talk if is_talk else rare
        topic = None if is_talk else "\n".join((memory.title, *memory.files))
        says = names.telling_piece(terms, memory.text, topic)
        if says.text:
            telling.append(
                NamedMemory(memory, shelf, memory_names, says, names.by_name(wanted, memory_names))
            )
    return telling


def _as_name(
    ctx: Context, alternative: Alternative, all_names: Iterable[MemoryNames]
) -> Alternative:
    """Return a plain word as a name where it is no word of the language, or stands as a name in some memory: from there
    on it is one however it is written ("kill celery" after "`celery` hangs")."""
    word = alternative.word
    if word and (
        ctx.embedding.is_name(word)
        or any(memory_names.is_name_here(word) for memory_names in all_names)
    ):
        return replace(alternative, names=(word,), words=(), word="")
    return alternative


def _for_talk(alternative: Alternative) -> Alternative:
    """Return what talk has to have: there a plain word is no name, nor is a piece of a file's."""
    return replace(alternative, word="", names=() if alternative.files else alternative.names)


def _is_rare(call: ToolCall, alternative: Alternative) -> bool:
    """Whether not every other memory of the project names it, or has its one plain word."""
    plain = [piece for piece in alternative.files if not names.is_joined(piece)]
    plain += [alternative.word] if alternative.word else []
    joined = [name for name in alternative.names if not name.isalpha()]
    plain += [] if joined else alternative.names
    terms = joined or [*plain, *map(analysis.stem, plain)]
    scope = replace(call.scope, kinds=tuple(WORTH))
    return all(
        shelf.journal.count_matching(terms, scope, MOST_NAMING) < MOST_NAMING
        for shelf in call.shelves
    )


def _candidates(
    ctx: Context, call: ToolCall, shelf: Shelf, wanted: SearchTerms
) -> Iterator[Memory]:
    """Yield a store's memories that may come and have letters of what is looked for. Names are asked for as they stand
    and by their parts: `journal.load_it` has `load_it`, though the index has it as a whole and in words."""
    exact = {
        term
        for alternative in wanted.alternatives
        for term in (*alternative.names, *alternative.words, *alternative.files, alternative.word)
        if term
    }
    parts = {term for alternative in wanted.alternatives for term in alternative.terms}
    written_names = (
        name
        for alternative in wanted.alternatives
        for name in (*alternative.names, alternative.word)
    )
    in_a_row = set(map(_index_phrase, written_names)) - {""}
    terms = sorted(exact | set(map(analysis.stem, exact)) | parts | in_a_row)
    scope = replace(call.scope, kinds=tuple(WORTH))
    is_of_words = all(" " in words for words in in_a_row)
    most = MOST_CANDIDATES if is_of_words else MOST_OF_ONE_WORD
    rows = shelf.journal.matching(terms, scope, most, most_rows=MOST_ROWS)
    looked_at = shelf.journal.letters([row.seq for row in rows])
    fitting = (seq for seq, letters in looked_at if names.may_fit(wanted, letters))
    for memory in shelf.journal.by_seqs(list(islice(fitting, MOST_CANDIDATES))).values():
        if _may_come(ctx, memory) and not call.sees(memory):
            yield memory


def _index_phrase(name: str) -> str:
    """Return the words of a name as they follow each other in the index, whatever it is a part of there."""
    return " ".join(analysis.analyse(" ".join(analysis.parts_of(name))))


def _may_come(ctx: Context, memory: Memory) -> bool:
    return (
        memory.collection not in model.QUIET
        and lookup.is_open(memory)
        and memory.confidence >= LEAST_CONFIDENCE
        and holds_at(memory, ctx.now())
    )


def _score(candidate: NamedMemory, now: datetime) -> float:
    """Return what orders memories: how exactly they name it, what kind they are, whether they name a
    file themselves, whose words they are, and how fresh they are."""
    days = max(0.0, (now - candidate.memory.created_at).total_seconds() / 86_400)
    return float(
        2.0 * candidate.says.weight
        + WORTH[candidate.memory.kind]
        + 2.0 * bool(candidate.memory_names.files)
        + 0.5 * candidate.memory.trust
        + 0.5 ** (days / 30.0)
    )


def _with_files(
    wanted: SearchTerms, roots: Sequence[str], candidate: NamedMemory
) -> NamedMemory | None:
    """Return a memory with the files that it names, those in the searched places first; None where it may not
    speak. One that has the searched name itself may, unless all of its files lie elsewhere; any other has to
    name a file."""
    memory = candidate.memory
    files: Sequence[str] = [*mentions.files(memory.text), *memory.files]
    if memory.kind in TALK:
        files = [candidate.says.file] if candidate.says.file else ()
    distinct = _distinct_files(files, roots)
    files_here = [
        file for file in distinct if any(names.in_place(place, file) for place in wanted.places)
    ]
    telling = files_here + [
        file for file in distinct if file not in files_here and names.says_where(file)
    ]
    if wanted.places and telling and not files_here:
        return None
    if not candidate.is_named and (not telling or is_marked(memory.text)):
        return None
    return replace(candidate, files=tuple(telling))


def _distinct_files(files: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Return files, each once and relative where they lie in the project: of two with one base name the
    longer path."""
    best: dict[str, str] = {}
    for file in files:
        file = file.lstrip("@")
        for root in roots:
            file = file.removeprefix(root.rstrip(os.sep) + os.sep)
        base = os.path.basename(file)
        shorter = best.get(base, "")
        if not shorter or (len(file) > len(shorter) and not file.startswith(("/", "~"))):
            best[base] = file
    return list(best.values())


# -- what is said ---------------------------------------------------------------------------------


def _answer(
    ctx: Context, call: ToolCall, search_call: SearchCall, wanted: SearchTerms
) -> ToolAnswer:
    """Return the best of what is found, fenced, and note that it was said."""
    ctx.count("facade_searches")
    candidates, reader, mark = find(ctx, call, wanted), _reader(call), SEARCH_MARK + _digest(wanted)
    with _saying:
        shown = ctx.state.shown_ids(reader) if candidates else set()
        candidate = None if mark in shown else next(_unshown(candidates, shown), None)
        candidate = candidate and (
            _decided_since(ctx, call, wanted, candidate) or _newest_of(ctx, call, wanted, candidate)
        )
        if candidate is None or candidate.memory.id in shown:
            return NOTHING
        states = file_changes.file_states(candidate.files, _roots(call), _settled_at(candidate))
        serves = (
            ctx.settings.facade == "serve"
            and candidate.since is None
            and names.names_all(wanted, candidate.memory_names)
            and search_answer.may_answer(
                ctx, call, search_call, wanted, candidate.memory, states.values()
            )
        )
        title = search_answer.TITLE if serves else TITLE
        note = _note(ctx, candidate, states, wanted, title)
        known = client_memory.known_to_client(call.transcript)
        notes = [note] if note else []
        if note and candidate.since:
            since = _note(ctx, candidate.since, {}, wanted, title, note.tokens)
            notes += [since] if since else []
        block = notes and context_block.show(ctx, reader, notes, title, known, part=SEARCH)
        if not block:
            return NOTHING
        delivery.add_shown(ctx, reader, [mark])
    ctx.count("facade_served" if serves else "facade_spoke")
    ctx.uses.count(candidate.shelf, [candidate.memory.id], ctx.now())
    return ToolAnswer(instead=block) if serves else ToolAnswer(context=block)


def _decided_since(
    ctx: Context, call: ToolCall, wanted: SearchTerms, candidate: NamedMemory
) -> NamedMemory | None:
    """Return the last exchange since in which the user called by its name what is looked for, and decided something:
    "too slow. a smartcard in the till. signhub out" after "use the signhub api". None where there is none."""
    memory, shelf = candidate.memory, candidate.shelf
    as_names = (
        replace(alternative, names=alternative.names or (alternative.word,), words=(), word="")
        for alternative in wanted.alternatives
        if alternative.names or alternative.word
    )
    alternatives = names.fitted(
        replace(wanted, alternatives=tuple(as_names)), candidate.memory_names
    )
    terms = sorted(
        {
            term
            for alternative in alternatives
            for term in (*alternative.names, *map(analysis.stem, alternative.names))
        }
    )
    if not terms:
        return None
    scope = replace(call.scope, kinds=(PASSAGE,), since=memory.created_at)
    rows = shelf.journal.matching(terms, scope, MOST_LIKE, most_rows=MOST_ROWS)
    later = shelf.journal.by_seqs([row.seq for row in rows]).values()
    named_terms = replace(wanted, alternatives=tuple(alternatives))
    for passage in sorted(later, key=lambda passage: passage.created_at, reverse=True):
        is_since = passage.created_at > memory.created_at
        if not (is_since and passage.is_captured and not call.sees(passage)):
            continue
        user_text = "\n".join(voice.text for voice in voices(passage.text) if voice.who == USER)
        if _may_come(ctx, passage) and names.by_name(named_terms, names.naming("", user_text)):
            turn = shelf.journal.of_turn(passage.source, passage.project)
            if any(other.origin is Origin.USER and other.kind in model.BINDING for other in turn):
                return _as_replacement(passage, shelf)
    return None


def _newest_of(
    ctx: Context, call: ToolCall, wanted: SearchTerms, candidate: NamedMemory
) -> NamedMemory:
    """Return what a later session said of the same thing in the place of what it was: "the receipts lie in an object
    store now" after "/mnt/receipts". What names something else, and not what is looked for, is of another thing:
    "REFUNDS_TOPIC gets 3 partitions" after "ORDERS_TOPIC gets 12". Where it tells a change, too, it may be either: both
    are told."""
    import numpy as np

    shelf, memory = candidate.shelf, candidate.memory
    vectors = shelf.vectors(np.array([memory.seq], np.int64))
    if vectors is None or not vectors[0].any():
        return candidate
    scope = replace(call.scope, kinds=tuple(WORTH), since=memory.created_at)
    near = shelf.nearest(vectors[0], scope, MOST_LIKE)
    later = [
        ShelvedMemory(0, other)
        for other in shelf.load([neighbour.seq for neighbour in near]).values()
        if _may_come(ctx, other) and not call.sees(other)
    ]
    while newer := newer_of([ShelvedMemory(0, memory)], later, [shelf]).get(memory.id):
        if newer.likeness < SAME_THING:
            break
        replacement = _as_replacement(newer.memory, shelf)
        is_named = names.fitted(wanted, replacement.memory_names)
        if is_named or not names.names_more(newer.memory.text, candidate.memory_names):
            return replacement
        if _tells_a_change(newer.memory.text):
            return replace(candidate, since=replacement)
        later = [item for item in later if item.memory is not newer.memory]
    return candidate


def _tells_a_change(text: str) -> bool:
    return not _CHANGE_WORDS.isdisjoint(words_in(text.lower()))


def _as_replacement(memory: Memory, shelf: Shelf) -> NamedMemory:
    """Return what is told in the place of an older memory, whatever it says of the name itself."""
    held = names.naming(memory.title, memory.text, memory.files)
    return NamedMemory(memory, shelf, held, names.TellingPiece())


def _reader(call: ToolCall) -> str:
    """Return the name under which is noted what was shown: a subagent sees nothing of what its session saw."""
    return f"{call.session}:{call.agent}" if call.agent else call.session


def _digest(wanted: SearchTerms) -> str:
    """Return what a search is known by: what it looks for, however it is written."""
    words = sorted(
        repr((alternative.names, alternative.words, alternative.files))
        for alternative in wanted.alternatives
    )
    return model.digest_of(*words, size=12)


def _unshown(candidates: Sequence[NamedMemory], shown: set[str]) -> Iterator[NamedMemory]:
    """Yield what the session was not given, neither itself nor in another memory's words."""
    texts = ShownTexts()
    shelves = {id(candidate.shelf): candidate.shelf for candidate in candidates}
    for memory in by_ids(shelves.values(), shown).values():
        texts.add(memory)
    for candidate in candidates:
        if candidate.memory.id not in shown and not texts.holds(candidate.memory):
            yield candidate


def _note(
    ctx: Context,
    candidate: NamedMemory,
    states: dict[str, str],
    wanted: SearchTerms,
    title: str,
    taken: int = 0,
) -> fence.Note | None:
    """Return what is said of a memory, None where the budget, without the tokens that are taken, does not hold the most of
    it."""
    memory, piece = candidate.memory, candidate.says.text
    head, is_foreign = _head(candidate, states), render.is_others(memory)
    room = ctx.settings.facade_tokens - fence.tokens(fence.fence([], title)) - 4 - taken
    room -= fence.tokens(fence.FOREIGN) if is_foreign or is_marked(memory.text) else 0
    if room < fence.tokens(head) + render.LEAST_NOTE_TOKENS:
        return None
    # A text is cut around names, where they are looked for.
    sought_words = [
        name
        for alternative in wanted.alternatives
        for name in (*alternative.names, *alternative.files)
    ]
    sought_words = sought_words or [
        word for alternative in wanted.alternatives for word in alternative.words
    ]
    whole_note = fence.Note(memory.id, head, memory.text, foreign=is_foreign)
    note = fence.fitting(whole_note, room, [*clauses_in(piece.lower(), ".!?;:"), *sought_words])
    return note if note.tokens <= room + 4 and names.holds_most(note.text, piece) else None


def _head(candidate: NamedMemory, states: dict[str, str]) -> str:
    """Return a note's first line: that of any memory, without the long name of the transcript that it came
    from, and with its files and what became of them."""
    memory = candidate.memory
    date = days.local_time(memory.created_at).date().isoformat()
    project = project_names([candidate.shelf])
    line = fence.head(
        date, memory.kind, project[memory.project], memory.id[:8], render.whose(memory)
    )
    changed_states = {file: state for file, state in states.items() if state != file_changes.SAME}
    files = [file[-LONGEST_FILE:] for file in candidate.files if file not in changed_states][
        :MOST_FILES
    ]
    while len(", ".join(files)) > LONGEST_FILE:
        files.pop()
    changed = [
        f"{' '.join(file.split())[-LONGEST_FILE:]} {state}"
        for file, state in changed_states.items()
    ]
    return " · ".join(filter(None, (line, memory.state, ", ".join(files), ", ".join(changed))))


def _settled_at(candidate: NamedMemory) -> datetime:
    """Return since when what a memory says of its files holds: when its turn was over, since what the turn itself
    wrote is what the memory speaks of. That was when the next one began, else when the transcript was written
    last."""
    memory, source = candidate.memory, candidate.memory.source
    made_at = memory.updated_at or memory.created_at
    if not source.session or source.turn <= 0:
        return made_at
    next_source = replace(source, turn=source.turn + 1)
    if following := candidate.shelf.journal.of_turn(next_source, memory.project):
        return max(made_at, min(other.created_at for other in following))
    try:
        written_at = datetime.fromtimestamp(os.stat(source.path).st_mtime, timezone.utc)
    except OSError:
        return made_at
    # A copy of an old transcript was written today.
    return max(made_at, min(written_at, memory.created_at + LONGEST_TURN))
