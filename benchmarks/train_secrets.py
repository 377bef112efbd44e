"""Learn which letters follow which in words and identifiers; write the table that redaction reads.

    python benchmarks/train_secrets.py [--transcripts DIR]

It learns from one half of the ordinary texts. Of secrets it learns nothing: a random value is what no word is.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping

from ordinary_text import LEARNED, ordinary

from vector_memory.redact import randomness
from vector_memory.redact.randomness import ALPHABET, SCALE

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{2,60}")
_MOST = 4
"""Times that one word counts at most, so that keywords do not drown the rest."""


def encoded(counts: Mapping[tuple[str, str], int]) -> str:
    """Return the table of so many occurrences of each pair, as it is stored."""
    made = []
    for first in ALPHABET:
        row = [counts.get((first, second), 0) + 0.5 for second in ALPHABET]
        made += [chr(33 + min(90, round(-math.log2(n / sum(row)) * SCALE))) for n in row]
    return "".join(made)


def main() -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transcripts", default="", help="a folder of the client's transcripts")
    texts = ordinary(4.0, parser.parse_args().transcripts, LEARNED).values()
    words = Counter(word for kind in texts for text in kind for word in _WORD.findall(text))
    pairs: Counter[tuple[str, str]] = Counter()
    for word, count in words.items():
        if count > 1 and sum(map(str.isdigit, word)) <= 3:
            for pair in randomness.pairs_of(word):
                pairs[pair] += min(count, _MOST)
    randomness.DATA.write_text(encoded(pairs) + "\n", encoding="ascii")
    sys.stdout.write(f"{len(words)} words, {sum(pairs.values())} pairs\n")


if __name__ == "__main__":
    main()
