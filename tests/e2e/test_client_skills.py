"""The skills in the real client: what they show, what they have the model run, and that the user's
words are only text to all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.reply import Call
from e2e.harness.request import Request, injections, texts, tool_results
from e2e.harness.story import FACT, QUESTION, Decided

from vector_memory.service.inject.asked_recall import TITLE

pytestmark = pytest.mark.e2e

COMMAND = re.compile(r"^\s*(vector-memory [^\n]*<<'(\w+)')$", re.MULTILINE)
ODD = "what's \"the ledger's\" `database`, $(id) or ${HOME}; \\ 'and' | why & how? <x> {0} %s"


@pytest.fixture(scope="module")
def decided(
    shared_client: Client, shared_product: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Decided:
    """A project in which the decision was taken a session ago."""
    return story.decide(shared_client, shared_product, tmp_path_factory.mktemp("ledger"))


class Obedient:
    """A model that does what a skill says: it runs the skill's command on the user's text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, request: Request) -> Call:
        """Return the call of the Bash tool with the skill's own heredoc around the text."""
        found = COMMAND.findall("\n".join(texts(request)))
        assert found, "the skill shows no command that reads its text from a heredoc"
        line, marker = found[-1]
        command = "\n".join([line.replace(" KIND ", " decision "), self.text, marker])
        return Call("Bash", {"command": command, "description": "Ask the memory"})


def invoke(client: Client, product: Installation, decided: Decided, skill: str, text: str) -> Run:
    """Invoke a skill with a text, the model following it to the letter."""
    return client.session(
        f"/{skill} {text}",
        cwd=decided.project,
        replies=[Obedient(text), "That is what I found."],
        plugin=product.plugin,
    )


def results(run: Run) -> str:
    """Return what tools answered in a run, all together."""
    return "\n".join(text for request in run.main for text in tool_results(request))


@pytest.mark.parametrize("skill", ["remember", "memory-search"])
def test_asking_skills_answer(
    shared_client: Client, shared_product: Installation, decided: Decided, skill: str
) -> None:
    """/remember and /memory-search bring the decision, asked in other words."""
    run = invoke(shared_client, shared_product, decided, skill, QUESTION)
    story.assert_unharmed(run)
    assert FACT in results(run)


def test_remember_is_answered_with_its_prompt(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """The hits stand where the model begins, under the line that the skill names: it needs no command. The
    session's own talk is not burdened with them."""
    run = shared_client.session(
        f"/remember {QUESTION}",
        cwd=decided.project,
        replies=[f"It is {FACT}."],
        plugin=shared_product.plugin,
    )
    story.assert_unharmed(run)
    (request,) = run.main
    (block,) = story.recalled(request)
    assert TITLE in block
    assert "\n".join(texts(request)).count(f'"{TITLE}"') == 1
    later = shared_client.session(
        "Thanks.", cwd=decided.project, plugin=shared_product.plugin, resume=run.session
    )
    assert not any(TITLE in block for block in injections(later.main[0]))


@pytest.mark.parametrize("skill", ["remember", "memory-search", "memory-save", "forget"])
def test_the_users_words_are_only_text(
    shared_client: Client,
    shared_product: Installation,
    decided: Decided,
    skill: str,
    tmp_path: Path,
) -> None:
    """Quotes, substitutions and backticks reach the model and the command as they were typed, and
    nothing in them runs."""
    trap = tmp_path / "trap"
    text = f"{ODD} \"; touch {trap}; $(touch {trap}) `touch {trap}` ' ; touch {trap}"
    run = invoke(shared_client, shared_product, decided, skill, text)
    story.assert_unharmed(run)
    assert not trap.exists()
    assert any(text in one for request in run.main[:1] for one in texts(request))


def test_stats_are_shown(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """/memory-stats puts the figures before the model without a tool call."""
    run = shared_client.session(
        "/memory-stats", cwd=decided.project, replies=["One."], plugin=shared_product.plugin
    )
    story.assert_unharmed(run)
    shown = "\n".join(texts(run.main[0]))
    figures = json.loads(shown.split("All: ")[1].split("\n\n")[0])
    assert 1 <= figures["memories"] <= shared_product.look()["memories"]


def test_what_is_saved_is_recalled(
    shared_client: Client, shared_product: Installation, decided: Decided
) -> None:
    """What /memory-save stores is there at once, word for word, in this project."""
    text = 'Release notes go to "docs/NEWS.md" (never `CHANGES`), one line each: $5 per typo'
    run = invoke(shared_client, shared_product, decided, "memory-save", text)
    story.assert_unharmed(run)
    hits = shared_product.ask(
        "recall", "Where do release notes belong?", "--project", str(decided.project)
    )["hits"]
    assert text in [hit["text"] for hit in hits]
