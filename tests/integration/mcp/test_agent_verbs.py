"""What an agent may do to memories, and what time does to its notes; the service in one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import SCRATCH, Origin, Scope
from vector_memory.service.base.asker import asker_in
from vector_memory.service.edit import scratch
from vector_memory.service.learning import counted_records
from vector_memory.service.memory import agent_rights


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def asked(project: Path, **more: Any) -> dict[str, Any]:
    """Return a request of the MCP server."""
    return {"project": str(project), "cwd": str(project), "actor": "mcp", **more}


def said(house: ServiceHouse, project: Path, text: str, **more: Any) -> str:
    """Store something as the assistant's words and return its id."""
    return str(house.remember(text, project, origin="assistant", actor="mcp", **more)["id"])


class TestScratch:
    """Notes of a session, for an hour."""

    def test_an_hour_later_they_are_gone(self, house: ServiceHouse, project: Path) -> None:
        """From the store too, as soon as somebody looks."""
        place = house.ctx.place(str(project))
        note = asked(project, session="s1", action="set", key="plan", text="Three steps.")
        door(house.ctx, "scratch", note)
        house.pass_time(minutes=59)
        listed = door(house.ctx, "scratch", asked(project, session="s1", action="list"))
        assert [one["title"] for one in listed["notes"]] == ["plan"]
        house.pass_time(minutes=2)
        with pytest.raises(NotFoundError, match="no note"):
            door(house.ctx, "scratch", asked(project, session="s1", action="get", key="plan"))
        assert counted_records.counted_records_of(asker_in(house.ctx, place), SCRATCH) == []

    def test_another_session_has_its_own(self, house: ServiceHouse, project: Path) -> None:
        """Also under the same key."""
        for session in ("s1", "s2"):
            note = {"action": "set", "key": "plan", "text": f"The plan of {session}."}
            door(house.ctx, "scratch", asked(project, session=session, **note))
        (one,) = door(house.ctx, "scratch", asked(project, session="s1", action="list"))["notes"]
        assert one["text"] == "The plan of s1."
        assert one["origin"] == Origin.ASSISTANT

    def test_bounds(self, house: ServiceHouse, project: Path) -> None:
        """An unknown action, too many notes, no project."""
        with pytest.raises(BadInputError, match="action cannot be"):
            door(house.ctx, "scratch", asked(project, action="burn"))
        with pytest.raises(BadInputError, match="in a folder"):
            door(house.ctx, "scratch", {"global": True})
        for number in range(scratch.MOST):
            note = {"action": "set", "key": f"k{number}", "text": f"note {number}"}
            door(house.ctx, "scratch", asked(project, **note))
        with pytest.raises(BadInputError, match="already"):
            door(house.ctx, "scratch", asked(project, action="set", key="more", text="x"))
        assert door(house.ctx, "scratch", asked(project, action="clear"))["cleared"] == scratch.MOST
        with pytest.raises(NotFoundError):
            door(house.ctx, "scratch", asked(project, action="clear", key="k1"))


class TestRights:
    """The user's rules stand; what others wrote gets no weight."""

    def test_the_users_rule(self, house: ServiceHouse, project: Path) -> None:
        """It is not rewritten or lowered, and only doubted where the agent finds it out of date."""
        rule = house.remember("Never rebase shared branches.", project, kind="preference")["id"]
        with pytest.raises(BadInputError, match="user's own words"):
            door(house.ctx, "rewrite", asked(project, id=rule, kind="note"))
        with pytest.raises(BadInputError, match="user's own words"):
            door(house.ctx, "boost", asked(project, id=rule, direction="down"))
        mine = said(house, project, "Rebasing is fine.")
        with pytest.raises(BadInputError, match="user's own words"):
            door(
                house.ctx,
                "link",
                asked(project, **{"from": mine, "to": rule, "relation": "supersedes"}),
            )
        with pytest.raises(BadInputError, match="user's own words"):
            said(house, project, "Rebase as you like.", supersedes=rule)
        door(house.ctx, "verify", asked(project, id=rule, verdict="outdated"))
        hits = door(house.ctx, "recall", asked(project, query="rebase shared branches"))["hits"]
        (hit,) = [one for one in hits if one["id"] == rule]
        assert hit["confidence"] == pytest.approx(0.4)
        assert door(house.ctx, "organize", asked(project, ids=[rule]))["memories"] == []

    def test_a_foreign_memory_stays_foreign(self, house: ServiceHouse, project: Path) -> None:
        """Put in other words by the agent it is still a tool's, and no procedure."""
        told = house.remember("The docs say to use retries.", project, origin="tool")["id"]
        request = asked(
            project, id=told, text="Use three retries.", kind="procedure", priority="CORE"
        )
        done = door(house.ctx, "rewrite", request)["memory"]
        assert (done["origin"], done["kind"], done["priority"]) == ("tool", "context", "NORMAL")
        with pytest.raises(BadInputError, match="written by others"):
            door(house.ctx, "promote", asked(project, id=done["id"], to="learning"))
        changed = door(house.ctx, "rewrite", asked(project, id=done["id"], kind="rule"))
        assert changed["memory"]["kind"] == "context"

    def test_old_words_are_not_rewritten(self, house: ServiceHouse, project: Path) -> None:
        """What gave way is changed no more."""
        old = said(house, project, "The queue holds ten jobs.")
        door(house.ctx, "rewrite", asked(project, id=old, text="The queue holds forty jobs."))
        with pytest.raises(BadInputError, match="gave way"):
            door(house.ctx, "rewrite", asked(project, id=old, text="It holds fifty."))


