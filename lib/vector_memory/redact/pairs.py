"""Names that promise a secret, with the value that they are given: in code, YAML, JSON, XML,
environment files, command lines and prose."""

from __future__ import annotations

import heapq
import re
import string
from collections.abc import Iterator
from itertools import takewhile

from vector_memory.redact.automaton import Meter, ascii_of, finder
from vector_memory.redact.normalise import folded
from vector_memory.redact.randoms import words as sorts
from vector_memory.redact.spans import Span
from vector_memory.redact.spoken import FAR_EAST, is_code, told_before, told_behind
from vector_memory.redact.values import (
    KEY,
    PASSWORD,
    SECRET,
    is_put_together,
    is_said,
    is_secret,
    is_telling,
)
from vector_memory.text import tables

_WORDS = tables.sets("password_words")
_ABROAD = frozenset(folded(word.replace("_", " ")) for word in _WORDS["names"])
"""How passwords are called in other languages, as a folded text has it."""
_LONGEST_START = 6
"""Letters of a name that may be the start of other words: what begins with a longer one is a name, too."""


_CODES = _WORDS["codes"]
_IN_OTHER_LETTERS = [name for name in (*_ABROAD, *_CODES) if set(ascii_of(name)) <= set(b"?")]
_FOREIGN = re.compile("|".join(_IN_OTHER_LETTERS))
_IN_ASCII = [
    ascii_of(name).decode("ascii")
    for name in sorted(_ABROAD.difference(_IN_OTHER_LETTERS), key=len, reverse=True)
]
"""The names that have letters in ASCII, with "?" for the others, the longest first."""
ANY_NAME = "|".join(
    ("pas+w?|ps+w|psk|pwd?|secret|token|credential|key|auth", *map(re.escape, _IN_ASCII))
).encode("ascii")
CLUE = b"(?i:" + ANY_NAME + rb")|\?\?"
"""What every text in ASCII holds in which there is one: of the foreign words "?" is left."""
_NAME = re.compile(
    "pass(?:wor|wd|phrase|code|w)|pass(?![a-z])|ps+w(?:r|or)?d|ps+wr?d|pasw|pwd|(?<![0-9])pw(?![a-z])|psk(?![a-z])|"
    "secret|token|credential|key(?![a-z])|auth(?:entication|orization)?(?![a-z])|"
    + "|".join(
        re.escape(name) + ("(?![a-z])" if len(name) <= _LONGEST_START else "") for name in _IN_ASCII
    )
)
_NO_PASSWORDS = ("secret", "token", "credential", "key", "auth")
"""How the other names begin."""
_PLAIN_NAMES = _ABROAD | frozenset(
    ("pass", "password", "passwd", "passphrase", "passcode", "pasw", "pasword", "pw", "pwd")
)
"""Words for passwords that are no part of a longer name."""
_TELLING_KEY = re.compile(
    r"(?:api|access|secret|private|auth\w*|encrypt\w*|sign\w*|master|account|service|shared\w*|license|activation|deploy|client|consumer)[ _.-]?key"
)
_COUNTED = re.compile(
    r"(?:(?<![^\W\d_])(?:max|min|num|n)|total|count|input|output|prompt|completion|cache\w*|next|prev\w*|page|sort|foreign|primary|partition|cursor|continuation)[ _.-]?$"
)
_PUBLIC = {"key": ("pub", "public", "publishable"), "token": ("public", "publishable")}
"""Words behind which what everybody may know is called so; a password never is."""

