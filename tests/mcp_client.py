"""The MCP SDK's own client with a server of ours as a process, for tests that are no coroutines."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp
from anyio.from_thread import BlockingPortal, start_blocking_portal

from vector_memory.client.link import DaemonClient
from vector_memory.system.paths import Home

LIB = Path(__file__).resolve().parents[1] / "lib"
CODE = f"""import sys
sys.path.insert(0, {str(LIB)!r})
from vector_memory.mcp.main import main
sys.exit(main())"""
COMMAND = [sys.executable, "-I", "-c", CODE]


def environment(home: str, folder: Path, session: str = "") -> dict[str, str]:
    """Return all that a server gets from outside."""
    told = {"VECTOR_MEMORY_HOME": home, "HOME": home, "PATH": "/usr/bin:/bin"}
    told["CLAUDE_PROJECT_DIR"] = str(folder)
    return {**told, "CLAUDE_CODE_SESSION_ID": session} if session else told


@dataclass
class McpClient:
    """One connection. `progress` is what the last call told while it went on."""

    portal: BlockingPortal
    client: mcp.Client
    home: str
    folder: Path
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's structured answer; an error fails the test."""
        result = self._call(tool, arguments)
        assert not result.is_error, result.content[0].text
        told: dict[str, Any] = result.structured_content
        assert json.loads(result.content[0].text) == told
        return told

    def error(self, tool: str, **arguments: Any) -> str:
        """Return what a tool says of a call that it refuses."""
        result = self._call(tool, arguments)
        assert result.is_error, result.content[0].text
        return str(result.content[0].text)

    def settle(self) -> None:
        """Wait until what was stored is searchable by meaning too."""
        DaemonClient(Home(self.home)).ask("wait", {"timeout_s": 30})

    def tools(self) -> dict[str, Any]:
        """Return the tools by their names."""
        return {one.name: one for one in self.portal.call(self.client.list_tools).tools}

    def instructions(self) -> str:
        """Return what the server tells every model."""
        return str(self.client.instructions)

    def read(self, uri: str) -> tuple[str, str]:
        """Return a resource's text and type."""
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        return content.text, content.mime_type

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        self.progress.clear()

        async def call() -> Any:
            return await self.client.call_tool(tool, arguments, progress_callback=self._note)

        return self.portal.call(call)

    async def _note(self, done: float, total: float | None, doing: str | None) -> None:
        self.progress.append((done, total, doing))


@contextlib.contextmanager
def connected(home: str, folder: Path, session: str = "") -> Iterator[McpClient]:
    """Start a server for a session in a folder and connect to it."""
    program, *arguments = COMMAND
    told = mcp.StdioServerParameters(
        command=program, args=arguments, env=environment(home, folder, session), cwd=folder
    )
    client = mcp.Client(mcp.stdio_client(told))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield McpClient(portal, client, home, folder)
