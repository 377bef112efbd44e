"""The MCP server's parts that need no daemon: fields, what was shown, what is told, the tools' list."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from vector_memory import arguments
from vector_memory.arguments import NUMBER, TEXT, WORDS, YES, Argument
from vector_memory.errors import BadInputError
from vector_memory.mcp import sdk
from vector_memory.mcp.model_answers import ModelAnswers, harmless_answer
from vector_memory.mcp.shown_memories import Shown
from vector_memory.mcp.tool import scope_of

LIB = Path(__file__).resolve().parents[3] / "lib"
FIELDS = (
    Argument("text", TEXT, "A text.", True, high=10),
    Argument("sort", TEXT, "One of two.", choices=("a", "b")),
    Argument("count", NUMBER, "A number.", low=1, high=5),
    Argument("sure", YES, "Whether."),
    Argument("words", WORDS, "Words.", high=2),
    Argument("lines", WORDS, "Lines.", split="\n", also=("rows",)),
    Argument("since", TEXT),
    Argument("some", WORDS, "Some of two.", choices=("A", "B")),
)
MOST_TOKENS, MOST_IN_SIGHT, MOST_OF_INSTRUCTIONS = 350, 600, 120
CHARS_A_TOKEN = 4
ID = "0123456789abcdef0123456789abcdef"


def test_a_schema_says_what_is_checked() -> None:
    """Types, bounds and choices stand in it."""
    told = arguments.schema_of(FIELDS)
    assert told["required"] == ["text"]
    assert told["properties"]["count"] == {
        "type": "integer", "description": "A number.", "minimum": 1, "maximum": 5,
    }  # fmt: skip
    assert told["properties"]["sort"]["enum"] == ["a", "b"]
    assert "required" not in arguments.schema_of(FIELDS[1:])


def test_arguments_that_fit_are_given_on() -> None:
    """Null is as if it were left out; one word is a list of one."""
    given = {"text": "x", "count": 5, "sure": False, "words": "one", "sort": None}
    expected = {"text": "x", "count": 5, "sure": False, "words": ["one"]}
    assert arguments.coerced(FIELDS, given) == expected
    assert arguments.coerced((), None) == {}


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        ("count", "5", 5),
        ("count", " 5.0 ", 5),
        ("count", 5.0, 5),
        ("text", 5, "5"),
        ("sort", "Bs", "b"),
        ("words", [1], ["1"]),
        ("sure", 1, True),
        ("since", "7 days", "7 days ago"),
        ("since", "last 2 weeks", "2 weeks ago"),
        ("since", "last week", "last week"),
        ("sure", "yes", True),
        ("sure", "0", False),
        ("sure", "true", True),
        ("sure", "False", False),
        ("sort", "B ", "b"),
        ("words", "a,b", ["a", "b"]),
        ("words", " a , b, ", ["a", "b"]),
        ("words", '["a, b", "c"]', ["a, b", "c"]),
        ("words", "[a", ["[a"]),
        ("lines", "first, then\nsecond\n", ["first, then", "second"]),
        ("some", "a,B", ["A", "B"]),
    ],
)
def test_what_is_meant_is_taken(name: str, given: Any, taken: Any) -> None:
    """Models write numbers and lists as texts."""
    assert arguments.coerced(FIELDS, {"text": "x", name: given})[name] == taken


def test_another_name_of_an_argument_is_taken_and_not_told() -> None:
    """The listed name is what the tool gets."""
    assert arguments.coerced(FIELDS, {"text": "x", "rows": "a"})["lines"] == ["a"]
    assert "rows" not in arguments.schema_of(FIELDS)["properties"]


def tokens(*texts: str) -> float:
    """Return what texts take of a model's context, as it is usually guessed."""
    return sum(map(len, texts)) / CHARS_A_TOKEN


def definition_tokens(name: str) -> float:
    """Return what a tool's definition takes as it is sent, whole."""
    from vector_memory.mcp import server

    (tool,) = (server.described(one) for one in server.TOOLS if one.name == name)
    return tokens(tool.model_dump_json(by_alias=True, exclude_none=True))


def test_definitions_are_small() -> None:
    """Each costs every session that sees it; so do the instructions."""
    from vector_memory.mcp import server

    sizes = {one.name: definition_tokens(one.name) for one in server.TOOLS}
    assert max(sizes.values()) <= MOST_TOKENS, sizes
    in_sight = [one.name for one in server.TOOLS if "always" in one.marks]
    assert len(in_sight) == 2
    assert sum(sizes[name] for name in in_sight) <= MOST_IN_SIGHT
    assert tokens(server.INSTRUCTIONS) <= MOST_OF_INSTRUCTIONS


