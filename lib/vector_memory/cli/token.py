"""`token`: who may use the gateway."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.tokens import RIGHTS

Right = Enum("Right", {name: name for name in RIGHTS}, type=str)  # type: ignore[misc]

app = options.group(
    "Let programs use the gateway (`serve`), each by a token with rights of its own.",
    no_args_is_help=True,
)
COLUMNS: dict[str, output.Cell] = {
    "id": lambda token: token.text("id"),
    "name": lambda token: token.text("name"),
    "rights": lambda token: ", ".join(token.texts("rights")),
    "project": lambda token: token.text("project", "all"),
    "up to": lambda token: ", ".join(
        filter(None, [token.text("ceiling"), *token.texts("jurisdictions")])
    ),
    "until": lambda token: (
        f"lets nobody in: {token.text('problem')}"
        if token.text("problem")
        else token.text("until")[:16]
    ),
    "speaks for you": lambda token: "yes" if token.flag("speaks_for_me") else "",
}


@app.command("new")
def new(
    name: Annotated[str, options.value("NAME", "What the audit log calls it.", "--name")],
    right: Annotated[
        list[Right],
        typer.Option("--right", help="What it may do; may be given again. admin is all."),
    ],
    project: options.Project = None,
    until: Annotated[
        str | None, options.value("DATE", "When it ends: 2027-01-31, in 30 days.", "--until")
    ] = None,
    speaks_for_me: Annotated[
        bool,
        options.switch("What it hands over as your words counts as yours.", "--speaks-for-me"),
    ] = False,
    ceiling: options.Ceiling = None,
    jurisdiction: Annotated[
        list[str] | None,
        options.value(
            "LAW", "Only what is kept under it, such as EU; may be given again.", "--jurisdiction"
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Make a token. It is shown this once."""
    answer = asking.ask(
        "token",
        asking.target(project),
        action="new",
        name=name,
        right=[one.value for one in right],
        until=until,
        speaks_for_me=speaks_for_me,
        ceiling=ceiling,
        jurisdictions=jurisdiction,
    )
    output.answer(answer, as_json, lambda answer: output.say(answer.text("token")))


@app.command("list")
def list_tokens(as_json: options.Json = False) -> None:
    """List the tokens' names and rights."""
    answer = asking.ask("token", asking.target(), action="list")
    output.answer(answer, as_json, lambda answer: _show(answer.rows("tokens")))


def _show(tokens: list[Row]) -> None:
    if tokens:
        output.listing(tokens, COLUMNS)
    else:
        output.say("There are no tokens.")


@app.command("revoke")
def revoke(
    token: Annotated[str, options.argument("ID", "A token's id or name.")],
    as_json: options.Json = False,
) -> None:
    """Revoke a token; the next call with it is refused."""
    answer = asking.ask("token", asking.target(), action="revoke", id=token)
    output.answer(answer, as_json, lambda answer: output.say(f"Revoked {answer.count('revoked')}."))
