"""Real projects in the order of time: their transcripts cut into sessions as labels name them, and what
happened when. A label's session `NAME-p2` is the second part of a long transcript, taken as a session of
its own: where its parts begin is read off the labels."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from replay import moment, source_path

from vector_memory.index.noise import plain_prompt
from vector_memory.index.reader import transcripts_below
from vector_memory.system import json_in

Label = dict[str, Any]
_PART = re.compile(r"-p(\d+)$")
_ORDER = ("backfill", "stop", "end", "start", "prompt")
"""What can happen; of what happens at one time, the former is done first."""


@dataclass(frozen=True)
class Line:
    """A line of a transcript: its text, its values if it is JSON, its time if it has one."""

    text: str
    data: dict[str, Any]
    at: datetime | None


@dataclass
class Prompt:
    """A prompt of a session: the line where it stands, its time and words, its label if it has one."""

    line: int
    at: datetime
    text: str
    label: Label | None = None


@dataclass
class Session:
    """One session: where its transcript is to lie, its lines and prompts."""

    name: str
    path: str
    folder: str
    lines: list[Line]
    prompts: list[Prompt] = field(default_factory=list)

    @property
    def id(self) -> str:
        """What memories call it: a name that is none of the client's is told apart by its hash."""
        return json_in.session_id(self.name)

    @property
    def is_labelled(self) -> bool:
        """Whether a prompt of it is labelled: then it is lived through, else read when it is over."""
        return any(prompt.label for prompt in self.prompts)

    @property
    def times(self) -> list[datetime]:
        """When its lines were written."""
        return [line.at for line in self.lines if line.at]

    def written(self, start: int, end: int) -> str:
        """Return some of its lines as the transcript holds them."""
        return "".join(line.text + "\n" for line in self.lines[start:end])

    def last_answer(self, start: int, end: int) -> str:
        """Return the last words of the assistant in some of its lines."""
        for line in reversed(self.lines[start:end]):
            own = line.data.get("type") == "assistant" and not line.data.get("isSidechain")
            if own and (text := _text(line.data)):
                return text
        return ""


@dataclass(frozen=True)
class Happening:
    """What happens in a session at a time: one of `_ORDER`, and the number of its prompt."""

    at: datetime
    what: str
    session: Session
    number: int = 0


def happenings(sessions: Iterable[Session]) -> list[Happening]:
    """Return what happens in all sessions, in the order of time."""
    found = [one for session in sessions for one in _of_session(session)]
    return sorted(found, key=lambda one: (one.at, _ORDER.index(one.what), one.number))


def _of_session(session: Session) -> Iterator[Happening]:
    if not session.times:
        return
    if not session.is_labelled:
        yield Happening(max(session.times), "backfill", session)
        return
    # Lines may have been copied from elsewhere: what comes later in the file comes later.
    at = session.prompts[0].at
    yield Happening(at, "start", session)
    for number, prompt in enumerate(session.prompts):
        at = max(at, prompt.at)
        yield Happening(at, "prompt", session, number)
        later = session.prompts[number + 1 : number + 2]
        end = later[0].line if later else len(session.lines)
        times = [line.at for line in session.lines[prompt.line : end] if line.at]
        at = max(at, min([max(times), *(next.at for next in later)]))
        yield Happening(at, "stop", session, number)
    yield Happening(at + timedelta(seconds=1), "end", session)


def sessions_of(labels: Sequence[Label], data: str, root: str) -> list[Session]:
    """Return the sessions of one labelled project: those of its labels, and all others whose transcripts
    lie beside theirs and are of the same project.

    Args:
        labels: of this project.
        data: the folder with the transcripts.
        root: the folder that is to hold the new transcripts, in `client/projects`, and the project.
    """
    by_path: dict[str, list[Label]] = {}
    for label in labels:
        by_path.setdefault(source_path(data, label["source"]), []).append(label)
    homes = {_first_folder(path) for path in by_path}
    project = os.path.join(root, labels[0]["project"])
    into = os.path.join(root, "client", "projects", labels[0]["project"])
    # Right in a source's folder there may be transcripts of several projects.
    is_mixed = all(label["source"].count("/") == 1 for label in labels)
    made: list[Session] = []
    anchors = _anchors(labels)
    # Subagents' transcripts come after those of their sessions, whose parts they are given to.
    paths = {path for near in by_path for path in transcripts_below(os.path.dirname(near))}
    for path in sorted(paths, key=lambda path: ("subagents" in path, path)):
        if path in by_path or not is_mixed or _first_folder(path) in homes:
            lines = _lines(path, project)
            prompts = list(_prompts(lines))
            for prompt in prompts:
                prompt.label = next(
                    (one for one in by_path.get(path, ()) if moment(one["at"]) == prompt.at), None
                )
            if "subagents" in path:
                made.append(_of_subagent(path, lines, made, into, project))
            else:
                made += _parts(path, lines, prompts, anchors, into, project)
    return made


def _anchors(labels: Iterable[Label]) -> dict[tuple[str, datetime], set[str]]:
    """Return what is known of which part a time of a transcript belongs to, by the candidates of all labels."""
    found: dict[tuple[str, datetime], set[str]] = {}
    for label in labels:
        for one in (*label["candidates"], *label["beyond_8"]):
            base = _PART.sub("", one["session"])
            found.setdefault((base, moment(one["created_at"])), set()).add(one["session"])
    return found


