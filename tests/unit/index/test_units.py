"""What was said is read out of passages: who said it, where it stands, and what is nobody's word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.units import (
    LONGEST,
    cues,
    form,
    is_change_report,
    is_narration,
    units,
)
from vector_memory.text import harmless

TALK = (
    "User: Let's use Postgres for the queue.\n"
    "Done: Bash: make; Bash: false (failed: ⟦tool output: error: We decided to use Oracle⟧)\n"
    "Assistant: The queue uses Postgres now. It keeps ten connections.",
)


def test_who_said_what() -> None:
    """What was done is nobody's word."""
    told = [(one.speaker, one.text) for one in units(TALK)]
    assert told == [
        ("user", "Let's use Postgres for the queue."),
        ("assistant", "The queue uses Postgres now."),
        ("assistant", "It keeps ten connections."),
    ]


def test_a_voice_goes_on_in_the_next_passage() -> None:
    """A long answer is cut into passages; only the first says whose it is."""
    told = units(["Assistant: The queue uses Postgres.", "The pool has ten connections there."])
    assert [one.speaker for one in told] == ["assistant", "assistant"]
    assert told[1].before == ("The queue uses Postgres.",)


def test_what_was_pasted_is_nobodys_word() -> None:
    """Nor is a program's task, a command, or code."""
    pasted = harmless.between_marks("We decided to use Oracle for everything.", harmless.PASTED)
    passage = (
        f"User: Please keep the old log format.\n{pasted}\n"
        "Task: Always answer in three sentences.\nAssistant: ```\nwe decided to use this\n```"
    )
    assert [one.text for one in units([passage])] == ["Please keep the old log format."]
    assert units(["User: /model opus for the rest of today"]) == []


def test_whether_it_was_answered() -> None:
    """By something of substance, later in the exchange."""
    asked = "User: Why does the nightly build skip the browser tests?\n"
    assert units([asked + "Assistant: " + "The browsers are missing there. " * 2])[0].is_answered
    assert units([asked + "Assistant: No browsers."])[0].is_answered
    assert not units([asked + "Assistant: Let me look."])[0].is_answered
    assert not units([asked + "Assistant: No browsers.\nUser: And why?"])[0].is_answered


def test_whether_anything_was_run() -> None:
    """After it in the exchange: words alone do nothing."""
    asked = "User: TODO: the export needs a checksum.\n"
    assert not units([asked + "Assistant: Noted, the export is to have a checksum later."])[
        0
    ].has_work
    assert units([asked + "Done: Bash: make checksums\nAssistant: It has one."])[0].has_work


def test_a_short_sentence_is_in_the_language_of_what_it_stands_in() -> None:
    """Alone too few of its words tell; what is plainly English stays so."""
    short = "Tests nie gegen Postgres."
    talk = (
        "User: "
        + short
        + "\nAssistant: Verstanden, die Testläufe benutzen künftig immer SQLite statt Postgres, lokal wie auf dem Server. Die Datenbank bleibt dabei unberührt, solange niemand sie ausdrücklich verlangt. This is what the docs say of it."
    )
    own, *_, english = units([talk])
    assert (own.is_foreign, english.is_foreign) == (True, False)
    assert cues(own)["rules"]
    assert not units(["User: " + short])[0].is_foreign


@pytest.mark.parametrize(
    ("said", "answer", "answered", "deferred"),
    [
        ("do carts expire? have to ask Lena", "Then the flag stays off until she has said something.", False, True),
        ("Verfallen Körbe? Das muss Lena entscheiden.", "Gut, dann bleibt der Schalter vorerst aus.", False, True),
        ("do carts expire?", "I don't know either: the code says nothing of it, and neither do the docs.", False, False),
        ("do carts expire? no clue", "They expire after thirty days, the nightly job removes them.", True, False),
        ("do carts expire? will you check", "They do, after thirty days: I looked at the nightly job.", True, False),
    ],
)  # fmt: skip
def test_who_does_not_know_answers_nothing(
    said: str, answer: str, answered: bool, deferred: bool
) -> None:
    """Neither the assistant, nor the user, who says whom he has to ask: then that belongs to the question."""
    question = units([f"User: {said}\nAssistant: {answer}"])[0]
    assert (question.is_answered, question.is_deferred) == (answered, deferred)
    assert ("Lena" in question.text) is deferred


def test_form_is_known_whatever_the_language() -> None:
    """A question has a mark, an item its heading."""
    (asked,) = units(["User: Wieso läuft der Export nachts nicht mehr?"])
    assert form(asked)["asked"] and cues(asked)["wonders"]
    item = form(units(["Assistant: Offen:\n- [ ] Export nachts prüfen"])[0])
    assert item["item"] and item["headed"] and item["open box"]


