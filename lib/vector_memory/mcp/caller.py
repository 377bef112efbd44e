"""How tools ask the daemon: from a session's folder, as the model, telling how far long work has come."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from vector_memory.client.link import DaemonClient
from vector_memory.client.link import Json as Json
from vector_memory.daemon_verbs import LONG_ONES
from vector_memory.mcp.model_answers import ModelAnswers
from vector_memory.mcp.shown_memories import Shown
from vector_memory.model import Progress, ignore_progress

ACTOR = "mcp"
TIMEOUT_S = 60.0
LONG_S = 3_600.0
TELL_EVERY_S = 0.2


@dataclass(frozen=True)
class Caller:
    """One server's way to the daemon.

    Attributes: folder: the session's folder: what is asked without a `project` is about its project. session: the
    session's id, or a name of this process where the client tells none. is_session_known: whether the client told
    it. tell: watches long work. shown: what was shown by this process; `answers` makes what the model is told in
    one answer. actor: who asks: the model, where it is not said otherwise.
    """

    daemon: DaemonClient
    folder: str
    session: str
    is_session_known: bool = False
    shown: Shown = field(default_factory=Shown)
    tell: Progress = ignore_progress
    actor: str = ACTOR
    answers: ModelAnswers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", ModelAnswers(self.shown))

    def ask(
        self, verb: str, arguments: Json, items: list[Json] | None = None, **fields: Any
    ) -> Json:
        """Return the daemon's answer about the project that the arguments name, or the session's.

        Args:
            items: takes what comes item by item before the answer.

        Raises:
            VectorMemoryError: what the daemon reported, or that there is none.
        """
        payload = self.request({**arguments, **fields})
        if verb not in LONG_ONES:
            return self.daemon.ask(verb, payload, TIMEOUT_S)
        last_report_s = 0.0

        def report(data: Json) -> None:
            nonlocal last_report_s
            if time.monotonic() - last_report_s >= TELL_EVERY_S:
                last_report_s = time.monotonic()
                self.tell(data["done"], data["total"], str(data["doing"]))

        item = None if items is None else items.append
        return self.daemon.ask(verb, payload, LONG_S, item=item, progress=report)

    def request(self, request: Json) -> Json:
        """Return what the daemon is asked: about which project, from where, by whom."""
        payload = {name: value for name, value in request.items() if value is not None}
        project = payload.pop("project", "")
        if project or not (payload.get("global") or payload.get("all_projects")):
            payload["project"] = os.path.join(self.folder, os.path.expanduser(project))
        shown_to = {"for_session": self.session} if self.is_session_known else {}
        return {**payload, **shown_to, "cwd": self.folder, "actor": self.actor}
