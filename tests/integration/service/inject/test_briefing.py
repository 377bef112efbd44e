"""A start is a briefing: how the session before ended, what is to be kept to, what is open; and a prompt that
points back is given that end."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from transcript_samples import Talk

from vector_memory.index.rules import likelihood
from vector_memory.model import Scope, Tier
from vector_memory.service.base import client_memory
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.memory import last_session
from vector_memory.text import fence

START = datetime(2026, 5, 1, 8, tzinfo=timezone.utc)
ASKED = "Please write the migration of the ledger's totals to whole cents"
ANSWERED = (
    "The migration of the totals is written and its twelve tests pass. It runs in one transaction. "
    "Still to do: the index of the invoices is built without a progress bar."
)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def capture(
    house: ServiceHouse,
    folder: Path,
    name: str,
    days: float,
    *talk: tuple[str, str],
    branch: str = "main",
    output: str = "",
) -> None:
    """Capture a session of prompts and answers; the last answer comes with a command and its output."""
    lines: list[dict[str, Any]] = []
    for number, (prompt, answer) in enumerate(talk):
        at = (START + timedelta(days=days, minutes=number)).isoformat()
        about = {"sessionId": name, "cwd": str(folder), "gitBranch": branch, "timestamp": at}
        said: list[dict[str, Any]] = [{"type": "text", "text": answer}]
        if output and number == len(talk) - 1:
            said.append({"type": "tool_use", "id": "t1", "name": "Bash",
                         "input": {"command": "gh pr create --fill"}})  # fmt: skip
        lines += [
            {"type": "user", "uuid": f"{name}-u{number}", **about, "message": {"role": "user", "content": prompt}},
            {"type": "assistant", "uuid": f"{name}-a{number}", **about,
             "message": {"role": "assistant", "id": f"{name}-m{number}", "content": said}},
        ]  # fmt: skip
        if len(said) > 1:
            result = [{"type": "tool_result", "tool_use_id": "t1", "content": output}]
            lines.append({"type": "user", "uuid": f"{name}-r", **about,
                          "message": {"role": "user", "content": result}})  # fmt: skip
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    captured_of(house.ctx, str(path), str(folder), final=True)
    house.follow()


def started(
    house: ServiceHouse, folder: Path, session: str = "now", source: str = "startup"
) -> str:
    question = hook_question(house.ctx, session, str(folder), source=source)
    return session_start.on_start(house.ctx, question)


def prompted(
    house: ServiceHouse, folder: Path, prompt: str, session: str = "now", **more: Any
) -> str:
    question = hook_question(house.ctx, session, str(folder), prompt, **more)
    return prompt_recall.on_prompt(house.ctx, question)


def test_a_start_tells_how_the_session_before_ended(house: ServiceHouse, app: Path) -> None:
    """What was asked last but for commits and thanks, how the answer ended, the branch and the pull request."""
    capture(house, app, "old", 0, ("Paint the button of the form green, please", "The button of the form is green now, as the style guide wants it."))  # fmt: skip
    capture(
        house, app, "last", 1,
        (ASKED, ANSWERED), ("commit and push it please", "Pushed."),
        branch="fix/cents", output="https://github.com/example/app/pull/41\n",
    )  # fmt: skip
    capture(house, app, "empty", 1.5, ("hi", "Hello."))
    capture(house, app, "idle", 1.6, ("show me your version", "tool-opus-4-7[1m] (Opus 4.7, 1M context)"))  # fmt: skip
    told = started(house, app)
    assert "whole cents" in told and "progress bar" in told and "button" not in told
    assert "2026-05-02 · last session · app · branch fix/cents · pull request #41" in told
    assert "commit and push" not in told
    assert fence.tokens(told) <= house.ctx.settings.start_tokens
    assert "whole cents" not in started(house, app)
    assert "whole cents" in started(house, app, "now", "clear")
    resumed = door(house.ctx, "resume", {"project": str(app)})["session"]
    assert (resumed["branch"], resumed["pull"]) == ("fix/cents", 41)
    assert "progress bar" in resumed["answered"] and resumed["asked"] == ASKED


def test_what_the_end_of_a_session_lists_is_told_once(house: ServiceHouse, app: Path) -> None:
    """The boxes that it left open are todos, too."""
    left = "- [ ] Write the index of the invoices with a progress bar"
    capture(house, app, "last", 0, (ASKED, f"The migration is written and its tests pass. Left:\n{left}"))  # fmt: skip
    assert started(house, app).count("progress bar") == 1


def test_what_both_list_at_the_end_is_told_once(house: ServiceHouse, app: Path) -> None:
    """The user's words stand, and what the assistant adds to them."""
    left = "enough for today. left for monday: the voucher needs the new logo, and ask Jo for the font of the menu"
    capture(house, app, "last", 0, (ASKED, ANSWERED), (left, "The renderer is committed. For Monday: the new logo of the voucher, asking Jo for the font of the menu."))  # fmt: skip
    told = started(house, app)
    assert told.count("voucher") == 1 and "renderer is committed" in told


