"""How well errors and their fixes are found in transcripts: `python benchmarks/fixes.py TRANSCRIPTS`.

TRANSCRIPTS is the folder that `labels.json` speaks of. A pair counts as found where both the
error and the success are the labelled ones. Labels that are not `certain` are neither asked for nor
held against. With `--show`, each pair that differs is printed; with `--text`, what would be stored.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import labelled

from vector_memory.index.exchanges import exchanges
from vector_memory.index.fixes.fix_drafts import fix_drafts
from vector_memory.index.fixes.fixes import episodes
from vector_memory.index.reader import transcripts_below
from vector_memory.index.transcript import read_entries

Pair = tuple[str, int, int]
"""A file, the line of the error, and the line of the command that succeeded."""


def marked(folder: str) -> tuple[dict[Pair, bool], set[str]]:
    """Return the labelled pairs with whether they are certain, and the files that were labelled."""
    said, labels = labelled.load(folder)
    pairs = {}
    for one in labels["fixes"]:
        error, success = said[one["error"]], said[one["success"]]
        pairs[(error.file, error.line, success.line)] = bool(one["certain"])
    return pairs, {one.file for one in said}


def found(folder: Path, files: set[str], show: bool) -> set[Pair]:
    """Return the pairs that are found in the transcripts of a folder."""
    pairs = set()
    for path in transcripts_below(str(folder)):
        name = os.path.relpath(path, folder)
        for exchange in exchanges(read_entries(path, final=True)):
            if name in files:
                for one in episodes(exchange):
                    pairs.add((name, one.failed.output_line, one.success.line))
            for draft in fix_drafts(exchange, path) if show else ():
                print(f"{name[-40:]}:{draft.line_start}-{draft.line_end}\n  {draft.title}")
                print(f"  {draft.text}\n  {draft.files} {draft.extra}")
    return pairs


def main() -> None:
    """Print precision and recall of the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--text", action="store_true")
    given = parser.parse_args()
    wanted, files = marked(str(given.transcripts))
    got = found(given.transcripts, files, given.text)
    certain = {pair for pair, sure in wanted.items() if sure}
    judged = got - (set(wanted) - certain)
    right = judged & certain
    print(f"labelled {len(wanted)}, of them certain {len(certain)}; found {len(got)}")
    print(f"precision {len(right) / max(1, len(judged)):.3f}")
    print(f"recall {len(right) / max(1, len(certain)):.3f}")
    if given.show:
        for pair in sorted(judged - certain):
            print("not labelled:", *pair)
        for pair in sorted(certain - got):
            print("not found:", *pair)


if __name__ == "__main__":
    main()
