"""Words by which a text says outright that it replaces another: "instead of", "no longer", "changed
from … to …"."""

from __future__ import annotations

import re
from typing import NamedTuple

from vector_memory.text import analysis, tables

LEAST_SHARED = 0.6
"""The share of the words about the subject that both texts must have in common."""
ALONE_COSINE = 0.75
"""How near the texts must be where a sign says nothing of its subject: "Use pnpm instead of npm."."""
LEAST_COSINE = 0.5

Terms = frozenset[str]


class Change(NamedTuple):
    """What a text says has changed, as terms: what is `gone`, what came (`new`, empty where nothing
    did), and what it is `about`. `wording` is the sign itself."""

    gone: Terms
    new: Terms
    about: Terms
    wording: str


_CLAUSE = re.compile(
    r"[.;!?]\s+|\n+|\s+[\u2013\u2014-]\s+|,?\s+\b(?:because|since|so that|due to)\b"
)
_THING = r"((?:[^\s,;()]+\s+){0,3}?[^\s,;()]+)"
_END = (
    r"(?=[,;)]|[.!?]?\s*$|\s+(?:in|on|for|at|to|from|when|with|by|as|and|but|because|since|during"
    r"|everywhere|now|after|before|while|inside|across)\b)"
)
_NO_LONGER = re.compile(r"\b(?:no longer|(?:not )?any ?(?:more|longer))\b", re.IGNORECASE)
_CHANGES = (
    re.compile(
        r"\b(?:chang|switch|mov|migrat|renam|upgrad|downgrad|rais|lower|bump|increas|reduc|convert)"
        rf"(?:ed|es|e|ing|s)?\b(?P<about>[^.;]*?)\bfrom (?P<gone>{_THING}) (?:over )?to (?P<new>{_THING}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\breplac(?:ed|es|e|ing) (?P<gone>{_THING}) (?:with|by) (?P<new>{_THING}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<new>{_THING}) (?:(?:has|have) )?replac(?:ed|es) (?P<gone>{_THING}){_END}",
        re.IGNORECASE,
    ),
    re.compile(rf"\binstead of (?:the |an? )?(?P<gone>{_THING}){_END}", re.IGNORECASE),
)
_GRAMMAR = tables.sets("grammar")
_EMPTY_VERBS = frozenset(map(analysis.stem, _GRAMMAR["changing"]))


def changes(text: str) -> list[Change]:
    """Return what a text says has changed, one for each sign."""
    all_changes = []
    for clause in _CLAUSE.split(text):
        all_changes += [
            change
            for change in (_read_ending(clause), *_read_exchanges(clause))
            if change is not None
        ]
    return all_changes


def replaces(new: str, old: str, cosine: float | None = None) -> str:
    """Return the words by which a newer text says that it replaces an older one, "" where it does
    not say so, or may mean another thing."""
    if cosine is not None and cosine < LEAST_COSINE:
        return ""
    old_terms = terms_of(old) - _gone_terms(old)
    used_term = _used_term(old)
    for change in changes(new):
        if not change.gone or not change.gone <= old_terms:
            continue
        if change.new and change.new <= old_terms:
            continue
        is_of_all = not change.about and used_term in change.gone
        if not change.new or is_of_all or _same_subject(change, old_terms - change.gone, cosine):
            return change.wording
    return ""


def _gone_terms(text: str) -> Terms:
    """Return what an older text itself says is gone or not to be: it cannot be replaced again."""
    gone = frozenset(term for change in changes(text) for term in change.gone)
    denied = re.findall(
        r"(?:\bnot|\bnever|\brather than|\bover)\s+(?:the |an? )?(\S+)", text.lower()
    )
    return gone | frozenset(term for word in denied for term in analysis.analyse(word))


def _used_term(text: str) -> str:
    """Return what a text says is used by all: "Use yarn to install packages.", "" where it says more before."""
    terms = analysis.analyse(text)
    place = next((at for at, term in enumerate(terms) if term not in _EMPTY_VERBS), 0)
    return terms[place] if place else ""


def _same_subject(change: Change, remaining: Terms, cosine: float | None) -> bool:
    about, remaining = change.about - _EMPTY_VERBS, remaining - _EMPTY_VERBS
    if about and remaining:
        shared = len(about & remaining) / min(len(about), len(remaining))
        return shared >= LEAST_SHARED and not are_rivals(about, remaining)
    return not about and not remaining or (cosine is not None and cosine >= ALONE_COSINE)


def are_rivals(about: Terms, other: Terms) -> bool:
    """Whether two subjects are rivals, such as the staging and the production database."""
    return any(about & group - other and other & group - about for group in _RIVALS)


_RIVALS: tuple[Terms, ...] = tuple(
    frozenset(analysis.analyse(words)) for words in tables.sections("grammar")["rivals"]
)
"""Words, as terms, that name different things of one sort."""


def _read_ending(clause: str) -> Change | None:
    """Return what a clause says is no longer so. What stands behind a comma after the sign replaces it; where a
    single term ends, there must be such a replacement."""
    match = _NO_LONGER.search(clause)
    if match is None or clause.endswith("?") or clause.split()[0].lower() in _GRAMMAR["clauses"]:
        return None
    ended, _, replacement = clause[match.end() :].partition(",")
    gone = terms_of(clause[: match.start()] + " " + ended) - _EMPTY_VERBS
    if len(gone) > 1:
        return Change(gone, frozenset(), gone, match[0].lower())
    new = terms_of(replacement) - gone - _EMPTY_VERBS
    about = new if len(new) > 1 else frozenset[str]()
    return Change(gone, new, about, match[0].lower()) if new else None


def _read_exchanges(clause: str) -> list[Change]:
    exchanges = []
    for pattern in _CHANGES:
        for match in pattern.finditer(clause):
            groups, before = match.groupdict(), clause[: match.start()]
            gone, about = terms_of(groups["gone"]), terms_of(f"{before} {clause[match.end() :]}")
            if "new" in groups:
                new = terms_of(groups["new"]) - gone
                about |= terms_of(groups.get("about", ""))
            else:
                # "Use pnpm instead of npm": what came stands before the sign.
                new = terms_of(" ".join(before.split()[-1:])) - gone
                about -= new
            exchanges.append(Change(gone, new, about, match[0].strip()))
    return exchanges


def terms_of(text: str) -> Terms:
    """Return what a text says, as terms."""
    return frozenset(analysis.analyse(text))
