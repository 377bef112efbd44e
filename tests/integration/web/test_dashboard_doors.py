"""Who gets in at the dashboard, and what pages may ask. A browser looks at it in tests/e2e."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_rig import Answer, Gateway, gateway
from talk import transcript

from vector_memory.daemon import verbs
from vector_memory.errors import BadInputError
from vector_memory.web import dashboard

OWN = {"list", "recall", "forget", "edit", "where", "memories", "settings", "doctor"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("doors"), "--no-open", verb="dashboard") as made:
        yield made


def code_of(served: Gateway) -> str:
    """Return the code in the file that leads a browser in."""
    (door,) = Path(served.rig.home.gateways).glob(f"{served.process.pid}.html")
    assert door.stat().st_mode & 0o077 == 0
    found = re.search(r"#code=([\w-]+)", door.read_text())
    assert found
    return found[1]


@pytest.fixture(scope="module")
def bearer(served: Gateway) -> str:
    back = served.post("/enter", "", {"code": code_of(served)})
    assert back.status == 200, back.raw
    return str(back.body["bearer"])


def ask(served: Gateway, bearer: str, verb: str, **body: Any) -> Answer:
    return served.post(f"/ask/{verb}", bearer, {"all_projects": True, **body})


def test_one_line_tells_where_it_is_and_no_code(served: Gateway) -> None:
    assert set(served.told) == {"url", "pid"}
    assert served.told["pid"] == served.process.pid
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", served.url)


def test_a_code_lets_in_once(served: Gateway, bearer: str) -> None:
    assert served.post("/enter", "", {"code": code_of(served)}).status == 401
    for wrong in ({"code": "x"}, {"code": 7}, {}):
        assert served.post("/enter", "", wrong).status == 401
    assert served.post("/enter", "", b"[]").status == 400
    assert ask(served, bearer, "where").body == {"folder": os.path.realpath(served.folder)}


def test_what_is_the_users_needs_a_bearer(served: Gateway) -> None:
    paths = [("POST", f"/ask/{verb}") for verb in sorted({*dashboard.ASKED, *OWN})]
    paths += [("POST", f"/run/{verb}") for verb in sorted(dashboard.RUN)]
    for method, path in [*paths, ("GET", "/live")]:
        assert served.call(method, path, "", {} if method == "POST" else None).status == 401
        wrong = served.call(method, path, "page_" + "0" * 48, {} if method == "POST" else None)
        assert wrong.status == 401


def test_a_program_with_fewer_rights_is_not_let_in(served: Gateway) -> None:
    assert ask(served, served.token("read", "write", "delete", "feed"), "list").status == 401
    assert ask(served, served.token("admin"), "list").status == 200


def test_a_project_that_is_not_shared_is_no_error(served: Gateway, bearer: str) -> None:
    """Browsers log errors, and Settings asks of each project."""
    where = {"project": str(served.folder), "all_projects": False}
    for project in (where, {**where, "project": str(served.folder / "gone")}):
        back = ask(served, bearer, "share_status", **project)
        assert (back.status, back.body) == (200, {})


def test_pages_look_at_who_acts_and_change_nothing_of_it(served: Gateway, bearer: str) -> None:
    assert ask(served, bearer, "contract", action="create", name="mine").body == {"contracts": []}
    assert "done" not in ask(served, bearer, "actors", action="terminate", id="x").body


def test_other_hosts_and_sites_are_refused(served: Gateway, bearer: str) -> None:
    """A re-bound name, a page of another port, a foreign page; the shell alone may be linked to."""
    for path in ("/", "/app/main.js", "/ask/list"):
        method = "POST" if path.startswith("/ask") else "GET"
        body = {} if method == "POST" else None
        for host in (
            "localhost",
            f"localhost:{served.port}",
            f"evil.test:{served.port}",
            "127.0.0.1:1",
        ):
            assert served.call(method, path, bearer, body, {"Host": host}).status == 421
        for origin in ("http://evil.test", "null", "http://127.0.0.1:1"):
            assert served.call(method, path, bearer, body, {"Origin": origin}).status == 403
        assert (
            served.call(method, path, bearer, body, {"Sec-Fetch-Site": "cross-site"}).status == 403
        )
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert served.call("GET", "/", "", None, link).status == 200
    assert served.call("POST", "/ask/list", bearer, {}, link).status == 403


def test_the_shell_holds_nothing_and_says_what_it_may_load(served: Gateway) -> None:
    shell = served.get("/", "")
    policy = shell.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
    assert "unsafe" not in policy
    assert "set-cookie" not in shell.headers
    assert not [name for name in shell.headers if name.startswith("access-control")]
    assert b"<script>" not in shell.raw
    for path in ("/app/..%2fentrance.py", "/app/../main.py", "/app/index.html", "/static/app.css"):
        assert served.get(path, "").status in (401, 404)


def test_no_page_module_parses_markup_or_reaches_out() -> None:
    """Whatever comes from memory is text: no sink of markup, no code from text, no address of another host."""
    lines = 0
    for name in os.listdir(dashboard.STATIC):
        source = Path(dashboard.STATIC, name).read_text()
        lines += source.count("\n")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source
        )
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source), name
    assert lines <= 3_000


def test_a_page_asks_what_is_listed_and_says_not_who_it_is(served: Gateway, bearer: str) -> None:
    assert set(verbs.SIMPLE) | {"status"} >= dashboard.ASKED
    assert set(verbs.LONG) >= dashboard.RUN
    for verb in ("import", "trust", "stop", "nothing", "purge"):
        assert ask(served, bearer, verb).status == 404
    stored = ask(
        served, bearer, "remember", text="The ferry leaves at nine.", actor="mcp", cwd="/nowhere"
    )
    assert stored.body["origin"] == "user"
    assert stored.body["project"] == "project"
    entries = ask(served, bearer, "audit", action="http").body["entries"]
    assert ("http:dashboard", {"asked": "dashboard remember"}) in [
        (one["actor"], one["detail"]) for one in entries
    ]


def test_of_two_who_edit_the_second_hears_of_the_first(served: Gateway, bearer: str) -> None:
    id = ask(served, bearer, "remember", text="The kiosk opens at seven.").body["id"]
    seen = {"text": "The kiosk opens at seven.", "kind": "note"}
    first = ask(served, bearer, "edit", id=id, seen=seen, text="The kiosk opens at eight.")
    assert first.body["memory"]["text"] == "The kiosk opens at eight."
    second = ask(served, bearer, "edit", id=id, seen=seen, text="The kiosk opens at six.")
    assert second.status == 409
    assert set(second.body) == {"error", "hint"}
    assert ask(served, bearer, "get", id=id).body["memory"]["text"] == "The kiosk opens at eight."


def test_long_work_tells_how_far_it_is(served: Gateway, bearer: str) -> None:
    ask(served, bearer, "remember", text="The lighthouse is painted every second year.")
    back = served.post("/run/rebuild", bearer, {})
    lines = [json.loads(line) for line in back.raw.splitlines()]
    assert lines[-1]["kind"] == "answer"
    # How many rows it takes depends on whether the model is there yet.
    assert {"rows", "seconds"} <= set(lines[-1]["data"])
    assert served.post("/run/run_job", bearer, {"name": "none"}).status in (400, 404)


@pytest.mark.parametrize("work", ["import", "backfill", "rebuild", "backup"])
def test_who_goes_away_ends_long_work(
    served: Gateway, bearer: str, tmp_path: Path, work: str
) -> None:
    """It tells how much of how much is done; what was done stays, what was there is whole, and no more comes."""
    daemon, total = served.rig.daemon, 5_000

    def rows() -> int:
        return int(daemon.ask("list", {"all_projects": True, "k": 1})["total"])

    if work == "import":
        path = tmp_path / "many.jsonl"
        path.write_text("".join(f'{{"text": "Crate {n} stands in row {n * 3}."}}\n' for n in range(total)))  # fmt: skip
        asked: dict[str, Any] = {"path": str(path)}
    else:
        talk = [(f"Where is crate {n}?", f"Crate {n} was moved to row {n * 3} of the hall.") for n in range(60)]  # fmt: skip
        for number in range(20 if work == "backfill" else 0):
            transcript(tmp_path, talk, f"session-{number}")
        asked = {"paths": [str(tmp_path)]} if work == "backfill" else {}
        total = rows() + 20 * 60
    body = json.dumps(asked).encode()
    head = f"POST /run/{work} HTTP/1.1\r\nHost: {served.host}\r\nAuthorization: Bearer {bearer}\r\n"
    with served.raw(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body) as line:  # fmt: skip
        told = b""
        while b'"progress"' not in told and b'"answer"' not in told:
            told += line.recv(65_536)
        is_short = b'"answer"' in told
    assert b'"done"' in told or is_short
    before = -1
    while (now := rows()) != before:
        before = now
        time.sleep(1.0)
    assert now < total
    assert ask(served, bearer, "recall", query="crate in a row").status == 200
    checked = [json.loads(one) for one in served.post("/run/check", bearer, {}).raw.splitlines()]
    assert checked[-1]["data"]["problems"] == []


def test_settings_are_those_of_the_command_line(served: Gateway, bearer: str) -> None:
    listed = {one["name"]: one for one in ask(served, bearer, "settings").body["settings"]}
    assert listed["prompt_memories"]["about"]
    changed = ask(served, bearer, "set_setting", name="prompt_memories", value="3")
    assert changed.body["value"] == 3
    refused = ask(served, bearer, "set_setting", name="prompt_memories", value="many")
    assert refused.status == 400
    assert refused.body["error"]
    assert ask(served, bearer, "set_setting", name="--help", value="x").status == 400
    assert ask(served, bearer, "unset_setting", name="prompt_memories").body["source"] == "default"


def test_one_that_runs_is_opened_again_for_the_user_alone(served: Gateway) -> None:
    """The daemon looks at who asks for a code; one that it gave is good once. An agent is given none."""
    ask_daemon = served.rig.daemon.ask
    code = ask_daemon("token", {"action": "code"})["token"]
    assert served.post("/enter", "", {"code": code}).status == 200
    assert served.post("/enter", "", {"code": code}).status == 401
    with pytest.raises(BadInputError):
        ask_daemon("token", {"action": "code", "actor": "agent"})


def test_it_ends_in_good_order(tmp_path: Path) -> None:
    """On SIGTERM with 0, and its door goes; by itself when nobody comes."""
    with gateway(tmp_path, "--no-open", verb="dashboard") as made:
        door = Path(made.rig.home.gateways, f"{made.process.pid}.html")
        assert door.exists()
        os.kill(made.process.pid, signal.SIGTERM)
        assert made.process.wait(30) == 0
        assert not door.exists()
        idle = Gateway(
            made.rig, made.folder, "--no-open", "--idle-minutes", "0.01", verb="dashboard"
        )
        assert idle.process.wait(60) == 0
