"""`workflow_author`: steps read from a description, or from what a session did, as a procedure, a command or a
skill. By rules; nothing but a procedure is ever stored, and that one on request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.index.fixes import commands
from vector_memory.model import PROCEDURE as PROCEDURE_KIND
from vector_memory.observe.learning import things
from vector_memory.observe.learning.outcomes import is_check
from vector_memory.observe.learning.tasks import EDIT, READ
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.edit import remember
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import share
from vector_memory.service.think.skill_files import FORMATS, PROCEDURE, skill_file

MOST_STEPS = 20
_WHOLE = ("git add", "git commit", "git push")
"""Jobs that are steps whatever is given to them; of others without a command line nobody could do the same."""
SAID = {EDIT: "Change the files.", READ: "Read what is concerned."}
_BEFORE = re.compile(r"^before\s+(?:you\s+)?(?P<second>[^,]+),\s*(?P<first>.+)$", re.IGNORECASE)
_AFTER = re.compile(r"^after\s+(?:you\s+)?(?P<first>[^,]+),\s*(?P<second>.+)$", re.IGNORECASE)
_CODE, _HIDDEN = re.compile(r"`[^`\n]+`"), re.compile(r"\x00(\d+)\x00")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\x00])|\n+")
_JOINT = re.compile(
    r"[,;]?\s+(?:and\s+)?(?:then|afterwards|after\s+that|next|finally|lastly|followed\s+by)\b,?\s*"
    r"|\s*;\s*|\s*(?:->|→)\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:[-*•]\s+|\d+[.)]\s*|(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|finally|lastly|after\s+that"
    r"|afterwards|and|please|to\s+(?:begin|start)\s+with)\b[,:]?\s*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class WorkflowRequest(messages.Request):
    """Steps are to be written down.

    Attributes:
        text: a description in words, "" to take what `session` did last that was done.
        name: what the steps are called.
        format: one of `FORMATS`.
    """

    text: str = messages.maybe_text(8_000)
    session: str = messages.word()
    name: str = messages.maybe_text(100)
    format: str = messages.word(default=PROCEDURE)
    dry_run: bool = messages.flag(default=True)


@dataclass(frozen=True)
class StepView:
    """A step, the command by which it was done here ("" for none known), and how often that went well."""

    text: str
    command: str
    went_well: str


@dataclass(frozen=True)
class WorkflowAnswer:
    """Steps in order.

    Attributes:
        path: where a command or a skill would be saved; nothing is written there.
        text: the whole of it.
        id: of the procedure that was stored, or waits for the user.
    """

    name: str
    steps: list[StepView]
    path: str
    text: str
    told: str
    dry_run: bool
    id: str | None = messages.spare()


def author(ctx: Context, request: WorkflowRequest) -> WorkflowAnswer:
    """Return the steps of a description or of a session.

    Raises:
        BadInputError: there is nothing to read them from, or no such format.
        NotFoundError: the session did nothing that is known to be done.
    """
    if request.format not in FORMATS:
        raise BadInputError(
            f"There is no format {request.format!r}.", f"Formats: {', '.join(FORMATS)}."
        )
    is_file = request.format != PROCEDURE
    if is_file and not request.dry_run:
        raise BadInputError(
            "A file is shown and not written: it would bind every later session.",
            "Save what is shown under its path, if you want it.",
        )
    text = str(redact.clean(request.text).text)
    if text:
        said, evidence = steps_of(text), ""
    else:
        said, evidence = _of_session(ctx, request)
    if not said:
        raise BadInputError(
            "There is no step in that.", 'Such as "First run the linter, then commit".'
        )
    name = str(redact.clean(request.name).text) or " ".join(said[0].split()[:6])
    known = [] if request.is_global else _known(ctx, request)
    steps = [_view(step, known) for step in said[:MOST_STEPS]]
    lines = [one.text + (f" (here: `{one.command}`)" if one.command else "") for one in steps]
    whole = "\n".join([name, *(f"{number}. {line}" for number, line in enumerate(lines, 1))])
    path, id = "", None
    told = f"{len(steps)} steps; nothing was stored."
    if is_file:
        made = skill_file(name, f"{name}: {len(steps)} steps.", lines, request.format, evidence)
        path, whole = made.path, made.text
    elif not request.dry_run:
        stored = _store(ctx, request, name, whole)
        id = stored.id
        waits = (
            "waits for the user: `vector-memory review`"
            if stored.action == "proposed"
            else stored.action
        )
        told = f"{len(steps)} steps; the procedure {waits}."
    return WorkflowAnswer(name, steps, path, whole, told, request.dry_run, id)


def steps_of(text: str) -> list[str]:
    """Return the steps of a description in the order in which they are to be done."""
    found: list[str] = []
    code: list[str] = []

    def hidden(quoted: re.Match[str]) -> str:
        code.append(quoted[0])
        return f"\x00{len(code) - 1}\x00"

    # What stands in code is one word, whatever is in it.
    for sentence in _SENTENCE.split(_CODE.sub(hidden, text.strip())):
        whole = _OPENING.sub("", sentence.strip())
        if turned := _BEFORE.match(whole) or _AFTER.match(whole):
            parts = [turned["first"], turned["second"]]
        else:
            parts = [whole]
        for part in parts:
            found += _JOINT.split(part)
    tidy = (_OPENING.sub("", one.strip(" .,;")).strip(" .,;") for one in found)
    steps = [one[0].upper() + one[1:] for one in tidy if one]
    return [_HIDDEN.sub(lambda mark: code[int(mark[1])], one) for one in steps]


def _of_session(ctx: Context, request: WorkflowRequest) -> tuple[list[str], str]:
    """Return the steps of the last task of a session that was done, and what they stand on."""
    if not request.session:
        raise BadInputError("There is nothing to read steps from.", "Give `text` or `session`.")
    known = ledger.tasks_of(messages.asker_of(ctx, request))
    mine = [one for one in known if one.session == request.session and one.done]
    if not mine:
        raise NotFoundError(
            f"No task of session {request.session!r} is known to be done.",
            "Describe the steps with `text` instead.",
        )
    last = mine[-1]
    kept = [
        one
        for one in last.stages
        if one in SAID or last.commands.get(one) or is_check(one) or one in _WHOLE
    ]
    steps = [SAID.get(one) or f"Run `{last.commands.get(one) or one}`." for one in kept]
    sure = "a check or the user said so" if last.sure else "nothing spoke against it"
    return steps, f"Taken from one task ({last.kind}, {last.at[:10]}), which was done: {sure}."


def _known(ctx: Context, request: WorkflowRequest) -> Sequence[things.Thing]:
    """Return the commands that were seen in the project, those that went well most often first."""
    seen = things.of(ledger.sightings_of(messages.asker_of(ctx, request)))
    found = [one for one in seen if one.kind == things.COMMAND and one.good]
    return sorted(found, key=lambda one: -one.good)


def _view(step: str, known: Sequence[things.Thing]) -> StepView:
    words = set(re.findall(r"[\w.-]+", step.lower()))
    if "`" not in step:
        for one in known:
            programs = {part.program.lower() for part in commands.parts(one.name)}
            if programs & words:
                return StepView(step, one.name, share(one.good, one.seen).told)
    return StepView(step, "", "")


def _store(ctx: Context, request: WorkflowRequest, name: str, text: str) -> remember.RememberAnswer:
    return remember.remember(
        ctx,
        remember.RememberRequest(
            text=text,
            title=name,
            kind=PROCEDURE_KIND,
            collection="procedures",
            actor=request.actor,
            said=request.said,
            project=request.project,
            cwd=request.cwd,
            is_global=request.is_global,
            session=request.session,
        ),
    )