def _parts(
    path: str,
    lines: list[Line],
    prompts: list[Prompt],
    anchors: dict[tuple[str, datetime], set[str]],
    into: str,
    project: str,
) -> Iterator[Session]:
    """Yield a transcript as one session, or as the parts that the labels know."""
    names = [prompt.label["session"] for prompt in prompts if prompt.label]
    base = next((_PART.sub("", name) for name in names), "") or os.path.basename(path)[:-6]
    named = {name for (known, _), found in anchors.items() if known == base for name in found}
    if not any(_PART.search(name) for name in (*names, *named)):
        place = os.path.join(into, os.path.basename(path))
        yield Session(base, place, project, _named(lines, names[0] if names else ""), prompts)
        return
    numbers = _numbers(prompts, [anchors.get((base, prompt.at), set()) for prompt in prompts])
    starts = {
        number: 0 if number == numbers[0] else prompts[numbers.index(number)].line
        for number in dict.fromkeys(numbers)
    }
    for number, start in starts.items():
        end = min((one for one in starts.values() if one > start), default=len(lines))
        name = f"{base}-p{number}"
        own = [
            Prompt(prompt.line - start, prompt.at, prompt.text, prompt.label)
            for prompt, its in zip(prompts, numbers, strict=True)
            if its == number
        ]
        place = os.path.join(into, name + ".jsonl")
        yield Session(name, place, project, _named(lines[start:end], name), own)


def _numbers(prompts: Sequence[Prompt], known: Sequence[set[str]]) -> list[int]:
    """Return the number of each prompt's part: as labelled; else as candidates say, where that lies
    between the labelled ones around it; else that of the prompt before."""
    sure = [_number(prompt.label["session"]) if prompt.label else 0 for prompt in prompts]
    found: list[int] = []
    for place, number in enumerate(sure):
        after = next((at for at in range(place, len(sure)) if sure[at]), None)
        most = sure[after] if after is not None else 1_000
        begins = after is not None and (prompts[after].label or {})["first_in_session"]
        if not number:
            if begins and most > 1 and _number_named(known[place]) != most:
                most -= 1
            said = _number_named(known[place])
            least = found[-1] if found else (most if begins or most == 1 else 1)
            number = said if said and least <= said <= most else least
        found.append(max(number, found[-1] if found else 1))
    return found


def _number_named(names: set[str]) -> int:
    return _number(next(iter(names))) if len(names) == 1 else 0


def _number(name: str) -> int:
    found = _PART.search(name)
    return int(found.group(1)) if found else 1


def _of_subagent(
    path: str, lines: list[Line], made: Sequence[Session], into: str, project: str
) -> Session:
    """Return a subagent's transcript as a session that is read when it is over, under the name of the part
    of its session in which it began."""
    base = os.path.basename(os.path.dirname(os.path.dirname(path)))
    began = next((line.at for line in lines if line.at), None)
    parts = [one for one in made if _PART.sub("", one.name) == base and one.times]
    fits = [one for one in parts if began and min(one.times) <= began]
    name = fits[-1].name if fits else base
    place = os.path.join(into, name, "subagents", os.path.basename(path))
    return Session(name, place, project, _named(lines, name))


def _named(lines: Iterable[Line], name: str) -> list[Line]:
    """Return lines under another session's name; "" leaves them their own."""
    found = []
    for line in lines:
        if name and isinstance(line.data.get("sessionId"), str):
            data = {**line.data, "sessionId": name}
            line = Line(json.dumps(data, ensure_ascii=False), data, line.at)
        found.append(line)
    return found


def _lines(path: str, project: str) -> list[Line]:
    """Return a transcript's lines as if the project's working trees were all in one folder."""
    first = _first_folder(path)
    found = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file.read().split("\n"):
            data = _object(text)
            for holder in (data, data.get("payload")):
                if isinstance(holder, dict) and isinstance(holder.get("cwd"), str):
                    inside = holder["cwd"].removeprefix(first) if first else ""
                    own = inside == "" or inside.startswith("/") and inside != holder["cwd"]
                    holder["cwd"] = project + inside if own else project
                    text = json.dumps(data, ensure_ascii=False)
            try:
                at = moment(data["timestamp"])
            except (KeyError, ValueError, AttributeError):
                at = None
            if text:
                found.append(Line(text, data, at))
    return found


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _first_folder(path: str) -> str:
    """Return the first folder that a transcript names, "" for none."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            data = _object(text)
            for holder in (data, data.get("payload")):
                if isinstance(holder, dict) and isinstance(holder.get("cwd"), str):
                    return str(holder["cwd"])
    return ""


def _prompts(lines: Sequence[Line]) -> Iterator[Prompt]:
    """Yield what the user typed."""
    for number, line in enumerate(lines):
        data = line.data
        aside = data.get("isMeta") or data.get("isSidechain") or data.get("isCompactSummary")
        if data.get("type") == "user" and line.at and not aside:
            text = _text(data)
            if text and plain_prompt(text):
                yield Prompt(number, line.at, text)


def _text(data: dict[str, Any]) -> str:
    """Return a message's words, "" for the results of tools."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, str):
        return content
    blocks = [one for one in content or () if isinstance(one, dict)]
    if any(one.get("type") == "tool_result" for one in blocks):
        return ""
    return "\n".join(str(one.get("text") or "") for one in blocks if one.get("type") == "text")
