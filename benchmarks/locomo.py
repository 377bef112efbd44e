"""How much of what questions about long conversations need stands in the first ten memories?

DATA is a JSON file of LoCoMo conversations (Maharana et al., ACL 2024): each has sessions of turns,
and questions with the ids of the turns that answer them. Every turn is imported as it is with
`import --verbatim`, and every question asked with `recall --batch`, as a user would. Questions
without an answer in the conversation (category 5) are left out.

`--layout together` puts all conversations into one project, so that a question has to find its own;
`--layout apart` makes each a project of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, show
from quality import Baselines, Question, Text, measures

from vector_memory.config import Settings
from vector_memory.embed import registry

UNANSWERABLE = 5
_TIME = "%I:%M %p on %d %B, %Y"


def lines_of(conversations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every turn as a line that `import` takes."""
    made = []
    for one in conversations:
        talk, name = one["conversation"], one["sample_id"]
        sessions = [key for key in talk if re.fullmatch(r"session_\d+", key)]
        for key in sorted(sessions, key=lambda key: int(key[8:])):
            at = datetime.strptime(talk[f"{key}_date_time"], _TIME).replace(tzinfo=timezone.utc)
            for place, turn in enumerate(talk[key]):
                caption = turn.get("blip_caption")
                made.append(
                    {
                        "id": f"{name}/{turn['dia_id']}",
                        "text": turn["text"] + (f" [image: {caption}]" if caption else ""),
                        "speaker": turn["speaker"],
                        "session": f"{name}/{key}",
                        "seq": place,
                        "created_at": at.isoformat(),
                        "conversation": name,
                    }
                )
    return made


def questions_of(conversations: list[dict[str, Any]], apart: bool) -> list[Question]:
    """Return the questions that have answers among the turns."""
    known = {line["id"] for line in lines_of(conversations)}
    made = []
    for one in conversations:
        name = one["sample_id"]
        for asked in one["qa"]:
            turns = re.findall(r"D\d+:\d+", " ".join(asked.get("evidence") or []))
            answers = frozenset(f"{name}/{turn}" for turn in turns) & known
            if answers and asked["category"] != UNANSWERABLE:
                kind = str(asked["category"])
                made.append(Question(asked["question"], answers, name if apart else "", kind))
    return made


def command(made: Bench, *words: str) -> str:
    """Run the CLI as a user would, and return what it prints."""
    done = subprocess.run(
        ["sh", str(ROOT / "bin" / "vector-memory"), *words],
        capture_output=True, text=True, check=True, cwd=made.project, env=made.environment,
    )  # fmt: skip
    return done.stdout


def ask(made: Bench, questions: list[Question], folders: dict[str, str]) -> list[list[str]]:
    """Return the ids that `recall --batch` finds for each question."""
    path = Path(made.root, "questions.jsonl")
    path.write_text(
        "".join(
            json.dumps({"query": one.text, "k": 10, "project": folders[one.project]}) + "\n"
            for one in questions
        )
    )
    answers = [
        json.loads(line) for line in command(made, "recall", "--batch", str(path)).splitlines()
    ]
    return [[hit["external_id"] for hit in answer["hits"]] for answer in answers]


def load(made: Bench, lines: list[dict[str, Any]], apart: bool) -> dict[str, str]:
    """Import all turns; return each project's folder by its name."""
    names = sorted({line["conversation"] for line in lines}) if apart else [""]
    folders = {name: str(Path(made.root, name or "together")) for name in names}
    path = Path(made.root, "turns.jsonl")
    with path.open("w") as file:
        for line in lines:
            name = line["conversation"] if apart else ""
            kept = {key: value for key, value in line.items() if key != "conversation"}
            file.write(json.dumps({**kept, "project": folders[name]}) + "\n")
    command(made, "import", str(path), "--verbatim")
    return folders


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("data")
    parser.add_argument("--layout", choices=("together", "apart"), default="together")
    asked = parser.parse_args()
    apart = asked.layout == "apart"
    conversations = json.loads(Path(asked.data).read_text(encoding="utf-8"))
    lines, questions = lines_of(conversations), questions_of(conversations, apart)
    with bench(asked.home) as made:
        embedder = registry.create(Settings(), made.home.models)
        texts = [
            Text(line["id"], line["text"], line["conversation"] if apart else "") for line in lines
        ]
        baselines = Baselines(texts, embedder)
        rows = baselines.rows(questions)
        baselines.close()
        made.daemon.start()
        rankings = ask(made, questions, load(made, lines, apart))
    rows.append({"method": "vector-memory", **measures(rankings, questions)})
    for kind in sorted({one.kind for one in questions}):
        some = [place for place, one in enumerate(questions) if one.kind == kind]
        rows.append(
            {
                "method": f"  questions of category {kind} ({len(some)})",
                **measures([rankings[i] for i in some], [questions[i] for i in some]),
            }
        )
    show(f"{len(questions)} questions over {len(lines)} turns, {asked.layout}", rows, asked.json)


if __name__ == "__main__":
    sys.exit(main())
