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
    AROUND,
    NOUNS,
    RUNS,
    SAYS,
    THINGS,
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


class _Word(NamedTuple):
    """A word, or several that say one thing, of a clause, and its kind: a letter of `limit_words.txt`, "a" for an
    act, "t" for a thing, "x" for any other."""

    kind: str
    text: str
    start: int
    end: int


class _Context(NamedTuple):
    """What stands before a clause: the paths that "it" may mean, and the words."""

    named: tuple[str, ...]
    earlier: str


class Limit(NamedTuple):
    """Something that is ruled out.

    Attributes:
        act: what must not be done.
        things: paths, branches, packages, commands that it must not be done to; () for whatever it be.
        said: the user's sentence.
        is_only: whether it is ruled out for all but these things.
        waits: whether it is ruled out until the user says so.
        is_alone: whether its prompt gives no order beside it: nothing is to be done, wherever it be.
        spares_new: whether it is ruled out only for what is there already.
    """

    act: str
    things: tuple[str, ...]
    said: str
    is_only: bool = False
    waits: bool = False
    is_alone: bool = False
    spares_new: bool = False


_Found = tuple[str, tuple[str, ...], bool]
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
    own = SAYS["foreign"].sub(" \u2026 ", prompt[:MOST_CHARS].translate(_STRAIGHT))
    own = SAYS["quoted"].sub(_unquoted, own)
    lines = SAYS["sentence"].split(own)
    everywhere = tuple(thing for line in lines for thing in _paths(line.lower()))[:12]
    limits: list[Limit] = []
    before, heading, is_task = "", "", SAYS["task"].search(own.lower())
    for line in lines:
        said = SAYS["bullet"].sub("", line).strip()
        if SAYS["heading"].match(said.lower()):
            heading = "do not "
            continue
        heading = heading if line.lstrip()[:1] in "-*\u2022" and said else ""
        plain = SAYS["code_name"].sub(_quoted, heading + said).lower()
        sentence = SAYS["short"].sub(r"\1n't", SAYS["without"].sub("without ", plain))
        sentence = SAYS["question"].sub("", SAYS["opening"].sub(r"\1 \2", sentence))
        is_asked = sentence.endswith("?") and not SAYS["asking"].search(sentence)
        is_unsure = len(sentence) > LONGEST_SENTENCE or SAYS["unsure"].search(sentence)
        if not is_asked and not is_unsure:
            # "Why is it slow? Don't fix it", "don't fix it, just tell me": nothing is to be changed.
            is_wide = not is_task and SAYS["unchanged"].search(sentence)
            is_told = before.endswith("?") and not SAYS["asking"].search(before)
            named = (ANYTHING,) if is_wide and (is_told or SAYS["telling"].search(sentence)) else ()
            limits += _of_sentence(sentence, before, everywhere or named, heading + said)
        before = sentence or before
    is_alone = not any(map(_orders, lines))
    return _once(limit._replace(is_alone=is_alone) for limit in limits)


def _orders(line: str) -> bool:
    """Whether a sentence begins a clause with what is to be done, other than to look."""
    for clause in SAYS["clause"].split(SAYS["bullet"].sub("", line).lower()):
        first = next(iter(_words(clause.strip(" .!()"))), None)
        if first and first.kind == "a" and _is_base(first.text) and _act(first.text) != READ:
            return True
    return False


def are_sweeping(limits: Iterable[Limit]) -> bool:
    """Whether one of these limits rules out an act whatever it is done to: "read only"."""
    return any(ANYTHING in limit.things and not limit.is_only for limit in limits)


def _unquoted(found: re.Match[str]) -> str:
    """Keep what stands between quotation marks where it is a name: more words are somebody else's."""
    return found[0] if len(found[2].split()) < 3 else " \u2026 "


def _quoted(found: re.Match[str]) -> str:
    """Return a name as code has it in quotes, unless its word means something else here ("GitHub")."""
    return f"`{found[0]}`" if _row(_words(found[0].lower())) == "x" else found[0]


def _once(limits: Iterable[Limit]) -> list[Limit]:
    different = {(one.act, one.things, one.is_only, one.spares_new): one for one in limits}
    return list(different.values())[:MOST_LIMITS]


