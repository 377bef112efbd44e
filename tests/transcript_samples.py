"""Small transcripts in the client's line format, for the tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Talk:
    """Writes a session's lines; uuids and times count up."""

    def __init__(self, session: str = "s1", **common: Any) -> None:
        self.session = session
        self.common = common
        self.lines: list[Line] = []
        self._parent: str | None = None

    def add(self, type_: str, content: Any, **more: Any) -> Line:
        """Add a line of talk and return it."""
        number = len(self.lines) + 1
        line = {
            "type": type_,
            "uuid": f"{self.session}-u{number}",
            "parentUuid": self._parent,
            "timestamp": f"2026-11-20T10:{number // 60:02}:{number % 60:02}.000Z",
            "sessionId": self.session,
            "cwd": "/home/dev/app",
            "gitBranch": "main",
            "isSidechain": False,
            "message": {"role": type_, "content": content},
            **self.common,
            **more,
        }
        self._parent = line["uuid"]
        self.lines.append(line)
        return line

    def user(self, text: Any, **more: Any) -> Line:
        """Add a prompt."""
        return self.add("user", text, **more)

    def say(self, text: str, **more: Any) -> Line:
        """Add words of the assistant."""
        return self.add("assistant", [{"type": "text", "text": text}], **more)

    def call(self, name: str, call_id: str = "t1", **given: Any) -> Line:
        """Add a tool call."""
        block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
        return self.add("assistant", [block])

    def edit(
        self, path: str, old: str, new: str, call_id: str = "t1", failed: bool = False
    ) -> None:
        """Add an edit of a file, with what the client notes of it."""
        self.call("Edit", call_id, file_path=path, old_string=old, new_string=new)
        noted = {"filePath": path, "oldString": old, "newString": new, "structuredPatch": []}
        said = "The file has been updated."
        self.result(said, call_id, failed)
        self.lines[-1]["toolUseResult"] = noted

    def result(self, text: Any, call_id: str = "t1", failed: bool = False) -> Line:
        """Add a tool's result."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
        return self.add("user", [block], toolUseResult=str(text))

    def raw(self, line: Line) -> None:
        """Add a line as it is."""
        self.lines.append(line)

    def text(self) -> str:
        """Return the transcript."""
        return "".join(json.dumps(line) + "\n" for line in self.lines)

    def write(self, path: Path) -> str:
        """Write the transcript and return its path."""
        path.write_text(self.text(), encoding="utf-8")
        return str(path)
