"""`token` and `feed` at the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from gateway_rig import CODE, Gateway, gateway


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "data")
    yield made
    made.daemon.stop()


def run(rig: Rig, folder: Path, *words: str, stdin: str = "") -> tuple[int, dict[str, Any]]:
    """Run a command in a folder; return its exit code and its answer."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words, "--json"],
        env={**os.environ, "VECTOR_MEMORY_HOME": rig.home.root},
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "{}")


def test_an_agent_card_is_served_only_where_it_is_wished(tmp_path: Path) -> None:
    """Signed by this installation's key over all of it, and open; the protocol that it names is the gateway's own."""
    path = "/.well-known/agent-card.json"
    for name in ("plain", "carded"):
        (tmp_path / name).mkdir()
    with gateway(tmp_path / "plain") as served:
        assert served.get(path, "").status == 401
    with gateway(tmp_path / "carded", "--card", "Ann's memory") as served:
        answer = served.get(path, "")
        card = answer.body
        assert (answer.status, card["name"]) == (200, "Ann's memory")
        (interface,) = card["supportedInterfaces"]
        assert interface["protocolBinding"] == f"{served.url}/v1/openapi.json"
        told = served.rig.daemon.ask("card", {"action": "verify", "card": answer.raw.decode()})
        assert told["valid"] is True
        spoilt = json.dumps({**card, "name": "Eve's memory"})
        assert served.rig.daemon.ask("card", {"action": "verify", "card": spoilt})["valid"] is False
        assert served.get(path, "", Host="evil.example").status == 421


def test_tokens_are_made_listed_and_revoked(rig: Rig, app: Path) -> None:
    words = ("token", "new", "--name", "notes", "--right", "read", "--right", "write")
    code, made = run(rig, app, *words, "--project", str(app), "--until", "2099-01-01")
    assert code == 0
    assert set(made) == {"token", "id"}
    (listed,) = run(rig, app, "token", "list")[1]["tokens"]
    assert (listed["id"], listed["rights"]) == (made["id"], ["read", "write"])
    assert listed["project"] == os.path.realpath(app)
    assert made["token"] not in json.dumps(listed)
    for wrong in (
        ("--name", "notes", "--right", "read"),
        ("--name", "a b", "--right", "read"),
        ("--name", "late", "--right", "read", "--until", "2020-01-01"),
        ("--name", "when", "--right", "read", "--until", "never"),
    ):
        code, told = run(rig, app, "token", "new", *wrong)
        assert (code, set(told)) == (1, {"error", "hint"})
    assert run(rig, app, "token", "new", "--name", "x", "--right", "all")[0] == 2
    # The day to come, as with `--expires`.
    soon = run(rig, app, "token", "new", "--name", "soon", "--right", "read", "--until", "3d")
    assert soon[0] == 0
    assert run(rig, app, "token", "revoke", "soon")[0] == 0
    assert run(rig, app, "token", "revoke", made["id"])[1] == {"revoked": 1}
    assert run(rig, app, "token", "revoke", made["id"])[0] == 1
    assert run(rig, app, "token", "list")[1]["tokens"] == []


def test_a_conversation_comes_from_stdin(rig: Rig, app: Path) -> None:
    """Each message once; a broken line is told with its number, and what came before it is kept."""
    messages = [
        {
            "id": "1",
            "role": "user",
            "text": "We decided to paint the ferry's hull with lead-free red.",
        },
        {"id": "2", "role": "tool", "text": "the colours of the shop"},
        {
            "id": "3",
            "role": "assistant",
            "text": "Lead-free red dries in two days below 10 degrees.",
        },
    ]
    lines = "".join(json.dumps(one) + "\n" for one in messages)
    words = ("feed", "-", "--session", "s1", "--speaks-for-me")
    assert run(rig, app, *words, stdin=lines) == (0, {"accepted": 3, "queued": 2, "duplicates": 0})
    again = run(rig, app, *words, "--final", stdin=lines)
    assert again == (0, {"accepted": 1, "queued": 0, "duplicates": 2})
    code, told = run(rig, app, *words, stdin=lines + "{")
    assert code == 1
    assert "Line 4" in told["error"]

    def found() -> Any:
        asked = {"project": str(app), "kind": "exchange"}
        return rig.daemon.ask("list", asked)["memories"]

    (memory, *_) = rig.until(found, "its memories")
    assert memory["origin"] == "user"
    assert memory["source"]["session"] == "feed:s1"
    # What stands before the line that is none is taken over, as the hint says.
    other = ("feed", "-", "--session", "s2", "--speaks-for-me")
    assert run(rig, app, *other, stdin=lines + "{")[0] == 1
    assert run(rig, app, *other, stdin=lines)[1]["duplicates"] == 2


def test_nothing_is_taken_over_where_the_user_wants_no_memory(rig: Rig, app: Path) -> None:
    rig.configure(excluded_projects=[str(app)])
    line = json.dumps({"id": "1", "role": "user", "text": "Nobody is to know of the red ferry."})
    code, told = run(rig, app, "feed", "-", "--session", "s1", stdin=line + "\n")
    assert (code, set(told)) == (1, {"error", "hint"})
    assert not os.path.exists(rig.home.feeds)


def test_a_job_asks_gateways_how_they_are(tmp_path: Path) -> None:
    """At a port and at a socket; one that was stopped is silent, and one that was killed is none."""
    with gateway(tmp_path, "--socket", str(tmp_path / "g.sock")) as first:
        second = Gateway(first.rig, first.folder)

        def asked() -> dict[str, Any]:
            told: dict[str, Any] = run(first.rig, tmp_path, "jobs", "run", "memory-gateway")[1]
            return told

        done = asked()
        assert (done["outcome"], sorted(done["report"]["gateways"])) == (
            "ok",
            sorted([first.url, second.url]),
        )
        page = Gateway(first.rig, first.folder, "--no-open", verb="dashboard")
        assert page.url not in asked()["report"]["gateways"]
        page.end()
        second.process.send_signal(signal.SIGSTOP)
        done = asked()
        assert (done["outcome"], done["report"]["silent"]) == ("failed", [second.url])
        second.process.kill()
        second.process.wait()
        assert asked()["report"]["gateways"] == [first.url]


@pytest.mark.parametrize("words", [("serve",), ("dashboard", "--no-open")])
def test_a_data_home_that_takes_no_file_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Full, or only to be read: what is wrong and what to do, for people and for programs."""
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    for more in ((), ("--json",)):
        done = subprocess.run(
            [sys.executable, "-c", full + CODE, *words, *more],
            env={**os.environ, "VECTOR_MEMORY_HOME": str(tmp_path / "data")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        told = json.loads(done.stdout)["hint"] if more else done.stderr
        assert "Free space" in told
        assert "Traceback" not in done.stderr
