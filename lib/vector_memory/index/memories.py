"""From an exchange to drafts of memories: passages that can be found and understood on their own.

A passage is verbatim, without what nobody will look for: narration of the next step, applause, long
pastes. It is small, since a small text says one thing, has one meaning for a vector, and costs few
tokens when it is shown; what stood around it is found by its session and turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby
from typing import NamedTuple

from vector_memory.index.edited_lines import edited_lines
from vector_memory.index.exchanges import (
    DONE_STEP,
    PLANNED,
    SAID,
    USER_HEAD,
    Exchange,
    ExchangeStep,
)
from vector_memory.index.tools import clip, is_quiet
from vector_memory.model import (
    BRANCH,
    DEFAULT_COLLECTION,
    DONE_HEAD,
    LOOKUP,
    PASSAGE,
    PULL,
    SUBAGENT_TAG,
)
from vector_memory.text import harmless, pastes, suspicion
from vector_memory.text.chatter import is_applause, is_chatter
from vector_memory.text.fence import TASK
from vector_memory.text.harmless import PASTED, TOOL
from vector_memory.text.mentions import exact_terms
from vector_memory.text.prompts import says_hardly_anything, says_nothing
from vector_memory.text.statements import CODE, HEADING, ITEM, Statement, statements
from vector_memory.text.words import is_made_of, letters_in, sentences_in, words_in

PIECE_CHARS = 480
"""Characters of a passage, about: it is cut where a statement ends before."""
LEAST_CHARS = 90
"""What is shorter joins its neighbour: it says nothing alone, and its vector is like many."""
LEAST_ANSWER = 40
"""What is shorter says nothing either, after a prompt that says nothing."""
LONGEST_STATEMENT = 1_500
"""Characters that are kept of one statement: beyond it, it is pasted output or code."""
TITLE_CHARS = 90
LONGEST_PROMPT = 12_000
LONGEST_ANSWER = 60_000
"""Characters that are kept of one answer or note: its start and its end. A turn may have as many as it likes: how it
ended comes last, and what was read of it earlier stays the beginning of what is read later."""

DETACHED = "HEAD"
LONGEST_BRANCH = 80
_PULL_URL = re.compile(r"https?://[^\s/]+/[^\s/]+/[^\s/]+/(?:pull|-/merge_requests)/(\d{1,7})\b")
_VOICE = re.compile(
    r"(?m)^(User|Task|Assistant|Done)\b(?=:|, *(?:refusing|planning)\b|'s answers\b)"
)
"""What would speak in another's name at the beginning of a line, as passages say who speaks (`index/voices.py`)."""
_PULL_COMMANDS = ("gh pr ", "glab mr ", "hub pull-request ")


@dataclass(frozen=True)
class Draft:
    """A memory before it is redacted and placed. `external_id` is the same for the same piece of the
    same exchange, in whichever copy of the transcript. Times are aware UTC."""

    text: str
    title: str
    created_at: datetime
    session: str
    turn: int
    path: str
    line_start: int
    line_end: int
    speaker: str
    files: tuple[str, ...]
    tags: tuple[str, ...]
    external_id: str
    origin: str
    cwd: str
    kind: str = PASSAGE
    collection: str = DEFAULT_COLLECTION
    confidence: float = 0.5
    priority: str = "NORMAL"
    extra: dict[str, object] = field(default_factory=dict)


