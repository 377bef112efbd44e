"""Whose data home is run, and when one is made: the command line, the MCP server and the hooks, from any
folder and any shell."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vector_memory.cli.main import VERBS
from vector_memory.errors import BadInputError
from vector_memory.setup import data_removal
from vector_memory.system.paths import Home, data_home, version

ROOT = Path(__file__).resolve().parents[3]
SHELLS = [one for one in (["sh"], ["bash"], ["ksh"], ["busybox", "sh"]) if shutil.which(one[0])]
LAUNCHERS = {
    "bin/vector-memory": ["list"],
    "bin/vector-memory-mcp": [],
    "hooks/run": ["session_start"],
}
SPY = "#!/bin/sh\necho ran >>{mark}\n"
RELATIVE = (
    "data", "./data", "../plugin/data", "data/", ".", "..", "./", "data/../data", " ", "-data", "~root/data",
    "~~", "$PWD/data", "file:///data", "a b", "data\n", "\\/data", "*", "data;id", "C:\\data", "'", '"',
)  # fmt: skip
STRANGER = 12_345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


class Plugin:
    """A plugin whose set-up only leaves a mark, and a data home whose interpreters do."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "plugin"
        for name in LAUNCHERS:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        lib = self.root / "lib" / "vector_memory"
        for name in (
            "setup/home.sh",
            "setup/missing.sh",
            "setup/start.sh",
            "cli/verbs.txt",
            "VERSION",
        ):
            (lib / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "lib" / "vector_memory" / name, lib / name)
        (self.root / "hooks" / "session_start.py").write_text("")
        self.mark, self.set_up = base / "ran", base / "set up"
        (self.root / "bootstrap.sh").write_text(
            f'#!/bin/sh\necho "$VECTOR_MEMORY_HOME" >>"{self.set_up}"\n'
        )

    def make(self, home: Path) -> Path:
        """Make a whole data home."""
        for name in ("venv/bin/python", "hook-python"):
            python = home / "runtime" / name
            python.parent.mkdir(parents=True, exist_ok=True)
            python.write_text(SPY.format(mark=self.mark))
            python.chmod(0o755)
        (home / "runtime" / "packages.json").write_text("{}")
        code = home / "app" / "1" / "lib" / "vector_memory"
        code.mkdir(parents=True)
        (code / "VERSION").write_text(version())
        (home / "app" / "current").symlink_to("1")
        return home

    def run(
        self, launcher: str, shell: list[str], *words: str, cwd: Path | None = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a launcher as a client does."""
        return subprocess.run(
            [*shell, str(self.root / launcher), *(words or LAUNCHERS[launcher])],
            env={"PATH": os.environ["PATH"], **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=cwd or self.base,
            check=False,
            timeout=20,
        )

    def ran(self) -> bool:
        """Whether an interpreter of a data home was started since this was last asked."""
        there = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return there

    def refused(self, launcher: str, shell: list[str], words: str, **environ: str) -> None:
        """Fail unless a launcher runs nothing, makes nothing, and says so where it may."""
        before = sorted(map(str, self.base.rglob("*")))
        done = self.run(launcher, shell, cwd=self.root, **environ)
        about = f"{launcher} {shell} {environ}: {done}"
        assert not self.ran(), about
        assert sorted(map(str, self.base.rglob("*"))) == before, about
        if launcher == "hooks/run":
            assert (done.returncode, done.stderr, done.stdout) == (0, "", ""), about
        else:
            assert (done.returncode, done.stdout) == (1, ""), about
            assert words in done.stderr, about


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """A plugin and nothing else."""
    return Plugin(tmp_path / "base")


def everywhere() -> Iterator[tuple[str, list[str]]]:
    """Yield each launcher with each shell."""
    for launcher in LAUNCHERS:
        for shell in SHELLS:
            yield launcher, shell


def test_a_home_that_depends_on_the_folder_is_none(plugin: Plugin) -> None:
    """By whichever variable: a project could bring it, and the interpreter in it."""
    for folder in (
        "data",
        "data/vector-memory",
        ".local/share/vector-memory",
        " ",
        "vector-memory",
    ):
        plugin.make(plugin.root / folder)
    for launcher, shell in everywhere():
        for value in RELATIVE:
            plugin.refused(launcher, shell, "no absolute path", VECTOR_MEMORY_HOME=value)
        for value in ("data", ".", "./data", "-"):
            plugin.refused(launcher, shell, "no absolute path", XDG_DATA_HOME=value)
            plugin.refused(launcher, shell, "no absolute path", HOME=value)
        plugin.refused(launcher, shell, "HOME is not set")
        plugin.refused(launcher, shell, "HOME is not set", VECTOR_MEMORY_HOME="~")
        plugin.refused(launcher, shell, "HOME is not set", VECTOR_MEMORY_HOME="~/data", HOME="")
    for value in RELATIVE:
        with pytest.raises(BadInputError, match="no absolute path"):
            data_home({"VECTOR_MEMORY_HOME": value, "HOME": "/home/me"})


def test_a_home_of_one_s_own_is_run(plugin: Plugin) -> None:
    """However it is written, also through a link, and with a runtime that several share."""
    home = plugin.make(plugin.base / "my data" / "vector-memory")
    (plugin.base / "link").symlink_to(home)
    sharing = plugin.base / "sharing"
    sharing.mkdir()
    (sharing / "runtime").symlink_to(home / "runtime")
    base = str(plugin.base)
    named = [
        {"VECTOR_MEMORY_HOME": value}
        for value in (f"{home}", f"{home}/", f"{home}///", f"/.{home}", f"{base}/link", f"{base}/link/",
                      f"{sharing}", f"{home}/../vector-memory", f"/{home}")
    ]  # fmt: skip
    named += [
        {"VECTOR_MEMORY_HOME": "~/my data/vector-memory", "HOME": base},
        {"VECTOR_MEMORY_HOME": "~", "HOME": str(home)},
        {"XDG_DATA_HOME": f"{base}/my data"},
        {"XDG_DATA_HOME": f"{base}/my data/", "VECTOR_MEMORY_HOME": ""},
    ]
    for launcher, shell in everywhere():
        for environ in named:
            done = plugin.run(launcher, shell, **environ)
            assert done.returncode == 0, done
            assert plugin.ran(), (launcher, shell, environ)
    assert not plugin.set_up.exists()


@needs_root
def test_nothing_of_another_user_s_is_run(plugin: Plugin) -> None:
    """Neither a data home nor a folder in it, whether it stands there or a link leads to it."""
    parts = ("", "runtime", "runtime/venv", "runtime/venv/bin", "app", "app/1", "app/1/lib")
    for number, part in enumerate(parts):
        own = plugin.make(plugin.base / f"own {number}")
        os.chown(own / part, STRANGER, STRANGER)
        linking = plugin.make(plugin.base / f"linking {number}")
        theirs = plugin.base / f"theirs {number}"
        shutil.move(linking / part, theirs)
        (plugin.base / f"linking {number}" / part).symlink_to(theirs)
        os.chown(theirs, STRANGER, STRANGER)
    for launcher, shell in everywhere():
        for number in range(len(parts)):
            for name in ("own", "linking"):
                home = str(plugin.base / f"{name} {number}")
                plugin.refused(launcher, shell, "another user", VECTOR_MEMORY_HOME=home)
        home = plugin.base / "own 0"
        plugin.refused(launcher, shell, "another user", VECTOR_MEMORY_HOME=f"{home}/")


def test_a_file_is_no_home(plugin: Plugin) -> None:
    """It is told, and stays."""
    (plugin.base / "file").write_text("mine")
    for launcher, shell in everywhere():
        for value in (f"{plugin.base}/file", f"{plugin.base}/file/"):
            plugin.refused(launcher, shell, "no folder", VECTOR_MEMORY_HOME=value)
    assert (plugin.base / "file").read_text() == "mine"


def test_a_home_that_was_not_meant_is_not_made(plugin: Plugin) -> None:
    """Without anybody to ask, the command line makes none where a mistyped name leads: not there, or a
    folder of something else. It says what does."""
    (plugin.base / "project" / "src").mkdir(parents=True)
    (plugin.base / "hidden").mkdir()
    (plugin.base / "hidden" / ".git").write_text("")
    (plugin.base / "dangling").mkdir()
    (plugin.base / "dangling" / "link").symlink_to("/nowhere")
    wrong = [
        f"{plugin.base}/{name}"
        for name in ("nwe", "a/b/c", "new/", "project", "hidden", "dangling")
    ]
    for shell in SHELLS:
        for value in wrong:
            plugin.refused("bin/vector-memory", shell, "bootstrap.sh", VECTOR_MEMORY_HOME=value)
    for shell in SHELLS:
        done = plugin.run("hooks/run", shell, VECTOR_MEMORY_HOME=f"{plugin.base}/project")
        assert "holds something else" in done.stdout
    assert os.listdir(plugin.base / "project") == ["src"]
    assert not plugin.set_up.exists()


def test_a_home_that_was_meant_is_set_up(plugin: Plugin) -> None:
    """The one that nobody needs to name, an empty folder, and one that lacks its runtime alone."""
    (plugin.base / "empty").mkdir()
    begun = plugin.base / "begun"
    for name in ("runtime", "spool"):
        (begun / name).mkdir(parents=True)
    (plugin.base / "configured").mkdir()
    (plugin.base / "configured" / "config.json").write_text("{}")
    meant = [
        ({"HOME": str(plugin.base)}, ".local/share/vector-memory"),
        ({"XDG_DATA_HOME": f"{plugin.base}/x"}, "x/vector-memory"),
        *(({"VECTOR_MEMORY_HOME": f"{plugin.base}/{one}"}, one) for one in ("empty", "begun", "configured")),
    ]  # fmt: skip
    for shell in SHELLS:
        for environ, home in meant:
            plugin.run("bin/vector-memory", shell, **environ)
            assert plugin.set_up.read_text() == f"{plugin.base}/{home}\n"
            plugin.set_up.unlink()


def test_help_and_mistakes_install_nothing(plugin: Plugin) -> None:
    """Help at any place, the version, completion, commands that there are not: in the default home."""
    home = {"HOME": str(plugin.base)}
    verbs = sorted(VERBS)
    fine = [
        ["--help"],
        ["-h"],
        ["--version"],
        *([verb, "--help"] for verb in verbs),
        ["list", "-k", "3", "--help"],
    ]
    groups = [["daemon"], ["daemon", "--json", "status"], ["daemon", "stpo"], ["daemon", "st.p"], ["jobs", "rnu"],
              ["config", "--json"]]  # fmt: skip
    wrong = [*groups, ["lst"], ["--lst"], ["list "], ["li.t"], [""], ["recall\nlist"], ["-"], ["--"], [".*"],
             *([verb[:-1]] for verb in verbs if verb[:-1] not in VERBS), *([f"{verb}x"] for verb in verbs)]  # fmt: skip
    for words in fine:
        done = plugin.run("bin/vector-memory", SHELLS[0], *words, **home)
        assert (done.returncode, done.stderr) == (0, ""), words
        shown = [verb for verb in verbs if f"  {verb}\n" in done.stdout]
        assert shown == (verbs if words != ["--version"] else []), words
    assert version() in plugin.run("bin/vector-memory", SHELLS[0], "--version", **home).stdout
    for words in wrong:
        done = plugin.run("bin/vector-memory", SHELLS[0], *words, **home)
        assert (done.returncode, done.stdout) == (2, ""), words
    done = plugin.run(
        "bin/vector-memory", SHELLS[0], _VECTOR_MEMORY_COMPLETE="bash_complete", **home
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert not plugin.set_up.exists()
    for words in (["remember", "--", "--help"], ["jobs", "--json"], ["daemon", "start"], ["debug"]):
        plugin.run("bin/vector-memory", SHELLS[0], *words, **home)
        assert plugin.set_up.exists(), words
        plugin.set_up.unlink()


@pytest.mark.parametrize("module", ["cli/main.py", "system/bytecode.py"])
def test_an_interruption_while_it_is_imported_is_told_in_a_word(
    plugin: Plugin, module: str
) -> None:
    """Whichever module ^C finds: no traceback, and the exit code of every other interruption."""
    home = plugin.make(plugin.base / "data")
    python = home / "runtime" / "venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(sys.executable)
    code = home / "app" / "1" / "lib" / "vector_memory"
    for folder in (code, code / "cli", code / "system"):
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
    (code / module).write_text("raise KeyboardInterrupt\n")
    done = plugin.run("bin/vector-memory", SHELLS[0], "list", VECTOR_MEMORY_HOME=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_what_was_uninstalled_stays_so(plugin: Plugin) -> None:
    """The hooks and the server of an open session, and an agent's commands, set nothing up again. A plugin that was
    installed since does, and the user does."""
    home = plugin.base / "data"
    (home / "app").mkdir(parents=True)
    shim = home / "app" / "hook"
    shim.write_text("")
    plugins = plugin.base / "claude" / "plugins" / "installed_plugins.json"
    plugins.parent.mkdir(parents=True)
    environ = {
        "VECTOR_MEMORY_HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(plugin.base / "claude"),
    }
    asked = {"hooks/run": {}, "bin/vector-memory-mcp": {}, "bin/vector-memory": {"CLAUDECODE": "1"}}
    for shell in SHELLS:
        for names, age in (("", 5), ("vector-memory@m", -5), ("other@m", 5)):
            plugins.write_text(json.dumps({"plugins": {names: []}}))
            os.utime(plugins, (shim.stat().st_mtime + age,) * 2)
            for launcher, more in asked.items():
                done = plugin.run(launcher, shell, **environ, **more)
                assert "was uninstalled" in done.stdout + done.stderr
                assert "additionalContext" not in done.stdout
        assert os.listdir(home) == ["app"]
        plugins.write_text(json.dumps({"plugins": {"vector-memory@m": []}}))
        os.utime(plugins, (shim.stat().st_mtime + 5,) * 2)
        assert "is being set up" in plugin.run("hooks/run", shell, **environ).stdout
        shutil.rmtree(home / "logs")
        shutil.rmtree(home / "run")
        plugins.unlink()
        plugin.run("bin/vector-memory", shell, **environ)
        assert plugin.set_up.read_text().splitlines()[-1] == str(home)


def test_what_was_uninstalled_stays_so_beside_other_plugins(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the client goes on naming the plugin, since it did not take it out or another project has it, a change to
    another plugin is no set-up of this one; that it was installed anew is."""
    home = Home(str(plugin.base / "data")).make()
    plugins = plugin.base / "claude" / "plugins" / "installed_plugins.json"
    plugins.parent.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(plugin.base / "claude"))
    environ = {"VECTOR_MEMORY_HOME": home.root, "CLAUDE_CONFIG_DIR": str(plugin.base / "claude")}

    def listed(at: str, indent: int | None, *others: str) -> None:
        ours = [{"scope": "project", "projectPath": "/é p", "installedAt": at}]
        names = {**dict.fromkeys(others, [{"scope": "user"}]), "vector-memory@m": ours, "z@m": []}
        text = json.dumps({"version": 2, "plugins": names}, indent=indent, ensure_ascii=False)
        plugins.write_text(text, encoding="utf-8")

    listed("2026-05-03T10:00:00Z", 2)
    data_removal.remove(home, memories=False)
    later = os.stat(home.shim).st_mtime + 5
    for shell in SHELLS:
        for indent in (2, None):
            listed("2026-05-03T10:00:00Z", indent, "lint@m", "other@n")
            os.utime(plugins, (later, later))
            assert "was uninstalled" in plugin.run("hooks/run", shell, **environ).stdout
        listed("2026-05-04T10:00:00Z", 2)
        os.utime(plugins, (later, later))
        assert "is being set up" in plugin.run("hooks/run", shell, **environ).stdout
    assert subprocess.run(["sh", home.shim, "stop"], check=False).returncode == 0


