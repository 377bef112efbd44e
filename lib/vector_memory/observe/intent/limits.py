"""Limits that a user sets in words: an act that is ruled out, the things that it is ruled out for, and until when.

A clause is read by the kinds of its words (`limit_words.txt`): what negates, what keeps, what leaves all else out, acts,
things, and words that every request has. It sets a limit if it has a negation or a keeping, an act or a thing, and
nothing else before them: then it speaks to the agent, and of nobody else. What is not sure to be a limit is none:
questions, reports, quotations, pasted documents. Later prompts lift limits.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vector_memory.observe.intent.grammar import ALIASES, NOUNS, RUNS, SAYS, THINGS, VERBS, any_of
from vector_memory.text import tables
from vector_memory.text.mentions import files

EDIT, DELETE, MOVE, CREATE, READ, COMMIT, PUSH, REQUEST, INSTALL, RUN, NETWORK, DATABASE, BRANCH, HISTORY, MERGE = (
    "edit", "delete", "move", "create", "read", "commit", "push", "request", "install", "run", "network", "database",
    "branch", "history", "merge",
)  # fmt: skip
API, COMMENT, DO = "api", "comment", "do"
ANYTHING, CODE, PRODUCT, WRITE, FORCE = "*", "code", "production code", "write", "--force"
ON_FILES = frozenset({EDIT, DELETE, MOVE, READ})
MOST_SAID, MOST_CHARS, MOST_LIMITS, LONGEST_SENTENCE = 160, 6_000, 24, 600


class _ClauseWord(NamedTuple):
    """A word, or several that say one thing, of a clause, and its kind: a letter of `limit_words.txt`."""

    kind: str
    text: str
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
    """

    act: str
    things: tuple[str, ...]
    said: str
    is_only: bool = False
    waits: bool = False


_Found = tuple[str, tuple[str, ...], bool]
_PHRASES = [
    (act, () if thing == "-" else (thing,), re.compile(phrase))
    for act, thing, phrase in (line.split(" ", 2) for line in tables.lines("limit_phrases"))
]
_STRAIGHT = str.maketrans("\u2019\u201c\u201d", '\'""')
_WIDE = {"r": PRODUCT, "d": CODE, "g": ANYTHING}
"""What words of these kinds mean."""
_BASES = {verb for _, verb in VERBS.values()}
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
        sentence = SAYS["short"].sub(r"\1n't", (heading + said).lower())
        sentence = SAYS["opening"].sub(r"\1 \2", sentence).replace("w/o ", "without ")
        sentence = sentence.replace("out of the question", "forbidden")
        if len(sentence) > LONGEST_SENTENCE:
            continue
        if not SAYS["unsure"].search(sentence):
            if not sentence.endswith("?") or SAYS["asking"].search(sentence):
                limits += _of_sentence(sentence, before, everywhere, heading + said)
            asked.update(map(_asked, SAYS["clause"].split(sentence.rstrip(" .!"))))
        before = sentence or before
    # Who says in the same breath that it is to be done only told of the rest.
    return _once(limit for limit in limits if limit.things or limit.waits or limit.act not in asked)


def _unquoted(found: re.Match[str]) -> str:
    """Keep what stands between quotation marks where it is a name: more words are somebody else's."""
    return found[0] if len(found[2].split()) < 3 else " \u2026 "


def _once(limits: Iterable[Limit]) -> list[Limit]:
    return list({(limit.act, limit.things, limit.is_only): limit for limit in limits}.values())[
        :MOST_LIMITS
    ]


@lru_cache(256)
def _words(clause: str) -> tuple[_ClauseWord, ...]:
    """Return the words of a clause that say something, each with its kind."""
    found = SAYS["word"].finditer(clause)
    kinds = ((one.lastgroup or "x", one[0], one.end()) for one in found)
    return tuple(
        # "force-push" is "force push".
        _ClauseWord(kind, text.replace("-", " ") if kind == "a" else text, end)
        for kind, text, end in kinds
        if kind != "f"
    )


