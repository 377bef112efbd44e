"""What runs something else, looked through: `docker exec`, `npx`, `poetry run`, `ansible -a`, an alias, a script of
package.json. The table `text/runners.txt` says of most programs what they run."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import GLOBAL_OPTIONS, WORDS
from vector_memory.system import json_in
from vector_memory.text import shell
from vector_memory.text.shell import RUNNERS, Runner, ShellWord, after_options, run_by

DEEPEST = 4
MOST_ENCODED, _PRINTERS = 100, ("echo", "printf", "cat")
MOST_PRINTED = 20
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})


@dataclass
class PrintedScripts:
    """The scripts that one line decodes, or prints for shells to read. One variable may hold what a hundred shells read,
    so that only so many are read, and so much of what is printed. What is encoded is read sooner: it is to be hidden.

    Attributes:
        left: how many more are read that are printed.
        chars: how much of them.
        encoded: how many more are decoded.
    """

    left: int = MOST_PRINTED
    chars: int = shell.MOST_BYTES
    encoded: int = MOST_ENCODED

    def read_by(self, act: Act) -> str:
        """Return the script that an act decodes or a shell is fed, "" without one."""
        if not is_fed_in_clear(act):
            script = _printed_script(act) if self.encoded else ""
            self.encoded -= bool(script)
            return script
        script = _printed_script(act)[: self.chars] if self.left and self.chars else ""
        self.left -= bool(script)
        self.chars -= len(script)
        return script


def is_fed_in_clear(act: Act) -> bool:
    """Whether what feeds an act prints what stands in the line itself."""
    return act.feeding is not None and act.feeding.name in _PRINTERS


def acts_run_by(
    act: Act,
    site: CallSite,
    aliases: Mapping[str, str],
    printed: PrintedScripts,
    depth: int = 0,
) -> Iterator[Act]:
    """Yield an act, or the acts that it runs in its place."""
    runner = RUNNERS.get(act.name)
    alias = " ".join((aliases[act.name], *act.args)) if act.name in aliases else ""
    aliases = {name: command for name, command in aliases.items() if name != act.name}
    package = _package_script(act, site)
    fed = "" if alias or package else printed.read_by(act)
    script = alias or package or fed
    words = (
        _shell_words(script)
        if script
        else _words_by_table(act, runner)
        if runner
        else _words_of_module(act)
    )
    is_elsewhere = not script and runner is not None and runner.where == "there"
    acts: list[Act] = []
    if words and depth < DEEPEST:
        for inner in act.replaced_by(words, is_elsewhere):
            if fed:
                # What fed the script feeds no command in it: a shell among them would read it again.
                feeding = acts[-1] if inner.command.piped and acts else None
                inner = replace(inner, feeding=feeding, rank=2 if is_fed_in_clear(act) else 1)
            acts += acts_run_by(inner, site, aliases, printed, depth + 1)
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
        words = run_by(runner, act.words)
        is_script = len(words) == 1 and " " in words[0].text
        return _shell_words(words[0].text) if is_script else words
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
    return () if is_brief and inner and inner[0].text not in WORDS["remote-client"] else inner


def _text_after_mark(act: Act, runner: Runner) -> str:
    """Return all that stands behind the word after which a command is sent."""
    folded = [text.lower() for text in act.args]
    start = folded.index(runner.how[1:]) + 1 if runner.how[1:] in folded else len(folded)
    sent = after_options(act.words[start:], runner.takes, runner.between)
    return " ".join(word.text for word in sent if word.text not in ("Enter", "C-m"))


def _printed_script(act: Act) -> str:
    """Return the script that an act decodes and runs, or a shell is fed by what prints it, "" without one."""
    if act.name not in shell.SHELLS or act.feeding is None:
        return "" if act.name.isalnum() else hidden.decoded_script(act.program)
    feeder = act.feeding
    if is_fed_in_clear(act):
        if act.has("-n") or (act.operands() and not act.has("-s")):
            return ""
        return _printed_text(feeder)
    text = "".join(feeder.inputs()).strip()
    return hidden.decode(text, feeder.name, feeder.args)


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
