"""A command line made ready to be judged: its commands with variables put in, and what runs others
(`docker exec`, `npx`, `poetry run`, …) looked through."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from vector_memory.observe.commands import hidden
from vector_memory.observe.commands.findings import CommandSurroundings, Finding
from vector_memory.text import shell
from vector_memory.text.shell import Command, Redirect, ShellWord

MOST_WHAT = 4_000
"""Characters of a command that are given on. It is cut to a line after it was redacted: a cut may hide the
end of a secret."""
MOST_EXPANSIONS = 32
MOST_WORDS = 200
"""Of one command: in a longer one the words that follow are more of the same."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?([-=?+])([^{}]*))?\}|(\w+))")
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
_SCRATCH_VARIABLE = re.compile(
    r"^(?:TMP|TEMP|TMPDIR|TEMPDIR|TMP_\w+|\w*_(?:TMP|TEMP)(?:_?DIR)?|RUNNER_TEMP)$", re.I
)
_PYTHON = re.compile(r"^python[\d.]*$|^py$")

# Programs that only run another one in some place, and their options that take a word.
_EXEC_TAKES = "-u -w -e -n -c --user --workdir --env --env-file --namespace --container --context --index -f --file -p"
_RUN_TAKES = (
    " -v --volume --mount -p --publish --name --network --net --entrypoint -h --hostname -l --label -m --memory --cpus"
    " --platform --add-host --volumes-from --link --restart --pull --gpus --shm-size --cap-add --tmpfs --dns"
)
_BEFORE_VERB_TAKES = "-f --file -p --project-name -n --namespace --context -H --env-file --profile"
_CLIENTS = {
    "psql",
    "mysql",
    "mariadb",
    "redis-cli",
    "mongosh",
    "mongo",
    "kubectl",
    "aws",
    "terraform",
}
_INTO = {"docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"}
_RUN_BY = {
    "poetry": ("run",), "uv": ("run",), "pipenv": ("run",), "pdm": ("run",), "rye": ("run",), "hatch": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx", "run"), "npm": ("exec",), "bun": ("x",),
    "rbenv": ("exec",), "pyenv": ("exec",), "mise": ("exec", "x"), "heroku": ("run",), "op": ("run",),
    "doppler": ("run",), "aws-vault": ("exec",), "chamber": ("exec",), "direnv": ("exec",), "railway": ("run",),
    "conda": ("run",), "sail": ("exec",), "corepack": ("pnpm", "yarn", "npx"),
}  # fmt: skip
_RUNNER_TAKES = (
    "--with --python -p --package --project --directory -e -f -n --env-file -a --app --name --group"
)
_PLAIN = {
    "npx",
    "bunx",
    "pnpx",
    "dotenv",
    "cross-env",
    "uvx",
    "faketime",
    "wsl",
    "entr",
    "dotenvx",
    "with-env",
}
_LOCAL_TOOLS = {
    "prisma", "sequelize", "sequelize-cli", "typeorm", "knex", "drizzle-kit", "wrangler", "cdk", "sls",
    "serverless", "supabase", "firebase", "vercel", "netlify", "rimraf", "prisma2", "sst", "artisan", "shx",
}  # fmt: skip
_MAKER = re.compile(r"^(?:create|mk)")
_MAKING = frozenset({"create", "run", "add", "new", "init", "-b", "-c", "--orphan"})
_LANDLORDS = {"direnv": 1, "aws-vault": 1, "chamber": 1}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Act:
    """One command with its variables put in.

    Attributes:
        name: the program, in small letters.
        program: the program as the line names it, with its folder and with variables put in.
        words: its arguments; not `plain` where nobody knows what the shell puts there.
        folder: the folder that it runs in, as `cd` says.
        elsewhere: whether it runs on another machine or in a container.
        feeding: the act whose output it reads, None without one.
    """

    command: Command
    name: str
    words: tuple[ShellWord, ...]
    folder: str = ""
    elsewhere: bool = False
    feeding: Act | None = None
    program: str = ""

    @cached_property
    def args(self) -> tuple[str, ...]:
        """The arguments' texts."""
        return tuple(one.text for one in self.words)

    @cached_property
    def options(self) -> frozenset[str]:
        """The options: long ones as `--name`, short ones each as `-x`, up to a `--`."""
        found: set[str] = set()
        for one in self.args:
            if one == "--":
                break
            if one.startswith("--"):
                found.add(one.partition("=")[0])
            elif one.startswith("-") and len(one) > 1:
                found.add(one)
                found.update("-" + letter for letter in one[1:] if letter.isalnum())
        return frozenset(found)

    def has(self, *options: str) -> bool:
        """Whether one of these options is given."""
        return not self.options.isdisjoint(options)

    def value(self, *options: str) -> str:
        """Return what an option is given, "" without it."""
        for place, one in enumerate(self.args):
            name, sign, rest = one.partition("=")
            if name in options:
                return rest if sign else next(iter(self.args[place + 1 : place + 2]), "")
        return ""

    def operands(self, takes: str = "") -> list[ShellWord]:
        """Return the arguments that are no options.

        Args:
            takes: options that take the next word, apart by spaces.
        """
        found, skip, ended, taking = [], False, False, takes.split()
        for one in self.words:
            if skip:
                skip = False
            elif ended or not one.text.startswith("-") or one.text == "-":
                found.append(one)
            elif one.text == "--":
                ended = True
            else:
                skip = one.text in taking
        return found

    def texts(self, takes: str = "") -> list[str]:
        """Return the texts of the operands."""
        return [one.text for one in self.operands(takes)]

    @property
    def what(self) -> str:
        """How it stands in the line, shortened."""
        text = self.command.text or " ".join((self.name, *self.args))
        return text if len(text) <= MOST_WHAT else text[: MOST_WHAT - 1] + "\u2026"

    def found(self, category: str, severity: str, why: str, target: str = "") -> Finding:
        """Return what it would do, as a finding."""
        return Finding(category, severity, self.what, why, target)

    def become(self, words: Sequence[ShellWord], elsewhere: bool = False) -> Iterator[Act]:
        """Yield the commands that this one runs in its place."""
        given = replace(self.command, words=tuple(words), via=(*self.command.via, self.name))
        for one in shell.looked_through(given):
            # What runs others stands with its options in the line: that is what is shown.
            shown = replace(one, text=self.command.text or one.text)
            yield Act(
                shown, _name(one.words[0].text), one.arguments, one.folder, self.elsewhere or elsewhere, self.feeding,
                one.words[0].text,
            )  # fmt: skip


