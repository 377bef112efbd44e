"""Text that can do nothing but be read: without what cannot be seen, without anything that looks like a
tag, and, where somebody else wrote it, without links. Standard library only (Python 3.9): hooks
render without a daemon too.

In a text of several people, what a tool printed or the user pasted stands between two marks that nothing
else in it can hold: `⟦tool output: …⟧`. So its origin stays with it wherever the text is shown or cut.
"""

import re

ESCAPE_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)"  # OSC: titles, links
    "|\x1b[PX^_][^\x1b\x9c\n]*(?:\x1b\\\\|\x9c)"  # DCS and its kin
    "|\x1b[ -/]{0,8}[0-~]"  # two-character escapes
)
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # Controls but tab and line ends
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # Format characters
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"  # Ignored
    "\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff"  # None
    "\ue000-\uf8ff\U00040000-\U0010ffff]"  # Private, and planes of which nobody reads anything
)
"""By Unicode's properties, not by those of one version of Python's tables. What joins letters or picks
the form of an emoji is among them: text can be read without."""
LINE_ENDS = "\r\x0b\x0c\x85\u2028\u2029"

_SURROGATE = re.compile("[\ud800-\udfff]")
_ANGLES = "<\uff1c\ufe64\u2039\u276e\u02c2\u27e8\u2329\u3008\u1438\u16b2\u29fc\U0001d236"
"""The less-than sign, and what looks like one."""
_MARKUP_LIKE = re.compile(
    r"(?P<entity>&(?=#|[lLgG][tT]|[a-zA-Z][a-zA-Z0-9]{1,31};))"
    r"|(?P<fence>`{3,})|(?P<tildes>(?m:^)(?P<indent>\s*)~{3,})"
    r"|(?P<image>(?<!\w)!\[|!\[(?=[^\]\n]{0,300}\][(\[]))"
    # A sign at the end counts: something else follows where the text is put.
    r"|(?P<tag>["
    + _ANGLES
    + r"](?=[^\s\d=\-<]|\s{1,40}(?:[/!?\\|]|[^\W\d_][^<>]{0,80}>)|\s{0,40}\Z))"
)
_REPLACEMENTS = {"entity": "&amp;", "fence": "'''", "image": "! [", "tag": "&lt;"}

_SCHEME = re.compile(
    r"(?i)(?<=[\w+.-]):(?=[/\\]{2})|(?<=javascript|livescript):|(?<=vbscript):"
    r"|(?<=mailto):(?=\S)|(?<=blob):(?=\S)|(?<=data):(?=[a-z*]+/|[;,])|(?<=file):(?=/)|(?<=tel):(?=[+\d])"
    r"|(?<=\bwww)\.(?=\w)"
)
_DEFINITION = re.compile(r"(?m)^(\s*\[[^\]\n]{1,300}\]):")


def visible(text: str) -> str:
    """Return text without terminal escapes, control, zero-width, bidirectional and tag characters, whose
    only line break is the line feed."""
    if text.isascii() and text.isprintable():
        return text
    text = ESCAPE_SEQUENCE.sub("", text)
    for end in ("\r\n", *LINE_ENDS):
        text = text.replace(end, "\n")
    return _SURROGATE.sub("\ufffd", INVISIBLE.sub("", text))


def escape(text: str) -> str:
    """Return text in which nothing looks like a tag or opens a fence of code. Entities are escaped too, so
    that what is decoded once is the text again and not a tag."""
    return _MARKUP_LIKE.sub(_markup_replacement, visible(text))


def _markup_replacement(like: "re.Match[str]") -> str:
    return _REPLACEMENTS.get(like.lastgroup or "") or f"{like['indent']}~ ~ ~"


def unescape(text: str) -> str:
    """Return text with the tags and entities that `escape` took from it."""
    return text.replace("&lt;", "<").replace("&amp;", "&")


def defuse(text: str) -> str:
    """Return text whose links are none, and can still be read: `https[:]//example.org/x`. Doing it again
    changes nothing."""
    text = _SCHEME.sub(r"[\g<0>]", visible(text))
    return _DEFINITION.sub(r"\1 :", text.replace("](", "] ("))


TOOL, PASTED = "tool", "pasted"
"""Whose words stand between marks."""
_OPEN, _CLOSE = "\u27e6", "\u27e7"
_NO_MARKS = str.maketrans({_OPEN: "[[", _CLOSE: "]]"})
_MARK = re.compile(_OPEN + "(?:(?:" + TOOL + "|" + PASTED + "): ?)?|" + _CLOSE)
_TORN = re.compile(_CLOSE + r"(\s*)" + _OPEN + r"\w+: |" + _OPEN + r"\w*:? ?" + _CLOSE)
"""Where a piece that was cut meets itself again, and where nothing of one is left."""
_OLD_OUTPUT = re.compile(
    r"(?m)^(Done: .*?\(failed: (?!refused by the user\)|" + _OPEN + "))(.+)$"
    "|^(ERROR )(?!" + _OPEN + r")(.{1,220})(?= FIX .{0,600}\(command `)"
)
"""What earlier versions stored of a failed call. Its end is not known: the error may hold anything."""


def unmarked(text: str) -> str:
    """Return text that holds no marks of ours."""
    return text.translate(_NO_MARKS)


def between_marks(text: str, whose: str) -> str:
    """Return others' words between marks that say whose they are, without links; "" for none."""
    return f"{_OPEN}{whose}: {defuse(unmarked(text))}{_CLOSE}" if text.strip() else ""


def with_old_marked(text: str) -> str:
    """Return a stored text in which errors of tools are marked, where an earlier version left them bare."""
    return _OLD_OUTPUT.sub(
        lambda output: (output[1] or output[3]) + between_marks(output[2] or output[4], TOOL), text
    )


def unquoted(text: str) -> str:
    """Return a text with others' words in it, but without the marks."""
    return _MARK.sub("", text)


def is_marked(text: str) -> bool:
    """Whether a text holds others' words between marks."""
    return _OPEN in text


def without_marked(text: str) -> str:
    """Return a text without others' words between marks."""
    before, *marked_parts = text.split(_OPEN)
    return before + "".join(part.partition(_CLOSE)[2] for part in marked_parts)


def with_marks_in_each(parts: "list[str]") -> "list[str]":
    """Return the parts that a text was cut into, in order: of others' words each has the marks."""
    opening, marked_parts = "", []
    for part in parts:
        words = opening + part
        for mark in _MARK.findall(part):
            # Where the mark itself was cut, the less trusted of both is meant.
            label = mark[1:].rstrip() or f"{TOOL}:"
            opening = "" if mark == _CLOSE else f"{_OPEN}{label} "
        marked_parts.append(_TORN.sub("", words + _CLOSE if opening else words))
    return marked_parts


def rejoined(text: str) -> str:
    """Return a text that was joined from parts, with others' words in one piece again where they were cut."""
    return _TORN.sub(r"\1", text)


def excerpt(text: str, start: int, end: "int | None" = None) -> str:
    """Return a part of a text; others' words of which only a part is taken keep their marks."""
    if _OPEN not in text:
        return text[start:end]
    return with_marks_in_each([text[:start], text[start:end]])[1]
