"""What a sentence asks to keep out of memory: a negated verb of storing, and what it is about.

"Never store anything about my salary", "Keep Heron out of memory", "Globex must not be remembered": the
structure is looked for, whatever the words around it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Wish(NamedTuple):
    """What is not to be stored: in the user's words, each matter by itself; whether all that is said
    about it is meant, rather than the words alone."""

    matters: tuple[str, ...]
    about: bool


_VERB = (
    r"(?:remember|memori[sz]e?|stor(?:e|ing)|sav(?:e|ing)|record|keep|log(?:g)?|persist|captur(?:e|ing)|retain|"
    r"index|not(?:e|ing)|mention|shar(?:e|ing)|repeat|collect|archiv(?:e|ing)|hold(?:ing)? on to|"
    r"writ(?:e|ing) down|tak(?:e|ing) notes?)(?:s|ing|d|ed)?"
)
_DONE = (
    r"(?:remembered|memori[sz]ed|stored|saved|recorded|kept|logged|persisted|captured|retained|indexed|"
    r"noted|mentioned|shared|written down|put in memory|in memory)"
)
_NOT = (
    r"(?:never|(?:do|does|must|should|may|can|shall|will|would)(?:n't| not)|cannot|avoid|refrain from|stop|"
    r"under no circumstances|forbidden|prohibited|not allowed|no need)"
)
_FILLING = r"(?:,?\s(?:you|ever|dare|under any circumstances|want|to|even|please|just|automatically|try|never))*,?"
_MEMORY = r"(?:(?:the|your|its|any|my|long-term|vector)\s)*memor(?:y|ies)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_NOT}{_FILLING}\s(?:put|add|writ|enter|bring|includ)\w*\s(?P<what>.+?)\s(?:in|into|to)\s{_MEMORY}",
        rf"\b{_NOT}{_FILLING}\scommit\w*\sto\s{_MEMORY}\s(?P<what>.+)",
        rf"\b{_NOT}{_FILLING}\slet\s(?P<what>.+?)\s(?:get|go|come|end up|land|be|slip)\b.*\bmemor(?:y|ies)",
        rf"\bmemor(?:y|ies)\s(?:{_NOT}|must never|should never|may never|can never){_FILLING}\s(?:contain|hold|include|know|have)\w*\s(?P<what>.+)",
        rf"\bdo(?:n't| not)\swant\s(?!you\b)(?P<what>.+?)\s(?:to be\s)?{_DONE}\b",
        rf"^(?P<what>(?:nothing|no)\s.+?)\s(?:may|must|should|can|shall|will|is to|are to)\s(?:ever\s)?be\s{_DONE}\b",
        rf"^(?P<what>.+?)\s(?:(?:must|should|may|can|shall|will|is|are)(?:n't|\snot|\snever)|cannot)(?:\sever)?(?:\sto)?(?:\sbe)?\s{_DONE}\b",
        rf"^(?P<before>.*?)\b{_NOT}{_FILLING}\s{_VERB}(?:(?:,|\sor|\sand|,\sor)+\s{_VERB})*(?:\s(?:about|of|on|that))?\b[:,]?\s?(?P<what>.*)$",
        r"\b(?:keep|leave|hold)\s(?P<what>.+?)\sout of\b",
        r"^(?:please\s)?(?:exclude|omit)\s(?P<what>.+)",
        r"^(?:please\s)?forget\s(?P<what>(?:everything|anything|all|whatever)\b.+)",
    )
)
_STRONG = re.compile(
    rf"\bmemor(?:y|ies|i[sz]e)\b|(?<!\bI )\b(?:{_NOT}{_FILLING}\sremember(?:ing)?\b|be remembered)",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"^(?!{_NOT})(?:\w+(?:\s\w+)?:\s+)(?=\S)", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_TAIL = re.compile(
    rf"(?:;|,?\s(?:since|because|as|unless|even|so|when|while|whenever|again)\b|,\s(?:it|they|this)\b|\s[–—-]\s|"
    rf"\s(?:with|to)\s(?:anyone|anybody|others?)\b|\s(?:in|into|from|to)\s{_MEMORY}|\sfor later\b|\sanywhere\b).*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:(?:any|all|every|some|no|the|a|an|my|our|your|personal|private)\s)*"
    r"(?:(?:any|every|some|no)thing|nothing|things?|stuff|all|information|info|details?|data|facts?|notes?|records?|conversations?|"
    r"memor(?:y|ies)|whatever|what(?:ever)? is)(?:\s(?:at all|that is|which is|we say|i say))*\s"
    r"(?:about|of|on|in|with|regarding|concerning|(?:that |which )?(?:mentions?|mentioning|involv\w+|concerns?)|relat\w+ to|to do with)\s"
    r"|^(?:about|regarding|concerning|that mentions)\s",
    re.IGNORECASE,
)
_DETERMINERS = re.compile(
    r"^(?:(?:the|my|our|your|his|her|their|any|all|an?|this|these|following|who|what|where|current|own|called|named|"
    r"(?:code ?)?name|names?\sof|word|term|phrase)\b:?\s*)+",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|;|\bor\b|\band\b|\bnor\b|&(?=\s))\s*", re.IGNORECASE)
_IT = frozenset({"", "it", "this", "that", "them", "any of it"})


def wish_of(sentence: str) -> Wish | None:
    """Return what a sentence asks not to store, None where it asks for nothing of the kind."""
    sentence = _plain(sentence)
    for form in _FORMS:
        if hit := form.search(sentence):
            matter = hit["what"]
            before = hit.groupdict().get("before") or ""
            if _TAIL.sub("", matter).strip(" ,.!").lower() in _IT:
                matter = before.strip(" ,")
                matter = "about" + matter.rpartition(" about")[2] if " about " in matter else ""
            return asked_of(matter)
    return None


def asked_of(matter: str) -> Wish:
    """Return the matters that the object of such a sentence, or an item of a list, names."""
    matter = _TAIL.sub("", " " + matter.strip(" ,.!:")).strip(" ,.!:")
    shorter, about = matter, False
    while True:
        shortened = _ABOUT.sub("", shorter)
        if shortened == shorter:
            break
        shorter, about = shortened, True
    parts = (_DETERMINERS.sub("", part.strip()).strip(" .!:") for part in _AND.split(shorter))
    return Wish(tuple(part for part in parts if part), about)


def is_plain(sentence: str) -> bool:
    """Whether a sentence speaks of memory or of remembering, so that it is meant wherever it stands."""
    return bool(_STRONG.search(_plain(sentence)))


def _plain(sentence: str) -> str:
    """Return a sentence without emphasis, labels and asides."""
    sentence = _ASIDE.sub("", sentence.replace("’", "'"))
    sentence = re.sub(r"[*_]{1,3}(?=\w)|(?<=[\w.!])[*_]{1,3}", "", sentence)
    return " ".join(_LABEL.sub("", sentence.strip()).split())
