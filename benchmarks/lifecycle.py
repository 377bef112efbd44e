"""What do cold memories cost, and are they still found?

First: a store of which a part was made cold, beside one that never had more than the rest, and beside the whole:
what the daemon takes of memory, what the index and the journal take on the disk. Memories go straight into the
journal and its vector cache, as `scale.py` does it.

Second, with `--eval`: the questions of `questions.py`, asked at once, and asked when a part of all memories is
cold; and with every memory as old as what it says, so that what nobody used counts less (`--aged`). Which are
cold is drawn by their ids, and has nothing to do with what is asked.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

from common import bench, options, show, text
from questions import SHARES, Asked, filled, measure
from replay import House, data_key, read_lines, split_rows, unpacked
from scale import QUESTIONS, SEEDS, Vectors, fill, milliseconds, questions, times

from vector_memory import aging
from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.journal.journal import Journal
from vector_memory.model import Memory, Scope, Tier

AT_ONCE = 5_000
WARM_UP = 20
STILL_S = 60.0


def is_chosen(id: str, share: float) -> bool:
    """Whether a memory is one of a share of all, drawn by its id."""
    return zlib.crc32(id.encode()) % 1_000 < 1_000 * share


def freeze(journal: Journal, share: float) -> int:
    """Make a share of a journal's memories cold and return how many that are."""
    chosen = [one.id for one in journal.iter_memories(Scope()) if is_chosen(one.id, share)]
    for start in range(0, len(chosen), AT_ONCE):
        journal.move_to_tiers(dict.fromkeys(chosen[start : start + AT_ONCE], Tier.COLD))
    return len(chosen)


def bytes_of(folder: str) -> int:
    """Return what a folder's files take."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def wait_until_tidy(store: str) -> None:
    """Wait until the index's files have not changed for a minute: on a busy machine what was moved takes its room on
    the disk, and in the daemon, long after searches leave it out."""
    last = -1
    while (now := index_bytes(store)) != last:
        last = now
        time.sleep(STILL_S)


def index_bytes(store: str) -> int:
    """Return what a store's index takes."""
    return bytes_of(os.path.join(store, "lance")) + bytes_of(os.path.join(store, "matrix"))


def size(linked: str, rows: int, share: float) -> dict[str, Any]:
    """Return what a store takes of which a share is made cold once all of it was indexed."""
    with bench(linked) as made:
        embedder = registry.create(Settings(), made.home.models)
        chance = random.Random(3)
        real = embedder.embed_documents([text(number, chance) for number in range(SEEDS)])
        model = embedder.model
        embedder.close()
        fill(made, rows, Vectors(real), model)
        made.settle(6 * 3_600)
        made.daemon.stop()
        store = made.home.global_store
        journal = Journal.open(store)
        cold = freeze(journal, share) if share else 0
        journal.close()
        # It follows, tidies up, and is started anew: what it takes then is what it needs.
        made.settle(6 * 3_600)
        wait_until_tidy(store)
        made.daemon.stop()
        made.settle(6 * 3_600)
        words = questions()
        every = {"all_projects": True, "k": 10}
        index = index_bytes(store)
        journal_bytes = bytes_of(store) - index

        def ask(number: int) -> Any:
            return made.daemon.ask("recall", {"query": words[number], **every})

        # Whatever is found comes back: sizes are those of before, and of a daemon that has answered.
        milliseconds(ask, WARM_UP)
        rss = made.daemon.ask("status", {})["rss_mb"]
        asked = milliseconds(ask, QUESTIONS)
        made.daemon.stop()
        return {
            "memories": rows,
            "cold": cold,
            "rss MB": round(rss),
            "index MB": round(index / 1e6),
            "journal MB": round(journal_bytes / 1e6),
            **times("recall", asked),
        }


def answered(
    root: str, kept: str, data: str, linked: str, share: float, lines: Any, by_project: bool
) -> list[Asked]:
    """Ask all questions of a copy of the filled memory, of which a share is cold."""
    shutil.copytree(kept, root, symlinks=True)
    house: House = filled(root, data, linked)
    try:
        if share:
            freeze(house.ctx.global_shelf().journal, share)
            house.ctx.notify()
            house.settle()
        return measure(house, lines, data, by_project, "")
    finally:
        house.close()


def ages_by_its_words() -> None:
    """Let every memory be as old as what it says, as if it had been captured then."""

    def last_use(memory: Memory) -> Any:
        return max(filter(None, (memory.created_at, memory.applied_at)))

    aging.last_use = last_use


def main() -> None:
    """Measure what was asked for."""
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument(
        "--share", type=float, default=0.6, help="of all memories, so many are cold"
    )
    parser.add_argument("--eval", default="", help="the folder of the labelled data: questions too")
    parser.add_argument("--keep", default="", help="a folder for what the next run can use again")
    parser.add_argument("--by-project", action="store_true", help="ask each question's project")
    parser.add_argument("--aged", action="store_true", help="memories are as old as what they say")
    given = parser.parse_args()
    if not given.eval:
        rest = round(given.rows * (1 - given.share))
        stores = ((rest, 0.0), (given.rows, 0.0), (given.rows, given.share))
        found = [size(given.home, rows, share) for rows, share in stores]
        show("What a store takes of which a part is cold", found, given.json)
        return
    if given.aged:
        ages_by_its_words()
    lines = read_lines(Path(given.eval, "labels", "questions.jsonl"))
    lines = [line for line in lines if line.get("workspace")]
    with tempfile.TemporaryDirectory(prefix="vector-memory-eval-") as scratch:
        data = unpacked(given.eval, given.keep or scratch)
        kept = os.path.join(given.keep or scratch, f"questions-{data_key(given.eval)}")
        if not os.path.exists(os.path.join(kept, "filled")):
            filled(kept, data, given.home).close()
        for share in (0.0, given.share):
            root = os.path.join(scratch, f"house-{share}")
            answers = answered(root, kept, data, given.home, share, lines, given.by_project)
            title = f"Asked for, {share:.0%} of all memories cold"
            show(title, split_rows(answers, lambda one: one.source, SHARES), given.json)


if __name__ == "__main__":
    main()
