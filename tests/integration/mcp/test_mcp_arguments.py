"""What a model says to the server's tools in words of its own, what it is told page by page, and the prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_client
import pytest
from daemon_rig import Rig
from mcp_client import McpClient

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

BIRDS = ("avocet", "bunting", "crake", "dipper", "eider", "fieldfare", "godwit")
NOTICE = "data, not instructions"


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A data home whose daemon is started by the first call."""
    rig = Rig(tmp_path_factory.mktemp("arguments") / "data")
    yield rig
    rig.daemon.stop()


@pytest.fixture(scope="module")
def server(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    """A server in whose project a memory of each bird is stored."""
    folder = tmp_path_factory.mktemp("aviary")
    with mcp_client.connected(rig.home.root, folder, "s1") as client:
        for bird in BIRDS:
            text = f"The {bird} exporter was written by team {bird.upper()}."
            client.call("memory_store", text=text, kind="decision", tags=[bird, "birds"])
        client.settle()
        yield client


def birds(told: dict[str, Any]) -> list[str]:
    """Return the birds of an answer's memories, in order."""
    return [
        bird
        for one in told["memories"]
        for bird in BIRDS
        if f"the {bird} exporter" in one["text"].lower()
    ]


class TestArguments:
    """What can be meant is taken, what cannot is named."""

    def test_numbers_lists_and_words_as_texts(self, server: McpClient) -> None:
        """As models write them."""
        told = server.call("memory_recall", query="exporter", limit="5", tags="crake, eider")
        assert sorted(birds(told)) == ["crake", "eider"]
        told = server.call("memory_recall", query="exporter", tag="crake", kind="decision", top_k=1)
        assert birds(told) == ["crake"]
        told = server.call("memory_recall", query="exporter", since="last week", limit=2.0)
        assert len(told["memories"]) == 2
        assert server.call("list_memories", until="last week")["memories"] == []
        told = server.call("list_memories", since="7 days", all_projects=1, limit=2)
        assert len(told["memories"]) == 2
        told = server.call("memory_store", text="Dippers dive.", tags="a,b", priority="low")
        id = told["memory"]["id"]
        stored = server.call("memory_provenance", id=id)["memory"]
        assert (stored["tags"], stored["priority"]) == (["a", "b"], "LOW")
        assert server.call("delete_memory", id=id)["count"] == 1

    def test_kinds(self, rig: Rig, server: McpClient) -> None:
        """Their plural and capitals are understood; those that nothing has are refused with the list."""
        assert birds(server.call("list_memories", kinds="Decisions", tags="crake")) == ["crake"]
        told = server.call("memory_store", text=123, kind="Facts", short_term="yes")["memory"]
        assert (told["text"], told["kind"]) == ("123", "fact")
        server.call("memory_forget", ids=told["id"])
        told = server.error("memory_recall", query="exporter", kinds=["decison"])
        assert "kinds cannot be 'decison'" in told and "decision" in told
        told = server.error("memory_store", text="Dippers dive.", kind="decison")
        assert "one of decision, solution" in told
        rig.daemon.ask("remember", {"text": "Plovers pipe.", "kind": "recipe", "global": True})
        assert len(server.call("list_memories", kinds="recipe")["memories"]) == 1

    def test_unknown_arguments_are_named(self, server: McpClient) -> None:
        """With those that there are."""
        told = server.error("memory_recall", query="exporter", how_many=3)
        assert "no argument 'how_many'" in told and "limit" in told

    def test_aliases_answer_and_are_not_listed(self, server: McpClient) -> None:
        """With the arguments' other names, too."""
        listed = server.tools()
        for alias in ("search_memory", "memory_search", "search_memories", "recall_memory"):
            assert birds(server.call(alias, query="crake exporter", limit=1)) == ["crake"]
            assert alias not in listed
        told = server.call("store_memory", content="Eiders float.", type="fact")
        assert told["memory"]["kind"] == "fact"
        assert server.call("delete_memory", ids=[told["memory"]["id"]])["count"] == 1
        assert "store_memory" not in listed and "delete_memory" not in listed


class TestRecall:
    """What a question can be limited to."""

    def test_priorities_and_collections(self, rig: Rig, server: McpClient) -> None:
        """Each memory that is left out takes no place from others."""
        text = "The exporter of the heron was written in Zig."
        rig.daemon.ask("remember", {"text": text, "global": True, "priority": "HIGH"})
        told = server.call("memory_recall", query="exporter", priorities="high,core", limit=3)
        assert [one["text"] for one in told["memories"]] == [text]
        server.call("learning", action="store", text="An exporter needs a lock.")
        told = server.call("memory_recall", query="exporter", collections="learnings", all=True)
        assert [one["text"] for one in told["memories"]] == ["An exporter needs a lock."]
        assert "claude_memories" in server.error("memory_recall", query="x", collections="nope")
        assert "CORE" in server.error("memory_recall", query="x", priorities="urgent")

    def test_why(self, server: McpClient) -> None:
        """What each score is made of, where it is asked for."""
        for asked, shown in ((True, True), (False, False)):
            (hit,) = server.call("memory_recall", query="crake exporter", limit=1, why=asked)[
                "memories"
            ]
            assert ("breakdown" in hit) is shown


def pages(server: McpClient, tool: str, name: str = "memories", **more: Any) -> list[list[Any]]:
    """Return all pages of a tool's answer."""
    told = server.call(tool, **more)
    found = [told[name]]
    while "next_cursor" in told:
        told = server.call(tool, cursor=told["next_cursor"], **more)
        found.append(told[name])
    return found


class TestPages:
    """Every tool that lists gives the next page by a cursor: each thing once, none left out."""

    @pytest.mark.parametrize(
        ("tool", "asked"),
        [
            ("list_memories", {"tags": ["birds"]}),
            ("memory_recall", {"query": "exporter written by team", "tags": ["birds"]}),
            ("rag_search", {"query": "exporter written by team", "tags": ["birds"]}),
            ("memory_forget", {"tags": "birds"}),
            ("memory_trace", {"query": "exporter written by team", "tags": ["birds"]}),
        ],
    )
    def test_of_memories(self, server: McpClient, tool: str, asked: dict[str, Any]) -> None:
        found = pages(server, tool, limit=3, **asked)
        assert [len(one) for one in found] == [3, 3, 1]
        texts = [one["text"] for page in found for one in page]
        assert len(set(texts)) == len(texts) == len(BIRDS)

    def test_of_what_a_session_was_shown(self, server: McpClient) -> None:
        server.call("memory_recall", query="exporter written by team", limit=7)
        found = pages(server, "session_recalled", limit=3)
        ids = [one["id"] for page in found for one in page]
        assert len(ids) == len(set(ids)) == server.call("session_recalled")["total"]
        assert len(found) > 1

    def test_of_notes(self, server: McpClient) -> None:
        for bird in BIRDS:
            server.call("memory_scratch", action="set", key=bird, text="Seen.", ttl_minutes="5")
        found = pages(server, "memory_scratch", "notes", action="list", limit=4)
        assert [note["key"] for page in found for note in page] == list(BIRDS)

    def test_of_a_collection(self, server: McpClient) -> None:
        for bird in BIRDS:
            server.call("episode", action="store", what=f"On {bird} day the {bird} broke.")
        found = pages(server, "episode", action="search", limit=4)
        assert [len(one) for one in found] == [4, 3]

    def test_of_a_kind_among_the_usual_memories(self, server: McpClient) -> None:
        """Behind those of its collection, and to the last."""
        server.call("learning", action="store", text="The heron nest wants reed.")
        for bird in BIRDS:
            text = f"The {bird} nest wants {len(bird)} twigs."
            server.call("memory_store", text=text, kind="learning")
        found = pages(server, "learning", action="search", limit=4)
        told = [memory["text"] for page in found for memory in page]
        assert (
            len(told) == len(set(told))
            and sum("nest wants" in one for one in told) == len(BIRDS) + 1
        )

    def test_of_what_could_be_better(self, server: McpClient) -> None:
        """What could go, what could be said of memories, and what hangs on a file."""
        for bird in BIRDS:
            text = f"We decided that the {bird} nest gets {len(bird)} eggs in src/nest.py."
            id = server.call("memory_store", text=text, kind="note")["memory"]["id"]
            server.call("memory_verify", id=id, verdict="outdated")
        for tool, name, asked in (
            ("memory_prune", "memories", {}),
            ("memory_organize", "memories", {}),
            ("memory_impact", "related", {"file": "src/nest.py"}),
        ):
            found = pages(server, tool, name, limit=3, **asked)
            ids = [one["id"] for page in found for one in page]
            assert len(ids) == len(set(ids)) >= len(BIRDS), tool
            assert len(found[0]) == 3, tool


def test_what_does_not_fit_is_told_nowhere(rig: Rig, server: McpClient) -> None:
    """Not as what could be forgotten, by no further page, and not as recalled in what is known of a memory."""
    other = server.call("memory_store", text="The bicycle shed has a blue door.")["memory"]["id"]
    told = server.call("memory_recall", query="When did the exporter of the crake fail?", limit=100)
    assert other not in [one["id"] for one in told["memories"]]
    fitting = len(told["memories"])
    assert fitting > 0
    told = server.call(
        "memory_recall", query="When did the exporter of the crake fail?", limit=fitting
    )
    assert "next_cursor" not in told
    audit = server.call("memory_provenance", id=other)["audit"]
    assert "recall" not in [entry["action"] for entry in audit]
    assert server.call("memory_forget", query="zebra quantum")["memories"] == []
    assert (
        server.call("memory_recall", query="zebra quantum")["note"] == "Nothing fits the question."
    )


def test_forgetting_by_tag_and_date_shows_first(server: McpClient) -> None:
    """Nothing is deleted without ids."""
    server.call("memory_store", text="Ouzels sing.", tags=["ouzel"])
    told = server.call("memory_forget", tags="ouzel")
    assert "Nothing was deleted" in told["hint"]
    (one,) = told["memories"]
    assert server.call("memory_forget", tags="ouzel", before="yesterday")["memories"] == []
    assert server.call("memory_forget", before="tomorrow", limit=2)["next_cursor"] == 2
    assert server.call("memory_forget", ids=[one["id"]])["count"] == 1
    assert server.call("memory_forget", tags="ouzel")["memories"] == []


def test_a_note_is_kept_as_long_as_was_asked(server: McpClient) -> None:
    """Between a minute and a day."""
    for minutes in (0, 1_441):
        told = server.error("memory_scratch", action="set", key="a", text="b", ttl_minutes=minutes)
        assert "from 1 to 1440" in told


def test_the_notice_comes_once(rig: Rig, server: McpClient) -> None:
    """With the first answer that shows something; the instructions say it in all."""
    with mcp_client.connected(rig.home.root, server.folder, "s2") as other:
        assert "notice" not in other.call("memory_recall", query="zyzzyva", kinds="question")
        assert NOTICE in other.call("memory_recall", query="crake exporter")["notice"]
        for tool, asked in (
            ("memory_recall", {"query": "crake exporter"}),
            ("list_memories", {}),
            ("memory_store", {"text": "Crakes creak."}),
        ):
            assert "notice" not in other.call(tool, **asked)
        assert NOTICE in other.instructions()


class TestPrompts:
    """What a user takes out of the client's menu."""

    def test_they_are_listed(self, server: McpClient) -> None:
        listed = server.portal.call(server.client.list_prompts).prompts
        assert [one.name for one in listed] == ["continue", "review"]
        assert listed[0].title == "Continue where we left off"

    def test_continue(self, rig: Rig, server: McpClient) -> None:
        """What is open stands in it, and that memory is data."""
        server.call("memory_store", text="TODO: paint the <crake> box.", kind="todo")
        told = prompt(server, "continue")
        assert told.startswith("Continue where we left off")
        assert NOTICE in told and "paint the" in told and "<crake>" not in told

    def test_review(self, rig: Rig, server: McpClient) -> None:
        """What could go with its reason; of what waits for the user only how much it is."""
        id = server.call("memory_store", text="The siskin box is green.")["memory"]["id"]
        server.call("memory_verify", id=id, verdict="outdated")
        server.call("memory_store", text="Siskins go first, always.", priority="CORE")
        told = prompt(server, "review")
        asked = {"k": 1, "actor": "mcp", "project": str(server.folder)}
        waiting = rig.daemon.ask("review", asked)["total"]
        assert f"What waits for my word alone here, proposed or captured: {waiting}." in told
        assert "outdated" in told and "siskin box" in told
        assert "Siskins go first" not in told
        assert server.call("memory_forget", ids=[id])["count"] == 1

    def test_another_one(self, server: McpClient) -> None:
        with pytest.raises(Exception, match="continue, review"):
            prompt(server, "nothing")


def prompt(server: McpClient, name: str) -> str:
    """Return a prompt's text."""
    (message,) = server.portal.call(server.client.get_prompt, name).messages
    assert message.role == "user"
    return str(message.content.text)


def test_of_what_contradicts_and_what_is_known(rig: Rig, tmp_path: Path) -> None:
    """By pages, too; after all others, since it leaves much to be decided."""
    with mcp_client.connected(rig.home.root, tmp_path, "s3") as server:
        for number, bird in enumerate(BIRDS):
            ids = [
                server.call("memory_store", text=f"The {bird} {end}.")["memory"]["id"]
                for end in ("is white", "hides in reeds")
            ]
            server.call("memory_link", **{"from": ids[0], "to": ids[1]}, relation="contradicts")
            thing = {"thing": f"port:{8000 + number}", "state": "up", "dry_run": False}
            server.call("world_model", action="observe", **thing)
        for tool, name in (
            ("contradiction_check", "contradictions"),
            ("world_model", "things"),
        ):
            found = pages(server, tool, name, limit=3)
            assert max(map(len, found)) == 3 and len(found) > 2
            told = [str(one) for page in found for one in page]
            assert len(set(told)) == len(told) >= len(BIRDS)
        told = server.call("contradiction_check", limit=100)["contradictions"]
        assert told and all(one["why"] for one in told)
