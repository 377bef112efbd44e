"""Tasks: what a user asked for and what was done until something else was asked for. Pure: no clock, no I/O.

A turn is a prompt with the calls that came of it; a task is one turn, or several where the later ones
go on with the same ("yes", "still fails", "also do it for the tests").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from vector_memory.text import prompts
from vector_memory.text.failures import failure

READ, EDIT, RUN, OTHER = "read", "edit", "run", "other"
"""What a step does: looks at something, changes a file, runs a command, or anything else."""
NEW_AFTER = timedelta(hours=6)
"""A pause after which the next prompt begins something else, whatever it says."""
MOST_TURNS = 40
SHORT_WORDS = 12
TROUBLE_CHARS = 100

_CLIENT_COMMAND = re.compile(
    r"/(?:compact|clear|model|config|context|cost|resume|help|login|logout|status|mcp|memory|agents|hooks|"
    r"permissions|usage|exit|quit|doctor|fast|effort|vim|ide|plugin|export|rewind|init)\b"
)
_PRAISE = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|yep|ah|oh|wow|that's|that is|this is|it's|very|really|all|looks?|works?)[,!. ]+)*"
    r"(?:thanks?(?: you)?|thx|perfect|great|excellent|awesome|wonderful|amazing|brilliant|nice(?: work| job|ly done)?|"
    r"good(?: job| work| stuff)?|well done|lgtm|looks? good|sounds good|works?(?: now| well| great| fine)?|"
    r"it works|that works|that worked|fixed|cool|beautiful|lovely|love it|much better|super|danke|merci)\b(?! (?:if|to|for)\b)",
    re.IGNORECASE,
)
_PRAISE_END = re.compile(r"^[^.!,;:\n\u2013\u2014-]{0,80}(?:[.!,;:\n\u2013\u2014-]+\s*|$)")
_COMPLAINT = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|uh+|um+|well|ah+|oh+)\W+)*(?:no|nope|hmm+|wait|stop|sorry|oops|but|not quite|nein)\b(?!\s+(?:need|worries|problem|rush|more questions))[^.\n]{0,120}"
    r"(?:wrong|not|n't|instead|again|still|fail|error|broken|revert|undo|rather|why|should|that is|that's|meant|seems|wth|wtf)"
    r"|^\W*are you sure\b"
    r"|\bstill (?:fail|not|broken|doesn|isn|see(?:ing)?|get(?:ting)?|the same|wrong|happening|crash|error|an? (?:error|problem))"
    r"|\b(?:doesn't|does not|didn't|did not|isn't|is not|not) (?:work|help|fix|right|correct|what i|good)"
    r"|\b(?:that's|that is|this is|it's|it is|you're|you are) (?:wrong|incorrect|broken|not (?:right|correct|what|it))"
    r"|\bwhat i (?:meant|wanted|asked)\b|\byou (?:broke|forgot|missed|misunderstood|ignored|didn't|did not|haven't)\b"
    r"|\b(?:revert|undo|roll back) (?:that|this|it|your|the last|those|these)\b"
    r"|\b(?:same|another|new|different|an?) (?:error|failure|problem) (?:again|now|still|as before)\b"
    r"|\b(?:it|that|this|ci|build|tests?) (?:is |are )?(?:still |now )?(?:fails?|failing|failed|crashes|broke)\b"
    r"|\bI(?:'m| am) (?:still )?(?:getting|seeing) (?:an? |the )?(?:\w+ )?(?:error|exception|warning|failure)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:broke|broken|lost|disappeared|unhappy|annoying|blocked|crash(?:es|ing)?|fail(?:s|ing|ed)|regress\w*|weird|not supported|"
    r"too (?:slow|many|much)|wrong(?:ly)?|issue)\b|error",
    re.IGNORECASE,
)
_TERMINAL = re.compile(r"\s*(?:[\u276f$%]|\w[\w@:~./-]{0,60}[$%#]) \S")
_ERRORISH = re.compile(
    r"\b(?:error|failed|failure|fatal|traceback|ERR!|not found)\b", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"^\W*(?:also|and|but|or|then|so|now also|please also|go on|continue|keep going|resume|carry on|yes|yeah|yep|ok(?:ay)?|sure|"
    r"actually|instead|rather|try|retry|again|same|same for|do (?:it|that|the same)|let's (?:do|go|try|use)|use|option|"
    r"i (?:mean|meant|think|prefer)|maybe|what about|how about|why|hmm+|no)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"^\W*(?:(?:next|new task|now|please|can you|could you|ok(?:ay)?|let's|i(?:'d| would)? (?:want|like|need)(?: you)? to)[,:]?\s+)*"
    r"(?:add|implement|create|build|write|fix|debug|refactor|rename|document|install|configure|set ?up|review|explain|"
    r"investigate|update|upgrade|migrate|remove|delete|make|port|convert|support|improve|optimi[sz]e|clean)\s+\S+\s+\S+",
    re.IGNORECASE,
)


class TaskStep(NamedTuple):
    """One call of a tool.

    Attributes:
        what: READ, EDIT, RUN or OTHER.
        job: of a command, what it does (`pytest`, `npm run build`).
        said: the command line, or the file, redacted and short.
        ok: whether it went well; None where that is not known or does not matter.
        error: the line that says what went wrong, and `sign`, by what it is known again.
        alone: nothing else ran in the same command line.
        tool: the tool's name.
    """

    what: str
    job: str = ""
    said: str = ""
    ok: bool | None = None
    error: str = ""
    sign: str = ""
    alone: bool = True
    tool: str = ""
    at: datetime | None = None
    seconds: float = 0.0


class TaskTurn(NamedTuple):
    """A prompt and what was done for it. `key` names it in whichever copy of the transcript."""

    key: str
    prompt: str
    started_at: datetime
    ended_at: datetime
    steps: tuple[TaskStep, ...] = ()
    is_interrupted: bool = False


def group(turns: Iterable[TaskTurn]) -> list[list[TaskTurn]]:
    """Return the turns of a session as tasks, in order; each has at least one turn."""
    found: list[list[TaskTurn]] = []
    for turn in turns:
        if not found or len(found[-1]) >= MOST_TURNS or _begins(turn, found[-1][-1]):
            found.append([])
        found[-1].append(turn)
    return found


def _begins(turn: TaskTurn, before: TaskTurn) -> bool:
    if turn.started_at - before.ended_at > NEW_AFTER and turn.prompt:
        return True
    if before.is_interrupted:
        # Who breaks something off says next how it is to be done, more often than not.
        return bool(_BEGINS.match(request_of(turn.prompt)))
    return starts_another(turn.prompt)


def asked(turns: Sequence[TaskTurn]) -> str:
    """Return the prompt that says what a task is: its first, but none that speaks to the client."""
    said = (turn.prompt for turn in turns)
    told = (
        one for one in said if one and not one.startswith("! ") and not _CLIENT_COMMAND.match(one)
    )
    return next(told, turns[0].prompt)


def starts_another(prompt: str) -> bool:
    """Whether a prompt starts something of its own, rather than going on with what was asked before."""
    text = request_of(prompt)
    if not text or text.startswith("! ") or _CLIENT_COMMAND.match(text):
        return False
    if text.startswith("/"):
        return True
    if prompts.needs_nothing(text) or complains(prompt):
        return False
    if _BEGINS.match(text):
        return True
    words = len(text.split())
    return words > SHORT_WORDS or not (_GOES_ON.match(text) or prompts.points_back(text))


def request_of(prompt: str) -> str:
    """Return what a prompt asks for, without the thanks for what was done before."""
    text = prompt.strip()
    for _ in range(3):
        if not _PRAISE.match(text):
            break
        head = _PRAISE_END.match(text)
        text = text[head.end() :].strip() if head else ""
    return text


def praises(prompt: str) -> bool:
    """Whether a prompt says that what was done before is good."""
    return bool(_PRAISE.match(prompt.strip())) and not complains(prompt)


def complains(prompt: str) -> bool:
    """Whether a prompt says that what was done before is not what it should be. Only how it begins
    counts: what follows may be a task that speaks of something broken."""
    text = prompt.strip()
    if _BEGINS.match(text):
        return False
    return bool(_COMPLAINT.search(text[:200])) or _is_output(text)


def reports_trouble(prompt: str) -> bool:
    """Whether a prompt begins by saying that something is broken, rather than by asking for anything: what
    was done before was most likely not all right."""
    text = prompt.strip()
    return not _BEGINS.match(text) and bool(_TROUBLE.search(text[:TROUBLE_CHARS]))


def _is_output(text: str) -> bool:
    """Whether a prompt is hardly more than an error that somebody was shown."""
    if "\n" not in text:
        return False
    if _TERMINAL.match(text):
        return bool(_ERRORISH.search(text[:20_000]))
    found = failure(text[:4_000])
    return bool(found) and len(text.split("\n", 1)[0].split()) <= SHORT_WORDS


_KINDS: tuple[tuple[str, str], ...] = (
    ("review", r"review|audit|code review|look over|second opinion|critique"),
    ("fix", r"fix(?:es|ed|ing)?|bugs?|broken|debug|crash(?:es|ed|ing)?|fails?|failing|failures?|failed|errors?|regression|exception|"
            r"traceback|doesn't work|does not work|not working|wrong(?:ly)?|repair|mend|hangs?|leaks?|"
            r"lost|disappeared|unhappy|blocked|flaky|missing|annoying|issues?|not supported|unsupported|feedback"),
    ("test", r"(?:unit |integration |e2e |more |missing |regression )?tests? (?:for|that|to cover|of|around)|"
             r"(?:add|write|improve|extend|increase) (?:some |the |a |more |unit |integration |e2e )*(?:tests?|coverage)|test coverage"),
    ("docs", r"document(?:ation)?|docs?|readme|docstrings?|changelog|comments?|tutorial|guide"),
    ("refactor", r"refactor(?:ing)?|rename|clean ?up|simplif(?:y|ies)|extract|reorgani[sz]e|restructure|split|dedup\w*|"
                 r"de-duplicate|rewrite|modulari[sz]e|tidy|move|port|convert|migrat\w+|reuse|replace|"
                 r"(?:in a )?better way|cleaner"),
    ("setup", r"install|set ?up|configur(?:e|ation)|bootstrap|ci|workflow|github actions?|docker(?:file)?|dependenc(?:y|ies)|upgrade|bump|"
              r"deploy(?:ment)?|environment|pin|pre-commit|linter|scaffold"),
    ("release", r"commit|push|pull request|pr|merge|release|tag|publish|rebase|cherry-pick"),
    ("feature", r"add|implement|create|build|support|introduce|make|new|write|generate|extend|allow|enable|show|integrate|feature"),
    ("question", r"what|why|how|where|which|who|when|explain|describe|is there|are there|do we|does|can we|should we|understand|"
                 r"tell me|show me|list|find|summari[sz]e|investigate|research|search|analy[sz]e|look at|explore|read"),
)  # fmt: skip
KINDS = tuple(name for name, _ in _KINDS)
CHANGING = frozenset({"fix", "test", "docs", "refactor", "setup", "feature"})
"""Kinds that are about changing files."""
_KIND_WORDS = tuple(
    (name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for name, words in _KINDS
)
_ASKS = re.compile(
    r"^\W*(?:what|why|how|where|which|who|when|is|are|do|does|did|can we|should|could we|explain)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you|ok(?:ay)?|now|next|let's|lets|i(?:'d| would)? (?:want|like|need)(?: you)? to|"
    r"help me(?: to)?|we need to|we should|you should|go ahead and|then|also|great|thanks|hi|hello|hey|so)[,:]?\s+)+",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|[._](?:test|spec)\.\w+$")
_DOC_FILE = re.compile(r"\.(?:md|rst|adoc|txt)$|(?:^|/)docs/", re.IGNORECASE)
HEAD_CHARS, NEAR_CHARS = 30, 160
_SETTING_UP = re.compile(
    r"\b(?:ci|workflow|github actions?|docker(?:file)?|pre-commit|linter|dependenc(?:y|ies))\b",
    re.I,
)
_PATHS = re.compile(r"@?[\w.~-]+/[\w./-]+")
LOOKED_CHARS = 600


def kind_of(prompt: str, is_change: bool = False) -> str:
    """Return what kind of task a prompt starts: one of KINDS, "" where its words do not say.

    The verb that it begins with says most; else what is most telling of the words near its start.

    Args:
        is_change: files were changed for it, so that it was more than a question.
    """
    text = _PATHS.sub(" ", _LEAD.sub("", request_of(prompt))[:LOOKED_CHARS])
    if not text:
        return ""
    if _ASKS.match(text) and "?" in text and not is_change:
        return "question"
    first = [
        (found.start(), rank, name)
        for rank, (name, words) in enumerate(_KIND_WORDS)
        if (found := words.search(text)) and not (is_change and name == "question")
    ]
    if not first:
        return "question" if text.rstrip().endswith("?") and not is_change else ""
    place, _, name = min(first)
    near = [one for one in first if one[0] <= NEAR_CHARS]
    if place > 0 and near:
        return min(near, key=lambda one: one[1])[2]
    # "Add tests for …", "write the docs of …": what is made says more.
    if name == "feature" and _SETTING_UP.search(text[: HEAD_CHARS + 10]):
        return "setup"
    made = [one for one in first if one[2] in ("test", "docs") and one[0] <= HEAD_CHARS]
    return min(made)[2] if made and name in ("feature", "question") else name


def classify(turns: Sequence[TaskTurn]) -> str:
    """Return the kind of a task: from the words it began with, corrected by what was done."""
    prompt = asked(turns)
    said = kind_of(prompt)
    steps = [step for turn in turns for step in turn.steps]
    edited = [
        step.said for step in steps if step.what == EDIT and step.said and step.ok is not False
    ]
    if not edited:
        ran = [step.job for step in steps if step.what == RUN]
        if said != "review" and not ran and not _BEGINS.match(request_of(prompt)):
            return "question"
        if not said and any(job.startswith(("git ", "gh ")) for job in ran):
            return "release"
        return said or "question"
    if said in ("", "question", "review", "feature", "release"):
        if all(_DOC_FILE.search(file) for file in edited):
            return "docs"
        if all(_TEST_FILE.search(file) for file in edited) and said != "release":
            return "test"
    if said in ("", "question", "review"):
        said = kind_of(prompt, is_change=True)
    return said or "feature"
