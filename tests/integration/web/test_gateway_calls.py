"""What programs ask of the gateway, and are given."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_rig import Answer, Gateway, gateway


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("calls")) as made:
        yield made


@pytest.fixture(scope="module")
def admin(served: Gateway) -> str:
    return served.token("admin")


def stored(served: Gateway, token: str, text: str, **more: Any) -> str:
    """Store a memory and return its id."""
    back = served.post("/v1/memories", token, {"text": text, **more})
    assert back.status == 200, back.raw
    # By meaning it is found a moment later.
    assert served.rig.daemon.ask("wait", {"timeout_s": 90})["complete"]
    return str(back.body["id"])


def texts(back: Answer) -> list[str]:
    assert back.status == 200, back.raw
    return [one["memory"]["text"] for one in back.body["results"]]


def test_what_is_stored_is_recalled(served: Gateway, admin: str) -> None:
    """By the addresses of `/v1` and by the webhooks' names alike."""
    id = stored(served, admin, "The parser of invoices reads EDIFACT, not XML.", kind="decision")
    hook = {
        "text": "Deliveries are tracked by their pallet numbers.",
        "type": "fact",
        "tags": ["x"],
    }
    back = served.post("/webhook/memory-store", admin, hook)
    assert back.body["status"] == "stored"
    for path in ("/v1/recall", "/webhook/memory-recall"):
        asked = {"query": "What does the parser of invoices read?", "limit": 3}
        best = served.post(path, admin, {**asked, "project": str(served.folder)}).body["results"][0]
        assert best["memory"]["id"] == id
        assert best["fits"]
        assert 0 < best["score"] <= 1.1
        assert best["breakdown"]["cosine"] > 0
    asked = {"query": "parser of invoices", "kinds": ["preference"]}
    assert texts(served.post("/v1/recall", admin, asked)) == []
    listed = served.get("/v1/memories?tags=x", admin).body
    assert [one["kind"] for one in listed["memories"]] == ["fact"]


def test_a_question_to_the_vault_is_limited_to_its_collections(served: Gateway, admin: str) -> None:
    stored(served, admin, "The weir is opened at 80 cm.", collection="learnings")
    stored(served, admin, "The weir is opened by hand.", collection="procedures")
    asked = {"query": "When is the weir opened?", "collections": ["learnings"]}
    assert texts(served.post("/v1/rag", admin, asked)) == ["The weir is opened at 80 cm."]


def test_how_a_memory_ages_and_who_may_see_it_is_said_and_looked_for(
    served: Gateway, admin: str
) -> None:
    more = {"temporal": "permanent", "valid_until": "2031-05-01", "sensitivity": "confidential",
            "priority": "HIGH", "tags": ["dike"]}  # fmt: skip
    id = stored(served, admin, "The dike's key is kept by the warden.", **more)
    stored(served, admin, "The dike is mown in June.", tags=["dike"])
    shown = served.get(f"/v1/memories/{id}", admin).body["memory"]
    assert (shown["temporal"], shown["sensitivity"], shown["valid_until"][:4]) == (
        "permanent",
        "confidential",
        "2031",
    )
    edited = served.post(f"/v1/memories/{id}/edit", admin, {"sensitivity": "internal"})
    assert edited.body["memory"].get("sensitivity") is None
    for wanted, n in (("priorities=HIGH", 1), ("tiers=cold", 0), ("tiers=hot", 2), ("origins=tool", 0)):  # fmt: skip
        assert served.get(f"/v1/memories?tags=dike&{wanted}", admin).body["total"] == n, wanted
    assert served.post(f"/v1/memories/{id}/edit", admin, {"every": "hourly"}).status == 400


def test_secrets_go_on_the_way_in(served: Gateway, admin: str) -> None:
    secret = "gh" + "p_" + "a8F3kLm92Qx7Vb4Nc6Zt1Ws5Yd0Re3Ug8HjK"
    back = served.post("/v1/memories", admin, {"text": f"The mirror's token is {secret}, in CI."})
    assert back.body["redactions"] == 1
    fed = {"session": "secret", "messages": [
        {"id": "1", "role": "user", "text": f"Use {secret} for the mirror of the packages, please."},
    ]}  # fmt: skip
    served.post("/v1/feed", admin, fed)
    for path in Path(served.rig.home.root).rglob("*"):
        if path.is_file() and not path.is_symlink() and "models" not in path.parts:
            assert secret.encode() not in path.read_bytes(), path


