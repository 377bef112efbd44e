"""A Markdown document as blocks: what belongs together stays together, noise is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.notes.markdown import (
    CODE,
    ITEM,
    PARAGRAPH,
    ROW,
    STEPS,
    Block,
    parse,
    plain_line,
    with_plain_ends,
)


def texts(document: str) -> list[str]:
    """Return the texts of a document's blocks."""
    return [block.text for block in parse(document).blocks]


def one(document: str) -> Block:
    """Return a document's only block."""
    (block,) = parse(document).blocks
    return block


def test_headings_are_a_path() -> None:
    """A block knows the headings above it; one of the same level ends the one before."""
    document = "# Deploy\n## Staging\nFirst.\n## Production\nSecond.\n# Other\nThird."
    assert [block.headings for block in parse(document).blocks] == [
        ("Deploy", "Staging"),
        ("Deploy", "Production"),
        ("Other",),
    ]


def test_items_know_what_they_hang_on() -> None:
    """A nested item has its parents' texts, and a list its lead, which is no block of its own."""
    first, second = parse("We use:\n\n- Postgres\n  - on port 5433\n").blocks
    assert (first.kind, first.text, first.context) == (ITEM, "Postgres", ("We use:",))
    assert (second.text, second.context) == ("on port 5433", ("We use:", "Postgres"))


def test_a_lead_without_a_list_is_a_paragraph() -> None:
    """A colon alone hides nothing."""
    assert texts("Remember this:\n\n## Next\n\nText") == ["Remember this:", "Text"]


def test_code_stays_with_the_paragraph_before_it() -> None:
    """Under the same heading; elsewhere it stands alone."""
    block = one("Start it:\n\n```sh\nmake up\n```\n")
    assert (block.kind, block.text, block.code, block.language) == (
        PARAGRAPH,
        "Start it:",
        "make up\n",
        "sh",
    )
    assert [block.kind for block in parse("Text\n# Next\n```\nx\n```").blocks] == [PARAGRAPH, CODE]


def test_code_in_an_item_stays_with_the_item() -> None:
    """The item is not said twice."""
    block = one("- Connect\n  ```sh\n  psql\n  ```\n")
    assert (block.kind, block.text, block.code) == (ITEM, "Connect", "psql\n")


def test_rows_carry_their_header() -> None:
    """A row can be understood without the table; empty cells are left out."""
    rows = parse("| Env | Host |\n|---|---|\n| prod | a.example |\n| test | |\n").blocks
    assert [(row.kind, row.text) for row in rows] == [
        (ROW, "Env: prod; Host: a.example"),
        (ROW, "Env: test"),
    ]


def test_a_numbered_list_is_one_block() -> None:
    """Steps mean something in their order only."""
    block = one("3. Tag it\n4. Push it\n   - with --tags\n")
    assert (block.kind, block.text) == (STEPS, "3. Tag it\n4. Push it\n  - with --tags")


def test_boxes_say_what_is_done() -> None:
    """The box is no part of the text."""
    blocks = parse("- [ ] write docs\n- [x] fix tests\n- plain\n").blocks
    assert [(block.text, block.checked) for block in blocks] == [
        ("write docs", False),
        ("fix tests", True),
        ("plain", None),
    ]


