"""The constitutional observer: every tool call is held against what was asked and what would be lost.

It looks before the call is made, with no model, and stops none, unless the user set `observer` to `block`. What it
finds is kept, redacted (`flags`); where the settings say so, the agent is told.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vector_memory import projects, redact
from vector_memory.errors import UnsafeTextError
from vector_memory.model import PROCEDURE, RULES, Origin, digest_of
from vector_memory.observe.commands import command_line, judge
from vector_memory.observe.commands.findings import (
    CONTRACT,
    HIGH,
    LIMIT,
    SCOPE_DRIFT,
    TARGET_DRIFT,
    CallSite,
    Finding,
)
from vector_memory.observe.intent import asked_for, changes, drift, limits, objectives
from vector_memory.observe.intent.drift import Course
from vector_memory.observe.intent.limits import Limit
from vector_memory.observe.intent.objectives import Objectives
from vector_memory.redact import levels
from vector_memory.service.base import context_block
from vector_memory.service.base.context import Context
from vector_memory.service.tools import earlier_prompts
from vector_memory.service.tools import flags as assessments
from vector_memory.service.tools.flags import Flag
from vector_memory.service.tools.tool_call import NOTHING, ToolAnswer
from vector_memory.system import files
from vector_memory.text import fence

if TYPE_CHECKING:
    from vector_memory.service.tools.tool_call import ToolCall

log = logging.getLogger(__name__)

KIND = "observer"
_logged_errors: set[type[Exception]] = set()
"""What went wrong already: it stands in the log once, since calls come every second."""
MOST_FLAGS = 200
"""Of one session: who breaks more than that is known well enough."""
MOST_MADE = 500
MOST_RULES = 40
MOST_TEXT_BYTES = 262_144
"""Of a package.json: a longer one is not looked into."""
WHAT_CHARS, WHY_CHARS, TARGET_CHARS = 160, 240, 120
MOST_WARNED = 3
HEAD = (
    "A remark of the session's observer on the call that is being made: not an instruction, and the call "
    "goes on. Weigh it; where the user asked for just this, ignore it."
)


@dataclass
class WatchedSession:
    """What is known of one session."""

    site: CallSite
    earlier: tuple[str, ...] = ()
    heard_prompts: tuple[str, ...] | None = None
    prompts: tuple[str, ...] = ()
    objectives: Objectives = field(default_factory=Objectives)
    course: Course = field(default_factory=Course)
    made_paths: dict[str, None] = field(default_factory=dict)
    flags: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def before(ctx: Context, call: ToolCall) -> ToolAnswer:
    """Look at a call that is about to be made; return the block that warns of it, or, where the user set
    `observer` to `block`, why a call that breaks a limit or a contract is not made.

    Whatever goes wrong here, the call is made.
    """
    try:
        if ctx.settings.observer == "off" or not call.session:
            return NOTHING
        watched = ctx.running.session(KIND, call.session, lambda: _begin(call))
        with watched.lock:
            findings = _look(ctx, call, watched)
            return _answer(ctx, call, watched, findings) if findings else NOTHING
    except Exception as error:
        if type(error) not in _logged_errors:
            _logged_errors.add(type(error))
            log.warning("a tool call was not watched: %s", type(error).__name__, exc_info=error)
        ctx.count("observer_failed")
        return NOTHING


def _begin(call: ToolCall) -> WatchedSession:
    """Start to watch a session; one that runs already is known by its transcript."""
    folder = os.path.realpath(call.folder)
    root = _work_folder(folder, call.place)
    alias = call.folder.rstrip("/") if folder == root and call.folder.rstrip("/") != root else ""
    home = os.path.realpath(os.path.expanduser("~"))
    site = CallSite(root, folder, home, os.path.lexists, alias=alias, text_of=_text_of)
    earlier = earlier_prompts.read(call.transcript)
    watched = WatchedSession(site, earlier.prompts)
    for path in filter(None, (site.within(site.path(file)) for file in earlier.files)):
        watched.course.note(path)
    return watched


def _text_of(path: str) -> str:
    """Return what a file of the project holds, "" if it is too long or cannot be read."""
    try:
        text = files.read_text(path, MOST_TEXT_BYTES + 1)
    except OSError:
        return ""
    return text if len(text) <= MOST_TEXT_BYTES else ""


def _work_folder(folder: str, place: projects.Place) -> str:
    """Return the folder that a session's work lies in: its project's, or its own worktree's."""
    if folder == place.root or folder.startswith(place.root.rstrip("/") + "/"):
        return place.root
    folders = (Path(folder), *Path(folder).parents)
    return next((str(top) for top in folders if os.path.lexists(top / ".git")), folder)


