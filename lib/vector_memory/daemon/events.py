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

from vector_memory import wire
from vector_memory.client.spool import CLAIM_S, write_spool
from vector_memory.daemon.backlog import Backlog
from vector_memory.daemon.callers import Callers, Started
from vector_memory.daemon.server import Sent, Written
from vector_memory.redact import policy
from vector_memory.service.base import context_block, privacy, privacy_rules
from vector_memory.service.base.asker import HookQuestion, asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.last_turn import SessionTail, last_turn
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.system import json_in
from vector_memory.system.files import with_real_folder

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

    def first(self, event: str, data: bytes) -> bool:
        """Whether this input is the first of its kind."""
        key = hashlib.blake2b(event.encode() + b"\0" + data, digest_size=16).digest()
        now = self._clock()
        with self._lock:
            if len(self._seen) > MAX_CLAIMS:
                self._seen = {k: at for k, at in self._seen.items() if now - at < CLAIM_S}
            seen_at = self._seen.get(key)
            if seen_at is not None and now - seen_at < CLAIM_S:
                return False
            self._seen[key] = now
            return True


class HookMessage:
    """What the client sent with an event.

    Attributes:
        fields: all of it, as the client calls it.
        folder: the project's folder.
        session: the session's id.
        agent: whether a subagent's event it is.
        tool_input: what a tool is given, {} where there is none.
    """

    def __init__(self, sent: Sent, folder: str) -> None:
        self.session = json_in.session_id(sent.get("session_id"))
        self.fields: Sent = {**sent, "session_id": self.session}
        self.folder = folder or self.text("cwd") or "/"
        self.agent = bool(sent.get("agent_id"))
        given = sent.get("tool_input")
        self.tool_input: Sent = given if isinstance(given, dict) else {}

    def text(self, name: str) -> str:
        """Return a field that is a text, "" where it is none."""
        return _text(self.fields, name)


