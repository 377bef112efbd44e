"""A file becomes a memory that names it: as it is, whose word it is, and once it has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Memory


def taken(house: ServiceHouse, app: Path, path: str, **more: Any) -> dict[str, Any]:
    """Return what is said of a file."""
    request = {"project": str(app), "cwd": str(app), "actor": "mcp", "path": path, **more}
    return door(house.ctx, "multimodal_input", request)


def stored(house: ServiceHouse, told: dict[str, Any]) -> Memory:
    """Return the memory that was made."""
    return house.ctx.global_shelf().journal.get(told["memory"]["id"])


def test_a_diagram_is_read_then_kept(house: ServiceHouse, app: Path) -> None:
    """It is its author's word; its file and digest stand with it; a changed one takes its place."""
    file = app / "flow.mmd"
    file.write_text("graph TD\nA[Importer] -->|invoices| B[Ledger]\n")
    shown = taken(house, app, "flow.mmd")
    assert shown["arrows"] == [{"from": "A", "to": "B", "label": "invoices"}]
    assert "memory" not in shown and house.ctx.global_shelf().journal.count() == 0
    first = taken(house, app, "flow.mmd", dry_run=False)
    memory = stored(house, first)
    assert "Importer → Ledger: invoices" in memory.text and memory.files == ("flow.mmd",)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert f"sha256:{digest}" in memory.tags and memory.is_foreign
    assert taken(house, app, "flow.mmd", dry_run=False)["action"] == "unchanged"
    file.write_text("graph TD\nA[Importer] --> C[Archive]\n")
    looked = taken(house, app, "flow.mmd")
    assert looked["changed"] and looked["earlier"] == memory.id
    assert taken(house, app, "flow.mmd", dry_run=False)["action"] == "superseded"
    assert house.ctx.global_shelf().journal.count() == 1


def test_a_picture_in_the_callers_words(house: ServiceHouse, app: Path) -> None:
    """Whoever looked at it says it; secrets go as from every text."""
    (app / "board.png").write_bytes(b"\x89PNG")
    key = "AKIA" + "Z7QX" * 4
    told = taken(house, app, "board.png", text=f"The board shows key {key}.", dry_run=False)
    memory = stored(house, told)
    assert told["kind"] == "image" and not memory.is_foreign
    assert key not in memory.text and "The board shows key" in memory.text


@pytest.mark.parametrize(
    ("name", "more", "error"),
    [
        ("none.mmd", {}, NotFoundError),
        ("board.png", {}, BadInputError),
        ("what.xyz", {}, BadInputError),
        ("bad.svg", {}, BadInputError),
        ("empty.md", {}, BadInputError),
        ("board.png", {"kind": "diagram"}, BadInputError),
        ("board.png", {"kind": "smell", "text": "x"}, BadInputError),
        (".", {}, BadInputError),
    ],
)
def test_what_cannot_be_taken_in(
    house: ServiceHouse, app: Path, name: str, more: dict[str, Any], error: type[Exception]
) -> None:
    """It is said why, and nothing is stored."""
    (app / "board.png").write_bytes(b"\x89PNG")
    (app / "what.xyz").write_text("x")
    (app / "bad.svg").write_text('<!DOCTYPE a [<!ENTITY x "y">]><svg>&x;</svg>')
    (app / "empty.md").write_text("No diagram.")
    with pytest.raises(error):
        taken(house, app, name, dry_run=False, **more)
    assert house.ctx.global_shelf().journal.count() == 0
