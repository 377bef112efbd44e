"""Rules that users write in plain Markdown, read and understood.

Under a heading about privacy each list item is one: a pattern (`/…/`, `/…/i` or in backticks), a term (in
quotes or plain), the name of a category, which may name terms after a colon, or a sentence that asks not to
store something. Under a heading about memory sentences alone are; elsewhere those that say "remember" or
"memory". What cannot be understood is told, and never taken for a phrase that nobody writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.redact import categories, unwanted
from vector_memory.redact.rules import Rules, UserRule
from vector_memory.redact.spoken_passwords import FAR_EAST
from vector_memory.text import tables
from vector_memory.text.headings import lines_below
from vector_memory.text.statements import ITEM_HEAD
from vector_memory.text.words import sentences_in, words_in

_WORDS = tables.sets("privacy_words")
_CLAUSE, _GENERIC, _DENIES = _WORDS["clause"], _WORDS["generic"], _WORDS["denies"]
_ABOUT = re.compile(
    r"(?P<privacy>^[^\w#]{0,4}\s*(?:privacy|redact(?:ion|ed|s)?|sensitive (?:data|information)|"
    r"confidential(?:ity)?|(?:never|do not|don't) (?:remember|store|record|save))\b)"
    r"|\b(?:memor(?:y|ies)|remember\w*|privacy)\b",
    re.IGNORECASE,
)
"""What a heading says that is about privacy, or about memory."""
_HEADINGS = frozenset(tables.sections("privacy_words")["headings"])
"""What it says in other languages, where it says no more: "Datenschutzerklärung" is a page that somebody builds."""
_SLASHED = re.compile(r"(?:^|(?<=\s))/((?:[^/\\\n]|\\.)+)/([a-z]*)(?=$|[\s,;.])")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_CATEGORY = re.compile(
    r"^(?:any |all |my |our |the )*([\w -]{2,40}?)(?:\s*[:(–—]\s*|\s+-\s+)(.+?)\)?\.?$",
    re.IGNORECASE,
)
_COMMA = re.compile(
    r"[,;](?!\s*(?:Inc|Ltd|LLC|GmbH|Corp|Co)\b)\s*(?:(?:and|or)\s+)?", re.IGNORECASE
)
_NAME = re.compile(r"[^\W\d_]*(?:[A-ZÀ-Þ]|\d)[\w&.'-]*")
LONGEST_TERM = 120
SHORTEST_TERM = 2
MOST_WORDS = 4
ELSEWHERE, MEMORY, PRIVACY = range(3)
"""What a section is about."""
Found = list[UserRule]


def parse(markdown: str, path: str, binding: bool = False) -> Rules:
    """Return the rules that a Markdown text has.

    Args:
        path: the file, for problems.
        binding: the file is the user's own.
    """
    rules: dict[tuple[str, str], UserRule] = {}
    problems: list[str] = []
    for number, item, section in _items(markdown):
        try:
            for rule in understood(item, section, problems, f"{path}:{number}"):
                rule.line, rule.item = number, item
                rules.setdefault((rule.name, rule.pattern), rule)
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")
    return Rules(tuple(rules.values()), problems, path, binding)


def _items(markdown: str) -> Iterator[tuple[int, str, int]]:
    """Yield list items and lines with their lines' numbers and what their section is about."""
    for number, line, section in lines_below(markdown, _about):
        if head := ITEM_HEAD.match(line):
            yield number, line[head.end() :].strip(), section
        elif line.strip():
            # A sentence between lists counts; what is no sentence of the kind is mere prose.
            yield number, line.strip(), min(section, MEMORY)


def _about(title: str) -> int:
    words = [place for place, char in enumerate(title) if char.isalnum()]
    if words and title[words[0] : words[-1] + 1].lower() in _HEADINGS:
        return PRIVACY
    match = _ABOUT.search(title)
    return ELSEWHERE if match is None else PRIVACY if match["privacy"] else MEMORY


def understood(item: str, section: int, problems: list[str], place: str) -> Found:
    """Return the rules that an item makes, none where it asks for nothing.

    Args:
        section: what its section is about.
        problems: gets what of it is not understood though the rest is.

    Raises:
        ValueError: it is a rule and cannot be understood.
    """
    wishes_found = [
        (sentence, wish)
        for sentence in sentences_in(item)
        if (section or unwanted.is_plain(sentence)) and (wish := unwanted.wish_of(sentence))
    ]
    if not wishes_found:
        plain = item.replace("**", "").strip(" *_")
        return _item(plain, problems, place) if section == PRIVACY else []
    rules: Found = []
    for sentence, wish in wishes_found:
        pattern_rules = _literal_rules(sentence)
        if pattern_rules:
            rules += pattern_rules
            continue
        parts = [_matter(matter, wish.about) for matter in wish.matters]
        rules += [rule for part in parts for rule in part or ()]
        unclear = [words for words, part in zip(wish.matters, parts, strict=True) if part is None]
        if unclear or not wish.matters:
            problems.append(f"{place}: {_unclear(', '.join(unclear) or sentence)}")
    return rules


def _unclear(words: str) -> str:
    return f"not understood: {words[:60]!r}; name it in quotes, as a /pattern/ or by a category"


