"""Who gets in at the gateway, and who does not."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from daemon_rig import Rig
from gateway_rig import CODE, Gateway, gateway

from vector_memory.web import access
from vector_memory.web.routes import GET, ROUTES


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("doors")) as made:
        yield made


@pytest.fixture(scope="module")
def admin(served: Gateway) -> str:
    return served.token("admin")


class Idlers(NamedTuple):
    """Connections that say nothing, or half a head, and one that does not end."""

    silent: list[socket.socket]
    slow: socket.socket


@pytest.fixture(scope="module")
def idlers(served: Gateway, admin: str) -> Iterator[Idlers]:
    """They are let wait for ten seconds, in which other tests run."""
    slow = (
        f"POST /v1/recall HTTP/1.1\r\nHost: {served.host}\r\nAuthorization: Bearer {admin}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    heads = (*[b""] * 40, b"GET /healthz HTTP/1.1\r\nHost: ")
    made = Idlers([served.raw(head) for head in heads], served.raw(slow.encode()))
    yield made
    for one in (*made.silent, made.slow):
        one.close()


@pytest.mark.usefixtures("idlers")
def test_who_says_nothing_keeps_nobody_waiting(served: Gateway) -> None:
    assert served.get("/healthz", "").status == 200


ADDRESSES = [
    (route.method, path.replace("{id}", "abcd1234"))
    for route in ROUTES
    for path in (route.path, *route.aliases)
]


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_no_address_answers_without_a_token_or_for_another_site(
    served: Gateway, admin: str, method: str, path: str
) -> None:
    """Each route: no token, one that was never made, a foreign host, a re-bound name, a foreign page."""
    body = {} if method == "POST" else None
    own = served.host
    assert served.call(method, path, "", body).status == 401
    assert served.call(method, path, "vm_00000000_" + "0" * 48, body).status == 401
    for host in ("localhost", f"localhost:{served.port}", "127.0.0.1", "evil.test", f"{own}.evil.test",
                 "127.0.0.1:1", f"[::1]:{served.port}", f"evil.test:{served.port}"):  # fmt: skip
        back = served.call(method, path, admin, body, {"Host": host})
        assert back.status == 421
        assert set(back.body) == {"error", "hint"}
    for origin in ("http://evil.test", "null", f"https://{own}", "http://127.0.0.1:1"):
        assert served.call(method, path, admin, body, {"Origin": origin}).status == 403
    for site in ("cross-site", "same-site"):
        assert served.call(method, path, admin, body, {"Sec-Fetch-Site": site}).status == 403


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_a_token_has_its_right_and_no_other(served: Gateway, route: object) -> None:
    assert route in ROUTES
    one = ROUTES[ROUTES.index(route)]  # type: ignore[arg-type]
    others = [right for right in ("read", "write", "feed", "delete") if right != one.right]
    path = one.path.replace("{id}", "abcd1234")
    body = None if one.method == GET else {}
    refused = served.call(one.method, path, served.token(*others), body)
    assert refused.status == 403
    assert one.right in refused.body["error"]
    assert served.call(one.method, path, served.token(one.right), body).status in (200, 400, 404)


def test_a_page_of_its_own_is_answered(served: Gateway, admin: str) -> None:
    own = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
    back = served.call("GET", "/v1/memories", admin, None, own)
    assert back.status == 200
    assert not [name for name in back.headers if name.startswith("access-control")]
    assert "default-src 'none'" in back.headers["content-security-policy"]
    assert back.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in back.headers


def test_only_health_and_the_document_need_no_token(served: Gateway) -> None:
    assert served.get("/healthz", "").body == {"ok": True}
    assert "/v1/recall" in served.get("/v1/openapi.json", "").body["paths"]
    assert served.call("GET", "/healthz", "", None, {"Host": "evil.test"}).status == 421


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(served: Gateway, admin: str, method: str) -> None:
    back = served.call(method, "/v1/memories", admin)
    assert (back.status, back.headers["allow"]) == (405, "GET, POST")


def test_bodies_have_limits(served: Gateway, admin: str) -> None:
    """Too long, by its own word or not; no JSON; another type; nested too deep."""
    long = b'{"query": "' + b"a" * access.BODY_BYTES + b'"}'
    assert served.post("/v1/recall", admin, long).status == 413
    chunks = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    with contextlib.closing(chunks):
        headers = {"Authorization": f"Bearer {admin}", "Content-Type": "application/json"}
        chunks.request("POST", "/v1/recall", (long for _ in range(2)), headers, encode_chunked=True)
        assert chunks.getresponse().status == 413
    assert served.post("/v1/recall", admin, b"{").status == 400
    assert served.post("/v1/recall", admin, b"[]").status == 400
    assert served.post("/v1/recall", admin, b"[" * 100_000).status == 400
    assert (
        served.call("POST", "/v1/recall", admin, b"{}", {"Content-Type": "text/plain"}).status
        == 415
    )


def test_tokens_end_and_are_revoked(served: Gateway) -> None:
    served.rig.daemon.ask("token", {"action": "new", "name": "brief", "right": "read"})
    token = served.token("read", name="revoked")
    assert served.get("/v1/memories", token).status == 200
    assert served.rig.daemon.ask("token", {"action": "revoke", "id": "revoked"}) == {"revoked": 1}
    assert served.get("/v1/memories", token).status == 401
    ended = served.token("read", name="ended", until="in 1 hours")
    file = Path(served.rig.home.tokens)
    kept = json.loads(file.read_text())
    next(one for one in kept["tokens"] if one["name"] == "ended")["until"] = (
        "2020-01-01T00:00:00+00:00"
    )
    file.write_text(json.dumps(kept))
    assert served.get("/v1/memories", ended).status == 401


def test_tokens_lie_as_hashes_in_a_closed_file(served: Gateway) -> None:
    """Whoever reads the file has no token; one that others can read is not used."""
    token = served.token("read", name="hashed")
    file = Path(served.rig.home.tokens)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in file.read_text()
    listed = served.rig.daemon.ask("token", {"action": "list"})["tokens"]
    assert all("digest" not in one and token not in json.dumps(one) for one in listed)
    os.chmod(file, 0o644)
    assert served.get("/v1/memories", token).status == 401
    os.chmod(file, 0o600)
    assert served.get("/v1/memories", token).status == 200


def test_no_agent_makes_a_token(served: Gateway) -> None:
    environ = {**os.environ, "VECTOR_MEMORY_HOME": served.rig.home.root, "CLAUDECODE": "1"}
    words = ["token", "new", "--name", "mine", "--right", "admin", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Only the user" in json.loads(done.stdout)["error"]


def test_a_token_is_used_only_so_often(served: Gateway) -> None:
    token = served.token("read", name="eager")
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    statuses = []
    with contextlib.closing(connection):
        for _ in range(20 * access.BURST):
            connection.request("GET", "/v1/nothing", headers=headers)
            back = connection.getresponse()
            back.read()
            statuses.append(back.status)
            if back.status == 429:
                assert int(back.headers["Retry-After"]) >= 1
                break
    assert statuses[-1] == 429
    assert len(statuses) >= access.BURST


def test_every_call_is_in_the_audit_log(served: Gateway, admin: str) -> None:
    served.token("read", name="seen")
    token = served.token("read", name="watched")
    served.post("/v1/recall", token, {"query": "anything"})
    entries = served.get("/v1/audit?action=http", admin).body["entries"]
    assert ("http:watched", {"asked": "POST /v1/recall"}) in [
        (one["actor"], one["detail"]) for one in entries
    ]


def test_it_ends_in_good_order(tmp_path: Path) -> None:
    """On SIGTERM with 0 and nothing left; by itself when nobody comes; a port that is taken is told."""
    rig = Rig(tmp_path / "data")
    first = Gateway(rig, tmp_path)
    second = Gateway(rig, tmp_path, "--port", str(first.port))
    assert "cannot be used" in second.told["error"]
    assert second.process.wait(30) == 1
    assert first.told["pid"] == first.process.pid
    assert first.end() == 0
    idle = Gateway(rig, tmp_path, "--idle-minutes", "0.01")
    assert idle.process.wait(60) == 0
    rig.daemon.stop()


def test_a_unix_socket_is_for_its_owner(tmp_path: Path) -> None:
    """No port, 0600, no host to name; a page's origin is refused all the same; the file goes at the end."""
    rig = Rig(tmp_path / "data")
    path = tmp_path / "g.sock"
    mistyped = Gateway(rig, tmp_path, "--socket", str(tmp_path / "none" / "g.sock"))
    assert "cannot be used: No such file or directory." in mistyped.told["error"]
    mistyped.process.wait(30)
    assert not (tmp_path / "none").exists()
    served = Gateway(rig, tmp_path, "--socket", str(path))
    assert served.url == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for origin, status in (("", b"200"), ("Origin: http://localhost\r\n", b"403")):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: x\r\n{origin}\r\n".encode())
            assert connection.recv(100).split()[1] == status
    taken = Gateway(rig, tmp_path, "--socket", str(path))
    assert "cannot be used" in taken.told["error"]
    taken.process.wait(30)
    assert served.end() == 0
    assert not path.exists()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    again = Gateway(rig, tmp_path, "--socket", str(path))
    assert again.told["pid"]
    os.kill(again.process.pid, signal.SIGINT)
    assert again.process.wait(30) == 0


def test_no_file_is_taken_for_a_socket_that_was_left(tmp_path: Path) -> None:
    """Whatever else stands at the path stays what it is."""
    rig = Rig(tmp_path / "data")
    notes, link = tmp_path / "notes.txt", tmp_path / "link"
    notes.write_text("not to be lost")
    link.symlink_to(notes)
    for path in (notes, link):
        served = Gateway(rig, tmp_path, "--socket", str(path))
        assert "no socket" in served.told["error"]
        assert served.process.wait(30) == 1
    assert link.is_symlink()
    assert notes.read_text() == "not to be lost"


def test_who_says_nothing_or_no_end_is_shown_the_door(idlers: Idlers) -> None:
    """The last test, so that their time is over by now."""
    for one in idlers.silent:
        assert one.recv(100) == b""
    assert b"408" in idlers.slow.recv(100)
