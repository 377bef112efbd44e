"""Reading on and on gives what reading once gives."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_samples import Talk

from vector_memory.errors import UnsafeTextError
from vector_memory.index import reader
from vector_memory.index.cursor import Cursor, Position
from vector_memory.index.memories import Draft
from vector_memory.index.reader import transcripts_below

Texts = dict[str, str]


def read_new(path: str, cursor: Cursor | None, **more: Any) -> tuple[list[Draft], Cursor]:
    """Return the drafts of what is new, and where to read on."""
    turn = reader.read_new(path, cursor, **more)
    return turn.drafts, turn.cursor


def texts(drafts: list[Draft]) -> Texts:
    return {one.external_id: one.text for one in drafts}


def kept(cursor: Cursor) -> Cursor:
    """The cursor after it went through the state database."""
    return Cursor.from_dict(json.loads(json.dumps(cursor.to_dict())))


def two_turns() -> Talk:
    talk = Talk()
    talk.user("First question?")
    talk.say("First answer.")
    talk.user("Second question?")
    talk.say("Second answer.")
    return talk


def test_nothing_new(tmp_path: Path) -> None:
    """Reading again without change gives nothing."""
    path = two_turns().write(tmp_path / "t.jsonl")
    drafts, cursor = read_new(path, None, final=False)
    assert len(drafts) == 2
    again, moved = read_new(path, kept(cursor), final=True)
    assert again == []
    assert moved == cursor


def test_cursor_holds_no_text(tmp_path: Path) -> None:
    """Nothing that was said is kept in a cursor: it has not been redacted."""
    _, cursor = read_new(two_turns().write(tmp_path / "t.jsonl"), None, final=False)
    raw = json.dumps(cursor.to_dict())
    assert "question" not in raw
    assert "answer" not in raw


def test_open_exchange_waits(tmp_path: Path) -> None:
    """A prompt without any answer waits for one, or for the session's end."""
    talk = two_turns()
    talk.user("Third question?")
    path = talk.write(tmp_path / "t.jsonl")
    drafts, cursor = read_new(path, None, final=False)
    assert len(drafts) == 2
    late, _ = read_new(path, kept(cursor), final=True)
    assert [one.text for one in late] == ["User: Third question?"]


def test_grown_exchange_keeps_its_id(tmp_path: Path) -> None:
    """More text after a Stop gives the same id again, with all of the text."""
    talk = two_turns()
    path = talk.write(tmp_path / "t.jsonl")
    _, cursor = read_new(path, None, final=False)
    talk.say("And one more thing.")
    talk.write(tmp_path / "t.jsonl")
    drafts, _ = read_new(path, kept(cursor), final=False)
    assert texts(drafts) == {
        "s1-u3:0": "User: Second question?\nAssistant: Second answer.\nAssistant: And one more thing."
    }
    assert drafts[0].turn == 2


def test_last_message_comes_before_the_transcript(tmp_path: Path) -> None:
    """The last answer counts although the transcript lags, and once although it follows."""
    talk = Talk()
    answer = "The ledger listens on port 8080."
    talk.user("Which port is it?")
    path = talk.write(tmp_path / "t.jsonl")
    drafts, cursor = read_new(path, None, final=False, last_assistant_message=f"{answer}\n")
    assert [one.text for one in drafts] == [f"User: Which port is it?\nAssistant: {answer}"]
    talk.say(answer)
    talk.write(tmp_path / "t.jsonl")
    again, _ = read_new(path, kept(cursor), final=True, last_assistant_message=answer)
    assert again == []


def test_last_message_belongs_to_the_prompt_that_it_followed(tmp_path: Path) -> None:
    """A prompt that was queued stands in the transcript when the turn before it is read: the answer to that
    turn is not its answer, whether the transcript has it, or the prompt is known to be newer."""
    talk = two_turns()
    talk.user("Third question?")
    path = talk.write(tmp_path / "t.jsonl")
    for answer, at in (("Second answer.", None), ("First answer.", None), ("As it was sent.", 0.0)):
        turn = reader.read_new(path, None, final=True, last_assistant_message=answer, stopped_at=at)
        assert texts(turn.drafts)["s1-u5:0"] == "User: Third question?"


