"""`config`: read and change settings."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from dataclasses import asdict
from typing import Any, Literal, get_args, get_origin, get_type_hints

from vector_memory import config as settings
from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.embed import registry
from vector_memory.errors import BadInputError, DaemonUnavailableError, VectorMemoryError
from vector_memory.system import ancestry, processes
from vector_memory.system.durable_files import hold_lock
from vector_memory.system.paths import Home

MODEL, PATH_BEGINS = "embedding_model", ("/", "~", ".")
NO_FOLDER = (
    "Check the path, or make it first.",
    "Name a model's folder, or its id, such as intfloat/multilingual-e5-small.",
)
"""What to do where there is no such folder, of any setting and of the model's."""
OTHER_BACKEND = "`vector-memory config set embedding_backend BACKEND` chooses one that reads it."
ADDRESS = r"https?://[^\s/:]\S*|localhost|[^\s:/.]+[.:][^\s/]+|\[[\da-f:]+\](:\d+)?"
"""An Ollama's: with its scheme, a domain or a port."""
MODEL_WAIT_S = 120.0
MODEL_TICK_S = 0.25


def list_settings(call: Invocation) -> None:
    """Print every setting in force, and where it comes from."""
    values, documented = asdict(settings.load(Home().config)), descriptions()
    hints = get_type_hints(settings.Settings)
    rows = [
        {
            "name": name, "value": value, "source": source(name), "about": documented.get(name, ""),
            "choices": list(get_args(hints[name])) if get_origin(hints[name]) is Literal else [],
        }
        for name, value in values.items()
    ]  # fmt: skip
    answer = Row({"settings": rows})
    call.show(answer, lambda _: output.listing(answer.rows("settings"), COLUMNS))


def get_setting(call: Invocation, name: str) -> None:
    """Print one setting in force."""
    _require_setting(name)
    value = getattr(settings.load(Home().config), name)
    call.say(Row({"name": name, "value": value, "source": source(name)}), _display_text(value))


def set_setting(call: Invocation, name: str, value: str) -> None:
    """Change a setting; a running daemon takes it over at once."""
    _require_setting(name)
    parsed = _parse(name, value)
    stored = (
        [_checked_value(name, member) for member in parsed]
        if _is_list(name)
        else _checked_value(name, parsed)
    )
    with hold_lock(Home().make().config_lock):
        previous = _members(name) if _is_list(name) else []
        _save(name, stored, "set", [json.dumps(stored) if _is_list(name) else str(stored)])
    _show_in_force(call, name)
    if previous and not call.as_json:
        output.note(
            f"Before it was {_display_text(previous)}; `config add` and `config remove` keep the others."
        )


def add(call: Invocation, name: str, values: list[str]) -> None:
    """Add to a list; what it holds stays."""
    _require_list(name)
    added = [_checked_value(name, value) for value in values]
    with hold_lock(Home().make().config_lock):
        _save(name, list(dict.fromkeys([*_members(name), *added])), "add", added)
    _show_in_force(call, name)


def remove(call: Invocation, name: str, values: list[str]) -> None:
    """Remove from a list; the rest of it stays.

    Raises:
        BadInputError: something is not in it.
    """
    _require_list(name)
    removed_forms = {form for value in values for form in (value, _resolved(name, value))}
    with hold_lock(Home().make().config_lock):
        members = _members(name)
        missing = [value for value in values if not {value, _resolved(name, value)} & set(members)]
        if missing:
            holds = f"It holds: {_display_text(members)}" if members else "It is empty."
            raise BadInputError(f"{missing[0]!r} is not in {name}.", holds)
        removed = [member for member in members if member in removed_forms]
        kept = [member for member in members if member not in removed_forms]
        _save(name, kept, "remove", removed)
    _show_in_force(call, name)


