"""Limits that a user sets in words: an act that is ruled out, the things that it is ruled out for, and until when.

A sentence is read by its structure: a negation that speaks to the agent, a verb of a closed set, and what the
verb is done to ("don't push to main"); a thing and the state that it shall keep ("`.env` stays untouched"); or
the only thing that is allowed ("keep it inside src/"). The words are tables in `data/`. What is not sure to be a
limit is none: questions, reports, quotations, pasted documents. Later prompts lift limits.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vector_memory.text import tables
from vector_memory.text.mentions import files

EDIT, DELETE, MOVE, CREATE, READ, COMMIT, PUSH, REQUEST, INSTALL, RUN, NETWORK, DATABASE, BRANCH, HISTORY, MERGE = (
    "edit", "delete", "move", "create", "read", "commit", "push", "request", "install", "run", "network", "database",
    "branch", "history", "merge",
)  # fmt: skip
API, COMMENT = "api", "comment"
ANYTHING, CODE, WRITE, FORCE = "*", "code", "write", "--force"
ON_FILES = frozenset({EDIT, DELETE, MOVE, READ})
MOST_SAID, MOST_CHARS, MOST_LIMITS = 160, 6_000, 24


_Found = tuple[str, tuple[str, ...], bool]


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


def table(name: str) -> dict[str, list[str]]:
    """Return a table of `data/` whose lines are `name: word word`."""
    rows = (line.partition(": ") for line in tables.lines(name))
    return {key: rest.split("; " if "; " in rest else None) for key, _, rest in rows}


def _forms(verb: str) -> set[str]:
    """Return a verb as it stands after "don't", "without" and "must not be"."""
    stem = verb.removesuffix("e")
    short = stem[:-1] if verb.endswith("y") else stem
    forms = {verb, verb + "s", verb + "es", stem + "ing", stem + "ed", verb + verb[-1] + "ing"}
    return forms | {verb + verb[-1] + "ed", short + "ies", short + "ied", short + "ten"}


ACTS = table("limit_acts")
THINGS = table("limit_things")
RUNS = table("limit_runs")
PLACES = table("limit_places")
_ALIASES = {"spec": "tests", "specs": "tests", "test": "tests", "documentation": "docs", "lock file": "lockfile", "lock files": "lockfile", "ci config": "workflows", "ci pipeline": "workflows"}  # fmt: skip
_ALIASES |= {one.removesuffix("s"): one for one in PLACES}
_VERBS = {
    form.replace("-", " "): (act, verb.replace("-", " "))
    for act, verbs in reversed(ACTS.items())
    for verb in verbs
    for form in _forms(verb)
}
_NOUNS = {noun.replace("-", " "): act for act, nouns in THINGS.items() for noun in nouns}
_PHRASES = [
    (act, () if thing == "-" else (thing,), re.compile(phrase))
    for act, thing, phrase in (line.split(" ", 2) for line in tables.lines("limit_phrases"))
]
_VERB = "|".join(sorted(_VERBS, key=len, reverse=True))
_NOUN = "|".join(sorted(_NOUNS, key=len, reverse=True))
_NOT = r"(?:do(?: not|n'?t)|never|(?:must|should|may|shall|can|could)(?: ?not|n'?t)|not to|(?:'re| are) not (?:allowed|supposed) to)"

# -- whose words, and where they end ---------------------------------------------------------------

_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|^\s*[>|][^\n]*|<([a-z][\w-]*)>.*?</\1>|^#{1,6} .*\Z"
    r"|(?:^(?!\W*(?:ground )?(?:constraint|rule|limit|note|important|scope|todo|requirement|do\b))\W*[a-z][\w -]{0,24}:[ \t]+[^\n]*(?:\n|\Z)){2,}"
    r"|^\W*(?!constraint|rule|limit|note|important|scope|task)[a-z][\w -]{0,24}:[ \t]+[^\s,]+(?:[ \t][^\s,]+){0,1}[ \t]*$"
    r"|(?<!\w)([\"'`])(?=\w)[^\"'`\n]*\s[^\"'`\n]*\s[^\"'`\n]*\2(?!\w)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Code, quotations, tables, what a tool wraps in tags, all from a heading on, rows of labels: words of others."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s(?=\d[.)]\s)")
_BULLET = re.compile(r"^[\s\-*\u2022(]*(?:\d+[.)]|[a-z]\))?\s*")
_PATH = r"[`\"(]*[\w.@*~-]*[/.*][\w.@*~/-]*[`\")]*"
_CLAUSE = re.compile(
    rf",\s+(?!(?:(?:and|or)\s+)?{_PATH}(?:\s*,|\s+(?:or|and)\b|\s*[.!]?$))|[;:](?:\s+|$)|!+\s*|\s[\u2013\u2014-]+\s"
    r"|\s(?:but|while|though|because|since|so that|so|then|which)\s"
    rf"|\s(?:and|or)\s(?=(?:please |also |just |then )?(?:{_NOT}|leave|keep|hands|stay|stick|nothing|no|only|{_VERB})\b)"
)
_UNSURE = re.compile(
    r"^(?:explain )?(?:why|how|what|did|does|where|who)\b|(?<!even )\b(?:if|when(?:ever)?) (?!you|i\b|we\b|they get|it'?s quick)[^,]*\bnot?\b|(?<!even )\b(?:if|when(?:ever)?) (?!you're|you are|i\b|they get|it'?s quick)[^,]*,"
)
_ASKING = re.compile(r"^(?:(?:can|could|would|will) you|would it)\b|\bwithout\b")
_LEAD = frozenset(
    ["from", "here", "until", "further", "notice", "and", "or", "but", "so", "also", "then", "please", "pls", "plz", "kindly", "just", "however", "though", "still", "yet", "again", "ok", "okay", "now", "only", "make", "sure", "ensure", "that", "to", "you", "must", "should", "i'd", "would", "rather", "prefer", "like", "want", "need", "this", "time", "be", "careful", "try", "mind", "here", "today", "'d", "first", "at", "all", "task", "rules", "no", "way", "circumstances", "important", "note", "rule", "remember", "meanwhile", "instead", "on", "better", "best", "let's"]
)  # fmt: skip
_LEADING = re.compile(rf"(?:\b(?:{'|'.join(map(re.escape, _LEAD))})[\s,]+)*$")

# -- what is ruled out -----------------------------------------------------------------------------

_FILL = r"(?:(?:ever|please|you|even|to|want|like|start|try|git|yet|just|any|do|make) )*"
_RULED_OUT = re.compile(
    rf"(?:^|(?<=[\s(]))(?:(?P<not>(?:i )?{_NOT}) {_FILL}|(?P<off>without|avoid|refrain from|hold off(?: on| with)?|not(?: even)?) "
    rf"|(?P<no>no|zero|(?:i )?{_NOT} (?:want|need)(?: any)?|without(?: any)?|skip(?: the)?) "
    r"(?:(?:new|more|other|extra|additional|further|external|third[- ]party|code|source|inline|git|any|npm|python|yet|another|a|the|runtime) )*)"
    rf"(?P<verb>{_NOUN}|{_VERB}|files?|docker|sudo)\b(?P<more>(?:(?: or| and| nor|,) (?:{_VERB})\b)*)(?P<rest>.*)"
)
_PASSIVE = re.compile(
    rf"^(?P<thing>.*?)\s?\b(?:(?:is|are)(?: not|n'?t) to be|(?:must|should|may|can|shall)(?:(?: not|n'?t) be| be)|(?:is|are)(?: not|n'?t)|gets|is|(?:has|have|needs?) to be)"
    rf" (?:ever )?(?P<verb>{_VERB})\b(?P<rest>.*)"
)
_STATE = re.compile(
    r"(?P<leave>\bleave (?P<a>.+?) (?:alone|untouched|unchanged|in place|to me\b|be$|as (?:it|they|is))|\bhands off(?: of)? ?(?P<b>.*)|\b(?:keep|stay|steer) (?:out of|away from|off|clear of) (?P<c>.+)"
    r"|\bkeep (?P<d>.+?) (?:untouched|unchanged|as (?:it|they|is))"
    r"|\b(?:nothing|no (?:changes?|edits?|touching)) (?:under|in|inside|below|within|to|of) (?!there)(?P<f>.+)|\bno (?:changes?|edits?|touching) (?P<g>there|to (?:it|them)|in it)$)"
    r"|^(?P<e>.+?) (?:(?:must|should|has to|have to|needs? to|shall|will|to) )?(?:be|is|are|stays?|remains?)(?: left| kept)? (?:\w+ )?"
    r"(?:untouched|unchanged|as (?:it|they) (?:is|are)|as is|alone|frozen|off[- ]limits|taboo|locked|out of scope|read[- ]only|not yours|not ours|none of (?:your|our) business|byte for byte|owned by)\b"
)
_ONLY = re.compile(
    rf"\bonly (?:ever )?(?:files? (?:that )?you (?:\w+ )?(?P<v>{_VERB}) (?:is|are)|{_FILL}(?P<w>{_VERB}|work in|work on|work within|make changes (?:in|to|within)))(?: (?:the )?(?:function|class|method)s? \S+ in| (?:in|to|within|into))? (?P<a>.*)"
    rf"|\b(?P<x>{_VERB}) only (?P<b>.*)|\b(?:keep|limit|restrict|confine) (?:\w+ ){{0,4}}(?:to|within|inside) (?P<c>.*)"
    rf"|\b(?:stay|stick|remain) (?:strictly |only )?(?:in|within|inside|to|with) (?P<d>.*)"
    r"|\b(?:nothing|no (?:\w+ )?(?:files?|changes|edits)|anything|any (?:other )?(?:files?|code)|other files|files?) (?:(?:that is|that's) )?(?:outside(?: of)?|except(?: for)?|but|other than|beyond|besides) (?P<e>.*)"
)
_ALONE = re.compile(
    r"(?:^(?:(?:this|it)(?: \w+)? is|it's|that's|please)? ?|(?:is|are|it's|that's) )(?:(?:just|only) (?:the )?(?P<a>tests?|docs|documentation|readme|changelog)(?: today| please| for now| now|$)"
    r"|(?P<b>tests?|docs?|documentation|readme|changelog)(?: changes| edits| updates)?[ -]only(?: please|$))"
)
_ELSE = re.compile(
    r"\b(?:anything else|any(?:thing)? other(?: files?| code)?$|other (?:files|code|things|stuff)$|(?:leave|nothing) (?:everything |all |the )?(?:else|rest)|(?:leave|touch) the (?:rest|other files)|nothing else)\b"
)
_THAT = re.compile(
    r"^(?:it|them|that|those|these|this|(?:that|this) file|they|both|anything (?:there|in (?:it|there)))\b|^(?:there)?[.!]?$"
)
_OWN = re.compile(
    r"\b(?:i will|i'?ll|i want to|i'd (?:like|rather)(?: to)?|i'm going to) (?P<a>.*\bmyself)|\b(?P<b>\w+ing|the \w+) is (?:my job|mine|on me|up to me)\b|\bleave (?P<c>.*) to me\b"
)
_WAIT = re.compile(
    rf"\b(?:ask|check with|wait|hold|stop|tell me|let me|confirm|my (?:ok|okay|approval|review))\b.* before (?:you |any |the )?(?P<verb>{_VERB})\b(?P<rest>.*)"
)
_TAIL = re.compile(
    r"\s(?:until|unless|before|till|without|other than|except|besides|for now|for this|if|when|just|with|as|from|in this|in the code|in case|yourself|myself|by hand|by you|either|please|pls|at all|even|they|that|and|right|yet)\b.*|[.!?)]+$"
)
_CONDITION = re.compile(
    r"\b(?:until|unless|before|till)\b.*|(?:not|n'?t|never|no)\b.*\bwithout\b.*"
)
_BY_USER = re.compile(
    r"\b(?:i|i'?ve|i'm|my|me|we|approv\w+|asking|permission|then|tomorrow|tonight|\w+day|next|further|otherwise|ok|okay|freeze|release)\b"
)
"""What ends a limit without the agent's doing. Whether the agent met another condition cannot be told."""
_NO_OBJECT = frozenset(["it", "this", "that", "them", "these", "anything", "everything", "change", "changes", "any", "your", "my", "the", "our", "all", "of", "code", "work", "stuff", "to", "on", "into", "directly", "yet", "branch", "a", "an", "whatever"])  # fmt: skip
_NO_NAME = frozenset(["anything", "any", "the", "this", "that", "these", "those", "other", "new", "same", "source", "which", "whole", "a", "an", "config", "existing", "generated", "some", "all", "your", "our", "my", "its", "public", "single", "one", "current", "and", "or", "of", "behaviour", "behavior", "logic", "way", "it", "them", "everything", "production", "prod"])  # fmt: skip
_BARE = re.compile(
    r"^(?:(?:any|all|one|some)(?: of)? )?(?:the |our |my |those |these |any )?(?:existing |old |current |unused )?([a-z][\w-]{3,30})(?: files?)?\s*$"
)
_FOLDER = re.compile(
    r"(?<![\w/.])(?:[~\w.@*-]*/)+[\w.@*-]*|(?<![\w/.])\.[a-z][\w-]{2,30}(?![\w/]|\.\w)|(?<![\w/])[\w-]*\*[\w.*-]+"
)
_NAMED_FOLDER = re.compile(
    r"\b(?:the )?([\w.-]{2,40}) (?:folder|directory|dir|package|module|files?|crate|app)\b"
)
_PLACE = re.compile(
    rf"\b({'|'.join(sorted([*PLACES, *(one.removesuffix('s') for one in PLACES), *_ALIASES], key=len, reverse=True))})\b"
)
_WHERE = re.compile(r"(?:to|in|of|on|under|inside|within|from|for)\b|\w+ed (?:to|in)\b")
_CONJUNCTIONS = frozenset(
    [
        "and",
        "or",
        "but",
        "so",
        "also",
        "then",
        "please",
        "pls",
        "plz",
        "just",
        "though",
        "now",
        "ok",
        "okay",
        "instead",
        "only",
        "again",
        "make",
        "be",
    ]
)
_DONE_TO = {
    INSTALL: (INSTALL, CREATE, RUN), REQUEST: (CREATE, READ), NETWORK: (RUN, NETWORK), DATABASE: (RUN, EDIT, READ, DELETE),
    COMMENT: (CREATE, EDIT), API: (EDIT, "break", MOVE), HISTORY: (EDIT,),
}  # fmt: skip
"""What is done to a thing that makes another act of it: who opens a pull request reads no file."""
_REMOTE = frozenset({"remote", "origin", "upstream", "github", "gitlab", "server"})


