"""Limits that a user sets in words: an act that is ruled out, the things that it is ruled out for, and until when.

A sentence is read by its structure: a negation that speaks to the agent, a verb of a closed set, and what the
verb is done to ("don't push to main"); a thing and the state that it shall keep ("`.env` stays untouched"); or
the only thing that is allowed ("keep it inside src/"). The words are tables in `data/`. What is not sure to be a
limit is none: questions, reports, quotations, pasted documents. Later prompts lift limits.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vector_memory.observe.intent.grammar import ALIASES, NOUNS, RUNS, SAYS, THINGS, VERBS, any_of
from vector_memory.text import tables
from vector_memory.text.mentions import files

EDIT, DELETE, MOVE, CREATE, READ, COMMIT, PUSH, REQUEST, INSTALL, RUN, NETWORK, DATABASE, BRANCH, HISTORY, MERGE = (
    "edit", "delete", "move", "create", "read", "commit", "push", "request", "install", "run", "network", "database",
    "branch", "history", "merge",
)  # fmt: skip
API, COMMENT, DO = "api", "comment", "do"
ANYTHING, CODE, WRITE, FORCE = "*", "code", "write", "--force"
ON_FILES = frozenset({EDIT, DELETE, MOVE, READ})
MOST_SAID, MOST_CHARS, MOST_LIMITS = 160, 6_000, 24


_Found = tuple[str, tuple[str, ...], bool]


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
    """

    act: str
    things: tuple[str, ...]
    said: str
    is_only: bool = False
    waits: bool = False


_PHRASES = [
    (act, () if thing == "-" else (thing,), re.compile(phrase))
    for act, thing, phrase in (line.split(" ", 2) for line in tables.lines("limit_phrases"))
]
_WORDS = {"code": EDIT, "file": CREATE, "files": CREATE}
_STRAIGHT = str.maketrans("\u2019\u201c\u201d", '\'""')
_DONE_TO = {
    INSTALL: (INSTALL, CREATE, DO), REQUEST: (CREATE, READ), NETWORK: (DO, NETWORK), DATABASE: (DO, EDIT, READ, DELETE),
    COMMENT: (CREATE, EDIT), API: (EDIT, "break", MOVE), HISTORY: (EDIT,),
}  # fmt: skip
"""What is done to a thing that makes another act of it: who opens a pull request reads no file."""


def read(prompt: str) -> list[Limit]:
    """Return the limits that a prompt sets."""
    own = SAYS["foreign"].sub(" \u2026 ", prompt[:MOST_CHARS].translate(_STRAIGHT))
    own = SAYS["quoted"].sub(_unquoted, own)
    everywhere = _paths(own.lower())
    limits: list[Limit] = []
    before, heading, asked = "", "", set[str]()
    for line in SAYS["sentence"].split(own):
        said = SAYS["bullet"].sub("", line).strip()
        if SAYS["heading"].match(said.lower()):
            heading = "do not "
            continue
        heading = heading if heading and line.lstrip()[:1] in "-*\u2022" and said else ""
        sentence = (heading + said).lower()
        sentence = SAYS["by_no_means"].sub("do not ", sentence)
        sentence = SAYS["aside"].sub("", sentence).replace("w/o ", "without ")
        sentence = SAYS["solely"].sub("only", sentence)
        if 3 < len(sentence) < 600 and not SAYS["unsure"].search(sentence):
            if not sentence.endswith("?") or SAYS["asking"].search(sentence):
                limits += _of_sentence(sentence, before, everywhere, heading + said)
            asked.update(map(_asked, SAYS["clause"].split(sentence)))
        before = sentence or before
    # Who says in the same breath that it is to be done, or what alone may be, only told of the rest.
    is_only = any(one.is_only and one.act == EDIT for one in limits)
    return _once(
        one
        for one in limits
        if (one.things or one.waits or one.act not in asked)
        and not (is_only and (one.act, one.things) == (EDIT, (ANYTHING,)))
    )