# -- looking ---------------------------------------------------------------------------------------


def _look(ctx: Context, call: ToolCall, watched: WatchedSession) -> list[Finding]:
    if watched.heard_prompts != call.asked:
        _take_prompts(call, watched)
    site = replace(watched.site, cwd=os.path.realpath(call.cwd), made_paths=watched.made_paths)
    command = call.input.get("command")
    is_shell = call.tool in judge.SHELL_TOOLS and isinstance(command, str)
    line = command_line.of_tool(call.tool, str(command), site) if is_shell else None
    view = changes.of_call(call.tool, call.input, site, line)
    findings = judge.of_call(call.tool, call.input, site, line)
    findings += drift.judge_call(watched.course, watched.objectives, view, site)
    findings += _contract_breaches(ctx, call, findings)
    for change in view.changes:
        if (
            change.kind in (changes.NEW, changes.FOLDER)
            and change.path not in ("", site.root)
            and not os.path.lexists(change.path)
        ):
            watched.made_paths[change.path] = None
    while len(watched.made_paths) > MOST_MADE:
        del watched.made_paths[next(iter(watched.made_paths))]
    return findings


def _contract_breaches(ctx: Context, call: ToolCall, findings: Sequence[Finding]) -> list[Finding]:
    """Return what of these findings a contract does not allow, each as a finding of its own."""
    if not findings or not ctx.state.records("contract"):
        return []
    # Most people have no contracts, and keys take a while to import.
    from vector_memory.service.base import contracts

    contracts_in_force = contracts.in_force(ctx, call.place.root, [call.session, call.agent])
    breaches = []
    for finding in findings:
        if contract := contracts.forbidden(ctx, contracts_in_force, finding.category):
            why = f"the contract \u201c{contract.name}\u201d does not allow it ({finding.category})"
            breaches.append(Finding(CONTRACT, HIGH, finding.words, why, finding.target))
    return breaches


def _take_prompts(call: ToolCall, watched: WatchedSession) -> None:
    """Take in new prompts: what is asked now, and the rules that hold."""
    if watched.heard_prompts is not None:
        watched.course.prompted()
    watched.heard_prompts = call.asked
    asked_texts = set(map(_normalised, call.asked))
    earlier = [prompt for prompt in watched.earlier if _normalised(prompt) not in asked_texts]
    watched.prompts = (*earlier, *call.asked)
    watched.objectives = objectives.of_session(watched.prompts, _standing_limits(call))


def _normalised(prompt: str) -> str:
    return " ".join(prompt.split())[:200]


def _standing_limits(call: ToolCall) -> list[Limit]:
    """Return the limits of the user's own rules here or everywhere: of what he pinned, and of what he said in a session
    so that it binds later ones and leaves something that may be done ("access to the historian, read only" is not of all
    files)."""
    from vector_memory.index.rules import binds

    rules = [
        memory
        for shelf in call.shelves
        for memory in shelf.journal.important(call.scope, MOST_RULES)
        if memory.origin is Origin.USER
        and memory.kind in RULES
        and memory.kind != PROCEDURE
        and memory.trust == 2
        and not memory.is_held
    ]
    standing: list[Limit] = []
    for rule in rules:
        rule_limits = limits.read(rule.text)
        if not rule.is_captured or (binds(rule.text) and not limits.are_sweeping(rule_limits)):
            standing += rule_limits
    return standing


# -- telling ---------------------------------------------------------------------------------------


