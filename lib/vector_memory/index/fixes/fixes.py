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
    has_words,
    line_of,
    says_only_failure,
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
REASON_CHARS = 200
SURE, LIKELY = 0.9, 0.55
NEAR = 4
"""Commands within which another program may stand for the one that failed."""

_TABLE = PatternTable("fix_phrases", os.path.dirname(__file__))
_SPEECH = re.compile(r"(?!\S{1,40}:\s)[^\n]*\b(?:I|we|you|let's|please)\b[^\n]*", re.IGNORECASE)
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
_UNDOING_JOBS = frozenset({"git checkout", "git restore", "git reset", "git stash", "git revert"})
_NOT_UNDOING = frozenset({"--staged", "-S", "-b", "-B"})
"""Options with which these leave the files as they are, unless another one says otherwise."""
_UNDOING_TOO = frozenset({"--worktree", "-W"})
MOST_ANSWER = 4_000
_INCLUDING = frozenset({"-i", "--include"})
_KEEPING_JOBS = frozenset({"git add", "git commit", "git push"})
"""Jobs that keep what was done: they mend nothing where anything else was done."""
_REPORTING_OPTIONS = frozenset(
    {"--verbose", "--quiet", "--silent", "--color", "--no-color", "--exitfirst"}
)
"""Options that change how a command reports, not what it does."""
_WORDS_OF = tables.sets("command_words")
_CHECK_ENDS = ("check", "lint")
_CHECKS, _MAKING, _READING = (_WORDS_OF[name] for name in ("checks", "making", "reading"))
_SWITCHES = tables.sections("switched_off_checks")
_EXPRESSIONS = tuple(" ".join(_SWITCHES["expressions"]).split())
_PROSE_ENDINGS = (".md", ".rst", ".adoc", ".txt")


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
    reason: str

    @property
    def changes(self) -> tuple[str, ...]:
        """What was done, a short line each."""
        return tuple(step.line for step in self.steps)

    @property
    def families(self) -> tuple[str, ...]:
        """The job of the command that failed, such as `cargo test`, and of the one that succeeded."""
        command_lines = (self.failed.command, self.success.command)
        return unique(commands.job_of(command) for command in command_lines)


def episodes(exchange: Exchange, clean: Callable[[str], str] = str) -> list[Episode]:
    """Return what failed and was mended in an exchange, or failed in one of those before and was
    mended in this one, in the order of the failures. What is cut is cleaned before."""
    story = _Story((*exchange.before, exchange), clean)
    candidates = (story.episode(place, exchange) for place in story.failures)
    return [episode for episode in candidates if episode]


def is_failure(call: ToolUse) -> bool:
    """Whether a call is a command that failed in a way worth knowing."""
    if not (call.command and (call.failed or _fails_unseen(call))):
        return False
    if "not_ours" in _TABLE.found(call.output[:2_000]) or not commands.job_of(call.command):
        return False
    is_users = tools.is_rejection(call.output) or _SPEECH.fullmatch(call.output.strip())
    return not is_users and has_words(call.output)


def _fails_unseen(call: ToolUse) -> bool:
    """Whether a command failed though it ended well, and its output says what was wrong."""
    is_hidden = hides_failure(call.command, call.output)
    return is_hidden and not says_only_failure(error_line(call.output))


def hides_failure(command: str, output: str) -> bool:
    """Whether a command line ended well only because the exit code of what failed in it is lost: in a pipe,
    before `;` or `||`."""
    is_masked = any(part.is_masked for part in commands.acting_parts(command))
    return is_masked and _complains(output)


def _complains(output: str) -> bool:
    return bool(_STILL_FAILING.search(output) or failure(tidy(output)))


def succeeded(call: ToolUse, families: Iterable[str]) -> bool:
    """Whether a call ran one of these jobs, such as `cargo test`, and did it well."""
    jobs = {part.job for part in commands.acting_parts(call.command)}
    return not jobs.isdisjoint(families) and _is_good(call)


def short_command(command: str, whole: bool = False, size: int = COMMAND_CHARS) -> str:
    """Return a command line in a few words; with `whole`, with the folder that it changes to."""
    return tools.clip(command if whole else commands.bare_line(command), size)