def to_drafts(
    exchange: Exchange,
    path: str = "",
    fallback_at: datetime | None = None,
    clean: Callable[[str], str] = str,
) -> list[Draft]:
    """Return an exchange's pieces, in order.

    Args:
        exchange: the exchange.
        path: the transcript's path, for the source.
        fallback_at: the time where the transcript tells none.
        clean: redacts a text. It sees whole texts, since a cut could hide a secret's end.

    Raises:
        UnsafeTextError: `clean` could not handle a text.
    """
    prompt = _shortened(clean(exchange.prompt), LONGEST_PROMPT)
    title = title_of_exchange(exchange, prompt, clean)
    parts = list(_parts(exchange, prompt, clean))
    if _says_nothing(exchange, prompt, parts):
        return []
    pieces = _with_last_joined(list(_pieces(parts)))
    lookup_mark = {LOOKUP: True} if exchange.is_lookup else {}
    first_extra = {**_branch_and_pull(exchange, clean), **edited_lines(exchange, clean)}
    created_at = exchange.started_at or exchange.ended_at or fallback_at
    return [
        Draft(
            text=_passage_text(piece),
            title=title,
            created_at=created_at or datetime.now(timezone.utc),
            session=exchange.session,
            turn=exchange.turn,
            path=path,
            line_start=exchange.line_start,
            line_end=exchange.line_end,
            speaker=_speaker(piece),
            files=tuple(clean(file) for file in exchange.files),
            tags=(SUBAGENT_TAG,) if exchange.is_subagent else (),
            external_id=f"{exchange.key}:{number}",
            origin=_speaker(piece) if exchange.is_users else "assistant",
            cwd=exchange.cwd,
            # Once for an exchange is enough.
            extra={**_suspicion(piece), **lookup_mark, **({} if number else first_extra)},
        )
        for number, piece in enumerate(pieces)
    ]


def _says_nothing(exchange: Exchange, prompt: str, parts: Sequence[_Part]) -> bool:
    """Whether neither side says anything and nothing was done: to "hello", "test" or "?" and "Okay." there is
    nothing to find. One word may choose where the assistant had asked; what answers a question may be short."""
    last_answer = exchange.before[-1].answer.rstrip() if exchange.before else ""
    is_choice = last_answer.endswith("?") and not is_chatter(sentences_in(last_answer)[-1])
    if exchange.files or any(step.kind != SAID for step in exchange.steps):
        return False
    if exact_terms(prompt) or not (
        says_nothing(prompt)
        or is_applause(prompt)
        or (says_hardly_anything(prompt) and not is_choice)
    ):
        return False
    answer_texts = [part.text for part in parts if part.speaker == "assistant"]
    answer = " ".join(text for text in answer_texts if not text.endswith("?"))
    new_words = set(words_in(answer)) - set(words_in(prompt))
    if exact_terms(answer) or any(map(str.isdigit, new_words)):
        return False
    return says_hardly_anything(answer) if prompt.endswith("?") else len(answer) < LEAST_ANSWER


def _branch_and_pull(exchange: Exchange, clean: Callable[[str], str]) -> dict[str, object]:
    """Return the branch that an exchange was on at its end, and the number of the last pull request that it
    names; {} for neither."""
    branch = clean(exchange.branch)
    lines = ((call.output, " ".join((*call.command.split(), ""))) for call in exchange.calls)
    outputs = [output for output, line in lines if any(start in line for start in _PULL_COMMANDS)]
    numbers = _PULL_URL.findall("\n".join([exchange.prompt, *outputs, exchange.answer]))
    extra: dict[str, object] = {}
    is_name = is_made_of(branch, "_./@+-", LONGEST_BRANCH) and branch[:1] != "/"
    if is_name and branch != DETACHED:
        extra[BRANCH] = branch
    if numbers:
        extra[PULL] = int(numbers[-1])
    return extra


def around_prompt(exchange: Exchange) -> tuple[str, str, str]:
    """Return the user's own words of a prompt between what stands before and behind them in their passage."""
    words = pastes.typed_words(exchange.prompt) if exchange.is_users else exchange.prompt
    follows = next(_parts(exchange, "", str), None)
    behind = f"\n{follows.head}{follows.text[:LEAST_CHARS]}" if follows else ""
    return (USER_HEAD if exchange.is_users else TASK), words, behind


def title_of_exchange(exchange: Exchange, prompt: str, clean: Callable[[str], str]) -> str:
    """Return what an exchange is about, in the user's own words where he has any.

    Args:
        exchange: the exchange.
        prompt: its prompt, redacted.
        clean: redacts a text.
    """
    own_words = pastes.typed_words(prompt) if exchange.is_users else prompt
    return harmless.unmarked(title_of(own_words) or title_of(clean(exchange.answer)[:2_000]))


