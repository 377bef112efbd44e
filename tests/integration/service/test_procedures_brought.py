"""Procedures come by themselves when their condition holds: with a prompt, a failure, a tool call; once a session,
and never on the word of somebody who may not say how things are done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from service_house import ServiceHouse, door, exported, hook_question

from vector_memory.errors import BadInputError
from vector_memory.journal.journal import Journal
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import link_ideas
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.learning import conditions, procedures
from vector_memory.service.tools import dispatch
from vector_memory.service.tools.tool_call import ToolCall
from vector_memory.system import paths

HOOK = (
    "import sys; sys.path.insert(0, sys.argv[1]); from vector_memory.client import hook; "
    "hook.main('PreToolUse', sys.argv[2])"
)
STEPS = "Migrations: write the down step first, then run `just migrate --dry`."


def stored(house: ServiceHouse, app: Path, *triggers: str, **more: Any) -> str:
    """Store the procedure with conditions, and return its id."""
    return str(house.remember(STEPS, app, triggers=list(triggers), **more)["id"])


def called(house: ServiceHouse, app: Path, tool: str, session: str = "s", **given: Any) -> str:
    """Return what is said to a tool call."""
    asked = vars(hook_question(house.ctx, session, str(app)))
    call = ToolCall(**asked, cwd=str(app), tool=tool, input=given)
    return dispatch.before(house.ctx, call).context


def prompted(house: ServiceHouse, app: Path, prompt: str, session: str = "s") -> str:
    """Return what comes with a prompt."""
    return prompt_recall.on_prompt(house.ctx, hook_question(house.ctx, session, str(app), prompt))


@pytest.fixture(autouse=True)
def apart(house: ServiceHouse) -> None:
    """Nothing is near enough to come by its meaning. Conditions are looked at after each write, as a daemon does."""
    house.ctx.notify = lambda: conditions.asks_at_tools(house.ctx)
    house.ctx.settings = replace(house.ctx.settings, threshold=0.99, observer="off", facade="off")


def test_with_a_prompt_once_a_session(house: ServiceHouse, app: Path) -> None:
    """By its words, or a file that it names; not in another project."""
    id = stored(house, app, "term:schema change", "file:db/*.sql")
    shown = door(house.ctx, "get", {"id": id})["memory"]
    assert (shown["kind"], shown["triggers"]) == (
        "procedure", ["term:schema change", "file:db/*.sql"],
    )  # fmt: skip
    assert STEPS not in prompted(house, app, "Please tidy the parser and its tests")
    assert STEPS in prompted(house, app, "We need a change of the schema for invoices")
    assert STEPS not in prompted(house, app, "One more schema change for the invoices please")
    assert STEPS in prompted(house, app, "Have a look at db/001.sql and say what it does", "s2")
    other = app.parent / "other"
    other.mkdir()
    assert STEPS not in prompted(house, other, "We need a change of the schema for invoices", "s3")


def test_with_a_failure(house: ServiceHouse, app: Path) -> None:
    """By the error's words, or the command's."""
    stored(house, app, "error:no such table")
    asked = hook_question(house.ctx, "s", str(app))
    assert procedures.for_failure(house.ctx, asked, "syntax error", "just test") == ""
    told = procedures.for_failure(house.ctx, asked, "E  no such table: invoices", "just test")
    assert STEPS in told and procedures.TITLE in told
    assert procedures.for_failure(house.ctx, asked, "no such table", "just test") == ""


def test_with_a_tool_call(house: ServiceHouse, app: Path) -> None:
    """A file that is about to be changed, a command that is about to be run. Who set none is asked nothing."""
    assert called(house, app, "Bash", command="just migrate") == ""
    id = stored(house, app, "command:just migrate", "file:*.sql")
    assert conditions.asks_at_tools(house.ctx)
    assert called(house, app, "Bash", command="just test") == ""
    assert STEPS in called(house, app, "Bash", command="cd db; just migrate --now")
    assert STEPS in called(house, app, "Edit", "s2", file_path=str(app / "db" / "2.sql"))
    door(house.ctx, "edit", {"id": id, "triggers": ["term:invoices"]})
    assert called(house, app, "Bash", "s3", command="just migrate") == ""
    assert not conditions.asks_at_tools(house.ctx)
    door(house.ctx, "edit", {"id": id, "triggers": ["command:just migrate"]})
    door(house.ctx, "forget", {"ids": [id]})
    assert called(house, app, "Bash", "s4", command="just migrate") == ""


def test_a_file_of_a_worktree_and_behind_a_link(house: ServiceHouse, app: Path) -> None:
    """Its path counts from the top of the worktree, and through whatever link; from a subfolder, too."""
    for folder in ("sub", "outside/db"):
        (app / folder).mkdir(parents=True)
    git = ["git", "-C", str(app), "-c", "user.name=u", "-c", "user.email=u@example.org"]
    worktree, link = app.parent / "worktree", app.parent / "link"
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(worktree)],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    link.symlink_to(app)
    stored(house, app, "file:db/*.sql")
    for number, (here, top) in enumerate(
        [(app, app), (worktree, worktree), (worktree, app), (link, link), (link, app), (app / "sub", app)]
    ):  # fmt: skip
        file = str(top / "db" / "1.sql")
        assert STEPS in called(house, here, "Edit", f"s{number}", file_path=file), (here, file)
    outside = str(app / "outside" / "db" / "1.sql")
    assert STEPS not in called(house, app, "Edit", "other", file_path=outside)


def test_what_is_made_one_later_has_the_conditions_of_both(house: ServiceHouse, app: Path) -> None:
    """When nobody waits, what says the same in other words becomes one."""
    older = house.remember("First the down step.", app, triggers=["command:just one"])["id"]
    shelf = house.ctx.global_shelf()
    heir, duplicate = map(shelf.journal.get, (stored(house, app, "command:just two"), older))
    link_ideas.become_one(house.ctx, shelf, heir, duplicate)
    for name in ("one", "two"):
        assert STEPS in called(house, app, "Bash", name, command=f"just {name}")


def test_what_is_found_as_well_is_told_once(house: ServiceHouse, app: Path) -> None:
    """A prompt may meet a procedure's condition and find it by its words, and others beside it."""
    house.ctx.settings = replace(house.ctx.settings, threshold=0.2)
    text = "The invoices importer needs the sandbox token of Ines."
    house.remember(text, app, triggers=["term:invoices importer"])
    other = "The invoices importer runs in the basement of the old town hall."
    house.remember(other, app)
    prompt = "How do I run the invoices importer with the sandbox token in the basement?"
    told = prompted(house, app, prompt)
    assert (told.count(text), told.count(other)) == (1, 1)
    assert text not in prompted(house, app, prompt)


