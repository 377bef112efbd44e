"""What the first prompt of a session is told of the session before it, where nothing else fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, hook_question
from transcript_samples import Talk

from vector_memory.service.inject.prompt_recall import on_prompt


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [("continue", True), ("fix it", True), ("terraform plan", False), ("npm run build", False)],
)
def test_a_command_line_points_at_nothing(
    house: ServiceHouse, tmp_path: Path, prompt: str, is_told: bool
) -> None:
    """It says all, however few words it has."""
    talk = Talk("before", cwd=str(tmp_path))
    talk.common["timestamp"] = house.time.isoformat()
    talk.user("Please sort the exports of the heron register by year")
    talk.say("The exports of the heron register are sorted by year now; the tests are still red.")
    captured_of(house.ctx, talk.write(tmp_path / "before.jsonl"), str(tmp_path), final=True)
    house.follow()
    house.pass_time(minutes=3)
    printed = on_prompt(house.ctx, hook_question(house.ctx, "now", str(tmp_path), prompt))
    assert ("heron register" in printed) is is_told
