"""`governance_report`, `governance_gap_analysis` and `compliance_dashboard`: what standards ask for, and what this installation can
show for it: figures of a period, each with how to ask for it again and a digest. The catalogue is `data/controls.toml`."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, cached_property

from vector_memory import tokens
from vector_memory.journal.audit import AuditEntry
from vector_memory.journal.job_rows import OK
from vector_memory.model import Memory, Scope, Sensitivity
from vector_memory.service.base import contracts, messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import each_of
from vector_memory.service.tools import flags
from vector_memory.text.tables import FOLDER
from vector_memory.trust import canonical

# -- what standards ask for --


FIRST_LINE = "Technical evidence of one installation of Vector Memory; no certificate, no audit and no legal advice."
MET, PARTLY, NONE, NOT_HERE = "met", "partly", "no evidence", "not measurable here"
WORTH = {MET: 1.0, PARTLY: 0.5, NONE: 0.0}
PURPOSE = "governance report"
PERIOD = timedelta(days=31)


@dataclass(frozen=True)
class Control:
    """What a standard asks for, in our own words, and what would speak for it."""

    id: str
    framework: str
    title: str
    weight: int = 1
    evidence: tuple[str, ...] = ()
    not_measurable: str = ""
    closes: str = ""


class ControlView(messages.Answer):
    """A control, how it stands (`MET`, `PARTLY`, `NONE` or `NOT_HERE`), and by what."""

    id: str
    title: str
    weight: int
    state: str
    reason: str
    closes: str
    evidence: list[Evidence]


class FrameworkView(messages.Answer):
    """A standard with its score: the weighted share of the measurable controls that are met, a control that is
    partly met counting half; None where none can be measured."""

    id: str
    name: str
    score: float | None
    measured: int
    not_measurable: int
    controls: list[ControlView]


class GovernanceRequest(messages.Request):
    """`since` when, by default 31 days ago; `framework` only one of them; `signed` with a signature."""

    since: datetime | None = messages.moment()
    framework: str = messages.word()
    signed: bool = messages.flag()


class ReportAnswer(messages.Answer):
    """What standards ask for and how it stands; `markdown` says it for people."""

    note: str
    since: str
    frameworks: list[FrameworkView]
    markdown: str
    key: str | None = messages.spare()
    signature: str | None = messages.spare()


class GapAnswer(messages.Answer):
    """The measurable controls that are not met, the weightiest first, each with what brings evidence."""

    note: str
    since: str
    gaps: list[ControlView]
    not_measurable: int


@cache
def catalogue() -> tuple[dict[str, str], list[Control]]:
    """Return the names of the standards by their ids, and their controls, in the order of the file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    with open(os.path.join(FOLDER, "controls.toml"), "rb") as file:
        document = tomllib.load(file)
    names = {framework["id"]: framework["name"] for framework in document["framework"]}
    controls = [
        Control(**{**control, "evidence": tuple(control.get("evidence", ()))})
        for control in document["control"]
    ]
    return names, controls


def report(ctx: Context, request: GovernanceRequest) -> ReportAnswer:
    """Say how every control stands, by which figures.

    Returns:
        All standards, or the one that was asked for; signed by this installation's key if asked.

    Raises:
        BadInputError: there is no such standard, or an agent asks for a signature.
    """
    since, views = _look(ctx, request)
    answer = ReportAnswer(FIRST_LINE, f"{since:%Y-%m-%d}", views, "")
    answer = replace(answer, markdown=_markdown(answer))
    if not request.signed:
        return answer
    request.require_user("signs reports")
    key = contracts.signer(ctx)
    signature = key.sign(PURPOSE, canonical.canonical_bytes(messages.to_json(answer))).hex()
    return replace(answer, key=key.public.word, signature=signature)


def gaps(ctx: Context, request: GovernanceRequest) -> GapAnswer:
    """Say what is not shown yet.

    Returns:
        The controls without, or with only some, evidence, the weightiest first.

    Raises:
        BadInputError: there is no such standard.
    """
    since, views = _look(ctx, request)
    controls = [control for view in views for control in view.controls]
    missing = [control for control in controls if control.state in (NONE, PARTLY)]
    missing.sort(key=lambda control: (-control.weight, control.state != NONE))
    not_measurable = sum(control.state == NOT_HERE for control in controls)
    return GapAnswer(FIRST_LINE, f"{since:%Y-%m-%d}", missing, not_measurable)


