"""The command behind `bootstrap.sh`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

from vector_memory.errors import SetupError, VectorMemoryError
from vector_memory.setup import locking, model, steps
from vector_memory.setup.site import SetupSite
from vector_memory.system import durable_files, paths, private
from vector_memory.system.files import delete_file

RETRY_S = 600.0
"""After a failure the background set-up is not tried again for this long."""
MAX_LOG_BYTES = 1_000_000
ROOT = os.path.dirname(os.path.dirname(paths.PACKAGE_ROOT))


def main(arguments: Sequence[str]) -> int:
    """Set up, or with `test` first install what tests need and run them; return the exit code."""
    os.umask(0o077)
    # A user's shell may be told to speak ASCII.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    if arguments[:1] == ["test"]:
        # What only a checkout needs lies beside the package.
        sys.path.insert(0, os.path.join(ROOT, "scripts"))
        import develop

        return develop.main(ROOT, arguments[1:])
    if arguments[:1] == ["--without-runtime"]:
        from vector_memory.setup import without_runtime

        return without_runtime.main(arguments[1:])
    options = _parse(arguments)
    try:
        site = SetupSite(ROOT, paths.Home(), options.model_source)
    except VectorMemoryError as error:
        sys.stderr.write(f"{error.message}\nWhat to do: {error.hint}\n")
        return 1
    return _in_background(site) if options.background else _in_foreground(site, options)


def set_up(site: SetupSite, *, wait: bool = True, with_proof: bool = True) -> None:
    """Run the whole set-up under its lock.

    Raises:
        SetupError: a step failed.
        BusyError: another set-up runs and `wait` is False.
    """
    _make_home(site)
    lock = site.home.setup_lock
    with locking.hold_lock(lock, "Another set-up is running; waiting for it …" if wait else ""):
        _begin_log(site)
        with _clear_errors():
            steps.run(steps.SetupPlan(site).steps(with_proof), sys.stdout)
            for folder in (site.home.runtime, site.home.models):
                private.close_below(folder)
        delete_file(site.failed)


def _in_foreground(site: SetupSite, options: argparse.Namespace) -> int:
    try:
        if site.model_source:
            model.check_source(site.model_source)
        set_up(site, with_proof=options.proof)
    except VectorMemoryError as error:
        steps.report(error, site.log, sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted. Run it again: what is there already is kept.\n")
        return 130
    if not options.brief:
        sys.stdout.write(closing_words(site))
    return 0


def _in_background(site: SetupSite) -> int:
    """Set up without anybody watching: in a session of its own, once at a time."""
    with contextlib.suppress(OSError):
        os.setsid()
    if _failed_recently(site):
        return 0
    try:
        set_up(site, wait=False)
    except locking.BusyError:
        return 0
    except Exception as error:
        _leave_report(site, error)
        if isinstance(error, VectorMemoryError):
            steps.report(error, site.log, sys.stderr)
            return 1
        raise
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./bootstrap.sh",
        description="Set Vector Memory up in its data home. It can be run again at any time.",
        epilog="./bootstrap.sh test [pytest arguments] installs what tests need and runs them.",
    )
    parser.add_argument(
        "--model-source",
        metavar="DIR",
        default=os.environ.get("VECTOR_MEMORY_MODEL_SOURCE", ""),
        help="take the embedding model from this folder",
    )
    parser.add_argument(
        "--no-proof",
        dest="proof",
        action="store_false",
        help="do not store and recall a memory at the end",
    )
    parser.add_argument("--brief", action="store_true", help="do not say what to do next")
    parser.add_argument("--background", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _make_home(site: SetupSite) -> None:
    try:
        site.home.make()
    except OSError as error:
        raise SetupError(
            f"The data home {site.home.root} cannot be made: {error.strerror}.",
            "Set VECTOR_MEMORY_HOME to a folder that you may write.",
        ) from error


@contextlib.contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn what the system refuses into an error that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free about 1 GB and run ./bootstrap.sh again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            hint = "Make the data home yours to write, or set VECTOR_MEMORY_HOME to another folder."
        else:
            raise
        raise SetupError(f"{error.filename}: {error.strerror}.", hint) from error


def _begin_log(site: SetupSite) -> None:
    with contextlib.suppress(OSError):
        if os.path.getsize(site.log) > MAX_LOG_BYTES:
            os.truncate(site.log, 0)
    with open(site.log, "a", encoding="utf-8") as file:
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        file.write(f"=== {at} Vector Memory {paths.version()}, Python {sys.version}\n")


def _failed_recently(site: SetupSite) -> bool:
    try:
        return time.time() - os.path.getmtime(site.failed) < RETRY_S
    except OSError:
        return False


def _leave_report(site: SetupSite, error: Exception) -> None:
    """Leave the line of hook output with which the next session's start says what went wrong."""
    is_expected = isinstance(error, VectorMemoryError)
    reason = str(error) if is_expected else f"It failed with {type(error).__name__}."
    message = f"Vector Memory could not be set up. {reason} (log: {site.log})"
    hook = {"hookEventName": "SessionStart", "additionalContext": message}
    line = json.dumps({"systemMessage": message, "hookSpecificOutput": hook})
    durable_files.write_durably(site.failed, (line + "\n").encode())


def closing_words(site: SetupSite) -> str:
    """Return what the user can do next."""
    root = shlex.quote(site.root)
    program = shlex.quote(os.path.join(site.root, "bin", "vector-memory"))
    return f"""
Vector Memory {paths.version()} is set up in {site.home.root} ({size_mb(site):.0f} MB).

Switch it on in Claude Code, for good:
  claude plugin marketplace add {root}
  claude plugin install vector-memory@vector-memory
or for one session:
  claude --plugin-dir {root}
or by hand: copy the hooks of {site.home.snippet} into your settings.

The command line: {program} --help
"""


def size_mb(site: SetupSite) -> float:
    """Return the disk that runtime and models take, each file counted once, in MB."""
    sizes: dict[tuple[int, int], int] = {}
    for top in (site.home.runtime, site.home.models):
        for folder, _, names in os.walk(os.path.realpath(top)):
            for name in names:
                status = os.lstat(os.path.join(folder, name))
                sizes[(status.st_dev, status.st_ino)] = status.st_blocks * 512
    return sum(sizes.values()) / 1e6
