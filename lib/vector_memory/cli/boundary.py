"""The one place where errors become messages and exit codes.

0  done            1  expected error: message and hint
2  wrong usage     3  a bug: a log file that can be pasted into a report
130  interrupted
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer

from vector_memory.cli import output
from vector_memory.errors import StoreFullError, VectorMemoryError
from vector_memory.system import bytecode
from vector_memory.system.paths import PACKAGE_ROOT, Home, version
from vector_memory.system.private import make_folder

EXPECTED, BUG, INTERRUPTED = 1, 3, 130
_HARMLESS = (AttributeError, TypeError, ImportError, NameError, ZeroDivisionError)


def run(action: Callable[[], Any], words: Sequence[str]) -> int:
    """Run a command and return the exit code that belongs to what came of it.

    Args:
        action: the command; what it returns is its exit code (None is 0).
        words: the command line, to know whether JSON is wanted.
    """
    if not output.prepare():
        hint = "Let it lead to a file, or to /dev/null."
        return _report("Standard output is closed.", hint, False, EXPECTED)
    as_json = "--json" in words
    try:
        result = action()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except VectorMemoryError as error:
        return _report(error.message, error.hint, as_json, EXPECTED)
    except BrokenPipeError:
        output.abandon(sys.stdout)
        return EXPECTED
    except (KeyboardInterrupt, typer.Abort) as error:
        # typer makes an Abort of every EOFError.
        if cut := bytecode.cut_short(error):
            raise cut from None
        return _report("Interrupted.", "", False, INTERRUPTED)
    except typer.TyperException as error:
        # As typer's choices are checked, Python's name for it stands before what is wrong.
        usage = error.format_message().replace(": Value error, ", ": ", 1)
        return _report(usage, _help_hint(error), as_json, error.exit_code)
    except OSError as error:
        refused = StoreFullError.advice_for(error)
        if refused is None:
            return _bug(error, words, as_json)
        # Files say which they are.
        message = refused.message if error.filename else f"It cannot be written: {error.strerror}."
        return _report(message, refused.hint, as_json, EXPECTED)
    except Exception as error:
        return _bug(error, words, as_json)


def _report(message: str, hint: str, as_json: bool, code: int) -> int:
    if output.settle() and as_json:
        output.document({"error": message, "hint": hint})
        if output.settle():
            return code
    output.note("\n".join(line for line in (message, hint) if line))
    return code


def _help_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    # A text that looks like an option is the commonest reason for one that there is not.
    path, option = context.command_path, getattr(error, "option_name", "")
    text = f" If it is a text: `{path} -- {option}`." if option else ""
    return f"See `{path} --help`.{text}"


def _bug(error: Exception, words: Sequence[str], as_json: bool) -> int:
    message = f"Something went wrong that should not have: {type(error).__name__}."
    path = _write_log(error, words)
    hint = f"Please report it with {path}." if path else "Its log could not be written."
    return _report(message, hint, as_json, BUG)


def _write_log(error: Exception, words: Sequence[str]) -> str:
    from datetime import datetime, timezone

    moment = datetime.now(timezone.utc)
    folder = Home().logs
    path = os.path.join(folder, f"cli-{moment:%Y%m%dT%H%M%S}-{os.getpid()}.log")
    try:
        make_folder(folder)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(render(error, words, f"{moment:%Y-%m-%d %H:%M:%S} UTC"))
    except OSError:
        return ""
    return path


def render(error: BaseException, words: Sequence[str], moment: str) -> str:
    """Return a report of a bug: frames and types, but neither arguments nor stored text, since a
    secret may be in either."""
    import platform
    import traceback

    verb = next((word for word in words if not word.startswith("-")), "")
    options = sorted({word.split("=")[0] for word in words if word.startswith("--")})
    # Without a home, replace nothing.
    home = os.path.expanduser("~").rstrip("/") or "\0"
    lines = [
        f"vector-memory {version()}, Python {platform.python_version()}, {platform.platform()}",
        f"{moment}: {verb if verb.isidentifier() else '?'} {' '.join(options)}".rstrip(),
    ]
    for frame in traceback.extract_tb(error.__traceback__):
        where = frame.filename.replace(PACKAGE_ROOT, "vector_memory").replace(home, "~")
        lines.append(f"  {where}:{frame.lineno} in {frame.name}")
    return "\n".join([*lines, _describe(error)]) + "\n"


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, OSError):
        return f"{name}: {error.strerror}"
    return f"{name}: {error}" if isinstance(error, _HARMLESS) else name
