"""A session under another configuration of the client (an alias for work) keeps to the rules that stand there,
by every way: hooks with a daemon and without, the spool, transcripts read later, the command line."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from integration.service.test_nothing_private_is_stored import ask, everything, rows
from service_house import ServiceHouse
from talk import transcript

from vector_memory import errors, wire
from vector_memory.client import privacy
from vector_memory.client.spool import read_spool
from vector_memory.daemon.events import Events
from vector_memory.redact import clean, for_project, policy

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A data home whose hooks run; whatever runs there is ended."""
    made = Rig(tmp_path / "data home")
    os.symlink(sys.executable, made.home.path("runtime", "hook-python"))
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


@pytest.fixture
def work(scratch_home: Path) -> Path:
    """The configuration for work, with rules."""
    folder = scratch_home / "claude for work"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text(
        "# Privacy\n- Nightjar\n- Never store anything about Globex.\n"
    )
    return folder


def hook(rig: Rig, name: str, event: dict[str, Any], **environ: str) -> bytes:
    """Run the real hook, as the client does, and return what it prints."""
    known = {key: value for key, value in os.environ.items() if key != "CLAUDE_CONFIG_DIR"}
    done = subprocess.run(
        ["/bin/sh", str(REPOSITORY / "hooks" / "run"), name],
        input=json.dumps(event).encode(),
        env={**known, "VECTOR_MEMORY_HOME": rig.home.root, **environ},
        stdout=subprocess.PIPE,
        check=True,
        timeout=30,
    )
    return done.stdout


def session(folder: Path, number: int) -> tuple[Path, str]:
    """Write the transcript of a session that speaks of what is private, and return it with a word of it
    that is not."""
    folder.mkdir(parents=True, exist_ok=True)
    word = f"harbour{number:02d}"
    talk = [
        (f"The nightjar ledger of {word} keeps WAL mode", f"Noted: Nightjar, {word}."),
        (
            f"We met globex at noon. And {word} is blue",
            "Globex pays on Friday. Noted.",
        ),
    ]
    return transcript(folder, talk, f"s{number}"), word


def forbidden(rig: Rig) -> list[str]:
    """Return which files hold what the configuration for work forbids."""
    found = [*everything(rig.home.root), *rows(rig.home.root)]
    return [path for path, data in found for one in (b"nightjar", b"globex") if one in data.lower()]


@pytest.mark.parametrize("running", [True, False])
def test_nothing_forbidden_is_stored(rig: Rig, work: Path, tmp_path: Path, running: bool) -> None:
    """Prompts, tool calls, failures and ends of many sessions, with a daemon and by the spool: nothing that
    the configuration forbids is in any file afterwards, and the rest is."""
    venv, away = rig.home.path("runtime", "venv"), rig.home.path("runtime", "away")
    if running:
        rig.daemon.start()
    else:
        # No hook can start a daemon.
        os.rename(venv, away)
    words = []
    for number in range(6):
        project = tmp_path / f"project {number}"
        path, word = session(project, number)
        words.append(word)
        about = {"session_id": f"s{number}", "transcript_path": str(path), "cwd": str(project)}
        named = {"CLAUDE_CONFIG_DIR": str(work), "CLAUDE_PROJECT_DIR": str(project)}
        prompt = {
            **about,
            "prompt": "Where is the nightjar of Globex?",
            "hook_event_name": "UserPromptSubmit",
        }
        hook(rig, "user_prompt_submit", prompt, **named)
        given = {
            "tool_name": "Bash",
            "tool_input": {"command": "rm -rf nightjar/globex"},
            "hook_event_name": "PreToolUse",
        }
        hook(rig, "pre_tool_use", {**about, **given}, **named)
        name, event = (
            ("stop", "Stop"),
            ("pre_compact", "PreCompact"),
            ("session_end", "SessionEnd"),
        )[number % 3]
        ended = {**about, "hook_event_name": event, "last_assistant_message": "Nightjar, Globex."}
        hook(rig, name, ended, **named)
        while not running and len(read_spool(rig.home)) <= number:
            # On a busy machine a hook may be ended by its deadline.
            hook(rig, name, ended, **named)
    if not running:
        os.rename(away, venv)
    rig.daemon.start()
    rig.until(lambda: not read_spool(rig.home), "an empty spool")
    assert ask(rig, "wait", timeout_s=60)["complete"]
    rig.daemon.stop()
    assert forbidden(rig) == []
    kept = b"".join(data.lower() for _, data in rows(rig.home.root))
    assert [word for word in words if word.encode() not in kept] == []


