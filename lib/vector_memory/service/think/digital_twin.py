"""`digital_twin`: a change tried on a copy of the store, with the prompts of earlier sessions asked again, and told
before anybody makes it. Nothing is changed here: the user promotes it with the command that is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from vector_memory import config
from vector_memory.config import Settings
from vector_memory.errors import BadInputError
from vector_memory.model import PASSAGE, SUBAGENT_TAG, Progress, Scope
from vector_memory.service.base import messages
from vector_memory.service.base.asker import HookQuestion, ProjectAsker, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.edit import consolidate, edit_forget, prune_candidates
from vector_memory.service.inject import prompt_recall
from vector_memory.service.memory.views import BriefView, brief
from vector_memory.service.think import store_copy
from vector_memory.text import fence, prompts

SETTINGS, PRUNE, CONSOLIDATE = "settings", "prune", "consolidate"
SCENARIOS = {
    SETTINGS: "other values of settings, each as NAME=VALUE",
    PRUNE: "forgetting all that memory_prune lists",
    CONSOLIDATE: "merging all that memory_consolidate finds to say the same",
}
TRIED = (
    "threshold", "prompt_memories", "prompt_tokens", "origin_share", "candidates", "scoring", "query_tokens",
    "recall_on_prompt", "guidance_on_start", "learn_from_outcomes",
)  # fmt: skip
"""Settings that say what a prompt is given."""
MOST_FORGOTTEN, MOST_MERGED, LOOKED_AT, EXAMPLES, SHOWN_CHARS = 500, 500, 4_000, 8, 200


@dataclass(frozen=True, kw_only=True)
class TwinRequest(messages.Request):
    """A change is to be tried.

    Attributes:
        scenario: one of `SCENARIOS`; `settings` where only these are given. "" with none: what can be tried.
        settings: as `NAME=VALUE`.
        n: how many prompts are asked again at most, the newest ones.
    """

    scenario: str = messages.word()
    settings: tuple[str, ...] = messages.words()
    n: int = messages.number(40, 1, 200)


@dataclass(frozen=True)
class Recalled:
    """What all prompts together were given: how many of them anything, how many notes, and their tokens."""

    prompts: int
    notes: int
    tokens: int


@dataclass(frozen=True)
class TwinAnswer:
    """What a change would do.

    Attributes:
        can_try: the scenarios with what they are, and the settings that can be tried.
        replayed: how many prompts of earlier sessions were asked again, of which `differ` got other notes.
        before, after: what they got without and with the change.
        changed: how many memories the change itself took away or merged.
        lost, gained: notes that would not come any more, or would come anew, the first of them; `lost_all` and
            `gained_all` count them, and `lost_used` those lost ones that sessions made use of before.
        promote: how the user makes the change, "" for nothing.
    """

    scenario: str
    summary: str
    can_try: dict[str, str]
    replayed: int = 0
    differ: int = 0
    before: Recalled | None = messages.spare()
    after: Recalled | None = messages.spare()
    changed: int = 0
    lost: list[BriefView] | None = messages.spare()
    gained: list[BriefView] | None = messages.spare()
    lost_all: int = 0
    gained_all: int = 0
    lost_used: int = 0
    promote: str = ""


@dataclass(frozen=True)
class _Prompt:
    """A prompt of an earlier session."""

    session: str
    text: str
    at: datetime


@dataclass(frozen=True)
class _Given:
    """What a prompt was given: the ids of its notes, and its tokens."""

    ids: frozenset[str]
    tokens: int


def try_out(ctx: Context, request: TwinRequest, progress: Progress) -> TwinAnswer:
    """Try a change on a copy and return what it would do; what can be tried where nothing is asked.

    Raises:
        BadInputError: there is no such scenario or setting, its value is none, or no project is asked about.
    """
    can_try = {**SCENARIOS, SETTINGS: f"{SCENARIOS[SETTINGS]}: {', '.join(TRIED)}"}
    scenario = request.scenario or (SETTINGS if request.settings else "")
    if not scenario:
        return TwinAnswer("", "Nothing was tried: name a scenario.", can_try)
    changed = _changed(ctx.settings, scenario, request.settings)
    place = messages.place_of(ctx, request)
    if place is None or request.all_projects:
        raise BadInputError("A twin is of one project's store.", "Ask in its folder, or name it.")
    asker = asker_in(ctx, place)
    asked = _recorded(asker, request.n)
    if not asked:
        return TwinAnswer(
            scenario, "Not enough evidence: no prompt of this project is known.", can_try
        )
    with store_copy.copied(ctx, asker) as copy:
        store_copy.follow(copy, progress)
        before = _replayed(copy, asker, asked, progress, "without the change")
        store_copy.set_time(copy, ctx.now())
        number = _applied(copy, request, scenario, asker, progress)
        store_copy.follow(copy, progress)
        store_copy.forget_sessions(copy, changed, [one.session for one in asked])
        after = _replayed(copy, asker, asked, progress, "with the change")
    answer = _compared(ctx, asker, before, after)
    answer = replace(answer, scenario=scenario, can_try=can_try, changed=number)
    if answer.differ or number:
        answer = replace(answer, promote=_promotion(scenario, request.settings))
    ctx.state.audit(
        "digital_twin", request.actor, [], {"scenario": scenario, "differ": answer.differ}
    )
    return answer


def _changed(now: Settings, scenario: str, wanted: Sequence[str]) -> Settings:
    """Return the settings under which the change is tried."""
    if scenario not in SCENARIOS:
        raise BadInputError(
            f"There is no scenario {scenario[:40]!r}.", f"Scenarios: {', '.join(SCENARIOS)}."
        )
    if (scenario == SETTINGS) != bool(wanted):
        raise BadInputError(
            "Settings go with the scenario `settings`, and it needs some.",
            "Give them as NAME=VALUE, such as threshold=0.4.",
        )
    pairs = dict(_pairs(wanted))
    return config.validate({**asdict(now), **pairs}) if pairs else now


def _pairs(wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    for one in wanted:
        name, equals, value = one.partition("=")
        if not equals or name.strip() not in TRIED:
            raise BadInputError(
                f"{one[:60]!r} cannot be tried.", f"Give NAME=VALUE; names: {', '.join(TRIED)}."
            )
        yield name.strip(), value.strip()


def _recorded(asker: ProjectAsker, most: int) -> list[_Prompt]:
    """Return the newest prompts of a project that asked for something, in order."""
    scope = Scope(projects=(asker.place.id,), kinds=(PASSAGE,))
    found: dict[str, _Prompt] = {}
    for memory in asker.own.journal.iter_memories(scope, newest_first=True, limit=LOOKED_AT):
        text = memory.title.strip()
        if text and SUBAGENT_TAG not in memory.tags and not prompts.Prompt(text).needs_nothing:
            found.setdefault(text, _Prompt(memory.source.session, text, memory.created_at))
        if len(found) >= most:
            break
    return list(found.values())[::-1]


def _replayed(
    copy: Context, asker: ProjectAsker, asked: Sequence[_Prompt], progress: Progress, doing: str
) -> list[_Given]:
    """Ask every prompt at its own time, of what was remembered by then; return what each was given."""
    given = []
    for number, one in enumerate(asked):
        progress(number, len(asked), doing)
        copy.hooks.give_way()
        store_copy.set_time(copy, one.at)
        here = asker_in(copy, asker.place)
        own = replace(here, scope=replace(here.scope, until=one.at))
        seen = copy.state.shown(one.session)
        folder = asker.place.root
        question = HookQuestion(**vars(own), session=one.session, folder=folder, prompt=one.text)
        told = prompt_recall.on_prompt(copy, question)
        ids = frozenset(copy.state.shown(one.session) - seen)
        given.append(_Given(ids, fence.tokens(told) if told else 0))
    return given


def _applied(
    copy: Context, request: TwinRequest, scenario: str, asker: ProjectAsker, progress: Progress
) -> int:
    """Make the change on the copy; return how many memories it took away or merged."""
    root = asker.place.root
    if scenario == PRUNE:
        wanted = prune_candidates.PruneRequest(k=MOST_FORGOTTEN, project=root, cwd=root)
        ids = [one.id for one in prune_candidates.prune(copy, wanted, progress).memories]
        if ids:
            edit_forget.forget(
                copy, edit_forget.ForgetRequest(ids=tuple(ids), project=root, cwd=root)
            )
        return len(ids)
    if scenario == CONSOLIDATE:
        merge = consolidate.ConsolidateRequest(k=MOST_MERGED, dry_run=False, project=root, cwd=root)
        return consolidate.consolidate(copy, merge, progress).merged
    return 0


def _compared(
    ctx: Context, asker: ProjectAsker, before: Sequence[_Given], after: Sequence[_Given]
) -> TwinAnswer:
    pairs = list(zip(before, after, strict=True))
    lost = [id for old, new in pairs for id in sorted(old.ids - new.ids)]
    gained = [id for old, new in pairs for id in sorted(new.ids - old.ids)]
    used = {label.memory for label in ctx.state.use_labels() if label.used}
    differ = sum(old.ids != new.ids for old, new in pairs)
    lost_used = sum(id in used for id in lost)
    summary = (
        f"{differ} of {len(pairs)} prompts would get other notes: {len(lost)} would not come any more"
        f" ({lost_used} of them were of use before), {len(gained)} would come anew."
        if differ
        else f"All {len(pairs)} prompts would get the same notes."
    )
    return TwinAnswer(
        scenario="",
        summary=summary,
        can_try={},
        replayed=len(pairs),
        differ=differ,
        before=_recalled(before),
        after=_recalled(after),
        lost=_views(asker, lost),
        gained=_views(asker, gained),
        lost_all=len(lost),
        gained_all=len(gained),
        lost_used=lost_used,
    )


def _recalled(given: Sequence[_Given]) -> Recalled:
    told = sum(bool(one.tokens) for one in given)
    return Recalled(told, sum(len(one.ids) for one in given), sum(one.tokens for one in given))


def _views(asker: ProjectAsker, ids: Sequence[str]) -> list[BriefView]:
    known = asker.own.journal.by_ids(list(dict.fromkeys(ids)))
    open_ones = [known[id] for id in dict.fromkeys(ids) if id in known and not known[id].is_held]
    return [brief(BriefView, one, text=str(one.text)[:SHOWN_CHARS]) for one in open_ones[:EXAMPLES]]


def _promotion(scenario: str, settings: Sequence[str]) -> str:
    """Return what the user does to make the change."""
    if scenario == PRUNE:
        return "`/forget` or `vector-memory forget ID` for each that memory_prune lists and may go."
    if scenario == CONSOLIDATE:
        return "memory_consolidate with dry_run false."
    pairs = (one.partition("=") for one in settings)
    return "; ".join(f"vector-memory config set {name} {value}" for name, _, value in pairs)
