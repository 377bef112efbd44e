"""The forms that diagrams are written in, and what reads each."""

from __future__ import annotations

from collections.abc import Callable

from vector_memory.index.diagrams import dot, lines, xml_forms
from vector_memory.index.diagrams.diagram import Diagram
from vector_memory.index.notes.markdown import fences

_IN_FENCES = {
    "mermaid": "mermaid", "dot": "dot", "graphviz": "dot", "plantuml": "plantuml", "puml": "plantuml",
}  # fmt: skip
"""What a fence calls the forms that stand in one."""
_READERS: dict[str, Callable[[str], Diagram]] = {
    "mermaid": lines.mermaid, "plantuml": lines.plantuml, "dot": dot.read, "svg": xml_forms.svg,
    "drawio": xml_forms.drawio,
}  # fmt: skip
"""What reads a diagram, by its form."""
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
    try:
        if form != "markdown":
            return [_READERS[form](text)]
        codes = [(_IN_FENCES.get(language), code) for language, code in fences(text)]
        return [_READERS[inner](code) for inner, code in codes if inner]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
