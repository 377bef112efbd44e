"""What each call does: it asks the daemon as the command line does, and gives back what its token may see."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from vector_memory.arguments import TO_DAEMON
from vector_memory.client.link import Json
from vector_memory.errors import BadInputError
from vector_memory.web.asker import ConflictError, WebCall

LINES = Iterator[Json]
Act = Callable[[WebCall], "Json | LINES"]
_CHANGES_BY_ITSELF = ("uses", "confidence", "last_used_at", "tier")
editing = threading.Lock()


def filters(call: WebCall, *left_out: str) -> Json:
    """Return what was given, in the daemon's words, with the project that is meant.

    Args:
        left_out: what is for the gateway itself.
    """
    filled = {
        TO_DAEMON.get(name, name): value
        for name, value in call.arguments.items()
        if name not in ("project", "global", *left_out)
    }
    return {**call.scope(), **filled}


def recall(call: WebCall) -> Json:
    """Return what answers a question, best first."""
    least = call.arguments.get("threshold") or 0
    answer = call.ask("recall", **{"k": 5, **filters(call, "threshold")})
    results = [_result(hit) for hit in answer["hits"] if hit["relevance"] >= least]
    return {"results": results, "mode": answer["mode"], "note": answer.get("note") or ""}


def _result(hit: Json) -> Json:
    ratings = {name: hit[name] for name in ("score", "relevance", "fits", "breakdown")}
    return {"memory": {name: hit[name] for name in hit if name not in ratings}, **ratings}


def rag(call: WebCall) -> Json:
    """Return what answers a question, of the vault and all collections."""
    # Those of the vault are named beside the others: `collections`, not `collection`.
    collections = call.arguments.get("collections")
    answer = call.ask("rag", **filters(call, "collections"), collections=collections)
    return {"results": [_result(hit) for hit in answer["hits"]], "vault": answer["vault"]}


@dataclass(frozen=True)
class ListCursor:
    """Where the next page of a list begins: at the memories before a moment, of which the first `skip` are left out;
    `total` is how many there were on the first page. What is stored meanwhile shifts nothing."""

    before: str
    skip: int
    total: int

    def to_text(self) -> str:
        """Return it as clients are given it."""
        raw = json.dumps([self.before, self.skip, self.total]).encode("ascii")
        return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def cursor_of(text: str) -> ListCursor:
    """Return the cursor that a client sent back.

    Raises:
        BadInputError: it is none.
    """
    try:
        before, skip, total = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        datetime.fromisoformat(before)
        if type(skip) is not int or type(total) is not int or min(skip, total) < 0 or skip > 10**6:
            raise ValueError
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise BadInputError("That is no cursor.", "Send back `next` as it came.") from None
    return ListCursor(before, skip, total)


def list_memories(call: WebCall) -> Json:
    """Return memories, newest first, page by page. They are counted for the first page alone, unless `counted` is
    false: then `total` is 0."""
    fields = filters(call, "cursor", "counted")
    is_by_time = fields.get("sort") in (None, "newest")
    size = fields.get("k") or 20
    cursor = cursor_of(call.arguments["cursor"]) if "cursor" in call.arguments else None
    if cursor and not is_by_time:
        raise BadInputError("A cursor goes on with the newest first.", "Give offset, or no sort.")
    if cursor:
        fields |= {"until": cursor.before, "offset": cursor.skip}
    counted = not cursor and call.arguments.get("counted", True)
    # One more than is shown tells whether there is another page.
    answer = call.ask("list", **{**fields, "k": size + 1, "counted": counted})
    memories = answer["memories"][:size]
    total = cursor.total if cursor else answer.get("total", 0)
    page: Json = {"memories": memories, "total": total}
    if len(answer["memories"]) > size and is_by_time:
        page["next"] = _cursor_behind(memories, cursor, total).to_text()
    return page


def _cursor_behind(memories: list[Json], previous: ListCursor | None, total: int) -> ListCursor:
    """Return the cursor of the next page: of the memories with the same time as this page's last one it skips those
    that were shown."""
    last_time = memories[-1]["created_at"]
    before = (datetime.fromisoformat(last_time) + timedelta(microseconds=1)).isoformat()
    same_time_count = sum(memory["created_at"] == last_time for memory in memories)
    if previous and previous.before == before:
        same_time_count += previous.skip
    return ListCursor(before, same_time_count, total)


def show(call: WebCall) -> Json:
    """Return a memory with its links and its history."""
    memory = call.memory(call.path["id"])
    links = call.ask("links", id=memory["id"])["links"]
    return {"memory": memory, "links": links, "history": call.ask("history", id=memory["id"])}


def etag_of(answer: Json) -> str:
    """Return what tells one state of an answer from another; what mere use changes is left out."""

    def kept(value: object) -> object:
        if isinstance(value, dict):
            return {key: kept(part) for key, part in value.items() if key not in _CHANGES_BY_ITSELF}
        return [kept(part) for part in value] if isinstance(value, list) else value

    raw = json.dumps(kept(answer), sort_keys=True).encode("utf-8", "surrogatepass")
    return f'"{hashlib.blake2b(raw, digest_size=12).hexdigest()}"'


def store(call: WebCall) -> Json:
    """Store a memory. Who may not read is not told what was there."""
    fields = dict(call.arguments)
    kind = fields.pop("type", None)
    for name in ("project", "global"):
        fields.pop(name, None)
    if kind is not None:
        fields.setdefault("kind", kind)
    if fields.get("supersedes"):
        fields["supersedes"] = call.memory(fields["supersedes"])["id"]
    # What takes the place of another is stored where that is, unless a project is named.
    is_named = call.arguments.get("project") or call.arguments.get("global")
    scope = call.scope(writes=True) if is_named or not fields.get("supersedes") else {}
    answer = call.ask("remember", **scope, **fields)
    action, other_ids = answer["action"], []
    if call.token.may("read"):
        known_ids = [answer["of"]] if answer.get("of") else []
        other_ids = [tie["id"] for tie in answer.get("links") or ()] or known_ids
    elif action != "proposed" and "supersedes" not in fields:
        action = "stored"
    state = {"id": answer["id"], "status": action, "action": action}
    return {**state, "others": other_ids, "redactions": answer["redactions"]}


def edit(call: WebCall) -> Json:
    """Change a memory; with `If-Match` only as it was read."""
    with editing:
        memory = call.memory(call.path["id"])
        expected = call.headers.get("if-match")
        if expected not in (None, "*", etag_of(show(call))):
            raise ConflictError("The memory has changed since it was read.", "Read it again.")
        changed: Json = call.ask("edit", id=memory["id"], **call.arguments)["memory"]
    # The right to write is no right to read.
    return {"memory": changed if call.token.may("read") else {"id": changed["id"]}}


def forget(call: WebCall) -> Json:
    """Show what would be forgotten; forget it when that is confirmed."""
    arguments = call.arguments
    if "confirm" in arguments:
        ids = call.confirmations.redeem(arguments["confirm"], call.token.id)
        if ids is None:
            raise ConflictError("There is nothing to confirm any more.", "Look at it again.")
        answer = call.ask("forget", ids=ids)
        return {"memories": [], "forgotten": answer["forgotten"]}
    named_ids = [*arguments.get("ids", ()), *([arguments["id"]] if "id" in arguments else ())]
    filtered = {name: arguments.get(name) for name in ("query", "tags")}
    if not named_ids and not any(filtered.values()) and "date_before" not in arguments:
        raise BadInputError("Forget what?", "Name ids, or give query, tags or date_before.")
    selected: Json = {"ids": [call.memory(id)["id"] for id in named_ids]}
    if not named_ids:
        selected = {**call.scope(), "query": filtered["query"], "tag": filtered["tags"]}
        selected["until"] = arguments.get("date_before")
    memories = call.ask("forget", dry_run=True, **selected)["memories"]
    ids = list(dict.fromkeys(memory["id"] for memory in memories))
    if arguments.get("dry_run", True) or not named_ids:
        confirm = call.confirmations.make(ids, call.token.id) if ids else ""
        return {"memories": memories, "forgotten": 0, "confirm": confirm}
    return {"memories": memories, "forgotten": call.ask("forget", ids=ids)["forgotten"]}


def link(call: WebCall) -> Json:
    """Link two memories, or remove their links."""
    ends = {name: call.memory(call.arguments[name])["id"] for name in ("from", "to")}
    options = {name: call.arguments.get(name) for name in ("relation", "remove")}
    return call.ask("link", **{**ends, **options})


def feed(call: WebCall) -> Json:
    """Take over messages of a conversation."""
    fields = {
        name: value for name, value in call.arguments.items() if name not in ("project", "cwd")
    }
    fields.setdefault("client", call.token.name)
    call.arguments.setdefault("project", call.arguments.get("cwd", call.token.project or None))
    scope = call.scope(writes=True)
    return call.ask("feed", **scope, **fields, speaks_for_me=call.token.is_the_users)


def context(call: WebCall) -> Json:
    """Return what memory has to say to the last message of the user."""
    arguments = call.arguments
    texts = [
        message["text"]
        for message in arguments["messages"]
        if message["role"] in ("user", "assistant")
    ]
    if not texts or not texts[-1].strip():
        raise BadInputError("There is no message to answer.", "Send the last few messages.")
    return call.ask(
        "context",
        **call.scope(writes=True),
        session=arguments["session"],
        client=arguments.get("client", call.token.name),
        text=texts[-1],
        before="\n".join(texts[-3:-1]),
        tokens=arguments.get("tokens"),
    )


def organize(call: WebCall) -> Json:
    """Find memories that say the same; with `dry_run` false merge them."""
    dry_run = call.arguments.get("dry_run", True)
    answer = call.ask("consolidate", **call.scope(), dry_run=dry_run)
    if call.token.may("read"):
        return answer
    groups = [
        {**group, "memories": [{"id": memory["id"]} for memory in group["memories"]]}
        for group in answer["groups"]
    ]
    return {**answer, "groups": groups}


def asks(verb: str) -> Act:
    """Return what asks one question and gives its answer as it is."""
    return lambda call: call.ask(verb, **filters(call))


def export(call: WebCall) -> LINES:
    """Return all memories, one by one."""
    return call.items("export", **call.scope())
