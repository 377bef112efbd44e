"""The gate before what comes unasked: fit it, and say what it brings to projects that it was not fitted on.

FEATURES are what `relevance.py --features` and `returning.py --features` wrote, `--more` the labels of the latter.
Each candidate that was labelled is an example; the project of each is left out once. Printed are the shares of what
would have been shown, at several thresholds, in the midst of work and to who comes back to a project, and the
weights fitted on all projects, as they stand in `retrieve/gate.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show
from numpy.typing import NDArray
from relevance import label_of_parts
from replay import read_lines

from vector_memory.model import PASSAGE
from vector_memory.retrieve.gate import HELPS
from vector_memory.retrieve.newer import SAME_THING
from vector_memory.service.inject.prompt_recall import (
    LOOKED_AT,
    MIDST,
    MIDST_OF,
    NEAREST,
)

Floats = NDArray[np.float64]
PENALTY = 10.0
"""Of a weight of 1 at a feature's standard deviation, beside the log-likelihood (L2)."""
IN_VAIN = 1.5
"""How often an example that is not what a model asks for counts: what is told in vain costs more than what is left
out, and at the shipped threshold of 0.3 few prompts are spoken at without need."""
TYPED = 0.4
"""How often a prompt that was typed for the labels counts, beside one of a session."""
STEPS = 30
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4)
NAMES = tuple(name for name in HELPS if name != "bias")
Prompts = Sequence[dict[str, Any]]


def matrix(candidates: Sequence[Mapping[str, Any]]) -> Floats:
    """Return (n, features) in the order of `NAMES`."""
    rows = [[one["gate"][name] for name in NAMES] for one in candidates]
    return np.array(rows, float).reshape(-1, len(NAMES))


def fitted(x: Floats, y: Floats, counts: Floats) -> dict[str, float]:
    """Return the weights of a logistic model by Newton's method.

    Args:
        x: (n, features). y: (n,) 1 for what the model asks for, else 0. counts: (n,) how often each example counts.
    """
    counts = np.where(y > 0, 1.0, IN_VAIN) * counts
    mean, deviation = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - mean) / deviation, np.ones(len(x))]
    penalty = np.r_[np.full(len(NAMES), PENALTY), 1e-6]
    weights = np.zeros(z.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(z @ weights, -30, 30)))
        slope = z.T @ (counts * (p - y)) + penalty * weights
        curve = (z * (counts * p * (1 - p))[:, None]).T @ z + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    own = weights[:-1] / deviation
    bias = round(float(weights[-1] - own @ mean), 4)
    return {**dict(zip(NAMES, own.round(4).tolist(), strict=True)), "bias": bias}


def both(prompts: Prompts) -> tuple[dict[str, float], dict[str, float]]:
    """Return the weights of "it helps" and of "it is on topic", fitted on the labelled candidates."""
    labelled = [
        (one, TYPED if prompt["is_rested"] else 1.0)
        for prompt in prompts
        for one in prompt["candidates"]
        if one["label"] is not None
    ]
    x, counts = matrix([one for one, _ in labelled]), np.array([count for _, count in labelled])
    labels = np.array([one["label"] for one, _ in labelled])
    return fitted(x, (labels == 2) * 1.0, counts), fitted(x, (labels >= 1) * 1.0, counts)


def worths(candidates: Sequence[Mapping[str, Any]], models: Sequence[dict[str, float]]) -> Floats:
    """Return (n,) what each candidate is worth, 0 … 1."""
    x = matrix(candidates)
    odds = [one["bias"] + x @ np.array([one[name] for name in NAMES]) for one in models]
    return np.asarray(sum(1 / (1 + np.exp(-one)) for one in odds) / len(odds))


def exchange(one: Mapping[str, Any]) -> tuple[str, int]:
    """Return what tells an exchange from others."""
    return one["session"], one["turn"]


def notes(prompt: Mapping[str, Any], best: Sequence[int], is_widened: bool) -> list[int | None]:
    """Return the labels of what is told: of each exchange one note, which is a 2 if a part of it is one."""
    told: dict[tuple[str, int], list[int | None]] = {}
    for place in best:
        one = prompt["candidates"][place]
        if exchange(one) not in told:
            same = [other for other in prompt["nearest"] if exchange(other) == exchange(one)]
            beside = [other["label"] for other in same if other["kind"] == one["kind"] == PASSAGE]
            told[exchange(one)] = [one["label"], *(beside if is_widened else ())]
    return [label_of_parts(*labels) for labels in told.values()]


