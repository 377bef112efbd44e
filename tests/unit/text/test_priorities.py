"""What is likely to matter: rules about what is delicate most, the ordinary not at all."""

from __future__ import annotations

import pytest

from vector_memory.model import Priority
from vector_memory.text.priorities import suggest


@pytest.mark.parametrize(
    ("text", "title", "priority"),
    [
        ("Never commit secrets to the repository.", "", Priority.CORE),
        ("The API key must never be logged.", "", Priority.CORE),
        ("Never force-push.", "Main branch", Priority.CORE),
        ("Under no circumstances touch the production database by hand.", "", Priority.CORE),
        ("Never skip the linters.", "", Priority.HIGH),
        ("Tokens rotate daily.", "Security", Priority.HIGH),
        ("All services log JSON.", "", Priority.HIGH),
        ("The journal is the single source of truth.", "", Priority.HIGH),
        ("Postgres 16", "Architecture", Priority.HIGH),
        ("Important: the build needs Go 1.23", "", Priority.HIGH),
        ("The model reads 512 tokens.", "", Priority.NORMAL),
        ("Backups run at night.", "", Priority.NORMAL),
        ("We never got an answer from them.", "", Priority.NORMAL),
        ("The button is blue.", "Design", Priority.NORMAL),
        ("", "", Priority.NORMAL),
    ],
)
def test_the_suggestion_follows_words_and_heading(
    text: str, title: str, priority: Priority
) -> None:
    """Either may say it."""
    assert suggest(text, title) is priority


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    """Of its heading, too."""
    assert suggest("plain words " * 100_000 + "Never skip the linters.") is Priority.NORMAL
    assert suggest("", "plain words " * 100_000 + "Never skip the linters.") is Priority.NORMAL
