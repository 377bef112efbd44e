"""A transcript becomes prompts with what came of them, and nothing else."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from transcript_samples import Talk

from vector_memory.index.exchanges import DONE_STEP, NOTE, Exchange, exchanges
from vector_memory.index.transcript import parse_time, read_entries
from vector_memory.model import EXTRACTION_MARK


@pytest.fixture
def talk() -> Talk:
    return Talk()


def read(talk: Talk, folder: Path) -> list[Exchange]:
    return list(exchanges(read_entries(talk.write(folder / "t.jsonl"))))


def actions(exchange: Exchange) -> tuple[str, ...]:
    """Return what was done, a short line each."""
    done = (step for step in exchange.steps if step.kind == DONE_STEP)
    return tuple(f"{one.text} (failed: {one.error})" if one.error else one.text for one in done)


def notes(exchange: Exchange) -> tuple[str, ...]:
    """Return what the user said on the way: reasons for refusals, answers, later prompts."""
    return tuple(step.text for step in exchange.steps if step.kind == NOTE)


def test_one_exchange(talk: Talk, tmp_path: Path) -> None:
    """Prompt, answer, actions, files, lines, times and place of a plain turn."""
    talk.user("Use port 5433.")
    talk.add("assistant", [{"type": "thinking", "thinking": "hm"}], message_id="m1")
    talk.say("I will change it.")
    talk.call("Read", "r1", file_path="/home/dev/app/README.md")
    talk.result("contents", "r1")
    talk.call("Edit", "t1", file_path="/home/dev/app/config.py", old_string="a", new_string="b")
    talk.result("ok")
    talk.call("Bash", "t2", command="pytest -q")
    talk.result("Exit code 1\nE  port is taken, failed", "t2", failed=True)
    talk.say("Done: 5433.")
    (found,) = read(talk, tmp_path)
    assert found.prompt == "Use port 5433."
    assert found.answer == "I will change it.\n\nDone: 5433."
    assert actions(found) == (
        "Edit config.py",
        "Bash: pytest -q (failed: E port is taken, failed)",
    )
    assert found.files == ("config.py", "README.md")
    assert (found.line_start, found.line_end, found.turn) == (1, 10, 1)
    assert (found.session, found.uuid, found.branch) == ("s1", "s1-u1", "main")
    assert found.started_at == datetime(2026, 11, 20, 10, 0, 1, tzinfo=timezone.utc)
    assert found.ended_at == datetime(2026, 11, 20, 10, 0, 10, tzinfo=timezone.utc)


def test_sessions_of_our_own_are_not_kept(talk: Talk, tmp_path: Path) -> None:
    """What a model was asked about earlier sessions, and what it said, is no memory."""
    talk.user(f'{EXTRACTION_MARK} mark="1f">\nUser: use <command-name>/x</command-name> tabs')
    talk.say('{"ideas": []}')
    talk.user("Use spaces.")
    talk.say("Done.")
    assert [one.is_worth_keeping for one in read(talk, tmp_path)] == [False, True]


def test_refusal_reason_is_kept(talk: Talk, tmp_path: Path) -> None:
    """The reason for a refusal stands with what was refused."""
    talk.user("install")
    talk.call("Bash", command="npm install")
    talk.result(
        "The user doesn't want to proceed with this tool use. The user provided the following "
        "reason for the rejection:  use pnpm",
        failed=True,
    )
    (found,) = read(talk, tmp_path)
    assert notes(found) == ("User, refusing Bash: npm install: use pnpm",)


def test_queued_prompt_and_answers(talk: Talk, tmp_path: Path) -> None:
    """What the user typed meanwhile, and picked when asked, belongs to the running exchange."""
    talk.user("build it")
    talk.say("Working.")
    talk.raw({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and lint"}})
    talk.raw(
        {
            "type": "attachment",
            "attachment": {
                "type": "queued_command",
                "prompt": "agent done",
                "commandMode": "task-notification",
            },
        }
    )
    talk.call("AskUserQuestion", "q", questions=[])
    talk.result('User has answered your questions: "A?"="B". You can now continue', "q")
    (found,) = read(talk, tmp_path)
    assert notes(found) == ("User: and lint", 'User\'s answers: "A?"="B"')


def test_plan_is_said(talk: Talk, tmp_path: Path) -> None:
    """A plan that was put to the user is part of the answer."""
    talk.user("plan it")
    talk.call("ExitPlanMode", plan="# Plan\nMove the cache.")
    (found,) = read(talk, tmp_path)
    assert found.answer == "# Plan\nMove the cache."


@pytest.mark.parametrize(
    "line",
    [
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["x"]}},
        {"type": "user", "isMeta": True, "message": {"content": "x"}},
        {"type": "user", "isCompactSummary": True, "message": {"content": "x"}},
        {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "x"}},
        {"type": "assistant", "message": {"model": "<synthetic>", "content": "x"}},
        {"type": "user", "message": {"content": "<system-reminder>x</system-reminder>"}},
        {"type": "user", "message": {"content": [{"type": "image", "source": {"data": "x"}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}},
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "x"}]}},
        {"type": "system", "subtype": "compact_boundary", "content": "x"},
        {"type": "progress", "data": "x"},
        {"type": "queue-operation", "operation": "enqueue", "content": "x"},
        {"type": "summary", "summary": "x"},
        {"type": "user", "message": "x"},
        {"type": "user", "message": {"content": 5}},
        {"type": "user"},
        {"x": "x"},
    ],
)
def test_noise_changes_nothing(line: dict[str, object], talk: Talk, tmp_path: Path) -> None:
    """None of the client's own lines ends up in an exchange or starts one."""
    talk.user("Question")
    talk.raw(line)
    talk.say("Answer")
    (found,) = read(talk, tmp_path)
    assert (found.prompt, found.answer, notes(found)) == ("Question", "Answer", ())


