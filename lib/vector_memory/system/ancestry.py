"""Who speaks: a person, or a program that an agent's client started, as the line of processes tells it that
leads to the other end of a socket. A variable can be taken away, a parent cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from vector_memory.system import processes
from vector_memory.system.processes import INIT, Process, Program

USER, AGENT, UNKNOWN = "user", "agent", "unknown"
MARKS = frozenset({
    "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "AI_AGENT", "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED", "CURSOR_AGENT", "GEMINI_CLI",
})  # fmt: skip
"""Variables that clients of agents set for what their agents run."""
CLIENTS = ("claude",)
CLIENT_FOLDERS = ("/@anthropic-ai/claude-code", "/claude/versions/")
RUNTIMES = ("node", "bun", "deno")
SHELLS = ("sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox")
REAPERS = ("systemd",)
"""Beside the first process, programs that become the parent of what lost its own."""
HOSTS = (
    "cron", "crond", "atd", "anacron", "sshd", "login", "alacritty", "foot", "gnome-terminal-server",
    "gnome-terminal-", "ghostty", "kitty", "konsole", "kgx", "lxterminal", "mate-terminal", "ptyxis",
    "terminator", "tilix", "wezterm-gui", "xfce4-terminal", "xterm",
)  # fmt: skip
"""Programs that run without a parent of their own and start what a person asks for."""
MOST = 256
"""Processes that are looked at for one question."""

Identity = tuple[int, int]
"""A process's number and its start."""


class AgentClient(NamedTuple):
    """A client of an agent that was seen: its control group, and when it was found to have ended, in the unit
    of `Process.started`; 0 while it runs."""

    cgroup: str
    ended: int = 0


class Ancestry(NamedTuple):
    """Whose process it is (`speaker`); all processes that lead to it, itself first (`processes`); when the agent's
    first client among them began (`since`); and its parents alone, itself first (`parents`)."""

    speaker: str
    processes: tuple[Identity, ...] = ()
    since: int = 0
    parents: tuple[Identity, ...] = ()


def identity(process: Process) -> Identity:
    """Return what names a process for good."""
    return process.pid, process.started


def line_of(
    process: Process | None,
    clients: dict[Identity, AgentClient],
    is_client_itself: bool = False,
    since: int = 0,
) -> Ancestry:
    """Return whose a process is: an agent's where a client is among its parents, or among those of the
    leaders of its session and group; unknown where its parents are gone and an agent may have been one.

    Args:
        process: as it was when it was met; another one may have its number by now.
        clients: processes that are known to run agents.
        is_client_itself: it is one, and who started it is asked.
        since: when the first agent began that was seen, in the unit of `Process.started`; 0 for none.
    """
    current = processes.process(process.pid) if process else None
    if process is None or current is None or identity(current) != identity(process):
        return Ancestry(UNKNOWN)
    chain = list(_lineage(current))
    identities = tuple(map(identity, chain))
    agents = [member.started for member in chain[is_client_itself:] if _is_agents(member, clients)]
    parents = list(_parents(current))
    parent_identities = tuple(map(identity, parents))
    if agents:
        return Ancestry(AGENT, identities, min(agents), parent_identities)
    speaker = UNKNOWN if _is_cut(current, parents[-1], clients, since) else USER
    return Ancestry(speaker, identities, parents=parent_identities)


def starter_of(
    hook: Process, is_known: Callable[[Process], bool] = lambda process: False
) -> tuple[Process | None, list[Process]]:
    """Return the process that started a hook, and what stands between: the hook itself, which may have done
    its work in a process apart, and shells.

    Args:
        is_known: says of a process that it starts hooks, before anything else is read of it.
    """
    between = [hook]
    for parent in islice(_parents(hook), 1, None):
        if is_known(parent) or not (_is_shell(parent) or _is_alike(parent, hook)):
            return parent, between
        between.append(parent)
    return None, between


def is_client(program: Program) -> bool:
    """Whether a program is a client of an agent, by its file or, where a runtime runs it, by its script."""
    words = program.arguments
    names = [program.path, *words[:1]]
    if words and os.path.basename(words[0]) in RUNTIMES:
        names += words[1:2]
    return any(os.path.basename(name) in CLIENTS for name in names) or any(
        folder in name for name in names for folder in CLIENT_FOLDERS
    )