def read(prompt: str) -> list[Limit]:
    """Return the limits that a prompt sets."""
    own = _own_words(prompt)
    everywhere = _paths(own)
    limits: list[Limit] = []
    before, heading, asked = "", "", set[str]()
    for line in _SENTENCE.split(own):
        bare = _BULLET.sub("", line).strip()
        if re.fullmatch(rf"(?:{_NOT}|don'?ts|avoid|no):", bare):
            heading = "do not "
            continue
        heading = heading if heading and line.lstrip()[:1] in "-*\u2022" and bare else ""
        sentence = heading + bare
        if 3 < len(sentence) < 600 and not _UNSURE.search(sentence):
            if not sentence.endswith("?") or _ASKING.search(sentence):
                limits += _of_sentence(sentence, before, everywhere)
            asked |= {verb[1] for one in _CLAUSE.split(sentence) if (verb := _first_verb(one))}
        before = sentence or before
    # Who says in the same breath that it is to be done reports the rest.
    kept = [one for one in limits if one.things or one.waits or one.act not in asked]
    return list({one[:2] + one[3:4]: one for one in kept}.values())[:MOST_LIMITS]


def _own_words(prompt: str) -> str:
    """Return the user's own words in small letters."""
    plain = (
        re.sub("(?i)under no circumstances", "do not", prompt[:MOST_CHARS])
        .replace("\u2019", "'")
        .replace("\u201c", '"')
        .replace("\u201d", '"')
    )
    return _FOREIGN.sub(" \u2026 ", plain).lower()