def title_of(text: str) -> str:
    """Return a text's first statement that says something, without markup, at most TITLE_CHARS
    characters."""
    fallback = ""
    for statement in statements(text[:4_000]):
        if statement.form in (CODE, HEADING) or is_chatter(statement.text):
            continue
        if len(letters_in(statement.text, 2)) > 1:
            return _bare(statement.text)
        fallback = fallback or _bare(statement.text)
    return fallback


def _bare(text: str) -> str:
    return clip(text.replace("`", "").lstrip(".… "), TITLE_CHARS)


class _Part(NamedTuple):
    """What stands together in a passage: who said it, its text, what glues it to the part before, what
    says who speaks, and whose words it is where they are not the speaker's (`harmless.between_marks`)."""

    speaker: str
    text: str
    glue: str = "\n"
    head: str = ""
    whose: str = ""


def _parts(exchange: Exchange, prompt: str, clean: Callable[[str], str]) -> Iterator[_Part]:
    """Yield what was said and done, in order, statement by statement."""
    if prompt:
        yield from _said_parts("user", USER_HEAD if exchange.is_users else TASK, prompt)
    done_steps: list[ExchangeStep] = []
    for step in exchange.steps:
        if step.kind == DONE_STEP:
            if step.error or step.is_box or not is_quiet(step.text):
                done_steps.append(step)
            continue
        yield from _done_parts(done_steps, clean)
        done_steps = []
        text = _shortened(clean(step.text), LONGEST_ANSWER)
        if step.kind in (SAID, PLANNED):
            head = "Assistant: " if step.kind == SAID else "Assistant, planning: "
            yield from _said_parts("assistant", head, text)
        else:
            head = USER_HEAD if text.startswith(USER_HEAD) else ""
            yield from _said_parts("user", head, text.removeprefix(USER_HEAD))
    yield from _done_parts(done_steps, clean)


def _done_parts(steps: Sequence[ExchangeStep], clean: Callable[[str], str]) -> Iterator[_Part]:
    """Yield a list of what was done, with why it failed in the tool's own words. A box stands alone on its line, so
    that it is read again as it is."""
    parts: list[_Part] = []
    was_box = True
    for step in dict.fromkeys(steps):
        glue, head = ("\n", DONE_HEAD) if step.is_box or was_box else ("; ", "")
        was_box = step.is_box
        text, error = clean(step.text), ""
        if step.error:
            # Both together: what is named in the call may come again in the error.
            text, _, error = clean(f"{step.text}\n{step.error}").rpartition("\n")
        parts.append(_Part("assistant", f"{text} (failed: " if error else text, glue, head))
        if error:
            parts += [_Part("assistant", error, "", whose=TOOL), _Part("assistant", ")", "")]
    yield from parts


def _said_parts(speaker: str, head: str, text: str) -> Iterator[_Part]:
    """Yield a text's statements as they stand there. What the user pasted is told from what he typed."""
    parts = pastes.typed_and_pasted(text) if speaker == "user" and head != TASK else [(text, False)]
    for words, is_pasted in parts:
        for part in _statement_parts(speaker, words):
            if is_pasted or speaker != "user":
                part = part._replace(text=_VOICE.sub(r"'\1'", part.text))
            glue = "\n" if head else part.glue
            yield part._replace(head=head, glue=glue, whose=PASTED if is_pasted else "")
            head = ""


def _statement_parts(speaker: str, text: str) -> Iterator[_Part]:
    """Yield a text's statements. The assistant's chatter is left out, and what stands under a heading says
    so once."""
    heading, end = "", 0
    for statement in statements(text):
        if statement.form == HEADING or (
            speaker == "assistant" and statement.form != CODE and is_chatter(statement.text)
        ):
            continue
        part = _shortened(text[statement.start : statement.end].strip("\n"), LONGEST_STATEMENT)
        if statement.form == CODE:
            # Whoever reads the passage again must not take it for sentences.
            fence = "~~~" if "```" in part else "```"
            part = f"{fence}\n{part}\n{fence}"
        part = f"{_item_mark(text, statement)} {part}" if statement.form == ITEM else part.strip()
        if statement.heading and statement.heading != heading:
            part = f"{statement.heading}:\n{part}"
        same_line = (
            end > 0
            and heading == statement.heading
            and statement.form != ITEM
            and "\n" not in text[end : statement.start]
        )
        heading, end = statement.heading, statement.end
        yield _Part(speaker, part, " " if same_line else "\n")


