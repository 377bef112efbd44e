"""Secrets are planted at every way in; then every file of the data home is searched for them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import pytest
from daemon_rig import Rig
from talk import transcript

from vector_memory import errors
from vector_memory.client.spool import write_spool

MARK = "Zq7"
"""Every planted value begins so, so that each is found in whatever is stored of it."""


def secret(number: int) -> str:
    """Return a made-up password that stands nowhere else."""
    return f"{MARK}x{number:02d}!pW" + "k9Vd3"


class Plants:
    """Values that must not be stored, each in a sentence with a word that must be."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.words: list[str] = []

    def __call__(self, form: str = 'the password is "{}"', kept: bool = True) -> str:
        """Return a sentence with one more secret in it, whose other words are kept or not."""
        value, word = secret(len(self.values)), f"harbour{len(self.values):02d}"
        self.values.append(value)
        if kept:
            self.words.append(word)
        return f"Remember {word}: {form.format(value)} for the ledger."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home; whatever runs there is ended."""
    made = Rig(tmp_path / "data home")
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


def everything(root: str) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of every file of a data home but the runtime's and the model's."""
    for folder, names, files in os.walk(root):
        names[:] = [one for one in names if one not in ("runtime", "models", "pycache")]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path, Path(path).read_bytes()


def rows(root: str) -> Iterator[tuple[str, bytes]]:
    """Yield what databases and tables hold, for what they keep packed."""
    for path, data in list(everything(root)):
        if data.startswith(b"SQLite format 3"):
            with contextlib.closing(sqlite3.connect(path)) as connection:
                yield path, "\n".join(connection.iterdump()).encode("utf-8", "replace")
    for folder, names, _ in os.walk(os.path.join(root, "global", "lance")):
        for name in names:
            if name.endswith(".lance"):
                table = lancedb.connect(folder).open_table(name.removesuffix(".lance"))
                yield os.path.join(folder, name), str(table.to_arrow().to_pylist()).encode()


def traces(root: str, values: list[str]) -> list[str]:
    """Return which values stand where, in any of the forms that something might have given them."""
    found = []
    for path, data in [*everything(root), *rows(root)]:
        lowered = data.lower()
        for value in values:
            forms = (value.encode(), value.encode("utf-16-le"), value[4:].lower().encode())
            if any(form in lowered or form in data for form in forms):
                found.append(f"{value} in {path}")
            if base64.b64encode(value.encode())[:-4] in data:
                found.append(f"{value} in base64 in {path}")
    return found


def ask(rig: Rig, verb: str, **payload: Any) -> dict[str, Any]:
    """Ask the daemon and return its last reply."""
    return list(rig.daemon.stream(verb, payload))[-1][1]


