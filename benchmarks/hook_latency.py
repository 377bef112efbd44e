"""How long each hook takes as a whole process, in multiples of the bare interpreter.

The bare interpreter runs in turn with each hook, so that a machine that grows slower or faster
changes both. Goals for a prompt with recall: at 10,000 memories p50 ≤ 2.5 and p95 ≤ 3.2, at 100,000
p50 ≤ 3 and p95 ≤ 4. For a search of which memory knows something p95 ≤ 5, for a call that concerns no
memory p50 ≤ 1.5.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from common import Bench, bench, options, percentile, show


def measure(
    made: Bench, name: str, size: int, runs: int, one: Callable[[int], Any]
) -> dict[str, Any]:
    """Return a row of figures for one hook."""
    bare, taken, spoke = [], [], 0
    for number in range(-10, runs):
        base = made.bare()
        milliseconds, printed = one(number)
        if number >= 0:
            bare.append(base)
            taken.append(milliseconds)
            spoke += bool(printed)
    base = percentile(bare, 0.5)
    p50, p95 = percentile(taken, 0.5), percentile(taken, 0.95)
    return {
        "memories": size,
        "hook": name,
        "bare ms": round(base, 1),
        "p50 ms": round(p50, 1),
        "p95 ms": round(p95, 1),
        "p50 ×": round(p50 / base, 2),
        "p95 ×": round(p95 / base, 2),
        "p95 × p95": round(p95 / percentile(bare, 0.95), 2),
        "spoke": f"{spoke}/{runs}",
    }


def rows(made: Bench, prompts: list[str], size: int, runs: int) -> list[dict[str, Any]]:
    """Return the figures of every hook at one size."""
    transcript = os.path.join(made.root, "talk.jsonl")
    open(transcript, "w").close()

    def ask(number: int, prompt: str) -> tuple[float, bytes]:
        session = f"{size}-{number}-{prompt[:9]}"
        return made.hook("user_prompt_submit", session_id=session, prompt=prompt)

    def fields(number: int) -> dict[str, Any]:
        return {"session_id": f"s{size}-{number}", "transcript_path": transcript, "n": number}

    def fail(number: int) -> tuple[float, bytes]:
        given = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "is_interrupt": False}
        error = f"Exit code 2\\nValueError: no answer from worker {number}x"
        return made.hook("post_tool_use_failure", **fields(number), **given, error=error)

    known = made.daemon.ask("list", {"project": made.project, "k": runs})["memories"]
    files = [one["text"].rsplit("/", 1)[-1].split(".")[0] for one in known]

    def search(number: int, wanted: str) -> tuple[float, bytes]:
        given = {"command": f"cd src && grep -rn '{wanted}' . | head -20", "description": "Look"}
        return made.hook("pre_tool_use", **fields(number), tool_name="Bash", tool_input=given)

    def build(number: int) -> tuple[float, bytes]:
        given = {"command": f"make test-{number}", "description": "Run the tests"}
        return made.hook("pre_tool_use", **fields(number), tool_name="Bash", tool_input=given)

    few = max(20, runs // 4)
    return [
        measure(made, "UserPromptSubmit", size, runs, lambda n: ask(n, prompts[n % len(prompts)])),
        measure(made, "… that needs nothing", size, few, lambda n: ask(n, "yes")),
        measure(made, "… with /remember", size, few, lambda n: ask(n, f"/remember {prompts[n]}")),
        measure(made, "PostToolUseFailure", size, few, lambda n: fail(n)),
        measure(
            made, "PreToolUse, a search", size, few, lambda n: search(n, files[n % len(files)])
        ),
        measure(made, "… that nothing names", size, few, lambda n: search(n, f"load_nothing_{n}")),
        measure(made, "… a call that is none", size, few, build),
        measure(made, "SessionStart", size, few, lambda n: made.hook("session_start", **fields(n))),
        measure(made, "Stop", size, few, lambda n: made.hook("stop", **fields(n))),
        measure(made, "PreCompact", size, few, lambda n: made.hook("pre_compact", **fields(n))),
        measure(made, "SessionEnd", size, few, lambda n: made.hook("session_end", **fields(n))),
    ]


def main() -> None:
    """Measure at every size."""
    parser = options(__doc__ or "")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    found = []
    for size in (int(one) for one in asked.sizes.split(",")):
        with bench(asked.home) as made:
            prompts = made.fill(size)
            made.settle()
            found += rows(made, prompts, size, asked.runs)
    show("Hooks, whole processes", found, asked.json)


if __name__ == "__main__":
    main()
