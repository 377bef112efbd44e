"""What a tool call does, in the words that limits are made of: an act, and what it is done to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vector_memory.observe.commands import command_line, databases, files, judge, other_servers
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS
from vector_memory.observe.intent import limits
from vector_memory.observe.intent.grammar import PATTERNS, RUNS
from vector_memory.text import tables
from vector_memory.text.shell import ShellWord

NEW, GONE, FOLDER = limits.CREATE, limits.DELETE, "folder"
ELSEWHERE, DATA, RESTART = "elsewhere", "data", "restart"
"""What is no file of the project: on another machine, in a database (with the path of its file, where it is one)."""
KEPT = "kept"
"""A change of a manifest or a lock file by the package manager that keeps it, which only those who name the file mean."""
FILE_KINDS = frozenset({limits.EDIT, NEW, GONE, limits.MOVE})
MOST_TEXT, MOST_NAMED = 4_000, 60


class FileChange(NamedTuple):
    """Something that a call does: to a file (absolute path), or to its `subject`: a branch, a package, a command."""

    kind: str
    path: str = ""
    subject: str = ""


@dataclass(frozen=True)
class CallView:
    """One call: what it does, which paths (absolute) it names, its words."""

    changes: tuple[FileChange, ...] = ()
    named: tuple[str, ...] = ()
    text: str = ""


def of_call(
    tool: str,
    arguments: Mapping[str, Any],
    site: CallSite,
    line: CommandLine | None = None,
) -> CallView:
    """Return what a call does and names.

    Args:
        line: its command as `command_line.read` made it ready, where somebody did so already.
    """
    text = " ".join(
        str(value)[:MOST_TEXT] for value in arguments.values() if isinstance(value, str)
    )
    if tool in judge.SHELL_TOOLS:
        line = line or command_line.of_tool(tool, str(arguments.get("command") or ""), site)
        acts = line.acts
        paths = tuple(dict.fromkeys(path for act in acts for path in _named_paths(act, site)))
        paths = paths[:MOST_NAMED]
        reads = (FileChange(limits.READ, path) for path in paths)
        return CallView((*_changes_of_acts(acts, site), *reads), paths, text)
    path, after = judge.path_of(arguments, site), judge.new_text(arguments)[:MOST_TEXT]
    paths, changes = (path,) if path else (), [FileChange(limits.READ, path)] if path else []
    if tool in judge.WRITERS and path:
        kind = NEW if tool == "Write" and not site.exists(path) else limits.EDIT
        before = str(arguments.get("old_string") or "")[:MOST_TEXT]
        changes = [FileChange(kind, path), *_changes_of_text(path, before, after)]
    elif tool in ("WebFetch", "WebSearch"):
        changes.append(FileChange(limits.NETWORK, subject=str(arguments.get("url") or tool)))
    views = [
        of_call(own_tool, own_arguments, site)
        for own_tool, own_arguments in other_servers.as_own(tool, arguments, site)
    ]
    changes += [change for view in views for change in view.changes]
    paths += tuple(path for view in views for path in view.named if path not in paths)
    return CallView(tuple(changes), paths, f"{text} {after}")


def _changes_of_text(path: str, before: str, after: str) -> Iterator[FileChange]:
    """Yield what the words of an edit tell: a package more, comments more, another signature."""
    if before and PATTERNS["manifest"].search(path):
        for package in sorted(
            _distinct_matches("dependency", after) - _distinct_matches("dependency", before)
        ):
            yield FileChange(limits.INSTALL, subject=package)
    if _distinct_matches("comment", after) - _distinct_matches("comment", before):
        yield FileChange(limits.COMMENT, path)
    if _distinct_matches("signature", before) - _distinct_matches("signature", after):
        yield FileChange(limits.API, path)


def _distinct_matches(pattern_name: str, text: str) -> set[str]:
    return {"".join("".join(groups).split()) for groups in PATTERNS[pattern_name].findall(text)}


def _named_paths(act: Act, site: CallSite) -> Iterator[str]:
    for word in act.words:
        is_path = len(word.text) < 200 and re.match(r"(?=.*[/.])[^\s-]\S+$", word.text)
        path = act.path(word, site) if is_path else ""
        if path and site.within(path) not in (None, "."):
            yield path


# -- shell -----------------------------------------------------------------------------------------

_INSTALLERS = tables.groups("installers")
_TAKES = {
    "mkdir": "-m", "touch": "-d -r -t", "truncate": "-s -r", "sed": "-e -f --expression", "gsed": "-e -f --expression",
    "awk": "-i -v -F -f", "gawk": "-i -v -F -f", "rsync": "-e --exclude --include",
    "git": "-C -c -m -F --author --date",
}  # fmt: skip
"""Options of programs that take the next word; those of what installs."""
_INSTALL_TAKES = "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --group -G --registry --version --python -E --source"
_MANAGER_TAKES = (
    "--cache --extra --extras --include --jobs --loglevel --network-timeout --omit --registry --tag"
)
_SCRIPTED = frozenset({"sed", "gsed", "perl", "yq", "awk", "gawk"})
_PLACING = frozenset({"mv", "cp", "install", "ln", "rsync"})
_FILE_ACTS = {
    **dict.fromkeys(("rm", "unlink", "rmdir", "shred", "rimraf"), GONE),
    **dict.fromkeys(("touch", "truncate", "cp", "install", "ln", "mv", "rsync"), NEW),
    **dict.fromkeys((*_SCRIPTED, "checkout", "restore", "patch", "ed"), limits.EDIT),
    "mkdir": FOLDER,
}
"""What programs, and verbs of git, do to the files that they are given."""


_KINDS: dict[str, list[tuple[str, list[str]]]] = {}
for _kind, _rows in RUNS.items():
    for _program, *_rest in map(str.split, _rows):
        _KINDS.setdefault(_program, []).append((_kind, _rest))
"""What kinds of commands a program makes, each with the words that it is given for that."""


_COMMAND_WORDS = tables.sets("command_words")
_OF_FILES = {
    *_FILE_ACTS, *_COMMAND_WORDS["quiet"], *WORDS["archiver"], *WORDS["copier"],
    *(row for row in RUNS["tests"] if " " not in row),
}  # fmt: skip
"""Programs whose words are no verbs of theirs: files, names of tests."""
_SUBCOMMANDS = {*_COMMAND_WORDS["checks"], *_COMMAND_WORDS["making"], *WORDS["subcommand"]} - {
    "run"
}


def _changes_of_acts(acts: Sequence[Act], site: CallSite) -> Iterator[FileChange]:
    branch, previous = "", None
    for act in acts:
        words = act.operands(_TAKES.get(act.name, ""))
        targets = [word for sign, word in act.command.redirects if ">" in sign]
        for path in _paths([*targets, *(words if act.name == "tee" else ())], act, site):
            if not path.startswith("/dev/"):
                yield FileChange(limits.EDIT if site.exists(path) else NEW, path)
        if not WORDS["trial"].isdisjoint(act.args):
            continue
        verb = act.name
        if act.name == "git" and words:
            verb, words = words[0].text, words[1:]
        if act.name == "git" and _is_branch(act, verb, words, site):
            new_branch = act.value("-b", "-B", "-c", "-C", "--orphan")
            branch = new_branch or "".join(word.text for word in words[-1:])
            yield FileChange(limits.BRANCH, subject=branch)
        elif act.name != "git" or not act.has("--cached", "--staged"):
            listed_files = _listed_files(act, previous, site)
            yield from _changes_of_files(verb, words, act, site, listed_files)
        previous = act
        yield from _kept_files(act, site)
        yield from _changes_of_command(act, branch, site)


def _is_branch(act: Act, verb: str, words: Sequence[ShellWord], site: CallSite) -> bool:
    """Whether git is told to go to a branch, and no file."""
    if verb != "checkout" or act.has("-b", "-B", "--orphan"):
        return verb in ("switch", "checkout")
    is_name = len(words) == 1 and "--" not in act.args and words[0].text != "."
    return is_name and not site.exists(site.path(words[0].text, act.folder))


def _changes_of_files(
    verb: str,
    words: Sequence[ShellWord],
    act: Act,
    site: CallSite,
    listed_files: Sequence[str],
) -> Iterator[FileChange]:
    """Yield what is done to the files that a program, or a verb of git, is given; `listed_files`: by what feeds it."""
    kind = _FILE_ACTS.get(verb, GONE if verb == "find" else None)
    words = words if verb != "find" else []
    if verb in _SCRIPTED:
        joined_args = " ".join(act.args)
        is_awk = verb.endswith("awk")
        if not (
            act.value("-i") == "inplace" if is_awk else PATTERNS["in_place"].search(joined_args)
        ):
            return
        words = words[0 if act.has("-e", "--expression") else 1 :]
    elif kind is None and act.has("--in-place", "--inplace", "--write", "--fix"):
        kind, words = limits.EDIT, [word for word in words if site.exists(act.path(word, site))]
    if act.elsewhere and kind in (limits.EDIT, GONE) and not all(map(_is_scratch, words)):
        yield FileChange(ELSEWHERE, subject=act.excerpt)
    paths = [path for path in _paths(words, act, site) if path.rpartition("/")[2] != "{}"]
    if verb in _PLACING:
        yield from (FileChange(limits.MOVE, path) for path in paths[:-1] if verb == "mv")
        paths = _placed_paths(words, act, site) if len(words) > 1 else []
    yield from (FileChange(kind, path) for path in (*paths, *listed_files) if kind)


def _placed_paths(words: Sequence[ShellWord], act: Act, site: CallSite) -> list[str]:
    """Return what is written where several are put into a folder, or one to a place."""
    target = "".join(_paths([word for word in words[-1:] if ":" not in word.text], act, site))
    if not target or not (
        len(words) > 2 or words[-1].text.endswith("/") or site.exists(f"{target}/.")
    ):
        return [target] if target else []
    names = (word.text if act.name == "rsync" else word.text.rstrip("/") for word in words[:-1])
    return [site.path(posixpath.join(target, name.rpartition("/")[2])) for name in names]


def _listed_files(act: Act, previous: Act | None, site: CallSite) -> list[str]:
    """Return the files that are listed for an act, as patterns: by `find`, `ls` or `git ls-files` right before it."""
    source = (
        act.feeding if act.is_listed else previous if act.command.via[-1:] == ("find",) else None
    )
    source = act if act.name == "find" and "-delete" in act.args else source
    if source is None or source.name not in ("find", "ls", "git"):
        return []
    if any(
        argument in ("!", "-not", "-prune") or argument.startswith((":!", ":^"))
        for argument in source.args
    ):
        return []
    if source.name == "find":
        if source.value("-type") == "d":
            return []
        between = "" if source.value("-maxdepth") == "1" else "**/"
        names, roots = files.search_of(source)
        words = [
            word._replace(text=f"{word.text}/{between}{name}")
            for word in roots
            for name in names or ["*"]
        ]
    else:
        words = source.operands()[source.args[:1] == ("ls-files",) :]
    return _paths(words, source, site) if source.name != "git" or "ls-files" in source.args else []


def _kept_files(act: Act, site: CallSite) -> Iterator[FileChange]:
    """Yield the manifests and lock files that a package manager writes: all by verbs of adding, where they name a package
    ("+" in the table), and lock files by verbs of renewing."""
    texts = act.texts(_MANAGER_TAKES)
    verbs = {f"{act.name}:{'-'.join(texts[:count])}" for count in (1, 2)}
    if not WORDS["not-here"].isdisjoint(act.args):
        return
    with_package = {f"{verb}+" for verb in verbs if len(texts) > 1}
    is_adding = not WORDS["adding"].isdisjoint(verbs | with_package)
    if not is_adding and WORDS["renewing"].isdisjoint(verbs):
        return
    for program, _, name in (entry.partition("=") for entry in WORDS["keeps"]):
        path = site.path(name, act.folder)
        is_written = is_adding or "lock" in name
        if program == act.name and is_written and site.exists(path):
            yield FileChange(KEPT, path)


def _changes_of_command(act: Act, branch: str, site: CallSite) -> Iterator[FileChange]:
    """Yield what a command is, beside what it does to files: a commit, a push, an installation, whatever runs;
    `branch` is the one that the line went to before."""
    if act.name in WORDS["looks"]:
        return
    for kind in _command_kinds(act):
        if act.elsewhere and kind == RESTART:
            yield FileChange(ELSEWHERE, subject=act.excerpt)
        what = "main" if act.name in ("gh", "glab") else branch
        if kind not in (limits.COMMIT, limits.MERGE):
            what = f"{' '.join((act.name, *act.args))} {branch}".rstrip()
        if kind == limits.DATABASE and databases.writes(act):
            what += f" {limits.WRITE}"
            yield FileChange(DATA, databases.file_of(act, site), what)
        if kind == limits.PUSH and PATTERNS["forced"].search(what):
            what += f" {limits.FORCE}"
        yield FileChange(kind, subject=what[:MOST_TEXT])
    texts = act.texts(_INSTALL_TAKES)
    if texts and texts[0] in _INSTALLERS.get(act.name, ()):
        for package in texts[1:]:
            if not re.search(r"^[./~]|\.(?:whl|txt|toml)$", package):
                yield FileChange(limits.INSTALL, subject=package)
    if deed := _deed_words(act):
        yield FileChange(limits.DEED, subject=deed)
    whole_command = "\0".join((act.program or act.name, *act.args))[:MOST_TEXT]
    yield from (
        FileChange(limits.RUN, subject=command) for command in (*act.command.via, whole_command)
    )


def _deed_words(act: Act) -> str:
    """Return how a command says what it does: the first words of its script, its subcommand or target."""
    if act.name == "git":
        return ""
    texts = [word.lower() for word in act.texts(_TAKES.get(act.name, ""))]
    script = texts[:1] if PATTERNS["interpreter"].match(act.name) else [act.program or act.name]
    words = (*script, *(word.lower() for word in _verbs(act) if not re.search("[/.]", word)))
    return " ".join(re.split(r"[\W_]+", word.rpartition("/")[2])[0] for word in words)


def _verbs(act: Act) -> list[str]:
    """Return the words that stand where a program is told what to do: up to its verb, or all its targets; none where it
    takes files. `kubectl get deploy` gets, `docker stack deploy` deploys, `cd deploy` and `yamllint deploy` do neither."""
    if act.name in _OF_FILES or act.name.endswith(("lint", "check")):
        return []
    texts = act.texts(" ".join((_TAKES.get(act.name, ""), *_COMMAND_WORDS["valued"])))
    if act.name in WORDS["target-runner"]:
        return texts
    end = next((place for place, word in enumerate(texts) if word in _SUBCOMMANDS), len(texts))
    return texts[: min(end + 1, 1 if act.name == "git" else 3)]


def _command_kinds(act: Act) -> Iterator[str]:
    """Yield the kinds of commands (`limit_runs.txt`) that one is of."""
    if act.name in databases.PROGRAMS:
        yield limits.DATABASE
    verbs = {part for word in _verbs(act) for part in (word, word.partition(":")[0])}
    words = {*act.args, *verbs} if act.name != "git" else {*verbs, *act.options}
    own_kinds = _KINDS.get(act.name, ())
    for kind, needs in (*own_kinds, *_KINDS["*"]):
        is_local = kind == limits.NETWORK and bool(PATTERNS["local"].search(" ".join(act.args)))
        # Of a commit `-n` leaves out the hooks; others make none with it.
        is_local |= kind == limits.COMMIT and "commit" not in needs and act.has("-n", "--no-commit")
        is_local |= act.name == "git" and not WORDS["undoing"].isdisjoint(act.args)
        if (words if (kind, needs) in own_kinds else verbs).issuperset(needs) and not is_local:
            yield kind


def _is_scratch(word: ShellWord) -> bool:
    return word.text.startswith("/tmp/")


def _paths(words: Sequence[ShellWord], act: Act, site: CallSite) -> list[str]:
    local_words = [word for word in words if word.text != "-" and not act.elsewhere]
    return [path for path in (act.path(word, site) for word in local_words) if path]
