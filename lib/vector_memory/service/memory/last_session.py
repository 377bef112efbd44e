"""Sessions before one, found by their passages: how each ended, and what it left open."""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby, islice
from operator import attrgetter

from vector_memory.errors import StoreDamagedError
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.voices import ASSISTANT, DONE, TASK, USER, voices
from vector_memory.model import (
    BOX,
    BRANCH,
    DONE_HEAD,
    LOOKUP,
    PASSAGE,
    PROBLEM,
    PULL,
    QUESTION,
    SOLUTION,
    SUBAGENT_TAG,
    TODO,
    WAITING,
    CleanText,
    Memory,
    Origin,
    Scope,
    unique,
)
from vector_memory.observe.intent import limits
from vector_memory.retrieve import render
from vector_memory.retrieve.repetitions import WITHIN
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.passages import number_of
from vector_memory.text import analysis, days, fence, harmless, prompts
from vector_memory.text.words import clauses_in, words_in

LOOKED_AT = 80
"""How many of a session's newest passages are looked at for its end."""
READ_AT_ONCE = 24
LATER_PASSAGES, SEARCHING_S, MOST_NEAR, MOST_ROWS = 300, 0.04, 20, 2_000
"""How many of the newest passages are asked whether they take up what is open; for how many seconds of processor time
older ones are searched by the words of open items, since a prompt waits for it; how many of these are asked; words that
more memories hold are not looked for."""
_Said = tuple[Memory, frozenset[str]]
"""A memory with the terms of what it says."""
KIND, ASKED_LAST = "last session", "User asked last: "
"""What the end of a session is called where it is told, and what stands before the user's words in it."""
MOST_EMPTY = 12
"""How many sessions without content are passed over at most."""
MOST_BETWEEN = 4
"""How many exchanges before the last one are looked at for the work that it ended."""
MOST_FILES, MOST_OPEN = 4, 40
LEAST_TERMS, LEAST_MARKED_TERMS = 5, 3
"""An open item of fewer terms is not told: it says nothing alone. Of one that the user marks as a todo, or puts in a list
of them, the second number is enough, without the mark."""
LEAST_SAID_TERMS, LEAST_EXCHANGE_TERMS, LEAST_ASKED_TERMS, ENOUGH_CHARS = 8, 6, 4, 1_000
"""An answer of fewer terms tells nothing of how a session ended, nor does such an exchange, nor a prompt of fewer that
neither asks anything nor has anything done."""
_RULING_OUT = ("don't ", "dont ", "do not ", "never ")
MENTIONED = 0.6
"""The share of its words from which what is open counts as taken up by a later passage, or is like something else."""
_MARKERS = frozenset(analysis.analyse("todo to-do remind"))
"""What only says that something is to be done: no passage takes it up by such a word."""
SOLVING = 0.3
"""The share of a problem's words that a later solution of its session has."""
ASKED_SHARE, LAST_SHARE, LEAST_WORKED = 0.35, 0.6, 60
"""The parts of a note that what was asked may take, and of what is left the last words; the tokens that what was
worked on before them needs."""


@dataclass(frozen=True)
class SessionEnd:
    """How a session ended.

    Attributes:
        newest: its newest memory.
        passages: of the last exchange in which something was asked for, in order.
        asked: what the user asked; `answered` is the assistant's last answer to it.
        after: the assistant's last words, where they answer something later, such as "continue" or "commit it".
        worked: what was asked last before it and touched files, and what came of that, where the last exchange touched
            none; where no exchange did, and nothing came of the last one but few words, what was asked and answered
            before. `worked_passages` are the passages of that exchange.
        branch: that of version control, "" where it is not known; `pull` is a pull request's number, 0 for none.
        files: those of its last exchanges, the newest first.
    """

    newest: Memory
    passages: tuple[Memory, ...]
    asked: str
    answered: str
    after: str
    worked: tuple[str, str]
    worked_passages: tuple[Memory, ...]
    branch: str
    pull: int
    files: tuple[str, ...]

    @property
    def session(self) -> str:
        """The session's id."""
        return self.newest.source.session