def test_a_page_follows_the_other_whatever_is_stored_meanwhile(served: Gateway, admin: str) -> None:
    for number in range(7):
        stored(
            served,
            admin,
            f"The {number}th shelf of the archive holds box {number * 31}.",
            tags=["box"],
        )
    first = served.get("/v1/memories?tags=box&limit=3", admin).body
    assert first["total"] == 7
    stored(served, admin, "A late shelf of the archive holds nothing yet.", tags=["box"])
    seen = [one["id"] for one in first["memories"]]
    page = first
    while "next" in page:
        page = served.get(f"/v1/memories?tags=box&limit=3&cursor={page['next']}", admin).body
        assert page["total"] == 7
        seen += [one["id"] for one in page["memories"]]
    assert len(seen) == len(set(seen)) == 7
    for bad in ("x", "bnVsbA", "WzEsMiwzXQ", "W10"):
        assert served.get(f"/v1/memories?cursor={bad}", admin).status == 400


def test_two_who_edit_one_memory(served: Gateway, admin: str) -> None:
    """The second is told that it has changed; unchanged pages are not sent again."""
    id = stored(served, admin, "The gate of the yard opens at six.")
    path = f"/v1/memories/{id}"
    etag = served.get(path, admin).headers["etag"]
    assert served.get(path, admin, **{"If-None-Match": etag}).status == 304
    served.post("/v1/recall", admin, {"query": "When does the gate of the yard open?"})
    edit = {"text": "The gate of the yard opens at seven."}
    assert served.post(f"{path}/edit", admin, edit, **{"If-Match": etag}).status == 200
    late = served.post(f"{path}/edit", admin, {"text": "It opens at eight."}, **{"If-Match": etag})
    assert (late.status, late.body["hint"]) == (409, "Read it again.")
    now = served.get(path, admin)
    assert now.body["memory"]["text"] == edit["text"]
    assert now.headers["etag"] != etag


def test_a_key_has_something_done_once(served: Gateway, admin: str) -> None:
    key = {"Idempotency-Key": "k1"}
    body = {"text": "The pump of the cellar is checked in March.", "tags": ["pump"]}
    first = served.post("/v1/memories", admin, body, **key)
    again = served.post("/v1/memories", admin, body, **key)
    assert (again.status, again.body) == (200, first.body)
    assert served.post("/v1/memories", admin, {"text": "Another."}, **key).status == 409
    other = served.post("/v1/memories", served.token("write"), {"text": "Another one."}, **key)
    assert other.status == 200
    gone = served.post("/v1/forget", admin, {"ids": [first.body["id"]], "dry_run": False})
    assert gone.body["forgotten"] == 1


def test_forgetting_is_shown_before_it_is_done(served: Gateway, admin: str) -> None:
    id = stored(served, admin, "The old crane was sold to the harbour of Emden.", tags=["crane"])
    for which in ({"id": id}, {"tags": ["crane"]}, {"query": "Who bought the old crane?"}):
        shown = served.post("/webhook/memory-forget", admin, which).body
        assert [one["id"] for one in shown["memories"]] == [id]
        assert shown["forgotten"] == 0
    assert served.post("/v1/forget", admin, {}).status == 400
    confirm = {"confirm": shown["confirm"]}
    assert served.post("/v1/forget", served.token("delete"), confirm).status == 409
    assert served.post("/v1/forget", admin, confirm).body["forgotten"] == 1
    assert served.post("/v1/forget", admin, confirm).status == 409
    assert served.get(f"/v1/memories/{id}", admin).status == 404


def test_links(served: Gateway, admin: str) -> None:
    one = stored(served, admin, "The kiln needs a new thermostat.")
    other = stored(served, admin, "A thermostat was ordered from Jena on Monday.")
    link = {"from": other, "to": one, "relation": "answers"}
    assert served.post("/v1/links", admin, link).body["action"] == "linked"
    links = served.get(f"/v1/memories/{one}", admin).body["links"]
    assert [(each["relation"], each["other"]["id"]) for each in links] == [("answers", other)]
    assert served.post("/v1/links", admin, {**link, "remove": True}).body["removed"] == 1


