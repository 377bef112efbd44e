"""The disk: space, and that nobody else can read the data home."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.client.link import is_locked
from vector_memory.system import private

LOW_BYTES, TOO_LOW_BYTES = 1_000_000_000, 100_000_000


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what is found of space and permissions."""
    root = case.home.root
    if not os.path.isdir(root):
        yield warn(f"There is no data home {root} yet.", "Run ./bootstrap.sh.")
        return
    yield _space(shutil.disk_usage(root).free)
    if is_locked(case.home.setup_lock):
        yield warn("A set-up is running: its files are looked at when it has ended.", "")
        return
    yield _permissions(case)
    yield from _folders_above(root)
    if case.status is not None and not os.path.exists(case.home.reserve):
        yield warn("The reserve for a full disk is given up.", "Make room.")


def _space(free: int) -> CheckResult:
    message = f"{free / 1e9:.1f} GB are free"
    if free < TOO_LOW_BYTES:
        return fail(f"{message}: too little.", "Make room.")
    return warn(message, "") if free < LOW_BYTES else ok(message)


def _folders_above(root: str) -> Iterator[CheckResult]:
    """Yield what others could do to the folders above."""
    loose, lent = private.world_writable_above(root), private.group_writable_above(root)
    if loose:
        fix = f"chmod +t {loose}, or choose another data home; no daemon starts until then."
        yield fail(f"Anybody can replace what lies in {loose}.", fix)
    elif lent:
        fix = "Fine if that is meant: what they put there in its place is refused."
        yield warn(f"A group or another user can replace what lies in {lent}.", fix)


def _permissions(case: Case) -> CheckResult:
    home, root = case.home, case.home.root
    tops = [home.path(name) for name in home.FOLDERS] if home.is_shared_place() else [root]
    open_ones = [path for top in tops for path in private.open_below(top)]
    if open_ones:
        fix = f"chmod -R go-rwx {shlex.join(tops)}"
        others_note = f" and {len(open_ones) - 1:,} more" if len(open_ones) > 1 else ""
        return fail(f"Others can reach {open_ones[0]}{others_note}.", fix)
    if not os.access(root, os.W_OK):
        return fail(f"{root} cannot be written.", "Mend its permissions.")
    return ok("Only you can read the data home")
