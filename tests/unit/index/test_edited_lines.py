"""The lines that an exchange's edits wrote and took away, by marks that say nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcript_samples import Talk

from vector_memory.index.edited_lines import BYTES, MOST_LINES, bytes_of, edited_lines
from vector_memory.index.exchanges import exchanges
from vector_memory.index.transcript import read_entries
from vector_memory.model import TOOK_AWAY, WROTE


def marks_in(packed: object) -> list[bytes]:
    """Return marks one by one."""
    marks = bytes_of(packed)
    return [marks[at : at + BYTES] for at in range(0, len(marks), BYTES)]


OLD, NEW = "margin_of_lid = 2", "margin_of_lid = 5"


def marks(folder: Path, *edits: tuple[str, str], failed: bool = False, **more: str) -> tuple[list[bytes], list[bytes]]:  # fmt: skip
    """Return the marks of what an exchange of some edits of one file wrote and took away."""
    talk = Talk()
    talk.user("mind the lid of the crate")
    for number, (old, new) in enumerate(edits):
        given = {"file_path": "/home/dev/app/lid.py", "old_string": old, "new_string": new}
        talk.call("Edit", f"t{number}", **{**given, **more})
        talk.result("ok", f"t{number}", failed=failed)
    talk.say("The lid has its margin.")
    (exchange,) = exchanges(read_entries(talk.write(folder / "t.jsonl")))
    extra = edited_lines(exchange, lambda text: text.replace("crate-4711", "⟦redacted⟧"))
    return marks_in(extra.get(WROTE)), marks_in(extra.get(TOOK_AWAY))


def ran(folder: Path, line: str) -> list[bytes]:
    """Return the marks of what a command took away."""
    talk = Talk()
    talk.user("away with the lid")
    talk.call("Bash", command=line)
    talk.result("")
    (exchange,) = exchanges(read_entries(talk.write(folder / "t.jsonl")))
    return marks_in(edited_lines(exchange, str).get(TOOK_AWAY))


def test_what_one_wrote_another_takes_away(tmp_path: Path) -> None:
    """Whatever stands around it, and however it is indented."""
    written, nothing = marks(tmp_path, ("", f"def lid():\n    {OLD}\n    return 0\n"))
    wrote, took = marks(tmp_path, (f"# the lid of it\n  {OLD}", f"# the lid of it\n  {NEW}"))
    assert not nothing and len(took) == 1
    assert took[0] in written and wrote[-1] not in written


@pytest.mark.parametrize("path", ["/home/dev/app/rim.py", "/home/dev/app/src/lid.py", "/home/dev/other/lid.py"])  # fmt: skip
def test_another_file_is_another_line(tmp_path: Path, path: str) -> None:
    """One of the same name in another folder, too; what lies outside counts for nothing."""
    assert set(marks(tmp_path, ("", OLD))[0]).isdisjoint(marks(tmp_path, (OLD, NEW), file_path=path)[1])  # fmt: skip


def test_what_tells_each_release_anew_changes_nothing(tmp_path: Path) -> None:
    assert marks(tmp_path, (OLD, NEW), file_path="/home/dev/app/CHANGELOG.md") == ([], [])


def test_short_lines_stand_everywhere(tmp_path: Path) -> None:
    """The file alone is marked."""
    wrote, took = marks(tmp_path, ("else:\n    return 0\n", "pass\n}\n"))
    assert (len(wrote), took) == (1, [])


def test_an_edit_that_failed_wrote_nothing(tmp_path: Path) -> None:
    assert marks(tmp_path, (OLD, NEW), failed=True) == ([], [])


@pytest.mark.parametrize(
    "line",
    ["rm -f src/lid.py", "git rm -rq src doc", "cd src && sudo rm lid.py", "git rm -r ./src/", "rm /home/dev/app/src/lid.py"],
)  # fmt: skip
def test_what_is_deleted_takes_its_lines_away(tmp_path: Path, line: str) -> None:
    """A file by its name, or with its folder."""
    wrote, _ = marks(tmp_path, ("", OLD), file_path="/home/dev/app/src/lid.py")
    assert not set(wrote).isdisjoint(ran(tmp_path, line))


@pytest.mark.parametrize(
    "line",
    ["rm *.py", "ls src/lid.py", "git rm --cached src/lid.py", "git rm -n src/lid.py", "rm -rf dist/src", "rm -rf /tmp/xyz/src",
     "cd /tmp/old && rm -rf src", "cp src/lid.py /tmp && rm /tmp/lid.py", "rm -rf ../src", "rm lid.py", "git mv src lib", "mv src/lid.py lid.off"],
)  # fmt: skip
def test_other_commands_take_nothing_away(tmp_path: Path, line: str) -> None:
    wrote, _ = marks(tmp_path, ("", OLD), file_path="/home/dev/app/src/lid.py")
    assert set(wrote).isdisjoint(ran(tmp_path, line))


def test_a_long_file_says_nothing(tmp_path: Path) -> None:
    """Cut off, it would lack the lines that went beyond the cut."""
    text = "\n".join(f"margin_of_lid_{number} = {number}" for number in range(2_000))
    wrote, took = marks(tmp_path, (text, f"{OLD}\n{text}"))
    assert (len(wrote), took) == (1, [])


def test_a_call_that_was_never_answered_did_nothing(tmp_path: Path) -> None:
    talk = Talk()
    talk.user("mind the lid of the crate")
    talk.call("Edit", file_path="/home/dev/app/lid.py", old_string=OLD, new_string=NEW)
    talk.say("No, I leave the lid as it is.")
    (exchange,) = exchanges(read_entries(talk.write(tmp_path / "t.jsonl")))
    assert edited_lines(exchange, str) == {}


def test_marks_hold_no_word_that_is_purged(tmp_path: Path) -> None:
    wrote, _ = marks(
        tmp_path, ("", "\n".join(f"margin_of_lid_{number} = 2" for number in range(100)))
    )
    assert len(wrote) == 101
    talk = Talk()
    talk.user("mind the lid")
    talk.call("Edit", file_path="/home/dev/app/lid.py", old_string="", new_string=OLD)
    talk.result("ok")
    (exchange,) = exchanges(read_entries(talk.write(tmp_path / "t.jsonl")))
    assert not any(map(str.isalnum, str(edited_lines(exchange, str)[WROTE])))


def test_a_file_written_anew_takes_its_old_lines_away(tmp_path: Path) -> None:
    """As the client tells what it was; what stayed was not written now."""
    talk = Talk()
    talk.user("write the lid anew")
    content, before = f"{NEW}\nrim_of_lid = 1\n", f"{OLD}\nrim_of_lid = 1\n"
    talk.call("Write", file_path="/home/dev/app/lid.py", content=content)
    talk.result("ok")
    talk.lines[-1]["toolUseResult"] = {"originalFile": before, "content": content, "type": "update"}
    (exchange,) = exchanges(read_entries(talk.write(tmp_path / "t.jsonl")))
    extra = edited_lines(exchange, str)
    wrote, took = marks_in(extra.get(WROTE)), marks_in(extra.get(TOOK_AWAY))
    assert (wrote, took) == marks(tmp_path, (OLD, NEW))


def test_what_was_changed_again_on_the_way_counts_as_neither(tmp_path: Path) -> None:
    wrote, took = marks(tmp_path, (OLD, NEW), (NEW, "margin_of_lid = 7"))
    assert (wrote, took) == marks(tmp_path, (OLD, "margin_of_lid = 7"))


def test_secrets_are_redacted_before_they_are_marked(tmp_path: Path) -> None:
    """Two lines that differ in a secret alone are one line."""
    first, second = (marks(tmp_path, ("", f"the lock of the lid opens with {code}"))[0] for code in ("crate-4711", "⟦redacted⟧"))  # fmt: skip
    assert first == second


def test_whole_files_are_cut_off(tmp_path: Path) -> None:
    lines = "\n".join(f"margin_of_lid_{number} = {number}" for number in range(MOST_LINES + 50))
    assert len(marks(tmp_path, ("", lines))[0]) == MOST_LINES


def test_several_edits_of_one_call(tmp_path: Path) -> None:
    talk = Talk()
    talk.user("mind both lids")
    edits = [{"old_string": OLD, "new_string": NEW}, {"old_string": "rim_of_lid = 1", "new_string": "rim_of_lid = 3"}]  # fmt: skip
    talk.call("MultiEdit", file_path="/home/dev/app/lid.py", edits=edits)  # type: ignore[arg-type]
    talk.result("ok")
    (exchange,) = exchanges(read_entries(talk.write(tmp_path / "t.jsonl")))
    assert len(marks_in(edited_lines(exchange, str).get(TOOK_AWAY))) == 2


def test_marks_of_somebody_elses_making() -> None:
    """An import may hold anything."""
    assert marks_in(None) == marks_in(3) == marks_in("zz") == marks_in("0123") == []


def test_another_layout_says_the_same(tmp_path: Path) -> None:
    long, broken = "lid = Lid(margin=2, rim=3)", "lid = Lid(\n    margin=2,\n    rim=3,\n)"
    assert marks(tmp_path, (long, broken))[1] == []