@pytest.mark.parametrize("damage", ["truncated", "rewritten head", "replaced", "emptied"])
def test_changed_file_is_read_anew(tmp_path: Path, damage: str) -> None:
    """A file that is not the one that was read is read from its start, with the same ids."""
    talk = two_turns()
    path = talk.write(tmp_path / "t.jsonl")
    drafts, cursor = read_new(path, None, final=False)
    other = Talk()
    other.user("First question?")
    other.say("Another answer." + "x" * 3000 * (damage == "replaced"))
    if damage == "truncated":
        other.lines = other.lines[:1]
    if damage == "rewritten head":
        other.lines += talk.lines[2:]
        other.lines[1]["message"]["content"] = "Fresh answer."
    if damage == "emptied":
        other.lines = []
    other.write(tmp_path / "t.jsonl")
    again, _ = read_new(path, kept(cursor), final=True)
    once, _ = read_new(path, None, final=True)
    assert set(texts(once).items()) >= set(texts(again).items())
    assert {**texts(drafts), **texts(again)}.items() >= texts(once).items()


def test_damaged_cursor_starts_over() -> None:
    """A cursor of another shape counts as none."""
    assert Cursor.from_dict({"offset": "far"}) == Cursor()
    assert Cursor.from_dict({"unknown": 1}) == Cursor()


def test_resumed_copy_gives_the_same_ids(tmp_path: Path) -> None:
    """A fork copies earlier lines into a new file under a new session: ids stay, nothing doubles."""
    talk = two_turns()
    first, _ = read_new(talk.write(tmp_path / "a.jsonl"), None, final=True)
    fork = Talk("s2")
    for line in talk.lines:
        fork.raw({**line, "sessionId": "s2"})
    fork.user("Third question?")
    fork.say("Third answer.")
    second, _ = read_new(fork.write(tmp_path / "b.jsonl"), None, final=True)
    assert set(texts(first)) < set(texts(second))
    assert len(second) == 3


def test_refused_exchange_is_left_out(tmp_path: Path) -> None:
    """Where the redactor refuses one exchange, the others are still given."""

    def clean(text: str) -> str:
        if "First" in text:
            raise UnsafeTextError("no")
        return text

    drafts, _ = read_new(two_turns().write(tmp_path / "t.jsonl"), None, final=True, clean=clean)
    assert [one.title for one in drafts] == ["Second question?"]


def test_an_exchange_with_a_command_that_is_refused_is_left_out(tmp_path: Path) -> None:
    """What could not be checked whole is not kept in part."""

    def clean(text: str) -> str:
        if "unchecked" in text:
            raise UnsafeTextError("no")
        return text

    talk = Talk()
    talk.user("First question?")
    talk.call("Bash", command="make all\n" + "x " * 200 + "unchecked")
    talk.say("First answer.")
    talk.user("Second question?")
    talk.say("Second answer.")
    drafts, _ = read_new(talk.write(tmp_path / "t.jsonl"), None, final=True, clean=clean)
    assert [one.title for one in drafts] == ["Second question?"]


def test_glued_prompt_continues_rightly(tmp_path: Path) -> None:
    """An exchange that starts in the middle of a glued line is read on from there."""
    talk = two_turns()
    lines = [json.dumps(line) for line in talk.lines]
    path = tmp_path / "t.jsonl"
    path.write_text(f"{lines[0]}\n{lines[1]}{lines[2]}\n")
    first, cursor = read_new(str(path), None, final=False)
    path.write_text(f"{lines[0]}\n{lines[1]}{lines[2]}\n{lines[3]}\n")
    second, _ = read_new(str(path), kept(cursor), final=True)
    assert {**texts(first), **texts(second)} == texts(read_new(str(path), None, final=True)[0])


SCRIPT = st.lists(
    st.sampled_from(
        ["prompt", "say", "edit", "fail", "refuse", "noise", "meta", "side prompt", "side say",
         "other prompt", "other say", "orphan", "broken", "glued", "long", "command", "queued", "error", "mend", "works"]
    ),
    max_size=24,
)  # fmt: skip


ERRORS = st.lists(
    st.sampled_from(["prompt", "say", "error", "mend", "works", "side prompt", "side say"]),
    max_size=20,
)


