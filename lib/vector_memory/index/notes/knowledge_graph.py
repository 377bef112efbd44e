"""The file of the MCP knowledge-graph memory server: entities with observations, and relations.

It is JSON lines, `{"type": "entity", "name", "entityType", "observations"}` and `{"type":
"relation", "from", "to", "relationType"}`, or one object `{"entities": […], "relations": […]}`.

Source: the `memory` server of the reference servers of the Model Context Protocol.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from vector_memory.system import json_in
from vector_memory.system.json_in import Record
from vector_memory.text.analysis import parts_of

Clean = Callable[[str], str]


@dataclass(frozen=True)
class Fact:
    """One observation or relation. `entities` are the names that it is about: the two that a relation joins, the one of
    an observation."""

    key: str
    text: str
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    is_relation: bool = False


def is_graph(first_line: bytes) -> bool:
    """Whether a file that begins with this line is a knowledge graph rather than memories: a line
    of ours has a `text`."""
    data = _foreign_object(first_line)
    return data is not None and (_is_item(data) or _is_whole(data))


def parse_whole(text: bytes, clean: Clean = str) -> list[Fact] | None:
    """Return the facts of a file that is one object, None where it is something else; arguments as in
    `facts`."""
    data = _foreign_object(text)
    if data is None or not _is_whole(data):
        return None
    return [
        fact
        for name, kind in (("entities", "entity"), ("relations", "relation"))
        for item in data.parts(name)
        for fact in facts({**item, "type": kind}, clean)
    ]


def facts(item: Mapping[str, object], clean: Clean = str) -> Iterator[Fact]:
    """Yield what an entity or a relation says. An entity without observations is a fact itself.

    Args:
        item: as it stands in the file.
        clean: redacts a word before anything of its form is lost.
    """
    if item.get("type") == "relation":
        yield from _relation_facts(Record(item), clean)
    elif item.get("type") == "entity":
        yield from _entity_facts(Record(item), clean)


def _entity_facts(item: Record, clean: Clean) -> Iterator[Fact]:
    name, kind = (
        _redacted_line(item.text("name"), clean),
        _redacted_line(item.text("entityType"), clean),
    )
    if not name:
        return
    tags = (kind.lower(),) if kind else ()
    observations = [_redacted_line(word, clean) for word in item.words("observations")]
    sentences = [f"{name}: {observation}" for observation in observations if observation]
    for text in sentences or [f"{name}: {kind or 'entity'}"]:
        yield Fact(_key("entity", name, text), text, tags, (name,))


def _relation_facts(item: Record, clean: Clean) -> Iterator[Fact]:
    start, end = _redacted_line(item.text("from"), clean), _redacted_line(item.text("to"), clean)
    verb = _redacted_line(item.text("relationType"), clean)
    if start and end and verb:
        words = " ".join((start, *parts_of(verb), end))
        yield Fact(_key("relation", start, verb, end), words, (), (start, end), is_relation=True)


def _foreign_object(raw: bytes) -> Record | None:
    """Return an object that is no line of ours, None for what is no object."""
    with suppress(ValueError):
        data = json_in.load(raw)
        if isinstance(data, dict) and "text" not in data:
            return Record(data)
    return None


def _is_item(data: Mapping[str, object]) -> bool:
    if data.get("type") == "entity":
        return "name" in data
    return data.get("type") == "relation" and {"from", "to", "relationType"} <= data.keys()


def _is_whole(data: Mapping[str, object]) -> bool:
    lists = [data[name] for name in ("entities", "relations") if name in data]
    return bool(lists) and all(isinstance(items, list) for items in lists)


def _key(*words: str) -> str:
    whole = "\0".join(words).encode("utf-8", "surrogatepass")
    return "kg:" + hashlib.blake2b(whole, digest_size=16).hexdigest()


def _redacted_line(words: str, clean: Clean) -> str:
    return " ".join(clean(words).split())
