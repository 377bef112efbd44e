"""What memory says to a search: where it names what is looked for, once, little, and never in the way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from fakes_embed import FakeEmbedder
from service_house import ServiceHouse, captured_of
from work import Session

from vector_memory import redact
from vector_memory.daemon.events import Events
from vector_memory.model import WORLD, Memory, Origin, Source
from vector_memory.service.tools import dispatch, file_changes, search_advice
from vector_memory.text import fence

TEXT = "We decided that parse_ledger_line in src/ledger.py strips the byte order mark, because exports have one."
SEARCH = "grep -rn parse_ledger_line src"


class Searching:
    """A project with a memory, and a session that searches it."""

    def __init__(self, house: ServiceHouse, folder: Path) -> None:
        self.house = house
        self.project = folder / "ledger"
        (self.project / "src").mkdir(parents=True)
        self.file = self.project / "src" / "ledger.py"
        self.file.write_text("x = 1\n")
        self.touch(datetime(2026, 5, 1, tzinfo=timezone.utc))
        self.events = Events(house.ctx, lambda work: work())  # type: ignore[func-returns-value]
        self.prompt("Look into the ledger.")

    def touch(self, at: datetime) -> None:
        os.utime(self.file, (at.timestamp(),) * 2)

    def set(self, **settings: Any) -> None:
        self.house.ctx.settings = replace(self.house.ctx.settings, **settings)

    def remember(self, text: str = TEXT, **more: Any) -> str:
        more = {"kind": "decision", **more}
        return str(self.house.remember(text, self.project, **more)["id"])

    def remember_all(self, texts: Iterable[str], kind: str = "decision") -> None:
        self.house.remember_all(texts, self.project, kind=kind)

    def say(self, id: str, session: str, text: str) -> None:
        """Let a session decide something two days later."""
        self.house.pass_time(days=2)
        place = self.house.ctx.place(str(self.project))
        made = Memory(
            id * 32, redact.clean(text).text, self.house.time, kind="decision", project=place.id
        )
        journal = self.house.ctx.shelf_of(place).journal
        journal.add([replace(made, source=Source(session=session))])
        self.house.follow()

    def prompt(self, text: str, session: str = "s") -> None:
        self.hook("UserPromptSubmit", session, prompt=text)

    def hook(self, event: str, session: str, **more: Any) -> dict[str, Any]:
        """Return what a hook prints, {} for nothing."""
        self.house.pass_time(seconds=3)
        message = {
            "session_id": session, "cwd": str(self.project), "hook_event_name": event,
            "transcript_path": "", "prompt_id": str(self.house.time), **more,
        }  # fmt: skip
        body = str(self.project).encode() + b"\0" + json.dumps(message).encode()
        printed = self.events.answer(event, body)
        return dict(json.loads(printed)["hookSpecificOutput"]) if printed else {}

    def search(self, line: str = SEARCH, session: str = "s", **more: Any) -> dict[str, Any]:
        given = {"tool_name": "Bash", "tool_input": {"command": line}, **more}
        return self.hook("PreToolUse", session, **given)

    def said(self, line: str = SEARCH, session: str = "s", **more: Any) -> str:
        return str(self.search(line, session, **more).get("additionalContext", ""))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Searching]:
    """A project whose sessions search."""
    house = ServiceHouse(tmp_path)
    made = Searching(house, tmp_path)
    yield made
    failed = house.ctx.state.counters().get("facade_failed", 0)
    house.close()
    assert not failed


def test_a_search_brings_what_names_it(here: Searching) -> None:
    """Fenced, dated, with its file, within the budget."""
    here.remember()
    said = here.said()
    assert "strips the byte order mark" in said
    assert "2026-05-03 · decision · ledger" in said
    assert "src/ledger.py" in said.split("\n")[3]
    assert said.startswith("<vector-memory mark=")
    assert fence.tokens(said) <= here.house.ctx.settings.facade_tokens
    assert here.house.ctx.state.counters()["facade_spoke"] == 1


@pytest.mark.parametrize(
    "line",
    ["grep -rn parse_other_line src", "grep -rn TODO src", "ps | grep parse_ledger_line", "make test",
     "grep -rn parse_ledger_line /var/log", "grep -rn parse_ledger_line docs", "grep -rn ledger src"],
)  # fmt: skip
def test_silence(here: Searching, line: str) -> None:
    """For other names, for what says nothing, for what is no search, elsewhere, in another folder."""
    here.remember()
    assert here.search(line) == {}


@pytest.mark.parametrize(
    "call",
    [
        {"tool_name": "Grep", "tool_input": {"pattern": "def parse_ledger_line"}},
        {"tool_name": "Glob", "tool_input": {"pattern": "**/ledger.py"}},
        {"tool_name": "Bash", "tool_input": {"command": "cd src && rg 'parse_ledger_line|x_y'"}},
        {"tool_name": "Bash", "tool_input": {"command": "find . -name 'ledger*.py'"}},
        {"tool_name": "Bash", "tool_input": {"command": "grep -rn 'decided.*strips' ."}},
    ],
)
def test_every_kind_of_search_is_heard(here: Searching, call: dict[str, Any]) -> None:
    """By name, by file, by words."""
    here.remember()
    assert "byte order mark" in here.hook("PreToolUse", "s", **call).get("additionalContext", "")


def test_a_question_about_a_name_says_nothing_of_it(here: Searching) -> None:
    """Nor does a passage of a turn that edited a file say that the name is there."""
    text = "User: parse_ledger_line is slow, can you see why?"
    id = here.remember(text)
    shelf = here.house.ctx.global_shelf()
    stored = shelf.journal.by_ids([id])[id]
    shelf.journal.update(replace(stored, kind="exchange", files=("src/ledger.py",)))
    assert not here.said("rg parse_ledger_line")
    assert not here.said("rg parse_ledger_line src")


@pytest.mark.parametrize("kind", ["decision", "solution", "problem", "conclusion", "fact"])
def test_what_was_said_of_a_name_needs_no_file(here: Searching, kind: str) -> None:
    """A consumer group, a queue, a flag lie in no file; talk of one does not do."""
    here.remember(
        "The consumer group audit-tail starts at the oldest offset of billing.", kind=kind
    )
    assert "oldest offset" in here.said("grep -rn audit-tail .")
    assert "oldest offset" in here.said("grep -rn audit-tail src", session="other")
    assert not here.said("grep -rn audit-head .")


def test_a_memory_is_about_the_names_of_its_files(here: Searching) -> None:
    """Where a log of a test was read, what was found out is about the test."""
    text = "Both failures have one cause: the rewind moves the branch and leaves the working tree."
    log = "logs/run-7/test_rewind_twice-old/console.log"
    here.remember(text, kind="cause", files=[log])
    assert "one cause" in here.said("grep -rn 'def test_rewind_twice' tests logs")
    assert not here.said("grep -rn 'def test_rewind_thrice' tests logs")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Class Reconciler is the only writer of the totals, because two writers raced.", "grep -rn Reconciler ."),
        ("The totals have one writer, the Reconciler, because two writers raced.", "rg 'Reconciler\\b'"),
        ("The daemon `billingd` runs on one host only, because it holds a lock.", "rg -w billingd"),
        ("We hash passwords with argon2id, because reviewers asked for it.", "grep -rn argon2id ."),
        ("The backup runs on node2 at night, because its disk is larger.", "grep -rni node2 ."),
        ("The cookie 'sid' lives for one day, because of the auditors.", "grep -rn sid src"),
        ("Prometheus scrapes the gateway every minute, because its disk is small.", "grep -rn Prometheus ."),
        ("The import takes --dry-run first, because it once deleted rows.", "grep -rn -e '--dry-run' ."),
        ("The job nightly-reconcile runs at three, because backups end at two.", "find . -name '*nightly-reconcile*'"),
        ("The group audit-tail reads from the oldest offset, because of billing.", "grep -rn group.id=audit-tail ."),
        ("The group audit-tail reads from the oldest offset, because of billing.", "grep -rn audit.tail ."),
        ("The group audit-tail reads from the oldest offset, because of billing.",
         'for n in other-group audit-tail; do grep -rn "$n" src; done'),
        ("The class Reconciler alone writes totals, because two writers raced.", 'X=Reconciler; grep -rn "$X" .'),
    ],
)  # fmt: skip
def test_one_word_is_a_name_by_how_it_stands(here: Searching, text: str, line: str) -> None:
    """With a capital, a digit, in quotes, as an option, or as what the sentence is about; in talk it is a word."""
    if "audit-tail" not in text:
        here.remember(f"User: {text}", kind="exchange")
        assert not here.said(line)
    here.remember(text)
    assert "because" in here.said(line, session="other")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("We reconcile the totals at night, because backups end at two.", "grep -rn reconcile ."),
        ("Errors of the import are kept for a day, because of audits.", "grep -rn errors ."),
        ("The nightly import of billing takes an hour, because its disk is slow.", "grep -rn billing ."),
    ],
)  # fmt: skip
def test_a_plain_word_is_no_name(here: Searching, text: str, line: str) -> None:
    """Nor is one that stands in every project."""
    here.remember(text)
    assert not here.said(line)


@pytest.mark.parametrize("kind", ["exchange", "todo"])
def test_talk_of_a_name_says_where_or_a_lot(here: Searching, kind: str) -> None:
    """Where is beside the name, or shortly before it, as a list stands under its heading. A lot is a sentence of half
    of what is searched for; what is announced says nothing."""
    here.remember(
        "Assistant: Let me look where the consumer group audit-tail starts reading today.",
        kind=kind,
    )
    here.remember("The group audit-tail starts at once.", kind=kind)
    assert not here.said("grep -rn audit-tail .")
    here.remember("What stands in src/ledger.py:\n- audit-tail starts early", kind=kind)
    assert "src/ledger.py" in here.said("rg audit-tail .")
    here.remember(
        "The consumer group audit-head starts at the oldest offset of billing.", kind=kind
    )
    assert not here.said("rg 'audit-head|audit_end|audit_stop' .")
    assert "oldest offset" in here.said("rg audit-head .")


def test_what_everything_is_about_says_nothing(here: Searching) -> None:
    """Of a name that many memories have, a conclusion is one of many; a decision is not."""
    many = range(search_advice.MOST_NAMING)
    runs = (f"Run {n} of audit-tail took {n} seconds on the small machine." for n in many)
    here.remember_all(runs, "exchange")
    here.remember(
        "The group audit-tail is slow because of its many small batches.", kind="conclusion"
    )
    assert not here.said("grep -rn audit-tail .")
    here.remember(
        "We decided that the group audit-tail reads from the oldest offset.", kind="decision"
    )
    assert "oldest offset" in here.said("grep -rn audit-tail src")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("journal.entry_of", ["grep -rn entry_of src", "rg 'def entry_of'", "grep -rn journal.entry_of src"]),
        ("Shop.Ledger.post_entry", ["grep -rn post_entry src", "grep -rn Ledger.post_entry lib"]),
        ("ledger::post_entry", ["rg 'fn post_entry'"]),
        ("IClockSource", ["grep -rn IClockSource src", "rg 'interface IClockSource'"]),
    ],
)  # fmt: skip
def test_a_name_is_found_within_another_and_in_any_style(
    here: Searching, name: str, lines: list[str]
) -> None:
    """Also where all of its words stand in many memories, and none of them is the one that is meant."""
    many = range(search_advice.MOST_CANDIDATES + 5)
    here.remember_all(f"Post {n} may load an entry for the clock's source: {n}." for n in many)
    here.remember(f"We decided that {name} reads twice, because the first read may be torn.")
    for number, line in enumerate(lines):
        assert "may be torn" in here.said(line, session=f"s{number}")
    for line in ("grep -rn entry_by .", "grep -rn post_entries .", "grep -rn Shop.post_entry ."):
        assert not here.said(line, session="other")


def test_only_memories_that_have_the_name_are_read_whole(here: Searching) -> None:
    """Others are looked at by their letters: there may be hundreds that have one of its words, and a search waits."""
    many = range(search_advice.MOST_CANDIDATES + 5)
    here.remember_all(f"Post {n} may load an entry for the clock's source: {n}." for n in many)
    here.remember(
        "We decided that journal.entry_of reads twice, because the first read may be torn."
    )
    journal, whole = here.house.ctx.global_shelf().journal, []
    by_seqs = journal.by_seqs

    def counted(seqs: Sequence[int], *given: Any) -> Any:
        whole.append(len(seqs))
        return by_seqs(seqs, *given)

    journal.by_seqs = counted  # type: ignore[method-assign]
    assert "may be torn" in here.said("grep -rn entry_of src")
    assert max(whole) <= search_advice.MOST_LIKE
    # Titles, texts and files, in the order that is asked for; of unknown ones nothing.
    (last, letters), (first, _) = journal.letters([journal.last_seq(), 9_999, 1])
    assert (last, first) == (journal.last_seq(), 1)
    assert "may be torn" in letters


def test_what_many_memories_name_within_another_is_what_the_project_is_about(
    here: Searching,
) -> None:
    """As where they name it alone."""
    many = range(search_advice.MOST_NAMING)
    here.remember_all(
        (f"Run {n} of journal.entry_of took {n} seconds." for n in many), "conclusion"
    )
    assert not here.said("grep -rn entry_of .")


def test_a_word_that_many_memories_have_is_no_name(here: Searching) -> None:
    """Not even where a decision begins with it."""
    many = range(search_advice.MOST_NAMING)
    asked = (f"User: how long did the reconciler take in run {n}?" for n in many)
    here.remember_all(asked, "exchange")
    here.remember("The Reconciler is the only writer of the totals, because two writers raced.")
    assert not here.said("grep -rn Reconciler .")


class Reading(FakeEmbedder):
    """A model whose vocabulary has all words but these."""

    def has_word(self, word: str) -> bool:
        return word not in ("wkhtmltopdf", "ilogger", "load_it")


def test_what_is_no_word_is_a_name(tmp_path: Path) -> None:
    """A decision that has it speaks of it however it stands there; a word of the language it only has."""
    house = ServiceHouse(tmp_path, Reading)
    here = Searching(house, tmp_path)
    here.remember(
        "For invoices we change to Gotenberg on port 3000, and wkhtmltopdf is thrown out."
    )
    assert not here.said("grep -rn thrown .")
    assert "Gotenberg" in here.said("grep -rn wkhtmltopdf config")
    here.remember("We decided that ILogger is injected, because the tests read what is logged.")
    assert "is injected" in here.said("grep -rn ILogger src")
    here.remember("We decided that journal.load_it reads twice, because reads may be torn.")
    assert "may be torn" in here.said("grep -rn load_it src")
    house.close()


def test_a_word_that_is_a_name_somewhere_is_one(here: Searching) -> None:
    """In the same project it need not be quoted again."""
    here.remember("One pod for each task then, kill celery and its broker.")
    assert not here.said("grep -rn celery .")
    here.remember("User: `celery` hangs with long tasks, what else is there?", kind="exchange")
    assert "kill celery" in here.said("grep -rn celery src")
    assert "kill celery" in here.said("rg 'CeleryExecutor|celery' src", session="other")


def test_a_word_in_the_file_that_is_searched_counts_in_talk(here: Searching) -> None:
    """There a plain word needs to be no name."""
    here.remember(
        "Assistant: In src/ledger.py the rewrites come before all others, so that old links go on working for "
        "customers.",
        kind="exchange",
        files=["src/ledger.py"],
    )
    assert "before all others" in here.said("grep -n rewrites src/ledger.py")
    assert not here.said("grep -rn rewrites src", session="other")


def test_one_of_many_things_says_nothing(here: Searching) -> None:
    """Who goes through a project with a list of words looks for none of them."""
    here.remember("We decided that audit-tail reads from the oldest offset.", files=[])
    assert not here.said("rg 'audit-tail|retry_wait|flush_all|SKILL_DIR|load_it' .")
    assert "oldest offset" in here.said("rg 'audit-tail|retry_wait' .")


def test_what_was_done_says_nothing(here: Searching) -> None:
    """A line of commands in talk is no more than the search would show."""
    here.remember(
        "User: out with it\nDone: Bash: git rm -q src/audit_tail.py && run the whole suite of the audit_tail again; make",
        kind="exchange",
    )
    assert not here.said("grep -rn audit_tail src")


def test_what_a_later_session_said_comes_in_its_place(here: Searching) -> None:
    """Whether or not it names what is looked for."""
    here.say(
        "a",
        "s1",
        "The receipts of all customers lie on the share of the office, below /mnt/receipts.",
    )
    assert "on the share" in here.said("grep -rn /mnt/receipts .")
    here.say("b", "s2", "Nightly builds take longer since the cache went cold.")
    assert "on the share" in here.said("grep -rn /mnt/receipts .", session="s4")
    here.say(
        "c",
        "s3",
        "The receipts of all customers lie in the bucket, and no longer on the share of the office.",
    )
    said = here.said("grep -rn /mnt/receipts .", session="s5")
    assert "in the bucket" in said
    assert "below /mnt" not in said


def test_a_name_is_not_answered_with_what_was_said_of_another(here: Searching) -> None:
    """However much alike both are; what has the name too still comes in its place."""
    older = "We decided that ORDERS_TOPIC gets 12 partitions because four consumers share it."
    other = "We decided that REFUNDS_TOPIC gets 12 partitions because four consumers share it."
    newer = "We decided that ORDERS_TOPIC gets 24 partitions like REFUNDS_TOPIC, because consumers share it."  # fmt: skip
    search = "grep -rn ORDERS_TOPIC src"
    here.say("a", "s1", older)
    here.say("b", "s2", other)
    assert older in here.said(search, session="s4")
    here.say("c", "s3", newer)
    assert newer in here.said(search, session="s5")


def test_what_may_have_been_renamed_is_told_with_its_new_name(here: Searching) -> None:
    """The new one names what the old one does not, and says that it was otherwise."""
    older = "We decided that the shop signs its requests with SHOP_TOKEN because the bank wants it."
    newer = "We decided that the shop now signs its requests with SHOP_API_KEY because the bank wants it."
    here.say("a", "s1", older)
    here.say("b", "s2", newer)
    said = here.said("grep -rn SHOP_TOKEN src", session="s4")
    assert newer in said and older in said


def test_a_numbered_file_is_known_by_its_number(here: Searching) -> None:
    """A name that begins with a digit is one like any other."""
    here.remember("0007_split_orders.sql must stay as it is, since its checksum is stored in production.")  # fmt: skip
    for number, line in enumerate(("ls 0007*", "find . -name 0007_split_orders.sql")):
        said = here.said(line, session=f"t{number}")
        assert "checksum" in said and said.split("\n")[3].endswith(" · 0007_split_orders.sql")
    assert not here.said("ls 0008*", session="t9")


@pytest.mark.parametrize(
    ("later", "is_told"),
    [
        ("Always sign with a smartcard in the till from now on. SignHub out.", True),
        ("Always draw the receipts with one font from now on.", False),
        ("And how many tests does signhub have?", False),
    ],
)
def test_what_the_user_decided_of_it_since_comes_in_its_place(
    here: Searching, tmp_path: Path, later: str, is_told: bool
) -> None:
    """What he said then need not be like what he said before, nor name it in the same sentence."""
    said = ("We use `signhub` of the vendor from now on, the key stays on their side.", later)
    for number, prompt in enumerate(said):
        name = f"before{number}"
        made = Session(
            tmp_path, name, here.project, here.house.time - timedelta(days=8 - 3 * number)
        )
        made.ask(prompt).run("pytest").say("The tests pass.")
        captured_of(here.house.ctx, str(made.path), str(here.project), final=True)
    here.house.follow()
    told = here.said("grep -rn signhub src")
    assert ("smartcard in the till" in told) is is_told
    assert ("the key stays on their side" in told) is not is_told


def test_a_variable_of_the_line_is_read(here: Searching) -> None:
    """What the line itself gives it is what is searched for."""
    here.remember()
    assert here.said('X=parse_ledger_line; grep -rn "$X" src')
    assert not here.said('X=$(cat name); grep -rn "$X" src', session="other")
    loop = 'for n; do for m in other parse_ledger_line; do grep "$m" "$n.py" -r src; done; done'
    assert here.said(loop, session="other")


@pytest.mark.parametrize(
    "text",
    ["`parse_ledger_line`, `save_ledger_line`, `drop_ledger_line` in src/ledger.py",
     "| src/ledger.py | parse_ledger_line |", "parse_ledger_line(line, mark=None) # src/ledger.py:"],
)  # fmt: skip
def test_a_list_or_a_line_of_code_says_nothing(here: Searching, text: str) -> None:
    """The search would show as much."""
    here.remember(text, kind="conclusion")
    assert not here.said()


def test_nowhere_is_no_file(here: Searching) -> None:
    """Nor is what lies outside of the project."""
    here.remember(f"{TEXT[:-1]}; we ran it with its output to /dev/null and /etc/ledger.conf.")
    head = here.said().split("\n")[3]
    assert "src/ledger.py" in head
    assert "/dev/null" not in head
    assert "/etc" not in head


def test_what_every_project_has_says_nothing(here: Searching) -> None:
    """A memory about a README does not say where something is."""
    here.remember("parse_ledger_line is described in README.md.", kind="conclusion")
    assert not here.said("rg parse_ledger_line")


def test_nothing_twice(here: Searching) -> None:
    """Neither a memory nor a search, however it is written; another session is told anew."""
    here.remember()
    assert here.said()
    here.remember(
        "parse_ledger_line in src/ledger.py is slow for files of a gigabyte.", kind="conclusion"
    )
    assert not here.said("rg parse_ledger_line")
    assert not here.said("grep -rn 'byte order mark' .")
    assert here.said(session="other")


def test_a_subagent_is_told_for_itself(here: Searching) -> None:
    """It sees nothing of what its session saw."""
    here.remember()
    assert here.said()
    assert here.said(agent_id="a1")
    assert not here.said("rg parse_ledger_line", agent_id="a1")


def test_who_may_not_come(here: Searching) -> None:
    """What is held back, of a quiet collection, expired, of another project, a question, without a file."""
    ctx = here.house.ctx
    shelf = ctx.global_shelf()
    id = here.remember()
    stored = shelf.journal.by_ids([id])[id]
    past = here.house.time
    for other in (
        replace(stored, extra={"suspicion": {"score": 1.0, "reasons": [], "held": True}}),
        replace(stored, collection=WORLD),
        replace(stored, expires_at=past),
        replace(stored, confidence=0.1),
        replace(stored, kind="question"),
        replace(stored, project="elsewhere-000000000000"),
        replace(stored, source=replace(stored.source, session="s")),
    ):
        kept = shelf.journal.update(replace(other, seq=stored.seq))
        assert not here.said(), other
        stored = replace(stored, seq=kept.seq)
    shelf.journal.update(stored)
    assert here.said()


def test_its_own_session_after_a_compaction(here: Searching) -> None:
    """What the model no longer sees may come back."""
    id = here.remember()
    shelf = here.house.ctx.global_shelf()
    stored = shelf.journal.by_ids([id])[id]
    shelf.journal.update(replace(stored, source=replace(stored.source, session="s")))
    assert not here.said()
    here.hook("SessionStart", "s", source="compact")
    here.house.ctx.state.clear_shown("s")
    assert here.said()


def test_others_words_are_marked(here: Searching) -> None:
    """What a tool wrote is said to be another's."""
    id = here.remember()
    shelf = here.house.ctx.global_shelf()
    stored = shelf.journal.by_ids([id])[id]
    shelf.journal.update(replace(stored, origin=Origin.TOOL))
    assert fence.FOREIGN in here.said()


