"""`explain`: what a prompt would be given, and why each other hit of its search is left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from vector_memory import projects
from vector_memory.errors import BadInputError
from vector_memory.model import GLOBAL_PROJECT, Scope, Sensitivity
from vector_memory.retrieve import gate
from vector_memory.retrieve.echoes import without_echoes
from vector_memory.retrieve.search import Answer, Hit
from vector_memory.service.base import messages
from vector_memory.service.base.asker import (
    HookQuestion,
    ProjectAsker,
    asker_in,
    for_agents,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import checked
from vector_memory.service.base.embedding import PROMPT_CHARS
from vector_memory.service.inject import prompt_recall
from vector_memory.service.memory.lookup import answer, is_open
from vector_memory.service.memory.views import HitView, hit_view
from vector_memory.text import fence

MODEL_WAIT_S = 3.0
TOLD = "told"


class ExplainRequest(messages.Filter):
    """What would a prompt (`query`) be given, as the first of a session in a project, and what of the `k` best
    hits would it not? The project is the first of `project_ids`, else the folder's that is asked from."""

    query: str = messages.text(prompt_recall.MAX_PROMPT_CHARS)
    k: int = messages.number(20, 1, 100)


class VerdictView(messages.Answer):
    """A hit with its place in the search (from 1), and whether a prompt would be given it.

    Attributes:
        verdict: `told`, or the rule that left it out: `held`, `repeats`, `little`, `contradicted`,
            `worth`, `far down`, `weak`, `silent`, `enough` or `no room`.
        why: the same as a sentence, with its figures.
        worth: what the gate says of it, 0 … 1; left out where the gate was not asked.
    """

    rank: int
    hit: HitView
    verdict: str
    why: str
    worth: float | None = messages.spare()


class ExplainAnswer(messages.Answer):
    """What a prompt would be given, and the verdict on each hit.

    Attributes:
        context: the very block that the model would see, "" for none.
        tokens: how many it takes, of `budget`.
        silent: why nothing is searched for with such a prompt, "" where it is.
        terms: the words that are searched for.
        mode: `full`, or `lexical` where words alone were searched for.
    """

    context: str
    tokens: int
    budget: int
    silent: str
    terms: list[str]
    mode: str
    hits: list[VerdictView]


def explain(ctx: Context, request: ExplainRequest) -> ExplainAnswer:
    """Return what a prompt would be given and why not the rest. It counts as no use, and is noted nowhere.

    Raises:
        BadInputError: there is no such project.
    """
    question = _question(ctx, request)
    ctx.embedding.wait(MODEL_WAIT_S)
    text = question.prompt_text.text[: prompt_recall.MAX_PROMPT_CHARS]
    results = answer(
        ctx,
        text,
        question,
        max(request.k, prompt_recall.LOOKED_AT),
        allowed=is_open if request.is_agent else None,
        embed=lambda query: ctx.embedding.of_query(
            replace(query, embedded=query.embedded[:PROMPT_CHARS])
        ),
        fitting=ctx.settings.threshold,
        is_asked=question.prompt_text.is_question,
    )
    silent = _why_silent(ctx, question)
    judgement = _Judgement(ctx, question, results, bool(silent))
    names = question.names
    shelves = question.shelves
    by_meaning = all(shelf.index is not None and shelf.index.vectors_ready for shelf in shelves)
    return ExplainAnswer(
        context=judgement.context,
        tokens=fence.tokens(judgement.context) if judgement.context else 0,
        budget=ctx.settings.prompt_tokens,
        silent=silent,
        terms=list(results.query.terms),
        mode="full" if by_meaning and ctx.embedding.state == "ready" else "lexical",
        hits=[
            VerdictView(rank, hit_view(hit, names, ctx.now()), *judgement.of(hit))
            for rank, hit in enumerate(results.hits[: request.k], 1)
        ],
    )


def _question(ctx: Context, request: ExplainRequest) -> HookQuestion:
    """Return what the hook would be asked.

    Raises:
        BadInputError: there is no such project, or no project is named.
    """
    if not request.project_ids:
        place = messages.place_of(ctx, request)
        if place is None:
            raise BadInputError("A prompt is said in a project.", "Name one.")
        asker = asker_in(ctx, place)
    else:
        id = request.project_ids[0]
        projects_by_id = {
            project.id: project
            for shelf in ctx.all_shelves()
            for project in shelf.journal.projects()
        }
        if id not in projects_by_id and id != GLOBAL_PROJECT:
            raise BadInputError(f"There is no project {id[:60]!r}.", "`stats` names them.")
        name, root = (
            (projects_by_id[id].name, projects_by_id[id].root) if id in projects_by_id else ("", "")
        )
        place, scope = projects.Place(id, name, root, ""), Scope(projects=(id, GLOBAL_PROJECT))
        open_shelves = cache(lambda: ctx.with_team(ctx.all_shelves()))
        asker = ProjectAsker(place, for_agents(ctx, root, scope), open_shelves)
    return HookQuestion(**vars(asker), session="", folder=place.root, prompt=request.query)


