"""The verbs of the command line as the table `verbs.txt` has them, and the commands that are made of them."""

from __future__ import annotations

import importlib
import inspect
import keyword
import os
import re
from collections.abc import Callable
from datetime import datetime, timezone
from enum import Enum
from functools import cached_property, partial
from typing import Annotated, Any, Literal

import typer
import typer.core

from vector_memory.cli import asking
from vector_memory.cli.invocation import Invocation
from vector_memory.text import tables

PACKAGE, JSON = "vector_memory", "as_json"
TYPES: dict[str, Any] = {"flag": bool, "int": int, "float": float, "date": datetime}
"""Types of values by their words in the table; all others are texts."""
READ: dict[str, Callable[[str], str]] = {
    "words": asking.text_of,
    "path": asking.path_of,
    "folder": asking.existing_folder,
}
"""How texts of some types are read before they are used."""
OFFERED = (
    "id", "held", "waiting", "session", "kind", "job", "tool", "setting", "list_setting", "value",
)  # fmt: skip
"""Types whose values a shell offers (`offered_values`)."""
MARKS = ("many", "optional", "required", "local", "empty")
"""Words that stand before a type in the table."""


class Verb:
    """One verb.

    Attributes:
        name: how it is typed, such as `share publish`.
        does: the module and the function that do it; "" where it only has verbs of its own.
        asks: the daemon's verb, and the words behind it, as the table's head explains them.
        about: its help.
    """

    def __init__(self, heading: str) -> None:
        parts = [part.strip() for part in f"{heading} | | ".split(" |")]
        self.name, self.does, self.asks = parts[:3]
        self.about = ""
        self.lines: list[str] = []

    @cached_property
    def parameters(self) -> list[Parameter]:
        """What it takes, in the order of its help; `--json` last."""
        parameters: list[Parameter] = []
        for line in self.lines:
            shared = line[2:].split() if line.startswith("+ ") else ()
            parameters += [SHARED[name] for name in shared] or [Parameter(line)]
        has_json = any("--json" in parameter.options for parameter in parameters)
        return parameters if has_json else [*parameters, SHARED[JSON]]

    @property
    def summary(self) -> str:
        """The first sentence of its help."""
        return re.split(r"(?<=\.)\s", self.about, maxsplit=1)[0]

    def command(self) -> Callable[..., object]:
        """Return what typer makes a command of: a function with a signature that declares what it takes."""
        function = _load_attribute(f"{PACKAGE}.cli.{self.does}")
        first_name, *wanted_names = inspect.signature(function).parameters
        by_name = {parameter.parameter.name: parameter for parameter in self.parameters}
        sent_names = [
            parameter.name
            for parameter in self.parameters
            if not parameter.is_local and parameter.name != JSON
        ]

        def run(**typed: Any) -> object:
            if (ctx := typed.get("ctx")) and ctx.invoked_subcommand is not None:
                return None
            values = {
                parameter.name: parameter.read(typed[name]) for name, parameter in by_name.items()
            }
            call = Invocation(self.asks, values, sent_names)
            function_of_answer = partial(function, **{name: values[name] for name in wanted_names})
            if first_name == "call":
                return function_of_answer(call)
            call.show(call.ask(), function_of_answer)
            return None

        signature = [parameter.parameter for parameter in self.parameters]
        if is_group(self.name):
            keyword_only = inspect.Parameter.KEYWORD_ONLY
            signature.insert(0, inspect.Parameter("ctx", keyword_only, annotation=typer.Context))
        run.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
        return run


class Parameter:
    """What a verb takes: an option, or an argument, which is typed without a name.

    Attributes:
        name: what functions and requests call it.
        options: how it is typed, nothing for an argument; `usual` the longest of them, or what stands for the argument.
        is_local: it is for this program, and goes into no request.
        is_value: it is a setting's value.
    """

    def __init__(self, line: str) -> None:
        typed, words, self.about = [part.strip() for part in f"{line} ".split(" | ", 2)]
        typed, _, name = typed.partition(" as ")
        words, _, self._default = words.partition(" = ")
        self._words = words.split()
        self._kind, *self._bounds = [word for word in self._words if word not in MARKS]
        self.is_local = "local" in self._words
        self.is_value = self._kind == "value"
        self.options = [word for word in typed.split() if re.match("-.", word)]
        self._metavar = next((word for word in typed.split() if word not in self.options), None)
        self.usual = max(self.options, key=len) if self.options else str(self._metavar)
        self.name = name or self.usual.strip("-").lower().replace("-", "_")

    def read(self, value: Any) -> object:
        """Return a value as functions and requests want it.

        Raises:
            BadParameter: it is empty and may not be, as an unset variable of a shell is.
        """
        texts = value if isinstance(value, list) else [value]
        if "empty" not in self._words and any(
            isinstance(text, str) and not text.strip() for text in texts
        ):
            raise typer.BadParameter(f"{self.usual} is empty.")
        reader = READ.get(self._kind)
        if reader is None or value is None:
            return value
        return [reader(member) for member in value] if isinstance(value, list) else reader(value)

    @cached_property
    def parameter(self) -> inspect.Parameter:
        """The same as a parameter of a Python function."""
        annotation: Any = self._annotation()
        default: Any = inspect.Parameter.empty
        if "many" in self._words:
            annotation = list.__class_getitem__(annotation)
        if self._kind == "flag":
            default = False
        elif self._default:
            default = TYPES.get(self._kind, str)(self._default)
        elif "optional" in self._words or (self.options and "required" not in self._words):
            annotation, default = annotation | None, None
        # `global` and `raise` are words of Python's own.
        name = self.name + "_" * keyword.iskeyword(self.name)
        declared: Any = Annotated[annotation, self._typer_parameter()]
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(name, keyword_only, default=default, annotation=declared)

    def _annotation(self) -> Any:
        if self._kind == "one":
            return Literal[tuple(self._bounds[1:])]
        if ":" in self._kind:
            target = _load_attribute(f"{PACKAGE}.{self._kind}")
            words = {word: word for word in target} if isinstance(target, tuple) else {}
            return Enum(self.name, words, type=str) if words else target
        return TYPES.get(self._kind, str)

    def _typer_parameter(self) -> Any:
        typer_options: dict[str, Any] = {"metavar": self._metavar, "help": self.about}
        if self._bounds and self._kind in TYPES:
            bounds = zip(("min", "max"), self._bounds[0].split(".."), strict=True)
            typer_options |= {
                name: float(bound) if "." in bound else int(bound)
                for name, bound in bounds
                if bound
            }
        if self._kind in OFFERED:
            typer_options["autocompletion"] = _completion_of(self._kind)
        if self._kind == "date":
            typer_options["parser"] = at_command_line
        if ":" in self._kind:
            typer_options["case_sensitive"] = False
        return (
            typer.Option(*self.options, **typer_options)
            if self.options
            else typer.Argument(**typer_options)
        )


