"""Is the memory that names an identifier found first when somebody asks for it?

Memories are the commits of git repositories (this one by default): the message, and the paths that it
touches as `files`; and the entries of `--changelog` files, such as packages carry. Questions are made of every identifier and path that stands in at most three
commits: as a search would type it, in a sentence, in another style of writing (snake, camel, kebab), as
separate words, and a path by its last part alone. Imported with `import --verbatim`, asked with
`recall --batch`, beside plain methods over the same texts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from common import ROOT, Bench, bench, options, show
from locomo import ask, command
from quality import Baselines, Question, Text, measures

from vector_memory.config import Settings
from vector_memory.embed import registry

MOST_OWNERS = 3
PER_SORT = 250
SHORTEST = 40
RECORD, FIELD = "\x1e", "\x1f"
SENTENCES = (
    "where did we change {}?",
    "why does {} fail?",
    "what is the story of {} again?",
    "{} is broken since yesterday, what did we do there?",
)
_IDENTIFIER = re.compile(
    r"\b(?:[a-z0-9]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b"
)
_BULLET = re.compile(r"^\s*[-*] +", re.MULTILINE)
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+")


def commits(repository: str) -> list[dict[str, Any]]:
    """Return a repository's commits as lines that `import` takes."""
    form = f"--format={RECORD}%H{FIELD}%cI{FIELD}%B{FIELD}"
    printed = subprocess.run(
        ["git", "-C", repository, "log", "--no-merges", "--name-only", form],
        capture_output=True, text=True, check=True, errors="replace",
    ).stdout  # fmt: skip
    found = []
    for record in printed.split(RECORD)[1:]:
        sha, at, message, files = record.split(FIELD)
        paths = [line for line in files.splitlines() if line][:60]
        if message.strip():
            found.append(
                {
                    "id": sha,
                    "created_at": at,
                    "text": message.strip(),
                    "files": paths,
                    "kind": "commit",
                }
            )
    return found


def entries(path: str) -> list[dict[str, Any]]:
    """Return the entries of a changelog, its bullets, as lines that `import` takes."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    found = []
    for number, entry in enumerate(_BULLET.split(text)[1:]):
        words = " ".join(entry.split("\n\n")[0].replace("``", "`").split())
        if len(words) >= SHORTEST:
            found.append({"id": f"{path}:{number}", "text": words, "files": [], "kind": "change"})
    return found


def owners(lines: list[dict[str, Any]]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return which commits name each identifier, and which touch each path."""
    named: dict[str, set[str]] = defaultdict(set)
    touched: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for word in set(_IDENTIFIER.findall(line["text"])):
            named[word].add(line["id"])
        for path in line["files"]:
            touched[path].add(line["id"])
    return (
        {word: ids for word, ids in named.items() if len(ids) <= MOST_OWNERS},
        {path: ids for path, ids in touched.items() if len(ids) <= MOST_OWNERS},
    )


def questions(lines: list[dict[str, Any]]) -> list[Question]:
    """Return the questions of every sort."""
    named, touched = owners(lines)
    made: list[Question] = []

    def add(sort: str, text: str, ids: set[str]) -> None:
        made.append(Question(text, frozenset(ids), "", sort))

    for number, (word, ids) in enumerate(sorted(named.items())[:PER_SORT]):
        parts = [part.lower() for part in _PARTS.findall(word.replace("_", " "))]
        add("identifier", word, ids)
        add("in a sentence", SENTENCES[number % len(SENTENCES)].format(word), ids)
        add("in another style", restyled(word, parts), ids)
        add("as words", " ".join(parts), ids)
    ends: dict[str, set[str]] = defaultdict(set)
    for path, ids in touched.items():
        ends[path.rpartition("/")[2]] |= ids
    for path, ids in sorted(touched.items())[:PER_SORT]:
        add("path", path, ids)
    for name, ids in sorted(ends.items())[:PER_SORT]:
        if len(ids) <= MOST_OWNERS:
            add("file name", name, ids)
    return made


def restyled(word: str, parts: list[str]) -> str:
    """Return an identifier as another language would write it."""
    if "_" in word:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts)


def load(made: Bench, lines: list[dict[str, Any]]) -> dict[str, str]:
    """Import the commits; return the project's folder."""
    path = Path(made.root, "commits.jsonl")
    folder = str(Path(made.root, "history"))
    path.write_text("".join(json.dumps({**line, "project": folder}) + "\n" for line in lines))
    command(made, "import", str(path), "--verbatim")
    return {"": folder}


def figures(rankings: list[list[str]], asked: list[Question]) -> dict[str, Any]:
    """Return how often an owner is first, and among the first five, in percent."""
    first = [bool(set(ids[:1]) & one.answers) for ids, one in zip(rankings, asked, strict=True)]
    five = [bool(set(ids[:5]) & one.answers) for ids, one in zip(rankings, asked, strict=True)]
    return {
        "first": round(100 * sum(first) / len(first), 1),
        "in 5": round(100 * sum(five) / len(five), 1),
        "nDCG@10": measures(rankings, asked)["nDCG@10"],
    }


def main() -> None:
    """Measure once."""
    parser = options(__doc__ or "")
    parser.add_argument("repositories", nargs="*", default=[str(ROOT)])
    parser.add_argument("--changelog", nargs="*", default=[], help="files of changes")
    given = parser.parse_args()
    lines = [line for one in given.repositories for line in commits(one)]
    lines += [line for one in given.changelog for line in entries(one)]
    asked = questions(lines)
    with bench(given.home) as made:
        made.daemon.start()
        rankings = {"vector-memory": ask(made, asked, load(made, lines))}
        texts = [Text(line["id"], line["text"] + "\n" + " ".join(line["files"])) for line in lines]
        baselines = Baselines(texts, registry.create(Settings(), made.home.models))
        for name, rank in baselines.methods().items():
            rankings[name] = [rank(one) for one in asked]
        baselines.close()
    rows = []
    for sort in dict.fromkeys(one.kind for one in asked):
        places = [place for place, one in enumerate(asked) if one.kind == sort]
        for method, found in rankings.items():
            some = [asked[place] for place in places]
            row = figures([found[place] for place in places], some)
            rows.append({"asked": sort, "questions": len(places), "method": method, **row})
    show(f"Identifiers in {len(lines)} changes", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
