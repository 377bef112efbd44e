"""Write `docs/cli.md` from the commands' own help, so that they cannot differ.

python scripts/make_cli_docs.py            write it
python scripts/make_cli_docs.py --check    exit 1 when it is out of date
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "cli.md"
HEAD = """# The command line

This page is made by `scripts/make_cli_docs.py` from the commands' own help.

Every command takes `--json`. Exit codes: 0 done (or you answered no), 1 an expected error (a
message and what to do about it on stderr; with `--json`, `{"error", "hint"}` on stdout), 2 wrong
usage, 3 a bug (with a log to report), 130 interrupted. A date is an ISO date or time (of this
machine's zone unless it names one), a day in words (`yesterday`, `next monday`, `3 May`, `last
week`, `in 3 days`), or an age such as `12h`, `3d`, `2w`.
"""


def render() -> str:
    """Return the page."""
    os.environ["COLUMNS"] = "96"
    from vector_memory.cli.main import command
    from vector_memory.cli.output import PROGRAM

    sections = [f"{HEAD}\n```\n{_help(command(), PROGRAM)}\n```\n"]
    for path, one in commands(command(), PROGRAM):
        sections.append(f"## {path}\n\n```\n{_help(one, path)}\n```\n")
    return "\n".join(sections)


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every command below a group, groups before their own, as (path, command)."""
    for name in group.list_commands(None):
        one = group.get_command(None, name)
        yield f"{path} {name}", one
        if hasattr(one, "list_commands"):
            yield from commands(one, f"{path} {name}")


def _help(command: Any, path: str) -> str:
    with command.make_context(path, [], resilient_parsing=True) as context:
        lines = command.get_help(context).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def main() -> int:
    is_check = "--check" in sys.argv[1:]
    text = render()
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    if is_check:
        print(f"{TARGET} is out of date: run scripts/make_cli_docs.py.", file=sys.stderr)
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "lib"))
    sys.exit(main())