class VerbCommand(typer.core.TyperCommand):
    """A command whose values may begin with a dash: `remember "-v means verbose"`, `config set NAME -1`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; texts of several words and numbers are values, whatever they begin with."""
        return super().parse_args(ctx, self._with_values_last(args))

    def _with_values_last(self, args: list[str]) -> list[str]:
        valued_options = {
            name
            for param in self.params
            if isinstance(param, typer.core.TyperOption) and not param.is_flag
            for name in param.opts
        }
        end = args.index("--") if "--" in args else len(args)
        options: list[str] = []
        values: list[str] = []
        for previous, word in zip(["", *args], args[:end], strict=False):
            (values if previous not in valued_options and _is_value(word) else options).append(word)
        return [*options, "--", *values, *args[end + 1 :]] if values else args


def at_command_line(text: str | datetime) -> datetime:
    """Parse an option's date against the real clock; a wrong one is wrong usage."""
    if isinstance(text, datetime):
        return text
    from vector_memory.text import dates

    try:
        return dates.parse(text, datetime.now(timezone.utc))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date. Examples: {dates.EXAMPLES}.") from None


def _is_value(word: str) -> bool:
    """Whether a word begins with a dash and is no option: a text of several words, a number."""
    is_number = word != "-" and not word[1:].strip("0123456789.")
    return word.startswith("-") and (is_number or word.split() != [word])


def command_of(name: str) -> Any:
    """Return a verb as a command; a group with the verbs of its own."""
    verb = VERBS[name]
    group = typer.Typer(
        add_completion=False, rich_markup_mode=None, help=verb.about, no_args_is_help=not verb.does
    )
    if not is_group(name):
        group.command(name, cls=VerbCommand, help=verb.about)(verb.command())
    elif verb.does:
        group.callback(invoke_without_command=True)(verb.command())
    for inner in VERBS.values():
        if inner.name.startswith(f"{name} "):
            last_word = inner.name.rpartition(" ")[2]
            # A setting's value may look like an option.
            settings = {
                "ignore_unknown_options": any(parameter.is_value for parameter in inner.parameters)
            }
            group.command(last_word, cls=VerbCommand, help=inner.about, context_settings=settings)(
                inner.command()
            )
    command = typer.main.get_command(group)
    command.name = name
    return command


def is_group(name: str) -> bool:
    """Whether a verb has verbs of its own."""
    return any(verb_name.startswith(f"{name} ") for verb_name in VERBS)


def _load_attribute(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _completion_of(kind: str) -> Callable[..., list[Any]]:
    def offer(ctx: typer.Context, incomplete: str) -> list[Any]:
        from vector_memory.cli import offered_values

        name, is_held = str(ctx.params.get("name")), ctx.info_name == "remove"
        return offered_values.offered(kind, incomplete, name, is_held)

    return offer


def _read_table() -> list[Verb]:
    # What stands before the first verb several of them take.
    verbs = [Verb("")]
    for line in tables.lines("verbs", os.path.dirname(__file__)):
        if line.startswith("= "):
            verbs.append(Verb(line[2:]))
        elif line.startswith(">"):
            verbs[-1].about += line[2:] + "\n"
        else:
            verbs[-1].lines.append(line)
    return verbs


_shared, *_verbs = _read_table()
SHARED = {(parameter := Parameter(line)).name: parameter for line in _shared.lines}
"""What several verbs take, by name."""
VERBS = {verb.name: verb for verb in _verbs}
"""The verbs by how they are typed, in the order of the help; a group's own follow it."""
