"""What a hook does when no daemon answered: start one, and help as far as files alone can.

A session's start waits for the new daemon and else gets the project's snapshot; a prompt gets a
lexical answer straight from FTS5, read-only; what must not be lost is spooled. Standard library
only, Python 3.9; every step may fail, and then there is no answer.
"""

import contextlib
import json
import os
import time

from vector_memory import injection, private, prompts
from vector_memory.client import hook, spawn
from vector_memory.client.spool import claim, write_spool
from vector_memory.errors import BadInputError
from vector_memory.paths import Home

SPOOLED = frozenset({"Stop", "SubagentStop", "PreCompact", "SessionEnd"})
WAIT_STEP_S = 0.02


def answer(call: "hook.Call") -> bytes:
    """Return what the hook prints, b"" for nothing."""
    home = Home(call.home)
    if not _is_own(home):
        return b""
    hook.note(call.home, b"hooks_without_daemon")
    started = _spawn(home, call)
    if call.event == "SessionStart":
        return _start_answer(home, call, started)
    event = json.loads(call.stdin.decode("utf-8", "replace"))
    if not isinstance(event, dict):
        return b""
    if call.event in SPOOLED:
        write_spool(home, call.event, event, os.fsdecode(call.project_dir))
        return b""
    if call.event == "UserPromptSubmit":
        return _prompt_answer(home, call, event)
    return b""


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


def _spawn(home: Home, call: "hook.Call") -> bool:
    try:
        return spawn.spawn(home, call.lib)
    except OSError:
        return False


def _start_answer(home: Home, call: "hook.Call", started: bool) -> bytes:
    while started and call.left_s() > 0.25:
        time.sleep(WAIT_STEP_S)
        found = hook.ask(call, call.left_s() - 0.2)
        if found is not None:
            return found
    if not claim(home, call.stdin):
        return b""
    return _snapshot(home, call)


def _snapshot(home: Home, call: "hook.Call") -> bytes:
    """Return the project's last start as the daemon left it, fenced anew."""
    event = json.loads(call.stdin.decode("utf-8", "replace"))
    folder = os.fsdecode(call.project_dir) or str(event.get("cwd") or "")
    from vector_memory import projects
    from vector_memory.client import privacy

    with open(home.snapshot(folder), encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mtime < privacy.rules_since(projects.locate(folder).root):
            return b""
        stored = json.load(file)
    notes = [
        injection.Note(note["id"], note["head"], note["text"], note.get("foreign") is not False)
        for note in stored["notes"]
    ]
    if notes:
        hook.note(call.home, b"starts_from_snapshot")
    return _output(call.event, notes)


def _prompt_answer(home: Home, call: "hook.Call", event: "dict[str, object]") -> bytes:
    prompt = str(event.get("prompt") or "")
    if prompts.needs_nothing(prompt):
        return b""
    folder = os.fsdecode(call.project_dir) or str(event.get("cwd") or "")
    session = str(event.get("session_id") or "")
    from vector_memory.client import cold

    notes = cold.notes(home, prompt, folder, session, call.deadline - 0.02)
    if not notes or not claim(home, call.stdin):
        return b""
    # Where nothing can be written it may come up again: no reason to say nothing now.
    with contextlib.suppress(OSError):
        write_spool(home, "Shown", event, folder, [note.id for note in notes])
    hook.note(call.home, b"prompts_from_files")
    return _output(call.event, notes)


def _output(event: str, notes: "list[injection.Note]") -> bytes:
    if not notes:
        return b""
    block = injection.fence(notes)
    return json.dumps(injection.hook_output(event, block)).encode("ascii")
