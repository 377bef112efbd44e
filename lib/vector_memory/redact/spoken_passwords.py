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
_CHANGED, _MADE = (tuple(_WORDS[part]) for part in ("changed", "made"))
_ENDS = (*_WORDS["end"], *_MADE)
_TOPICS = _WORDS["topic"] | {":", "="}
_OBJECTS = _WORDS["object"]
_FAR_OPENS = _WORDS["opens"]
_TURNS = _WORDS["changed"] | _WORDS["now"]
_IS = _WORDS["is"] | _WORDS["becomes"]
_COMES = _IS | _WORDS["now"]
_OPENS = _COMES | _WORDS["to"] | _WORDS["for"]
"""With one of these what stands behind the name goes on to speak of it."""
_QUOTES = {**dict(zip("「『“«‘\"'`", "」』”»’\"'`", strict=True)), "„": "“”"}
_EMPHASIS = "*_~"
_JOINING = "이으"
"""What stands in Korean between a consonant and an ending."""
_PLEASE, _REQUESTS = ("请", "請"), ("请求", "請求")
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
"""Letters of an article, and the fewest characters of a password or a code."""


def told_behind(text: str, start: int, end: int, is_digits: bool = False) -> tuple[int, int] | None:
    """Return where the password stands that a sentence tells behind its name; None where it tells none.

    Args:
        text: the text.
        start: where the name begins.
        end: where it ends.
        is_digits: whether it is the name of a code of digits.
    """
    for hit in islice(_VALUE.finditer(text[end : end + _LEAD + _LONGEST]), _MOST):
        first, last = _trimmed(text, end + hit.start(), end + hit.end())
        if hit.start() > _LEAD or "\n" in text[end:first]:
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
    hit = _VALUE.search(value)
    if hit is None:
        return None
    place = _trimmed(text, first + hit.start(), first + hit.end())
    value = text[slice(*place)]
    return place if _is_made(value) and not _is_name(value) else None


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    """Return a value's place without marks of emphasis and what ends the sentence behind it."""
    value = text[first:last].lstrip(":=")
    first = last - len(value)
    marks = value[: len(value) - len(value.lstrip(_EMPHASIS))]
    closing = value.rfind(marks[::-1])
    if marks and closing > len(marks) and not value[closing + len(marks) :].strip(".:!?"):
        return first + len(marks), first + closing
    return first, first + len(value if value.endswith(("!", "?")) else value.rstrip(".:"))


def _is_told(text: str, name: tuple[int, int], place: tuple[int, int], is_digits: bool) -> bool:
    """Whether what stands around a value behind a name says that it is the password."""
    (start, end), (first, last) = name, place
    lead, value = text[end:first].rstrip(_EMPHASIS).rstrip(), text[first:last]
    after = text[last : last + _AFTER].lstrip(_EMPHASIS)
    is_quoted = lead[-1:] in _QUOTES and after[:1] in _QUOTES[lead[-1:]]
    lead = lead[:-1].rstrip() if is_quoted or lead.endswith("«") else lead
    # What is called has no words of the far east in its brackets: there nothing parts an aside from the value.
    is_called = after.startswith("(") and after[1:2] < FAR_EAST
    if len(value) < _SHORT or is_called or _is_name(value):
        return False
    if (text[end - 1] + lead.rstrip(":=,) "))[-1] >= FAR_EAST:
        return _is_told_far_east(lead, value, after[is_quoted:], is_quoted, is_digits)
    before = text[max(0, start - _BEFORE) : start]
    return _is_told_in_words(before, lead.rstrip(" \t:="), value, after)


def _is_told_in_words(before: str, lead: str, value: str, after: str) -> bool:
    """Whether words say that a password comes, in a language that parts them."""
    words = lead.lower().split()
    if not words:
        near = before.lower().split()[-_NEAR:]
        return not _WORDS["with"].isdisjoint(near) and _is_made(value)
    is_about = words[0] in _OPENS or words[0].startswith(_CHANGED)
    if not is_about or not all(word[-1].isalnum() for word in words):
        return False
    if words[-1] in _COMES and not _IS.isdisjoint(words):
        is_now = not (_WORDS["now"].isdisjoint(words[-2:]) or _WORDS["is"].isdisjoint(words))
        return is_secret(value, PASSWORD, False, is_plain=True) if is_now else _is_made(value)
    if words[-1] not in _WORDS["to"] or (words[-1] == "in" and not before.lower().endswith("la ")):
        return False
    around = [*before.lower().split(), *words, *after.lower().split()]
    is_changed = any(word in _IS or word.startswith(_CHANGED) for word in around)
    return is_changed and _is_made(value)