def test_an_excluded_folder_gives_nothing(house: ServiceHouse, project: Path) -> None:
    """To the model; the user's own commands go on."""
    house.ctx.settings = replace(house.ctx.settings, excluded_projects=(str(project),))
    with pytest.raises(BadInputError, match="no memory in this folder"):
        agent_rights.require_included(house.ctx, asked(project))
    agent_rights.require_included(house.ctx, {**asked(project), "actor": "user"})


def test_what_was_recalled_counts_as_shown(house: ServiceHouse, project: Path) -> None:
    """To the session that asked, so that no hook says it again."""
    id = said(house, project, "Fees are rounded up.")
    door(house.ctx, "recall", asked(project, query="How are fees rounded?", for_session="s1"))
    assert house.ctx.state.shown_ids("s1") == {id}


def test_promotion_has_targets(house: ServiceHouse, project: Path) -> None:
    """What is one already, and what there is not."""
    id = said(house, project, "Builds need two gigabytes of memory.")
    done = door(house.ctx, "promote", asked(project, id=id, to="learning"))["memory"]
    assert (done["kind"], done["collection"]) == ("learning", "learnings")
    with pytest.raises(BadInputError, match="already"):
        door(house.ctx, "promote", asked(project, id=id, to="learning"))
    with pytest.raises(BadInputError, match="to cannot be"):
        door(house.ctx, "promote", asked(project, id=id, to="moon"))
    with pytest.raises(BadInputError, match="what cannot be"):
        door(house.ctx, "boost", asked(project, id=id, what="luck"))


def test_a_scratch_note_that_is_known_is_not_stored_twice(
    house: ServiceHouse, project: Path
) -> None:
    """Promoting it goes through the same gate as storing."""
    id = said(house, project, "The cache key holds the tenant.")
    note = asked(project, action="set", key="k", text="The cache key holds the tenant.")
    noted = door(house.ctx, "scratch", note)["notes"][0]["id"]
    house.follow()
    done = door(house.ctx, "promote", asked(project, id=noted))
    assert (done["action"], done["memory"]["id"]) == ("merged", id)


