"""Diagrams that are text: what is read off them, and what is refused."""

from __future__ import annotations

import base64
import zlib
from urllib.parse import quote

import pytest

from vector_memory.index.diagrams import forms
from vector_memory.index.diagrams.diagram import MOST_EDGES, MOST_NODES, Diagram

CELLS = (
    '<mxGraphModel><root><mxCell id="0"/><mxCell id="2" value="&lt;b&gt;API&lt;/b&gt;" vertex="1"/>'
    '<UserObject label="Store" id="3"><mxCell vertex="1"/></UserObject>'
    '<mxCell id="4" value="SQL" edge="1" source="2" target="3"/></root></mxGraphModel>'
)


def read(text: str, form: str) -> Diagram:
    """Return the only diagram of a text."""
    (found,) = forms.read(text, form)
    return found


def told(made: Diagram) -> list[tuple[str, str, str]]:
    """Return the edges by their labels."""
    return [(made.nodes[one.start], made.nodes[one.end], one.label) for one in made.edges]


@pytest.mark.parametrize(
    ("form", "text", "edges"),
    [
        (
            "mermaid",
            'graph LR; A[Web app] -->|HTTP| B{Sure?}\n B -- yes --> C[(Postgres)] & D; D ==> W["x -- y"]:::hot',
            [("Web app", "Sure?", "HTTP"), ("Sure?", "Postgres", "yes"), ("Sure?", "D", "yes"), ("D", "x -- y", "")],
        ),
        (
            "mermaid",
            "---\ntitle: t\n---\n%% note\nsequenceDiagram\n participant A as Alice\n A->>B: Hello\n B-->>A: Hi",
            [("Alice", "B", "Hello"), ("B", "Alice", "Hi")],
        ),
        ("mermaid", "stateDiagram-v2\n [*] --> Idle\n Idle --> Busy : job",
         [("start or end", "Idle", ""), ("Idle", "Busy", "job")]),
        ("mermaid", "erDiagram\n CUSTOMER ||--o{ ORDER : places", [("CUSTOMER", "ORDER", "places")]),
        ("mermaid", "classDiagram\n Animal <|-- Duck\n class Duck{\n  +swim()\n }", [("Duck", "Animal", "")]),
        (
            "plantuml",
            '@startuml\nparticipant "Auth server" as Auth\nUser -> Auth: password\nAuth -[#red]-> Redis : look up\n'
            "User <-- Auth: token\n[Comp A] ..> (Use case)\n@enduml",
            [("User", "Auth server", "password"), ("Auth server", "Redis", "look up"),
             ("Auth server", "User", "token"), ("Comp A", "Use case", "")],
        ),
        (
            "dot",
            'digraph G { rankdir=LR; node [shape=box]; /* no */ a [label="Start"]; a -> b -> c [label="go"];'
            ' subgraph cluster_0 { label="Core"; d; e } b -> {d e} "x y":p -> a }',
            [("Start", "b", "go"), ("b", "c", "go"), ("b", "d", ""), ("b", "e", ""), ("x y", "Start", "")],
        ),
        ("drawio", f'<mxfile><diagram name="One">{CELLS}</diagram></mxfile>', [("API", "Store", "SQL")]),
    ],
)  # fmt: skip
def test_what_leads_where(form: str, text: str, edges: list[tuple[str, str, str]]) -> None:
    """Each language's usual forms."""
    assert told(read(text, form)) == edges


def test_a_packed_page_and_one_in_a_picture() -> None:
    """Draw.io packs its pages, and hides its diagram in the SVG that it exports."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = base64.b64encode(packer.compress(quote(CELLS).encode()) + packer.flush()).decode()
    page = f"<mxfile><diagram>{packed}</diagram></mxfile>"
    assert told(read(page, "drawio")) == [("API", "Store", "SQL")]
    content = page.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    assert told(read(f'<svg content="{content}"/>', "svg")) == [("API", "Store", "SQL")]


def test_the_words_of_a_picture() -> None:
    """A document type without entities is what most SVG files begin with."""
    made = read(
        '<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
        "<svg><style>.a{}</style><title>Plan</title><g><text>Load <tspan>balancer</tspan></text></g></svg>",
        "svg",
    )
    assert made.notes == ["Plan", "Load balancer"]


def test_blocks_of_markdown() -> None:
    """Each diagram of a page is one of its own; other code is none."""
    page = "# A\n```mermaid\ngraph TD\nA-->B\n```\n```python\nx\n```\n~~~dot\ngraph {a--b}\n~~~\n"
    assert [one.form for one in forms.read(page, "markdown")] == ["mermaid", "dot"]


@pytest.mark.parametrize(
    ("form", "text", "why"),
    [
        ("svg", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><svg><text>&x;</text></svg>', "entity"),
        ("svg", '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;]><svg/>', "entity"),
        ("drawio", '<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><mxfile>&b;</mxfile>', "entity"),
        ("svg", "<svg>", "well-formed"),
        ("svg", "<html/>", "no <svg>"),
        ("svg", f"<svg>{5_000 * '<g>'}{5_000 * '</g>'}</svg>", "nested"),
        ("drawio", "<mxfile><diagram>%%</diagram></mxfile>", "unpacked"),
        ("drawio", "<a/>", "neither"),
        ("dot", "hello", "digraph"),
        ("dot", "graph {" + "{" * 500, "nested"),
        ("mermaid", "hello --> you", "Mermaid"),
        ("mermaid", "", "Mermaid"),
        ("plantuml", "a -> b", "startuml"),
        ("plantuml", 200_000 * "\n", "startuml"),
    ],
)  # fmt: skip
def test_what_is_none(form: str, text: str, why: str) -> None:
    """It is said why, and nothing outside is read."""
    with pytest.raises(ValueError, match=why):
        read(text, form)


def test_a_bomb_stays_small() -> None:
    """A page may unpack to megabytes, not to more; a graph has so many nodes at most."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = base64.b64encode(packer.compress(b" " * 20_000_000) + packer.flush()).decode()
    with pytest.raises(ValueError, match="larger"):
        read(f"<mxfile><diagram>{bomb}</diagram></mxfile>", "drawio")
    many = "digraph {" + ";".join(f"n{number}" for number in range(5_000)) + "}"
    assert len(read(many, "dot").nodes) == MOST_NODES


@pytest.mark.parametrize(
    ("form", "begin", "part", "end"),
    [
        ("dot", "digraph { a -> b ", "/* ", "}"),
        ("dot", 'digraph { a -> b "', '\\"', "}"),
        ("dot", "digraph { a -> b ", "<", "}"),
        ("dot", "digraph { a -> b; {", "a ", "} -> {" + 50_000 * "b " + "} }"),
        ("drawio", '<mxGraphModel><mxCell vertex="1" value="a', "&lt;", '"/></mxGraphModel>'),
    ],
)
def test_what_has_no_end_is_looked_for_once(form: str, begin: str, part: str, end: str) -> None:
    """Not from each place where such a thing may begin: a small file held the reader for hours."""
    made = read(begin + 200_000 * part + end, form)
    assert any(name.startswith("a") for name in made.nodes.values())
    assert len(made.edges) <= MOST_EDGES


def test_a_dot_comment_and_a_string_end_where_they_say() -> None:
    """What stands behind them counts; what has no end takes the rest along."""
    made = read('digraph { a /* x -> y */ -> b [label="to \\"b\\""]; c -> d /* e -> f }', "dot")
    assert told(made) == [("a", "b", 'to "b'), ("c", "d", "")]