def test_who_says_it_again_adds_conditions(house: ServiceHouse, app: Path) -> None:
    """Those of both hold, the newest of too many; an agent adds none to the user's word."""
    id = stored(house, app, "command:just one")
    assert stored(house, app, "command:just two", "command:just one") == id
    assert STEPS in called(house, app, "Bash", "s1", command="just one")
    assert STEPS in called(house, app, "Bash", "s2", command="just two")
    assert stored(house, app, *(f"term:word {number}" for number in range(15))) == id
    triggers = door(house.ctx, "get", {"id": id})["memory"]["triggers"]
    assert (
        len(triggers) == 16
        and "command:just one" not in triggers
        and triggers[-1] == "term:word 14"
    )
    plain = {"text": "Ask Anna about parsers.", "project": str(app), "kind": "context"}
    kept = door(house.ctx, "remember", plain)["id"]
    again = door(
        house.ctx, "remember", {**plain, "actor": "agent", "triggers": ["command:just three"]}
    )
    assert (again["action"], again["id"]) == ("merged", kept)
    assert "Anna" not in called(house, app, "Bash", "s3", command="just three")


def test_no_start_tells_what_waits_for_its_condition(house: ServiceHouse, app: Path) -> None:
    """Else it would have been shown, and not come with the file; what has its date is told all the same."""
    id = stored(house, app, "file:db/*.sql")
    house.remember("Ask Anna about parsers.", app)
    house.remember(
        "The licence ends.",
        app,
        triggers=["term:licence"],
        temporal="deadline",
        valid_until="2026-05-05",
    )
    told = session_start.on_start(house.ctx, hook_question(house.ctx, "s", str(app)))
    assert "Anna" in told and "licence ends" in told and STEPS not in told
    assert STEPS in called(house, app, "Edit", file_path=str(app / "db" / "1.sql"))
    door(house.ctx, "edit", {"id": id, "triggers": []})
    assert STEPS in session_start.on_start(house.ctx, hook_question(house.ctx, "s2", str(app)))


def test_an_agents_comes_when_the_user_has_confirmed_it(house: ServiceHouse, app: Path) -> None:
    """Before that it binds nobody; what is no procedure of an agent's never comes so."""
    agent = {"actor": "agent", "wait": False}
    id = stored(house, app, "term:schema change", kind="procedure", **agent)
    house.remember("Say hello to the schema.", app, triggers=["term:schema change"], kind="context", **agent)  # fmt: skip
    assert prompted(house, app, "We need a change of the schema for invoices") == ""
    door(house.ctx, "review", {"confirm": [id]})
    told = prompted(house, app, "We need a change of the schema for invoices")
    assert STEPS in told and "hello" not in told


def test_of_several_the_one_that_fits_best(house: ServiceHouse, app: Path) -> None:
    """One at a time; conditions come back with an export's lines."""
    house.remember("Ask Anna about schemas.", app, triggers=["term:schema"])
    stored(house, app, "term:schema", "term:invoices")
    told = prompted(house, app, "We need a change of the schema for invoices")
    assert STEPS in told and "Anna" not in told
    with pytest.raises(BadInputError, match="is no condition"):
        stored(house, app, "always")


