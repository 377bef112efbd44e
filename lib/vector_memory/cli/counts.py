"""What the counters mean, in words."""

from __future__ import annotations

from collections.abc import Mapping

from vector_memory.cli.answers import Row

TROUBLE = {
    "hooks_late": "hooks ended at their deadline without an answer",
    "answers_too_late": "answers of the daemon came after the hook had stopped waiting",
    "answers_unread": "answers were not read by their hook: what they told may be told again",
    "hooks_failed": "hooks failed and said nothing",
    "hook_inputs_broken": "hook inputs could not be read",
    "errors": "errors (logs/daemon.log has them)",
    "texts_dropped": "texts were dropped because they could not be checked for secrets",
    "events_set_aside": "events were set aside after failing three times",
    "jobs_failed": "upkeep jobs failed (`vector-memory jobs`)",
    "archives_failed": "sessions could not be archived",
    "daily_notes_failed": "daily notes could not be written",
    "client_memory_skipped": "pages of the client's own memory could not be read",
    "observer_failed": "tool calls could not be watched",
    "flags_dropped": "flags were not kept: a session or the buffer had too many",
    "facade_failed": "searches got no memory because looking for it failed",
    "quarantined": "memories are held back until somebody has looked at them",
}
"""Counters of what should not happen, or seldom."""
USUAL = {
    "injections": "times memories were put before the model",
    "memories_shown": "memories were put before the model",
    "memories_used": "of them came up in what it did next",
    "hooks_without_daemon": "hooks found no daemon, or waited for it in vain",
    "prompts_from_files": "prompts were answered without a daemon, by words alone",
    "starts_from_snapshot": "sessions started from a snapshot, without a daemon",
    "redactions": "secrets were taken out",
    "fixes_learned": "fixes of errors were learned",
    "fixes_shown": "fixes were shown with an error",
    "fixes_helped": "fixes helped",
    "fixes_failed": "fixes did not help",
    "failures_unknown": "errors had no known fix",
    "facade_searches": "searches were looked at",
    "facade_spoke": "searches were told what is known",
    "facade_served": "searches were answered from memory",
    "ideas_merged": "ideas said what another said",
    "ideas_superseded": "ideas gave way to another",
    "ideas_linked": "ideas were linked",
    "flags_recorded": "tool calls were flagged",
    "observer_warnings": "warnings of tool calls were given",
    "ideas_extracted": "ideas were found by a language model",
}
"""Counters of what happens all the time."""
_HOOK = "hook_"


def told(counters: Mapping[str, object], names: Mapping[str, str]) -> list[str]:
    """Return the counters of these names that count anything, in words."""
    return [
        f"{number(counters[name]):,} {words}"
        for name, words in names.items()
        if number(counters.get(name))
    ]


def usual(counters: Mapping[str, object]) -> list[str]:
    """Return what happens all the time, in words: the hooks together, then the rest, counters that no
    word is known for by their names."""
    hooks = sum(
        number(count)
        for name, count in counters.items()
        if name.startswith(_HOOK) and name not in TROUBLE
    )
    unknown = {
        name: name
        for name in counters
        if name not in TROUBLE and name not in USUAL and not name.startswith(_HOOK)
    }
    first = [f"{hooks:,} hooks were answered"] if hooks else []
    return first + told(counters, USUAL) + told(counters, unknown)


def uses(found: Row) -> str:
    """Return in words how much of what was shown was used; "" where nothing is known."""
    shown, used, days = found.count("shown"), found.count("used"), found.count("days")
    if not shown:
        return ""
    return f"used: {used:,} of {shown:,} shown ({100 * used / shown:.0f} %) in the last {days} days"


def number(value: object) -> int:
    """Return a count, 0 for what is none."""
    return value if isinstance(value, int) else 0
