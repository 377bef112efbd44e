"""What was made is not told without what became of it, whatever the words: its lines were changed."""

from __future__ import annotations

import json
from pathlib import Path

from service_house import ServiceHouse, captured_of, door, exported, hook_question
from transcript_samples import Talk

from vector_memory.model import WROTE
from vector_memory.service.inject import session_start
from vector_memory.service.inject.prompt_recall import notes_of, on_prompt
from vector_memory.service.memory import lookup
from vector_memory.service.memory.rewritten_lines import MOST_LOOKED_AT
from vector_memory.text import fence

MADE = (
    "have the belt run every 10 minutes while the oven is hot",
    "The belt runs every 10 minutes while the oven is hot, by `belt_interval_s` in `oven.toml`.",
    ("", "belt_interval_s = 600"),
)
CHANGED = (
    "15 will do",
    "Changed: `belt_interval_s` is 900, so that the belt runs every 15 minutes while the oven is hot.",
    ("belt_interval_s = 600", "belt_interval_s = 900"),
)
AGAIN = (
    "hm make that 20",
    "Now the belt runs every 20 minutes: `belt_interval_s` is 1200.",
    ("belt_interval_s = 900", "belt_interval_s = 1200"),
)
QUESTION = "how often does the belt run while the oven is hot?"
Exchange = tuple[str, str, tuple[str, str]]


def capture(house: ServiceHouse, folder: Path, name: str, *talk: Exchange) -> None:
    """Store a session of its own day."""
    said = Talk(name, cwd=str(folder), timestamp=house.time.isoformat())
    for number, (prompt, answer, (old, new)) in enumerate(talk):
        said.user(prompt)
        said.call("Edit", f"t{number}", file_path=str(folder / "oven.toml"), old_string=old, new_string=new)  # fmt: skip
        said.result("ok", f"t{number}")
        said.say(answer)
    captured_of(house.ctx, said.write(folder / f"{name}.jsonl"), str(folder), final=True)
    house.follow()
    house.pass_time(days=2)


def recalled(house: ServiceHouse, folder: Path) -> str:
    """Return what `recall` gives of the exchange that made it."""
    hits = door(house.ctx, "recall", {"query": QUESTION, "project": str(folder)})["hits"]
    return "\n".join(str(hit["text"]) for hit in hits if "10 minutes" in hit["text"])


def test_a_later_session_that_changed_it_is_told_with_it(house: ServiceHouse, app: Path) -> None:
    """With its day and its words, to who asks."""
    capture(house, app, "first", MADE)
    day = house.time.date()
    capture(house, app, "second", CHANGED)
    assert f"Changed since, {day}, User: {CHANGED[0]}\nAssistant: {CHANGED[1]}" in recalled(house, app)  # fmt: skip


def test_a_prompt_is_given_both(house: ServiceHouse, app: Path) -> None:
    """Within its budget: as two notes, or one behind the other."""
    capture(house, app, "first", MADE)
    capture(house, app, "second", CHANGED)
    told = on_prompt(house.ctx, hook_question(house.ctx, "now", str(app), QUESTION))
    assert "15 minutes" in told and fence.tokens(told) <= house.ctx.settings.prompt_tokens


def test_in_the_same_session_too_and_the_last_word_counts(house: ServiceHouse, app: Path) -> None:
    capture(house, app, "first", MADE, CHANGED)
    capture(house, app, "second", AGAIN)
    assert f"User: {AGAIN[0]}" in recalled(house, app)
    assert CHANGED[0] not in recalled(house, app)


def test_what_was_before_follows_nothing(house: ServiceHouse, app: Path) -> None:
    """The later one is the newer; and what changed the lines for something else says nothing of it."""
    capture(house, app, "first", MADE)
    other = ("tidy that file up", "Sorted the keys by name, nothing else.", CHANGED[2])
    capture(house, app, "second", other)
    assert "Changed since" not in recalled(house, app)


def test_another_project_changes_nothing(house: ServiceHouse, app: Path, tmp_path: Path) -> None:
    capture(house, app, "first", MADE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    capture(house, elsewhere, "second", CHANGED)
    assert "Changed since" not in recalled(house, app)


def test_what_was_forgotten_is_not_told(house: ServiceHouse, app: Path) -> None:
    capture(house, app, "first", MADE)
    capture(house, app, "second", CHANGED)
    assert "Changed since" in recalled(house, app)
    stored = house.ctx.all_shelves()[0].journal.after(0, 100)
    door(house.ctx, "forget", {"ids": [one.id for one in stored if one.source.session == "second"]})
    assert "Changed since" not in recalled(house, app)


def test_a_rule_whose_lines_were_changed_says_so_at_a_start(house: ServiceHouse, app: Path) -> None:
    rule = "From now on the belt runs every 10 minutes while the oven is hot."
    capture(house, app, "first", (rule, *MADE[1:]))
    day = house.time.date()
    capture(house, app, "second", CHANGED)
    capture(house, app, "last", ("is the oven clean?", "The oven is clean.", ("", "")))
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))
    assert f"{rule} · Changed since, {day}, User: {CHANGED[0]}\n" in told


