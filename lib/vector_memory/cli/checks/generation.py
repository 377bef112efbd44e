"""The language model, where one is chosen: whether it is there, and how today's calls went. It is
asked nothing: that would cost."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, ok, warn
from vector_memory.cli.stats import figures
from vector_memory.config import Settings
from vector_memory.errors import VectorMemoryError
from vector_memory.generate import registry

TIMEOUT_S = 20.0
USES = ("hyde", "rerank", "extraction")
CHOOSE = "Choose one: `vector-memory config set generation_backend ollama` (or client)."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield whether the chosen model is there, and today's figures."""
    settings = case.settings()
    if settings is None:
        return
    if not settings.generation_backend:
        yield _without_model(settings)
        return
    yield _with_model(settings)
    if case.status is not None:
        yield from _today(case)


def _without_model(settings: Settings) -> CheckResult:
    uses_on = [name for name in USES if getattr(settings, name)]
    if uses_on:
        return warn(f"{uses_on[0]} is on, but asks no model.", CHOOSE)
    return ok("No language model is asked")


def _with_model(settings: Settings) -> CheckResult:
    try:
        generator = registry.create(settings)
        generator.check(TIMEOUT_S)
    except VectorMemoryError as error:
        return warn(error.message, error.hint)
    return ok(f"{generator.name} is there")


def _today(case: Case) -> Iterator[CheckResult]:
    today = case.health.row("generation")
    if error := today.text("error"):
        message = f"The last call failed: {error}"
        yield warn(message, "Everything goes on without it meanwhile.")
    if words := figures(today):
        fix = "Raise generation_daily_calls or generation_daily_tokens, if you want more."
        yield warn(words, fix) if today.flag("refused") else ok(words)
