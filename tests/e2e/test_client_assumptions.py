"""What this plugin relies on in the client, shown with a hook of three lines: when another version
of the client behaves otherwise, these tests say so before the product's own do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client, Run
from e2e.harness.reply import Call
from e2e.harness.request import injections, tool_results

pytestmark = pytest.mark.e2e

HOOK = """\
cat >"$KEEP/$1.$$"
printf '{"hookSpecificOutput": {"hookEventName": "%s", "additionalContext": \
"<vector-memory mark=\\\\"%s\\\\">%s</vector-memory>"}}' "$1" $$ "$1"
"""
SPEAKING = ("SessionStart", "UserPromptSubmit")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where the hook keeps what it finds on stdin."""
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


@pytest.fixture
def small_plugin(tmp_path: Path, kept: Path) -> Path:
    """A plugin whose one hook keeps its stdin and says which event it was told."""
    root = tmp_path / "small plugin"
    (root / ".claude-plugin").mkdir(parents=True)
    (root / "hooks").mkdir()
    manifest = {"name": "small", "version": "1.0.0", "description": "A hook of three lines"}
    (root / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    (root / "hooks" / "run").write_text(HOOK.replace("$KEEP", str(kept)))
    (root / "hooks" / "hooks.json").write_text(json.dumps(wiring("${CLAUDE_PLUGIN_ROOT}")))
    return root


def wiring(root: str) -> dict[str, object]:
    """Return the hooks in the exec form, for the plugin and for settings alike."""
    return {"hooks": {event: [{"hooks": [entry(root, event)]}] for event in SPEAKING}}


def entry(root: str, event: str) -> dict[str, object]:
    """Return one hook's entry."""
    return {"type": "command", "command": "sh", "args": [f"{root}/hooks/run", event], "timeout": 5}


@pytest.fixture
def plain_client(api: ScriptedApi, tmp_path: Path) -> Client:
    """The client without the product."""
    return Client(api, tmp_path, tmp_path / "no data", with_servers=False)


def blocks(run: Run) -> list[str]:
    """Return the words of each block in the run's last main request."""
    return [block.split(">")[1].split("<")[0] for block in injections(run.main[-1])]


def test_context_reaches_the_model_and_stays(
    plain_client: Client, small_plugin: Path, tmp_path: Path
) -> None:
    """additionalContext of a start and of a prompt stands in the request, and in all later ones of
    the session; tools run and answer."""
    call = Call("Bash", {"command": "echo $((6 * 7))", "description": "Multiply"})
    run = plain_client.session(
        "Hello", cwd=tmp_path / "p", replies=[call, "42, then."], plugin=small_plugin
    )
    assert run.result == "42, then."
    assert blocks(run) == ["SessionStart", "UserPromptSubmit"]
    assert tool_results(run.main[-1]) == ["42"]
    again = plain_client.session(
        "And now?", cwd=tmp_path / "p", plugin=small_plugin, resume=run.session
    )
    assert sorted(blocks(again)) == ["SessionStart"] * 2 + ["UserPromptSubmit"] * 2


def test_two_wirings_run_twice_with_the_same_bytes(
    plain_client: Client, small_plugin: Path, kept: Path, tmp_path: Path
) -> None:
    """A hook that is wired in the plugin and in the settings runs twice with equal stdin."""
    plain_client.wire(wiring(str(small_plugin)))
    run = plain_client.session("Hello", cwd=tmp_path / "p", plugin=small_plugin)
    assert sorted(blocks(run)) == ["SessionStart"] * 2 + ["UserPromptSubmit"] * 2
    for event in SPEAKING:
        one, other = [path.read_bytes() for path in kept.glob(f"{event}.*")]
        assert one == other


def test_compaction_starts_anew(plain_client: Client, small_plugin: Path, tmp_path: Path) -> None:
    """/compact drops the earlier context and fires SessionStart with the source `compact`."""
    cwd = tmp_path / "p"
    run = plain_client.session("Hello", cwd=cwd, plugin=small_plugin)
    compacted = plain_client.session("/compact", cwd=cwd, plugin=small_plugin, resume=run.session)
    assert [one.is_compaction for one in compacted.requests] == [True]
    names = [one["hook_name"] for one in compacted.hooks("SessionStart")]
    assert names == ["SessionStart:resume", "SessionStart:compact"]
    after = plain_client.session("And now?", cwd=cwd, plugin=small_plugin, resume=run.session)
    # One of the compaction, one of this resumption; what the first prompt brought is gone. The
    # context of the resumption before /compact stays with some conversations.
    assert blocks(after).count("SessionStart") >= 2
    assert blocks(after).count("UserPromptSubmit") == 1


def test_the_manifest_is_valid(plain_client: Client, plugin: Path, tmp_path: Path) -> None:
    """The client's own validator accepts the bundle for a directory, without a warning."""
    done: subprocess.CompletedProcess[str] = plain_client.command(
        "plugin", "validate", str(plugin), "--profile", "directory", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout.lower()
