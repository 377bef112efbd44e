"""What would be deleted, and whether it matters: a build folder is made again, a folder of sources is not."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import DELETE, HIGH, LOW, Finding
from vector_memory.observe.commands.findings import CallSite as Surroundings
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS, is_name_made_again
from vector_memory.text import tables
from vector_memory.text.analysis import parts_of
from vector_memory.text.shell import EXECUTING, FILE_SEARCHES, ShellWord

Loss = tuple[str, str, str]
"""How grave a deletion is, why, and of what."""
SOON = 8
"""Commands after a deletion within which what was deleted is built anew."""
_EVERYTHING = ("*", ".*", "**", ".[!.]*", "*.*", ".??*")
_ALONE = re.compile(r"\$\{?\w+(?::?\?|[^/]*$)")
_NAME_TESTS = ("-name", "-iname", "-path", "-wholename", "-ipath", "-g")
_REMOVERS = WORDS["rm"] | WORDS["powershell-remover"] | {"shred"}
_LEAVING = WORDS["builds-elsewhere"].union(
    *map(tables.sets("command_words").__getitem__, ("quiet", "passing"))
)
"""Programs that build nothing in the project, whatever they are given."""
_SYSTEM = tuple(folder + "/" for folder in WORDS["system-folder"])


# -- places ----------------------------------------------------------------------------------------


def is_made_again(path: str, site: Surroundings) -> bool:
    """Whether what lies at an absolute path is nobody's work: a build, a cache, a temporary file."""
    if not path:
        return False
    if site.is_scratch(path) or site.was_made(path):
        return True
    inner = site.within(path)
    if inner is not None:
        return any(is_name_made_again(name) for name in inner.split("/"))
    caches = (posixpath.join(site.home, place) for place in WORDS["cache"])
    if f"{path}/".startswith(tuple(f"{place}/" for place in caches)):
        return True
    # Outside the project only names that can be nothing else.
    names = set(path.strip("/").split("/")[2:]) - {"tmp", "out", "build", "target", "temp"}
    return any(is_name_made_again(name) for name in names)


def loss(word: ShellWord, act: Act, line: CommandLine, recursive: bool) -> Loss | None:
    """Return what the deletion of what a word names would lose; None where it does no harm."""
    text = word.text
    if act.elsewhere:
        is_made_anew = text.startswith(("/tmp/", "/var/tmp/")) or is_name_made_again(posixpath.basename(text.rstrip("/")))  # fmt: skip
        why = "It deletes a folder on another machine."
        return None if is_made_anew or not recursive else (HIGH, why, text)
    if not word.plain:
        return _loss_of_unknown(text) if recursive else None
    path = line.site.path(text.rstrip("/") or "/", act.folder)
    if not path:
        return HIGH, "It deletes a folder of another user.", text
    return _loss_at(path, line.site, recursive, word.glob)


def _loss_at(path: str, site: Surroundings, recursive: bool, glob: bool) -> Loss | None:
    name, inner, home = posixpath.basename(path), site.within(path), site.home + "/"
    is_everything = name in _EVERYTHING or path == "/*"
    place = posixpath.dirname(path) if is_everything else path
    is_nobodys = is_made_again(place, site)
    if is_everything and not is_nobodys and (recursive or inner is not None):
        what = "the project's folder" if place == site.root else place
        return HIGH, f"It deletes everything in {what}.", place
    if (site.root + "/").startswith(place.rstrip("/") + "/") or place in (site.home, "/" + name):  # fmt: skip
        whole_names = {site.root: "the whole project", site.home: "the whole home folder"}
        what = whole_names.get(place, f"all below {place}")
        return (HIGH, f"It deletes {what}.", place) if recursive else None
    if name == ".git" or "/.git/" in path:
        why = "It deletes git's own files: the history that is not pushed is lost."
        return None if name.endswith(".lock") else (HIGH, why, place)
    if is_nobodys or path.startswith(home + ".claude/") and not recursive:
        return None
    if inner is None:
        is_grave = recursive or place.startswith(_SYSTEM) and not place.startswith(home)
        return HIGH if is_grave else LOW, "It deletes files outside the project.", place
    if recursive and name not in WORDS["lock-file"]:
        return HIGH, f"{inner} is no folder that is made again.", place
    if glob and name.startswith("*") and not recursive:
        return LOW, f"It deletes every {name} in a folder of the project.", place
    return None


def _loss_of_unknown(text: str) -> Loss | None:
    """Return the loss of what nobody knows: a variable that the line does not set."""
    why = "What it deletes depends on a variable that this line does not set."
    if is_name_made_again(text.rpartition("/")[2]):
        return None
    if _ALONE.match(text):
        return LOW, why, text
    if text.startswith(("$", "`")):
        why = "If the variable is empty, it deletes from the root of the disk."
    return HIGH, why, text


