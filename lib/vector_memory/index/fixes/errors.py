"""What a failing command printed: the line that says what went wrong, and the signature
by which the error is recognised."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from vector_memory.index import tools
from vector_memory.index.fixes import commands
from vector_memory.text.failures import Failure, failure, is_code, normalise, undated
from vector_memory.text.patterns import PatternTable
from vector_memory.text.words import letters_in

ERROR_CHARS = 170
SHORT_MESSAGE = 25
"""Characters below which "error: …" may be said of anything."""
BEFORE, AFTER, MOST_LINES = 2, 5, 40
"""Lines around one that complains which may say what it complains of, and how many are looked at."""

_DECORATION = re.compile(
    r"^[\s\u2500-\u25ff\u2800-\u28ff|>]*[\u2500-\u25ff\u2800-\u28ff|]\s?|\s*[\u2500-\u25ff|]+$"
)
_SAYS_NOTHING = re.compile(
    r"\s*(?:(?:Error: )?Exit code \d+|[\W_]*|Rebasing \(\d+/\d+\)|.{0,60}\b(?:session starts|lefthook v)\b.*"
    r"|\d+[\s│|]+[-+].*|%\s+Total.*|[\w./:\[\]-]+ PASSED.*|WARN\b.*)$",
    re.IGNORECASE,
)
_TABLE = PatternTable("error_words", os.path.dirname(__file__))
_HEAD = re.compile(r"^(?:(?:fatal |internal )?error|fatal)[:!]\s*", re.IGNORECASE)
_PREFIX = re.compile(r"^.*?\b(?:error|fatal)\b(?: \w+\d)?[]:!]\s*", re.IGNORECASE)
_VAGUE = frozenset({"error", "fail", "failed", "fatal", "err", "exception", "exit"})
PLACED = re.compile(r"^[\w./\\@-]+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?:? (?=\S)")
"""A message with the place in a file that it is about."""
_RAISED = re.compile(
    r"^.*(?:\b[\w.]*(?:[Ee]rror|ERROR|Exception|FATAL|fatal)(?:\[\w+\])?:|\b\w+(?:(?:\.|::)\w+)*(?:\.|::)[A-Z]\w+[:)])"
    r"\s+(?=(?:\S+\s+){2})"
)
"""Before the words of an error: its kind, and those of the errors that were raised of it."""
_CAUSED = re.compile(r"(\S[^\n]*)\n\s*\nCaused by:\n\s+(?:0: )?(\S[^\n]*)")
"""An error with a chain of causes below it, which are one to a reader: "open /dev/x" and "Permission denied"."""
TAIL = 24
_URL = re.compile(
    r"\b(?:https?|git|ssh|wss?|ftp):/{1,2}[^\s/'\",]+(?:/(?:[^\s/'\",]*/)*([^\s/'\",]*))?"
)
_HOST = r"(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|(?<![\w:])(?=[a-f:]*\d)\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\]?)"
_VARYING = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\bsha\d{1,3}[-:][\w+/=<>-]+", "<hash>"),
        # The machine or service whose word it is.
        (r"(?<!\S)\[[\w.@-]+\](?=:)", ""),
        (_HOST + r"(?::\d+)?(?!\w)", "<host>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b|<hash>", "<hash>"),
        (r"<hash>(?:::\w+)+", "<hash>"),
        (r"(?<![\w<])(?:~|\.{1,2}|[\w.@-]+)?(?:/[^\s/'\":,()<>]+)*/(?=[^\s/'\":,()<>])", ""),
        # Which branch it was that could not be pushed.
        (r"(?<=rejected\])\s+\S+\s+->\s+\S+", " <ref>"),
        # What says how a program ended tells errors apart; other numbers do not, nor does which of several machines
        # or pods it was (`node-2`).
        (
            r"(?:(?<![\w.<-])|(?<=-node-)|(?<=worker-)|(?<=replica-)|(?<=host-)|(?<=pod-))(?<!code )(?<!status )(?<!errno )(?<!error )(?<!signal )\d+(?:\.\d+)*(?![\w])",
            "<n>",
        ),
    )
)
_EDGE_SIGNS = ".,:;()[]{}<>'\"`"
NAMED = re.compile(
    r"(?<!\w)'[^']{1,80}'|\"[^\"]{1,80}\"|`[^`]{1,80}`|\S*(?:\w[-_./@:]\w|(?<!\S)-\w|\w\d|[a-z][A-Z])\S*"
)


@lru_cache(maxsize=512)
def signature(error: str, command: str) -> str:
    """Return the signature by which an error is recognised: 16 letters, the same on every machine and in every run.

    Args:
        error: what the command printed, redacted.
        command: the command line, which tells errors apart that say little themselves.
    """
    text = tidy(error)
    parsed = failure(text)
    line = _with_next_line(line_of(text), text)
    words = [parsed.kind, parsed.message] if parsed else ["", normalise(line)]
    if parsed is None or _is_vague(parsed):
        words += [commands.job_of(command), *(parsed.frames[:1] if parsed else ())]
        # The last line of a linker or a package manager is the same whatever it misses.
        words.append(normalise(line))
    joined = "\0".join(map(without_what_varies, words)).lower()
    return digest_letters(joined)


def digest_letters(text: str) -> str:
    """Return 16 letters for a text. The analyser keeps them as one term, so that a lookup by it is exact."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in _digest(text, 8).hex())


