"""Which limits a call breaks that the user set."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Sequence

from vector_memory.observe.commands import files
from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.commands.words import WORDS
from vector_memory.observe.intent import limits as acts
from vector_memory.observe.intent.changes import (
    DATA,
    ELSEWHERE,
    FILE_KINDS,
    KEPT,
    CallView,
    FileChange,
)
from vector_memory.observe.intent.grammar import PATTERNS, PLACES, VERBS
from vector_memory.observe.intent.limits import Limit

_COVERS = {
    acts.EDIT: FILE_KINDS, acts.NETWORK: {acts.NETWORK, acts.INSTALL, acts.PUSH},
    **{act: {act, acts.DEED} for act in (acts.RUN, acts.DELETE)},
}  # fmt: skip
"""The acts that a ruled out act is found in, where these are more than itself."""
_WIDE = (acts.ANYTHING, acts.CODE, acts.PRODUCT)
_APART = frozenset({"tests", "docs"})
"""Places that every package may have."""
_NOT_IN = {acts.COMMENT: "docs", acts.API: "tests"}
"""Where what looks like an act is none: a heading of a page, a helper of a test."""
_HOW = {
    acts.EDIT: "it changes {}", acts.READ: "it opens {}", acts.DELETE: "it deletes {}", acts.MOVE: "it moves {}",
    acts.CREATE: "it makes {}", acts.INSTALL: "it installs {}", acts.COMMIT: "it commits", acts.PUSH: "it pushes",
    acts.MERGE: "it merges", acts.BRANCH: "it goes to {}", acts.API: "it changes a signature in {}",
    acts.COMMENT: "it adds comments to {}", DATA: "it changes data: {}", KEPT: "it changes {}",
}  # fmt: skip


def broken(
    limits: Sequence[Limit], view: CallView, site: CallSite
) -> Iterator[tuple[Limit, str, str]]:
    """Yield (limit, how, what) for each limit that a call breaks."""
    exempt = next(
        (other.things for other in limits if other.is_only and {*other.things} <= _APART), ()
    )
    for limit in limits:
        # "Hands off that package, only the test": its tests are allowed, and nothing else is.
        is_inside = any(matches(place, thing) for place in exempt for thing in limit.things)
        if exempt and limit.act == acts.EDIT and not (limit.is_only or is_inside):
            continue
        change = next((change for change in view.changes if _breaks(limit, change, site)), None)
        if change is not None:
            what = change.path or change.subject.replace("\0", " ")
            how = _HOW.get(change.kind, "it runs `{}`")
            yield limit, how.format(site.within(what) or what), what


def _breaks(limit: Limit, change: FileChange, site: CallSite) -> bool:
    """Whether a change is what a limit rules out."""
    if limit.act == acts.RUN and change.kind in limit.things:
        return True
    if change.kind in (ELSEWHERE, DATA):
        return (
            limit.act == acts.EDIT and not limit.is_only and _holds_elsewhere(limit, change, site)
        )
    if change.kind == KEPT:
        return (
            limit.act == acts.EDIT and not limit.is_only and _names_kept_file(limit, change, site)
        )
    sentence = limit.sentence.lower()
    if change.kind not in _COVERS.get(limit.act, {limit.act}):
        return False
    if limit.spares_new and _is_new(change, site):
        return False
    if change.kind == acts.RUN:
        return any(
            _is_forbidden_command(thing, change.subject.split("\0")) for thing in limit.things
        )
    if not change.path:
        words = re.split(r"[\s:+=<>~!@\[]+", change.subject.lower())
        if limit.act == acts.DELETE:
            # "Don't delete anything", and a command that says "delete"
            words = [word for word in words if VERBS.get(word, ("",))[0] == acts.DELETE]
            return acts.ANYTHING in limit.things and any(word in sentence for word in words)
        return not limit.things or any(thing in words for thing in limit.things)
    inner = site.within(change.path)
    if inner is None:
        # Scratch files and the client's own notes are no part of the project; who names them means them.
        rooted_paths = (site.path(thing) for thing in limit.things if thing[:1] in "/~")
        return any(matches(path, change.path) for path in rooted_paths)
    if limit.act in _NOT_IN and matches(_NOT_IN[limit.act], inner):
        return False
    is_named = any(
        matches(thing, inner, f"{thing}/" in sentence) or _has_named_ending(thing, inner, site)
        for thing in limit.things
    )
    is_swept = limit.is_only or {*limit.things} <= {*_WIDE}
    if (
        "*" in inner
        and is_swept
        and limit.act == acts.EDIT
        and files.is_made_again(change.path, site)
    ):
        return False
    if "**" in inner and limit.is_only:
        return not is_named and not any(
            _may_find_only(inner.lower(), thing) for thing in limit.things
        )
    if not limit.is_only:
        is_named |= any(_includes(inner, thing) for thing in limit.things)
    return (is_named or not limit.things) != limit.is_only


def _is_new(change: FileChange, site: CallSite) -> bool:
    """Whether a change makes a file, or is of one that the session made; a pattern names files that are there."""
    is_made = change.kind == acts.CREATE and "*" not in change.path
    return (is_made and not site.exists(change.path)) or site.was_made(change.path)


def _names_kept_file(limit: Limit, change: FileChange, site: CallSite) -> bool:
    """Whether a limit names a file that a package manager keeps: "Gemfile" is not `Gemfile.lock`."""
    inner = site.within(change.path) or ""
    named_files = [
        thing for thing in limit.things if thing not in _WIDE and matches(thing, inner, True)
    ]
    return any(
        not posixpath.basename(inner).lower().startswith(f"{thing}.") for thing in named_files
    )


def _includes(inner: str, thing: str) -> bool:
    """Whether what is named is a folder above a thing, or a pattern that finds it: what goes with these goes, too. `**`
    stands for folders in between."""
    if "**" not in inner and inner.count("/") != thing.count("/"):
        return thing.startswith(f"{inner}/")
    return fnmatch.fnmatchcase(thing, inner.replace("**/", "*").lower())


def _may_find_only(inner: str, thing: str) -> bool:
    """Whether a search may find nothing but a thing: it begins above its folder, or looks for its file by name."""
    root, name = inner.partition("**")[0], inner.rpartition("/")[2]
    is_above = thing.startswith(root)
    return is_above and ("." not in posixpath.basename(thing) or name == posixpath.basename(thing))


def _has_named_ending(thing: str, inner: str, site: CallSite) -> bool:
    """Whether a path has the ending that a limit names: "no .sql files"; `.env` is a file where there is one."""
    is_ending = thing[:1] == "." and thing[1:].isalnum() and inner.lower().endswith(thing)
    return is_ending and not site.exists(f"{site.root}/{thing}")


def _holds_elsewhere(limit: Limit, change: FileChange, site: CallSite) -> bool:
    """Whether a limit holds for what is no file here: it names the database, or leaves nothing that is to be done."""
    inner = site.within(change.path) if change.path else None
    if inner and any(matches(thing, inner) for thing in limit.things if thing != acts.ANYTHING):
        return True
    is_of_files = PATTERNS["of_files"].search(limit.sentence.lower())
    return limit.things == (acts.ANYTHING,) and limit.is_alone and not is_of_files


def _is_forbidden_command(forbidden: str, words: list[str]) -> bool:
    """Whether a command, its program first, is what must not be run: a program, a path, words of one."""
    program = posixpath.basename(words[0])
    forbidden_words = forbidden.split()
    if len(forbidden_words) > 1:
        in_order = any(
            words[start : start + len(forbidden_words)] == forbidden_words
            for start in range(len(words))
        )
        parts = {part.removesuffix("s") for word in words for part in re.split(r"[\W_]+", word)}
        objects = {word.removesuffix("s") for word in forbidden_words[1:]}
        return in_order or (
            forbidden_words[0] in (*words[1:], acts.ANYTHING) and not parts.isdisjoint(objects)
        )
    if "/" in forbidden or "." in forbidden:
        programs = words[: 1 + bool(PATTERNS["interpreter"].match(program))]
        return any(f"/{word}".endswith(f"/{forbidden}") for word in programs)
    if forbidden == program == "git":
        return WORDS["git_looks"].isdisjoint(words[1:4])
    # What others are told to do by their verbs is a deed.
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    return forbidden == program or (program == "git" and forbidden == verb)


def matches(target: str, inner: str, is_folder: bool = False) -> bool:
    """Whether a path is what a limit's words name: itself, a folder above it, a pattern, a kind of place."""
    name, path = target.rstrip("/").removeprefix("./").lower(), f"/{inner.lower().lstrip('/')}"
    if name in (acts.CODE, acts.PRODUCT):
        is_test = name == acts.PRODUCT and matches("tests", inner)
        return not (is_test or matches("docs", inner))
    if name in PLACES:
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in PLACES[name])
    if "*" in name:
        return fnmatch.fnmatchcase(path, f"*/{name}")
    if f"/{name.lstrip('/')}/" in f"{path}/":
        return True
    # A module named without its ending, a package with dots.
    stem = path.rpartition(".")[0]
    is_name = not is_folder and "/" not in name[1:] and name[0] not in "./"
    return is_name and stem.endswith((f"/{name}", "/" + name.replace(".", "/")))
