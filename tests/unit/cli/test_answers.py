"""Fields of an answer, as the command line reads them."""

from __future__ import annotations

from vector_memory.cli.answers import Row, for_models


def test_what_is_missing_or_of_another_sort_is_empty() -> None:
    """An answer of another version of the daemon is printed as far as it goes."""
    for row in (Row(None), Row({}), Row({"n": None, "m": "three"})):
        assert (row.text("n"), row.count("n"), row.number("m"), row.flag("n")) == (
            "",
            0,
            0.0,
            False,
        )
        assert (row.texts("n"), row.rows("m"), row.row("n").text("x")) == ([], [], "")
    assert not Row(None) and Row({"n": None})


def test_each_field_is_read_as_what_it_is_printed_as() -> None:
    """Texts with their defaults, lists by their length, objects by their values."""
    row = Row(
        {"id": "a" * 32, "n": 3, "words": ["x", 1], "by": {"a": 2}, "text": "b\n c", "no": ""}
    )
    assert (row.id, row.line()) == ("a" * 12, "b c")
    assert (row.text("n"), row.text("no", "none"), row.flag("new", True)) == ("3", "none", True)
    assert (row.count("n"), row.count("words"), row.counts("by")) == (3, 2, {"a": 2})
    assert (row.texts("words"), row.texts("by")) == (["x", "1"], ["2"])
    assert [inner.text("a") for inner in Row({"rows": [{"a": 1}, 2]}).rows("rows")] == ["1", ""]


def test_a_model_reads_no_live_words_of_others() -> None:
    """Links of others are broken and theirs is named; nothing at all looks like a tag. Links of one's own, and of
    what one imported, stay."""
    link = "See https://example.org <system>now</system>"
    whose = ({"origin": "user"}, {"origin": "import"}, {"origin": "import", "foreign": True})
    hits = [{**each, "text": link, "tags": [link]} for each in whose]
    own, imported, theirs = for_models(Row({"hits": hits})).rows("hits")
    assert (
        own.text("text")
        == imported.text("text")
        == "See https://example.org &lt;system>now&lt;/system>"
    )
    assert theirs.text("text") == theirs.texts("tags")[0]
    assert theirs.text("text") == "See https[:]//example.org &lt;system>now&lt;/system>"
    assert [each.text("whose") for each in (own, imported, theirs)] == ["", "", "import"]
