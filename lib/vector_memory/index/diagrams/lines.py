"""Mermaid and PlantUML: languages of lines, of which those are read that name parts and what leads where."""

from __future__ import annotations

import re
from itertools import chain, islice, pairwise, product

from vector_memory.index.diagrams.diagram import MOST_EDGES, Diagram, plain
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
_ASIDE = re.compile(
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
    made = Diagram("mermaid")
    lines = [line.strip() for line in _without_front(text).splitlines()]
    rest = [line for line in lines if line and not line.startswith("%%")]
    made.sort = "".join(names_in(rest[0])[:1]) if rest else ""
    if made.sort not in _MERMAID_SORTS and not made.sort.startswith("C4"):
        raise ValueError("it does not begin with a Mermaid diagram's name, such as `flowchart`")
    is_flow = made.sort in ("flowchart", "graph")
    body = rest[1:]
    if is_flow:
        # The first statement may stand behind the direction: `graph LR; A-->B`.
        body = [
            one.strip() for line in (rest[0].partition(";")[2], *body) for one in line.split(";")
        ]
    _read_lines(made, body, is_flow, is_label_last=True)
    return made


def plantuml(text: str) -> Diagram:
    """Return what a PlantUML diagram shows.

    Raises:
        ValueError: it does not begin as one.
    """
    if not re.search(r"^[^\S\n]*@start\w+", text, re.M):
        raise ValueError("it has no line `@startuml`")
    made = Diagram("plantuml")
    _read_lines(made, [line.strip() for line in text.splitlines()], False, is_label_last=False)
    return made


def _without_front(text: str) -> str:
    return re.sub(r"\A\s*---\n.*?\n---\n", "", text, count=1, flags=re.S)


def _read_lines(made: Diagram, lines: list[str], is_flow: bool, is_label_last: bool) -> None:
    inside = ""
    for line in (line[:LONGEST_LINE] for line in lines):
        if inside:
            # What a class or an entity is made of.
            if line.startswith("}"):
                inside = ""
            elif line:
                made.note(f"{made.nodes.get(inside, inside)}: {line}")
            continue
        if not line:
            continue
        if aside := _ASIDE.match(line):
            made.note(aside[1] or "")
        elif is_flow:
            _flow(made, line)
        elif declared := _DECLARED.match(line):
            id = _declare(made, declared[1], declared[2] or "", is_label_last)
            is_open = bool(declared[3]) and re.match(
                r"(abstract|class|interface|enum|entity|object)\b", line
            )
            inside = id if is_open else ""
        elif related := _RELATION.match(line.rstrip(";")):
            _relate(made, *related.groups(default=""))
        elif opened := re.match(rf"^({_NAME})\s*\{{$", line):
            made.node(opened[1])
            inside = opened[1]
        elif activity := re.match(r"^:(.+?)[;|<>/\]}]?$", line):
            made.node(plain(activity[1]))
        else:
            made.note(line)


def _declare(made: Diagram, first: str, second: str, is_label_last: bool) -> str:
    """Add a declared part and return its id."""
    if not second:
        made.node(_id(first), first.strip('"()[]'))
        return _id(first)
    is_second_label = second.startswith('"') or (is_label_last and not first.startswith('"'))
    id, label = (first, second) if is_second_label else (second, first)
    made.node(_id(id), label.strip('"()[]'))
    return _id(id)


def _id(word: str) -> str:
    return word if word == "[*]" else word.strip().strip('"()[]:').strip()


def _relate(made: Diagram, one: str, arrow: str, other: str, label: str) -> None:
    start, end = _id(one), _id(other)
    for id, word in ((start, one), (end, other)):
        made.node(id, "start or end" if word == "[*]" else "")
    is_backwards = arrow.startswith("<") and not arrow.endswith((">", ")"))
    made.edge(*((end, start) if is_backwards else (start, end)), label)


def _flow(made: Diagram, line: str) -> None:
    """Read a statement of a flowchart: nodes, or chains of them with links between."""
    group = re.match(r"^subgraph\s+(.*)$", line)
    if group:
        made.note(f"group {_NODE.sub(lambda one: one[3], group[1])}")
        return

    def named(found: re.Match[str]) -> str:
        made.node(found[1], found[3])
        return found[1]

    bare = re.sub(r":::\w+", "", _NODE.sub(named, line))
    parts: list[list[str]] = []
    labels: list[str] = []
    place = 0
    for link in _LINK.finditer(bare):
        if not link[0].strip() or not bare[place : link.start()].strip():
            continue
        parts.append(_ends(bare[place : link.start()]))
        labels.append(link[1] or link[2] or "")
        place = link.end()
    parts.append(_ends(bare[place:]))
    for id in chain.from_iterable(parts):
        made.node(id)
    for label, ends in zip(labels, pairwise(parts), strict=True):
        for start, end in islice(product(*ends), MOST_EDGES):
            made.edge(start, end, label)


def _ends(words: str) -> list[str]:
    return [one for word in words.split("&") if (one := word.strip()) and re.fullmatch(_NAME, one)]
