"""What a line of PowerShell does to files is held against limits as what any other line does."""

from __future__ import annotations

import pytest

from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.intent import broken_limits, changes, limits

PLACE = CallSite("/home/dev/shop", "/home/dev/shop", "/home/dev", exists=lambda path: True)


@pytest.mark.parametrize(
    ("command", "is_broken"),
    [
        ("Set-Content .\\config\\prod.exs 'x'", True),
        ("Remove-Item config\\prod.exs", True),
        ("'x' | Out-File config/prod.exs", True),
        ("(Get-Content config/prod.exs) -replace 'a','b' | Set-Content -Path config/prod.exs", True),
        ("Copy-Item a.exs -Destination config\\prod.exs", True),
        ("cd config; Clear-Content prod.exs", True),
        ("Get-Content config\\prod.exs", False),
        ("Copy-Item config\\prod.exs C:\\temp\\prod.exs", False),
        ("Get-Content config\\prod.exs | Set-Content config\\dev.exs", False),
        ("Remove-Item config\\prod.exs -WhatIf", False),
    ],
)  # fmt: skip
def test_a_file_that_is_off_limits(command: str, is_broken: bool) -> None:
    """Written, replaced or deleted by whatever name; not read, and not where another file is written."""
    view = changes.of_call("PowerShell", {"command": command}, PLACE)
    told = list(broken_limits.broken(limits.read("Don't touch config/prod.exs."), view, PLACE))
    assert bool(told) == is_broken
