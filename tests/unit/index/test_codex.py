"""Rollouts of Codex, in the forms of several versions, are read as other transcripts are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vector_memory.index import reader
from vector_memory.index.exchanges import Exchange
from vector_memory.index.usage import usage_of

Line = dict[str, Any]


def line(at: str, type_: str, **payload: Any) -> Line:
    return {"timestamp": f"2026-05-03T10:{at}Z", "type": type_, "payload": payload}


def meta(id: str, at: str = "00:00.000", **more: Any) -> Line:
    return line(at, "session_meta", id=id, cwd=f"/w/{id}", source="cli", **more)


def prompt(words: str, at: str) -> Line:
    return line(at, "event_msg", type="user_message", message=words)


def answer(words: str, at: str) -> Line:
    return line(at, "event_msg", type="agent_message", message=words)


def written(path: Path, lines: list[Line]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return str(path)


def read(path: Path, lines: list[Line]) -> list[Exchange]:
    return reader.read_exchanges(written(path, lines), final=True)


REQUEST = "From now on always use tabs."
OPEN = (
    "# Context from my IDE setup:\n\n## Active file: src/a.ts\n\n## Open tabs:\n- a.ts: src/a.ts\n"
)
MARK = "\n## My request for Codex:\n"


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        (OPEN + MARK + REQUEST + "\n", REQUEST),
        (f"# Files mentioned by the user:\n\n## a.png: /w/a.png\n{MARK}{REQUEST}", REQUEST),
        # What is marked in the editor has such a line: nobody knows which is the editor's.
        (f"{OPEN}{MARK}Delete all.\n{MARK}{REQUEST}", f"{OPEN}{MARK}Delete all.\n{MARK}{REQUEST}"),
        (f"Why does it write this?\n{MARK}Delete all.", f"Why does it write this?\n{MARK}Delete all."),
    ],
)  # fmt: skip
def test_what_an_editor_says_before_a_prompt(tmp_path: Path, message: str, typed: str) -> None:
    (found,) = read(tmp_path / "r.jsonl", [meta("a"), prompt(message, "00:02.000")])
    assert found.prompt == typed


@pytest.mark.parametrize(
    ("output", "failed", "told"),
    [
        ("Exit code: 1\nWall time: 1.2 seconds\nOutput:\nExit code: 0\nno", True, "Exit code: 0\nno"),
        ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nExit code: 1", False, "Exit code: 1"),
        ("Exit code: 10\nWall time: 0 seconds\nTotal output lines: 9\nOutput:\nno", True, "no"),
        ("Chunk ID: 1\nWall time: 2 seconds\nProcess exited with code 2\nOutput:\nno", True, "no"),
        ("Wall time: 2 seconds\nProcess running with session ID 7\nOutput:\nso far", False, "so far"),
        ("It says\nExit code: 1\nOutput:\nfine", False, "It says\nExit code: 1\nOutput:\nfine"),
        ("Exit code: 1\nWall time: 1 seconds\nTotal output lines: 9\n\nOutput:\nno", True, "no"),
        ("command timed out\nExit code: 124\nWall time: 1 seconds\nOutput:\nno", True, "no"),
        ("It took long\nExit code: 0\nWall time: 9 seconds\nOutput:\nfine", False, "fine"),
        ("The job exited with code 3 yesterday", False, "The job exited with code 3 yesterday"),
    ],
)  # fmt: skip
def test_whether_a_call_failed(tmp_path: Path, output: str, failed: bool, told: str) -> None:
    """The lines above an output say it, whatever stands in the output."""
    call = {"name": "shell_command", "call_id": "c", "arguments": json.dumps({"command": "make"})}
    lines = [
        meta("a"),
        prompt("Build it.", "00:02.000"),
        line("00:03.000", "response_item", type="function_call", **call),
        line("00:04.000", "response_item", type="function_call_output", call_id="c", output=output),
    ]
    (found,) = read(tmp_path / "r.jsonl", lines)
    (run,) = found.calls
    assert (run.command, run.failed, run.answered) == ("make", failed, told)


def test_a_patch_in_either_form_of_call(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"
    failed = "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to find expected lines"
    calls: list[tuple[str, Line]] = [
        ("custom_tool_call", {"input": patch}),
        ("function_call", {"arguments": json.dumps({"input": patch})}),
    ]
    for kind, given in calls:
        lines = [
            meta("a"),
            prompt("Mend it.", "00:02.000"),
            line("00:03.000", "response_item", type=kind, name="apply_patch", call_id="c", **given),
            line("00:04.000", "response_item", type=f"{kind}_output", call_id="c", output=failed),
        ]
        (found,) = read(tmp_path / "r.jsonl", lines)
        assert [(one.tool, one.file, one.failed) for one in found.calls] == [
            ("Edit", "src/a.py", True)
        ]


TALK = [
    prompt("We move to Stripe.", "00:10.000"),
    answer("Moved.", "00:20.000"),
    prompt("Name the job pay.", "00:30.000"),
    answer("Named.", "00:40.000"),
]


@pytest.mark.parametrize("is_restamped", [True, False])
def test_a_fork_has_its_own_session(tmp_path: Path, is_restamped: bool) -> None:
    """What it begins with is a copy of the other, under the time of the fork or as it was; that adds nothing."""
    copies = [meta("parent"), *TALK]
    if is_restamped:
        copies = [
            {**one, "timestamp": f"2026-05-03T10:09:00.{n:03}Z"} for n, one in enumerate(copies)
        ]
    own = [
        prompt("We keep invoices in falcon.", "09:30.000"),
        answer("Kept there.", "09:30.100"),
        prompt("Where is it?", "09:50.000"),
    ]
    lines = [meta("child", "09:00.000", forked_from_id="parent"), *copies, *own]
    path = tmp_path / "r.jsonl"
    found = read(path, lines)
    assert [(one.prompt, one.session, one.cwd) for one in found] == [
        ("We keep invoices in falcon.", "child", "/w/child"),
        ("Where is it?", "child", "/w/child"),
    ]
    # Read on as it grows, it says the same.
    cursor, told = None, set()
    for end in range(1, len(lines) + 1):
        turn = reader.read_new(written(path, lines[:end]), cursor, final=end == len(lines))
        cursor = turn.cursor
        told |= {(str(one.text), one.session, one.cwd) for one in turn.drafts}
    whole = reader.read_new(str(path), None, final=True).drafts
    assert {one.session for one in whole} == {"child"}
    assert {(str(one.text), one.session, one.cwd) for one in whole} <= told
    assert not any("Stripe" in text for text, _, _ in told)


def test_a_session_that_is_resumed_in_its_file(tmp_path: Path) -> None:
    """Another id in the midst of it neither takes its name nor the words that follow."""
    lines = [meta("a"), *TALK, meta("b", "05:00.000"), prompt("Go on.", "05:09.000")]
    found = read(tmp_path / "r.jsonl", lines)
    assert [one.prompt for one in found] == ["We move to Stripe.", "Name the job pay.", "Go on."]
    assert {one.session for one in found} == {"a"}


def back(count: object, at: str) -> Line:
    return line(at, "event_msg", type="thread_rolled_back", num_turns=count)


@pytest.mark.parametrize(
    ("count", "left"),
    [(1, [TALK[0]]), (2, []), (9, TALK[::2]), (0, TALK[::2]), (None, TALK[::2])],
)
def test_what_is_rolled_back_is_left_out(tmp_path: Path, count: object, left: list[Line]) -> None:
    """Where it is more than there is, nobody knows what that was: nothing goes."""
    lines = [meta("a"), *TALK, back(count, "01:00.000"), prompt("We keep the bank.", "01:10.000")]
    path = tmp_path / "r.jsonl"
    prompts = [one["payload"]["message"] for one in left]
    assert [one.prompt for one in read(path, lines)] == [*prompts, "We keep the bank."]
    before = reader.read_new(written(path, lines[:5]), None, final=False)
    after = reader.read_new(written(path, lines), before.cursor, final=True)
    assert [str(one.text) for one in after.drafts] == ["User: We keep the bank."]


@pytest.mark.parametrize(
    "turn",
    [
        prompt("", "00:50.000"),
        prompt(f"{OPEN}{MARK}", "00:50.000"),
        prompt("[Request interrupted by user]", "00:50.000"),
        prompt("Warmup", "00:50.000"),
        line("00:50.000", "event_msg", type="entered_review_mode", target={}),
        line("00:50.000", "response_item", type="agent_message", content=[]),
        line("00:50.000", "inter_agent_communication", author="/root", content="Look."),
        line("00:50.000", "response_item", type="message", role="assistant",
             content=[{"type": "output_text", "text": '{"author":"/root","trigger_turn":true}'}]),
    ],
)  # fmt: skip
def test_a_turn_without_words_is_one_that_is_rolled_back(tmp_path: Path, turn: Line) -> None:
    """A picture alone, or a review: what was said before it was not taken back."""
    path = tmp_path / "r.jsonl"
    lines = [meta("a"), *TALK, turn, answer("A red door.", "00:55.000"), back(1, "01:00.000")]
    lines += [prompt("Go on.", "01:10.000")]
    wanted = ["We move to Stripe.", "Name the job pay.", "Go on."]
    assert [one.prompt for one in read(path, lines)] == wanted
    # A second one counts on from there.
    lines[-1:] = [back(1, "01:05.000"), prompt("Go on.", "01:10.000")]
    assert [one.prompt for one in read(path, lines)] == [wanted[0], wanted[2]]


def test_what_a_rollout_says_of_a_place_itself_takes_nothing_back(tmp_path: Path) -> None:
    lines = [meta("a"), *TALK, line("01:00.000", "event_msg", type=["thread_rolled_back"])]
    lines += [{"type": "rewound", "place": [0, 0]}, back("1", "01:01.000"), back(-1, "01:02.000")]
    lines[-1]["payload"]["place"] = [0, 0]
    found = read(tmp_path / "r.jsonl", lines)
    assert [one.prompt for one in found] == ["We move to Stripe.", "Name the job pay."]


def test_a_fork_is_rolled_back_to_before_it_began(tmp_path: Path) -> None:
    copies = [{**one, "timestamp": "2026-05-03T10:09:00Z"} for one in [meta("parent"), *TALK]]
    own = [prompt("Keep the bank.", "09:30.000"), answer("Kept.", "09:40.000")]
    lines = [meta("child", "09:00.000"), *copies, *own, back(2, "09:50.000")]
    lines += [prompt("Go on.", "09:59.000")]
    assert [one.prompt for one in read(tmp_path / "r.jsonl", lines)] == ["Go on."]


@pytest.mark.parametrize("at", ["09:00.500", "09:30.000"])
@pytest.mark.parametrize(
    "turn",
    [
        {"type": "inter_agent_communication", "payload": {"author": "/root", "content": "Look."}},
        {"type": "response_item", "payload": {"type": "agent_message", "content": []}},
        {"type": "response_item", "payload": {
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": '{"author":"/root","trigger_turn":true}'}]}},
    ],
)  # fmt: skip
def test_a_fork_that_an_agent_begins_leaves_what_was_copied(
    tmp_path: Path, turn: Line, at: str
) -> None:
    """The last prompt among the copies is its parent's."""
    copies = [{**one, "timestamp": "2026-05-03T10:09:00Z"} for one in [meta("parent"), *TALK]]
    begun = {**turn, "timestamp": f"2026-05-03T10:{at}Z"}
    lines = [meta("child", "09:00.000"), *copies, begun, answer("The docs are fine.", "09:40.000")]
    (found,) = read(tmp_path / "r.jsonl", lines)
    assert (found.prompt, found.answer) == ("", "The docs are fine.")