def _look(ctx: Context, request: GovernanceRequest) -> tuple[datetime, list[FrameworkView]]:
    names, controls = catalogue()
    wanted_id = request.framework and request_fields.chosen(request.framework, names, "framework")
    since = request.since or ctx.now() - PERIOD
    counter = FigureCounter(ctx, since)
    figures = {name: counter.figure(name) for name in FIGURES}
    frameworks = {id: name for id, name in names.items() if wanted_id in ("", id)}
    return since, [_framework(id, name, controls, figures) for id, name in frameworks.items()]


def _control(control: Control, figures: dict[str, Evidence]) -> ControlView:
    figures_of_control = [figures[name] for name in control.evidence]
    present = sum(bool(evidence.count) for evidence in figures_of_control)
    state = MET if present == len(figures_of_control) else PARTLY if present else NONE
    if control.not_measurable:
        state = NOT_HERE
    return ControlView(
        f"{control.framework} {control.id}", control.title, control.weight, state,
        control.not_measurable, control.closes if state in (PARTLY, NONE) else "", figures_of_control,
    )  # fmt: skip


def _framework(
    id: str, name: str, controls: Sequence[Control], figures: dict[str, Evidence]
) -> FrameworkView:
    views = [_control(control, figures) for control in controls if control.framework == id]
    measured = [control for control in views if control.state != NOT_HERE]
    total = sum(control.weight for control in measured)
    met = sum(control.weight * WORTH[control.state] for control in measured)
    score = round(met / total, 3) if total else None
    return FrameworkView(id, name, score, len(measured), len(views) - len(measured), views)


def _markdown(answer: ReportAnswer) -> str:
    lines = [f"*{answer.note}*", "", f"Since {answer.since}."]
    for view in answer.frameworks:
        share = "nothing measurable" if view.score is None else f"{100 * view.score:.0f} %"
        lines += [
            "", f"## {view.name}: {share}", "",
            f"{view.measured} controls measured, {view.not_measurable} cannot be measured here.", "",
            "| control | stands | evidence |", "| --- | --- | --- |",
        ]  # fmt: skip
        for control in view.controls:
            evidence = "; ".join(
                f"{figure.what}: {figure.count} (`{figure.how}`)" for figure in control.evidence
            )
            lines.append(
                f"| {control.id} {control.title} | {control.state} | {evidence or control.reason} |"
            )
    return "\n".join(lines) + "\n"


# -- the evidence --


MOST_ENTRIES, MOST_MEMORIES = 100_000, 100_000
CORRECTING = ("edit", "forget", "purge", "supersede", "review_drop")
RED_TEAM = "red_team"
"""The small records in which runs of probes are kept."""


class Evidence(messages.Answer):
    """A figure: what it counts, how many there are in the period, the command that asks for it, and a digest
    (SHA-256) of what was counted."""

    name: str
    what: str
    count: int
    how: str
    digest: str


class FigureCounter:
    """All figures of one installation since a time, each counted when it is first asked for."""

    def __init__(self, ctx: Context, since: datetime) -> None:
        self.ctx = ctx
        self._since = since

    def figure(self, name: str) -> Evidence:
        """Return the figure of a name, one of `FIGURES`."""
        what, how, count = FIGURES[name]
        items = sorted(count(self))
        digest = hashlib.sha256(canonical.canonical_bytes(items)).hexdigest()
        return Evidence(name, what, len(items), how, digest)

    @cached_property
    def entries(self) -> list[AuditEntry]:
        """The entries of the audit log, the newest first."""
        return self.ctx.state.audit_entries(MOST_ENTRIES, self._since)

    @cached_property
    def memories(self) -> list[Memory]:
        """The memories of all stores, so many at most."""
        stores = self.ctx.all_shelves()
        return each_of(stores, lambda journal: journal.iter_memories(Scope(), limit=MOST_MEMORIES))

    def did(self, actions: Sequence[str]) -> list[str]:
        """Return the numbers of the entries of some actions."""
        return [str(entry.number) for entry in self.entries if entry.action in actions]

    def ids(self, fits: Callable[[Memory], bool]) -> list[str]:
        """Return the ids of the memories that fit."""
        return [memory.id for memory in self.memories if fits(memory)]

    def chain(self) -> list[str]:
        """Return one entry where the audit log is as it was written."""
        return [] if self.ctx.state.audit_break(whole=True) else ["intact"]

    def flagged(self) -> list[str]:
        """Return what the observer flagged, an entry each."""
        return _numbered(flags.figures(self.ctx.all_shelves(), Scope()))

    def setting(self, name: str, off: str) -> list[str]:
        """Return one entry where a setting is not off."""
        value = str(getattr(self.ctx.settings, name))
        return [] if value == off else [f"{name} {value}"]

    def counter(self, *names: str) -> list[str]:
        """Return an entry for each time that something was counted."""
        totals = self.ctx.state.totals()
        return _numbered({name: min(totals.get(name, 0), MOST_ENTRIES) for name in names})

    def jobs(self) -> list[str]:
        """Return the jobs that ended well in the period."""
        rows = (row for row in self.ctx.state.jobs().values() if row.outcome == OK)
        return [row.name for row in rows if row.ended_at and row.ended_at >= self._since]

    def contracts(self) -> list[str]:
        """Return the contracts that are as they were signed and have not ended."""
        stored, now = contracts.stored_contracts(self.ctx), self.ctx.now().isoformat()
        intact = (contract for contract in stored.values() if contracts.chain(contract, stored))
        return [
            contract.id for contract in intact if not contract.not_after or contract.not_after > now
        ]

    def tokens(self) -> list[str]:
        """Return the tokens that end, or are for one project alone."""
        stored = tokens.load(self.ctx.home.tokens)
        return [token.id for token in stored if token.until or token.project]

    def packages(self) -> list[str]:
        """Return one entry where the runtime was installed by pinned and hashed versions."""
        has_list = os.path.exists(os.path.join(self.ctx.home.runtime, "packages.json"))
        return ["pinned"] if has_list else []


