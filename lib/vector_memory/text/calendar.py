"""Days and months by their English names: capitals that name nobody."""

from __future__ import annotations

DAYS_AND_MONTHS = frozenset(
    (
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
        "february", "march", "april", "june", "july", "august", "september", "october", "november",
        "december",
    )
)  # fmt: skip
"""Without "may", which is a word by itself."""
