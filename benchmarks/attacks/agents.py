"""Programs that act for somebody else: a client that an agent's commands run in, and the MCP server that it
starts."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from mcp_server import Talk

from attacks.house import House

SHELLS = ("/bin/dash", "/bin/bash", "/bin/sh")
DETACHED_S = 30.0
WAYS = {
    "as it is": '"$@"',
    "env -u CLAUDECODE": 'env -u CLAUDECODE "$@"',
    "env -i": 'env -i PATH="$PATH" HOME="$HOME" VECTOR_MEMORY_HOME="$VECTOR_MEMORY_HOME" "$@"',
    "setsid": 'env -u CLAUDECODE setsid "$@"',
    "nohup, detached": '( ( nohup "$@" >/dev/null 2>&1 & ) & )',
    "env -u, setsid, detached": '( ( env -u CLAUDECODE setsid "$@" >/dev/null 2>&1 & ) & )',
    "a terminal": (
        "env -u CLAUDECODE python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \"$@\" >/dev/null"
    ),
    "a script": 'printf \'exec "$@"\\n\' >run-by-agent.sh; sh run-by-agent.sh "$@"',
}
"""How an agent may start a command, as words of a shell: from what its tool does to what hides it."""


class Client:
    """What looks like the client to whoever asks the system: a process named `claude` whose children are an
    agent's commands, with the variables that the client gives them.

    It is a copy of a shell under that name; it waits for its commands, so that they have it among their
    parents, but for those that detach themselves.
    """

    def __init__(self, made: House, session: str = "") -> None:
        self._made = made
        folder = os.path.join(made.root, "bin")
        os.makedirs(folder, exist_ok=True)
        self.program = os.path.join(folder, "claude")
        shell = next(one for one in SHELLS if os.path.exists(one))
        if not os.path.exists(self.program):
            shutil.copyfile(os.path.realpath(shell), self.program)
            os.chmod(self.program, 0o755)
        self.variables = {
            "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_SESSION_ID": session or made.session(),
        }  # fmt: skip

    def run(self, way: str, command: Sequence[str], cwd: str) -> int:
        """Run a command as an agent does by one of `WAYS`; return its exit code, that of its start where it is
        detached."""
        # The shell in the middle is the one of the Bash tool; the last words keep the client from becoming it.
        inner = 'sh -c "$0" sh "$@"; code=$?; sleep 0.01; exit $code'
        try:
            done = subprocess.run(
                [self.program, "-c", inner, WAYS[way], *command],
                env={**self._made.environment, **self.variables}, cwd=cwd,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=DETACHED_S, check=False,
            )  # fmt: skip
        except (subprocess.TimeoutExpired, ValueError):
            return 124
        return done.returncode


@contextlib.contextmanager
def tools(made: House, cwd: str, session: str = "") -> Iterator[Tools]:
    """Start a session's MCP server in a project for one block."""
    session = session or made.session()
    environment = {**made.environment, "CLAUDE_CODE_SESSION_ID": session, "CLAUDECODE": "1"}
    talk = Talk(made.server, SimpleNamespace(environment=environment, project=cwd))  # type: ignore[arg-type]
    talk.begin()
    try:
        yield Tools(talk)
    finally:
        talk.end()


class Tools:
    """A server's tools."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's structured answer, {} where it refused."""
        answer = self._talk.ask("tools/call", name=tool, arguments=arguments)
        told = answer.get("result", {})
        return {} if told.get("isError") else dict(told.get("structuredContent") or {})