def _numbered(counts: dict[str, int]) -> list[str]:
    return [f"{name} {n}" for name, count in counts.items() for n in range(count)]


Figure = tuple[str, str, Callable[[FigureCounter], Iterable[str]]]
FIGURES: dict[str, Figure] = {
    "audit_entries": ("entries of the audit log", "vector-memory audit", lambda g: [str(e.number) for e in g.entries]),
    "audit_chain": ("the audit log is as it was written", "vector-memory audit --verify", FigureCounter.chain),
    "proofs": ("signed roots over the audit log", "vector-memory audit --action proof", lambda g: g.did(("proof",))),
    "flags": ("tool calls that the observer flagged", "vector-memory flags", FigureCounter.flagged),
    "observed": ("tool calls are observed", "vector-memory config", lambda g: g.setting("observer", "off")),
    "redactions": ("secrets and personal data taken out", "vector-memory doctor", lambda g: g.counter("redactions", "texts_dropped")),
    "held_back": ("texts like instructions, or agents' rules, held back", "vector-memory review", lambda g: g.ids(lambda m: m.is_suspicious or m.is_held)),
    "sourced": ("memories that name their session or file", "vector-memory show ID", lambda g: g.ids(lambda m: bool(m.source.session or m.source.path))),
    "sensitive": ("memories marked as sensitive", "vector-memory list", lambda g: g.ids(lambda m: m.sensitivity is not Sensitivity.INTERNAL)),
    "memories": ("memories", "vector-memory stats", lambda g: g.ids(lambda m: True)),
    "standing_rules": ("rules of the user's", "vector-memory list --kind rule", lambda g: g.ids(lambda m: bool(m.weight) and m.trust == 2)),
    "verdicts": ("memories that were looked at whether they are so", "vector-memory verify", lambda g: g.ids(lambda m: isinstance(m.extra.get("verified"), dict))),
    "corrections": ("corrections by hand", "vector-memory audit", lambda g: g.did(CORRECTING)),
    "reviews": ("decisions in review", "vector-memory review", lambda g: [str(e.number) for e in g.entries if e.action.startswith("review_")]),
    "backups": ("backups", "vector-memory audit --action backup", lambda g: g.did(("backup",))),
    "jobs_done": ("jobs that ended well", "vector-memory jobs list", FigureCounter.jobs),
    "contracts": ("contracts that hold", "vector-memory tool constitutional_contract", FigureCounter.contracts),
    "keys": ("keys of this installation", "vector-memory tool agent_identity", lambda g: contracts.own_keys(g.ctx)),
    "tokens_limited": ("tokens that end or are for one project", "vector-memory token list", FigureCounter.tokens),
    "pinned_packages": ("packages installed by pinned hashes", "vector-memory doctor", FigureCounter.packages),
    "timings": ("operations that are timed", "vector-memory stats", lambda g: g.ctx.timings.report(g.ctx.state)),
    "red_team_runs": ("runs of attacks on a scratch home", "vector-memory tool red_team", lambda g: g.did([RED_TEAM])),
}  # fmt: skip
"""Figures by name: what is counted, how to ask for it, and what counts it."""
