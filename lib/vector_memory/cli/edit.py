"""`edit`: change a memory."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.remember import raised_with
from vector_memory.errors import BadInputError
from vector_memory.system.paths import Home


def edit(call: Invocation, id: str, tags: list[str] | None, triggers: list[str] | None) -> None:
    """Change a memory as the options say; without any, as the user leaves its text in an editor."""
    changes = {name: value for name, value in call.values.items() if value is not None}
    if changes.keys() - {"id", "as_json"}:
        # An empty one says that there are to be none.
        lists = {"tags": tags, "triggers": triggers}
        changed_lists = {
            name: [*filter(None, words)] for name, words in lists.items() if words is not None
        }
        call.show(call.ask(**changed_lists), _say)
        return
    answer = asking.ask("get", asking.everywhere(), id=id)
    memory = answer.row("memory")
    text = in_editor(memory.text("text"))
    if text == memory.text("text"):
        output.note("Nothing was changed.")
        call.show(answer, lambda _: None)
        return
    call.show(call.ask(id=memory.text("id"), text=text), _say)


def _say(answer: Row) -> None:
    output.say(f"Changed {answer.row('memory').text('id')}")
    for line in raised_with(answer):
        output.note(line)
    if answer.text("action") == "proposed":
        output.say("Its new weight waits for the user: `vector-memory review`.")


def in_editor(text: str) -> str:
    """Return the text as the user leaves it in $VISUAL or $EDITOR.

    Raises:
        BadInputError: there is no editor, it failed, or it left nothing.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise BadInputError("There is no $EDITOR.", "Say what to change with --text or --kind.")
    folder = Home().make().run
    descriptor, path = tempfile.mkstemp(dir=folder, prefix="edit-", suffix=".md")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        code = subprocess.call([*shlex.split(editor), path])
        with open(path, encoding="utf-8", errors="replace") as file:
            changed = file.read().strip()
    except (OSError, ValueError) as error:
        raise BadInputError(f"{editor} does not start: {error}.", "Set $EDITOR.") from error
    finally:
        os.unlink(path)
    if code or not changed:
        reason = f"{editor} ended with {code}." if code else "The text was empty."
        raise BadInputError(reason, "The memory stays as it was. `forget` removes one.")
    return changed
