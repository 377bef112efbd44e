"""However a transcript comes to be read, the store ends with what one reading of the whole gives."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from service_house import Listener, ServiceHouse, captured_of, door, exported
from transcript_samples import Talk

from vector_memory.model import EXTRACTION_MARK
from vector_memory.service.capture import backfill, find_ideas, store_session

Stored = dict[str, str]
LONG = "The importer keeps its offsets in a table of their own, since two of them may run at once. "


def stored(house: ServiceHouse) -> Stored:
    """Return the texts by external id of all memories that were read; topics are made of them."""
    everything = exported(house.ctx, {"all_projects": True})
    found = [one for one in everything if one["external_id"]]
    assert len({one["external_id"] for one in found}) == len(found)
    return {one["external_id"]: one["text"] for one in found}


def session() -> Talk:
    """Return a session with everything in it that clients write."""
    talk = Talk(cwd="/nowhere/app")
    talk.user(
        "Which journal mode does the ledger use? <system-reminder>Be brief.</system-reminder>"
    )
    talk.raw({"type": "file-history-snapshot", "messageId": "x"})
    talk.say("WAL, since readers never block the writer. " + LONG * 3)
    talk.call("Bash", "t1", command="make check")
    talk.result("Exit code 2\nmake: *** no rule", "t1", failed=True)
    talk.say("The rule is missing; it belongs into the root Makefile. " + LONG * 8)
    talk.raw({"type": "attachment", "attachment": {"type": "hook_additional_context"}})
    talk.user(
        [{"type": "image", "source": {"data": "x" * 200}}, {"type": "text", "text": "And é?"}]
    )
    talk.say("Names are normalised to NFC before they are compared. 😀 " + LONG * 2)
    talk.raw({"type": "system", "subtype": "compact_boundary", "content": "Compacted"})
    talk.user("This session is being continued …", isCompactSummary=True)
    talk.say("I go on with the importer. " + LONG * 5)
    side = {"isSidechain": True, "agentId": "A", "parentUuid": None}
    talk.add("user", "Find where offsets are written.", **side)
    talk.add("assistant", "In store/offsets.py, by the writer thread alone.", **side)
    talk.user("Thanks, commit it now and note why offsets are apart")
    talk.raw({"type": "unknown-block", "payload": [1, 2]})
    talk.say("Committed, with the reason in the message. " + LONG)
    return talk


def rolled_back() -> list[str]:
    """Return the lines of a rollout in which a decision is taken back, and another one made."""
    told = [
        ("session_meta", {"id": "c1", "cwd": "/nowhere/codex"}),
        ("user_message", {"message": "Why does the deploy hang?"}),
        ("agent_message", {"message": "The lock is never released."}),
        (
            "user_message",
            {"message": "We decided to move billing to Stripe because it is fast."},
        ),
        ("agent_message", {"message": "Moved billing to Stripe in billing/pay.py."}),
        ("thread_rolled_back", {"num_turns": 1}),
        ("user_message", {"message": "We decided to keep the bank because Stripe costs 3 %."}),
        ("agent_message", {"message": "Kept the bank in billing/pay.py."}),
    ]
    return [
        json.dumps(
            {
                "timestamp": f"2026-05-03T10:0{n}:00Z",
                "type": kind if kind == "session_meta" else "event_msg",
                "payload": {"type": kind, **payload},
            }
        )
        for n, (kind, payload) in enumerate(told)
    ]


def once(tmp_path: Path, text: bytes) -> Stored:
    """Return what one reading of a whole transcript stores."""
    house = ServiceHouse(tmp_path / "once")
    path = tmp_path / "once" / "s1.jsonl"
    path.write_bytes(text)
    captured_of(house.ctx, str(path), final=True)
    found = stored(house)
    house.close()
    return found


def test_every_growth_stage(house: ServiceHouse, tmp_path: Path) -> None:
    """Indexed at every line's end and in the middle of every line, final or not."""
    text = session().text().encode()
    path = tmp_path / "s1.jsonl"
    chance = random.Random(1)
    ends = [at + 1 for at, byte in enumerate(text) if byte == 10]
    for end in sorted({*ends, *(chance.randrange(len(text)) for _ in range(60))}):
        path.write_bytes(text[:end])
        captured_of(house.ctx, str(path), final=chance.random() < 0.3)
    captured_of(house.ctx, str(path), final=True)
    assert stored(house) == once(tmp_path, text)


