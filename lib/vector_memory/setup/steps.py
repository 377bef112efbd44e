"""The steps of a set-up: which it takes, in which order, and one line of progress for each."""

from __future__ import annotations

import os
import shutil
import textwrap
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO

from vector_memory.errors import DaemonUnavailableError, VectorMemoryError
from vector_memory.setup import app, model, proof, runtime, uv
from vector_memory.setup.commands import CommandError, file_tail
from vector_memory.setup.site import ALREADY, SetupSite


class SetupStep(NamedTuple):
    """One step: what it does, and the act, which returns what was done in few words."""

    title: str
    act: Callable[[], str]


def run(steps: Sequence[SetupStep], out: TextIO) -> list[str]:
    """Run the steps in order and return what each did.

    Prints `[3/7] Installing packages … Python 3.12.1, 6.1 s` for each. The first that fails ends
    it: its error goes on to the caller.
    """
    reports = []
    for number, step in enumerate(steps, 1):
        out.write(f"[{number}/{len(steps)}] {step.title} … ")
        out.flush()
        reports.append(_run_step(step, out))
    return reports


def _run_step(step: SetupStep, out: TextIO) -> str:
    started_at_s = time.monotonic()
    try:
        report = step.act()
    except BaseException:
        out.write(f"failed after {time.monotonic() - started_at_s:.1f} s\n")
        out.flush()
        raise
    # What a step says may take several lines; the time stands on the first.
    first_line, *more_lines = report.split("\n")
    out.write(f"{first_line}, {time.monotonic() - started_at_s:.1f} s\n")
    out.writelines(f"      {line}\n" for line in more_lines)
    return report


def report(error: VectorMemoryError, log: str, out: TextIO) -> None:
    """Say what failed, the end of what the program said, and what to do."""
    tail = error.tail if isinstance(error, CommandError) else ""
    if tail:
        out.write(textwrap.indent(tail, "    ") + "\n")
    out.write(f"{error.message}\n")
    if error.hint:
        out.write(f"What to do: {error.hint}\n")
    if os.path.exists(log):
        out.write(f"Log: {log}\n")


class SetupPlan:
    """The steps of one set-up and what they hand to each other."""

    def __init__(self, site: SetupSite, keep_cache: bool = False) -> None:
        self.site = site
        self.keep_cache = keep_cache
        self.changed = False
        self._uv: uv.Uv | None = None

    def steps(self, with_proof: bool = True) -> list[SetupStep]:
        """Return the whole set-up."""
        proof_steps = [SetupStep("Storing and recalling a memory", lambda: proof.run(self.site))]
        return [
            *self.base(),
            SetupStep("Installing the code", lambda: self._note_change(app.install(self.site))),
            SetupStep(
                "Linking the hooks' interpreter", lambda: runtime.link_hook_python(self.site)
            ),
            SetupStep("Starting the daemon", self._daemon),
            *(proof_steps if with_proof else []),
        ]

    def base(self) -> list[SetupStep]:
        """Return the steps that make `runtime/` and `models/`."""
        return [
            SetupStep("Finding uv", lambda: ".".join(map(str, uv.version(self.uv.program)))),
            SetupStep(
                "Installing packages",
                lambda: self._note_change(runtime.install(self.site, self.uv)),
            ),
            SetupStep("Installing the embedding model", self._model),
        ]

    @property
    def uv(self) -> uv.Uv:
        """uv, which the first step finds."""
        if self._uv is None:
            self._uv = uv.get(self.site, os.environ)
        return self._uv

    def _model(self) -> str:
        report = self._note_change(model.install(self.site, self.uv))
        if not self.keep_cache:
            shutil.rmtree(uv.cache(self.site), ignore_errors=True)
        return report

    def _daemon(self) -> str:
        from vector_memory.client.link import DaemonClient

        daemon = DaemonClient(self.site.home)
        try:
            if self.changed:
                # It runs the code and the packages that were there before.
                daemon.stop()
            return f"process {daemon.start()['pid']}"
        except DaemonUnavailableError as error:
            log = self.site.home.path("logs", "daemon.out")
            raise CommandError(error.message, error.hint, file_tail(log)) from error

    def _note_change(self, report: str) -> str:
        self.changed = self.changed or report != ALREADY
        return report
