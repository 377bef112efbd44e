"""How sensitive memories are: set, inherited, and what it keeps from whom."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, exported, hook_question
from talk import transcript
from work import Session

from vector_memory.cli import memory as memory_command
from vector_memory.cli import output, remember
from vector_memory.cli.answers import Row
from vector_memory.cli.privacy import show as show_rules
from vector_memory.errors import BadInputError
from vector_memory.journal import readonly
from vector_memory.model import PASSAGE, Scope
from vector_memory.service.base import privacy
from vector_memory.service.capture import session_summary, session_topics
from vector_memory.service.inject import prompt_recall, session_start

HERON = "The heron importer signs its invoices with the blue certificate."
QUESTION = "with which certificate does the heron importer sign its invoices?"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def hits(house: ServiceHouse, project: Path, **more: Any) -> list[str]:
    asked = {"query": QUESTION, "project": str(project), **more}
    return [one["text"] for one in door(house.ctx, "recall", asked)["hits"]]


def test_what_is_restricted_is_for_the_user_alone(house: ServiceHouse, project: Path) -> None:
    told = house.remember(HERON, project, kind="decision")
    question = hook_question(house.ctx, "s1", str(project), QUESTION)
    assert "blue certificate" in prompt_recall.on_prompt(house.ctx, question)
    door(house.ctx, "edit", {"id": told["id"], "sensitivity": "restricted"})
    house.follow()
    other = hook_question(house.ctx, "s2", str(project), QUESTION)
    assert prompt_recall.on_prompt(house.ctx, other) == ""
    assert hits(house, project, actor="mcp") == []
    assert hits(house, project) == [HERON]
    place = house.ctx.place(str(project))
    house.remember("A heron stands at the pond.", project)
    cold = readonly.search(
        house.ctx.home.global_store, ["heron"], [place.id], 5, time.monotonic() + 60
    )
    assert [one["text"] for one in cold] == ["A heron stands at the pond."]


def test_no_agent_lists_or_exports_what_is_restricted(house: ServiceHouse, project: Path) -> None:
    house.remember(HERON, project, sensitivity="restricted")
    house.remember("The ledger is written in Rust.", project)
    for actor, count in (("user", 2), ("agent", 1), ("mcp", 1)):
        asked = {"project": str(project), "actor": actor}
        assert len(door(house.ctx, "list", asked)["memories"]) == count
        assert len(exported(house.ctx, asked)) == count


def test_a_ceiling_names_nothing_to_forget(house: ServiceHouse, project: Path) -> None:
    """Whoever asks has to say what: also an agent, who is never told of what is restricted."""
    house.remember(HERON, project)
    for more in ({}, {"actor": "agent"}, {"ceiling": "internal"}, {"jurisdictions": ["EU"]}):
        with pytest.raises(BadInputError, match="Forget what"):
            door(house.ctx, "forget", {"project": str(project), **more})


def test_the_strictest_level_is_inherited(house: ServiceHouse, project: Path) -> None:
    old = house.remember(HERON, project, sensitivity="confidential", jurisdiction="EU")
    merged = house.remember(HERON, project, sensitivity="public")
    assert merged["id"] == old["id"]
    newer = house.remember(
        "The heron importer signs with the red one.", project, supersedes=old["id"]
    )
    memory = door(house.ctx, "get", {"id": newer["id"]})["memory"]
    assert (memory["sensitivity"], memory["jurisdiction"]) == ("confidential", "EU")


def test_claude_md_sets_it(house: ServiceHouse, project: Path) -> None:
    (project / "CLAUDE.md").write_text("## Sensitivity\n- confidential: heron\n")
    asked = {"text": HERON, "project": str(project)}
    with privacy.for_request(house.ctx, asked):
        told = door(house.ctx, "remember", asked)
    assert door(house.ctx, "get", {"id": told["id"]})["memory"]["sensitivity"] == "confidential"


def test_people_are_told_how_sensitive_a_memory_is(
    house: ServiceHouse, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When it is stored, in a list, of one memory, and which rules say so; of one that is as usual nothing."""
    show_rules(Row(door(house.ctx, "privacy", {"project": str(project)})), None)
    assert "No rules of privacy" in capsys.readouterr().out
    (project / "CLAUDE.md").write_text("## Sensitivity\n- restricted: heron importer\n- EU: blue\n")
    asked = {"text": HERON, "project": str(project)}
    with privacy.for_request(house.ctx, asked):
        remember.show(Row(door(house.ctx, "remember", asked)))
    assert "It is restricted and under the law of EU." in capsys.readouterr().err
    (one,) = door(house.ctx, "list", {"project": str(project)})["memories"]
    assert output.warning(Row(one)) == "[restricted; EU] "
    memory_command.show(Row({"memory": one}))
    shown = capsys.readouterr().out.splitlines()
    assert {"sensitivity  restricted", "jurisdiction EU"} <= set(shown)
    show_rules(Row(door(house.ctx, "privacy", {"project": str(project)})), None)
    shown = capsys.readouterr().out.splitlines()
    assert f"restricted: heron importer ({project / 'CLAUDE.md'})" in shown
    assert "No rules of privacy" not in "".join(shown)
    usual = house.remember("The printer is on the second floor.", project)
    remember.show(Row(usual))
    assert "It is" not in capsys.readouterr().err


