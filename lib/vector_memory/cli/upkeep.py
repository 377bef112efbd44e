"""`rebuild`, `check` and `migrate`: the search index against the journal; `backup` and `restore`: all memories as one
file, and back."""

from __future__ import annotations

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.checks import stores
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.progress import ask_long


def show_rebuilt(answer: Row) -> None:
    """Print what an index was built of."""
    rows, seconds = answer.count("rows"), answer.number("seconds")
    output.say(f"The search index was built anew: {output.memories(rows)} in {seconds:.1f} s.")
    output.unopened(answer)
    for path in answer.texts("strays"):
        output.note(f"{path} is not ours and was left alone.")


def check(call: Invocation) -> int:
    """Print what is wrong in the stores; return 1 where something is."""
    answer = call.ask()
    call.show(answer, _show_problems)
    return 0 if answer.flag("ok", not answer.count("problems")) else 1


def _show_problems(answer: Row) -> None:
    """Print what is wrong, and which damage was mended."""
    mended = [stores.set_aside(damage) for damage in answer.rows("set_aside")]
    fine = "Everything is as it should be now." if mended else "Everything is as it should be."
    output.listing(answer.rows("problems"), output.fields("store problem=what fix"), fine)
    for result in mended:
        output.note(f"{result.message} {result.fix}")


def show_migrated(answer: Row) -> None:
    """Print how many memories have vectors of which model now."""
    have, now = output.memories(answer.count("have")), answer.count("embedded")
    output.say(f"{have} embedded by {answer.text('model')}, {now:,} of them just now.")


def show_backup(answer: Row) -> None:
    """Print what was written where."""
    size = f"{answer.count('bytes') / 1e6:.1f} MB"
    output.say(f"{output.memories(answer.count('memories'))}, {size}: {answer.text('file')}")
    for folder, why in answer.row("left_out").items():
        output.note(f"Left out: {folder}: {why}")


def restore(call: Invocation, path: str, yes: bool, dry_run: bool, no_wait: bool) -> None:
    """Put a backup in the place of what is there, after it was shown."""
    contents = call.ask(dry_run=True)
    if not call.as_json:
        _show_contents(contents)
    if dry_run:
        if call.as_json:
            output.document({**contents, "restored": False})
        return
    if not yes:
        asking.confirm("Put it in the place of what is there now?", "restored")
    daemon = asking.daemon()
    call.ask(dry_run=False)
    daemon.wait_gone()
    answer = asking.ask("restored", {})
    if not no_wait:
        ask_long("wait", {"timeout_s": call.long_s}, call.as_json, call.long_s)
    call.show(Row({**answer, "restored": True}), _show_restored)


def _show_contents(contents: Row) -> None:
    origin = f"{contents.day('made_at')} by version {contents.text('version')}"
    output.say(f"A backup of {origin}: {output.memories(contents.count('memories'))}")
    output.listing(contents.rows("stores"), STORE)


def _left_out_text(store: Row) -> str:
    why = store.text("left_out")
    return why and f"left out: {why}"


STORE: dict[str, output.Cell] = {
    **output.fields("store=folder memories"),
    "": _left_out_text,
}


def _show_restored(answer: Row) -> None:
    output.say(f"Restored: {output.memories(answer.count('memories'))}")
    for aside in answer.texts("aside"):
        output.say(f"What was there is in {aside}")
