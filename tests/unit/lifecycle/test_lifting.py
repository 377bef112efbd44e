"""A rule that the user lifts in words that are none themselves, and words that only mention what it is about."""

from __future__ import annotations

import pytest

from vector_memory.lifecycle.lifting import lifts

LIFTS = [
    ("Deploying on Fridays is allowed again.", "No deploys on Fridays, ever."),
    ("Async in the worker is fine now.", "Never use async in the worker."),
    ("Pushing to main is allowed again.", "Never push to main."),
    ("We no longer need a changelog entry.", "Always add a changelog entry."),
    ("Migrations no longer need a down step.", "From now on all migrations need a down step."),
    ("Force pushes to feature branches are OK with me after all.", "No force pushes to feature branches."),
    ("You don't need to ask before installing a package.", "Always ask before installing a package."),
    ("Ok, fine, you may edit the client in src/gen now.", "Never edit the client in src/gen by hand."),
    ("Stop running the slow tests before a commit.", "Always run the slow tests before a commit."),
    ("Tom reviews pull requests now.", "Maria reviews all pull requests."),
    ("You may deploy again.", "Never deploy."),
    ("Emojis are OK again.", "Never use emojis."),
    ("You may copy secrets again.", "Never copy secrets."),
    ("You no longer need to update the screenshots.", "Always update the screenshots."),
    ("No need to sign the commits.", "Always sign the commits."),
    ("You may merge your own pull requests now.", "Never merge your own pull requests."),
    ("Responses are cached for 30 minutes now.", "Responses are cached for 10 minutes."),
]  # fmt: skip
LIFTS_NOT = [
    # Told of the same thing, or of something that was.
    ("The legacy/ folder has 40 files, most of them in Perl.", "Never touch the legacy/ folder."),
    ("The client in src/gen fails with a type error.", "Never edit the client in src/gen by hand."),
    ("I pushed the fix to main, it is live now.", "Never push to main."),
    ("Deploying on Fridays was a mistake.", "No deploys on Fridays, ever."),
    ("Priya reviewed the schema change, it is merged.", "Priya reviews every schema change."),
    ("The orders table has four million rows.", "Never delete rows from the orders table."),
    ("The changelog is not shown on the website now.", "Always add a changelog entry."),
    ("The importer is slow on the primary database.", "Never run the importer on the primary database."),
    ("The linter found nothing in the new parser.", "Always run the linter before pushing."),
    ("The feature flags are not loaded on the new screen.", "Use feature flags for every new screen."),
    # Asked or ordered.
    ("Can you push to main now?", "Never push to main."),
    ("can you push to main, it is urgent", "Never push to main."),
    ("Push to main now.", "Never push to main."),
    ("Delete the rows of the test user from the orders table.", "Never delete rows from the orders table."),
    # Allowed to others, elsewhere, or in a case alone.
    ("Dependabot may push to main.", "Never push to main."),
    ("He may push to main.", "Never push to main."),
    ("I may push to main.", "Never push to main."),
    ("All may push to main.", "Never push to main."),
    ("What can push to main", "Never push to main."),
    ("I need not run the tests.", "Always run the tests."),
    ("The bot may push to main, you may not.", "Never push to main."),
    ("The hook does not need to run the linter before a commit.", "Always run the linter before a commit."),
    ("You may push to the feature branch.", "Never push to the main branch."),
    ("You may push to main.", "Never force push to main."),
    ("You can run the migrations now.", "Never run migrations on production."),
    ("In the fork, you may push to main.", "Never push to main."),
    ("Pushing to main is OK for hotfixes.", "Never push to main."),
    ("You may push to main, but only after a review.", "Never push to main."),
    ("Unless I say you may push to main, don't.", "Never push to main."),
    ("Using async in the other worker is fine.", "Never use async in the worker."),
    ("Tom reviews his own pull requests now.", "Maria reviews all pull requests."),
    ("Invitations expire after 60 minutes.", "Sessions expire after 30 minutes."),
    # Told of somebody's words, or part of a request.
    ("GitHub says that pushing to main is allowed.", "Never push to main."),
    ("According to Tim, you may push to main.", "Never push to main."),
    ("Add a banner: you may push to main.", "Never push to main."),
    ("Tell me whether force push is allowed.", "Never force push."),
    ("It's a bug that anyone can push to main.", "Never push to main."),
    # With something beside that says whose words, which case, or that it is not so.
    ("Write in CONTRIBUTING.md, you may push to main.", "Never push to main."),
    ("The bot replied, pushing to main is allowed.", "Never push to main."),
    ("You may push to main, not with force.", "Never push to main."),
    ("You may push to main, never on Fridays.", "Never push to main."),
    ("It is not true, you may push to main.", "Never push to main."),
    ("Maria left, Tom reviews pull requests now.", "Maria reviews all pull requests."),
    # Said once more.
    ("Never push to main, not even a fix.", "Never push to main."),
    ("", "Never push to main."),
]  # fmt: skip


@pytest.mark.parametrize(("said", "rule"), LIFTS)
def test_what_ends_a_rule_lifts_it(said: str, rule: str) -> None:
    assert lifts(said, rule)


@pytest.mark.parametrize(("said", "rule"), LIFTS_NOT)
def test_what_only_mentions_asks_or_orders_lifts_nothing(said: str, rule: str) -> None:
    assert not lifts(said, rule)
