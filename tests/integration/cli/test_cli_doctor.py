"""`doctor`: each hop made to fail, and what is said then."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fake_daemon import fake_daemon
from fakes_ollama import running

from vector_memory.cli import checks
from vector_memory.cli.checks import (
    client,
    daemon,
    disk,
    generation,
    hooks,
    model,
    runtime,
    trouble,
)
from vector_memory.cli.main import main
from vector_memory.errors import DaemonUnavailableError
from vector_memory.setup import locking, snippet
from vector_memory.setup.app import digest
from vector_memory.system.paths import Home, version

REPOSITORY = str(Path(__file__).parents[3])
Finding = checks.CheckResult


@pytest.fixture
def case(tmp_path: Path) -> checks.Case:
    return checks.Case(Home(str(tmp_path / "data")).make(), start=False)


def states(findings: list[Finding]) -> list[str]:
    return [one.state for one in findings]


def test_every_family_reports_without_a_daemon_and_without_a_runtime(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty machine gets a finding for each hop, fixes for the failed ones, and exit 1."""
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["doctor", "--no-start", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert {one["hop"] for one in report["checks"]} == set(checks.FAMILIES)
    assert all(one["fix"] for one in report["checks"] if one["state"] != "ok")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "It does not start" in out
    assert "bootstrap.sh" in out


def test_a_check_that_breaks_hides_no_other(
    case: checks.Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes a failed finding of its own."""

    def broken(case: checks.Case) -> Any:
        raise RuntimeError("oh")

    monkeypatch.setattr(hooks, "check", broken)
    found = {one.hop: one for one in checks.examine(start=False)}
    assert found["hooks"].state == "fail"
    assert "RuntimeError: oh" in found["hooks"].message
    assert "disk" in found


def test_a_model_that_the_backend_does_not_read_is_told(
    case: checks.Case, capsys: pytest.CaptureFixture[str]
) -> None:
    """When it is set, and by doctor."""
    assert main(["config", "set", "embedding_model", "bge-m3"]) == 0
    assert "(bge-m3) is not read" in capsys.readouterr().err
    found = [one for one in checks.examine(start=False) if "is not read" in one.message]
    assert [(one.hop, one.state) for one in found] == [("model", "warn")]
    assert main(["config", "set", "embedding_backend", "ollama"]) == 0
    assert "is not read" not in capsys.readouterr().err


class TestDaemonAndStores:
    """What a running daemon tells of itself and its stores."""

    def run(self, case: checks.Case, answers: dict[str, Any]) -> dict[str, list[Finding]]:
        with fake_daemon(case.home) as daemon:
            for verb, answer in answers.items():
                daemon.handlers[verb] = lambda payload, answer=answer: answer
            found: dict[str, list[Finding]] = {}
            for one in checks.examine(start=False):
                found.setdefault(one.hop, []).append(one)
        return found

    def test_all_is_well(self, case: checks.Case) -> None:
        """Stores that agree and a ready model are ok."""
        stats = {"memories": 3, "embedding": {"model": "m", "state": "ready"}, "stores": []}
        answers = {"check": {"ok": True, "problems": []}, "stats": stats, "doctor": {}}
        found = self.run(case, answers)
        assert states(found["daemon"] + found["stores"] + found["trouble"]) == ["ok"] * 5

    def test_in_a_new_home_nothing_waits_for_the_index(self, case: checks.Case) -> None:
        """Though its store is just being opened."""
        stats = {"embedding": {"state": "loading"}, "stores": [{"pending_vectors": 1}]}
        answers = {"check": {"ok": True, "problems": []}, "stats": {"memories": 0, **stats}}
        assert states(self.run(case, answers)["stores"]) == ["ok", "ok"]

    def test_a_daemon_that_does_not_start_says_what_to_do(
        self, case: checks.Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its own hint comes first, then where its output is."""

        class Dead:
            def running(self) -> None: ...

            def start(self) -> NoReturn:
                raise DaemonUnavailableError("It can only be read.", "Make it writable.")

        monkeypatch.setattr(checks.Case, "daemon", lambda _: Dead())
        case.start = True
        (found,) = daemon.check(case)
        assert found.fix.startswith("Make it writable. See ") and found.fix.endswith("daemon.out.")

    def test_an_old_fat_daemon_is_told(self, case: checks.Case) -> None:
        """Version and memory are warnings that say how to stop it."""
        status = {"pid": 1, "rss_mb": 9000, "state": "ready", "version": "0.0.0"}
        found = self.run(case, {"status": status})
        assert states(found["daemon"]) == ["ok", "warn", "warn"]
        assert all("daemon stop" in one.fix for one in found["daemon"][1:])

    def test_a_daemon_with_wrong_settings_of_its_own_is_told(self, case: checks.Case) -> None:
        """They come from the environment of the session that started it; a mistake in the file is told once."""
        why = "capture: no boolean. VECTOR_MEMORY_CAPTURE in the environment says so."
        answers = {"doctor": {"settings_error": why}}
        found = self.run(case, answers)
        assert states(found["daemon"]) == ["ok", "fail"]
        assert why in found["daemon"][1].message and "daemon stop" in found["daemon"][1].fix
        Path(case.home.config).write_text('{"capture": "perhaps"}')
        found = self.run(case, answers)
        assert (states(found["daemon"]), states(found["settings"])) == (["ok"], ["fail"])

    def test_problems_of_stores_fail_with_their_fix(self, case: checks.Case) -> None:
        """Pending vectors only warn; a failed model fails."""
        problem = {"store": "/g", "what": "a page is torn", "fix": "vector-memory rebuild"}
        stats = {
            "memories": 3,
            "embedding": {"model": "m", "state": "failed"},
            "stores": [
                {"pending_vectors": 2},
                {"pending_vectors": 1},
                {"folder": "/p", "failed": "torn"},
            ],
        }
        answers = {"check": {"ok": False, "problems": [problem]}, "stats": stats}
        found = self.run(case, answers)["stores"]
        assert states(found) == ["fail", "fail", "fail", "warn"]
        assert found[0].fix == "vector-memory rebuild"
        assert "/p: torn" in found[1].message
        assert "3 memories are not in the index" in found[3].message

    def test_a_daemon_that_cannot_check_is_a_failure(self, case: checks.Case) -> None:
        """Its own error is what is shown."""
        found = self.run(case, {})
        assert states(found["stores"]) == ["fail"]
        assert "no verb check" in found["stores"][0].message

    def test_last_errors_and_counters_are_shown(self, case: checks.Case) -> None:
        """Counters that are zero are left out."""
        answer = {
            "errors": [
                {"at": 1_795_797_891.4, "where": "chores", "error": "OSError: late", "times": 2},
                {"at": 1_795_797_892.0, "where": "stop", "error": "ValueError: plain"},
            ],
            "counters": {"hooks_late": 2, "hooks_failed": 0, "redactions": 7, "of_tomorrow": 1},
        }
        found = self.run(case, {"doctor": answer})["trouble"]
        words = " | ".join(one.message for one in found)
        day = datetime.fromtimestamp(1_795_797_891).strftime("%Y-%m-%d %H:%M")
        assert f"Last error, {day}: OSError: late (chores, 2 times)" in words
        assert "ValueError: plain (stop)" in words
        assert "2 hooks ended at their deadline" in words
        assert "7 secrets were taken out" in words
        assert "1 of_tomorrow" in words
        assert "hooks failed" not in words


class TestRuntime:
    """The interpreter of the hooks and the installed code."""

    def interpreter(self, case: checks.Case, script: str) -> Finding:
        path = Path(case.home.hook_python)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return runtime._hook_interpreter(case.home)

    def test_the_interpreter_runs(self, case: checks.Case) -> None:
        """Its start is timed; whether that is ok or slow depends on the machine."""
        found = self.interpreter(case, f'exec {sys.executable} "$@"')
        assert found.state in {"ok", "warn"}
        assert " ms" in found.message

    def test_a_broken_or_missing_interpreter_fails(self, case: checks.Case) -> None:
        """With the set-up as the fix."""
        assert "ended with 3" in self.interpreter(case, "exit 3").message
        os.unlink(case.home.hook_python)
        found = runtime._hook_interpreter(case.home)
        assert (found.state, found.fix) == ("fail", runtime.SET_UP)

    def test_the_installed_version_should_be_this_one(self, case: checks.Case) -> None:
        """None and another one are warnings."""
        assert runtime._installed(case.home).state == "warn"
        file = Path(case.home.app, "current", "lib", "vector_memory", "VERSION")
        file.parent.mkdir(parents=True)
        file.write_text("0.0.1\n")
        assert "0.0.1" in runtime._installed(case.home).message
        file.write_text(version())
        assert runtime._installed(case.home).state == "ok"

    def test_code_that_moved_on_under_the_same_version_is_told(
        self, case: checks.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The plugin or clone that this was started from; the fix installs it."""
        root = tmp_path / "a clone"
        file = root / "lib" / "vector_memory" / "VERSION"
        file.parent.mkdir(parents=True)
        file.write_text(version())
        installed = Path(case.home.app, f"{version()}-{digest(str(root))}")
        shutil.copytree(root, installed)
        os.symlink(installed.name, case.home.app_current)
        monkeypatch.setitem(sys._xoptions, runtime.ROOT_OPTION, str(root))
        assert runtime._installed(case.home).state == "ok"
        (root / "lib" / "new.py").write_text("")
        found = runtime._installed(case.home)
        assert (found.state, str(root) in found.message) == ("warn", True)
        assert found.fix == f"Install it: '{root}/bootstrap.sh'"

    def test_missing_packages_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each by its name."""
        monkeypatch.setattr(runtime, "PACKAGES", ("json", "no_such_package_here"))
        found = runtime._packages()
        assert found.state == "fail"
        assert "no_such_package_here" in found.message
        assert "json" not in found.message


class TestModel:
    """The files of the default model."""

    def test_a_changed_file_fails(self, case: checks.Case) -> None:
        """Only the published bytes are ok; the graph has to be there."""
        folder = Path(case.home.models, model.FOLDER)
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"other")
        weights, tokenizer, graph = model.check(case)
        assert (weights.state, "not the published" in weights.message) == ("fail", True)
        assert "No such file" in tokenizer.message
        assert graph.state == "fail"

    def test_published_files_are_ok(
        self, case: checks.Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each file's hash is what decides."""
        digest = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
        monkeypatch.setattr(model, "PUBLISHED", {"model.safetensors": digest})
        folder = Path(case.home.models, model.FOLDER)
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"hello world")
        (folder / model.GRAPH_FILE).write_bytes(b"")
        assert states(list(model.check(case))) == ["ok", "ok"]

    def test_another_backend_keeps_its_own_model(self, case: checks.Case) -> None:
        """Its files are not looked for; broken settings are told."""
        Path(case.home.config).write_text('{"embedding_backend": "ollama"}')
        assert states(list(model.check(case))) == ["ok"]
        Path(case.home.config).write_text('{"embedding_backend": 5}')
        (found,) = model.check(case)
        assert (found.hop, found.state) == ("settings", "fail")


class TestHooks:
    """How the client's settings wire the hooks."""

    @pytest.fixture
    def settings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        project = tmp_path / "project" / "deep"
        project.mkdir(parents=True)
        (tmp_path / "project" / ".git").mkdir()
        monkeypatch.chdir(project)
        places = {
            "user": Path(os.environ["CLAUDE_CONFIG_DIR"], "settings.json"),
            "project": tmp_path / "project" / ".claude" / "settings.local.json",
            "outside": tmp_path / ".claude" / "settings.json",
        }

        def write(place: str, value: object) -> None:
            places[place].parent.mkdir(parents=True, exist_ok=True)
            text = value if isinstance(value, str) else json.dumps(value)
            places[place].write_text(text)

        return write

    def shim(self, case: checks.Case) -> dict[str, Any]:
        Path(case.home.shim).parent.mkdir(parents=True, exist_ok=True)
        Path(case.home.shim).touch()
        wired: dict[str, Any] = json.loads(snippet.render(snippet.load(REPOSITORY), case.home.shim))
        return wired

    def test_nothing_wired_is_a_warning(
        self, case: checks.Case, settings: Callable[..., None]
    ) -> None:
        """A disabled plugin, other hooks and a folder outside the project do not count."""
        settings("user", {"enabledPlugins": {"vector-memory@m": False}, "hooks": {"Stop": []}})
        settings("outside", {"enabledPlugins": {"vector-memory@m": True}})
        (found,) = hooks.check(case)
        assert (found.state, found.fix) == ("warn", hooks.WIRE)

    def test_plugin_snippet_and_both_are_told_apart(
        self, case: checks.Case, settings: Callable[..., None]
    ) -> None:
        """All three are ok; for both it says that one is enough."""
        settings("user", {"enabledPlugins": {"vector-memory@m": True}})
        (plugin,) = hooks.check(case)
        assert "plugin is enabled" in plugin.message
        settings("project", self.shim(case))
        (both,) = hooks.check(case)
        assert "twice" in both.message
        settings("user", {})
        (snippet,) = hooks.check(case)
        assert snippet.message.endswith("settings.local.json")
        assert states([plugin, both, snippet]) == ["ok"] * 3

    def test_hooks_whose_file_is_gone_are_told(
        self, case: checks.Case, settings: Callable[..., None], tmp_path: Path
    ) -> None:
        """A clone that was moved, and the data home's shim; as arguments and as a line. What a variable leads to is
        not known."""
        wired = json.dumps(self.shim(case))
        clone = tmp_path / "my vector-memory" / "hooks" / "run"
        for path in (str(clone), case.home.shim):
            Path(case.home.shim).unlink(missing_ok=True)
            settings("user", wired.replace(case.home.shim, path))
            (found,) = hooks.check(case)
            assert (found.state, found.fix) == ("warn", hooks.REPLACE)
            assert f"runs {path}," in found.message
        line = {"type": "command", "command": f"sh '{clone}' stop"}
        settings("user", {"hooks": {"Stop": [{"hooks": [line]}]}})
        (found,) = hooks.check(case)
        assert f"runs {clone}," in found.message
        clone.parent.mkdir(parents=True)
        clone.touch()
        assert [one.fix for one in hooks.check(case)] == [hooks.ADD]
        settings("user", wired.replace(case.home.shim, "$HOME/vector-memory/hooks/run"))
        assert states(list(hooks.check(case))) == ["ok"]

    @pytest.mark.parametrize("start", ["/\0", "~\0", "/\ud800", "~\ud800", "/\n  ok", "/far" * 999])
    def test_a_name_that_no_file_can_have_is_gone(
        self, case: checks.Case, settings: Callable[..., None], start: str
    ) -> None:
        """A repository may have any in its settings; it is told in one short line."""
        line = {"type": "command", "command": f"sh '{start}/vector-memory/hooks/run' stop"}
        settings("project", {"hooks": {"Stop": [{"hooks": [line]}]}})
        (found,) = hooks.check(case)
        assert (found.state, found.fix) == ("warn", hooks.REPLACE)
        told = found.message.partition(" runs ")[2]
        assert told.isprintable()
        assert len(told) < 400

    def test_events_that_no_settings_wire_are_named(
        self, case: checks.Case, settings: Callable[..., None]
    ) -> None:
        """Files are taken together; a plugin has them all."""
        wired = self.shim(case)["hooks"]
        settings("user", {"hooks": {"Stop": wired["Stop"]}})
        (found,) = hooks.check(case)
        assert (found.state, found.fix) == ("warn", hooks.ADD)
        assert "SessionStart" in found.message
        assert " Stop" not in found.message
        settings("project", {"hooks": {name: wired[name] for name in wired if name != "Stop"}})
        assert states(list(hooks.check(case))) == ["ok"]
        settings("project", {"enabledPlugins": {"vector-memory@m": True}})
        assert states(list(hooks.check(case))) == ["ok"]

    def test_switched_off_hooks_and_broken_settings_fail(
        self, case: checks.Case, settings: Callable[..., None]
    ) -> None:
        """Both name the file."""
        settings("user", {"disableAllHooks": True, "enabledPlugins": {"vector-memory@m": True}})
        assert "settings.json switches" in next(iter(hooks.check(case))).message
        settings("user", "{broken")
        broken, _ = hooks.check(case)
        assert (broken.state, "no JSON" in broken.message) == ("fail", True)
        settings("user", "[]")
        assert states(list(hooks.check(case))) == ["warn"]


class TestClient:
    """The client on PATH."""

    @pytest.mark.parametrize(
        ("said", "state"),
        [
            (f"{client.OLDEST_TRIED} (Claude Code)", "ok"),
            ("2.10.0 (Claude Code)", "ok"),
            ("2.1.9 (Claude Code)", "warn"),
            ("what?", "warn"),
        ],
    )
    def test_its_version_is_judged_by_its_own_words(self, said: str, state: str) -> None:
        """Versions compare as numbers."""
        assert client.version_finding(said).state == state

    @pytest.mark.parametrize(("script", "state"), [("echo 99.0.0", "ok"), ("exit 1", "warn")])
    def test_it_is_asked(
        self,
        script: str,
        state: str,
        case: checks.Case,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """As a process, by its name on PATH."""
        program = tmp_path / "claude"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert states(list(client.check(case))) == [state]


class TestFoldersOfNotes:
    """The vault, and where notes are written."""

    def test_one_that_is_gone_is_told(self, case: checks.Case, tmp_path: Path) -> None:
        settings = {"vault": str(tmp_path), "reviews": str(tmp_path / "gone")}
        Path(case.home.config).write_text(json.dumps(settings))
        found = [one for one in checks._examined("jobs", case) if "folder" in one.message]
        assert [(one.state, one.message.partition(":")[0]) for one in found] == [
            ("warn", "reviews")
        ]
        assert "config set reviews" in found[0].fix


class TestGeneration:
    """The language model, if one is chosen."""

    def choose(self, case: checks.Case, **settings: object) -> None:
        Path(case.home.config).write_text(json.dumps(settings))

    def test_none_is_fine_unless_something_wants_one(self, case: checks.Case) -> None:
        """An option that is on and asks nobody is a warning with a fix."""
        assert states(list(generation.check(case))) == ["ok"]
        self.choose(case, extraction=True)
        (found,) = generation.check(case)
        assert (found.state, found.fix) == ("warn", generation.CHOOSE)
        assert "extraction" in found.message

    def test_one_that_is_not_there_is_a_warning(
        self, case: checks.Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server that does not answer, and a program that is missing: each with what to do."""
        self.choose(case, generation_backend="ollama", ollama_host="http://127.0.0.1:9")
        (found,) = generation.check(case)
        assert (found.state, "Start Ollama" in found.fix) == ("warn", True)
        monkeypatch.setenv("PATH", "/nonexistent")
        self.choose(case, generation_backend="client")
        (found,) = generation.check(case)
        assert (found.state, "no program" in found.message) == ("warn", True)

    def test_one_that_is_there_is_asked_nothing(self, case: checks.Case) -> None:
        """It has the model; that is enough."""
        with running() as server:
            server.models["llama3.2:latest"] = "aa"
            self.choose(case, generation_backend="ollama", ollama_host=server.address)
            (found,) = generation.check(case)
            assert (found.state, server.chats) == ("ok", [])
        assert found.message == "ollama/llama3.2:3b is there"

    def test_today_is_told(self, case: checks.Case) -> None:
        """The last failure and a used-up day are warnings."""
        self.choose(case, generation_backend="ollama", ollama_host="http://127.0.0.1:9")
        told = {"backend": "ollama", "calls": 9, "daily_calls": 9, "tokens": 1234, "refused": 1}
        with fake_daemon(case.home) as daemon:
            daemon.handlers["doctor"] = lambda payload: {"generation": {**told, "error": "late"}}
            case.status = {"pid": 1}
            _, failed, today = generation.check(case)
        assert (failed.state, "late" in failed.message) == ("warn", True)
        assert (today.state, "9 of 9 calls, 1,234 of" in today.message) == ("warn", True)


class TestDisk:
    """Space and permissions."""

    def test_a_private_data_home_is_ok(self, case: checks.Case) -> None:
        """As `make` leaves it; links to shared folders may be open."""
        shared = Path(case.home.root).parent / "shared"
        shared.mkdir(mode=0o755)
        os.rmdir(case.home.models)
        os.symlink(shared, case.home.models)
        assert disk._permissions(case).state == "ok"

    @pytest.mark.parametrize(
        "name", ["state.db", "logs", "runtime/venv/.lock", "global/lance/1.lance"]
    )
    def test_what_others_can_reach_fails(self, case: checks.Case, name: str) -> None:
        """Wherever it lies; the fix is the command that mends it."""
        path = Path(case.home.path(name))
        path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        path.is_dir() or path.write_text("")
        path.chmod(0o755)
        for folder in path.parents:
            if folder.is_relative_to(case.home.root):
                folder.chmod(0o700)
        found = disk._permissions(case)
        assert (found.state, found.fix) == ("fail", f"chmod -R go-rwx {case.home.root}")
        assert str(path) in found.message
        subprocess.run(found.fix, shell=True, check=True)
        assert disk._permissions(case).state == "ok"

    def test_how_many_others_can_reach_is_told(self, case: checks.Case) -> None:
        """One is named, and the rest are counted."""
        for name in ("one", "two", "three"):
            Path(case.home.path(name)).write_text("")
            Path(case.home.path(name)).chmod(0o644)
        message = disk._permissions(case).message
        assert message.startswith(f"Others can reach {case.home.root}/")
        assert message.endswith(" and 2 more.")

    @pytest.mark.parametrize(("free", "state"), [(10**10, "ok"), (10**9 - 1, "warn"), (10, "fail")])
    def test_space(self, free: int, state: str) -> None:
        """Little room warns, next to none fails."""
        assert disk._space(free).state == state

    def test_no_data_home_is_a_warning(self, tmp_path: Path) -> None:
        """Nothing is made by looking."""
        home = Home(str(tmp_path / "none"))
        assert states(list(disk.check(checks.Case(home, start=False)))) == ["warn"]
        assert not os.path.exists(home.root)


def test_a_full_spool_is_a_warning(case: checks.Case) -> None:
    """Half-written files do not count."""
    for number in range(trouble.MAX_SPOOLED + 1):
        Path(case.home.spool, f"{number}.json").write_text("{}")
    Path(case.home.spool, ".part").write_text("{}")
    (found,) = trouble.check(case)
    assert found.state == "warn"
    assert found.message.startswith(f"{trouble.MAX_SPOOLED + 1} events")


def test_a_set_up_that_runs_is_told_in_the_place_of_what_it_leaves_open(tmp_path: Path) -> None:
    """Its files are not ready yet; afterwards they are looked at."""
    home = Home(str(tmp_path / "set up")).make()
    os.makedirs(home.path("runtime"), mode=0o700, exist_ok=True)
    open_one = Path(home.path("runtime", ".lock"))
    open_one.touch()
    open_one.chmod(0o666)
    case = checks.Case(home, start=False)
    with locking.hold_lock(home.path("runtime", ".setup.lock")):
        told = [found.message for found in disk.check(case)]
        assert any("A set-up is running" in message for message in told)
        assert not any("Others can reach" in message for message in told)
    told = [found.message for found in disk.check(case)]
    assert any("Others can reach" in message for message in told)
