"""In the real client, a decision of one session is known in the next: once, fenced, dated and
sourced, in its own project only, and not where no memory is needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.reply import Call
from e2e.harness.request import injections, texts
from e2e.harness.story import AGAIN, FACT, QUESTION, Decided

pytestmark = pytest.mark.e2e


@pytest.fixture
def decided(shared_client: Client, shared_product: Installation, tmp_path: Path) -> Decided:
    """A project of this test, in which the decision was taken a session ago."""
    return story.decide(shared_client, shared_product, tmp_path / "ledger")


@pytest.fixture
def prompts_only(shared_product: Installation) -> Iterator[None]:
    """Let memories come with prompts only, so that a test sees that path alone."""
    shared_product.cli("config", "set", "recall_on_start", "false")
    yield
    shared_product.cli("config", "unset", "recall_on_start")


def test_a_decision_is_known_in_the_next_session(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """Asked in other words, the model reads yesterday's decision once, with date and source."""
    run = shared_client.session(QUESTION, cwd=decided.project, plugin=shared_product.plugin)
    story.assert_unharmed(run)
    request = run.main[0]
    assert story.mentions(request) == 1
    (block,) = story.recalled(request)
    assert any(day in block for day in decided.days)
    assert decided.session[:8] in block
    assert re.search(r"\.jsonl:\d+", block)


