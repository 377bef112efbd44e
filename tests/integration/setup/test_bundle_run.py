"""hooks/run and the shim: from any shell, with any environment, they find the interpreter or stay
silent."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from e2e.harness.bundle import ROOT

from vector_memory.generate.client import OWN_SESSION
from vector_memory.setup import app, data_removal
from vector_memory.setup.site import SetupSite
from vector_memory.system.paths import Home, data_home

SHELLS = [
    pytest.param(command, id=" ".join(command))
    for command in (["sh"], ["dash"], ["bash", "--posix"], ["bash"])
    if shutil.which(command[0])
]
SPY = """#!/bin/sh
for argument; do printf '%s\\n' "$argument"; done
"""


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    """A shell, by its absolute path, so that PATH can be anything."""
    program, *options = request.param
    return [str(shutil.which(program)), *options]


def run_hook(shell: list[str], stem: str, environ: dict[str, str], cwd: Path | None = None) -> str:
    """Run a hook, check that it keeps the rules, and return its stdout."""
    done = subprocess.run(
        [*shell, str(ROOT / "hooks" / "run"), stem],
        input=b"{}",
        capture_output=True,
        env=environ,
        cwd=cwd,
        check=False,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def with_interpreter(home: Path, text: str = SPY) -> Path:
    """Give a data home an interpreter that prints its arguments."""
    python = home / "runtime" / "hook-python"
    python.parent.mkdir(parents=True)
    python.write_text(text, encoding="utf-8")
    python.chmod(0o700)
    return home


def test_a_session_of_our_own_is_left_alone(shell: list[str], tmp_path: Path) -> None:
    """A client that this memory asks something gets no memories and leaves none."""
    environ = {"VECTOR_MEMORY_HOME": str(with_interpreter(tmp_path / "data"))}
    assert run_hook(shell, "user_prompt_submit", environ)
    assert run_hook(shell, "user_prompt_submit", {**environ, OWN_SESSION: "1"}) == ""


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"VECTOR_MEMORY_HOME": "{tmp}/my data"}, "my data"),
        ({"VECTOR_MEMORY_HOME": "~/my data", "HOME": "{tmp}"}, "my data"),
        ({"XDG_DATA_HOME": "{tmp}/x"}, "x/vector-memory"),
        ({"XDG_DATA_HOME": "{tmp}/x/"}, "x/vector-memory"),
        ({"HOME": "{tmp}"}, ".local/share/vector-memory"),
        ({"HOME": "{tmp}", "XDG_DATA_HOME": ""}, ".local/share/vector-memory"),
        ({"HOME": "{tmp}", "VECTOR_MEMORY_HOME": ""}, ".local/share/vector-memory"),
    ],
)
def test_it_finds_the_data_home_as_python_does(
    shell: list[str],
    environ: dict[str, str],
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever names the data home, the hook gets the same one that `paths` finds; PATH is not
    needed."""
    home = with_interpreter(tmp_path / folder)
    filled = {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    arguments = run_hook(shell, "stop", filled, cwd=tmp_path).splitlines()
    assert arguments == [
        *("-I", "-S", "-X", f"pycache_prefix={home}/run/pycache"),
        *(str(ROOT / "hooks" / "stop.py"), str(home)),
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", filled.get("HOME", ""))
    assert os.path.normpath(arguments[-1]) == os.path.normpath(data_home(filled))


@pytest.mark.parametrize("name", ["VECTOR_MEMORY_HOME", "XDG_DATA_HOME"])
def test_a_data_home_of_the_folder_is_none(shell: list[str], name: str, tmp_path: Path) -> None:
    """A relative one would be wherever a session runs: a repository could bring the interpreter."""
    for folder in ("data", "data/vector-memory"):
        with_interpreter(tmp_path / folder)
    assert run_hook(shell, "stop", {name: "data"}, cwd=tmp_path) == ""


@pytest.mark.parametrize("stem", ["", "no_such_event", "../hooks/stop", "Stop", "a b"])
def test_an_unknown_event_is_silence(shell: list[str], stem: str, tmp_path: Path) -> None:
    """A name that is no event's starts nothing."""
    home = with_interpreter(tmp_path / "data")
    assert run_hook(shell, stem, {"VECTOR_MEMORY_HOME": str(home)}) == ""


def test_without_any_home_it_is_silent(shell: list[str]) -> None:
    """An empty environment names no data home."""
    assert run_hook(shell, "session_start", {}) == ""


def test_an_interpreter_that_cannot_start_is_silence(shell: list[str], tmp_path: Path) -> None:
    """A file for another machine is executable, and yet nothing reaches stderr."""
    home = with_interpreter(tmp_path / "data", "\x7fELF not for this machine\n")
    assert run_hook(shell, "stop", {"VECTOR_MEMORY_HOME": str(home)}) == ""


@pytest.mark.parametrize("stem", ["stop", "user_prompt_submit", "session_end"])
def test_without_a_runtime_only_a_start_says_something(
    shell: list[str], stem: str, tmp_path: Path
) -> None:
    """The other events are silent and make nothing."""
    home = tmp_path / "data"
    assert run_hook(shell, stem, {"VECTOR_MEMORY_HOME": str(home), "PATH": os.defpath}) == ""
    assert not home.exists()


def test_a_data_home_that_cannot_be_made_is_told(shell: list[str], tmp_path: Path) -> None:
    """A session's start in a place where nothing can be written promises no set-up, and says what to do."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    environ = {"VECTOR_MEMORY_HOME": str(tmp_path / "file" / "data"), "PATH": os.defpath}
    said = json.loads(run_hook(shell, "session_start", environ))["systemMessage"]
    assert "cannot be set up" in said and "VECTOR_MEMORY_HOME" in said


@pytest.fixture
def site(tmp_path: Path) -> SetupSite:
    """An installation of this checkout's code, without a runtime."""
    return SetupSite(str(ROOT), Home(str(tmp_path / "data home")).make())


def run_shim(site: SetupSite, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the shim as a hook wired in settings is run."""
    return subprocess.run(
        ["sh", site.home.path("app", "hook"), "stop"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": os.defpath, **environ},
        check=False,
        timeout=20,
    )


def test_the_shim_runs_the_installed_hook_of_its_own_home(site: SetupSite) -> None:
    """A hook in settings needs no environment: the shim's place tells the data home."""
    app.install(site)
    with_interpreter_at(site)
    arguments = run_shim(site, {"VECTOR_MEMORY_HOME": "/nonexistent"}).stdout.splitlines()
    assert arguments[-2:] == [
        site.home.path("app", "current", "hooks", "stop.py"),
        site.home.root,
    ]


def with_interpreter_at(site: SetupSite) -> None:
    """Give an installation an interpreter that prints its arguments."""
    python = Path(site.home.hook_python)
    python.write_text(SPY, encoding="utf-8")
    python.chmod(0o700)


def test_the_shim_outlives_everything_else(site: SetupSite) -> None:
    """With the installed code gone, the shim exits with 0 and says nothing."""
    app.install(site)
    for name in os.listdir(site.home.app):
        path = Path(site.home.path("app", name))
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    done = run_shim(site, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def wired(settings: str) -> list[list[str]]:
    """Return the commands of settings or of a plugin's hooks, word by word."""
    groups = itertools.chain(*json.loads(settings)["hooks"].values())
    return [[hook["command"], *hook["args"]] for group in groups for hook in group["hooks"]]


def run_wired(shell: list[str], words: list[str]) -> str:
    """Run a hook as the client does, by a shell in the place of its `sh`; return its stdout."""
    done = subprocess.run(
        [*shell, *words[1:]],
        input=b"{}",
        capture_output=True,
        env={"PATH": os.defpath},
        check=False,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_hook_whose_program_is_gone_blocks_nothing(shell: list[str], site: SetupSite) -> None:
    """Not the plugin's, swept under an open session, nor one of settings, after its data home was moved: a shell
    ends with 2 where a script is not there, which blocks the prompt."""
    app.install(site)
    swept = f"{site.home.root}/no 'such\" $plugin"
    plugins = wired((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    gone = [[word.replace("${CLAUDE_PLUGIN_ROOT}", swept) for word in words] for words in plugins]
    gone += wired(Path(site.home.snippet).read_text(encoding="utf-8"))
    os.unlink(site.home.shim)
    assert [run_wired(shell, words) for words in gone] == [""] * len(gone)


def test_the_installed_snippet_runs_the_shim(shell: list[str], site: SetupSite) -> None:
    """Every hook of the data home's snippet is the shim, by its absolute path."""
    app.install(site)
    with_interpreter_at(site)
    hooks = wired(Path(site.home.snippet).read_text(encoding="utf-8"))
    assert {words[-2] for words in hooks} == {site.home.shim}
    for words in hooks:
        ran = site.home.path("app", "current", "hooks", f"{words[-1]}.py")
        assert run_wired(shell, words).splitlines()[-2:] == [ran, site.home.root]


def test_the_shim_of_an_uninstalled_home_is_silent(site: SetupSite) -> None:
    """It is all that is left, and the hooks of settings go on naming it."""
    app.install(site)
    data_removal.remove(site.home, memories=True)
    assert [path.name for path in Path(site.home.root).rglob("*")] == ["app", "hook"]
    done = run_shim(site, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_python_that_is_too_old_is_told(tmp_path: Path) -> None:
    """Who names one for the set-up is not left to believe that it is used."""
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o700)
    done = subprocess.run(
        ["sh", str(ROOT / "bootstrap.sh"), "--help"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "VECTOR_MEMORY_PYTHON": str(old)},
        check=False,
        timeout=20,
    )
    assert done.returncode == 0
    assert f"VECTOR_MEMORY_PYTHON={old} is no Python 3.10 to 3.14" in done.stderr


def test_a_new_version_is_switched_to_and_the_last_one_kept(
    site: SetupSite, tmp_path: Path
) -> None:
    """Of three versions the newest is current, the one before is kept, the first is swept."""
    roots = [tmp_path / f"checkout {number}" for number in range(3)]
    names = []
    for number, root in enumerate(roots):
        for part in app.PARTS:
            source = ROOT / part
            target = root / part
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        (root / "lib" / "note.py").write_text(f"NUMBER = {number}\n", encoding="utf-8")
        names.append(app.install(SetupSite(str(root), site.home)))
    assert app.current(site) == names[2]
    folders = {name for name in os.listdir(site.home.app) if name not in ("current", "hook")}
    assert folders == {names[1], names[2]}


def test_installing_again_changes_nothing(site: SetupSite) -> None:
    """The same code is not copied twice, and bytecode does not make it other code."""
    app.install(site)
    name = app.current(site)
    cache = Path(site.home.app_current, "lib", "__pycache__")
    cache.mkdir()
    (cache / "x.pyc").write_bytes(b"x")
    app.install(SetupSite(os.path.realpath(site.home.app_current), site.home))
    assert app.current(site) == name


def test_what_is_installed_is_the_users_alone(site: SetupSite) -> None:
    """Others cannot enter any folder of the data home, nor read what stands in it."""
    app.install(site)
    folders = [site.home.root, *(entry.path for entry in os.scandir(site.home.app))]
    for path in folders:
        if not os.path.islink(path):
            assert not stat.S_IMODE(os.lstat(path).st_mode) & 0o077, path
