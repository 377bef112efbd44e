"""What goes from one form of an exchange goes from all of them: passages, titles, and the steps that are logged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory import redact
from vector_memory.index.reader import read_exchanges
from vector_memory.service.capture import read_session
from vector_memory.service.learning.observed_calls import cleaner, harvest

WORDS = "Frosch" + "Teich92"


@pytest.mark.parametrize(
    "prompt",
    [
        f"zugang zum prüfstand: benutzer labor, code {WORDS}, bitte nur lokal benutzen",
        f"für den prüfstand: {WORDS}",
        f"use {WORDS} there",
    ],
)
def test_what_a_passage_loses_stands_nowhere(tmp_path: Path, prompt: str) -> None:
    """A prompt alone does not tell that its word is a password; the passage that is made of it does."""
    assert WORDS in redact.clean(prompt).text
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": f"make {WORDS}"}}
    said = {"type": "text", "text": "Alles klar, mache ich so."}
    path = tmp_path / "s.jsonl"
    lines = [
        {"type": type_, "message": {"role": type_, "content": content}, "uuid": f"u{number}"}
        | {"sessionId": "s", "timestamp": f"2026-11-20T10:00:0{number}.000Z"}
        for number, (type_, content) in enumerate(
            [("user", prompt), ("assistant", [said, call]), ("assistant", [said])]
        )
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    drafts = read_session.read(read_session.ReadRequest(str(path), final=True)).drafts
    with redact.together():
        steps = harvest(read_exchanges(str(path), final=True), cleaner())
    assert "[redacted:password]" in drafts[0].text
    assert steps[0].prompt == drafts[0].title == prompt.replace(WORDS, "[redacted:password]")
    assert WORDS not in repr((drafts, steps))


def test_a_part_of_such_a_value_stays() -> None:
    """A value that is made of words begins with one, which says nothing where it stands alone."""
    with redact.together():
        redact.clean("Password: " + "Tulpenfeld" + "Regen88")
        assert redact.clean("Wir pflanzen im Tulpenfeld.").redactions == 0