@dataclass(frozen=True)
class _SpokenTurn:
    """An exchange as its passages tell it: whose prompt it began with, what was said, and in how many distinct
    words, and whether anything was done."""

    passages: tuple[Memory, ...]
    is_users: bool
    asked: str
    answered: str
    terms: int
    is_done: bool

    @property
    def tells(self) -> bool:
        """Whether its answer tells how something ended: it says much, or comes after something that was done."""
        is_work = self.is_done and not self.is_lookup
        return _says_much(self.answered) or (is_work and bool(self.answered))

    @property
    def files(self) -> list[str]:
        """What was read or edited in it."""
        return [path for memory in self.passages for path in memory.files]

    @property
    def is_lookup(self) -> bool:
        """Whether it only asked what is stored."""
        return any(LOOKUP in memory.extra for memory in self.passages)

    @property
    def is_request(self) -> bool:
        """Whether something was asked for in it, and it says more than a greeting and its answer. Where the user
        speaks in a session, what the client asks there in his name, such as to carry out a plan, is his."""
        if self.is_lookup or prompts.Prompt(self.asked).needs_nothing:
            return False
        if not self.is_done and "?" not in self.asked:
            # Thanks and praise, whatever their words: nothing was done for them.
            return len(analysis.said_words(self.asked)) >= LEAST_ASKED_TERMS
        return self.terms >= LEAST_EXCHANGE_TERMS or self.is_done


def newest_of_sessions(
    shelves: Sequence[Shelf], scope: Scope, but: str = ""
) -> Iterator[tuple[Shelf, Memory]]:
    """Yield a store and the newest passage of each session of it, the newest session first.

    Args:
        but: a session that is left out.
    """
    streams = (_newest_in_store(shelf, scope, but) for shelf in shelves)
    return heapq.merge(*streams, key=lambda pair: pair[1].created_at, reverse=True)


def _newest_in_store(shelf: Shelf, scope: Scope, but: str) -> Iterator[tuple[Shelf, Memory]]:
    newest: dict[str, Memory | None] = {"": None, but: None}
    while True:
        # A session is the last one however long ago it was: its talk may be cold.
        passages = shelf.journal.recent(scope, READ_AT_ONCE, kinds=(PASSAGE,), cold=True)
        for passage in passages:
            # Without a transcript it is an import's conversation: nobody worked there.
            if (
                passage.source.path
                and newest.setdefault(passage.source.session, passage) is passage
            ):
                yield shelf, passage
        if len(passages) < READ_AT_ONCE:
            return
        # The other passages of a long session are passed over at once.
        oldest = passages[-1]
        began_at = _start_of_session(shelf, scope, oldest)
        scope = replace(scope, until=min(began_at, oldest.created_at))


def _start_of_session(shelf: Shelf, scope: Scope, passage: Memory) -> datetime:
    if not passage.source.session:
        return passage.created_at
    session_scope = replace(scope, sessions=(passage.source.session,), kinds=(PASSAGE,))
    passages = shelf.journal.iter_memories(session_scope, limit=1)
    return next((memory.created_at for memory in passages), passage.created_at)


def ends(shelves: Sequence[Shelf], scope: Scope, but: str = "", most: int = 1) -> list[SessionEnd]:
    """Return how the last sessions ended in which the user spoke, the newest first.

    Args:
        scope: the project's.
        but: a session that is left out.
        most: how many at most.
    """
    pairs = islice(newest_of_sessions(shelves, scope, but), MOST_EMPTY)
    session_ends = (end_of(shelf, scope, newest) for shelf, newest in pairs)
    return list(islice((end for end in session_ends if end is not None), most))


