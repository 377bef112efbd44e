"""The analyser: text to terms, once, for every lexical index and every query.

Standard library only, since the cold path uses it inside a hook (Python 3.9). Words are lower-cased
and stemmed, stop words dropped; identifiers and paths are kept whole **and** in their parts, since
people search for either.

The stemmer knows English alone. Letters are folded, so that `İ`, `I` and `ı` or `é` and `e` are one.
Scripts without spaces come as overlapping pairs of characters. A word of another script, or of a text that is
not English, is a term, and so is each of its pieces of a few letters: its endings change, most pieces stay.

Source: P. McNamee and J. Mayfield, "Character n-gram tokenization for European language text
retrieval", Information Retrieval 7, 2004.
"""

import re
from functools import lru_cache

from vector_memory.text import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_TERM_CHARS = 64
MAX_TERMS = 4_000
KEPT_CHARS = 2_000
"""The terms of shorter texts are kept for a while: a search looks at its hits from several sides, and the next
one finds many of them again."""

STOP_WORDS = tables.words("stop_words")

_CHUNK = re.compile(r"[^\s\"'`()\[\]{}<>,;|=*!?~^&]+")
# Signs that stand for vowels in scripts of South and South East Asia: Python takes none for a letter.
_SIGNS = "[\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u0f71-\u109f\u1780-\u17ff]"
_WORD = re.compile(rf"(?:[^\W_]|{_SIGNS})+")
_PART = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|(?:[^\W\d_A-Za-z]|{_SIGNS})+")
_PARTING = str.maketrans("\\:", "//")
_LINE_NUMBER = re.compile(r"(?::\d+){1,2}$")
_APOSTROPHE = re.compile("(?<=[^\\W_])['\u2019](?=[^\\W_])(s\\b)?")
_EDGE = "._/:\\@#+-'"
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\U00020000-\U0003ffff]"
)
"""Scripts without spaces between words, and Hangul, whose words have their particles at the end."""
_ACCENTS = dict.fromkeys((*range(0x300, 0x370), *range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660), 0x670,
                          *range(0x6D6, 0x6EE)))  # fmt: skip
_FOLDS = str.maketrans({
    "ı": "i", "ß": "ss", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ς": "σ",
})  # fmt: skip
_FOREIGN_LETTER = re.compile(r"[^\W\d_a-zA-Z]")
JUDGED_CHARS = 600
"""What of a text tells whether it is English."""
LEAST_WORDS = 7
"""Words from which on a text without any other letters may be told to be no English."""
LEAST_CHARS = 3 * LEAST_WORDS - 1
"""So many they take at least, with two letters each."""
FOREIGN_SHARE = 0.2
"""Share of stop words up to which a text with other letters is not English; in English it is 0.3 to 0.5."""
PLAIN_FOREIGN_SHARE = 0.1
"""The same for a text of English letters, stop words and common words of programs together."""
LEAST_STOP_WORDS = 2
PIECE = 4
PIECE_MARK = "~"
"""Ends a piece: no chunk holds it, so that a piece is never taken for a word."""


def analyse(text: str) -> list[str]:
    """Return the terms of a text or of a query, in order, with repetitions."""
    return list(_analysed(text) if len(text) <= KEPT_CHARS else _terms_of(text))


def _terms_of(text: str) -> "tuple[str, ...]":
    return _terms_in(_chunks(text), is_foreign(text))


def _terms_in(chunks: "Iterable[str]", foreign: bool) -> "tuple[str, ...]":
    terms: list[str] = []
    for chunk in chunks:
        if len(terms) >= MAX_TERMS:
            break
        terms.extend(_chunk_terms(chunk, foreign))
    return tuple(terms)


def _chunks(text: str) -> "list[str]":
    return _CHUNK.findall(_APOSTROPHE.sub(_apostrophe_replacement, text))


def _apostrophe_replacement(apostrophe: "re.Match[str]") -> str:
    """Return what stands for an apostrophe within a word: nothing but the "s" behind it, or a space where an ending
    follows capitals ("NAS'ta", "API's"), of which joined nobody could tell where they end."""
    text, at = apostrophe.string, apostrophe.start()
    before = text[max(0, at - 2) : at]
    is_name = len(before) == 2 and before.isalpha() and before.isupper()
    return " " if is_name and text[at + 1].islower() else apostrophe[1] or ""


def _bare(chunk: str) -> str:
    return chunk.strip(_EDGE + "¿¡").lower()


_analysed = lru_cache(maxsize=1_024)(_terms_of)


def is_foreign(text: str) -> bool:
    """Whether a text is written in another language than English: few of its words are those of which every
    English text is made. Where it has English letters alone, it takes several words to tell."""
    if len(text) < LEAST_CHARS and text.isascii():
        return False
    text = text[:JUDGED_CHARS]
    has_letters = not text.isascii() and bool(_FOREIGN_LETTER.search(text))
    words = [word for word in _WORD.findall(text.lower()) if len(word) > 1 and word.isalpha()]
    if not has_letters and len(words) < LEAST_WORDS:
        return False
    if _are_english(words):
        return False
    return has_letters or (
        sum(word in STOP_WORDS or word in _common_words() for word in words)
        <= PLAIN_FOREIGN_SHARE * len(words)
    )


