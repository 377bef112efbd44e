"""The recall pipeline on real stores: conversations, times, speakers, successors, links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, hook_question

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import Link, Relation
from vector_memory.service.inject import prompt_recall
from vector_memory.store.index import Index


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def hits(house: ServiceHouse, query: str, **more: Any) -> list[dict[str, Any]]:
    """Return the hits of a question over all projects."""
    answer = door(house.ctx, "recall", {"query": query, "all_projects": True, **more})
    return list(answer["hits"])


def load(house: ServiceHouse, folder: Path, lines: list[dict[str, Any]]) -> None:
    """Import lines into a project, verbatim."""
    path = folder.parent / "lines.jsonl"
    path.write_text("".join(json.dumps({**line, "project": str(folder)}) + "\n" for line in lines))
    request = {"path": str(path), "verbatim": True}
    door(house.ctx, "import", request)
    house.follow()


def talk(
    *turns: tuple[str, str], session: str = "s", at: str = "2026-04-01"
) -> list[dict[str, Any]]:
    """Return a conversation's turns as import takes them."""
    return [
        {"id": f"{session}/{n}", "text": text, "speaker": who, "session": session, "seq": n,
         "created_at": f"{at}T10:00:00Z"}
        for n, (who, text) in enumerate(turns)
    ]  # fmt: skip


def found(house: ServiceHouse, query: str, **more: Any) -> list[str]:
    """Return the external ids that a question brings."""
    return [hit["external_id"] for hit in hits(house, query, **more)]


def test_an_answer_is_found_behind_its_question(house: ServiceHouse, ledger: Path) -> None:
    """The turn after a matching question comes second, though it shares no word with it."""
    load(
        house,
        ledger,
        talk(
            ("Ana", "Good morning."),
            ("Ana", "Which message broker did we pick?"),
            ("Ben", "The one with streams, NATS."),
            ("Ana", "Fine, lunch?"),
            ("Ben", "Pizza."),
            ("Ana", "Sure."),
        ),
    )
    assert set(found(house, "which message broker", k=2)) == {"s/1", "s/2"}


def test_the_named_speaker_said_it(house: ServiceHouse, ledger: Path) -> None:
    """The same words by two people: the one who is named comes first, in any spelling of case."""
    words = "I moved the cluster to another region."
    load(house, ledger, talk(("Ana", words), ("Zoe", "Hm."), ("Zoe", "So."), ("Ben", words)))
    assert found(house, "where did Ben move the cluster?")[0] == "s/3"
    assert found(house, "where did ana move the cluster?")[0] == "s/0"


def test_last_week_is_last_week(house: ServiceHouse, ledger: Path) -> None:
    """Of two equal memories the one of the time asked about comes first; one of that time comes even
    without a word in common."""
    text = "The importer crashed on empty lines."
    load(house, ledger, talk(("Ana", text), session="old", at="2026-02-03"))
    load(house, ledger, talk(("Ana", text), session="new", at="2026-04-22"))
    load(
        house, ledger, talk(("Ben", "Certificates were renewed."), session="more", at="2026-04-23")
    )
    asked = found(house, "why did the importer crash last week?")
    assert asked[0] == "new/0"
    assert "more/0" in asked
    assert found(house, "why did the importer crash in February?")[0] == "old/0"


def weeks_of_work(house: ServiceHouse, ledger: Path) -> None:
    """Store a decision of March and one of last week (time stands on 3 May), which nobody said."""
    load(
        house,
        ledger,
        [
            {"id": "march", "text": "Decision: Redis is the cache.", "created_at": "2026-03-03"},
            {"id": "week", "text": "Decision: Postgres holds it.", "created_at": "2026-04-22"},
        ],
    )


