"""Settings: defaults, file, environment, and what happens to bad ones."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from vector_memory import config
from vector_memory.errors import BadInputError
from vector_memory.system import protecting


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    """No file and no variable: the defaults."""
    assert config.load(str(tmp_path / "config.json"), {}) == config.Settings()


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    """Defaults < file < environment, each converted to the setting's type."""
    path = tmp_path / "config.json"
    config.save(str(path), {"prompt_tokens": 300, "threshold": 0.5})
    found = config.load(
        str(path), {"VECTOR_MEMORY_PROMPT_TOKENS": "200", "VECTOR_MEMORY_HOME": "/x"}
    )
    assert (found.prompt_tokens, found.threshold) == (200, 0.5)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    """Whatever is set in the file, it wins: only whoever changes it mends it."""
    with pytest.raises(BadInputError) as caught:
        config.load(str(tmp_path / "config.json"), {"VECTOR_MEMORY_OBSERVER": "loud"})
    assert "VECTOR_MEMORY_OBSERVER" in caught.value.hint


def test_folders_are_listed_with_the_path_separator() -> None:
    """A list in the environment is split as PATH is."""
    found = config.load("/nowhere", {"VECTOR_MEMORY_EXCLUDED_PROJECTS": "/a:/b"})
    assert found.excluded_projects == ("/a", "/b")
    found = config.load("/nowhere", {"VECTOR_MEMORY_EXCLUDED_PROJECTS": ":/a:"})
    assert found.excluded_projects == ("/a",)


