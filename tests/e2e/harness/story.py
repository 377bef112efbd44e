"""The decision that one session takes and later ones need: said once, asked for in other words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.request import Request, injections, texts

PROMPT = "The ledger needs a database. Which one shall we take?"
FACT = "SQLite in WAL mode"
ANSWER = f"We'll use {FACT} for the ledger, because one process writes and readers must never wait."
QUESTION = "What storage engine did we pick for the bookkeeping data?"
AGAIN = "And which database is it that the ledger runs on?"
TRIES = 4


@dataclass(frozen=True)
class Decided:
    """A project in which session one took the decision."""

    project: Path
    session: str
    days: frozenset[str]
    """The dates (ISO, UTC) on which it may have been taken: two around midnight."""


def decide(client: Client, product: Installation, project: Path) -> Decided:
    """Run session one in `project` and wait until its decision is remembered."""
    before = product.look()["memories"]
    days = {_today()}
    run = client.session(PROMPT, cwd=project, replies=[ANSWER], plugin=product.plugin)
    assert run.result == ANSWER
    assert_unharmed(run)
    product.settle(before + 1)
    return Decided(project, run.session, frozenset(days | {_today()}))


def in_time(product: Installation, session: Callable[[], Run]) -> Run:
    """Return a run in which no hook was late: one says nothing where the machine was too busy for it, and then
    another session does the same."""
    for _ in range(TRIES):
        late = product.late_hooks()
        run = session()
        if product.late_hooks() == late:
            break
    return run


def mentions(request: Request, fact: str = FACT) -> int:
    """Count how often the model would read the fact in a request."""
    return "\n".join(texts(request)).count(fact)


def recalled(request: Request, fact: str = FACT) -> list[str]:
    """Return the memory's blocks in the request that hold the fact."""
    return [block for block in injections(request) if fact in block]


def assert_unharmed(run: Run) -> None:
    """Fail unless the session ended well and none of its hooks was noticed as failing."""
    assert run.returncode == 0
    assert run.events[-1].get("type") == "result"
    assert not run.events[-1].get("is_error")
    for response in run.hooks():
        assert response["exit_code"] == 0
        assert response["outcome"] == "success"
        assert response["stderr"] == ""


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()
