"""A question is read in the form that everything stored has, whichever its accents and letters come in."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import VectorMemoryError
from vector_memory.model import Scope
from vector_memory.service.memory.lookup import query_of

SAID = "Die Prüfgrößenübersicht läuft über die Zählerstände, und パスワードの長さ stays at twelve."


@pytest.mark.parametrize(
    "words", ["Prüfgrößenübersicht Zählerstände", "パスワードの長さ", "비밀번호"]
)
def test_the_form_of_accents_changes_nothing(tmp_path: Path, words: str) -> None:
    """What one keyboard writes as one sign, a file's name has as two: the model is asked the same."""
    house = ServiceHouse(tmp_path)
    read = [
        query_of(house.ctx, unicodedata.normalize(form, words), Scope(), []).embedded
        for form in ("NFC", "NFD")
    ]
    house.close()
    assert read == [words, words]


def test_what_is_to_be_forgotten_is_found_in_either_form(tmp_path: Path) -> None:
    house = ServiceHouse(tmp_path)
    door(house.ctx, "remember", {"text": SAID})
    house.follow()
    words = unicodedata.normalize("NFD", "Prüfgrößenübersicht Zählerstände")
    found = door(house.ctx, "forget", {"query": words, "dry_run": True})
    house.close()
    assert len(found["memories"]) == 1


@pytest.mark.parametrize("query", ["", " \n", 7])
def test_a_question_without_words_is_refused(tmp_path: Path, query: object) -> None:
    """What is no text at all, too."""
    house = ServiceHouse(tmp_path)
    with pytest.raises(VectorMemoryError, match="query is empty"):
        door(house.ctx, "recall", {"query": query})
    house.close()
