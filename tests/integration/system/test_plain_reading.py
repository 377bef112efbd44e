"""Whatever stands in the place of a file that a project ships or somebody names: no reader waits for it,
takes more of it than it has use for, or reads what lies elsewhere."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse
from troubles import LEADING_OUT, NAMES, SECRET, TROUBLES, at_once

from vector_memory import projects
from vector_memory.client import privacy as cold_privacy
from vector_memory.errors import VectorMemoryError
from vector_memory.index import codex, cursor, reader
from vector_memory.journal import audit_files
from vector_memory.redact import policy
from vector_memory.service.base import client_memory, privacy, privacy_rules
from vector_memory.service.capture import session_summary
from vector_memory.service.learning import lessons
from vector_memory.service.purge import byte_search
from vector_memory.service.tools import earlier_prompts
from vector_memory.service.transfer import import_notes, note_files
from vector_memory.service.upkeep import backup_file
from vector_memory.setup import wiring
from vector_memory.system import files

RULES = f"# Privacy\n- {SECRET}\n"
DAY = datetime(2026, 5, 3, tzinfo=timezone.utc)
Reader = Callable[[str], Any]
SHIPPED: dict[str, tuple[str, Reader]] = {
    "rules": ("CLAUDE.md", lambda path: policy.rules_of(path, os.path.dirname(path))),
    "rules below": (
        ".claude/CLAUDE.md",
        lambda path: policy.rules_of(path, os.path.dirname(os.path.dirname(path))),
    ),
    "rules without the daemon": (
        "CLAUDE.md",
        lambda path: cold_privacy.rules_since(os.path.dirname(path)) or "",
    ),
}
"""What a project ships: where it lies in it, and who reads it."""
NAMED: dict[str, tuple[str, Reader]] = {
    "a transcript": ("s1.jsonl", lambda path: reader.read_new(path, None, final=True)),
    "a transcript's head": ("s1.jsonl", reader.session_and_folder),
    "transcripts": ("s1.jsonl", lambda path: reader.transcripts_below(os.path.dirname(path))),
    "exchanges": ("s1.jsonl", lambda path: reader.read_exchanges(path, final=True)),
    "a cursor": ("s1.jsonl", lambda path: cursor.fingerprint(path, 500, 500)),
    "a rollout": ("s1.jsonl", lambda path: codex.read_common_fields(path, 500)),
    "earlier prompts": ("s1.jsonl", earlier_prompts.read),
    "the client's memory": (
        "memory/MEMORY.md",
        lambda path: client_memory.known_to_client(
            os.path.join(os.path.dirname(os.path.dirname(path)), "s1.jsonl")
        ),
    ),
    "a note": ("n.md", note_files.read),
    "a daily note": (
        "2026-05-03.md",
        lambda path: session_summary.put_section(
            os.path.dirname(path), f"{DAY:%Y-%m-%d}.md", "s1", "words"
        ),
    ),
    "a backup": ("b.tar.gz", backup_file.read),
    "older entries": ("audit-202605-000000001-000000002.jsonl.gz", audit_files.read),
    "a purge's search": (
        "x.gz",
        lambda path: byte_search.search([path], byte_search.Needles(["no such words at all"])),
    ),
    "settings": ("settings.json", wiring.load),
    "git's file": (".git", lambda path: projects.locate(os.path.dirname(path)).id),
    "git's configuration": (
        ".git/config",
        lambda path: projects.locate(os.path.dirname(os.path.dirname(path))).name,
    ),
}
"""What a hook's message, a setting or a user names, and who reads it."""


@pytest.fixture(autouse=True)
def looked_anew() -> Iterator[None]:
    """No file is taken as known from another test."""
    policy.forget_files()
    policy._parsed.cache_clear()
    yield


