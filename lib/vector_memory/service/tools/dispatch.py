"""A tool call that is about to be made: what memory has to say to it, and who looks on."""

from __future__ import annotations

import importlib
from dataclasses import replace

from vector_memory.config import Settings
from vector_memory.service.base.context import Context
from vector_memory.service.tools.tool_call import ToolAnswer, ToolCall
from vector_memory.system.durable_files import write_durably


def before(ctx: Context, call: ToolCall) -> ToolAnswer:
    """Return what is said to a call that is about to be made."""
    from vector_memory.service.tools import search_advice

    answer, remark = search_advice.before(ctx, call), ToolAnswer()
    if ctx.settings.observer != "off":
        from vector_memory.service.tools import observer

        # First: what takes long must not keep a remark from being in time.
        remark = observer.before(ctx, call)
        if remark.instead:
            return remark
    if ctx.has_tool_procedures:
        from vector_memory.service.learning import procedures

        answer = _with_context(answer, procedures.for_call(ctx, call, dict(call.input)))
    return _with_context(answer, remark.context)


def _with_context(answer: ToolAnswer, more: str) -> ToolAnswer:
    return replace(answer, context="\n".join(filter(None, (answer.context, more))))


def warm_up(settings: Settings) -> None:
    """Import what looks at calls, and make the grammars and the forms of errors ready: it takes longer than any call
    may."""
    observers = [
        "failure_advice",
        *(["search_advice"] if settings.facade != "off" else []),
        *(["observer"] if settings.observer != "off" else []),
    ]
    for name in observers:
        importlib.import_module(f"{__package__}.{name}")
    from vector_memory.index.fixes import errors, likeness
    from vector_memory.text import shell

    if settings.observer != "off":
        from vector_memory.observe.intent import grammar

        grammar.warm()
    shell.parse("grep -rn name src")
    errors.signature("Error: no such file: 'a.txt'", "make test")
    likeness.likeness("Error: no such file: 'a.txt'", "make test")


def publish_wishes(path: str, settings: Settings, has_procedures: bool = False) -> None:
    """Leave for hooks what of tool calls is to be asked or told (`client.tool_calls.WISHES`).

    Args:
        has_procedures: some procedure comes with a file or a command.
    """
    words = [
        *(["search"] if settings.facade in ("beside", "serve") else []),
        # Who is served instead of a search must not be editing what is searched.
        *(["watch"] if settings.observer != "off" or settings.facade == "serve" else []),
        *(["warn"] if settings.observer in ("warn", "block") else []),
        *(["when"] if has_procedures else []),
        *(["errors"] if settings.recall_on_failure else []),
    ]
    write_durably(path, " ".join(words).encode("ascii"))
