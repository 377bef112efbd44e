"""Where credentials live, and which of them a command is given. What programs do with them stands in `rules.txt`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CREDENTIALS, HIGH, LOW, Finding
from vector_memory.observe.commands.findings import CallSite as Surroundings
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS, is_like
from vector_memory.text.shell import ShellWord
from vector_memory.text.words import is_made_of

Secret = tuple[str, str]
"""How grave it is to show a file, and its absolute path."""
_LESSER_ENV = (".test", ".testing", ".ci", ".envrc")
_AT_HOME, _ENDINGS = tuple(WORDS["secret-at-home"]), tuple(WORDS["secret-ending"])


def sensitivity(path: str, site: Surroundings) -> str:
    """Return how a file at an absolute path is to be taken: HIGH or LOW for credentials, "" for others."""
    path = path.rstrip("*")
    name = posixpath.basename(path)
    if not path or is_like("open-name", name) or is_like("open-path", path) or _is_public(name):
        return ""
    if _is_env(name):
        return LOW if name.endswith(_LESSER_ENV) else HIGH
    at_home = path.startswith(site.home + "/")
    home = path[len(site.home) + 1 :] if at_home else path.partition("/root/")[2]
    if home.startswith(_AT_HOME):
        return HIGH
    if name == ".npmrc" and site.within(path) is not None:
        return LOW
    if name in ("shadow", "sudoers"):
        return HIGH if path.startswith("/etc/") else ""
    if name.endswith(_ENDINGS) and name not in WORDS["secret-file"]:
        return LOW if "/test" in path or "/fixtures/" in path else HIGH
    is_key = name in WORDS["secret-file"] or "/.ssh/" in path
    is_account = name.endswith(".json") and "service" in name and "account" in name
    return HIGH if is_key or is_account else ""


def _is_public(name: str) -> bool:
    """Whether a file is named as a public key is: "my-public-key.pem"."""
    stem, _, ending = name.rpartition(".")
    _, public, after_public = stem.rpartition("public")
    return (
        bool(public)
        and ending in ("pem", "key")
        and is_made_of(f"-{after_public}", "_-", len(name))
    )


def _is_env(name: str) -> bool:
    return name == ".envrc" or name.startswith((".env.", ".envrc.")) or name.endswith(".env")


def write_severity(path: str, site: Surroundings, adds: bool = False) -> str:
    """Return how grave it is to write a file: a `.env` that is not there yet is no loss, nor is a temporary one.

    Args:
        adds: whether what the file holds stays.
    """
    severity = "" if site.is_scratch(path) or site.was_made(path) else sensitivity(path, site)
    is_env = _is_env(posixpath.basename(path))
    return LOW if severity and is_env and (adds or not site.exists(path)) else severity


def secrets(act: Act, line: CommandLine) -> list[Secret]:
    """Return the credentials that an act is given as words or reads from a redirection."""
    words = list(act.words)
    if act.name in WORDS["searcher"] and "-e" not in act.args:
        # The first word is what is searched for.
        searched = act.operands("-A -B -C -m -f --include --exclude")[:1]
        words = [word for word in words if word not in searched]
    return [secret for word in words if (secret := _secret_in(word, act, line))] + read(act, line)


def read(act: Act, line: CommandLine) -> list[Secret]:
    """Return the credentials that an act reads from a redirection."""
    paths = [act.path(target, line.site) for sign, target in act.command.redirects if sign == "<"]
    return [(severity, path) for path in paths if (severity := sensitivity(path, line.site))]


def _secret_in(word: ShellWord, act: Act, line: CommandLine) -> Secret | None:
    text = word.text
    if not word.plain or not text or len(text) > 300 or " " in text:
        return None
    for part in (text, text.partition("@")[2], text.rpartition(":")[2], text.partition("=")[2]):
        if part and not part.startswith(("-", "http", "s/", "/^")):
            path = line.site.path(part, act.folder)
            if severity := sensitivity(path, line.site):
                return severity, path
    return None


def folders(act: Act, line: CommandLine) -> list[str]:
    """Return the folders of credentials that an act is given as words."""
    secret_folders = {f"{line.site.home}/{name}" for name in WORDS["secret-folder"]}
    return [path for word in act.words if (path := act.path(word, line.site)) in secret_folders]


def piped(act: Act, line: CommandLine) -> list[Secret]:
    """Return the credentials that come to an act through a pipe: of files, folders, the environment."""
    origins: list[str] = []
    for source in act.sources:
        origins += [*(path for _, path in secrets(source, line)), *folders(source, line)]
        is_bare = not source.texts() and not source.command.redirects
        origins += ["environment"] if source.name in WORDS["environment"] and is_bare else []
    return [(HIGH, path) for path in origins]


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials are copied, or written over by a copy."""
    if act.name not in WORDS["copier"]:
        return
    site, words = line.site, act.operands("-t -m -o -g -S")
    source, target = (act.path(word, site) for word in (words[0], words[-1])) if words else ("", "")  # fmt: skip
    if len(words) != 2 or not sensitivity(target, site) or sensitivity(source, site):
        for _, path in secrets(act, line)[:1]:
            yield act.finding(CREDENTIALS, LOW, "It copies or moves credentials.", path)
    elif site.exists(target) and not act.has("-n", "--no-clobber"):
        # `cp .env.example .env` is how a project is set up; over one that is there it destroys.
        yield act.finding(CREDENTIALS, HIGH, "It writes over credentials.", target)


def is_quiet(act: Act, line: CommandLine) -> bool:
    """Whether a program that prints changes files in place, or prints what a next one only counts."""
    readers = line.readers(act)
    counted = any(
        reader.name in WORDS["searcher"] and reader.has("-q", "-c", "-l") for reader in readers
    )
    # `cut -f1` leaves the names.
    leaves_names = (
        program.name == "cut" and "1" in (program.value("-f"), *(text[2:] for text in program.args))
        for program in (act, *readers)
    )
    return (
        counted
        or any(leaves_names)
        or any(program.name in WORDS["counting"] for program in (act, *readers))
    )


def is_consumed(act: Act, line: CommandLine) -> bool:
    """Whether another program takes what an act prints, so that nobody sees it."""
    is_read = any(other.name not in WORDS["printer"] for other in line.readers(act))
    return is_read or "$()" in act.command.via
