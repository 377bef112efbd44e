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

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.edit import in_editor
from vector_memory.cli.review_words import DONE, why
from vector_memory.errors import BadInputError

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
        position: the place of the first of them.
        action: one of an item's actions.
        text: its new words, where it is edited.
    """

    position: int
    action: str
    items: Sequence[Row]
    text: str = ""


@dataclass
class Review:
    """A review as far as it has come.

    Attributes:
        where: which memories are meant, as every request says it.
        plain: lines alone, each key followed by Enter; nothing is cleared or coloured.
        last_decision: what was decided last and is not told the daemon yet.
        decided: how many were decided about, and `outcomes` how many in which way.
    """

    items: list[Row]
    where: asking.Request
    plain: bool
    position: int = 0
    last_decision: Decision | None = None
    decided: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def commit(self) -> None:
        """Have the daemon do what was decided last."""
        decision, self.last_decision = self.last_decision, None
        if decision is None:
            return
        self.decided += len(decision.items)
        ids = [item.text("id") for item in decision.items]
        if decision.action == "edit" and decision.items[0].text("reason") != "unanswered":
            asking.ask("edit", self.where, id=ids[0], text=decision.text)
            self.outcomes["edited"] += 1
            return
        action = "confirm" if decision.action == "edit" else decision.action
        answer = asking.ask("review", {**self.where, action: ids}, text=decision.text)
        if decision.items[0].row("other"):
            self.outcomes["settled"] += 1
            return
        for name in DONE:
            self.outcomes[name] += answer.count(name)

    def decide(self, action: str, items: Sequence[Row], text: str = "") -> None:
        """Decide about items that begin here, and go on behind them."""
        self.commit()
        self.last_decision = Decision(self.position, action, items, text)
        self.position += len(items)

    def undo(self) -> bool:
        """Take back what was decided last; whether there was something."""
        if self.last_decision is None:
            return False
        self.position, self.last_decision = self.last_decision.position, None
        return True


def go_through(items: list[Row], where: asking.Request, plain: bool) -> Row:
    """Show one item after the other and do what is decided; return how many were decided about in which way.

    Raises:
        VectorMemoryError: what the daemon reported.
    """
    review = Review(items, where, plain or os.environ.get("TERM", "") in ("dumb", ""))
    word = ""
    try:
        with _input_mode(in_lines=False, plain=review.plain):
            while review.position < len(items):
                _draw(review, word)
                word = _step(review)
                if word in (QUIT, FINISH):
                    break
    except (KeyboardInterrupt, EOFError, typer.Abort):
        # What was decided counts, however a review ends.
        pass
    finally:
        review.commit()
    remaining = len(items) - review.decided if word != FINISH else 0
    words = f"{remaining} {'is' if remaining == 1 else 'are'} left for the next review."
    output.say(f"\n{words if remaining else 'All looked through.'}")
    return Row(review.outcomes)


def _step(review: Review) -> str:
    """Read a key and do what it means; return what the next screen has to say first, or QUIT."""
    item = review.items[review.position]
    key = _key(review.plain)
    action = next((name for name, action_key in _actions(item).items() if action_key == key), "")
    if action == "edit":
        try:
            with _input_mode(in_lines=True, plain=review.plain):
                text = _edit(item.text("text"))
        except BadInputError as error:
            return f"{error.message} Nothing was changed."
        if text and (text != item.text("text") or item.text("reason") == "unanswered"):
            review.decide(action, [item], text)
            return ""
        return "Nothing was changed."
    if action:
        review.decide(action, [item])
    elif key == NEXT:
        review.position += 1
    elif key == BACK:
        return "Taken back." if review.undo() else "There is nothing to undo."
    elif key == SESSION and (session := _session_items(review)):
        review.decide("keep", session)
    elif key == QUIT:
        return QUIT
    elif key == FINISH and _is_captured(item):
        output.say(f"Keep all {len(review.items) - review.position} that are left? {YES} = yes")
        if _key(review.plain) == YES:
            review.commit()
            asking.ask("review", review.where, finish=True)
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
def _input_mode(in_lines: bool, plain: bool) -> Iterator[None]:
    """Have input come in lines as it usually does, or key by key, without Enter and without an echo."""
    if plain:
        yield
        return
    previous_mode, mode = termios.tcgetattr(sys.stdin), termios.tcgetattr(sys.stdin)
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
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, previous_mode)


def _edit(text: str) -> str:
    """Return a text as the user would have it, "" where he leaves it.

    Raises:
        BadInputError: the editor failed, or left nothing.
    """
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        edited = in_editor(text)
        # Who ends the editor without a change wants none.
        return edited if edited != text.strip() else ""
    return _retype(text).strip()


def _retype(text: str) -> str:
    """Ask for a line, with the text filled in to be changed where the terminal can do that; return it."""
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


def _session_items(review: Review) -> list[Row]:
    """Return what is asked next of the session that is being asked about, and was captured there."""
    session = review.items[review.position].text("session")
    remaining = review.items[review.position :]
    return list(
        itertools.takewhile(
            lambda item: item.text("session") == session and _is_captured(item), remaining
        )
    )


def _is_captured(item: Row) -> bool:
    """Whether nothing is asked of the user but a look. All that follows such an item is of that sort."""
    return item.text("reason") in ("decision", "new")


def _actions(item: Row) -> dict[str, str]:
    """Return the keys of what can be done with an item, by its actions."""
    words = PAIR_WORDS if item.row("other") else {name: name for name in ACTIONS}
    return {name: words[name][0] for name in item.texts("actions") if name in words}


def _draw(review: Review, word: str) -> None:
    """Show the item that is being asked about.

    Args:
        word: what is to be said above it.
    """
    size = shutil.get_terminal_size()
    width = max(NARROWEST, min(WIDEST, size.columns - 1))
    has_colour = not review.plain and "NO_COLOR" not in os.environ
    item = review.items[review.position]
    if not review.plain:
        sys.stdout.write(CLEAR)
    if word:
        output.say(word)
    title = f"{review.position + 1} of {len(review.items)}: {output.plain(why(item))}"
    _say(title, width, BOLD if has_colour else "")
    rows = max(LEAST_ROWS, size.lines - FRAME_ROWS)
    for line in _about(item):
        _say(line, width, DIM if has_colour else "")
    output.say()
    if older := item.row("other"):
        _say(f"Newer, {_author(item)}:", width)
        _text(item, width, rows // 2, review.plain)
        _say(f"Older, {_author(older)}:", width)
        _text(older, width, rows // 2, review.plain)
    else:
        _text(item, width, rows, review.plain)
    output.say()
    _say(_choices(review), width)


def _about(item: Row) -> list[str]:
    """Return what is to be known of an item beside its words."""
    parts = [item.text("kind"), "" if item.row("other") else _author(item)]
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


def _author(item: Row) -> str:
    speaker = {"user": "you", "assistant": "the assistant"}.get(
        item.text("origin"), item.text("origin")
    )
    return f"by {speaker}, {item.day()}"


def _text(item: Row, width: int, rows: int, plain: bool) -> None:
    """Print an item's words, as many lines as a screen has."""
    text = output.plain(item.text("text"))
    wrapped = [line for part in text.splitlines() for line in _wrapped(part, width, "  ")]
    if len(wrapped) > rows and not plain:
        wrapped[rows - 1 :] = _wrapped(f"… `vector-memory show {item.id}` has all of it", width)
    for line in wrapped:
        output.say(line)


def _choices(review: Review) -> str:
    """Return the keys and what they do, in words."""
    item = review.items[review.position]
    words = PAIR_WORDS if item.row("other") else SPECIAL_WORDS.get(item.text("reason"), WORDS)
    choices = [f"{key} = {words.get(name, name)}" for name, key in _actions(item).items()]
    left_out = {SESSION} if len(_session_items(review)) < 2 else set()
    left_out |= {BACK} if review.last_decision is None else set()
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