def test_a_period_of_the_question_limits_what_is_found(house: ServiceHouse, ledger: Path) -> None:
    """What is of another time is left out, and the answer names the period."""
    weeks_of_work(house, ledger)
    asked = {"query": "what did we decide last week, Redis?", "all_projects": True}
    answer = door(house.ctx, "recall", asked)
    assert [hit["external_id"] for hit in answer["hits"]] == ["week"]
    period = {"from": "2026-04-20T00:00:00+00:00", "to": "2026-04-27T00:00:00+00:00"}
    assert (answer["period"], answer["widened"]) == (period, False)
    assert "note" not in answer
    assert "period" not in door(house.ctx, "recall", {**asked, "query": "what did we decide?"})


def test_a_period_without_memories_is_widened_and_said(house: ServiceHouse, ledger: Path) -> None:
    """Where nothing is of it, other times come, and both the answer and a prompt's notes say so."""
    weeks_of_work(house, ledger)
    question = "what did we decide about the Redis cache in 2024?"
    answer = door(house.ctx, "recall", {"query": question, "all_projects": True})
    assert [hit["external_id"] for hit in answer["hits"]][0] == "march"
    assert answer["widened"]
    assert answer["note"].startswith("Nothing fits in 2024-01-01")
    asked = hook_question(house.ctx, "s1", str(ledger), question)
    assert answer["note"] in prompt_recall.on_prompt(house.ctx, asked)


def test_dates_in_words_limit_a_search(house: ServiceHouse, ledger: Path) -> None:
    """Wherever a date is taken words will do; what is none is refused with examples."""
    weeks_of_work(house, ledger)
    assert found(house, "Decision", until="in 3 days") == found(house, "Decision")
    assert found(house, "Decision", since="tomorrow") == []
    with pytest.raises(BadInputError) as caught:
        found(house, "Decision", since="whenever")
    assert "next monday" in str(caught.value.hint)


def test_a_time_that_holds_nothing_is_an_error(house: ServiceHouse, ledger: Path) -> None:
    """A day asked for as both ends: it would find nothing, and not say why."""
    house.remember("The heron sleeps.", ledger)
    asked = {"project": str(ledger), "since": "2026-05-03"}
    with pytest.raises(BadInputError, match="no part of it"):
        door(house.ctx, "list", {**asked, "until": "2026-05-03"})
    assert door(house.ctx, "list", {**asked, "until": "2026-05-04"})["total"] == 1


@pytest.mark.parametrize("tag", ["Größe", "größe", "GRÖSSE"])
def test_a_tag_is_found_in_any_case(house: ServiceHouse, ledger: Path, tag: str) -> None:
    """By what looks for memories, and by what removes them."""
    id = house.remember("The heron is tall.", ledger, tags=["Größe", "bird"])["id"]
    house.remember("The tern is small.", ledger, tags=["größer"])
    asked = {"project": str(ledger), "tag": [tag]}
    told = [
        door(house.ctx, "list", asked)["memories"],
        door(house.ctx, "recall", {**asked, "query": "tall heron"})["hits"],
        door(house.ctx, "forget", {**asked, "dry_run": True})["memories"],
    ]
    assert [[one["id"] for one in memories] for memories in told] == [[id]] * 3


def test_two_sessions_ago_is_that_session(house: ServiceHouse, ledger: Path) -> None:
    """Sessions are counted back by when they ended."""
    for n, session in enumerate(("first", "second", "third"), 1):
        load(
            house,
            ledger,
            talk(("user", "We changed the cache."), session=session, at=f"2026-04-0{n}"),
        )
    assert found(house, "what did we change two sessions ago?")[0] == "second/0"
    assert found(house, "what did we change last session?")[0] == "third/0"


def test_a_session_can_be_asked_alone(house: ServiceHouse, ledger: Path) -> None:
    """`session` limits what is found."""
    load(house, ledger, talk(("user", "Cache one."), session="a"))
    load(house, ledger, talk(("user", "Cache two."), session="b"))
    assert found(house, "cache", session=["b"]) == ["b/0"]


