"""Whether two texts say the same: near misses must never be merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.lifecycle import dedup
from vector_memory.lifecycle.dedup import Outcome
from vector_memory.text import wording

PAIRS = json.loads(
    (Path(__file__).parents[3] / "benchmarks" / "dedup_pairs_own.json").read_text("utf-8")
)
NEAR_MISSES = [
    ("The dev database listens on port 5432", "The dev database listens on port 5433"),
    ("Enable the cache in production", "Disable the cache in production"),
    ("Never push to main on Friday", "Never push to main on Monday"),
    ("The frontend calls the backend", "The backend calls the frontend"),
    ("Use pnpm, not npm, for installs", "Use npm, not pnpm, for installs"),
    ("Retries are capped at 3", "Retries are not capped at 3"),
    ("parse_config reads the file", "parse_args reads the file"),
    ("Alice owns the release", "In short, Bob owns the release"),
    ("The token expires after a day", "The token expires before a day"),
    ("The admin endpoints need a token", "The endpoints need a token"),
    ("We use Redis", "Do we use Redis?"),
    (
        "Previews are deleted when the branch is merged",
        "Previews are merged when the branch is deleted",
    ),
    ("The rates are read by the job", "The job read the rates"),
    ("Tokens are hashed before they are stored", "Tokens are stored before they are hashed"),
    *((group["fact"], other) for group in PAIRS for other in group["different"]),
]
PARAPHRASES = [
    ("The ledger uses SQLite in WAL mode.", "the ledger uses SQLite in WAL mode"),
    ("We deploy by tagging a release", "Deploy by tagging a release"),
    ("In staging, the cache is off", "The cache is off in staging."),
    ("The queue is drained by three workers", "3 workers drain the queue"),
    ("Uploads are limited to 10 MB", "We limit uploads to 10MB"),
    ("Every endpoint must validate its input", "Every endpoint has to validate its input"),
    ("Never log tokens", "Don't log tokens"),
    ("Retry at most 5 times", "Retry no more than 5 times"),
    ("The feature flag new_cart is on", "The new_cart feature flag is on"),
]
AGAINST = [
    ("The dev database listens on port 5433", "The dev database listens on port 5432", "5432"),
    ("Gzip is disabled on the CDN", "Gzip is enabled on the CDN", "enabled"),
    ("Do not retry failed webhooks", "Retry failed webhooks three times", "negation"),
    ("Logs are kept for two months", "Logs are kept for two weeks", "weeks"),
    ("The user prefers spaces over tabs", "The user prefers tabs over spaces", "order"),
    ("The demo is on 4 May", "The demo is on 4 June", "june"),
    ("Use pnpm for the frontend, not npm", "Use npm for the frontend", "npm"),
    ("Variables are written in snake_case", "Variables are written in camelCase", "camelCase"),
    ("Use spaces for indentation", "Use tabs for indentation", "tabs"),
    ("Bob owns the deploy pipeline", "Alice owns the deploy pipeline", "alice"),
    ("We branch off develop", "We branch off main", "main"),
    ("The client never retries on 503", "The client retries on 503", "negation"),
    ("Sessions are cached in Redis now", "We cache sessions in Memcached", "memcached"),
    ("Tests run one by one, not in parallel", "Tests run in parallel", "parallel"),
    ("Merge requests need one approval", "Merge requests need two approvals", "2"),
    ("Snapshots are taken every six hours", "Snapshots are taken hourly", "hourly"),
    ("Releases are cut from next", "Releases are cut from main", "main"),
    ("Old builds are deleted after 30 days", "Old builds are kept for 90 days", "90 days"),
    ("The portal was rewritten in Rust", "The portal is written in Go", "rust"),
    ("The portal uses Django now", "The portal runs on Rails", "django"),
    ("The site is built with Vite since last week", "The site is built with webpack", "vite"),
    ("Mails are sent by Postmark", "Mailgun sends our mails", "mailgun"),
    ("Ruff is our formatter", "The formatter is Black", "ruff"),
    ("We use Valkey as the broker", "The broker is Redis", "valkey"),
    ("A score below 8 ms fails the check", "A score below 5 ms fails the check", "5 ms"),
    (
        "The console is reachable from the office",
        "The console is only reachable over SSH",
        "office",
    ),
]
BESIDE = [
    ("Postgres in staging listens on port 5433", "Postgres in dev listens on port 5432", 0.81),
    ("MIN_CONNECTIONS is 5 in the pool", "MAX_CONNECTIONS is 50 in the pool", 0.78),
    ("The parser is written in Rust", "The worker is written in Go", 0.34),
    ("A variant has its own price", "A variant has its own stock", 0.76),
    ("The parser has three replicas", "The parser is called over HTTP", 0.59),
    ("Browser tests run every night", "Browser tests take 22 minutes", 0.73),
    ("The worker is deployed with Helm", "The worker is written in Go", 0.30),
    ("Admin sessions expire after 10 minutes", "Sessions expire after 30 minutes", 0.81),
    ("Failed downloads are not retried", "Failed uploads are retried twice", 0.57),
    ("A team has at most 5 projects", "A team has at most 30 members", 0.60),
    ("The parser calls the resolver", "The parser calls the lexer", 0.62),
    ("MAX_POOL is 40 in the worker", "MAX_POOL is 20 in the API", 0.77),
    ("The backend calls the frontend over HTTP", "The frontend calls the backend over HTTP", 0.99),
    ("Ticket 42 asks for a login page", "Ticket 41 asks for a login page", 0.93),
    ("Error E21 means that the lid is open", "Error E12 means that the paper is empty", 0.52),
    ("The retry delay ends at 60 seconds", "The retry delay starts at 1 second", 0.89),
    ("Do not log refresh tokens", "Do not log access tokens", 0.77),
    ("The job has backups every day", "The job needs 8 GB of memory", 0.35),
    ("Backups of the wiki run every day", "Backups of the ledger run every hour", 0.61),
    ("The site is deployed with Helm", "The site is deployed from main", 0.59),
    ("The worker does not call the parser", "The parser calls the worker back", 0.85),
    ("The report is sent to the auditors too", "The report is sent to the managers", 0.71),
    ("The worker uses gRPC between services", "The worker is written in Go", 0.41),
    (
        "The worker is written in Go. Its tests need no network.",
        "The worker is written in Go.",
        0.70,
    ),
    ("Load tests use k6", "Load tests run before each release", 0.54),
    ("The portal runs on Rails", "The portal uses PostgreSQL", 0.64),
    ("Gift cards can be combined with coupons", "Gift cards can be used several times", 0.71),
    ("Changes to payments need two reviews", "Pull requests need one review", 0.46),
    ("Shipping is free above 60 euros", "Shipping within Germany costs 4.90 euros", 0.65),
    ("X-rays are stored as DICOM", "X-rays are stored for ten years", 0.70),
    ("Machine m12 holds shard 15", "Machine m11 holds shard 8", 0.92),
    ("src/dns.py belongs to deploy", "src/http.py belongs to root", 0.85),
    ("Release 3.0 is cut from next", "Release 2.4 is cut from main", 0.85),
    ("Shelf D holds the spare cables", "Shelf A holds the spare disks", 0.68),
]
"""With the cosine of their vectors."""
REWORDED = [
    ("Anybody can publish a release from now on.", "Only Ops publishes releases.", 0.63),
    (
        "The parser got replaced, tree-sitter does the parsing now.",
        "We parse with a parser written by hand.",
        0.61,
    ),
    (
        "Uploads went up to 50 MB after the customers complained.",
        "Uploads are limited to 20 MB.",
        0.78,
    ),
]
words = st.lists(
    st.sampled_from(
        [
            "the",
            "cache",
            "of",
            "dev",
            "is",
            "not",
            "on",
            "port",
            "5432",
            "must",
            "run",
            "before",
            "deploy",
            "by",
            "MAX_SIZE",
        ]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)


@pytest.mark.parametrize(("one", "other"), NEAR_MISSES)
def test_near_misses_are_never_the_same(one: str, other: str) -> None:
    """A number, a negation, an opposite, a day, a name or the order keeps two texts apart, however
    close their vectors are, and whichever comes first."""
    assert dedup.compare(one, other, 0.999).outcome is not Outcome.SAME
    assert dedup.compare(other, one, 0.999).outcome is not Outcome.SAME
    assert dedup.compare(one, other, None).outcome is not Outcome.SAME


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_other_grammar_is_the_same(one: str, other: str) -> None:
    """A phrase in front, the passive, or another way to say "must" makes no other assertion."""
    assert dedup.compare(one, other, 0.95).outcome is Outcome.SAME
    assert dedup.compare(other, one, 0.95).outcome is Outcome.SAME


@pytest.mark.parametrize(("one", "other", "reason"), AGAINST)
def test_other_values_speak_against_each_other(one: str, other: str, reason: str) -> None:
    """What differs in a number, a day, a negation or its roles alone contradicts, and the reason
    says in what."""
    verdict = dedup.compare(one, other, 0.9)
    assert verdict.outcome is Outcome.CONTRADICTS
    assert reason in verdict.reason


@pytest.mark.parametrize(("one", "other", "cosine"), BESIDE)
def test_facts_of_two_things_stand_beside_each_other(one: str, other: str, cosine: float) -> None:
    """What is said of another thing, or another thing said of one, contradicts nothing."""
    verdict = dedup.compare(one, other, cosine, are_short=True)
    assert verdict.outcome in (Outcome.RELATED, Outcome.NEW)


@pytest.mark.parametrize(("newer", "older", "cosine"), REWORDED)
def test_what_is_said_in_quite_other_words_contradicts_by_weights(
    newer: str, older: str, cosine: float
) -> None:
    """No rule reads it: weights do, of what is short and was told. What says the same is no contradiction."""
    verdict = dedup.compare(newer, older, cosine, are_short=True)
    assert verdict.outcome is Outcome.CONTRADICTS
    assert " / " in verdict.reason
    assert dedup.compare(newer, older, None, are_short=True).outcome is Outcome.NEW
    assert dedup.compare(newer, older, cosine).outcome is not Outcome.CONTRADICTS
    longer = newer + " And that is so" + " for good" * 15
    assert dedup.compare(longer, older, cosine, are_short=True).outcome is not Outcome.CONTRADICTS
    again = dedup.compare(older + " Really.", older, 0.9, are_short=True)
    assert again.outcome is not Outcome.CONTRADICTS


def test_distance_decides_first() -> None:
    """Equal words with vectors apart are not the same; texts far apart have nothing in common."""
    assert dedup.compare("apple tree", "apple tree", 0.85).outcome is Outcome.RELATED
    assert dedup.compare("apple tree", "apple tree", 0.5).outcome is Outcome.NEW


def test_without_vectors_words_decide() -> None:
    """Without a model only the same words are the same, and many common ones relate."""
    fact = "The ledger stores its rows in Postgres"
    assert (
        dedup.compare("the ledger stores its rows in postgres.", fact, None).outcome is Outcome.SAME
    )
    other = "The ledger stores its rows and blobs in Postgres"
    assert dedup.compare(other, fact, None).outcome is Outcome.RELATED
    assert dedup.compare("The login page is slow", fact, None).outcome is Outcome.NEW


@given(words)
def test_a_text_is_always_itself(text: str) -> None:
    """Whatever it says, a text asserts what it asserts."""
    assert wording.same_assertion(text, text)


@given(words, words)
def test_the_same_has_the_same_numbers_and_names(one: str, other: str) -> None:
    """No rewriting loses or invents a number, an identifier or a negation; it is symmetric."""
    same = wording.same_assertion(one, other)
    assert same == wording.same_assertion(other, one)
    if same:
        for kept in ("5432", "MAX_SIZE", "not", "before", "must"):
            counts = [text.split().count(kept) for text in (one, other)]
            assert counts[0] == counts[1] or kept == "must"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_gets_a_verdict(one: str, other: str) -> None:
    """No text breaks it, and what it calls the same is never told from its own reading."""
    assert dedup.compare(one, other, 0.99).outcome in Outcome


def test_errands_leave_each_other_to_be_done() -> None:
    """Both are to be done; where one thing is chosen, the other one is not."""
    compare = dedup.compare
    assert compare("buy eggs", "buy milk", 0.7).outcome is not Outcome.CONTRADICTS
    assert compare("Call the dentist.", "Call the plumber.", 0.7).outcome is not Outcome.CONTRADICTS
    assert compare("We deploy on Mondays.", "We deploy on Fridays.", 0.8).outcome is (
        Outcome.CONTRADICTS
    )
