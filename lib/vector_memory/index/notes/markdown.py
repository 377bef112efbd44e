"""A Markdown document as blocks that can stand alone: paragraphs, list items, rows of tables, steps.

Each block knows the headings above it and what it hangs on (a list's lead, an item's parents).
Comments, link definitions, rules and tables of contents are left out; what stands within a line is
taken down to plain words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

PARAGRAPH, ITEM, ROW, STEPS, CODE = "paragraph", "item", "row", "steps", "code"
MAX_NESTING = 60
"""Levels of blocks within blocks; what lies deeper is left out. A list takes two."""
MAX_INLINE = 10
"""Levels of links and images within each other: endless brackets are looked at so often each."""
MAX_FRONT_LINES = 200

_WIKILINK = re.compile(
    r"!?\[\[([^\[\]|#\n]{0,200})(#[^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{0,200}))?\]\]"
)
"""A link to another note of a vault, by its name, with what it is called here behind a bar."""
_NOTE = re.compile(
    r"\[\^[^\[\]\s]{1,40}\]:?|\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]", re.IGNORECASE
)
"""The marks of footnotes and of the boxes that some sites draw."""


@dataclass(frozen=True)
class Block:
    """A piece of a document. `context` is what it hangs on, the outermost first; `checked` is None
    where there is no box; `code` is the code below a paragraph or item, `language` its fence's
    word. Lines count from 1 and include both ends."""

    kind: str
    text: str
    headings: tuple[str, ...]
    line_start: int
    line_end: int
    context: tuple[str, ...] = ()
    checked: bool | None = None
    code: str = ""
    language: str = ""


@dataclass(frozen=True)
class Document:
    """A document's front matter (lower-case names) and its blocks in order."""

    front: dict[str, str] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()


def parse(text: str) -> Document:
    """Return a document's front matter and blocks. Any text is a document."""
    front, body = _front_matter(with_plain_ends(text.removeprefix("\ufeff")))
    from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser().parse(body))
    return Document(front, tuple(_with_code(_BlockWalk().blocks(tree.children))))


def fences(text: str) -> list[tuple[str, str]]:
    """Return language (small letters) and content of each fenced block of a document, in order."""
    tokens = _parser().parse(with_plain_ends(text))
    return [(_language(token), token.content) for token in tokens if token.type == "fence"]


def with_plain_ends(text: str) -> str:
    """Return a text whose lines all end in the same way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=2)
def _parser(nesting: int = MAX_NESTING) -> MarkdownIt:
    # Imported late: the daemon needs it only while notes are imported.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": nesting})
    # Addresses and entities stay as they are written; lines are read one by one, in `plain`.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser.enable(["table", "strikethrough"]).disable(["inline", "text_join", "entity"])


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields between the first two `---` lines, and the text with those lines blank."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    for end, line in enumerate(lines[1 : MAX_FRONT_LINES + 1], start=1):
        if line.rstrip() in ("---", "..."):
            return _fields(lines[1:end]), "\n".join([""] * (end + 1) + lines[end + 1 :])
    return {}, text


def _fields(lines: Sequence[str]) -> dict[str, str]:
    """Read `name: value` lines; a list's items are joined with commas."""
    values: dict[str, str] = {}
    name = ""
    for line in lines:
        before, colon, value = line.partition(":")
        if colon and line[0].isalpha():
            name = before.strip().lower().replace(" ", "-")
            values[name] = value.strip().strip("[]\"'")
        elif name and line.lstrip().startswith("- "):
            value = line.lstrip()[2:].strip().strip("\"'")
            values[name] = f"{values[name]}, {value}" if values[name] else value
    return values