def digest(word: str) -> str:
    """Return eight letters for a word that is only compared: what a tool printed is shown nowhere unmarked."""
    return _digest(word, 4).hex()


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


def without_what_varies(words: str) -> str:
    """Return a part of an error without the addresses, numbers and folders in it. Of a URL its last part
    is left where that is what is missing."""
    absent = "absent" in _TABLE.found(words)
    words = _URL.sub(lambda url: (url[1] or "") if absent else "<url>", words)
    for pattern, instead in _VARYING:
        words = pattern.sub(instead, words)
    return words


def error_line(error: str) -> str:
    """Return the one line that says what went wrong."""
    text = tidy(error)
    parsed = failure(text)
    if parsed is None or not parsed.message or says_only_failure(parsed.message):
        line = _with_next_line(line_of(text), text)
    else:
        is_named = parsed.kind and parsed.kind.lower() not in _VAGUE
        line = f"{parsed.kind}: {parsed.message}" if is_named else parsed.message
    return tools.clip(_HEAD.sub("", undated(line)), ERROR_CHARS)


def essence(error: str) -> str:
    """Return what an output says was wrong: of errors that are raised of others the innermost, and
    below a line that ends in a colon what it announces."""
    text = tidy(error)
    parsed = failure(text)
    has_message = parsed and parsed.message and not says_only_failure(parsed.message)
    message = parsed.message if parsed and has_message else normalise(PLACED.sub("", line_of(text)))
    place, _, panic_message = message.partition(": ")
    # Where a program of Rust panicked stands before what it says.
    message = panic_message if panic_message and place.endswith(".rs") else message
    following = normalise(text).partition(message[-TAIL:])[2].split("\n") if message else []
    while message.endswith(":") and following:
        line = following.pop(0).strip()
        message = line if _complains(line) else message
    return _RAISED.sub("", message)


def is_absent(words: str) -> bool:
    """Whether an error is that something is missing."""
    return not {"absent", "missing"}.isdisjoint(_TABLE.found(words))


def _with_next_line(line: str, text: str) -> str:
    """Return a line of a tidy output, with the next one where it ends in a colon."""
    below = text.partition(line)[2].strip() if line.endswith(":") else ""
    return f"{line} {below.splitlines()[0]}" if below else line


def words_of(line: str) -> frozenset[str]:
    """Return an error line's words as they stand but for what surrounds them, without what differs from
    run to run: `-lssl` and `express-session` are one word each."""
    stripped = (word.strip(_EDGE_SIGNS) for word in without_what_varies(normalise(line)).split())
    return frozenset(word.lower() for word in stripped if word)


