"""Write the tables of `docs/mcp.md` from the server's own tools, resources and prompts, so that they cannot differ.

python scripts/make_mcp_docs.py            write them
python scripts/make_mcp_docs.py --check    exit 1 when they are out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

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

    lines = ["| tool | what it is for | arguments | changes |", "| --- | --- | --- | --- |"]
    for one in server.TOOLS:
        if not one.listed:
            continue
        arguments = ", ".join(
            f"**{field.name}**" if field.required else field.name for field in one.fields
        )
        changes = "nothing" if one.reads else "deletes" if one.destroys else "stores"
        lines.append(f"| `{one.name}` | {one.doc} | {arguments} | {changes} |")
    unlisted = [one for one in (*server.TOOLS, *server.ALIASES) if not one.listed]
    names = ", ".join(f"`{name}`" for name in sorted(one.name for one in unlisted))
    lines += ["", f"Other names that answer, and are not listed: {names}."]
    lines += ["", "| resource | what it is |", "| --- | --- |"]
    lines += [f"| `{one.uri}` | {one.doc} |" for one in resources.PAGES]
    lines.append(f"| `{resources.TEMPLATE}` | The same of any project, by its id or name. |")
    lines += ["", "| prompt | what it brings |", "| --- | --- |"]
    lines += [f"| `{one.name}` | {one.doc} |" for one in prompts.PROMPTS]
    return "\n".join(lines) + "\n"


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
