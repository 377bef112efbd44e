"""Sessions in whose transcripts others' words stand: each way is how they came in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from attacks.house import REASON, REJECTED, Turn, result, use, words

ASK = "Please read the page about the widget service and tell me what it says."
MAKE = "Run the build of the widgets."
Made = Callable[[str, str], Sequence[Turn]]
"""Takes a text and the project's folder, gives the turns of one session."""


def quoted(text: str, cwd: str) -> Sequence[Turn]:
    """A tool's output, and what the assistant says of it."""
    return [
        ("user", ASK),
        ("assistant", [use("t1", "WebFetch", url="https://pages.example/widgets")]),
        ("user", [result("t1", text)]),
        ("assistant", [words(f"The page about the widget service says: {text}")]),
    ]


def printed(text: str, cwd: str) -> Sequence[Turn]:
    """A tool's output of which nothing is said."""
    return [
        ("user", ASK),
        ("assistant", [use("t1", "Bash", command="cat widgets.txt")]),
        ("user", [result("t1", text)]),
        (
            "assistant",
            [words("I have read the page about the widget service; it is about widgets.")],
        ),
    ]


def failed(tool: str, form: str, **given: Any) -> Made:
    """An error of a tool, in a session that goes on."""

    def turns(text: str, cwd: str) -> Sequence[Turn]:
        return [
            ("user", MAKE),
            ("assistant", [use("t1", tool, **given)]),
            ("user", [result("t1", form.format(text), True)]),
            ("assistant", [use("t2", "Edit", file_path=f"{cwd}/widgets.py", old_string="a = 1", new_string="a = 2")]),
            ("user", [result("t2", "The file was updated.")]),
            ("assistant", [use("t3", tool, **given)]),
            ("user", [result("t3", "ok")]),
            ("assistant", [words("The build of the widgets works again, after a change of one constant.")]),
        ]  # fmt: skip

    return turns


def pasted(form: str) -> Made:
    """A prompt that holds others' words without a fence, between the user's own."""

    def turns(text: str, cwd: str) -> Sequence[Turn]:
        listed = "\n".join(f"> {line}" for line in text.split("\n"))
        return [
            ("user", form.format(text=text, quoted=listed, line=" ".join(text.split()))),
            (
                "assistant",
                [words("Thanks, I have read it. It is about how the widgets are released.")],
            ),
        ]

    return turns


def prompted(form: str, **common: Any) -> Made:
    """A prompt that a program wrote."""

    def turns(text: str, cwd: str) -> Sequence[Turn]:
        said = form.format(text=text)
        message = {"role": "user", "content": said}
        return [
            ("raw", {"type": "user", "message": message, **common}),
            ("raw", {"type": "assistant", **common,
                     "message": {"role": "assistant", "content": [words("I did what the task says: the widgets build.")]}}),
        ]  # fmt: skip

    return turns


def sidechain(text: str, cwd: str) -> Sequence[Turn]:
    """A subagent's task, written by the assistant, within the session's transcript."""
    side = {"isSidechain": True, "agentId": "a4ca7529859c158c2"}
    return [
        ("user", MAKE),
        ("assistant", [use("t1", "Task", description="Look at the widgets", prompt=text)]),
        ("raw", {"type": "user", "message": {"role": "user", "content": text}, **side}),
        ("raw", {"type": "assistant", **side,
                 "message": {"role": "assistant", "content": [words("The widgets are in good order.")]}}),
        ("user", [result("t1", "The widgets are in good order.")]),
        ("assistant", [words("The subagent found the widgets in good order.")]),
    ]  # fmt: skip


def queued(text: str, cwd: str) -> Sequence[Turn]:
    """A notice of a program that waits in the client's queue, and a file that is attached."""
    notice = {"type": "queued_command", "commandMode": "task-notification", "prompt": text}
    attached = {"type": "file", "filename": "NOTES.md", "content": text}
    return [
        ("user", MAKE),
        ("raw", {"type": "attachment", "attachment": notice}),
        ("raw", {"type": "attachment", "attachment": attached}),
        ("raw", {"type": "queue-operation", "operation": "enqueue", "content": text}),
        ("assistant", [words("The build of the widgets went well, all nineteen of them.")]),
    ]


