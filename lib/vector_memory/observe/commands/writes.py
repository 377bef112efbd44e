"""Which files a redirection, `tee` or a tool of the client would empty or replace, and what lies outside the project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands import findings
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.credentials import write_severity
from vector_memory.observe.commands.files import is_made_again
from vector_memory.observe.commands.findings import HIGH, LOW, Finding
from vector_memory.observe.commands.findings import CallSite as Surroundings
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.text.shell import WRITING

Loss = tuple[str, str, str]
_DISKS = tuple(f"/dev/{name}" for name in WORDS["disk"])
_PIPELINES = tuple(WORDS["pipeline"])
_PRECIOUS = tuple(WORDS["precious-ending"])
_MACHINE = tuple(WORDS["machine-folder"])
_READING = WORDS["printer"] | WORDS["searcher"] | WORDS["passing"] - {"tee"}
_LEAKING = re.compile(r"(?:echo|printf|curl|wget|cat)\b[^\n]*(?:\$\{\{\s*secrets\.|\$\{?\w*(?:SECRET|TOKEN|PASSWORD)\w*)", re.IGNORECASE)  # fmt: skip


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a redirection or `tee` empties or replaces."""
    site = line.site
    targets = [(sign, word) for sign, word in act.command.redirects if sign.lstrip("12") in WRITING]
    if act.name == "tee":
        targets += [(">>" if act.has("-a", "--append") else ">", word) for word in act.operands()]
    for sign, word in targets:
        path = site.path(word.text, act.folder) if word.plain and word.text else ""
        excerpt = act.excerpt if word.text in act.excerpt else f"{act.excerpt} {sign} {word.text}"
        if path.startswith(_DISKS):
            yield Finding(findings.DELETE, HIGH, excerpt, "It writes over a whole disk.", path)
        elif path:
            lost = loss(path, site, act.command.given, ">>" in sign, _prints_nothing(act))
            if lost is None and ">>" not in sign and not is_made_again(path, site):
                lost = _replacement_loss(act, path, line)
            if lost and (not act.elsewhere or lost[0] == findings.CREDENTIALS):
                yield Finding(lost[0], lost[1], excerpt, lost[2], path)


def _replacement_loss(act: Act, path: str, line: CommandLine) -> Loss | None:
    inner = line.site.within(path) or ""
    # The shell empties what is written before the first program reads.
    readers = [program for program in (act, *act.sources) if program.name in _READING]
    if any(path == reader.path(word, line.site) for reader in readers for word in reader.words):
        return findings.OVERWRITE, HIGH, "It empties the file that it reads."
    if path.endswith(_PRECIOUS):
        return findings.OVERWRITE, HIGH, "It writes over a database or git's settings."
    if inner.startswith(_PIPELINES) and act.name in ("echo", "printf"):
        return findings.OVERWRITE, HIGH, "It replaces what builds and deploys the project."
    return None


def loss(path: str, site: Surroundings, text: str, adds: bool, empties: bool) -> Loss | None:
    """Return what is lost where a file is written: the category, how grave it is, why; None for nothing.

    Args:
        path: the file's absolute path.
        text: what is written, where the call tells it.
        adds: whether what the file holds stays. empties: whether nothing is written.
    """
    name, inner = posixpath.basename(path), site.within(path)
    if severity := write_severity(path, site, adds):
        return findings.CREDENTIALS, severity, "It changes credentials."
    if path.startswith("/dev/") or is_made_again(path, site):
        return None
    if inner is None:
        severity = _outside_severity(path, site.home, adds)
        return (findings.OUTSIDE, severity, "It changes a file outside the project.") if severity else None  # fmt: skip
    if inner.startswith(".git/"):
        return findings.GUARDED, HIGH, "It changes git's own files."
    if name in WORDS["lock-file"]:
        return findings.GUARDED, LOW, "A package manager writes this file."
    if inner.startswith(_PIPELINES) and _LEAKING.search(text):
        return findings.CREDENTIALS, HIGH, "The pipeline would print or send its secrets."
    is_there = posixpath.splitext(name)[1] or site.exists(path)
    if empties and is_there and name not in WORDS["empty-by-right"]:
        return findings.OVERWRITE, HIGH, "It empties a file."
    return None


def _prints_nothing(act: Act) -> bool:
    """Whether an act prints nothing."""
    if act.name == "tee" or act.name == "cat" and not act.args:
        is_null = ("<", "/dev/null") in ((sign, file.text) for sign, file in act.command.redirects)
        return is_null or act.feeding is not None and _prints_nothing(act.feeding)
    if act.command.given or act.feeding is not None:
        return False
    if act.name in ("echo", "printf"):
        return bool(act.args) and not any(act.texts())
    return act.name in (":", "true") or act.name == "cat" and act.args == ("/dev/null",)


def _outside_severity(path: str, home: str, adds: bool) -> str:
    """Return how grave it is to write a file outside the project: the client's own plans and notes are nobody's."""
    is_setting = path.endswith(("/.claude/settings.json", "/.claude/settings.local.json"))
    is_notes = "/.claude/plans/" in path or "/.claude/projects/" in path
    if (is_notes or path.startswith(f"{home}/.claude/")) and not is_setting:
        return ""
    is_of_shell = posixpath.basename(path) in WORDS["shell-file"]
    return HIGH if not adds and (is_setting or is_of_shell or path.startswith(_MACHINE)) else LOW
