"""What each hook event means: parse what the client sent, ask the service, say what to print."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from vector_memory import config, wire
from vector_memory.client.spool import CLAIM_S, has_marked, write_spool
from vector_memory.daemon import hook_message
from vector_memory.daemon.backlog import Backlog
from vector_memory.daemon.callers import Callers, HookStarter
from vector_memory.daemon.hook_message import HookMessage
from vector_memory.daemon.plugin_watch import PluginWatch
from vector_memory.redact import policy
from vector_memory.service.base import context_block, privacy
from vector_memory.service.base.asker import HookQuestion, asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.session_memory import SessionTail, last_turn
from vector_memory.service.capture import interrupted_session, uncaptured_turns
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.system import ancestry
from vector_memory.system.files import with_real_folder
from vector_memory.system.json_in import Record

log = logging.getLogger(__name__)

MAX_CLAIMS = 4_096
INDEX_WAIT_S = 0.8
"""Of the 1.5 s that a session's start has."""
FINAL_EVENTS = frozenset({"SessionEnd"})


class Claims:
    """Which inputs came within the last 2 seconds: an event that is wired twice comes twice, with
    the same bytes, and is answered once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[bytes, float] = {}
        self._lock = threading.Lock()

    def is_first(self, event: str, data: bytes) -> bool:
        """Whether this input is the first of its kind."""
        key = _key(event, data)
        now = self._clock()
        with self._lock:
            if len(self._seen) > MAX_CLAIMS:
                self._seen = {claim: at for claim, at in self._seen.items() if now - at < CLAIM_S}
            claimed_at = self._seen.get(key)
            if claimed_at is not None and now - claimed_at < CLAIM_S:
                return False
            self._seen[key] = now
            return True

    def give_up(self, event: str, data: bytes) -> None:
        """Forget an input: nobody was given its answer."""
        with self._lock:
            self._seen.pop(_key(event, data), None)


def _key(event: str, data: bytes) -> bytes:
    return hashlib.blake2b(event.encode() + b"\0" + data, digest_size=16).digest()


class Events:
    """Answers hook events.

    Args:
        index: has work done by the indexing thread, in order.
        callers: is told who starts hooks, and what was said to it; `plugin` under which configurations.
    """

    def __init__(
        self,
        ctx: Context,
        index: Callable[[Callable[[], object]], None],
        callers: Callers | None = None,
        plugin: PluginWatch | None = None,
    ) -> None:
        self._ctx = ctx
        self._callers = callers or Callers()
        self._index = index
        self._claims = Claims()
        self._plugin = plugin or PluginWatch()
        self.backlog = Backlog(ctx, index, self._learn, self._is_open)
        self._answers: dict[str, Callable[[HookMessage], str]] = {
            "SessionStart": self._session_start,
            "UserPromptSubmit": self._prompt,
            "PostToolUse": self._result,
            "PostToolUseFailure": self._failure,
            "Stop": self._stop,
            "SubagentStop": self._stop,
            "PreCompact": self._capture,
            "SessionEnd": self._capture,
        }

    def answer(
        self,
        event: str,
        body: bytes,
        started: HookStarter | None = None,
        message: HookMessage | None = None,
    ) -> bytes:
        """Return what the hook prints, b"" for nothing. Bad input gets nothing.

        Args:
            message: what is in the body, where it was read already.
        """
        _, configuration, data = wire.parse_hook(body)
        handler = self._answers.get(event)
        if (handler is None and event != "PreToolUse") or not self._is_first(event, data):
            return b""
        try:
            message = message or hook_message.read(body)
        except ValueError:
            self._ctx.count("hook_inputs_broken")
            return b""
        if message is None:
            return b""
        # A subagent is told what to do by the agent.
        self._callers.note_words(started, event, "" if message.agent_id else message.prompt)
        if not _is_named(message.folder):
            return b""
        if not message.agent_id:
            turn = self._turn(message)
            turn.client = ancestry.identity(started.process) if started else turn.client
            turn.is_over = event in FINAL_EVENTS
        self._plugin.note_client(os.fsdecode(configuration))
        with privacy.for_folder(self._ctx, message.folder, [os.fsdecode(configuration)]):
            printed = (
                self._tool_call(event, message)
                if handler is None
                else context_block.output(event, handler(message))
            )
        self._ctx.count(f"hook_{event}")
        return json.dumps(printed).encode("ascii") if printed else b""

    def give_up(self, event: str, body: bytes) -> None:
        """Forget an event whose answer nobody asked for: when its hook comes after all, it is answered."""
        self._claims.give_up(event, wire.parse_hook(body)[2])

    def _is_first(self, event: str, data: bytes) -> bool:
        """Whether an input is to be answered. Equal tool calls without an id may be two calls rather than one that
        came twice, and each that breaks a limit has to be refused."""
        if event == "PreToolUse" and b'"tool_use_id"' not in data:
            return True
        return self._claims.is_first(event, data)

    def _session_start(self, message: HookMessage) -> str:
        source = message.source or "startup"
        if source == "compact":
            self._turn(message).compacted_at = self._ctx.now()
            # What PreCompact queued for the index gets a moment: this session is about to be given memories of
            # itself.
            indexed = threading.Event()
            self._index(indexed.set)
            indexed.wait(INDEX_WAIT_S)
        question = self._question(message, source=source)
        if question is None:
            return ""
        now = self._ctx.now()
        self._ctx.state.remember_session(question.session, question.place.id, question.folder, now)
        unread = self._read_unended(question) if source != "compact" else ""
        return session_start.on_start(self._ctx, question, unread)

    def _read_unended(self, question: HookQuestion) -> str:
        """Queue what the previous session left unread, as if its end had come now, without waiting for it. Return the
        sentence that says so, "" for nothing."""
        try:
            unread = interrupted_session.newest(self._ctx, question)
        except OSError:
            # Another program's files, which may go at any moment.
            unread = None
        if unread is None:
            return ""
        last_turn(self._ctx.running, unread.session).is_over = True
        data: dict[str, object] = {"session_id": unread.session, "transcript_path": unread.path}
        event = "SessionEnd" if unread.is_over or not unread.is_kept else "Stop"
        configuration = next(iter(policy.configurations()), "")
        self._ctx.later(
            lambda: self._spool(event, data, unread.folder, configuration, unread.is_kept)
        )
        return interrupted_session.notice(unread)

    def _question(self, message: HookMessage, **fields: Any) -> HookQuestion | None:
        """Return what a hook asks, and from where; None where the user wants no memory."""
        asker = asker_at(self._ctx, message.folder)
        if asker is None:
            return None
        return HookQuestion(
            **vars(asker),
            session=message.session_id,
            folder=message.folder,
            compacted_at=self._turn(message).compacted_at,
            transcript=message.transcript_path,
            **fields,
        )

    def _turn(self, message: HookMessage) -> SessionTail:
        return last_turn(self._ctx.running, message.session_id)

    def _prompt(self, message: HookMessage) -> str:
        if message.agent_id:
            return ""
        turn = self._turn(message)
        question = self._question(message, prompt=message.prompt, before=turn.words)
        turn.hear(message.prompt)
        is_kept, now = self._ctx.settings.capture, time.time()
        if not self._is_open():
            self._ctx.later(
                lambda: uncaptured_turns.note_prompt(
                    self._ctx, message.transcript_path, now, is_kept
                )
            )
        if question is None:
            return ""
        if question.prompt_text.question:
            from vector_memory.service.inject import asked_recall

            return asked_recall.on_remember(self._ctx, question)
        return prompt_recall.on_prompt(self._ctx, question)

    def _tool_call(self, event: str, message: HookMessage) -> dict[str, object] | None:
        """Answer a tool call; what looks at them is imported when the first one comes."""
        from vector_memory.service.tools import dispatch, tool_call

        cwd = message.cwd or message.folder
        asker = asker_at(self._ctx, message.folder, cwd)
        if asker is None:
            return None
        turn = self._turn(message)
        call = tool_call.ToolCall(
            **vars(asker),
            session=message.session_id,
            folder=message.folder,
            cwd=cwd,
            tool=message.tool_name,
            input=message.tool_input,
            agent=message.agent_id,
            use_id=message.tool_use_id,
            prompt=turn.prompt,
            asked=turn.asked,
            compacted_at=turn.compacted_at,
            transcript=message.transcript_path,
        )
        return tool_call.output(event, dispatch.before(self._ctx, call))

    def _failure(self, message: HookMessage) -> str:
        """Bring the fix of a command's error; nobody needs one for what was interrupted."""
        command = message.tool_input.text("command")
        if message.is_interrupt or not command:
            return ""
        question = self._question(message)
        if question is None:
            return ""
        from vector_memory.service.learning import procedures
        from vector_memory.service.tools import failure_advice

        notes = [procedures.for_failure(self._ctx, question, message.error, command)]
        notes += [failure_advice.on_failure(self._ctx, question, message.error, command)]
        return "\n".join(filter(None, notes))

    def _result(self, message: HookMessage) -> str:
        """Bring the fix of an error that a command line hides: `pytest | tail` ends well, whatever pytest said."""
        command, printed = message.tool_input.text("command"), _printed(message)
        if not command or not printed:
            return ""
        from vector_memory.index.fixes import fixes

        question = self._question(message) if fixes.hides_failure(command, printed) else None
        if question is None:
            return ""
        from vector_memory.service.tools import failure_advice

        return failure_advice.on_failure(self._ctx, question, printed, command, is_sure=False)

    def _stop(self, message: HookMessage) -> str:
        if not message.agent_id:
            self._turn(message).answer = message.last_assistant_message
        return self._capture(message, message.last_assistant_message)

    def _capture(self, message: HookMessage, last_answer: str = "") -> str:
        """Acknowledge only what is durable: the event is spooled before the hook is answered, and
        the file goes when its transcript is indexed. Where a mistake in the settings leaves open whether it may be kept,
        it is read once that is mended, as they say then: one file for each event and transcript, whichever daemon wrote
        it."""
        event, is_open, mark = message.sent.text("hook_event_name"), self._is_open(), ""
        if is_open:
            transcript = message.sent.text("agent_transcript_path") or message.transcript_path
            key = f"{event}\0{transcript}".encode("utf-8", "replace")
            mark = hashlib.sha256(key).hexdigest()[:16]
            if has_marked(self._ctx.home, mark):
                return ""
        is_kept = self._ctx.settings.capture or is_open
        configuration = next(iter(policy.configurations()), "")
        self._spool(event, message.sent, message.folder, configuration, is_kept, last_answer, mark)
        return ""

    def _is_open(self) -> bool:
        """Whether a mistake in the settings keeps sessions out: what they say is read once it is mended."""
        settings = self._ctx.settings
        return isinstance(settings, config.SalvagedSettings) and not settings.capture

    def _spool(
        self,
        event: str,
        data: dict[str, object],
        folder: str,
        configuration: str,
        is_kept: bool,
        last_answer: str = "",
        mark: str = "",
    ) -> None:
        """Spool an event, and queue it."""
        home = self._ctx.home
        path = self._ctx.reserve.spare(
            lambda: write_spool(home, event, data, folder, None, configuration, is_kept, mark)
        )
        self.backlog.add(path, last_answer)

    def _learn(self, entry: Record, last_answer: str, is_apart: bool) -> None:
        """Do what a spooled event means."""
        shown_ids, session, transcript = (
            entry.get("shown"),
            entry.text("session"),
            entry.text("transcript"),
        )
        if isinstance(shown_ids, list) and session:
            ids = [str(memory_id) for memory_id in shown_ids]
            self._ctx.state.add_shown(session, ids, self._ctx.now())
            self._ctx.audit("recall", "hook", ids, session=session, without_daemon=True)
            return
        is_open, folder, is_kept = self._is_open(), entry.text("folder"), self._ctx.settings.capture
        if transcript and _is_named(folder) and not is_open and os.path.lexists(transcript):
            transcript = with_real_folder(transcript)
            is_final = entry.get("event") in FINAL_EVENTS
            # What reads transcripts is imported when the first turn has ended: a start and the first
            # prompt do not wait for it.
            from vector_memory.service.capture import feed
            from vector_memory.service.jobs import turn_end

            handed_over = feed.size_of(self._ctx, transcript) if is_final else -1
            at = entry.get("at")
            stopped_at = at if isinstance(at, float) else None
            with privacy.for_folder(self._ctx, folder, [entry.text("configuration")]):
                asker = asker_at(self._ctx, folder)
                ended = turn_end.EndedTurn(
                    session, transcript, folder, is_final, last_answer, is_apart, stopped_at, asker
                )
                is_kept = is_kept and entry.get("kept") is not False
                learn_turn = turn_end.learn if is_kept else turn_end.pass_over
                learn_turn(self._ctx, ended)
            if is_final:
                uncaptured_turns.settle(self._ctx, transcript, is_kept)
            if handed_over >= 0:
                feed.remove_read(transcript, handed_over)


def _printed(message: HookMessage) -> str:
    """Return what a shell's command printed, as the client tells of it."""
    response = message.sent.part("tool_response")
    return "\n".join(filter(None, map(response.text, ("stdout", "stderr"))))


def _is_named(folder: str) -> bool:
    """Whether a folder's name is UTF-8: else neither its project nor its rules of privacy could be found, and it has
    no memory."""
    return "\ufffd" not in folder


def sweep_claims(ctx: Context) -> None:
    """Remove the claims that hooks left without a daemon, and files cut off while being written."""
    cutoff = ctx.now() - timedelta(minutes=5)
    for folder in (ctx.home.claims, ctx.home.spool, ctx.home.snapshots):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            leftover = folder == ctx.home.claims or name.startswith(".")
            if leftover and os.lstat(path).st_mtime < cutoff.timestamp():
                os.unlink(path)
