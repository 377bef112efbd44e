"""When a memory may stand in a search's place (`facade` set to `serve`), and what running sessions changed in their
present turn, in memory alone: whoever edits needs the files as they are, not what was remembered of them."""

from __future__ import annotations

import os
from collections.abc import Collection

from vector_memory import model
from vector_memory.model import Memory
from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.intent import changes
from vector_memory.observe.search.pattern_terms import SearchTerms
from vector_memory.observe.search.searches import SearchCall
from vector_memory.service.base.context import Context
from vector_memory.service.tools import file_changes
from vector_memory.service.tools.tool_call import ToolCall
from vector_memory.text.harmless import is_marked

TITLE = (
    "Not searched: this is known of it, and the files named are unchanged since. "
    "Search again, the same way, for the real result."
)
KINDS = frozenset(
    {model.DECISION, model.SOLUTION, model.CONCLUSION, model.CAUSE, model.PROCEDURE, "note", "fix"}
)
"""Kinds of memories that may stand in a search's place."""
MOST_FILES = 200
"""Edited files that are known of a session, the newest."""


def note_edits(ctx: Context, call: ToolCall) -> None:
    """Note which files a call is about to change, and in which turn."""
    site = CallSite(call.folder, call.cwd, os.path.expanduser("~"))
    view = changes.of_call(call.tool, call.input, site)
    for change in view.changes:
        if change.kind in changes.FILE_KINDS:
            _edits(ctx, call)[os.path.normpath(change.path)] = call.prompt


def _edits(ctx: Context, call: ToolCall) -> dict[str, str]:
    """Return the files that a session edited, by their paths, each with the turn in which it did so last."""
    edits: dict[str, str] = ctx.running.session("edits", call.session, dict)
    for path in list(edits)[:-MOST_FILES]:
        edits.pop(path, None)
    return edits


def may_answer(
    ctx: Context,
    call: ToolCall,
    search_call: SearchCall,
    wanted: SearchTerms,
    memory: Memory,
    states: Collection[str],
) -> bool:
    """Whether a memory that names all that is looked for may stand in the search's place: it says where, its
    files are as they were, and neither a subagent nor an edit waits for the real result.

    Args:
        states: what became of the memory's files.
    """
    return (
        search_call.alone
        and not call.agent
        and bool(call.prompt)
        and memory.kind in KINDS
        and memory.trust > 0
        and not is_marked(memory.text)
        and set(states) == {file_changes.SAME}
        and not _is_editing(ctx, call, wanted)
    )


def _is_editing(ctx: Context, call: ToolCall, wanted: SearchTerms) -> bool:
    """Whether the session edited anything in this turn, or ever what is searched."""
    edits = dict(_edits(ctx, call))
    places = (os.path.join(call.cwd, os.path.expanduser(place)) for place in wanted.places)
    searched = [os.path.normpath(place) for place in places]
    return call.prompt in edits.values() or any(
        file == path or file.startswith(path + os.sep) for file in edits for path in searched
    )