def end_of(shelf: Shelf, scope: Scope, newest: Memory) -> SessionEnd | None:
    """Return how the session of a memory ended, None where the user did not speak in it or asked for nothing."""
    session_scope = replace(scope, sessions=(newest.source.session,), until=None)
    passages = shelf.journal.recent(session_scope, LOOKED_AT, kinds=(PASSAGE,), cold=True)
    talk = [
        passage
        for passage in passages
        if SUBAGENT_TAG not in passage.tags and not passage.is_suspicious
    ]
    by_turn = attrgetter("source.turn")
    talk.sort(key=by_turn, reverse=True)
    turns = [_turn(list(group)) for _, group in groupby(talk, by_turn)]
    request_index = next((index for index, turn in enumerate(turns) if turn.is_request), None)
    if request_index is None or not any(turn.is_users for turn in turns):
        return None
    request_turn = turns[request_index]
    answers_after = [turn.answered for turn in turns[:request_index] if turn.tells]
    # Where no file was touched, it is an aside, a word on what was said before, or sends away what was made.
    earlier = [] if request_turn.files else turns[request_index + 1 :]
    with_files = (index for index, turn in enumerate(earlier[:MOST_BETWEEN]) if turn.files)
    work_index = next(with_files, None)
    if work_index is None and not (request_turn.is_done or _says_much(request_turn.answered)):
        said = (
            n for n, turn in enumerate(earlier) if turn.is_request and _says_much(turn.answered)
        )
        work_index = next(said, None)
    worked = earlier[work_index] if work_index is not None else None
    # Another question in between is no part of it.
    answers_between = [
        turn.answered
        for turn in earlier[:work_index]
        if turn.tells and (turn.is_done or not turn.is_request)
    ]
    extras = [memory.extra for memory in passages]
    return SessionEnd(
        newest=newest,
        passages=request_turn.passages,
        asked=request_turn.asked,
        answered=request_turn.answered,
        after=_final_answer(answers_after[::-1]),
        # "Go on" says nothing of what was asked for.
        worked=(
            next((turn.asked for turn in earlier[work_index:] if turn.is_request), worked.asked),
            "\n".join(unique([worked.answered, *answers_between[:1]])),
        )
        if worked
        else ("", ""),
        worked_passages=worked.passages if worked else (),
        branch=next((str(extra[BRANCH]) for extra in extras if BRANCH in extra), ""),
        pull=next((int(extra[PULL]) for extra in extras if PULL in extra), 0),
        files=unique(path for turn in turns[: request_index + 1] for path in turn.files),
    )


def parts(
    shelves: Sequence[Shelf], scope: Scope, part_of: Callable[[str], str]
) -> Iterator[tuple[Memory, CleanText]]:
    """Yield the passages of a session of which something is meant, the newest first, each with that part of it."""
    for shelf in shelves:
        for memory in shelf.journal.recent(scope, LOOKED_AT, kinds=(PASSAGE,), cold=True):
            if not memory.is_suspicious and (part := part_of(memory.text)):
                yield memory, CleanText(part)


def _turn(passages: Sequence[Memory]) -> _SpokenTurn:
    ordered = sorted(passages, key=number_of)
    utterances = _utterances("\n".join(memory.text for memory in ordered))
    text = " ".join(words for _, words in utterances)
    asked = next((words for speaker, words in utterances if speaker in (USER, TASK)), "")
    if not asked and ordered[0].title not in text:
        # The beginning of a long exchange may not have been read. A title that stands in the answer is that of an
        # exchange whose prompt was nothing but pasted: those are nobody's words.
        asked = ordered[0].title
    answers = [words for speaker, words in utterances if speaker in (ASSISTANT, "")]
    return _SpokenTurn(
        tuple(ordered),
        # Of a long exchange the beginning may not have been read; of a program's every passage says so.
        is_users=not any(speaker == TASK for speaker, _ in utterances) and bool(asked),
        asked=asked,
        answered=_final_answer(answers),
        # A version or an identifier is several terms, and says no more than a word.
        terms=sum(map(str.isalpha, analysis.said_words(text[:ENOUGH_CHARS]))),
        is_done=any(memory.files or DONE_HEAD in memory.text for memory in ordered),
    )


