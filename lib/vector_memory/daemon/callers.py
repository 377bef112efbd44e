"""Who asks: the user, or a program of an agent's. What a request claims to be is believed only where that gives it
fewer rights."""

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

CallersState = dict[str, Any]
"""What outlives a daemon: `boot`, `since`, and `clients` and `persons` as lists."""


class HookStarter(NamedTuple):
    """Which process started a hook, and whether as its client does: a client's hooks read from a socket."""

    process: Process
    as_clients_do: bool


class Callers:
    """Knows the clients that ran hooks, and what the user has said to each in this turn.

    Args:
        load: returns what an earlier daemon knew of clients.
        save: keeps it, when nobody waits.
    """

    def __init__(
        self,
        load: Callable[[], CallersState | None] = lambda: None,
        save: Callable[[CallersState], None] = lambda saved: None,
    ) -> None:
        self._save = save
        saved = load() or {}
        saved = saved if saved.get("boot") == processes.boot() else {}
        self._since = int(saved.get("since") or 0)
        self._clients: OrderedDict[Identity, AgentClient] = OrderedDict(
            {(row[0], row[1]): AgentClient(row[2], row[3]) for row in saved.get("clients") or ()}
        )
        self._persons = OrderedDict.fromkeys((row[0], row[1]) for row in saved.get("persons") or ())
        self._prompts: OrderedDict[Identity, tuple[HookStarter, str]] = OrderedDict()
        self._lock = threading.Lock()

    def identified(self, request: Sent, caller: Process | None) -> Sent:
        """Return a request with who asks (`actor`), and with the user's words of this turn (`said`) where
        an agent does."""
        self._note_ended_clients()
        line = ancestry.line_of(caller, self._clients, since=self._since)
        self._note_agent_start(line)
        claimed = request.get("actor")
        actor = claimed if claimed in (AGENT, MCP) else USER
        if actor == USER and not self._is_persons(caller, line):
            actor = AGENT
        spoken = next(
            (
                self._person_prompt(process)
                for process in line.processes
                if process in self._prompts
            ),
            "",
        )
        return {**request, "actor": actor, SAID: spoken if actor != USER else ""}

    def _is_persons(self, caller: Process | None, line: Ancestry) -> bool:
        """Whether a person asks. A process that detaches itself, as a dashboard does, stays a person's if it was seen as
        such while its parents still lived."""
        if caller is None:
            return line.speaker == USER
        identity, is_detached = ancestry.identity(caller), caller.session == caller.pid
        if line.speaker == USER and is_detached and identity not in self._persons:
            self._note(self._persons, identity, None)
            with self._lock:
                self._save_state()
        # What such a process starts is the person's, too, as the dashboard's commands are. What merely shares its session
        # may have been left there by an agent that the person had started.
        return line.speaker == USER or (
            line.speaker == UNKNOWN and any(parent in self._persons for parent in line.parents)
        )

    def started_by(self, hook: Process | None) -> HookStarter | None:
        """Return which process started a hook; asked while the hook still runs, which is not for long."""
        if hook is None:
            return None
        # Nearly every hook comes from a client that is known: it is not looked at again.
        starter, between = ancestry.starter_of(
            hook, lambda process: ancestry.identity(process) in self._clients
        )
        if starter is None:
            return None
        identity = ancestry.identity(starter)
        if identity not in self._clients:
            self._note_if_client(identity, starter, between)
        sockets = all(processes.stdin_is_socket(process.pid) for process in between)
        return HookStarter(starter, sockets or identity not in self._clients)

    def _note_if_client(self, identity: Identity, starter: Process, between: list[Process]) -> None:
        """Note the process that started a hook if it is an agent's client. One that does not show it now may with the
        next hook: what it starts for its agent bears marks, what it starts for itself does not."""
        program = processes.program(starter.pid, with_variables=False)
        if ancestry.is_client(program) or any(
            ancestry.is_marked(processes.program(process.pid)) for process in between
        ):
            self._remember(identity, AgentClient(processes.cgroup(starter.pid)))

    def note_words(self, started: HookStarter | None, event: str, prompt: str = "") -> None:
        """Note what the user has said to the process that started a hook, until the turn's end."""
        if started is None:
            return
        identity = ancestry.identity(started.process)
        if event == "Stop":
            self._prompts.pop(identity, None)
        elif event == "UserPromptSubmit" and prompt:
            # Whether a person said it is looked at when it matters: this prompt waits for its answer.
            self._note(self._prompts, identity, (started, prompt[:MOST_SAID_CHARS]))

    def _person_prompt(self, identity: Identity) -> str:
        """Return a prompt that comes from a person, "" for another: a client that an agent started is given
        an agent's words, and an agent's shell can start a hook as well as the client, but not over the
        client's sockets."""
        started, prompt = self._prompts.get(identity) or (None, "")
        if started is None:
            return ""
        line = ancestry.line_of(started.process, self._clients, True, self._since)
        return prompt if started.as_clients_do and line.speaker == USER else ""

    def _note(self, values: OrderedDict[Identity, T], identity: Identity, value: T) -> None:
        """Keep a value of a program; of too many programs the oldest is dropped."""
        with self._lock:
            values[identity] = value
            values.move_to_end(identity)
            while len(values) > MOST_CLIENTS:
                values.popitem(last=False)

    def _remember(self, identity: Identity, client: AgentClient) -> None:
        self._note(self._clients, identity, client)
        with self._lock:
            self._since = min(self._since or identity[1], identity[1])
            self._save_state()

    def _note_agent_start(self, line: Ancestry) -> None:
        """Note when the first agent began: a process that has lost its parents since then may be an agent's."""
        if line.since and not 0 < self._since <= line.since:
            with self._lock:
                self._since = line.since
                self._save_state()

    def _save_state(self) -> None:
        clients = [[*identity, *client] for identity, client in self._clients.items()]
        persons = [list(identity) for identity in self._persons]
        stored = {"clients": clients, "persons": persons, "since": self._since}
        self._save({"boot": processes.boot(), **stored})

    def _note_ended_clients(self) -> None:
        """Note which clients have ended: what began after that is none of theirs."""
        for identity, client in list(self._clients.items()):
            if not client.ended:
                current = processes.process(identity[0])
                if current is None or ancestry.identity(current) != identity:
                    self._remember(identity, client._replace(ended=processes.process_clock()))
