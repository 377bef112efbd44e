"""Secrets of every form, planted by every way in; then every byte that was written is searched for them.

Each planting has a value of its own. The ways: every field of every hook's input, every kind of a transcript's
line, arguments of the command line and of the MCP tools, every kind of file that is imported. Names of
folders and paths of transcripts are kept as they are, as docs/security.md says: they are counted apart.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from attacks import agents, disk, formats
from attacks.house import REASON, House, Turn, at_once, result, talk, use, words

EXCEPTIONS = ("name of a folder", "path of a transcript")
"""Ways whose values are kept, as docs/security.md says."""
NOTES, SPOOLED = "notes", "spool left by hooks"
Put = Callable[[str], str]
"""Takes a way's name, makes a secret of the form in hand, notes it, and gives the text to plant."""


@dataclass
class Ledger:
    """What was planted: by value, the way and the form."""

    chance: formats.Chance
    owners: dict[str, tuple[str, str]] = field(default_factory=dict)
    planted: dict[tuple[str, str], int] = field(default_factory=dict)

    def put(self, form: str, way: str) -> str:
        """Make a secret, note it, and return the text to plant."""
        secret = formats.FORMATS[form](self.chance)
        for value in secret.values:
            self.owners[value] = (way, form)
        self.planted[way, form] = self.planted.get((way, form), 0) + 1
        return secret.text


def run(made: House, chosen: Iterable[str], seed: int) -> dict[str, Any]:
    """Plant, back up, stop, search; return the tables and the misses."""
    ledger = Ledger(formats.Chance(seed))
    forms = list(chosen)
    Path(made.claude, "CLAUDE.md").write_text(formats.RULES, encoding="utf-8")
    notes = os.path.join(made.root, NOTES)
    os.mkdir(notes)
    made.cli("config", "set", "daily_notes", notes)
    marked = made.folder("marked")
    made.cli("init", marked)
    with made.alone():
        for form in forms:
            without_daemon(made, partial(ledger.put, form), marked)
        # The next daemon takes it away.
        shutil.copytree(made.home.spool, os.path.join(made.root, SPOOLED))
    for place, form in enumerate(forms):
        put = partial(ledger.put, form)
        # Half of it into a project with a store of its own.
        cwd = marked if place % 2 else made.folder("plain")
        sessions(made, put, cwd)
        hooks(made, put, cwd)
    made.calm()
    at_once(lambda form: command_line(made, partial(ledger.put, form), marked), forms)
    with agents.tools(made, made.folder("plain")) as server:
        for form in forms:
            mcp(made, server, partial(ledger.put, form))
    files(made, ledger, forms, made.folder("plain"))
    made.calm()
    kept(made, ledger, forms)
    made.calm()
    made.cli("backup")
    made.cli("doctor", "--no-start")
    made.daemon.stop()
    return judged(made, ledger, (notes, marked, os.path.join(made.root, SPOOLED)))


def judged(made: House, ledger: Ledger, folders: Iterable[str]) -> dict[str, Any]:
    """Search the data home, the given folders and the daemon's temporary files; return the tables."""
    needles = disk.Needles(ledger.owners)
    programs = [made.home.path(name) for name in ("runtime", "models", "app")]
    done = disk.search([made.home.root, made.temporary, *folders], needles, programs)
    return {**tables(made, ledger, done), "searched": [
        {"files": done.files, "MB": round(done.bytes / 1e6, 1), "not readable": len(done.unread),
         "values": len(ledger.owners)}
    ], "unread": done.unread}  # fmt: skip


def tables(made: House, ledger: Ledger, done: disk.Searched) -> dict[str, Any]:
    """Return by way, by form and by kind of file what was planted and what of it was found."""
    found: dict[tuple[str, str], set[str]] = {}
    misses = []
    for value, paths in done.found.items():
        way, form = ledger.owners[value]
        places = {_kind(made, path) for path in paths}
        found.setdefault((way, form), set()).update(places)
        if way not in EXCEPTIONS:
            misses.append({"way": way, "form": form, "files": sorted(places), "value": value})
    by_way = _by(ledger, found, 0, "way")
    allowed = [row for row in by_way if row["way"] in EXCEPTIONS]
    counted = [row for row in by_way if row["way"] not in EXCEPTIONS]
    by_form = _by(
        ledger,
        {key: places for key, places in found.items() if key[0] not in EXCEPTIONS},
        1,
        "form",
    )
    return {
        "by way": counted,
        "by form": by_form,
        "kept, as docs/security.md says": allowed,
        "misses": misses,
    }


