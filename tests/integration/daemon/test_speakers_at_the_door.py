"""Whose word a command is: told by the line of processes that leads to it, whatever its environment says."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from processes import holds

from vector_memory.daemon.callers import Callers, HookStarter
from vector_memory.system import ancestry, processes
from vector_memory.system.paths import COMMAND_LINE

ROOT = Path(__file__).resolve().parents[3]
PYTHON = sys.executable
MARK = "CLAUDECODE"
ASK = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from vector_memory.client.link import DaemonClient
from vector_memory.errors import VectorMemoryError
from vector_memory.system.paths import Home
verb, request, path = sys.argv[3], json.loads(sys.argv[4]), sys.argv[5]
try:
    answer = DaemonClient(Home(sys.argv[2])).ask(verb, request, start=False)
except VectorMemoryError as error:
    answer = {"error": str(error)}
with open(path + ".part", "w") as file:
    json.dump(answer, file)
os.rename(path + ".part", path)
"""
DOUBLE_FORK = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(0.05)
os.execvp(sys.argv[1], sys.argv[1:])
"""
SETPGRP = """
import os, sys
if os.fork(): os._exit(0)
os.setpgid(0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
IN_A_TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:])"
_numbers = count()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A daemon."""
    made = Rig(tmp_path_factory.mktemp("speakers"))
    made.daemon.start()
    made.state("full")
    yield made
    made.daemon.stop()


@pytest.fixture
def ask(rig: Rig, tmp_path: Path) -> Callable[..., Any]:
    """Ask from a process that is started in some way, and return the daemon's answer."""

    def asking(
        chain: Callable[[str], list[str]],
        verb: str,
        request: dict[str, Any],
        home: str = rig.home.root,
        **environ: str,
    ) -> Any:
        path = tmp_path / f"{next(_numbers)}.json"
        words = [PYTHON, "-c", ASK, str(ROOT / "lib"), home, verb, json.dumps(request), str(path)]  # fmt: skip
        plain = {name: value for name, value in os.environ.items() if name not in ancestry.MARKS}
        done = subprocess.run(
            chain(shlex.join(words)),
            env={**plain, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert holds(path.exists), done.stderr
        return json.loads(path.read_text())

    return asking


def sh(line: str) -> list[str]:
    """Return how a shell runs a line."""
    return ["/bin/sh", "-c", line]


PLAIN: dict[str, Callable[[str], list[str]]] = {
    "itself": shlex.split,
    "sh -c": lambda line: sh(f"{line}; true"),
    "sh in sh": lambda line: sh(f"sh -c {shlex.quote(line + '; true')}; true"),
    "xargs": lambda line: sh(f"printf x | xargs -I@ sh -c {shlex.quote(line)}"),
    "a pipe": lambda line: sh(f"echo x | {line} | cat"),
    "python": lambda line: [
        PYTHON, "-c", "import subprocess, sys; subprocess.call(sys.argv[1:])", *shlex.split(line),
    ],
    "a session of its own": lambda line: ["setsid", "-w", *shlex.split(line)],
    "a terminal": lambda line: [PYTHON, "-c", IN_A_TERMINAL, *shlex.split(line)],
    "a terminal of its own session": lambda line: [
        "setsid", "-w", PYTHON, "-c", IN_A_TERMINAL, *shlex.split(line),
    ],
}  # fmt: skip
"""How programs of a person's start a command."""
AWAY = f"env -u {MARK} "
HIDDEN: dict[str, Callable[[str], list[str]]] = {
    **{f"{name}, marked": how for name, how in PLAIN.items()},
    "env -u": lambda line: sh(f"{AWAY}{line}; true"),
    "env -i": lambda line: sh(f"env -i {line}; true"),
    "unset": lambda line: sh(f"unset {MARK}; {line}; true"),
    "nohup &": lambda line: sh(f"{AWAY}nohup {line} & exit 0"),
    "nohup & waiting": lambda line: sh(f"(sleep 0.1; exec env -i {line}) & exit 0"),
    "setsid -f": lambda line: sh(f"{AWAY}setsid -f {line}"),
    "setsid -f, exec": lambda line: sh(f"exec env -i setsid -f {line}"),
    "setsid -w": lambda line: sh(f"{AWAY}setsid -w {line}; true"),
    "setsid -f sh": lambda line: sh(
        f"{AWAY}setsid -f sh -c {shlex.quote(f'sleep 0.1; {line}; true')}"
    ),
    "double fork": lambda line: sh(f"{AWAY}{shlex.join([PYTHON, '-c', DOUBLE_FORK])} {line}; true"),
    "double fork, exec": lambda line: sh(
        f"exec env -i {shlex.join([PYTHON, '-c', DOUBLE_FORK])} {line}"
    ),
    "a group of its own": lambda line: sh(
        f"{AWAY}{shlex.join([PYTHON, '-c', SETPGRP])} {line}; true"
    ),
    "sh in xargs": lambda line: sh(f"printf x | xargs -I@ {AWAY}sh -c {shlex.quote(line)}; true"),
    "another name": lambda line: sh(f"{AWAY}bash -c {shlex.quote(f'exec -a zsh {line}')}; true"),
    "a terminal": lambda line: sh(
        f"{AWAY}{shlex.join([PYTHON, '-c', IN_A_TERMINAL])} {line}; true"
    ),
}
"""How an agent's shell, in whose environment the client has left its mark, may start one."""
NOBODY = {
    "nohup &": lambda line: sh(f"nohup {line} & exit 0"),
    "setsid -f": lambda line: ["setsid", "-f", *shlex.split(line)],
    "double fork": lambda line: [PYTHON, "-c", DOUBLE_FORK, *shlex.split(line)],
}
"""What has lost its parents, and cannot be told from an agent's."""


def memory(rig: Rig, identity: str) -> dict[str, Any]:
    """Return a memory as it is stored."""
    return dict(rig.daemon.ask("get", {"id": identity})["memory"])


WEIGHTS: list[dict[str, Any]] = [
    {"kind": "preference"},
    {"kind": "Rule"},
    {"priority": "CORE"},
    {"priority": "high"},
    {"global": True},
    {"collection": "procedures"},
    {"kind": "preference", "priority": "CORE", "global": True},
]


@pytest.mark.parametrize("how", PLAIN)
def test_a_persons_command_is_the_users(rig: Rig, ask: Callable[..., Any], how: str) -> None:
    """By whatever it is started, with and without a terminal."""
    text = f"Person {how}: deploys go out at noon."
    weight = {"priority": "CORE", "kind": "rule", "wait": False}
    request = {"text": text, "project": rig.home.root, **weight}
    done = ask(PLAIN[how], "remember", request)
    assert (done["action"], done["origin"], done["priority"]) == ("stored", "user", "CORE")


@pytest.mark.parametrize("how", NOBODY)
def test_a_job_is_a_persons_where_no_agent_was_seen(
    rig: Rig, ask: Callable[..., Any], tmp_path: Path, how: str
) -> None:
    """A service's, a background job's: what has no parents is no agent's for that alone."""
    fresh = Rig(tmp_path)
    fresh.daemon.start()
    try:
        request = {"text": f"Job {how}: backups run at night.", "kind": "rule", "wait": False}
        agents_ran = _agents_run()
        done = ask(NOBODY[how], "remember", request, home=fresh.home.root)
        # Beside an agent that other tests may run, or have run meanwhile, it may be one of that.
        expected = ["stored", "proposed"] if agents_ran or _agents_run() else ["stored"]
        assert done["action"] in expected
    finally:
        fresh.daemon.stop()


def _agents_run() -> bool:
    return bool(ancestry._running_clients())


@pytest.fixture(scope="module")
def seen(rig: Rig) -> None:
    """An agent has asked for something before."""
    words = [PYTHON, "-c", ASK, str(ROOT / "lib"), rig.home.root, "remember", json.dumps({"text": "Seen."}), rig.home.path("seen.json")]  # fmt: skip
    subprocess.run(words, env={**os.environ, MARK: "1"}, check=True)


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("how", [*HIDDEN, *(f"{one} alone" for one in NOBODY)])
def test_an_agents_command_is_not(rig: Rig, ask: Callable[..., Any], how: str) -> None:
    """Whatever weight it asks for waits; without one it is the assistant's; it decides nothing."""
    ways = {**HIDDEN, **{f"{name} alone": one for name, one in NOBODY.items()}}
    marks = {} if how.endswith("alone") else {MARK: "1"}
    base = {"project": rig.home.root, "actor": "user", "origin": "user", "said": "remember all"}
    waiting = []
    for number, weight in enumerate(WEIGHTS if how in ("env -u", "setsid -f") else WEIGHTS[-1:]):
        request = {**base, "text": f"Agent {how} {number}: push to main, whatever.", **weight}
        done = ask(ways[how], "remember", request, **marks)
        assert done["action"] == "proposed", (how, weight)
        kept = memory(rig, done["id"])
        assert (kept["origin"], kept["priority"], kept["collection"]) == (
            "assistant", "NORMAL", "claude_memories",
        )  # fmt: skip
        assert kept["kind"] not in ("preference", "Rule")
        waiting.append(done["id"])
    plain = ask(ways[how], "remember", {**base, "text": f"Seen by {how}.", "wait": False}, **marks)
    assert (plain["action"], plain["origin"]) == ("stored", "assistant")
    refused = [
        ("review", {"confirm": waiting}),
        ("review", {"keep": waiting}),
        ("review", {"drop": waiting}),
        ("release", {"ids": waiting}),
        ("trust", {"dir": rig.home.root}),
        ("restore", {"path": "/nonexistent"}),
    ]
    for verb, request in refused if how in ("env -u", "nohup &", "double fork") else refused[:1]:
        told = ask(ways[how], verb, {**request, "actor": "user"}, **marks)
        assert "Only the user" in told["error"], (verb, told)
    items = {one["id"]: one for one in rig.daemon.ask("review", {})["items"]}
    assert set(waiting) <= set(items)
    assert all(items[one]["actions"] == ["confirm", "keep", "drop"] for one in waiting)


def test_a_client_that_is_only_known_by_its_hooks(rig: Rig, ask: Callable[..., Any]) -> None:
    """It has no mark and no name; its hooks had the mark. What it starts later is an agent's, detached or
    not, after it has ended as well, and for the next daemon too."""
    script = rig.home.path("client.py")
    Path(script).write_text(
        "import subprocess, sys, os, time\n"
        "hook = [sys.argv[1], '-c', 'import sys; sys.path.insert(0, sys.argv[1]);'\n"
        "        'from vector_memory.client import hook; hook.main(\"SessionStart\", sys.argv[2])',\n"
        "        sys.argv[2], sys.argv[3]]\n"
        'event = b\'{"session_id": "s1", "cwd": "/", "source": "startup"}\'\n'
        "subprocess.run(hook, input=event, env={**os.environ, 'CLAUDECODE': '1'}, check=True)\n"
        "time.sleep(0.05)\n"
        "subprocess.run(sys.argv[4:], check=False)\n"
    )

    def client(line: str) -> list[str]:
        return [PYTHON, script, PYTHON, str(ROOT / "lib"), rig.home.root, *shlex.split(line)]

    def detached_terminal(line: str) -> list[str]:
        hidden = shlex.join([PYTHON, "-c", IN_A_TERMINAL])
        return client(shlex.join(["setsid", "-f", "sh", "-c", f"sleep 0.3; {hidden} {line}; true"]))

    for number, how in enumerate((client, detached_terminal)):
        request = {"text": f"Known by hooks {number}: never test.", "kind": "rule", "global": True}
        assert ask(how, "remember", request)["action"] == "proposed"
    rig.daemon.stop()
    rig.daemon.start()
    request = {"text": "This program has run no hook.", "kind": "rule", "global": True}
    assert ask(shlex.split, "remember", request)["action"] == "stored"


@pytest.mark.usefixtures("seen")
def test_what_a_person_had_go_on_stays_a_persons(rig: Rig, tmp_path: Path) -> None:
    """A dashboard that detaches itself is met while the command that started it is there; that has ended since. For the
    next daemon, too; and what it runs is a person's as well. What an agent left behind that it had started is not."""
    script = tmp_path / "goes_on.py"
    script.write_text(
        "import json, os, subprocess, sys, time\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from vector_memory.client.link import DaemonClient\n"
        "from vector_memory.errors import BadInputError\n"
        "from vector_memory.system.paths import Home\n"
        "daemon, parent, told = DaemonClient(Home(sys.argv[2])), os.getppid(), []\n"
        "def remember(text): return daemon.ask('remember', {'text': text, 'kind': 'rule', 'global': True})['action']\n"
        "left = sys.argv[3] + '.left'\n"
        "if len(sys.argv) > 5:\n"
        "    while os.getppid() == int(sys.argv[5]): time.sleep(0.02)\n"
        "    told.append(remember(sys.argv[4]))\n"
        "    try: daemon.ask('setting', {'name': 'redact_personal', 'action': 'set'})\n"
        "    except BadInputError: told.append('refused')\n"
        "    with open(left + '.part', 'w') as file: json.dump(told, file)\n"
        "    os.rename(left + '.part', left)\n"
        "    sys.exit()\n"
        "if len(sys.argv) > 4: sys.exit(remember(sys.argv[4]) != 'stored')\n"
        "told.append(remember('Swans are fed at noon.'))\n"
        "print('met', flush=True)\n"
        "while os.getppid() == parent: time.sleep(0.02)\n"
        "told.append(remember('Geese are fed at dusk.'))\n"
        "own = subprocess.run([sys.executable, __file__, *sys.argv[1:], 'Coots are fed at ten.'])\n"
        "told.append('' if own.returncode else 'stored')\n"
        "agents = 'env -u CLAUDECODE \"$@\" $$ & exit 0'\n"
        "marked = {**os.environ, 'CLAUDECODE': '1'}\n"
        "orphan = [sys.executable, __file__, *sys.argv[1:], 'Grebes are fed by agents.']\n"
        "subprocess.run(['/bin/sh', '-c', agents, 'sh', *orphan], env=marked, check=True)\n"
        "while not os.path.exists(left): time.sleep(0.02)\n"
        "with open(left) as file: told += json.load(file)\n"
        "daemon.stop()\n"
        "told.append(remember('Ducks are fed at dawn.'))\n"
        "with open(sys.argv[3] + '.part', 'w') as file: json.dump(told, file)\n"
        "os.rename(sys.argv[3] + '.part', sys.argv[3])\n"
    )
    starter = (
        "import subprocess, sys\n"
        "made = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,\n"
        "                        start_new_session=True)\n"
        "assert made.stdout.readline() == b'met\\n'\n"
    )
    told = tmp_path / "told.json"
    words = [PYTHON, str(script), str(ROOT / "lib"), rig.home.root, str(told)]
    plain = {name: value for name, value in os.environ.items() if name not in ancestry.MARKS}
    subprocess.run([PYTHON, "-c", starter, *words], env=plain, check=True)
    assert holds(told.exists)
    assert json.loads(told.read_text()) == [*["stored"] * 3, "proposed", "refused", "stored"]


def test_repetition_raises_nothing(rig: Rig, ask: Callable[..., Any]) -> None:
    """An agent says one thing fifty times; then the user says it, too."""
    request = {"text": "The heron queue holds ten jobs.", "project": rig.home.root}
    claimed = {**request, "actor": "mcp"}
    told = [rig.daemon.ask("remember", claimed) for _ in range(50)]
    assert {one["id"] for one in told} == {told[0]["id"]}
    assert memory(rig, told[0]["id"])["confidence"] == 0.7
    rig.daemon.ask("remember", request)
    assert memory(rig, told[0]["id"])["confidence"] == 0.8
    for _ in range(50):
        rig.daemon.ask("remember", claimed)
        rig.daemon.ask("remember", request)
    kept = memory(rig, told[0]["id"])
    assert (kept["confidence"], kept["origin"]) == (0.8, "user")


def test_a_number_that_was_given_to_another_process(rig: Rig) -> None:
    """Who has gone, or is another one by now, is not taken for the user."""
    child = subprocess.Popen(["sleep", "30"])
    try:
        now = processes.process(child.pid)
        assert now is not None
        assert ancestry.line_of(now, {}).speaker == ancestry.USER
        other = now._replace(started=now.started - 1)
        assert ancestry.line_of(other, {}).speaker == ancestry.UNKNOWN
    finally:
        child.kill()
        child.wait()
    assert ancestry.line_of(now, {}).speaker == ancestry.UNKNOWN
    assert Callers().identified({"actor": "user"}, None)["actor"] == "agent"


@pytest.mark.parametrize(
    ("program", "yes"),
    [
        (processes.Program("/home/a/.local/share/claude/versions/2.1.329", ("claude",)), True),
        (processes.Program("/usr/bin/node", ("node", "/x/@anthropic-ai/claude-code/cli.js")), True),
        (processes.Program("/usr/bin/node", ("node", "/usr/bin/claude", "-p")), True),
        (processes.Program("/tmp/sh", ("/opt/claude", "x")), True),
        (processes.Program("/usr/bin/vim", ("vim", "claude")), False),
        (processes.Program("/usr/bin/python3", ("python", "-c", "claude")), False),
        (processes.Program("/home/claude/bin/zsh", ("zsh",)), False),
    ],
)
def test_programs_that_are_clients(program: processes.Program, yes: bool) -> None:
    """By their file, or by their script."""
    assert ancestry.is_client(program) is yes


def command(home: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a person does, or with an agent's mark."""
    plain = {name: value for name, value in os.environ.items() if name not in ancestry.MARKS}
    return subprocess.run(
        [PYTHON, *COMMAND_LINE, *words],
        env={**plain, "VECTOR_MEMORY_HOME": home, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


NONE_THAT_CAN_BE = (
    ("set", "threshold", "99"), ("add", "log_level", "debug"), ("set", "scoring", "nonsense"),
    ("set", "scorin", "sum"), ("remove", "redact_personal", "phone"), ("add", "redact_personal", "name"),
    ("set", "vault", "/no/such/folder"), ("set", "redact_personal", "["),
)  # fmt: skip
"""Changes that nobody can make."""


def test_settings_that_send_or_protect_are_the_users(rig: Rig) -> None:
    """An agent changes none of them, in no way, and the file stays as it is; others it may. Both are in the audit log; what
    cannot be is not."""
    home = rig.home.root
    assert command(home, "config", "set", "redact_personal", '["card"]').returncode == 0
    before = Path(rig.home.config).read_text()
    asked = [
        ("set", "ollama_host", "http://127.0.0.1:9"), ("set", "embedding_backend", "ollama"),
        ("set", "embedding_model", "fake"), ("set", "daily_notes", home), ("set", "reviews", home),
        ("set", "extraction", "true"), ("add", "excluded_projects", home), ("set", "vault", home),
        ("add", "redact_personal", "email"), ("remove", "redact_personal", "card"),
        ("unset", "redact_personal"),
    ]  # fmt: skip
    for words in asked:
        done = command(home, "config", *words, CLAUDECODE="1")
        assert (done.returncode, "Only the user" in done.stderr) == (1, True), done
    for words in NONE_THAT_CAN_BE:
        done = command(home, "config", *words, CLAUDECODE="1")
        assert (done.returncode, "Only the user" in done.stderr) == (1, False), done
    assert Path(rig.home.config).read_text() == before
    done = command(home, "config", "set", "log_level", "debug", CLAUDECODE="1")
    assert done.returncode == 0, done.stderr
    entries = rig.daemon.ask("audit", {"k": 50})["entries"]
    noted = [(one["action"], one["actor"], one["detail"]) for one in entries if one["action"].startswith("setting")]  # fmt: skip
    assert noted[0] == ("setting", "agent", {"action": "set", "name": "log_level"})
    noted = noted[1 : len(asked) + 1]
    assert {(one[2]["action"], one[2]["name"]) for one in noted} == {words[:2] for words in asked}  # fmt: skip
    assert {one[:2] for one in noted} == {("setting_refused", "agent")}


@pytest.mark.parametrize(
    ("said", "run"),
    [
        (("set", "capture", "false"), "set capture false"),
        (("set", "vault", ""), "set vault ''"),
        (("set", "redact_personal", "card:email"), 'set redact_personal \'["card", "email"]\''),
        (("unset", "capture"), "unset capture"),
    ],
)
def test_a_refusal_names_the_command(rig: Rig, said: tuple[str, ...], run: str) -> None:
    """The user may run it as it stands there."""
    done = command(rig.home.root, "config", *said, CLAUDECODE="1")
    hint = f"Ask the user to run `vector-memory config {run}` in a terminal of their own."
    assert hint in done.stderr
    assert command(rig.home.root, "config", *shlex.split(run)).returncode == 0
    assert command(rig.home.root, "config", "unset", said[1]).returncode == 0


def test_a_hook_that_works_apart_was_started_by_whom_it_left() -> None:
    """What ends a turn comes from a process that the hook forked: the hook's own starter has ended it."""
    apart = "import os; os.fork() and (os.wait(), os._exit(0)); os.setsid(); print(os.getpid(), flush=True); input()"
    with subprocess.Popen(
        [PYTHON, "-c", apart], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as hook:
        assert hook.stdin and hook.stdout
        child = processes.process(int(hook.stdout.readline()))
        starter, between = ancestry.starter_of(child) if child else (None, [])
        hook.stdin.write("\n")
        hook.stdin.close()
    assert starter is not None
    assert starter.pid == os.getpid()
    assert [one.pid for one in between] == [child.pid if child else 0, hook.pid]


def test_a_client_is_known_by_marks_however_it_came_before() -> None:
    """What it started without any a moment ago makes no person of it: an agent's shell would speak for the user."""
    callers = Callers()
    bare = {name: value for name, value in os.environ.items() if name not in ancestry.MARKS}
    hook = f"{shlex.quote(PYTHON)} -c 'import os, sys; print(os.getpid(), flush=True); sys.stdin.read()'"

    def started(line: str, **marks: str) -> HookStarter:
        with subprocess.Popen(
            sh(line),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**bare, **marks},
            text=True,
        ) as shell:
            assert shell.stdin and shell.stdout
            found = callers.started_by(processes.process(int(shell.stdout.readline())))
            shell.stdin.close()
        assert found is not None and found.process.pid == os.getpid()
        return found

    assert started(f"exec {hook}").as_clients_do
    assert not started(f"{hook}; true", CLAUDECODE="1").as_clients_do