@pytest.mark.parametrize("seed", range(8))
def test_copies_in_any_order(house: ServiceHouse, tmp_path: Path, seed: int) -> None:
    """Forks taken anywhere, read in any order and repeatedly, with and without their cursors."""
    lines = session().text().encode().splitlines(keepends=True)
    chance = random.Random(seed)
    paths = []
    for number in range(5):
        path = tmp_path / f"fork{number}.jsonl"
        path.write_bytes(
            b"".join(lines[: len(lines) if number == 0 else chance.randrange(1, len(lines))])
        )
        paths.append(str(path))
    for path in chance.choices(paths, k=12) + paths[:1]:
        if chance.random() < 0.3:
            house.ctx.state.set_cursor(os.path.realpath(path), {})
        captured_of(house.ctx, path, final=chance.random() < 0.5)
    captured_of(house.ctx, paths[0], final=True)
    assert stored(house) == once(tmp_path, b"".join(lines))


def test_a_fork_in_another_folder_is_known(house: ServiceHouse, tmp_path: Path) -> None:
    """A copy whose lines name another folder adds nothing, nor does a session that changed folders."""
    talk = session()
    path, copy = tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"
    talk.write(path)
    captured_of(house.ctx, str(path), "/nowhere/app", final=True)
    before = stored(house)
    for line in talk.lines:
        line.update(cwd="/nowhere/other", sessionId="s2")
    talk.write(copy)
    assert captured_of(house.ctx, str(copy), final=True).stored == 0
    assert stored(house) == before


def test_a_session_belongs_to_the_folder_it_began_in(house: ServiceHouse, tmp_path: Path) -> None:
    """`cd` in a session does not move what is said after it, whichever hook or backfill reads it."""
    talk = session()
    for line in talk.lines[4:]:
        line["cwd"] = "/nowhere/app/deep/below"
    captured_of(house.ctx, talk.write(tmp_path / "s1.jsonl"), final=True)
    roots = {one["project"] for one in exported(house.ctx, {"all_projects": True})}
    assert roots == {"/nowhere/app"}


@pytest.mark.parametrize("keep", [0.2, 0.6])
def test_truncated_and_restored(house: ServiceHouse, tmp_path: Path, keep: float) -> None:
    """A file that is cut and grows again loses nothing and doubles nothing."""
    text = session().text().encode()
    path = tmp_path / "s1.jsonl"
    for part in (text, text[: int(len(text) * keep)], b"", text):
        path.write_bytes(part)
        captured_of(house.ctx, str(path), final=True)
    assert stored(house) == once(tmp_path, text)


def test_passages_that_an_exchange_has_no_longer_go(house: ServiceHouse, tmp_path: Path) -> None:
    """A rewritten exchange leaves nothing of its old words, in the journal or in the index."""
    talk = Talk()
    talk.user("How are offsets kept?")
    talk.say(LONG * 12)
    path = talk.write(tmp_path / "s1.jsonl")
    captured_of(house.ctx, path, final=True)
    house.follow()
    assert len(stored(house)) > 2
    shelf = house.ctx.global_shelf()
    talk.lines[1]["message"]["content"] = "In one file per importer, written aside and renamed."
    talk.write(tmp_path / "s1.jsonl")
    captured_of(house.ctx, path, final=True)
    house.follow()
    (text,) = [one for name, one in stored(house).items() if not name.startswith("idea:")]
    assert text.endswith("In one file per importer, written aside and renamed.")
    assert shelf.index is not None
    assert shelf.index.rows() == shelf.journal.count()


