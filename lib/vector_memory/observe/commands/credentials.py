"""Where credentials live, and what would show, send or change them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from vector_memory.observe.commands.acts import MOST_WHAT, WRITING, Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    HIGH,
    LOW,
    CommandSurroundings,
    Finding,
)
from vector_memory.observe.commands.words import WORDS

Secret = tuple[str, str]
"""How grave it is to show a file, and its absolute path."""
_EXAMPLE = re.compile(
    r"\.(?:example|sample|template|dist|tpl|defaults?|schema|md)$|example|sample|template|fixture|/testdata/|/mocks?/"
)
_ENV = re.compile(r"^\.env(?:rc)?(?:\..+)?$|^.+\.env$")
_HARMLESS = re.compile(
    r"\.pub$|/known_hosts(?:\.old)?$|/\.ssh/config$|/\.ssh/?$|\.pub\.pem$|/(?:ca|cert|certs?|public|chain|fullchain|ca-bundle|cacert)\.(?:pem|key)$|-cert\.pem$|_pub\.pem$|public[\w-]*\.(?:pem|key)$|/node_modules/|/site-packages/|certifi"
)
_LESSER_ENV = (".test", ".testing", ".ci", ".envrc")
_AT_HOME, _ENDINGS = tuple(WORDS["secret-at-home"]), tuple(WORDS["secret-ending"])
_QUIET = frozenset({"-q", "--quiet", "-c", "--count", "-l", "--files-with-matches", "-L"})
_COUNTING = frozenset({"wc", "sha256sum", "md5sum", "shasum", "cmp", "diff"})
_MASKED = re.compile(r"=\.\*/=|\*{3}|REDACTED|print \$1\b|^s/=.*")
_SECRET_NAME = re.compile(
    r"\$\{?\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\w*",
    re.I,
)
_LENGTH = re.compile(r"\$\{#|\$\{\w+:[+]|\$\{\w+:0:\d\}")
_SHOWS, _SENDS = "It shows credentials.", "It sends credentials to a server."


def sensitivity(path: str, around: CommandSurroundings) -> str:
    """Return how a file at an absolute path is to be taken: HIGH or LOW for credentials, "" for others."""
    path = path.rstrip("*")
    name = posixpath.basename(path)
    if not path or _EXAMPLE.search(name) or _HARMLESS.search(path):
        return ""
    if _ENV.match(name):
        return LOW if name.endswith(_LESSER_ENV) else HIGH
    at_home = path.startswith(around.home + "/")
    home = path[len(around.home) + 1 :] if at_home else path.partition("/root/")[2]
    if home.startswith(_AT_HOME):
        return HIGH
    if name == ".npmrc" and around.within(path) is not None:
        return LOW
    if name in ("shadow", "sudoers"):
        return HIGH if path.startswith("/etc/") else ""
    if name.endswith(_ENDINGS) and name not in WORDS["secret-file"]:
        return LOW if "/test" in path or "/fixtures/" in path else HIGH
    is_key = name in WORDS["secret-file"] or "/.ssh/" in path
    return HIGH if is_key or re.search(r"service[-_]account.*\.json$", name) else ""


def changed(path: str, around: CommandSurroundings) -> str:
    """Return how grave it is to write a file: a `.env` that is not there yet is no loss, nor is a temporary one."""
    severity = "" if around.is_scratch(path) or around.was_made(path) else sensitivity(path, around)
    is_new = _ENV.match(posixpath.basename(path)) and not around.exists(path)
    return LOW if severity and is_new else severity


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials an act shows, sends, changes or copies."""
    yield from _written(act, line)
    yield from _printed(act, line)
    name = act.name
    if name in WORDS["sender"] - {"gh"}:
        yield from _piped(act, line)
    if name in WORDS["archiver"] | WORDS["sender"] | WORDS["copier"]:
        severity = HIGH if name in ("scp", "rsync", "rclone", "sftp") else LOW
        folders = [(severity, path) for path in _folders(act, line)]
        yield from _each(act, folders, "It copies a folder of credentials.")
    read = [
        (sensitivity(path, line.around), path)
        for sign, target in act.command.redirects
        if sign == "<" and (path := line.around.path(target.text, act.folder))
    ]
    secrets = [*_secrets(act, line), *(secret for secret in read if secret[0])]
    if not secrets or act.has("--help"):
        return
    if name in WORDS["copier"]:
        yield from _copied(act, secrets, line)
    elif name == "ssh-keygen":
        if act.value("-f") and not act.has("-l", "-y", "-R", "-F", "-e"):
            why = "It writes a key, over one that may be there."
            yield from _each(act, [(LOW, path) for _, path in secrets], why)
    elif why := _why(act, secrets, bool(read), line):
        yield from _each(act, secrets, why)


def _why(act: Act, secrets: list[Secret], read: bool, line: CommandLine) -> str:
    """Return what an act does to the credentials that it is given, "" for nothing."""
    name = act.name
    if name in WORDS["printer"]:
        return "" if _is_quiet(act, line) else _SHOWS
    if name in WORDS["searcher"]:
        # The first word is what is searched for.
        searched = act.operands("-A -B -C -m -e -f --include --exclude")[1:]
        is_read = any(act.path(word, line.around) == secrets[0][1] for word in searched)
        return _SHOWS if ("-e" in act.args or is_read) and not act.options & _QUIET else ""
    if name in WORDS["sender"]:
        return _SENDS if name != "aws" else ""
    if name in ("rm", "unlink", "shred", "truncate"):
        return "It deletes credentials."
    if name == "git" and act.args[:1] == ("add",):
        return "It puts credentials under version control."
    echoing = any(other.name in ("echo", "printf") for other in line.acts)
    if (
        name == "git"
        and act.args[:1] in (("show",), ("cat-file",))
        or read
        and (name in ("echo", "printf") or name == "read" and echoing)
    ):
        return _SHOWS
    return ""


