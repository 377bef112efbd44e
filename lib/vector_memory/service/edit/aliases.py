"""`alias`: a name that means the same as another goes by that one, or by its own again."""

from __future__ import annotations

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.index.entities import KINDS, LONGEST
from vector_memory.service.base import aliases, messages, privacy
from vector_memory.service.base.context import Context


class AliasRequest(messages.Request):
    """A name (`name`, as `kind:name`) is to go by another one (`of`), or, where that is "", by its own again;
    without a name all of them are asked for."""

    name: str = messages.word()
    of: str = messages.word()


class AliasAnswer(messages.Answer):
    """Names that go by another one, each with that one, as `kind:name`."""

    aliases: dict[str, str]


def alias(ctx: Context, request: AliasRequest) -> AliasAnswer:
    """Return which names go by another one, after a change where one is asked for.

    Raises:
        BadInputError: an agent asks for a change, a name is none, or both are one already.
        NotFoundError: it goes by no other name.
    """
    if request.name:
        request.require_user("says which names mean the same")
        name, of = request.name, privacy.word(request.of)
        _require_names(name, *([of] if of else []))
        if of:
            if aliases.name_of(aliases.current(ctx), of) == name:
                raise BadInputError(
                    f"{of} goes by {name} already.",
                    "Tell them apart first, or choose another name.",
                )
        elif name not in ctx.state.records(aliases.SORT):
            raise NotFoundError(
                f"{name} goes by no other name.", "With `of`, it is counted as that one."
            )
        ctx.state.put_record(aliases.SORT, name, {"of": of} if of else None)
        ctx.audit("alias", request.actor, [])
    return AliasAnswer(aliases.current(ctx))


def _require_names(*names: str) -> None:
    for name in names:
        kind, _, word = name.partition(":")
        if kind not in KINDS or not word.strip() or len(name) > LONGEST:
            raise BadInputError(
                f"{name[:LONGEST]!r} is no name.",
                f"Write it as kind:name, of a kind of these: {', '.join(KINDS)}.",
            )
