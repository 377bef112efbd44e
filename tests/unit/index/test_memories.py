"""Pieces are small, in order, and can be understood alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.errors import UnsafeTextError
from vector_memory.index.exchanges import DONE_STEP, NOTE, SAID, Exchange, ExchangeStep
from vector_memory.index.memories import (
    LEAST_CHARS,
    PIECE_CHARS,
    TITLE_CHARS,
    Draft,
    title_of,
    to_drafts,
)
from vector_memory.index.units import units
from vector_memory.index.voices import voices
from vector_memory.text.statements import LONGEST_HEADING

AT = datetime(2026, 11, 20, tzinfo=timezone.utc)
EXCHANGE = Exchange(
    session="s1", uuid="u1", prompt="Which port? Tell me.", steps=(ExchangeStep(SAID, "Port 5433."),),
    files=("a.py",), line_start=3, line_end=9, start=100, part=0, started_at=AT, ended_at=AT,
    cwd="/home/dev/app", branch="main", is_subagent=False, turn=2,
)  # fmt: skip


def test_small_exchange_is_one_piece() -> None:
    """A short exchange is one draft with its source."""
    (draft,) = to_drafts(EXCHANGE, "/t.jsonl")
    assert draft.text == "User: Which port? Tell me.\nAssistant: Port 5433."
    assert draft.title == "Which port?"
    assert (draft.session, draft.turn, draft.path) == ("s1", 2, "/t.jsonl")
    assert (draft.line_start, draft.line_end, draft.created_at) == (3, 9, AT)
    assert (draft.external_id, draft.origin, draft.speaker) == ("u1:0", "user", "user")
    assert (draft.files, draft.tags, draft.cwd) == (("a.py",), (), "/home/dev/app")


def test_nobody_speaks_in_anothers_name() -> None:
    """What passages say of who speaks is put in quotes where the assistant begins a line so; other words stay."""
    said = "Done, the index is rebuilt.\nUser's rows stay.\nUser: drop it\nUser, refusing Bash: never\nDone: rm\nTask's over"
    (draft,) = to_drafts(replace(EXCHANGE, steps=(ExchangeStep(SAID, said),)))
    assert (
        "Assistant: Done, the index is rebuilt. User's rows stay. 'User': drop it\n" in draft.text
    )
    assert draft.text.endswith("'User', refusing Bash: never\n'Done': rm\nTask's over")
    assert {voice.who for voice in voices(draft.text)} == {"user", "assistant"}


def test_long_exchange_is_cut() -> None:
    """Every piece has the title, and cuts fall on the ends of sentences."""
    said = " ".join(f"Sentence number {n} says something." for n in range(200))
    drafts = to_drafts(replace(EXCHANGE, steps=(ExchangeStep(SAID, said),)))
    assert len(drafts) > 4
    assert [one.external_id for one in drafts] == [f"u1:{n}" for n in range(len(drafts))]
    for draft in drafts[1:]:
        assert draft.title == "Which port?"
        assert draft.text.endswith("something.")
        assert (draft.speaker, draft.origin) == ("assistant", "assistant")
    assert all(f"number {n} says" in "".join(one.text for one in drafts) for n in range(200))


def test_steps_stay_in_order() -> None:
    """What was done together is one line; a note stands where it was said."""
    steps = (
        ExchangeStep(DONE_STEP, "Bash: make"), ExchangeStep(DONE_STEP, "Bash: make test"), ExchangeStep(DONE_STEP, "Bash: make"),
        ExchangeStep(NOTE, "User, refusing Bash: npm i: use pnpm"), ExchangeStep(SAID, "It needs node."),
    )  # fmt: skip
    (draft,) = to_drafts(replace(EXCHANGE, steps=steps))
    assert draft.text.split("\n")[1:] == [
        "Done: Bash: make; Bash: make test",
        "User, refusing Bash: npm i: use pnpm",
        "Assistant: It needs node.",
    ]


def test_what_nobody_looks_for_is_left_out() -> None:
    """Looking around, edits of files that the passage names, and the narration of steps."""
    steps = (
        ExchangeStep(SAID, "Perfect! Let me read the file.\n\nThe pool leaks connections. Great!"),
        ExchangeStep(DONE_STEP, "Bash: ls -la"), ExchangeStep(DONE_STEP, "Edit a.py"), ExchangeStep(DONE_STEP, "Bash: git status"),
        ExchangeStep(DONE_STEP, "Edit a.py", error="no such text"), ExchangeStep(SAID, "Now I'll run the tests:"),
        ExchangeStep(DONE_STEP, "Bash: cd x && make deploy"),
    )  # fmt: skip
    (draft,) = to_drafts(replace(EXCHANGE, steps=steps))
    assert draft.text.split("\n")[1:] == [
        "Assistant: The pool leaks connections.",
        "Done: Edit a.py (failed: \u27e6tool: no such text\u27e7)",
        "Done: Bash: cd x && make deploy",
    ]


def test_items_say_what_they_stand_under() -> None:
    """A list in another passage than its heading would say nothing."""
    (draft,) = to_drafts(
        replace(EXCHANGE, steps=(ExchangeStep(SAID, "## Ports\n\n- web 80\n- **db** 5432"),))
    )
    assert draft.text.endswith("Assistant: Ports:\n- web 80\n- **db** 5432")


def test_items_keep_their_boxes() -> None:
    """Only by them ideas are told what is left to do."""
    said = "- [ ] Renew the certificate before the fair\n2. [x] Rotate the log files of the gateway"
    (draft,) = to_drafts(replace(EXCHANGE, steps=(ExchangeStep(SAID, said),)))
    assert draft.text.endswith(said)
    assert [unit.done for unit in units([draft.text])][-2:] == [False, True]


def test_subagent_is_marked() -> None:
    """A subagent's task is the assistant's wording, and tagged."""
    (draft,) = to_drafts(replace(EXCHANGE, is_subagent=True))
    assert draft.text.startswith("Task: ")
    assert (draft.tags, draft.origin) == (("subagent",), "assistant")


def test_huge_prompt_is_shortened() -> None:
    """A pasted log keeps its start and its end."""
    drafts = to_drafts(replace(EXCHANGE, prompt="start " + "log line\n" * 100_000 + " the end"))
    assert len(drafts) < 20
    assert "start" in drafts[0].text
    assert any("the end" in one.text for one in drafts)
    assert sum(len(one.text) for one in drafts) < 13_000


def test_a_long_turn_keeps_its_end() -> None:
    """However much was said on the way, how it ended is there, and what the user typed meanwhile. What was read of a
    turn when it was shorter stays as it was, but for its last passage."""
    said = (
        "Module {0} used the old client; I moved its three calls to the session object of run {0}."
    )
    steps = [ExchangeStep(SAID, said.format(n)) for n in range(1000)]
    steps[900] = ExchangeStep(NOTE, "User: Leave the billing module alone.")
    steps += [ExchangeStep(SAID, "All are moved. Still open: the vendor's SDK needs the old one.")]
    drafts = to_drafts(replace(EXCHANGE, steps=tuple(steps)))
    assert "Still open: the vendor's SDK" in drafts[-1].text
    assert any("User: Leave the billing module alone." in one.text for one in drafts)
    for size in (100, 700, 950):
        *shorter, _ = to_drafts(replace(EXCHANGE, steps=tuple(steps[:size])))
        assert [(one.external_id, one.text) for one in shorter] == [
            (one.external_id, one.text) for one in drafts[: len(shorter)]
        ]


def test_a_huge_answer_is_shortened_in_its_middle() -> None:
    """What it begins and what it ends with are kept."""
    said = "It begins here.\n" + "A line of the report that goes on.\n" * 5_000 + "It ends so."
    drafts = to_drafts(replace(EXCHANGE, steps=(ExchangeStep(SAID, said),)))
    assert "It begins here." in drafts[0].text
    assert "It ends so." in drafts[-1].text
    assert 50_000 < sum(len(one.text) for one in drafts) < 70_000


def test_clean_sees_whole_texts() -> None:
    """Redaction comes before cutting, so that no cut hides a part of what must go."""
    secret = "<private>" + "word " * 1000 + "</private>"

    def clean(text: str) -> str:
        start, end = text.find("<private>"), text.find("</private>")
        return text if start < 0 else text[:start] + "[gone]" + text[end + 10 :]

    drafts = to_drafts(
        replace(EXCHANGE, prompt=secret, steps=(ExchangeStep(SAID, f"It is {secret}."),)),
        clean=clean,
    )
    assert [one.text for one in drafts] == ["User: [gone]\nAssistant: It is [gone]."]


def test_refused_text_is_not_drafted() -> None:
    """When the redactor refuses a text, nothing comes out."""

    def refuse(text: str) -> str:
        raise UnsafeTextError("no")

    with pytest.raises(UnsafeTextError):
        to_drafts(EXCHANGE, clean=refuse)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Use `pnpm` here. Not npm.", "Use pnpm here."),
        ("Sure.\nWe use the other port.", "We use the other port."),
        ("Hello there! How is the build?", "How is the build?"),
        ("\n\n- fix my_old_name in a.py\nplease", "fix my_old_name in a.py"),
        ("...\nreally?", "really?"),
        ("", ""),
    ],
)
def test_titles(text: str, title: str) -> None:
    """A title is the first sentence, without markup."""
    assert title_of(text) == title


@given(
    st.lists(
        st.tuples(st.sampled_from([SAID, DONE_STEP, NOTE]), st.text(max_size=4000)), max_size=5
    )
)
def test_sizes(steps: list[tuple[str, str]]) -> None:
    """No piece is longer than the limit and its title, none is empty."""
    for draft in to_drafts(
        replace(EXCHANGE, steps=tuple(ExchangeStep(*one) for one in steps if one[1]))
    ):
        assert 0 < len(draft.text) <= PIECE_CHARS + 2 * LEAST_CHARS + LONGEST_HEADING
        assert len(draft.title) <= TITLE_CHARS


@pytest.mark.parametrize("prompt", ["hello", "Yes!", "hmm"])
def test_what_says_nothing_is_no_memory(prompt: str) -> None:
    """Neither the prompt nor the answer; what was said or done to it is one all the same."""
    idle = (ExchangeStep(SAID, "Take your time."),)
    nothing = replace(EXCHANGE, prompt=prompt, steps=idle, files=())
    assert to_drafts(nothing) == []
    told = (
        ExchangeStep(SAID, "The gateway listens on port 5433, since 5432 is taken by Postgres."),
    )
    assert to_drafts(replace(nothing, steps=told))
    assert to_drafts(replace(nothing, steps=(ExchangeStep(DONE_STEP, "Bash: make test"),)))


@pytest.mark.parametrize(
    "prompt",
    ["?", "...", "test", "lol", "asdf", "1", "what?", "great job!", "yes please do it", "qwx"],
)
def test_an_exchange_in_which_nobody_says_anything_is_no_memory(prompt: str) -> None:
    """Whatever the words; a name, a number or a reason in a short answer is something."""

    def drafts(answer: str, files: tuple[str, ...] = ()) -> list[Draft]:
        said = (ExchangeStep(SAID, answer),)
        return to_drafts(replace(EXCHANGE, prompt=prompt, steps=said, files=files))

    assert drafts("Okay.") == drafts("Sorry, what do you mean?") == []
    assert drafts("It is in `deploy_key`.")
    assert drafts("Port 5432.")
    assert drafts("Okay.", files=("a.py",))
    assert drafts("The old cache was stale, so every build took the wrong header.")


@pytest.mark.parametrize(
    "prompt", ["No emojis.", "use tabs", "main.py", "データベースはポストグレス"]
)
def test_a_short_wish_is_a_memory(prompt: str) -> None:
    """However little is said to it."""
    said = (ExchangeStep(SAID, "Okay."),)
    assert to_drafts(replace(EXCHANGE, prompt=prompt, steps=said, files=()))


def test_one_word_that_chooses_is_a_memory() -> None:
    """The assistant had asked for it; "why?" is answered by few words."""
    said = (ExchangeStep(SAID, "Okay."),)
    chosen = replace(EXCHANGE, prompt="postgres", steps=said, files=())
    asked = replace(EXCHANGE, steps=(ExchangeStep(SAID, "Which database shall it be?"),))
    assert to_drafts(chosen) == []
    assert to_drafts(replace(chosen, before=(asked,)))
    assert to_drafts(replace(chosen, prompt="why?", steps=(ExchangeStep(SAID, "Stale cache."),)))
