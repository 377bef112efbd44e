"""The table of the daemon's verbs: that what it names exists, and that its words are known."""

from __future__ import annotations

import inspect

import pytest

from vector_memory.daemon import verbs
from vector_memory.daemon_verbs import VERBS, named
from vector_memory.service.base import messages
from vector_memory.service.base.contracts import MEMORY_ACTS

OF_THE_SERVICE = [name for name, verb in VERBS.items() if verb.answered_by != "daemon"]


@pytest.mark.parametrize("name", OF_THE_SERVICE)
def test_a_use_case_takes_the_request_that_the_table_names(name: str) -> None:
    act, kind = verbs.use_case(name)
    assert issubclass(kind, messages.Request)
    _, request, *more = inspect.signature(act).parameters.values()
    assert str(request.annotation).rpartition(".")[2] == kind.__name__
    assert bool(more) == (name in verbs.LONG)


def test_words_of_verbs_are_acts_and_marks() -> None:
    words = {word for verb in VERBS.values() for word in verb.words}
    assert words == {*MEMORY_ACTS, "long", "shown", "twice", "page", "look"}
    own = {name for name, verb in VERBS.items() if verb.answered_by == "daemon"}
    assert own == {"import", "import_notes", "backfill", "export", "purge"}


def test_what_shows_a_memory_recalls_it() -> None:
    """Whatever else it does with memories; what stores one tells what it was told."""
    others = named("change") | named("forget") | named("share")
    assert named("shown") & others <= named("recall")
