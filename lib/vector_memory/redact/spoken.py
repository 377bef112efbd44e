"""Passwords that are told in a sentence of another language than English: "mudei a senha para …", "ich habe das Passwort
auf … geändert", "パスワードを…に変更しました".

What stands between the name of a password and it is endless; so its form tells it, which is that of no word, and the
words at both sides of it, right where it begins and ends, say only that it comes there.
"""

from __future__ import annotations

import re
from itertools import islice

from vector_memory.redact.normalise import folded
from vector_memory.redact.values import PASSWORD, is_put_together, is_said, is_secret
from vector_memory.text import tables
from vector_memory.text.technologies import CANONICAL

FAR_EAST = "\u2e80"
"""The first of the characters that no blank parts from a value."""
_WORDS = {
    part: frozenset(map(folded, words)) for part, words in tables.sets("password_words").items()
}
_ENDS, _CHANGED = (tuple(_WORDS[part]) for part in ("end", "changed"))
_TOPICS = _WORDS["topic"] | _WORDS["object"]
_COMES = _WORDS["is"] | _WORDS["now"]
_OPENS = _WORDS["is"] | _WORDS["now"] | _WORDS["to"] | _WORDS["for"]
"""With one of these what stands behind the name goes on to speak of it."""
_QUOTES = {**dict(zip("「『“«‘\"'`", "」』”»’\"'`", strict=True)), "„": "“”"}
_INSIDE = r"""[^\s"'`,;<>()|\\‘-„«»⺀-\U0010ffff"""
_VALUE = re.compile(rf"(?<!{_INSIDE}]){_INSIDE}0-9]*[0-9]{_INSIDE}]*")
"""A run of characters with a digit. It is looked for in a piece of a text, from where a run begins and nowhere else:
in a long run without a digit each place would be tried to its end."""
_LEAD, _FAR_LEAD, _LONGEST, _MOST = 80, 16, 80, 4
"""Characters between a name and its value, in the far east, and those of a value; and how many are looked at: machines
and days, which a number stands in too, come before the password."""
_BEFORE, _AFTER, _NEAR = 60, 40, 3
"""Characters before a name and behind a value, and words before a name, that may tell."""
_CODE_DIGITS = range(4, 9)
_SHORT = 4
"""Letters of an article."""


def told_behind(text: str, start: int, end: int, is_digits: bool = False) -> tuple[int, int] | None:
    """Return where the password stands that a sentence tells behind its name; None where it tells none.

    Args:
        text: the text.
        start: where the name begins.
        end: where it ends.
        is_digits: whether it is the name of a code of digits.
    """
    for found in islice(_VALUE.finditer(text[end : end + _LEAD + _LONGEST]), _MOST):
        first, last = _trimmed(text, end + found.start(), end + found.end())
        if found.start() > _LEAD or "\n" in text[end:first]:
            break
        if _is_told(text, (start, end), (first, last), is_digits):
            return first, last
    return None


def told_before(text: str, start: int) -> tuple[int, int] | None:
    """Return where the password stands that is used as one: "usa … como contraseña", "nimm … als Passwort"."""
    before = text[max(0, start - _BEFORE - _LONGEST) : start]
    words = before.split()[-_NEAR:]
    if len(words) == _NEAR and len(words[-1]) <= _SHORT and words[-1].lower() not in _WORDS["as"]:
        words.pop()
    if len(words) < 2 or words[-1].lower() not in _WORDS["as"]:
        return None
    value = words[-2]
    first = start - len(before) + before.rindex(value)
    found = _VALUE.search(value)
    if found is None or not _is_made(found[0]) or _is_technology(found[0]):
        return None
    return first + found.start(), first + found.end()


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    """Return a value's place without what ends the sentence behind it."""
    value = text[first:last].lstrip(":=")
    first = last - len(value)
    return first, first + len(value if value.endswith(("!", "?")) else value.rstrip(".:"))


def _is_told(text: str, name: tuple[int, int], place: tuple[int, int], is_digits: bool) -> bool:
    """Whether what stands around a value behind a name says that it is the password."""
    (start, end), (first, last) = name, place
    lead, value, after = text[end:first].rstrip(" \t:="), text[first:last], text[last:][:_AFTER]
    is_quoted = lead[-1:] in _QUOTES and after[:1] in _QUOTES[lead[-1:]]
    lead = lead[:-1].rstrip(" \t:=") if is_quoted or lead.endswith("«") else lead
    if not value or after.startswith("(") or _is_technology(value):
        return False
    if (text[end - 1] + lead.rstrip(", "))[-1] >= FAR_EAST:
        return _is_told_far_east(lead, value, after, is_quoted, is_digits)
    return _is_told_in_words(text[max(0, start - _BEFORE) : start], lead, value, after)


def _is_told_in_words(before: str, lead: str, value: str, after: str) -> bool:
    """Whether words say that a password comes, in a language that parts them."""
    words = lead.lower().split()
    if not words:
        near = before.lower().split()[-_NEAR:]
        return not _WORDS["with"].isdisjoint(near) and _is_made(value)
    is_about = words[0] in _OPENS or words[0].startswith(_CHANGED)
    if not is_about or not all(word[-1].isalnum() for word in words):
        return False
    if words[-1] in _COMES and not _WORDS["is"].isdisjoint(words):
        return is_secret(value, PASSWORD, quoted=False, is_plain=True)
    if words[-1] not in _WORDS["to"] or (words[-1] == "in" and not before.lower().endswith("la ")):
        return False
    around = [*before.lower().split(), *words, *after.lower().split()]
    is_changed = any(word in _WORDS["is"] or word.startswith(_CHANGED) for word in around)
    return is_changed and _is_made(value)


def _is_told_far_east(lead: str, value: str, after: str, is_quoted: bool, is_digits: bool) -> bool:
    """Whether a sentence says that a password comes, in letters that no blank parts from it."""
    if len(lead) > _FAR_LEAD or any(char in "。!?" for char in lead):
        return False
    says = lead.strip(",、 ")
    if is_digits:
        is_told = not says or says in _TOPICS
        return is_told and is_code(value) and _is_end(after)
    if not value.isalnum() and is_said(value, PASSWORD):
        return True
    if not is_quoted and not _is_end(after):
        return False
    is_named = is_quoted or says in _TOPICS
    return is_secret(value, PASSWORD, is_quoted, is_plain=True) if is_named else _is_made(value)


def _is_end(after: str) -> bool:
    """Whether a sentence goes on behind a value as it does behind passwords, or ends there."""
    said = after.lstrip(" \t")
    return not said[:1].isalnum() or said.startswith(_ENDS)


def is_code(value: str) -> bool:
    """Whether a value is a code of digits as people remember them."""
    return value.isdigit() and len(value) in _CODE_DIGITS


def _is_made(value: str) -> bool:
    """Whether a value's form is that of no word."""
    return is_put_together(value) or is_said(value, PASSWORD)


def _is_technology(value: str) -> bool:
    """Whether a value is the name of a technology, perhaps with its version."""
    return value.rstrip("0123456789.").lower() in CANONICAL
