"""What the gateway costs: its start, its memory, and a recall over HTTP beside the same question at the daemon's
socket, asked in turn. Processor time counts where the machine is busy: that of all three processes."""

from __future__ import annotations

import http.client
import json
import os
import resource
import subprocess
import time
from typing import Any

from common import Bench, bench, options, percentile, show

LIMIT = 8


class Served:
    """A gateway as a process, and one connection to it."""

    def __init__(self, made: Bench) -> None:
        command = [
            made.home.runtime_python,
            "-I",
            "-X",
            f"pycache_prefix={made.home.pycache}",
            "-c",
            "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
            "from vector_memory.cli.main import main; sys.exit(main())",
            os.path.join(made.home.app_current, "lib"),
            "serve",
            "--json",
        ]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=made.environment, cwd=made.project, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.connection = http.client.HTTPConnection(self.url.partition("//")[2], timeout=60)
        self.connection.request("GET", "/healthz")
        self.connection.getresponse().read()
        self.start_ms = (time.perf_counter() - self.started) * 1000
        self.start_cpu_ms = cpu_ms(self.process.pid)

    def recall(self, token: str, query: str, project: str) -> float:
        """Ask, and return the milliseconds."""
        body = json.dumps({"query": query, "limit": LIMIT, "project": project})
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        while True:
            started = time.perf_counter()
            self.connection.request("POST", "/v1/recall", body, headers)
            answer = self.connection.getresponse()
            answer.read()
            if answer.status == 200:
                return (time.perf_counter() - started) * 1000
            # It was asked too often.
            time.sleep(1.0)

    def rss_mb(self) -> float:
        """Return what the process has in memory."""
        command = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return int(told) / 1024

    def end(self) -> None:
        """Have it end."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(20)


def cpu_ms(pid: int) -> float:
    """Return the processor time that a process took so far; 0 where the system does not tell in this way."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            parts = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def own_ms() -> float:
    """Return the processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def measure(made: Bench, prompts: list[str], count: int) -> list[dict[str, Any]]:
    """Ask by both doors in turn, and return a row for each."""
    asked = {"action": "new", "name": "bench", "right": "read", "actor": "user"}
    token = made.daemon.ask("token", asked)["token"]
    served = Served(made)
    daemon = made.daemon.start()["pid"]
    questions = (prompts * (count // len(prompts) + 1))[:count]
    taken: dict[str, list[float]] = {"socket": [], "HTTP": []}
    used = dict.fromkeys(taken, 0.0)

    def total() -> float:
        return own_ms() + cpu_ms(daemon) + cpu_ms(served.process.pid)

    def at_the_socket(question: str) -> float:
        started = time.perf_counter()
        made.daemon.ask("recall", {"query": question, "project": made.project, "k": LIMIT})
        return (time.perf_counter() - started) * 1000

    doors = {
        "socket": at_the_socket,
        "HTTP": lambda question: served.recall(token, question, made.project),
    }
    for question in questions[:20]:
        served.recall(token, question, made.project)
    for number, question in enumerate(questions):
        # Who asks second finds warm what the first one has read.
        for door in sorted(taken, reverse=bool(number % 2)):
            before = total()
            taken[door].append(doors[door](question))
            used[door] += total() - before
    rows: list[dict[str, Any]] = [
        {
            "door": door,
            "recall p50 ms": round(percentile(times, 0.5), 1),
            "p95 ms": round(percentile(times, 0.95), 1),
            "processor ms": round(used[door] / count, 1),
        }
        for door, times in taken.items()
    ]
    rows[1] |= {
        "start ms": round(served.start_ms),
        "start processor ms": round(served.start_cpu_ms),
        "RSS MB": round(served.rss_mb(), 1),
    }
    served.end()
    return rows


def main() -> None:
    """Measure both doors."""
    parser = options(__doc__ or "")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=400)
    asked = parser.parse_args()
    with bench(asked.home) as made:
        prompts = made.fill(asked.memories)
        made.settle()
        # Bytecode of the first start is no part of it.
        Served(made).end()
        rows = measure(made, prompts, asked.calls)
    show(f"Recall among {asked.memories:,} memories", rows, asked.json)


if __name__ == "__main__":
    main()
