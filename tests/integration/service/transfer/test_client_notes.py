"""The client's own memory is found, and never said twice."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse, hook_question

from vector_memory.model import Scope
from vector_memory.service.base import client_memory
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.transfer import import_notes

FACT = "The ledger keeps its totals in cents, as whole numbers."


def client_says(tmp_path: Path, text: str) -> str:
    """Write the client's memory of a project, and return the path of a transcript beside it."""
    folder = tmp_path / "claude" / "projects" / "app"
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    (folder / "memory" / "MEMORY.md").write_text(text)
    return str(folder / "s1.jsonl")


def start(house: ServiceHouse, app: Path, transcript: str = "", session: str = "new") -> str:
    """Return what a session starts with."""
    ask = hook_question(house.ctx, session, str(app), transcript=transcript)
    return session_start.on_start(house.ctx, ask)


def test_what_the_client_says_is_not_repeated(
    house: ServiceHouse, app: Path, tmp_path: Path
) -> None:
    """Neither at a start nor with a prompt; other memories come."""
    house.remember(FACT, app)
    house.remember("Deploys happen on Fridays.", app)
    transcript = client_says(tmp_path, f"# Notes\n\n- {FACT}\n")
    told = start(house, app, transcript)
    assert "Fridays" in told and "ledger" not in told
    assert "ledger" in start(house, app, session="another")
    ask = hook_question(
        house.ctx, "s9", str(app), "How does the ledger keep its totals?", transcript=transcript
    )
    assert "cents" not in prompt_recall.on_prompt(house.ctx, ask)


def test_it_is_read_into_memory(house: ServiceHouse, app: Path, tmp_path: Path) -> None:
    """Once, again when it changed, and it is never written."""
    transcript = client_says(tmp_path, f"- {FACT}\n")
    note = Path(client_memory.path_beside(transcript))
    before = note.read_bytes()
    for _ in range(2):
        import_notes.index_client_memory(house.ctx, transcript, str(app))
    journal = house.ctx.global_shelf().journal
    assert [one.text for one in journal.iter_memories(Scope())] == [FACT]
    note.write_text(f"- {FACT}\n- Fridays are for deploys, says the calendar.\n")
    import_notes.index_client_memory(house.ctx, transcript, str(app))
    assert journal.count() == 2
    assert before != note.read_bytes() and FACT in note.read_text()


def test_a_link_is_no_memory(house: ServiceHouse, app: Path, tmp_path: Path) -> None:
    """A file of another place is not read by way of a link."""
    secret = tmp_path / "secret.md"
    secret.write_text("- The other place is not to be read.\n")
    transcript = client_says(tmp_path, "")
    note = Path(client_memory.path_beside(transcript))
    note.unlink()
    note.symlink_to(secret)
    import_notes.index_client_memory(house.ctx, transcript, str(app))
    assert house.ctx.global_shelf().journal.count() == 0
    assert house.ctx.state.counters()["client_memory_skipped"] == 1


def test_without_one_nothing_happens(house: ServiceHouse, app: Path) -> None:
    """Most projects have none."""
    import_notes.index_client_memory(house.ctx, str(app / "none.jsonl"), str(app))
    assert client_memory.known_to_client("") == frozenset()
