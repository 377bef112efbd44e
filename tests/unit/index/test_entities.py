"""What a text names, by one canonical form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.entities import KINDS, MOST, entities, parse


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We moved from psql to k8s.", {"technology:postgresql", "technology:kubernetes"}),
        ("The fault is in `getUserById` of src/db/users.py",
         {"concept:getUserById", "file:src/db/users.py"}),
        ("Ask Anna about https://github.com/Jdx/fnox/pull/5", {"person:anna", "project:jdx/fnox"}),
        ("Let it go and react to the rust there", set()),
        ("We write it in Go and React", {"technology:go", "technology:react"}),
        ("`restic backup /srv` runs at night", {"concept:restic"}),
        ("k9s is on node3, v2 at p95 of 10ms, s1 to fb4c33f", {"concept:k9s", "concept:node3"}),
        ("the state is `untracked files only`, `any` or `0.1.0`, and `\"hello\"`", set()),
    ],
)  # fmt: skip
def test_names(text: str, wanted: set[str]) -> None:
    """Technologies by their aliases, files, concepts, persons, projects; ordinary words are none."""
    assert set(entities(text)) == wanted


def test_a_files_name_means_the_file_in_work() -> None:
    """A path that the talk knows stands for its end."""
    assert entities("see users.py", ("src/db/users.py", "src/x.py")) == ("file:src/db/users.py",)


def test_what_names_nothing_is_no_entity() -> None:
    """Abbreviations, values, numbers of tickets, words between slashes."""
    assert entities("Some values (e.g. `None`, `true`) and `#531` are read/written by it.") == ()


def test_asking_by_any_name() -> None:
    """With its kind, by an alias, or bare."""
    assert parse("technology:psql") == ("technology:postgresql",)
    assert "technology:postgresql" in parse("Postgres")
    assert "file:src/x.py" in parse("src/x.py")


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    """Never too many, each of a kind and once."""
    found = entities(text)
    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    assert all(one.partition(":")[0] in KINDS for one in found)
