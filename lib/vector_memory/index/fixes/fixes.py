"""Errors and their fixes: a command that failed, what was changed, the command that then succeeded.

What is no error of the work is left out: refusals, interruptions, searches that find nothing, edits
that the client turned down. A command that failed and then succeeded with nothing changed was only
unlucky.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import NamedTuple

from vector_memory.index import tools
from vector_memory.index.exchanges import SAID, Exchange, ToolUse
from vector_memory.index.fixes import commands
from vector_memory.index.fixes.commands import CommandPart
from vector_memory.index.fixes.errors import (
    error_line,
    line_of,
    says_anything,
    says_only_that,
    signature,
    tidy,
)
from vector_memory.model import unique
from vector_memory.text import tables
from vector_memory.text.failures import failure
from vector_memory.text.patterns import PatternTable
from vector_memory.text.statements import CODE, HEADING, statements
from vector_memory.text.words import names_in

INSTEAD = "instead"
COMMAND_CHARS, INSTEAD_CHARS = 90, 160
"""Of a command line that is named, and of one that is to be run instead."""
CHANGE_CHARS = 110
BECAUSE_CHARS = 200
SURE, LIKELY = 0.9, 0.55
NEAR = 4
"""Commands within which another program may stand for the one that failed."""

_TABLE = PatternTable("fix_phrases", os.path.dirname(__file__))
_SAID = re.compile(r"(?!\S{1,40}:\s)[^\n]*\b(?:I|we|you|let's|please)\b[^\n]*", re.IGNORECASE)
"""One line of speech: what the user said when turning a call down, as older clients give it."""
_STILL_FAILING = re.compile(
    r"(?m)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^\s*FAIL(?:ED)?\b|(?i:build failed)"
    r"|Segmentation fault|[Ee]xit(?:ed with)? (?:code|status):? ?[1-9]"
)
_MISSING = (
    "command not found", "not recognized as", "No such file or directory", "not found in PATH"
)  # fmt: skip
_PAST_CHECKS = frozenset({"--no-verify", "--admin"})
"""Options that go past what failed rather than mend it."""
_UNDOING = frozenset({"git checkout", "git restore", "git reset", "git stash", "git revert"})
_NOT_UNDOING = frozenset({"--staged", "-S", "-b", "-B"})
"""Options with which these leave the files as they are, unless another one says otherwise."""
_UNDOING_TOO = frozenset({"--worktree", "-W"})
_KEEPING = frozenset({"git add", "git commit", "git push"})
"""Jobs that keep what was done: they mend nothing where anything else was done."""
_MANNERS = frozenset({"--verbose", "--quiet", "--silent", "--color", "--no-color", "--exitfirst"})
"""Options that change how a command tells, not what it does."""
_WORDS_OF = tables.sets("command_words")
_CHECK_ENDS = ("check", "lint")
_CHECKS, _MAKING, _READING = (_WORDS_OF[name] for name in ("checks", "making", "reading"))
_SWITCHES = tables.sections("switched_off_checks")
_EXPRESSIONS = tuple(" ".join(_SWITCHES["expressions"]).split())
_PROSE = (".md", ".rst", ".adoc", ".txt")


class FixStep(NamedTuple):
    """One thing that was done: a short line that says it, and the whole command where it was one."""

    line: str
    command: str = ""


@dataclass(frozen=True)
class Episode:
    """One failing command with what mended it. `exchange` is the one in which it failed, and `number`
    counts the failing commands there from 0; `steps` are what was done, none of which failed."""

    exchange: Exchange
    number: int
    failed: ToolUse
    success: ToolUse
    error: str
    steps: tuple[FixStep, ...]
    files: tuple[str, ...]
    because: str

    @property
    def changes(self) -> tuple[str, ...]:
        """What was done, a short line each."""
        return tuple(step.line for step in self.steps)

    @property
    def families(self) -> tuple[str, ...]:
        """The job of the command that failed, such as `cargo test`, and of the one that succeeded."""
        ran = (self.failed.command, self.success.command)
        return unique(commands.family(command) for command in ran)


def episodes(exchange: Exchange, clean: Callable[[str], str] = str) -> list[Episode]:
    """Return what failed and was mended in an exchange, or failed in one of those before and was
    mended in this one, in the order of the failures. What is told in part alone is cleaned before."""
    story = _Story((*exchange.before, exchange), clean)
    found = (story.episode(place, exchange) for place in story.failures)
    return [episode for episode in found if episode]


def is_failure(call: ToolUse) -> bool:
    """Whether a call is a command that failed in a way worth knowing."""
    if not (call.command and (call.failed or _fails_unseen(call))):
        return False
    if "not_ours" in _TABLE.found(call.output[:2_000]) or not commands.family(call.command):
        return False
    is_users = tools.is_rejection(call.output) or _SAID.fullmatch(call.output.strip())
    return not is_users and says_anything(call.output)


def _fails_unseen(call: ToolUse) -> bool:
    """Whether a command failed though it ended well, and its output says what was wrong."""
    hides = hides_failure(call.command, call.output)
    return hides and not says_only_that(error_line(call.output))


def hides_failure(command: str, output: str) -> bool:
    """Whether a command line ended well only because the exit code of what failed in it is lost: in a pipe,
    before `;` or `||`."""
    is_masked = any(part.is_masked for part in commands.acting(command))
    return is_masked and _complains(output)


def _complains(output: str) -> bool:
    return bool(_STILL_FAILING.search(output) or failure(tidy(output)))


def succeeded(call: ToolUse, families: Iterable[str]) -> bool:
    """Whether a call ran one of these jobs, such as `cargo test`, and did it well."""
    jobs = {part.job for part in commands.acting(call.command)}
    return not jobs.isdisjoint(families) and _is_good(call)


def short(command: str, whole: bool = False, size: int = COMMAND_CHARS) -> str:
    """Return a command line in a few words; with `whole`, with the folder that it changes to."""
    return tools.clip(command if whole else commands.bare(command), size)


class _Event(NamedTuple):
    """A call, or words of the assistant, with the exchange that it belongs to."""

    exchange: Exchange
    call: ToolUse | None
    said: str


class _Story:
    """What happened in a few exchanges, in order. Places count the events from 0."""

    def __init__(self, exchanges: Sequence[Exchange], clean: Callable[[str], str]) -> None:
        self.clean = clean
        self.events = [event for exchange in exchanges for event in _events(exchange)]
        self.failures = [
            place
            for place, event in enumerate(self.events)
            if event.call and is_failure(event.call)
        ]
        self.commands: list[int] = []
        self.by_job: dict[str, list[int]] = {}
        for place, event in enumerate(self.events):
            told = commands.acting(event.call.command) if event.call else ()
            self.commands += [place] if told else []
            for job in {part.job for part in told}:
                self.by_job.setdefault(job, []).append(place)

    def episode(self, place: int, exchange: Exchange) -> Episode | None:
        """Return what mended the failure at a place, None unless that was in this exchange."""
        owner, failed = self.events[place].exchange, self._call(place)
        end = self._mended(place)
        if end is None or self.events[end].exchange is not exchange:
            return None
        until = self._next_run(place, end)
        steps, files = self._changes(place, until, end)
        if not steps:
            return None
        earlier = (failure for failure in self.failures if failure < place)
        return Episode(
            exchange=owner,
            number=sum(self.events[one].exchange is owner for one in earlier),
            failed=failed,
            success=self._call(end),
            error=error_line(failed.output),
            steps=steps,
            files=files,
            because=_because(
                self._words(place, until), self._words(end, end + 3), _topic(failed, steps)
            ),
        )

    def _call(self, place: int) -> ToolUse:
        call = self.events[place].call
        assert call is not None
        return call

    def _calls(self, start: int, end: int) -> list[ToolUse]:
        return [event.call for event in self.events[start + 1 : end] if event.call]

    def _words(self, start: int, end: int) -> list[str]:
        return [event.said for event in self.events[start + 1 : end] if event.said]

    def _mended(self, place: int) -> int | None:
        """Return where the command that failed first succeeded, or the one that stands for it."""
        failed = self._call(place)
        tried, likely = _failing_part(failed), None
        if tried is None:
            return None
        start = bisect_right(self.commands, place)
        nearest, same = self.commands[start : start + NEAR], self.by_job.get(tried.job, [])
        for later in sorted({*nearest, *same[bisect_right(same, place) :]}):
            call = self._call(later)
            if _goes_past(tried, call) or _is_elsewhere(failed, call) or _repeats(failed, call):
                continue
            fit = _fit(tried, call) if _is_good(call) else 0.0
            if fit >= SURE or _stands_for(failed, tried, call):
                return later
            # A check that is run on less has passed nothing.
            if likely is None and fit >= LIKELY and later in nearest and not _is_check(tried):
                likely = later
        return likely

    def _next_run(self, place: int, end: int) -> int:
        """Return where the command was tried next, at the latest where it succeeded."""
        tried = _failing_part(self._call(place))
        for later in self.by_job.get(tried.job, []) if tried else []:
            if tried and place < later < end and _fit(tried, self._call(later)) >= LIKELY:
                return later
        return end

    def _changes(
        self, place: int, until: int, end: int
    ) -> tuple[tuple[FixStep, ...], tuple[str, ...]]:
        """Return what was done until the command was run next, and to which files; where nothing was,
        what was done later, or what was changed of the command that succeeded in the end."""
        failed, following, success = self._call(place), self._call(until), self._call(end)
        is_luck = self._failed_before(failed, end)
        later = self._calls(until, end)
        done = _stayed(self._calls(place, until), later)
        steps = _steps(done, self.clean)
        other = signature(following.output, "") != signature(failed.output, "")
        if not steps and until < end:
            is_kept = _added(failed, following) <= _jobs(success)
            if other and is_kept and _is_corrected(failed, following, is_mended=False):
                # The command was corrected; what was done later mended what it met then.
                return () if is_luck else _instead(failed, success, is_mended=False), ()
            done = _stayed(later)
            steps = _steps(done, self.clean)
        # What another error was met with says nothing of what had mended this one.
        if any(map(_switches_off, done if other else [*done, *_stayed(later)])):
            return (), ()
        steps = [*steps, *(() if is_luck else _instead(failed, success, bool(steps)))]
        files = unique(call.file for call in done if call.file)
        return tuple({step.line: step for step in steps}.values()), files

    def _failed_before(self, failed: ToolUse, end: int) -> bool:
        """Whether the very command line that succeeded had met the same error: then it is no correction."""
        success, sign = self._call(end), signature(failed.output, failed.command)
        tries = (self._call(place) for place in self.failures if place < end)
        return any(
            commands.bare(tried.command) == commands.bare(success.command)
            and not _runs_elsewhere(tried, success)
            and signature(tried.output, tried.command) == sign
            for tried in tries
        )


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


# -- which command is which --


def _is_good(call: ToolUse) -> bool:
    """Whether a call went well. Where its exit code is lost in a pipe, its output must not complain."""
    return call.is_done and not call.failed and not hides_failure(call.command, call.output)


def _fit(tried: CommandPart, other: ToolUse) -> float:
    """Return how surely a call tries what failed, 0 to 1."""
    told = commands.acting(other.command)
    return max((commands.same_job(tried, part) for part in told), default=0.0)


def _failing_part(failed: ToolUse) -> CommandPart | None:
    """Return the part of a command line that most likely failed: the last whose exit code counts."""
    told = commands.acting(failed.command)
    plain = [part for part in told if not part.is_masked] or list(told)
    return plain[-1] if plain else None


def _stands_for(failed: ToolUse, tried: CommandPart, call: ToolUse) -> bool:
    """Whether another program did what the failed one was to do: the one that it would have run, or one of another
    name where it is missing."""
    if call.failed or _complains(call.output):
        return False
    other = commands.acting(call.command)[-1]
    if other.job == tried.job:
        return False
    if _runs_within(failed.command, call.command):
        return True
    shares = bool(tried.operands & other.operands) or bool(
        tried.words == other.words and any(word[:1].isalnum() for word in tried.words)
    )
    named = other.program in names_in(tried.job)[1:]
    missing = any(words in failed.output for words in _MISSING) and tried.program in failed.output
    return shares and (named or missing)


def _runs_within(failed: str, command: str) -> bool:
    """Whether a command line has another program run the one that failed, as it stood: in a container, in a shell."""
    words = dropwhile(_is_setting, commands.bare(failed).split(" "))
    line = " ".join(words)
    return commands.bare(command).endswith(f" {line}") and " " in line


def _is_setting(word: str) -> bool:
    name, is_set, _ = word.partition("=")
    return bool(is_set) and name.isidentifier()


def _repeats(failed: ToolUse, call: ToolUse) -> bool:
    """Whether a call whose exit code is lost complains of the same as the one that failed."""
    masked = any(part.is_masked for part in commands.acting(call.command))
    return masked and line_of(tidy(failed.output)) in call.output


def _is_elsewhere(failed: ToolUse, call: ToolUse) -> bool:
    """Whether a call does something else than the one that failed: in another folder, where it was not
    the folder that was wrong, or with other files in a part of its line."""
    folders = [commands.folder(tool_use.command) for tool_use in (failed, call)]
    is_moved = all(folders) and folders[0] != folders[1]
    # Of some errors a wrong folder may be the cause.
    if is_moved and "misplaced" not in _TABLE.found(failed.output):
        return True
    told = commands.acting(call.command)
    fits = (
        [commands.same_job(part, other) for other in told if other.job == part.job]
        for part in commands.acting(failed.command)
    )
    return any(found and max(found) < LIKELY for found in fits)


def _goes_past(tried: CommandPart, call: ToolUse) -> bool:
    """Whether a call only leaves out the check that failed."""
    told = (set(part.words) for part in commands.acting(call.command))
    return any(words & _PAST_CHECKS - set(tried.words) for words in told)


def _runs_elsewhere(failed: ToolUse, success: ToolUse) -> bool:
    return commands.settings(failed.command) != commands.settings(success.command)


def _jobs(call: ToolUse) -> set[str]:
    return {part.job for part in commands.acting(call.command)}


def _added(failed: ToolUse, following: ToolUse) -> set[str]:
    """Return the jobs that the next attempt has besides: where what succeeded goes without them, they were in vain."""
    return _jobs(following) - _jobs(failed)


def _is_corrected(failed: ToolUse, success: ToolUse, is_mended: bool) -> bool:
    """Whether the command itself was changed. Where something else was mended besides, what was only
    asked for in other ways (less or more output, another message) is not."""
    if commands.bare(failed.command) == commands.bare(success.command):
        return _runs_elsewhere(failed, success) and not is_mended
    if not is_mended:
        return True
    tried = _failing_part(failed)
    told = [part for part in commands.acting(success.command) if tried and part.job == tried.job]
    if not tried or not told:
        return True
    before = commands.acting(success.command)[:-1]
    if any(part.job not in _jobs(failed) | _KEEPING and _does(part) for part in before):
        return True
    fresh = (set(told[-1].words) - set(tried.words)) - _MANNERS
    return any(word.startswith("--") and not word.startswith("--tb") for word in fresh)


# -- what was done --


def _instead(failed: ToolUse, success: ToolUse, is_mended: bool) -> tuple[FixStep, ...]:
    """Return the command that succeeded, where it was corrected; a program that stands in the command
    line itself says nothing to anybody else."""
    told = commands.acting(success.command)
    if not _is_corrected(failed, success, is_mended) or (told and told[-1].is_inline):
        return ()
    line = short(success.command, _runs_elsewhere(failed, success), INSTEAD_CHARS)
    return (FixStep(f"ran `{line}` {INSTEAD}", success.command),)


def _stayed(calls: Sequence[ToolUse], later: Sequence[ToolUse] = ()) -> list[ToolUse]:
    """Return the calls that went well, without edits that were taken back, be it by a later one. What is committed
    is not taken back by `git checkout FILE`."""
    kept: dict[int, ToolUse] = {}
    committed: set[int] = set()
    for number, call in enumerate((*calls, *later)):
        if call.failed or not call.is_done:
            continue
        kept[number] = call
        for part in commands.acting(call.command):
            if part.job == "git commit":
                committed |= {at for at, one in kept.items() if _reaches(part, one.file)}
            elif part.job in _UNDOING:
                kept = {
                    at: one
                    for at, one in kept.items()
                    if at in committed or not (at == number or _reaches(part, one.file))
                }
    return [one for number, one in kept.items() if number < len(calls)]


def _reaches(part: CommandPart, file: str) -> bool:
    """Whether a job of git commits or takes back a file: it names it, its path's end, or a folder around it."""
    path = f"/{file}/".replace("\\", "/").replace("/./", "/")
    names = _paths(part, path.split("/")[-2])
    ends = (f"/{name}/".replace("\\", "/").replace("/./", "/") for name in names)
    return bool(file) and any(
        end.replace("//", "/") in path or (end[:2] == "//" and end.endswith(path)) for end in ends
    )


