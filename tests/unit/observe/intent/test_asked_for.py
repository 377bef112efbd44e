"""What the user asked for is not warned of, what he forbade is."""

from __future__ import annotations

import pytest

from vector_memory.observe.commands.findings import FORCE_PUSH, HIGH, INFRASTRUCTURE, Finding
from vector_memory.observe.intent.asked_for import is_asked

PUSH = Finding(FORCE_PUSH, HIGH, "git push --force", "It overwrites.", "main")
DESTROY = Finding(INFRASTRUCTURE, HIGH, "terraform destroy", "It is gone.", "envs/staging")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (PUSH, "Please don't git push --force."),
        (PUSH, "Nada de git push --force, por favor."),
        (PUSH, "Range la branche, mais pas de force push."),
        (PUSH, "Pulisci il branch senza git push --force"),
        (PUSH, "Ruim op, maar nooit een force push"),
        (PUSH, "Никаких git push --force!"),
        (PUSH, "请整理分支，不要 git push --force"),
        (PUSH, "git push --force は禁止です"),
        (PUSH, "kein rebase, squash oder force push"),
        (DESTROY, "Räum bitte envs/staging auf, aber bitte kein terraform destroy von staging!"),
        (DESTROY, "terraform destroy in staging, bitte nicht!"),
        (DESTROY, "não faça terraform destroy em staging"),
    ],
)
def test_what_was_forbidden_is_not_asked_for(found: Finding, said: str) -> None:
    """Whatever the language, though the command's name is the same in all."""
    assert not is_asked(found, [said])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (PUSH, "git push --force bitte"),
        (PUSH, "Der Rebase ging nicht. Mach ein git push --force."),
        (PUSH, "Kein Merge, sondern git push --force"),
        (DESTROY, "Mach terraform destroy in staging, die Umgebung wird nicht mehr gebraucht"),
    ],
)
def test_what_was_asked_for_is(found: Finding, said: str) -> None:
    """A "not" of another clause is about something else."""
    assert is_asked(found, [said])