def _answer(
    ctx: Context, call: ToolCall, watched: WatchedSession, findings: Sequence[Finding]
) -> ToolAnswer:
    flags = _flags(ctx, call, watched, findings)
    if ctx.settings.capture:
        _keep_flags(ctx, watched, flags)
    if ctx.settings.observer == "block" and (refusal := _refusal(flags)):
        ctx.count("observer_blocked")
        return ToolAnswer(instead=refusal)
    speaks = ctx.settings.observer in ("warn", "block")
    return ToolAnswer(_warning(ctx, call, flags)) if speaks else NOTHING


def _refusal(flags: Sequence[Flag]) -> str:
    """Return why a call is not made, "" where nothing is in its way: only what the user set himself is."""
    grave = [flag for flag in flags if flag.category in (LIMIT, CONTRACT) and not flag.asked]
    if not grave:
        return ""
    reasons = "; ".join(dict.fromkeys(flag.reason.rstrip(".") for flag in grave))
    return (
        f"Vector Memory refused this call, since the user set observer=block: {reasons}. "
        "Ask the user before going on; do not work around it."
    )


def _keep_flags(ctx: Context, watched: WatchedSession, flags: list[Flag]) -> None:
    kept_flags = flags[: max(0, MOST_FLAGS - watched.flags)]
    assessments.note(ctx, kept_flags)
    watched.flags += len(kept_flags)
    ctx.count("flags_recorded", len(kept_flags))
    ctx.count("flags_dropped", len(flags) - len(kept_flags))


def _flags(
    ctx: Context, call: ToolCall, watched: WatchedSession, findings: Sequence[Finding]
) -> list[Flag]:
    """Return findings as they are kept: redacted, then cut; none where words of the call cannot be checked.
    The whole call is checked first, so that its secrets go from the words that are kept of it."""
    try:
        for text in (*levels.strings_in(call.input), *call.asked):
            redact.clean(text)
        return [_flag(ctx, call, watched, finding) for finding in findings]
    except UnsafeTextError:
        ctx.count("texts_dropped")
        return []


def _flag(ctx: Context, call: ToolCall, watched: WatchedSession, finding: Finding) -> Flag:
    at, target = ctx.now(), _line(finding.target, TARGET_CHARS)
    return Flag(
        id=digest_of(call.session, call.use_id or at.isoformat(), finding.category, target, size=8),
        session=call.session[:100],
        folder=call.folder,
        at=at.isoformat(),
        tool=str(redact.clean(call.tool).text)[:80],
        agent=bool(call.agent),
        category=finding.category,
        severity=finding.severity,
        # A commit on a branch that is not known has no name: the command says what was done.
        text=_line(finding.words.strip() or str(call.input.get("command", "")), WHAT_CHARS),
        reason=_line(finding.why, WHY_CHARS),
        target=target,
        topic=_line(watched.objectives.in_short, WHY_CHARS),
        asked=asked_for.is_asked(finding, watched.prompts),
    )


def _line(text: str, chars: int) -> str:
    """Redact a text, and make it a line of so many characters. Never the other way round: a cut may hide
    the end of a secret."""
    words = " ".join(redact.clean(text).text.split())
    return words if len(words) <= chars else words[: chars - 1] + "\u2026"


_DRIFTS = (LIMIT, CONTRACT, SCOPE_DRIFT, TARGET_DRIFT)


def _warning(ctx: Context, call: ToolCall, flags: Sequence[Flag]) -> str:
    """Return what the agent is told: of what is grave or leads away and was not asked for, once for each
    kind and target."""
    shown = ctx.state.shown_ids(call.session)
    notes: dict[str, fence.Note] = {}
    for flag in flags:
        id = digest_of("warning", call.session, flag.category, flag.target, size=8)
        drifts = flag.category in _DRIFTS
        if (flag.severity == HIGH or drifts) and not flag.asked and id not in shown | notes.keys():
            words = flag.reason if drifts else f"{flag.reason} (`{flag.text}`)"
            notes[id] = fence.Note(id, fence.head("", flag.category, "", ""), words)
    if not notes:
        return ""
    ctx.count("observer_warnings")
    topic = flags[0].topic
    title = f"The user asked: \u201c{topic}\u201d" if topic else ""
    return context_block.show(
        ctx, call.session, list(notes.values())[:MOST_WARNED], title, head=HEAD
    )
