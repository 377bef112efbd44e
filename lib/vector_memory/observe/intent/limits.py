"""Limits that a user sets in words: an act that is ruled out, the things that it is ruled out for, and until when.

A clause is read by the kinds of its words (`limit_words.txt`): what negates, what keeps, what leaves all else out, acts,
things, and words that every request has. It sets a limit if it has a negation or a keeping, an act or a thing, and
nothing else before them: then it speaks to the agent, and of nobody else. What is not sure to be a limit is none:
questions, reports, quotations, pasted documents. Later prompts lift limits.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vector_memory.observe.intent.grammar import (
    ALIASES,
    NOUNS,
    PATTERNS,
    RUNS,
    THINGS,
    VERB_CONTEXT,
    VERBS,
    any_of,
)
from vector_memory.text import tables

EDIT, DELETE, MOVE, CREATE, READ, COMMIT, PUSH, REQUEST, INSTALL, RUN, NETWORK, DATABASE, BRANCH, HISTORY, MERGE = (
    "edit", "delete", "move", "create", "read", "commit", "push", "request", "install", "run", "network", "database",
    "branch", "history", "merge",
)  # fmt: skip
API, COMMENT, DO, DEED = "api", "comment", "do", "deed"
ANYTHING, CODE, PRODUCT, WRITE, FORCE = "*", "code", "production code", "write", "--force"
ON_FILES = frozenset({EDIT, DELETE, MOVE, READ})
MOST_SAID, MOST_CHARS, MOST_LIMITS, LONGEST_SENTENCE = 160, 6_000, 24, 600
MOST_NAMED = 12


class _Word(NamedTuple):
    """A word, or several that say one thing, of a clause, and its kind: a letter of `limit_words.txt`, "a" for an
    act, "t" for a thing, "x" for any other."""

    kind: str
    text: str
    start: int
    end: int


class _Context(NamedTuple):
    """What stands before a clause: the paths that "it" may mean, and the words."""

    paths: tuple[str, ...]
    earlier: str


class Limit(NamedTuple):
    """Something that is ruled out.

    Attributes:
        act: what must not be done.
        things: paths, branches, packages, commands that it must not be done to; () for whatever it be.
        sentence: the user's own, shortened.
        is_only: whether it is ruled out for all but these things.
        waits: whether it is ruled out until the user says so.
        is_alone: whether its prompt gives no order beside it: nothing is to be done, wherever it be.
        spares_new: whether it is ruled out only for what is there already.
    """

    act: str
    things: tuple[str, ...]
    sentence: str
    is_only: bool = False
    waits: bool = False
    is_alone: bool = False
    spares_new: bool = False


_Ruling = tuple[str, tuple[str, ...], bool]
"""An act, the things that it is ruled out for, and whether it is ruled out for all but these."""
_PHRASES = [
    (act, () if thing == "-" else (thing,), re.compile(phrase))
    for act, thing, phrase in (line.split(" ", 2) for line in tables.lines("limit_phrases"))
]
_STRAIGHT = str.maketrans("\u2019\u201c\u201d", '\'""')
_WIDE = {"r": PRODUCT, "d": CODE, "g": ANYTHING}
"""What words of these kinds mean."""
_DONE_TO = {
    INSTALL: (INSTALL, CREATE, DO), REQUEST: (CREATE, READ), NETWORK: (DO, NETWORK), DATABASE: (DO, EDIT, READ, DELETE),
    COMMENT: (CREATE, EDIT), API: (EDIT, MOVE), HISTORY: (EDIT,),
}  # fmt: skip
"""What is done to a thing that makes another act of it: who opens a pull request reads no file."""


def read(prompt: str) -> list[Limit]:
    """Return the limits that a prompt sets."""
    own_text = PATTERNS["foreign"].sub(" \u2026 ", prompt[:MOST_CHARS].translate(_STRAIGHT))
    own_text = PATTERNS["quoted"].sub(_keep_name, own_text)
    lines = PATTERNS["sentence"].split(own_text)
    all_paths = tuple(thing for line in lines for thing in _paths(line.lower()))[:MOST_NAMED]
    limits: list[Limit] = []
    previous, heading, is_task = "", "", PATTERNS["task"].search(own_text.lower())
    for line in lines:
        text = PATTERNS["bullet"].sub("", line).strip()
        if PATTERNS["heading"].match(text.lower()):
            heading = "do not "
            continue
        heading = heading if line.lstrip()[:1] in "-*\u2022" and text else ""
        plain = PATTERNS["code_name"].sub(_quote_name, heading + text).lower()
        sentence = PATTERNS["short"].sub(r"\1n't", PATTERNS["without"].sub("without ", plain))
        sentence = PATTERNS["question"].sub("", PATTERNS["opening"].sub(r"\1 \2", sentence))
        is_asked = sentence.endswith("?") and not PATTERNS["asking"].search(sentence)
        label, _, question = sentence.partition(": ")
        if is_asked and " " in question and PATTERNS["ordering"].search(label):
            # "Read only please: how does it work?"
            sentence, is_asked = label, False
        is_unsure = len(sentence) > LONGEST_SENTENCE or PATTERNS["unsure"].search(sentence)
        if not is_asked and not is_unsure:
            # "Why is it slow? Don't fix it", "don't fix it, just tell me": nothing is to be changed.
            is_wide = not is_task and PATTERNS["unchanged"].search(sentence)
            is_answered = previous.endswith("?") and not PATTERNS["asking"].search(previous)
            wide_things = (
                (ANYTHING,)
                if is_wide and (is_answered or PATTERNS["telling"].search(sentence))
                else ()
            )
            limits += _limits_of_sentence(
                sentence, previous, all_paths or wide_things, heading + text
            )
        previous = sentence or previous
    is_alone = not any(map(_has_order, lines))
    return _distinct(limit._replace(is_alone=is_alone) for limit in limits)


def _has_order(line: str) -> bool:
    """Whether a sentence begins a clause with what is to be done, other than to look."""
    for clause in PATTERNS["clause"].split(PATTERNS["bullet"].sub("", line).lower()):
        first = next(iter(_words(clause.strip(" .!()"))), None)
        if first and first.kind == "a" and _is_base(first.text) and _act_of(first.text) != READ:
            return True
    return False


def are_sweeping(limits: Iterable[Limit]) -> bool:
    """Whether one of these limits rules out an act whatever it is done to: "read only"."""
    return any(ANYTHING in limit.things and not limit.is_only for limit in limits)


def _keep_name(match: re.Match[str]) -> str:
    """Keep what stands between quotation marks where it is a name: more words are somebody else's."""
    return match[0] if len(match[2].split()) < 3 else " \u2026 "


