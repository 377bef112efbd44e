"""The house keeps its shape: no circles, no long functions, and public functions say what they give."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "house.py"


@pytest.fixture(scope="module")
def house() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def modules(house: ModuleType) -> Any:
    """The package's modules, read once."""
    return house.modules()


def test_no_modules_import_each_other(house: ModuleType, modules: Any) -> None:
    """Not lazily either."""
    assert house.circles(modules) == []


def test_functions_are_short(house: ModuleType, modules: Any) -> None:
    assert house.long_functions(modules) == []


def test_public_functions_say_what_they_give(house: ModuleType, modules: Any) -> None:
    assert house.silent_functions(modules) == []


def test_what_is_looked_for_is_found(house: ModuleType, tmp_path: Path) -> None:
    """In a package that has all three faults."""
    root = tmp_path / "vector_memory"
    (root / "store").mkdir(parents=True)
    (root / "a.py").write_text("def f():\n    from vector_memory import b\n")
    (root / "b.py").write_text("import vector_memory.a\n")
    long = "\n".join(["def g() -> int:", '    """Think."""', *["    x = 1"] * 70])
    (root / "store" / "c.py").write_text(long)
    house.ROOT = root
    try:
        found = house.modules()
        assert house.circles(found) == [["vector_memory.a", "vector_memory.b"]]
        assert house.long_functions(found) == ["vector_memory.store.c.g"]
        assert house.silent_functions(found) == ["vector_memory.store.c.g"]
    finally:
        house.ROOT = SCRIPT.parents[1] / "lib" / "vector_memory"


def test_tests_lie_as_the_package_does() -> None:
    """Whoever looks for the tests of a folder finds them in the folder of the same name."""
    root = SCRIPT.parents[1]
    package = root / "lib" / "vector_memory"
    strays = {
        str(test.parent.relative_to(root))
        for kind in ("unit", "integration")
        for test in (root / "tests" / kind).rglob("test_*.py")
        if not (package / test.parent.relative_to(root / "tests" / kind)).is_dir()
    }
    assert strays == set()