def as_it_is_now(prompt: Mapping[str, Any]) -> Floats:
    """Return (n,) what a prompt's candidates are worth to it, less what is wanted more in the midst of work, and with
    what a later session said anew in the place of what it was."""
    found, worth = prompt["candidates"], prompt["worth"].copy()
    if not prompt["is_first"]:
        worth -= MIDST * np.array([one["age_s"] < MIDST_OF.total_seconds() for one in found])
    places = {one["id"]: place for place, one in enumerate(found)}
    for place in sorted(range(len(found)), key=lambda place: found[place]["created_at"]):
        one = found[place]
        if one["likeness"] >= SAME_THING:
            if (after := places.get(one["newer"])) is not None:
                worth[after] = max(worth[after], worth[place])
            worth[place] = 0.0
    return np.asarray(worth)


def shown(prompts: Prompts, threshold: float, is_widened: bool) -> dict[str, Any]:
    """Return what would have been shown from a threshold on, `is_widened` by what else was found of its exchange
    (whatever room it takes)."""
    labels: list[int] = []
    spoke = uncalled = nothing = covered = unknown = 0
    for prompt in prompts:
        worth = as_it_is_now(prompt)
        best = [place for place in np.argsort(-worth) if worth[place] >= threshold]
        if prompt["is_silent"] or not best:
            continue
        best = best[: 5 if prompt["is_first"] else 1]
        told = notes(prompt, best, is_widened)
        unknown += sum(one is None for one in told)
        labels += [one or 0 for one in told]
        spoke += 1
        uncalled += not prompt["has_best"]
        nothing += max(one or 0 for one in told) < 1
        covered += prompt["has_best"] and 2 in told
    share = lambda count, of: round(100 * count / max(1, of))  # noqa: E731
    return {
        "threshold": threshold, "widened": is_widened, "prompts": len(prompts), "spoke": spoke, "notes": len(labels),
        "2 %": share(labels.count(2), len(labels)),
        "≥ 1 %": share(sum(one >= 1 for one in labels), len(labels)),
        "misleading %": share(sum(one < 0 for one in labels), len(labels)),
        "unlabelled %": share(unknown, len(labels)),
        "coverage %": share(covered, sum(one["has_best"] for one in prompts)),
        "uncalled for %": share(uncalled, spoke), "nothing on topic %": share(nothing, spoke),
    }  # fmt: skip


def main() -> None:
    """Fit once on all, and once for each project left out."""
    parser = options(__doc__ or "")
    parser.add_argument("--eval", required=True, help="the folder of the labelled data")
    parser.add_argument("--more", nargs="*", default=[], help="labels of tasks after a rest")
    parser.add_argument(
        "--left-out", default="", help="a file for the weights without each project"
    )
    parser.add_argument("features", nargs="+")
    asked = parser.parse_args()
    labels = [Path(asked.eval, "labels", "relevance.jsonl"), *map(Path, asked.more)]
    labelled = {one["id"]: one for path in labels for one in read_lines(path)}
    prompts = [one for path in asked.features for one in read_lines(Path(path))]
    for prompt in prompts:
        label = labelled[prompt["id"]]
        prompt["is_rested"] = "rest_days" in label
        prompt["is_first"] = label.get("first_in_session", True)
        prompt["is_silent"] = label.get("needs_nothing", False)
        prompt["has_best"] = any(one["label"] == 2 for one in label["candidates"])
        found = prompt["candidates"]
        prompt["nearest"], prompt["candidates"] = found[:NEAREST], found[:LOOKED_AT]
    left_out = {
        project: both([one for one in prompts if one["project"] != project])
        for project in sorted({one["project"] for one in prompts})
    }
    if asked.left_out:
        Path(asked.left_out).write_text(json.dumps(left_out), encoding="utf-8")
    for project, models in left_out.items():
        for prompt in prompts:
            if prompt["project"] == project:
                prompt["worth"] = worths(prompt["candidates"], models)
    for title, is_rested in (("In the midst of work", False), ("Coming back", True)):
        some = [one for one in prompts if one["is_rested"] is is_rested]
        ways = [(threshold, widened) for widened in (False, True) for threshold in THRESHOLDS]
        rows = [shown(some, *way) for way in ways] if some else []
        show(f"{title}, each project left out once", rows, asked.json)
    helps, on_topic = both(prompts)
    show(
        "Fitted on all",
        [{"model": "helps", **helps}, {"model": "on topic", **on_topic}],
        asked.json,
    )


if __name__ == "__main__":
    main()