def test_each_change_is_told_once_and_never_costs_the_last_note(house: ServiceHouse, app: Path) -> None:  # fmt: skip
    """However many of the notes were changed: rather fewer notes than one without what became of it."""
    parts = ("north", "south", "east", "west", "upper", "lower")
    for number, part in enumerate(parts):
        line, changed = f"{part}_belt_s = 600", f"{part}_belt_s = 900"
        made = (f"have the {part} belt run every 10 minutes while the oven is hot", f"The {part} belt runs every 10 minutes while the oven is hot.", ("", line))  # fmt: skip
        later = (f"15 for the {part} one", f"The {part} belt runs every 15 minutes while the oven is hot.", (line, changed))  # fmt: skip
        capture(house, app, f"made-{number}", made)
        capture(house, app, f"later-{number}", later)
    question = hook_question(house.ctx, "now", str(app), "belts and minutes")
    found = lookup.answer(house.ctx, f"every 10 minutes: {' '.join(parts)} belt", question, 60)
    hits = [hit for hit in found.hits if hit.memory.source.session.startswith("made-")][
        : len(parts)
    ]
    notes = notes_of(house.ctx, question, hits, found)
    assert notes and all("Changed since" in note.text for note in notes)
    assert sum(note.tokens for note in notes) <= house.ctx.settings.prompt_tokens


def test_a_line_that_was_changed_often_is_followed_to_its_end(house: ServiceHouse, app: Path) -> None:  # fmt: skip
    capture(house, app, "first", MADE)
    for number in range(1, 8):
        change = (f"belt_interval_s = {500 + 100 * number}", f"belt_interval_s = {600 + 100 * number}")  # fmt: skip
        said = f"Now `belt_interval_s` is {600 + 100 * number} while the oven is hot."
        capture(house, app, f"change {number}", (f"belt step {number}", said, change))
    assert "User: belt step 7" in recalled(house, app)


def test_what_came_after_the_time_that_is_asked_for_is_not_told(house: ServiceHouse, app: Path) -> None:  # fmt: skip
    capture(house, app, "first", MADE)
    until = house.time.isoformat()
    capture(house, app, "second", CHANGED)
    asked = {"query": QUESTION, "project": str(app), "until": until}
    hits = door(house.ctx, "recall", asked)["hits"]
    assert hits and "Changed since" not in str(hits)


def test_a_damaged_row_costs_what_it_tells_alone(house: ServiceHouse, app: Path) -> None:
    capture(house, app, "first", MADE)
    capture(house, app, "second", CHANGED)
    journal = house.ctx.all_shelves()[0].journal
    with journal.connections.writing() as connection:
        connection.execute("UPDATE memories SET extra = substr(extra, 1, length(extra) - 3) WHERE extra LIKE '%took_away%'")  # fmt: skip
    assert MADE[1] in recalled(house, app)


def test_exports_have_no_marks(house: ServiceHouse, app: Path) -> None:
    """Elsewhere nobody needs them, and whoever guesses a line would learn that it stood there."""
    capture(house, app, "first", MADE)
    told = json.dumps(exported(house.ctx, {"project": str(app)}))
    assert MADE[0] in told and WROTE not in told


def test_of_a_long_answer_what_speaks_of_it_is_told(house: ServiceHouse, app: Path) -> None:
    """Not its end, which speaks of something else."""
    answer = (
        "Done: while the oven is hot, by `belt_interval_s` with the gears that came from the bakery in the old town "
        "(`drive/gears/steel.toml`, good until 2029), the belt runs every 15 minutes. The dough was not looked at. "
        "A cold start takes 1.4 s and leaves 96 g of flour in the bowl. I ticked it off in `TODO.md`."
    )
    capture(house, app, "first", MADE)
    capture(house, app, "second", (CHANGED[0], answer, CHANGED[2]))
    assert "every 15 minutes" in recalled(house, app)


def test_what_an_answer_says_of_the_number_is_told(house: ServiceHouse, app: Path) -> None:
    """Though other sentences have more of the words that were said."""
    answer = (
        "It is 15 now instead of 10. The belt's tests pass, and the lamp of the hall is off in the tests as it was "
        "before, by the fake clock of the hall. The hall was not changed: the belt and the minutes that it runs while "
        "the oven is hot are told in the list of the hall, which I left alone as you said last week about lamps."
    )
    capture(house, app, "first", MADE)
    capture(house, app, "second", ("longer please", answer, CHANGED[2]))
    assert "Assistant: It is 15 now instead of 10." in recalled(house, app)


def test_of_a_task_that_changed_it_no_empty_words_are_told(house: ServiceHouse, app: Path) -> None:
    """They are nobody's: a program wrote them."""
    capture(house, app, "first", MADE)
    said = Talk("second", cwd=str(app), timestamp=house.time.isoformat(), isSidechain=True)
    said.user(f"{MADE[0]}, but every 15 minutes")
    said.call("Edit", file_path=str(app / "oven.toml"), old_string=CHANGED[2][0], new_string=CHANGED[2][1])  # fmt: skip
    said.result("ok")
    captured_of(house.ctx, said.write(app / "second.jsonl"), str(app), final=True)
    house.follow()
    assert "Changed since" not in recalled(house, app)


def test_of_what_is_changed_all_the_time_the_newest_changes_are_looked_at(
    house: ServiceHouse, app: Path
) -> None:
    """A line that is set to and fro a thousand times would take too long."""
    capture(house, app, "first", MADE)
    capture(house, app, "second", CHANGED)
    others = [(f"build {number} please", "Set.", CHANGED[2]) for number in range(MOST_LOOKED_AT)]
    capture(house, app, "third", *others[1:])
    assert CHANGED[0] in recalled(house, app)
    capture(house, app, "fourth", others[0])
    assert "Changed since" not in recalled(house, app)
