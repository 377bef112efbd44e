"""What comes in where it should not: one endless line through every door, broken JSON and odd strings, a
crowd of idle clients, another user. Goals: no crash, what stands around it is found, at most 64 MB more;
the crowd's prompt is answered; the other user reaches nothing.

    DATA_HOME/runtime/venv/bin/python benchmarks/doors.py --home DATA_HOME [--quick] [--corpora DIR]

The line is a gigabyte, 64 MB with --quick. DIR holds `malformed/JSONTestSuite`, `strings` (the big list of
naughty strings) and `unicode/confusables.txt` as their projects publish them; without it a few strings
of this file's own are used. Another user is tried where root runs this, on Linux.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, percentile, show

from vector_memory import errors, wire
from vector_memory.system import paths

CHILD = ROOT / "tests" / "long_lines.py"
FILL = 3_000
"""Memories, so that an export is more than a socket holds."""
OWN_JSON = (
    b"",
    b"[",
    b'{"a":',
    b"[1,]",
    b'"\\ud800"',
    b"\xff\xfe[\x00",
    b"[" * 100_000,
    b"-",
    b"1e9999",
    b"{}",
)
OWN_STRINGS = (
    "",
    "NULL",
    "' OR 1=1 --",
    "$(id)",
    "%s%n",
    "\u202etxt",
    "\ud800",
    "\x00",
    "\ufdfd",
    "e" + "\u0301" * 99,
)
HOOKS = ("user_prompt_submit", "post_tool_use_failure", "session_start")
NOBODY = 65_534
MOST_MB = 64.0


def in_child(door: str, megabytes: int) -> dict[str, Any]:
    """Measure a door in a process of its own."""
    folder = tempfile.mkdtemp(prefix="vector-memory-line-")
    try:
        command = [sys.executable, str(CHILD), door, str(megabytes), folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        told = json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)
    return row(door, megabytes, told["growth_mb"], told["found"])


def row(door: str, megabytes: int, growth: float, found: object) -> dict[str, Any]:
    """Return one line of the table."""
    fits = "yes" if growth <= MOST_MB else "NO"
    return {"door": door, "line MB": megabytes, "growth MB": growth, "found": found, "fits": fits}


def through_import(made: Bench, megabytes: int) -> dict[str, Any]:
    """Import it into the running daemon."""
    path = Path(made.root, "long.jsonl")
    with open(path, "wb") as file:
        file.write(b'{"text": "the line before"}\n{"text": "')
        for _ in range(megabytes):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"text": "the line after"}\n')
    pid = made.daemon.start()["pid"]
    before = memory_mb(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    asked = {"path": str(path), "global": True, "wait": False}
    answer = [body for kind, body in made.daemon.stream("import", asked) if kind == "answer"][0]
    growth = round(memory_mb(pid, "VmHWM") - before, 1)
    path.unlink()
    found = f"{answer['stored'] + answer['merged']} stored, {answer['skipped']} skipped"
    return row("import (daemon)", megabytes, growth, found)


def through_hook(made: Bench, megabytes: int) -> dict[str, Any]:
    """Pipe it into a hook, through its shell."""
    script = os.path.join(made.home.app_current, "hooks", "run")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        ["sh", script, "user_prompt_submit"],
        stdin=reading, stdout=subprocess.PIPE, env=made.environment,
    )  # fmt: skip
    os.close(reading)

    def feed() -> None:
        with open(writing, "wb", buffering=0) as pipe:
            for _ in range(megabytes):
                try:
                    pipe.write(b"x" * (1 << 20))
                except BrokenPipeError:
                    return

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    feeder.join()
    found = f"exit {process.returncode}, {len(printed)} bytes printed"
    return row("hook (whole process)", megabytes, round(usage.ru_maxrss / 1024, 1), found)


def strange(corpora: str) -> dict[str, list[bytes]]:
    """Return what no parser likes, by where it comes from."""
    folder = Path(corpora)
    if not corpora:
        return {"own": [*OWN_JSON, *(one.encode("utf-8", "surrogatepass") for one in OWN_STRINGS)]}
    suite = sorted((folder / "malformed/JSONTestSuite/test_parsing").iterdir())
    naughty = json.loads((folder / "strings/blns.json").read_text("utf-8"))
    lines = (folder / "unicode/confusables.txt").read_text("utf-8-sig").splitlines()
    rows = [line.split(";") for line in lines if line[:1] not in ("#", "")]
    alike = ["".join(chr(int(one, 16)) for one in row[0].split()) for row in rows]
    words = [
        " ".join(f"use the t{one}ken in {one}.py" for one in alike[i : i + 8])
        for i in range(0, len(alike), 8)
    ]
    return {
        "JSONTestSuite": [path.read_bytes() for path in suite],
        "naughty strings": [one.encode("utf-8", "surrogatepass") for one in naughty],
        "confusables": [one.encode("utf-8", "surrogatepass") for one in words],
    }


def oddities(made: Bench, corpora: str) -> list[dict[str, Any]]:
    """Send strange bytes through transcripts, imports, hooks and the socket of one daemon."""
    rows = []
    for kind, pieces in strange(corpora).items():
        for door, send in (
            ("transcript", odd_transcript), ("import", odd_import),
            ("hook", odd_hooks), ("socket", odd_requests),
        ):  # fmt: skip
            send(made, pieces[:20])
            pid = made.daemon.start()["pid"]
            before = memory_mb(pid, "VmRSS")
            Path(f"/proc/{pid}/clear_refs").write_text("5")
            found = send(made, pieces)
            alive = made.daemon.running()
            same = "yes" if alive and alive["pid"] == pid else "NO"
            growth = round(memory_mb(pid, "VmHWM") - before, 1) if same == "yes" else 0.0
            rows.append(
                {"strange": kind, "door": door, "pieces": len(pieces), "growth MB": growth,
                 "found": found, "still running": same,
                 "fits": "yes" if growth <= MOST_MB and same == "yes" else "NO"}
            )  # fmt: skip
    return rows


def said(words: str, number: int, session: str) -> bytes:
    """Return a line of a transcript."""
    line = {"type": "user", "uuid": f"{session}-{number}", "sessionId": session,
            "timestamp": "2026-05-03T10:00:00Z", "message": {"role": "user", "content": words}}  # fmt: skip
    return json.dumps(line).encode()


def odd_transcript(made: Bench, pieces: list[bytes]) -> str:
    """As lines of a transcript, and as what was said in it; lines between them must be read."""
    session = os.urandom(8).hex()
    told = f"We decided to keep the ledger {session} in SQLite."
    path = Path(made.root, f"{session}.jsonl")
    with open(path, "wb") as file:
        for number, piece in enumerate(pieces):
            words = piece.decode("utf-8", "surrogateescape")
            file.write(piece.replace(b"\n", b" ") + b"\n" + said(words, number, session) + b"\n")
        file.write(said(told, len(pieces), session) + b"\n")
    done = made.daemon.ask("backfill", {"paths": [str(path)]}, timeout_s=600)
    path.unlink()
    found = bool(made.daemon.ask("recall", {"query": session, "limit": 3, "all": True})["hits"])
    return f"{done['drafts']} drafts, around it {'found' if found else 'LOST'}"


def odd_import(made: Bench, pieces: list[bytes]) -> str:
    """As lines of a file to import, and as the text of such a line."""
    mark = os.urandom(8).hex()
    path = Path(made.root, f"{mark}.jsonl")
    with open(path, "wb") as file:
        for number, piece in enumerate(pieces):
            words = f"{number} {mark} " + piece.decode("utf-8", "surrogateescape")
            file.write(
                piece.replace(b"\n", b" ") + b"\n" + json.dumps({"text": words}).encode() + b"\n"
            )
        file.write(json.dumps({"text": f"the line after {mark}"}).encode() + b"\n")
    asked = {"path": str(path), "global": True, "wait": False}
    answer = [body for name, body in made.daemon.stream("import", asked) if name == "answer"][0]
    path.unlink()
    hits = made.daemon.ask("recall", {"query": f"the line after {mark}", "limit": 3, "all": True})[
        "hits"
    ]
    found = any("the line after" in one["text"] for one in hits)
    return (
        f"{answer['stored'] + answer['merged']} stored, {answer['skipped']} skipped, "
        f"around it {'found' if found else 'LOST'}"
    )


def odd_hooks(made: Bench, pieces: list[bytes]) -> str:
    """As a hook's whole stdin, and as the prompt in it; a tenth of each as a whole process."""
    broken = 0
    script = os.path.join(made.home.app_current, "hooks", "run")
    for number, piece in enumerate(pieces):
        words = piece.decode("utf-8", "surrogateescape")
        prompt = json.dumps({"session_id": "odd", "cwd": made.project, "prompt": words}).encode()
        stem = HOOKS[number % len(HOOKS)]
        event = "".join(part.capitalize() for part in stem.split("_"))
        for stdin in (piece, prompt):
            if number % 10:
                body = made.project.encode() + b"\0" + stdin
                with contextlib.suppress(wire.WireError):
                    raw_request(made, wire.HOOK_VERB + event, body)
                continue
            done = subprocess.run(
                ["sh", script, stem], input=stdin, capture_output=True, env=made.environment
            )
            broken += not keeps_contract(done)
    return f"{broken} hooks broke their contract"