def test_without_a_runtime_it_is_said_what_stays(tmp_path: Path) -> None:
    """What the settings go on naming, and what only the program finds."""
    claude, home = tmp_path / "claude", tmp_path / "data"
    claude.mkdir()
    ours = {"type": "command", "command": "sh", "args": [str(home / "app" / "hook"), "stop"]}
    settings = {
        "enabledPlugins": {"vector-memory@mine": True, "other@mine": True},
        "hooks": {"Stop": [{"hooks": [ours]}]},
    }
    (claude / "settings.json").write_text(json.dumps(settings))
    (claude / "settings.local.json").write_text("{")
    done = subprocess.run(
        [str(ROOT / "bin" / "vector-memory"), "uninstall", "--yes"],
        env={"PATH": os.environ["PATH"], "VECTOR_MEMORY_HOME": str(home), "CLAUDE_CONFIG_DIR": str(claude)},
        stdin=subprocess.DEVNULL, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip
    assert done.returncode == 0
    assert "claude plugin uninstall vector-memory@mine\n" in done.stderr
    assert f"Our hooks stay in {claude / 'settings.json'}: " in done.stderr
    assert f"{claude / 'settings.local.json'} is no JSON" in done.stderr
    assert "other@mine" not in done.stderr
    assert "own stores, are not looked for" in done.stdout
    assert json.loads((claude / "settings.json").read_text()) == settings


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["daemon", "status"], "stopped"),
        (["daemon", "stop"], "No daemon was running."),
        (["daemon", "stop", "--json"], '"was_running": false'),
        (["uninstall", "--dry-run"], "Nothing is set up"),
        (["uninstall", "--yes", "--memories"], "Removed, with all memories"),
        (["uninstall", "--yes", "--memories", "--json"], '"memories_deleted": true'),
    ],
)
def test_what_needs_no_runtime_sets_none_up(tmp_path: Path, words: list[str], said: str) -> None:
    """It says that nothing is set up, and does what can be done."""
    home = tmp_path / "data"
    (home / "global").mkdir(parents=True)
    (home / "mine.txt").write_text("")
    done = subprocess.run(
        [str(ROOT / "bin" / "vector-memory"), *words],
        env={
            "PATH": os.environ["PATH"],
            "VECTOR_MEMORY_HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        },
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    left = ["mine.txt"] if "--memories" in words else ["global", "mine.txt"]
    assert sorted(os.listdir(home)) == left


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("uninstall --memories", 1, "no terminal to ask on"),
        ("uninstall --json", 2, "say --yes or --dry-run"),
        ("uninstall --yse", 2, "--yse"),
    ],
)
def test_without_a_runtime_nothing_goes_unasked(
    tmp_path: Path, words: str, code: int, said: str
) -> None:
    """As with one."""
    (tmp_path / "global").mkdir()
    for more, ends, says in (({}, code, said), ({"CLAUDECODE": "1"}, 1, "comes from an agent")):
        done = subprocess.run(
            [str(ROOT / "bin" / "vector-memory"), *words.split()],
            env={"PATH": os.environ["PATH"], "VECTOR_MEMORY_HOME": str(tmp_path), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        assert done.returncode == (ends if "yse" not in words else 2)
        assert says in done.stderr or "yse" in words
        assert (tmp_path / "global").exists()


def _all_that_was_shown(controller: int) -> str:
    """Read what a terminal shows until its other end is closed: it comes in pieces."""
    shown = b""
    with open(controller, "rb", buffering=0) as screen, contextlib.suppress(OSError):
        while piece := screen.read(10_000):
            shown += piece
    return shown.decode()


@pytest.mark.parametrize(
    ("answer", "made"),
    [("y", True), ("Y", True), ("yes", True), ("n", False), ("", False), ("no", False), ("yikes", False)],
)  # fmt: skip
def test_on_a_terminal_it_asks_first(plugin: Plugin, answer: str, made: bool) -> None:
    """Anything but a yes is a no."""
    home = plugin.base / "new"
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        ["sh", str(plugin.root / "bin" / "vector-memory"), "list"],
        env={"PATH": os.environ["PATH"], "VECTOR_MEMORY_HOME": str(home)},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
    ) as process:
        os.write(controller, answer.encode() + b"\n")
        code = process.wait(20)
    os.close(terminal)
    asked = _all_that_was_shown(controller)
    assert f"{home} is not there. Set Vector Memory up there (700 MB)? [y/N]" in asked
    assert plugin.set_up.exists() is made
    assert made or code == 1
