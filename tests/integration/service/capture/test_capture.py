"""Capture on real stores: each exchange once, however often and from wherever it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, exported

from vector_memory.config import validate
from vector_memory.errors import BadInputError
from vector_memory.index.fixes import fix_drafts
from vector_memory.model import DERIVED, INTENTS, PASSAGE
from vector_memory.service.capture import (
    reading_process,
    reading_worker,
    session_summary,
)


def line(kind: str, uuid: str, content: Any, folder: Path, second: int) -> str:
    """Return one line of a transcript as the client writes it."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message["id"] = f"m-{uuid}"
    data = {
        "type": kind, "uuid": uuid, "sessionId": "s1", "cwd": str(folder), "version": "2.1.329",
        "timestamp": f"2026-05-03T10:00:{second:02d}Z", "message": message,
    }  # fmt: skip
    return json.dumps(data) + "\n"


def talk(folder: Path, words: str = "WAL, since readers never block the writer.") -> str:
    """Return one exchange."""
    question = line("user", "u1", "Which journal mode does the ledger use?", folder, 1)
    return question + line("assistant", "a1", [{"type": "text", "text": words}], folder, 2)


def stored(house: ServiceHouse) -> list[str]:
    """Return the texts of all passages."""
    found = exported(house.ctx, {"all_projects": True})
    return [one["text"] for one in found if one["kind"] == PASSAGE]


def test_indexing_again_adds_nothing(house: ServiceHouse, tmp_path: Path) -> None:
    """The same file again, and a resumed session's copy of it, bring nothing new."""
    path, copy = tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"
    path.write_text(talk(tmp_path))
    first = captured_of(house.ctx, str(path), final=True)
    assert first.stored > 0
    assert captured_of(house.ctx, str(path), final=True).stored == 0
    copy.write_text(talk(tmp_path))
    again = captured_of(house.ctx, str(copy), final=True)
    assert (again.stored, again.unchanged) == (0, first.stored)
    assert len(stored(house)) == 1


def work(folder: Path) -> str:
    """Return an exchange in which something is decided and a command is mended."""
    said = "We use WAL mode for the ledger's journal, because readers never block the writer."
    said += " The ledger keeps its pages in one file, and each page has a checksum of its own." * 6
    lines = [line("user", "u1", "Make the ledger's tests pass.", folder, 1)]
    lines.append(line("assistant", "a1", [{"type": "text", "text": said}], folder, 2))
    runs = [
        ("pytest", "bash: pytest: command not found", True),
        ("uv run pytest", "3 passed", False),
    ]
    for number, (command, output, failed) in enumerate(runs):
        call = {
            "type": "tool_use",
            "id": f"c{number}",
            "name": "Bash",
            "input": {"command": command},
        }
        result = {
            "type": "tool_result",
            "tool_use_id": f"c{number}",
            "content": output,
            "is_error": failed,
        }
        lines.append(line("assistant", f"b{number}", [call], folder, 3 + 2 * number))
        lines.append(line("user", f"r{number}", [result], folder, 4 + 2 * number))
    return "".join(lines)


@pytest.mark.parametrize(
    "without", [(), ("exchange",), INTENTS, ("fix",), ("topic", "summary"), (*INTENTS, "exchange", "fix", "topic", "summary")]
)  # fmt: skip
def test_kinds_can_be_left_out(
    house: ServiceHouse, tmp_path: Path, without: tuple[Any, ...]
) -> None:
    """What is switched off is not stored; all else is."""
    house.ctx.settings = replace(house.ctx.settings, capture_without=without)
    path = tmp_path / "s1.jsonl"
    path.write_text(work(tmp_path))
    captured_of(house.ctx, str(path), final=True)
    session_summary.finish(house.ctx, "s1")
    found = exported(house.ctx, {"all_projects": True})
    names = {**dict.fromkeys(INTENTS, "idea"), "fix": "fix"}
    kinds = ["fix" if "fix" in one["tags"] else one["kind"] for one in found]
    left_out = {names.get(kind, kind) for kind in without}
    expected = {"exchange", "idea", "fix", "topic", "summary"} - left_out
    if "exchange" in without:
        # All of these are made of what was said.
        expected -= {"idea", "topic", "summary"}
    assert {names.get(kind, kind) for kind in kinds} == expected


def test_every_kind_that_sessions_leave_has_a_switch() -> None:
    """A kind that is added is one that can be left out, too; others are refused."""
    for kind in (*INTENTS, PASSAGE, *DERIVED, fix_drafts.TAG):
        assert not validate({"capture_without": [kind]}).captures(kind)
    with pytest.raises(BadInputError):
        validate({"capture_without": ["thoughts"]})


def test_an_exchange_that_grows_is_replaced(house: ServiceHouse, tmp_path: Path) -> None:
    """What is said after a Stop joins the exchange; a fork's shorter copy does not take it away."""
    path, fork = tmp_path / "s1.jsonl", tmp_path / "fork.jsonl"
    path.write_text(talk(tmp_path))
    captured_of(house.ctx, str(path))
    more = line(
        "assistant", "a2", [{"type": "text", "text": "Checkpoints run hourly."}], tmp_path, 9
    )
    with path.open("a") as file:
        file.write(more)
    assert captured_of(house.ctx, str(path), final=True).stored > 0
    fork.write_text(talk(tmp_path))
    captured_of(house.ctx, str(fork), final=True)
    (text,) = stored(house)
    assert "WAL" in text
    assert "Checkpoints run hourly" in text


