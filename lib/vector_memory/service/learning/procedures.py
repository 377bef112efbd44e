"""Procedures that come when their condition holds: a prompt's words, a file or a command that is about to be
touched or run, an error. The conditions are set when a memory is stored or edited, as `file:*.sql`,
`command:git push`, `error:no such table` or `term:release notes`; one that holds is enough.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from vector_memory import projects, redact
from vector_memory.errors import BadInputError, UnsafeTextError
from vector_memory.model import MOST_TRIGGERS, PROCEDURE, TRIGGERS, Memory
from vector_memory.retrieve import render
from vector_memory.service.base import context_block
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.shown_notes import PROCEDURES, Showing
from vector_memory.service.learning import conditions
from vector_memory.service.learning.conditions import COMMAND, CONDITIONS, ERROR, FILE, TERM
from vector_memory.text import analysis, fence

if TYPE_CHECKING:
    from vector_memory.text import shell

MOST_CHARS = 200
MOST_TOKENS = 200
"""What one procedure may take, the fence included."""
MOST_READ, MOST_PATTERNS = 40_000, 8
"""Characters of what is going on that are looked at, and patterns that a condition may stand for: each call of a tool is
held against all of them."""
TITLE = "How this is done here:"
_PATHS = ("file_path", "notebook_path")


def read(triggers: Iterable[str]) -> list[str]:
    """Return conditions as they are kept, without secrets.

    Raises:
        BadInputError: one has no such form, or there are too many.
        UnsafeTextError: the redactor could not handle one.
    """
    cleaned = []
    for trigger in triggers:
        kind, _, value = trigger.partition(":")
        if kind not in CONDITIONS or not value.strip() or len(value) > MOST_CHARS:
            forms = ", ".join(f"{name}:…" for name in CONDITIONS)
            raise BadInputError(
                f"{trigger[:MOST_CHARS]!r} is no condition.", f"Conditions: {forms}."
            )
        if kind == COMMAND and not _wanted_commands(value):
            raise BadInputError(
                f"{trigger!r} names no program.",
                "Name one as it is typed, such as `command:git push`.",
            )
        if kind == FILE and len(_globs_of(value)) > MOST_PATTERNS:
            raise BadInputError(
                f"{trigger!r} stands for more than {MOST_PATTERNS} patterns.",
                "Each `**/` doubles them, and braces multiply: give several conditions.",
            )
        if kind == TERM and not any(_wanted_words(value)):
            raise BadInputError(
                f"{trigger!r} has no word that tells one prompt from another.",
                "Words such as `the` do not count.",
            )
        cleaned.append(f"{kind}:{redact.clean(' '.join(value.split())).text}")
    if len(cleaned) > MOST_TRIGGERS:
        raise BadInputError("These are too many conditions.", f"At most {MOST_TRIGGERS}.")
    return list(dict.fromkeys(cleaned))


def with_triggers(memory: Memory, triggers: Iterable[str]) -> Memory:
    """Return a memory with other conditions than it had; a plain note with some is a procedure.

    Raises:
        BadInputError: one has no such form, or there are too many.
    """
    cleaned = read(triggers)
    extra = {**memory.extra, TRIGGERS: cleaned}
    kind = PROCEDURE if cleaned and memory.kind == "note" else memory.kind
    return replace(memory, kind=kind, extra=extra)


@dataclass(frozen=True)
class TriggerMoment:
    """What is going on, as far as conditions look at it.

    Attributes:
        prompt: what the user says, with the words and the files that stand in it.
        touched: paths that are about to be touched, as somebody wrote them.
        command: a command line that is about to be run, or has failed with `error`.
        tops: folders from which paths may be meant.
    """

    prompt: str = ""
    touched: tuple[str, ...] = ()
    command: str = ""
    error: str = ""
    tops: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> frozenset[str]:
        """Those of the prompt, as `text.analysis` makes them."""
        return frozenset(analysis.analyse(self.prompt))

    @cached_property
    def file_names(self) -> frozenset[str]:
        """The paths that are touched or named, each by its name, from the folders above it, and as a whole."""
        from vector_memory.text import mentions

        paths = (*self.touched, *mentions.files(self.prompt))
        return frozenset(name for path in paths for name in _names_of(path, self.tops))

    @cached_property
    def commands(self) -> list[shell.Command]:
        """Those that the command line is made of."""
        from vector_memory.text import shell

        return list(shell.parse(self.command)) if self.command else []

    def meets(self, trigger: str) -> bool:
        """Whether a condition holds."""
        kind, _, value = trigger.partition(":")
        if kind == FILE:
            return any(map(_pattern_of(value).match, self.file_names))
        if kind == COMMAND:
            return bool(self.commands) and _commands_fit(self.commands, value)
        if kind == ERROR:
            return value.casefold() in " ".join(self.error.casefold().split())
        terms, pieces = _wanted_words(value)
        prompt = self.prompt.casefold() if pieces else ""
        is_said = terms <= self.terms and all(piece in prompt for piece in pieces)
        return is_said and bool(terms or pieces)


@lru_cache(maxsize=1_024)
def _wanted_words(value: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the terms that a condition wants, and what has to stand in a prompt as it is: in scripts without spaces
    nobody knows where a word ends."""
    words = value.casefold().split()
    pieces = tuple(word for word in words if analysis.is_unspaced(word))
    spaced = " ".join(word for word in value.split() if not analysis.is_unspaced(word))
    return frozenset(analysis.analyse(spaced)), pieces


