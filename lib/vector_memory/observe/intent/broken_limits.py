"""Which limits a call breaks that the user set."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Sequence

from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.intent import limits as acts
from vector_memory.observe.intent.changes import FILE_KINDS, CallView, FileChange
from vector_memory.observe.intent.grammar import PLACES, RUNS, SAYS
from vector_memory.observe.intent.limits import Limit

_COVERS = {
    acts.EDIT: FILE_KINDS,
    acts.NETWORK: {acts.NETWORK, acts.INSTALL, acts.PUSH},
    acts.HISTORY: {acts.HISTORY},
}
"""The acts that a ruled out act is found in, where these are more than itself."""
_HOW = {acts.COMMIT: "it commits", acts.PUSH: "it pushes", acts.REQUEST: "it opens a pull request", acts.READ: "it opens {}", acts.INSTALL: "it installs {}",
        acts.DELETE: "it deletes {}", acts.MOVE: "it moves {}", acts.CREATE: "it makes {}", acts.NETWORK: "it goes to the network: {}", acts.RUN: "it runs `{}`",
        acts.DATABASE: "it runs {} against a database", "branch": "it goes to {}", acts.HISTORY: "it rewrites history", "merge": "it merges"}  # fmt: skip

_BY_WORDS = (acts.INSTALL, acts.COMMENT, acts.API)
"""Acts that the words of an edit tell."""
_LOOKS = frozenset(
    ("ls", "cat", "head", "tail", "less", "wc", "file", "stat", "tree", "grep", "rg", "diff", "sort", "uniq")
)  # fmt: skip
"""Programs that run nothing of what they are given: a script that must not run may be read."""
_TALK = (".md", ".rst", ".txt", ".adoc", ".json", ".html")


def broken(
    limits: Sequence[Limit], view: CallView, around: CommandSurroundings
) -> Iterator[tuple[Limit, str, str]]:
    """Yield (limit, how, what) for each limit that a call breaks."""
    for limit in limits:
        for change in view.changes:
            if how := _breaks(limit, change, around):
                what = change.path or change.what.replace("\0", " ")
                yield limit, how.format(around.within(what) or what), what
                break


def _breaks(limit: Limit, change: FileChange, around: CommandSurroundings) -> str:
    """Return how a change breaks a limit, "" if it does not."""
    inner = around.within(change.path) if change.path else None
    if inner is not None and limit.act in _BY_WORDS and change.kind in (acts.EDIT, acts.CREATE):
        return _by_words(limit, change, inner)
    if change.kind not in _COVERS.get(limit.act, {limit.act}):
        return ""
    if not change.path:
        is_meant = _is_meant(limit, change)
    elif inner is None:
        # Scratch files and the client's own notes are no part of the project; who names them means them.
        rooted = (around.path(thing) for thing in limit.things if thing[:1] in "/~")
        is_meant = any(matches(path, change.path) for path in rooted)
    else:
        said = limit.said.lower()
        named = (matches(thing, inner, f"{thing}/" in said) for thing in limit.things)
        is_meant = (not limit.things or any(named)) != limit.is_only
    return _HOW.get(change.kind, "it changes {}") if is_meant else ""


def _is_meant(limit: Limit, change: FileChange) -> bool:
    """Whether a limit is set for what no file is changed by: a push, a package, a command."""
    if change.kind == acts.DATABASE:
        return acts.WRITE not in limit.things or bool(SAYS["writes"].search(change.after))
    if change.kind == acts.RUN:
        return any(_runs(thing, change.what.split("\0")) for thing in limit.things)
    words = re.split(r"[\s:+=<>~!@\[]+", change.what.lower())
    return not limit.things or any(thing in words for thing in limit.things)


def _runs(forbidden: str, words: list[str]) -> bool:
    """Whether a command, its program first, is what must not be run: a command, a path, a kind, a verb."""
    names = [posixpath.basename(word) for word in words]
    if names[0] in _LOOKS:
        return False
    given = {*words[1:], *(word.partition(":")[0] for word in words[1:5])}
    for row in RUNS.get(forbidden, ()):
        first, *others = row.split()
        if first in (names[0], "*") and given.issuperset(others):
            return True
    said = forbidden.split()
    if len(said) > 1:
        in_order = any(words[i : i + len(said)] == said for i in range(len(words)))
        parts = {one.removesuffix("s") for word in words for one in re.split(r"[\W_]+", word)}
        objects = {one.removesuffix("s") for one in said[1:]}
        return in_order or (said[0] in (*given, acts.ANYTHING) and not parts.isdisjoint(objects))
    if "/" in forbidden or "." in forbidden:
        return any(
            ("/" + word).endswith("/" + forbidden)
            for word in words[: 1 + bool(SAYS["interpreter"].match(names[0]))]
        )
    return forbidden in (*names[:1], *given)


def matches(target: str, inner: str, is_folder: bool = False) -> bool:
    """Whether a path is what a limit's words name: itself, a folder above it, a pattern, a kind of place."""
    low, path = target.rstrip("/").removeprefix("./").lower(), inner.lower()
    if low in (acts.CODE, acts.PRODUCT):
        is_test = low == acts.PRODUCT and matches("tests", inner)
        return not (is_test or matches("docs", inner))
    if low in PLACES:
        return any(fnmatch.fnmatchcase("/" + path, one) for one in PLACES[low])
    if "*" in low:
        return fnmatch.fnmatchcase(f"/{path}", f"*/{low}")
    if f"/{low.lstrip('/')}/" in f"/{path.lstrip('/')}/":
        return True
    # A module named without its ending, a package with dots.
    stem = path.rpartition(".")[0]
    return (
        not is_folder
        and "/" not in low[1:]
        and low[0] not in "./"
        and f"/{stem}".endswith((f"/{low}", "/" + low.replace(".", "/")))
    )


def _by_words(limit: Limit, change: FileChange, inner: str) -> str:
    """Return how the words of an edit break a limit, "" if they do not."""
    if limit.act == acts.INSTALL and change.before and SAYS["manifest"].search("/" + inner):
        added = {*SAYS["dependency"].findall(change.after)} - {
            *SAYS["dependency"].findall(change.before)
        }
        return f"it adds {min(added)} to {{}}" if added else ""
    if limit.act == acts.COMMENT and change.after and not inner.endswith(_TALK):
        old, new = (set(SAYS["comment"].findall(text)) for text in (change.before, change.after))
        return "" if new <= old else "it adds comments to {}"
    if limit.act == acts.API and change.before and not matches("tests", inner):
        if limit.things and not any(matches(thing, inner) for thing in limit.things):
            return ""
        before, after = _signatures(change.before), _signatures(change.after)
        name = next((one for one, given in before.items() if after.get(one) != given), "")
        return f"it changes the signature of {name} in {{}}" if name else ""
    return ""


def _signatures(text: str) -> dict[str, str]:
    found = ((one[1] or one[3], one[2] or one[4] or "") for one in SAYS["signature"].finditer(text))
    return {name: re.sub(r"\s", "", given) for name, given in found if not name.startswith("_")}
