"""When the condition of a procedure holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vector_memory.errors import BadInputError
from vector_memory.service.learning.procedures import TriggerMoment, read


def prompt(text: str) -> TriggerMoment:
    """Return the moment of a prompt without files."""
    return TriggerMoment(text)


@pytest.mark.parametrize(
    ("trigger", "moment", "holds"),
    [
        ("file:*.sql", TriggerMoment(touched=("/app/db/001.sql",)), True),
        ("file:db/*.sql", TriggerMoment(touched=("/app/db/001.sql",)), True),
        ("file:db/*.sql", TriggerMoment(touched=("db/001.sql",)), True),
        ("file:db/*.sql", TriggerMoment(touched=("/other/db/001.sql",)), False),
        ("file:*.sql", TriggerMoment(touched=("/app/sql.py",)), False),
        ("file:Makefile", TriggerMoment(touched=("Makefile",)), True),
        ("file:src/**/*.py", TriggerMoment(touched=("/app/src/main.py",)), True),
        ("file:src/**/*.py", TriggerMoment(touched=("/app/src/a/b/c.py",)), True),
        ("file:src/**/*.py", TriggerMoment(touched=("/app/tests/main.py",)), False),
        ("file:./db/*.sql", TriggerMoment(touched=("/app/db/001.sql",)), True),
        ("file:db/*.sql", prompt("Look at ./db/001.sql please"), True),
        ("file:db/", TriggerMoment(touched=("/app/db/x/001.sql",)), True),
        ("file:db/", TriggerMoment(touched=("/app/dbx/001.sql",)), False),
        ("file:*.{py,sql}", TriggerMoment(touched=("/app/main.sql",)), True),
        ("file:*.{py,sql}", TriggerMoment(touched=("/app/main.rs",)), False),
        ("file:*.py", TriggerMoment(touched=("/app/a\0\ud800/b.py",)), True),
        ("command:git push", TriggerMoment(command="git push --force"), True),
        ("command:git push", TriggerMoment(command="cd x && git -C y push origin main"), True),
        ("command:git push", TriggerMoment(command="git pull"), False),
        ("command:git push", TriggerMoment(command="echo git push"), False),
        ("command:make", TriggerMoment(command="FOO=1 make test"), True),
        ("command:make", TriggerMoment(command="if ("), False),
        ("command:make", TriggerMoment(), False),
        (
            "error:no such table",
            TriggerMoment(command="x", error="sqlite3: No such\n table: a"),
            True,
        ),
        ("error:no such table", TriggerMoment(error="no such column"), False),
        ("term:release notes", prompt("Please write the release note for 2.0"), True),
        ("term:release notes", prompt("Please release it"), False),
        ("term:the", prompt("the"), False),
        ("term:データベース", prompt("データベースを移行してください"), True),
        ("term:数据库 Schema", prompt("请迁移数据库 and its schemas"), True),
        ("term:数据库 Schema", prompt("请迁移数据库"), False),
        ("term:数据库", prompt("请迁移文件"), False),
    ],
)
def test_conditions(trigger: str, moment: TriggerMoment, holds: bool) -> None:
    """Whole words of a prompt, a path from the project's folder, a program with its arguments."""
    assert replace(moment, tops=("/app",)).meets(trigger) is holds


@pytest.mark.parametrize(
    "line",
    [
        "./deploy.sh", "./deploy.sh --prod", "scripts/deploy.sh", "./gradlew build", "bin/rails db:migrate",
        "/usr/bin/make", 'git commit -m "wip"', "FOO=1 make", "sudo make install", "cd app && make", "make | tail",
    ],
)  # fmt: skip
def test_a_command_holds_as_it_is_typed(line: str) -> None:
    """A condition is read as a line is; all that it names has to be run, with what it is given."""
    assert read([f"command:{line}"])
    assert TriggerMoment(command=line).meets(f"command:{line}")
    assert not TriggerMoment(command="ls deploy.sh build").meets(f"command:{line}")


@pytest.mark.parametrize(
    ("trigger", "command"),
    [
        ("command:git commit -m 'two words'", "git commit -m two words"),
        ("command:./deploy.sh --prod", "./deploy.sh --stage"),
        ("command:cd app && make", "cd app && just"),
    ],
)
def test_other_arguments_are_another_command(trigger: str, command: str) -> None:
    """Quotes are taken off, and what stands in them stays one word."""
    assert not TriggerMoment(command=command).meets(trigger)


@pytest.mark.parametrize("trigger", ["command:FOO=1", "command:if", "command:("])
def test_a_command_that_names_no_program(trigger: str) -> None:
    """It could never hold."""
    with pytest.raises(BadInputError, match="names no program"):
        read([trigger])


@pytest.mark.parametrize("trigger", ["term:the", "term:++"])
def test_words_that_say_nothing(trigger: str) -> None:
    """They could never hold."""
    with pytest.raises(BadInputError, match="no word that tells"):
        read([trigger])


@pytest.mark.parametrize(
    "trigger", ["", "file:", "path:x", "file", f"term:{'x' * 201}", "when I say so"]
)
def test_what_is_none(trigger: str) -> None:
    """It is said what conditions there are."""
    with pytest.raises(BadInputError, match="is no condition"):
        read([trigger])


def test_too_many() -> None:
    """Of one memory."""
    assert read(["term:ab", "term:ab", "term:  b  c"]) == ["term:ab", "term:b c"]
    with pytest.raises(BadInputError, match="too many"):
        read([f"term:{number}" for number in range(17)])
