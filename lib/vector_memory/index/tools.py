"""What was done with tools, in one short line each, and what the user said when refusing one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vector_memory.system.json_in import Record
from vector_memory.text import harmless, tables
from vector_memory.text.words import names_in

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_ACTION = 160
LONGEST_COMMAND = 4_000
OUTPUT_HEAD, OUTPUT_TAIL, OUTPUT_END = 3_000, 6_000, 2_000
LONGEST_CHANGE = 2_000
_COMMAND_TOOLS = frozenset({"Bash", "PowerShell"})

AGENTS = frozenset({"Task", "Agent"})
SKILL = "Skill"
USUAL_AGENT = "general-purpose"
"""The kind of subagent that is called where none is named."""
LONGEST_NAME = 80
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_COMMAND_WORDS = tables.sets("command_words")
_TELLING_ARGUMENTS = {
    "Bash": "command", "PowerShell": "command", "Task": "description", "Agent": "description",
    "WebFetch": "url", "WebSearch": "query", "Skill": "skill", "SendMessage": "summary",
    "TaskCreate": "subject",
}  # fmt: skip

_CHANGE_FOLDER = re.compile(r"^(?:\s*cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;))+")
_LOOKING_JOBS = (
    "sed -n", "git status", "git diff", "git log", "git show", "git branch", "git add", "git rev-parse",
)  # fmt: skip

_MCP_PREFIX = "mcp__"
_QUESTION_TOOL = "AskUserQuestion"
_OWN_TOOLS = ("mcp__vector_memory_", "mcp__plugin_vector_memory_")
_OWN_COMMAND = "vector-memory"
"""What the model does with this memory is no part of what was done."""
_REJECTIONS = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
)
_REASON = re.compile(
    r"(?:The user provided the following reason for the rejection:|the user said:|"
    r"with the following feedback:|User feedback:)\s*(.*?)(?:\n\s*Note: The user's next message|\Z)",
    re.DOTALL,
)
_ANSWERS_START, _ANSWERS_END = "User has answered your question", " You can now continue"


def describe(name: str, arguments: Mapping[str, object], cwd: str) -> str:
    """Return one line for a tool call, such as `Edit src/x.py` or `Bash: pytest -q`; "" for calls
    that changed nothing and say nothing."""
    if name in _COMMAND_WORDS["quiet_tools"] or is_own(name, command_of(name, arguments)):
        return ""
    path = file_of(arguments, cwd)
    if path and name in _WRITERS:
        return f"{name} {path}"
    words = _first_line(str(arguments.get(_TELLING_ARGUMENTS.get(name, ""), "") or ""))
    if not words:
        return f"{name} {path}".strip()
    return clip(f"{name}: {words}", LONGEST_ACTION)


def is_own(name: str, command: str) -> bool:
    """Whether a call asks this memory, by one of its tools or by its command line alone."""
    line = without_folders(command).strip()
    asks = line.partition(" ")[0].rpartition("/")[2] == _OWN_COMMAND
    return name.replace("-", "_").startswith(_OWN_TOOLS) or (
        asks and not any(map(line.count, ";&\n"))
    )


def is_quiet(action: str) -> bool:
    """Whether a described call that did not fail says nothing that a passage needs: it looked at something,
    or wrote a file that the passage names anyway."""
    name, ends, words = action.partition(" ")
    line = without_folders(words).strip()
    program = "".join(names_in(line)[:1])
    is_look = program in _COMMAND_WORDS["first_looks"] and line.startswith(program)
    looks = name == "Bash:" and (is_look or line.startswith(_LOOKING_JOBS))
    return bool(ends) and (looks or name in _COMMAND_WORDS["silent_tools"])


def without_folders(command: str) -> str:
    """Return a command line without the folders that it changes to before anything else."""
    return _CHANGE_FOLDER.sub("", command)


def file_of(arguments: Mapping[str, object], cwd: str) -> str:
    """Return the file that a tool call names, relative to `cwd` where it lies below; else ""."""
    path = Record(arguments).text("file_path") or Record(arguments).text("notebook_path")
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def command_of(name: str, arguments: Mapping[str, object]) -> str:
    """Return the command line that a call runs, "" for calls that run none."""
    command = Record(arguments).text("command") if name in _COMMAND_TOOLS else ""
    return _whole_words(command, LONGEST_COMMAND)


def called(name: str, arguments: Mapping[str, object]) -> str:
    """Return the skill, or the kind of subagent, that a call calls; "" for any other call."""
    key = "skill" if name == SKILL else "subagent_type" if name in AGENTS else ""
    return str(arguments.get(key) or (USUAL_AGENT if name in AGENTS else ""))[:LONGEST_NAME]


def change_of(arguments: Mapping[str, object]) -> str:
    """Return what an edit replaced by what, where both are short: `old → new`, without the lines
    that both share; else ""."""
    old, new = arguments.get("old_string"), arguments.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return ""
    before, after = old.splitlines(), new.splitlines()
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    change = " → ".join(" ".join(part.strip() for part in side) for side in (before, after))
    return change if len(change) <= LONGEST_CHANGE else ""


def edits_of(arguments: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return what a call replaces by what, edit by edit; () where it writes nothing."""
    call = Record(arguments)
    return tuple(
        (part.text("old_string"), part.text(key))
        for part in (call, *call.parts("edits"))
        for key in ("new_string", "content")
        if isinstance(part.get(key), str)
    )