class _BlockWalk:
    """Goes through a document from top to bottom and keeps the headings that hold here."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []

    def blocks(
        self, nodes: Sequence[SyntaxTreeNode], context: tuple[str, ...] = (), top: bool = True
    ) -> Iterator[Block]:
        """Yield the blocks of sibling nodes. A paragraph that ends with a colon leads what
        follows."""
        lead = ""
        for position, node in enumerate(nodes):
            if node.type == "heading" and top:
                self._enter_heading(int(node.tag[1:]), plain_line(_content(node)))
            elif node.type == "paragraph" and _announces_list(node, nodes[position + 1 :]):
                lead = plain_line(_content(node))
                continue
            else:
                yield from self._node_blocks(node, (*context, lead) if lead else context)
            lead = ""

    def _enter_heading(self, level: int, title: str) -> None:
        self._headings = [heading for heading in self._headings if heading[0] < level] + [
            (level, title)
        ]

    def _node_blocks(self, node: SyntaxTreeNode, context: tuple[str, ...]) -> Iterator[Block]:
        if node.type in ("paragraph", "heading"):
            yield self._make_block(PARAGRAPH, plain_line(_content(node)), node, context)
        elif node.type in ("fence", "code_block"):
            yield self._make_block(
                CODE, "", node, context, code=node.content, language=_language(node)
            )
        elif node.type == "bullet_list":
            for item in node.children:
                yield from self._item_blocks(item, context)
        elif node.type == "ordered_list":
            yield self._make_block(STEPS, "\n".join(_steps(node)), node, context)
        elif node.type == "table":
            yield from self._row_blocks(node, context)
        elif node.type == "blockquote":
            yield from self.blocks(node.children, context, top=False)
        elif node.type == "html_block":
            # A comment that is never closed hides the rest.
            visible_text = (
                node.content.partition("<!--")[0] if "-->" not in node.content else node.content
            )
            yield self._make_block(PARAGRAPH, plain_line(visible_text), node, context)

    def _item_blocks(self, item: SyntaxTreeNode, context: tuple[str, ...]) -> Iterator[Block]:
        """Yield an item with its paragraphs as one block, then what is nested in it."""
        paragraphs = [child for child in item.children if child.type == "paragraph"]
        nested = [child for child in item.children if child.type != "paragraph"]
        raw = "\n".join(_content(child) for child in paragraphs)
        has_box = raw[:3] in ("[ ]", "[x]", "[X]") and raw[3:4].isspace()
        text = plain_line(raw[4:] if has_box else raw)
        checked = raw[1] != " " if has_box else None
        if text and not (text.endswith(":") and nested):
            last = paragraphs[-1]
            yield self._make_block(ITEM, text, item, context, checked=checked, end=last)
        if nested:
            yield from self.blocks(nested, (*context, text) if text else context, top=False)

    def _row_blocks(self, table: SyntaxTreeNode, context: tuple[str, ...]) -> Iterator[Block]:
        head = [plain_line(_content(cell)) for cell in table.children[0].children[0].children]
        for body in table.children[1:]:
            for row in body.children:
                cells = [plain_line(_content(cell)) for cell in row.children]
                named_cells = [
                    f"{name}: {cell}" if name else cell
                    for name, cell in zip(head, cells, strict=False)
                    if cell
                ]
                yield self._make_block(ROW, "; ".join(named_cells), row, context)

    def _make_block(
        self,
        kind: str,
        text: str,
        node: SyntaxTreeNode,
        context: tuple[str, ...],
        end: SyntaxTreeNode | None = None,
        **more: Any,
    ) -> Block:
        start_line, end_line = node.map or (0, 0)
        if end is not None and end.map:
            end_line = end.map[1]
        headings = tuple(title for _, title in self._headings if title)
        return Block(kind, text, headings, start_line + 1, end_line, context, **more)


def _announces_list(node: SyntaxTreeNode, following: Sequence[SyntaxTreeNode]) -> bool:
    """Whether a paragraph only announces the list or table that follows."""
    list_types = ("bullet_list", "ordered_list", "table")
    return (
        bool(following)
        and following[0].type in list_types
        and _content(node).rstrip("*_ ").endswith(":")
    )


def _with_code(blocks: Iterator[Block]) -> Iterator[Block]:
    """Give code to the paragraph or item right before it; leave out blocks that say nothing."""
    owner: Block | None = None
    for block in blocks:
        if block.kind == CODE and owner is not None and _belongs_to(block, owner):
            code = f"{owner.code}\n{block.code}" if owner.code else block.code
            owner = replace(
                owner,
                code=code,
                language=owner.language or block.language,
                line_end=block.line_end,
            )
            continue
        if owner is not None:
            yield owner
        owner = block if _says_something(block) else None
    if owner is not None:
        yield owner


def _belongs_to(code: Block, owner: Block) -> bool:
    if owner.kind not in (PARAGRAPH, ITEM, CODE) or code.headings != owner.headings:
        return False
    return code.context in (owner.context, (*owner.context, owner.text))


def _says_something(block: Block) -> bool:
    return any(map(str.isalnum, block.text)) or any(map(str.isalnum, block.code))


def _steps(node: SyntaxTreeNode, indent: str = "") -> Iterator[str]:
    """Yield the lines of a numbered list, those of lists within it indented."""
    start = node.attrs.get("start", 1) if node.type == "ordered_list" else None
    for number, item in enumerate(node.children):
        mark = f"{int(start) + number}." if start is not None else "-"
        for position, child in enumerate(item.children):
            if child.type in ("bullet_list", "ordered_list"):
                yield from _steps(child, indent + "  ")
            elif child.type in ("fence", "code_block"):
                yield from (f"{indent}   {line}" for line in child.content.rstrip().split("\n"))
            elif text := plain_line(_content(child)):
                yield f"{indent}{mark} {text}" if position == 0 else f"{indent}   {text}"


def _content(node: SyntaxTreeNode) -> str:
    """Return the raw text of a block that holds a line of text, "" of any other."""
    return node.children[0].content if node.children and node.children[0].type == "inline" else ""


def _language(node: SyntaxTreeNode | Token) -> str:
    words = node.info.split() if node.type == "fence" else []
    return words[0].lower() if words else ""


def plain_line(raw: str) -> str:
    """Return one line of plain words: no comments, tags, images or emphasis; links with their
    address, unless it points into the same document."""
    parser = _parser(MAX_INLINE)
    tokens: list[Token] = []
    parser.inline.parse(raw, parser, {}, tokens)
    words: list[str] = []
    address, start = "", 0
    for token in tokens:
        if token.type.startswith("text"):
            words.append(_WIKILINK.sub(_wikilink, _NOTE.sub("", token.content)))
        elif token.type == "code_inline":
            room = " " * ("`" in token.content)
            words.append(f"{token.markup}{room}{token.content}{room}{token.markup}")
        elif token.type == "image":
            words.append(plain_line(token.content))
        elif token.type == "link_open":
            address, start = str(token.attrs["href"]).removeprefix("mailto:"), len(words)
        elif token.type == "link_close":
            is_all = token is tokens[-1] and not start
            words[start:] = [_link("".join(words[start:]).strip(), address, is_all)]
        elif token.type.endswith("break") or token.content[:3].lower() == "<br":
            words.append(" ")
    return " ".join("".join(words).split())


def _wikilink(link: re.Match[str]) -> str:
    """Return what a link to a note is called, or the note's name."""
    name, section, label = (word or "" for word in link.groups())
    return label.strip() or name.rsplit("/", 1)[-1].strip() or section.lstrip("#^ ").strip()


def _link(text: str, address: str, is_all: bool) -> str:
    if address.startswith("#"):
        # A list of such links is the table of contents.
        return "" if is_all else text
    return text if not address or address == text else f"{text} ({address})"