def _kinds(clause: str) -> str:
    """Return the kinds of a clause's words in a row: all that mean no thing by its name are one."""
    return "".join("c" if word.kind in _WIDE else word.kind for word in _words(clause))


def _asked(clause: str) -> str:
    """Return the act that a clause asks for, "" for none."""
    words = _words(clause)
    if not words or words[0].kind != "a" or any(word.kind in "nk" for word in words):
        return ""
    if SAYS["own"].search(clause):
        return ""
    act, verb = VERBS.get(words[0].text, ("", ""))
    return act if verb == words[0].text else ""


def _of_sentence(
    sentence: str, earlier: str, everywhere: tuple[str, ...], said: str
) -> Iterator[Limit]:
    said = said if len(said) <= MOST_SAID else said[: MOST_SAID - 1] + "\u2026"
    asks = SAYS["wait"].search(sentence)
    if asks and not SAYS["describes"].match(sentence) and "s" not in _kinds(sentence):
        rest = asks["rest"] or asks["rest2"] or "anything"
        found = _resolved(asks["verb"] or asks["verb2"], rest, _Context(everywhere, earlier))
        yield from (Limit(act, things, said, is_only, True) for act, things, is_only in found)
        return
    for clause in SAYS["clause"].split(SAYS["label"].sub(r"\1 ", sentence).rstrip(" .!")):
        clause = clause.lstrip(" !(").rstrip(" .!)")
        context = _Context(_things(earlier) or everywhere, earlier)
        condition = SAYS["condition"].search(clause)
        waits = bool(condition and SAYS["by_user"].search(condition[0]))
        for act, things, is_only in _of_clause(clause, context):
            if waits or not condition or (act in ON_FILES and things != (ANYTHING,)):
                yield Limit(act, things, said, is_only, waits)
        earlier = clause if _things(clause) or not _things(earlier) else earlier


def _of_clause(clause: str, context: _Context) -> Iterator[_Found]:
    """Yield act, things, and whether only these are allowed, for each limit of a clause."""
    words = _words(clause)
    kinds = _kinds(clause)
    if phrases := [(act, things) for act, things, phrase in _PHRASES if phrase.search(clause)]:
        yield from ((act, things, False) for act, things in phrases)
    elif "s" in kinds:
        return
    elif own := SAYS["own"].search(clause):
        for verb in dict.fromkeys(word.text for word in _words(own[0]) if word.kind == "a"):
            if VERBS.get(verb, ("",))[0] in (COMMIT, PUSH, MERGE, RUN, REQUEST) or verb in NOUNS:
                yield from _resolved(verb, "", context)
        if {"a", "x"}.isdisjoint(kinds) and (things := _things(clause)):
            yield EDIT, things, False
    elif "e" in kinds or "o" in kinds:
        yield from _of_exception(clause, words, kinds, context)
    elif "n" in kinds:
        yield from _of_negation(clause, words, kinds, context)
    elif ("k" in kinds and not _asked(words[0].text)) or (
        re.search("l[tc]+$|tl$", kinds) and SAYS["let"].search(clause)
    ):
        things = _files_of(clause, context)
        is_kept = "l" in kinds or "hands off" in clause or things in ((CODE,), (PRODUCT,))
        if things := things if is_kept else _things(clause):
            yield EDIT, things, False
        elif branch := SAYS["branches"].search(clause):
            yield PUSH, (branch[0],), False
        elif deed := next((word.text for word in words if word.text in VERBS), ""):
            yield from _resolved(deed, "", context)