def _item_mark(text: str, item: Statement) -> str:
    """Return what stands before an item's words: its number, by which it will be spoken of, or a dash, and its box,
    by which ideas are told what is left to do."""
    mark = text[text.rfind("\n", 0, item.start) + 1 : item.start].split()
    number = mark[0] if mark and mark[0][0].isdigit() else "-"
    return number if item.done is None else f"{number} [{'x' if item.done else ' '}]"


_Piece = Sequence[_Part]
"""What makes a passage."""


def _piece_size(piece: _Piece) -> int:
    return sum(len(part.glue) + len(part.head) + len(part.text) for part in piece)


def _passage_text(piece: _Piece) -> str:
    """Return a passage's text; others' words that stand together are marked once."""
    text = ""
    for whose, group in groupby(piece, key=lambda part: part.whose):
        parts = list(group)
        glue, head = (parts[0].glue if text else ""), parts[0].head
        words = "".join(
            (part.glue + part.head if number else "") + part.text
            for number, part in enumerate(parts)
        )
        text += (
            glue
            + head
            + (harmless.between_marks(words, whose) if whose else harmless.unmarked(words))
        )
    return text


def _speaker(piece: _Piece) -> str:
    """Return whose a passage is: it is the user's where it holds words of his."""
    return "user" if any(part.speaker == "user" for part in piece) else "assistant"


def _suspicion(piece: _Piece) -> dict[str, object]:
    """Return the mark of a passage. The user may say what he likes: what the others said is looked at."""
    theirs = "".join(part.glue + part.text for part in piece if part.whose)
    assistants = (part for part in piece if part.speaker != "user" and not part.whose)
    return suspicion.mark_of_mixed(theirs, "".join(part.glue + part.text for part in assistants))


def _pieces(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Yield passages: parts put together up to the size."""
    piece: list[_Part] = []
    voice = ""
    for part in (small for whole in parts for small in _cut_part(whole)):
        voice = part.head or voice
        size = _piece_size(piece)
        longest = PIECE_CHARS if size >= LEAST_CHARS else PIECE_CHARS + LEAST_CHARS
        if piece and part.glue and size + _piece_size([part]) >= longest:
            yield piece
            # A list of what was done that goes on says again what it is.
            piece = []
            if part.glue == "; ":
                part = part._replace(head=DONE_HEAD)
            elif voice == TASK:
                # So does a program's prompt: it is nobody's who speaks here.
                part = part._replace(head=TASK)
        piece.append(part)
    if piece:
        yield piece


def _with_last_joined(pieces: list[list[_Part]]) -> list[list[_Part]]:
    """Return passages with a short last one joined to the one before."""
    if len(pieces) > 1 and _piece_size(pieces[-1]) < LEAST_CHARS:
        return [*pieces[:-2], [*pieces[-2], *pieces[-1]]]
    return pieces


def _cut_part(part: _Part) -> Iterator[_Part]:
    """Cut a long statement at the ends of lines, else of words."""
    while len(part.text) > PIECE_CHARS:
        text = part.text
        at = text.rfind("\n", PIECE_CHARS // 2, PIECE_CHARS)
        at = at if at > 0 else text.rfind(" ", PIECE_CHARS // 2, PIECE_CHARS)
        at = at if at > 0 else PIECE_CHARS
        yield part._replace(text=text[:at].rstrip())
        part = part._replace(text=text[at:].strip(), glue="\n", head="")
    if part.text:
        yield part


def _shortened(text: str, size: int) -> str:
    """Return a text of at most `size` characters: where it is longer, its start and its end."""
    if len(text) <= size:
        return text
    return f"{text[: size * 3 // 4]}\n…\n{text[-size // 4 :]}"
