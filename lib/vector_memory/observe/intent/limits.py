"""Limits that a user sets in words: "only touch src/x", "no new dependencies", "don't commit yet".

Certain turns of phrase only, with something that a call can be held against (`breaking.py`): a path, a commit,
a package. What is not sure to be a limit is none. Later prompts lift them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from vector_memory.observe.intent.limit import (
    API,
    DEPENDENCIES,
    EVERYTHING,
    KEEP,
    NO_COMMENTS,
    NO_COMMIT,
    NO_DATABASE,
    NO_KIND,
    NO_NETWORK,
    NO_NEW,
    NO_PUSH,
    NO_READ,
    NO_REQUEST,
    NO_RUN,
    NO_SWITCH,
    NOT,
    ONLY,
    READ_ONLY,
    SELECT,
    Limit,
)
from vector_memory.text.mentions import mentions

MOST_SAID = 160
MOST_CHARS = 6_000
MOST_LIMITS = 24

# -- reading ---------------------------------------------------------------------------------------

_FENCED = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|^\s*\|.*$|<[a-z][\w-]*>.*?</[a-z][\w-]*>", re.DOTALL | re.MULTILINE
)
_SPOKEN = re.compile(r"\"[^\"\n]*\s[^\"\n]*\"|\u201c[^\u201d\n]*\s[^\u201d\n]*\u201d")
"""Words of somebody else, or a name of several words."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NO = r"(?:do not|don['\u2019]?t|never|(?<![a-z] )(?:must not|mustn['\u2019]?t|should not|shouldn['\u2019]?t)|(?<=\byou )(?:must not|mustn['\u2019]?t|should not|shouldn['\u2019]?t)|without|avoid|refrain from|(?:do not|don['\u2019]?t) want (?:you )?to)"
_CHANGE = r"(?:touch|chang|edit|modif|alter|updat|rewrit|mess with|break|refactor|reformat)\w*"
_ONLY = re.compile(
    r"\bonly (?:ever )?(?:touch|change|edit|modify|update|alter|work (?:in|on|within)|write (?:to|in|into)|make changes (?:in|to|within))\b(.*)"
    r"|\b(?:touch|change|edit|modify|update) only\b(.*)"
    r"|\b(?:keep|limit|restrict|confine) (?:\w+ ){0,4}(?:to|within|inside)\b(.*)"
    rf"|\b{_NO} (?:ever )?{_CHANGE} (?:anything|any(?: other)? (?:files?|code)|other files|files?|code)(?: that is| that's)? (?:outside(?: of)?|except(?: for)?|but|other than|beyond|besides)\b(.*)"
    r"|\bstay (?:strictly )?(?:in|within|inside)\b(.*)"
    r"|\b(?:nothing|no (?:files?|changes)) (?:outside(?: of)?|except(?: for)?|other than|beyond)\b(.*)",
    re.IGNORECASE,
)
_NOT = re.compile(rf"\b{_NO} (?:ever |you ever |please )?(?:{_CHANGE})\s+(.*)", re.IGNORECASE)
_KEEP = re.compile(rf"\b{_NO} (?:ever )?(?:delet|remov|drop|renam|mov)\w*\s+(.*)", re.IGNORECASE)
_LEAVE = re.compile(
    r"\bleave (.{2,80}?) (?:alone|as (?:it|they) (?:is|are)|untouched|unchanged|in place)"
    r"|\b(.{2,60}?) (?:must|should|has to|have to|needs? to) (?:stay|remain|be left) (?:\w+ )?(?:untouched|unchanged|as (?:it|they) (?:is|are)|alone)"
    r"|\bhands off (?:of )?(.{2,60})|\b(?:keep|stay) (?:out of|away from|off)\s+(.{2,60})"
    r"|\b(?:nothing|no (?:changes?|edits?|touching|commits?)) (?:under|in|inside|below|within|to|of)\s+(?!there\b)(.{2,60})"
    rf"|\b{_NO} go (?:near|into)\s+(.{{2,60}})"
    r"|(?:^|[\s(])(\S{2,60}) (?:is|are) (?:\w+ )?(?:frozen|off[- ]limits|locked|out of scope|not yours|not ours|read[- ]only|owned by|none of your business)\b"
    r"|\bkeep (.{2,60}?) (?:untouched|unchanged|as (?:it|they) (?:is|are))",
    re.IGNORECASE,
)
_IT = re.compile(
    rf"\b{_NO} (?:ever |please )?(?:{_CHANGE}|go near)\s+(?:it|them|that|those|these|this|anything (?:there|in (?:it|there)))\b"
    r"|\bno (?:edits?|changes?|touching)(?: (?:there|to (?:it|them)|in (?:it|there)))\b"
    r"|\bleave (?:it|them|that|those) (?:alone|as (?:it|they) (?:is|are)|be)\b|\bhands off\s*(?:$|[.!,])",
    re.IGNORECASE,
)
"""What was named before is ruled out."""
_ELSE = re.compile(
    rf"\b{_NO} (?:ever |please )?{_CHANGE}\s+(?:anything else|any(?:thing)? other(?: files?| code)?|other (?:files|code|things|stuff)|the (?:rest|other files))\b"
    r"|\b(?:and |but )?(?:nothing|no(?:thing)? other files?) else\b|\bleave (?:everything|all|the rest)(?: else)? (?:alone|as (?:it|they) (?:is|are)|untouched|unchanged)\b",
    re.IGNORECASE,
)
"""All but what was named before is ruled out."""
_FORMAT = re.compile(
    rf"\b(?:no|{_NO} (?:any |do any |run any )?)\s*(?:re-?)?format(?:ting|s|ted)?\b(?! (?:of|string|specif|error|change))|\b{_NO} run (?:the )?(?:formatter|prettier|black|gofmt|eslint --fix)\b",
    re.IGNORECASE,
)
_READING = re.compile(
    rf"\b{_NO} (?:ever )?(?:open|read|look (?:at|in|into|inside)|cat|view|print|peek (?:at|into)|show|dump)\w*\s+(.*)",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    rf"\b{_NO} (?:ever )?(?:run|execut|quer|connect|touch|hit|writ|chang|modif|go near)\w*\s+(?:\w+\s+){{0,4}}?(?:the |our |my |any )?(?:prod(?:uction)? |live |staging |real )?(?:database|db|replica|prod db)\b(?![/-])(?!\.\w)(?! (?:folder|dir|module|package|layer|code|schema|model|file|class|config|setting|migration))",
    re.IGNORECASE,
)
_RUN_KIND = re.compile(
    rf"\b{_NO} (?:run|execut|start|trigger)\w*\s+(?:the |any |our |all )?(?:\w+ )?(?P<tests>tests?|test suite|specs)\b"
    rf"|\b{_NO} (?:run|execut|apply)\w*\s+(?:the |any |our |all )?(?:\w+ )?(?P<migrations>migrations?)\b"
    rf"|\b{_NO} (?:run|start|trigger)\w*\s+(?:the |any |a )?(?:\w+ )?(?P<build>build)\b"
    rf"|\b{_NO} (?:run|start|spin up|boot)\w*\s+(?:the |any |a )?(?:dev |development )?(?P<server>server)\b"
    rf"|\b{_NO} (?P<deploy>deploy)(?:ing)?\b(?! (?:script|config|folder|file))|\bno (?P<deploy2>deploys?|deployments?)\b",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"^[\s,]*(?:\(?(?:other than|except(?: for)?|besides|apart from|but|beyond|unless it'?s))\s+(.{2,80})",
    re.IGNORECASE,
)
_MYSELF = re.compile(
    r"\bi(?:['\u2019]ll| will| want to|['\u2019]d (?:rather|like to)|['\u2019]m going to)\b(?=.{0,120}\bmyself\b).{0,80}?\b(commit|push|pr\b|pull request|merge|release|deploy)",
    re.IGNORECASE,
)
_OWN_WORK = {
    "co": (NO_COMMIT,), "pu": (NO_PUSH, NO_REQUEST), "pr": (NO_REQUEST,), "me": (NO_PUSH,), "re": (NO_PUSH,),
    "de": (NO_PUSH,),
}  # fmt: skip
_SIMPLE: tuple[tuple[re.Pattern[str], tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (re.compile(
        r"\bnothing (?:leaves|goes out of|gets off) (?:this|my|the) \w+|\bkeep (?:it|this|everything|all of it) local\b|\bnothing (?:gets|is|should be) pushed\b",
        re.IGNORECASE,
    ), ((NO_PUSH, ()), (NO_REQUEST, ()))),
    (re.compile(
        rf"\bno (?:network|internet|downloads?|online)\b|\b(?:work|stay|do (?:it|this)) offline\b|\bi(?:['\u2019]m| am) offline\b|\b{_NO} (?:download|fetch|go online|hit the network|access the (?:network|internet))\w*\b",
        re.IGNORECASE,
    ), ((NO_NETWORK, ()),)),
    (re.compile(
        rf"\b(?:no|zero|{_NO} (?:add|writ|put|leav|us)\w* (?:any )?|skip (?:the )?)\s*(?:new |code |inline |more )?comments?\b(?! (?:field|table|section|box|model|endpoint|form))",
        re.IGNORECASE,
    ), ((NO_COMMENTS, ()),)),
    (re.compile(
        rf"\b{_NO} (?:switch|chang|creat|mak|checkout|check out)\w* (?:to )?(?:a |any |the |other |another |new )*branch(?:es)?\b|\b(?:stay|remain|keep working) on (?:this|the current|that) branch\b|\bon (?:branch )?[\w./-]+/[\w.-]+, (?:please |pls )?stay (?:on it|there)\b",
        re.IGNORECASE,
    ), ((NO_SWITCH, ()),)),
    (re.compile(
        r"\bselects? only\b|\bonly (?:run |use )?selects?\b(?! \w+ from)|\bread[- ]only (?:queries|sql|statements)\b", re.IGNORECASE
    ), ((SELECT, ()),)),
    (re.compile(
        rf"\bplan only\s*(?:$|[,.;!)])|\bonly (?:run |do )?(?:a |the )?plan\b(?! to)|\b{_NO} (?:terraform )?apply\b(?! (?:the|this|that|any|a) (?:change|fix|patch|style|rule))", re.IGNORECASE
    ), ((NO_KIND, ("deploy",)),)),
)  # fmt: skip
_RUN_IT = re.compile(rf"\b{_NO} (?:run|execut|apply)\w*\s+(?:it|them|that|this)\b", re.IGNORECASE)
_KIND_OF = re.compile(r"\b(migration|deploy|terraform)\w*", re.IGNORECASE)
_ALONE = re.compile(
    r"(?<!run )(?<!running )(?<!see )(?<!show )(?<!execute )\b(?:just|only) (?:the )?(?:unit |integration )?(tests?|docs|documentation|readme|changelog)\s*(?:$|[,.;!)])"
    r"|\b(?:is|are|it['\u2019]s|thats?|that['\u2019]s) (tests?|docs?|documentation|readme|changelog)[ -]only\b",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"\bnothing (?:gets|is|should be|must be|may be|will be|to be) (?:deleted|removed)\b|\bno (?:deletions?|deleting|removals?)\b",
    re.IGNORECASE,
)
_OFF = re.compile(
    r"\b(?:that|this|it|that one|this one|those|they|both) (?:is|are|['\u2019]s) (?:strictly |completely )?(?:off[- ]limits|frozen|locked)\b",
    re.IGNORECASE,
)
_NOT_EVEN = re.compile(r"\bnot even (?:read|open|look)", re.IGNORECASE)
_DEPENDENCIES = re.compile(
    rf"\b(?:no|zero|{_NO} (?:(?:add|install|introduc|us|pull(?:ing)? in|bring(?:ing)? in)\w*\s*)?(?:any )?)\s*"
    r"(?:(?:new|extra|additional|more|external|third[- ]party|other)\s+)+(?:\w+ )?(?:dependenc(?:y|ies)|packages?|librar(?:y|ies)|libs?|crates?|gems?|deps)\b"
    rf"|\b{_NO} (?:add|install|introduc)\w* (?:any )?(?:\w+ )?(?:dependenc(?:y|ies)|packages?|librar(?:y|ies)|libs?|crates?|gems?|deps)\b"
    r"|\b(?:stick (?:to|with)|use only|only use|work with) (?:what(?:['\u2019]?s| is| we have)|the (?:deps|dependencies|packages|librar\w+|libs)(?: that are)?) (?:already |currently )*(?:in|installed|there|have)\b"
    rf"|\b{_NO} install\w* anything\b|\bstandard library only\b|\bstd(?:lib)? only\b|\bno installs?\b|\bno (?:\w+, )+installs?\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(
    rf"\b{_NO} (?:git )?(?:commit|committing)\b(?! (?:to|on) \w)|\bno commits?\b(?! message)",
    re.IGNORECASE,
)
_PUSH = re.compile(
    rf"\b{_NO} (?:git |ever )?(?:push|pushing|force[- ]push\w*)\b(?: (?:\w+ )?(?:to|on) (?:the )?`?([\w/.-]+)`?)?",
    re.IGNORECASE,
)
_BOTH = re.compile(rf"\b{_NO} commit(?:ting)? (?:or|and|nor) push", re.IGNORECASE)
_REQUEST = re.compile(
    rf"\b{_NO} (?:open|creat|mak|rais)\w* (?:a |any |the )?(?:pr|prs|pull requests?)\b",
    re.IGNORECASE,
)
_NEW_FILES = re.compile(
    rf"\b(?:no|{_NO} (?:creat|add|mak|writ)\w* (?:any )?)\s*(?:(?:new|extra|additional|more)\s+)+(?:source |code )?files?\b|\b{_NO} (?:want |need |add |create )?(?:yet )?another (?:\w+ )?(?:file|module)\b|\b{_NO} creat\w* (?:any )?files?\b",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(
    r"\b(?:do not|don['\u2019]?t|without) (?:chang|modif|edit|touch|writ|fix|implement)\w* (?:anything|any(?: of the)? (?:code|files?|thing)|the code|code|files|any code)(?: yet| for now| at all| else yet)?\s*(?:$|[.,;!):\u2013-])"
    r"|\bread[- ]only\b(?! (?:for (?!now)|file|mode|field|propert|attribute|user|replica|flag|root|mount|access|transaction|databas|connection|memor|view|api|rout))|\bno (?:code )?(?:changes|edits)(?: yet| for now| please)?\s*(?:$|[.,;!)])",
    re.IGNORECASE,
)
_API = re.compile(
    r"\b(?:apis?|interfaces?|signatures?) (?:has to|have to|must|should|needs? to|ha(?:s|ve) got to) (?:stay|remain|be kept|not change)|\bkeeps? (?:its|their|the same) (?:signatures?|api|interface)\b|"
    rf"\b{_NO} (?:chang|break|alter|touch|modif)\w* (?:the |any |our |its )?(?:public |external |exported |existing )*(?:apis?|interfaces?|(?:function |method )?signatures?)\b|\bkeep (?:the )?(?:public |external |exported )*(?:apis?|interfaces?|signatures?) (?:stable|unchanged|as (?:it|they) (?:is|are)|compatible)",
    re.IGNORECASE,
)
_RUN = re.compile(rf"\b{_NO} (?:run|execut|call|start)\w*\s+`([^`\n]{{2,80}})`", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?<!\beven )\bif (?:you|we|i|they|it|nothing)\b|\bwhy (?:do|did|don|does)|\bwe (?:never|don)|\bi (?:never|do(?:n['\u2019]?t| not)(?! want)|didn)|\bit (?:does|should)n|\bthey (?:do|never)",
    re.IGNORECASE,
)
_END = re.compile(
    r"\s(?:but|instead|unless|because|since|so that|so|as (?:it|they|we)|while|when|until|which|then|just|only|and (?:then|make|add|fix|keep|do|use|write|only|please|don))\b|[,;:]\s|\s\(|\s[\u2013\u2014-]\s",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`\n]{1,80})`|[\"\u201c]([^\"\u201d\n]{1,80})[\"\u201d]")
_FOLDER = re.compile(r"(?<![\w/.])((?:[\w.@-]+/)+[\w.@*-]*)")
_HIDDEN = re.compile(r"(?<![\w/.])(\.[a-z][\w-]{2,30})(?![\w/])")
_NAMED_FOLDER = re.compile(
    r"\b(?:the )?([\w.-]{2,40}) (?:folder|directory|dir|package|module|file|files|crate|app)\b",
    re.IGNORECASE,
)
_NO_NAME = frozenset({"the", "this", "that", "these", "those", "other", "any", "new", "same", "source", "which", "whole", "a", "an", "config", "existing", "generated", "some", "all", "your", "our", "my", "its", "public", "single", "one", "current", "test", "and", "or", "of", "python", "javascript", "typescript"})  # fmt: skip
_TESTS = re.compile(
    r"\b(?:the |any |existing |our |unit |integration )*(tests?|test files?|test suite|specs?)\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"\b(migrations?|fixtures?|snapshots?|docs|documentation|changelog|readme|lock ?files?|ci (?:config|pipeline|workflows?)|workflows?|schema|dockerfile|makefile)\b",
    re.IGNORECASE,
)


def read(prompt: str) -> list[Limit]:
    """Return the limits that a prompt sets."""
    found: list[Limit] = []
    plain = _SPOKEN.sub(_unspoken, _FENCED.sub(" ", prompt[:MOST_CHARS]))
    for sentence in _SENTENCE.split(plain):
        sentence = sentence.strip(" -*\t")
        if 6 < len(sentence) < 600:
            found += _of_sentence(sentence, plain)
    return list({(one.kind, one.targets): one for one in found}.values())[:MOST_LIMITS]


def _unspoken(found: re.Match[str]) -> str:
    """Keep what is quoted where it is short: more is a quotation."""
    return found[0] if len(found[0].split()) < 3 else " \u2026 "


_WAITING = re.compile(
    r"\b(?:before|until|unless|till|except|without)\b(?! (?:i|we|my|asking|telling|me)\b)",
    re.IGNORECASE,
)
"""A condition that the agent itself may meet: whether it has cannot be told. That the user says so can."""


def _holds_now(found: re.Match[str], sentence: str) -> bool:
    return not _WAITING.search(sentence[found.end() :])


def _of_sentence(sentence: str, prompt: str) -> Iterator[Limit]:
    if _CONDITION.search(sentence) or (
        sentence.endswith("?") and "without" not in sentence.lower()
    ):
        return
    said = sentence if len(sentence) <= MOST_SAID else sentence[: MOST_SAID - 1] + "\u2026"
    if dependencies := _DEPENDENCIES.search(sentence):
        but = _BUT.search(sentence[dependencies.end() :])
        allowed = re.findall(r"[A-Za-z@][\w./@-]+", but[1])[:6] if but else []
        yield Limit(DEPENDENCIES, tuple(one.lower().rstrip(".") for one in allowed), said)
    for one in _MYSELF.finditer(sentence):
        yield from (Limit(kind, (), said) for kind in _OWN_WORK[one[1].lower()[:2]])
    for pattern, made in _SIMPLE:
        if pattern.search(sentence):
            yield from (Limit(kind, targets, said) for kind, targets in made)
    if (it := _RUN_IT.search(sentence)) and (kind := _KIND_OF.search(sentence[: it.start()])):
        yield Limit(NO_KIND, ("migrations" if kind[1].lower()[0] == "m" else "deploy",), said)
    if (commit := _COMMIT.search(sentence)) and _holds_now(commit, sentence):
        yield Limit(NO_COMMIT, (), said)
    if (push := _PUSH.search(sentence)) and _holds_now(push, sentence):
        yield Limit(NO_PUSH, (push[1].rstrip("./-"),) if push[1] else (), said)
    elif _BOTH.search(sentence):
        yield Limit(NO_PUSH, (), said)
    if _REQUEST.search(sentence):
        yield Limit(NO_REQUEST, (), said)
    if _NEW_FILES.search(sentence):
        yield Limit(NO_NEW, (), said)
    if run := _RUN.search(sentence):
        yield Limit(NO_RUN, (run[1],), said)
    for kind in _RUN_KIND.finditer(sentence):
        if _holds_now(kind, sentence):
            yield Limit(NO_KIND, ((kind.lastgroup or "").rstrip("2"),), said)
    if _FORMAT.search(sentence):
        yield Limit(NO_KIND, ("format",), said)
    if reading := _READING.search(sentence):
        targets = _targets(_clause(reading[1]))
        if targets:
            yield Limit(NO_READ, targets, said)
    if _DATABASE.search(sentence):
        yield Limit(NO_DATABASE, (), said)
    if api := _API.search(sentence):
        # "of src/x.ts" says whose; the file itself may be changed.
        yield Limit(API, _targets(_clause(sentence[api.end() :])), said)
        return
    yield from _of_places(sentence, prompt, said)


def _of_places(sentence: str, prompt: str, said: str) -> Iterator[Limit]:
    if alone := _ALONE.search(sentence):
        what = (alone[1] or alone[2]).lower()
        kept = ("tests",) if what.startswith("test") else ("docs", "readme", "changelog", "*.md")
        yield Limit(ONLY, kept, said)
        return
    if _DELETED.search(sentence):
        yield Limit(KEEP, (EVERYTHING,), said)
    only = _ONLY.search(sentence)
    if only:
        targets = _targets(_clause(next((one for one in only.groups() if one), "")))
        if targets:
            yield Limit(ONLY, targets, said)
        return
    if _READ_ONLY.search(sentence):
        yield Limit(READ_ONLY, (), said)
        return
    for pattern, kind in ((_NOT, NOT), (_KEEP, KEEP)):
        if found := pattern.search(sentence):
            clause = _clause(found[1])
            # "Don't touch the exports" names them; "don't change the behaviour" names nothing.
            by_kind = kind == KEEP or _TOUCHING.search(found[0]) is not None
            targets = _targets(clause) or (_thing(clause) if by_kind else ())
            if kind == NOT and targets == (EVERYTHING,):
                continue
            if targets:
                yield Limit(kind, targets, said)
    if left := _LEAVE.search(sentence):
        targets = _targets(_clause(next((one for one in left.groups() if one), "")))
        if targets:
            yield Limit(NOT, targets, said)
    if (other := _ELSE.search(sentence)) and (named := _named_before(sentence, other, prompt)):
        yield Limit(ONLY, named, said)
    it = _IT.search(sentence) or _OFF.search(sentence)
    if it and (named := _named_before(sentence, it, prompt)):
        yield Limit(NOT, named, said)
        if _NOT_EVEN.search(sentence):
            yield Limit(NO_READ, named, said)


def _named_before(sentence: str, place: re.Match[str], prompt: str) -> tuple[str, ...]:
    """Return the paths named before a place in a sentence, else in the sentence before it."""
    before = prompt[: max(prompt.find(sentence), 0)]
    return _paths_in(sentence[: place.start()]) or _paths_in(
        next((one for one in reversed(_SENTENCE.split(before)) if one.strip()), "")
    )


def _paths_in(text: str) -> tuple[str, ...]:
    """Return the paths that a text names as such; what is a path by its sense alone is none here."""
    folders = {one.rstrip("/.,") for one in _FOLDER.findall(text)}
    return tuple(one for one in _targets(text) if one in folders or "/" in one or "." in one)


_TOUCHING = re.compile(r"\b(?:touch|edit|mess with)", re.IGNORECASE)
_ANY = re.compile(
    r"^(?:anything|any(?: of the)? files?|files?|any of (?:it|them)|stuff)\b", re.IGNORECASE
)
_NOUN = re.compile(
    r"^(?:(?:any|all|one|some)(?: of)? )?(?:the |our |my |those |these |any )?(?:existing |old |current |unused )?([a-z][\w-]{3,30})(?: files?)?\s*$",
    re.IGNORECASE,
)


def _thing(clause: str) -> tuple[str, ...]:
    """Return what must not be deleted, named by its kind: "images" are what lies in a folder of that name."""
    clause = clause.strip(" .,!")
    if _ANY.match(clause):
        return (EVERYTHING,)
    found = _NOUN.match(re.split(r"\s(?:even|that|which|if|in|from|yet)\b", clause)[0])
    return (found[1].lower(),) if found and found[1].lower() not in _NO_NAME else ()


def _clause(text: str) -> str:
    end = _END.search(text)
    # "a, b or c" goes on after its commas.
    while (
        end
        and end[0].startswith(",")
        and re.match(
            r"\s*`?[\w./@*-]+[/.][\w./@*-]*`?(?:\s*,|\s+(?:or|and)\b|\s*$)", text[end.end() :]
        )
    ):
        end = _END.search(text, end.end())
    return text[: end.start()] if end else text


def _targets(clause: str) -> tuple[str, ...]:
    """Return the paths and places that a clause names."""
    found = [
        one
        for pair in _QUOTED.findall(clause)
        for one in pair
        if one and " " not in one and re.match(r"^[\w./@*~-]+$", one)
    ]
    rest = _QUOTED.sub(" ", clause)
    files = mentions(rest).files
    found += files
    for one in files:
        rest = rest.replace(one, " ")
    found += [one.rstrip("/.,") for one in _FOLDER.findall(rest)]
    found += _HIDDEN.findall(rest)
    found += [one for one in _NAMED_FOLDER.findall(rest) if one.lower() not in _NO_NAME]
    if _TESTS.search(rest):
        found.append("tests")
    found += [re.sub(r"\s", "", one.lower()) for one in _KNOWN.findall(rest)]
    return tuple(dict.fromkeys(one.strip("`'\" ") for one in found if len(one) > 1))[:12]


# -- lifting ---------------------------------------------------------------------------------------

_FORGET = re.compile(
    r"\b(?:never ?mind|forget (?:that|it|what i said|the (?:limit|restriction|constraint))|ignore (?:that|what i said))\b",
    re.IGNORECASE,
)
_GO = re.compile(
    r"\b(?:go ahead|do it|proceed|continue|yes|yep|ok(?:ay)?|sure|fix|implement|apply|make|change|add|update|write|refactor|create|remove|rename|build)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:different (?:thing|task|topic)|(?:next|new|another|other) (?:thing|task|up|topic)|moving on|on to the next|now (?:for|on to|let)|"
    r"(?:is|are|that's|thats) (?:out|done|merged|shipped|in|live|released)|needs?)\b",
    re.IGNORECASE,
)
_FOR_THIS = re.compile(
    r"\bfor (?:this|that|the) (?:\w+ )?(?:fix|change|task|pr|commit|one|hotfix|bug|ticket|issue|step)\b|\b(?:in|with) this (?:pr|commit|change|step)\b",
    re.IGNORECASE,
)
_WORDS = {
    NO_COMMIT: re.compile(r"\bcommit", re.IGNORECASE),
    NO_PUSH: re.compile(r"\b(?:push|ship|publish)", re.IGNORECASE),
    NO_REQUEST: re.compile(r"\b(?:pr|pull request|merge request)\b", re.IGNORECASE),
    DEPENDENCIES: re.compile(r"\b(?:install|dependenc|packages?\b|librar)", re.IGNORECASE),
    API: re.compile(r"\b(?:apis?|interfaces?|signatures?)\b", re.IGNORECASE),
    NO_NEW: re.compile(
        r"\b(?:new|another|separate) (?:\w+ )?(?:file|module|test)|\bcreate\b|\badd (?:a|an|the) (?:\w+ )?(?:file|module|test)",
        re.IGNORECASE,
    ),
    NO_RUN: re.compile(r"\brun\b", re.IGNORECASE),
    NO_KIND: re.compile(
        r"\b(?:run|start|format|deploy|ship|release|apply|test|migrat|build)", re.IGNORECASE
    ),
    NO_READ: re.compile(r"\b(?:open|read|look|show|print)\b", re.IGNORECASE),
    SELECT: re.compile(r"\b(?:delete|insert|update|write)\b", re.IGNORECASE),
    NO_NETWORK: re.compile(r"\b(?:online|network|download|install|fetch|pull)", re.IGNORECASE),
    NO_COMMENTS: re.compile(r"\bcomments?\b", re.IGNORECASE),
    NO_SWITCH: re.compile(r"\b(?:branch|main|master|switch|checkout)\b", re.IGNORECASE),
    NO_DATABASE: re.compile(r"\b(?:database|db|replica|query|sql)\b", re.IGNORECASE),
}


def after(limits: Sequence[Limit], prompt: str) -> list[Limit]:
    """Return the limits that hold after one more prompt: those that it lifts are gone, its own are there."""
    own = read(prompt)
    if _FORGET.search(prompt):
        return own
    said = {one.kind for one in own}
    kept = [
        one
        for one in limits
        if not (one.kind in said and (one.kind == ONLY or not one.targets))
        and not _lifts(prompt, one, own)
    ]
    return list({(one.kind, one.targets): one for one in [*kept, *own]}.values())[:MOST_LIMITS]


def _lifts(prompt: str, limit: Limit, own: Sequence[Limit]) -> bool:
    if limit in own:
        return False
    if _FOR_THIS.search(limit.said) and (_OTHER.search(prompt) or _GO.search(prompt)):
        return not any(_spoken(one) in prompt.lower() for one in limit.targets if "/" in one)
    if limit.kind in _WORDS:
        return bool(_WORDS[limit.kind].search(prompt))
    if limit.kind == READ_ONLY:
        return bool(_GO.search(prompt))
    low = prompt.lower()
    if limit.kind == ONLY:
        # Another task has other places; what it says nothing of stays as it was.
        asks = _GO.search(prompt) or _OTHER.search(prompt)
        return bool(asks) and not any(one.lower() in low for one in limit.targets)
    return any(_spoken(one) in low for one in limit.targets)


def _spoken(target: str) -> str:
    base = posixpath.basename(target.rstrip("/*")).lower()
    return base.rstrip("s") if len(base) > 4 else base