def is_foreign_among(text: str) -> bool:
    """Whether a sentence among others of another language is in it too, however short: nothing says that it is
    English."""
    return is_foreign(text) or not _are_english(_WORD.findall(text.lower()))


def is_abroad(text: str) -> bool:
    """Whether a text is in another language than English, be it as short as a question, by stop words too: it has two
    of other languages at least, and fewer English ones."""
    words = [_bare(chunk) for chunk in _chunks(text[:JUDGED_CHARS])]
    foreign_count = len(stop_words_abroad().intersection(words))
    is_mostly = foreign_count >= LEAST_STOP_WORDS and foreign_count > sum(
        word in STOP_WORDS for word in words
    )
    return is_mostly or is_foreign(text)


def is_unspaced(text: str) -> bool:
    """Whether a text has signs of a script without spaces between words, or of Hangul."""
    return _UNSPACED.search(text) is not None


def _are_english(words: "list[str]") -> bool:
    return sum(word in STOP_WORDS for word in words) > FOREIGN_SHARE * len(words)


@lru_cache(maxsize=1)
def stop_words_abroad() -> "frozenset[str]":
    """Return the stop words of other languages that are none in English."""
    return frozenset().union(*stop_words_by_language().values())


@lru_cache(maxsize=1)
def stop_words_by_language() -> "dict[str, frozenset[str]]":
    """Return the same by the English name of their language in small letters."""
    return tables.sets("stop_words_abroad")


@lru_cache(maxsize=1)
def _common_words() -> "frozenset[str]":
    words = tables.words("common_words")
    return words | {word + "s" for word in words}


def lexical(*texts: str) -> str:
    """Return the analysed form that the lexical indexes hold: terms joined by single spaces."""
    terms: list[str] = []
    for text in texts:
        if text:
            terms.extend(analyse(text))
    return " ".join(terms[:MAX_TERMS])


def query_terms(text: str, limit: int = 48) -> list[str]:
    """Return a query's distinct terms, at most `limit`, in their order: words first, then their pieces. Stop words of
    another language, which the index holds, are left out of a question in it; not where it has no other words, and
    English ones among them: those may be names."""
    terms = _own_terms(text)
    if not terms and not STOP_WORDS.isdisjoint(map(_bare, _chunks(text))):
        terms = analyse(text)
    return sorted(dict.fromkeys(terms), key=is_piece)[:limit]


def said_words(text: str) -> "set[str]":
    """Return the terms of a text that tell how much it says: no stop words of its language, and no pieces, of which a
    word of another language than English has several."""
    return {term for term in _own_terms(text) if not is_piece(term)}


def _own_terms(text: str) -> "Sequence[str]":
    """Return the terms of a text, of one in another language those without its stop words."""
    if not is_abroad(text):
        return analyse(text)
    left_out = stop_words_abroad()
    chunks = (chunk for chunk in _chunks(text) if _bare(chunk) not in left_out)
    return _terms_in(chunks, is_foreign(text))


def is_piece(term: str) -> bool:
    """Whether a term is a piece of a word in another language than English."""
    return term.endswith(PIECE_MARK)


def pieces_of(text: str) -> "list[str]":
    """Return the pieces that a question's words would have in another language, where it may be of one: it
    holds no English word of those that nearly every English question has. No English text holds a piece, so
    that looking for one finds nothing among these."""
    words = [word.lower() for word in _WORD.findall(text)]
    if any(word in STOP_WORDS for word in words):
        return []
    return list(dict.fromkeys(piece for word in words if word.isascii() for piece in _pieces(word)))


@lru_cache(maxsize=65_536)
def _chunk_terms(chunk: str, foreign: bool) -> tuple[str, ...]:
    """Return the terms of one stretch without white space, as a tuple."""
    chunk = _LINE_NUMBER.sub("", chunk.strip(_EDGE))
    if not chunk or len(chunk) > 512:
        return ()
    if not chunk.isascii() and _FOREIGN_LETTER.search(chunk):
        chunk = _folded(chunk)
    terms = [chunk.lower()] if "/" in chunk and len(chunk) <= MAX_TERM_CHARS else []
    for piece in chunk.translate(_PARTING).split("/"):
        terms.extend(_piece_terms(piece.strip(_EDGE), foreign))
    return tuple(dict.fromkeys(terms))


def _folded(chunk: str) -> str:
    """Return a chunk without accents, its letters in the one form that all of their variants share."""
    import unicodedata

    # Some signs that stand alone come apart into a space and an accent.
    bare = unicodedata.normalize("NFKD", chunk).translate(_ACCENTS).replace(" ", "")
    # Together again: what is left apart are letters of their own, such as the parts of a Hangul syllable.
    return unicodedata.normalize("NFC", bare).translate(_FOLDS)