@pytest.mark.parametrize("is_restamped", [True, False])
@pytest.mark.parametrize("own_answer", ["09:00.700", "09:07.000"])
def test_a_fork_that_begins_with_a_prompt(
    tmp_path: Path, is_restamped: bool, own_answer: str
) -> None:
    """It stands among the copies by its time, but what answers it comes later."""
    copies = [meta("parent"), *TALK]
    if is_restamped:
        copies = [{**one, "timestamp": "2026-05-03T10:09:00.010Z"} for one in copies]
    own = [
        line("09:00.400", "turn_context", cwd="/w/other", model="m"),
        prompt("We keep the bank.", "09:00.500"),
        answer("Kept.", own_answer),
        answer("All of it.", "09:20.000"),
        prompt("Go on.", "09:50.000"),
    ]
    path = tmp_path / "r.jsonl"
    found = read(path, [meta("child", "09:00.000"), *copies, *own])
    assert [(one.prompt, one.answer, one.cwd) for one in found] == [
        ("We keep the bank.", "Kept.\n\nAll of it.", "/w/other"),
        ("Go on.", "", "/w/other"),
    ]


def tokens(count: int, at: str) -> Line:
    info = {"last_token_usage": {"input_tokens": count, "output_tokens": count}}
    return line(at, "event_msg", type="token_count", info=info)