def test_a_superseded_memory_gives_way(house: ServiceHouse, ledger: Path) -> None:
    """Asked in the old words, the new fact answers; the chain says what was until when."""
    old = house.remember("The queue runs on Redis lists", ledger)
    house.pass_time(days=5)
    new = house.remember("Jobs go through RabbitMQ", ledger, supersedes=old["id"][:12])
    assert (new["action"], new["of"]) == ("superseded", old["id"])
    (hit,) = hits(house, "does the queue run on Redis lists?", history=True)
    assert hit["id"] == new["id"]
    told = hit["history"]
    assert [one["id"] for one in told["chain"]] == [old["id"], new["id"]]
    assert told["summary"] == (
        "was 'The queue runs on Redis lists' until 8 May 2026, now 'Jobs go through RabbitMQ'"
    )
    assert [one.get("reason") for one in told["chain"]] == ["replaced on request", None]
    assert door(house.ctx, "history", {"id": old["id"]}) == told
    assert door(house.ctx, "list", {"all_projects": True})["total"] == 1


def test_a_chain_ends_at_its_end(house: ServiceHouse, ledger: Path) -> None:
    """Of three that gave way one to another the last is found, once; no circle can be made."""
    ids = [house.remember("Port 5432 is used by dev Postgres", ledger)["id"]]
    for port in (5433, 5434):
        done = house.remember(f"Dev Postgres listens on {port}", ledger, supersedes=ids[-1])
        ids.append(done["id"])
    assert [hit["id"] for hit in hits(house, "which port does dev Postgres use?")] == [ids[-1]]
    shelf = house.ctx.all_shelves()[0]
    with pytest.raises(BadInputError):
        shelf.journal.supersede(ids[2], ids[0])
    with pytest.raises(NotFoundError):
        shelf.journal.supersede(ids[2], "f" * 32)


def test_a_forgotten_successor_leaves_silence(house: ServiceHouse, ledger: Path) -> None:
    """What is outdated does not come back because the newer one was forgotten."""
    old = house.remember("The queue runs on Redis lists", ledger)
    new = house.remember("Jobs go through RabbitMQ", ledger, supersedes=old["id"])
    door(house.ctx, "forget", {"ids": [new["id"]], "all_projects": True})
    house.follow()
    assert hits(house, "does the queue run on Redis lists?") == []


def test_a_replacement_stays_in_its_store(house: ServiceHouse, ledger: Path) -> None:
    """An unknown memory cannot be replaced, and nothing is stored then."""
    with pytest.raises(NotFoundError):
        house.remember("Anything", ledger, supersedes="f" * 8)
    assert door(house.ctx, "list", {"all_projects": True})["total"] == 0


def test_a_link_brings_the_answer(house: ServiceHouse, ledger: Path) -> None:
    """What answers a hit comes with it, behind it."""
    question = house.remember("Open question: who rotates the signing keys?", ledger)
    answer = house.remember("Ops does it each quarter with a runbook", ledger)
    shelf = house.ctx.all_shelves()[0]
    shelf.journal.link(Link(answer["id"], question["id"], Relation.ANSWERS))
    ids = [hit["id"] for hit in hits(house, "who rotates signing keys")]
    assert ids[:2] == [question["id"], answer["id"]]


def test_neighbours_and_topics_on_demand(house: ServiceHouse, ledger: Path) -> None:
    """`context` shows what was said around a hit, `by_topic` which hits belong together."""
    load(
        house,
        ledger,
        talk(("Ana", "one"), ("Ben", "the ledger cache"), ("Ana", "three"), ("Ben", "4")),
    )
    request = {"query": "ledger cache", "all_projects": True, "k": 1}
    answer = door(house.ctx, "recall", {**request, "context": 2, "by_topic": True})
    (hit,) = answer["hits"]
    assert (hit["before"], hit["after"]) == (["one"], ["three", "4"])
    assert answer["topics"] == [{"topic": "the ledger cache", "ids": [hit["id"]]}]


