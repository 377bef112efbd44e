"""What the MCP server costs: its start until the client is served, its memory, a call's time, and the tokens
of its tools' definitions; beside a bare interpreter and the SDK's smallest server, which has one tool and asks
nobody.

There is one such process for each session. (Not called `mcp.py`: that is the SDK's name.)
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from typing import Any

from common import Bench, bench, options, percentile, show

HELLO = """from mcp.server.mcpserver import MCPServer
server = MCPServer("hello")
@server.tool()
def hello(name: str) -> str:
    return name
server.run("stdio")"""
BARE = """import sys, json
for line in sys.stdin:
    told = json.loads(line)
    if "id" in told:
        print(json.dumps({"jsonrpc": "2.0", "id": told["id"], "result": {}}), flush=True)"""
CHARS_A_TOKEN = 4
ALWAYS_LOAD = "anthropic/alwaysLoad"
CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Talk:
    """A server as a process, talked to in plain JSON lines."""

    def __init__(self, command: list[str], made: Bench) -> None:
        environment = {**made.environment, "CLAUDE_PROJECT_DIR": made.project}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._last = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            told: dict[str, Any] = json.loads(self.process.stdout.readline())
            if told.get("id") == self._last:
                return told

    def begin(self) -> float:
        """Shake hands and read the tools; return the milliseconds since the process was started."""
        self.ask("initialize", **CLIENT)
        self._send({"method": "notifications/initialized"})
        taken = (time.perf_counter() - self.started) * 1000
        self.ask("tools/list")
        return taken

    def call(self, tool: str, **arguments: Any) -> float:
        """Call a tool and return the milliseconds."""
        started = time.perf_counter()
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert not answer["result"].get("isError"), answer
        return (time.perf_counter() - started) * 1000

    def rss_mb(self) -> float:
        """Return what the process has in memory."""
        command = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return int(told) / 1024

    def end(self) -> float:
        """Close stdin; return the milliseconds until the process is gone."""
        assert self.process.stdin is not None
        started = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(10)
        return (time.perf_counter() - started) * 1000

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def starts(made: Bench, name: str, command: list[str], runs: int) -> dict[str, Any]:
    """Start a server several times and return the medians."""
    begun, ended, sizes, worked = [], [], [], []
    for number in range(runs + 1):
        before = processor_ms()
        talk = Talk(command, made)
        taken = talk.begin()
        size, end = talk.rss_mb(), talk.end()
        # The first start writes bytecode.
        if number:
            begun.append(taken)
            worked.append(processor_ms() - before)
            sizes.append(size)
            ended.append(end)
    return {
        "server": name,
        "start to initialised ms": round(percentile(begun, 0.5)),
        "processor ms": round(percentile(worked, 0.5)),
        "RSS MB": round(percentile(sizes, 0.5), 1),
        "stdin closed to gone ms": round(percentile(ended, 0.5)),
    }


def processor_ms() -> float:
    """Return what the processes that have ended took of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def definitions(made: Bench, command: list[str]) -> dict[str, Any]:
    """Return what the tools' definitions take as they are sent, whole."""
    talk = Talk(command, made)
    talk.begin()
    tools = talk.ask("tools/list")["result"]["tools"]
    talk.end()
    sizes = {tool["name"]: definition_tokens(tool) for tool in tools}
    always = [tool["name"] for tool in tools if (tool.get("_meta") or {}).get(ALWAYS_LOAD)]
    return {
        "tools listed": len(tools),
        "tokens of one, mean": round(sum(sizes.values()) / len(sizes)),
        "largest": round(max(sizes.values())),
        "always in sight, together": round(sum(sizes[name] for name in always)),
        "all": round(sum(sizes.values())),
    }


def definition_tokens(tool: dict[str, Any]) -> float:
    """Return the tokens of one definition, four characters each."""
    return len(json.dumps(tool, separators=(",", ":"))) / CHARS_A_TOKEN


def calls(made: Bench, command: list[str], prompts: list[str], count: int) -> dict[str, Any]:
    """Return what calls take: the first one with a daemon to start, and many after it."""
    made.daemon.stop()
    talk = Talk(command, made)
    talk.begin()
    first = talk.call("memory_recall", query=prompts[0])
    made.settle()
    asked = (prompts * (count // len(prompts) + 1))[:count]
    taken = [talk.call("memory_recall", query=one) for one in asked]
    direct = []
    for one in asked:
        started = time.perf_counter()
        made.daemon.ask("recall", {"query": one, "project": made.project, "k": 8, "actor": "mcp"})
        direct.append((time.perf_counter() - started) * 1000)
    size = talk.rss_mb()
    talk.end()
    return {
        "first call, daemon stopped ms": round(first),
        "memory_recall p50 ms": round(percentile(taken, 0.5), 1),
        "p95 ms": round(percentile(taken, 0.95), 1),
        "of it the daemon p50 ms": round(percentile(direct, 0.5), 1),
        "RSS after MB": round(size, 1),
    }


def main() -> None:
    """Measure starts and calls."""
    parser = options(__doc__ or "")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    asked = parser.parse_args()
    with bench(asked.home) as made:
        python = [made.home.runtime_python, "-I", "-X", f"pycache_prefix={made.home.pycache}"]
        ours = ["/bin/sh", os.path.join(made.home.app_current, "bin", "vector-memory-mcp")]
        rows = [
            starts(made, "a bare interpreter", [*python, "-c", BARE], asked.runs),
            starts(made, "the SDK's hello world", [*python, "-c", HELLO], asked.runs),
            starts(made, "this one", ours, asked.runs),
        ]
        told = definitions(made, ours)
        prompts = made.fill(asked.memories)
        made.settle()
        called = {"memories": asked.memories, **calls(made, ours, prompts, asked.calls)}
    show("Starts", rows, asked.json)
    show("Definitions", [told], asked.json)
    show("Calls", [called], asked.json)


if __name__ == "__main__":
    main()
