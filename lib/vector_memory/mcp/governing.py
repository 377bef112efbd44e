"""Tools about who may do what, and what shows it: contracts, proofs, reports, identities, leases, votes, packs. Each hands
its arguments to the verb of its name; what only the user does, the verb refuses."""

from __future__ import annotations

from typing import Any

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import NUMBER, TEXT, WORDS, YES, Field
from vector_memory.mcp.outputs import answer
from vector_memory.mcp.telling import Json, say
from vector_memory.mcp.tool import FIELDS, Tool

PROJECT = FIELDS["project"]
ID, NAME = Field("id", TEXT, high=100), Field("name", TEXT, high=200)
SINCE = FIELDS["since"]
UNTIL = Field("until", TEXT, "When it ends.", high=60)
FRAMEWORK = Field("framework", TEXT, choices=("iso42001", "aiact", "owasp"))


def _action(*choices: str) -> Field:
    return Field("action", TEXT, f"{choices[0]} by default.", choices=choices)


def _tool(name: str, verb: str, doc: str, fields: tuple[Field, ...], answers: str, reads: bool = False) -> Tool:  # fmt: skip
    """Return a tool that hands its arguments to a verb.

    Args:
        verb: the verb of the daemon.
        doc: what the model reads of it.
        answers: its answer, as `outputs.answer` reads it.
    """

    def act(asker: Asker, arguments: Json) -> Json:
        # What stands in a pack, others wrote.
        told: Json = _said(asker.ask(verb, arguments), verb == "pack")
        return told

    return Tool(name, " ".join(doc.split()), fields, act, answer(answers), reads=reads)


def _said(value: Any, foreign: bool = False) -> Any:
    """Return an answer whose texts can do nothing but be read."""
    if isinstance(value, str):
        return say(value, foreign)
    if isinstance(value, dict):
        return {name: _said(one, foreign) for name, one in value.items()}
    return [_said(one, foreign) for one in value] if isinstance(value, list) else value


CONTRACT = _tool(
    "constitutional_contract",
    "contract",
    """Limit what agents may do here: acts that the observer knows (delete, data ...), store, recall, change, forget,
    share. A child is only narrower; only the user makes one without a parent.""",
    (
        _action("list", "create", "check", "revoke"),
        ID, NAME, Field("parent", TEXT, "Id of the one that it narrows.", high=64),
        Field("subject", TEXT, "Session or subagent type; all agents by default.", high=100),
        Field("permitted", WORDS, high=40), Field("prohibited", WORDS, high=40),
        Field("rules", WORDS, "For people to read.", high=20),
        Field("ceiling", TEXT, choices=("public", "internal", "confidential", "restricted")),
        Field("folders", WORDS, "Where it holds; everywhere by default.", high=20), UNTIL,
        Field("act", TEXT, "For check.", high=40), PROJECT,
    ),
    "contracts:array! allowed:yes broken",
)  # fmt: skip
REPORT = _tool(
    "governance_report",
    "governance_report",
    """What standards for AI ask for, and which figures of this installation speak for it. Evidence, no certificate.""",
    (SINCE, FRAMEWORK, Field("signed", YES, "With this installation's signature.")),
    "note! since! frameworks:array! markdown!",
    reads=True,
)
GAPS = _tool(
    "governance_gap_analysis",
    "governance_gaps",
    """Which controls lack evidence, the weightiest first, each with the command that brings some.""",
    (SINCE, FRAMEWORK),
    "note! gaps:array! not_measurable:count!",
    reads=True,
)


def _scores(asker: Asker, arguments: Json) -> Json:
    told = asker.ask("governance_report", arguments)
    views = [
        {name: one[name] for name in ("id", "name", "score", "measured", "not_measurable")}
        | {
            "missing": [
                control["id"]
                for control in one["controls"]
                if control["state"] in ("no evidence", "partly")
            ]
        }
        for one in told["frameworks"]
    ]
    return {"note": told["note"], "since": told["since"], "frameworks": _said(views)}


DASHBOARD = Tool(
    "compliance_dashboard",
    "Scores by ISO/IEC 42001, the EU AI Act and OWASP's agentic top ten, each with how much can be measured at all.",
    (SINCE, FRAMEWORK),
    _scores,
    answer("note! since! frameworks:array!"),
    reads=True,
)
KEYS = ("list", "create", "rotate", "revoke", "sign", "verify")
DELEGATIONS = {"delegate": "delegate", "check": "check", "withdraw": "revoke", "cbom": "cbom"}
"""What of an identity is done by the verb of delegations, and as what."""