def test_an_error_finds_its_last_occurrence(house: ServiceHouse, ledger: Path) -> None:
    """Another path, line and address: the same error brings the memory of its fix."""
    house.remember(
        "KeyError 'tenant_id' in billing.py load_rows: the export lacked it, fixed", ledger
    )
    house.remember("KeyError 'region' in deploy.py: set REGION first", ledger)
    trace = (
        "it fails again\nTraceback (most recent call last):\n"
        '  File "/Users/zoe/x/billing.py", line 991, in load_rows\n    rows[i]\n'
        "KeyError: 'tenant_id'"
    )
    assert "billing.py" in hits(house, trace)[0]["text"]


def test_uses_are_counted_when_the_house_closes(tmp_path: Path, ledger: Path) -> None:
    """Uses wait in memory, and are written at the end."""
    house = ServiceHouse(tmp_path / "one")
    done = house.remember("Tabs, not spaces, in Makefiles", ledger)
    for _ in range(3):
        hits(house, "tabs or spaces in Makefiles")
    shelf = house.ctx.all_shelves()[0]
    assert shelf.journal.get(done["id"]).uses == 0
    house.ctx.uses.write()
    assert shelf.journal.get(done["id"]).uses == 3
    house.close()


def test_a_pointing_prompt_is_asked_with_the_last_turn(house: ServiceHouse, ledger: Path) -> None:
    """ "Why did that fail?" means what was just spoken of."""
    house.remember("The nightly backup fails when the bucket policy denies PutObject", ledger)
    ask = hook_question(
        house.ctx,
        "s1",
        str(ledger),
        "why did that fail?",
        before="the nightly backup to the bucket",
    )
    assert "PutObject" in prompt_recall.on_prompt(house.ctx, ask)


def test_what_was_just_stored_is_found_by_its_meaning(house: ServiceHouse, ledger: Path) -> None:
    """LanceDB takes seconds to come up: until then the question is compared with the journal's vectors."""
    shelf = house.ctx.global_shelf()
    index = Index.open(shelf.folder, house.embedding.model, house.embedding.dim)
    index.build_matrix(iter(()), 0)
    shelf.attach(index)
    stored = door(house.ctx, "remember", {"text": "The build uses just.", "project": str(ledger)})
    asked = {"query": "what does the build use", "project": str(ledger)}
    (hit,) = door(house.ctx, "recall", asked)["hits"]
    assert hit["id"] == stored["id"]
    assert hit["breakdown"]["cosine"] > 0.2
    assert hit["fits"]


def test_a_project_that_never_was_is_an_error(house: ServiceHouse, ledger: Path) -> None:
    """One whose folder is gone still answers; a mistyped one is told."""
    house.remember("Invoices are numbered by year.", ledger)
    ledger.rmdir()
    (hit,) = door(house.ctx, "recall", {"query": "invoices", "project": str(ledger)})["hits"]
    assert "Invoices" in hit["text"]
    with pytest.raises(NotFoundError, match="no folder"):
        door(house.ctx, "recall", {"query": "invoices", "project": str(ledger) + "x"})


@pytest.mark.parametrize("text", ["yes", "Hmm …", "hello!", "ok, thanks"])
def test_what_says_nothing_is_no_memory(house: ServiceHouse, text: str) -> None:
    """It is told what to do instead; a short fact is one."""
    with pytest.raises(BadInputError, match="says nothing"):
        door(house.ctx, "remember", {"text": text, "global": True})
    assert door(house.ctx, "remember", {"text": "Port 8080", "global": True})["id"]


def test_deadlines_are_listed_by_their_dates(house: ServiceHouse, ledger: Path) -> None:
    """The nearest first, then what comes back; neither what is over nor what has no date."""
    house.remember("renew the certificate", ledger, due="2026-06-20")
    house.remember("look at the backups", ledger, every="weekly", due="monday")
    house.remember("file the taxes", ledger, due="2026-05-31")
    house.remember("call the printer", ledger, due="2026-05-05")
    house.remember("Invoices are numbered by year.", ledger)
    house.pass_time(days=4)
    listed = door(house.ctx, "list", {"project": str(ledger), "due": True})
    texts = [memory["text"] for memory in listed["memories"]]
    assert texts == ["file the taxes", "renew the certificate", "look at the backups"]
    assert listed["total"] == 3
