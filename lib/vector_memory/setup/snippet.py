"""The hooks as settings, for those who wire them by hand: made from `hooks/hooks.json`."""

from __future__ import annotations

import json
import os
from typing import Any

PROGRAM = "${CLAUDE_PLUGIN_ROOT}/hooks/run"
Groups = list[dict[str, Any]]
"""An event's groups of hooks, as the client's settings have them."""


def render(hooks: dict[str, Groups], program: str) -> str:
    """Return settings JSON with the same hooks, run by `program`, which takes the event's name.

    Args:
        hooks: what `hooks/hooks.json` says, by event. Each of its lines is safe without the program: a shell that is
            given a script that is gone exits with 2, by which the client blocks prompts.
        program: the path of `hooks/run`, or of the shim that stays put.
    """
    hooks_by_event = {
        event: [_hook_entry(group, program) for group in groups] for event, groups in hooks.items()
    }
    return json.dumps({"hooks": hooks_by_event}, indent=2) + "\n"


def load(root: str) -> dict[str, Groups]:
    """Return the events of `hooks/hooks.json` with their groups of hooks."""
    with open(os.path.join(root, "hooks", "hooks.json"), encoding="utf-8") as file:
        hooks: dict[str, Groups] = json.load(file)["hooks"]
    return hooks


def _hook_entry(group: dict[str, Any], program: str) -> dict[str, object]:
    hooks = [
        {**hook, "args": [word.replace(PROGRAM, program) for word in hook["args"]]}
        for hook in group["hooks"]
    ]
    return {**group, "hooks": hooks}