# -- commands --------------------------------------------------------------------------------------


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `rm`, `find` and their kin would delete."""
    if act.name in _REMOVERS:
        yield from _judge_removal(act, line)
    elif act.name in FILE_SEARCHES and "-delete" in act.args:
        yield from _judge_search(act, line)


def _judge_removal(act: Act, line: CommandLine) -> Iterator[Finding]:
    if "find" in act.command.via:
        search = next((other for other in line.before(act) if other.name in FILE_SEARCHES), act)
        yield from _judge_search(search, line)
        return
    if act.has("--help", "--version"):
        return
    words, recursive = act.operands(), act.has("-r", "-R", "--recursive") or act.name == "rimraf"
    if act.name in WORDS["powershell-remover"]:
        recursive = not {"-recurse", "/s"}.isdisjoint(map(str.lower, act.args))
    if act.is_listed or act.feeding is not None and act.feeding.name == "read":
        yield from _judge_listed(act, line, recursive)
        words = [] if act.is_listed else [word for word in words if word.plain]
    yield from _judge_words(words, act, line, recursive)


def _judge_words(
    words: list[ShellWord], act: Act, line: CommandLine, recursive: bool
) -> Iterator[Finding]:
    """Yield the losses of deleting what words name, but for what the line made itself."""
    made_paths = _made_paths(act, line)
    for word in words:
        path = act.path(word, line.site)
        is_made = bool(path) and f"{path}/".startswith(made_paths)
        if not (is_made or _is_built_next(path, line)) and (
            lost := loss(word, act, line, recursive)
        ):
            yield act.finding(DELETE, *(_loss_of_rebuilt(lost, act, line) or lost))


def _is_built_next(path: str, line: CommandLine) -> bool:
    """Whether the line makes again what it deletes: `rm -rf public && hugo`."""
    parts = (line.site.within(path) or "").split("/")
    return any(f"{act.name}={part}" in WORDS["built-by"] for act in line.acts for part in parts)


def _loss_of_rebuilt(lost: Loss, act: Act, line: CommandLine) -> Loss | None:
    """Return what is lost of a folder of the project that git ignores, where the same line goes on to build or to
    install: it is hardly somebody's work, and yet may be data. None for any other, and where its name says so."""
    inner = line.site.within(lost[2])
    if lost[0] != HIGH or inner in (None, ".") or not any(map(_builds, line.after(act)[:SOON])):
        return None
    if not WORDS["somebodys-folder"].isdisjoint(map(str.lower, parts_of(inner or ""))):
        return None
    why = f"git ignores {inner}, and the line builds anew, though perhaps not all of it."
    return (LOW, why, lost[2]) if line.ignored.has(lost[2]) else None


def _builds(act: Act) -> bool:
    """Whether a command builds or installs in the project, by its own name or by the first words that it is given; and
    not only where what it follows failed."""
    if (
        act.elsewhere
        or act.command.is_otherwise
        or act.name in _LEAVING
        or act.has("-g", "--global")
    ):
        return False
    leading = act.texts()[:2]
    parts = (part for text in leading for part in parts_of(text))
    return not (
        WORDS["building-verb"].isdisjoint((act.name, *parts))
        and WORDS["building-command"].isdisjoint(f"{act.name}={text}" for text in leading)
    )


def _made_paths(act: Act, line: CommandLine) -> tuple[str, ...]:
    """Return how the paths begin, with a `/` behind them, that the line itself made before an act."""
    paths_made: set[str] = set()
    for other in line.before(act):
        is_clone = other.name == "git" and other.args[:1] == ("clone",)
        if is_clone or other.name in ("mkdir", "touch") or other.name in WORDS["fetcher"]:
            words = other.operands("-m -b --depth")[2 * is_clone :]
            paths = (other.path(word, line.site) for word in words)
            paths_made |= {f"{path}/" for path in paths if path not in ("", line.site.root)}
        elif other.name in ("unzip", "tar"):
            # What it unpacks is called like the archive, or begins so.
            names = (text.rpartition("/")[2].partition(".")[0] for text in other.texts())
            paths_made |= {line.site.path(name, other.folder) for name in names if name}
    return tuple(paths_made)


def _judge_listed(act: Act, line: CommandLine, recursive: bool) -> Iterator[Finding]:
    """Judge what another command lists and this one deletes."""
    listing = (source for source in act.sources if source.name in ("ls", *FILE_SEARCHES))
    source = next(listing, act.sources[-1] if act.sources else None)
    if source is not None and source.name in FILE_SEARCHES:
        yield from _judge_search(source, line)
        return
    name, what = (source.name, source.excerpt) if source else ("a file", act.excerpt)
    words, severity = source.operands() if source and name == "ls" else [], HIGH
    if words and all(is_made_again(act.path(word, line.site), line.site) for word in words):
        return
    is_picked = source is not act.feeding or any(word.glob for word in words)
    if not recursive and (name in ("echo", "printf") or name == "ls" and is_picked):
        severity = LOW
    yield act.finding(DELETE, severity, f"It deletes whatever {name} lists.", what)


def _judge_search(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield the gravest loss of deleting what `find` or `fd` finds."""
    names, roots = search_of(act)
    is_shallow = bool(names) and act.value("-maxdepth") == "1"
    words = [
        root._replace(text=f"{root.text.rstrip('/')}/{name}", glob=True)
        for root in roots or [ShellWord(".")]
        for name in names or ["*"]
    ]
    losses = [lost for word in words if (lost := loss(word, act, line, not is_shallow))]
    kept_names = sorted(WORDS["kept-by-some"].intersection(names))
    if not losses and kept_names:
        losses = [(LOW, f"It deletes every {kept_names[0]} that it finds.", kept_names[0])]
    if losses and "-empty" not in act.args:
        yield act.finding(DELETE, *min(losses))


def search_of(act: Act) -> tuple[list[str], list[ShellWord]]:
    """Return the names that `find` or `fd` looks for, and the folders that it looks in."""
    pairs = zip(act.args, act.args[1:], strict=False)
    names = [value.removeprefix("*/").removesuffix("/*") for option, value in pairs if option in _NAME_TESTS]  # fmt: skip
    ends = ("-", "(", "!") if act.name in ("find", "gfind") else EXECUTING
    end = next((place for place, text in enumerate(act.args) if text.startswith(ends)), None)
    if act.name in ("find", "gfind"):
        return names, list(act.words[:end])
    words = Act(act.command, act.name, act.words[:end]).operands("-e --extension -t -d --type")
    ending = act.value("-e", "--extension")
    patterns = [word.text for word in words[:1]] + ([f"*.{ending}"] if ending else [])
    return names + patterns, words[1:2]
