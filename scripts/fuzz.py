"""Coverage-guided fuzzing of every parser, with atheris, within a budget.

    python scripts/fuzz.py [--seconds 20] [--runs 20000] [--corpus FOLDER] [TARGET …]

Needs `pip install atheris`, which has wheels for Linux on x86-64 alone; elsewhere tests/unit/test_fuzz.py
does what can be done without it. Each target runs in a process of its own, since atheris ends the one it
runs in. What breaks a target is left in a file, whose path libFuzzer prints.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 4_096
SEEDS = {
    "transcript": b'{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-05-03T10:00:00Z",'
    b'"message":{"role":"user","content":"We use SQLite"}}\n{"type":"assistant","message":{"content":'
    b'[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls"}}]}}\n',
    "hook_input": b'/x\0{"session_id":"s","prompt":"why?"}',
    "markdown_text": b"---\ntags: a\n---\n# Head\n\n- [x] item\n  1. step\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "graph": b'{"type":"entity","name":"A","entityType":"b","observations":["c"]}\n'
    b'{"type":"relation","from":"A","to":"B","relationType":"uses"}',
    "heads": b"VM1 recall 12 0.1.0",
    "pipe": b"\0\0\0\x02{}",
}


def main() -> int:
    """Run the targets that were named, or all, and return 1 if one broke."""
    parser = argparse.ArgumentParser(description="Fuzz the parsers.")
    parser.add_argument("--seconds", type=int, default=20, help="for each target at most")
    parser.add_argument("--runs", type=int, default=20_000, help="for each target at most")
    parser.add_argument("--corpus", default="", help="a folder of inputs to begin with")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*")
    given = parser.parse_args()
    if given.one:
        _fuzz(given.one, given.targets)
        return 0
    try:
        import atheris  # noqa: F401
    except ImportError:
        sys.stderr.write("atheris is not installed: pip install atheris (Linux, x86-64)\n")
        return 2
    sys.path[:0] = [str(ROOT / "lib"), str(ROOT / "tests")]
    from fuzz_targets import TARGETS

    broken = [name for name in given.targets or sorted(TARGETS) if _run(name, given) != 0]
    for name in broken:
        sys.stderr.write(f"broken: {name}\n")
    return 1 if broken else 0


def _run(name: str, given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        seeds = Path(folder, "seeds")
        seeds.mkdir()
        (seeds / "seed").write_bytes(SEEDS.get(name, SEEDS["transcript"]))
        folders = [str(seeds), *([given.corpus] if given.corpus else [])]
        limits = [
            f"-max_total_time={given.seconds}",
            f"-runs={given.runs}",
            f"-max_len={MOST_BYTES}",
        ]
        kept = f"-artifact_prefix={tempfile.gettempdir()}/vector-memory-{name}-"
        done = subprocess.run(
            [sys.executable, __file__, "--one", name, "--", *limits, kept, "-timeout=20", *folders],
            env={**os.environ, "HOME": folder, "VECTOR_MEMORY_HOME": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
    told = [line for line in done.stderr.splitlines() if line.startswith(("Done", "stat::", "==="))]
    last = [line for line in done.stderr.splitlines() if "cov:" in line][-1:]
    print(f"{name}: exit {done.returncode} {' '.join([*told, *last])}")
    if done.returncode:
        sys.stderr.write(done.stderr[-4_000:])
    return done.returncode


def _fuzz(name: str, options: list[str]) -> None:
    import atheris

    sys.path[:0] = [str(ROOT / "lib"), str(ROOT / "tests")]
    with atheris.instrument_imports(include=["vector_memory"]):
        from fuzz_targets import TARGETS
    atheris.Setup([sys.argv[0], *options], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
