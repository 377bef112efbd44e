"""Topics on real stores: derived from what is stored, kept in step with it, shown as trees; and what is
made of a session when it ends."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question

from vector_memory import redact
from vector_memory.errors import NotFoundError
from vector_memory.index.notes.daily_note import section
from vector_memory.model import (
    DERIVED,
    SUMMARY,
    TOPIC,
    WORLD,
    Memory,
    Scope,
    Sensitivity,
    Source,
    Status,
)
from vector_memory.service.base.asker import asker_in
from vector_memory.service.capture import archives, find_ideas, session_summary, session_topics
from vector_memory.service.find import topic_outline
from vector_memory.service.inject import after_compaction, prompt_recall, session_start
from vector_memory.service.learning import counted_records
from vector_memory.service.memory import trust_marks

START = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)
LONG = (
    "The queue keeps its jobs in a spool folder, one file for each job, and a worker that dies leaves "
    "the file where it is, so that the next worker finds it and does the job again from its beginning. "
    "Folders are read once a second, oldest files first, and a job that is set aside is listed there."
)
QUEUE = [
    ("Please make the queue survive a crash of the worker", f"We will use a spool file. {LONG}", 0),
    (
        "and what about the retries of it",
        f"Each job is tried five times, then set aside. {LONG}",
        3,
    ),
]
LEDGER = [
    ("Now let's fix another bug: the totals of the ledger are wrong", "The root cause was a rounding of "
     "cents in the monthly totals, which the ledger now keeps as whole numbers.", 90),
    ("ok, and the docs of that", "The docs say so now. Should the old totals be migrated as well?", 93),
]  # fmt: skip


def transcript(folder: Path, talk: list[tuple[str, str, int]], session: str = "s1") -> Path:
    """Write a session's transcript: prompts, answers, and after how many minutes they came."""
    lines = []
    for number, (prompt, answer, minutes) in enumerate(talk):
        at = (START + timedelta(minutes=minutes)).isoformat()
        about = {"sessionId": session, "cwd": str(folder), "version": "2.1.329", "timestamp": at}
        file = "queue.py" if minutes < 60 else "ledger.py"
        said = [
            {"type": "text", "text": answer},
            {"type": "tool_use", "id": f"t{number}", "name": "Edit",
             "input": {"file_path": str(folder / file)}},
        ]  # fmt: skip
        lines += [
            {"type": "user", "uuid": f"{session}-u{number}",
             "message": {"role": "user", "content": prompt}, **about},
            {"type": "assistant", "uuid": f"{session}-a{number}",
             "message": {"role": "assistant", "id": f"m{number}", "content": said}, **about},
        ]  # fmt: skip
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def learn(house: ServiceHouse, folder: Path, talk: list[tuple[str, str, int]]) -> None:
    """Capture a session as it stands, and derive its topics."""
    path = transcript(folder, talk)
    captured = captured_of(house.ctx, str(path), final=True)
    find_ideas.find_all(house.ctx)
    session_topics.derive(house.ctx, captured.sessions)


def stored(house: ServiceHouse, kind: str = TOPIC) -> list[Memory]:
    """Return the active memories of a kind, in order."""
    return list(house.ctx.global_shelf().journal.iter_memories(Scope(kinds=(kind,))))


def test_a_session_is_stored_with_its_topics(house: ServiceHouse, tmp_path: Path) -> None:
    """Name, summary, lines, turns; deriving again writes nothing."""
    learn(house, tmp_path, QUEUE + LEDGER)
    first, second = stored(house)
    assert first.title == "Make the queue survive a crash of the worker"
    assert "Decided: We will use a spool file." in first.text
    assert "Open: Should the old totals be migrated as well?" in second.text
    assert second.extra == {"parent": "", "level": 1, "turns": [3, 4], "key": "s1-u2"}
    assert (second.source.line_start, second.source.line_end, second.source.turn) == (5, 8, 3)
    assert all(len(one.text) <= session_topics.TEXT_CHARS for one in stored(house))
    last = house.ctx.global_shelf().journal.last_seq()
    session_topics.derive(house.ctx, ["s1", ""])
    assert house.ctx.global_shelf().journal.last_seq() == last


