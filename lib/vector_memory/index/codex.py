"""Rollouts of the Codex client, translated into the lines that the rest of this package reads.

Until September 2025 the client wrote its items bare, below a header that alone has a time. A rollout that was forked
from another one begins with a copy of that, which is read where it stands itself.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator

from vector_memory.index import transcript
from vector_memory.index.prompt_writer import HEADLESS
from vector_memory.index.tools import patched_files
from vector_memory.index.transcript import LONGEST_LINE_BYTES, TranscriptEntry, parse_objects
from vector_memory.system.files import open_plain
from vector_memory.system.json_in import Record

_AGENT_TALK = "inter_agent_communication"
_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", _AGENT_TALK})  # fmt: skip
_TYPED_SOURCES = ("cli", "vscode")
_COMMON_TYPES = (b'"session_meta"', b'"turn_context"')
_HEAD_BYTES = 200
"""Where a line's type stands."""
REWOUND = "rewound"
"""The type of an entry that says what was taken back: from the prompt of a `uuid` on, or what begins at a `place` or
after it, a tuple (byte offset of the line, object in the line). A place that is not known is None."""
_TURN_TYPES = (("event_msg", "user_message"), ("event_msg", "entered_review_mode"), ("response_item", "agent_message"))  # fmt: skip
_AGENT_MESSAGE_MARK = '"trigger_turn":'
"""Stands in what agents tell each other, where it is written as words of the assistant."""
_ROLLED_BACK = "thread_rolled_back"
_EARLY_ITEM = "early_item"
_EARLY_LINES = 40
"""Among so many first ones an early rollout says its folder."""
_EARLY_FOLDER = (("<cwd>", "</cwd>"), ("Current working directory: ", "\n"))
_REQUEST_HEADING = "\n## My request for Codex:"
"""Below it stands what was typed, where an editor says before it what is open in it."""
_EXIT_CODES = ("Exit code: ", "Process exited with code ")
_WALL_TIME = "Wall time: "
_COPYING_PAUSE_S = 1.0
"""Copies of another rollout are written at once; what the fork says itself comes later than this."""


def is_rollout(data: Record) -> bool:
    """Whether an entry is of a Codex rollout."""
    # A list, which a frozen set could not look up, may stand there as well.
    is_known_type = str(data.get("type")) in _TYPES and isinstance(data.get("payload"), dict)
    return is_known_type or _is_early_header(data)


def _is_early_header(data: Record) -> bool:
    return {"id", "timestamp", "instructions"} <= data.keys() and "type" not in data


def translate(
    entries: Iterable[TranscriptEntry], common_fields: Record | None = None
) -> Iterator[TranscriptEntry]:
    """Return the entries with those of Codex rollouts translated; others pass as they are.

    Args:
        entries: the entries, in order.
        common_fields: what `read_common_fields` gives, where they do not begin at the file's start.
    """
    common = Record(common_fields or {})
    for entry in without_copies((_in_envelope(raw_entry, common) for raw_entry in entries), common):
        payload, kind = entry.data.part("payload"), entry.data.text("type")
        if not _is_rollout_entry(entry):
            yield entry
        elif payload.get("type") == _ROLLED_BACK:
            yield entry._replace(data=Record(type=REWOUND, place=payload.get("place")))
        elif (content := _role_and_content(kind, payload)) is not None:
            line = transcript.talk_line(*content, entry.data.get("timestamp"))
            translated = Record({**common, **line})
            if kind == _EARLY_ITEM:
                # No time tells two prompts of the same words apart.
                translated["uuid"] = f"{common.text('sessionId')}-{entry.line}-{entry.part}"
            yield entry._replace(data=translated)


def without_copies(entries: Iterable[TranscriptEntry], common: Record) -> Iterator[TranscriptEntry]:
    """Return the entries of a rollout without the copies of another one, those of other files as they are.

    Args:
        entries: the entries, in order.
        common: takes what they say of all that follow.
    """
    copies, turns = _Copies(), list[tuple[int, int]]()
    for entry in entries:
        if not _is_rollout_entry(entry):
            yield entry
            continue
        # A turn that was copied counts as well: what is taken back may reach into the copies.
        placed = _with_place(entry, turns)
        own_entries = copies.take(placed, common)
        _note_common_fields(common, entry.data.text("type"), entry.data.part("payload"))
        yield from own_entries


def _is_rollout_entry(entry: TranscriptEntry) -> bool:
    return is_rollout(entry.data) or entry.data.get("type") == _EARLY_ITEM


