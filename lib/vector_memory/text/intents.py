"""What sort of memory a question asks for: decisions, problems, open questions …"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CHARS = 1_500


@dataclass(frozen=True)
class Intent:
    """What a question asks for. `kinds` are kinds of memories, () where it does not say; `latest`
    asks for what holds now; `speaker` is `user` or `assistant` where the
    question asks what one of them said, else ""."""

    kinds: tuple[str, ...] = ()
    latest: bool = False
    speaker: str = ""


_LISTED = r"\b(?:which|what|any|list|show|all) (?:(?:of|the|our|my|me) ){0,2}"
"""What several of a kind are asked for with."""
_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("decision", "conclusion"),
        r"\bdecisions?\b|\b(?:decide[ds]?|settled? on|agreed? on|went with|opted? for)\b"
        r"|\bwhy (?:did|do|are|have) we (?:choose|chosen|pick|use|using|go with|switch(?:ed)?)\b"
        r"|\bentschieden\b|\bd[ée]cid[ée]\b|\bdecidi(?:mos|do)\b",
    ),
    (
        ("problem", "cause"),
        r"\b(?:problems?|issues?|bugs?|troubles?|pitfalls?|gotchas?) (?:with|in|of|about|around|when)\b"
        r"|\bwhat (?:went wrong|broke|fails?|failed|kept failing)\b|\bknown (?:issues|problems|bugs)\b"
        r"|" + _LISTED + r"(?:problems|issues|bugs|troubles)\b",
    ),
    (
        ("solution", "fix"),
        r"\bhow (?:did|do|was|were) (?:we|you|i|it|that|this) (?:fix|solve|resolve|repair|work around)"
        r"|\bhow (?:was|were|is|did) .{1,60}\b(?:fixed|solved|resolved|repaired)\b"
        r"|\b(?:solution|fix|workaround|remedy) (?:for|to|of)\b|\bwhat (?:fixed|solved|helped)\b"
        r"|" + _LISTED + r"(?:solutions|fixes|workarounds)\b",
    ),
    (("question",), r"\b(?:open|unanswered|pending) questions?\b|\bquestions? (?:still )?open\b"),
    (
        ("todo",),
        r"\bto-?dos?\b|\bwhat(?:'s| is| was)? (?:left|still (?:open|missing)|remaining)\b"
        r"|\b(?:open|remaining|outstanding|unfinished) (?:tasks?|items?|work|points?)\b"
        r"|\bnext steps?\b|\bstill (?:have|need) to\b|\bleft to do\b",
    ),
    (
        ("preference",),
        r"\bpreferences?\b|\b(?:do|did) (?:i|we) (?:prefer|like|want)\b|\bmy (?:preferred|usual)\b"
        r"|\bhow do i like\b|\bconventions?\b",
    ),
    (
        ("procedure",),
        r"\bhow (?:do|should|can|must) (?:we|i) (?:deploy|release|publish|run|build|set up|test|migrate"
        r"|roll back|restart|rotate)\b|\b(?:procedure|steps|process|checklist|runbook) (?:for|to|of)\b",
    ),
    (("learning",), r"\b(?:did|have) (?:we|i|you) learn(?:ed|t)?\b|\blessons?(?: learned)?\b"),
)
_PATTERNS = tuple((kinds, re.compile(pattern, re.IGNORECASE)) for kinds, pattern in _KINDS)
_LATEST = re.compile(
    r"\b(?:current(?:ly)?|now(?:adays)?|latest|newest|these days|at the moment|presently|as of today"
    r"|still (?:use|using|valid|true|the case)|most recent|aktuell|derzeit|actuellement|ahora)\b",
    re.IGNORECASE,
)
_USER = re.compile(
    r"\b(?:did|have|had) (?:i|we) (?:\w+ )?(?:say|said|want(?:ed)?|ask(?:ed)?|tell|told|insist(?:ed)?"
    r"|request(?:ed)?|prefer(?:red)?|mention(?:ed)?|suggest(?:ed)?|reject(?:ed)?)\b"
    r"|\b(?:i|my) (?:said|asked|told|wanted|request|wish)\b",
    re.IGNORECASE,
)
_ASKED_BACK = re.compile(
    r"\b(?:wh(?:at|ich|ere|en|y|o|om|ose)|how|did|was|were|do|does|had|have|should)\b.{0,160}"
    r"\b(?:i|my|me|mine)\b(?! (?:can|could|should|need to|do|am|get|have to)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A question with the asker in it: what they said themselves is likely to answer it."""
_ASSISTANT = re.compile(
    r"\b(?:did|have|had) (?:you|claude|the assistant|the agent) (?:\w+ )?(?:say|said|suggest(?:ed)?"
    r"|recommend(?:ed)?|propose[d]?|find|found|report(?:ed)?|explain(?:ed)?|conclude[d]?)\b"
    r"|\byour (?:suggestion|proposal|recommendation|plan|answer)\b",
    re.IGNORECASE,
)


def intent(text: str) -> Intent:
    """Return what a question asks for."""
    text = text[:MAX_CHARS]
    kinds = [kind for named, pattern in _PATTERNS if pattern.search(text) for kind in named]
    return Intent(
        tuple(dict.fromkeys(kinds)),
        bool(_LATEST.search(text)),
        _speaker(text),
    )


def _speaker(text: str) -> str:
    if _USER.search(text):
        return "user"
    if _ASSISTANT.search(text):
        return "assistant"
    return "user" if text.rstrip().endswith("?") and _ASKED_BACK.search(text) else ""
