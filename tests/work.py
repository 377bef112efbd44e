"""Sessions that work, for tests: transcripts with prompts, edits and commands that go well or fail."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

START = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


class Session:
    """A session's transcript that grows: each line comes some seconds after the one before."""

    def __init__(
        self,
        folder: Path,
        name: str,
        cwd: Path | None = None,
        at: datetime = START,
        model: str = "",
        agent: str = "",
    ) -> None:
        self.name, self.model, self.agent = name, model, agent
        self.cwd = cwd or folder
        self.path = folder / (f"agent-{agent}.jsonl" if agent else f"{name}.jsonl")
        self.at = at
        self._count = 0

    def ask(self, prompt: str, minutes: float = 1.0) -> Session:
        """Let the user say something."""
        self.at += timedelta(minutes=minutes)
        self._line("user", prompt)
        return self

    def say(self, words: str = "Done.") -> Session:
        """Let the assistant say something."""
        self._line("assistant", [{"type": "text", "text": words}])
        return self

    def run(self, command: str, output: str = "ok", failed: bool = False) -> Session:
        """Let a command run; a failed one begins with its exit code, as the client gives it."""
        text = f"Exit code 1\n{output}" if failed else output
        return self.call("Bash", {"command": command}, text, failed)

    def edit(self, file: str = "app.py") -> Session:
        """Let a file be edited."""
        given = {"file_path": f"{self.cwd}/{file}", "old_string": "a", "new_string": "b"}
        return self.call("Edit", given, "The file was updated.")

    def read(self, file: str = "app.py") -> Session:
        """Let a file be read."""
        return self.call("Read", {"file_path": f"{self.cwd}/{file}"}, "1  a")

    def interrupt(self) -> Session:
        """Let the user break it off."""
        self._line("user", [{"type": "text", "text": "[Request interrupted by user]"}])
        return self

    def call(self, tool: str, given: dict[str, Any], output: str, failed: bool = False) -> Session:
        """Let a tool be called."""
        id = f"{self.name}-c{self._count}"
        self._line("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": given}])
        result = {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}
        self._line("user", [result])
        return self

    def _line(self, kind: str, content: Any) -> None:
        self.at += timedelta(seconds=5)
        self._count += 1
        line: dict[str, Any] = {
            "type": kind, "uuid": f"{self.name}-{self._count}", "sessionId": self.name,
            "cwd": str(self.cwd), "timestamp": self.at.isoformat(), "version": "2.1.329",
            "message": {"role": kind, "content": content},
        }  # fmt: skip
        if self.model and kind == "assistant":
            line["message"] = {**line["message"], "model": self.model}
        if self.agent:
            # A subagent's transcript bears its session's name.
            line |= {
                "isSidechain": True,
                "agentId": self.agent,
                "uuid": f"{self.agent}-{self._count}",
            }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
