"""The stores: journals, and how far the index has followed them."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory import config
from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.cli.counts import uses, with_count
from vector_memory.errors import VectorMemoryError
from vector_memory.system.paths import Home

CHECK_S = 600.0
REBUILD = "Run `vector-memory rebuild`."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what the daemon finds in its stores."""
    checked = case.ask("check", CHECK_S, read_data=False)
    stats = case.ask("stats")
    yield from _problems(checked)
    yield from _not_opened(case)
    yield from _store_states(stats)


def _remedy() -> str:
    """Return what to do about a model that fails: go back from what was chosen, or set up anew."""
    home = Home()
    chosen = [
        name
        for name in ("embedding_backend", "embedding_model")
        if name in config.read_file(home.config)
    ]
    if chosen:
        commands = " and ".join(f"`vector-memory config unset {name}`" for name in chosen)
        return f"Mend that, or go back to the usual model: {commands}."
    return "Run ./bootstrap.sh in the plugin's folder, or see logs/daemon.log."


def _problems(checked: Row) -> Iterator[CheckResult]:
    problems = checked.rows("problems")
    for problem in problems:
        message = f"{problem.text('store')}: {problem.text('what')}"
        yield fail(message, problem.text("fix"))
    if not problems:
        yield ok("Journals and index agree")
    for damage in checked.rows("set_aside"):
        yield set_aside(damage)


def _not_opened(case: Case) -> Iterator[CheckResult]:
    """Tell of the `.memory/` of the folder that this is asked from, where it is not opened."""
    request = {**asking.target(), "k": 1}
    try:
        listed = Row(case.daemon().ask("list", request, start=False))
    except VectorMemoryError:
        # What is wrong with the stores is told beside this.
        return
    for why in listed.texts("unopened"):
        message, _, fix = why.partition(" If you know ")
        yield warn(message, f"If you know {fix}" if fix else REBUILD)


def set_aside(damage: Row) -> CheckResult:
    """Return what is told of a damaged file for as long as its copy is there."""
    lost, saved = damage.count("lost_count"), damage.count("kept")
    if lost:
        missing = f"{lost} at least are lost"
    else:
        # Of what could not be read at all nobody knows what it held.
        missing = "none is known to be lost" if saved else "an unknown number of them is lost"
    message = f"Damage was mended on {damage.text('at')[:10]}: {saved} rows were saved, {missing}."
    fix = f"`vector-memory restore` brings back a backup; else delete {damage.text('aside')}"
    return warn(f"{message} ({damage.text('why')})", fix)


def _store_states(stats: Row) -> Iterator[CheckResult]:
    stores = stats.rows("stores")
    for store in stores:
        folder = store.text("folder")
        if failure := store.text("failed"):
            yield fail(f"{folder}: {failure}", REBUILD)
        if not store.flag("writable", True):
            fix = "Make its folder and its files writable, if you want to add to it."
            yield warn(f"{folder} can only be read.", fix)
    # A store whose index is just being opened counts as one that waits.
    pending = sum(store.count("pending_vectors") for store in stores)
    pending = min(pending, stats.count("memories"))
    embedding = stats.row("embedding")
    state, model = embedding.text("state", "?"), embedding.text("model", "no model")
    if state == "failed":
        error = embedding.text("error", "no reason is known")
        yield fail(f"The embedding model failed: {error}", _remedy())
    else:
        yield ok(f"{output.memories(stats.count('memories'))}; {model} is {state}")
    if words := uses(stats.row("uses")):
        yield ok(words)
    if pending:
        fix = "It catches up by itself; until then words find them."
        yield warn(with_count(pending, "[memory is/memories are] not in the index yet."), fix)