def test_no_way_in_stores_a_secret(rig: Rig, tmp_path: Path) -> None:
    """Hooks, transcripts, backfill, imports, notes, graphs, commands and edits: no planted value is in
    any file afterwards, and the words around each are found."""
    plant = Plants()
    project = tmp_path / "ledger"
    project.mkdir()
    hooks = transcript(
        project,
        [
            (plant(), plant("DB_PASSWORD={}")),
            (f"<private>{plant('{}', False)} and {plant('{}', False)}", "Noted, harbour-private."),
            (
                plant("postgres://app:{}@db/x"),
                f"<PRIVATE>{plant('{}', False)}</private> harbour-answer",
            ),
            ("Deploy it", plant("token: {}").replace("z", "\u200bz")),
            (base64.b64encode(plant(kept=False).encode()).decode(), plant("p%61ssword%3D%22{}%22")),
        ],
        "hooks",
    )
    with hooks.open("a") as file:
        title = {
            "type": "custom-title",
            "customTitle": plant("password={}", False),
            "sessionId": "hooks",
        }
        summary = {
            "type": "summary",
            "summary": plant("password={}", False),
            "leafUuid": "hooks-u0",
        }
        file.write(json.dumps(title) + "\n" + json.dumps(summary) + "\n")
    old = tmp_path / "old"
    old.mkdir()
    transcript(old, [(plant(), plant("password: {}")), ("What was it?", plant())], "old")
    lines = [
        {"text": plant(), "title": plant("password={}"), "tags": [plant("pw:{}")], "id": plant()},
        {"text": plant(), "session": plant("password={}"), "speaker": plant("password={}")},
        {"text": plant(), "kind": plant("password={}"), "files": [plant("password={}")]},
    ]
    lines_file = tmp_path / "lines.jsonl"
    lines_file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    notes = tmp_path / "NOTES.md"
    notes.write_text(
        f"# {plant('password={}')}\n\n- {plant()}\n- We use Postgres 14\n\n<private>\n{plant('{}', False)}\n"
    )
    graph = tmp_path / "graph.json"
    entity = {"type": "entity", "name": "Anna", "entityType": "person", "observations": [plant()]}
    graph.write_text(json.dumps(entity) + "\n")

    rig.configure(daily_notes=str(tmp_path / "vault"))
    (tmp_path / "vault").mkdir()
    write_spool(
        rig.home,
        "SessionEnd",
        {"session_id": "hooks", "transcript_path": str(hooks), "prompt": plant(kept=False)},
        str(project),
    )
    rig.daemon.start()
    rig.until(lambda: os.listdir(rig.home.spool) == [], "an empty spool")
    here = {"project": str(project), "wait": False}
    kept = ask(
        rig,
        "remember",
        text=plant(kept=False),
        tags=[plant("pw:{}", False)],
        **here,
    )
    with pytest.raises(errors.BadInputError):
        ask(rig, "remember", text=plant(kept=False), kind=plant("pw:{}", False), **here)
    changed = ask(rig, "edit", id=kept["id"], text=plant(), tags=[plant("pw:{}")])
    other = ask(rig, "remember", text=plant(), **here)
    ask(rig, "link", **{"from": kept["id"], "to": other["id"]}, reason=plant("password={}", False))
    ask(rig, "backfill", paths=[str(old)], path=str(old), wait=False)
    ask(rig, "import", path=str(lines_file), **here)
    ask(rig, "import", path=str(graph), **here)
    ask(rig, "import_notes", paths=[str(notes)], **here)
    ask(rig, "recall", query=plant(kept=False), **here)
    with contextlib.suppress(errors.VectorMemoryError):
        ask(rig, "recall", query=plant(kept=False), since=plant("password={}", False), **here)
    assert ask(rig, "wait", timeout_s=60)["complete"]
    rig.daemon.stop()

    assert "[redacted:password]" in changed["memory"]["text"]
    assert traces(rig.home.root, plant.values) == []
    assert traces(str(tmp_path / "vault"), plant.values) == []
    kept_words = b"".join(data.lower() for _, data in rows(rig.home.root))
    assert [word for word in plant.words if word.encode() not in kept_words] == []
    for word in (b"harbour-answer", b"[redacted:private]", b"postgres 14"):
        assert word in kept_words


def test_rules_reach_everything(rig: Rig, tmp_path: Path, scratch_home: Path) -> None:
    """A user's and a project's rules hold for what is stored; what was stored before them is redacted
    when it is shown, and a rule that cannot be used is told."""
    project = tmp_path / "ledger"
    project.mkdir()
    here = {"project": str(project)}
    ask(rig, "remember", text="The Nightjar ledger uses WAL mode", **here)
    user = scratch_home / ".claude" / "CLAUDE.md"
    user.parent.mkdir(exist_ok=True)
    user.write_text("# Privacy\n- Nightjar\n- `(broken`\n")
    (project / "CLAUDE.md").write_text("# Never remember\n- heron\n")

    def shown() -> list[str]:
        hits = ask(rig, "recall", query="ledger WAL mode", **here)["hits"]
        return [one["text"] for one in hits]

    assert shown() == ["The [redacted:rule] ledger uses WAL mode"]
    ask(rig, "remember", text="The nightjar and the heron sleep by day", **here)
    talk = transcript(project, [("Where does the heron nest?", "With the nightjar, up high.")])
    ask(rig, "backfill", path=str(talk), paths=[str(talk)])
    elsewhere = ask(
        rig, "remember", text="A heron stands in the global shallows", **{"global": True}
    )
    assert "heron" in elsewhere["text"]
    problems = ask(rig, "doctor")["privacy"]["problems"]
    assert len(problems) == 1 and problems[0].startswith(f"{user}:3: ")
    rig.daemon.stop()
    stored = b"".join(data.lower() for _, data in rows(rig.home.root))
    assert b"sleep by day" in stored and b"up high" in stored
    assert b"heron nest" not in stored and b"the heron sleep" not in stored
    assert b"nightjar, up" not in stored and b"nightjar and" not in stored


def test_settings_choose_the_personal_data(rig: Rig) -> None:
    """What `redact_personal` names goes, from the first request on, and nothing else of its kind."""
    rig.configure(redact_personal=["email"])
    told = "mail a.b@example.org, account DE89 3704 0044 0532 0130 00"
    kept = ask(rig, "remember", **{"text": told, "global": True})
    assert kept["text"] == "mail [redacted:email], account DE89 3704 0044 0532 0130 00"