def _item(item: str, problems: list[str], place: str) -> Found:
    """Return the rules of an item under a heading about privacy that is no sentence. `problems` gets one that may be a
    sentence in another language than English, whose words are a term all the same."""
    if category := _category(item):
        return category
    if pattern_rules := _literal_rules(item):
        return pattern_rules
    if names := _listed(item.rstrip(".")):
        return [_term("rule", name) for name in names]
    wish = unwanted.asked_of(item)
    words = item.split()
    about = wish.about or item.lower().startswith(("my ", "our "))
    if about or categories.sensitive_word(item) and len(words) <= MOST_WORDS:
        parts = [_matter(matter, about or None) for matter in wish.matters]
        if wish.matters and None not in parts:
            return [rule for part in parts for rule in part or ()]
        raise ValueError(_unclear(item))
    _require_length(item)
    plain = item.rstrip(".!")
    described = _is_described(plain) or len(words) > MOST_WORDS
    # What a sentence begins with has a capital, as "I" has, whatever it is.
    names = [word for word in words[1:] if _is_name(word) and not re.match(r"I\b", word)]
    if described and len(names) < 2 and len(words) > 1:
        raise ValueError(_unclear(item))
    if _says_no(item) and not all(_is_name(word) and max(word) < FAR_EAST for word in words):
        # Nobody writes a sentence again word for word; a name may have such a word in it, too.
        problems.append(f"{place}: {_unclear(item)}")
    return [_term("rule", plain)]


def _says_no(item: str) -> bool:
    """Whether an item says no in another language than English; where no blank parts words, its end does."""
    is_glued = any(
        word in item for word in _DENIES if not word[0].isascii() and word[0] >= FAR_EAST
    )
    return is_glued or not _DENIES.isdisjoint(words_in(item.lower()))


def _listed(item: str) -> list[str]:
    """Return the names of a list ("Acme, Initech"), or behind a label ("customers: Acme"); [] where more is said."""
    label, _, named = item.rpartition(": ")
    parts = _COMMA.split(named.strip())
    are_names = all(part and all(map(_is_name, part.split())) for part in parts)
    return parts if are_names and (len(parts) > 1 or label) else []


def _is_name(word: str) -> bool:
    return _NAME.fullmatch(word.strip("(),;:.")) is not None


def _literal_rules(item: str) -> Found:
    """Return the rules of the patterns, or else of the quoted terms, in an item."""
    slashed = [_with_flags(match[1], match[2]) for match in _SLASHED.finditer(item)]
    patterns = slashed + [words for words in item.split("`")[1:-1:2] if words]
    if patterns:
        return [UserRule("rule", pattern, f"the pattern {pattern}") for pattern in patterns]
    return [_term("rule", "".join(groups)) for groups in _QUOTED.findall(item)]


def _category(words: str) -> Found:
    """Return the rules of a category that is named, with the terms after its colon."""
    bare = words.rstrip(".")
    list_match = _CATEGORY.match(bare)
    bare_name = re.sub(r"^(?:any |all |my |our |the )+", "", bare, flags=re.IGNORECASE)
    name = categories.category_of(bare_name)
    terms: list[str] = []
    if not name and list_match and (name := categories.category_of(list_match[1].strip())):
        terms = [term.strip(" \"'`“”.") for term in re.split(r"[,;]", list_match[2])]
    if not name:
        return []
    category, meaning = categories.CATEGORIES[name], f"the category {name}"
    patterns = category.patterns or ("",)
    rules = [UserRule(name, pattern, meaning, category.example) for pattern in patterns]
    return [*rules, *(_term(name, term) for term in terms if term)]


def _matter(words: str, about: bool | None) -> Found | None:
    """Return the rules of one matter that is not to be stored; None where it names none.

    Args:
        about: whether whole sentences are meant; None where its word tells.
    """
    if category := _category(words):
        return category
    if sensitive := categories.sensitive_word(words):
        return [_matter_rule(sensitive)]
    if employer := re.search(r"\b(?:employer|company)\b", words, re.IGNORECASE):
        return _category(employer[0])
    names = _names(words)
    if names and _singular(words.lower()) not in _GENERIC:
        return [_matter_rule(name) if about else _term("rule", name) for name in names]
    if not words or _is_described(words) or len(words.split()) > 3:
        return None
    return [_matter_rule(words)]


def _is_described(words: str) -> bool:
    """Whether words are part of a sentence, or only say what sort of thing is meant."""
    row = words_in(words)
    return not _CLAUSE.isdisjoint(row) or not _GENERIC.isdisjoint(map(_singular, row))


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _names(words: str) -> list[str]:
    """Return the names in some words: neighbours that have capitals or digits."""
    names: list[list[str]] = []
    follows = False
    for word in words.split():
        is_name = bool(_NAME.fullmatch(word.strip("(),;:.!?\"'")))
        if is_name and follows:
            names[-1].append(word)
        elif is_name:
            names.append([word])
        follows = is_name
    return [" ".join(name).strip("(),;:!?\"'.") for name in names]


def _matter_rule(words: str) -> UserRule:
    _require_length(words)
    meaning = f"every sentence with “{words}”"
    return UserRule("rule", categories.matter(words), meaning, f"Something about {words}")


def _term(name: str, words: str) -> UserRule:
    words = words.strip()
    _require_length(words)
    return UserRule(name, categories.term(words), f"the words “{words}”", words)


def _require_length(words: str) -> None:
    if not SHORTEST_TERM <= len(words) <= LONGEST_TERM:
        raise ValueError(f"a term has {SHORTEST_TERM} to {LONGEST_TERM} characters: {words[:40]!r}")


def _with_flags(pattern: str, flags: str) -> str:
    if set(flags) - set("imsgu"):
        raise ValueError(f"unknown flags {flags!r}: only i, m and s are known")
    known_flags = "".join(flag for flag in "ims" if flag in flags)
    return (f"(?{known_flags})" if known_flags else "") + pattern.replace(r"\/", "/")
