"""docs/tour.md and CONTRIBUTING.md name files and functions, other pages name files. A name that is not
there any more sends a reader nowhere, so each is looked up in the source, without importing it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lib" / "vector_memory"
PAGES = ("docs/tour.md", "CONTRIBUTING.md")
LEAST_NAMED = 80
"""Functions that the tour names at least: fewer, and this test does not read the page any more."""
SPAN = re.compile(r"`([^`\n]+)`")
PLACE = re.compile(r"([\w./-]+\.(?:py|json|md|sh|txt|toml))(?:: ([A-Za-z_]\w*(?:\.\w+)?))?")
FOLDER = re.compile(r"[a-z_]+/(?:[a-z_]+/)*")


def places(page: str) -> list[tuple[str, str]]:
    """Return what a page names between backticks, as (path, name in it); the name may be ""."""
    spans = SPAN.findall((ROOT / page).read_text(encoding="utf-8"))
    named = [(one[1], one[2] or "") for one in map(PLACE.fullmatch, spans) if one]
    return named + [(one, "") for one in spans if FOLDER.fullmatch(one)]


def located(path: str) -> Path | None:
    """Return where a named path is: below the package or below the repository's root."""
    return next((top / path for top in (PACKAGE, ROOT) if (top / path).exists()), None)


@lru_cache
def defined(path: Path) -> frozenset[str]:
    """Return what a module defines: functions, classes, `Class.method`, and its own variables."""
    return frozenset(_names(ast.parse(path.read_text(encoding="utf-8")).body))


def _names(body: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {node.name, *(f"{node.name}.{one}" for one in _names(node.body))}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {one.id for one in targets if isinstance(one, ast.Name)}
    return names


@pytest.mark.parametrize("page", PAGES)
def test_each_place_that_a_page_names_exists(page: str) -> None:
    missing = []
    for path, name in places(page):
        found = located(path)
        if found is None or (name and name not in defined(found)):
            missing.append(f"{path}: {name}" if name else path)
    assert not missing


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_each_module_that_a_page_names_with_its_folder_exists(page: str) -> None:
    modules = {path for path, _ in places(f"docs/{page}") if "/" in path and path.endswith(".py")}
    assert not [path for path in sorted(modules) if located(path) is None]


def test_the_tour_names_the_functions_that_it_passes() -> None:
    assert sum(bool(name) for _, name in places("docs/tour.md")) >= LEAST_NAMED


def test_a_method_is_found_and_one_that_is_gone_is_missed() -> None:
    context = PACKAGE / "service" / "base" / "context.py"
    assert "Context.place" in defined(context)
    assert "Context.gone" not in defined(context)


@pytest.mark.parametrize("folder", ["base", "memory", "think"])
def test_a_folder_of_many_modules_says_what_each_is_for(folder: str) -> None:
    room = PACKAGE / "service" / folder
    words = re.findall(
        r"\w+", ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
    )
    modules = {path.stem for path in room.glob("*.py")} - {"__init__"}
    assert modules <= set(words)