def test_hooks_ask_only_where_some_procedure_waits_for_a_call(tmp_path: Path) -> None:
    """A real daemon tells them, and takes it back; a restart changes nothing."""
    rig = Rig(tmp_path / "home")
    rig.configure(observer="off", facade="off")
    app = tmp_path / "app"
    app.mkdir()

    numbers = count()

    def hook(command: str) -> str:
        """Run a command's hook in a session of its own."""
        message = {
            "session_id": f"s{next(numbers)}", "cwd": str(app), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1",
        }  # fmt: skip
        words = [sys.executable, "-c", HOOK, os.path.dirname(paths.PACKAGE_ROOT), rig.home.root]
        done = subprocess.run(
            words,
            input=json.dumps(message).encode(),
            env={**os.environ, "CLAUDE_PROJECT_DIR": str(app)},
            capture_output=True,
            check=False,
        )
        return done.stdout.decode()

    def wishes() -> list[str]:
        return Path(rig.home.tools).read_text().split() if Path(rig.home.tools).exists() else []

    rig.daemon.start()
    try:
        rig.state("full")
        assert hook("just migrate") == "" and "when" not in wishes()
        request = {"text": STEPS, "project": str(app), "triggers": ["command:just migrate"]}
        id = rig.daemon.ask("remember", request)["id"]
        rig.until(lambda: "when" in wishes(), "the wish")
        # On a machine under load a hook may give up.
        told = json.loads(rig.until(lambda: hook("just migrate"), "the procedure"))
        assert STEPS in told["hookSpecificOutput"]["additionalContext"]
        assert hook("just test") == ""
        rig.daemon.stop()
        rig.daemon.start()
        rig.state("full")
        rig.until(lambda: "when" in wishes(), "the wish")
        assert STEPS in rig.until(lambda: hook("just migrate"), "the procedure")
        rig.daemon.ask("forget", {"ids": [id]})
        assert hook("just migrate") == ""
        rig.until(lambda: "when" not in wishes(), "the wish taken back")
        id = rig.daemon.ask("remember", {**request, "kind": "fact", "actor": "agent"})["id"]
        assert "when" not in wishes()
        rig.daemon.ask("edit", {"id": id, "kind": "procedure"})
        rig.until(lambda: "when" in wishes(), "the wish of what an edit made a procedure")
    finally:
        rig.daemon.stop()


def test_a_word_of_a_command_line_is_no_file(house: ServiceHouse, app: Path) -> None:
    """It would be spent where no file is touched, and not come with the edit that it is for."""
    stored(house, app, "file:test*")
    assert called(house, app, "Bash", command="npm test") == ""
    assert STEPS in called(house, app, "Edit", file_path=str(app / "test_a.py"))


def test_what_an_edit_sets_free_comes_at_once(
    house: ServiceHouse, app: Path, tmp_path: Path
) -> None:
    """Also what is imported; what was forgotten waits no more."""
    for stored_as, edited in (
        ({"kind": "fact", "actor": "agent"}, {"kind": "procedure"}),
        ({"sensitivity": "restricted"}, {"sensitivity": "internal"}),
    ):
        id = stored(house, app, "file:*.sql", **stored_as)
        assert not house.ctx.has_tool_procedures
        door(house.ctx, "edit", {"id": id, **edited})
        assert house.ctx.has_tool_procedures
        lines = exported(house.ctx, {"all_projects": True})
        door(house.ctx, "forget", {"ids": [id]})
        assert not house.ctx.has_tool_procedures
    path = tmp_path / "memories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    other = ServiceHouse(tmp_path / "other")
    other.ctx.notify = lambda: conditions.asks_at_tools(other.ctx)
    door(other.ctx, "import", {"path": str(path)})
    assert other.ctx.has_tool_procedures
    other.close()


def test_what_waits_for_the_user_is_held_against_no_call(house: ServiceHouse, app: Path) -> None:
    """An agent may store as much of it as it likes."""
    id = stored(house, app, "file:*.sql", actor="agent", kind="procedure")
    shelf = house.ctx.global_shelf()
    assert not conditions.conditions_in(house.ctx, shelf).conditions
    assert not house.ctx.has_tool_procedures
    door(house.ctx, "review", {"confirm": [id]})
    assert house.ctx.has_tool_procedures
    assert conditions.conditions_in(house.ctx, shelf).conditions[id] == ("file:*.sql",)


def test_conditions_of_a_restored_store_are_read_anew(
    house: ServiceHouse, app: Path, tmp_path: Path
) -> None:
    """What was stored after the backup is not there any more, and its numbers may mean something else."""
    first = stored(house, app, "term:schema change")
    shelf = house.ctx.global_shelf()
    backup = str(tmp_path / "backup")
    shutil.copytree(shelf.folder, backup)
    second = house.remember("Deploys go through staging.", app, triggers=["file:*.sql"])["id"]
    assert conditions.conditions_in(house.ctx, shelf).conditions.keys() == {first, second}
    restored = Shelf(backup, Journal.open(backup))
    assert conditions.conditions_in(house.ctx, restored).conditions.keys() == {first}
    restored.close(save=False)
