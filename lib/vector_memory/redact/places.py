"""Places where a secret stands by convention: headers, addresses, command lines, SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vector_memory.redact.automaton import Automaton, Meter, Rule
from vector_memory.redact.spans import Span
from vector_memory.redact.values import PASSWORD, SECRET, is_secret, is_telling


def _place(name: str, pattern: str, kind: str = "") -> Rule:
    return Rule(name, pattern, kind, flags=re.IGNORECASE)


_QUOTE = r"""\\{0,4}["'`]?"""

PLACES: tuple[Rule, ...] = (
    _place(
        "authorization",
        r"""authorization["'`\]]{0,2}[ ]{0,4}[:=,][ ]{0,4}\\{0,2}["'`]?(?:(?:bearer|basic|token|ntlm|negotiate|digest|apikey|key|bot|aws4-hmac-sha256|splunk|ssws)[ :]{1,2})?(?P<s>[A-Za-z0-9._~+/=%-]{8,4000})""",
        SECRET,
    ),
    _place("authorization", r"\bbearer[ ]{1,2}(?P<s>[A-Za-z0-9._~+/=-]{12,4000})", SECRET),
    _place("authorization", r"\bbasic[ ](?P<s>[A-Za-z0-9+/]{12,2000}={0,2})(?![A-Za-z0-9+/])", SECRET),
    _place("cookie", r"\bcookies?2?[\"'`]{0,2}\s?[:=]\s?\\{0,2}[\"'`]?(?P<s>[\w.%-]{1,80}=[^\n\"'`]{4,4000})", "cookie"),
    _place(
        "url-password",
        r":(?://|--|__)[^\s/@:\"'<>\[\]{}$]{0,100}(?:@[\w.-]{1,60})?:(?P<s>[^\s/@\"'<>{}$()\[\]][^\s@\"'<>/]{0,200}(?:@[^\s@\"'<>/]{1,40}(?=@[\w.\[-]{1,200}[/:?\"'\s]))?)@(?=[\w.\[-])",
        "url",
    ),
    _place("signature", r"[?&;](?:X-Amz-Signature|Signature|sig|X-Goog-Signature)=(?P<s>[A-Za-z0-9%+/=_-]{16,1000})"),
    _place("security-token", r"[?&](?:X-Amz-Security-Token|X-Amz-Credential)=(?P<s>[A-Za-z0-9%+/=_.-]{16,3000})"),
    _place("credential", r"[?&]credential=(?P<s>[A-Za-z0-9%+/=_.-]{12,2000})", SECRET),
    _place("account-key", r"(?:account|sharedaccess)key\s?=\s?(?P<s>[A-Za-z0-9+/=]{24,200})"),
    _place("password", r"\bUSERPWD,\s{0,4}\\{0,2}\"[^:\"\s]{1,80}:(?P<s>[^\"\s]{3,200})\""),
    _place("password", r"_PASSWORD,\s{0,4}\\{0,2}\"(?P<s>[^\"\s]{3,200})\"", PASSWORD),
    _place("password", r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<s>\S{3,200})", "url"),
    _place("password", r"\bpass(?:in|out)\s{1,4}[\"']?pass:(?P<s>[^\s\"'`]{3,200})", "url"),
    _place("password", r"\b(?:id|user(?:name)?|login)\s?/\s?(?:password|passwd|pwd|pw)\s?[:=]\s?(?P<s>[^\s,;)\"']{5,200})", PASSWORD),
    _place("password", r"\b(?:user id|uid|user|username|data source|server|initial catalog|database)\s?=[^;\n\"']{1,120};\s?(?:password|pwd)\s?=\s?(?P<s>[^;\s\"'#{]{3,200})", "url"),
    _place("password", r"\bNetworkCredential\(\s?\"[^\"\n]{1,100}\",\s{0,4}\"(?P<s>[^\"\n]{3,200})\"", "url"),
    _place("password", r"\bDirectoryEntry\(\s?\"[^\"\n]{1,200}\",\s{0,40}\"[^\"\n]{1,100}\",\s{0,40}\"(?P<s>[^\"\n]{3,200})\"", "url"),
    _place("password", r"\bkey=\"[^\"\n]{0,60}(?:password|secret|token)\"\s{1,4}value=\"(?P<s>[^\"\n]{3,400})\"", "url"),
    _place("password", r"\b(?:initialAdminPassword|following password to proceed to installation:)\s{1,8}(?P<s>[0-9a-f]{32})\b"),
    _place("unseal-key", r"\bunseal(?: key \d{1,2}:)?\s{1,4}(?P<s>[A-Za-z0-9+/]{40,64}={0,2})(?![A-Za-z0-9+/=])", SECRET),
    _place("license-key", r"\b(?:activation|license|licence|product|serial)[ _-]?(?:key|code|number)[\"']?\s?[:=]\s?[\"']?(?P<s>[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,6})\b"),
    _place("jenkins", r"\bcrumb[\"']?\s?[:=]\s?[\"']?(?P<s>[0-9a-f]{32,64})\b"),
    _place("sonarqube", r"sonar\.?(?:login|token)[\"']?\s?[,:=]\s?[\"']?(?P<s>[0-9a-f]{40})\b"),
    _place("codeclimate", r"REPORTER_ID[\"']?\s?[:=]\s?[\"']?(?P<s>[0-9a-f]{64})\b"),
    _place("postmark", r"\bpostmark[\w.-]{0,20}[\"']?\s?[:=]\s?[\"']?(?P<s>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"),
    _place("azure-devops", r"\b(?:ado|azure|devops)[\w-]{0,20}pat[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<s>[a-z2-7]{52})\b"),
    _place("nonce", r"\b\w{0,20}(?:salt|nonce)\d?[\"'\\]{0,6}\s{0,3}[:=]\s{0,3}b?[\"'\\]{0,6}(?P<s>[A-Za-z0-9+/=_-]{16,4000})", SECRET),
    _place("json-web-key", r"\"kty\"\s?:[^{}]{0,1000}?\"(?:d|k|p|q|dp|dq|qi)\"\s?:\s?\"(?P<s>[A-Za-z0-9_-]{16,4000})\""),
    _place("json-web-key", r"\"(?:d|k)\"\s?:\s?\"(?P<s>[A-Za-z0-9_-]{16,4000})\"(?=[^{}]{0,60}\"(?:kty|crv|alg|use|n|e|x|y|p|q)\"\s?:|\s{0,20}\})", SECRET),
    _place("bootstrap-token", r"\btoken[= ]\s{0,2}[\"']?(?P<s>[a-z0-9]{6}\.[a-z0-9]{16})\b"),
    _place(
        "password",
        r"(?:^|\n)[ \t#;]{0,12}(?:[\w.-]{0,40}[_.-])?(?:user|username|login|uid)[ \t]{0,8}[=:][ \t]{0,8}[^\s()]{1,80}[ \t]{0,4}\n(?:[ \t]{0,12}(?://|#|;)[^\n]{0,120}\n){0,3}[ \t#;]{0,12}(?:[\w.-]{0,40}[_.-])?(?:password|passwd|pass|pwd)[ \t]{0,8}[=:][ \t]{0,8}(?P<s>[^\s()\"'`,;.\[\]{}][^\s()\"'`,;.\[\]{}]{3,80})(?=[ \t]{0,4}(?:\n|$))",
        "url",
    ),
    _place("okta", r"\bokta[\w-]{0,30}(?:token|key|secret)[\"']?[^\n]{0,4}\n?[^\n=:]{0,40}[:=]\s{0,4}[\"']?(?P<s>00[A-Za-z0-9_-]{40})(?![A-Za-z0-9_-])"),
)  # fmt: skip

COMMANDS: tuple[Rule, ...] = (
    _place("user-password", r"\b(?:curl|wget|http|https|xh)\b[^\n]{0,400}?\s(?:-u|--user|--proxy-user|--auth|-a)[ =]{0,2}" + _QUOTE + r"[^\s:\"'`/]{1,80}:(?P<s>[^\s\"'`/][^\s\"'`]{2,200})", "url"),
    _place("user-password", r"\s(?:-u|--user|--proxy-user)[ =]{1,2}" + _QUOTE + r"[^\s:\"'`/=]{1,80}:(?P<s>[^\s\"'`/:][^\s\"'`]{2,200})", PASSWORD),
    _place("password", r"\bsshpass\s{1,4}-p\s{0,2}" + _QUOTE + r"(?P<s>[^\s\"'`]{3,200})", "url"),
    _place("password", r"\bpsexec(?:\.exe)?\b[^\n]{0,160}?\s-p\s{1,2}(?P<s>[^\s\"'`$%][^\s\"'`]{2,200})", "url"),
    _place("password", r"\blogin\b[^\n]{0,120}?\s-p[ ]{0,2}" + _QUOTE + r"(?P<s>[^\s\"'`-][^\s\"'`]{4,200})", PASSWORD),
    _place("password", r"\bm(?:ysql|ariadb)(?:\w{2,10})?\b[^\n]{0,200}?\s[\"']?-p" + _QUOTE + r"(?P<s>[^\s\"'`]{4,200})", "url"),
    _place("password", r"\b(?:redis-cli\b[^\n]{0,200}?\s(?:-a|--pass)|mongo(?:sh|dump|restore|import|export)?\b[^\n]{0,200}?\s-p|ldap(?:search|modify|add|passwd|whoami)\b[^\n]{0,200}?\s-w|htpasswd\s{1,4}-\w{0,4}b\w{0,4}\s{1,4}\S{1,100}\s{1,4}\S{1,80})[ =]{1,3}" + _QUOTE + r"(?P<s>[^\s\"'`-][^\s\"'`]{3,200})", "url"),
    _place("password", r"\b(?:7z\w?|zip|unzip|rar)\b[^\n]{0,120}?\s-p\s?" + _QUOTE + r"(?P<s>[^\s\"'`-][^\s\"'`]{4,200})", PASSWORD),
    _place("password", r"\s(?:-U|--user)[ =]" + _QUOTE + r"[\w.\\/-]{1,80}%(?P<s>[^\s\"'`%]{4,200})", "url"),
    _place("password", r"\s--(?:password|passwd|passphrase)=" + _QUOTE + r"(?P<s>[^\s\"'`$<{]{4,200})", PASSWORD),
    _place("cookie", r"\bcurl\b[^\n]{0,400}?\s(?:-b|--cookie)[ =]{1,2}" + _QUOTE + r"(?P<s>[\w.%-]{1,80}=[^\n\"'`]{4,4000})", "cookie"),
    _place("password", r"\bConvertTo-SecureString(?:\s{1,4}-(?:String|Force|AsPlainText))*\s{1,4}" + _QUOTE + r"(?P<s>[^\s\"'`\\$(-][^\s\"'`\\]{3,200})"),
    _place("password", r"\b(?:create|alter|grant|user)\b[^\n;]{0,160}?\bidentified\s{1,4}(?:with\s{1,4}[`'\"]?\w{1,40}[`'\"]?\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?" + _QUOTE + r"(?P<s>[^\s\"'`;\\][^\s\"'`;\\]{3,200})", "url"),
    _place("password", r"\b(?:create|alter)\s{1,4}(?:user|role|login)\b[^\n;]{0,200}?\bpassword\s{1,4}" + _QUOTE + r"(?P<s>[^\s\"'`;\\=][^\s\"'`;\\]{3,200})", "url"),
)  # fmt: skip

_EMPTY_PASSWORDS = re.compile(
    r"(?:password|passwd|pass|pw|pwd|token|user|\*{1,40}|x{2,40}|\.{3}|your.*|<.*|%[A-Za-z_]+%|%s|\{.*|\$\{?\w.*|\[redacted.*|\d{1,5}(?:/.*)?)",
    re.IGNORECASE,
)


@cache
def automata() -> tuple[Automaton, ...]:
    """Places on their own, and command lines: those reach far, over other places."""
    return (
        Automaton(PLACES, case_sensitive=False),
        Automaton(COMMANDS, case_sensitive=False),
    )


def find_places(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield the secrets in known places."""
    for automaton in automata():
        for rule, match in automaton.matches(text, plain, meter):
            if _is_secret(match["s"], rule.kind):
                yield Span(*match.span("s"), rule.name)


_COOKIES = re.compile(r"[=;, ]+")


def _is_secret(value: str, kind: str) -> bool:
    if "[redacted" in value:
        return False
    if kind == "cookie":
        return any(is_telling(one) for one in _COOKIES.split(value))
    if kind == "url":
        return not _EMPTY_PASSWORDS.fullmatch(value)
    return not kind or is_secret(value, kind, quoted=True)