def test_names_are_unique() -> None:
    """No alias hides a tool, and each alias does what its tool does."""
    from vector_memory.mcp import server

    names = [one.name for one in (*server.TOOLS, *server.ALIASES)]
    assert len(set(names)) == len(names)
    assert {"store_memory", "search_memory", "memory_search"} <= set(names)
    assert all("unlisted" in one.marks and "always" not in one.marks for one in server.ALIASES)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "text is missing"),
        ({"text": "x" * 11}, "at most 10 characters"),
        ({"text": True}, "at most 10 characters"),
        ({"text": "x", "sort": "c"}, "one of a, b"),
        ({"text": "x", "count": 6}, "from 1 to 5"),
        ({"text": "x", "count": True}, "from 1 to 5"),
        ({"text": "x", "sure": 2}, "true or false"),
        ({"text": "x", "words": ["a", "b", "c"]}, "at most 2 texts"),
        ({"text": "x", "words": [None]}, "at most 2 texts"),
        ({"text": "x", "words": "a,b,c"}, "at most 2 texts"),
        ({"text": "x", "count": "five"}, "from 1 to 5"),
        ({"text": "x", "count": "nan"}, "from 1 to 5"),
        ({"text": "x", "count": "5.5"}, "from 1 to 5"),
        ({"text": "x", "some": ["A", "C"]}, "some of A, B"),
        ({"text": "x", "else": 1}, "no argument 'else'"),
    ],
)
def test_arguments_that_do_not_fit_are_named(given: dict[str, Any], told: str) -> None:
    """With what they may be."""
    with pytest.raises(BadInputError, match=told):
        arguments.coerced(FIELDS, given)


class TestShown:
    """Only what was shown is chosen."""

    def test_by_what_was_shown_or_the_whole(self) -> None:
        """Twelve digits, more of them, or the whole id; each once."""
        shown = Shown()
        shown.add([ID])
        assert shown.chosen([ID[:12], ID, ID[:9].upper(), ID[:20]]) == [ID]

    @pytest.mark.parametrize("prefix", ["", "0123", "ffffffffffff", ID[:12] + "f", ID + "0"])
    def test_nothing_else(self, prefix: str) -> None:
        """Too short, another one, or more than an id."""
        shown = Shown()
        shown.add([ID])
        with pytest.raises(BadInputError, match="was not shown"):
            shown.chosen([prefix])

    def test_two_that_begin_alike(self) -> None:
        """A beginning of both is of neither."""
        shown = Shown()
        shown.add([ID, ID[:9] + "f" * 23])
        with pytest.raises(BadInputError, match="was not shown"):
            shown.chosen([ID[:9]])
        assert shown.chosen([ID[:12]]) == [ID]

    @pytest.mark.parametrize("count", [0, 21])
    def test_neither_none_nor_many(self, count: int) -> None:
        """Between one and twenty at once."""
        with pytest.raises(BadInputError, match="Between 1 and 20"):
            Shown().chosen([ID] * count)


def memory(text: str, **more: Any) -> dict[str, Any]:
    """Return a memory as the daemon tells it."""
    return {"id": ID, "text": text, "kind": "note", "created_at": "2026-05-03T12:00:00", **more}


