"""Who wrote a prompt: the user or a program."""

from __future__ import annotations

import pytest

from vector_memory.index.prompt_writer import is_typed
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


RULES = "\n\nRules:\n\n- Answer in JSON."
FOR_GOOD = "\n\nFrom now on never delete package-lock.json in this repository.\n\nCI needs it."


@pytest.mark.parametrize(
    "opening",
    [
        "You're right, the lockfile was stale.",
        "You’re right. You should have told me.",
        "You are right about that.",
        "You are a star. Oh, and Priya wrote that the build is red.",
        "You are a lifesaver. Your fix works.",
        "You're the best!",
        "Du bist der Beste.",
        "Tu es génial\nmerci",
        "Ты прав, спасибо.",
    ],
)
def test_praise_and_agreement_are_the_users(opening: str) -> None:
    """They are short, and who says them speaks of himself then."""
    assert is_typed(Record(), opening + FOR_GOOD)


@pytest.mark.parametrize("opening", ["You're right, the lockfile was stale.", "You're the best!"])
def test_by_its_signs_it_is_praise(opening: str) -> None:
    """A sentence that goes on behind a comma, or is called out, is none of a template's."""
    assert is_typed(Record(), opening + RULES)


@pytest.mark.parametrize(
    "opening",
    [
        "You are a coding agent working on the repo X.",
        "You are a senior code reviewer reviewing a change",
        "You are a senior engineer, working on X.",
        "You are tasked with fixing the build.",
        "You are reviewing a pull request.",
        "You are given a diff.",
        "You are agent 2 of 4.",
        "You are a strict judge. I will show you two answers.",
        "You are a QA engineer",
        "You are Codex, based on GPT-5.",
        "You are **alice**, a teammate. We have one repository.",
        "Act as a linter.",
        "Du bist ein erfahrener Entwickler. Prüfe das:",
        "Tu es un relecteur. Relis:",
        "Eres un experto en SQL.",
        "Ты опытный разработчик.",
    ],
)
def test_a_role_is_a_programs(opening: str) -> None:
    """It says who that is or what it does, in whatever words."""
    assert not is_typed(Record(), opening + RULES)
