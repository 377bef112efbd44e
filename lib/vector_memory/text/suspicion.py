"""How much a text that others wrote looks like instructions to the model that will read it.

A mark for the reader, not a filter: whoever wants to can write around it. What keeps text from being
obeyed is how it is put before the model; this only says where to look, and holds back what is plain.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import cache
from typing import NamedTuple

from vector_memory.model import SUSPICION
from vector_memory.text.harmless import INVISIBLE
from vector_memory.text.patterns import PatternSet

LABELLED = 3
"""From this score on a text is shown with a warning."""
HELD = 6
"""From this score on hooks hold back what tools and others wrote: two signs of weight, or one with two
small ones."""
HELD_QUOTED = 9
"""The same for the assistant's own words: talk about attacks is quoted talk."""
MAX_CHARS = 40_000
MOST_RUNS = 8
MOST_TAGS = 3
LEAST_HIDDEN = 4

_ACT = (
    r"(?:run|execute|call|invoke|send|fetch|post|upload|download|delete|remove|open|visit|browse|install"
    r"|curl|wget|write|overwrite|disable|forward|e-?mail|transfer|print|reveal|output|commit|push)"
)
_MODEL = r"(?:ai|a\.i\.|llms?|assistants?|(?:language |ai )?models?|agents?|chatbots?|bots?|claude|copilot|gpt)"
_SECRETS = (
    r"(?:secrets?|credentials?|passwords?|(?:api|access|private|ssh|signing)[ _-]?(?:keys?|tokens?)|tokens?"
    r"|\.env\b|environment variables|id_rsa|cookies|conversation(?: history)?|chat history|system prompt"
    r"|source code|customer data|wallet)"
)
_SIGNS: tuple[tuple[str, int, str], ...] = (
    # What was said before is to count no more.
    ("overrides instructions", 4,
     r"\b(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following)\s+"
     r"(?:(?:all|any|every|each|the|your|my|our|of|these|those|other|and|or)\s+){0,5}"
     r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|system|developer|user'?s?|safety)\s+"
     r"(?:\w+\s+){0,2}?(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|messages?|context"
     r"|constraints?|policies|requests?|commands?|orders?)\b"),
    ("overrides instructions", 4,
     r"\b(?:ignore|disregard|forget|override)\s+(?:everything|anything|all|what)\s+(?:that\s+)?(?:you|i|we|was|were|is|has|have|the user)\b"
     r"[^.\n]{0,40}\b(?:told|said|instructed|before|above|asked|learned)\b"),
    ("overrides instructions", 4,
     r"\b(?:ignoriere?|vergiss|missachte)\b[^.\n]{0,30}\b(?:vorherigen?|bisherigen?|obigen?|fr\S{1,2}heren?)\s+(?:anweisung|befehl|regel|instruktion)"
     r"|\b(?:ignore[zr]?|oublie[zr]?)\b[^.\n]{0,30}\b(?:instructions|consignes)\s+(?:pr\S{1,2}c\S{1,2}dentes|ant\S{1,2}rieures)"
     r"|\b(?:ignora|olvida|descarta)\b[^.\n]{0,30}\b(?:instrucciones|indicaciones|istruzioni|reglas)\s+(?:anteriores|previas|precedenti)"
     r"|(?:忽略|无视|忘记)[^。\n]{0,8}(?:之前|以上|先前|所有|前面)[^。\n]{0,8}(?:指令|指示|提示|命令|说明)"),
    ("gives new instructions", 3,
     r"\b(?:new|updated|real|actual|revised|secret|hidden|following)\s+(?:system\s+|developer\s+)?(?:instructions?|directives?|objective|task|prompt)\s*(?:for\s+(?:the\s+|all\s+)?" + _MODEL + r"\s*)?[:=]"),
    ("gives new instructions", 3,
     r"\b(?:your|the)\s+(?:new|real|true|only|actual)\s+(?:task|goal|objective|instructions?|mission|purpose)\s+(?:is|are)\b"),
    ("gives a role", 3,
     r"\byou\s+are\s+(?:now|no\s+longer|from\s+now\s+on)\b|\bfrom\s+now\s+on,?\s+(?:you|act|behave|respond|answer|always|never)\b"),
    ("gives a role", 3,
     r"\b(?:enter|enable|activate|switch\s+to)\s+(?:the\s+)?(?:developer|debug|god|admin|dan|jailbreak|unrestricted|maintenance)\s+mode\b"
     r"|\bdo\s+anything\s+now\b|\bno\s+(?:longer\s+)?(?:restrictions|limitations|guardrails|safety\s+rules)\s+apply\b"),
    # It speaks to the model.
    ("speaks to the model", 2,
     r"(?:^|[\n.!:;>*\[(-])\s*(?:attention|note|important|hey|dear|message|instructions?|reminder|warning|to|for)[,:]?\s+(?:to\s+|for\s+)?(?:all\s+|any\s+|the\s+)*" + _MODEL + r"\b(?:\s+reading\b|\s*[:,!-])"),
    ("speaks to the model", 2,
     r"\b(?:if|when)\s+(?:you|an?|the)\s*(?:are\s+|is\s+)?(?:an?\s+|the\s+)?" + _MODEL + r"\b[^.\n]{0,40}\b(?:read|reading|process|processing|summari[sz]|see|parse|you\s+must)"),
    ("speaks to the model", 2,
     r"\b" + _MODEL + r"\s*[,:]?\s+(?:must|should|shall|needs?\s+to|has\s+to|have\s+to|is\s+required\s+to|please)\s+(?:now\s+|first\s+|always\s+|immediately\s+|then\s+)?" + _ACT + r"\b"),
    ("orders an action", 3,
     r"\byou\s+(?:must|have\s+to|need\s+to|are\s+required\s+to|shall)\s+(?:now|first|immediately|always|then|instead|silently|also)\s+" + _ACT + r"\b"),
    ("orders an action", 2,
     r"\b(?:before|after|instead\s+of)\s+(?:doing\s+anything\s+else|anything\s+else|answering|responding|replying|you\s+(?:answer|respond|reply)|continuing)\b[^.\n]{0,20}\b" + _ACT + r"\b"),
    ("orders an action", 2,
     r"\b(?:use|call|invoke)\s+(?:the\s+|your\s+)?(?:bash|shell|terminal|webfetch|web_?fetch|write|edit|browser|http|file|e-?mail|code\s+execution|mcp)\s+tool\b"),
    ("steers the answer", 2,
     r"\b(?:add|append|include|insert|integrate|embed|incorporate|feature)\b[^.\n]{0,80}\b(?:to|in|into|within|at\s+the\s+(?:end|start)\s+of)\s+(?:your|every|all|each)\s+(?:future\s+|next\s+)?(?:responses?|repl(?:y|ies)|answers?|outputs?|messages?|code\s+implementations?|codebases?)\b"),
    ("steers the answer", 2,
     r"\b(?:begin|start|end|finish|respond|reply|answer)\s+(?:all\s+|every\s+|each\s+)?(?:your\s+|with\s+)?(?:responses?|repl(?:y|ies)|answers?|messages?|only)?\s*(?:only\s+)?with\s+(?:the\s+)?(?:following|exact|phrase|words?)\b"),
    ("steers the answer", 3,
     r"\b(?:in|into|to|of|within|on|with|encode|encrypt|reverse|translate|represent|provide|write|format|modify|upgrade|refine|for|from|apply)\s+your\s+(?:\w+\s+){0,2}(?:answer|response|reply|repl(?:y|ies)|elucidation|output)(?:'s)?\b"),
    # Nobody is to know.
    ("conceals", 4,
     r"\b(?:do\s+not|don't|never|must\s+not|without)\s+(?:\w+\s+)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|ask(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|warn(?:ing)?|show(?:ing)?)\s+(?:(?:this|it|that|anything|any\s+of\s+this|the\s+above|these\s+\w+)\s+)?(?:to\s+)?(?:the\s+)?(?:users?|humans?|developers?|owner|anyone|operator)\b"),
    ("conceals", 3,
     r"\b(?:silently|secretly|covertly|quietly|without\s+(?:confirmation|approval|permission))\b[^.\n]{0,30}\b" + _ACT + r"\b"
     r"|\bkeep\s+(?:this|it)\s+(?:a\s+)?(?:secret|hidden)\s+from\s+(?:the\s+)?(?:user|human|developer)"),
    # Something is to leave this machine.
    ("takes data out", 4, r"\bexfiltrat(?:e|es|ing|ion)\b[^.\n]{0,80}\b(?:to|via|through|by)\b"),
    ("takes data out", 2, r"\bexfiltrat(?:e|es|ing|ion)\b"),
    ("takes data out", 4,
     r"\b(?:send|post|upload|forward|leak|transmit|e-?mail|submit|copy|paste|exfiltrate|report)\b[^.\n]{0,60}\b" + _SECRETS + r"[^\n]{0,80}?(?:\bto\b[^\n]{0,30}(?:https?:|www\.|\S+@\S+\.\w|\b\S+\.(?:com|net|org|io|dev|xyz|ru|biz|site|example)\b|attacker|\bserver\b|\burl\b|\bendpoint\b|\bwebhook\b))"),
    ("takes data out", 4,
     r"\b(?:curl|wget|nc|netcat|invoke-webrequest)\b[^\n]{0,200}(?:\$\((?:cat|env|printenv|whoami|id|base64)|`(?:cat|env|printenv)|@(?:~|\$HOME|/etc/|\.env|/home/)|\|\s*(?:cat|env|printenv)\b)"
     r"|\b(?:cat|env|printenv|base64|tar)\b[^\n]{0,100}(?:\.env|\.ssh|id_rsa|/etc/passwd|credentials|\.aws|\benv\b)[^\n]{0,60}\|\s*(?:curl|wget|nc|netcat)\b"),
    ("takes data out", 3, r"!\[[^\]\n]{0,100}\]\(\s*(?:https?:)?//[^)\s]{0,300}[?&][\w-]{1,30}=[^)\s]{0,40}(?:\{|\[|%7b|<|\$|data|secret|context|conversation)"),
    ("runs what it fetches", 2, r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\biex\s*\(|\beval\s+\"?\$\((?:curl|wget)"),
    # It pretends to be somebody else.
    ("forges the client", 4,
     r"<\s{0,3}/?\s{0,3}(?:system[-_]reminder|vector-memory|system|function_calls|tool_(?:use|result|call)s?|antml:\w+|user-prompt-submit-hook|human|assistant)\b[^>\n]{0,80}>"),
    ("forges the client", 3,
     r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|\[/?(?:INST|SYS|SYSTEM)\]|<</?SYS>>"),
    ("forges the client", 2,
     r"(?:^|\n)\s*(?:#{1,4}\s*|\*\*|\[)?(?:system|developer)(?:\s+(?:message|prompt|note|override|notice))?(?:\]|\*\*)?\s*:\s+\S"
     r"|\n\s*\n\s*(?:human|user)\s*:\s"),
    # It wants to stay.
    ("wants to be remembered", 3,
     r"\b(?:save|store|add|write|put|remember)\b[^.\n]{0,60}\b(?:to|in|into)\s+(?:your\s+(?:(?:long[- ]term|persistent|permanent)\s+)?(?:memory|memories)|(?:the\s+|your\s+)?(?:claude|memory|agents)\.md)\b"
     r"|\b(?:in|for|at\s+the\s+start\s+of)\s+(?:all|every|each|any)\s+(?:future\s+|new\s+|next\s+)(?:sessions?|conversations?|chats?|prompts?|requests?)\b"),
    # It is not meant to be read by people.
    ("is encoded", 3,
     r"\bdecode\s+(?:this|the|it|and|these)\b[^.\n]{0,60}\b(?:then\s+|and\s+)(?:\w+\s+)?(?:follow|run|execute|obey|do|apply|perform|act)\b"
     r"|\b(?:base64|rot13|hex)\b[^.\n]{0,60}\b(?:follow|execute|obey|act\s+on)\s+(?:it|them|the|these|its)\b"),
    ("is hidden", 2,
     r"<!--[^>]{0,400}\b(?:" + _MODEL + r"|ignore|instructions?|you\s+must|execute)\b"
     r"|\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:[;\s\"]|$)|color\s*:\s*(?:white|#fff(?:fff)?)\b)"),
    ("is urgent", 1,
     r"\b(?:urgent|critical|important|mandatory|system)\s*(?:security\s+)?(?:instruction|override|directive|update|notice|action|requirement)s?\b|\bthis\s+overrides\b|\bhighest\s+priority\b"),
)  # fmt: skip
_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{48,8000}={0,2}")
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){32,4000}(?![0-9a-fA-F])")
_WORDS = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]+")


