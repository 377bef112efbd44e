"""The table of verbs, and that the documentation knows each of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vector_memory.cli.main import VERBS, command, main
from vector_memory.cli.output import COMPLETE

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import make_cli_docs  # noqa: E402

LEAVES = [
    (path, one)
    for path, one in make_cli_docs.commands(command(), "vector-memory")
    if not hasattr(one, "list_commands")
]


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_loads_and_explains_itself(name: str) -> None:
    """Every entry of the table leads to a command of that name with a help text."""
    one = command().get_command(None, name)
    assert one.name == name
    assert one.help


@pytest.mark.parametrize(("path", "one"), LEAVES, ids=[path for path, _ in LEAVES])
def test_each_command_has_json(path: str, one: Any) -> None:
    """--json is everywhere, and every option says what it is for."""
    options = {option: param for param in one.params for option in param.opts}
    assert "--json" in options
    silent = [name for name, param in options.items() if not getattr(param, "help", "")]
    assert silent in ([], ["--priority"])


def test_the_documentation_is_the_help() -> None:
    """docs/cli.md is what the generator makes, so that no command lacks documentation."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    script = ROOT / "scripts" / "make_cli_docs.py"
    made = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    undocumented = [path for path, _ in LEAVES if f"\n## {path}\n" not in page]
    assert undocumented == []


def test_a_mistyped_verb_brings_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage is 2, with the verb that was probably meant."""
    assert main(["remembr", "x"]) == 2
    assert "remember" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["nothing-like-it"],
        ["recall"],
        ["recall", "q", "--batch", "-"],
        ["recall", "q", "--since", "someday"],
        ["recall", "q", "-k", "0"],
        ["recall", "q", "--project", "a", "--all-projects"],
        ["remember"],
        ["remember", "  "],
        ["remember", "x", "--priority", "LOUD"],
        ["remember", "x", "--project", "a", "--global"],
        ["forget"],
        ["forget", "id", "--tag", "t"],
        ["forget", "--query", "q", "--since", "3d"],
        ["backfill", "a", "--all"],
        ["backfill", "--session", "../x"],
        ["list", "--nonsense"],
        ["list", "--session", ""],
        ["remember", "x", "--kind", " "],
        ["forget", "--tag", "", "--yes"],
        ["recall", "q", "--project", ""],
    ],
)
def test_wrong_usage_is_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody is asked anything, and stdout stays empty."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err


def test_a_value_may_begin_with_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of several words and a number are no options, wherever they stand; options keep their values."""
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(tmp_path / "data"))
    one = command().get_command(None, "remember")
    given = one.make_context("remember", ["-v means verbose", "--tag", "-x y", "--json"]).params
    assert (given["text"], given["tags"], given["as_json"]) == ("-v means verbose", ["-x y"], True)
    assert main(["config", "set", "threshold", "-1"]) == 1
    assert main(["config", "set", "embedding_model", "-y"]) == 0
    assert main(["config", "get", "embedding_model", "--nonsense"]) == 2


def test_an_unknown_option_names_the_way_to_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    """One word that begins with a dash may be a mistyped option: it is told how to be a value."""
    assert main(["show", "-v"]) == 2
    assert "`vector-memory show -- -v`" in capsys.readouterr().err
    assert main(["recall", "--why"]) == 2
    assert "`recall -- --why`" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-h"], ["recall", "-h"], ["config", "set", "-h"]])
def test_h_is_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Everywhere."""
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Usage: vector-memory")


def test_another_name_leads_to_the_same_verb() -> None:
    """`debug` is `doctor`; the help names the verb alone."""
    assert command().get_command(None, "debug").name == "doctor"
    assert "debug" not in command().list_commands(None)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each script asks this program."""
    assert main(["completion", shell]) == 0
    assert COMPLETE in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("rec", "recall"),
        ("config set thr", "threshold"),
        ("config set facade b", "beside"),
        ("config set capture f", "false"),
        ("config add capture_", "capture_without"),
        ("config add fac", ""),
        ("config add capture_without sol", "solution"),
        ("config remove capture_without t", "todo"),
        ("list --kind dec", "decision"),
        ("tool world_m", "world_model"),
    ],
)
def test_a_shell_completes_verbs_settings_and_values(
    typed: str,
    offered: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By what was typed so far: of a list what it may hold, or what is to go."""
    (tmp_path / "config.json").write_text('{"capture_without": ["todo"]}')
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(tmp_path))
    monkeypatch.setenv(COMPLETE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"vector-memory {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == offered.split()


def test_help_and_version_are_exit_0(capsys: pytest.CaptureFixture[str]) -> None:
    """They print on stdout."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("vector-memory ")
    assert main(["recall", "--help"]) == 0
    assert "--batch" in capsys.readouterr().out


def test_a_verb_imports_only_what_it_needs() -> None:
    """Neither rich nor anything of the daemon's is imported before it is used."""
    code = """
import sys
from vector_memory.cli.main import main
main(["recall", "--help"])
heavy = {"rich", "lancedb", "pyarrow", "numpy", "onnxruntime", "sqlite3", "asyncio"}
sys.exit(", ".join(sorted(heavy & set(sys.modules))) or 0)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "lib")},
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "redact_personal", "bogus"], "config set redact_personal VALUE"),
        (["add", "capture_without", "bogus"], "config set capture_without VALUE"),
        (["set", "ollama_host", "notaurl"], "is no address"),
        (["set", "ollama_host", "http://box:1"], ""),
        (["set", "ollama_host", "box:11434"], ""),
        (["set", "ollama_host", ""], ""),
    ],
)
def test_what_a_setting_may_not_be(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The setting is named as it can be typed."""
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(tmp_path))
    assert main(["config", *words]) == bool(said)
    assert said in capsys.readouterr().err
