"""Settings: one typed class, a doc and a unit for each field.

Defaults < `config.json` in the data home < environment (`VECTOR_MEMORY_<FIELD>`), which holds for the process that has
it. pydantic checks what users wrote; it is imported only where there is something to check, since most daemons start
without a file and pydantic costs more than the rest of their start.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from vector_memory.errors import BadInputError
from vector_memory.system import protecting
from vector_memory.system.private import make_folder

PREFIX = "VECTOR_MEMORY_"
FOLDERS = frozenset({"excluded_projects", "daily_notes", "vault", "reviews"})
"""Settings that name folders."""
STARTED_WITH = ("embedding_", "ollama_")
"""How the names of settings begin that only a start of the daemon takes over."""
NOTE_NAMES = {
    "daily_note_name": ("YYYY", "M", "DD"),
    "weekly_note_name": ("GGGG", "WW"),
    "monthly_note_name": ("YYYY", "M"),
}
"""What names of notes must say, so that no two days, weeks or months share one."""
LIKENESS = 0.5
"""How like a setting's name, by `difflib`, another one must be to be taken for it misspelt: "exclude" is one."""


BOUNDS, IS_USERS = "bounds", "is_users"


def users(default: Any, **bounds: float) -> Any:
    """Return a setting that only the user changes: by it something is sent, written outside of the data home, kept or
    kept out, told to sessions or held back from them, asked, spent or limited.

    Args:
        bounds: what pydantic checks (`ge`, `le`, `min_length`).
    """
    return field(default=default, metadata={BOUNDS: bounds, IS_USERS: True})


def agents(default: Any, **bounds: float) -> Any:
    """Return a setting that agents may change too: it tunes how memories are found, or how the daemon runs, and does
    nothing that `users` names."""
    return field(default=default, metadata={BOUNDS: bounds, IS_USERS: False})


ENGLISH_BACKEND = "minilm"
"""The default backend: its model knows no other language than English."""


