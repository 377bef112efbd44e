"""From notes to drafts: short, titled, of a likely kind, with a key that outlives editing."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.notes.notes import NoteDraft, file_prefix, to_drafts
from vector_memory.index.notes.pieces import TEXT_CHARS
from vector_memory.model import Priority

AT = datetime(2026, 5, 3, tzinfo=timezone.utc)
PATH = "/home/dev/ledger/NOTES.md"


def drafts(text: str, path: str = PATH) -> list[NoteDraft]:
    """Return the drafts of a note."""
    return to_drafts(text, path, AT)


def one(text: str, path: str = PATH) -> NoteDraft:
    """Return a note's only draft."""
    (draft,) = drafts(text, path)
    return draft


def test_the_headings_are_the_title() -> None:
    """Headings that say nothing are left out, unless they stand right above."""
    assert one("# Notes\n## Deploy\n### Staging\nText.").title == "Deploy › Staging"
    assert one("# Notes\nText.").title == ""
    assert one("---\ntitle: Ledger\n---\n## Deploy\nText.").title == "Ledger › Deploy"


def test_a_long_title_keeps_its_end() -> None:
    """What stands nearest says most."""
    title = one(f"# {'far ' * 20}\n## {'mid ' * 20}\n### near\nText.").title
    assert title.endswith("near")
    assert len(title) <= 120


def test_tags_are_the_file_and_what_the_headings_are_about() -> None:
    """The nearest heading first, no stop words, no numbers; the front matter's own before them."""
    draft = one("---\ntags: [db]\n---\n# The ledger 2\n## Backups of the database\nText.")
    assert draft.tags == ("notes", "db", "backups", "database", "ledger")


def test_a_vaults_own_marks_are_read() -> None:
    """Links to notes by what they are called, tags in the text, and a note's other names."""
    draft = one(
        "---\naliases: [Money Box]\n---\nWe keep [[Ledger/Totals|the totals]] of [[Invoices#Open]] in #finance/eu, see #12."
    )
    assert draft.text == "We keep the totals of Invoices in #finance/eu, see #12."
    assert draft.tags == ("notes", "money-box", "finance/eu")


def test_a_nested_item_is_said_with_its_parent() -> None:
    """So that it can be understood alone."""
    texts = [draft.text for draft in drafts("We use:\n- Postgres\n  - on port 5433\n")]
    assert texts == ["We use: Postgres", "We use: Postgres: on port 5433"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We use Postgres for the ledger.", "decision"),
        ("We've decided on trunk-based development.", "decision"),
        ("# Decisions\n- Postgres over MySQL", "decision"),
        ("We use:\n- Postgres", "decision"),
        ("Always run the linters before a commit.", "preference"),
        ("I prefer tabs.", "preference"),
        ("# Conventions\n- Names are nouns", "preference"),
        ("1. Tag it\n2. Push it", "procedure"),
        ("Start it:\n```sh\nmake up\n```", "procedure"),
        ("The type:\n```python\nclass A: ...\n```", "context"),
        ("- [ ] write docs", "todo"),
        ("# Next steps\n- write docs", "todo"),
        ("# Backlog\n- write docs", "todo"),
        ("# Nächste Schritte\n- Doku schreiben", "todo"),
        ("# 残作業\n- 文書を書く", "todo"),
        ("Should the cache be shared?", "question"),
        ("# Open questions\n- The size of the cache", "question"),
        ("The ledger has three tables.", "context"),
    ],
)
def test_the_kind_is_what_form_words_and_headings_say(text: str, kind: str) -> None:
    """In this order."""
    assert one(text).kind == kind


def test_a_ticked_box_is_done() -> None:
    """And it is the same note as before."""
    open_one, done = one("- [ ] write docs"), one("- [x] write docs")
    assert (open_one.done, done.done, open_one.key) == (False, True, done.key)


def test_long_texts_are_cut_at_sentences() -> None:
    """Each piece is short enough, and nothing is lost."""
    sentence = "The ledger keeps every booking for ten years, as the law demands."
    text = " ".join(f"{number}: {sentence}" for number in range(40))
    pieces = [draft.text for draft in drafts(text)]
    assert " ".join(pieces) == text
    assert all(len(piece) <= TEXT_CHARS for piece in pieces)


def test_code_is_kept_short() -> None:
    """Its beginning stays with what introduces it."""
    draft = one("Do this:\n```\n" + "a line of code\n" * 200 + "```")
    assert draft.text.startswith("Do this:\n```\na line of code\n")
    assert draft.text.endswith("…\n```")
    assert len(draft.text) <= TEXT_CHARS + 20


