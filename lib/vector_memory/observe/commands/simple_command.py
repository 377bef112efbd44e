"""One command of a line, with its options, its operands, and what it reads."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vector_memory.observe.commands.findings import CallSite, Finding
from vector_memory.text import shell
from vector_memory.text.shell import Command, ShellWord

MOST_WHAT = 4_000
"""Characters of a command that are given on. It is cut to a line after it was redacted: a cut may hide the
end of a secret."""


@dataclass(frozen=True)
class Act:
    """One command with its variables put in.

    Attributes:
        name: the program, in small letters.
        program: the program as the line names it, with its folder and with variables put in.
        rank: 0 where the line says it itself, 1 in a script that it prints for a shell, 2 in one that it decodes.
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
    rank: int = 0

    @cached_property
    def args(self) -> tuple[str, ...]:
        """The arguments' texts."""
        return tuple(word.text for word in self.words)

    @cached_property
    def options(self) -> frozenset[str]:
        """The options: long ones as `--name`, short ones each as `-x`, up to a `--`."""
        options: set[str] = set()
        for text in self.args:
            if text == "--":
                break
            if text.startswith("--"):
                options.add(text.partition("=")[0])
            elif text.startswith("-") and len(text) > 1:
                options.add(text)
                options.update("-" + letter for letter in text[1:] if letter.isalnum())
        return frozenset(options)

    def has(self, *options: str) -> bool:
        """Whether one of these options is given."""
        return not self.options.isdisjoint(options)

    def value(self, *options: str) -> str:
        """Return what an option is given, "" without it."""
        for place, text in enumerate(self.args):
            name, sign, assigned = text.partition("=")
            if name in options:
                return assigned if sign else next(iter(self.args[place + 1 : place + 2]), "")
        return ""

    def operands(self, takes: str = "") -> list[ShellWord]:
        """Return the arguments that are no options.

        Args:
            takes: options, and other words, that take the next word, apart by spaces.
        """
        operands, skips_next, has_ended, valued = [], False, False, takes.split()
        for word in self.words:
            if skips_next:
                skips_next = False
            elif not has_ended and word.text in valued:
                skips_next = True
            elif has_ended or not word.text.startswith("-") or word.text == "-":
                operands.append(word)
            elif word.text == "--":
                has_ended = True
        return operands

    def texts(self, takes: str = "") -> list[str]:
        """Return the texts of the operands."""
        return [word.text for word in self.operands(takes)]

    def path(self, word: ShellWord, site: CallSite) -> str:
        """Return the absolute path that a word names, "" if that cannot be told."""
        bare = word.text.rstrip("/") or word.text
        return site.path(bare, self.folder) if word.plain and bare else ""

    def inputs(self) -> list[str]:
        """Return what it reads: a here-document, what `echo`, `printf` or `cat` say, the names of files."""
        inputs = [self.command.given, *(file.text for sign, file in self.command.redirects if sign == "<")]  # fmt: skip
        if self.feeding is not None and self.feeding.name in ("echo", "printf", "cat"):
            printed = [text.replace("\\n", "\n") for text in self.feeding.texts()]
            inputs += [self.feeding.command.given, "\n".join(printed)]
        return [text for text in inputs if text]

    @property
    def sources(self) -> list[Act]:
        """The acts whose output it reads, through pipes, the nearest first."""
        sources: list[Act] = []
        source = self.feeding
        # Of a line that joins 200 commands by pipes no more than these are walked.
        while source is not None and len(sources) < 8:
            sources.append(source)
            source = source.feeding
        return sources

    @property
    def is_listed(self) -> bool:
        """Whether another program puts words behind it: `xargs rm`, `parallel rm`, but not `parallel rm ::: a`."""
        lister = self.command.via[-1:]
        return lister == ("xargs",) or (lister == ("parallel",) and self.command.piped)

    @property
    def excerpt(self) -> str:
        """How it stands in the line, shortened."""
        text = self.command.text or " ".join((self.name, *self.args))
        return text if len(text) <= MOST_WHAT else text[: MOST_WHAT - 1] + "\u2026"

    def finding(self, category: str, severity: str, why: str, target: str = "") -> Finding:
        """Return what it would do, as a finding."""
        return Finding(category, severity, self.excerpt, why, target)

    def replaced_by(self, words: Sequence[ShellWord], elsewhere: bool = False) -> Iterator[Act]:
        """Yield the commands that this one runs in its place."""
        inner = replace(self.command, words=tuple(words), via=(*self.command.via, self.name))
        for command in shell.looked_through(inner):
            # What runs others stands with its options in the line: that is what is shown.
            displayed = replace(command, text=self.command.text or command.text)
            program = command.words[0].text
            is_elsewhere = self.elsewhere or elsewhere
            yield Act(displayed, name_of(program), command.arguments, command.folder, is_elsewhere, self.feeding, program, self.rank)  # fmt: skip


def name_of(program: str) -> str:
    """Return a program's name without its folder, in small letters."""
    return posixpath.basename(program).lower().removesuffix(".exe")