class TestTelling:
    """What the model is told of a memory."""

    def test_nothing_in_it_looks_like_a_tag(self) -> None:
        """Not in its words, nor beside them."""
        told = ModelAnswers(Shown()).memory(
            memory("a </system> b", origin="user", title="<b>", tags=["<i>"], kind="<u>")
        )
        assert told
        assert "<" not in json.dumps(told)

    @pytest.mark.parametrize(
        "more", [{"origin": "import", "foreign": True}, {"suspicious": {"reasons": ["odd"]}}]
    )
    def test_what_others_wrote_has_no_links(self, more: dict[str, Any]) -> None:
        """And is marked."""
        told = ModelAnswers(Shown()).memory(memory("see https://example.org/x", **more))
        assert told
        assert told["foreign"] is True
        assert "https://" not in told["text"]

    def test_what_the_user_imported_is_none_of_others(self) -> None:
        """Nobody is told to do nothing that it asks."""
        told = ModelAnswers(Shown()).memory(memory("see https://example.org/x", origin="import"))
        assert told and "foreign" not in told and "https://" in told["text"]

    def test_what_is_held_back_is_not_told_and_cannot_be_deleted(self) -> None:
        """It is only counted."""
        shown = Shown()
        telling = ModelAnswers(shown)
        held = {"score": 9, "reasons": ["orders"], "held_back": True}
        assert telling.memories([memory("do it", suspicious=held), memory("plain")])[0]["text"] == (
            "plain"
        )
        assert telling.held_back_note() == {"held_back": 1}
        other = Shown()
        assert ModelAnswers(other).memory(memory("do it", suspicious=held)) is None
        with pytest.raises(BadInputError):
            other.chosen([ID])

    def test_long_texts_are_cut_around_the_question(self) -> None:
        """A list has little room for each."""
        text = "Nothing of interest. " * 200 + "The heron sleeps at noon. " + "Nothing more. " * 200
        told = ModelAnswers(Shown()).memory(memory(text), 60, "when does the heron sleep")
        assert told
        assert "heron" in told["text"]
        assert len(told["text"]) < 300

    def test_what_is_usual_is_not_told(self) -> None:
        """Each word of an answer costs tokens."""
        told = ModelAnswers(Shown()).memory(
            memory("x", collection="claude_memories", priority="NORMAL", tags=[], status="active")
        )
        assert told
        assert set(told) == {"id", "text", "kind", "date"}

    def test_what_does_not_fit_says_so(self) -> None:
        """Where a score was asked for; a memory within another answer has a short id, all else its whole one."""
        told = [
            ModelAnswers(Shown()).memory(memory("x", **more))
            for more in ({"fits": False}, {"fits": True}, {})
        ]
        assert [one and one.get("near") for one in told] == [True, None, None]
        answer = {"id": ID, "memories": [memory("x", origin="user")]}
        assert (harmless_answer(answer)["id"], harmless_answer(answer)["memories"][0]["id"]) == (
            ID,
            ID[:12],
        )

    def test_days_are_the_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As `since` and `until` take them. A deadline is told by its day alone, other times with their zone."""
        end, more = "2026-12-03T11:00:00+00:00", {"due_on": "2026-12-03", "temporal": "deadline"}
        with monkeypatch.context() as context:
            context.setenv("TZ", "Pacific/Auckland")
            time.tzset()
            due = ModelAnswers(Shown()).memory(memory("x", created_at=end, valid_until=end, **more))
            told = ModelAnswers(Shown()).memory(
                memory("x", valid_from=end, refuted_on="2026-05-03")
            )
            asked = scope_of({"since": "2026-12-04", "until": "soon"})
        time.tzset()
        assert asked == {"since": "2026-12-03T11:00:00+00:00", "until": "soon"}
        assert due and told
        assert (due["date"], due["due"]) == ("2026-12-04", "2026-12-03")
        assert "valid_until" not in due
        assert told["valid_from"] == "2026-12-04T00:00+13:00"
        assert told["refuted_on"] == "2026-05-03"


@pytest.mark.parametrize("light", [True, False])
def test_the_sdk_loads_with_and_without_what_is_not_used(light: bool) -> None:
    """The light one has neither HTTP nor TLS in it; both make a server of the same tools."""
    code = f"""import sys
sys.path.insert(0, {str(LIB)!r})
from vector_memory.mcp import sdk
sdk.load({light})
sdk.load({light})
from pathlib import Path
from vector_memory.client.link import DaemonClient
from vector_memory.mcp import caller, registry, server
from vector_memory.system.paths import Home
made = server.make(caller.Caller(DaemonClient(Home({str(LIB / "nowhere")!r})), "/", "s"))
whole = [name in sys.modules for name in ("uvicorn", "mcp.client", "_ssl")]
print(sum("unlisted" not in one.marks for one in registry.TOOLS), made.name, *whole)"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    from vector_memory.mcp import registry

    listed = str(sum("unlisted" not in one.marks for one in registry.TOOLS))
    assert done.stdout.split() == [listed, "memory", *[str(not light)] * 3]


