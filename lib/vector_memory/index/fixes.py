"""Errors and their fixes: a command that failed, what was changed, the command that then succeeded.

What is no error of the work is left out: refusals, interruptions, searches that find nothing, edits
that the client turned down. A command that failed and then succeeded with nothing changed was only
unlucky.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple

from vector_memory.index import commands, tools
from vector_memory.index.commands import Part
from vector_memory.index.exchanges import SAID, Call, Exchange
from vector_memory.index.memories import SUBAGENT_TAG, Draft, unchanged
from vector_memory.language.failures import failure, normalise
from vector_memory.language.statements import CODE, HEADING, statements
from vector_memory.model import unique

KIND, COLLECTION, TAG = "solution", "episodes", "fix"
SIGNATURE_TAG = "sig:"
TEXT_CHARS = 480
ERROR_CHARS = 170
COMMAND_CHARS = 90
MOST_CHANGES = 4
SURE, LIKELY = 0.9, 0.55
NEAR = 4
"""Commands within which another command may stand for the one that failed."""

_NOT_OURS = re.compile(
    r"requires approval|requested permissions|haven't granted|was blocked\. For security|"
    r"\[Request interrupted|operation was (?:interrupted|aborted)|^(?:<tool_use_error>)?(?:Input"
    r"ValidationError|String to replace|File has not been read)|permission to use \w+ (?:with command|"
    r"has been denied)|Command was aborted|The user doesn't want",
    re.IGNORECASE,
)
_MANNERS = frozenset({"--verbose", "--quiet", "--silent", "--color", "--no-color", "--exitfirst"})
"""Options that change how a command tells, not what it does."""
_STILL_FAILING = re.compile(
    r"(?m)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^\s*(?:FAILED|FAIL|fatal|error(?:\[\S*\])?)[: ]"
    r"|npm (?:ERR!|error)|Traceback \(most recent|: command not found|panicked at|Segmentation fault"
    r"|\berror TS\d+|BUILD FAILED|Build failed|[Ee]xit(?:ed with)? (?:code|status):? ?[1-9]"
)
_VAGUE = frozenset({"", "error", "fail", "failed", "fatal", "assertionerror", "err", "exception", "exit"})
_MISSING = re.compile(r"command not found|not recognized as|No such file or directory|not found in PATH")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|</?tool_use_error>")
_DECORATION = re.compile(r"^(?:[\s\u2500-\u25ff\u2800-\u28ff|>]*[\u2500-\u25ff\u2800-\u28ff|]\s?)|\s*[\u2500-\u25ff|]+$")
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
_COUNT = re.compile(r"\b(?:found )?\d+ (?:\w+ )?(?:errors?|warnings?|problems?|failed|failures?)\b", re.IGNORECASE)
_HEAD = re.compile(r"^(?:(?:fatal |internal )?error|fatal)[:!]\s*", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:issue|problem|error|failure|cause|culprit|reason|bug|mistake)s? (?:here |now )?(?:is|was|are|were|"
    r"comes?|came)\b|\bbecause\b|\bcaused by\b|\bdue to\b|\bturns out\b|\bfixed by\b|\bthe fix (?:is|was)\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"\b(?:needs?|requires?|missing|must|should (?:be|have|use)|expects?|doesn't|does not|isn't|is not|"
    r"wrong|incorrect|instead of|already|I see)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Episode:
    """One failing command with what mended it. `number` counts the failing commands of its exchange
    from 0; `changes` and `tried` are short lines: what was done before the success, and what was
    done before that and did not help."""

    exchange: Exchange
    number: int
    failed: Call
    success: Call
    error: str
    changes: tuple[str, ...]
    files: tuple[str, ...]
    because: str
    tried: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The job of the command that failed, such as `cargo test`."""
        return commands.family(self.failed.command)


class _Event(NamedTuple):
    """A call, or words of the assistant, with the exchange that it belongs to."""

    exchange: Exchange
    call: Call | None
    said: str


def signature(error: str, command: str) -> str:
    """Return by what an error is known again: 16 letters, the same on every machine and in every run.

    Args:
        error: what the command printed, redacted.
        command: the command line, which tells errors apart that say little themselves.
    """
    text = _tidy(error)
    found = failure(text)
    kind = found.kind if found else ""
    words = [kind, found.message if found else normalise(_line(text))]
    if kind.lower() in _VAGUE:
        words += [commands.family(command), *(found.frames[:1] if found else ())]
    digest = hashlib.blake2b("\0".join(words).lower().encode("utf-8", "replace"), digest_size=8)
    # Letters alone: the analyser keeps them as one term, so that a lookup by it is exact.
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest.hexdigest())