def _first_verb(clause: str) -> tuple[str, str] | None:
    """Return the verb that a clause asks for, and its act."""
    words = [one for one in re.findall(r"[\w'-]+", clause) if one not in _LEAD]
    known = _VERBS.get(words[0]) if words else None
    return (words[0], known[0]) if known and known[1] == words[0] else None


def _of_sentence(sentence: str, before: str, everywhere: tuple[str, ...]) -> Iterator[Limit]:
    said = sentence if len(sentence) <= MOST_SAID else sentence[: MOST_SAID - 1] + "\u2026"
    earlier = before
    if own := _OWN.search(sentence):
        acts = {act for act, _ in map(_VERBS.get, re.findall(rf"\b(?:{_VERB})\b", own[0]))}  # type: ignore[misc]
        yield from (Limit(act, (), said) for act in (COMMIT, PUSH, MERGE) if act in acts)
    for clause in _CLAUSE.split(sentence):
        clause = (clause or "").strip(" .!()")
        named = _paths(earlier) or everywhere
        condition = _CONDITION.search(clause)
        waits = bool(condition and _BY_USER.search(condition[0]))
        for act, things, is_only in _of_clause(clause, named, earlier):
            if waits or not condition or act in ON_FILES:
                yield Limit(act, things, said, is_only, waits)
        earlier = clause if _paths(clause) or not _paths(earlier) else earlier


