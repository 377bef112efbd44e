"""What attackers and honest mistakes get through: `python benchmarks/attack.py [--quick] [--corpora DIR]`.

Three parts, each in installations of its own:

- instructions: texts that want to be obeyed, planted by each way in, then asked for through the real hooks.
  Goals: nothing binds, nothing of others is shown without saying whose words it is, no link of theirs lives,
  nothing gets out of the fence or is unseen, nothing shows up in another project, no benign text is held back.
- secrets: values of more than fifty forms, made when it runs, planted by each way in; then the daemon is
  stopped and every byte that was written is searched, backups, databases and indexes opened. Goal: none.
- tricks: what a repository, another user or a mistake gets done. Goal: no harm.

It prints a line for each way in and exits with 1 where a goal is missed; `--json FILE` has each miss.
DIR holds `injection/bipia`, `injection/garak`, `injection/notinject` and `strings/blns.json`, as published.
Some tricks need another user, and so root; without it they are tried 0 times.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from attacks import formats, instructions, secrets, texts, tricks
from attacks.house import house
from common import machine, show

from vector_memory.system import paths

PARTS = ("instructions", "secrets", "tricks")
QUICK_WAYS = (
    "error of a command",
    "paste: mail",
    "program: reviewer",
    "remember: env -u",
    "MCP memory_store",
    "foreign",
)
"""What a short run plants by: one way of each sort."""
Report = dict[str, Any]


def instruct(asked: argparse.Namespace) -> tuple[bool, Report]:
    """Plant instructions and print what became of them; return whether all goals are met, and the misses."""
    attacks, benign = texts.load(asked.corpora)
    named = asked.ways or (QUICK_WAYS if asked.quick else ())
    chosen = [
        way for way in instructions.ways() if not named or any(one in way.name for one in named)
    ]
    most = asked.most or (6 if asked.quick else 100)
    with house(asked.home) as made:
        tallies = instructions.run(made, attacks, most, asked.asks or min(most, 20), chosen)
        own = instructions.own_word(made)
    rows = [tallies[way.name].row(way.name) for way in chosen]
    total = {name: sum(row[name] for row in rows) for name in rows[0] if name != "way"}
    alarms = instructions.false_alarms(benign)
    show("Instructions, by the way in", [*rows, {"way": "all", **total}], False)
    show("Texts that bind nobody and attack nobody", [alarms], False)
    show("Not to be shut out", [own], False)
    misses = {name: tally.misses for name, tally in tallies.items() if tally.misses}
    met = not misses and not alarms["held back"]
    return met, {"rows": rows, "benign": alarms, "own": own, "misses": misses}


def hide(asked: argparse.Namespace) -> tuple[bool, Report]:
    """Plant secrets and print where they are found; return whether none is, and the misses."""
    named = list(formats.FORMATS)
    chosen = named[:: -(-len(named) // (asked.most or (4 if asked.quick else len(named))))]
    with house(asked.home) as made:
        done = secrets.run(made, chosen, asked.seed)
    for name, title in (
        ("by way", "Secrets, by the way in"), ("by form", "Secrets, by form"),
        ("kept, as docs/security.md says", "Kept, as docs/security.md says"), ("searched", "Searched"),
    ):  # fmt: skip
        rows = done[name]
        show(title, [*rows, _total(rows)] if name.startswith("by") else rows, False)
    return not done["misses"] and not done["unread"], done


def _total(rows: list[Report]) -> Report:
    first = next(iter(rows[0]))
    return {
        first: "all",
        **{name: sum(row[name] for row in rows) for name in ("planted", "on the disk")},
    }


def trick(asked: argparse.Namespace) -> tuple[bool, Report]:
    """Try tricks and print what harm they did; return whether none, and what it was."""
    rows, misses = [], {}
    for name, outcome, seconds in tricks.run(asked.home, asked.quick, asked.ways):
        rows.append(
            {
                "trick": name,
                "tried": outcome.tried,
                "harmed": outcome.harmed,
                "seconds": round(seconds),
            }
        )
        misses[name] = outcome.detail
    show("Tricks", rows, False)
    return not any(row["harmed"] for row in rows), {"rows": rows, "misses": misses}


def main() -> None:
    """Run the parts and exit with 1 where a goal of one is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", default=paths.data_home(), help="a data home that was set up")
    parser.add_argument("--corpora", default="", help="the folder of published corpora")
    parser.add_argument(
        "--quick", action="store_true", help="a few ways, forms and texts: some minutes"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="only this part; may be given again"
    )
    parser.add_argument(
        "--ways", nargs="*", default=(), help="only ways and tricks with one of these in their name"
    )
    parser.add_argument(
        "--most",
        type=int,
        default=0,
        help="texts, or forms of secrets, that each way plants at most",
    )
    parser.add_argument(
        "--asks", type=int, default=0, help="texts of each way that are asked for at most"
    )
    parser.add_argument("--seed", type=int, default=13, help="what the random values are made of")
    parser.add_argument("--json", default="", metavar="FILE", help="write every miss to a file")
    asked = parser.parse_args()
    works = dict(zip(PARTS, (instruct, hide, trick), strict=True))
    report: Report = {"machine": machine()}
    met = True
    for part in asked.part or PARTS:
        started = time.monotonic()
        well, report[part] = works[part](asked)
        sys.stdout.write(
            f"{part}: {'met' if well else 'MISSED'}, {time.monotonic() - started:.0f} s\n\n"
        )
        sys.stdout.flush()
        met = met and well
    if asked.json:
        Path(asked.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    raise SystemExit(0 if met else 1)


if __name__ == "__main__":
    main()