def scripted(steps: list[str]) -> list[str]:
    """Return a transcript's lines, raw, for a list of happenings."""
    talk = Talk()
    raw: list[str] = []
    sides = {"side": "", "other": ""}
    for number, step in enumerate(steps):
        before = len(talk.lines)
        who = step.split()[0]
        more: dict[str, Any] = {"isSidechain": True, "parentUuid": sides.get(who) or None}
        if who == "other":
            more["agentId"] = "B"
        if step == "prompt":
            talk.user(f"Question {number}?")
        elif step == "long":
            talk.say(f"Long answer {number}. " + "It has many words. " * 120)
        elif step == "say":
            talk.say(f"Answer {number}.")
        elif step == "edit":
            talk.call("Edit", f"t{number}", file_path=f"/home/dev/app/f{number}.py")
        elif step == "fail":
            talk.call("Bash", f"t{number}", command=f"make {number}")
            talk.result("Exit code 2\nmake: failed", f"t{number}", failed=True)
        elif step in ("error", "works"):
            talk.call("Bash", f"t{number}", command="make build")
            talk.result("Exit code 2\nValueError: no port", f"t{number}", failed=step == "error")
        elif step == "mend":
            talk.call("Edit", f"t{number}", file_path=f"/home/dev/app/f{number}.py")
            talk.result("ok", f"t{number}")
        elif step == "refuse":
            talk.call("Bash", f"t{number}", command=f"rm {number}")
            talk.result(f"please do not remove {number}", f"t{number}", failed=True)
        elif step == "noise":
            talk.raw({"type": "progress"})
        elif step == "meta":
            talk.user("injected", isMeta=True)
        elif step == "command":
            talk.user("<command-name>/clear</command-name>")
        elif step == "queued":
            talk.raw(
                {
                    "type": "attachment",
                    "attachment": {"type": "queued_command", "prompt": f"also {number}"},
                }
            )
        elif step == "orphan":
            talk.add("assistant", f"Orphan {number}.", isSidechain=True, parentUuid="unknown")
        elif step.endswith("prompt"):
            sides[who] = talk.add("user", f"Task {number}.", **more)["uuid"]
        elif step.endswith("say") and sides.get(who):
            sides[who] = talk.add("assistant", f"Found {number}.", **more)["uuid"]
        if step == "broken":
            raw.append('{"type": "user", "mess')
        made = [json.dumps(line) for line in talk.lines[before:]]
        if step == "glued":
            talk.user(f"Glued question {number}?")
            talk.say(f"Glued answer {number}.")
            made = ["".join(json.dumps(line) for line in talk.lines[-2:])]
        raw.extend(made)
    return raw


@settings(max_examples=150, deadline=None)
@given(SCRIPT, st.sets(st.integers(0, 40)))
def test_in_stages_or_at_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], stops: set[int]
) -> None:
    """Reading after any of the lines, in whatever stages, ends with what reading once gives."""
    path = tmp_path_factory.mktemp("staged") / "t.jsonl"
    path.write_text("")
    cursor: Cursor | None = None
    staged: Texts = {}
    lines = scripted(steps)
    for number, line in enumerate(lines):
        with open(path, "a") as file:
            file.write(line + "\n")
        if number in stops:
            drafts, cursor = read_new(str(path), kept(cursor) if cursor else None, final=False)
            staged.update(texts(drafts))
    drafts, _ = read_new(str(path), kept(cursor) if cursor else None, final=True)
    staged.update(texts(drafts))
    once, _ = read_new(str(path), None, final=True)
    assert staged == texts(once)


@settings(max_examples=150, deadline=None)
@given(ERRORS, st.sets(st.integers(0, 40)))
def test_fixes_in_stages(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], stops: set[int]
) -> None:
    """What failed before a stop and was mended after it is found all the same."""
    path = tmp_path_factory.mktemp("staged") / "t.jsonl"
    path.write_text("")
    cursor: Cursor | None = None
    staged: Texts = {}
    lines = scripted(["prompt", *steps])
    for number, line in enumerate(lines):
        with open(path, "a") as file:
            file.write(line + "\n")
        if number in stops:
            drafts, cursor = read_new(str(path), kept(cursor) if cursor else None, final=False)
            staged.update(texts(drafts))
    drafts, _ = read_new(str(path), kept(cursor) if cursor else None, final=True)
    staged.update(texts(drafts))
    once, _ = read_new(str(path), None, final=True)
    assert staged == texts(once)


