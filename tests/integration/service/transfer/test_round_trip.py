"""An export of ours brings everything back as it was, in both formats, and a second import nothing more."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from service_house import Listener, ServiceHouse, door, exported, exported_notes

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.journal.journal import Journal
from vector_memory.model import (
    COLLECTIONS,
    INTENTS,
    QUIET,
    TRAJECTORIES,
    Link,
    Memory,
    Origin,
    Priority,
    Relation,
    Sensitivity,
    Source,
    Temporal,
)
from vector_memory.service.memory import proposals
from vector_memory.service.transfer import note_files

BEGIN = datetime(2026, 3, 1, 8, 30, 0, 123456, tzinfo=timezone.utc)
KINDS = ("note", "exchange", "summary", "topic", "solution", *INTENTS)
WORDS = [
    "queue",
    "ledger",
    "worker",
    "index",
    "parser",
    "cache",
    "shelf",
    "journal",
    "retry",
    "batch",
    "token",
    "window",
]


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[tuple[ServiceHouse, ServiceHouse]]:
    """A house with memories to come, and an empty one."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    made = ServiceHouse(tmp_path / "here"), ServiceHouse(tmp_path / "there")
    yield made
    for house in made:
        house.close()


def of_every_kind(number: int, dice: random.Random) -> Memory:
    """Return a memory with any of the features that there are."""
    at = BEGIN + timedelta(minutes=number)

    def maybe(moment: datetime) -> datetime | None:
        return moment if dice.random() < 0.4 else None

    text = " ".join(dice.choices(WORDS, k=6)) + f" number {number % 17}."
    if dice.random() < 0.3:
        text += "\n\n## A heading\n\n```\n- item <!-- memory {} -->\n```"
    # What observers and captured trajectories keep is made anew from what is seen elsewhere.
    kept = sorted(name for name in COLLECTIONS if name not in (*QUIET, TRAJECTORIES))
    return Memory(
        id=f"{dice.getrandbits(128):032x}",
        text=redact.clean(text).text,
        title=redact.clean(dice.choice(["", "Where › it was said"])).text,
        created_at=at,
        kind=dice.choice(KINDS),
        collection=dice.choice(kept),
        priority=dice.choice(list(Priority)),
        confidence=round(dice.random(), 4),
        origin=dice.choice([Origin.USER, Origin.ASSISTANT, Origin.JOB]),
        temporal=dice.choice(list(Temporal)),
        sensitivity=dice.choice(list(Sensitivity)),
        jurisdiction=dice.choice(["", "EU"]),
        tags=tuple(dice.sample(WORDS, dice.randrange(3))),
        files=tuple(dice.sample(["src/a.py", "docs/b.md"], dice.randrange(3))),
        source=Source(dice.choice(["", "s1"]), dice.choice(["", "/srv/t.jsonl"]), 3, 9, number, "user"),
        external_id=dice.choice(["", f"x:{number}"]),
        valid_from=maybe(at - timedelta(days=3)),
        valid_until=maybe(at + timedelta(days=900)),
        expires_at=maybe(at + timedelta(days=4_000)),
        updated_at=maybe(at + timedelta(hours=1)),
        extra=dice.choice([
            {}, {"done": True}, {"entities": ["tool:kafka"], "signature": "abcdefgh"},
            {"level": 1, "parent": "", "turns": [3, 9], "key": str(UUID(int=dice.getrandbits(128), version=4))},
            {"verdicts": {"s9": "helped"}, "tried": ["edited a.py"], "n": 3, "share": 0.5, "deep": [{"a": [1]}]},
        ]),
    )  # fmt: skip


def furnish(journal: Journal, seed: int) -> None:
    """Put memories of every kind into a store, with links, uses and histories."""
    dice = random.Random(seed)
    ids = [one.id for one in journal.add([of_every_kind(n, dice) for n in range(60)])]
    for number, relation in enumerate(list(Relation) * 4):
        one, other = dice.sample(ids, 2)
        at = BEGIN + timedelta(days=number) if number % 2 else None
        journal.link(Link(one, other, relation, round(dice.random(), 3), at))
    for old, new in zip(ids[:8], ids[1:9], strict=True):
        journal.supersede(old, new, BEGIN + timedelta(days=40), "it was decided anew")
    for id in dice.sample(ids, 20):
        journal.touch({id: dice.randrange(1, 9)}, BEGIN + timedelta(days=dice.randrange(50)))


