"""Whose words an imported note is, and whether it is done or not in force, is said alike by every way out: a prompt, a
hook without a daemon, the command line, MCP, JSON, and Markdown."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, exported_notes, hook_question

from vector_memory.cli import memory as memory_command
from vector_memory.cli import output
from vector_memory.cli.answers import Row, for_models
from vector_memory.client import cold, offline
from vector_memory.mcp.model_answers import ModelAnswers
from vector_memory.mcp.shown_memories import Shown
from vector_memory.service.inject import prompt_recall

LINK = "https://ci.example/frankfurt"
TODO = f"set up the nightly CI on the Frankfurt runner, see {LINK}"
RECORD = "---\nstatus: {}\ndate: 2026-04-02\n---\n# Events\n\n## Decision\n\nWe use Kafka for all events between the services.\n"
NEXT = RECORD.replace("Kafka", "Pulsar")
STANDING = ("text", "kind", "priority", "state", "foreign", "title")
ABOUT_CI = "Do we have to set up the nightly CI on the Frankfurt runner?"
ABOUT_EVENTS = "Do we use Kafka for events between the services?"
SESSIONS = itertools.count()
"""A session is told nothing twice."""


def brought(house: ServiceHouse, app: Path, name: str, text: str, **more: Any) -> None:
    """Import a file of a project."""
    file = app / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    door(house.ctx, "import_notes", {"paths": [str(file)], "project": str(app), **more})
    house.follow()


def asked(house: ServiceHouse, app: Path, prompt: str) -> dict[str, Any]:
    """Return the best hit as programs see it."""
    hits: list[dict[str, Any]] = door(house.ctx, "recall", {"query": prompt, "project": str(app)})[
        "hits"
    ]
    return hits[0]


def own(house: ServiceHouse, app: Path, *kinds: str) -> list[dict[str, Any]]:
    """Return what is the user's of some kinds."""
    listed = door(house.ctx, "list", {"project": str(app)})["memories"]
    return [one for one in listed if one["kind"] in kinds and not one.get("foreign")]


def rules(house: ServiceHouse, app: Path) -> set[str]:
    """Return the texts of the user's rules."""
    return {one["text"] for one in own(house, app, "preference", "decision")}


def told(house: ServiceHouse, app: Path, prompt: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:  # fmt: skip
    """Return what is said of the memory that answers a prompt, by the way out."""
    session = f"s{next(SESSIONS)}"
    (note,) = cold.notes(house.ctx.home, prompt, str(app), session, time.monotonic() + 5)
    question = hook_question(house.ctx, session, str(app), prompt)
    view = asked(house, app, prompt)
    without = offline.recall(house.ctx.home, {"query": prompt, "k": 5, "project": str(app)}, "")
    (offline_hit,) = Row(without).rows("hits")
    memory_command.show(Row({"memory": view}))
    # The folders of tests are called as they are.
    shown = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("source")]
    return {
        "hook": prompt_recall.on_prompt(house.ctx, question),
        "hook without a daemon": note.head,
        "list": output.MEMORY["text"](Row(view)),  # type: ignore[dict-item]
        "list for a model": output.MEMORY["text"](for_models(Row(view))),  # type: ignore[dict-item]
        "offline": output.warning(offline_hit),
        "show": "".join(shown),
        "mcp": str(ModelAnswers(Shown()).memory(view)),
        "markdown": "".join(
            line.partition("<!--")[0]
            for part in exported_notes(house.ctx, {"project": str(app)})
            for line in part.splitlines()
        ),
    }