def _by(
    ledger: Ledger, found: dict[tuple[str, str], set[str]], place: int, name: str
) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    where: dict[str, set[str]] = {}
    for key, count in ledger.planted.items():
        row = rows.setdefault(key[place], {name: key[place], "planted": 0, "on the disk": 0})
        row["planted"] += count
        if key in found:
            row["on the disk"] += 1
            where.setdefault(key[place], set()).update(found[key])
    for key, row in rows.items():
        row["where"] = ", ".join(sorted(where.get(key, ())))
    return list(rows.values())


def _kind(made: House, path: str) -> str:
    """Return what sort of file holds something: its place, without names of its own."""
    for root in (made.home.root, made.root):
        if path.startswith(root + "/"):
            path = path[len(root) + 1 :]
            break
    parts = path.split("/")
    if "lance" in parts:
        return "search index"
    if ".memory" in parts:
        return f".memory: {PLACES.get(parts[-1].split(' ')[0].split('-')[0], 'other')}"
    if parts[0] == "global":
        return PLACES.get(parts[-1].split(" ")[0].split("-")[0], "matrix")
    return parts[0].split("-")[0].split(" ")[0]


PLACES = {"journal.db": "journal"}


# -- transcripts --


def told(text: str) -> str:
    """Return a text among ordinary words, as it is said."""
    return f"This is what came out when the widgets were built:\n{text}\nPlease go on with the next hall."


def sessions(made: House, put: Put, cwd: str) -> None:
    """Read a session that holds a secret in every kind of line."""
    session = made.session()
    path = made.transcript(cwd, session, talk(session, cwd, _turns(put)))
    common = {"session_id": session, "transcript_path": path}
    made.event(
        "stop", cwd, stop_hook_active=False, last_assistant_message="Done with all halls.", **common
    )
    made.event("session_end", cwd, reason="other", **common)
    other = made.session()
    lines = talk(
        other,
        cwd,
        [
            ("user", "Count the widgets of the hall, please."),
            ("assistant", [words("There are nineteen widgets in the hall.")]),
        ],
    )
    names = {"sessionId": put("transcript: session id"), "gitBranch": put("transcript: branch"),
             "version": put("transcript: version"), "slug": put("transcript: slug")}  # fmt: skip
    lines = [{**line, **names} for line in lines]
    path = made.transcript(cwd, other, lines)
    made.event("session_end", cwd, reason="other", session_id=other, transcript_path=path)


def _turns(put: Put) -> list[Turn]:
    """Return turns with a secret in each kind of line."""
    return [turn for make in (_spoken, _called, _answered, _other) for turn in make(put)]


def _spoken(put: Put) -> list[Turn]:
    at = partial(_at, put)
    return [
        ("user", at("user")),
        ("assistant", [words(at("assistant")), {"type": "thinking", "thinking": at("thinking")}]),
        ("user", [words(at("user, block")), {"type": "image", "source": {"data": put("transcript: image")}}]),
        ("assistant", [words(f"We decided to use this: {put('transcript: decision')}")]),
        ("user", f"Always use this one from now on: {put('transcript: preference')}"),
        ("assistant", [words(f"```\n{put('transcript: code block')}\n```\nThat is the whole of it.")]),
        ("user", f"TODO: replace {put('transcript: list')}\n- [x] done with {put('transcript: ticked box')}"),
        ("assistant", [words(f"| name | value |\n| --- | --- |\n| a | {put('transcript: table')} |")]),
    ]  # fmt: skip


def _at(put: Put, way: str) -> str:
    return told(put(f"transcript: {way}"))


