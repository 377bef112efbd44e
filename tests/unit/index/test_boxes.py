"""Boxes of to-do lists: what an edit did to them, and which files are such lists."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.index.boxes import LONGEST_BOX, MOST_ADDED, box_in, of_edit
from vector_memory.system.json_in import Record

CWD = "/home/dev/app"
VALVE, PUMP = "- [ ] buy a valve of brass", "- [ ] test the pump"


def noted(file: str = "TODO.md", **result: Any) -> list[str]:
    """Return what an edit did to a list."""
    return of_edit(file, CWD, Record(result))


def replaced(old: str, new: str) -> list[str]:
    """Return what an edit did that put one text of whole lines in another's place."""
    lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    return noted(oldString=old, newString=new, structuredPatch=[{"lines": lines}])


def test_only_what_an_edit_changes_counts() -> None:
    """What stood there before, in whatever order, is no news."""
    assert replaced(VALVE, f"{PUMP}\n{VALVE}") == ["TODO.md: [ ] test the pump"]
    assert replaced(f"{VALVE}\n{PUMP}", f"{PUMP}\n{VALVE}") == []
    assert replaced("", f"# To do\n* [ ] buy **a valve**\n{PUMP}") == [
        "TODO.md: [ ] buy a valve",
        "TODO.md: [ ] test the pump",
    ]


def test_a_box_is_ticked_taken_out_and_opened_again() -> None:
    """Another wording is another box; what was ticked already says nothing."""
    ticked = VALVE.replace("[ ]", "[x]")
    assert replaced(VALVE, ticked) == ["TODO.md: [x] buy a valve of brass"]
    assert replaced(VALVE, "") == ["TODO.md: [-] buy a valve of brass"]
    assert replaced(ticked, VALVE) == ["TODO.md: [ ] buy a valve of brass"]
    assert replaced(VALVE, f"{VALVE}, 2 cm") == [
        "TODO.md: [-] buy a valve of brass",
        "TODO.md: [ ] buy a valve of brass, 2 cm",
    ]
    assert replaced("", ticked) == replaced(ticked, "") == []


def test_the_client_notes_whole_lines() -> None:
    """An edit may name a part of a line; a file that is written anew has only a few new ones."""
    hunk = {"lines": [" # To do", "-- [ ] ring buffer in flash", "+- [x] ring buffer in flash", "\\ No newline"]}  # fmt: skip
    change = {"structuredPatch": [hunk], "oldString": "[ ] ring", "newString": "[x] ring"}
    assert noted(**change) == ["TODO.md: [x] ring buffer in flash"]
    whole = f"{VALVE}\n{PUMP}"
    assert noted(type="update", content=whole, originalFile=VALVE) == ["TODO.md: [ ] test the pump"]
    assert noted(type="create", content=PUMP, originalFile=None) == ["TODO.md: [ ] test the pump"]
    # Nobody knows what was there before.
    assert noted(type="update", content=whole) == noted(content=whole) == noted() == []
    edits = [{"old_string": VALVE, "new_string": ""}, {"old_string": "", "new_string": PUMP}]
    assert noted(edits=edits) == [
        "TODO.md: [-] buy a valve of brass…",
        "TODO.md: [ ] test the pump",
    ]


def test_a_box_may_go_on_behind_a_part_of_a_line() -> None:
    """Only behind the last one that an edit names, and only where no whole lines are noted."""
    old = f"{PUMP}\n{VALVE}"
    assert noted(oldString=old, newString=old.replace("[ ]", "[x]")) == [
        "TODO.md: [x] test the pump",
        "TODO.md: [x] buy a valve of brass…",
    ]
    assert noted(oldString=old, newString=PUMP) == ["TODO.md: [-] buy a valve of brass…"]
    assert noted(oldString="", newString=VALVE) == ["TODO.md: [ ] buy a valve of brass"]


def test_what_is_no_list_of_what_to_do_next() -> None:
    """Code, what is no item, a document full of boxes, a huge edit."""
    assert replaced("", f"```\n{VALVE}\n```\nuse [ ] for a box\n") == []
    many = "\n".join(f"- [ ] step number {number}" for number in range(MOST_ADDED + 1))
    assert replaced("", many) == []
    assert len(replaced("", many.rpartition("\n")[0])) == MOST_ADDED
    assert replaced(f"{VALVE}", many) == ["TODO.md: [-] buy a valve of brass"]
    assert replaced("", VALVE + "\n" + "x" * 200_000) == []
    (long,) = replaced("", f"- [ ] {'word ' * 200}")
    assert len(long) <= LONGEST_BOX + len("TODO.md: [ ] ")


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("TODO.md", True), ("docs/roadmap.markdown", True), ("notes/plan.org", True), ("TODO", True),
        ("/home/dev/TODO.md", True), ("C:\\src\\app\\todo.txt", False), ("src/list.py", False), ("Makefile", False),
        ("src/todos.py", False), ("web/TodoList.tsx", False), ("todo/app.test.js", False), ("Todo-later", True),
        (".github/pull_request.md", False), ("docs/PULL_REQUEST_TEMPLATE.md", False), ("docs/release-checklist.md", False),
        ("tests/fixtures/list.md", False), ("/tmp/other/TODO.md", False), ("/home/dev/.claude/plans/a.md", False),
    ],
)  # fmt: skip
def test_which_files_are_lists(file: str, is_one: bool) -> None:
    """Texts of the project, in the session's folder or around it, but none that is copied and ticked elsewhere."""
    told = of_edit(file, CWD, Record(oldString="", newString=VALVE))
    assert [box_in(line) for line in told] == [(file, " ", VALVE[6:])] * is_one


def test_a_box_is_read_again_as_it_was() -> None:
    """And nothing else that was done is one."""
    for line in replaced(
        f"{VALVE}\n{PUMP}", f"{VALVE.replace('[ ]', '[X]')}\n- [ ] see: [ ] is a box"
    ):
        box = box_in(line)
        assert box is not None and f"{box[0]}: [{box[1]}] {box[2]}" == line
    for line in (
        "Bash: [ ] && ls",
        "Bash: echo a.md: [ ] buy it",
        "Task: [x] test it",
        "TODO.md: [ ] a\nb",
        "TODO.md: [ ] ",
        "TODO.md: [?] a",
    ):
        assert box_in(line) is None