def test_a_fork_takes_what_its_own_answers_took(tmp_path: Path) -> None:
    said = [line("00:05.000", "turn_context", model="m"), *TALK, tokens(1_000, "00:45.000")]
    copies = [{**one, "timestamp": "2026-05-03T10:09:00Z"} for one in [meta("parent"), *said]]
    own = [prompt("Go on.", "09:30.000"), answer("Gone.", "09:40.000"), tokens(10, "09:45.000")]
    parent = written(tmp_path / "a.jsonl", [meta("parent"), *said])
    child = written(tmp_path / "b.jsonl", [meta("child", "09:00.000"), *copies, *own])
    day = ("2026-05-03", "m")
    assert usage_of(parent)[day].tokens == 2_000
    assert {key: one.tokens for key, one in usage_of(child).items()} == {day: 20}


EARLY: list[Line] = [
    {"id": "0198aaaa-0000-7000-8000-000000000002", "timestamp": "2025-08-18T10:00:00Z",
     "instructions": None, "git": {"branch": "dev"}},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text":
     "<environment_context>\nCurrent working directory: /w/shop\nSandbox mode: none\n</environment_context>"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Why 502?"}]},
    {"type": "function_call", "name": "shell", "call_id": "c",
     "arguments": json.dumps({"command": ["bash", "-lc", "curl -s localhost"]})},
    {"type": "function_call_output", "call_id": "c",
     "output": json.dumps({"output": "502", "metadata": {"exit_code": 22}})},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A wrong port."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Mended."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Tested."}]},
]  # fmt: skip


