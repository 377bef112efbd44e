"""Importing LanceDB without what a local database never uses, and importing nothing too early."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

LIB = Path(__file__).parents[3] / "lib"


def python(script: str) -> str:
    """Run a script in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(LIB)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_catalogue_and_datasets_are_left_out() -> None:
    """LanceDB works without it; naming one of its classes is possible, using one is an error that
    says why."""
    assert python("""
        import sys
        from vector_memory.store.lightimport import load_lancedb
        finders = len(sys.meta_path)
        lancedb = load_lancedb()
        assert load_lancedb() is lancedb
        assert len(sys.meta_path) == finders
        from lance_namespace_urllib3_client.models import ListTablesRequest
        left_out = ("lance_namespace_urllib3_client.api", "pyarrow._dataset", "pyarrow._s3fs", "overrides")
        assert not [name for name in sys.modules if name.startswith(left_out)]
        try:
            ListTablesRequest()
        except RuntimeError as error:
            print(error)
    """).startswith("ListTablesRequest belongs to LanceDB's remote catalogue")


@pytest.mark.parametrize("light", [True, False])
def test_the_whole_import_remains_possible(light: bool) -> None:
    """Whoever asks for the whole gets it, and so does who asks for less where that fails."""
    assert (
        python(f"""
        from vector_memory.store import lightimport
        def failing(*what, **how):
            import lance_namespace
            raise ImportError("another version")
        if {light}:
            lightimport.standing_in = failing
        lancedb = lightimport.load_lancedb(light={light})
        from lance_namespace_urllib3_client.models import ListTablesRequest
        import pyarrow.dataset
        dataset = pyarrow.dataset.dataset(pyarrow.table({{"a": [1]}}))
        print(ListTablesRequest(id=["a"]).id, lancedb.connect("memory://") is not None, dataset.count_rows())
    """)
        == "['a'] True 1"
    )


def test_nothing_heavy_is_imported_early() -> None:
    """Importing what a daemon begins with brings neither numpy nor LanceDB; opening a store brings no LanceDB."""
    assert python("""
        import sys, tempfile
        import vector_memory.daemon.main, vector_memory.daemon.app, vector_memory.daemon.keeper
        import vector_memory.daemon.events, vector_memory.daemon.verbs
        heavy = {"numpy", "pyarrow", "lancedb", "pydantic"}
        print(sorted(heavy & set(sys.modules)))
        from vector_memory.store.index import Index
        with tempfile.TemporaryDirectory() as folder:
            Index.open(folder, "m", 4)
        print(sorted(heavy & set(sys.modules)))
    """).splitlines() == ["[]", "['numpy']"]