def _paths(part: CommandPart, last: str) -> tuple[str, ...]:
    """Return the paths that a job of git commits or takes back, "." for all. What `git checkout` is given first is as
    often a branch: it is a path where it looks like one, or is what the file that is asked for is called."""
    words, named = part.words, part.named
    if "--" in words:
        named = words[words.index("--") + 1 :]
    if part.job == "git commit":
        return named or (".",)
    if part.job == "git reset":
        return (".",) * ("--hard" in words)
    if not _NOT_UNDOING.isdisjoint(words) and _UNDOING_TOO.isdisjoint(words):
        return ()
    if "--" in words or part.job == "git restore" or not named:
        return named
    is_path = named[0] == last or not {"/", "\\", "."}.isdisjoint(named[0])
    return named if is_path else named[1:]


def _switches_off(call: ToolUse) -> bool:
    """Whether an edit has a check left out or its failure counted as none, so that nothing was mended. What only
    writes about it does not, nor does a file that is new."""
    file = call.file.lower()
    if file.endswith(_PROSE):
        return False
    is_checking = any(name in file for name in _SWITCHES["names"])
    is_shell = is_checking or not file.endswith(_EXPRESSIONS)
    marks = _SWITCHES["anywhere"] + _SWITCHES["shell"] * is_shell + _SWITCHES["tests"] * is_checking
    return any(
        old and _times(mark, new.lower()) > _times(mark, old.lower())
        for old, new in call.edits
        for mark in marks
        if mark in new.lower()
    )