def test_a_broken_light_import_falls_back_to_the_whole() -> None:
    """Another version of the SDK may use what is left out."""
    code = f"""import sys
sys.path.insert(0, {str(LIB)!r})
from vector_memory.mcp import sdk
sdk.STAND_IN_FOR = (*sdk.STAND_IN_FOR, "opentelemetry")
sdk.load()
import mcp
print(mcp.Client.__name__, "uvicorn" in sys.modules)"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["Client", "True"], done.stderr


def test_the_page_about_tools_is_up_to_date() -> None:
    """Its tables are made of the tools."""
    script = LIB.parent / "scripts" / "make_mcp_docs.py"
    command = [sys.executable, str(script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_tool_has_a_verb_and_a_test() -> None:
    """As the page's table says it."""
    from vector_memory.daemon import verbs
    from vector_memory.mcp import server

    path = LIB.parent / "scripts" / "make_mcp_docs.py"
    spec = importlib.util.spec_from_file_location("make_mcp_docs", path)
    assert spec and spec.loader
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    for one in server.TOOLS:
        asked = [one.verb] if one.verb else page.verbs_of(one.act)
        assert asked and set(asked) <= {*verbs.SIMPLE, *verbs.LONG}, one.name
        assert page.tests_of(one.name), one.name
    assert page.verbs_of(server.TOOLS[0].act) == ["remember"]
    assert page.tests_of("no_such_tool") == []


@pytest.mark.parametrize(
    "line",
    ["- k number 1..300", "- a text (x, y) also b,c: What it is.", "- kind text (@stored_kinds)"],
)
def test_an_argument_is_read_as_it_is_written(line: str) -> None:
    """What does not look like one is refused."""
    made = arguments._argument(line, {})
    assert made.name == line.split()[1]
    with pytest.raises(ValueError, match="no argument"):
        arguments._argument(line.replace("- ", "-"), {})


B = """
memory_store memory_recall memory_forget memory_scratch memory_verify memory_boost memory_promote memory_consolidate
memory_prune memory_organize memory_summarize memory_impact memory_provenance memory_trace contradiction_check
session_recalled episode learning procedure trajectory rag_search hippocampal_consolidation governance_report
governance_gap_analysis compliance_dashboard constitutional_contract constitutional_monitor guardrail_proof
data_sovereignty agent_identity nhi_lifecycle parl_coordinator a2a_protocol task_specialization bft_consensus
federation agent_marketplace agent_dev_env meta_agent digital_twin causal_debug flow_debug time_travel semantic_diff
self_assess benchmark benchmark_suite cost_router stigmergy predictive_preload context_budget temporal_planner
workflow_author workflow_optimizer micro_swarm skill_discovery formal_verify red_team world_model multimodal_input
"""
C = """
store_memory search_memory list_memories delete_memory update_memory deduplicate_memories import_markdown_memories
migrate_embeddings
"""
D = "memory_search"


def test_every_tool_of_the_designs_answers() -> None:
    """Sixty of the one that names most, eight of another, one of a third."""
    from vector_memory.mcp import registry

    named = [one.split() for one in (B, C, D)]
    wanted = {name for names in named for name in names}
    assert (*map(len, named), len(wanted)) == (60, 8, 1, 69)
    assert wanted <= set(registry.BY_NAME)


def test_labels_are_kept_as_tags() -> None:
    """In one form, beside the tags that were given; without any nothing changes."""
    from vector_memory.mcp.store_tools import _labels_as_tags

    given = {"tags": ["ci"], "domain": "Build  Tools", "error_type": "Timeout"}
    assert _labels_as_tags(given)["tags"] == ["ci", "domain:build-tools", "error:timeout"]
    assert _labels_as_tags({"tags": ["ci"]}) == {"tags": ["ci"]}


def test_a_notification_with_half_a_surrogate_pair_goes_on() -> None:
    """A call that is cancelled so is cancelled; a reply is one, too."""
    sdk.load()
    import mcp_types as types
    from pydantic import ValidationError

    from vector_memory.mcp import incoming

    lines = (
        r'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"\ud83d"}}',
        r'{"jsonrpc":"2.0","id":2,"result":{"text":"\ud83d"}}',
    )

    async def relayed() -> tuple[list[Any], int]:
        sdk_end, reading = anyio.create_memory_object_stream[Any](9)
        sending, server_end = anyio.create_memory_object_stream[Any](9)
        writing, client_end = anyio.create_memory_object_stream[Any](9)
        with client_end, writing, server_end:
            for line in lines:
                with pytest.raises(ValidationError) as flaw:
                    types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                sdk_end.send_nowait(flaw.value)
            sdk_end.close()
            await incoming.relay(reading, sending, writing)
            passed = [item.message async for item in server_end]
            return passed, client_end.statistics().current_buffer_used

    (cancelled, reply), answers = anyio.run(relayed)
    assert cancelled.params == {"requestId": 1, "reason": "\ufffd"}
    assert reply.result == {"text": "\ufffd"} and not answers
