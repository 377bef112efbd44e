"""Runs hooks as the client does: `sh hooks/run EVENT` with bytes on stdin, in a clean environment."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bytecode

from vector_memory.system.paths import Home

ROOT = Path(__file__).resolve().parents[3]
HANG_S = 10.0
EVENTS = {
    "session_start": "SessionStart",
    "user_prompt_submit": "UserPromptSubmit",
    "pre_tool_use": "PreToolUse",
    "post_tool_use": "PostToolUse",
    "post_tool_use_failure": "PostToolUseFailure",
    "stop": "Stop",
    "subagent_stop": "SubagentStop",
    "pre_compact": "PreCompact",
    "session_end": "SessionEnd",
}
"""The hooks' files and the client's names of their events."""
HUGE_BYTES = 5_000_000
MAY_SPEAK = frozenset(
    {
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "post_tool_use_failure",
    }
)
"""The events whose context the client takes; on the others a hook says nothing."""


@dataclass(frozen=True)
class Stdin:
    """What a hook finds on stdin; `closed` is False where the other end keeps it open."""

    data: bytes
    closed: bool = True


@functools.lru_cache(maxsize=1)
def inputs(event: str) -> dict[str, Stdin]:
    """Return what a hook may find on stdin, from proper to hopeless. They are large, so those of one event are
    kept, whose tests follow each other."""
    valid = payload(event)
    odd = dict.fromkeys(json.loads(valid), [{"a": 1}])
    return {
        "proper": Stdin(valid),
        "empty": Stdin(b""),
        "cut": Stdin(valid[: len(valid) // 2]),
        "no JSON": Stdin(b"hello\n"),
        "no object": Stdin(b"[1, 2]"),
        "null": Stdin(b"null"),
        "wrong types": Stdin(json.dumps(odd).encode()),
        "no UTF-8": Stdin(b"\x00\xff\xfe\x80" * 500),
        "UTF-8 cut in a string": Stdin(valid.replace(b"session", b"\xc3\x28\xed\xa0\x80")),
        "deep": Stdin(b"[" * 200_000),
        "deep object": Stdin(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
        "huge": Stdin(payload(event, prompt="x" * HUGE_BYTES)),
        "too large": Stdin(payload(event, prompt="x" * (17 << 20))),
    }


def held(event: str) -> dict[str, Stdin]:
    """Return inputs whose other end never closes: they cost a hook its whole deadline."""
    return {
        "never closed, empty": Stdin(b"", closed=False),
        "never closed": Stdin(payload(event), closed=False),
    }


@dataclass
class Outcome:
    """What a hook did. `hung` means that it had to be killed."""

    returncode: int = 0
    out: bytes = b""
    err: bytes = b""
    hung: bool = False

    @property
    def context(self) -> str:
        """The context that it printed; "" when it printed nothing."""
        if not self.out:
            return ""
        return str(json.loads(self.out)["hookSpecificOutput"]["additionalContext"])

    def assert_polite(self) -> None:
        """Fail unless the hook kept its contract, whatever it was told."""
        assert not self.hung
        assert self.returncode == 0
        assert self.err == b""
        assert self.out == b"" or isinstance(json.loads(self.out), dict)


def base_python() -> str:
    """Return the real interpreter behind the one that runs the tests."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def pythons() -> list[str]:
    """Return the interpreters that hooks are tried on: this one, and those that the environment
    names besides."""
    named = os.environ.get("VECTOR_MEMORY_TEST_PYTHONS", "").split(os.pathsep)
    return [base_python(), *(os.path.realpath(one) for one in named if one)]


def bare_home(root: Path, python: str = "") -> Path:
    """Make a data home that has an interpreter for hooks and nothing else: no daemon can start."""
    for folder in ("runtime", "run", "spool", "logs", "app"):
        (root / folder).mkdir(parents=True, mode=0o700)
    (root / "runtime" / "hook-python").symlink_to(python or base_python())
    # As a daemon leaves it that wants to be asked about everything.
    (root / "run" / "tools").write_text("search watch warn errors")
    bytecode.share(Home(str(root)), python or base_python())
    return root


def payload(event: str, **more: Any) -> bytes:
    """Return stdin for an event as the client writes it."""
    common = {
        "session_id": "0b1c2d3e-0000-4000-8000-000000000001",
        "transcript_path": "/nonexistent/transcript.jsonl",
        "cwd": "/nonexistent/project",
        "hook_event_name": EVENTS[event],
    }
    return json.dumps({**common, **_DETAILS.get(event, {}), **more}).encode()


_DETAILS: dict[str, dict[str, Any]] = {
    "session_start": {"source": "startup"},
    "user_prompt_submit": {"prompt": "Which database did we choose for the ledger?"},
    "pre_tool_use": {
        "tool_name": "Bash",
        "tool_input": {"command": "cd src && rg -n 'ledger' | head"},
        "tool_use_id": "t1",
    },
    "post_tool_use": {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q | tail -3"},
        "tool_response": {
            "stdout": "1 failed",
            "stderr": "",
            "interrupted": False,
            "isImage": False,
        },
        "tool_use_id": "t1",
    },
    "post_tool_use_failure": {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "error": "Exit code 127\nbash: line 1: pytest: command not found",
        "is_interrupt": False,
    },
    "stop": {"stop_hook_active": False, "last_assistant_message": "We chose SQLite."},
    "subagent_stop": {"stop_hook_active": False, "agent_id": "a1"},
    "pre_compact": {"trigger": "manual", "custom_instructions": None},
    "session_end": {"reason": "other"},
}


@dataclass
class Hook:
    """One started hook."""

    process: subprocess.Popen[bytes]
    stdin: Stdin
    outcome: Outcome = field(default_factory=Outcome)

    def wait(self) -> Outcome:
        """Wait until it ends, or kill it after `HANG_S`."""
        feeder = threading.Thread(target=self._feed)
        feeder.start()
        try:
            self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.outcome.hung = True
            self.process.kill()
        assert self.process.stdout and self.process.stderr and self.process.stdin
        with self.process.stdout as out, self.process.stderr as err:
            self.outcome.out, self.outcome.err = out.read(), err.read()
        self.outcome.returncode = self.process.wait()
        feeder.join()
        _close(self.process.stdin)
        return self.outcome

    def _feed(self) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(self.stdin.data)
            self.process.stdin.flush()
        except OSError:
            return
        if self.stdin.closed:
            _close(self.process.stdin)


def start(
    event: str,
    stdin: Stdin,
    home: Path,
    plugin: Path = ROOT,
    cwd: Path | None = None,
    **environment: str,
) -> Hook:
    """Start a hook, in a folder where one is given; `wait` feeds it and returns what it did."""
    process = subprocess.Popen(
        ["/bin/sh", str(plugin / "hooks" / "run"), event],
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(home.parent),
            "VECTOR_MEMORY_HOME": str(home),
            "CLAUDE_PROJECT_DIR": "/nonexistent/project",
            "CLAUDE_PLUGIN_ROOT": str(plugin),
            **environment,
        },
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return Hook(process, stdin)


def run(
    event: str,
    stdin: Stdin,
    home: Path,
    plugin: Path = ROOT,
    cwd: Path | None = None,
    **environment: str,
) -> Outcome:
    """Run a hook to its end."""
    return start(event, stdin, home, plugin, cwd, **environment).wait()


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        # The hook was gone before it had read everything: its right.
        return