def _times(mark: str, text: str) -> int:
    """Return how often a mark stands in a text by itself: no `xit(` is in `exit(`."""
    before, *rest = text.split(mark)
    sides = zip([before, *rest], rest, strict=False)
    return sum(
        not (mark[0].isalnum() and left[-1:].isalnum())
        and not (mark[-1].isalnum() and right[:1].isalnum())
        for left, right in sides
    )


def _steps(calls: Sequence[ToolUse], clean: Callable[[str], str]) -> list[FixStep]:
    """Return what changed something: the files that were edited, and commands that went well and do more
    than look. What only keeps what was done counts where nothing else was."""
    edits: dict[str, list[str]] = {}
    ran: list[str] = []
    for call in calls:
        if call.file:
            edits.setdefault(call.file, []).extend(_detail(call.change, clean))
        elif _is_good(call) and _may_change(call.command):
            ran.append(call.command)
    size = INSTEAD_CHARS if len(ran) < 3 else COMMAND_CHARS
    steps = [FixStep(f"ran `{short(command, size=size)}`", command) for command in ran]
    edited = [FixStep(f"edited {file}" + (f" ({'; '.join(told[-2:])})" if told else ""))
              for file, told in edits.items()]  # fmt: skip
    changed = [step for step in steps if not _only_keeps(step.command)]
    return [*edited, *changed] or steps


