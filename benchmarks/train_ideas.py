"""The models of what is worth keeping: fit them, and say what they are worth on sources that they have not seen.

DATA holds `labels/ideas.jsonl` and `labels/ideas_translated.jsonl`: sentences of real transcripts with what they
are meant as and whether they are worth keeping. TRANSCRIPTS are folders with a folder for each source. Each
sentence is looked for in its transcript as capture reads it; one that capture never sees (pastes, programs'
prompts) counts as not kept. `idea_labels.json` says the same of more sentences of these sources, by their digest,
and of those of `idea_sessions.jsonl`: sessions of other trades, written for this and labelled by reading, four writers,
each a source. What people wrote with labels to come says little of what is worth keeping, so that these sentences
count for the kinds alone, and beside vectors alone.
Each source is left out once; a translation is always in its original's fold. Sources that state no licence
(JUDGED_ONLY) are judged and never fitted on. With `--write` the weights fitted on all the others go to
`data/idea_weights.json`, with these figures and the data's digest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from common import options, show
from numpy.typing import NDArray
from replay import read_lines

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.index import worth
from vector_memory.index.exchanges import exchanges
from vector_memory.index.ideas import intent_of
from vector_memory.index.memories import to_drafts
from vector_memory.index.transcript import read_entries
from vector_memory.index.units import Unit, cues, units
from vector_memory.index.voices import USER
from vector_memory.model import (
    CAUSE,
    CONCLUSION,
    DECISION,
    FACT,
    INTENTS,
    PREFERENCE,
    PROCEDURE,
)
from vector_memory.system.paths import Home

Floats = NDArray[np.float64]
SAME = 0.6
"""The share of words, of those of both, from which a sentence is the labelled one."""
NEAR_LINES = 3
LABELS = Path(__file__).resolve().parent / "idea_labels.json"
"""By source, and by the digest of source and sentence: what it is meant as, and 0 … 2 how much it is worth."""
SESSIONS = LABELS.with_name("idea_sessions.jsonl")
"""Written sessions: source, project, and the turns, each with who speaks and the text."""
SESSION = "session"
"""What the label of a sentence of these is of."""
JUDGED_ONLY = frozenset(("entireio__external-agents",))
"""Sources that state no licence: nothing of them goes into the weights."""
CALLED = {"context": "fact"}
"""What the single statements call otherwise."""
DIMENSIONS = 96
"""Principal components that the vectors are fitted in; the weights are those of the whole vector again."""
OF_FORM, OF_VECTOR, OF_VECTOR_FOR_KINDS = 100.0, 60.0, 400.0
"""What a weight of 1 costs beside the log-likelihood (L2), for features of unit deviation. A vector tells what a
sentence is about rather than what it does, which the kinds are of."""
OF_USER = 1.5
"""What the weights that are the user's alone cost more."""
STEPS, SMALL_STEPS = 15, 250
BEST_COUNTS, KEPT_COUNTS, WRITTEN_COUNTS = 3.0, 2.0, 0.5
"""What a sentence that somebody would be glad of weighs in the fit of what is worth keeping; one that is worth
keeping in that of the kinds; a single statement there."""
WANTED = {worth.MEANING: (0.72, 0.79), worth.WORDS: (0.64, 0.72)}
"""The share of what is kept of the user's and of the assistant's words that is to be worth it, by set of
weights."""
ALIKE = {PREFERENCE: DECISION, CAUSE: FACT, CONCLUSION: FACT, PROCEDURE: FACT}
"""Kinds that people, too, tell apart badly: what is to be done in this way, and what was found to be so."""
_WORD = re.compile(r"\w+")


@dataclass
class Labelled:
    """A labelled sentence, with the unit that capture makes of it (None for none)."""

    label: dict[str, Any]
    unit: Unit | None

    @property
    def keep(self) -> int:
        """2: somebody would be glad of it, 1: it might help, 0: no."""
        return int(self.label["keep"])

    @property
    def source(self) -> str:
        """Where it comes from: what is left out at once."""
        return str(self.label["source"])