class Events:
    """Answers hook events.

    Args:
        index: has work done by the indexing thread, in order.
        callers: is told who starts hooks, and what was said to it.
    """

    def __init__(
        self,
        ctx: Context,
        index: Callable[[Callable[[], object]], None],
        callers: Callers | None = None,
    ) -> None:
        self._ctx = ctx
        self._callers = callers or Callers()
        self._index = index
        self._claims = Claims()
        self.backlog = Backlog(ctx, index, self._learn)
        self._tools = {"PreToolUse": "before", "PostToolUse": "after"}
        self._answers: dict[str, Callable[[HookMessage], str]] = {
            "SessionStart": self._session_start,
            "UserPromptSubmit": self._prompt,
            "PostToolUseFailure": self._failure,
            "Stop": self._stop,
            "SubagentStop": self._stop,
            "PreCompact": self._save,
            "SessionEnd": self._save,
        }

    def answer(self, event: str, body: bytes, started: Started | None = None) -> bytes:
        """Return what the hook prints, b"" for nothing. Bad input gets nothing."""
        folder_bytes, configuration, data = wire.parse_hook(body)
        answer = self._answers.get(event)
        if (answer is None and event not in self._tools) or not self._claims.first(event, data):
            return b""
        try:
            sent = json_in.whole(json_in.load(data))
        except ValueError:
            self._ctx.count("hook_inputs_broken")
            return b""
        if not isinstance(sent, dict):
            return b""
        message = HookMessage(sent, folder_bytes.decode("utf-8", "replace"))
        # A subagent is told what to do by the agent.
        self._callers.heard(started, event, "" if message.agent else message.text("prompt"))
        if not _is_named(message.folder):
            return b""
        with privacy.for_folder(self._ctx, message.folder, [os.fsdecode(configuration)]):
            printed = (
                self._tool_call(event, message)
                if answer is None
                else context_block.output(event, answer(message))
            )
        self._ctx.count(f"hook_{event}")
        return json.dumps(printed).encode("ascii") if printed else b""

    def _session_start(self, message: HookMessage) -> str:
        session, source = message.session, message.text("source") or "startup"
        if source == "compact":
            self._turn(session).compacted_at = self._ctx.now()
            self._wait_for_index()
        question = self._question(message, source=source)
        if question is None:
            return ""
        self._ctx.state.remember_session(
            session, question.place.id, message.folder, self._ctx.now()
        )
        notice = privacy_rules.notice(self._ctx, question.place)
        texts = (notice, session_start.on_start(self._ctx, question))
        return "\n".join(filter(None, texts))

    def _question(self, message: HookMessage, **more: Any) -> HookQuestion | None:
        """Return what a hook asks, and from where; None where the user wants no memory."""
        asker = asker_at(self._ctx, message.folder)
        if asker is None:
            return None
        return HookQuestion(
            **vars(asker),
            session=message.session,
            folder=message.folder,
            compacted_at=self._turn(message.session).compacted_at,
            transcript=message.text("transcript_path"),
            **more,
        )

    def _turn(self, session: str) -> SessionTail:
        return last_turn(self._ctx.running, session)

    def _wait_for_index(self) -> None:
        """Give what PreCompact had indexed a moment: this session is about to be told of itself."""
        done = threading.Event()
        self._index(done.set)
        done.wait(INDEX_WAIT_S)

    def _prompt(self, message: HookMessage) -> str:
        if message.agent:
            return ""
        turn, prompt = self._turn(message.session), message.text("prompt")
        question = self._question(message, prompt=prompt, before=turn.words)
        answer = prompt_recall.on_prompt(self._ctx, question) if question else ""
        turn.hear(prompt)
        return answer

    def _tool_call(self, event: str, message: HookMessage) -> Written | None:
        """Answer a tool call; what looks at them is imported when the first one comes."""
        from vector_memory.service.tools import dispatch, tool_call

        cwd = message.text("cwd") or message.folder
        asker = asker_at(self._ctx, message.folder, cwd)
        if asker is None:
            return None
        turn = self._turn(message.session)
        call = tool_call.ToolCall(
            **vars(asker),
            session=message.session,
            folder=message.folder,
            cwd=cwd,
            tool=message.text("tool_name"),
            input=message.tool_input,
            response=message.fields.get("tool_response"),
            agent=message.text("agent_id"),
            use_id=message.text("tool_use_id"),
            prompt=turn.prompt,
            asked=turn.asked,
            compacted_at=turn.compacted_at,
            transcript=message.text("transcript_path"),
        )
        look = dispatch.before if event == "PreToolUse" else dispatch.after
        return tool_call.output(event, look(self._ctx, call))

    def _failure(self, message: HookMessage) -> str:
        """Bring the fix of a command's error; nobody needs one for what was interrupted."""
        command = _text(message.tool_input, "command")
        if message.fields.get("is_interrupt") or not command:
            return ""
        question = self._question(message)
        if question is None:
            return ""
        from vector_memory.service.learning import guidance
        from vector_memory.service.tools import failure_advice

        error = message.text("error")
        texts = [failure_advice.on_failure(self._ctx, question, error, command)]
        if not message.agent:
            # What a subagent changed stands in a transcript of its own.
            texts.append(guidance.for_failure(self._ctx, question, error, command))
        return "\n".join(filter(None, texts))

    def _stop(self, message: HookMessage) -> str:
        last = message.text("last_assistant_message")
        if not message.agent:
            self._turn(message.session).answer = last
        self._capture(message, last)
        return ""

    def _save(self, message: HookMessage) -> str:
        self._capture(message)
        return ""

    def _capture(self, message: HookMessage, last: str = "") -> None:
        """Acknowledge only what is durable: the event is spooled before the hook is answered, and
        the file goes when its transcript is indexed."""
        if not self._ctx.settings.capture:
            return
        event = message.text("hook_event_name")
        named = next(iter(policy.configurations()), "")
        path = self._ctx.reserve.spare(
            lambda: write_spool(
                self._ctx.home, event, message.fields, message.folder, configuration=named
            )
        )
        self.backlog.add(path, last)

    def _learn(self, entry: Sent, last: str, apart: bool) -> None:
        """Do what a spooled event means."""
        shown = entry.get("shown")
        session, transcript = _text(entry, "session"), _text(entry, "transcript")
        if isinstance(shown, list) and session:
            ids = [str(id) for id in shown]
            self._ctx.state.add_shown(session, ids, self._ctx.now())
            self._ctx.audit("recall", "hook", ids, session=session, without_daemon=True)
            return
        folder = _text(entry, "folder")
        if not (transcript and _is_named(folder) and self._ctx.settings.capture):
            return
        if os.path.lexists(transcript):
            transcript = with_real_folder(transcript)
            final = entry.get("event") in FINAL_EVENTS
            # What reads transcripts is imported when the first turn has ended: a start and the first
            # prompt do not wait for it.
            from vector_memory.service.jobs import turn_end

            with privacy.for_folder(self._ctx, folder, [_text(entry, "configuration")]):
                turn_end.learn(
                    self._ctx,
                    turn_end.Ended(session, transcript, folder, final, last, apart),
                )


def _is_named(folder: str) -> bool:
    """Whether a folder's name is one that everything here can hold: of one that is no UTF-8 nobody could
    find the project, nor its rules of privacy. It has no memory."""
    return "\ufffd" not in folder


def _text(message: Sent, name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""


def sweep_claims(ctx: Context) -> None:
    """Remove the claims that hooks left without a daemon, and files cut off while being written."""
    old = ctx.now() - timedelta(minutes=5)
    for folder in (ctx.home.claims, ctx.home.spool, ctx.home.snapshots):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            leftover = folder == ctx.home.claims or name.startswith(".")
            if leftover and os.lstat(path).st_mtime < old.timestamp():
                os.unlink(path)