def test_noise_is_left_out() -> None:
    """Comments, link definitions, rules, tables of contents, badges and empty items."""
    document = (
        "<!-- hidden\nover lines -->\n\n- [Deploy](#deploy)\n- \n\n---\n\n"
        "[![](https://x/badge.svg)](https://x)\n\n[ref]: https://x/y\n\nWord <!-- no --> here.\n"
    )
    assert "Word here." in texts(document)
    assert not [text for text in texts(document) if "hidden" in text or "Deploy" in text]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("**Bold** and *soft* and __loud__ _words_", "Bold and soft and loud words"),
        ("`a_b_c` and snake_case_name and 2 * 3 * 4", "`a_b_c` and snake_case_name and 2 * 3 * 4"),
        ("`**kept**` in code", "`**kept**` in code"),
        ("**The `app/<version>`** of <b>it</b>", "The `app/<version>` of it"),
        ("`<!--` opens and `-->` closes", "`<!--` opens and `-->` closes"),
        ("see [the page](https://x.io/a)", "see the page (https://x.io/a)"),
        ("see [below](#there)", "see below"),
        (
            "all of `src/**`, src/**/x.py and ADR-\\*.md",
            "all of `src/**`, src/**/x.py and ADR-*.md",
        ),
        ("[`run`](a_b.md) or <https://x.io/c>", "`run` (a_b.md) or https://x.io/c"),
        ("ask <ann@x.example>; `` a`b ``", "ask ann@x.example; `` a`b ``"),
        ("![a picture](p.png) here", "a picture here"),
        ("one<br>two <b>three</b>", "one two three"),
        ("a < b and c > d", "a < b and c > d"),
        ("first\nsecond", "first second"),
        ("said[^1] so", "said so"),
        ("[!NOTE]\nMind the gap", "Mind the gap"),
    ],
)
def test_lines_become_plain_words(raw: str, said: str) -> None:
    """Markup goes, code and arithmetic stay."""
    assert plain_line(raw) == said


def test_front_matter_is_read_and_left_out() -> None:
    """Lines keep their numbers; a list's items are joined."""
    document = parse("---\ntitle: My notes\ntags:\n  - db\n  - ops\n---\nText\n")
    assert document.front == {"title": "My notes", "tags": "db, ops"}
    assert [(block.text, block.line_start) for block in document.blocks] == [("Text", 7)]


def test_a_document_of_front_matter_only_has_no_blocks() -> None:
    """And one whose front matter never ends is ordinary text."""
    assert parse("---\na: b\n---\n").blocks == ()
    assert "Text" in texts("---\n\nText")


def test_lines_end_and_begin_in_any_way() -> None:
    """CRLF and a byte order mark change nothing."""
    plain_document = "# A\n\n- one\n- two\n\ntext\n"
    same = parse("\ufeff" + plain_document.replace("\n", "\r\n"))
    assert same == parse(plain_document)


def test_lines_are_counted_from_one() -> None:
    """Both ends are included; a parent's lines end before what is nested in it."""
    blocks = parse("# A\n\none\ntwo\n\n- item\n  - inner\n").blocks
    assert [(block.line_start, block.line_end) for block in blocks] == [(3, 4), (6, 6), (7, 7)]


def test_an_unclosed_fence_takes_the_rest() -> None:
    """As the specification has it; nothing is lost."""
    block = one("Text\n\n```\n# no heading\nmore")
    assert "# no heading\nmore" in block.code


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "document",
    [
        "word " * 200_000,
        "[" * 50_000,
        "[a](" * 25_000,
        "*a_ " * 25_000,
        "> " * 20_000 + "deep",
        "\n".join("  " * depth + f"- level {depth}" for depth in range(500)),
        "`" * 100_000,
        "<!-- " * 50_000,
        "<a " * 100_000,
        "|" * 100_000 + "\n" + "|-" * 50_000,
        "_" * 200_000,
        "\0" * 1_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_documents_are_read_in_no_time(document: str) -> None:
    """A line of a megabyte, endless brackets, bottomless nesting: what takes the square of it ends as a hang does."""
    blocks = parse(document).blocks
    assert sum(len(block.text) + len(block.code) for block in blocks) <= 2 * len(document)


@given(st.text(alphabet=st.sampled_from("#-*>`|[]()_~! \n\t1.xX:<a&\\\r"), max_size=200))
def test_any_text_is_a_document(text: str) -> None:
    """Nothing raises, and lines lie within the text."""
    count = with_plain_ends(text).count("\n") + 1
    for block in parse(text).blocks:
        assert 1 <= block.line_start <= count + 1
        assert block.text or block.code