def _quote_name(match: re.Match[str]) -> str:
    """Return a name as code has it in quotes, unless its word means something else here ("GitHub")."""
    return f"`{match[0]}`" if _kinds(_words(match[0].lower())) == "x" else match[0]


def _distinct(limits: Iterable[Limit]) -> list[Limit]:
    unique = {(limit.act, limit.things, limit.is_only, limit.spares_new): limit for limit in limits}
    return list(unique.values())[:MOST_LIMITS]


@lru_cache(512)
def _words(clause: str) -> tuple[_Word, ...]:
    """Return the words of a clause that say something, each with its kind."""
    matches = PATTERNS["word"].finditer(clause)
    words = (
        _Word(match.lastgroup or "x", match[0], match.start(), match.end()) for match in matches
    )
    # "force-push" is "force push".
    return tuple(
        word._replace(text=word.text.replace("-", " ")) if word.kind == "a" else word
        for word in words
        if word.kind != "f"
    )


def _kinds(words: Iterable[_Word]) -> str:
    """Return the kinds of words in a row: all that mean no thing by its name are one."""
    return "".join("c" if word.kind in _WIDE else word.kind for word in words)


def _act_of(word: str) -> str:
    return VERBS.get(word, (NOUNS.get(word, ""), ""))[0]


def _limits_of_sentence(
    sentence: str, earlier: str, all_paths: tuple[str, ...], original: str
) -> Iterator[Limit]:
    original = original if len(original) <= MOST_SAID else original[: MOST_SAID - 1] + "\u2026"
    wait = PATTERNS["wait"].search(sentence)
    if wait and not PATTERNS["describes"].match(sentence) and "s" not in _kinds(_words(sentence)):
        context = _Context(all_paths, earlier)
        phrase = wait["rest"] or wait["rest2"] or ""
        for ruling in _rulings_of_phrase(wait["verb"] or wait["verb2"], phrase, context, True):
            act, things, is_only = ruling
            spares_new = _is_of_existing(ruling, phrase)
            yield Limit(act, things, original, is_only, True, spares_new=spares_new)
        return
    for part in PATTERNS["clause"].split(PATTERNS["label"].sub(r"\1 ", sentence)):
        clause = part.strip(" .!()")
        context = _Context(_things(earlier) or all_paths, earlier)
        condition = PATTERNS["condition"].search(clause)
        waits = bool(condition and PATTERNS["by_user"].search(condition[0]))
        for ruling in _rulings_of_clause(clause, context) if waits or not condition else ():
            act, things, is_only = ruling
            # "Them" are what was named before, with what was said of it there.
            is_named = things != context.paths or _things(clause)
            spares_new = _is_of_existing(ruling, clause if is_named else f"{earlier}\n{clause}")
            yield Limit(act, things, original, is_only, waits, spares_new=spares_new)
        earlier = clause if _things(clause) or not _things(earlier) else earlier


