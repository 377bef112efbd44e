"""Chats of the Gemini CLI, in both of their forms, are read as other transcripts are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vector_memory.index import reader
from vector_memory.index.cursor import HEAD_BYTES, Cursor, fingerprint
from vector_memory.index.memories import Draft

HEADER = {
    "sessionId": "0f8d2c4e-1111-4222-8333-944455566677",
    "projectHash": "ab" * 32,
    "startTime": "2026-04-17T15:23:55.515Z",
    "lastUpdated": "2026-04-17T15:27:05.630Z",
    "kind": "main",
}


def message(id: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "timestamp": "2026-04-17T15:24:00.000Z",
        "type": kind,
        "content": content,
        **more,
    }


def call(
    id: str, name: str, args: dict[str, str], output: str, status: str = "success"
) -> dict[str, Any]:
    response = {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}
    return {"id": id, "name": name, "args": args, "status": status, "result": [response]}


FAILED = "Command: npm test\nDirectory: (root)\nOutput: 2 failing: totals are rounded\nError: (none)\nExit Code: 1\nSignal: 0"
MESSAGES = [
    message("c0", "user", [{"text": "<session_context>\nToday is Friday.\n</session_context>"}]),
    message("u1", "user", [{"text": "Why are the totals of the invoices wrong?"}]),
    message("g1", "gemini", "They are rounded before they are summed."),
    message(
        "g2",
        "gemini",
        "",
        toolCalls=[
            call("t1", "run_shell_command", {"command": "npm test"}, FAILED),
            call(
                "t2",
                "replace",
                {"file_path": "/w/shop/src/totals.js", "old_string": "a", "new_string": "b"},
                "ok",
            ),
        ],
    ),
    message("u2", "user", "We round after summing from now on."),
    message("g3", "gemini", [{"text": "Noted: sums first, then rounding."}]),
    message("i1", "info", "Checkpoint saved."),
]


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """The folder of a project's chats, whose client says which project it is."""
    folder = tmp_path / "tmp" / "shop" / "chats"
    folder.mkdir(parents=True)
    (folder.parent / ".project_root").write_text("/w/shop")
    (folder.parent / "logs.json").write_text("[]")
    return folder


def write(path: Path, messages: list[dict[str, Any]]) -> str:
    if path.suffix == ".json":
        path.write_text(json.dumps({**HEADER, "messages": messages}, indent=2))
    else:
        # A message comes once more when its calls are done.
        lines: list[dict[str, Any]] = [HEADER]
        for one in messages:
            if "toolCalls" in one:
                lines.append({**one, "toolCalls": []})
            lines += [one, {"$set": {"lastUpdated": "2026-04-17T15:27:05.630Z"}}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def drafts_of(path: str) -> list[Draft]:
    return reader.read_new(path, None, final=True).drafts


@pytest.mark.parametrize("name", ["session-2026-04-17T15-23-0f8d2c4e.jsonl", "session-old.json"])
def test_a_chat_becomes_drafts(chats: Path, name: str) -> None:
    path = write(chats / name, MESSAGES)
    assert reader.transcripts_below(str(chats.parent.parent)) == [path]
    assert reader.session_and_folder(path) == (HEADER["sessionId"], "/w/shop")
    first, second = reader.read_exchanges(path, final=True)
    assert first.prompt == "Why are the totals of the invoices wrong?"
    assert first.answer == "They are rounded before they are summed."
    assert first.session == HEADER["sessionId"]
    assert (first.cwd, first.files) == ("/w/shop", ("src/totals.js",))
    (run, edit) = first.calls
    assert (run.command, run.failed, run.output) == (
        "npm test",
        True,
        "2 failing: totals are rounded",
    )
    assert (edit.tool, edit.failed) == ("Edit", False)
    assert second.prompt == "We round after summing from now on."
    assert second.answer == "Noted: sums first, then rounding."
    said = "\n".join(str(one.text) for one in drafts_of(path))
    assert "session_context" not in said
    assert "Checkpoint" not in said


@pytest.mark.parametrize("name", ["session-a.jsonl", "session-a.json"])
def test_reading_on_gives_what_reading_once_gives(chats: Path, name: str) -> None:
    path = chats / name
    found: dict[str, str] = {}
    cursor = None
    for end in range(1, len(MESSAGES) + 1):
        write(path, MESSAGES[:end])
        turn = reader.read_new(str(path), cursor, final=end == len(MESSAGES))
        cursor = turn.cursor
        found.update((one.external_id, str(one.text)) for one in turn.drafts)
    assert found == {one.external_id: str(one.text) for one in drafts_of(str(path))}
    assert reader.read_new(str(path), cursor, final=True).drafts == []


def test_what_is_no_chat_is_left_out(chats: Path) -> None:
    """Other files beside the chats, a document that is half written, and a folder that is not said."""
    (chats / "notes.json").write_text('{"a": 1}')
    (chats / "session-half.json").write_text('{"sessionId": "x", "projectHash": "y", "messages": [')
    refused: list[OSError] = []
    assert reader.transcripts_below(str(chats), refused) == []
    # What is half written is told, since it names itself a chat.
    (half,) = refused
    assert half.filename == str(chats / "session-half.json") and "cut off" in str(half)
    (chats.parent / ".project_root").write_text("not a path")
    path = write(chats / "session-b.json", MESSAGES)
    assert reader.session_and_folder(path) == (HEADER["sessionId"], "")


Lines = list[dict[str, Any]]
KNOWN = [one for one in MESSAGES if one["type"] != "info"]


def of_lines(path: Path, lines: Lines) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in [HEADER, *lines]))
    return str(path)