@dataclass(frozen=True)
class Settings:
    """All settings. Change one with `vector-memory config set NAME VALUE`."""

    capture: bool = users(True)
    """Index what is said in sessions."""
    capture_without: tuple[
        Literal[
            "exchange", "decision", "conclusion", "question", "problem", "cause", "solution", "todo", "fact",
            "context", "preference", "procedure", "fix", "topic", "summary",
        ],
        ...,
    ] = users(())  # fmt: skip
    """Kinds of memories that sessions do not leave: passages (`exchange`), kinds of ideas, `fix`es of
    errors, `topic`s, the `summary` of a session. What is stored already stays."""
    archive: bool = users(True)
    """Keep the redacted text of each finished session as a Markdown file in the data home."""
    daily_notes: str = users("")
    """A folder, such as an Obsidian vault's, whose daily notes get a section about each session when it
    ends. Empty means none."""
    daily_note_name: str = users("YYYY-MM-DD")
    """How daily notes are named, as Obsidian writes it, without `.md`: `YYYY/MM/YYYY-MM-DD ddd`."""
    recall_on_prompt: bool = users(True)
    """Bring memories to prompts."""
    recall_on_start: bool = users(True)
    """Bring memories to the start of a session."""
    vault: str = users("")
    """A folder of Markdown, such as an Obsidian vault, that `rag_search` searches too. Empty means none."""
    confirm_decisions: bool = users(False)
    """After a turn in which a decision was noted, have the user asked whether it is right."""
    recall_on_failure: bool = users(True)
    """Bring the fix of an error that was met before to a command that fails with it."""
    facade: Literal["off", "beside", "serve"] = users("beside")
    """What happens when the agent searches files: memory stands `beside` the result, or is given instead of
    it where it surely holds the answer (`serve`)."""
    facade_tokens: int = users(200, ge=50, le=1000)
    """Tokens at most that one search gets."""
    observer: Literal["off", "record", "warn", "block"] = users("record")
    """Whether tool calls that destroy something, or lead away from what was asked, are recorded, whether the
    agent is warned of them, and whether those that break a limit or a contract of yours are refused."""
    learn_from_outcomes: bool = users(True)
    """Learn from how tasks went: which steps worked, what failed, in what state things were last seen."""
    guidance_on_start: bool = users(True)
    """Tell a session at its start what usually goes wrong here, and what worked for tasks like it."""
    prompt_tokens: int = users(480, ge=50, le=2000)
    """Tokens at most that one prompt gets."""
    start_tokens: int = users(900, ge=50, le=4000)
    """Tokens at most that a session's start gets."""
    session_tokens: int = users(0, ge=0, le=100_000)
    """Tokens at most that a session gets unasked in all, from its start to its end. 0 means no such limit."""
    start_memories: int = users(7, ge=0, le=20)
    """Memories at most at a session's start."""
    prompt_memories: int = users(5, ge=0, le=20)
    """Memories at most for one prompt. As long as it is 5, who asks what is still open is told eight."""
    threshold: float = users(0.3, ge=0.0, le=1.0)
    """Relevance (0 to 1) below which a prompt gets nothing, in a project of a hundred memories; it
    rises with their number."""
    adapt_threshold: bool = agents(True)
    """Let the threshold move by 0.1 at most, up where what prompts are given is seldom used, down where it
    often is."""
    origin_share: float = users(0.5, ge=0.1, le=1.0)
    """Share of what is put before the model at once that one origin other than you may take. What
    sessions said and what you imported takes what others leave; what others wrote does not."""
    candidates: int = users(200, ge=10, le=1000)
    """Candidates taken from each retriever."""
    scoring: Literal["bounded", "sum"] = agents("bounded")
    """How recency, priority, usage and confidence count: as a `bounded` multiplier of at most 1.1,
    or as the `sum` 0.4 similarity + 0.2 recency + 0.2 priority + 0.2 usage, which finds less."""
    query_tokens: int = agents(128, ge=16, le=256)
    """Tokens of a prompt that are embedded at most; the rest still counts for words."""
    embedding_backend: str = users(ENGLISH_BACKEND, min_length=1)
    """Which backend embeds: `minilm`, `sentence-transformers` or `ollama`."""
    embedding_model: str = users("")
    """The backend's model: an id or a folder. Empty means the backend's own default."""
    ollama_host: str = users("")
    """Ollama's address. Empty means `OLLAMA_HOST`, else http://127.0.0.1:11434."""
    embedding_threads: int = agents(2, ge=1, le=64)
    """Processors that a backfill's embedding may use; a prompt's takes one."""
    generation_backend: Literal["", "ollama", "client"] = users("")
    """Which language model `hyde`, `rerank` and `extraction` may ask: one of `ollama`, the headless
    `client` (which costs your tokens), or none."""
    generation_model: str = users("")
    """Its name. Empty means a small one: `llama3.2:3b` of `ollama`, `haiku` of the `client`."""
    generation_gate_model: str = users("")
    """The model that `extraction_gate` asks, which may be a smaller one. Empty means `generation_model`."""
    generation_daily_calls: int = users(200, ge=0, le=100_000)
    """Calls of the language model at most in a day."""
    generation_daily_tokens: int = users(200_000, ge=0, le=100_000_000)
    """Tokens that the language model may take in a day, prompts included."""
    generation_timeout_s: float = users(20.0, ge=1, le=300)
    """Seconds after which a recall goes on without the model."""
    hyde: bool = users(False)
    """Let the model write a hypothetical answer that a recall you ask for searches with."""
    rerank: bool = users(False)
    """Let the model order the first hits of a recall you ask for."""
    extraction: bool = users(False)
    """Let the model find ideas beside the rules, in what was said, after each turn."""
    extraction_gate: bool = users(True)
    """Ask first, in a few tokens, whether a stretch of text holds anything worth remembering."""
    jobs: bool = users(True)
    """Run the upkeep jobs that are due, when nobody waits (`vector-memory jobs`)."""
    backup_most_mb: int = users(2_000, ge=0, le=1_000_000)
    """Megabytes of journals above which the job `backup` writes none."""
    reviews: str = users("")
    """A folder, such as one of an Obsidian vault, in which the jobs `weekly-note` and `monthly-review` write
    their notes. Empty means none."""
    weekly_note_name: str = users("GGGG-[W]WW")
    """How notes of weeks are named, as `daily_note_name`; `GGGG` is the year that the week belongs to."""
    monthly_note_name: str = users("YYYY-MM")
    """How notes of months are named, as `daily_note_name`."""
    idle_exit_minutes: float = agents(30.0, ge=0.05, le=10_080)
    """Minutes without a request after which the daemon ends."""
    redact_personal: tuple[Literal["card", "ssn", "iban", "email", "phone"], ...] = users(
        ("card", "ssn", "iban")
    )
    """Personal data that is never stored or shown: numbers of payment cards, US social security numbers
    and bank accounts; `email` and `phone` numbers where you add them."""
    excluded_projects: tuple[str, ...] = users(())
    """Folders whose sessions are neither indexed nor given memories."""
    log_level: Literal["debug", "info", "warning", "error"] = agents("info")
    """How much `logs/daemon.log` says."""

    def captures(self, kind: str) -> bool:
        """Whether sessions leave memories of a kind."""
        return kind not in self.capture_without


