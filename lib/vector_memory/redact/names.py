"""Which names promise a secret: "DB_PASSWORD", "apiKey", "contraseña", "session_cookie".

A name right before its value may go on behind the word that tells ("password_hash"), since the value decides (`promised_by`).
One that stands apart from it, in another field or at the head of a column, ends in that word (`promised`, `promised_by_head`).
"""

from __future__ import annotations

import heapq
import os
import re
import string
from collections.abc import Iterator
from functools import cache

from vector_memory.redact.automaton import ascii_of, finder
from vector_memory.redact.normalise import folded
from vector_memory.redact.spoken_passwords import FAR_EAST
from vector_memory.redact.values import KEY, PASSWORD, SECRET
from vector_memory.text import tables

_WORDS = tables.sets("password_words")
CODES = _WORDS["codes"]
_ABROAD = frozenset(folded(word.replace("_", " ")) for word in _WORDS["names"])
"""How passwords are called in other languages, as a folded text has it."""
_LONGEST_START = 6
"""Letters of a name that may be the start of other words: what begins with a longer one is a name, too."""
_IN_OTHER_LETTERS = [name for name in (*_ABROAD, *CODES) if set(ascii_of(name)) <= set(b"?")]
_FOREIGN = re.compile("|".join(_IN_OTHER_LETTERS))
_IN_ASCII = sorted(_ABROAD.difference(_IN_OTHER_LETTERS), key=len, reverse=True)


def _spelled(name: str) -> str:
    """Return the pattern of a name in ASCII, "?" for other letters, however its parts are joined."""
    return re.escape(ascii_of(name).decode("ascii")).replace(r"\ ", "[ _-]?")


ANY_NAME = "|".join(
    ("pas+w?|ps+w|psk|pwd?|secret|token|credential|key|auth", *map(_spelled, _IN_ASCII))
).encode("ascii")
IN_OTHER_LETTERS = rb"\?\?"
ANY = b"(?i:" + ANY_NAME + b"|" + IN_OTHER_LETTERS + b")"
"""What every text in ASCII holds in which there is a name; of one in other letters "?" is left."""
_NAME = re.compile(
    "pass(?:wor|wd|phrase|code|w)|pass(?![a-z])|ps+w(?:r|or)?d|ps+wr?d|pasw|pwd|(?<![0-9])pw(?![a-z])|psk(?![a-z])|"
    "secret|token|credential|key(?![a-z])|auth(?:entication|orization)?(?![a-z])|"
    + "|".join(
        _spelled(name) + ("(?![a-z])" if len(name) <= _LONGEST_START else "") for name in _IN_ASCII
    )
)
NO_PASSWORDS = ("secret", "token", "credential", "key", "auth")
"""How the other names begin."""
_JOINTS = str.maketrans("", "", " _-")
_PLAIN_ABROAD = frozenset(name.translate(_JOINTS) for name in _ABROAD)
_PLAIN_NAMES = _PLAIN_ABROAD.union(
    ("pass", "password", "passwd", "passphrase", "passcode", "passw", "passwrd", "pasw", "pasword"),
    ("pw", "pwd"),
)
"""Words for passwords that are no part of a longer name, without what joins their parts."""
_TELLING_KEY = re.compile(
    r"(?:api|access|secret|private|auth\w*|encrypt\w*|sign\w*|master|account|service|shared\w*|license|activation|deploy|client|consumer)[ _.-]?key"
)
_COUNTED = re.compile(
    r"(?:(?<![^\W\d_])(?:max|min|num|n)|total|(?<!ac)count|input|output|prompt|completion|cache\w*|next|prev\w*|page|sort|foreign|primary|partition|cursor|continuation)[ _.-]?$"
)
_COUNTABLE = ("key", "tokens", "secrets", "credentials", "passwords", "pwds")
"""What stands before keys of tables and numbers of things, and how these begin: "max_tokens" and "primary_key" promise
nothing, "input_token" and "cache_password" do."""
_PUBLIC = {"key": ("pub", "public", "publishable"), "token": ("public", "publishable")}
"""Words behind which what everybody may know is called so; a password never is."""
_SESSIONS = (".sid", "session", "sessionid", "session_id", "session-id", "sessid", "cookie")
"""How names end of what a browser sends to be known again; "." for where they begin."""
RESULT = "result"
_NUMBERING = f"{string.digits}_- #()"
_RESULTS_AND_KEYS, _LOGINS = ("pass", "clave"), ("auth", "authentication", "authorization")
_TRIALS = frozenset(("test", "tests"))
_COUNTING = _TRIALS.union(
    ("boarding", "first", "max", "min", "n", "num", "render", "nombre", "palabra", "puntos")
)
"""What columns of other things are called, too, and how the heads of those end that say how somebody logs in; and what
stands before a result ("n_pass", "tests pass"; "test_pass" is a login's) or a keyword ("palabra clave")."""
_WHO = ("user", "username", "login", "host", "hostname", "mail", "usuario", "correo")
"""How the heads end of columns that say who logs in, or where, without what joins their parts."""
_LONGEST_HEAD, _LONGEST_END = 60, 80
"""Characters of a head that is a name, and of a name's end, which are all that is looked at."""


