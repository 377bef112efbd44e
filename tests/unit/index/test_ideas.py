"""Ideas can be understood alone, are known by their words, and say how far to trust them."""

from __future__ import annotations

import pytest

from vector_memory.index.ideas import (
    DONE,
    LONGEST_IDEA,
    MOST_IDEAS,
    Idea,
    ideas,
    self_contained_text,
)
from vector_memory.index.units import Unit, units
from vector_memory.index.voices import voices
from vector_memory.index.worth import Verdict
from vector_memory.model import Priority


def unit(text: str, speaker: str = "assistant", **more: object) -> Unit:
    """Return a sentence as it was said."""
    made = Unit(text, text, speaker, False, "", "", (), None, 0.0)
    return made._replace(**more)  # type: ignore[arg-type]


def kept(one: Unit, intent: str = "decision", worth: float = 0.8) -> tuple[Unit, Verdict]:
    """Return a sentence with the verdict that it is worth keeping."""
    return one, Verdict(intent, worth, True)


def only(one: Unit, intent: str = "decision") -> Idea:
    """Return the idea that a sentence becomes."""
    (idea,) = ideas([kept(one, intent)], "the export of the queue")
    return idea


def test_what_is_said_again_is_the_same_idea() -> None:
    """In other case and without the full stop; other words are another idea."""
    one = only(unit("Let's use Postgres for the queue.", "user"))
    again = only(unit("let's use postgres for the queue", "user"))
    other = only(unit("Let's use Redis for the queue.", "user"))
    assert one.name == again.name != other.name


def test_a_refusal_is_a_preference_that_says_what_was_refused() -> None:
    """The reason alone would say nothing."""
    passage = "User: Set it up, please.\nUser, refusing Bash: npm install: use pnpm"
    refusal = units([passage])[-1]
    idea = only(refusal, "fact")
    assert (idea.text, idea.intent) == ("User, refusing Bash: npm install: Use pnpm", "preference")


@pytest.mark.parametrize(
    ("refused", "reason"),
    [("Bash: npm start", "use port 8080:80 and std::fs"), ("ExitPlanMode", "keep the file: others read it"),
     ("ExitPlanMode", "call std::fs")],
)  # fmt: skip
def test_a_reason_may_have_colons(refused: str, reason: str) -> None:
    """It is all that the user said."""
    (voice,) = voices(f"User, refusing {refused}: {reason}")
    assert (voice.refusal, voice.text) == (f"User, refusing {refused}", reason)


def test_pronouns_take_the_sentence_before() -> None:
    """ "It" alone would say nothing."""
    _, leaning = units(
        ["Assistant: The pool has ten connections. It never closes them because of a bug."]
    )
    assert self_contained_text(leaning, "", ()).startswith("The pool has ten connections. It never")


def test_a_problem_with_a_day_to_come_is_not_settled_by_an_answer() -> None:
    """ "Noted" renews no certificate."""
    asked = unit(
        "The certificate of the gateway has to be renewed by May 9.", "user", is_answered=True
    )
    assert only(asked, "problem").extra == {}
    assert only(asked._replace(has_work=True), "problem").extra == {DONE: True}
    assert only(asked._replace(text="The gateway answers slowly."), "problem").extra == {DONE: True}


def test_a_subject_that_is_the_sentence_itself_is_not_put_before_it() -> None:
    """It would say the same twice."""
    title = "But it does not do the same for the…"
    leaning = unit("but it does not do the same for the tests", "user")
    assert self_contained_text(leaning, title, ()) == ""


def kinds_of_prompt(prompt: str, answer: str) -> list[str]:
    """Return the kinds of the ideas of a prompt whose sentences are all taken to bind."""
    said = units([f"User: {prompt}\nAssistant: {answer}"])
    return [one.intent for one in ideas([kept(one) for one in said]) if one.unit.speaker == "user"]


@pytest.mark.parametrize(
    "found", ["Found it. After each reboot the counter begins", "The cause: the counter begins"]
)
def test_what_a_cause_was_found_of_is_a_report(found: str) -> None:
    """However much it sounds like a rule."""
    answer = f"{found} at zero again, and the server drops what it has seen."
    report = "joins once, after a reboot never again"
    assert kinds_of_prompt(report, answer) == ["problem"]
    assert kinds_of_prompt(report, "The radio joins once now, and waits after that.") == [
        "decision"
    ]
    for rule in (
        "no, never use floats",
        "amounts are integer cents",
        "never floats in here",
        "we join at night",
    ):
        assert kinds_of_prompt(rule, answer) != ["problem"]
    assert kinds_of_prompt(f"Fix the radio first. {report}", answer)[-1] == "decision"
    assert kinds_of_prompt(f"{report}. Please look why.", answer)[0] == "problem"


