"""One call of a program: what it asks, by whose token, and how the daemon is asked for it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field

from vector_memory import projects
from vector_memory.client.link import DaemonClient, Json
from vector_memory.daemon_verbs import LONG_ONES
from vector_memory.errors import VectorMemoryError
from vector_memory.tokens import Codes, Token

TIMEOUT_S = 60.0
LONG_S = 600.0
GUEST = "agent"
"""Who asks by a token that does not speak for the user: what it says informs, and binds nobody."""


class NotAllowedError(VectorMemoryError):
    """A token does not reach so far."""


class ConflictError(VectorMemoryError):
    """Something has changed since, or is being done."""


@dataclass
class WebCall:
    """A call.

    Attributes:
        folder: what is asked without a `project` for writing is about this folder's.
        address: what was asked, as `POST /v1/recall`, for the audit log.
        arguments: the fields that were given, checked.
        path: what the address names, such as `id`.
        confirmations: codes for what was shown to be forgotten.
    """

    daemon: DaemonClient
    token: Token
    folder: str
    address: str
    arguments: Json
    path: Mapping[str, str]
    headers: Mapping[str, str]
    confirmations: Codes
    _is_noted: bool = field(default=False)

    def ask(self, verb: str, **request: object) -> Json:
        """Return the daemon's answer.

        Raises:
            VectorMemoryError: what the daemon reported, or that there is none.
        """
        wait_s = LONG_S if verb in LONG_ONES else TIMEOUT_S
        return self.daemon.ask(verb, self._request(request), wait_s)

    def steps(
        self, verb: str, wait_s: float, **request: object
    ) -> Generator[tuple[str, Json], None, None]:
        """Yield ("progress" | "item", data) … and ("answer", data) last."""
        yield from self.daemon.stream(verb, self._request(request), wait_s)

    def items(self, verb: str, **request: object) -> Iterator[Json]:
        """Yield what comes item by item before the answer."""
        for kind, data in self.steps(verb, LONG_S, **request):
            if kind == "item":
                yield data

    def scope(self, writes: bool = False) -> Json:
        """Return which project is meant: the one that is named, or the token's; else all, for questions, and
        the gateway's own folder, for what is stored.

        Raises:
            NotAllowedError: it is not the token's.
        """
        project = self.arguments.get("project")
        if not self.token.project:
            if self.arguments.get("global"):
                return {"global": True}
            if project is None and not writes:
                return {"all_projects": True}
            return {
                "project": os.path.join(self.folder, os.path.expanduser(project or self.folder))
            }
        if self.arguments.get("global") or (project is not None and not self._is_own(project)):
            raise NotAllowedError(
                "The token is for another project.", f"It is for {self.token.project}."
            )
        return {}

    def memory(self, id: str) -> Json:
        """Return a memory by its id, or how it begins.

        Raises:
            NotFoundError: there is none that the token may see.
        """
        memory: Json = self.ask("get", id=id)["memory"]
        return memory

    def _is_own(self, folder: str) -> bool:
        place = projects.locate(os.path.join(self.folder, os.path.expanduser(folder)))
        return place.id == self.token.project_id

    def _request(self, request: Mapping[str, object]) -> Json:
        fields = {name: value for name, value in request.items() if value is not None}
        # The daemon keeps each question within the token's limits, also one by an id, a link or a history.
        limits: Json = {"ceiling": self.token.ceiling}
        limits["jurisdictions"] = list(self.token.jurisdictions)
        if self.token.project:
            limits |= {"project": self.token.project, "only_project": True}
        fields |= {name: value for name, value in limits.items() if value}
        fields |= {} if self._is_noted else {"door": self.token.name, "address": self.address}
        self._is_noted = True
        return {**fields, "cwd": self.folder, "actor": "user" if self.token.is_the_users else GUEST}