def test_the_last_answer_may_come_before_the_transcript_has_it(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """At Stop the transcript lags: the answer that the hook was given is stored, once."""
    path = tmp_path / "s1.jsonl"
    whole = talk(tmp_path)
    path.write_text(whole.splitlines(keepends=True)[0])
    said = "WAL, since readers never block the writer."
    captured_of(house.ctx, str(path), last_message=said)
    assert said in stored(house)[0]
    path.write_text(whole)
    captured_of(house.ctx, str(path), final=True)
    assert len(stored(house)) == 1
    assert stored(house)[0].count(said) == 1


def test_what_was_forgotten_does_not_come_back(house: ServiceHouse, tmp_path: Path) -> None:
    """Indexing the same talk again leaves a forgotten memory forgotten."""
    path = tmp_path / "s1.jsonl"
    path.write_text(talk(tmp_path))
    captured_of(house.ctx, str(path), final=True)
    door(house.ctx, "forget", {"project": str(tmp_path), "since": "2020-01-01"})
    copy = tmp_path / "copy.jsonl"
    copy.write_text(talk(tmp_path))
    assert captured_of(house.ctx, str(copy), final=True).stored == 0
    assert stored(house) == []


def test_what_the_user_wrote_is_not_replaced(house: ServiceHouse, tmp_path: Path) -> None:
    """An edited text stays, however often the talk is read again and whatever joins it."""
    path = tmp_path / "s1.jsonl"
    path.write_text(talk(tmp_path))
    captured_of(house.ctx, str(path))
    found = exported(house.ctx, {"all_projects": True})
    for number, one in enumerate(found):
        door(house.ctx, "edit", {"id": one["id"], "text": f"Words of the user, {number}."})
    with path.open("a") as file:
        more = [{"type": "text", "text": "Checkpoints run hourly, as the docs of it advise."}]
        file.write(line("assistant", "a2", more, tmp_path, 9))
    captured_of(house.ctx, str(path), final=True)
    copy = tmp_path / "copy.jsonl"
    copy.write_text(path.read_text())
    captured_of(house.ctx, str(copy), final=True)
    texts = {one["text"] for one in exported(house.ctx, {"all_projects": True})}
    assert {f"Words of the user, {number}." for number in range(len(found))} <= texts
    assert not any("readers never block" in text for text in texts)


def test_secrets_in_a_transcript_are_in_no_file(house: ServiceHouse, tmp_path: Path) -> None:
    """A key that was said is redacted before the first byte is written, cursor and log included."""
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    path = tmp_path / "s1.jsonl"
    path.write_text(talk(tmp_path, f"Use {key} for the upload; the ledger needs it."))
    captured = captured_of(house.ctx, str(path), final=True)
    house.follow()
    house.ctx.state.flush()
    assert captured.redactions >= 1
    assert "ledger needs it" in stored(house)[0]
    for file in Path(house.ctx.home.root).rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes(), file


def test_excluded_folders_are_not_captured(house: ServiceHouse, tmp_path: Path) -> None:
    """Nothing of a folder that the user excluded is stored."""
    house.ctx.settings = replace(house.ctx.settings, excluded_projects=(str(tmp_path),))
    path = tmp_path / "s1.jsonl"
    path.write_text(talk(tmp_path))
    captured_of(house.ctx, str(path), final=True)
    assert stored(house) == []


def test_our_own_commands_are_no_memory(house: ServiceHouse, tmp_path: Path) -> None:
    """What a skill of ours was asked and answered is not talk worth keeping."""
    command = "<command-name>/vector-memory:remember</command-name><command-args>wal</command-args>"
    path = tmp_path / "s1.jsonl"
    path.write_text(
        line("user", "u1", command, tmp_path, 1)
        + line("assistant", "a1", [{"type": "text", "text": "Found: WAL."}], tmp_path, 2)
    )
    captured_of(house.ctx, str(path), final=True)
    assert stored(house) == []


def test_what_took_too_long_is_not_read_at_each_turn(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transcript over its budget is left alone until it has changed; then it is read."""
    path = tmp_path / "s1.jsonl"
    path.write_text(talk(tmp_path))
    monkeypatch.setattr(reading_process, "reading_s", lambda *_: 0.000_001)
    monkeypatch.setattr(reading_worker, "reading_s", lambda *_: 0.000_001)
    with pytest.raises(OSError, match="too long|ended"):
        captured_of(house.ctx, str(path), final=True, apart=True)
    with pytest.raises(OSError, match="left alone"):
        captured_of(house.ctx, str(path), final=True, apart=True)
    assert house.ctx.state.totals()["transcripts_given_up"] == 1
    monkeypatch.undo()
    path.write_text(talk(tmp_path) * 2)
    assert captured_of(house.ctx, str(path), final=True, apart=True).stored > 0