def keeps_contract(done: subprocess.CompletedProcess[bytes]) -> bool:
    """Whether a hook ended with 0, said nothing on stderr, and nothing or one object on stdout."""
    if done.returncode or done.stderr:
        return False
    try:
        return not done.stdout or isinstance(json.loads(done.stdout), dict)
    except ValueError:
        return False


def odd_requests(made: Bench, pieces: list[bytes]) -> str:
    """As the body of requests, as text to remember, as what is looked for, and as a header."""
    kept = asked = 0
    for number, piece in enumerate(pieces):
        raw_request(made, ("remember", "recall", "list", "import")[number % 4], piece)
        raw_request(made, "", piece, header=False)
        words = piece.decode("utf-8", "replace")
        if words.strip():
            asked += 1
            with contextlib.suppress(errors.VectorMemoryError):
                text = f"odd {number}: {words}"
                made.daemon.ask("remember", {"text": text, "global": True, "wait": False})
                kept += 1
        with contextlib.suppress(errors.VectorMemoryError):
            made.daemon.ask("recall", {"query": words, "limit": 3})
    return f"{kept} of {asked} texts remembered"


def raw_request(made: Bench, verb: str, body: bytes, header: bool = True) -> bytes:
    """Send bytes to the daemon and return what it says."""
    request = wire.encode_request(verb, body, paths.version()) if header else body
    here = os.open(".", os.O_RDONLY)
    os.chdir(made.home.run)
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(60)
            sock.connect("daemon.sock")
            with contextlib.suppress(OSError):
                sock.sendall(request)
                sock.shutdown(socket.SHUT_WR)
            parts = b""
            with contextlib.suppress(ConnectionError):
                while piece := sock.recv(65_536):
                    parts += piece
            return parts
    finally:
        os.fchdir(here)
        os.close(here)


