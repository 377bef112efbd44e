"""Tools about who may do what, what shows it, and who shares what. What only the user does, the daemon refuses; the
tools that hand their arguments on as they are stand in `tools.txt` alone."""

from __future__ import annotations

from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import Json, harmless_answer, say
from vector_memory.mcp.tool import does

MOST_SHOWN = 20
DELEGATIONS = {"delegate": "delegate", "check": "check", "withdraw": "revoke", "cbom": "cbom"}
"""What of an identity is done by the verb of delegations, and as what."""


@does("compliance_dashboard")
def scores(caller: Caller, arguments: Json) -> Json:
    """Tell the scores of a report, and which controls lack evidence."""
    report = caller.ask("governance_report", arguments)
    names = ("id", "name", "score", "measured", "not_measurable")
    views = [
        {name: framework[name] for name in names}
        | {
            "missing": [
                control["id"]
                for control in framework["controls"]
                if control["state"] in ("no evidence", "partly")
            ]
        }
        for framework in report["frameworks"]
    ]
    return {"note": report["note"], "since": report["since"], "frameworks": harmless_answer(views)}


@does("agent_identity")
def identity(caller: Caller, arguments: Json) -> Json:
    """Tell the keys, or do what is asked with one or with a delegation."""
    action = arguments.get("action") or "list"
    if action in DELEGATIONS:
        view: Json = harmless_answer(
            caller.ask("delegation", {**arguments, "action": DELEGATIONS[action]})
        )
        return view
    answer = caller.ask("identity", arguments)
    key_fields, answer_fields = (
        ("id", "state", "fingerprint", "key"),
        ("is_valid", "signature", "second"),
    )
    keys = [{name: say(key[name]) for name in key_fields} for key in answer["keys"]]
    return {"keys": keys, **{name: answer[name] for name in answer_fields if name in answer}}


@does("federation")
def federation(caller: Caller, arguments: Json) -> Json:
    """Tell how sharing stands, pull what others published, or preview what the user would publish."""
    action = arguments.get("action") or "status"
    request = {"project": arguments.get("project")}
    if action == "preview":
        answer = caller.ask("share_publish", request, dry_run=True)
        preview = [
            {"kind": say(memory["kind"]), "text": say(memory["text"][:200])}
            for memory in answer["fresh"][:MOST_SHOWN]
        ]
        hint = "Nothing was published: the user runs `vector-memory share publish`."
        return {"memories": answer["memories"], "preview": preview, "hint": hint}
    if action == "pull":
        answer = caller.ask("share_pull", request)
        refused = [
            say(f"{refusal['what']}: {refusal['why']}"[:300]) for refusal in answer["refused"]
        ]
        facts: Json = {"refused": refused}
    else:
        answer = caller.ask("share_status", request)
        facts = {name: harmless_answer(answer[name]) for name in ("url", "published", "memories")}
    members = [
        {"name": say(member["name"]), "memories": member["memories"]}
        for member in answer["members"]
    ]
    return {**facts, "members": members}


@does("guardrail_proof")
def guardrail_proof(caller: Caller, arguments: Json) -> Json:
    """Sign the audit log's root, or prove that an entry is in it."""
    answer = caller.ask("prove", arguments)
    statement = answer["proof"].get("statement") or answer["proof"]
    facts = {"size": statement["size"], "root": statement["root"]}
    return {"file": say(answer["file"]), "fingerprint": answer["fingerprint"], **facts}
