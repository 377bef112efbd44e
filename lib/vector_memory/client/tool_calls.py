"""Which tool calls the daemon is told of, and which it is asked about: a look at the bytes.

Every call of every tool starts a hook, and next to none of them concerns a memory. What the daemon
wants to know stands in a small file that it keeps, so that the others cost nothing but their interpreter.
"""

import posix

from vector_memory.client import exchange

WISHES = "/run/tools"
"""Words in a line: `search` (be asked about searches), `watch` (be told of all calls), `warn` (be asked about
all calls), `when` (be asked about calls that run or touch something), `errors` (be asked about results that may
hide one)."""
WISHES_BYTES = 256
TELL_S = 0.05
MOST_TOLD = 1_000_000
"""Bytes of a call that is told of; of a larger one, its content is what is large."""

_SEARCH_TOOLS = (b'"Grep"', b'"Glob"')
_SHELLS = (b'"Bash"', b'"PowerShell"')
_FILE_TOOLS = (b'"Edit"', b'"Write"', b'"MultiEdit"', b'"NotebookEdit"', b'"Read"')
_PROGRAMS = (
    b"grep", b"egrep", b"fgrep", b"zgrep", b"rg", b"ag", b"ack", b"find", b"fd", b"fdfind", b"ls", b"ls-files",
)  # fmt: skip
_JOINTS = (b"|", b";")
_ERRORS = (
    b"rror", b"ERR", b"FAIL", b"ailed", b"fatal", b"panic", b"xception", b"ot found", b"o such", b"enied",
)  # fmt: skip
_NO_START = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_END = frozenset(b" \\")


def answer(call: "exchange.HookEvent") -> bytes:
    """Return what the hook prints, b"" for nothing."""
    wishes = _read_wishes(call.home)
    if call.event == "PostToolUse":
        is_asked = b"errors" in wishes and may_hide_error(call.stdin)
        return (exchange.ask(call, call.patience_s) or b"") if is_asked else b""
    is_asked = b"search" in wishes and may_search(call.stdin)
    is_asked = is_asked or (b"when" in wishes and _is_action(call.stdin))
    if is_asked or b"warn" in wishes:
        return exchange.ask(call, call.patience_s) or b""
    if b"watch" in wishes and len(call.stdin) <= MOST_TOLD:
        exchange.tell(call, TELL_S)
    return b""


def _read_wishes(home: str) -> "list[bytes]":
    try:
        fd = posix.open(home + WISHES, posix.O_RDONLY)
    except OSError:
        return []
    try:
        return posix.read(fd, WISHES_BYTES).split()
    finally:
        posix.close(fd)


def may_search(stdin: bytes) -> bool:
    """Whether a tool call may be a search: it is one of the tools for that, or a shell whose command has
    the name of a program for it. It is parsed by who is asked; here nothing may be missed."""
    tool = _tool_start(stdin)
    return tool.startswith(_SEARCH_TOOLS) or (
        tool.startswith(_SHELLS) and any(_names_program(stdin, program) for program in _PROGRAMS)
    )


def may_hide_error(stdin: bytes) -> bool:
    """Whether the result of a tool call may be that of a failure which a shell's line hides, as
    `pytest | tail` does: whoever is asked parses it; here nothing may be missed."""
    return (
        _tool_start(stdin).startswith(_SHELLS)
        and _has_any(stdin, _JOINTS)
        and _has_any(stdin, _ERRORS)
    )


def _has_any(stdin: bytes, signs: "tuple[bytes, ...]") -> bool:
    return any(sign in stdin for sign in signs)


def _is_action(stdin: bytes) -> bool:
    """Whether a tool call runs a command, or reads or writes a file."""
    return _tool_start(stdin).startswith((*_SHELLS, *_FILE_TOOLS))


def _tool_start(stdin: bytes) -> bytes:
    """Return how the name of the tool begins, with the quote before it; b"" where none is named."""
    start = stdin.find(b'"tool_name"')
    return stdin[start + 11 : start + 40].lstrip(b" :") if start >= 0 else b""


def _names_program(stdin: bytes, program: bytes) -> bool:
    """Whether a program's name stands where a shell may read it as a word of its own."""
    start = stdin.find(program)
    while start >= 0:
        end = start + len(program)
        following = stdin[end : end + 1]
        if (not following or following[0] in _END) and not (
            start
            and stdin[start - 1] in _NO_START
            and stdin[start - 2 : start] not in (b"\\n", b"\\t")
        ):
            return True
        start = stdin.find(program, end)
    return False
