"""How much a text that nobody rated is likely to matter, whatever is asked later."""

from __future__ import annotations

import re

from vector_memory.model import Priority

MAX_CHARS = 2_000

_RULE = re.compile(
    r"\bmust (?:never|not|under no)\b|\bnever ever\b|\bunder no circumstances?\b|\bnon-negotiable\b"
    r"|\bhard (?:rule|requirement|constraint)\b|\bdo not ever\b|\bis forbidden\b"
    r"|\bnever (?:commit|push|force-push|delete|drop|deploy|merge|store|log|print|expose|share|send"
    r"|run|edit|touch|skip|disable|bypass)\b",
    re.IGNORECASE,
)
_SECURITY = re.compile(
    r"\bsecur(?:ity|e)\b|\bsecrets?\b|\bcredentials?\b|\bpasswords?\b|\b(?:api|access|private|signing"
    r"|encryption) (?:keys?|tokens?)\b|\bencrypt(?:ed|ion)?\b|\bauthenticat\w{1,5}\b|\bauthoris\w{1,6}\b"
    r"|\bauthoriz\w{1,6}\b|\bvulnerabilit(?:y|ies)\b|\binjection\b|\bpersonal data\b|\bgdpr\b|\bpii\b"
    r"|\bprivacy\b|\bcompliance\b|\btrust boundar(?:y|ies)\b",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\bproduction (?:data|database|db)\b|\bdata loss\b|\birreversibl[ey]\b|\bcannot be undone\b"
    r"|\bbackups?\b|\bcorrupt(?:s|ed|ion)?\b|\bmain branch\b|\bforce-push\b",
    re.IGNORECASE,
)
_ARCHITECTURE = re.compile(
    r"\barchitectur(?:e|al)\b|\binvariants?\b|\bsingle source of truth\b|\bdesign principles?\b"
    r"|\bbreaking changes?\b|\bpublic (?:api|interface)\b|\bdata model\b|\bsystem design\b"
    r"|\blayering\b"
    # What concerns the whole code.
    r"|\b(?:all|every|each) (?:\w+ )?(?:services?|modules?|packages?|endpoints?|repos(?:itor(?:y|ies))?"
    r"|components?|migrations?|releases?|commits?|pull requests?|prs?)\b|\bacross (?:the|all|every)\b"
    r"|\b(?:project|repo|company|team|system|code ?base)-wide\b|\bcross-cutting\b|\beverywhere\b",
    re.IGNORECASE,
)
_WEIGHTY = re.compile(
    r"\bcritical\b|^(?:important|warning|caution)\b|\bmust always\b", re.IGNORECASE
)


def suggest(text: str, title: str = "") -> Priority:
    """Return a text's likely priority.

    CORE is a prohibition about secrets or about what cannot be undone; HIGH is any other
    prohibition, and what speaks of security, architecture or the whole code; NORMAL is the rest.
    Nothing is suggested to be LOW: a wrong guess would hide it.

    Args:
        text: what the memory says.
        title: its heading, which counts as much.
    """
    whole = f"{title[:MAX_CHARS]}\n{text[:MAX_CHARS]}"
    delicate = bool(_SECURITY.search(whole) or _LOSS.search(whole))
    if _RULE.search(whole):
        return Priority.CORE if delicate else Priority.HIGH
    if delicate and not _LOSS.search(whole):
        return Priority.HIGH
    is_weighty = _ARCHITECTURE.search(whole) or _WEIGHTY.search(text[:MAX_CHARS])
    return Priority.HIGH if is_weighty else Priority.NORMAL