def _is_told_far_east(lead: str, value: str, after: str, is_quoted: bool, is_digits: bool) -> bool:
    """Whether a sentence says that a password comes, in letters that no blank parts from it."""
    if len(lead) > _FAR_LEAD or any(char in "。!?" for char in lead):
        return False
    says = lead.strip(",、 ")
    if says.startswith("("):
        says = says.rpartition(")")[2].strip() or says
    following = "".join(char if char.isalnum() else "_" for char in after.lstrip(" \t")) + "_"
    joined = following.lstrip(_JOINING)
    is_asked = is_quoted and following.startswith(_PLEASE) and not following.startswith(_REQUESTS)
    is_over = is_asked or following.startswith(_ENDS) or joined.startswith(_ENDS)
    is_strong = not value.isalnum() and is_said(value, PASSWORD)
    if not (is_over or following.startswith("_") or is_strong):
        return False
    if is_digits:
        return (not says or says in _TOPICS) and is_code(value)
    is_named, is_led = _read_lead(says, is_over, joined.startswith(_MADE))
    if is_strong and (is_named or not says):
        return True
    if not (is_over or following.startswith("_")) or not (is_named or is_led):
        return False
    return is_secret(value, PASSWORD, is_quoted, is_plain=True) if is_named else _is_made(value)


def _read_lead(says: str, is_over: bool, is_made: bool) -> tuple[bool, bool]:
    """Return whether what stands between a name and a value in the far east says that it is the password, and whether
    it may: "改成" does, "在12月1日改成" may, "字段改成" speaks of something else.

    Args:
        says: what stands there.
        is_over: whether what stands behind the value ends such a sentence.
        is_made: whether it says that the password is made so.
    """
    stem = says.strip("".join((*_TOPICS, " ")))
    if not stem:
        return bool(says), True
    if says in _OBJECTS:
        return is_made, is_over
    is_about = not _TOPICS.isdisjoint((says[0], says[-1]))
    turns = (turn for turn in _TURNS if is_about and stem.endswith(turn))
    opens = {stem.removesuffix(turn)[:1] for turn in turns}
    return "" in opens, (is_made and says[0] in _TOPICS | _OBJECTS) or not _FAR_OPENS.isdisjoint(
        opens
    )


def is_code(value: str) -> bool:
    """Whether a value is a code of digits as people remember them."""
    return value.isdigit() and len(value) in _CODE_DIGITS


def _is_made(value: str) -> bool:
    """Whether a value's form is that of no word and no cipher."""
    is_made = is_put_together(value) or is_said(value, PASSWORD)
    return is_made and is_secret(value, PASSWORD, quoted=False, is_plain=True)


def _is_name(value: str) -> bool:
    """Whether a value is the name of a technology, perhaps with its version, or has the form of an address, a path, an
    attribute, an equation or a pattern."""
    value = value.lstrip(_EMPHASIS)
    start = value[: next((at for at, char in enumerate(value) if not char.isalnum()), len(value))]
    sign = value[len(start) :][:2]
    is_path = start.isalpha() and start.islower() and sign[:1] in ("/", ".") and sign[1:].isalpha()
    is_equation = "=" in value and value.partition("=")[0].replace("_", "").isalpha()
    is_version = "." in value and value.lstrip("v").replace(".", "").isdigit()
    if "://" in value or value.startswith("^[") or is_equation or is_version:
        return True
    # Neither a path nor an attribute has an exclamation mark, as "summer.rain88!" has.
    is_technology = value.rstrip("0123456789.@").lower() in CANONICAL
    return is_technology or (is_path and "!" not in value)
