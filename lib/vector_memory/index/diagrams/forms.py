"""The forms that diagrams are written in, and what reads each."""

from __future__ import annotations

import re
from collections.abc import Callable

from vector_memory.index.diagrams import dot, lines, xml_forms
from vector_memory.index.diagrams.diagram import Diagram

_FENCED = re.compile(
    r"^(`{3,}|~{3,})[ \t]*(mermaid|dot|graphviz|plantuml|puml)\b[^\n]*\n(.*?)^\1", re.M | re.S
)
Reader = Callable[[str], Diagram]


def readers() -> dict[str, Reader]:
    """Return what reads a diagram, by its form."""
    return {
        "mermaid": lines.mermaid,
        "plantuml": lines.plantuml,
        "dot": dot.read,
        "svg": xml_forms.svg,
        "drawio": xml_forms.drawio,
    }


ENDINGS = {
    ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".puml": "plantuml",
    ".plantuml": "plantuml", ".pu": "plantuml", ".iuml": "plantuml", ".wsd": "plantuml", ".svg": "svg",
    ".drawio": "drawio", ".dio": "drawio", ".md": "markdown", ".markdown": "markdown",
}  # fmt: skip
"""The forms of diagrams by the endings of files; those in Markdown stand in fenced blocks."""


def read(text: str, form: str) -> list[Diagram]:
    """Return the diagrams in a text of a form, one of the values of `ENDINGS`.

    Raises:
        ValueError: it is none of this form; the message says why.
    """
    known = readers()
    names = {"graphviz": "dot", "puml": "plantuml"}
    try:
        if form != "markdown":
            return [known[form](text)]
        return [known[names.get(one[2], one[2])](one[3]) for one in _FENCED.finditer(text)]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
