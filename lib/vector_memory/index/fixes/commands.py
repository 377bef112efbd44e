"""Command lines: which programs they run, and whether two of them do the same job.

What stands around a command says nothing of its job: `cd app &&`, variables, an activated
environment, `uv run`, `sudo`, a pipe into `tail`.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import takewhile

from vector_memory.index.tools import without_folders
from vector_memory.text import shell, tables

_HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n(.*?)(?:\n[ \t]*\2[ \t]*(?=\n|$|\))|$)", re.DOTALL
)
_PAGER = re.compile(r"(?:\s*2>&1)?\s*\|\s*(?:tail|head|tee|cat|less)\b[^|&;\n]*$")
_JOINTS = str.maketrans("-_:", "aaa")
"""What joins the parts of a subcommand's name."""
_VERSIONED = frozenset(("python", "pip", "node", "ruby", "perl", "lua", "clang", "gcc", "php"))
_PATH = re.compile(r"[/\\]|\.\w{1,5}(?:::|:|$)")
_WORDS_OF = tables.sets("command_words")
_WITH_JOBS = _WORDS_OF["with_jobs"]
"""Programs whose first word says which of their jobs it is."""
_DEEPER = _WORDS_OF["deeper"]
"""Words after which the next one belongs to the job, too."""
_VALUED = _WORDS_OF["valued"]
"""Options whose value stands before the job: `kubectl --context stage get`."""
_FLAGS = _WORDS_OF["flags"]
_QUIET = _WORDS_OF["quiet"]
"""Programs that only look, or only prepare what others do."""
_LOOKING_JOBS = frozenset({
    "git status", "git diff", "git log", "git show", "git branch", "git blame", "git ls-files",
    "git rev-parse", "git remote", "git fetch", "git stash list", "docker ps",
    "docker logs", "kubectl get", "kubectl describe", "kubectl logs", "npm ls", "npm view", "npm list",
    "pip show", "pip list", "pip freeze", "gh pr view", "gh pr list", "gh issue view", "gh run",
    "systemctl status", "git grep", "gh api", "gh repo view",
})  # fmt: skip
_INTERPRETERS = _WORDS_OF["interpreters"]
_LOOKING_OPTIONS = _WORDS_OF["looking_options"]
_SELECTING = _WORDS_OF["selecting"]
"""Options whose value says which of a program's tests are run."""

_RUNNING_LOCALS = frozenset({"yarn", "pnpm", "bun"})
"""Package managers that run a package's program by its name alone: `yarn tsc`."""
_WRAPPERS = frozenset({"gradlew", "mvnw"})
_VALUED_IN_JOB = {
    "git commit": frozenset(
        (
            "-m",
            "-F",
            "-t",
            "--message",
            "--author",
            "--date",
            "--fixup",
            "--squash",
            "--trailer",
            "--cleanup",
            "--file",
            "--reedit-message",
            "--reuse-message",
            "--template",
        )
    ),
    "git restore": frozenset(("-s", "--source")),
}
"""Options of a job that have a value besides those that have one in all of them."""
_CONTAINERS = frozenset({"docker", "podman"})


