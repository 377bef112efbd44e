"""What `doctor` looks at: one module for each family of hops, each with a `check` that yields
findings. A check that breaks is a finding itself."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from vector_memory import config
from vector_memory.cli import asking
from vector_memory.cli.answers import Row
from vector_memory.config import Settings
from vector_memory.errors import VectorMemoryError
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

OK, WARN, FAIL = "ok", "warn", "fail"
FAMILIES = (
    "runtime", "model", "daemon", "stores", "hooks", "client", "generation", "privacy", "trouble", "jobs",
    "attacks", "disk",
)  # fmt: skip


class CheckResult(NamedTuple):
    """What was found at one hop. `fix` says what to do, unless all is well."""

    hop: str
    state: str
    message: str
    fix: str = ""


def ok(message: str, fix: str = "") -> CheckResult:
    """Return that all is well; `examine` adds the hop, here and below."""
    return CheckResult("", OK, message, fix)


def warn(message: str, fix: str) -> CheckResult:
    """Return what is not as it should be, though things work."""
    return CheckResult("", WARN, message, fix)


def fail(message: str, fix: str) -> CheckResult:
    """Return what does not work."""
    return CheckResult("", FAIL, message, fix)


class NotRunning(VectorMemoryError):
    """No daemon runs that could be asked."""


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

    def ask(self, verb: str, timeout_s: float = asking.TIMEOUT_S, **fields: object) -> Row:
        """Ask the daemon about all stores; it is not started for that.

        Raises:
            NotRunning: there is none.
            VectorMemoryError: what the daemon reported.
        """
        if self.status is None:
            raise NotRunning("Not checked: no daemon runs.", "Mend the daemon first.")
        request = {**asking.everywhere(), **fields}
        return Row(self.daemon().ask(verb, request, timeout_s, start=False))

    @cached_property
    def health(self) -> Row:
        """What the daemon says of itself; without fields where it fails to: the check of the last errors tells that."""
        try:
            return self.ask("doctor")
        except VectorMemoryError:
            return Row()

    def settings(self) -> Settings | None:
        """Return the settings, None where they are not in order: the check of the model tells that."""
        try:
            return config.load(self.home.config)
        except VectorMemoryError:
            return None


def examine(start: bool) -> list[CheckResult]:
    """Return what every check found, in the order of the hops."""
    case = Case(Home(), start)
    return [finding for name in FAMILIES for finding in _examined(name, case)]


def _examined(name: str, case: Case) -> Iterator[CheckResult]:
    try:
        for result in importlib.import_module(f"{__name__}.{name}").check(case):
            yield result._replace(hop=result.hop or name)
    except NotRunning as error:
        yield CheckResult(name, WARN, error.message, error.hint)
    except VectorMemoryError as error:
        yield CheckResult(name, FAIL, error.message, error.hint)
    except Exception as error:
        # One broken check must not hide what the others find.
        broke = f"This check broke: {type(error).__name__}: {error}"
        yield CheckResult(name, FAIL, broke, "Report it.")