@lru_cache(512)
def _words(clause: str) -> tuple[_Word, ...]:
    """Return the words of a clause that say something, each with its kind."""
    found = SAYS["word"].finditer(clause)
    words = (_Word(one.lastgroup or "x", one[0], one.start(), one.end()) for one in found)
    # "force-push" is "force push".
    return tuple(
        word._replace(text=word.text.replace("-", " ")) if word.kind == "a" else word
        for word in words
        if word.kind != "f"
    )


def _row(words: Iterable[_Word]) -> str:
    """Return the kinds of words in a row: all that mean no thing by its name are one."""
    return "".join("c" if word.kind in _WIDE else word.kind for word in words)


def _act(word: str) -> str:
    return VERBS.get(word, (NOUNS.get(word, ""), ""))[0]


def _of_sentence(
    sentence: str, earlier: str, everywhere: tuple[str, ...], said: str
) -> Iterator[Limit]:
    said = said if len(said) <= MOST_SAID else said[: MOST_SAID - 1] + "\u2026"
    asks = SAYS["wait"].search(sentence)
    if asks and not SAYS["describes"].match(sentence) and "s" not in _row(_words(sentence)):
        context = _Context(everywhere, earlier)
        rest = asks["rest"] or asks["rest2"] or ""
        for found in _resolved(asks["verb"] or asks["verb2"], rest, context, True):
            yield Limit(
                found[0], found[1], said, found[2], True, spares_new=_is_of_old(found, rest)
            )
        return
    for part in SAYS["clause"].split(SAYS["label"].sub(r"\1 ", sentence)):
        clause = part.strip(" .!()")
        context = _Context(_things(earlier) or everywhere, earlier)
        condition = SAYS["condition"].search(clause)
        waits = bool(condition and SAYS["by_user"].search(condition[0]))
        for found in _of_clause(clause, context) if waits or not condition else ():
            # "Them" are what was named before, with what was said of it there.
            is_named = found[1] != context.named or _things(clause)
            is_of_old = _is_of_old(found, clause if is_named else f"{earlier}\n{clause}")
            yield Limit(found[0], found[1], said, found[2], waits, spares_new=is_of_old)
        earlier = clause if _things(clause) or not _things(earlier) else earlier


def _is_of_old(found: _Found, clause: str) -> bool:
    """Whether the limit of a clause is on files that are there already: "existing migrations", "once committed"."""
    return found[0] in ON_FILES and not found[2] and bool(SAYS["old"].search(clause))


def _of_clause(clause: str, context: _Context) -> Iterator[_Found]:
    """Yield act, things, and whether only these are allowed, for each limit of a clause."""
    words = _words(clause)
    row = _row(words)
    is_left = SAYS["let"].search(clause) and re.search("l(?=[tc]+$)|(?<=t)l$", row)
    mark = re.search("[eo]", row) or re.search("[nk]", row) or is_left
    if phrases := [(act, things) for act, things, phrase in _PHRASES if phrase.search(clause)]:
        yield from ((act, things, False) for act, things in phrases)
    elif "s" in row:
        return
    elif (kept := SAYS["kept"].match(clause)) and (things := _things(kept[1])):
        yield DELETE, things, False
    elif own := SAYS["own"].search(clause):
        deeds = [word.text for word in _words(own[0]) if word.kind == "a"]
        for deed in dict.fromkeys(deeds):
            if _act(deed) in (COMMIT, PUSH, MERGE, RUN, REQUEST) or deed in NOUNS:
                yield from _resolved(deed, "", context)
        if program := SAYS["left_program"].search(own[0]):
            yield RUN, (program[1],), False
        if {"a", "x"}.isdisjoint(row) and (things := _things(clause)):
            yield EDIT, things, False
    elif mark:
        reads = _of_exception if mark[0] in "eo" else _of_rule
        yield from reads(clause, words, row, mark.start(), context)


