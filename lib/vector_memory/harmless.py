"""Text that can do nothing but be read: without what cannot be seen, without anything that looks like a
tag, and, where somebody else wrote it, without links. Standard library only (Python 3.9): hooks
render without a daemon too."""

import re

ESCAPE_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)"  # OSC: titles, links
    "|\x1b[PX^_][^\x1b\x9c\n]*(?:\x1b\\\\|\x9c)"  # DCS and its kin
    "|\x1b[ -/]{0,8}[0-~]"  # two-character escapes
)
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
LINE_ENDS = "\r\x0b\x0c\x85\u2028\u2029"

_LINE_END = re.compile("\r\n|[" + LINE_ENDS + "]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANGLES = "<\uff1c\ufe64\u2039\u276e\u02c2\u27e8\u2329\u3008\u1438\u16b2\u29fc\U0001d236"
"""The less-than sign, and what looks like one."""
_TAG_LIKE = re.compile(
    "[" + _ANGLES + r"](?=[^\s\d=\-<]|\s{1,40}(?:[/!?\\|]|[^\W\d_][^<>]{0,80}>)|\s{0,40}\Z)"
)
"""A sign at the end counts: something else follows where the text is put."""
_ENTITY_LIKE = re.compile(r"&(?=#|[lLgG][tT]|[a-zA-Z][a-zA-Z0-9]{1,31};)")
_FENCE = re.compile(r"`{3,}")
_TILDES = re.compile(r"(?m)^(\s*)~{3,}")
_IMAGE = re.compile(r"(?<!\w)!\[|!\[(?=[^\]\n]{0,300}\][(\[])")

_SCHEME = re.compile(
    r"(?i)(?<=[\w+.-]):(?=[/\\]{2})|(?<=javascript|livescript):|(?<=vbscript):"
    r"|(?<=mailto):(?=\S)|(?<=blob):(?=\S)|(?<=data):(?=[a-z*]+/|[;,])|(?<=file):(?=/)|(?<=tel):(?=[+\d])"
)
_WWW = re.compile(r"(?i)\bwww\.(?=\w)")
_LINK = re.compile(r"\](?=\()")
_DEFINITION = re.compile(r"(?m)^(\s*\[[^\]\n]{1,300}\]):")


def visible(text: str) -> str:
    """Return text without terminal escapes, control, zero-width, bidirectional and tag characters, whose
    only line break is the line feed."""
    if text.isascii() and text.isprintable():
        return text
    text = ESCAPE_SEQUENCE.sub("", text)
    return _SURROGATE.sub("\ufffd", INVISIBLE.sub("", _LINE_END.sub("\n", text)))


def escape(text: str) -> str:
    """Return text in which nothing looks like a tag or opens a fence of code. Entities are escaped too, so
    that what is decoded once is the text again and not a tag."""
    text = _ENTITY_LIKE.sub("&amp;", visible(text))
    text = _TILDES.sub(r"\1~ ~ ~", _FENCE.sub("'''", text))
    return _IMAGE.sub("! [", _TAG_LIKE.sub("&lt;", text))


def unescape(text: str) -> str:
    """Return text with the tags and entities that `escape` took from it."""
    return text.replace("&lt;", "<").replace("&amp;", "&")


def defuse(text: str) -> str:
    """Return text whose links are none, and can still be read: `https[:]//example.org/x`. Doing it again
    changes nothing."""
    text = _SCHEME.sub("[:]", visible(text))
    text = _WWW.sub("www[.]", text)
    return _DEFINITION.sub(r"\1 :", _LINK.sub("] ", text))