def error_line(error: str) -> str:
    """Return the one line that says what went wrong."""
    text = _tidy(error)
    found = failure(text)
    if found is None or not found.message:
        return tools.clip(_line(text), ERROR_CHARS)
    named = found.kind and (found.kind == "AssertionError" or found.kind.lower() not in _VAGUE)
    line = f"{found.kind}: {found.message}" if named else found.message
    return tools.clip(_HEAD.sub("", line), ERROR_CHARS)


def _tidy(error: str) -> str:
    """Return an output without colours, frames around text, and what was overwritten in place."""
    text = _ESCAPES.sub("", tools.shortened_output(error, True)).replace("\r", "\n")
    lines = (_DECORATION.sub("", line).rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if not _SAYS_NOTHING.match(line))


def _line(text: str) -> str:
    """Return the line that says most where no error can be recognised: the first that complains, but
    a count of complaints only when there is no other, else the last."""
    lines = [line.strip() for line in text.split("\n") if len(_WORD.findall(line)) > 1]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    plain = [line for line in complaints if not _COUNT.search(line)]
    for some in (plain[:1], complaints[:1], lines[-1:]):
        if some:
            return some[0].strip("= ")
    return text.strip()


def episodes(exchange: Exchange) -> list[Episode]:
    """Return what failed and was mended in an exchange, or failed in the one before and was mended in
    this one, in the order of the failures."""
    events = [event for one in (*exchange.before, exchange) for event in _events(one)]
    found = (_episode(events, place, exchange) for place in range(len(events)))
    return [one for one in found if one]


def is_failure(call: Call) -> bool:
    """Whether a call is a command that failed in a way worth knowing."""
    if not (call.command and call.failed) or tools.is_rejection(call.output):
        return False
    if _NOT_OURS.search(call.output[:2_000]) or not commands.family(call.command):
        return False
    # Older clients gave the words of a user who refused as the result alone.
    return bool(_line(_tidy(call.output))) and not tools.user_words(call.output, call.tool, True)


def succeeded(call: Call, command: str) -> bool:
    """Whether a call did well what another command line tried."""
    return _fit(command, call) >= SURE


# -- one failure --


def _events(exchange: Exchange) -> list[_Event]:
    """Return an exchange's calls and words in their order."""
    said = [
        ((place, 1, 0), _Event(exchange, None, step.text))
        for place, step in enumerate(exchange.steps)
        if step.kind == SAID
    ]
    called = [
        ((call.place, 0, number), _Event(exchange, call, ""))
        for number, call in enumerate(exchange.calls)
    ]
    return [event for _, event in sorted([*said, *called], key=lambda one: one[0])]


def _episode(events: Sequence[_Event], place: int, exchange: Exchange) -> Episode | None:
    owner, failed, _ = events[place]
    if failed is None or not is_failure(failed):
        return None
    end = _mended(events, place)
    if end is None or events[end].exchange is not exchange:
        return None
    success = events[end].call
    assert success is not None
    until = _next_run(events, place, end)
    between = events[place + 1 : until]
    done = [event.call for event in between if event.call]
    changes = list(_changes(done))
    later = [event.call for event in events[until + 1 : end] if event.call]
    changes = changes or list(_changes(later))
    if _is_corrected(failed, success, bool(changes)):
        changes.append(f"ran `{_short(success.command, _runs_elsewhere(failed, success))}` instead")
    if not changes:
        return None
    files = unique(call.file for call in (*done, *later) if call.file and not call.failed)
    words = [event.said for event in (*between, *events[end + 1 : end + 3]) if event.said]
    return Episode(
        exchange=owner,
        number=sum(
            1 for event in events[:place] if event.exchange is owner and _fails(event.call)
        ),
        failed=failed,
        success=success,
        error=error_line(failed.output),
        changes=unique(changes),
        files=files,
        because=_because(words),
    )


def _fails(call: Call | None) -> bool:
    return call is not None and is_failure(call)


