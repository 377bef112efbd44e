"""`token`: who may use the gateway."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show_new(answer: Row) -> None:
    """Print a new token, this once."""
    output.say(answer.text("token"))


def show_all(answer: Row) -> None:
    """Print the tokens' names and rights."""
    output.listing(answer.rows("tokens"), COLUMNS, "There are no tokens.")


def show_revoked(answer: Row) -> None:
    """Print how many tokens are refused from now on."""
    output.say(f"Revoked {answer.count('revoked')}.")


def _limits(token: Row) -> str:
    return ", ".join(filter(None, [token.text("ceiling"), *token.texts("jurisdictions")]))


COLUMNS: dict[str, output.Cell] = {
    **output.fields("id name"),
    "rights": lambda token: ", ".join(token.texts("rights")),
    "project": lambda token: token.text("project", "all"),
    "up to": _limits,
    "until": lambda token: (
        f"lets nobody in: {token.text('problem')}"
        if token.text("problem")
        else token.text("until")[:16]
    ),
    "speaks for you": lambda token: "yes" if token.flag("speaks_for_me") else "",
}
