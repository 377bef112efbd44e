"""Write the tables of `docs/mcp.md` from the server's own tools, resources and prompts, so that they cannot differ:
what a tool does is its docstring, which verbs of the daemon answer it is read off its code, and which tests call it
off theirs.

python scripts/make_mcp_docs.py            write them
python scripts/make_mcp_docs.py --check    exit 1 when they are out of date
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "mcp.md"
BEGIN = "<!-- made by scripts/make_mcp_docs.py -->"
END = "<!-- end -->"


def render(page: str) -> str:
    """Return the page with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """Return the tables of tools, resources and prompts."""
    from vector_memory.mcp import prompts, resources, server

    heads = ("tool", "what it is for", "arguments", "changes", "verb", "test")
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for one in server.TOOLS:
        if "unlisted" in one.marks:
            continue
        arguments = ", ".join(
            f"**{field.name}**" if field.required else field.name for field in one.fields
        )
        changes = {"reads": "nothing", "destroys": "deletes"}
        changed = next((told for mark, told in changes.items() if mark in one.marks), "stores")
        verbs = ", ".join(f"`{verb}`" for verb in ([one.verb] if one.verb else verbs_of(one.act)))
        cells = (f"`{one.name}`", one.doc, arguments, changed, verbs, ", ".join(tests_of(one.name)))
        lines.append(f"| {' | '.join(cells)} |")
    unlisted = [one for one in (*server.TOOLS, *server.ALIASES) if "unlisted" in one.marks]
    names = ", ".join(f"`{name}`" for name in sorted(one.name for one in unlisted))
    lines += ["", f"Other names that answer, and are not listed: {names}."]
    lines += ["", "| resource | what it is |", "| --- | --- |"]
    lines += [f"| `{one.name}` | {one.doc} |" for one in resources.PAGES.values()]
    lines.append(f"| `{resources.TEMPLATE}` | The same of any project, by its id or name. |")
    lines += ["", "| prompt | what it brings |", "| --- | --- |"]
    lines += [f"| `{one.name}` | {one.doc} |" for one in prompts.PROMPTS.values()]
    return "\n".join(lines) + "\n"


def verbs_of(act: Callable[..., Any]) -> list[str]:
    """Return the verbs of the daemon that a tool asks, as its code and that of what it calls in the same package
    names them."""
    found: dict[str, None] = {}
    seen: set[Callable[..., Any]] = set()
    todo = [act]
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        code = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
        named = {node.id for node in code if isinstance(node, ast.Name)}
        known = {name: one for name, one in function.__globals__.items() if name in named}
        # The arguments of a function that makes tools, such as the verb.
        known |= inspect.getclosurevars(function).nonlocals
        for node in code:
            if isinstance(node, ast.Call):
                found |= dict.fromkeys(_asked(node, known))
        mine = (one for one in known.values() if inspect.isfunction(one))
        todo += [one for one in mine if one.__module__.startswith("vector_memory.mcp.")]
    return sorted(found)


def _asked(call: ast.Call, known: dict[str, Any]) -> Iterator[str]:
    """Yield the verb of a call that asks the daemon: of `caller.ask("verb", …)` or `paged(caller, "verb", …)`."""
    is_paged = isinstance(call.func, ast.Name) and call.func.id == "paged"
    is_plain = isinstance(call.func, ast.Attribute) and call.func.attr == "ask"
    arguments = call.args[1:] if is_paged else call.args if is_plain else []
    verb = arguments[0] if arguments else None
    if isinstance(verb, ast.Constant) and isinstance(verb.value, str):
        yield verb.value
    elif isinstance(verb, ast.Name) and isinstance(known.get(verb.id), str):
        yield known[verb.id]


def tests_of(tool: str) -> list[str]:
    """Return the files of tests that call a tool through the SDK's client, without `test_mcp_` and `.py`."""
    called = re.compile(
        rf'(?:call|error)\(\s*"{tool}"|^ +"{tool}": \{{|\(\s*"{tool}", ', re.MULTILINE
    )
    files = sorted((ROOT / "tests" / "integration" / "mcp").glob("test_mcp_*.py"))
    return [
        file.stem.removeprefix("test_mcp_")
        for file in files
        if called.search(file.read_text(encoding="utf-8"))
    ]


def main() -> int:
    page = TARGET.read_text(encoding="utf-8")
    made = render(page)
    if "--check" in sys.argv[1:]:
        if made == page:
            return 0
        print(f"{TARGET} is out of date: run scripts/make_mcp_docs.py.", file=sys.stderr)
        return 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "lib"))
    sys.exit(main())
