"""In the real client, a search brings what memory knows of it: beside the result or in its place, with the shell
and with the client's own tools, and never twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.reply import Call, Reply, Say, Scripted
from e2e.harness.request import Request, texts, tool_results

pytestmark = pytest.mark.e2e

KNOWN = "strips the byte order mark"
TEXT = f"We decided that parse_ledger_line in src/ledger.py {KNOWN}, because exports have one."
LINE = "def parse_ledger_line(line):"
TOOLS = "Bash,Read,Grep,Glob,Task"
SHELL = Call("Bash", {"command": "grep -rn parse_ledger_line src", "description": "Look"})
GREP = Call("Grep", {"pattern": "parse_ledger_line", "output_mode": "content", "path": "src"})
SUBAGENT = Call(
    "Task",
    {
        "description": "Look",
        "prompt": "Look for it.",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    },
)
GLOB = Call("Glob", {"pattern": "**/ledger.py"})


@pytest.fixture
def project(tmp_path: Path, shared_product: Installation) -> Path:
    """A project with a function that memory knows of."""
    folder = tmp_path / "ledger"
    (folder / "src").mkdir(parents=True)
    file = folder / "src" / "ledger.py"
    file.write_text(f"{LINE}\n    return line\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    # It would be told at the start, and nothing is told twice.
    shared_product.cli("config", "set", "recall_on_start", "false")
    shared_product.cli("remember", TEXT, "--kind", "decision", "--project", str(folder))
    shared_product.rest()
    return folder


@pytest.fixture
def mode(shared_product: Installation) -> Iterator[Callable[[str], None]]:
    """Sets how the facade speaks, and sets it back."""

    def choose(name: str) -> None:
        shared_product.cli("config", "set", "facade", name)
        tools = shared_product.home / "run" / "tools"
        shared_product.wait_until(lambda: "search" in tools.read_text().split(), "the mode")

    yield choose
    choose("beside")


def by_who_asks(request: Request) -> Reply:
    """Let a subagent search and the session end, in whichever order they ask."""
    if "Look for it." not in texts(request):
        return Say("Done.")
    return Say("Found.") if tool_results(request) else SHELL


def run(client: Client, product: Installation, project: Path, *calls: Scripted) -> Run:
    """Run a session that makes some calls and ends, and check that no hook disturbed it."""
    replies, plugin = [*calls, "Done."], product.plugin

    def session() -> Run:
        told = client.session("yes", cwd=project, replies=replies, plugin=plugin, tools=TOOLS)
        story.assert_unharmed(told)
        assert told.result == "Done."
        return told

    return story.in_time(product, session)


@pytest.mark.parametrize("call", [SHELL, GREP, GLOB], ids=["Bash", "Grep", "Glob"])
def test_beside(
    shared_client: Client, shared_product: Installation, project: Path, call: Call
) -> None:
    """The search runs, and the memory stands beside its result, once."""
    told = run(shared_client, shared_product, project, call, call)
    counts = [len(story.recalled(one, KNOWN)) for one in told.main]
    assert counts == [0, 1, 1]
    result = tool_results(told.main[1])[0]
    assert "ledger.py" in result
    assert KNOWN not in result


@pytest.mark.parametrize(
    "command",
    ["grep -rn audit-tail .", 'X=audit-tail; grep -rn "$X" .', "grep -rn audit-tail . 2>/dev/null"],
    ids=["in no file", "in a variable", "errors to nowhere"],
)
def test_a_name_that_lies_in_no_file(
    shared_client: Client, shared_product: Installation, project: Path, command: str
) -> None:
    """A decision about it is told, and nowhere is no file; a list of names, which says nothing, is not told."""
    for text, kind in (
        (
            "The group audit-tail starts at the oldest offset; its log goes to /dev/null.",
            "decision",
        ),
        ("`audit-tail`, `audit-head`, `audit-rest`", "conclusion"),
    ):
        shared_product.cli("remember", text, "--kind", kind, "--project", str(project))
    shared_product.rest()
    call = Call("Bash", {"command": command, "description": "Look"})
    told = run(shared_client, shared_product, project, call)
    (note,) = story.recalled(told.main[1], "oldest offset")
    assert "\u00b7 /dev/null" not in note
    assert not story.recalled(told.main[1], "audit-rest")


@pytest.mark.parametrize("call", [SHELL, GREP], ids=["Bash", "Grep"])
def test_serve(
    shared_client: Client,
    shared_product: Installation,
    project: Path,
    mode: Callable[[str], None],
    call: Call,
) -> None:
    """The answer stands in the search's place; the second time the search runs."""
    mode("serve")
    told = run(shared_client, shared_product, project, call, call)
    first, second = tool_results(told.main[2])
    assert KNOWN in first
    assert LINE not in first
    assert LINE in second
    assert KNOWN not in second


def test_a_subagent_is_not_served(
    shared_client: Client,
    shared_product: Installation,
    project: Path,
    mode: Callable[[str], None],
) -> None:
    """Its search runs, with memory beside it."""
    mode("serve")
    told = run(shared_client, shared_product, project, SUBAGENT, *[by_who_asks] * 8)
    shown = [one for request in told.requests for one in tool_results(request)]
    assert any(story.recalled(request, KNOWN) for request in told.requests)
    assert any(LINE in one for one in shown)
    assert not any("Not searched" in one for one in shown)


def test_both_wirings_say_it_once(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """With plugin and settings wired, one of the two answers."""
    snippet = shared_product.home / "settings.snippet.json"
    shared_client.wire(json.loads(snippet.read_text()))
    try:
        told = run(shared_client, shared_product, project, SHELL)
    finally:
        shared_client.wire({})
    said = [one["stdout"] for one in told.hooks("PreToolUse")]
    assert len(said) == 2
    assert len([one for one in said if one]) == 1
    assert len(story.recalled(told.main[1], KNOWN)) == 1
