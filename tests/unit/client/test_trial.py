"""The client played by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vector_memory.client import trial
from vector_memory.system.paths import Home

ECHO = "import sys, os; sys.stdout.write(os.environ['HOME'] + '|' + sys.stdin.read())"


@pytest.mark.parametrize("printed", [b"", b"no JSON", b"[]", b'{"hookSpecificOutput": 1}'])
def test_what_gives_no_context_gives_none(printed: bytes) -> None:
    assert trial.context_in(printed) == ""


def test_a_hook_is_given_its_event(tmp_path: Path) -> None:
    """Its name in the client's form, the project's folder, and what else is said; in the user's home that is named."""
    home = Home(str(tmp_path / "data"))
    done = trial.run_hook(
        [sys.executable, "-c", ECHO], "user_prompt_submit", home, str(tmp_path), 30.0, "/u", prompt="x"
    )  # fmt: skip
    user, _, sent = done.stdout.decode().partition("|")
    assert user == "/u"
    assert '"hook_event_name": "UserPromptSubmit"' in sent and '"prompt": "x"' in sent
