"""Graphviz's DOT: a small grammar of nodes, edges, attributes and groups."""

from __future__ import annotations

import re
from itertools import islice, pairwise, product

from vector_memory.index.diagrams.diagram import MOST_EDGES, TAGS, Diagram

_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|^#[^\n]*"
    r'|("(?:\\.|[^"\\])*"|<(?:[^<>]|<[^<>]*>)*>|->|--|[{}\[\];=,:+]|-?[\w.\u0080-\uffff]+)'
    # What has no end goes to that of the text: else each of many such would be looked for to there.
    r'|(?:/\*|").*',
    re.DOTALL | re.MULTILINE,
)
"""A token, or a comment, which is none."""
_CONTROLS = frozenset("}[];=,:")
DEEPEST = 50


def read(text: str) -> Diagram:
    """Return what a DOT graph shows.

    Raises:
        ValueError: it does not begin as one, or is nested too deeply.
    """
    tokens = list(filter(None, _TOKEN.findall(text)))
    head = [token.lower() for token in tokens[:2]]
    sort = next((word for word in head if word in ("graph", "digraph")), "")
    if not sort or "{" not in tokens[:4]:
        raise ValueError("it does not begin with `graph` or `digraph`")
    diagram = Diagram("dot", sort)
    _Parser(diagram, tokens[tokens.index("{") + 1 :]).statements(0)
    return diagram


class _Parser:
    def __init__(self, diagram: Diagram, tokens: list[str]) -> None:
        self._diagram, self._remaining_tokens = diagram, tokens[::-1]

    def _peek(self, ahead: int = 1) -> str:
        return self._remaining_tokens[-ahead] if len(self._remaining_tokens) >= ahead else ""

    def _take(self, count: int = 1) -> str:
        """Return the last of the next tokens, "" behind the end."""
        taken = [
            self._remaining_tokens.pop() if self._remaining_tokens else "" for _ in range(count)
        ]
        return taken[-1]

    def statements(self, depth: int) -> list[str]:
        """Read up to the end of a group; return the nodes in it."""
        if depth > DEEPEST:
            raise ValueError("its groups are nested too deeply")
        nodes: list[str] = []
        while (first := self._peek().lower()) and first != "}":
            if first in ("graph", "node", "edge"):
                self._take()
                label = self._read_attributes().get("label", "")
                self._diagram.note(label if first == "graph" else "")
            elif self._peek(2) == "=":
                value = self._take(3)
                self._diagram.note(_plain_token(value) if first == "label" else "")
            elif first in _CONTROLS:
                self._take()
            else:
                nodes += self._read_chain(depth)
        self._take()
        return nodes

    def _read_chain(self, depth: int) -> list[str]:
        """Read nodes and the edges between them; return the nodes."""
        chain = [self._read_end(depth)]
        while self._peek() in ("->", "--"):
            self._take()
            chain.append(self._read_end(depth))
        attributes = self._read_attributes()
        label = attributes.get("label") or attributes.get("xlabel") or ""
        if len(chain) == 1 and chain[0] and label:
            self._diagram.node(chain[0][0], label)
        for starts, ends in pairwise(chain):
            for start, end in islice(product(starts, ends), MOST_EDGES):
                self._diagram.edge(start, end, label)
        return [id for ends in chain for id in ends]

    def _read_end(self, depth: int) -> list[str]:
        """Read a node, or a group in the place of one; return the nodes that it stands for."""
        token = self._take()
        if token.lower() == "subgraph":
            token = self._take(1 if self._peek() == "{" else 2)
        if token == "{":
            return self.statements(depth + 1)
        while self._peek() == ":":
            # A port says where at the node an edge ends.
            self._take(2)
        if id := _plain_token(token):
            self._diagram.node(id)
        return [id] if id else []

    def _read_attributes(self) -> dict[str, str]:
        values: dict[str, str] = {}
        while self._peek() == "[":
            self._take()
            while (token := self._take()) and token != "]":
                if self._peek() == "=":
                    values[token.lower()] = _plain_token(self._take(2))
        return values


def _plain_token(token: str) -> str:
    if token.startswith("<"):
        return TAGS.sub(" ", token[1:-1]).strip()
    return token[1:-1].replace('\\"', '"') if token.startswith('"') else token
