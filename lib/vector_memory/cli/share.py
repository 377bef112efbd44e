"""`share`: exchange a project's memories with a team, or between one's own machines."""

from __future__ import annotations

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

COLUMNS = output.fields("name state bundle=seq memories law=jurisdiction fingerprint")


def show_begun(answer: Row) -> None:
    """Print where a project is shared from now on, and what comes next."""
    output.say(f"This project is shared at {answer.text('url')}.")
    if previous_url := answer.text("taken_back"):
        output.say(f"What you published at {previous_url} was taken back.")
    _show_left(answer)
    output.say(f"Your key stands in {answer.text('members')}: commit it, so that others have it.")
    output.say(f"Fingerprint: {answer.text('fingerprint')}")
    output.say("Next: `vector-memory share publish`.")


def _show_left(answer: Row) -> None:
    for url, why in answer.row("left").items():
        output.note(f"What you published at {url} still lies there: {why}")


def show_invited(answer: Row, key: str | None) -> None:
    """Print the own key, or whose key was taken in."""
    output.say(answer.text("key"))
    output.say(f"Fingerprint: {answer.text('fingerprint')}")
    if answer.text("members"):
        output.say(f"{answer.text('name')} stands in {answer.text('members')}: commit it.")
    if key:
        output.say("Compare the fingerprint with its owner; then `share publish` again.")


def publish(call: Invocation, dry_run: bool, yes: bool) -> None:
    """Publish memories, after they were shown."""
    digest = None
    if dry_run or not yes:
        preview = call.ask(dry_run=True)
        if dry_run:
            call.show(preview, _show_fresh)
            return
        if not call.as_json:
            _show_fresh(preview)
        asking.confirm(f"Publish {output.memories(preview.count('memories'))}?", "published")
        digest = preview.text("digest")
    call.show(call.ask(reviewed=digest), _show_published)


def _show_published(answer: Row) -> None:
    memories, size = output.memories(answer.count("memories")), answer.count("bytes")
    if size:
        output.say(f"Published {memories} as {answer.count('seq')}, {size:,} bytes.")
    else:
        output.say(f"Nothing new to publish: {memories}, published as {answer.count('seq')}.")
    _show_left(answer)


def _show_fresh(answer: Row) -> None:
    for memory in answer.rows("fresh"):
        output.say(f"{memory.id}  {memory.text('kind')}  {memory.line('text', 160)}")
    remaining = answer.count("new") - answer.count("fresh")
    if remaining > 0:
        output.say(f"… and {remaining} more.")
    if kept_back := answer.count("kept_back"):
        output.say(f"{kept_back} stay: not all members' copies would lie under their law.")
    output.say(
        f"{output.memories(answer.count('memories'))} in all, {answer.count('new')} new, "
        f"{answer.count('gone')} taken back. For: {', '.join(answer.texts('readers'))}."
    )


def pull(call: Invocation) -> int:
    """Take over what others published; 1 if something of a member was refused."""
    answer = call.ask()
    call.show(answer, _show_pulled)
    return int(any(bundle.flag("is_members") for bundle in answer.rows("refused")))


def _show_pulled(answer: Row) -> None:
    for member in answer.rows("members"):
        output.say(f"{member.text('name')}: {output.memories(member.count('memories'))}")
    if not answer.rows("members"):
        output.say("There are no other members yet.")
    for bundle in answer.rows("refused"):
        output.say(f"Refused {bundle.text('what')}: {bundle.text('why')}")


def show_status(answer: Row) -> None:
    """Print where this project is shared, what, and with whom."""
    output.say(f"Shared at {answer.text('url')}")
    tags = f"; tags: {', '.join(answer.texts('tags'))}" if answer.texts("tags") else ""
    output.say(f"Kinds: {', '.join(answer.texts('kinds'))}{tags}")
    output.say(f"Published by you: {output.memories(answer.count('memories'))}")
    for url in answer.texts("left"):
        output.say(f"What you published before still lies at {url}.")
    output.listing(answer.rows("members"), COLUMNS)


def show_revoked(answer: Row) -> None:
    """Print who is no member any more."""
    output.say(
        f"{answer.text('name')} is no member any more; {output.memories(answer.count('removed'))} went."
    )
    _show_left(answer)
    output.say("Commit the list of members, then `share publish` seals what you share anew.")


def show_rejected(answer: Row) -> None:
    """Print how many memories of others went from here."""
    output.say(f"Rejected: {answer.count('rejected')}")