def _why_silent(ctx: Context, question: HookQuestion) -> str:
    if not ctx.settings.recall_on_prompt:
        return "Prompts are given nothing: the setting recall_on_prompt is off."
    if question.prompt_text.needs_nothing:
        return "Such a prompt needs no memory: it confirms, or asks for an everyday step."
    return ""


class _Judgement:
    """The hook's rules on all hits of a search, and the block that comes of them.

    Args:
        is_silent: the hook would not search at all.
    """

    def __init__(
        self, ctx: Context, question: HookQuestion, results: Answer, is_silent: bool
    ) -> None:
        self._ctx = ctx
        self._relevant = results.least
        self._is_silent = is_silent
        previous = prompt_recall.session_before(question, question.session)
        self._moment = gate.Moment(ctx.now(), True, previous)
        distinct = without_echoes([hit for hit in results.hits if not hit.memory.is_held])
        self._distinct_ids = {hit.memory.id for hit in distinct}
        looked_at = distinct[: prompt_recall.LOOKED_AT]
        self._looked_at_ids = {hit.memory.id for hit in looked_at}
        self._worths = prompt_recall.worths_of(ctx, question, looked_at, results.least)
        worthy = [hit for hit in looked_at if hit.memory.id in self._worths]
        candidates = [] if is_silent else worthy
        chosen = prompt_recall.chosen(ctx, question, candidates, self._worths, set())
        self._chosen_ids = {hit.memory.id for hit in chosen}
        guide = [] if is_silent else prompt_recall.guide_of(ctx, question)
        notes = checked(prompt_recall.notes_of(ctx, question, chosen, results, guide))
        self._told_ids = {id for note in notes for id in (note.id, *note.also)}
        self.context = fence.fence(notes, results.note if chosen else "") if notes else ""

    def of(self, hit: Hit) -> tuple[str, str, float | None]:
        """Return the verdict on a hit, the same as a sentence, and what the hit is worth."""
        worth = self._worths.get(hit.memory.id)
        verdict, why = self._verdict(hit)
        return verdict, why, round(worth.value, 4) if worth and worth.features else None

    def _verdict(self, hit: Hit) -> tuple[str, str]:
        id, ctx = hit.memory.id, self._ctx
        if hit.memory.sensitivity is Sensitivity.RESTRICTED:
            return "restricted", "It is restricted: you alone are shown it."
        if hit.memory.proposed.get("held"):
            return "waits", "An agent proposes it: it waits for your word in Review."
        if hit.memory.is_held:
            return "held", "It is held back: it looks like instructions. A review lets it go."
        if id in self._told_ids:
            return TOLD, "A prompt would be given it."
        if id not in self._distinct_ids:
            return "repeats", "A better hit says the same, or answers it."
        if id not in self._looked_at_ids:
            return "far down", f"Only the {prompt_recall.LOOKED_AT} best are looked at."
        if id not in self._worths:
            return self._why_worthless(hit)
        if self._is_silent:
            return "silent", "With such a prompt nothing is searched for."
        limit = ctx.settings.prompt_memories
        if id not in self._chosen_ids and len(self._chosen_ids) < limit:
            return "repeats", "What is told of its exchange is worth more."
        if id not in self._chosen_ids:
            return "enough", f"{limit} memories at most are told, and others are worth more."
        room = ctx.settings.prompt_tokens
        return "no room", f"It does not fit in {room} tokens beside the others."

    def _why_worthless(self, hit: Hit) -> tuple[str, str]:
        """Return why a hit that was looked at may not be told."""
        if not hit.memory.source.path or not hit.breakdown["cosine"]:
            return "worth", f"Its relevance is {hit.relevance:.2f}; {self._relevant:.2f} is wanted."
        if not prompt_recall.says_something(hit):
            return "little", "It says too little, or speaks of something else than the prompt."
        if prompt_recall.gives_way(hit):
            return "contradicted", "Something newer says otherwise."
        if prompt_recall.is_outdated(hit):
            return "outdated", "A later session speaks of the same thing."
        worth = gate.worth(gate.features(hit, self._moment))
        least = prompt_recall.least_worth_of(self._ctx, hit, self._moment, self._relevant)
        return "worth", f"It is worth {worth:.2f} to a prompt now; {least:.2f} is wanted."