class Suspicion(NamedTuple):
    """How much a text looks like instructions to a model, 0 for not at all, and by which signs."""

    score: int
    reasons: tuple[str, ...]


NONE = Suspicion(0, ())


def look(text: str, raw: str = "") -> Suspicion:
    """Return how much a text looks like instructions to a model.

    Args:
        text: what is stored, from its start; the end of a very long one is looked at too.
        raw: the text as it came, where what cannot be seen was taken out of it.
    """
    text = _ends(text)
    weights = dict(_signs(text))
    hidden = _hidden(raw)
    if hidden:
        weights["is hidden"] = LABELLED
    for inside in (*hidden, *_decoded(text)):
        found = dict(_signs(inside))
        if found:
            weights.setdefault("is encoded", 2)
        weights.update({name: max(value, weights.get(name, 0)) for name, value in found.items()})
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return Suspicion(sum(weights.values()), tuple(name for name, _ in ordered)) if ordered else NONE


def mark(found: Suspicion, least: int) -> dict[str, object]:
    """Return what a memory's `extra` says of a suspicious text, {} of one that is not.

    Args:
        least: the score from which on no hook brings it.
    """
    if found.score < LABELLED:
        return {}
    held = {"held": True} if found.score >= least else {}
    return {SUSPICION: {"score": found.score, "reasons": list(found.reasons), **held}}


