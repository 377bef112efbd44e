"""What was said in an exchange, sentence by sentence, with what its form and its place tell of it.

It is read out of the passages that are stored, so that nothing is in it that was not redacted, that the user
took out, or that a tool printed: the words between marks are nobody's, and what a program asked is no user's.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise, starmap
from typing import NamedTuple

from vector_memory.index.boxes import OPEN, box_in
from vector_memory.index.voices import ASSISTANT, DONE, USER, Voice, voices
from vector_memory.text import analysis, tables
from vector_memory.text.chatter import is_chatter, is_reasoned
from vector_memory.text.headings import leaves_nothing_open, names_what_is_open
from vector_memory.text.statements import CODE, HEADING, ITEM, statements
from vector_memory.text.words import clauses_in

SHORTEST, LONGEST = 12, 600
"""Characters of a sentence that may be an idea."""
LEAST_LETTERS = 0.6
"""The share of letters and spaces below which a sentence is a log line or code."""
ANSWER_CHARS = 40
"""What an assistant says after a question, at least, for it to be answered."""
OWN_SENTENCES = 3
"""Of a long prompt, so many sentences at its beginning and at its end may be the user's."""
LONG_PROMPT = 1_500
REDACTED = "[redacted:"
"""How a placeholder begins that stands where a secret was."""
FAR = 12
"""Sentences after which another one is as far from the beginning as any."""

_WORD = re.compile(r"[^\W\d_][\w'’]*")
_NAME = re.compile(r"\w/\w|\w\.\w{1,5}\b|\w_\w|[a-z][A-Z]")
_PLAN = " ExitPlanMode"
"""What is said to a plan goes on with the task, as any prompt does: it need not hold for later ones."""
UNDER, RULES = "under ", "rules"
PATTERNS = tables.patterns("sentences", os.path.dirname(__file__))


class Unit(NamedTuple):
    """One sentence or item of a list. `text` is plain, `raw` as it was written; `heading` is what an item
    stands under, `refusal` what the user refused with it; `before` are the sentences before it in the same
    breath; `done` says whether its box is ticked, None without a box; `place` is 0 … 1 from the beginning of what was said at
    once; `is_answered` says whether the assistant said anything of substance after it, `has_work` whether anything was run
    after it; `is_foreign` whether it is in another language than English, as the exchange is or by its own words;
    `is_deferred` whether it is a question of the user's of which he says at once that somebody else has to be asked;
    `file` is the to-do list in which it is a box, "" for what was said."""

    text: str
    raw: str
    speaker: str
    is_item: bool
    heading: str
    refusal: str
    before: tuple[str, ...]
    done: bool | None
    place: float
    is_answered: bool = False
    has_work: bool = False
    is_foreign: bool = False
    is_deferred: bool = False
    file: str = ""


def units(passages: Iterable[str]) -> list[Unit]:
    """Return what was said in an exchange that may be an idea, in its order.

    Args:
        passages: the texts of its passages, in their order.
    """
    all_voices = voices("\n".join(passages))
    speech = " ".join(voice.text for voice in all_voices if voice.who in (USER, ASSISTANT))
    is_abroad = analysis.is_foreign_among if analysis.is_foreign(speech) else analysis.is_foreign
    last_places = {ASSISTANT: -1, DONE: -1}
    for place, voice in enumerate(all_voices):
        # In few words what comes last answers: "Lexoffice."
        is_last = place == len(all_voices) - 1 and not is_chatter(voice.text)
        is_substantial = is_last or len(voice.text) >= ANSWER_CHARS
        is_answer = not PATTERNS["knows not"].match(voice.text)
        if voice.who == DONE or (voice.who == ASSISTANT and is_substantial and is_answer):
            last_places[voice.who] = place
    return [
        unit._replace(
            is_answered=place < last_places[ASSISTANT] and not unit.is_deferred,
            has_work=place < last_places[DONE],
            is_foreign=is_abroad(unit.text),
        )
        for place, voice in enumerate(all_voices)
        for unit in (
            _units_of_voice(voice) if voice.who in (USER, ASSISTANT) else _units_of_box(voice)
        )
    ]


def _units_of_box(voice: Voice) -> list[Unit]:
    """Return the box of a to-do list that was added or ticked; nothing for what else was done."""
    box = box_in(voice.text) if voice.who == DONE else None
    if box is None or REDACTED in box[2]:
        return []
    file, mark, text = box
    return [Unit(text, voice.text, ASSISTANT, True, "", "", (), mark != OPEN, 0.0, file=file)]