def _of_clause(clause: str, named: tuple[str, ...], earlier: str) -> Iterator[_Found]:
    """Yield act, things, and whether only these are allowed, for each limit of a clause."""
    if set_phrases := [(act, things) for act, things, phrase in _PHRASES if phrase.search(clause)]:
        yield from ((act, things, False) for act, things in set_phrases)
    elif alone := _ALONE.search(clause):
        kind = "tests" if (alone["a"] or alone["b"]).startswith("test") else "docs"
        yield EDIT, (kind,), True
    elif only := _ONLY.search(clause):
        verb = only["v"] or only["w"] or only["x"] or "edit"
        things = _things(_named_by(only, "abcde"))
        if things and _VERBS.get(verb, (EDIT,))[0] in (EDIT, CREATE):
            yield EDIT, things, True
    elif rest := _ELSE.search(clause):
        if things := _paths(clause[: rest.start()]) or _paths(earlier):
            yield EDIT, things, True
    elif (passive := _PASSIVE.match(clause)) and _is_ruled_out(passive):
        thing = passive["thing"].removeprefix("nothing").strip() or "anything"
        yield from _resolved(passive["verb"], "", f" {thing}{passive['rest']}", named, earlier)
    elif (found := _RULED_OUT.search(clause)) and _speaks_to_agent(clause, found):
        how = next(one for one in ("not", "off", "no") if found[one])
        for verb in (found["verb"], *re.findall(rf"\b({_VERB})\b", found["more"])):
            yield from _resolved(verb, how, found["rest"], named, earlier)
    elif (state := _STATE.search(clause)) and (state["e"] or _is_addressed(clause, state)):
        thing = _named_by(state, "abcdefg")
        things = named if _THAT.match(thing) else _things(thing)
        yield from [(EDIT, things, False)] if things else []
    elif (wait := _WAIT.search(clause)) and not re.search(
        rf"{_NOT}|\bno\b", clause[: wait.start()]
    ):
        yield from _resolved(wait["verb"], "", wait["rest"], named, earlier)


