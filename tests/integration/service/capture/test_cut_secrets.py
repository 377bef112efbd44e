"""What is cut before it is stored lost what named a secret in it: the secret goes all the same."""

from __future__ import annotations

import json
import logging
import random
import string
from pathlib import Path
from typing import Any

from vector_memory.daemon import main
from vector_memory.index import tools
from vector_memory.service.capture import read_session


def _value(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters + string.digits, k=30)) + "7q2X"


def _line(number: int, type_: str, content: Any, folder: Path) -> str:
    about = {"uuid": f"u{number}", "sessionId": "s", "cwd": str(folder)}
    return json.dumps(
        {"type": type_, "message": {"role": type_, "id": f"m{number}", "content": content}, **about}
        | {"timestamp": f"2026-11-20T10:{number // 60:02}:{number % 60:02}.000Z"}
    )


def test_a_transcripts_drafts(tmp_path: Path) -> None:
    """Commands are kept as a line of 160 characters, outputs as what failed, texts as passages: none of them
    holds a value that the whole names, in this exchange or an earlier one."""
    chance, lines, planted = random.Random(2), [], []
    for number in range(60):
        value = _value(chance)
        planted += [value, value[:14]]
        told = (
            f"export DEPLOY_TOKEN={value}",
            f"{'x ' * 60}--token {value} --into shop",
            f"make deploy\nexport API_KEY={value}",
            f"curl -H 'Authorization: Bearer {value}' https://x.test",
        )
        command = chance.choice(told) + f"\n./deploy {value} && ls"
        error = f"Exit code 1\nerror: deploying with {value} failed on the server {number}"
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": command},
        }
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": error,
            "is_error": True,
        }
        said = f"The deployment with {value} failed because the server {number} was down."
        lines += [
            _line(4 * number, "user", f"Deploy the shop number {number}, please.", tmp_path),
            _line(4 * number + 1, "assistant", [call], tmp_path),
            _line(4 * number + 2, "user", [result], tmp_path),
            _line(4 * number + 3, "assistant", [{"type": "text", "text": said}], tmp_path),
        ]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = read_session.read(read_session.ReadRequest(str(path), final=True))
    stored = repr(made.drafts)
    assert "server 59" in stored
    assert [one for one in planted if one in stored] == []


def test_what_a_file_is_given_later(tmp_path: Path) -> None:
    """A value that a prompt tells without a word that names it goes where the agent writes it as what it is."""
    chance, lines, planted = random.Random(5), [], []
    for number in range(12):
        value = _value(chance)
        planted.append(value)
        written = (
            {"file_path": f"{tmp_path}/.env", "content": f"A=1\nFARM_PASSWORD={value}\n"},
            {"file_path": "local.properties", "old_string": "a=1", "new_string": f"a=1\nntrip.pass={value}"},
        )[number % 2]  # fmt: skip
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Write" if number % 2 == 0 else "Edit",
            "input": written,
        }
        told = f"For the farm number {number} take {value} and leave it out of git."
        lines += [
            _line(2 * number, "user", told, tmp_path),
            _line(2 * number + 1, "assistant", [call, {"type": "text", "text": "Done."}], tmp_path),
        ]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stored = repr(read_session.read(read_session.ReadRequest(str(path), final=True)).drafts)
    assert "farm number 11" in stored
    assert [one for one in planted if one in stored] == []


def test_cuts_leave_whole_words() -> None:
    """A shortened command or output begins with a whole line and ends with a whole word."""
    chance = random.Random(4)
    for _ in range(100):
        words = [_value(chance) for _ in range(300)]
        lines = [" ".join(words[at : at + 3]) for at in range(0, 300, 3)]
        text = "\n".join(lines)
        command = tools.command_of("Bash", {"command": text})
        assert set(command.split()) <= set(words)
        for failed in (True, False):
            kept = tools.shortened_output(text, failed)
            assert set(kept.split()) - {"…"} <= set(words)
            assert kept.splitlines()[-1] == lines[-1]
        assert tools.shortened_output(text, failed=False).splitlines()[0] in lines


def test_the_log_is_redacted(tmp_path: Path) -> None:
    """An error's words and its traceback may quote what was being stored."""
    chance, path = random.Random(6), tmp_path / "daemon.log"
    log = logging.getLogger("vector_memory")
    before = list(log.handlers)
    main._log_to(str(path))
    planted = [_value(chance) for _ in range(50)]
    try:
        for value in planted:
            try:
                raise ValueError(f"cannot read 'password: {value}'")
            except ValueError as error:
                log.exception("it failed: %s", error)
    finally:
        for handler in [one for one in log.handlers if one not in before]:
            log.removeHandler(handler)
            handler.close()
    text = path.read_text(encoding="utf-8")
    assert text.count("it failed") == 50
    assert [one for one in planted if one in text] == []