@cache
def sorts() -> dict[str, frozenset[str]]:
    """Return the words that stand before random values, of each sort, as `names.txt` has them."""
    return tables.sets("names", os.path.dirname(__file__))


def places(text: str, plain: bytes) -> Iterator[int]:
    """Yield where a name may begin to tell, in order.

    Args:
        text: the text.
        plain: the same from `ascii_of`.
    """
    in_ascii = (hit.start() for hit in finder(ANY_NAME, case_sensitive=False).finditer(plain))
    if text.isascii() or not any(word in text for word in _IN_OTHER_LETTERS):
        return in_ascii
    return heapq.merge(in_ascii, (hit.start() for hit in _FOREIGN.finditer(text)))


def word_at(text: str, lowered: str, place: int) -> re.Match[str] | None:
    """Return the telling word that begins at a place.

    Args:
        text: the text.
        lowered: the same in ASCII and small letters.
        place: one of `places`.
    """
    return (not text.isascii() and _FOREIGN.match(text, place)) or _NAME.match(lowered, place)


def promised_by(name: str, before: str) -> str | None:
    """Return what a name promises, PASSWORD, SECRET or KEY; None when it promises nothing.

    Args:
        name: the name from its telling word on, in small letters.
        before: what stands before that word, in small letters.
    """
    public = next((words for word, words in _PUBLIC.items() if name.startswith(word)), ())
    is_counted = name.startswith(_COUNTABLE) and _COUNTED.search(before)
    if is_counted or before.rstrip(" _.-").endswith(public):
        return None
    if not name.startswith(NO_PASSWORDS):
        return PASSWORD
    if "key" in name and "secret" not in name and "token" not in name:
        if _TELLING_KEY.search(before[-24:] + name):
            return SECRET
        return None if "cache" in before else KEY
    return SECRET


def promised(name: str) -> str | None:
    """Return what a whole name promises that ends in a telling word ("/prod/db/password1") or is that of a session, KEY
    then; None when it promises nothing."""
    if is_of_session(name):
        return KEY
    name = name.rstrip(_NUMBERING)[-_LONGEST_END:]
    lowered = ascii_of(name).decode("ascii").lower()
    for word in (*_NAME.finditer(lowered), *_FOREIGN.finditer(name)):
        before, rest = lowered[: word.start()], lowered[word.end() :]
        is_bypass = word[0] == "pass" and before[-1:].isalpha()
        is_whole = rest in ("", "s") and not word[0].startswith("pass")
        written = (word[0] + rest).translate(_JOINTS)
        is_plain = not _PLAIN_NAMES.isdisjoint((written, written.removesuffix("s")))
        if word[0] not in CODES and (is_whole or (is_plain and not is_bypass)):
            return promised_by(word[0] + rest, before)
    return None


def promised_by_head(head: str, is_of_logins: bool = False) -> str | None:
    """Return what the head of a column promises, PASSWORD or SECRET; RESULT where its cells alone can tell; None when it
    promises no more than a key, which may be that of each row.

    Args:
        head: the head.
        is_of_logins: whether another head of its table says who logs in, or where: "pass" alone is the password then.
    """
    lowered = head.lower().rstrip(_NUMBERING)
    if len(head) > _LONGEST_HEAD or lowered.endswith(_LOGINS):
        return None
    *before, word = re.split(r"[ _#]+", lowered.strip(" _#"))
    is_login = is_of_logins if not before else "_" in lowered and not _TRIALS.isdisjoint(before)
    if word in _RESULTS_AND_KEYS and _COUNTING.issuperset(before) and not is_login:
        return RESULT
    kind = promised(head)
    return None if kind == KEY else kind


def is_of_who(head: str) -> bool:
    """Whether the head of a column says who logs in, or where."""
    return head.lower().translate(_JOINTS).endswith(_WHO)


def is_of_session(name: str) -> bool:
    """Whether a name is that of a session, or of cookies."""
    return f".{name.lower()}".endswith(_SESSIONS)


def is_of_id(name: str) -> bool:
    """Whether a name is that of an id ("session_id", "keyId"), as "PHPSESSID" is not."""
    return name.endswith("Id") or name.lower().endswith(("_id", "-id"))


def is_plain(text: str, start: int, end: int) -> bool:
    """Whether a name is a word for passwords, perhaps behind what it is for ("db_password"), rather than "bypass" or
    "password_policy"."""
    written, before = text[start:end], text[max(0, start - 1) : start]
    is_glued = (
        before.isalpha() and before.isascii() and not written[0].isupper() and written[0] < FAR_EAST
    )
    return written.lower().translate(_JOINTS) in _PLAIN_NAMES and not is_glued


def is_abroad(name: str) -> bool:
    """Whether a name is a word for passwords in another language than English."""
    return name.lower().translate(_JOINTS) in _PLAIN_ABROAD
