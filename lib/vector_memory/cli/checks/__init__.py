"""What `doctor` looks at: one module for each family of hops, each with a `check` that yields
findings. A check that breaks is a finding itself."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from vector_memory.cli import asking
from vector_memory.cli.answers import Row
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

OK, WARN, FAIL = "ok", "warn", "fail"
FAMILIES = (
    "runtime",
    "model",
    "daemon",
    "stores",
    "hooks",
    "client",
    "generation",
    "privacy",
    "trouble",
    "jobs",
    "attacks",
    "disk",
)


class CheckResult(NamedTuple):
    """What was found at one hop. `fix` says what to do, unless all is well."""

    hop: str
    state: str
    message: str
    fix: str = ""


class Case:
    """What the checks share: the data home, the way to the daemon, and its status.

    Args:
        home: the data home.
        start: whether a daemon may be started.
    """

    def __init__(self, home: Home, start: bool) -> None:
        self.home = home
        self.start = start
        self.status: Mapping[str, object] | None = None

    def daemon(self) -> DaemonClient:
        """Return the way to the daemon."""
        from vector_memory.client.link import DaemonClient

        return DaemonClient(self.home)

    def ask(self, verb: str) -> Row:
        """Ask the daemon about all stores; it is not started for that.

        Raises:
            VectorMemoryError: what the daemon reported, or that there is none.
        """
        return Row(self.daemon().ask(verb, asking.everywhere(), start=False))


def examine(start: bool) -> list[CheckResult]:
    """Return what every check found, in the order of the hops."""
    case = Case(Home(), start)
    return [finding for name in FAMILIES for finding in _examined(name, case)]


def _examined(name: str, case: Case) -> Iterator[CheckResult]:
    try:
        yield from importlib.import_module(f"{__name__}.{name}").check(case)
    except Exception as error:
        # One broken check must not hide what the others find.
        yield CheckResult(
            name, FAIL, f"This check broke: {type(error).__name__}: {error}", "Report it."
        )
