"""Does a prompt get a memory when it needs one, and silence when it does not?

`abstention.json` has memories of six projects, and prompts: half of them need one of the memories, half
none. Every prompt is asked in its project; speaking is right when one of the memories that reach the
threshold (five at most) is an answer. With `--among FOLDER` transcripts are indexed too, and all
projects are asked at once, so that there is much to be misled by.

Printed are precision and recall of speaking at each threshold (as it is among so many memories), what was said wrongly by the class of
prompt, and with `--fit` the logistic regression of "is an answer" on cosine and share of words, with
the figures on the half of the prompts that it was not fitted on.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from common import Bench, bench, options, show

from vector_memory.config import Settings
from vector_memory.retrieve.factors import FEW_MEMORIES, least_relevance

SHOWN = 5
THRESHOLDS = (0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
BETA = 0.5
DATA = Path(__file__).with_name("abstention.json")


@dataclass(frozen=True)
class Offered:
    """One hit of one prompt."""

    prompt: str
    kind: str
    needs: bool
    answers: bool
    relevance: float
    cosine: float
    words: float


def load(made: Bench, data: dict[str, Any], among: str) -> None:
    """Import the memories, and index transcripts if there are any."""
    path = Path(made.root, "memories.jsonl")
    with path.open("w", encoding="utf-8") as file:
        for number, (name, project, kind, text) in enumerate(data["memories"]):
            line = {"id": name, "text": text, "kind": kind}
            line["created_at"] = f"2026-10-{number % 28 + 1:02}T10:00:00Z"
            if project:
                line["project"] = str(Path(made.root, project))
            file.write(json.dumps(line) + "\n")
    stream = made.daemon.stream
    dict(stream("import", {"path": str(path), "verbatim": True, "global": True}, 600))
    if among:
        dict(stream("backfill", {"paths": [among]}, 3_600))
    dict(stream("wait", {"timeout_s": 600}, 600))


def offered(made: Bench, data: dict[str, Any], everywhere: bool) -> list[Offered]:
    """Ask every prompt; return all hits."""
    found = []
    for project, prompt, answers, kind in data["prompts"]:
        request: dict[str, Any] = {"query": prompt, "k": SHOWN}
        request |= (
            {"all_projects": True} if everywhere else {"project": str(Path(made.root, project))}
        )
        for hit in made.daemon.ask("recall", request)["hits"]:
            parts = hit["breakdown"]
            is_answer = hit["external_id"] in answers
            found.append(
                Offered(prompt, kind, bool(answers), is_answer, parts["relevance"], parts["cosine"], parts["words"])
            )  # fmt: skip
    return found


def spoken(
    hits: Sequence[Offered], worth: Callable[[Offered], float], least: float
) -> dict[str, Any]:
    """Return the figures of speaking from a threshold on."""
    by_prompt: dict[str, list[Offered]] = {}
    for hit in hits:
        by_prompt.setdefault(hit.prompt, []).append(hit)
    needing = sum(group[0].needs for group in by_prompt.values())
    said = right = 0
    wrong: Counter[str] = Counter()
    for group in by_prompt.values():
        shown = [hit for hit in group if worth(hit) >= least]
        if not shown:
            continue
        said += 1
        right += any(hit.answers for hit in shown)
        if not any(hit.answers for hit in shown):
            wrong[group[0].kind] += 1
    precision, recall = right / max(1, said), right / max(1, needing)
    score = (1 + BETA**2) * precision * recall / max(1e-9, BETA**2 * precision + recall)
    return {
        "threshold": least,
        "spoken": said,
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "F0.5": round(score, 3),
        "wrongly": " ".join(f"{kind}:{count}" for kind, count in sorted(wrong.items())),
    }


def fitted(hits: Sequence[Offered]) -> np.ndarray[Any, Any]:
    """Return offset, weight of the cosine and weight of the words: logistic regression by Newton's
    method with a little ridge."""
    table = np.array([[1.0, hit.cosine, hit.words] for hit in hits])
    answers = np.array([float(hit.answers) for hit in hits])
    weights = np.zeros(3)
    ridge = 0.1 * np.diag([0.0, 1.0, 1.0])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - answers) + ridge @ weights
        curve = (table * (chance * (1 - chance) + 1e-6)[:, None]).T @ table + ridge
        weights -= np.linalg.solve(curve, slope)
    return weights


def half(hit: Offered) -> int:
    """Return to which half a prompt belongs, whatever its place in the file."""
    return blake2b(hit.prompt.encode(), digest_size=1).digest()[0] % 2


def fit(hits: Sequence[Offered]) -> list[dict[str, Any]]:
    """Return the weights fitted on each half with the figures on the other, and on all."""
    rows: list[dict[str, Any]] = []
    for part in (0, 1):
        weights = fitted([hit for hit in hits if half(hit) != part])

        def worth(hit: Offered, weights: Any = weights) -> float:
            return float(1 / (1 + np.exp(-weights @ [1.0, hit.cosine, hit.words])))

        others = [hit for hit in hits if half(hit) == part]
        best = max(
            (spoken(others, worth, step / 50) for step in range(1, 50)), key=lambda row: row["F0.5"]
        )
        rows.append({"fitted on": f"half {1 - part}", "weights": weights.round(2).tolist(), **best})
    rows.append({"fitted on": "all", "weights": fitted(hits).round(2).tolist()})
    return rows


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("--among", default="", help="a folder of transcripts to be misled by")
    parser.add_argument("--fit", action="store_true", help="fit the relevance anew")
    given = parser.parse_args()
    data = json.loads(DATA.read_text(encoding="utf-8"))
    with bench(given.home) as made:
        made.daemon.start()
        load(made, data, given.among)
        hits = offered(made, data, bool(given.among))
        size = int(made.daemon.ask("stats", {})["memories"]) if given.among else FEW_MEMORIES
    rows = [
        {
            **spoken(hits, lambda hit: hit.relevance, least_relevance(least, size)),
            "threshold": least,
        }
        for least in THRESHOLDS
    ]
    needing = sum(bool(answers) for _, _, answers, _ in data["prompts"])
    title = (
        f"{len(data['prompts'])} prompts, {needing} of them in need, setting {Settings().threshold}"
    )
    show(title, rows, given.json)
    if given.fit:
        show("Fitted", fit(hits), given.json)


if __name__ == "__main__":
    sys.exit(main())