def _is_of_existing(ruling: _Ruling, clause: str) -> bool:
    """Whether the limit of a clause is on files that are there already: "existing migrations", "once committed"."""
    act, _, is_only = ruling
    return act in ON_FILES and not is_only and bool(PATTERNS["old"].search(clause))


def _rulings_of_clause(clause: str, context: _Context) -> Iterator[_Ruling]:
    """Yield act, things, and whether only these are allowed, for each limit of a clause."""
    words = _words(clause)
    kinds = _kinds(words)
    leaves_alone = PATTERNS["let"].search(clause) and re.search("l(?=[tc]+$)|(?<=t)l$", kinds)
    mark = re.search("[eo]", kinds) or re.search("[nk]", kinds) or leaves_alone
    if phrases := [(act, things) for act, things, phrase in _PHRASES if phrase.search(clause)]:
        yield from ((act, things, False) for act, things in phrases)
    elif "s" in kinds or _tells_of_past(clause):
        return
    elif (kept_match := PATTERNS["kept"].match(clause)) and (things := _things(kept_match[1])):
        yield DELETE, things, False
    elif own_deeds := PATTERNS["own"].search(clause):
        deeds = [word.text for word in _words(own_deeds[0]) if word.kind == "a"]
        for deed in dict.fromkeys(deeds):
            if _act_of(deed) in (COMMIT, PUSH, MERGE, RUN, REQUEST) or deed in NOUNS:
                yield from _rulings_of_phrase(deed, "", context)
        if program := PATTERNS["left_program"].search(own_deeds[0]):
            yield RUN, (program[1],), False
        if {"a", "x"}.isdisjoint(kinds) and (things := _things(clause)):
            yield EDIT, things, False
    elif mark:
        read_limits = _rulings_of_exception if mark[0] in "eo" else _rulings_of_rule
        yield from read_limits(clause, words, kinds, mark.start(), context)


def _tells_of_past(clause: str) -> bool:
    """Whether the first verb of a clause is in the past: "you did not push" orders nothing. "I'd rather you didn't" does,
    and what the past is only a part of: "what was released must not be changed"."""
    past = PATTERNS["past"].search(clause)
    if past is None or PATTERNS["holds"].search(clause, past.end()):
        return False
    head = clause[: past.start()]
    return {*"akl"}.isdisjoint(_kinds(_words(head))) and not PATTERNS["within"].search(head)


def _rulings_of_exception(
    clause: str, words: Sequence[_Word], kinds: str, place: int, context: _Context
) -> Iterator[_Ruling]:
    """Yield the limit of a clause that sets something apart: "only X", "nothing but X", "everything except X", "the
    rest"."""
    mark = words[place]
    before, after = clause[: mark.end], clause[mark.end :]
    is_forbidden = not {*"nklo"}.isdisjoint(kinds) or mark.text.startswith("no")
    acts = {_act_of(word.text) for word in words[:place] if word.kind == "a"}
    # "Move everything except a.py to lib/" names at last where to.
    things = _things(after.partition(" to ")[0].partition(" into ")[0] if MOVE in acts else after)
    # "Only two tests fail", "everything except a.py compiles", "I changed only a.py": of these something is told.
    is_told = re.match("o[ct]*x", kinds[place:]) or re.match("[cn]*e[ctn]*x[ctx]*$", kinds)
    past = next((word for word in words if _is_past(word.text)), None)
    is_past = past is not None and not _is_ordered(clause[: past.start])
    if is_told or is_past or re.search("n.*x.*e", kinds) or INSTALL in acts:
        return
    elif things:
        is_open = is_forbidden or kinds[0] == "e" or PATTERNS["all"].search(before)
        if acts <= {EDIT, CREATE, DELETE, MOVE} and is_open:
            yield EDIT, things, is_forbidden
    elif is_forbidden:
        named_text = context.earlier if mark.kind == "e" or "c" in kinds[place:] else ""
        if things := _things(before) or _things(named_text):
            yield EDIT, things, True
    elif act := next((word for word in words[place:] if word.kind == "a"), None):
        yield from _rulings_of_phrase(act.text, clause[act.end :], context)


