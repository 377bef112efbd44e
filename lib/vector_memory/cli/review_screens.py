"""A review on a terminal: a screen for each memory, a key for what becomes of it.

What was decided last is kept back until the next decision, so that it can be undone; what is forgotten could not
be brought back. Nothing else is kept: who quits goes on where he was.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import shutil
import sys
import termios
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.review_words import DONE, why

ACTIONS = ("confirm", "keep", "edit", "drop", "raise")
"""What can be done with an item; each key is the first letter, here and for pairs."""
PAIR_WORDS = {"confirm": "newer holds", "drop": "older holds", "keep": "both hold"}
WORDS = {"confirm": "confirm as my word", "keep": "keep as it is", "drop": "drop it"}
SPECIAL_WORDS = {
    "unanswered": {"confirm": "store it", "edit": "store it in other words", "keep": "no need"},
    "core": {"confirm": "make it CORE", "keep": "leave it"},
    "suspicious": {"keep": "harmless, let it go"},
}
NEXT, BACK, SESSION, FINISH, QUIT, YES = "s", "u", "a", "f", "q", "y"
MOVES = {
    NEXT: "later",
    BACK: "undo",
    SESSION: "keep all of this session",
    FINISH: "keep all that was captured",
    QUIT: "quit",
}
WIDEST, NARROWEST, FRAME_ROWS, LEAST_ROWS = 100, 20, 12, 4
TIED = "\u00a0"
"""Between words that stay on one line."""
ESCAPE, END_OF_INPUT = b"\x1b", b"\x04"
CLEAR, BOLD, DIM, PLAIN = "\x1b[H\x1b[2J", "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass
class Decision:
    """What is to become of items: of one, or of all that are left of a session.

    Attributes:
        at: the place of the first of them.
        action: one of an item's actions.
        text: its new words, where it is edited.
    """

    at: int
    action: str
    items: Sequence[Row]
    text: str = ""


@dataclass
class Review:
    """A review as far as it has come.

    Attributes:
        where: which memories are meant, as every request says it.
        plain: lines alone, each key followed by Enter; nothing is cleared or coloured.
        last: what was decided last and is not told the daemon yet.
        decided: how many were decided about, and `done` how many in which way.
    """

    items: list[Row]
    where: asking.Request
    plain: bool
    at: int = 0
    last: Decision | None = None
    decided: int = 0
    done: Counter[str] = field(default_factory=Counter)

    def commit(self) -> None:
        """Have the daemon do what was decided last."""
        decision, self.last = self.last, None
        if decision is None:
            return
        self.decided += len(decision.items)
        ids = [item.text("id") for item in decision.items]
        if decision.action == "edit" and decision.items[0].text("reason") != "unanswered":
            asking.ask("edit", self.where, id=ids[0], text=decision.text)
            self.done["edited"] += 1
            return
        action = "confirm" if decision.action == "edit" else decision.action
        answer = asking.ask("review", {**self.where, action: ids}, text=decision.text)
        if decision.items[0].row("other"):
            self.done["settled"] += 1
            return
        for name in DONE:
            self.done[name] += answer.count(name)

    def decide(self, action: str, items: Sequence[Row], text: str = "") -> None:
        """Decide about items that begin here, and go on behind them."""
        self.commit()
        self.last = Decision(self.at, action, items, text)
        self.at += len(items)

    def undo(self) -> bool:
        """Take back what was decided last; whether there was something."""
        if self.last is None:
            return False
        self.at, self.last = self.last.at, None
        return True


def go_through(items: list[Row], where: asking.Request, plain: bool) -> Row:
    """Show one item after the other and do what is decided; return how many were decided about in which way.

    Raises:
        VectorMemoryError: what the daemon reported.
    """
    going = Review(items, where, plain or os.environ.get("TERM", "") in ("dumb", ""))
    word = ""
    try:
        with _input(in_lines=False, plain=going.plain):
            while going.at < len(items):
                _draw(going, word)
                word = _step(going)
                if word in (QUIT, FINISH):
                    break
    except (KeyboardInterrupt, EOFError, typer.Abort):
        # What was decided counts, however a review ends.
        pass
    finally:
        going.commit()
    left = len(items) - going.decided if word != FINISH else 0
    words = f"{left} {'is' if left == 1 else 'are'} left for the next review."
    output.say(f"\n{words if left else 'All looked through.'}")
    return Row(going.done)


def _step(going: Review) -> str:
    """Read a key and do what it means; return what the next screen has to say first, or QUIT."""
    item = going.items[going.at]
    key = _key(going.plain)
    action = next((name for name, own in _actions(item).items() if own == key), "")
    if action == "edit":
        with _input(in_lines=True, plain=going.plain):
            text = _edited(item.text("text"))
        if text and (text != item.text("text") or item.text("reason") == "unanswered"):
            going.decide(action, [item], text)
            return ""
        return "Nothing was changed."
    if action:
        going.decide(action, [item])
    elif key == NEXT:
        going.at += 1
    elif key == BACK:
        return "Taken back." if going.undo() else "There is nothing to undo."
    elif key == SESSION and (session := _of_session(going)):
        going.decide("keep", session)
    elif key == QUIT:
        return QUIT
    elif key == FINISH and _is_captured(item):
        output.say(f"Keep all {len(going.items) - going.at} that are left? {YES} = yes")
        if _key(going.plain) == YES:
            going.commit()
            asking.ask("review", going.where, finish=True)
            return FINISH
    else:
        return f"{output.plain(key)!r} means nothing here."
    return ""


def _key(plain: bool) -> str:
    if plain:
        typed: str = typer.prompt("Key", default=NEXT, show_default=False, err=True)
        return typed.strip()[:1].lower()
    key = os.read(sys.stdin.fileno(), 1)
    if key in (b"", END_OF_INPUT):
        raise EOFError
    if key == ESCAPE or key[0] > 0x7F:
        # An arrow, or a letter that no key here is: all of it is one key.
        while select.select([sys.stdin], [], [], 0.0)[0] and (more := os.read(0, 1)):
            key += more
    return key.decode("utf-8", "replace").lower()


@contextmanager
def _input(in_lines: bool, plain: bool) -> Iterator[None]:
    """Have input come in lines as it usually does, or key by key, without Enter and without an echo."""
    if plain:
        yield
        return
    before, mode = termios.tcgetattr(sys.stdin), termios.tcgetattr(sys.stdin)
    if in_lines:
        mode[3] |= termios.ICANON | termios.ECHO
    else:
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    # Nothing is thrown away: who types ahead is heard.
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _edited(text: str) -> str:
    """Return a text as the user would have it, "" where he leaves it."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        written = click.edit(text + "\n", extension=".txt", require_save=True)
        return (written or "").strip()
    return _retyped(text).strip()