class TestKeeping:
    """Groups that say the same, and what could go."""

    def twins(self, house: ServiceHouse, project: Path) -> tuple[str, str]:
        """Store the same twice, past the gate."""
        texts = ("We use Redis for the session cache.", "We use redis for the session cache")
        one, other = (said(house, project, text, wait=False) for text in texts)
        return one, other

    def test_a_preview_changes_nothing(self, house: ServiceHouse, project: Path) -> None:
        """Then they become one, with the other in its history and sources."""
        one, other = self.twins(house, project)
        told = door(house.ctx, "consolidate", asked(project))
        (group,) = told["groups"]
        assert group["same"]
        assert {member["id"] for member in group["memories"]} == {one, other}
        assert told["merged"] == 0
        with pytest.raises(NotFoundError, match="There is no memory 'ffff'"):
            door(house.ctx, "consolidate", asked(project, dry_run=False, ids=["ffff"]))
        alone = said(house, project, "The ferry leaves at nine.")
        request = asked(project, dry_run=False, ids=[alone[:12]])
        assert door(house.ctx, "consolidate", request)["merged"] == 0
        door(house.ctx, "forget", {"ids": [alone]})
        done = door(house.ctx, "consolidate", asked(project, dry_run=False, ids=[one[:12]]))
        assert done["merged"] == 1
        house.follow()
        listed = door(house.ctx, "list", asked(project))
        assert listed["total"] == 1
        assert len(listed["memories"][0]["sources"]) == 1
        assert house.ctx.state.audit_entries(1)[0].actor == "mcp"
        again = door(house.ctx, "consolidate", asked(project))
        assert again["groups"] == []

    def test_the_users_words_stand_for_both(self, house: ServiceHouse, project: Path) -> None:
        """Whichever came first."""
        mine = house.remember("Deploy on Tuesdays only.", project, wait=False)["id"]
        house.pass_time(days=1)
        said(house, project, "deploy on Tuesdays only", wait=False)
        door(house.ctx, "consolidate", asked(project, dry_run=False))
        assert [one["id"] for one in door(house.ctx, "list", asked(project))["memories"]] == [mine]

    def test_what_could_go(self, house: ServiceHouse, project: Path) -> None:
        """Each with why; rules, what matters and what was used stay."""
        twin = self.twins(house, project)
        used = said(house, project, "The broker keeps messages for a day.")
        kept = said(house, project, "Tokens are rotated by hand.", priority="HIGH")
        brief = said(house, project, "Alice is away this week.", collection="short_term_memory")
        rule = house.remember("Always squash commits.", project, kind="preference")["id"]
        doubted = said(house, project, "The API has no limits.")
        for _ in range(2):
            door(house.ctx, "verify", asked(project, id=doubted, verdict="refuted"))
        house.pass_time(days=8)
        door(house.ctx, "recall", asked(project, query="broker messages", k=1))
        house.ctx.uses.write()
        told = door(house.ctx, "prune", asked(project))
        why = {one["id"]: one["why"] for one in told["memories"]}
        assert why[brief] == "expired"
        assert why[doubted] == "doubted"
        assert [why.get(one) for one in twin].count("duplicate") == 1
        house.pass_time(days=900)
        told = door(house.ctx, "prune", asked(project))
        why = {one["id"]: one["why"] for one in told["memories"]}
        assert {why[one] for one in twin} == {"unused"}
        assert not {kept, rule} & set(why)
        assert used not in why

    def test_suggestions_are_put_on_by_ids_alone(self, house: ServiceHouse, project: Path) -> None:
        """`apply` without ids changes nothing."""
        id = said(house, project, "We decided to use PostgreSQL for the archive.")
        (one,) = door(house.ctx, "organize", asked(project, apply=True))["memories"]
        assert one["suggested"]["kind"] == "decision"
        assert door(house.ctx, "get", {"id": id})["memory"]["kind"] == "note"
        done = door(house.ctx, "organize", asked(project, apply=True, ids=[id]))
        assert done["applied"] == 1
        assert door(house.ctx, "get", {"id": id})["memory"]["tags"] == ["postgresql"]
        assert door(house.ctx, "organize", asked(project))["memories"] == []

    def test_a_suggested_priority_waits_for_the_user(
        self, house: ServiceHouse, project: Path
    ) -> None:
        """An agent's is proposed once, and counted as such; the other marks are put on."""
        id = said(
            house, project, "We decided to use PostgreSQL: it is critical that dumps work.",
            priority="NORMAL",
        )  # fmt: skip
        (one,) = door(house.ctx, "organize", asked(project))["memories"]
        assert one["suggested"]["priority"] == "HIGH"
        done = door(house.ctx, "organize", asked(project, apply=True, ids=[id]))
        assert (done["applied"], done["proposed"]) == (1, 1)
        now = door(house.ctx, "get", {"id": id})["memory"]
        assert (now["kind"], now["tags"], now["priority"]) == ("decision", ["postgresql"], "NORMAL")
        assert [one["id"] for one in door(house.ctx, "review", {})["items"]] == [id]
        again = door(house.ctx, "organize", asked(project, apply=True, ids=[id]))
        assert (again["applied"], again["proposed"]) == (0, 0)
        done = [entry["action"] for entry in door(house.ctx, "audit", {"k": 10})["entries"]]
        assert (done.count("edit"), done.count("proposed")) == (1, 1)