def quoted(text: str) -> dict[str, object]:
    """Return the `mark` of what the assistant said, who may be quoting."""
    return mark(look(text), HELD_QUOTED)


def mixed(theirs: str, said: str) -> dict[str, object]:
    """Return the `mark` of what the assistant said together with others' words, which are looked at as
    strictly as where they stand alone."""
    strict = look(theirs)
    return mark(strict, HELD) if strict.score >= HELD else quoted(f"{said}\n{theirs}")


def _ends(text: str) -> str:
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n{text[-half:]}"


def _signs(text: str) -> dict[str, int]:
    """Return the weight of each kind of sign in a text: of several of a kind the heaviest."""
    weights: dict[str, int] = {}
    for place in _patterns().found(text):
        name, weight, _ = _SIGNS[place]
        weights[name] = max(weight, weights.get(name, 0))
    return weights


@cache
def _patterns() -> PatternSet:
    return PatternSet([pattern for _, _, pattern in _SIGNS])


def _decoded(text: str) -> list[str]:
    """Return the words that runs of Base64 or hexadecimal digits in a text hold."""
    found = [*_HEX.findall(text)[:MOST_RUNS], *_RUN.findall(text)[:MOST_RUNS]]
    return [words for one in found if (words := _words_in(one))]


def _words_in(run: str) -> str:
    try:
        raw = (
            bytes.fromhex(run)
            if _HEX.fullmatch(run)
            else base64.b64decode(run + "=" * (-len(run) % 4))
        )
        words = raw.decode("utf-8")
    except (ValueError, binascii.Error):
        return ""
    return words if _WORDS.search(words) else ""


def _hidden(raw: str) -> list[str]:
    """Return what is written in characters that nobody sees: tag characters spell it out."""
    if raw.isascii() or not INVISIBLE.search(raw):
        return []
    runs = [one for one in _TAG_CHARACTERS.findall(raw) if len(one) >= LEAST_HIDDEN]
    # Flags of regions are spelled in tag characters too: five or six after a black flag.
    spelled = ["".join(chr(ord(char) - 0xE0000) for char in run) for run in runs[:MOST_TAGS]]
    return [words for words in spelled if len(words) > 7]