def memory_mb(pid: int, field: str) -> float:
    """Return a figure of a process's memory (Linux)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int([line for line in file if line.startswith(field)][0].split()[1]) / 1024


def crowds(made: Bench) -> list[dict[str, Any]]:
    """Time prompts alone and among clients that are in the way, with the same interpreter doing nothing
    beside each prompt, since others may use the machine."""
    half = f"VM1 recall {wire.MAX_REQUEST_BYTES} {paths.version()}\n".encode() + b"x" * 1_000_000
    export = wire.encode_request("export", b'{"all": true}', paths.version())
    kinds = (
        ("nobody", 0, b""), ("say nothing", 200, b""), ("say nothing", 1_000, b""),
        ("send half of 8 MB", 100, half), ("do not read their export", 160, export),
    )  # fmt: skip
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, hard), hard))
    back = os.open(".", os.O_RDONLY)
    os.chdir(made.home.run)
    rows = [_among(made, *kind) for kind in kinds]
    os.fchdir(back)
    os.close(back)
    return rows


def _among(made: Bench, what: str, count: int, said: bytes) -> dict[str, Any]:
    """Return the row of one kind of crowd. Who is closed comes again, so that it is always there."""
    pid = made.daemon.start()["pid"]
    before = memory_mb(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    here: list[socket.socket] = []
    over = threading.Event()

    def keep() -> None:
        while count and not over.is_set():
            while len(here) >= count and not over.wait(0.01):
                here.pop(0).close()
            here.append(_come(said))

    keeper = threading.Thread(target=keep)
    keeper.start()
    threads, times, bare = [0], [], []
    for number in range(40):
        prompt = {
            "session_id": f"{what}-{count}-{number}",
            "prompt": "why does the ledger use WAL?",
        }
        times.append(made.hook("user_prompt_submit", **prompt)[0])
        bare.append(made.bare())
        threads.append(int(memory_mb(pid, "Threads:") * 1024))
    answered = made.daemon.running() is not None
    over.set()
    keeper.join()
    for sock in here:
        sock.close()
    return {
        "clients": count, "that": what, "hook p50 ms": round(percentile(times, 0.5)),
        "p95": round(percentile(times, 0.95)), "max": round(max(times)),
        "bare p50": round(percentile(bare, 0.5)), "bare max": round(max(bare)),
        "over 250": sum(one > 250 for one in times), "threads": max(threads),
        "grows MB": round(memory_mb(pid, "VmHWM") - before), "answers": answered,
        "load": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def _come(said: bytes) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(0.2)
    with contextlib.suppress(OSError):
        sock.connect("daemon.sock")
        sock.sendall(said)
    return sock


def other_user(made: Bench) -> list[dict[str, Any]]:
    """Try everything in a data home as another user, with all folders above it open."""
    os.chmod(made.root, 0o755)
    home = made.home
    files = [Path(f, n) for f, _, names in os.walk(home.root) for n in names]
    rows = [{"as another user": "connect to the socket", "tried": 1, "done": connects(home.run)}]
    named = ("", "spool", "snapshots", "logs", "run", "global", "app")
    folders = [Path(home.path(name)) for name in named]
    for what, tried in (("read a file", files), ("list a folder", folders)):
        done = sum(as_nobody(path) for path in tried if not path.is_symlink())
        rows.append({"as another user": what, "tried": len(tried), "done": done})
    return rows


def connects(folder: str) -> int:
    """Whether another user gets to the socket."""
    return child(lambda: (os.chdir(folder), socket.socket(socket.AF_UNIX).connect("daemon.sock")))


def as_nobody(path: Path) -> int:
    """Whether another user opens a path."""
    return child(lambda: os.open(path, os.O_RDONLY))


def child(work: Any) -> int:
    """Return 1 if something goes well for another user."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
        except OSError:
            os._exit(1)
        os._exit(0)
    return int(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)


def main() -> None:
    """Print the tables."""
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a line of 64 MB")
    parser.add_argument("--only-crowd", action="store_true", help="nothing but the crowds")
    parser.add_argument("--corpora", default="", help="the folder of corpora")
    given = parser.parse_args()
    megabytes = 64 if given.quick else 1024
    with bench(given.home) as made:
        made.fill(FILL)
        made.settle()
        if given.only_crowd:
            show("Prompts in a crowd", crowds(made), given.json)
            return
        rows = [in_child(door, megabytes) for door in ("transcript", "socket")]
        rows += [through_import(made, megabytes), through_hook(made, megabytes)]
        show("An endless line", rows, given.json)
        show("Strange bytes", oddities(made, given.corpora), given.json)
        show("Prompts in a crowd", crowds(made), given.json)
        if sys.platform == "linux" and os.geteuid() == 0:
            show("Another user of this machine", other_user(made), given.json)


if __name__ == "__main__":
    main()