class SalvagedSettings(Settings):
    """What was in order of settings that are not: where these capture nothing, that is nobody's word."""


def load(path: str, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings in force.

    Args:
        path: `config.json`; it need not exist.
        environ: the environment, `os.environ` by default.

    Raises:
        BadInputError: the file is no JSON object, or a setting is unknown or out of range.
    """
    raw, values = read_file(path), _from_environment(os.environ if environ is None else environ)
    raw.update(values)
    try:
        return validate(raw) if raw else Settings()
    except BadInputError:
        _require_good_variables(values)
        raise


def _require_good_variables(environment_values: Mapping[str, Any]) -> None:
    """Raise BadInputError where a variable is wrong: `config set` changes nothing in it."""
    for name, value in environment_values.items():
        try:
            validate({name: value})
        except BadInputError as error:
            hint = f"{PREFIX}{name.upper()} in the environment says so: mend it, or take it away."
            raise BadInputError(error.message, hint) from error


def salvaged(path: str) -> Settings:
    """Return what is in order of settings that are not. Where that leaves open what must not be stored, also by a name
    that may be a misspelt one, nothing is captured, and all kinds of personal data are taken out."""
    every = ("card", "ssn", "iban", "email", "phone")
    closed = {"capture": False, "redact_personal": every}
    in_file, is_closed = dict[str, Any](), False
    try:
        in_file = read_file(path)
    except BadInputError:
        is_closed = True
    raw = {**in_file, **_from_environment(os.environ)}
    good: dict[str, Any] = {}
    for name in raw:
        try:
            validate({name: raw[name]})
        except BadInputError:
            is_closed = is_closed or _may_protect(name)
        else:
            good[name] = raw[name]
    if in_file.get("capture") is False:
        # A mistake in the environment takes nothing back of what the file says.
        good.setdefault("capture", False)
    settings = validate({**good, **(closed if is_closed else {})})
    # A valid `capture: false` is the user's word, whatever else is wrong.
    return SalvagedSettings(**vars(settings)) if validate(good).capture else settings


def _may_protect(name: str) -> bool:
    """Whether a name speaks of what must not be stored, or is more like that of a setting which says it than like any
    other setting's."""
    import difflib

    like = difflib.get_close_matches(name.lower(), names(), 1, LIKENESS)
    return protecting.speaks_of_it(name) or not protecting.SETTINGS.isdisjoint(like)


def read_file(path: str) -> dict[str, Any]:
    """Return what `config.json` says, unchecked; {} without a file."""
    try:
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} cannot be read: {error}.", "Mend or delete it.") from error
    if not isinstance(raw, dict):
        raise BadInputError(f"{path} holds no JSON object.", "Mend or delete it.")
    return raw