def _unquoted(found: re.Match[str]) -> str:
    """Keep what stands between quotation marks where it is a name: more words are somebody else's."""
    return found[0] if len(found[2].split()) < 3 else " \u2026 "


def _once(limits: Iterable[Limit]) -> list[Limit]:
    return list({(one.act, one.things, one.is_only): one for one in limits}.values())[:MOST_LIMITS]


def _asked(clause: str) -> str:
    """Return the act that a clause asks for, "" for none."""
    if SAYS["says_not"].search(clause) or SAYS["own"].search(clause):
        return ""
    words = (one for one in re.findall(r"[\w'-]+", clause) if not SAYS["leads"].match(one))
    first = next(words, "")
    act, verb = VERBS.get(first, ("", ""))
    return act if verb == first else ""


def _of_sentence(
    sentence: str, earlier: str, everywhere: tuple[str, ...], said: str
) -> Iterator[Limit]:
    said = said if len(said) <= MOST_SAID else said[: MOST_SAID - 1] + "\u2026"
    if own := SAYS["own"].search(sentence):
        acts = dict(VERBS[verb] for verb in SAYS["verbs"].findall(own[0]))
        yield from (Limit(act, (), said) for act in (COMMIT, PUSH, MERGE) if act in acts)
        yield from (Limit(RUN, (verb,), said) for act, verb in acts.items() if act == RUN)
    if asks := SAYS["ask_first"].search(sentence):
        context = _Context(everywhere, earlier)
        for act, things, is_only in _resolved(asks["verb"], "", asks["rest"], context):
            yield Limit(act, things, said, is_only, True)
    for clause in SAYS["clause"].split(sentence.rstrip(" .!")):
        clause = SAYS["courtesy"].sub("", clause.lstrip(" !(").rstrip(" .!)"))
        context = _Context(_things(earlier) or everywhere, earlier)
        condition = SAYS["condition"].search(clause)
        waits = bool(
            SAYS["wait"].search(clause) or (condition and SAYS["by_user"].search(condition[0]))
        )
        for act, things, is_only in _of_clause(clause, context):
            if waits or not condition or (act in ON_FILES and things != (ANYTHING,)):
                yield Limit(act, things, said, is_only, waits)
        earlier = clause if _things(clause) or not _things(earlier) else earlier


def _of_clause(clause: str, context: _Context) -> Iterator[_Found]:
    """Yield act, things, and whether only these are allowed, for each limit of a clause."""
    if phrases := [(act, things) for act, things, phrase in _PHRASES if phrase.search(clause)]:
        yield from ((act, things, False) for act, things in phrases)
    elif alone := SAYS["alone"].search(clause):
        yield EDIT, ("tests" if _first(alone).startswith("test") else "docs",), True
    elif excepted := SAYS["exception"].search(clause):
        if things := _things(_first(excepted)):
            yield EDIT, things, False
        elif excepted["c"]:
            yield PUSH, (excepted["c"],), False
        for verb in SAYS["verbs"].findall(excepted["a"] or "")[:1] if not things else ():
            yield from _resolved(verb, "", "", context)
    elif only := SAYS["only"].search(clause):
        things = _things(_first(only))
        if things and VERBS.get(_first(only, "vwx"), (EDIT,))[0] in (EDIT, CREATE):
            yield EDIT, things, True
    elif rest := SAYS["else"].search(clause):
        if things := _things(clause[: rest.start()]) or _things(context.earlier):
            yield EDIT, things, True
    elif gerund := SAYS["gerund"].search(clause):
        yield from _resolved(gerund["verb"], "", gerund["rest"], context)
    elif unwelcome := SAYS["unwelcome"].match(clause):
        yield from _resolved(unwelcome["verb"], "no", "", context)
    elif (passive := SAYS["unwanted"].match(clause) or SAYS["passive"].match(clause)) and (
        _is_ruled_out(passive)
    ):
        thing = SAYS["begins"].sub("", passive["thing"].rpartition(" that ")[2] + " ").strip()
        noun = re.search(r"\bno(?: \w+)? (\w+)$", passive["thing"])
        if noun and noun[1] in {**VERBS, **NOUNS}:
            yield from _resolved(noun[1], "no", passive["rest"], context)
            return
        if SAYS["none"].match(passive["thing"]):
            thing = thing if _things(thing) else "anything"
        thing = thing or "it"
        yield from _resolved(passive["verb"], "", f"{thing} {passive['rest']}", context)
    elif (found := SAYS["ruled_out"].search(clause)) and _speaks_to_agent(clause, found):
        for verb in (found["verb"], *SAYS["verbs"].findall(found["more"])):
            yield from _resolved(verb, _how(found, verb), found["rest"], context)
    elif (state := SAYS["state"].search(clause)) and (
        state["leave"] is None or _is_addressed(clause, state)
    ):
        thing = _first(state)
        if thing.startswith("nothing"):
            return
        if things := _files_of(EDIT, "leave", "", thing, context):
            yield EDIT, things, False
        elif paths := _paths(clause):
            yield EDIT, paths, False
        elif branch := SAYS["branches"].search(thing):
            yield PUSH, (branch[0],), False
        elif words := [*SAYS["nouns"].findall(thing), *SAYS["verbs"].findall(thing)]:
            yield from _resolved(words[0], "no", "", context)
    elif (wait := SAYS["wait"].search(clause)) and not (
        SAYS["says_not"].search(clause[: wait.start()]) or SAYS["describes"].match(clause)
    ):
        yield from _resolved(wait["verb"], "", wait["rest"].strip() or "anything", context)


