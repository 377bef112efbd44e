"""What would be deleted, and whether it matters: a build folder is made again, a folder of sources is not."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands.acts import Act
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import (
    DATA,
    DELETE,
    HIGH,
    LOW,
    CommandSurroundings,
    Finding,
)
from vector_memory.observe.commands.words import WORDS, is_name_made_again
from vector_memory.text.shell import ShellWord

Loss = tuple[str, str, str]
"""How grave a deletion is, why, and of what."""
_EVERYTHING = ("*", ".*", "**", ".[!.]*", "*.*", ".??*")
_TEMPORARY = ("/tmp", "/var/tmp")
_LIKELY_BUILD = ("BUILD", "DIST", "OUT", "CACHE", "TARGET", "COVERAGE", "WORK", "SCRATCH", "TMP", "TEMP")  # fmt: skip
_DATABASES = tuple(WORDS["database-ending"])
_NAME_TESTS = ("-name", "-iname", "-path", "-wholename", "-ipath", "-g", "-e", "--extension")
_EXECUTING = ("-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch")
_GIT_LOST = "It deletes git's own files: the history that is not pushed is lost."
_SHARED = "It deletes the temporary files of other programs too."
_FETCHERS = ("curl", "wget")


# -- places ----------------------------------------------------------------------------------------


def is_made_again(path: str, around: CommandSurroundings) -> bool:
    """Whether what lies at an absolute path is nobody's work: a build, a cache, a temporary file."""
    if not path:
        return False
    if around.is_scratch(path) or around.was_made(path):
        return True
    inner = around.within(path)
    if inner is not None:
        return any(is_name_made_again(name) for name in inner.split("/"))
    if path.startswith(tuple(f"{around.home}/{place}/" for place in WORDS["cache-at-home"])):
        return True
    # Outside the project only names that can be nothing else.
    return any(
        is_name_made_again(name) and name not in ("tmp", "out", "build", "target", "temp")
        for name in path.strip("/").split("/")[2:]
    )


def loss(word: ShellWord, act: Act, line: CommandLine, recursive: bool) -> Loss | None:
    """Return what the deletion of what a word names would lose; None where it does no harm."""
    text = word.text
    if act.elsewhere:
        is_kept = not text.startswith(("/tmp/", "/var/tmp/")) and not is_name_made_again(
            posixpath.basename(text.rstrip("/"))
        )
        why = "It deletes a folder on another machine."
        return (HIGH, why, text) if recursive and is_kept else None
    if not word.plain:
        return _unknown(text) if recursive else None
    path = line.around.path(text.rstrip("/") or "/", act.folder)
    if not path:
        return HIGH, "It deletes a folder of another user.", text
    return _at(path, line.around, recursive, word.glob)


def _at(path: str, around: CommandSurroundings, recursive: bool, glob: bool) -> Loss | None:
    name = posixpath.basename(path)
    everything = name in _EVERYTHING or path == "/*"
    place = posixpath.dirname(path) if everything else path
    made_again = is_made_again(place, around)
    if place in _TEMPORARY:
        return LOW, _SHARED, place
    if everything and not made_again and (recursive or around.within(place) is not None):
        what = "the project's folder" if place == around.root else place
        return HIGH, f"It deletes everything in {what}.", place
    above = around.root == place or around.root.startswith(place.rstrip("/") + "/")
    if above and around.is_scratch(around.root + "/") and place != "/":
        return None
    if above or place == around.home or place.count("/") == 1:
        whole = {around.root: "the whole project", around.home: "the whole home folder"}
        what = whole.get(place, f"all below {place}")
        return (HIGH, f"It deletes {what}.", place) if recursive else None
    if name == ".git" or "/.git/" in path:
        is_lock = name.endswith(".lock") and "/.git/" in path or around.is_scratch(path)
        return None if is_lock else (HIGH, _GIT_LOST, place)
    if made_again:
        return None
    return _kept(place, name, around, recursive, glob)