def validate(raw: Mapping[str, Any]) -> Settings:
    """Return settings made of `raw` (strings are converted) over the defaults.

    Raises:
        BadInputError: a name is unknown or a value is out of range; it says which and why.
    """
    if raw.get("facade") == "merge":
        raise BadInputError(
            "facade: memory is not put on top of a search's result any more.",
            "`vector-memory config set facade beside` says the same beside it.",
        )
    unknown = sorted(set(raw) - set(names()))
    if unknown:
        raise BadInputError(
            f"There is no setting {unknown[0]!r}.",
            f"`vector-memory config unset {unknown[0]}` takes it out of config.json.",
        )
    from typing import get_type_hints

    from pydantic import Field, ValidationError, create_model

    hints = get_type_hints(Settings)
    definitions: dict[str, Any] = {
        setting.name: (
            hints[setting.name],
            Field(setting.default, **setting.metadata.get(BOUNDS, {})),
        )
        for setting in fields(Settings)
    }
    checked = create_model("Checked", **definitions)
    try:
        settings = Settings(**checked(**raw).model_dump())
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        example = "true|false" if problem["type"].startswith("bool") else "VALUE"
        raise BadInputError(
            f"{name}: {problem['msg']}.",
            f"Set it with `vector-memory config set {problem['loc'][0]} {example}`.",
        ) from error
    for name, wanted_fields in NOTE_NAMES.items():
        _check_note_name(name, getattr(settings, name), wanted_fields)
    for folder in settings.excluded_projects:
        if not os.path.isabs(os.path.expanduser(folder)):
            raise BadInputError(
                f"excluded_projects: {folder!r} is no whole path, so it would keep nothing out.",
                "Write the whole path, or use `vector-memory config add excluded_projects FOLDER`.",
            )
    return settings


def _check_note_name(name: str, pattern: str, wanted_fields: tuple[str, ...]) -> None:
    """Raise BadInputError where a pattern leads out of its folder, or leaves open which note is meant."""
    bare_pattern = re.sub(r"\[[^\[\]]*\]", "", pattern).replace("g", "G").replace("w", "W")
    parts = pattern.split("/")
    if any(part.strip() in ("", ".", "..") for part in parts) or re.search(
        r"[\\\x00-\x1f]", pattern
    ):
        raise BadInputError(
            f"{name}: {pattern!r} is no name below a folder.", "Write it like `YYYY/MM/YYYY-MM-DD`."
        )
    if missing := [field_name for field_name in wanted_fields if field_name not in bare_pattern]:
        raise BadInputError(
            f"{name}: {pattern!r} does not say {missing[0]}, so that notes would share a name.",
            f"It needs {', '.join(wanted_fields)}; words of your own stand in brackets: `[words]`.",
        )


def save(path: str, raw: Mapping[str, Any]) -> None:
    """Check `raw` and write it as `config.json` (0600), replacing the file at once."""
    validate(raw)
    write(path, raw)


def write(path: str, raw: Mapping[str, Any]) -> None:
    """Write `config.json` as it is to be, whether or not it is in order; where it is a link, what that leads to. Who has
    read it before holds `Home.config_lock` meanwhile."""
    from vector_memory.system.durable_files import write_durably

    content = (json.dumps(dict(raw), indent=2, sort_keys=True) + "\n").encode()
    is_link = os.path.islink(path)
    target = os.path.realpath(path) if is_link else path
    make_folder(os.path.dirname(target))
    write_durably(target, content, keep_mode=is_link)


def names() -> list[str]:
    """Return every setting's name, in order."""
    return [setting.name for setting in fields(Settings)]


def is_users(name: str) -> bool:
    """Whether only the user changes a setting: each says so where it stands, and one that does not is the user's."""
    return {
        setting.name: bool(setting.metadata.get(IS_USERS, True)) for setting in fields(Settings)
    }[name]


def variables() -> list[str]:
    """Return the names of this process's environment variables that set something, sorted."""
    return sorted(PREFIX + name.upper() for name in _from_environment(os.environ))


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what environment variables set. One that a shell has left empty sets a text alone: it takes nothing out of
    a list by which the file protects something."""
    return {
        setting.name: value
        for setting in fields(Settings)
        if (text := environ.get(PREFIX + setting.name.upper())) is not None
        and ((value := _words(setting.default, text)) or isinstance(setting.default, str))
    }


def _words(default: object, value: str) -> Any:
    """Split a list that an environment variable writes with the path separator."""
    is_list = isinstance(default, tuple)
    return list(filter(None, value.split(os.pathsep))) if is_list else value


def needs_restart(old: Settings, new: Settings) -> bool:
    """Whether a change takes effect only in a new daemon: the embedding model is loaded once."""
    startup_names = [name for name in names() if name.startswith(STARTED_WITH)]
    return any(getattr(old, name) != getattr(new, name) for name in startup_names)