def _of_exception(
    clause: str, words: Sequence[_Word], row: str, place: int, context: _Context
) -> Iterator[_Found]:
    """Yield the limit of a clause that sets something apart: "only X", "nothing but X", "everything except X", "the
    rest"."""
    mark = words[place]
    before, after = clause[: mark.end], clause[mark.end :]
    is_forbidden = not {*"nklo"}.isdisjoint(row) or mark.text.startswith("no")
    things = _things(after)
    acts = {_act(word.text) for word in words[:place] if word.kind == "a"}
    if re.match("o[ct]*x", row[place:]) or re.search("n.*x.*e", row) or INSTALL in acts:
        return
    elif things:
        is_open = is_forbidden or row[0] == "e" or SAYS["all"].search(before)
        if acts <= {EDIT, CREATE, DELETE} and is_open:
            yield EDIT, things, is_forbidden
    elif is_forbidden:
        named = context.earlier if mark.kind == "e" or "c" in row[place:] else ""
        if things := _things(before) or _things(named):
            yield EDIT, things, True
    elif act := next((word for word in words[place:] if word.kind == "a"), None):
        yield from _resolved(act.text, clause[act.end :], context)


def _of_rule(
    clause: str, words: Sequence[_Word], row: str, place: int, context: _Context
) -> Iterator[_Found]:
    """Yield the limits of a clause that negates or keeps something."""
    mark, before, rest = words[place], row[:place], clause[words[place].end :]
    behind = list(itertools.dropwhile(lambda word: word.kind == "w", words[place + 1 :]))
    if before == "c" and behind and behind[0] is not words[place + 1]:
        # "It is not allowed to push"
        before = ""
    after, acts = _row(behind), [word for word in behind if word.kind == "a"]
    is_no = bool(SAYS["deeds"].match(mark.text))
    is_done = bool(acts) and _is_done(clause, acts[0], "x" in before)
    is_meant = is_done or SAYS["wants"].search(clause[mark.start :])
    if mark.kind in "kl":
        yield from _of_kept(clause, words, place, context)
    elif (not behind or is_done) and re.search("[at]|c$", before):
        # Something is said of a thing or a deed: "X must not be touched", "commits are forbidden".
        deed = next((word for word in words[:place] if word.text in VERBS), None)
        if is_done and (deed is None or _act(acts[0].text) not in (CREATE, DO)):
            yield from _limit_of(acts[0].text, clause[: mark.start], context)
        elif deed is None or mark.text != "nothing" or _is_base(deed.text):
            about = clause[deed.end if deed else 0 : mark.start]
            yield from _limit_of(deed.text if deed else "", about, context, mark.text == "nothing")
    elif re.search("[actx]", before) and (
        not SAYS["off"].match(mark.text) or SAYS["describes"].match(clause)
    ):
        return
    elif after[:1] == "x" and (command := SAYS["command"].match(rest.lstrip())):
        yield RUN, (re.sub(r"(?<= )(\w+)s$", r"\1", command[1]),), False
    elif after[:1] == "x" and SAYS["bids"].match(mark.text) and SAYS["deed"].fullmatch(rest):
        yield DEED, (behind[0].text,), False
    elif after[:1] == "a" or (is_meant and re.match("[tc]+x?a", after)):
        named = " ".join(word.text for word in behind if word.end < acts[0].start)
        start = acts[0].start
        for one in acts:
            # "No formatting errors" speaks of errors.
            is_part = is_no and after[1:2] == "x" and _act(one.text) == RUN
            is_next = one is acts[0] or SAYS["and"].fullmatch(clause[start : one.start])
            if is_part or not is_next or not (is_meant or _is_form(one.text, mark.text, is_no)):
                return
            yield from _resolved(one.text, f"{named} {clause[one.end :]}", context, is_no)
            start = one.end
    elif re.fullmatch("[tcw]+", after):
        yield from _limit_of("", rest, context)


def _of_kept(
    clause: str, words: Sequence[_Word], place: int, context: _Context
) -> Iterator[_Found]:
    """Yield the limit of what is said to be kept: "X stays untouched", "hands off X", "publishing is off limits"."""
    before, behind = _row(words[:place]), _row(words[place + 1 :])
    deed = next((word for word in words[:place] if word.text in VERBS), None)
    about = clause[deed.end if deed else 0 : words[place].start]
    is_behind = re.search("[ta]", before) is None and ("t" in behind or "c" not in before)
    if is_behind and behind:
        about, deed = clause[words[place].end :], None
    things = _things(about if deed is None else clause)
    if things or "x" in before or (deed is None and "a" in before):
        if things and not _is_base(words[0].text):
            yield EDIT, things, False
    elif "t" in behind or not (is_behind and SAYS["aim"].match(about)):
        # "Read only for them" speaks of somebody.
        yield from _limit_of(deed.text if deed else "", about, context)


