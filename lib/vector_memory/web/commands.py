"""What the command line alone can do, done by it: settings with their checks, and the doctor."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from vector_memory.client.link import Json
from vector_memory.errors import BadInputError
from vector_memory.system.paths import COMMAND_LINE
from vector_memory.web.asker import WebCall

WAIT_S = 120.0


def run(call: WebCall, *words: str) -> Json:
    """Return what a command answers with `--json`. It has the rights of whoever started this process: an agent is
    refused the same as at its own command line.

    Raises:
        BadInputError: what it reports, or that it says nothing.
    """
    home = call.daemon.home
    python = [sys.executable, "-X", f"pycache_prefix={home.pycache}", *COMMAND_LINE]
    try:
        result = subprocess.run(
            [*python, words[0], *words[1:2], "--json", *words[2:]],
            cwd=call.folder,
            env={**os.environ, "VECTOR_MEMORY_HOME": home.root},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
        answer = json.loads(result.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise BadInputError(
            f"`vector-memory {words[0]}` gave no answer: {type(error).__name__}.",
            "Run it in a terminal.",
        ) from error
    if "error" in answer:
        raise BadInputError(str(answer["error"]), str(answer.get("hint") or ""))
    return dict(answer)


def config(call: WebCall, verb: str, *names: str) -> Json:
    """Change a setting by a verb of `config`, with the fields of these names."""
    for name in names:
        value = call.arguments.get(name)
        if not isinstance(value, str) or "\0" in value:
            raise BadInputError(f"{name} is missing.", "Say what it should be.")
    return run(call, "config", verb, "--", *(call.arguments[name] for name in names))
