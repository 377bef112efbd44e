"""What would harm the machine: its processes, its disks, its permissions, code that nobody has read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.command_line import MOST_WHAT, Act, CommandLine
from vector_memory.observe.commands.files import is_made_again
from vector_memory.observe.commands.findings import (
    DELETE,
    GUARDED,
    HIGH,
    LOW,
    OUTSIDE,
    OVERWRITE,
    PROCESSES,
    REMOTE_CODE,
    Finding,
)
from vector_memory.text.shell import SHELLS

_FETCHERS = frozenset(
    {"curl", "wget", "fetch", "http", "iwr", "invoke-webrequest", "irm", "invoke-restmethod"}
)
_INTERPRETERS = SHELLS | {
    "fish",
    "python",
    "python3",
    "python2",
    "perl",
    "ruby",
    "node",
    "php",
    "iex",
    "invoke-expression",
    "deno",
    "bun",
}
_PASSING = frozenset({"tee", "sed", "tr", "gunzip", "zcat", "base64", "cat", "gzip", "xz", "awk"})
_FETCHED = re.compile(r"(?:\$\(|`|<\()\s*(?:sudo\s+)?(?:curl|wget)\b")
_LOCAL = re.compile(r"://(?:localhost|127\.|\[::1\]|0\.0\.0\.0)")


def remote_code(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield where code from the network is run as it comes."""
    why = "It runs what a server sends, unread."
    first = act.command.words[0]
    if not first.plain and _FETCHED.match(first.text):
        yield act.found(REMOTE_CODE, HIGH, why, first.text[:MOST_WHAT])
        return
    if act.name in _INTERPRETERS or act.name in ("source", ".", "eval"):
        for one in act.words:
            if (
                not one.plain
                and _FETCHED.match(one.text)
                and (one.text.startswith("<(") or act.name in ("eval",) or _takes_code(act))
            ):
                yield act.found(REMOTE_CODE, HIGH, why, one.text[:MOST_WHAT])
                return
    if act.name in _INTERPRETERS and act.feeding is not None and _reads_script(act):
        source: Act | None = act.feeding
        while source is not None and source.name in _PASSING and source.feeding is not None:
            source = source.feeding
        if source is not None and source.name in _FETCHERS:
            address = next(
                (one for one in source.args if "://" in one), " ".join(source.texts()[:1])
            )
            severity = LOW if _LOCAL.search(address) else HIGH
            yield Finding(REMOTE_CODE, severity, f"{source.what} | {act.name}", why, address)
        elif hidden.is_decoding(" ".join((act.feeding.name, *act.feeding.args))):
            yield Finding(
                REMOTE_CODE,
                LOW,
                f"{act.feeding.what} | {act.name}",
                "It runs what nobody can read here.",
                act.feeding.what[:MOST_WHAT],
            )
    yield from _run_after_fetch(act, line)


def _takes_code(act: Act) -> bool:
    return act.has("-c", "-e", "-r")


def _reads_script(act: Act) -> bool:
    """Whether an interpreter runs its input: it is given neither a script nor code."""
    if act.name in ("iex", "invoke-expression"):
        return True
    if act.has("-s", "-") and act.name in SHELLS:
        return True
    if act.has("-c", "-e", "-m", "-n", "-p", "-r", "-ne", "-pe"):
        return False
    rest = [one for one in act.args if not one.startswith("-")]
    return not rest or "-" in act.args


def _run_after_fetch(act: Act, line: CommandLine) -> Iterator[Finding]:
    """`curl -o install.sh URL && sh install.sh`."""
    if act.name not in _INTERPRETERS:
        program = act.program
        script = program if program.startswith(("./", "/tmp/", "/")) else ""
    else:
        script = next((one.text for one in act.words if not one.text.startswith("-")), "")
    if not script:
        return
    path = line.around.path(script, act.folder)
    for one in line.before(act):
        if one.name in _FETCHERS:
            saved = one.value("-o", "--output", "-O", "--output-document") or _bundled(one, "o")
            if (one.has("-O", "--remote-name") and not saved) or saved.startswith("http"):
                saved = next((word.rsplit("/", 1)[-1] for word in one.args if "://" in word), "")
            if not saved and one.name == "wget":
                saved = next((word.rsplit("/", 1)[-1] for word in one.args if "://" in word), "")
            redirected = [target.text for sign, target in one.command.redirects if sign == ">"]
            for target in [saved, *redirected]:
                if target and line.around.path(target, one.folder) == path:
                    yield act.found(
                        REMOTE_CODE, HIGH, "It runs what a server sent, unread.", target
                    )
                    return


