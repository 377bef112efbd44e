"""Whether a fix mended a problem that was noted: its error quoted, or nearly all of it named with a file."""

from __future__ import annotations

import pytest

from vector_memory.lifecycle.solving import solves

ERROR = "ModuleNotFoundError: No module named 'parser_core'"


@pytest.mark.parametrize(
    ("problem", "files"),
    [
        (f"The issue is that the tests end with {ERROR}.", ()),
        ("The tests end with `ModuleNotFoundError: No module named 'parser_core'` on CI.", ()),
        ("conftest.py raises ModuleNotFoundError, no module is named parser_core there.", ()),
        ("It raises ModuleNotFoundError since no module is named parser_core.", ("tests/conftest.py",)),
    ],
)  # fmt: skip
def test_it_does(problem: str, files: tuple[str, ...]) -> None:
    """The same error, in quotes or in words with the file that was changed."""
    assert solves(ERROR, ("tests/conftest.py",), problem, files)


@pytest.mark.parametrize(
    "problem",
    [
        "The tests end with ModuleNotFoundError: No module named 'yaml'.",
        "It raises ModuleNotFoundError since no module is named parser_core.",
        "The problem is that conftest.py is slow.",
        "Why is there a ModuleNotFoundError: No module named 'parser_core'?",
        "",
    ],
)
def test_it_does_not(problem: str) -> None:
    """Another module, another file, another complaint about the file, a question."""
    assert not solves(ERROR, ("tests/conftest.py",), problem, ())


def test_an_error_that_says_little_solves_nothing() -> None:
    """ "Error: failed" may be said of anything."""
    assert not solves("failed", ("a.py",), "The build failed in a.py.", ("a.py",))