@dataclass(frozen=True)
class CommandLine:
    """A whole command line: its acts in order, in its surroundings."""

    acts: tuple[Act, ...]
    around: CommandSurroundings
    values: dict[str, tuple[ShellWord, ...]] = field(default_factory=dict)

    def says(self, name: str) -> str:
        """Return the last value that the line gives a variable, "" for none."""
        values = self.values.get(name, ())
        return values[-1].text if values else ""

    def made(self, act: Act) -> bool:
        """Whether what an act takes away, by its last word, the line itself made before:
        `createdb x; …; dropdb x`."""
        target = next(iter(act.texts()[-1:]), "")
        return bool(target) and any(
            target in one.args and (_MAKER.match(one.name) or not _MAKING.isdisjoint(one.args))
            for one in self.before(act)
        )

    def before(self, act: Act) -> Iterator[Act]:
        """Yield the acts before one, the nearest first."""
        place = next((i for i, one in enumerate(self.acts) if one is act), 0)
        yield from reversed(self.acts[:place])


def read(command: str, around: CommandSurroundings) -> CommandLine:
    """Return a command line ready to be judged."""
    found = shell.parse(command)
    values = shell.assigned(command) if "=" in command or "for " in command else {}
    acts: list[Act] = []
    last: Act | None = None
    known: dict[ShellWord, list[ShellWord]] = {}

    def expanded(word: ShellWord) -> list[ShellWord]:
        if word not in known:
            known[word] = _expanded(word, values, around)
        return known[word]

    for one in found:
        words = [word for w in one.arguments[:MOST_WORDS] for word in expanded(w)]
        redirects = tuple(Redirect(sign, expanded(target)[0]) for sign, target in one.redirects)
        given = replace(one, redirects=redirects) if redirects else one
        program = expanded(one.words[0])[0].text
        act = Act(
            given,
            _name(program),
            tuple(words),
            one.folder,
            "ssh" in one.via,
            last if one.piped else None,
            program,
        )
        acts += _through(act, 0)
        if "$()" not in one.via:
            last = acts[-1]
    return CommandLine(tuple(acts), around, values)


def _name(text: str) -> str:
    return posixpath.basename(text).lower().removesuffix(".exe")


# -- variables -------------------------------------------------------------------------------------


def _expanded(
    word: ShellWord, values: dict[str, tuple[ShellWord, ...]], around: CommandSurroundings
) -> list[ShellWord]:
    """Return a word with known variables and braces put in: several where they hold several."""
    if word.plain:
        return _unbraced(word)
    found = [word]
    for _ in range(4):
        found = [new for one in found for new in _put_in(one, values, around)][:MOST_EXPANSIONS]
        if all(one.plain for one in found):
            break
    return [new for one in found for new in _unbraced(one)]