@lru_cache(maxsize=4_096)
def _pattern_of(glob: str) -> re.Pattern[str]:
    """Return the expression for the names that a condition means, as `fnmatch` reads them: as it is written, too, since a
    file may be called so."""
    return re.compile("|".join(map(translate, (glob, *_globs_of(glob)[:MOST_PATTERNS]))))


def _globs_of(glob: str) -> list[str]:
    """Return what a condition stands for: the alternatives of its braces, any number of folders for `**/`, none as well,
    and all that a folder holds for `db/`."""
    from vector_memory.observe.commands.command_line import expand_braces

    glob = os.path.expanduser(glob.removeprefix("./")).replace("**/", "{,*/}")
    return expand_braces(f"{glob}*" if glob.endswith("/") else glob)


def _names_of(path: str, tops: Sequence[str]) -> Iterator[str]:
    """Yield a path as conditions may mean it. Its folders may be links, while projects are known by their real
    ones."""
    path = os.path.normpath(os.path.expanduser(path))
    folder, name = os.path.split(path)
    yield from (name, path)
    if not os.path.isabs(path):
        return
    try:
        real = os.path.realpath(folder)
    except ValueError:  # No path that a system can have.
        real = folder
    for written in (path, os.path.join(real, name)):
        for top in tops:
            inside = written.removeprefix(top.rstrip("/") + "/")
            if inside != written:
                yield inside


def _tops_of(place: projects.Place) -> tuple[str, ...]:
    """Return the folders from which paths in a project may be meant: its own, and in a worktree that one's. What lies
    beside a marked part of a repository is none of the project's."""
    is_part = place.store and place.root.startswith(place.tree.rstrip("/") + "/")
    return (place.root,) if is_part else place.folders


def _commands_fit(commands: Sequence[shell.Command], value: str) -> bool:
    """Whether all commands that a condition names are among those of a line."""
    wanted = _wanted_commands(value)
    return bool(wanted) and all(
        any(_command_fits(command, one) for command in commands) for one in wanted
    )


@lru_cache(maxsize=1_024)
def _wanted_commands(value: str) -> tuple[shell.Command, ...]:
    """Return the commands that a condition names, read as lines are: without quotes, and what `sudo` runs."""
    from vector_memory.text import shell

    return tuple(shell.parse(value))


def _command_fits(command: shell.Command, wanted: shell.Command) -> bool:
    """Whether a command is the program wanted, in whatever folder, with these arguments among its own, in their
    order."""
    if command.name != wanted.name:
        return False
    arguments = iter(word.text for word in command.arguments)
    return all(argument.text in arguments for argument in wanted.arguments)


def for_prompt(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the procedure whose condition a prompt meets, by its words or the files that it names."""
    return _matching_note(
        ctx, question, TriggerMoment(question.prompt[:MOST_READ], tops=_tops_of(question.place))
    )


def for_failure(ctx: Context, question: HookQuestion, error: str, command: str) -> str:
    """Return the fenced procedure for a command's error, "" for none."""
    if not ctx.settings.recall_on_failure:
        return ""
    moment = TriggerMoment(command=command[:MOST_READ], error=error[:MOST_READ])
    return _fenced(ctx, question, moment)


def for_call(ctx: Context, question: HookQuestion, arguments: dict[str, object]) -> str:
    """Return the fenced procedure for a file or a command that a tool is about to touch or run, "" for none.

    Args:
        arguments: what the tool is given.
    """
    paths = tuple(str(arguments[name]) for name in _PATHS if arguments.get(name))
    command = str(arguments.get("command") or "")[:MOST_READ]
    moment = TriggerMoment(touched=paths, command=command, tops=_tops_of(question.place))
    return _fenced(ctx, question, moment)


def _fenced(ctx: Context, question: HookQuestion, moment: TriggerMoment) -> str:
    notes = _matching_note(ctx, question, moment)
    return context_block.show(ctx, question.session, notes, TITLE, showing=Showing(PROCEDURES))


def _matching_note(ctx: Context, question: HookQuestion, moment: TriggerMoment) -> list[fence.Note]:
    """Return the note of the procedure of which most conditions hold, once a session."""
    fitting: list[tuple[int, Memory]] = []
    for shelf in question.shelves:
        counts = {
            id: count
            for id, triggers in conditions.conditions_in(ctx, shelf).conditions.items()
            if (count := sum(moment.meets(trigger) for trigger in triggers))
        }
        memories = shelf.journal.by_ids(list(counts)).values() if counts else ()
        fitting += [
            (counts[memory.id], memory)
            for memory in memories
            if conditions.waits_for_condition(memory)
        ]
    shown = ctx.state.shown_ids(question.session) if fitting else ()
    unseen = [
        (count, memory)
        for count, memory in fitting
        if question.scope.holds(memory) and memory.id not in shown
    ]
    _, memory = max(unseen, key=lambda pair: pair[0], default=(0, None))
    if memory is None:
        return []
    return [render.note(memory, question.names[memory.project], MOST_TOKENS - render.FENCE_TOKENS)]


def comes_by_itself(ctx: Context, memory: Memory) -> bool:
    """Whether a memory waits for a condition that can hold here: who set it may have switched off what looks for it, and
    some that were accepted once never hold."""
    return conditions.waits_for_condition(memory) and any(
        _can_hold(ctx, str(trigger)) for trigger in memory.extra[TRIGGERS]
    )


def _can_hold(ctx: Context, trigger: str) -> bool:
    if trigger.startswith(ERROR) and not ctx.settings.recall_on_failure:
        return False
    try:
        return bool(read([trigger]))
    except (BadInputError, UnsafeTextError):
        return False