def _utterances(text: str) -> list[tuple[str, str]]:
    """Return who says what in passages, in order; what was done, and others' words, are left out."""
    return [(voice.who, voice.text) for voice in voices(text) if voice.who != DONE]


def _words_of(passage: Memory) -> str:
    """Return what is said in a passage, without who says it."""
    return fence.tidy("\n".join(words for _, words in _utterances(passage.text)))


def _final_answer(answers: Sequence[str]) -> str:
    """Return the last of some answers, in their order, that says much, and the very last one behind it: however short,
    it is how that ended."""
    substantial = next((words for words in reversed(answers) if _says_much(words)), "")
    return "\n".join(unique(words for words in (substantial, *answers[-1:]) if words))


def _says_much(text: str) -> bool:
    return len(analysis.said_words(text[:ENOUGH_CHARS])) >= LEAST_SAID_TERMS


def left_open(
    shelves: Sequence[Shelf], scope: Scope, sessions: Sequence[SessionEnd], most: int
) -> list[Memory]:
    """Return what sessions left to do or to answer and no later passage takes up: what stands in a to-do list, for sure
    something to be done, before what was only said, the newest first of each."""
    last_turns = {end.session: end.passages[-1].source.turn for end in sessions}
    newest = sessions[0].session if sessions else ""
    open_scope = replace(scope, kinds=WAITING)
    items = [
        (shelf, memory)
        for shelf in (shelves if last_turns else ())
        for memory in shelf.journal.open_items(open_scope, MOST_OPEN)
        if _is_left_open(shelf, memory, last_turns, newest)
        and SUBAGENT_TAG not in memory.tags
        and is_telling(memory)
    ]
    items.sort(
        key=lambda pair: (BOX in pair[1].extra, pair[1].created_at, pair[1].source.turn),
        reverse=True,
    )
    later = {id(shelf): _LaterTalk(shelf, scope) for shelf in shelves}
    left = (memory for shelf, memory in items if not later[id(shelf)].settles(memory))
    return list(islice(left, most))


def _is_left_open(shelf: Shelf, memory: Memory, last_turns: Mapping[str, int], newest: str) -> bool:
    """Whether one of these sessions left something open: what the user wants done or left open, what stands in a to-do
    list, or what was named as still to be done, or asked, in its last exchange. What the newest asked there is told
    with that session's end, and what any asked before was for the moment."""
    last_turn = last_turns.get(memory.source.session)
    if last_turn is None:
        return False
    is_users = memory.origin is Origin.USER and memory.kind == TODO
    if (
        is_users
        or BOX in memory.extra
        or (memory.source.turn < last_turn and _is_put_off(shelf, memory))
    ):
        return True
    is_told = memory.kind == QUESTION and memory.source.session == newest
    return not is_told and memory.source.turn >= last_turn


def still_open(shelf: Shelf, scope: Scope, most: int) -> list[Memory]:
    """Return what is open in a project and not settled since, the newest first: what was noted on purpose, what
    the user left to do or found wrong or put off, what stands in a to-do list, and what was asked, or named by the
    assistant, in a session's last exchange.
    What was named before that was mostly done, after a question the user went on, and of a problem that a solution in
    its exchange, or a later one of its session, is about nobody wrote down that it is solved."""
    open_items = [
        memory
        for memory in shelf.journal.open_items(scope, MOST_OPEN)
        if not (memory.is_held or SUBAGENT_TAG in memory.tags or _is_limit(memory))
    ]
    session_ids = {memory.source.session for memory in open_items if memory.source.path}
    later = _LaterTalk(shelf, scope)

    @cache
    def of_session(session: str) -> tuple[int, list[Memory]]:
        """Return the turn in which something was said last, and the session's solutions."""
        session_scope = Scope(projects=scope.projects, sessions=(session,))
        newest = shelf.journal.recent(session_scope, 1, kinds=(PASSAGE,), cold=True)
        solutions = shelf.journal.iter_memories(replace(session_scope, kinds=(SOLUTION,)))
        return newest[0].source.turn if newest else 0, list(solutions)

    def is_unsolved(memory: Memory) -> bool:
        if memory.source.session not in session_ids:
            return True
        last_turn, solutions = of_session(memory.source.session)
        # What was noted on purpose, stands in a to-do list, or is the user's, stays open after its turn.
        is_lasting = memory.origin is Origin.USER and memory.kind != QUESTION
        is_open = not memory.source.path or is_lasting or memory.source.turn >= last_turn
        is_open = is_open or BOX in memory.extra or _is_put_off(shelf, memory)
        return is_open and not (memory.kind == PROBLEM and _is_solved(memory, solutions))

    def is_settled(memory: Memory) -> bool:
        is_talked = memory.source.path and memory.kind != PROBLEM
        return bool(is_talked) and later.settles(memory)

    left = (memory for memory in open_items if is_unsolved(memory) and not is_settled(memory))
    return list(islice(left, most))


