"""Transcripts for tests: prompts with their answers, in the form that the client writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

START = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)


def transcript(
    folder: Path, talk: Sequence[tuple[str, str]], session: str = "s1", after_hours: float = 0
) -> Path:
    """Write a session's transcript into a folder, a minute for each exchange, and return its path."""
    lines = []
    for number, (prompt, answer) in enumerate(talk):
        at = START + timedelta(hours=after_hours, minutes=number)
        about = {"sessionId": session, "cwd": str(folder), "timestamp": at.isoformat()}
        said = {
            "role": "assistant",
            "id": f"m{number}",
            "content": [{"type": "text", "text": answer}],
        }
        lines += [
            {"type": "user", "uuid": f"{session}-u{number}",
             "message": {"role": "user", "content": prompt}, **about},
            {"type": "assistant", "uuid": f"{session}-a{number}", "message": said, **about},
        ]  # fmt: skip
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
