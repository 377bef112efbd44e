"""Who shares, and where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sharing_machines import Machine


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[list[Machine]]:
    made = [Machine(tmp_path / name, name) for name in ("ann", "ben", "cem")]
    yield made
    for machine in made:
        machine.house.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "drive"
    folder.mkdir()
    return folder