def _how(found: re.Match[str], word: str) -> str:
    """Return how a word must stand to be ruled out: "not" do, "off" doing, "no" deed."""
    if not found["no"]:
        is_said_of_all = found["not"] and found["not"].startswith(("nobody", "no one"))
        return "" if is_said_of_all else "not" if found["not"] else "off"
    is_verb = not found["no"].startswith(("no", "zero", "skip")) and word in VERBS
    return (
        "off"
        if is_verb and word.endswith("ing")
        else "not"
        if is_verb and VERBS[word][1] == word
        else "no"
    )


def _first(found: re.Match[str], groups: str = "") -> str:
    """Return what stands in the first of these groups; of all with small letters for names, but for verbs (v, w, x),
    if none are told."""
    told = groups or (name for name in found.groupdict() if len(name) == 1 and name not in "vwx")
    return next((text for text in map(found.group, told) if text is not None), "")


def _is_ruled_out(passive: re.Match[str]) -> bool:
    """Whether a sentence in the passive voice forbids, rather than tells how things are."""
    said = passive[0][len(passive["thing"]) : passive.start("verb")]
    if passive.re is SAYS["unwanted"] or passive["verb"] == "change":
        return not passive["thing"].endswith("you")
    if not passive["verb"].endswith(("ed", "en", "run", "made")):
        return False
    is_ruled = "not" in said or "n't" in said or SAYS["none"].match(passive["thing"])
    is_wish = " be " in said or " gets " in said or SAYS["sees_to_it"].search(passive["thing"])
    return bool(is_ruled and is_wish)


def _is_addressed(clause: str, found: re.Match[str]) -> bool:
    """Whether what stands before leaves the agent as the one that is spoken to."""
    before = clause[: found.start()].rstrip()
    leading = SAYS["leading"].search(before + " ")
    rest = before[: leading.start()].strip() if leading else before
    first = leading[0].split()[:1] if leading else []
    return not rest or (
        bool(first) and first[0].strip(",") in SAYS["conjunction"].pattern.split("|")
    )


def _speaks_to_agent(clause: str, found: re.Match[str]) -> bool:
    is_bare = found["off"] and not found["off"].startswith("not")
    if (is_bare or (found["no"] or "").startswith("without")) and SAYS["describes"].match(clause):
        return False
    if is_bare:
        return True
    if found[0].startswith("i ") and not re.match(r"i \S+(?: not)? want", found[0]):
        return False
    return bool(found["no"]) and found["no"].startswith("without") or _is_addressed(clause, found)