@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_reader_waits_or_reads_elsewhere(tmp_path: Path, trouble: str) -> None:
    """Each reader, with each thing in its file's place: an answer or a plain error, at once; and what lies
    outside of the project never comes with it."""
    outside = tmp_path / "outside.md"
    outside.write_text(RULES)
    for number, (name, (place, read)) in enumerate({**SHIPPED, **NAMED}.items()):
        path = tmp_path.resolve() / f"p{number}" / place
        path.parent.mkdir(parents=True)
        TROUBLES[trouble](path, outside)
        told = ""
        with (
            at_once(f"{name}, {trouble}"),
            contextlib.suppress(OSError, UnicodeError, ValueError, VectorMemoryError),
        ):
            told = repr(read(str(path)))
        assert SECRET not in told, (name, trouble)
        if name in SHIPPED and trouble in LEADING_OUT:
            assert not policy.rules_of(str(path), str(path.parents[place.count("/")]))
    assert outside.read_text() == RULES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_name_is_told_as_such(name: str, tmp_path: Path) -> None:
    """By an error of the system or a refusal, never by one that nobody expects."""
    paths = [name, str(tmp_path / name), files.with_real_folder(str(tmp_path / name / "x"))]
    for path in paths:
        for open_one in (
            files.open_plain,
            files.open_regular,
            lambda p: files.read_text(p, 9, "/"),
        ):
            with at_once(repr(path)), pytest.raises(OSError) as caught:
                open_one(path)
            str(caught.value).encode("utf-8", "surrogateescape")


def test_links_that_people_make_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGENTS.md beside CLAUDE.md, a file deeper in the project, and for the user's own file the dotfiles."""
    project, dotfiles = tmp_path / "app", tmp_path / "dotfiles"
    (project / "docs").mkdir(parents=True)
    dotfiles.mkdir()
    for number, target in enumerate((project / "AGENTS.md", project / "docs" / "agents.md")):
        target.write_text(f"# Privacy\n- codeword{number}\n")
        for link in (os.path.relpath(target, project), str(target)):
            path = project / "CLAUDE.md"
            os.symlink(link, path)
            policy.forget_files()
            policy._parsed.cache_clear()
            assert policy.rules_of(str(path), str(project)).rules
            assert cold_privacy.rules_since(str(project)) > 0
            path.unlink()
    (dotfiles / "claude.md").write_text("# Privacy\n- codeword\n")
    config = tmp_path / "config"
    config.mkdir()
    os.symlink(dotfiles / "claude.md", config / "CLAUDE.md")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    policy.forget_files()
    assert policy.active().rules
    assert cold_privacy.rules_since("") > 0
    # The same link, shipped by a project, leads out of it.
    os.symlink(dotfiles / "claude.md", project / "CLAUDE.md")
    assert not policy.rules_of(str(project / "CLAUDE.md"), str(project)).rules


def test_a_file_that_is_swapped_leads_nowhere(tmp_path: Path) -> None:
    """Between the look at where a link leads and the opening it may lead elsewhere: the opening counts."""
    project = tmp_path.resolve() / "app"
    project.mkdir()
    (tmp_path / "outside.md").write_text(RULES)
    (project / "real.md").write_text("# Privacy\n- inside\n")
    os.symlink("real.md", project / "CLAUDE.md")
    true = os.path.realpath

    def swapped(path: str) -> str:
        found = true(path)
        if found == str(project / "real.md"):
            (project / "real.md").unlink()
            os.symlink(tmp_path / "outside.md", project / "real.md")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.os.path, "realpath", swapped)
        with pytest.raises(files.RefusedError):
            files.open_regular(str(project / "CLAUDE.md"), str(project))


def test_the_service_reads_on_around_it(tmp_path: Path) -> None:
    """The use cases behind a turn's end, with each thing as the project's rules, the client's memory and
    the transcript: none waits, and the report of the rules tells of it."""
    house = ServiceHouse(tmp_path)
    outside = tmp_path / "outside.md"
    outside.write_text(RULES)
    for number, (name, make) in enumerate(TROUBLES.items()):
        project = tmp_path / f"p{number}"
        (project / "memory").mkdir(parents=True)
        for place in ("CLAUDE.md", "memory/MEMORY.md", "s.jsonl"):
            (project / place).parent.mkdir(exist_ok=True)
            if (
                name not in ("a pipe behind a link", "outside, through others")
                or place == "CLAUDE.md"
            ):
                make(project / place, outside)
        with at_once(name):
            with privacy.for_folder(house.ctx, str(project)):
                privacy.word("a word")
            import_notes.index_client_memory(house.ctx, str(project / "t.jsonl"), str(project))
            lessons.learn_all(house.ctx, [(str(project / "s.jsonl"), str(project))], final=False)
            privacy_rules.report(house.ctx)
            house.remember(f"Note {number} is kept", project)
    assert SECRET not in {str(one.text) for shelf in house.ctx.all_shelves()
                          for one in shelf.journal.by_seqs(range(1, 500)).values()}  # fmt: skip
    house.close()
