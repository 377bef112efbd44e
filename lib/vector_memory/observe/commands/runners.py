"""What runs something else, looked through: `docker exec`, `npx`, `poetry run`, `ansible -a`, an alias, a script of
package.json. The table `text/runners.txt` says of most programs what they run."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import GLOBAL_OPTIONS, WORDS
from vector_memory.system import json_in
from vector_memory.text import shell
from vector_memory.text.shell import RUNNERS, Runner, ShellWord, after_options, run_by

DEEPEST = 4
MOST_ACTS = 200
"""Of one kind are read in one line: what it says itself, what it prints for shells, and what it decodes."""
PRINTED, DECODED = 1, 2
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})


@dataclass
class Budget:
    """How much is read of what a line runs, one for each rank of an act, so that no kind takes another's place. One
    variable may hold what a hundred shells read: a script is read once.

    Attributes:
        chars: how many more characters of what acts run.
        acts: how many more acts.
        unread: the first act of which something is left unread.
        last_acts: the last act of each script, by what it says and where it runs.
    """

    chars: int = shell.MOST_BYTES // 2
    acts: int = MOST_ACTS
    unread: Act | None = None
    last_acts: dict[tuple[str, str, bool], Act] = field(default_factory=dict)

    def grants(self, act: Act, chars: int = 0, depth: int = 0) -> bool:
        """Whether so much more of what an act runs may be read; the first of which it may not is noted."""
        is_granted = self.acts > 0 and chars <= self.chars and depth < DEEPEST
        if is_granted:
            self.chars -= chars
        else:
            self.unread = self.unread or act
        return is_granted


def acts_run_by(
    act: Act,
    site: CallSite,
    aliases: Mapping[str, str],
    budgets: Sequence[Budget],
    depth: int = 0,
) -> Iterator[Act]:
    """Yield an act, or the acts that it runs in its place."""
    runner = RUNNERS.get(act.name)
    alias = " ".join((aliases[act.name], *act.args)) if act.name in aliases else ""
    aliases = {name: command for name, command in aliases.items() if name != act.name}
    package = _package_script(act, site)
    fed, rank = ("", act.rank) if alias or package else _script_fed_to(act, budgets[DECODED])
    script = alias or package or fed
    words = (
        _shell_words(script)
        if script
        else _words_by_table(act, runner)
        if runner
        else _words_of_module(act)
    )
    is_elsewhere = not script and runner is not None and runner.where == "there"
    budget, reading = budgets[rank], (fed, act.folder, act.elsewhere)
    acts = [budget.last_acts[reading]] if reading in budget.last_acts else []
    size = sum(len(word.text) for word in words)
    # What is too deep hides something only where it is fed: `npm run self` runs itself for ever.
    is_readable = bool(fed) or depth < DEEPEST
    if words and not acts and is_readable and budget.grants(act, size, depth):
        for inner in act.replaced_by(words, is_elsewhere):
            if not budget.grants(act):
                break
            if fed:
                # What fed the script feeds no command in it: a shell among them would read it again.
                feeding = acts[-1] if inner.command.piped and acts else None
                inner = replace(inner, feeding=feeding, rank=rank)
            acts += acts_run_by(inner, site, aliases, budgets, depth + 1)
    if fed and acts:
        budget.last_acts[reading] = acts[-1]
    budgets[act.rank].acts -= 0 if acts else 1
    # What it runs may hold no command at all: then it stands for itself.
    yield from [act, *acts] if package else acts or [act]


def _shell_words(script: str) -> tuple[ShellWord, ...]:
    return (ShellWord("sh"), ShellWord("-c"), ShellWord(script)) if script else ()


def _words_by_table(act: Act, runner: Runner) -> Sequence[ShellWord]:
    """Return the words that the table says that an act runs, () for none."""
    module = act.value("-m", "--module-name").rpartition(".")[2]
    if act.name == "ansible" and module not in ("", "shell", "command", "raw"):
        return ()
    if runner.how == "-":
        return _read_if_script(run_by(runner, act.words))
    if runner.how.startswith("-"):
        return _shell_words(act.value(*runner.how.split(",")))
    if runner.how.startswith("="):
        return _shell_words(_text_after_mark(act, runner))
    words = after_options(act.words, f"{runner.takes} {GLOBAL_OPTIONS}")
    if act.name in _CONTAINERS and words[:1] == [ShellWord("compose")]:
        words = after_options(words[1:], runner.takes)
    if not words or words[0].text not in runner.how.split(","):
        return words if words and words[0].text in WORDS["local-tool"] else ()
    inner = run_by(runner, words)
    if inner[1:2] == [ShellWord("--")]:
        inner = [inner[0], *inner[2:]]
    # What is deleted in a container that ends with the command is nobody's.
    is_kept = act.has("-v", "--volume", "--mount", "--volumes-from") or "compose" in act.args
    is_brief = act.name in _CONTAINERS and words[0].text == "run" and not is_kept
    is_lost = is_brief and bool(inner) and inner[0].text not in WORDS["remote-client"]
    return () if is_lost else _read_if_script(inner)


def _read_if_script(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return the words of a command that is given as one word."""
    is_script = len(words) == 1 and " " in words[0].text
    return _shell_words(words[0].text) if is_script else words


