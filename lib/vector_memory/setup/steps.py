"""The steps of a set-up, one line of progress each."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO

from vector_memory.errors import VectorMemoryError
from vector_memory.setup.commands import CommandError


class SetupStep(NamedTuple):
    """One step: what it does, and the act, which returns what was done in few words."""

    title: str
    act: Callable[[], str]


def run(steps: Sequence[SetupStep], out: TextIO) -> list[str]:
    """Run the steps in order and return what each did.

    Prints `[3/7] Installing packages … Python 3.12.1, 6.1 s` for each. The first that fails ends
    it: its error goes on to the caller.
    """
    done = []
    for number, step in enumerate(steps, 1):
        out.write(f"[{number}/{len(steps)}] {step.title} … ")
        out.flush()
        done.append(_run_one(step, out))
    return done


def _run_one(step: SetupStep, out: TextIO) -> str:
    started_at_s = time.monotonic()
    try:
        report = step.act()
    except BaseException:
        out.write(f"failed after {time.monotonic() - started_at_s:.1f} s\n")
        out.flush()
        raise
    # What a step says may take several lines; the time stands on the first.
    first, *more = report.split("\n")
    out.write(f"{first}, {time.monotonic() - started_at_s:.1f} s\n")
    out.writelines(f"      {line}\n" for line in more)
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