class TestTelling:
    """Summaries, impact, traces."""

    def test_a_summary_says_nothing_twice(self, house: ServiceHouse, project: Path) -> None:
        """Of a time span, in order; each sentence with its memory."""
        first = said(house, project, "We decided to keep invoices in PostgreSQL.")
        house.pass_time(days=1)
        said(house, project, "We decided to keep all invoices in PostgreSQL.", wait=False)
        last = said(house, project, "The import of customers is still missing.")
        request = asked(project, since="2026-05-01")
        points = door(house.ctx, "summarize", request)["points"]
        assert [one["id"] for one in points][-1] == last
        assert len(points) == 2
        assert first in {one["id"] for one in points} or "all invoices" in points[0]["text"]
        with pytest.raises(BadInputError, match="summary of what"):
            door(house.ctx, "summarize", asked(project))

    def test_newer_decisions_are_told(self, house: ServiceHouse, project: Path) -> None:
        """About the same files."""
        old = said(house, project, "The parser lives in src/parse.py.", files=["src/parse.py"])
        house.pass_time(days=1)
        text = "We decided to split src/parse.py in two."
        new = said(house, project, text, kind="decision", files=["src/parse.py"])
        told = door(house.ctx, "impact", asked(project, id=old))
        assert [one["id"] for one in told["newer_decisions"]] == [new]
        assert door(house.ctx, "impact", asked(project, file="parse.py"))["total"] == 2
        with pytest.raises(BadInputError, match="impact of what"):
            door(house.ctx, "impact", asked(project))

    def test_what_a_session_was_shown(self, house: ServiceHouse, project: Path) -> None:
        """With when; without a session the project's last one."""
        id = said(house, project, "Fees are rounded up.")
        house.ctx.state.add_shown("s1", [id], house.time)
        place = house.ctx.place(str(project))
        with pytest.raises(BadInputError, match="No session"):
            door(house.ctx, "session_recalled", asked(project))
        house.ctx.state.remember_session("s1", place.id, str(project), house.time)
        told = door(house.ctx, "session_recalled", asked(project))
        assert told["session"] == "s1"
        assert told["memories"][0]["shown_at"] == house.time.isoformat()
        door(house.ctx, "forget", asked(project, ids=[id]))
        assert door(house.ctx, "session_recalled", asked(project))["memories"] == []

    def test_a_trace_is_no_use(self, house: ServiceHouse, project: Path) -> None:
        """Who looks why does not make it count for more."""
        id = said(house, project, "Fees are rounded up.")
        door(house.ctx, "trace", asked(project, query="fees"))
        house.ctx.uses.write()
        assert door(house.ctx, "get", {"id": id})["memory"]["uses"] == 0


class TestVault:
    """The user's folder of Markdown."""

    def test_it_is_read_again_when_it_changed(
        self, house: ServiceHouse, project: Path, tmp_path: Path
    ) -> None:
        """What is gone from it is found no more; the files stay as they are."""
        folder = tmp_path / "vault"
        folder.mkdir()
        note = folder / "birds.md"
        note.write_text("# Birds\n\n- Terns return in April.\n")
        house.ctx.settings = replace(house.ctx.settings, vault=str(folder))
        request = asked(project, query="When do terns return?")
        told = door(house.ctx, "rag", request)
        assert told["vault"]["stored"] == 1
        assert told["hits"][0]["in_vault"]
        assert "stored" not in door(house.ctx, "rag", request)["vault"]
        note.write_text("# Birds\n\n- Terns return in early May.\n")
        house.follow()
        texts = [one["text"] for one in door(house.ctx, "rag", request)["hits"]]
        assert any("May" in text for text in texts)
        assert not any("April" in text for text in texts)
        assert note.read_text() == "# Birds\n\n- Terns return in early May.\n"

    def test_a_vault_that_is_none(self, house: ServiceHouse, project: Path) -> None:
        """It says which setting to mend; without the files it searches all the same."""
        house.ctx.settings = replace(house.ctx.settings, vault="/nonexistent")
        with pytest.raises(BadInputError, match="no folder"):
            door(house.ctx, "rag", asked(project, query="x"))
        request = asked(project, query="x", vault=False)
        assert door(house.ctx, "rag", request)["hits"] == []


def test_what_is_forgotten_by_an_agent_is_audited_as_such(
    house: ServiceHouse, project: Path
) -> None:
    """The log tells who it was."""
    id = said(house, project, "A passing thought about fees.")
    door(house.ctx, "forget", asked(project, ids=[id]))
    entry = house.ctx.state.audit_entries(1)[0]
    assert (entry.action, entry.actor, entry.ids) == ("forget", "mcp", [id])
    assert house.ctx.global_shelf().journal.count(Scope()) == 0


def test_a_quiet_collection_takes_no_memories(house: ServiceHouse, project: Path) -> None:
    """What observers count is theirs."""
    with pytest.raises(BadInputError, match="collection cannot be"):
        said(house, project, "x y z", collection="pheromone_trails")
