"""Prompts: what a user takes out of a client's menu, filled in from memory."""

from __future__ import annotations

from vector_memory.errors import NotFoundError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import NOTICE, Json, day, say
from vector_memory.mcp.resources import Page, line, list_items, pages

MOST_TO_GO = 20


def _continue(caller: Caller) -> str:
    answer = caller.ask("resume", {"but": caller.session})
    parts = ["Continue where we left off in this project.", NOTICE]
    session = answer["session"]
    if session:
        parts.append(_session_text(session))
    for title, memories in (
        ("Left to do then", session["left"] if session else []),
        ("Decided then", answer["decided"]),
        ("Open in this project", answer["open"]),
    ):
        if memories:
            parts.append("\n".join((f"{title}:", *list_items(caller, memories))))
    parts.append(
        "Say in a few sentences where we stopped and what is open. Look at the files before you rely on any of "
        "it; then go on, or ask me which of it to take up."
        if session or answer["open"]
        else "No session of this project is known, and nothing is open: say so."
    )
    return "\n\n".join(parts)


def _session_text(session: Json) -> str:
    lines = [f"Last session, {day(session['ended_at'])}:"]
    for label, words in (
        ("branch", session["branch"]),
        ("about", "; ".join(session["topics"])),
        ("I asked last", session["asked"]),
        ("you ended with", session["answered"]),
        ("files", ", ".join(session["files"])),
    ):
        if words:
            lines.append(f"- {label}: {line(words)}")
    return "\n".join(lines)


def _review(caller: Caller) -> str:
    waiting = caller.ask("review", {"k": 1})["total"]
    answer = caller.ask("prune", {"k": MOST_TO_GO})
    parts = ["Review with me what is remembered of this project.", NOTICE]
    if waiting:
        parts.append(
            f"What waits for my word alone here, proposed or captured: {waiting}. Remind me of `vector-memory review`, which I run in "
            "a terminal of my own."
        )
    if answer["memories"]:
        could_go = list_items(caller, answer["memories"])
        parts.append("\n".join((f"What could go, {answer['total']} in all:", *could_go)))
        parts.append(
            "Tell me each in a line with its reason, check in the files what can be checked, and ask me. Forget "
            "only what I name (memory_forget with its ids); mark what you found to be so or not (memory_verify)."
        )
    else:
        parts.append(
            "Nothing of it suggests itself to be forgotten. Show me what matters most (memory_recall with "
            "priorities CORE and HIGH) and ask whether it still holds."
        )
    return "\n\n".join(parts)


PROMPTS = pages({"continue": _continue, "review": _review})


def filled(caller: Caller, name: str) -> tuple[Page, str]:
    """Return a prompt and its text.

    Raises:
        NotFoundError: there is none of that name.
    """
    if prompt := PROMPTS.get(name):
        return prompt, prompt.make(caller)
    raise NotFoundError(
        f"There is no prompt {say(name)[:40]!r}.", f"Prompts: {', '.join(PROMPTS)}."
    )
