"""What patterns look for: names that are exact, words that say something, and silence for the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.observe.search.names_match import fitted, names_all, naming
from vector_memory.observe.search.pattern_terms import (
    Alternative,
    SearchTerms,
    alternatives,
    sought,
)
from vector_memory.observe.search.searches import Search, searches


def of(pattern: str, fixed: bool = False) -> list[tuple[tuple[str, ...], ...]]:
    found = sought([Search("grep", (pattern,), fixed=fixed)]).alternatives
    return [(one.names, one.words) for one in found]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("parse_line", ["parse_line"]),
        ("def parse_line", ["parse_line"]),
        (r"def\s+parse_line\(", ["parse_line"]),
        (r"^\s*class CacheManager\b", ["cachemanager"]),
        (r"\bgetUserById\b", ["getuserbyid"]),
        ("IClockSource", ["iclocksource"]),
        (r"load_ledger\|save_ledger", ["load_ledger", "save_ledger"]),
        ("load_ledger|save_ledger", ["load_ledger", "save_ledger"]),
        ("(open|close)_store", ["open_store", "close_store"]),
        ("(?:open|close)_store", ["open_store", "close_store"]),
        ("colou?r_scheme", ["color_scheme", "colour_scheme"]),
        ("[Ss]ettings_cache", ["settings_cache"]),
        (r"app\.config\.load", ["app.config.load"]),
        ("app.config.load", ["app.config.load"]),
        ("self.connection_pool = ", ["connection_pool"]),
        ("self:connection_pool(", ["connection_pool"]),
        ("cls::connection_pool", ["connection_pool"]),
        ("a self-hosted runner", ["self-hosted"]),
        ("redact(", ["redact"]),
        ("errors.py:12", ["errors.py:12"]),
        ("sqlite3.connect", ["sqlite3.connect"]),
        ("(?i)max_tokens", ["max_tokens"]),
        ("load_state(?!_test)", ["load_state"]),
        ("generate_.*_html", []),
    ],
)
def test_names_are_kept_whole(pattern: str, names: list[str]) -> None:
    """Out of alternatives, groups, anchors, escapes and calls."""
    assert [name for found, _ in of(pattern) for name in found] == names


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("retry.*backoff", [("retri", "backoff")]),
        ("retrying backoff", [("retri", "backoff")]),
        ("quota exceeded|throttled", [("quota", "exceed"), ("throttl",)]),
    ],
)
def test_plain_words_are_stems(pattern: str, words: list[tuple[str, ...]]) -> None:
    """Those of one alternative belong together."""
    assert [found for _, found in of(pattern)] == words


@pytest.mark.parametrize(
    "pattern",
    ["TODO", "TODO\\|FIXME", "import", "import os", "def ", "class ", "error", ".*", "^$", "[a-z]+", "x", "a.b",
     r"\d+\.\d+", "console.log", "ValueError", "return None", "function", "if err != nil", "__init__", "(", ")|(", "\\"],
)  # fmt: skip
def test_what_stands_everywhere_says_nothing(pattern: str) -> None:
    """Nobody is helped by a memory of `TODO`."""
    assert not sought([Search("grep", (pattern,))])


def test_a_fixed_pattern_is_taken_as_it_is() -> None:
    """Signs that would mean something else are none."""
    assert of("ledger_a|ledger_b", fixed=True) == [(("ledger_a", "ledger_b"), ())]


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("**/searches.py", [("searches.py",)]),
        ("src/**/*facade*.py", [("facade",)]),
        ("*auth*", [("auth",)]),
        ("lib/{recall,redact}.py", [("recall.py",), ("redact.py",)]),
        ("test_facade*.py", [("test_facade",)]),
        ("**/*.py", []),
        ("*.{ts,tsx}", []),
        ("src/*", []),
        ("**/*", []),
        ("test_*.py", []),
        ("package.json", []),
        ("README*", []),
    ],
)
def test_the_telling_part_of_a_files_name(pattern: str, files: list[tuple[str, ...]]) -> None:
    """An ending, and what every project has, say nothing."""
    assert [one.files for one in sought([Search("find", names=(pattern,))]).alternatives] == files


def test_of_a_short_name_an_index_is_not_asked_for_common_parts() -> None:
    """Whatever memory holds one of them would be read, and none of those names it."""
    (short,) = sought([Search("grep", ("icon_32",))]).alternatives
    assert (short.word, short.terms) == ("icon_32", ("icon_32", "icon32"))


def test_places_are_hints() -> None:
    """Relative to where the line went; the whole folder is no place."""
    looked = searches("Bash", {"command": "cd lib && grep -rn a_name core . && rg b_name"})
    assert looked is not None
    assert sought(looked.searches).places == ("lib/core", "lib/.", "lib/")


def test_alternatives_stay_few() -> None:
    """However many a pattern has; what is too deep is left out rather than followed."""
    assert len(alternatives("(a|b|c|d)(e|f|g|h)(i|j|k|l)_name")) <= 16
    assert alternatives("(" * 5_000 + "x_name") is not None
    assert alternatives("[" + r"\a" * 200) is not None


@given(st.text(alphabet="ab_|()[]{}\\.*+?^$-,0 \n", max_size=60))
def test_no_pattern_breaks_it(pattern: str) -> None:
    """Whatever it is, there is an answer."""
    for fixed in (False, True):
        assert isinstance(sought([Search("grep", (pattern,), fixed=fixed)]), SearchTerms)
    assert isinstance(sought([Search("find", names=(pattern,))]), SearchTerms)
    assert searches("Bash", {"command": f"grep -r '{pattern}' . | rg {pattern}"}) is not Ellipsis


HELD = naming(
    "Where lines are parsed", "We decided that parse_line in src/errors.py strips a BOM, with CacheManager and app.load.",
    ["src/lines.py"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (Alternative(names=("parse_line",)), True),
        (Alternative(names=("parseline",)), False),
        (Alternative(names=("cache_manager",)), False),
        (Alternative(names=("cachemanager",)), True),
        (Alternative(names=("app.load",)), True),
        (Alternative(names=("parse_line", "other_name")), False),
        (Alternative(files=("lines",)), True),
        (Alternative(files=("errors.py",)), True),
        (Alternative(files=("rror.py",)), False),
        (Alternative(words=("strip", "bom")), True),
        (Alternative(words=("strip", "newlin")), False),
        (Alternative(words=("decid", "strip", "bom", "newlin")), True),
        (Alternative(words=("strip",)), False),
        (Alternative(), False),
    ],
)
def test_what_a_memory_must_name(wanted: Alternative, fits: bool) -> None:
    """The name itself, in its own style; of words nearly all; one word alone is too little."""
    assert bool(fitted(SearchTerms((wanted,)), HELD)) is fits


def test_one_word_and_the_file_that_is_searched() -> None:
    """Together they are enough; a folder is no file."""
    one = (Alternative(words=("strip",)),)
    assert fitted(SearchTerms(one, ("lib/src/errors.py",)), HELD)
    assert not fitted(SearchTerms(one, ("src",)), HELD)
    assert not fitted(SearchTerms(one, ("src/other.py",)), HELD)


def test_all_that_is_looked_for() -> None:
    """By name, each of the alternatives: words are no names."""
    named, words = Alternative(names=("parse_line",)), Alternative(words=("strip", "bom"))
    assert names_all(SearchTerms((named,)), HELD)
    assert not names_all(SearchTerms((named, words)), HELD)
    assert not names_all(SearchTerms((named, Alternative(names=("other_name",)))), HELD)
