"""Finding memories by an id or by a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from vector_memory import projects
from vector_memory.config import ENGLISH_BACKEND
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import UNRESTRICTED, Memory, Scope
from vector_memory.redact.normalise import normalise
from vector_memory.retrieve import query as queries
from vector_memory.retrieve.factors import FITS, least_relevance
from vector_memory.retrieve.search import Answer, BeginEmbedding, Hit, search
from vector_memory.service.base import privacy, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.messages import Asker
from vector_memory.service.base.model_help import RecallHelp
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.base.whole_shelf import with_cold

A_MINUTE = 1 / 1440


def surroundings(shelf: Shelf, memory: Memory, count: int) -> tuple[list[str], list[str]]:
    """Return the texts said right before and right after a memory in its session, in their order, up to one that
    who asks may not be given."""
    sides: list[list[str]] = []
    for place in (0, 1):
        texts: list[str] = []
        seq = memory.seq
        while len(texts) < count and (near := shelf.journal.neighbours(seq)[place]) is not None:
            if not reach.holds(near):
                break
            texts.append(str(near.text))
            seq = near.seq
        sides.append(texts[::-1] if place == 0 else texts)
    return sides[0], sides[1]


def answer(
    ctx: Context,
    text: str,
    asker: Asker,
    k: int,
    widen: RecallHelp | None = None,
    allowed: Callable[[Memory], bool] | None = None,
    cold: bool = False,
    session: str = "",
    embed: BeginEmbedding | None = None,
    fitting: float = FITS,
    known: Callable[[Memory], bool] = lambda memory: False,
    is_asked: bool = True,
    gives_way: bool = False,
) -> Answer:
    """Return at most k hits of the asker's stores for a text, best first.

    Args:
        cold: out of the whole store, cold memories too: somebody asks.
        widen: what the language model adds, where the settings have one.
        allowed: which memories may come; all of them by default.
        session: the session that it is asked in: "the last session" is the one before.
        embed: begins to make the question's vector; whatever time it takes by default.
        fitting: the relevance from which on a memory of a small store is an answer, 0 … 1.
        known: what who asks has before him: it takes no place from others.
        is_asked: it is a question. What is to be done today limits nothing to what was said today.
        gives_way: hooks are answered first; for what is no hook itself.
    """
    shelves, scope, within = asker.shelves, asker.scope, allowed
    if scope.levels == UNRESTRICTED:
        # Each memory that comes is looked at here: a search limited by levels takes a longer way.
        scope = replace(scope, levels=())

        def within(memory: Memory) -> bool:
            return memory.sensitivity in UNRESTRICTED and (allowed is None or allowed(memory))

    query = query_of(ctx, text, scope, shelves, asker.place, session)
    if not is_asked:
        today = ctx.now().timestamp() / queries.DAY_S
        query = replace(query, periods=tuple(span for span in query.periods if span[1] <= today))
    if embed is None:
        embed = widen.widening() if widen and ctx.settings.hyde else ctx.embedding.of_query
    count = max(ctx.settings.candidates, 2 * k)
    size = sum(shelf.size(query.scope) for shelf in shelves)
    return search(
        query,
        [with_cold(shelf, ctx.embedding) for shelf in shelves] if cold else shelves,
        k,
        ctx.now(),
        candidates=count,
        scoring=ctx.settings.scoring,
        embed=embed,
        allowed=within,
        least=least_relevance(fitting, size),
        known=known,
        pause=ctx.hooks.give_way if gives_way else lambda: None,
    )


def query_of(
    ctx: Context,
    text: str,
    scope: Scope,
    shelves: Sequence[Shelf],
    place: projects.Place | None = None,
    session: str = "",
) -> queries.Query:
    """Return a question's query, without its vector: `Embedding.of_query` makes that. It is in the one form that
    everything stored has: an accent may come as a sign of its own, a letter in its full width.

    Args:
        place: the project that it is asked from.
        session: the session that it is asked in: "the last session" is the one before.
    """

    def find_speakers(words: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(name for shelf in shelves for name in shelf.speakers(words)))

    def find_session(back: int) -> tuple[float, float] | None:
        spans = [span for shelf in shelves for span in shelf.latest_sessions(scope, back, session)]
        spans.sort(key=lambda span: -span[1])
        # The end of a session is its last memory's time: it belongs to the span.
        return (spans[back - 1][0], spans[back - 1][1] + A_MINUTE) if len(spans) >= back else None

    project_id = place.id if place else ""
    only_english = ctx.settings.embedding_backend == ENGLISH_BACKEND

    def analysed(text: str) -> queries.Query:
        return queries.analyse(
            text,
            scope,
            None,
            project_id,
            ctx.local_now(),
            find_speakers,
            find_session,
            only_english,
        )

    query = analysed(normalise(text))
    if not ctx.embedding.is_served:
        return query
    # A part of it is embedded, by which alone nobody could tell any more what is to be redacted.
    shown = privacy.word_or(text, "")
    return query if shown == normalise(text) else replace(query, embedded=analysed(shown).embedded)


def is_open(memory: Memory) -> bool:
    """Whether a memory may be put before the model: it is not held back."""
    return not memory.is_held


def touch(ctx: Context, shelves: Sequence[Shelf], hits: Sequence[Hit]) -> None:
    """Count the use of what was found."""
    for number, shelf in enumerate(shelves):
        ids = [hit.memory.id for hit in hits if hit.shelf == number]
        if ids:
            ctx.uses.count(shelf, ids, ctx.now())
    if ctx.uses.is_due:
        ctx.later(ctx.uses.write)


def lookup(ctx: Context, prefix: str, shared: bool = False) -> tuple[Shelf, Memory]:
    """Return the memory whose id begins so, and its store.

    Args:
        shared: it is only to be read: it may be one that another member of a team shared.

    Raises:
        NotFoundError: there is none that who asks may be given.
        BadInputError: there are several, or it is another member's and to be changed.
    """
    matches = _find_by_prefix(ctx.all_shelves(), prefix)
    if not matches and (shared_matches := _find_by_prefix(ctx.with_team([]), prefix)):
        if not shared:
            raise BadInputError(
                f"{shared_matches[0][1].author.get('name', 'Another member')} shared that memory: it is read only.",
                "`vector-memory share reject ID` removes it from here, `share revoke KEY` all of one member.",
            )
        matches = shared_matches
    if not matches:
        raise NotFoundError(
            f"There is no memory {prefix!r}.",
            "`vector-memory list` shows ids, as the tool list_memories does.",
        )
    if len(matches) > 1:
        raise BadInputError(f"Several ids begin with {prefix!r}.", "Give more of it.")
    return matches[0]


def _find_by_prefix(shelves: Sequence[Shelf], prefix: str) -> list[tuple[Shelf, Memory]]:
    return [
        (shelf, memory) for shelf in shelves for memory in reach.visible(shelf.journal.find(prefix))
    ]
