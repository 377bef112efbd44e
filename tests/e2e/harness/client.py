"""Runs sessions of the real client in a home of their own, and reads what came of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from e2e.harness.api import ScriptedApi
from e2e.harness.reply import Scripted
from e2e.harness.request import Request

CLIENT_VARIABLE = "VECTOR_MEMORY_TEST_CLIENT"
TIMEOUT_S = 180.0
QUIET = {
    "ANTHROPIC_API_KEY": "dummy",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "IS_SANDBOX": "1",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}


def binary() -> Path:
    """Return the client's binary; without one, fail in CI and skip elsewhere."""
    path = Path(os.environ.get(CLIENT_VARIABLE) or "/nonexistent")
    if path.is_file():
        return path
    reason = f"{CLIENT_VARIABLE} names no client: `./bootstrap.sh test` installs one"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True)
class Run:
    """What one run of the client did."""

    events: list[dict[str, Any]]
    """The lines of its JSON stream."""
    requests: list[Request]
    """What it asked the model meanwhile."""
    returncode: int
    stderr: str

    @property
    def session(self) -> str:
        """The session's id, for `resume`."""
        return str(next(event["session_id"] for event in self.events if "session_id" in event))

    @property
    def result(self) -> str:
        """The run's last answer; "" when it gave none."""
        last = [event for event in self.events if event.get("type") == "result"]
        return str(last[-1].get("result", "")) if last else ""

    @property
    def main(self) -> list[Request]:
        """The requests of the session itself."""
        return [one for one in self.requests if one.is_main and not one.is_compaction]

    def hooks(self, event: str = "") -> list[dict[str, Any]]:
        """Return the hook responses, of one event or of all."""
        return [
            one
            for one in self.events
            if one.get("subtype") == "hook_response" and event in {"", one.get("hook_event")}
        ]


class Client:
    """The real client with a home, a configuration and a data home that belong to one test.

    Args:
        with_servers: whether sessions connect to the MCP servers of plugins. Ours takes more of the processor than
            all hooks of a short session.
    """

    def __init__(
        self, api: ScriptedApi, root: Path, data_home: Path, with_servers: bool = True
    ) -> None:
        self.with_servers = with_servers
        self.binary = binary()
        self.api = api
        self.home = root / "home"
        self.config = self.home / ".claude"
        self.data_home = data_home
        self.temporary = root / "tmp"
        for folder in (self.config, self.temporary):
            folder.mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """Return all that a client of ours gets from outside."""
        return {
            **QUIET,
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_BASE_URL": self.api.url,
            "VECTOR_MEMORY_HOME": str(self.data_home),
        }

    def wire(self, settings: Mapping[str, Any]) -> None:
        """Write the user's settings file."""
        (self.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def session(
        self,
        prompt: str,
        *,
        cwd: Path,
        replies: Sequence[Scripted] = (),
        plugin: Path | None = None,
        resume: str = "",
        tools: str = "",
    ) -> Run:
        """Run one prompt to its end.

        Args:
            prompt: what the user types.
            cwd: the folder in which the session runs.
            replies: what the model says, in order (texts, calls, or what decides by the request).
            plugin: a plugin's folder, loaded for this session only.
            resume: the session to go on with.
            tools: the tools that the session has, where it is not the usual ones.
        """
        cwd.mkdir(parents=True, exist_ok=True)
        self.api.script(replies)
        mark = self.api.mark()
        arguments = ["-p", prompt, "--permission-mode", "bypassPermissions"]
        arguments += ["--output-format", "stream-json", "--include-hook-events", "--verbose"]
        arguments += ["--plugin-dir", str(plugin)] if plugin else []
        arguments += ["--resume", resume] if resume else []
        arguments += ["--tools", tools] if tools else []
        arguments += [] if self.with_servers else ["--strict-mcp-config"]
        done = self.command(*arguments, cwd=cwd)
        self.api.raise_errors()
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return Run(events, self.api.since(mark), done.returncode, done.stderr)

    def command(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the client with any arguments, for at most `TIMEOUT_S`."""
        process = subprocess.Popen(
            [str(self.binary), *arguments],
            cwd=cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"the client did not end within {TIMEOUT_S:.0f} s:\n{out[-3000:]}\n{err}")
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)
