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


class PromptAnswer(NamedTuple):
    """What a prompt was given: the ids of its notes, and its tokens."""

    ids: frozenset[str]
    tokens: int


def try_change(ctx: Context, request: TwinRequest, progress: Progress) -> ledger.Answer:
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
    changed_settings = ledger.with_settings(ctx.settings, request.settings, TRIED)
    asker = ledger.project_of(ctx, request)
    prompt_passages = _recorded_prompts(asker, request.n)
    if not prompt_passages:
        summary = f"{NOT_ENOUGH}: no prompt of this project is known."
        return ledger.answer(ctx, summary, scenario=scenario, replayed=0, differ=0)
    with store_copy.copied(ctx, asker) as copy:
        store_copy.follow(copy, progress)
        before = _replay(copy, asker, prompt_passages, progress, "without the change")
        store_copy.set_time(copy, ctx.now())
        count = _apply_change(copy, scenario, asker, progress)
        store_copy.follow(copy, progress)
        copy.settings = store_copy.isolated(changed_settings)
        for passage in prompt_passages:
            copy.state.clear_shown(passage.source.session)
        after = _replay(copy, asker, prompt_passages, progress, "with the change")
    answer = _compare_answers(ctx, asker, before, after)
    effects = {PRUNE: f"{count} memories would go. ", CONSOLIDATE: f"{count} would be merged. "}
    promote = _promotion(scenario, request.settings) if answer["differ"] or count else ""
    answer |= {"told": f"{effects.get(scenario, '')}{answer['told']}", "scenario": scenario}
    answer |= {"changed": count, "promote": promote}
    detail = {"scenario": scenario, "differ": answer["differ"]}
    ctx.state.audit("digital_twin", request.actor, [], detail)
    return answer


def _recorded_prompts(asker: ProjectAsker, most_prompts: int) -> list[Memory]:
    """Return passages of the newest prompts of a project that asked for something, each once, in order."""
    scope = Scope(projects=(asker.place.id,), kinds=(PASSAGE,))
    by_text: dict[str, Memory] = {}
    for memory in asker.own_shelf.journal.iter_memories(scope, newest_first=True, limit=LOOKED_AT):
        text = memory.title.strip()
        if text and SUBAGENT_TAG not in memory.tags and not prompts.Prompt(text).needs_nothing:
            by_text.setdefault(text, memory)
        if len(by_text) >= most_prompts:
            break
    return list(by_text.values())[::-1]


def _replay(
    copy: Context,
    asker: ProjectAsker,
    prompt_passages: Sequence[Memory],
    progress: Progress,
    doing: str,
) -> list[PromptAnswer]:
    """Ask every prompt at its own time, of what was remembered by then; return what each was given."""
    answers = []
    for number, passage in enumerate(prompt_passages):
        progress(number, len(prompt_passages), doing)
        copy.hooks.give_way()
        store_copy.set_time(copy, passage.created_at)
        copy_asker, session = asker_in(copy, asker.place), passage.source.session
        asker_then = replace(copy_asker, scope=replace(copy_asker.scope, until=passage.created_at))
        shown_before, folder = copy.state.shown_ids(session), asker.place.root
        prompt = passage.title.strip()
        question = HookQuestion(**vars(asker_then), session=session, folder=folder, prompt=prompt)
        block = prompt_recall.on_prompt(copy, question)
        ids = frozenset(copy.state.shown_ids(session) - shown_before)
        answers.append(PromptAnswer(ids, fence.tokens(block) if block else 0))
    return answers


def _apply_change(copy: Context, scenario: str, asker: ProjectAsker, progress: Progress) -> int:
    """Make the change on the copy; return how many memories it took away or merged."""
    fields = messages.Request(project=asker.place.root, cwd=asker.place.root).as_asked()
    if scenario == PRUNE:
        request = prune_candidates.PruneRequest(k=MOST_CHANGED, **fields)
        ids = tuple(
            memory.id for memory in prune_candidates.prune(copy, request, progress).memories
        )
        if ids:
            edit_forget.forget(copy, edit_forget.ForgetRequest(ids=ids, **fields))
        return len(ids)
    if scenario == CONSOLIDATE:
        merge = consolidate.ConsolidateRequest(k=MOST_CHANGED, dry_run=False, **fields)
        return consolidate.consolidate(copy, merge, progress).merged
    return 0


def _compare_answers(
    ctx: Context, asker: ProjectAsker, before: list[PromptAnswer], after: list[PromptAnswer]
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
        before=_answer_totals(before),
        after=_answer_totals(after),
        lost=ledger.brief_views(asker, lost)[:EXAMPLES],
        gained=ledger.brief_views(asker, gained)[:EXAMPLES],
    )


def _answer_totals(answers: Sequence[PromptAnswer]) -> dict[str, int]:
    """Return how many prompts were given anything, how many notes, and their tokens."""
    tokens = [answer.tokens for answer in answers if answer.tokens]
    notes = sum(len(answer.ids) for answer in answers)
    return {"prompts": len(tokens), "notes": notes, "tokens": sum(tokens)}


def _promotion(scenario: str, settings: Sequence[str]) -> str:
    """Return what the user does to make the change."""
    pairs = (setting.partition("=") for setting in settings)
    sets = "; ".join(f"vector-memory config set {name} {value}" for name, _, value in pairs)
    return PROMOTED.get(scenario, sets)
