"""Contracts, proofs, reports, identities, leases, votes, cards and packs, by the daemon's door."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from talk import transcript

from vector_memory.daemon import verbs
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.mcp import registry
from vector_memory.model import DERIVED, Scope, Sensitivity
from vector_memory.service.base import contracts, leases
from vector_memory.service.capture import session_summary, session_topics
from vector_memory.service.governance import controls
from vector_memory.service.governance.controls import FIGURES
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.memory import agent_rights
from vector_memory.service.tools import dispatch
from vector_memory.service.tools.tool_call import ToolCall
from vector_memory.system import git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def contract(house: ServiceHouse, **asked: Any) -> dict[str, Any]:
    done = door(house.ctx, "contract", {"action": "create", "name": "quiet week", **asked})
    return dict(done["contracts"][0])


def call(house: ServiceHouse, project: Path, command: str) -> Any:
    question = hook_question(house.ctx, "s", str(project), "Tidy the release notes.")
    made = ToolCall(
        **vars(question), cwd=str(project), tool="Bash", input={"command": command}, use_id=command
    )
    return dispatch.before(house.ctx, made)


def each_changed(text: str) -> Iterator[str]:
    """Yield a text with each of its characters for another, one at a time."""
    for at, character in enumerate(text):
        yield text[:at] + ("A" if character.upper() != "A" else "B") + text[at + 1 :]


# -- contracts -------------------------------------------------------------------------------------


def test_a_contract_keeps_agents_from_what_it_prohibits(house: ServiceHouse, project: Path) -> None:
    contract(house, prohibited=["forget"], folders=[str(project)])
    asked = {"actor": "mcp", "cwd": str(project)}
    with pytest.raises(BadInputError, match="does not let agents forget"):
        agent_rights.require_allowed(house.ctx, "forget", asked)
    agent_rights.require_allowed(house.ctx, "recall", asked)
    agent_rights.require_allowed(house.ctx, "forget", {**asked, "actor": "user"})
    agent_rights.require_allowed(house.ctx, "forget", {**asked, "cwd": "/elsewhere"})


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("list", {}),
        ("export", {}),
        ("export", {"format": "markdown"}),
        ("export_vault", {}),
        ("backup", {}),
        ("forget", {"query": "zebra host", "dry_run": True}),
        ("forget", {"ids": ["ID"], "dry_run": True}),
        ("purge", {"ids": ["ID"], "dry_run": True}),
        ("edit", {"id": "ID", "tags": ["x"]}),
        ("verify", {"id": "ID", "verdict": "confirmed"}),
        ("review", {}),
        ("prune", {}),
    ],
)
@pytest.mark.parametrize("terms", [{"prohibited": ["recall"]}, {"permitted": ["store", "forget", "change", "share"]}])  # fmt: skip
def test_who_may_not_recall_is_told_no_words(
    house: ServiceHouse, project: Path, verb: str, asked: dict[str, Any], terms: dict[str, Any]
) -> None:
    """Whatever else a verb does; the user is, and what is stored tells of nothing beside it."""
    text = "The zebra host is patched every night by cron"
    id = house.remember(text, project, kind="decision")["id"]
    asked = {name: [id] if value == ["ID"] else id if value == "ID" else value for name, value in asked.items()}  # fmt: skip
    contract(house, **terms)
    agents = {"actor": "mcp", "cwd": str(project)}
    with pytest.raises(BadInputError, match="does not let agents recall"):
        door(house.ctx, verb, {**agents, **asked})
    said = {**agents, "text": "The zebra host is patched every morning by cron"}
    told = door(house.ctx, "remember", {**said, "project": str(project)})
    assert "night" not in str(told)
    assert told["action"] != "unchanged"
    agent_rights.require_allowed(house.ctx, verb, {**agents, "actor": "user"})


def test_a_contract_ends(house: ServiceHouse) -> None:
    made = contract(house, prohibited=["share"], until="2026-05-04")
    assert door(house.ctx, "contract", {"action": "check", "act": "share"})["broken"] == made["id"]
    house.pass_time(days=2)
    assert door(house.ctx, "contract", {"action": "check", "act": "share"})["allowed"]
    assert door(house.ctx, "contract", {})["contracts"][0]["problem"] == "ended"


def test_a_ceiling_keeps_what_is_more_sensitive_from_agents(
    house: ServiceHouse, project: Path
) -> None:
    plain = house.remember("The ledger rounds to whole cents.", project)["id"]
    paid = house.remember(
        "The ledger's auditor is paid in whole cents.", project, sensitivity="confidential"
    )["id"]
    door(house.ctx, "link", {"from": plain, "to": paid, "relation": "relates_to"})
    asked = {"query": "whole cents of the ledger", "project": str(project)}

    def told(actor: str) -> int:
        return len(door(house.ctx, "recall", {**asked, "actor": actor})["hits"])

    assert told("mcp") == 2
    contract(house, ceiling="internal", folders=[str(project)])
    assert told("mcp") == 1
    assert told("user") == 2
    # Nor do figures tell that it is there.
    for verb, counted in (("sovereignty", "kept"), ("benchmark", "memories")):
        request = {"what": "hooks", "cwd": str(project)}
        user, agent = (
            str(door(house.ctx, verb, {**request, "actor": by})[counted]) for by in ("user", "mcp")
        )
        assert user != agent and "confidential" not in agent
    with pytest.raises(BadInputError, match="ceiling"):
        door(house.ctx, "formal_verify", {"actor": "mcp", "cwd": str(project)})
    everywhere = {"query": asked["query"], "all_projects": True, "cwd": str(project)}
    assert len(door(house.ctx, "recall", {**everywhere, "actor": "mcp"})["hits"]) == 1
    prompt = hook_question(house.ctx, "s", str(project), "whole cents of the ledger's auditor?")
    assert prompt.scope.levels == ("public", "internal")
    begun = session_start.on_start(house.ctx, hook_question(house.ctx, "s", str(project)))
    assert "rounds" in begun and "auditor" not in begun

    def reached(actor: str) -> list[str]:
        linked = {"ids": [plain], "project": str(project), "actor": actor}
        return [one["id"] for one in door(house.ctx, "connections", linked)["memories"]]

    assert reached("mcp") == [] and paid in reached("user")


def test_under_a_ceiling_nothing_is_told_of_whole_sessions(
    house: ServiceHouse, project: Path
) -> None:
    """What is above it stands in no topic, summary or count: not by a verb, and not unasked."""
    more = "The queue keeps its jobs in a spool folder, one file for each job. " * 10
    said = f"We decided that the auditor of the ledger is paid by cheque. {more}"
    path = str(transcript(project, [("How is the auditor of the ledger paid?", said)]))
    captured = captured_of(house.ctx, path, final=True)
    session_topics.derive(house.ctx, captured.sessions)
    for one in session_topics.read(house.ctx, "s1"):
        session_summary.summarise(one)
    house.remember("The ledger rounds to whole cents.", project)
    journal = house.ctx.global_shelf().journal
    for one in list(journal.iter_memories(Scope(sessions=("s1",)))):
        if one.kind not in DERIVED:
            journal.update(replace(one, sensitivity=Sensitivity.CONFIDENTIAL))
    house.follow()
    asked = {"cwd": str(project), "project": str(project), "session": "s1", "query": "the auditor"}

    def told(actor: str) -> dict[str, str]:
        answers = {}
        for verb in ("recall", "list", "topics", "resume", "summarize", "rag", "trace", "explain"):
            with contextlib.suppress(NotFoundError, BadInputError):
                answers[verb] = json.dumps(door(house.ctx, verb, {**asked, "actor": actor}))
        question = hook_question(house.ctx, f"s-{actor}", str(project), "How is the auditor paid?")
        answers["prompt"] = prompt_recall.on_prompt(house.ctx, question)
        answers["start"] = session_start.on_start(house.ctx, question)
        return answers

    before = told("user")
    assert {"recall", "list", "topics", "resume", "summarize"} <= {
        verb for verb, one in before.items() if "cheque" in one
    }
    counted = door(house.ctx, "stats", {"actor": "mcp"})
    contract(house, ceiling="internal")
    assert [verb for verb, one in told("mcp").items() if "cheque" in one] == []
    below = door(house.ctx, "stats", {"actor": "mcp"})
    assert counted["memories"] > below["memories"] == 1
    assert below["by_kind"] == {"note": 1} and below["stores"][0]["memories"] == 1


BY_ID: dict[str, dict[str, Any]] = {
    "get": {}, "history": {}, "links": {}, "provenance": {}, "trace": {}, "impact": {}, "contradictions": {},
    "edit": {"kind": "note"}, "rewrite": {"text": "The auditor is unpaid."}, "verify": {"verdict": "confirmed"},
    "boost": {"priority": "HIGH"}, "promote": {"to": "permanent"},
    "episode": {"action": "update", "step": "looked"},
}  # fmt: skip
"""Verbs about one memory by its id, each with what else it needs."""
BY_IDS = ("forget", "connections", "organize", "sovereignty")


@pytest.mark.parametrize("verb", [*BY_ID, *BY_IDS])
def test_no_verb_reaches_what_is_above_the_ceiling_by_its_id(
    house: ServiceHouse, project: Path, verb: str
) -> None:
    paid = house.remember("The auditor is paid in cents.", project, sensitivity="confidential")["id"]  # fmt: skip
    contract(house, ceiling="internal", folders=[str(project)])
    named = (
        {"id": paid, **BY_ID[verb]} if verb in BY_ID else {"ids": [paid[:8]], "jurisdiction": "EU"}
    )
    asked = {**named, "cwd": str(project), "action": BY_ID.get(verb, {}).get("action", "tag")}
    with pytest.raises(NotFoundError, match="no memory"):
        door(house.ctx, verb, {**asked, "actor": "mcp"})


def test_what_is_linked_or_gave_way_is_not_told_above_the_ceiling(
    house: ServiceHouse, project: Path
) -> None:
    paid = house.remember("The auditor is paid in cents.", project, sensitivity="confidential")["id"]  # fmt: skip
    plain = house.remember("The ledger rounds to whole cents.", project)["id"]
    door(house.ctx, "link", {"from": plain, "to": paid, "relation": "supersedes"})
    asked = {"id": plain, "cwd": str(project), "actor": "mcp"}
    assert len(door(house.ctx, "history", asked)["chain"]) == 2
    contract(house, ceiling="internal", folders=[str(project)])
    assert [one["id"] for one in door(house.ctx, "history", asked)["chain"]] == [plain]
    assert door(house.ctx, "links", asked)["links"] == []
    assert door(house.ctx, "provenance", asked)["links"] == []
    with pytest.raises(NotFoundError):
        door(house.ctx, "link", {"from": plain, "to": paid, "cwd": str(project), "actor": "mcp"})
    with pytest.raises(NotFoundError):
        door(house.ctx, "remember", {**asked, "text": "It is free.", "supersedes": paid})
    assert len(door(house.ctx, "history", {**asked, "actor": "user"})["chain"]) == 2


def test_what_is_restricted_is_no_agents_by_its_id(house: ServiceHouse, project: Path) -> None:
    kept = house.remember("The auditor's name is Heron.", project, sensitivity="restricted")["id"]
    with pytest.raises(NotFoundError):
        door(house.ctx, "get", {"id": kept, "cwd": str(project), "actor": "mcp"})
    assert door(house.ctx, "get", {"id": kept})["memory"]["id"] == kept


HARMLESS = {
    "actors", "agent_dev_env", "audit", "benchmark", "benchmark_suite", "card", "check", "check_proof",
    "constitutional_monitor", "context_budget", "contract", "cost_router", "delegation", "facets", "flags",
    "governance_gaps", "governance_report", "growth", "identity", "init", "jobs", "lease", "mark_flag",
    "meta_agent", "migrate", "privacy", "prove", "rebuild", "red_team", "run_job", "self_assess", "setting",
    "share_status", "stats", "task_specialization", "token", "trust", "vote", "wait", "workflow_optimizer",
}  # fmt: skip
"""Verbs that give no memory to anybody and keep none: figures, checks, upkeep, and what governs."""


def test_every_verb_is_an_act_or_gives_and_keeps_no_memory() -> None:
    acts = {verb for done_by in contracts.VERBS.values() for verb in done_by}
    assert sorted([*acts, *HARMLESS]) == sorted([*verbs.SIMPLE, *verbs.LONG])


@pytest.mark.parametrize(
    "wider",
    [
        {"permitted": ["recall", "forget"]},
        {"ceiling": "restricted"},
        {"until": "2027-01-01"},
        {"folders": ["/"]},
    ],
)
def test_what_is_made_from_a_contract_is_never_wider(
    house: ServiceHouse, project: Path, wider: dict[str, Any]
) -> None:
    narrow = {
        "permitted": ["recall"],
        "prohibited": ["data"],
        "ceiling": "internal",
        "until": "2026-08-01",
        "folders": [str(project)],
    }
    parent = contract(house, **narrow)
    with pytest.raises(BadInputError, match="wider"):
        contract(house, parent=parent["id"], actor="mcp", **wider)
    child = contract(house, parent=parent["id"], actor="mcp")
    assert child["prohibited"] == ["data"] and child["ceiling"] == "internal"
    assert child["holds"] is False or child["projects"] == [str(project)]


def test_an_agent_makes_and_revokes_none_of_its_own(house: ServiceHouse) -> None:
    with pytest.raises(BadInputError, match="Only the user"):
        contract(house, actor="mcp")
    made = contract(house)
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "contract", {"action": "revoke", "id": made["id"], "actor": "mcp"})


def test_a_contract_that_was_changed_on_the_disk_holds_nobody_and_says_so(
    house: ServiceHouse,
) -> None:
    made = contract(house, prohibited=["forget"], ceiling="internal")
    (whole,) = house.ctx.state.records("contract").values()
    for name, value in {
        "prohibited": [], "ceiling": "restricted", "name": "other", "subject": "x", "rules": ["y"],
        "not_after": "2030-01-01", "permitted": ["share"], "projects": ["/"], "parent": "p",
    }.items():  # fmt: skip
        house.ctx.state.put_record("contract", whole.text("id"), {**whole, name: value})
        (told,) = door(house.ctx, "contract", {})["contracts"]
        assert not told["holds"] and told["problem"]
    for name, value in whole.items():
        for changed in each_changed(value) if isinstance(value, str) and name != "id" else ():
            house.ctx.state.put_record("contract", whole.text("id"), {**whole, name: changed})
            assert not contracts.in_force(house.ctx, ""), (name, changed)
    house.ctx.state.put_record("contract", whole.text("id"), whole)
    assert door(house.ctx, "contract", {"action": "check", "act": "forget"})["broken"] == made["id"]


def test_a_call_that_breaks_a_contract_is_refused_only_where_the_user_says_so(
    house: ServiceHouse, project: Path
) -> None:
    contract(house, prohibited=["force-push"])
    house.ctx.settings.__dict__["observer"] = "warn"
    warned = call(house, project, "git push --force origin main")
    assert not warned.instead and "quiet week" in warned.context
    house.ctx.settings.__dict__["observer"] = "block"
    refused = call(house, project, "git push --force origin other")
    assert "quiet week" in refused.instead and "observer=block" in refused.instead
    assert not call(house, project, "git push origin main").instead
    # What no contract and no limit forbids is only warned of.
    assert not call(house, project, "rm -rf src").instead


def test_an_escalation_is_the_users_and_ends(house: ServiceHouse) -> None:
    made = contract(house, prohibited=["share"])
    asked = {"action": "escalate", "id": made["id"], "acts": ["share"], "hours": 2}
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "actors", {**asked, "actor": "mcp"})
    door(house.ctx, "actors", asked)
    assert door(house.ctx, "contract", {"action": "check", "act": "share"})["allowed"]
    house.pass_time(hours=3)
    assert not door(house.ctx, "contract", {"action": "check", "act": "share"})["allowed"]


# -- reports ---------------------------------------------------------------------------------------


def test_every_control_names_figures_that_are_there() -> None:
    names, listed = controls.catalogue()
    assert set(names) == {"iso42001", "aiact", "owasp"}
    for one in listed:
        assert set(one.evidence) <= set(FIGURES), one.id
        assert bool(one.evidence) != bool(one.not_measurable), one.id
        assert bool(one.closes) == bool(one.evidence), one.id
    used = {name for one in listed for name in one.evidence}
    assert used == set(FIGURES)


def test_a_report_says_what_it_is_and_follows_what_is_there(house: ServiceHouse) -> None:
    before = door(house.ctx, "governance_report", {})
    assert before["markdown"].startswith(f"*{controls.FIRST_LINE}*")
    house.ctx.state.audit("backup", "user", [], {})
    contract(house)
    after = door(house.ctx, "governance_report", {"framework": "owasp", "signed": True})
    scores = {one["id"]: one["score"] for one in before["frameworks"]}
    assert after["frameworks"][0]["score"] > scores["owasp"]
    assert after["signature"] and len(after["frameworks"]) == 1
    gaps = door(house.ctx, "governance_gaps", {})
    assert [one["weight"] for one in gaps["gaps"]] == sorted(
        (one["weight"] for one in gaps["gaps"]), reverse=True
    )
    assert all(one["closes"] for one in gaps["gaps"]) and gaps["not_measurable"] > 5
    with pytest.raises(BadInputError, match="iso42001"):
        door(house.ctx, "governance_report", {"framework": "soc2"})


# -- identities ------------------------------------------------------------------------------------


def test_a_delegation_is_narrower_ends_and_can_be_revoked(house: ServiceHouse) -> None:
    def delegate(**asked: Any) -> dict[str, Any]:
        asked = {"subject": "reviewer", "until": "2026-06-01", **asked}
        return door(house.ctx, "delegation", {"action": "delegate", **asked})

    def problem(token: str) -> str:
        return str(door(house.ctx, "delegation", {"action": "check", "token": token})["problem"])

    first = delegate(scope=["recall", "store"])
    second = delegate(scope=["recall"], token=first["token"])
    assert problem(second["token"]) == ""
    with pytest.raises(BadInputError, match="allows more"):
        delegate(scope=["forget"], token=first["token"])
    for changed in each_changed(second["token"]):
        assert problem(changed)
    door(house.ctx, "delegation", {"action": "revoke", "id": first["delegation"]["jti"]})
    assert "revoked" in problem(second["token"])
    third = delegate(scope=["recall"])
    house.pass_time(days=40)
    assert "another time" in problem(third["token"])


def test_the_inventory_lists_keys_and_algorithms(house: ServiceHouse) -> None:
    told = door(house.ctx, "delegation", {"action": "cbom"})["cbom"]
    assert told["bomFormat"] == "CycloneDX" and told["specVersion"] == "1.6"
    assert {"Ed25519", "SHA-256"} <= {one["name"] for one in told["components"]}


def test_a_card_is_checked_field_by_field(house: ServiceHouse) -> None:
    made = door(
        house.ctx, "card", {"name": "helper", "skill": ["review"], "url": "http://127.0.0.1:1"}
    )["card"]
    key = door(house.ctx, "identity", {})["keys"][0]["key"]
    asked = {"action": "verify", "card": json.dumps(made), "key": key}
    assert door(house.ctx, "card", asked)["valid"]
    for name in made:
        changed = {**made, name: "other" if name == "name" else [name]}
        told = door(house.ctx, "card", {**asked, "card": json.dumps(changed)})
        assert not told["valid"] and told["problem"], name
    written, refused = json.dumps(made), 0
    for text in each_changed(written):
        try:
            told = door(house.ctx, "card", {**asked, "card": text})
        except BadInputError:
            told = {"valid": False}
        # White space between fields, and another name of a signature's own fields, say nothing else.
        assert not told["valid"] or json.loads(text) == made, text
        refused += not told["valid"]
    assert refused > 300
    with pytest.raises(BadInputError, match="no agent card"):
        door(house.ctx, "card", {"action": "verify", "card": "[]"})


def test_who_acts_is_listed_and_ended(house: ServiceHouse) -> None:
    door(house.ctx, "token", {"action": "new", "name": "bot", "right": ["read"]})
    told = door(house.ctx, "actors", {"action": "review"})["actors"]
    assert [(one["sort"], one["name"]) for one in told] == [("token", "bot")]
    assert "never ends" in told[0]["advice"]
    door(house.ctx, "actors", {"action": "terminate", "id": "bot"})
    assert door(house.ctx, "actors", {})["actors"] == []
    with pytest.raises(NotFoundError):
        door(house.ctx, "actors", {"action": "terminate", "id": "bot"})


# -- leases and votes ------------------------------------------------------------------------------


def test_two_sessions_see_each_other(house: ServiceHouse, project: Path) -> None:
    def ask(session: str, **asked: Any) -> dict[str, Any]:
        asked = {"name": "src/api", "session": session, "project": str(project), **asked}
        return door(house.ctx, "lease", {"action": "acquire", **asked})

    first = ask("one")
    assert first["granted"] and not ask("two")["granted"]
    start = session_start.on_start(house.ctx, hook_question(house.ctx, "two", str(project)))
    assert "src/api" in start
    own = session_start.on_start(house.ctx, hook_question(house.ctx, "one", str(project)))
    assert "src/api" not in own
    house.pass_time(seconds=40)
    number = first["leases"][0]["number"]
    assert ask("one", action="heartbeat", number=number)["granted"]
    house.pass_time(seconds=61)
    second = ask("two")
    assert second["granted"] and second["leases"][0]["number"] > number
    assert not ask("one", action="heartbeat", number=number)["granted"]
    # Whoever forgot the number of what he has is told it; what is given back is told as that.
    number = second["leases"][0]["number"]
    assert str(number) in ask("two", action="heartbeat")["problem"]
    forgot = ask("two", action="release")
    assert not forgot["released"] and str(number) in forgot["problem"]
    assert "another's" in ask("one", action="release")["problem"]
    done = ask("two", action="release", number=number)
    assert done["released"] and "granted" not in done and done["leases"] == []
    assert ask("two")["granted"]
    assert leases.release_all(house.ctx, "two") == 1
    assert door(house.ctx, "lease", {"project": str(project)})["leases"] == []


def test_a_vote_needs_more_than_two_thirds_and_one_word_each(house: ServiceHouse) -> None:
    asked = {"question": "Ship it?", "options": ["yes", "no"], "voters": ["a", "b", "c", "d=3"]}
    id = door(house.ctx, "vote", {"action": "propose", **asked})["votes"][0]["id"]

    def cast(voter: str, choice: str) -> dict[str, Any]:
        said = {"action": "vote", "id": id, "voter": voter, "choice": choice, "evidence": "log"}
        return dict(door(house.ctx, "vote", said)["votes"][0])

    cast("d", "yes")
    assert cast("a", "yes")["decided"] == ""
    assert cast("b", "yes")["decided"] == "yes"
    assert cast("b", "no")["void"] == ["b"]
    assert door(house.ctx, "vote", {"action": "result", "id": id})["votes"][0]["decided"] == ""
    with pytest.raises(NotFoundError, match="no vote"):
        cast("x", "yes")
    with pytest.raises(BadInputError, match="4 to"):
        door(house.ctx, "vote", {"action": "propose", **asked, "voters": ["a", "b"]})


def test_what_is_critical_comes_back_as_a_question(house: ServiceHouse) -> None:
    asked = {"question": "Drop it?", "options": ["yes", "no"], "voters": list("abcd")}
    id = door(house.ctx, "vote", {"action": "propose", "critical": True, **asked})["votes"][0]["id"]
    for voter in "abcd":
        told = door(
            house.ctx, "vote", {"action": "vote", "id": id, "voter": voter, "choice": "yes"}
        )
    (view,) = told["votes"]
    assert view["decided"] == "" and view["ask_user"].startswith("Drop it?")


# -- packs -----------------------------------------------------------------------------------------


def test_a_pack_is_foreign_until_it_is_certified(
    house: ServiceHouse, project: Path, tmp_path: Path
) -> None:
    text = "To release, run the smoke tests in tools/smoke, then tag."
    # Where the project is here goes with no pack.
    written = text.replace("tools/smoke", f"{project}/tools/smoke")
    house.remember(written, project, kind="procedure", collection="procedures")
    folder = tmp_path / "pack"
    made = door(
        house.ctx,
        "pack",
        {"action": "publish", "name": "release", "path": str(folder), "project": str(project)},
    )
    assert made["texts"] == [text] and made["signed"]
    other = tmp_path / "other"
    other.mkdir()
    asked = {"path": str(folder), "project": str(other)}
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "pack", {"action": "install", "actor": "mcp", **asked})
    assert door(house.ctx, "pack", {"action": "install", **asked})["installed"] == 1

    def is_foreign() -> bool:
        shelves = house.ctx.all_shelves()
        scope = Scope(projects=(house.ctx.place(str(other)).id,))
        (found,) = [one for shelf in shelves for one in shelf.journal.iter_memories(scope)]
        return bool(found.text == text and found.is_foreign)

    assert is_foreign()
    assert door(house.ctx, "pack", {"action": "certify", **asked})["certified"] == 1
    assert not is_foreign()
    lines = folder / "memories.jsonl"
    manifest = json.loads((folder / "pack.json").read_text())
    spoilt = [{**manifest, name: "x"} for name in manifest]
    for at in range(len(lines.read_bytes())):
        raw = bytearray(lines.read_bytes())
        raw[at] ^= 1
        (folder / "memories.jsonl").write_bytes(bytes(raw))
        with pytest.raises(BadInputError):
            door(house.ctx, "pack", asked)
        raw[at] ^= 1
        lines.write_bytes(bytes(raw))
    for one in spoilt:
        (folder / "pack.json").write_text(json.dumps(one))
        with pytest.raises(BadInputError):
            door(house.ctx, "pack", asked)


def test_a_pack_comes_out_of_a_repository(
    house: ServiceHouse, project: Path, tmp_path: Path
) -> None:
    text = "To release, run the smoke tests, then tag."
    house.remember(text, project, kind="procedure", collection="procedures")
    folder = tmp_path / "pack"
    asked = {"action": "publish", "name": "release", "path": str(folder), "project": str(project)}
    door(house.ctx, "pack", asked)
    git.run("/", "init", "--quiet", str(folder))
    git.run(str(folder), "add", ".")
    git.run(str(folder), "commit", "--quiet", "--message", "Pack")
    (folder / "pack.json").unlink()
    other = tmp_path / "other"
    other.mkdir()
    fetched = {"path": f"file://{folder}", "project": str(other)}
    assert door(house.ctx, "pack", fetched)["texts"] == [text]
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "pack", {**fetched, "actor": "mcp"})
    assert door(house.ctx, "pack", {**fetched, "action": "install"})["installed"] == 1
    assert door(house.ctx, "pack", {**fetched, "action": "certify"})["certified"] == 1
    for wrong in ("file:///nowhere/at/all", f"file://{tmp_path}"):
        with pytest.raises(BadInputError, match="git clone failed"):
            door(house.ctx, "pack", {**fetched, "path": wrong})
    assert [one.name for one in Path(house.ctx.home.run).iterdir() if one.is_dir()] == []


@pytest.mark.parametrize(
    "name",
    [
        "constitutional_contract", "nhi_lifecycle", "parl_coordinator", "a2a_protocol", "bft_consensus",
        "agent_marketplace",
    ],
)  # fmt: skip
def test_an_unknown_action_names_those_that_are(house: ServiceHouse, name: str) -> None:
    tool = registry.BY_NAME[name]
    field = next(one for one in tool.fields if one.name == "action")
    with pytest.raises(BadInputError) as told:
        door(house.ctx, tool.verb, {"action": "no-such", "path": "/x"})
    assert all(choice in (told.value.hint or "") for choice in field.choices)


def test_an_attack_that_was_run_is_evidence(house: ServiceHouse) -> None:
    """It is counted where it is kept: in the audit log."""
    house.ctx.state.audit("red_team", "user", [], {})
    told = door(house.ctx, "governance_report", {})
    controls = [one for framework in told["frameworks"] for one in framework["controls"]]
    evidence = {
        one["name"]: one["count"] for control in controls for one in control.get("evidence") or ()
    }
    assert evidence["red_team_runs"] == 1
