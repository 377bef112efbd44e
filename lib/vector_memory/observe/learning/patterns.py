"""The patterns by which learning reads requests, verdicts and outputs, from the table `patterns.txt` beside this file."""

from __future__ import annotations

import os
import re

from vector_memory.text import tables


def _patterns() -> dict[str, re.Pattern[str]]:
    text = "\n".join(tables.lines("patterns", os.path.dirname(__file__))).replace("\n|", "|")
    pairs = (line.split(" = ", 1) for line in text.splitlines())
    return {name: re.compile(pattern) for name, pattern in pairs}


PATTERNS = _patterns()