def statements() -> list[Labelled]:
    """Return the single statements of `statements_unseen.json`, each of its sets a source."""
    path = Path(__file__).resolve().parent / "statements_unseen.json"
    made = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        said = units([f"{one['who'].capitalize()}: {one['text']}"])
        intent = CALLED.get(one["intent"], one["intent"]) or "none"
        label = {
            "source": f"statements {one['set']}", "role": one["who"], "kind": "written", "text": one["text"],
            "intent": intent, "keep": int(intent != "none"),
        }  # fmt: skip
        made += [Labelled(label, said[0] if said else None)]
    return made


def by_digest(folders: Sequence[Path]) -> list[Labelled]:
    """Return the sentences that LABELS knows by their digest, each once: of transcripts, those that capture does not
    see without a unit, and of the written sessions."""
    made = []
    for source, labels in json.loads(LABELS.read_text(encoding="utf-8")).items():
        left = dict(labels)
        for unit in _written(source) or _units_below(_folder(source, folders)):
            told = left.pop(_digest(source, unit.text), "")
            if told:
                made.append(_labelled(source, told, unit))
        # Whose they were is not known: mostly the assistant's.
        made += [_labelled(source, told, None) for told in left.values()]
    return made


def _units_below(folder: Path) -> Iterable[Unit]:
    return (unit for path in sorted(folder.rglob("*.jsonl")) for _, _, unit in _said(path))


def _written(source: str) -> list[Unit]:
    """Return the sentences of a writer's sessions, none where it is no writer: a prompt and all answers to it are one
    passage."""
    made: list[Unit] = []
    for session in read_lines(SESSIONS):
        passages: list[str] = []
        for who, text in session["turns"] if session["source"] == source else ():
            said = f"{who.capitalize()}: {text}"
            if who == USER or not passages:
                passages.append(said)
            else:
                passages[-1] += f"\n\n{said}"
        made += units(passages)
    return made


def _labelled(source: str, told: str, unit: Unit | None) -> Labelled:
    intent, keep = told.split()
    role = unit.speaker if unit else "assistant"
    kind = SESSION if source.startswith(f"{SESSION}s ") else "prompt" if role == USER else role
    label = {
        "source": source, "role": role, "kind": kind, "text": unit.text if unit else "",
        "intent": intent, "keep": int(keep), "by": LABELS.name,
    }  # fmt: skip
    return Labelled(label, unit)


def _folder(source: str, folders: Sequence[Path]) -> Path:
    return next((one / source for one in folders if (one / source).is_dir()), folders[0] / source)


def _digest(source: str, text: str) -> str:
    return hashlib.sha256(f"{source}\n{text}".encode()).hexdigest()[:16]


def load(data: Path, folders: Sequence[Path]) -> tuple[list[Labelled], list[Labelled]]:
    """Return the labelled sentences and the translated ones."""
    labels = read_lines(data / "labels" / "ideas.jsonl")
    by_file: dict[Path, list[dict[str, Any]]] = defaultdict(list)
    for label in labels:
        by_file[_folder(label["source"], folders) / f"{label['session']}.jsonl"].append(label)
    found: dict[str, Unit | None] = {}
    for path, told in by_file.items():
        said = list(_said(path))
        found.update({label["id"]: _unit_of(label, said) for label in told})
    made = [Labelled(label, found[label["id"]]) for label in labels]
    translated = []
    for label in read_lines(data / "labels" / "ideas_translated.jsonl"):
        unit = found.get(label["of"])
        text = label["text"]
        there = unit._replace(text=text, raw=text, heading="") if unit else None
        translated.append(Labelled(label, there))
    return made, translated


def _said(path: Path) -> Iterable[tuple[int, int, Unit]]:
    for one in exchanges(read_entries(str(path), final=True)):
        if one.is_worth_keeping:
            for unit in units(draft.text for draft in to_drafts(one, str(path))):
                yield one.line_start, one.line_end, unit


