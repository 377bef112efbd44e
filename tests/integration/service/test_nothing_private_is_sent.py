"""What goes to an embedding server, and to a language model, is without what is redacted, and nothing of it is the
user's alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes_ollama import OllamaServer
from service_house import ServiceHouse, captured_of, door, hook_question
from talk import transcript

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.redact import policy
from vector_memory.service.base import privacy
from vector_memory.service.capture.model_ideas import mine
from vector_memory.service.inject import prompt_recall

TOKEN = "gh" + "p_" + "Z9y8C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
QUESTION = f"What is the ledger in? {TOKEN}, Project Nightjar, <private>Greta Holm</private>"
FAILURE = (
    "Why does the ledger fail?\n<private>\nTraceback (most recent call last):\n"
    '  File "ledger.py", line 3, in read\nValueError: Greta Holm is unknown\n</private>'
)
PRIVATE = (TOKEN, "Nightjar", "Greta")


@pytest.fixture
def served(tmp_path: Path, server: OllamaServer, scratch_home: Path) -> Iterator[ServiceHouse]:
    """A house whose texts a server embeds."""
    rules(scratch_home, "Project Nightjar")
    settings = Settings(embedding_backend="ollama", ollama_host=server.address)
    made = ServiceHouse(tmp_path, lambda: registry.create(settings, ""))
    made.remember("The ledger is in SQLite")
    server.inputs.clear()
    yield made
    made.close()


def rules(home: Path, *items: str) -> None:
    """Have the user's own file keep words out."""
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / "CLAUDE.md").write_text(
        "## Privacy\n" + "".join(f"- {item}\n" for item in items)
    )
    policy.forget_files()


def told(texts: list[str], *words: str) -> list[str]:
    """Return which of some words stand in texts, by default in those that must not."""
    return [word for word in words or PRIVATE if word in "\n".join(texts)]


def asked(house: ServiceHouse, query: str) -> list[str]:
    """Return what a recall brings."""
    found = door(house.ctx, "recall", {"query": query, "global": True})
    return [hit["text"] for hit in found["hits"]]


@pytest.mark.parametrize("question", [QUESTION, FAILURE])
def test_an_embedding_server_is_asked_without_what_is_private(
    served: ServiceHouse, server: OllamaServer, tmp_path: Path, question: str
) -> None:
    """By a recall, by a prompt, and of a part that shows no longer that it was private."""
    assert any("SQLite" in text for text in asked(served, question))
    assert len(server.inputs) == 1
    app = tmp_path / "app"
    app.mkdir()
    (app / "CLAUDE.md").write_text("## Privacy\n- Greta\n- Holm\n")
    with privacy.for_folder(served.ctx, str(app)):
        prompt_recall.on_prompt(
            served.ctx, hook_question(served.ctx, "s", str(app), question.replace("private>", "b>"))
        )
    assert len(server.inputs) == 2
    assert "ledger" in server.inputs[1]
    assert not told(server.inputs)


def test_what_is_restricted_goes_to_no_embedding_server(
    served: ServiceHouse, server: OllamaServer
) -> None:
    """It is found by its words; what is not restricted any more is embedded."""
    id = served.remember("Olga Petrova owns the ledger", sensitivity="restricted")["id"]
    served.remember("Konrad pays the ledger")
    assert told(server.inputs, "Olga", "Konrad") == ["Konrad"]
    assert any("Olga" in text for text in asked(served, "ledger owns"))
    assert door(served.ctx, "migrate", {})["have"] == 2
    assert not told(server.inputs, "Olga")
    door(served.ctx, "edit", {"id": id, "sensitivity": "internal"})
    served.follow()
    assert told(server.inputs, "Olga")