def _of_exception(
    clause: str, words: Sequence[_ClauseWord], kinds: str, context: _Context
) -> Iterator[_Found]:
    """Yield the limit of a clause that sets something apart: "only X", "nothing but X", "everything except X", "the
    rest"."""
    place = kinds.find("e") if "e" in kinds else kinds.find("o")
    after, before = clause[words[place].end :], clause[: words[place].end]
    is_forbidden = not {*"nklo"}.isdisjoint(kinds) or words[place].text.startswith("no")
    acts = {VERBS[word.text][0] for word in words[:place] if word.text in VERBS}
    things = _things(after)
    is_of_packages = any(NOUNS.get(word.text) == INSTALL for word in words[:place])
    if is_of_packages or kinds[place : place + 2] == "ox" or re.search("n.*x.*e", kinds):
        return
    elif (
        things
        and acts <= {EDIT, CREATE, DELETE}
        and (is_forbidden or kinds[0] == "e" or SAYS["all"].search(before))
    ):
        yield EDIT, things, is_forbidden
    elif is_forbidden and not things and (things := _things(before) or _things(context.earlier)):
        yield EDIT, things, True
    elif not (is_forbidden or things):
        for one in [word for word in _words(after) if word.kind == "a"][:1]:
            yield from _resolved(one.text, after[one.end :], context)


def _of_negation(
    clause: str, words: Sequence[_ClauseWord], kinds: str, context: _Context
) -> Iterator[_Found]:
    """Yield the limits of a clause that negates something."""
    place = kinds.index("n")
    before, after, no = kinds[:place], kinds[place + 1 :], words[place].text
    start, said = words[place].end, clause[: words[place].end]
    acts = [word for word in words[place + 1 :] if word.kind == "a"]
    verb = acts[0] if acts else None
    is_passive = verb is not None and SAYS["done"].search(clause[: verb.end]) is not None
    is_passive = is_passive and not SAYS["by_others"].search(clause)
    how = "off" if SAYS["off"].match(no) else "no" if SAYS["none"].match(no) else "not"
    is_change = verb is not None and verb.text.startswith("change") and "x" not in before
    if how == "not" and not re.search("[atx]", before) and re.match("w+a", after):
        before, after = "", after.lstrip("w")
    is_wish = SAYS["wants"].search(clause[words[place].end - len(no) :])
    if is_wish and how == "not" and verb and verb.text not in _BASES:
        how = "no"
    is_verdict = how == "not" and (
        is_passive or is_change or re.fullmatch("w+", after) or SAYS["predicate"].match(no)
    )
    is_command = not before and after[:1] == "x" and (not verb or verb.text in VERBS)
    if is_command and (command := SAYS["command"].match(clause[start:].lstrip())):
        yield RUN, (command[1].removesuffix("s"),), False
    elif ("t" in before and after[:1] in ("", "k", "w")) or (
        is_verdict and re.search("[at]|c$", before)
    ):
        # Something is said of a thing or a deed: "X must not be touched", "commits are forbidden".
        deed = next((word for word in words[:place] if word.kind == "a"), None)
        done = verb.text if verb and (is_passive or is_change) else ""
        if things := _files_of(said, context) if done or "t" in before else ():
            yield VERBS.get(done, (EDIT,))[0], things, False
        elif deed:
            yield from _resolved(deed.text, clause[deed.end : start - len(no)], context, deed.text)
        elif SAYS["new_file"].search(said):
            yield CREATE, (), False
    elif no == "nothing" and before == "a" and not after and words[0].text in _BASES:
        # "Change nothing": the object stands behind.
        yield from _resolved(words[0].text, "", context, "anything")
    elif SAYS["describes"].match(clause) if how == "off" else re.search("[actx]", before):
        return
    elif verb and after[0] == "a":
        how = "off" if no == "not" and verb.text.endswith("ing") else how
        yield from _of_acts(clause, acts, how, is_passive, context)
    elif verb and re.match("[tc]+x?a", after) and (is_passive or is_wish):
        named = [
            word.text for word in words[place + 1 :] if word.kind in "tcgdr" and word.end < verb.end
        ]
        rest = f"{' '.join(named)} {clause[verb.end :]}"
        yield from _resolved(verb.text, rest, context, no)
    elif after[:1] in ("t", "c") and not {"x", "n"} & set(after):
        thing = clause[start:]
        if (things := _files_of(thing, context)) and things != (ANYTHING,):
            yield EDIT, things, False
        elif SAYS["new_file"].search(thing) and how == "no" and not verb:
            yield CREATE, (), False


