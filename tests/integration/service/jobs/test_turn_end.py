"""What is learned when a session is over."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse
from talk import transcript

from vector_memory.model import Scope
from vector_memory.service.jobs import turn_end

FOUND = "The flaky test waits for port 8431, which the emulator opens late."


def test_a_subagent_whose_transcript_came_late_is_not_lost(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """The client writes it behind its hook's back; what cannot be read takes nothing else with it."""
    path = transcript(tmp_path, [("Why is the test flaky?", "See above.")], "s1")
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    # A subagent's lines have ids of their own, and name the session.
    written = transcript(folder, [("Find the flaky test.", FOUND)], "agent-1")
    written.write_text(written.read_text().replace('"sessionId": "agent-1"', '"sessionId": "s1"'))
    (folder / "agent-2.jsonl").mkdir()

    def told() -> list[str]:
        every = house.ctx.global_shelf().journal.iter_memories(Scope(projects=None))
        return [memory.text for memory in every if memory.kind == "exchange"]

    turn_end.learn(house.ctx, turn_end.EndedTurn("s1", str(path), str(tmp_path)))
    assert len(told()) == 1
    for _ in range(2):
        turn_end.learn(house.ctx, turn_end.EndedTurn("s1", str(path), str(tmp_path), final=True))
        assert len(told()) == 2
    assert any(FOUND in text for text in told())
