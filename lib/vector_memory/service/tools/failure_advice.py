"""What comes with a failing command: the fix of the same error, where there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.errors import error_line, names_in, signature, words_of
from vector_memory.index.fixes.fix_drafts import RAN, SIGNATURE_TAG, TAG
from vector_memory.index.fixes.fixes import INSTEAD
from vector_memory.index.fixes.likeness import (
    PARTICULARS,
    SHAPE,
    agree,
    is_alike,
    likeness,
    particulars,
)
from vector_memory.model import CleanText, Memory, Origin, Scope
from vector_memory.retrieve import render
from vector_memory.retrieve.search import Hit
from vector_memory.service.base import context_block, delivery, offered_commands
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.base.shown_notes import FAILURE, Showing
from vector_memory.service.memory import lookup
from vector_memory.text import analysis, fence, harmless
from vector_memory.text.failures import without_times

FAILURE_TOKENS = 200
"""Tokens that one failure may take, the fence included."""
LEAST_CONFIDENCE = 0.25
"""A fix that is believed less is not brought any more."""
DOUBTED = 0.4
STRICT = 0.55
"""Relevance that a fix of another error needs at least."""
KINDS = ("solution", "fix")
SAME_WORDS, NAMED_WORDS, LEAST_WORDS = 0.6, 0.8, 3
KEYS = ("signature", SHAPE)
MOST_KNOWN, MOST_SIMILAR = 50, 5
SHOWN_MARK = "fix:"
"""What stands before a memory's id among what a session was shown, where it came with a failure."""
LONGEST_ERROR = 40_000
_NUMBER = re.compile(r"(?<![\d_])\d+(?:\.\d+)*(?![\d_])")


def on_failure(
    ctx: Context, question: HookQuestion, error: str, command: str, is_sure: bool = True
) -> str:
    """Return the fenced fix of an error, "" where none is known.

    Args:
        question: the session and its folder.
        error: what the tool said, as the client gives it.
        command: the command line that failed.
        is_sure: it is known that it failed; else only the fix of that very error comes.
    """
    if not ctx.settings.recall_on_failure:
        return ""
    try:
        output, command_line = redact.clean(error).text[:LONGEST_ERROR], redact.clean(command).text
    except UnsafeTextError:
        return ""
    message, words = error_line(output), particulars(output, command_line)
    signed_fixes = _fixes_by_sign(question, signature(output, command_line), command_line)
    fixes = [fix for fix in signed_fixes if _fits_error(fix, message, words)]
    if not fixes and is_sure:
        fixes = _alike_fixes(question, output, command_line) or [
            fix
            for fix in _similar_fix(ctx, question, message)
            if _fits_error(fix, message, words) and _helps_command(fix, command_line)
        ]
        ctx.count("failures_unknown", not fixes)
    return _show_best(ctx, question, fixes)


def _fixes_by_sign(question: HookQuestion, sign: str, command: str) -> list[Memory]:
    """Return the fixes of an error by its signature or shape that a command line may have use of."""
    fixes_by_shelf = (known_fixes(shelf, question.scope, sign) for shelf in question.shelves)
    return [fix for fixes in fixes_by_shelf for fix in fixes if _helps_command(fix, command)]


def _alike_fixes(question: HookQuestion, output: str, command: str) -> list[Memory]:
    """Return the fixes of errors that differ from this one only in names that do not matter."""
    form, message = likeness(output, command), error_line(output)
    if form is None:
        return []
    return [
        fix
        for fix in _fixes_by_sign(question, form.shape, command)
        if is_alike(fix.extra, output, command) and _fits_numbers(fix, message)
    ]


def _fits_error(fix: Memory, line: str, words: frozenset[str]) -> bool:
    """Whether a fix is for what an error's line asks for, and the words around it: one that ran a number of its
    own error, such as a version or a port, is for the same numbers alone."""
    return agree(fix.extra.get(PARTICULARS) or (), words) and _fits_numbers(fix, line)


def _helps_command(fix: Memory, command: str) -> bool:
    """Whether a fix may help a command line: a call that was only given other options, or a variable of its own
    program, says nothing to another program."""
    failed, offered = str(fix.extra.get("command", "")), list(map(str, fix.extra.get(RAN) or ()))
    is_instead = TAG in fix.tags and f"` {INSTEAD}" in fix.text and len(offered) == 1
    if not is_instead or not commands.is_for_its_tool(failed, offered[0]):
        return True
    return not commands.tools(failed).isdisjoint(commands.tools(command))


def _fits_numbers(fix: Memory, line: str) -> bool:
    own_numbers = _numbers(harmless.unquoted(fix.title))
    offered_numbers = _numbers(" ".join(offered_commands.of_memory(fix)))
    return own_numbers.isdisjoint(offered_numbers) or own_numbers == _numbers(line)