def test_a_day_that_the_user_names_is_a_deadline(house: ServiceHouse, app: Path) -> None:
    """It is told in the weeks before, listed with its day, and over with it; what is done at once has none."""
    due = "heads up: the audit of the bakery is on may 8, all recipes have to be in the ledger by then"
    capture(house, app, "a", 0, (due, "Understood, eleven of the recipes are missing in the ledger so far."))  # fmt: skip
    capture(house, app, "b", 1, (ASKED, ANSWERED))
    told = started(house, app, "s1")
    assert "due 2026-05-08" in told and "1 memory has its date soon" in told
    listed = door(house.ctx, "list", {"project": str(app), "due": True})["memories"]
    assert [one["due_on"] for one in listed] == ["2026-05-08"]
    house.pass_time(days=7)
    assert "audit of the bakery" not in started(house, app, "s2")


def test_a_rule_that_was_said_anew_is_told_as_it_is_now(house: ServiceHouse, app: Path) -> None:
    """The older one is silent in a start, and still there for who asks."""
    older = "Never open the half-price counter before six on weekdays."
    newer = "Never open the half-price counter before five on weekdays."
    other = "No new columns in any table without a comment and a default."
    for day, rule in enumerate((older, newer, other)):
        capture(house, app, f"r{day}", day, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
    capture(house, app, "last", 4, (ASKED, ANSWERED))
    told = started(house, app)
    assert "before five" in told and "before six" not in told and "a comment and a" in told
    assert told.find("before five") < told.find("a comment and a")
    texts = [one["text"] for one in door(house.ctx, "list", {"project": str(app)})["memories"]]
    assert older in texts


def test_a_rule_that_names_another_way_takes_the_place_of_the_one_before(
    house: ServiceHouse, app: Path
) -> None:
    """Each names what the other does not, and only one can be kept to."""
    rules = [f"Always deploy with scripts/{name}, from the main branch." for name in ("deploy.sh", "release.sh")]  # fmt: skip
    for day, rule in enumerate(rules):
        capture(house, app, f"r{day}", day, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
    capture(house, app, "last", 4, (ASKED, ANSWERED))
    told = started(house, app)
    assert rules[1] in told and rules[0] not in told


def test_a_rule_on_another_file_hides_none(house: ServiceHouse, app: Path) -> None:
    """Though both are nearly in the same words."""
    rules = [f"Never edit db/{name} again, it already ran." for name in ("0007_a.sql", "0009_b.sql")]  # fmt: skip
    for day, rule in enumerate(rules):
        capture(house, app, f"r{day}", day, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
    capture(house, app, "last", 4, (ASKED, ANSWERED))
    told = started(house, app)
    assert all(rule in told for rule in rules)


def test_what_is_over_hides_no_rule(house: ServiceHouse, app: Path) -> None:
    """Though it was said after it, and nearly in its words."""
    rule = "The voucher counter stays on the ground floor, no other floor has it."
    once = "The audit is on may 8, the voucher counter stays on the ground floor."
    for day, said in enumerate((rule, once)):
        capture(house, app, f"r{day}", day, (said, "Understood, it is done like that from here on in all files."))  # fmt: skip
    capture(house, app, "last", 2, (ASKED, ANSWERED))
    assert "The audit is on may 8" in started(house, app, "s1")
    house.pass_time(days=7)
    told = started(house, app, "s2")
    assert "no other floor has it" in told and "The audit is" not in told


def test_a_programs_session_is_nobodys_work(house: ServiceHouse, app: Path) -> None:
    """What a program asked is passed over."""
    capture(house, app, "last", 0, (ASKED, ANSWERED))
    role = (
        "You are a reviewer of code.\n\nReview the diff of the parser and name what is wrong in it."
    )
    capture(house, app, "job", 1, (role, "The parser of the diff drops its last line where no newline ends it."))  # fmt: skip
    told = started(house, app)
    assert "whole cents" in told and "parser" not in told


def test_only_what_was_said_again_is_a_standing_rule(
    house: ServiceHouse, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's word of several sessions, with how many and on which day of this machine's last; a copy of a
    transcript is no other."""
    rule = "I prefer tabs over spaces in the Makefiles of this project."
    capture(
        house,
        app,
        "a",
        0,
        (rule, "Understood: the Makefiles have tabs from now on, as their syntax wants it."),
    )
    capture(house, app, "b", 2, (ASKED, ANSWERED))
    assert "said in" not in started(house, app, "s1")
    capture(
        house,
        app,
        "copy",
        0,
        (rule, "Understood: the Makefiles have tabs from now on, as their syntax wants it."),
    )
    assert "said in" not in started(house, app, "s2")
    capture(
        house,
        app,
        "c",
        1,
        (rule, "Understood: the Makefiles have tabs from now on, as their syntax wants it."),
    )
    told = started(house, app, "s3")
    assert "prefer tabs over spaces" in told and "said in 2 sessions, last 2026-05-02" in told
    if hasattr(time, "tzset"):
        days = set()
        for zone in ("Etc/GMT-14", "Etc/GMT+12"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            told = started(house, app, zone)
            days.add(told.partition("said in 2 sessions, last ")[2][:10])
        monkeypatch.undo()
        time.tzset()
        assert len(days) == 2


def test_a_rule_that_reaches_beyond_its_session_is_told(house: ServiceHouse, app: Path) -> None:
    """Said once, wherever its "always" stands; a wish for the moment is over."""
    rule = (
        "When posting comments on pull requests, always include a note that a program wrote them."
    )
    wish = "Please paint the button of the form green and the frame of it blue."
    capture(house, app, "a", 0, (rule, "Understood, each comment on a pull request names its author from here."), (wish, "The button of the form is green and its frame is blue now."))  # fmt: skip
    capture(house, app, "b", 1, (ASKED, ANSWERED))
    told = started(house, app)
    assert "always include a note" in told and "button" not in told


@pytest.mark.parametrize(("year", "is_told"), [(2026, False), (2096, True)])
def test_a_rule_is_told_until_the_day_that_it_names(
    house: ServiceHouse, app: Path, year: int, is_told: bool
) -> None:
    rule = f"Until 2 May {year} never merge anything into the release branch without Ines."
    capture(house, app, "a", 0, (rule, "Understood, nothing is merged into it without her."))
    capture(house, app, "b", 4, (ASKED, ANSWERED))
    assert ("without Ines" in started(house, app)) is is_told


@pytest.mark.parametrize(
    ("last", "days", "is_told"),
    [(1, 2, True), (1, 9, False), (365, 367, True), (365, 374, False)],
)
def test_a_rule_of_several_sessions_is_over_when_its_day_is(
    house: ServiceHouse, app: Path, last: int, days: int, is_told: bool
) -> None:
    """Of the year in which it was said last."""
    rule = "Until 6 May never merge anything into the release branch without Ines."
    for name, day in (("a", 0), ("b", last)):
        capture(house, app, name, day, (rule, "Understood, nothing is merged into it without her."))
    capture(house, app, "c", last + 1, (ASKED, ANSWERED))
    house.time = START + timedelta(days=days)
    assert ("without Ines" in started(house, app)) is is_told


@pytest.mark.parametrize(
    ("kind", "more", "is_told"),
    [
        ("note", {}, False),
        ("preference", {}, False),
        ("todo", {}, True),
        ("note", {"valid_until": "2026-06-01"}, True),
    ],
)
def test_a_rule_that_was_remembered_is_over_when_its_day_is(
    house: ServiceHouse, app: Path, kind: str, more: dict[str, str], is_told: bool
) -> None:
    """Not where it is to be done, or another end was given."""
    house.time = START
    about = {"project": str(app), "kind": kind, **more}
    door(house.ctx, "remember", {"text": "Never merge without Ines until 6 May.", **about})
    house.time = START + timedelta(days=4)
    assert "without Ines" in started(house, app, "before")
    house.time = START + timedelta(days=9)
    assert ("without Ines" in started(house, app, "after")) is is_told


@pytest.mark.parametrize(("hours", "is_told"), [(-4, True), (9, False)])
def test_the_day_of_a_rule_ends_where_the_user_is(
    house: ServiceHouse, app: Path, hours: int, is_told: bool
) -> None:
    """In New York it is still 21:00 of that day when it is over in London, and in Tokyo the next morning before."""
    capture(house, app, "a", 0, ("Until 6 May never merge anything into the release branch without Ines.", "Understood, nothing is merged into it without her."))  # fmt: skip
    capture(house, app, "b", 1, (ASKED, ANSWERED))
    house.time = datetime(2026, 5, 7, 1, tzinfo=timezone.utc) - timedelta(hours=0 if is_told else 2)
    zone = timezone(timedelta(hours=hours))
    house.ctx.local_now = lambda: house.time.astimezone(zone)
    assert ("without Ines" in started(house, app)) is is_told


def test_rules_are_told_together(house: ServiceHouse, app: Path) -> None:
    """Each with its day and its id in one note, once in a session; what the client tells itself is left out."""
    rules = (
        "Always write the amounts of the ledger in whole cents, never as floats.",
        "Never edit the files below generated/ by hand, they come from the schema.",
        "From now on every endpoint of the shop needs a rate limit before it is merged.",
    )
    for day, rule in enumerate(rules):
        capture(house, app, f"r{day}", day, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
    capture(house, app, "last", 4, (ASKED, ANSWERED))
    told = started(house, app)
    assert told.count("what the user wants kept to") == 1
    (head,) = (line for line in told.splitlines() if "wants kept to" in line)
    assert head.startswith("- 2026-05-01 to 2026-05-03 · ")
    days = [line.strip() for line in told.splitlines() if line.startswith("  2026")]
    assert days == [f"2026-05-0{day}:" for day in (1, 2, 3)]
    ids = [line.split()[1] for line in told.splitlines() if line.startswith("  - ")]
    assert len(ids) == 3
    kept = [door(house.ctx, "get", {"id": id})["memory"]["text"] for id in ids]
    assert sorted(kept) == sorted(rules)
    assert "wants kept to" not in started(house, app)
    known = frozenset(client_memory.lines_known(rules[1]))
    question = hook_question(house.ctx, "other", str(app))
    texts = "".join(
        one.text
        for one in session_start.start_notes(house.ctx, question, set(), client_sentences=known)
    )
    assert rules[0] in texts and rules[2] in texts and rules[1] not in texts
    # What the client tells takes no room, and does not end the looking for more.
    known = frozenset().union(*map(client_memory.lines_known, rules))
    others = (
        "Never push to the branch of the releases.", "Never print the tokens of the bank.",
        "Never mock the clock of the scheduler.", "Never delete a fixture of the importer.",
    )  # fmt: skip
    for day, rule in enumerate(others, 5):
        capture(house, app, f"n{day}", day, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
        known |= client_memory.lines_known(rule)
    capture(house, app, "new", 0.5, ("Always sign each tag with the offline key.", "Understood, each tag of a release is signed from here."))  # fmt: skip
    notes = session_start.start_notes(house.ctx, question, set(), client_sentences=known)
    assert "sign each tag" in "".join(one.text for one in notes)


def test_many_rules_leave_room_for_what_is_open(house: ServiceHouse, app: Path) -> None:
    """They are many and long, and what is open is told in two short notes at most."""
    rules = (
        "Always write amounts of money in whole cents together with their currency, never as floats, not even in a report or in a test of one.",
        "Never edit the files below generated/ by hand, since they come from the schema, and the next run of the generator takes every change away.",
        "From now on every endpoint of the shop needs a rate limit, a timeout and an owner in the table of services before it is merged to main.",
        "Never run terraform apply from a laptop: only the pipeline applies, and for production only after two of us have approved its plan.",
        "Always give log lines the number of the order and never the name, the address or the mail of a customer, whatever the level of the log.",
        "Tests never mock the database: they start a container of the same version that production has, and clear its tables between two tests.",
        "Always spell colours in the British way in texts that a visitor reads, and in the American way in names of variables and of style sheets.",
        "Never upgrade the kernel of the kiosk screens on a Friday, and always keep the image of the week before on the second partition.",
        "From now on photos are stored as WebP in three widths, and the original goes to the cold bucket, never beside the page that shows it.",
        "Always ask Ingrid before anything in the payroll module changes, even if it is only a comment or the order of two imports.",
        "Never catch an exception without naming its class, and always say in the message what the user can do about it.",
        "Always end the name of a feature branch with the number of its ticket, and never push to one that somebody else has begun.",
    )
    for day, rule in enumerate(rules):
        capture(house, app, f"r{day}", day / 4, (rule, "Understood, it is done like that from here on in all files."))  # fmt: skip
    left = "Still to do: the crane of hall seven has no brake test."
    capture(house, app, "open", 5, (ASKED, f"{ANSWERED} {left}"))
    capture(house, app, "last", 6, ("Paint the button of the form green, please", "The button of the form is green now, as the style guide wants it."))  # fmt: skip
    house.ctx.settings = replace(house.ctx.settings, start_tokens=600)
    told = started(house, app)
    assert "crane of hall seven" in told
    assert 4 < sum(rule[:40] in told for rule in rules) < len(rules)


def test_rules_of_one_prompt_stand_in_the_order_in_which_they_were_said(
    house: ServiceHouse, app: Path
) -> None:
    """Whichever most likely binds: the one leans on the other."""
    rules = ("Static buffers only, no heap in the drivers.", "Never commit without it running.")
    capture(house, app, "a", 0, (" ".join(rules), "Understood, the drivers have static buffers from here on."))  # fmt: skip
    capture(house, app, "last", 1, (ASKED, ANSWERED))
    told = started(house, app)
    assert likelihood(rules[1]) > likelihood(rules[0])
    assert 0 < told.index(rules[0]) < told.index(rules[1])


def test_an_aside_at_the_end_does_not_hide_what_was_worked_on(
    house: ServiceHouse, app: Path
) -> None:
    """Both are told: it may be a word on that work."""
    capture(
        house,
        app,
        "a",
        1,
        (ASKED, ANSWERED),
        ("did you see the new oscilloscope on the bench, it is loud", "Ha, they are."),
    )
    told = started(house, app)
    assert "oscilloscope" in told and "Before that: " in told and "progress bar" in told


PASTED = "\n".join(
    f'  File "/srv/ledger/part{n}.py", line {n}, in step{n}\n    run_step_{n}(ledger)'
    for n in range(9)
)
DEDUPED = (
    "The orders stand twice since the archive is read beside them. They are deduplicated behind the union now, "
    "and the test of the keys passes."
)


@pytest.mark.parametrize("pasted", ["", f"\n\nTraceback (most recent call last):\n{PASTED}"])
def test_what_was_worked_on_is_told_before_how_it_was_sent_away(
    house: ServiceHouse, app: Path, pasted: str
) -> None:
    """Not the question in between, which touched no file; told whole it does not come again with a prompt, and what was
    pasted is not told."""
    talk = Talk("last", cwd=str(app), timestamp=START.isoformat())
    talk.user(f"The export of the orders lists them twice, find out why.{pasted}")
    talk.edit(str(app / "orders.py"), "union(rows)", "distinct(union(rows))")
    talk.say(DEDUPED)
    talk.user("What is the difference between a snapshot and an incremental model, for my slide?")
    talk.say(
        "A snapshot records how the rows of a source changed over time, an incremental model only saves work."
    )
    talk.user("open a pull request, a draft please")
    talk.call("Bash", command="gh pr create --draft --fill")
    talk.result("https://github.com/example/app/pull/41")
    talk.say("It is open: https://github.com/example/app/pull/41")
    captured_of(house.ctx, talk.write(app / "last.jsonl"), str(app), final=True)
    house.follow()
    told = started(house, app)
    assert "draft" in told and "deduplicated behind the union" in told and "snapshot" not in told
    scope = Scope(projects=(house.ctx.place(str(app)).id,))
    (end,) = last_session.ends([house.ctx.global_shelf()], scope)
    assert bool(last_session.in_short(end, "app", 300).also) == (not pasted)


def test_a_task_that_succeeded_is_not_told_as_failed(house: ServiceHouse, app: Path) -> None:
    """How it ended counts, in however few words: in its exchange, in the next one, and in one that only goes on."""
    failed = "The upload failed: the host of the archive refuses the connection on port 22, so nothing of the catalogue was uploaded."
    asked = "please upload the catalogue of the spring to the archive"
    thanks = ("great work today, see you tomorrow at the office then", "See you!")

    def told(name: str, *exchanges: tuple[str, ...]) -> tuple[str, str]:
        folder = app / name
        folder.mkdir()
        talk = Talk(name, cwd=str(folder), timestamp=START.isoformat())
        for number, (prompt, *answers) in enumerate(exchanges):
            talk.user(prompt)
            for part, answer in enumerate(answers):
                if answer != "See you!":
                    talk.call("Bash", f"t{number}{part}", command="make upload")
                    talk.result("ok", f"t{number}{part}")
                talk.say(answer)
        captured_of(house.ctx, talk.write(folder / "t.jsonl"), str(folder), final=True)
        house.follow()
        resumed = door(house.ctx, "resume", {"project": str(folder)})["session"]
        return started(house, folder, name + "-now"), resumed["answered"]

    start, ended = told("one", (asked, failed, "Solved, uploaded."))
    assert "Solved, uploaded" in start and ended.endswith("Solved, uploaded.")
    start, _ = told("two", (asked, failed), ("the vpn was off, try it", "Uploaded."), thanks)
    assert "catalogue was uploaded.\n  Uploaded." in start
    start, ended = told("three", (asked, failed), ("try again", "Uploaded."))
    assert "Uploaded." in start and ended.endswith("catalogue was uploaded.\nUploaded.")


def test_what_a_start_told_of_the_work_before_an_aside_does_not_come_again(
    house: ServiceHouse, app: Path
) -> None:
    """A prompt about that work is given nothing that the start has told whole."""
    aside = ("did you see the new oscilloscope on the bench, it is loud", "Ha, they are.")
    capture(house, app, "a", 1, (ASKED, ANSWERED), aside)
    assert "progress bar" in prompted(house, app, ASKED, "other")
    assert "progress bar" in started(house, app)
    assert "progress bar" not in prompted(house, app, ASKED)


def test_a_session_that_is_resumed_is_not_told_its_own_rules(
    house: ServiceHouse, app: Path
) -> None:
    """They stand in the conversation that it goes on with; another session is told them."""
    rule = "Always round the totals of the ledger to whole cents, never down."
    capture(house, app, "mine", 0, (rule, "Understood: the totals are always rounded to cents."))
    assert "whole cents" not in started(house, app, "mine", "resume")
    assert "whole cents" in started(house, app, "another", "resume")
    assert "whole cents" in started(house, app, "mine", "clear")


def test_a_question_after_which_the_user_went_on_is_not_open(
    house: ServiceHouse, app: Path
) -> None:
    """However short its answer was; what is still to be done stays."""
    question = "Which name shall our newsletter of the flower shop have in the end?"
    todo = "TODO: the voucher of the flower shop needs the new logo from the agency."
    capture(house, app, "a", 1, (question, "Flower mail."), (todo, "Noted: the voucher is to get the new logo of the agency later."), (ASKED, ANSWERED))  # fmt: skip
    told = started(house, app)
    assert "newsletter" not in told and "voucher" in told
    left = [one["text"] for one in door(house.ctx, "resume", {"project": str(app)})["open"]]
    assert any("voucher" in text for text in left) and not any("newsletter" in one for one in left)


def test_what_is_open_is_told_until_it_is_taken_up(house: ServiceHouse, app: Path) -> None:
    """What the last sessions left to do; a problem is none."""
    todo = "TODO: the backup of the invoices needs a checksum for each archive."
    capture(house, app, "a", 0, ("Write the backup of the invoices as archives", f"The archives are written by the nightly job now. {todo}"))  # fmt: skip
    capture(house, app, "b", 1, ("Please explain how the gateway picks its port", "The gateway takes the port from its settings, then the first free one above 8000."))  # fmt: skip
    assert "needs a checksum" in started(house, app, "s1")
    capture(house, app, "c", 1.2, ("Now the checksum for each archive of the invoices' backup, please", "Each archive of the backup of the invoices has its checksum beside it now."))  # fmt: skip
    assert "needs a checksum" not in started(house, app, "s2")


def test_a_first_prompt_that_points_back_is_given_the_end(house: ServiceHouse, app: Path) -> None:
    """Whether it needs a search or not; no greeting, no choice, no second prompt, nothing of long ago."""
    long_answer = " ".join(
        f"Step {n} rewrites the totals of month {n} in one transaction." for n in range(30)
    )
    capture(house, app, "last", 1, (ASKED, f"{long_answer} {ANSWERED}"))
    assert "whole cents" in started(house, app, "n0")
    for number, prompt in enumerate(("continue", "do the previous one", "ok, go ahead please")):
        told = prompted(house, app, prompt, f"n{number}")
        assert "progress bar" in told and fence.tokens(told) <= 350, prompt
    for prompt in ("hello", "thanks", "b", "commit it all"):
        assert prompted(house, app, prompt, "other") == ""
    assert prompted(house, app, "continue", "other", before="Shall I go on?") == ""
    house.time += timedelta(days=30)
    assert prompted(house, app, "continue", "late") == ""


def test_who_goes_on_at_once_in_a_new_session_is_given_the_end(
    house: ServiceHouse, app: Path
) -> None:
    """A short first prompt of which nothing is found, minutes after; no second one, nothing an hour after."""
    capture(house, app, "last", 1, (ASKED, ANSWERED))
    short = "translate the privacy page into Danish"
    house.time = START + timedelta(days=1, minutes=5)
    # From here on nothing that a search finds is worth telling.
    house.ctx.settings = replace(house.ctx.settings, threshold=1.0, adapt_threshold=False)
    assert "· last session ·" in prompted(house, app, short, "soon")
    assert prompted(house, app, short, "third", before="Tests pass.") == ""
    house.time += timedelta(hours=1)
    assert prompted(house, app, short, "later") == ""


def test_what_the_start_told_whole_is_not_told_again(house: ServiceHouse, app: Path) -> None:
    """A part of it is."""
    capture(
        house,
        app,
        "last",
        1,
        (ASKED, "The migration of the totals to whole cents is written and tested."),
    )
    assert "tested" in started(house, app)
    assert prompted(house, app, "continue") == ""


def test_who_comes_back_after_weeks_is_told_what_is_of_the_task(
    house: ServiceHouse, app: Path
) -> None:
    """The first prompt is given what was said of its subject when the project was worked on, and one about
    something else is given nothing."""
    capture(
        house, app, "old", 0, (ASKED, ANSWERED),
        ("Paint the button of the form green, please", "The button of the form is green now, as the style guide wants it."),
    )  # fmt: skip
    house.time = START + timedelta(days=23)
    for session, text, told in (
        ("new", "the migration of the ledger's totals to whole cents fails on negative totals", "migration"),
        ("more", "translate the privacy page into Danish", ""),
    ):  # fmt: skip
        asked = hook_question(house.ctx, session, str(app), text)
        given = prompt_recall.on_prompt(house.ctx, asked)
        assert ("written and its twelve tests pass" in given) is bool(told)
        assert bool(given) is bool(told)


def test_a_rule_that_reaches_beyond_its_session_is_told_once_it_was_said(
    house: ServiceHouse, app: Path
) -> None:
    """ "From now on" is meant for later sessions, and what was asked in the end waits for its answer there."""
    capture(
        house, app, "a", 0,
        ("From now on always run the linter of the ledger before each commit.", "The linter of the ledger runs before each commit from here on."),
        ("Write the import of the bank's statements", "The import of the bank's statements is written. Open question: which encoding do the older statements of the bank have?"),
    )  # fmt: skip
    capture(house, app, "b", 1, (ASKED, ANSWERED))
    told = started(house, app, "s1")
    assert "always run the linter" in told
    assert "which encoding do the older statements" in told


def test_what_cannot_hold_together_is_marked_at_a_start(house: ServiceHouse, app: Path) -> None:
    """Each of both tells the other, until the user has said which of them holds."""
    for text in ("Use tabs", "Do not use tabs, use spaces"):
        done = door(
            house.ctx, "remember", {"text": text, "project": str(app), "kind": "preference"}
        )
        house.follow()
    assert done["links"], "the newer one is linked to the older one"
    told = started(house, app, "s1")
    assert told.count("contradicts the ") == 2
    found = door(house.ctx, "recall", {"query": "tabs or spaces?", "project": str(app)})["hits"]
    assert [bool(hit.get("contradicts")) for hit in found if hit["fits"]] == [True, True]


REPORT = (
    "I looked at the sums. Three things are wrong:\n1. Totals are rounded twice.\n"
    "2. The invoices have no index, so that their page takes seconds.\n3. Refunds count as sales.\n"
    "The proper fix for the rounding is to keep whole cents; for now I rounded once more."
)


@pytest.mark.parametrize(
    ("prompt", "told", "not_told"),
    [
        ("do the proper fix", "keep whole cents", ""),
        ("Go on with item 2 of your report", "no index", "counts as sales"),
        ("take item 7", "", "Three things"),
    ],
)
def test_what_a_first_prompt_points_at_is_found_before_the_last_exchange(
    house: ServiceHouse, app: Path, prompt: str, told: str, not_told: str
) -> None:
    """The start told the last exchange, and the report stands before it: hours later only what is named comes."""
    capture(
        house, app, "last", 0,
        ("Why are the sums of the ledger wrong?", REPORT),
        ("Paint the button of the form green", "The button of the form is green now, in the shade of the style guide, with its focus ring, hover state and disabled colour."),
    )  # fmt: skip
    house.pass_time(days=1)
    start = started(house, app)
    assert "button" in start and "Three things" not in start
    found = prompted(house, app, prompt)
    assert (told in found) if told else (found == "")
    assert not not_told or not_told not in found


RULE, LIFTED = "Never push to the main branch.", "Pushing to the main branch is allowed again."


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        (LIFTED, True),
        ("The main branch is green. " + LIFTED, True),
        ("Pushing to the main branch is broken since Monday.", False),
        ("You may push to the main branch this once.", False),
        ("Is pushing to the main branch allowed again?", False),
        ("Push to the main branch now.", False),
    ],
)
def test_a_rule_comes_with_what_lifted_it(
    house: ServiceHouse, app: Path, said: str, is_told: bool
) -> None:
    """However long ago both were said."""
    capture(house, app, "a", 0, (RULE, "Understood, nothing is pushed there."))
    capture(house, app, "b", 2, (said, "Understood."))
    capture(house, app, "c", 4, (ASKED, ANSWERED))
    journal = house.ctx.global_shelf().journal
    for memory in list(journal.iter_memories(Scope(sessions=("b",)))):
        journal.update(replace(memory, tier=Tier.COLD))
    (line,) = (line for line in started(house, app).splitlines() if RULE in line)
    assert (f"User, then, 2026-05-03: {LIFTED}" in line) is is_told
    assert is_told or "then" not in line


@pytest.mark.parametrize("by", ["agent", "user"])
def test_nobody_lifts_a_rule_in_the_users_name(house: ServiceHouse, app: Path, by: str) -> None:
    """What names the user as its speaker is his words where a session was read alone."""
    capture(house, app, "a", 0, (RULE, "Understood, nothing is pushed there."))
    capture(house, app, "c", 4, (ASKED, ANSWERED))
    house.time = START + timedelta(days=5)
    talk = {
        "text": f"User: {LIFTED}",
        "kind": "exchange",
        "session": "z",
        "speaker": "user",
        "seq": 1,
    }
    about = {"project": str(app), "cwd": str(app), "actor": by}
    door(house.ctx, "remember", {**talk, **about})
    lines = app / "talk.jsonl"
    lines.write_text(json.dumps({**talk, "source": {"path": "/t/z.jsonl", "lines": [1, 2]}}) + "\n")
    door(house.ctx, "import", {"path": str(lines), **about})
    (line,) = (line for line in started(house, app).splitlines() if RULE in line)
    assert "User, then" not in line


def test_a_rule_that_is_said_again_holds_again(house: ServiceHouse, app: Path) -> None:
    for day, said in enumerate((RULE, LIFTED, RULE, ASKED)):
        capture(house, app, f"s{day}", day, (said, "Understood."))
    told = started(house, app)
    assert RULE in told and "then, 2026" not in told


def test_a_standing_rule_comes_with_what_lifted_it(house: ServiceHouse, app: Path) -> None:
    for day, said in enumerate((RULE, RULE, LIFTED, ASKED)):
        capture(house, app, f"s{day}", day, (said, "Understood."))
    assert f"{RULE} · User, then, 2026-05-03: {LIFTED}" in started(house, app)


def test_no_answer_hides_a_rule(house: ServiceHouse, app: Path) -> None:
    """Not though it has nearly all of its words; one that the last session said itself is told once."""
    capture(house, app, "a", 0, (RULE, "Understood, it is done like that from here on."))
    first = started(house, app)
    assert first.count(RULE.rstrip(".")) == 1, first
    capture(house, app, "b", 2, (ASKED, "The totals are whole cents now. " + LIFTED))
    told = started(house, app, "later")
    assert LIFTED in told and told.count(RULE) == 1 and "User, then" not in told


@pytest.mark.parametrize(
    "answer",
    [
        'The rule "never push to the main branch" is gone from the docs: you may push again.',
        "I no longer think that you should never push to the main branch.",
    ],
)
def test_no_answer_hides_a_rule_that_it_quotes(house: ServiceHouse, app: Path, answer: str) -> None:
    capture(house, app, "a", 0, (RULE, "Understood, it is done like that from here on."))
    capture(house, app, "b", 2, (ASKED, "The totals are whole cents now. " + answer))
    assert started(house, app, "later").count(RULE) == 1


def test_one_correction_of_two_is_told(house: ServiceHouse, app: Path) -> None:
    """The last one: what it took the place of is no news."""
    rule = "Never push more than 3 commits to main."
    talk = (
        (rule, "Understood, 3 at most are pushed."),
        ("3 is too few, make it 8 commits.", "It is 8 now."),
        ("no, not 8 commits, make it 5 commits", "It is 5 commits now."),
    )
    capture(house, app, "a", 0, *talk)
    capture(house, app, "b", 9, (ASKED, ANSWERED))
    told = started(house, app, "later")
    line = next(line for line in told.splitlines() if rule in line)
    assert line.endswith("User, then: no, not 8 commits, make it 5 commits")
    assert "make it 8 commits" not in line


def test_what_lifts_a_rule_stands_behind_its_correction(house: ServiceHouse, app: Path) -> None:
    """Both are told: each may say what the other does not."""
    rule, corrected = "Never push more than 3 commits to main.", "3 is too few, make it 8 commits."
    lifted = "You may push more than 3 commits to main now."
    capture(
        house, app, "a", 0, (rule, "Understood, 3 at most are pushed."), (corrected, "It is 8 now.")
    )
    capture(house, app, "b", 2, (lifted, "Understood."))
    capture(house, app, "c", 4, (ASKED, ANSWERED))
    told = started(house, app)
    assert f"{rule} · User, then: {corrected} · User, then, 2026-05-03: {lifted}" in told