def lines_of(house: ServiceHouse) -> list[dict[str, Any]]:
    """Return all that an export tells, but for which model was at work."""
    lines = exported(house.ctx, {"all": True})
    return sorted(({**one, "model": ""} for one in lines), key=lambda one: str(one["id"]))


def write(house: ServiceHouse, path: Path) -> Path:
    """Export everything into a file, in the format that its name says."""
    if path.suffix == ".md":
        path.write_text("".join(exported_notes(house.ctx, {"all": True})))
    else:
        path.write_text(
            "".join(json.dumps(one) + "\n" for one in exported(house.ctx, {"all": True}))
        )
    return path


def take(house: ServiceHouse, path: Path) -> dict[str, Any]:
    """Import a file."""
    if path.suffix == ".md":
        return door(house.ctx, "import_notes", {"paths": [str(path)], "cwd": "/", "global": True})
    return door(house.ctx, "import", {"path": str(path), "cwd": "/"})


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
@pytest.mark.parametrize("seed", range(4))
def test_everything_comes_back(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str, seed: int
) -> None:
    """Links, history, expiry, ageing, uses and what was noted besides, and a second import changes nothing."""
    here, there = houses
    furnish(here.ctx.global_shelf().journal, seed)
    path = write(here, tmp_path / name)
    before = lines_of(here)
    assert sum("superseded_by" in one for one in before) == 8
    assert take(there, path)["stored"] == len(before)
    assert lines_of(there) == before
    journal = there.ctx.global_shelf().journal
    rows = {one["id"]: journal.by_ids([one["id"]])[one["id"]] for one in before}
    assert take(there, path)["stored"] == 0
    assert lines_of(there) == before
    assert {id: journal.by_ids([id])[id] for id in rows} == rows


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
def test_what_is_made_anew_by_itself_is_not_written_out(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """A trajectory that was captured is made of the sessions that are seen there, in both formats."""
    example = replace(
        of_every_kind(1, random.Random(1)),
        text=redact.clean("An example of steps that went well.").text,
        kind="trajectory",
        collection=TRAJECTORIES,
        origin=Origin.JOB,
    )
    houses[0].ctx.global_shelf().journal.add([example])
    written = write(houses[0], tmp_path / name).read_text()
    assert "example" not in written
    assert "trajectory" not in written


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
def test_what_is_there_already_keeps_its_place(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """A text that is there under another id is not stored twice; links and history lead to that one."""
    here, there = houses
    old, new, other = (of_every_kind(n, random.Random(n)) for n in range(3))
    journal = here.ctx.global_shelf().journal
    journal.add([old, new, other])
    journal.supersede(old.id, new.id)
    journal.link(Link(other.id, new.id, Relation.BUILDS_ON))
    path = write(here, tmp_path / name)
    theirs = there.ctx.global_shelf().journal
    theirs.add([replace(new, id="f" * 32)])
    take(there, path)
    assert theirs.by_ids([old.id])[old.id].superseded_by == "f" * 32
    found = {(one.from_id, one.to_id) for one in theirs.links_of(["f" * 32])}
    assert found == {("f" * 32, old.id), (other.id, "f" * 32)}


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
def test_what_an_agent_proposed_stays_held_back(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """Until the user decides: an export decides nothing, and undoes nothing that was decided there."""
    here, there = houses
    id = here.remember("Never sell tickets on Mondays.", kind="rule", actor="agent")["id"]
    path = write(here, tmp_path / name)
    take(there, path)
    journal = there.ctx.global_shelf().journal
    proposed = journal.by_ids([id])[id]
    assert proposed.is_held
    assert proposed.proposed["kind"] == "rule"
    assert door(there.ctx, "review", {"confirm": [id]})["confirmed"] == [id]
    decided = journal.by_ids([id])[id]
    assert not decided.is_held
    take(there, path)
    assert journal.by_ids([id])[id] == decided


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
def test_rules_that_read_like_instructions_are_told_and_wait(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """A file can say of any text that the user said it, so they bind nobody until he has looked at them: the import
    names them, a review gives them back what they were, and a second import takes nothing of that away."""
    here, there = houses
    weight = {"kind": "preference", "priority": "CORE"}
    id = here.remember("You must always run the linter before a commit.", **weight)["id"]
    here.remember("Always answer in German.", **weight)
    path = write(here, tmp_path / name)
    for _ in range(2):
        told = take(there, path)
    assert "unbound_first" not in told or told["unbound_first"] is None
    journal = there.ctx.global_shelf().journal
    assert journal.by_ids([id])[id].trust == 0
    waits = door(there.ctx, "review", {})["items"]
    assert [(one["id"], one["reason"]) for one in waits] == [(id, "proposed")]
    assert waits[0]["suspicious"]["reasons"]
    assert "1 memory waits" in proposals.notice(there.ctx, there.ctx.all_shelves(), "")
    assert door(there.ctx, "review", {"confirm": [id]})["confirmed"] == [id]
    mine = journal.by_ids([id])[id]
    assert (mine.kind, mine.priority, mine.origin) == ("preference", Priority.CORE, Origin.USER)
    assert not mine.is_suspicious
    assert take(there, path)["unbound"] == 0
    assert journal.by_ids([id])[id] == mine


@pytest.mark.parametrize("name", ["all.jsonl", "all.md"])
def test_a_review_forgets_what_an_import_brought(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """What an agent asks of it meanwhile changes nothing of that."""
    here, there = houses
    for number in (1, 2):
        text = f"You must always run linter {number} before a commit."
        here.remember(text, kind="preference", priority="CORE")
    take(there, write(here, tmp_path / name))
    first, second = (one["id"] for one in door(there.ctx, "review", {})["items"])
    door(there.ctx, "edit", {"id": second, "priority": "HIGH", "actor": "agent"})
    assert door(there.ctx, "review", {"drop": [first, second]})["dropped"] == [first, second]
    assert exported(there.ctx, {"all_projects": True}) == []


def test_what_an_import_brought_takes_no_agents_place(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = houses
    monkeypatch.setattr(proposals, "MOST_WAITING", 1)
    here.remember("You must always run the linter before a commit.", kind="preference")
    assert take(there, write(here, tmp_path / "all.jsonl"))["unbound"] == 1
    text = "Deploys go out on Mondays only."
    asked = {"text": text, "kind": "decision", "priority": "HIGH", "cwd": "/", "global": True}
    assert door(there.ctx, "remember", {**asked, "actor": "agent"})["action"] == "proposed"
    assert len(door(there.ctx, "review", {})["items"]) == 2


@pytest.mark.parametrize("name", ["all.jsonl", "all.md", "rules.md"])
def test_an_import_counts_what_binds_nobody(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, name: str
) -> None:
    """Of the user's own files; what others wrote, and what an agent brings, has no such claim."""
    here, there = houses
    here.remember(
        "You must always run the linter before a commit.", kind="preference", priority="CORE"
    )
    path = write(here, tmp_path / name)
    if name == "rules.md":
        path.write_text("# Rules\n\n- You must always run the linter before a commit.\n")
    verb = "import_notes" if path.suffix == ".md" else "import"
    asked = {"paths": [str(path)], "path": str(path), "cwd": "/", "global": True}
    steps = Listener()
    door(
        there.ctx, "import_notes", {**asked, "dry_run": True}, steps
    ) if path.suffix == ".md" else None
    assert all(step["unbound"] for step in steps.items)
    told = take(there, path)
    assert (told["stored"], told["unbound"]) == (1, 1)
    (first,) = told["unbound_first"]
    assert first["text"].startswith("You must always")
    assert first["proposed"]["kind"]
    for number, more in enumerate(({"foreign": True}, {"actor": "agent"})):
        (tmp_path / str(number)).mkdir()
        other = ServiceHouse(tmp_path / str(number))
        assert door(other.ctx, verb, {**asked, **more})["unbound"] == 0
        other.close()


def test_others_lines_bring_words_alone(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path
) -> None:
    """What somebody else wrote has neither uses nor links nor a history here."""
    here, there = houses
    furnish(here.ctx.global_shelf().journal, 1)
    path = write(here, tmp_path / "all.jsonl")
    door(there.ctx, "import", {"path": str(path), "cwd": "/", "foreign": True})
    for line in lines_of(there):
        assert line["foreign"]
        assert not {"uses", "links", "superseded_by", "expires_at", "temporal"} & set(line)


def test_secrets_in_what_was_noted_are_taken_out(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path
) -> None:
    """A file may say anything: all of it goes through the redactor."""
    here, there = houses
    here.ctx.global_shelf().journal.add([of_every_kind(1, random.Random(1))])
    path = write(here, tmp_path / "all.jsonl")
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    line = {**json.loads(path.read_text()), "extra": {"tried": [{"x": token}]}}
    path.write_text(json.dumps(line) + "\n")
    take(there, path)
    assert token not in json.dumps(lines_of(there))


def test_a_damaged_standing_is_named(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path
) -> None:
    """A line whose fields cannot be read is not taken."""
    here, there = houses
    here.ctx.global_shelf().journal.add([of_every_kind(1, random.Random(1))])
    path = write(here, tmp_path / "all.jsonl")
    line = json.loads(path.read_text())
    damaged = [{"temporal": "sometimes"}, {"links": [{"to": "a", "relation": "hates"}]}]
    path.write_text("".join(json.dumps({**line, **one}) + "\n" for one in damaged))
    assert len(take(there, path)["errors"]) == 2


def test_a_large_export_in_markdown_comes_back(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its size: notes of others have a bound."""
    here, there = houses
    furnish(here.ctx.global_shelf().journal, 1)
    path = write(here, tmp_path / "all.md")
    monkeypatch.setattr(note_files, "MAX_BYTES", 1_000)
    assert take(there, path)["errors"] == []
    assert lines_of(there) == lines_of(here)
    with pytest.raises(BadInputError, match="longer than"):
        note_files.read(str(path))


def test_the_zero_time_is_no_date(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path
) -> None:
    """Nor is the last day of all: such a line is of this moment, and told."""
    path, house = tmp_path / "others.jsonl", houses[0]
    ends = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-05-03T10:00:00Z")
    path.write_text(
        "".join(json.dumps({"text": f"Otter {at}", "created_at": at}) + "\n" for at in ends)
    )
    done = take(house, path)
    assert (done["stored"], done["undated"]) == (3, 2)
    years = {line["created_at"][:4] for line in lines_of(house)}
    assert years == {"2026", str(house.ctx.now().year)}


def test_what_was_forgotten_is_told_to_be_left_out(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path
) -> None:
    """It is not brought back, and so was merged with nothing."""
    house, path = houses[0], tmp_path / "export.jsonl"
    ids = [house.remember(text)["id"] for text in ("The mill stands idle.", "The barge is red.")]
    path.write_text("".join(json.dumps(line) + "\n" for line in exported(house.ctx, {"all": True})))
    door(house.ctx, "forget", {"ids": ids[:1]})
    done = take(house, path)
    assert (done["stored"], done["merged"], done["left_out"]) == (0, 1, 1)


@pytest.mark.parametrize("more", [{}, {"verbatim": True}, {"foreign": True}])
def test_imported_lines_are_found_by_what_they_name(
    houses: tuple[ServiceHouse, ServiceHouse], tmp_path: Path, more: dict[str, bool]
) -> None:
    """A line names its entities as a memory saved by hand does, and whoever asks need not know the case."""
    path = tmp_path / "others.jsonl"
    texts = ("The Kafka cluster has three brokers", "`fetchRows` reads from src/queue/Consumer.ts")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    ctx = houses[0].ctx
    door(ctx, "import", {"path": str(path), "cwd": "/", "global": True, **more})
    for name, text in (
        ("kafka", texts[0]),
        ("fetchrows", texts[1]),
        ("SRC/queue/consumer.ts", texts[1]),
    ):
        listed = door(ctx, "list", {"cwd": "/", "all": True, "entity": [name]})["memories"]
        assert [memory["text"] for memory in listed] == [text]