_QUOTED = (
    r"""(?:\\{1,4}(?P<eq>["'`])(?P<escaped>[^"'`\\\n]{1,400})\\{1,4}(?P=eq)"""
    r"""|&quot;(?P<entity>[^&\n"]{1,400}(?:&(?!quot;)[^&\n"]{0,400}){0,8})&quot;"""
    r"""|"(?P<double>(?:[^"\\]|\\[^\n]){1,400})(?:"|\\?\Z)|'(?P<single>(?:[^'\\]|\\[^\n]){1,400})(?:'|\\?\Z)"""
    r"""|`(?P<tick>[^`\n]{1,400})`)"""
)
_BARE = r"""(?P<bare>[^\s"'`,;<>(){}\[\]|&\\][^\s"'`,;<>()|\\]{2,400})"""
ASSIGNED = rf"(?:{_QUOTED}|{_BARE})"
QUOTINGS = ("escaped", "entity", "double", "single", "tick", "bare")
"""A value, quoted or bare, and the groups that it may be in."""
_TYPE = r"""[ ]?:[ ]?(?:str|String|string|Optional\[str\]|str[ ]?\|[ ]?None)(?=[ ]{0,2}=)"""
_FOR, _IS, _TOPIC = ("|".join(map(folded, sorted(_WORDS[part]))) for part in ("for", "is", "topic"))
_NAME_SIGNS = frozenset(f"{string.ascii_letters}{string.digits}_-")
_TAIL = re.compile(
    r"""(?P<rest>[A-Za-z0-9_-]{0,40})(?:[ ](?:"""
    + _FOR
    + r""")(?:[ ][\w.@-]{1,40}){1,5}?(?=[ ](?:"""
    + _IS
    + r""")[ ]|[ ]?[:=])|[ ](?:for|of)[ ][\w.@-]{1,40})?"""
    r"""(?P<mid>(?:\\{0,4}["'`]|&quot;)?[\])]{0,2}(?:"""
    + _TYPE
    + r""")?[ \t]{0,40}(?P<sep>:=|=>|->|={1,3}|!={1,2}|[:：]|%3[Dd]|,(?=[ ]{0,4}["'])|>(?=[^<\s]{4,200}<[/_-])|[ ](?:"""
    + _IS
    + r""")[ ](?:n[ou]w?[ ]|jetzt[ ])?|[ ]?(?:"""
    + _TOPIC
    + r""")|(?<=[\w"'])[ \t]{1,8})[ \t]{0,24}"""
    r"""(?:os\.environ\.get\([^()\n]{1,80}\)[ ]or[ ]|(?:os\.)?getenv\([^(),\n]{1,80},[ ]?)?"""
    r"""(?:[bBrRuUN@]{0,2}(?="|')|\[\]byte\((?=")|\((?=["']))?)"""
    + ASSIGNED
)  # fmt: skip
_BEFORE_BLANK = re.compile(
    # A flag, or a definition.
    r"(?:^|[\s\"'`(\[])--?[A-Za-z0-9_.-]{0,40}$|(?:[#%](?:define|global)|\bSET)[ \t]{1,4}[A-Za-z0-9_]{0,40}$",
    re.IGNORECASE,
)
_LEFT, _NEXT = 60, 8
_REPLACED, _REPLACED_WEIGHT = "[redacted:", 0.05
"""What stands before a name that redaction left, and what that counts: where many secrets went, the text is read again."""
_SENTENCE, _LONGEST = 120, 80
"""Characters between a name and the colon of its sentence, or from there to the value's end, and those of a value."""
_OPERATORS, _MARKS = frozenset('\n;=(){}<>|?"'), " \t\n`*\"'"
_SIGNS, _PAIRED = frozenset("!#$%&*+,:;<=>?()"), ("()", "[]", "{}", "<>", '""')
"""What words before a value have none of, what is around it, what names and paths do not have two of, and what code has."""