def is_marked(program: Program) -> bool:
    """Whether a client's mark stands in a program's environment."""
    return not MARKS.isdisjoint(program.variables)


def _parents(process: Process) -> Iterator[Process]:
    """Yield a process and its parents, up to the one below the first process of all."""
    ancestor: Process | None = process
    for _ in range(MOST):
        if ancestor is None:
            return
        yield ancestor
        ancestor = None if _is_reaper(ancestor.parent) else processes.process(ancestor.parent)


def _lineage(process: Process) -> Iterator[Process]:
    """Yield a process, its parents, and the leaders of their sessions and groups with theirs, each once."""
    pids: set[int] = set()
    waiting = [process]
    while waiting and len(pids) < MOST:
        for parent in _parents(waiting.pop(0)):
            if parent.pid in pids:
                break
            pids.add(parent.pid)
            yield parent
            for leader in {parent.group, parent.session} - pids - {0, INIT}:
                leader_process = processes.process(leader)
                if leader_process is not None:
                    waiting.append(leader_process)


def _is_agents(process: Process, clients: dict[Identity, AgentClient]) -> bool:
    if identity(process) in clients:
        return True
    program = processes.program(process.pid)
    return is_marked(program) or is_client(program)


def _is_reaper(pid: int) -> bool:
    if pid <= INIT:
        return True
    return os.path.basename(processes.executable(pid)) in REAPERS


def _is_cut(
    process: Process, top: Process, clients: dict[Identity, AgentClient], since: int
) -> bool:
    """Whether a line ends where its first process lost its parent, and that may have been an agent's.

    What has no terminal is taken for an agent's then, if it began after the first agent that was seen:
    before that it is a job, or a service, of a person's. What has a terminal is a person's, unless it
    began beside a client: whoever detaches a process can give it a terminal, too.
    """
    # Nothing is given to the parent 0: a container's runtime started it.
    if top.parent == 0 or top.pid == INIT or top.user != os.getuid() or _is_host(top):
        return False
    # Where everything shares the first process's session, as in many containers, what lost its parent
    # looks as what was born there.
    if process.has_terminal and not _is_loose(top):
        return False
    agents = {**_running_clients(), **clients}
    if not process.has_terminal:
        return any(
            start <= top.started
            for start in (*([since] if since else ()), *(began for _, began in agents))
        )
    group = processes.cgroup(top.pid)
    return any(
        started <= top.started <= (client.ended or top.started) and client.cgroup == group
        for (_, started), client in agents.items()
    )


def _running_clients() -> dict[Identity, AgentClient]:
    """Return this user's processes that are clients, or that a client has started, whoever knows of them."""
    clients = {}
    for pid in processes.own_processes():
        process, program = processes.process(pid), processes.program(pid)
        if process is not None and (is_client(program) or is_marked(program)):
            clients[identity(process)] = AgentClient(processes.cgroup(pid))
    return clients


def _is_loose(top: Process) -> bool:
    """Whether a child of the first process was not born as one: it came with another session than that
    one's, its group's leader is gone, or it leads a session without a terminal, as what is detached does."""
    if top.session == top.pid:
        return not top.has_terminal
    reaper = processes.process(top.parent)
    if top.session and reaper is not None and top.session != reaper.session:
        return True
    return top.group not in (0, top.pid) and processes.process(top.group) is None


def _is_host(top: Process) -> bool:
    """Whether it is one of the programs that start what a person asks for, as the system installed it."""
    path = processes.executable(top.pid)
    try:
        return os.path.basename(path) in HOSTS and os.stat(path).st_uid == 0
    except OSError:
        return False


def _is_shell(process: Process) -> bool:
    return os.path.basename(processes.executable(process.pid)) in SHELLS


def _is_alike(first_process: Process, second_process: Process) -> bool:
    first_program, second_program = (
        processes.program(process.pid, with_variables=False)
        for process in (first_process, second_process)
    )
    return first_program.arguments == second_program.arguments