def shortened_output(text: str, failed: bool) -> str:
    """Return an output whose middle is left out where it is long, since errors stand at its ends;
    of what went well the end alone."""
    if not failed:
        return _whole_lines(text, OUTPUT_END)
    if len(text) <= OUTPUT_HEAD + OUTPUT_TAIL + 3:
        return text
    return f"{_whole_words(text, OUTPUT_HEAD)}\n…\n{_whole_lines(text, OUTPUT_TAIL)}"


def plain_output(text: str) -> str:
    """Return an output without colours and the client's own tags."""
    text = harmless.ESCAPE_SEQUENCE.sub("", text)
    return text.replace("<tool_use_error>", "").replace("</tool_use_error>", "")


def _whole_words(text: str, size: int) -> str:
    """Return the start of a text, without a word that was cut: half a secret is not known for one."""
    return text if len(text) <= size else "".join(re.split(r"(\s)", text[:size])[:-1])


def _whole_lines(text: str, size: int) -> str:
    """Return the end of a text, without a line that was cut: a secret would lose its name."""
    return text if len(text) <= size else text[-size - 1 :].partition("\n")[2]


def changes(name: str) -> bool:
    """Whether a tool writes the file that it names."""
    return name in _WRITERS


def is_rejection(text: str) -> bool:
    """Whether a failed tool result says that the user refused the call."""
    return text.startswith(_REJECTIONS)


def user_words(text: str, tool: str, failed: bool) -> str:
    """Return what the user said in a tool's result: the reason for a refusal, or answers to
    questions; "" when the result is a machine's or the client's."""
    if tool.startswith(_MCP_PREFIX):
        # Their errors are given as they are: a server could write the client's phrase itself.
        return ""
    if tool == _QUESTION_TOOL:
        # Refused questions come back in words of the client's own.
        answers, has_end, _ = text.partition(_ANSWERS_START)[2].partition(_ANSWERS_END)
        is_answer = has_end and not failed
        return answers.partition(": ")[2].removesuffix(".").strip() if is_answer else ""
    reason = _REASON.search(text) if failed and is_rejection(text) else None
    return reason[1].strip() if reason else ""


def patched_files(patch: str) -> list[str]:
    """Return the files that a patch in the `*** Update File:` form names."""
    return re.findall(r"^\*\*\* (?:Update|Add|Delete) File: (\S[^\n]{0,400})", patch, re.MULTILINE)


def _first_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0].strip() + (" …" if len(lines) > 1 else "") if lines else ""


def clip(text: str, size: int) -> str:
    """Return at most `size` characters of a line, cut at a space where there is one."""
    text = " ".join(text.split())
    if len(text) <= size:
        return text
    head = text[: size - 2]
    head = head.rsplit(" ", 1)[0] if " " in head[size // 2 :] else head
    return harmless.excerpt(text, 0, len(head)).rstrip() + " …"