def _secrets(act: Act, line: CommandLine) -> Iterator[Secret]:
    """Yield the credentials that an act is given as words."""
    for word in act.words:
        text = word.text
        if not word.plain or not text or len(text) > 300 or " " in text:
            continue
        parts = (text, text.partition("@")[2], text.rpartition(":")[2], text.partition("=")[2])
        for part in dict.fromkeys(parts):
            if part and not part.startswith(("-", "http", "s/", "/^")):
                path = line.around.path(part, act.folder)
                if severity := sensitivity(path, line.around):
                    yield severity, path
                    break


def _folders(act: Act, line: CommandLine) -> Iterator[str]:
    """Yield the folders of credentials that an act is given as words."""
    folders = {f"{line.around.home}/{name}" for name in WORDS["secret-folder"]}
    for word in act.words:
        path = line.around.path(word.text, act.folder) if word.plain and len(word.text) < 300 else ""  # fmt: skip
        if path in folders:
            yield path


def _piped(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials come to a sender through a pipe: a file's, a folder's, the environment's."""
    for source in act.sources:
        given = [path for _, path in _secrets(source, line)] + list(_folders(source, line))
        is_bare = not source.texts() and not source.command.redirects
        if source.name in WORDS["environment"] and is_bare:
            given.append("environment")
        if given:
            yield from _each(act, [(HIGH, path) for path in given], _SENDS)
            return


def _each(act: Act, secrets: Iterable[Secret], why: str) -> Iterator[Finding]:
    for severity, path in secrets:
        yield act.found(CREDENTIALS, severity, why, path)


def _is_quiet(act: Act, line: CommandLine) -> bool:
    """Whether a program that prints changes files in place, or prints what a next one only counts."""
    if act.name == "openssl":
        is_key = act.has("-text") or act.args[:1] in (("rsa",), ("pkey",))
        return not is_key or act.has("-noout")
    if _hides(act) or act.name == "sed" and act.has("-i", "--in-place"):
        return True
    return any(
        other.name in _COUNTING
        or other.name in WORDS["searcher"]
        and other.has("-q", "-c", "-l")
        or _hides(other)
        for other in line.readers(act)
    )


def _hides(act: Act) -> bool:
    """Whether an act leaves only names of what it reads."""
    if act.name == "cut":
        return act.value("-f") == "1" or "-f1" in act.args
    return act.name in ("sed", "awk") and any(_MASKED.search(text) for text in act.args)


def _copied(act: Act, secrets: list[Secret], line: CommandLine) -> Iterator[Finding]:
    words = act.operands("-t -m -o -g -S")
    target = act.path(words[-1], line.around) if words else ""
    source = act.path(words[0], line.around) if words else ""
    if len(words) != 2 or not sensitivity(target, line.around) or sensitivity(source, line.around):
        copied = [(LOW, path) for _, path in secrets[:1]]
        yield from _each(act, copied, "It copies or moves credentials.")
    elif line.around.exists(target) and not act.has("-n", "--no-clobber"):
        # `cp .env.example .env` is how a project is set up; over one that is there it destroys.
        yield act.found(CREDENTIALS, HIGH, "It writes over credentials.", target)


def _written(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials a redirection, `tee` or an edit in place changes."""
    targets = [(sign, target) for sign, target in act.command.redirects if sign in WRITING]
    if act.name == "tee":
        targets += [(">>" if act.has("-a", "--append") else ">", word) for word in act.operands()]
    for sign, target in targets:
        path = line.around.path(target.text, act.folder) if target.plain else ""
        severity = changed(path, line.around)
        if severity:
            is_added = ">>" in sign and _ENV.match(posixpath.basename(path))
            what = act.what if target.text in act.what else f"{act.what} {sign} {target.text}"
            yield Finding(CREDENTIALS, LOW if is_added else severity, what, "It writes credentials.", path)  # fmt: skip
    if act.name in ("sed", "perl") and any(
        re.match(r"-\w*i|--in-place", text) for text in act.args
    ):
        edited = [(changed(path, line.around), path) for _, path in _secrets(act, line)]
        yield from _each(act, [one for one in edited if one[0]], "It changes credentials.")


def is_consumed(act: Act, line: CommandLine) -> bool:
    """Whether another program takes what an act prints, so that nobody sees it."""
    taken = any(other.name not in WORDS["printer"] for other in line.readers(act))
    return taken or "$()" in act.command.via


def _printed(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which variables that hold a secret are printed."""
    if act.name in ("echo", "printf") and not act.command.redirects:
        for word in act.words:
            is_secret = not word.plain and _SECRET_NAME.search(word.text)
            if is_secret and not _LENGTH.search(word.text) and not is_consumed(act, line):
                yield act.found(CREDENTIALS, LOW, "It prints a secret.", word.text[:MOST_WHAT])
