"""Where work stopped: the last session of a project, what was decided in it, and what is open."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question

from vector_memory.model import PASSAGE, Scope, Tier
from vector_memory.service.inject.session_start import on_start

START = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)


def session(
    house: ServiceHouse,
    folder: Path,
    name: str,
    hour: int,
    *talk: tuple[str, str],
    edits: bool = True,
) -> None:
    """Capture a session of prompts and answers, each with a changed file."""
    folder.mkdir(exist_ok=True)
    lines: list[dict[str, Any]] = []
    for number, (prompt, answer) in enumerate(talk):
        at = (START + timedelta(hours=hour, minutes=number)).isoformat()
        about = {"sessionId": name, "cwd": str(folder), "version": "2.1.329", "timestamp": at}
        edit = {"type": "tool_use", "id": f"{name}{number}", "name": "Edit",
                "input": {"file_path": str(folder / f"{name}.py")}}  # fmt: skip
        lines += [
            {"type": "user", "uuid": f"{name}-u{number}", "message": {"role": "user", "content": prompt}, **about},
            {"type": "assistant", "uuid": f"{name}-a{number}", **about,
             "message": {"role": "assistant", "id": f"m{name}{number}",
                         "content": [{"type": "text", "text": answer}, *([edit] if edits else [])]}},
        ]  # fmt: skip
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    captured_of(house.ctx, str(path), str(folder), final=True)


def asked(house: ServiceHouse, folder: Path, **more: Any) -> dict[str, Any]:
    return door(house.ctx, "resume", {"project": str(folder), **more})


def test_the_last_session_is_told_with_what_is_open(house: ServiceHouse, tmp_path: Path) -> None:
    """Of this project alone, the newest first, and not the one that asks."""
    here, there = tmp_path / "here", tmp_path / "there"
    session(
        house,
        here,
        "first",
        0,
        ("Please set up the spool of the queue", "The spool folder is made."),
    )
    session(
        house, here, "second", 5,
        ("Which format should the ledger have?", "We decided to store the ledger as SQLite in WAL mode."),
        ("Write the migration of the ledger", "The migration of the ledger is half written: the indexes are missing."),
    )  # fmt: skip
    session(
        house, there, "foreign", 9, ("Paint the button", "We decided to paint the button green.")
    )
    session(
        house,
        here,
        "now",
        10,
        ("where did we stop?", "Let me look at the notes of the last session."),
        edits=False,
    )
    door(
        house.ctx,
        "remember",
        {"text": "Which port should the gateway use?", "kind": "question", "project": str(here)},
    )
    found = asked(house, here, but="now")
    assert found["project"] == "here"
    last = found["session"]
    assert last["session"] == "second"
    assert last["asked"] == "Write the migration of the ledger"
    assert "half written" in last["answered"]
    assert last["files"] == ["second.py"]
    decided = [one["text"] for one in found["decided"]]
    assert "We decided to store the ledger as SQLite in WAL mode." in decided
    assert not any("button" in text for text in decided)
    assert any("Which port should the gateway use?" in one["text"] for one in found["open"])
    assert [one["session"] for one in found["earlier"]] == ["first"]
    assert "button" not in json.dumps(found)
    # Who only asked where it stopped, and was told little, did no work there.
    assert asked(house, here)["session"]["session"] == "second"


def test_the_last_session_is_the_last_one_however_long_ago(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Cold talk is told of how it ended; that a question warmed an older session makes that none later."""
    here = tmp_path / "here"
    session(house, here, "first", 0, ("Make the spool of the queue", "The spool folder is made."))
    session(
        house, here, "second", 5,
        ("Write the migration of the ledger", "The migration of the ledger is half written: the indexes are missing."),
    )  # fmt: skip
    journal = house.ctx.global_shelf().journal
    talk = list(journal.iter_memories(Scope(kinds=(PASSAGE,))))
    for cold in (talk, [one for one in talk if one.source.session == "second"]):
        journal.move_to_tiers({one.id: Tier.WARM for one in talk})
        journal.move_to_tiers({one.id: Tier.COLD for one in cold})
        found = asked(house, here)
        assert found["session"]["session"] == "second"
        assert [one["session"] for one in found["earlier"]] == ["first"]
        started = on_start(
            house.ctx, hook_question(house.ctx, f"new{len(cold)}", str(here), source="startup")
        )
        assert "indexes are missing" in started


@pytest.mark.parametrize("thanks", ["Excellent work, thank you!", "danke, schluss für heute"])
def test_praise_is_no_request(house: ServiceHouse, tmp_path: Path, thanks: str) -> None:
    """What was asked last is told, not the thanks for it, in a language whose words have many pieces neither."""
    here = tmp_path / "here"
    told = "The ledger is kept in SQLite, in WAL mode. Backups of it are taken every night, and checked."
    session(
        house, here, "first", 0,
        ("Should the ledger be kept in SQLite or in files?", "In SQLite: the files would have to be locked by hand."),
        (thanks, told),
        edits=False,
    )  # fmt: skip
    last = asked(house, here)["session"]
    assert last["asked"] == "Should the ledger be kept in SQLite or in files?"
    assert "Backups" in last["answered"]