def _is_put_off(shelf: Shelf, memory: Memory) -> bool:
    """Whether the assistant answered at once with what stays open ("leave that open for now" – "Left open: whether
    …"): so the user wants it. What is named as open after other words, or asked, is for the next prompt."""
    if memory.kind != QUESTION or plain_kind(memory.text, is_users=False) != QUESTION:
        return False
    turn = shelf.journal.of_turn(memory.source, memory.project)
    talk = sorted((passage for passage in turn if passage.kind == PASSAGE), key=number_of)
    utterances = _utterances("\n".join(passage.text for passage in talk))
    answers = [words for speaker, words in utterances if speaker == ASSISTANT]
    is_users = bool(utterances) and utterances[0][0] == USER
    return is_users and any(words.startswith(memory.text) for words in answers[:1])


def _is_limit(memory: Memory) -> bool:
    """Whether what was taken for a problem is the reason for what the user ruled out: "don't push, CI is broken"."""
    is_users = memory.origin is Origin.USER and memory.kind == PROBLEM and memory.is_captured
    ruled_out, *reason = clauses_in(memory.text, ",:")
    is_ordered = " ".join(words_in(ruled_out)).startswith(_RULING_OUT)
    # Where "but" follows, somebody tells what he did: "do not delete works, but …".
    is_reason = bool(reason) and words_in(reason[0])[:1] != ["but"]
    return is_users and is_ordered and is_reason and bool(limits.read(ruled_out))


def _is_solved(problem: Memory, solutions: Sequence[Memory]) -> bool:
    """Whether one of its session's solutions is of the same exchange, or a later one about the same."""
    terms = set(analysis.analyse(problem.text))
    return any(
        solution.source.turn == problem.source.turn
        or (
            solution.source.turn > problem.source.turn
            and len(terms & set(analysis.analyse(solution.text))) >= SOLVING * len(terms)
        )
        for solution in solutions
    )


def is_telling(memory: Memory) -> bool:
    """Whether what is open says alone what it is about."""
    terms = analysis.analyse(memory.text)
    is_users = memory.origin is Origin.USER and memory.kind == TODO
    if BOX in memory.extra or (is_users and not _MARKERS.isdisjoint(terms[:1])):
        return len(_own_terms(memory)) >= LEAST_MARKED_TERMS
    return len(set(terms)) >= LEAST_TERMS


