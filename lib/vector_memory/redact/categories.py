"""What a category of private matters takes out, and the pattern of whatever is said of one matter."""

from __future__ import annotations

import re

import re2

from vector_memory.redact.personal import KINDS

REST = r"(?:[^.!?\n]|[.!?][^\s])*"
"""The rest of a sentence: a point within a number ends none."""
_MONEY = (
    r"salar(?:y|ies)|wages?|incomes?|revenues?|turnover|profits?|budgets?|invoices?|account balance|"
    r"net worth|bonus(?:es)?|loans?|mortgages?|debts?"
)
_ILLNESS = (
    r"diagnos(?:is|es|ed)|medications?|prescri(?:bed|ptions?)|therap(?:y|ies|ists?)|symptoms?|illness(?:es)?|"
    r"diseases?|disorders?|surger(?:y|ies)|pregnan(?:t|cy)|depress(?:ed|ion)|anxiety|cancer|diabetes|hiv|"
    r"blood pressure|sick leave|disabilit(?:y|ies)|allerg(?:y|ic|ies)"
)
CATEGORIES: dict[str, tuple[str, ...]] = {
    # The rules that are always on are about credentials; said so, values of weak names go too.
    "credentials": (
        r"(?i)\b(?:password|passphrase|passcode|pin|token|secret|api[ _-]?key|login|credentials?)\b[\"']?(?:\s{1,2}(?:is|was)|\s?[:=])\s{0,3}[^\s,;]{3,200}",
    ),
    "employer": (
        r"\b(?:[Ee]mployer|[Cc]ompany|[Ww]ork(?:s|ed|ing)? (?:at|for)|[Ee]mployed (?:at|by))(?: is| was|:)? {0,2}[A-Z][\w&.-]{1,40}(?: (?:[A-Z][\w&.-]{1,40}|GmbH|AG|Inc|Ltd|LLC|&)){0,4}",
    ),
    "personal": (
        r"(?i)\b(?:born (?:on|in)|date of birth|birthday|dob)\b[^\n.]{0,12}?\d[\d./ -]{3,12}|\b(?:my|his|her|their|home|postal) address\b[^\n]*|\bpassport\b[^\n\d]{0,20}[A-Z0-9]{6,12}\b",
    ),
    "financial": (
        rf"(?i)\b(?:{_MONEY})\b{REST}",
        r"(?i)\b(?:account|routing|sort code|bic|swift)\b(?: number| no\.?|#)?[:= ]{1,3}[A-Z0-9-]{6,34}\b",
    ),
    "health": (rf"(?i)\b(?:{_ILLNESS})\b{REST}",),
}  # fmt: skip
PERSONAL_OF = {
    "personal": ("email", "phone", "ssn", "card", "iban"),
    "financial": ("card", "iban"),
    **{kind: (kind,) for kind in KINDS},
}
"""What a category finds by its form beside its words; such a kind may be named by itself."""
EXAMPLES = {
    "credentials": "the pin is 4711",
    "employer": "I work for Globex",
    "personal": "date of birth: 1.2.1990",
    "financial": "my salary is 50,000",
    "health": "diagnosed with flu",
    "card": "4111 1111 1111 1111",
    "ssn": "123-45-6789",
    "iban": "DE89 3704 0044 0532 0130 00",
    "email": "a@example.org",
    "phone": "+1 212 555 0187",
}
_NAMED = re.compile(
    r"(?P<credentials>credentials?|secrets?|passwords?|tokens?|logins?)|(?P<employer>employer|company)|(?P<personal>personal)|"
    r"(?P<financial>financial|finances?|money)|(?P<health>health|medical)|(?P<email>e-?mails?)|(?P<phone>(?:tele)?phone)|"
    r"(?P<card>(?:credit |payment )?cards?)|(?P<iban>ibans?|bank accounts?)|(?P<ssn>ssns?|social security)",
    re.IGNORECASE,
)
_OF_ANY = re.compile(
    r"(?:[ -](?:data|details|info|information|names?|records?|matters|addresses|address|numbers?))*$",
    re.IGNORECASE,
)
_SENSITIVE = re.compile(rf"\b(?:{_MONEY}|{_ILLNESS}|birthdays?)\b", re.IGNORECASE)


def category_of(words: str) -> str:
    """Return the category, or the kind of personal data, that some words name; "" for none."""
    named = _NAMED.match(words)
    return str(named.lastgroup) if named and _OF_ANY.match(words, named.end()) else ""


def sensitive_word(words: str) -> str:
    """Return what of some words a category looks for, "" for nothing."""
    word = _SENSITIVE.search(words)
    return word[0] if word else ""


def term(words: str) -> str:
    """Return the pattern of a term: whatever its case, as whole words."""
    head = r"\b" if words[0].isascii() and words[0].isalnum() else ""
    tail = r"\b" if words[-1].isascii() and words[-1].isalnum() else ""
    spaced = r"\s{1,4}".join(re2.escape(word) for word in words.split())
    return f"(?i){head}{spaced}{tail}"


def matter(words: str) -> str:
    """Return the pattern of every sentence in which something is mentioned, in singular or plural."""
    if words.lower() in ("address", "addresses"):
        return CATEGORIES["personal"][0]
    spaced = r"\s{1,4}".join(re2.escape(word) for word in words.split()[:-1])
    last = _inflected(words.split()[-1])
    whole = rf"{spaced}\s{{1,4}}{last}" if spaced else last
    head = r"\b" if words[0].isascii() and words[0].isalnum() else ""
    tail = r"\b" if words[-1].isascii() and words[-1].isalnum() else ""
    return rf"(?i)(?:[^\s.!?]{REST})?{head}{whole}{tail}{REST}"


def _inflected(word: str) -> str:
    for ending, rest in (
        ("ies", "(?:y|ies)"),
        ("y", "(?:y|ies)"),
        ("ss", "ss(?:es)?"),
        ("s", "s?"),
    ):
        if len(word) > len(ending) + 2 and word.lower().endswith(ending):
            return f"{re2.escape(word[: -len(ending)])}{rest}"
    return f"{re2.escape(word)}(?:s|es)?"
