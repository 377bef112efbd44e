"""The proof: the real hooks store a memory in a scratch data home, and recall it in other words."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial

from vector_memory.client import trial
from vector_memory.client.link import DaemonClient
from vector_memory.errors import SetupError, VectorMemoryError
from vector_memory.setup.site import SetupSite
from vector_memory.system.paths import Home

PATIENCE_S = 60.0
HOOK_S = 10.0
QUESTION = "Which database should the ledger use?"
DECISION = (
    "We decided that the ledger keeps its entries in PostgreSQL, because the auditors need"
    " row-level history."
)
PROMPT = "Remind me: where does the ledger store its data, and what was the reason?"
EXPECTED = "PostgreSQL"
_HINT = "Run `vector-memory doctor`; the end of the daemon's log is in the set-up's log."


def run(site: SetupSite) -> str:
    """Store and recall one memory through the installed hooks; return what was seen.

    Raises:
        SetupError: a hook failed, or the memory did not come back.
    """
    with _scratch(site) as (home, project):
        hook = partial(_run_hook, site, home, project)
        hook("session_start", session_id="proof-1", source="startup")
        transcript = os.path.join(project, "proof-1.jsonl")
        answer = [{"type": "text", "text": DECISION}]
        trial.write_transcript(
            transcript, "proof-1", project, [("user", QUESTION), ("assistant", answer)]
        )
        hook(
            "stop",
            session_id="proof-1",
            transcript_path=transcript,
            stop_hook_active=False,
            last_assistant_message=DECISION,
        )
        recalled = _wait_for_answer(hook, transcript)
    return f"it works\nstored:   {DECISION}\nasked:    {PROMPT}\nrecalled: {recalled}"


def _run_hook(site: SetupSite, home: Home, project: str, stem: str, **event: object) -> str:
    """Run one of the installed hooks, as the client would; return the context that it adds ("" for none)."""
    command = ["sh", os.path.join(site.home.app_current, "hooks", "run"), stem]
    try:
        result = trial.run_hook(command, stem, home, project, HOOK_S, user_home="", **event)
    except subprocess.TimeoutExpired:
        raise SetupError(f"The hook {stem} did not end in {HOOK_S:.0f} s.", _HINT) from None
    if result.returncode or result.stderr:
        raise SetupError(f"The hook {stem} failed (exit {result.returncode}).", _HINT)
    return trial.context_in(result.stdout)


def _wait_for_answer(hook: Callable[..., str], transcript: str) -> str:
    """Ask until the memory comes back, and return the line that holds it."""
    deadline = time.monotonic() + PATIENCE_S
    attempt = 0
    # Each time as a session of its own, since a session gets nothing twice.
    while time.monotonic() < deadline:
        attempt += 1
        context = hook(
            "user_prompt_submit",
            session_id=f"proof-2-{attempt}",
            transcript_path=transcript + ".none",
            prompt=PROMPT,
        )
        for line in context.splitlines():
            if EXPECTED in line:
                return line.strip()
        time.sleep(0.2)
    raise SetupError(f"The memory did not come back within {PATIENCE_S:.0f} s.", _HINT)


@contextlib.contextmanager
def _scratch(site: SetupSite) -> Iterator[tuple[Home, str]]:
    """Yield a data home of its own that shares runtime, models and code, and a project's folder."""
    folder = tempfile.mkdtemp(prefix="vector-memory-")
    home = Home(os.path.join(folder, "home"))
    project = os.path.join(folder, "ledger")
    try:
        os.makedirs(home.root, mode=0o700)
        for name in ("runtime", "models", "app"):
            os.symlink(os.path.realpath(site.home.path(name)), home.path(name))
        home.make()
        os.mkdir(project)
        yield home, project
    except SetupError:
        _keep_log(home, site.log)
        raise
    finally:
        with contextlib.suppress(VectorMemoryError, OSError):
            DaemonClient(home).stop()
        shutil.rmtree(folder, ignore_errors=True)


def _keep_log(home: Home, log: str) -> None:
    with contextlib.suppress(OSError), open(log, "a", encoding="utf-8") as file:
        for name in sorted(os.listdir(home.logs)):
            with open(os.path.join(home.logs, name), encoding="utf-8", errors="replace") as part:
                file.write(f"--- {name} of the proof\n{part.read()[-4000:]}\n")