_RUN_FETCHED = re.compile(
    r"""\b(?:exec|eval|instance_eval|runInThisContext|Function|loads)\s*\(\s*(?:\w+\(\s*)*[\w.]{0,40}"""
    r"""(?:urlopen|urlretrieve|requests\.get|httpx\.get|URI\.open|open-uri|Net::HTTP|file_get_contents)\s*\(?\s*["'](https?://[^"']+)"""
)
_RUN_ANSWER = re.compile(
    r"\b(?:fetch|https?\.get|axios(?:\.get)?)\s*\(\s*[\"'`](https?://[^\"'`]+)[\"'`].{0,200}?\b(?:eval|Function)\s*[()]",
    re.DOTALL,
)


def scripted(act: Act, script: str) -> Iterator[Finding]:
    """Yield where a script of another language runs what a server sends."""
    for pattern in (_RUN_FETCHED, _RUN_ANSWER):
        found = pattern.search(script)
        if found is not None and not _LOCAL.search(found[1]):
            yield act.found(REMOTE_CODE, HIGH, "It runs what a server sends, unread.", found[1])


def _bundled(act: Act, letter: str) -> str:
    """Return what the last of several options in one word is given: `-fsSLo FILE`."""
    place = next(
        (i for i, one in enumerate(act.args) if re.fullmatch(rf"-[A-Za-z]+{letter}", one)), -1
    )
    return next(iter(act.args[place + 1 : place + 2]), "") if place >= 0 else ""


# -- processes -------------------------------------------------------------------------------------

_BROAD = frozenset(
    {"python", "python3", "node", "java", "ruby", "bash", "sh", "zsh", "php", "perl", "docker", "dockerd", "containerd",
     "postgres", "mysqld", "redis-server", "nginx", "sshd", "ssh", "systemd", "tmux", "screen", "code", "chrome", "claude",
     "npm", "deno", "bun", "go", "dotnet", ".", ".*", "a", "e", "mongod", "kubelet", "firefox", "cursor", "login"}
)  # fmt: skip