def _resolved(word: str, how: str, rest: str, context: _Context) -> Iterator[_Found]:
    """Yield the limit that a verb or a noun and what stands behind it make, if a call can be held against it."""
    act, verb = VERBS.get(word, (_WORDS.get(word) or NOUNS.get(word, DO), word))
    if (how == "not" and word != verb) or (how == "off" and not word.endswith("ing")):
        return
    thing = SAYS["tail"].sub("", f" {rest.strip()}").strip() or "code" * (word == "code")
    if (
        how == "no"
        and NOUNS.get(word, RUN) == RUN
        and thing not in ("", "code")
        and not SAYS["where"].match(thing)
    ):
        return
    noun = next((NOUNS[one] for one in (word, *SAYS["nouns"].findall(thing)) if one in NOUNS), "")
    is_noun = (how == "no" and word in NOUNS) or act in _DONE_TO.get(noun, ())
    if act in (RUN, DO) and (command := SAYS["command"].match(thing)):
        yield RUN, (command[1],), False
    elif is_noun and noun != RUN and (noun == API or not _paths(thing)):
        yield from _of_noun(noun, act, verb, rest)
    elif act in ON_FILES:
        if things := _files_of(act, verb, how, thing, context):
            yield act, things, False
    elif act in (RUN, DO):
        if what := _command(verb, thing, context):
            yield RUN, (what,), False
    elif act == CREATE and (how == "no" or SAYS["new_file"].search(thing)):
        language = tuple("*." + one for one in SAYS["language"].findall(thing))
        yield act, language or _paths(thing), False
    elif act in (CREATE, BRANCH):
        if SAYS["branch"].search(thing):
            yield BRANCH, (), False
    elif act == HISTORY:
        yield act, (), False
    else:
        target = SAYS["target"].search(thing)
        names = (
            [target[1].rstrip("./")] if target and not SAYS["no_objects"].match(target[1]) else []
        )
        names = [*context.named] if target and target[0].endswith((" it", " there")) else names
        if all(
            SAYS["no_objects"].match(one) or one in names
            for one in re.findall(r"[\w'-]+", SAYS["aim"].split(thing)[0])
        ):
            yield act, (FORCE,) if "force" in f"{verb} {thing}" else tuple(names), False


def _of_noun(noun: str, act: str, verb: str, rest: str) -> Iterator[_Found]:
    """Yield the limit that a noun makes whatever its verb: "new dependencies", "the database", "the API"."""
    allowed = SAYS["allowed"].search(rest)
    if noun == INSTALL and allowed:
        yield INSTALL, tuple(re.findall(r"[a-z@][\w./@*-]+", allowed[1])), True
    elif noun == API:
        yield API, _paths(rest), False
    elif noun == DATABASE and act in (EDIT, DELETE) and verb not in ("touch", "go near", "go into"):
        yield DATABASE, (WRITE,), False
    elif noun != DATABASE or not SAYS["about_code"].search(rest):
        yield noun, (), False


def _files_of(act: str, verb: str, how: str, thing: str, context: _Context) -> tuple[str, ...]:
    """Return the files that a verb is done to."""
    if not thing:
        return (ANYTHING,) if how == "no" else context.named
    within = re.match(r"(?:anything )?(?:to|in|of|from|under|inside) ", thing)
    thing = thing[within.end() :] if within else thing
    if SAYS["that"].match(thing):
        return context.named
    if SAYS["code"].match(thing) or SAYS["anything"].match(thing):
        return (CODE,) if SAYS["code"].match(thing) else (ANYTHING,)
    bare = SAYS["bare"].match(re.split(r"\s(?:that|which|in)\b", thing)[0])
    is_name = bare and not SAYS["no_names"].match(bare[1])
    may_be = within or act in (DELETE, READ) or verb in ("touch", "edit", "mess")
    return _things(thing) or ((bare[1],) if bare and is_name and may_be else ())


