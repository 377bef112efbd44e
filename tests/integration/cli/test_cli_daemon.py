"""`daemon`, `config` and the ends of a CLI process."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import fake_daemon
from service_house import ServiceHouse, door

from vector_memory.cli import asking
from vector_memory.cli.main import main
from vector_memory.client.link import is_locked
from vector_memory.errors import BadInputError, DaemonUnavailableError, NotFoundError
from vector_memory.redact import for_project
from vector_memory.system.durable_files import hold_lock
from vector_memory.system.paths import COMMAND_LINE, Home

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "data"))


def command(*words: str) -> list[str]:
    """Return the command line that runs the CLI as a process of its own."""
    return [sys.executable, *COMMAND_LINE, *words]


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the one JSON document on stdout."""
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_status_of_a_stopped_daemon_starts_none(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """pid is null, the exit code 0, and not even the data home is made."""
    assert main(["daemon", "status", "--json"]) == 0
    assert printed(capsys) == {"pid": None, "rss_mb": None, "state": "stopped"}
    assert main(["daemon", "status"]) == 0
    assert capsys.readouterr().out == "stopped\n"
    assert main(["daemon", "stop", "--json"]) == 0
    assert printed(capsys)["was_running"] is False
    assert not os.path.exists(home.root)


def test_a_daemon_that_answers_nobody_is_not_called_stopped(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who holds the lock is there: it says so, and how to end it."""
    os.makedirs(home.run, mode=0o700)
    with open(home.lock, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["daemon", "status", "--json"]) == 0
        out, told = capsys.readouterr()
    assert json.loads(out)["state"] == "silent"
    assert "vector-memory daemon stop" in told


def test_a_running_daemon_is_shown_and_stopped(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """status has pid, memory and state; start finds it running; stop ends it."""
    with fake_daemon(home):
        assert main(["daemon", "status", "--json"]) == 0
        status = printed(capsys)
        assert (status["pid"], status["rss_mb"], status["state"]) == (os.getpid(), 42, "ready")
        assert main(["daemon", "start"]) == 0
        assert str(os.getpid()) in capsys.readouterr().out
        assert main(["daemon", "stop"]) == 0
        assert capsys.readouterr().out == "Stopped.\n"
    assert main(["daemon", "status", "--json"]) == 0
    assert printed(capsys)["pid"] is None


def test_without_a_runtime_a_verb_says_what_to_do(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """An expected error whose hint names the set-up."""
    assert main(["recall", "q", "--json"]) == 1
    assert "bootstrap.sh" in printed(capsys)["hint"]


def test_rules_of_privacy_are_shown(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its place, its meaning, an example and what is wrong with it; or what is left of a text."""
    house = ServiceHouse(tmp_path / "house")
    project = tmp_path / "project"
    project.mkdir()
    (project / "CLAUDE.md").write_text(
        "# Privacy\n- `JIRA-\\d+`\n- customer names\n- `(a|b|c)(.{0,30}){0,30}z0q$`\n- email\n"
    )

    def privacy(payload: dict[str, Any]) -> dict[str, Any]:
        with for_project((str(project),)):
            return door(house.ctx, "privacy", payload)

    with fake_daemon(home) as running:
        running.handlers["privacy"] = privacy
        assert main(["privacy", "--project", str(project)]) == 0
        shown = capsys.readouterr().out
        for words in (
            f"{project}/CLAUDE.md (project)", "2: `JIRA-\\d+`", "the category email",
            "NOT FOLLOWED: it takes too long; the project's other rules are", ":3: not understood: 'customer names'",
            "redact_personal",
        ):  # fmt: skip
            assert words in shown, words
        assert main(["privacy", "see JIRA-12 of a@example.org", "--project", str(project)]) == 0
        assert capsys.readouterr().out == "see [redacted:rule] of [redacted:email]\n"
        assert main(["privacy", "--project", str(project), "--json"]) == 0
        assert [one["line"] for one in printed(capsys)["rules"]] == [2, 4, 5]
    house.ctx.close()


class TestConfig:
    """`config` reads and writes config.json."""

    def test_a_setting_is_set_and_unset(
        self, home: Home, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The file is 0600 and holds numbers as numbers."""
        assert main(["config", "set", "prompt_tokens", "300", "--json"]) == 0
        assert printed(capsys) == {
            "name": "prompt_tokens",
            "value": 300,
            "source": "file",
            "reloaded": False,
        }
        assert json.loads(Path(home.config).read_text()) == {"prompt_tokens": 300}
        assert stat.S_IMODE(os.stat(home.config).st_mode) == 0o600
        assert main(["config", "get", "prompt_tokens"]) == 0
        assert capsys.readouterr().out == "300\n"
        assert main(["config", "unset", "prompt_tokens"]) == 0
        assert capsys.readouterr().out == "prompt_tokens = 480\n"
        assert json.loads(Path(home.config).read_text()) == {}

    def test_what_is_wrong_in_the_file_is_mended_one_by_one(
        self, home: Home, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A setting of a newer version, and two values out of range: the hint is what mends it."""
        wrong = {"from_tomorrow": 1, "observer": "loud", "prompt_tokens": "x", "threshold": 0.4}
        os.makedirs(home.root)
        Path(home.config).write_text(json.dumps(wrong))
        assert main(["config", "get", "threshold"]) == 1
        assert "config unset from_tomorrow" in capsys.readouterr().err
        for name in ("from_tomorrow", "observer"):
            assert main(["config", "unset", name]) == 0
            assert f"{name} is unset" in capsys.readouterr().out
        assert main(["config", "unset", "prompt_tokens"]) == 0
        assert capsys.readouterr().out == "prompt_tokens = 480\n"
        assert json.loads(Path(home.config).read_text()) == {"threshold": 0.4}
        assert main(["config", "unset", "from_tomorrow"]) == 1
        assert "There is no setting" in capsys.readouterr().err

    def test_what_is_set_at_once_is_all_kept(self, home: Home, tmp_path: Path) -> None:
        """Each command reads what another one wrote, whether it sets, adds or takes out."""
        folders = [str(tmp_path / f"secret{n}") for n in range(4)]
        for folder in folders:
            os.mkdir(folder)
        home.make()
        Path(home.config).write_text(json.dumps({"log_level": "debug", "redact_personal": []}))
        changes = [("add", "excluded_projects", folder) for folder in folders]
        changes += [("set", "threshold", "0.4"), ("unset", "log_level")]
        changes += [("add", "redact_personal", kind) for kind in ("email", "phone")]
        with hold_lock(home.config_lock):
            running = [
                subprocess.Popen(command("config", *words), stdout=subprocess.DEVNULL)
                for words in changes
            ]
        assert [process.wait(60) for process in running] == [0] * len(changes)
        stored = json.loads(Path(home.config).read_text())
        assert sorted(stored.pop("excluded_projects")) == folders
        assert sorted(stored.pop("redact_personal")) == ["email", "phone"]
        assert stored == {"threshold": 0.4}

    def test_a_lock_that_nobody_lets_go_is_told_of(self, home: Home) -> None:
        """Whoever has it may have been stopped: waiting has an end. Afterwards it can be had again."""
        lock = home.make().config_lock
        busy = pytest.raises(BadInputError, match="Another process")
        with hold_lock(lock), busy, hold_lock(lock, 0):
            pass
        with hold_lock(lock, 0):
            pass

    @pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "link"])
    def test_a_lock_that_is_no_file_is_told_of(
        self, home: Home, is_folder: bool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It is named, and nothing is changed."""
        lock = Path(home.make().config_lock)
        lock.mkdir() if is_folder else lock.symlink_to("/nowhere/at/all")
        assert main(["config", "set", "prompt_tokens", "300"]) == 1
        error = capsys.readouterr().err
        assert str(lock) in error and "Take it away" in error
        assert not os.path.exists(home.config)

    def test_a_file_elsewhere_is_followed(self, home: Home, tmp_path: Path) -> None:
        """Where config.json is a link, what it leads to is changed, and keeps its rights."""
        dotfile = tmp_path / "dotfiles" / "memory.json"
        dotfile.parent.mkdir()
        dotfile.write_text('{"threshold": 0.4}')
        dotfile.chmod(0o644)
        os.symlink(dotfile, home.make().config)
        assert main(["config", "set", "prompt_tokens", "300"]) == 0
        assert main(["config", "unset", "threshold"]) == 0
        assert os.readlink(home.config) == str(dotfile)
        assert json.loads(dotfile.read_text()) == {"prompt_tokens": 300}
        assert stat.S_IMODE(dotfile.stat().st_mode) == 0o644

    @pytest.mark.parametrize("form", ["json", "paths"])
    def test_a_list_is_json_or_paths(
        self, form: str, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Both ways of writing one give the same; what it held before is told."""
        folders = [str(tmp_path / name) for name in ("one", "two")]
        for folder in folders:
            os.mkdir(folder)
        value = json.dumps(folders) if form == "json" else ":".join(folders)
        assert main(["config", "set", "excluded_projects", value]) == 0
        assert json.loads(Path(home.config).read_text()) == {"excluded_projects": folders}
        capsys.readouterr()
        assert main(["config", "set", "excluded_projects", folders[0]]) == 0
        assert f"Before it was {':'.join(folders)}" in capsys.readouterr().err
        assert main(["config", "set", "redact_personal", '["email"]', "--json"]) == 0
        assert json.loads(Path(home.config).read_text())["redact_personal"] == ["email"]

    def test_members_are_added_and_removed(
        self,
        home: Home,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A second one does not drop the first, however a folder is written; what is not there is told."""
        (tmp_path / "here" / "one").mkdir(parents=True)
        (tmp_path / "home" / "two").mkdir()
        os.symlink(tmp_path / "here" / "one", tmp_path / "link")
        monkeypatch.chdir(tmp_path / "here")
        one, two = str(tmp_path / "here" / "one"), str(tmp_path / "home" / "two")

        def members() -> list[str]:
            return list(json.loads(Path(home.config).read_text())["excluded_projects"])

        assert main(["config", "add", "excluded_projects", "one"]) == 0
        assert f"one is {one}" in capsys.readouterr().err
        assert (
            main(["config", "add", "excluded_projects", "~/two", "./one/", str(tmp_path / "link")])
            == 0
        )
        assert members() == [one, two]
        assert main(["config", "remove", "excluded_projects", "../link"]) == 0
        assert members() == [two]
        assert main(["config", "remove", "excluded_projects", "one", "--json"]) == 1
        assert main(["config", "add", "excluded_projects", "nowhere", "--json"]) == 1
        assert main(["config", "set", "excluded_projects", "nowhere", "--json"]) == 1
        assert main(["config", "set", "vault", "nowhere", "--json"]) == 1
        assert main(["config", "add", "vault", one, "--json"]) == 1
        assert main(["config", "add", "no_such", one, "--json"]) == 1
        assert members() == [two]
        assert main(["config", "add", "redact_personal", "email"]) == 0
        assert json.loads(Path(home.config).read_text())["redact_personal"] == [
            "card",
            "ssn",
            "iban",
            "email",
        ]
        assert main(["config", "remove", "redact_personal", "ssn", "iban"]) == 0
        assert json.loads(Path(home.config).read_text())["redact_personal"] == ["card", "email"]
        assert main(["config", "add", "redact_personal", "shoe", "--json"]) == 1

    def test_what_a_hand_wrote_wrong_can_be_mended(
        self, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A relative folder in the file is refused, and can be removed by the same name."""
        Path(home.root).mkdir(exist_ok=True)
        Path(home.config).write_text('{"excluded_projects": ["relproj"]}')
        assert main(["config", "get", "excluded_projects", "--json"]) == 1
        assert "relproj" in printed(capsys)["error"]
        assert main(["config", "remove", "excluded_projects", "relproj"]) == 0
        assert json.loads(Path(home.config).read_text()) == {"excluded_projects": []}

    @pytest.mark.parametrize(
        "words",
        [
            ["set", "prompt_tokens", "many"],
            ["set", "prompt_tokens", "1"],
            ["set", "no_such", "1"],
            ["set", "excluded_projects", "[1"],
            ["get", "no_such"],
            ["unset", "no_such"],
        ],
    )
    def test_a_wrong_setting_changes_nothing(
        self, words: list[str], home: Home, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Exit 1 with a hint; no file is written."""
        assert main(["config", *words, "--json"]) == 1
        assert printed(capsys)["hint"]
        assert not os.path.exists(home.config)

    def test_the_list_explains_every_setting(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Value, source and meaning; the environment wins."""
        monkeypatch.setenv("VECTOR_MEMORY_CAPTURE", "false")
        assert main(["config", "list", "--json"]) == 0
        settings = {one["name"]: one for one in printed(capsys)["settings"]}
        assert settings["capture"]["value"] is False
        assert settings["capture"]["source"] == "environment"
        assert settings["threshold"]["source"] == "default"
        assert all(one["about"] for one in settings.values())
        assert main(["config", "list"]) == 0
        assert "Index what is said in sessions." in capsys.readouterr().out
        assert main(["config", "set", "capture", "true"]) == 0
        assert "wins" in capsys.readouterr().err

    def test_a_running_daemon_takes_a_change_over(
        self, home: Home, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It is asked to reload; a refusal is told, and the setting is written all the same."""
        with fake_daemon(home) as daemon:
            daemon.handlers["reload"] = lambda payload: {}
            assert main(["config", "set", "capture", "no", "--json"]) == 0
            assert printed(capsys)["reloaded"] is True
            del daemon.handlers["reload"]
            assert main(["config", "set", "capture", "yes"]) == 0
            assert "did not take it over" in capsys.readouterr().err
        assert json.loads(Path(home.config).read_text()) == {"capture": True}

    def test_the_path_is_told(self, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
        """Whether or not the file exists."""
        assert main(["config", "path"]) == 0
        assert capsys.readouterr().out == home.config + "\n"
        assert main(["config", "path", "--json"]) == 0
        assert printed(capsys) == {"path": home.config}


class TestBackend:
    """`backend` lists and installs."""

    def test_the_list_names_the_one_in_use(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The backends are those that the registry knows."""
        from vector_memory.embed.registry import BACKENDS

        assert main(["backend", "list", "--json"]) == 0
        listed = {one["name"]: one for one in printed(capsys)["backends"]}
        assert set(listed) == set(BACKENDS)
        assert [name for name, one in listed.items() if one["used"]] == ["minilm"]
        assert main(["backend", "list"]) == 0
        assert "minilm" in capsys.readouterr().out

    def test_an_unknown_one_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The error names those that there are."""
        assert main(["backend", "install", "magic", "--json"]) == 1
        assert "minilm" in printed(capsys)["hint"]


def test_an_interrupted_process_ends_with_130(home: Home) -> None:
    """^C while the daemon thinks: a word on stderr, no traceback."""
    asked, release = threading.Event(), threading.Event()

    def slow(payload: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        release.wait(30)
        return {}

    with fake_daemon(home) as daemon:
        daemon.handlers["stats"] = slow
        process = subprocess.Popen(
            command("stats"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        release.set()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_closed_pipe_is_no_traceback(home: Home) -> None:
    """`vector-memory export | head -1` ends quietly."""
    many = [{"id": f"{n}" * 40, "text": "x" * 1000} for n in range(2000)]
    with fake_daemon(home) as daemon:
        from vector_memory import wire

        def exported(payload: dict[str, Any]) -> Any:
            for item in many:
                yield wire.ITEM, item
            yield wire.ANSWER, {"exported": len(many)}

        daemon.handlers["export"] = exported
        process = subprocess.Popen(
            command("export"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline().startswith('{"id"')
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 1
    assert "Traceback" not in err
    assert "Exception" not in err


def redirected(leads: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the CLI as a process of its own whose streams a shell leads elsewhere."""
    run = ["sh", "-c", f'{leads}; exec "$@"', "sh", *command(*words)]
    return subprocess.run(run, stderr=subprocess.PIPE, text=True, cwd=folder, timeout=60)


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize(
    ("leads", "says"),
    [
        ("ulimit -f 0; exec >out", "It cannot be written: File too large.\nFree space"),
        ("exec >&-", "Standard output is closed.\nLet it lead to a file"),
    ],
)
def test_output_that_cannot_be_written_is_an_expected_error(
    home: Home, tmp_path: Path, leads: str, says: str, more: list[str]
) -> None:
    """A message and a hint, on stderr, since nothing can be said on stdout; no traceback."""
    with fake_daemon(home) as daemon:
        daemon.handlers["list"] = lambda payload: {"memories": [{"id": "a", "text": "b"}]}
        done = redirected(leads, tmp_path, "list", *more)
    assert done.returncode == 1
    assert done.stderr.startswith(says)
    assert len(done.stderr.splitlines()) == 2


def test_an_error_that_cannot_be_written_is_told_on_stderr(home: Home, tmp_path: Path) -> None:
    """As it was, and where nobody reads that either the exit code stays what it is."""

    def none(payload: dict[str, Any]) -> dict[str, Any]:
        raise NotFoundError("There is no memory m1.", "`list` shows them.")

    with fake_daemon(home) as daemon:
        daemon.handlers["get"] = none
        done = redirected("ulimit -f 0; exec >out", tmp_path, "show", "m1", "--json")
        assert (done.returncode, done.stderr.splitlines()[0]) == (1, "There is no memory m1.")
        for leads in ("exec 2>&-", "ulimit -f 0; exec 2>out"):
            assert redirected(leads, tmp_path, "show", "m1").returncode == 1


def test_a_session_that_nobody_knows_is_an_error(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it was named; of the one that this runs in no turn need have ended."""
    monkeypatch.setenv(asking.SESSION, "s1")
    with fake_daemon(home) as daemon:
        daemon.handlers["wrapup"] = lambda payload: {"session": payload["session"], "done": []}
        assert main(["wrapup", "--session", "nope"]) == 1
        assert "Nothing is known of session 'nope'" in capsys.readouterr().err
        assert main(["wrapup", "--session", "../nope", "--json"]) == 1
        for words in ([], ["--session", "s1"]):
            assert main(["wrapup", *words]) == 0
            assert "Nothing is known of s1 yet" in capsys.readouterr().out


def test_a_session_of_which_nothing_was_read_yet_is_none(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook has told of it, or the client keeps its transcript: programs are given empty lists."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "projects" / "-app"
    folder.mkdir(parents=True)
    (folder / "s3.jsonl").write_text("")
    with fake_daemon(home) as daemon:
        daemon.handlers["wrapup"] = lambda payload: {
            "session": payload["session"],
            "known": payload["session"] == "s2",
            "done": [],
        }
        for session, code in (("s2", 0), ("s3", 0), ("s4", 1)):
            assert main(["wrapup", "--session", session, "--json"]) == code, session
            told = json.loads(capsys.readouterr().out)
            assert told.get("done") == (None if code else []), session


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["remember", "-"], 2, "There is no text."),
        (["recall", "--batch", "-"], 0, ""),
        (["feed", "-", "--session", "x"], 0, ""),
        (["forget", "--query", "x"], 1, "there is no terminal to ask on"),
    ],
)
def test_a_closed_stdin_is_an_empty_one(
    home: Home, tmp_path: Path, words: list[str], code: int, says: str
) -> None:
    """For what reads a text or lines, or asks."""
    with fake_daemon(home) as daemon:
        daemon.handlers["forget"] = lambda payload: {"memories": [{"id": "a", "text": "b"}]}
        done = redirected("exec <&-", tmp_path, *words)
    assert done.returncode == code
    assert says in done.stderr and "should not have" not in done.stderr


def test_output_is_utf_8_whatever_the_locale(home: Home) -> None:
    """A C locale changes nothing for programs."""
    with fake_daemon(home) as daemon:
        daemon.handlers["get"] = lambda payload: {"memory": {"text": "é漢😀"}}
        environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run(
            command("show", "é", "--json"), capture_output=True, env=environ, timeout=60
        )
        assert json.loads(done.stdout.decode("utf-8"))["memory"]["text"] == "é漢😀"
        assert daemon.payloads("get")[0]["id"] == "é"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("embedding_backend", "foo", "Backends: minilm"),
        ("embedding_model", "/nonexistent", "no folder"),
        ("embedding_model", "./model", "no folder"),
    ],
)
def test_a_model_that_cannot_be_is_refused(
    name: str, value: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it is kept: a daemon would end for it, and find by words alone."""
    assert main(["config", "set", name, value]) == 1
    assert says in capsys.readouterr().err
    assert main(["config", "get", name]) == 0
    assert value not in capsys.readouterr().out


def test_a_daemon_that_is_ending_has_taken_a_setting_over(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """It saw the file change before it was asked, and answers nobody any more; that it is gone is waited for."""
    lock = os.open(home.make().lock, os.O_RDWR | os.O_CREAT)

    def ending(payload: object) -> Any:
        threading.Timer(0.3, os.close, (lock,)).start()
        raise DaemonUnavailableError("No daemon is running.")

    with fake_daemon(home) as daemon:
        fcntl.flock(lock, fcntl.LOCK_EX)
        daemon.handlers["reload"] = ending
        assert main(["config", "set", "prompt_tokens", "300", "--json"]) == 0
        said = capsys.readouterr()
        assert (json.loads(said.out)["reloaded"], said.err) == (True, "")
        assert not is_locked(home.lock)


def test_a_switched_model_is_told_of(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """One that fails says why and how to go back; one that is up, how many memories wait for it."""
    failed = {"model": "", "state": "failed", "error": "Ollama does not answer."}
    ready = {"model": "m@1", "state": "ready", "error": ""}
    stores = [{"pending_vectors": 40, "memories": 41}]
    with fake_daemon(home) as daemon:
        daemon.handlers["reload"] = lambda payload: {"restarting": False}
        for embedding, says in ((failed, "config unset embedding_model"), (ready, "40 of 41")):
            told = {"memories": 41, "embedding": embedding, "stores": stores}
            daemon.handlers["stats"] = lambda payload, told=told: told
            assert main(["config", "set", "embedding_model", "some/id"]) == 0
            assert says in capsys.readouterr().err