def test_a_rule_before_a_report_stays_one() -> None:
    """The cause that was found is that of what the other sentence tells."""
    answer = "The root cause was that the lock file of the workspace was stale, as the log says."
    rule = "Secrets never in the logs."
    assert kinds_of_prompt(rule, answer) == ["problem"]
    asked = "And the build is red since this morning, please look why."
    assert "problem" not in kinds_of_prompt(f"{rule} {asked}", answer)


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        ("I put that on the list: the seal of the pump.", False),
        ("I put both on the list: the seal of the pump and a new lamp for the yard.", False),
        ("We still have to mill the groove of the pump for the seal again before winter.", True),
    ],
)
def test_what_a_list_says_is_not_told_again(said: str, is_told: bool) -> None:
    """A sentence that has the words of a box among many others says something of its own."""
    boxes = "Done: TODO.md: [ ] pump seal\nDone: TODO.md: [ ] new lamp for the yard"
    made = ideas([kept(one, "todo") for one in units([f"User: go on\n{boxes}\nAssistant: {said}"])])
    assert [one.text for one in made if not one.unit.file] == [said] * is_told


@pytest.mark.parametrize("rule", ["Never push to main.", "Use tabs, not spaces."])
def test_a_short_rule_of_the_users_stands_alone(rule: str) -> None:
    """What was said before it is another matter, unless the rule points at it."""
    said = "The invoices are sent on Fridays because the bank batches them then."
    *_, last = units([f"User: {said} {rule}"])
    assert self_contained_text(last, "", ()) == rule
    *_, pointing = units([f"User: {said} Never change that."])
    assert self_contained_text(pointing, "", ()) == f"{said} Never change that."


@pytest.mark.parametrize(
    "rule",
    [
        "This is important: never write to the production database from a notebook.",
        "It's important that all queries have a timeout of 30 seconds.",
        "It is really essential that all migrations run on staging first.",
        "That said, we always deploy through the staging branch first.",
        "It goes without saying, but never commit credentials to this repository.",
        "This is important, e-mail addresses must never end up in a notebook's output.",
    ],
)
def test_a_rule_that_few_words_introduce_stands_alone(rule: str) -> None:
    """They point at nothing that was said before."""
    assert self_contained_text(unit(rule, "user"), rule, ()) == rule
    first, last = units([f"User: The invoices are sent on Fridays now. {rule}"])
    assert [one.text for one in ideas([kept(first), kept(last)])] == [first.text, rule]


@pytest.mark.parametrize(
    "text",
    [
        "It is a flag that never reaches the production server.",
        "It fails under load, so always keep the number of workers low.",
        "That said, it must never write to the production database.",
        "They use two queues: one for the mails, one for the invoices.",
        "These, never delete them in the production cluster.",
        "This one, always write it to the data folder.",
        "This, please: never use the legacy uploader.",
        "This is important: never write the results of those to the production database.",
        "It is not true that we always deploy on Fridays.",
        "It is not important that we always deploy on Fridays.",
        "It is unlikely that users must always log in twice.",
        "It's possible that users must always log in twice.",
    ],
)
def test_what_needs_the_sentence_before_takes_it(text: str) -> None:
    """Its first words are about that."""
    said = "The export runs in forty workers of their own."
    *_, last = units([f"User: {said} {text}"])
    assert self_contained_text(last, "", ()) == f"{said} {text}"


def test_a_rule_that_says_a_number_again_takes_the_sentence_before() -> None:
    """There stands what it is the number of."""
    said = "The seed was 7, but the bank wants 4711."
    *_, rule = units([f"User: {said} So please use 4711 everywhere from now on."])
    assert self_contained_text(rule, "", ()) == f"{said} So please use 4711 everywhere from now on."


def test_a_question_is_not_put_before_itself() -> None:
    asked = unit("Which dataframe library do we like?", "user")
    assert (
        self_contained_text(asked, "Hello, which dataframe library do we like?", ()) == asked.text
    )


def test_what_nothing_explains_is_no_idea() -> None:
    """Neither a sentence before nor a title says what it is about."""
    assert self_contained_text(unit("It never closes them."), "", ()) == ""
    assert self_contained_text(unit("It never closes them."), "the pool", ()) == (
        "[the pool] It never closes them."
    )


def test_items_take_their_heading() -> None:
    """A bullet stands under something; a line that ends with a colon is a heading, too."""
    (item,) = units(["Assistant: Open problems:\n- exports fail on empty projects"])
    assert self_contained_text(item, "", ()) == "Open problems: Exports fail on empty projects"


def test_this_file_gets_its_name() -> None:
    """Where only one was in work."""
    text = self_contained_text(
        unit("The issue is that this file never closes its connection."), "", ("src/queue.py",)
    )
    assert "(src/queue.py)" in text


def test_a_question_that_was_answered_is_none() -> None:
    """What is looked up stays a passage; a question that nothing was said to is open."""
    asked = unit("Why does the nightly build skip the browser tests?", "user")
    assert ideas([kept(asked._replace(is_answered=True), "question")]) == []
    assert only(asked, "question").extra == {}