def _kept(
    path: str, name: str, around: CommandSurroundings, recursive: bool, glob: bool
) -> Loss | None:
    """Return the loss of what is likely to be somebody's work."""
    inner = around.within(path)
    if inner is None:
        roots = tuple(place + "/" for place in WORDS["system-folder"])
        system = path.startswith(roots) and not path.startswith(around.home + "/")
        if path.startswith(around.home + "/.claude/") and not recursive:
            return None
        why = "It deletes files outside the project."
        return (HIGH if recursive or system else LOW), why, path
    if recursive and name not in WORDS["lock-file"]:
        return HIGH, f"{inner} is no folder that is made again.", path
    if glob and name.startswith("*") and not recursive:
        return LOW, f"It deletes every {name} in a folder of the project.", path
    return None


def _unknown(text: str) -> Loss | None:
    """Return the loss of what nobody knows: a variable that the line does not set."""
    if re.match(r"/tmp/|[\w.~/-]*/(?:tmp|temp|cache|build|dist)/", text):
        return None
    variable = re.match(r"\$\{?(\w+)(:?\?)?", text)
    name = variable[1].upper() if variable else ""
    if any(part in name for part in _LIKELY_BUILD):
        why = f"What it deletes depends on {name and variable and variable[1]}, which this line does not set."
        return LOW, why, text
    if is_name_made_again(text.rsplit("/", 1)[-1]):
        return None
    if variable and (variable[2] or "/" not in text):
        return LOW, "What it deletes depends on a variable that this line does not set.", text
    if text.startswith(("$", "`")):
        return HIGH, "If the variable is empty, it deletes from the root of the disk.", text
    return HIGH, "What it deletes depends on something that is not in this line.", text


# -- commands --------------------------------------------------------------------------------------