def _of_acts(
    clause: str, acts: Sequence[_ClauseWord], how: str, is_passive: bool, context: _Context
) -> Iterator[_Found]:
    """Yield the limits of one act or several that stand right behind a negation."""
    light = len(acts) > 1 and VERBS.get(acts[0].text, ("",))[0] in (CREATE, DO)
    between = clause[acts[0].end : acts[1].end - len(acts[1].text)] if light else "?"
    if SAYS["number"].fullmatch(between) and acts[1].text in VERBS:
        # "make a commit", "do the deployment"
        acts, how = acts[1:], "no"
    for one, following in zip(acts, [*acts[1:], None], strict=True):
        # "No formatting errors" speaks of errors.
        next_word = re.match(r"\s(\w+)", clause[one.end :]) if how == "no" else None
        is_part = next_word and _kinds(next_word[1]) == "x" and NOUNS.get(one.text, RUN) == RUN
        if is_part or not _is_form(one.text, how, is_passive):
            return
        yield from _resolved(one.text, clause[one.end :], context, "anything" * (how != "not"))
        between = clause[one.end : following.end - len(following.text)] if following else ""
        if not SAYS["and"].fullmatch(between):
            return


def _is_form(word: str, how: str, is_passive: bool) -> bool:
    """Whether a word stands as what is ruled out: "not" do, "off" doing or a deed, "no" deed, "nothing" done."""
    act, verb = VERBS.get(word, ("", ""))
    if how == "not":
        return word == verb
    is_deed = act in ("", COMMIT, PUSH, MERGE, RUN, INSTALL)
    return is_passive or is_deed or word.endswith(("ing", "ion", "s"))


def _resolved(word: str, rest: str, context: _Context, whole: str = "") -> Iterator[_Found]:
    """Yield the limit that an act and what stands behind it make, if a call can be held against it."""
    act, verb = VERBS.get(word, (NOUNS.get(word, DO), word))
    thing = SAYS["tail"].sub("", f" {rest.strip()}").lstrip(" ,:").rstrip(" ,.:")
    nouns = [other.text for other in _words(thing) if other.text in NOUNS]
    noun = next((NOUNS[one] for one in (word, *nouns) if one in NOUNS), "")
    is_noun = word not in VERBS or act in _DONE_TO.get(noun, ())
    if act in (RUN, DO) and (command := SAYS["command"].match(thing)):
        yield RUN, (command[1],), False
    elif noun and is_noun and noun != RUN and (noun == API or not _paths(thing)):
        yield from _of_noun(noun, act, verb, rest)
    elif act in ON_FILES:
        is_bare = not _words(thing)
        things = _files_of(thing, context) or ((ANYTHING,) if is_bare and whole else ())
        if things := things or (context.named if is_bare else _bare(thing, act)):
            yield act, things, False
    elif act in (RUN, DO):
        if what := _command(verb, thing, context):
            yield RUN, (what,), False
    elif act == CREATE:
        if SAYS["new_file"].search(thing) or (whole and not _words(thing)):
            yield act, _paths(thing), False
        elif SAYS["branch"].search(thing):
            yield BRANCH, (), False
    elif act == HISTORY or (act == BRANCH and SAYS["branch"].search(thing)):
        yield act, (), False
    elif act != BRANCH:
        target = SAYS["target"].search(thing)
        names = [group.rstrip("./") for group in target.groups() if group] if target else []
        names = [name for name in names if not SAYS["no_objects"].match(name)]
        others = re.findall(r"[\w'-]+", SAYS["aim"].split(thing)[0])
        if all(SAYS["no_objects"].match(other) or other in names for other in others):
            yield act, (FORCE,) if "force" in f"{verb} {thing}" else tuple(names), False


def _of_noun(noun: str, act: str, verb: str, rest: str) -> Iterator[_Found]:
    """Yield the limit that a noun makes whatever its verb: "new dependencies", "the database", "the API"."""
    if noun == API:
        yield API, _paths(rest), False
    elif noun == DATABASE and act in (EDIT, DELETE) and verb not in ("touch", "go near", "go into"):
        yield DATABASE, (WRITE,), False
    else:
        yield noun, (), False