def test_a_project_s_token_sees_no_other_project(
    served: Gateway, admin: str, tmp_path: Path
) -> None:
    """Neither what is of another one nor what belongs to the user, by no address and no id."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    words = "The turbine of the mill was greased with lithium soap"
    own = stored(served, admin, f"{words} here.", project=str(here))
    foreign = stored(served, admin, f"{words} there.", project=str(there))
    shared = stored(served, admin, f"{words} everywhere, I prefer.", **{"global": True})
    rights = ("read", "write", "feed", "delete")
    token = served.token(*rights, project=str(here))
    question = {"query": "What was the turbine greased with?", "limit": 50}
    found = served.post("/v1/recall", token, question).body["results"]
    assert [one["memory"]["id"] for one in found] == [own]
    for path in ("/v1/memories", "/v1/export", "/v1/entities", "/v1/topics", "/v1/flags"):
        raw = served.get(path, token).raw
        assert b"there." not in raw
        assert b"everywhere" not in raw
    assert own.encode() in served.get("/v1/export", token).raw
    for id in (foreign, shared):
        assert served.get(f"/v1/memories/{id}", token).status == 404
        assert served.post(f"/v1/memories/{id}/edit", token, {"kind": "x"}).status == 404
        assert served.post("/v1/forget", token, {"id": id}).status == 404
        assert served.post("/v1/links", token, {"from": own, "to": id}).status == 404
        new = {"text": "The turbine was greased anew.", "supersedes": id}
        assert served.post("/v1/memories", token, new).status == 404
    for path in ("/v1/stats", "/v1/audit", "/v1/lessons", "/v1/jobs"):
        assert served.get(path, token).status == 403
    for path, body in (
        ("/v1/recall", question),
        ("/v1/memories", {"text": "Something else."}),
        ("/v1/feed", {"session": "s", "messages": []}),
        ("/v1/context", {"session": "s", "messages": [{"id": "1", "role": "user", "text": "x y"}]}),
    ):
        assert served.post(path, token, {**body, "project": str(there)}).status == 403
    assert served.post("/v1/memories", token, {"text": "Mine.", "global": True}).status == 403
    context = served.post("/v1/context", token, {"session": "s", "messages": [
        {"id": "1", "role": "user", "text": "What was the turbine of the mill greased with?"}]})  # fmt: skip
    assert set(context.body["ids"]) <= {own}
    served.get(f"/v1/memories/{own}", admin)
    served.post("/v1/links", admin, {"from": own, "to": foreign})
    assert served.get(f"/v1/memories/{own}", token).body["links"] == []


def test_a_token_with_a_ceiling_sees_nothing_above_it(served: Gateway, admin: str) -> None:
    """By no address: not recalled, listed, shown, exported or forgotten, nor in what is made of all memories."""
    open_one = stored(served, admin, "The grebe service listens on port 7011.")
    secret = stored(served, admin, "The grebe service is paid by the bishop.")
    law = stored(served, admin, "The grebe service keeps its logs in Lyon.")
    ask = served.rig.daemon.ask
    ask("edit", {"id": secret, "sensitivity": "confidential"})
    ask("edit", {"id": law, "jurisdiction": "EU"})
    low = served.token("read", "delete", ceiling="internal")
    found = texts(served.post("/v1/recall", low, {"query": "grebe service", "limit": 9}))
    assert any("7011" in text for text in found) and not any("bishop" in text for text in found)
    page = served.get("/v1/memories?limit=100", low).body["memories"]
    assert secret not in [one["id"] for one in page] and open_one in [one["id"] for one in page]
    assert served.get(f"/v1/memories/{secret}", low).status == 404
    assert b"bishop" not in served.get("/v1/export", low).raw
    assert served.post("/v1/forget", low, {"ids": [secret], "dry_run": False}).status == 404
    for path in ("topics", "lessons", "stats", "flags"):
        assert served.get(f"/v1/{path}", low).status == 403
    french = served.token("read", jurisdictions=["EU"])
    found = texts(served.post("/v1/recall", french, {"query": "grebe service", "limit": 9}))
    assert found == ["The grebe service keeps its logs in Lyon."]
    shown = [one for one in ask("token", {"action": "list"})["tokens"] if one["ceiling"]]
    assert [one["ceiling"] for one in shown] == ["internal"]


def test_no_id_of_what_a_token_does_not_reach_is_told(served: Gateway, admin: str) -> None:
    """What says the same above its ceiling is left as it is, and nothing tells that it is there."""
    text = "The bittern's reed bed is mown in February."
    hidden = stored(served, admin, text)
    served.rig.daemon.ask("edit", {"id": hidden, "sensitivity": "confidential"})
    low = served.token("read", "write", ceiling="internal")
    for said in ("The bittern's reed bed is not mown in February.", text):
        back = served.post("/v1/memories", low, {"text": said})
        assert hidden not in back.raw.decode()
        assert served.get(f"/v1/memories/{back.body['id']}", low).status == 200
    told = served.post("/v1/memories", low, {"text": "The bittern's reed bed is mown in May."}).body
    assert hidden not in told["others"]


def test_who_may_write_does_not_read(served: Gateway, admin: str) -> None:
    """Neither what is merged with what it stores, nor what it changes, is told."""
    id = stored(served, admin, "The vault's combination is kept at the notary's in Celle.")
    token = served.token("write")
    again = served.post(
        "/v1/memories", token, {"text": "The vault's combination is kept at the notary's."}
    )
    assert b"Celle" not in again.raw
    for text in ("The vault's combination is kept at the notary's in Celle.",
                 "The vault's combination is not kept at the notary's in Celle."):  # fmt: skip
        told = served.post("/v1/memories", token, {"text": text}).body
        assert (told["status"], told["action"], told["others"]) == ("stored", "stored", [])
    assert served.post(f"/v1/memories/{id}/edit", token, {"tags": ["y"]}).body == {
        "memory": {"id": id}
    }


class ChatProgram:
    """A small chat program: it asks for context before it answers, and hands over what was said."""

    def __init__(self, served: Gateway, token: str, session: str) -> None:
        self.served, self.token, self.session = served, token, session
        self.said: list[dict[str, str]] = []

    def say(self, role: str, text: str) -> Answer:
        self.said.append({"id": str(len(self.said)), "role": role, "text": text})
        window = self.said[-3:]
        back = self.served.post(
            "/v1/feed", self.token, {"session": self.session, "messages": window}
        )
        assert back.status == 200, back.raw
        return back

    def context(self) -> Any:
        asked = {"session": self.session, "messages": self.said[-3:]}
        return self.served.post("/v1/context", self.token, asked).body


def memories_of(served: Gateway, session: str) -> list[dict[str, Any]]:
    answer = served.rig.daemon.ask("list", {"all_projects": True, "session": session, "k": 100})
    return list(answer["memories"])


@pytest.mark.parametrize("speaks", [True, False])
def test_a_conversation_becomes_memories(served: Gateway, speaks: bool) -> None:
    """Windows overlap and each message counts once. Whose words they are is the token's affair. The next
    session is told of it, once."""
    chat = ChatProgram(served, served.token("feed", "read", speaks_for_me=speaks), f"c{speaks}")
    town = "Leer" if speaks else "Jever"
    chat.say("system", "You are a helpful assistant of the shipyard, and never mention cats.")
    chat.say(
        "user", f"We decided to move the paint shop to {town}, because the hall there is heated."
    )
    last = chat.say(
        "assistant", f"The paint shop in {town} has a heated hall and a dock of its own."
    )
    assert (last.body["queued"], last.body["duplicates"]) == (1, 1)
    session = last.body["session"]
    over = {"session": chat.session, "messages": [], "final": True}
    assert served.post("/v1/feed", chat.token, over).status == 200
    rig = served.rig
    found = rig.until(lambda: memories_of(served, session), "its memories")
    passages = [one for one in found if one["kind"] == "exchange"]
    assert {one["origin"] for one in passages} == {"user" if speaks else "assistant"}
    assert not [one for one in found if "cats" in one["text"]]
    path = found[0]["source"]["path"]
    rig.until(lambda: not os.path.exists(path), "the end of its file")
    rig.state("full")
    again = served.post("/v1/feed", chat.token, {"session": chat.session, "messages": chat.said})
    assert again.status == 200
    rig.until(lambda: not os.listdir(rig.home.spool), "the second reading")
    assert len([one for one in memories_of(served, session) if one["kind"] == "exchange"]) == len(
        passages
    )
    next_chat = ChatProgram(served, chat.token, f"n{speaks}")
    next_chat.say("user", f"Why did we move the paint shop to {town}?")
    told = next_chat.context()
    assert "heated" in told["context"]
    assert 0 < told["tokens"] <= 500
    assert not set(next_chat.context()["ids"]) & set(told["ids"])


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    """The daemon is killed again and again in the midst of what a program hands over."""
    with gateway(tmp_path) as served:
        token = served.token("feed", speaks_for_me=True)
        taken, session = 0, ""
        for number in range(12):
            message = {
                "id": str(number),
                "role": "user",
                "text": f"Delivery {number} of the sawmill holds {number * 37 + 5} beams of larch "
                "and goes to the boatyard by the canal, not by road.",
            }
            body = {"session": "s", "messages": [message]}
            running = served.rig.daemon.running() if number % 3 == 1 else None
            if running:
                killer = threading.Thread(target=os.kill, args=(running["pid"], signal.SIGKILL))
                killer.start()
            back = served.post("/v1/feed", token, body)
            while back.status != 200:
                assert back.status == 503
                back = served.post("/v1/feed", token, body)
            taken += back.body["accepted"] + back.body["duplicates"]
            session = back.body["session"]
        assert taken == 12
        served.post("/v1/feed", token, {"session": "s", "messages": [], "final": True})

        def whole() -> bool:
            told = json.dumps([one["text"] for one in memories_of(served, session)])
            return all(f"Delivery {number} of" in told for number in range(12))

        served.rig.until(whole, "all that was acknowledged")


def test_who_may_write_is_not_shown_what_says_the_same(served: Gateway, admin: str) -> None:
    for words in ("The weaver's loom has 40 shafts.", "The loom of the weaver has 40 shafts."):
        served.rig.daemon.ask(
            "remember", {"text": words, "project": str(served.folder), "wait": False}
        )
    served.rig.daemon.ask("wait", {"timeout_s": 90})
    seen = served.post("/v1/organize", admin, {}).body["groups"]
    assert any("loom" in one["text"] for group in seen for one in group["memories"])
    told = served.post("/v1/organize", served.token("write"), {}).body["groups"]
    assert {name for group in told for one in group["memories"] for name in one} == {"id"}


def test_what_is_purged_goes_from_a_conversation_that_is_not_over(
    served: Gateway, admin: str
) -> None:
    words = "The ferryman Onno Harms keeps the spare key of the lighthouse under the third step."
    message = {"id": "1", "role": "user", "text": words}
    served.post("/v1/feed", admin, {"session": "p", "messages": [message]})
    rig = served.rig
    rig.until(lambda: not os.listdir(rig.home.spool), "its reading")
    done = rig.daemon.ask("purge", {"text": "Onno Harms"}, 120)
    assert done["errors"] == []
    for file in os.scandir(rig.home.feeds):
        with open(file.path, "rb") as feed:
            assert b"Onno" not in feed.read()


def test_an_answer_without_a_daemon_is_an_error(tmp_path: Path) -> None:
    """What it does not know is told in the form of all errors."""
    with gateway(tmp_path) as served:
        token = served.token("admin")
        served.rig.daemon.stop()
        os.unlink(served.rig.home.path("runtime", "venv"))
        for path in ("/v1/memories", "/v1/export"):
            back = served.get(path, token)
            assert back.status == 503
            assert set(back.body) == {"error", "hint"}


def test_what_takes_the_place_of_another_is_stored_where_that_is(
    served: Gateway, admin: str, tmp_path: Path
) -> None:
    """Unless a project is named."""
    there = tmp_path / "lock"
    there.mkdir()
    id = stored(served, admin, "The lock's sluice is greased in June.", project=str(there))
    id = stored(served, admin, "The lock's sluice is greased in May.", supersedes=id)
    assert served.get(f"/v1/memories/{id}", admin).body["memory"]["project"] == "lock"
    id = stored(served, admin, "It is greased in July.", supersedes=id, project=str(served.folder))
    assert served.get(f"/v1/memories/{id}", admin).body["memory"]["project"] == served.folder.name
