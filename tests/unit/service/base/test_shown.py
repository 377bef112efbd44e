"""Answers, looked at once more on the way out."""

from __future__ import annotations

from pathlib import Path

from vector_memory import redact
from vector_memory.service.base import privacy


def test_a_later_rule_holds_for_every_word_of_an_answer(tmp_path: Path) -> None:
    """Whatever its field is called; ids, times, places and words of ours are as they were, since who asks goes on
    with them."""
    (tmp_path / "CLAUDE.md").write_text("## Privacy\n- Wobblegum\n")
    kept = {
        "id": "wobblegum", "project": "wobblegum", "origin": "user", "count": 3, "done": None,
        "source": {"path": "/t/wobblegum.jsonl", "created_at": "2026-05-03T12:00:00+00:00"},
    }  # fmt: skip
    words = {
        "asked": "Fix wobblegum", "steps": ["edit", "make wobblegum"],
        "extra": {"command": "make wobblegum", "families": ["wobblegum"]},
        "trouble": [{"line": "no wobblegum"}], "jobs": {"wobblegum": {"n": 1}, "run wobblegum": 2},
    }  # fmt: skip
    with redact.for_project((str(tmp_path),)):
        shown = privacy.redacted_again({**kept, **words})
    assert {name: shown[name] for name in kept} == kept
    assert "wobblegum" not in str({name: shown[name] for name in words})
    assert shown["steps"][0] == "edit" and list(shown["jobs"].values())
