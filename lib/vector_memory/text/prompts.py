"""What a prompt is, before anything is searched: whether it needs a memory at all, and whether it
points back at what was just said. Standard library only (the cold path asks, on Python 3.9)."""

import re
from functools import cached_property

from vector_memory.text import analysis, tables
from vector_memory.text.words import numbers_in, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_ACKNOWLEDGEMENTS_ABROAD = {
    sort: frozenset(", ".join(lines).split(", "))
    for sort, lines in tables.sections("acknowledgements_abroad").items()
}
_GOING_ON = tables.words("continuations") | _ACKNOWLEDGEMENTS_ABROAD["going on"]
_REFUSING = _ACKNOWLEDGEMENTS_ABROAD["refusing"]
_ACKNOWLEDGEMENT = (
    tables.words("acknowledgements") | _ACKNOWLEDGEMENTS_ABROAD["agreeing"] | _REFUSING | _GOING_ON
)
_PHRASES = sorted((entry for entry in _ACKNOWLEDGEMENT if " " in entry), key=len, reverse=True)
"""What agrees or goes on in several words, the longest first: "muy bien" before "bien"."""
_COMMIT_WORDS = tables.words("commit_words")
_COMMIT_VERBS = frozenset(("commit", "push", "merge", "pr"))
"""Words of which a request to commit has one at least."""
_OF_GIT = _COMMIT_VERBS | {"branch", "commits", "request"}
_MAKING_VERBS = frozenset(("change", "create", "use", "write"))
_OBJECT_STARTS = frozenset(
    ("a", "all", "an", "it", "me", "my", "new", "some", "that", "the", "these", "this")
)
"""What stands after one of the former where it is a verb: "the last change" is none."""
_QUESTION_WORDS = frozenset(("how", "what", "when", "where", "which", "who", "whose", "why"))
"""Words that begin a question; with one of them it is a question about commits."""
_QUESTION_WORDS_ABROAD = tables.words("question_words")
_OPEN_ITEM_WORDS = tables.sets("open_item_words")
_OPEN_PHRASES = tables.sections("open_item_words")
_OPEN_TOGETHER = [phrase.split() for phrase in _OPEN_PHRASES["open together"]]
EARLIER_CHARS = 200
MOST_WORDS = 8
"""An acknowledgement is not longer."""
MOST_OPEN_WORDS = 12
"""Who asks what is open, and no more, needs no more words."""
LONGEST_PIECE = 12
"""Characters of the longest piece of a question or a refusal, where no spaces part the words."""
LONGEST_ROW = 80
"""Characters of a row of them; a longer one says more than that."""
MOST_TERMS = 8
"""A prompt of more terms says itself what it is about."""
FEW_WORDS = 3
"""More of the same words may say something: "keep the first option"."""
_EDITOR_NOTE = re.compile(r"[<\u2039](ide_\w{1,40})[>\u203a].*?[<\u2039]/\1[>\u203a]", re.DOTALL)
"""What an editor says beside a prompt."""
_PRONOUNS = ("that", "it", "these", "those", "they", "them")
_POINTING_AT_TALK = (
    *_PRONOUNS,
    "this",
    "there",
    "above",
    "just now",
    "last one",
)
_POINTING = (*_POINTING_AT_TALK, "previous", "previously", "earlier", "again", "same", "before")
"""What points at what was said: the former at the talk that goes on. What happens "again" did so long ago."""
_NAMING_ABOVE = ("the above", "the previous", "the earlier")
_ITEM = re.compile(r"(?m)^[ \t>#*-]*\(?(\d{1,2})[.):]\*{0,2}[ \t]+(?=\S)")
_REMEMBER_COMMANDS = ("/remember", "/vector-memory:remember")


