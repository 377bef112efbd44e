"""Any fields in imports, hook inputs and questions: the service answers or says why not."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from service_house import ServiceHouse

from vector_memory.daemon import verbs
from vector_memory.daemon.events import Events
from vector_memory.errors import VectorMemoryError

FEW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
LEAF = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=9)
    | st.sampled_from(["\ud800", "a\0b", "", "HIGH", "import", "internal", "2026-05-03", "ls /x", "x.py"])
)  # fmt: skip
VALUE = (
    LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(st.sampled_from(["path", "lines"]), LEAF)
)
LINE = st.fixed_dictionaries(
    {"text": st.text(min_size=1, max_size=20)},
    optional=dict.fromkeys(
        ["id", "kind", "tags", "created_at", "session", "seq", "speaker", "files", "project", "priority",
         "project_id", "external_id", "origin", "confidence", "collection", "sensitivity",
         "jurisdiction", "source", "title"],
        VALUE,
    ),
)  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ["session_id", "prompt", "cwd", "source", "tool_input", "error", "transcript_path", "agent_id",
         "is_interrupt", "last_assistant_message", "hook_event_name"],
        VALUE | st.dictionaries(st.just("command"), LEAF),
    ),
)  # fmt: skip
ASKED = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ["text", "query", "k", "project", "global", "cwd", "kind", "tag", "tags", "session", "since",
         "until", "id", "ids", "entity", "priority", "at", "supersedes", "confirmed", "relation",
         "target", "source", "remove", "why", "by_topic", "context", "history", "order"],
        VALUE,
    ),
)  # fmt: skip
PLAIN = ("remember", "recall", "list", "topics", "get", "history", "entities", "link", "links", "edit",
         "forget", "stats", "audit")  # fmt: skip


class Unheard:
    """A client that does not listen."""

    def progress(self, done: int, total: int, doing: str) -> None:
        """Say nothing."""

    def json(self, status: bytes, data: Any) -> None:
        """Say nothing, in JSON."""
        json.dumps(data)


def test_import_lines_with_anything_in_any_field(house: ServiceHouse, tmp_path: Path) -> None:
    """Each is stored or told with why not; the others come in all the same."""
    path = tmp_path / "f.jsonl"
    rounds = 0

    @FEW
    @given(st.lists(LINE, min_size=1, max_size=3))
    def feed(rows: list[dict[str, Any]]) -> None:
        nonlocal rounds
        rounds += 1
        path.write_text("\n".join([*map(json.dumps, rows), json.dumps({"text": f"good {rounds}"})]))
        asked = {"path": str(path), "global": True, "wait": False}
        done = verbs.LONG["import"](house.ctx, asked, Unheard())  # type: ignore[arg-type]
        assert done["read"] == len(rows) + 1
        assert done["stored"] >= 1

    feed()


def test_hook_inputs_with_anything_in_any_field(house: ServiceHouse) -> None:
    """Nothing is raised, and what is printed is one object of JSON or nothing."""
    os.makedirs(house.ctx.home.spool, exist_ok=True)
    events = Events(house.ctx, lambda work: work())

    @FEW
    @given(st.sampled_from(sorted(events._answers)), MESSAGE, st.binary(max_size=4))
    def feed(event: str, message: dict[str, Any], junk: bytes) -> None:
        for data in (json.dumps(message).encode(), junk, json.dumps(message).encode()[:-1]):
            printed = events.answer(event, b"/x\0" + data)
            assert printed == b"" or isinstance(json.loads(printed), dict)
            events.answer(event, data)

    feed()


def test_questions_with_anything_in_any_field(house: ServiceHouse) -> None:
    """An answer that can be sent, or an error that says what to do."""

    @FEW
    @given(st.sampled_from(PLAIN), ASKED)
    def feed(verb: str, asked: dict[str, Any]) -> None:
        with contextlib.suppress(VectorMemoryError):
            json.dumps(verbs.SIMPLE[verb](house.ctx, asked))

    feed()
