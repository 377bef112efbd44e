"""A search's result with memory on top of it, in the shape that the tool itself gives: the client takes no
other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_memory(tool: str, response: Any, told: str) -> Any:
    """Return a result with what is known on top of it, None where its shape is not known.

    Args:
        tool: the tool's name.
        response: what it gave, in its own shape; it is not changed.
        told: what is known, fenced.
    """
    if not isinstance(response, dict):
        return None
    if tool == "Bash":
        return _of_shell(response, told)
    return _of_grep(response, told) if tool == "Grep" else None


def _of_shell(response: Mapping[str, object], told: str) -> dict[str, object] | None:
    printed = response.get("stdout")
    if not isinstance(printed, str) or response.get("isImage"):
        return None
    return {**response, "stdout": _on_top(told, printed)}


def _of_grep(response: Mapping[str, object], told: str) -> dict[str, object] | None:
    """Lines that were found are text, so that memory goes before them. A list of files is given as lines, since
    what stands in the list would be taken for a file."""
    mode, content, files = (response.get(one) for one in ("mode", "content", "filenames"))
    if mode in ("content", "count") and isinstance(content, str):
        return {**response, "content": _on_top(told, content)}
    if mode != "files_with_matches" or not isinstance(files, list):
        return None
    lines = [str(one) for one in files] or ["No files found"]
    return {
        **response,
        "mode": "content",
        "content": _on_top(told, "\n".join(lines)),
        "numLines": len(lines),
    }


def _on_top(told: str, printed: str) -> str:
    return f"{told}\n{printed}" if printed else told