def _only_keeps(command: str) -> bool:
    return {part.job for part in commands.acting(command)} <= _KEEPING


def _detail(change: str, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield what an edit changed; where that is long, how what it put there begins."""
    if len(change) > CHANGE_CHARS:
        change = tools.clip(clean(change.partition(" → ")[2]), CHANGE_CHARS)
    if change and "<<<<<<<" not in change:
        yield change


def _may_change(command: str) -> bool:
    """Whether a command line may have mended something: it does more than to look and to check, and is no program
    of the moment. What it does besides, nobody knows of all programs."""
    told = commands.acting(command)
    return commands.writes(command) or any(map(_does, told))


def _does(part: CommandPart) -> bool:
    """Whether it may change something: not where its job by its name only tells something (`helm history`)."""
    tells = part.job.rpartition(" ")[2] in _READING
    return not (tells or part.is_inline or _is_check(part))


def _is_check(part: CommandPart) -> bool:
    told = {*names_in(part.job.split()[0]), *_task(part)}
    is_one = not _CHECKS.isdisjoint(told) or any(word.endswith(_CHECK_ENDS) for word in told)
    return is_one and not _makes(part)


def _makes(part: CommandPart) -> bool:
    """Whether a job is by its name to bring something about: `go install`, `migrate-test`, `db:test:prepare`."""
    return not _MAKING.isdisjoint(_task(part))


def _task(part: CommandPart) -> set[str]:
    """Return the first and the last word of a task's name, which say what it does; what stands between says to what."""
    _, *words = part.job.split()
    named = names_in(words[-1]) if words else []
    return {*named[:1], *named[-1:]}


def _topic(failed: ToolUse, steps: Sequence[FixStep]) -> frozenset[str]:
    """Return the names that stand in an error, in the command that met it and in what was done."""
    said = (error_line(failed.output), failed.command, *(step.line for step in steps))
    return _long_words("\n".join(said))


def _long_words(text: str) -> frozenset[str]:
    return frozenset(word for word in names_in(text.lower().replace("_", " ")) if len(word) > 3)


def _because(before: Sequence[str], after: Sequence[str], topic: frozenset[str]) -> str:
    """Return the sentence that says why it failed or what mended it, "" for none. What is said after the
    success is mostly of what comes next: there it must give a cause and name what this is about."""
    best, found = 0, ""
    for texts, is_before in ((before, True), (after, False)):
        for one in (said for text in texts for said in statements(text[:6_000])):
            if one.form in (CODE, HEADING) or not 20 <= len(one.text) <= 400 or one.text[-1] == ":":
                continue
            shared, signs = len(topic & _long_words(one.text)), _TABLE.found(one.text)
            worth = 2 if "cause" in signs else int("hint" in signs or shared > 2)
            if worth > best and (is_before or (worth > 1 and shared > 1)):
                best, found = worth, one.text
    return tools.clip(found, BECAUSE_CHARS)