@pytest.mark.parametrize("by", ["edit", "sovereignty"])
def test_what_was_made_of_a_memory_becomes_as_strict(
    house: ServiceHouse, project: Path, by: str
) -> None:
    """The topics and the summary over its turn, and the ideas drawn from it; the other turns' stay."""
    more = "The queue keeps its jobs in a spool folder, one file for each job. " * 10
    answer = (
        f"We decided that the heron importer signs its invoices with the blue certificate. {more}"
    )
    path = transcript(project, [("With which certificate does the heron importer sign?", answer)])
    captured = captured_of(house.ctx, str(path), final=True)
    session_topics.derive(house.ctx, captured.sessions)
    for one in session_topics.read(house.ctx, "s1"):
        session_summary.summarise(one)
    journal = house.ctx.global_shelf().journal
    made = list(journal.iter_memories(Scope(sessions=("s1",))))
    assert {PASSAGE, "topic", "summary", "decision"} <= {one.kind for one in made}
    said = next(one for one in made if one.kind == PASSAGE)
    asked = {"id": said.id} if by == "edit" else {"ids": [said.id]}
    door(house.ctx, by, {**asked, "sensitivity": "restricted"})
    seen = journal.iter_memories(Scope(sessions=("s1",)).up_to("confidential"))
    assert [one.text for one in seen if "blue certificate" in one.text] == []
    assert house.ctx.global_shelf().journal.count(Scope(levels=("restricted",))) >= 4


BLAUWAL = "We decided to acquire the company Blauwal for nine million, since their patents cover our sonar."
WORD = "Blauwal"
TALK = [
    (BLAUWAL, "The root cause of the delay was the old sonar driver. I adapted the roadmap."),
    ("Always run the sonar tests with the cache off.", "We decided to run them at night."),
]


def told_of_acquisition(house: ServiceHouse, project: Path) -> str:
    """Return all that is given of it to whoever is not the user, by every way."""
    asked = {"project": str(project), "all_projects": True, "actor": "mcp"}
    ways = [
        door(house.ctx, "recall", {**asked, "query": "which company do we acquire?", "all": True}),
        door(house.ctx, "list", {**asked, "k": 60}),
        door(house.ctx, "topics", asked),
        door(house.ctx, "summarize", {**asked, "session": "s1"}),
        exported(house.ctx, {"all_projects": True, "ceiling": "internal"}),
    ]
    question = hook_question(house.ctx, "s2", str(project), "Which company do we acquire?")
    return f"{ways} {prompt_recall.on_prompt(house.ctx, question)}"


@pytest.mark.parametrize("by", ["edit", "sovereignty"])
def test_the_words_of_what_becomes_restricted_come_by_no_other_way(
    house: ServiceHouse, project: Path, by: str
) -> None:
    """The passage that a decision was taken from, with its title, which the ideas beside it have too, and what holds it in
    another project; another exchange of the session stays as it was."""
    captured = captured_of(house.ctx, str(transcript(project, TALK)), final=True)
    session_topics.derive(house.ctx, captured.sessions)
    for one in session_topics.read(house.ctx, "s1"):
        session_summary.summarise(one)
    elsewhere = project.parent / "other"
    elsewhere.mkdir()
    house.remember(f"From the ledger: {BLAUWAL}", elsewhere)
    journal = house.ctx.global_shelf().journal
    decided = next(m for m in journal.iter_memories(Scope(kinds=("decision",))) if WORD in m.text)
    house.follow()
    assert told_of_acquisition(house, project).count(WORD) > 5
    wanted = {"id": decided.id} if by == "edit" else {"ids": [decided.id]}
    answer = door(house.ctx, by, {**wanted, "sensitivity": "restricted"})
    house.follow()
    assert WORD not in told_of_acquisition(house, project)
    restricted = {one.id for one in journal.iter_memories(Scope(levels=("restricted",)))}
    if by == "edit":
        assert {one["id"] for one in answer["raised"]} == restricted - {decided.id}
    else:
        assert answer["changed"] == len(restricted)
        assert {one["id"] for one in answer["raised"]} == restricted - {decided.id}
    open_ones = journal.iter_memories(Scope().up_to("internal"))
    assert {one.source.turn for one in open_ones if one.kind == PASSAGE} == {2}


