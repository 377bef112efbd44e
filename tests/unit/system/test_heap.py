"""Memory that is not needed goes back, and nothing is lost by it."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vector_memory.system import heap

LIB = Path(__file__).parents[3] / "lib"
SIZE = 8 << 20
on_linux = pytest.mark.skipif(not os.path.exists(heap.SMAPS), reason="the system does not tell")


def resident(path: Path) -> int:
    """Return how many bytes of a mapped file are in this process's memory."""
    with open(heap.SMAPS, encoding="utf-8") as file:
        told = file.read().partition(f"{path}\n")[2]
    return int(told.partition("\nRss:")[2].split()[0]) << 10


@on_linux
@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY], ids=["read", "copied"])
def test_a_file_that_is_read_goes_and_comes_back_and_what_was_changed_stays(
    tmp_path: Path, access: int
) -> None:
    """Its pages are let go, but where one was changed here, and nowhere else."""
    path = tmp_path / "mapped"
    content = os.urandom(1 << 10) * (SIZE >> 10)
    path.write_bytes(content)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=access) as mapped:
        assert mapped[:] == content
        if access == mmap.ACCESS_COPY:
            mapped[:4] = b"mine"
        before = resident(path)
        assert heap.let_go() > 0
        assert resident(path) == (before if access == mmap.ACCESS_COPY else 0)
        assert mapped[:4] == (b"mine" if access == mmap.ACCESS_COPY else content[:4])
        assert mapped[4:] == content[4:]


@on_linux
def test_what_is_loaded_goes_on_working() -> None:
    """Libraries that many others point into: what was let go of is there when it is needed."""
    code = f"""import sys
sys.path.insert(0, {str(LIB)!r})
import pyarrow as pa, numpy as np, sqlite3, json
from vector_memory.system import heap
def work():
    column = pa.array(np.arange(10_000)).dictionary_encode().to_pylist()
    return sum(column), sqlite3.connect(":memory:").execute("SELECT abs(-2.5)").fetchone(), float(np.linalg.norm(np.eye(99)))
before = work()
released = [heap.let_go() for _ in range(3)]
print(released[0] > 10_000_000, work() == before)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "True"], done.stderr