def _identity(asker: Asker, arguments: Json) -> Json:
    action = arguments.get("action") or "list"
    if action in DELEGATIONS:
        told: Json = _said(asker.ask("delegation", {**arguments, "action": DELEGATIONS[action]}))
        return told
    answer = asker.ask("identity", arguments)
    shown = ("id", "state", "fingerprint", "key")
    keys = [{name: say(one[name]) for name in shown} for one in answer["keys"]]
    more = ("is_valid", "signature", "second")
    return {"keys": keys, **{name: answer[name] for name in more if name in answer}}


IDENTITY = Tool(
    "agent_identity",
    "This installation's signing keys; verify a signature; check a delegation; list the cryptography in use (cbom). "
    "Only the user makes, rotates and revokes keys, signs, delegates and withdraws.",
    (
        _action(*KEYS, *DELEGATIONS),
        Field("key", TEXT, "A public key: vmk1-…, or to revoke its id.", high=200),
        Field("text", TEXT, "What was signed.", high=20_000),
        Field("signature", TEXT, "In hexadecimal.", high=128),
        Field("second", TEXT, "A second one, as JSON.", high=20_000),
        ID, Field("subject", TEXT, high=200), Field("scope", WORDS, "Acts.", high=40), UNTIL,
        Field("token", TEXT, "A delegation.", high=32_000),
    ),
    _identity,
    answer("keys:array is_valid:yes token valid:yes problem delegation:object cbom:object"),
    also=("agent_delegation",),
)  # fmt: skip
ACTORS = _tool(
    "nhi_lifecycle",
    "actors",
    """Who acts here without being a person: tokens, keys, contracts, sessions; what they may, when they last did, and who
    should not any more.""",
    (
        _action("list", "review", "escalate", "terminate"),
        ID, Field("acts", WORDS, "What a contract is lifted for.", high=40),
        Field("hours", NUMBER, low=1, high=24),
    ),
    "actors:array! done",
)  # fmt: skip
LEASE = _tool(
    "parl_coordinator",
    "lease",
    """Keep out of other sessions' way: take a lease on a path, branch or task, keep it by heartbeats, release it, or see
    who holds what. Advice: nothing stops who does not ask.""",
    (
        _action("list", "acquire", "heartbeat", "release"),
        NAME, Field("session", TEXT, high=200), Field("number", NUMBER, "The lease's.", low=0),
        Field("ttl_s", NUMBER, "60 by default.", low=1, high=3_600), PROJECT,
    ),
    "leases:array! granted:yes problem",
)  # fmt: skip
CARD = _tool(
    "a2a_protocol",
    "card",
    """Check another agent's signed card, or (the user) make this installation's.""",
    (
        _action("create", "verify"),
        NAME, Field("skill", WORDS, high=50), Field("url", TEXT, high=500),
        Field("card", TEXT, "A card as JSON.", high=100_000), Field("key", TEXT, high=100),
    ),
    "card:object! valid:yes key problem",
)  # fmt: skip
VOTE = _tool(
    "bft_consensus",
    "vote",
    """Record a vote of four or more reviewers or subagents; decided by more than two thirds of the weight. Who says two
    things counts for nothing; what is critical comes back as a question to the user.""",
    (
        _action("list", "propose", "vote", "result"),
        ID, Field("question", TEXT, high=300), Field("options", WORDS, high=20),
        Field("voters", WORDS, "Such as reviewer, or reviewer=2.", high=50),
        Field("critical", YES), Field("voter", TEXT, high=100), Field("choice", TEXT, high=300),
        Field("evidence", TEXT, "Its digest is kept.", high=100_000),
    ),
    "votes:array!",
)  # fmt: skip
PACK = _tool(
    "agent_marketplace",
    "pack",
    """Look into a signed pack of procedures and learnings in a folder. The user publishes, installs and certifies
    packs.""",
    (_action("show", "publish", "install", "certify"), Field("path", TEXT, "The pack's folder.", required=True, high=4_096), NAME, PROJECT),
    "name! key! signed:yes! texts:array! count:count! installed:count certified:count",
)  # fmt: skip
TOOLS = (CONTRACT, REPORT, GAPS, DASHBOARD, IDENTITY, ACTORS, LEASE, CARD, VOTE, PACK)