def listed(messages: Lines) -> dict[str, Any]:
    """The line in which the client says all that the model knows."""
    return {"$set": {"messages": messages, "lastUpdated": "2026-04-17T15:27:05.630Z"}}


def renamed(messages: Lines) -> Lines:
    return [{**one, "id": f"new-{one['id']}"} for one in messages]


def read_on(path: Path, lines: Lines) -> dict[str, str]:
    """Return the drafts of a chat that is read after each of its lines."""
    found: dict[str, str] = {}
    cursor = None
    for end in range(1, len(lines) + 1):
        turn = reader.read_new(of_lines(path, lines[:end]), cursor, final=end == len(lines))
        cursor = turn.cursor
        found.update((one.external_id, str(one.text)) for one in turn.drafts)
    return found


GROWING = [listed(KNOWN[:end]) for end in range(1, len(KNOWN) + 1)]
SHORTENED = [
    message("s1", "user", [{"text": "<state_snapshot>It was about totals.</state_snapshot>"}]),
    message("s2", "gemini", [{"text": "Got it. Thanks for the additional context!"}]),
]
LAST = [message("u3", "user", "Ship it."), message("g9", "gemini", "It is shipped.")]


@pytest.mark.parametrize(
    "lines",
    [
        GROWING,
        # Alone, and now and then all of them.
        [*KNOWN[:3], listed(KNOWN[:3]), *KNOWN[3:], listed(KNOWN)],
        # All with other ids, by which they are called from then on.
        [*GROWING, listed(renamed(KNOWN)), listed(renamed(KNOWN))],
        [*KNOWN, listed(renamed(KNOWN))],
        # An answer to a call that is still going on when the list is first written.
        [listed([*KNOWN[:3], {**KNOWN[3], "toolCalls": []}]), listed(KNOWN)],
    ],
)
def test_each_message_of_lists_is_read_once(chats: Path, lines: Lines) -> None:
    path = chats / "session-l.jsonl"
    wanted = drafts_of(write(chats / "session-o.jsonl", KNOWN))
    first, second = reader.read_exchanges(of_lines(path, lines), final=True)
    assert first.answer == "They are rounded before they are summed."
    assert [(one.command, one.failed) for one in first.calls] == [("npm test", True), ("", False)]
    assert second.answer == "Noted: sums first, then rounding."
    texts = {one.external_id: str(one.text) for one in wanted}
    assert {one.external_id: str(one.text) for one in drafts_of(str(path))} == texts
    assert read_on(path, lines) == texts


@pytest.mark.parametrize(
    "later",
    [
        [listed([*SHORTENED, *LAST])],
        [listed(SHORTENED), *LAST, listed([*SHORTENED, *LAST])],
        # The last turns stay as they are, some with other ids.
        [listed([*SHORTENED, *KNOWN[4:]]), listed([*SHORTENED, *KNOWN[4:], *LAST])],
        [listed([*SHORTENED, *renamed(KNOWN[4:])]), listed([*SHORTENED, *renamed(KNOWN[4:]), *LAST])],
        [listed([]), *LAST],
    ],
)  # fmt: skip
def test_a_talk_that_was_shortened_goes_on(chats: Path, later: Lines) -> None:
    """What the client wrote in the place of what was said is nobody's."""
    path = chats / "session-s.jsonl"
    lines = [*GROWING, *later]
    *_, last = found = reader.read_exchanges(of_lines(path, lines), final=True)
    assert [one.prompt for one in found] == [
        "Why are the totals of the invoices wrong?",
        "We round after summing from now on.",
        "Ship it.",
    ]
    assert last.answer == "It is shipped."
    texts = {one.external_id: str(one.text) for one in drafts_of(str(path))}
    assert read_on(path, lines) == texts
    assert not any("snapshot" in text or "Got it" in text for text in texts.values())


AGAIN = [message("u7", "user", KNOWN[1]["content"]), message("g7", "gemini", "Now they are right.")]


