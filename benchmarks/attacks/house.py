"""A scratch installation that is attacked: its hooks, command line and server as processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

from common import Bench

from vector_memory import errors

HOOK_S, CLI_S, LONG_S = 20.0, 60.0, 1_200.0
WORKERS = 2
START = datetime(2026, 5, 3, tzinfo=timezone.utc)
T = TypeVar("T")


class House(Bench):
    """A `Bench` with many projects, whose environment is the user's: a home, a configuration of the client,
    a folder for temporary files."""

    def __init__(self, linked: str) -> None:
        # It inherits these: nothing of this process's own surroundings reaches the daemon.
        for name in [one for one in os.environ if one.startswith(("CLAUDE", "VECTOR_MEMORY_"))]:
            del os.environ[name]
        super().__init__(linked)
        self.claude = os.path.join(self.root, "claude")
        self.temporary = os.path.join(self.root, "tmp")
        for folder in (self.claude, self.temporary):
            os.mkdir(folder)
        self.environment |= {
            "CLAUDE_CONFIG_DIR": self.claude, "LANG": "C.UTF-8", "TMPDIR": self.temporary,
        }  # fmt: skip
        os.environ.update(CLAUDE_CONFIG_DIR=self.claude, TMPDIR=self.temporary)
        self.sessions = 0
        self.planted: dict[str, tuple[str, Any]] = {}
        """By a way's name: its project's folder, and what was planted."""
        self.live: dict[str, str] = {}
        """By a project's folder, a session there that went on before the hooks' eyes."""
        self.files = 0

    def folder(self, name: str) -> str:
        """Make a project's folder and return it."""
        path = os.path.join(self.root, "projects", name)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, name: str, content: str) -> str:
        """Write a file under a new name, and return its path."""
        self.files += 1
        path = Path(self.root, f"{self.files}-{name}")
        path.write_text(content, encoding="utf-8", errors="replace")
        return str(path)

    # -- hooks --

    def event(
        self, stem: str, cwd: str, variables: dict[str, str] | None = None, **fields: Any
    ) -> bytes:
        """Run a hook as a whole process in a project; return what it printed, b"" where it failed."""
        event = "".join(part.capitalize() for part in stem.split("_"))
        message = {"hook_event_name": event, "cwd": cwd, **fields}
        script = os.path.join(self.home.app_current, "hooks", "run")
        environment = {**self.environment, "CLAUDE_PROJECT_DIR": cwd, **(variables or {})}
        try:
            done = subprocess.run(
                ["sh", script, stem],
                input=json.dumps(message).encode("utf-8", "surrogatepass"),
                capture_output=True, env=environment, timeout=HOOK_S, check=False,
            )  # fmt: skip
        except (subprocess.TimeoutExpired, ValueError):
            return b""
        return done.stdout

    def context(self, stem: str, cwd: str, **fields: Any) -> str:
        """Return what a hook gives the model, "" for nothing."""
        printed = self.event(stem, cwd, **fields)
        return context_of(printed)

    # -- the command line --

    def cli(
        self,
        *arguments: str,
        cwd: str = "",
        stdin: bytes = b"",
        timeout_s: float = CLI_S,
        **more: str,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command line of the installed copy; its exit code is the caller's to look at, 124 where it
        took too long."""
        command = [*self.command, *arguments]
        try:
            return subprocess.run(
                command, env={**self.environment, **more}, cwd=cwd or self.project, input=stdin,
                capture_output=True, timeout=timeout_s, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(command, 124, late.stdout or b"", late.stderr or b"")
        except ValueError as refused:
            # No process takes an argument with NUL in it.
            return subprocess.CompletedProcess(command, 2, b"", str(refused).encode())

    @property
    def command(self) -> list[str]:
        """The command line's program."""
        return ["/bin/sh", os.path.join(self.home.app_current, "bin", "vector-memory")]

    @property
    def server(self) -> list[str]:
        """The MCP server's program."""
        return ["/bin/sh", os.path.join(self.home.app_current, "bin", "vector-memory-mcp")]

    def asked(self, *arguments: str, cwd: str = "") -> Any:
        """Return what the command line answers with `--json`, None where it answers nothing of the kind."""
        done = self.cli(*arguments, "--json", cwd=cwd)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return None

    def rows(self) -> list[dict[str, Any]]:
        """Return every memory of every store, as an export tells it."""
        exported = self.cli("export", "--all", timeout_s=LONG_S).stdout.splitlines()
        return [json.loads(line) for line in exported if line.strip()]

    # -- the daemon --

    def ask(self, verb: str, **request: Any) -> dict[str, Any]:
        """Return the daemon's answer to a long question, {"error"} where it refuses."""
        answer: dict[str, Any] = {}
        try:
            for kind, data in self.daemon.stream(verb, {"cwd": self.project, **request}, LONG_S):
                if kind == "answer":
                    answer = data
        except errors.VectorMemoryError as refused:
            return {"error": str(refused)}
        return answer

    def calm(self, timeout_s: float = LONG_S) -> None:
        """Wait until the spool is empty and everything is indexed."""
        until = time.monotonic() + timeout_s
        while self.spooled() and time.monotonic() < until:
            time.sleep(1)
        self.ask("wait", timeout_s=timeout_s)
        with contextlib.suppress(errors.VectorMemoryError):
            while self.daemon.ask("status", {}).get("busy") and time.monotonic() < until:
                time.sleep(0.2)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let hooks run without a daemon, and none start, for one block."""
        with contextlib.suppress(errors.VectorMemoryError):
            self.daemon.stop()
        runtime = Path(self.home.runtime)
        shared = os.readlink(runtime)
        runtime.unlink()
        runtime.mkdir()
        os.symlink(os.path.join(shared, "hook-python"), runtime / "hook-python")
        try:
            yield
        finally:
            shutil.rmtree(runtime)
            os.symlink(shared, runtime)

    def spooled(self) -> int:
        """Return how many events wait to be read."""
        return sum(not name.startswith(".") for name in os.listdir(self.home.spool))

    # -- transcripts --

    def transcript(self, cwd: str, session: str, lines: Iterable[dict[str, Any]]) -> str:
        """Write a session's transcript to where the client keeps them, and return its path."""
        name = "".join(char if char.isascii() and char.isalnum() else "-" for char in cwd)[-100:]
        folder = Path(self.claude, "projects", name)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        return str(path)

    def session(self) -> str:
        """Return a new session's id, in the client's form."""
        self.sessions += 1
        return f"{self.sessions:08x}-0000-4000-8000-{os.urandom(6).hex()}"

    def close(self) -> None:
        """Stop the daemon, by force where it hangs, and remove everything."""
        with contextlib.suppress(errors.VectorMemoryError):
            self.daemon.stop()
        shutil.rmtree(self.root, ignore_errors=True)


@contextlib.contextmanager
def house(linked: str) -> Iterator[House]:
    """A `House` for one block."""
    surroundings = dict(os.environ)
    made = House(linked)
    try:
        yield made
    finally:
        made.close()
        os.environ.clear()
        os.environ.update(surroundings)


def context_of(printed: bytes) -> str:
    """Return the words that one hook's output gives the model: context, a reason, a replaced result."""
    if not printed.strip():
        return ""
    try:
        told = json.loads(printed).get("hookSpecificOutput", {})
    except (ValueError, AttributeError):
        return printed.decode("utf-8", "replace")
    words = [told.get(name) for name in ("additionalContext", "permissionDecisionReason")]
    words.append(json.dumps(told["updatedToolOutput"]) if "updatedToolOutput" in told else "")
    return "\n".join(str(one) for one in words if one)


def at_once(work: Callable[[Any], T], given: Iterable[Any]) -> list[T]:
    """Return what a piece of work gives for each, a few of them at a time, in order."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, given))


# -- lines of transcripts, as the client writes them --

REFUSED = "The user doesn't want to proceed with this tool use."
REJECTED = (
    f"{REFUSED} The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to "
    "the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
REASON = f"{REJECTED} The user provided the following reason for the rejection: "


def use(id: str, name: str, **given: Any) -> dict[str, Any]:
    """Return a call of a tool, as a block."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, text: Any, failed: bool = False) -> dict[str, Any]:
    """Return a tool's result, as a block."""
    return {"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text}


def words(text: str) -> dict[str, Any]:
    """Return what is said, as a block."""
    return {"type": "text", "text": text}


Turn = tuple[str, Any]


def talk(session: str, cwd: str, turns: Iterable[Turn], **common: Any) -> list[dict[str, Any]]:
    """Return a transcript's lines: each turn is ("user" | "assistant", content), or ("raw", a whole line).

    Args:
        common: fields that every line has besides, or has otherwise.
    """
    at = START + timedelta(minutes=zlib.crc32(session.encode("utf-8", "replace")) % 200_000)
    lines = []
    for place, (role, content) in enumerate(turns):
        line = {
            "parentUuid": f"{session}-{place - 1}" if place else None, "isSidechain": False,
            "uuid": f"{session}-{place}", "sessionId": session, "cwd": cwd, "version": "2.1.329",
            "gitBranch": "main", "userType": "external", "entrypoint": "cli",
            "timestamp": (at + timedelta(seconds=place)).isoformat(),
        }  # fmt: skip
        if role == "raw":
            lines.append({**line, **content, **common})
            continue
        message = {"role": role, "content": content}
        lines.append({**line, "type": role, "message": message, **common})
    return lines