def test_transcripts_tell_their_configuration(rig: Rig, work: Path) -> None:
    """A backfill under the default configuration keeps to the rules of the one that a transcript lies in."""
    path, word = session(work / "projects" / "-somewhere", 1)
    ask(rig, "backfill", path=str(path), paths=[str(path)])
    rig.daemon.stop()
    assert forbidden(rig) == []
    assert word.encode() in b"".join(data for _, data in rows(rig.home.root))


def test_commands_and_doctor_know_it(
    rig: Rig, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered, asked and shown from a shell of that configuration keeps to its rules; another
    shell has only its own."""
    project = tmp_path / "project"
    project.mkdir()
    here = {"project": str(project), "cwd": str(project)}
    open_words = ask(rig, "remember", text="A nightjar sleeps by day in the harbour", **here)
    assert "nightjar" in open_words["text"]
    assert ask(rig, "doctor")["privacy"]["files"] == []
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(work))
    assert "nightjar" not in ask(rig, "remember", text="The nightjar eats at night", **here)["text"]
    assert all(
        "nightjar" not in one["text"]
        for one in ask(rig, "recall", query="harbour by day", **here)["hits"]
    )
    assert ask(rig, "doctor")["privacy"]["files"] == [{"path": str(work / "CLAUDE.md"), "rules": 2}]
    assert [one["meaning"] for one in ask(rig, "privacy", **here)["rules"]] == [
        "the words “Nightjar”", "every sentence with “Globex”",
    ]  # fmt: skip
    assert ask(rig, "privacy", text="on Nightjar now", **here)["text"] == "on [redacted:rule] now"


def test_what_is_not_followed_is_told_once(work: Path, tmp_path: Path) -> None:
    """The next start says so, one line for each change of what is wrong."""
    house = ServiceHouse(tmp_path)
    events = Events(house.ctx, lambda waiting: waiting())  # type: ignore[func-returns-value]

    def start(number: int) -> str:
        event = {"session_id": f"n{number}", "cwd": str(tmp_path), "source": "startup"}
        body = wire.encode_hook(b"", os.fsencode(work), json.dumps(event).encode())
        return events.answer("SessionStart", body).decode()

    (work / "CLAUDE.md").write_text("# Privacy\n- customer names\n- `(broken`\n- Nightjar\n")
    assert "2 in CLAUDE.md" in start(1)
    assert start(2) == ""
    (work / "CLAUDE.md").write_text("# Privacy\n- customer names\n- `(broken`\n- `[`\n")
    assert "3 in" in start(3)
    (work / "CLAUDE.md").write_text("# Privacy\n- Nightjar\n")
    assert start(5) == ""
    house.ctx.close()


def test_naming_another_folder_loosens_nothing(
    scratch_home: Path, tmp_path: Path, work: Path
) -> None:
    """The default rules hold whatever folder is named: an empty one, a file, a link, one that is not there,
    a relative one, one of the project's."""
    default = scratch_home / ".claude"
    default.mkdir()
    (default / "CLAUDE.md").write_text("# Privacy\n- heron\n")
    project = tmp_path / "project"
    (project / "empty").mkdir(parents=True)
    (project / "mine").mkdir()
    (project / "mine" / "CLAUDE.md").write_text(
        "# Privacy\n- curlew\n- `(a|b|c)(.{0,30}){0,30}z0q$`\n"
    )
    os.symlink(work, tmp_path / "linked")
    policy.forget_files()
    for named in (
        "",
        "relative",
        "/dev/null",
        "/no/such/folder",
        "\0",
        "/",
        str(project / "empty"),
        str(default),
        str(tmp_path),
    ):
        with for_project((str(project),), [named]):
            assert clean("a heron and a curlew").text == "a [redacted:rule] and a curlew"
    with for_project((str(project),), [str(tmp_path / "linked")]):
        assert clean("a heron, a nightjar").text == "a [redacted:rule], a [redacted:rule]"
    # What lies in the project is the project's: a rule over its budget drops no text.
    with for_project((str(project),), [str(project / "mine")]):
        assert clean("a heron and a curlew").text == "a [redacted:rule] and a [redacted:rule]"
    assert clean("a nightjar and a curlew").text == "a nightjar and a curlew"


def test_without_a_daemon_others_memories_stay_out(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who runs under rules of their own is given nothing that was stored under other ones."""
    assert privacy.rules_since(str(tmp_path)) == 0
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(work))
    assert privacy.rules_since(str(tmp_path)) > time.time() + 1e9
    (work / "CLAUDE.md").write_text("# Style\n- be brief\n")
    assert privacy.rules_since(str(tmp_path)) == 0