def test_topics_grow_with_their_session(house: ServiceHouse, tmp_path: Path) -> None:
    """The topic that goes on keeps its id; a new one joins it."""
    learn(house, tmp_path, QUEUE)
    (before,) = stored(house)
    learn(house, tmp_path, QUEUE + LEDGER)
    first, second = stored(house)
    assert first.id == before.id != second.id


def test_what_is_cut_anew_leaves_nothing_behind(house: ServiceHouse, tmp_path: Path) -> None:
    """A topic that there is no more gives way without its words, and its place is taken again."""
    learn(house, tmp_path, QUEUE + LEDGER)
    journal = house.ctx.global_shelf().journal
    first, second = stored(house)
    passages = [
        one for one in journal.iter_memories(Scope()) if one.source.turn >= 3 and one.kind != TOPIC
    ]
    door(house.ctx, "forget", {"ids": [one.id for one in passages]})
    assert [one.id for one in stored(house)] == [first.id]
    gone = journal.get(second.id)
    assert (gone.status, gone.text, gone.title) == (Status.SUPERSEDED, session_topics.GONE, "")
    assert door(house.ctx, "formal_verify", {"properties": ["status-fits"]})["holds"]
    learn(house, tmp_path, [*QUEUE, *LEDGER, ("Now another topic: the invoices", LONG, 400)])
    assert {one.id for one in stored(house)} == {first.id, second.id}


def test_a_forgotten_topic_stays_forgotten(house: ServiceHouse, tmp_path: Path) -> None:
    """However its session goes on."""
    learn(house, tmp_path, QUEUE)
    door(house.ctx, "forget", {"ids": [stored(house)[0].id]})
    learn(house, tmp_path, QUEUE + LEDGER)
    assert [one.title[:7] for one in stored(house)] == ["Fix ano"]


def test_a_session_of_few_words_has_no_topics(house: ServiceHouse, tmp_path: Path) -> None:
    """Its passage says it all."""
    learn(house, tmp_path, [("Which mode does it use?", "WAL, since readers never block.", 0)])
    assert stored(house) == []


def test_known_ideas_make_the_summary(house: ServiceHouse, tmp_path: Path) -> None:
    """What other parts found in the session comes before guesses."""
    learn(house, tmp_path, QUEUE)
    talk = next(iter(stored(house, "exchange")))
    text = redact.clean("Jobs are files, from now on.").text
    idea = replace(talk, id="d" * 32, kind="decision", text=text, external_id="x", seq=0)
    house.ctx.global_shelf().journal.add([replace(idea, source=replace(talk.source, turn=2))])
    session_topics.derive(house.ctx, ["s1"])
    lines = stored(house)[0].text.splitlines()
    (decided,) = (line for line in lines if line.startswith("Decided: "))
    assert "Jobs are files, from now on." in decided


def test_a_summary_has_no_words_of_tools(house: ServiceHouse, tmp_path: Path) -> None:
    """Of an idea that quotes one the rest, of a fix nothing: it is an error's words, and edits."""
    learn(house, tmp_path, QUEUE)
    talk = next(iter(stored(house, "exchange")))
    texts = (
        "It fails \u27e6tool: KeyError\u27e7 since the index is lost.",
        "ERROR \u27e6tool: x\u27e7 FIX edited a.py.",
    )
    ideas = [
        replace(talk, id=name * 32, kind="solution", text=redact.clean(text).text, tags=tags,
                external_id=name, seq=0)
        for name, text, tags in zip("de", texts, ((), ("fix",)), strict=True)
    ]  # fmt: skip
    house.ctx.global_shelf().journal.add(ideas)
    session_topics.derive(house.ctx, ["s1"])
    session_summary.finish(house.ctx, "s1")
    made = [one.text for kind in (TOPIC, SUMMARY) for one in stored(house, kind)]
    assert any("It fails since the index is lost." in text for text in made)
    assert not any("\u27e6" in text or "FIX edited" in text for text in made)