def test_keys_outlive_reordering_and_blank_lines() -> None:
    """A key is of file, headings and words; case and breaks do not count."""
    before = {draft.key for draft in drafts("# A\n- one two\n- three\n")}
    after = {draft.key for draft in drafts("\n\n# A\n\n- Three\n\n- One\n  two\n")}
    assert before == after
    assert all(key.startswith(file_prefix(PATH)) for key in before)
    assert not before & {draft.key for draft in drafts("# B\n- one two\n- three\n")}
    assert not before & {draft.key for draft in drafts("# A\n- one two\n", "/other/NOTES.md")}


def test_equal_notes_below_one_heading_are_one() -> None:
    """Saying it twice adds nothing."""
    assert len(drafts("# A\n- same\n- same\n")) == 1


def test_lines_that_are_not_known_are_zero() -> None:
    """A secret that was several lines long has moved what follows."""
    found = to_drafts("one\n\ntwo\n", PATH, AT, known_lines=1)
    assert [(draft.line_start, draft.line_end) for draft in found] == [(1, 1), (0, 0)]


def test_whatever_is_put_together_is_cleaned_before_it_gets_a_key() -> None:
    """A header and its cell may make a secret only together."""
    table = "| password |\n|---|\n| hunter2 |\n"
    (draft,) = to_drafts(table, PATH, AT, clean=lambda text: text.replace("hunter2", "[gone]"))
    assert draft.text == "password: [gone]"
    assert draft.key == one(table.replace("hunter2", "[gone]")).key


ADR = """# 7. Use a queue

* Status: {status}
* Date: 2024-03-01

## Context

Requests are slow.

## Decision

Jobs go through RabbitMQ.

## Consequences

Always watch its length.
"""
ADR_PATH = "/p/docs/adr/0007-use-a-queue.md"


def test_a_decision_record_is_dated_and_its_decision_matters() -> None:
    """Status and date are no memories of their own."""
    context, decision, consequence = drafts(ADR.format(status="Accepted"), ADR_PATH)
    assert decision.text == "Jobs go through RabbitMQ."
    assert (decision.kind, decision.priority) == ("decision", Priority.HIGH)
    assert (context.kind, consequence.kind) == ("context", "context")
    assert decision.title == "7. Use a queue › Decision"
    assert {draft.created_at for draft in (context, decision, consequence)} == {
        datetime(2024, 3, 1, tzinfo=timezone.utc)
    }
    assert (decision.record.number, decision.record.superseded) == ("7", False)


@pytest.mark.parametrize(
    ("status", "successor"),
    [
        ("Superseded by [ADR-0012](0012-use-kafka.md)", "12"),
        ("superseded by ADR 12", "12"),
        ("Superseded on 2025-01-01 by 0012", "12"),
        ("Replaced by #12", "12"),
        ("Superseded", ""),
    ],
)
def test_a_superseded_record_names_its_successor(status: str, successor: str) -> None:
    """In any of the usual ways to write it."""
    found = drafts(ADR.format(status=status), ADR_PATH)
    assert {(draft.record.superseded, draft.record.successor) for draft in found} == {
        (True, successor)
    }


def test_front_matter_tells_a_record_s_state_too() -> None:
    """As some tools write it."""
    text = "---\nstatus: superseded\nsuperseded-by: ADR-0012\ndate: 2024-03-01\n---\n# X\n## Decision\nY."
    (draft,) = drafts(text, "/p/ADR-007-x.md")
    assert (draft.record.superseded, draft.record.successor, draft.created_at.year) == (
        True,
        "12",
        2024,
    )


@pytest.mark.parametrize("status", ["Proposed", "Rejected", "Deprecated"])
def test_what_is_not_in_force_is_no_decision(status: str) -> None:
    """Its title says so."""
    for draft in drafts(ADR.format(status=status), ADR_PATH):
        assert draft.kind == "context"
        assert draft.title.endswith(f"({status.lower()})")


def test_an_ordinary_note_is_no_record() -> None:
    """A date at its top still counts."""
    draft = drafts("Date: 2024-03-01\n\nText.")[-1]
    assert (draft.record.number, draft.created_at.year) == ("", 2024)


@given(st.text(alphabet=st.sampled_from("#-*>`|[]() \n1.xab:é"), max_size=300))
def test_drafts_are_never_empty_and_never_twice(text: str) -> None:
    """Whatever the document."""
    found = drafts(text)
    assert len({draft.key for draft in found}) == len(found)
    assert all(draft.text.strip() and len(draft.text) <= 2 * TEXT_CHARS for draft in found)
