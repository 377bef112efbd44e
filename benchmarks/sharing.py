"""What sharing costs: three data homes, each with a daemon, that publish and pull over a folder, or over a bucket:

    python benchmarks/sharing.py --memories 100000
    AWS_ENDPOINT_URL=http://127.0.0.1:5000 AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b \\
        python benchmarks/sharing.py --to s3://team/ledger      # such as moto's server, with the bucket made

The first publishes so many memories, the second pulls them; ten more follow; then the second and the third publish
at the same moment; and the first one's daemon is killed while it publishes. Pulling is timed until what came is stored
and found by its words; vectors follow in the background.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
from typing import Any

from common import Bench, bench, machine, options, show

NAMES = ("ann", "ben", "cem")
LONG_S = 3_600.0
KILLED_AFTER_S = 0.3
ACCESS = ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


class Machine:
    """A data home whose project is shared."""

    def __init__(self, made: Bench, name: str, to: str) -> None:
        self.made, self.name = made, name
        made.daemon.start()
        self.ask("share_init", to=to, name=name)

    def ask(self, verb: str, **more: Any) -> dict[str, Any]:
        """Return the daemon's answer about the project."""
        access = {name: os.environ[name] for name in ACCESS if name in os.environ}
        asked = {"project": self.made.project, "cwd": self.made.project, "access": access}
        return self.made.daemon.ask(verb, {**asked, **more}, LONG_S)

    def timed(self, verb: str) -> tuple[float, dict[str, Any]]:
        """Return the seconds that an answer took, and it, with the most memory (MB) that the daemon had."""
        started = time.perf_counter()
        answer = self.ask(verb)
        took = time.perf_counter() - started
        pid = (self.made.daemon.running() or {})["pid"]
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            most_kb = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        return took, {**answer, "most_mb": most_kb // 1024}

    def remember(self, count: int, about: str) -> None:
        """Store memories that nobody waits for."""
        for number in range(count):
            text = f"The {about} {number} of {self.name} is kept in drawer {number * 7}."
            self.ask("remember", text=text, wait=False)


def step(what: str, seconds: float, answer: dict[str, Any]) -> dict[str, Any]:
    """Return a row: what was done, in what time, of how many memories and bytes."""
    there = answer.get("memories") or sum(one["memories"] for one in answer.get("members", ()))
    told = {"memories": there, "MB": round(answer.get("bytes", 0) / 1e6, 2)}
    told |= {"refused": len(answer.get("refused", ())), "most MB": answer["most_mb"]}
    return {"step": what, "s": round(seconds, 2), **told}


def run(machines: list[Machine]) -> list[dict[str, Any]]:
    """Return the rows of all steps."""
    ann, ben, cem = machines
    keys = {one.name: one.ask("share_invite")["key"] for one in machines}
    for one in machines:
        for name, key in keys.items():
            if name != one.name:
                one.ask("share_invite", key=key, name=name)
    rows = [step("publish all", *ann.timed("share_publish"))]
    rows.append(step("pull all", *ben.timed("share_pull")))
    ann.remember(10, "pump")
    rows.append(step("publish ten more", *ann.timed("share_publish")))
    rows.append(step("pull ten more", *ben.timed("share_pull")))
    rows.append(step("publish nothing new", *ann.timed("share_publish")))
    rows.append(step("pull nothing new", *ben.timed("share_pull")))
    for one in (ben, cem):
        one.remember(100, "valve")
    together = [threading.Thread(target=one.ask, args=("share_publish",)) for one in (ben, cem)]
    started = time.perf_counter()
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    rows.append({"step": "two publish at once", "s": round(time.perf_counter() - started, 2)})
    rows.append(step("pull of both", *cem.timed("share_pull")))
    # All is sealed anew where the readers have changed.
    ann.ask("share_revoke", key="cem")
    killed = threading.Thread(target=_until_killed, args=(ann,))
    killed.start()
    time.sleep(KILLED_AFTER_S)
    os.kill(int((ann.made.daemon.running() or {})["pid"]), signal.SIGKILL)
    killed.join()
    rows.append(step("pull after a kill in the midst of it", *ben.timed("share_pull")))
    rows.append(step("publish again", *ann.timed("share_publish")))
    rows.append(step("pull that", *ben.timed("share_pull")))
    return rows


def _until_killed(one: Machine) -> None:
    with contextlib.suppress(Exception):
        one.ask("share_publish")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--memories", type=int, default=10_000, help="how many are shared")
    parser.add_argument("--to", default="", help="where; a folder of its own by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        to = given.to or f"file://{folder}"
        made = [stack.enter_context(bench(given.home)) for _ in NAMES]
        # Half of what is filled in belongs to the project.
        made[0].fill(2 * given.memories, targets=1)
        rows = run([Machine(one, name, to) for one, name in zip(made, NAMES, strict=True)])
    show(f"sharing over {to.partition(':')[0]}, {machine()}", rows, given.json)


if __name__ == "__main__":
    main()