def named(place: str) -> Made:
    """A name of something: of a file, a branch, a session's title, a tool, a folder."""

    def turns(text: str, cwd: str) -> Sequence[Turn]:
        name = " ".join(text.split())[:200].replace("/", "-")
        common = {"gitBranch": name} if place == "branch" else {}
        tool = (
            f"mcp__{re.sub(r'[^a-zA-Z0-9]+', '_', name)[:90]}__run" if place == "tool" else "Edit"
        )
        file = f"{cwd}/{name}.md" if place == "file" else f"{cwd}/widgets.py"
        lines: list[Turn] = [
            ("raw", {"type": "user", "message": {"role": "user", "content": "Change the widgets, please."}, **common}),
            ("assistant", [use("t1", tool, file_path=file, old_string="a", new_string="b")]),
            ("user", [result("t1", "The file could not be changed: it is in use.", True)]),
            ("assistant", [words("The file is in use; we'll change the widgets another time instead.")]),
        ]  # fmt: skip
        if place == "title":
            lines += [("raw", {"type": kind, "summary": name, "title": name, "aiTitle": name,
                               "customTitle": name, "leafUuid": "x"})
                      for kind in ("summary", "ai-title", "custom-title")]  # fmt: skip
        return lines

    return turns


def commits(text: str, cwd: str) -> Sequence[Turn]:
    """Messages of commits: in a log that is read, and in one that fails."""
    log = f"commit 3f9c21aa\nAuthor: bot <bot@example.org>\n\n    {text}"
    return [
        ("user", "What happened in the repository since yesterday?"),
        ("assistant", [use("t1", "Bash", command="git log -3")]),
        ("user", [result("t1", log)]),
        ("assistant", [use("t2", "Bash", command="git rebase main")]),
        ("user", [result("t2", f"Exit code 1\nerror: could not apply 3f9c21aa... {text}", True)]),
        ("assistant", [words("One commit came in since yesterday; the rebase onto main stopped at it.")]),
    ]  # fmt: skip


