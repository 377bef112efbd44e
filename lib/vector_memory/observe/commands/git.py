"""What git commands would destroy: what others have pulled, commits, work that is not committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vector_memory.observe.commands import files
from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import DISCARD, FORCE_PUSH, HIGH, HISTORY, LOW, Finding
from vector_memory.text.shell import ShellWord

_GLOBAL_TAKES = {
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
}
_PUSH_TAKES = "-o --push-option --receive-pack --exec --repo --recurse-submodules"
_WHOLE = {".", "./", "*", ":/", "--", ":/*", "-A"}


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a git command would destroy."""
    place, folder = 0, act.folder
    while place < len(act.words) and act.args[place].startswith("-"):
        option = act.args[place]
        if option == "-C" and place + 1 < len(act.words):
            folder = line.around.path(act.args[place + 1], folder) or folder
        place += 2 if option in _GLOBAL_TAKES else 1
    if place >= len(act.words):
        return
    inner = Act(act.command, act.args[place], act.words[place + 1 :], folder, act.elsewhere)
    verdict = _VERDICTS.get(inner.name)
    if verdict is not None and not inner.has("--dry-run", "--help", "-h"):
        yield from verdict(inner, line)


def _push(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("-n"):
        return
    words = act.texts(_PUSH_TAKES)
    target = " ".join(words) or "the branch's upstream"
    refs = words[1:]
    forced = [one for one in refs if one.startswith("+")]
    gone = [one for one in refs if one.startswith(":") and len(one) > 1]
    if act.has("-f", "--force") or forced:
        yield Finding(
            FORCE_PUSH,
            HIGH,
            act.what,
            "A forced push overwrites what others may have pulled.",
            target,
        )
    elif act.has("--mirror"):
        yield Finding(
            FORCE_PUSH,
            HIGH,
            act.what,
            "A mirror push deletes every remote branch and tag that is not here.",
            target,
        )
    elif act.has("--delete", "-d") or gone:
        yield Finding(
            FORCE_PUSH, HIGH, act.what, "It deletes a branch or tag on the remote.", target
        )
    elif act.has("--force-with-lease"):
        yield Finding(
            FORCE_PUSH,
            LOW,
            act.what,
            "It overwrites the remote branch, unless somebody pushed since.",
            target,
        )
    elif act.has("--prune"):
        yield Finding(
            FORCE_PUSH, LOW, act.what, "It deletes remote branches that are not here.", target
        )


def _reset(act: Act, line: CommandLine) -> Iterator[Finding]:
    if not act.has("--hard", "--merge"):
        return
    to = next(iter(act.texts()), "HEAD")
    if act.has("--merge"):
        yield Finding(DISCARD, LOW, act.what, "It throws away staged changes.", to)
    elif to in ("HEAD", "@"):
        yield Finding(
            DISCARD,
            HIGH,
            act.what,
            "A hard reset throws away all changes that are not committed.",
            to,
        )
    else:
        yield Finding(
            HISTORY,
            HIGH,
            act.what,
            "A hard reset drops commits and all changes that are not committed.",
            to,
        )


def _rebase(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("--abort", "--continue", "--skip", "--quit", "--show-current-patch", "--edit-todo"):
        return
    onto = " ".join(act.texts("-x --exec -s --strategy -X")) or "the upstream"
    yield Finding(
        HISTORY, LOW, act.what, "A rebase rewrites commits; what was pushed of them diverges.", onto
    )


def _commit(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("--amend"):
        yield Finding(HISTORY, LOW, act.what, "It rewrites the last commit.", "HEAD")


def _rewritten(act: Act, line: CommandLine) -> Iterator[Finding]:
    if not act.has("--analyze"):
        yield Finding(HISTORY, HIGH, act.what, "It rewrites the whole history.", "history")


def _reflog(act: Act, line: CommandLine) -> Iterator[Finding]:
    verb = next(iter(act.texts()), "")
    if verb in ("expire", "delete") and not act.has("-n"):
        yield Finding(
            HISTORY,
            HIGH,
            act.what,
            "Without the reflog, lost commits cannot be found again.",
            "reflog",
        )


def _gc(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.value("--prune") in ("now", "all"):
        yield Finding(
            HISTORY, HIGH, act.what, "It deletes commits that no branch holds, for good.", "objects"
        )


def _prune(act: Act, line: CommandLine) -> Iterator[Finding]:
    if not act.has("-n"):
        yield Finding(
            HISTORY, HIGH, act.what, "It deletes commits that no branch holds, for good.", "objects"
        )


def _branch(act: Act, line: CommandLine) -> Iterator[Finding]:
    names = " ".join(act.texts()) or "a branch"
    if act.has("-D") or (act.has("-d", "--delete") and act.has("-f", "--force")):
        yield Finding(
            HISTORY, HIGH, act.what, "It deletes a branch whose commits may be nowhere else.", names
        )
    elif act.has("-f", "--force", "-M"):
        yield Finding(
            HISTORY, LOW, act.what, "It puts a branch somewhere else, whatever it holds.", names
        )


def _tag(act: Act, line: CommandLine) -> Iterator[Finding]:
    names = " ".join(act.texts("-m -F -u")) or "a tag"
    if act.has("-d", "--delete"):
        yield Finding(HISTORY, LOW, act.what, "It deletes a tag.", names)
    elif act.has("-f", "--force"):
        yield Finding(HISTORY, LOW, act.what, "It moves a tag.", names)


def _stash(act: Act, line: CommandLine) -> Iterator[Finding]:
    verb = next(iter(act.texts()), "")
    if verb in ("drop", "clear"):
        yield Finding(DISCARD, HIGH, act.what, "It throws away work that was put aside.", "stash")


def _is_whole(word: ShellWord) -> bool:
    return word.text in _WHOLE or word.text.endswith("/") or (word.glob and "*" in word.text)


def _checkout(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.operands("-b -B --orphan --conflict")
    if act.has("-b", "--orphan") or act.has("-p", "--patch"):
        return
    dashed = "--" in act.args
    cut = act.args.index("--") if dashed else 0
    paths = list(act.words[cut + 1 :]) if dashed else [one for one in words if one.text in _WHOLE]
    if act.has("-f", "--force") and not dashed:
        yield Finding(
            DISCARD, HIGH, act.what, "It throws away all changes that are not committed.", "."
        )
    elif any(_is_whole(one) for one in paths):
        yield _thrown(act, paths, HIGH)
    elif paths or (not dashed and act.has("--ours", "--theirs")):
        if not act.has("--ours", "--theirs"):
            yield _thrown(act, paths, LOW)
    elif act.has("-B"):
        yield Finding(
            HISTORY,
            LOW,
            act.what,
            "It puts a branch somewhere else, whatever it holds.",
            act.value("-B"),
        )


def _thrown(act: Act, paths: list[ShellWord], severity: str) -> Finding:
    target = " ".join(one.text for one in paths)
    return Finding(
        DISCARD, severity, act.what, "It throws away changes that are not committed.", target
    )


def _switch(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("--discard-changes", "-f", "--force"):
        yield Finding(
            DISCARD, HIGH, act.what, "It throws away all changes that are not committed.", "."
        )
    elif act.has("-C", "--force-create"):
        yield Finding(
            HISTORY,
            LOW,
            act.what,
            "It puts a branch somewhere else, whatever it holds.",
            " ".join(act.texts()),
        )


def _restore(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("-p", "--patch") or (act.has("--staged", "-S") and not act.has("--worktree", "-W")):
        return
    paths = act.operands("-s --source --conflict")
    if paths:
        yield _thrown(act, paths, HIGH if any(_is_whole(one) for one in paths) else LOW)


def _clean(act: Act, line: CommandLine) -> Iterator[Finding]:
    if not act.has("-f", "--force") or act.has("-n", "-i", "--interactive"):
        return
    paths = act.texts("-e --exclude")
    places = [line.around.path(one, act.folder) for one in paths]
    if paths and all(one and files.is_made_again(one, line.around) for one in places):
        return
    if act.has("-X") and not act.has("-x"):
        yield Finding(
            DISCARD,
            LOW,
            act.what,
            "It deletes all files that git ignores, settings of this machine too.",
            ".",
        )
        return
    yield Finding(
        DISCARD,
        HIGH,
        act.what,
        "It deletes all files that git does not know.",
        " ".join(paths) or ".",
    )


def _rm(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("--cached", "-n"):
        return
    if act.has("-r", "-f", "--force") and not all(
        files.is_made_again(line.around.path(one, act.folder), line.around) for one in act.texts()
    ):
        severity = HIGH if act.has("-f", "--force") and act.has("-r") else LOW
        yield Finding(
            DISCARD,
            severity,
            act.what,
            "It deletes files, with their changes where forced.",
            " ".join(act.texts()),
        )


def _update_ref(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.has("-d"):
        yield Finding(
            HISTORY,
            HIGH,
            act.what,
            "It deletes a reference whose commits may be nowhere else.",
            " ".join(act.texts()),
        )


def _worktree(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.texts()[:1] == ["remove"] and act.has("-f", "--force"):
        yield Finding(
            DISCARD,
            HIGH,
            act.what,
            "It deletes a worktree with what is not committed in it.",
            " ".join(act.texts()[1:]),
        )


def _submodule(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.texts()[:1] == ["deinit"] and act.has("-f", "--force"):
        yield Finding(
            DISCARD,
            LOW,
            act.what,
            "It deletes a submodule's folder with its changes.",
            " ".join(act.texts()[1:]) or "all",
        )


def _fetch(act: Act, line: CommandLine) -> Iterator[Finding]:
    refs = [one for one in act.texts()[1:] if one.startswith("+") and ":" in one]
    if refs and not any("refs/remotes/" in one for one in refs):
        yield Finding(HISTORY, LOW, act.what, "It overwrites a local branch.", " ".join(refs))


_VERDICTS: dict[str, Callable[[Act, CommandLine], Iterator[Finding]]] = {
    "push": _push,
    "reset": _reset,
    "rebase": _rebase,
    "commit": _commit,
    "filter-branch": _rewritten,
    "filter-repo": _rewritten,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _prune,
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "clean": _clean,
    "rm": _rm,
    "update-ref": _update_ref,
    "worktree": _worktree,
    "submodule": _submodule,
    "fetch": _fetch,
}


def rewritten(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what programs beside git do to a history: `bfg`, `git-filter-repo`."""
    yield from _rewritten(act, line)