CALLS = {
    "Bash": ("command", "description"), "Edit": ("file_path", "old_string", "new_string"),
    "Write": ("file_path", "content"), "Read": ("file_path",), "Grep": ("pattern", "path"),
    "WebFetch": ("url", "prompt"), "WebSearch": ("query",), "Task": ("description", "prompt"),
    "mcp__jira__search": ("query",), "Skill": ("skill",), "SendMessage": ("summary", "message"),
}  # fmt: skip


def _called(put: Put) -> list[Turn]:
    turns: list[Turn] = [("user", "Go through all halls with all tools, please.")]
    for number, (tool, fields) in enumerate(CALLS.items()):
        given = {name: put(f"transcript: {tool}.{name}") for name in fields}
        if "file_path" in given:
            given["file_path"] = f"/srv/halls/{given['file_path']}.txt"
        turns.append(("assistant", [use(f"c{number}", tool, **given)]))
        turns.append(
            (
                "user",
                [
                    result(
                        f"c{number}", told(put(f"transcript: result of {tool}")), bool(number % 2)
                    )
                ],
            )
        )
    return [*turns, ("assistant", [words("All halls were gone through with all of the tools.")])]


def _answered(put: Put) -> list[Turn]:
    plan = {"plan": _at(put, "plan")}
    answer = f'User has answered your questions: "Which?"="{put("transcript: answer")}". You can now continue'
    return [
        ("user", "Ask me where you need to, please."),
        ("assistant", [use("a1", "Bash", command="make halls")]),
        ("user", [result("a1", REASON + _at(put, "reason for a refusal"), True)]),
        ("assistant", [use("a2", "AskUserQuestion", question="Which?")]),
        ("user", [result("a2", answer)]),
        ("assistant", [use("a3", "ExitPlanMode", **plan)]),
        ("user", [result("a3", [words(_at(put, "result, blocks"))])]),
        ("assistant", [use("a4", "Bash", command=f"make {put('transcript: failing command')}")]),
        ("user", [result("a4", f"Exit code 2\nError: cannot open {put('transcript: error')}", True)]),
        ("assistant", [use("a5", "Edit", file_path="a.py", old_string="x", new_string=put("transcript: fix"))]),
        ("user", [result("a5", "The file was updated.")]),
        ("assistant", [use("a6", "Bash", command="make halls")]),
        ("user", [result("a6", "ok")]),
        ("assistant", [words("The halls are made again.")]),
    ]  # fmt: skip