def test_an_excluded_project_gets_nothing(here: Searching) -> None:
    """Nor does anybody with the facade off."""
    here.remember()
    here.set(excluded_projects=(str(here.project),))
    assert here.search() == {}
    here.set(excluded_projects=(), facade="off")
    assert here.search() == {}


def test_a_budget_that_holds_nothing_is_silence(here: Searching) -> None:
    """A fence alone helps nobody."""
    here.remember()
    here.set(facade_tokens=60)
    assert here.search() == {}


def test_an_error_breaks_no_search(here: Searching, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted, and the search runs."""
    here.remember()

    def broken(*given: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(search_advice, "find", broken)
    ctx = here.house.ctx
    before = ctx.state.counters().get("facade_failed", 0)
    assert here.search() == {}
    assert ctx.state.counters()["facade_failed"] == before + 1
    ctx.count("facade_failed", -1)


# -- files that changed ---------------------------------------------------------------------------


def test_a_changed_file_is_said(here: Searching) -> None:
    """In the note's head."""
    here.remember()
    here.touch(datetime(2026, 5, 4, tzinfo=timezone.utc))
    assert "src/ledger.py has changed since" in here.said()


def test_what_its_own_turn_wrote_has_not_changed_since(here: Searching) -> None:
    """A turn that mends a file says so at its start: what counts is when the turn was over."""
    at = here.house.time
    transcript = here.project / "s1.jsonl"
    transcript.write_text("")
    os.utime(transcript, ((at + timedelta(minutes=20)).timestamp(),) * 2)
    source = Source(session="s1", path=str(transcript), turn=3, line_start=1, line_end=9)
    place = here.house.ctx.place(str(here.project))
    made = Memory(
        "a" * 32, redact.clean(TEXT).text, at, kind="decision", project=place.id, source=source
    )
    here.house.ctx.shelf_of(place).journal.add([made])
    here.touch(at + timedelta(minutes=10))
    said = here.said()
    assert "strips the byte order mark" in said
    assert "changed since" not in said
    here.touch(at + timedelta(minutes=30))
    assert "has changed since" in here.said(session="other")


def test_a_file_that_is_gone_is_said(here: Searching) -> None:
    """Where its folder is still there."""
    here.remember()
    here.file.unlink()
    assert "src/ledger.py is gone" in here.said()


def test_only_files_of_the_project_are_looked_at(tmp_path: Path) -> None:
    """Neither through a link, nor above it, nor more than a few."""
    root, outside = tmp_path / "p", tmp_path / "o"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    for path in (outside / "x.py", root / "a" / "y.py", *(root / f"f{n}.py" for n in range(6))):
        path.write_text("")
    (root / "link").symlink_to(outside)
    (root / "one.py").symlink_to(outside / "x.py")
    since = datetime(2020, 1, 1, tzinfo=timezone.utc)
    roots = [os.path.realpath(root)]

    def look(*files: str) -> dict[str, str]:
        return file_changes.file_states(files, roots, since)

    assert look("a/y.py") == {"a/y.py": file_changes.CHANGED}
    assert look(str(root / "a" / "y.py"))
    assert look("../o/x.py", str(outside / "x.py"), "link/x.py", "one.py") == {}
    assert look("a/none.py") == {"a/none.py": file_changes.GONE}
    assert look("none.py", "b/none.py", "", "x\0y", "z" * 600) == {}
    assert len(look(*(f"f{n}.py" for n in range(6)))) == file_changes.MOST_FILES


# -- in a search's place --------------------------------------------------------------------------


@pytest.fixture
def serving(here: Searching) -> Searching:
    """A session whose searches may be answered from memory."""
    here.remember()
    here.set(facade="serve")
    return here


def test_serve_answers_and_then_lets_it_run(serving: Searching) -> None:
    """The second time the search runs, and nothing is said."""
    first = serving.search()
    assert first["permissionDecision"] == "deny"
    assert "byte order mark" in first["permissionDecisionReason"]
    assert "Search again" in first["permissionDecisionReason"]
    assert serving.search() == {}


def beside(given: dict[str, Any]) -> bool:
    return (
        "byte order mark" in given.get("additionalContext", "")
        and "permissionDecision" not in given
    )


@pytest.mark.parametrize(
    "line",
    [f"{SEARCH} > out.txt", f"{SEARCH} && make", "grep -rn 'parse_ledger_line|save_other' src"],
)
def test_serve_only_what_is_wholly_known(serving: Searching, line: str) -> None:
    """A line that does more, or looks for more, runs, with memory beside it."""
    assert beside(serving.search(line))


def test_serve_no_subagent(serving: Searching) -> None:
    """Others had to give that up."""
    assert beside(serving.search(agent_id="a1"))


def test_serve_nothing_of_changed_files(serving: Searching) -> None:
    """Nor of files that cannot be seen."""
    serving.touch(datetime(2026, 5, 4, tzinfo=timezone.utc))
    assert beside(serving.search())
    serving.file.unlink()
    assert beside(serving.search(session="s") or {"additionalContext": "byte order mark"})


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "{project}/other.py"}),
        ("Write", {"file_path": "{project}/src/ledger.py"}),
        ("Bash", {"command": "echo x > src/new.py"}),
        ("Bash", {"command": "sed -i s/a/b/ src/ledger.py"}),
        ("Bash", {"command": "git checkout -- src"}),
    ],
)
def test_serve_nobody_who_edits(serving: Searching, tool: str, given: dict[str, str]) -> None:
    """Who edits needs the file as it is: in the turn of an edit no search is answered, and later none of
    what was edited."""
    given = {key: value.format(project=serving.project) for key, value in given.items()}
    assert serving.hook("PreToolUse", "s", tool_name=tool, tool_input=given) == {}
    assert beside(serving.search())