def _named_by(found: re.Match[str], groups: str) -> str:
    return next((text for text in map(found.group, groups) if text is not None), "")


def _is_ruled_out(passive: re.Match[str]) -> bool:
    """Whether a sentence in the passive voice forbids, rather than tells how things are."""
    if not passive["verb"].endswith(("ed", "en", "run")):
        return False
    said = passive[0][len(passive["thing"]) : passive.start("verb")]
    if not re.search(r"not|n't", said):
        return passive["thing"].startswith("nothing")
    return " be " in said or bool(
        re.search(r"\b(?:make sure|ensure|see to it)\b", passive["thing"])
    )


def _is_addressed(clause: str, found: re.Match[str]) -> bool:
    """Whether what stands before leaves the agent as the one that is spoken to."""
    before = clause[: found.start()].rstrip()
    leading = _LEADING.search(before + " ")
    rest = before[: leading.start()].strip() if leading else before
    first = leading[0].split()[:1] if leading else []
    return not rest or (bool(first) and first[0].strip(",") in _CONJUNCTIONS)


def _speaks_to_agent(clause: str, found: re.Match[str]) -> bool:
    if found["off"] and not found["off"].startswith("not"):
        return True
    if found[0].startswith("i ") and not re.match(r"i \S+(?: not)? want", found[0]):
        return False
    return bool(found["no"]) and found["no"].startswith("without") or _is_addressed(clause, found)