def _put_in(
    word: ShellWord, values: dict[str, tuple[ShellWord, ...]], around: CommandSurroundings
) -> list[ShellWord]:
    text = _SUBSTITUTION.sub(lambda found: _output_of(found, around), word.text)
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    if word.plain or not names:
        return [
            ShellWord(
                text,
                word.plain or "$" not in text and "`" not in text and "<(" not in text,
                word.glob,
            )
        ]
    known = [_values_of(name, values, around) for name in names]
    made = []
    for chosen in product(*known):
        put = {name: value for name, value in zip(names, chosen, strict=True) if value is not None}
        new = _VARIABLE.sub(lambda found, put=put: put.get(found.groups(""), found[0]), text)  # type: ignore[misc]
        made.append(ShellWord(new, "$" not in new and "`" not in new, word.glob or "*" in new))
    return made or [word]


def _values_of(
    name: tuple[str, ...], values: dict[str, tuple[ShellWord, ...]], around: CommandSurroundings
) -> list[str | None]:
    """Return what a variable may hold; None where nobody knows."""
    plain = name[0] or name[3]
    if plain in values:
        return [one.text for one in values[plain]] or [None]
    if plain == "HOME":
        return [around.home]
    if plain in ("PWD", "CLAUDE_PROJECT_DIR"):
        return [around.cwd if plain == "PWD" else around.root]
    if _SCRATCH_VARIABLE.match(plain):
        return ["/tmp/scratch"]
    return [name[2]] if name[1] in ("-", "=") and name[2] else [None]


def _output_of(found: re.Match[str], around: CommandSurroundings) -> str:
    """Return what a command within a word prints, where that is known; else the word as it stands."""
    script = (found[1] or found[2] or "").strip()
    if script.startswith("mktemp"):
        return "/tmp/scratch/made"
    if script == "pwd":
        return around.cwd
    if script == "git rev-parse --show-toplevel":
        return around.root
    return found[0]


def _unbraced(word: ShellWord) -> list[ShellWord]:
    """Return the words that braces make: `{dist,build}/x`."""
    found = _BRACES.search(word.text) if "{" in word.text and "${" not in word.text else None
    if found is None:
        return [word]
    before, after = word.text[: found.start()], word.text[found.end() :]
    return [
        new
        for part in found[1].split(",")
        for new in _unbraced(word._replace(text=before + part + after))
    ][:MOST_EXPANSIONS]


# -- programs that run others ----------------------------------------------------------------------


def _through(act: Act, depth: int) -> Iterator[Act]:
    """Yield an act, or the acts that it runs in its place."""
    inner = _inner(act) if depth < 4 else None
    if inner is None:
        yield act
        return
    words, elsewhere = inner
    found = [act for one in act.become(words, elsewhere) for act in _through(one, depth + 1)]
    # What it runs may hold no command at all: then it stands for itself.
    yield from found or [act]


def _inner(act: Act) -> tuple[Sequence[ShellWord], bool] | None:
    """Return the words that an act runs, and whether elsewhere; None where it runs nothing else."""
    words, name = act.words, act.name
    if script := _hidden(act):
        return _as_script(script), False
    if name in _SENT and (script := _sent(act)):
        return _as_script(script), name not in _HERE
    if name in _INTO:
        found = _in_container(act)
        return (found, True) if found else None
    if name in _RUN_BY:
        place = next((i for i, one in enumerate(act.args) if not one.startswith("-")), -1)
        if place < 0:
            return None
        if act.args[place] in _RUN_BY[name]:
            if name == "npm":
                words = tuple(one for one in words if one.text != "--")
            return _or_none(
                _after_options(words[place + 1 :], _RUNNER_TAKES, _LANDLORDS.get(name, 0)), name
            )
        return (words[place:], False) if act.args[place] in _LOCAL_TOOLS else None
    if name in _PLAIN:
        return _or_none(_after_options(words, _RUNNER_TAKES, 0), name)
    if name in ("su", "runuser") and act.value("-c", "--command"):
        return (ShellWord("sh"), ShellWord("-c"), ShellWord(act.value("-c", "--command"))), False
    if _PYTHON.match(name) or name == "php":
        return _interpreted(act)
    return None


_SENT_WITH = {
    "ansible": ("-a", "--args"), "gcloud": ("--command",), "az": ("--scripts",), "vagrant": ("-c", "--command"),
    "fly": ("-C", "--command"), "flyctl": ("-C", "--command"), "powershell": ("-Command", "-c", "-command"),
    "pwsh": ("-Command", "-c", "-command"), "script": ("-c", "--command"),
}  # fmt: skip
"""Programs that have a command run by a machine, a container or a terminal, and the options that it stands in."""
_SENT_AFTER = {
    "salt": ("cmd.run", 0), "salt-ssh": ("cmd.run", 0), "adb": ("shell", 0), "lxc": ("exec", 1), "incus": ("exec", 1),
    "multipass": ("exec", 1), "limactl": ("shell", 1), "docker-machine": ("ssh", 1), "tmux": ("send-keys", 0),
    "machinectl": ("shell", 1), "cmd": ("/c", 0),
}  # fmt: skip
"""The same: the word after which the command follows, and how many words stand between."""
_SENT = {*_SENT_WITH, *_SENT_AFTER, "pdsh"}
_HERE = {"powershell", "pwsh", "cmd", "script", "tmux"}
_ANSIBLE_SHELL = re.compile(r"(?:^|\s)(?:-m|--module-name)[ =]?(?:\w+\.)*(?:shell|command|raw)\b")