def test_glued_broken_and_giant_lines(house: ServiceHouse, tmp_path: Path) -> None:
    """Lines without an end between them, cut ones and ones of megabytes cost no other line."""
    lines = session().text().encode().splitlines(keepends=True)
    giant = json.dumps({"type": "user", "message": {"content": "x" * 9_000_000}}).encode() + b"\n"
    image = json.dumps(
        {"type": "attachment", "attachment": {"data": "A" * 3_000_000}, "uuid": "i"}
    ).encode()
    damaged = [giant, b"\n\n", lines[0].strip(), *lines[1:4], lines[4][:40] + b"\n", *lines[4:9],
               image + b"\n", *(line.strip() for line in lines[9:12]), b"\n", *lines[12:]]  # fmt: skip
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"".join(damaged))
    captured_of(house.ctx, str(path), final=True)
    assert stored(house) == once(tmp_path, b"".join(lines))


def test_own_sessions_and_injections_are_no_memory(house: ServiceHouse, tmp_path: Path) -> None:
    """Sessions that a model was asked in, what we injected, and reminders bring nothing."""
    talk = Talk()
    talk.user(f"{EXTRACTION_MARK}>\nFind ideas in: The ledger uses WAL, always.")
    talk.say('[{"text": "The ledger uses WAL because readers never block."}]')
    talk.write(tmp_path / "own.jsonl")
    other = Talk("s2")
    other.user("<vector-memory mark='x'>We decided to use Postgres.</vector-memory>")
    other.user("<system-reminder>Always use tabs.</system-reminder>", isMeta=True)
    other.write(tmp_path / "injected.jsonl")
    for name in ("own", "injected"):
        captured_of(house.ctx, str(tmp_path / f"{name}.jsonl"), final=True)
    assert stored(house) == {}


def test_a_session_that_starts_in_the_middle(house: ServiceHouse, tmp_path: Path) -> None:
    """An answer whose prompt is in no file is kept, once."""
    text = b"".join(session().text().encode().splitlines(keepends=True)[2:])
    path = tmp_path / "s1.jsonl"
    for end in range(1, len(text), 900):
        path.write_bytes(text[:end])
        captured_of(house.ctx, str(path))
    path.write_bytes(text)
    captured_of(house.ctx, str(path), final=True)
    assert stored(house) == once(tmp_path, text)
    assert any("readers never block" in one for one in stored(house).values())


