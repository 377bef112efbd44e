"""What the user asked for is not warned of, what he forbade is."""

from __future__ import annotations

import pytest

from vector_memory.observe.commands.findings import (
    DATA,
    DELETE,
    FORCE_PUSH,
    HIGH,
    INFRASTRUCTURE,
    Finding,
)
from vector_memory.observe.intent.asked_for import is_asked

PUSH = Finding(FORCE_PUSH, HIGH, "git push --force", "It overwrites.", "main")
DESTROY = Finding(INFRASTRUCTURE, HIGH, "terraform destroy", "It is gone.", "envs/staging")
DROP = Finding(DATA, HIGH, "drop table users", "It is gone.", "users")
REMOVE = Finding(DELETE, HIGH, "rm -r build", "It is gone.", "build")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (PUSH, "Please don't git push --force."),
        (PUSH, "Nada de git push --force, por favor."),
        (PUSH, "Range la branche, mais pas de force push."),
        (PUSH, "Pulisci il branch ma non fare un git push --force"),
        (PUSH, "No hagas force push"),
        (PUSH, "Bitte nicht force pushen"),
        (PUSH, "Niet force pushen, a.u.b."),
        (PUSH, "не делай git push --force"),
        (PUSH, "git push --force yapma lütfen"),
        (PUSH, "git push --force 하지 마세요"),
        (PUSH, "git push --force しないでください"),
        (PUSH, "请别 force push"),
        (PUSH, "Ruim op, maar nooit een force push"),
        (PUSH, "Никаких git push --force!"),
        (PUSH, "请整理分支，不要 git push --force"),
        (PUSH, "git push --force は禁止です"),
        (DESTROY, "terraform destroy staging bitte nicht"),
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
        (PUSH, "Kein Merge sondern git push --force"),
        (PUSH, "Mach einen force push auf main ohne Rückfrage"),
        (PUSH, "Fais un force push sans demander"),
        (PUSH, "Haz un force push sin preguntar"),
        (PUSH, "force push, kein Problem"),
        (PUSH, "force push, pas de problème"),
        (PUSH, "der normale push geht nicht, mach force push"),
        (PUSH, "le push ne passe pas, fais un force push"),
        (PUSH, "не могу запушить, сделай force push"),
        (PUSH, "不能 push，所以 force push"),
        (PUSH, "特别 force push"),
        (PUSH, "rebase 하지만 force push 해줘"),
        (PUSH, "Vergiss nicht den force push"),
        (PUSH, "force push bitte nicht vergessen"),
        (DROP, "drop users ohne backup"),
        (DROP, "drop die Tabelle users die wir nicht mehr brauchen"),
        (REMOVE, "delete build non recursively"),
        (DESTROY, "Mach terraform destroy in staging, die Umgebung wird nicht mehr gebraucht"),
    ],
)
def test_what_was_asked_for_is(found: Finding, said: str) -> None:
    """A "not" of another clause is about something else."""
    assert is_asked(found, [said])