def _mended(events: Sequence[_Event], place: int) -> int | None:
    """Return where the command that failed first succeeded, or the one that stands for it."""
    failed = events[place].call
    assert failed is not None
    likely: int | None = None
    run = 0
    for later in range(place + 1, len(events)):
        call = events[later].call
        if call is None or not call.command or not call.is_done:
            continue
        run += bool(commands.family(call.command))
        fit = _fit(failed.command, call, failed.output)
        fit = max(fit, _stands_for(failed, call) if run <= NEAR else 0.0)
        if fit >= SURE:
            return later
        if fit >= LIKELY and likely is None:
            likely = later
    return likely


def _next_run(events: Sequence[_Event], place: int, end: int) -> int:
    """Return where the command was tried next, at the latest where it succeeded."""
    failed = events[place].call
    assert failed is not None
    for later in range(place + 1, end):
        call = events[later].call
        if call and call.command and _alike(failed.command, call.command) >= LIKELY:
            return later
    return end


def _fit(command: str, call: Call, error: str = "") -> float:
    """Return how surely a call did well what a command line tried, 0 to 1."""
    if call.failed or not call.is_done:
        return 0.0
    if _STILL_FAILING.search(call.output) and any(
        part.is_masked for part in commands.telling(call.command)
    ):
        return 0.0
    return _alike(command, call.command, error)


def _alike(command: str, other: str, error: str = "") -> float:
    tried = _failing_part(command, error)
    if tried is None:
        return 0.0
    return max((commands.same_job(tried, part) for part in commands.telling(other)), default=0.0)


def _failing_part(command: str, error: str = "") -> Part | None:
    """Return the part of a command line that most likely failed: the one that the error's line names
    a word of, else the last whose exit code counts."""
    told = commands.telling(command)
    plain = [part for part in told if not part.is_masked] or told
    line = _line(_tidy(error)) if error and len(plain) > 1 else ""
    named = [part for part in plain if any(len(word) > 5 and word in line for word in part.words)]
    return named[0] if len(named) == 1 else plain[-1] if plain else None


def _stands_for(failed: Call, call: Call) -> float:
    """Return how surely another program did what the failed one was to do: the one that it would
    have run, or one of another name where it is missing."""
    if call.failed or _STILL_FAILING.search(call.output):
        return 0.0
    tried, told = _failing_part(failed.command), commands.telling(call.command)
    if tried is None or not told:
        return 0.0
    other = told[-1]
    shares = bool(tried.operands & other.operands) or (
        bool(tried.words) and tried.words == other.words
    )
    named = other.program in re.split(r"[\s:_-]", tried.job)
    missing = _MISSING.search(failed.output) and tried.program in failed.output
    return SURE if shares and (named or missing) and other.job != tried.job else 0.0


def _runs_elsewhere(failed: Call, success: Call) -> bool:
    return commands.settings(failed.command) != commands.settings(success.command)


def _is_corrected(failed: Call, success: Call, is_mended: bool) -> bool:
    """Whether the command itself was changed. Where something else was mended besides, what was only
    asked for in other ways (less or more output, another message) is not."""
    if commands.bare(failed.command) == commands.bare(success.command):
        return _runs_elsewhere(failed, success) and not is_mended
    if not is_mended:
        return True
    tried = _failing_part(failed.command)
    told = [part for part in commands.telling(success.command) if tried and part.job == tried.job]
    if not tried or not told:
        return True
    fresh = (set(told[-1].words) - set(tried.words)) - _MANNERS
    return any(word.startswith("--") and not word.startswith("--tb") for word in fresh)


# -- what was done --


def _changes(calls: Sequence[Call]) -> Iterator[str]:
    """Yield what changed something, a short line each: edits, and commands that do more than look."""
    for call in calls:
        if call.failed or not call.is_done:
            continue
        if call.file:
            yield f"edited {call.file}" + (f" ({_clip(call.change, 110)})" if call.change else "")
        elif call.command and _changes_something(call.command):
            yield f"ran `{_short(call.command)}`"


