"""A second import of the same notes: what is the same, moved, changed, new or gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.notes.reimport import plan

DEPLOY = "md:file:deploy:{}"
TESTS = "md:file:tests:{}"


def test_the_same_again_changes_nothing() -> None:
    """In whatever order."""
    stored = {DEPLOY.format("a"): "one", DEPLOY.format("b"): "two"}
    made = plan([(DEPLOY.format("b"), "two"), (DEPLOY.format("a"), "one")], stored)
    assert (len(made.same), made.new, made.gone) == (2, [], [])


def test_other_words_below_the_same_heading_are_a_change() -> None:
    """When most of the words are the same; otherwise the one is gone and the other new."""
    stored = {DEPLOY.format("a"): "We use Postgres 14 in production", DEPLOY.format("b"): "x y z"}
    made = plan([(DEPLOY.format("c"), "We use Postgres 16 in production")], stored)
    assert (made.changed, made.gone) == ({0: DEPLOY.format("a")}, [DEPLOY.format("b")])


def test_the_most_alike_is_the_changed_one() -> None:
    """Each stored note takes part once."""
    stored = {DEPLOY.format("a"): "a b c d e f", DEPLOY.format("b"): "a b c d e z"}
    drafts = [(DEPLOY.format("c"), "a b c d e z y"), (DEPLOY.format("d"), "a b c d e f y")]
    made = plan(drafts, stored)
    assert made.changed == {0: DEPLOY.format("b"), 1: DEPLOY.format("a")}


def test_the_same_words_below_another_heading_were_moved() -> None:
    """The rest of the file does not matter."""
    made = plan([(TESTS.format("a"), "one")], {DEPLOY.format("a"): "one"})
    assert made.moved == {0: DEPLOY.format("a")}


def test_alike_words_below_another_heading_are_no_change() -> None:
    """There they may mean something else."""
    made = plan([(TESTS.format("b"), "port is 5433")], {DEPLOY.format("a"): "port is 5432"})
    assert (made.new, made.gone) == ([0], [DEPLOY.format("a")])


def test_a_file_rewritten_is_compared_in_bounded_time() -> None:
    """Beyond a number of differences all counts as new and gone."""
    stored = {DEPLOY.format(f"old{n}"): f"note number {n}" for n in range(2_000)}
    drafts = [(DEPLOY.format(f"new{n}"), f"note number {n} now") for n in range(2_000)]
    made = plan(drafts, stored)
    assert (len(made.new), len(made.gone)) == (2_000, 2_000)


@given(
    st.lists(st.tuples(st.sampled_from("hk"), st.sampled_from("abcdef")), unique=True),
    st.lists(st.tuples(st.sampled_from("hk"), st.sampled_from("abcdef")), unique=True),
)
def test_everything_is_in_exactly_one_place(
    now: list[tuple[str, str]], before: list[tuple[str, str]]
) -> None:
    """Every draft and every stored note."""
    drafts = [(f"md:f:{heading}:{word}", f"w {word}") for heading, word in now]
    stored = {f"md:f:{heading}:{word}": f"w {word}" for heading, word in before}
    made = plan(drafts, stored)
    placed = [*made.same, *made.moved, *made.changed, *made.new]
    assert sorted(placed) == list(range(len(drafts)))
    used = [*made.same.values(), *made.moved.values(), *made.changed.values(), *made.gone]
    assert sorted(used) == sorted(stored)
