"""Bytecode that a full disk cut short. CPython before 3.12.8 and 3.13.1 takes what it could write of such a file
for all of it, and from then on every import of that module fails, also when there is space again.
Standard library only, Python 3.9.
"""

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_FREE_BYTES = 16 << 20
_IMPORTER = "<frozen importlib."


def write_with_space_only() -> None:
    """Let this process write no more bytecode where its disk is nearly full."""
    home = os.path.dirname(os.path.dirname(sys.pycache_prefix or ""))
    try:
        disk = os.statvfs(home)
    except OSError:
        return
    if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES:
        sys.dont_write_bytecode = True


def cut_short(error: "BaseException | None") -> "EOFError | None":
    """Return the error of an import that found bytecode cut short: the one given, or what it came of; None where it
    is another one."""
    error_ids: set[int] = set()
    # An error that was kept and is raised again may have come of itself.
    while error is not None and id(error) not in error_ids:
        error_ids.add(id(error))
        if isinstance(error, EOFError) and _is_of_import(error):
            return error
        error = error.__cause__ or error.__context__
    return None


def _is_of_import(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_IMPORTER)


def mend(error: "BaseException | None") -> bool:
    """Remove all bytecode of this data home if an error came of one that is cut short: it is made again. Whether
    it was so."""
    if not sys.pycache_prefix or cut_short(error) is None:
        return False
    for folder, _, names in os.walk(sys.pycache_prefix):
        for name in names:
            if name.endswith(".pyc"):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))
    return True


def guarded(main: "Callable[[], int]") -> int:
    """Run a program and return its exit code. If it cannot be imported for bytecode that is cut short, that is
    removed, and the program takes its own place, once, and writes none."""
    write_with_space_only()
    try:
        return main()
    except EOFError as error:
        has_restarted = "-B" in sys.orig_argv[:2]
        if mend(error) and not has_restarted:
            os.execv(sys.executable, [sys.orig_argv[0], "-B", *sys.orig_argv[1:]])
        raise
