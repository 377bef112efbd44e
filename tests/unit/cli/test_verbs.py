"""The table of verbs: that what it names exists, and how its lines are read."""

from __future__ import annotations

import inspect
from datetime import datetime

import pytest

from vector_memory.cli import verbs
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.verbs import VERBS, Parameter, Verb
from vector_memory.daemon.verbs import LONG, SIMPLE

LEAVES = [verb for verb in VERBS.values() if verb.does]
AT_THE_DOOR = {"restore", "retry"}


@pytest.mark.parametrize("verb", LEAVES, ids=[verb.name for verb in LEAVES])
def test_what_a_verb_names_exists(verb: Verb) -> None:
    """Its function takes the call or the answer, then only what the verb takes; the daemon knows what is asked."""
    function = verbs._load_attribute(f"vector_memory.cli.{verb.does}")
    first, *wanted = inspect.signature(function).parameters
    assert first == "call" or verb.asks
    assert set(wanted) <= {parameter.name for parameter in verb.parameters}
    asked = verb.asks.split()[0] if verb.asks else "list"
    assert asked in {**SIMPLE, **LONG} or asked in AT_THE_DOOR, asked


def test_what_is_shared_is_used() -> None:
    """No line of the table's head stands there for nothing."""
    taken = {parameter.name for verb in VERBS.values() for parameter in verb.parameters}
    assert set(verbs.SHARED) <= taken


def test_a_line_says_name_type_and_default() -> None:
    """An option is called as it is typed, or as the line says; only what must be given has no default."""
    limit = Parameter("-k N | int 1..9 = 3 | At most.").parameter
    assert (limit.name, limit.default) == ("k", 3)
    days = Parameter("--half-life DAYS as days | int 0.. | Days.").parameter
    assert (days.name, days.default) == ("days", None)
    assert Parameter("--raise ID | many text | Up.").parameter.name == "raise_"
    assert (
        Parameter("FILE|DIR as paths | many text | Files.").parameter.default
        is inspect.Parameter.empty
    )
    assert Parameter("--dry-run | local flag | Look.").parameter.default is False


def test_a_request_is_what_was_given() -> None:
    """Neither what is local nor what was not said; what the verb always says is added."""
    values = {"name": "x", "yes": True, "at": datetime(2026, 11, 20), "note": None}
    request = Invocation(
        "token here action=new whole=true", values, ["name", "at", "note"]
    ).request()
    said = {
        name: request[name]
        for name in request.keys() - {"cwd", "project", "global", "all_projects", "actor"}
    }
    assert said == {"name": "x", "at": "2026-11-20T00:00:00", "action": "new", "whole": True}
