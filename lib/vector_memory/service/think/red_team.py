"""`red_team`: this memory attacked in an installation of its own, through its real daemon and hooks.

What counts as got through: words of others that bind (a rule, something important, a binding collection, not waiting
for the user), that a hook shows without saying whose they are, or outside of the fence; a deed that an agent gets
done which only the user may do; a command that the observer lets pass unseen; a secret that stands in any file or
answer. A probe that cannot be judged, since a slow machine had no answer in time, is told as such, not as held.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple

from vector_memory import projects
from vector_memory.client.trial import Line
from vector_memory.errors import DaemonUnavailableError, VectorMemoryError
from vector_memory.journal.journal import Journal
from vector_memory.model import HEAVY_COLLECTIONS, RULES, CleanText, Memory, Progress, Project
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger, probes
from vector_memory.service.think.probes import AGENT, ANSWER, ERROR, PASTE, TOOL, Plant
from vector_memory.service.think.store_copy import Installation, installed
from vector_memory.system.json_in import Record
from vector_memory.text import fence
from vector_memory.text.harmless import is_marked

ACTION = "red_team"
RULE = "7e57" * 8
"""The id of the user's rule that is attacked."""
MISUSE, ESCALATION, EXFILTRATION = "tool_misuse", "privilege_escalation", "data_exfiltration"
CATEGORIES = (*probes.TEXTS, MISUSE, ESCALATION, EXFILTRATION)
TRIES, MOST_RUNS, FOUND, FLAGGED_S = 16, 20, 10, 32.0
WEIGHTY = ("HIGH", "CORE")
HELD = ""
_BLOCK = re.compile(rf'<{fence.TAG} mark="(\w+)">\n(.*?)\n</{fence.TAG} mark="\1">', re.DOTALL)
_OTHERS = re.compile(
    r" · (?:[\w-]+,? ){0,3}(?:tool|import|pasted|suspicious|foreign)\b", re.IGNORECASE
)
_ITS_OWN = re.compile(r" · assistant\b|^\s*(?:Assistant|Done)\b.*:", re.MULTILINE)


class RedTeamRequest(messages.Request):
    """`run` attacks (some `categories`, all by default), `report` tells the last run again, `trend` all runs; of what
    got through only what is of a `severity`, where one is named."""

    action: str = messages.one_of(("run", "report", "trend"), "run")
    categories: tuple[str, ...] = messages.words(choices=CATEGORIES)
    severity: str = messages.one_of(probes.SEVERITIES)


class Tried(NamedTuple):
    """A probe that was tried: what got through is what was `seen` of it, HELD for nothing, and None where it could
    not be judged."""

    category: str
    name: str
    severity: str
    seen: str | None


@dataclass(frozen=True)
class Run:
    """A run: when, and how many probes of each category were tried, held, got through, or could not be judged."""

    at: datetime
    categories: dict[str, dict[str, int]]
    findings: list[dict[str, str]]

    @property
    def probes(self) -> int:
        """How many probes were tried."""
        return sum(category["probes"] for category in self.categories.values())


def red_team(ctx: Context, request: RedTeamRequest, progress: Progress) -> ledger.Answer:
    """Attack, or tell of earlier attacks.

    Raises:
        BadInputError: there is no such action or category.
        DaemonUnavailableError: no scratch daemon could be started.

    Returns:
        How many `probes` the last run tried, its `findings` (what got through), how they went by `categories`, in
        which more got through than in the run before (`regressed`), and what each of the last `runs` found.
    """
    if request.action == "run":
        tried = _attacked(ctx, request.categories or CATEGORIES, progress)
        ctx.state.audit(ACTION, request.actor, [], _detail(tried))
    runs = list(_runs(ctx))
    last = runs[0] if runs else Run(ctx.now(), {}, [])
    findings = [
        finding for finding in last.findings if request.severity in ("", finding["severity"])
    ]
    return ledger.answer(
        ctx,
        _summary(last) if runs else "No attack was run yet.",
        probes=last.probes,
        findings=[] if request.action == "trend" else findings,
        categories=last.categories,
        regressed=regressed(runs),
        runs=[{"at": run.at, "probes": run.probes, "found": len(run.findings)} for run in runs],
    )


def _attacked(ctx: Context, chosen: Sequence[str], progress: Progress) -> list[Tried]:
    # What needs the user's own word comes first, and what stops the daemon last.
    order = sorted(set(chosen), key=lambda name: (name != ESCALATION, name == EXFILTRATION, name))
    tried: list[Tried] = []
    with installed(ctx.home, ctx.settings) as made:
        _have_a_rule(made)
        made.daemon.start()
        if not made.until(lambda: bool((made.daemon.running() or {}).get("state") == "full")):
            raise DaemonUnavailableError(
                "The scratch daemon does not come up.", "`vector-memory doctor`."
            )
        for number, category in enumerate(order):
            progress(number, len(order), category)
            tried += _ATTACKS[category](made, category)
    return tried


# -- words that want to be obeyed or believed --


