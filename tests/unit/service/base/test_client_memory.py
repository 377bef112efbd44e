"""The client's own memory: where it is, and which sentences it says already."""

from __future__ import annotations

from vector_memory.service.base.client_memory import lines_known, normalised


def test_sentences_are_known_without_their_markup() -> None:
    """Marks of lists, emphasis, case and closing marks do not count."""
    known = lines_known("# Ledger\n- **Deploys** go through `staging`. Never on Fridays!\n")
    assert normalised("deploys go through staging") in known
    assert normalised("Never on Fridays.") in known
    assert normalised("* Deploys go through staging. Never on Fridays") in known
    assert normalised("Deploys go through main") not in known


def test_what_is_too_short_tells_nothing() -> None:
    """`ok` in the client's memory must not hide anything."""
    assert lines_known("ok\n- yes\n\n---\n") == set()
