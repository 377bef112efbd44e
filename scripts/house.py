"""Counts the house: lines, modules, long functions, circles, arrows, untyped answers, expressions,
and public functions that do not say what they give back.

    python scripts/house.py             the table
    python scripts/house.py --missing   the public functions that do not say what they give back
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = "vector_memory"
ROOT = Path(__file__).resolve().parents[1] / "lib" / PACKAGE
LONG = 60
"""A function of more lines than this is long."""

SAYING = ("service", "store", "retrieve", "embed", "journal")
"""Folders whose public functions say what they give back."""

GIVING = ("return", "yield", "whether ", "how many", "how much", "make ", "build ", "give ")
"""A docstring says what comes back if it has one of these."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One source file, parsed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parts = path.relative_to(ROOT).with_suffix("").parts
        self.parts = parts[:-1] if parts[-1] == "__init__" else parts
        self.name = ".".join((PACKAGE, *self.parts))
        self.source = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.source)

    @property
    def room(self) -> str:
        """Its folder: the first level of the package, two levels below service, index, observe."""
        depth = 2 if self.parts[:1] in (("service",), ("index",), ("observe",)) else 1
        return "/".join(self.parts[:depth] if len(self.parts) > depth else self.parts[: depth - 1])

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Yield every function and method with its dotted name."""
        yield from _functions(self.tree, self.name)

    def code_lines(self) -> int:
        """Return the number of lines that are neither blank, comment nor docstring."""
        said = {
            number
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        return sum(
            1
            for number, line in enumerate(self.source.splitlines(), 1)
            if line.strip() and not line.strip().startswith("#") and number not in said
        )

    def imports(self, names: set[str]) -> set[str]:
        """Return the modules of the package that it imports, lazily or not."""
        found: set[str] = set()
        for node in _running(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & names
                found.update(inner if len(inner) == len(node.names) else inner | {node.module})
        return {name for name in found & names if name != self.name}


def modules() -> list[Module]:
    """Return every module of the package, by path."""
    return [Module(path) for path in sorted(ROOT.rglob("*.py"))]


def long_functions(house: Sequence[Module]) -> list[str]:
    """Return the dotted names of functions of more than `LONG` lines."""
    return [
        name
        for module in house
        for name, node in module.functions()
        if (node.end_lineno or node.lineno) - node.lineno + 1 > LONG
    ]


def circles(house: Sequence[Module]) -> list[list[str]]:
    """Return the groups of modules that import each other, lazy imports counted."""
    names = {module.name for module in house}
    # A folder's own page stands above what it holds, and is reached by importing that.
    graph = {module.name: module.imports(names) for module in house if module.parts}
    return [sorted(group) for group in _strong(graph) if len(group) > 1]


def silent_functions(house: Sequence[Module]) -> list[str]:
    """Return the public functions of `SAYING` that give something back and do not say what."""
    return [
        name
        for module in house
        if module.parts[:1] and module.parts[0] in SAYING
        for name, node in module.functions()
        if _is_public(name) and _gives(node) and not _says(node)
    ]


def main() -> int:
    """Print the table, or the functions that miss a word. Returns 0."""
    parser = argparse.ArgumentParser(description="Count the house.")
    parser.add_argument("--missing", action="store_true", help="name the silent functions")
    house = modules()
    if parser.parse_args().missing:
        print(*silent_functions(house), sep="\n")
        return 0
    for what, count in _counts(house):
        print(f"{count:>8,}  {what}")
    lines: Counter[str] = Counter()
    for module in house:
        lines[module.room or "."] += module.code_lines()
    print(*(f"{count:>8,}  {room}" for room, count in sorted(lines.items())), sep="\n")
    return 0


def _expressions_in_tables(house: Sequence[Module]) -> int:
    """Return how many expressions are made of tables beside the code: one of each part."""
    return sum(
        table.read_text(encoding="utf-8").count("\n[")
        for module in house
        for name in re.findall(r'tables\.patterns\("(\w+)"', module.source)
        if (table := module.path.with_name(f"{name}.txt")).is_file()
    )


def _counts(house: Sequence[Module]) -> Iterator[tuple[str, int]]:
    names = {module.name: module.room for module in house}
    arrows = {
        (module.room, names[other])
        for module in house
        for other in module.imports(set(names))
        if names[other] != module.room
    }
    source = "\n".join(module.source for module in house)
    yield "lines of code", sum(module.code_lines() for module in house)
    yield "modules", len(house)
    yield "rooms", len(set(names.values()))
    yield "arrows between rooms", len(arrows)
    yield "circles of modules", len(circles(house))
    yield f"functions over {LONG} lines", len(long_functions(house))
    yield "dict[str, Any]", source.count("dict[str, Any]")
    # What looks for all parts of a table in one pass is one expression.
    made = source.count("re.compile(") + source.count("= PatternTable(")
    yield "compiled expressions", made + _expressions_in_tables(house)
    yield "public functions that do not say what they give", len(silent_functions(house))


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of what runs: what stands below TYPE_CHECKING is for the type checker alone."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _running(child)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield f"{prefix}.{child.name}", child
        if isinstance(child, (ast.ClassDef, ast.If, ast.Try)):
            inner = f"{prefix}.{child.name}" if isinstance(child, ast.ClassDef) else prefix
            yield from _functions(child, inner)


def _is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def _gives(node: Function) -> bool:
    if any(
        getattr(mark, "id", getattr(mark, "attr", ""))
        in ("property", "cached_property", "setter", "overload")
        for mark in node.decorator_list
    ):
        return False
    given = ast.unparse(node.returns) if node.returns else "None"
    return given not in ("None", "Iterator[None]", "NoReturn", "Never", "Self")


def _says(node: Function) -> bool:
    text = (ast.get_docstring(node) or "").lower()
    return any(word in text for word in GIVING)


def _strong(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected groups of a graph.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = defaultdict(int)
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(graph[name] & graph.keys()):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            at = stack.index(name)
            groups.append(stack[at:])
            del stack[at:]

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return groups


if __name__ == "__main__":
    raise SystemExit(main())