def _is_done(clause: str, act: _Word, is_of_others: bool) -> bool:
    """Whether an act is one that is done to something, and not by others: "must not be changed", "doesn't change"."""
    if act.text.startswith("change") and not is_of_others:
        return True
    return bool(SAYS["done"].search(clause[: act.end]) and not SAYS["by_others"].search(clause))


def _is_base(word: str) -> bool:
    return VERBS.get(word, ("", ""))[1] == word


def _is_form(word: str, no: str, is_no: bool) -> bool:
    """Whether a word stands as what is ruled out: "not" do, "without" doing, "no" deed."""
    if is_no:
        is_deed = _act(word) in (COMMIT, PUSH, MERGE, RUN, INSTALL) or word in NOUNS
        return is_deed or word.endswith(("ing", "ion", "s"))
    return _is_base(word) or (no == "not" and word.endswith("ing"))


def _resolved(word: str, rest: str, context: _Context, whole: bool = False) -> Iterator[_Found]:
    """Yield the limit that an act and what stands behind it make."""
    thing = SAYS["tail"].sub("", f" {rest.strip()}")
    yield from _limit_of(word, thing, context, whole)


def _limit_of(word: str, thing: str, context: _Context, whole: bool = False) -> Iterator[_Found]:
    """Yield the limit that an act and a thing make, if a call can be held against it. Where no act is named, the thing
    is not to be changed, or no new one is to be made."""
    is_named = bool(word)
    word = word or ("create" if SAYS["new"].search(thing) else "edit")
    act, verb = VERBS.get(word, (NOUNS.get(word, DO), word))
    thing = thing.lstrip(" ,:").rstrip(" ,:.")
    inner = _words(thing)
    noun = next((NOUNS[one] for one in (word, *(w.text for w in inner)) if one in NOUNS), "")
    is_of_noun = word in NOUNS or act in _DONE_TO.get(noun, ())
    is_light = act in (CREATE, DO) and thing[:1] != "`"
    if act in (RUN, DO) and (command := SAYS["command"].match(thing)):
        yield RUN, (command[1],), False
    elif is_light and inner and inner[0].text in VERBS:
        # "make a commit", "do the deployment", "start editing X"
        yield from _resolved(inner[0].text, thing[inner[0].end :], context, True)
    elif is_of_noun and noun != RUN and (noun == API or not _paths(thing)):
        is_write = noun == DATABASE and act in (EDIT, DELETE) and verb != "touch"
        yield noun, (WRITE,) if is_write else _paths(thing) if noun == API else (), False
    elif act in ON_FILES:
        if _row(inner) in ("", "l") and (branch := SAYS["branches"].search(thing)):
            yield PUSH, (branch[0],), False
            return
        things = _files_of(thing, context, whole) or _bare(thing, act)
        if things and (is_named or things != (ANYTHING,) or SAYS["all"].search(thing)):
            yield act, things, False
        elif act == DELETE and not whole and _row(inner) == "c":
            yield DEED, (verb,), False
    elif act in (RUN, DO):
        if what := _command(verb, thing, context):
            yield RUN, (what,), False
    elif act in (CREATE, BRANCH):
        if SAYS["branch"].search(thing):
            yield BRANCH, (), False
        elif act == CREATE and (SAYS["new_file"].search(thing) or (whole and not inner)):
            yield act, _paths(thing), False
    elif act in (COMMIT, PUSH, MERGE, INSTALL, HISTORY, NETWORK, REQUEST):
        others = [other.text for other in inner if SAYS["object"].match(other.kind + other.text)]
        names = [
            name
            for name in SAYS["target"].findall(thing)
            if name in others or SAYS["branches"].match(name)
        ]
        if set(others) <= set(names) or act == HISTORY:
            yield act, (FORCE,) if "force" in f"{verb} {thing}" else tuple(names), False


def _files_of(thing: str, context: _Context, whole: bool = False) -> tuple[str, ...]:
    """Return the files that words name: as such, by their kind, as what was named before, or by no word at all."""
    words = _words(thing)
    kinds = {word.kind for word in words}
    if (things := _things(thing)) or "x" in kinds:
        return things
    wide = next(((name,) for kind, name in _WIDE.items() if kind in kinds), ())
    # "Those files" are the ones that were named, "files" are any.
    if "c" in kinds and (context.named or not wide):
        return context.named
    return wide or (() if words else (ANYTHING,) if whole else context.named)