def test_what_became_restricted_with_another_is_loosened_by_hand(
    house: ServiceHouse, project: Path
) -> None:
    """Nothing of it becomes restricted again because another part is loosened, or changed otherwise."""
    captured_of(house.ctx, str(transcript(project, TALK)), final=True)
    journal = house.ctx.global_shelf().journal
    decided = next(m for m in journal.iter_memories(Scope(kinds=("decision",))) if WORD in m.text)
    raised = door(house.ctx, "edit", {"id": decided.id, "sensitivity": "restricted"})["raised"]
    assert PASSAGE in {one["kind"] for one in raised}
    for id in (*(one["id"] for one in raised), decided.id):
        answer = door(house.ctx, "edit", {"id": id, "sensitivity": "internal"})
        assert "raised" not in answer
        door(house.ctx, "edit", {"id": id, "tags": ["seen"]})
    assert journal.count(Scope(levels=("restricted",))) == 0


def test_what_is_remembered_as_restricted_is_told_by_nothing_else(
    house: ServiceHouse, project: Path
) -> None:
    old = house.remember(HERON, project)
    other = house.remember(f"From the minutes: {HERON}", project, wait=False)
    newer = "The heron importer signs with a certificate."
    told = house.remember(newer, project, supersedes=old["id"], sensitivity="restricted")
    assert [one["id"] for one in told["raised"]] == [old["id"]]
    again = house.remember(HERON, project, sensitivity="confidential", wait=False)
    assert [one["id"] for one in again["raised"]] == [other["id"]]


@pytest.mark.parametrize("by", ["remember", "sovereignty"])
def test_an_agent_hides_no_others_by_a_few_of_their_words(
    house: ServiceHouse, project: Path, by: str
) -> None:
    """Only what was made of its own memory becomes restricted with it, and it is not told of what."""
    elsewhere = project.parent / "other"
    elsewhere.mkdir()
    rule = "Run the tests of the ledger before each push, in the container."
    house.remember(rule, elsewhere, kind="preference", priority="CORE", wait=False)
    told = {"sensitivity": "restricted"} if by == "remember" else {}
    id = house.remember("before each push", project, actor="mcp", **told)["id"]
    if by == "sovereignty":
        asked = {"ids": [id], "sensitivity": "restricted", "actor": "mcp"}
        answer = door(house.ctx, "sovereignty", asked)
        assert answer["changed"] == 1 and "raised" not in answer
    (only,) = house.ctx.global_shelf().journal.iter_memories(Scope(levels=("restricted",)))
    assert only.id == id
    start = session_start.start_notes(
        house.ctx, hook_question(house.ctx, "s9", str(elsewhere)), set()
    )
    assert any(rule in note.text for note in start)


def test_of_anothers_exchange_only_what_holds_the_whole_text_becomes_restricted(
    house: ServiceHouse, project: Path
) -> None:
    talk = [
        ("How do we check a release?", f"We decided to sign each release with a tag. {HERON}"),
        ("Which cache is off?", "The root cause of the delay was the old cache."),
    ]
    captured_of(house.ctx, str(transcript(project, talk)), final=True)
    journal = house.ctx.global_shelf().journal
    before = {one.id for one in journal.iter_memories(Scope()) if "blue certificate" in one.text}
    house.remember(HERON, project, sensitivity="restricted", verbatim=True)
    left = list(journal.iter_memories(Scope().up_to("internal")))
    assert not [one for one in left if "blue certificate" in one.text]
    restricted = {one.id for one in journal.iter_memories(Scope(levels=("restricted",)))}
    assert before and before < restricted
    assert any(one.kind == "decision" and one.source.turn == 1 for one in left)


