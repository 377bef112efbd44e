"""Chats of the Gemini CLI, translated into the lines that the rest of this package reads.

The client keeps them below `~/.gemini/tmp/PROJECT/chats`: today as lines, of which the first says what the session is
and the same message comes again whenever it has grown, alone or in a list of all that the model still knows
(`{"$set": {"messages": […]}}`); in earlier versions as one document with all messages. The folder that PROJECT stands
for is written in `PROJECT/.project_root`, where the version writes that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import takewhile

from vector_memory.index import transcript
from vector_memory.index.codex import REWOUND
from vector_memory.index.transcript import LONGEST_LINE_BYTES, TranscriptEntry, parse_objects
from vector_memory.system import json_in
from vector_memory.system.files import open_plain
from vector_memory.system.json_in import Record

CHATS = "chats"
MOST_BYTES = 64_000_000
"""Of a document, which is read as a whole."""
_ROOT_FILE = ".project_root"
_ROOT_BYTES = 4_096
_TOOL_NAMES = {"run_shell_command": "Bash", "replace": "Edit", "write_file": "Write", "read_file": "Read",
          "list_directory": "LS", "glob": "Glob", "search_file_content": "Grep", "grep_search": "Grep",
          "web_fetch": "WebFetch", "google_web_search": "WebSearch"}  # fmt: skip
_CLIENT_TEXT_STARTS = (
    "<session_context>", "This is the Gemini CLI. We are setting up the context", "<hook_context>", "<state_snapshot>",
    "Got it. Thanks for the additional context!", "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
)  # fmt: skip
"""How begins what the client itself says: before the first prompt, beside others, and where it shortened the talk."""
_REWIND = "$rewindTo"
_FINAL_STATUSES = ("success", "error", "cancelled")
_MOST_ALIGNED = 40
"""So many of the last messages tell where a list that calls all of them by other ids goes on."""
_EXIT = "Exit Code: "
_OUTPUT = "\nOutput: "
_FIELD_STARTS = (_EXIT, "Error: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ")
"""How the lines begin that stand behind an output."""


def is_header(data: Record) -> bool:
    """Whether an entry is how a chat begins."""
    return "projectHash" in data and "sessionId" in data and "type" not in data


def is_message(data: Record) -> bool:
    """Whether an entry is a message of a chat."""
    return data.get("type") in ("user", "gemini") and "content" in data and "message" not in data


def is_document(path: str) -> bool:
    """Whether a file is named as a chat that is one document."""
    above = os.path.dirname(path)
    folders = (os.path.basename(above), os.path.basename(os.path.dirname(above)))
    return path.endswith(".json") and CHATS in folders


class ChatDocument:
    """The messages of a chat that is one document, as entries: each counts as a line. Iterate once; afterwards
    `is_damaged` tells that the file is no document of JSON.

    Args:
        path: the chat.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = self.line = self.part = 0
        """How far it was read: its messages are its parts."""
        self.is_damaged = False

    def __iter__(self) -> Iterator[TranscriptEntry]:
        with open_plain(self.path) as file:
            raw = file.read(MOST_BYTES + 1)
        try:
            document = json_in.load(raw) if len(raw) <= MOST_BYTES else None
        except ValueError:
            # Where it is being written, the next reading finds it whole.
            document, self.is_damaged = None, True
        chat = Record(json_in.storable_json(document) if isinstance(document, dict) else {})
        messages = chat.pop("messages", None)
        if not is_header(chat) or not isinstance(messages, list):
            return
        # Its start lies behind that of all messages: it is read wherever reading begins.
        yield TranscriptEntry(0, 1, 1, 0, chat)
        for number, message in enumerate(messages, 1):
            self.line = self.part = number
            if isinstance(message, dict):
                yield TranscriptEntry(number, 0, 0, number - 1, Record(message))


def read_common_fields(path: str, header: Record | None = None) -> Record:
    """Return what is said of all messages of a chat: its session and folder. Nothing for other files.

    Args:
        header: how the chat begins; read from the file where it is not given.
    """
    if header is None:
        with open_plain(path) as file:
            objects = parse_objects(file.readline(LONGEST_LINE_BYTES))
        header = objects[0] if objects else Record()
    if not is_header(header):
        return Record()
    common = Record(sessionId=header.text("sessionId"), cwd=_folder_of(path))
    if header.get("kind") == "subagent":
        common.update(isSidechain=True, agentId=header.text("sessionId"))
    return common


