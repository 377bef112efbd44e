"""PowerShell's words, in the terms of other shells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text import powershell

PIECES = ["'", '"', "`", "@'\n", "\n'@", "(", ")", "{", "}", "$x", "=", "|", ";", ",", "#", "<#", "rm", "-r", "$(", "/s", "rd", ":", ">", "\\", "in", "\n", " "]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("Remove-Item -Recurse bin, obj", ["rm -r bin obj"]),
        ("rd -rec -Path:.\\a\\b", ["rm -r ./a/b"]),
        ("Copy-Item a.txt -Destination b\\c", ["cp a.txt b/c"]),
        ("Move-Item -Destination C:\\x a", ["mv a /C:/x"]),
        ("Get-ChildItem src -Filter *.cs", ["find src -name *.cs -maxdepth 1"]),
        ("git add src\\a.py; git commit -m 'it''s'", ["git add src/a.py", "git commit -m it's"]),
        ('git commit -m "a `"b`" c\\d"', ['git commit -m a "b" c\\d']),
        ("git drop stash@{0}", ["git drop stash@{0}"]),
        ("npm test && npm run build", ["npm test", "npm run build"]),
        ("$x = Get-Date; $x.Year; 'a' -eq 'b'", ["Get-Date"]),
        ("Set-Content a.txt @'\nRemove-Item b; c\n'@", ["echo Remove-Item b; c"]),
        ("Remove-Item a -WhatIf", []),
        ("cmd --% /c dir", ["cmd --% /c dir"]),
        ("rd /s /q bin; del /F a.txt", ["rm -r bin", "rm a.txt"]),
        (
            "rm -rf /*; Remove-Item -Recurse -Force \\*; rm -rf /p; rd -r \\p",
            ["rm -rf /*", "rm -r /*", "rm -rf /p", "rm -r /p"],
        ),
        (
            'Write-Output "$(git push --force)" b',
            ["git push --force", "Write-Output $(git push --force) b"],
        ),
        ('$out = "a $(rm b) c $(rm -r src 2>&1)d"; rm e', ["rm b", "rm -r src", "rm e"]),
        (
            '"$(git commit -m "a b"; rm "$(rm c)") d"; rm e',
            ["git commit -m a b", "rm c", "rm $(rm c)", "rm e"],
        ),
        ('\'$(rm a)\'; "`$(rm a)"; "it\'s $(rm b)"', ["rm b"]),
        ("$x=git push --force; $y= rm a; $env:Z='b'; a=b c", ["git push --force", "rm a", "a=b c"]),
    ],
)
def test_what_a_line_runs(line: str, commands: list[str]) -> None:
    """Aliases, shortened parameters and their values, quotes, continued lines."""
    found = powershell.parse(line).commands
    assert [" ".join(word.text for word in one.words) for one in found] == commands


def test_files_and_folders() -> None:
    """Where output goes, where a command runs, and what comes through a pipe."""
    script = powershell.parse(
        "cd web; 'x' | Out-File a\\b.txt -Append; gci | ri; npm test > out.log"
    )
    write, _, remove, test = script.commands[1:]
    assert [(to.sign, to.target.text) for to in write.redirects] == [(">>", "a/b.txt")]
    assert remove.via == ("xargs",)
    assert (test.folder, test.redirects[0].target.text) == ("web", "out.log")


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_it_never_fails(pieces: list[str]) -> None:
    """Whatever stands there."""
    for one in powershell.parse("".join(pieces)).commands:
        assert one.words