@pytest.mark.parametrize("value", ["", ":"])
def test_a_variable_that_is_left_empty_loosens_nothing(
    tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file says holds, but for a text, which may be none."""
    path = tmp_path / "config.json"
    stored = {"excluded_projects": ["/x"], "redact_personal": ["email"], "capture": False}
    config.save(str(path), {**stored, "vault": "/v"})
    for name in ("EXCLUDED_PROJECTS", "REDACT_PERSONAL", "VAULT"):
        monkeypatch.setenv(f"VECTOR_MEMORY_{name}", value)
    monkeypatch.setenv("VECTOR_MEMORY_CAPTURE", "")
    found = config.load(str(path))
    assert (found.excluded_projects, found.redact_personal) == (("/x",), ("email",))
    assert (found.capture, found.vault) == (False, value)
    assert vars(config.salvaged(str(path))) == vars(found)
    assert config.variables() == ["VECTOR_MEMORY_VAULT"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [({"prompt_tokens": 3}, "prompt_tokens"), ({"nonsense": 1}, "nonsense"),
     ({"log_level": "loud"}, "log_level"), ({"capture": "perhaps"}, "capture")],
)  # fmt: skip
def test_bad_settings_say_which_and_write_nothing(
    tmp_path: Path, raw: dict[str, object], says: str
) -> None:
    """An unknown name or a value out of range is named, and no file is written."""
    with pytest.raises(BadInputError, match=says):
        config.save(str(tmp_path / "config.json"), raw)
    assert list(tmp_path.glob("config.json")) == []


@pytest.mark.parametrize("content", ["{", "[]", "\x00", '"x"'])
def test_a_broken_file_is_an_error_that_says_so(tmp_path: Path, content: str) -> None:
    """A file that is no JSON object is named."""
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=r"config\.json"):
        config.load(str(path), {})


def test_a_mode_that_is_gone_names_the_one_to_take(tmp_path: Path) -> None:
    """The daemon goes on with the default."""
    with pytest.raises(BadInputError, match="any more") as raised:
        config.save(str(tmp_path / "config.json"), {"facade": "merge"})
    assert "config set facade beside" in raised.value.hint
    (tmp_path / "config.json").write_text('{"facade": "merge", "facade_tokens": 300}')
    found = config.salvaged(str(tmp_path / "config.json"))
    assert (found.facade, found.facade_tokens) == ("beside", 300)


def test_only_embedding_settings_need_a_new_daemon() -> None:
    """The model is loaded once; all else takes effect at once."""
    old = config.Settings()
    assert config.needs_restart(old, config.validate({"embedding_backend": "ollama"}))
    assert not config.needs_restart(old, config.validate({"prompt_tokens": 100}))
    assert json.dumps(config.names())


AGENTS = {
    "adapt_threshold", "scoring", "query_tokens", "embedding_threads", "idle_exit_minutes", "log_level",
}  # fmt: skip
"""Settings that agents may change: each tunes how memories are found, or how the daemon runs."""


def test_each_setting_says_who_changes_it() -> None:
    """A new one has to decide; without, it is the user's. What agents may change is told where people look for it."""
    undecided = [one.name for one in fields(config.Settings) if config.IS_USERS not in one.metadata]
    assert undecided == []
    assert {name for name in config.names() if not config.is_users(name)} == AGENTS
    page = (Path(__file__).resolve().parents[2] / "docs" / "foreign.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith("| `config set"))
    assert set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", line)) == AGENTS


def test_what_sends_writes_elsewhere_or_protects_is_the_users() -> None:
    """By its name or kind, whatever its declaration says."""
    told = config.FOLDERS | protecting.SETTINGS | set(config.NOTE_NAMES)
    told |= {name for name in config.names() if re.search("host|backend|model$", name)}
    assert [name for name in sorted(told) if not config.is_users(name)] == []


def test_of_the_settings_only_those_that_protect_speak_of_it() -> None:
    """A wrong value of another one closes nothing, and without a daemon its name holds nothing back."""
    assert set(filter(protecting.speaks_of_it, config.names())) == protecting.SETTINGS


@pytest.mark.parametrize("path", ["relproj", "./x", "", "a/b", "../y", " /x"])
def test_a_folder_that_protects_nothing_is_refused(path: str) -> None:
    """Where a daemon runs is no place that anybody means."""
    with pytest.raises(BadInputError, match="whole path"):
        config.validate({"excluded_projects": [path]})


@pytest.mark.parametrize(
    ("content", "capture"),
    [
        ('{"prompt_tokens": 3, "excluded_projects": ["/x"]}', True),
        ('{"nonsense": 1, "excluded_projects": ["/x"]}', True),
        ('{"excluded_projects": ["relproj", "/x"]}', False),
        ('{"excluded_projects": 5}', False),
        ('{"redact_personal": ["shoe"], "excluded_projects": ["/x"]}', False),
        ('{"capture": "perhaps"}', False),
        ('{"excluded_project": ["/x"]}', False),
        ('{"Capture": false}', False),
        ('{"capture_witout": ["exchange"]}', False),
        ('{"redact-personal": ["email"], "excluded_projects": ["/x"]}', False),
        ('{"exclude": ["/x"]}', False),
        ('{"redaction": ["email"]}', False),
        ('{"projects_excluded": ["/x"]}', False),
        ('{"private_folders": ["/x"]}', False),
        ('{"Ignore": ["/x"]}', False),
        ('{"pii": ["email"]}', False),
        ('{"promt_tokens": 300, "recal_on_start": false, "excluded_projects": ["/x"]}', True),
        ('{"idle_exit": 3, "vaults": "/v", "archiv": true, "excluded_projects": ["/x"]}', True),
        ('{"capture": true, "excluded_projects": ["y"]}', False),
        ("{", False),
        ("[]", False),
    ],
)
def test_settings_that_are_not_in_order_loosen_nothing(
    tmp_path: Path, content: str, capture: bool
) -> None:
    """What is in order counts; where it is open what must not be stored, nothing is."""
    path = tmp_path / "config.json"
    path.write_text(content)
    found = config.salvaged(str(path))
    assert found.capture is capture
    assert set(found.redact_personal) >= {"card", "ssn", "iban"}
    if capture:
        assert found.excluded_projects == ("/x",)
    else:
        assert "email" in found.redact_personal


@pytest.mark.parametrize("content", ["{", "[]", '{"capture_without": "fix"}', "{}"])
def test_capture_that_the_environment_turns_off_is_off_whatever_the_file(
    tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the user's word: what is said under it is not kept for later, as what a mistake alone keeps out."""
    path = tmp_path / "config.json"
    path.write_text(content)
    monkeypatch.setenv("VECTOR_MEMORY_EXCLUDED_PROJECTS", "/x")
    mistaken = config.salvaged(str(path))
    assert isinstance(mistaken, config.SalvagedSettings)
    assert (mistaken.capture, mistaken.excluded_projects) == (content == "{}", ("/x",))
    monkeypatch.setenv("VECTOR_MEMORY_CAPTURE", "false")
    found = config.salvaged(str(path))
    assert not (found.capture or isinstance(found, config.SalvagedSettings))


def test_a_mistake_in_the_environment_takes_back_no_off_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the user's word, and nothing of what is said meanwhile waits."""
    (tmp_path / "config.json").write_text('{"capture": false}', "utf-8")
    monkeypatch.setenv("VECTOR_MEMORY_CAPTURE", "nope")
    settings = config.salvaged(str(tmp_path / "config.json"))
    assert not settings.capture and not isinstance(settings, config.SalvagedSettings)
