"""SVG and draw.io: diagrams in XML. Whatever declares an entity is refused, and nothing outside is ever fetched."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from vector_memory.index.diagrams.diagram import TAGS, Diagram

MOST_UNPACKED_BYTES = 8_000_000


def parse(text: str) -> Element:
    """Return a document's root.

    Raises:
        ValueError: it is not well-formed, or declares an entity.
    """
    if "<!ENTITY" in text:
        raise ValueError("it declares an entity")
    try:
        return ElementTree.fromstring(_without_encoding(text).encode("utf-8", "replace"))
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no well-formed XML ({error})") from None


def _name(element: Element) -> str:
    """Return an element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def svg(text: str) -> Diagram:
    """Return the words of an SVG picture; of one that draw.io wrote with its diagram in it, the diagram.

    Raises:
        ValueError: it is none.
    """
    root = parse(text)
    if _name(root) != "svg":
        raise ValueError("its first element is no <svg>")
    if "<mxfile" in root.get("content", ""):
        return drawio(root.get("content", ""))
    diagram = Diagram("svg")

    _read_words(diagram, root)
    return diagram


def _read_words(diagram: Diagram, element: Element) -> None:
    # HTML in a picture: Mermaid writes its labels so.
    is_html = (
        _name(element) in ("div", "span", "p", "b", "i", "td") and (element.text or "").strip()
    )
    if is_html or _name(element) in ("text", "title", "desc"):
        diagram.note(" ".join(element.itertext()))
    elif _name(element) not in ("style", "script", "metadata"):
        for child in element:
            _read_words(diagram, child)


def drawio(text: str) -> Diagram:
    """Return what a draw.io diagram shows, all its pages together.

    Raises:
        ValueError: it is none.
    """
    root = parse(text)
    if _name(root) not in ("mxfile", "mxGraphModel"):
        raise ValueError("its first element is neither <mxfile> nor <mxGraphModel>")
    diagram = Diagram("drawio")
    pages = root.findall("diagram") if root.tag == "mxfile" else [root]
    for number, page in enumerate(pages):
        diagram.note(f"page {page.get('name')}" if page.get("name") else "")
        model = page if len(page) else parse(_unpacked(page.text or ""))
        _read_cells(diagram, model, f"{number}:")
    return diagram


def _read_cells(
    diagram: Diagram, element: Element, page: str, label: str = "", id: str = ""
) -> None:
    for child in element:
        attributes = child.attrib
        if child.tag in ("object", "UserObject"):
            # It holds the cell, whose words stand here.
            _read_cells(diagram, child, page, attributes.get("label", ""), attributes.get("id", ""))
        elif child.tag == "mxCell":
            words = TAGS.sub(" ", attributes.get("value") or label)
            node_id = page + (attributes.get("id") or id)
            if attributes.get("edge") == "1":
                if attributes.get("source") and attributes.get("target"):
                    diagram.edge(page + attributes["source"], page + attributes["target"], words)
            elif attributes.get("vertex") == "1" and words.strip():
                diagram.node(node_id, words)
        else:
            _read_cells(diagram, child, page)


def _unpacked(packed: str) -> str:
    """Return the page that draw.io has packed."""
    try:
        unpacker = zlib.decompressobj(-15)
        raw = unpacker.decompress(
            base64.b64decode(packed.strip(), validate=True), MOST_UNPACKED_BYTES
        )
    except (binascii.Error, zlib.error):
        raise ValueError("a page of it cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"a page of it is larger than {MOST_UNPACKED_BYTES:,} bytes")
    return unquote(raw.decode("utf-8", "replace"))


def _without_encoding(text: str) -> str:
    """Return a document that was read as UTF-8 without what it says of its encoding."""
    return re.sub(r"\A\s*<\?xml[^>]*\?>", "", text.lstrip("\ufeff"))
