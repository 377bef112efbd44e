"""Any bytes, and bytes that look right: every parser takes them or refuses them in its own words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SOME = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

ODD = st.sampled_from(
    ["\ud800", "a\0b", "\ufeff", "\u202e", "user", "assistant", "text", "tool_use", "tool_result",
     "entity", "relation", "2026-05-03T10:00:00Z", "0001-01-01T00:00:00+14:00",
     "9999-12-31T23:59:59-14:00", "/x/y.py", "ls /x", "We decided to use it.", "", "session_meta"]
)  # fmt: skip
LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=9)
    | ODD
)
NAMES = st.sampled_from(
    ["type", "uuid", "parentUuid", "timestamp", "cwd", "sessionId", "message", "isMeta", "isSidechain",
     "agentId", "attachment", "role", "content", "text", "id", "name", "input", "command", "plan",
     "tool_use_id", "is_error", "payload", "call_id", "arguments", "output", "git", "prompt",
     "commandMode", "file_path", "old_string", "new_string", "entityType", "observations", "from",
     "to", "relationType", "entities", "relations", "toolUseResult"]
)  # fmt: skip
VALUE = st.recursive(
    LEAF,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=5),
    max_leaves=12,
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result"])},
    optional={
        "text": LEAF, "id": LEAF, "name": st.sampled_from(["Bash", "Edit", "ExitPlanMode"]),
        "input": VALUE, "tool_use_id": LEAF, "content": VALUE, "is_error": LEAF,
    },
)  # fmt: skip
TALK = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant"]),
        "message": st.fixed_dictionaries({"content": VALUE | st.lists(BLOCK, max_size=4)}),
    },
    optional={"uuid": LEAF, "timestamp": LEAF, "cwd": LEAF, "sessionId": LEAF, "isSidechain": LEAF,
              "agentId": LEAF, "parentUuid": LEAF},
)  # fmt: skip
ROLLOUT = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["session_meta", "turn_context", "response_item", "event_msg"]),
        "payload": st.fixed_dictionaries(
            {"type": st.sampled_from(["user_message", "agent_message", "function_call",
                                      "function_call_output", "custom_tool_call"])},
            optional={"message": VALUE, "id": LEAF, "cwd": LEAF, "git": VALUE, "name": LEAF,
                      "arguments": VALUE, "input": VALUE, "call_id": LEAF, "output": VALUE},
        ),
    }
)  # fmt: skip
MARKS = st.lists(
    st.sampled_from(["# ", "- ", "> ", "```\n", "| a | b |\n|-|-|\n", "1. ", "[x](y)", "<!--", "-->",
                     "---\n", "\n", "\r\n", "\r", "*", "_", "`", "<b>", "  ", "\ud800", "\0", "word "]),
    max_size=50,
).map("".join)  # fmt: skip


def raw(value: Any) -> bytes:
    """Return a value as a line of JSON, as odd as Python writes it."""
    return json.dumps(value).encode("ascii")


@pytest.mark.parametrize("name", sorted(TARGETS))
@SOME
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    """Nothing but what the parser says itself."""
    TARGETS[name](data)


@SOME
@given(st.lists(TALK | ROLLOUT | st.dictionaries(NAMES, VALUE), min_size=1, max_size=6))
def test_lines_that_look_like_talk(rows: list[dict[str, Any]]) -> None:
    """Of either client, with anything in any field, whole and cut off."""
    data = b"\n".join(map(raw, rows))
    TARGETS["transcript"](data)
    TARGETS["lines"](data + b"\n" + data[: len(data) // 2])


@SOME
@given(st.lists(st.dictionaries(NAMES, VALUE, max_size=6), min_size=1, max_size=4))
def test_lines_that_look_like_a_graph(rows: list[dict[str, Any]]) -> None:
    """Entities and relations with anything in any field."""
    TARGETS["graph"](b"\n".join(raw({**row, "type": "entity"}) for row in rows))
    TARGETS["graph"](b"\n".join(raw({**row, "type": "relation"}) for row in rows))
    TARGETS["graph"](raw({"entities": rows, "relations": rows}))


@SOME
@given(MARKS)
def test_text_that_looks_like_markdown(text: str) -> None:
    """Every mark in every place."""
    TARGETS["markdown_text"](text.encode("utf-8", "surrogatepass"))


@SOME
@given(st.lists(st.sampled_from([b"VM1", b"A", b"E", b"ask", b"12", b"9" * 40, b"-1", b"\xb2", b"0.1.0",
                                 b"\t", b"  ", b"\0"]), max_size=6))  # fmt: skip
def test_heads_that_look_right(words: list[bytes]) -> None:
    """The words of the protocol in any order."""
    TARGETS["heads"](b" ".join(words))


def test_guided_fuzzing_finds_nothing_in_a_short_time() -> None:
    """The script for longer searches runs, where atheris is installed (Linux on x86-64 alone)."""
    pytest.importorskip("atheris")
    script = Path(__file__).resolve().parents[2] / "scripts" / "fuzz.py"
    done = subprocess.run(
        [sys.executable, str(script), "--seconds", "2", "--runs", "500", "lines", "graph", "heads"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
