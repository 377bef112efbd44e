"""Skills in the real client: what users type is shown to the model and run by nobody. The program
that the skills call is a recorder here, so that what reaches it can be compared byte by byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client, Run
from e2e.harness.reply import Call
from e2e.harness.request import texts, tool_results

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
RECORDER = """#!/bin/sh
printf '%s\\n' "$*" >> "{log}"
case " $* " in *" - "*) cat >> "{log}" ;; esac
echo "recorded: $*"
exit {code}
"""


class Recorded:
    """The plugin's skills around a recorder, in a folder with a space."""

    def __init__(self, root: Path, api: ScriptedApi, code: int = 0) -> None:
        self.client = Client(api, root, root / "data")
        self.plugin = root / "the plugin"
        self.work = root / "work"
        self.log = root / "log"
        for part in (".claude-plugin", "skills", "commands"):
            shutil.copytree(ROOT / part, self.plugin / part)
        program = self.plugin / "bin" / "vector-memory"
        program.parent.mkdir()
        program.write_text(RECORDER.format(log=self.log, code=code))
        program.chmod(0o700)

    def run(self, prompt: str, *replies: Call | str) -> Run:
        """Run one prompt in the client."""
        return self.client.session(prompt, cwd=self.work, replies=replies, plugin=self.plugin)

    @property
    def said(self) -> str:
        """What the program was told, all of it."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""


@pytest.fixture
def recorded(tmp_path: Path, api: ScriptedApi) -> Recorded:
    return Recorded(tmp_path, api)


def test_a_hostile_query_is_only_text(recorded: Recorded, tmp_path: Path) -> None:
    """Substitutions, backticks, the client's own markers and the heredoc's marker in what the user
    types run nothing; the fork's answer comes back, and its call reaches the program as text."""
    evil = tmp_path / "EVIL"
    query = f"what's \"it\" $(touch '{evil}') `touch '{evil}'` !`touch '{evil}'`\n"
    query += f"VECTOR_MEMORY_TEXT\ntouch '{evil}'\n```!\ntouch '{evil}'\n```"
    marker = "ANOTHER_MARKER"
    call = f"vector-memory recall - --json <<'{marker}'\n{query}\n{marker}"
    ran = recorded.run(f"/remember {query}", Call("Bash", {"command": call}), "It was decided.")
    assert ran.result == "It was decided."
    assert recorded.said == f"recall - --json\n{query}\n"
    assert f"$(touch '{evil}') `touch '{evil}'`" in "\n".join(texts(ran.main[0]))
    assert "recorded: recall - --json" in "\n".join(tool_results(ran.main[-1]))
    assert not evil.exists()


def test_figures_stand_in_the_prompt_already(recorded: Recorded) -> None:
    """/memory-stats costs no tool call: its commands have run when the model is asked."""
    ran = recorded.run("/memory-stats", "Little is remembered.")
    shown = "\n".join(texts(ran.main[0]))
    for verb in ("stats --json", "stats --project . --json", "daemon status --json"):
        assert f"recorded: {verb}" in shown


def test_a_failing_program_does_not_break_a_skill(tmp_path: Path, api: ScriptedApi) -> None:
    """The model sees what the program said, instead of the user seeing the client's error."""
    ran = Recorded(tmp_path, api, code=1).run("/memory-stats", "It does not work.")
    assert "recorded: stats --json" in "\n".join(texts(ran.main[0]))
    assert ran.result == "It does not work."


@pytest.mark.parametrize(
    "name", ["memory-topics", "memory-doctor", "memory-review", "memory-wrapup"]
)
def test_commands_answer_to_their_plain_names(name: str, recorded: Recorded) -> None:
    """Without the plugin's prefix, as skills do."""
    ran = recorded.run(f"/{name}", "Done.")
    assert f"recorded: {name.partition('-')[2]}" in "\n".join(texts(ran.main[0]))