def test_a_rule_that_came_later_holds_for_what_is_embedded_anew(
    tmp_path: Path, server: OllamaServer, scratch_home: Path
) -> None:
    """The user's, and that of the memory's own project."""
    app = tmp_path / "app"
    app.mkdir()
    before = ServiceHouse(tmp_path)
    before.remember("Kestrel and Merlin keep the ledger", app)
    before.close()
    rules(scratch_home, "Kestrel")
    (app / "CLAUDE.md").write_text("## Privacy\n- Merlin\n")
    settings = Settings(embedding_backend="ollama", ollama_host=server.address)
    house = ServiceHouse(tmp_path, lambda: registry.create(settings, ""))
    house.follow()
    assert told(server.inputs, "ledger")
    assert not told(server.inputs, "Kestrel", "Merlin")
    house.close()


@pytest.fixture
def told_house(house: ServiceHouse, server: OllamaServer, scratch_home: Path) -> ServiceHouse:
    """A house that asks a language model."""
    rules(scratch_home, "Project Nightjar")
    house.ctx.settings = replace(
        house.ctx.settings, generation_backend="ollama", ollama_host=server.address, hyde=True, rerank=True,
        extraction=True, extraction_gate=False,
    )  # fmt: skip
    return house


def test_a_language_model_is_told_a_question_without_what_is_private(
    told_house: ServiceHouse, server: OllamaServer
) -> None:
    """For a hypothetical answer, and for an order."""
    told_house.remember_all(["The ledger is in SQLite", "The ledger is kept by Konrad"])
    asked(told_house, QUESTION)
    assert len(server.prompts) == 2
    assert all("ledger" in prompt for prompt in server.prompts)
    assert not told(server.prompts)


def test_what_is_restricted_keeps_its_place_and_is_told_to_no_language_model(
    told_house: ServiceHouse, server: OllamaServer, scratch_home: Path
) -> None:
    """What is confidential is told as to an agent, and all without what a rule takes out by now, or a tool printed."""
    told_house.ctx.settings = replace(told_house.ctx.settings, hyde=False)
    query = "the ledger belongs to"
    told_house.remember("The ledger belongs to Olga", sensitivity="restricted")
    told_house.remember("The ledger belongs to Konrad and others", sensitivity="confidential")
    told_house.remember("What the ledger long belongs to is Kestrel \u27e6Printed: Merlin\u27e7")
    rules(scratch_home, "Kestrel")
    server.written = "[1] > [2]"
    before = asked(told_house, query)
    server.written = "[2] > [1]"
    after = asked(told_house, query)
    assert after == [before[0], before[2], before[1]]
    assert "Olga" in after[0]
    assert told(server.prompts, "Olga", "Konrad", "Kestrel", "Merlin") == ["Konrad"]


def test_a_project_of_one_open_memory_is_not_asked_about(
    told_house: ServiceHouse, server: OllamaServer
) -> None:
    told_house.ctx.settings = replace(told_house.ctx.settings, hyde=False)
    told_house.remember("The ledger belongs to Olga", sensitivity="restricted")
    told_house.remember("The ledger belongs to Konrad")
    assert len(asked(told_house, "the ledger belongs to")) == 2
    assert not server.prompts


def test_no_model_reads_an_exchange_of_which_anything_is_restricted(
    told_house: ServiceHouse, server: OllamaServer, tmp_path: Path
) -> None:
    """One long enough for two passages, of which one alone has the word."""
    app = tmp_path / "app"
    app.mkdir()
    (app / "CLAUDE.md").write_text("## Sensitivity\n- restricted: Heron\n## Privacy\n- Merlin\n")
    why = "The importer waits for the queue as long as the lock of it is held by a worker. " * 60
    talk = [
        ("Why did Heron stop?", f"Konrad knows. {why}"),
        ("And the ledger?", f"Olga and Merlin know. {why}"),
    ]
    captured_of(told_house.ctx, str(transcript(app, talk)), final=True)
    (app / "CLAUDE.md").write_text("## Privacy\n- Olga\n")
    policy.forget_files()
    mine(told_house.ctx, ["s1"], final=True)
    assert told(server.prompts, "importer", "know")
    assert not told(server.prompts, "Heron", "Konrad", "Olga", "Merlin")
