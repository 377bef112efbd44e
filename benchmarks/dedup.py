"""Does `remember` merge what says the same, and nothing else?

Groups of a fact with wordings that say the same, near misses that do not, and what speaks `against` it:
each is remembered in a project of its own after its fact, through the daemon, and what `remember` did
is counted. Then a store of different facts about one project (`dedup_facts.txt`): how many of them are
merged, and how many links they get.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import Bench, bench, options, show

HERE = Path(__file__).parent
OWN = HERE / "dedup_pairs_own.json"
FACTS = HERE / "dedup_facts.txt"
SORTS = {"same": "paraphrases", "different": "near misses", "against": "contradictions"}


def pairs(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what a pair is (`same`, `different` or `against`), the fact, and the other text."""
    for group in json.loads(path.read_text(encoding="utf-8")):
        for sort in SORTS:
            yield from ((sort, group["fact"], other) for other in group.get(sort, ()))


def judged(made: Bench, path: Path, told: bool) -> list[dict[str, Any]]:
    """Return, for each sort of pairs, how many were merged, superseded, linked, and left alone."""
    found: dict[str, Counter[str]] = {sort: Counter() for sort in SORTS}
    for number, (sort, fact, other) in enumerate(pairs(path)):
        place = Path(made.root, f"{path.stem}-{number}")
        place.mkdir()
        made.daemon.ask("remember", {"text": fact, "project": str(place)})
        answer = made.daemon.ask("remember", {"text": other, "project": str(place)})
        found[sort][_did(answer)] += 1
        if told:
            sys.stderr.write(f"{sort}\t{_did(answer)}\t{fact}\t{other}\n")
    return [_row(path, sort, counts) for sort, counts in found.items() if counts]


def _did(answer: dict[str, Any]) -> str:
    return "contradicts" if answer.get("relation") == "contradicts" else str(answer["action"])


def _row(path: Path, sort: str, counts: Counter[str]) -> dict[str, Any]:
    total = sum(counts.values())
    joined = total - counts["stored"]
    return {
        "pairs": path.name,
        "sort": SORTS[sort],
        "of": total,
        "merged": counts["merged"],
        "superseded": counts["superseded"],
        "linked": counts["linked"] + counts["contradicts"],
        "as contradicting": counts["contradicts"],
        "neither": counts["stored"],
        "merged or linked %": round(100 * joined / max(1, total), 1),
    }


def unrelated(made: Bench, path: Path, told: bool) -> dict[str, Any]:
    """Return what a store of different facts about one project gets."""
    facts = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    place = Path(made.root, "shop")
    place.mkdir()
    counts, links = Counter[str](), 0
    for fact in facts:
        answer = made.daemon.ask("remember", {"text": fact, "project": str(place)})
        counts[_did(answer)] += 1
        links += len(answer.get("links", ()))
        if told and answer["action"] != "stored":
            others = "; ".join(one["text"] for one in answer.get("links", ()))
            sys.stderr.write(f"unrelated\t{_did(answer)}\t{fact}\t{others}\n")
    return {
        "facts": len(facts),
        "merged": counts["merged"],
        "superseded": counts["superseded"],
        "with links": counts["linked"] + counts["contradicts"],
        "as contradicting": counts["contradicts"],
        "links": links,
    }


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("pairs", nargs="*", type=Path, help="files of pairs; the own ones without")
    parser.add_argument("--facts", type=Path, default=FACTS, help="different facts, one a line")
    parser.add_argument("--tell", action="store_true", help="print every pair on stderr")
    given = parser.parse_args()
    with bench(given.home) as made:
        made.daemon.start()
        files = given.pairs or [OWN]
        rows = [row for path in files for row in judged(made, path, given.tell)]
        facts = unrelated(made, given.facts, given.tell)
    show("Duplicates", rows, given.json)
    show("Different facts of one project", [facts], given.json)


if __name__ == "__main__":
    sys.exit(main())
