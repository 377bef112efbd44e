"""What the fuzzers feed: each takes any bytes and may refuse them in its own words, nothing else."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable

from vector_memory import wire
from vector_memory.index.exchanges import exchanges
from vector_memory.index.notes import knowledge_graph, markdown, markdown_export
from vector_memory.index.transcript import TranscriptEntry, parse_objects
from vector_memory.service.capture import read_session
from vector_memory.system import children, json_in
from vector_memory.system.files import RefusedError

Target = Callable[[bytes], object]


def transcript(data: bytes) -> None:
    """A file of a transcript, read to its redacted drafts."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(os.path.realpath(folder), "t.jsonl")
        with open(path, "wb") as file:
            file.write(data)
        try:
            made = read_session.read(read_session.ReadRequest(path, final=True))
        except RefusedError:
            return
        assert made.cursor.offset <= len(data)


def lines(data: bytes) -> None:
    """A transcript's lines, without a file and without redaction: quicker, so it goes deeper."""
    entries = [
        TranscriptEntry(number, 0, 0, part, one)
        for number, line in enumerate(data.split(b"\n"))
        for part, one in enumerate(parse_objects(line))
    ]
    for one in exchanges(entries):
        one.digest()


def hook_input(data: bytes) -> None:
    """What a hook passes on: a folder, NUL, and stdin."""
    folder, _, message = data.partition(b"\0")
    os.fsdecode(folder)
    try:
        json_in.load(message)
    except ValueError:
        return


def markdown_text(data: bytes) -> None:
    """A file of notes, and a page that we exported."""
    text = data.decode("utf-8-sig", "replace")
    for block in markdown.parse(text).blocks:
        assert block.line_start >= 1
    for read in (markdown_export.parse, markdown_export.unread_lines):
        assert all(line >= 1 for line, _ in read(text.split("\n")))


def graph(data: bytes) -> None:
    """A knowledge graph, as one object and line by line."""
    knowledge_graph.parse_whole(data)
    for line in data.split(b"\n"):
        knowledge_graph.is_graph(line)
        try:
            item = json_in.load(line)
        except ValueError:
            continue
        if isinstance(item, dict):
            for fact in knowledge_graph.facts(item):
                json.dumps([fact.text, fact.key])


def heads(data: bytes) -> None:
    """The first lines of requests and replies."""
    for parse in (wire.parse_request_header, wire.parse_reply_header):
        try:
            parse(data)
        except wire.WireError:
            continue


def pipe(data: bytes) -> None:
    """Frames on a pipe."""
    stream = io.BytesIO(data)
    while children.read_frame(stream) is not None:
        pass


TARGETS: dict[str, Target] = {
    one.__name__: one for one in (transcript, lines, hook_input, markdown_text, graph, heads, pipe)
}