def _text_after_mark(act: Act, runner: Runner) -> str:
    """Return all that stands behind the word after which a command is sent."""
    marks = runner.how[1:].split(",")
    places = (place for place, text in enumerate(act.args, 1) if text.lower() in marks)
    sent = after_options(act.words[next(places, len(act.words)) :], runner.takes, runner.between)
    texts = [word.text for word in sent if word.text not in ("Enter", "C-m")]
    # Of several words one with a blank was quoted, as the script of a shell is.
    return " ".join(shlex.quote(text) if texts[1:] and " " in text else text for text in texts)


def _script_fed_to(act: Act, decoding: Budget) -> tuple[str, int]:
    """Return the script that an act decodes and runs, or a shell is fed by what prints it, "" without one, and the rank
    of what stands in it."""
    script, rank, feeder = "", DECODED, act.feeding
    if act.name not in shell.SHELLS or feeder is None:
        if _is_made(act.program) and decoding.grants(act, len(act.program)):
            script = hidden.decoded_script(act.program)
    elif feeder.name not in ("echo", "printf", "cat"):
        text = "".join(feeder.inputs()).strip()
        script = hidden.decode(text, feeder.name, feeder.args)
    elif not act.has("-n") and (act.has("-s") or not act.operands()):
        script = _printed_text(feeder)
        rank = DECODED if feeder.name != "cat" and _is_made(script) else PRINTED
    return script, max(rank, act.rank) if script else act.rank


def _is_made(text: str) -> bool:
    """Whether a command within a text makes a part of it."""
    return "$(" in text or "`" in text


def _printed_text(act: Act) -> str:
    """Return what `echo`, `printf` or `cat` prints of what stands in the line itself."""
    if act.name == "cat":
        return act.command.given
    texts = [word.text.replace("\\n", "\n") for word in after_options(act.words, "")]
    if act.name == "echo" or len(texts) < 2:
        return " ".join(texts)
    return "".join(texts[0].replace("%s", text, 1) for text in texts[1:])


def _package_script(act: Act, site: CallSite) -> str:
    """Return what `npm run NAME` runs, as package.json says, "" without one."""
    words = act.texts("--prefix -C --cwd --filter -w --workspace") or ["publish"]
    if act.name not in WORDS["package-manager"] or act.elsewhere or words[0] == "publish":
        return ""
    name = words[1] if words[0] in ("run", "run-script") and len(words) > 1 else words[0]
    folder = act.value("--prefix", "-C", "--cwd") or "."
    path = site.path(posixpath.join(folder, "package.json"), act.folder)
    try:
        script = json_in.load(site.text_of(path).encode())["scripts"][name]
    except (ValueError, KeyError, TypeError):
        return ""
    return script if isinstance(script, str) else ""


def _words_of_module(act: Act) -> Sequence[ShellWord]:
    """Return what a script that is known by its name is: `python manage.py`, `php artisan`, `-m alembic`."""
    if act.name.startswith("python") or act.name in ("py", "php"):
        for place, text in enumerate(act.args):
            if text == "-m":
                return act.words[place + 1 :]
            if not text.startswith("-"):
                is_known = posixpath.basename(text) in ("manage.py", "artisan")
                return act.words[place:] if is_known else ()
    return ()
