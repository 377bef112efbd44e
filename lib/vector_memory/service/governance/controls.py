"""`governance_report`, `governance_gap_analysis` and `compliance_dashboard`: what standards ask for, and what of
this installation speaks for it. The catalogue is `data/controls.toml`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from vector_memory.service.base import contracts, messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.governance.evidence import FIGURES, Evidence, Gathered
from vector_memory.text.tables import FOLDER
from vector_memory.trust import canonical

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
        read = tomllib.load(file)
    names = {framework["id"]: framework["name"] for framework in read["framework"]}
    controls = [
        Control(**{**control, "evidence": tuple(control.get("evidence", ()))})
        for control in read["control"]
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
    made = ReportAnswer(FIRST_LINE, f"{since:%Y-%m-%d}", views, "")
    made = replace(made, markdown=_markdown(made))
    if not request.signed:
        return made
    request.require_user("signs reports")
    key = contracts.signer(ctx)
    signature = key.sign(PURPOSE, canonical.written(messages.to_json(made))).hex()
    return replace(made, key=key.public.word, signature=signature)


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
    left = sum(control.state == NOT_HERE for control in controls)
    return GapAnswer(FIRST_LINE, f"{since:%Y-%m-%d}", missing, left)


def _look(ctx: Context, request: GovernanceRequest) -> tuple[datetime, list[FrameworkView]]:
    names, controls = catalogue()
    only = request.framework and request_fields.chosen(request.framework, names, "framework")
    since = request.since or ctx.now() - PERIOD
    gathered = Gathered(ctx, since)
    figures = {name: gathered.of(name) for name in FIGURES}
    shown = {id: name for id, name in names.items() if only in ("", id)}
    return since, [_framework(id, name, controls, figures) for id, name in shown.items()]


def _control(control: Control, figures: dict[str, Evidence]) -> ControlView:
    shown = [figures[name] for name in control.evidence]
    there = sum(bool(evidence.count) for evidence in shown)
    state = MET if there == len(shown) else PARTLY if there else NONE
    if control.not_measurable:
        state = NOT_HERE
    return ControlView(
        f"{control.framework} {control.id}", control.title, control.weight, state,
        control.not_measurable, control.closes if state in (PARTLY, NONE) else "", shown,
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


def _markdown(made: ReportAnswer) -> str:
    lines = [f"*{made.note}*", "", f"Since {made.since}."]
    for view in made.frameworks:
        share = "nothing measurable" if view.score is None else f"{100 * view.score:.0f} %"
        lines += [
            "", f"## {view.name}: {share}", "",
            f"{view.measured} controls measured, {view.not_measurable} cannot be measured here.", "",
            "| control | stands | evidence |", "| --- | --- | --- |",
        ]  # fmt: skip
        for control in view.controls:
            shown = "; ".join(f"{e.what}: {e.count} (`{e.how}`)" for e in control.evidence)
            lines.append(
                f"| {control.id} {control.title} | {control.state} | {shown or control.reason} |"
            )
    return "\n".join(lines) + "\n"
