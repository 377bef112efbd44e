"""`context`: what a prompt of another program would be given, by the rules of prompts."""

from __future__ import annotations

import copy
from dataclasses import replace

from vector_memory.errors import BadInputError
from vector_memory.service.base import messages
from vector_memory.service.base.asker import HookQuestion, asker_in, scope_of
from vector_memory.service.base.context import Context
from vector_memory.service.inject import prompt_recall
from vector_memory.system import json_in
from vector_memory.text import fence

MOST_TOKENS = 500


class ContextRequest(messages.Request):
    """What belongs to the last of these texts is wanted.

    Attributes:
        session: the program's name of the session: nothing is given twice in one.
        client: the program's own name.
        before: the last words before it, "" for none.
        tokens: tokens at most, of those that the settings allow.
    """

    session: str = messages.text(200)
    client: str = messages.word(default="feed")
    text: str = messages.text(200_000)
    before: str = messages.maybe_text(200_000)
    tokens: int = messages.number(MOST_TOKENS, 50, MOST_TOKENS)


class ContextAnswer(messages.Answer):
    """Notes within their fence, "" for none, the ids of their memories, and how many tokens they take."""

    context: str
    ids: list[str]
    tokens: int


def context(ctx: Context, request: ContextRequest) -> ContextAnswer:
    """Return what memory has to say to a text, as a prompt's hook would.

    Raises:
        BadInputError: it is about no project, or the user wants no memory there.
    """
    place = messages.place_of(ctx, request)
    if place is None or ctx.is_excluded(place, place.root):
        raise BadInputError("There is no memory for that project.", "Name its folder as `project`.")
    asker = asker_in(ctx, place)
    scope = scope_of(place, request.only_project)
    session = json_in.session_id(f"{request.client[:40]}:{request.session}")
    question = HookQuestion(
        **{**vars(asker), "scope": messages.limited(ctx, request, place, scope)},
        session=session,
        folder=place.root,
        prompt=request.text,
        before=request.before,
    )
    shown_before = ctx.state.shown_ids(session)
    # The same parts, with less room for notes.
    narrow = copy.copy(ctx)
    token_limit = min(request.tokens, ctx.settings.prompt_tokens)
    narrow.settings = replace(ctx.settings, prompt_tokens=token_limit)
    block = prompt_recall.on_prompt(narrow, question)
    ids = sorted(ctx.state.shown_ids(session) - shown_before)
    ctx.audit("recall", request.actor, ids, session=session)
    return ContextAnswer(block, ids, fence.tokens(block) if block else 0)
