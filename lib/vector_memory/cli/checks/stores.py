"""The stores: journals, and how far the index has followed them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vector_memory.cli import asking
from vector_memory.cli.checks import FAIL, OK, WARN, Case, CheckResult
from vector_memory.cli.progress import follow
from vector_memory.errors import VectorMemoryError

REBUILD = "Run `vector-memory rebuild`."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what the daemon finds in its stores."""
    if case.status is None:
        yield CheckResult("stores", WARN, "Not checked: no daemon runs.", "Mend the daemon first.")
        return
    everything = asking.target(all_projects=True)
    daemon = case.daemon()
    try:
        checked = follow(
            daemon.stream("check", {**everything, "read_data": False}, start=False), quiet=True
        )
        stats = daemon.ask("stats", everything, start=False)
    except VectorMemoryError as error:
        yield CheckResult("stores", FAIL, error.message, error.hint)
        return
    yield from _problems(checked)
    yield from _followed(stats)


def _problems(checked: dict[str, Any]) -> Iterator[CheckResult]:
    problems = checked.get("problems") or []
    for one in problems:
        message = f"{one.get('store', '')}: {one.get('what', '')}"
        yield CheckResult("stores", FAIL, message, str(one.get("fix") or ""))
    if not problems:
        yield CheckResult("stores", OK, "Journals and index agree")
    for one in checked.get("set_aside") or []:
        yield _set_aside(one)


def _set_aside(one: dict[str, Any]) -> CheckResult:
    """Tell of a damaged file for as long as its copy is there."""
    lost, kept = int(one.get("lost_count") or 0), int(one.get("kept") or 0)
    missing = f"{lost} at least are lost" if lost else "none is known to be lost"
    message = f"Damage was mended on {str(one.get('at'))[:10]}: {kept} rows were saved, {missing}."
    fix = f"`vector-memory restore` brings back a backup; else delete {one.get('aside')}"
    return CheckResult("stores", WARN, f"{message} ({one.get('why')})", fix)


def _followed(stats: dict[str, Any]) -> Iterator[CheckResult]:
    stores = stats.get("stores") or []
    for one in stores:
        if one.get("failed"):
            yield CheckResult("stores", FAIL, f"{one.get('folder')}: {one['failed']}", REBUILD)
        if not one.get("writable", True):
            fix = "Make its folder and its files writable, if you want to add to it."
            yield CheckResult("stores", WARN, f"{one.get('folder')} can only be read.", fix)
    pending = sum(int(one.get("pending_vectors") or 0) for one in stores)
    embedding = stats.get("embedding") or {}
    state, model = str(embedding.get("state") or "?"), embedding.get("model") or "no model"
    if state == "failed":
        fix = "Run ./bootstrap.sh in the plugin's folder, or see logs/daemon.log."
        error = embedding.get("error") or "no reason is known"
        yield CheckResult("stores", FAIL, f"The embedding model failed: {error}", fix)
    else:
        yield CheckResult("stores", OK, f"{stats.get('memories', 0)} memories; {model} is {state}")
    if pending:
        fix = "It catches up by itself; until then words find them."
        yield CheckResult("stores", WARN, f"{pending} memories are not in the index yet.", fix)
