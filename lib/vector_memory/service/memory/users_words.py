"""Whether the user asked in this turn for what an agent wants to store, in the user's own words."""

from __future__ import annotations

import re

from vector_memory.model import Priority
from vector_memory.text import analysis, priorities
from vector_memory.text.words import words_in

ADDED = 0.2
"""The share of a memory's words that may be others than the user's: a name, the reason, the date."""
_COMMANDS = ("/memory-save", "/vector-memory:memory-save")
_OPENING = (
    r"(?:(?:please|and|also|ok(?:ay)?|so|now|hey|hi|claude|well|yes|no|good|great|thanks)\b[\s,.!:-]*|"
    r"(?:can|could|would|will) you (?:please )?|(?:i|we)(?:'d| would) like you to |i want you to |"
    r"(?:you )?(?:must|should) )*"
)
_REQUEST = re.compile(
    rf"\s*{_OPENING}(?:"
    r"(?:always )?remember\b(?! (?:when|how|what|who|where|why|if|me\b))|memori[sz]e\b|from now on\b|"
    r"(?:do not|don't|never) forget\b|keep in mind\b|make a (?:mental )?note\b|note (?:that|down)\b|"
    r"(?:save|store|add|put|write|commit)\b[^.\n]{0,200}\b(?:to|in|into) (?:(?:your|the|long-term|vector)"
    r"[ -])*memory\b)",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(
    r"(?:^|\s)--global\b|\bglobal(?:ly)?\b|\beverywhere\b|\b(?:all|every|each|any) (?:of )?(?:my |our )?"
    r"(?:other )?(?:projects?|repos(?:itor(?:y|ies))?|code ?bases?)\b",
    re.IGNORECASE,
)
_POLAR = frozenset((
    "not", "no", "never", "none", "nothing", "nobody", "without", "cannot", "always", "only", "must", "avoid", "stop",
    "skip", "except", "unless", "ignore", "disable",
))  # fmt: skip
"""Words that turn a sentence round: none may come or go."""
_REMINDERS = ("do not forget", "never forget", "always remember")
_OF_THE_USER = frozenset(analysis.analyse("the user users user's wants asked said"))
"""How what the user says of himself is put by somebody else."""


def requested_words(prompt: str) -> str:
    """Return the user's words that are to be remembered: what stands behind `/memory-save`, or the paragraph
    that begins with the request, and what it announces; "" where a prompt asks for nothing."""
    command, *words = prompt.split(maxsplit=1) or [""]
    if command.lower() in _COMMANDS:
        return "".join(words).strip()
    if not _REQUEST.match(prompt):
        return ""
    paragraph, gap, following = prompt.strip().partition("\n\n")
    return f"{paragraph}{gap}{following}" if paragraph.rstrip().endswith(":") else paragraph


def is_said(text: str, prompt: str) -> bool:
    """Whether a memory says what the user asked to be remembered: nearly all of its words are the user's,
    and those that turn a sentence round are the same."""
    words = requested_words(prompt)
    terms = set(analysis.analyse(text))
    if not words or not terms:
        return False
    added = terms - set(analysis.analyse(words)) - _OF_THE_USER
    return len(added) <= ADDED * len(terms) and _polarity(text) == _polarity(words)


def is_for_all(prompt: str) -> bool:
    """Whether the user's words say that it holds for every project."""
    return bool(_FOR_ALL.search(requested_words(prompt)))


def allowed_priority(priority: Priority, prompt: str) -> Priority:
    """Return a priority if the user's words give a memory so much weight, else the usual one."""
    order = tuple(Priority)[::-1]
    words = requested_words(prompt)
    named_levels = [level for level in order if re.search(rf"\b{level.value}\b", words)]
    highest = max([Priority.NORMAL, priorities.suggest(words), *named_levels], key=order.index)
    return priority if order.index(priority) <= order.index(highest) else Priority.NORMAL


def _polarity(text: str) -> frozenset[str]:
    plain = text.casefold().replace("’", "'").replace("n't", " not")
    for reminder in _REMINDERS:
        plain = plain.replace(reminder, "")
    return _POLAR.intersection(words_in(plain))
