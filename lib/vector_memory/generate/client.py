"""The client itself without a screen: one turn, no tools, no hooks, no plugins. It costs the user's
model tokens, so it is used only where somebody chose it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from vector_memory.config import Settings
from vector_memory.errors import GenerationError

COMMAND = "claude"
MAX_CHARS = 20_000
HINT = "Check that `claude -p hello` works, or set generation_backend to nothing."


class Headless:
    """`claude -p` in an empty folder, with nothing loaded.

    Args:
        settings: `generation_model` is read; empty means the client's own.
        command: the program.
    """

    def __init__(self, settings: Settings, command: str = "") -> None:
        found = shutil.which(command or COMMAND)
        if found is None:
            raise GenerationError(f"There is no program {command or COMMAND!r}.", HINT)
        self.name = f"client/{settings.generation_model or 'default'}"
        self._words = [
            found, "-p", "--output-format", "text", "--tools", "", "--strict-mcp-config",
            "--setting-sources", "", "--settings", '{"disableAllHooks": true}',
            "--no-session-persistence",
        ]  # fmt: skip
        if settings.generation_model:
            self._words += ["--model", settings.generation_model]

    def complete(self, prompt: str, max_tokens: int, timeout_s: float) -> str:
        """Return what the model writes. The prompt goes in on stdin, so that no text of a memory
        is an argument.

        Raises:
            GenerationError: the client failed or was late.
        """
        environment = {**os.environ, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens)}
        with tempfile.TemporaryDirectory(prefix="vector-memory-") as folder:
            try:
                done = subprocess.run(
                    self._words, input=prompt, capture_output=True, text=True, errors="replace",
                    timeout=timeout_s, cwd=folder, env=environment, check=False,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired) as error:
                raise GenerationError(f"The client did not answer: {error}.", HINT) from error
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()[:200]
            raise GenerationError(f"The client failed with {done.returncode}: {said}.", HINT)
        return done.stdout[:MAX_CHARS]