class _LaterTalk:
    """What was said after open items were named, and whether it settles them: the newest talk first, and, for some of what
    that leaves open, what has its words: what was done stays so, however much was said since, and though it is cold by
    now."""

    def __init__(self, shelf: Shelf, scope: Scope) -> None:
        self._shelf = shelf
        self._scope = scope
        self._searched_s = 0.0

    @cached_property
    def _newest(self) -> list[_Said]:
        passages = self._shelf.journal.recent(
            self._scope, LATER_PASSAGES, kinds=(PASSAGE,), cold=True
        )
        return [_said(memory) for memory in passages]

    @cached_property
    def _others(self) -> list[frozenset[str]]:
        # What is done by now, too: the passage that raised it is still there.
        others = self._shelf.journal.recent(self._scope, MOST_OPEN, kinds=WAITING, cold=True)
        return [_own_terms(memory) for memory in others]

    def settles(self, item: Memory) -> bool:
        """Whether a later passage speaks of an item."""
        if BOX in item.extra:
            # Whatever is said of it: its box is ticked when it is done.
            return False
        if _is_taken_up(item, self._newest, self._others):
            return True
        if self._searched_s >= SEARCHING_S:
            return False
        began_s = time.thread_time()
        is_settled = self._is_settled_by_words(item)
        self._searched_s += time.thread_time() - began_s
        return is_settled

    def _is_settled_by_words(self, item: Memory) -> bool:
        _, terms = _said(item)
        later = self._near(terms, (PASSAGE,), item.created_at)
        if not later:
            return False
        others = [said - _MARKERS for _, said in self._near(terms - _MARKERS, WAITING)]
        return _is_taken_up(item, later, others)

    def _near(
        self, terms: frozenset[str], kinds: Sequence[str], since: datetime | None = None
    ) -> list[_Said]:
        scope = replace(self._scope, kinds=tuple(kinds), since=since)
        words = [term for term in sorted(terms) if not analysis.is_piece(term)]
        journal = self._shelf.journal
        try:
            candidates = journal.matching(
                words, scope, MOST_NEAR, cold=True, most_rows=MOST_ROWS, pairs=True
            )
        except StoreDamagedError:
            # The words are made anew; what is open is told meanwhile.
            return []
        memories = journal.by_seqs([candidate.seq for candidate in candidates]).values()
        near = (_said(memory) for memory in memories if not memory.is_held)
        return [
            (memory, said) for memory, said in near if len(terms & said) >= MENTIONED * len(terms)
        ]


def _said(memory: Memory) -> _Said:
    return memory, frozenset(analysis.analyse(memory.text))


def _own_terms(memory: Memory) -> frozenset[str]:
    return _said(memory)[1] - _MARKERS


def _is_taken_up(item: Memory, later: Iterable[_Said], others: Iterable[frozenset[str]]) -> bool:
    """Whether a later passage speaks of an item, rather than of another that is like it ("TODO: write the runbook of
    Kafka", "TODO: write the runbook of Redis")."""
    source, (_, all_terms) = item.source, _said(item)
    terms, least = all_terms - _MARKERS, MENTIONED * len(all_terms)
    alike = [other for other in others if len(terms & other) >= MENTIONED * len(terms)]
    return any(
        len(terms & later_terms) >= least
        and not any(_is_rather(later_terms, other, terms) for other in alike)
        for memory, later_terms in later
        if memory.created_at >= item.created_at
        and (memory.source.session, memory.source.turn) != (source.session, source.turn)
        and not _asks_what_is_open(memory)
    )


def _asks_what_is_open(passage: Memory) -> bool:
    """Whether the user only asked for what is open: whatever is named to him there stays so."""
    asked = next((words for who, words in _utterances(passage.text) if who == USER), "")
    return prompts.Prompt(asked).asks_what_is_open


def _is_rather(said: frozenset[str], other: frozenset[str], terms: frozenset[str]) -> bool:
    """Whether what is said has more of what tells another item apart from one than of what tells that one apart."""
    own, others_own = terms - other, other - terms
    return len(said & others_own) * len(own) > len(said & own) * len(others_own)


# -- as it is told --------------------------------------------------------------------------------


