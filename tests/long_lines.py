"""One endless line through each door, in a process of its own: `long_lines.py DOOR MEGABYTES FOLDER`.

Prints one JSON object: by how many megabytes the process grew at most, and what was found around the line.
Without /proc the growth is that of the highest size so far.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "lib"), str(ROOT / "tests")]

PIECE = b"x" * (1 << 20)


def talk(words: str) -> bytes:
    """Return a line of a transcript."""
    line = {"type": "user", "uuid": words, "sessionId": "s", "timestamp": "2026-05-03T10:00:00Z",
            "message": {"role": "user", "content": words}}  # fmt: skip
    return json.dumps(line).encode()


def write(path: Path, first: bytes, last: bytes, megabytes: int) -> None:
    """Write a file of three lines, the one in the middle without an end in sight."""
    with open(path, "wb") as file:
        file.write(first + b'\n{"text": "')
        for _ in range(megabytes):
            file.write(PIECE)
        file.write(b'"}\n' + last + b"\n")


def transcript(folder: Path, megabytes: int) -> Callable[[], Any]:
    """What is said before and after it is read."""
    from vector_memory.service.capture import read_session

    path = folder.resolve() / "t.jsonl"
    write(path, talk("We use SQLite here"), talk("We use Postgres there"), 1)
    read_session.read(read_session.ReadRequest(str(path), final=True))
    write(path, talk("We use SQLite here"), talk("We use Postgres there"), megabytes)
    return lambda: len(
        {
            one.text
            for one in read_session.read(read_session.ReadRequest(str(path), final=True)).drafts
        }
    )


def importing(folder: Path, megabytes: int) -> Callable[[], Any]:
    """The lines around it are stored, it is told as skipped."""
    from service_house import ServiceHouse

    from vector_memory.daemon import verbs

    class Unheard:
        def progress(self, *_: object) -> None:
            """Say nothing."""

    house = ServiceHouse(folder)
    path = folder / "i.jsonl"
    asked = {"path": str(path), "global": True, "wait": False}

    def bring() -> Any:
        done = verbs.LONG["import"](house.ctx, asked, Unheard())  # type: ignore[arg-type]
        return [done["read"], done["skipped"]]

    write(path, b'{"text": "zero"}', b'{"text": "half"}', 1)
    bring()
    write(path, b'{"text": "one"}', b'{"text": "two"}', megabytes)
    return bring


def sockets(folder: Path, megabytes: int) -> Callable[[], Any]:
    """The client is let go, and the next one is answered."""
    from vector_memory import wire
    from vector_memory.daemon.server import Server

    os.chdir(folder)
    server = Server("s", lambda verb, body, version, reply: reply.send(wire.ANSWER, body))
    server.listen()
    threading.Thread(target=server.serve, args=(lambda: None,), daemon=True).start()

    def ask(head: bytes, body: bytes, times: int) -> bytes:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(60)
            sock.connect("s")
            try:
                sock.sendall(head)
                for _ in range(times):
                    sock.sendall(body)
                return sock.recv(100)
            except ConnectionError:
                return b""

    def bring() -> Any:
        huge = ask(b"VM1 ping %d 0.1.0\n" % (megabytes << 20), PIECE, megabytes)
        headless = ask(b"", PIECE, megabytes)
        return [len(huge), len(headless), len(ask(wire.encode_request("ping", b"{}", "1"), b"", 0))]

    ask(wire.encode_request("ping", b"{}", "1"), b"", 0)
    return bring


DOORS = {"transcript": transcript, "import": importing, "socket": sockets}


def size_mb(field: str) -> float:
    """Return a figure of this process's memory."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            found = [line for line in file if line.startswith(field)]
        return int(found[0].split()[1]) / 1024
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def main() -> None:
    """Measure one door."""
    door, megabytes, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    work = DOORS[door](folder, megabytes)
    before = size_mb("VmRSS")
    if os.path.exists("/proc/self/clear_refs"):
        Path("/proc/self/clear_refs").write_text("5")
    found = work()
    sys.stdout.write(json.dumps({"growth_mb": round(size_mb("VmHWM") - before, 1), "found": found}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
