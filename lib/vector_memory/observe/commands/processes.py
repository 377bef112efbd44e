"""Whether processes are ended by a name that others have, too: by that name, or by a search for it that nothing narrows."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.text import shell


def is_broad(act: Act, takes: str) -> bool:
    """Whether a command names processes by a name that others have, too."""
    texts = (text.replace("[", "").replace("]", "") for text in act.texts(takes))
    names = [name.strip("^$ ").lower().removesuffix(".exe") for name in texts]
    if not names:
        return act.has("-u", "-U", "--user")
    return any(name in WORDS["broad-process"] or not any(map(str.isalnum, name)) for name in names)


def is_searched(act: Act) -> bool:
    """Whether a command ends the processes that a search for such a name gives: all at once, or one by one in a loop."""
    if _signal(act) in WORDS["mild-signal"]:
        return False
    pipes: list[Sequence[Act]] = [act.sources[::-1]]
    filled = (word.text for word in act.words if not word.plain and word.text[:1] in "$`")
    for commands in (shell.parse(text[1 + text.startswith("$(") : -1]) for text in filled):
        ends = (place for place, command in enumerate(commands) if place and not command.piped)
        pipe = commands[: next(ends, len(commands))]
        pipes.append([Act(command, command.name, command.arguments) for command in pipe])
    return any(map(_is_search, pipes))


def _signal(act: Act) -> str:
    """Return the signal that `kill` is to send, "" where it names none: `-9`, `-s CONT`."""
    first = next(iter(act.args), "")
    named = act.value("-s", "-n") or first.removeprefix("-") * first.startswith("-")
    return named.upper().removeprefix("SIG")


def _is_search(pipe: Sequence[Act]) -> bool:
    """Whether a pipe gives all processes of such a name: `pgrep -f node`, `ps aux | grep node | awk '{print $2}'`."""
    if not pipe:
        return False
    head, *behind = pipe
    searches = [head]
    if head.name == "ps" and _lists_all(head):
        searches = [act for act in behind if act.name in WORDS["line-search"] and not act.has("-v")]
    elif head.name not in WORDS["process-search"]:
        return False
    filters = [act for act in behind if act not in searches]
    return bool(searches) and all(map(_is_plain, searches)) and all(map(_keeps_lines, filters))


def _is_plain(search: Act) -> bool:
    """Whether a search is for such a name alone, and no option narrows it."""
    plain_letters = {*"aeEfFilwx"} if search.name != "pidof" else {"x"}
    is_alone = all(
        option in WORDS["plain-search"]
        or option.startswith("-d")
        or plain_letters.issuperset(option[1:])
        for option in search.args
        if option.startswith("-")
    )
    return is_alone and is_broad(search, "-d --delimiter")


def _lists_all(act: Act) -> bool:
    """Whether `ps` is asked for every process: `aux`, `-ef`, `-A`, `-axo pid,args`."""
    letters = {letter for text in act.args if text.startswith("-") and text[1:].isalpha() for letter in text}  # fmt: skip
    bsd_options = next((text for text in act.args[:1] if text.isalpha()), "")
    return not letters.isdisjoint("eA") or {"a", "x"} <= letters or {"a", "x"} <= {*bsd_options}


def _keeps_lines(act: Act) -> bool:
    """Whether a program in a pipe hands all lines on, or all but some, whatever becomes of their columns and their order."""
    if act.name in ("awk", "gawk"):
        script = "".join(act.texts("-F -v")[:1])
        return script.replace(" ", "").startswith("{print")
    is_without = act.name in WORDS["line-search"] and act.has("-v")
    return is_without or act.name in WORDS["line-passing"]