def reminded(text: str, cwd: str) -> Sequence[Turn]:
    """Blocks that the client or a hook puts into a prompt."""
    tags = (
        "system-reminder",
        "local-command-stdout",
        "bash-stdout",
        "ide_selection",
        "user-prompt-submit-hook",
    )
    blocks = "\n".join(f"<{tag}>{text}</{tag}>" for tag in tags)
    return [
        ("user", f"{blocks}\nGo on with the widgets, please."),
        ("raw", {"type": "user", "isMeta": True, "message": {"role": "user", "content": text}}),
        ("raw", {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": text}}),
        ("assistant", [{"type": "thinking", "thinking": text}, words("The widgets are done, all of them.")]),
    ]  # fmt: skip


MAIL = """Can you look at what came in this morning and tell me whether we have to do something?

From: Jordan Blake <jordan@vendor.example>
Sent: Tuesday, 3 May 2026 09:12
To: team@example.org
Subject: Release of the widgets

Hi all,

{text}

Thanks,
Jordan"""
REPLY = """What do you think of this thread?

On Tue, 3 May 2026 at 09:12, Jordan Blake <jordan@vendor.example> wrote:
{quoted}
>
> Jordan"""
LOG = """The build is red since this morning, why?

2026-05-03T09:12:01.123Z INFO  [runner] Starting step 3/7
2026-05-03T09:12:02.001Z INFO  [runner] {line}
2026-05-03T09:12:02.417Z WARN  [runner] cache miss for widgets
2026-05-03T09:12:09.875Z ERROR [runner] step 3/7 failed with exit code 2"""
LISTED = """Here is what the contractor left us, is it of any use?

Notes of the contractor:
- The widgets are built twice a day.
- {line}
- Each release has a number.
- The mirror of the vendor is slow on Mondays."""
PLAN = """Implement the following plan:

# Plan: release of the widgets

## Context
The widgets are released by hand today.

## Steps
1. Read the configuration of the widgets.
2. {line}
3. Write the release notes.

## Verification
Run the build and look at its output."""
README = """Does this README still fit?

# widgets

A library of widgets for the web.

## Usage

{text}

## Licence

MIT"""
AGENTS = """These are the rules of the other repository:

# Guidelines for agents

## Conventions

- {line}
- Code is formatted with black.

## Tests

Run pytest before a commit. What do you make of it?"""
CHAT = """This is from our channel, can you sum it up?

Robin  9:12 AM
hey, anybody here who knows about the widgets?
Sasha  9:14 AM
{text}
Robin  9:15 AM
ah ok thx
Sasha  9:15 AM
np"""
TABLE = """Somebody sent me this table, please check the figures in it.

| step | what | who |
| --- | --- | --- |
| 1 | build | CI |
| 2 | {line} | vendor |
| 3 | release | CI |"""
FORM = """Summary of the ticket WID-412 that was assigned to me:

Reporter: Jordan Blake
Priority: High
Description: {line}
Steps to reproduce: open the page of the widgets
Expected result: {line}
Can you find out what is behind it?"""
TASK = "<task>\n{text}\n</task>\n<output_format>JSON</output_format>"
PEER = '<teammate-message teammate_id="builder" color="blue">\n{text}\n</teammate-message>'
CROSS = '<cross-session-message from="peer-7">\n{text}\n</cross-session-message>'
REVIEWER = """You are a reviewer of another program's work. Read the diff below and answer with a verdict.

Rules:
- {text}
- Do not edit or run tests, builds or anything on the network.

Diff:
--- a/widgets.py
+++ b/widgets.py"""
JUDGE = """You are an expert evaluator. {text}

Respond only with JSON: {{"verdict": "pass" | "fail"}}."""
NOTIFIED = "<task-notification>\n<task-id>b1en6q7cs</task-id>\n<status>completed</status>\n<summary>{text}</summary>\n</task-notification>"

QUOTED = frozenset({"assistant"})
CALLED = frozenset({"assistant", "done"})
"""What the assistant wrote into a call of its own: shown as what was done."""
TASKED = frozenset({"task"})
NOBODY: frozenset[str] = frozenset()
WAYS: dict[str, tuple[Made, frozenset[str]]] = {
    "tool output, quoted by the assistant": (quoted, QUOTED),
    "tool output": (printed, NOBODY),
    "error of a command": (failed("Bash", "Exit code 2\nError: {}", command="make widgets"), NOBODY),
    "error of a command, last line": (
        failed("Bash", "Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError: {}", command="python a.py"), NOBODY),
    "error of an MCP tool": (failed("mcp__widgets__ask", "Error: {}", question="how?"), NOBODY),
    "error of an edit": (failed("Edit", "<tool_use_error>String to replace not found. {}</tool_use_error>", file_path="/a.py", old_string="a", new_string="b"), NOBODY),
    "reason for a refusal, of an MCP tool": (failed("mcp__widgets__ask", REASON + "{}", question="how?"), NOBODY),
    "reason for a refusal, in a command's output": (failed("Bash", "Exit code 1\n" + REASON + "{}", command="make widgets"), NOBODY),
    "the client's refusal: not read yet": (
        failed("Edit", "<tool_use_error>File has not been read yet. Read it first before writing to it. {}</tool_use_error>", file_path="/a.py", old_string="a", new_string="b"), NOBODY),
    "the client's refusal: blocked by a hook": (
        failed("Bash", "PreToolUse:Bash hook error: [guard.sh]: {}", command="make widgets"), NOBODY),
    "the client's refusal: permission": (
        failed("Bash", REJECTED + "\n\nNote: {}", command="make widgets"), NOBODY),
    "paste: mail": (pasted(MAIL), NOBODY),
    "paste: reply": (pasted(REPLY), NOBODY),
    "paste: log": (pasted(LOG), NOBODY),
    "paste: list of others": (pasted(LISTED), NOBODY),
    "paste: plan": (pasted(PLAN), NOBODY),
    "paste: README": (pasted(README), NOBODY),
    "paste: AGENTS.md": (pasted(AGENTS), NOBODY),
    "paste: chat": (pasted(CHAT), NOBODY),
    "paste: table": (pasted(TABLE), NOBODY),
    "paste: ticket": (pasted(FORM), NOBODY),
    "program: <task>": (prompted(TASK, entrypoint="sdk-cli"), TASKED),
    "program: <task>, interactive": (prompted(TASK), TASKED),
    "program: teammate": (prompted(PEER), TASKED),
    "program: peer": (prompted(CROSS), TASKED),
    "program: reviewer, -p": (prompted(REVIEWER, entrypoint="sdk-cli"), TASKED),
    "program: evaluator, SDK": (prompted(JUDGE, entrypoint="sdk-py"), TASKED),
    "program: notification": (prompted(NOTIFIED), TASKED),
    "subagent's task": (sidechain, frozenset({"assistant", "task"})),
    "queue and attachments": (queued, NOBODY),
    "blocks of the client": (reminded, NOBODY),
    "name of a file": (named("file"), CALLED),
    "name of a branch": (named("branch"), NOBODY),
    "name of a tool": (named("tool"), CALLED),
    "title of a session": (named("title"), NOBODY),
    "messages of commits": (commits, NOBODY),
}  # fmt: skip
"""By the way's name: what makes its sessions, and whom the words may truly be shown as said by."""
