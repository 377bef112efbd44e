"""How notes of a day, a week or a month are named: by patterns as Obsidian and others write them."""

from __future__ import annotations

import re
from datetime import datetime

_TOKEN = re.compile(r"\[([^\[\]]*)\]|YYYY|GGGG|gggg|MMMM|MMM|MM|DD|dddd|ddd|WW|ww")
_FORMS = {
    "YYYY": "%Y", "GGGG": "%G", "gggg": "%G", "MMMM": "%B", "MMM": "%b", "MM": "%m", "DD": "%d", "dddd": "%A",
    "ddd": "%a", "WW": "%V", "ww": "%V",
}  # fmt: skip


def note_name(pattern: str, day: datetime) -> str:
    """Return the path of a day's note below its folder, such as `2026/11/2026-11-23.md` for `YYYY/MM/YYYY-MM-DD`.
    Weeks are those of ISO 8601, names of months and days are English, and words in brackets stand for themselves."""

    def replacement(token: re.Match[str]) -> str:
        return day.strftime(_FORMS[token[0]]) if token[1] is None else token[1]

    return f"{_TOKEN.sub(replacement, pattern)}.md"