def remove(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `rm` and its kin would delete."""
    if "find" in act.command.via or act.has("--help", "--version"):
        # `find` says of what.
        return
    recursive = act.has("-r", "-R", "--recursive") or act.name == "rimraf"
    words, made = act.operands(), made_before(act, line)
    if act.is_listed or act.feeding is not None and act.feeding.name == "read":
        yield from _listed(act, line, recursive)
        words = [] if act.is_listed else [word for word in words if word.plain]
    for word in words:
        path = act.path(word, line.around)
        if path and (f"{path}/".startswith(made) or _is_built_next(path, line)):
            continue
        lost = loss(word, act, line, recursive)
        if lost:
            yield act.found(DELETE, *lost)
        elif (
            path.endswith(_DATABASES)
            and not is_made_again(path, line.around)
            and "test" not in word.text
        ):
            yield act.found(DATA, HIGH, "It deletes a database's file.", path)


def _is_built_next(path: str, line: CommandLine) -> bool:
    """Whether the line makes again what it deletes: `rm -rf public && hugo`."""
    parts = (line.around.within(path) or "").split("/")
    return any(f"{act.name}={part}" in WORDS["built-by"] for act in line.acts for part in parts)


def made_before(act: Act, line: CommandLine) -> tuple[str, ...]:
    """Return how the paths begin, with a `/` behind them, that the line itself made before an act."""
    made: set[str] = set()
    for other in line.before(act):
        words: list[ShellWord] = []
        end = "/"
        if other.name in ("mkdir", "touch"):
            words = other.operands("-m")
        elif other.name == "git" and other.args[:1] == ("clone",):
            words = other.operands("-b --depth")[2:]
        elif other.name in _FETCHERS:
            words = [ShellWord(other.value("-o", "--output", "-O"))]
        elif other.name in ("unzip", "tar") and not other.has("-d", "-C", "-t", "-c"):
            # What it unpacks is called like the archive, or begins so.
            end = ""
            words = [
                word._replace(text=posixpath.basename(word.text).partition(".")[0])
                for word in other.operands()
                if "." in word.text
            ]
        paths = {other.path(word, line.around) for word in words} - {"", line.around.root}
        made.update(path + end for path in paths)
    return tuple(made)


def _listed(act: Act, line: CommandLine, recursive: bool) -> Iterator[Finding]:
    """Judge what another command lists and this one deletes."""
    if not act.sources:
        severity = HIGH if recursive else LOW
        yield act.found(DELETE, severity, "It deletes whatever a file lists.", act.what)
        return
    listing = ("find", "fd", "fdfind", "ls")
    source = next((one for one in act.sources if one.name in listing), act.sources[-1])
    if source.name in ("find", "fd", "fdfind"):
        lost = _searched(source, line)
        if lost:
            yield act.found(DELETE, *lost)
        return
    words = source.operands() if source.name in ("ls", "echo", "printf") else []
    if words and all(
        loss(word, source, line, recursive) is None and ("/" in word.text or word.glob)
        for word in words
    ):
        return
    severity = HIGH if recursive or source.name in ("grep", "rg", "cat", "awk") else LOW
    yield act.found(DELETE, severity, f"It deletes whatever `{source.name}` lists.", source.what)


def find(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `find` and `fd` would delete."""
    if act.is_listed:
        return
    removing = "-delete" in act.args
    for option in _EXECUTING:
        if option in act.args:
            rest = act.args[act.args.index(option) + 1 :]
            name = posixpath.basename(rest[0]) if rest else ""
            script = " ".join(rest[:3]).split() if name in ("sh", "bash") else []
            removing |= not WORDS["remover"].isdisjoint((name, *script))
    lost = _searched(act, line) if removing else None
    if lost:
        yield act.found(DELETE, *lost)


def _searched(act: Act, line: CommandLine) -> Loss | None:
    """Return the loss of deleting what `find` or `fd` finds."""
    around = line.around
    if "-empty" in act.args:
        return None
    names, roots = _search_of(act)
    told = " ".join(names) or "every file"
    if act.elsewhere:
        return HIGH, "It deletes files on another machine.", " ".join(roots)
    paths = [around.path(root, act.folder) for root in roots or ["."]]
    if all(is_made_again(path, around) for path in paths):
        return None
    if names and all(
        any(is_name_made_again(part) for part in (name, *name.strip("/*").split("/")))
        for name in names
    ):
        return None
    if all(path in _TEMPORARY or is_made_again(path, around) for path in paths):
        return None if names else (LOW, _SHARED, " ".join(roots))
    severity = LOW if names and act.value("-maxdepth") == "1" else HIGH
    why = f"It deletes {told} below {' '.join(roots) or '.'}."
    return severity, why, " ".join([*paths, *names])


def _search_of(act: Act) -> tuple[list[str], list[str]]:
    """Return the names that `find` or `fd` looks for, and the folders that it looks in."""
    pairs = list(zip(act.args, act.args[1:], strict=False))
    names = [value.removeprefix("*/").removesuffix("/*") for option, value in pairs if option in _NAME_TESTS]  # fmt: skip
    if act.name in ("find", "gfind"):
        roots = []
        for word in act.words:
            if word.text.startswith(("-", "(", "!")):
                break
            roots.append(word.text if word.plain else "/unknown/" + word.text)
        return names, roots
    ending = act.value("-e", "--extension")
    executed = next((place for place, text in enumerate(act.args) if text in _EXECUTING), None)
    words = [
        word.text
        for word in Act(act.command, act.name, act.words[:executed]).operands(
            "-e --extension -t -d --type"
        )
    ]
    names = ["*." + name if name == ending else name for name in names]
    return names + words[:1], words[1:2]


def powershell(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `Remove-Item` and its kin would delete."""
    flags = {text.lower() for text in act.args}
    recursive = bool(flags & {"-recurse", "-r", "/s", "-force"}) and "-whatif" not in flags
    for word in act.operands():
        if word.text.startswith("/") and len(word.text) == 2:
            continue
        lost = loss(word._replace(text=word.text.replace("\\", "/")), act, line, recursive)
        if lost:
            yield act.found(DELETE, *lost)