def test_transcripts_below(tmp_path: Path) -> None:
    """A folder's transcripts, subagents' too, oldest first; links, pipes and other files stay out."""
    (tmp_path / "s1" / "subagents").mkdir(parents=True)
    old = two_turns().write(tmp_path / "old.jsonl")
    agent = two_turns().write(tmp_path / "s1" / "subagents" / "agent-1.jsonl")
    new = two_turns().write(tmp_path / "new.jsonl")
    for age, path in enumerate([new, agent, old]):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "data.jsonl").write_text('{"rows": 1}\n')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "notes.txt").write_text("x")
    os.symlink(old, tmp_path / "link.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert transcripts_below(str(tmp_path)) == [old, agent, new]
    assert transcripts_below(old) == [old]
    assert transcripts_below(str(tmp_path / "link.jsonl")) == []
    assert transcripts_below(str(tmp_path / "pipe.jsonl")) == []


def test_a_damaged_transcript_is_told(tmp_path: Path) -> None:
    """One in which nothing can be read; not one whose last line is cut off, or a file of another sort."""
    whole = Path(two_turns().write(tmp_path / "whole.jsonl"))
    whole.write_text(whole.read_text() + '{"type": "user", "mess')
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b'{"type":"session_meta","payload":{"id":"z"\n\x00\xff garbage\n')
    (tmp_path / "data.jsonl").write_text('{"rows": 1}\n')
    (tmp_path / "empty.jsonl").write_text("")
    refused: list[OSError] = []
    assert transcripts_below(str(tmp_path), refused) == [str(whole)]
    assert [error.filename for error in refused] == [str(damaged)]
    assert transcripts_below(str(damaged)) == []


@pytest.mark.parametrize(
    "held",
    [b"[1, 2]\n[3, 4]\n", b"1\n2\n", b"\n\n", b'{"type":"user","message":{"ro', b'\xef\xbb\xbf[{"rows": 1}]\r\n', b"[" * 9_000 + b"]" * 9_000 + b"\n"],
)  # fmt: skip
def test_what_is_whole_or_being_written_is_not_damaged(tmp_path: Path, held: bytes) -> None:
    """JSON of another sort, blank lines, and a session's first line that has no end yet."""
    (tmp_path / "data.jsonl").write_bytes(held)
    refused: list[OSError] = []
    assert (transcripts_below(str(tmp_path), refused), refused) == ([], [])


def test_missing_file_is_no_transcript(tmp_path: Path) -> None:
    """What is not there is no transcript."""
    assert transcripts_below(str(tmp_path / "none.jsonl")) == []


@pytest.mark.parametrize("final", [False, True])
def test_one_reading_serves_memories_and_lessons(tmp_path: Path, final: bool) -> None:
    """Begun where lessons begin again, it has what came before in its exchanges, and no draft of it: there are
    the same drafts, and the same cursor, as without."""
    talk = Talk()
    for number in range(8):
        talk.user(f"Question {number}?")
        talk.say(f"Answer {number}.")
    path = talk.write(tmp_path / "t.jsonl")
    first = reader.read_new(path, None, final=final)
    assert first.exchanges is not None
    assert first.reaches_back
    second = first.exchanges[1].position
    cursor = replace(first.cursor, lessons=second)
    talk.user("And another one?")
    talk.say("Another answer.")
    talk.write(tmp_path / "t.jsonl")
    alone = reader.read_new(path, kept(cursor), final=False)
    both = reader.read_new(path, kept(cursor), final=False, for_lessons=True)
    assert texts(both.drafts) == texts(alone.drafts)
    assert len(both.drafts) == 1
    assert (alone.reaches_back, both.reaches_back) == (False, True)
    assert both.exchanges is not None
    assert [one.prompt for one in both.exchanges][:2] == ["Question 1?", "Question 2?"]
    assert both.cursor.lessons == second
    if not final:
        assert both.cursor == alone.cursor


def test_what_goes_on_after_the_end_is_not_lost(tmp_path: Path) -> None:
    """A session that was over goes on with an answer to its last prompt: it comes with that prompt."""
    talk = two_turns()
    path = talk.write(tmp_path / "t.jsonl")
    drafts, cursor = read_new(path, None, final=True)
    talk.say("And one thing more.")
    talk.write(tmp_path / "t.jsonl")
    again, _ = read_new(path, kept(cursor), final=False, for_lessons=True)
    assert texts(again).keys() <= texts(drafts).keys()
    assert any("one thing more" in one.text for one in again)


def test_a_cursor_of_an_older_version_lets_lessons_begin_at_the_start() -> None:
    """It does not say where they begin again, and one that is broken counts as one that does not."""
    assert Cursor.from_dict({"offset": 7, "line": 1}).lessons == Position()
    assert Cursor.from_dict({"offset": 7, "lessons": ["x"]}).lessons == Position()