def _rulings_of_rule(
    clause: str, words: Sequence[_Word], kinds: str, place: int, context: _Context
) -> Iterator[_Ruling]:
    """Yield the limits of a clause that negates or keeps something."""
    mark, before, following = words[place], kinds[:place], clause[words[place].end :]
    behind = list(itertools.dropwhile(lambda word: word.kind == "w", words[place + 1 :]))
    if before == "c" and behind and behind[0] is not words[place + 1]:
        # "It is not allowed to push"
        before = ""
    is_elliptic = mark is words[-1] and mark.text in ("doesn't", "didn't", "isn't", "won't")
    is_unable = behind and words[place + 1].text == "possible" and "don't try" not in clause
    if is_elliptic or is_unable:
        # "a.py doesn't" and "it is not possible to push from here" are no bans.
        return
    behind_kinds, acts = _kinds(behind), [word for word in behind if word.kind == "a"]
    is_no = bool(PATTERNS["deeds"].match(mark.text))
    is_of_others = "x" in before + behind_kinds.partition("a")[0]
    is_done = bool(acts) and _is_done(clause, acts[0], is_of_others)
    is_meant = is_done or PATTERNS["wants"].search(clause[mark.start :])
    if mark.kind in "kl":
        yield from _rulings_of_kept(clause, words, place, context)
    elif (not behind or is_done) and re.search("[at]|c$", before):
        # Something is said of a thing or a deed: "X must not be touched", "commits are forbidden".
        deed = next((word for word in words[:place] if word.text in VERBS), None)
        if is_done and (deed is None or _act_of(acts[0].text) not in (CREATE, DO)):
            yield from _rulings_of(acts[0].text, clause[: mark.start], context)
        elif deed is None or mark.text != "nothing" or _is_base(deed.text):
            about = clause[deed.end if deed else 0 : mark.start]
            yield from _rulings_of(
                deed.text if deed else "", about, context, mark.text == "nothing"
            )
    elif re.search("[actx]", before) and (
        not PATTERNS["off"].match(mark.text) or PATTERNS["describes"].match(clause)
    ):
        return
    elif behind_kinds[:1] == "x" and (command := PATTERNS["command"].match(following.lstrip())):
        yield RUN, (re.sub(r"(?<= )(\w+)s$", r"\1", command[1]),), False
    elif (
        behind_kinds[:1] == "x"
        and PATTERNS["bids"].match(mark.text)
        and PATTERNS["deed"].fullmatch(following)
    ):
        yield DEED, (behind[0].text,), False
    elif behind_kinds[:1] == "a" or (is_meant and re.match("[tc]+x?a", behind_kinds)):
        objects_before = " ".join(word.text for word in behind if word.end < acts[0].start)
        start = acts[0].start
        for act in acts:
            # "No formatting errors" speaks of errors.
            is_part = is_no and behind_kinds[1:2] == "x" and _act_of(act.text) == RUN
            is_next = act is acts[0] or PATTERNS["and"].fullmatch(clause[start : act.start])
            if is_part or not is_next or not (is_meant or _is_form(act.text, mark.text, is_no)):
                return
            yield from _rulings_of_phrase(
                act.text, f"{objects_before} {clause[act.end :]}", context, is_no
            )
            start = act.end
    elif re.fullmatch("[tcw]+", behind_kinds):
        yield from _rulings_of("", following, context)


