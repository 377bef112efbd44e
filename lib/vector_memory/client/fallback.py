"""What a hook does when no daemon answered: start one, and help as far as files alone can.

A session's start waits for the new daemon and else gets the project's snapshot; a prompt gets a
lexical answer straight from FTS5, read-only; what must not be lost is spooled. Standard library
only, Python 3.9; every step may fail, and then there is no answer. What takes long to import comes after
the daemon was started.
"""

import os
import time

from vector_memory import wire
from vector_memory.client import exchange, spawn
from vector_memory.errors import BadInputError
from vector_memory.system import private
from vector_memory.system.files import drop
from vector_memory.system.paths import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vector_memory.text import fence

SPOOLED = frozenset({"Stop", "SubagentStop", "PreCompact", "SessionEnd"})
WAIT_STEP_S = 0.02
START_AGAIN_S = 0.3
"""How often a start tries to begin a daemon: one may be just ending."""


def answer(call: "exchange.HookEvent") -> bytes:
    """Return what the hook prints, b"" for nothing."""
    home = Home(call.home)
    if not _is_own(home):
        return b""
    if call.event == "UserPromptSubmit":
        # What comes through it early is read by nobody, and once it is full it would hold up the next shells.
        drop(os.path.join(home.run, wire.PROMPTS), OSError)
    exchange.note(call.home, b"hooks_without_daemon")
    if call.event == "SessionStart":
        return _start_answer(home, call)
    if call.event not in SPOOLED:
        _spawn(home, call)
    event = _parsed(call)
    if call.event in SPOOLED:
        from vector_memory.client import spool

        # Nobody waits: what is kept comes before who reads it.
        folder, configuration = os.fsdecode(call.project_dir), os.fsdecode(call.configuration)
        spool.write_spool(home, call.event, event, folder, configuration=configuration)
        _spawn(home, call)
    if call.event == "UserPromptSubmit":
        return _prompt_answer(home, call, event)
    return b""


def _parsed(call: "exchange.HookEvent") -> "dict[str, object]":
    import json

    event = json.loads(call.stdin.decode("utf-8", "replace"))
    if not isinstance(event, dict):
        raise ValueError("no object")
    return event


def _is_own(home: Home) -> bool:
    """Whether the data home is this user's, or not there yet: nothing is read from, or left in, a
    folder of somebody else's."""
    try:
        private.require_own(home.root)
    except FileNotFoundError:
        return True
    except (OSError, BadInputError):
        return False
    return True


def _spawn(home: Home, call: "exchange.HookEvent") -> bool:
    try:
        return spawn.spawn(home, call.lib)
    except (OSError, BadInputError):
        return False


def _start_answer(home: Home, call: "exchange.HookEvent") -> bytes:
    begun, again = time.time(), 0.0
    while call.left_s() > 0.25:
        if time.monotonic() >= again:
            if not _spawn(home, call):
                break
            again = time.monotonic() + START_AGAIN_S
        time.sleep(WAIT_STEP_S)
        printed = exchange.ask(call, call.left_s() - 0.2)
        if printed is not None:
            return printed
    from vector_memory.client import privacy, spool

    folder = os.fsdecode(call.project_dir) or str(_parsed(call).get("cwd") or "")
    if not privacy.may_speak(home.config, folder, "recall_on_start"):
        return b""
    notes, why = _snapshot(home, folder), _failure(home, begun)
    if not (notes or why) or not spool.claim(home, call.stdin):
        return b""
    if notes:
        exchange.note(call.home, b"starts_from_snapshot")
    return _output(call.event, notes, why)


def _failure(home: Home, since: float) -> str:
    """Return why a daemon that was started since then could not open its stores, "" where nothing says so."""
    import json

    try:
        with open(home.failure, encoding="utf-8") as file:
            # The clocks of files are coarse.
            is_new = os.fstat(file.fileno()).st_mtime > since - 0.1
            reason = json.load(file)
            return "{error} {hint}".format(**reason) if is_new else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def no_store(home: Home, folder: str, stdin: bytes, why: str) -> bytes:
    """Return what a session's start prints where a daemon can open no store: the line that says so."""
    from vector_memory.client import privacy, spool

    is_told = privacy.may_speak(home.config, folder, "recall_on_start")
    return _output("SessionStart", [], why) if is_told and spool.claim(home, stdin) else b""


def _snapshot(home: Home, folder: str) -> "list[fence.Note]":
    """Return the notes of the project's last start as the daemon left them, none where it left none."""
    import json

    from vector_memory import projects
    from vector_memory.client import privacy
    from vector_memory.text import fence

    try:
        with open(home.snapshot(folder), encoding="utf-8") as file:
            written = os.fstat(file.fileno()).st_mtime
            stored = json.load(file)
    except FileNotFoundError:
        return []
    if written < privacy.rules_since(*projects.locate(folder).folders):
        return []
    return [
        fence.Note(note["id"], note["head"], note["text"], note.get("foreign") is not False)
        for note in stored["notes"]
    ]


def _prompt_answer(home: Home, call: "exchange.HookEvent", event: "dict[str, object]") -> bytes:
    from vector_memory.text import prompts

    prompt = str(event.get("prompt") or "")
    if prompts.Prompt(prompt).needs_nothing:
        return b""
    folder = os.fsdecode(call.project_dir) or str(event.get("cwd") or "")
    from vector_memory.system import json_in

    session = json_in.session_id(event.get("session_id"))
    from vector_memory.client import cold, privacy, spool

    if not privacy.may_speak(home.config, folder, "recall_on_prompt"):
        return b""
    notes = cold.notes(home, prompt, folder, session, call.deadline - 0.02)
    if not notes or not spool.claim(home, call.stdin):
        return b""
    try:
        spool.write_spool(home, "Shown", event, folder, [note.id for note in notes])
    except OSError:
        # Where nothing can be written it may come up again: no reason to say nothing now.
        pass
    exchange.note(call.home, b"prompts_from_files")
    return _output(call.event, notes)


def _output(event: str, notes: "list[fence.Note]", why: str = "") -> bytes:
    """Return what the hook prints: notes, and the line that says why no store can be opened."""
    import json

    from vector_memory.text import fence

    blocks = [fence.fence(notes)] if notes else []
    if why:
        line = (
            f"No store can be opened now: {why} What is said meanwhile is read once that is mended."
        )
        blocks.append(fence.fence([], line, fence.OWN_HEAD))
    return (
        json.dumps(fence.hook_output(event, "\n".join(blocks))).encode("ascii") if blocks else b""
    )