@dataclass(frozen=True)
class CommandPart:
    """One simple command: its program, its job (`git commit`, `npm run build`, `pytest`), its other
    words, whether its exit code is lost (in a pipe, before `;` or `||`), which files it writes its output to, and what
    it runs in a container."""

    program: str
    job: str
    words: tuple[str, ...]
    is_masked: bool = False
    written: tuple[str, ...] = ()
    inside: str = ""

    @property
    def is_quiet(self) -> bool:
        """Whether it only looks or prepares."""
        job = self.job.removeprefix("ssh ")
        is_looking = (
            self.program in _QUIET
            or job in _LOOKING_JOBS
            or (job.startswith("git config") and _only_asks(self))
            or _only_prints(self)
        )
        # With a value, `-h` names a host.
        arguments = [*self.job.split()[1:], *self.words]
        is_looking = is_looking or arguments in (["version"], ["help"], ["-h"])
        return is_looking or not _LOOKING_OPTIONS.isdisjoint(self.words)

    @property
    def is_inline(self) -> bool:
        """Whether it is a program that stands in the command line itself."""
        return self.program in _INTERPRETERS and self.job.endswith(f"{self.program} -")

    @property
    def tools(self) -> tuple[str, ...]:
        """What its options may belong to: the program, however it is called (`./gradlew`), of an interpreter the script
        that it runs, of a package manager the package's program, too."""
        if self.program in _INTERPRETERS and not self.is_inline:
            return (ntpath.basename(self.job.rpartition(" ")[2]),)
        if self.program in _RUNNING_LOCALS:
            return (self.program, *self.job.split()[1:2])
        return (self.program.removesuffix("w") if self.program in _WRAPPERS else self.program,)

    @cached_property
    def operands(self) -> frozenset[str]:
        """The names of the files and folders that it is given, without their folders; `.`, `./...` and
        the like, which name none, are left out."""
        paths = (
            word
            for word in self.words
            if not word.startswith("-") and " " not in word and _PATH.search(word)
        )
        names = (ntpath.basename(word.rstrip("/\\")) for word in paths)
        return frozenset(name for name in names if any(map(str.isalnum, name)))

    @property
    def named(self) -> tuple[str, ...]:
        """Its words without options and what these are given; of short ones in one word (`-am`) the last is."""
        valued = _VALUED | _VALUED_IN_JOB.get(self.job, frozenset())
        pairs = zip(("", *self.words), self.words, strict=False)
        return tuple(
            word
            for previous, word in pairs
            if not (word.startswith("-") or previous in valued)
            and not (previous[:1] == "-" != previous[1:2] and f"-{previous[-1]}" in valued)
        )

    @cached_property
    def selection(self) -> str:
        """Which of its tests it runs, as its options say; "" for all."""
        for place, word in enumerate(self.words):
            name, _, value = word.partition("=")
            if name in _SELECTING:
                return value or "".join(self.words[place + 1 : place + 2])
        return ""


@lru_cache(maxsize=8_192)
def parts(command: str) -> tuple[CommandPart, ...]:
    """Return the simple commands of a command line, in order."""
    return tuple(map(_command_part, shell.parse(command)))


def acting_parts(command: str) -> tuple[CommandPart, ...]:
    """Return the parts of a command line that do something."""
    return tuple(part for part in parts(command) if not part.is_quiet)


def job_of(command: str) -> str:
    """Return the job of a command line, the last of several: `pytest`, `cargo test`; "" for one that
    only looks."""
    parts = acting_parts(command)
    return parts[-1].job if parts else ""


def bare_line(command: str) -> str:
    """Return a command line in one line, without folders that it changes to and what is piped."""
    line = _HEREDOC.sub(lambda match: f"<<{match[2]}{match[3]}", command)
    line = _PAGER.sub("", without_folders(line).rstrip())
    return " ".join(re.sub(r"\s*2>&1$", "", line).split())


def writes(command: str) -> bool:
    """Whether a command line that runs nothing else writes a file, as `echo x > file` does."""
    return not acting_parts(command) and any(part.written for part in parts(command))


def settings(command: str) -> tuple[str, ...]:
    """Return what a command line prepares for what it runs: folders, environments, variables."""
    places = [part for part in parts(command) if part.program in ("cd", "pushd", "source", ".")]
    values = shell.assigned(command).items() if "=" in command else ()
    return (*(" ".join((part.program, *part.words)) for part in places), *map(repr, values))


def folder(command: str) -> str:
    """Return the folder that a command line changes to, "" for none."""
    folders = [
        part.words[0] for part in parts(command) if part.program in ("cd", "pushd") and part.words
    ]
    return folders[-1].rstrip("/") if folders else ""


