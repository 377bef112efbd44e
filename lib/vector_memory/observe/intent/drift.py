"""Whether a session still does what it was asked.

A broken limit is certain. Scope drift is a change where nothing that was asked, read or named has anything to
do with; target drift is a long row of changes of which none has. Both need evidence: what is not sure is no
drift. A new prompt begins anew.
"""

from __future__ import annotations

import posixpath
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from vector_memory.observe.commands.findings import (
    HIGH,
    LIMIT,
    LOW,
    SCOPE_DRIFT,
    TARGET_DRIFT,
    CallSite,
    Finding,
)
from vector_memory.observe.intent import broken_limits, limits
from vector_memory.observe.intent.changes import FILE_KINDS, CallView
from vector_memory.observe.intent.grammar import PATTERNS
from vector_memory.observe.intent.objectives import Objectives, is_about, terms_of

LONG_ROW = 8
"""So many changes in a row without a word of what was asked are target drift."""
MOST_SEEN = 2_000


@dataclass
class Course:
    """Where a session's work has gone so far: kept in memory, one for each session."""

    seen_paths: OrderedDict[str, None] = field(default_factory=OrderedDict)
    """Paths within the project that were read, named or changed."""
    row: list[str] = field(default_factory=list)
    """The last changes, as long as none of them has to do with what was asked."""
    has_told_row: bool = False

    def prompted(self) -> None:
        """A new prompt came: begin anew."""
        self.row.clear()
        self.has_told_row = False

    def note(self, path: str) -> None:
        """Remember that a path was read or named."""
        self.seen_paths[path] = None
        while len(self.seen_paths) > MOST_SEEN:
            self.seen_paths.popitem(last=False)


def judge_call(
    course: Course, objectives: Objectives, view: CallView, site: CallSite
) -> list[Finding]:
    """Return how a call breaks a limit or leads away from what was asked, and remember the call."""
    findings = [
        Finding(LIMIT, HIGH, what, f"The user said: \u201c{limit.sentence}\u201d \u2013 {how}.", f"{limit.act} {what}")
        for limit, how, what in broken_limits.broken(objectives.limits, view, site)
    ]  # fmt: skip
    if objectives.is_specific:
        findings += _find_drift(course, objectives, view, site)
    for path in view.named:
        if inner := site.within(path):
            course.note(inner)
    return findings


def _find_drift(
    course: Course, objectives: Objectives, view: CallView, site: CallSite
) -> Iterator[Finding]:
    changed = [
        (inner, change.kind)
        for change in view.changes
        if change.kind in FILE_KINDS and _is_telling(inner := site.within(change.path) or ".")
    ]
    paths = [path for path in map(site.within, view.named) if path]
    # The project's own path would make everything akin to a task that has its name in it.
    text = view.text.replace(site.root + "/", " ")
    if is_about(objectives, "", text) or any(is_about(objectives, path, "") for path in paths):
        course.row.clear()
        return
    if inner := next((inner for inner, kind in changed if _is_unseen(course, inner, kind)), ""):
        why = f"Nothing that was asked, read or named has to do with {inner}."
        yield Finding(SCOPE_DRIFT, LOW, inner, why, posixpath.dirname(inner) or inner)
    course.row += [inner for inner, _ in changed]
    if changed and len(course.row) >= LONG_ROW and not course.has_told_row:
        course.has_told_row = True
        where = ", ".join(dict.fromkeys(course.row[-3:]))
        why = f"The last {len(course.row)} changes ({where}) say nothing of what was asked."
        yield Finding(TARGET_DRIFT, LOW, where, why, "row")


def _is_telling(inner: str) -> bool:
    """Whether a changed file tells of a course: one of the project that does not go with any change."""
    return inner != "." and not PATTERNS["companion"].search(inner)


def _is_unseen(course: Course, inner: str, kind: str) -> bool:
    """Whether nobody came across a file, its folder or anything of its name before."""
    if inner in course.seen_paths or kind not in (limits.EDIT, limits.CREATE, limits.DELETE):
        return False
    folder = posixpath.dirname(inner)
    if not folder or any(
        path.startswith(folder + "/") or path == folder for path in course.seen_paths
    ):
        return False
    path_terms = [terms_of(path.replace("/", " ")) for path in list(course.seen_paths)[-200:]]
    counts = Counter(term for terms in path_terms for term in terms)
    # What stands in most paths, such as a package's name, makes nothing akin.
    common = {term for term, times in counts.items() if times > max(2, 0.6 * len(path_terms))}
    own_terms = terms_of(inner.replace("/", " ")) - common
    return own_terms.isdisjoint(counts)
