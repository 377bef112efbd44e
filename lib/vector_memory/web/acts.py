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


def filters(call: WebCall, *own: str) -> Json:
    """Return what was given, in the daemon's words, with the project that is meant.

    Args:
        own: what is for the gateway itself.
    """
    given = {
        TO_DAEMON.get(name, name): value
        for name, value in call.arguments.items()
        if name not in ("project", "global", *own)
    }
    return {**call.scope(), **given}


def recall(call: WebCall) -> Json:
    """Return what answers a question, best first."""
    least = call.arguments.get("threshold") or 0
    answer = call.ask("recall", **{"k": 5, **filters(call, "threshold")})
    results = [_result(hit) for hit in answer["hits"] if hit["relevance"] >= least]
    return {"results": results, "mode": answer["mode"], "note": answer.get("note") or ""}


def _result(hit: Json) -> Json:
    about = {name: hit[name] for name in ("score", "relevance", "fits", "breakdown")}
    return {"memory": {name: hit[name] for name in hit if name not in about}, **about}


def rag(call: WebCall) -> Json:
    """Return what answers a question, of the vault and all collections."""
    # Those of the vault are named beside the others: `collections`, not `collection`.
    named = call.arguments.get("collections")
    answer = call.ask("rag", **filters(call, "collections"), collections=named)
    return {"results": [_result(hit) for hit in answer["hits"]], "vault": answer["vault"]}


@dataclass(frozen=True)
class ListCursor:
    """Where a page of a list ends: memories before a moment, less the first so many of them, and how many
    there were at the beginning. What is stored meanwhile moves nothing."""

    before: str
    skip: int
    total: int

    def written(self) -> str:
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
    asked = filters(call, "cursor", "counted")
    is_by_time = asked.get("sort") in (None, "newest")
    size = asked.get("k") or 20
    after = cursor_of(call.arguments["cursor"]) if "cursor" in call.arguments else None
    if after and not is_by_time:
        raise BadInputError("A cursor goes on with the newest first.", "Give offset, or no sort.")
    if after:
        asked |= {"until": after.before, "offset": after.skip}
    counted = not after and call.arguments.get("counted", True)
    # One more than is shown tells whether there is another page.
    answer = call.ask("list", **{**asked, "k": size + 1, "counted": counted})
    memories = answer["memories"][:size]
    total = after.total if after else answer.get("total", 0)
    page: Json = {"memories": memories, "total": total}
    if len(answer["memories"]) > size and is_by_time:
        page["next"] = _after(memories, after, total).written()
    return page


def _after(memories: list[Json], last: ListCursor | None, total: int) -> ListCursor:
    """Return the cursor behind a page: what has its last memory's time is counted, not left out."""
    end = memories[-1]["created_at"]
    before = (datetime.fromisoformat(end) + timedelta(microseconds=1)).isoformat()
    same = sum(memory["created_at"] == end for memory in memories)
    if last and last.before == before:
        same += last.skip
    return ListCursor(before, same, total)


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
    given = dict(call.arguments)
    kind = given.pop("type", None)
    for name in ("project", "global"):
        given.pop(name, None)
    if kind is not None:
        given.setdefault("kind", kind)
    if given.get("supersedes"):
        given["supersedes"] = call.memory(given["supersedes"])["id"]
    # What takes the place of another is stored where that is, unless a project is named.
    is_named = call.arguments.get("project") or call.arguments.get("global")
    scope = call.scope(writes=True) if is_named or not given.get("supersedes") else {}
    answer = call.ask("remember", **scope, **given)
    action, others = answer["action"], []
    if call.token.may("read"):
        of = [answer["of"]] if answer.get("of") else []
        others = [tie["id"] for tie in answer.get("links") or ()] or of
    elif action != "proposed" and "supersedes" not in given:
        action = "stored"
    state = {"id": answer["id"], "status": action, "action": action}
    return {**state, "others": others, "redactions": answer["redactions"]}


def edit(call: WebCall) -> Json:
    """Change a memory; with `If-Match` only as it was read."""
    with editing:
        memory = call.memory(call.path["id"])
        expected = call.headers.get("if-match")
        if expected not in (None, "*", etag_of(show(call))):
            raise ConflictError("The memory has changed since it was read.", "Read it again.")
        changed: Json = call.ask("edit", id=memory["id"], **call.arguments)["memory"]
    # Who may write does not thereby read.
    return {"memory": changed if call.token.may("read") else {"id": changed["id"]}}


def forget(call: WebCall) -> Json:
    """Show what would be forgotten; forget it when that is confirmed."""
    given = call.arguments
    if "confirm" in given:
        ids = call.confirmations.take(given["confirm"], call.token.id)
        if ids is None:
            raise ConflictError("There is nothing to confirm any more.", "Look at it again.")
        gone = call.ask("forget", ids=ids)
        return {"memories": [], "forgotten": gone["forgotten"]}
    named = [*given.get("ids", ()), *([given["id"]] if "id" in given else ())]
    filtered = {name: given.get(name) for name in ("query", "tags")}
    if not named and not any(filtered.values()) and "date_before" not in given:
        raise BadInputError("Forget what?", "Name ids, or give query, tags or date_before.")
    which: Json = {"ids": [call.memory(id)["id"] for id in named]}
    if not named:
        which = {**call.scope(), "query": filtered["query"], "tag": filtered["tags"]}
        which["until"] = given.get("date_before")
    shown = call.ask("forget", dry_run=True, **which)["memories"]
    ids = list(dict.fromkeys(memory["id"] for memory in shown))
    if given.get("dry_run", True) or not named:
        confirm = call.confirmations.make(ids, call.token.id) if ids else ""
        return {"memories": shown, "forgotten": 0, "confirm": confirm}
    return {"memories": shown, "forgotten": call.ask("forget", ids=ids)["forgotten"]}


def link(call: WebCall) -> Json:
    """Link two memories, or remove their links."""
    ends = {name: call.memory(call.arguments[name])["id"] for name in ("from", "to")}
    more = {name: call.arguments.get(name) for name in ("relation", "remove")}
    return call.ask("link", **{**ends, **more})


def feed(call: WebCall) -> Json:
    """Take over messages of a conversation."""
    given = {
        name: value for name, value in call.arguments.items() if name not in ("project", "cwd")
    }
    given.setdefault("client", call.token.name)
    call.arguments.setdefault("project", call.arguments.get("cwd", call.token.project or None))
    where = call.scope(writes=True)
    return call.ask("feed", **where, **given, speaks_for_me=call.token.is_the_users)


def context(call: WebCall) -> Json:
    """Return what memory has to say to the last message of the user."""
    given = call.arguments
    texts = [
        message["text"] for message in given["messages"] if message["role"] in ("user", "assistant")
    ]
    if not texts or not texts[-1].strip():
        raise BadInputError("There is no message to answer.", "Send the last few messages.")
    return call.ask(
        "context",
        **call.scope(writes=True),
        session=given["session"],
        client=given.get("client", call.token.name),
        text=texts[-1],
        before="\n".join(texts[-3:-1]),
        tokens=given.get("tokens"),
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


def plain(verb: str) -> Act:
    """Return what asks one question and gives its answer as it is."""
    return lambda call: call.ask(verb, **filters(call))


def export(call: WebCall) -> LINES:
    """Return all memories, one by one."""
    return call.items("export", **call.scope())