def _bare(thing: str, act: str) -> tuple[str, ...]:
    """Return the one plain word that names what must not be deleted, read or touched; what is renamed is seldom a file."""
    bare = SAYS["bare"].match(thing)
    return (bare[1],) if act != MOVE and bare and not SAYS["no_names"].match(bare[1]) else ()


def _command(verb: str, thing: str, context: _Context) -> str:
    """Return what must not be run: a command, a kind of command, a path; or the words of one."""
    thing = context.earlier if thing and SAYS["that"].match(thing) else thing
    if quoted := re.match(r"`([^`\n]{2,80})`", thing):
        return quoted[1]
    for kind in RUNS if verb != "restart" else ():
        if re.search(rf"\b(?:re)?{kind.removesuffix('s')}(?:s|ment|ting)?\b", f"{verb} {thing}"):
            return kind
    if _act(verb) == RUN:
        return verb
    if verb == "use":
        is_program = SAYS["program"].fullmatch(thing) or NOUNS.get(thing) == RUN
        return thing if is_program else ""
    others = [word.text for word in _words(thing) if word.kind == "x" and word.text.isalnum()]
    return next(iter(_things(thing)), " ".join((ANYTHING, *others)) if others else "")


def _things(text: str) -> tuple[str, ...]:
    """Return the paths and places that a text names, also by their kind."""
    named = [word.text.strip('`"()') for word in _words(text) if word.kind == "t"]
    named += [name for name in SAYS["named_folder"].findall(text) if _row(_words(name)) == "x"]
    cleaned = [re.sub(r"[/.,)?]+$", "", name).removeprefix("./") for name in named]
    things = [ALIASES.get(name, name) for name in cleaned if not SAYS["no_names"].match(name)]
    return tuple(dict.fromkeys(things))[:12]


def _paths(text: str) -> tuple[str, ...]:
    return tuple(one for one in _things(text) if "." in one or "/" in one or f"{one}/" in text)


def after(limits: Sequence[Limit], prompt: str) -> list[Limit]:
    """Return the limits that hold after one more prompt: those that it lifts are gone, its own are there."""
    own, low = read(prompt), prompt.lower()
    if SAYS["forget"].search(low):
        return own
    anew = {(limit.act, limit.is_only) for limit in own if limit.is_only or not limit.things}
    held = [limit for limit in limits if (limit.act, limit.is_only) not in anew]
    return _once([*(limit for limit in held if limit in own or not _lifts(low, limit)), *own])


def _lifts(prompt: str, limit: Limit) -> bool:
    """Whether a prompt, in small letters, lifts a limit that it does not set again."""
    is_wide = not limit.is_only and limit.things[:1] in ((ANYTHING,), (CODE,))
    says_more = bool(SAYS["go"].search(prompt) or SAYS["other"].search(prompt))
    goes_on = _asks_change(prompt) if is_wide else says_more
    # No prompt names "anything": its sign, spoken, is no word at all, which stands in every text.
    names_it = any(name in prompt for name in map(_spoken, limit.things) if name)
    if limit.waits and SAYS["approved"].search(prompt):
        return True
    if SAYS["for_this"].search(limit.said.lower()) and goes_on:
        return not names_it or "for now" in limit.said.lower()
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
    said = prompt[:MOST_CHARS]
    if SAYS["approved"].search(said):
        words = {word.strip(".,;:!") for word in said.split()}
        return not words <= {"ok", "okay", "good", "fine", "please"}
    for sentence in SAYS["sentence"].split(said):
        is_asked = sentence.endswith("?") and not SAYS["asking"].search(sentence)
        for verb in SAYS["change"].finditer(sentence) if not is_asked else ():
            is_head = AROUND["asks"].search(sentence[max(0, verb.start() - 80) : verb.start()])
            if is_head and not SAYS["told"].search(sentence[verb.start() :]):
                return True
    return False


def _spoken(thing: str) -> str:
    base = posixpath.basename(thing.rstrip("/*"))
    return base.rstrip("s") if len(base) > 4 else base
