"""What a diagram shows, and which reader knows its form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_NODES, MOST_EDGES, MOST_NOTES = 500, 1_000, 200
LONGEST_LABEL = 200
TAGS = re.compile(r"<[^<>]*>")
_BREAK = re.compile(r"<br\s*/?>|\\[nlr]", re.IGNORECASE)


class Edge(NamedTuple):
    """From one node to another, by their ids, with what is written at it."""

    start: str
    end: str
    label: str = ""


@dataclass
class Diagram:
    """What a diagram shows.

    Attributes:
        form: `mermaid`, `dot`, `plantuml`, `svg` or `drawio`.
        sort: what it is a diagram of, as it says itself: `flowchart`, `sequenceDiagram`, `digraph` …; "" where it
            does not.
        nodes: labels by ids, in order.
        notes: other words in it.
    """

    form: str
    sort: str = ""
    nodes: dict[str, str] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def node(self, id: str, label: str = "") -> None:
        """Add a node, or its label where it had none."""
        words = one_line_label(label)
        if id in self.nodes or len(self.nodes) < MOST_NODES:
            label_before = self.nodes.get(id, id)
            self.nodes[id] = words or label_before

    def edge(self, start: str, end: str, label: str = "") -> None:
        """Add an edge, and nodes for its ends."""
        self.node(start)
        self.node(end)
        if len(self.edges) < MOST_EDGES:
            self.edges.append(Edge(start, end, one_line_label(label)))

    def note(self, text: str) -> None:
        """Add words that are neither a node nor an edge."""
        words = one_line_label(text)
        if words and words not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(words)

    @property
    def text(self) -> str:
        """All that it shows, in lines that a reader understands."""
        lines = [f"Diagram ({' '.join(filter(None, (self.form, self.sort)))})"]
        if self.nodes:
            lines.append("Parts: " + "; ".join(dict.fromkeys(self.nodes.values())))
        for edge in self.edges:
            ends = (
                f"{self.nodes.get(edge.start, edge.start)} → {self.nodes.get(edge.end, edge.end)}"
            )
            lines.append(f"- {ends}: {edge.label}" if edge.label else f"- {ends}")
        if self.notes:
            lines.append("Words: " + "; ".join(self.notes))
        return "\n".join(lines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found in it."""
        return not (self.nodes or self.notes)


def one_line_label(label: str) -> str:
    """Return a label as words on one line, without quotes and markup."""
    words = " ".join(_BREAK.sub(" ", label).split()).strip('"').strip()
    return words[:LONGEST_LABEL]
