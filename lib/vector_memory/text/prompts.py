"""What a prompt is, before anything is searched: whether it needs a memory at all, and whether it
points back at what was just said. Standard library only (the cold path asks, on Python 3.9)."""

import re

from vector_memory.text import analysis, tables

_ACKNOWLEDGEMENT = tables.words("acknowledgements")
_COMMITTING = tables.words("commit_words")
_GOING_ON = tables.words("continuations")
_COMMITS = frozenset(("commit", "push", "merge", "pr"))
"""Words of which a request to commit has one at least."""
_ASKING = frozenset(("how", "what", "when", "where", "which", "who", "whose", "why"))
"""With one of these it is a question about commits."""
EARLIER_CHARS = 200
MOST_WORDS = 8
"""An acknowledgement is not longer."""
FEW_WORDS = 3
"""More of the same words may say something: "keep the first option"."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_OF_CLIENT = re.compile(r"[<\u2039](ide_\w{1,40})[>\u203a].*?[<\u2039]/\1[>\u203a]", re.DOTALL)
"""What an editor says beside a prompt."""
_POINTING = re.compile(
    r"\b(that|this|it|these|those|they|them|there|above|previous(?:ly)?|earlier|again|same|"
    r"before|just now|last one)\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(r"\bthe (?:above|previous|earlier)\b", re.IGNORECASE)
_REMEMBER = re.compile(r"/(?:vector-memory:)?remember\s(.+)", re.DOTALL)


def needs_nothing(prompt: str) -> bool:
    """Whether a prompt can do without memory: slash commands, shell escapes, acknowledgements, one letter
    that chooses, requests to commit."""
    text = _own(prompt)
    if not text or text[0] in "/!#":
        return True
    words = _words(text)
    if len(words) <= MOST_WORDS and all(len(one) == 1 or one in _ACKNOWLEDGEMENT for one in words):
        return True
    return _only_commits(words)


def says_nothing(text: str) -> bool:
    """Whether a text only greets, agrees, thanks or hesitates ("yes", "hmm", "hello"): nobody will ever look
    for it."""
    words = _words(text)
    return 0 < len(words) <= FEW_WORDS and all(
        one in _ACKNOWLEDGEMENT and not one.isdigit() for one in words
    )


def _only_commits(words: "list[str]") -> bool:
    """Whether words ask to commit, push or merge, and say nothing of what."""
    if _COMMITS.isdisjoint(words) or not _ASKING.isdisjoint(words):
        return False
    return all(
        one in _COMMITTING or one in _ACKNOWLEDGEMENT or one in analysis.STOP_WORDS for one in words
    )


def goes_on(prompt: str) -> bool:
    """Whether a prompt that needs no search asks to go on with what was begun ("continue", "go ahead")."""
    text = _own(prompt)
    words = [] if text[:1] in ("/", "!", "#") else _words(text)
    return not _GOING_ON.isdisjoint(words) and needs_nothing(text)


def asked_of_memory(prompt: str) -> str:
    """Return the question of `/remember QUESTION`, "" for any other prompt."""
    found = _REMEMBER.match(prompt.strip())
    return found[1].strip() if found else ""


def points_back(prompt: str) -> bool:
    """Whether a prompt is short and leans on what was said before ("why did that fail?")."""
    text = _own(prompt)
    terms = analysis.query_terms(text)
    return len(terms) <= 2 or (len(terms) <= 5 and bool(_POINTING.search(text)))


def only_points_back(prompt: str) -> bool:
    """Whether a prompt says nothing of what it is about but that it was said before ("fix it")."""
    text = _own(prompt)
    return len(analysis.query_terms(text)) <= 2 and bool(_POINTING.search(text))


def needs_what_was_before(prompt: str) -> bool:
    """Whether a prompt can hardly be understood without what was said before it: hardly a word of its own, or
    "the above" that does not stand in it."""
    text = _own(prompt)
    names_above = bool(_EARLIER.search(text[:EARLIER_CHARS])) and "\n\n" not in text
    return names_above or len(analysis.query_terms(text)) <= 2


def _own(prompt: str) -> str:
    """Return a prompt without what an editor says beside it."""
    return _OF_CLIENT.sub("", prompt).strip()


def _words(text: str) -> "list[str]":
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