def find_pairs(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secret values of telling names."""
    # In ASCII: to lower other characters takes long, and may change where the next ones stand.
    lowered = plain.lower().decode("ascii")
    position, is_ascii = 0, text.isascii()
    for place in _places(text, plain):
        is_replaced = text.endswith(_REPLACED, 0, place)
        meter.count(_REPLACED_WEIGHT if is_replaced else 1)
        if place < position:
            continue
        name = (not is_ascii and _FOREIGN.match(text, place)) or _NAME.match(lowered, place)
        if name is None:
            continue
        secret = (
            _secret_after(text, lowered, name)
            or _told(text, name)
            or _announced(text, lowered, name)
        )
        if secret is not None:
            position = max(place, secret.end)
            yield secret


def _places(text: str, plain: bytes) -> Iterator[int]:
    """Yield where a telling name may stand, in order."""
    places = (hit.start() for hit in finder(ANY_NAME, case_sensitive=False).finditer(plain))
    if text.isascii() or not any(word in text for word in _IN_OTHER_LETTERS):
        return places
    return heapq.merge(places, (hit.start() for hit in _FOREIGN.finditer(text)))


def _told(text: str, name: re.Match[str]) -> Span | None:
    """Return the password, or the code, that a sentence tells by its name, or None."""
    if name[0] == "pass" or name[0].startswith(_NO_PASSWORDS):
        return None
    start, end, is_digits = name.start(), name.end(), name[0] in _CODES
    if text[end - 1] < FAR_EAST:
        end += sum(1 for _ in takewhile(_NAME_SIGNS.__contains__, text[end : end + 40]))
    if not is_digits and not _is_plain(text, start, end):
        return None
    place = told_behind(text, start, end, is_digits) or told_before(text, start)
    return Span(*place, "pin" if is_digits else PASSWORD) if place else None


def _announced(text: str, lowered: str, name: re.Match[str]) -> Span | None:
    """Return the random secret that ends a line behind a colon, or stands below it, where the words before speak of one
    ("a temporary password is generated for root@localhost: …"), or None."""
    colon = text.find(":", name.end(), name.end() + _SENTENCE)
    if colon < 0 or name[0] == "pass" or text[colon + 1 : colon + 2].strip():
        return None
    lead = text[name.end() : colon].replace(".\n", " ", 1)
    if not _OPERATORS.isdisjoint(lead):
        return None
    behind = text[colon + 1 : colon + _SENTENCE]
    value = behind.lstrip(_MARKS)
    start = colon + 1 + len(behind) - len(value)
    value, ends, _ = value.partition("\n")
    if not ends and colon + _SENTENCE <= len(text):
        return None
    value = value.rstrip(_MARKS + ".")
    is_code = "://" in value or any(set(signs) <= set(value) for signs in _PAIRED)
    # What commas part is a list where one sign is in each of its parts: "A-Z,a-z,0-9".
    shared = "".join(set.intersection(*map(set, value.split(",")))) if "," in value else ""
    is_list = bool(shared) and not shared.isalnum()
    if is_code or is_list or not is_telling(value) or len(value) > _LONGEST:
        return None
    rest, *words = lead.rstrip("*").split(" ")
    kind = promised(lowered[max(0, name.start() - _LEFT) : name.end() + len(rest)])
    if kind in (None, KEY) or not sorts()["else"].isdisjoint(map(str.lower, words[-1:])):
        return None
    has_signs = kind == PASSWORD and len(_SIGNS.intersection(value)) > 1
    is_random = is_said(value, SECRET) or (has_signs and value.upper() != value != value.lower())
    is_told = is_random and is_secret(value, PASSWORD, quoted=True)
    return Span(start, start + len(value), kind) if kind and is_told else None


def _secret_after(text: str, lowered: str, name: re.Match[str]) -> Span | None:
    """Return the secret that the name is given, or None."""
    tail = _TAIL.match(text, name.end())
    if tail is None or tail.lastgroup is None:
        return None
    group = next(quoting for quoting in QUOTINGS if tail.group(quoting) is not None)
    value, start = tail.group(group), tail.start(group)
    before = text[max(0, name.start() - _LEFT) : name.start()]
    kind = _kind(lowered[name.start() : tail.end("rest")], before.lower())
    is_abroad = text[name.start() : tail.end("rest")].lower() in _ABROAD
    if kind is None or not _may_follow(tail, before, value, group, kind, is_abroad):
        return None
    if group == "bare":
        if text[tail.end() : tail.end() + 1] == "(":
            return None
        said, value = value, _parted(value)
        if tail.group("sep").strip() in _WORDS["topic"] and said[len(value) :][:1].isalpha():
            return None
        value = value.rstrip(".:!?") if not value.endswith(("!", "?")) else value
    if name[0] in _CODES:
        return Span(start, start + len(value), "pin") if is_code(value) else None
    is_plain = _is_plain(text, name.start(), tail.end("rest")) and not _is_verdict(
        text, name, tail.group("sep")
    )
    if not is_secret(value, kind, group != "bare", is_plain):
        return None
    if tail.group("sep") == "," and value.isalpha():
        return None
    return Span(start, start + len(value), kind)


def _parted(value: str) -> str:
    """Return a value without what is said right behind it in letters of the far east."""
    return value[: next((at for at, char in enumerate(value) if char >= FAR_EAST), len(value))]


def _is_plain(text: str, start: int, end: int) -> bool:
    """Whether a name is a word for passwords, perhaps behind what it is for ("db_password"), rather than "bypass" or
    "password_policy"."""
    written, before = text[start:end], text[max(0, start - 1) : start]
    is_glued = (
        before.isalpha() and before.isascii() and not written[0].isupper() and written[0] < FAR_EAST
    )
    return written.lower() in _PLAIN_NAMES and not is_glued


def _is_verdict(text: str, name: re.Match[str], separator: str) -> bool:
    """Whether a name is what a test says that passed."""
    is_part = text[max(0, name.start() - 1) : name.start()] in ("_", "-")
    return name[0] == "pass" and separator != "=" and not is_part


def promised(name: str) -> str | None:
    """Return what a name promises that ends in a telling word ("/prod/db/password1"); None when it promises nothing."""
    lowered = name.lower().rstrip(string.digits + "_-")
    for word in _NAME.finditer(lowered):
        before, rest = lowered[: word.start()], lowered[word.end() :]
        is_bypass = word[0] == "pass" and before[-1:].isalpha()
        is_whole = rest in ("", "s") and not word[0].startswith("pass")
        if is_whole or (word[0] + rest in _PLAIN_NAMES and not is_bypass):
            # "max_tokens" and "primary_key" promise nothing, "input_token" does.
            return _kind(word[0], before if word[0] == "key" or rest == "s" else "")
    return None


def _kind(name: str, before: str) -> str | None:
    """Return what a name promises; None when it promises nothing."""
    public = next((words for word, words in _PUBLIC.items() if name.startswith(word)), ())
    if _COUNTED.search(before) or before.rstrip(" _.-").endswith(public):
        return None
    if not name.startswith(_NO_PASSWORDS):
        return PASSWORD
    if "key" in name and "secret" not in name and "token" not in name:
        if _TELLING_KEY.search(before[-24:] + name):
            return SECRET
        return None if "cache" in before else KEY
    return SECRET


def _may_follow(
    tail: re.Match[str], before: str, value: str, group: str, kind: str, is_abroad: bool
) -> bool:
    """Whether what stands between name and value makes it a pair: mere white space does so only
    after a flag, in a definition, and before what talk names nothing else by ("pw" and a password). Behind a word of
    another language so do words written together at the end of a sentence or a part of it: `unnamed` knows English
    alone, and what goes on says what it is that is called so ("das Passwort ResetFormular22 ist kaputt")."""
    separator = tail.group("sep")
    if not separator.strip():
        is_pair = bool(_BEFORE_BLANK.search(before)) or is_said(value, kind)
        if is_abroad and not is_pair:
            follows = tail.string[tail.end() : tail.end() + _NEXT].lstrip(" \t")[:1]
            ends = value.endswith((".", "!", "?")) or not follows.isalnum()
            is_pair = ends and is_put_together(value.rstrip(".!?"))
        return is_pair and not tail.group("mid").strip()
    if group == "bare" and separator in ("->", ",", "==", "===", "!=", "!=="):
        return separator == "->"
    return True