def test_a_todo_that_was_only_taken_note_of_is_open() -> None:
    """It takes more than an answer: something that was run, or a file that was changed."""
    asked = unit("TODO: write a test of the nightly export.", "user", is_answered=True)
    (noted,) = ideas([kept(asked, "todo")])
    (changed,) = ideas([kept(asked, "todo")], files=("tests/test_export.py",))
    (ran,) = ideas([kept(asked._replace(has_work=True), "todo")])
    assert (noted.extra, changed.extra, ran.extra) == ({}, {DONE: True}, {DONE: True})


def test_a_subject_that_is_the_sentence_itself_is_not_said_twice() -> None:
    """However it is written."""
    assert (
        self_contained_text(unit("hundred reads passed."), "hundred reads passed…", ())
        == "Hundred reads passed."
    )


@pytest.mark.parametrize("intent", ["question", "todo", "problem"])
def test_the_answer_of_a_form_leaves_nothing_open(intent: str) -> None:
    """The assistant asked it, in the middle of its work; what the user chose is a decision as before."""
    said = unit('If not, we need another way to read the tool calls."="No / Not sure"', "user")
    assert ideas([kept(said, intent)]) == []
    assert [idea.intent for idea in ideas([kept(said, "decision")])] == ["decision"]


def test_a_ticked_box_is_done_and_an_open_one_is_not() -> None:
    """Whatever the words are like."""
    done, left = units(["Assistant: - [x] document the retry flag\n- [ ] wire up the exporter"])
    assert (only(done).intent, only(left).intent) == ("solution", "todo")
    assert only(left).extra == {}


def test_a_problem_that_the_same_answer_mends_is_not_open() -> None:
    """One that nothing is said to is."""
    problem = kept(unit("The worker never closes its connections."), "problem")
    mended = kept(unit("The worker closes them in a finally block now."), "solution", 0.7)
    assert next(one for one in ideas([problem, mended]) if one.intent == "problem").extra
    assert not ideas([problem])[0].extra


def test_only_users_make_something_important_or_prefer_it() -> None:
    """The assistant's rule is no rule."""
    rule = "Never commit secrets to the repository."
    users = only(unit(rule, "user"), "preference")
    told = only(unit(rule), "preference")
    assert (users.intent, users.priority) == ("preference", Priority.CORE)
    assert (told.intent, told.priority) == ("conclusion", Priority.NORMAL)


def test_what_leans_on_an_idea_is_none_itself() -> None:
    """Whoever is given the first sentence reads on in its passage."""
    said = units(
        ["Assistant: The pool has ten connections. It never closes them because of a bug."]
    )
    assert [idea.text for idea in ideas(list(map(kept, said)))] == ["The pool has ten connections."]
    assert ideas([kept(said[1])])[0].text.startswith("The pool has ten connections. It never")


def test_a_plan_is_no_idea_and_neither_is_code() -> None:
    """What is planned is done next; what stands in a fence is no sentence."""
    code = "```\nif trim_from == 0 return the data as it is\n```"
    said = units(
        [
            f"Assistant: The trimming is in the reader.\n{code}",
            "Assistant, planning: Trim it in the hook.",
        ]
    )
    assert [one.text for one in said] == ["The trimming is in the reader."]


@pytest.mark.parametrize("kind", ["decision", "preference"])
def test_the_assistant_decides_nothing(kind: str) -> None:
    """What it takes to be best is a conclusion of its own, unless it says that it was decided."""
    told = unit("The export of the ledger runs on the second server.")
    assert only(told, kind).intent == "conclusion"
    assert only(told._replace(speaker="user"), kind).intent == kind
    assert (
        only(unit("We decided to run the export on the second server."), "fact").intent
        == "decision"
    )


def test_who_is_not_sure_is_trusted_less() -> None:
    """The user more than the assistant."""
    plain, hedged = "The cache of the exporter is stale.", "The exporter's cache might be stale."
    assert only(unit(plain, "user")).confidence > only(unit(plain)).confidence
    assert only(unit(plain)).confidence > only(unit(hedged)).confidence


def test_sizes() -> None:
    """No idea is too long, and there are never too many."""
    said = [kept(unit(f"The exporter number {n} drops rows " + "again " * 80)) for n in range(60)]
    made = ideas(said)
    assert len(made) == MOST_IDEAS
    assert all(0 < len(one.text) <= LONGEST_IDEA for one in made)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Should we deploy the billing service on Fridays?", "question"),
        ("And could we drop the old queue?", "question"),
    ],
)
def test_who_asks_has_not_decided(text: str, intent: str) -> None:
    """However sure the model is."""
    assert only(unit(text, "user")).intent == intent


@pytest.mark.parametrize("text", ["We decided to use SQLite because", "Always run the tests with:"])
def test_half_a_sentence_binds_nobody(text: str) -> None:
    """Its other half is missing."""
    assert ideas([kept(unit(text, "user"))], "the queue") == []


def test_a_rule_may_end_in_that() -> None:
    """What "that" is stands before it in the sentence."""
    said = "No new features until the release, hold me to that."
    assert only(unit(said, "user")).text == said


def test_so_far_goes_on_from_nothing() -> None:
    """Without its "so" it would say something else."""
    said = "So far nothing can hurt you in the kelp forest, and it stays so."
    assert only(unit(said, "user")).text == said