@pytest.mark.parametrize(
    ("said", "listed_later"),
    [
        (KNOWN, [*KNOWN, *AGAIN]),
        # The same prompt twice before, too; and the rest of the talk cut off.
        ([*KNOWN, *LAST, *LAST], [*KNOWN, *LAST, *LAST, *AGAIN]),
        ([*KNOWN, *AGAIN], [*SHORTENED, *AGAIN, AGAIN[0], message("g8", "gemini", "Still.")]),
        # The last answer was still being written, or nothing is left of all.
        ([*KNOWN[:5], message("g3", "gemini", "Noted: su")], [*KNOWN, *AGAIN]),
        (KNOWN, [*SHORTENED, KNOWN[4], AGAIN[1]]),
    ],
)
def test_a_prompt_that_is_said_again_under_other_ids(
    chats: Path, said: Lines, listed_later: Lines
) -> None:
    """Each counts once, and what answers it is its own."""
    named = [{**one, "id": f"said-{n}"} for n, one in enumerate(said)]
    later = [{**one, "id": f"new-{n}"} for n, one in enumerate(listed_later)]
    lines = [*named, listed(later)]
    path = chats / "session-g.jsonl"
    before = reader.read_exchanges(of_lines(path, named), final=True)
    found = reader.read_exchanges(of_lines(path, lines), final=True)
    assert [one.prompt for one in found[:-1]] == [one.prompt for one in before]
    (prompt,) = [one["content"] for one in later if one["type"] == "user"][-1:]
    assert found[-1].prompt == (prompt if isinstance(prompt, str) else prompt[0]["text"])
    assert found[-1].answer == listed_later[-1]["content"]
    texts = {one.external_id: str(one.text) for one in drafts_of(str(path))}
    assert read_on(path, lines) == texts


@pytest.mark.parametrize("as_list", [True, False])
def test_a_call_that_goes_on_when_it_is_first_written(chats: Path, as_list: bool) -> None:
    calls = KNOWN[3]["toolCalls"]
    running = {**KNOWN[3], "toolCalls": [{**one, "status": "executing"} for one in calls]}
    lines = [*KNOWN[:3], running, *KNOWN[3:]]
    if as_list:
        lines = [listed([*KNOWN[:3], running]), listed(KNOWN)]
    path = chats / "session-x.jsonl"
    first, _ = reader.read_exchanges(of_lines(path, lines), final=True)
    assert [(one.is_done, one.failed) for one in first.calls] == [(True, True), (True, False)]
    texts = {one.external_id: str(one.text) for one in drafts_of(str(path))}
    assert read_on(path, lines).keys() == texts.keys()


@pytest.mark.parametrize("as_list", [True, False])
def test_what_is_rewound_is_left_out(chats: Path, as_list: bool) -> None:
    path = chats / "session-r.jsonl"
    other = [message("u4", "user", "We round before."), message("g4", "gemini", "Noted: before.")]
    lines = [
        *(GROWING if as_list else KNOWN),
        {"$rewindTo": "u2"},
        *([listed([*KNOWN[:4], *other])] if as_list else other),
    ]
    found = reader.read_exchanges(of_lines(path, lines), final=True)
    assert [one.prompt for one in found] == [
        "Why are the totals of the invoices wrong?",
        "We round before.",
    ]
    # Though what was taken back lies before what is new.
    before = reader.read_new(of_lines(path, lines[: -2 if as_list else -3]), None, final=False)
    after = reader.read_new(of_lines(path, lines), before.cursor, final=True)
    assert {one.external_id for one in after.drafts} == {"u4:0"}
    texts = {one.external_id for one in drafts_of(str(path))}
    assert set(read_on(path, lines)) - {"u2:0"} == texts


def test_an_unknown_place_takes_nothing_back(chats: Path) -> None:
    lines = [*KNOWN, {"$rewindTo": "nobody"}, {"$rewindTo": ["u2"]}]
    found = reader.read_exchanges(of_lines(chats / "session-u.jsonl", lines), final=True)
    assert len(found) == 2


def test_a_chat_that_was_read_as_nothing_is_read_again(chats: Path) -> None:
    """An earlier version went to its end and knew no message."""
    path = of_lines(chats / "session-e.jsonl", GROWING)
    whole = reader.read_new(path, None, final=True)
    size = Path(path).stat().st_size
    head, tail = fingerprint(path, size, HEAD_BYTES)
    read_as_nothing = Cursor(size, len(GROWING) + 1, head_bytes=HEAD_BYTES, head=head, tail=tail)
    assert whole.drafts and read_as_nothing.still_fits(path)
    again = reader.read_new(path, read_as_nothing, final=True)
    assert [one.external_id for one in again.drafts] == [one.external_id for one in whole.drafts]
    assert reader.read_new(path, again.cursor, final=True).drafts == []