def processes(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which processes would be ended beyond the session's own."""
    if act.name == "kill":
        pids = [
            one
            for place, one in enumerate(act.args)
            if re.fullmatch(r"-?\d+", one) and (place > 0 or not one.startswith("-"))
        ]
        if "-1" in pids or "1" in pids or "0" in pids and len(act.args) > 1:
            yield act.found(PROCESSES, HIGH, "It ends every process that it may.", " ".join(pids))
    elif act.name in ("pkill", "killall", "skill", "taskkill", "stop-process"):
        yield from _by_name(act)


def _by_name(act: Act) -> Iterator[Finding]:
    if act.has("-0", "-l", "--list", "--help") or "-l" in act.args:
        return
    names = act.texts("-u -U -s --signal -g -P -t -G --user --euid -n -o") or (
        [""] if act.has("-u", "-U", "--user") else []
    )
    names = [one for one in names if not re.fullmatch(r"(?:SIG)?[A-Z]+\d?", one)] or names
    for one in names:
        bare = one.strip("^$ ").lower().removesuffix(".exe")
        if bare in _BROAD or not bare or re.fullmatch(r"\W*", bare):
            yield act.found(
                PROCESSES,
                HIGH,
                "It ends every process of that kind, other sessions' too.",
                one or "a user's processes",
            )


_BOMB = re.compile(r"(\S{1,20})\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1(?:\s|;|$)")


def bomb(command: str) -> Iterator[Finding]:
    """Yield the function that starts itself for ever."""
    if "()" in command and (found := _BOMB.search(command[:4_096])):
        yield Finding(
            PROCESSES,
            HIGH,
            found[0],
            "It starts itself until the machine stands still.",
            "fork bomb",
        )


# -- disks and files -------------------------------------------------------------------------------

_DISKS = re.compile(r"^/dev/(?:sd|nvme|hd|vd|xvd|disk|rdisk|mmcblk|mapper/|md|loop|dm-)")


def disks(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `dd` would write over."""
    to = next((one[3:] for one in act.args if one.startswith("of=")), "")
    path = line.around.path(to, act.folder) if to else ""
    if _DISKS.match(to):
        yield act.found(DELETE, HIGH, "It writes over a whole disk.", to)
    elif path and not is_made_again(path, line.around) and line.around.exists(path):
        yield act.found(OVERWRITE, HIGH, "It writes over a file.", to)


_PRECIOUS = (".db", ".sqlite", ".sqlite3", ".duckdb", ".git/config", ".git/HEAD", ".gitconfig")
_SHELL_FILES = frozenset(
    {
        ".bashrc",
        ".zshrc",
        ".profile",
        ".bash_profile",
        ".zprofile",
        ".zshenv",
        ".gitconfig",
        ".vimrc",
        ".inputrc",
    }
)
_SILENT = frozenset({":", "true", "printf", "echo"})


def redirected(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a redirection empties, and which outside the project it changes."""
    targets = [
        (sign, word)
        for sign, word in act.command.redirects
        if sign in (">", ">>", "&>", ">|", "&>>")
    ]
    if act.name == "tee":
        targets += [(">>" if act.has("-a", "--append") else ">", one) for one in act.operands()]
    for sign, word in targets:
        if word.plain and word.text and not act.elsewhere:
            yield from _overwritten(act, line, sign, word.text)


def _overwritten(act: Act, line: CommandLine, sign: str, text: str) -> Iterator[Finding]:
    around, path = line.around, line.around.path(text, act.folder)
    if _DISKS.match(path):
        yield act.found(DELETE, HIGH, "It writes over a whole disk.", path)
        return
    if not path or path.startswith("/dev/") or is_made_again(path, around):
        return
    inner = around.within(path)
    appending = ">>" in sign
    if inner is None:
        yield from outside(path, act.what, around.home, LOW if appending else "")
    elif inner.startswith(".git/"):
        yield act.found(GUARDED, HIGH, "It changes git's own files.", path)
    elif appending:
        return
    elif (
        _empties(act)
        and not posixpath.basename(path).startswith(".git")
        and (around.exists(path) or "." in posixpath.basename(path))
        and posixpath.basename(path)
        not in ("__init__.py", ".gitkeep", ".keep", "py.typed", ".nojekyll")
    ):
        yield act.found(OVERWRITE, HIGH, "It empties a file.", path)
    elif path.endswith(_PRECIOUS):
        yield act.found(OVERWRITE, HIGH, "It writes over a database or git's settings.", path)


def _empties(act: Act) -> bool:
    if act.command.given or act.feeding is not None:
        return False
    if act.name in _SILENT:
        said = [one for one in act.args if not re.fullmatch(r"-[neE]+", one)]
        return not any(said) and (act.name in (":", "true") or bool(act.args))
    return act.name == "cat" and act.args == ("/dev/null",)


def outside(path: str, what: str, home: str, severity: str = "") -> Iterator[Finding]:
    """Yield that a file outside the project is changed."""
    name = posixpath.basename(path)
    if path.startswith(home + "/.claude/") and not name.startswith("settings"):
        # The client's own plans and notes.
        return
    grave = name in _SHELL_FILES or path.startswith(
        ("/etc/", "/usr/", "/boot/", "/lib", "/System/", "/Library/", "/var/", "/bin/", "/sbin/")
    )
    if name in ("settings.json", "settings.local.json") and "/.claude/" in path:
        grave = True
    yield Finding(
        OUTSIDE,
        severity or (HIGH if grave else LOW),
        what,
        "It changes a file outside the project.",
        path,
    )