class _Event(NamedTuple):
    """A call, or words of the assistant, with the exchange that it belongs to."""

    exchange: Exchange
    call: ToolUse | None
    speech: str


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
            parts = commands.acting_parts(event.call.command) if event.call else ()
            self.commands += [place] if parts else []
            for job in {part.job for part in parts}:
                self.by_job.setdefault(job, []).append(place)

    def episode(self, place: int, exchange: Exchange) -> Episode | None:
        """Return what mended the failure at a place, None unless that was in this exchange."""
        owner, failed_call = self.events[place].exchange, self._call_at(place)
        end = self._success_place(place)
        if end is None or self.events[end].exchange is not exchange:
            return None
        retry = self._next_try(place, end)
        steps, files = self._changes(place, retry, end)
        if not steps:
            return None
        earlier = (failed_place for failed_place in self.failures if failed_place < place)
        return Episode(
            exchange=owner,
            number=sum(self.events[failed_place].exchange is owner for failed_place in earlier),
            failed=failed_call,
            success=self._call_at(end),
            error=error_line(failed_call.output),
            steps=steps,
            files=files,
            reason=_reason(
                self._words_between(place, retry),
                self._words_between(end, end + 3),
                _topic(failed_call, steps),
            ),
        )

    def _call_at(self, place: int) -> ToolUse:
        call = self.events[place].call
        assert call is not None
        return call

    def _calls_between(self, start: int, end: int) -> list[ToolUse]:
        return [event.call for event in self.events[start + 1 : end] if event.call]

    def _words_between(self, start: int, end: int) -> list[str]:
        return [event.speech for event in self.events[start + 1 : end] if event.speech]

    def _success_place(self, place: int) -> int | None:
        """Return where the command that failed first succeeded, or the one that stands for it."""
        failed_call = self._call_at(place)
        failed_part, likely = _failing_part(failed_call), None
        if failed_part is None:
            return None
        start = bisect_right(self.commands, place)
        near, same_job = self.commands[start : start + NEAR], self.by_job.get(failed_part.job, [])
        for later in sorted({*near, *same_job[bisect_right(same_job, place) :]}):
            call = self._call_at(later)
            if (
                _skips_check(failed_part, call)
                or _is_elsewhere(failed_call, call)
                or _repeats_error(failed_call, call)
            ):
                continue
            fit = _job_fit(failed_part, call) if _is_good(call) else 0.0
            if fit >= SURE or _stands_for(failed_call, failed_part, call):
                return later
            # A check that is run on less has passed nothing.
            if likely is None and fit >= LIKELY and later in near and not _is_check(failed_part):
                likely = later
        return likely

    def _next_try(self, place: int, end: int) -> int:
        """Return where the command was tried next, at the latest where it succeeded."""
        failed_part = _failing_part(self._call_at(place))
        for rerun in self.by_job.get(failed_part.job, []) if failed_part else []:
            if (
                failed_part
                and place < rerun < end
                and _job_fit(failed_part, self._call_at(rerun)) >= LIKELY
            ):
                return rerun
        return end

    def _changes(
        self, place: int, retry: int, end: int
    ) -> tuple[tuple[FixStep, ...], tuple[str, ...]]:
        """Return what was done until the command was run next, and to which files; where nothing was,
        what was done later, or what was changed of the command that succeeded in the end."""
        failed_call, following, success = (
            self._call_at(place),
            self._call_at(retry),
            self._call_at(end),
        )
        is_luck = self._failed_before(failed_call, end)
        later_calls = self._calls_between(retry, end)
        calls = _lasting_calls(self._calls_between(place, retry), later_calls)
        steps = _steps(calls, self.clean)
        is_other = signature(following.output, "") != signature(failed_call.output, "")
        if not steps and retry < end:
            is_kept = _added_jobs(failed_call, following) <= _jobs(success)
            if is_other and is_kept and _is_corrected(failed_call, following, is_mended=False):
                # The command was corrected; what was done later mended what it met then.
                return () if is_luck else _correction(failed_call, success, is_mended=False), ()
            calls = _lasting_calls(later_calls)
            steps = _steps(calls, self.clean)
        # What another error was met with says nothing of what had mended this one.
        if any(map(_switches_off, calls if is_other else [*calls, *_lasting_calls(later_calls)])):
            return (), ()
        steps = [*steps, *(() if is_luck else _correction(failed_call, success, bool(steps)))]
        files = unique(call.file for call in calls if call.file)
        return tuple({step.line: step for step in steps}.values()), files

    def _failed_before(self, failed_call: ToolUse, end: int) -> bool:
        """Whether the very command line that succeeded had met the same error: then it is no correction."""
        success, error_signature = (
            self._call_at(end),
            signature(failed_call.output, failed_call.command),
        )
        failed_calls = (self._call_at(place) for place in self.failures if place < end)
        return any(
            commands.bare_line(earlier.command) == commands.bare_line(success.command)
            and not _runs_elsewhere(earlier, success)
            and signature(earlier.output, earlier.command) == error_signature
            for earlier in failed_calls
        )