def _retyped(text: str) -> str:
    """Return a line that stands there to be changed, where the terminal can do that."""
    output.say("\nChange the words; Enter takes them.")
    sys.stdout.flush()
    with contextlib.suppress(ImportError):
        import readline

        # It stands on one line there, and would not be told from one that is typed.
        readline.set_startup_hook(
            lambda: readline.insert_text(output.plain(" ".join(text.split())))
        )
        try:
            return input()
        finally:
            readline.set_startup_hook()
    return input()


def _of_session(going: Review) -> list[Row]:
    """Return what is asked next of the session that is being asked about, and was captured there."""
    session = going.items[going.at].text("session")
    rest = going.items[going.at :]
    return list(
        itertools.takewhile(
            lambda item: item.text("session") == session and _is_captured(item), rest
        )
    )


def _is_captured(item: Row) -> bool:
    """Whether nothing is asked of the user but a look. All that follows such an item is of that sort."""
    return item.text("reason") in ("decision", "new")


def _actions(item: Row) -> dict[str, str]:
    """Return the keys of what can be done with an item, by its actions."""
    words = PAIR_WORDS if item.row("other") else {name: name for name in ACTIONS}
    return {name: words[name][0] for name in item.texts("actions") if name in words}


def _draw(going: Review, word: str) -> None:
    """Show the item that is being asked about.

    Args:
        word: what is to be said above it.
    """
    size = shutil.get_terminal_size()
    width = max(NARROWEST, min(WIDEST, size.columns - 1))
    has_colour = not going.plain and "NO_COLOR" not in os.environ
    item = going.items[going.at]
    if not going.plain:
        sys.stdout.write(CLEAR)
    if word:
        output.say(word)
    head = f"{going.at + 1} of {len(going.items)}: {output.plain(why(item))}"
    _say(head, width, BOLD if has_colour else "")
    rows = max(LEAST_ROWS, size.lines - FRAME_ROWS)
    for line in _about(item):
        _say(line, width, DIM if has_colour else "")
    output.say()
    if other := item.row("other"):
        _say(f"Newer, {_said_by(item)}:", width)
        _text(item, width, rows // 2, going.plain)
        _say(f"Older, {_said_by(other)}:", width)
        _text(other, width, rows // 2, going.plain)
    else:
        _text(item, width, rows, going.plain)
    output.say()
    _say(_choices(going), width)


def _about(item: Row) -> list[str]:
    """Return what is to be known of an item beside its words."""
    parts = [item.text("kind"), "" if item.row("other") else _said_by(item)]
    parts.append(item.text("project") or "all projects")
    if item.text("priority", "NORMAL") != "NORMAL":
        parts.append(item.text("priority"))
    if item.count("sessions") > 1:
        parts.append(f"in {item.count('sessions')} sessions")
    title = output.one_line(item.text("title"), 160)
    # A prompt that ends so says what it is about further down.
    tells = title and not item.row("other") and not title.endswith(":")
    is_new = title.rstrip("…. ")[:60].casefold() not in item.text("text").casefold()
    return [
        ", ".join(filter(None, parts)),
        *([f"In this turn: {title}"] if tells and is_new else []),
    ]


def _said_by(item: Row) -> str:
    who = {"user": "you", "assistant": "the assistant"}.get(
        item.text("origin"), item.text("origin")
    )
    return f"by {who}, {item.day()}"


def _text(item: Row, width: int, rows: int, plain: bool) -> None:
    """Print an item's words, as many lines as a screen has."""
    text = output.plain(item.text("text"))
    wrapped = [line for part in text.splitlines() for line in _wrapped(part, width, "  ")]
    if len(wrapped) > rows and not plain:
        wrapped[rows - 1 :] = _wrapped(f"… `vector-memory show {item.id}` has all of it", width)
    for line in wrapped:
        output.say(line)


def _choices(going: Review) -> str:
    """Return the keys and what they do, in words."""
    item = going.items[going.at]
    words = PAIR_WORDS if item.row("other") else SPECIAL_WORDS.get(item.text("reason"), WORDS)
    choices = [f"{key} = {words.get(name, name)}" for name, key in _actions(item).items()]
    left_out = {SESSION} if len(_of_session(going)) < 2 else set()
    left_out |= {BACK} if going.last is None else set()
    left_out |= set() if _is_captured(item) else {FINISH}
    choices += [f"{key} = {MOVES[key]}" for key in MOVES if key not in left_out]
    return ", ".join(choice.replace(" ", TIED) for choice in choices)


def _say(text: str, width: int, style: str = "") -> None:
    for line in _wrapped(output.plain(text), width):
        line = line.replace(TIED, " ")
        output.say(f"{style}{line}{PLAIN}" if style else line)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]