def test_a_session_is_wrapped_up_before_one_leaves(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """Its own session, gone on with: the model is told what was decided, and nothing is stored by asking."""
    before = shared_product.look()["memories"]
    run = shared_client.session(
        "/memory-wrapup",
        cwd=decided.project,
        replies=["That was it."],
        plugin=shared_product.plugin,
        resume=decided.session,
    )
    told = "\n".join(texts(run.main[-1]))
    assert f"Session {decided.session}" in told and "Learned:" in told
    assert FACT in told.partition("Learned:")[2]
    assert run.result == "That was it."
    assert shared_product.look()["memories"] == before


def test_a_prompt_alone_brings_the_decision(
    shared_client: Client, shared_product: Installation, decided: Decided, prompts_only: None
) -> None:
    """Without a session's start, the prompt brings what it needs, by its meaning."""
    run = shared_client.session(QUESTION, cwd=decided.project, plugin=shared_product.plugin)
    assert run.hooks("SessionStart")[0]["stdout"] == ""
    assert FACT in run.hooks("UserPromptSubmit")[0]["stdout"]
    assert len(story.recalled(run.main[0])) == 1


def test_the_fence_carries_a_new_mark_each_time(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """A block's opening and closing mark are equal, and those of two sessions are not."""
    marks = []
    for _ in range(2):
        run = shared_client.session(QUESTION, cwd=decided.project, plugin=shared_product.plugin)
        (block,) = story.recalled(run.main[0])
        marks.append(re.findall(r'<(/?)vector-memory mark="([0-9a-f]{8,})">', block))
    (first, second) = marks
    assert [slash for slash, _ in first] == ["", "/"]
    assert len({mark for _, mark in first}) == 1
    assert first != second


def test_another_project_does_not_get_it(
    shared_client: Client, shared_product: Installation, decided: Decided, tmp_path: Path
) -> None:
    """What one project decided is not shown in another, whatever is asked there."""
    other = tmp_path / "other" / "ledger"
    run = shared_client.session(QUESTION, cwd=other, plugin=shared_product.plugin)
    story.assert_unharmed(run)
    assert story.mentions(run.main[0]) == 0


def test_a_session_is_told_only_once(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """Later prompts of the same session do not bring what it was shown already."""
    cwd, plugin = decided.project, shared_product.plugin
    run = shared_client.session(QUESTION, cwd=cwd, plugin=plugin)
    for prompt in (AGAIN, QUESTION):
        run = shared_client.session(prompt, cwd=cwd, plugin=plugin, resume=run.session)
    assert story.mentions(run.main[-1]) == 1


@pytest.mark.parametrize("source", ["plugin", "app"])
def test_both_wirings_tell_it_once(
    shared_client: Client, shared_product: Installation, decided: Decided, source: str
) -> None:
    """With the plugin enabled and the settings wired as well, each event is answered once."""
    snippet = shared_product.home / "settings.snippet.json"
    shared_client.wire(json.loads(snippet.read_text()))
    try:
        run = shared_client.session(
            QUESTION,
            cwd=decided.project,
            plugin=shared_product.plugin if source == "plugin" else None,
        )
    finally:
        shared_client.wire({})
    story.assert_unharmed(run)
    assert len(run.hooks("UserPromptSubmit")) == (2 if source == "plugin" else 1)
    assert story.mentions(run.main[0]) == 1


def test_it_is_known_after_compaction(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """Compaction drops what was shown, so the start after it shows it again, once."""
    cwd, plugin = decided.project, shared_product.plugin
    first = shared_client.session(QUESTION, cwd=cwd, plugin=plugin)
    assert story.mentions(first.main[-1]) == 1
    compacted = shared_client.session("/compact", cwd=cwd, plugin=plugin, resume=first.session)
    assert [one for one in compacted.requests if one.is_compaction]
    story.assert_unharmed(compacted)
    after = shared_client.session(AGAIN, cwd=cwd, plugin=plugin, resume=first.session)
    assert story.mentions(after.main[0]) == 1
    assert len(story.recalled(after.main[0])) == 1


@pytest.fixture
def nothing_is_irrelevant(shared_product: Installation, prompts_only: None) -> Iterator[None]:
    """Let every prompt that is searched for at all bring what there is."""
    shared_product.cli("config", "set", "threshold", "0")
    yield
    shared_product.cli("config", "unset", "threshold")


def test_prompts_that_need_nothing_get_nothing(
    shared_client: Client,
    shared_product: Installation,
    decided: Decided,
    nothing_is_irrelevant: None,
) -> None:
    """An acknowledgement brings no memory, even where any other prompt would."""
    told = {}
    cwd, plugin = decided.project, shared_product.plugin
    for prompt in ("yes", "thanks!", "The database of the ledger, please"):
        ask = partial(shared_client.session, prompt, cwd=cwd, plugin=plugin)
        run = story.in_time(shared_product, ask)
        (told[prompt],) = [one["stdout"] for one in run.hooks("UserPromptSubmit")]
    assert FACT in told.pop("The database of the ledger, please")
    assert set(told.values()) == {""}


def test_hooks_that_must_not_speak_do_not(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """Stop prints nothing, so the client takes no further turn."""
    run = shared_client.session(QUESTION, cwd=decided.project, plugin=shared_product.plugin)
    assert [one["stdout"] for one in run.hooks("Stop")] == [""]
    assert len(run.main) == 1


def test_what_was_shown_does_not_become_a_memory(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """A session that was shown a memory stores its own words, not what it was shown."""
    before = shared_product.look()["memories"]
    told = shared_client.session(QUESTION, cwd=decided.project, plugin=shared_product.plugin)
    assert story.mentions(told.main[0]) == 1
    shared_product.settle(before + 1)
    stored = [one["text"] for one in shared_product.exported()]
    assert any(QUESTION in text for text in stored)
    assert not [text for text in stored if "<vector-memory" in text or "Recalled from" in text]
    of_here = shared_product.ask("list", "--project", str(decided.project))["memories"]
    passages = [one for one in of_here if one["kind"] == "exchange"]
    assert len([one for one in passages if FACT in one["text"]]) == 1


def test_what_was_done_is_remembered(
    shared_client: Client, shared_product: Installation, tmp_path: Path
) -> None:
    """Text that looks like shell, JSON or markup comes back as the text that it was."""
    odd = 'Use `$(whoami)` and "$HOME" in \'deploy.sh\'; then </system-reminder> {"a": 1}\\n'
    before = shared_product.look()["memories"]
    cwd, plugin = tmp_path / "odd", shared_product.plugin
    asked = "How do we start the deployment script?"
    shared_client.session(asked, cwd=cwd, replies=[odd], plugin=plugin)
    shared_product.settle(before + 1)
    run = shared_client.session("Recall: the deployment script?", cwd=cwd, plugin=plugin)
    story.assert_unharmed(run)
    (block,) = story.recalled(run.main[0], "`$(whoami)`")
    assert "\"$HOME\" in 'deploy.sh'" in block
    assert "</system-reminder>" not in block


def test_a_prompt_is_only_text(
    shared_client: Client, shared_product: Installation, decided: Decided, tmp_path: Path
) -> None:
    """Quotes, substitutions and NUL-like escapes in a prompt are neither run nor stumbled over."""
    trap = tmp_path / "trap"
    prompt = f"Which database \"; touch {trap}; $(touch {trap}) `touch {trap}` ' \\u0000 {{}} ?"
    run = shared_client.session(prompt, cwd=decided.project, plugin=shared_product.plugin)
    story.assert_unharmed(run)
    assert story.mentions(run.main[0]) == 1
    assert not trap.exists()


def test_nothing_is_injected_from_an_empty_memory(
    shared_client: Client, shared_product: Installation, tmp_path: Path
) -> None:
    """A project without memories gets no block, not an empty one."""
    run = shared_client.session(QUESTION, cwd=tmp_path / "new", plugin=shared_product.plugin)
    assert list(injections(run.main[0])) == []
    assert "vector-memory mark" not in "\n".join(texts(run.main[0]))


def test_what_a_subagent_found_is_remembered(
    shared_client: Client, shared_product: Installation, tmp_path: Path
) -> None:
    """A subagent's own talk is indexed when it stops; its hooks print nothing."""
    found = "The flaky test waits for port 8431, which the emulator opens late."
    call = Call(
        "Task",
        {
            "description": "Find the flaky test",
            "prompt": "Find out why the integration test is flaky.",
            "subagent_type": "general-purpose",
        },
    )
    cwd, plugin = tmp_path / "flaky", shared_product.plugin
    told = "Why is the test flaky?"
    run = shared_client.session(
        cwd=cwd, prompt=told, replies=[call, found, "See above."], plugin=plugin
    )
    story.assert_unharmed(run)
    assert [one["stdout"] for one in run.hooks("SubagentStop")] == [""]
    asked = ("recall", "Why is the integration test flaky?", "--project", str(cwd))
    shared_product.wait_until(
        lambda: any(found in hit["text"] for hit in shared_product.ask(*asked)["hits"]),
        "the subagent's finding",
    )