def _files_of(thing: str, context: _Context) -> tuple[str, ...]:
    """Return the files that words name: as such, by their kind, or as what was named before."""
    if things := _things(thing):
        return things
    kinds = {word.kind for word in _words(thing)}
    if "x" in kinds:
        return ()
    wide = next((name for kind, name in _WIDE.items() if kind in kinds), "")
    # "Those files" are the ones that were named, "files" are any.
    if "c" in kinds and (context.named or not wide):
        return context.named
    return (wide,) if wide else ()


def _bare(thing: str, act: str) -> tuple[str, ...]:
    """Return the one plain word that names what must not be deleted, read or touched; what is renamed is seldom a file."""
    within = re.match(r"(?:anything )?(?:to|in|of|from|under|inside) ", thing)
    thing = thing[within.end() :] if within else thing
    bare = SAYS["bare"].match(re.split(r"\s(?:that|which|in|code)\b", thing)[0])
    return (bare[1],) if act != MOVE and bare and not SAYS["no_names"].match(bare[1]) else ()


def _command(verb: str, thing: str, context: _Context) -> str:
    """Return what must not be run: a command, a kind of command, a path; or the words of one."""
    thing = context.earlier if thing and SAYS["that"].match(thing) else thing
    if quoted := re.match(r"`([^`\n]{2,80})`", thing):
        return quoted[1]
    for kind in RUNS if verb != "restart" else ():
        if re.search(rf"\b(?:re)?{kind.removesuffix('s')}(?:s|ment|ting)?\b", f"{verb} {thing}"):
            return kind
    if VERBS.get(verb, (NOUNS.get(verb),))[0] == RUN:
        return verb
    if paths := _paths(thing):
        return paths[0]
    if verb == "use":
        is_name = re.fullmatch(r"[\w.-]+", thing) and not SAYS["no_names"].match(thing)
        return thing if is_name else ""
    others = [word.text for word in _words(thing) if word.kind == "x" and word.text.isalnum()]
    return " ".join((ANYTHING, *others)) if others else ""


def _paths(text: str) -> tuple[str, ...]:
    """Return the paths that a text names as such."""
    plain = re.sub(r"[`\"(]", " ", text)
    named = [*files(plain), *SAYS["folder"].findall(plain)]
    cleaned = dict.fromkeys(re.sub(r"[/.,)]+$", "", one).removeprefix("./") for one in named)
    paths = [
        one for one in cleaned if re.search(r"\w", one[:-1]) and one not in ("and/or", "w/o", "n/a")
    ]
    return tuple(paths)[:12]


def _things(text: str) -> tuple[str, ...]:
    """Return the paths and places that a text names, also by their kind."""
    rest, paths = text, _paths(text)
    for path in paths:
        rest = rest.replace(path, " ")
    kinds = [ALIASES.get(one, one) for one in SAYS["place"].findall(rest)]
    names = [*SAYS["named_folder"].findall(rest), *re.findall(r"`([\w.@*~-]+)`", rest)]
    names = [name for name in names if name not in kinds and not SAYS["no_names"].match(name)]
    return tuple(dict.fromkeys((*paths, *names, *kinds)))[:12]


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
    goes_on = bool(SAYS["go"].search(prompt) or SAYS["other"].search(prompt))
    names_it = any(_spoken(one) in prompt for one in limit.things)
    if limit.waits and SAYS["approved"].search(prompt):
        return True
    if SAYS["for_this"].search(limit.said.lower()) and goes_on:
        return not names_it or "for now" in limit.said.lower()
    if limit.act in ON_FILES:
        is_wide = limit.is_only or limit.things[:1] in ((ANYTHING,), (CODE,))
        return goes_on and not names_it if is_wide else names_it
    verbs = {
        form for form, (act, _) in VERBS.items() if act in (limit.act, DO)[: 1 + (limit.act == RUN)]
    }
    words = any_of({*verbs, *THINGS.get(limit.act, ()), *limit.things})
    return bool(re.search(rf"\b(?:{words})\b", prompt))


def _spoken(thing: str) -> str:
    base = posixpath.basename(thing.rstrip("/*"))
    return base.rstrip("s") if len(base) > 4 else base