_CHECKS = re.compile(
    r"\b(?:test|tests|check|lint|typecheck|build|run|clippy|vet|--version|--help|status|show|diff|log|"
    r"collect-only|pytest|pyright|mypy|ty|tsc|jest|vitest|eslint|python|node|curl|wget|act|bats|stylelint)\b"
)
_CHANGING = re.compile(
    r"\b(?:install|add|remove|uninstall|upgrade|update|sync|format|fmt|--fix|--write|fix|mkdir|chmod|chown|"
    r"mv|cp|rm|ln|touch|sed -i|patch|apply|migrate|init|create|set|config|generate|restart|start|stop|up|"
    r"down|pull|checkout|switch|merge|rebase|reset|stash|clean|prune|login|enable|commit|push|unset|delete|"
    r"link|unlink|lock|rename|use)\b|>{1,2}\s*\S"
)


def _changes_something(command: str) -> bool:
    return any(
        bool(_CHANGING.search(f"{part.job} {' '.join(part.words)[:200]}"))
        and not (_CHECKS.search(part.job) and not _CHANGING.search(part.job))
        or part.program in ("mkdir", "chmod", "mv", "cp", "rm", "ln", "touch", "export", "sed")
        for part in commands.telling(command)
    )


def _because(words: Sequence[str]) -> str:
    """Return the sentence that says why it failed or what mended it, "" for none."""
    best, found = 0, ""
    for text in words:
        for one in statements(text[:6_000]):
            if one.form in (CODE, HEADING) or not 20 <= len(one.text) <= 400 or one.text[-1] == ":":
                continue
            worth = 2 if _CAUSE.search(one.text) else 1 if _HINT.search(one.text) else 0
            if worth > best:
                best, found = worth, one.text
    return found


def _short(command: str, whole: bool = False) -> str:
    return _clip(command if whole else commands.bare(command), COMMAND_CHARS)


def _clip(text: str, size: int) -> str:
    return tools.clip(text, size)


# -- drafts --


def fix_drafts(
    exchange: Exchange,
    path: str = "",
    fallback_at: datetime | None = None,
    clean: Callable[[str], str] = unchanged,
) -> list[Draft]:
    """Return what failed and was mended as drafts, one for each error: where it came again after a
    change, that change is what was tried, and the last one mended it.

    Raises:
        UnsafeTextError: `clean` could not handle a text.
    """
    groups: dict[str, list[Episode]] = {}
    for one in episodes(exchange):
        sign = signature(clean(one.failed.output), clean(one.failed.command))
        groups.setdefault(f"{one.exchange.key}:{sign}", []).append(one)
    return [
        _draft(group, name.rpartition(":")[2], path, fallback_at, clean)
        for name, group in groups.items()
    ]


def _draft(
    group: Sequence[Episode],
    sign: str,
    path: str,
    fallback_at: datetime | None,
    clean: Callable[[str], str],
) -> Draft:
    first, last = group[0], group[-1]
    exchange = last.exchange
    tried = unique(clean(line) for one in group[:-1] for line in one.changes)
    files = unique(clean(file) for one in group for file in one.files)
    at = last.success.at or exchange.ended_at or fallback_at or datetime.now(timezone.utc)
    return Draft(
        text=_text(last, clean),
        title=clean(last.error),
        created_at=at,
        session=exchange.session,
        turn=exchange.turn,
        path=path,
        line_start=first.failed.line,
        line_end=last.success.output_line or last.success.line,
        speaker="assistant",
        files=files,
        tags=(TAG, SIGNATURE_TAG + sign, *((SUBAGENT_TAG,) if exchange.is_subagent else ())),
        external_id=f"{exchange.key}:fix:{first.number}",
        origin="assistant",
        cwd=exchange.cwd,
        kind=KIND,
        collection=COLLECTION,
        extra={
            "signature": sign,
            "command": clean(_short(last.failed.command)),
            "family": clean(last.family),
            "files": list(files),
            "tried": [line for line in tried if line not in last.changes][:MOST_CHANGES],
        },
    )


def _text(one: Episode, clean: Callable[[str], str]) -> str:
    """Return an episode as a sentence or two that can be understood alone."""
    head = f"ERROR {_sentence(clean(one.error))} FIX "
    tail = f" (command `{clean(_short(one.failed.command))}`)"
    room = TEXT_CHARS - len(head) - len(tail)
    because = _clip(_sentence(clean(one.because)), room // 2) if one.because else ""
    did = _clip(clean("; ".join(one.changes[-MOST_CHANGES:])), max(40, room - len(because) - 2))
    return head + " ".join(part for part in (because, _sentence(did)) if part) + tail


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