def _resolved(
    word: str, how: str, rest: str, named: tuple[str, ...], earlier: str
) -> Iterator[_Found]:
    """Yield the limit that a verb or a noun and what stands behind it make, if a call can be held against it."""
    act, verb = _VERBS.get(word, (CREATE if word.startswith("file") else RUN, word))
    if (how == "not" and word != verb) or (how == "off" and not word.endswith("ing")):
        return
    thing = _TAIL.sub("", " " + rest.strip()).strip()
    if how == "no" and word not in _NOUNS and thing and not _WHERE.match(thing):
        return
    words = re.findall(r"[\w'-]+", thing)
    noun = next((_NOUNS[one] for one in (word, *words) if one in _NOUNS), "")
    if (
        noun
        and (how == "no" and word in _NOUNS or act in _DONE_TO[noun])
        and (noun == API or not _paths(thing))
    ):
        is_write = act in (EDIT, DELETE) and verb not in ("touch", "go near", "go into")
        allowed = re.search(
            r"\b(?:other than|except(?: for)?|besides|apart from|unless it's) (.+)", rest
        )
        if noun == INSTALL and allowed:
            yield INSTALL, tuple(re.findall(r"[a-z@][\w./@*-]+", allowed[1])), True
        elif noun != DATABASE or not re.search(
            r"\b(?:db|database)\b[ /-](?:folder|dir|layer|schema|model|file|class|config|module|package|migration)",
            thing,
        ):
            yield (
                noun,
                _paths(thing) if noun == API else (WRITE,) * (noun == DATABASE and is_write),
                False,
            )
    elif act in ON_FILES:
        yield from (
            (act, things, False) for things in [_files_of(act, verb, how, thing, named)] if things
        )
    elif act == RUN:
        yield from ((act, (what,), False) for what in _commands(verb, thing, named, earlier))
    elif act == CREATE:
        if how == "no" or re.search(r"\b(?:files?|modules?)\b", thing):
            kinds = (
                _things(thing),
                *(
                    ("*." + one,)
                    for one in words
                    if one in ("css", "sql", "js", "ts", "py", "html")
                ),
            )
            yield act, next((one for one in kinds if one), ()), False
        elif "branch" in thing:
            yield BRANCH, (), False
    elif act == BRANCH:
        yield from (
            [(act, (), False)] if re.search(r"\b(?:branch(?:es)?|main|master)\b", thing) else []
        )
    elif act in (HISTORY, MERGE):
        yield act, (), False
    else:
        target = re.search(r"(?:^|\b(?:to|on|into) )(?:the )?`?([\w/.-]+)`?(?: branch)?$", thing)
        name = target[1].rstrip("./") if target and target[1] not in _NO_OBJECT | _REMOTE else ""
        if all(one in _NO_OBJECT | _REMOTE or one == name for one in words):
            yield act, (FORCE,) if "force" in f"{verb} {thing}" else (name,) if name else (), False