def test_much_is_read_in_a_process_of_its_own(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same outcome, last words included; a file that is gone is an error as ever."""
    monkeypatch.setattr(store_session, "FAR_BYTES", 0)
    text = session().text().encode()
    path = tmp_path / "s1.jsonl"
    path.write_bytes(text[: len(text) // 2])
    captured_of(house.ctx, str(path), last_message="Names are normalised.")
    path.write_bytes(text)
    captured_of(house.ctx, str(path), final=True)
    monkeypatch.undo()
    assert stored(house) == once(tmp_path, text)
    with pytest.raises(OSError, match="gone"):
        captured_of(house.ctx, str(tmp_path / "gone.jsonl"))


def test_many_at_once(house: ServiceHouse, tmp_path: Path) -> None:
    """Hooks and two backfills read the same files at the same moment: nothing fails or doubles."""
    folder = tmp_path / "projects"
    folder.mkdir()
    text = session().text()
    for number in range(6):
        (folder / f"s{number}.jsonl").write_text(text.replace("s1", f"s{number}"))
    failed: list[BaseException] = []

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    def fill() -> None:
        request = {"paths": [str(folder)]}
        assert not door(house.ctx, "backfill", request)["errors"]

    def hooks() -> None:
        for path in sorted(folder.iterdir()):
            captured_of(house.ctx, str(path))

    threads = [threading.Thread(target=guarded, args=[work]) for work in (fill, fill, hooks, hooks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    # While a backfill goes on ideas wait; the keeper finds them when it is quiet.
    find_ideas.find_all(house.ctx)
    expected = {}
    for number in range(6):
        expected.update(once(tmp_path / str(number), text.replace("s1", f"s{number}").encode()))
    assert stored(house) == expected


class TestBackfill:
    """The use case behind the verb."""

    def fill(self, house: ServiceHouse, **request: Any) -> dict[str, Any]:
        """Backfill and return the answer."""
        return door(house.ctx, "backfill", request)

    def test_everything_of_both_clients(self, house: ServiceHouse, tmp_path: Path) -> None:
        """`all` reads Claude Code's projects and Codex's rollouts, where the caller keeps them."""
        claude, codex = tmp_path / "claude", tmp_path / "codex"
        (claude / "projects" / "-app" / "s1" / "subagents").mkdir(parents=True)
        (codex / "sessions" / "2026").mkdir(parents=True)
        session().write(claude / "projects" / "-app" / "s1.jsonl")
        agent = Talk("s1", isSidechain=True, agentId="B")
        agent.user("Look for the retry limit.")
        agent.say("The retry limit is five, in net/retry.py, and nothing reads it.")
        agent.lines = [{**line, "uuid": f"b-{line['uuid']}"} for line in agent.lines]
        agent.write(claude / "projects" / "-app" / "s1" / "subagents" / "agent-B.jsonl")
        rollout = [
            ("session_meta", {"id": "c1", "cwd": "/nowhere/codex"}),
            ("event_msg", {"type": "user_message", "message": "Why does the deploy hang?"}),
            ("event_msg", {"type": "agent_message", "message": "The lock is never released."}),
        ]
        (codex / "sessions" / "2026" / "rollout-1.jsonl").write_text(
            "".join(
                json.dumps({"timestamp": "2026-05-03T10:00:00Z", "type": kind, "payload": payload})
                + "\n"
                for kind, payload in rollout
            )
        )
        for path in (*claude.rglob("*.jsonl"), *codex.rglob("*.jsonl")):
            os.utime(path, (0, 0))
        request = {"all": True, "claude_dir": str(claude), "codex_dir": str(codex)}
        done = self.fill(house, **request)
        assert (done["files"], done["sessions"], done["errors"]) == (3, 2, [])
        texts = " ".join(stored(house).values())
        assert "retry limit is five" in texts
        assert "lock is never released" in texts
        again = self.fill(house, **request)
        assert (again["stored"], done["known"], again["known"]) == (0, 0, 3)
        assert str(claude / "projects") in again["looked_in"]
        assert str(codex / "archived_sessions") in again["looked_in"]

    def test_a_rollout_is_read_on_in_its_session(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What a rollout tells in its first line alone still holds for what comes later."""
        path = tmp_path / "rollout.jsonl"
        lines = [
            json.dumps({"timestamp": f"2026-05-03T10:00:0{n}Z", "type": kind, "payload": payload})
            for n, (kind, payload) in enumerate(
                [
                    ("session_meta", {"id": "c1", "cwd": "/nowhere/codex"}),
                    ("event_msg", {"type": "user_message", "message": "Why does it hang?"}),
                    ("event_msg", {"type": "agent_message", "message": "A lock is kept."}),
                    ("event_msg", {"type": "user_message", "message": "And how to free it?"}),
                    ("event_msg", {"type": "agent_message", "message": "In a finally block."}),
                ]
            )
        ]
        for end in range(1, len(lines) + 1):
            path.write_text("\n".join(lines[:end]) + "\n")
            captured_of(house.ctx, str(path))
        captured_of(house.ctx, str(path), final=True)
        assert stored(house) == once(tmp_path, path.read_bytes())
        found = exported(house.ctx, {"all_projects": True})
        assert {(one["session"], one["project"]) for one in found} == {("c1", "/nowhere/codex")}

    @pytest.mark.parametrize("read_before", [0, 5])
    def test_what_is_taken_back_is_not_kept(
        self, house: ServiceHouse, tmp_path: Path, read_before: int
    ) -> None:
        """What was stored before that stays: it may be the user's by now."""
        path, lines = tmp_path / "rollout.jsonl", rolled_back()
        for count in (read_before, len(lines)):
            path.write_text("".join(line + "\n" for line in lines[:count]))
            captured_of(house.ctx, str(path), final=count == len(lines))
        found = exported(house.ctx, {"all_projects": True})
        assert any("to Stripe" in one["text"] for one in found) == bool(read_before)
        assert any("lock is never released" in one["text"] for one in found)
        assert any(one["kind"] == "decision" and "the bank" in one["text"] for one in found)

    def test_a_picture_that_is_taken_back_takes_nothing_with_it(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """It is a turn without words: what was decided before it stays."""
        path, lines = tmp_path / "rollout.jsonl", rolled_back()
        lines[5:5] = [
            line.replace('"We decided to move billing to Stripe because it is fast."', '""')
            for line in lines[3:4]
        ]

        def read(count: int) -> set[str]:
            path.write_text("\n".join(lines[:count]) + "\n")
            captured_of(house.ctx, str(path), final=count == len(lines))
            return {one["text"] for one in exported(house.ctx, {"all_projects": True})}

        before = {text for text in read(6) if "to Stripe" in text}
        assert before and before <= read(len(lines))

    def test_a_session_that_goes_on_is_not_closed(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """A prompt without its answer waits where the file was just written or is the caller's."""
        talk = Talk()
        talk.user("Where do offsets live?")
        path = talk.write(tmp_path / "s1.jsonl")
        assert self.fill(house, paths=[path])["stored"] == 0
        old = time.time() - 3_600
        os.utime(path, (old, old))
        assert self.fill(house, paths=[path], session="s1")["stored"] == 0
        assert self.fill(house, paths=[path])["stored"] == 1

    def test_who_asked_goes_away(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What was read until then stays, and the next backfill brings the rest alone."""
        text = session().text()
        for number in range(backfill.BATCH_FILES * 3):
            (tmp_path / f"s{number}.jsonl").write_text(text.replace("s1", f"s{number}"))

        def gone(done: int, total: int, doing: str) -> None:
            raise BrokenPipeError

        with pytest.raises(BrokenPipeError):
            door(house.ctx, "backfill", {"paths": [str(tmp_path)]}, Listener(gone))
        before = len(stored(house))
        assert before > 0
        rest = self.fill(house, paths=[str(tmp_path)])
        assert rest["drafts"] > 0
        assert len(stored(house)) == before + rest["stored"]
        assert self.fill(house, paths=[str(tmp_path)])["drafts"] == 0
        told = [one for one in house.ctx.state.audit_entries(50) if one.action == "backfill"]
        whole = [entry.detail["whole"] for entry in told[:3]]
        assert whole == [True, True, False]

    def test_odd_files_are_told_each_time(self, house: ServiceHouse, tmp_path: Path) -> None:
        """By their path, once, and why."""
        session().write(tmp_path / "s1.jsonl")
        os.utime(tmp_path / "s1.jsonl", (0, 0))
        os.mkfifo(tmp_path / "odd.jsonl")
        for known in (0, 1):
            done = self.fill(house, paths=[str(tmp_path)])
            odd = {"file": str(tmp_path / "odd.jsonl"), "error": "is no regular file"}
            assert (done["errors"], done["files"], done["known"]) == ([odd], 1, known)

    def test_unreadable_files_are_told(
        self, house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that goes away between finding and reading it is an error of its own."""
        session().write(tmp_path / "s1.jsonl")
        paths = [str(tmp_path / "gone.jsonl"), str(tmp_path / "s1.jsonl")]
        monkeypatch.setattr(backfill, "transcripts_below", lambda root, refused: paths)
        done = self.fill(house, paths=[str(tmp_path)])
        assert [one["file"] for one in done["errors"]] == [paths[0]]
        assert done["files"] == 1
        assert done["stored"] > 0