class Prompt:
    """A prompt as it is read, once, before anything is searched for: each question about it is answered when it is
    first asked.

    Attributes:
        text: what the user wrote, without what an editor says beside it.
    """

    def __init__(self, prompt: str) -> None:
        self.text = _EDITOR_NOTE.sub("", prompt).strip()

    @cached_property
    def _words(self) -> "list[str]":
        return words_in(self.text)

    @cached_property
    def _terms_and_pointing(self) -> "tuple[int, bool]":
        """How many terms it has, and whether a word of it points at something that was said."""
        return len(analysis.said_words(self.text)), _has_phrase(self._words, _POINTING)

    @property
    def needs_nothing(self) -> bool:
        """Whether it can do without memory: slash commands, shell escapes, acknowledgements, one letter that
        chooses, requests to commit."""
        if self._is_command:
            return True
        words = self._words
        if len(words) <= MOST_WORDS and all(len(word) == 1 for word in _telling_words(words)):
            return True
        return _only_commits(words)

    @property
    def _is_command(self) -> bool:
        return not self.text or self.text[0] in "/!#"

    @property
    def goes_on(self) -> bool:
        """Whether it needs no search, and asks to go on with what was begun ("continue", "go ahead")."""
        return self.needs_nothing and not self._is_command and _has_phrase(self._words, _GOING_ON)

    @property
    def question(self) -> str:
        """The question of `/remember QUESTION`, "" for any other prompt."""
        command, *question = self.text.split(maxsplit=1) or [""]
        return question[0] if question and command in _REMEMBER_COMMANDS else ""

    @property
    def is_question(self) -> bool:
        """Whether it is a question by its first word or its last sign."""
        first = self._words[:1]
        return self.text.endswith(("?", "？")) or not (
            _QUESTION_WORDS | _QUESTION_WORDS_ABROAD
        ).isdisjoint(first)

    @property
    def asks_what_is_open(self) -> bool:
        """Whether it asks what is still to be done or to be answered, and of nothing in particular: "what is left to
        do?", "any open questions?", "o que falta fazer?", "残っている作業は？"."""
        words = self._words
        is_long = len(words) > MOST_OPEN_WORDS
        if (
            is_long
            or _has_phrase(words, _PRONOUNS)
            or _has_phrase(words, _OPEN_PHRASES["otherwise"])
        ):
            return False
        allowed = _OPEN_ITEM_WORDS["open"] | _OPEN_ITEM_WORDS["beside"] | analysis.STOP_WORDS
        open_words = _OPEN_ITEM_WORDS["open"] - ({"open"} if _uses_open_as_verb(words) else set())
        vocabulary = allowed | _OPEN_ITEM_WORDS["otherwise"]
        pieces = [piece for word in words for piece in _pieces(word, vocabulary)]
        is_named = not open_words.isdisjoint(pieces) or any(
            {*phrase}.issubset(pieces) for phrase in _OPEN_TOGETHER
        )
        # Where no spaces part the words, what asks may stand anywhere.
        asking = {words[0].partition("'")[0]} if words else set()
        asking.update(filter(analysis.is_unspaced, pieces))
        is_asked = self.is_question or not (
            _QUESTION_WORDS | _OPEN_ITEM_WORDS["telling"]
        ).isdisjoint(asking)
        is_otherwise = any(map(analysis.is_unspaced, _OPEN_ITEM_WORDS["otherwise"] & {*pieces}))
        return is_named and is_asked and not is_otherwise and allowed.issuperset(pieces)

    @property
    def points_back(self) -> bool:
        """Whether it is short and leans on what was said before ("why did that fail?")."""
        terms, points = self._terms_and_pointing
        return terms <= 2 or (terms <= 5 and points)

    @property
    def is_about_before(self) -> bool:
        """Whether it is about what was said in this talk by a word of its own, or has none that says what it is about.
        "How do we back up postgres?" is short, and about something else; "grafana 502 again" is about long ago."""
        terms, _ = self._terms_and_pointing
        return terms == 0 or (terms <= 5 and _has_phrase(self._words, _POINTING_AT_TALK))

    @property
    def only_points_back(self) -> bool:
        """Whether it says nothing of what it is about but that it was said before: "fix it", "the above report"
        that does not stand in it."""
        terms, points = self._terms_and_pointing
        names_above = _has_phrase(words_in(self.text[:EARLIER_CHARS]), _NAMING_ABOVE)
        return (terms <= 2 and points) or (names_above and "\n\n" not in self.text)

    def part_named(self, text: str) -> str:
        """Return what a short prompt names of something that was said before it: of "fix item 2 of your report" the
        second item of a list, of "do the proper fix" the whole of what holds all of its words; "" where it is not there.
        """
        numbers = [number for number in numbers_in(self.text) if len(number) <= 2]
        if not self.is_short or len(numbers) > 1:
            return ""
        if numbers:
            # Before the first item, its number, its words, the next one's number …
            pieces = _ITEM.split(text)
            places = (place for place in range(1, len(pieces), 2) if pieces[place] == numbers[0])
            return next((f"{pieces[place]}. {pieces[place + 1].strip()}" for place in places), "")
        words = [word for word in self._words if word not in _ACKNOWLEDGEMENT]
        terms = analysis.query_terms(" ".join(words))
        is_meant = (
            len(terms) > 1 and self.needs_what_was_before and {*terms} <= {*analysis.analyse(text)}
        )
        return text if is_meant else ""

    def names_things(self, within: int) -> bool:
        """Whether it calls something by its exact name in so many characters."""
        # The cold path, which asks nothing of the sort, starts without it.
        from vector_memory.text import mentions

        return bool(mentions.exact_terms(self.text[:within]))

    @property
    def needs_what_was_before(self) -> bool:
        """Whether it can hardly be understood without what was said before it: hardly a word of its own."""
        return self._terms_and_pointing[0] <= 2 or self.only_points_back

    @property
    def is_short(self) -> bool:
        """Whether it says so little that it may presume what was said just before."""
        return self._terms_and_pointing[0] <= MOST_TERMS

    @property
    def is_command_line(self) -> bool:
        """Whether it is one for a shell ("terraform plan"): a program's name, and no word of a sentence. However short
        it is, it says all, and nothing of what was before."""
        first, *rest = self.text.split() or [""]
        if not rest or first not in tables.sets("command_words")["with_jobs"]:
            return False
        if any(word[0] == "-" and word.lstrip("-")[:1].isalpha() for word in rest):
            return True
        terms, points = self._terms_and_pointing
        is_sentence = points or terms < len(self._words) or self.text.endswith(("?", "."))
        return not is_sentence and _GOING_ON.isdisjoint(self._words)