def _rulings_of_kept(
    clause: str, words: Sequence[_Word], place: int, context: _Context
) -> Iterator[_Ruling]:
    """Yield the limit of what is said to be kept: "X stays untouched", "hands off X", "publishing is off limits"."""
    before, behind = _kinds(words[:place]), _kinds(words[place + 1 :])
    deed = next((word for word in words[:place] if word.text in VERBS), None)
    about = clause[deed.end if deed else 0 : words[place].start]
    is_behind = re.search("[ta]", before) is None and ("t" in behind or "c" not in before)
    if is_behind and behind:
        about, deed = clause[words[place].end :], None
    things = _things(about if deed is None else clause)
    if things or "x" in before or (deed is None and "a" in before):
        if things and not _is_base(words[0].text):
            yield EDIT, things, False
    elif "t" in behind or not (is_behind and PATTERNS["aim"].match(about)):
        # "Read only for them" speaks of somebody.
        yield from _rulings_of(deed.text if deed else "", about, context)


def _is_done(clause: str, act: _Word, is_of_others: bool) -> bool:
    """Whether an act is one that is done to something, and not by others: "must not be changed", "doesn't change"."""
    head = clause[: act.start]
    # "Nothing in it is changed" orders; "nothing in it is changed by this commit", and "a.py isn't changed", tell.
    is_present = head.startswith("nothing ") and head.split()[-1:] == ["is"]
    is_present = is_present and not clause[act.end :].strip(" .!")
    is_bidden = (is_present and not PATTERNS["describes"].match(clause)) or (
        not _is_past(act.text) or PATTERNS["bidden"].search(head)
    )
    if act.text.startswith("change") and is_bidden and not is_of_others:
        return True
    return bool(
        PATTERNS["done"].search(clause[: act.end]) and not PATTERNS["by_others"].search(clause)
    )


def _is_base(word: str) -> bool:
    return VERBS.get(word, ("", ""))[1] == word


def _is_past(word: str) -> bool:
    """Whether a word is an act's form of the past, or what is like it."""
    return word in VERBS and word.endswith(("ed", "made"))


_BEFORE_NOUNS = frozenset(("the", "my", "your", "our", "this", "that", "last"))
"""Behind which what looks like an act is a thing: "the fix", "your last change"."""


def _is_ordered(head: str) -> bool:
    """Whether what stands before a form of the past makes it a part of an order: "only change the imports used in a.py",
    not "the only change I made"."""
    return bool(PATTERNS["bidden"].search(head)) or any(
        _is_base(word.text) and _BEFORE_NOUNS.isdisjoint(head[: word.start].split()[-2:])
        for word in _words(head)
    )


def _is_form(word: str, no: str, is_no: bool) -> bool:
    """Whether a word stands as what is ruled out: "not" do, "without" doing, "no" deed."""
    if is_no:
        is_deed = _act_of(word) in (COMMIT, PUSH, MERGE, RUN, INSTALL) or word in NOUNS
        return is_deed or word.endswith(("ing", "ion", "s"))
    return _is_base(word) or (no == "not" and word.endswith("ing"))


def _rulings_of_phrase(
    word: str, phrase: str, context: _Context, means_all: bool = False
) -> Iterator[_Ruling]:
    """Yield the limit that an act and what stands behind it make."""
    thing = PATTERNS["tail"].sub("", f" {phrase.strip()}")
    yield from _rulings_of(word, thing, context, means_all)


