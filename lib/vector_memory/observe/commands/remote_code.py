"""Where code from the network, or code that nobody can read, is run as it comes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.acts import MOST_WHAT, Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import HIGH, LOW, REMOTE_CODE, Finding
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.shell import SHELLS, ShellWord

_WHY = "It runs what a server sends, unread."
_FETCHED = re.compile(r"(?:\$\(|`|<\()\s*(?:sudo\s+)?(?:curl|wget)\b")
_LOCAL = ("://localhost", "://127.", "://[::1]", "://0.0.0.0")
_INTERPRETERS = WORDS["interpreter"] | SHELLS
_ON_THE_SPOT = frozenset({"iex", "invoke-expression"})


def is_local(text: str) -> bool:
    """Whether a text names a server of this machine."""
    return any(place in text for place in _LOCAL)


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield where code from the network is run as it comes."""
    if text := _given(act):
        yield act.found(REMOTE_CODE, HIGH, _WHY, text[:MOST_WHAT])
    elif act.name in _INTERPRETERS and act.sources and _reads_script(act):
        yield from _piped(act)
    elif saved := _saved_before(act, line):
        yield act.found(REMOTE_CODE, HIGH, "It runs what a server sent, unread.", saved)


def _given(act: Act) -> str:
    """Return the word that a download stands for and that is run, "" without one."""
    first = act.command.words[0]
    if not first.plain and _FETCHED.match(first.text):
        return first.text
    for word in act.words if act.name in _INTERPRETERS | {"source", ".", "eval"} else ():
        is_code = word.text.startswith("<(") or act.name == "eval" or act.has("-c", "-e", "-r")
        if not word.plain and is_code and _FETCHED.match(word.text):
            return word.text
    return ""


def _piped(act: Act) -> Iterator[Finding]:
    """Yield where an interpreter runs what a pipe brings."""
    nearest = act.sources[0]
    source = next((one for one in act.sources if one.name not in WORDS["passing"]), act.sources[-1])
    if source.name in WORDS["fetcher"]:
        address = next((text for text in source.args if "://" in text), "".join(source.texts()[:1]))
        severity = LOW if is_local(address) else HIGH
        yield Finding(REMOTE_CODE, severity, f"{source.what} | {act.name}", _WHY, address)
    elif hidden.is_decoding(" ".join((nearest.name, *nearest.args))):
        why, what = "It runs what nobody can read here.", f"{nearest.what} | {act.name}"
        yield Finding(REMOTE_CODE, LOW, what, why, nearest.what[:MOST_WHAT])


def _reads_script(act: Act) -> bool:
    """Whether an interpreter runs its input: it is given neither a script nor code."""
    if act.name in _ON_THE_SPOT or act.has("-s", "-") and act.name in SHELLS:
        return True
    if act.has("-c", "-e", "-m", "-n", "-p", "-r", "-ne", "-pe"):
        return False
    return "-" in act.args or all(text.startswith("-") for text in act.args)


def _saved_before(act: Act, line: CommandLine) -> str:
    """Return the file that the line fetched before and an act runs: `curl -o x URL && sh x`; "" without one."""
    script = act.program if act.program.startswith(("./", "/")) else ""
    if act.name in _INTERPRETERS:
        script = next((text for text in act.args if not text.startswith("-")), "")
    path = line.around.path(script, act.folder) if script else ""
    for other in line.before(act) if path else ():
        for target in _files_of(other) if other.name in WORDS["fetcher"] else ():
            if other.path(target, line.around) == path:
                return target.text
    return ""


def _files_of(act: Act) -> list[ShellWord]:
    """Return the files that a download is written to."""
    bundled = next((text for text in act.args if re.fullmatch(r"-[A-Za-z]+o", text)), "-o")
    saved = act.value("-o", "--output", "-O", "--output-document", bundled)
    if not saved and act.name == "wget" or act.has("-O", "--remote-name") and "://" in (saved or "://"):  # fmt: skip
        saved = next((text.rpartition("/")[2] for text in act.args if "://" in text), "")
    redirected = [target for sign, target in act.command.redirects if sign == ">"]
    return [ShellWord(saved), *redirected]
