"""Whether the client has let its plugin go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.daemon import plugin_watch
from vector_memory.daemon.plugin_watch import PluginWatch


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It looks each time, and its own configuration is an empty one."""
    monkeypatch.setattr(plugin_watch, "LOOK_S", 0.0)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))


def install(configuration: Path, *names: str) -> None:
    """Write a client's list of plugins."""
    path = configuration / "plugins" / "installed_plugins.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 2, "plugins": {name: [] for name in names}}))


def test_it_is_gone_when_no_configuration_has_it_any_more(tmp_path: Path) -> None:
    """Two clients with configurations of their own share a daemon: it stays for either."""
    one, other = tmp_path / "one", tmp_path / "other"
    watch = PluginWatch()
    for folder in (one, other):
        install(folder, "vector-memory@mine", "lint@mine")
        watch.note_client(str(folder))
    assert not watch.is_gone()
    install(one, "lint@mine")
    assert not watch.is_gone()
    install(other, "lint@mine")
    assert watch.is_gone()


def test_what_never_was_a_plugin_cannot_go(tmp_path: Path) -> None:
    """Hooks that are wired by hand, and a list that cannot be read, say nothing."""
    watch = PluginWatch()
    watch.note_client(str(tmp_path))
    assert not watch.is_gone()
    install(tmp_path, "vector-memory@mine")
    again = PluginWatch()
    again.note_client(str(tmp_path))
    (tmp_path / "plugins" / "installed_plugins.json").write_text("{")
    assert not again.is_gone()


def test_a_daemon_that_no_hook_has_asked_yet_knows_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command has started it, and the plugin may have come only then."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    watch = PluginWatch()
    assert not watch.is_gone()
    install(tmp_path, "vector-memory@mine")
    assert not watch.is_gone()
    install(tmp_path, "lint@mine")
    assert watch.is_gone()
