"""Whether the user asked for just what was found: who says "delete the old folder" need not be warned.

A request is a verb at the head of a clause with its object, and the object has to be what the call does it to: "add an
undo button" asks for no `git reset`, "remove the debug output in src" for no `rm -r src`. Who names the command itself
asks for it wherever the name stands.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from vector_memory.observe.commands import findings
from vector_memory.observe.commands.findings import Finding
from vector_memory.observe.intent.grammar import PATTERNS, VERB_CONTEXT, VERBS
from vector_memory.observe.intent.limits import LONGEST_SENTENCE
from vector_memory.text import tables
from vector_memory.text.words import clauses_in

MOST_PROMPTS = 4
_NEGATED = (
    "don't", "dont", "do not", "never", "without", "avoid", "must not", "shouldn't", "shouldnt", "no",
)  # fmt: skip
_FOLDER = os.path.dirname(__file__)
_WORDS = tables.sets("requests", _FOLDER)
_CLAUSE_END = re.compile(r"[:，、；：]|,(?!\s*(?:bitte\s+)?nicht\W*$)|\s(?:sondern|sino)\s")
"""A comma before "bitte nicht" alone ends none."""
MOST_BEFORE = 80
"""Characters of a clause before a command, in which it may be denied."""
_AROUND = ".,:;!?()\"'`*_"
_DELETING = (
    "delete|remove|drop|clean|empty|wipe|discard|clear|purge|get|erase|reset|destroy|tear|throw|undo|uninstall|prune|rm"
    "|lösche?|entferne?"
)
_READING = (
    "show|print|cat|read|open|look|have|check|see|use|load|source|display|view|inspect|get|tell|update|edit|add|set|put|fill"
    "|compare|dump|list|fix|change|copy|extract|take|grep|find|search|verify|validate|parse|debug|write|rename|replace"
    "|review|explain|decrypt|what|which|is|are|does|has|where|zeig|lies|prüfe?"
)
"""Verbs and questions of a user who wants a file of secrets read; to leave it alone is none of these."""
_NO_NAMES = frozenset(
    {"git", "push", "origin", "upstream", "https:", "com", "org", "raw", "install"}
)
_BY_NAME = frozenset(
    {findings.DELETE, findings.OVERWRITE, findings.DATA, findings.INFRASTRUCTURE, findings.PROCESSES,
     findings.CREDENTIALS}
)  # fmt: skip
"""What must be named where the call names something. What stands behind "in" or "from" is not what they take away."""
_REFS = (findings.HISTORY, findings.FORCE_PUSH)


class _RequestRule(NamedTuple):
    """A line of the table: how calls of a category are asked for."""

    category: str
    call: re.Pattern[str]
    request: re.Pattern[str]
    verbs: tuple[str, ...]
    objects: frozenset[str]


def _read_rule(line: str) -> _RequestRule:
    line = line.replace("DELETE", _DELETING).replace("READ", _READING)
    category, call, name, verbs, objects = line.split("\t")
    expression = rf"(?<![\w-])(?:(?P<name>{name})|(?:{verbs})(?P<done>\w?e?d)?(?![\w-]))"
    object_words = frozenset(objects.split("|"))
    return _RequestRule(
        category, re.compile(call), re.compile(expression), tuple(verbs.split("|")), object_words
    )


_RULES = [_read_rule(line) for line in tables.lines("asked_for", _FOLDER)]


def is_asked(finding: Finding, prompts: Sequence[str]) -> bool:
    """Whether one of the last prompts asks for what was found: by its command, or by a verb whose object it is."""
    call = finding.why if finding.category == findings.CREDENTIALS else finding.words
    fitting = [
        rule for rule in _RULES if rule.category == finding.category and rule.call.search(call)
    ]
    rules = [rule for rule in fitting if rule.call.pattern == fitting[0].call.pattern]
    last_prompts = [prompt[:4_000].lower() for prompt in prompts[-MOST_PROMPTS:]]
    return any(_asks(prompt, rule, finding) for prompt in last_prompts for rule in rules)


def _asks(prompt: str, rule: _RequestRule, finding: Finding) -> bool:
    halves = (clauses_in(half, ".!?;") for half in prompt.split(" but "))
    parts = [part[:LONGEST_SENTENCE] for half in halves for part in half]
    names, command = _names(rule, finding.target.lower()), finding.words.lower()
    levels = [level for name in names for level in name.split("/")]
    if any(_is_negated(part) and _names_any(levels, part.split()) for part in parts):
        return False
    for before, part in zip(["", *parts], parts, strict=False):
        command_matches = re.finditer(re.escape(command), part) if command else ()
        mentions = [match for match in command_matches if not _is_spoken_of(part, *match.span())]
        verb_mentions = [match for match in rule.request.finditer(part) if _is_request(rule, names, command, before, match)]  # fmt: skip
        is_requested = any(
            not _is_denied(part, *match.span()) for match in (*mentions, *verb_mentions)
        )
        if is_requested and not _is_negated(part):
            return True
    return False


def _is_request(
    rule: _RequestRule, names: Sequence[str], command: str, earlier: str, match: re.Match[str]
) -> bool:
    """Whether a verb is a request, or names the command, and its object is what the call does it to.

    Args:
        earlier: the sentence before its own, which says what "it" is.
    """
    before = match.string[: match.start()]
    is_named = match["name"] is not None
    if is_named and _is_spoken_of(match.string, *match.span()):
        return False
    is_done, is_called = before.endswith(" be "), before.endswith(command.partition(" ")[0] + " ")
    is_listed = VERB_CONTEXT["listed"].search(before)
    is_head = not is_listed and VERB_CONTEXT["asks"].search(before[-MOST_BEFORE:])
    if not (is_named or is_called or (is_head and is_done == (match["done"] is not None))):
        return False
    text = match.string if is_named else before if is_done else match.string[match.end() :]
    object_words = _object_words(text, () if is_named or is_done else _WORDS["end"])
    is_narrow = rule.category in _BY_NAME
    points_back = not _WORDS["back"].isdisjoint(object_words[:1])
    near = list(itertools.takewhile(lambda word: word not in _WORDS["place"], object_words))
    is_from = is_narrow and not is_named and rule.category != findings.CREDENTIALS
    words = f"{earlier} {before}".split() if points_back else near if is_from else object_words
    if _names_any(names, words, rule.category in _REFS):
        return True
    is_other = any(map(_is_name, object_words)) and (names or rule.category == findings.DISCARD)
    if is_other or (names and is_narrow):
        return False
    telling = [word for word in itertools.takewhile("and".__ne__, near) if _is_telling(word)]
    is_none = points_back or not (telling if is_narrow else object_words)
    is_bare = is_none and ("it" in rule.objects or (is_narrow and match[0] in command.split()))
    return is_named or is_bare or _ends_in_object(rule.objects, telling)


def _is_telling(word: str) -> bool:
    """Whether a word says what is meant, and is no version."""
    return word not in _WORDS["beside"] and not word.lstrip("v")[:1].isdigit()


def _ends_in_object(objects: Collection[str], object_words: Sequence[str]) -> bool:
    """Whether the last word of an object, or its last two, are one of these, be it in the plural."""
    ends = {" ".join(object_words[-count:]) for count in (1, 2)}
    return any(end.removesuffix(plural) in objects for end in ends for plural in ("", "s", "es", "en"))  # fmt: skip


def _is_spoken_of(sentence: str, start: int, end: int) -> bool:
    """Whether a sentence asks about a command there, or its clause says that it is barred, rather than asking for it."""
    is_question = sentence.rstrip().endswith("?") and not PATTERNS["asking"].search(sentence)
    clause = sentence[:start].rpartition(",")[2] + sentence[start:end] + sentence[end:].partition(",")[0]  # fmt: skip
    is_barred = not _WORDS["barred"].isdisjoint(clause.strip(".! ").split())
    return is_question or is_barred or " off limits" in clause


def _object_words(text: str, ends: Collection[str]) -> list[str]:
    """Return the words of an object: up to a word that ends it or to the next verb of a row, and without words at its
    head that name nothing: "all of the files"."""
    words = [word.strip(_AROUND + "/") for word in text.replace(",", " and ").split()]
    pairs = zip(words, [*words[1:], ""], strict=False)
    kept_words = [word for word, _ in itertools.takewhile(lambda pair: not _is_end(*pair, ends), pairs) if word]  # fmt: skip
    return list(itertools.dropwhile(_WORDS["whole"].__contains__, kept_words)) or kept_words[-1:]


def _is_end(word: str, following: str, ends: Collection[str]) -> bool:
    is_row = word in ("and", "then") and VERBS.get(following, ("", ""))[1] == following
    return bool(ends) and (word in ends or is_row)


def _is_name(word: str) -> bool:
    """Whether a word is a name by its signs."""
    return word in ("main", "master", "develop") or any(sign in "/._~" or sign.isdigit() for sign in word)  # fmt: skip


def _names(rule: _RequestRule, target: str) -> list[str]:
    """Return the names of what a call does something to: behind the verb, where its words hold one."""
    if target[:1] == "/" or "://" in target.partition(" ")[0]:
        words = (
            target.replace(".", "/").split("/")[2:]
            if target[:1] != "/"
            else [target.rstrip("/").rpartition("/")[2]]
        )
    else:
        words = target.split()
        verb_places = [place for place, word in enumerate(words) if any(part.startswith(rule.verbs) for part in word.split(":"))]  # fmt: skip
        words = words[max(verb_places, default=-1) + 1 :]
    words = [word.lstrip("+:@").strip(_AROUND) for word in words]
    return [
        word for word in words if len(word) > 1 and word not in _NO_NAMES and word[:4] != "head"
    ]


def _names_any(names: Sequence[str], text_words: Collection[str], needs_all: bool = False) -> bool:
    """Whether words name one of these, or all."""
    words = {word.strip(_AROUND + "/") for word in text_words}
    words |= {word.rpartition("/")[2] for word in words}
    are_named = [name in words or name.rpartition("/")[2] in words for name in names]
    return bool(are_named) and (all(are_named) if needs_all else any(are_named))


def _is_negated(sentence: str) -> bool:
    words = [word.strip(_AROUND) for word in sentence.replace("\u2019", "'").split()]
    text = f" {' '.join(words)} "
    parts = (text.split(f" {denial} ") for denial in _NEGATED if denial != "no")
    pairs = itertools.chain.from_iterable(itertools.pairwise(pieces) for pieces in parts)
    return "no" in words or any(not _forbids_nothing(*pair) for pair in pairs)


def _forbids_nothing(before: str, after_denial: str) -> bool:
    """Whether a "not" says that its speaker needs a thing no more, or minds nothing, which forbids nothing: "I don't need
    it", "we don't need legacy any more". "You don't need to force-push" forbids."""
    verb, next_word = (*after_denial.split(), "", "")[:2]
    is_of_thing = (
        next_word in _WORDS["back"] or " any more" in after_denial or " anymore" in after_denial
    )
    needs_nothing = verb in ("care", "mind") or (
        verb == "need" and next_word != "to" and is_of_thing
    )
    return before.split()[-1:] in (["i"], ["we"]) and needs_nothing


def _is_denied(sentence: str, start: int, end: int) -> bool:
    """Whether a command there is denied in another language, within its clause: others may have a "not" of their own."""
    before, after = _CLAUSE_END.split(sentence[:start])[-1], _CLAUSE_END.split(sentence[end:])[0]
    is_denied_before = VERB_CONTEXT["before"].search(before[-MOST_BEFORE:]) is not None
    return is_denied_before or VERB_CONTEXT["after"].search(after) is not None