def _events(exchange: Exchange) -> list[_Event]:
    """Return an exchange's calls and words in their order."""
    speeches = [
        ((place, 1, 0), _Event(exchange, None, step.text))
        for place, step in enumerate(exchange.steps)
        if step.kind == SAID
    ]
    call_events = [
        ((call.place, 0, number), _Event(exchange, call, ""))
        for number, call in enumerate(exchange.calls)
    ]
    return [event for _, event in sorted([*speeches, *call_events], key=lambda placed: placed[0])]


# -- which command is which --


def _is_good(call: ToolUse) -> bool:
    """Whether a call went well. Where its exit code is lost in a pipe, its output must not complain."""
    return call.is_done and not call.failed and not hides_failure(call.command, call.output)


def _job_fit(failed_part: CommandPart, call: ToolUse) -> float:
    """Return how surely a call tries what failed, 0 to 1."""
    parts = commands.acting_parts(call.command)
    return max((commands.same_job(failed_part, part) for part in parts), default=0.0)


def _failing_part(failed_call: ToolUse) -> CommandPart | None:
    """Return the part of a command line that most likely failed: the last whose exit code counts."""
    parts = commands.acting_parts(failed_call.command)
    unmasked = [part for part in parts if not part.is_masked] or list(parts)
    return unmasked[-1] if unmasked else None


def _stands_for(failed_call: ToolUse, failed_part: CommandPart, call: ToolUse) -> bool:
    """Whether another program did what the failed one was to do: the one that it would have run, or one of another
    name where it is missing."""
    if call.failed or _complains(call.output):
        return False
    substitute = commands.acting_parts(call.command)[-1]
    if substitute.job == failed_part.job:
        return False
    if _runs_within(failed_call.command, call.command):
        return True
    shares_operands = bool(failed_part.operands & substitute.operands) or bool(
        failed_part.words == substitute.words
        and any(word[:1].isalnum() for word in failed_part.words)
    )
    is_named = substitute.program in names_in(failed_part.job)[1:]
    is_missing = (
        any(phrase in failed_call.output for phrase in _MISSING)
        and failed_part.program in failed_call.output
    )
    return shares_operands and (is_named or is_missing)


def _runs_within(failed_line: str, command: str) -> bool:
    """Whether a command line has another program run the one that failed, as it stood: in a container, in a shell."""
    words = dropwhile(_is_setting, commands.bare_line(failed_line).split(" "))
    line = " ".join(words)
    return commands.bare_line(command).endswith(f" {line}") and " " in line


def _is_setting(word: str) -> bool:
    name, is_set, _ = word.partition("=")
    return bool(is_set) and name.isidentifier()


def _repeats_error(failed_call: ToolUse, call: ToolUse) -> bool:
    """Whether a call whose exit code is lost complains of the same as the one that failed."""
    is_masked = any(part.is_masked for part in commands.acting_parts(call.command))
    return is_masked and line_of(tidy(failed_call.output)) in call.output


def _is_elsewhere(failed_call: ToolUse, call: ToolUse) -> bool:
    """Whether a call does something else than the one that failed: in another folder, where it was not
    the folder that was wrong, or with other files in a part of its line."""
    folders = [commands.folder(tool_use.command) for tool_use in (failed_call, call)]
    is_moved = all(folders) and folders[0] != folders[1]
    # Of some errors a wrong folder may be the cause.
    if is_moved and "misplaced" not in _TABLE.found(failed_call.output):
        return True
    parts = commands.acting_parts(call.command)
    fits = (
        [commands.same_job(part, other) for other in parts if other.job == part.job]
        for part in commands.acting_parts(failed_call.command)
    )
    return any(scores and max(scores) < LIKELY for scores in fits)


def _skips_check(failed_part: CommandPart, call: ToolUse) -> bool:
    """Whether a call only leaves out the check that failed."""
    word_sets = (set(part.words) for part in commands.acting_parts(call.command))
    return any(words & _PAST_CHECKS - set(failed_part.words) for words in word_sets)


def _runs_elsewhere(failed_call: ToolUse, success: ToolUse) -> bool:
    return commands.settings(failed_call.command) != commands.settings(success.command)


def _jobs(call: ToolUse) -> set[str]:
    return {part.job for part in commands.acting_parts(call.command)}


def _added_jobs(failed_call: ToolUse, following: ToolUse) -> set[str]:
    """Return the jobs that the next attempt has besides: where what succeeded goes without them, they were in vain."""
    return _jobs(following) - _jobs(failed_call)