def tools(command: str) -> frozenset[str]:
    """Return what a command line has do something: programs, and the scripts of interpreters."""
    return frozenset(
        name
        for part in acting_parts(command)
        for inner in (part.inside and acting_parts(part.inside) or (part,))
        for name in inner.tools
    )


def is_for_its_tool(failed_line: str, ran_line: str) -> bool:
    """Whether a command line differs from one that failed only in what its own tool takes: other words, or variables
    that bear the tool's name (`COMPOSER_MEMORY_LIMIT`). What other programs understand, too (`NODE_OPTIONS`, an
    activated environment, `sudo`), may help them."""
    ran_line = bare_line(ran_line)
    new_variables = shell.assigned(ran_line).keys() - shell.assigned(failed_line).keys()
    failed_parts, ran_parts = acting_parts(failed_line), acting_parts(ran_line)
    is_prepared = any(part.program in ("source", ".") for part in parts(ran_line))
    if is_prepared or not {part.job for part in ran_parts} <= {part.job for part in failed_parts}:
        return False
    bear_its_name = all(_bears_name(variable, tools(ran_line)) for variable in new_variables)
    return bear_its_name and (
        bool(new_variables)
        or [part.words for part in failed_parts] != [part.words for part in ran_parts]
    )


def _bears_name(variable: str, names: Collection[str]) -> bool:
    """Whether a variable is called as a program is: `GRADLE_OPTS` for `gradlew`, `GOFLAGS` for `go`."""
    prefix = variable.lower().partition("_")[0]
    plain_names = [name for name in names if " " not in name]
    # One letter begins too many names.
    return len(prefix) > 1 and any(
        prefix.startswith(name) or name.startswith(prefix) for name in plain_names
    )


def _only_prints(part: CommandPart) -> bool:
    """Whether a stream editor leaves its files alone."""
    short_options = [word.partition(".")[0] for word in part.words if word[:1] == "-" != word[1:2]]
    is_in_place = any("i" in word for word in short_options) or any(
        word.startswith("--in-place") for word in part.words
    )
    return part.program == "sed" and not is_in_place


def _only_asks(part: CommandPart) -> bool:
    """Whether `git config` gives no value to what it names."""
    words = [*part.job.split()[2:], *part.words]
    if not {"get", "list"}.isdisjoint(words[:1]) or any(word.startswith("--get") for word in words):
        return True
    return len(part.job.split()[2:]) + len(part.named) < 2


def same_job(failed_part: CommandPart, other_part: CommandPart) -> float:
    """Return how surely the second command does what the first one tried, 0 to 1.

    Another file or test is another job, and so are fewer of them; more of them, or all, are the same.
    """
    if failed_part.job != other_part.job:
        return 0.0
    if failed_part.words == other_part.words:
        return 1.0
    mine, theirs = failed_part.operands, other_part.operands
    if failed_part.is_inline:
        return 0.0
    if _begins_otherwise(failed_part, other_part):
        return 0.3
    if mine and theirs and (mine.isdisjoint(theirs) or theirs < mine):
        return 0.3
    if failed_part.selection and not _selects(other_part.selection, failed_part.selection):
        return 0.3
    if (theirs and not mine) or (other_part.selection and not failed_part.selection):
        return 0.6
    return 0.9


def _begins_otherwise(failed_part: CommandPart, other_part: CommandPart) -> bool:
    """Whether two calls of a program whose jobs nobody listed begin with other words (`dags test` and `connections
    add`). Where all else is the same, or the words are nearly, one was corrected."""
    if failed_part.program in _WITH_JOBS:
        return False
    pairs = takewhile(
        lambda pair: all(map(_is_subcommand, pair)),
        zip(failed_part.words, other_part.words, strict=False),
    )
    at, (word, other_word) = next(
        ((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1]), (-1, ("", ""))
    )
    if at < 0:
        return False
    mine, theirs = (part.words[:at] + part.words[at + 1 :] for part in (failed_part, other_part))
    return mine != theirs or not (mine or get_close_matches(word, [other_word]))


