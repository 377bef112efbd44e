"""Whether a project is ever told what belongs to another: `python benchmarks/foreign.py [--queries N]`.

Fifty projects hold the same texts, each with a word of its own; many of them are easily taken for one
another (names that begin alike, differ in case or in one sign, nested ones, remotes that look alike).
Each query is asked from one of them, in turn by recall, the prompt's hook, a list, topics, entities, an
export. Goal: 0 foreign memories in 10,000 queries.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, show

sys.path.insert(0, str(ROOT / "tests"))

import neighbourhood

PROJECTS = 50
WORD = re.compile(r"zq\d+qz")
FACTS = (
    "The ledger keeps its pages in SQLite, in WAL mode, since readers must not wait",
    "Deploys of the ledger go through the staging branch",
    "The importer of the ledger reads invoices from a folder, one by one",
    "Which port does the ledger listen on?",
    "ERROR ValueError: the ledger has no such page. FIX rebuilt the index of pages",
    "Passwords of the ledger are hashed with bcrypt",
)
QUESTIONS = (
    "Where does the ledger keep its pages?",
    "How do we deploy the ledger?",
    "What reads the invoices?",
    "what did we decide about SQLite and WAL mode?",
    "ValueError: the ledger has no such page",
    "which hash is used for passwords?",
    "ledger",
    "What was said before the port of the ledger came up?",
)


def fill(made: Bench) -> dict[str, str]:
    """Give every project the same conversation; return the projects' own words by their folders."""
    folders = neighbourhood.build(Path(made.root) / "projects", PROJECTS)
    words = {str(folder): f"zq{number}qz" for number, folder in enumerate(folders)}
    for folder, word in words.items():
        rows = [
            {"text": f"{fact} {word}", "session": "s1", "seq": n, "id": f"line{n}", "tags": ["ledger"],
             "files": ["ledger.py"], "speaker": "Ada", "kind": "decision" if n % 2 else "note"}
            for n, fact in enumerate(FACTS)
        ]  # fmt: skip
        path = Path(made.root) / f"{word}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        graph = Path(made.root) / f"{word}-graph.jsonl"
        entity = {"type": "entity", "name": f"ledger {word}", "observations": ["runs on two hosts"]}
        graph.write_text(json.dumps(entity) + "\n", encoding="utf-8")
        for file in (path, graph):
            request = {"path": str(file), "project": folder, "cwd": "/", "wait": False}
            for _ in made.daemon.stream("import", request, 600):
                pass
    return words


def ways(made: Bench) -> dict[str, Callable[[str, str, int], Any]]:
    """Return the ways to ask, each a function of a folder, a question and a number."""

    def ask(verb: str, **more: Any) -> Callable[[str, str, int], Any]:
        return lambda folder, question, number: made.daemon.ask(
            verb, {"project": folder, "cwd": folder, "query": question, "k": 50, **more}
        )

    def export(folder: str, question: str, number: int) -> Any:
        return list(made.daemon.stream("export", {"project": folder, "cwd": folder}, 600))

    def prompt(folder: str, question: str, number: int) -> Any:
        made.project = folder
        return made.hook("user_prompt_submit", session_id=f"s-{number}", prompt=question)[
            1
        ].decode()

    def start(folder: str, question: str, number: int) -> Any:
        made.project = folder
        return made.hook("session_start", session_id="s1", source="compact", n=number)[1].decode()

    return {
        "recall": ask("recall"),
        "recall with neighbours": ask("recall", context=5, history=True),
        "recall of a session": ask("recall", session=["s1"]),
        "prompt": prompt,
        "start": start,
        "list": ask("list"),
        "topics": ask("topics"),
        "entities": ask("entities"),
        "forget, dry": ask("forget", dry_run=True),
        "export": export,
    }  # fmt: skip


def main() -> None:
    """Fill, ask, count; exit with 1 where a project was told of another."""
    parser = options(__doc__ or "")
    parser.add_argument("--queries", type=int, default=1_000)
    asked = parser.parse_args()
    chance = random.Random(7)
    with bench(asked.home) as made:
        made.daemon.ask("status", {})
        words = fill(made)
        made.settle()
        kinds = ways(made)
        counts = {name: {"way": name, "queries": 0, "told": 0, "foreign": 0} for name in kinds}
        started = time.monotonic()
        for number in range(asked.queries):
            name = list(kinds)[number % len(kinds)]
            folder = chance.choice(list(words))
            told = kinds[name](folder, chance.choice(QUESTIONS), number)
            found = set(WORD.findall(json.dumps(told)))
            counts[name]["queries"] += 1
            counts[name]["told"] += words[folder] in found
            counts[name]["foreign"] += bool(found - {words[folder]})
        seconds = round(time.monotonic() - started, 1)
    rows = list(counts.values())
    total = {name: sum(int(row[name]) for row in rows) for name in ("queries", "told", "foreign")}
    show(
        f"Foreign memories, {PROJECTS} projects, {seconds} s",
        [*rows, {"way": "all", **total}],
        asked.json,
    )
    raise SystemExit(1 if total["foreign"] else 0)


if __name__ == "__main__":
    main()