def _unit_of(label: dict[str, Any], said: Sequence[tuple[int, int, Unit]]) -> Unit | None:
    words = _words(label["text"])
    best, most = None, 0.0
    for start, end, unit in said:
        if start - NEAR_LINES <= label["line"] <= end + NEAR_LINES:
            others = _words(unit.text)
            share = len(words & others) / max(1, len(words | others))
            within = len(words & others) / max(1, len(words)) * (0.7 if len(words) > 4 else 0.0)
            if max(share, within) > most:
                best, most = unit, max(share, within)
    return best if most >= SAME else None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def fitted(x: Floats, y: Floats, penalty: Floats, counts: Floats) -> Floats:
    """Return the weights of a logistic model by Newton's method."""
    made = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ made, -30, 30)))
        slope = x.T @ (counts * (p - y)) + penalty * made
        curve = (x * (counts * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        made -= np.linalg.solve(curve, slope)
    return made


def fitted_kinds(x: Floats, y: Floats, penalty: Floats, counts: Floats) -> Floats:
    """Return the weights of a multinomial model, (kinds, features), by accelerated descent.

    Args:
        y: (sentences, kinds) 1 for the one that each is.

    Source: Y. Nesterov, "A method of solving a convex programming problem", 1983.
    """
    made = ahead = np.zeros((x.shape[1], y.shape[1]))
    steepest = 0.5 * np.linalg.norm(x * np.sqrt(counts)[:, None], 2) ** 2 + penalty.max()
    speed = 1.0
    for _ in range(SMALL_STEPS):
        odds = x @ ahead
        p = np.exp(odds - odds.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        slope = x.T @ (counts[:, None] * (p - y)) + penalty[:, None] * ahead
        after, faster = ahead - slope / steepest, (1 + (1 + 4 * speed * speed) ** 0.5) / 2
        ahead = after + (speed - 1) / faster * (after - made)
        made, speed = after, faster
    return made.T


def fit(sentences: Sequence[Labelled], vectors: Floats, model: str) -> worth.Weights:
    """Return models fitted on sentences and their vectors, (n, dim); nothing is kept by them yet."""
    here = [place for place, one in enumerate(sentences) if one.unit is not None]
    told = [sentences[place] for place in here]
    known_units = [one.unit for one in told if one.unit is not None]
    x = vectors[here]
    mean = x.mean(0)
    axes = np.linalg.svd(x - mean, full_matrices=False)[2][:DIMENSIONS]
    part = (x - mean) @ axes.T
    scale = float(part.std())
    tables = {}
    rows = np.array([features_of(it) for it in known_units])
    for name in (worth.WORDS, worth.MEANING):
        half = rows.shape[1] // 2
        deviation, middle = rows[:, :half].std(0) + 0.02, rows[:, :half].mean(0)
        deviation[0], middle[0] = 1.0, 0.0
        spoken = rows[:, half : half + 1]
        form = (rows[:, :half] - middle) / deviation
        blocks = [form, form * spoken]
        penalty = [np.full(half, OF_FORM), np.full(half, OF_FORM * OF_USER)]
        penalty[0][0] = penalty[1][0] = 1e-2
        if name == worth.MEANING:
            blocks.append(part / scale)
            penalty.append(np.full(part.shape[1], OF_VECTOR))
        made = _rows(told, np.hstack(blocks), np.concatenate(penalty), 2 * half)
        # As weights of the features and of the vector as they are.
        plain = []
        for which in (made[:, :half], made[:, half : 2 * half]):
            bare = which / deviation
            bare[:, 0] -= bare @ middle
            plain.append(bare)
        if name == worth.MEANING:
            of_vector = made[:, 2 * half :] @ axes / scale
            plain[0][:, 0] -= of_vector @ mean
            plain.append(of_vector)
        tables[name] = np.hstack(plain)
    return worth.Weights(model, kinds(), tables, dict.fromkeys(tables, (2.0, 2.0)))


@cache
def features_of(unit: Unit) -> Floats:
    """Return what the weights know of a sentence without its vector; each fold asks for it anew."""
    return worth.features(unit, cues(unit))


def _rows(told: Sequence[Labelled], x: Floats, penalty: Floats, of_form: int) -> Floats:
    """Return the fitted rows: the worth, then each kind. The first `of_form` features are not the vector's."""
    keep = np.array([one.keep for one in told])
    real = np.array([one.label["kind"] != SESSION for one in told])
    of_worth = fitted(
        x[real], (keep[real] >= 1) * 1.0, penalty, np.where(keep[real] == 2, BEST_COUNTS, 1.0)
    )
    labelled = np.array([one.label["intent"] for one in told])
    y = (labelled[:, None] == np.array(kinds())[None]) * 1.0
    written = np.array([one.label["kind"] == "written" for one in told])
    counts = np.where(keep >= 1, KEPT_COUNTS, 1.0) * np.where(written, WRITTEN_COUNTS, 1.0)
    counts *= y.sum(1)
    if x.shape[1] == of_form:
        counts *= real
    for_kinds = np.concatenate(
        [penalty[:of_form], np.full(x.shape[1] - of_form, OF_VECTOR_FOR_KINDS)]
    )
    return np.vstack([of_worth, fitted_kinds(x, y, for_kinds, counts)])


def kinds() -> tuple[str, ...]:
    """Return the intents that are labelled."""
    return tuple(one for one in INTENTS if one != "context")


def left_out(
    sentences: Sequence[Labelled],
    others: Sequence[Labelled],
    vectors: dict[int, Floats],
    model: str,
) -> dict[int, dict[str, worth.Verdict]]:
    """Return the verdicts, by set of weights, on each sentence by models that have not seen its source."""
    made: dict[int, dict[str, worth.Verdict]] = {}
    for source in sorted({one.source for one in sentences}):
        seen = [one for one in sentences if one.source not in {source, *JUDGED_ONLY}]
        by = fit(seen, np.array([vectors[id(one)] for one in seen]), model)
        for one in (*sentences, *others):
            if one.source == source and one.unit is not None:
                vector = vectors[id(one)][None].astype(np.float32)
                made[id(one)] = {
                    "with": worth.verdicts([one.unit], vector, by)[0],
                    "without": worth.verdicts([one.unit], None, by)[0],
                }
    return made


def least_for(told: Sequence[tuple[float, int]], wanted: float) -> float:
    """Return the lowest worth from which the wanted share of what is kept is worth it."""
    ranked = sorted(told, reverse=True)
    worthy, least = 0, 1.0
    for place, (value, keep) in enumerate(ranked, start=1):
        worthy += keep >= 1
        if worthy / place >= wanted:
            least = value
    return round(least, 3)


def is_own(one: Labelled) -> bool:
    """Whether somebody said a sentence in a session himself, rather than a program or a paste."""
    return one.label["kind"] in ("prompt", "assistant")


def row_of(
    name: str, told: Sequence[Labelled], kept: dict[int, worth.Verdict | None]
) -> dict[str, Any]:
    """Return the figures of some sentences."""
    there = [(one, kept[id(one)]) for one in told]
    shown = [(one, verdict) for one, verdict in there if verdict is not None]
    worthy = [(one, verdict) for one, verdict in shown if one.keep >= 1]
    named = [(one, intent_of(one.unit, verdict)) for one, verdict in worthy if one.unit]
    best = [one for one in told if one.keep == 2]
    found = [one for one, _ in worthy if one.keep == 2]
    seen = [one for one in best if one.unit is not None]
    share = lambda count, of: round(100 * count / max(1, of))  # noqa: E731
    return {
        "what": name, "n": len(told), "kept": len(shown),
        "worth keeping %": share(len(worthy), len(shown)),
        "best": len(best), "best found %": share(len(found), len(best)),
        "of those that are seen %": share(len(found), len(seen)),
        "right kind %": share(sum(kind == one.label["intent"] for one, kind in named), len(worthy)),
        "or one alike %": share(sum(_are_alike(kind, one) for one, kind in named), len(worthy)),
    }  # fmt: skip


def _are_alike(intent: str, one: Labelled) -> bool:
    labelled = one.label["intent"]
    return ALIKE.get(intent, intent) == ALIKE.get(labelled, labelled)


def figures(
    sentences: Sequence[Labelled],
    translated: Sequence[Labelled],
    judged: dict[int, dict[str, worth.Verdict]],
    least: dict[str, tuple[float, float]],
    by: str,
) -> list[dict[str, Any]]:
    """Return the figures over all that is labelled, by whose words they are, and by source."""
    kept: dict[int, worth.Verdict | None] = {}
    for one in (*sentences, *translated):
        verdict = judged.get(id(one), {}).get(by)
        is_assistants = one.label["role"] != USER
        enough = verdict is not None and verdict.worth >= (
            worth.LEAST_ABROAD
            if one.label["kind"] == "translated"
            else least[worth.MEANING if by == "with" else worth.WORDS][is_assistants]
        )
        kept[id(one)] = verdict if enough else None
    first = [one for one in sentences if "by" not in one.label]
    mine = [one for one in first if is_own(one)]
    rows = [
        row_of("all", [one for one in first if one.label["kind"] != "written"], kept),
        row_of(
            "single statements", [one for one in sentences if one.label["kind"] == "written"], kept
        ),
        row_of(
            "written sessions", [one for one in sentences if one.label["kind"] == SESSION], kept
        ),
        row_of("in their own words", mine, kept),
        row_of("users", [one for one in mine if one.label["role"] == USER], kept),
        row_of("assistant", [one for one in mine if one.label["role"] != USER], kept),
        row_of("translated", translated, kept),
    ]
    by_source = [one for one in sentences if is_own(one)]
    rows += [
        row_of(source, [one for one in by_source if one.source == source], kept)
        for source in sorted({one.source for one in by_source})
    ]
    return rows


def thresholds(
    sentences: Sequence[Labelled], judged: dict[int, dict[str, worth.Verdict]]
) -> dict[str, tuple[float, float]]:
    """Return by set of weights from what worth a sentence is kept: the user's, the assistant's."""
    made = {}
    for name, by in ((worth.MEANING, "with"), (worth.WORDS, "without")):
        pair = []
        for who, wanted in zip((True, False), WANTED[name], strict=True):
            told = [
                (judged[id(one)][by].worth, one.keep)
                for one in sentences
                if "by" not in one.label
                and id(one) in judged
                and is_own(one)
                and (one.label["role"] == USER) is who
            ]
            pair.append(least_for(told, wanted))
        made[name] = (pair[0], pair[1])
    return made


def main() -> None:
    """Fit, judge with each source left out, and write if that is asked for."""
    parser = options(__doc__ or "")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("data", type=Path)
    parser.add_argument("transcripts", type=Path, nargs="+")
    asked = parser.parse_args()
    sentences, translated = load(asked.data, asked.transcripts)
    seen = [*sentences, *by_digest(asked.transcripts), *statements()]
    everyone = [*seen, *translated]
    embedder = registry.create(Settings(), Home(asked.home).models)
    texts = [(one.unit.text if one.unit else one.label["text"]) for one in everyone]
    made = np.asarray(embedder.embed_documents(texts), float)
    vectors = {id(one): vector for one, vector in zip(everyone, made, strict=True)}
    judged = left_out(seen, translated, vectors, embedder.model)
    least = thresholds(sentences, judged)
    rows = figures(seen, translated, judged, least, "with")
    show("Each source left out once", rows, asked.json)
    bare = figures(seen, translated, judged, least, "without")
    show("The same without vectors", bare[:6], asked.json)
    if asked.write:
        fitted_on = [place for place, one in enumerate(seen) if one.source not in JUDGED_ONLY]
        whole = fit([seen[place] for place in fitted_on], made[fitted_on], embedder.model)
        write(replace(whole, least=least), rows, asked.data)


def write(by: worth.Weights, rows: list[dict[str, Any]], data: Path) -> None:
    """Write the file of weights."""
    digest = hashlib.sha256()
    labels = data / "labels"
    for path in (labels / "ideas.jsonl", labels / "ideas_translated.jsonl", LABELS, SESSIONS):
        digest.update(path.read_bytes())
    told = {
        "made by": "benchmarks/train_ideas.py",
        "data": f"sha256:{digest.hexdigest()}",
        "figures": rows[:7],
        "model": by.model,
        "intents": by.intents,
        "least": by.least,
        "tables": {
            name: [[round(float(one), 3) for one in row] for row in table]
            for name, table in by.tables.items()
        },
    }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    Path(worth.WEIGHTS_FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
