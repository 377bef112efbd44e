"""A project whose folder is not there, and of which there is no memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import NotFoundError
from vector_memory.model import ignore_progress
from vector_memory.service.transfer.json_lines import ImportRequest, import_file


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("recall", {"query": "harbour"}),
        ("remember", {"text": "The ferry leaves from the north harbour."}),
        ("forget", {"query": "harbour", "dry_run": True}),
        ("lessons", {}),
        ("wrapup", {}),
        ("privacy", {"text": "harbour"}),
    ],
)
def test_every_verb_says_that_there_is_none(
    house: ServiceHouse, tmp_path: Path, verb: str, asked: dict[str, Any]
) -> None:
    """As `recall` does; nothing is stored there."""
    with pytest.raises(NotFoundError, match="There is no folder"):
        door(house.ctx, verb, {**asked, "project": str(tmp_path / "nope")})


@pytest.mark.parametrize("typed", ["billing", "{app}/billing"])
@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("recall", {"query": "harbour"}),
        ("remember", {"text": "The ferry leaves from the north harbour."}),
        ("forget", {"query": "harbour", "dry_run": True}),
        ("purge", {"dry_run": True}),
    ],
)
def test_a_name_within_a_project_is_not_that_project(
    house: ServiceHouse, app: Path, verb: str, asked: dict[str, Any], typed: str
) -> None:
    """Who names another project, or mistypes a folder, is not answered of this one, and changes nothing in it."""
    (app / ".git").mkdir()
    house.remember("The harbour master is called Ann.", app)
    named = typed.format(app=app)
    about = {"dir": named} if verb == "purge" else {"project": named}
    with pytest.raises(NotFoundError, match="billing"):
        door(house.ctx, verb, {**asked, **about, "cwd": str(app)})
    assert house.ctx.global_shelf().journal.count() == 1


def test_a_session_goes_on_in_a_folder_that_went(house: ServiceHouse, app: Path) -> None:
    """Its doors name the folder where it works, which is the project's."""
    (app / ".git").mkdir()
    house.remember("The harbour master is called Ann.", app)
    gone = str(app / "build")
    asked = {"query": "harbour master", "project": gone, "cwd": gone}
    assert len(door(house.ctx, "recall", asked)["hits"]) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"txt": "x"}', 'no field "text"'),
        ('{"text": 5}', "text is no text in quotes"),
        ('{"text": "x", "kind": 42}', "kind is no text in quotes"),
    ],
)
def test_a_line_of_an_import_says_what_is_wrong(
    house: ServiceHouse, tmp_path: Path, line: str, said: str
) -> None:
    """A field that is not there, and one that is something else; no project is made up for it."""
    file = tmp_path / "lines.jsonl"
    file.write_text(line + "\n")
    request = ImportRequest(path=str(file), is_global=True)
    done = import_file(house.ctx, request, ignore_progress)
    assert [said in error.error for error in done.errors] == [True]
    with pytest.raises(NotFoundError):
        import_file(
            house.ctx,
            replace(request, is_global=False, project=str(tmp_path / "nope")),
            ignore_progress,
        )
