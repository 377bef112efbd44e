"""By what name a command line is known again from run to run: as it is called here, without what stands
around it and how much it tells."""

from __future__ import annotations

from vector_memory.index import tools
from vector_memory.index.fixes import commands
from vector_memory.text import tables

LONGEST = 90
_WORDS_OF = tables.sets("command_words")
_PASSING = _WORDS_OF["passing"]
"""Programs whose outcome is of the moment: nothing is expected of the next time."""
_MANNERS = _WORDS_OF["manners"]


def command_name(command: str) -> str:
    """Return by what name a command line is known; "" for one whose outcome is of the moment, that is
    several commands, or whose exit code is lost."""
    told = commands.acting(command)
    if len(told) != 1 or told[0].is_masked or told[0].is_inline or told[0].program in _PASSING:
        return ""
    said = commands.bare(command)
    if len(said) > LONGEST or "<<" in said:
        return ""
    words = tools.clip(said, LONGEST).split()
    kept = [word for word in words if word not in _MANNERS and not word.startswith("--tb")]
    return " ".join(kept)
