"""Mermaid and PlantUML: languages of lines, of which those are read that name parts and what leads where."""

from __future__ import annotations

import re
from itertools import chain, islice, pairwise, product

from vector_memory.index.diagrams.diagram import MOST_EDGES, Diagram, one_line_label
from vector_memory.text.words import names_in

_NAME = r"\w+(?:[-.:]\w+)*"
_ARROW = r"[<|*o}{x+^#/\\]{0,4}(?:-[^\s>]*?-|\.[^\s>]*?\.|={2,}|-|~{2,})[>|*o}{x+^#/\\)]{0,4}"
_END = rf'"[^"]+"|\[\*\]|\[[^\]]+\]|\([^)]+\)|:[^:]+:|{_NAME}'
_RELATION = re.compile(
    rf'^({_END})\s*(?:"[^"]*"\s*)?({_ARROW})\s*[+-]?\s*(?:"[^"]*"\s*)?({_END})\s*(?::\s*(.*))?$'
)
_DECLARED = re.compile(
    r"^(?:create\s+)?(?:abstract\s+)?(?:participant|actor|class|interface|enum|component|database|node|state|"
    r"entity|rectangle|package|usecase|boundary|control|queue|collections|artifact|cloud|folder|frame|storage|agent|"
    rf'card|hexagon|person|object|namespace)\s+("[^"]+"|\([^)]+\)|\[[^\]]+\]|{_NAME})(?:\s+as\s+("[^"]+"|.+?))?'
    r"\s*(?:<<.*?>>)?\s*(?:#\w+)?\s*(\{?)$"
)
_NODE = re.compile(
    rf"({_NAME})(?:@\{{[^}}]*\}})?([\[({{>/\\]+)\s*(.*?)\s*[\])}}/\\]+(?=\s*(?:$|[;&]|:::|[-=.<~]))"
)
_LINK = re.compile(
    r"\s*[<xo]?(?:--|==|-\.|~~)[-=.~]*(?:\s*([^-=.>|\s][^>|]*?)\s*(?:--+|==+|\.+-))?[->xo=]*"
    r"\s*(?:\|([^|]*)\|)?\s*"
)
_MERMAID_SORTS = frozenset((
    "flowchart", "graph", "sequenceDiagram", "classDiagram", "stateDiagram", "erDiagram", "gantt", "pie", "mindmap",
    "journey", "timeline", "gitGraph", "quadrantChart", "requirementDiagram", "architecture", "block", "packet", "kanban",
    "sankey", "xychart",
))  # fmt: skip
_STYLE_OR_NOTE = re.compile(
    r"(?:style|class\s+[\w,]+\s+\w+$|classDef|click|linkStyle|direction|end$|%%|accTitle|accDescr|autonumber|"
    r"activate|deactivate|skinparam|hide|show|!|scale|left to|top to|@start|@end|else\b|par\b|and\b|alt\b|opt\b|"
    r"loop\b|rect\b|[{}]$|'|section\b|dateFormat|axisFormat)"
    r"|(?:title|note\s+(?:left|right|over|top|bottom)[^:]*:|header|footer|caption)\s*(.*)$",
    re.IGNORECASE,
)
"""What is neither a part nor a relation: how it is drawn, which says nothing, and the words beside it."""
LONGEST_LINE = 2_000


def mermaid(text: str) -> Diagram:
    """Return what a Mermaid diagram shows.

    Raises:
        ValueError: it does not begin as one.
    """
    diagram = Diagram("mermaid")
    lines = [line.strip() for line in _without_front(text).splitlines()]
    content_lines = [line for line in lines if line and not line.startswith("%%")]
    diagram.sort = "".join(names_in(content_lines[0])[:1]) if content_lines else ""
    if diagram.sort not in _MERMAID_SORTS and not diagram.sort.startswith("C4"):
        raise ValueError("it does not begin with a Mermaid diagram's name, such as `flowchart`")
    is_flow = diagram.sort in ("flowchart", "graph")
    body = content_lines[1:]
    if is_flow:
        # The first statement may stand behind the direction: `graph LR; A-->B`.
        body = [
            statement.strip()
            for line in (content_lines[0].partition(";")[2], *body)
            for statement in line.split(";")
        ]
    _read_lines(diagram, body, is_flow, is_label_last=True)
    return diagram