def test_turns_of_phrase_stand_in_the_sentence_or_its_heading() -> None:
    """Those of headings have names of their own."""
    one, other = units(
        [
            "Assistant: Next steps:\n- exports of empty projects\n\nWe always use pnpm, since npm hoists."
        ]
    )
    assert [name for name, is_there in cues(one).items() if is_there] == ["under next"]
    assert {"rules", "reason", "we"} <= {name for name, is_there in cues(other).items() if is_there}


@given(st.lists(st.text(max_size=900), max_size=4))
def test_any_text_can_be_read(texts: list[str]) -> None:
    """Every sentence has a size and the same features."""
    told = units(f"User: {text}" for text in texts)
    assert all(0 < len(one.text) <= LONGEST for one in told)
    assert len({tuple(form(one)) for one in told}) <= 1


def test_a_sentence_of_which_a_part_was_redacted_is_none() -> None:
    """It stays readable in its passage."""
    said = "User: Use [redacted:password] for the database of the tests. Never print the keys of customers."
    assert [one.text for one in units([said])] == ["Never print the keys of customers."]


def test_english_turns_of_phrase_tell_nothing_of_other_languages() -> None:
    """ "Im Staging" is no "I'm staging"."""
    said = "Gelöst: im Staging gewinnt jetzt die Zeile mit der höheren Version."
    (unit,) = units([f"Assistant: {said}"])
    assert unit.is_foreign
    assert not is_narration(unit)
    (told,) = units(["Assistant: Got it: I'm checking the line of the version that wins now."])
    assert is_narration(told)


def test_what_is_offered_above_a_list_is_no_idea() -> None:
    """Nor what stands in it; under a heading that offers nothing it may be one."""
    lead, item = "If you want, I can do that next:", "- The runner skips agents that are missing."
    (offered,) = units([f"Assistant: {lead}\n\n{item}"])
    (told,) = units([f"Assistant: What the runner does:\n\n{item}"])
    assert is_narration(offered)
    assert not is_narration(told)


@pytest.mark.parametrize(
    "lead",
    [
        "Next steps:",
        "our plan for the rest of the week:",
        "What remains (still open):",
        "Next steps (not done yet):",
        "## TODO (nothing done)",
        "## Offene Punkte (noch nicht erledigt)",
        "## Noch zu tun (keine Eile)",
        "## Da fare (parfait)",
        "## Yapılacaklar (tamamlanmadı)",
        "**待办（未完成）**",
        "## 待办（已确认）",
        "## Missing features",
        "**TODO**",
        "Die Tabelle ist fertig. Nächste Schritte:",
        "## 3. Reste à faire (optionnel)",
        "La tabla está lista.\nPróximos pasos:",
        "**Pendências**:",
        "Таблица готова. Следующие шаги:",
        "目次を作りました。\n次のステップ：",
        "目次を作りました。残作業（案）：",
        "**待办事项**：",
        "목차를 만들었습니다.\n다음 단계:",
    ],
)
def test_items_of_a_list_of_what_is_left_are_open(lead: str) -> None:
    """As good as open boxes; a ticked one is done all the same."""
    said = units(
        [f"Assistant: {lead}\n\n- Replace the cron job by a timer.\n- [x] Rename the old exporter."]
    )
    assert [one.done for one in said[-2:]] == [False, True]


@pytest.mark.parametrize(
    "lead",
    ["Next steps (all done):", "## TODO (nothing left)", "Offene Punkte (bereits erledigt):", "## À faire (rien)",
     "待办（已完成）：", "다음 단계 (모두 완료):", "Next.js rewrites these:", "Offene Ports:", "Los siguientes pasos son:", "Próxima página:", "次の変更を行いました：",
     "残りメモリ：", "下一步已完成：", "다음 파일을 수정했습니다:"],
)  # fmt: skip
def test_items_of_another_list_are_not_open(lead: str) -> None:
    """However its heading begins."""
    (other,) = units([f"Assistant: {lead}\n\n- The route of the icons goes to /tokens."])
    assert other.done is None


def test_what_was_changed_is_a_report_unless_a_reason_is_given() -> None:
    """In which file it was does not matter, whose words they are does."""
    change = "Added the column `rate` to the table of prices."
    for said in (change, f"`docs/prices.md` — {change}"):
        assert is_change_report(units([f"Assistant: {said}"])[0])
    assert not is_change_report(
        units([f"Assistant: {change[:-1]}, since the importer needs it."])[0]
    )
    assert not is_change_report(units([f"User: {change}"])[0])
    assert not is_change_report(units(["Assistant: The table of prices has a column `rate`."])[0])
