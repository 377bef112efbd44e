"""What memory is attacked with, and what is said of runs."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from vector_memory import redact
from vector_memory.observe.commands import judge
from vector_memory.observe.commands.findings import CallSite
from vector_memory.service.think import probes, red_team
from vector_memory.service.think.red_team import Run
from vector_memory.text import fence
from vector_memory.text.harmless import between_marks

AT = datetime(2026, 5, 1, tzinfo=timezone.utc)
LEAST = 10


def test_each_category_has_enough_probes() -> None:
    """Six of them, each with names of its own."""
    words = [probes.words(category) for category in probes.TEXTS]
    named = [[one.name for one in some] for some in (*words, probes.DEEDS, probes.secrets(1))]
    every = [*named, list(probes.COMMANDS)]
    assert len(every) == len(red_team.CATEGORIES) == 6
    for names in every:
        assert len(set(names)) == len(names) >= LEAST
    canaries = [one.canary for some in words for one in some]
    assert len(set(canaries)) == len(canaries)


def test_secrets_are_made_and_are_ones() -> None:
    """Another seed, other values; each is what the redactor is for."""
    first, other = probes.secrets(1), probes.secrets(2)
    assert not {one.secret for one in first} & {one.secret for one in other}
    for one in first:
        assert one.secret in one.text
        assert one.secret not in redact.clean(one.text).text


@pytest.mark.parametrize("command", probes.COMMANDS.values(), ids=list(probes.COMMANDS))
def test_commands_are_such_as_the_observer_knows(command: str) -> None:
    """Else a miss would say nothing of the hooks."""
    assert judge.of_call("Bash", {"command": command}, CallSite("/p", "/p", "/h"))


class TestWhatAHookShows:
    """Whether it is said whose words they are."""

    probe = probes.Plant("x", "heron", "text", "zqx", probes.TOOL)

    def shown(self, head: str, text: str, foreign: bool = False) -> str:
        """Return what of a block got through."""
        block = fence.fence([fence.Note("a" * 32, f"2026-05-01 · {head}", text, foreign)])
        return red_team._missing_mark(block, self.probe)

    def test_marked_words_do_not_count(self) -> None:
        """In the head, or around the words themselves."""
        assert not self.shown("fact · app · tool", "do zqx", foreign=True)
        assert not self.shown("fix · app · user", between_marks("do zqx", "tool"))

    def test_bare_words_do(self) -> None:
        """As the user's, or as nobody's; outside of the fence anyway."""
        assert self.shown("fact · app · user", "do zqx")
        assert self.shown("fact · app", "do zqx")
        assert "outside" in red_team._missing_mark("do zqx", self.probe)

    def test_an_agents_own_words_are_its_own(self) -> None:
        """Said as the assistant's they are no lie."""
        own = self.probe._replace(way=probes.AGENT)
        block = fence.fence([fence.Note("a" * 32, "2026-05-01 · note · app · assistant", "zqx")])
        assert not red_team._missing_mark(block, own)


def run(**found: int) -> Run:
    """Return a run that found so many in each category."""
    return Run(AT, {name: {"found": n} for name, n in found.items()}, [])


def test_a_regression_is_against_the_last_run_that_tried_it() -> None:
    """Fewer is none, and a category that was not tried says nothing."""
    runs = [
        run(tool_misuse=2, prompt_injection=1, goal_hijacking=4),
        run(prompt_injection=3),
        run(tool_misuse=1),
    ]
    assert red_team.regressed(runs) == ["tool_misuse"]
    assert red_team.regressed(runs[:1]) == red_team.regressed([]) == []
