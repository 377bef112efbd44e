"""Whether the user asked for just what was found: who says "delete the old folder" need not be warned."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    DATA,
    DELETE,
    DISCARD,
    FORCE_PUSH,
    GUARDED,
    HISTORY,
    INFRASTRUCTURE,
    OUTSIDE,
    OVERWRITE,
    PERMISSIONS,
    PROCESSES,
    REMOTE_CODE,
    Finding,
)

MOST_PROMPTS = 4
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|,? but ")
_NEGATED = re.compile(
    r"\b(?:don['\u2019]?t|do not|never|without|avoid|must not|shouldn['\u2019]?t|no)\b",
    re.IGNORECASE,
)
_GONE = r"delet|remov|drop|clean|wip|discard|clear|purge|get rid|eras|reset|destroy|tear down|throw|undo|uninstall|prune"
_VERBS = {
    FORCE_PUSH: r"force[- ]?push|push \w* ?(?:with )?(?:--?)?force|--force|mirror|delet\w* (?:the )?(?:\w+ )?(?:branch|tag)",
    HISTORY: r"rebase|amend|squash|hard[- ]reset|reset (?:--?hard|hard|to|the branch|head|main|master)"
    r"|rewrit\w* (?:the )?history|delet\w* (?:the )?(?:\S+ )?(?:branch|tag)|filter-(?:repo|branch)",
    DISCARD: r"discard|throw (?:it |them |that )?away|revert (?:my|the|your|all|these|those|it)|hard[- ]reset"
    r"|reset (?:--?hard|hard|everything|the repo)|restore|undo|clean (?:up )?(?:the )?(?:repo|work|untracked)|drop (?:the |my )?stash",
    DELETE: _GONE,
    OVERWRITE: r"empty|truncat|overwrit|clear|reset|replac",
    DATA: _GONE + r"|truncat|flush|rollback|roll back|downgrad|recreat|reseed",
    INFRASTRUCTURE: _GONE + r"|terminat|shut down|take down|unpublish|yank|apply|deploy",
    CREDENTIALS: r"\.env|credential|secret|token|key|password|ssh|npmrc|netrc",
    PERMISSIONS: r"permission|chmod|chown|owner|writable",
    REMOTE_CODE: r"install|curl|script|set ?up",
    PROCESSES: r"kill|stop|restart|reboot|shut",
    OUTSIDE: r"",
    GUARDED: r"hook|lock ?file|\.git\b",
}
_BARE = frozenset({FORCE_PUSH, HISTORY, DISCARD, PERMISSIONS, GUARDED})
"""What is asked for without naming its target."""
_NAME = re.compile(r"[A-Za-z][\w.-]{2,}")


def is_asked(found: Finding, said: Sequence[str]) -> bool:
    """Whether one of the last prompts asks for what was found, by a verb for it and the target's name."""
    verbs = _VERBS.get(found.category)
    if verbs is None:
        return False
    names = {one.lower() for one in _NAME.findall(found.target.rsplit("/", 1)[-1])}
    for prompt in said[-MOST_PROMPTS:]:
        for sentence in _SENTENCE.split(prompt[:4_000]):
            low = sentence.lower()
            if _NEGATED.search(sentence) or not re.search(rf"\b(?:{verbs})" if verbs else "", low):
                continue
            if found.category in _BARE or any(one in low for one in names):
                return True
    return False