def _piece_terms(piece: str, foreign: bool) -> tuple[str, ...]:
    """Return the terms of a word, an identifier or a file's name: the whole and its parts."""
    words = _WORD.findall(piece)
    if len(words) == 1 and words[0] == piece and not _is_compound(piece):
        return _plain_terms(piece, foreign)
    terms = [piece.lower()] if words and len(piece) <= MAX_TERM_CHARS else []
    squashed = "".join(words).lower()
    if terms and len(words) > 1 and squashed != terms[0] and not squashed.isdigit():
        # One form for all styles: who asks for getUserById finds get_user_by_id.
        terms.append(squashed)
    name, dot, ending = piece.rpartition(".")
    if dot and len(ending) <= 5 and len(_WORD.findall(name)) > 1 and len(name) <= MAX_TERM_CHARS:
        terms.append(name.lower())
    for word in words:
        parts = _PART.findall(word) if _is_compound(word) else [word]
        if len(parts) > 1 and word != piece and len(word) <= MAX_TERM_CHARS:
            terms.append(word.lower())
        for part in parts:
            if len(parts) == 1 or len(part) > 1:
                terms.extend(_plain_terms(part, foreign))
    return tuple(terms)


def parts_of(word: str) -> "list[str]":
    """Return the parts of a name in small letters, in order: get, user and 2 of `getUser_2`."""
    return [part.lower() for part in _PART.findall(word)]


def _is_compound(word: str) -> bool:
    """Whether a word is made of parts: camelCase, or letters with digits."""
    return not (word.islower() or word.isdigit() or word.istitle() or word.isupper()) or (
        not word.isalpha() and not word.isdigit()
    )


def _plain_terms(word: str, foreign: bool) -> tuple[str, ...]:
    word = word.lower()[:MAX_TERM_CHARS]
    if word in STOP_WORDS:
        return ()
    if not word.isascii() and is_unspaced(word):
        return tuple(word[place : place + 2] for place in range(max(1, len(word) - 1)))
    if (foreign or not word.isascii()) and not word.isdigit():
        return (stem(word), *_pieces(word))
    return (stem(word),)


def _pieces(word: str) -> "Iterator[str]":
    for place in range(min(len(word), MAX_TERM_CHARS) - PIECE + 1):
        yield word[place : place + PIECE] + PIECE_MARK


# -- stemming -------------------------------------------------------------------------------------

SHORT = 3
"""Letters of a word that no ending is taken from."""
_VOWELS = frozenset("aeiou")
_STEP_2 = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("ousness", "ous"),
    ("iveness", "ive"), ("tional", "tion"), ("biliti", "ble"), ("alism", "al"), ("aliti", "al"),
    ("ation", "ate"), ("entli", "ent"), ("iviti", "ive"), ("ousli", "ous"), ("enci", "ence"),
    ("anci", "ance"), ("izer", "ize"), ("abli", "able"), ("alli", "al"), ("ator", "ate"),
    ("eli", "e"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; others come back as they are. A word of three letters is
    left as it is, and so is what its longer forms are reduced to: `use` and `uses`, `key` and `keys`.

    Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980.
    """
    if not word.isascii() or not word.isalpha():
        return word
    if len(word) > SHORT:
        word = _without_past(_without_plural(word))
    if len(word) <= SHORT:
        # `try`, as in `tries`, but `key`, as in `keys`.
        return word[:-1] + "i" if word[2:] == "y" and not _has_vowel(word[:-1]) else word
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _STEP_2)
    word = _replace_suffix(word, _STEP_3)
    word = _strip_suffix(word)
    return _trim_end(word)


def _is_vowel(word: str, place: int) -> bool:
    letter = word[place]
    return letter in _VOWELS or (letter == "y" and place > 0 and not _is_vowel(word, place - 1))


def _has_vowel(word: str) -> bool:
    return any(_is_vowel(word, place) for place in range(len(word)))


def _measure(word: str) -> int:
    """Count the vowel-consonant sequences: Porter's m."""
    count, was_vowel = 0, False
    for place in range(len(word)):
        is_vowel = _is_vowel(word, place)
        if was_vowel and not is_vowel:
            count += 1
        was_vowel = is_vowel
    return count


def _ends_cvc(word: str) -> bool:
    if len(word) < 3 or word[-1] in "wxy":
        return False
    last = len(word) - 1
    return not _is_vowel(word, last) and _is_vowel(word, last - 1) and not _is_vowel(word, last - 2)


def _ends_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and not _is_vowel(word, len(word) - 1)


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2] if len(word) > SHORT + 1 else word[:-1]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
            return _restore_ending(word[: -len(suffix)])
    return word


def _restore_ending(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_doubled(word) and word[-1] not in "lsz":
        return word[:-1] if len(word) > SHORT else word
    if _measure(word) == 1 and (_ends_cvc(word) or len(word) < SHORT):
        return word + "e"
    return word


def _replace_suffix(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, instead in rules:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + instead if _measure(base) > 0 else word
    return word


def _strip_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t"))):
                return base
            return word
    return word


def _trim_end(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _ends_cvc(base)):
            word = base
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
