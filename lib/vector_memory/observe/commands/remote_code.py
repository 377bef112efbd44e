"""Where code from the network is run as it comes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import HIGH, LOW, REMOTE_CODE, Finding
from vector_memory.observe.commands.simple_command import MOST_WHAT, Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.shell import SHELLS, parse

_WHY = "It runs what a server sends, unread."
MOST_WORD = 4_096
"""Of a word that holds a script: who nests more means to keep a reader busy."""
_LOCAL = ("://localhost", "://127.", "://[::1]", "://0.0.0.0")
_INTERPRETERS = WORDS["interpreter"] | SHELLS


def is_local(text: str) -> bool:
    """Whether a text names a server of this machine."""
    return any(place in text for place in _LOCAL)


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield where code from the network is run as it comes."""
    program = act.command.words[0]
    is_script = not program.plain and len(program.text) < MOST_WORD
    fetched = parse(program.text) if is_script else ()
    if any(command.name in WORDS["fetcher"] for command in fetched):
        yield act.finding(REMOTE_CODE, HIGH, _WHY, program.text[:MOST_WHAT])
    elif act.name in _INTERPRETERS and act.sources and _reads_script(act):
        yield from _judge_pipe(act)
    elif saved := _saved_before(act, line):
        yield act.finding(REMOTE_CODE, HIGH, "It runs what a server sent, unread.", saved)


def _judge_pipe(act: Act) -> Iterator[Finding]:
    """Yield where an interpreter runs what a pipe brings."""
    source = next(
        (candidate for candidate in act.sources if candidate.name not in WORDS["passing"]),
        act.sources[-1],
    )
    if source.name in WORDS["fetcher"]:
        address = next((text for text in source.args if "://" in text), "".join(source.texts()[:1]))
        severity = LOW if is_local(address) else HIGH
        yield Finding(REMOTE_CODE, severity, f"{source.excerpt} | {act.name}", _WHY, address)


def _reads_script(act: Act) -> bool:
    """Whether an interpreter runs its input: it is given neither a script nor code."""
    if act.has("-s", "-") and act.name in SHELLS:
        return True
    if act.has("-c", "-e", "-m", "-n", "-p", "-r", "-ne", "-pe"):
        return False
    return "-" in act.args or all(text.startswith("-") for text in act.args)


def _saved_before(act: Act, line: CommandLine) -> str:
    """Return the file that the line fetched before and an act runs: `curl -o x URL && sh x`; "" without one."""
    script = act.program if act.program.startswith(("./", "/")) else ""
    if act.name in _INTERPRETERS:
        script = next((text for text in act.args if not text.startswith("-")), "")
    name = posixpath.basename(script) if not act.has("-n") else ""
    for other in line.before(act) if name else ():
        saved = [*other.args, *(target.text for _, target in other.command.redirects)]
        if other.name in WORDS["fetcher"] and any(
            posixpath.basename(text) == name for text in saved
        ):
            return script
    return ""
