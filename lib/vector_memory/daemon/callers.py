"""Who asks: the user, or a program of an agent's. What a request says of itself is believed only where it
makes less of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from vector_memory.daemon.server import Sent
from vector_memory.service.base.request_fields import SAID
from vector_memory.system import ancestry, processes
from vector_memory.system.ancestry import AGENT, UNKNOWN, USER, AgentClient, Ancestry, Identity
from vector_memory.system.processes import Process

T = TypeVar("T")
MOST_CLIENTS = 64
MCP = "mcp"
CURSOR = "clients"
MOST_SAID_CHARS = 20_000

Kept = dict[str, Any]
"""What outlives a daemon: `boot`, `since`, and `clients` and `persons` as lists."""


class Started(NamedTuple):
    """Which process started a hook, and whether as its client does: a client's hooks read from a socket."""

    by: Process
    as_clients_do: bool


class Callers:
    """Knows the clients that ran hooks, and what the user has said to each in this turn.

    Args:
        load: returns what an earlier daemon knew of clients.
        save: keeps it, when nobody waits.
    """

    def __init__(
        self,
        load: Callable[[], Kept | None] = lambda: None,
        save: Callable[[Kept], None] = lambda kept: None,
    ) -> None:
        self._save = save
        kept = load() or {}
        kept = kept if kept.get("boot") == processes.boot() else {}
        self._since = int(kept.get("since") or 0)
        self._clients: OrderedDict[Identity, AgentClient] = OrderedDict(
            {(row[0], row[1]): AgentClient(row[2], row[3]) for row in kept.get("clients") or ()}
        )
        self._persons = OrderedDict.fromkeys((row[0], row[1]) for row in kept.get("persons") or ())
        self._said: OrderedDict[Identity, tuple[Started, str]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, request: Sent, caller: Process | None) -> Sent:
        """Return a request with who asks (`actor`), and with the user's words of this turn (`said`) where
        an agent does."""
        self._look_after()
        line = ancestry.line_of(caller, self._clients, since=self._since)
        self._see(line)
        claimed = request.get("actor")
        actor = claimed if claimed in (AGENT, MCP) else USER
        if actor == USER and not self._is_persons(caller, line):
            actor = AGENT
        spoken = next(
            (self._spoken(process) for process in line.processes if process in self._said), ""
        )
        return {**request, "actor": actor, SAID: spoken if actor != USER else ""}

    def _is_persons(self, caller: Process | None, line: Ancestry) -> bool:
        """Whether a person asks. What detaches itself, as a dashboard does, was a person's if it was met as such before
        its parents had ended, and stays that."""
        if caller is None:
            return line.speaker == USER
        who, is_detached = ancestry.identity(caller), caller.session == caller.pid
        if line.speaker == USER and is_detached and who not in self._persons:
            self._note(self._persons, who, None)
            with self._lock:
                self._keep()
        # What such a one starts is its, as the dashboard's commands are. What is only in its session may be what an agent
        # left there, whom it had started.
        return line.speaker == USER or (
            line.speaker == UNKNOWN and any(one in self._persons for one in line.parents)
        )

    def started_by(self, hook: Process | None) -> Started | None:
        """Return who started a hook, while it is still there: it does not wait for long."""
        if hook is None:
            return None
        # Nearly every hook comes from a client that is known: it is not looked at again.
        starter, between = ancestry.starter_of(
            hook, lambda process: ancestry.identity(process) in self._clients
        )
        if starter is None:
            return None
        who = ancestry.identity(starter)
        if who not in self._clients:
            self._meet(who, starter, between)
        sockets = all(processes.stdin_is_socket(process.pid) for process in between)
        return Started(starter, sockets or who not in self._clients)

    def _meet(self, who: Identity, starter: Process, between: list[Process]) -> None:
        """Look whether who started a hook is a client. What is none now may be one by the next hook: what it
        starts for its agent bears marks, what it starts for itself does not."""
        program = processes.program(starter.pid, with_variables=False)
        if ancestry.is_client(program) or any(
            ancestry.is_marked(processes.program(process.pid)) for process in between
        ):
            self._remember(who, AgentClient(processes.cgroup(starter.pid)))

    def heard(self, started: Started | None, event: str, prompt: str = "") -> None:
        """Take note of what the user has said to who started a hook, until the turn's end."""
        if started is None:
            return
        who = ancestry.identity(started.by)
        if event == "Stop":
            self._said.pop(who, None)
        elif event == "UserPromptSubmit" and prompt:
            # Whether a person said it is looked at when it matters: this prompt waits for its answer.
            self._note(self._said, who, (started, prompt[:MOST_SAID_CHARS]))

    def _spoken(self, who: Identity) -> str:
        """Return a prompt that comes from a person, "" for another: a client that an agent started is given
        an agent's words, and an agent's shell can start a hook as well as the client, but not over the
        client's sockets."""
        started, prompt = self._said.get(who) or (None, "")
        if started is None:
            return ""
        line = ancestry.line_of(started.by, self._clients, True, self._since)
        return prompt if started.as_clients_do and line.speaker == USER else ""

    def _note(self, noted: OrderedDict[Identity, T], who: Identity, value: T) -> None:
        """Keep something of a program; of so many programs the latest."""
        with self._lock:
            noted[who] = value
            noted.move_to_end(who)
            while len(noted) > MOST_CLIENTS:
                noted.popitem(last=False)

    def _remember(self, who: Identity, client: AgentClient) -> None:
        self._note(self._clients, who, client)
        with self._lock:
            self._since = min(self._since or who[1], who[1])
            self._keep()

    def _see(self, line: Ancestry) -> None:
        """Note when the first agent began: what has lost its parents since then may be one's."""
        if line.since and not 0 < self._since <= line.since:
            with self._lock:
                self._since = line.since
                self._keep()

    def _keep(self) -> None:
        clients = [[*who, *about] for who, about in self._clients.items()]
        persons = [list(who) for who in self._persons]
        kept = {"clients": clients, "persons": persons, "since": self._since}
        self._save({"boot": processes.boot(), **kept})

    def _look_after(self) -> None:
        """Note which clients have ended: what began after that is none of theirs."""
        for who, client in list(self._clients.items()):
            if not client.ended:
                now = processes.process(who[0])
                if now is None or ancestry.identity(now) != who:
                    self._remember(who, client._replace(ended=processes.now()))
