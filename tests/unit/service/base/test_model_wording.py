"""A model's wording names nobody and nothing that its text does not name."""

from __future__ import annotations

import pytest

from vector_memory.service.base.model_help import names_more

SOURCE = (
    "We decided releases are tagged on Thursdays because the harbour office closes on Fridays. The tag step runs before "
    "the tests in release.py. We use postgresql and docker-compose, Marta signs off database migrations on GitHub."
)
GERMAN = "Wir haben entschieden, Releases donnerstags zu taggen. Marta gibt Migrationen frei."


@pytest.mark.parametrize(
    "wording",
    [
        "Releases are tagged on Thursdays because the harbour office closes on Fridays.",
        "Tags come each Thursday, and it needs Marta's approval; Docker is used with Postgres.",
        "Tests come first. Releases: Tag on a Thursday. I asked Marta, and The office is closed.",
        "- Releases are tagged on Thursdays - Tests run in Github",
        'It was said: "We tag on Thursdays." Nothing is open.',
        "Les versions sont marquées le jeudi, et Marta valide les migrations.",
    ],
)
def test_words_of_the_text_may_have_capitals(wording: str) -> None:
    """In whatever form they stand there, and at the beginning of a sentence any word may."""
    assert not names_more(wording, SOURCE)


@pytest.mark.parametrize(
    "wording",
    [
        "The team decided to deploy with Kubernetes.",
        "Releases are tagged on Thursdays by Peter.",
        "The tests run first (Anna says so).",
        "Marta and Ann's brother sign off migrations.",
        "It was decided that <b>Peter</b> tags the releases.",
        "Les versions sont marquées par Pierre le jeudi.",
        "They are tagged at 9 o'clock.",
        "They are tagged by tag_release.",
    ],
)
def test_names_of_its_own_are_told(wording: str) -> None:
    assert names_more(wording, SOURCE)


def test_german_writes_every_noun_with_a_capital() -> None:
    """There a name is not told from a noun; in English words about a German text it is."""
    assert not names_more("Die Entscheidung war, Veröffentlichungen zu markieren.", GERMAN)
    assert names_more("It was decided that Peter tags the releases.", GERMAN)
    assert names_more("Die Entscheidung war, src/release.py zu ändern.", GERMAN)