def unset_setting(call: Invocation, name: str) -> None:
    """Go back to a setting's default, or take out of the file what is none: what else is wrong there keeps nobody
    from mending it one by one."""
    home = Home().make()
    with hold_lock(home.config_lock):
        raw = settings.read_file(home.config)
        if name not in raw.keys() - set(settings.names()):
            _require_setting(name)
            _require_allowed(name, "unset", [])
        raw.pop(name, None)
        settings.write(home.config, raw)
    try:
        settings.load(home.config)
    except BadInputError as error:
        call.say(Row({"name": name, "problem": str(error)}), f"{name} is unset.")
        if not call.as_json:
            output.note(str(error))
        return
    if name in settings.names():
        _show_in_force(call, name)
        return
    _, reloaded = _reload()
    call.say(Row({"name": name, "reloaded": reloaded}), f"{name} is unset.")


def path(call: Invocation) -> None:
    """Print where the settings file is."""
    where = Home().config
    call.say(Row({"path": where}), where)


def source(name: str) -> str:
    """Return where a setting in force comes from: default, file or environment."""
    if settings.PREFIX + name.upper() in settings.variables():
        return "environment"
    return "file" if name in settings.read_file(Home().config) else "default"


def descriptions() -> dict[str, str]:
    """Return what each setting means: the docstring under its field."""
    import ast
    import inspect

    body = ast.parse(inspect.getsource(settings.Settings)).body[0]
    assert isinstance(body, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, following in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            text = following.value.value if is_text else ""  # type: ignore[attr-defined]
            texts[field.target.id] = " ".join(str(text).split())
    return texts


def _require_setting(name: str) -> None:
    if name not in settings.names():
        raise BadInputError(
            f"There is no setting {name!r}.", f"Settings: {', '.join(settings.names())}."
        )


def _is_list(name: str) -> bool:
    return isinstance(getattr(settings.Settings(), name), tuple)


def _members(name: str) -> list[str]:
    """Return what a list holds, by its file or by default; also one that is not in order."""
    members = settings.read_file(Home().config).get(name, getattr(settings.Settings(), name))
    return list(members) if isinstance(members, (list, tuple)) else []


def _require_list(name: str) -> None:
    _require_setting(name)
    if not _is_list(name):
        raise BadInputError(f"{name} is no list.", f"`vector-memory config set {name} VALUE`.")


def _save(name: str, value: Any, action: str, words: list[str]) -> None:
    """Write a setting, once it is checked and may be changed, while the settings' lock is held.

    Args:
        words: what a command for it would say behind the setting's name.
    """
    raw = {**settings.read_file(Home().config), name: value}
    checked = asdict(settings.validate(raw))
    _require_allowed(name, action, words)
    settings.save(Home().config, {key: checked[key] for key in raw})


def _resolved(name: str, value: str) -> str:
    """Return a folder's path as it is wherever one asks from, anything else as it is."""
    if name in settings.FOLDERS and value:
        return os.path.realpath(os.path.expanduser(value))
    if name == MODEL and value.startswith(PATH_BEGINS):
        return os.path.abspath(os.path.expanduser(value))
    return value


def _checked_value(name: str, value: Any) -> Any:
    """Return one value as it is to be kept: a folder's whole path.

    Raises:
        BadInputError: there is no such backend, or no address; or no such folder, so that it would protect nothing.
    """
    if name == "embedding_backend" and value not in registry.BACKENDS:
        raise BadInputError(
            f"There is no embedding backend {value!r}.",
            f"Backends: {', '.join(registry.BACKENDS)}. `vector-memory backend list` shows more.",
        )
    if name == "ollama_host" and value and not re.fullmatch(ADDRESS, value):
        raise BadInputError(
            f"ollama_host: {value!r} is no address.", "Write it like http://127.0.0.1:11434."
        )
    path = _resolved(name, value) if isinstance(value, str) else value
    is_folder = path and (name in settings.FOLDERS or (name == MODEL and os.path.isabs(path)))
    if is_folder and not os.path.isdir(path):
        raise BadInputError(f"{name}: there is no folder {path}.", NO_FOLDER[name == MODEL])
    if path != value:
        output.note(f"{value} is {path}")
    return path


def _require_allowed(name: str, action: str, words: list[str]) -> None:
    """Where this is not surely a person's command have the daemon say whether a setting may be changed, and note it.

    Raises:
        BadInputError: an agent changes one that is the user's alone.
        DaemonUnavailableError: an agent changes one, and nobody could note it.
    """
    if ancestry.line_of(processes.process(os.getpid()), {}).speaker != ancestry.USER:
        asking.ask("setting", asking.target(), name=name, action=action, words=shlex.join(words))


def _parse(name: str, value: str) -> Any:
    if not _is_list(name):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError as error:
            raise BadInputError(f"{name}: no JSON list.", 'Write ["/one", "/two"].') from error
    return [part for part in value.split(os.pathsep) if part]


def _show_in_force(call: Invocation, name: str) -> None:
    """Have a running daemon take a setting over, and print what is in force now."""
    value = getattr(settings.load(Home().config), name)
    was_running, reloaded = _reload()
    where = source(name)
    answer = Row({"name": name, "value": value, "source": where, "reloaded": reloaded})
    call.say(answer, f"{name} = {_display_text(value)}")
    if call.as_json:
        return
    if where == "environment":
        output.note(f"{settings.PREFIX}{name.upper()} in the environment says otherwise, and wins.")
    if problem := name.startswith("embedding_") and registry.unused_model_setting(
        settings.load(Home().config)
    ):
        output.note(f"{problem} {OTHER_BACKEND}")
    if was_running and name.startswith(settings.STARTED_WITH):
        _await_model(name)


def _reload() -> tuple[bool, bool]:
    """Have a running daemon take the settings over; whether there was one, and whether it did."""
    daemon = asking.daemon()
    try:
        if daemon.running() is None:
            return False, False
        try:
            restarts = daemon.ask("reload", asking.target(), start=False).get("restarting")
        except DaemonUnavailableError:
            # It saw the file change before it was asked, and is ending: the next one begins with it.
            restarts = True
        if restarts:
            daemon.wait_gone()
    except VectorMemoryError as error:
        output.note(f"The daemon did not take it over: {error}")
        return True, False
    return True, True


def _await_model(name: str) -> None:
    """Wait until the model that was chosen is up, and say what follows: nobody finds out later that it is not,
    or wonders why less is found for a while."""
    deadline = time.monotonic() + MODEL_WAIT_S
    try:
        while True:
            stats = asking.ask("stats", asking.everywhere())
            model = stats.row("embedding")
            if model.text("state") != "loading" or time.monotonic() > deadline:
                break
            time.sleep(MODEL_TICK_S)
    except VectorMemoryError as error:
        output.note(error.message)
        return
    state, stores = model.text("state"), stats.rows("stores")
    if state == "failed":
        output.note(f"It cannot be used: {model.text('error')}")
        output.note(
            f"Until then memories are found by words. `vector-memory config unset {name}` goes back."
        )
    elif state == "loading":
        output.note("The model is still loading; `vector-memory doctor` tells whether it comes up.")
    else:
        memories = sum(store.count("memories") for store in stores)
        waiting = min(memories, sum(store.count("pending_vectors") for store in stores))
        output.note(f"{model.text('model')} is ready.")
        # A store whose index is just being opened counts as one that waits.
        if waiting > len(stores):
            output.note(
                f"{waiting:,} of {memories:,} memories get new vectors in the background; until then words "
                "find them. `vector-memory migrate` waits and shows how far it is."
            )


def _display_text(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return os.pathsep.join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


COLUMNS: dict[str, output.Cell] = {
    **output.fields("name"),
    "value": lambda setting: _display_text(setting["value"]),
    **output.fields("source"),
    "about": lambda setting: setting.text("about"),
}