def test_serve_again_in_the_next_turn_elsewhere(serving: Searching) -> None:
    """An edit of another file is forgotten with its turn; one of what is searched is not."""
    path = str(serving.project / "other.py")
    serving.hook("PreToolUse", "s", tool_name="Edit", tool_input={"file_path": path})
    serving.prompt("go on")
    assert serving.search()["permissionDecision"] == "deny"
    path = str(serving.file)
    serving.hook("PreToolUse", "t", tool_name="Edit", tool_input={"file_path": path})
    serving.prompt("go on", "t")
    assert beside(serving.search(session="t"))


def test_serve_only_in_a_turn_that_was_seen(serving: Searching) -> None:
    """A daemon that came up in its midst does not know what was edited."""
    assert beside(serving.search(session="unseen"))


def test_serve_no_mere_talk(serving: Searching) -> None:
    """A passage names it, but nobody decided anything there."""
    shelf = serving.house.ctx.global_shelf()
    for memory in list(shelf.journal.by_seqs(range(1, 9)).values()):
        shelf.journal.update(replace(memory, kind="exchange"))
    assert beside(serving.search())


def test_what_hooks_are_asked(tmp_path: Path) -> None:
    """Serving needs to know of edits, whether or not somebody observes."""
    from vector_memory.config import Settings

    path = tmp_path / "tools"
    dispatch.publish_wishes(str(path), replace(Settings(), facade="serve", observer="off"))
    assert path.read_text().split() == ["search", "watch", "errors"]
    nothing = replace(Settings(), facade="off", observer="off", recall_on_failure=False)
    dispatch.publish_wishes(str(path), nothing)
    assert not path.read_text()