def _files_of(act: str, verb: str, how: str, thing: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that a verb is done to."""
    if thing and _THAT.match(thing):
        return named
    if re.match(r"(?:any |the |any of the |existing )?(?:production |source )?code$", thing):
        return (CODE,)
    if re.match(
        r"(?:anything|any(?: of the)? files?|files?|everything|any of (?:it|them)|stuff)$", thing
    ):
        return (ANYTHING,)
    if things := _things(thing):
        return things
    if not thing:
        return (ANYTHING,) if how == "no" else named if act == READ else ()
    bare = _BARE.match(re.split(r"\s(?:that|which|in)\b", thing)[0])
    if (
        bare
        and bare[1] not in _NO_NAME
        and (act in (DELETE, READ) or verb in ("touch", "edit", "mess"))
    ):
        return (bare[1],)
    return ()


def _commands(verb: str, thing: str, named: tuple[str, ...], earlier: str) -> Iterator[str]:
    """Yield what must not be run: a command, a kind of command, a path."""
    verb = {"deployment": "deploy", "reformat": "format", "reformatting": "format"}.get(verb, verb)
    if quoted := re.match(r"`([^`\n]{2,80})`", thing):
        yield quoted[1]
    elif kinds := [
        one
        for one in RUNS
        if re.search(
            rf"\b{one.removesuffix('s')}(?:s|ment)?\b", earlier if _THAT.match(thing) else thing
        )
    ]:
        yield kinds[0]
    elif verb not in (
        "run",
        "execute",
        "start",
        "launch",
        "trigger",
        "call",
        "invoke",
        "use",
        "query",
        "connect",
        "hit",
    ):
        yield verb
    elif _paths(thing) or _THAT.match(thing):
        yield from _paths(thing) or named
    elif verb == "use" and re.fullmatch(r"[\w.-]+", thing) and thing not in _NO_NAME:
        yield thing


def _paths(text: str) -> tuple[str, ...]:
    """Return the paths that a text names as such."""
    plain = text.replace("`", " ").replace('"', " ").replace("(", " ")
    found = [*files(plain), *_FOLDER.findall(plain)]
    cleaned = (re.sub(r"[/.,)]+$", "", one).removeprefix("./") for one in found)
    whole = [
        one
        for one in dict.fromkeys(cleaned)
        if len(one) > 1 and one not in ("and/or", "w/o", "n/a")
    ]
    return tuple(
        one for one in whole if not any(other != one and other.endswith(one) for other in whole)
    )[:12]


def _things(text: str) -> tuple[str, ...]:
    """Return the paths and places that a text names, also by their kind."""
    rest, paths = text, _paths(text)
    for one in paths:
        rest = rest.replace(one, " ")
    kinds = [_ALIASES.get(one, one) for one in _PLACE.findall(rest)]
    folders = [
        one for one in _NAMED_FOLDER.findall(rest) if one not in _NO_NAME and one not in kinds
    ]
    quoted = [one for one in re.findall(r"`([\w.@*~-]+)`", rest) if one not in kinds]
    return tuple(dict.fromkeys((*paths, *folders, *quoted, *kinds)))[:12]


# -- lifting ---------------------------------------------------------------------------------------

_FORGET = re.compile(
    r"\b(?:never ?mind|forget (?:that|it|what i said|the (?:limit|restriction|constraint))|ignore (?:that|what i said))\b"
)
_GO = re.compile(
    r"\b(?:go ahead|do it|proceed|continue|yes|yep|ok(?:ay)?|sure|fix|implement|apply|make|change|add|update|write|refactor|create|remove|rename|build)\b"
)
_OTHER = re.compile(
    r"\b(?:different (?:thing|task|topic)|(?:next|new|another|other) (?:thing|task|up|topic)|moving on|on to the next|now (?:for|on to|let)|(?:is|are|that's|thats) (?:out|done|merged|shipped|in|live|released)|needs?)\b"
)
_FOR_THIS = re.compile(
    r"\bfor (?:this|that|the) (?:\w+ )?(?:fix|change|task|pr|commit|one|hotfix|bug|ticket|issue|step)\b|\b(?:in|with) this (?:pr|commit|change|step)\b"
)


def after(limits: Sequence[Limit], prompt: str) -> list[Limit]:
    """Return the limits that hold after one more prompt: those that it lifts are gone, its own are there."""
    own, low = read(prompt), prompt.lower()
    if _FORGET.search(low):
        return own
    anew = {(one.act, one.is_only) for one in own if one.is_only or not one.things}
    kept = [
        one
        for one in limits
        if (one.act, one.is_only) not in anew and (one in own or not _lifts(low, one))
    ]
    return list({one[:2] + one[3:4]: one for one in [*kept, *own]}.values())[:MOST_LIMITS]


def _lifts(prompt: str, limit: Limit) -> bool:
    """Whether a prompt, in small letters, lifts a limit that it does not set again."""
    goes_on = bool(_GO.search(prompt) or _OTHER.search(prompt))
    names_it = any(_spoken(one) in prompt for one in limit.things)
    if limit.waits and re.search(r"\b(?:go ahead|approved|lgtm|ship it)\b", prompt):
        return True
    if _FOR_THIS.search(limit.said) and goes_on:
        return not names_it
    if limit.act in ON_FILES:
        is_wide = limit.is_only or limit.things[:1] in ((ANYTHING,), (CODE,))
        return goes_on and not names_it if is_wide else names_it
    verbs = {form for form, (act, _) in _VERBS.items() if act == limit.act} | {
        *THINGS.get(limit.act, ()),
        *limit.things,
    }
    if limit.act == CREATE:
        return bool(
            re.search(
                r"\b(?:new|another|separate) (?:\w+ )?(?:file|module|test)|\bcreate\b|\badd an? (?:\w+ )?(?:file|module|test)",
                prompt,
            )
        )
    return bool(re.search(rf"\b(?:{'|'.join(map(re.escape, verbs))})\b", prompt))


def _spoken(thing: str) -> str:
    base = posixpath.basename(thing.rstrip("/*")).lower()
    return base.rstrip("s") if len(base) > 4 else base