def test_repeated_line_counts_once(talk: Talk, tmp_path: Path) -> None:
    """A line that was written twice is told once."""
    talk.user("Question")
    talk.raw(talk.say("Answer"))
    (found,) = read(talk, tmp_path)
    assert found.answer == "Answer"


def test_subagents_are_apart(talk: Talk, tmp_path: Path) -> None:
    """Interleaved subagents make exchanges of their own, by parentage or by agent id."""
    talk.user("go")
    talk.add("user", "explore A", isSidechain=True, parentUuid=None, uuid="a1")
    talk.add("user", "explore B", isSidechain=True, parentUuid=None, uuid="b1", agentId="B")
    talk.add("assistant", "found A", isSidechain=True, parentUuid="a1", uuid="a2")
    talk.add("assistant", "found B", isSidechain=True, parentUuid="b1", uuid="b2", agentId="B")
    talk.say("both found")
    found = read(talk, tmp_path)
    assert [(one.prompt, one.answer, one.is_subagent) for one in found] == [
        ("go", "both found", False),
        ("explore A", "found A", True),
        ("explore B", "found B", True),
    ]


def test_what_the_client_does_to_have_a_subagent_ready_is_no_exchange(
    talk: Talk, tmp_path: Path
) -> None:
    """What it answers then is of no task; what it is asked later is one."""
    about = {"isSidechain": True, "agentId": "A"}
    talk.add("user", "Warmup", **about)
    talk.add("assistant", "I am ready to search files.", **about)
    talk.add("user", "explore A", **about)
    talk.add("assistant", "found A", **about)
    assert [(one.prompt, one.answer) for one in read(talk, tmp_path)] == [("explore A", "found A")]


def test_session_that_starts_in_the_middle(talk: Talk, tmp_path: Path) -> None:
    """Words before any prompt are kept, without one."""
    talk.say("as I said")
    (found,) = read(talk, tmp_path)
    assert (found.prompt, found.answer) == ("", "as I said")


def test_own_extraction_sessions_are_left_out(talk: Talk, tmp_path: Path) -> None:
    """A prompt of this plugin's own is not worth keeping; nor is a bare command."""
    talk.user('<vector-memory-extraction v="1">extract</vector-memory-extraction>')
    talk.say("facts")
    talk.user("<command-name>/clear</command-name>")
    talk.user("keep this one")
    assert [one.is_worth_keeping for one in read(talk, tmp_path)] == [False, False, True]


def test_codex_rollout(tmp_path: Path) -> None:
    """A rollout of Codex is read the same way."""

    def line(type_: str, **payload: object) -> str:
        return json.dumps({"timestamp": "2026-07-01T20:46:51Z", "type": type_, "payload": payload})

    lines = [
        line("session_meta", id="c1", cwd="/home/dev/app"),
        line("response_item", type="message", role="developer", content=[]),
        line("event_msg", type="user_message", message="patch it"),
        line("response_item", type="function_call", name="exec_command", call_id="1", arguments='{"cmd": "cargo test"}'),
        line("response_item", type="function_call_output", call_id="1", output="Process exited with code 101\nOutput:\nerror: no such crate"),
        line("response_item", type="custom_tool_call", name="apply_patch", call_id="2", input="*** Begin Patch\n*** Update File: /home/dev/app/src/a.rs\n"),
        line("response_item", type="function_call", name="exec_command", call_id="3", arguments="broken"),
        line("event_msg", type="agent_message", message="Patched."),
    ]  # fmt: skip
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(lines) + "\n")
    (found,) = exchanges(read_entries(str(path)))
    assert (found.session, found.prompt, found.answer) == ("c1", "patch it", "Patched.")
    assert actions(found) == (
        "Bash: cargo test (failed: no such crate)",
        "Edit src/a.rs",
    )
    assert found.key


@pytest.mark.parametrize("raw", [None, 5, "", "yesterday", "2026-13-01"])
def test_bad_times(raw: object) -> None:
    """What is no time is none."""
    assert parse_time(raw) is None
