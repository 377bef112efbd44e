"""`share`: exchange a project's memories with a team, or between one's own machines."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, options, output, progress
from vector_memory.cli.answers import Row

LONG_S = 3_600.0

app = options.group(
    "Share memories of a project with a team, or between your own machines: sealed, at a place that all reach.",
    no_args_is_help=True,
)
Name = Annotated[str, options.value("NAME", "What the list of members says.", "--name")]
Law = Annotated[
    str,
    options.value("LAW", "Whose law the copies there lie under, such as EU.", "--jurisdiction"),
]
COLUMNS: dict[str, output.Cell] = {
    "name": lambda member: member.text("name"),
    "state": lambda member: member.text("state"),
    "bundle": lambda member: member.text("seq"),
    "memories": lambda member: member.text("memories"),
    "law": lambda member: member.text("jurisdiction"),
    "fingerprint": lambda member: member.text("fingerprint"),
}


def _ask(
    verb: str,
    project: str | None,
    only_global: bool,
    is_long: bool = False,
    as_json: bool = False,
    **more: object,
) -> Row:
    request = asking.said(asking.target(project, only_global), {**asking.keys(), **more})
    if is_long:
        return progress.ask_long(verb, request, as_json, LONG_S)
    return asking.ask(verb, request)


@app.command("init")
def init(
    to: Annotated[
        str,
        options.value(
            "URL", "file:///a/folder, file:///a/repository or s3://bucket/prefix.", "--to"
        ),
    ],
    name: Name = "",
    jurisdiction: Law = "",
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Begin to share this project at a place. Nothing is published yet."""

    def tell(answer: Row) -> None:
        output.say(f"This project is shared at {answer.text('url')}.")
        output.say(
            f"Your key stands in {answer.text('members')}: commit it, so that others have it."
        )
        output.say(f"Fingerprint: {answer.text('fingerprint')}")
        output.say("Next: `vector-memory share publish`.")

    answer = _ask("share_init", project, only_global, to=to, name=name, jurisdiction=jurisdiction)
    output.answer(answer, as_json, tell)


@app.command("invite")
def invite(
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="Somebody's key: vmk1-…")] = "",
    name: Name = "",
    jurisdiction: Law = "",
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Print your key, for others to take you in; with a KEY, take somebody in."""

    def tell(answer: Row) -> None:
        output.say(answer.text("key"))
        output.say(f"Fingerprint: {answer.text('fingerprint')}")
        if answer.text("members"):
            output.say(f"{answer.text('name')} stands in {answer.text('members')}: commit it.")
        if key:
            output.say("Compare the fingerprint with its owner; then `share publish` again.")

    answer = _ask(
        "share_invite", project, only_global, key=key, name=name, jurisdiction=jurisdiction
    )
    output.answer(answer, as_json, tell)


@app.command("publish")
def publish(
    kind: options.Kind = None,
    tag: options.Tag = None,
    dry_run: Annotated[bool, options.switch("Only show what would go.", "--dry-run")] = False,
    yes: options.Yes = False,
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Publish memories, sealed for the members. They are shown first; then it asks."""
    said: asking.Said = {"kind": kind, "tag": tag}
    if dry_run or not yes:
        shown = _ask("share_publish", project, only_global, True, as_json, dry_run=True, **said)
        if dry_run:
            output.answer(shown, as_json, _show)
            return
        _show(shown)
        asking.confirm(f"Publish {shown.count('memories')} memories?", "published")
        said["reviewed"] = shown.text("digest")

    def tell(answer: Row) -> None:
        size = f"{answer.count('bytes'):,} bytes"
        output.say(
            f"Published {answer.count('memories')} memories as {answer.count('seq')}, {size}."
        )

    output.answer(_ask("share_publish", project, only_global, True, as_json, **said), as_json, tell)


def _show(answer: Row) -> None:
    for memory in answer.rows("fresh"):
        output.say(f"{memory.id}  {memory.text('kind')}  {memory.line('text', 160)}")
    left = answer.count("new") - answer.count("fresh")
    if left > 0:
        output.say(f"… and {left} more.")
    if stay := answer.count("kept_back"):
        output.say(f"{stay} stay: not all members' copies would lie under their law.")
    output.say(
        f"{answer.count('memories')} memories in all, {answer.count('new')} new, "
        f"{answer.count('gone')} taken back. For: {', '.join(answer.texts('readers'))}."
    )


@app.command("pull")
def pull(
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Take over what other members published."""

    def tell(answer: Row) -> None:
        for member in answer.rows("members"):
            output.say(f"{member.text('name')}: {member.count('memories')} memories")
        if not answer.rows("members"):
            output.say("There are no other members yet.")
        for one in answer.rows("refused"):
            output.say(f"Refused {one.text('what')}: {one.text('why')}")

    output.answer(_ask("share_pull", project, only_global, True, as_json), as_json, tell)


@app.command("status")
def status(
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Tell where this project is shared, what, and with whom."""

    def tell(answer: Row) -> None:
        output.say(f"Shared at {answer.text('url')}")
        tags = f"; tags: {', '.join(answer.texts('tags'))}" if answer.texts("tags") else ""
        output.say(f"Kinds: {', '.join(answer.texts('kinds'))}{tags}")
        output.say(f"Published by you: {answer.count('memories')} memories")
        output.listing(answer.rows("members"), COLUMNS)

    output.answer(_ask("share_status", project, only_global), as_json, tell)


@app.command("revoke")
def revoke(
    key: Annotated[str, options.argument("KEY", "A member's key, its id, or the member's name.")],
    project: options.Project = None,
    only_global: options.Global = False,
    as_json: options.Json = False,
) -> None:
    """Take no more from a member, and publish no more for it. Your own key: take back what you published."""

    def tell(answer: Row) -> None:
        output.say(
            f"{answer.text('name')} is no member any more; {answer.count('removed')} memories went."
        )
        output.say("Commit the list of members, then `share publish` seals what you share anew.")

    output.answer(_ask("share_revoke", project, only_global, key=key), as_json, tell)


@app.command("reject")
def reject(
    ids: Annotated[list[str], options.argument("ID...", "Memories of others, by their ids.")],
    as_json: options.Json = False,
) -> None:
    """Remove single memories of others from here; no pull brings them again as they are."""
    answer = _ask("share_reject", None, False, ids=ids)
    output.answer(answer, as_json, lambda one: output.say(f"Rejected: {one.count('rejected')}"))