def test_an_early_rollout(tmp_path: Path) -> None:
    """Its items are bare, and its header alone has a time."""
    path = tmp_path / "rollout.jsonl"
    found = read(path, EARLY)
    assert reader.transcripts_below(str(tmp_path)) == [str(path)]
    assert [(one.prompt, one.answer) for one in found] == [
        ("Why 502?", "A wrong port."),
        ("Go on.", "Mended."),
        ("Go on.", "Tested."),
    ]
    assert len({one.key for one in found}) == 3
    assert {(one.session, one.cwd, one.branch) for one in found} == {
        (EARLY[0]["id"], "/w/shop", "dev")
    }
    (run,) = found[0].calls
    assert (run.command, run.failed, run.output) == ("curl -s localhost", True, "502")
    cursor, told = None, {}
    for end in range(1, len(EARLY) + 1):
        turn = reader.read_new(written(path, EARLY[:end]), cursor, final=end == len(EARLY))
        cursor = turn.cursor
        told.update((one.external_id, (str(one.text), one.cwd)) for one in turn.drafts)
    whole = reader.read_new(str(path), None, final=True).drafts
    assert told == {one.external_id: (str(one.text), one.cwd) for one in whole}


def test_a_document_of_the_first_versions_is_not_damaged(tmp_path: Path) -> None:
    """It is whole JSON, of a form that is not read."""
    path = tmp_path / "rollout-2025-05-01-a.json"
    path.write_text(json.dumps({"session": {"id": "a"}, "items": []}, indent=1))
    refused: list[OSError] = []
    assert reader.transcripts_below(str(path), refused) == []
    assert refused == []
    path.write_text(path.read_text()[:-5])
    assert reader.transcripts_below(str(path), refused) == []
    assert "cut off" in str(refused[0])
