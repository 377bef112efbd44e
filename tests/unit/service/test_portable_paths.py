"""What is shared calls paths as they are called in the project, or from the home folder."""

from __future__ import annotations

import pytest

from vector_memory.projects import Place
from vector_memory.service.sharing.contents import portable

LEDGER = Place("ledger-1", "ledger", "/home/ann/ledger", "")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("cd /home/ann/ledger/ && rm -rf build", "cd ./ && rm -rf build"),
        ("rm -rf /home/ann/ledger/* /home/ann/ledger/$X/y", "rm -rf ./* ./$X/y"),
        ("git add /home/ann/ledger/-x", "git add ./-x"),
        ("open '/home/ann/ledger/'", "open './'"),
        ("See /home/ann/ledger.", "See ledger."),
        ("/home/ann/ledger/src/x.py /home/ann/ledger/.git/HEAD", "src/x.py .git/HEAD"),
    ],
)
def test_a_command_in_the_project_means_the_same_folder(words: str, told: str) -> None:
    assert portable(words, LEDGER) == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("gcc -I/home/ann/include -I/home/ann/ledger/include", "gcc -I~/include -I./include"),
        ("docker run -v/home/ann/data:/data -v /srv:/home/ann/srv", "docker run -v~/data:/data -v /srv:~/srv"),
        ("vscode://file/home/ann/ledger/a.py:3 file:///home/ann/x", "vscode://file./a.py:3 file://~/x"),
        ("~/.claude/projects/-home-ann-ledger/x.jsonl", "~/.claude/projects/ledger/x.jsonl"),
        ("/home/ann/.claude/projects/-home-ann-tax--notes", "~/.claude/projects/~-tax--notes"),
        ('{"log": "at\\n/home/ann/x"}', '{"log": "at\\n~/x"}'),
        ("src/a.py→/home/ann/x", "src/a.py→~/x"),
        ("参照：src/a.py、/home/ann/ledger/b.py", "参照：src/a.py、b.py"),
        ("s#a/b#/home/ann/x#", "s#a/b#~/x#"),
        ("src/a.py\u00a0/home/ann/x", "src/a.py\u00a0~/x"),
    ],
)  # fmt: skip
def test_what_stands_before_a_path_does_not_hide_it(words: str, told: str) -> None:
    assert portable(words, LEDGER) == told


@pytest.mark.parametrize(
    "words",
    [
        "/home/ann.bak/x, /home/anna, /home/ann_x and /home/ann-old",
        "/mnt/home/ann/x, /mnt/home/ann/ledger/, ./home/ann, ../home/ann and srv/copies/home/ann/ledger",
        "a stay-at-home-ann, and -home-anna",
        "/etc/hosts, /home and /home/ben/ledger/",
    ],
)
def test_what_only_looks_alike_is_another_path(words: str) -> None:
    assert portable(words, LEDGER) == words


def test_a_folder_right_below_the_top_may_be_a_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    shop = Place("shop-1", "shop", "/app", "")
    words = "GET /root answers 404, /app/login 200; run it in /app/, the notes lie in /root/notes"
    assert portable(words, shop) == words