def says_nothing(text: str) -> bool:
    """Whether a text only greets, agrees, thanks or hesitates ("yes", "hmm", "hello"): nobody will ever look
    for it."""
    words = words_in(text)
    return (
        0 < len(words) <= FEW_WORDS
        and not _telling_words(words)
        and not any(map(str.isdigit, words))
    )


def says_hardly_anything(text: str) -> bool:
    """Whether a text has no word of its own, or is one word: alone it tells nobody what it is about."""
    words = words_in(text)
    own_words = [word for word in _telling_words(words) if word not in analysis.STOP_WORDS]
    # Where no spaces part the words, one of them is a sentence.
    return not own_words or (len(words) == 1 and text.isascii())


def _telling_words(words: "list[str]") -> "list[str]":
    """Return the words of a text that do more than agree, refuse or ask to go on, in order."""
    telling_words = [word for word in words if word not in _ACKNOWLEDGEMENT]
    if telling_words and len(words) <= MOST_WORDS:
        row = " ".join(["", *words, ""])
        for phrase in _PHRASES:
            row = row.replace(f" {phrase} ", " ")
        telling_words = [word for word in row.split() if word not in _ACKNOWLEDGEMENT]
        telling_words = [
            word for word in telling_words if not _REFUSING.issuperset(_pieces(word, _REFUSING))
        ]
    return telling_words


def _only_commits(words: "list[str]") -> bool:
    """Whether words ask to commit, push or merge, say nothing of what, and ask for nothing else."""
    if (
        _COMMIT_VERBS.isdisjoint(words)
        or not _QUESTION_WORDS.isdisjoint(words)
        or _asks_for_more(words)
    ):
        return False
    return all(
        word in _COMMIT_WORDS or word in _ACKNOWLEDGEMENT or word in analysis.STOP_WORDS
        for word in words
    )


def _asks_for_more(words: "list[str]") -> bool:
    """Whether words ask for the message itself, or to make something that is not git's, beside what they ask to commit;
    with what message to commit is the manner of it."""
    row = " ".join(words).replace(" then ", " and ").replace(" using ", " with ")
    for clause in row.split(" and "):
        request = clause.partition(" with ")[0].split()
        makes = any(
            request[place] in _MAKING_VERBS and next_word in _OBJECT_STARTS
            for place, next_word in enumerate(request[1:])
        )
        if "message" in request or "messages" in request or (makes and _OF_GIT.isdisjoint(request)):
            return True
    return False


def _pieces(word: str, vocabulary: "frozenset[str]") -> "list[str]":
    """Return a word cut into those that are known, the longest first, where no spaces part them, and what is left of it."""
    pieces, remaining = [], word if len(word) <= LONGEST_ROW and analysis.is_unspaced(word) else ""
    while remaining:
        sizes = range(min(len(remaining), LONGEST_PIECE), 0, -1)
        size = next((size for size in sizes if remaining[:size] in vocabulary), len(remaining))
        pieces.append(remaining[:size])
        remaining = remaining[size:]
    return pieces or [word]


def _uses_open_as_verb(words: "list[str]") -> bool:
    """Whether "open" is what somebody does, in the words of a question: "do we open the project?"."""
    row = ["", *words, ""]
    places = [place for place, word in enumerate(row) if word == "open"]
    before, behind = _OPEN_ITEM_WORDS["before a verb"], _OPEN_ITEM_WORDS["behind a verb"]
    return any(row[place - 1] in before or row[place + 1] in behind for place in places)


def _has_phrase(words: "list[str]", phrases: "Iterable[str]") -> bool:
    """Whether one of some phrases stands in a row of words; in "that's" stands "that", too."""
    rows = " ".join(["", *words, "", *(word.partition("'")[0] for word in words), ""])
    return any(f" {phrase} " in rows for phrase in phrases)