def test_no_agent_is_told_the_names_and_titles_of_what_is_restricted(
    house: ServiceHouse, project: Path
) -> None:
    """Where only such memories name something, or ask for it, an agent's lists of names and topics have it not."""
    house.remember("It moved to `src/heron.py`.", project, sensitivity="restricted")
    path = transcript(project, [("Where does the heron importer sign?", "In the vault.")])
    captured_of(house.ctx, str(path), final=True)
    journal = house.ctx.global_shelf().journal
    for memory in list(journal.iter_memories(Scope(sessions=("s1",)))):
        door(house.ctx, "edit", {"id": memory.id, "sensitivity": "restricted"})
    for actor, is_told in (("user", True), ("agent", False), ("mcp", False)):
        asked = {"all_projects": True, "actor": actor}
        names = str(door(house.ctx, "entities", asked)["entities"])
        assert ("heron" in names.lower()) is is_told
        assert ("heron" in str(door(house.ctx, "topics", asked)).lower()) is is_told


def test_an_export_has_a_ceiling(house: ServiceHouse, project: Path) -> None:
    house.remember(HERON, project, sensitivity="confidential")
    house.remember("The ledger is written in Rust.", project)
    asked = {"project": str(project)}
    assert len(exported(house.ctx, asked)) == 2
    below = exported(house.ctx, {**asked, "ceiling": "internal"})
    assert [one["text"] for one in below] == ["The ledger is written in Rust."]


def test_an_agent_only_makes_it_stricter(house: ServiceHouse, project: Path) -> None:
    id = house.remember(HERON, project)["id"]

    def tag(level: str, law: str = "", **more: Any) -> dict[str, Any]:
        asked = {"ids": [id], "sensitivity": level, "jurisdiction": law, **more}
        return door(house.ctx, "sovereignty", asked)

    kept = tag("confidential", "EU", actor="mcp")["kept"]
    expected = {
        "project": "ledger",
        "jurisdiction": "EU",
        "sensitivity": "confidential",
        "memories": 1,
    }
    assert kept == [expected]
    for level, law in (("internal", ""), ("confidential", "US")):
        with pytest.raises(BadInputError, match="Only the user"):
            tag(level, law, actor="mcp")
    assert tag("internal", "US")["changed"] == 1
    for wrong in ({"level": "secret"}, {"level": "internal", "law": "XX"}):
        with pytest.raises(BadInputError, match="cannot be"):
            tag(**wrong)


def test_a_question_may_have_a_ceiling_and_a_law(house: ServiceHouse, project: Path) -> None:
    """The stricter of what is asked for and what a contract allows counts."""
    house.remember(HERON, project, sensitivity="confidential")
    plain = "The heron importer signs invoices at night."
    house.remember(plain, project, jurisdiction="EU")
    assert set(hits(house, project)) == {HERON, plain}
    assert hits(house, project, ceiling="internal") == [plain]
    assert hits(house, project, jurisdictions=["EU"]) == [plain]
    assert hits(house, project, jurisdictions=["US"]) == []
    made = {"action": "create", "name": "low", "ceiling": "internal"}
    door(house.ctx, "contract", {**made, "folders": [str(project)]})
    for ceiling in ("confidential", "internal", None):
        assert hits(house, project, actor="mcp", ceiling=ceiling) == [plain]
    for wrong in ({"ceiling": "secret"}, {"jurisdictions": ["Mars"]}):
        with pytest.raises(BadInputError, match="cannot be"):
            hits(house, project, **wrong)


def test_lists_are_sorted_and_limited(house: ServiceHouse, project: Path) -> None:
    """By time, by what matters, and by use."""
    for name, priority in (("chimney", "LOW"), ("marsh", "CORE"), ("quarry", "NORMAL")):
        house.remember(f"The {name} is where herons nest.", project, priority=priority)
        house.pass_time(days=1)

    def listed(**more: Any) -> list[str]:
        told = door(house.ctx, "list", {"project": str(project), **more})
        return [one["text"].split()[1] for one in told["memories"]]

    assert listed() == ["quarry", "marsh", "chimney"]
    assert listed(sort="oldest") == ["chimney", "marsh", "quarry"]
    assert listed(sort="priority") == ["marsh", "quarry", "chimney"]
    assert listed(sort="priority", k=1, offset=1) == ["quarry"]
    assert listed(priorities=["core", "LOW"]) == ["marsh", "chimney"]
    hits(house, project, query="chimney", k=1)
    house.ctx.uses.write()
    assert listed(sort="uses")[0] == "chimney"
    for wrong in ({"sort": "colour"}, {"priorities": ["URGENT"]}):
        with pytest.raises(BadInputError):
            listed(**wrong)