def plantuml(text: str) -> Diagram:
    """Return what a PlantUML diagram shows.

    Raises:
        ValueError: it does not begin as one.
    """
    if not re.search(r"^[^\S\n]*@start\w+", text, re.M):
        raise ValueError("it has no line `@startuml`")
    diagram = Diagram("plantuml")
    _read_lines(diagram, [line.strip() for line in text.splitlines()], False, is_label_last=False)
    return diagram


def _without_front(text: str) -> str:
    return re.sub(r"\A\s*---\n.*?\n---\n", "", text, count=1, flags=re.S)


def _read_lines(diagram: Diagram, lines: list[str], is_flow: bool, is_label_last: bool) -> None:
    open_id = ""
    for line in (line[:LONGEST_LINE] for line in lines):
        if open_id:
            # What a class or an entity is made of.
            if line.startswith("}"):
                open_id = ""
            elif line:
                diagram.note(f"{diagram.nodes.get(open_id, open_id)}: {line}")
            continue
        if not line:
            continue
        if aside := _STYLE_OR_NOTE.match(line):
            diagram.note(aside[1] or "")
        elif is_flow:
            _read_flow_statement(diagram, line)
        elif declared := _DECLARED.match(line):
            id = _declare(diagram, declared[1], declared[2] or "", is_label_last)
            is_open = bool(declared[3]) and re.match(
                r"(abstract|class|interface|enum|entity|object)\b", line
            )
            open_id = id if is_open else ""
        elif relation := _RELATION.match(line.rstrip(";")):
            _relate(diagram, *relation.groups(default=""))
        elif opening := re.match(rf"^({_NAME})\s*\{{$", line):
            diagram.node(opening[1])
            open_id = opening[1]
        elif activity := re.match(r"^:(.+?)[;|<>/\]}]?$", line):
            diagram.node(one_line_label(activity[1]))
        else:
            diagram.note(line)


def _declare(diagram: Diagram, first: str, second: str, is_label_last: bool) -> str:
    """Add a declared part and return its id."""
    if not second:
        diagram.node(_clean_id(first), first.strip('"()[]'))
        return _clean_id(first)
    is_second_label = second.startswith('"') or (is_label_last and not first.startswith('"'))
    id, label = (first, second) if is_second_label else (second, first)
    diagram.node(_clean_id(id), label.strip('"()[]'))
    return _clean_id(id)


def _clean_id(word: str) -> str:
    return word if word == "[*]" else word.strip().strip('"()[]:').strip()


def _relate(diagram: Diagram, first: str, arrow: str, second: str, label: str) -> None:
    start, end = _clean_id(first), _clean_id(second)
    for id, word in ((start, first), (end, second)):
        diagram.node(id, "start or end" if word == "[*]" else "")
    is_backwards = arrow.startswith("<") and not arrow.endswith((">", ")"))
    diagram.edge(*((end, start) if is_backwards else (start, end)), label)


def _read_flow_statement(diagram: Diagram, line: str) -> None:
    """Read a statement of a flowchart: nodes, or chains of them with links between."""
    group = re.match(r"^subgraph\s+(.*)$", line)
    if group:
        diagram.note(f"group {_NODE.sub(lambda node_match: node_match[3], group[1])}")
        return

    def read_node(node_match: re.Match[str]) -> str:
        diagram.node(node_match[1], node_match[3])
        return node_match[1]

    bare = re.sub(r":::\w+", "", _NODE.sub(read_node, line))
    parts: list[list[str]] = []
    labels: list[str] = []
    place = 0
    for link in _LINK.finditer(bare):
        if not link[0].strip() or not bare[place : link.start()].strip():
            continue
        parts.append(_node_ids(bare[place : link.start()]))
        labels.append(link[1] or link[2] or "")
        place = link.end()
    parts.append(_node_ids(bare[place:]))
    for id in chain.from_iterable(parts):
        diagram.node(id)
    for label, ends in zip(labels, pairwise(parts), strict=True):
        for start, end in islice(product(*ends), MOST_EDGES):
            diagram.edge(start, end, label)


def _node_ids(words: str) -> list[str]:
    return [
        name for word in words.split("&") if (name := word.strip()) and re.fullmatch(_NAME, name)
    ]