def complaints(error: str) -> list[str]:
    """Return the lines of all that an output complains of, with what stands around a line that says of nothing what is
    wrong with it ("cannot find symbol", "task X failed"); none where an error has a kind of its own."""
    text = tidy(error)
    parsed = failure(text)
    if parsed and not _is_vague(parsed) and parsed.kind.lower() not in _VAGUE:
        return []
    lines = text.split("\n")
    complaining = [index for index, line in enumerate(lines) if _complains(line)]
    # Where some lines say what is wrong, the others name what is accidental: a test, a program's folder.
    specific = [index for index in complaining if _is_specific(lines[index])]
    before, after = (0, 0) if specific else (BEFORE, AFTER)
    near = {
        place
        for index in specific or complaining
        for place in range(max(0, index - before), min(len(lines), index + after + 1))
    }
    return [_without_place(lines[place]) for place in sorted(near)[:MOST_LINES]]


def _is_specific(line: str) -> bool:
    """Whether a line names something and says more of it than that it failed."""
    message = _PREFIX.sub("", undated(line.strip()))
    rest = NAMED.sub("", message)
    is_empty = is_code(message) or says_only_failure(message) or says_only_failure(rest)
    return rest != message and not is_empty


def names_in(line: str) -> frozenset[str]:
    """Return those of an error line's words that name something: quoted, or written as no word is."""
    return words_of(" ".join(match.group() for match in NAMED.finditer(line)))


@lru_cache(maxsize=512)
def tidy(error: str) -> str:
    """Return an output without colours, frames around text, and what was overwritten in place."""
    text = tools.plain_output(tools.shortened_output(error, True)).replace("\r", "\n")
    text = _CAUSED.sub(r"\1: \2", text)
    lines = (_DECORATION.sub("", line).rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if not _SAYS_NOTHING.match(line))


def has_words(error: str) -> bool:
    """Whether an output holds any words, the client's own left out."""
    return bool(letters_in(tidy(error), 2))


def line_of(text: str) -> str:
    """Return the line of a tidy output that says most: the first that complains, but a count of
    complaints only when there is no other, else the last; where that is what another announces ("To mend it, run:"),
    the first that announces something."""
    lines = [line for line in text.split("\n") if len(letters_in(line, 2)) > 1]
    complaints = [index for index, line in enumerate(lines) if _complains(line)]
    specific = (
        index
        for index in complaints
        if not (
            "count" in _TABLE.found(lines[index])
            or says_only_failure(lines[index])
            or _has_cause_below(lines, index)
        )
    )
    last_places = [index for index, line in enumerate(lines) if not says_only_failure(line)][-1:]
    if last_places and last_places[0] and lines[last_places[0] - 1].endswith(":"):
        last_places = [index for index, line in enumerate(lines) if line.endswith(":")]
    index = next(specific, complaints[0] if complaints else last_places[0] if last_places else -1)
    return _without_place(lines[index]).strip("= ").removeprefix("> ") if lines else text.strip()


def _has_cause_below(lines: Sequence[str], index: int) -> bool:
    """Whether a line has its cause right below it ("> Could not find x:y:1"), or does not say what is wrong and has one
    below it that does."""
    cause = "".join(lines[index + 1 : index + 2]).lstrip()
    # Not a line of code that is pointed at: "> 12 | throw new Error()".
    if cause.startswith("> ") and not cause[2:].lstrip()[:1].isdigit() and _complains(cause):
        return True
    if _is_specific(lines[index]):
        return False
    depth = _indent(lines[index])
    below = takewhile(lambda line: _indent(line) >= depth, lines[index + 1 : index + 1 + AFTER])
    return any(_complains(line) and _is_specific(line) for line in below)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_place(line: str) -> str:
    """Return a line; one that stands below another (the test, the task) without the place in its file."""
    return PLACED.sub("", line.strip()) if _indent(line) else line


def _complains(line: str) -> bool:
    return "complaint" in _TABLE.found(line) or PLACED.match(line.strip()) is not None


def _is_vague(parsed: Failure) -> bool:
    """Whether the same may be said of many things: then what was run belongs to it."""
    kind = parsed.kind.lower()
    if kind == "assertionerror" or not parsed.message or says_only_failure(parsed.message):
        return True
    return kind in _VAGUE and len(parsed.message) < SHORT_MESSAGE


def says_only_failure(message: str) -> bool:
    """Whether a message says that something failed, and not what is wrong."""
    return "only_that" in _TABLE.found(message.strip())