def _numbers(text: str) -> set[str]:
    """Return a text's numbers; the days and times in it are no versions or ports."""
    return set(_NUMBER.findall(without_times(text)))


def known_fixes(shelf: Shelf, scope: Scope, sign: str) -> list[Memory]:
    """Return a store's fixes of an error by its signature, the most trusted first, the newest of
    equals. The tag is one term of the full-text index, so this reads a handful of rows."""
    words = analysis.lexical("", "", "", SIGNATURE_TAG + sign).split()
    scope = replace(scope, tags=(SIGNATURE_TAG + sign,))
    rows = shelf.journal.matching([max(words, key=len)], scope, MOST_KNOWN)
    tagged = shelf.journal.by_seqs([row.seq for row in rows]).values()
    fixes = [memory for memory in tagged if sign in map(memory.extra.get, KEYS)]
    return sorted(fixes, key=lambda fix: (round(fix.confidence, 2), fix.created_at), reverse=True)


def _similar_fix(ctx: Context, question: HookQuestion, line: str) -> list[Memory]:
    """Return a solution of an error that reads much the same: relevance alone would do with the same
    program or topic, and the fix of another error harms."""
    asker = replace(question, scope=replace(question.scope, kinds=KINDS))
    hits: list[Hit] = lookup.answer(ctx, line, asker, MOST_SIMILAR).hits
    least = max(STRICT, ctx.settings.threshold)
    candidates = (
        hit.memory for hit in hits if hit.relevance >= least and lookup.is_open(hit.memory)
    )
    return [memory for memory in candidates if _says_the_same(memory, line)][:1]


def _says_the_same(memory: Memory, line: str) -> bool:
    """Whether a fix was for nearly the same words, or another solution names nearly all of them. Where
    each of two errors has a word of its own, something else is missing or wrong."""
    if TAG in memory.tags:
        words, title_words = words_of(line), words_of(harmless.unquoted(memory.title))
        least = SAME_WORDS * len(title_words | words)
        return agree(words, title_words) and len(title_words & words) >= least
    text = f"{memory.title} {memory.text}"
    terms = _lexical_terms(line)
    names_most = len(_lexical_terms(text) & terms) >= NAMED_WORDS * len(terms)
    return names_in(line) <= words_of(text) and len(terms) >= LEAST_WORDS and names_most


def _lexical_terms(text: str) -> set[str]:
    return set(analysis.lexical("", harmless.unquoted(text), "", "").split())


def _is_offered(memory: Memory, folder: str) -> bool:
    """Whether a fix is believed enough, open, and nothing that the observer would flag. What users saved
    themselves they meant."""
    if memory.confidence < LEAST_CONFIDENCE or not lookup.is_open(memory):
        return False
    if memory.origin is Origin.USER:
        return True
    return offered_commands.is_harmless(memory, folder)


def _show_best(ctx: Context, question: HookQuestion, fixes: Sequence[Memory]) -> str:
    """Return the best fix, fenced, unless the session sees it already; count its use."""
    best = next((fix for fix in fixes if _is_offered(fix, question.place.root)), None)
    if best is None or question.sees(best):
        return ""
    shown = ctx.state.shown_ids(question.session)
    if TAG in best.tags and SHOWN_MARK + best.id not in shown:
        delivery.add_shown(ctx, question.session, [SHOWN_MARK + best.id])
    if best.id in shown:
        return ""
    for shelf in question.shelves:
        if best.id in shelf.journal.by_ids([best.id]):
            ctx.uses.count(shelf, [best.id], ctx.now())
    ctx.count("fixes_shown")
    note = _note(best, question.names[best.project])
    title, showing = "This error was met before:", Showing(FAILURE)
    return context_block.show(ctx, question.session, [note], title, showing=showing)


def _without_reason(fix_text: str) -> CleanText:
    """Return a fix without its reason, which stands before what was done."""
    places = [place for mark in (" edited ", " ran `") if (place := fix_text.find(mark)) >= 0]
    return CleanText(f"FIX{fix_text[min(places) :]}" if places else fix_text)


def _note(fix: Memory, project: str) -> fence.Note:
    room = FAILURE_TOKENS - render.FENCE_TOKENS
    note = render.note(fix, project, room)
    if note.is_cut and TAG in fix.tags:
        # The error is in sight: what mended it is what must not be cut.
        plain_text = CleanText(harmless.without_marked(fix.text))
        note = render.note(replace(fix, text=plain_text), project, room)
        if note.is_cut:
            note = render.note(replace(fix, text=_without_reason(plain_text)), project, room)
    if fix.confidence < DOUBTED:
        note = note.with_head(f"{note.head} · doubtful: it did not help the last time")
    tried = "; ".join(map(str, fix.extra.get("tried", ())))
    longer = note.with_text(f"{note.text}\nTried in vain: {tried}")
    fits = longer.tokens - 4 <= room
    return longer if tried and fits else note