def _as_script(script: str) -> tuple[ShellWord, ...]:
    return ShellWord("sh"), ShellWord("-c"), ShellWord(script)


def _sent(act: Act) -> str:
    """Return the command that an act has run elsewhere, "" without one."""
    if act.name == "pdsh":
        return " ".join(act.texts("-w -l -x -s -t -u -n --"))
    named = act.name == "ansible" and act.has("-m", "--module-name")
    if named and not _ANSIBLE_SHELL.search(" ".join(act.args)):
        return ""
    if act.name in _SENT_WITH:
        return act.value(*_SENT_WITH[act.name])
    mark, between = _SENT_AFTER[act.name]
    folded = [one.lower() for one in act.args]
    if mark not in folded:
        return ""
    rest = list(act.args[folded.index(mark) + 1 :])
    if act.name == "tmux":
        rest = [
            one for one in rest[2 if rest[:1] == ["-t"] else 0 :] if one not in ("Enter", "C-m")
        ]
    return " ".join(one for one in rest[between:] if one != "--")


def _hidden(act: Act) -> str:
    """Return the script that an act runs without its being readable, "" without one."""
    if act.name in shell.SHELLS and act.feeding is not None:
        return _decoded(act.feeding)
    return "" if act.name.isalnum() else hidden.decoded(act.program)


def _decoded(feeding: Act) -> str:
    """Return the script that a decoder is given in the line and hands on to a shell."""
    source, given = feeding.feeding, feeding.command.given
    if source is not None and source.name in ("echo", "printf") and not given:
        given = next(iter(source.texts()), "")
    return hidden.decode(given.strip(), " ".join((feeding.name, *feeding.args))) if given else ""


def _or_none(words: Sequence[ShellWord], name: str) -> tuple[Sequence[ShellWord], bool] | None:
    return (words, name in ("heroku", "railway")) if words else None


def _in_container(act: Act) -> Sequence[ShellWord] | None:
    """Return the words after `exec … CONTAINER`."""
    verbs = act.texts(_BEFORE_VERB_TAKES)
    if verbs[:1] == ["compose"]:
        verbs = verbs[1:]
    verb = verbs[0] if verbs else ""
    if verb not in ("exec", "run"):
        return None
    rest = act.words[act.args.index(verb) + 1 :]
    if verb == "run":
        if act.name in ("kubectl", "oc"):
            return None
        inner = _after_options(rest, _EXEC_TAKES + _RUN_TAKES, 1)
        # What is deleted in a container that ends with the command is nobody's.
        kept = act.has("-v", "--volume", "--mount", "--volumes-from") or "compose" in (
            *act.args,
            act.name[7:],
        )
        return inner if kept or inner and inner[0].text in _CLIENTS else None
    if act.name in ("kubectl", "oc"):
        ends = [i for i, one in enumerate(rest) if one.text == "--"]
        return rest[ends[0] + 1 :] if ends else None
    return _after_options(rest, _EXEC_TAKES, 1)


def _after_options(words: Sequence[ShellWord], takes: str, skip: int) -> Sequence[ShellWord]:
    """Return the words after options, assignments and `skip` words that are no part of the command."""
    left, taking = list(words), takes.split()
    while left:
        text = left[0].text
        if text == "--":
            left.pop(0)
            if skip <= 0:
                break
        elif text.startswith("-") and len(text) > 1:
            left.pop(0)
            if text in taking and left:
                left.pop(0)
        elif _ASSIGNMENT.match(text):
            left.pop(0)
        elif skip:
            left.pop(0)
            skip -= 1
        else:
            break
    return left


def _interpreted(act: Act) -> tuple[Sequence[ShellWord], bool] | None:
    """Return what a script that is known by its name is: `python manage.py`, `php artisan`, `-m alembic`."""
    if "-m" in act.args:
        place = act.args.index("-m") + 1
        known = act.args[place : place + 1]
        return (act.words[place:], False) if known else None
    place = next((i for i, one in enumerate(act.args) if not one.startswith("-")), -1)
    if place < 0:
        return None
    script = posixpath.basename(act.args[place])
    return (act.words[place:], False) if script in ("manage.py", "artisan") else None
