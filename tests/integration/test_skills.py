"""The skills' texts: what users type reaches no shell but as quoted text."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from vector_memory.cli.main import VERBS

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*ROOT.glob("skills/*/SKILL.md"), *ROOT.glob("commands/*.md")])
EXECUTED = re.compile(r"!`([^`]+)`")
HEREDOC = re.compile(r"^( *)(vector-memory [^\n]*) <<'(\w+)'\n(?:\1([^\n]*)\n)\1\3$", re.MULTILINE)
HOSTILE = [
    'it\'s "quoted" \\ and $(touch EVIL) `touch EVIL` ${HOME} !`touch EVIL`',
    "first line\n$(touch EVIL)\n; touch EVIL\n&& touch EVIL",
    "EOF\ntouch EVIL",
    "<<'X'\ntouch EVIL\nX",
    "\\\n'\n\"\n* ~ #\ttab é 漢 😀",
]


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_no_argument_reaches_a_command_that_runs_by_itself(path: Path) -> None:
    """The client puts arguments into `!` commands unquoted, so no text names a placeholder, and
    the commands that run by themselves are fixed and change no memory."""
    text = path.read_text(encoding="utf-8")
    assert "$ARGUMENTS" not in text
    assert not re.search(r"\$\d|\$\{", text)
    assert "```!" not in text
    for command in EXECUTED.findall(text):
        assert re.fullmatch(
            r"vector-memory (stats|daemon status|topics|resume|wrapup|doctor|review -k \d+|dashboard --detach)[ \w.-]* 2>&1 \|\| true",
            command,
        )


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_a_skill_is_named_short_and_asks_for_little(path: Path) -> None:
    """Its name makes `/name` work without the plugin's prefix; the description, which every session
    pays for, is one short line; the tools are this program's verbs and nothing else."""
    head = path.read_text(encoding="utf-8").split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == (path.parent.name if path.name == "SKILL.md" else path.stem)
    assert len(fields["description"]) <= 110
    tools = re.findall(r"Bash\(([^)]*)\)", fields["allowed-tools"])
    assert " ".join(f"Bash({tool})" for tool in tools) == fields["allowed-tools"]
    for tool in tools:
        words = tool.split()
        assert tool == "true" or (words[0] == "vector-memory" and words[1] in VERBS)


def test_names_are_not_taken_twice() -> None:
    """Of a skill and a command of one name the client runs only the skill."""
    names = [path.parent.name if path.name == "SKILL.md" else path.stem for path in FILES]
    assert len(names) == len(set(names))


def test_forgetting_is_never_allowed_beforehand() -> None:
    """The skill may look, but the client asks the user before anything is forgotten."""
    text = (ROOT / "skills" / "forget" / "SKILL.md").read_text(encoding="utf-8")
    tools = re.findall(r"Bash\((vector-memory forget[^)]*)\)", text)
    assert tools
    assert all("--dry-run" in tool for tool in tools)
    assert "disable-model-invocation: true" in text


@pytest.mark.parametrize("name", ["remember", "memory-save", "memory-search", "forget"])
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_text_in_the_way_shown_is_only_text(
    name: str, hostile: str, shell: str, tmp_path: Path
) -> None:
    """The command as the skill shows it, with hostile text in its place, gives the program exactly
    that text on stdin, and the shell runs nothing of it."""
    text = (ROOT / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
    found = HEREDOC.search(text)
    assert found is not None
    _, command, marker, _ = found.groups()
    program = tmp_path / "bin" / "vector-memory"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > arguments\ncat > stdin\n')
    program.chmod(0o700)
    script = f"{command} <<'{marker}'\n{hostile}\n{marker}\n"
    done = subprocess.run(
        [shell, "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "stdin").read_text(encoding="utf-8") == hostile + "\n"
    assert (tmp_path / "arguments").read_text().split("\n")[:-1] == command.split()[1:]
    assert not (tmp_path / "EVIL").exists()
