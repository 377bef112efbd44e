"""What people write when they want something not remembered is understood by its structure, and what is not
understood is told."""

from __future__ import annotations

import pytest
from phrasings import NO_WISHES, UNCLEAR, WISHES

from vector_memory.redact import clean
from vector_memory.redact.policy import Policy
from vector_memory.redact.reading_rules import parse


def kept_out(number: int) -> bool:
    """Whether a phrasing takes out what it is about, and leaves what it is not about."""
    heading, item, words, gone, other = WISHES[number]
    policy = Policy(rules=(parse(f"## {heading}\n{item}\n", "CLAUDE.md"),))
    left = clean(words, policy).text
    return gone.lower() not in left.lower() and clean(other, policy).text == other


def test_all_phrasings_in_view() -> None:
    """Those that the rule was written with."""
    assert [WISHES[n][1] for n in range(0, len(WISHES), 2) if not kept_out(n)] == []


def test_nearly_all_phrasings_held_out() -> None:
    """Those that it was not: all but one in twenty at least."""
    held_out = range(1, len(WISHES), 2)
    assert sum(map(kept_out, held_out)) >= 0.95 * len(held_out)


def test_a_phrasing_that_is_not_followed_is_told() -> None:
    """Nothing that was asked for under a heading about privacy or memory is silently left."""
    for number, (heading, item, *_) in enumerate(WISHES):
        if heading not in ("General", "Style", "Rules") and not kept_out(number):
            assert parse(f"## {heading}\n{item}\n", "x").problems, item


@pytest.mark.parametrize(("heading", "item"), NO_WISHES)
def test_what_asks_for_something_else_takes_nothing_out(heading: str, item: str) -> None:
    """Instructions about code, and about what is to be remembered, are no rules."""
    found = parse(f"## {heading}\n{item}\n", "CLAUDE.md")
    assert found.rules == ()
    assert found.problems == () or heading == "Memory"


@pytest.mark.parametrize("item", UNCLEAR)
def test_what_names_nothing_is_told(item: str) -> None:
    """A wish that no rule can be made of is no phrase to look for."""
    found = parse(f"## Privacy\n{item}\n", "CLAUDE.md")
    assert found.rules == ()
    assert len(found.problems) == 1 and found.problems[0].startswith("CLAUDE.md:2: ")


def test_every_rule_says_what_it_takes_out() -> None:
    """Each has words for how it was understood; its example, where it has one, is taken out by it."""
    items = [item for _, item, *_ in WISHES]
    patterns = [
        r"JIRA-\d+",
        r"[A-Z]{2}\d{6}",
        "(?i)cust-[a-z]+",
        r"\bx(y|z)+\b",
        r"^#\w+$",
        "[^abc]d",
    ]
    text = "# Privacy\n" + "\n".join(items) + "".join(f"\n- `{one}`" for one in patterns)
    found = parse(text, "CLAUDE.md")
    assert len(found.rules) > 90
    for rule in found.rules:
        assert rule.meaning and rule.line > 1 and rule.item
        if rule.example:
            kinds = Policy(personal=(), rules=(parse(f"# Privacy\n{rule.item}", "x"),))
            if not rule.item.startswith(("-", "*")):
                kinds = Policy(personal=(), rules=(found,))
            assert "[redacted:" in clean(rule.example, kinds).text, rule


def test_lines_are_read_by_their_section() -> None:
    """Under a heading about memory only sentences are rules; a section below one about privacy belongs to
    it; code is none; prose is none."""
    text = (
        "# Memory\n- heron\nNever store anything about Globex.\n```\n- Never remember Initech\n```\n"
        "# Code\nNever store dates without zones.\n## Privacy\n- curlew\nSome words about rules.\n### Names\n- dunlin\n"
        "# Style\n- gull\n- never remember anything about Petrel\n"
    )
    words = [rule.meaning for rule in parse(text, "x").rules]
    assert words == [
        "every sentence with “Globex”", "the words “curlew”", "the words “dunlin”", "every sentence with “Petrel”",
    ]  # fmt: skip
