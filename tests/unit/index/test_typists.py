"""Who wrote a prompt: the user or a program."""

from __future__ import annotations

import pytest

from vector_memory.index.typists import is_typed
from vector_memory.system.json_in import Record


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a reviewer. You must always answer in JSON.\n<diff>\n+ x = 1\n</diff>\nReturn a list.",
        "Your task is to name the session.\n<messages>\nhello\n</messages>",
    ],
)
def test_a_role_with_a_block_is_a_programs(prompt: str) -> None:
    """However short it is: nobody types marks on lines of their own to say who is spoken to."""
    assert not is_typed(Record(), prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are missing the <b>bold</b> part, never drop it",
        "Look at this:\n<div>\nhello\n</div>\nwe always close it here",
    ],
)
def test_marks_alone_are_the_users(prompt: str) -> None:
    """Who shows some markup, or says what somebody is, is no program."""
    assert is_typed(Record(), prompt)


REST = "\n\nFrom now on never delete package-lock.json in this repository.\n\nCI needs it."


@pytest.mark.parametrize(
    "opening",
    [
        "You're right, the lockfile was stale.",
        "You’re right. You should have told me.",
        "You are a star. Oh, and Priya wrote that the build is red.",
        "You're a lifesaver! Your patch works.",
        "You are the best, the server is up again.",
        "You are a different kind of help today.",
        "Du hast recht.",
        "Du bist ein Schatz, danke.",
        "Tu es un ange, merci.",
        "Eres un sol, gracias.",
        "Ты прав, спасибо.",
    ],
)
def test_praise_and_agreement_are_the_users(opening: str) -> None:
    """They say nothing of what somebody is to do."""
    assert is_typed(Record(), opening + REST)


@pytest.mark.parametrize(
    "opening",
    [
        "You are a senior Python developer.",
        "You are an expert in SQL.",
        "You're the reviewer, and the diff follows.",
        "You are **alice** (round 2). You are NOT resuming a session.",
        "You are **alice**, a teammate.",
        "You are Claude, on our team. Your part is the diff.",
        "You are a careful mind. You must always answer in JSON.",
        "Act as a linter.",
        "Du bist ein erfahrener Entwickler. Prüfe das:",
        "Tu es un relecteur. Relis:",
        "Eres un experto en SQL.",
        "Ты опытный разработчик.",
    ],
)
def test_a_role_is_a_programs(opening: str) -> None:
    """It says what somebody does, or who that is and what to do."""
    assert not is_typed(Record(), opening + REST)
