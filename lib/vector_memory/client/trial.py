"""The client played by hand, for trials with a data home of their own: hooks run on events, transcripts written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone

from vector_memory.system.json_in import Record
from vector_memory.system.paths import HOME_VARIABLE, Home

Line = tuple[str, object]
"""Of a transcript: who speaks (`user`, `assistant`), and the text or the blocks."""


def run_hook(
    command: Sequence[str],
    stem: str,
    home: Home,
    project: str,
    timeout_s: float,
    user_home: str = "",
    **event: object,
) -> subprocess.CompletedProcess[bytes]:
    """Run a hook on an event, as the client would, and return what came of it.

    Args:
        command: what runs it, all of its arguments included.
        stem: its file's name without the ending, such as `user_prompt_submit`.
        user_home: the user's home folder, where that is another one.
        event: what the event says beside its name and the project's folder.

    Raises:
        subprocess.TimeoutExpired: it did not end in time.
    """
    name = "".join(word.capitalize() for word in stem.split("_"))
    path, user = os.environ.get("PATH", os.defpath), user_home or os.path.expanduser("~")
    return subprocess.run(
        command,
        input=json.dumps({"cwd": project, "hook_event_name": name, **event}).encode(),
        capture_output=True,
        env={"PATH": path, "HOME": user, HOME_VARIABLE: home.root, "CLAUDE_PROJECT_DIR": project},
        cwd=project,
        timeout=timeout_s,
        check=False,
    )


def context_in(printed: bytes) -> str:
    """Return the context that a hook's output gives the model, "" for none."""
    try:
        return Record(json.loads(printed)).part("hookSpecificOutput").text("additionalContext")
    except (TypeError, ValueError):
        return ""


def write_transcript(path: str, session: str, project: str, lines: Sequence[Line]) -> None:
    """Write what a session said, as the client would."""
    at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    with open(path, "w", encoding="utf-8") as file:
        for number, (role, content) in enumerate(lines):
            line = {
                "type": role, "uuid": f"{session}-{number}", "sessionId": session, "cwd": project, "timestamp": at,
                "parentUuid": f"{session}-{number - 1}" if number else None, "isSidechain": False,
                "version": "2.1.0", "message": {"role": role, "content": content},
            }  # fmt: skip
            file.write(json.dumps(line) + "\n")