def _rulings_of(
    word: str, thing: str, context: _Context, means_all: bool = False
) -> Iterator[_Ruling]:
    """Yield the limit that an act and a thing make, if a call can be held against it. Where no act is named, the thing
    is not to be changed, or no new one is to be made."""
    is_named = bool(word)
    word = word or ("create" if PATTERNS["new"].search(thing) else "edit")
    act, verb = VERBS.get(word, (NOUNS.get(word, DO), word))
    thing = thing.lstrip(" ,:").rstrip(" ,:.")
    words = _words(thing)
    noun = next(
        (NOUNS[form] for form in (word, *(other.text for other in words)) if form in NOUNS),
        "",
    )
    is_of_noun = word in NOUNS or act in _DONE_TO.get(noun, ())
    is_light = act in (CREATE, DO) and thing[:1] != "`"
    if act in (RUN, DO) and (command := PATTERNS["command"].match(thing)):
        yield RUN, (command[1],), False
    elif is_light and words and words[0].text in VERBS:
        # "make a commit", "do the deployment", "start editing X"
        yield from _rulings_of_phrase(words[0].text, thing[words[0].end :], context, True)
    elif is_of_noun and noun != RUN and (noun == API or not _paths(thing)):
        is_write = noun == DATABASE and act in (EDIT, DELETE) and verb != "touch"
        yield noun, (WRITE,) if is_write else _paths(thing) if noun == API else (), False
    elif act in ON_FILES:
        if _kinds(words) in ("", "l") and (branch := PATTERNS["branches"].search(thing)):
            yield PUSH, (branch[0],), False
            return
        things = _files_of(thing, context, means_all) or _bare_name(thing, act)
        if things and (is_named or things != (ANYTHING,) or PATTERNS["all"].search(thing)):
            yield act, things, False
        elif act == DELETE and not means_all and _kinds(words) == "c":
            yield DEED, (verb,), False
    elif act in (RUN, DO):
        if run_command := _command(verb, thing, context):
            yield RUN, (run_command,), False
    elif act in (CREATE, BRANCH):
        if PATTERNS["branch"].search(thing):
            yield BRANCH, (), False
        elif act == CREATE and (PATTERNS["new_file"].search(thing) or (means_all and not words)):
            yield act, _paths(thing), False
    elif act in (COMMIT, PUSH, MERGE, INSTALL, HISTORY, NETWORK, REQUEST):
        object_words = [
            other.text for other in words if PATTERNS["object"].match(other.kind + other.text)
        ]
        names = [
            name
            for name in PATTERNS["target"].findall(thing)
            if name in object_words or PATTERNS["branches"].match(name)
        ]
        if set(object_words) <= set(names) or act == HISTORY:
            yield act, (FORCE,) if "force" in f"{verb} {thing}" else tuple(names), False


def _files_of(thing: str, context: _Context, means_all: bool = False) -> tuple[str, ...]:
    """Return the files that words name: as such, by their kind, as what was named before, or by no word at all."""
    words = _words(thing)
    kinds = {word.kind for word in words}
    if (things := _things(thing)) or "x" in kinds:
        return things
    wide = next(((name,) for kind, name in _WIDE.items() if kind in kinds), ())
    # "Those files" are the ones that were named, "files" are any.
    if "c" in kinds and (context.paths or not wide):
        return context.paths
    return wide or (() if words else (ANYTHING,) if means_all else context.paths)


def _bare_name(thing: str, act: str) -> tuple[str, ...]:
    """Return the one plain word that names what must not be deleted, read or touched; what is renamed is seldom a file."""
    bare = PATTERNS["bare"].match(thing)
    return (bare[1],) if act != MOVE and bare and not PATTERNS["no_names"].match(bare[1]) else ()


def _command(verb: str, thing: str, context: _Context) -> str:
    """Return what must not be run: a command, a kind of command, a path; or the words of one."""
    thing = context.earlier if thing and PATTERNS["that"].match(thing) else thing
    if quoted := re.match(r"`([^`\n]{2,80})`", thing):
        return quoted[1]
    for kind in RUNS if verb != "restart" else ():
        if re.search(rf"\b(?:re)?{kind.removesuffix('s')}(?:s|ment|ting)?\b", f"{verb} {thing}"):
            return kind
    if _act_of(verb) == RUN:
        return verb
    if verb == "use":
        is_program = PATTERNS["program"].fullmatch(thing) or NOUNS.get(thing) == RUN
        return thing if is_program else ""
    other_words = [word.text for word in _words(thing) if word.kind == "x" and word.text.isalnum()]
    return next(iter(_things(thing)), " ".join((ANYTHING, *other_words)) if other_words else "")


def _things(text: str) -> tuple[str, ...]:
    """Return the paths and places that a text names, also by their kind."""
    names = [word.text.strip('`"()') for word in _words(text) if word.kind == "t"]
    names += [
        name for name in PATTERNS["named_folder"].findall(text) if _kinds(_words(name)) == "x"
    ]
    cleaned = [re.sub(r"[/.,)?]+$", "", name).removeprefix("./") for name in names]
    things = [ALIASES.get(name, name) for name in cleaned if not PATTERNS["no_names"].match(name)]
    return tuple(dict.fromkeys(things))[:MOST_NAMED]


