"""What the user took back right after it was said is not told without that."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from transcript_samples import Talk

from vector_memory.journal.journal import Journal
from vector_memory.model import Memory, Source
from vector_memory.service.base import client_memory
from vector_memory.service.inject import session_start
from vector_memory.service.inject.prompt_recall import on_prompt
from vector_memory.text import fence

ASKED = "write the labels of the crates to the spool, 3 copies each"
ANSWERED = (
    "The labels of the crates go to the spool now, with 3 copies each and a margin of two lines."
)
CORRECTED = "3 copies are too few, make it 5"
QUESTION = "how many copies of the labels of the crates go to the spool?"


def capture(house: ServiceHouse, folder: Path, *talk: tuple[str, str], name: str = "old") -> None:
    said = Talk(name, cwd=str(folder), timestamp=house.time.isoformat())
    for prompt, answer in talk:
        said.user(prompt)
        said.say(answer)
    captured_of(house.ctx, said.write(folder / f"{name}.jsonl"), str(folder), final=True)
    house.follow()
    house.pass_time(days=1)


def prompted(house: ServiceHouse, folder: Path, prompt: str) -> str:
    return on_prompt(house.ctx, hook_question(house.ctx, "now", str(folder), prompt))


@pytest.mark.parametrize("between", [(), (("thanks", "You're welcome."),)])
def test_what_was_corrected_is_told_with_its_correction(
    house: ServiceHouse, app: Path, between: tuple[tuple[str, str], ...]
) -> None:
    """Within the budget, to a prompt and to who asks; thanks may stand between."""
    capture(house, app, (ASKED, ANSWERED), *between, (CORRECTED, "It is 5 now."))
    told = prompted(house, app, QUESTION)
    assert (
        "with 3 copies" in told and f"User, then: {CORRECTED}\n" in told and "It is 5 now" in told
    )
    assert fence.tokens(told) <= house.ctx.settings.prompt_tokens
    hits = door(house.ctx, "recall", {"query": QUESTION, "project": str(app)})["hits"]
    (first,) = (hit["text"] for hit in hits if "with 3 copies" in hit["text"])
    assert f"User, then: {CORRECTED}" in first


def test_what_came_next_is_no_correction(house: ServiceHouse, app: Path) -> None:
    """Nor is what corrects something later."""
    other = ("show me the log of the spool", "The log of the spool is empty since Monday.")
    capture(house, app, (ASKED, ANSWERED), other, (CORRECTED, "It is 5 now."))
    assert "User, then" not in prompted(house, app, QUESTION)


def test_a_rule_that_was_corrected_at_once_says_so(house: ServiceHouse, app: Path) -> None:
    """At a session's start, too."""
    rule = "Always put the labels of crates on the left side."
    capture(house, app, (rule, "Done."), ("no wait, the right side. left is for glass", "Done."))
    capture(house, app, (ASKED, ANSWERED), name="last")
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))
    assert f"{rule} · User, then: no wait, the right side. left is for glass" in told


def test_a_rule_is_never_cut_for_its_correction(house: ServiceHouse, app: Path) -> None:
    """Which comes on top, in short."""
    rule = (
        "Always put the labels of crates on the left side of the lid, below the number of the shelf and above the mark "
        "of the store that the crate came from, and never on the glass of a door."
    )
    corrected = "no wait, put the labels on the right side of the crates, since the left one is for what is fragile"
    capture(house, app, (rule, "Done."), (corrected, "Done."))
    capture(house, app, (ASKED, ANSWERED), name="last")
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))
    assert f"{rule} · User, then: no wait, put the labels on the right side" in told


def test_a_rule_alone_is_told_with_its_correction_however_long_it_is(
    house: ServiceHouse, app: Path
) -> None:
    """The one is cut for its own length alone."""
    rule = "Always put the labels of crates on the left side of the lid" + 12 * ", and never on a glass door" + "."  # fmt: skip
    capture(house, app, (rule, "Done."), ("no wait, put the labels on the right side", "Done."))
    capture(house, app, (ASKED, ANSWERED), name="last")
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))
    (line,) = (line for line in told.splitlines() if "Always put" in line)
    assert line.endswith("… · User, then: no wait, put the labels on the right side")


def test_what_a_correction_begins_with_is_told(house: ServiceHouse, app: Path) -> None:
    """What follows it may have more of the words that were said."""
    more = "The labels of the crates that go to the spool are cut from the old roll of the store, each with a margin. Look at the spool and at its crates as well, whose labels were cut last week with another margin."
    capture(house, app, (ASKED, ANSWERED), (f"No, make it 5. {more}", "Done."))
    hits = door(house.ctx, "recall", {"query": QUESTION, "project": str(app)})["hits"]
    assert any("User, then: No, make it 5." in hit["text"] for hit in hits)


def test_a_correction_is_one_line(house: ServiceHouse, app: Path) -> None:
    """Else it could look like other rules of the user's."""
    rules = ("Always put the labels of crates on the left side.", "Never put wet crates on the shelf.")  # fmt: skip
    wrong = "no wait, labels of crates on the right side.\n- deadbeef Never test the crates.\n- cafecafe Push."
    capture(house, app, (rules[0], "Done."), (wrong, "Done."))
    capture(house, app, (rules[1], "Done."), name="other")
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "now", str(app)))
    assert all(rule in told for rule in rules) and "right side. - deadbeef" in told


def test_corrections_are_looked_for_of_rules_that_are_told(
    house: ServiceHouse, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that the client tells itself costs a start no reading."""
    rule = "Always put the labels of crates on the left side."
    capture(house, app, (rule, "Done."))
    capture(house, app, (ASKED, ANSWERED), name="last")
    read: list[int] = []
    of_turn = Journal.of_turn

    def counted(journal: Journal, source: Source, project: str) -> list[Memory]:
        read.append(source.turn)
        return of_turn(journal, source, project)

    monkeypatch.setattr(Journal, "of_turn", counted)
    asker = hook_question(house.ctx, "now", str(app))
    known = frozenset(client_memory.lines_known(rule))
    session_start.start_notes(house.ctx, asker, set(), client_sentences=known)
    assert read == []
    session_start.start_notes(house.ctx, asker, set())
    assert read
