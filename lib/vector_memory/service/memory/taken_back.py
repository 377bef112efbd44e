"""What the user took back in the exchange right after the one in which it was said ("3 is too few, make it 8"): whoever is
shown the statement has to be shown its correction, too."""

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
"""How many exchanges after an exchange may correct it: thanks may stand between, and a correction may be corrected."""
TOKENS = 60
"""Tokens at most of a correction as it is told."""
LEAD = "User, then: "
"""What stands before a correction that came at once."""


def corrections(read: TurnReader, memory: Memory) -> list[Memory]:
    """Return the first passages of the next exchanges of a memory's session, as far as these correct the memory: a
    passage stands for its whole exchange, any other memory for itself."""
    corrected, correcting = list[Memory](), list[Memory]()
    next_turn = memory.source.turn + 1
    for turn in range(next_turn, next_turn + FOLLOWING) if memory.is_captured else ():
        passages = talk_of(read(replace(memory, source=replace(memory.source, turn=turn))))
        prompt = prompt_of(passages)
        if not corrected and may_correct(prompt):
            # Most are not corrected: what was said is read where it may have been.
            talk = talk_of(read(memory))
            corrected = [memory] if talk and memory.kind != PASSAGE else talk
        if corrected and corrects(prompt, "\n".join(passage.text for passage in corrected)):
            correcting.append(passages[0])
            corrected += passages
        elif not Prompt(prompt).needs_nothing:
            break
    return correcting


def in_short(correction: Memory, lead: str, said: str) -> str:
    """Return a correction as it is told behind what it corrects: the beginning of the prompt, and what of the answer
    speaks of the words that were said before."""
    prompt, *answers = statements_of(correction)[:2]
    prompt_line = _in_one_line(prompt, TOKENS // 2)
    room = TOKENS - fence.tokens(prompt_line)
    answer_lines = (" ".join(_relevant_part(text, room, said, prompt).split()) for text in answers)
    return lead + "\nAssistant: ".join([prompt_line, *answer_lines])


def asked_in(correction: Memory, lead: str, said: str, most: int) -> str:
    """Return what a correction begins with alone, the prompt, in so many tokens at most."""
    return lead + _in_one_line(statements_of(correction)[0], most)


def _in_one_line(text: str, most: int) -> str:
    """Return the beginning of a text, in so many tokens at most: another line would look like another rule, or like
    somebody else's words."""
    return " ".join(fence.cut(text, most).split())


def _relevant_part(text: str, most: int, said: str, prompt: str) -> str:
    """Return the part of an answer that speaks of what was said, in so many tokens at most, with the sentence that
    replaces one of its numbers, or gives one that was asked for."""
    lower_text = text.lower()
    words = [term for term in dict.fromkeys(analysis.analyse(said)) if term in lower_text]
    excerpt = fence.cut(text, most, words) if words else fence.gist(text, most)
    said_numbers, prompt_numbers = set(numbers_in(said)), set(numbers_in(prompt))
    excerpt_numbers = set(numbers_in(excerpt))
    for sentence in clauses_in(fence.tidy(text)):
        numbers = set(numbers_in(sentence))
        if (
            numbers - said_numbers
            and numbers & (said_numbers | prompt_numbers)
            and excerpt_numbers.isdisjoint(numbers - said_numbers)
        ):
            beginning = fence.cut(sentence, most // 2)
            remainder = fence.cut(text, most - fence.tokens(beginning) - 2, words).lstrip("… ")
            return f"{beginning} … {remainder}"
    return excerpt


def statements_of(memory: Memory) -> list[str]:
    """Return what the user and the assistant say in a passage, in their order."""
    utterances = (voice.text for voice in voices(memory.text) if voice.who in (USER, ASSISTANT))
    return [text for text in utterances if text.strip()]


def talk_of(memories: Sequence[Memory]) -> list[Memory]:
    """Return the passages of an exchange in their order; nothing where others than the user and the assistant speak in
    it. What was not captured may name any speaker."""
    passages = sorted((passage for passage in memories if passage.kind == PASSAGE), key=number_of)
    is_talk_alone = all(
        passage.is_captured and not (passage.is_held or render.is_others(passage))
        for passage in passages
    )
    return passages if is_talk_alone else []


def prompt_of(passages: Sequence[Memory]) -> str:
    """Return the user's prompt of an exchange, "" where it does not begin with one."""
    voice = next(iter(voices(passages[0].text)), None) if passages else None
    return voice.text if voice and voice.who == USER else ""
