"""What `/remember QUESTION` is given with the prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, hook_question

from vector_memory.model import Scope
from vector_memory.service.inject import asked_recall, prompt_recall
from vector_memory.text import fence

OLD = "The ledger service listens on port 8080."
NEW = "The ledger service listens on port 9090."


@pytest.fixture
def house(house: ServiceHouse, tmp_path: Path) -> ServiceHouse:
    """The service, in which one thing was so until another came, beside an unrelated one."""
    old = house.remember(OLD, tmp_path)
    house.pass_time(days=3)
    house.remember(NEW, tmp_path, supersedes=old["id"])
    house.remember("The invoices are printed in Helvetica.", tmp_path)
    house.pass_time(days=2)
    return house


def asked(house: ServiceHouse, tmp_path: Path, prompt: str) -> str:
    """Return what a prompt is given."""
    question = hook_question(house.ctx, "s", str(tmp_path), prompt)
    if question.prompt_text.question:
        return asked_recall.on_remember(house.ctx, question)
    return prompt_recall.on_prompt(house.ctx, question)


@pytest.mark.parametrize("command", ["/remember", "/vector-memory:remember"])
def test_the_answer_comes_with_the_prompt(
    house: ServiceHouse, tmp_path: Path, command: str
) -> None:
    """Under the line that the skill looks for, by topic, with what was so and until when; again when it
    is asked again, and as a prompt's memory: the skill's talk is not the session's."""
    for _ in range(2):
        told = asked(house, tmp_path, f"{command} Which port does the ledger service listen on?")
        assert told.count("<vector-memory mark=") == 1
        assert asked_recall.TITLE in told
        assert "topic: " in told
        assert NEW in told
        assert f"Earlier: was '{OLD}' until 6 May 2026" in told
        assert fence.tokens(told) <= asked_recall.TOKENS
    assert house.ctx.state.shown_ids("s") == set()


def test_nothing_fits(house: ServiceHouse, tmp_path: Path) -> None:
    """It is said, so that nobody answers from what merely lies nearest."""
    told = asked(house, tmp_path, "/remember how to bake bread")
    assert f"{asked_recall.TITLE} {asked_recall.NOTHING}" in told
    assert "Helvetica" not in told


@pytest.mark.parametrize(
    "prompt", ["/remember", "/remember   ", "/memory-search ledger port", "/forget ledger port",
               "/remembering the ledger port", "/memory-save the ledger's port is 1"]
)  # fmt: skip
def test_other_commands_stay_silent(house: ServiceHouse, tmp_path: Path, prompt: str) -> None:
    """Nothing is added to what they do themselves."""
    assert asked(house, tmp_path, prompt) == ""


def test_topics_stand_together(house: ServiceHouse, tmp_path: Path) -> None:
    """Hits of one topic follow one another, whatever came between them."""
    for port in ("TLS", "metrics"):
        house.remember(f"The ledger service listens on port 9090 for {port} too.", tmp_path)
    told = asked(house, tmp_path, "/remember What do we know of the ledger service and invoices?")
    heads = [line for line in told.splitlines() if line.startswith("- 2026")]
    assert len([line for line in heads if "same topic" in line]) >= 1
    assert all("topic" in line for line in heads)


def test_what_an_exchange_says_is_told_once(house: ServiceHouse, tmp_path: Path) -> None:
    """The idea that was found in a passage and the passage are two memories that say one thing."""
    rule = "We decided that parcels go to Villingen from December on."
    at = house.time.isoformat()
    lines = [
        {"type": kind, "uuid": kind, "sessionId": "parcels", "cwd": str(tmp_path), "timestamp": at,
         "message": {"role": kind, "content": text}}
        for kind, text in (("user", rule), ("assistant", "The zones of the shop have Villingen now."))
    ]  # fmt: skip
    path = tmp_path / "parcels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    captured_of(house.ctx, str(path), str(tmp_path), final=True)
    house.follow()
    shelf = house.ctx.global_shelf()
    kinds = [memory.kind for memory in shelf.journal.iter_memories(Scope(projects=None))]
    assert {"exchange", "decision"} <= set(kinds)
    told = asked(house, tmp_path, "/remember where do the parcels go from December on, Villingen?")
    assert told.count(" parcels.jsonl:") == 1
