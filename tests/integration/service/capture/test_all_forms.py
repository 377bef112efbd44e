"""What goes from one form of an exchange goes from all of its forms, passages, titles and the steps that are logged, and
from no other exchange."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vector_memory import redact
from vector_memory.index.memories import Draft
from vector_memory.index.reader import read_exchanges
from vector_memory.observe.learning.tasks import TaskTurn
from vector_memory.redact.echoes import MOST
from vector_memory.service.capture import read_session
from vector_memory.service.learning.observed_calls import cleaner, harvest

WORDS = "Frosch" + "Teich92"
SHORT = "Order" + "12"
SAID = "Alles klar, mache ich so."


def used(tool: str, **given: str) -> list[dict[str, Any]]:
    """What the assistant says and does."""
    return [
        {"type": "text", "text": SAID},
        {"type": "tool_use", "id": "t", "name": tool, "input": given},
    ]


def returned(output: str) -> list[dict[str, Any]]:
    """What a tool answers."""
    return [{"type": "tool_result", "tool_use_id": "t", "content": output, "is_error": True}]


def made_of(folder: Path, *talk: Any) -> tuple[list[Draft], list[TaskTurn]]:
    """The passages and steps of a transcript of what the user, the assistant and tools said."""
    path = folder / "s.jsonl"
    lines = []
    for number, said in enumerate(talk):
        by_user = isinstance(said, str) and not said.startswith("> ")
        by_user |= isinstance(said, list) and said[0]["type"] == "tool_result"
        type_ = "user" if by_user else "assistant"
        content = said.removeprefix("> ") if isinstance(said, str) else said
        content = (
            content
            if by_user or not isinstance(content, str)
            else [{"type": "text", "text": content}]
        )
        lines.append(
            {"type": type_, "message": {"role": type_, "content": content}, "uuid": f"u{number}"}
            | {"sessionId": "s", "timestamp": f"2026-11-20T10:00:0{number}.000Z"}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    drafts = read_session.read(read_session.ReadRequest(str(path), final=True)).drafts
    with redact.together():
        return drafts, harvest(read_exchanges(str(path), final=True), cleaner())


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
    drafts, steps = made_of(tmp_path, prompt, used("Bash", command=f"make {WORDS}"), f"> {SAID}")
    assert "[redacted:password]" in drafts[0].text
    assert steps[0].prompt == drafts[0].title == prompt.replace(WORDS, "[redacted:password]")
    assert WORDS not in repr((drafts, steps))


def test_such_a_word_goes_as_a_whole_and_from_its_own_exchange(tmp_path: Path) -> None:
    """Names that begin with it are others, and what another exchange says is about something else."""
    names = (
        f"src/{SHORT}.php, {SHORT}(), ticket {SHORT}34, my{SHORT}, {SHORT}_id, {SHORT}Controller"
    )
    work = f"rename the class that the failing test of the form knows: {names}"
    drafts, steps = made_of(
        tmp_path,
        f"Rename the {SHORT} class first.",
        f"> Renamed the {SHORT} class, and all its callers in the shop.",
        f"Log in as anna, the password is {SHORT}. Then {work}.",
        used("Bash", command=f"login anna {SHORT}"),
        f"> Logged in with {SHORT}; now I {work}.",
        f"Is {SHORT} still used as a class?",
        f"> Yes, {SHORT} is used in two places of the shop.",
    )
    first, second, third = (
        repr([draft for draft in drafts if draft.turn == turn]) + repr(steps[turn - 1])
        for turn in (1, 2, 3)
    )
    assert second.count(names) > 1 and SHORT not in second.replace(names, "")
    for other in (first, third):
        assert SHORT in other and "redacted" not in other


@pytest.mark.parametrize("name", ["PaymentGateway2", "Never-retry", "Uint8Array", "Jinja2"])
@pytest.mark.parametrize("where", ["printed", "written"])
def test_what_a_tool_prints_takes_nothing_from_what_was_said(
    tmp_path: Path, where: str, name: str
) -> None:
    """An output or a file may give any name out for a password."""
    hostile = f"login failed\npassword: '{name}'\npassword={name}"
    did = (
        used("Bash", command="pytest -q")
        if where == "printed"
        else used("Write", file_path="/x/f.yml", content=hostile)
    )
    prompt = f"Policy of ours: {name} must never be called twice."
    drafts, steps = made_of(tmp_path, prompt, did, returned(hostile), f"> Noted: {name} it is.")
    assert drafts[0].title == steps[0].prompt == prompt
    assert drafts[0].text.startswith(f"User: {prompt}")
    assert f"Noted: {name} it is." in drafts[-1].text


def test_so_many_of_them_cost_no_more() -> None:
    """A prompt may be a list of them: every text of its exchange is looked through for each."""
    listed = "\n".join(f"password: Teich{number}" for number in range(1_000, 3_000))
    assert len(redact.told("User: ", listed, "")) == MOST


def test_names_of_code_stay_in_the_answer(tmp_path: Path) -> None:
    """What redaction wrongly takes from a file stays where the assistant speaks of it."""
    code = "const { isUint8Array } = require('node:util/types')\nauth = isUint8Array(key)\n"
    drafts, _ = made_of(
        tmp_path,
        "Copy the helper.",
        used("Write", file_path="/x/util.js", content=code),
        "> The guard is isUint8Array(chunk); plain arrays are refused.",
    )
    assert "The guard is isUint8Array(chunk)" in drafts[-1].text