def _selects(pattern: str, selection: str) -> bool:
    """Whether the tests that were to run are among those that a pattern selects."""
    plain = selection.strip("^$")
    try:
        return plain in pattern or re.search(pattern, plain) is not None
    except re.error:
        return False


def _command_part(command: shell.Command) -> CommandPart:
    """Return a command as a part of its line; what one on another machine does is a job of its own there."""
    words = [word.text for word in _unwrapped(command.words)]
    program, arguments = _program_name(words[0]), words[1:]
    if program == "docker-compose":
        program, arguments = "docker", ["compose", *arguments]
    if program == "python" and arguments[:1] == ["-m"] and len(arguments) > 1:
        program, arguments = _program_name(arguments[1]), arguments[2:]
    written_names = [target.text for sign, target in command.redirects if sign in shell.WRITING]
    written_names += arguments if program == "tee" else []
    files = tuple(name for name in written_names if not name.startswith(("/dev/", "-", "&")))
    heredoc = [command.given] if command.given else []
    job, operands = _job_and_operands(program, [*arguments, *heredoc])
    job = "ssh " * ("ssh" in command.via) + job
    return CommandPart(
        program, job, operands, command.is_lost, files, _container_command(program, command.words)
    )


def _container_command(program: str, words: Sequence[shell.ShellWord]) -> str:
    """Return what a container is given to run, "" where there is none."""
    if program not in _CONTAINERS:
        return ""
    arguments = words[1:]
    arguments = arguments[1:] if arguments and arguments[0].text == "compose" else arguments
    return " ".join(word.text for word in shell.run_by(shell.RUNNERS[program], arguments))


def _unwrapped(words: Sequence[shell.ShellWord]) -> Sequence[shell.ShellWord]:
    """Leave out the programs that only run another one in an environment."""
    runner = shell.RUNNERS.get(posixpath.basename(words[0].text))
    inner = shell.run_by(runner, words[1:]) if runner and runner.where == "here" else ()
    return _unwrapped(inner) if inner else words


def _program_name(word: str) -> str:
    name = ntpath.basename(word)
    for ending in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(ending)
    stem = name.rstrip("0123456789.").removesuffix("-")
    return stem if stem in _VERSIONED else name


def _job_and_operands(program: str, words: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the job's name and the words that are left."""
    if program in _INTERPRETERS:
        return _script_job(program, words)
    if program not in _WITH_JOBS:
        return program, tuple(words)
    names: list[str] = []
    remaining = list(words)
    for place, word in enumerate(words):
        if place and words[place - 1] in _VALUED and f"{program}:{words[place - 1]}" not in _FLAGS:
            continue
        if _is_subcommand(word) and (not names or names[-1] in _DEEPER):
            names.append(word)
            remaining.remove(word)
        elif names and (names[-1] not in _DEEPER or word == "--" or _is_operand(words, place)):
            break
    if names[:1] in (["i"], ["add"]) and program in ("npm", "pnpm", "yarn", "bun"):
        names[0] = "install"
    if names[:1] == ["run-script"]:
        names[0] = "run"
    return " ".join([program, *names]), tuple(remaining)


def _is_operand(words: Sequence[str], place: int) -> bool:
    """Whether a word is what a job is done to: no option, and no option's value. What stands behind it is its own."""
    return not any(word.startswith("-") for word in words[max(0, place - 1) : place + 1])


def _is_subcommand(word: str) -> bool:
    return (
        word[:1].isalpha()
        and word.islower()
        and word.isascii()
        and word.translate(_JOINTS).isalnum()
    )


def _script_job(program: str, words: list[str]) -> tuple[str, tuple[str, ...]]:
    """A script is its job; a program that is given inline has none but that."""
    for place, word in enumerate(words):
        if word in ("-c", "-e", "-", "--eval") or "\n" in word:
            return f"{program} -", tuple(words[place:])
        if not word.startswith("-"):
            return f"{program} {posixpath.basename(word)}", tuple(words[place + 1 :])
    return program, tuple(words)