def _paths(text: str) -> tuple[str, ...]:
    return tuple(
        thing for thing in _things(text) if "." in thing or "/" in thing or f"{thing}/" in text
    )


def after(limits: Sequence[Limit], prompt: str) -> list[Limit]:
    """Return the limits that hold after one more prompt: those that it lifts are gone, its own are there."""
    own_limits, lowered = read(prompt), prompt.lower()
    if PATTERNS["forget"].search(lowered):
        return own_limits
    replaced = {
        (limit.act, limit.is_only) for limit in own_limits if limit.is_only or not limit.things
    }
    remaining = [limit for limit in limits if (limit.act, limit.is_only) not in replaced]
    kept = (limit for limit in remaining if limit in own_limits or not _lifts(lowered, limit))
    # "Only change a.py" – "now do the same in b.py"
    named = _opened(lowered[:MOST_CHARS]) if any(limit.is_only for limit in remaining) else []
    widened = (_with_named(limit, named) if limit.is_only else limit for limit in kept)
    return _distinct([*widened, *own_limits])


def _opened(prompt: str) -> list[str]:
    """Return what a prompt, in small letters, names beside the only things that may be changed: no address, nor a
    whole folder that is only to be looked at or asked about."""
    names: list[str] = []
    for sentence in PATTERNS["sentence"].split(prompt):
        is_asked = sentence.endswith("?") and not PATTERNS["asking"].search(sentence)
        is_looked_at = is_asked or PATTERNS["looking"].search(sentence)
        names += [
            name
            for name in _things(sentence)
            if "//" not in name and not (is_looked_at and "." not in posixpath.basename(name))
        ]
    return names


def _with_named(limit: Limit, names: Sequence[str]) -> Limit:
    """Return a limit with what was named beside its things; of very many, its own and the newest."""
    things = tuple(dict.fromkeys((*limit.things, *names)))
    return limit._replace(things=things[:MOST_NAMED] + things[MOST_NAMED:][-3 * MOST_NAMED :])


def _lifts(prompt: str, limit: Limit) -> bool:
    """Whether a prompt, in small letters, lifts a limit that it does not set again."""
    is_wide = not limit.is_only and limit.things[:1] in ((ANYTHING,), (CODE,))
    says_more = bool(PATTERNS["go"].search(prompt) or PATTERNS["other"].search(prompt))
    goes_on = _asks_change(prompt) if is_wide else says_more
    # No prompt names "anything": its sign, spoken, is no word at all, which stands in every text.
    names_it = any(name in prompt for name in map(_spoken_name, limit.things) if name)
    if limit.waits and PATTERNS["approved"].search(prompt):
        return True
    if PATTERNS["for_this"].search(limit.sentence.lower()) and goes_on:
        return not names_it or "for now" in limit.sentence.lower()
    if limit.act in ON_FILES:
        if limit.is_only:
            return goes_on and not names_it
        return goes_on if is_wide else names_it
    acts = (limit.act, DO) if limit.act == RUN else (limit.act,)
    verbs = {form for form, (act, _) in VERBS.items() if act in acts}
    words = any_of({*verbs, *THINGS.get(limit.act, ()), *limit.things})
    return bool(re.search(rf"\b(?:{words})(?:s|e?d|ing)?\b", prompt))


def _asks_change(prompt: str) -> bool:
    """Whether a prompt, in small letters, asks for a change: by a verb for one at the head of a clause that is no question
    and asks for no text, or by agreeing to one. "Ok" alone may only say that it was read."""
    text = prompt[:MOST_CHARS]
    if PATTERNS["approved"].search(text):
        words = {word.strip(".,;:!") for word in text.split()}
        return not words <= {"ok", "okay", "good", "fine", "please"}
    for sentence in PATTERNS["sentence"].split(text):
        is_asked = sentence.endswith("?") and not PATTERNS["asking"].search(sentence)
        for verb in PATTERNS["change"].finditer(sentence) if not is_asked else ():
            is_head = VERB_CONTEXT["asks"].search(
                sentence[max(0, verb.start() - 80) : verb.start()]
            )
            if is_head and not PATTERNS["told"].search(sentence[verb.start() :]):
                return True
    return False


def _spoken_name(thing: str) -> str:
    base = posixpath.basename(thing.rstrip("/*"))
    return base.rstrip("s") if len(base) > 4 else base
