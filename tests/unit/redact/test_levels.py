"""Levels of sensitivity that CLAUDE.md names."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from vector_memory import redact
from vector_memory.model import Memory, Sensitivity
from vector_memory.redact import levels

FILE = """# Ledger
- restricted: not under a heading of its own

## Sensitivity
Some words.
- **confidential**: `src/payroll/**`, salaries
- restricted: Project Heron
### Older
* internal: *.log
- EU: src/customers/**, Hamburg
- us: all of us

## Build
- confidential: the build
"""


def memory(text: str, *files: str) -> Memory:
    return Memory(
        "a" * 32, redact.clean(text).text, datetime(2026, 5, 3, tzinfo=timezone.utc), files=files
    )


def test_lines_under_the_heading_are_rules() -> None:
    found = [(rule.mark, rule.path or rule.words) for rule in levels.parse(FILE)]
    assert found == [
        ("confidential", "src/payroll/**"),
        ("confidential", "salaries"),
        ("restricted", "Project Heron"),
        ("internal", "*.log"),
        ("EU", "src/customers/**"),
        ("EU", "Hamburg"),
    ]


@pytest.mark.parametrize(
    ("text", "files", "level"),
    [
        ("Nothing of the kind.", (), Sensitivity.INTERNAL),
        ("We raised SALARIES in May.", (), Sensitivity.CONFIDENTIAL),
        ("A salariesman is something else.", (), Sensitivity.INTERNAL),
        ("It rounds down.", ("src/payroll/tax.py",), Sensitivity.CONFIDENTIAL),
        ("It rounds down.", ("/home/ann/ledger/src/payroll/a/tax.py",), Sensitivity.CONFIDENTIAL),
        ("It rounds down.", ("src/payrolls/tax.py",), Sensitivity.INTERNAL),
        ("Salaries of project heron.", (), Sensitivity.RESTRICTED),
    ],
)
def test_the_strictest_rule_counts(
    tmp_path: Path, text: str, files: tuple[str, ...], level: Sensitivity
) -> None:
    (tmp_path / "CLAUDE.md").write_text(FILE)
    with redact.for_project((str(tmp_path),)):
        assert levels.raised(memory(text, *files)).sensitivity is level
    assert levels.raised(memory(text, *files)).sensitivity is Sensitivity.INTERNAL


def test_no_rule_lowers_a_level(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(FILE)
    strict = replace(memory("x", "a.log"), sensitivity=Sensitivity.RESTRICTED)
    with redact.for_project((str(tmp_path),)):
        assert levels.raised(strict) is strict


@pytest.mark.parametrize(
    ("text", "files", "own", "law"),
    [
        ("The office in Hamburg closes at six.", (), "", "EU"),
        ("It rounds down.", ("src/customers/tax.py",), "", "EU"),
        ("The office in Hamburg closes at six.", (), "CH", "CH"),
        ("None of us was there.", (), "", ""),
    ],
)
def test_a_rule_puts_under_a_law_what_is_under_none(
    tmp_path: Path, text: str, files: tuple[str, ...], own: str, law: str
) -> None:
    (tmp_path / "CLAUDE.md").write_text(FILE)
    with redact.for_project((str(tmp_path),)):
        assert levels.raised(replace(memory(text, *files), jurisdiction=own)).jurisdiction == law