def _other(put: Put) -> list[Turn]:
    def user(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": text}, **more}

    queued = {
        "type": "queued_command",
        "commandMode": "prompt",
        "prompt": _at(put, "queued prompt"),
    }
    attached = {"type": "file", "filename": put("transcript: name of an attachment"),
                "content": put("transcript: attachment")}  # fmt: skip
    side = {"isSidechain": True, "agentId": "a4ca7529859c158c2"}
    return [
        ("raw", {"type": "summary", "summary": put("transcript: summary"), "leafUuid": "x"}),
        ("raw", {"type": "ai-title", "aiTitle": put("transcript: title"), "title": put("transcript: title")}),
        ("raw", {"type": "attachment", "attachment": queued}),
        ("raw", {"type": "attachment", "attachment": attached}),
        ("raw", {"type": "queue-operation", "operation": "enqueue", "content": put("transcript: queue")}),
        ("raw", {"type": "system", "subtype": "local_command", "content": put("transcript: system")}),
        ("raw", user(_at(put, "compact summary"), isCompactSummary=True)),
        ("raw", user(_at(put, "meta"), isMeta=True)),
        ("raw", user(_at(put, "subagent's task"), **side)),
        ("raw", user("Next hall, please.", toolUseResult={"stdout": put("transcript: toolUseResult")})),
        ("assistant", [words("It is the next hall's turn now.")]),
        ("user", f"<command-name>/plan</command-name><command-args>{put('transcript: command')}</command-args>"),
        ("assistant", [words("The plan of the halls is ready.")]),
        ("user", f"<bash-input>{put('transcript: shell escape')}</bash-input>"),
        ("user", f"<bash-stdout>{put('transcript: output of an escape')}</bash-stdout>"),
        ("assistant", [words("That is what the shell said of the halls.")]),
    ]  # fmt: skip


# -- hooks --


def hooks(made: House, put: Put, cwd: str) -> None:
    """Tell a session's events, with a secret in every field."""
    session = made.session()
    turns: list[Turn] = [
        ("user", "Count the widgets of this hall, please."),
        ("assistant", [words("There are nineteen widgets in this hall.")]),
    ]
    path = made.transcript(cwd, session, talk(session, cwd, turns))
    common = {"session_id": session, "transcript_path": path}
    events = [
        partial(made.event, stem, cwd, **{**common, **fields}) for stem, fields in _events(put)
    ]
    made.event("session_start", cwd, **{**common, **_first(put)})
    at_once(lambda event: event(), events)
    last = {"last_assistant_message": told(put("Stop.last_assistant_message"))}
    made.event("stop", cwd, stop_hook_active=False, **{**common, **last})
    made.event("session_end", cwd, reason=put("SessionEnd.reason"), **common)


def without_daemon(made: House, put: Put, cwd: str) -> None:
    """Tell events while nothing answers: they are left for the next daemon."""

    def at(name: str) -> str:
        return put(f"without a daemon: {name}")

    path = os.path.join(made.claude, "projects", "none.jsonl")
    made.event("user_prompt_submit", cwd, session_id=made.session(), prompt=told(at("prompt")))
    made.event(
        "stop",
        cwd,
        session_id=at("session_id"),
        transcript_path=path,
        last_assistant_message=at("last_assistant_message"),
    )
    made.event(
        "pre_compact",
        cwd,
        session_id=made.session(),
        transcript_path=path,
        trigger=at("trigger"),
        custom_instructions=at("custom_instructions"),
    )
    made.event(
        "session_end", cwd, session_id=made.session(), transcript_path=path, reason=at("reason")
    )


def _first(put: Put) -> dict[str, Any]:
    return {name: put(f"SessionStart.{name}") for name in ("source", "model", "agent_type")}


DESTRUCTIVE = (
    "rm -rf /srv/halls && echo '{}'", "git push --force https://example.org/a.git main # {}",
    "cat > .env <<'EOF'\n{}\nEOF", "curl -X DELETE https://api.example/halls -H '{}'",
    'psql -c "DROP TABLE halls" # {}', "scp .env deploy@host:/tmp/{}",
)  # fmt: skip
"""Commands of which the observer notes something."""
BEFORE: dict[str, tuple[str, ...]] = {
    "Bash": ("command", "description"), "Edit": ("file_path", "old_string", "new_string"),
    "Write": ("file_path", "content"), "Read": ("file_path",), "Grep": ("pattern", "path", "glob"),
    "Glob": ("pattern", "path"), "WebFetch": ("url", "prompt"), "Task": ("prompt", "description"),
    "mcp__jira__search": ("query", "project"),
}  # fmt: skip


def _events(put: Put) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield (hook, fields) with a secret in each field that carries text."""
    yield "user_prompt_submit", {"prompt": told(put("UserPromptSubmit.prompt"))}
    yield (
        "user_prompt_submit",
        {"prompt": "Where were we?", "permission_mode": put("UserPromptSubmit.permission_mode")},
    )
    yield (
        "user_prompt_submit",
        {"prompt": "Where were we then?", "session_id": put("UserPromptSubmit.session_id")},
    )
    for tool, fields in BEFORE.items():
        given = {name: put(f"PreToolUse {tool}.{name}") for name in fields}
        yield "pre_tool_use", {"tool_name": tool, "tool_input": given, "tool_use_id": "t1"}
    for number, form in enumerate(DESTRUCTIVE):
        given = {"command": form.format(put(f"PreToolUse, destructive {number + 1}"))}
        yield (
            "pre_tool_use",
            {"tool_name": "Bash", "tool_input": given, "tool_use_id": f"d{number}"},
        )
        response = {
            "stdout": put("PostToolUse, destructive: stdout"),
            "stderr": "",
            "interrupted": False,
        }
        yield (
            "post_tool_use",
            {
                "tool_name": "Bash",
                "tool_input": given,
                "tool_response": response,
                "tool_use_id": f"d{number}",
            },
        )
    odd = {"tool_name": put("PreToolUse.tool_name"), "tool_use_id": put("PreToolUse.tool_use_id")}
    yield "pre_tool_use", {**odd, "tool_input": {"command": "ls"}}
    response = {
        "stdout": told(put("PostToolUse.stdout")),
        "stderr": put("PostToolUse.stderr"),
        "interrupted": False,
    }
    given = {"command": f"grep -rn halls . # {put('PostToolUse.command')}"}
    yield (
        "post_tool_use",
        {"tool_name": "Bash", "tool_input": given, "tool_response": response, "tool_use_id": "t2"},
    )
    content = [{"type": "text", "text": put("PostToolUse, MCP response")}]
    yield (
        "post_tool_use",
        {
            "tool_name": "mcp__jira__search",
            "tool_input": {"query": put("PostToolUse, MCP query")},
            "tool_response": content,
            "tool_use_id": "t3",
        },
    )
    yield "post_tool_use_failure", {
        "tool_name": "Bash", "tool_input": {"command": f"make halls {put('PostToolUseFailure.command')}"},
        "error": f"Exit code 2\nError: {put('PostToolUseFailure.error')}", "tool_use_id": "t4",
    }  # fmt: skip
    agent = {"agent_id": put("SubagentStop.agent_id"), "agent_type": put("SubagentStop.agent_type"),
             "last_assistant_message": told(put("SubagentStop.last_assistant_message"))}  # fmt: skip
    yield "subagent_stop", {"stop_hook_active": False, **agent}
    yield (
        "pre_compact",
        {"trigger": "manual", "custom_instructions": put("PreCompact.custom_instructions")},
    )
    yield (
        "pre_compact",
        {"trigger": put("PreCompact.trigger"), "session_id": put("PreCompact.session_id")},
    )


# -- the command line --


def command_line(made: House, put: Put, cwd: str) -> None:
    """Give commands a secret in every argument."""

    def at(way: str) -> str:
        return put(f"cli {way}")

    noted = made.asked("remember", told(at("remember TEXT")), "--tag", at("remember --tag"), "--kind", at("remember --kind")[:60], cwd=cwd) or {}  # fmt: skip
    made.cli("remember", "-", cwd=cwd, stdin=told(at("remember, stdin")).encode())
    some = ("--tag", at("recall --tag"), "--kind", at("recall --kind"), "--entity", at("recall --entity"), "--session", at("recall --session"))  # fmt: skip
    made.cli("recall", at("recall QUERY"), *some, cwd=cwd)
    some = ("--tag", at("list --tag"), "--kind", at("list --kind"), "--entity", at("list --entity"), "--session", at("list --session"))  # fmt: skip
    made.cli("list", *some, cwd=cwd)
    batch = json.dumps({"query": at("recall --batch"), "project": cwd}).encode()
    made.cli("recall", "--batch", "-", cwd=cwd, stdin=batch)
    id = str(noted.get("id") or "0" * 32)
    made.cli("edit", id, "--text", told(at("edit --text")), "--tag", at("edit --tag"), "--kind", at("edit --kind"), cwd=cwd)  # fmt: skip
    made.cli("link", id, at("link TO"), cwd=cwd)
    made.cli("forget", "--query", at("forget --query"), "--dry-run", cwd=cwd)
    made.cli("forget", "--tag", at("forget --tag"), "--dry-run", cwd=cwd)
    made.cli("purge", "--text", at("purge --text"), "--yes", cwd=cwd)
    made.cli(
        "flags", "--session", at("flags --session"), "--category", at("flags --category"), cwd=cwd
    )
    made.cli("topics", at("topics SESSION"), cwd=cwd)
    made.cli("show", at("show ID"), cwd=cwd)
    made.cli("audit", "--action", at("audit --action"), cwd=cwd)
    made.cli("import", at("import FILE, missing"), cwd=cwd)
    made.cli("backfill", "--session", at("backfill --session"), cwd=cwd)
    made.cli("config", "set", at("config set NAME"), "1", cwd=cwd)


# -- the MCP server --


def mcp(made: House, server: agents.Tools, put: Put) -> None:
    """Give tools a secret in every argument."""

    def at(way: str) -> str:
        return put(f"MCP {way}")

    stored = server.call("memory_store", text=told(at("memory_store.text")), kind="decision",
                         tags=[at("memory_store.tags")], files=[at("memory_store.files")])  # fmt: skip
    # A kind that there is none of is refused.
    server.call("memory_store", text=told("a kind"), kind=at("memory_store.kind")[:60])
    server.call("memory_recall", query="a kind", kinds=[at("memory_recall.kinds")])
    server.call("memory_store", text=at("memory_store.text, alone"), short_term=True)
    server.call(
        "memory_recall",
        query=at("memory_recall.query"),
        kinds=["decision"],
        tags=[at("memory_recall.tags")],
    )
    server.call(
        "memory_scratch",
        action="set",
        key=at("memory_scratch.key")[:100],
        text=at("memory_scratch.text"),
    )
    server.call("procedure", action="store", name=at("procedure.name")[:300], steps=[at("procedure.steps")],
                when=at("procedure.when"), tags=[at("procedure.tags")])  # fmt: skip
    server.call(
        "learning",
        action="store",
        text=at("learning.text"),
        why=at("learning.why"),
        files=[at("learning.files")],
    )
    server.call("episode", action="store", what=at("episode.what"), outcome=at("episode.outcome"))
    server.call(
        "trajectory",
        action="store",
        task=at("trajectory.task")[:300],
        steps=[at("trajectory.steps")],
        outcome="success",
    )
    server.call("rag_search", query=at("rag_search.query"))
    server.call("memory_summarize", query=at("memory_summarize.query"))
    server.call("contradiction_check", text=at("contradiction_check.text"))
    server.call("memory_impact", file=at("memory_impact.file"))
    server.call("memory_trace", query=at("memory_trace.query"))
    server.call("session_recalled", session=at("session_recalled.session"))
    server.call("memory_forget", query=at("memory_forget.query"))
    server.call("import_markdown_memories", path=at("import_markdown_memories.path"))
    id = (stored.get("memory") or {}).get("id")
    if id:
        server.call("memory_verify", id=id, verdict="confirmed", note=at("memory_verify.note"))
        server.call(
            "update_memory",
            id=id,
            text=told(at("update_memory.text")),
            tags=[at("update_memory.tags")],
        )


# -- files --


def files(made: House, ledger: Ledger, forms: list[str], cwd: str) -> None:
    """Import files that hold a secret in every field of every format."""
    rows, claims, graph, page, rollouts = [], [], [], [], []
    for number, form in enumerate(forms):
        put = partial(ledger.put, form)
        row: dict[str, Any] = {
            name: put(f"JSON lines: {name}")
            for name in ("title", "kind", "speaker", "session", "id")
        }
        row |= {
            "text": told(put("JSON lines: text")),
            "tags": [put("JSON lines: tags")],
            "files": [put("JSON lines: files")],
        }
        rows.append(row)
        text = f"Hall {number} has {number} widgets, {put('our export: text')}"
        source = {"path": f"/notes/{put('our export: source.path')}", "lines": [1, 2]}
        claims.append({
            "text": text, "id": put("our export: id"), "external_id": put("our export: external_id"),
            "project_id": put("our export: project_id"), "origin": "import", "source": source,
            "collection": put("our export: collection"), "jurisdiction": put("our export: jurisdiction"),
            "speaker": put("our export: speaker"),
        })  # fmt: skip
        graph.append({"type": "entity", "name": put("graph: name"), "entityType": put("graph: entityType"),
                      "observations": [put("graph: observation")]})  # fmt: skip
        graph.append({"type": "relation", "from": f"hall {number}", "to": put("graph: to"),
                      "relationType": put("graph: relationType")})  # fmt: skip
        page.append(_page(put))
        rollouts += _rollout(put, cwd, number)
    for name, lines in (("rows.jsonl", rows), ("export.jsonl", claims), ("graph.jsonl", graph)):
        path = made.file(name, "".join(json.dumps(line) + "\n" for line in lines))
        made.ask("import", path=path, project=cwd, wait=False)
    notes = [made.file("halls.md", "\n".join(page))]
    for number, form in enumerate(forms):
        name = ledger.put(form, "Markdown: name of the file").replace("/", "-")
        tag = " ".join(ledger.put(form, "Markdown: front matter").split())
        front = f"---\ntags: [{json.dumps(tag)}]\ntitle: {json.dumps(tag)}\n---\n"
        if len(name.encode()) < 200:
            notes.append(
                made.file(f"{name}.md", f"{front}\n- We use the hall {number} on Mondays.\n")
            )
    made.ask("import_notes", paths=notes, project=cwd, foreign=False, wait=False)
    Path(made.root, "rollout-halls.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in rollouts)
    )
    made.ask("backfill", paths=[os.path.join(made.root, "rollout-halls.jsonl")], wait=False)
    _client_memory(made, ledger, forms, cwd)


def _page(put: Put) -> str:
    line = " ".join(put("Markdown: table").split())
    return (
        f"# Hall, {' '.join(put('Markdown: heading').split())}\n\n{told(put('Markdown: paragraph'))}\n\n"
        f"- We use this one: {' '.join(put('Markdown: item').split())}\n"
        f"  - nested: {' '.join(put('Markdown: nested item').split())}\n\n"
        f"Run it so:\n\n```sh\n{put('Markdown: code')}\n```\n\n| name | value |\n| --- | --- |\n| a | {line} |\n\n"
    )


def _rollout(put: Put, cwd: str, number: int) -> list[dict[str, Any]]:
    at = datetime(2026, 5, 3, tzinfo=timezone.utc).isoformat()

    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": at, "type": "response_item", "payload": payload}

    def said(role: str, kind: str, text: str) -> dict[str, Any]:
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    head = {
        "timestamp": at,
        "type": "session_meta",
        "payload": {"id": f"halls-{number}", "cwd": cwd},
    }
    call = json.dumps({"command": ["bash", "-lc", put("rollout: command")]})
    return [
        *([] if number else [head]),
        said("user", "input_text", told(put("rollout: user"))),
        item(type="function_call", name="shell", call_id=f"c{number}", arguments=call),
        item(type="function_call_output", call_id=f"c{number}", output=put("rollout: output")),
        said("assistant", "output_text", told(put("rollout: assistant"))),
    ]


def _client_memory(made: House, ledger: Ledger, forms: list[str], cwd: str) -> None:
    """Have the client's own memory of the project read."""
    session = made.session()
    turns: list[Turn] = [
        ("user", "Count the widgets once more, please."),
        ("assistant", [words("There are still nineteen of them.")]),
    ]
    path = made.transcript(cwd, session, talk(session, cwd, turns))
    lines = [" ".join(ledger.put(form, "MEMORY.md").split()) for form in forms]
    folder = Path(path).parent / "memory"
    folder.mkdir(exist_ok=True)
    (folder / "MEMORY.md").write_text(
        "# Halls\n\n" + "".join(f"- The hall has {line}\n" for line in lines)
    )
    made.event("session_end", cwd, session_id=session, transcript_path=path, reason="other")


def kept(made: House, ledger: Ledger, forms: list[str]) -> None:
    """Plant what is kept as it is: in the name of a folder, and in the path of a transcript."""
    for form in forms:
        name = ledger.put(form, EXCEPTIONS[0])
        if "/" in name or "\0" in name or len(name.encode()) > 200:
            continue
        session, cwd = made.session(), made.folder(name)
        turns: list[Turn] = [
            ("user", "Count the widgets here too, please."),
            ("assistant", [words("There are twenty of them in this folder.")]),
        ]
        lines = talk(session, cwd, turns)
        path = made.transcript(cwd, session, lines)
        beside = ledger.put(form, EXCEPTIONS[1])
        if "/" not in beside and len(beside.encode()) < 200:
            renamed = os.path.join(os.path.dirname(path), f"{beside}.jsonl")
            os.rename(path, renamed)
            path = renamed
        made.event("session_end", cwd, session_id=session, transcript_path=path, reason="other")