def test_what_is_done_is_told_as_done(
    house: ServiceHouse, app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what is open as open."""
    brought(house, app, "T.md", f"# Todo\n\n- [ ] {TODO}\n")
    assert "state" not in asked(house, app, ABOUT_CI)
    assert not [way for way, said in told(house, app, ABOUT_CI, capsys).items() if "done" in said]
    brought(house, app, "T.md", f"# Todo\n\n- [x] {TODO}\n")
    assert asked(house, app, ABOUT_CI)["state"] == "done"
    assert not [
        way for way, said in told(house, app, ABOUT_CI, capsys).items() if "done" not in said
    ]


def test_a_rejected_decision_is_told_as_rejected(
    house: ServiceHouse, app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until its record says otherwise: then it is a decision, and the other way round."""
    brought(house, app, "adr/0002-events.md", RECORD.format("rejected"))
    said = told(house, app, ABOUT_EVENTS, capsys)
    assert not [way for way, words in said.items() if "rejected" not in words]
    assert asked(house, app, ABOUT_EVENTS)["kind"] == "context"
    brought(house, app, "adr/0002-events.md", RECORD.format("accepted"))
    now = asked(house, app, ABOUT_EVENTS)
    assert (now["kind"], now["priority"], now.get("state")) == ("decision", "HIGH", None)
    said = told(house, app, ABOUT_EVENTS, capsys)
    assert not [way for way, words in said.items() if "rejected" in words]
    brought(house, app, "adr/0002-events.md", RECORD.format("deprecated"))
    now = asked(house, app, ABOUT_EVENTS)
    assert (now["kind"], now["priority"], now["state"]) == ("context", "NORMAL", "deprecated")


OTHERS = pytest.mark.parametrize(
    "others", [{"actor": "mcp"}, {"foreign": True}, {"actor": "mcp", "foreign": True}]
)
"""How what nobody vouched for is imported."""


@OTHERS
@pytest.mark.parametrize(("was", "becomes"), [("accepted", "rejected"), ("rejected", "accepted")])
def test_an_import_by_others_decides_nothing_for_the_user(
    house: ServiceHouse, app: Path, others: dict[str, Any], was: str, becomes: str
) -> None:
    """A record holds, or not, as in the file that the user imported, until the user imports it again."""
    brought(house, app, "adr/0002-events.md", RECORD.format(was))
    before = asked(house, app, ABOUT_EVENTS)
    brought(house, app, "adr/0002-events.md", RECORD.format(becomes), **others)
    now = door(house.ctx, "get", {"id": before["id"]})["memory"]
    assert [now.get(name) for name in STANDING] == [before.get(name) for name in STANDING]
    brought(house, app, "adr/0002-events.md", RECORD.format(becomes))
    now = door(house.ctx, "get", {"id": before["id"]})["memory"]
    assert now.get("state") != before.get("state") and now["kind"] != before["kind"]


@OTHERS
def test_what_others_import_takes_the_place_of_no_rule_of_the_users(
    house: ServiceHouse, app: Path, others: dict[str, Any]
) -> None:
    """Neither other words nor a successor; it waits, and takes the place when the user agrees, or imports the file. A box
    that was ticked is no rule."""
    rule = "# Rules\n\n- Never commit the keys of the mill to its repository{}.\n\n# Todo\n\n- [{}] write the runbook\n"
    brought(house, app, "R.md", rule.format("", " "))
    brought(house, app, "adr/0002-events.md", RECORD.format("accepted"))
    weighty = rules(house, app)
    brought(house, app, "R.md", rule.format(" on Fridays", "x"), **others)
    brought(house, app, "adr/0003-events.md", NEXT.format("accepted"), **others)
    record = RECORD.format("superseded by 0003")
    both = {"paths": [str(app / "adr")], "project": str(app)}
    (app / "adr/0002-events.md").write_text(record)
    door(house.ctx, "import_notes", {**both, **others})
    assert weighty <= rules(house, app)
    assert [one["state"] for one in own(house, app, "todo")] == ["done"]
    brought(house, app, "R.md", rule.format(" on Fridays", "x"))
    door(house.ctx, "import_notes", both)
    assert not weighty & rules(house, app)


def test_other_words_of_a_rule_wait_for_the_user(house: ServiceHouse, app: Path) -> None:
    """And the rule gives way to them when the user agrees."""
    rule = "# Rules\n\n- {} commit the keys of the mill to its repository.\n"
    brought(house, app, "R.md", rule.format("Never"))
    brought(house, app, "R.md", rule.format("Now and then"), foreign=True)
    (waiting,) = door(house.ctx, "review", {"project": str(app)})["items"]
    assert waiting["text"].startswith("Now and then")
    assert rules(house, app) == {"Never commit the keys of the mill to its repository."}
    door(house.ctx, "review", {"confirm": [waiting["id"]]})
    assert [one["text"] for one in own(house, app, "context")] == [waiting["text"]]
    assert not rules(house, app)


@pytest.mark.parametrize("is_foreign", [False, True])
def test_all_agree_whose_words_an_import_is(
    house: ServiceHouse, app: Path, capsys: pytest.CaptureFixture[str], is_foreign: bool
) -> None:
    """The user's own notes are no foreign words, and what nobody vouched for has no live links."""
    brought(house, app, "T.md", f"# Todo\n\n- [ ] {TODO}\n", foreign=is_foreign)
    said = told(house, app, ABOUT_CI, capsys)
    whose = "import" if is_foreign else "user's notes"
    assert f" · {whose} · " in said["hook"] and f" · {whose} · " in said["hook without a daemon"]
    for way in ("hook", "list for a model", "mcp"):
        assert (LINK in said[way]) is not is_foreign, way
    for way in ("list for a model", "mcp"):
        assert ("foreign" in said[way]) is is_foreign, way
    (note,) = cold.notes(house.ctx.home, ABOUT_CI, str(app), "new", time.monotonic() + 5)
    assert note.foreign is is_foreign


def test_what_an_agent_calls_imported_is_foreign(house: ServiceHouse, app: Path) -> None:
    """Else it could pass its words off as the user's notes."""
    house.remember(TODO, app, origin="import", actor="mcp")
    assert asked(house, app, ABOUT_CI)["foreign"] is True
    house.remember("The printer is on the second floor.", app, origin="import")
    assert "foreign" not in asked(house, app, "On which floor is the printer?")