def _command(verb: str, thing: str, context: _Context) -> str:
    """Return what must not be run: a command, a kind of command, a path; "" if that cannot be told."""
    means = context.earlier if SAYS["that"].match(thing) else f"{verb} {thing}"
    kinds = (
        one for one in RUNS if re.search(rf"\b{one.removesuffix('s')}(?:s|ment|ting)?\b", means)
    )
    if quoted := re.match(r"`([^`\n]{2,80})`", thing):
        return quoted[1]
    is_own = VERBS.get(verb, (RUN,))[0] == RUN
    if (kind := next(kinds, "")) and not (is_own and verb == "restart"):
        return kind
    if is_own:
        return verb
    if paths := _paths(thing) or (context.named if SAYS["that"].match(thing) else ()):
        return paths[0]
    is_name = (
        verb == "use" and re.fullmatch(r"[\w.-]+", thing) and not SAYS["no_names"].match(thing)
    )
    return thing if is_name else ""


def _paths(text: str) -> tuple[str, ...]:
    """Return the paths that a text names as such."""
    plain = re.sub(r"[`\"(]", " ", text)
    named = [*files(plain), *SAYS["folder"].findall(plain)]
    cleaned = dict.fromkeys(re.sub(r"[/.,)]+$", "", one).removeprefix("./") for one in named)
    paths = [one for one in cleaned if len(one) > 1 and one not in ("and/or", "w/o", "n/a")]
    return tuple(
        one for one in paths if not any(other != one and other.endswith(one) for other in paths)
    )[:12]


def _things(text: str) -> tuple[str, ...]:
    """Return the paths and places that a text names, also by their kind."""
    rest, paths = text, _paths(text)
    for one in paths:
        rest = rest.replace(one, " ")
    kinds = [ALIASES.get(one, one) for one in SAYS["place"].findall(rest)]
    names = [*SAYS["named_folder"].findall(rest), *re.findall(r"`([\w.@*~-]+)`", rest)]
    names = [one for one in names if one not in kinds and not SAYS["no_names"].match(one)]
    return tuple(dict.fromkeys((*paths, *names, *kinds)))[:12]


def after(limits: Sequence[Limit], prompt: str) -> list[Limit]:
    """Return the limits that hold after one more prompt: those that it lifts are gone, its own are there."""
    own, low = read(prompt), prompt.lower()
    if SAYS["forget"].search(low):
        return own
    anew = {(one.act, one.is_only) for one in own if one.is_only or not one.things}
    held = [one for one in limits if (one.act, one.is_only) not in anew]
    return _once([*(one for one in held if one in own or not _lifts(low, one)), *own])


def _lifts(prompt: str, limit: Limit) -> bool:
    """Whether a prompt, in small letters, lifts a limit that it does not set again."""
    goes_on = bool(SAYS["go"].search(prompt) or SAYS["other"].search(prompt))
    names_it = any(_spoken(one) in prompt for one in limit.things)
    if limit.waits and SAYS["approved"].search(prompt):
        return True
    if SAYS["for_this"].search(limit.said.lower()) and goes_on:
        return not names_it
    if limit.act in ON_FILES:
        is_wide = limit.is_only or limit.things[:1] in ((ANYTHING,), (CODE,))
        return goes_on and not names_it if is_wide else names_it
    if limit.act == CREATE:
        return bool(SAYS["other_file"].search(prompt))
    verbs = {
        form for form, (act, _) in VERBS.items() if act in (limit.act, DO)[: 1 + (limit.act == RUN)]
    }
    words = any_of({*verbs, *THINGS.get(limit.act, ()), *limit.things})
    return bool(re.search(rf"\b(?:{words})\b", prompt))


def _spoken(thing: str) -> str:
    base = posixpath.basename(thing.rstrip("/*"))
    return base.rstrip("s") if len(base) > 4 else base
