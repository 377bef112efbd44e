"""Recall that is asked for: `recall`, `list`, `get`, `history`, `entities`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from vector_memory import projects
from vector_memory.model import DERIVED, PASSAGE, Memory, Priority, Scope
from vector_memory.retrieve import factors, rerank
from vector_memory.retrieve.echoes import without_echoes
from vector_memory.retrieve.search import Hit
from vector_memory.retrieve.topics import topics
from vector_memory.service.base import aliases, messages
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.base.model_help import RecallHelp
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names
from vector_memory.service.find import named_project
from vector_memory.service.memory import applied_uses, moved_projects
from vector_memory.service.memory.history import history_of
from vector_memory.service.memory.links import IdRequest
from vector_memory.service.memory.lookup import answer, is_open, lookup, surroundings, touch
from vector_memory.service.memory.passages import Excerpt, Turn, in_context, turn_of, turn_reader
from vector_memory.service.memory.rewritten_lines import later_words
from vector_memory.service.memory.taken_back import in_short
from vector_memory.service.memory.views import (
    HistoryView,
    HitView,
    MemoryView,
    hit_view,
    memory_view,
)
from vector_memory.text.harmless import with_old_marked

MAX_K = 1_000
MAX_AROUND = 10
MODEL_WAIT_S = 3.0
HITS_FACTOR, MOST_ECHOES = 3, 20
"""How many more hits than are wanted are found: passages of one exchange are read in one excerpt, and topics
and summaries may stand before a hit whose part they are."""


class RecallRequest(messages.Filter):
    """A question.

    Attributes:
        offset: how many of the best hits are left out.
        context: how many texts around each hit are wanted.
        for_session: the session that is given the hits: no hook says them again.
        fitting: what does not fit is left out.
    """

    query: str = messages.text()
    k: int = messages.number(10, 1, MAX_K)
    offset: int = messages.number(0, 0, MAX_K)
    context: int = messages.number(0, 0, MAX_AROUND)
    for_session: str = messages.word()
    fitting: bool = messages.flag()
    history: bool = messages.flag()
    by_topic: bool = messages.flag()


class TopicView(messages.Answer):
    """A topic of hits, by their ids."""

    topic: str
    ids: list[str]


class PeriodView(messages.Answer):
    """The time that a question is limited to; the end does not belong to it. None where it is open."""

    start: datetime | None = messages.wire_name("from")
    end: datetime | None = messages.wire_name("to")


class RecallAnswer(messages.Answer):
    """Hits, best first, and whether they were found by meaning too (`full`) or by words alone (`lexical`).

    Attributes:
        more: whether others follow.
        left_out: how many of the best do not fit, where these are left out.
        period: the time that the question is limited to, where it names one.
        widened: nothing of that time fits: the hits are of other times too.
        note: what says so, and where else something fits.
        unopened: why stores cannot be opened, by their folders.
    """

    hits: list[HitView]
    mode: str
    more: bool
    left_out: int | None = messages.spare()
    topics: list[TopicView] | None = messages.spare()
    period: PeriodView | None = messages.spare()
    widened: bool | None = messages.spare()
    note: str | None = messages.spare()
    unopened: dict[str, str] | None = messages.spare()


def recall(ctx: Context, request: RecallRequest) -> RecallAnswer:
    """Answer a question.

    Waits for a model that is still loading: whoever asks on purpose wants the whole answer.

    Returns:
        The hits, best first, with what the question was understood to ask for.
    """
    asker = messages.reader_of(ctx, request)
    ctx.embedding.wait(MODEL_WAIT_S)
    end = request.offset + request.k
    least_count = max(end, rerank.MOST) if ctx.settings.rerank else end
    allowed = is_open if request.is_agent else None
    question_asker = replace(asker, place=_question_place(ctx, request, asker))
    count = HITS_FACTOR * least_count + MOST_ECHOES
    recall_help = RecallHelp(ctx, request.query)
    result = answer(
        ctx, request.query, question_asker, count, recall_help, allowed, True, gives_way=True
    )
    hits = result.hits
    if not set(asker.scope.kinds) & set(DERIVED):
        hits = without_echoes(hits)
    if ctx.settings.rerank:
        hits = recall_help.reordered(hits)
    is_each_own = result.is_listing or bool(asker.scope.kinds)
    left_out = sum(not hit.fits for hit in hits[:end]) if request.fitting else None
    read_excerpts = _excerpts(ctx, asker, hits, end + 1, is_each_own, request.fitting)
    excerpts = _with_falling_relevance(read_excerpts[:end])[request.offset :]
    hits = [hit for hit, _ in excerpts]
    # What does not fit was of no use to anybody.
    touch(ctx, asker.shelves, [hit for hit in hits if hit.fits])
    ids = [hit.memory.id for hit in hits]
    ctx.audit("recall", request.actor, ids)
    if request.for_session:
        # It stands in the session from now on: no hook says it again.
        ctx.state.add_shown(request.for_session, ids, ctx.now())
    names = asker.names
    answered = RecallAnswer(
        [_hit_view(ctx, asker, names, request, *pair) for pair in excerpts],
        "full" if all(_by_meaning(ctx, shelf) for shelf in asker.shelves) else "lexical",
        end < len(read_excerpts) and end <= MAX_K,
        left_out,
        [TopicView(topic.name, [ids[index] for index in topic.places]) for topic in topics(hits)]
        if request.by_topic
        else None,
        PeriodView(result.period.start, result.period.end) if result.period else None,
        result.is_widened if result.period else None,
        " ".join(filter(None, (result.note, _elsewhere(ctx, request, asker, hits)))) or None,
        _unopened(ctx, request, asker) or None,
    )
    # Last: cold memories that fit are warm again from then on, under another number.
    applied_uses.asked_for(ctx, asker.shelves, hits, request.for_session)
    return answered


def _question_place(ctx: Context, request: RecallRequest, asker: Asker) -> projects.Place | None:
    """Return the project that a question is about: one that is put to all projects is about the one that it names."""
    named_projects = (
        named_project.projects_in_question(ctx, request.query, asker)
        if asker.scope.projects is None
        else []
    )
    places = (
        projects.Place(project.id, project.name, project.root, project.store)
        for project, _ in named_projects
    )
    return next(places, asker.place)


def _elsewhere(ctx: Context, request: RecallRequest, asker: Asker, hits: Sequence[Hit]) -> str:
    """Return where the user finds what he asks of another project, "" for nowhere. An agent is told nothing of
    other projects, nor is a program that is let in for one."""
    if asker.place is None or request.is_agent or request.only_project:
        return ""
    return named_project.offer(ctx, request.query, asker, any(hit.fits for hit in hits))


def _excerpts(
    ctx: Context, asker: Asker, hits: Sequence[Hit], k: int, is_each_own: bool, fitting: bool
) -> list[tuple[Hit, Excerpt]]:
    """Return the k best hits with what stood around them. What is read in the excerpt of a better hit is
    no hit of its own, as long as there are others.

    Args:
        is_each_own: every hit counts by itself: its kind was asked for.
        fitting: what does not fit is left out.
    """
    scores = {hit.memory.id: hit.score for hit in hits if hit.memory.kind == PASSAGE}
    turns = [turn_reader(shelf) for shelf in asker.shelves]
    chosen: list[tuple[Hit, Excerpt]] = []
    repeated: list[tuple[Hit, Excerpt]] = []
    read_ids, later_ids = set[str](), dict[Turn, set[str]]()
    for hit in hits:
        if len(chosen) == k:
            break
        if fitting and not hit.fits:
            continue
        if hit.memory.id in read_ids and not is_each_own:
            repeated.append((hit, Excerpt(hit.memory.text)))
            continue
        excerpt = in_context(turns[hit.shelf], hit.memory, scores)
        later = later_words(ctx, asker, hit.shelf, turns[hit.shelf], hit.memory)
        # Once is enough for an exchange: its passage and its ideas say one thing.
        turn_ids = later_ids.setdefault(turn_of(hit.memory), set())
        new_memories = [note for note in later if note.memory.id not in turn_ids]
        turn_ids |= {note.memory.id for note in new_memories}
        text = "\n\n".join([excerpt.text, *(in_short(*note) for note in new_memories)])
        excerpt = replace(excerpt, text=text)
        is_repeated = not is_each_own and excerpt.home in read_ids
        (repeated if is_repeated else chosen).append((hit, excerpt))
        # What is held back comes with its warning, and stands for nothing else.
        read_ids |= set() if is_repeated or hit.memory.is_held else excerpt.passages
    return [*chosen, *repeated[: k - len(chosen)]]


def _with_falling_relevance(excerpts: Sequence[tuple[Hit, Excerpt]]) -> list[tuple[Hit, Excerpt]]:
    """Return hits of which none that fits is told to be surer than one that stands before it."""
    relevances = iter(factors.falling(hit.relevance for hit, _ in excerpts if hit.fits))
    return [
        (replace(hit, relevance=next(relevances)) if hit.fits else hit, excerpt)
        for hit, excerpt in excerpts
    ]


def _hit_view(
    ctx: Context,
    asker: Asker,
    names: ProjectNames,
    request: RecallRequest,
    hit: Hit,
    excerpt: Excerpt,
) -> HitView:
    shelf, fields = asker.shelves[hit.shelf], dict[str, object](text=with_old_marked(excerpt.text))
    if request.context:
        fields["before"], fields["after"] = surroundings(shelf, hit.memory, request.context)
    if request.history and (chain := history_of(shelf, hit.memory)).summary:
        fields["history"] = chain
    return hit_view(hit, names, ctx.now(), **fields)


def _by_meaning(ctx: Context, shelf: Shelf) -> bool:
    """Whether a store answers by meaning too, and not by words alone."""
    has_vectors = shelf.index is not None and shelf.index.vectors_ready
    return has_vectors and ctx.embedding.state == "ready"


SORTS: dict[str, Callable[[Memory], int] | None] = {
    "newest": None,
    "oldest": None,
    "priority": lambda memory: list(Priority).index(memory.priority),
    "uses": lambda memory: -memory.uses,
}
"""Orders of a list: by what first; what is alike in that comes newest first."""


class ListRequest(messages.Filter):
    """Memories to be listed: `k` of them from the number `offset` on.

    Attributes:
        sort: one of `SORTS`.
        due: only what has a deadline to come or comes back by the calendar, the nearest first.
        shared: only what other members of a team shared.
        counted: how many there are in all is wanted, too: among very many that takes longer than the list.
    """

    k: int = messages.number(20, 1, 100_000)
    offset: int = messages.number(0, 0, 100_000_000)
    sort: str = messages.one_of(SORTS, "newest")
    due: bool = messages.flag()
    shared: bool = messages.flag()
    counted: bool = messages.flag(default=True)


class ListAnswer(messages.Answer):
    """Memories in the order asked for, why stores of theirs cannot be opened, by their folders, and, if that was
    wanted, how many there are in all."""

    memories: list[MemoryView]
    unopened: dict[str, str]
    total: int | None = messages.spare()


def list_memories(ctx: Context, request: ListRequest) -> ListAnswer:
    """Return memories in the order asked for, or by their deadlines."""
    asker = messages.reader_of(ctx, request)
    if request.shared:
        asker = replace(asker, open_shelves=lambda: ctx.with_team([]))
    scope = asker.scope.listed_at(ctx.now())
    end = request.offset + request.k
    if request.due:
        newest = _by_deadline(ctx, asker.shelves, scope)
    else:
        newest = []
        for shelf in asker.shelves:
            newest.extend(shelf.journal.in_order(scope, request.sort, end))
        newest.sort(key=lambda memory: memory.created_at, reverse=request.sort != "oldest")
        if sort_key := SORTS[request.sort]:
            newest.sort(key=sort_key)
    total = len(newest)
    if request.counted and not request.due:
        total = sum(shelf.journal.count(scope) for shelf in asker.shelves)
    names = asker.names
    return ListAnswer(
        [memory_view(memory, names, ctx.now()) for memory in newest[request.offset : end]],
        _unopened(ctx, request, asker),
        total if request.counted else None,
    )


def _unopened(ctx: Context, request: messages.Filter, asker: Asker) -> dict[str, str]:
    """Return why stores of those asked cannot be opened, and what else may be this project's, by their folders."""
    if asker.place is None and not request.all_projects:
        return {}
    moved = moved_projects.likely(ctx, asker.place) if asker.place else {}
    return {**{folder: str(error) for folder, error in ctx.unopened(asker.place).items()}, **moved}