def in_short(end: SessionEnd, project: str, budget: int) -> fence.Note:
    """Return the end of a session as the model is told it: what was asked last, and how the answer ended.

    Args:
        budget: tokens at most.
    """
    head = _head(end, project)
    file_names = ", ".join(unique(map(os.path.basename, end.files))[:MOST_FILES])
    files = f"\nFiles: {file_names}" if file_names else ""
    room = budget - fence.tokens(head + files) - 16
    # What was said twice is told once; the note counts as whole all the same.
    answered = _without_repeats(end.answered, end.asked)
    end = replace(
        end, answered=answered, after=_without_repeats(end.after, f"{end.asked} {answered}")
    )
    needed = sum(fence.tokens(fence.tidy(text)) for text in (end.answered, end.after) if text)
    asked = fence.cut(end.asked, max(int(room * ASKED_SHARE), room - needed))
    room -= fence.tokens(asked)
    after = fence.gist(end.after, int(room * LAST_SHARE)) if end.after else ""
    answered = fence.gist(end.answered, room - (fence.tokens(after) if after else 0))
    lines = [f"{ASKED_LAST}{asked}"]
    lines += [f"Assistant: {text}" for text in (answered, after) if text]
    room -= fence.tokens(answered) if answered else 0
    also: tuple[str, ...] = ()
    if end.worked[1] and room >= LEAST_WORKED:
        worked = fence.cut(end.worked[0], int(room * ASKED_SHARE))
        work = fence.gist(end.worked[1], room - fence.tokens(worked))
        lines += [f"Before that: {worked}", f"Assistant: {work}"]
        told = fence.tidy(f"{worked}\n{work}")
        # Told whole, it does not come again with a prompt. What was pasted there is not told.
        also = tuple(
            memory.id
            for memory in end.worked_passages
            if _words_of(memory) in told and not harmless.is_marked(memory.text)
        )
    is_whole = (asked, answered, after) == (fence.tidy(end.asked), fence.tidy(end.answered), "")
    is_all = is_whole and len(end.passages) == 1
    foreign = any(map(render.is_others, end.passages))
    text = "\n".join(lines) + files
    return fence.Note(end.passages[-1].id, head, text, foreign, not is_all, also)


def _without_repeats(answer: str, before: str) -> str:
    """Return an answer without what only says again what was said before it, such as the user's list of what is left.
    Its first sentence stays: that something is done is told in the words in which it was asked for."""
    terms_before = set(analysis.analyse(before))

    def is_new(sentence: str) -> bool:
        terms = set(analysis.analyse(sentence))
        return len(terms) < LEAST_TERMS or len(terms & terms_before) < WITHIN * len(terms)

    first, *others = clauses_in(fence.tidy(answer))
    sentences = [first, *filter(is_new, others)]
    return answer if len(sentences) == len(others) + 1 else " ".join(sentences)


def at_length(end: SessionEnd, project: str, budget: int) -> fence.Note:
    """Return the end of a session as its last passages, whole ones as far as they fit.

    Args:
        budget: tokens at most.
    """
    head = _head(end, project)
    room = budget - fence.tokens(head) - 8
    after = fence.gist(end.after, room // 3) if end.after else ""
    pieces = [_words_of(passage) for passage in end.passages]
    asked = fence.cut(end.asked, int(room * ASKED_SHARE))
    room -= fence.tokens(after) + fence.tokens(asked)
    kept_pieces: list[str] = []
    for piece in reversed(pieces):
        room -= fence.tokens(piece)
        if room < 0:
            break
        kept_pieces.append(piece)
    is_cut = len(kept_pieces) < len(pieces)
    if is_cut:
        answer = "\n".join(reversed(kept_pieces)) or fence.gist(
            end.answered, room + fence.tokens(pieces[-1])
        )
        lines = [f"User: {asked}", *([f"Assistant: … {answer}"] if answer else [])]
    else:
        lines = [memory.text for memory in end.passages]
    lines += [f"Assistant, later: {after}"] if after else []
    foreign = any(map(render.is_others, end.passages))
    return fence.Note(end.passages[-1].id, head, "\n".join(lines), foreign, is_cut)


def _head(end: SessionEnd, project: str) -> str:
    last = end.passages[-1]
    where = f"{last.id[:8]} {fence.short_name(last.source.path)}:{last.source.line_start}"
    date = days.local_time(last.created_at).date().isoformat()
    branch = f"branch {end.branch}" if end.branch else ""
    pull = f"pull request #{end.pull}" if end.pull else ""
    return fence.head(date, KIND, project, where, " · ".join(filter(None, (branch, pull))))
