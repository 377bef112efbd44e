"""Tables of words: each line of each file is read, said once, and does what its table is for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vector_memory.observe.search import pattern_terms
from vector_memory.redact import categories, reading_rules
from vector_memory.text import analysis, prompts, shell, tables, technologies
from vector_memory.text.headings import names_what_is_open

PATTERNS = (
    "key_heads", "key_shapes", "secret_places", "secret_commands", "idea_cues", "idea_cues_abroad", "command_words", "grammar",
)  # fmt: skip
"""Tables of regular expressions; tests/unit/redact/test_random_values.py and tests/unit/observe/commands/test_command_rules.py
have what each line does."""
NAMES = sorted(path.stem for path in Path(tables.FOLDER).glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_stands_once_in_small_letters(name: str) -> None:
    entries = tables.lines(name)
    assert entries
    for part in tables.sections(name).values() if entries[0].startswith("[") else [entries]:
        assert len(set(part)) == len(part)
    assert name in PATTERNS or [one for one in entries if one != one.lower().strip()] == []


PHRASES = [
    (str(path.parent), path.stem)
    for path in sorted(Path(tables.FOLDER).parent.rglob("*.txt"))
    if (entries := tables.lines(path.stem, str(path.parent))) and entries[0].startswith("[")
    and path.parent != Path(tables.FOLDER)
]  # fmt: skip
"""Tables of expressions, which lie beside the code that reads them."""


@pytest.mark.parametrize(("folder", "name"), PHRASES)
def test_every_phrase_stands_once_and_can_be_read(folder: str, name: str) -> None:
    for part in tables.sections(name, folder).values():
        assert part and len(set(part)) == len(part)
        for phrase in part:
            # What stands before a colon or behind a tab is no expression, see the head of such a table.
            assert re.compile(phrase.partition("\t")[0].removeprefix("find: "))


@pytest.mark.parametrize("name", NAMES)
def test_every_table_says_what_it_is_and_is_used(name: str) -> None:
    first = Path(tables.FOLDER, f"{name}.txt").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    package = Path(tables.FOLDER).parent
    assert any(f'("{name}")' in path.read_text(encoding="utf-8") for path in package.rglob("*.py"))


def test_every_open_heading_is_known() -> None:
    for phrase in ", ".join(tables.lines("open_headings")).split(", "):
        assert names_what_is_open(f"2. {phrase.capitalize()} (3):")


def test_every_wrapper_is_looked_through() -> None:
    for name, runner in shell.RUNNERS.items():
        if runner.where != "framed":
            continue
        options = " ".join(f"{option} 1" for option in runner.takes.removesuffix("-").split())
        *_, last = shell.parse(f"{name} {options} {'1 ' * runner.between}ls x")
        assert (last.name, last.via) == ("ls", (name,)), name


def test_every_category_is_understood_by_its_name() -> None:
    for name, category in categories.CATEGORIES.items():
        understood = reading_rules.parse(f"# Privacy\n- {name}", "CLAUDE.md")
        assert {rule.name for rule in understood.rules} == {name}
        assert understood.personal == category.kinds and not understood.problems
        assert category.patterns or category.kinds


def test_a_stop_word_abroad_is_none_in_english() -> None:
    assert analysis.stop_words_abroad().isdisjoint(analysis.STOP_WORDS)
    for word in analysis.stop_words_abroad():
        assert analysis.query_terms(f"ganzzahl {word} für und") == analysis.query_terms(
            "ganzzahl für und"
        )


def test_a_stop_word_is_no_term() -> None:
    kept = {word for word in tables.words("stop_words") if analysis.analyse(word)}
    assert kept == set()


def test_an_acknowledgement_needs_no_memory() -> None:
    abroad = tables.sections("acknowledgements_abroad").values()
    entries = {*tables.words("acknowledgements"), *", ".join(sum(abroad, [])).split(", ")}
    assert {entry for entry in entries if not prompts.Prompt(entry).needs_nothing} == set()


def test_every_name_of_a_technology_leads_to_it() -> None:
    for line in tables.lines("technologies"):
        name, _, aliases = line.partition(":")
        for alias in (name, *filter(None, map(str.strip, aliases.split(",")))):
            assert technologies.technologies(f"we run `{alias}` here") == (name,), alias


def test_what_is_plain_english_is_a_technology_only_as_a_name() -> None:
    for word in tables.lines("technologies_ordinary"):
        assert technologies.technologies(f"we {word} it") == (), word
        assert len(technologies.technologies(f"we use `{word}`")) == 1, word


def test_common_words_and_names_are_not_what_a_search_is_after() -> None:
    for word in tables.words("common_words"):
        assert not pattern_terms._is_telling(word), word
    for name in tables.words("common_names"):
        assert not pattern_terms._is_name(name), name
