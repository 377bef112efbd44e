"""The daemon: whether it runs, or starts, and is of this version."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.cli.answers import Row
from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.errors import VectorMemoryError
from vector_memory.system.paths import version

MAX_RSS_MB = 600


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what is found of the daemon; its status stays in the case."""
    case.status = case.daemon().running()
    if case.status is None and not case.start:
        fix = "It starts by itself; or run `vector-memory daemon start`."
        yield warn("None runs.", fix)
        return
    if case.status is None:
        try:
            case.status = case.daemon().start()
        except VectorMemoryError as error:
            see = f"See {case.home.path('logs', 'daemon.out')}."
            yield fail(f"It does not start: {error.message}", f"{error.hint} {see}".lstrip())
            return
    if why := Row(case.status).text("error"):
        # Whatever it is asked, it has nothing else to say.
        case.status = None
        yield fail(f"It can open no store: {why}", "Mend that; it starts anew by itself.")
        return
    yield from _running(Row(case.status))
    # A mistake in the file, which holds here, too, the check of the model tells.
    if (why := case.health.text("settings_error")) and case.settings() is not None:
        yield fail(
            f"It runs with settings that are not in order, so that nothing may be captured: {why}",
            "Then run `vector-memory daemon stop`: the next session starts it anew.",
        )


def _running(status: Row) -> Iterator[CheckResult]:
    state, running = status.text("state", "?"), status.text("version", version())
    yield ok(f"Process {status.text('pid')}, {state}")
    if running != version():
        message = f"It is version {running}, this is {version()}."
        yield warn(message, "Run `vector-memory daemon stop`.")
    rss_mb = status.number("rss_mb")
    if rss_mb > MAX_RSS_MB:
        message = f"It uses {rss_mb:.0f} MB."
        yield warn(message, "Run `vector-memory daemon stop`.")
    if variables := ", ".join(status.texts("variables")):
        yield warn(
            f"It runs with {variables} of the session that started it, for all sessions.",
            "Set what holds for all with `vector-memory config set`, and start it anew from a session without: "
            "`vector-memory daemon stop`.",
        )
