"""The CLI's verbs against a daemon on a real socket: what they ask, print and return."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import FakeDaemon, fake_daemon

from vector_memory import wire
from vector_memory.cli.main import main
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system.paths import Home
from vector_memory.trust import attestation
from vector_memory.trust.keys import Keyring

NASTY = "quote ' \" `id` $(id) \\ !x é漢\nsecond line"


def memory(name: str, **more: Any) -> dict[str, Any]:
    """Return a memory as the daemon tells it."""
    return {
        "id": name * 8,
        "text": f"text of {name}",
        "title": "",
        "kind": "note",
        "created_at": "2026-11-20T10:00:00+00:00",
        "project": "/home/dev/ledger",
        "source": {"session": "s1", "path": "/t.jsonl", "line_start": 3, "line_end": 5},
        "tags": [],
        **more,
    }


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with fake_daemon(Home(str(tmp_path / "data"))) as running:
        yield running


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the one JSON document on stdout; stderr must be empty."""
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    document: dict[str, Any] = json.loads(out)
    return document


def test_remember_sends_all_it_was_told(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text arrives as it was typed; --json prints the daemon's answer."""
    daemon.handlers["remember"] = lambda payload: {"id": "m1", "action": "stored"}
    words = ["--kind", "decision", "--tag", "a", "--tag", "b", "--priority", "high"]
    words += ["--at", "2026-11-20T10:00Z", "--global", "--json"]
    assert main(["remember", NASTY, *words]) == 0
    assert answer(capsys) == {"id": "m1", "action": "stored"}
    (asked,) = daemon.payloads("remember")
    # By it a daemon that follows a killed one knows that this was stored already.
    assert len(asked.pop("id")) == 32
    assert asked == {
        "cwd": os.getcwd(),
        "configuration": os.environ["CLAUDE_CONFIG_DIR"],
        "project": None,
        "global": True,
        "all_projects": False,
        "text": NASTY,
        "kind": "decision",
        "tags": ["a", "b"],
        "priority": "HIGH",
        "at": "2026-11-20T10:00:00+00:00",
    }


def test_remember_reads_stdin_and_tells_people(
    daemon: FakeDaemon, stdin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is stdin, whose bytes need not be UTF-8; redactions are mentioned."""
    daemon.handlers["remember"] = lambda payload: {
        "id": "m1",
        "action": "merged",
        "redactions": 2,
    }
    stdin(b"caf\xe9 $(id)\n")
    assert main(["remember", "-"]) == 0
    out, err = capsys.readouterr()
    assert out == "Already known, merged with m1\n"
    assert err == "2 secrets left out.\n"
    assert daemon.payloads("remember")[0]["text"] == "caf\ufffd $(id)"


def test_remember_says_what_speaks_against_it_and_how_to_settle_it(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it contradicts, the commands for both cases, and a priority that it suggests."""
    tie = {"id": "m0", "relation": "contradicts", "reason": "1 and 2", "text": "one\x1b[2J"}
    daemon.handlers["remember"] = lambda payload: {
        "id": "m1", "action": "linked", "of": "m0", "links": [tie], "suggested_priority": "HIGH",
        "suggestion": {"if_replaced": "vector-memory link m1 m0 --relation supersedes",
                       "if_both_hold": "vector-memory link m1 m0 --remove"},
        "near": [{"id": "m2", "text": "a second"}],
    }  # fmt: skip
    assert main(["remember", "two"]) == 0
    _, err = capsys.readouterr()
    assert "contradicts m0 (1 and 2): one\n" in err
    assert "vector-memory link m1 m0 --relation supersedes" in err
    assert "m2: a second\n" in err
    assert "vector-memory link m1 m2 --relation supersedes" in err
    assert "vector-memory edit m1 --priority HIGH" in err
    assert "priority" not in daemon.payloads("remember")[0]


def test_links_are_asked_for_and_shown(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """`link` sends both ends and what is meant; `links` shows each with its direction."""
    daemon.handlers["link"] = lambda payload: {
        "from": payload["from"], "to": payload["to"], "relation": "answers", "removed": 2,
    }  # fmt: skip
    assert main(["link", "a1", "b2", "--relation", "ANSWERS"]) == 0
    assert capsys.readouterr().out == "a1 answers b2\n"
    assert main(["link", "a1", "b2", "--remove"]) == 0
    assert capsys.readouterr().out == "Removed 2.\n"
    made, removed = daemon.payloads("link")
    assert (made["from"], made["to"], made["relation"]) == ("a1", "b2", "answers")
    assert (removed.get("relation"), removed["remove"]) == (None, True)
    other = {**memory("b"), "status": "active"}
    told = {"links": [{"relation": "answers", "direction": "in", "other": other}]}
    daemon.handlers["links"] = lambda payload: told
    assert main(["links", "a1"]) == 0
    out = capsys.readouterr().out
    assert "← answers" in out
    assert "text of b" in out


def test_an_unknown_relation_is_wrong_usage(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said before the daemon is asked."""
    assert main(["link", "a1", "b2", "--relation", "likes"]) == 2
    assert "relates_to" in capsys.readouterr().err
    assert daemon.payloads("link") == []


def test_a_relative_project_is_made_absolute(daemon: FakeDaemon, tmp_path: Path) -> None:
    """The daemon has another working folder than the caller."""
    daemon.handlers["stats"] = lambda payload: {"memories": 0}
    assert main(["stats", "--project", "some/where", "--json"]) == 0
    assert daemon.payloads("stats")[0]["project"] == os.path.abspath("some/where")
    assert daemon.payloads("stats")[0]["all_projects"] is False


def test_stats_is_of_all_stores_by_default(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --project everything counts, and the JSON has the number of memories."""
    stats = {"memories": 3, "by_kind": {"note": 3}, "embedding": {"model": "m", "state": "ready"}}
    stats["stores"] = [{"folder": "/g", "memories": 3, "pending_vectors": 1, "bytes": 2_000_000}]
    daemon.handlers["stats"] = lambda payload: stats
    assert main(["stats", "--json"]) == 0
    assert answer(capsys) == stats
    assert daemon.payloads("stats")[0]["all_projects"] is True
    assert main(["stats"]) == 0
    out = capsys.readouterr().out
    assert "3 memories" in out
    assert "2.0" in out


def test_recall_prints_the_daemon_s_hits(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON as it came; limits are passed on as lists and UTC times."""
    found = {"hits": [memory("a", score=0.91, breakdown={"dense": 0.5})], "mode": "full"}
    daemon.handlers["recall"] = lambda payload: found
    words = ["--since", "2026-11-01T00:00Z", "--kind", "decision", "--tag", "x", "-k", "3"]
    assert main(["recall", NASTY, *words, "--json"]) == 0
    assert answer(capsys) == found
    (asked,) = daemon.payloads("recall")
    assert asked["query"] == NASTY
    assert (asked["k"], asked["kind"], asked["tag"]) == (3, ["decision"], ["x"])
    assert (asked["since"], asked.get("until")) == ("2026-11-01T00:00:00+00:00", None)


def test_recall_for_people_is_a_table(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """How well it fits, date and project stand there; --why explains the score, words-only is noted."""
    hit = memory("a", score=0.5, relevance=0.914, breakdown={"dense": 0.5, "cosine": 0.25})
    daemon.handlers["recall"] = lambda payload: {"hits": [hit], "mode": "lexical"}
    assert main(["recall", "q", "--why"]) == 0
    out, err = capsys.readouterr()
    for words in ("91%", "2026-11-20", "ledger", "text of a", "Found because its meaning is near."):
        assert words in out
    assert "words only" in err
    daemon.handlers["recall"] = lambda payload: {"hits": []}
    assert main(["recall", "q"]) == 0
    assert capsys.readouterr().out == "Nothing found.\n"


def test_what_does_not_fit_is_shown_to_who_asks_for_all(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is an answer; programs are given the nearest in any case."""
    hit = memory("a", score=0.9, relevance=0.02, fits=False, breakdown={})

    def recalled(payload: dict[str, Any]) -> dict[str, Any]:
        is_left_out = payload["fitting"]
        return {"hits": [] if is_left_out else [hit], "mode": "full", "left_out": int(is_left_out)}

    daemon.handlers["recall"] = recalled
    assert main(["recall", "q"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Nothing fits.") and "--all" in out and "text of a" not in out
    assert main(["recall", "q", "--all"]) == 0
    assert "text of a" in capsys.readouterr().out
    assert main(["recall", "q", "--json"]) == 0
    assert "text of a" in capsys.readouterr().out


def test_a_batch_is_answered_line_by_line_in_order(
    daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each question, errors among them; blank lines are no questions."""

    def recalled(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["query"] == "bad":
            raise BadInputError("No.", "Ask otherwise.")
        return {"hits": [{"id": payload["query"], "k": payload["k"]}], "mode": "full"}

    daemon.handlers["recall"] = recalled
    lines = ['{"query": "one"}', "", "broken", '{"query": "bad"}', '{"query": "two", "k": 2}']
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert main(["recall", "--batch", str(file), "-k", "7", "--all-projects"]) == 0
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["hits"] for one in answers] == [
        [{"id": "one", "k": 7}],
        [],
        [],
        [{"id": "two", "k": 2}],
    ]
    assert [one.get("error") for one in answers] == [None, "The line is no JSON.", "No.", None]
    assert err == ""
    assert all(payload["all_projects"] for payload in daemon.payloads("recall"))


def test_a_batch_comes_from_stdin_too(
    daemon: FakeDaemon, stdin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--batch -` reads stdin."""
    daemon.handlers["recall"] = lambda payload: {"hits": [payload["query"]]}
    stdin(json.dumps({"query": NASTY}).encode() + b"\n")
    assert main(["recall", "--batch", "-"]) == 0
    assert answer(capsys) == {"hits": [NASTY]}


def test_a_batch_of_no_file_is_an_error(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is named, with exit code 1."""
    assert main(["recall", "--batch", "/nowhere/x"]) == 1
    assert "/nowhere/x" in capsys.readouterr().err


def test_list_gives_memories_as_they_are(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON unchanged; for people with how many there are."""
    found = {"memories": [memory("b", title="Second"), memory("c", source={})], "total": 30}
    daemon.handlers["list"] = lambda payload: found
    assert main(["list", "--offset", "4", "--session", "s1", "--json"]) == 0
    assert answer(capsys) == found
    assert daemon.payloads("list")[0]["offset"] == 4
    assert main(["list"]) == 0
    assert "1 to 2 of 30" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verb", "there", "told"),
    [
        ("list", {"memories": [], "total": 2}, "There are 2."),
        ("flags", {"flags": [], "total": 2}, "There are 2."),
        ("topics", {"sessions": []}, ""),
        ("audit", {"entries": []}, ""),
    ],
)
def test_a_list_that_ends_before_says_so(
    daemon: FakeDaemon,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    there: dict[str, Any],
    told: str,
) -> None:
    """And is not taken for one of nothing."""
    daemon.handlers[verb] = lambda payload: there
    assert main([verb, "--offset", "4"]) == 0
    assert f"Nothing comes after the first 4. {told}".strip() in capsys.readouterr().out
    assert daemon.payloads(verb)[0]["offset"] == 4


def topic(title: str, parts: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"id": "f" * 32, "title": title, "summary": f"Decided: {title}!", "lines": [3, 9],
            "parts": parts or []}  # fmt: skip


def test_topics_are_drawn_as_a_tree(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Sessions with the names and lines of their topics; one session with parts and summaries."""
    nodes = [topic("Queue", [topic("Retries")]), topic("Ledger"), *map(topic, "abcdefghijkl")]
    sessions = [{"session": "s1", "started_at": "2026-11-20T12:00:00+00:00", "topics": nodes}]
    daemon.handlers["topics"] = lambda payload: {"sessions": sessions}
    assert main(["topics", "--json"]) == 0
    assert answer(capsys) == {"sessions": sessions}
    assert main(["topics"]) == 0
    out = capsys.readouterr().out
    assert "2026-11-20  session s1" in out
    assert "├── Queue  lines 3-9  ffffffffffff" in out
    assert "Decided" not in out and "Retries" not in out and "… 2 more" in out
    assert main(["topics", "s1"]) == 0
    out = capsys.readouterr().out
    assert "│   └── Retries" in out and "Decided: Ledger!" in out and "Decided: Queue!" not in out
    assert [one.get("session") for one in daemon.payloads("topics")] == [None, None, "s1"]


def test_history_shows_the_chain_and_says_it_in_a_sentence(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stages from the oldest on, then what was until when; of a single one there is nothing to say."""
    first = {"id": "a" * 32, "text": "Port 80.", "from": "2026-11-01", "until": "2026-11-20"}
    last = {"id": "b" * 32, "text": "Port 443.", "from": "2026-11-20", "until": None}
    chain = {"chain": [first, last], "summary": "Port 80. until 20 November, now: Port 443."}
    daemon.handlers["history"] = lambda payload: chain
    assert main(["history", "a"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "aaaaaaaaaaaa  2026-11-01 to 2026-11-20  Port 80.",
        "bbbbbbbbbbbb  2026-11-20 to now  Port 443.",
        "Port 80. until 20 November, now: Port 443.",
    ]
    daemon.handlers["history"] = lambda payload: {"chain": [last], "summary": ""}
    assert main(["history", "a"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


LEARNED = {
    "project": "app",
    "tasks": {"tasks": 4, "done": 3, "undone": 1, "sessions": 2, "since": "2026-11-01", "last": "2026-11-20"},
    "kinds": [{"kind": "fix", "n": 4, "done": 3, "undone": 1, "errors": 5, "retries": 1, "minutes": 4.0}],
    "trouble": [{"text": "`pytest` fails first: run `uv run pytest`", "n": 3, "of": 4, "last": "2026-11-20"}],
    "trails": [{"id": "a" * 32, "text": "For fixes here: edit → `just check`"}],
    "things": [
        {"id": "b" * 32, "kind": "command", "text": "`just check` fails since 2026-11-20", "surprise": True,
         "seconds": 0.0, "same": 1, "seen": 5, "last": "2026-11-20T10:00:00+00:00"},
        {"id": "c" * 32, "kind": "command", "text": "`just lint` passes", "surprise": False,
         "seconds": 41.0, "same": 4, "seen": 5, "last": "2026-11-20T10:00:00+00:00"},
    ],
}  # fmt: skip


def test_lessons_fit_on_a_screen(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """How tasks went, steps, trouble, what is not as it was, the state of things, with ids to forget by."""
    daemon.handlers["lessons"] = lambda payload: LEARNED
    assert main(["lessons", "--json"]) == 0
    assert answer(capsys) == LEARNED
    assert main(["lessons"]) == 0
    out = capsys.readouterr().out
    assert "app: 4 tasks in 2 sessions since 2026-11-01, 3 of 4 done" in out
    assert "  fix 4 done 3, not done 1, errors 5, retries 1, median 4 min" in out
    assert "  For fixes here: edit → `just check` [aaaaaaaaaaaa]" in out
    assert "  `pytest` fails first: run `uv run pytest` (3 of 4 tasks, last 2026-11-20)" in out
    assert "Not as it used to be:\n  `just check` fails since 2026-11-20 [bbbbbbbbbbbb]" in out
    assert "  `just lint` passes, the last 4 of 5 times, last 2026-11-20, 41 s" in out


def test_lessons_of_nothing(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """A project in which nothing was done says so."""
    nothing = {"tasks": 0, "done": 0, "undone": 0, "sessions": 0, "since": "", "last": ""}
    told = {**LEARNED, "tasks": nothing, "kinds": [], "trouble": [], "trails": [], "things": []}
    daemon.handlers["lessons"] = lambda payload: told
    assert main(["lessons"]) == 0
    assert "Nothing was learned in app yet" in capsys.readouterr().out


def test_show_prints_a_memory_with_its_source(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """The source is a file with its lines; a missing memory is an expected error."""
    daemon.handlers["get"] = lambda payload: {
        "memory": memory("a", tags=["x", "y"], author={"key": "vmk1-", "name": "ann"})
    }
    assert main(["show", "aaaa"]) == 0
    out = capsys.readouterr().out
    for words in ("text of a", "/t.jsonl:3-5", "x, y", "shared by    ann"):
        assert words in out

    def missing(payload: dict[str, Any]) -> dict[str, Any]:
        raise NotFoundError("There is no memory zz.", "See `list`.")

    daemon.handlers["get"] = missing
    assert main(["show", "zz", "--json"]) == 1
    assert answer(capsys) == {"error": "There is no memory zz.", "hint": "See `list`."}


def test_edit_changes_only_what_is_named(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options that were not given are not sent; an empty tag takes all tags away."""
    daemon.handlers["edit"] = lambda payload: {"memory": memory("a")}
    assert main(["edit", "aaaa", "--kind", "fact", "--tag", "", "--json"]) == 0
    assert answer(capsys)["memory"]["id"] == "a" * 8
    (asked,) = daemon.payloads("edit")
    assert (asked["id"], asked["kind"], asked["tags"]) == ("aaaa", "fact", [])
    assert not {"text", "priority"} & set(asked)


@pytest.mark.parametrize(
    ("editor", "code", "edits"),
    [
        ("sh -c 'echo new > \"$0\"'", 0, ["new"]),
        ("true", 0, []),
        ("false", 1, []),
        ("sh -c ': > \"$0\"'", 1, []),
        ("/nonexistent/editor", 1, []),
        ("", 1, []),
    ],
)
def test_edit_opens_the_editor(
    editor: str,
    code: int,
    edits: list[str],
    daemon: FakeDaemon,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without options the text is edited; a failed, empty or missing editor changes nothing, and
    no copy of the text stays behind."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    daemon.handlers["get"] = lambda payload: {"memory": memory("a")}
    daemon.handlers["edit"] = lambda payload: {"memory": memory("a")}
    assert main(["edit", "aaaa"]) == code
    assert [payload["text"] for payload in daemon.payloads("edit")] == edits
    assert [name for name in os.listdir(daemon.home.run) if name.startswith("edit-")] == []


class TestForget:
    """`forget` shows, asks, and forgets what it showed."""

    @pytest.fixture(autouse=True)
    def remembered(self, daemon: FakeDaemon) -> None:
        found = [memory("a"), memory("b")]

        def forgotten(payload: dict[str, Any]) -> dict[str, Any]:
            return {"memories": found, "forgotten": 0 if payload["dry_run"] else 2}

        daemon.handlers["forget"] = forgotten
        daemon.handlers["get"] = lambda payload: {"memory": memory(payload["id"][0])}

    def test_without_a_terminal_it_refuses(
        self, daemon: FakeDaemon, stdin: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Exit 1, nothing forgotten, and it says how to go on."""
        stdin(b"y\n")
        assert main(["forget", "--tag", "t"]) == 1
        out, err = capsys.readouterr()
        assert "text of a" in out
        assert "--yes" in err
        assert [payload["dry_run"] for payload in daemon.payloads("forget")] == [True]

    def test_yes_forgets_what_was_shown(
        self, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The second question names the ids of the first one's answer."""
        assert main(["forget", "--query", "q", "--yes", "--json"]) == 0
        assert answer(capsys)["forgotten"] == 2
        first, second = daemon.payloads("forget")
        assert (first["query"], first["dry_run"]) == ("q", True)
        assert (second["ids"], second["dry_run"]) == (["a" * 8, "b" * 8], False)
        assert "query" not in second

    def test_dry_run_only_shows(
        self, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Even with --yes."""
        assert main(["forget", "--since", "3d", "--dry-run", "--yes", "--json"]) == 0
        assert answer(capsys)["forgotten"] == 0
        assert len(daemon.payloads("forget")) == 1

    def test_ids_may_be_beginnings(self, daemon: FakeDaemon) -> None:
        """They are looked up first, in every project."""
        assert main(["forget", "a", "b", "--yes"]) == 0
        first, _ = daemon.payloads("forget")
        assert first["ids"] == ["a" * 8, "b" * 8]
        assert first["all_projects"] is True

    @pytest.mark.parametrize(
        ("said", "code", "times"), [("y\n", 0, 2), ("n\n", 0, 1), ("", 130, 1)]
    )
    def test_on_a_terminal_it_asks(
        self,
        said: str,
        code: int,
        times: int,
        daemon: FakeDaemon,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        """Only a yes forgets. A no is an answer, no interruption."""

        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr(sys, "stdin", Terminal(said))
        assert main(["forget", "--tag", "t"]) == code
        assert len(daemon.payloads("forget")) == times
        told = capsys.readouterr().err
        assert ("Nothing was forgotten." in told) == (said == "n\n")
        assert ("Interrupted." in told) == (code == 130)

    def test_nothing_found_is_no_error(
        self, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """There is nothing to ask then."""
        daemon.handlers["forget"] = lambda payload: {"memories": [], "forgotten": 0}
        assert main(["forget", "--tag", "none"]) == 0
        assert capsys.readouterr().out == "Nothing matches.\n"


class TestReadingIn:
    """`import` and `backfill` stream."""

    def test_import_reports_what_came_of_it(
        self, daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Progress stays off stdout; the path is absolute; the answer is one document."""
        result = {"read": 2, "stored": 1, "merged": 0, "skipped": 0, "redactions": 0}
        result |= {"errors": [{"line": 2, "error": "no text"}], "seconds": 0.5}

        def imported(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
            yield wire.PROGRESS, {"done": 1, "total": 2, "doing": "reading"}
            yield wire.ANSWER, result

        daemon.handlers["import"] = imported
        file = tmp_path / "in.jsonl"
        file.write_text("{}\n{}\n")
        assert main(["import", str(file), "--verbatim", "--json"]) == 1
        assert answer(capsys) == result
        assert main(["import", str(file), "--no-wait"]) == 1
        out, err = capsys.readouterr()
        assert "2 read, 1 stored" in out
        assert err == "line 2: no text\n"
        first, second = daemon.payloads("import")
        assert (first["path"], first["verbatim"], first["wait"]) == (str(file), True, True)
        assert (second["verbatim"], second["wait"]) == (False, False)

    def test_nothing_but_errors_is_exit_1(
        self, daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A file of which no line could be stored."""
        errors = [{"line": n, "error": "broken"} for n in range(12)]
        daemon.handlers["import"] = lambda payload: {"read": 12, "skipped": 12, "errors": errors}
        file = tmp_path / "in.jsonl"
        file.write_text("x")
        assert main(["import", str(file)]) == 1
        assert "and 2 more" in capsys.readouterr().err

    def test_a_missing_file_is_an_expected_error(
        self, daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It is named, also beside others and where it would be a folder. The daemon is not asked."""
        note = tmp_path / "NOTES.md"
        note.write_text("- A note.")
        for words in (
            ["import", "/nowhere/in.jsonl"],
            ["backfill", "/nowhere/in.jsonl"],
            ["import", "/nowhere/adr"],
            ["import", str(note), "/nowhere/adr"],
        ):
            assert main(words) == 1
            assert f"There is no {words[-1]}." in capsys.readouterr().err
        assert daemon.asked == []

    def test_backfill_tells_what_could_not_be_read(
        self, daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Each time, with 1 where that is all: what was read before changes nothing."""
        told = {"errors": [{"file": "/t/odd.jsonl", "error": "is no regular file"}], "seconds": 0.1}
        for files, stored, code in ((3, 2, 0), (3, 0, 0), (0, 0, 1)):
            daemon.handlers["backfill"] = lambda _, n=files, s=stored: {
                **told,
                "files": n,
                "stored": s,
            }
            assert main(["backfill", str(tmp_path)]) == code
            out, err = capsys.readouterr()
            assert f"{files} files, 0 known" in out
            assert err == "/t/odd.jsonl: is no regular file\n"

    def test_backfill_that_finds_nothing_says_where_it_looked(
        self, daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Else nobody could tell a wrong folder from an empty one."""
        daemon.handlers["backfill"] = lambda _: {
            "files": 0,
            "errors": [],
            "looked_in": ["/a", "/b"],
        }
        assert main(["backfill", "--all"]) == 0
        assert "No transcripts are in /a, /b." in capsys.readouterr().err

    def test_backfill_finds_this_project_s_transcripts(
        self, daemon: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where the client keeps them for the current folder; all of them, or one session's."""
        daemon.handlers["backfill"] = lambda payload: {"files": 1, "errors": []}
        work = tmp_path / "my.work"
        work.mkdir()
        monkeypatch.chdir(work)
        assert main(["backfill"]) == 1
        name = str(work).replace("/", "-").replace(".", "-").replace("_", "-")
        kept = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / name
        kept.mkdir(parents=True)
        (kept / "s-1.jsonl").write_text("")
        assert main(["backfill"]) == 0
        assert main(["backfill", "--session", "s-1", "--no-wait"]) == 0
        assert main(["backfill", "--all", "--json"]) == 0
        whole, one, everything = daemon.payloads("backfill")
        assert (whole["paths"], whole["wait"]) == ([str(kept)], True)
        assert (one["paths"], one["wait"]) == ([str(kept / "s-1.jsonl")], False)
        assert (everything["paths"], everything["all"]) == ([], True)

    def test_backfill_of_one_session(
        self, daemon: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The session that this runs in, with its subagents, wherever it began; and who asks is told,
        as is where the clients keep what they keep."""
        daemon.handlers["backfill"] = lambda payload: {"files": 1, "errors": []}
        monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
        assert main(["backfill", "--session", "current"]) == 1
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-7")
        assert main(["backfill", "--session", "current"]) == 1
        kept = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-elsewhere"
        (kept / "s-7" / "subagents").mkdir(parents=True)
        (kept / "s-7.jsonl").write_text("")
        assert main(["backfill", "--session", "current"]) == 0
        (asked,) = daemon.payloads("backfill")
        assert asked["paths"] == [str(kept / "s-7.jsonl"), str(kept / "s-7")]
        assert asked["session"] == "s-7"
        assert asked["codex_dir"] == str(tmp_path / "codex")
        assert asked["gemini_dir"] == os.path.join(os.environ["HOME"], ".gemini")


class TestExport:
    """`export` writes JSON lines."""

    @pytest.fixture(autouse=True)
    def stored(self, daemon: FakeDaemon) -> None:
        def exported(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
            for name in ("a", "b"):
                yield wire.ITEM, memory(name, text=NASTY + " \udc80")
            yield wire.ANSWER, {"exported": 2}

        daemon.handlers["export"] = exported

    def test_to_stdout(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One memory a line, and nothing else."""
        assert main(["export", "--all"]) == 0
        out, err = capsys.readouterr()
        lines = [json.loads(line) for line in out.splitlines()]
        assert [line["id"] for line in lines] == ["a" * 8, "b" * 8]
        assert lines[0]["text"] == NASTY + " \udc80"
        assert err == ""

    def test_a_dash_is_stdout(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As it is stdin elsewhere."""
        monkeypatch.chdir(tmp_path)
        assert main(["export", "-o", "-"]) == 0
        assert capsys.readouterr().out.count("\n") == 2
        assert not (tmp_path / "-").exists()

    def test_notes_in_the_vault_take_no_other_option(
        self, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """They are of all projects, and stand where the vault is: nothing is asked of the daemon."""
        for more in (["--output", "x.md"], ["--project", "x"], ["--all"]):
            assert main(["export", "--vault", *more]) == 2
        assert "no other option" in capsys.readouterr().err
        assert "export_vault" not in [verb for verb, _ in daemon.asked]

    def test_to_a_file_that_only_the_user_reads(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """0600, complete or not there at all."""
        file = tmp_path / "out.jsonl"
        assert main(["export", "--output", str(file), "--json"]) == 0
        assert answer(capsys) == {"exported": 2, "file": str(file)}
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(file.read_text(encoding="utf-8").splitlines()) == 2

    def test_what_is_no_file_is_written_to(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A pipe, or a device: it stays what it is. A folder is no place for an export."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        assert main(["export", "--output", str(pipe), "--json"]) == 0
        assert os.read(reading, 100_000).count(b"\n") == 2
        os.close(reading)
        assert pipe.is_fifo()
        assert main(["export", "--output", str(tmp_path)]) == 1
        assert "directory" in capsys.readouterr().err

    def test_a_link_stays_one(self, daemon: FakeDaemon, tmp_path: Path) -> None:
        """As /dev/stdout is, which leads to a file where the output of a command goes into one."""
        file, link = tmp_path / "out.jsonl", tmp_path / "link"
        file.write_text("old")
        link.symlink_to(file)
        assert main(["export", "--output", str(link)]) == 0
        assert link.is_symlink()
        assert len(file.read_text(encoding="utf-8").splitlines()) == 2

    def test_a_failed_export_leaves_the_old_file(self, daemon: FakeDaemon, tmp_path: Path) -> None:
        """Nothing half-written takes its place, or stays beside it."""

        def broken(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
            yield wire.ITEM, memory("a")
            raise BadInputError("No more.")

        daemon.handlers["export"] = broken
        folder = tmp_path / "out"
        folder.mkdir()
        (folder / "kept.jsonl").write_text("old")
        assert main(["export", "-o", str(folder / "kept.jsonl")]) == 1
        assert (folder / "kept.jsonl").read_text() == "old"
        assert os.listdir(folder) == ["kept.jsonl"]

    def test_a_folder_that_is_none_is_an_expected_error(self) -> None:
        """Exit 1."""
        assert main(["export", "-o", "/nowhere/out.jsonl"]) == 1


def test_init_and_trust_name_the_folder(daemon: FakeDaemon, tmp_path: Path) -> None:
    """Folders are made absolute and have to exist."""
    daemon.handlers["init"] = lambda payload: {"project": "p", "store": "s", "moved": 2}
    daemon.handlers["trust"] = lambda payload: {}
    assert main(["init", str(tmp_path)]) == 0
    assert main(["trust", str(tmp_path)]) == 0
    assert main(["untrust", str(tmp_path), "--json"]) == 0
    assert main(["init", str(tmp_path / "none")]) == 1
    assert daemon.payloads("init")[0]["dir"] == str(tmp_path)
    assert [one["trusted"] for one in daemon.payloads("trust")] == [True, False]


def test_init_offers_the_notes_that_it_found(
    daemon: FakeDaemon, tmp_path: Path, stdin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the command that imports them; without a terminal nothing is asked."""
    found = [str(tmp_path / "MEMORY.md"), str(tmp_path / "docs" / "adr" / "1 x.md")]
    daemon.handlers["init"] = lambda payload: {"store": "s", "moved": 0, "found": found}
    stdin(b"y\n")
    assert main(["init", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Notes of this project: MEMORY.md, docs/adr/1 x.md" in out
    assert f"vector-memory import --project {tmp_path} {found[0]} '{found[1]}'" in out
    assert main(["init", str(tmp_path), "--json"]) == 0
    assert answer(capsys)["found"] == found
    assert daemon.payloads("import_notes") == []


def test_check_is_exit_1_with_problems(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are shown with what mends them."""
    problem = {"store": "/g", "what": "a page is torn", "fix": "rebuild"}
    daemon.handlers["check"] = lambda payload: {"ok": False, "problems": [problem]}
    assert main(["check", "--read-data"]) == 1
    assert "a page is torn" in capsys.readouterr().out
    assert daemon.payloads("check")[0]["read_data"] is True
    daemon.handlers["check"] = lambda payload: {"ok": True, "problems": []}
    assert main(["check", "--json"]) == 0
    assert answer(capsys) == {"ok": True, "problems": []}


def test_what_was_rebuilt_is_a_sentence(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many memories, and how long it took."""
    built = {"rows": 4097, "seconds": 3.007, "unopened": {}, "strays": []}
    daemon.handlers["rebuild"] = lambda payload: iter([(wire.ANSWER, built)])
    assert main(["rebuild"]) == 0
    said = "The search index was built anew: 4,097 memories in 3.0 s."
    assert capsys.readouterr().out.strip() == said


@pytest.mark.parametrize("verb", ["rebuild", "migrate"])
def test_long_work_streams(
    verb: str, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress goes nowhere without a terminal; the answer is one document."""

    def worked(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        yield wire.PROGRESS, {"done": 1, "total": 2, "doing": "embedding"}
        yield wire.ANSWER, {"embedded": 2, "model": "m"}

    daemon.handlers[verb] = worked
    assert main([verb, "--json"]) == 0
    assert answer(capsys) == {"embedded": 2, "model": "m"}
    assert main([verb]) == 0


def test_a_proof_of_an_entry_tells_what_it_proves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = Keyring(str(tmp_path / "keys")).signer(datetime.now(timezone.utc))
    entry: dict[str, Any] = {
        "action": "purge", "actor": "user", "at": 1795867200_000000, "ids": '["aa11"]',
        "detail": '{"files": 7}', "number": 2,
    }  # fmt: skip
    leaves = [attestation.leaf(one) for one in ({**entry, "number": 1}, entry)]
    statement = attestation.sign_statement(key, leaves, 2, "2026-11-28T12:00:00+00:00")
    proof = asdict(attestation.prove_inclusion(leaves, entry, 1, statement))
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(proof))
    assert main(["proof", "verify", str(file), "--offline"]) == 0
    out = capsys.readouterr().out
    assert 'Entry 2 is among them: purge by user at 2026-11-28 12:00:00+00:00, of ["aa11"], ' in out
    assert '{"files": 7}' in out
    assert main(["proof", "verify", str(file), "--offline", "--json"]) == 0
    assert answer(capsys)["entry"] == entry


def test_an_agents_terminal_shows_whose_words_they_are(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As hooks do: it is the model that reads them. People see what is stored."""
    hit = {
        "id": "a" * 32,
        "text": "See https://example.org <system>",
        "origin": "tool",
        "foreign": True,
        "kind": "note",
    }
    daemon.handlers["recall"] = lambda payload: {"hits": [hit]}
    daemon.handlers["list"] = lambda payload: {"memories": [hit], "total": 1}
    for command in (["recall", "words"], ["list"]):
        monkeypatch.delenv("CLAUDECODE", raising=False)
        assert main(command) == 0
        assert "See https://example.org <system>" in capsys.readouterr().out
        monkeypatch.setenv("CLAUDECODE", "1")
        assert main(command) == 0
        assert "[foreign, tool] See https[:]//example.org &lt;system>" in capsys.readouterr().out


def test_the_audit_is_a_table(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever columns the daemon gives."""
    entries = [{"at": "2026-11-20", "did": "remember"}, {"at": "2026-11-19", "n": 3}]
    daemon.handlers["audit"] = lambda payload: {"entries": entries}
    assert main(["audit"]) == 0
    assert "remember" in capsys.readouterr().out
    assert main(["audit", "--json"]) == 0
    assert answer(capsys) == {"entries": entries}


def test_audit_asks_for_what_is_named_and_tells_of_a_change(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1 for a log that was changed; an agent's question says that it is one's."""
    entry = {"number": 1, "action": "forget", "ids": ["a" * 32], "detail": {"n": 1}}
    whole = {"entries": [entry], "intact": True, "problem": ""}
    daemon.handlers["audit"] = lambda payload: whole
    monkeypatch.setenv("CLAUDECODE", "1")
    assert main(["audit", "--action", "forget", "--verify", "-k", "3"]) == 0
    out = capsys.readouterr().out
    assert "a" * 12 in out
    assert "a" * 13 not in out
    assert "as it was written" in out
    (asked,) = daemon.payloads("audit")
    assert (asked["action"], asked["verify"], asked["k"], asked["actor"]) == (
        "forget",
        True,
        3,
        "agent",
    )
    daemon.handlers["audit"] = lambda payload: {
        **whole,
        "intact": False,
        "problem": "Entry 7 was changed.",
    }
    assert main(["audit"]) == 1
    assert "Entry 7 was changed" in capsys.readouterr().err


class TestPurge:
    """`purge` shows, asks, purges, and tells what the search found."""

    @pytest.fixture(autouse=True)
    def purged(self, daemon: FakeDaemon) -> dict[str, Any]:
        """The daemon's answer, which a test may change."""
        done: dict[str, Any] = {
            "form": "text",
            "memories": [memory("a"), memory("b")],
            "count": 2,
            "purged": 2,
            "backups": ["/home/backups/one"],
            "set_aside": [],
            "sources": ["/t/s1.jsonl"],
            "left": [],
            "errors": [],
            "searched": {"files": 1_200, "mb": 3.4, "pieces": 1, "unread": []},
        }
        daemon.handlers["purge"] = lambda payload: {**done, "purged": done["purged"]}
        return done

    def test_yes_purges_and_tells(
        self, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The same form is asked twice, first dry; backups and the client's files are named."""
        assert main(["purge", "--text", "Secret Name", "--yes"]) == 0
        first, second = daemon.payloads("purge")
        assert (first["text"], first["dry_run"]) == ("Secret Name", True)
        assert (second["text"], second.get("dry_run"), second["backups"]) == (
            "Secret Name",
            None,
            False,
        )
        out = capsys.readouterr().out
        assert "Purged: 2" in out
        assert "searched 1,200 files, 3.4 MB: nothing left" in out
        assert "--backups" in out
        assert "/home/backups/one" in out
        assert "/t/s1.jsonl" in out

    @pytest.mark.parametrize(
        ("words", "payload"),
        [
            (["a1", "b2"], {"ids": ["a1", "b2"]}),
            (["--session", "s1"], {"session": "s1"}),
            (["--forgotten"], {"forgotten": True}),
            (["--project", "/some/where"], {"dir": "/some/where"}),
        ],
    )
    def test_every_form_is_asked_for(
        self, daemon: FakeDaemon, words: list[str], payload: dict[str, Any]
    ) -> None:
        """By ids, a session, a project, and what was forgotten."""
        assert main(["purge", *words, "--yes", "--backups", "--json"]) == 0
        asked = daemon.payloads("purge")[-1]
        assert payload.items() <= asked.items()
        assert asked["backups"] is True

    def test_what_is_left_is_exit_1(
        self, purged: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With the files that still hold it, and what to do."""
        purged["left"] = ["/home/config.json"]
        purged["errors"] = ["/home/logs cannot be cleaned."]
        assert main(["purge", "--text", "Secret Name", "--yes"]) == 1
        captured = capsys.readouterr()
        assert "/home/config.json" in captured.out
        assert "nothing left" not in captured.out
        assert "cannot be cleaned" in captured.err

    def test_a_store_that_was_not_opened_is_exit_1(
        self, purged: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Whether others held the words or not; what is not ours is named."""
        purged.update(unopened={"/p/.memory/db": "/p/.memory/db/lance is a link."}, strays=["/p/x"])
        assert main(["purge", "--text", "Secret Name", "--yes"]) == 1
        captured = capsys.readouterr()
        assert captured.err.count("is a link") == 1
        assert "left alone:\n  /p/x" in captured.out
        purged.update(count=0, memories=[], left=[])
        assert main(["purge", "--text", "Secret Name", "--yes"]) == 1
        assert "is a link" in capsys.readouterr().err

    def test_without_a_terminal_nothing_is_purged(
        self, daemon: FakeDaemon, stdin: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It says how to go on; only the preview was asked for."""
        stdin(b"")
        assert main(["purge", "a1", "--json"]) == 1
        assert "--yes" in answer(capsys)["hint"]
        assert [one["dry_run"] for one in daemon.payloads("purge")] == [True]

    def test_dry_run_and_nothing_ask_nothing(
        self, daemon: FakeDaemon, purged: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A preview ends there, and so does one that found nothing."""
        assert main(["purge", "a1", "--dry-run"]) == 0
        purged.update(count=0, memories=[], left=[])
        assert main(["purge", "--text", "Secret Name"]) == 0
        assert "Nothing but a backup may hold it: searched 1,200 files" in capsys.readouterr().out
        purged.update(backups=[], set_aside=["/home/db.damaged"])
        assert main(["purge", "--text", "Secret Name", "--backups"]) == 0
        out = capsys.readouterr().out
        assert "Nothing holds it: searched 1,200 files" in out and "deleted" not in out
        assert len(daemon.payloads("purge")) == 3

    def test_backups_are_deleted_where_nothing_else_holds_it(
        self, daemon: FakeDaemon, purged: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """They are named first; without --backups nothing is done, and it is said how."""
        purged.update(count=0, memories=[])
        words = ["purge", "--text", "Secret Name", "--yes"]
        assert main([*words, "--backups", "--dry-run"]) == 0
        assert "Backups that are deleted:\n  /home/backups/one" in capsys.readouterr().out
        assert main([*words, "--backups"]) == 0
        assert daemon.payloads("purge")[-1]["backups"] is True
        assert main(words) == 0
        assert "(--backups deletes them):\n  /home/backups/one" in capsys.readouterr().out
        assert [one.get("dry_run") for one in daemon.payloads("purge")] == [True, True, None, True]

    @pytest.mark.parametrize("words", [[], ["a1", "--forgotten"], ["--text", " "]])
    def test_wrong_usage(self, words: list[str]) -> None:
        """Nothing named, two ways, no words."""
        assert main(["purge", *words, "--yes"]) == 2


def test_a_bug_in_the_daemon_is_exit_3(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the daemon did not expect, the user is not blamed for."""

    def broken(payload: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("x")

    daemon.handlers["stats"] = broken
    assert main(["stats", "--json"]) == 3
    assert "report" in answer(capsys)["hint"]


def test_progress_is_shown_on_a_terminal(
    daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, so that stdout stays what was asked for."""

    def worked(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        for done in range(3):
            yield wire.PROGRESS, {"done": done, "total": 2, "doing": "[embedding]"}
        yield wire.ANSWER, {"embedded": 2, "model": "m", "have": 1_002}

    daemon.handlers["migrate"] = worked
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["migrate"]) == 0
    out, err = capsys.readouterr()
    assert out == "1,002 memories embedded by m, 2 of them just now.\n"
    assert "[embedding]" in err


def test_verify_sends_a_verdict(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word it is confirmed."""
    daemon.handlers["verify"] = lambda payload: {"memory": {"id": "m1"}, "action": "verify"}
    assert main(["verify", "m1"]) == 0
    assert main(["verify", "m1", "--verdict", "outdated", "--note", "it moved"]) == 0
    assert capsys.readouterr().out == "confirmed m1\noutdated m1\n"
    asked = [(one["id"], one["verdict"], one.get("note")) for one in daemon.payloads("verify")]
    assert asked == [("m1", "confirmed", None), ("m1", "outdated", "it moved")]


def test_how_a_memory_ages_is_sent_as_it_was_typed(daemon: FakeDaemon) -> None:
    """At storing and at editing: the daemon knows from when `tomorrow` is meant."""
    daemon.handlers["remember"] = lambda payload: {"id": "m1", "action": "stored"}
    daemon.handlers["edit"] = lambda payload: {"memory": {"id": "m1"}}
    assert main(["remember", "x", "--temporal", "deadline", "--due", "tomorrow"]) == 0
    assert (
        main(["edit", "m1", "--every", "weekly", "--half-life", "0", "--expires", "in 3 days"]) == 0
    )
    (stored,), (edited,) = daemon.payloads("remember"), daemon.payloads("edit")
    assert (stored["temporal"], stored["due"]) == ("deadline", "tomorrow")
    assert (edited["every"], edited["half_life_days"], edited["expires"]) == (
        "weekly",
        0,
        "in 3 days",
    )
    assert "text" not in edited


@pytest.mark.parametrize(
    ("typed", "listed", "rows"),
    [
        ("forget b", "list", "memories"),
        ("forget bbb b", "list", "memories"),
        ("link b", "list", "memories"),
        ("link aaa b", "list", "memories"),
        ("purge b", "list", "memories"),
        ("remember x --supersedes b", "list", "memories"),
        ("quarantine drop b", "quarantine", "memories"),
        ("quarantine release b", "quarantine", "memories"),
        ("review --confirm b", "review", "items"),
        ("topics b", "topics", "sessions"),
        ("purge --session b", "topics", "sessions"),
        ("jobs run b", "jobs", "jobs"),
    ],
)
def test_a_shell_completes_what_the_daemon_knows(
    typed: str,
    listed: str,
    rows: str,
    daemon: FakeDaemon,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ids and names, wherever one is typed, and in the second place too."""
    called = [dict.fromkeys(("id", "name", "session"), f"{id}-1") for id in ("aaa", "bbb")]
    daemon.handlers[listed] = lambda payload: {rows: called}
    monkeypatch.setenv("_VECTOR_MEMORY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"vector-memory {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["bbb-1"]


def test_what_is_not_published_is_one_answer_for_programs(
    daemon: FakeDaemon, stdin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal to ask on: people see the memories before, programs the error alone."""
    fresh = [{"id": "m1", "kind": "note", "text": "the ledger"}]
    daemon.handlers["share_publish"] = lambda payload: {"memories": 1, "new": 1, "fresh": fresh}
    stdin(b"")
    assert main(["share", "publish", "--json"]) == 1
    assert set(answer(capsys)) == {"error", "hint"}
    assert main(["share", "publish"]) == 1
    assert "the ledger" in capsys.readouterr().out


def test_where_nothing_was_new_nothing_was_published(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    done = {"memories": 1, "seq": 3, "bytes": 0}
    daemon.handlers["share_publish"] = lambda payload: done
    assert main(["share", "publish", "--yes"]) == 0
    assert "Nothing new to publish: 1 memory, published as 3." in capsys.readouterr().out


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_pull_that_refused_a_members_bundle_says_so_to_programs(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    """What a stranger left at the place is told alone."""
    for is_members in (True, False):
        refused = [{"what": "ann (aa)", "why": "damaged", "is_members": is_members}]
        done = {"members": [], "refused": refused}
        daemon.handlers["share_pull"] = lambda payload, done=done: done
        assert main(["share", "pull", *form]) == int(is_members)
        assert "damaged" in capsys.readouterr().out


def test_names_are_told_apart_aloud(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no other name is left, too; the other name alone says nothing."""
    daemon.handlers["alias"] = lambda payload: {"aliases": {}}
    assert main(["entities", "--alias", "file:a"]) == 0
    assert "file:a" in capsys.readouterr().out
    assert main(["entities", "--of", "file:a"]) == 2
    assert "--alias" in capsys.readouterr().err
    assert daemon.payloads("entities") == []
