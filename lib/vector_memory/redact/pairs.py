"""Names that promise a secret, with the value that they are given: in code, YAML, JSON, XML,
environment files, command lines and prose."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import takewhile

from vector_memory.redact import names
from vector_memory.redact.automaton import Meter
from vector_memory.redact.normalise import folded
from vector_memory.redact.spans import Span
from vector_memory.redact.spoken_passwords import FAR_EAST, is_code, told_before, told_behind
from vector_memory.redact.values import (
    KEY,
    PASSWORD,
    SECRET,
    is_id,
    is_put_together,
    is_said,
    is_secret,
    is_telling,
)
from vector_memory.text import tables

_WORDS = tables.sets("password_words")
CLUE = names.ANY
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
    position = 0
    for place in names.places(text, plain):
        is_replaced = text.endswith(_REPLACED, 0, place)
        meter.count(_REPLACED_WEIGHT if is_replaced else 1)
        if place < position:
            continue
        name = names.word_at(text, lowered, place)
        if name is None:
            continue
        secret = (
            _secret_after(text, lowered, name)
            or _told_secret(text, name)
            or _announced_secret(text, lowered, name)
        )
        if secret is not None:
            position = max(place, secret.end)
            yield secret


def _told_secret(text: str, name: re.Match[str]) -> Span | None:
    """Return the password, or the code, that a sentence tells by its name, or None."""
    if name[0] == "pass" or name[0].startswith(names.NO_PASSWORDS):
        return None
    start, end, is_digits = name.start(), name.end(), name[0] in names.CODES
    if text[end - 1] < FAR_EAST:
        end += sum(1 for _ in takewhile(_NAME_SIGNS.__contains__, text[end : end + 40]))
    if not is_digits and not names.is_plain(text, start, end):
        return None
    place = told_behind(text, start, end, is_digits) or told_before(text, start)
    return Span(*place, "pin" if is_digits else PASSWORD) if place else None


def _announced_secret(text: str, lowered: str, name: re.Match[str]) -> Span | None:
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
    if is_code or _is_list(value) or not is_telling(value) or len(value) > _LONGEST:
        return None
    rest, *words = lead.rstrip("*").split(" ")
    kind = names.promised(lowered[max(0, name.start() - _LEFT) : name.end() + len(rest)])
    if kind in (None, KEY) or not names.sorts()["else"].isdisjoint(map(str.lower, words[-1:])):
        return None
    has_signs = kind == PASSWORD and len(_SIGNS.intersection(value)) > 1
    is_random = is_said(value, SECRET) or (has_signs and value.upper() != value != value.lower())
    is_told = is_random and is_secret(value, PASSWORD, quoted=True)
    return Span(start, start + len(value), kind) if kind and is_told else None


def _is_list(value: str) -> bool:
    """Whether commas part what is no secret, with one sign in each part: three parts or more ("A-Z,a-z,0-9!"), or two
    ranges or measurements ("12ms/op,4B/op")."""
    parts = value.split(",")
    shared = {sign for sign in set.intersection(*map(set, parts)) if not sign.isalnum()}
    is_like = len(parts) > 2 or (len(parts) > 1 and not shared.isdisjoint("-/"))
    return bool(shared) and is_like and not any(map(is_telling, parts))


def _secret_after(text: str, lowered: str, name: re.Match[str]) -> Span | None:
    """Return the secret that the name is given, or None."""
    tail = _TAIL.match(text, name.end())
    if tail is None or tail.lastgroup is None:
        return None
    group = next(quoting for quoting in QUOTINGS if tail.group(quoting) is not None)
    value, start = tail.group(group), tail.start(group)
    before = text[max(0, name.start() - _LEFT) : name.start()]
    kind = names.promised_by(lowered[name.start() : tail.end("rest")], before.lower())
    written = text[name.start() : tail.end("rest")]
    if kind is None or not _may_follow(tail, before, value, group, kind, names.is_abroad(written)):
        return None
    if kind == KEY and names.is_of_id(written) and is_id(value):
        return None
    if group == "bare":
        if text[tail.end() : tail.end() + 1] == "(":
            return None
        whole_value, value = value, _before_far_east(value)
        if tail.group("sep").strip() in _WORDS["topic"] and whole_value[len(value) :][:1].isalpha():
            return None
        value = value.rstrip(".:!?") if not value.endswith(("!", "?")) else value
    if name[0] in names.CODES:
        return Span(start, start + len(value), "pin") if is_code(value) else None
    is_plain = names.is_plain(text, name.start(), tail.end("rest")) and not _is_verdict(
        text, name, tail.group("sep")
    )
    if not is_secret(value, kind, group != "bare", is_plain):
        return None
    if tail.group("sep") == "," and value.isalpha():
        return None
    return Span(start, start + len(value), kind)


def _before_far_east(value: str) -> str:
    """Return a value without what is said right behind it in letters of the far east."""
    return value[: next((at for at, char in enumerate(value) if char >= FAR_EAST), len(value))]


def _is_verdict(text: str, name: re.Match[str], separator: str) -> bool:
    """Whether a name is what a test says that passed."""
    is_part = text[max(0, name.start() - 1) : name.start()] in ("_", "-")
    return name[0] == "pass" and separator != "=" and not is_part


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
