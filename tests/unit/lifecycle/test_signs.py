"""What says outright that it replaces, answers or finishes something else."""

from __future__ import annotations

import pytest

from vector_memory.lifecycle import answers, signs

REPLACES = [
    ("We no longer deploy on Fridays.", "We deploy to production on Fridays."),
    ("Use pnpm instead of npm to install dependencies.", "Use npm to install dependencies."),
    (
        "The dev database port was changed from 5432 to 5433.",
        "The dev database listens on port 5432.",
    ),
    ("We switched from Jest to Vitest for unit tests.", "Unit tests run with Jest."),
    ("We replaced Redis with Valkey for sessions.", "Sessions live in Redis."),
    ("The API no longer uses Redis; sessions live in Postgres.", "The API uses Redis."),
    ("The order service uses Kafka instead of NATS now.", "The order service uses NATS."),
    ("We no longer want spelt flour, let's use rye.", "We bake the bread with spelt flour."),
    ("Don't use yarn any longer, use pnpm.", "Use yarn to install packages."),
    ("The controller no longer polls, it gets pushes.", "The controller polls every minute."),
    ("The request timeout was raised from 30 to 60 seconds.", "The request timeout is 30 seconds."),
]
REPLACES_NOT = [
    ("Deploys to staging no longer happen on Fridays.", "Deploys to production happen on Fridays."),
    ("We no longer want spelt flour, let's use rye.", "Biscuits are baked with rye flour."),
    ("Don't use yarn any longer, use pnpm.", "Use pnpm to install packages."),
    ("When the tests no longer pass, tell me.", "The tests pass in CI."),
    ("Why don't we publish over MQTT any more?", "Publish readings on MQTT."),
    ("Use pnpm instead of npm in CI.", "Use npm in the docs site."),
    (
        "The staging database port was changed from 5432 to 5433.",
        "The dev database listens on port 5432.",
    ),
    ("The API no longer uses Redis.", "The worker uses Redis."),
    ("Install with pnpm instead of npm.", "Use pnpm, not npm, to install."),
    ("Tokens are hashed with argon2 instead of bcrypt.", "Passwords are hashed with bcrypt."),
    ("The dev database listens on port 5433.", "The dev database listens on port 5432."),
    ("The cache is off.", "The cache is on."),
]
ANSWERS = [
    ("The dev database uses port 5433.", "Which port does the dev database use?"),
    ("Maria owns the billing service.", "Who owns the billing service?"),
    ("We use Postgres for sessions.", "Should we use Redis or Postgres for sessions?"),
]
ANSWERS_NOT = [
    ("The dev database uses port 5433.", "Which port does the staging database use?"),
    ("The billing service listens on 8081.", "Who owns the billing service?"),
    ("Who owns the billing service now?", "Who owns the billing service?"),
    ("We use Postgres for the ledger.", "Should we use Redis or Postgres for sessions?"),
]
DONE = [
    ("Added retry to uploads.", "Add retry to uploads"),
    ("The users table is renamed.", "TODO: rename the users table"),
]
DONE_NOT = [
    ("Retry for downloads is added.", "Add retry to uploads"),
    ("The API docs are not written yet.", "Write docs for the API"),
    ("Retry for uploads will be added.", "Add retry to uploads"),
    ("Retry for uploads can't be added.", "Add retry to uploads"),
    ("Retry for uploads won’t be added.", "Add retry to uploads"),
    ("We haven't added retry to uploads.", "Add retry to uploads"),
    ("The retries of uploads aren't added.", "Add retry to uploads"),
    ("Retry for uploads didn’t get added.", "Add retry to uploads"),
    ("Retry for uploads cannot be added.", "Add retry to uploads"),
    ("Retry for uploads is no longer added.", "Add retry to uploads"),
]


@pytest.mark.parametrize(("new", "old"), REPLACES)
def test_a_sign_about_the_same_thing_replaces(new: str, old: str) -> None:
    """What says "instead of", "no longer" or "changed from" replaces what it names."""
    assert signs.replaces(new, old, 0.8)


@pytest.mark.parametrize(("new", "old"), REPLACES_NOT)
def test_without_a_sign_or_about_another_thing_nothing_is_replaced(new: str, old: str) -> None:
    """Another environment, another subject or a mere difference replaces nothing."""
    assert not signs.replaces(new, old, 0.8)


@pytest.mark.parametrize(("text", "question"), ANSWERS)
def test_what_names_all_that_was_asked_answers(text: str, question: str) -> None:
    """An answer names what the question is about, and more."""
    assert answers.answers_question(text, question, 0.8)


@pytest.mark.parametrize(("text", "question"), ANSWERS_NOT)
def test_what_may_be_about_something_else_answers_nothing(text: str, question: str) -> None:
    """Another subject or another question leaves a question open."""
    assert not answers.answers_question(text, question, 0.8)


@pytest.mark.parametrize(("text", "todo"), DONE)
def test_a_todo_is_done_when_a_text_says_so(text: str, todo: str) -> None:
    """A word for done and what the todo is about."""
    assert answers.says_done(text, todo, 0.8)


@pytest.mark.parametrize(("text", "todo"), DONE_NOT)
def test_a_todo_is_open_while_it_is_not_plainly_done(text: str, todo: str) -> None:
    """Plans, negations and other things leave it open."""
    assert not answers.says_done(text, todo, 0.8)
