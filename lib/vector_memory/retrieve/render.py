"""Hits as notes for the model: dated, sourced, most useful first, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vector_memory import aging, standing
from vector_memory.model import Memory, Origin
from vector_memory.retrieve.search import Hit
from vector_memory.text import days, fence
from vector_memory.text.words import words_in

FENCE_TOKENS = 84
"""What the two marks and the sentences between them take."""
LEAST_NOTE_TOKENS = 24
MOST_CUT = 2.0
"""How many times longer than its room a passage of a session may be, behind the first: more would be cut off."""
WORTH_TOKENS = 90
"""What a note needs at least, head included, to say something of a long memory."""
TITLE_CHARS = 60
SAME_WORDS = 0.7
FIRST_SHARE = 0.4
"""The share of the budget that the best hit may take; the rest share what it leaves."""


def note(
    memory: Memory,
    project: str,
    budget: int,
    around: Sequence[str] = (),
    against: Sequence[Memory] = (),
) -> fence.Note:
    """Return one memory as the model sees it, its text cut to `budget` tokens around the words.

    Args:
        against: what is shown beside it and contradicts it.

    Returns:
        A note of about `budget` tokens at most; its head is never cut, and some text always
        stands below it.
    """
    head_end = "".join(_contradiction(memory, other) for other in against[:1])
    if memory.title and not _contains_title(memory.text, memory.title):
        head_end += f" · {_shortened(memory.title)}"
    # Whose words it is decides whether links in it stay links.
    foreign = is_others(memory)
    line = head(memory, project) + head_end
    whole = fence.Note(memory.id, line, memory.text, foreign)
    return fence.fitting(whole, max(budget, fence.tokens(line) + LEAST_NOTE_TOKENS), list(around))


def is_others(memory: Memory) -> bool:
    """Whether a memory's words are, or look like, somebody else's: its links are not put before the
    model as links."""
    return memory.is_foreign or memory.is_suspicious


def _contradiction(memory: Memory, other: Memory) -> str:
    """Return the words by which the reader sees which of two notes is the newer one."""
    age = "older" if memory.created_at > other.created_at else "newer"
    return f" · contradicts the {age} {other.id[:8]} of {days.local_time(other.created_at).date()}"


def _contains_title(text: str, title: str) -> bool:
    """Whether a text begins with its title anyway, or has most of its words."""
    if title.rstrip(".… ").casefold() in text[: 3 * len(title) + 20].casefold():
        return True
    # A title is often the beginning of the text in other words.
    title_words, text_words = (
        {word for word in words_in(part) if len(word) > 2} for part in (title, text)
    )
    return len(title_words & text_words) >= SAME_WORDS * len(title_words)


def _shortened(title: str) -> str:
    return title if len(title) <= TITLE_CHARS else title[:TITLE_CHARS].rsplit(" ", 1)[0] + "…"


def head(memory: Memory, project: str) -> str:
    """Return the first line: date, kind, project, whose words, and where to read on: the first 8
    characters of the id, then file and lines."""
    where = memory.id[:8]
    if memory.source.path and memory.source.line_start:
        where += f" {fence.short_name(memory.source.path)}:{memory.source.line_start}"
        if memory.source.line_end > memory.source.line_start:
            where += f"-{memory.source.line_end}"
    date, origin = days.local_time(memory.created_at).date().isoformat(), whose(memory)
    due = aging.due_on(memory)
    line = fence.head(date, memory.kind, project, where, origin)
    line += f" · {memory.state}" if memory.state else ""
    line += f" · due {due}" if due else ""
    noted_on = aging.noted_on(memory).items()
    return line + "".join(f" · {standing.NOTED_ON[name]} {day}" for name, day in noted_on)


def whose(memory: Memory) -> str:
    """Return whose words a memory is, as its first line says it; "" where its text says so itself."""
    return standing.author_label(memory.origin.value, memory.kind, memory.extra)


def notes(
    hits: Sequence[Hit],
    budget: int,
    name_of: Callable[[str], str],
    around: Sequence[str] = (),
    origin_share: float = 1.0,
) -> list[fence.Note]:
    """Return the hits as notes that fit in a budget.

    Args:
        name_of: a project's name by its id.
        around: the question's terms; long texts are cut around them.
        origin_share: the part of the budget that one origin may take, see `Shares`.

    Returns:
        Notes in the order of `hits`, for which the fence has room too. Later ones are left out rather than cut to nothing.
    """
    tokens_left = budget - FENCE_TOKENS
    shares = Shares(tokens_left, origin_share)
    by_place: dict[int, fence.Note] = {}
    waiting = list(range(len(hits)))
    # First everybody within his share, then those who may take what is left.
    for within_shares in (True, False):
        for place in list(waiting):
            if tokens_left < LEAST_NOTE_TOKENS * 2:
                break
            memory = hits[place].memory
            room = shares.room(memory, _share(tokens_left, place, len(hits)), within_shares)
            if room < LEAST_NOTE_TOKENS * 2:
                continue
            if by_place and memory.source.path and fence.tokens(memory.text) > MOST_CUT * room:
                # Half of what somebody said in passing says little; the whole may come another time.
                waiting.remove(place)
                continue
            candidate = note(memory, name_of(memory.project), room, around, hits[place].against)
            if candidate.tokens <= tokens_left:
                by_place[place] = candidate
                shares.count(memory, candidate.tokens)
                tokens_left -= candidate.tokens
            # Not tried again where it did not fit: the room only shrinks.
            waiting.remove(place)
    return [by_place[place] for place in sorted(by_place)]


class Shares:
    """How much of what is put before the model at once comes from whom, the user himself left aside. What
    tools and others wrote never takes more than its share; what a session said, or the user imported,
    takes what others leave of the rest.

    Args:
        budget: tokens in all.
        share: the part of them, 0 to 1, of one origin.
    """

    def __init__(self, budget: int, share: float) -> None:
        self._most = int(budget * share)
        self._taken: dict[Origin, int] = {}

    def room(self, memory: Memory, wanted: int, within: bool) -> int:
        """Return how many of the tokens that it wants a memory may take, 0 for none.

        Args:
            within: whether all origins have to keep within their shares now.
        """
        share_left = self._most - self._taken.get(memory.origin, 0)
        if memory.trust > 1 or wanted <= share_left:
            return wanted
        if is_others(memory):
            return max(0, share_left)
        # A note that is cut short says less than one that comes later, whole.
        return 0 if within else wanted

    def count(self, memory: Memory, tokens: int) -> None:
        """Count what a memory took."""
        self._taken[memory.origin] = self._taken.get(memory.origin, 0) + tokens


def _share(room: int, place: int, count: int) -> int:
    """Return the tokens for the hit at a place: a part of those that are left, but enough to say
    something, and all of them where no other note would fit behind."""
    share = int(room * FIRST_SHARE) if place == 0 else room // max(1, min(3, count) - place)
    share = max(WORTH_TOKENS, share)
    return room if place + 1 == count or room - share < WORTH_TOKENS else share
