"""Lines of `recall --batch`."""

from __future__ import annotations

import json
import os

import pytest

from vector_memory.cli import batch
from vector_memory.errors import BadInputError


def test_a_line_says_what_it_asks() -> None:
    """Known fields are taken over, others and nulls are left out."""
    line = json.dumps({"query": "why?", "k": 3, "project": None, "all_projects": False, "id": 7})
    assert batch.parse(line.encode()) == {"query": "why?", "k": 3, "all_projects": False}


def test_a_line_s_project_replaces_the_command_s_target() -> None:
    """A project is an absolute path and excludes the other targets."""
    parsed = batch.parse(b'{"query": "q", "project": "some/folder"}')
    assert parsed["project"] == os.path.abspath("some/folder")
    assert parsed["global"] is False
    assert parsed["all_projects"] is False


def test_a_line_for_all_projects_drops_the_command_s_project() -> None:
    """`all_projects` on a line wins over --project."""
    parsed = batch.parse(b'{"query": "q", "all_projects": true}')
    assert parsed["project"] is None


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b'"query"',
        b"{}",
        b'{"query": ""}',
        b'{"query": "  "}',
        b'{"query": "q", "k": 0}',
        b'{"query": "q", "k": 1001}',
        b'{"query": "q", "k": "5"}',
        b'{"query": "q", "k": true}',
        b'{"query": "q", "project": 5}',
        b'{"query": 5.5, "k": 2, "all_projects": "yes"}',
        b'{"query": ["q"]}',
        b'\xff{"query": "q"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_question_is_refused(line: bytes) -> None:
    """Broken lines raise the error that becomes their answer, nothing else."""
    with pytest.raises(BadInputError):
        batch.parse(line)