def test_topics_and_summaries_have_the_level_of_the_talk(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """The strictest of their own turns; of what is held back they say nothing, not even its files. What the user
    said of a topic stays."""
    learn(house, tmp_path, QUEUE + LEDGER)
    journal = house.ctx.global_shelf().journal

    def become(turn: int, level: Sensitivity) -> None:
        for one in list(journal.iter_memories(Scope())):
            if one.source.turn == turn and one.kind not in DERIVED:
                journal.update(replace(one, sensitivity=level))
        session_summary.finish(house.ctx, "s1")

    become(2, Sensitivity.CONFIDENTIAL)
    assert [one.sensitivity for one in stored(house)] == [
        Sensitivity.CONFIDENTIAL,
        Sensitivity.INTERNAL,
    ]
    (summary,) = stored(house, SUMMARY)
    assert summary.sensitivity is Sensitivity.CONFIDENTIAL and "ledger.py" in summary.text
    become(3, Sensitivity.RESTRICTED)
    become(4, Sensitivity.RESTRICTED)
    (summary,) = stored(house, SUMMARY)
    assert summary.sensitivity is Sensitivity.CONFIDENTIAL and "ledger" not in str(summary.files)
    become(2, Sensitivity.INTERNAL)
    assert stored(house)[0].sensitivity is Sensitivity.CONFIDENTIAL


def test_topics_are_no_neighbours_of_the_talk(house: ServiceHouse, tmp_path: Path) -> None:
    """What stands before and after a passage is talk, in the journal and in the columns."""
    learn(house, tmp_path, QUEUE + LEDGER)
    house.follow()
    shelf = house.ctx.global_shelf()
    talk = [one for one in shelf.journal.iter_memories(Scope()) if one.kind not in DERIVED]
    ids = {one.seq for one in talk}
    for one in talk:
        assert all(near is None or near.seq in ids for near in shelf.journal.neighbours(one.seq))
    around = shelf.around([one.seq for one in shelf.journal.iter_memories(Scope())], [])
    assert around is not None
    for seq, before, after in zip(around.seqs, around.before, around.after, strict=True):
        assert {int(before), int(after)} <= (ids | {0} if int(seq) in ids else {0})


def test_topics_are_found(house: ServiceHouse, tmp_path: Path) -> None:
    """By their kind, and among everything else."""
    learn(house, tmp_path, QUEUE + LEDGER)
    house.follow()
    request = {"query": "totals of the ledger", "cwd": str(tmp_path), "kind": TOPIC}
    assert door(house.ctx, "recall", request)["hits"][0]["title"].startswith("Fix another bug")


def test_a_prompt_gets_the_passage_and_not_its_topic_too(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """There is no room for the same thing twice."""
    learn(house, tmp_path, QUEUE + LEDGER)
    house.follow()
    ask = hook_question(
        house.ctx, "other", str(tmp_path), "What was the root cause of the wrong ledger totals?"
    )
    told = prompt_recall.on_prompt(house.ctx, ask)
    assert "rounding of cents" in told
    assert "· topic ·" not in told


# -- the outline ----------------------------------------------------------------------------------


def test_the_outline_is_a_tree(house: ServiceHouse, tmp_path: Path) -> None:
    """Sessions newest first, topics in order, parts within; a session by the beginning of its id."""
    talk = QUEUE + [(f"and the retries too, part {n}", LONG, 3 + n) for n in range(1, 6)]
    talk[5] = ("why is the worker wrong? please fix it", LONG, 60)
    learn(house, tmp_path, talk)
    (session,) = door(house.ctx, "topics", {"cwd": str(tmp_path)})["sessions"]
    assert session["session"] == "s1"
    names = [(one["title"], [part["title"] for part in one["parts"]]) for one in session["topics"]]
    assert names[0][0].startswith("Make the queue")
    assert door(house.ctx, "topics", {"session": "s"})["sessions"] == [session]
    assert door(house.ctx, "topics", {"cwd": str(tmp_path), "offset": 1})["sessions"] == []
    with pytest.raises(NotFoundError):
        door(house.ctx, "topics", {"session": "nope"})


def test_records_of_observers_are_no_topics(house: ServiceHouse, tmp_path: Path) -> None:
    """They are of a session, but nobody said them."""
    learn(house, tmp_path, QUEUE)
    place = house.ctx.place(str(tmp_path))
    record = counted_records.CountedRecord(WORLD, "port", "port 5432 is taken", session="s1")
    counted_records.keep(house.ctx, asker_in(house.ctx, place), record)
    assert "5432" not in json.dumps(door(house.ctx, "topics", {"cwd": str(tmp_path)}))


def test_sessions_without_topics_show_their_turns(house: ServiceHouse, tmp_path: Path) -> None:
    """As sessions that were stored before topics were."""
    captured_of(house.ctx, str(transcript(tmp_path, QUEUE)), final=True)
    (session,) = door(house.ctx, "topics", {"cwd": str(tmp_path)})["sessions"]
    assert [one["title"][:12] for one in session["topics"]] == ["Please make ", "and what abo"]


def test_nested_topics_keep_their_order() -> None:
    """A part whose topic is not there stands by itself."""

    def topic(id: str, parent: str) -> Memory:
        text = redact.clean(id).text
        return Memory(id=id, text=text, title=text, kind=TOPIC, created_at=START,
                      source=Source("s1"), extra={"parent": parent})  # fmt: skip

    tree = topic_outline.nested([topic("a", ""), topic("b", "a"), topic("c", "zz")])
    assert [(node.id, [part.id for part in node.parts]) for node in tree] == [
        ("a", ["b"]),
        ("c", []),
    ]


# -- the end of a session -------------------------------------------------------------------------


def test_a_finished_session_has_a_summary(house: ServiceHouse, tmp_path: Path) -> None:
    """One memory of what it was about, decided, concluded, left open; ending twice adds nothing."""
    learn(house, tmp_path, QUEUE + LEDGER)
    session_summary.finish(house.ctx, "s1")
    (summary,) = stored(house, SUMMARY)
    for words in ("Make the queue", "spool file", "rounding of", "migrated as well?", "ledger.py"):
        assert words in summary.text
    assert len(summary.text) <= session_summary.TEXT_CHARS
    session_summary.finish(house.ctx, "s1")
    assert stored(house, SUMMARY) == [summary]


def test_the_users_own_words_make_no_topic_suspicious(house: ServiceHouse, tmp_path: Path) -> None:
    """ "From now on, always …" of an assistant's or a file's does."""
    rule = "From now on, always use polars instead of pandas in this project."
    (prompt, answer, minutes), *rest = QUEUE
    learn(house, tmp_path, [(f"{rule} {prompt}", answer, minutes), *rest, *LEDGER])
    session_summary.finish(house.ctx, "s1")
    made = [*stored(house), *stored(house, SUMMARY)]
    assert any("always use polars" in one.text for one in made)
    assert not any(one.is_suspicious for one in made)
    (first, *_) = made
    assert trust_marks.with_trust_marks(replace(first, extra={})).is_suspicious


def test_the_archive_is_private_whole_and_found(house: ServiceHouse, tmp_path: Path) -> None:
    """One file of the session's text, replaced when it went on, removed with what was forgotten."""
    learn(house, tmp_path, QUEUE)
    session_summary.finish(house.ctx, "s1")
    (path,) = archives.archives_of(house.ctx.home, "s1")
    assert os.path.basename(path) == "2026-05-03-s1.md"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert "We will use a spool file." in Path(path).read_text()
    learn(house, tmp_path, QUEUE + LEDGER)
    session_summary.finish(house.ctx, "s1")
    assert "rounding of cents" in Path(path).read_text()
    assert os.listdir(os.path.dirname(path)) == ["2026-05-03-s1.md"]
    (talk, *_) = [one for one in stored(house, "exchange") if "rounding" in one.text]
    door(house.ctx, "forget", {"ids": [talk.id]})
    assert "rounding of cents" not in Path(path).read_text()
    assert "rounding" not in stored(house, SUMMARY)[0].text
    door(house.ctx, "forget", {"cwd": str(tmp_path), "since": "2020-01-01"})
    assert archives.archives_of(house.ctx.home, "s1") == []
    assert stored(house, SUMMARY) == stored(house) == []


@pytest.mark.parametrize("session", ["../../etc/x", "a/b", ".", "ü" * 300])
def test_no_session_leads_out_of_the_archive(house: ServiceHouse, session: str) -> None:
    """Its name is part of a file's name, whatever it is."""
    talk = session_topics.turns_of(
        [session_topics.Passage(1, "k", "User: x", "x", "/p", 1, 2, START)]
    )
    path = archives.archive(house.ctx.home, "../p", session, "x", talk)
    assert os.path.realpath(path).startswith(os.path.realpath(house.ctx.home.archives) + os.sep)
    assert archives.archives_of(house.ctx.home, session) == [path]
    assert archives.remove(house.ctx.home, session) == 1


def test_a_daily_note_gets_a_section(house: ServiceHouse, tmp_path: Path) -> None:
    """In the folder that the user names; what is in the note stays, and ending twice adds nothing."""
    vault = tmp_path / "vault"
    vault.mkdir()
    note = vault / "2026-05-03.md"
    note.write_text("# Sunday\n")
    house.ctx.settings = replace(house.ctx.settings, daily_notes=str(vault), archive=False)
    learn(house, tmp_path, QUEUE)
    session_summary.finish(house.ctx, "s1")
    first = note.read_text()
    assert first.startswith("# Sunday\n") and "spool file" in first
    session_summary.finish(house.ctx, "s1")
    assert note.read_text() == first
    assert os.listdir(vault) == ["2026-05-03.md"]
    assert archives.archives_of(house.ctx.home, "s1") == []
    door(house.ctx, "forget", {"cwd": str(tmp_path), "since": "2020-01-01"})
    assert "spool" not in note.read_text() and note.read_text().startswith("# Sunday\n")


def test_a_daily_note_has_nothing_confidential(house: ServiceHouse, tmp_path: Path) -> None:
    """Neither its words nor its files. Where nothing else is left to tell, the section goes; the memory stays."""
    vault = tmp_path / "vault"
    vault.mkdir()
    house.ctx.settings = replace(house.ctx.settings, daily_notes=str(vault), archive=False)
    learn(house, tmp_path, QUEUE + LEDGER)
    session_summary.finish(house.ctx, "s1")
    note = vault / "2026-05-03.md"
    assert "rounding of cents" in note.read_text() and "ledger.py" in note.read_text()
    journal = house.ctx.global_shelf().journal

    def hide(turns: tuple[int, ...]) -> str:
        for one in list(journal.iter_memories(Scope())):
            if one.source.turn in turns and one.kind not in DERIVED:
                journal.update(replace(one, sensitivity=Sensitivity.CONFIDENTIAL))
        session_summary.finish(house.ctx, "s1")
        return note.read_text()

    text = hide((3, 4))
    assert "## " in text and "spool file" in text and "queue.py" in text
    assert "ledger" not in text and "cents" not in text and "totals" not in text
    assert "cents" in stored(house, SUMMARY)[0].text
    assert "spool" not in hide((1, 2)) and "spool" in stored(house, SUMMARY)[0].text


@pytest.mark.parametrize("level", ["confidential", "restricted"])
def test_a_daily_note_follows_who_makes_a_memory_stricter(
    house: ServiceHouse, tmp_path: Path, level: str
) -> None:
    """At once, and without a section in any other note."""
    vault = tmp_path / "vault"
    vault.mkdir()
    house.ctx.settings = replace(house.ctx.settings, daily_notes=str(vault), archive=False)
    learn(house, tmp_path, QUEUE + LEDGER)
    session_summary.finish(house.ctx, "s1")
    journal = house.ctx.global_shelf().journal
    said = next(one for one in journal.iter_memories(Scope()) if "cents" in one.text)
    door(house.ctx, "edit", {"id": said.id, "sensitivity": level})
    text = (vault / "2026-05-03.md").read_text()
    assert "spool file" in text and "cents" not in text
    assert os.listdir(vault) == ["2026-05-03.md"]


def test_a_daily_note_is_named_as_the_vault_has_it(house: ServiceHouse, tmp_path: Path) -> None:
    """Folders on the way are made; a purge finds the section, also where names were others since."""
    vault = tmp_path / "vault"
    vault.mkdir()
    named = {"daily_notes": str(vault), "daily_note_name": "YYYY/MM/DD dddd"}
    house.ctx.settings = replace(house.ctx.settings, archive=False, **named)
    learn(house, tmp_path, QUEUE)
    session_summary.finish(house.ctx, "s1")
    note = vault / "2026" / "05" / "03 Sunday.md"
    assert "spool file" in note.read_text()
    house.ctx.settings = replace(house.ctx.settings, daily_note_name="YYYY-MM-DD")
    assert session_summary.take_out_sections(str(vault), "s1") == 1
    assert "spool" not in note.read_text()


def test_a_note_is_replaced_whatever_its_name(tmp_path: Path) -> None:
    """The user may have called it as he liked, and lets others write to it."""
    vault = tmp_path / "vault"
    vault.mkdir()
    words = section("s1", "At nine", ["spool"])
    assert session_summary.put_section(str(vault), "a.md", "s1", words)
    note = (vault / "a.md").rename(vault / f"{'x' * 252}.md")
    note.chmod(0o664)
    assert session_summary.take_out_sections(str(vault), "s1") == 1
    assert "spool" not in note.read_text()
    assert stat.S_IMODE(note.stat().st_mode) == 0o664
    assert list(vault.iterdir()) == [note]


def test_a_note_that_leads_elsewhere_is_left_alone(house: ServiceHouse, tmp_path: Path) -> None:
    """A link out of the folder, a folder that is not there, a note that is no text."""
    vault, outside = tmp_path / "vault", tmp_path / "outside.md"
    vault.mkdir()
    outside.write_text("mine")
    (vault / "2026-05-03.md").symlink_to(outside)
    learn(house, tmp_path, QUEUE)
    for folder in (vault, tmp_path / "nowhere"):
        house.ctx.settings = replace(house.ctx.settings, daily_notes=str(folder))
        session_summary.finish(house.ctx, "s1")
    assert outside.read_text() == "mine"
    (vault / "2026-05-03.md").unlink()
    (vault / "2026-05-03.md").write_bytes(b"\xff\xfe")
    house.ctx.settings = replace(house.ctx.settings, daily_notes=str(vault))
    session_summary.finish(house.ctx, "s1")
    assert (vault / "2026-05-03.md").read_bytes() == b"\xff\xfe"
    house.ctx.state.flush()
    assert house.ctx.state.totals()["daily_notes_failed"] == 3


# -- after a compaction ---------------------------------------------------------------------------


def test_after_a_compaction_a_session_is_told_of_itself(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """First the topic it was at with its files, then those before; other starts are as they were."""
    learn(house, tmp_path, QUEUE + LEDGER)
    question = hook_question(house.ctx, "s1", str(tmp_path))
    first, *others = after_compaction.notes(house.ctx, question)
    assert "rounding of cents" in first.text and "Files in work: ledger.py" in first.text
    assert "spool file" in others[-1].text
    assert after_compaction.notes(house.ctx, replace(question, session="")) == []
    told = session_start.on_start(
        house.ctx, hook_question(house.ctx, "s1", str(tmp_path), source="compact")
    )
    assert "migrated as well?" in told and "Files in work" in told
    resumed = session_start.on_start(
        house.ctx, hook_question(house.ctx, "s1", str(tmp_path), source="resume")
    )
    assert "Files in work" not in resumed


def test_the_notes_keep_to_the_budget(house: ServiceHouse, tmp_path: Path) -> None:
    """What a session gets of itself leaves room for what it always gets."""
    from vector_memory.text import fence

    talk = [(f"Now another task: part {n} of the schema, please", LONG, 90 * n) for n in range(12)]
    learn(house, tmp_path, talk)
    told: Any = session_start.on_start(
        house.ctx, hook_question(house.ctx, "s1", str(tmp_path), source="compact")
    )
    assert fence.tokens(told) <= house.ctx.settings.start_tokens
