"""The numbers that an exchange tells and that stand in a file, and the edits that put others there."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcript_samples import Talk

from vector_memory.index.edited_lines import BYTES, bytes_of, edited_lines, told_of
from vector_memory.index.exchanges import exchanges
from vector_memory.index.transcript import read_entries
from vector_memory.model import TOLD_OF, TOOK_AWAY, WROTE

LINE = 'export const LID_MINUTES = 15 // "of the crate"'
FILE = "/home/dev/app/lid.ts"


def extra_of(
    folder: Path, said: str, *edits: tuple[str, str], read: str = "", file: str = FILE
) -> dict[str, object]:
    """Return the marks of an exchange that read a text in a file, and edited it."""
    talk = Talk()
    talk.user(said)
    if read:
        talk.call("Read", "r", file_path=file)
        talk.result(read, "r")
    for number, (old, new) in enumerate(edits):
        talk.call("Edit", f"t{number}", file_path=file, old_string=old, new_string=new)
        talk.result("ok", f"t{number}")
    talk.say("So it is with the lid.")
    (exchange,) = exchanges(read_entries(talk.write(folder / "t.jsonl")))
    return edited_lines(exchange, lambda text: text.replace("4711", "⟦redacted⟧"))


def told(folder: Path, said: str, *edits: tuple[str, str], read: str = "") -> set[bytes]:
    return _each(extra_of(folder, said, *edits, read=read).get(TOLD_OF))


def gone(folder: Path, said: str, old: str, new: str, file: str = FILE) -> set[bytes]:
    return _each(extra_of(folder, said, (old, new), file=file).get(TOOK_AWAY))


def _each(packed: object) -> set[bytes]:
    marks = bytes_of(packed)
    return {marks[at : at + BYTES] for at in range(0, len(marks), BYTES)}


@pytest.mark.parametrize(("old", "new"), [("MINUTES = 15", "MINUTES = 30"), (LINE, LINE.replace("15", "30")), ("LID_MINUTES = 15\n", "")])  # fmt: skip
def test_a_part_of_a_line_takes_the_number_away(tmp_path: Path, old: str, new: str) -> None:
    """Whether it was written or read, however much of the line is edited, and however it was asked for."""
    took = gone(tmp_path, "30 then, not 15", f"LID_{old}" if old.startswith("M") else old, new)
    assert told(tmp_path, "15 minutes for the lid", ("", LINE)) & took
    assert told(tmp_path, "why 15 minutes?", read=f"     1→import lid\n     2→{LINE}\n") & took


@pytest.mark.parametrize(
    ("old", "new"),
    [("LID_MINUTES = 15", "LID_MINUTES: int = 15"), ("RIM_MINUTES = 15", "RIM_MINUTES = 30"), ("LID_MINUTES = 20", "LID_MINUTES = 30")],
)  # fmt: skip
def test_other_edits_leave_it(tmp_path: Path, old: str, new: str) -> None:
    """Of what else stands in the line, of another word's number, of another number of the word."""
    assert not told(tmp_path, "15 minutes for the lid", ("", LINE)) & gone(tmp_path, "30 now, not 15 or 20", old, new)  # fmt: skip


def test_another_file_has_other_numbers(tmp_path: Path) -> None:
    took = gone(tmp_path, "30 then", "LID_MINUTES = 15", "LID_MINUTES = 30", "/home/dev/app/rim.ts")
    assert not told(tmp_path, "15 minutes for the lid", ("", LINE)) & took


def test_what_nobody_tells_is_no_value(tmp_path: Path) -> None:
    """What stands in a file that was read, and what is changed in passing."""
    assert not told(tmp_path, "what is that lid?", ("", LINE))
    assert not told(tmp_path, "what is that lid?", read=LINE)
    took = gone(tmp_path, "make the release", "LID_MINUTES = 15", "LID_MINUTES = 30")
    assert not told(tmp_path, "15 minutes for the lid", ("", LINE)) & took


def test_a_number_that_was_read_and_changed_at_once_is_told_no_more(tmp_path: Path) -> None:
    extra = extra_of(tmp_path, "30 rather than 15", ("LID_MINUTES = 15", "LID_MINUTES = 30"), read=LINE)  # fmt: skip
    assert not told_of(extra[TOLD_OF], ["15"]) and told_of(extra[TOLD_OF], ["30"])
    assert told(tmp_path, "15 minutes for the lid", ("", LINE)) & _each(extra[TOOK_AWAY])


def test_a_memory_has_the_numbers_that_it_tells_itself(tmp_path: Path) -> None:
    """Another passage of its exchange may tell of more."""
    packed = extra_of(tmp_path, "15 for the lid, 8 for the rim", ("", f"{LINE}\nRIM_MINUTES = 08"))[TOLD_OF]  # fmt: skip
    assert len(bytes_of(packed)) == 2 * BYTES
    assert len(told_of(packed, ["the lid takes 15 minutes", "of 20"])) == BYTES
    assert told_of(packed, ["the lid takes minutes"]) == b""


@pytest.mark.parametrize("number", ["4711", "00491701234567"])
def test_what_is_redacted_and_long_numbers_are_no_values(tmp_path: Path, number: str) -> None:
    assert not told(tmp_path, f"{number} for the lid", ("", f"LID = {number}"))


def test_marks_of_numbers_hold_no_word_either(tmp_path: Path) -> None:
    assert not any(map(str.isalnum, str(extra_of(tmp_path, "15 it is", ("", LINE))[TOLD_OF])))


def test_what_was_only_read_and_named_is_not_written(tmp_path: Path) -> None:
    """Its file may be deleted or moved without a word of it being less true."""
    assert WROTE not in extra_of(tmp_path, "what is in lid.ts, and why 15?", read=LINE)