def _folder_of(path: str) -> str:
    """Return the folder that a chat was held in, "" where its client does not say."""
    above = os.path.dirname(path)
    for _ in range(3):
        above, name = os.path.split(above)
        if name == CHATS:
            break
    try:
        with open_plain(os.path.join(above, _ROOT_FILE)) as file:
            folder = file.read(_ROOT_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    return folder if os.path.isabs(folder) else ""


def translate(
    path: str, entries: Iterable[TranscriptEntry], common_fields: Record
) -> Iterator[TranscriptEntry]:
    """Return the entries with those of a chat translated; others pass as they are.

    Args:
        path: the file.
        entries: its entries, in order.
        common_fields: what `read_common_fields` gives, where they do not begin at the file's start.

    Returns:
        The entries. Those of a list of messages are parts of their line, as many as there are messages.
    """
    common, history = common_fields, _MessageHistory()
    for entry in entries:
        listed_messages = entry.data.part("$set").parts("messages") if common else []
        if is_header(entry.data):
            common = read_common_fields(path, entry.data)
        elif listed_messages:
            for part in history.places_of_new(listed_messages):
                for line in history.new_lines(listed_messages[part]):
                    yield entry._replace(part=part, data=Record({**common, **line}))
        elif common and _REWIND in entry.data:
            yield entry._replace(data=Record(type=REWOUND, uuid=entry.data.text(_REWIND)))
        elif not common or not is_message(entry.data):
            yield entry
        else:
            for line in history.new_lines(entry.data):
                yield entry._replace(data=Record({**common, **line}))


class _MessageHistory:
    """What was passed on of each message already: a message comes again as a whole when it has grown."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._call_ids: set[str] = set()
        self._answered_ids: set[str] = set()

    def places_of_new(self, messages: list[Record]) -> Iterator[int]:
        """Yield the places in a list of the messages that may say something new: those behind the last prompt that was
        passed on already. What stands before that prompt is old, too, even where it was not read here."""
        ids = [message.text("id") for message in messages]
        if self._texts and not any(id in self._texts for id in ids):
            # The client has given all of them other ids: it has shortened the talk, or was started again.
            self._match_renamed(
                [(id, _text(message)) for id, message in zip(ids, messages, strict=True)]
            )
        known_prompts = (
            place
            for place, message in enumerate(messages)
            if message.get("type") == "user" and ids[place] in self._texts
        )
        start = max(known_prompts, default=-1) + 1
        return (place for place in range(start, len(messages)) if is_message(messages[place]))

    def _match_renamed(self, messages: list[tuple[str, str]]) -> None:
        """Note the new ids of messages (id, text) that were said before under other ids: the last ones said before stand
        in the list in the same order, in front of what is new."""
        listed = [(id, text) for id, text in messages if text]
        told_texts, texts = (
            list(self._texts.values())[-_MOST_ALIGNED:],
            [text for _, text in listed],
        )
        for end in range(len(told_texts), 0, -1):
            length, place = max(
                (
                    (_common_ending(told_texts[:end], texts[max(0, place - end) : place]), place)
                    for place in range(1, len(texts) + 1)
                    if texts[place - 1] == told_texts[end - 1]
                ),
                default=(0, 0),
            )
            grown = told_texts[end] if end < len(told_texts) else ""
            has_grown = bool(grown) and place < len(texts) and texts[place].startswith(grown)
            # One alone may have been said anew, where what followed it is not there.
            if length > 1 or (length and (has_grown or end == len(told_texts))):
                self._texts.update(listed[:place])
                if has_grown:
                    self._texts[listed[place][0]] = grown
                return

    def new_lines(self, message: Record) -> Iterator[Record]:
        """Yield the lines of a message that were not there before."""
        text, id, at = _text(message), message.text("id"), message.get("timestamp")
        role = "user" if message.get("type") == "user" else "assistant"
        told_text = self._texts.get(id, "") if id else ""
        if text and text != told_text:
            self._texts[id] = text
            text = text[len(told_text) :] if text.startswith(told_text) else text
            content = text if role == "user" else [Record(type="text", text=text)]
            yield transcript.talk_line(role, content, at, id if role == "user" else "")
        for call in message.parts("toolCalls"):
            call_id = call.text("id")
            if call_id not in self._call_ids:
                self._call_ids.add(call_id)
                yield transcript.talk_line("assistant", [_tool_use(call)], at)
            # While it goes on it is written, too.
            if call_id not in self._answered_ids and call.get("status") in _FINAL_STATUSES:
                self._answered_ids.add(call_id)
                yield transcript.talk_line("user", [_tool_result(call)], at)


def _common_ending(before: list[str], after: list[str]) -> int:
    """Return how many texts two lists have in common at their ends."""
    pairs = zip(reversed(before), reversed(after), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _text(message: Record) -> str:
    """Return what a message says, without what the client itself tells the model."""
    # What was typed, where files that it names were put into it.
    content = message.get("displayContent") or message.get("content")
    if isinstance(content, str):
        parts = [content]
    else:
        blocks = [content] if isinstance(content, dict) else content
        records = Record(blocks=blocks).parts("blocks")
        parts = [record.text("text") for record in records if not record.get("thought")]
    return "\n".join(
        part for part in parts if part.strip() and not part.lstrip().startswith(_CLIENT_TEXT_STARTS)
    )


def _tool_use(call: Record) -> Record:
    name, arguments = call.text("name"), Record(call.part("args"))
    path = arguments.get("absolute_path") or arguments.get("path")
    if "file_path" not in arguments and isinstance(path, str):
        arguments["file_path"] = path
    return transcript.tool_use(call.text("id"), _TOOL_NAMES.get(name, name), arguments)


def _tool_result(call: Record) -> Record:
    text, has_failed = _answer(call), call.get("status") != "success"
    if call.get("name") == "run_shell_command":
        codes = [line.removeprefix(_EXIT) for line in text.splitlines() if line.startswith(_EXIT)]
        has_failed = has_failed or any(code[:1].isdigit() and code.strip() != "0" for code in codes)
        _, has_output, output = f"\n{text}".partition(_OUTPUT)
        first, *more = output.split("\n")
        lines = [first, *takewhile(lambda line: not line.startswith(_FIELD_STARTS), more)]
        text = "\n".join(lines).strip() if has_output else text
    return transcript.tool_result(call.text("id"), text, has_failed)


def _answer(call: Record) -> str:
    """Return what a tool answered."""
    for part in call.parts("result"):
        response = part.part("functionResponse").part("response")
        if text := response.text("output") or response.text("error"):
            return text
    return call.text("resultDisplay")
