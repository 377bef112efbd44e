"""How verbs reach the daemon: whom they ask, and for which project."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

import typer

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.client.link import DaemonClient

SESSION = "CLAUDE_CODE_SESSION_ID"
"""By this variable the client tells its commands which session they run in."""
STDIN = "-"
MOST_BYTES = 4 * 1024 * 1024

TIMEOUT_S = 60.0

Request = dict[str, object]
"""What the daemon is asked, by the names of its fields."""


def daemon() -> DaemonClient:
    """Return the way to this data home's daemon. Nothing is started yet."""
    from vector_memory.client.link import DaemonClient

    return DaemonClient(Home())


def ask(verb: str, where: Request, timeout_s: float = TIMEOUT_S, **fields: object) -> Row:
    """Ask the daemon, starting one if none runs.

    Args:
        where: which memories are meant, as `target` and `everywhere` return it.
        fields: what else the request says; see `merged`.

    Raises:
        VectorMemoryError: what the daemon reported, or that there is none.
    """
    return Row(daemon().ask(verb, request_fields(where, fields), timeout_s))


def request_fields(where: Request, fields: Request) -> Request:
    """Return a request as JSON values: times in ISO form, and choices as their words. What is None was not
    said, and is left out."""
    filled = {name: value for name, value in fields.items() if value is not None}
    return {**where, **{name: _as_json_value(value) for name, value in filled.items()}}


def _as_json_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def target(
    project: str | None = None, only_global: bool = False, all_projects: bool = False
) -> Request:
    """Return the part of a request that says which memories are meant.

    Raises:
        BadParameter: two of the three were given.
    """
    if sum((project is not None, only_global, all_projects)) > 1:
        raise typer.BadParameter("--project, --global and --all-projects exclude each other.")
    where: Request = {
        "cwd": os.getcwd(),
        "project": None if project is None else path_of(project),
        "global": only_global,
        "all_projects": all_projects,
    }
    # The audit log tells who asked.
    return {**where, "actor": "agent"} if is_agents() else where


def is_agents() -> bool:
    """Whether an agent runs this: the client says so."""
    return bool(os.environ.get("CLAUDECODE"))


def everywhere() -> Request:
    """Return the part of a request that says that memories of all projects are meant."""
    return target(all_projects=True)


ACCESS = (
    "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION",
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
)  # fmt: skip
"""What of this terminal's variables the daemon needs to reach a bucket: its own may be older."""
PASSPHRASE = "VECTOR_MEMORY_KEY_PASSPHRASE"


def passphrase() -> Request:
    """Return the part of a request that opens this installation's key."""
    return {"passphrase": os.environ.get(PASSPHRASE, "")}


def keys() -> Request:
    """Return the part of a request that opens this installation's key and the place where a team shares."""
    access = {name: os.environ[name] for name in ACCESS if os.environ.get(name)}
    return {"access": access, **passphrase()}


SECRETS = {"keys": keys, "passphrase": passphrase}
"""What gives a part of a request that opens something, by the words of `verbs.txt`."""


def own_session() -> str:
    """Return the session that this runs in, as the client says it; "" in none."""
    return os.environ.get(SESSION, "")


def require_user(does: str) -> None:
    """Make sure that no agent runs this.

    Raises:
        BadInputError: one does.
    """
    if everywhere().get("actor"):
        raise BadInputError(
            f"Only the user {does}: this command comes from an agent.",
            "Ask the user to run it in a terminal of their own.",
        )


def require_one(words: str, *ways: object) -> None:
    """Make sure that just one of several ways was given.

    Raises:
        BadParameter: none was, or several; it says `words`.
    """
    if sum(way is not None and way is not False for way in ways) != 1:
        raise typer.BadParameter(words)


def path_of(typed: str) -> str:
    """Return the absolute path of what somebody typed."""
    return os.path.abspath(os.path.expanduser(typed))


def existing_folder(typed: str) -> str:
    """Return a folder's absolute path.

    Raises:
        NotFoundError: it is none.
    """
    path = path_of(typed)
    if not os.path.isdir(path):
        raise NotFoundError(f"There is no folder {path}.", "Name a project's folder.")
    return path


def text_of(argument: str) -> str:
    """Return what an argument says; `-` is what stdin says. Bytes that are no UTF-8 are replaced.

    Raises:
        BadParameter: there is nothing but white space, or far too much.
    """
    raw = sys.stdin.buffer.read(MOST_BYTES + 1) if argument == STDIN else os.fsencode(argument)
    if len(raw) > MOST_BYTES:
        raise typer.BadParameter(f"That is longer than {MOST_BYTES:,} bytes; use `import`.")
    text = raw.decode("utf-8", "replace").strip()
    if not text:
        raise typer.BadParameter("There is no text.")
    return text


def confirm(question: str, done: str) -> None:
    """Ask on the terminal whether to go on.

    Args:
        done: what has not been done yet, as in "nothing was forgotten".

    Raises:
        BadInputError: there is no terminal to ask on.
        Exit: the answer is no.
    """
    if not sys.stdin.isatty():
        raise BadInputError(
            f"Nothing was {done}: there is no terminal to ask on.",
            "Look with --dry-run, then say --yes.",
        )
    if not agreed(question, done):
        raise typer.Exit


def agreed(question: str, done: str) -> bool:
    """Ask on the terminal, and say what has not been `done` where the answer is no. Whether it is yes."""
    is_agreed = typer.confirm(question, err=True)
    if not is_agreed:
        output.note(f"Nothing was {done}.")
    return is_agreed
