"""What the user took back in the exchange right after the one in which it was said ("3 is too few, make it 8"): who is
told the one has to be told the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vector_memory.index.voices import ASSISTANT, USER, voices
from vector_memory.model import PASSAGE, Memory
from vector_memory.retrieve import render
from vector_memory.service.memory.passages import TurnReader, number_of
from vector_memory.text import analysis, fence
from vector_memory.text.corrections import corrects, may_correct
from vector_memory.text.prompts import Prompt
from vector_memory.text.words import clauses_in, numbers_in

FOLLOWING = 2
"""How many exchanges after one may correct it: thanks may stand between, and what corrects may be corrected."""
TOKENS = 60
"""Tokens at most of a correction as it is told."""
LEAD = "User, then: "
"""How a correction that came at once begins."""


def corrections(read: TurnReader, memory: Memory) -> list[Memory]:
    """Return the passages that begin the next exchanges of a memory's session, as far as these correct it: a passage's
    exchange, or what another memory itself says."""
    said, found = list[Memory](), list[Memory]()
    first = memory.source.turn + 1
    for turn in range(first, first + FOLLOWING) if memory.is_captured else ():
        passages = talk_of(read(replace(memory, source=replace(memory.source, turn=turn))))
        prompt = prompt_of(passages)
        if not said and may_correct(prompt):
            # Most are not corrected: what was said is read where it may have been.
            talk = talk_of(read(memory))
            said = [memory] if talk and memory.kind != PASSAGE else talk
        if said and corrects(prompt, "\n".join(one.text for one in said)):
            found.append(passages[0])
            said += passages
        elif not Prompt(prompt).needs_nothing:
            break
    return found


def in_short(correction: Memory, lead: str, said: str) -> str:
    """Return a correction as it is told behind what it corrects: the beginning of the prompt, and what of the answer
    speaks of the words that were said before."""
    prompt, *answers = spoken(correction)[:2]
    asked = _in_a_line(prompt, TOKENS // 2)
    left = TOKENS - fence.tokens(asked)
    answered = (" ".join(_about(text, left, said, prompt).split()) for text in answers)
    return lead + "\nAssistant: ".join([asked, *answered])


def asked_in(correction: Memory, lead: str, said: str, most: int) -> str:
    """Return what a correction begins with alone, the prompt, in so many tokens at most."""
    return lead + _in_a_line(spoken(correction)[0], most)


def _in_a_line(text: str, most: int) -> str:
    """Return the beginning of a text, in so many tokens at most: another line would look like another rule, or like
    somebody else's words."""
    return " ".join(fence.cut(text, most).split())


def _about(text: str, most: int, said: str, asked: str) -> str:
    """Return what of an answer speaks of what was said, in so many tokens at most, with the sentence that puts another
    number for one of it, or tells one that was asked for."""
    low = text.lower()
    words = [term for term in dict.fromkeys(analysis.analyse(said)) if term in low]
    told = fence.cut(text, most, words) if words else fence.gist(text, most)
    before, wanted, there = set(numbers_in(said)), set(numbers_in(asked)), set(numbers_in(told))
    for sentence in clauses_in(fence.tidy(text)):
        own = set(numbers_in(sentence))
        if own - before and own & (before | wanted) and there.isdisjoint(own - before):
            first = fence.cut(sentence, most // 2)
            more = fence.cut(text, most - fence.tokens(first) - 2, words).lstrip("… ")
            return f"{first} … {more}"
    return told


def spoken(memory: Memory) -> list[str]:
    """Return what the user and the assistant say in a passage, in their order."""
    said = (voice.text for voice in voices(memory.text) if voice.who in (USER, ASSISTANT))
    return [text for text in said if text.strip()]


def talk_of(memories: Sequence[Memory]) -> list[Memory]:
    """Return the passages of an exchange in their order; nothing where others speak in it. What was not captured may
    name any speaker."""
    passages = sorted((one for one in memories if one.kind == PASSAGE), key=number_of)
    is_heard = all(
        one.is_captured and not (one.is_held or render.is_others(one)) for one in passages
    )
    return passages if is_heard else []


def prompt_of(passages: Sequence[Memory]) -> str:
    """Return what the user said first in an exchange, "" where it is not he who began it."""
    first = next(iter(voices(passages[0].text)), None) if passages else None
    return first.text if first and first.who == USER else ""
