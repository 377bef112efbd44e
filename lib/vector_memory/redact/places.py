"""Places where a secret stands by convention: headers, addresses, command lines, SQL."""

from __future__ import annotations

import re
from typing import NamedTuple

from vector_memory.redact.values import PASSWORD, SECRET, is_secret


class Place(NamedTuple):
    """A place: its name in the placeholder, literals that give it away (lower case), a pattern
    whose group `s` is the secret, and how that is judged: "" means it always is one."""

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    kind: str = ""


def _place(name: str, literals: str, pattern: str, kind: str = "") -> Place:
    return Place(name, tuple(literals.split(",")), re.compile(pattern, re.IGNORECASE), kind)


_QUOTE = r"""\\{0,4}["'`]?"""

PLACES: tuple[Place, ...] = (
    _place(
        "authorization",
        "authorization",
        r"""authorization["'`\]]{0,2}[ ]{0,4}[:=,][ ]{0,4}\\{0,2}["'`]?(?:(?:bearer|basic|token|ntlm|negotiate|digest|apikey|key|bot|aws4-hmac-sha256|splunk)[ :]{1,2})?(?P<s>[A-Za-z0-9._~+/=%-]{8,4000})""",
        SECRET,
    ),
    _place("authorization", "bearer", r"\bbearer[ ]{1,2}(?P<s>[A-Za-z0-9._~+/=-]{12,4000})", SECRET),
    _place("authorization", "basic", r"\bbasic[ ](?P<s>[A-Za-z0-9+/]{12,2000}={0,2})(?![A-Za-z0-9+/])", SECRET),
    _place("cookie", "cookie", r"\b(?:set-)?cookie2?[\"']?: ?[\"']?[^=\s;]{1,60}=(?P<s>[^;\s\"']{16,2000})", SECRET),
    _place(
        "url-password",
        "://",
        r"(?<=://)[^\s/@:\"'<>\[\]{}$]{0,100}(?:@[\w.-]{1,60})?:(?P<s>[^\s/@\"'<>{}$()\[\]][^\s@\"'<>]{0,200})@(?=[\w.\[-])",
        "url",
    ),
    _place("signature", "signature=,sig=", r"[?&;](?:X-Amz-Signature|Signature|sig|X-Goog-Signature)=(?P<s>[A-Za-z0-9%+/=_-]{16,1000})"),
    _place("security-token", "x-amz-", r"[?&](?:X-Amz-Security-Token|X-Amz-Credential)=(?P<s>[A-Za-z0-9%+/=_.-]{16,3000})"),
    _place("credential", "credential=", r"[?&]credential=(?P<s>[A-Za-z0-9%+/=_.-]{12,2000})", SECRET),
    _place("account-key", "accountkey,sharedaccesskey", r"(?:account|sharedaccess)key\s?=\s?(?P<s>[A-Za-z0-9+/=]{24,200})"),
    _place("user-password", "curl", r"\s(?:-u|--user|--proxy-user|--auth|-a)[ =]{1,2}" + _QUOTE + r"[^\s:\"'`]{1,80}:(?P<s>[^\s\"'`]{3,200})", "url"),
    _place("user-password", "userpwd", r"USERPWD,\s{0,4}\\{0,2}\"[^:\"\s]{1,80}:(?P<s>[^\"\s]{3,200})\""),
    _place("password", "sshpass", r"\bsshpass\s{1,4}-p\s{0,2}" + _QUOTE + r"(?P<s>[^\s\"'`]{3,200})", "url"),
    _place("password", "login", r"\blogin\b[^\n]{0,120}?\s-p[ ]{0,2}" + _QUOTE + r"(?P<s>[^\s\"'`-][^\s\"'`]{4,200})", PASSWORD),
    _place("password", "mysql", r"\bm(?:ysql|ariadb)(?:dump|admin)?\b[^\n]{0,120}?\s-p(?P<s>[^\s\"'`]{4,200})", PASSWORD),
    _place("password", "securestring", r"ConvertTo-SecureString(?:\s{1,4}-(?:String|Force|AsPlainText))*\s{1,4}" + _QUOTE + r"(?P<s>[^\s\"'`\\$(-][^\s\"'`\\]{3,200})"),
    _place("password", "identified", r"\b(?:create|alter|grant|user)\b[^\n;]{0,160}?\bidentified\s{1,4}(?:with\s{1,4}[`'\"]?\w{1,40}[`'\"]?\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?" + _QUOTE + r"(?P<s>[^\s\"'`;\\][^\s\"'`;\\]{3,200})", "url"),
    _place("password", " password", r"\b(?:create|alter)\s{1,4}(?:user|role|login)\b[^\n;]{0,200}?\bpassword\s{1,4}" + _QUOTE + r"(?P<s>[^\s\"'`;\\=][^\s\"'`;\\]{3,200})", "url"),
    _place("password", "machine ", r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<s>\S{3,200})", "url"),
    _place("password", " pass:", r"\bpass(?:in|out)\s{1,4}[\"']?pass:(?P<s>[^\s\"'`]{3,200})", "url"),
    _place("id-password", "/passw,/pw", r"\b(?:id|user(?:name)?|login)\s?/\s?(?:password|passwd|pwd|pw)\s?[:=]\s?(?P<s>[^\s,;)\"']{5,200})", PASSWORD),
)  # fmt: skip

_LITERALS = tuple((literal, place) for place in PLACES for literal in place.literals)
_EMPTY_PASSWORDS = re.compile(
    r"(?:password|passwd|pass|pw|pwd|secret|token|user|\*{1,9}|x{2,9}|\.{3}|your.*|<.*|%.*|\{.*|\[redacted.*|\d{1,5}(?:/.*)?)",
    re.IGNORECASE,
)


def redact_places(text: str) -> tuple[str, int]:
    """Replace the secrets in known places; return the text and how many."""
    lowered = text.lower()
    total = 0
    for place in dict.fromkeys(place for literal, place in _LITERALS if literal in lowered):
        text, count = _redact_place(text, place)
        total += count
    return text, total


def _redact_place(text: str, place: Place) -> tuple[str, int]:
    parts: list[str] = []
    position = 0
    for found in place.pattern.finditer(text):
        if _is_secret(found["s"], place.kind):
            parts += [text[position : found.start("s")], f"[redacted:{place.name}]"]
            position = found.end("s")
    return ("".join([*parts, text[position:]]), len(parts) // 2) if parts else (text, 0)


def _is_secret(value: str, kind: str) -> bool:
    if "[redacted" in value:
        return False
    if kind == "url":
        return not _EMPTY_PASSWORDS.fullmatch(value)
    return not kind or is_secret(value, kind, quoted=True)