def _units_of_voice(voice: Voice) -> list[Unit]:
    if voice.is_plan or (voice.who == USER and voice.text.startswith(("/", "! "))):
        # What is planned is done next, or refused: the passage has it, and what was said before tells why.
        return []
    text = PATTERNS["ornament"].sub("", voice.text)
    sentences = statements(text)
    idea_units: list[Unit] = []
    lead = ""
    before: list[str] = []
    for number, statement in enumerate(sentences):
        if statement.form == CODE:
            continue
        if statement.form == HEADING or statement.text.endswith((":", "：")):
            lead = statement.text.rstrip(":：")
            # Russian, Japanese and Chinese sentences are not parted; the last of them leads.
            last_clause = clauses_in(lead.replace("。", ". "))[-1]
            lead = last_clause if names_what_is_open(last_clause) else lead
            continue
        # A paragraph ends what the line above the list began.
        lead = lead if statement.form == ITEM else ""
        heading = lead or (statement.heading if statement.form == ITEM else "")
        unit = Unit(
            text=statement.text,
            raw=text[statement.start : statement.end],
            speaker=voice.who,
            is_item=statement.form == ITEM,
            heading=heading,
            refusal="" if voice.refusal.endswith(_PLAN) else voice.refusal,
            before=tuple(before[-2:]),
            done=False if statement.done is None and _is_of_open_items(heading) else statement.done,
            place=min(number, FAR) / FAR,
        )
        question = idea_units[-1] if idea_units and before[-1:] == [idea_units[-1].text] else None
        before.append(statement.text)
        if question and voice.who == USER and _is_deferred(question.text, statement.text):
            idea_units[-1] = question._replace(
                text=f"{question.text} {statement.text}", is_deferred=True
            )
        elif _may_be_idea(unit):
            idea_units.append(unit)
    if voice.who == USER and len(text) > LONG_PROMPT:
        idea_units = idea_units[:OWN_SENTENCES] + idea_units[OWN_SENTENCES:][-OWN_SENTENCES:]
    return idea_units


def _is_of_open_items(heading: str) -> bool:
    is_left = PATTERNS["left"].search(heading) is not None and not leaves_nothing_open(heading)
    return is_left or names_what_is_open(heading)


def _is_deferred(question: str, next_sentence: str) -> bool:
    return question.endswith("?") and PATTERNS["deferred"].search(next_sentence) is not None


def _may_be_idea(unit: Unit) -> bool:
    text = unit.text
    is_long = len(text) >= (SHORTEST if text.isascii() else SHORTEST // 3) or bool(unit.refusal)
    is_table = unit.raw.lstrip().startswith("|") and "\n" in unit.raw
    # Of what was redacted half is gone: it stays readable in its passage.
    if not is_long or is_table or len(text) > LONGEST or REDACTED in text:
        return False
    return sum(char.isalpha() or char.isspace() for char in text) >= LEAST_LETTERS * len(text)


def form(unit: Unit) -> dict[str, float]:
    """Return what the form of a sentence and its place tell of it, whatever its language. Nothing of it
    changes when more is said after it: an exchange is read while it grows."""
    text, words = unit.text, _WORD.findall(unit.text)
    size = math.log1p(len(words) if text.isascii() else max(len(words), len(text) / 6))
    before = unit.before[-1] if unit.before else ""
    return {
        "size": size,
        "size²": size * size / 4,
        "asked": text.rstrip(" *_`").endswith(("?", "？")),
        "asks": "?" in text,
        "ended": text.endswith((".", "!", "。")),
        "loud": "!" in text,
        "code": "`" in text,
        "bold": PATTERNS["bold"].match(unit.raw) is not None,
        "file first": PATTERNS["file first"].match(unit.raw) is not None,
        "table": "|" in text,
        "named": _NAME.search(text) is not None,
        "digits": any(map(str.isdigit, text)),
        "letters": sum(char.isalpha() or char.isspace() for char in text) / max(1, len(text)),
        "colon": ": " in text,
        "bracket": "(" in text,
        "dash": "—" in text or " - " in text,
        "small": text[:1].islower(),
        "capitals": sum(starmap(_is_capital, pairwise(text[1:]))) / max(1, len(words)),
        "emoji": any(_is_emoji(sign) for sign in unit.raw),
        "item": unit.is_item,
        "headed": bool(unit.heading),
        "refused": bool(unit.refusal),
        "open box": unit.done is False,
        "done box": unit.done is True,
        "first": not before,
        "after a question": before.endswith("?"),
        "place": unit.place,
    }


def _is_capital(sign: str, following: str) -> bool:
    return "A" <= sign <= "Z" and "a" <= following <= "z"


def _is_emoji(sign: str) -> bool:
    return "\u2600" <= sign <= "\u27bf" or "\U0001f300" <= sign <= "\U0001faff"


def is_narration(unit: Unit) -> bool:
    """Whether the assistant says in English what it is about to do, or offers to, also above a list."""
    sentence = f"{unit.heading} {unit.text}".replace("\u2019", "'")
    is_in_english = unit.speaker == ASSISTANT and not unit.is_foreign
    return is_in_english and bool(PATTERNS["narrates"].search(sentence))


def is_change_report(unit: Unit) -> bool:
    """Whether the assistant says what it changed, in which file even, and no reason: whoever wants to know has the
    repository's history."""
    file_match = PATTERNS["file first"].match(unit.text)
    words = unit.text[file_match.end() :].strip() if file_match else unit.text
    is_change = (
        unit.speaker == ASSISTANT and _cue_patterns("idea_cues")["done"].match(words) is not None
    )
    return is_change and not is_reasoned(words)


def cues(unit: Unit) -> dict[str, bool]:
    """Return which of the turns of phrase of `data/idea_cues.txt` (of `idea_cues_abroad.txt` in another language than
    English) a sentence, or its heading, has."""
    text = unit.text.replace("’", "'")
    english = _cue_patterns("idea_cues")
    patterns = _cue_patterns("idea_cues_abroad") if unit.is_foreign else english
    return {
        name: name in patterns
        and patterns[name].search(unit.heading if name.startswith(UNDER) else text) is not None
        for name in english
    }


@cache
def _cue_patterns(table: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(form, re.IGNORECASE) for name, form in tables.pairs(table).items()}