def _with_place(entry: TranscriptEntry, turns: list[tuple[int, int]]) -> TranscriptEntry:
    """Return an entry that takes turns back with the place of the first of them; others as they are.

    Args:
        turns: the places of the turns before; that of this one is added. Where more are taken back than it holds, it is
            emptied: some turns were not seen, and nobody knows which.
    """
    payload = entry.data.part("payload")
    payload_type = payload.get("type")
    if _is_turn(entry.data.text("type"), payload):
        turns.append((entry.start, entry.part))
    if payload_type != _ROLLED_BACK:
        return entry
    count = payload.number("num_turns")
    place = turns[-count] if 0 < count <= len(turns) else None
    if count > 0:
        del turns[-count:]
    return entry._replace(
        data=Record({**entry.data, "payload": Record(type=_ROLLED_BACK, place=place)})
    )


def _is_turn(kind: str, payload: Record) -> bool:
    """Whether an entry is what the client counts when it takes back turns: a prompt, also one without words, a review,
    or what its agents tell each other. One that is counted too often takes less back, never too much."""
    if (kind, payload.get("type")) == ("response_item", "message"):
        return payload.get("role") == "assistant" and _AGENT_MESSAGE_MARK in _text_of(payload)
    return kind == _AGENT_TALK or (kind, payload.get("type")) in _TURN_TYPES


def _in_envelope(entry: TranscriptEntry, common: Record) -> TranscriptEntry:
    """Return an early rollout's entry in the form of later ones; others as they are."""
    data = entry.data
    if _is_early_header(data):
        common["early"] = data.text("timestamp")
        envelope = Record(type="session_meta", payload=data)
    elif "early" in common and "payload" not in data and "message" not in data:
        envelope = Record(type=_EARLY_ITEM, timestamp=common["early"], payload=data)
    else:
        return entry
    return entry._replace(data=envelope)


class _Copies:
    """Tells which entries of a rollout are copies of the one that it was forked from: they stand behind the
    `session_meta` of that one, with their own times or that of the fork."""

    def __init__(self) -> None:
        self._begun_at = self._last_at = 0.0
        self._is_copying = self._copies_keep_times = False
        self._doubtful_entries: list[TranscriptEntry] = []
        """The entries from the last prompt among the copies on: it may be the fork's first prompt, and then an answer to
        it follows."""

    def take(self, entry: TranscriptEntry, common: Record) -> list[TranscriptEntry]:
        """Return the entries that the next one shows to be no copies.

        Args:
            entry: the next one, in order.
            common: what the entries before it say of the rollout.
        """
        is_meta = entry.data.get("type") == "session_meta"
        if not (is_meta or self._is_copying or self._doubtful_entries):
            return [entry]
        at = entry.written_at.timestamp() if entry.written_at else 0.0
        if is_meta:
            own_session = common.get("sessionId")
            self._is_copying = own_session not in (None, entry.data.part("payload").get("id"))
            self._begun_at = self._begun_at or at
            self._copies_keep_times |= 0 < at < self._begun_at
            self._doubtful_entries = []
        elif self._is_copying and at >= self._begun_at:
            self._is_copying = not self._copies_keep_times and at - self._last_at < _COPYING_PAUSE_S
        self._last_at = max(self._begun_at, at)
        return self._own_entries(entry, _role(entry))

    def _own_entries(self, entry: TranscriptEntry, role: str) -> list[TranscriptEntry]:
        own_entries: list[TranscriptEntry] = [] if self._is_copying else [entry]
        # What one agent asks another begins a turn, too.
        begins = role == "user" or _is_turn(entry.data.text("type"), entry.data.part("payload"))
        if own_entries and role == "assistant" and not begins:
            own_entries = [*self._doubtful_entries, entry]
        if begins or (own_entries and role):
            self._doubtful_entries = []
        is_copy_or_first = self._is_copying and not self._copies_keep_times
        if is_copy_or_first and (begins or self._doubtful_entries):
            self._doubtful_entries.append(entry)
        return own_entries


def _role(entry: TranscriptEntry) -> str:
    """Return who speaks or acts in an entry, "" for a tool's answer and for the rest."""
    payload = entry.data.part("payload")
    role, _ = _role_and_content(entry.data.text("type"), payload) or ("", None)
    return "" if str(payload.get("type")).endswith("_output") else role


def read_common_fields(path: str, offset: int) -> Record:
    """Return what a rollout's lines before a byte offset say of all that follow: session, folder and
    branch stand on lines of their own. Nothing for other files."""
    common = Record()
    with open_plain(path) as file:
        first_objects = parse_objects(file.readline(LONGEST_LINE_BYTES))
        if not any(map(is_rollout, first_objects)):
            return common
        is_early = any(map(_is_early_header, first_objects))
        file.seek(0)
        lines_read = 0
        while file.tell() < offset and not (is_early and lines_read >= _EARLY_LINES):
            line, lines_read = file.readline(LONGEST_LINE_BYTES), lines_read + 1
            if is_early or any(mark in line[:_HEAD_BYTES] for mark in _COMMON_TYPES):
                for data in parse_objects(line):
                    enveloped = _in_envelope(TranscriptEntry(0, 0, 0, 0, data), common).data
                    _note_common_fields(common, enveloped.text("type"), enveloped.part("payload"))
    return common


