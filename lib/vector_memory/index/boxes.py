"""Boxes in files: what an edit of a to-do list adds to it, ticks off in it and takes out of it, word for word."""

from __future__ import annotations

from vector_memory.index.tools import clip
from vector_memory.system.json_in import Record
from vector_memory.text.statements import ITEM, statements

OPEN, TICKED, GONE = " ", "x", "-"
"""What stands in a box as a passage tells it; one that is gone is as good as ticked."""
CUT = "…"
"""How a box ends of which an edit may have named only the beginning."""
LONGEST_BOX = 300
LONGEST_EDIT = 100_000
"""Characters of an edit that is looked at."""
MOST_ADDED = 30
"""Open boxes that one edit may add: beyond it, it is a document, and nobody's list of what to do next."""
_ENDINGS = ("md", "markdown", "mdx", "org", "txt")
_COPIED = ("checklist", "example", "fixture", "template")
"""What files and folders are called whose boxes are ticked somewhere else, each time anew."""


def of_edit(file: str, cwd: str, result: Record) -> list[str]:
    """Return what an edit did to the boxes of a to-do list, as `TODO.md: [ ] buy a valve`, in their order.

    Args:
        file: relative to `cwd` where it lies below.
        cwd: the folder of the session.
        result: what the client notes of the edit; without the text that was there before, nobody knows what is new.
    """
    is_todo_list = is_list(file) and _is_in_project(file, cwd)
    before, after, is_whole = _before_and_after(result) if is_todo_list else ("", "", True)
    if len(before) + len(after) > LONGEST_EDIT:
        return []
    old_boxes, new_boxes = _boxes(before), _boxes(after)
    added = [text for text, done in new_boxes.items() if not done and old_boxes.get(text, True)]
    ticked = [text for text, done in new_boxes.items() if done and old_boxes.get(text) is False]
    gone = [text for text, done in old_boxes.items() if not done and text not in new_boxes]
    marked_texts = {TICKED: ticked, GONE: gone, OPEN: added if len(added) <= MOST_ADDED else []}
    cut_texts = {} if is_whole else {TICKED: [*new_boxes][-1:], GONE: [*old_boxes][-1:]}
    return [
        f"{file}: [{mark}] {text}{CUT if text in cut_texts.get(mark, ()) else ''}"
        for mark, texts in marked_texts.items()
        for text in texts
    ]


def box_in(line: str) -> tuple[str, str, str] | None:
    """Return the file, the mark and the text of a box as a passage tells it, None for anything else."""
    file, _, rest = line.partition(": [")
    mark, end, text = rest[:1], rest[1:3], rest[3:].strip()
    # What else was done has its tool's name before it.
    is_box = mark in (OPEN, TICKED, GONE) and end == "] " and ": " not in file and "\n" not in line
    return (file, mark, text) if is_box and text and is_list(file) else None


def is_list(file: str) -> bool:
    """Whether boxes of a file may say what is to do: it is plain text, and nothing that is copied and ticked
    elsewhere."""
    parts = file.replace("\\", "/").casefold().split("/")
    name, _, ending = parts[-1].rpartition(".")
    is_text = ending in _ENDINGS or (not name and ending.startswith("todo"))
    return is_text and not any(
        part.startswith(".") or any(word in part for word in _COPIED) for part in parts
    )


def _is_in_project(file: str, cwd: str) -> bool:
    """Whether a file lies below the folder of a session, or in one of those that this lies in."""
    path, folder = (name.replace("\\", "/").casefold() for name in (file, cwd))
    is_below = path[:1] != "/" and path[1:2] != ":"
    return is_below or f"{folder}/".startswith(f"{path.rpartition('/')[0]}/")


def _before_and_after(result: Record) -> tuple[str, str, bool]:
    """Return what an edit replaced, by what, and whether that is whole lines, as the client mostly notes them; nothing
    where it does not tell what was there before."""
    lines = [line for hunk in result.parts("structuredPatch") for line in hunk.words("lines")]
    if lines:
        removed, added = ([line[1:] for line in lines if line[:1] == sign] for sign in "-+")
        return "\n".join(removed), "\n".join(added), True
    if edits := result.parts("edits"):
        sides = ([edit.text(side) for edit in edits] for side in ("old_string", "new_string"))
        before, after = map("\n".join, sides)
        return before, after, False
    if "newString" in result:
        return result.text("oldString"), result.text("newString"), False
    before = result.text("originalFile")
    is_complete = before or result.get("type") == "create"
    return before, result.text("content") if is_complete else "", True


def _boxes(text: str) -> dict[str, bool]:
    """Return the boxes of a text, each with whether it is ticked, in their order."""
    if "[" not in text:
        return {}
    items = (item for item in statements(text) if item.form == ITEM and item.done is not None)
    return {clip(item.text, LONGEST_BOX): bool(item.done) for item in items}
