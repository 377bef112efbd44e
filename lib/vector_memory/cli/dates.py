"""Dates at the command line."""

from __future__ import annotations

from datetime import datetime, timezone

import typer


def at_command_line(text: str | datetime) -> datetime:
    """Parse an option's date against the real clock; a wrong one is wrong usage."""
    if isinstance(text, datetime):
        return text
    from vector_memory.text import dates

    try:
        return dates.parse(text, datetime.now(timezone.utc))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date. Examples: {dates.EXAMPLES}.") from None