def _note_common_fields(common: Record, kind: str, payload: Record) -> None:
    """Take what an entry says of all that follow. A second `session_meta` is that of another rollout."""
    if kind == _EARLY_ITEM and payload.get("role") == "user":
        common.update(_folder_in(_text_of(payload)))
    if kind not in ("session_meta", "turn_context"):
        return
    if kind == "session_meta" and common.get("sessionId") not in (None, payload.get("id")):
        return
    branch = payload.part("git").get("branch")
    fields = (
        ("sessionId", payload.get("id")),
        ("cwd", payload.get("cwd")),
        ("gitBranch", branch),
        ("model", payload.get("model")),
    )
    common.update((name, value) for name, value in fields if isinstance(value, str))
    source = payload.get("source")
    if isinstance(source, dict) or payload.get("thread_source") not in (None, "user"):
        common["origin"] = {"kind": "program"}
    elif isinstance(source, str) and source not in _TYPED_SOURCES:
        common["entrypoint"] = HEADLESS


def _folder_in(text: str) -> dict[str, str]:
    """Return the folder that the client tells the model, nothing for other texts."""
    if text.lstrip().startswith("<environment_context>"):
        for begin, end in _EARLY_FOLDER:
            if folder := text.partition(begin)[2].partition(end)[0].strip():
                return {"cwd": folder}
    return {}


def _role_and_content(kind: str, payload: Record) -> tuple[str, object] | None:
    """Return (role, content) of what was said or done; None for the rest."""
    payload_type = payload.get("type")
    if kind == "event_msg" and payload_type == "user_message":
        return "user", _typed_prompt(payload.get("message"))
    if kind == "event_msg" and payload_type == "agent_message":
        return "assistant", [Record(type="text", text=str(payload.get("message") or ""))]
    if kind == _EARLY_ITEM and payload_type == "message" and payload.get("role") == "user":
        return "user", _typed_prompt(_text_of(payload))
    if kind == _EARLY_ITEM and payload_type == "message" and payload.get("role") == "assistant":
        return "assistant", [Record(type="text", text=_text_of(payload))]
    is_item = kind in ("response_item", _EARLY_ITEM)
    if is_item and payload_type in ("function_call", "custom_tool_call"):
        return "assistant", _tool_calls(payload)
    if is_item and payload_type in ("function_call_output", "custom_tool_call_output"):
        return "user", [_tool_result(payload)]
    return None


def _text_of(item: Record) -> str:
    return "\n".join(part.text("text") for part in item.parts("content"))


def _typed_prompt(message: object) -> object:
    """Return a prompt without what an editor says before it: which files are open, and what is marked in them."""
    if not (isinstance(message, str) and message.lstrip().startswith("# ")):
        return message
    _, mark, request = message.partition(_REQUEST_HEADING)
    # A text that is marked there may have such a line, too: then nobody knows what was typed.
    return request if mark and _REQUEST_HEADING not in request else message


def _tool_calls(payload: Record) -> list[Record]:
    id, arguments = payload.get("call_id"), _arguments(payload.get("arguments"))
    if payload.get("name") == "apply_patch":
        files = patched_files(str(payload.get("input") or arguments.get("input") or ""))
        return [transcript.tool_use(id, "Edit", {"file_path": path}) for path in files]
    command = arguments.get("cmd") or arguments.get("command") or ""
    command_line = _line_of_words(command) if isinstance(command, list) else str(command)
    return [transcript.tool_use(id, "Bash", {"command": command_line})] if command_line else []


def _line_of_words(command: list[object]) -> str:
    """Return a command line given as a list; what a shell is given as a script is that script."""
    words = [str(word) for word in command]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _arguments(raw: object) -> Record:
    try:
        arguments = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError:
        return Record()
    return Record(arguments) if isinstance(arguments, dict) else Record()


def _tool_result(payload: Record) -> Record:
    output = payload.get("output")
    text = output if isinstance(output, str) else json.dumps(output)
    head, mark, body = text.partition("Output:\n")
    lines = [line for line in head.splitlines() if line.strip()]
    if not (
        any(line.startswith(_WALL_TIME) for line in lines)
        or all(": " in line or line.startswith("Process ") for line in lines)
    ):
        # What a program printed may have such lines.
        lines, mark = [], ""
    codes = [line.split()[-1] for line in lines if mark and line.startswith(_EXIT_CODES)]
    has_failed = any(code != "0" for code in codes)
    answer = _arguments(text) if text.startswith("{") else Record()
    if isinstance(answer.get("output"), str):
        # Older clients: the output beside its exit code, as JSON.
        has_failed = bool(answer.part("metadata").get("exit_code"))
        mark, body = "JSON", answer.text("output")
    return transcript.tool_result(payload.get("call_id"), body if mark else text, has_failed)
