"""A line without an end takes no memory, whichever way it comes, and what stands around it is read."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vector_memory.system import paths

MEGABYTES = 64
MOST_MB = 24
"""Less than half of the line. A whole gigabyte is in benchmarks/doors.py."""
CHILD = Path(__file__).resolve().parents[3] / "long_lines.py"
FOUND = {"transcript": 2, "import": [3, 1], "socket": [0, 0, 6]}


@pytest.mark.parametrize("door", sorted(FOUND))
def test_a_line_without_an_end_takes_no_memory(door: str, tmp_path: Path) -> None:
    """Through a transcript, an import and the socket."""
    done = subprocess.run(
        [sys.executable, str(CHILD), door, str(MEGABYTES), str(tmp_path)],
        stdout=subprocess.PIPE, timeout=300, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["found"] == FOUND[door]
    assert told["growth_mb"] < MOST_MB


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_hook_reads_its_input_up_to_a_size(tmp_path: Path) -> None:
    """More than that, and it says nothing and ends well, not much larger than it was."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\nimport posix\n"
        "from vector_memory.client import hook\nleave = posix._exit\n"
        "def told(code):\n"
        "    lines = [l for l in open('/proc/self/status') if l.startswith('VmHWM')]\n"
        "    open(sys.argv[3], 'w').write(lines[0].split()[1]); leave(code)\n"
        "posix._exit = told\nhook.DEADLINE_S = 60\n"
        "hook.main('UserPromptSubmit', sys.argv[2])\n"
    )
    size, lib = tmp_path / "size", os.path.dirname(paths.PACKAGE_ROOT)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", script, lib, str(tmp_path / "none"), str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as hook:  # fmt: skip
        assert hook.stdin is not None and hook.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            for _ in range(MEGABYTES):
                hook.stdin.write(b"x" * (1 << 20))
        with contextlib.suppress(BrokenPipeError):
            hook.stdin.close()
        assert hook.stdout.read() == b""
        assert hook.wait(60) == 0
    assert int(size.read_text()) / 1024 < 48