def _is_corrected(failed_call: ToolUse, success: ToolUse, is_mended: bool) -> bool:
    """Whether the command itself was changed. Where something else was mended besides, what was only
    asked for in other ways (less or more output, another message) is not."""
    if commands.bare_line(failed_call.command) == commands.bare_line(success.command):
        return _runs_elsewhere(failed_call, success) and not is_mended
    if not is_mended:
        return True
    failed_part = _failing_part(failed_call)
    rerun_parts = [
        part
        for part in commands.acting_parts(success.command)
        if failed_part and part.job == failed_part.job
    ]
    if not failed_part or not rerun_parts:
        return True
    parts_before = commands.acting_parts(success.command)[:-1]
    if any(
        part.job not in _jobs(failed_call) | _KEEPING_JOBS and _part_may_change(part)
        for part in parts_before
    ):
        return True
    new_words = (set(rerun_parts[-1].words) - set(failed_part.words)) - _REPORTING_OPTIONS
    return any(word.startswith("--") and not word.startswith("--tb") for word in new_words)


# -- what was done --


def _correction(failed_call: ToolUse, success: ToolUse, is_mended: bool) -> tuple[FixStep, ...]:
    """Return the command that succeeded, where it was corrected; a program that stands in the command
    line itself says nothing to anybody else."""
    parts = commands.acting_parts(success.command)
    if not _is_corrected(failed_call, success, is_mended) or (parts and parts[-1].is_inline):
        return ()
    line = short_command(success.command, _runs_elsewhere(failed_call, success), INSTEAD_CHARS)
    return (FixStep(f"ran `{line}` {INSTEAD}", success.command),)


def _lasting_calls(calls: Sequence[ToolUse], later: Sequence[ToolUse] = ()) -> list[ToolUse]:
    """Return the calls that went well, without edits that were taken back, be it by a later one. What is committed
    is not taken back by `git checkout FILE`."""
    lasting: dict[int, ToolUse] = {}
    committed: set[int] = set()
    for number, call in enumerate((*calls, *later)):
        if call.failed or not call.is_done:
            continue
        lasting[number] = call
        parts = commands.acting_parts(call.command)
        # Of several it could be any one's answer.
        is_one = sum(part.job == "git checkout" for part in parts) == 1
        answer = _answer(call.output) if is_one else ""
        for part in parts:
            if part.job == "git commit":
                committed |= {
                    place for place, edit in lasting.items() if _covers_file(part, edit.file, "")
                }
            elif part.job in _UNDOING_JOBS:
                lasting = {
                    place: edit
                    for place, edit in lasting.items()
                    if place in committed
                    or not (place == number or _covers_file(part, edit.file, answer))
                }
    return [call for number, call in lasting.items() if number < len(calls)]


def _answer(output: str) -> str:
    """Return from where `git checkout` says that it took files back, "index" or "commit"; "" where it does not say so.
    That it went to a branch is no sign: beside it stands nothing of files that were taken back with `-q`."""
    lines = output[:MOST_ANSWER].splitlines()
    updates = [line for line in lines if line.startswith("Updated ") and " path" in line]
    return "" if not updates else "index" if updates[0].endswith(" the index") else "commit"


def _covers_file(part: CommandPart, file: str, answer: str) -> bool:
    """Whether a job of git commits or takes back a file: it names it, its path's end, or a folder around it."""
    path = f"/{file}/".replace("\\", "/").replace("/./", "/")
    names = _paths(part, path.split("/")[-2], answer)
    ends = (f"/{name}/".replace("\\", "/").replace("/./", "/") for name in names)
    return bool(file) and any(
        end.replace("//", "/") in path or (end[:2] == "//" and end.endswith(path)) for end in ends
    )


def _paths(part: CommandPart, file_name: str, answer: str) -> tuple[str, ...]:
    """Return the paths that a job of git commits or takes back, "." for all. What `git checkout` is given first is as
    often a branch: git's answer tells, else it is a path where it looks like one, or is what the file is called."""
    words, paths = part.words, part.named
    if "--" in words:
        paths = words[words.index("--") + 1 :]
    if part.job == "git commit":
        # With `-i` it is what was added, and these paths, too.
        return paths if paths and _INCLUDING.isdisjoint(words) else (".",)
    if part.job == "git reset":
        return (".",) * ("--hard" in words)
    if not _NOT_UNDOING.isdisjoint(words) and _UNDOING_TOO.isdisjoint(words):
        return ()
    if "--" in words or part.job == "git restore" or not paths:
        return paths
    is_path = paths[0] == file_name or not {"/", "\\", "."}.isdisjoint(paths[0])
    return paths if (is_path and answer != "commit") or answer == "index" else paths[1:]


