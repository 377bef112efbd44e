"""What is kept of a command that failed holds nothing that redaction takes out of the command."""

from __future__ import annotations

from datetime import datetime, timezone

from vector_memory.index.exchanges import ToolUse
from vector_memory.redact import clean
from vector_memory.service.learning.observed_calls import _failure

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
AT = datetime(2026, 11, 1, tzinfo=timezone.utc)


def kept(command: str) -> str:
    output = (
        f"bash: {command}: this is what the shell says, since nobody can execute any such thing"
    )
    call = ToolUse("Bash", command, "", "", 1, 1, AT, True, True, output)
    return repr(_failure(call, AT, "", lambda text: str(clean(text).text)))


def test_a_secret_that_was_run_by_mistake_is_in_no_field() -> None:
    assert SECRET not in kept(f"/home/amelie/backup/{SECRET}.txt")
    assert "what" in kept("./deploy.sh") and "deploy.sh" in kept("./deploy.sh")