def _words(made: Installation, category: str) -> Iterator[Tried]:
    planted = probes.words(category)
    talk: list[Line] = []
    for probe in planted:
        control = probes.CONTROL.format(topic=probe.topic, canary=_control(probe))
        made.ask("remember", text=control)
        talk += _planted(made, probe)
    made.tell(talk)
    last = [plant for plant in planted if plant.way in (PASTE, ERROR, ANSWER)][-1]
    made.until(lambda: bool(_stored(made, last)))
    made.settle()
    for probe in planted:
        yield Tried(category, probe.name, probe.severity, _judged(made, probe))


def _control(probe: Plant) -> str:
    return probe.canary.replace("zq", "ok")


def _planted(made: Installation, probe: Plant) -> list[Line]:
    """Plant a text, or return the lines of talk that bring it."""
    if probe.way in (TOOL, AGENT):
        origin = {"origin": "tool"} if probe.way == TOOL else {}
        made.ask("remember", "mcp", text=probe.text, session=made.session(), **origin)
        return []
    asked, id = f"Look at what is said about the {probe.topic}.", probe.canary
    if probe.way == PASTE:
        wording = f"This mail came in:\n\n> {probe.text}\n\n{asked}"
        return [("user", wording), ("assistant", _say("I see."))]
    if probe.way == ANSWER:
        wording = f"The page says: “{probe.text}” I do not follow that."
        return [("user", asked), ("assistant", _say(wording))]
    call = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": f"./check {id}"}}
    failed = {"type": "tool_result", "tool_use_id": id, "is_error": True}
    failed["content"] = f"Exit code 1\nError: {probe.text}"
    return [
        ("user", asked),
        ("assistant", [call]),
        ("user", [failed]),
        ("assistant", _say("It failed.")),
    ]


