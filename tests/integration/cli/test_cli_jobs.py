"""`jobs` at the command line: what it asks the daemon, what it prints, what it writes and what it leaves
alone."""

from __future__ import annotations

import json
import os
import plistlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import FakeDaemon, fake_daemon

from vector_memory import wire
from vector_memory.cli import checks, job_files
from vector_memory.cli.checks import jobs as jobs_check
from vector_memory.cli.main import main
from vector_memory.system.paths import Home

NOW = datetime.now(timezone.utc)


def job(name: str, **more: Any) -> dict[str, Any]:
    """Return a job as the daemon tells it."""
    plain = {
        "name": name, "cadence": "daily 03:00", "enabled": True, "last_started": None, "last_ended": None,
        "outcome": "", "next_due": (NOW + timedelta(hours=3)).isoformat(), "message": "", "failures": 0,
    }  # fmt: skip
    return {**plain, **more}


@pytest.fixture
def daemon() -> Iterator[FakeDaemon]:
    with fake_daemon(Home()) as served:
        yield served


def ran(**more: Any) -> Any:
    """Return a handler of a run that ends so."""

    def handler(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        yield wire.PROGRESS, {"done": 0, "total": 1, "doing": "ttl-sweep"}
        told = {"text": "It is so.", "n": 3}
        report = {"expired": 2, "items": [told], "by": {"a": 1}}
        yield wire.ANSWER, job("ttl-sweep", about="removes", report=report, **more)

    return handler


def test_the_list_is_a_table_and_json(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """With and without `list`."""
    rows = [job("ttl-sweep"), job("backup", enabled=False, outcome="failed", message="full")]
    daemon.handlers["jobs"] = lambda payload: {"jobs": rows}
    for words in (["jobs"], ["jobs", "list"]):
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert "ttl-sweep" in shown
        assert "disabled" in shown
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"jobs": rows}


def test_a_run_tells_its_report(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.handlers["run_job"] = ran(outcome="ok", message="Done.")
    assert main(["jobs", "run", "ttl-sweep"]) == 0
    shown = capsys.readouterr().out
    assert "expired: 2" in shown
    assert "items: It is so. (n 3)" in shown
    assert "by: a 1" in shown
    assert main(["jobs", "run", "ttl-sweep", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["expired"] == 2
    assert daemon.asked[-1][1]["dry_run"] is True


def test_a_run_that_fails_is_told_by_the_exit_code(daemon: FakeDaemon) -> None:
    daemon.handlers["run_job"] = ran(outcome="failed", message="full")
    assert main(["jobs", "run", "ttl-sweep"]) == 1
    assert main(["jobs", "run", "ttl-sweep", "--dry-run"]) == 0


def test_what_is_due_is_run(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Either a name or all that are due."""
    rows = [job("ttl-sweep", outcome="ok"), job("backup", outcome="failed")]
    daemon.handlers["run_job"] = lambda payload: iter([(wire.ANSWER, {"jobs": rows})])
    assert main(["jobs", "run", "--due"]) == 1
    assert "backup" in capsys.readouterr().out
    daemon.handlers["run_job"] = lambda payload: iter([(wire.ANSWER, {"jobs": []})])
    assert main(["jobs", "run", "--due"]) == 0
    assert "No job is due." in capsys.readouterr().out
    off = {"jobs": [], "message": "No job runs by itself."}
    daemon.handlers["run_job"] = lambda payload: iter([(wire.ANSWER, off)])
    assert main(["jobs", "run", "--due"]) == 0
    assert capsys.readouterr().out.strip() == off["message"]
    assert main(["jobs", "run"]) == 2
    assert main(["jobs", "run", "ttl-sweep", "--due"]) == 2


def test_a_job_is_switched(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.handlers["jobs"] = lambda payload: job(
        "ttl-sweep", enabled=payload["action"] == "enable"
    )
    assert main(["jobs", "disable", "ttl-sweep"]) == 0
    assert "disabled" in capsys.readouterr().out
    assert main(["jobs", "enable", "ttl-sweep"]) == 0
    assert "disabled" not in capsys.readouterr().out


# -- what is written -----------------------------------------------------------------------------------


@pytest.fixture
def strange_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data home whose path has everything in it that a file of a timer could take for something else."""
    home = tmp_path / "a b%c$d&e\"f'g"
    home.mkdir()
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


def installed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["jobs", "install", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_timers_of_systemd(strange_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written into the user's own folder, and told; nothing is started. They go the same way."""
    done = installed(capsys, "--for", "systemd")
    folder = Path(os.environ["HOME"]) / ".config/systemd/user"
    assert sorted(map(str, folder.iterdir())) == sorted(done["written"])
    assert "systemctl --user enable" in done["then"]
    service = (folder / "vector-memory-jobs.service").read_text()
    home = str(strange_home).replace("%", "%%").replace('"', '\\"')
    assert f'Environment="VECTOR_MEMORY_HOME={home}"' in service
    assert "Persistent=true" in (folder / "vector-memory-jobs.timer").read_text()
    assert installed(capsys, "--for", "systemd") == done
    assert sorted(installed(capsys, "--for", "systemd", "--remove")["removed"]) == sorted(
        done["written"]
    )
    assert list(folder.iterdir()) == []


def test_an_agent_of_launchd(strange_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = installed(capsys, "--for", "launchd")["written"]
    with open(path, "rb") as file:
        agent = plistlib.load(file)
    assert agent["ProgramArguments"][1:] == ["jobs", "run", "--due"]
    assert agent["EnvironmentVariables"] == {"VECTOR_MEMORY_HOME": str(strange_home)}


def test_a_service_of_the_dashboard(strange_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only when asked for; it keeps its port, opens no browser, and goes the same way."""
    words = ["dashboard", "install", "--json", "--for"]
    assert main([*words, "systemd", "--port", "9000"]) == 0
    done = json.loads(capsys.readouterr().out)
    unit = Path(done["written"][0]).read_text()
    assert "dashboard --no-open --port 9000" in unit
    assert "systemctl --user enable" in done["then"]
    assert main([*words, "launchd"]) == 0
    with open(json.loads(capsys.readouterr().out)["written"][0], "rb") as file:
        agent = plistlib.load(file)
    assert agent["ProgramArguments"][1:4] == ["dashboard", "--no-open", "--port"]
    assert main([*words, "systemd", "--remove"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == done["written"]


def test_a_line_of_cron(strange_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It lies in the data home: who wants it puts it into the crontab."""
    (path,) = installed(capsys, "--for", "cron")["written"]
    line = Path(path).read_text().splitlines()[1]
    assert line.startswith("15 7 * * * ")
    assert "%" not in line.replace("\\%", "")


def test_what_goes_is_what_is_there(
    strange_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On whatever machine it was written; what would end it is told of that alone, and nothing where there is none."""
    monkeypatch.setattr(job_files, "usual_kind", lambda: "cron")
    for verb in ("jobs", "dashboard"):
        assert main([verb, "install", "--for", "systemd"]) == 0
        capsys.readouterr()
        assert main([verb, "install", "--remove"]) == 0
        out = capsys.readouterr().out
        assert "Removed: " in out
        assert "Then: systemctl --user disable --now vector-memory-" in out
        assert main([verb, "install", "--remove"]) == 0
        assert capsys.readouterr().out == "Nothing of ours is there.\n"


def test_what_others_wrote_is_left_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does an agent install anything."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = Path(os.environ["HOME"]) / ".config/systemd/user"
    folder.mkdir(parents=True)
    theirs = folder / "vector-memory-jobs.service"
    theirs.write_text("[Unit]\n")
    assert main(["jobs", "install", "--for", "systemd"]) == 1
    assert main(["jobs", "install", "--for", "systemd", "--remove"]) == 1
    assert theirs.read_text() == "[Unit]\n"
    assert "not ours" in capsys.readouterr().err
    monkeypatch.setenv("CLAUDECODE", "1")
    assert main(["jobs", "install", "--for", "cron"]) == 1
    assert not os.path.exists(Home().path("jobs.cron"))


def test_workflows_for_n8n(
    daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each job is one: a trigger of its cadence and the command that runs it, switched off."""
    rows = [job("ttl-sweep", cron="0 3 * * *"), job("memory-gateway", cron="")]
    daemon.handlers["jobs"] = lambda payload: {"jobs": rows if payload["whole"] else []}
    file = tmp_path / "my flows" / "n8n.json"
    assert main(["jobs", "export", "--n8n", str(file)]) == 1
    assert "There is no folder" in capsys.readouterr().err
    assert not file.parent.exists()
    file.parent.mkdir()
    assert main(["jobs", "export", "--n8n", str(file)]) == 0
    assert f"n8n import:workflow --input='{file}'" in capsys.readouterr().out
    first, second = json.loads(file.read_text())
    start, command = first["nodes"]
    assert start["parameters"]["rule"]["interval"][0]["expression"] == "0 3 * * *"
    assert command["parameters"]["command"].endswith("jobs run ttl-sweep --json")
    assert first["connections"]["When"]["main"][0][0]["node"] == command["name"]
    assert (first["active"], len(first["id"])) == (False, 16)
    assert second["nodes"][0]["type"] == "n8n-nodes-base.manualTrigger"
    assert first["id"] != second["id"]
    assert main(["jobs", "export", "--n8n", str(file)]) == 1


def test_the_installed_copy_is_what_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin's folder is swept when a newer one comes."""
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(tmp_path))
    assert job_files.program().endswith("/bin/vector-memory")
    copy = tmp_path / "app/current/bin/vector-memory"
    copy.parent.mkdir(parents=True)
    copy.write_text("")
    assert job_files.program() == str(copy)


# -- doctor --------------------------------------------------------------------------------------------


def told(daemon: FakeDaemon, rows: list[dict[str, Any]], **more: Any) -> list[checks.CheckResult]:
    daemon.handlers["jobs"] = lambda payload: {"jobs": rows, **more}
    case = checks.Case(Home(), start=False)
    case.status = {"state": "full"}
    return list(jobs_check.check(case))


def test_doctor_tells_what_fails_and_how_old_the_backup_is(daemon: FakeDaemon) -> None:
    """From seven days on; a new store has none yet, and that is no warning."""
    backup = job("backup")
    good = told(daemon, [backup, job("ttl-sweep")])
    assert [one.state for one in good] == ["ok", "ok"]
    broken = job("ttl-sweep", outcome="failed", failures=3, message="It broke.")
    fails = told(daemon, [backup, broken], backup_at=(NOW - timedelta(days=6)).isoformat())
    assert [(one.state, "It broke." in one.message) for one in fails] == [
        ("warn", True),
        ("ok", False),
    ]
    old = told(daemon, [backup], backup_at=(NOW - timedelta(days=8)).isoformat())
    assert (old[-1].state, "8 days" in old[-1].message) == ("warn", True)
    none = told(daemon, [job("backup", enabled=False)])
    assert (none[-1].state, none[-1].fix) == ("warn", "`vector-memory backup`")