def test_pasted_output_puts_no_word_in_the_users_mouth(house: ServiceHouse, tmp_path: Path) -> None:
    """Where a prompt is nothing but pasted, the answer's first sentence is not what the user asked."""
    here = tmp_path / "here"
    pasted = "\n".join(
        [
            "$ ./run.sh",
            "Traceback (most recent call last):",
            *(f'  File "/srv/ledger/part{n}.py", line {n}, in step{n}' for n in range(12)),
            "sqlite3.OperationalError: database is locked",
        ]
    )
    session(
        house, here, "first", 0,
        ("Write the migration of the ledger", "The migration of the ledger is half written: the indexes are missing."),
        (pasted, "The ledger is locked by another process. I closed the second connection in the migration."),
    )  # fmt: skip
    assert "locked by another process" not in asked(house, here)["session"]["asked"]


def test_a_project_without_sessions_has_nothing_to_resume(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """A note is no session."""
    (tmp_path / "new").mkdir()
    door(
        house.ctx,
        "remember",
        {"text": "The gateway listens on 8080.", "project": str(tmp_path / "new")},
    )
    found = asked(house, tmp_path / "new")
    assert (found["session"], found["earlier"], found["decided"]) == (None, [], [])


def test_what_was_solved_is_not_open(house: ServiceHouse, tmp_path: Path) -> None:
    """Nor what the assistant named on its way; and a line that is half redacted is no decision."""
    here = tmp_path / "here"
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    session(
        house, here, "one", 0,
        ("The export of the invoices fails with umlauts in the names.", "The problem is that the export of the invoices writes latin-1 where umlauts are expected."),
        ("Please mend it", "Fixed the export of the invoices by writing the umlauts of the names as UTF-8."),
        ("Which key does the billing use?", f"We decided to use the key {secret} for the billing of the invoices."),
        ("Write the mailer of the invoices", "The mailer is written. The problem is that the mailer of the invoices drops attachments above 10 MB."),
    )  # fmt: skip
    found = asked(house, here)
    texts = [one["text"] for one in found["open"]]
    assert any("drops attachments" in text for text in texts)
    assert not any("umlauts" in text for text in texts)
    assert "[redacted:" not in json.dumps(found["decided"])


def test_what_the_user_rules_out_is_no_open_problem(house: ServiceHouse, tmp_path: Path) -> None:
    """The reason that he gives makes it none; what is broken is one, whatever he rules out beside it."""
    here = tmp_path / "here"
    session(
        house, here, "one", 0,
        ("don't push today, the pipeline of the ledger is broken", "OK."),
        ("The import of the ledger is broken on Fridays, don't push it.", "OK."),
        edits=False,
    )  # fmt: skip
    kinds = {
        one["text"]: one["kind"]
        for one in door(house.ctx, "list", {"project": str(here)})["memories"]
    }
    assert "problem" in [kind for text, kind in kinds.items() if text.startswith("Don't push")]
    open_now = [one["text"] for one in asked(house, here)["open"]]
    assert any("on Fridays" in text for text in open_now)
    assert not any(text.startswith("Don't push") for text in open_now)


def test_a_problem_that_names_what_is_not_done_is_open(house: ServiceHouse, tmp_path: Path) -> None:
    """Who tells what goes wrong rules nothing out."""
    here = tmp_path / "here"
    problems = (
        "Without running migrations the app of the ledger crashes",
        "Without touching src/a.py the build of the invoices fails",
        "Do not delete works, but the list of the invoices is broken and stays stale",
    )
    session(house, here, "one", 0, *((said, "OK.") for said in problems), edits=False)
    listed = door(house.ctx, "list", {"project": str(here)})["memories"]
    found = {one["text"] for one in listed if one["kind"] == "problem"}
    assert found == {one["text"] for one in asked(house, here)["open"]} and len(found) == 3


def test_a_prompt_that_decides_is_told_as_decided(house: ServiceHouse, tmp_path: Path) -> None:
    """One that is nothing but the decision, and one of which it is the telling sentence; any other prompt is none."""
    here = tmp_path / "here"
    decisions = (
        "We decided to move the ledger to Postgres because two writers must work at once.",
        "We decided that releases are tagged on Thursdays because the office is closed on Fridays.",
    )
    release = f"Let us set up the release process in docs/release.md. {decisions[1]}"
    fix = "Fixed the login by reading the cookie of the session first."
    known = "The fix was to read the cookie of the crane first."
    session(
        house, here, "one", 0,
        (decisions[0], "I moved the ledger to Postgres: the schema is in db/schema.sql. All 212 tests pass."),
        (release, "Noted in docs/release.md: releases are tagged on Thursdays."),
        ("Please fix the login of the crane", fix),
        (known, "It is done. All 212 tests pass with it."),
    )  # fmt: skip
    decided = [one["text"] for one in asked(house, here)["decided"]]
    assert set(decisions) <= set(decided), decided
    assert not any(text.startswith("Please") for text in decided) and known not in decided, decided
    listed = door(house.ctx, "list", {"project": str(here), "kinds": ["solution"]})["memories"]
    assert known in [one["text"] for one in listed]
