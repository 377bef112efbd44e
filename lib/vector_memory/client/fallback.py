"""What a hook does when no daemon answered: start one, and help as far as files alone can.

A session's start waits for the new daemon and else gets the project's snapshot; a prompt gets a
lexical answer straight from FTS5, read-only; what must not be lost is spooled. Standard library
only, Python 3.9; every step may fail, and then there is no answer. What takes long to import comes after
the daemon was started.
"""

import errno
import os
import time

from vector_memory import wire
from vector_memory.client import exchange, spawn
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.system import private
from vector_memory.system.files import delete_file, has_room
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
        # No daemon reads the pipe of early prompts, and a full pipe would hold up the next shells.
        delete_file(os.path.join(home.run, wire.PROMPTS), OSError)
    exchange.note(call.home, b"hooks_without_daemon")
    if call.event == "SessionStart":
        return _start_answer(home, call)
    if call.event not in SPOOLED:
        _spawn(home, call)
    event = _parse_event(call.stdin)
    if call.event in SPOOLED:
        # Nobody waits for an answer: the event is spooled before a daemon is started that reads it.
        try:
            _spool_event(home, call, event)
        finally:
            _spawn(home, call)
    if call.event == "UserPromptSubmit":
        return _prompt_answer(home, call, event)
    return b""


def _spool_event(home: Home, call: "exchange.HookEvent", event: "dict[str, object]") -> None:
    """Spool an event; on a full disk the reserve is given up for it, which is what it is for."""
    from vector_memory.client import spool

    folder, configuration = os.fsdecode(call.project_dir), os.fsdecode(call.configuration)
    try:
        spool.write_spool(home, call.event, event, folder, configuration=configuration)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # Another hook may have given it up just now, and then there is room, too.
        delete_file(home.reserve, OSError)
        spool.write_spool(home, call.event, event, folder, configuration=configuration)


def _parse_event(stdin: bytes) -> "dict[str, object]":
    import json

    event = json.loads(stdin.decode("utf-8", "replace"))
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
    except VectorMemoryError:
        return False


def _start_answer(home: Home, call: "exchange.HookEvent") -> bytes:
    begun_at, retry_at, why = time.time(), 0.0, ""
    while call.left_s() > 0.25:
        if time.monotonic() >= retry_at:
            try:
                if not spawn.spawn(home, call.lib):
                    break
            except VectorMemoryError as error:
                why = str(error)
                break
            retry_at = time.monotonic() + START_AGAIN_S
        time.sleep(WAIT_STEP_S)
        printed = exchange.ask(call, call.left_s() - 0.2)
        if printed is not None:
            return printed
    why = why or _failure(home, begun_at)
    if not why and not has_room(home.root):
        # On a slow machine the daemon has not come to say so.
        why = "The disk of %s is full." % home.root
    return start_from_files(home, call.project_dir, call.stdin, why)


def start_from_files(home: Home, project_dir: bytes, stdin: bytes, why: str) -> bytes:
    """Return what a session's start prints where no daemon answers it from a store: the project's snapshot, and the line
    that says why none does, "" where nobody knows."""
    from vector_memory.client import privacy, spool

    folder = os.fsdecode(project_dir) or str(_parse_event(stdin).get("cwd") or "")
    if not privacy.may_speak(home.config, folder, "recall_on_start"):
        return b""
    notes = _snapshot(home, folder)
    if not (notes or why) or not spool.claim(home, stdin):
        return b""
    if notes:
        exchange.note(home.root, b"starts_from_snapshot")
    return _output("SessionStart", notes, f"{why} {_meanwhile(home)}" if why else "")


def _meanwhile(home: Home) -> str:
    """Return what becomes of what is said while no store can be opened."""
    folder = home.spool if os.path.isdir(home.spool) else home.root
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        # Nothing can be spooled, and no sweep knows of a folder's first session.
        return "Once that is mended, `vector-memory backfill --all` reads what is said meanwhile."
    return "What is said meanwhile is read once that is mended."


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


def _snapshot(home: Home, folder: str) -> "list[fence.Note]":
    """Return the notes of the project's last start as the daemon left them, none where it left none, or where settings
    or rules may have changed since."""
    import json

    from vector_memory import projects
    from vector_memory.client import privacy
    from vector_memory.text import fence

    try:
        with open(home.snapshot(folder), encoding="utf-8") as file:
            written_at = os.fstat(file.fileno()).st_mtime
            stored = json.load(file)
    except FileNotFoundError:
        return []
    settings = privacy.Settings(home.config)
    changed_at = max(settings.written_at, settings.redaction_since())
    # What a session was given in all a daemon alone counts.
    if written_at < changed_at or settings.number("session_tokens"):
        return []
    if written_at < privacy.rules_since(*projects.locate(folder).folders):
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
        # Where this cannot be noted the same notes may come again: no reason to say nothing now.
        pass
    exchange.note(call.home, b"prompts_from_files")
    return _output(call.event, notes)


def _output(event: str, notes: "list[fence.Note]", why: str = "") -> bytes:
    """Return what the hook prints: notes, and the line that says why no store can be opened."""
    import json

    from vector_memory.text import fence

    blocks = [fence.fence(notes)] if notes else []
    if why:
        blocks.append(fence.fence([], f"No store can be opened now: {why}", fence.OWN_HEAD))
    return (
        json.dumps(fence.hook_output(event, "\n".join(blocks))).encode("ascii") if blocks else b""
    )