def _by_deadline(ctx: Context, shelves: Sequence[Shelf], scope: Scope) -> list[Memory]:
    """Return what has a deadline to come, the nearest first, then what comes back by the calendar."""
    dated = [memory for shelf in shelves for memory in shelf.journal.with_dates(scope)]
    to_come = [
        memory for memory in dated if memory.valid_until is None or memory.valid_until > ctx.now()
    ]
    return sorted(
        to_come,
        key=lambda memory: (memory.valid_until is None, memory.valid_until or memory.created_at),
    )


class MemoryAnswer(messages.Answer):
    """One memory."""

    memory: MemoryView


def get(ctx: Context, request: IdRequest) -> MemoryAnswer:
    """Return one memory."""
    shelf, memory = lookup(ctx, request.id, shared=True)
    return MemoryAnswer(memory_view(memory, project_names([shelf]), ctx.now()))


class EntitiesRequest(messages.Filter):
    """What the memories asked for are about by name: the `k` commonest."""

    k: int = messages.number(50, 1, 10_000)


class EntityView(messages.Answer):
    """A name, its kind (`technology`, `file` …), and how many memories are about it."""

    kind: str
    name: str
    memories: int


class EntitiesAnswer(messages.Answer):
    """Names, the commonest first."""

    entities: list[EntityView]


def entities(ctx: Context, request: EntitiesRequest) -> EntitiesAnswer:
    """Return what memories are about by name, the commonest first."""
    asker, alias_names = messages.reader_of(ctx, request), aliases.current(ctx)
    counts: dict[str, int] = {}
    for shelf in asker.shelves:
        for word, n in shelf.journal.count_entities(asker.scope, request.k).items():
            name = alias_names.get(word, word)
            counts[name] = counts.get(name, 0) + n
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: request.k]
    parts = [(entity.partition(":"), n) for entity, n in ordered]
    return EntitiesAnswer([EntityView(kind, name, n) for (kind, _, name), n in parts])


def history(ctx: Context, request: IdRequest) -> HistoryView:
    """Return the chain of memories that gave way to one another, oldest first, by one of them."""
    return history_of(*lookup(ctx, request.id, shared=True))
