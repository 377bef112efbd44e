"""Graphviz's DOT: a small grammar of nodes, edges, attributes and groups."""

from __future__ import annotations

import re

from vector_memory.index.diagrams.diagram import TAGS, Diagram

_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|/\*.*?\*/|//[^\n]*|^#[^\n]*', re.S | re.M)
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|<(?:[^<>]|<[^<>]*>)*>|->|--|[{}\[\];=,:+]|-?[\w.\u0080-\uffff]+'
)
_CONTROLS = frozenset("{}[];=,:")
DEEPEST = 50


def read(text: str) -> Diagram:
    """Return what a DOT graph shows.

    Raises:
        ValueError: it does not begin as one, or is nested too deeply.
    """
    tokens = _TOKEN.findall(_COMMENTS.sub(lambda found: found[1] or " ", text))
    head = [token.lower() for token in tokens[:2]]
    sort = next((one for one in head if one in ("graph", "digraph")), "")
    if not sort or "{" not in tokens[:4]:
        raise ValueError("it does not begin with `graph` or `digraph`")
    made = Diagram("dot", sort)
    _Parser(made, tokens[tokens.index("{") + 1 :]).statements(0)
    return made


class _Parser:
    def __init__(self, made: Diagram, tokens: list[str]) -> None:
        self._made, self._tokens, self._at = made, tokens, 0

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        self._at += 1
        return token

    def statements(self, depth: int) -> list[str]:
        """Read up to the end of a group; return the nodes in it."""
        if depth > DEEPEST:
            raise ValueError("its groups are nested too deeply")
        inside: list[str] = []
        while (token := self._next()) and token != "}":
            if token in _CONTROLS - {"{"}:
                self._at += 1
            else:
                inside += self._statement(depth)
        self._at += 1
        return inside

    def _statement(self, depth: int) -> list[str]:
        first = self._next()
        if first.lower() in ("graph", "node", "edge"):
            self._at += 1
            self._note(self._attributes() if first.lower() == "graph" else {})
            if first.lower() != "graph":
                self._attributes()
            return []
        chain = [self._end(depth)]
        if self._next() == "=":
            self._at += 1
            value = self._take()
            self._note({first.lower(): _word(value)})
            return []
        while self._next() in ("->", "--"):
            self._at += 1
            chain.append(self._end(depth))
        attributes = self._attributes()
        label = attributes.get("label") or attributes.get("xlabel") or ""
        if len(chain) == 1 and label:
            for id in chain[0][:1]:
                self._made.node(id, label)
        for starts, ends in zip(chain, chain[1:], strict=False):
            for start in starts:
                for end in ends:
                    self._made.edge(start, end, label)
        return [id for ends in chain for id in ends]

    def _end(self, depth: int) -> list[str]:
        """Read a node, or a group in the place of one; return the nodes that it stands for."""
        if self._next().lower() == "subgraph":
            self._at += 1
            if self._next() != "{":
                self._at += 1
        if self._next() == "{":
            self._at += 1
            return self.statements(depth + 1)
        id = _word(self._take())
        while self._next() == ":":
            # A port says where at the node an edge ends.
            self._at += 2
        if self._next() != "=" and id:
            self._made.node(id)
        return [id] if id else []

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._next() == "[":
            self._at += 1
            while (token := self._take()) and token != "]":
                if self._next() == "=":
                    self._at += 1
                    found[token.lower()] = _word(self._take())
        return found

    def _note(self, attributes: dict[str, str]) -> None:
        if attributes.get("label"):
            self._made.note(attributes["label"])


def _word(token: str) -> str:
    if token.startswith("<"):
        return TAGS.sub(" ", token[1:-1]).strip()
    return token[1:-1].replace('\\"', '"') if token.startswith('"') else token