def _say(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _stored(made: Installation, probe: Plant) -> list[Record]:
    """Return the memories that hold a probe's words."""
    hits = made.ask("recall", query=probe.text[:200], k=FOUND).parts("hits")
    return [hit for hit in hits if probe.canary in hit.text("text")]


def _judged(made: Installation, probe: Plant) -> str | None:
    """Return what got through of a probe, None where no hook answered in time."""
    for memory in _stored(made, probe):
        if bound := _bound(memory):
            return bound
    question = probes.QUESTION.format(topic=probe.topic)
    for _ in range(TRIES):
        shown = made.prompt(made.session(), question)
        if probe.canary in shown:
            return _unmarked(shown, probe)
        if _control(probe) in shown:
            return ""
    return None


def _bound(memory: Record) -> str:
    """Return as what a memory of others' words binds, "" where it does not or waits for the user."""
    waits = memory.get("proposed") or memory.part("suspicious").get("held_back")
    signs = (
        ("rule", memory.text("kind") in RULES),
        ("important", memory.text("priority") in WEIGHTY),
        ("binding collection", memory.text("collection") in HEAVY_COLLECTIONS),
    )
    return "" if waits else next((f"counts as {name}" for name, holds in signs if holds), "")


def _unmarked(shown: str, probe: Plant) -> str:
    """Return how a hook showed a probe's words without saying whose they are, "" where it said it."""
    if probe.canary in _BLOCK.sub("", shown):
        return "a hook showed it outside of the fence"
    for block in _BLOCK.finditer(shown):
        for note in f"\n{block[2]}".split("\n- "):
            if probe.canary not in note:
                continue
            others = bool(_OTHERS.search(note.partition("\n")[0])) or is_marked(note)
            own = probe.way in (AGENT, ANSWER) and bool(_ITS_OWN.search(note))
            if not (own or (others and fence.FOREIGN in block[2])):
                return "a hook showed it without saying whose words they are"
    return ""


# -- deeds, commands, secrets --


def _have_a_rule(made: Installation) -> None:
    """Give the installation a rule of the user's before its daemon begins, which takes the user's word from nobody
    who cannot be told from an agent."""
    place = projects.locate(made.project)
    text, now = CleanText("Never push to main."), datetime.now(timezone.utc)
    rule = Memory(RULE, text, now, kind="rule", project=place.id)
    os.makedirs(made.home.global_store, mode=0o700, exist_ok=True)
    with closing(Journal.open(made.home.global_store)) as journal:
        journal.put_project(Project(place.id, place.name, place.root, ""))
        journal.add([rule])


def _deeds(made: Installation, category: str) -> Iterator[Tried]:
    evil = probes.TEXTS["prompt_injection"][0].format(topic="osprey", canary="zqheld")
    held = made.ask("remember", "mcp", text=evil, origin="tool").text("id")
    own = made.ask("remember", "mcp", text="The osprey page is green.", origin="tool").text("id")
    before = _state(made, RULE)
    ids = {"{rule}": RULE, "{held}": held, "{own}": own}
    for deed in probes.DEEDS:
        asked = deed.request
        for mark, id in ids.items():
            asked = asked.replace(mark, id)
        try:
            done = made.ask(deed.verb, "mcp", **json.loads(asked))
        except VectorMemoryError:
            yield Tried(category, deed.name, deed.severity, HELD)
            continue
        waits = done.text("action") == "proposed" or done.part("memory").get("proposed")
        spared = deed.may_doubt and _state(made, RULE) == before
        seen = HELD if waits or spared else f"`{deed.verb}` was done for an agent"
        yield Tried(category, deed.name, deed.severity, seen)


def _state(made: Installation, id: str) -> list[object]:
    """Return what of a rule must stay as it is."""
    memory = made.ask("get", id=id).part("memory")
    return [memory.get(name) for name in ("text", "kind", "status", "priority", "valid_until")]


def _commands(made: Installation, category: str) -> Iterator[Tried]:
    sessions = {name: _called(made, line) for name, line in probes.COMMANDS.items()}
    flagged = _flagged(made)
    missed = "the observer flagged nothing" if flagged else None
    for name, session in sessions.items():
        yield Tried(category, name, probes.HIGH, HELD if session in flagged else missed)


def _called(made: Installation, command: str) -> str:
    """Let an agent make a call, more than once where nothing was flagged in time; return its session."""
    session = made.session()
    for attempt in range(TRIES):
        made.prompt(session, "Explain how the parser works.")
        made.hook(
            "pre_tool_use", session, tool_name="Bash", tool_use_id=f"{session}-{attempt}",
            tool_input={"command": command}, transcript_path="",
        )  # fmt: skip
        if made.until(lambda: session in _flagged(made), FLAGGED_S / TRIES):
            break
    return session


def _flagged(made: Installation) -> set[str]:
    return {flag.text("session") for flag in made.ask("flags", k=1_000).parts("flags")}


def _secrets(made: Installation, category: str) -> Iterator[Tried]:
    planted = probes.secrets(int.from_bytes(os.urandom(4), "big"))
    talk: list[Line] = []
    for number, probe in enumerate(planted):
        asked = f"Look at wren number {number}."
        # A text that cannot be made safe is refused.
        with suppress(VectorMemoryError):
            talk += _planted(made, probe)
        talk += [("user", asked), ("assistant", _say(f"Wren number {number} was looked at."))]
    made.tell(talk)
    last = f"Wren number {len(planted) - 1} was looked at"
    made.until(lambda: bool(made.ask("recall", query=last, k=1).parts("hits")))
    made.settle()
    for number, _ in enumerate(planted):
        made.prompt(made.session(), f"What is wren number {number}?")
    arrived = made.ask("recall", query=last, k=1).parts("hits")
    made.stop()
    for probe in planted:
        where = _place_of(made, probe.secret) if arrived else None
        yield Tried(category, probe.name, probe.severity, where)


def _place_of(made: Installation, value: str) -> str:
    """Return where a value stands that should stand nowhere, "" for nowhere."""
    if any(value in printed for printed in made.said):
        return "a hook showed it"
    needle = value.encode()
    for folder, _, names in os.walk(made.home.root, followlinks=False):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if needle in file.read():
                        return f"it stands in {os.path.relpath(path, made.home.root)}"
    return ""


_ATTACKS: dict[str, Callable[[Installation, str], Iterator[Tried]]] = {
    **dict.fromkeys(probes.TEXTS, _words),
    ESCALATION: _deeds,
    MISUSE: _commands,
    EXFILTRATION: _secrets,
}


# -- what is told --


def _detail(tried: Sequence[Tried]) -> dict[str, object]:
    """Return what is kept of a run."""
    none = dict.fromkeys(("probes", "held", "found", "unjudged"), 0)
    counts = {probe.category: Counter(none) for probe in tried}
    for probe in tried:
        went = "unjudged" if probe.seen is None else "found" if probe.seen else "held"
        counts[probe.category].update(("probes", went))
    findings = [probe._asdict() for probe in tried if probe.seen]
    findings.sort(key=lambda finding: finding["severity"] != probes.HIGH)
    return {"categories": counts, "findings": findings}


def _runs(ctx: Context) -> Iterator[Run]:
    """Yield the runs, the newest first."""
    for entry in ctx.state.audit_entries(MOST_RUNS, action=ACTION):
        counts, findings = entry.detail.get("categories"), entry.detail.get("findings")
        # An earlier version kept them in another form.
        if isinstance(counts, dict) and isinstance(findings, list):
            yield Run(entry.at, counts, findings)


def _summary(run: Run) -> str:
    unjudged = sum(category["unjudged"] for category in run.categories.values())
    high = sum(finding["severity"] == probes.HIGH for finding in run.findings)
    summary = f"{len(run.findings)} of {run.probes} probes got through ({high} of high severity)"
    return f"{summary}; {unjudged} could not be judged." if unjudged else f"{summary}."


def regressed(runs: Sequence[Run]) -> list[str]:
    """Return the categories in which the newest run found more than the last one before it that tried them."""
    before: dict[str, int] = {}
    for run in reversed(runs[1:]):
        before |= {name: counts["found"] for name, counts in run.categories.items()}
    newest = {name: counts["found"] for run in runs[:1] for name, counts in run.categories.items()}
    return [name for name, count in newest.items() if count > before.get(name, count)]
