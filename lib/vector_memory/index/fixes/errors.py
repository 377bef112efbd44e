"""What a failing command printed: the line that says what went wrong, and by what it is known again."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from vector_memory.index import tools
from vector_memory.index.fixes import commands
from vector_memory.text.failures import Failure, failure, normalise

ERROR_CHARS = 170
SHORT_MESSAGE = 25
"""Characters below which "error: …" may be said of anything."""

_DECORATION = re.compile(
    r"^[\s\u2500-\u25ff\u2800-\u28ff|>]*[\u2500-\u25ff\u2800-\u28ff|]\s?|\s*[\u2500-\u25ff|]+$"
)
_SAYS_NOTHING = re.compile(
    r"\s*(?:(?:Error: )?Exit code \d+|[\W_]*|Rebasing \(\d+/\d+\)|.{0,60}\b(?:session starts|lefthook v)\b.*"
    r"|\d+[\s│|]+[-+].*|%\s+Total.*|[\w./:\[\]-]+ PASSED.*|WARN\b.*)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMPLAINT = re.compile(
    r"error|not found|no such|fatal|fail|denied|cannot|can't|unable|refused|exception|invalid|unused|"
    r"unexpected|missing|unknown|must|conflict|warning|would have|not (?:formatted|allowed|installed|match)"
    r"|[✖✗×✘❌]",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?:found )?\d+ (?:\w+ )?(?:errors?|warnings?|problems?|failed|failures?)\b", re.IGNORECASE
)
_HEAD = re.compile(r"^(?:(?:fatal |internal )?error|fatal)[:!]\s*", re.IGNORECASE)
_VAGUE = frozenset({"error", "fail", "failed", "fatal", "err", "exception", "exit"})


@lru_cache(maxsize=512)
def signature(error: str, command: str) -> str:
    """Return by what an error is known again: 16 letters, the same on every machine and in every run.

    Args:
        error: what the command printed, redacted.
        command: the command line, which tells errors apart that say little themselves.
    """
    text = tidy(error)
    found = failure(text)
    words = [found.kind, found.message] if found else ["", normalise(line_of(text))]
    if found is None or _is_vague(found):
        words += [commands.family(command), *(found.frames[:1] if found else ())]
    digest = hashlib.blake2b("\0".join(words).lower().encode("utf-8", "replace"), digest_size=8)
    # Letters alone: the analyser keeps them as one term, so that a lookup by it is exact.
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest.hexdigest())


def error_line(error: str) -> str:
    """Return the one line that says what went wrong."""
    text = tidy(error)
    found = failure(text)
    if found is None or not found.message:
        line = line_of(text)
    else:
        named = found.kind and found.kind.lower() not in _VAGUE
        line = f"{found.kind}: {found.message}" if named else found.message
    return tools.clip(_HEAD.sub("", line), ERROR_CHARS)


@lru_cache(maxsize=512)
def tidy(error: str) -> str:
    """Return an output without colours, frames around text, and what was overwritten in place."""
    text = tools.ESCAPES.sub("", tools.shortened_output(error, True)).replace("\r", "\n")
    lines = (_DECORATION.sub("", line).rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if not _SAYS_NOTHING.match(line))


def says_anything(error: str) -> bool:
    """Whether an output holds any words, the client's own left out."""
    return any(map(_WORD.search, tidy(error).split("\n")))


def line_of(text: str) -> str:
    """Return the line of a tidy output that says most: the first that complains, but a count of
    complaints only when there is no other, else the last."""
    lines = [line.strip() for line in text.split("\n") if len(_WORD.findall(line)) > 1]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    plain = [line for line in complaints if not _COUNT.search(line)]
    for some in (plain[:1], complaints[:1], lines[-1:]):
        if some:
            return some[0].strip("= ")
    return text.strip()


def _is_vague(found: Failure) -> bool:
    """Whether the same may be said of many things: then what was run belongs to it."""
    kind = found.kind.lower()
    return kind == "assertionerror" or (kind in _VAGUE and len(found.message) < SHORT_MESSAGE)