def _switches_off(call: ToolUse) -> bool:
    """Whether an edit has a check left out or its failure counted as none, so that nothing was mended. What only
    writes about it does not, nor does a file that is new."""
    file = call.file.lower()
    if file.endswith(_PROSE_ENDINGS):
        return False
    is_checking = any(name in file for name in _SWITCHES["names"])
    is_shell = is_checking or not file.endswith(_EXPRESSIONS)
    marks = _SWITCHES["anywhere"] + _SWITCHES["shell"] * is_shell + _SWITCHES["tests"] * is_checking
    return any(
        old and _count_alone(mark, new.lower()) > _count_alone(mark, old.lower())
        for old, new in call.edits
        for mark in marks
        if mark in new.lower()
    )


def _count_alone(mark: str, text: str) -> int:
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
    command_lines: list[str] = []
    for call in calls:
        if call.file:
            edits.setdefault(call.file, []).extend(_change_details(call.change, clean))
        elif _is_good(call) and _may_change(call.command):
            command_lines.append(call.command)
    size = INSTEAD_CHARS if len(command_lines) < 3 else COMMAND_CHARS
    command_steps = [
        FixStep(f"ran `{short_command(command, size=size)}`", command) for command in command_lines
    ]
    edit_steps = [FixStep(f"edited {file}" + (f" ({'; '.join(details[-2:])})" if details else ""))
                  for file, details in edits.items()]  # fmt: skip
    changing_steps = [step for step in command_steps if not _only_keeps(step.command)]
    return [*edit_steps, *changing_steps] or command_steps


def _only_keeps(command: str) -> bool:
    return {part.job for part in commands.acting_parts(command)} <= _KEEPING_JOBS


def _change_details(change: str, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield what an edit changed; where that is long, how what it put there begins."""
    if len(change) > CHANGE_CHARS:
        change = tools.clip(clean(change.partition(" → ")[2]), CHANGE_CHARS)
    if change and "<<<<<<<" not in change:
        yield change


def _may_change(command: str) -> bool:
    """Whether a command line may have mended something: it does more than look and check, and runs no inline
    program."""
    parts = commands.acting_parts(command)
    return commands.writes(command) or any(map(_part_may_change, parts))


def _part_may_change(part: CommandPart) -> bool:
    """Whether a command may change something: not where its job's name says that it only shows something
    (`helm history`)."""
    tells = part.job.rpartition(" ")[2] in _READING
    return not (tells or part.is_inline or _is_check(part))


def _is_check(part: CommandPart) -> bool:
    words = {*names_in(part.job.split()[0]), *_task_words(part)}
    is_named = not _CHECKS.isdisjoint(words) or any(word.endswith(_CHECK_ENDS) for word in words)
    return is_named and not _makes_something(part)


def _makes_something(part: CommandPart) -> bool:
    """Whether a job is by its name to bring something about: `go install`, `migrate-test`, `db:test:prepare`."""
    return not _MAKING.isdisjoint(_task_words(part))


def _task_words(part: CommandPart) -> set[str]:
    """Return the first and the last word of a task's name, which say what it does; what stands between says to what."""
    _, *words = part.job.split()
    name_parts = names_in(words[-1]) if words else []
    return {*name_parts[:1], *name_parts[-1:]}


def _topic(failed_call: ToolUse, steps: Sequence[FixStep]) -> frozenset[str]:
    """Return the names that stand in an error, in the command that met it and in what was done."""
    lines = (error_line(failed_call.output), failed_call.command, *(step.line for step in steps))
    return _long_words("\n".join(lines))


def _long_words(text: str) -> frozenset[str]:
    return frozenset(word for word in names_in(text.lower().replace("_", " ")) if len(word) > 3)


def _reason(before: Sequence[str], after: Sequence[str], topic: frozenset[str]) -> str:
    """Return the sentence that says why it failed or what mended it, "" for none. What is said after the
    success is mostly of what comes next: there it must give a cause and name what this is about."""
    best_worth, best_text = 0, ""
    for texts, is_before in ((before, True), (after, False)):
        for statement in (statement for text in texts for statement in statements(text[:6_000])):
            if (
                statement.form in (CODE, HEADING)
                or not 20 <= len(statement.text) <= 400
                or statement.text[-1] == ":"
            ):
                continue
            shared, signs = len(topic & _long_words(statement.text)), _TABLE.found(statement.text)
            worth = 2 if "cause" in signs else int("hint" in signs or shared > 2)
            if worth > best_worth and (is_before or (worth > 1 and shared > 1)):
                best_worth, best_text = worth, statement.text
    return tools.clip(best_text, REASON_CHARS)
