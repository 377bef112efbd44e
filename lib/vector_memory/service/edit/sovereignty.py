"""Under whose law memories are kept, and how sensitive they are: counted, and set by id."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from vector_memory.errors import BadInputError
from vector_memory.model import JURISDICTIONS, Memory, Sensitivity, strictest, unique
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_names
from vector_memory.service.edit.inherited_levels import keep_level
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import BriefView

COUNTED_BY = ("project", "jurisdiction", "sensitivity")


class SovereigntyRequest(messages.Request):
    """Tell what is where; with `ids` set how sensitive these are, or whose law they are kept under."""

    ids: tuple[str, ...] = messages.words()
    sensitivity: Sensitivity | None = messages.one_of(Sensitivity, None)
    jurisdiction: str = messages.one_of(JURISDICTIONS)


class KeptView(messages.Answer):
    """How many memories of a project have a level and a jurisdiction."""

    project: str
    jurisdiction: str
    sensitivity: str
    memories: int


class SovereigntyAnswer(messages.Answer):
    """Counts, the largest first, and how many memories were changed, those included that repeat the words of one that
    became more sensitive.

    Attributes:
        left_out: stores that could not be opened, by their folders.
        raised: what became more sensitive with these; an agent is not told it.
    """

    kept: list[KeptView]
    changed: int
    left_out: dict[str, str]
    raised: list[BriefView] | None = messages.spare()


def sovereignty(ctx: Context, request: SovereigntyRequest) -> SovereigntyAnswer:
    """Return what is kept where, of what who asks may be given, after changing what is asked.

    Raises:
        NotFoundError: there is no such memory.
        BadInputError: an agent would lower a level or change a jurisdiction; nothing is to be set.
    """
    changed, raised = 0, list[BriefView]()
    if request.ids:
        if request.sensitivity is None and not request.jurisdiction:
            raise BadInputError("Nothing to set.", "Give a sensitivity or a jurisdiction.")
        pairs = [lookup(ctx, id) for id in request.ids]
        changes = [
            (shelf, old, new) for shelf, old in pairs if (new := _with_level(request, old)) != old
        ]
        for shelf, old, new in changes:
            stored = shelf.journal.update(replace(new, updated_at=ctx.now()), old)
            raised += keep_level(ctx, shelf, stored, old, is_agent=request.is_agent)
        ids = unique([*(new.id for _, _, new in changes), *(view.id for view in raised)])
        changed = len(ids)
        level = request.sensitivity.value if request.sensitivity else ""
        detail = {"sensitivity": level, "jurisdiction": request.jurisdiction}
        ctx.state.audit("sovereignty", request.actor, ids, detail)
        ctx.notify()
    unopened = {folder: str(error) for folder, error in ctx.unopened().items()}
    shown_raised = None if request.is_agent else raised or None
    return SovereigntyAnswer(_kept_views(ctx), changed, unopened, shown_raised)


def _with_level(request: SovereigntyRequest, memory: Memory) -> Memory:
    level = request.sensitivity or memory.sensitivity
    law = request.jurisdiction or memory.jurisdiction
    if request.is_agent:
        is_lower = strictest(level, memory.sensitivity) is not level
        if is_lower or (memory.jurisdiction and law != memory.jurisdiction):
            raise BadInputError(
                f"Only the user makes memory {memory.id[:12]} less sensitive, or moves it to another law.",
                f"`vector-memory edit {memory.id[:12]} --sensitivity {level}` in their own terminal.",
            )
    return replace(memory, sensitivity=level, jurisdiction=law)


def _kept_views(ctx: Context) -> list[KeptView]:
    shelves = ctx.all_shelves()
    names, counts = project_names(shelves), Counter[tuple[str, ...]]()
    for shelf in shelves:
        counts.update(shelf.journal.count_by_words(COUNTED_BY, reach.everything()))
    return [
        KeptView(names[project] if project else "", law, level, n)
        for (project, law, level), n in counts.most_common()
    ]