def test_tiers_by_hand(house: ServiceHouse, project: Path) -> None:
    """What an agent puts away is no rule of the user's; what is there already is told."""
    id = house.remember("Herons nest in April.", project)["id"]
    asked = {"id": id, "actor": "mcp"}
    assert door(house.ctx, "promote", {**asked, "to": "cold"})["memory"]["tier"] == "cold"
    with pytest.raises(BadInputError, match="is cold already"):
        door(house.ctx, "promote", {**asked, "to": "cold"})
    assert door(house.ctx, "promote", {**asked, "to": "warm"})["memory"]["tier"] == "warm"
    rule = house.remember("Never feed the herons.", project, kind="rule")["id"]
    with pytest.raises(BadInputError, match="user's own words"):
        door(house.ctx, "promote", {"id": rule, "to": "cold", "actor": "mcp"})
    assert door(house.ctx, "promote", {"id": rule, "to": "cold"})["memory"]["tier"] == "cold"


def repaired(house: ServiceHouse, project: Path, prompt: str, name: str = "s1") -> Session:
    """Return a session that was asked something, and mended an error that does not name it."""
    session = Session(project, name, project).ask(prompt)
    session.run("python imp.py --customer Olga", "ValueError: Olga is unknown", failed=True)
    session.edit().run("python imp.py --customer Olga").say("I added the row of Olga.")
    captured_of(house.ctx, str(session.path), str(project), final=True)
    return session


def levels_of(house: ServiceHouse) -> dict[str, list[tuple[str, str]]]:
    """Return the levels and laws of fixes, and of all else."""
    found: dict[str, list[tuple[str, str]]] = {"fix": [], "else": []}
    for one in house.ctx.global_shelf().journal.iter_memories(Scope()):
        found["fix" if "fix" in one.tags else "else"].append((one.sensitivity, one.jurisdiction))
    return found


@pytest.mark.parametrize("without", [(), ("exchange", "solution")])
def test_a_fix_is_as_sensitive_as_its_exchange(
    house: ServiceHouse, project: Path, without: tuple[str, ...]
) -> None:
    """Also where nothing else of that is kept; that of another exchange is not."""
    house.ctx.settings = replace(house.ctx.settings, capture_without=without)
    (project / "CLAUDE.md").write_text("## Sensitivity\n- restricted: Heron\n- EU: Heron\n")
    repaired(house, project, "Mend the import: Project Heron goes to Olga")
    assert set(levels_of(house)["fix"]) == {("restricted", "EU")}
    assert bool(levels_of(house)["else"]) != bool(without)
    repaired(house, project, "Mend the import of the ledger", "s2")
    assert set(levels_of(house)["fix"]) == {("restricted", "EU"), ("internal", "")}


def test_a_fix_follows_a_passage_that_is_made_stricter(house: ServiceHouse, project: Path) -> None:
    """And one that is read later of the same exchange is as strict from the beginning."""
    session = repaired(house, project, "Mend the import of the ledger")
    (passage,) = house.ctx.global_shelf().journal.iter_memories(Scope(kinds=(PASSAGE,)))
    door(house.ctx, "edit", {"id": passage.id, "sensitivity": "restricted"})
    assert set(levels_of(house)["fix"]) == {("restricted", "")}
    session.run("python exp.py", "KeyError: ledger", failed=True).edit("exp.py")
    session.run("python exp.py").say("The key was missing.")
    captured_of(house.ctx, str(session.path), str(project), final=True)
    assert levels_of(house)["fix"] == [("restricted", "")] * 2


def test_an_exchange_that_grows_is_as_sensitive_as_all_of_it(
    house: ServiceHouse, project: Path
) -> None:
    (project / "CLAUDE.md").write_text("## Sensitivity\n- restricted: Heron\n")
    session = Session(project, "s1", project).ask("Mend the import of the ledger").say("I did.")
    captured_of(house.ctx, str(session.path), str(project))
    assert {level for level, _ in levels_of(house)["else"]} == {"internal"}
    session.say("It is for Project Heron.")
    captured_of(house.ctx, str(session.path), str(project), final=True)
    (passage,) = house.ctx.global_shelf().journal.iter_memories(Scope(kinds=(PASSAGE,)))
    assert ("Heron" in passage.text, passage.sensitivity) == (True, "restricted")
