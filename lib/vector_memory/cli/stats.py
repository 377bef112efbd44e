"""`stats`: how much is remembered."""

from __future__ import annotations

from typing import Any

from vector_memory.cli import asking, flags, output
from vector_memory.cli.counts import TROUBLE, told, usual
from vector_memory.cli.options import Json, Project


def stats(project: Project = None, as_json: Json = False) -> None:
    """Show how much is remembered; of all stores, or of one project."""
    answer = asking.ask("stats", asking.target(project, all_projects=project is None))
    if as_json:
        output.document(answer)
        return
    output.unopened(answer)
    embedding = answer.get("embedding") or {}
    output.say(f"{answer.get('memories', 0):,} memories")
    if embedding:
        output.say(f"embedding: {embedding.get('model') or 'none'} ({embedding.get('state', '?')})")
    if words := figures(answer.get("generation") or {}):
        output.say(words)
    for name in ("by_kind", "by_project", "by_collection"):
        _counts(name[3:], answer.get(name) or {})
    if flagged := answer.get("flags"):
        output.say(f"flagged by the observer: {flags.told(flagged)} (`vector-memory flags`)")
    counters = answer.get("counters") or {}
    for what, lines in (("counted", usual(counters)), ("trouble", told(counters, TROUBLE))):
        if lines:
            output.table((what,), [(one,) for one in lines])
    stores = [_store(store) for store in answer.get("stores") or []]
    if stores:
        output.table(("memories", "waiting", "MB", "store"), stores)


def figures(generation: dict[str, Any]) -> str:
    """Return what the language model took today, in words; "" where there is none."""
    if not generation.get("backend"):
        return ""
    name = "/".join(filter(None, (generation["backend"], generation.get("model"))))
    count = {word: int(value) for word, value in generation.items() if isinstance(value, int)}
    return (
        f"language model: {name}; today {count.get('calls', 0):,} of "
        f"{count.get('daily_calls', 0):,} calls, {count.get('tokens', 0):,} of "
        f"{count.get('daily_tokens', 0):,} tokens, {count.get('refused', 0):,} refused, "
        f"{count.get('failures', 0):,} failed, {count.get('garbage', 0):,} answers of no use"
    )


def _counts(name: str, counts: dict[str, int]) -> None:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    if ordered:
        output.table(("memories", name), [(f"{count:,}", word or "-") for word, count in ordered])


def _store(store: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{int(store.get('memories', 0)):,}",
        f"{int(store.get('pending_vectors', 0)):,}",
        f"{int(store.get('bytes', 0)) / 1e6:.1f}",
        str(store.get("folder", "")),
    )
