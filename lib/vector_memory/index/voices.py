"""Who says what in stored passages: what begins with "User: ", "Assistant: ", "Task: " or "Done: "."""

from __future__ import annotations

import re
from typing import NamedTuple

from vector_memory.text import harmless

USER, ASSISTANT, TASK, DONE = "user", "assistant", "task", "done"
"""Who speaks; `TASK` is a program in the user's place, and after `DONE` stands what was done."""

_HEAD = re.compile(r"(?m)^(User|Assistant|Task|Done)(?:: |, refusing |'s answers: |(, planning): )")
_REFUSED_STEP = re.compile(
    r"(User, refusing (?:ExitPlanMode(?=: )|.{0,400}?(?=: (?:[^:\n]|:(?! ))*(?:\n|\Z)))): "
)
"""What was refused may hold a colon and a space ("Bash: git push"), but for a plan: the reason is what stands behind the
last one."""


class Voice(NamedTuple):
    """What one says at once: `who` it is, "" for what goes on from before the text begins; `refusal` is what the
    user refused with it, "" for nothing; `is_plan` says that it is put to the user to be agreed to."""

    who: str
    refusal: str
    text: str
    is_plan: bool = False


def voices(text: str) -> list[Voice]:
    """Return who says what in a text, in order. Others' words between marks are left out, and so is who then says
    nothing."""
    text = harmless.without_marked(text)
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    spoken = [Voice("", "", text[: heads[0].start() if heads else None].strip())]
    for head, end in zip(heads, ends, strict=False):
        refused = _REFUSED_STEP.match(text, head.start(), end)
        start = refused.end() if refused else head.end()
        refusal, is_plan = refused[1] if refused else "", bool(head[2])
        spoken.append(Voice(head[1].lower(), refusal, text[start:end].strip(), is_plan))
    return [voice for voice in spoken if voice.text]
