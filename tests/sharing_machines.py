"""Data homes with a clone of one project each, which share its memories."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from service_house import ServiceHouse, door

from vector_memory.model import Scope
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.store.index import Index

DECISION = "We decided that the ledger writes its entries with PostgreSQL advisory locks."
OTHER = "We decided that the importer reads invoices in batches of two hundred."


class Machine:
    """A data home with a clone of the project."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.house = ServiceHouse(folder)
        self.project = folder / "ledger"
        self.project.mkdir(parents=True)

    def ask(self, verb: str, **more: Any) -> dict[str, Any]:
        return door(self.house.ctx, f"share_{verb}", {"project": str(self.project), **more})

    def remember(self, text: str, kind: str = "decision", **more: Any) -> str:
        done = self.house.remember(text, self.project, kind=kind, **more)
        return str(done["id"])

    def publish(self, **more: Any) -> dict[str, Any]:
        return self.ask("publish", **more)

    def pull(self) -> dict[str, Any]:
        done = self.ask("pull")
        shelf = self.house.ctx.team_shelf()
        if shelf is not None:
            if shelf.index is None:
                embedding = self.house.embedding
                index = Index.open(shelf.folder, embedding.model, embedding.dim)
                index.load_lance()
                shelf.attach(index)
            while follow_once(shelf, self.house.embedding):
                pass
        return done

    def shared(self) -> list[str]:
        shelf = self.house.ctx.team_shelf()
        return [str(one.text) for one in shelf.journal.iter_memories(Scope())] if shelf else []

    def recall(self, query: str) -> list[dict[str, Any]]:
        asked = {"query": query, "project": str(self.project)}
        return list(door(self.house.ctx, "recall", asked)["hits"])


def meet(machines: list[Machine], place: Path) -> None:
    """Make a team of machines whose project's list of members is the same."""
    for machine in machines:
        machine.ask("init", to=f"file://{place}", name=machine.name)
    keys = {one.name: one.ask("invite")["key"] for one in machines}
    for machine in machines:
        for name, key in keys.items():
            if name != machine.name:
                machine.ask("invite", key=key, name=name)


def second_project(machine: Machine) -> Machine:
    """Return another project of the same data home."""
    other = copy.copy(machine)
    other.project = machine.project.with_name("billing")
    other.project.mkdir()
    return other


def bundle_of(place: Path) -> Path:
    return next(path for path in sorted(place.rglob("*.bundle")))


def listed(machine: Machine) -> list[dict[str, Any]]:
    asked = {"project": str(machine.project), "shared": machine.name == "ben", "k": 60}
    return list(door(machine.house.ctx, "list", asked)["memories"])
