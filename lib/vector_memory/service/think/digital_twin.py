"""`digital_twin`: a change tried on a copy of the store, with the prompts of earlier sessions asked again, and told
before anybody makes it. Nothing is changed here: the user promotes it with the command that is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from vector_memory.errors import BadInputError
from vector_memory.model import PASSAGE, SUBAGENT_TAG, Memory, Progress, Scope
from vector_memory.observe.learning.figures import NOT_ENOUGH
from vector_memory.service.base import messages
from vector_memory.service.base.asker import HookQuestion, ProjectAsker, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.edit import consolidate, edit_forget, prune_candidates
from vector_memory.service.inject import prompt_recall
from vector_memory.service.think import ledger, store_copy
from vector_memory.text import fence, prompts

SETTINGS, PRUNE, CONSOLIDATE = "settings", "prune", "consolidate"
SCENARIOS = {
    SETTINGS: "other values of settings, each as NAME=VALUE",
    PRUNE: "forgetting all that memory_prune lists",
    CONSOLIDATE: "merging all that memory_consolidate finds to say the same",
}
PROMOTED = {
    PRUNE: "`/forget` or `vector-memory forget ID` for each that memory_prune lists and may go.",
    CONSOLIDATE: "memory_consolidate with dry_run false.",
}
"""What makes a change, beside settings, which are set."""
TRIED = (
    "threshold", "prompt_memories", "prompt_tokens", "origin_share", "candidates", "scoring", "query_tokens",
    "recall_on_prompt", "guidance_on_start", "learn_from_outcomes",
)  # fmt: skip
"""Settings that say what a prompt is given."""
MOST_CHANGED, LOOKED_AT, EXAMPLES = 500, 4_000, 8


class TwinRequest(messages.Request):
    """A change is to be tried.

    Attributes:
        scenario: one of `SCENARIOS`; `settings` where only these are given. "" with none: what can be tried.
        settings: as `NAME=VALUE`.
        n: how many prompts are asked again at most, the newest ones.
    """

    scenario: str = messages.one_of(SCENARIOS)
    settings: tuple[str, ...] = messages.words()
    n: int = messages.number(40, 1, 200)


class Given(NamedTuple):
    """What a prompt was given: the ids of its notes, and its tokens."""

    ids: frozenset[str]
    tokens: int


def try_out(ctx: Context, request: TwinRequest, progress: Progress) -> ledger.Answer:
    """Try a change on a copy and return what it would do; what can be tried where nothing is asked.

    Raises:
        BadInputError: there is no such scenario or setting, its value is none, or no project is asked about.

    Returns:
        Where nothing is asked, the scenarios and settings that one `can_try`. Else how many prompts of earlier
        sessions were asked again (`replayed`), of which `differ` got other notes; what all together got `before` and
        `after`; how many memories the change itself took away or merged (`changed`); notes that were `lost` or
        `gained`, the first of them; and how the user makes the change (`promote`).
    """
    scenario = request.scenario or (SETTINGS if request.settings else "")
    if not scenario:
        can_try = {**SCENARIOS, SETTINGS: f"{SCENARIOS[SETTINGS]}: {', '.join(TRIED)}"}
        return ledger.answer(ctx, "Nothing was tried: name a scenario.", can_try=can_try)
    if (scenario == SETTINGS) != bool(request.settings):
        raise BadInputError(
            "Settings go with the scenario `settings`, and it needs some.",
            "Give them as NAME=VALUE, such as threshold=0.4.",
        )
    changed = ledger.with_settings(ctx.settings, request.settings, TRIED)
    asker = ledger.project_of(ctx, request)
    asked = _recorded(asker, request.n)
    if not asked:
        summary = f"{NOT_ENOUGH}: no prompt of this project is known."
        return ledger.answer(ctx, summary, scenario=scenario, replayed=0, differ=0)
    with store_copy.copied(ctx, asker) as copy:
        store_copy.follow(copy, progress)
        before = _replayed(copy, asker, asked, progress, "without the change")
        store_copy.set_time(copy, ctx.now())
        number = _applied(copy, scenario, asker, progress)
        store_copy.follow(copy, progress)
        copy.settings = store_copy.alone(changed)
        for memory in asked:
            copy.state.clear_shown(memory.source.session)
        after = _replayed(copy, asker, asked, progress, "with the change")
    made = _compared(ctx, asker, before, after)
    did = {PRUNE: f"{number} memories would go. ", CONSOLIDATE: f"{number} would be merged. "}
    promote = _promotion(scenario, request.settings) if made["differ"] or number else ""
    made |= {"told": f"{did.get(scenario, '')}{made['told']}", "scenario": scenario}
    made |= {"changed": number, "promote": promote}
    detail = {"scenario": scenario, "differ": made["differ"]}
    ctx.state.audit("digital_twin", request.actor, [], detail)
    return made


def _recorded(asker: ProjectAsker, most: int) -> list[Memory]:
    """Return passages of the newest prompts of a project that asked for something, each once, in order."""
    scope = Scope(projects=(asker.place.id,), kinds=(PASSAGE,))
    by_text: dict[str, Memory] = {}
    for memory in asker.own.journal.iter_memories(scope, newest_first=True, limit=LOOKED_AT):
        text = memory.title.strip()
        if text and SUBAGENT_TAG not in memory.tags and not prompts.Prompt(text).needs_nothing:
            by_text.setdefault(text, memory)
        if len(by_text) >= most:
            break
    return list(by_text.values())[::-1]


def _replayed(
    copy: Context, asker: ProjectAsker, asked: Sequence[Memory], progress: Progress, doing: str
) -> list[Given]:
    """Ask every prompt at its own time, of what was remembered by then; return what each was given."""
    given = []
    for number, memory in enumerate(asked):
        progress(number, len(asked), doing)
        copy.hooks.give_way()
        store_copy.set_time(copy, memory.created_at)
        here, session = asker_in(copy, asker.place), memory.source.session
        own = replace(here, scope=replace(here.scope, until=memory.created_at))
        seen, folder = copy.state.shown(session), asker.place.root
        prompt = memory.title.strip()
        question = HookQuestion(**vars(own), session=session, folder=folder, prompt=prompt)
        block = prompt_recall.on_prompt(copy, question)
        ids = frozenset(copy.state.shown(session) - seen)
        given.append(Given(ids, fence.tokens(block) if block else 0))
    return given


def _applied(copy: Context, scenario: str, asker: ProjectAsker, progress: Progress) -> int:
    """Make the change on the copy; return how many memories it took away or merged."""
    here = messages.Request(project=asker.place.root, cwd=asker.place.root).as_asked()
    if scenario == PRUNE:
        listed = prune_candidates.PruneRequest(k=MOST_CHANGED, **here)
        ids = tuple(memory.id for memory in prune_candidates.prune(copy, listed, progress).memories)
        if ids:
            edit_forget.forget(copy, edit_forget.ForgetRequest(ids=ids, **here))
        return len(ids)
    if scenario == CONSOLIDATE:
        merge = consolidate.ConsolidateRequest(k=MOST_CHANGED, dry_run=False, **here)
        return consolidate.consolidate(copy, merge, progress).merged
    return 0


def _compared(
    ctx: Context, asker: ProjectAsker, before: list[Given], after: list[Given]
) -> ledger.Answer:
    pairs = list(zip(before, after, strict=True))
    lost = [id for old, new in pairs for id in sorted(old.ids - new.ids)]
    gained = [id for old, new in pairs for id in sorted(new.ids - old.ids)]
    used = {label.memory for label in ctx.state.use_labels() if label.used}
    differ = sum(old.ids != new.ids for old, new in pairs)
    summary = f"All {len(pairs)} prompts would get the same notes."
    if differ:
        summary = (
            f"{differ} of {len(pairs)} prompts would get other notes: {len(lost)} would not come any more"
            f" ({sum(id in used for id in lost)} of them were of use before), {len(gained)} would come anew."
        )
    return ledger.answer(
        ctx,
        summary,
        replayed=len(pairs),
        differ=differ,
        before=_recalled(before),
        after=_recalled(after),
        lost=ledger.shown(asker, lost)[:EXAMPLES],
        gained=ledger.shown(asker, gained)[:EXAMPLES],
    )


def _recalled(given: Sequence[Given]) -> dict[str, int]:
    """Return how many prompts were given anything, how many notes, and their tokens."""
    tokens = [answer.tokens for answer in given if answer.tokens]
    notes = sum(len(answer.ids) for answer in given)
    return {"prompts": len(tokens), "notes": notes, "tokens": sum(tokens)}


def _promotion(scenario: str, settings: Sequence[str]) -> str:
    """Return what the user does to make the change."""
    pairs = (setting.partition("=") for setting in settings)
    sets = "; ".join(f"vector-memory config set {name} {value}" for name, _, value in pairs)
    return PROMOTED.get(scenario, sets)
