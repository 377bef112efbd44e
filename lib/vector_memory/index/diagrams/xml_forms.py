"""SVG and draw.io: diagrams in XML. Whatever declares an entity is refused, and nothing outside is ever fetched."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote
from xml.parsers import expat

from vector_memory.index.diagrams.diagram import TAGS, Diagram

MOST_UNPACKED_BYTES = 8_000_000
DEEPEST = 200


@dataclass
class Element:
    """An element with its name (without a namespace), attributes, own text and elements in it."""

    name: str
    attributes: Mapping[str, str]
    text: str = ""
    inner: list[Element] = field(default_factory=list)


def parse(text: str) -> Element:
    """Return a document's root.

    Raises:
        ValueError: it is not well-formed, declares an entity, or is nested too deeply.
    """
    root = Element("", {})
    open_ones = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_ones) > DEEPEST:
            raise ValueError("it is nested too deeply")
        made = Element(name.rpartition(":")[2], attributes)
        open_ones[-1].inner.append(made)
        open_ones.append(made)

    def end(name: str) -> None:
        open_ones.pop()

    def words(data: str) -> None:
        open_ones[-1].text += data

    def refuse(*told: object) -> None:
        raise ValueError("it declares an entity")

    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = words, refuse
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ValueError(f"it is no well-formed XML ({error})") from None
    if not root.inner:
        raise ValueError("it is empty")
    return root.inner[0]


def svg(text: str) -> Diagram:
    """Return the words of an SVG picture; of one that draw.io wrote with its diagram in it, the diagram.

    Raises:
        ValueError: it is none.
    """
    root = parse(_without_encoding(text))
    if root.name != "svg":
        raise ValueError("its first element is no <svg>")
    if "<mxfile" in root.attributes.get("content", ""):
        return drawio(root.attributes["content"])
    made = Diagram("svg")

    def look(one: Element) -> None:
        if one.name in ("text", "title", "desc"):
            made.note(_all_text(one))
        elif one.name not in ("style", "script", "metadata"):
            # HTML in a picture: Mermaid writes its labels so.
            if one.text.strip() and one.name in ("div", "span", "p", "b", "i", "td"):
                made.note(_all_text(one))
            else:
                _each(one, look)

    look(root)
    return made


def drawio(text: str) -> Diagram:
    """Return what a draw.io diagram shows, all its pages together.

    Raises:
        ValueError: it is none.
    """
    root = parse(_without_encoding(text))
    if root.name not in ("mxfile", "mxGraphModel"):
        raise ValueError("its first element is neither <mxfile> nor <mxGraphModel>")
    made = Diagram("drawio")
    pages = (
        [one for one in root.inner if one.name == "diagram"] if root.name == "mxfile" else [root]
    )
    for number, page in enumerate(pages):
        if page.attributes.get("name"):
            made.note(f"page {page.attributes['name']}")
        model = page if page.inner else parse(_unpacked(page.text))
        _cells(made, model, f"{number}:")
    return made


def _cells(made: Diagram, one: Element, page: str, label: str = "", id: str = "") -> None:
    for inner in one.inner:
        given = inner.attributes
        if inner.name in ("object", "UserObject"):
            # It holds the cell, whose words stand here.
            _cells(made, inner, page, given.get("label", ""), given.get("id", ""))
        elif inner.name == "mxCell":
            words = TAGS.sub(" ", given.get("value") or label)
            own = page + (given.get("id") or id)
            if given.get("edge") == "1":
                if given.get("source") and given.get("target"):
                    made.edge(page + given["source"], page + given["target"], words)
            elif given.get("vertex") == "1" and words.strip():
                made.node(own, words)
        else:
            _cells(made, inner, page)


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


def _all_text(one: Element) -> str:
    return " ".join([one.text, *map(_all_text, one.inner)])


def _each(one: Element, look: Callable[[Element], None]) -> None:
    for inner in one.inner:
        look(inner)
