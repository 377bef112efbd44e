"""The client itself without a screen: one turn, no tools, no hooks, no plugins. It costs the user's
model tokens, so it is used only where somebody chose it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

from vector_memory.config import Settings
from vector_memory.errors import GenerationError, ModelAwayError
from vector_memory.model import EXTRACTION_MARK, Completion
from vector_memory.system import programs

COMMAND = "claude"
DEFAULT_MODEL = "haiku"
MAX_CHARS = 20_000
ROOM_TOKENS = 2_000
"""Where an answer is cut off, the client asks again, three times over, and then fails: so the limit
that it is told stands well beyond what prompts ask for."""
MARK = f"{EXTRACTION_MARK}>\n"
SYSTEM = "You do one small task on a text and answer with nothing but what is asked for."
OWN_SESSION = "VECTOR_MEMORY_OWN_SESSION"
"""The variable that tells our hooks, should one run all the same, that this session is our own."""
HINT = "Check that `claude -p hello` works, or set generation_backend to nothing."

_SETTINGS = {"disableAllHooks": True, "permissions": {"deny": ["Read"]}}
_ENVIRONMENT = {
    OWN_SESSION: "1",
    # The client reads the file behind an @path in a prompt, and a quoted text may well have one.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}


class Headless:
    """`claude -p` in an empty folder, with nothing loaded.

    Args:
        settings: `generation_model` is read; empty means the smallest.
        command: the program.
    """

    overhead_tokens = 1_000 + ROOM_TOKENS

    def __init__(self, settings: Settings, command: str = "") -> None:
        program = shutil.which(command or COMMAND)
        if program is None:
            raise ModelAwayError(f"There is no program {command or COMMAND!r}.", HINT)
        self._program = program
        self._model = settings.generation_model or DEFAULT_MODEL
        self.name = f"client/{self._model}"

    def complete(
        self,
        prompt: str,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model writes. The prompt goes in on stdin, so that no text of a memory
        is an argument; a schema is left to the prompt, since the client would take turns to keep it.

        Raises:
            GenerationError: the client failed or was late.
        """
        marked = prompt if prompt.startswith(EXTRACTION_MARK) else MARK + prompt
        environment = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens + ROOM_TOKENS)}
        result = self._run(self._command(), marked, timeout_s, environment)
        return _completion(result.returncode, result.stdout, result.stderr)

    def check(self, timeout_s: float) -> None:
        """See whether the program runs. Whether it is signed in only a call can tell.

        Raises:
            GenerationError: it does not run.
        """
        result = self._run([self._program, "--version"], "", timeout_s, {})
        if result.returncode != 0:
            raise _failure(result.returncode, result.stderr or result.stdout)

    def _command(self) -> list[str]:
        return [
            self._program, "-p", "--output-format", "json", "--tools", "", "--strict-mcp-config",
            "--setting-sources", "", "--settings", json.dumps(_SETTINGS),
            "--disable-slash-commands", "--no-session-persistence",
            "--system-prompt", SYSTEM, "--model", self._model,
        ]  # fmt: skip

    def _run(
        self, words: list[str], prompt: str, timeout_s: float, variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **_ENVIRONMENT, **variables}
        with tempfile.TemporaryDirectory(prefix="vector-memory-") as folder:
            try:
                result = programs.run(
                    words, prompt.encode("utf-8", "replace"), timeout_s, folder, environment
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise GenerationError(f"The client did not answer: {error}.", HINT) from error
        stdout, stderr = (
            stream.decode("utf-8", "replace") for stream in (result.stdout, result.stderr)
        )
        return subprocess.CompletedProcess(words, result.returncode, stdout, stderr)


def _completion(code: int, stdout: str, stderr: str) -> Completion:
    """Return what the client printed as its one JSON object."""
    try:
        answer = json.loads(stdout)
        text, has_failed = answer["result"], code != 0 or answer.get("is_error")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _failure(code, stderr or stdout) from error
    tokens = _tokens(answer)
    if has_failed or not isinstance(text, str):
        raise _failure(code, str(text), tokens or 0)
    return Completion(text[:MAX_CHARS], tokens)


def _tokens(answer: Mapping[str, Any]) -> int | None:
    """Return what all models took together, what was cached included; None where it is not said."""
    used: Any = answer.get("modelUsage")
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    try:
        total = sum([int(use.get(name) or 0) for use in used.values() for name in names])
    except (AttributeError, TypeError, ValueError):
        return None
    return total or None


def _failure(code: int, output: str, tokens: int = 0) -> GenerationError:
    words = output.strip()[:200] or "no answer"
    return GenerationError(f"The client failed with {code}: {words}.", HINT, tokens)
